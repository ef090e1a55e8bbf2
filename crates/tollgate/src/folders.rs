//! Where tollgate keeps what it has made.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tollgate_lab::cache::{Cache, Error};
use tollgate_lab::progress::Progress as _;
use tollgate_source::shown;

use crate::progress::{Meter, Steps};
use crate::signals;
use crate::term::Term;

/// The cache: what the user says (`settings`), else `$XDG_CACHE_HOME/tollgate`, else
/// `~/.cache/tollgate` (XDG Base Directory Specification).
///
/// # Errors
/// When there is no home folder either.
pub(crate) fn cache(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    match base {
        Some(base) => Ok(base.join("tollgate")),
        None => anyhow::bail!(
            "neither XDG_CACHE_HOME nor HOME is set: say where to keep images with --cache DIR"
        ),
    }
}

/// How many processors there are to work on; one where the system does not say.
#[expect(
    clippy::disallowed_methods,
    reason = "one processor always works, and --jobs says more"
)]
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Opens the cache. Where another tollgate is at work in it, that is said, and
/// waited for; the wait is a step.
///
/// # Errors
/// What the system says, and where the wait is interrupted.
pub(crate) fn open_cache(place: &Path, term: &Term) -> anyhow::Result<Cache> {
    let interrupt = signals::obeyed();
    let (begun, mut meter) = (Instant::now(), None);
    loop {
        match Cache::open(place) {
            Err(Error::Busy { path, holder }) => {
                meter.get_or_insert_with(|| {
                    term.note(&format!(
                        "waiting for process {holder}, which is at work in the cache {} (--cache names another)",
                        shown(&path)
                    ));
                    Meter::of(term, "waiting for the cache")
                });
                interrupt.check()?;
                std::thread::sleep(AGAIN);
            }
            opened => {
                if meter.take().is_some() {
                    Steps::new(term).end("wait for the cache", "", begun.elapsed());
                }
                return Ok(opened?);
            }
        }
    }
}

/// How long until the lock is asked for again.
const AGAIN: Duration = Duration::from_millis(200);
