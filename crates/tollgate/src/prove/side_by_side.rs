//! Pieces of work side by side, and what came of them in their own order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// What threads share. One that panicked has left nothing half-done behind a lock.
pub(super) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `one` for each of `works`, at most `at_once` at a time and begun in their order,
/// and gives what came of each in that order. Behind a failure nothing more begins.
///
/// # Errors
/// The first in the order of `works`: whatever stands before a failure was begun before
/// it, and is waited for.
pub(super) fn side_by_side<W: Sync, T: Send, E: Send>(
    works: &[W],
    at_once: usize,
    one: impl Fn(&W) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = Mutex::new(Vec::new());
    let work_off = || {
        while !failed.load(Ordering::SeqCst) {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let Some(work) = works.get(number) else {
                return;
            };
            let came = one(work);
            failed.fetch_or(came.is_err(), Ordering::SeqCst);
            locked(&done).push((number, came));
        }
    };
    thread::scope(|scope| {
        for _ in 1..at_once.min(works.len()) {
            scope.spawn(work_off);
        }
        work_off();
    });
    let mut done = std::mem::take(&mut *locked(&done));
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, came)| came).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::sync::Barrier;

    use super::*;

    #[test]
    fn all_is_done_and_stands_in_its_order() {
        for at_once in [0, 1, 3, 99] {
            let squares = side_by_side(&[1, 2, 3, 4, 5], at_once, |n| Ok::<_, ()>(n * n));
            assert_eq!(squares, Ok(vec![1, 4, 9, 16, 25]), "{at_once}");
        }
        assert_eq!(side_by_side(&[], 2, |n: &u8| Err::<(), _>(*n)), Ok(vec![]));
    }

    #[test]
    fn as_many_run_at_once_as_may() {
        // Each waits for the other.
        let both = Barrier::new(2);
        let met = side_by_side(&[(), ()], 2, |()| Ok::<_, ()>(both.wait().is_leader()));
        assert_eq!(met.unwrap().into_iter().filter(|leader| *leader).count(), 1);
    }

    #[test]
    fn the_first_failure_is_told_though_a_later_one_came_sooner() {
        let late = Barrier::new(2);
        let came = side_by_side(&[1, 2, 3], 2, |n| {
            late.wait();
            Err::<(), _>(*n)
        });
        assert_eq!(came, Err(1));
    }

    #[test]
    fn nothing_begins_behind_a_failure() {
        let begun = AtomicUsize::new(0);
        let came = side_by_side(&[1, 2, 3], 1, |n| {
            begun.fetch_add(1, Ordering::SeqCst);
            if *n == 2 { Err(*n) } else { Ok(()) }
        });
        assert_eq!((came, begun.into_inner()), (Err(2), 2));
    }
}
