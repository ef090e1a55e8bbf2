//! `tollgate prove` from end to end on a fake tree and a fake QEMU: verdicts,
//! the cache, and everything that can go wrong on the way.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Lab, code, heeding_signals, run, snapshot};

/// The value of the JSON result.
fn result(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Fails with exit 2 and says all of `wanted`.
fn cannot_tell(lab: &Lab, command: &mut Command, wanted: &[&str]) -> String {
    let output = run(command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    for words in wanted {
        assert!(said.contains(words), "{words:?} is not in:\n{said}");
    }
    said
}

#[test]
fn a_gain_is_exit_0_with_a_page_and_json() {
    let lab = Lab::new();
    let (json, html) = (lab.path("out.json"), lab.path("out.html"));
    let output = run(lab
        .prove(&[])
        .arg("--json")
        .arg(&json)
        .arg("--html")
        .arg(&html));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains("out.json") && stdout.contains("out.html"),
        "{stdout}"
    );
    let page = fs::read_to_string(html).unwrap().to_lowercase();
    assert!(page.starts_with("<!doctype html>"));
    let schema = include_str!("../../../schema/prove.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = result(&json);
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn the_output_fits_80_columns() {
    let lab = Lab::new();
    let output = run(&mut lab.prove(&[]));
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let paths = |line: &&str| !line.contains("results/");
    let wide = stdout
        .lines()
        .filter(paths)
        .find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    assert!(!stdout.contains('\x1b') && !lab.said(&output).contains('\x1b'));
}

#[test]
fn a_second_run_builds_nothing_and_says_the_same() {
    let lab = Lab::new();
    let first = run(&mut lab.prove(&[]));
    let second = run(&mut lab.prove(&["--recount"]));
    assert_eq!(first.stdout, second.stdout);
    assert!(lab.said(&first).contains("built"), "{}", lab.said(&first));
    let said = lab.said(&second);
    assert_eq!(said.matches("from the cache").count(), 2, "{said}");
}

/// The kernels that a run boots, by what is said of its steps.
fn booted(lab: &Lab, args: &[&str]) -> (usize, String) {
    let log = lab.path("boots");
    fs::write(&log, "").unwrap();
    let json = lab.path("kept.json");
    let mut command = lab.prove(args);
    command.env("FAKE_QEMU_LOG", &log).arg("--json").arg(&json);
    let output = run(&mut command);
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let boots = fs::read_to_string(&log).unwrap().lines().count();
    let kept = &result(&json)["comparisons"][0]["setting"]["kept"];
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        *kept == true,
        stdout.contains("counts of an earlier run"),
        "{stdout}"
    );
    (boots, kept.to_string())
}

#[test]
fn what_the_base_counted_twice_is_not_counted_again() {
    let lab = Lab::new();
    assert_eq!(booted(&lab, &[]), (3, "null".into()));
    assert_eq!(booted(&lab, &[]), (1, "true".into()));
    assert_eq!(booted(&lab, &["--recount"]), (3, "null".into()));
    // Another plan is another guest.
    assert_eq!(booted(&lab, &["--param", "events=2"]), (3, "null".into()));
    // A tree of another content is another image.
    let gate = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
    lab.edit("kernel/gate.c", &(gate + "/* another */\n"));
    assert_eq!(booted(&lab, &[]), (3, "null".into()));
}

#[test]
fn counts_of_another_emulator_are_not_taken() {
    let lab = Lab::new();
    booted(&lab, &[]);
    let own = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu"));
    let other = lab.path("qemu");
    fs::write(&other, own.unwrap() + "\n# another build\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&other, mode).unwrap();
    let log = lab.path("boots");
    fs::write(&log, "").unwrap();
    let mut command = lab.tollgate(&["prove", "epoll", "--qemu"]);
    command.arg(&other).arg("--tree").arg(lab.tree());
    command.arg("--cache").arg(lab.cache());
    let output = run(command.env("FAKE_QEMU_LOG", &log));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 3);
}

/// A program that calls itself another compiler, and what it does when it is asked for
/// more.
fn other_compiler(lab: &Lab, does: &str) -> String {
    let path = lab.path("othercc");
    let version = "#!/bin/sh\n[ \"$1\" = --version ] && { echo othercc 4.2.0; exit; }\n";
    fs::write(&path, format!("{version}{does}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn each_compiler_makes_the_base_and_what_stands_against_it() {
    let lab = Lab::new();
    let json = lab.path("out.json");
    let both = format!("gcc,{}", other_compiler(&lab, "exec gcc \"$@\""));
    let mut command = lab.prove(&["--compiler", &both, "--json"]);
    let output = run(command.arg(&json));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let comparisons = result(&json)["comparisons"].clone();
    let of = |n: usize, what: &str| comparisons[n]["setting"][what].as_str().unwrap().to_owned();
    let named = |which: &serde_json::Value, n: usize| {
        let image = |side: &str| {
            let image = &which[n][side];
            format!("{} {}", image["letter"], image["variant"]).replace('"', "")
        };
        [image("before"), image("after")]
    };
    assert_eq!(named(&comparisons, 0), ["A base", "B window"]);
    let other = ["C base-othercc", "D window-othercc"];
    assert_eq!(named(&comparisons, 1), other);
    assert_eq!(comparisons.as_array().unwrap().len(), 2);
    assert!(!of(0, "compiler").contains("othercc"));
    assert_eq!(of(1, "compiler"), "othercc 4.2.0");
    assert_eq!(of(1, "patch"), of(0, "patch"));
    // What another compiler makes of the base is no verdict on the patch.
    let pairs = result(&json)["pairs"].clone();
    assert_eq!(named(&pairs, 0), ["A base", "C base-othercc"]);
    assert_eq!(pairs.as_array().unwrap().len(), 1);
    let images = fs::read_dir(lab.cache().join("images")).unwrap().count();
    assert_eq!(images, 4);
    // What repeats it names both.
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("othercc 4.2.0"), "{stdout}");
    for (words, wanted) in [
        (["--compiler", "gcc,gcc"], "gcc is named twice"),
        (["--compiler", "gcc,no-such-cc"], "no-such-cc"),
    ] {
        let said = cannot_tell(&lab, &mut lab.prove(&words), &[wanted]);
        assert!(!said.contains("read the tree"), "{said}");
    }
}

/// What one compiler cannot make leaves what another made.
#[test]
fn a_base_that_another_compiler_cannot_make_is_named() {
    let lab = Lab::new();
    let json = lab.path("out.json");
    let does = "echo othercc: no such option >&2; exit 1";
    let both = format!("gcc,{}", other_compiler(&lab, does));
    let mut command = lab.prove(&["--compiler", &both, "--json"]);
    let output = run(command.arg(&json));
    assert_eq!(code(&output), 2, "{}", lab.said(&output));
    let result = result(&json);
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 1);
    assert_eq!(result["comparisons"][0]["verdict"], "gain");
    let not_run = result["not_run"].as_array().unwrap();
    let said = |n: usize, what: &str| not_run[n][what].as_str().unwrap();
    assert_eq!(said(0, "variant"), "base-othercc");
    assert!(said(0, "reason").contains("no such option"), "{not_run:?}");
    assert_eq!(said(1, "variant"), "window-othercc");
    let wanted = "base-othercc was not run, and there is nothing else to hold it against";
    assert_eq!(said(1, "reason"), wanted);
}

#[test]
fn counts_that_did_not_repeat_are_not_kept() {
    let lab = Lab::new();
    let mut drifting = lab.prove(&[]);
    assert_eq!(code(&run(drifting.env("FAKE_QEMU", "drift"))), 2);
    assert_eq!(booted(&lab, &[]), (3, "null".into()));
}

/// Where repetitions differ, one boot decides nothing; exact counts need no second.
#[test]
fn medians_are_those_of_two_boots_that_agree() {
    let proved = |late: &str| {
        let lab = Lab::new();
        let (log, json) = (lab.path("boots"), lab.path("own.json"));
        let mut command = lab.prove(&[]);
        command
            .env("FAKE_QEMU", "timers")
            .env("FAKE_QEMU_LOG", &log);
        command.env("FAKE_QEMU_LATE", late).arg("--json").arg(&json);
        let output = run(&mut command);
        assert_eq!(code(&output), 0, "{}", lab.said(&output));
        let boots = fs::read_to_string(&log).unwrap().lines().count();
        let comparison = result(&json)["comparisons"][0].clone();
        (boots, comparison)
    };
    let (boots, right) = proved("");
    assert_eq!(boots, 5, "A twice and once again, B twice");
    assert_eq!(right["notes"], serde_json::json!([]));
    // The base's first, its first again, the variant's first and second.
    for (late, wanted) in [("1", 6), ("3", 6), ("4", 6), ("5", 6)] {
        let (boots, found) = proved(late);
        assert_eq!(boots, wanted, "{late}");
        assert_eq!(found["workloads"], right["workloads"], "{late}");
        assert_eq!(found["notes"][0]["kind"], "differing", "{late}");
        let note = found["notes"][0].to_string();
        assert!(note.contains("1 more boot gave other counts"), "{note}");
    }
}

#[test]
fn the_tree_is_only_read() {
    let lab = Lab::new();
    let before = snapshot(&lab.tree());
    run(&mut lab.prove(&[]));
    assert_eq!(snapshot(&lab.tree()), before);
}

#[test]
fn an_edited_tree_is_another_image() {
    let lab = Lab::new();
    run(&mut lab.prove(&[]));
    lab.edit(
        "kernel/gate.c",
        "int gate(const char *what) { return what[0] == 1; }\n",
    );
    let said = lab.said(&run(&mut lab.prove(&[])));
    assert!(!said.contains("from the cache"), "{said}");
}

#[test]
fn other_behaviour_is_exit_1_and_shown() {
    let lab = Lab::new();
    let output = run(lab.prove(&[]).env("FAKE_QEMU", "differ"));
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("end/1"), "{stdout}");
}

#[test]
fn a_run_that_does_not_repeat_gives_no_verdict() {
    let lab = Lab::new();
    cannot_tell(
        &lab,
        lab.prove(&[]).env("FAKE_QEMU", "drift"),
        &["no verdict"],
    );
}

#[test]
fn counts_that_cannot_be_read_are_no_result() {
    let lab = Lab::new();
    cannot_tell(
        &lab,
        lab.prove(&[]).env("FAKE_QEMU", "garbage"),
        &["the run of base cannot be used"],
    );
}

#[test]
fn no_tree() {
    let lab = Lab::new();
    let mut command = lab.tollgate(&["prove", "epoll", "--tree", "nowhere", "--cache", "cache"]);
    cannot_tell(
        &lab,
        &mut command,
        &["no tree at nowhere", "give the top folder"],
    );
}

#[test]
fn a_tree_that_is_no_kernel() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    let mut command = lab.tollgate(&["prove", "epoll", "--tree", "empty", "--cache", "cache"]);
    cannot_tell(
        &lab,
        &mut command,
        &["is no kernel tree: it has no Makefile"],
    );
}

#[test]
fn no_case_of_that_name() {
    let lab = Lab::new();
    let mut command = lab.tollgate(&["prove", "epol", "--cache", "cache"]);
    cannot_tell(
        &lab,
        &mut command,
        &["invalid value 'epol'", "a similar value exists: 'epoll'"],
    );
}

#[test]
fn a_function_that_is_not_there() {
    let lab = Lab::new();
    lab.edit(
        "include/linux/eventpoll.h",
        "#include <linux/uaccess.h>\nint other(void);\n",
    );
    cannot_tell(
        &lab,
        &mut lab.prove(&[]),
        &["include/linux/eventpoll.h", "epoll_put_uevent"],
    );
}

#[test]
fn a_patch_that_does_not_apply_shows_its_hunk() {
    let lab = Lab::new();
    let patch =
        "--- a/kernel/gate.c\n+++ b/kernel/gate.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    fs::write(lab.path("bad.patch"), patch).unwrap();
    let wanted = [
        "does not apply to Linux 6.12.0-fake",
        "kernel/gate.c",
        "  -two\n  +2",
    ];
    cannot_tell(&lab, &mut lab.prove(&["--patch", "bad.patch"]), &wanted);
}

#[test]
fn no_patch_there() {
    let lab = Lab::new();
    cannot_tell(
        &lab,
        &mut lab.prove(&["--patch", "nowhere.patch"]),
        &["nowhere.patch"],
    );
}

#[test]
fn a_build_that_fails_shows_the_first_error_and_names_the_log() {
    let lab = Lab::new();
    lab.edit(
        "kernel/gate.c",
        "int gate(const char *what)\n{\n\treturn nothing;\n}\n",
    );
    let said = cannot_tell(
        &lab,
        &mut lab.prove(&[]),
        &[
            "the build of base failed",
            "kernel/gate.c:3:16: error",
            "build.log",
        ],
    );
    let log = said
        .rsplit("The whole log is ")
        .next()
        .unwrap()
        .trim()
        .replace("LAB", &lab.path("").display().to_string());
    assert!(fs::read_to_string(log).unwrap().contains("nothing"));
}

#[test]
fn a_build_that_was_mended_goes_on() {
    let lab = Lab::new();
    let good = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
    lab.edit(
        "kernel/gate.c",
        "int gate(const char *what)\n{\n\treturn nothing;\n}\n",
    );
    assert_eq!(code(&run(&mut lab.prove(&[]))), 2);
    lab.edit("kernel/gate.c", &good);
    let output = run(&mut lab.prove(&[]));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
}

#[test]
fn a_kernel_that_panics_leaves_its_last_words() {
    let lab = Lab::new();
    let wanted = ["the kernel of base panicked: Kernel panic - not syncing: no init. Its"];
    let said = cannot_tell(&lab, lab.prove(&[]).env("FAKE_QEMU", "panic"), &wanted);
    assert!(
        kept_console(&lab, &said).contains("Unable to mount"),
        "{said}"
    );
}

/// The whole console that a message names.
fn kept_console(lab: &Lab, said: &str) -> String {
    let path = said.split("The whole console is ").nth(1).unwrap();
    let path = path.lines().next().unwrap();
    fs::read_to_string(path.replace("LAB", &lab.path("").display().to_string())).unwrap()
}

#[test]
fn a_bug_at_boot_has_its_line_and_its_call_trace() {
    let lab = Lab::new();
    for (what, how) in [
        ("bug", "panicked"),
        ("oops", "broke, and nothing that it counted"),
    ] {
        let wanted = [
            how,
            "kernel BUG at fs/eventpoll.c:2203!",
            "RIP: 0010:do_epoll_create+0x1a/0x120",
            "   __x64_sys_epoll_create1+0x12/0x20\n",
        ];
        let said = cannot_tell(&lab, lab.prove(&[]).env("FAKE_QEMU", what), &wanted);
        assert!(!said.contains("R20: 0000"), "{said}");
        assert!(kept_console(&lab, &said).contains("R20: 0000"), "{said}");
    }
}

#[test]
fn a_variant_that_hangs_is_given_up_after_what_the_base_took() {
    let lab = Lab::new();
    let wanted = [
        "the kernel of window did not end within 10 s (10 times what the first boot of A took, ",
        " s, and at least 10 s) and was stopped. The last lines",
        "Waiting for something",
        "--timeout SECONDS",
    ];
    cannot_tell(
        &lab,
        lab.prove(&[]).env("FAKE_QEMU", "hang-window"),
        &wanted,
    );
    let said = cannot_tell(
        &lab,
        lab.prove(&["--timeout", "8"])
            .env("FAKE_QEMU", "hang-window"),
        &["the kernel of window did not end within 8 s and was stopped. The"],
    );
    assert!(kept_console(&lab, &said).contains("Waiting for"), "{said}");
}

/// It is given up as early where the base is not booted, and then by what the base takes
/// today.
#[test]
fn a_variant_that_hangs_beside_kept_counts_is_given_up_as_soon() {
    let lab = Lab::new();
    booted(&lab, &[]);
    let log = lab.path("boots");
    fs::write(&log, "").unwrap();
    let mut command = lab.prove(&[]);
    command.env("FAKE_QEMU", "hang-window");
    let wanted = [
        "counts from the cache",
        "boot A (base) after all",
        "the kernel of window did not end within 10 s (10 times what the first boot of A took, ",
    ];
    cannot_tell(&lab, command.env("FAKE_QEMU_LOG", &log), &wanted);
    // The variant, the base twice, the variant.
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 4);
    // That the base was booted again is no reason to boot it next time.
    assert_eq!(booted(&lab, &[]), (1, "true".into()));
    let mut command = lab.prove(&["--timeout", "1"]);
    let wanted = ["the kernel of window did not end within 1 s and was stopped"];
    fs::write(&log, "").unwrap();
    command.env("FAKE_QEMU", "hang-window");
    cannot_tell(&lab, command.env("FAKE_QEMU_LOG", &log), &wanted);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 1);
}

#[test]
fn a_job_that_hangs_is_named() {
    let lab = Lab::new();
    let wanted = ["did not end within 8 s and was stopped in bench epoll_wait events=1. The last"];
    cannot_tell(
        &lab,
        lab.prove(&["--timeout", "8"]).env("FAKE_QEMU", "hang-job"),
        &wanted,
    );
}

#[test]
fn a_kernel_that_hangs_is_stopped() {
    let lab = Lab::new();
    let wanted = [
        "did not end within 8 s",
        "Waiting for something",
        "--timeout",
    ];
    cannot_tell(
        &lab,
        lab.prove(&["--timeout", "8"]).env("FAKE_QEMU", "hang"),
        &wanted,
    );
}

#[test]
fn a_guest_that_dies_leaves_its_last_words() {
    let lab = Lab::new();
    let wanted = ["ended before its work was done", "could not load PC BIOS"];
    let said = cannot_tell(&lab, lab.prove(&[]).env("FAKE_QEMU", "die"), &wanted);
    assert!(kept_console(&lab, &said).contains("PC BIOS"), "{said}");
}

#[test]
fn a_result_that_has_no_folder_is_refused_before_the_work() {
    let lab = Lab::new();
    for flag in ["--json", "--html"] {
        let said = cannot_tell(
            &lab,
            &mut lab.prove(&[flag, "nowhere/out"]),
            &["nowhere/out", flag],
        );
        assert!(!said.contains("build kernel"), "{said}");
    }
}

#[test]
fn no_qemu() {
    let lab = Lab::new();
    let mut command = lab.tollgate(&[
        "prove",
        "epoll",
        "--cache",
        "cache",
        "--qemu",
        "qemu-nowhere",
    ]);
    command.arg("--tree").arg(lab.tree());
    cannot_tell(
        &lab,
        &mut command,
        &["could not start qemu-nowhere", "tollgate doctor"],
    );
}

#[test]
fn a_qemu_that_nobody_has_looked_at() {
    let lab = Lab::new();
    let wanted = ["QEMU 99.0.0 is not known", "6.2 to 11.1", "--qemu"];
    cannot_tell(
        &lab,
        lab.prove(&[]).env("FAKE_QEMU_VERSION", "99.0.0"),
        &wanted,
    );
}

#[test]
fn the_second_of_two_waits_and_says_for_whom() {
    let lab = Lab::new();
    lab.edit("sleep", "10\n");
    let mut first = lab
        .prove(&[])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&lab.cache().join("work"), &mut first);
    let second = run(&mut lab.prove(&[]));
    let said = lab.said(&second);
    assert_eq!(code(&second), 0, "{said}");
    let holder = format!("waiting for process {} (prove ", first.id());
    assert!(said.contains(&holder) && said.contains("--cache"), "{said}");
    // The times that are listed add up to what it took.
    assert!(said.contains("\nwait for the cache  "), "{said}");
    assert!(first.wait().unwrap().success());
}

#[test]
fn an_interrupt_during_a_build_leaves_nothing_and_the_next_run_goes_on() {
    let lab = Lab::new();
    lab.edit("sleep", "30\n");
    let work = lab.cache().join("work");
    interrupted(&lab, &mut lab.prove(&[]), &work, "INT", 130);
    assert!(!lab.cache().join("images").exists());
    fs::remove_file(lab.tree().join("sleep")).unwrap();
    let output = run(&mut lab.prove(&[]));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
}

#[test]
fn an_interrupt_during_a_boot_leaves_the_images() {
    let lab = Lab::new();
    assert_eq!(code(&run(lab.prove(&[]).env("FAKE_QEMU", "die"))), 2);
    let scratch = lab.cache().join("scratch");
    let mut hanging = lab.prove(&[]);
    let hanging = hanging.env("FAKE_QEMU", "hang");
    interrupted(&lab, hanging, &scratch, "TERM", 143);
    let said = lab.said(&run(&mut lab.prove(&[])));
    assert_eq!(said.matches("from the cache").count(), 2, "{said}");
}

#[test]
fn a_cache_that_cannot_be_written_says_what_to_do() {
    let lab = Lab::new();
    fs::write(lab.path("file"), "").unwrap();
    let mut command = lab.tollgate(&["prove", "epoll", "--cache", "file/cache"]);
    cannot_tell(&lab, &mut command, &["could not write file/cache"]);
}

/// Sends a signal once `sign` is there, and expects that exit code and a sentence:
/// a program that went on would end with another.
fn interrupted(lab: &Lab, command: &mut Command, sign: &Path, signal: &str, wanted: i32) {
    let mut child = heeding_signals(command)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(sign, &mut child);
    std::thread::sleep(Duration::from_millis(800));
    // The shell's own kill: the program of that name is in a package that a
    // small system does not have.
    let kill = format!("kill -{signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let said = lab.said(&output);
    assert_eq!(code(&output), wanted, "{said}");
    assert!(
        said.contains("interrupted; nothing half-written is kept"),
        "{said}"
    );
}

/// Waits for a path that a running program makes, however slow the machine is.
fn wait_for(path: &Path, program: &mut Child) {
    while !path.exists() {
        let ended = program.try_wait().unwrap();
        assert!(ended.is_none(), "{} never came: {ended:?}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}
