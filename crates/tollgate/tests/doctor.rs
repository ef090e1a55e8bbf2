//! What is said of a machine that has nothing, and of one that has what `prove` needs.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A machine: what its PATH has.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let machine = Self { dir };
        for folder in [
            "bin",
            "linux/scripts",
            "linux/include",
            "linux/arch/x86",
            "cache",
        ] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        let makefile = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\nEXTRAVERSION =\n";
        fs::write(machine.path("linux/Makefile"), makefile).unwrap();
        for file in [
            "linux/Kconfig",
            "linux/Kbuild",
            "linux/scripts/README",
            "linux/arch/x86/README",
        ] {
            fs::write(machine.path(file), "").unwrap();
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A program that does what the lines of a shell say.
    fn program(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What `prove` needs, made up.
    fn equip(&self) {
        for name in ["make", "ld", "bc", "bison", "flex", "perl"] {
            self.program(name, "true");
        }
        // A compiler that writes what it is asked for, but of no other ABI.
        self.program(
            "gcc",
            "case $1 in --version) echo 'gcc (made up) 12.2.0'; exit ;; esac\n\
             case $* in *-m32*|*-mx32*) echo 'error: no such ABI' >&2; exit 1 ;; esac\n\
             while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then : >\"$2\"; fi; shift; done",
        );
        self.qemu("-plugin [file=]<file>");
    }

    fn qemu(&self, help: &str) {
        self.program(
            "qemu-system-x86_64",
            &format!("case $1 in --version) echo 'QEMU emulator version 8.2.0' ;; *) echo '{help}' ;; esac"),
        );
    }

    fn doctor(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command
            .arg("doctor")
            .args(args)
            .current_dir(self.dir.path());
        for name in ["TREE", "CACHE", "COMPILER", "QEMU", "CONFIG_FILE"] {
            command.env_remove(format!("TOLLGATE_{name}"));
        }
        command.env("PATH", self.path("bin"));
        let (tree, cache) = (self.path("linux"), self.path("cache"));
        command.arg("--tree").arg(tree).arg("--cache").arg(cache);
        command.output().unwrap()
    }

    fn json(&self) -> (Option<i32>, serde_json::Value) {
        let output = self.doctor(&["--format", "json"]);
        let json = serde_json::from_slice(&output.stdout);
        (output.status.code(), json.unwrap())
    }
}

fn check<'j>(json: &'j serde_json::Value, name: &str) -> &'j serde_json::Value {
    let mut checks = json["checks"].as_array().unwrap().iter();
    checks.find(|check| check["name"] == name).unwrap()
}

fn can(json: &serde_json::Value, job: &str) -> bool {
    let mut jobs = json["can"].as_array().unwrap().iter();
    jobs.find(|one| one["name"] == job).unwrap()["can"] == true
}

#[test]
fn a_machine_that_has_nothing_is_not_fit_and_is_told_what_mends_it() {
    let machine = Machine::new();
    let (code, json) = machine.json();
    assert_eq!(code, Some(2));
    for job in ["prove", "run", "robot", "fix --check"] {
        assert!(!can(&json, job), "{job}");
    }
    for (name, package) in [
        ("QEMU", "qemu-system-x86"),
        ("flex", "flex"),
        ("libelf.h", "libelf-dev"),
    ] {
        let mend = check(&json, name)["mend"].as_str().unwrap();
        assert!(mend.ends_with(package), "{name}: {mend}");
    }
    // Every check that is not good and that something needs has a line that mends it.
    for one in json["checks"].as_array().unwrap() {
        let needed = !one["jobs"].as_array().unwrap().is_empty();
        let line = one["mend"].as_str();
        assert!(one["good"] == true || !needed || line.is_some(), "{one}");
        assert!(line.is_none_or(|line| !line.contains('\n')), "{one}");
    }
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/doctor.schema.json");
    let schema = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&json));
    let said = machine.doctor(&[]);
    let text = String::from_utf8(said.stdout).unwrap();
    // Nobody is sent to where he is.
    assert!(!text.contains("tollgate doctor"), "{text}");
    assert!(text.contains("qemu-system-x86_64 is not in PATH"), "{text}");
    assert!(
        text.contains("NOT FIT") && text.contains("What mends it"),
        "{text}"
    );
}

/// What all of `prove` needs its parts need as well; the usual machine's emulator is no
/// matter of another architecture.
#[test]
fn a_part_of_a_job_cannot_run_where_the_job_cannot() {
    let machine = Machine::new();
    machine.equip();
    machine.program("git", "true");
    let (_, json) = machine.json();
    assert!(can(&json, "prove --patch"), "{json:#}");
    fs::remove_file(machine.path("bin/flex")).unwrap();
    let (_, json) = machine.json();
    for job in ["prove", "prove --patch", "prove, the first time"] {
        assert!(!can(&json, job), "{job}: {json:#}");
    }
    machine.equip();
    fs::remove_file(machine.path("bin/qemu-system-x86_64")).unwrap();
    let (_, json) = machine.json();
    assert!(!can(&json, "prove --patch"), "{json:#}");
    assert!(can(&json, "check --patch"), "{json:#}");
}

#[test]
fn a_machine_that_has_what_prove_needs_is_fit_whatever_else_it_lacks() {
    let machine = Machine::new();
    machine.equip();
    let (code, json) = machine.json();
    assert!(can(&json, "prove"), "{json:#}");
    assert_eq!(code, Some(0));
    assert_eq!(
        check(&json, "QEMU")["found"],
        "qemu-system-x86_64 8.2.0, plugin API 1"
    );
    assert_eq!(check(&json, "compiler")["found"], "gcc (made up) 12.2.0");
    for lacking in ["guests ia32", "git", "perf", "robot cells"] {
        assert_eq!(check(&json, lacking)["good"], false, "{lacking}");
    }
    assert!(can(&json, "run") && !can(&json, "robot"));
    assert_eq!(check(&json, "source")["good"], true);
    // dpkg is not there, so that its packages are only named.
    let mend = check(&json, "git")["mend"].as_str().unwrap();
    assert_eq!(mend, "install what Debian calls git");
    machine.program("dpkg", "true");
    let (_, json) = machine.json();
    assert_eq!(check(&json, "git")["mend"], "apt-get install git");
}

#[test]
fn a_qemu_without_plugins_cannot_count() {
    let machine = Machine::new();
    machine.equip();
    machine.qemu("-smp n");
    let (code, json) = machine.json();
    assert_eq!(code, Some(2));
    let found = check(&json, "QEMU")["found"].as_str().unwrap().to_owned();
    assert!(found.contains("built without plugins"), "{found}");
}

#[test]
fn the_settings_that_hold_are_told_with_their_places() {
    let machine = Machine::new();
    machine.equip();
    fs::write(machine.path("tollgate.toml"), "\nqemu = \"qemu-none\"\n").unwrap();
    let (code, json) = machine.json();
    assert_eq!(code, Some(2));
    let settings = json["settings"].as_array().unwrap();
    let qemu = settings.iter().find(|one| one["key"] == "qemu").unwrap();
    assert_eq!(qemu["value"], "qemu-none");
    assert!(
        qemu["from"].as_str().unwrap().ends_with("tollgate.toml:2"),
        "{qemu}"
    );
    let tree = settings.iter().find(|one| one["key"] == "tree").unwrap();
    assert_eq!(tree["from"], "the command line");
}
