//! What one file leaves for the next one that the same thread checks: what short conditions
//! are, which many functions ask alike (`ret`, `err < 0`, `!buf`), and memory.

use std::cell::RefCell;
use std::rc::Rc;

use crate::expression::Expression;
use crate::hashed::HashMap;

/// Bytes of a condition that is short.
const SHORT: usize = 16;

/// So many short ones are kept, those that come first: it bounds the memory.
const MANY: usize = 4096;

/// So many bytes stay of a room: what 85 of 100 files of 7.3 that copy to or from a program have.
const ROOM: usize = 1 << 16;

/// What is left by the files before.
#[derive(Default)]
pub(crate) struct Reused {
    conditions: RefCell<HashMap<Box<str>, Option<Rc<Expression>>>>,
    rooms: RefCell<Vec<Vec<u8>>>,
}

impl Reused {
    /// The expression that a condition is, as `read` gives it.
    pub(crate) fn condition(
        &self,
        condition: &str,
        read: impl FnOnce() -> Option<Expression>,
    ) -> Option<Rc<Expression>> {
        if condition.len() > SHORT {
            return read().map(Rc::new);
        }
        if let Some(known) = self.conditions.borrow().get(condition) {
            return known.clone();
        }
        let found = read().map(Rc::new);
        let mut known = self.conditions.borrow_mut();
        if known.len() < MANY {
            known.insert(condition.into(), found.clone());
        }
        found
    }

    /// Memory for a text, with anything in it.
    pub(crate) fn room(&self) -> Vec<u8> {
        let left = self.rooms.borrow_mut().pop();
        // All are in use: one is looked into from the other.
        let Some(room) = left else {
            return Vec::new();
        };
        room
    }

    /// Takes memory back.
    pub(crate) fn leave(&self, mut room: Vec<u8>) {
        room.clear();
        room.shrink_to(ROOM);
        self.rooms.borrow_mut().push(room);
    }
}
