//! Full disks, wherever a command writes: a sentence that names the file system, and
//! never another reason.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Lab, code, on_a_small_disk, run};
use tollgate_testing::elsewhere;

/// Runs on disks of these sizes at `at`, of which none is large enough: each says
/// which file system has too little room.
fn fails_for_room(lab: &Lab, sizes: &[&str], at: &Path, command: &dyn Fn() -> Command) {
    let place = format!("he file system of {} has ", at.display());
    let place = place.replace(&*lab.path("").to_string_lossy(), "LAB/");
    for size in sizes {
        let Some(mut small) = on_a_small_disk(size, at, &command()) else {
            elsewhere("no-mount-namespaces");
            return;
        };
        let output = run(&mut small);
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{size}: {said}");
        for words in [place.as_str(), "make room there"] {
            assert!(said.contains(words), "{size}: {words:?} is not in:\n{said}");
        }
        for wrong in ["makes no static program", "does not compile", "not built"] {
            assert!(!said.contains(wrong), "{size}: {said}");
        }
    }
}

#[test]
fn a_cache_that_is_full_at_any_step_of_prove() {
    let lab = Lab::new();
    let sizes = ["4k", "16k", "48k", "128k", "512k", "768k", "1m", "1536k"];
    fails_for_room(&lab, &sizes, &lab.cache(), &|| lab.prove(&[]));
}

#[test]
fn a_cache_that_is_full_at_any_step_of_run() {
    let lab = Lab::new();
    let args = [
        "run", "getppid", "--reps", "10", "--ops", "10", "--cache", "cache",
    ];
    let sizes = ["4k", "64k", "512k", "1m"];
    fails_for_room(&lab, &sizes, &lab.cache(), &|| lab.tollgate(&args));
}

#[test]
fn a_temporary_folder_that_is_full() {
    let lab = Lab::new();
    let small = lab.path("tmp");
    let with_it = |mut command: Command| {
        command.env("TMPDIR", lab.path("tmp"));
        command
    };
    fails_for_room(&lab, &["4k", "16k"], &small, &|| with_it(lab.prove(&[])));
    let fix = ["fix", "tree", "include/linux/eventpoll.h:epoll_put_uevent"];
    fails_for_room(&lab, &["4k", "16k"], &small, &|| {
        with_it(lab.tollgate(&fix))
    });
    let args = [
        "run", "getppid", "--reps", "10", "--ops", "10", "--cache", "cache",
    ];
    fails_for_room(&lab, &["4k", "64k"], &small, &|| {
        with_it(lab.tollgate(&args))
    });
}

#[test]
fn a_result_that_has_no_room_is_in_the_cache() {
    let lab = Lab::new();
    let place = lab.path("out");
    fs::create_dir(&place).unwrap();
    for flag in ["--json", "--html"] {
        let file = place.join("x");
        let prove = || lab.prove(&[flag, file.to_str().unwrap()]);
        fails_for_room(&lab, &["4k"], &place, &prove);
        let Some(mut small) = on_a_small_disk("4k", &place, &prove()) else {
            return;
        };
        let said = lab.said(&run(&mut small));
        let kept = said.split("the result is ").nth(1).unwrap();
        let kept = kept.split(", but").next().unwrap();
        let kept = kept.replace("LAB", &lab.path("").to_string_lossy());
        assert!(Path::new(&kept).is_file(), "{said}");
    }
}

#[test]
fn objects_that_have_no_room_are_no_findings() {
    let lab = Lab::new();
    let function = "include/linux/eventpoll.h:epoll_put_uevent";
    let args = ["fix", "tree", function, "--check", "--cache", "cache"];
    fails_for_room(&lab, &["4k", "24k", "64k"], &lab.cache(), &|| {
        lab.tollgate(&args)
    });
}
