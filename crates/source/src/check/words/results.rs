//! What else the results and the arguments of calls say, which few rules ask for.

use crate::calls::Calls;

use super::{CheckWords, HashSet};

/// What they say, by the names of the calls.
#[derive(Clone, Debug)]
pub(super) struct Results {
    zero_is_fault: HashSet<String>,
}

impl Results {
    pub(super) fn of(calls: &Calls) -> Self {
        Self {
            zero_is_fault: calls.names(|does| does.zero_is_fault).into_iter().collect(),
        }
    }
}

impl CheckWords {
    /// Whether 0 is what a call of that name gives for a fault, and for nothing else.
    pub(crate) fn gives_zero_for_a_fault(&self, name: &str) -> bool {
        self.results.zero_is_fault.contains(name)
    }
}
