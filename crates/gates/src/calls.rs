//! The functions that `gates` knows by name: `data/code/calls.toml`.

use serde::Deserialize;

use crate::data::{hex, parse};
use crate::error::ObjectError;

const CALLS: &str = include_str!("../../../data/code/calls.toml");

/// The functions that `gates` knows by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calls {
    hidden: Vec<Names>,
    allowed: Vec<Names>,
    kernel: Vec<Names>,
    entry: Vec<Names>,
    noreturn: Vec<Names>,
    clobbers: Vec<Clobbers>,
    opens: Vec<Names>,
    closes: Vec<Names>,
    thunk: Vec<Thunk>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
    /// The one architecture that it is meant for; all where there is none.
    #[serde(default)]
    arch: Option<String>,
    /// Whether the compiler puts calls of it anywhere.
    #[serde(default)]
    hook: bool,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// Functions in assembly that leave most registers alone.
#[derive(Debug, Deserialize)]
struct Clobbers {
    #[serde(flatten)]
    names: Names,
    /// Those that they do not, as a mask of their numbers.
    #[serde(deserialize_with = "hex")]
    registers: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thunk {
    #[serde(flatten)]
    names: Names,
    kind: ThunkKind,
}

/// What a jump to a thunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ThunkKind {
    /// The function's return.
    Return,
    /// A jump or a call through a register.
    Indirect,
}

/// What is known of a function by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) hidden: bool,
    pub(crate) noreturn: bool,
    pub(crate) thunk: Option<ThunkKind>,
    /// The registers that a call of it loses, where they are fewer than usual.
    pub(crate) clobbers: Option<u32>,
    /// Opens the gate for its caller.
    pub(crate) opens: bool,
    /// Closes it for its caller.
    pub(crate) closes: bool,
}

impl Calls {
    /// What is known of the functions of an architecture, by its folder.
    ///
    /// # Errors
    /// When the data file cannot be read.
    pub(crate) fn of(arch: &str) -> Result<Self, ObjectError> {
        let mut calls: Self = parse(CALLS)?;
        let all = [
            &mut calls.hidden,
            &mut calls.allowed,
            &mut calls.kernel,
            &mut calls.entry,
            &mut calls.noreturn,
            &mut calls.opens,
            &mut calls.closes,
        ];
        calls.clobbers.retain(|entry| entry.names.is_of(arch));
        for names in all {
            names.retain(|names| names.is_of(arch));
        }
        Ok(calls)
    }

    /// What is known of a function by its name.
    pub(crate) fn role(&self, name: &str) -> Role {
        Role {
            hidden: self.hidden.iter().any(|names| names.holds(name)),
            noreturn: self.noreturn.iter().any(|names| names.holds(name)),
            thunk: self.thunk(name),
            clobbers: self.clobbers(name),
            opens: self.opens.iter().any(|names| names.holds(name)),
            closes: self.closes.iter().any(|names| names.holds(name)),
        }
    }

    /// A function whose accesses are of kernel memory, though its table of
    /// faults says user.
    pub(crate) fn is_kernel(&self, name: &str) -> bool {
        self.kernel.iter().any(|names| names.holds(name))
    }

    /// One of those that the compiler puts calls of anywhere.
    pub(crate) fn is_hook(&self, name: &str) -> bool {
        let mut all = self.allowed.iter().filter(|names| names.hook);
        all.any(|names| names.holds(name))
    }

    /// A function that enters or leaves the kernel, or sets up a CPU: what it writes
    /// to the gate's register is no window's.
    pub(crate) fn is_entry(&self, name: &str) -> bool {
        self.entry.iter().any(|names| names.holds(name))
    }

    /// A function that may run with the window open.
    pub(crate) fn is_allowed(&self, name: &str) -> bool {
        self.allowed.iter().any(|names| names.holds(name))
    }

    fn clobbers(&self, name: &str) -> Option<u32> {
        let found = self.clobbers.iter().find(|entry| entry.names.holds(name));
        found.map(|entry| entry.registers)
    }

    /// A thunk that stands for another instruction.
    fn thunk(&self, name: &str) -> Option<ThunkKind> {
        let found = self.thunk.iter().find(|thunk| thunk.names.holds(name));
        found.map(|thunk| thunk.kind)
    }
}

impl Names {
    fn is_of(&self, arch: &str) -> bool {
        self.arch.as_deref().is_none_or(|only| only == arch)
    }

    /// A `*` at the end stands for any rest.
    fn holds(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == known,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_reason() {
        let calls: Calls = parse(CALLS).unwrap();
        let thunks = calls.thunk.iter().map(|thunk| &thunk.names);
        let all = calls
            .hidden
            .iter()
            .chain(&calls.allowed)
            .chain(&calls.kernel)
            .chain(&calls.entry)
            .chain(&calls.opens)
            .chain(&calls.closes)
            .chain(calls.clobbers.iter().map(|entry| &entry.names));
        for names in all.chain(&calls.noreturn).chain(thunks) {
            assert!(!names._reason.is_empty() && !names._source.is_empty());
        }
    }
}
