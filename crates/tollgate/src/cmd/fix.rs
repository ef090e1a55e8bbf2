//! `tollgate fix`: write the patch that makes a function open the gate once.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use tollgate_lab::sources;
use tollgate_lab::tree::Tree;
use tollgate_report::fixes::{self, Compiled, Fix, Fixes};
use tollgate_rewrite::{FixError, Patched, Request, Style, Target};
use tollgate_source::{
    LineIndex, Name, Token, TokenKind, TreePath, Vocabulary, bodies, plain, shown, tokens,
};

use crate::compile::{self, Verdict};
use crate::door::Door;
use crate::exit::Exit;
use crate::macros::Macros;
use crate::output::{Answer, Asked, Documents, Form};
use crate::patch::{self, Author};
use crate::progress::Meter;
use crate::term::Term;
use crate::{figures, folders};

/// Flags of `tollgate fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree; it is only read
    tree: PathBuf,
    /// The function, such as include/linux/eventpoll.h:epoll_put_uevent; none
    /// or several with --output
    #[arg(value_name = "FILE:FUNCTION", required_unless_present = "output")]
    targets: Vec<OsString>,
    /// Write a series of patches into this folder; without FILE:FUNCTION for
    /// every function that the scan finds
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What a patch of a series holds
    #[arg(long, value_enum, default_value_t, requires = "output")]
    per: Per,
    /// Compile each touched object before and after (x86_64, allmodconfig) in a
    /// private copy of the tree, and say what the compiler and objtool say anew:
    /// 1 for a new warning, 2 for what this configuration does not build
    #[arg(long)]
    check: bool,
    /// Where --check keeps its copy and its build [default: ~/.cache/tollgate]
    #[arg(long, value_name = "DIR", requires = "check")]
    cache: Option<PathBuf>,
    /// How user memory is accessed after the fix. window: one begin, unsafe
    /// accesses, one label. masked: the same, with a masked pointer where the
    /// architecture can. scoped: a block that closes by itself. struct-copy: one
    /// copy for adjacent members of a structure. size-switch: constant accesses
    /// for the --sizes of a copy whose size is known at run time
    #[arg(long, default_value_t)]
    style: Style,
    /// The sizes in bytes for the style size-switch, such as 4,8,16
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    sizes: Vec<u32>,
    /// Allow the style struct-copy to write zeros to members that the function
    /// leaves alone, or to read them; the message of the patch names them
    #[arg(long)]
    touch_all_members: bool,
    /// Add the trailer `Assisted-by: tollgate`
    #[arg(long)]
    assisted_by: bool,
    /// Allow accesses that go on after a fault to stop at the first; the
    /// message of the patch says so
    #[arg(long)]
    stop_at_first_fault: bool,
    #[command(flatten)]
    shown: Asked<Documents>,
}

/// What one patch of a series holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Per {
    /// One function
    #[default]
    Function,
    /// All functions of one file
    File,
}

/// The trailer that `--assisted-by` adds.
const ASSISTED_BY: &str = "Assisted-by: tollgate";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    check_flags(args)?;
    let output = args.shown.output();
    output.check([])?;
    output.refuse_inside(&args.tree)?;
    let tree = Tree::open(&args.tree)?;
    let targets = targets(args)?;
    if let Some(reason) = patch::history_refused(tree.root()) {
        term.note(&format!(
            "the tree's history is not read, and subjects begin by the path alone; git says: {reason}"
        ));
    }
    match (&args.output, targets.as_slice()) {
        (Some(folder), targets) => series(args, &tree, targets, folder, term),
        (None, [target]) => single(args, &tree, target, term),
        (None, _) => {
            anyhow::bail!("several patches are a series: say with --output DIR where it goes")
        }
    }
}

/// Refuses what no style would obey, and a folder that cannot be one.
fn check_flags(args: &Args) -> anyhow::Result<()> {
    let of_sizes = args.style == Style::SizeSwitch;
    match (of_sizes, args.sizes.is_empty()) {
        (true, true) => anyhow::bail!("--style size-switch wants the sizes: --sizes 4,8,16"),
        (false, false) => anyhow::bail!(
            "--sizes is for --style size-switch, and the style is {}",
            args.style
        ),
        _ => {}
    }
    if args.touch_all_members && args.style != Style::StructCopy {
        anyhow::bail!(
            "--touch-all-members is for --style struct-copy, and the style is {}",
            args.style
        );
    }
    match &args.output {
        Some(folder) if folder.exists() && !folder.is_dir() => anyhow::bail!(
            "--output {} is no folder; give one for the patches",
            shown(folder)
        ),
        _ => Ok(()),
    }
}

/// What the user names, each file of it by its path below the tree.
fn targets(args: &Args) -> anyhow::Result<Vec<Target>> {
    let door = Door::of(&args.tree)?;
    let target = |words: &OsString| {
        let (path, function) = Target::split(words.as_bytes())?;
        Ok(Target {
            path: door.file(Path::new(OsStr::from_bytes(path)))?,
            function: function.to_owned(),
        })
    };
    args.targets.iter().map(target).collect()
}

fn request(args: &Args, tree: &Tree, target: &Target) -> Request {
    Request {
        style: args.style,
        prefix: patch::prefix(tree.root(), &target.path),
        figures: Vec::new(),
        stop_at_first_fault: args.stop_at_first_fault,
        touch_all_members: args.touch_all_members,
        sizes: args.sizes.clone(),
        macros: Vec::new(),
    }
}

fn trailers(args: &Args) -> Vec<String> {
    args.assisted_by
        .then(|| ASSISTED_BY.to_owned())
        .into_iter()
        .collect()
}

fn single(args: &Args, tree: &Tree, target: &Target, term: &Term) -> anyhow::Result<Exit> {
    let patched = fix(args, tree, target, term)?;
    let notes = saves_nothing(args, tree, [&patched.path])?;
    if args.shown.output().form == Form::Text {
        notes.iter().for_each(|note| term.note(note));
        for refusal in &patched.refused {
            let (path, line) = (&patched.path, refusal.line);
            term.note(&format!("{path}:{line}: left as it is: {}", refusal.reason));
        }
    }
    let author = Author::configured(tree.root());
    let mail = patch::mail(&patched, &author, &trailers(args))?;
    let fixes = Fixes {
        patches: vec![Fix {
            mail: Some(mail),
            ..of_patch(&patched)
        }],
        functions: 1,
        notes,
        ..nothing(args)
    };
    answer(args, tree, &[patched], fixes, term)
}

/// An answer that holds no patch yet.
fn nothing(args: &Args) -> Fixes {
    Fixes {
        tree: Name::from(args.tree.as_path()),
        style: args.style.to_string(),
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
/// there is also where they cannot be compiled.
fn answer(
    args: &Args,
    tree: &Tree,
    patches: &[Patched],
    mut fixes: Fixes,
    term: &Term,
) -> anyhow::Result<Exit> {
    let verdicts = match args.check {
        true => compile::all(tree, patches, args.cache.as_deref(), term),
        false => Ok(Vec::new()),
    };
    for (fix, verdict) in fixes.patches.iter_mut().zip(verdicts.iter().flatten()) {
        fix.compiled = Some(Compiled {
            good: (!matches!(verdict, Verdict::NotBuilt(_))).then_some(!verdict.is_bad()),
            words: verdict.words(),
        });
    }
    let output = args.shown.output();
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
}

impl Series {
    fn write(args: &Args, tree: &Tree, targets: &[Target], term: &Term) -> Self {
        let meter = Meter::new(term, "fix", "functions", Some(targets.len()));
        let macros = Macros::new(tree);
        let mut changed: HashMap<TreePath, Vec<u8>> = HashMap::new();
        let (mut patches, mut left) = (Vec::new(), Vec::new());
        for target in targets {
            meter.advance(1);
            // A later patch to a file builds on the earlier ones.
            let read = |path: &TreePath| {
                changed
                    .get(path)
                    .map_or_else(|| tree.source(path), |text| Ok(text.clone()))
            };
            let request = request(args, tree, target);
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
                }
            }
        }
        let functions = patches.len();
        if args.per == Per::File {
            patches = patch::merged(patches);
        }
        Self {
            patches,
            functions,
            left,
        }
    }
}

/// A patch for each function or file that can have one, and the reason for each
/// other function.
fn series(
    args: &Args,
    tree: &Tree,
    targets: &[Target],
    folder: &Path,
    term: &Term,
) -> anyhow::Result<Exit> {
    let found = if targets.is_empty() {
        &every_finding(args, tree, term)?
    } else {
        targets
    };
    let series = Series::write(args, tree, found, term);
    if series.patches.is_empty() {
        anyhow::bail!("no function could be rewritten: {}", series.left.join("; "));
    }
    let names = patch::series(
        &series.patches,
        series.functions,
        &Author::configured(tree.root()),
        &trailers(args),
        folder,
    )?;
    let paths = series.patches.iter().map(|patched| &patched.path);
    let fixes = Fixes {
        patches: series.patches.iter().map(of_patch).collect(),
        files: names
            .iter()
            .map(|name| Name::from(name.as_path()))
            .collect(),
        functions: series.functions,
        notes: saves_nothing(args, tree, paths)?,
        left: series.left,
        ..nothing(args)
    };
    answer(args, tree, &series.patches, fixes, term)
}

/// Names the architectures whose headers have no begin of their own: there it
/// only checks the range, and each access goes on as before.
fn saves_nothing<'p>(
    args: &Args,
    tree: &Tree,
    paths: impl IntoIterator<Item = &'p TreePath>,
) -> anyhow::Result<Vec<String>> {
    let named = paths.into_iter().filter_map(|path| {
        let mut parts = path.parts();
        let arch = parts.next().filter(|first| *first == b"arch");
        Some(String::from_utf8_lossy(arch.and(parts.next())?).into_owned())
    });
    let named: BTreeSet<String> = named.collect();
    if named.is_empty() || saves_anyway(args) {
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
fn saves_anyway(args: &Args) -> bool {
    matches!(args.style, Style::StructCopy | Style::SizeSwitch)
}

fn every_finding(args: &Args, tree: &Tree, term: &Term) -> anyhow::Result<Vec<Target>> {
    let meter = Meter::new(term, "scan", "files", Some(0));
    let mut scan = sources::scan(tree, &meter)?;
    drop(meter);
    let all = scan.findings.len();
    let with = sources::with_windows(tree)?;
    // As scan does: elsewhere a window saves nothing.
    if !saves_anyway(args) && !with.is_empty() {
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
fn fix(args: &Args, tree: &Tree, target: &Target, term: &Term) -> anyhow::Result<Patched> {
    let read = |path: &TreePath| tree.source(path);
    let request = request(args, tree, target);
    let macros = Macros::new(tree);
    let patched = macros.fix(&read, target, &request);
    let patched = patched.map_err(|error| match &error {
        FixError::Function { .. } => anyhow::anyhow!(explained(tree, target, &error)),
        _ => error.into(),
    })?;
    let measured = match folders::cache(args.cache.as_deref()) {
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
    let request = Request { figures, ..request };
    Ok(macros.fix(&read, target, &request)?)
}

/// Why there is no patch: of a function that is there and was not found, what it has
/// instead of accesses.
fn explained(tree: &Tree, target: &Target, error: &FixError) -> String {
    match error {
        FixError::Function { .. } => instead(tree, target).unwrap_or_else(|| error.to_string()),
        _ => error.to_string(),
    }
}

fn instead(tree: &Tree, target: &Target) -> Option<String> {
    let (Ok(text), Ok(vocabulary)) = (tree.source(&target.path), Vocabulary::builtin()) else {
        return None;
    };
    let tokens = tokens(&text, 0);
    let bodies = bodies(&text, &tokens, &vocabulary);
    let body = bodies.iter().find(|body| body.name == target.function)?;
    let lines = LineIndex::new(&text);
    let line = lines.position(body.name_span.start).line;
    let words = tokens.get(body.tokens.clone())?.iter();
    let word = |token: &&Token| vocabulary.window(token.span.of(&text)).is_some();
    let (path, function) = (&target.path, &target.function);
    let found = words
        .filter(|token| token.kind == TokenKind::Word)
        .find(word);
    Some(match found {
        Some(token) => format!(
            "{path}:{line}: {function} has its window already: {}() in line {}; there is nothing to fix",
            String::from_utf8_lossy(token.span.of(&text)),
            lines.position(token.span.start).line
        ),
        None => format!("{path}:{line}: {function} has no user access that tollgate knows"),
    })
}
