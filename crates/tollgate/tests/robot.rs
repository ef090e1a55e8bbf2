//! The build robot on a tree of a few files, with the machine's own compiler in the
//! real sandbox.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

#[allow(dead_code, reason = "other tests of the robot use the rest of it")]
mod robot_room;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{run, snapshot};

use robot_room::{BREAKS, Room, both};

#[test]
fn an_error_within_an_option_is_found_where_the_option_is_on() {
    let Some(room) = Room::new() else { return };
    let before = snapshot(&room.path("tree"));
    let (code, said) = room.robot(&room.diff(&[BREAKS]), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("fs/a.c:11:16: error: error: 'valu' undeclared")
            || said.contains("error: 'valu' undeclared"),
        "{said}"
    );
    assert!(
        said.contains("within #ifdef CONFIG_X86_X32_ABI: 1 line compiled in x86_64"),
        "{said}"
    );
    assert_eq!(before, snapshot(&room.path("tree")));
    let right = ("fs/a.c", "return value + 1;", "return value + 2;");
    let (code, said) = room.robot(&room.diff(&[right]), &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("clean: every edited line compiled"), "{said}");
}

#[test]
fn a_warning_in_the_place_of_another_is_new() {
    let Some(room) = Room::new() else { return };
    let other = ("fs/b.c", "int unused;", "int another;");
    let (code, said) = room.robot(&room.diff(&[other]), &["-q", "--format", "json"]);
    assert_eq!(code, 1, "{said}");
    let document: serde_json::Value = serde_json::from_str(&said).unwrap();
    let object = &document["patches"][0]["objects"][0];
    assert_eq!(
        object["before"]["warning_lines"],
        object["after"]["warning_lines"]
    );
    let found = document["patches"][0]["findings"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{said}");
    assert_eq!(found[0]["diagnostic"]["kind"], "unused-variable");
    // A line that moves says nothing new.
    let moved = ("fs/b.c", "int b(int value)\n{", "\n\nint b(int value)\n{");
    let (code, said) = room.robot(&room.diff(&[moved]), &[]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn the_patch_of_a_series_that_breaks_is_named() {
    let Some(room) = Room::new() else { return };
    let mail = |number: usize, diff: &str| {
        format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: A B <a@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\
             Message-ID: <{number}@example.org>\nSubject: [PATCH {number}/3] step {number}\n\nWhy.\n---\n{diff}-- \n2.39.5\n\n"
        )
    };
    let apply = |tree: &str, edit: (&str, &str, &str)| {
        let file = room.path(tree).join(edit.0);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text.replacen(edit.1, edit.2, 1)).unwrap();
    };
    let made = Command::new("cp")
        .arg("-r")
        .arg(room.path("tree"))
        .arg(room.path("work"))
        .status();
    assert!(made.unwrap().success());
    let steps = [
        (
            "fs/b.c",
            "return exported(value);",
            "return exported(value + 1);",
        ),
        BREAKS,
        ("fs/a.c", "return valu + 1;", "return value + 3;"),
    ];
    let mut text = String::new();
    for (number, step) in (1..).zip(steps) {
        text += &mail(number, &room.diff_of("work", &[step]));
        apply("work", step);
    }
    let (code, said) = room.robot(&text, &["--format", "mail"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("In-Reply-To: <2@example.org>") && !said.contains("<1@example.org>"),
        "{said}"
    );
    assert!(said.contains("Subject: Re: [PATCH 2/3] step 2\n"), "{said}");
    assert!(
        said.contains("Hi A,") && !said.contains("<3@example.org>"),
        "{said}"
    );
    let ktap = room.robot(&text, &["--format", "ktap"]).1;
    assert!(
        ktap.contains("\nok 1 step 1")
            && ktap.contains("\nnot ok 2 step 2")
            && ktap.contains("\nok 3 step 3"),
        "{ktap}"
    );
}

#[test]
fn the_commands_of_a_mail_lead_to_the_same_words() {
    let Some(room) = Room::new() else { return };
    let diff = room.diff(&[BREAKS]);
    let (_, said) = room.robot(&diff, &["--format", "mail"]);
    let commands = said
        .split_once("reproduce (this is a W=1 build):\n")
        .unwrap()
        .1;
    let commands = commands
        .split_once("\n\n")
        .unwrap()
        .0
        .replace("        ", "");
    let out = room.path("out");
    fs::create_dir(&out).unwrap();
    let output = Command::new("sh")
        .args(["-c", &commands])
        .current_dir(room.path("tree"))
        .env("PATCH", room.path("the.patch"))
        .env("O", &out)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{commands}");
    assert!(
        both(&output).contains("error: 'valu' undeclared"),
        "{commands}\n{}",
        both(&output)
    );
}

#[test]
fn options_that_do_not_exist_and_lines_that_nothing_compiles_are_named() {
    let Some(room) = Room::new() else { return };
    let dead = ("fs/a.c", "#ifndef CONFIG_A", "#ifdef CONFIG_E500");
    let (code, said) = room.robot(&room.diff(&[dead]), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("CONFIG_E500 is an option that no Kconfig file defines"),
        "{said}"
    );
    assert!(
        said.contains("COMPILED BY NONE, ever: no Kconfig file defines CONFIG_E500"),
        "{said}"
    );
    // A cell is made for a line that none of the table compiles.
    let off = ("fs/a.c", "\treturn 1;", "\treturn on;");
    let (code, said) = room.robot(&room.diff(&[off]), &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("x86_64+no-A") && said.contains("'on' undeclared"),
        "{said}"
    );
    // What no option brings about is could-not-tell.
    let macro_only = ("fs/a.c", "#ifndef CONFIG_A", "#ifdef SOMETHING_ELSE");
    let (code, said) = room.robot(&room.diff(&[macro_only]), &[]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("COMPILED BY NONE: defined(SOMETHING_ELSE)"),
        "{said}"
    );
}

#[test]
fn a_hostile_patch_reaches_nothing() {
    let Some(room) = Room::new() else { return };
    let mark = room.path("outside");
    fs::write(&mark, "untouched").unwrap();
    let home = room.path("cache");
    let evil = format!(
        "%.o: modules_prepare\n\
         \t-@echo spoilt >{mark}\n\
         \t-@echo spoilt >{tree}/fs/a.c; echo spoilt >{home}/lock; echo spoilt >/tmp/linux/fs/a.c\n\
         \t-@echo spoilt >/var/tmp/tollgate-evil; echo spoilt >/dev/shm/tollgate-evil\n\
         \t-@cat /proc/net/dev >&2; ! ls /sys/class/net | grep -v lo\n\
         \t-@exec 3<>/dev/tcp/127.0.0.1/22\n\
         \t-@(f() {{ f | f & }}; f) 2>/dev/null; sleep 1\n",
        mark = mark.display(),
        tree = room.path("tree").display(),
        home = home.display(),
    );
    let diff = room.diff(&[
        ("Makefile", "%.o: modules_prepare\n", &evil),
        ("fs/Makefile", "b.o", "b.o c.o"),
    ]);
    let before = snapshot(&room.path("tree"));
    let (code, said) = room.robot(&diff, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("it changes what a build runs (Makefile, fs/Makefile)")
            && said.contains("--trust"),
        "{said}"
    );
    let (code, said) = room.robot(&diff, &["--trust"]);
    assert_ne!(code, 0, "{said}");
    assert_eq!(fs::read_to_string(&mark).unwrap(), "untouched");
    assert_eq!(before, snapshot(&room.path("tree")));
    assert!(
        !Path::new("/var/tmp/tollgate-evil").exists()
            && !Path::new("/dev/shm/tollgate-evil").exists()
    );
}

#[test]
fn a_compiler_that_is_killed_is_no_verdict() {
    let Some(room) = Room::new() else { return };
    let kills = ("fs/Makefile", "obj-y += a.o b.o", "obj-y += a.o b.o \n");
    let die = (
        "Makefile",
        "\t@cd $(O) && $(CC)",
        "\t@kill -9 $$$$; cd $(O) && $(CC)",
    );
    let (code, said) = room.robot(&room.diff(&[kills, die, BREAKS]), &["--trust"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("not built"), "{said}");
}

#[test]
fn what_was_killed_goes_on_to_the_same_end() {
    let Some(room) = Room::new() else { return };
    let diff = room.diff(&[BREAKS, ("fs/b.c", "int unused;", "int another;")]);
    let undisturbed = room.robot(&diff, &["-q"]);
    assert_eq!(undisturbed.0, 1, "{}", undisturbed.1);
    // What is written beside a result stays where a kill comes before it is renamed.
    let results = || {
        let all = fs::read_dir(room.path("cache/robot/results")).unwrap();
        let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with('.')).count()
    };
    let made = results();
    fs::remove_dir_all(room.path("cache")).unwrap();
    for round in 0..10_u64 {
        let mut child = room.command(&diff, &["-q"]);
        let mut child = child
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(40 + 97 * round));
        let _ = child.kill();
        let ended = child.wait().unwrap();
        assert!(ended.signal() == Some(9) || ended.code().is_some_and(|code| code > 0));
    }
    // The last of its programs may have to be waited for.
    let patience = Instant::now() + Duration::from_secs(60);
    let mut again = room.robot(&diff, &["-q"]);
    while again.1.contains("in use by") && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(50));
        again = room.robot(&diff, &["-q"]);
    }
    assert_eq!(again, undisturbed);
    assert_eq!(results(), made);
    // And what is there is not built again: the same answer from a tree whose compiler
    // would be asked in vain is the cache's.
    let once_more = room.robot(&diff, &["-q"]);
    assert_eq!((once_more, results()), (undisturbed, made));
}

#[test]
fn a_job_file_does_the_same_elsewhere() {
    let Some(room) = Room::new() else { return };
    let jobs = room.path("jobs");
    let diff = room.diff(&[BREAKS]);
    let (code, said) = room.robot(&diff, &["--job-files", jobs.to_str().unwrap()]);
    assert_eq!(code, 1, "{said}");
    let made = Command::new("cp")
        .arg("-r")
        .arg(room.path("tree"))
        .arg(room.path("copy"))
        .status();
    assert!(made.unwrap().success());
    let job = |name: &str, tree: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command
            .args(["job", "run"])
            .arg(jobs.join(name))
            .arg("--tree")
            .arg(room.path(tree));
        run(command.arg("--cache").arg(room.path("other-cache")))
    };
    assert_eq!(support::code(&job("0001-x86_64-before.json", "copy")), 0);
    let after = job("0001-x86_64-after.json", "copy");
    assert_eq!(support::code(&after), 1);
    assert!(both(&after).contains("'valu' undeclared"));
    fs::write(room.path("copy/fs/b.c"), "int b;\n").unwrap();
    let other = job("0001-x86_64-after.json", "copy");
    assert_eq!(support::code(&other), 2);
    assert!(
        both(&other).contains("made for another state"),
        "{}",
        both(&other)
    );
}

#[test]
fn b4_gets_its_array_whatever_happens() {
    let Some(room) = Room::new() else { return };
    let ask = |text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command
            .args(["robot", "--b4", "--cell", "x86_64", "--tree"])
            .arg(room.path("tree"));
        command.arg("--cache").arg(room.path("cache"));
        let mail = room.path("mail");
        fs::write(&mail, text).unwrap();
        let output = command
            .stdin(fs::File::open(mail).unwrap())
            .output()
            .unwrap();
        let all: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
        all[0]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(ask(&room.diff(&[BREAKS])), "fail");
    assert_eq!(
        ask(&room.diff(&[("fs/a.c", "value + 1", "value + 2")])),
        "pass"
    );
    assert_eq!(
        ask(&room.diff(&[("fs/Makefile", "a.o b.o", "b.o a.o")])),
        "warn"
    );
    assert_eq!(ask("no patch"), "warn");
}
