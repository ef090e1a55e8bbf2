//! Whether nothing looks at a variable from a place on, followed as the code
//! goes: an assignment to it or the end of the function comes first.

use tollgate_source::{Token, TokenKind};

use crate::directives::other_sides;
use crate::plan::{Subject, mentions};

/// Gotos that are followed from one place.
const GOTOS: usize = 8;

/// Whether the variable is assigned before anything reads it on every way from
/// `from`, which is in no loop.
pub(crate) fn is_unread(subject: &Subject<'_>, variable: &str, from: usize) -> bool {
    let sides = other_sides(subject.text, subject.function.body);
    let hidden = sides
        .iter()
        .any(|side| mentions(&subject.at(*side), variable));
    let address: String = subject
        .at(subject.function.body)
        .split_whitespace()
        .collect();
    let shared = address.contains(&format!("&{variable}"));
    !hidden
        && !shared
        && Walk {
            subject,
            variable,
            left: GOTOS,
        }
        .ends(from)
}

struct Walk<'w, 'a> {
    subject: &'w Subject<'a>,
    variable: &'w str,
    left: usize,
}

impl Walk<'_, '_> {
    /// Whether the way from a place ends before a read.
    fn ends(&mut self, from: usize) -> bool {
        let code = self.subject.code(tollgate_source::Span::new(
            from,
            self.subject.function.body.end,
        ));
        let mut depth = 0usize;
        for (at, token) in code.iter().enumerate() {
            if token.is(b'{') {
                depth += 1;
            } else if token.is(b'}') {
                depth = depth.saturating_sub(1);
            } else if token.kind == TokenKind::Word
                && let Some(ends) = self.word(&code, at, depth)
            {
                return ends;
            }
        }
        true
    }

    /// What a word says of the way; nothing if it goes on.
    fn word(&mut self, code: &[Token], at: usize, depth: usize) -> Option<bool> {
        let token = code.get(at)?;
        let own = depth == 0 && is_statement(self.subject, code, at);
        match self.subject.at(token.span).as_str() {
            "break" | "continue" | "while" | "for" | "do" | "asm" => Some(false),
            "goto" => self.jump(code, at, own),
            "return" if own => Some(!self.read_before_end(code, at)),
            name if name == self.variable => self.mention(code, at, own),
            _ => None,
        }
    }

    /// A mention as a member is of something else.
    fn mention(&self, code: &[Token], at: usize, own: bool) -> Option<bool> {
        let member = at
            .checked_sub(1)
            .and_then(|before| code.get(before))
            .is_some_and(|before| before.is(b'.') || before.is(b'>'));
        let token = code.get(at)?;
        let uses = self.subject.outline.uses.iter();
        let assigned = uses.into_iter().any(|u| u.assigned && u.span == token.span);
        let reads_itself = assigned && self.read_before_end(code, at + 1);
        match (member, assigned, own) {
            (true, _, _) => None,
            (false, true, true) => Some(!reads_itself),
            (false, true, false) if !reads_itself => None,
            _ => Some(false),
        }
    }

    /// Whether the variable is named between a token and the end of its statement.
    fn read_before_end(&self, code: &[Token], at: usize) -> bool {
        let rest = code.get(at..).unwrap_or_default();
        let statement = rest.iter().take_while(|token| !token.is(b';'));
        statement
            .into_iter()
            .any(|token| self.subject.at(token.span) == self.variable)
    }

    fn jump(&mut self, code: &[Token], at: usize, own: bool) -> Option<bool> {
        let target = self.subject.at(code.get(at + 1)?.span);
        let mut labels = self.subject.outline.labels.iter();
        let place = labels
            .find(|(name, _)| *name == target)
            .map(|(_, span)| *span);
        let ahead = place.filter(|place| code.get(at).is_some_and(|t| place.start > t.span.start));
        self.left = self.left.saturating_sub(1);
        let Some(label) = ahead.filter(|_| self.left > 0) else {
            return Some(false);
        };
        match (self.ends(label.end), own) {
            (true, false) => None,
            (ends, _) => Some(ends),
        }
    }
}

/// Whether a statement begins here that hangs on no condition.
fn is_statement(subject: &Subject<'_>, code: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| code.get(at)) else {
        return true;
    };
    let ends = [b';', b'{', b'}', b':'].iter().any(|byte| before.is(*byte));
    ends && subject.at(before.span) != "else"
}
