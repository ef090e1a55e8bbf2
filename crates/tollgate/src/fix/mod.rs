//! `tollgate fix`: the patch that makes a function open the gate once, or a series.

mod request;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use tollgate_lab::git::mails::{self, Edit};
use tollgate_lab::input;
use tollgate_lab::patched::Verdict;
use tollgate_lab::process::Runner;
use tollgate_lab::progress::Progress as _;
use tollgate_lab::sources::{self, Sizes};
use tollgate_lab::tree::Tree;
use tollgate_measure::Setting;
use tollgate_report::comparison::{Saved, saved};
use tollgate_report::fixes::{self, Compiled, Fix, Fixes};
use tollgate_rewrite::{self as rewrite, FixError, Patched, Style, Target};
use tollgate_source::{Name, TreePath, Vocabulary, plain, shown};

use crate::compile;
use crate::door::Door;
use crate::exit::Exit;
use crate::figures::of_counts;
use crate::macros::Macros;
use crate::output::{Answer, Form};
use crate::progress::{Meter, Steps};
use crate::term::Term;
use crate::{figures, folders, patch, signals};

pub(crate) use request::{Per, Request};

/// The trailer that `--assisted-by` adds.
const ASSISTED_BY: &str = "Assisted-by: tollgate";

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    check_flags(asked)?;
    let output = &asked.shown;
    output.check([])?;
    output.refuse_inside(&asked.tree)?;
    let tree = Tree::open(&asked.tree)?;
    let targets = targets(asked)?;
    if let Some(reason) = patch::history_refused(tree.root()) {
        term.note(&format!(
            "the tree's history is not read, and subjects begin by the path alone; git says: {reason}"
        ));
    }
    let written = match (&asked.output, targets.as_slice()) {
        (Some(folder), targets) => series(asked, &tree, targets, folder, term),
        (None, [target]) => single(asked, &tree, target, term),
        (None, _) => {
            anyhow::bail!("several patches are a series: say with --output DIR where it goes")
        }
    }?;
    answer(asked, &tree, written, begun, term)
}

/// Refuses what no style would obey, and a folder that cannot be one.
fn check_flags(asked: &Request) -> anyhow::Result<()> {
    let of_sizes = asked.style == Style::SizeSwitch;
    match (of_sizes, asked.sizes.is_empty()) {
        (true, true) => anyhow::bail!("--style size-switch wants the sizes: --sizes 4,8,16"),
        (false, false) => anyhow::bail!(
            "--sizes is for --style size-switch, and the style is {}",
            asked.style
        ),
        _ => {}
    }
    if asked.touch_all_members && asked.style != Style::StructCopy {
        anyhow::bail!(
            "--touch-all-members is for --style struct-copy, and the style is {}",
            asked.style
        );
    }
    if asked.into_callers && asked.style != Style::Window {
        anyhow::bail!(
            "--into-callers is for --style window, and the style is {}",
            asked.style
        );
    }
    match &asked.output {
        Some(folder) if folder.exists() && !folder.is_dir() => anyhow::bail!(
            "--output {} is no folder; give one for the patches",
            shown(folder)
        ),
        _ => Ok(()),
    }
}

/// What the user names, each file of it by its path below the tree.
fn targets(asked: &Request) -> anyhow::Result<Vec<Target>> {
    let door = Door::of(&asked.tree)?;
    let target = |words: &OsString| {
        let (path, function) = Target::split(words.as_bytes())?;
        Ok(Target {
            path: door.file(Path::new(OsStr::from_bytes(path)))?,
            function: function.to_owned(),
        })
    };
    asked.targets.iter().map(target).collect()
}

fn rewriting(asked: &Request, tree: &Tree, target: &Target) -> rewrite::Request {
    rewrite::Request {
        style: asked.style,
        prefix: patch::prefix(tree.root(), &target.path),
        figures: Vec::new(),
        stop_at_first_fault: asked.stop_at_first_fault,
        open_over_rounds: asked.open_over_rounds,
        no_zero_on_fault: asked.no_zero_on_fault,
        into_callers: asked.into_callers,
        touch_all_members: asked.touch_all_members,
        sizes: asked.sizes.clone(),
        macros: Vec::new(),
    }
}

fn trailers(asked: &Request) -> Vec<String> {
    asked
        .assisted_by
        .then(|| ASSISTED_BY.to_owned())
        .into_iter()
        .collect()
}

/// Patches that are written, and what is to be said of them.
struct Written {
    patches: Vec<Patched>,
    fixes: Fixes,
}

fn single(asked: &Request, tree: &Tree, target: &Target, term: &Term) -> anyhow::Result<Written> {
    let patched = fix(asked, tree, target, term)?;
    let notes = saves_nothing(asked, tree, [&patched.path])?;
    if asked.shown.form == Form::Text {
        notes.iter().for_each(|note| term.note(note));
        for refusal in &patched.refused {
            let (path, line) = (&patched.path, refusal.line);
            term.note(&format!("{path}:{line}: left as it is: {}", refusal.reason));
        }
    }
    let edit = patch::edit(&patched, &trailers(asked));
    let mail = mails::mail(&edit, &patch::author(tree.root()), &obeyed())?;
    let fixes = Fixes {
        patches: vec![Fix {
            mail: Some(mail),
            ..of_patch(&patched)
        }],
        functions: 1,
        notes,
        ..nothing(asked)
    };
    let patches = vec![patched];
    Ok(Written { patches, fixes })
}

/// An answer that holds no patch yet.
fn nothing(asked: &Request) -> Fixes {
    Fixes {
        tree: Name::from(asked.tree.as_path()),
        style: asked.style.to_string(),
        patches: Vec::new(),
        files: Vec::new(),
        functions: 0,
        left: Vec::new(),
        notes: Vec::new(),
    }
}

fn of_patch(patched: &Patched) -> Fix {
    let refused = patched.refused.iter();
    Fix {
        path: Name::from(patched.path.as_bytes()),
        function: patched.function.clone(),
        before: patched.windows_before,
        after: patched.windows_after,
        refused: refused
            .map(|refusal| (refusal.line, refusal.reason.to_string()))
            .collect(),
        mail: None,
        compiled: None,
    }
}

/// Compiles what the patches touch, if that is asked for, and shows everything; what
/// there is also where they cannot be compiled. To write the patches is the first of
/// the steps that are listed.
fn answer(
    asked: &Request,
    tree: &Tree,
    written: Written,
    begun: Instant,
    term: &Term,
) -> anyhow::Result<Exit> {
    let Written { patches, mut fixes } = written;
    let verdicts = match asked.check {
        true => {
            let steps = Steps::new(term);
            let how = match patches.len() {
                1 => "1 patch".to_owned(),
                many => format!("{many} patches"),
            };
            steps.end("write the patches", &how, begun.elapsed());
            compile::all(tree, &patches, asked.cache.as_deref(), &steps)
        }
        false => Ok(Vec::new()),
    };
    for (fix, verdict) in fixes.patches.iter_mut().zip(verdicts.iter().flatten()) {
        fix.compiled = Some(Compiled {
            good: (!matches!(verdict, Verdict::NotBuilt(_))).then_some(!verdict.is_bad()),
            words: verdict.words(),
        });
    }
    let output = &asked.shown;
    output.write(term, |form| {
        Ok(match (form, fixes.mail()) {
            (Form::Json, _) => fixes::json(&fixes)?.into(),
            // It is for git: what else there is to say is on standard error.
            (Form::Text, Some(mail)) => Answer::Bytes(mail.to_vec()),
            _ => fixes::document(&fixes).into(),
        })
    })?;
    if output.form == Form::Text && fixes.mail().is_some() {
        for (fix, compiled) in fixes.patches.iter().zip(compiled(&fixes)) {
            let words = plain(compiled);
            term.verdict(&format!("{}: {}: {words}", fix.path, fix.function));
        }
    }
    exit(&verdicts?)
}

fn compiled(fixes: &Fixes) -> impl Iterator<Item = &str> {
    let all = fixes.patches.iter();
    all.filter_map(|fix| Some(fix.compiled.as_ref()?.words.as_str()))
}

fn exit(verdicts: &[Verdict]) -> anyhow::Result<Exit> {
    let unknown = verdicts
        .iter()
        .filter(|verdict| matches!(verdict, Verdict::NotBuilt(_)));
    match (verdicts.iter().any(Verdict::is_bad), unknown.count()) {
        (true, _) => Ok(Exit::Findings),
        (false, 0) => Ok(Exit::Clean),
        (false, unknown) => anyhow::bail!(
            "{unknown} of {} patches could not be checked in this configuration; the lines above say why",
            verdicts.len()
        ),
    }
}

/// Patches that build on each other, and why other functions have none.
struct Series {
    patches: Vec<Patched>,
    /// How many functions the patches rewrite.
    functions: usize,
    left: Vec<String>,
    /// What the tree lacks for those; none of what is refused for another reason.
    lacks: BTreeSet<Option<String>>,
}

impl Series {
    fn write(asked: &Request, tree: &Tree, targets: &[Target], term: &Term) -> Self {
        let meter = Meter::new(term, "fix", "functions", Some(targets.len()));
        let macros = Macros::new(tree);
        let mut changed: HashMap<TreePath, Vec<u8>> = HashMap::new();
        let (mut patches, mut left) = (Vec::new(), Vec::new());
        let mut lacks = BTreeSet::new();
        for target in targets {
            meter.advance(1);
            // A later patch to a file builds on the earlier ones.
            let read = |path: &TreePath| {
                changed
                    .get(path)
                    .map_or_else(|| tree.source(path), |text| Ok(text.clone()))
            };
            let request = rewriting(asked, tree, target);
            match macros.fix(&read, target, &request) {
                Ok(patched) => {
                    changed.insert(patched.path.clone(), patched.rewritten.clone());
                    patches.push(patched);
                }
                Err(error) => {
                    // The reason names lines of the tree as it stands.
                    let plain = macros.fix(&|path: &TreePath| tree.source(path), target, &request);
                    let error = plain.err().unwrap_or(error);
                    left.push(explained(tree, target, &error));
                    lacks.insert(error.of_tree());
                }
            }
        }
        let functions = patches.len();
        if asked.per == Per::File {
            patches = rewrite::merged(patches);
        }
        Self {
            patches,
            functions,
            left,
            lacks,
        }
    }

    /// Why no function has a patch: what the tree lacks for all of them is said once.
    fn why(&self) -> String {
        let mut lacks = self.lacks.iter();
        match (lacks.next(), lacks.next(), self.left.len()) {
            (Some(Some(reason)), None, 2..) => reason.clone(),
            _ => self.left.join("; "),
        }
    }
}

/// A patch for each function or file that can have one, and the reason for each
/// other function.
fn series(
    asked: &Request,
    tree: &Tree,
    targets: &[Target],
    folder: &Path,
    term: &Term,
) -> anyhow::Result<Written> {
    // It would be the reason of every function.
    rewrite::offered(&|path: &TreePath| tree.source(path), asked.style)?;
    let found = if targets.is_empty() {
        &every_finding(asked, tree, term)?
    } else {
        targets
    };
    let series = Series::write(asked, tree, found, term);
    if series.patches.is_empty() {
        anyhow::bail!("no function could be rewritten: {}", series.why());
    }
    let trailers = trailers(asked);
    let edits = series.patches.iter();
    let edits: Vec<Edit<'_>> = edits.map(|one| patch::edit(one, &trailers)).collect();
    let letter = |text: &str| rewrite::cover_letter(text, &series.patches, series.functions);
    let author = patch::author(tree.root());
    let names = mails::series(&edits, letter, &author, folder, &obeyed())?;
    let paths = series.patches.iter().map(|patched| &patched.path);
    let fixes = Fixes {
        patches: series.patches.iter().map(of_patch).collect(),
        files: names
            .iter()
            .map(|name| Name::from(name.as_path()))
            .collect(),
        functions: series.functions,
        notes: saves_nothing(asked, tree, paths)?,
        left: series.left,
        ..nothing(asked)
    };
    let patches = series.patches;
    Ok(Written { patches, fixes })
}

/// Names the architectures whose headers have no begin of their own: there it
/// only checks the range, and each access goes on as before.
fn saves_nothing<'p>(
    asked: &Request,
    tree: &Tree,
    paths: impl IntoIterator<Item = &'p TreePath>,
) -> anyhow::Result<Vec<String>> {
    let named = paths.into_iter().filter_map(|path| {
        let mut parts = path.parts();
        let arch = parts.next().filter(|first| *first == b"arch");
        Some(String::from_utf8_lossy(arch.and(parts.next())?).into_owned())
    });
    let named: BTreeSet<String> = named.collect();
    if named.is_empty() || saves_anyway(asked) {
        return Ok(Vec::new());
    }
    let with = sources::with_windows(tree)?;
    let without = named.iter().filter(|name| !with.contains(name));
    Ok(without
        .map(|name| format!(
            "arch/{name} has no user_access_begin() of its own: there it only checks the range, and the patch saves nothing"
        ))
        .collect())
}

/// Whether the style saves something where a window does not.
fn saves_anyway(asked: &Request) -> bool {
    matches!(asked.style, Style::StructCopy | Style::SizeSwitch)
}

fn every_finding(asked: &Request, tree: &Tree, term: &Term) -> anyhow::Result<Vec<Target>> {
    let meter = Meter::new(term, "scan", "files", Some(0));
    let mut scan = sources::scan(tree, Sizes::OfNeighbours, &meter)?;
    drop(meter);
    let all = scan.findings.len();
    let with = sources::with_windows(tree)?;
    // As scan does: elsewhere a window saves nothing.
    if !saves_anyway(asked) && !with.is_empty() {
        scan.keep_architectures(&with);
    }
    let left = all - scan.findings.len();
    if left > 0 {
        term.note(&format!(
            "left out: {left} functions of architectures whose headers say that a window saves nothing there; name them to have their patches"
        ));
    }
    let findings = scan.findings.into_iter();
    Ok(findings
        .map(|finding| Target {
            path: finding.path,
            function: finding.function.name,
        })
        .collect())
}

/// The fix, with what a proof on this machine has measured of the same change.
fn fix(asked: &Request, tree: &Tree, target: &Target, term: &Term) -> anyhow::Result<Patched> {
    let read = |path: &TreePath| tree.source(path);
    let request = rewriting(asked, tree, target);
    let macros = Macros::new(tree);
    let patched = macros.fix(&read, target, &request);
    let patched = patched.map_err(|error| match &error {
        FixError::Function { .. } => anyhow::anyhow!(explained(tree, target, &error)),
        _ => error.into(),
    })?;
    if let Some(path) = &asked.with_figures {
        let figures = saved_figures(path, &patched, (tree, target), term)?;
        let request = rewrite::Request { figures, ..request };
        return Ok(macros.fix(&read, target, &request)?);
    }
    let measured = match folders::cache(asked.cache.as_deref()) {
        Ok(cache) => figures::find(&cache, &patched, tree.version())?,
        // Without a place for a cache nothing was measured either.
        Err(_) => Vec::new(),
    };
    let Some((path, best)) = measured.first() else {
        return Ok(patched);
    };
    term.note(&format!(
        "the figures of the message were measured by {} ({})",
        best.words(),
        shown(path)
    ));
    for (path, other) in measured.iter().skip(1) {
        term.note(&format!(
            "also measured, and not in it: {} ({})",
            other.words(),
            shown(path)
        ));
    }
    let figures = best.lines.clone();
    let request = rewrite::Request { figures, ..request };
    Ok(macros.fix(&read, target, &request)?)
}

/// The lines of a message with the figures that a saved result has of this patch.
fn saved_figures(
    path: &Path,
    patched: &Patched,
    (tree, target): (&Tree, &Target),
    term: &Term,
) -> anyhow::Result<Vec<String>> {
    let words = shown(path);
    let document =
        input::given(path).with_context(|| format!("could not read the result {words}"))?;
    let all = saved(&document).map_err(|error| anyhow::anyhow!("{words} {error}"))?;
    let mail = mails::mail(
        &patch::edit(patched, &[]),
        &patch::author(tree.root()),
        &obeyed(),
    )?;
    let diff = String::from_utf8_lossy(tollgate_lab::patch::diff_of(&mail)).into_owned();
    let ours = patch::changed_lines(&diff);
    let is_same = |one: &&Saved| patch::changed_lines(&one.setting.patch) == ours;
    let Some(found) = all.iter().find(is_same) else {
        let names: Vec<&str> = all.iter().map(|one| one.variant.as_str()).collect();
        anyhow::bail!(
            "{words} has figures of {}, and of none whose patch changes the lines that the one of {}:{} does",
            names.join(", "),
            target.path,
            target.function
        );
    };
    let Setting {
        subject,
        tree: measured,
        arch,
        config,
        ..
    } = &found.setting;
    if !of_counts(found.verdict) {
        anyhow::bail!(
            "{words} has no figures for a message: what it says of {} is not decided by counts",
            found.variant
        );
    }
    term.note(&format!(
        "the figures of the message are those of {words}: {subject} on Linux {measured}, {arch}, config {config}"
    ));
    if measured != tree.version() {
        term.note(&format!(
            "this tree is Linux {}: the same lines are changed, and the counts may be others",
            tree.version()
        ));
    }
    Ok(found.figures.lines().map(str::to_owned).collect())
}

/// Why there is no patch: of a function that is there and was not found, what it has
/// instead of accesses.
fn explained(tree: &Tree, target: &Target, error: &FixError) -> String {
    match error {
        FixError::Function { .. } => {
            let (Ok(text), Ok(vocabulary)) = (tree.source(&target.path), Vocabulary::shared())
            else {
                return error.to_string();
            };
            let why = tollgate_rewrite::instead(&text, target, vocabulary);
            why.unwrap_or_else(|| error.to_string())
        }
        _ => error.to_string(),
    }
}

fn obeyed() -> Runner {
    Runner::new(signals::obeyed(), None)
}
