//! The guest as an ordinary program on this machine: the plan it reads and the
//! lines it prints. In the virtual machine it is the same binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what it expects"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use tollgate_lab::parameter::Parameter;
use tollgate_lab::registry::Registry;
use tollgate_measure::{Layout, Results};
use tollgate_testing::elsewhere;

/// The guest for this machine, compiled once for all tests, without a warning.
fn guest() -> PathBuf {
    static GUEST: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_folder, guest) = GUEST.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let guest = compile(folder.path(), &[]);
        (folder, guest)
    });
    guest.clone()
}

fn compile(folder: &Path, flags: &[&str]) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest");
    let mut files: Vec<PathBuf> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    let guest = folder.join("guest");
    let output = Command::new("gcc")
        .args(["-static", "-O2", "-Wall", "-Wextra", "-Werror"])
        .args(flags)
        .arg("-o")
        .arg(&guest)
        .args(files)
        .output()
        .expect("gcc runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaint.is_empty(),
        "{complaint}"
    );
    guest
}

/// The exit status and the lines printed for a plan.
fn run(plan: &[u8]) -> (Option<i32>, Vec<String>) {
    run_with(&guest(), plan).unwrap()
}

fn run_with(guest: &Path, plan: &[u8]) -> std::io::Result<(Option<i32>, Vec<String>)> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("plan"), plan)?;
    let output = Command::new(guest)
        .args(["--plan", "plan"])
        .current_dir(folder.path())
        .output()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(str::to_owned).collect();
    Ok((output.status.code(), lines))
}

#[test]
fn benchmarks_print_a_phase_for_each_repetition() {
    let plan =
        b"# two jobs\n\nbench epoll_wait events=8 ops=64 reps=2\nbench getppid ops=1000 reps=0\n";
    let (status, lines) = run(plan);
    assert_eq!(status, Some(0));
    insta::assert_snapshot!("phases", lines.join("\n"));
}

/// Compiled with the flag of `tollgate run`, phases say how long they took;
/// without it they do not (above).
#[test]
fn a_timed_guest_stays_on_a_processor_and_says_how_long_a_phase_took() {
    let folder = tempfile::tempdir().unwrap();
    let guest = compile(folder.path(), &["-DTOLLGATE_TIMED"]);
    let (status, lines) = run_with(&guest, b"bench getppid ops=1000 reps=1\n").unwrap();
    assert_eq!(status, Some(0));
    let time = |line: &String| line.split_once(" ns=")?.1.parse::<u64>().ok();
    let times: Vec<u64> = lines.iter().filter_map(time).collect();
    assert_eq!(times.len(), 2, "{lines:?}");
    assert!(times.iter().all(|time| *time > 0), "{lines:?}");
    for cpu in ["x", "", "-1", "99999999"] {
        let mut command = Command::new(&guest);
        let output = command
            .args(["--plan", "plan", "--cpu", cpu])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{cpu}");
    }
}

#[test]
fn each_bad_line_is_an_error_and_the_next_one_runs() {
    let plan = b"bench nosuch ops=1 reps=1\n\
        sweep nosuch\n\
        foo\n\
        bench\n\
        bench epoll_wait events=9999 ops=1 reps=1\n\
        bench epoll_wait colour=1 ops=1 reps=1\n\
        bench getppid\n\
        bench getppid ops=0 reps=1\n\
        bench getppid ops=1 ops=2 reps=0\n\
        sweep epoll_wait ops=3\n\
        bench getppid ops=99999999999999999999 reps=1\n\
        bench  getppid ops=1 reps=1\n\
        bench getppid ops=1 reps=1\r\n\
        bench a\0b ops=1 reps=1\n\
        bench \x1b[31m\xff ops=1 reps=0\n\
        bench getppid ops=1 reps=0";
    let (status, lines) = run(plan);
    assert_eq!(status, Some(1));
    insta::assert_snapshot!("bad_plan", lines.join("\n"));
}

#[test]
fn a_line_of_any_length_is_answered() {
    let (status, lines) = run(format!("bench getppid {}\n", "x".repeat(100_000)).as_bytes());
    assert_eq!(status, Some(1));
    assert_eq!(
        lines,
        [
            "@tg guest 1",
            "@tg error plan line 1: longer than 511 characters",
            "@tg done"
        ]
    );
}

#[test]
fn the_sweep_prints_every_point_once() {
    let (status, lines) = run(b"sweep epoll_wait\n");
    assert_eq!(status, Some(0));
    let points: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("@tg point "))
        .collect();
    let names: BTreeSet<&str> = points
        .iter()
        .filter_map(|line| line.split(' ').nth(3))
        .collect();
    assert!(points.len() >= 200, "{} points", points.len());
    assert_eq!(names.len(), points.len(), "a name is used twice");
    assert!(lines.contains(&format!("@tg points epoll_wait {}", points.len())));
}

#[test]
fn a_point_shows_what_a_fault_left_behind() {
    let (_, lines) = run(b"sweep epoll_wait\n");
    let wanted = [
        "end/0",
        "end/4",
        "end/8",
        "end/11",
        "end/12",
        "end/17",
        "read-only/17",
        "start/4",
        "edge/12",
        "edge/12/again",
        "oneshot/24/again",
        "max/0",
        "max/178956970",
        "max/178956971",
        "at/null",
        "at/direct-map",
        "top/47",
        "top/48",
    ];
    let shown: Vec<&str> = wanted
        .iter()
        .map(|name| {
            let start = format!("@tg point epoll_wait {name} ");
            let line = lines.iter().find(|line| line.starts_with(&start));
            line.unwrap_or_else(|| panic!("no point {name}")).as_str()
        })
        .collect();
    insta::assert_snapshot!("points", shown.join("\n"));
}

#[test]
fn a_plan_that_is_not_there_is_exit_2() {
    let output = Command::new(guest())
        .args(["--plan", "/nonexistent/plan"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "@tg guest 1\n@tg error cannot open /nonexistent/plan: No such file or directory\n@tg done\n"
    );
}

/// A 32-bit program makes the same calls, where the kernel of this machine runs
/// such programs.
#[test]
fn the_guest_is_a_program_of_32_bits_too() {
    let folder = tempfile::tempdir().unwrap();
    let headers = ["-idirafter", "/usr/include/x86_64-linux-gnu"];
    let guest = compile(folder.path(), &[&["-m32"], &headers[..]].concat());
    let plan = b"bench epoll_wait events=8 ops=64 reps=1\nsweep epoll_wait\n";
    match run_with(&guest, plan) {
        Ok((status, lines)) => {
            assert_eq!(status, Some(0), "{lines:?}");
            assert!(lines.contains(&"@tg done".to_owned()));
            layouts_fit(&lines);
        }
        Err(error) => {
            // ENOEXEC of execve(2): a format that the kernel does not know.
            assert_eq!(error.raw_os_error(), Some(8), "{error}");
            elsewhere("no-32-bit-programs");
        }
    }
}

#[test]
fn a_device_that_is_missing_is_a_skip_and_no_error() {
    let plan = b"bench sync_ptr layout=132 ops=4 reps=0\nsweep sync_ptr\n\
        bench sync_ptr_aloop layout=132 ops=4 reps=0\nsweep sync_ptr_aloop\n";
    let (status, lines) = run(plan);
    assert_eq!(status, Some(0), "{lines:?}");
    for (bench, driver) in [("sync_ptr", "Dummy"), ("sync_ptr_aloop", "Loopback")] {
        let skips = format!(
            "@tg skip bench {bench} layout=132: none of the cards 0 to 7 has the driver {driver}"
        );
        let runs = format!(" {bench} layout=132 ops=4 rep=0");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&skips) || line.ends_with(&runs)),
            "{lines:?}"
        );
    }
}

/// Every benchmark and sweep that needs no device; this machine's kernel may
/// lack a call.
const PLAN: &str = "bench drm_ioctl ops=2 reps=0\n\
    bench epoll_wait ops=2 reps=0\n\
    bench futex_waitv futexes=3 ops=2 reps=0\n\
    bench getdents64 entries=5 ops=2 reps=0\n\
    bench getrlimit ops=2 reps=0\n\
    bench pipe_pingpong ops=2 reps=0\n\
    bench poll fds=3 ops=2 reps=0\n\
    bench recvfrom_address ops=2 reps=0\n\
    bench recvmsg_control messages=2 ops=2 reps=0\n\
    bench select fds=3 ops=2 reps=0\n\
    bench sigaltstack ops=2 reps=0\n\
    bench statx ops=2 reps=0\n\
    bench tcp_rr flows=3 ops=30 reps=0\n\
    bench tcp_rr flows=3 family=6 ops=30 reps=0\n\
    bench udp_rr flows=3 ops=30 reps=0\n\
    bench udp_rr flows=200 family=6 ops=600 reps=0\n\
    bench waitid ops=2 reps=0\n\
    sweep futex_waitv\n\
    sweep getdents64\n\
    sweep getrlimit\n\
    sweep pipe\n\
    sweep poll\n\
    sweep recvfrom_address\n\
    sweep recvmsg_control\n\
    sweep select\n\
    sweep sigaltstack\n\
    sweep statx\n\
    sweep tcp_rr\n\
    sweep waitid\n";

#[test]
fn every_job_is_done_or_says_what_is_missing() {
    let (status, lines) = run(PLAN.as_bytes());
    assert_eq!(status, Some(0), "{lines:?}");
    for job in PLAN.lines() {
        let mut words = job.split(' ');
        let (kind, name) = (words.next().unwrap(), words.next().unwrap());
        let skip = format!("@tg skip {kind} {name} ");
        let done = |line: &String| match kind {
            "bench" => line.starts_with("@tg phase ") && line.contains(&format!(" {name} ")),
            _ => line.starts_with(&format!("@tg points {name} ")),
        };
        assert!(
            lines
                .iter()
                .any(|line| done(line) || line.starts_with(&skip)),
            "{job}: {lines:?}"
        );
        let points: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("@tg point {name} ")))
            .filter_map(|rest| rest.split(' ').next())
            .collect();
        let names: BTreeSet<&&str> = points.iter().collect();
        assert_eq!(names.len(), points.len(), "{job}: a name is used twice");
    }
}

/// Every point of these sweeps shows as much memory as the layout of its name says.
fn layouts_fit(lines: &[String]) {
    let console = lines.join("\n") + "\n";
    let results = Results::parse(console.as_bytes()).unwrap();
    assert!(!results.points.is_empty());
    for point in &results.points {
        let layout = Layout::of(&results.layouts, &point.sweep, &point.name);
        let shown: usize = point.outcome.bytes.split(',').map(length).sum();
        assert_eq!(layout.map(Layout::shown), Some(shown), "{point:?}");
    }
}

/// How many bytes an item of a point is.
fn length(item: &str) -> usize {
    let run = item.strip_prefix("..x").or(item.strip_prefix("--x"));
    run.map_or(item.len() / 2, |length| length.parse().unwrap())
}

#[test]
fn every_point_has_a_layout_of_its_memory() {
    let sweeps = PLAN.lines().filter(|line| line.starts_with("sweep "));
    let plan: String = sweeps.map(|line| format!("{line}\n")).collect();
    let (status, lines) = run(format!("sweep epoll_wait\n{plan}").as_bytes());
    assert_eq!(status, Some(0), "{lines:?}");
    layouts_fit(&lines);
    // What no kernel lacks.
    let wanted = [
        "epoll_wait -",
        "getdents64 -",
        "recvmsg_control header/",
        "waitid rusage/",
    ];
    let wanted = wanted.map(|name| format!("@tg layout {name} "));
    let is_wanted = |line: &&String| wanted.iter().any(|start| line.starts_with(start));
    let layouts: Vec<_> = lines.iter().filter(is_wanted).map(String::as_str).collect();
    insta::assert_snapshot!("layouts", layouts.join("\n"));
}

/// Every benchmark and sweep with its parameters, as the host knows them.
fn table() -> Vec<(&'static str, String, Vec<Parameter>)> {
    let registry = Registry::built_in().unwrap();
    let benches = registry.entries.into_iter();
    let benches = benches.map(|entry| ("bench", entry.name, entry.parameters));
    let sweeps = registry.sweeps.into_iter();
    let sweeps = sweeps.map(|sweep| ("sweep", sweep.name, sweep.parameters));
    benches.chain(sweeps).collect()
}

/// A line of the plan with one parameter.
fn line(kind: &str, name: &str, parameter: &Parameter, value: i64) -> String {
    let counts = if kind == "bench" { " ops=1 reps=0" } else { "" };
    format!("{kind} {name} {}={value}{counts}\n", parameter.name)
}

/// What is around the limits, where a guest does not take it.
fn refused(parameter: &Parameter) -> Vec<i64> {
    let Parameter { least, most, .. } = parameter;
    let around = [
        i64::from(i32::MIN),
        least - 1,
        least + 1,
        most - 1,
        most + 1,
        i64::from(i32::MAX),
    ];
    let mut values = around.to_vec();
    values.retain(|value| !parameter.takes(*value));
    values
}

/// The lines of a plan, and of each the guest's answer where it is an error.
fn answers(guest: &Path, plan: &[String]) -> Vec<Option<String>> {
    let (_, lines) = run_with(guest, plan.concat().as_bytes()).unwrap();
    let answer = |line: &String| {
        let job = line.split(" ops=").next().unwrap().trim();
        let start = format!("@tg error {job}: ");
        lines
            .iter()
            .find_map(|line| line.strip_prefix(&start))
            .map(str::to_owned)
    };
    plan.iter().map(answer).collect()
}

#[test]
fn the_guest_refuses_what_the_host_refuses() {
    for (kind, name, parameters) in table() {
        for parameter in parameters {
            let values = refused(&parameter);
            let plan: Vec<String> = values
                .iter()
                .map(|v| line(kind, &name, &parameter, *v))
                .collect();
            let wanted = format!("want {parameter}");
            for (line, answer) in plan.iter().zip(answers(&guest(), &plan)) {
                assert_eq!(answer.as_deref(), Some(wanted.as_str()), "{line}");
            }
        }
    }
}

/// What this machine can run it runs at both ends of what it takes, and beside
/// them; what it lacks is a skip, never a refusal.
#[test]
fn the_guest_takes_what_the_host_takes() {
    for (kind, name, parameters) in table() {
        for parameter in parameters {
            let Parameter {
                least, most, step, ..
            } = &parameter;
            let values = [*least, least + step, most - step, *most];
            let plan: Vec<String> = values
                .iter()
                .map(|v| line(kind, &name, &parameter, *v))
                .collect();
            for (line, answer) in plan.iter().zip(answers(&guest(), &plan)) {
                let here = answer.as_deref().is_none_or(is_of_this_machine);
                assert!(here, "{line}{answer:?}");
            }
        }
    }
}

/// A fork whose child comes late to what it does.
const LATE: &str = "#include <unistd.h>
pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
\tpid_t pid = __real_fork();

\tif (!pid)
\t\tusleep(100000);
\treturn pid;
}
";

/// Without a repetition a benchmark may be over before its peer has begun.
#[test]
fn a_peer_ends_with_its_benchmark_even_where_it_starts_later() {
    let folder = tempfile::tempdir().unwrap();
    let late = folder.path().join("late.c");
    std::fs::write(&late, LATE).unwrap();
    let guest = compile(folder.path(), &["-Wl,--wrap=fork", late.to_str().unwrap()]);
    std::fs::write(
        folder.path().join("plan"),
        "bench signal_preempted avx=0 ops=1 reps=0\n",
    )
    .unwrap();
    // A peer that stays holds the ends of pipes, for which output() would wait.
    let status = Command::new(&guest)
        .args(["--plan", "plan"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while !running(&guest).is_empty() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let left = running(&guest);
    for process in &left {
        Command::new("kill").args(["-9", process]).status().unwrap();
    }
    assert_eq!(left, Vec::<String>::new());
}

/// The processes that run this program.
fn running(program: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .map(|entry| entry.unwrap().path())
        .filter(|process| std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == program))
        .map(|process| process.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// Of the sweep that is told how many processors it must find, and whose processes
/// need a kernel that hashes.
fn is_of_this_machine(answer: &str) -> bool {
    let lacks = [
        "processors are running, wanted",
        "this kernel hashes nothing",
    ];
    lacks.iter().any(|words| answer.contains(words))
}
