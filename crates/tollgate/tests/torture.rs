//! What befalls a run from outside: a disk that is full, a kill, a clock that goes back,
//! another run at the same time, files of the cache that are cut or altered. Whatever
//! it is, the next run gives the verdict that an untroubled one gives, from the same
//! kernels, and no result from before is lost.
//!
//! A few of each, drawn with a seed (`TOLLGATE_SEED`); `TOLLGATE_TORTURE` asks for all
//! (`scripts/torture`).

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

#[allow(dead_code, reason = "other tests of the robot use the rest of it")]
mod robot_room;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use robot_room::{BREAKS, Room};
use support::{Lab, code, run};
use tollgate_testing::draw::{Draw, seed};
use tollgate_testing::{asked, elsewhere};

/// How many of them: a few, or all that are asked for.
fn rounds(few: usize, all: usize) -> usize {
    match asked("TOLLGATE_TORTURE") {
        Some(_) => all,
        None => few,
    }
}

fn is_all() -> bool {
    std::env::var_os("TOLLGATE_TORTURE").is_some()
}

/// Every file below a folder with what it holds, by its path there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let below = |path: &Path| path.strip_prefix(folder).unwrap().to_owned();
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() {
                all.insert(below(&path), fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn copied(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(done.unwrap().success());
}

fn removed(path: &Path) {
    if path.exists() {
        fs::remove_dir_all(path).unwrap();
    }
}

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Cut,
    Altered,
}

impl Harm {
    /// Does it somewhere, and says where.
    fn done(self, file: &Path, draw: &mut Draw) -> String {
        let mut bytes = fs::read(file).unwrap();
        if bytes.is_empty() {
            fs::write(file, "x").unwrap();
            return "one byte in an empty file".to_owned();
        }
        let at = draw.below(bytes.len());
        let bit = draw.below(8);
        match self {
            Self::Cut => bytes.truncate(at),
            Self::Altered => bytes[at] ^= 1 << bit,
        }
        // In its place, as a disk would: the time stays.
        let about = fs::metadata(file).unwrap();
        let mut open = File::options()
            .write(true)
            .truncate(true)
            .open(file)
            .unwrap();
        std::io::Write::write_all(&mut open, &bytes).unwrap();
        open.set_modified(about.modified().unwrap()).unwrap();
        format!("{self:?} at {at}, bit {bit}")
    }
}

/// A lab whose answer is known, with the cache that gave it.
struct Prove {
    lab: Lab,
    answer: Vec<u8>,
    /// What the kept folders hold, by path: images, programs, results.
    kept: BTreeMap<PathBuf, Vec<u8>>,
    took: Duration,
}

/// What must be the same whatever happened. Pages have the day on them, logs an order
/// of lines.
fn kept(cache: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap();
        ["vmlinux", "guest", "tollgate-counts.so", "result.json"]
            .map(Path::new)
            .contains(&Path::new(name))
    };
    ["images", "programs", "results"]
        .iter()
        .flat_map(|kind| {
            let all = files(&cache.join(kind)).into_iter();
            all.map(|(path, bytes)| (Path::new(kind).join(path), bytes))
        })
        .filter(|(path, _)| wanted(path))
        .collect()
}

impl Prove {
    fn new() -> Self {
        let lab = Lab::new();
        let mut this = Self {
            lab,
            answer: Vec::new(),
            kept: BTreeMap::new(),
            took: Duration::ZERO,
        };
        // The first run compiles the guest, which the others find.
        this.run("the first run");
        this.keep_warm();
        this.cold();
        let began = Instant::now();
        this.run("the run from which all is known");
        this.took = began.elapsed();
        this.answer = fs::read(this.lab.path("out.json")).unwrap();
        this.kept = kept(&this.lab.cache());
        assert!(this.kept.len() >= 5, "{:?}", this.kept.keys());
        this.keep_warm();
        this
    }

    fn keep_warm(&self) {
        removed(&self.lab.path("warm"));
        copied(&self.lab.cache(), &self.lab.path("warm"));
    }

    fn command(&self) -> Command {
        let _ = fs::remove_file(self.lab.path("out.json"));
        let mut command = self.lab.prove(&["--recount", "--json"]);
        command.arg(self.lab.path("out.json"));
        command
    }

    fn run(&self, what: &str) -> Output {
        let output = run(&mut self.command());
        assert_eq!(code(&output), 0, "{what}: {}", self.lab.said(&output));
        output
    }

    /// The cache as it was after the run from which all is known.
    fn warm(&self) {
        removed(&self.lab.cache());
        copied(&self.lab.path("warm"), &self.lab.cache());
    }

    /// A cache that has only the guest and the plugin.
    fn cold(&self) {
        removed(&self.lab.cache());
        fs::create_dir(self.lab.cache()).unwrap();
        let programs = self.lab.path("warm").join("programs");
        copied(&programs, &self.lab.cache().join("programs"));
    }

    /// A run now gives what is known, from the kernels that are known.
    fn is_right(&self, what: &str) -> String {
        let output = self.run(what);
        let said = self.lab.said(&output);
        let answer = fs::read(self.lab.path("out.json")).unwrap();
        assert!(answer == self.answer, "{what}: another verdict\n{said}");
        let now = kept(&self.lab.cache());
        for (path, bytes) in &self.kept {
            let same = now.get(path) == Some(bytes);
            assert!(same, "{what}: {} is another\n{said}", path.display());
        }
        said
    }
}

#[test]
fn files_of_the_cache_are_cut_and_altered() {
    let prove = Prove::new();
    let warm = prove.lab.path("warm");
    let all: Vec<PathBuf> = files(&warm).into_keys().collect();
    let mut draw = Draw::new(seed());
    let mut chosen: Vec<(PathBuf, Harm)> = Vec::new();
    if rounds(0, 1) == 1 {
        for harm in [Harm::Cut, Harm::Altered] {
            chosen.extend(all.iter().map(|path| (path.clone(), harm)));
        }
    } else {
        for kind in [
            "images", "images", "programs", "work", "work", "work", "results",
        ] {
            let of_kind: Vec<_> = all.iter().filter(|path| path.starts_with(kind)).collect();
            let harm = *draw.of(&[Harm::Cut, Harm::Altered]);
            chosen.push(((*draw.of(&of_kind)).clone(), harm));
        }
    }
    let (mut noticed, mut unused) = (0, 0);
    for (path, harm) in &chosen {
        prove.warm();
        let place = prove.lab.cache().join(path);
        let how = harm.done(&place, &mut draw);
        // What is built from is only looked at where something is built.
        if path.starts_with("work") {
            removed(&prove.lab.cache().join("images"));
        }
        let said = prove.is_right(&format!("{} {how}", path.display()));
        match said.contains("did not hold what was written there") {
            true => noticed += 1,
            false => unused += 1,
        }
    }
    println!(
        "damage: {} files of {} harmed, {noticed} noticed, {unused} written anew or not used; 0 wrong verdicts, 0 lost results",
        chosen.len(),
        all.len()
    );
    assert!(noticed > 0);
}

/// What an answer says, but for whether its base was booted, and that.
fn verdict(answer: &[u8]) -> (serde_json::Value, bool) {
    let mut value: serde_json::Value = serde_json::from_slice(answer).unwrap();
    let mut kept = Vec::new();
    for comparison in value["comparisons"].as_array_mut().unwrap() {
        let setting = comparison["setting"].as_object_mut().unwrap();
        kept.push(setting.remove("kept").is_some_and(|kept| kept == true));
    }
    (value, kept.contains(&true))
}

impl Prove {
    /// By what is kept of the base.
    fn short(&self) -> Command {
        let mut command = self.lab.prove(&["--json"]);
        command.arg(self.lab.path("out.json"));
        command
    }

    /// A run gives the known verdict; whether it took the base's counts from the cache, and
    /// what it said.
    fn is_right_by_kept(&self, what: &str) -> (bool, String) {
        let output = run(&mut self.short());
        let said = self.lab.said(&output);
        assert_eq!(code(&output), 0, "{what}: {said}");
        let answer = fs::read(self.lab.path("out.json")).unwrap();
        let (now, by_kept) = verdict(&answer);
        let (known, booted) = verdict(&self.answer);
        assert!(!booted && now == known, "{what}: another verdict\n{said}");
        (by_kept, said)
    }
}

#[test]
fn kept_counts_that_were_cut_altered_or_removed_are_counted_anew() {
    let prove = Prove::new();
    let warm = prove.lab.path("warm");
    let all: Vec<PathBuf> = files(&warm.join("counts")).into_keys().collect();
    // Console, counts, how long it took, what the three hold.
    assert_eq!(all.len(), 4, "{all:?}");
    prove.warm();
    assert!(prove.is_right_by_kept("nothing").0);
    let mut draw = Draw::new(seed());
    for path in &all {
        for harm in [Some(Harm::Cut), Some(Harm::Altered), None] {
            prove.warm();
            let place = prove.lab.cache().join("counts").join(path);
            let how = match harm {
                Some(harm) => harm.done(&place, &mut draw),
                None => {
                    fs::remove_file(&place).unwrap();
                    "removed".to_owned()
                }
            };
            let what = format!("{} {how}", path.display());
            let (by_kept, said) = prove.is_right_by_kept(&what);
            assert!(!by_kept, "{what}: {said}");
            // Without the list of what they hold nothing says that they are other.
            let is_told = said.contains("did not hold what was written there");
            let is_list = path.ends_with("sums.json") && harm.is_none();
            assert!(is_told || is_list, "{what}: {said}");
            assert!(prove.is_right_by_kept(&what).0, "{what}: not kept again");
        }
    }
}

#[test]
fn a_prove_that_was_killed_leaves_counts_that_are_right_or_none() {
    let prove = Prove::new();
    let mut draw = Draw::new(seed());
    let rounds = rounds(4, 50);
    let (mut alive, mut kept) = (0, 0);
    for round in 0..rounds {
        match round % 2 {
            // Images are found, so that it is killed among boots and what is kept of them.
            0 => {
                prove.warm();
                removed(&prove.lab.cache().join("counts"));
            }
            _ => prove.cold(),
        }
        let after = moment(&mut draw, prove.took);
        alive += usize::from(killed_after(&mut prove.short(), after));
        let what = format!("a kill after {after:?}");
        kept += usize::from(prove.is_right_by_kept(&what).0);
        assert!(prove.is_right_by_kept(&what).0, "{what}: not kept again");
    }
    println!(
        "kills of prove, counts: {rounds} rounds, {alive} kills while it ran, {kept} with counts \
         by then; 0 wrong verdicts"
    );
    assert!(alive > 0);
}

/// Kills a command a while after it began; whether it was still there.
fn killed_after(command: &mut Command, time: Duration) -> bool {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(time);
    let alive = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    alive
}

/// A moment of a run that takes so long.
fn moment(draw: &mut Draw, whole: Duration) -> Duration {
    whole.mul_f64(draw.below(1000) as f64 / 1000.0)
}

#[test]
fn a_prove_that_is_killed_at_any_moment_is_followed_by_one_that_ends_right() {
    let prove = Prove::new();
    let mut draw = Draw::new(seed());
    let rounds = rounds(4, 50);
    let mut alive = 0;
    for round in 0..rounds {
        // One in three finds images, and is killed among boots and results.
        match round % 3 {
            0 => prove.warm(),
            _ => prove.cold(),
        }
        let after = moment(&mut draw, prove.took);
        alive += usize::from(killed_after(&mut prove.command(), after));
        if round % 3 == 2 {
            alive += usize::from(killed_after(&mut prove.command(), after / 2));
        }
        prove.is_right(&format!("a kill after {after:?}"));
    }
    println!(
        "kills of prove: {rounds} rounds, {alive} kills while it ran; 0 wrong verdicts, 0 lost results"
    );
    assert!(alive > 0);
}

fn set_times(folder: &Path, time: SystemTime) -> usize {
    let all: Vec<PathBuf> = files(folder).into_keys().collect();
    for path in &all {
        let file = File::open(folder.join(path)).unwrap();
        file.set_modified(time).unwrap();
    }
    all.len()
}

/// The clock was ahead, or behind, when everything that there is was written.
#[test]
fn a_clock_that_jumps_leaves_no_old_object_in_a_new_image() {
    let prove = Prove::new();
    let day = Duration::from_secs(24 * 3600);
    let times = [
        ("ahead", SystemTime::now() + day),
        ("far ahead", SystemTime::now() + day * 10_000),
        ("behind", SystemTime::UNIX_EPOCH + day),
    ];
    let mut jumps = 0;
    for (what, time) in times {
        for of_tree in [false, true] {
            prove.warm();
            let images = prove.lab.cache().join("images");
            set_times(&prove.lab.cache(), time);
            if of_tree {
                set_times(&prove.lab.tree(), time);
            }
            // What was built last is the variant: the base has to be built of the base.
            removed(&images);
            prove.is_right(&format!("a clock that was {what}, tree: {of_tree}"));
            jumps += 1;
        }
    }
    println!("clock: {jumps} jumps; 0 wrong verdicts");
}

#[test]
fn two_runs_at_once_end_as_one_after_the_other() {
    let prove = Prove::new();
    let rounds = rounds(1, 10);
    for round in 0..rounds {
        prove.cold();
        let other = prove.lab.path("other.json");
        let mut second = prove.lab.prove(&["--recount", "--json"]);
        second.arg(&other);
        let both = [&mut prove.command(), &mut second].map(|command| {
            let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
            piped.spawn().unwrap()
        });
        for child in both {
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "{round}: {}", prove.lab.said(&output));
        }
        assert!(fs::read(&other).unwrap() == prove.answer);
        prove.is_right("two at once");
    }
    println!("two at once: {rounds} pairs; 0 wrong verdicts");
}

/// A disk of that size at the cache, filled with what is in `beside`; a run on it, then
/// more room, and a run again. None where this machine allows no mounts.
fn on_a_disk(prove: &Prove, size: &str) -> Option<(i32, String, i32, String)> {
    let script = "\
mount -t tmpfs -o \"$0\" none \"$1\" || exit 9
cp -a \"$2/results\" \"$2/measured\" \"$1\" || exit 8
shift 2
\"$@\" >first 2>&1; echo $? >first.code
mount -o remount,size=1g,nr_inodes=0 none \"$CACHE\" || exit 7
\"$@\" >second 2>&1; echo $? >second.code
rm -rf seen; cp -a \"$CACHE\" seen";
    let command = prove.command();
    let mut outer = Command::new("unshare");
    outer.args(["-rm", "sh", "-c", script, size]);
    outer.arg(prove.lab.cache()).arg(prove.lab.path("warm"));
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer.env("CACHE", prove.lab.cache());
    outer.current_dir(prove.lab.path(""));
    removed(&prove.lab.cache());
    fs::create_dir(prove.lab.cache()).unwrap();
    let output = run(&mut outer);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("ermitted") || said.contains("ermission"),
            "{said}"
        );
        elsewhere("no-mount-namespaces");
        return None;
    }
    let text = |name: &str| fs::read_to_string(prove.lab.path(name)).unwrap();
    let number = |name: &str| text(name).trim().parse().unwrap();
    Some((
        number("first.code"),
        text("first"),
        number("second.code"),
        text("second"),
    ))
}

#[test]
fn a_disk_that_is_full_at_any_write_is_named_and_nothing_is_lost() {
    let prove = Prove::new();
    let mut draw = Draw::new(seed());
    let whole: u64 = files(&prove.lab.path("warm"))
        .values()
        .map(|bytes| (bytes.len() as u64).div_ceil(4096) * 4)
        .sum();
    let count = files(&prove.lab.path("warm")).len();
    let sizes: Vec<String> = if rounds(0, 1) == 1 {
        let kib = (64..whole).step_by(32).map(|kib| format!("size={kib}k"));
        let inodes = (30..count * 3)
            .step_by(2)
            .map(|many| format!("size=1g,nr_inodes={many}"));
        kib.chain(inodes).collect()
    } else {
        let most = usize::try_from(whole).unwrap() - 128;
        let mut kib = || format!("size={}k", 128 + draw.below(most));
        let sizes = [kib(), kib(), kib()];
        let mut many = || format!("size=1g,nr_inodes={}", 40 + draw.below(count));
        sizes.into_iter().chain([many(), many()]).collect()
    };
    let (mut full, mut enough) = (0, 0);
    for size in &sizes {
        let Some((first, said, second, then)) = on_a_disk(&prove, size) else {
            return;
        };
        match first {
            0 => enough += 1,
            2 => {
                let named = said.contains("make room there");
                assert!(
                    named,
                    "{size}: it is not said that the disk is full:\n{said}"
                );
                full += 1;
            }
            other => panic!("{size}: it ended with {other}:\n{said}"),
        }
        assert_eq!(second, 0, "{size}: with room:\n{then}");
        assert!(
            !then.contains("did not hold what was written"),
            "{size}: {then}"
        );
        let answer = fs::read(prove.lab.path("out.json")).unwrap();
        assert!(answer == prove.answer, "{size}: another verdict");
        let seen = kept(&prove.lab.path("seen"));
        for (path, bytes) in &prove.kept {
            let same = seen.get(path) == Some(bytes);
            assert!(same, "{size}: {} is another", path.display());
        }
    }
    println!(
        "full disks: {} sizes, {full} too small and told so, {enough} large enough; 0 wrong verdicts, 0 lost results",
        sizes.len()
    );
}

/// The robot on its tree of a few files, whose answer is known.
struct Robot {
    room: Room,
    diff: String,
    answer: serde_json::Value,
    took: Duration,
}

impl Robot {
    fn new() -> Option<Self> {
        let room = Room::new()?;
        let diff = room.diff(&[BREAKS]);
        let mut this = Self {
            room,
            diff,
            answer: serde_json::Value::Null,
            took: Duration::ZERO,
        };
        let began = Instant::now();
        this.answer = this.run("the run from which all is known");
        this.took = began.elapsed();
        copied(&this.room.path("cache"), &this.room.path("warm"));
        Some(this)
    }

    fn command(&self) -> Command {
        self.room.command(&self.diff, &["-q", "--format", "json"])
    }

    fn run(&self, what: &str) -> serde_json::Value {
        let output = run(&mut self.command());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code(&output), 1, "{what}: {said}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        document.get("patches").unwrap().clone()
    }

    fn is_right(&self, what: &str) {
        let answer = self.run(what);
        assert_eq!(answer, self.answer, "{what}");
    }

    fn warm(&self) {
        removed(&self.room.path("cache"));
        copied(&self.room.path("warm"), &self.room.path("cache"));
    }
}

#[test]
fn a_robot_that_is_killed_at_any_moment_is_followed_by_one_that_ends_right() {
    let Some(robot) = Robot::new() else { return };
    let mut draw = Draw::new(seed());
    let rounds = rounds(2, 50);
    let mut alive = 0;
    for _ in 0..rounds {
        removed(&robot.room.path("cache"));
        let after = moment(&mut draw, robot.took);
        alive += usize::from(killed_after(&mut robot.command(), after));
        robot.is_right(&format!("a kill after {after:?}"));
    }
    println!("kills of robot: {rounds} rounds, {alive} while it ran; 0 wrong answers");
}

#[test]
fn files_of_the_robots_cache_are_cut_and_altered() {
    let Some(robot) = Robot::new() else { return };
    let mut draw = Draw::new(seed());
    let all: Vec<PathBuf> = files(&robot.room.path("warm")).into_keys().collect();
    let rounds = rounds(3, all.len() * 2);
    for round in 0..rounds {
        robot.warm();
        let path = match is_all() {
            true => &all[round / 2],
            false => draw.of(&all),
        };
        let harm = *[Harm::Cut, Harm::Altered].get(round % 2).unwrap();
        let how = harm.done(&robot.room.path("cache").join(path), &mut draw);
        // Results are looked at first, and hide what they came from.
        if !path.starts_with("robot/results") {
            removed(&robot.room.path("cache").join("robot/results"));
        }
        robot.is_right(&format!("{} {how}", path.display()));
    }
    println!(
        "damage of the robot's cache: {rounds} times in {} files; 0 wrong answers",
        all.len()
    );
}
