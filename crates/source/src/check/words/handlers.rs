//! By what a program's call comes to a function: the member of a table, or what the function is
//! declared to take.

use std::collections::{HashMap, HashSet};

use crate::calls::{Calls, GivenCopy, Handler};

/// The members, and what each says of the function; and the declarations.
#[derive(Clone, Debug)]
pub(crate) struct Handlers {
    members: HashMap<Vec<u8>, Handler>,
    functions: HashMap<String, Handler>,
    given_copies: Vec<GivenCopy>,
    copied_structs: HashSet<String>,
}

impl Handlers {
    pub(super) fn of(calls: &Calls) -> Self {
        let all = calls.handlers.iter();
        let members = all.flat_map(|own| {
            let names = own.members.iter();
            names.map(|name| (name.as_bytes().to_vec(), own.clone()))
        });
        let functions = calls.handlers.iter().flat_map(|own| {
            let names = own.functions.iter();
            names.map(|name| (name.clone(), own.clone()))
        });
        let copied = calls.copied_structs.iter().flat_map(|own| &own.names);
        Self {
            members: members.collect(),
            functions: functions.collect(),
            given_copies: calls.given_copies.clone(),
            copied_structs: copied.cloned().collect(),
        }
    }

    /// What a member says of the function.
    pub(crate) fn get(&self, member: &[u8]) -> Option<&Handler> {
        self.members.get(member)
    }

    /// What the name of a function says of it.
    pub(crate) fn function(&self, name: &str) -> Option<&Handler> {
        self.functions.get(name)
    }

    /// Whether a struct of that type is a copy of what a program gave wherever it lies.
    pub(crate) fn is_copied(&self, of: &str) -> bool {
        self.copied_structs.contains(of)
    }

    /// What functions are declared to take that are called with a copy of the user's bytes.
    pub(crate) fn given_copies(&self) -> &[GivenCopy] {
        &self.given_copies
    }
}
