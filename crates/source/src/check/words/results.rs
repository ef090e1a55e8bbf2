//! What else the results and the arguments of calls say, which few rules ask for.

use memchr::memmem;

use crate::calls::{Calls, Clears, Copied, FillsFrom, GivesPage, PicksBit, Touches, Writes};
use crate::hashed::{HashMap, HashSet};

/// What they say, by the names of the calls.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    zero_is_fault: HashSet<String>,
    zero_or_error: HashSet<String>,
    writes: HashMap<String, Writes>,
    touches: HashMap<String, Vec<Touches>>,
    asks_compat: HashSet<String>,
    /// What makes an address of a number, by what that is declared as.
    addresses_of: HashMap<String, String>,
    switches_space: HashSet<String>,
    copied: HashMap<String, Copied>,
    /// Which argument of what gives a copy of an array of the user's is its address.
    array_of: HashMap<String, usize>,
    /// Which argument of what copies from or to an iterator that is.
    iterates: HashMap<String, usize>,
    fills_from: HashMap<String, FillsFrom>,
    /// Which argument leads to where a call begins to show.
    positions: HashMap<String, usize>,
    /// What sets a bit, and what clears it, as a lock is taken and let go.
    bits: HashMap<String, bool>,
    picks_bit: HashMap<String, PicksBit>,
    /// Which argument says how many bits they make.
    makes_bits: HashMap<String, usize>,
    gives_page: HashMap<String, GivesPage>,
    /// Which argument says how many bytes they copy, behind which they put a 0.
    ends_copy: HashMap<String, usize>,
    /// Which argument is the byte that they look for.
    finds: HashMap<String, usize>,
    /// What fills an object as far as its result says.
    gets: HashMap<String, Clears>,
    /// What is a constant of types and their members.
    of_types: HashSet<String>,
    /// What only looks at the bytes that it is given.
    looks: HashSet<String>,
    /// What gives the error number that a pointer is.
    error_number: HashSet<String>,
}

impl Results {
    pub(super) fn of(calls: &Calls) -> Self {
        Self {
            bits: bits(calls),
            picks_bit: calls.each(|does| does.picks_bit),
            makes_bits: calls.each(|does| does.makes_bits),
            gives_page: calls.each(|does| does.gives_page),
            ends_copy: calls.each(|does| does.ends_copy),
            finds: calls.each(|does| does.finds),
            gets: calls.each(|does| does.gets),
            of_types: calls.names(|does| does.of_types).into_iter().collect(),
            looks: calls.names(|does| does.looks).into_iter().collect(),
            error_number: calls.names(|does| does.error_number).into_iter().collect(),
            positions: calls.each(|does| does.shows?.position),
            copied: calls.each(|does| does.copied),
            array_of: calls.each(|does| does.array_of),
            iterates: calls.each(|does| does.iterates),
            fills_from: calls.each(|does| does.fills_from),
            switches_space: calls
                .names(|does| does.switches_space)
                .into_iter()
                .collect(),
            addresses_of: addresses_of(calls),
            asks_compat: calls.names(|does| does.asks_compat).into_iter().collect(),
            writes: calls.each(|does| does.writes),
            touches: calls.each(|does| does.touches.clone()),
            zero_or_error: calls.names(|does| does.zero_or_error).into_iter().collect(),
            zero_is_fault: calls.names(|does| does.zero_is_fault).into_iter().collect(),
        }
    }
}

impl Results {
    /// Whether a call of that name gives the error number that a pointer is.
    pub(crate) fn gives_error_number(&self, name: &str) -> bool {
        self.error_number.contains(name)
    }

    /// What is known of the page of memory that a call of that name gives the address of.
    pub(crate) fn gives_page(&self, name: &str) -> Option<GivesPage> {
        self.gives_page.get(name).copied()
    }

    /// Which argument of a call of that name says how many bytes it copies, behind which it puts a 0.
    pub(crate) fn ends_copy(&self, name: &str) -> Option<usize> {
        self.ends_copy.get(name).copied()
    }

    /// Which argument of a call of that name is the byte that it looks for in what its first one leads to.
    pub(crate) fn finds(&self, name: &str) -> Option<usize> {
        self.finds.get(name).copied()
    }

    /// Which arguments of a call of that name say what it fills from the front on, and how far at most: its
    /// result is how far it did.
    pub(crate) fn gets(&self, name: &str) -> Option<Clears> {
        self.gets.get(name).copied()
    }

    /// Whether a call of that name is given types and members, whatever variables are called so.
    pub(crate) fn is_of_types(&self, name: &str) -> bool {
        self.of_types.contains(name)
    }

    /// Whether a call of that name changes nothing of the bytes that it is given, nor asks for their end.
    pub(crate) fn looks(&self, name: &str) -> bool {
        self.looks.contains(name)
    }

    /// Which arguments of a call of that name say what string it writes, of which its result says
    /// how long it would be.
    pub(crate) fn writes(&self, name: &str) -> Option<Writes> {
        self.writes.get(name).copied()
    }

    /// Whether a text names a call that says how long a string would be for which there is no room.
    pub(crate) fn may_write(&self, text: &[u8]) -> bool {
        let mut writes = self.writes.iter().filter(|(_, own)| own.count.is_some());
        writes.any(|(name, _)| memmem::find(text, name.as_bytes()).is_some())
    }

    /// From which of its arguments on a call of that name reads or writes so many bytes.
    pub(crate) fn touches(&self, name: &str) -> &[Touches] {
        self.touches.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a call of that name tells a program of 32 bits from others.
    pub(crate) fn asks_compat(&self, name: &str) -> bool {
        self.asks_compat.contains(name)
    }

    /// The call that makes an address of what is declared so.
    pub(crate) fn makes_address_of(&self, of: &str) -> Option<&str> {
        self.addresses_of.get(of).map(String::as_str)
    }

    /// Whether a call of that name has to do with letting accesses go to the kernel's memory.
    pub(crate) fn switches_space(&self, name: &str) -> bool {
        self.switches_space.contains(name)
    }

    /// Whether a call of that name sets a bit and tells whether it was set, or else clears one.
    pub(crate) fn bit(&self, name: &str) -> Option<bool> {
        self.bits.get(name).copied()
    }

    /// Which bit a call of that name sets, clears or asks for, and of what.
    pub(crate) fn picks_bit(&self, name: &str) -> Option<PicksBit> {
        self.picks_bit.get(name).copied()
    }

    /// Which argument says how many bits there are in what a call of that name gives.
    pub(crate) fn makes_bits(&self, name: &str) -> Option<usize> {
        self.makes_bits.get(name).copied()
    }

    /// Which argument of a call of that name leads to where it begins in what it hands out.
    pub(crate) fn begins_at(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// What a call of that name says of what it copied, where that is not what it left.
    pub(crate) fn copied(&self, name: &str) -> Option<Copied> {
        self.copied.get(name).copied()
    }

    /// Which argument of a call of that name is the address of an array of the user's, of which it gives a copy.
    pub(crate) fn array_of(&self, name: &str) -> Option<usize> {
        self.array_of.get(name).copied()
    }

    /// Which argument of a call of that name is the iterator that it copies from or to, and sleeps
    /// on a fault where that is of the user's memory.
    pub(crate) fn iterates(&self, name: &str) -> Option<usize> {
        self.iterates.get(name).copied()
    }

    /// What a call of that name fills from a byte on that an argument leads to.
    pub(crate) fn fills_from(&self, name: &str) -> Option<FillsFrom> {
        self.fills_from.get(name).copied()
    }

    /// Whether a call of that name gives 0, or an error number where it fails.
    pub(crate) fn gives_zero_or_an_error(&self, name: &str) -> bool {
        self.zero_or_error.contains(name)
    }

    /// Whether 0 is what a call of that name gives for a fault, and for nothing else.
    pub(crate) fn gives_zero_for_a_fault(&self, name: &str) -> bool {
        self.zero_is_fault.contains(name)
    }
}

fn addresses_of(calls: &Calls) -> HashMap<String, String> {
    let types = calls.each(|does| does.address_type.clone());
    types.into_iter().map(|(call, of)| (of, call)).collect()
}

fn bits(calls: &Calls) -> HashMap<String, bool> {
    let locks = calls.bit_locks.iter();
    let turns = locks.flat_map(|own| {
        let begins = own.begins.iter().map(|name| (name.clone(), true));
        begins.chain(own.ends.iter().map(|name| (name.clone(), false)))
    });
    turns.collect()
}
