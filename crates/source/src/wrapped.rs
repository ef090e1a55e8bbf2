//! The object of an access that a macro makes: the one in the macro's body, with what a call
//! gives in the places of the parameters.

use tollgate_defect::answer;

use crate::lex::{Token, TokenKind, closing, is_called, tokens};
use crate::reach::Reach;
use crate::span::Span;
use crate::vocabulary::{Access, Vocabulary};

/// Variables of a macro that have the value of each other.
const CHAIN: usize = 4;

/// A word of a macro's body.
#[derive(Clone, Debug)]
enum Piece {
    /// As it is written, with the blank before it.
    Text(String),
    /// Which of the parameters it is, from 0.
    Parameter(usize),
    /// `##`
    Joint,
}

/// The addresses of the accesses in a macro's body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    all: Vec<Vec<Piece>>,
    /// Variables that the body declares, each with its value.
    locals: Vec<(String, Vec<Piece>)>,
}

impl Addresses {
    /// Those of a body; `parameters` are the tokens between the macro's own parentheses.
    pub(crate) fn read(
        text: &[u8],
        parameters: &[Token],
        body: &[Token],
        vocabulary: &Vocabulary,
    ) -> Self {
        let code: Vec<Token> = body.iter().filter(|t| t.is_code()).copied().collect();
        let words = parameters.iter().filter(|t| t.kind == TokenKind::Word);
        let names: Vec<&[u8]> = words.map(|t| t.span.of(text)).collect();
        let pieces = |own: &[Token]| pieces(text, &names, own);
        let all = (0..code.len()).filter_map(|at| {
            let access = vocabulary.access(code.get(at)?.span.of(text))?;
            is_called(&code, at).then_some(())?;
            address(&code, at, access).map(pieces)
        });
        Self {
            all: all.collect(),
            locals: (1..code.len())
                .filter_map(|at| local(text, &code, at))
                .map(|(name, value)| (name, pieces(value)))
                .collect(),
        }
    }

    /// The object that all of them lie in, and how it is reached, where the call of the macro
    /// has those arguments. None where that cannot be told.
    pub(crate) fn object(&self, arguments: &[String]) -> Option<(String, Reach)> {
        let mut all = self.all.iter();
        let own = |pieces: &Vec<Piece>| self.object_of(pieces, arguments, CHAIN);
        let first = own(all.next()?)?;
        all.all(|other| own(other).is_some_and(|other| other.0 == first.0))
            .then_some(first)
    }

    fn object_of(
        &self,
        pieces: &[Piece],
        arguments: &[String],
        left: usize,
    ) -> Option<(String, Reach)> {
        let written = put(pieces, arguments)?;
        let text = written.as_bytes();
        let code = tokens(text, 0);
        let (own, reach) = of_address(text, &code)?;
        let place = own.first()?.span.join(own.last()?.span);
        let object = place.text(text);
        let root = own.iter().find(|t| t.kind == TokenKind::Word)?;
        let root = root.span.of(text);
        let Some((_, value)) = self.locals.iter().find(|(name, _)| name.as_bytes() == root) else {
            return Some((object, reach));
        };
        // Nobody else knows the variable: it is what it was given.
        if object.as_bytes() != root {
            return None;
        }
        let (object, of_value) = self.object_of(value, arguments, left.checked_sub(1)?)?;
        let reach = match (of_value, reach) {
            (Reach::Whole, reach) => reach,
            (of_value, Reach::Whole) => of_value,
            _ => Reach::Computed,
        };
        Some((object, reach))
    }
}

/// The tokens of the argument that is the address.
fn address<'t>(code: &'t [Token], at: usize, access: &Access) -> Option<&'t [Token]> {
    let inside = code.get(at + 2..closing(code, at + 1)?)?;
    let mut depth = 0usize;
    let mut arguments = inside.split(|token| {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(b',')
    });
    match access.address {
        Some(at) => arguments.nth(at),
        None => arguments.next_back(),
    }
}

/// `type name = value;` where the name stands, with its value.
fn local<'t>(text: &[u8], code: &'t [Token], at: usize) -> Option<(String, &'t [Token])> {
    let (before, name) = (code.get(at - 1)?, code.get(at)?);
    let typed = before.kind == TokenKind::Word || before.is(b'*') || before.is(b')');
    let set = code.get(at + 1)?.is(b'=') && !code.get(at + 2)?.is(b'=');
    (typed && set && name.kind == TokenKind::Word).then_some(())?;
    let rest = code.get(at + 2..)?;
    let mut end = 0;
    while !rest.get(end).is_none_or(|t| t.is(b';') || t.is(b',')) {
        end = closing(rest, end).unwrap_or(end) + 1;
    }
    Some((name.span.text(text), rest.get(..end)?))
}

fn pieces(text: &[u8], parameters: &[&[u8]], own: &[Token]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut before: Option<Span> = None;
    let mut all = own.iter().peekable();
    while let Some(token) = all.next() {
        let word = token.span.of(text);
        if token.is(b'#') && all.next_if(|next| next.is(b'#')).is_some() {
            found.push(Piece::Joint);
            before = None;
            continue;
        }
        if before.is_some_and(|before| before.end < token.span.start) {
            found.push(Piece::Text(" ".to_owned()));
        }
        let parameter = parameters.iter().position(|name| *name == word);
        found.push(match parameter {
            Some(at) => Piece::Parameter(at),
            None => Piece::Text(token.span.text(text)),
        });
        before = Some(token.span);
    }
    found
}

/// The text with the arguments in it.
fn put(pieces: &[Piece], arguments: &[String]) -> Option<String> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(own) => out += own,
            Piece::Parameter(at) => out += arguments.get(*at)?.trim(),
            Piece::Joint => out.truncate(out.trim_end().len()),
        }
    }
    Some(out)
}

/// What stands between parentheses around all of it.
fn bare(mut code: &[Token]) -> &[Token] {
    while let (Some(first), Some(close)) = (code.first(), closing(code, 0))
        && first.is(b'(')
        && close + 1 == code.len()
    {
        let Some(inner) = code.get(1..close) else {
            break;
        };
        code = inner;
    }
    code
}

/// Where at no depth a token, and the one behind it, are of some kind: the first, or the last.
fn outside(
    code: &[Token],
    last: bool,
    is: impl Fn(&Token, Option<&Token>) -> bool,
) -> Option<usize> {
    let mut depth = 0usize;
    let mut found = None;
    for (at, token) in code.iter().enumerate() {
        let own = depth == 0 && (last || found.is_none());
        if own && at > 0 && is(token, code.get(at + 1)) {
            found = Some(at);
        }
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

fn is_arrow(token: &Token, next: Option<&Token>) -> bool {
    token.is(b'-') && next.is_some_and(|next| next.is(b'>') && next.span.start == token.span.end)
}

/// The object that an address lies in.
fn of_address<'t>(text: &[u8], code: &'t [Token]) -> Option<(&'t [Token], Reach)> {
    let code = bare(code);
    let first = code.first()?;
    if first.is(b'&') {
        return of_place(text, code.get(1..)?);
    }
    if let Some(behind) = cast(code) {
        return of_address(text, behind).map(|(object, reach)| match reach {
            // The type that the object has is not the one that is accessed.
            Reach::Whole | Reach::Element(_) => (object, Reach::Computed),
            reach => (object, reach),
        });
    }
    let sum = |token: &Token, next: Option<&Token>| {
        (token.is(b'+') || token.is(b'-')) && !is_arrow(token, next)
    };
    if let Some(at) = outside(code, false, sum) {
        return of_address(text, code.get(..at)?).map(|(object, _)| (object, Reach::Computed));
    }
    Some((code, Reach::Whole))
}

/// What is cast at the front.
fn cast(code: &[Token]) -> Option<&[Token]> {
    let close = closing(code, 0).filter(|_| code.first().is_some_and(|t| t.is(b'(')))?;
    let behind = code.get(close + 1..)?;
    let operand = behind.first()?;
    let plain = operand.kind == TokenKind::Word || operand.is(b'(') || operand.is(b'&');
    let inside = code.get(1..close)?;
    let typed = inside.first()?.kind == TokenKind::Word && inside.last()?.is(b'*');
    (plain && typed).then_some(behind)
}

/// The object of the place whose address is taken.
fn of_place<'t>(text: &[u8], code: &'t [Token]) -> Option<(&'t [Token], Reach)> {
    let code = bare(code);
    if code.first()?.is(b'*') {
        return of_address(text, code.get(1..)?);
    }
    if let Some(at) = outside(code, true, is_arrow) {
        let behind = code.get(at + 2..)?;
        let picked = behind.iter().any(|t| t.is(b'['));
        let reach = if picked {
            Reach::Computed
        } else {
            Reach::Field
        };
        let holder = bare(code.get(..at)?);
        // `(&x)->a` is `x.a`.
        return match holder.first()?.is(b'&') {
            true => of_place(text, holder.get(1..)?).map(|(object, _)| (object, reach)),
            false => Some((holder, reach)),
        };
    }
    let part = |token: &Token, _: Option<&Token>| token.is(b'.') || token.is(b'[');
    let Some(at) = outside(code, false, part) else {
        return Some((code, Reach::Whole));
    };
    let reach = match code.get(at..)? {
        [open, index, close] if open.is(b'[') && close.is(b']') => {
            let number = answer::text(index.span.of(text)).and_then(answer::number);
            number.map_or(Reach::Computed, Reach::Element)
        }
        [open, ..] if open.is(b'[') => Reach::Computed,
        _ => Reach::Field,
    };
    Some((bare(code.get(..at)?), reach))
}
