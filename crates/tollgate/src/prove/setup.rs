//! What a proof needs from this machine: the cache, the tree, the tools.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use tollgate_defect::OrDefect as _;
use tollgate_lab::cache::Cache;
use tollgate_lab::case::{self, Case, Landed, Station};
use tollgate_lab::config::{Adjusted, Fitter, Fragment, Own};
use tollgate_lab::guest;
use tollgate_lab::image::{Image, ImageBuilder, Variant};
use tollgate_lab::job;
use tollgate_lab::machine::Machine;
use tollgate_lab::patch::Patch;
use tollgate_lab::process::Runner;
use tollgate_lab::program::{Program, Recipe};
use tollgate_lab::remembered::Memory;
use tollgate_lab::slurm::Queue;
use tollgate_lab::toolchain::{Compiler, Qemu};
use tollgate_lab::tree::{self, Change, Manifest, Tree};
use tollgate_lab::unpack;
use tollgate_measure::{
    Benchmark, BootResult, Claim, ClaimedFigures, FunctionGroup, Unit, Workload,
};
use tollgate_robot::Kconfig;

use super::request::{Against, Configuration, Request};
use super::side_by_side::side_by_side;
use crate::progress::Steps;
use crate::{door, folders};

/// The letter of the first base.
pub(super) const BASE: char = 'A';

/// Everything that the steps of one proof share.
pub(crate) struct Setup<'a> {
    pub(crate) request: &'a Request,
    pub(crate) cache: Cache,
    pub(crate) runner: Runner,
    pub(crate) case: Case,
    pub(crate) fragment: Fragment,
    /// The options of the tree.
    pub(crate) kconfig: Kconfig,
    /// What the tree has not of what was to be asked for.
    pub(crate) adjusted: Vec<Adjusted>,
    pub(crate) machine: Machine,
    pub(crate) compiler: Compiler,
    /// Those that build the base and each variant once more.
    pub(crate) other_compilers: Vec<Compiler>,
    /// The one of the guest's programs, whatever compiles the kernel.
    pub(crate) guest_compiler: Compiler,
    pub(crate) qemu: Qemu,
    pub(crate) tree: Tree,
    /// What is remembered of it.
    pub(crate) memory: Arc<Memory>,
    /// The change of the case that the tree has, where the base is what was before it.
    pub(crate) landed: Option<Landed>,
    /// What the case lays over the tree for every image; nothing where it has no patch.
    pub(crate) over: Change,
    /// The user's, where one runs instead of benchmarks; else the case's, as the base
    /// has it.
    pub(crate) program: Option<Arc<Program>>,
    /// The user's patches, in the order in which they were given.
    pub(crate) patches: Vec<Patch>,
    /// The queue of the cluster whose nodes build and boot; none where this machine does.
    pub(crate) queue: Option<Queue>,
}

/// An image that is wanted.
pub(crate) struct Wanted<'a> {
    pub(crate) letter: char,
    /// Whether variants are held against it.
    pub(crate) is_base: bool,
    pub(crate) variant: &'a Variant,
    /// The program that runs on it, where that is not the base's.
    pub(crate) program: Option<&'a Arc<Program>>,
    /// What compiles it, where that is not what compiles the base.
    pub(crate) compiler: Option<&'a Compiler>,
}

impl<'a> Setup<'a> {
    /// Reads the whole tree, which is the first long step.
    pub(crate) fn read(&self, steps: &Steps<'_>) -> anyhow::Result<Manifest> {
        let how = |manifest: &Manifest| {
            let files = manifest.entries().len();
            let left = match manifest.left_out() {
                [] => String::new(),
                left => format!(", {} pipes or devices left out", left.len()),
            };
            format!("Linux {}, {files} files{left}", self.tree.version())
        };
        let interrupt = self.runner.interrupt();
        let read = || self.memory.manifest(self.tree.root(), interrupt);
        Ok(steps.step("read the tree", read, how)?)
    }

    /// The images of some variants, each built where the cache does not have it: one
    /// after the other here, each from the objects of the one before; all at once on the
    /// nodes of a cluster.
    pub(crate) fn images(
        &self,
        manifest: &Manifest,
        wanted: &[Wanted<'_>],
        steps: &Steps<'_>,
    ) -> anyhow::Result<Vec<anyhow::Result<Named>>> {
        let Some(queue) = &self.queue else {
            let interrupt = self.runner.interrupt();
            // To begin the next would undo what of this one is made.
            let one = |wanted: &Wanted<'_>| match interrupt.check() {
                Ok(()) => self.image(manifest, wanted, steps),
                Err(stop) => Err(stop.into()),
            };
            return Ok(wanted.iter().map(one).collect());
        };
        let one = |wanted: &Wanted<'_>| {
            let builder = self.builder(manifest, wanted.compiler);
            let image = job::image(queue, &builder, wanted.variant);
            Ok(image
                .map(|image| self.named(wanted, image))
                .map_err(Into::into))
        };
        let what = format!("build {} kernels", wanted.len());
        let how = |all: &Vec<anyhow::Result<Named>>| {
            let built = all.iter().filter(|one| one.is_ok()).count();
            format!("{built} in the store")
        };
        steps.step(&what, || side_by_side(wanted, wanted.len(), one), how)
    }

    fn image(
        &self,
        manifest: &Manifest,
        wanted: &Wanted<'_>,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Named> {
        let builder = self.builder(manifest, wanted.compiler);
        let variant = wanted.variant;
        let what = format!("build kernel {} ({})", wanted.letter, variant.name);
        let known = builder.find(variant)?.is_some();
        let image = steps.step(
            &what,
            || builder.image(variant, steps),
            |_| if known { "from the cache" } else { "built" }.to_owned(),
        )?;
        Ok(self.named(wanted, image))
    }

    fn named(&self, wanted: &Wanted<'_>, image: Image) -> Named {
        Named {
            letter: wanted.letter,
            is_base: wanted.is_base,
            variant: wanted.variant.name.clone(),
            image,
            program: wanted.program.or(self.program.as_ref()).cloned(),
        }
    }

    /// The content that a variant's image is built from.
    pub(crate) fn key(
        &self,
        manifest: &Manifest,
        variant: &Variant,
        compiler: Option<&Compiler>,
    ) -> String {
        self.builder(manifest, compiler).key_of(variant)
    }

    /// The configuration that all images share, in words.
    pub(crate) fn config(&self) -> String {
        let options = self.case.about.options.iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(self.fragment.name.as_str())
            .chain(options)
            .collect();
        words.join(" + ")
    }

    /// The benchmarks of the case, as the comparison wants to know them, and the
    /// phases that a program of the user's printed on the base.
    ///
    /// # Errors
    /// When the program failed.
    pub(crate) fn benchmarks(&self, base: &BootResult) -> anyhow::Result<Vec<Benchmark>> {
        let own = match self.program.as_deref() {
            Some(program) => phases(program, base)?,
            None => Vec::new(),
        };
        let of_case = self.case.benchmarks.iter();
        let of_case = of_case.map(|plan| benchmark(plan, &self.case));
        Ok(own.into_iter().chain(of_case).collect())
    }

    /// What others claimed of the case's change.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let claims = self.case.claims.iter();
        let claim = |claim: &case::ClaimPlan| Claim {
            text: claim.text.clone(),
            source: claim.source.clone(),
            figures: claim
                .figures
                .as_ref()
                .map(|plan| claimed_figures(plan, &self.case)),
        };
        claims.map(claim).collect()
    }

    /// What is compared: the case or the patch, and what ran in its place.
    pub(crate) fn subject(&self) -> String {
        let name = &self.case.about.name;
        match self
            .program
            .as_deref()
            .filter(|program| !program.is_compared)
        {
            Some(program) => format!("{name} with {}", program.line),
            None => name.clone(),
        }
    }

    fn builder<'m>(
        &'m self,
        manifest: &'m Manifest,
        compiler: Option<&'m Compiler>,
    ) -> ImageBuilder<'m> {
        ImageBuilder {
            cache: &self.cache,
            tree: &self.tree,
            manifest,
            memory: &self.memory,
            fragment: &self.fragment,
            compiler: compiler.unwrap_or(&self.compiler),
            kbuild: &self.machine.kbuild,
            jobs: self.jobs(),
            runner: &self.runner,
        }
    }

    /// The compilers, as they call themselves.
    pub(crate) fn compilers(&self) -> String {
        let all = std::iter::once(&self.compiler).chain(&self.other_compilers);
        let all: Vec<&str> = all.map(|compiler| compiler.version.as_str()).collect();
        all.join(", ")
    }

    /// What makes the base of the tree as it is.
    pub(crate) fn ground(&self) -> Change {
        let landed = self.landed.as_ref();
        landed.map_or_else(|| self.over.clone(), |landed| landed.back.clone())
    }

    /// Lines of a variant's configuration, as this tree calls the options.
    ///
    /// # Errors
    /// When the tree has not what one asks for.
    pub(crate) fn lines(&self, lines: &[String]) -> anyhow::Result<Vec<String>> {
        let fitter = Fitter::new(&self.kconfig, self.tree.version())?;
        Ok(fitter.lines(lines)?.0)
    }

    /// The kernel's command line, and what of it a guest of the case is not told.
    pub(super) fn command_line(&self) -> String {
        let dropped = |station: Station| {
            let name = station.cpu?;
            let mut profiles = self.machine.profiles.iter();
            let without = &profiles.find(|profile| profile.name == name)?.without;
            let words = without.join(" ");
            (!words.is_empty()).then(|| format!(" ({name}: without {words})"))
        };
        let notes: String = self
            .case
            .stations()
            .into_iter()
            .filter_map(dropped)
            .collect();
        self.machine.command_line() + &notes
    }

    /// How many compilers, or guests, run at a time.
    pub(super) fn jobs(&self) -> usize {
        self.request
            .jobs
            .map_or_else(folders::processors, usize::from)
    }
}

/// What comes along of a configuration, and what the user gives to it.
pub(super) struct Asked {
    profile: Fragment,
    own: Option<Own>,
}

impl Asked {
    /// The profile that was named, or the case's; below a whole `.config` of the user's
    /// only what a guest cannot do without.
    ///
    /// # Errors
    /// When there is no such profile, or the file cannot be read.
    pub(super) fn of(request: &Request, case: &Case) -> anyhow::Result<Self> {
        let profile = |name: &str| Fragment::profile(&request.arch, name);
        let usual = case.about.config.as_str();
        Ok(match &request.config {
            None => Self {
                profile: profile(usual)?,
                own: None,
            },
            Some(Configuration::Profile(name)) => Self {
                profile: profile(name)?,
                own: None,
            },
            Some(Configuration::File(path)) => {
                let own = Own::read(path)?;
                let name = if own.is_whole() { BOOT } else { usual };
                Self {
                    profile: profile(name)?,
                    own: Some(own),
                }
            }
        })
    }
}

/// The profile of what a guest cannot do without.
const BOOT: &str = "boot";

/// The profile and the lines of the user and of the case as the tree has them, and what it
/// has otherwise.
///
/// # Errors
/// When the tree has not what the user or the case asks for.
pub(super) fn fitted(
    asked: Asked,
    case: &Case,
    kconfig: &Kconfig,
    tree: &Tree,
) -> anyhow::Result<(Fragment, Vec<Adjusted>)> {
    let fitter = Fitter::new(kconfig, tree.version())?;
    let (mut fragment, mut adjusted) = fitter.fragment(&asked.profile);
    match asked.own {
        None => {}
        Some(own) if own.is_whole() => fragment = own.below(fragment),
        Some(own) => {
            let (over, more) = own.over(&fragment, &fitter)?;
            fragment = over;
            adjusted.extend(more);
        }
    }
    let (lines, more) = fitter.lines(&case.about.options)?;
    adjusted.extend(more);
    Ok((fragment.with(&lines), adjusted))
}

/// The programs of a machine.
pub(super) struct Tools {
    pub(super) compiler: Compiler,
    pub(super) other_compilers: Vec<Compiler>,
    pub(super) guest_compiler: Compiler,
    pub(super) qemu: Qemu,
}

impl Tools {
    pub(super) fn find(
        request: &Request,
        machine: &Machine,
        cache: &Cache,
        runner: &Runner,
    ) -> anyhow::Result<Self> {
        let own = machine.kbuild.compiler();
        let named = request.compiler.iter();
        let named: Result<Vec<_>, _> = named.map(|word| Compiler::named(word, runner)).collect();
        let mut named = named?.into_iter();
        let compiler = match named.next() {
            Some(compiler) => compiler,
            None => Compiler::find(&own, runner)?,
        };
        let other_compilers = named.collect();
        let guest_compiler = Compiler::find(&own, runner)?;
        let qemu = Qemu::find(request.qemu.as_deref().unwrap_or(&machine.qemu), runner)?;
        if !machine.kbuild.cross_compile.is_empty() || !machine.flags.is_empty() {
            guest::probe(cache, &guest_compiler, &machine.flags, runner)?;
        }
        Ok(Self {
            compiler,
            other_compilers,
            guest_compiler,
            qemu,
        })
    }
}

pub(super) fn read_program(
    request: &Request,
    case: &Case,
    machine: &Machine,
) -> anyhow::Result<Option<Program>> {
    let Some((path, arguments)) = request.program.split_first() else {
        return Ok(None);
    };
    if let Some(own) = &case.program {
        bail!(
            "the case {} is about a program that it brings along, {}: it cannot run another",
            case.about.name,
            own.name
        );
    }
    let mut program = Program::read(Path::new(path), arguments, &machine.name)?;
    program.is_compared = !request.against.is_empty();
    Ok(Some(program))
}

/// Another build or mode of the user's program, whose name its phases keep.
///
/// # Errors
/// When it cannot be read, or is no static program for the machine.
pub(super) fn read_against(
    against: &Against,
    setup: &Setup<'_>,
) -> anyhow::Result<Option<Arc<Program>>> {
    let of_base = setup.request.program.get(1..);
    let (Some((path, own)), Some(base)) = (against.program.split_first(), &setup.program) else {
        return Ok(None);
    };
    let arguments = match own {
        [] => of_base.or_defect("a program has no arguments, and not even a name")?,
        own => own,
    };
    let program = Program::read(Path::new(path), arguments, &setup.machine.name)?;
    Ok(Some(Arc::new(Program {
        name: base.name.clone(),
        is_compared: true,
        ..program
    })))
}

/// The case's program as the base has it, or as a variant does.
///
/// # Errors
/// When it does not compile, or the machine has no such guest.
pub(super) fn case_program(
    case: &Case,
    plan: &case::ProgramPlan,
    machine: &Machine,
    tools: (&Compiler, &Cache, &Runner),
) -> anyhow::Result<Arc<Program>> {
    let (compiler, cache, runner) = tools;
    let equipment = machine.station(&plan.station())?;
    let recipe = Recipe {
        case: &case.about.name,
        plan,
        flags: &equipment.flags,
    };
    Ok(Arc::new(Program::of_case(recipe, cache, compiler, runner)?))
}

/// The phases of the program, in the order in which they ran first.
fn phases(program: &Program, base: &BootResult) -> anyhow::Result<Vec<Benchmark>> {
    let said = format!("program {}: ", program.name);
    if let Some(error) = base.errors.iter().find_map(|line| line.strip_prefix(&said)) {
        bail!("{} in the guest, on the base: {error}", program.line);
    }
    let start = format!("{}/", program.name);
    let mut found: Vec<Benchmark> = Vec::new();
    let samples = base.samples.iter().map(|sample| &sample.workload);
    for workload in samples {
        let Some(phase) = workload.benchmark.strip_prefix(&start) else {
            continue;
        };
        if found.iter().all(|known| known.workload != *workload) {
            found.push(Benchmark {
                workload: workload.clone(),
                control: false,
                unit: Some(Unit {
                    name: program.unit(phase).to_owned(),
                    parameter: None,
                }),
                less: None,
                whole: program.is_compared,
            });
        }
    }
    Ok(found)
}

pub(super) fn open_tree(
    request: &Request,
    cache: &Cache,
    runner: &Runner,
    steps: &Steps<'_>,
) -> anyhow::Result<Tree> {
    let root = match &request.tree {
        Some(root) => root.clone(),
        None => {
            let archive = unpack::archive_of(Path::new(unpack::DEBIAN_SOURCES))?;
            unpack::unpack(&archive, cache, runner, steps)?
        }
    };
    let tree = Tree::open(&root)?;
    door::refuse_own(tree.root(), cache.root())?;
    Ok(tree)
}

fn benchmark(plan: &case::BenchmarkPlan, case: &Case) -> Benchmark {
    let alike = |other: &&case::BenchmarkPlan| other.parameters == plan.parameters;
    let less = case.to_subtract(plan).find(alike);
    let less = less.or_else(|| case.to_subtract(plan).next());
    Benchmark {
        workload: plan.workload(),
        less: less.map(case::BenchmarkPlan::workload),
        control: plan.control,
        whole: false,
        unit: plan.unit.as_ref().map(|unit| Unit {
            name: unit.name.clone(),
            parameter: unit.parameter.clone(),
        }),
    }
}

fn claimed_figures(plan: &case::Figures, case: &Case) -> ClaimedFigures {
    let program = case.phase_of(&plan.benchmark);
    let parameters = plan.parameters.iter();
    let groups = plan.functions.iter();
    let variants = plan.variants.iter();
    ClaimedFigures {
        of: plan.of.clone(),
        more_is_better: plan.more_is_better,
        workload: Workload {
            benchmark: plan.benchmark.clone(),
            parameters: parameters
                .map(|(name, value)| (name.clone(), *value))
                .collect(),
            abi: program.map_or_else(|| plan.abi.clone(), |program| program.abi.clone()),
            cpu: program.and_then(|program| program.cpu.clone()),
        },
        net: plan.net,
        within: (!plan.within.is_empty()).then(|| FunctionGroup {
            name: "within".to_owned(),
            functions: plan.within.clone(),
        }),
        groups: groups
            .map(|(name, functions)| FunctionGroup {
                name: name.clone(),
                functions: functions.clone(),
            })
            .collect(),
        base: plan.base,
        variants: variants
            .map(|(name, figure)| (name.clone(), *figure))
            .collect(),
    }
}

/// The hash of a kernel and a program that runs on it, or the kernel's own.
pub(super) fn content(kernel: &str, program: Option<&Program>) -> String {
    match program {
        Some(program) => tree::hash(format!("{kernel}\0{}", program.content()).as_bytes()),
        None => kernel.to_owned(),
    }
}

/// An image and the name of its variant.
pub(crate) struct Named {
    pub(crate) letter: char,
    /// Whether variants are held against it.
    pub(crate) is_base: bool,
    pub(crate) variant: String,
    pub(crate) image: Image,
    /// What runs on it beside the benchmarks.
    pub(crate) program: Option<Arc<Program>>,
}

impl Named {
    /// How the comparison calls it.
    pub(crate) fn name(&self) -> tollgate_measure::ImageName {
        tollgate_measure::ImageName {
            letter: self.letter,
            variant: self.variant.clone(),
            id: self.id(),
        }
    }

    /// The key of its content: of the kernel, and of the program where variants of
    /// it are compared.
    pub(crate) fn id(&self) -> String {
        let program = self.program.as_deref();
        content(
            &self.image.key,
            program.filter(|program| program.is_compared),
        )
    }
}
