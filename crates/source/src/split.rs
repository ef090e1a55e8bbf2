//! Which functions a file holds, without parsing it: kernel style closes a
//! function with a brace in the first column.

use crate::lex::{Token, TokenKind, closing};
use crate::span::Span;
use crate::vocabulary::Vocabulary;
use crate::wrappers::opens;

/// One function definition as the tokens show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The name; `SYSCALL_DEFINE3(getresuid)` for a definition by macro.
    pub name: String,
    /// The name in the file.
    pub name_span: Span,
    /// The macro in whose body the definition stands, if it stands in one.
    pub defined_by: Option<String>,
    /// From the first token of the header to the opening brace, brace excluded.
    pub header: Span,
    /// From the opening to the closing brace, both included.
    pub span: Span,
    /// The tokens of `span`, as indices into the file's tokens.
    pub tokens: std::ops::Range<usize>,
}

/// How the names of the macros end that define system calls, before the number of
/// arguments: COMPAT_SYSCALL_DEFINE3 (include/linux/compat.h), PPC32_SYSCALL_DEFINE4,
/// SYSCALL32_DEFINE0 (arch/powerpc, arch/x86).
const SYSTEM_CALLS: [&str; 2] = ["SYSCALL_DEFINE", "SYSCALL32_DEFINE"];

/// How those of them begin that are a 32-bit program's.
const COMPAT: &str = "COMPAT_";

impl Body {
    /// Whether it is a system call: nobody but a program gives it its arguments, which
    /// its header has as `type, name`.
    pub(crate) fn is_system_call(&self) -> bool {
        self.family().is_some()
    }

    /// Whether it is one whose pointers may be any address: one of a compatible ABI has
    /// 32 bits of them, which lead to no memory of a 64-bit kernel.
    pub(crate) fn takes_any_address(&self) -> bool {
        self.family() == Some("SYSCALL_DEFINE")
    }

    /// Whether it is one of a compatible ABI, whose own types are as wide as those of a 32-bit
    /// program.
    pub(crate) fn is_compat_call(&self) -> bool {
        self.family()
            .is_some_and(|family| family.starts_with(COMPAT))
    }

    /// The macro that makes a system call of it, without the number of its arguments.
    fn family(&self) -> Option<&str> {
        let (by, _) = self.name.split_once('(')?;
        let family = by.trim_end_matches(|c: char| c.is_ascii_digit());
        let known = SYSTEM_CALLS.iter().any(|own| family.ends_with(own));
        known.then_some(family)
    }
}

/// The functions of a file, in order.
#[must_use]
pub fn bodies(text: &[u8], tokens: &[Token], vocabulary: &Vocabulary) -> Vec<Body> {
    Cut::new(text, tokens, vocabulary).bodies()
}

/// A function whose braces do not end before the next begins, before the file
/// ends, or at the brace at the margin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unended {
    /// Its name; `{` where it has none.
    pub(crate) name: String,
    /// Its name in the file, or the brace.
    pub(crate) name_span: Span,
    /// All that follows its opening brace, that brace included, as indices into
    /// the file's tokens. None of it is in a function.
    pub(crate) tokens: std::ops::Range<usize>,
}

/// A file cut into its functions.
pub(crate) struct Cut<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    vocabulary: &'a Vocabulary,
    parts: Vec<Part>,
}

impl<'a> Cut<'a> {
    /// Cuts a file, by its tokens.
    pub(crate) fn new(text: &'a [u8], tokens: &'a [Token], vocabulary: &'a Vocabulary) -> Self {
        Self {
            text,
            tokens,
            vocabulary,
            parts: parts(text, tokens, vocabulary),
        }
    }

    /// The functions, in order.
    pub(crate) fn bodies(&self) -> Vec<Body> {
        let whole = self
            .parts
            .iter()
            .filter_map(|part| Some((part.open, part.close?)));
        whole
            .filter_map(|(open, close)| body(self.text, self.tokens, open, close, self.vocabulary))
            .collect()
    }

    /// The functions that lack their last brace, in order.
    pub(crate) fn unended(&self) -> Vec<Unended> {
        let open = self.parts.iter().filter(|part| part.close.is_none());
        let named = open.filter_map(|part| {
            let named = named_header(self.text, self.tokens, part.open, self.vocabulary);
            let brace = || Some((String::from("{"), self.tokens.get(part.open)?.span));
            let (name, name_span) = named.map(|(_, named)| named).or_else(brace)?;
            Some(Unended {
                name,
                name_span,
                tokens: part.open..part.end,
            })
        });
        named.collect()
    }
}

/// Whether a function of a text may lack its last brace: a search that is quick to
/// say no.
pub(crate) fn may_be_unended(text: &[u8]) -> bool {
    // How many braces are open since the one at the margin.
    let mut depth: Option<usize> = None;
    let mut ends = 0;
    for at in memchr::memchr2_iter(b'{', b'}', text) {
        let opens = text.get(at) == Some(&b'{');
        let at_margin = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\n');
        depth = match (opens, at_margin, depth) {
            (true, true, Some(_)) => return true,
            (true, true, None) => Some(1),
            (false, true, inside) => {
                if inside.is_some_and(|depth| depth != 1) {
                    return true;
                }
                ends = at + 1;
                None
            }
            (true, false, inside) => inside.map(|depth| depth + 1),
            (false, false, inside) => inside.map(|depth| depth.saturating_sub(1)),
        };
    }
    depth.is_some() || memchr::memchr(b'{', text.get(ends..).unwrap_or_default()).is_some()
}

/// A function's place among the tokens.
struct Part {
    open: usize,
    close: Option<usize>,
    /// One past its last token.
    end: usize,
}

impl Part {
    /// One that ends with its closing brace.
    fn closed(open: usize, close: usize) -> Self {
        Self {
            open,
            close: Some(close),
            end: close + 1,
        }
    }
}

fn parts(text: &[u8], tokens: &[Token], vocabulary: &Vocabulary) -> Vec<Part> {
    let all = tokens.iter().enumerate();
    let marks = all.filter(|(_, token)| {
        matches!(
            token.kind,
            TokenKind::Punct(b'{' | b'}') | TokenKind::Directive
        )
    });
    let cutter = Cutter {
        text,
        tokens,
        vocabulary,
        marks: marks.map(|(at, _)| at).collect(),
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = cutter.next_body(at) {
        let part = cutter.part(open);
        at = part.end;
        found.push(part);
    }
    found
}

/// Cuts a file into its functions.
struct Cutter<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    vocabulary: &'a Vocabulary,
    /// The braces and the lines of the preprocessor, as indices into the tokens.
    marks: Vec<usize>,
}

impl Cutter<'_> {
    /// The marks from a token on.
    fn marks(&self, from: usize) -> impl Iterator<Item = usize> {
        let first = self.marks.partition_point(|at| *at < from);
        self.marks.get(first..).unwrap_or_default().iter().copied()
    }

    fn at_margin(&self, index: usize, byte: u8) -> bool {
        is_at_margin(self.text, self.tokens, index, byte)
    }

    fn is_in_macro(&self, open: usize) -> bool {
        macro_of(self.text, self.tokens, open).is_some()
    }

    fn part(&self, open: usize) -> Part {
        let close = self.end_of_body(open);
        let end = close.map_or(self.tokens.len(), |close| close + 1);
        match self.next_header(open..end) {
            // `{ return 0; }` in a line of its own ends there.
            Some(next) => match closing(self.tokens, open).filter(|close| *close < next) {
                Some(close) => Part::closed(open, close),
                None => Part {
                    open,
                    close: None,
                    end: next,
                },
            },
            None => match close.and_then(|close| self.behind_margin(open..close)) {
                Some(close) => Part::closed(open, close),
                None => Part {
                    open,
                    close: close.filter(|close| !self.leaves_open(open..*close)),
                    end,
                },
            },
        }
    }

    /// Where a body ends in which a brace at the margin closes an inner block: its own is
    /// closed behind that, no other function and no `#if` between.
    fn behind_margin(&self, body: std::ops::Range<usize>) -> Option<usize> {
        let open = body.start;
        self.is_one_too_few(body).then_some(())?;
        let close = closing(self.tokens, open)?;
        let mut marks = self.marks(open).take_while(|at| *at <= close);
        let plain = marks.all(|at| self.tokens.get(at).is_some_and(Token::is_code));
        let whole = plain && self.at_margin(close, b'}') && !self.is_in_macro(open);
        (whole && self.next_header(open..close).is_none()).then_some(close)
    }

    /// Whether the brace at the margin is one too few for the body that it ends: what
    /// closes it stands behind another function, or nowhere. An `#if` may count some
    /// braces twice, a macro some not at all: neither is asked.
    fn leaves_open(&self, body: std::ops::Range<usize>) -> bool {
        let open = body.start;
        let is_alone = |close| self.next_header(open..close).is_none();
        self.is_one_too_few(body)
            && !self.is_in_macro(open)
            && !closing(self.tokens, open).is_some_and(is_alone)
    }

    /// Whether fewer braces are closed than opened up to the brace at the margin, no line of
    /// the preprocessor among them.
    fn is_one_too_few(&self, body: std::ops::Range<usize>) -> bool {
        let (mut opened, mut closed) = (0usize, 0usize);
        for at in self.marks(body.start).take_while(|at| *at <= body.end) {
            match self.tokens.get(at).map(|token| token.kind) {
                Some(TokenKind::Punct(b'{')) => opened += 1,
                Some(TokenKind::Directive) => return false,
                _ => closed += 1,
            }
        }
        opened > closed
    }

    /// Where the header of another function begins before the body at the margin has
    /// ended: no `#if` stands between that could leave out one of the two.
    fn next_header(&self, body: std::ops::Range<usize>) -> Option<usize> {
        let (text, tokens, open) = (self.text, self.tokens, body.start);
        let starts = self.at_margin(open, b'{') && !self.is_in_macro(open);
        let is_code = |at: &usize| tokens.get(*at).is_some_and(Token::is_code);
        let inside = self.marks(open + 1);
        let inside = inside.take_while(|at| *at < body.end && is_code(at));
        let mut braces = inside.filter(|at| self.at_margin(*at, b'{'));
        let inner = braces.find(|at| starts && follows_parameters(tokens, *at))?;
        let header = header(tokens, inner, true);
        let (name, _) = name(text, tokens.get(header.clone())?, self.vocabulary)?;
        let is_statement = matches!(name.as_str(), "if" | "for" | "while" | "switch");
        (header.start > open && !is_statement).then_some(header.start)
    }

    fn next_body(&self, from: usize) -> Option<usize> {
        let opens = |at: &usize| self.tokens.get(*at).is_some_and(|token| token.is(b'{'));
        let mut braces = self.marks(from).filter(opens);
        braces.find(|at| self.at_margin(*at, b'{') || follows_parameters(self.tokens, *at))
    }

    /// The brace at the margin, wherever `#if` leaves the braces unbalanced; a body
    /// that opens inside a line, `f(void) {}`, ends where its brace is closed.
    fn end_of_body(&self, open: usize) -> Option<usize> {
        if self.is_in_macro(open) {
            return closing(self.tokens, open);
        }
        let mut behind = self.marks(open + 1);
        let at_margin = behind.find(|at| self.at_margin(*at, b'}'));
        if self.at_margin(open, b'{') {
            return at_margin;
        }
        closing(self.tokens, open)
            .filter(|close| at_margin.is_none_or(|margin| *close < margin))
            .or(at_margin)
    }
}

fn is_at_margin(text: &[u8], tokens: &[Token], index: usize, byte: u8) -> bool {
    tokens.get(index).is_some_and(|token| {
        token.is(byte) && (token.span.start == 0 || text.get(token.span.start - 1) == Some(&b'\n'))
    })
}

fn follows_parameters(tokens: &[Token], brace: usize) -> bool {
    let before = tokens.get(..brace).unwrap_or_default();
    before
        .iter()
        .rev()
        .find(|t| t.kind != TokenKind::Comment)
        .is_some_and(|t| t.is(b')'))
}

fn body(
    text: &[u8],
    tokens: &[Token],
    open: usize,
    close: usize,
    vocabulary: &Vocabulary,
) -> Option<Body> {
    let (header, (name, name_span)) = named_header(text, tokens, open, vocabulary)?;
    let defined_by = macro_of(text, tokens, open).map(|by| by.text(text));
    Some(Body {
        name: match &defined_by {
            Some(by) => format!("{by}({name})"),
            None => name,
        },
        defined_by,
        name_span,
        header: Span::new(
            tokens.get(header.start)?.span.start,
            tokens.get(open)?.span.start,
        ),
        span: Span::new(tokens.get(open)?.span.start, tokens.get(close)?.span.end),
        tokens: open..close + 1,
    })
}

type NamedHeader = (std::ops::Range<usize>, (String, Span));

fn named_header(
    text: &[u8],
    tokens: &[Token],
    open: usize,
    vocabulary: &Vocabulary,
) -> Option<NamedHeader> {
    [true, false].into_iter().find_map(|lines_end| {
        let header = header(tokens, open, lines_end);
        let name = name(text, tokens.get(header.clone())?, vocabulary)?;
        Some((header, name))
    })
}

/// The macro whose body the function at `open` is, if it is one's.
fn macro_of(text: &[u8], tokens: &[Token], open: usize) -> Option<Span> {
    let before = header(tokens, open, true).start.checked_sub(1)?;
    opens(text, tokens.get(before)?)
}

/// The tokens before a body. An `#if` may stand inside a header; where that is
/// not looked for, lines of the preprocessor end it.
fn header(tokens: &[Token], open: usize, lines_end: bool) -> std::ops::Range<usize> {
    let ends = |t: &Token| t.is(b';') || t.is(b'}') || lines_end && t.kind == TokenKind::Directive;
    let before = tokens.get(..open).unwrap_or_default();
    let start = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let comments = before
        .iter()
        .skip(start)
        .take_while(|t| !t.is_code())
        .count();
    (start + comments).min(open)..open
}

fn name(text: &[u8], header: &[Token], vocabulary: &Vocabulary) -> Option<(String, Span)> {
    let mut at = 0;
    while let Some(token) = header.get(at) {
        let called = header.get(at + 1).is_some_and(|t| t.is(b'('));
        if token.kind == TokenKind::Word && called {
            if vocabulary.annotation(token.span.of(text)).is_none() {
                return Some((full_name(text, header, at), token.span));
            }
            at = closing(header, at + 1).unwrap_or(at + 1);
        }
        at += 1;
    }
    None
}

/// A definition by macro is named with its first argument, as it is searched for.
fn full_name(text: &[u8], header: &[Token], at: usize) -> String {
    let name = header
        .get(at)
        .map(|t| t.span.text(text))
        .unwrap_or_default();
    let by_macro = name
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let argument = header.get(at + 2).filter(|t| t.is_code() && !t.is(b')'));
    match argument {
        Some(argument) if by_macro => format!("{name}({})", argument.span.text(text)),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::lex::tokens;

    /// What stood behind the brace was in no function.
    #[test]
    fn a_brace_at_the_margin_may_close_an_inner_block() {
        let names = |text: &str| {
            let all = tokens(text.as_bytes(), 0);
            let found = bodies(text.as_bytes(), &all, &Vocabulary::builtin().unwrap());
            let shown = found.iter().map(|own| (own.name.clone(), own.span.end));
            shown.collect::<Vec<_>>()
        };
        let one = "int f(int a)\n{\n\tif (a) {\n\t\ta++;\n}\nout:\n\treturn copy(a);\n}\n";
        let two = format!("{one}int g(void)\n{{\n\treturn 0;\n}}\n");
        let end = one.len() - 1;
        assert_eq!(
            names(&two),
            [("f".into(), end), ("g".into(), two.len() - 1)]
        );
        // There it is one too few: the next function is no part of it.
        let open = "int f(int a)\n{\n\tif (a) {\n\t\ta++;\n}\nint g(void)\n{\n\treturn 0;\n}\n";
        assert!(names(open).iter().all(|(name, _)| name != "f"));
    }

    #[test]
    fn system_calls_are_known_by_what_defines_them() {
        let is = |header: &str| {
            let text = format!("{header}\n{{\n\treturn 0;\n}}\n").into_bytes();
            let all = tokens(&text, 0);
            let found = bodies(&text, &all, &Vocabulary::builtin().unwrap());
            found.first().unwrap().is_system_call()
        };
        for of in [
            "SYSCALL_DEFINE2",
            "COMPAT_SYSCALL_DEFINE2",
            "PPC32_SYSCALL_DEFINE2",
            "SYSCALL32_DEFINE2",
        ] {
            assert!(is(&format!("{of}(f, int, a, char __user *, p)")), "{of}");
        }
        assert!(!is("static int f(int a, char __user *p)"));
        assert!(!is("DEFINE_SYSCALL_TEST(f, int, a)"));
    }
}
