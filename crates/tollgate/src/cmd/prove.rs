//! `tollgate prove`: flags in, verdict out.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use tollgate_lab::case::Case;
use tollgate_lab::machine::Machine;
use tollgate_report::profile::ProfileFormat;

use crate::cluster;
use crate::detached;
use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::place::{Place, parser};
use crate::prove;
use crate::prove::request::{Against, Configuration, Param, Request};
use crate::term::Term;

/// The machine where none is named.
#[expect(
    clippy::disallowed_methods,
    reason = "a flag's default cannot fail; whoever asks for the machine of that name is told"
)]
fn usual() -> &'static str {
    Machine::usual().unwrap_or_default()
}

/// Flags of `tollgate prove`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The case to prove (tollgate cases lists them); none with --patch
    #[arg(value_parser = PossibleValuesParser::new(Case::names()), hide_possible_values = true)]
    pub(crate) case: Option<String>,
    /// The kernel tree; Debian's linux-source where none is given
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// The architecture of kernel and machine (docs/architectures.md)
    #[arg(long, value_name = "NAME", default_value = usual(),
          value_parser = PossibleValuesParser::new(Machine::names()))]
    pub(crate) arch: String,
    /// The profile of the configuration (core, minimal, distro), or the path of a file of
    /// yours: lines to lay over the case's profile, or a whole .config
    #[arg(long, value_name = "PROFILE|FILE", value_parser = configuration())]
    pub(crate) config: Option<Configuration>,
    /// The case's variants to prove, or all; the first where none is given
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) variant: Vec<String>,
    /// A patch of your own, a diff, a mail or a mailbox; each is a variant
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Vec<PathBuf>,
    /// The benchmarks to run; of a case all, of a patch those that run its files
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) bench: Vec<String>,
    /// Values for a parameter of the benchmarks, such as events=1,64
    #[arg(long, value_name = "KEY=N,N", value_parser = param)]
    pub(crate) param: Vec<Param>,
    /// Measure a series patch by patch: a mailbox, or a range A..B of the tree's
    /// commits; the case's own series where none is named
    #[arg(long, value_name = "MBOX|A..B", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["patch", "variant"])]
    pub(crate) series: Option<OsString>,
    /// The points of the series to measure, the first of them is the base; 0 is
    /// the tree before it. All where none is given
    #[arg(long, value_name = "N,M", value_delimiter = ',', requires = "series")]
    pub(crate) points: Vec<usize>,
    /// Another build or mode of the program behind --, to be compared with it on one
    /// kernel; without arguments it takes those of that one
    #[arg(long, value_name = "NAME=PROGRAM,ARG,…", value_parser = against,
          requires = "program", conflicts_with_all = ["series", "patch", "variant"])]
    pub(crate) against: Vec<Against>,
    #[command(flatten)]
    pub(crate) output: Asked<Documents>,
    /// Where to write the page, or -
    #[arg(long, value_name = "FILE", value_parser = parser())]
    pub(crate) html: Option<Place>,
    /// Where to write the counts by function as a profile, or -
    #[arg(long, value_name = "FILE", value_parser = parser(), conflicts_with = "series")]
    pub(crate) profile_out: Option<Place>,
    /// Its form, where the file's ending (.perf, .folded, .json) does not say it
    #[arg(long, value_enum, value_name = "FORM", requires = "profile_out")]
    pub(crate) profile_format: Option<ProfileForm>,
    /// Where images and results are kept
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// The compiler of the kernels, such as gcc-12 or clang-19; gcc, or the cross
    /// compiler of the architecture, where none is named. Of several, each makes a
    /// base and the variants that are held against it
    #[arg(
        long,
        visible_alias = "cc",
        value_name = "COMMAND",
        value_delimiter = ','
    )]
    pub(crate) compiler: Vec<String>,
    /// The emulator
    #[arg(long, value_name = "COMMAND")]
    pub(crate) qemu: Option<String>,
    /// Compiler runs, and guests, at a time; the number of CPUs where none is
    /// given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Boot the base although the cache has what the same image, guest, plugin, QEMU and
    /// machine counted before
    #[arg(long)]
    pub(crate) recount: bool,
    /// How long a guest may run, in seconds of this machine's time. Where none is
    /// given, 300 for the first boot of the base, and for each later boot ten times
    /// what that took, at least 10; where the base's counts are of an earlier run, what
    /// it took then, and where that is too little it is booted now
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) cluster: cluster::Flags,
    /// A static program of your own to run instead of benchmarks, and its
    /// arguments (docs/own-benchmark.md)
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// The forms of a profile.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileForm {
    /// The text of perf script, for the Firefox Profiler and scripts
    PerfScript,
    /// Folded stacks, for flame graphs
    Folded,
    /// The JSON of speedscope
    Speedscope,
}

impl From<ProfileForm> for ProfileFormat {
    fn from(form: ProfileForm) -> Self {
        match form {
            ProfileForm::PerfScript => Self::PerfScript,
            ProfileForm::Folded => Self::Folded,
            ProfileForm::Speedscope => Self::Speedscope,
        }
    }
}

/// A profile is one word; what looks like a path is a file.
fn configuration() -> impl TypedValueParser<Value = Configuration> {
    OsStringValueParser::new().map(|word| match word.to_str() {
        Some(name) if !name.contains(['/', '.']) => Configuration::Profile(name.to_owned()),
        _ => Configuration::File(PathBuf::from(word)),
    })
}

pub(super) fn param(text: &str) -> Result<Param, String> {
    let wrong = || format!("{text} is not KEY=N or KEY=N,N,… with whole numbers");
    let (key, values) = text.split_once('=').ok_or_else(wrong)?;
    let values: Result<Vec<i64>, _> = values.split(',').map(str::parse).collect();
    match (key.is_empty(), values) {
        (false, Ok(values)) => Ok(Param {
            key: key.to_owned(),
            values,
        }),
        _ => Err(wrong()),
    }
}

fn against(text: &str) -> Result<Against, String> {
    let wrong = || format!("{text} is not NAME=PROGRAM or NAME=PROGRAM,ARG,…");
    let (name, program) = text.split_once('=').ok_or_else(wrong)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let program: Vec<OsString> = program.split(',').map(OsString::from).collect();
    let some = program.first().is_some_and(|path| !path.is_empty());
    if name.is_empty() || !name.chars().all(plain) || !some {
        return Err(wrong());
    }
    Ok(Against {
        name: name.to_owned(),
        program,
    })
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err(format!("{text} is no number of seconds from 1 up")),
    }
}

const EXAMPLES: &str = "\
Builds the kernel without and with each patch, boots all under QEMU, counts
every instruction of the benchmarks, and compares. The counts are exact and the
same on every machine; they are not time.

Examples:
  tollgate prove epoll                    the case, on Debian's kernel source
  tollgate prove epoll --variant all      every variant of it, side by side
  tollgate prove epoll --tree ~/linux     on your tree, which is only read
  tollgate prove epoll --compiler clang-19
                                          with another compiler
  tollgate prove epoll --compiler gcc-12,clang-19
                                          what the other one does, side by side
  tollgate prove epoll --config ./.config
                                          in your own configuration
  tollgate prove epoll --patch my.patch   your own way to do it
  tollgate prove --patch my.patch --bench getdents64
                                          your patch to something else
  tollgate prove --patch my.patch -- ./my-benchmark 64
                                          counted in a program of your own
  tollgate prove --against new=./daemon-new -- ./daemon-old 60
                                          two builds of a program, one kernel

Exit codes: 0 a gain or no difference, 1 a regression or other behaviour,
2 could not tell.";

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    let output = args.output.output();
    let site = args.cluster.site()?;
    if let (Some(site), true) = (&site, args.cluster.detach) {
        return detached::begin(site, reads_input(&args), term);
    }
    let request = Request {
        case: args.case,
        tree: args.tree,
        arch: args.arch,
        config: args.config,
        variant: args.variant,
        patch: args.patch,
        bench: args.bench,
        param: args.param,
        series: args.series,
        points: args.points,
        against: args.against,
        output,
        html: args.html,
        profile_out: args.profile_out,
        profile_format: args.profile_format.map(Into::into),
        cache: args.cache,
        compiler: args.compiler,
        qemu: args.qemu,
        jobs: args.jobs,
        recount: args.recount,
        timeout: args.timeout,
        program: args.program,
        site,
    };
    prove::run(&request, term)
}

/// Whether a patch or a series stands on standard input.
fn reads_input(args: &Args) -> bool {
    let piped = |word: &OsStr| word == "-" || word == "/dev/stdin";
    args.patch.iter().any(|path| piped(path.as_os_str()))
        || args.series.as_deref().is_some_and(piped)
}
