//! What the kernel writes and the grammar does not know, within one expression or
//! declaration: it is blanked, or becomes something that the grammar knows and
//! that does the same to user memory, which is nothing.

use std::ops::Range;

use crate::Span;
use crate::lex::{TokenKind, closing};
use crate::types::words::is_loud;

use super::{Pass, blank, overwrite};

/// So many tokens in front of a member the brace of its structure is looked for.
const NEAR: usize = 128;

/// Words that are no name of a type before a declarator.
const FRONT: [&[u8]; 18] = [
    b"struct",
    b"union",
    b"enum",
    b"const",
    b"volatile",
    b"static",
    b"unsigned",
    b"signed",
    b"long",
    b"short",
    b"register",
    b"extern",
    b"typedef",
    b"inline",
    b"return",
    b"goto",
    b"else",
    b"case",
];

impl Pass<'_> {
    /// One pass over all tokens; those that are blank afterwards are gone.
    pub(super) fn respell(&mut self) {
        let mut gone: Vec<Range<usize>> = Vec::new();
        for at in 0..self.tokens.len() {
            let inside = gone.last().is_some_and(|range| range.contains(&at));
            let found = (!inside).then(|| self.unknown(at)).flatten();
            if let Some(range) = found.filter(|range| !range.is_empty()) {
                self.blank_range(&range);
                gone.push(range);
            }
        }
        let mut gone = gone.into_iter().peekable();
        let mut at = 0;
        self.tokens.retain(|_| {
            let own = at;
            at += 1;
            while gone.next_if(|range| range.end <= own).is_some() {}
            !gone.peek().is_some_and(|range| range.contains(&own))
        });
    }

    fn blank_range(&mut self, range: &Range<usize>) {
        if let Some(tokens) = self.tokens.get(range.clone())
            && let (Some(first), Some(last)) = (tokens.first(), tokens.last())
        {
            blank(self.out, first.span.join(last.span));
        }
    }

    /// The tokens from one on that have to go. What keeps its place gets another
    /// spelling at once.
    fn unknown(&mut self, at: usize) -> Option<Range<usize>> {
        let token = *self.tokens.get(at)?;
        match self.word(at) {
            b"offsetof" => self.designator(at),
            b"auto" if self.kind(at + 1) == Some(TokenKind::Word) => {
                overwrite(self.out, token.span, b"int");
                None
            }
            b"__alignof__" | b"__alignof" | b"alignof" | b"_Alignof" => {
                overwrite(self.out, token.span, b"sizeof");
                None
            }
            b"asm" | b"__asm__" if self.is_declarator(at.checked_sub(1)?) => {
                self.is(at + 1, b'(').then_some(())?;
                Some(at..closing(&self.tokens, at + 1)? + 1)
            }
            b"const" if self.starts(at) && self.is(at + 2, b'(') => Some(at..at + 1),
            b"static" if self.starts(at) => self.storage(at),
            _ if token.kind == TokenKind::Literal => match self.gives(at) {
                true => None,
                false => self.pasted(at),
            },
            _ if token.kind == TokenKind::Number && self.is_name(at) => {
                let first = Span::new(token.span.start, token.span.start + 1);
                overwrite(self.out, first, b"_");
                None
            }
            _ if token.is(b':') => self.nameless(at),
            word if word.starts_with(b"__") => self.attribute(at).or_else(|| self.mark(at)),
            word if is_loud(word) && self.starts(at) => self.member(at),
            _ => None,
        }
    }

    /// `static const` before a macro that is all of a declaration.
    fn storage(&self, at: usize) -> Option<Range<usize>> {
        let qualifies = |at: &usize| matches!(self.word(*at), b"const" | b"volatile");
        let name = (at + 1..).find(|at| !qualifies(at))?;
        self.declares(name).then_some(at..name)
    }

    /// Whether what the preprocessor takes for a number is a part of a name that a macro
    /// puts together: `BIT(32BIT_ACK)`. The C standard's 6.4.8 lets a number of the
    /// preprocessor be any letters behind a digit.
    fn is_name(&self, at: usize) -> bool {
        let token = self.tokens.get(at);
        let digits = token.map_or(&[][..], |token| token.span.of(self.original));
        let hexadecimal = digits.starts_with(b"0x") || digits.starts_with(b"0X");
        let of_number = |byte: &u8| byte.is_ascii_digit() || b"uUlLeEfF.+-bBjJ\'".contains(byte);
        !hexadecimal && !digits.iter().all(of_number)
    }

    /// Whether a macro with several arguments is all of a declaration: `STATE(name, 5 * HZ);`.
    fn declares(&self, at: usize) -> bool {
        let close = self.is(at + 1, b'(').then(|| closing(&self.tokens, at + 1));
        let Some(close) = close.flatten() else {
            return false;
        };
        let whole = self.kind(at) == Some(TokenKind::Word) && self.is(close + 1, b';');
        whole && (at + 2..close).any(|own| self.is(own, b','))
    }

    /// A macro with several arguments that declares a member of a structure in the function:
    /// `DECLARE_FLEX_ARRAY(u8, data);`.
    fn member(&self, at: usize) -> Option<Range<usize>> {
        self.declares(at).then_some(())?;
        let mut depth = 0_usize;
        let mut front = (at.saturating_sub(NEAR)..at).rev();
        let open = front.find(|own| {
            depth += usize::from(self.is(*own, b'}'));
            let opens = self.is(*own, b'{');
            let around = opens && depth == 0;
            depth -= usize::from(opens && depth > 0);
            around
        })?;
        let of = |back: usize| open.checked_sub(back).map(|own| self.word(own));
        let tag = |own: Option<&[u8]>| matches!(own, Some(b"struct" | b"union"));
        let end = closing(&self.tokens, at + 1)? + 2;
        (tag(of(1)) || tag(of(2))).then_some(at..end)
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// Whether a statement or a member begins here.
    fn starts(&self, at: usize) -> bool {
        let before = at.checked_sub(1);
        before.is_none_or(|at| [b';', b'{', b'}'].iter().any(|byte| self.is(at, *byte)))
    }

    /// `.b[0]` of `offsetof(struct s, a.b[0])`.
    fn designator(&self, at: usize) -> Option<Range<usize>> {
        self.is(at + 1, b'(').then_some(())?;
        let close = closing(&self.tokens, at + 1)?;
        let comma = (at + 2..close).find(|at| self.is(*at, b','))?;
        (self.kind(comma + 1)? == TokenKind::Word).then_some(comma + 2..close)
    }

    /// Whether a word is the name that a declaration gives: `x` of `u32 x`, `*x`.
    fn is_declarator(&self, at: usize) -> bool {
        let Some(front) = at.checked_sub(1) else {
            return false;
        };
        let typed = self.kind(front) == Some(TokenKind::Word) && !FRONT.contains(&self.word(front));
        self.kind(at) == Some(TokenKind::Word) && (typed || self.is(front, b'*'))
    }

    /// An attribute that is not in the vocabulary, behind a declarator: `u32 x
    /// __attribute;`, `u32 x __attribute(8) = 0;`.
    fn attribute(&self, at: usize) -> Option<Range<usize>> {
        if !self.is_declarator(at.checked_sub(1)?) {
            return None;
        }
        let end = match self.is(at + 1, b'(') {
            true => closing(&self.tokens, at + 1)? + 1,
            false => at + 1,
        };
        let ends = [b';', b'=', b','].iter().any(|byte| self.is(end, *byte));
        ends.then_some(at..end)
    }

    /// A mark of an address space that is not in the vocabulary: `struct x __mark *`.
    fn mark(&self, at: usize) -> Option<Range<usize>> {
        let front = self.word(at.checked_sub(1)?);
        let typed = !front.is_empty() && !front.starts_with(b"__") && !FRONT.contains(&front);
        (typed && self.is(at + 1, b'*')).then_some(at..at + 1)
    }

    /// `[0] "text"`, which is how gcc had `[0] = "text"` once: it gets its sign. Whether
    /// it is that.
    fn gives(&mut self, at: usize) -> bool {
        let (Some(front), Some(token)) = (at.checked_sub(1), self.tokens.get(at)) else {
            return false;
        };
        let opening = (0..front).rev().find(|at| self.is(*at, b'['));
        let before = opening.and_then(|opening| opening.checked_sub(1));
        let listed = before.is_some_and(|at| self.is(at, b'{') || self.is(at, b','));
        let space = self.tokens.get(front).map(|own| own.span.end);
        let gives =
            self.is(front, b']') && listed && space.is_some_and(|end| end < token.span.start);
        if gives {
            let last = token.span.start - 1;
            overwrite(self.out, Span::new(last, last + 1), b"=");
        }
        gives
    }

    /// Literals and the macros between them: `PREFIX NAME "text" __stringify(N)` is
    /// one literal.
    fn pasted(&mut self, at: usize) -> Option<Range<usize>> {
        let mut first = at;
        while let Some(before) = first
            .checked_sub(1)
            .filter(|before| self.is_pasted(*before))
        {
            first = before;
        }
        let mut end = at + 1;
        loop {
            end = match self.kind(end) {
                Some(TokenKind::Literal) => end + 1,
                Some(TokenKind::Word) if self.is(end + 1, b'(') => {
                    closing(&self.tokens, end + 1)? + 1
                }
                Some(TokenKind::Word) => end + 1,
                _ => break,
            };
        }
        let words = (first..end).any(|at| self.kind(at) == Some(TokenKind::Word));
        if !words {
            return None;
        }
        for range in [first..at, at + 1..end] {
            self.blank_range(&range);
        }
        // The literal itself stays.
        Some(at + 1..end)
    }

    /// Whether a token before a literal is pasted to it.
    fn is_pasted(&self, at: usize) -> bool {
        match self.kind(at) {
            Some(TokenKind::Literal) => true,
            Some(TokenKind::Word) => {
                let front = at.checked_sub(1);
                let opens = |front| [b'(', b',', b'='].iter().any(|byte| self.is(front, *byte));
                let word = |front| self.kind(front) == Some(TokenKind::Word);
                let literal = |front| self.kind(front) == Some(TokenKind::Literal);
                let follows = |front| opens(front) || word(front) || literal(front);
                !FRONT.contains(&self.word(at)) && front.is_some_and(follows)
            }
            _ => false,
        }
    }

    /// `u32 : 2;` among the members of a struct.
    fn nameless(&self, at: usize) -> Option<Range<usize>> {
        let mut first = at;
        while self.kind(first.checked_sub(1)?) == Some(TokenKind::Word) {
            first -= 1;
        }
        let number = self.kind(at + 1)? == TokenKind::Number && self.is(at + 2, b';');
        let member = first < at && number && self.starts(first);
        member.then_some(first..at + 3)
    }
}
