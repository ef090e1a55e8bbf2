//! `tollgate gates`: what opens and closes the gate in object code.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_gates::{Analysis, Changes, Input, Listing, ObjectError, Stream};
use tollgate_lab::input;
use tollgate_report::gates;
use tollgate_source::{Name, shown};

use crate::exit::Exit;
use crate::output::{Asked, Documents, Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Flags of `tollgate gates`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "tollgate gates [OPTIONS] <OBJECT>... [FUNCTION]"
)]
pub(crate) struct Args {
    /// Object files (.o, .ko, .a, vmlinux, also as .xz, .zst and .gz; bzImage), or
    /// `-` for standard input; a last word that is no file is the function to list
    #[arg(required = true, value_name = "OBJECT")]
    objects: Vec<PathBuf>,
    /// Compare with this object: what a change did to each function
    #[arg(long, value_name = "OTHER", conflicts_with = "find")]
    against: Option<PathBuf>,
    /// List only the functions that open the gate again with nothing but
    /// straight code between
    #[arg(long)]
    find: bool,
    #[command(flatten)]
    output: Asked<Documents>,
}

impl Args {
    fn output(&self) -> Output {
        self.output.output()
    }
}

/// What stands for standard input.
const STDIN: &str = "-";

const EXAMPLES: &str = "\
Reads x86-64, i386, powerpc, arm64, arm and riscv. Of x86 it shows what the
running kernel has: stac, clac and lfence are patched in at boot.

Examples:
  tollgate gates vmlinux                        every function that crosses
  tollgate gates fs/eventpoll.o do_epoll_wait   one, its windows in the margin
  tollgate gates /boot/vmlinuz-6.12.1           the kernel that a bzImage holds
  tollgate gates --find vmlinux                 who opens twice?
  tollgate gates old.o --against new.o          what did the change do?

Exit codes: 0 clean, 1 a rule is broken, a function opens twice (--find) or
pays more than before (--against), 2 could not tell.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let (objects, function) = split(&args.objects);
    let meter = match objects {
        [_] | [] => Meter::of(term, "gates"),
        many => Meter::new(term, "gates", "objects", Some(many.len())),
    };
    let read = objects.iter().chain(&args.against).map(PathBuf::as_path);
    args.output().check(read)?;
    match (&args.against, function) {
        (Some(other), None) => against(args, objects, other, term),
        (None, Some(function)) => listing(args, objects, function, term),
        (None, None) => table(args, objects, &meter, term),
        (Some(_), Some(function)) => {
            anyhow::bail!("{function}: no such file; --against compares whole objects")
        }
    }
}

/// The last word names a function where there is no such file.
fn split(words: &[PathBuf]) -> (&[PathBuf], Option<&str>) {
    match words.split_last() {
        Some((last, objects)) if !objects.is_empty() && !is_object(last) => match last.to_str() {
            Some(function) if !function.contains('/') => (objects, Some(function)),
            _ => (words, None),
        },
        _ => (words, None),
    }
}

fn is_object(path: &Path) -> bool {
    path == Path::new(STDIN) || path.exists()
}

fn table(args: &Args, objects: &[PathBuf], meter: &Meter, term: &Term) -> anyhow::Result<Exit> {
    let mut all = Vec::new();
    for path in objects {
        all.extend(analyses(path, term)?);
        meter.advance(1);
    }
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => gates::gates_json(&all)?.into(),
            _ if args.find => gates::repeats(&all).into(),
            _ => gates::gates(&all).into(),
        })
    })?;
    let repeats = |a: &Analysis| {
        a.functions
            .iter()
            .any(|function| !function.repeats.is_empty())
    };
    let found = all.iter().any(|(_, a)| {
        if args.find {
            repeats(a)
        } else {
            a.findings() > 0
        }
    });
    Ok(if found { Exit::Findings } else { Exit::Clean })
}

/// The file, or each member of an archive that holds a function.
fn analyses(path: &Path, term: &Term) -> anyhow::Result<Vec<(Name, Analysis)>> {
    let file = open(path)?;
    let own = Name::from(path);
    let shown = own.to_string();
    if !tollgate_gates::is_archive(file.input()) {
        let analysis = Analysis::of(file.input()).with_context(|| shown.clone())?;
        return Ok(vec![(own, analysis)]);
    }
    let (mut all, mut empty) = (Vec::new(), 0);
    for member in tollgate_gates::members(file.input()).with_context(|| shown.clone())? {
        let words = [own.as_bytes(), b"(", member.name.as_bytes(), b")"].concat();
        let name = Name::from(words.as_slice());
        let analysis = match member.object {
            Some(object) => Analysis::of(object),
            None => Analysis::of(open(&path.with_file_name("").join(&member.name))?.input()),
        };
        match analysis {
            Ok(analysis) => all.push((name, analysis)),
            Err(ObjectError::NoFunctions) => empty += 1,
            Err(error) => return Err(error).context(name.to_string()),
        }
    }
    if empty > 0 {
        term.note(&format!("{shown}: {empty} members hold no function"));
    }
    Ok(all)
}

fn listing(args: &Args, objects: &[PathBuf], function: &str, term: &Term) -> anyhow::Result<Exit> {
    let [path] = objects else {
        anyhow::bail!("{function}: no such file; to list a function give one object");
    };
    anyhow::ensure!(
        !args.find,
        "--find looks at whole objects, not at one function; leave out {function} or --find"
    );
    let listings = Listing::of(open(path)?.input(), function);
    let listings = listings.with_context(|| shown(path))?;
    let name = Name::from(path.as_path());
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => gates::listing_json(&name, &listings)?.into(),
            _ => gates::listing(&name, &listings).into(),
        })
    })?;
    let broken = listings
        .iter()
        .any(|listing| !listing.function.findings.is_empty());
    Ok(if broken { Exit::Findings } else { Exit::Clean })
}

fn against(args: &Args, objects: &[PathBuf], other: &Path, term: &Term) -> anyhow::Result<Exit> {
    let [path] = objects else {
        anyhow::bail!(
            "--against compares one object with one other; {} were given",
            objects.len()
        );
    };
    let one = |path: &Path| Analysis::of(open(path)?.input()).with_context(|| shown(path));
    let (before, after) = (one(path)?, one(other)?);
    anyhow::ensure!(
        before.arch == after.arch,
        "{} is of {}, {} of {}: objects of one machine can be compared",
        shown(path),
        before.arch,
        shown(other),
        after.arch
    );
    let changes = Changes::between(&before, &after);
    let [old, new] = &[path.as_path(), other].map(Name::from);
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => gates::against_json(old, new, &changes)?.into(),
            _ => gates::against(old, new, &changes).into(),
        })
    })?;
    Ok(if changes.regressed() {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

/// A file that is read from: as it is, or what it holds.
enum Opened {
    File(Stream<File>),
    Bytes(Vec<u8>),
}

impl Opened {
    fn input(&self) -> Input<'_> {
        match self {
            Self::File(stream) => stream.into(),
            Self::Bytes(bytes) => bytes.into(),
        }
    }
}

/// Opens an ordinary file, of which is read what is needed; one that is compressed,
/// or a bzImage, is unpacked into memory, and so is standard input.
fn open(path: &Path) -> anyhow::Result<Opened> {
    let cannot = || {
        let shown = shown(path);
        format!("cannot read {shown} as a .o, .ko, .a, vmlinux or bzImage")
    };
    let opened = if path == Path::new(STDIN) || input::is_stream(path) {
        Opened::Bytes(input::given(&stdin(path)).with_context(cannot)?)
    } else {
        let file = input::open(path).with_context(cannot)?;
        Opened::File(Stream::new(file).with_context(cannot)?)
    };
    let unpacked = tollgate_gates::unpacked(opened.input()).with_context(|| shown(path))?;
    Ok(unpacked.map_or(opened, Opened::Bytes))
}

/// `-` is standard input, as everywhere.
fn stdin(path: &Path) -> PathBuf {
    match path == Path::new(STDIN) {
        true => "/dev/stdin".into(),
        false => path.to_owned(),
    }
}
