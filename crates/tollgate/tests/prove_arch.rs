//! `tollgate prove --arch` on a fake tree and a fake QEMU: whose tools build, what
//! is booted, and what an architecture lacks.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use support::{Lab, code, run};

/// A cross compiler that is this machine's own: the fake tree is x86's.
fn cross_compiler(lab: &Lab, name: &str) -> PathBuf {
    let folder = lab.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'cross (fake) 12.2.0' && exit\nexec gcc \"$@\"\n";
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn with_path(command: &mut Command, folder: &std::path::Path) {
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.display()));
}

/// `prove epoll --arch arm64`, with a cross compiler.
fn prove(lab: &Lab, args: &[&str]) -> Command {
    let bin = cross_compiler(lab, "aarch64-linux-gnu-gcc");
    let mut command = lab.prove(&["--arch", "arm64"]);
    command.args(args);
    with_path(&mut command, &bin);
    command
}

/// The folders of the images that are cached, each with its record.
fn images(lab: &Lab) -> Vec<(PathBuf, serde_json::Value)> {
    let folders = fs::read_dir(lab.cache().join("images")).unwrap();
    let image = |folder: PathBuf| {
        let record = fs::read(folder.join("image.json")).unwrap();
        (folder, serde_json::from_slice(&record).unwrap())
    };
    folders.map(|entry| image(entry.unwrap().path())).collect()
}

#[test]
fn another_architecture_is_built_with_its_tools_and_named() {
    let lab = Lab::new();
    let json = lab.path("out.json");
    let output = run(prove(&lab, &["--json"]).arg(&json));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let value: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let setting = &value["comparisons"][0]["setting"];
    assert_eq!(setting["arch"], "arm64");
    assert_eq!(setting["config"], "arm64-core");
    assert_eq!(setting["compiler"], "cross (fake) 12.2.0");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("arm64"), "{stdout}");
    for (folder, record) in images(&lab) {
        assert_eq!(record["boots"], "Image");
        let image = fs::read(folder.join("Image")).unwrap();
        assert!(image.ends_with(b"aarch64-linux-gnu-\n"));
        assert!(folder.join("vmlinux").is_file());
    }
}

#[test]
fn a_gate_that_does_not_say_which_way_is_counted_by_its_writes() {
    let lab = Lab::new();
    let bin = cross_compiler(&lab, "powerpc64le-linux-gnu-gcc");
    let json = lab.path("out.json");
    let mut command = lab.prove(&["--arch", "ppc64le", "--json"]);
    command.arg(&json);
    with_path(&mut command, &bin);
    let output = run(&mut command);
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let value: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let comparison = &value["comparisons"][0];
    assert_eq!(comparison["setting"]["config"], "ppc64le-core");
    let workloads = comparison["workloads"].as_array().unwrap();
    let row = workloads
        .iter()
        .find(|row| row["parameters"]["events"] == 64)
        .unwrap();
    let figures = &row["per_unit"];
    assert_eq!(figures["opens"]["before"], 0.0);
    assert_eq!(figures["writes"]["before"], 4.0);
    assert_eq!(figures["writes"]["after"], 2.0);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("4 -> 2"), "{stdout}");
    for (folder, record) in images(&lab) {
        assert_eq!(record["boots"], serde_json::Value::Null);
        assert!(folder.join("vmlinux").is_file());
    }
}

#[test]
fn a_kernel_that_is_booted_as_it_is_has_no_other_file() {
    let lab = Lab::new();
    assert_eq!(code(&run(&mut lab.prove(&[]))), 0);
    for (folder, record) in images(&lab) {
        assert_eq!(record["boots"], serde_json::Value::Null);
        assert!(!folder.join("Image").exists());
    }
}

#[test]
fn images_of_two_architectures_stay_apart() {
    let lab = Lab::new();
    run(&mut lab.prove(&[]));
    let said = lab.said(&run(&mut prove(&lab, &[])));
    assert!(!said.contains("from the cache"), "{said}");
    let said = lab.said(&run(&mut lab.prove(&[])));
    assert_eq!(said.matches("from the cache").count(), 3, "{said}");
    assert_eq!(images(&lab).len(), 4);
}

fn cannot_tell(lab: &Lab, command: &mut Command, wanted: &[&str]) {
    let output = run(command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    for words in wanted {
        assert!(said.contains(words), "{words:?} is not in:\n{said}");
    }
}

#[test]
fn a_missing_cross_compiler_is_a_sentence_with_what_to_install() {
    let lab = Lab::new();
    let wanted = [
        "could not start aarch64-linux-gnu-gcc",
        "scripts/setup --arch arm64",
        "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm",
    ];
    let mut command = lab.prove(&["--arch", "arm64"]);
    cannot_tell(&lab, command.env("PATH", lab.path("nothing")), &wanted);
}

#[test]
fn a_case_about_one_architecture_is_refused_on_another() {
    let lab = Lab::new();
    let mut command = lab.tollgate(&["prove", "fpu-defer", "--arch", "arm64"]);
    let wanted = "the case fpu-defer is about x86_64, and cannot be proved on arm64";
    cannot_tell(&lab, &mut command, &[wanted]);
}

#[test]
fn a_profile_that_an_architecture_lacks_is_a_sentence() {
    let lab = Lab::new();
    let mut command = prove(&lab, &["--config", "distro"]);
    let wanted = [
        "no configuration fragment is called arm64-distro",
        "arm64-minimal",
    ];
    cannot_tell(&lab, &mut command, &wanted);
}

#[test]
fn jobs_of_an_abi_that_an_architecture_lacks_are_named() {
    let lab = Lab::new();
    let patch = "--- a/kernel/gate.c\n+++ b/kernel/gate.c\n@@ -1,3 +1,4 @@\n \
                 // SPDX-License-Identifier: MIT OR Apache-2.0\n+// Nothing more.\n \
                 #include <linux/uaccess.h>\n \n";
    fs::write(lab.path("nothing.patch"), patch).unwrap();
    let bin = cross_compiler(&lab, "aarch64-linux-gnu-gcc");
    let case = ["prove", "alsa-sync-ptr", "--arch", "arm64"];
    let mut command = lab.tollgate(&case);
    command.args(["--patch", "nothing.patch"]);
    with_path(lab.on_fakes(&mut command), &bin);
    let output = run(&mut command);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        stdout.contains("arm64 guests have no ABI ia32; they have none"),
        "{stdout}\n{}",
        lab.said(&output)
    );
}
