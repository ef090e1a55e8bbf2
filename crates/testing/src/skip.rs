//! Tests that do not run, or not all of them.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;

use serde::Deserialize;

/// A file to which each skip is added as a line.
const COUNTED: &str = "TOLLGATE_SKIPPED";
/// Set to 1: what this machine lacks fails.
const ALL: &str = "TOLLGATE_TEST_ALL";

const LIST: &str = include_str!("../../../tests/data/skips.toml");

/// `tests/data/skips.toml`.
#[derive(Deserialize)]
struct List {
    elsewhere: Vec<Elsewhere>,
    asked: Vec<Asked>,
}

#[derive(Deserialize)]
struct Elsewhere {
    name: String,
    reason: String,
}

#[derive(Deserialize)]
struct Asked {
    variable: String,
    reason: String,
}

fn list() -> List {
    toml::from_str(LIST).unwrap_or_else(|error| panic!("tests/data/skips.toml: {error}"))
}

/// The test cannot run for something that this machine lacks and could have;
/// `remedy` says how it is had.
///
/// # Panics
/// Where `TOLLGATE_TEST_ALL` is 1.
pub fn missing(what: &str, remedy: &str) {
    if env::var_os(ALL).is_some_and(|all| all == "1") {
        panic!("{what} is missing ({remedy}), and {ALL}=1 lets no test pass without it");
    }
    note(&format!("{what} is missing: {remedy}"));
}

/// The test cannot apply to this machine, whatever is installed; the name is one of
/// `tests/data/skips.toml`, where its reason stands.
///
/// # Panics
/// Where the list does not have the name.
pub fn elsewhere(name: &str) {
    let list = list();
    let known = list.elsewhere.iter().find(|known| known.name == name);
    match known {
        Some(known) => note(&known.reason),
        None => panic!("{name} is not in tests/data/skips.toml: a skip has its reason there"),
    }
}

/// The value of a variable that asks for a test which only runs when it is asked
/// for; the reason is in `tests/data/skips.toml`.
///
/// # Panics
/// Where the list does not have the variable.
#[must_use]
pub fn asked(variable: &str) -> Option<OsString> {
    let list = list();
    let Some(known) = list.asked.iter().find(|known| known.variable == variable) else {
        panic!("{variable} is not in tests/data/skips.toml: a skip has its reason there");
    };
    let value = env::var_os(variable);
    if value.is_none() {
        note(&format!("{variable} asks for it: {}", known.reason));
    }
    value
}

/// Says a skip on the real standard error, since the test runner keeps what
/// `eprintln!` writes of a test that passes, and counts it.
fn note(words: &str) {
    let program = env::current_exe().unwrap();
    let program = program.file_stem().unwrap().to_string_lossy();
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let thread = thread::current();
    let test = thread.name().unwrap_or("a thread");
    let line = format!("skipped: {program}: {test}: {words}\n");
    io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(file) = env::var_os(COUNTED) {
        count(Path::new(&file), &line);
    }
}

fn count(file: &Path, line: &str) {
    let open = File::options().create(true).append(true).open(file);
    let done = open.and_then(|mut file| file.write_all(line.as_bytes()));
    done.unwrap_or_else(|error| panic!("{}: a skip is not counted: {error}", file.display()));
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    /// A test that does nothing unless another runs it.
    #[test]
    fn one_that_is_run_by_others() {
        match env::var("TOLLGATE_TESTING").as_deref() {
            Ok("missing") => missing("a tool", "apt-get install it"),
            Ok("elsewhere") => elsewhere("graphics-card"),
            Ok("unknown") => elsewhere("no such reason"),
            Ok("asked") => assert_eq!(asked("TOLLGATE_FAULTS"), None),
            _ => {}
        }
    }

    /// This test program again, with that one test alone, as cargo runs it: the
    /// output of a test that passes is kept.
    fn run(what: &str, all: bool, counted: &Path) -> Output {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "skip::tests::one_that_is_run_by_others"]);
        command.env_remove(ALL).env_remove("TOLLGATE_FAULTS");
        command.env("TOLLGATE_TESTING", what).env(COUNTED, counted);
        if all {
            command.env(ALL, "1");
        }
        command.output().unwrap()
    }

    #[test]
    fn a_skip_is_seen_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let counted = folder.path().join("skipped");
        for (what, words) in [
            ("missing", "a tool is missing: apt-get install it"),
            ("elsewhere", "a graphics card"),
            ("asked", "TOLLGATE_FAULTS asks for it"),
        ] {
            let output = run(what, false, &counted);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            let begin = "skipped: tollgate_testing: skip::tests::one_that_is_run_by_others: ";
            assert!(said.contains(begin) && said.contains(words), "{said}");
        }
        let lines = std::fs::read_to_string(counted).unwrap();
        assert_eq!(lines.lines().count(), 3, "{lines}");
    }

    #[test]
    fn what_is_missing_fails_where_all_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let counted = folder.path().join("skipped");
        assert!(!run("missing", true, &counted).status.success());
        assert!(!run("unknown", false, &counted).status.success());
        // What cannot apply here has its reason in the list.
        assert!(run("elsewhere", true, &counted).status.success());
        assert!(run("asked", true, &counted).status.success());
        assert!(run("nothing", true, &counted).status.success());
    }

    #[test]
    fn a_skip_that_is_not_counted_fails() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("no/such/folder");
        assert!(!run("missing", false, &nowhere).status.success());
    }

    #[test]
    fn each_entry_of_the_list_has_its_reason() {
        let list = list();
        let elsewhere = list.elsewhere.iter().map(|one| (&one.name, &one.reason));
        let asked = list.asked.iter().map(|one| (&one.variable, &one.reason));
        for (name, reason) in elsewhere.chain(asked) {
            assert!(reason.len() > 20 && !reason.contains('\n'), "{name}");
        }
    }
}
