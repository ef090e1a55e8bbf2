use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Statement, StatementKind};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "inverted-test",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "-EFAULT is returned where the access did not fault",
    why: "copy_from_user() and get_user() give 0 where all went well, access_ok() and user_*_begin() give \
          0 where it did not. A ! too many or too few refuses what is right and goes on with what is not.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let asked = function.graph.statements.iter();
    for own in asked.filter(|own| own.kind == StatementKind::If) {
        let condition = own.expression.and_then(|place| function.expression(place));
        let (Some(condition), true) = (condition, gives_fault(function, own)) else {
            continue;
        };
        let each = condition.joined("||").into_iter();
        out.extend(each.filter_map(|part| inverted(function, part)));
    }
}

/// Whether nothing but `return -EFAULT;` comes where the condition holds.
fn gives_fault(function: &FunctionContext<'_>, own: &Statement) -> bool {
    let Some(mut then) = function.graph.inside(own.span).next() else {
        return false;
    };
    if then.kind == StatementKind::Block {
        let inside: Vec<&Statement> = function.graph.inside(then.span).collect();
        let [only] = inside.as_slice() else {
            return false;
        };
        then = *only;
    }
    let given = then
        .expression
        .filter(|_| then.kind == StatementKind::Return);
    given
        .and_then(|given| function.expression(given))
        .is_some_and(|given| match given.term {
            Term::Unary(minus, of) => minus == "-" && of.name() == Some("EFAULT"),
            _ => false,
        })
}

/// A call that went well where the expression holds.
fn inverted(function: &FunctionContext<'_>, own: &Expression) -> Option<Violation> {
    let (call, negated) = match &own.term {
        Term::Unary(not, inner) if not == "!" => (&**inner, true),
        _ => (own, false),
    };
    let (name, _) = call.call()?;
    let words = function.file.words;
    let faults = words.access(name).is_some_and(|word| word.result.is_some());
    let opens = words.checks_range(name.as_bytes())
        || words
            .begin(name)
            .is_some_and(|begin| !begin.always && !begin.guessed);
    let wrong = if negated { faults && !opens } else { opens };
    wrong.then(|| violation(function, own.span, name, negated))
}

fn violation(function: &FunctionContext<'_>, at: Span, name: &str, negated: bool) -> Violation {
    let message = match negated {
        true => format!("{name}() gives 0 where nothing faulted, and that is answered by -EFAULT"),
        false => format!("{name}() gives no 0 where all is right, and that is answered by -EFAULT"),
    };
    function
        .file
        .violation(&INFO, at, "the other way around", message)
}
