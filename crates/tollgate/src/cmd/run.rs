//! `tollgate run`: flags in, times out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tollgate_defect::answer;

use tollgate_lab::registry::Registry;
use tollgate_measure::{Floor, Rounds};

use super::prove::{param, seconds};
use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::prove::request::Param;
use crate::run;
use crate::run::request::{Cpu, Request};
use crate::term::Term;

/// Flags of `tollgate run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The benchmarks to time: names, families (signal is every signal_...), or
    /// all; without any, they are listed
    #[arg(value_name = "BENCH")]
    pub(crate) benchmarks: Vec<String>,
    /// Values for a parameter of the benchmarks, such as avx=0,1
    #[arg(long, value_name = "KEY=N,N", value_parser = param)]
    pub(crate) param: Vec<Param>,
    /// Repetitions of each benchmark, after a warm-up before each
    #[arg(long, value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32)
              .range(i64::from(Rounds::FEWEST)..=i64::from(Rounds::MOST)))]
    pub(crate) reps: u32,
    /// Repetitions before each, in its process, that are not counted
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=MOST_WARMUPS))]
    pub(crate) warmup: u32,
    /// Operations in a repetition; so many that it takes about 2 ms where none is given
    #[arg(long, value_name = "N", value_parser = ops)]
    pub(crate) ops: Option<u64>,
    /// The ABIs of the benchmarks' program, such as x86_64,ia32,x32; the
    /// machine's own where none is given
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) abi: Vec<String>,
    /// The CPU that everything stays on, or any; the last one where none is given
    #[arg(long, value_name = "N|any", value_parser = cpu)]
    pub(crate) cpu: Option<Cpu>,
    /// Also so many processes at once, each on a CPU of its own: 1,2,4; 1 is what is
    /// always timed
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = processes)]
    pub(crate) parallel: Vec<usize>,
    /// The JSON of an earlier run, of another kernel, to compare with
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// How far a whole interval must lie away from the earlier time to count, in
    /// percent of it; 5 is more than what one kernel's runs were seen apart where
    /// little else ran (docs/run.md)
    #[arg(long, value_name = "PERCENT", default_value_t = Floor::STANDARD, requires = "against",
          allow_negative_numbers = true)]
    pub(crate) floor: Floor,
    #[command(flatten)]
    pub(crate) output: Asked<Documents>,
    /// Where the compiled program is kept
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// The compiler of the program
    #[arg(long, value_name = "COMMAND", default_value = "gcc")]
    pub(crate) cc: String,
    /// How long one round of all benchmarks may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// A static program of your own to time beside them, compiled with
    /// -DTOLLGATE_TIMED, and its arguments (docs/own-benchmark.md)
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

fn ops(text: &str) -> Result<u64, String> {
    let registry = Registry::built_in().map_err(|error| error.to_string())?;
    let limits = registry.plan.ops;
    let number = answer::number(text).filter(|number| limits.hold(*number));
    number.ok_or_else(|| format!("{text} is no number of operations: a guest takes {limits}"))
}

fn processes(text: &str) -> Result<usize, String> {
    let count = answer::number(text).filter(|count| (1..=4096).contains(count));
    count.ok_or_else(|| format!("{text} is no number of processes: give 1 to 4096"))
}

fn cpu(text: &str) -> Result<Cpu, String> {
    match (text, text.parse()) {
        ("any", _) => Ok(Cpu::Any),
        (_, Ok(number)) => Ok(Cpu::Number(number)),
        _ => Err(format!("{text} is neither the number of a CPU nor any")),
    }
}

const EXAMPLES: &str = "\
Runs benchmarks as an ordinary program, without privilege, on the kernel that is
running, and prints time: the median with a 95 % interval. For what counts under
an emulator cannot show, such as the cost of XSAVE by its size (docs/run.md).

Examples:
  tollgate run signal                     every benchmark of signals
  tollgate run signal --param avx=0,1     also with AVX registers in use
  tollgate run signal --abi x86_64,ia32   as 64-bit and as 32-bit programs
  tollgate run epoll_wait getppid --param events=1,64 --json A.json
                                          kept, for the other kernel's boot
  tollgate run epoll_wait getppid --param events=1,64 --against A.json
  tollgate run poll --parallel 1,2,4      several processes at once
  tollgate run -- ./my-benchmark 64       a program of your own

Exit codes: 0 measured, 1 slower than the earlier run beyond the interval and
the floor, 2 nothing could be measured or compared.";

/// The most repetitions that warm up: a process of as many takes minutes.
const MOST_WARMUPS: i64 = 10_000;

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    let output = args.output.output();
    let request = Request {
        benchmarks: args.benchmarks,
        param: args.param,
        reps: args.reps,
        warmup: args.warmup,
        ops: args.ops,
        abi: args.abi,
        cpu: args.cpu,
        parallel: args.parallel,
        against: args.against,
        floor: args.floor,
        output,
        cache: args.cache,
        cc: args.cc,
        timeout: args.timeout,
        program: args.program,
    };
    run::run(&request, term)
}
