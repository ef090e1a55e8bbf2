//! `tollgate gates`: what opens and closes the gate in object code.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_gates::{Analysis, Changes, Input, Listing, ObjectError, Stream, Watch};
use tollgate_lab::input;
use tollgate_report::gates;
use tollgate_source::{Name, shown};

use crate::exit::Exit;
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The objects, and perhaps a function behind them.
    pub(crate) objects: Vec<PathBuf>,
    /// The object to compare with.
    pub(crate) against: Option<PathBuf>,
    /// Whether only functions that open twice are listed.
    pub(crate) find: bool,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
}

/// What stands for standard input.
const STDIN: &str = "-";

/// The memory of the running kernel.
const KCORE: &str = "/proc/kcore";
const WHO_READS: &str = "it is there where the kernel has CONFIG_PROC_KCORE, and root alone may read it \
                         (CAP_SYS_RAWIO), where the kernel is not locked down (/sys/kernel/security/lockdown) and no \
                         container covers it; give the vmlinux or the vmlinuz of this kernel instead";

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    let (objects, function) = split(&asked.objects);
    let read = objects.iter().chain(&asked.against).map(PathBuf::as_path);
    asked.output.check(read)?;
    match (&asked.against, function) {
        (Some(other), None) => against(asked, objects, other, term),
        (None, Some(function)) => listing(asked, objects, function, term),
        (None, None) => table(asked, objects, term),
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

fn table(asked: &Request, objects: &[PathBuf], term: &Term) -> anyhow::Result<Exit> {
    let all = match objects {
        [only] => {
            let meter = functions(term);
            analyses(only, &|done, of| meter.reach(done, of), term)?
        }
        many => {
            let meter = Meter::new(term, "gates", "objects", Some(many.len()));
            let mut all = Vec::new();
            for path in many {
                all.extend(analyses(path, &|_, _| (), term)?);
                meter.advance(1);
            }
            all
        }
    };
    asked.output.write(term, |form| {
        Ok(match form {
            Form::Json => gates::gates_json(&all)?.into(),
            _ if asked.find => gates::repeats(&all).into(),
            _ => gates::gates(&all).into(),
        })
    })?;
    let repeats = |a: &Analysis| {
        a.functions
            .iter()
            .any(|function| !function.repeats.is_empty())
    };
    let found = all.iter().any(|(_, a)| {
        if asked.find {
            repeats(a)
        } else {
            a.findings() > 0
        }
    });
    if found {
        return Ok(Exit::Findings);
    }
    all_told(&all)?;
    Ok(Exit::Clean)
}

/// The names of functions that a sentence has at most.
const NAMED: usize = 5;

/// What was not followed is no clean code.
fn all_told(all: &[(Name, Analysis)]) -> anyhow::Result<()> {
    let functions = all.iter().flat_map(|(_, analysis)| &analysis.functions);
    let lost = functions.filter(|function| function.lost);
    let lost: Vec<&str> = lost.map(|function| function.name.as_str()).collect();
    let named = lost.get(..NAMED).unwrap_or(&lost).join(", ");
    let more = match lost.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    anyhow::ensure!(
        lost.is_empty(),
        "nothing was found, but not all paths of {} ({named}{more}) could be followed, and no rule was applied \
         to those: what a gate does to one hangs on a value that is not in the code; give an object and one of \
         these names to read it",
        match lost.len() {
            1 => "1 function".to_owned(),
            many => format!("{many} functions"),
        }
    );
    Ok(())
}

/// How far one object is.
fn functions(term: &Term) -> Meter {
    Meter::new(term, "gates", "functions", Some(0))
}

/// The file, or each member of an archive that holds a function.
fn analyses(path: &Path, watch: &Watch<'_>, term: &Term) -> anyhow::Result<Vec<(Name, Analysis)>> {
    let file = open(path, term)?;
    let own = Name::from(path);
    let shown = own.to_string();
    if !tollgate_gates::is_archive(file.input()) {
        let analysis = Analysis::watched(file.input(), watch).with_context(|| shown.clone())?;
        return Ok(vec![(own, analysis)]);
    }
    let (mut all, mut empty) = (Vec::new(), 0);
    for member in tollgate_gates::members(file.input()).with_context(|| shown.clone())? {
        let words = [own.as_bytes(), b"(", member.name.as_bytes(), b")"].concat();
        let name = Name::from(words.as_slice());
        let analysis = match member.object {
            Some(object) => Analysis::watched(object, watch),
            None => {
                let apart = path.with_file_name("").join(&member.name);
                Analysis::watched(open(&apart, term)?.input(), watch)
            }
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

fn listing(
    asked: &Request,
    objects: &[PathBuf],
    function: &str,
    term: &Term,
) -> anyhow::Result<Exit> {
    let [path] = objects else {
        anyhow::bail!("{function}: no such file; to list a function give one object");
    };
    anyhow::ensure!(
        !asked.find,
        "--find looks at whole objects, not at one function; leave out {function} or --find"
    );
    let _meter = Meter::of(term, "gates");
    let listings = Listing::of(open(path, term)?.input(), function);
    let listings = listings.with_context(|| shown(path))?;
    let name = Name::from(path.as_path());
    asked.output.write(term, |form| {
        Ok(match form {
            Form::Json => gates::listing_json(&name, &listings)?.into(),
            _ => gates::listing(&name, &listings).into(),
        })
    })?;
    let broken = listings
        .iter()
        .any(|listing| !listing.function.findings.is_empty());
    let lost = listings.iter().any(|listing| listing.function.lost);
    anyhow::ensure!(
        broken || !lost,
        "{}: not all paths of {function} could be followed, and no rule was applied: what a gate \
         does to one hangs on a value that is not in the code; read the listing above",
        shown(path)
    );
    Ok(if broken { Exit::Findings } else { Exit::Clean })
}

fn against(
    asked: &Request,
    objects: &[PathBuf],
    other: &Path,
    term: &Term,
) -> anyhow::Result<Exit> {
    let [path] = objects else {
        anyhow::bail!(
            "--against compares one object with one other; {} were given",
            objects.len()
        );
    };
    let one = |path: &Path| {
        let meter = functions(term);
        let watch = |done, of| meter.reach(done, of);
        Analysis::watched(open(path, term)?.input(), &watch).with_context(|| shown(path))
    };
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
    asked.output.write(term, |form| {
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
/// a bzImage or a core is unpacked into memory, and so is standard input.
fn open(path: &Path, term: &Term) -> anyhow::Result<Opened> {
    let cannot = || {
        let shown = shown(path);
        match path == Path::new(KCORE) {
            true => format!("cannot read {shown}: {WHO_READS}"),
            false => format!("cannot read {shown} as a .o, .ko, .a, vmlinux, bzImage or core"),
        }
    };
    let opened = if path == Path::new(STDIN) || input::is_stream(path) {
        Opened::Bytes(input::given(&stdin(path)).with_context(cannot)?)
    } else {
        let file = input::open(path).with_context(cannot)?;
        Opened::File(Stream::new(file).with_context(cannot)?)
    };
    let unpacked = tollgate_gates::unpacked(opened.input()).with_context(|| shown(path))?;
    if let Some(kernel) = &unpacked
        && tollgate_gates::is_core(opened.input())
    {
        has_gate(path, kernel)?;
        term.note(&format!(
            "{}: the kernel's code as it is in memory; modules, and what ran at boot alone, were not read",
            shown(path)
        ));
    }
    Ok(unpacked.map_or(opened, Opened::Bytes))
}

/// Refuses a kernel in memory whose processor has no gate: it was left out at boot, and
/// every access would be one outside of a window.
fn has_gate(path: &Path, kernel: &[u8]) -> anyhow::Result<()> {
    let analysis = Analysis::of(kernel).with_context(|| shown(path))?;
    anyhow::ensure!(
        analysis.totals().gates() > 0,
        "{}: nothing in the kernel's code opens or closes a gate to user memory: the processor that it runs \
         on has none (SMAP of x86, PAN of arm64), or it was turned off at boot; give the vmlinux or the \
         vmlinuz of this kernel",
        shown(path)
    );
    Ok(())
}

/// `-` is standard input, as everywhere.
fn stdin(path: &Path) -> PathBuf {
    match path == Path::new(STDIN) {
        true => "/dev/stdin".into(),
        false => path.to_owned(),
    }
}
