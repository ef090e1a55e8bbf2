//! What a proof needs from this machine: the cache, the tree, the tools.

use std::path::Path;

use anyhow::bail;
use tollgate_lab::cache::Cache;
use tollgate_lab::case::{self, Case};
use tollgate_lab::config::Fragment;
use tollgate_lab::guest;
use tollgate_lab::image::{Image, ImageBuilder, Variant};
use tollgate_lab::machine::Machine;
use tollgate_lab::patch::Patch;
use tollgate_lab::process::Runner;
use tollgate_lab::program::Program;
use tollgate_lab::toolchain::{Compiler, Qemu};
use tollgate_lab::tree::{Manifest, Tree};
use tollgate_lab::unpack;
use tollgate_measure::{
    Benchmark, BootResult, Claim, ClaimedFigures, FunctionGroup, Unit, Workload,
};

use super::request::Request;
use crate::progress::Steps;
use crate::{door, folders};

/// Everything that the steps of one proof share.
pub(crate) struct Setup<'a> {
    pub(crate) request: &'a Request,
    pub(crate) cache: Cache,
    pub(crate) runner: Runner,
    pub(crate) case: Case,
    pub(crate) fragment: Fragment,
    pub(crate) machine: Machine,
    pub(crate) compiler: Compiler,
    /// The one of the guest's programs, whatever compiles the kernel.
    pub(crate) guest_compiler: Compiler,
    pub(crate) qemu: Qemu,
    pub(crate) tree: Tree,
    /// The user's, where one runs instead of benchmarks.
    pub(crate) program: Option<Program>,
    /// The user's patches, in the order in which they were given.
    pub(crate) patches: Vec<Patch>,
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
        let read = || self.tree.manifest(self.runner.interrupt());
        Ok(steps.step("read the tree", read, how)?)
    }

    /// The image of a variant, built where the cache does not have it.
    pub(crate) fn image(
        &self,
        manifest: &Manifest,
        variant: &Variant,
        letter: char,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Named> {
        let builder = self.builder(manifest);
        let what = format!("build kernel {letter} ({})", variant.name);
        let known = builder.find(variant)?.is_some();
        let image = steps.step(
            &what,
            || builder.image(variant, steps),
            |_| if known { "from the cache" } else { "built" }.to_owned(),
        )?;
        Ok(Named {
            letter,
            variant: variant.name.clone(),
            image,
        })
    }

    /// The content that a variant's image is built from.
    pub(crate) fn key(&self, manifest: &Manifest, variant: &Variant) -> String {
        self.builder(manifest).key_of(variant)
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
        let own = match &self.program {
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
            figures: claim.figures.as_ref().map(claimed_figures),
        };
        claims.map(claim).collect()
    }

    /// What is compared: the case or the patch, and what ran in its place.
    pub(crate) fn subject(&self) -> String {
        let name = &self.case.about.name;
        match &self.program {
            Some(program) => format!("{name} with {}", program.line),
            None => name.clone(),
        }
    }

    fn builder<'m>(&'m self, manifest: &'m Manifest) -> ImageBuilder<'m> {
        ImageBuilder {
            cache: &self.cache,
            tree: &self.tree,
            manifest,
            fragment: &self.fragment,
            compiler: &self.compiler,
            kbuild: &self.machine.kbuild,
            jobs: self.jobs(),
            runner: &self.runner,
        }
    }

    fn jobs(&self) -> usize {
        self.request
            .jobs
            .map_or_else(folders::processors, usize::from)
    }
}

/// The programs of a machine.
pub(super) struct Tools {
    pub(super) compiler: Compiler,
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
        let compiler = Compiler::find(request.cc.as_deref().unwrap_or(&own), runner)?;
        let guest_compiler = Compiler::find(&own, runner)?;
        let qemu = Qemu::find(request.qemu.as_deref().unwrap_or(&machine.qemu), runner)?;
        if !machine.kbuild.cross_compile.is_empty() {
            guest::probe(cache, &guest_compiler, &[], runner)?;
        }
        Ok(Self {
            compiler,
            guest_compiler,
            qemu,
        })
    }
}

pub(super) fn read_program(
    request: &Request,
    machine: &Machine,
) -> anyhow::Result<Option<Program>> {
    let Some((path, arguments)) = request.program.split_first() else {
        return Ok(None);
    };
    let program = Program::read(Path::new(path), arguments, &machine.name)?;
    Ok(Some(program))
}

/// The phases of the user's program, in the order in which they ran first.
fn phases(program: &Program, base: &BootResult) -> anyhow::Result<Vec<Benchmark>> {
    let said = format!("program {}: ", program.name);
    if let Some(error) = base.errors.iter().find_map(|line| line.strip_prefix(&said)) {
        bail!("{} in the guest, on the base: {error}", program.line);
    }
    let start = format!("{}/", program.name);
    let mut found: Vec<Benchmark> = Vec::new();
    let samples = base.samples.iter().map(|sample| &sample.workload);
    for workload in samples.filter(|workload| workload.benchmark.starts_with(&start)) {
        if found.iter().all(|known| known.workload != *workload) {
            found.push(Benchmark {
                workload: workload.clone(),
                control: false,
                unit: Some(Unit {
                    name: "op".to_owned(),
                    parameter: None,
                }),
                less: None,
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
        None => unpack::unpack(Path::new(unpack::DEBIAN_SOURCE), cache, runner, steps)?,
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
        unit: plan.unit.as_ref().map(|unit| Unit {
            name: unit.name.clone(),
            parameter: unit.parameter.clone(),
        }),
    }
}

fn claimed_figures(plan: &case::Figures) -> ClaimedFigures {
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
            abi: None,
            cpu: None,
        },
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

/// An image and the name of its variant.
pub(crate) struct Named {
    pub(crate) letter: char,
    pub(crate) variant: String,
    pub(crate) image: Image,
}

impl Named {
    /// How the comparison calls it.
    pub(crate) fn name(&self) -> tollgate_measure::ImageName {
        tollgate_measure::ImageName {
            letter: self.letter,
            variant: self.variant.clone(),
            id: self.image.key.clone(),
        }
    }
}
