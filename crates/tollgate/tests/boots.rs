//! Boots that go wrong, each planted in a guest that lies (`boots.toml`, `lying-qemu`):
//! each is told by name, none hangs, none is taken for a verdict, and what was decided
//! before stays.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use support::{Lab, code, run, snapshot};

/// A line of `boots.toml`, whose head says what each field is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Boot {
    name: String,
    whose: Option<String>,
    text: Option<String>,
    console: Option<String>,
    counts: Option<String>,
    end: Option<String>,
    timeout: Option<u32>,
    says: Vec<String>,
}

#[derive(Deserialize)]
struct Boots {
    boot: Vec<Boot>,
}

fn boots() -> Vec<Boot> {
    toml::from_str::<Boots>(include_str!("boots.toml"))
        .unwrap()
        .boot
}

/// Bytes, where `\NNN` is one in octal.
fn bytes(text: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        let octal = (*first == b'\\')
            .then(|| rest.split_at_checked(3))
            .flatten();
        match octal {
            Some((digits, more)) => {
                let digits = std::str::from_utf8(digits).unwrap();
                all.push(u8::from_str_radix(digits, 8).unwrap());
                rest = more;
            }
            None => all.push(*first),
        }
    }
    all
}

impl Boot {
    /// Lays out what the lying QEMU reads.
    fn lie(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let put = |name: &str, text: &[u8]| fs::write(folder.join(name), text).unwrap();
        let line = |text: &Option<String>, usual: &str| {
            format!("{}\n", text.as_deref().unwrap_or(usual)).into_bytes()
        };
        put("whose", &line(&self.whose, "A"));
        put("end", &line(&self.end, "0"));
        put("console", &line(&self.console, ""));
        put("counts", self.counts.as_deref().unwrap_or("").as_bytes());
        if let Some(text) = &self.text {
            put("text", &bytes(text));
        }
    }

    /// What is wrong with what became of it.
    fn faults(&self, code: i32, said: &str) -> Vec<String> {
        let mut faults = Vec::new();
        if code != 2 {
            faults.push(format!("it ended with {code}"));
        }
        for words in &self.says {
            if !said.contains(words) {
                faults.push(format!("{words:?} is not said"));
            }
        }
        if let Some(odd) = said.chars().find(|c| c.is_control() && *c != '\n') {
            faults.push(format!("{odd:?} is said"));
        }
        if said.contains("panicked at") || said.contains("a defect of tollgate") {
            faults.push("tollgate itself is wrong".to_owned());
        }
        faults
    }
}

/// Longer than any limit of a boot of the fake base.
const HANGS: Duration = Duration::from_secs(240);

/// Runs to the end, which has to come.
fn to_its_end(command: &mut Command) -> Option<(i32, String)> {
    let log = tempfile::tempfile().unwrap();
    let both = log.try_clone().unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(both.try_clone().unwrap())
        .stderr(both)
        .spawn()
        .unwrap();
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if began.elapsed() > HANGS => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let mut said = Vec::new();
    let mut log = log;
    std::io::Seek::rewind(&mut log).unwrap();
    std::io::Read::read_to_end(&mut log, &mut said).unwrap();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some((status.code().unwrap_or(255), said))
}

/// A cache that has the images and a verdict, copied for each that works with it.
fn warm(lab: &Lab) -> PathBuf {
    let output = run(&mut lab.prove(&[]));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    lab.cache()
}

fn copied(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(done.unwrap().success());
}

#[test]
fn each_boot_that_goes_wrong_is_told_by_name() {
    let lab = Lab::new();
    let warm = warm(&lab);
    let verdict = snapshot(&warm.join("results"));
    let all = boots();
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    let longest = Mutex::new((Duration::ZERO, String::new()));
    let work = |worker: usize| {
        let cache = lab.path(&format!("cache-{worker}"));
        copied(&warm, &cache);
        while let Some(boot) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
            let began = Instant::now();
            let wrong = match to_its_end(&mut command(&lab, boot, &cache, worker)) {
                None => vec!["it hangs".to_owned()],
                Some((code, said)) => {
                    let wrong = boot.faults(code, &said);
                    match wrong.is_empty() {
                        true => wrong,
                        false => [wrong, vec![said]].concat(),
                    }
                }
            };
            let took = (began.elapsed(), boot.name.clone());
            let mut most = longest.lock().unwrap();
            *most = took.max(most.clone());
            drop(most);
            let wrong = wrong.join("\n");
            if !wrong.is_empty() {
                faults
                    .lock()
                    .unwrap()
                    .push(format!("{}: {wrong}", boot.name));
            }
        }
        cache
    };
    let workers = std::thread::available_parallelism().unwrap().get().max(2) * 2;
    let caches: Vec<PathBuf> = std::thread::scope(|scope| {
        let work = &work;
        let each = (0..workers).map(|worker| scope.spawn(move || work(worker)));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let faults = faults.into_inner().unwrap();
    let (took, name) = longest.into_inner().unwrap();
    println!(
        "boots: {} planted, {} told by name; the longest took {:.1} s ({name})",
        all.len(),
        all.len() - faults.len(),
        took.as_secs_f64()
    );
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    for cache in caches {
        let kept = snapshot(&cache.join("results"));
        let lost = verdict
            .keys()
            .map(|path| cache.join(path.strip_prefix(&warm).unwrap()))
            .find(|path| !kept.contains_key(path));
        assert_eq!(lost, None);
        // The verdict from before is the one of before.
        for (path, (bytes, _)) in &verdict {
            let now = fs::read(cache.join(path.strip_prefix(&warm).unwrap())).unwrap();
            assert!(now == *bytes, "{}", path.display());
        }
    }
}

fn command(lab: &Lab, boot: &Boot, cache: &Path, worker: usize) -> Command {
    let folder = lab.path(&format!("lie-{worker}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    boot.lie(&folder);
    // Each is booted, whatever is known of the base.
    let mut command = lab.tollgate(&["prove", "epoll", "--recount"]);
    let qemu = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lying-qemu");
    command.arg("--tree").arg(lab.tree());
    command.arg("--cache").arg(cache).args(["--qemu", qemu]);
    if let Some(seconds) = boot.timeout {
        command.args(["--timeout", &seconds.to_string()]);
    }
    command.env("LIE", folder);
    command
}

#[test]
fn there_are_a_hundred_of_them_and_no_two_are_alike() {
    let all = boots();
    assert!(all.len() >= 100, "{}", all.len());
    let mut names: Vec<&str> = all.iter().map(|boot| boot.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    assert!(all.iter().all(|boot| !boot.says.is_empty()));
}
