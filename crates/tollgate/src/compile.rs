//! `tollgate fix --check`: each touched object compiled before and after, and
//! what the compiler and objtool say compared.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use rayon::prelude::*;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use tollgate_arch::{Architecture, Architectures};
use tollgate_defect::OrDefect as _;
use tollgate_lab::config::Fragment;
use tollgate_lab::objects::{Objects, Setting};
use tollgate_lab::process::Runner;
use tollgate_rewrite::Patched;
use tollgate_source::TreePath;

use crate::progress::Steps;
use crate::signals;
use crate::term::Term;
use crate::{door, folders};
use tollgate_lab::tree::Tree;

/// How many files that include a header are tried.
const INCLUDERS: usize = 6;
/// What an `#error` in the place of a window says.
const PROBE: &str = "tollgate: this line is compiled";

/// What came of one patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The object compiles and nothing new is said; the object.
    Clean(String),
    /// What is said of the object that was not said before.
    NewWarning(String, Vec<String>),
    /// The object does not compile any more; the first error.
    Broken(String, String),
    /// No object of this configuration holds the place; why.
    NotBuilt(String),
}

impl Verdict {
    /// The verdict as a sentence behind the name of the function.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Clean(object) => format!("clean: {object} compiles and no warning is new"),
            Self::NewWarning(object, lines) => {
                format!("new warning in {object}: {}", lines.join("; "))
            }
            Self::Broken(object, error) => format!("{object} does not compile: {error}"),
            Self::NotBuilt(why) => format!("not built: {why}"),
        }
    }

    /// Whether the patch is known to be wrong.
    pub(crate) fn is_bad(&self) -> bool {
        matches!(self, Self::NewWarning(..) | Self::Broken(..))
    }
}

/// Checks each patch; the verdicts are in the order of the patches.
///
/// # Errors
/// When the tree cannot be built at all.
pub(crate) fn all(
    tree: &Tree,
    patches: &[Patched],
    cache: Option<&Path>,
    term: &Term,
) -> anyhow::Result<Vec<Verdict>> {
    let place = folders::cache(cache)?;
    door::refuse_unbuildable(&place)?;
    door::refuse_inside(tree.root(), "the cache", &place)?;
    let cache = folders::open_cache(&place, term)?;
    door::refuse_own(tree.root(), cache.root())?;
    let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
    let steps = Steps::new(term);
    let manifest = steps.step(
        "read the tree",
        || tree.manifest(runner.interrupt()),
        |_| String::new(),
    )?;
    let compiled = Architectures::built_in()?.compiled();
    let (architecture, target, fragment) =
        compiled.or_defect("no architecture names the objects of `fix --check`")?;
    let fragment = Fragment::named(fragment)?;
    let jobs = folders::processors();
    let root = cache.root().join("objects").join(tollgate_lab::tree::hash(
        tree.root().as_os_str().as_encoded_bytes(),
    ));
    let setting = Setting {
        tree,
        manifest: &manifest,
        arch: &target.kbuild,
        fragment: &fragment,
        runner: &runner,
        jobs,
    };
    let objects = steps.step(
        "configure (allmodconfig)",
        || Objects::open(root, setting),
        |_| String::new(),
    )?;
    let verdict = |(number, patched): (usize, &Patched)| {
        steps.step(
            &format!("check {number} of {}: {}", patches.len(), patched.function),
            || one(tree, &objects, architecture, patched),
            |_| String::new(),
        )
    };
    (1..).zip(patches).map(verdict).collect()
}

/// The verdict of the first object that compiles the place.
fn one(
    tree: &Tree,
    objects: &Objects<'_>,
    architecture: &Architecture,
    patched: &Patched,
) -> anyhow::Result<Verdict> {
    let mut why = format!("no C file includes {}", patched.path);
    for object in candidates(tree, architecture, &patched.path) {
        let Some(recipe) = objects.recipe(&object)? else {
            why = format!("this configuration does not build {object}");
            continue;
        };
        match compared(objects, patched, &object, &recipe)? {
            Verdict::NotBuilt(reason) => why = reason,
            verdict => return Ok(verdict),
        }
    }
    Ok(Verdict::NotBuilt(why))
}

fn compared(
    objects: &Objects<'_>,
    patched: &Patched,
    object: &str,
    recipe: &OsStr,
) -> anyhow::Result<Verdict> {
    let compile = |text: &[u8]| objects.compile(recipe, &patched.path, text);
    let (probed, places) = probes(patched);
    if places.is_empty() {
        let why = "the patch has no line whose compilation can be seen";
        return Ok(Verdict::NotBuilt(why.to_owned()));
    }
    let seen = compile(&probed)?.said;
    let missing = places.iter().find(|line| !seen.contains(&probe(**line)));
    if let Some(line) = missing {
        return Ok(Verdict::NotBuilt(format!(
            "line {line} of the new {} is not compiled into {object}",
            patched.path
        )));
    }
    let before = compile(&patched.original)?;
    if !before.success {
        return Ok(Verdict::NotBuilt(format!(
            "{object} does not compile without the patch either"
        )));
    }
    let after = compile(&patched.rewritten)?;
    let new = added(&before.said, &after.said);
    let object = object.to_owned();
    Ok(match (after.success, new.as_slice()) {
        (false, _) => Verdict::Broken(object, first_error(&new)),
        (true, []) => Verdict::Clean(object),
        (true, _) => Verdict::NewWarning(object, new),
    })
}

/// The new text with an `#error` before each line that opens a window, and the
/// numbers of these lines.
fn probes(patched: &Patched) -> (Vec<u8>, Vec<usize>) {
    let lines: Vec<&[u8]> = patched.rewritten.split(|b| *b == b'\n').collect();
    let old: Vec<&[u8]> = patched.original.split(|b| *b == b'\n').collect();
    let new = added_lines(&old, &lines);
    // A style without a window has copies instead.
    let windows = new
        .iter()
        .any(|at| lines.get(*at).is_some_and(|line| opens(line)));
    let (mut text, mut places) = (Vec::new(), Vec::new());
    for (index, line) in lines.into_iter().enumerate() {
        if new.contains(&index) && (opens(line) || !windows && copies(line)) {
            places.push(index + 1);
            text.extend_from_slice(format!("#error {}\n", probe(index + 1)).as_bytes());
        }
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    (text, places)
}

/// The indices of the lines that only the second text has. That the same line
/// stands elsewhere in the first does not matter: functions look alike.
fn added_lines(old: &[&[u8]], new: &[&[u8]]) -> HashSet<usize> {
    let changes = capture_diff_slices(Algorithm::Patience, old, new);
    let added = changes
        .iter()
        .filter(|change| matches!(change.tag(), DiffTag::Insert | DiffTag::Replace));
    added.flat_map(DiffOp::new_range).collect()
}

fn probe(line: usize) -> String {
    format!("{PROBE} [{line}]")
}

fn opens(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start();
    // Behind an `if` without braces an #error may stand; behind `else` not.
    let begins = text.contains("_access_begin(") || text.starts_with("scoped_user_");
    begins && text.starts_with(|c: char| c.is_alphabetic())
}

/// What stopped the compiler: an error before any warning.
fn first_error(said: &[String]) -> String {
    let error = said.iter().find(|line| line.starts_with("error: "));
    let said = error.or(said.first()).cloned();
    said.unwrap_or_else(|| "the compiler failed without a word".to_owned())
}

/// Warnings and errors of the second text that the first has not as often.
fn added(before: &str, after: &str) -> Vec<String> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for line in before.lines().filter_map(complaint) {
        *known.entry(line).or_default() += 1;
    }
    let mut new: Vec<String> = Vec::new();
    for line in after.lines().filter_map(complaint) {
        match known.get_mut(&line) {
            Some(left) if *left > 0 => *left -= 1,
            _ => new.push(line),
        }
    }
    new
}

/// `warning: …` without its place, so that a line that moved is not new.
fn complaint(line: &str) -> Option<String> {
    let at = ["warning: ", "error: "]
        .iter()
        .filter_map(|word| line.find(word))
        .min()?;
    let text = line.get(at..)?;
    let mut parts = text.split("+0x");
    let first = parts.next().unwrap_or_default().to_owned();
    Some(parts.fold(first, |all, part| {
        all + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
    }))
}

/// The objects that may compile the file: its own, or those of its includers.
fn candidates(tree: &Tree, architecture: &Architecture, path: &TreePath) -> Vec<String> {
    let includers = includers(tree, architecture, path);
    let is_own = !path.is_header() && includers.is_empty();
    let own = is_own.then(|| path.clone());
    let all = own.into_iter().chain(includers).take(INCLUDERS);
    // make knows no object by a name that is no text.
    all.filter_map(|file| Some(format!("{}.o", file.as_text()?.strip_suffix(".c")?)))
        .collect()
}

/// C files that include it, nearest first; of a `.c` file only from its folder.
fn includers(tree: &Tree, architecture: &Architecture, path: &TreePath) -> Vec<TreePath> {
    let (folder, name) = (path.folder(), path.file());
    let stem = stem(name);
    let sources = tree.sources().paths;
    let may = |file: &&TreePath| {
        let own = path.is_header() || file.folder() == folder;
        own && !file.is_header() && *file != path && !is_foreign(architecture, file)
    };
    let mut found: Vec<TreePath> = sources
        .par_iter()
        .filter(may)
        // One that cannot be read cannot be compiled either.
        .filter(|file| matches!(tree.source(file), Ok(text) if includes(&text, name)))
        .cloned()
        .collect();
    let shared = |file: &TreePath| {
        let both = file.parts().zip(path.parts());
        both.take_while(|(a, b)| a == b).count()
    };
    found.sort_by_cached_key(|file| {
        let same = self::stem(file.file()) == stem;
        (!same, std::cmp::Reverse(shared(file)), file.clone())
    });
    found
}

/// A file's name up to its first dot.
fn stem(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == b'.').next().unwrap_or(name)
}

/// Whether a kernel of this architecture has no object of the file, or one that is
/// compiled with rules of its own.
fn is_foreign(architecture: &Architecture, file: &TreePath) -> bool {
    let own = format!("arch/{}/", architecture.name);
    let other = file.is_below("arch/") && !file.is_below(&own);
    let mut apart = architecture.own_rules();
    other || apart.any(|folder| file.is_below(&folder))
}

/// Whether an `#include` line of the text ends in that file name.
fn includes(text: &[u8], name: &[u8]) -> bool {
    let named = |line: &[u8]| {
        let path = line.trim_ascii().strip_prefix(b"#include");
        let path = path.map(<[u8]>::trim_ascii_start);
        let (open, rest) = path.and_then(<[u8]>::split_first)?;
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'>'));
        let path = rest.get(..end.unwrap_or(rest.len()))?;
        let file = path.rsplit(|byte| *byte == b'/').next()?;
        Some(matches!(open, b'"' | b'<') && file == name)
    };
    let mut lines = text.split(|byte| *byte == b'\n');
    memchr::memmem::find(text, name).is_some() && lines.any(|line| named(line) == Some(true))
}

fn copies(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let calls = ["copy_to_user(", "copy_from_user(", "t_user("];
    calls.iter().any(|call| text.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_said_before_is_new() {
        let before = "a.c:1:2: warning: unused x\nb.o: warning: objtool: f+0x12: call to g()\n";
        let after = "a.c:9:2: warning: unused x\nb.o: warning: objtool: f+0xab: call to g()\na.c:3: warning: unused x\n";
        assert_eq!(added(before, after), ["warning: unused x"]);
        assert_eq!(added(after, before), Vec::<String>::new());
    }

    #[test]
    fn an_include_is_known_by_its_last_part() {
        assert!(includes(b"#include <linux/eventpoll.h>\n", b"eventpoll.h"));
        assert!(includes(b"#include \"pcm_compat.c\"\n", b"pcm_compat.c"));
        assert!(!includes(
            b"#include <linux/xeventpoll.h>\n",
            b"eventpoll.h"
        ));
        assert!(!includes(b"// eventpoll.h\n", b"eventpoll.h"));
    }

    fn patched(original: &str, rewritten: &str) -> Patched {
        Patched {
            path: TreePath::top(),
            function: String::new(),
            original: original.into(),
            rewritten: rewritten.into(),
            subject: String::new(),
            body: String::new(),
            windows_before: 2,
            windows_after: 1,
            refused: Vec::new(),
        }
    }

    const WINDOW: &str = "\tif (!user_access_begin(p, 4))\n\t\treturn;\n";

    #[test]
    fn each_new_window_gets_a_probe() {
        let (text, places) = probes(&patched("a\n", &format!("a\n{WINDOW}")));
        assert_eq!(places, [2]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("a\n#error tollgate: this line is compiled [2]\n\tif"));
    }

    #[test]
    fn a_window_that_looks_like_another_gets_a_probe_too() {
        let old = format!("f\n{WINDOW}}}\n\ng\n{{\n\told();\n}}\n\nh\n{{\n");
        for (from, place) in [("\told();\n", 9), ("h\n", 12)] {
            let new = old.replace(from, &format!("{from}{WINDOW}"));
            assert_eq!(probes(&patched(&old, &new)).1, [place]);
        }
    }

    #[test]
    fn what_stood_there_before_gets_none() {
        let old = format!("b\n{WINDOW}}}\n");
        assert_eq!(probes(&patched(&old, &format!("a\n{old}"))).1, [0; 0]);
        assert_eq!(probes(&patched(&old, &old)).1, [0; 0]);
    }
}
