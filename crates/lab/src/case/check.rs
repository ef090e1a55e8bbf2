//! What a manifest must say beside its form.

use std::collections::BTreeSet;

use super::files::case_file;
use super::{BenchmarkPlan, Case, ClaimPlan, VariantPlan};
use crate::registry::Registry;

impl Case {
    /// What is wrong with the manifest, in words; none when all is well.
    pub(super) fn fault(&self) -> Option<String> {
        let variants = || self.variants.iter().find_map(|plan| self.bad_variant(plan));
        let benchmarks = || self.benchmarks.iter().find_map(stray_unit);
        let less = || self.benchmarks.iter().find_map(|one| self.stray_less(one));
        let sweeps = || self.sweep_twice();
        let claims = || self.claims.iter().find_map(|claim| self.bad_claim(claim));
        self.twice()
            .or_else(variants)
            .or_else(|| self.bad_program())
            .or_else(|| self.bad_default())
            .or_else(|| self.bad_landed())
            .or_else(|| self.bad_ground())
            .or_else(claims)
            .or_else(benchmarks)
            .or_else(less)
            .or_else(sweeps)
            .or_else(|| self.benchmark_twice())
            .or_else(|| self.not_taken())
    }

    /// A patch over every image is of what the machine lacks; where the kernel is what is
    /// compared, it is the tree as it is.
    fn bad_ground(&self) -> Option<String> {
        let file = self.about.patch.as_ref()?;
        if case_file(&self.about.name, file).is_none() {
            return Some(format!(
                "every image is to have the patch {file}, which is not there"
            ));
        }
        let of_kernel = self.variants.iter().find(|plan| plan.changes_kernel());
        let name = of_kernel.map(|plan| &plan.name);
        let name = name.or_else(|| self.landed.first().map(|plan| &plan.name))?;
        Some(format!(
            "every image has the patch {file}, and the variant {name} changes the kernel as well: \
             a change is measured on the tree as it is"
        ))
    }

    /// What no guest would take.
    fn not_taken(&self) -> Option<String> {
        let registry = match Registry::built_in() {
            Ok(registry) => registry,
            Err(error) => return Some(error.to_string()),
        };
        let benchmarks = self.benchmarks.iter().map(|job| registry.check(job));
        let sweeps = self.sweeps.iter().map(|job| registry.check_sweep(job));
        let mut wrong = benchmarks.chain(sweeps).filter_map(Result::err);
        wrong.next().map(|error| error.to_string())
    }

    /// The repetitions of a workload are told apart from another's by its name,
    /// its parameters and its guest, and those of two would be mixed.
    fn benchmark_twice(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let mut benchmarks = self.benchmarks.iter();
        let one =
            benchmarks.find(|one| !seen.insert((&one.name, &one.parameters, one.station())))?;
        Some(format!(
            "the benchmark {} is listed twice with the same parameters for one guest; its \
             repetitions could not be told apart",
            one.name
        ))
    }

    /// The points of a sweep are told apart by their names alone.
    fn sweep_twice(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let mut sweeps = self.sweeps.iter();
        let sweep = sweeps.find(|sweep| !seen.insert((&sweep.name, sweep.station())))?;
        Some(format!(
            "the sweep {} is listed twice for one guest; its points could not be told apart",
            sweep.name
        ))
    }

    /// Figures of something that the case cannot count.
    fn bad_claim(&self, claim: &ClaimPlan) -> Option<String> {
        let figures = claim.figures.as_ref()?;
        let known = |name: &&String| self.variants.iter().any(|plan| plan.name == **name);
        if let Some(name) = figures.variants.keys().find(|name| !known(name)) {
            return Some(format!(
                "a claim has a figure of the variant {name}, which the case does not have"
            ));
        }
        if !figures.within.is_empty() && figures.functions.is_empty() {
            return Some(
                "a claim says within which functions, and of which none: functions".into(),
            );
        }
        let mut benchmarks = self.benchmarks.iter();
        let listed = benchmarks.find(|benchmark| {
            benchmark.name == figures.benchmark
                && benchmark.parameters == figures.parameters
                && benchmark.abi == figures.abi
                && benchmark.cpu.is_none()
        });
        if figures.net && listed.is_some_and(|benchmark| benchmark.less.is_none()) {
            return Some(format!(
                "a claim is of {} less another benchmark, and the case subtracts none from it",
                figures.benchmark
            ));
        }
        let phase = self.phase_of(&figures.benchmark).is_some();
        let there = listed.is_some() || (phase && figures.parameters.is_empty());
        (!there).then(|| {
            format!(
                "a claim is set beside {} with parameters that no benchmark of the case has",
                figures.benchmark
            )
        })
    }

    fn stray_less(&self, benchmark: &BenchmarkPlan) -> Option<String> {
        let wanted = benchmark.less.as_deref()?;
        let mut found = self.to_subtract(benchmark);
        match (found.next(), found.next()) {
            (Some(_), None) => None,
            (None, _) => Some(format!(
                "{} less {wanted}: the case has no benchmark {wanted} in the same guest",
                benchmark.name
            )),
            _ => Some(format!(
                "{} less {wanted}: the case has several benchmarks {wanted} in the same guest",
                benchmark.name
            )),
        }
    }

    fn twice(&self) -> Option<String> {
        let mut seen = BTreeSet::from(["base", "all"]);
        let mut names = self.variants.iter().map(|plan| plan.name.as_str());
        let name = names.find(|name| !seen.insert(name))?;
        Some(format!(
            "a variant cannot be called {name}: the name is taken"
        ))
    }

    fn bad_variant(&self, plan: &VariantPlan) -> Option<String> {
        let name = &plan.name;
        if plan.changes_program() && self.program.is_none() {
            return Some(format!(
                "the variant {name} is a mode or a build of a program, and the case has none"
            ));
        }
        if !plan.lacks.is_empty() && plan.mode.is_none() {
            return Some(format!(
                "the variant {name} lacks phases of the program, and has no mode of its own"
            ));
        }
        if let Some(fault) = self.bad_source_patch(plan) {
            return Some(fault);
        }
        match (&plan.style, &plan.patch) {
            (Some(_), None) => self.bad_style(plan),
            (None, Some(file)) => self.bad_patch(plan, file),
            (None, None) if plan.changes_program() => None,
            (None, None) if self.program.is_some() && !plan.config.is_empty() => None,
            (None, None) if self.program.is_some() => Some(format!(
                "the variant {name} is another kernel (style, patch or config) or another program \
                 (mode, defines or source-patch), and none of these is given"
            )),
            _ => Some(format!(
                "the variant {name} is made by a style or by a patch: give one of the two"
            )),
        }
    }

    /// A variant that is to be proved by default and is not there.
    fn bad_default(&self) -> Option<String> {
        let known = |name: &&String| self.variants.iter().any(|plan| plan.name == **name);
        let name = self.about.default.iter().find(|name| !known(name))?;
        Some(format!(
            "the variant {name} is to be proved where none is named, and the case does not have it"
        ))
    }

    /// What of the program is not in the case's folder.
    fn bad_program(&self) -> Option<String> {
        let program = self.program.as_ref()?;
        let compiled = program.compiled.iter().map(|library| &library.source);
        let mut files = std::iter::once(&program.source)
            .chain(compiled)
            .chain(&program.headers)
            .chain(program.files.iter().map(|file| &file.from));
        let missing = files.find(|file| case_file(&self.about.name, file).is_none())?;
        let name = &program.name;
        Some(format!(
            "the program {name} needs the file {missing}, which is not there"
        ))
    }

    /// A patch to a source package that is not there, or of a case without one.
    fn bad_source_patch(&self, plan: &VariantPlan) -> Option<String> {
        let (name, file) = (&plan.name, plan.source_patch.as_ref()?);
        let package = self.program.as_ref().and_then(|own| own.package.as_ref());
        if package.is_none() {
            return Some(format!(
                "the variant {name} is a patch to a source package, and the case has none"
            ));
        }
        let there = case_file(&self.about.name, file).is_some();
        (!there)
            .then(|| format!("the variant {name} is the source patch {file}, which is not there"))
    }

    fn bad_style(&self, plan: &VariantPlan) -> Option<String> {
        let none = plan.targets.is_empty() && self.about.targets.is_empty();
        none.then(|| {
            format!(
                "the variant {} has a style and no targets, and the case has none",
                plan.name
            )
        })
    }

    fn bad_patch(&self, plan: &VariantPlan, file: &str) -> Option<String> {
        let name = &plan.name;
        let flags = plan.stop_at_first_fault || plan.touch_all_members;
        let of_fix = !plan.targets.is_empty() || !plan.sizes.is_empty() || flags;
        if of_fix {
            return Some(format!(
                "the variant {name} is a patch: targets, sizes and flags of fix are of a style"
            ));
        }
        let there = plan.patch_text(&self.about.name).is_some();
        (!there).then(|| format!("the variant {name} is the patch {file}, which is not there"))
    }
}

fn stray_unit(benchmark: &BenchmarkPlan) -> Option<String> {
    let parameter = benchmark.unit.as_ref()?.parameter.as_ref()?;
    let there = benchmark.parameters.contains_key(parameter);
    (!there).then(|| {
        format!("a unit names the parameter {parameter}, which the benchmark does not have")
    })
}
