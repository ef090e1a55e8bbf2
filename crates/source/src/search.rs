//! Searches for the names of calls that are quick to say no, made of the calls.

use memchr::memmem::Finder;

use crate::calls::Calls;

/// Parts of names: every name holds one of them.
#[derive(Clone, Debug)]
pub(crate) struct Parts(Vec<Finder<'static>>);

impl Parts {
    /// The parts, and each of the names that has none of them.
    pub(crate) fn of(parts: &[String], names: &[String]) -> Self {
        let apart = |name: &&String| !parts.iter().any(|part| name.contains(part.as_str()));
        let names = names.iter().filter(apart);
        let all = parts.iter().chain(names);
        Self(all.map(|part| finder(part)).collect())
    }

    /// Whether a text holds any of the names.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|part| part.find(text).is_some())
    }
}

/// Words by their first bytes and their lengths: quick to say that a word is none of
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Shapes([u64; 256]);

impl Shapes {
    pub(crate) fn of<'w>(words: impl Iterator<Item = &'w [u8]>) -> Self {
        let mut shapes = Self([0; 256]);
        words.for_each(|word| shapes.add(word));
        shapes
    }

    pub(crate) fn add(&mut self, word: &[u8]) {
        let (first, length) = Self::shape(word);
        let lengths = self.0.get_mut(first).into_iter();
        lengths.for_each(|lengths| *lengths |= length);
    }

    pub(crate) fn may_be(&self, word: &[u8]) -> bool {
        let (first, length) = Self::shape(word);
        self.0
            .get(first)
            .is_some_and(|lengths| lengths & length != 0)
    }

    /// The first byte, and a bit for the length.
    fn shape(word: &[u8]) -> (usize, u64) {
        let first = word.first().map_or(0, |first| usize::from(*first));
        (first, 1 << (word.len() % 64))
    }
}

fn finder(part: &str) -> Finder<'static> {
    Finder::new(part.as_bytes()).into_owned()
}

/// What a place is that a name of user memory stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The name of an access, or a longer one.
    Access,
    /// The name of a copy, or a longer one.
    Copy,
}

/// The search for accesses and copies.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    stem: Finder<'static>,
    access: Vec<Vec<u8>>,
    copy: Vec<Vec<u8>>,
    /// The names that are not told by what stands before the stem.
    others: Vec<(Finder<'static>, Found)>,
}

impl Places {
    pub(crate) fn of(calls: &Calls) -> Self {
        let search = &calls.search;
        let typed = calls.names(|does| does.whole().is_some_and(|of| of.count.is_none()));
        let sized = calls.names(|does| does.whole().is_some_and(|of| of.count.is_some()));
        let others = |names: Vec<String>, before: &[String], found| {
            let told = |name: &String| {
                let begins = |part: &String| name.contains(&format!("{part}{}", search.stem));
                before.iter().any(begins)
            };
            let apart = names.into_iter().filter(move |name| !told(name));
            let finders = apart.map(|name| (finder(&name), found));
            finders.collect::<Vec<_>>()
        };
        let mut all = others(typed, &search.access, Found::Access);
        all.extend(others(sized, &search.copy, Found::Copy));
        let bytes = |parts: &[String]| parts.iter().map(|part| part.clone().into()).collect();
        Self {
            stem: finder(&search.stem),
            access: bytes(&search.access),
            copy: bytes(&search.copy),
            others: all,
        }
    }

    /// Where names may be, and of what.
    pub(crate) fn in_text<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (usize, Found)> + 't {
        let stems = self.stem.find_iter(text).filter_map(|at| {
            let before = text.get(..at)?;
            let ends = |parts: &[Vec<u8>]| parts.iter().any(|part| before.ends_with(part));
            match (ends(&self.access), ends(&self.copy)) {
                (true, _) => Some((at, Found::Access)),
                (_, true) => Some((at, Found::Copy)),
                _ => None,
            }
        });
        let others = self.others.iter();
        let others =
            others.flat_map(move |(name, found)| name.find_iter(text).map(move |at| (at, *found)));
        stems.chain(others)
    }

    /// Whether a text may hold any.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.in_text(text).next().is_some()
    }

    /// Whether a text may hold one of that kind.
    pub(crate) fn has(&self, text: &[u8], wanted: Found) -> bool {
        self.in_text(text).any(|(_, found)| found == wanted)
    }
}
