//! Macros of the tree that wrap an access: `COPY(x)`, `FPU_get_user(x, p)`.

use std::collections::BTreeMap;

use crate::lex::{Token, TokenKind, closing, is_called, lex, tokens};
use crate::span::Span;
use crate::vocabulary::{Access, Vocabulary};
use crate::wrapped::Addresses;

/// A macro around an access, from its definition on.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// Where the line that defines it begins.
    pub(crate) defined: usize,
    /// The access.
    pub(crate) access: Access,
    /// What it accesses.
    pub(crate) addresses: Addresses,
}

/// The accesses that the macros of a file wrap, in order, of its preprocessor lines;
/// one name may be defined again.
pub(crate) fn wrappers(text: &[u8], lines: &[Span], vocabulary: &Vocabulary) -> Vec<Wrapper> {
    let wrappers = lines.iter().filter_map(|line| {
        let (access, addresses) = wrapper(text, *line, vocabulary)?;
        Some(Wrapper {
            defined: line.start,
            access,
            addresses,
        })
    });
    wrappers.collect()
}

/// The macros of a file that only compute: an expression of their arguments without a
/// call, a block or assembly, however often they are defined.
pub(crate) fn computing(text: &[u8], lines: &[Span], vocabulary: &Vocabulary) -> Vec<Vec<u8>> {
    let macros = lines.iter().filter_map(|line| {
        let (name, rest) = definition(text, *line)?;
        let open = rest.first()?;
        let takes = open.is(b'(') && open.span.start == name.end;
        let body = rest.get(closing(&rest, 0)? + 1..).filter(|_| takes)?;
        Some((name, computes(text, body, vocabulary)))
    });
    let mut found: BTreeMap<&[u8], bool> = BTreeMap::new();
    for (name, own) in macros {
        let known = vocabulary.access(name.of(text)).is_some();
        *found.entry(name.of(text)).or_insert(true) &= own && !known;
    }
    let calm = found.into_iter().filter(|(_, computes)| *computes);
    calm.map(|(name, _)| name.to_vec()).collect()
}

fn computes(text: &[u8], body: &[Token], vocabulary: &Vocabulary) -> bool {
    let calls = |at: usize, word: &[u8]| {
        is_called(body, at) && word != b"sizeof" && !vocabulary.is_pure(word)
    };
    let ends = |t: &Token| t.is(b'{') || t.is(b';') || t.is(b'#');
    let keyword =
        |word: &[u8]| matches!(word, b"asm" | b"__asm__" | b"__asm" | b"goto" | b"return");
    // `(*look)(x)`
    let by_pointer = |open: usize| {
        let points = body.get(open + 1).is_some_and(|t| t.is(b'*'));
        let close = closing(body, open).filter(|_| points);
        close.is_some_and(|close| body.get(close + 1).is_some_and(|t| t.is(b'(')))
    };
    !body.is_empty()
        && body.iter().enumerate().all(|(at, token)| {
            let word = token.span.of(text);
            !(ends(token) || token.is(b'(') && by_pointer(at))
                && (token.kind != TokenKind::Word || !calls(at, word) && !keyword(word))
        })
}

/// The tokens of a file in which the macros that define functions are opened:
/// the line ends behind the macro's parameters, and what it stands for follows as
/// code. Only macros that may hold an access are looked at.
pub(crate) fn opened(text: &[u8], all: Vec<Token>, vocabulary: &Vocabulary) -> Vec<Token> {
    let may_define =
        |t: &Token| t.kind == TokenKind::Directive && vocabulary.may_access(t.span.of(text));
    if !all.iter().any(may_define) {
        return all;
    }
    let mut out = Vec::with_capacity(all.len());
    for token in all {
        let body = Some(token)
            .filter(|line| line.kind == TokenKind::Directive)
            .and_then(|line| defined_function(text, line.span, vocabulary));
        match body.as_deref() {
            Some([first, ..]) => {
                let end = first.span.start;
                out.push(Token {
                    span: Span::new(token.span.start, end),
                    ..token
                });
                out.extend(body.into_iter().flatten());
            }
            _ => out.push(token),
        }
    }
    out
}

/// Whether an architecture's own `uaccess.h` opens windows: without a definition
/// of its own the generic one checks the address and each access still opens
/// and closes (include/linux/uaccess.h).
#[must_use]
pub fn opens_windows(header: &[u8], vocabulary: &Vocabulary) -> bool {
    let lines = tokens(header, 0).into_iter();
    lines
        .filter(|token| token.kind == TokenKind::Directive)
        .filter_map(|line| definition(header, line.span))
        .any(|(name, _)| vocabulary.window(name.of(header)).is_some())
}

/// What a macro stands for, if that is the definition of a function:
/// `static int func(…) { … }`.
fn defined_function(text: &[u8], line: Span, vocabulary: &Vocabulary) -> Option<Vec<Token>> {
    if !vocabulary.may_access(line.of(text)) {
        return None;
    }
    let (name, rest) = definition(text, line)?;
    rest.first()
        .filter(|t| t.is(b'(') && t.span.start == name.end)?;
    let body = rest.get(closing(&rest, 0)? + 1..)?;
    let open = body.iter().position(|t| t.is(b'{'))?;
    let header = body.get(..open)?;
    let typed = header
        .get(..2)?
        .iter()
        .all(|t| t.kind == TokenKind::Word || t.is(b'*'));
    (typed && header.last()?.is(b')')).then(|| body.to_vec())
}

/// The name of the macro that a token opens a definition for, if it does: a
/// line of [`opened`].
pub(crate) fn opens(text: &[u8], token: &Token) -> Option<Span> {
    let ended = matches!(text.get(token.span.end), None | Some(b'\n' | b'\r'));
    let line = Some(token.span).filter(|_| token.kind == TokenKind::Directive && !ended)?;
    definition(text, line).map(|(name, _)| name)
}

/// The place of the name that a line defines.
pub(crate) fn defined(text: &[u8], line: Span) -> Option<Span> {
    let mut inside = lex(text.get(..line.end).unwrap_or_default(), line.start + 1);
    inside.next().filter(|t| t.span.of(text) == b"define")?;
    let name = inside.next().filter(|t| t.kind == TokenKind::Word)?;
    Some(name.span)
}

/// The place of the name that a line defines, and the tokens behind it.
pub(crate) fn definition(text: &[u8], line: Span) -> Option<(Span, Vec<Token>)> {
    let mut inside = lex(text.get(..line.end).unwrap_or_default(), line.start + 1);
    inside.next().filter(|t| t.span.of(text) == b"define")?;
    let name = inside.next().filter(|t| t.kind == TokenKind::Word)?;
    Some((name.span, inside.collect()))
}

fn wrapper(text: &[u8], line: Span, vocabulary: &Vocabulary) -> Option<(Access, Addresses)> {
    if !vocabulary.may_access(line.of(text)) {
        return None;
    }
    let (name, rest) = definition(text, line)?;
    let has_arguments = rest
        .first()
        .is_some_and(|t| t.is(b'(') && t.span.start == name.end);
    let close = closing(&rest, 0)?;
    let body = rest.get(close + 1..)?;
    if !has_arguments
        || vocabulary.access(name.of(text)).is_some()
        || !wraps(text, name, body, vocabulary)
    {
        return None;
    }
    let wrapped = body.iter().enumerate().find_map(|(at, token)| {
        let access = vocabulary.access(token.span.of(text))?;
        is_called(body, at).then_some(access)
    });
    let Some(wrapped) = wrapped else {
        let access = into_variable(text, name, rest.get(1..)?, body, vocabulary)?;
        return Some((access, Addresses::default()));
    };
    let access = Access {
        name: name.text(text),
        wrapper: true,
        value: 0,
        address: None,
        telling: vocabulary.tells(&name.text(text)),
        reason: format!("a macro around {}()", wrapped.name),
        ..wrapped.clone()
    };
    let addresses = Addresses::read(text, rest.get(1..close)?, body, vocabulary);
    Some((access, addresses))
}

/// `__put_user_error(x, ptr, err)`: an access of its own that leaves its result
/// in a variable. It checks the address or may sleep, as a whole access does and
/// the parts that it is made of do not.
fn into_variable(
    text: &[u8],
    name: Span,
    parameters: &[Token],
    body: &[Token],
    vocabulary: &Vocabulary,
) -> Option<Access> {
    let words: Vec<&[u8]> = parameters
        .iter()
        .take_while(|t| !t.is(b')'))
        .filter(|t| t.kind == TokenKind::Word)
        .map(|t| t.span.of(text))
        .collect();
    let holds = |word: &[u8]| body.iter().any(|t| t.span.of(text) == word);
    let mut words_of_body = body.iter().map(|t| t.span.of(text));
    let range_check = words_of_body.any(|word| vocabulary.checks_range(word));
    let called = name.text(text);
    let direction = vocabulary.named_after(&called)?;
    let whole = range_check || holds(b"might_fault");
    (matches!(words.as_slice(), [_, _, b"err"]) && whole).then(|| Access {
        name: called,
        direction,
        range_check,
        wrapper: true,
        value: 0,
        address: Some(1),
        telling: true,
        reason: "a macro of the tree that leaves its result in a variable".to_owned(),
    })
}

/// A macro that defines a function, or that belongs inside a window, is no access.
fn wraps(text: &[u8], name: Span, body: &[Token], vocabulary: &Vocabulary) -> bool {
    let opens = [b"scoped_".as_slice(), b"user_"];
    let opens = opens.iter().any(|prefix| name.of(text).starts_with(prefix));
    let inside = opens || vocabulary.is_inside(name.of(text));
    let defines = body
        .iter()
        .any(|token| matches!(token.span.of(text), b"static" | b"case"));
    !inside && !defines
}
