//! The build robot as its users meet it: what is refused at the door, what is said of
//! modules, rules and options, what is stopped and goes on.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

mod robot_room;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use robot_room::{BREAKS, Room, both};
use support::{code, run, snapshot};

fn tollgate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(args).env_remove("TOLLGATE_CACHE");
    command
}

/// A mail of a series of three.
fn mail(number: usize, diff: &str) -> String {
    format!(
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
         From: A B <a@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\
         Message-ID: <{number}@example.org>\nSubject: [PATCH {number}/3] step {number}\n\n\
         Why.\n---\n{diff}-- \n2.39.5\n\n"
    )
}

#[test]
fn what_is_no_patch_is_refused_before_the_tree_is_read() {
    let Some(room) = Room::new() else { return };
    fs::write(room.path("empty"), "").unwrap();
    fs::write(room.path("binary"), [0_u8, 159, 146, 150, 10]).unwrap();
    fs::write(room.path("words"), "Hello\n").unwrap();
    for name in ["not-there.patch", "empty", "binary", "words"] {
        let mut command = tollgate(&["robot", "--tree"]);
        command
            .arg(room.path("tree"))
            .arg("--cache")
            .arg(room.path("cache"));
        let output = run(command.arg(room.path(name)));
        let said = both(&output);
        assert_eq!(code(&output), 2, "{name}: {said}");
        assert!(said.contains(name), "{name}: {said}");
        assert!(!said.contains("read the tree"), "{name}: {said}");
    }
}

#[test]
fn a_job_file_that_is_not_there_is_not_called_a_bad_one() {
    let output = run(&mut tollgate(&["job", "run", "/nowhere/at/all.json"]));
    let said = both(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(
        said.contains("the job file /nowhere/at/all.json could not be read: No such file"),
        "{said}"
    );
}

#[test]
fn each_patch_of_a_series_has_job_files_of_its_own() {
    let Some(room) = Room::new() else { return };
    let first = room.diff(&[("fs/b.c", "int unused;", "int unused = 0;")]);
    let second = room.diff(&[("fs/a.c", "return value + 1;", "return value + 2;")]);
    let text = mail(1, &first) + &mail(2, &second);
    let jobs = room.path("jobs");
    let (code, said) = room.robot(&text, &["--job-files", jobs.to_str().unwrap()]);
    assert_ne!(code, 2, "{said}");
    let names = |from: &Path| -> Vec<String> {
        let all = fs::read_dir(from).unwrap();
        let mut all: Vec<String> = all
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    };
    assert_eq!(
        names(&jobs),
        [
            "0001-x86_64-after.json",
            "0001-x86_64-before.json",
            "0002-x86_64-after.json",
            "0002-x86_64-before.json"
        ]
    );
    // What a folder holds is not written over.
    let (code, said) = room.robot(&text, &["--job-files", jobs.to_str().unwrap()]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the folder holds something"), "{said}");
}

#[test]
fn a_module_that_takes_what_nobody_exports_is_found() {
    let Some(room) = Room::new() else { return };
    let take = |name: &str| {
        let text = format!(
            "int {name}(int value);\nint driver(int value);\nint driver(int value)\n{{\n\treturn {name}(value);"
        );
        room.diff(&[(
            "drivers/driver.c",
            "int driver(int value);\nint driver(int value)\n{\n\treturn value;",
            &text,
        )])
    };
    let (code, said) = room.robot(&take("exported"), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("drivers/driver.o is part of a module and takes exported from fs/a.c, which does not export it"),
        "{said}"
    );
    // Where somebody exports it nothing is wrong; what is nowhere at all nobody knows.
    let a = room.path("tree/fs/a.c");
    let text = fs::read_to_string(&a).unwrap();
    fs::write(
        &a,
        format!("{text}#define EXPORT_SYMBOL(name)\nEXPORT_SYMBOL(exported);\n"),
    )
    .unwrap();
    let (code, said) = room.robot(&take("exported"), &[]);
    assert_eq!(code, 0, "{said}");
    // What a compiler's library has no kernel has.
    let (code, said) = room.robot(&take("__udivdi3"), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("calls __udivdi3"), "{said}");
}

#[test]
fn a_rule_for_which_there_is_no_source_is_found() {
    let Some(room) = Room::new() else { return };
    let typo = room.diff(&[("fs/Makefile", "a.o b.o", "a.o bb.o")]);
    let (code, said) = room.robot(&typo, &["--trust"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains(
            "fs/Makefile names fs/bb.o, and there is nothing that Kbuild could make it of"
        ),
        "{said}"
    );
    // An object that is taken out is no longer asked for, and nothing is wrong.
    let less = room.diff(&[("fs/Makefile", "a.o b.o", "a.o")]);
    let (code, said) = room.robot(&less, &["--trust"]);
    assert_eq!(code, 0, "{said}");
}

/// An object that compiled before and does not any more is a finding, whatever its
/// compiler says: it was said not to compile without the patch either.
#[test]
fn a_flag_with_which_an_object_does_not_compile_is_found() {
    let Some(room) = Room::new() else { return };
    let with = |flags: &str| {
        let rules = format!("CFLAGS_a.o += {flags}\nobj-y");
        let (code, said) = room.robot(
            &room.diff(&[("fs/Makefile", "obj-y", &rules)]),
            &["--trust"],
        );
        assert_eq!(code, 1, "{said}");
        said
    };
    let said = with("-fplanted-nonsense");
    assert!(said.contains("unrecognized command-line option"), "{said}");
    let said = with("-wrapper false");
    assert!(said.contains("fs/a.o does not compile any more"), "{said}");
}

#[test]
fn an_option_with_another_value_reaches_those_who_read_it() {
    let Some(room) = Room::new() else { return };
    // A comment, or an option that nobody reads, changes no object.
    for harmless in [
        (
            "Kconfig",
            "\tbool \"a\"\n",
            "\tbool \"a\"\n\t# Of no matter.\n",
        ),
        (
            "Kconfig",
            "config A\n",
            "config NOBODY\n\tbool\n\nconfig A\n",
        ),
    ] {
        let (code, said) = room.robot(&room.diff(&[harmless]), &["--trust"]);
        assert_eq!(code, 0, "{said}");
    }
    // Without A code is compiled that was not, and calls what is not declared.
    let a = room.path("tree/fs/a.c");
    let text = fs::read_to_string(&a).unwrap();
    fs::write(&a, text.replace("\treturn 1;", "\treturn undeclared;")).unwrap();
    let gone = (
        "Kconfig",
        "config A\n\tbool \"a\"\n",
        "config B\n\tbool \"a\"\n",
    );
    let (code, said) = room.robot(&room.diff(&[gone]), &["--trust"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("'undeclared' undeclared"), "{said}");
    // What a header passes on is not followed, and that is said.
    let h = room.path("tree/include/linux/h.h");
    let text = fs::read_to_string(&h).unwrap();
    fs::write(
        &h,
        text.replace("#define H_H", "#define H_H\n#ifdef CONFIG_A\n#endif"),
    )
    .unwrap();
    fs::write(
        &a,
        fs::read_to_string(&a).unwrap().replace("undeclared", "1"),
    )
    .unwrap();
    let (code, said) = room.robot(&room.diff(&[gone]), &["--trust"]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("include/linux/h.h reads CONFIG_A, which changes"),
        "{said}"
    );
}

#[test]
fn gates_of_an_object_are_looked_at_on_both_sides() {
    let Some(room) = Room::new() else { return };
    let open = (
        "fs/b.c",
        "\treturn exported",
        "\t__asm__ volatile(\"stac\");\n\treturn 1 + exported",
    );
    let (code, said) = room.robot(&room.diff(&[open]), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("return with the window open"), "{said}");
    assert!(said.contains("0 -> 1"), "{said}");
    let (code, json) = room.robot(&room.diff(&[open]), &["-q", "--format", "json"]);
    assert_eq!(code, 1);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["patches"][0]["objects"][0]["after"]["gates"], 1);
}

#[test]
fn what_takes_too_much_memory_together_is_stopped() {
    let Some(room) = Room::new() else { return };
    let jobs = room.path("jobs");
    let hog = (
        "Makefile",
        "\t@mkdir -p $(O)/$(dir $@)\n",
        "\t@mkdir -p $(O)/$(dir $@); for i in 1 2 3 4; do (head -c 200m /dev/zero | tail -c 190m; sleep 20) >/dev/null & done; wait\n",
    );
    let diff = room.diff(&[hog, ("fs/b.c", "int unused;", "int other;")]);
    let made = room.robot(
        &room.diff(&[BREAKS]),
        &["--job-files", jobs.to_str().unwrap()],
    );
    assert_eq!(made.0, 1, "{}", made.1);
    let name = jobs.join("0001-x86_64-after.json");
    let mut job: serde_json::Value = serde_json::from_slice(&fs::read(&name).unwrap()).unwrap();
    let after = fs::read_to_string(room.path("tree/Makefile")).unwrap();
    job["work"]["changes"][0]["path"] = "Makefile".into();
    job["work"]["changes"][0]["content"]["text"] = after.replacen(hog.1, hog.2, 1).into();
    job["work"]["limits"]["total_mib"] = 256.into();
    assert!(diff.contains("200m"));
    fs::write(&name, job.to_string()).unwrap();
    let mut command = tollgate(&["job", "run"]);
    command.arg(&name).arg("--cache").arg(room.path("cache"));
    let began = Instant::now();
    let output = run(&mut command);
    let said = both(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("took more than 256 MiB together"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(600));
}

/// When each result in a cache was made.
fn results(room: &Room) -> BTreeMap<String, SystemTime> {
    let Ok(all) = fs::read_dir(room.path("cache/robot/results")) else {
        return BTreeMap::new();
    };
    let all = all.map(|one| one.unwrap());
    all.map(|one| {
        let made = one.metadata().unwrap().modified().unwrap();
        (one.file_name().into_string().unwrap(), made)
    })
    .filter(|(name, _)| name.ends_with(".json"))
    .collect()
}

#[test]
fn after_ctrl_c_only_what_was_missing_is_built() {
    let Some(room) = Room::new() else { return };
    // The second side takes long, once.
    let slow = (
        "Makefile",
        "\t@mkdir -p $(O)/$(dir $@)\n",
        "\t@mkdir -p $(O)/$(dir $@); sleep 5\n",
    );
    let diff = room.diff(&[BREAKS, slow]);
    let before = snapshot(&room.path("tree"));
    let mut command = room.command(&diff, &["-q", "--trust"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    let patience = Instant::now() + Duration::from_secs(300);
    while results(&room).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut stop = Command::new("kill");
    stop.arg("-INT").arg(child.id().to_string());
    assert!(stop.status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = both(&ended);
    assert_eq!(code(&ended), 130, "{said}");
    assert!(
        said.to_lowercase().contains("interrupted") || said.contains("stopped"),
        "{said}"
    );
    assert_eq!(before, snapshot(&room.path("tree")));
    let made = results(&room);
    assert_eq!(made.len(), 1, "{made:?}");
    // The result of the first side stays as it was.
    let (code, said) = room.robot(&diff, &["-q", "--trust"]);
    assert_eq!(code, 1, "{said}");
    let now = results(&room);
    assert!(now.len() > made.len());
    assert!(made.iter().all(|(name, when)| now.get(name) == Some(when)));
}

/// The processes below one, whatever their namespaces.
fn below(parent: u32) -> Vec<u32> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for at in fs::read_dir("/proc").unwrap() {
        let at = at.unwrap();
        let Ok(number) = at.file_name().to_string_lossy().parse() else {
            continue;
        };
        // Processes end while they are looked at.
        let Ok(stat) = fs::read_to_string(at.path().join("stat")) else {
            continue;
        };
        let rest = stat.rsplit(") ").next().unwrap();
        all.push((rest.split(' ').nth(1).unwrap().parse().unwrap(), number));
    }
    let mut found = vec![parent];
    let mut at = 0;
    while let Some(one) = found.get(at).copied() {
        let own = all.iter().filter(|(parent, _)| *parent == one);
        found.extend(own.map(|(_, number)| number));
        at += 1;
    }
    found.split_off(1)
}

/// Slurm, systemd and scripts signal all processes of a job: make ended before it came to
/// an object, which was taken for one that is not there, and kept so.
#[test]
fn a_build_that_a_signal_ends_is_no_answer() {
    let Some(room) = Room::new() else { return };
    let makefile = room.path("tree/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    let line = "\t@mkdir -p $(O)/$(dir $@)\n";
    let slow = |seconds: &str| {
        let slow = format!("\t@sleep {seconds}\n{line}");
        fs::write(&makefile, text.replacen(line, &slow, 1)).unwrap();
    };
    let diff = room.diff(&[("fs/b.c", "int unused;", "int another;")]);
    let whole = room.robot(&diff, &["-q"]);
    assert_eq!(whole.0, 1, "{}", whole.1);
    // Another tree, of which nothing is known, and that takes its time.
    slow("3.14");
    let mut command = room.command(&diff, &["-q"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let sleeps = |number: &u32| {
        let words = fs::read(format!("/proc/{number}/cmdline"));
        words.is_ok_and(|words| words == b"sleep\x003.14\0")
    };
    let patience = Instant::now() + Duration::from_secs(300);
    let mut all = Vec::new();
    while !all.iter().any(sleeps) && Instant::now() < patience {
        all = below(child.id());
        std::thread::sleep(Duration::from_millis(20));
    }
    let all: Vec<String> = all.iter().map(u32::to_string).collect();
    let asked = Command::new("kill").arg("-TERM").args(&all).output();
    assert!(asked.is_ok());
    let ended = child.wait_with_output().unwrap();
    let said = both(&ended);
    assert_eq!(code(&ended), 2, "{said}");
    assert!(said.contains("not built in x86_64"), "{said}");
    // It was said that no Kbuild file names its object.
    assert!(
        said.contains("COMPILED BY NONE: no answer of x86_64, where it was to be"),
        "{said}"
    );
    assert_eq!(room.robot(&diff, &["-q"]), whole);
}

#[test]
fn what_is_prepared_is_said_with_its_place() {
    let Some(room) = Room::new() else { return };
    let before = snapshot(&room.path("tree"));
    let ask = |more: &[&str]| {
        let mut command = tollgate(&["robot", "--prepare", "--cell", "x86_64", "--tree"]);
        command
            .arg(room.path("tree"))
            .arg("--cache")
            .arg(room.path("cache"));
        run(command.args(more))
    };
    let output = ask(&[]);
    let said = both(&output);
    assert_eq!(code(&output), 0, "{said}");
    let place = room.path("cache/robot/prepared");
    let place = place.canonicalize().unwrap().display().to_string();
    assert!(
        said.contains(&format!("x86_64: objects can be built, {place}/")),
        "{said}"
    );
    assert_eq!(before, snapshot(&room.path("tree")));
    let output = ask(&["some.patch"]);
    assert_eq!(code(&output), 2, "{}", both(&output));
    assert!(both(&output).contains("--prepare"), "{}", both(&output));
}

#[test]
fn configurations_are_drawn_again_by_their_seed() {
    let Some(room) = Room::new() else { return };
    let right = room.diff(&[("fs/a.c", "return value + 1;", "return value + 2;")]);
    let ask = || room.robot(&right, &["-q", "--randconfig", "2", "--seed", "7"]);
    let (code, said) = ask();
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("x86_64-randconfig-7") && said.contains("x86_64-randconfig-8"),
        "{said}"
    );
    assert_eq!(ask(), (code, said));
}

#[test]
fn further_trees_are_named_in_the_mail() {
    let Some(room) = Room::new() else { return };
    let mut copied = Command::new("cp");
    copied
        .arg("-r")
        .arg(room.path("tree"))
        .arg(room.path("other"));
    assert!(copied.status().unwrap().success());
    let makefile = room.path("other/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    fs::write(
        &makefile,
        text.replace("PATCHLEVEL = 12", "PATCHLEVEL = 13"),
    )
    .unwrap();
    let other = room.path("other");
    let args = [
        "--base",
        other.to_str().unwrap(),
        "--format",
        "mail",
        "--url",
        "https://example.org/x",
    ];
    let (code, said) = room.robot(&room.diff(&[BREAKS]), &args);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("[auto build test ERROR on Linux 6.12.0]"),
        "{said}"
    );
    assert!(
        said.contains("[also build test ERROR on Linux 6.13.0]"),
        "{said}"
    );
    assert!(said.contains("\nurl:    https://example.org/x\n"), "{said}");
}

#[test]
fn commits_are_compiled_whatever_is_checked_out() {
    let Some(room) = Room::new() else { return };
    let tree = room.path("tree");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-C"]);
        let output = command.arg(&tree).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", both(&output));
    };
    // A kernel has links, to folders too.
    std::os::unix::fs::symlink("fs", tree.join("link")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "before"]);
    let a = tree.join("fs/a.c");
    let text = fs::read_to_string(&a).unwrap();
    fs::write(&a, text.replace(BREAKS.1, BREAKS.2)).unwrap();
    git(&["commit", "-qam", "break it"]);
    fs::write(&a, &text).unwrap();
    git(&["commit", "-qam", "mend it"]);
    let mut command = tollgate(&["robot", "--cell", "x86_64", "--tree"]);
    command
        .arg(&tree)
        .arg("--cache")
        .arg(room.path("cache"))
        .arg("HEAD~2..HEAD");
    let output = run(&mut command);
    let said = both(&output);
    assert_eq!(code(&output), 1, "{said}");
    assert!(
        said.contains("[1/2] break it") && said.contains("'valu' undeclared"),
        "{said}"
    );
    let second = said.split_once("[2/2] mend it").unwrap().1;
    assert!(
        second.contains("clean: every edited line compiled"),
        "{said}"
    );
}

#[test]
fn a_file_that_comes_goes_or_is_renamed_is_compiled_as_it_is_then() {
    let Some(room) = Room::new() else { return };
    let new = "diff --git a/fs/c.c b/fs/c.c\nnew file mode 100644\n--- /dev/null\n+++ b/fs/c.c\n@@ -0,0 +1,4 @@\n+int c(void);\n+int c(void)\n+{\n+\treturn 1; }\n";
    let rule = room.diff(&[("fs/Makefile", "a.o b.o", "a.o b.o c.o")]);
    let (code, said) = room.robot(&format!("{new}{rule}"), &["--trust"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("fs/c.o  x86_64") && said.contains("  new"),
        "{said}"
    );
    let wrong = new.replace("return 1", "return one");
    let (code, said) = room.robot(&format!("{wrong}{rule}"), &["--trust"]);
    assert_eq!(code, 1, "{said}");
    let renamed = "diff --git a/fs/b.c b/fs/bb.c\nsimilarity index 100%\nrename from fs/b.c\nrename to fs/bb.c\n";
    let rule = room.diff(&[("fs/Makefile", "a.o b.o", "a.o bb.o")]);
    let (code, said) = room.robot(
        &format!("{renamed}diff --git a/fs/Makefile b/fs/Makefile\n{rule}"),
        &["--trust"],
    );
    // Its warning is that of another file now.
    assert_ne!(code, 2, "{said}");
    let gone = "diff --git a/include/linux/h.h b/include/linux/h.h\ndeleted file mode 100644\n--- a/include/linux/h.h\n+++ /dev/null\n@@ -1,5 +0,0 @@\n-#ifndef H_H\n-#define H_H\n-int exported(int value);\n-#define TWICE(x) ((x) + (x))\n-#endif\n";
    let (code, said) = room.robot(gone, &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("linux/h.h: No such file"), "{said}");
    let mode = "diff --git a/fs/b.c b/fs/b.c\nold mode 100644\nnew mode 100755\n";
    let (code, said) = room.robot(mode, &[]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_kernel_doc_that_is_edited_is_read_as_kbuild_reads_it() {
    let Some(room) = Room::new() else { return };
    let b = room.path("tree/fs/b.c");
    let text = fs::read_to_string(&b).unwrap();
    fs::write(&b, format!("/**\n * b - does it\n */\n{text}")).unwrap();
    let wrong = room.diff(&[("fs/b.c", " * b - does it", " * does-it")]);
    let (code, said) = room.robot(&wrong, &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("fs/b.c:1: warning: no function is named (kbuild)"),
        "{said}"
    );
    // Without W= nobody reads it, and another comment is none.
    let (code, said) = room.robot(&wrong, &["-W", "0"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = room.robot(
        &room.diff(&[("fs/b.c", " * b - does it", " * b - does more")]),
        &[],
    );
    assert_eq!(code, 0, "{said}");
}

#[test]
fn an_option_that_selects_what_may_be_off_is_turned_on_with_little_else() {
    let Some(room) = Room::new() else { return };
    let driver = "config DRIVER\n\ttristate \"a driver\"\n\tdepends on A\n";
    let kconfig = room.path("tree/Kconfig");
    let text = fs::read_to_string(&kconfig).unwrap();
    let chooser = "config CHOOSER\n\tbool \"chooser\"\n";
    fs::write(&kconfig, format!("{text}\n{chooser}")).unwrap();
    let selects = format!("{chooser}\tselect DRIVER\n");
    let (code, said) = room.robot(&room.diff(&[("Kconfig", chooser, &selects)]), &["--trust"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains(
            "CONFIG_CHOOSER selects CONFIG_DRIVER, of which not all that it depends on is on"
        ),
        "{said}"
    );
    // With what that depends on it may, and what depends on nothing may be selected.
    let right = format!("{chooser}\tdepends on A\n\tselect DRIVER\n");
    for edit in [
        ("Kconfig", chooser, right.as_str()),
        (
            "Kconfig",
            chooser,
            "config CHOOSER\n\tbool \"chooser\"\n\tselect A\n",
        ),
    ] {
        let (code, said) = room.robot(&room.diff(&[edit]), &["--trust"]);
        assert_eq!(code, 0, "{said}");
    }
    // One that selects it already may not any more where it depends on something.
    let text = fs::read_to_string(&kconfig).unwrap();
    fs::write(
        &kconfig,
        text.replace(chooser, &selects)
            .replace("\tdepends on A\n", ""),
    )
    .unwrap();
    let free = "config DRIVER\n\ttristate \"a driver\"\n";
    let (code, said) = room.robot(&room.diff(&[("Kconfig", free, driver)]), &["--trust"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("CONFIG_CHOOSER selects CONFIG_DRIVER"),
        "{said}"
    );
}

#[test]
fn what_was_said_of_a_function_is_not_new_where_it_is_renamed() {
    let Some(room) = Room::new() else { return };
    let renames = room.diff(&[(
        "fs/b.c",
        "int b(int value);\nint b(int value)",
        "int bb(int value);\nint bb(int value)",
    )]);
    let (code, said) = room.robot(&renames, &[]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_patch_that_is_not_there_is_named_outside_of_a_tree_too() {
    let Some(room) = Room::new() else { return };
    let mut command = tollgate(&["robot", "missing.patch", "--cache"]);
    command.arg(room.path("cache")).current_dir(room.dir.path());
    let output = run(&mut command);
    let said = both(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("there is no file missing.patch"), "{said}");
    assert!(said.contains("is no kernel tree"), "{said}");
}

/// It was called by the name of a file in a temporary folder.
#[test]
fn what_is_piped_is_called_standard_input() {
    let Some(room) = Room::new() else { return };
    let other = "--- a/fs/other.c\n+++ b/fs/other.c\n@@ -1 +1 @@\n-int a;\n+int b;\n";
    fs::write(room.path("piped"), other).unwrap();
    let mut command = tollgate(&["robot", "-", "--cache"]);
    command.arg(room.path("cache")).arg("--tree");
    command.arg(room.path("tree"));
    command.stdin(fs::File::open(room.path("piped")).unwrap());
    let output = run(&mut command);
    let said = both(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("standard input does not apply"), "{said}");
}

/// A user of Debian's that owns nothing.
const NOBODY: u32 = 65534;

/// Whose the tree is matters to nobody who may read it: changed files were copied beside
/// the others, which only its owner could have done.
#[test]
fn who_is_no_root_builds_of_a_tree_of_others() {
    let Some(room) = Room::new() else { return };
    let own = room.path("own");
    fs::create_dir(&own).unwrap();
    // Only root may be another.
    let is_root = chown(&own, Some(NOBODY), Some(NOBODY)).is_ok();
    fs::set_permissions(room.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = room.path("tollgate");
    fs::copy(env!("CARGO_BIN_EXE_tollgate"), &program).unwrap();
    let nobody = |mut command: Command| {
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    let mut unshare = Command::new("unshare");
    unshare.args(["-rmn", "true"]);
    if !nobody(unshare).output().unwrap().status.success() {
        tollgate_testing::elsewhere("no-mount-namespaces");
        return;
    }
    let gone = format!("{}{}", room.diff(&[BREAKS]), removed(&room, "fs/b.c"));
    let patch = room.path("gone.patch");
    fs::write(&patch, gone).unwrap();
    let mut command = Command::new(program);
    command.args(["robot", "--cell", "x86_64", "--tree"]);
    command
        .arg(room.path("tree"))
        .arg("--cache")
        .arg(own.join("cache"));
    command.arg(patch).env("TMPDIR", &own);
    let output = run(&mut nobody(command));
    let said = both(&output);
    assert_eq!(code(&output), 1, "{said}");
    assert!(said.contains("'valu' undeclared"), "{said}");
    assert!(!said.contains("died"), "{said}");
}

/// A container's mounts lie in folders that only root may enter, and no build of another
/// user was begun where there was one.
#[test]
fn a_mount_that_the_user_cannot_reach_is_no_hindrance() {
    let Some(room) = Room::new() else { return };
    let (own, closed) = (room.path("own"), room.path("closed"));
    for folder in [&own, &closed, &closed.join("mount")] {
        fs::create_dir(folder).unwrap();
    }
    let is_root = chown(&own, Some(NOBODY), Some(NOBODY)).is_ok();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(room.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let script = "mount -t tmpfs none \"$0/mount\" && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
    let nobody = |program: &Path| {
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", script])
            .arg(&closed)
            .arg(program);
        command
    };
    let probe = nobody(Path::new("unshare")).args(["-rmn", "true"]).output();
    if !is_root || !probe.unwrap().status.success() {
        tollgate_testing::elsewhere("no-mounts");
        return;
    }
    let program = room.path("tollgate");
    fs::copy(env!("CARGO_BIN_EXE_tollgate"), &program).unwrap();
    let patch = room.path("the.patch");
    fs::write(&patch, room.diff(&[BREAKS])).unwrap();
    let mut command = nobody(&program);
    command
        .args(["robot", "--cell", "x86_64", "--tree"])
        .arg(room.path("tree"));
    command
        .arg("--cache")
        .arg(own.join("cache"))
        .arg(patch)
        .env("TMPDIR", &own);
    let output = run(&mut command);
    let said = both(&output);
    assert_eq!(code(&output), 1, "{said}");
    assert!(said.contains("'valu' undeclared"), "{said}");
}

/// A diff that takes a file away.
fn removed(room: &Room, file: &str) -> String {
    let text = fs::read_to_string(room.path("tree").join(file)).unwrap();
    let lines: String = text.lines().map(|line| format!("-{line}\n")).collect();
    let count = text.lines().count();
    format!("--- a/{file}\n+++ /dev/null\n@@ -1,{count} +0,0 @@\n{lines}")
}

#[test]
fn a_second_robot_waits_for_the_first_and_says_so() {
    let Some(room) = Room::new() else { return };
    let slow = (
        "Makefile",
        "\t@mkdir -p $(O)/$(dir $@)\n",
        "\t@mkdir -p $(O)/$(dir $@); sleep 2\n",
    );
    let diff = room.diff(&[BREAKS, slow]);
    let mut first = room.command(&diff, &["-q", "--trust"]);
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let patience = Instant::now() + Duration::from_secs(300);
    while results(&room).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code_of_second, said) = room.robot(&diff, &["--trust"]);
    assert_eq!(code_of_second, 1, "{said}");
    assert!(said.contains("waiting for process "), "{said}");
    let first = first.unwrap().wait_with_output().unwrap();
    assert_eq!(code(&first), 1, "{}", both(&first));
}
