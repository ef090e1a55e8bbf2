use super::fixture::{Boot, benchmarks, compare, compare_as, gain, image, setting};
use tollgate_measure::{
    Attached, Claim, ClaimedFigures, Commands, Compared, Comparison, Context, FunctionGroup,
    NotRun, Note, Proof, Quantity, Setting, Side, Skip, Tried, Verdict, Workload,
};

use super::*;
use crate::format::{Format, Look, html as page};
use crate::words;

mod schema;

const LOOK: Look = Look {
    color: false,
    width: 80,
};

fn terminal(comparison: &Comparison, color: bool) -> String {
    let look = Look { color, ..LOOK };
    crate::format::terminal(&document(&alone(comparison.clone())), look)
}

fn proof_terminal(proof: &Proof, color: bool) -> String {
    crate::format::terminal(&document(proof), Look { color, ..LOOK })
}

pub(super) fn html(proof: &Proof) -> Result<String, tollgate_defect::Defect> {
    page(&document(proof))
}

fn rendered(proof: &Proof, format: &str) -> String {
    let format = Format::of(format).unwrap();
    format.render(&document(proof), LOOK).unwrap()
}

fn assert_fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(
            line.chars().count() <= width,
            "{} columns: {line}",
            line.chars().count()
        );
    }
}

#[test]
fn a_gain_on_a_terminal() {
    let text = terminal(&gain(), false);
    assert_fits(&text, 80);
    assert!(!text.contains('\x1b'));
    insta::assert_snapshot!(text);
}

#[test]
fn colour_changes_nothing_but_colour() {
    let colored = terminal(&gain(), true);
    assert!(colored.contains("\x1b[1;32mGAIN\x1b[0m"));
    let codes = ["\x1b[0m", "\x1b[1;32m", "\x1b[1m", "\x1b[32m", "\x1b[31m"];
    let plain = codes
        .iter()
        .fold(colored, |text, code| text.replace(code, ""));
    assert_eq!(plain, terminal(&gain(), false));
}

/// Another outcome at two points, one point gone, a name and an error that
/// try to drive the terminal and to leave the page.
fn behaviour_differs() -> Comparison {
    let a = Boot::base();
    let mut b = Boot::window();
    b.points.insert(
        "end/17".into(),
        "ret=1 errno=0 bytes=..x8,01000000,..x8".into(),
    );
    b.points
        .insert("end/9".into(), "ret=0 errno=0 bytes=".into());
    b.points.remove("kernel");
    let hostile = "@tg error bench poll: \x1b[2J</dd><script>alert(1)</script>\u{202e}";
    b.lines = vec![hostile.into(), "@tg skip bench statx <i>no such</i>".into()];
    let subject = "<script>alert(\"1\")</script>\x1b[31m & 'co'".into();
    compare_as(
        Setting {
            subject,
            ..setting()
        },
        &a,
        &a,
        &b,
    )
}

/// Repetitions that never agree, and a control that moved.
pub(super) fn unsteady() -> Comparison {
    let a = Boot {
        scatter: 3,
        ..Boot::base()
    };
    compare(
        &a,
        &a,
        &Boot {
            scatter: 3,
            control: 100,
            ..Boot::window()
        },
    )
}

fn incomplete() -> Comparison {
    Comparison {
        workloads: Vec::new(),
        repeat: None,
        verdict: Verdict::Incomplete,
        ..gain()
    }
}

/// The proof of one variant.
pub(super) fn alone(comparison: Comparison) -> Proof {
    Proof {
        subject: comparison.setting.subject.clone(),
        comparisons: vec![comparison],
        pairs: Vec::new(),
        not_run: Vec::new(),
        claims: Vec::new(),
        commands: Commands::default(),
    }
}

/// A window, the base again, a window that behaves differently, and two that
/// were not run.
pub(crate) fn several() -> Proof {
    let base = Boot::base();
    let a = base.run();
    let mut faulty = Boot::window();
    faulty
        .points
        .insert("end/17".into(), "ret=1 errno=0 bytes=".into());
    let boots = [Boot::window(), base, faulty];
    let tried = boots.iter().zip(["window", "nothing", "faulty"]).zip('B'..);
    let tried = tried.map(|((boot, variant), letter)| Tried {
        setting: setting(),
        image: image(letter, variant, "b1775e90c2d84a3f"),
        run: boot.run(),
    });
    let not_run = |variant: &str, reason: &str, failed| NotRun {
        variant: variant.into(),
        reason: reason.into(),
        failed,
    };
    let compared = Compared {
        base: image('A', "base", "4f0c1d2ab93e7750"),
        again: Some(a.clone()),
        run: a,
        tried: tried.collect(),
    };
    Proof::new(
        "epoll".into(),
        &benchmarks(),
        &[compared],
        vec![
            not_run(
                "scoped",
                "the style scoped is not offered by this tree",
                false,
            ),
            not_run(
                "broken",
                "the build of broken failed:\n\n  a.c:1: error\x1b[2J",
                true,
            ),
        ],
    )
}

/// With a claim of each kind: one that agrees in part, one of shares, one whose
/// workload did not run, and words.
fn claimed() -> Proof {
    let figures = |of: &str, more_is_better, benchmark: &str, variants: &[(&str, f64)]| {
        let named = |(name, figure): &(&str, f64)| ((*name).to_owned(), *figure);
        ClaimedFigures {
            of: of.into(),
            more_is_better,
            workload: Workload {
                benchmark: benchmark.into(),
                parameters: vec![("events".into(), 64)],
                ..Workload::default()
            },
            net: false,
            groups: Vec::new(),
            within: None,
            base: 100.0,
            variants: variants.iter().map(named).collect(),
        }
    };
    let claim = |text: &str, figures| Claim {
        text: text.into(),
        source: "a subject that is long enough to need two lines, a list, October 2025".into(),
        figures,
    };
    let both = [("window", 101.0), ("nothing", 95.0)];
    let mut shares = figures(
        "% of all samples\x1b[2J",
        false,
        "epoll_wait",
        &[("window", 87.5)],
    );
    let group = |name: &str, symbol: &str| FunctionGroup {
        name: name.into(),
        functions: vec![symbol.into()],
    };
    shares.groups = vec![
        group("helpers", "__put_user*"),
        group("epoll", "do_epoll_wait"),
    ];
    several().with_claims(vec![
        claim(
            "+1 %, the other -5 %",
            Some(figures("throughput", true, "epoll_wait", &both)),
        ),
        claim("a smaller share", Some(shares)),
        claim(
            "of another",
            Some(figures("throughput", true, "tcp_rr", &both)),
        ),
        claim("only words", None),
    ])
}

#[test]
fn claims_stand_beside_the_counts() {
    let text = proof_terminal(&claimed(), false);
    assert_fits(&text, 80);
    assert!(!text.contains('\x1b'));
    let from = text.find("Beside the claims").unwrap();
    let to = text.find("Checks").unwrap();
    insta::assert_snapshot!(&text[from..to]);
    let page = html(&claimed()).unwrap();
    assert!(page.contains("Beside the claims") && !page.contains('\x1b'));
}

#[test]
fn several_variants_on_a_terminal() {
    let text = proof_terminal(&several(), false);
    assert_fits(&text, 80);
    assert!(!text.contains('\x1b'));
    assert_eq!(several().exit_code(), 2);
    insta::assert_snapshot!(text);
}

/// What two compilers made: each variant stands against the base of its own.
#[test]
fn two_compilers_on_a_terminal() {
    let tried = |letter, variant: &str, compiler: &str| Tried {
        setting: Setting {
            compiler: compiler.into(),
            ..setting()
        },
        image: image(letter, variant, "b1775e90c2d84a3f"),
        run: Boot::window().run(),
    };
    let compared = |letters: [char; 2], [base, variant, compiler]: [&str; 3]| Compared {
        base: image(letters[0], base, "4f0c1d2ab93e7750"),
        run: Boot::base().run(),
        again: Some(Boot::base().run()),
        tried: vec![tried(letters[1], variant, compiler)],
    };
    let all = [
        compared(['A', 'B'], ["base", "window", "gcc 12.2.0"]),
        compared(
            ['C', 'D'],
            ["base-clang-19", "window-clang-19", "clang 19.1.7"],
        ),
    ];
    let proof = Proof::new("epoll".into(), &benchmarks(), &all, Vec::new());
    let text = proof_terminal(&proof, false);
    assert_fits(&text, 80);
    assert_eq!(proof.exit_code(), 0);
    insta::assert_snapshot!(text);
}

/// The workloads of a case that differ in their last words alone.
fn with_long_names(mut proof: Proof) -> Proof {
    let names = [("ia32", 64), ("ia32", 132), ("x32", 64), ("x32", 132)];
    for comparison in proof.comparisons.iter_mut().chain(&mut proof.pairs) {
        for (row, (abi, layout)) in comparison.workloads.iter_mut().zip(names) {
            row.workload.benchmark = "sync_ptr".into();
            row.workload.parameters = vec![("flags".into(), 3), ("layout".into(), layout)];
            row.workload.abi = Some(abi.into());
            row.control = true;
        }
    }
    proof
}

#[test]
fn workloads_stay_apart_whatever_their_names_are_long() {
    let text = proof_terminal(&with_long_names(several()), false);
    assert_fits(&text, 80);
    insta::assert_snapshot!(text);
    let one = proof_terminal(&with_long_names(alone(gain())), false);
    assert_fits(&one, 80);
    for text in [text, one] {
        for words in ["layout=64", "layout=132", "(ia32)", "(x32)"] {
            assert!(text.contains(words), "{words} is not in:\n{text}");
        }
    }
}

#[test]
fn what_was_not_run_stands_in_front_of_the_verdict() {
    let mut proof = alone(gain());
    proof.not_run = several().not_run;
    let text = proof_terminal(&proof, false);
    let at = |words: &str| text.find(words).unwrap();
    assert!(at("Not run") < at("GAIN"), "{text}");
}

#[test]
fn one_variant_is_shown_in_full() {
    let text = proof_terminal(&alone(gain()), false);
    assert_eq!(text, terminal(&gain(), false));
}

#[test]
fn many_variants_share_the_width() {
    let mut proof = several();
    let one = proof.comparisons[0].clone();
    for letter in 'E'..='P' {
        let mut more = one.clone();
        more.after.letter = letter;
        more.after.variant = format!("variant_{letter}_with_a_long_name");
        proof.comparisons.push(more);
    }
    for comparison in &mut proof.comparisons {
        let row = &mut comparison.workloads[2];
        row.workload.benchmark = "a_benchmark_of_many_flows".into();
        row.unit.as_mut().unwrap().name = "transaction".into();
        let counts = &mut row.after.kernel;
        *counts = counts.with(
            Quantity::Kernel,
            counts.instructions().saturating_mul(10_000),
        );
    }
    let text = proof_terminal(&proof, false);
    assert_fits(&text, 80);
    assert!(text.contains("  P"), "{text}");
}

#[test]
fn a_page_of_several_variants_has_them_side_by_side() {
    let page = html(&several()).unwrap();
    for words in [
        "id=\"B\"",
        "id=\"D\"",
        "not run",
        "3 variants",
        "behaviour differs",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains('\x1b'));
}

/// A document with something in every list.
pub(super) fn everything() -> Proof {
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\tone();\n+\ttwo();\n";
    let words = [
        "tollgate",
        "prove",
        "--tree",
        "\"$LINUX\"",
        "--patch",
        "mine.patch",
    ];
    Proof {
        comparisons: all().to_vec(),
        commands: Commands {
            needs: vec!["LINUX is the folder of a tree of Linux 6.12.117.".into()],
            files: vec![Attached {
                name: "mine.patch".into(),
                text: Some(patch.into()),
                bytes: patch.len(),
                hash: "0123".into(),
            }],
            words: words.map(Into::into).to_vec(),
        },
        ..claimed()
    }
}

fn all() -> [Comparison; 5] {
    [
        gain(),
        behaviour_differs(),
        unsteady(),
        incomplete(),
        registers(),
    ]
}

#[test]
fn another_behaviour_on_a_terminal() {
    let text = terminal(&behaviour_differs(), false);
    assert_fits(&text, 80);
    assert!(!text.contains(['\x1b', '\u{202e}']));
    insta::assert_snapshot!(text);
}

#[test]
fn medians_and_a_control_that_moved_on_a_terminal() {
    let text = terminal(&unsteady(), false);
    assert_fits(&text, 80);
    assert!(!text.contains("exact counts under"));
    insta::assert_snapshot!(text);
}

#[test]
fn every_comparison_fits_a_terminal_and_ends_its_line() {
    for comparison in all() {
        let text = terminal(&comparison, false);
        assert_fits(&text, 80);
        assert!(text.ends_with('\n'));
    }
}

/// One workload in which the kernel writes a register that opens or closes.
fn writes() -> Comparison {
    let mut comparison = gain();
    let row = &mut comparison.workloads[1];
    for (measured, times) in [(&mut row.before, 4), (&mut row.after, 2)] {
        let writes = measured.operations * times;
        measured.kernel = measured.kernel.with(Quantity::Writes, writes);
    }
    comparison
}

#[test]
fn writes_of_the_gate_are_shown_where_there_are_any() {
    let text = terminal(&writes(), false);
    assert_fits(&text, 80);
    let heads = |line: &str| line.contains("fences") && line.contains("gate writes");
    assert!(text.lines().any(heads), "{text}");
    assert!(!terminal(&gain(), false).contains("gate writes"));
    let heading = ">gate writes</th>";
    assert!(html(&alone(writes())).unwrap().contains(heading));
    assert!(!html(&alone(gain())).unwrap().contains(heading));
}

/// One workload in which the kernel saves and loads registers.
fn registers() -> Comparison {
    let mut comparison = gain();
    let row = &mut comparison.workloads[1];
    use Quantity::{Fxsave, Wrpkru, Xrstor, Xsave};
    let operations = row.before.operations;
    let both = [
        (Xsave, operations),
        (Xrstor, operations * 2),
        (Fxsave, operations),
    ];
    for measured in [&mut row.before, &mut row.after] {
        for (quantity, count) in both {
            measured.kernel = measured.kernel.with(quantity, count);
        }
    }
    let after = row.after.kernel.with(Xsave, operations * 128);
    row.after.kernel = after.with(Wrpkru, 1);
    comparison
}

#[test]
fn registers_have_a_table_where_any_is_saved_or_loaded() {
    let text = terminal(&registers(), false);
    assert_fits(&text, 80);
    let (_, text) = text.split_once("Registers of the FPU").unwrap();
    let (table, _) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(table);
    assert!(!terminal(&gain(), false).contains("Registers of the FPU"));
    assert!(
        !html(&alone(gain()))
            .unwrap()
            .contains("Registers of the FPU")
    );
    let page = html(&alone(registers())).unwrap();
    let (_, page) = page.split_once(">Registers of the FPU</h2>").unwrap();
    let (row, _) = page.split_once("<p class").unwrap();
    let cells = [">1 → 128</td>", ">2</td>", ">1</td>"];
    assert_eq!(row.matches(">not known</td>").count(), 2);
    let places = cells.map(|cell| row.find(cell));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{row}"
    );
}

/// The same with a context that is known, and one benchmark that is subtracted
/// from another.
fn with_context() -> Comparison {
    let mut comparison = registers();
    comparison.contexts = vec![
        Context {
            guest: String::new(),
            bytes: 2696,
            components: [("avx".to_owned(), 256), ("zmm-upper".to_owned(), 0)].into(),
        },
        Context {
            guest: "small-context".into(),
            bytes: 832,
            components: [("avx".to_owned(), 256)].into(),
        },
    ];
    let null = comparison.workloads[3].workload.clone();
    for row in &mut comparison.workloads {
        row.context_bytes = Some(2696);
    }
    comparison.workloads[1].less = Some(null);
    comparison
}

#[test]
fn bytes_of_context_and_a_benchmark_less_another() {
    let text = terminal(&with_context(), false);
    assert_fits(&text, 80);
    let (_, tables) = text.split_once("Registers of the FPU").unwrap();
    let (tables, rest) = tables.split_once("Kernel instructions by").unwrap();
    let contexts: Vec<&str> = rest
        .lines()
        .skip_while(|line| !line.starts_with("Registers "))
        .take_while(|line| !line.is_empty())
        .collect();
    insta::assert_snapshot!(format!("{tables}{}", contexts.join("\n")));
    let page = html(&alone(with_context())).unwrap();
    let (_, page) = page.split_once(">Less the call alone</h2>").unwrap();
    assert!(page.contains("epoll_wait events=8 less getppid"), "{page}");
    let document = json(&alone(with_context())).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let row = &document["comparisons"][0]["workloads"][1];
    assert_eq!(row["net"]["less"]["benchmark"], "getppid");
    assert_eq!(row["net"]["exact"], true);
    assert!(row["net"]["kernel"]["before"].as_f64() < row["per_unit"]["kernel"]["before"].as_f64());
    let context = &document["comparisons"][0]["contexts"][0];
    assert_eq!(context["components"]["zmm-upper"], 0);
    let schema = include_str!("../../../../schema/prove.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = schema
        .iter_errors(&document)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn names_without_end_are_shortened() {
    let mut comparison = gain();
    let long = "very_".repeat(60);
    comparison.workloads[2].workload.benchmark.clone_from(&long);
    comparison.workloads[2].functions[0].name.clone_from(&long);
    comparison.setting.subject.clone_from(&long);
    comparison.before.variant.clone_from(&long);
    assert_fits(&terminal(&comparison, false), 80);
    assert_fits(&commit_figures(&gain()), 72);
}

/// Each format has all that decides, and nothing that drives a terminal or leaves its
/// place.
#[test]
fn every_format_has_what_decides() {
    for proof in [alone(gain()), several(), everything()] {
        for format in crate::format::FORMATS {
            let text = rendered(&proof, format.name);
            assert!(!text.contains(['\x1b', '\u{202e}']), "{}", format.name);
            assert!(text.ends_with('\n'));
            let words = ["4f0c1d2ab93e", "epoll_wait events=64", "Checks"];
            let plain = text.replace('\\', "");
            for words in words {
                assert!(plain.contains(words), "{words} in {}", format.name);
            }
        }
        assert_fits(&rendered(&proof, "mail"), 72);
    }
}

#[test]
fn a_gain_as_mail() {
    let text = rendered(&alone(gain()), "mail");
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn a_gain_as_markdown() {
    insta::assert_snapshot!(rendered(&alone(gain()), "markdown"));
}

/// A subject of `|`, `<` and backticks, and a guest's words, stay text.
#[test]
fn markdown_keeps_text_in_its_place() {
    let text = rendered(&everything(), "markdown");
    assert!(!text.replace("\\<", "").contains("<script"));
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let bars = line.replace("\\|", "");
        assert!(bars.ends_with('|'), "{line}");
    }
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 20);
    // As many folds end as begin.
    assert_eq!(
        text.matches("<details>").count(),
        text.matches("</details>").count()
    );
}

#[test]
fn many_variants_are_one_table_where_the_terminal_is_wide() {
    let wide = Look { width: 200, ..LOOK };
    let text = crate::format::terminal(&document(&several()), wide);
    let head = "A   share      B   share      C   share      D   share";
    assert!(text.contains(head), "{text}");
    assert_fits(&text, 200);
}

#[test]
fn the_figures_of_a_commit_message() {
    let text = commit_figures(&gain());
    assert_fits(&text, 72);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

/// Names that leave the figures no room stand above them.
#[test]
fn long_names_in_a_commit_message_are_wrapped() {
    let mut comparison = gain();
    for row in comparison.workloads.iter_mut().take(2) {
        let more = [("family", 6), ("flows", 1000), ("payload", 64)];
        let more = more.map(|(name, value)| (name.to_owned(), value));
        row.workload.parameters.extend(more);
    }
    let text = commit_figures(&comparison);
    assert_fits(&text, 72);
    insta::assert_snapshot!(text);
}

#[test]
fn a_page() {
    insta::assert_snapshot!(html(&alone(gain())).unwrap());
}

#[test]
fn a_page_is_made_of_itself_alone_and_escapes_everything() {
    for comparison in all() {
        let page = html(&alone(comparison)).unwrap();
        for outside in [
            "<script", "http:", "https:", "src=", "@import", "url(", "<link", "\x1b", "\u{202e}",
            "<i>no",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
    let page = html(&alone(behaviour_differs())).unwrap();
    assert!(page.contains("&lt;script&gt;alert"));
}

#[test]
fn a_large_figure_stands_only_where_the_counts_decide() {
    let figures = all().map(|comparison| {
        html(&alone(comparison))
            .unwrap()
            .contains("class=\"figure\"")
    });
    assert_eq!(figures, [true, false, false, false, true]);
}

#[test]
fn a_json_document() {
    let mut comparison = gain();
    // One workload shows the form; all four would only be longer.
    comparison.workloads.truncate(1);
    insta::assert_snapshot!(json(&alone(comparison)).unwrap());
}

/// A comparison after an edit, with the verdict that follows.
fn edited(edit: impl Fn(&mut Comparison)) -> Comparison {
    let mut comparison = gain();
    edit(&mut comparison);
    comparison.verdict = Verdict::of(&comparison);
    comparison
}

fn add(counts: &mut tollgate_measure::Counts, quantity: Quantity, more: u64) {
    *counts = counts.with(quantity, counts.get(quantity) + more);
}

#[test]
fn every_verdict_is_a_sentence() {
    let window = Boot::window();
    let dearer = compare(&window, &window, &Boot::base());
    let all = [
        gain(),
        dearer,
        edited(|one| add(&mut one.workloads[0].after.kernel, Quantity::Kernel, 80_000)),
        compare(&window, &window, &window),
        edited(|one| {
            let row = &mut one.workloads[3].after;
            add(&mut row.kernel, Quantity::Fences, row.operations);
        }),
        unsteady(),
        behaviour_differs(),
        compare(&Boot::base(), &window, &window),
        incomplete(),
        edited(|one| {
            one.notes.push(Note::Missing {
                side: Side::Image('B'),
                workload: one.workloads[0].workload.clone(),
            })
        }),
    ];
    let said = all
        .each_ref()
        .map(|one| format!("{}: {}", words::title(one.verdict), words::statement(one)));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn every_note_is_a_sentence() {
    let workload = || gain().workloads[0].workload.clone();
    let side = Side::Again('A');
    let notes = [
        Note::Skipped {
            side: Side::Image('B'),
            skip: Skip {
                job: "bench statx".into(),
                reason: "unknown".into(),
            },
        },
        Note::Failed {
            side,
            text: "killed by signal 9".into(),
        },
        Note::Missing {
            side,
            workload: workload(),
        },
        Note::Unplanned {
            side,
            workload: workload(),
        },
        Note::Differing {
            side: Side::Image('B'),
            boots: 1,
        },
        Note::NoUnit {
            workload: workload(),
            parameter: "events".into(),
        },
        Note::UserMoved {
            workload: workload(),
            before: 50,
            after: 51,
        },
        Note::NoControl,
        Note::NotRepeated,
        Note::NoPoints,
    ];
    insta::assert_snapshot!(notes.each_ref().map(words::note).join("\n"));
}

#[test]
fn a_program_that_is_compared_shows_what_it_asked() {
    let mut comparison = gain();
    let row = &mut comparison.workloads[0];
    row.whole = true;
    let counts = |pairs: &[(&str, u64)]| {
        let owned = pairs
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count));
        owned.collect()
    };
    row.before.tallies = counts(&[("ioctl-HWSYNC", 11_998), ("wake-ups", 5998)]);
    row.after.tallies = counts(&[("wake-ups", 5998)]);
    row.before.system_calls = counts(&[("ioctl", 17_998)]);
    row.after.system_calls = counts(&[]);
    let document = document(&alone(comparison));
    let text = crate::format::terminal(&document, LOOK);
    assert_fits(&text, 80);
    let start = text.find("Instructions of the program").unwrap();
    let end = text.find("Checks").unwrap();
    insta::assert_snapshot!(&text[start..end]);
}
