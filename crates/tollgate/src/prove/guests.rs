//! The guests in which images are booted: a guest for each ABI and CPU that the
//! jobs ask for, and the plugin that counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use tollgate_gates::{Opcodes, Symbols};
use tollgate_lab::boot::{Boot, Limit, Record};
use tollgate_lab::case::{BenchmarkPlan, Station, Sweep};
use tollgate_lab::job::BootJob;
use tollgate_lab::machine::Equipment;
use tollgate_lab::program::Program;
use tollgate_lab::toolchain::Compiler;
use tollgate_lab::{cache, guest, tree};
use tollgate_measure::{BootResult, Skip};

use super::kept::{self, Kept, Key};
use super::setup::{Named, Setup};
use super::side_by_side::{locked, side_by_side};
use tollgate_source::shown;

use crate::progress::Steps;

/// What compiles the plugin, whatever compiles the kernel.
const HOST_COMPILER: &str = "gcc";

/// How often an image with a program that sleeps is booted at most until two boots are
/// the same.
const MOST_BOOTS: usize = 6;

/// The same where repetitions of a benchmark differ: their medians are taken, whether or
/// not two boots agree on them.
const MOST_OF_MEDIANS: usize = 3;

/// Where images are booted: the guests and the plugin, ready.
pub(crate) struct Guests<'a> {
    setup: &'a Setup<'a>,
    plugin: PathBuf,
    guests: Vec<Guest>,
    opcodes: Opcodes,
    /// How long the first boot took in each guest, of each part of a program: the base's, in
    /// this run or in the one that its counts are of.
    took: Mutex<BTreeMap<(Station, usize), Duration>>,
    /// What two boots that are the same gave, by all that was booted.
    sure: Mutex<BTreeMap<String, BootResult>>,
    kept: Kept<'a>,
    /// The hash of the plugin.
    plugin_hash: String,
    /// The hash of the emulator's program; none where it cannot be read.
    qemu_hash: Option<String>,
}

/// What one boot runs.
struct Work<'a> {
    named: &'a Named,
    station: &'a Station,
    ready: &'a Ready,
    /// Which of the boots of this guest it is.
    part: usize,
    /// A program, or what of it runs in this boot.
    program: Option<Program>,
    plan: String,
}

impl Work<'_> {
    /// A program that is compared sleeps and wakes.
    fn sleeps(&self) -> bool {
        self.program.as_ref().is_some_and(|own| own.is_compared)
    }

    /// All that is booted.
    fn key(&self) -> String {
        let program = self.program.as_ref().map(Program::content);
        format!(
            "{} {:?} {program:?} {}",
            self.named.image.key, self.station, self.plan
        )
    }
}

/// A guest as it is part of a question.
#[derive(Debug, Serialize)]
pub(crate) struct GuestAsked {
    abi: Option<String>,
    cpu: Option<String>,
    /// QEMU's arguments.
    arguments: Vec<String>,
    /// Words of the machine's command line that its kernel is not told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    /// The lines of its plan: benchmarks, parameters, operations, repetitions.
    plan: Vec<String>,
    /// The hash of all that it starts with, or why there is no such guest.
    content: Result<String, String>,
}

/// A guest of one ABI and CPU.
struct Guest {
    station: Station,
    /// What it is started with, or why it cannot be.
    ready: Result<Ready, String>,
}

/// What a guest is started with.
struct Ready {
    equipment: Equipment,
    /// Our init with the benchmarks.
    init: Vec<u8>,
}

impl<'a> Guests<'a> {
    pub(crate) fn open(setup: &'a Setup<'a>, steps: &Steps<'_>) -> anyhow::Result<Self> {
        let opcodes = Opcodes::built_in(&setup.machine.name)?;
        let (plugin, guests) = steps.step(
            "prepare the guest",
            || prepare(setup),
            |_| {
                format!(
                    "QEMU {}, plugin API {}",
                    setup.qemu.version, setup.qemu.plugin_api
                )
            },
        )?;
        Ok(Self {
            setup,
            plugin_hash: hash_of(&plugin)?,
            plugin,
            guests,
            opcodes,
            took: Mutex::default(),
            sure: Mutex::default(),
            kept: Kept::of(&setup.cache),
            qemu_hash: setup.qemu.content(),
        })
    }

    /// What two boots of the base counted in an earlier run, where image, guest, plugin,
    /// QEMU and machine are the same.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    pub(crate) fn kept(&self, named: &Named) -> anyhow::Result<Option<BootResult>> {
        if self.setup.request.recount {
            return Ok(None);
        }
        let symbols = symbols(named)?;
        let mut all = BootResult::default();
        for work in self.guests.iter().flat_map(|g| self.works(named, g)) {
            match work {
                Err(skipped) => all.add(skipped),
                Ok(work) => {
                    let key = self.key(&work)?;
                    let found = key.map(|key| self.kept.find(&key)).transpose()?;
                    let Some(booted) = found.flatten() else {
                        return Ok(None);
                    };
                    self.note_time(&work, booted.took);
                    let run = self.read(&work, &booted.record, &symbols)?;
                    all.add(of_guest(run, work.station));
                }
            }
        }
        Ok(Some(all))
    }

    /// Keeps what the base counted, for the next run; nothing where a guest failed.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(crate) fn keep(&self, before: &BootResult, again: &BootResult) -> anyhow::Result<()> {
        if before == again && before.errors.is_empty() {
            self.kept.keep()?;
        }
        Ok(())
    }

    /// What decides what a boot counts; none of a program that sleeps, which is booted
    /// until two boots are the same, nor where the emulator's program cannot be read.
    fn key(&self, work: &Work<'_>) -> anyhow::Result<Option<String>> {
        let Some(qemu) = self.qemu_hash.as_deref().filter(|_| !work.sleeps()) else {
            return Ok(None);
        };
        let archive = guest::initramfs(&work.ready.init, &work.plan, work.program.as_ref())?;
        let (machine, equipment) = (&self.setup.machine, &work.ready.equipment);
        let key = Key {
            version: Key::VERSION,
            image: &work.named.image.key,
            guest: tree::hash(&archive),
            plugin: &self.plugin_hash,
            qemu,
            arguments: machine.arguments(equipment),
            command_line: equipment.command_line(machine),
        };
        Ok(Some(key.name()?))
    }

    /// The guests, as they are part of a question.
    pub(crate) fn asked(&self) -> Vec<GuestAsked> {
        self.guests
            .iter()
            .map(|guest| self.guest_asked(guest))
            .collect()
    }

    fn guest_asked(&self, guest: &Guest) -> GuestAsked {
        let Station { abi, cpu } = guest.station.clone();
        let ready = guest.ready.as_ref();
        let arguments = |ready: &Ready| self.setup.machine.arguments(&ready.equipment);
        let without = |ready: &Ready| ready.equipment.cpu.without.clone();
        GuestAsked {
            abi,
            cpu,
            without: ready.map_or_else(|_| Vec::new(), without),
            // A guest that is not ready is asked for by why it is not (`content`).
            arguments: ready.map_or_else(|_| Vec::new(), arguments),
            plan: plan(self.setup, &guest.station)
                .lines()
                .map(str::to_owned)
                .collect(),
            content: ready
                .map_err(Clone::clone)
                .and_then(|ready| self.content(ready, &guest.station)),
        }
    }

    /// The hash of all that a guest of the base starts with.
    fn content(&self, ready: &Ready, station: &Station) -> Result<String, String> {
        let program = self.setup.program.as_deref();
        let archive = initramfs(self.setup, &ready.init, station, program);
        let hash = archive.map(|archive| tree::hash(&archive));
        hash.map_err(|error| error.to_string())
    }

    /// The hash of the plugin.
    pub(crate) fn plugin(&self) -> &str {
        &self.plugin_hash
    }

    /// Boots images, each as [`Guests::count`] does: one after the other here, all at once
    /// on the nodes of a cluster.
    pub(crate) fn counts(
        &self,
        all: &[(&Named, String)],
        steps: &Steps<'_>,
    ) -> anyhow::Result<Vec<anyhow::Result<BootResult>>> {
        if self.setup.queue.is_none() {
            let one = |(named, what): &(&Named, String)| self.count(named, what, steps);
            return Ok(all.iter().map(one).collect());
        }
        let one = |(named, _): &(&Named, String)| Ok(self.boot_all(named));
        let what = format!("boot and count {} kernels", all.len());
        steps.step(
            &what,
            || side_by_side(all, all.len(), one),
            |_| String::new(),
        )
    }

    /// Boots an image, once for each guest, and reads what was counted.
    pub(crate) fn count(
        &self,
        named: &Named,
        what: &str,
        steps: &Steps<'_>,
    ) -> anyhow::Result<BootResult> {
        let how = |run: &BootResult| {
            let differing = match run.differing {
                0 => String::new(),
                1 => ", 1 more boot gave other counts".to_owned(),
                boots => format!(", {boots} more boots gave other counts"),
            };
            let (counted, points) = (run.samples.len(), run.points.len());
            format!("{counted} repetitions, {points} points{differing}")
        };
        let what = format!("{what} ({})", named.variant);
        steps.step(&what, || self.boot_all(named), how)
    }

    fn boot_all(&self, named: &Named) -> anyhow::Result<BootResult> {
        let symbols = symbols(named)?;
        let works: Vec<_> = self
            .guests
            .iter()
            .flat_map(|g| self.works(named, g))
            .collect();
        let boot = |work: &Result<Work<'_>, BootResult>| match work {
            Ok(work) => Ok(of_guest(
                self.boot_until_sure(work, &symbols)?,
                work.station,
            )),
            Err(skipped) => Ok(skipped.clone()),
        };
        // Who waits for a node takes no processor.
        let at_once = match self.setup.queue {
            Some(_) => works.len(),
            None => self.setup.jobs(),
        };
        let booted: anyhow::Result<_> = side_by_side(&works, at_once, boot);
        let mut all = BootResult::default();
        booted?.into_iter().for_each(|run| all.add(run));
        Ok(all)
    }

    /// The boots of a guest, one for each part of a program that has several; or its
    /// jobs that this machine cannot run.
    fn works<'w>(&self, named: &'w Named, guest: &'w Guest) -> Vec<Result<Work<'w>, BootResult>> {
        let station = &guest.station;
        match &guest.ready {
            Ok(ready) => self
                .boots(named, station, ready)
                .into_iter()
                .map(Ok)
                .collect(),
            Err(reason) => vec![Err(of_guest(self.skipped(station, reason), station))],
        }
    }

    /// The benchmarks run beside the first part of the program.
    fn boots<'w>(&self, named: &'w Named, station: &'w Station, ready: &'w Ready) -> Vec<Work<'w>> {
        let own = named.program.as_deref();
        let own = own.filter(|program| program.station == *station);
        let work = |part: usize, program: Option<Program>, plan: String| Work {
            part,
            named,
            station,
            ready,
            program,
            plan,
        };
        let whole = plan(self.setup, station);
        let Some(program) = own else {
            return vec![work(0, None, whole)];
        };
        let line = program.plan_line();
        let parts = program.in_boots().into_iter().enumerate();
        parts
            .map(|(number, part)| match number {
                0 => work(0, Some(part), whole.clone()),
                _ => work(number, Some(part), line.clone()),
            })
            .collect()
    }

    /// QEMU may let a timer end late (`docs/cases.md`): where a program sleeps, or repetitions
    /// differ, it is booted until two boots are the same to the instruction. Another boot
    /// of what was booted before has to be the same as that.
    fn boot_until_sure(&self, work: &Work<'_>, symbols: &Symbols) -> anyhow::Result<BootResult> {
        let key = work.key();
        let most = match work.sleeps() {
            true => MOST_BOOTS,
            false => MOST_OF_MEDIANS,
        };
        let mut seen: Vec<BootResult> = locked(&self.sure).get(&key).cloned().into_iter().collect();
        loop {
            let mut run = self.boot(work, symbols)?;
            if seen.contains(&run) {
                locked(&self.sure).insert(key, run.clone());
                run.differing = seen.len() - 1;
                return Ok(run);
            }
            let exact = seen.is_empty() && run.is_exact();
            let last = seen.len() + 1 >= most;
            match work.sleeps() {
                false if exact || last => return Ok(run),
                true if last => break,
                _ => seen.push(run),
            }
        }
        anyhow::bail!(
            "{MOST_BOOTS} boots of {} gave {MOST_BOOTS} counts, no two of them the same: try it again \
             where less else runs",
            work.named.variant
        )
    }

    fn boot(&self, work: &Work<'_>, symbols: &Symbols) -> anyhow::Result<BootResult> {
        let (record, took) = self.record(work)?;
        self.note_time(work, took);
        let booted = kept::Booted { record, took };
        if work.named.is_base
            && let Some(key) = self.key(work)?
        {
            self.kept.note(key, &booted);
        }
        self.read(work, &booted.record, symbols)
    }

    fn note_time(&self, work: &Work<'_>, took: Duration) {
        locked(&self.took)
            .entry((work.station.clone(), work.part))
            .or_insert(took);
    }

    /// How long the base takes is for its next boot to say.
    pub(crate) fn forget_times(&self) {
        locked(&self.took).clear();
    }

    fn read(
        &self,
        work: &Work<'_>,
        record: &Record,
        symbols: &Symbols,
    ) -> anyhow::Result<BootResult> {
        let Record { console, counts } = record;
        BootResult::of_plan(&work.plan, console, counts, &self.opcodes, symbols)
            .with_context(|| format!("the run of {} cannot be used", work.named.variant))
    }

    /// What the user says; else what follows from the first boot.
    fn limit(&self, work: &Work<'_>) -> Limit {
        let key = (work.station.clone(), work.part);
        let took = || locked(&self.took).get(&key).copied();
        self.setup
            .request
            .timeout
            .map_or_else(|| Limit::after(took()), Limit::given)
    }

    fn record(&self, work: &Work<'_>) -> anyhow::Result<(Record, Duration)> {
        let scratch = self.setup.cache.scratch()?;
        let file = scratch.path().join("initramfs.cpio");
        let archive = guest::initramfs(&work.ready.init, &work.plan, work.program.as_ref())?;
        cache::write_file(&file, &archive)?;
        let kept = console_name(work.named, work.station);
        let boot = Boot {
            image: &work.named.variant,
            kernel: &work.named.image.boot_path(),
            initramfs: &file,
            plugin: &self.plugin,
            machine: &self.setup.machine,
            equipment: &work.ready.equipment,
            qemu: &self.setup.qemu,
            limit: self.limit(work),
            plan: &work.plan,
            kept: &self.setup.cache.root().join(kept),
        };
        let Some(queue) = &self.setup.queue else {
            return Ok(boot.run(scratch.path(), &self.setup.runner)?);
        };
        let what = format!("the boot of {}{}", work.named.variant, of(work.station));
        Ok(BootJob::of(&boot, what, queue)?.run_on(queue, &boot)?)
    }

    /// The jobs of a guest that this machine cannot make.
    fn skipped(&self, station: &Station, reason: &str) -> BootResult {
        let skip = |job: String| Skip {
            job,
            reason: reason.to_owned(),
        };
        let case = &self.setup.case;
        let benchmarks = case.benchmarks.iter();
        let benchmarks = benchmarks.filter(|benchmark| benchmark.station() == *station);
        let mut jobs: Vec<String> = benchmarks.map(BenchmarkPlan::job).collect();
        let sweeps = case.sweeps.iter();
        let sweeps = sweeps.filter(|sweep| sweep.station() == *station);
        jobs.extend(sweeps.map(Sweep::job));
        jobs.dedup();
        BootResult {
            skips: jobs.into_iter().map(skip).collect(),
            ..BootResult::default()
        }
    }
}

/// ` (ia32, smap)`
fn of(station: &Station) -> String {
    let words: Vec<&str> = [&station.abi, &station.cpu]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!(" ({})", words.join(", ")),
    }
}

fn symbols(named: &Named) -> anyhow::Result<Symbols> {
    let path = named.image.vmlinux_path();
    let vmlinux =
        std::fs::read(&path).with_context(|| format!("could not read {}", shown(&path)))?;
    anyhow::ensure!(
        tree::hash(&vmlinux) == named.image.vmlinux,
        "{} changed since it was built; run again",
        shown(&path)
    );
    Symbols::parse(&vmlinux).with_context(|| shown(&path).to_string())
}

fn hash_of(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path);
    let bytes = bytes.with_context(|| format!("could not read {}", shown(path)))?;
    Ok(tree::hash(&bytes))
}

fn of_guest(run: BootResult, station: &Station) -> BootResult {
    let Station { abi, cpu } = station;
    run.of_guest(abi.as_deref(), cpu.as_deref())
}

fn prepare(setup: &Setup<'_>) -> anyhow::Result<(PathBuf, Vec<Guest>)> {
    let compiler = Compiler::find(HOST_COMPILER, &setup.runner)?;
    let api = setup.qemu.plugin_api;
    let plugin = guest::compile_plugin(&setup.cache, &compiler, api, &setup.runner)?;
    let stations = setup.case.stations().into_iter();
    let guests: anyhow::Result<Vec<Guest>> = stations
        .map(|station| {
            let ready = make_guest(setup, &station)?;
            Ok(Guest { station, ready })
        })
        .collect();
    Ok((plugin, guests?))
}

/// Or why the machine has no such guest, or this one's tools make none.
fn make_guest(setup: &Setup<'_>, station: &Station) -> anyhow::Result<Result<Ready, String>> {
    let equipment = match setup.machine.station(station) {
        Ok(equipment) => equipment,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let flags = &equipment.flags;
    let compiled = guest::compile(&setup.cache, &setup.guest_compiler, flags, &setup.runner);
    let program = match compiled {
        Ok(program) => program,
        Err(error @ guest::Error::NoSuchAbi { .. }) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let bytes =
        std::fs::read(&program).with_context(|| format!("could not read {}", shown(&program)))?;
    Ok(Ok(Ready {
        equipment,
        init: bytes,
    }))
}

/// Where in the cache the console of a boot stays that failed.
fn console_name(named: &Named, station: &Station) -> PathBuf {
    let short: String = named.id().chars().take(12).collect();
    let more = [&station.abi, &station.cpu].into_iter().flatten();
    let more: String = more.map(|word| format!("-{word}")).collect();
    Path::new("consoles").join(format!("{short}{more}.txt"))
}

fn initramfs(
    setup: &Setup<'_>,
    init: &[u8],
    station: &Station,
    program: Option<&Program>,
) -> Result<Vec<u8>, guest::Error> {
    let program = program.filter(|program| program.station == *station);
    guest::initramfs(init, &plan(setup, station), program)
}

/// One guest also runs the program, last; that of a variant has the base's name.
fn plan(setup: &Setup<'_>, station: &Station) -> String {
    let program = setup.program.as_deref();
    let program = program.filter(|program| program.station == *station);
    let line = program.map_or_else(String::new, Program::plan_line);
    setup.case.plan(station) + &line
}
