//! Every form that is read, as programs print it and as mail leaves it. Most figures of
//! the tables are those of public mails; their words are ours.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use tollgate_profile::{
    Boundary, Comparison, Form, Group, Kallsyms, Kinds, MARKED, Measure, NamedBy, Profile, Ranges,
    ReadError, Reading, RefusedComparison, Samples, Side, Space, Told, explain, gate_shares,
    point_series,
};

fn read(text: &str) -> Reading {
    Reading::of_text(text).unwrap()
}

fn error(text: &str) -> ReadError {
    Reading::of_text(text).unwrap_err()
}

fn rows(profile: &Profile) -> Vec<String> {
    let row = |row: &tollgate_profile::Row| {
        let mark = match row.space {
            Space::Kernel => "k",
            Space::User => ".",
            Space::Unknown => "?",
        };
        format!("{:.2} {mark} {} {}", row.percent, row.object, row.symbol)
    };
    profile.rows.iter().map(row).collect()
}

fn one(text: &str) -> Profile {
    let mut all = read(text).profiles;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

const TOP: &str = "     14.20%  bench               [.] engine_main
==> 12.86%  [kernel]            [k] snd_pcm_ioctl
     11.91%  [kernel]            [k] finish_task_switch.isra.0
      4.07%  libc.so.6           [.] __ioctl_time64
      2.58%  [kernel]            [k] system_call_exception
";
const COPIES: &str = "     14.47%  bench               [.] engine_main
==>  8.37%  [kernel]            [k] snd_pcm_ioctl
==>  4.86%  [kernel]            [k] __copy_tofrom_user
==>  1.67%  [kernel]            [k] _copy_from_user
      1.66%  libasound.so.2.0.0  [.] bad_pcm_state
==>  1.53%  [kernel]            [k] _copy_to_user
";
const WINDOW: &str = "     17.46%  bench               [.] engine_main
==>  4.92%  [kernel]            [k] snd_pcm_ioctl
      3.99%  [kernel]            [k] snd_pcm_group_unlock_irq.part.0
";

fn quoted(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}\n")).collect()
}

/// Three tables in a mail, and the same again in the answer to it.
fn thread() -> String {
    let first = format!(
        "First words:\n\n{TOP}\nSecond words. And more\nof them.\n\n{COPIES}\nThird words:\n\n{WINDOW}\nBye\n"
    );
    format!(
        "{first}\nOn a day, somebody wrote:\n{}\nYes.\n",
        quoted(&first, "> ")
    )
}

#[test]
fn tables_of_a_thread_are_found_once_with_their_words_and_marks() {
    let read = read(&thread());
    let titles: Vec<_> = read
        .profiles
        .iter()
        .map(|one| one.title.clone().unwrap())
        .collect();
    assert_eq!(titles, ["First words", "Second words", "Third words"]);
    let marked = |profile: &Profile| -> f64 {
        profile
            .rows
            .iter()
            .filter(|row| row.marked)
            .map(|row| row.percent)
            .sum()
    };
    let sums: Vec<String> = read
        .profiles
        .iter()
        .map(|one| format!("{:.2}", marked(one)))
        .collect();
    assert_eq!(sums, ["12.86", "16.43", "4.92"]);
    let places: Vec<_> = read
        .profiles
        .iter()
        .map(|one| (one.place.first, one.again.len()))
        .collect();
    assert_eq!(places, [(3, 1), (12, 1), (21, 1)]);
    assert!(
        read.profiles
            .iter()
            .all(|one| one.partial && one.samples == Samples::Unknown)
    );
}

#[test]
fn of_variants_without_sample_counts_the_differences_are_known_and_no_more() {
    let all = read(&thread()).profiles;
    let refs: Vec<&Profile> = all.iter().collect();
    let group = Group::marked(&refs).unwrap();
    assert_eq!(group.name, MARKED);
    let compare = |before: usize, after: usize| {
        let found = Comparison::new(
            &[refs[before]],
            &[refs[after]],
            std::slice::from_ref(&group),
            &Kinds::builtin().unwrap(),
            1.0,
        )
        .unwrap();
        let change = found.groups[0].clone();
        assert_eq!(change.told, Told::Cannot);
        assert!(
            found
                .notes
                .iter()
                .any(|note| note.contains("nothing can be told of noise"))
        );
        (
            format!("{:+.2}", change.difference()),
            change.needed.unwrap(),
        )
    };
    assert_eq!(compare(0, 1).0, "+3.57");
    assert_eq!(compare(0, 2), ("-7.94".to_owned(), 97));
    assert_eq!(compare(1, 2).0, "-11.51");
    // What one does not list is no larger than its smallest row, not nothing.
    let found = Comparison::new(
        &[refs[0]],
        &[refs[1]],
        std::slice::from_ref(&group),
        &Kinds::builtin().unwrap(),
        1.0,
    )
    .unwrap();
    assert!((found.groups[0].hidden[0] - 3.0 * 2.58).abs() < 1e-9);
    assert_eq!(found.groups[0].hidden[1], 0.0);
}

/// The same rows with the columns in any order, with fewer of them, and wrapped.
#[test]
fn columns_are_found_by_their_heads() {
    let wanted = [
        "8.51 k [kernel.kallsyms] __lock_acquire",
        "5.12 . libx.so.2 format_little_endian",
        "1.10 k [kernel.kallsyms] trace_hardirqs_on_caller",
    ];
    let texts = [
        "# Overhead  Command  Shared Object      Symbol\n# ........  .......  .................  ......\n#\n     8.51%  player   [kernel.kallsyms]  [k] __lock_acquire\n     5.12%  player   libx.so.2          [.] format_little_endian\n     1.10%  player   [kernel.kallsyms]  [k] trace_hardirqs_on_caller\n",
        "# Symbol                        Shared Object      Overhead\n[k] __lock_acquire            [kernel.kallsyms]     8.51%\n[.] format_little_endian      libx.so.2             5.12%\n[k] trace_hardirqs_on_caller  [kernel.kallsyms]     1.10%\n",
        "# Shared Object      Overhead  Symbol                        Command\n  [kernel.kallsyms]     8.51%  [k] __lock_acquire            player\n  libx.so.2             5.12%  [.] format_little_endian      player\n  [kernel.kallsyms]     1.10%  [k] trace_hardirqs_on_caller  player\n",
        "# Overhead     Command           Shared \nObject                              Symbol\n# ........  ..........  ......... \n......\n#\n      8.51%  player  [kernel.kallsyms]               [k] __lock_acquire\n      5.12%  player  libx.so.2              [.] \nformat_little_endian\n      1.10%  player  [kernel.kallsyms]               [k] \ntrace_hardirqs_on_caller\n",
        "# Samples  Children      Self  Command  Shared Object      Symbol\n      851    30.00%     8.51%  player   [kernel.kallsyms]  [k] __lock_acquire\n      512     9.00%     5.12%  player   libx.so.2          [.] format_little_endian\n      110     1.10%     1.10%  player   [kernel.kallsyms]  [k] trace_hardirqs_on_caller\n",
        "# Self  Children  Symbol                        Shared Object\n 8.51%    30.00%  [k] __lock_acquire            [kernel.kallsyms]\n 5.12%     9.00%  [.] format_little_endian      libx.so.2\n 1.10%     1.10%  [k] trace_hardirqs_on_caller  [kernel.kallsyms]\n",
        "  Overhead  Shared O           Symbol\n     8.51%  [kernel.kallsyms]  [k] __lock_acquire\n     ...\n     5.12%  libx.so.2          [.] format_little_endian\n     ...                       ^- more words\n     1.10%  [kernel.kallsyms]  [k] trace_hardirqs_on_caller\n",
        "Symbol                    Shared Object      Overhead\n__lock_acquire            [kernel.kallsyms]  8.51%\nformat_little_endian      libx.so.2          5.12%\ntrace_hardirqs_on_caller  [kernel.kallsyms]  1.10%\n",
        "# Symbol  Shared Object  Overhead\n[k] __lock_acquire\n  [kernel.kallsyms]     8.51%\n[.] format_little_endian      libx.so.2\n     5.12%\n[k] trace_hardirqs_on_caller  [kernel.kallsyms]     1.10%\n",
    ];
    for text in texts {
        assert_eq!(rows(&one(text)), wanted, "{text}");
        let mailed = quoted(text, ">> > ");
        assert_eq!(rows(&one(&mailed)), wanted, "{mailed}");
    }
}

#[test]
fn without_the_image_the_mark_says_where_a_symbol_runs() {
    let text = "# Overhead  Symbol\n# ........  ......\n     4.39%  [k] __put_user_nocheck_4\n     0.78%  [.] std::map<int, int>::find(int const&)\n";
    assert_eq!(
        rows(&one(text)),
        [
            "4.39 k  __put_user_nocheck_4",
            "0.78 .  std::map<int, int>::find(int const&)"
        ]
    );
}

#[test]
fn a_column_of_samples_alone_gives_the_parts() {
    let text = "# Samples  Symbol\n      300  [k] a_symbol\n      100  [k] b_symbol\n";
    let profile = one(text);
    assert_eq!(rows(&profile), ["75.00 k  a_symbol", "25.00 k  b_symbol"]);
    assert_eq!(profile.samples, Samples::Exactly(400));
}

#[test]
fn the_head_of_a_report_says_how_many_samples_of_what() {
    let text = "# Samples: 34K of event 'cycles:P'\n#\n# Overhead  Command  Shared Object  Symbol\n    50.00%  a  [kernel.kallsyms]  [k] do_epoll_wait  -      -\n\n# Samples: 12  of event 'page-faults'\n#\n# Overhead  Command  Shared Object  Symbol\n    75.00%  a  [kernel.kallsyms]  [k] do_epoll_wait\n";
    let all = read(text).profiles;
    assert_eq!(all[0].measure.words(), "samples of cycles:P");
    assert_eq!(all[0].samples, Samples::AtLeast(34_000));
    assert_eq!(all[1].samples, Samples::Exactly(12));
    assert_eq!(
        all[1].measure,
        Measure::Samples {
            event: Some("page-faults".to_owned())
        }
    );
    assert_eq!(rows(&all[0]), ["50.00 k [kernel.kallsyms] do_epoll_wait"]);
}

#[test]
fn with_children_the_own_part_counts_and_threads_are_added() {
    let text = "# Children      Self  Command  Shared Object      Symbol\n   50.00%    20.00%  a  [kernel.kallsyms]  [k] do_epoll_wait\n           |\n            |--30.00%--entry\n\n   10.00%     5.00%  b  [kernel.kallsyms]  [k] do_epoll_wait\n";
    assert_eq!(
        rows(&one(text)),
        ["25.00 k [kernel.kallsyms] do_epoll_wait"]
    );
}

const CALLEES_FIRST: &str = "# Samples: 200  of event 'cpu-clock'
# Overhead  Command  Shared Object      Symbol
    10.00%  server   [kernel.kallsyms]  [k] __put_user_nocheck_4
            |
            |--6.00%--ep_send_events
            |          do_epoll_wait
            |          __x64_sys_epoll_wait
            |
             --4.00%--sock_getsockopt
                       __sys_getsockopt

     5.00%  server   [kernel.kallsyms]  [k] _copy_to_user
            |
            ---_copy_to_user
               sock_recvmsg
";

#[test]
fn the_callers_of_helpers_are_read_from_drawn_call_graphs() {
    let profile = one(CALLEES_FIRST);
    let boundary = Boundary::of(&profile, &Kinds::builtin().unwrap());
    let callers: Vec<String> = boundary
        .kinds
        .iter()
        .flat_map(|kind| &kind.symbols)
        .flat_map(|symbol| {
            symbol
                .callers
                .iter()
                .map(move |one| format!("{} {} {:.1}", symbol.symbol, one.symbol, one.percent))
        })
        .collect();
    assert_eq!(
        callers,
        [
            "__put_user_nocheck_4 ep_send_events 6.0",
            "__put_user_nocheck_4 sock_getsockopt 4.0",
            "_copy_to_user sock_recvmsg 5.0"
        ]
    );
    assert!((boundary.percent - 15.0).abs() < 1e-9);
    let interval = boundary.interval.unwrap();
    assert!(
        interval.low < 15.0 && interval.high > 15.0 && interval.high < 21.0,
        "{interval:?}"
    );
}

/// With --children a drawing leads to the row and on to what it calls.
#[test]
fn what_a_row_calls_is_not_its_caller() {
    let text = "# To display more, say so.
#
# Children      Self  Command  Shared Object      Symbol
    99.00%     1.00%  guest    [kernel.kallsyms]  [k] do_syscall_64
            |
            ---do_syscall_64
               |
                --97.00%--__x64_sys_epoll_wait
                          do_epoll_wait

    20.00%    20.00%  guest    [kernel.kallsyms]  [k] __put_user_4
            |
            ---entry_SYSCALL_64_after_hwframe
               do_syscall_64
               ep_send_events
               __put_user_4
";
    let profile = one(text);
    assert_eq!(profile.title, None);
    let stacks: Vec<Vec<&str>> = profile
        .stacks
        .iter()
        .map(|stack| {
            stack
                .frames
                .iter()
                .map(|frame| frame.symbol.as_str())
                .collect()
        })
        .collect();
    assert_eq!(
        stacks,
        [[
            "__put_user_4",
            "ep_send_events",
            "do_syscall_64",
            "entry_SYSCALL_64_after_hwframe"
        ]]
    );
}

#[test]
fn perf_script_counts_periods_and_the_first_frame() {
    let text = "server  1234  5041.123456:     250000 cycles: \n\tffffffff8123 __put_user_nocheck_4+0x3 ([kernel.kallsyms])\n\tffffffff8124 ep_send_events+0x10 ([kernel.kallsyms])\n\nserver  1234  5041.123457:     750000 cycles: \n\tffffffffc0ab snd_pcm_ioctl+0x10 (/lib/modules/6.12/kernel/sound/snd-pcm.ko)\n\t      7f8812 a(int, b)+0x10 (/usr/lib/libc.so.6)\n\nserver 1234 [001] 5041.2: 1 page-faults: 7f8812 main+0x1f (/usr/bin/server)\n";
    let all = read(text).profiles;
    assert_eq!(all.len(), 2, "an event each");
    assert_eq!(
        rows(&all[0]),
        [
            "75.00 k /lib/modules/6.12/kernel/sound/snd-pcm.ko snd_pcm_ioctl",
            "25.00 k [kernel.kallsyms] __put_user_nocheck_4"
        ]
    );
    assert_eq!(all[0].samples, Samples::Exactly(2));
    assert_eq!(all[0].stacks[1].frames[1].symbol, "ep_send_events");
    assert_eq!(rows(&all[1]), ["100.00 . /usr/bin/server main"]);
}

#[test]
fn folded_stacks_name_the_kernel_by_their_marks() {
    let text = "server;main;epoll_wait;do_epoll_wait_[k];__put_user_nocheck_8_[k] 30\nserver;main;work 70\n";
    let profile = one(text);
    assert_eq!(profile.form, Form::Folded);
    assert_eq!(
        rows(&profile),
        ["70.00 .  work", "30.00 k  __put_user_nocheck_8"]
    );
    assert_eq!(profile.samples, Samples::Exactly(100));
    let broken = format!("{text}no stack at all\n");
    assert_eq!(
        error(&broken).to_string(),
        "line 3 is no folded stack, as the others are: no stack at all"
    );
}

const ANNOTATED: &str = "    0.00 :   c057f858:       3d 20 7f ff     lis     r9,32767
    0.77 :   c057f860:       61 29 ff fc     ori     r9,r9,65532
    0.36 :   c057f868:       41 a1 fb 58     bgt     c057f3c0 <snd_pcm_ioctl+0xbb0>
    1.95 :   c057f870:       7d 3a c3 a6     mtspr   794,r9
...

words between

    0.57 :   c057f5dc:       3d 20 dc 00     lis     r9,-9216
    0.98 :   c057f5e0:       7d 3a c3 a6     mtspr   794,r9
    4.95 :   c057f5f0:       92 9f 00 14     stw     r20,20(r31)
";

#[test]
fn annotated_blocks_are_counted_and_named() {
    let wrapped = ANNOTATED.replace("c057f3c0 <snd", "c057f3c0 \n<snd");
    for text in [ANNOTATED.to_owned(), wrapped, quoted(ANNOTATED, "> >> ")] {
        let read = read(&text);
        let blocks: Vec<_> = read
            .annotations
            .iter()
            .map(|one| {
                (
                    one.function.as_deref(),
                    one.named_by,
                    one.lines.len(),
                    format!("{:.2}", one.percent()),
                    one.elided,
                )
            })
            .collect();
        let name = Some("snd_pcm_ioctl");
        assert_eq!(
            blocks,
            [
                (name, NamedBy::Jump, 4, "3.08".to_owned(), true),
                (name, NamedBy::Neighbour, 3, "6.50".to_owned(), false)
            ]
        );
    }
}

/// Without the addresses, or without the bytes.
#[test]
fn annotated_lines_are_read_with_columns_left_out() {
    let without_addresses =
        "  0.29 :  3d 20 7f ff  lis  r9,32767\n  1.95 :  7d 3a c3 a6  mtspr  794,r9\n";
    let without_bytes = "  0.29 :  c057f85c:  lis  r9,32767\n  1.95 :  c057f870:  mtspr  794,r9\n";
    for text in [without_addresses, without_bytes] {
        let read = read(text);
        let codes: Vec<&str> = read.annotations[0]
            .lines
            .iter()
            .map(|line| line.code.as_str())
            .collect();
        assert_eq!(codes, ["lis r9,32767", "mtspr 794,r9"]);
    }
    assert!(Reading::of_text("1.5 : some words\n2.5 : other words\n").is_err());
}

#[test]
fn the_gate_s_part_of_a_helper_is_one_of_everything_where_a_table_has_the_helper() {
    let text = "  __put_user_nocheck_4  /proc/kcore [Percent: local period]\n  Percent │\n    89.91 │      stac\n     0.19 │      mov  %eax,(%rcx)\n     9.69 │      clac\n     0.06 │    ← retq\n\nSome words\n\n  Overhead  Shared O  Symbol\n     4.39%  [kernel]  [k] __put_user_nocheck_4\n";
    let read = read(text);
    let gates = gate_shares(
        &read.annotations,
        &read.profiles,
        &Kinds::builtin().unwrap(),
    );
    let gates: Vec<String> = gates
        .iter()
        .map(|one| {
            format!(
                "{} {} {:.2} {:.2}",
                one.code,
                one.does,
                one.percent,
                one.of_all.unwrap()
            )
        })
        .collect();
    assert_eq!(gates, ["stac opens 89.91 3.95", "clac closes 9.69 0.43"]);
    assert_eq!(read.annotations[0].lines.len(), 4);
    assert_eq!(read.annotations[0].lines[3].code, "retq");
}

#[test]
fn tables_of_times_have_a_ratio_a_row() {
    let text = "words\n\n \t\t before\t\t  after\n \tsingle\t\t100.173ns\t 84.496ns\n \tparallel (x4)\t204.275ns\t152.957ns\n\nother words:\n\n\t\t\tbefore           after\n\tsingle\t\t245.355ns\t199.477ns\n";
    let check = |text: &str, first: Side| {
        let found = read(text).times;
        assert_eq!(found.len(), 2, "{text}");
        assert_eq!(found[0].sides()[0], first);
        let (before, after) = found[0].pair().unwrap();
        let of = |at: usize| -> Vec<f64> {
            found[0]
                .rows
                .iter()
                .map(|row| row.nanoseconds[at])
                .collect()
        };
        assert_eq!(
            (of(before), of(after)),
            (vec![100.173, 204.275], vec![84.496, 152.957])
        );
        assert_eq!(found[0].rows[1].label, "parallel (x4)");
    };
    check(text, Side::Before);
    assert!(
        read("a kernel\n catch 64\n Signal handler overhead: 1.75 microseconds\n")
            .times
            .is_empty()
    );
    check(&quoted(text, "> "), Side::Before);
    check(&text.replace("ns", " ns"), Side::Before);
    check(
        &text
            .replace("204.275ns\t", "204.275ns\n> ")
            .replace("\n> ", "\n\t"),
        Side::Before,
    );
    let turned = "words\n\n   after   before\nsingle  84.496ns  100.173ns\nparallel (x4)\n   152.957ns  204.275ns\n\n  patched  base\nsingle  199.477ns  245.355ns\n";
    check(turned, Side::After);
    let one_column = read("   before\nsingle  100.173ns\n").times;
    assert_eq!(one_column[0].pair(), None);
    let in_head = read("benchmark   before (us)   after (us)\nsingle   1.5   2.5\n").times;
    assert_eq!(in_head[0].rows[0].nanoseconds, [1500.0, 2500.0]);
    assert!(in_head[0].pair().is_some());
}

#[test]
fn samples_of_lat_sig_are_points_of_kernels() {
    let line = |time: &str| format!(" Signal handler overhead: {time} microseconds\n");
    let three = |times: [&str; 3]| times.map(line).concat();
    let text = format!(
        "some words\n\nbase\n catch 64\n{} catch 32\n{}\nup to a patch with a name that\nwas wrapped\n catch 64\n{} catch 32\n{} ----\nall\n catch 64\n{}",
        three(["1.7531", "1.7547", "1.7362"]),
        three(["2.4044", "2.3732", "2.3979"]),
        three(["2.7556", "2.7878", "2.7664"]),
        three(["2.5961", "2.5916", "2.6091"]),
        three(["2.7463", "2.7431", "2.7609"]),
    );
    for text in [
        text.clone(),
        quoted(&text, "> "),
        text.replace(" microseconds", "\n microseconds"),
    ] {
        let series = point_series(&read(&text).points);
        let labels: Vec<_> = series
            .iter()
            .map(|one| (one.label.as_str(), one.points.len()))
            .collect();
        assert_eq!(labels, [("catch 64", 3), ("catch 32", 2)]);
        let headings: Vec<_> = series[0]
            .points
            .iter()
            .map(|one| one.heading.as_str())
            .collect();
        assert_eq!(
            headings,
            ["base", "up to a patch with a name that was wrapped", "all"]
        );
        let medians: Vec<f64> = series[0]
            .points
            .iter()
            .map(|one| one.median.round())
            .collect();
        assert_eq!(medians, [1753.0, 2766.0, 2746.0]);
        let up = &series[0].changes[0];
        assert_eq!(
            (up.ranges, format!("{:.3} {:.1}", up.chance, up.percent)),
            (Ranges::Above, "0.100 57.8".to_owned())
        );
        assert_eq!(series[0].changes[1].ranges, Ranges::Overlap);
        assert!(
            series[0].changes.iter().all(|one| one.smallest > 0.05),
            "three samples cannot show anything"
        );
    }
}

const PROVE: &str = r#"{"kind": "prove", "comparisons": [{"before": {"letter": "A", "variant": "base"}, "after": {"letter": "B", "variant": "window"}, "workloads": [
    {"benchmark": "poll", "parameters": {"fds": 4}, "functions": [
      {"name": "do_sys_poll", "before": {"instructions": 750}, "after": {"instructions": 500}, "before_share": 0.75, "after_share": 1.0},
      {"name": "__put_user_4", "before": {"instructions": 250}, "after": {"instructions": 0}, "before_share": 0.25, "after_share": 0.0}]}]}]}"#;

#[test]
fn the_counts_of_prove_are_profiles_and_compared_as_integers() {
    let all = read(PROVE).profiles;
    let titles: Vec<_> = all
        .iter()
        .map(|one| one.title.as_deref().unwrap())
        .collect();
    assert_eq!(titles, ["A base, poll fds=4", "B window, poll fds=4"]);
    let group: Group = "access=__put_user*".parse().unwrap();
    let found = Comparison::new(
        &[&all[0]],
        &[&all[1]],
        &[group],
        &Kinds::builtin().unwrap(),
        1.0,
    )
    .unwrap();
    assert!(found.exact());
    assert_eq!(
        (
            found.groups[0].counts,
            found.groups[0].told,
            found.groups[0].interval
        ),
        (Some([250, 0]), Told::Shrank, None)
    );
}

#[test]
fn shares_of_samples_and_counts_are_refused() {
    let samples = one("# Samples: 100  of event 'cycles'\n 10.0%  [kernel]  [k] a_symbol\n");
    let own = read(ANNOTATED).ranking().unwrap();
    let counted = read(PROVE).profiles.remove(0);
    let faults = one("# Samples: 100  of event 'page-faults'\n 10.0%  [kernel]  [k] a_symbol\n");
    for other in [&own, &counted, &faults] {
        let told = Comparison::new(&[&samples], &[other], &[], &Kinds::builtin().unwrap(), 1.0)
            .unwrap_err();
        assert!(matches!(told, RefusedComparison::Measures { .. }), "{told}");
        assert!(
            told.to_string().contains("samples of cycles and "),
            "{told}"
        );
    }
}

fn with_samples(count: u32, percent: f64) -> Profile {
    one(&format!(
        "# Samples: {count}  of event 'cycles'\n  {percent:.2}%  [kernel]  [k] __put_user_4\n  {:.2}%  [kernel]  [k] rest\n",
        100.0 - percent
    ))
}

#[test]
fn with_sample_counts_a_change_is_told_or_not() {
    let groups = Group::kinds(&Kinds::builtin().unwrap());
    let told = |count: u32, before: f64, after: f64| {
        let found = Comparison::new(
            &[&with_samples(count, before)],
            &[&with_samples(count, after)],
            &groups,
            &Kinds::builtin().unwrap(),
            1.0,
        )
        .unwrap();
        assert_eq!(found.groups.len(), 1);
        found.groups[0].told
    };
    assert_eq!(told(20_000, 10.0, 12.0), Told::Grew);
    assert_eq!(told(20_000, 12.0, 10.0), Told::Shrank);
    assert_eq!(told(20_000, 10.0, 10.1), Told::Equal);
    assert_eq!(told(200, 10.0, 12.0), Told::NotShown);
}

/// Profiles of several runs: what they differ by decides, not their samples.
#[test]
fn several_profiles_a_side_bring_what_runs_differ_by() {
    let groups = Group::kinds(&Kinds::builtin().unwrap());
    let side = |shares: [f64; 5]| shares.map(|share| with_samples(1_000_000, share));
    let told = |old: [f64; 5], new: [f64; 5]| {
        let (old, new) = (side(old), side(new));
        let (old, new): (Vec<&Profile>, Vec<&Profile>) =
            (old.iter().collect(), new.iter().collect());
        Comparison::new(&old, &new, &groups, &Kinds::builtin().unwrap(), 0.1)
            .unwrap()
            .groups[0]
            .told
    };
    assert_eq!(
        told(
            [10.0, 10.1, 9.9, 10.0, 10.1],
            [12.0, 12.1, 11.9, 12.0, 12.1]
        ),
        Told::Grew
    );
    assert_eq!(
        told([10.0, 14.0, 6.0, 8.0, 12.0], [12.0, 16.0, 8.0, 10.0, 14.0]),
        Told::NotShown
    );
}

#[test]
fn what_is_debugged_and_what_has_no_name_is_said() {
    let profile = one(
        "  8.51%  player  [kernel.kallsyms]  [k] __lock_acquire\n  2.87%  player  [kernel.kallsyms]  [k] lock_release\n  1.00%  player  libx.so  [.] 0x000000000004bc7e\n",
    );
    let boundary = Boundary::of(&profile, &Kinds::builtin().unwrap());
    assert_eq!(boundary.debugging[0].what, "lock debugging");
    assert!((boundary.debugging[0].percent - 11.38).abs() < 1e-9);
    assert!((boundary.kernel - 11.38).abs() < 1e-9);
    assert_eq!(profile.unresolved(), (1.0, 1));
}

#[test]
fn findings_explain_what_stacks_or_symbols_lead_to() {
    let candidate = |function: &str, callers: &[&str]| tollgate_profile::Candidate {
        path: "include/linux/eventpoll.h".to_owned(),
        line: 80,
        function: function.to_owned(),
        callers: callers.iter().map(|name| (*name).to_owned()).collect(),
        calls: vec!["__put_user".to_owned()],
        windows_saved: 1,
    };
    let all = [
        candidate("epoll_put_uevent", &["ep_send_events", "ep_poll"]),
        candidate("elsewhere", &[]),
    ];
    let kinds = Kinds::builtin().unwrap();
    let with_stacks = explain(&one(CALLEES_FIRST), &kinds, &all);
    assert_eq!(with_stacks.len(), 1);
    assert_eq!(with_stacks[0].symbol, "ep_send_events");
    assert!((with_stacks[0].at_most - 6.0).abs() < 1e-9);
    assert!((with_stacks[0].speedup - 100.0 * (1.0 / 0.94 - 1.0)).abs() < 1e-9);
    let flat = one(
        "  4.39%  [kernel]  [k] __put_user_nocheck_4\n  3.00%  [kernel]  [k] __put_user_4\n  1.06%  [kernel]  [k] ep_send_events\n  0.78%  [kernel]  [k] __put_user_nocheck_8\n",
    );
    let by_symbols = explain(&flat, &kinds, &all);
    assert!(
        (by_symbols[0].at_most - 5.17).abs() < 1e-9,
        "{by_symbols:?}"
    );
}

#[test]
fn what_is_no_profile_is_refused_in_a_sentence_with_its_line() {
    assert!(matches!(
        error("\nsome words\nb\n"),
        ReadError::Nothing {
            lines: 3,
            first: Some((2, _))
        }
    ));
    assert_eq!(error(""), ReadError::Empty);
    for text in ["{", "{}", r#"{"comparisons": [{"workloads": [1e999]}]}"#] {
        let told = error(text).to_string();
        assert!(told.starts_with("it begins as JSON does, but "), "{told}");
    }
    assert!(error("{\n \"kind\": 3,\n").to_string().contains("line "));
    let kernel = Kallsyms::default();
    assert_eq!(
        Reading::of(b"a\0b", &kernel).unwrap_err(),
        ReadError::Binary(1)
    );
    for bytes in [
        &b"PERFILE2"[..],
        b"PERFILE2\x68\0\0\0\0\0\0\0",
        b"2ELIFREPxxxxxxxxyyyyyyyyyyyyyyyyyyyy",
    ] {
        let told = Reading::of(bytes, &kernel).unwrap_err().to_string();
        assert!(!told.is_empty());
    }
    // Huge, negative and cut-off figures are no rows.
    assert!(Reading::of_text("-3%  a [k] b\n1e999% a [k] b\n12.5% a [k]").is_err());
}

/// A perf.data of this kind of machine: `perf record -e cpu-clock -g`.
#[test]
fn a_perf_data_has_names_where_kallsyms_gives_them() {
    let bytes = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/corpus/perf_data/cat"
    ))
    .unwrap();
    let bare = Reading::of(&bytes, &Kallsyms::default()).unwrap().profiles;
    assert_eq!(bare.len(), 1);
    assert_eq!(bare[0].samples, Samples::Exactly(25));
    assert_eq!(
        bare[0].measure,
        Measure::Samples {
            event: Some("cpu-clock".to_owned())
        }
    );
    assert!(
        bare[0].notes.iter().any(|note| note.contains("--kallsyms")),
        "{:?}",
        bare[0].notes
    );
    let named = Kallsyms::parse(
        "ffffffff80000000 T all_of_it\n0000000000000000 T nothing\nffffffff80000000 D data\n",
    );
    let named = Reading::of(&bytes, &named).unwrap().profiles;
    assert!(
        named[0]
            .rows
            .iter()
            .any(|row| row.symbol == "all_of_it" && row.space == Space::Kernel)
    );
    assert!(named[0].stacks.iter().any(|stack| stack.frames.len() > 3));
    for cut in [100, 1000, bytes.len() - 10] {
        let told = Reading::of(&bytes[..cut], &Kallsyms::default())
            .unwrap_err()
            .to_string();
        assert!(told.contains("cut off"), "{told}");
    }
}

/// Samples of unlike weight say less than as many of one.
#[test]
fn samples_that_weigh_more_are_worth_fewer() {
    let sample = |period: u32, name: &str| {
        format!("a 1 1.0: {period} cycles: ffffffff81000000 {name}+0x1 ([kernel.kallsyms])\n")
    };
    let alike = one(&sample(100, "a").repeat(50));
    assert_eq!(
        (alike.samples, alike.weighed()),
        (Samples::Exactly(50), Some(50))
    );
    let unlike = one(&(sample(100, "a").repeat(50) + &sample(5000, "b")));
    assert_eq!(unlike.samples, Samples::Exactly(51));
    assert_eq!(unlike.weighed(), Some(3));
}
