//! By what a program's call comes to a function: the member of a table, or what the function is
//! declared to take.

use std::collections::HashMap;

use crate::calls::{Calls, GivenCopy, Handler};

/// The members, and what each says of the function; and the declarations.
#[derive(Clone, Debug)]
pub(crate) struct Handlers {
    members: HashMap<Vec<u8>, Handler>,
    given_copies: Vec<GivenCopy>,
}

impl Handlers {
    pub(super) fn of(calls: &Calls) -> Self {
        let all = calls.handlers.iter();
        let members = all.flat_map(|own| {
            let names = own.members.iter();
            names.map(|name| (name.as_bytes().to_vec(), own.clone()))
        });
        Self {
            members: members.collect(),
            given_copies: calls.given_copies.clone(),
        }
    }

    /// What a member says of the function.
    pub(crate) fn get(&self, member: &[u8]) -> Option<&Handler> {
        self.members.get(member)
    }

    /// What functions are declared to take that are called with a copy of the user's bytes.
    pub(crate) fn given_copies(&self) -> &[GivenCopy] {
        &self.given_copies
    }
}
