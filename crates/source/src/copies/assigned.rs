//! The size that a variable holds when a copy happens, by its assignments.

use super::constant::constant;
use super::declared::declared;
use super::{Place, written};
use crate::lex::{Token, TokenKind, closing};
use crate::opportunity::Size;

impl Place<'_> {
    /// What the variable `name` holds at the token `at`: what the last
    /// assignment that nothing can pass by gave it (`minsz = offsetofend(…)`),
    /// or what all assignments of the function agree on.
    pub(super) fn assigned(&self, name: &[u8], at: usize) -> Size {
        match self.dominating(name, at) {
            Some(place) => self.value(place),
            None => self.agreed(name, at),
        }
    }

    /// The last assignment in the block of `at`, or in one around it that is
    /// entered by a condition alone, if no branch between changes the variable
    /// and nothing jumps in between.
    fn dominating(&self, name: &[u8], at: usize) -> Option<usize> {
        let mut depth = 0usize;
        for place in (0..at).rev() {
            let token = self.tokens.get(place)?;
            match token.kind {
                TokenKind::Punct(b'}') => depth += 1,
                TokenKind::Punct(b'{') if depth > 0 => depth -= 1,
                TokenKind::Punct(b'{') if !self.is_branch(place) => return None,
                TokenKind::Punct(b':') if depth == 0 && self.is_label(place) => return None,
                TokenKind::Directive => return None,
                TokenKind::Word if self.changes(name, place) => {
                    let certain = depth == 0 && self.is_set(place) && self.is_statement(place);
                    return certain.then_some(place);
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the brace opens what an `if` or an `else` decides on.
    fn is_branch(&self, brace: usize) -> bool {
        let before = |at: usize| at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let Some(last) = before(brace) else {
            return false;
        };
        if !last.is(b')') {
            return last.span.of(self.text) == b"else";
        }
        let mut depth = 0usize;
        let open = (0..brace).rev().find(|at| {
            match self.tokens.get(*at).map(|t| t.kind) {
                Some(TokenKind::Punct(b')')) => depth += 1,
                Some(TokenKind::Punct(b'(')) => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        open.and_then(before)
            .is_some_and(|t| t.span.of(self.text) == b"if")
    }

    /// Whether a colon ends a label or a `case`, not the middle of `a ? b : c`.
    fn is_label(&self, colon: usize) -> bool {
        let start = self.statement_start(colon);
        let own = self.tokens.get(start..colon).unwrap_or_default();
        !own.iter().any(|t| t.is(b'?'))
    }

    /// Whether the word at a place is this variable, no field of the same name.
    fn names(&self, name: &[u8], at: usize) -> bool {
        let before = |back: usize, byte| {
            let at = at.checked_sub(back);
            at.and_then(|at| self.tokens.get(at))
                .is_some_and(|t| t.is(byte))
        };
        self.word(at) == name && !before(1, b'.') && !(before(1, b'>') && before(2, b'-'))
    }

    /// Whether the variable is given a value here, or may be given one.
    fn changes(&self, name: &[u8], at: usize) -> bool {
        self.names(name, at)
            && (self.is_set(at) || self.is_altered(at) || self.is_lent(at) || self.is_read_into(at))
    }

    fn is_next(&self, at: usize, ahead: usize, byte: u8) -> bool {
        self.tokens.get(at + ahead).is_some_and(|t| t.is(byte))
    }

    /// `name = value`
    fn is_set(&self, at: usize) -> bool {
        self.is_next(at, 1, b'=') && !self.is_next(at, 2, b'=')
    }

    /// `name += 1`, `name <<= 1`, `name++`, `--name`
    fn is_altered(&self, at: usize) -> bool {
        let next = |ahead: usize, bytes: &[u8]| bytes.iter().any(|b| self.is_next(at, ahead, *b));
        let compound = next(1, b"+-*/%&|^") && next(2, b"=");
        let shifted = next(1, b"<>") && next(2, b"<>") && next(3, b"=");
        let twice = |a: Option<&Token>, b: Option<&Token>| {
            let both = |byte| a.is_some_and(|t| t.is(byte)) && b.is_some_and(|t| t.is(byte));
            both(b'+') || both(b'-')
        };
        let behind = |back: usize| at.checked_sub(back).and_then(|at| self.tokens.get(at));
        compound
            || shifted
            || twice(self.tokens.get(at + 1), self.tokens.get(at + 2))
            || twice(behind(1), behind(2))
    }

    /// `&name`: who gets the address may write there.
    fn is_lent(&self, at: usize) -> bool {
        let Some(ampersand) = at.checked_sub(1).filter(|at| self.is_next(*at, 0, b'&')) else {
            return false;
        };
        let before = ampersand.checked_sub(1).and_then(|at| self.tokens.get(at));
        !before.is_some_and(|t| {
            matches!(
                t.kind,
                TokenKind::Word | TokenKind::Number | TokenKind::Punct(b')' | b']' | b'&')
            )
        })
    }

    /// `get_user(name, p)`: a macro that assigns its first argument.
    fn is_read_into(&self, at: usize) -> bool {
        let Some(open) = at.checked_sub(1).filter(|at| self.is_next(*at, 0, b'(')) else {
            return false;
        };
        let call = open.checked_sub(1).map(|at| self.word(at));
        call.is_some_and(|word| self.vocabulary.access(word).is_some())
    }

    /// Whether the assignment is a statement, or a declaration, of its own:
    /// nothing decides whether it happens.
    fn is_statement(&self, at: usize) -> bool {
        let start = self.statement_start(at);
        let own = self.tokens.get(start..at).unwrap_or_default();
        let label = own.iter().rposition(|t| t.is(b':'));
        let own = label.map_or(Some(own), |colon| own.get(colon + 1..));
        own.unwrap_or_default().iter().all(|t| {
            let decides = matches!(t.span.of(self.text), b"else" | b"do" | b"return");
            t.is(b'*') || t.kind == TokenKind::Word && !decides
        })
    }

    /// The value that is assigned at a place.
    fn value(&self, at: usize) -> Size {
        let value = self.value_tokens(at);
        let declared = |name: &[u8]| declared(self.text, &self.tokens, at, name);
        match constant(self.text, value, &declared) {
            Some(found) => Size::Constant(found),
            None if value.is_empty() || self.may_vary(value) => Size::Runtime,
            None => Size::Unsized(written(self.text, value)),
        }
    }

    fn value_tokens(&self, at: usize) -> &[Token] {
        let value = self.tokens.get(at + 2..).unwrap_or_default();
        let mut end = 0;
        while let Some(token) = value.get(end) {
            match token.kind {
                TokenKind::Punct(b';' | b',') => return value.get(..end).unwrap_or_default(),
                TokenKind::Punct(b'(') => end = closing(value, end).unwrap_or(value.len()) + 1,
                _ => end += 1,
            }
        }
        &[]
    }

    /// What all assignments of the function give a variable of its own; a
    /// parameter holds something before the first.
    fn agreed(&self, name: &[u8], at: usize) -> Size {
        let header = self.tokens.iter().position(|t| t.is(b'{')).unwrap_or(0);
        let places: Vec<usize> = (0..self.tokens.len())
            .filter(|at| self.names(name, *at))
            .collect();
        let parameter = places.first().is_some_and(|first| *first < header);
        if parameter || declared(self.text, &self.tokens, at, name).is_none() {
            return Size::Runtime;
        }
        let mut found: Option<Size> = None;
        for place in places.into_iter().filter(|at| self.changes(name, *at)) {
            if !self.is_set(place) {
                return Size::Runtime;
            }
            match (&found, self.value(place)) {
                (_, Size::Runtime) => return Size::Runtime,
                (Some(before), value) if *before != value => return self.either(place),
                (_, value) => found = Some(value),
            }
        }
        found.unwrap_or(Size::Runtime)
    }

    /// More than one constant: which of them it is shows when the copy happens,
    /// unless the configuration picks one.
    fn either(&self, place: usize) -> Size {
        let configured = |t: &Token| t.kind == TokenKind::Directive;
        match self.tokens.iter().any(configured) {
            true => Size::Unsized(written(self.text, self.value_tokens(place))),
            false => Size::Runtime,
        }
    }
}
