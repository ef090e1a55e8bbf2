//! A realistic run made by hand: the console and counts that a guest and the
//! plugin would write, over a symbol table of a dozen functions. The figures
//! are near those of a small 6.12 kernel and are nobody's measurement.

use std::collections::BTreeMap;
use std::fmt::Write;

use tollgate_gates::{Opcodes, Symbol, Symbols};
use tollgate_measure::{
    Benchmark, BootResult, Booted, Comparison, Find, ImageName, Setting, Unit, Workload,
};

/// What one pass through a function executes.
#[derive(Clone, Copy)]
struct Work {
    function: &'static str,
    instructions: u64,
    opens: u64,
    closes: u64,
    fences: u64,
}

const fn work(function: &'static str, instructions: u64) -> Work {
    Work {
        function,
        instructions,
        opens: 0,
        closes: 0,
        fences: 0,
    }
}

const fn gate(function: &'static str, instructions: u64, fences: u64) -> Work {
    Work {
        function,
        instructions,
        opens: 1,
        closes: 1,
        fences,
    }
}

const SYSCALL: [Work; 3] = [
    work("entry_SYSCALL_64", 60),
    work("do_syscall_64", 70),
    work("syscall_exit_to_user_mode", 40),
];
const EPOLL: [Work; 5] = [
    work("__x64_sys_epoll_wait", 40),
    work("do_epoll_wait", 180),
    work("mutex_lock", 12),
    work("mutex_unlock", 10),
    work("fdget", 12),
];
const EVENT: [Work; 4] = [
    work("ep_item_poll", 28),
    work("eventfd_poll", 23),
    work("epi_fget", 8),
    work("fput", 4),
];
const PUT_BASE: [Work; 3] = [
    work("do_epoll_wait", 55),
    gate("__put_user_nocheck_4", 6, 0),
    gate("__put_user_nocheck_8", 6, 0),
];
const PUT_WINDOW: [Work; 1] = [gate("do_epoll_wait", 52, 1)];
const GETPPID: [Work; 1] = [work("__x64_sys_getppid", 36)];
const TICK: [Work; 1] = [work("asm_sysvec_apic_timer_interrupt", 900)];

/// The plan: benchmark, events (0 for none), operations.
const PLAN: [(&str, u64, u64); 4] = [
    ("epoll_wait", 1, 400),
    ("epoll_wait", 8, 200),
    ("epoll_wait", 64, 64),
    ("getppid", 0, 1000),
];
const REPETITIONS: u64 = 9;
const TEXT: u64 = 0xffff_ffff_8100_0000;
const FUNCTION_SIZE: u64 = 0x100;

/// What an image's boot is made of; edit it, then [`Boot::run`].
#[derive(Clone)]
pub(super) struct Boot {
    pub(super) window: bool,
    /// Extra instructions of every getppid call.
    pub(super) control: u64,
    /// The repetition of epoll_wait events=8 that a timer interrupt meets.
    pub(super) tick: Option<u64>,
    /// Instructions that repetition N of everything has more than N-1.
    pub(super) scatter: u64,
    /// Points of the sweep: name and the rest of the line.
    pub(super) points: BTreeMap<String, String>,
    /// More lines of the guest, before `done`.
    pub(super) lines: Vec<String>,
}

impl Boot {
    pub(super) fn base() -> Self {
        let end = (0..400).map(|n| {
            let outcome = if n < 12 {
                "ret=-1 errno=14 bytes=..x20"
            } else {
                "ret=1 errno=0 bytes=..x8,010000000000000000000000"
            };
            (format!("end/{n}"), outcome.to_owned())
        });
        let faults = ["null", "kernel", "read-only", "noncanonical"];
        let faults = faults.map(|name| (name.to_owned(), "ret=-1 errno=14 bytes=".to_owned()));
        let points = end.chain(faults).collect();
        Self {
            window: false,
            control: 0,
            tick: None,
            scatter: 0,
            points,
            lines: Vec::new(),
        }
    }

    pub(super) fn window() -> Self {
        Self {
            window: true,
            ..Self::base()
        }
    }

    pub(super) fn run(&self) -> BootResult {
        let functions = functions();
        let symbols = (TEXT..).step_by(0x100).zip(&functions);
        let symbols =
            Symbols::new(symbols.map(|(at, name)| Symbol::function(*name, at, FUNCTION_SIZE)));
        let opcodes = Opcodes::built_in("x86_64").unwrap();
        BootResult::read(
            self.console().as_bytes(),
            self.counts().as_bytes(),
            &opcodes,
            &symbols,
        )
        .unwrap()
    }

    fn console(&self) -> String {
        let mut text = "[    0.500000] Run /init as init process\r\n@tg guest 1\r\n".to_owned();
        for (phase, (benchmark, events, operations, repetition)) in phases().enumerate() {
            let events = if events > 0 {
                format!(" events={events}")
            } else {
                String::new()
            };
            writeln!(
                text,
                "@tg phase {phase} {benchmark}{events} ops={operations} rep={repetition}\r"
            )
            .unwrap();
        }
        let layout = "front=8 behind=0 size=12 each=12 events=0+4 data=4+8";
        writeln!(text, "@tg layout epoll_wait - {layout}\r").unwrap();
        for (name, outcome) in &self.points {
            writeln!(text, "@tg point epoll_wait {name} {outcome}\r").unwrap();
        }
        writeln!(text, "@tg points epoll_wait {}\r", self.points.len()).unwrap();
        self.lines
            .iter()
            .for_each(|line| writeln!(text, "{line}\r").unwrap());
        text + "@tg done\r\n"
    }

    fn counts(&self) -> String {
        let mut text = "tollgate-counts 1\ntarget x86_64\nkernel ffff800000000000\n".to_owned();
        for (phase, (benchmark, events, operations, repetition)) in phases().enumerate() {
            writeln!(text, "phase {phase}\nuser {}", operations * 9 + 11).unwrap();
            let works = self.works(benchmark, events, operations, repetition);
            executed(&mut text, &works);
            writeln!(text, "end {phase}").unwrap();
        }
        writeln!(text, "complete {}", phases().count()).unwrap();
        text
    }

    /// All work of one repetition, with how often it is done.
    fn works(
        &self,
        benchmark: &str,
        events: u64,
        operations: u64,
        repetition: u64,
    ) -> Vec<(Work, u64)> {
        let put: &[Work] = if self.window { &PUT_WINDOW } else { &PUT_BASE };
        let times =
            |works: &[Work], times| works.iter().map(|work| (*work, times)).collect::<Vec<_>>();
        let mut works = times(&SYSCALL, operations);
        if events > 0 {
            works.extend(
                [
                    times(&EPOLL, operations),
                    times(&EVENT, operations * events),
                ]
                .concat(),
            );
            works.extend(times(put, operations * events));
        } else {
            works.extend(times(&GETPPID, operations));
            works.extend(times(
                &[work("__x64_sys_getppid", self.control)],
                operations,
            ));
        }
        if events == 8 && self.tick == Some(repetition) {
            works.extend(times(&TICK, 1));
        }
        // The first call after boot is dearer.
        let odd = repetition * self.scatter + if repetition == 0 { 77 } else { 0 };
        works.extend(times(&[work("do_syscall_64", odd)], 1));
        assert_eq!(benchmark == "epoll_wait", events > 0);
        works
    }
}

/// Benchmark, events, operations and repetition of every phase.
fn phases() -> impl Iterator<Item = (&'static str, u64, u64, u64)> {
    PLAN.into_iter().flat_map(|(name, events, operations)| {
        (0..=REPETITIONS).map(move |repetition| (name, events, operations, repetition))
    })
}

fn functions() -> Vec<&'static str> {
    let all = [
        &SYSCALL[..],
        &EPOLL,
        &EVENT,
        &PUT_BASE,
        &PUT_WINDOW,
        &GETPPID,
        &TICK,
    ]
    .concat();
    let mut names: Vec<_> = all.iter().map(|work| work.function).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// One `k` line for each kind of instruction of each function.
fn executed(text: &mut String, works: &[(Work, u64)]) {
    for (name, at) in functions().iter().zip((TEXT..).step_by(0x100)) {
        let of = works.iter().filter(|(work, _)| work.function == *name);
        let sum = |pick: fn(&Work) -> u64| {
            of.clone()
                .map(|(work, times)| pick(work) * times)
                .sum::<u64>()
        };
        let (opens, closes, fences) = (sum(|w| w.opens), sum(|w| w.closes), sum(|w| w.fences));
        let plain = sum(|w| w.instructions) - opens - closes - fences;
        let kinds = [
            ("90", plain),
            ("0f01cb", opens),
            ("0faee8", fences),
            ("0f01ca", closes),
        ];
        for (offset, (bytes, count)) in (0..).step_by(4).zip(kinds) {
            if count > 0 {
                writeln!(text, "k {:x} {bytes} {count}", at + offset).unwrap();
            }
        }
    }
}

pub(super) fn benchmarks() -> Vec<Benchmark> {
    let unit = || Unit {
        name: "event".into(),
        parameter: Some("events".into()),
    };
    let benchmark = |(name, events, _): (&str, u64, u64)| {
        let parameter = (events > 0).then(|| ("events".to_owned(), i64::try_from(events).unwrap()));
        Benchmark {
            workload: Workload {
                benchmark: name.to_owned(),
                parameters: parameter.into_iter().collect(),
                ..Workload::default()
            },
            control: events == 0,
            unit: (events > 0).then(unit),
            less: None,
            whole: false,
        }
    };
    PLAN.into_iter().map(benchmark).collect()
}

const PATCH: &str = include_str!("fixture/epoll.patch");

pub(super) fn setting() -> Setting {
    Setting {
        subject: "epoll".into(),
        tollgate: "0.1.0".into(),
        tree: "6.12.117".into(),
        arch: "x86_64".into(),
        compiler: "gcc (Debian 12.2.0-14) 12.2.0".into(),
        config: "x86_64-minimal".into(),
        adjusted: Vec::new(),
        kept: false,
        base: None,
        qemu: "7.2.22".into(),
        plugin_api: 1,
        cpu: "max,-rdrand,-rdseed".into(),
        command_line: "console=ttyS0 panic=-1 quiet nokaslr norandmaps randomize_kstack_offset=0 \
                       reboot=t nolapic_timer noapic lpj=4000000 tsc_early_khz=1000000"
            .into(),
        packages: Vec::new(),
        find: Some(Find {
            path: "include/linux/eventpoll.h".into(),
            line: 86,
            column: 6,
            function: "epoll_put_uevent".into(),
        }),
        patch: PATCH.into(),
    }
}

/// A, A again and B, compared.
pub(super) fn compare(a: &Boot, again: &Boot, b: &Boot) -> Comparison {
    compare_as(setting(), a, again, b)
}

pub(super) fn image(letter: char, variant: &str, id: &str) -> ImageName {
    ImageName {
        letter,
        variant: variant.into(),
        id: id.into(),
    }
}

pub(super) fn compare_as(setting: Setting, a: &Boot, again: &Boot, b: &Boot) -> Comparison {
    let (a, again, b) = (a.run(), again.run(), b.run());
    let before = Booted {
        image: image('A', "base", "4f0c1d2ab93e7750"),
        run: &a,
    };
    let after = Booted {
        image: image('B', "window", "b1775e90c2d84a3f"),
        run: &b,
    };
    Comparison::new(setting, &benchmarks(), before, Some(&again), after)
}

/// The usual case: a gain, one interrupt, nothing else.
pub(super) fn gain() -> Comparison {
    let (a, b) = (
        Boot::base(),
        Boot {
            tick: Some(4),
            ..Boot::window()
        },
    );
    compare(&a, &a, &b)
}
