//! What else the results and the arguments of calls say, which few rules ask for.

use crate::calls::{Calls, Clears, Copied, Writes};

use super::{CheckWords, HashMap, HashSet, each};

/// What they say, by the names of the calls.
#[derive(Clone, Debug)]
pub(super) struct Results {
    zero_is_fault: HashSet<String>,
    writes: HashMap<String, Writes>,
    hands_out: HashMap<String, Clears>,
    asks_compat: HashSet<String>,
    switches_space: HashSet<String>,
    copied: HashMap<String, Copied>,
}

impl Results {
    pub(super) fn of(calls: &Calls) -> Self {
        Self {
            copied: each(calls, |does| does.copied),
            switches_space: calls
                .names(|does| does.switches_space)
                .into_iter()
                .collect(),
            asks_compat: calls.names(|does| does.asks_compat).into_iter().collect(),
            writes: each(calls, |does| does.writes),
            hands_out: each(calls, |does| does.hands_out),
            zero_is_fault: calls.names(|does| does.zero_is_fault).into_iter().collect(),
        }
    }
}

impl CheckWords {
    /// Which arguments of a call of that name say what string it writes, of which its result says
    /// how long it would be.
    pub(crate) fn writes(&self, name: &str) -> Option<Writes> {
        self.results.writes.get(name).copied()
    }

    /// Which arguments of a call of that name say what it gives to the user, and how much lies
    /// there.
    pub(crate) fn hands_out(&self, name: &str) -> Option<Clears> {
        self.results.hands_out.get(name).copied()
    }

    /// Whether a call of that name tells a program of 32 bits from others.
    pub(crate) fn asks_compat(&self, name: &str) -> bool {
        self.results.asks_compat.contains(name)
    }

    /// Whether a call of that name has to do with letting accesses go to the kernel's memory.
    pub(crate) fn switches_space(&self, name: &str) -> bool {
        self.results.switches_space.contains(name)
    }

    /// What a call of that name says of what it copied, where that is not what it left.
    pub(crate) fn copied(&self, name: &str) -> Option<Copied> {
        self.results.copied.get(name).copied()
    }

    /// Whether 0 is what a call of that name gives for a fault, and for nothing else.
    pub(crate) fn gives_zero_for_a_fault(&self, name: &str) -> bool {
        self.results.zero_is_fault.contains(name)
    }
}
