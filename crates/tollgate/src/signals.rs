//! Ctrl-C and the other ways to be asked to stop. Whatever command runs, the
//! answer is a sentence and the exit code of a shell: 128 and the signal's
//! number, 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tollgate_defect::answer;

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tollgate_lab::process::{Interrupt, kill_running};

use crate::term::Term;

/// The wish to stop, of this process.
static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
/// Whether the command's own steps look at it.
static OBEYED: AtomicBool = AtomicBool::new(false);

/// How long a command may take to stop by itself: twice what a program that it
/// has started may.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the commands say that leave nothing behind.
const INTERRUPTED: &str = "interrupted";

/// Listens from now on.
///
/// # Errors
/// When the system takes no handler.
pub(crate) fn listen(term: Term) -> anyhow::Result<()> {
    let mut wanted = vec![SIGINT, SIGTERM];
    // nohup(1) has it ignored, and means it.
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted).context("could not listen for Ctrl-C")?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            take(signal, &term);
        }
    });
    Ok(())
}

/// The wish to stop, for a command whose steps obey it: what they have begun
/// they end in order. A second signal, or one that nobody obeys in time, ends
/// the process all the same.
pub(crate) fn obeyed() -> Interrupt {
    OBEYED.store(true, Ordering::SeqCst);
    interrupt().clone()
}

/// The exit code of a process that was asked to stop.
pub(crate) fn exit_code() -> Option<u8> {
    interrupt().signal().and_then(code)
}

/// The wish to stop, of a command that leaves nothing behind: the process ends at
/// once.
pub(crate) fn interrupt() -> &'static Interrupt {
    INTERRUPT.get_or_init(Interrupt::default)
}

fn code(signal: i32) -> Option<u8> {
    answer::fits::<u8, _>(signal)?.checked_add(128)
}

fn take(signal: i32, term: &Term) {
    let again = interrupt().is_set();
    interrupt().set(signal);
    if again || !OBEYED.load(Ordering::SeqCst) {
        leave(signal, term);
    }
    let term = *term;
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        leave(signal, &term);
    });
}

fn leave(signal: i32, term: &Term) {
    kill_running();
    term.error(INTERRUPTED);
    process::exit(code(signal).map_or(2, i32::from));
}

/// Whether the process was started with a signal ignored (proc(5), SigIgn).
#[expect(
    clippy::disallowed_methods,
    reason = "where the system does not say, no signal is ignored"
)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| answer::hexadecimal(mask.trim()));
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
