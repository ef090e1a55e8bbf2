//! What a sweep shows of memory for its points: the buffer, what lies around it, and
//! where the members of a structure in it lie. Only the guest's program knows that,
//! for it depends on its ABI.

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

use crate::text::decimal;

/// What the points of a sweep whose names begin alike show of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The sweep, `epoll_wait`.
    pub sweep: String,
    /// What the names of the points begin with, `timeout/`; may be empty.
    pub prefix: String,
    /// Bytes that are shown in front of the buffer.
    pub front: u16,
    /// Bytes that are shown behind it.
    pub behind: u16,
    /// The buffer.
    pub buffer: Shape,
    /// Another buffer of the call, in good memory, which is shown behind all that.
    pub also: Option<Shape>,
}

/// What a buffer is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Its bytes.
    pub size: u16,
    /// Bytes of an element; none where it is no array.
    pub each: Option<u16>,
    /// The members of the structure, or of an element, by their offsets; none where
    /// it is mere bytes.
    pub fields: Vec<Field>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name, `events`.
    pub name: String,
    /// Where it begins in the structure.
    pub offset: u16,
    /// Its bytes.
    pub size: u16,
}

/// Where a byte that is shown lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// So many bytes in front of the buffer: 1 is the one right in front of it.
    Front(usize),
    /// So many bytes behind the buffer: 1 is the one right behind it.
    Behind(usize),
    /// In the buffer.
    Buffer(Spot<'a>),
    /// In the other buffer.
    Also(Spot<'a>),
}

/// Where in a buffer a byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    /// In which element, from 0; none where the buffer is no array.
    pub element: Option<usize>,
    /// What of the structure it is.
    pub part: Part<'a>,
}

/// What of a structure a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A byte of the member of that name.
    Field(&'a str),
    /// No member's, behind the one of that name; none where there is none in front.
    Padding(Option<&'a str>),
    /// A byte of the buffer, from 0, where nothing is known of its members.
    Byte(usize),
}

impl Layout {
    /// Reads what follows `layout ` on a line of the guest; none where it is not as
    /// `docs/guest-protocol.md` has it.
    pub(crate) fn parse(rest: &str) -> Option<Self> {
        let mut words = rest.split(' ').peekable();
        let (sweep, prefix) = (words.next()?, words.next()?);
        let front = keyed(words.next()?, "front")?;
        let behind = keyed(words.next()?, "behind")?;
        let buffer = Shape::parse(&mut words, "size")?;
        let also = match words.peek() {
            Some(_) => Some(Shape::parse(&mut words, "also")?),
            None => None,
        };
        let whole = words.next().is_none() && !sweep.is_empty() && !prefix.is_empty();
        whole.then(|| Self {
            sweep: sweep.to_owned(),
            prefix: if prefix == "-" { "" } else { prefix }.to_owned(),
            front,
            behind,
            buffer,
            also,
        })
    }

    /// That of a point: of those whose prefix its name begins with the longest, for
    /// the families of a sweep without a prefix are words of the same kind.
    #[must_use]
    pub fn of<'a>(all: &'a [Self], sweep: &str, point: &str) -> Option<&'a Self> {
        let own = all.iter().filter(|one| one.sweep == sweep);
        own.filter(|one| point.starts_with(&one.prefix))
            .max_by_key(|one| one.prefix.len())
    }

    /// Those that points have, by sweep and name, each once.
    pub(crate) fn of_all<'a>(
        all: &[Self],
        points: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (sweep, name) in points {
            let own = Self::of(all, sweep, name);
            let new = own.filter(|own| !found.contains(own));
            found.extend(new.cloned());
        }
        found
    }

    /// How many bytes it shows of memory.
    #[must_use]
    pub fn shown(&self) -> usize {
        let also = self.also.as_ref().map_or(0, |also| also.size);
        [self.front, self.buffer.size, self.behind, also]
            .map(usize::from)
            .into_iter()
            .sum()
    }

    /// Where a byte of those that are shown lies, from 0; none of one behind them.
    #[must_use]
    pub fn place(&self, byte: usize) -> Option<Place<'_>> {
        let (front, behind) = (usize::from(self.front), usize::from(self.behind));
        let Some(at) = byte.checked_sub(front) else {
            return Some(Place::Front(front - byte));
        };
        let Some(at) = at.checked_sub(usize::from(self.buffer.size)) else {
            return Some(Place::Buffer(self.buffer.spot(at)));
        };
        let Some(at) = at.checked_sub(behind) else {
            return Some(Place::Behind(at + 1));
        };
        let also = self.also.as_ref();
        let also = also.filter(|also| at < usize::from(also.size));
        also.map(|also| Place::Also(also.spot(at)))
    }
}

impl Shape {
    /// `KEY=N [each=N] [NAME=OFFSET+LENGTH ...]`
    fn parse<'a>(
        words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
        key: &str,
    ) -> Option<Self> {
        let size = keyed(words.next()?, key)?;
        let each = words.next_if(|word| word.starts_with("each=") && !word.contains('+'));
        let each = match each {
            Some(word) => Some(keyed(word, "each").filter(|each| *each > 0)?),
            None => None,
        };
        let mut fields = Vec::new();
        while let Some(word) = words.next_if(|word| word.contains('+')) {
            fields.push(Field::parse(word)?);
        }
        let shape = Self { size, each, fields };
        shape.fits().then_some(shape)
    }

    /// Whether whole elements fill it, and its members lie in it one behind the other.
    fn fits(&self) -> bool {
        let mut free = 0;
        let apart = self.fields.iter().all(|field| {
            let begins = field.offset >= free;
            free = field.end();
            begins
        });
        let each = self.each.unwrap_or(self.size);
        let filled = each == self.size || self.size.is_multiple_of(each);
        apart && filled && free <= each
    }

    fn spot(&self, byte: usize) -> Spot<'_> {
        if self.fields.is_empty() {
            let part = Part::Byte(byte);
            return Spot {
                element: None,
                part,
            };
        }
        let each = self.each.map(usize::from).filter(|each| *each > 0);
        let at = each.map_or(byte, |each| byte % each);
        let mut fields = self.fields.iter();
        let before = fields.rfind(|field| usize::from(field.offset) <= at);
        let part = match before {
            Some(field) if at < usize::from(field.end()) => Part::Field(&field.name),
            field => Part::Padding(field.map(|field| field.name.as_str())),
        };
        Spot {
            element: each.map(|each| byte / each),
            part,
        }
    }
}

impl Field {
    /// `NAME=OFFSET+LENGTH`
    fn parse(word: &str) -> Option<Self> {
        let (name, place) = word.split_once('=')?;
        let (offset, size) = place.split_once('+')?;
        let named = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        let (offset, size) = (number(offset)?, number(size)?);
        let fits = size > 0 && offset.checked_add(size).is_some();
        (named && fits).then(|| Self {
            name: name.to_owned(),
            offset,
            size,
        })
    }

    /// Where the next one may begin.
    fn end(&self) -> u16 {
        self.offset.saturating_add(self.size)
    }
}

/// The number of `KEY=N`.
fn keyed(word: &str, key: &str) -> Option<u16> {
    number(word.strip_prefix(key)?.strip_prefix('=')?)
}

fn number(text: &str) -> Option<u16> {
    answer::fits(decimal(text)?)
}

#[cfg(test)]
mod tests;
