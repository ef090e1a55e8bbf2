//! What the words of a call's name say of it, where nothing else does.

use crate::calls::{Calls, ForCaller, LockWord, OwnerWord, Rounds, WindowName};
use crate::hashed::HashSet;

use super::CheckWords;

/// The words of names.
#[derive(Clone, Debug)]
pub(super) struct Named {
    locks: Vec<LockWord>,
    owners: Vec<OwnerWord>,
    windows: Vec<WindowName>,
    /// The words of locks and owners: nearly each call of a kernel is asked for, and few have any.
    known: HashSet<String>,
}

/// What the name of a call says that takes something for its caller, or gives it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnerName {
    /// Which words it has.
    entry: usize,
    /// The words in front of those, and behind.
    pub(crate) front: String,
    behind: String,
    /// Whether it takes.
    pub(crate) takes: bool,
}

impl OwnerName {
    /// Whether one gives back what the other takes.
    pub(crate) fn gives_back(&self, taken: &Self) -> bool {
        // What a file has for itself alone needs no word of its own in front:
        // `get_ruleset_from_fd()` and `landlock_put_ruleset()`.
        let own = taken.front.is_empty() && !self.behind.is_empty();
        let same = self.entry == taken.entry && (self.front == taken.front || own);
        // `ucma_get_ctx_dev()` says more of how it is taken than `ucma_put_ctx()`.
        let more = taken.behind.strip_prefix(&self.behind);
        let begins = more.is_some_and(|more| self.behind.is_empty() || more.starts_with('_'));
        let ends = begins && !self.front.is_empty();
        !self.takes && taken.takes && same && (ends || self.behind == taken.behind)
    }
}

impl Named {
    pub(super) fn of(calls: &Calls) -> Self {
        let locks = calls.lock_words.iter();
        let locks = locks.flat_map(|own| [&own.takes, &own.lets_go].into_iter().chain(&own.tries));
        let owners = calls.owner_words.iter();
        let owners = owners.flat_map(|own| own.takes.iter().chain(&own.releases));
        Self {
            known: locks.chain(owners).cloned().collect(),
            locks: calls.lock_words.clone(),
            owners: calls.owner_words.clone(),
            windows: calls.window_names.clone(),
        }
    }

    /// Whether a name of several words has any of those.
    fn may_tell(&self, name: &str) -> bool {
        name.contains('_') && name.split('_').any(|word| self.known.contains(word))
    }
}

impl CheckWords {
    /// What tells the locks apart that calls of such names take and let go, `hci_dev_` of
    /// `hci_dev_lock()`, and whether it takes one.
    pub(crate) fn lock_named(&self, name: &str) -> Option<(String, bool)> {
        self.turn_named(name, |own| !own.counts)
    }

    /// The same of what may count things: `foo_dev_get()`.
    pub(crate) fn count_named(&self, name: &str) -> Option<(String, bool)> {
        let accesses = self.access(name).is_some() || self.in_window(name).is_some();
        let own = || self.turn_named(name, |own| own.counts);
        (!accesses).then(own).flatten()
    }

    /// What tells the locks apart that calls of such names try to take: `hci_dev_trylock()`.
    pub(crate) fn try_named(&self, name: &str) -> Option<String> {
        let tries = |own: &&LockWord| {
            let word = own.tries.as_deref();
            word.is_some_and(|tries| name.split('_').any(|part| part == tries))
        };
        let told = self.named.may_tell(name) && self.access(name).is_none();
        let mut own = self.named.locks.iter().filter(tries);
        told.then(|| own.find_map(|own| try_named(own, name)))
            .flatten()
    }

    /// Whether the name of a call may say that it takes what another one lets go.
    pub(crate) fn may_be_named(&self, name: &str) -> bool {
        self.named.may_tell(name)
    }

    fn turn_named(&self, name: &str, is: impl Fn(&LockWord) -> bool) -> Option<(String, bool)> {
        let mut own = self.named.locks.iter().filter(|own| is(own));
        let told = self.named.may_tell(name);
        told.then(|| own.find_map(|own| lock_named(own, name)))
            .flatten()
    }

    /// Whether a call of that name that takes a lock may give an error number instead.
    pub(crate) fn lock_fails(&self, name: &str) -> bool {
        let mut words = self.named.locks.iter().flat_map(|own| &own.fails);
        self.owned.fails.contains(name) || words.any(|own| name.split('_').any(|part| part == own))
    }

    /// What the name of a call says of whom something belongs to behind it, by each list of
    /// words.
    pub(crate) fn owner_named(&self, name: &str) -> Vec<OwnerName> {
        // `put_user()` puts nothing back.
        let accesses = || self.access(name).is_some() || self.in_window(name).is_some();
        if !self.named.may_tell(name) || accesses() {
            return Vec::new();
        }
        let all: Vec<&str> = name.split('_').collect();
        let own = self.named.owners.iter().enumerate();
        own.filter_map(|(entry, own)| owner_named(entry, own, &all))
            .collect()
    }

    /// Whether the name of a function says that it does that of a window of its caller's.
    pub(crate) fn named_for_caller(&self, name: &str, does: ForCaller) -> bool {
        let mut own = self.named.windows.iter().filter(|own| own.does == does);
        own.any(|own| {
            own.begin.iter().any(|part| name.starts_with(part))
                || own.end.iter().any(|part| name.ends_with(part))
                || own.hold.iter().any(|part| name.contains(part))
        })
    }

    /// Whether a call of that name gives back what it is given, by what is known of it or by
    /// its name.
    pub(crate) fn gives_back(&self, name: &str) -> bool {
        self.releases(name) || self.owner_named(name).iter().any(|own| !own.takes)
    }

    /// Whether what a call of that name gives is no more than something that it is given, and
    /// otherwise what else it is given: `min(n, N)`, `clamp(n, 1, N)`.
    pub(crate) fn lessens(&self, name: &str) -> bool {
        self.gives_least(name) || self.at_most(name).is_some() && !self.may_fault(name)
    }

    /// Which way a call of that name rounds its first argument.
    pub(crate) fn rounds(&self, name: &str) -> Option<Rounds> {
        self.numbers.rounds.get(name).copied()
    }

    /// Which argument a call of that name gives back where it is in its bounds.
    pub(crate) fn gives_same(&self, name: &str) -> Option<usize> {
        self.numbers.same.get(name).copied()
    }

    /// Which argument of what fetches bytes of the user's says how many.
    pub(crate) fn fetched(&self, name: &str) -> Option<usize> {
        self.numbers.fetched.get(name).copied()
    }

    /// Which argument says how many bytes there are of which a call of that name takes some, and
    /// gives how many.
    pub(crate) fn consumes(&self, name: &str) -> Option<usize> {
        self.numbers.consumes.get(name).copied()
    }

    /// What a member of that name may count, by its name.
    pub(crate) fn counted<'n>(&'n self, count: &'n str) -> impl Iterator<Item = &'n str> {
        self.numbers.counted(count)
    }
}

fn owner_named(entry: usize, words: &OwnerWord, all: &[&str]) -> Option<OwnerName> {
    let has = |words: &[String], own: &str| words.iter().any(|word| word == own);
    // Of `foo_release_get()` the last says what it does.
    let is_one = |own: &&str| has(&words.takes, own) || has(&words.releases, own);
    let at = all.iter().rposition(is_one)?;
    let (before, rest) = all.split_at_checked(at)?;
    let (word, behind) = rest.split_first()?;
    Some(OwnerName {
        entry,
        front: before.join("_"),
        behind: behind.join("_"),
        takes: has(&words.takes, word),
    })
}

fn lock_named(words: &LockWord, name: &str) -> Option<(String, bool)> {
    let all: Vec<&str> = name.split('_').collect();
    if all.iter().any(|own| words.not.iter().any(|not| not == own)) {
        return None;
    }
    let is_one = |own: &&str| **own == words.takes || **own == words.lets_go;
    let at = all.iter().position(is_one)?;
    let (before, rest) = all.split_at_checked(at)?;
    let (word, behind) = rest.split_first()?;
    let front = before.join("_");
    let apart = words.whole || front.is_empty();
    let stem = match apart {
        true => format!("{front} {}", behind.join("_")),
        false => front,
    };
    (!stem.trim().is_empty()).then_some((stem, *word == words.takes))
}

/// The same of a name with the word of those that may not take it.
fn try_named(words: &LockWord, name: &str) -> Option<String> {
    let tries = words.tries.as_deref()?;
    let parts = name.split('_').map(|own| match own == tries {
        true => words.takes.as_str(),
        false => own,
    });
    let parts: Vec<&str> = parts.collect();
    lock_named(words, &parts.join("_")).map(|(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_function_does_of_a_window_of_its_caller() {
        let words = CheckWords::builtin().unwrap();
        for (name, says) in [
            ("allow_user_access", Some(ForCaller::Opens)),
            ("foo_begin", Some(ForCaller::Opens)),
            ("user_access_begin_of", Some(ForCaller::Opens)),
            ("prevent_user_access", Some(ForCaller::Closes)),
            ("foo_end", Some(ForCaller::Closes)),
            ("user_access_end_of", Some(ForCaller::Closes)),
            ("__unsafe_restore_sigcontext", Some(ForCaller::Inside)),
            ("disallow_user_access", None),
            ("foo_end_user", None),
            ("begin_foo", None),
        ] {
            let all = [ForCaller::Opens, ForCaller::Closes, ForCaller::Inside];
            let said = all
                .into_iter()
                .find(|does| words.named_for_caller(name, *does));
            assert_eq!(said, says, "{name}");
        }
    }
}
