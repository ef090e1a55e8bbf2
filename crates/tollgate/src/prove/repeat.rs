//! What a reader types to come to the same verdict, on a machine of their own.

use std::path::Path;

use tollgate_defect::answer;
use tollgate_lab::git::Range;
use tollgate_lab::machine::Machine;
use tollgate_lab::program::Program;
use tollgate_lab::{input, tree};
use tollgate_measure::{Attached, Commands};
use tollgate_report::comparison::quoted;

use super::request::{Against, Configuration, Request};
use super::setup::Setup;
use super::variant::{Candidate, names};

/// The largest file that is repeated whole: what most lists take of a mail.
const LARGEST: usize = 64 << 10;

/// The folder of the tree, as a shell takes it: where it is, only its reader knows.
const TREE: &str = "\"$LINUX\"";

/// What the mailbox of a series is called.
const MAILBOX: &str = "series.mbox";

/// What repeats a proof with these variants.
pub(super) fn proof(setup: &Setup<'_>, candidates: &[Candidate]) -> Commands {
    let request = setup.request;
    let names = names(&request.patch).into_iter();
    let files = names.zip(&setup.patches).map(|(name, patch)| Attached {
        name: format!("{name}.patch"),
        ..attached(&patch.diff)
    });
    let files: Vec<Attached> = files.collect();
    let mut words = base_words(setup);
    for file in &files {
        words.extend(["--patch".to_owned(), quoted(&file.name)]);
    }
    words.extend(programs(request));
    Commands {
        needs: needs(setup, candidates),
        files,
        words,
    }
}

/// What repeats a series: a range of commits, or a mailbox; a case's own without
/// either.
pub(super) fn series(setup: &Setup<'_>, range: Option<&Range>, mailbox: Option<&[u8]>) -> Commands {
    let request = setup.request;
    let mut needs = needs(setup, &[]);
    let mut words = base_words(setup);
    words.push("--series".to_owned());
    let mut files = Vec::new();
    if let Some(range) = range {
        let before = range.before.as_ref().map_or("", |commit| commit.id());
        needs.push(format!(
            "The tree's history has the commits of {}.",
            range.asked
        ));
        words.push(quoted(&format!("{before}..{}", range.after.id())));
    } else if request.series.as_ref().is_some_and(|path| !path.is_empty()) {
        words.push(MAILBOX.to_owned());
        match mailbox {
            Some(bytes) => files.push(Attached {
                name: MAILBOX.to_owned(),
                ..attached(bytes)
            }),
            None => needs.push(format!(
                "{MAILBOX} is the mailbox, which came from a pipe and was read once."
            )),
        }
    }
    if !request.points.is_empty() {
        let points: Vec<String> = request.points.iter().map(ToString::to_string).collect();
        words.extend(["--points".to_owned(), points.join(",")]);
    }
    Commands {
        needs,
        files,
        words,
    }
}

/// A file's content; the text of one that a mail would not keep is left out.
fn attached(bytes: &[u8]) -> Attached {
    let text = answer::text(bytes);
    let text = text.filter(|text| text.len() <= LARGEST);
    Attached {
        name: String::new(),
        text: text.map(str::to_owned),
        bytes: bytes.len(),
        hash: tree::hash(bytes),
    }
}

/// What has to be there, in sentences.
fn needs(setup: &Setup<'_>, candidates: &[Candidate]) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let mut needs = vec![
        format!(
            "For a POSIX shell in an empty folder, with tollgate {version}, {} and QEMU {}.",
            setup.compilers(),
            setup.qemu.version
        ),
        format!(
            "LINUX is the folder of a tree of Linux {}.",
            setup.tree.version()
        ),
    ];
    if let Some(config @ Configuration::File(_)) = &setup.request.config {
        let word = config.word();
        needs.push(format!("`{word}` is the configuration that was given."));
    }
    if !setup.request.program.is_empty() {
        let own = setup.program.as_deref().into_iter();
        let others = candidates.iter().filter_map(|one| one.program.as_deref());
        needs.extend(own.chain(others).map(program_need));
    }
    needs
}

fn program_need(program: &Program) -> String {
    let Program { line, bytes, .. } = program;
    format!(
        "`{line}` is a program of {} bytes and the BLAKE3 hash {}.",
        bytes.len(),
        tree::hash(bytes)
    )
}

/// The command up to what is compared.
fn base_words(setup: &Setup<'_>) -> Vec<String> {
    let request = setup.request;
    let mut words = vec!["tollgate".to_owned(), "prove".to_owned()];
    words.extend(request.case.clone());
    words.extend(["--tree".to_owned(), TREE.to_owned()]);
    let mut flag = |name: &str, value: &str| {
        words.extend([name.to_owned(), quoted(value)]);
    };
    if !matches!(Machine::usual(), Ok(usual) if usual == request.arch) {
        flag("--arch", &request.arch);
    }
    let config = request.config.as_ref().map(Configuration::word);
    let compilers = Some(request.compiler.join(",")).filter(|named| !named.is_empty());
    let given = [
        ("--config", &config),
        ("--compiler", &compilers),
        ("--qemu", &request.qemu),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            flag(name, value);
        }
    }
    for (name, all) in [("--variant", &request.variant), ("--bench", &request.bench)] {
        if !all.is_empty() {
            flag(name, &all.join(","));
        }
    }
    for param in &request.param {
        let values: Vec<String> = param.values.iter().map(ToString::to_string).collect();
        flag("--param", &format!("{}={}", param.key, values.join(",")));
    }
    words
}

/// The programs that are compared, as they were named.
fn programs(request: &Request) -> Vec<String> {
    let mut words = Vec::new();
    for Against { name, program } in &request.against {
        let program: Vec<_> = program.iter().map(|word| word.to_string_lossy()).collect();
        let text = format!("{name}={}", program.join(","));
        words.extend(["--against".to_owned(), quoted(&text)]);
    }
    if !request.program.is_empty() {
        words.push("--".to_owned());
        let program = request.program.iter();
        words.extend(program.map(|word| quoted(&word.to_string_lossy())));
    }
    words
}

/// The bytes of a mailbox that is still there; none of a stream, which is read once.
///
/// # Errors
/// What the system says.
pub(super) fn mailbox(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    match input::is_stream(path) {
        true => Ok(None),
        false => input::given(path).map(Some),
    }
}
