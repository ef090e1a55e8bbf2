//! What the callers of a static function do with what a failed call has left behind:
//! nothing, where each gives it a variable of its own and returns at once.

use tollgate_source::{
    Body, Expression, Jump, Span, StatementKind, Term, Token, TokenKind, bodies, closing, tokens,
};

use crate::plan::Fault;
use crate::subject::Subject;

/// Whether nobody can look, behind a fault, at what the parameter points to: every call
/// of the function is all that an `if` asks for, which returns then, and gives it the
/// address of a variable that is named nowhere else before.
pub(crate) fn forget(subject: &Subject<'_>, fault: &Fault, parameter: &str) -> bool {
    let all = tokens(subject.text, 0);
    let code: Vec<Token> = all.iter().copied().filter(Token::is_code).collect();
    let Some(at) = position(subject, parameter).filter(|_| fails(subject, fault)) else {
        return false;
    };
    let body = subject.function.header.join(subject.function.body);
    let name = subject.function.name.as_bytes();
    let mentions =
        |token: &Token| token.kind == TokenKind::Word && token.span.of(subject.text) == name;
    let outside = |at: &usize| {
        code.get(*at)
            .is_some_and(|t| mentions(t) && !body.contains(t.span))
    };
    let calls: Vec<usize> = (0..code.len()).filter(outside).collect();
    let own = bodies(subject.text, &all, subject.vocabulary);
    let macros = all
        .iter()
        .filter(|token| token.kind == TokenKind::Directive);
    let hidden = macros
        .into_iter()
        .any(|line| names(subject, line.span, name));
    let drops =
        |call: &usize| Call::read(subject, &code, *call, at).is_some_and(|call| call.drops(&own));
    subject.own_file
        && is_static(subject)
        && !hidden
        && !calls.is_empty()
        && calls.iter().all(drops)
}

/// Whether a line of the preprocessor names it.
fn names(subject: &Subject<'_>, line: Span, name: &[u8]) -> bool {
    // Past the mark, its words are words.
    let [_, inner @ ..] = line.of(subject.text) else {
        return false;
    };
    tokens(inner, 0)
        .iter()
        .any(|token| token.kind == TokenKind::Word && token.span.of(inner) == name)
}

/// Whether a fault returns what is not 0: `-EFAULT`.
fn fails(subject: &Subject<'_>, fault: &Fault) -> bool {
    let value = match &fault.jump {
        Jump::Return(value) => subject.written(value),
        Jump::Goto(label) => returned_behind(subject, label),
        _ => None,
    };
    value.is_some_and(|value| match value.term {
        Term::Unary(minus, error) => minus == "-" && error.name().is_some(),
        _ => false,
    })
}

/// What is returned right behind a label.
fn returned_behind(subject: &Subject<'_>, label: &str) -> Option<Expression> {
    let flow = subject.flow;
    let own = flow.labelled(flow.label(label)?)?;
    let inside: Vec<_> = flow.inside(own.span).collect();
    let [only] = inside.as_slice() else {
        return None;
    };
    let returned = only
        .expression
        .filter(|_| only.kind == StatementKind::Return)?;
    subject.expression(returned)
}

pub(crate) fn is_static(subject: &Subject<'_>) -> bool {
    let words = subject.tokens(subject.function.header);
    words
        .iter()
        .any(|token| token.span.of(subject.text) == b"static")
}

/// Which parameter has that name.
fn position(subject: &Subject<'_>, parameter: &str) -> Option<usize> {
    let (header, name) = (subject.function.header, &subject.function.name);
    let all = parameters(subject.text, header, name)?;
    all.iter().position(|own| own == parameter)
}

/// The last word of each parameter of a function: its name, but for pointers to functions.
pub(crate) fn parameters(text: &[u8], header: Span, function: &str) -> Option<Vec<String>> {
    let all = tokens(text.get(..header.end)?, header.start).into_iter();
    let code: Vec<Token> = all.filter(Token::is_code).collect();
    let is_name = |token: &Token| token.span.of(text) == function.as_bytes();
    let own = code.iter().position(is_name)?;
    let parts = arguments(&code, own + 1)?.into_iter();
    let last = |part: Vec<Token>| part.last().map(|token| token.span.text(text));
    parts.map(last).collect()
}

/// Where each parameter of a function is declared; nowhere for `(void)`.
pub(crate) fn given(text: &[u8], header: Span, function: &str) -> Option<Vec<Span>> {
    let all = tokens(text.get(..header.end)?, header.start).into_iter();
    let code: Vec<Token> = all.filter(Token::is_code).collect();
    let is_name = |token: &Token| token.span.of(text) == function.as_bytes();
    let own = code.iter().position(is_name)?;
    let parts = arguments(&code, own + 1)?.into_iter();
    let whole = |part: Vec<Token>| Some(part.first()?.span.join(part.last()?.span));
    parts.map(whole).collect()
}

/// What stands between the commas of a call or a header.
fn arguments(code: &[Token], open: usize) -> Option<Vec<Vec<Token>>> {
    let close = closing(code, open)?;
    let mut found = vec![Vec::new()];
    let mut at = open + 1;
    while at < close {
        let token = code.get(at)?;
        if token.is(b',') {
            found.push(Vec::new());
        } else {
            let end = closing(code, at).unwrap_or(at);
            found.last_mut()?.extend(code.get(at..=end)?);
            at = end;
        }
        at += 1;
    }
    Some(found)
}

/// `if (function(&variable, …)) return …;`
struct Call<'c> {
    text: &'c [u8],
    code: &'c [Token],
    /// The variable.
    variable: &'c [u8],
    /// From the `if` to the end of the return.
    place: Span,
    /// What is returned.
    returned: Span,
}

impl<'c> Call<'c> {
    fn read(
        subject: &'c Subject<'_>,
        code: &'c [Token],
        at: usize,
        parameter: usize,
    ) -> Option<Self> {
        let text = subject.text;
        let word = |at: usize| code.get(at).map(|token| token.span.of(text));
        let close = closing(code, at + 1)?;
        let asked = word(at.checked_sub(2)?)? == b"if" && word(at - 1)? == b"(";
        let leaves = word(close + 1)? == b")" && word(close + 2)? == b"return";
        let parts = arguments(code, at + 1)?;
        let [mark, name] = parts.get(parameter)?.as_slice() else {
            return None;
        };
        let end = (close + 2..code.len()).find(|at| code.get(*at).is_some_and(|t| t.is(b';')))?;
        (asked && leaves && mark.is(b'&') && name.kind == TokenKind::Word).then_some(())?;
        Some(Self {
            text,
            code,
            variable: name.span.of(text),
            place: code.get(at - 2)?.span.join(code.get(end)?.span),
            returned: code.get(close + 2)?.span.join(code.get(end)?.span),
        })
    }

    /// Whether the variable is the caller's own, and its address is given to nobody else.
    fn drops(&self, all: &[Body]) -> bool {
        let Some(caller) = all.iter().find(|body| body.span.contains(self.place)) else {
            return false;
        };
        let own = self.code.iter().enumerate().filter(|(_, token)| {
            caller.span.contains(token.span) && token.span.of(self.text) == self.variable
        });
        let places: Vec<usize> = own.map(|(at, _)| at).collect();
        let is = |at: Option<usize>, byte| {
            at.and_then(|at| self.code.get(at))
                .is_some_and(|t| t.is(byte))
        };
        let given = places.iter().filter(|at| is(at.checked_sub(1), b'&'));
        let first = places.first().copied();
        let declared = is(first.map(|at| at + 1), b'=') || is(first.map(|at| at + 1), b';');
        let declared = declared && first.is_some_and(|at| self.is_plain(at));
        let returned = |at: &usize| {
            self.code
                .get(*at)
                .is_some_and(|t| self.returned.contains(t.span))
        };
        declared && given.count() == 1 && !places.iter().any(returned)
    }

    /// Whether the declaration has words alone before the name, `static` not among them.
    fn is_plain(&self, at: usize) -> bool {
        let begins = |token: &Token| [b';', b'{', b'}'].iter().any(|b| token.is(*b));
        let before = self.code.iter().take(at).rev();
        let words = before.take_while(|token| !begins(token));
        let mut count = 0;
        words.into_iter().all(|token| {
            count += 1;
            token.kind == TokenKind::Word && token.span.of(self.text) != b"static"
        }) && count > 0
    }
}
