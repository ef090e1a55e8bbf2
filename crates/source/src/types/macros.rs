//! Macros, and what they stand for.

use super::input::{Input, Word, parts};
use crate::lex::{TokenKind, lex};
use crate::wrappers::definition;

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// What it takes; none if it is no call.
    parameters: Option<Vec<Box<str>>>,
    /// Whether the last one takes all that is left.
    open: bool,
    body: Vec<Word>,
}

impl Macro {
    /// The macro that the line there defines.
    pub(super) fn read(text: &[u8], at: usize) -> Option<Self> {
        let line = lex(text, at).next()?;
        let (name, rest) = definition(text, line.span)?;
        let code = rest.iter().filter(|t| t.kind != TokenKind::Comment);
        let mut all = Input::new(code.map(|t| Word::of(text, t)).collect());
        let called = rest
            .first()
            .is_some_and(|t| t.is(b'(') && t.span.start == name.end);
        let mut found = Self {
            parameters: None,
            open: false,
            body: Vec::new(),
        };
        if called {
            found.parameters(parts(all.brackets()?));
        }
        while let Some(word) = all.next() {
            found.body.push(word);
        }
        Some(found)
    }

    fn parameters(&mut self, all: Vec<Vec<Word>>) {
        let mut names: Vec<Box<str>> = Vec::new();
        for words in all {
            match words.as_slice() {
                [] => {}
                [name] if name.is(b'.') => {
                    names.push("__VA_ARGS__".into());
                    self.open = true;
                }
                [name, rest @ ..] => {
                    names.push(name.text.clone());
                    self.open = !rest.is_empty();
                }
            }
        }
        self.parameters = Some(names);
    }

    /// Whether it stands for nothing but its own name.
    pub(super) fn is_only(&self, name: &str) -> bool {
        matches!(self.body.as_slice(), [word] if &*word.text == name)
    }

    /// The one word that it stands for.
    pub(super) fn only_word(&self) -> Option<&str> {
        match self.body.as_slice() {
            [word] if self.parameters.is_none() && word.kind == TokenKind::Word => Some(&word.text),
            _ => None,
        }
    }

    /// Whether it stands for a number that an `int` has, and is written as one: with another
    /// type it has a suffix, or is made of something (C11, 6.4.4.1).
    pub(super) fn is_int(&self) -> bool {
        let [only] = self.body.as_slice() else {
            return false;
        };
        let value = match only.text.strip_prefix("0x") {
            Some(digits) => i32::from_str_radix(digits, 16),
            None => only.text.parse::<i32>(),
        };
        self.parameters.is_none() && value.is_ok()
    }

    /// Whether it is a call.
    pub(super) fn is_called(&self) -> bool {
        self.parameters.is_some()
    }

    /// What it stands for with those arguments; none if it takes others, or does
    /// with them what is not known here.
    pub(super) fn with(&self, mut arguments: Vec<Vec<Word>>) -> Option<Vec<Word>> {
        let names = self.parameters.as_deref().unwrap_or_default();
        if self.open && arguments.len() > names.len() {
            let rest = arguments.split_off(names.len());
            for more in rest {
                let last = arguments.last_mut()?;
                last.push(comma());
                last.extend(more);
            }
        }
        arguments.resize(arguments.len().max(names.len()), Vec::new());
        let given = |word: &Word| {
            let at = names.iter().position(|name| *name == word.text)?;
            arguments.get(at).cloned()
        };
        let mut out: Vec<Word> = Vec::new();
        let mut body = Input::new(self.body.clone());
        let mut pastes = false;
        while let Some(word) = body.next() {
            if word.kind == TokenKind::Directive {
                return None;
            }
            if word.is(b'#') && body.eat(b'#') {
                pastes = true;
                continue;
            }
            let mut words = given(&word).unwrap_or_else(|| vec![word]);
            if pastes && !words.is_empty() {
                let first = words.remove(0);
                paste(&mut out, first);
            }
            pastes = false;
            out.extend(words);
        }
        Some(out)
    }
}

fn comma() -> Word {
    Word {
        kind: TokenKind::Punct(b','),
        text: ",".into(),
    }
}

/// `a ## b`
fn paste(out: &mut Vec<Word>, second: Word) {
    match out.last_mut() {
        // `, ## __VA_ARGS__` keeps its comma.
        Some(first) if !first.is(b',') => {
            first.text = format!("{}{}", first.text, second.text).into()
        }
        _ => out.push(second),
    }
}
