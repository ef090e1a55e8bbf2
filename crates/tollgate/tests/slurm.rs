//! `--engine slurm` on a real Slurm of four nodes: the results are those of this machine,
//! to the byte, and each fault is named. TOLLGATE_SLURM asks for them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod cluster;
#[allow(dead_code, reason = "other tests of the robot use the rest of it")]
mod robot_room;
#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use cluster::users::{self, User};
use cluster::{Cluster, Working, until};
use robot_room::{BREAKS, Room};
use serde_json::Value;
use support::{Lab, code, heeding_signals, run};

/// An edit that is right.
const RIGHT: (&str, &str, &str) = ("fs/a.c", "return value + 1;", "return value + 2;");
/// Another warning in the place of one.
const WARNS: (&str, &str, &str) = ("fs/b.c", "int unused;", "int another;");
/// More cells than one of a tree of a few files.
const CELLS: [&str; 2] = ["--randconfig", "3"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The robot on the nodes, with a cache of its own.
fn elsewhere(cluster: &Cluster, room: &Room, patch: &str, more: &str) -> Command {
    let mut command = room.command_in(&cluster.path("own"), patch, &["-q"]);
    command.args(CELLS);
    cluster.elsewhere(&mut command, more);
    command
}

fn here(room: &Room, patch: &str) -> Output {
    run(room.command(patch, &["-q"]).args(CELLS))
}

fn is_same(here: &Output, there: &Output) {
    assert_eq!(
        text(&here.stdout),
        text(&there.stdout),
        "{}",
        text(&there.stderr)
    );
    assert_eq!(code(here), code(there), "{}", text(&there.stderr));
}

/// The room's tree takes so many seconds for each object.
fn slow(room: &Room, seconds: u32) {
    let makefile = room.path("tree/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    let line = "\t@cd $(O) && $(CC)";
    assert!(text.contains(line));
    let slow = format!("\t@sleep {seconds}\n{line}");
    fs::write(&makefile, text.replacen(line, &slow, 1)).unwrap();
}

#[test]
fn a_robots_matrix_is_the_same_on_four_nodes() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    for edit in [BREAKS, RIGHT, WARNS] {
        let patch = room.diff(&[edit]);
        for form in ["text", "json", "ktap"] {
            let form = ["--format", form];
            let here = run(room.command(&patch, &["-q"]).args(CELLS).args(form));
            let mut there = elsewhere(&cluster, &room, &patch, "");
            is_same(&here, &run(there.args(form)));
        }
    }
    // No folder of a run is left; a second user has the answers of the first.
    let left = fs::read_dir(cluster.shared()).unwrap();
    let left: Vec<_> = left.map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["answers"]);
    let before = cluster.arrays();
    let patch = room.diff(&[WARNS]);
    let mut other = room.command_in(&cluster.path("second"), &patch, &["-q"]);
    other.args(CELLS);
    is_same(
        &here(&room, &patch),
        &run(cluster.elsewhere(&mut other, "")),
    );
    assert_eq!(cluster.arrays(), before);
}

#[test]
fn a_proof_is_the_same_on_four_nodes() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let lab = Lab::new();
    let told = |elsewhere: bool, words: &[&str], fake: &str| {
        let json = lab.path("out.json");
        let mut command = lab.tollgate(&["prove", "epoll"]);
        lab.on_fakes_in(
            &mut command,
            &match elsewhere {
                true => cluster.path("own"),
                false => lab.cache(),
            },
        );
        command.args(words).arg("--json").arg(&json);
        if !fake.is_empty() {
            command.env("FAKE_QEMU", fake);
        }
        if elsewhere {
            cluster.elsewhere(&mut command, "");
        }
        let output = run(&mut command);
        let document = match json.exists() {
            true => fs::read_to_string(&json).unwrap(),
            false => String::new(),
        };
        fs::write(&json, "").unwrap();
        // Where the caches are differs, and so does how long steps took.
        let own = cluster.path("own").display().to_string();
        let own = |text: String| text.replace(&own, "CACHE");
        let said = lab.said(&output).replace("LAB/cache", "CACHE");
        let steps = |line: &&str| !line.ends_with(" s");
        let said: Vec<String> = said
            .lines()
            .filter(steps)
            .map(|line| own(line.to_owned()))
            .collect();
        let shown = text(&output.stdout).replace(&*lab.cache().to_string_lossy(), "CACHE");
        (code(&output), own(shown), document, said.join("\n"))
    };
    for (words, fake) in [
        (&[][..], ""),
        (&["--param", "events=1,64"], ""),
        (&["--variant", "all"], ""),
        (&[], "differ"),
    ] {
        let here = told(false, words, fake);
        assert_eq!(here, told(true, words, fake));
        assert!(!here.2.is_empty(), "{fake}");
    }
    for fake in ["panic", "die", "garbage", "hang-window"] {
        let timed = ["--timeout", "5"];
        let here = told(false, &timed, fake);
        let there = told(true, &timed, fake);
        assert_eq!(here, there, "{fake}");
    }
    let kept = cluster.shared().join("images");
    assert!(fs::read_dir(kept).unwrap().count() > 1);
    // A kernel that does not compile: the same words, and the log lies in the store.
    lab.edit("fs/eventpoll.c", "broken\n");
    let here = told(false, &[], "");
    let there = told(true, &[], "");
    assert_eq!((here.0, there.0), (2, 2));
}

#[test]
fn a_task_that_is_killed_requeued_or_loses_its_node_is_done_again() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    slow(&room, 6);
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    let work = |more: &str| anew(&cluster, &room, &patch, more);

    // SIGKILL, of the script and whatever it runs.
    let killed = work("");
    kill(&cluster);
    killed.says("it was killed");
    is_same(&here, &killed.ended());

    // scontrol requeue: Slurm begins it anew, after two minutes by itself.
    let requeued = work("");
    let (_, task) = cluster.running();
    cluster.says("scontrol", &["requeue", &task]);
    hurry(&cluster, "BeginTime");
    is_same(&here, &requeued.ended());

    // The controller goes and comes back.
    let restarted = work("");
    cluster.running();
    cluster.controller("stop");
    restarted.says("; waiting");
    cluster.controller("start");
    restarted.says("answers again");
    is_same(&here, &restarted.ended());

    // A node goes, and stays away.
    let lost = work("");
    let (node, _) = cluster.running();
    cluster.node(&node, "stop");
    hurry(&cluster, "BeginTime");
    is_same(&here, &lost.ended());
    cluster.node(&node, "start");
}

/// The robot at work; it finds no answer that was given before.
fn anew(cluster: &Cluster, room: &Room, patch: &str, more: &str) -> Working {
    let mut command = room.command_in(&cluster.path("own"), patch, &[]);
    command.args(CELLS);
    cluster.elsewhere(&mut command, more);
    for folder in [cluster.path("own"), cluster.shared().join("answers")] {
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    Working::new(&mut command, &cluster.path(""))
}

/// Ends the tasks that run, once some do.
fn kill(cluster: &Cluster) {
    until("a script runs", || cluster.scripts().first().copied());
    std::thread::sleep(Duration::from_secs(2));
    for script in cluster.scripts() {
        let kill = Command::new("kill")
            .args(["-KILL", &script.to_string()])
            .status();
        assert!(kill.is_ok());
    }
}

/// Slurm lets what it begins anew wait for two minutes, or however long it takes a
/// node's credentials to end: not here.
fn hurry(cluster: &Cluster, reason: &str) {
    let wanted = ["-h", "-r", "-t", "PD", "-O", "JobArrayID:|,Reason:|"];
    let waits = until("a task waits", || {
        let said = cluster.says("squeue", &wanted);
        let waits: Vec<String> = said
            .lines()
            .filter(|line| line.contains(reason))
            .filter_map(|line| line.split('|').next().map(|task| task.trim().to_owned()))
            .collect();
        (!waits.is_empty()).then_some(waits)
    });
    for task in waits {
        let job = format!("JobId={task}");
        cluster.says("scontrol", &["update", &job, "StartTime=now"]);
    }
}

/// Two partitions that make way for a third: one whose tasks are ended, and one whose
/// tasks are begun anew.
const PREEMPTS: &str = "PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=urgent Nodes=ALL PriorityTier=10 PreemptMode=OFF
PartitionName=ended Nodes=ALL PriorityTier=1 PreemptMode=CANCEL
PartitionName=anew Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE";

#[test]
fn a_task_that_makes_way_for_another_is_done_again() {
    let room = Room::new();
    let cluster = Cluster::start_with(&[("SLURM_HERE_MORE", PREEMPTS)]);
    let (Some(room), Some(cluster)) = (room, cluster) else {
        return;
    };
    slow(&room, 6);
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    for partition in ["ended", "anew"] {
        let work = anew(
            &cluster,
            &room,
            &patch,
            &format!("partition = '{partition}'"),
        );
        cluster.running();
        let urgent = ["-p", "urgent", "-N4", "--exclusive", "-o", "/dev/null"];
        let urgent = [&urgent[..], &["--chdir", "/", "--wrap", "sleep 3"]].concat();
        cluster.says("sbatch", &urgent);
        match partition {
            "ended" => work.says("it had to make way for another job"),
            _ => hurry(&cluster, "BeginTime"),
        }
        is_same(&here, &work.ended());
    }
}

/// A site that takes no jobs as long as a file is there, and says what Slurm says where
/// an account's limit is reached.
const CLOSES: &str = "function slurm_job_submit(job, partitions, user)
	local file = io.open('CLOSED')
	if file then
		file:close()
		return 2050
	end
	return slurm.SUCCESS
end

function slurm_job_modify(job, known, partitions, user)
	return slurm.SUCCESS
end

return slurm.SUCCESS
";

#[test]
fn who_may_have_no_more_jobs_waits() {
    let Some(room) = Room::new() else { return };
    let (closed, script) = (room.path("closed"), room.path("submit.lua"));
    fs::write(&script, CLOSES.replace("CLOSED", closed.to_str().unwrap())).unwrap();
    let more = [
        ("SLURM_HERE_MORE", "JobSubmitPlugins=lua"),
        ("SLURM_HERE_SUBMIT", script.to_str().unwrap()),
    ];
    let Some(cluster) = Cluster::start_with(&more) else {
        return;
    };
    slow(&room, 6);
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    let close = || fs::write(&closed, "").unwrap();
    close();
    let work = anew(&cluster, &room, &patch, "");
    work.says("job submit limit");
    assert_eq!(cluster.queued(), "");
    fs::remove_file(&closed).unwrap();
    work.says("Slurm takes jobs again");
    // Where others of the run are at work, too; and it is said once.
    cluster.running();
    close();
    kill(&cluster);
    work.says("it was killed");
    std::thread::sleep(Duration::from_secs(4));
    fs::remove_file(&closed).unwrap();
    let ended = work.ended();
    is_same(&here, &ended);
    let said = text(&ended.stderr);
    assert_eq!(said.matches("job submit limit").count(), 2, "{said}");
    assert_eq!(said.matches("Slurm takes jobs again").count(), 2, "{said}");
}

/// Another bit in every file of a folder.
fn damage(folder: &Path) {
    for file in fs::read_dir(folder).unwrap() {
        let place = file.unwrap().path();
        let mut bytes = fs::read(&place).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&place, bytes).unwrap();
    }
}

#[test]
fn two_users_have_each_others_answers() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    let Some([one, two]) = users::two(&cluster) else {
        return;
    };
    users::open(room.dir.path(), 0o755);
    let robot = |user: &User, cache: &str, patch: &str| {
        let mut command = room.command_in(&user.home.join(cache), patch, &[]);
        command.args(CELLS);
        user.does(cluster.elsewhere(&mut command, ""))
    };
    for (first, second, edit) in [(&one, &two, WARNS), (&two, &one, RIGHT)] {
        let patch = room.diff(&[edit]);
        let here = here(&room, &patch);
        let before = cluster.arrays();
        is_same(&here, &run(&mut robot(first, "cache", &patch)));
        let asked = cluster.arrays();
        assert!(asked > before);
        is_same(&here, &run(&mut robot(second, "cache", &patch)));
        assert_eq!(cluster.arrays(), asked);
    }
    // Both at once.
    let patch = room.diff(&[BREAKS]);
    let broken = here(&room, &patch);
    let both = [&one, &two].map(|user| Working::new(&mut robot(user, "cache", &patch), &user.home));
    for work in both {
        is_same(&broken, &work.ended());
    }

    // Answers that are damaged count for nobody; only their own are replaced.
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    damage(&cluster.shared().join("answers"));
    for (user, cache, others) in [(&two, "second", true), (&one, "second", false)] {
        let ended = run(&mut robot(user, cache, &patch));
        is_same(&here, &ended);
        let said = text(&ended.stderr);
        assert!(
            said.contains("did not hold what was written there"),
            "{said}"
        );
        assert_eq!(
            said.contains("others will not have this answer"),
            others,
            "{said}"
        );
    }
    let before = cluster.arrays();
    is_same(&here, &run(&mut robot(&two, "third", &patch)));
    assert_eq!(cluster.arrays(), before);
}

#[test]
fn two_users_have_each_others_kernels() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let Some([one, two]) = users::two(&cluster) else {
        return;
    };
    let lab = Lab::new();
    users::open(&lab.path(""), 0o755);
    let qemu = cluster.path("qemu");
    fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu"),
        &qemu,
    )
    .unwrap();
    users::open(&qemu, 0o755);
    let prove = |cache: &Path| {
        let mut command = lab.tollgate(&["prove", "epoll", "--format", "json"]);
        command
            .arg("--tree")
            .arg(lab.tree())
            .arg("--qemu")
            .arg(&qemu);
        command.arg("--cache").arg(cache);
        command
    };
    let here = run(&mut prove(&lab.cache()));
    assert!(!here.stdout.is_empty(), "{}", text(&here.stderr));
    let told = |user: &User, cache: &str| {
        let cache = user.home.join(cache);
        run(&mut user.does(cluster.elsewhere(&mut prove(&cache), "")))
    };
    is_same(&here, &told(&one, "cache"));
    is_same(&here, &told(&two, "cache"));
    assert!(!two.home.join("cache/images").exists());

    // One that is damaged is booted by nobody, and its owner makes it anew.
    for image in fs::read_dir(cluster.shared().join("images")).unwrap() {
        let record = image.unwrap().path().join("image.json");
        let text = fs::read_to_string(&record).unwrap();
        fs::write(record, text.replace("6.12", "6.13")).unwrap();
    }
    let ended = told(&two, "second");
    let said = text(&ended.stderr);
    assert_eq!(code(&ended), 2, "{said}");
    assert!(said.contains("cannot be replaced"), "{said}");
    is_same(&here, &told(&one, "second"));
    is_same(&here, &told(&two, "second"));
}

#[test]
fn what_is_too_dear_or_cancelled_could_not_be_told() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    let patch = room.diff(&[RIGHT]);
    // Slurm looks at the memory of what runs once a second.
    slow(&room, 3);
    let memory = run(&mut elsewhere(&cluster, &room, &patch, "memory_mib = 8"));
    let said = text(&memory.stdout);
    assert_eq!(code(&memory), 2, "{said}");
    assert!(
        said.contains("it took more memory than the cluster gives"),
        "{said}"
    );

    let refused = run(&mut elsewhere(
        &cluster,
        &room,
        &patch,
        "partition = 'nobody'",
    ));
    let said = text(&refused.stdout);
    assert_eq!(code(&refused), 2, "{said}");
    assert!(said.contains("Slurm does not take the cell"), "{said}");

    let mut absent = elsewhere(&cluster, &room, &patch, "");
    absent.args(["--slurm", "program=/nowhere/tollgate"]);
    let absent = run(&mut absent);
    let said = text(&absent.stdout);
    assert_eq!(code(&absent), 2, "{said}");
    assert!(said.contains("does not run the program"), "{said}");

    slow(&room, 150);
    let mut command = elsewhere(&cluster, &room, &patch, "");
    let cancelled = Working::new(&mut command, &cluster.path(""));
    let (_, task) = cluster.running();
    let array = task.split('_').next().unwrap();
    cluster.says("scancel", &[array]);
    let cancelled = cancelled.ended();
    let said = text(&cancelled.stdout);
    assert_eq!(code(&cancelled), 2, "{said}");
    assert!(said.contains("somebody cancelled it"), "{said}");

    let time = run(&mut elsewhere(&cluster, &room, &patch, "minutes = 1"));
    let said = text(&time.stdout);
    assert_eq!(code(&time), 2, "{said}");
    assert!(
        said.contains("it took more time than the cluster gives"),
        "{said}"
    );
}

#[test]
fn a_full_shared_folder_is_waited_for() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    let shared = cluster.shared();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=2m", "none"])
        .arg(&shared)
        .output();
    if !mount.unwrap().status.success() {
        tollgate_testing::elsewhere("no-mounts");
        return;
    }
    let _mounted = Mounted(&shared);
    slow(&room, 6);
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    let (full, fill) = (shared.join("full"), || {
        let zeros = Command::new("sh")
            .args(["-c", "cat /dev/zero >\"$0\" 2>/dev/null; :"])
            .arg(shared.join("full"))
            .status();
        assert!(zeros.unwrap().success());
    });
    let mut command = room.command_in(&cluster.path("own"), &patch, &[]);
    command.args(CELLS);
    cluster.elsewhere(&mut command, "");
    // Before anything is handed over, and while a task runs.
    fill();
    let work = Working::new(&mut command, &cluster.path(""));
    work.says("No space left on device");
    fs::remove_file(&full).unwrap();
    cluster.running();
    fill();
    work.says("the shared folder did not take its answer");
    fs::remove_file(&full).unwrap();
    is_same(&here, &work.ended());

    // The disk of one node; the others do its work.
    let disk = cluster.path("nodes/n1");
    fs::remove_dir_all(&disk).unwrap();
    fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,mode=1777", "none"])
        .arg(&disk)
        .status();
    assert!(mount.unwrap().success());
    let _disk = Mounted(&disk);
    let work = anew(&cluster, &room, &patch, "");
    work.says("No space left on device");
    is_same(&here, &work.ended());
}

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let gone = Command::new("umount").arg("-l").arg(self.0).status();
        assert!(gone.unwrap().success());
    }
}

#[test]
fn ctrl_c_cancels_what_is_queued() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    slow(&room, 60);
    let patch = room.diff(&[RIGHT]);
    let command = elsewhere(&cluster, &room, &patch, "");
    let work = Working::new(&mut heeding_signals(&command), &cluster.path(""));
    cluster.running();
    let asked = Command::new("kill")
        .args(["-INT", &work.child.id().to_string()])
        .status();
    assert!(asked.unwrap().success());
    let ended = work.ended();
    assert_eq!(code(&ended), 130, "{}", text(&ended.stderr));
    assert_eq!(cluster.queued(), "");
    assert_eq!(fs::read_dir(cluster.shared()).unwrap().count(), 0);
}

#[test]
fn a_run_goes_on_without_its_terminal() {
    let (Some(room), Some(cluster)) = (Room::new(), Cluster::start()) else {
        return;
    };
    slow(&room, 6);
    let patch = room.diff(&[WARNS]);
    let here = here(&room, &patch);
    let begin = |cache: &str| {
        fs::remove_dir_all(cluster.shared().join("answers")).ok();
        let mut command = room.command_in(&cluster.path(cache), &patch, &["-q", "--detach"]);
        command.args(CELLS);
        let begun = run(cluster.elsewhere(&mut command, ""));
        assert_eq!(code(&begun), 0, "{}", text(&begun.stderr));
        text(&begun.stdout).trim().to_owned()
    };
    let job = |what: &str, folder: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args(["-q", "job", what, folder]);
        run(cluster.with(&mut command))
    };
    let folder = begin("first");
    cluster.running();
    let stands = job("status", &folder);
    assert_eq!(code(&stands), 1, "{}", text(&stands.stderr));
    assert!(text(&stands.stdout).contains("goes on"), "{stands:?}");
    is_same(&here, &job("collect", &folder));
    let stands = job("status", &folder);
    assert_eq!(
        text(&stands.stdout),
        format!("ended with {}\n", code(&here))
    );

    let tasks = cluster.arrays();
    // Its process is killed: one of those that collect takes over what Slurm has.
    let folder = begin("second");
    let (_, task) = cluster.running();
    let asked = fs::read_to_string(Path::new(&folder).join("run.json")).unwrap();
    let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
    let group = format!("-{}", asked["process"]);
    let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
    assert!(killed.unwrap().success());
    until("it is gone", || {
        (code(&job("status", &folder)) == 2).then_some(())
    });
    let array = task.split('_').next().unwrap().to_owned();
    std::thread::scope(|scope| {
        let collected = || scope.spawn(|| job("collect", &folder));
        for one in [collected(), collected()] {
            is_same(&here, &one.join().unwrap());
        }
    });
    assert_eq!(cluster.arrays(), 2 * tasks, "nothing is handed over twice");
    let wanted = ["-h", "-r", "-t", "all", "-j", &array, "-O", "State:|"];
    let states = cluster.says("squeue", &wanted);
    assert!(
        states.lines().all(|line| line.starts_with("COMPLETED")),
        "{states}"
    );

    let folder = begin("third");
    cluster.running();
    let cancelled = job("cancel", &folder);
    assert_eq!(code(&cancelled), 0, "{}", text(&cancelled.stderr));
    until("nothing is queued", || {
        cluster.queued().is_empty().then_some(())
    });
    let ended = job("collect", &folder);
    assert_eq!(code(&ended), 143, "{}", text(&ended.stderr));
    assert!(ended.status.signal().is_none());
}

/// The whole kernel, as `TOLLGATE_SLURM=kernel` asks for it: a matrix of six cells and a
/// proof.
#[test]
fn the_kernels_matrix_and_a_proof_are_the_same_on_four_nodes() {
    if tollgate_testing::asked(cluster::ASKED).is_none_or(|asked| asked != "kernel") {
        return;
    }
    let (Some(tree), Some(cluster)) = (tollgate_testing::kernel::tree(), Cluster::start()) else {
        return;
    };
    let patch = cluster.path("the.patch");
    fs::write(&patch, KERNEL_PATCH).unwrap();
    let words = [
        "-q",
        "robot",
        "--format",
        "json",
        "--cell",
        "x86_64,x86_64-nocompat,i386,arm64,riscv64,ppc64le",
    ];
    let robot = |cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args(words).arg("--tree").arg(&tree).arg(&patch);
        command.arg("--cache").arg(cluster.path(cache));
        command
    };
    let here = run(&mut robot("here"));
    is_same(&here, &run(cluster.elsewhere(&mut robot("there"), "")));
    let prove = |cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args([
            "-q",
            "prove",
            "epoll",
            "--format",
            "json",
            "--variant",
            "all",
        ]);
        command.arg("--tree").arg(&tree);
        command.arg("--cache").arg(cluster.path(cache));
        command
    };
    let here = run(&mut prove("here"));
    let there = run(cluster.elsewhere(&mut prove("there"), ""));
    is_same(&without_boots(here), &without_boots(there));
}

/// A proof without the notes of boots whose counts were not taken: of medians a boot now
/// and then gives others, here as there.
fn without_boots(output: Output) -> Output {
    let mut proof: Value = serde_json::from_slice(&output.stdout).unwrap();
    for comparison in proof["comparisons"].as_array_mut().unwrap() {
        let notes = comparison["notes"].as_array_mut().unwrap();
        notes.retain(|note| note["kind"].as_str().unwrap() != "differing");
    }
    let stdout = serde_json::to_vec_pretty(&proof).unwrap();
    Output { stdout, ..output }
}

/// An edit that every architecture compiles.
const KERNEL_PATCH: &str = "\
--- a/fs/eventpoll.c
+++ b/fs/eventpoll.c
@@ -1,4 +1,5 @@
 // SPDX-License-Identifier: GPL-2.0-or-later
+/* one line more */
 /*
  *  fs/eventpoll.c (Efficient event retrieval implementation)
  *  Copyright (C) 2001,...,2009	 Davide Libenzi
";
