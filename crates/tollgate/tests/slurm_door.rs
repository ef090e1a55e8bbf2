//! What is wrong with a cluster or with the folder of a run, as a user's first day has it:
//! no Slurm runs here.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests of the robot use the rest of it")]
mod robot_room;
#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use robot_room::{BREAKS, Room, both};
use support::{code, run};

/// A folder with programs of Slurm's that answer, and do nothing.
fn idle_slurm(room: &Room) -> String {
    let programs = room.path("bin");
    fs::create_dir(&programs).unwrap();
    for name in ["sbatch", "squeue", "scancel"] {
        let program = programs.join(name);
        fs::write(&program, "#!/bin/sh\necho slurm 22.05.8\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", programs.display())
}

#[test]
fn what_is_wrong_with_a_cluster_is_said_before_anything_is_done() {
    let Some(room) = Room::new() else { return };
    let site = room.path("site.toml");
    let least = "shared = '/nowhere/shared'\nnode_cache = '/c'\nprogram = '/p'\n";
    let path = idle_slurm(&room);
    let diff = room.diff(&[BREAKS]);
    let refused = |more: &str, path: &str, args: &[&str]| {
        fs::write(&site, format!("{least}{more}")).unwrap();
        let mut command = room.command(&diff, &["--engine", "slurm"]);
        let output = run(command.args(args).env("PATH", path));
        let said = both(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(!said.contains("read the tree"), "{said}");
        said
    };
    let cluster = ["--cluster", site.to_str().unwrap()];
    let detached = [&cluster[..], &["--detach"]].concat();
    for args in [&cluster[..], &detached] {
        let said = refused("", &path, args);
        assert!(
            said.contains("the shared folder /nowhere/shared cannot be used: No such file"),
            "{said}"
        );
        let said = refused("walltime = 3\n", &path, args);
        assert!(
            said.contains("line 4, column 1") && said.contains("unknown field `walltime`"),
            "{said}"
        );
    }
    assert!(!Path::new("/nowhere").exists());
    let said = refused("", "/nowhere", &detached);
    assert!(
        said.contains("could not start sbatch")
            && said.contains("needs sbatch, squeue and scancel"),
        "{said}"
    );
    let said = refused("", &path, &[]);
    assert!(said.contains("name its file with --cluster FILE"), "{said}");
    let word = [&cluster[..], &["--slurm", "walltime=3"]].concat();
    let said = refused("", &path, &word);
    assert!(said.contains("(in what --slurm says)"), "{said}");
    for what in ["status", "collect", "cancel"] {
        let output = run(Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["job", what])
            .arg(room.path("tree")));
        let said = both(&output);
        assert_eq!(code(&output), 2, "{what}: {said}");
        assert!(
            said.contains("tree is no folder of a run"),
            "{what}: {said}"
        );
    }
}
