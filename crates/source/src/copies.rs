//! Copies, and what stands next to what, read from the tokens of a function:
//! there are too many of them to parse them all.

use crate::bound::is_bounded;
use crate::calls::Direction;
use crate::heat::{Paths, named_ioctl};
use crate::lex::{Token, TokenKind, closing, is_called, tokens};
use crate::model::{NotAnalysed, Reason};
use crate::opportunity::{Beside, Kind, Opportunity, Size};
use crate::span::{LineIndex, Span};
use tollgate_defect::answer;

use crate::split::{Body, bodies};
use crate::vocabulary::Vocabulary;

mod assigned;
mod calm;
mod constant;
mod declared;

use calm::is_calm;
use constant::constant;
use declared::declared;

/// A function as the search sees it.
pub(crate) struct Place<'a> {
    /// The bytes of the file.
    pub(crate) text: &'a [u8],
    /// The function's tokens, header included, comments left out.
    pub(crate) tokens: Vec<Token>,
    /// The function's name.
    pub(crate) function: &'a str,
    /// The words that mean something.
    pub(crate) vocabulary: &'a Vocabulary,
    /// The lines of the file.
    pub(crate) lines: &'a LineIndex<'a>,
}

/// One call that touches user memory, or begins or ends a window.
struct Item {
    what: What,
    /// The call's name, as an index into the tokens.
    at: usize,
    /// Its closing parenthesis.
    close: usize,
    object: String,
}

enum What {
    Access(Direction),
    Copy(Direction, Size, String),
    Zeroes(Size, String),
    Begin { read: bool, write: bool },
    End { read: bool, write: bool },
}

/// What pays in a function beside its runs. Copies of a size that is known only
/// when they happen are among them, whatever path the function is on; so are
/// copies and neighbours whose size has yet to be looked up.
pub(crate) fn opportunities(place: &Place<'_>) -> Vec<Opportunity> {
    let items = place.items();
    let copies = items.iter().filter_map(|item| place.copy(item));
    let mut found: Vec<Opportunity> = copies.collect();
    let pairs = items.iter().zip(items.iter().skip(1));
    found.extend(pairs.filter_map(|(a, b)| place.neighbour(a, b)));
    found
}

/// What the copies of a file are.
#[derive(Default)]
pub(crate) struct Copies {
    /// What pays.
    pub(crate) opportunities: Vec<Opportunity>,
    /// Copies of functions that are too large to be looked at.
    pub(crate) left_out: Vec<NotAnalysed>,
}

/// What pays in the functions of a file that was read as a whole.
pub(crate) fn in_bodies(
    text: &[u8],
    all: &[Token],
    bodies: &[Body],
    vocabulary: &Vocabulary,
    lines: &LineIndex<'_>,
) -> Copies {
    let mut found = without_paths(text, all, bodies, vocabulary, lines);
    if need_paths(&mut found.opportunities, text) {
        name_paths(&mut found.opportunities, text, all, bodies, vocabulary);
    }
    found
}

/// The same, but for why copies are on an ioctl path.
fn without_paths(
    text: &[u8],
    all: &[Token],
    bodies: &[Body],
    vocabulary: &Vocabulary,
    lines: &LineIndex<'_>,
) -> Copies {
    let mut found = Copies::default();
    for body in bodies
        .iter()
        .filter(|body| vocabulary.may_copy_or_open(body.span.of(text)))
    {
        let first = all.partition_point(|t| t.span.start < body.header.start);
        let own = all.get(first..body.tokens.end).unwrap_or_default();
        if !is_bounded(body.header.join(body.span), own) {
            let copies = own
                .iter()
                .filter(|t| vocabulary.copy(t.span.of(text)).is_some());
            found.left_out.extend(copies.map(|copy| NotAnalysed {
                function: Some(body.name.clone()),
                position: lines.position(copy.span.start),
                call: copy.span.text(text),
                reason: Reason::TooLarge,
            }));
            continue;
        }
        let tokens = own.iter().filter(|t| t.kind != TokenKind::Comment);
        found.opportunities.extend(opportunities(&Place {
            text,
            tokens: tokens.copied().collect(),
            function: &body.name,
            vocabulary,
            lines,
        }));
    }
    found
}

/// What pays in a file that only copies: `places` are those of the calls. Only
/// the functions that hold one are read, since most of such a file is not needed.
pub(crate) fn in_file(text: &[u8], places: &[usize], vocabulary: &Vocabulary) -> Copies {
    let mut found = Copies::default();
    let mut done = 0;
    let mut lines = None;
    for &at in places {
        if at < done {
            continue;
        }
        let start = margins(text.get(..at).unwrap_or_default()).next_back();
        let start = start.map_or(0, |brace| brace + 1);
        let end = margins(text.get(at..).unwrap_or_default()).next();
        let end = end.map_or(text.len(), |brace| at + brace + 1);
        done = end;
        let part = tokens(text.get(..end).unwrap_or_default(), start);
        let bodies = bodies(text, &part, vocabulary);
        let lines = lines.get_or_insert_with(|| LineIndex::new(text));
        let more = without_paths(text, &part, &bodies, vocabulary, lines);
        found.opportunities.extend(more.opportunities);
        found.left_out.extend(more.left_out);
    }
    if need_paths(&mut found.opportunities, text) {
        let all = tokens(text, 0);
        name_paths(
            &mut found.opportunities,
            text,
            &all,
            &bodies(text, &all, vocabulary),
            vocabulary,
        );
    }
    found
}

/// Where braces close at the margin, on a line after the first.
fn margins(text: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let braces = memchr::memchr_iter(b'}', text);
    braces.filter(|at| at.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\n'))
}

fn is_pathless(opportunity: &Opportunity) -> bool {
    opportunity.kind == Kind::RuntimeSizeCopy && opportunity.path.is_none()
}

/// Says of copies whose size is not known that their function's own name puts them on
/// an ioctl path; whether what calls the others may.
fn need_paths(found: &mut [Opportunity], text: &[u8]) -> bool {
    let named = found.iter_mut().filter(|own| is_pathless(own));
    named.for_each(|own| own.path = named_ioctl(&own.function));
    found.iter().any(is_pathless) && memchr::memmem::find(text, b"ioctl").is_some()
}

/// Says why the others are on one.
fn name_paths(
    found: &mut [Opportunity],
    text: &[u8],
    all: &[Token],
    bodies: &[Body],
    vocabulary: &Vocabulary,
) {
    let paths = Paths::new(text, all, bodies, vocabulary);
    let others = found.iter_mut().filter(|own| is_pathless(own));
    others.for_each(|own| own.path = paths.ioctl(&own.function));
}

impl Place<'_> {
    fn word(&self, at: usize) -> &[u8] {
        self.tokens
            .get(at)
            .filter(|t| t.kind == TokenKind::Word)
            .map(|t| t.span.of(self.text))
            .unwrap_or_default()
    }

    fn items(&self) -> Vec<Item> {
        let mut found: Vec<Item> = Vec::new();
        for at in 0..self.tokens.len() {
            let called = is_called(&self.tokens, at);
            if let Some(item) = called.then(|| self.item(at, found.last())).flatten() {
                found.extend(self.end_of_scope(&item));
                found.push(item);
            }
        }
        found.sort_by_key(|item| item.at);
        found
    }

    fn item(&self, at: usize, before: Option<&Item>) -> Option<Item> {
        let word = self.word(at);
        let what = self.what(word, at, before)?;
        let close = closing(&self.tokens, at + 1)?;
        let arguments = self.arguments(at + 1, close);
        let user = match self.vocabulary.copy(word) {
            Some(copy) => copy.user,
            None if self.opens(word).is_some() => 0,
            None if self.vocabulary.zeroes(word).is_some() => self.vocabulary.zeroes(word)?.object,
            None => match self.vocabulary.access(word) {
                Some(access) => access.address.unwrap_or(arguments.len().checked_sub(1)?),
                None => 1,
            },
        };
        let object = match (&what, before) {
            (What::End { .. }, Some(begin)) => begin.object.clone(),
            _ => self.object(arguments.get(user)?)?,
        };
        Some(Item {
            what,
            at,
            close,
            object,
        })
    }

    fn what(&self, word: &[u8], at: usize, before: Option<&Item>) -> Option<What> {
        if let Some(access) = self.vocabulary.access(word) {
            return Some(What::Access(access.direction));
        }
        if let Some((read, write)) = self.opens(word) {
            return Some(What::Begin { read, write });
        }
        if let Some(zeroes) = self.vocabulary.zeroes(word) {
            let close = closing(&self.tokens, at + 1)?;
            let size = self.arguments(at + 1, close).get(zeroes.count)?.to_vec();
            let size = without_parentheses(&size);
            return Some(What::Zeroes(self.size(size, at), written(self.text, size)));
        }
        if let Some(copy) = self.vocabulary.copy(word) {
            let close = closing(&self.tokens, at + 1)?;
            let size = self.arguments(at + 1, close).get(copy.size)?.to_vec();
            let size = without_parentheses(&size);
            return Some(What::Copy(
                copy.direction,
                self.size(size, at),
                written(self.text, size),
            ));
        }
        match &before?.what {
            What::Begin { read, write } | What::End { read, write } if self.ends(word) => {
                Some(What::End {
                    read: *read,
                    write: *write,
                })
            }
            _ => None,
        }
    }

    fn ends(&self, word: &[u8]) -> bool {
        let known = |name: &str| self.vocabulary.words().end(name).is_some();
        answer::text(word).is_some_and(known)
    }

    /// Which ways a window lets that a call or a statement opens.
    fn opens(&self, word: &[u8]) -> Option<(bool, bool)> {
        let window = self.vocabulary.window(word);
        let scoped = || self.vocabulary.scoped(word);
        window.map(|own| (own.read, own.write)).or_else(scoped)
    }

    /// The end of a statement that holds a window for the block behind it.
    fn end_of_scope(&self, item: &Item) -> Option<Item> {
        let (read, write) = self.vocabulary.scoped(self.word(item.at))?;
        let open = item.close + 1;
        let block = self.tokens.get(open).filter(|t| t.is(b'{'));
        let end = match block {
            Some(_) => closing(&self.tokens, open)?,
            None => open + self.tokens.get(open..)?.iter().position(|t| t.is(b';'))?,
        };
        Some(Item {
            what: What::End { read, write },
            at: end,
            close: end,
            object: item.object.clone(),
        })
    }

    /// The size that tokens of the call at `at` give.
    fn size(&self, tokens: &[Token], at: usize) -> Size {
        let declared = |name: &[u8]| declared(self.text, &self.tokens, at, name);
        match (constant(self.text, tokens, &declared), tokens) {
            (Some(found), _) => Size::Constant(found),
            (None, [variable]) if self.may_vary(tokens) => {
                self.assigned(variable.span.of(self.text), at)
            }
            (None, _) if self.may_vary(tokens) => Size::Runtime,
            (None, _) => Size::Unsized(written(self.text, tokens)),
        }
    }

    /// Whether something in a size is a variable: a word in small letters that
    /// is not inside a `sizeof`.
    fn may_vary(&self, tokens: &[Token]) -> bool {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let word = token.span.of(self.text);
            let called = tokens.get(at + 1).is_some_and(|t| t.is(b'('));
            let constant = matches!(
                word,
                b"sizeof" | b"offsetof" | b"sizeof_field" | b"ARRAY_SIZE" | b"offsetofend"
            );
            if called && constant {
                at = closing(tokens, at + 1).unwrap_or(at + 1);
            } else if token.kind == TokenKind::Word
                && word.iter().any(u8::is_ascii_lowercase)
                && !constant
            {
                return true;
            }
            at += 1;
        }
        false
    }

    /// The tokens of each argument.
    fn arguments(&self, open: usize, close: usize) -> Vec<&[Token]> {
        let inside = self.tokens.get(open + 1..close).unwrap_or_default();
        let mut depth = 0usize;
        inside
            .split(|token| {
                match token.kind {
                    TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
                    TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && token.is(b',')
            })
            .collect()
    }

    /// The object that an address lies in: `p` for `&p->a`, `(void __user *)p`,
    /// `p + 1`.
    fn object(&self, address: &[Token]) -> Option<String> {
        let mut at = 0;
        while let Some(token) = address.get(at) {
            match token.kind {
                TokenKind::Punct(b'&' | b'*') => at += 1,
                TokenKind::Punct(b'(') => {
                    let close = closing(address, at)?;
                    let inside = address.get(at + 1..close)?;
                    if close + 1 == address.len() || !is_cast(inside) {
                        return self.object(inside);
                    }
                    at = close + 1;
                }
                TokenKind::Word => {
                    let called = address.get(at + 1).filter(|t| t.is(b'('));
                    let end = called.map_or(Some(at), |_| closing(address, at + 1))?;
                    return Some(written(self.text, address.get(at..=end)?));
                }
                _ => return None,
            }
        }
        None
    }

    fn copy(&self, item: &Item) -> Option<Opportunity> {
        let What::Copy(direction, size, written) = &item.what else {
            return None;
        };
        let kind = match size {
            Size::Runtime => Kind::RuntimeSizeCopy,
            _ => Kind::SmallCopy,
        };
        self.opportunity(kind, item, *direction, size, written, None)
    }

    /// The access of two that stand next to each other, if it could join the other.
    fn neighbour(&self, first: &Item, second: &Item) -> Option<Opportunity> {
        if first.object != second.object || !is_calm(self, first.at, first.close, second.at) {
            return None;
        }
        match (&first.what, &second.what) {
            (What::Access(way), What::Copy(other, size, written)) if way == other => {
                self.joined(Kind::CopyNeighbour, first, second, size, written)
            }
            (What::Copy(other, size, written), What::Access(way)) if way == other => {
                self.joined(Kind::CopyNeighbour, second, first, size, written)
            }
            (What::Access(Direction::Write), What::Zeroes(size, written)) => {
                self.joined(Kind::CopyNeighbour, first, second, size, written)
            }
            (What::Zeroes(size, written), What::Access(Direction::Write)) => {
                self.joined(Kind::CopyNeighbour, second, first, size, written)
            }
            (What::End { read, write }, What::Begin { read: r, write: w }) => {
                let same = (read, write) == (r, w);
                same.then(|| self.second_window(first, second)).flatten()
            }
            (_, What::Begin { read, write }) => self.taken_in(first, second, *read, *write),
            (What::End { read, write }, _) => self.taken_in(second, first, *read, *write),
            _ => None,
        }
    }

    fn taken_in(&self, item: &Item, window: &Item, read: bool, write: bool) -> Option<Opportunity> {
        let fits = |way: &Direction| match way {
            Direction::Read => read,
            Direction::Write => write,
        };
        match &item.what {
            What::Access(way) if fits(way) => {
                self.joined(Kind::WindowNeighbour, item, window, &Size::Bytes(0), "")
            }
            What::Copy(way, size, written) if fits(way) => {
                self.joined(Kind::WindowNeighbour, item, window, size, written)
            }
            _ => None,
        }
    }

    /// A window that opens where one on the same object has closed.
    fn second_window(&self, first: &Item, second: &Item) -> Option<Opportunity> {
        let What::Begin { write, .. } = second.what else {
            return None;
        };
        let way = if write {
            Direction::Write
        } else {
            Direction::Read
        };
        let beside = self.beside(first)?;
        let size = Size::Bytes(0);
        self.opportunity(Kind::WindowNeighbour, second, way, &size, "", Some(beside))
    }

    fn beside(&self, other: &Item) -> Option<Beside> {
        let name = self.tokens.get(other.at)?.span;
        let scope = name.of(self.text) == b"}" || name.of(self.text) == b";";
        Some(Beside {
            call: if scope {
                "scope".to_owned()
            } else {
                name.text(self.text)
            },
            position: self.lines.position(name.start),
        })
    }

    fn joined(
        &self,
        kind: Kind,
        item: &Item,
        other: &Item,
        size: &Size,
        written: &str,
    ) -> Option<Opportunity> {
        let (What::Access(way) | What::Copy(way, ..)) = &item.what else {
            return None;
        };
        if *size == Size::Runtime {
            return None;
        }
        let beside = self.beside(other)?;
        self.opportunity(kind, item, *way, size, written, Some(beside))
    }

    fn opportunity(
        &self,
        kind: Kind,
        item: &Item,
        direction: Direction,
        size: &Size,
        written: &str,
        beside: Option<Beside>,
    ) -> Option<Opportunity> {
        let name = self.tokens.get(item.at)?.span;
        let end = self.tokens.get(item.close)?.span.end;
        Some(Opportunity {
            kind,
            function: self.function.to_owned(),
            call: name.text(self.text),
            direction,
            position: self.lines.position(name.start),
            span: Span::new(name.start, end),
            object: item.object.clone(),
            written: written.to_owned(),
            size: size.clone(),
            beside,
            near: None,
            path: None,
        })
    }
}

/// What stands between parentheses in front of an operand, if it is a type.
fn is_cast(inside: &[Token]) -> bool {
    let plain = |t: &Token| t.kind == TokenKind::Word || t.is(b'*');
    inside.iter().all(plain) && (inside.len() > 1 || inside.last().is_some_and(|t| t.is(b'*')))
}

fn without_parentheses(mut tokens: &[Token]) -> &[Token] {
    while let Some(inner) = tokens
        .first()
        .filter(|t| t.is(b'('))
        .and_then(|_| closing(tokens, 0))
        .filter(|close| close + 1 == tokens.len())
        .and_then(|close| tokens.get(1..close))
    {
        tokens = inner;
    }
    tokens
}

/// The tokens as text, with single spaces between words.
fn written(text: &[u8], tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut before: Option<&Token> = None;
    for token in tokens {
        if before.is_some_and(|b| b.span.end < token.span.start) {
            out.push(' ');
        }
        out += &token.span.text(text);
        before = Some(token);
    }
    out
}
