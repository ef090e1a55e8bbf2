//! By which member of a table a program's call comes to a function.

use std::collections::HashMap;

use crate::calls::{Calls, Handler};

/// The members, and what each says of the function.
#[derive(Clone, Debug)]
pub(super) struct Handlers(HashMap<Vec<u8>, Handler>);

impl Handlers {
    pub(super) fn of(calls: &Calls) -> Self {
        let all = calls.handlers.iter();
        let members = all.flat_map(|own| {
            let names = own.members.iter();
            names.map(|name| (name.as_bytes().to_vec(), own.clone()))
        });
        Self(members.collect())
    }

    pub(super) fn get(&self, member: &[u8]) -> Option<&Handler> {
        self.0.get(member)
    }
}
