//! One CPU of the host for each guest.
//!
//! With `-icount` QEMU has a thread that runs the guest and one that ends its timers.
//! On two CPUs they race: which of them sees the end of a timer first decides whether
//! the guest runs a few instructions before its interrupt or behind it, and each idle
//! moment of the guest is a wake-up of the other CPU. On one CPU they take turns: boots
//! of a program that sleeps were the same to the instruction, and took half the time.

use std::sync::{Mutex, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// How many guests of this process are on each CPU.
static GUESTS: Mutex<[u32; CpuSet::MAX_CPU]> = Mutex::new([0; CpuSet::MAX_CPU]);

/// The thread that made it, and what this starts, run on one CPU until it is dropped.
#[derive(Debug)]
pub(crate) struct OwnCpu {
    number: usize,
    before: CpuSet,
    /// Affinity belongs to a thread, and is to be given back by the same.
    thread: std::marker::PhantomData<*const ()>,
}

impl OwnCpu {
    /// The CPU with the fewest guests of those that this thread may use. None where the
    /// system lets nothing be chosen: guests run there all the same, and what differs
    /// between two boots is seen.
    #[expect(
        clippy::disallowed_methods,
        reason = "a guest without a CPU of its own is slower, and nothing else"
    )]
    pub(crate) fn take() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut guests = GUESTS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = emptiest(&before, &guests[..], sched_getcpu())?;
        sched_setaffinity(None, &only(number)).ok()?;
        guests[number] += 1;
        Some(Self {
            number,
            before,
            thread: std::marker::PhantomData,
        })
    }
}

impl Drop for OwnCpu {
    #[expect(
        clippy::let_underscore_must_use,
        reason = "a CPU of before may be offline by now; the kernel then leaves the thread where it is"
    )]
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
        GUESTS.lock().unwrap_or_else(PoisonError::into_inner)[self.number] -= 1;
    }
}

fn only(number: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(number);
    set
}

/// Of those with the fewest guests the first from `here` on: another process of ours
/// is elsewhere.
fn emptiest(allowed: &CpuSet, guests: &[u32], here: usize) -> Option<usize> {
    let all = guests.len();
    let order = (0..all).map(|step| (here + step) % all);
    order
        .filter(|number| allowed.is_set(*number))
        .min_by_key(|number| guests[*number])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        let all = 0..CpuSet::MAX_CPU;
        all.filter(|number| set.is_set(*number)).collect()
    }

    #[test]
    fn the_emptiest_is_taken_and_the_nearest_of_those() {
        let mut set = only(1);
        set.set(2);
        set.set(5);
        assert_eq!(emptiest(&set, &[0; 8], 2), Some(2));
        assert_eq!(emptiest(&set, &[0; 8], 3), Some(5));
        assert_eq!(emptiest(&set, &[0; 8], 6), Some(1));
        assert_eq!(emptiest(&set, &[0, 1, 1, 0, 0, 0, 0, 0], 1), Some(5));
        assert_eq!(emptiest(&set, &[0, 1, 2, 0, 0, 2, 0, 0], 2), Some(1));
        assert_eq!(emptiest(&CpuSet::new(), &[0; 8], 2), None);
    }

    #[test]
    fn a_program_that_is_started_has_the_cpu_and_the_thread_gets_back_its_own() {
        let before = allowed();
        let own = OwnCpu::take().unwrap();
        assert_eq!(allowed(), [own.number]);
        let told = std::process::Command::new("nproc").output().unwrap();
        assert_eq!(told.stdout, b"1\n");
        drop(own);
        assert_eq!(allowed(), before);
    }
}
