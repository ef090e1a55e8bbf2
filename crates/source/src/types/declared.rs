//! What the headers that a file includes declare of a function.

use super::file::{File, Kind};
use super::query::Types;
use super::sought::{Sought, hash};
use super::words::{name_at, name_before};
use tollgate_defect::answer;

use crate::lex::{Token, TokenKind, closing, lex};
use crate::span::Span;

/// What a function is declared to take in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Whether it is a pointer, or an array.
    pub(crate) pointer: bool,
    /// Whether that leads to user memory.
    pub(crate) users: bool,
    /// Whether it is a pointer to characters that nobody writes to: `const char *`.
    pub(crate) text: bool,
    /// Whether it is no pointer and no structure.
    pub(crate) number: bool,
}

/// What a function is declared to take and to give in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) takes: Vec<Parameter>,
    /// The pointer that it gives, `struct s *`; none where it gives something else, or where
    /// that is not said the same way each time.
    pub(crate) gives: Option<String>,
}

/// Tokens of the longest list of parameters that is read.
const LONGEST: usize = 512;

/// How many steps away a header is looked at for a declaration: most files include those of what they
/// call by themselves, and who includes thousands has them searched for what nobody declares.
const STEPS: usize = 4;

impl Types<'_> {
    /// What a function takes and gives, as the nearest of the headers that the file includes
    /// declares it, or the file itself; none where that is a macro, where several differ, and
    /// where nobody declares it.
    pub(crate) fn signature(&self, function: &str) -> Option<Signature> {
        let machine = *self.machines().first()?;
        let own = self.own_file();
        for steps in 0..=STEPS {
            let level = self.level(&own, machine, steps)?;
            let mut found: Option<Signature> = None;
            for file in &level.files {
                if !file
                    .entries(Sought::of(function), &[Kind::Macro])
                    .is_empty()
                {
                    return None;
                }
                for mut one in declared(file, function) {
                    if let Some(known) = &found {
                        if known.takes != one.takes {
                            return None;
                        }
                        one.gives = one.gives.filter(|own| known.gives.as_ref() == Some(own));
                    }
                    found = Some(one);
                }
            }
            if found.is_some() || level.cut {
                return found;
            }
        }
        None
    }
}

impl Types<'_> {
    /// The pointer that a variable of another file is, `struct s *`, as the nearest of the headers
    /// that the file includes declares it: `extern char *p;`; none where it is something else.
    pub(crate) fn pointer(&self, variable: &str) -> Option<String> {
        let machine = *self.machines().first()?;
        let own = self.own_file();
        for steps in 0..=STEPS {
            let level = self.level(&own, machine, steps)?;
            let mut files = level.files.iter();
            let found = files.find_map(|file| external(&file.text, variable));
            if found.is_some() || level.cut {
                return found.flatten();
            }
        }
        None
    }
}

/// What a text declares a variable of another file to be, where it does: a pointer, or not.
fn external(text: &[u8], variable: &str) -> Option<Option<String>> {
    let mut places = memchr::memmem::find_iter(text, variable.as_bytes());
    places.find_map(|at| {
        let before = text.get(..at)?;
        let whole = name_before(before).is_empty() && name_at(text, at) == variable.as_bytes();
        let from = before
            .iter()
            .rposition(|own| b";{}\n".contains(own))
            .map_or(0, |at| at + 1);
        let behind = text.get(at + variable.len()..)?.trim_ascii_start();
        let ends = matches!(behind.first(), Some(b';' | b'['));
        let mut words =
            lex(before.get(from..).filter(|_| whole && ends)?, 0).filter(Token::is_code);
        let first = words.next()?.span.of(before.get(from..)?);
        (first == b"extern").then(|| pointer(before).filter(|_| behind.first() == Some(&b';')))
    })
}

/// What a file declares a function to be, once for each time that it does.
fn declared(file: &File, function: &str) -> Vec<Signature> {
    let sought = hash(b"", function.as_bytes());
    let all = file.functions();
    let first = all.partition_point(|own| own.hash < sought);
    let same = all.get(first..).into_iter().flatten();
    let same = same.take_while(|own| own.hash == sought);
    let own = same.filter_map(|own| {
        let before = file.text.get(..own.open)?.trim_ascii_end();
        let name = name_before(before);
        let whole = name == function.as_bytes() && !file.is_noted(before.len() - name.len());
        let takes = parameters(&file.text, own.open).filter(|_| whole)?;
        let gives = pointer(before.get(..before.len() - name.len())?);
        Some(Signature { takes, gives })
    });
    own.collect()
}

/// The type that the last words of a text are, where that is a pointer.
fn pointer(before: &[u8]) -> Option<String> {
    let is_end = |own: &u8| !(own.is_ascii_alphanumeric() || b"_* \t\n".contains(own));
    let front = before.iter().rposition(is_end);
    let text = before.get(front.map_or(0, |at| at + 1)..)?;
    let all: Vec<Token> = lex(text, 0).collect();
    let words = |own: &Token| answer::text(own.span.of(text));
    let mut all: Vec<&str> = all.iter().filter_map(words).collect();
    // `struct s * __must_check f()`
    while all.pop_if(|own| own.starts_with("__")).is_some() {}
    let mut stars = 0_usize;
    let mut users = false;
    while let Some(last) = all.pop_if(|own| matches!(*own, "*" | "const" | "__user")) {
        stars += usize::from(last == "*");
        users |= last == "__user";
    }
    let base = all.pop().filter(|_| stars > 0)?;
    let kind = all.pop().filter(|own| matches!(*own, "struct" | "union"));
    let (kind, space) = (kind.unwrap_or(""), if kind.is_some() { " " } else { "" });
    let users = if users { " __user" } else { "" };
    Some(format!("{kind}{space}{base}{users}{}", " *".repeat(stars)))
}

/// The parameters of the list that opens there; none where it is not understood.
fn parameters(text: &[u8], open: usize) -> Option<Vec<Parameter>> {
    let tokens: Vec<Token> = lex(text, open)
        .take(LONGEST)
        .filter(Token::is_code)
        .collect();
    let close = closing(&tokens, 0)?;
    let inside = tokens.get(1..close)?;
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    let mut current: Vec<Token> = Vec::new();
    for token in inside {
        match token.kind {
            TokenKind::Punct(b',') if depth == 0 => {
                found.push(parameter(text, &current));
                current.clear();
                continue;
            }
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        current.push(*token);
    }
    found.push(parameter(text, &current));
    Some(found)
}

fn parameter(text: &[u8], tokens: &[Token]) -> Parameter {
    let word = |wanted: &[u8]| {
        let mut spans = tokens.iter().map(|own| own.span);
        spans.any(|own: Span| own.of(text) == wanted)
    };
    // What a function pointer takes is its own affair.
    let grouped = tokens.iter().any(|own| own.is(b'('));
    let pointer = !grouped && tokens.iter().any(|own| own.is(b'*') || own.is(b'['));
    let once = tokens.iter().filter(|own| own.is(b'*')).count() == 1;
    let users = word(b"__user");
    Parameter {
        pointer,
        users,
        text: pointer && once && !users && word(b"const") && word(b"char") && !word(b"unsigned"),
        number: !grouped && !pointer && !word(b"struct"),
    }
}
