use tree_sitter::Node;

use crate::calls::Outcome;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::function_tokens;
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Statement, StatementKind};
use crate::lex::{Token, closing};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "misread-result",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "how many bytes were not copied is taken for an error number",
    why: "copy_from_user() and copy_to_user() give the number of bytes that were left, 0 or more. A test \
          for less than 0 never holds, so that a fault goes unseen; a caller that is given them sees no \
          error number.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses {
        if access.word.result != Some(Outcome::Left) {
            continue;
        }
        out.extend(returned(function, access));
        let Some(test) = tested(function, access) else {
            continue;
        };
        let file = function.file;
        let name = &access.word.name;
        let message = format!("{name}() gives how many bytes were left, which is never negative");
        let mut violation = file.violation(&INFO, test, "never holds", message);
        if !test.contains(access.span) {
            let mark = file.mark(access.span, "how many bytes were left");
            violation.related.push(mark);
        }
        out.push(violation);
    }
}

/// A function that gives error numbers elsewhere gives the bytes that were left.
fn returned(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let gives = given_back(function, access)?;
    let mut returns = function.graph.statements.iter().filter_map(given);
    if !returns.any(|given| function.expression(given).is_some_and(|own| is_error(&own))) {
        return None;
    }
    let name = &access.word.name;
    let message = format!(
        "{name}() gives how many bytes were left, and the function gives error numbers elsewhere"
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, gives, "no error number", message);
    violation.confidence = match is_handed_on(function) {
        true => Confidence::Medium,
        // Callers may ask for no more than whether it is 0.
        false => Confidence::Low,
    };
    Some(violation)
}

/// What a `return` gives.
fn given(own: &Statement) -> Option<Span> {
    own.expression.filter(|_| own.kind == StatementKind::Return)
}

/// The `return` of what an access gave, at once or by a variable: right behind it, or
/// under a test that it is not 0.
fn given_back(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Span> {
    let holder = access.node.parent()?;
    if holder.kind() == "return_statement" {
        return Some(span(holder));
    }
    let field = match holder.kind() {
        "assignment_expression" if function.context.operator(holder) == b"=" => "left",
        "init_declarator" => "declarator",
        _ => return None,
    };
    let variable = holder.part(field)?;
    let name = function.context.written(bare(variable));
    let graph = function.graph;
    graph.local(&name).filter(|local| local.plain)?;
    let around = graph.statements.iter();
    let around = around.filter(|own| own.span.contains(span(holder)));
    let own = around.min_by_key(|own| own.span.end - own.span.start)?;
    let asked = match own.kind {
        StatementKind::If => own,
        _ => graph.next(own.span)?,
    };
    let is_own = |own: &&Statement| {
        let given = given(own).and_then(|given| function.expression(given));
        given.is_some_and(|given| given.name() == Some(&name))
    };
    let tests = |condition: Span| {
        let inner = condition.contains(span(holder));
        inner || graph.tests(condition, &name)
    };
    match asked.kind {
        StatementKind::Return => Some(asked).filter(is_own).map(|own| own.span),
        StatementKind::If if asked.expression.is_some_and(tests) => {
            let inside = graph.statements.iter();
            let inside = inside.filter(|own| asked.span.contains(own.span));
            let mut others = graph.inside(asked.span);
            let other = others.find(|own| own.kind == StatementKind::Else);
            let mut inside = inside.filter(|own| !other.is_some_and(|o| o.span.contains(own.span)));
            inside.find(is_own).map(|own| own.span)
        }
        _ => None,
    }
}

/// Whether what the function gives goes to who takes it for an error number: it can be
/// called from elsewhere, or a caller in the file returns it.
fn is_handed_on(function: &FunctionContext<'_>) -> bool {
    let (file, body) = (function.file, function.body);
    let is = |token: &Token, word: &str| token.span.of(file.text) == word.as_bytes();
    let header = function_tokens(function).iter();
    let mut header = header.take_while(|token| token.span.end <= body.header.end);
    if !header.any(|token| is(token, "static")) {
        return true;
    }
    let code: Vec<&Token> = file.tokens.iter().filter(|t| t.is_code()).collect();
    code.windows(3).any(|three| {
        let [before, name, behind] = three else {
            return false;
        };
        let own = is(name, &body.name) && !body.header.contains(name.span);
        own && (is(before, "return") || !behind.is(b'('))
    }) || code.windows(3).enumerate().any(|(at, three)| {
        let [variable, equals, name] = three else {
            return false;
        };
        let own = equals.is(b'=') && is(name, &body.name);
        own && is_kept(file.text, &code, (variable, at + 3)) && is_returned(function, variable)
    })
}

/// Whether the call whose arguments begin there is all that a variable takes, and what it
/// gave is still there behind it: nothing asks for it at once, or whoever asks leaves with
/// it as it is.
fn is_kept(text: &[u8], code: &[&Token], (variable, open): (&Token, usize)) -> bool {
    let rest: Vec<Token> = code.iter().skip(open).map(|token| **token).collect();
    let Some(close) = closing(&rest, 0) else {
        return false;
    };
    let end = rest.get(close + 1).is_some_and(|token| token.is(b';'));
    let next = rest.get(close + 2..).unwrap_or(&[]);
    let asked = next
        .first()
        .is_some_and(|token| token.span.of(text) == b"if");
    end && (!asked || leaves_with(text, next, variable.span.of(text)))
}

/// `if (v) goto out;`, `if (v) return v;`
fn leaves_with(text: &[u8], tokens: &[Token], variable: &[u8]) -> bool {
    let word = |at: usize| tokens.get(at).map(|token| token.span.of(text));
    let asks = word(2) == Some(variable) && tokens.get(3).is_some_and(|own| own.is(b')'));
    let ends = tokens.get(6).is_some_and(|own| own.is(b';'));
    asks && ends
        && match word(4) {
            Some(b"goto") => true,
            Some(b"return") => word(5) == Some(variable),
            _ => false,
        }
}

/// Whether the function of the file that names a variable there returns it.
fn is_returned(function: &FunctionContext<'_>, variable: &Token) -> bool {
    let file = function.file;
    let name = variable.span.of(file.text);
    let Some(caller) = file.holder(variable.span) else {
        return false;
    };
    let mut own = file.tokens_in(caller.span).windows(3);
    own.any(|three| match three {
        [word, given, end] => {
            let gives = word.span.of(file.text) == b"return" && end.is(b';');
            gives && given.span.of(file.text) == name
        }
        _ => false,
    })
}

/// `-EFAULT` and its like, or a choice of one.
fn is_error(own: &Expression) -> bool {
    match &own.term {
        Term::Unary(operator, of) => {
            operator == "-" && of.name().is_some_and(|name| name.starts_with('E'))
        }
        Term::Choice(_, yes, no) => is_error(no) || yes.as_deref().is_some_and(is_error),
        _ => false,
    }
}

/// The test for less than 0, or for an error number, of what an access gives.
fn tested(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Span> {
    let mut node = access.node;
    while let Some(parent) = node.parent() {
        let operator = function.context.operator(parent);
        match parent.kind() {
            "parenthesized_expression" => {}
            "binary_expression" => {
                return is_negative(&Expression::of(function.context, parent))
                    .then(|| span(parent));
            }
            "assignment_expression" if operator == b"=" => {
                let variable = parent.part("left").map(bare)?;
                if let Some(test) = stored(function, variable, span(parent)) {
                    return Some(test);
                }
            }
            "init_declarator" => {
                let variable = parent.part("declarator")?;
                return stored(function, variable, span(parent));
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// `a < 0`, `a == -EFAULT`
fn is_negative(own: &Expression) -> bool {
    let Term::Binary(_, operator, right) = &own.term else {
        return false;
    };
    match operator.as_str() {
        "<" => right.is_zero(),
        "==" => is_error(right),
        _ => false,
    }
}

/// The test of a variable of the function that holds nothing but such results.
fn stored(function: &FunctionContext<'_>, variable: Node<'_>, at: Span) -> Option<Span> {
    if variable.kind() != "identifier" {
        return None;
    }
    let name = function.context.written(variable);
    function.graph.local(&name).filter(|local| local.plain)?;
    let mut writes = function.graph.effects.iter().filter(|effect| {
        let written = matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some());
        written && function.graph.name_of(effect) == name
    });
    if !writes.all(|effect| effect.span == at) {
        return None;
    }
    let tests = function.graph.comparisons.iter();
    tests.copied().find(|test| {
        let own = function.expression(*test).filter(is_negative);
        let of = own.and_then(|own| match own.term {
            Term::Binary(left, ..) => left.name().map(str::to_owned),
            _ => None,
        });
        test.start >= at.end && of.as_deref() == Some(&name)
    })
}
