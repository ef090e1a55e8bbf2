//! The two sides of a proof: the tree as it is, and the tree with a patch.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tollgate_defect::OrDefect as _;

use anyhow::{Context, bail};
use tollgate_lab::cache::Cache;
use tollgate_lab::case::{Case, Landed, VariantPlan};
use tollgate_lab::git::is_range;
use tollgate_lab::git::mails;
use tollgate_lab::image::{Image, Variant};
use tollgate_lab::input;
use tollgate_lab::patch::{self as applied, Changed, Patch};
use tollgate_lab::process::Runner;
use tollgate_lab::program::Program;
use tollgate_lab::toolchain::Compiler;
use tollgate_lab::tree::Change;
use tollgate_measure::{Find, NotRun, Setting};
use tollgate_rewrite::{FixError, Patched, Style, Target};
use tollgate_source::{Analyser, Direction, Function, TreePath, Vocabulary, shown};

use super::landed;
use super::request::{Against, Request};
use super::setup::{Setup, case_program, read_against};
use crate::macros::Macros;
use crate::patch;
use crate::progress::Steps;

/// A variant that is held against the base.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) variant: Variant,
    /// What compiles it, where that is not what compiles the base.
    pub(crate) compiler: Option<Compiler>,
    /// The program that runs on it, where that is not the base's.
    pub(crate) program: Option<Arc<Program>>,
    /// What tollgate wrote, if it is not a patch.
    pub(crate) fixes: Vec<Fixed>,
    /// The patch as a plain diff where it is ours, without a date, so that two
    /// results of the same images are the same bytes; else the file's text.
    pub(crate) patch: Vec<u8>,
}

/// A fix of ours: where it is, and all that its mail is made of.
#[derive(Clone)]
pub(crate) struct Fixed {
    pub(crate) find: Option<Find>,
    pub(crate) patched: Patched,
    request: tollgate_rewrite::Request,
    target: Target,
}

/// What one compiler makes: a base, and the variants that are held against it.
pub(crate) struct Made {
    /// The compiler, where it is not the first.
    pub(crate) compiler: Option<Compiler>,
    pub(crate) base: Variant,
    pub(crate) asked: Vec<Asked>,
}

/// What the base is called.
const BASE: &str = "base";

/// The tree as it is, or before the change of the case that it has.
pub(crate) fn base(setup: &Setup<'_>) -> Variant {
    Variant {
        name: BASE.to_owned(),
        change: setup.ground(),
        config: Vec::new(),
    }
}

/// What came of a variant that was asked for.
pub(crate) enum Asked {
    /// It can be built.
    Ready(Box<Candidate>),
    /// It cannot.
    Not(NotRun),
}

/// The most variants of one run: each has a letter.
const MOST: usize = 25;

/// The variants that were asked for: the user's patches, and those of the case
/// that were named; the case's first where nothing was. All of them, and the base, once
/// for each compiler.
///
/// # Errors
/// When a name is unknown; when there is one variant, and it cannot be made.
pub(crate) fn candidates(
    request: &Request,
    setup: &Setup<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Made>> {
    let asked = of_first(request, setup, steps)?;
    let others = setup.other_compilers.iter();
    let others: Vec<Made> = others.map(|compiler| by(compiler, &asked, setup)).collect();
    let first = Made {
        compiler: None,
        base: base(setup),
        asked,
    };
    Ok(std::iter::once(first).chain(others).collect())
}

/// The variants, as the first compiler makes them.
///
/// # Errors
/// As [`candidates`].
fn of_first(request: &Request, setup: &Setup<'_>, steps: &Steps<'_>) -> anyhow::Result<Vec<Asked>> {
    landed::refuse_absent(request, setup)?;
    let plans = plans(request, &setup.case, setup.landed.as_ref())?;
    let landed = setup.landed.as_ref();
    let landed = landed.filter(|landed| landed::is_asked(request, landed));
    let mut asked: Vec<Asked> = Vec::new();
    asked.extend(landed.map(|landed| Asked::Ready(Box::new(landed::candidate(landed)))));
    let all = asked.len() + plans.len() + request.patch.len() + request.against.len();
    let alone = all == 1;
    let all = request.variant.iter().any(|name| name == ALL);
    for plan in plans {
        let made = from_plan(plan, setup, steps);
        asked.push(judge(&plan.name, made, alone, all, setup)?);
    }
    for (name, patch) in names(&request.patch).into_iter().zip(&setup.patches) {
        // The user's patches are made for the tree as it is.
        let ground = (&setup.over, setup);
        let made = from_patch(&name, patch.clone(), Vec::new(), ground, steps);
        asked.push(judge(&name, made, alone, false, setup)?);
    }
    for against in &request.against {
        let made = from_program(against, setup);
        asked.push(judge(&against.name, made, alone, false, setup)?);
    }
    Ok(asked)
}

/// The base and each variant, as another compiler makes them. A variant that the first
/// has not, no other has: that is said once.
fn by(compiler: &Compiler, asked: &[Asked], setup: &Setup<'_>) -> Made {
    let named = |name: &str| format!("{name}-{}", stem_of(&compiler.command));
    let ready = asked.iter().filter_map(|asked| match asked {
        Asked::Ready(candidate) => Some(Candidate::clone(candidate)),
        Asked::Not(_) => None,
    });
    let made = ready.map(|mut candidate| {
        candidate.variant.name = named(&candidate.variant.name);
        candidate.compiler = Some(compiler.clone());
        Asked::Ready(Box::new(candidate))
    });
    Made {
        compiler: Some(compiler.clone()),
        base: Variant {
            name: named(BASE),
            ..base(setup)
        },
        asked: made.collect(),
    }
}

/// The name of a command, without where it is.
fn stem_of(command: &str) -> String {
    let name = Path::new(command).file_name();
    name.map_or_else(
        || command.to_owned(),
        |name| shown(Path::new(name)).to_string(),
    )
}

/// Another program of the user's on the base's kernel.
fn from_program(against: &Against, setup: &Setup<'_>) -> anyhow::Result<Candidate> {
    Ok(Candidate {
        program: read_against(against, setup)?,
        ..same_kernel(&against.name, &[], setup)
    })
}

/// A variant that is the base's kernel.
fn same_kernel(name: &str, config: &[String], setup: &Setup<'_>) -> Candidate {
    Candidate {
        variant: Variant {
            name: name.to_owned(),
            change: setup.ground(),
            config: config.to_vec(),
        },
        compiler: None,
        program: None,
        fixes: Vec::new(),
        patch: Vec::new(),
    }
}

/// Checks, before anything is waited for, that each patch is there.
///
/// # Errors
/// What the system says. The two sides of a range are none of the tree as it is.
pub(crate) fn are_there(request: &Request) -> anyhow::Result<()> {
    for path in &request.patch {
        let words = shown(path);
        let about = std::fs::metadata(path);
        if about.is_err() && is_range(&words) {
            bail!(
                "--patch takes a file, and there is no {words}; --series A..B measures commits one by one"
            );
        }
        about.with_context(|| format!("could not read the patch {words}"))?;
    }
    Ok(())
}

/// The user's patches, in the order in which they were given.
///
/// # Errors
/// When one cannot be read.
pub(crate) fn patches(
    request: &Request,
    cache: &Cache,
    runner: &Runner,
) -> anyhow::Result<Vec<Patch>> {
    let read = |path: &PathBuf| Ok(Patch::read(path, cache, runner)?);
    request.patch.iter().map(read).collect()
}

/// One of several that cannot be made leaves the others.
fn judge(
    name: &str,
    made: anyhow::Result<Candidate>,
    alone: bool,
    all: bool,
    setup: &Setup<'_>,
) -> anyhow::Result<Asked> {
    match made {
        Ok(candidate) => Ok(Asked::Ready(Box::new(candidate))),
        Err(error) if alone || setup.runner.interrupt().is_set() => Err(error),
        Err(error) => Ok(Asked::Not(NotRun {
            variant: name.to_owned(),
            reason: crate::exit::sentence(&error),
            failed: !(all && not_offered(&error)),
        })),
    }
}

/// Whether the tree only does not have what the style is written in, or the
/// architecture what the variant is about.
fn not_offered(error: &anyhow::Error) -> bool {
    if error.is::<Elsewhere>() {
        return true;
    }
    let fix = error.downcast_ref::<FixError>();
    fix.is_some_and(|error| matches!(error, FixError::Style { .. }))
}

/// What stands for every variant of a case.
pub(crate) const ALL: &str = "all";

/// A name that two programs would have.
fn taken(against: &[Against]) -> Option<&str> {
    let mut names: HashSet<&str> = HashSet::from([BASE]);
    let mut all = against.iter().map(|one| one.name.as_str());
    all.find(|name| !names.insert(name))
}

/// Checks what can be known of the variants before anything is read.
///
/// # Errors
/// When a name is unknown, or there are too many.
pub(crate) fn check(request: &Request, case: &Case) -> anyhow::Result<()> {
    if request.case.is_none() && !request.variant.is_empty() {
        bail!(
            "--variant {}: a patch alone has no variants; name a case ({})",
            request.variant.join(","),
            Case::names().join(", ")
        );
    }
    if let Some(name) = taken(&request.against) {
        bail!("--against {name}=…: the name is taken; give each program its own, and none `base`");
    }
    if let Some(twice) = repeated(&request.compiler) {
        bail!("--compiler: {twice} is named twice");
    }
    if request.series.is_some() && request.compiler.len() > 1 {
        bail!("--series measures with one compiler; give --compiler one");
    }
    let own = plans(request, case, None)?.len() + request.patch.len() + request.against.len();
    // Each compiler but the first makes the base as well.
    let others = request.compiler.len().saturating_sub(1);
    if own + others * (own + 1) > MOST {
        bail!("at most {MOST} variants can be compared in one run");
    }
    Ok(())
}

/// A name that stands there before.
fn repeated(names: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    let mut names = names.iter().map(String::as_str);
    names.find(|name| !seen.insert(*name))
}

fn plans<'a>(
    request: &Request,
    case: &'a Case,
    landed: Option<&Landed>,
) -> anyhow::Result<Vec<&'a VariantPlan>> {
    if request.variant.iter().any(|name| name == ALL) {
        return Ok(case.variants.iter().collect());
    }
    if request.variant.is_empty() {
        return Ok(match request.patch.as_slice() {
            [] if request.against.is_empty() => usual(case, landed),
            _ => Vec::new(),
        });
    }
    let named = |name: &String| {
        let found = case.variants.iter().find(|plan| plan.name == *name);
        found.ok_or_else(|| unknown(name, case))
    };
    let is_landed = |name: &String| case.landed.iter().any(|plan| plan.name == *name);
    let mut plans: Vec<&VariantPlan> = Vec::new();
    for name in request.variant.iter().filter(|name| !is_landed(name)) {
        let plan = named(name)?;
        if plans.iter().all(|known| known.name != plan.name) {
            plans.push(plan);
        }
    }
    Ok(plans)
}

/// Those that are proved where none is named, beside a change that has landed or alone.
fn usual<'a>(case: &'a Case, landed: Option<&Landed>) -> Vec<&'a VariantPlan> {
    match landed.map(|landed| landed.plan.beside.as_slice()) {
        None | Some([]) => case.usual(),
        Some(beside) => {
            let named = |plan: &&VariantPlan| beside.contains(&plan.name);
            case.variants.iter().filter(named).collect()
        }
    }
}

fn unknown(name: &str, case: &Case) -> anyhow::Error {
    let names = case.variants.iter().map(|plan| plan.name.as_str());
    let landed: BTreeSet<&str> = case.landed.iter().map(|plan| plan.name.as_str()).collect();
    let names: Vec<&str> = names.chain(landed).chain([ALL]).collect();
    let case = &case.about.name;
    anyhow::anyhow!(
        "{case} has no variant {name}; there are: {}",
        names.join(", ")
    )
}

/// The architecture does not have what the variant needs.
#[derive(Debug, thiserror::Error)]
enum Elsewhere {
    #[error(
        "no header of {0} in this tree defines masked_user_access_begin(), \
         so that the compiler would leave the code of the style window"
    )]
    Masked(String),
    #[error("its patch is for {}, and this is {arch}", .of.join(" and "))]
    Patch { of: Vec<String>, arch: String },
}

fn from_plan(
    plan: &VariantPlan,
    setup: &Setup<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    let arch = &setup.machine.name;
    if !plan.is_for(arch) {
        let (of, arch) = (plan.architectures.clone(), arch.clone());
        return Err(Elsewhere::Patch { of, arch }.into());
    }
    let kernel = from_kernel(plan, setup, steps)?;
    Ok(Candidate {
        program: program_of(plan, setup, steps)?,
        ..kernel
    })
}

/// The program of a variant, where it is not the base's.
fn program_of(
    plan: &VariantPlan,
    setup: &Setup<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Option<Arc<Program>>> {
    let own = setup.case.program.as_ref();
    let Some(own) = own.filter(|_| plan.changes_program()) else {
        return Ok(None);
    };
    let tools = (&setup.guest_compiler, &setup.cache, &setup.runner);
    let build = || case_program(&setup.case, &own.of(plan), &setup.machine, tools);
    let what = format!("build the program ({})", plan.name);
    steps
        .step(&what, build, |program| program.made_of())
        .map(Some)
}

/// The kernel of a variant: the base's, where only the program is another.
fn from_kernel(
    plan: &VariantPlan,
    setup: &Setup<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    let case = &setup.case.about.name;
    let config = setup.lines(&plan.config)?;
    if !plan.changes_kernel() {
        return Ok(same_kernel(&plan.name, &config, setup));
    }
    match (plan.patch_text(case), &plan.patch) {
        (Some(text), Some(file)) => {
            let shown = PathBuf::from(format!("cases/{case}/{file}"));
            let patch = Patch::plain(&shown, text.into());
            let ground = setup.ground();
            from_patch(&plan.name, patch, config, (&ground, setup), steps)
        }
        _ => match (from_fix(plan, config, setup, steps), landed::due(setup)) {
            (Err(error), Some(due)) if !not_offered(&error) => Err(error.context(due)),
            (made, _) => made,
        },
    }
}

/// The name of a patch's file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(|| "patch".to_owned(), |stem| cut(&shown(Path::new(stem))))
}

/// Characters of a name: results are files of it, and no name of a file has more
/// than 255 bytes.
const LONGEST: usize = 60;

fn cut(name: &str) -> String {
    match name.chars().count() > LONGEST {
        true => name
            .chars()
            .take(LONGEST - 3)
            .chain("...".chars())
            .collect(),
        false => name.to_owned(),
    }
}

/// The stems; where several are the same, with a number.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let stem = stem(path);
        let free = |name: &String| !names.contains(name);
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let name = std::iter::once(stem.clone()).chain(numbered).find(free);
        names.push(name.unwrap_or(stem));
    }
    names
}

fn from_patch(
    name: &str,
    patch: Patch,
    config: Vec<String>,
    (ground, setup): (&Change, &Setup<'_>),
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    let what = match setup.case.variants.is_empty() && setup.request.patch.len() == 1 {
        true => "apply the patch".to_owned(),
        false => format!("apply the patch ({name})"),
    };
    let over = Changed {
        ground: &setup.tree,
        change: ground,
        words: if setup.landed.is_some() && !ground.files.is_empty() {
            BEFORE
        } else {
            ""
        },
    };
    let applied = steps.step(
        &what,
        || applied::apply(&patch, &over, &setup.cache, &setup.runner),
        |applied| applied_words(&patch, &applied.change),
    )?;
    Ok(Candidate {
        variant: Variant {
            name: name.to_owned(),
            change: over_ground(ground, applied.change),
            config,
        },
        compiler: None,
        program: None,
        fixes: Vec::new(),
        patch: patch.diff,
    })
}

/// What a tree is called from which the change of the case was taken back.
const BEFORE: &str = "before the change that has landed in it";

/// A change of a ground that is a change itself, as one.
fn over_ground(ground: &Change, change: Change) -> Change {
    let mut all = ground.clone();
    all.files.extend(change.files);
    all.kinds.extend(change.kinds);
    all
}

fn applied_words(patch: &Patch, change: &Change) -> String {
    let files = format!("{} changed", count(change.files.len(), "file"));
    match patch.patches {
        1 => files,
        patches => format!("{patches} patches, {files}"),
    }
}

/// Fixes function after function; a later one builds on the earlier.
fn from_fix(
    plan: &VariantPlan,
    config: Vec<String>,
    setup: &Setup<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    let targets = targets(plan, setup)?;
    let finds = steps.step(
        "find the runs",
        || finds(&targets, setup),
        |finds| found(finds),
    )?;
    let what = format!("fix in the {} style", plan.style.as_deref().unwrap_or(""));
    let fixes = steps.step(
        &what,
        || fixes(plan, &targets, finds, setup),
        |fixes| windows(fixes),
    )?;
    let masked = |fixed: &Fixed| fixed.request.style == Style::Masked;
    if fixes.iter().any(masked) && !masks(setup)? {
        return Err(Elsewhere::Masked(setup.machine.name.clone()).into());
    }
    let mut change = setup.ground();
    let mut patch = Vec::new();
    for fixed in &fixes {
        let path = fixed.patched.path.clone();
        let text = fixed.patched.rewritten.clone();
        change.files.insert(path, Some(text));
        patch.extend_from_slice(applied::diff_of(&fixed.mail(setup)?));
    }
    Ok(Candidate {
        variant: Variant {
            name: plan.name.clone(),
            change,
            config,
        },
        compiler: None,
        program: None,
        patch,
        fixes,
    })
}

/// Whether the compiled code of this architecture can mask a pointer.
fn masks(setup: &Setup<'_>) -> anyhow::Result<bool> {
    let read_tree = |path: &TreePath| read(setup, path);
    let source = &setup.machine.kbuild.source;
    Ok(tollgate_rewrite::can_mask(&read_tree, source)?)
}

fn targets(plan: &VariantPlan, setup: &Setup<'_>) -> anyhow::Result<Vec<Target>> {
    let words = match plan.targets.as_slice() {
        [] => &setup.case.about.targets,
        own => own,
    };
    let parsed: Result<Vec<Target>, _> = words.iter().map(|word| word.parse()).collect();
    Ok(parsed?)
}

fn fixes(
    plan: &VariantPlan,
    targets: &[Target],
    finds: Vec<Option<Function>>,
    setup: &Setup<'_>,
) -> anyhow::Result<Vec<Fixed>> {
    let macros = Macros::new(&setup.tree);
    let mut changed: HashMap<TreePath, Vec<u8>> = HashMap::new();
    let mut fixes = Vec::new();
    let style = plan.style.as_deref();
    let style = style.or_defect("a variant that fix makes has no style")?;
    for (target, find) in targets.iter().zip(finds) {
        let request = tollgate_rewrite::Request {
            style: style.parse()?,
            prefix: patch::prefix(setup.tree.root(), &target.path),
            stop_at_first_fault: plan.stop_at_first_fault,
            touch_all_members: plan.touch_all_members,
            sizes: plan.sizes.clone(),
            ..tollgate_rewrite::Request::default()
        };
        let read_changed = |path: &TreePath| match changed.get(path) {
            Some(text) => Ok(text.clone()),
            None => read(setup, path),
        };
        let patched = macros.fix(&read_changed, target, &request)?;
        changed.insert(patched.path.clone(), patched.rewritten.clone());
        fixes.push(Fixed {
            find: find.as_ref().map(|function| place(&target.path, function)),
            patched,
            request,
            target: target.clone(),
        });
    }
    Ok(fixes)
}

impl Fixed {
    /// The same patch with measured figures in its message.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) fn with_figures(&self, figures: &str, setup: &Setup<'_>) -> anyhow::Result<Vec<u8>> {
        let request = tollgate_rewrite::Request {
            figures: figures.lines().map(str::to_owned).collect(),
            ..self.request.clone()
        };
        let read = |path: &TreePath| read(setup, path);
        let patched = Macros::new(&setup.tree).fix(&read, &self.target, &request)?;
        mail(&patched, setup)
    }

    fn mail(&self, setup: &Setup<'_>) -> anyhow::Result<Vec<u8>> {
        mail(&self.patched, setup)
    }
}

fn mail(patched: &Patched, setup: &Setup<'_>) -> anyhow::Result<Vec<u8>> {
    let author = patch::author(setup.tree.root());
    Ok(mails::mail(
        &patch::edit(patched, &[]),
        &author,
        &setup.runner,
    )?)
}

/// The functions that the fix is for, as a scan sees them; `None` leaves it to
/// the fix to say why there is none.
fn finds(targets: &[Target], setup: &Setup<'_>) -> anyhow::Result<Vec<Option<Function>>> {
    let macros = Macros::new(&setup.tree);
    let find = |target: &Target| -> anyhow::Result<Option<Function>> {
        let builtin = Vocabulary::builtin()?;
        let own = find_with(target, setup, &builtin)?;
        if own.is_some() {
            return Ok(own);
        }
        find_with(target, setup, &builtin.with(macros.all()?))
    };
    targets.iter().map(find).collect()
}

fn find_with(
    target: &Target,
    setup: &Setup<'_>,
    vocabulary: &Vocabulary,
) -> anyhow::Result<Option<Function>> {
    let mut analyser = Analyser::new(vocabulary)?;
    // The fix reads it again, and says why it cannot.
    let Ok(text) = read(setup, &target.path) else {
        return Ok(None);
    };
    let mut functions = analyser.analyse(&text).functions.into_iter();
    let meant = |function: &Function| function.name == target.function && !function.runs.is_empty();
    Ok(functions.find(meant))
}

/// A file of the base.
fn read(setup: &Setup<'_>, path: &TreePath) -> std::io::Result<Vec<u8>> {
    let landed = setup.landed.as_ref();
    if let Some(Some(before)) = landed.and_then(|landed| landed.back.files.get(path)) {
        return Ok(before.clone());
    }
    input::source(&setup.tree.place(path))
}

fn found(functions: &[Option<Function>]) -> String {
    let of = |direction| {
        let functions = functions.iter().flatten();
        functions
            .map(|function| function.count(direction))
            .sum::<usize>()
    };
    match functions.iter().flatten().count() {
        0 => "nothing".to_owned(),
        _ => format!(
            "{}, {}",
            count(of(Direction::Read), "read"),
            count(of(Direction::Write), "write")
        ),
    }
}

fn windows(fixes: &[Fixed]) -> String {
    let before = fixes.iter().map(|fixed| fixed.patched.windows_before);
    let after = fixes.iter().map(|fixed| fixed.patched.windows_after);
    let (before, after): (usize, usize) = (before.sum(), after.sum());
    format!("{} -> {after}", count(before, "window"))
}

fn place(path: &TreePath, function: &Function) -> Find {
    let first = function.runs.first().and_then(|run| run.sites.first());
    let position = first.map_or(function.position, |site| site.position);
    Find {
        path: path.to_string(),
        line: position.line as usize,
        column: position.column as usize,
        function: function.name.clone(),
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

/// What a candidate is measured with.
///
/// # Errors
/// When the configuration that `image` was built with cannot be read.
pub(super) fn setting(
    setup: &Setup<'_>,
    candidate: &Candidate,
    image: &Image,
) -> anyhow::Result<Setting> {
    let made = image.configuration()?;
    let dropped = made.map(|made| setup.fragment.dropped(&made, &setup.kconfig));
    let adjusted = setup.adjusted.iter().map(ToString::to_string);
    let compiler = candidate.compiler.as_ref().unwrap_or(&setup.compiler);
    let more = candidate.variant.config.join(", ");
    let config = match more.as_str() {
        "" => setup.config(),
        more => format!(
            "{}, in {} also {more}",
            setup.config(),
            candidate.variant.name
        ),
    };
    Ok(Setting {
        subject: setup.subject(),
        tollgate: env!("CARGO_PKG_VERSION").to_owned(),
        tree: setup.tree.version().to_owned(),
        arch: setup.machine.name.clone(),
        compiler: compiler.version.clone(),
        config,
        base: landed::base_in_words(setup),
        adjusted: adjusted.chain(dropped.into_iter().flatten()).collect(),
        kept: false,
        qemu: setup.qemu.version.clone(),
        plugin_api: setup.qemu.plugin_api,
        cpu: setup.machine.cpu.clone(),
        command_line: setup.command_line(),
        packages: setup
            .program
            .as_ref()
            .map_or_else(Vec::new, |own| own.packages.clone()),
        find: candidate.fixes.first().and_then(|fixed| fixed.find.clone()),
        patch: String::from_utf8_lossy(&candidate.patch).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use tollgate_rewrite::Style;

    use super::*;

    #[test]
    fn every_style_and_target_of_a_case_is_one() {
        for name in Case::names() {
            let case = Case::named(name).unwrap();
            for plan in &case.variants {
                let style = plan.style.as_deref().unwrap_or("window");
                assert!(style.parse::<Style>().is_ok(), "{name}: {style}");
                for target in plan.targets.iter().chain(&case.about.targets) {
                    assert!(target.parse::<Target>().is_ok(), "{name}: {target}");
                }
            }
        }
    }

    #[test]
    fn patches_of_one_name_are_told_apart() {
        let paths: Vec<PathBuf> = ["a/x.patch", "b/x.diff", "y.mbox"]
            .map(PathBuf::from)
            .into();
        assert_eq!(names(&paths), ["x", "x-2", "y"]);
    }
}
