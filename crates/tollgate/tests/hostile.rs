//! Patches, mails, objects and profiles that are made to do harm, drawn with a seed:
//! each is read or refused with an exit code, in bounded memory and time, and nothing
//! of it reaches a terminal that a terminal would obey.
//!
//! A few in the ordinary tests; `TOLLGATE_TORTURE` asks for 200 of each seed
//! (`scripts/hostile`).

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

mod hostile_input;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hostile_input::{Kind, made};
use support::Lab;
use tollgate_testing::asked;
use tollgate_testing::draw::{Draw, seed};

/// The address space that a command may have, in KiB.
const SPACE: u64 = 4 << 20;
/// What it may hold of that at a time, in KiB: the largest input is 100 MiB.
const RESIDENT: u64 = 1 << 20;
/// Longer than any of them takes on a machine that is busy: what takes so long hangs.
const HANGS: Duration = Duration::from_secs(300);

/// The honest inputs of a kind: the corpora of the fuzz targets.
fn bases(kind: Kind) -> Vec<Vec<u8>> {
    let corpora: &[&str] = match kind {
        Kind::Patch | Kind::Mail => &["mail"],
        Kind::Object => &["gates"],
        Kind::Profile => &["profile", "perf_data"],
    };
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = corpora
        .iter()
        .flat_map(|name| fs::read_dir(place.join(name)).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// The commands that read such an input; FILE stands for it.
fn commands(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Patch | Kind::Mail => &[
            "check tree --patch FILE",
            "check tree --patch FILE --format json",
            "prove --patch FILE --bench getppid --tree tree --cache cache --qemu QEMU",
            "compare FILE",
        ],
        Kind::Object => &[
            "gates FILE",
            "gates FILE --format json",
            "gates --find FILE",
        ],
        Kind::Profile => &[
            "profile FILE",
            "profile FILE --format json",
            "compare FILE FILE",
            "scan tree --profile FILE",
        ],
    }
}

/// What came of a command.
struct Came {
    /// Its exit code, or the signal that ended it.
    ended: Result<i32, i32>,
    said: Vec<u8>,
    took: Duration,
    /// The most memory that it held, in KiB, as the kernel has it.
    peak: u64,
}

fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn came(lab: &Lab, line: &str, file: &Path) -> Came {
    let words = line.split(' ').map(|word| match word {
        "FILE" => file.to_str().unwrap(),
        "QEMU" => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu"),
        word => word,
    });
    let command = lab.tollgate(&words.collect::<Vec<_>>());
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -v {SPACE} && exec \"$@\""), "sh"]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.current_dir(command.get_current_dir().unwrap());
    let said = lab.path("said");
    let both = fs::File::create(&said).unwrap();
    let began = Instant::now();
    let mut child = limited
        .stdin(Stdio::null())
        .stdout(both.try_clone().unwrap())
        .stderr(both)
        .spawn()
        .unwrap();
    let mut most = 0;
    let status = loop {
        most = peak(child.id()).unwrap_or(0).max(most);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > HANGS {
            child.kill().unwrap();
            break child.wait().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Came {
        ended: status.code().ok_or_else(|| status.signal().unwrap()),
        said: fs::read(said).unwrap(),
        took: began.elapsed(),
        peak: most,
    }
}

impl Came {
    /// What is wrong with it.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !matches!(self.ended, Ok(0..=2)) {
            faults.push(format!("it ended with {:?}", self.ended));
        }
        let said = String::from_utf8_lossy(&self.said);
        if std::str::from_utf8(&self.said).is_err() {
            faults.push("what it says is no text".to_owned());
        }
        if let Some(odd) = said.chars().find(|c| speaks(*c)) {
            faults.push(format!("{odd:?} reaches the terminal"));
        }
        for words in [
            "panicked at",
            "stack overflow",
            "please report",
            "is a defect",
        ] {
            if said.contains(words) {
                faults.push(format!("it says {words:?}"));
            }
        }
        if self.peak > RESIDENT {
            faults.push(format!("it held {} KiB", self.peak));
        }
        faults
    }
}

/// What a terminal obeys, or hides from the reader.
fn speaks(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

#[test]
fn what_is_made_to_do_harm_is_read_or_refused() {
    let each = match asked("TOLLGATE_TORTURE") {
        Some(_) => 50,
        None => 6,
    };
    let lab = Lab::new();
    let mut draw = Draw::new(seed());
    let mut wrong = Vec::new();
    let mut ended = [0_usize; 3];
    let (mut longest, mut largest) = ((Duration::ZERO, String::new()), (0, String::new()));
    let mut inputs = 0;
    for kind in Kind::ALL {
        let bases = bases(kind);
        for number in 0..each {
            let hostile = made(kind, &bases, &mut draw);
            inputs += 1;
            let file = lab.path("input");
            fs::write(&file, &hostile.bytes).unwrap();
            // One command for each in the short form, all of them in the long one.
            let all = commands(kind);
            let chosen = match each {
                50 => all,
                _ => &all[number % all.len()..][..1],
            };
            for line in chosen {
                let came = came(&lab, line, &file);
                let name = format!("{kind:?} {number} ({}): {line}", hostile.how);
                let faults = came.faults();
                if let Ok(code @ 0..=2) = came.ended {
                    ended[usize::try_from(code).unwrap()] += 1;
                }
                longest = longest.max((came.took, name.clone()));
                largest = largest.max((came.peak, name.clone()));
                if !faults.is_empty() {
                    keep(&hostile.bytes, kind, number);
                    let said = String::from_utf8_lossy(&came.said);
                    let said: String = said.escape_debug().take(400).collect();
                    wrong.push(format!("{name}: {}\n  {said}", faults.join(", ")));
                }
            }
        }
    }
    println!(
        "hostile: {inputs} inputs of seed {}, {} commands: {} read ({} with findings), {} refused, {} wrong",
        seed(),
        ended.iter().sum::<usize>() + wrong.len(),
        ended[0] + ended[1],
        ended[1],
        ended[2],
        wrong.len()
    );
    println!(
        "hostile: the longest took {:.1} s ({})",
        longest.0.as_secs_f64(),
        longest.1
    );
    println!(
        "hostile: the largest held {} MiB ({})",
        largest.0 >> 10,
        largest.1
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Keeps an input that did harm, for whoever looks into it.
fn keep(bytes: &[u8], kind: Kind, number: usize) {
    let Some(folder) = std::env::var_os("TOLLGATE_HOSTILE") else {
        return;
    };
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder).unwrap();
    let name = format!("{kind:?}-{}-{number}", seed());
    fs::write(folder.join(name), bytes).unwrap();
}
