//! Whose memory calls go through.

use crate::calls::{Calls, Source};
use tollgate_defect::Defect;

use crate::hashed::{HashMap, HashSet};
use crate::search::Parts;

/// Calls by the memory that they go through.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// Which argument is the kernel's that a copy is made of.
    pub(super) duplicated: HashMap<String, usize>,
    /// Which argument is filled with the user's bytes.
    pub(super) fetches: HashMap<String, usize>,
    /// What of the user's that is.
    pub(super) sources: HashMap<String, Source>,
    /// What is read or written of the kernel's, of whatever argument.
    pub(super) by_hand: HashSet<String>,
    /// Which argument is a function that runs later, with nobody's memory there.
    pub(super) defers: HashMap<String, usize>,
    /// Their names, to be looked for all at once.
    pub(super) deferring: Parts,
    /// What gives such a function somebody's.
    pub(super) lends: HashSet<String>,
}

impl Memory {
    pub(super) fn of(calls: &Calls) -> Result<Self, Defect> {
        let defers = calls.each(|does| does.defers);
        let names: Vec<String> = defers.keys().cloned().collect();
        Ok(Self {
            duplicated: calls.each(|does| does.duplicated),
            fetches: calls.each(|does| does.fetches),
            sources: calls.each(|does| does.source),
            by_hand: calls.names(|does| does.by_hand).into_iter().collect(),
            deferring: Parts::of(&[], &names)?,
            defers,
            lends: calls.names(|does| does.lends).into_iter().collect(),
        })
    }
}
