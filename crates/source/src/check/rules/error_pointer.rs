use crate::check::accesses::each;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::summary::Fails;
use crate::expression::{Expression, Term};
use crate::flow::StatementKind;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "error-pointer",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "what memdup_user() gives is not asked for an error, or is compared with NULL",
    why: "memdup_user(), strndup_user() and the like give an error number as a pointer where the copy faults \
          or memory is short, never NULL. IS_ERR() tells it; any other test takes it for an address.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        let whole = Expression::of(function.context, *call);
        let name = whole.call().map(|(name, _)| name.to_owned());
        let gives = name.and_then(|name| Some((function.fails(&name)?, name)));
        let target = gives.and_then(|gives| Some((gives, target(function, *call)?)));
        out.extend(target.and_then(|((fails, name), target)| {
            unasked(function, span(*call), (fails, &name), &target)
        }));
    }
}

/// What takes the result as it is.
fn target(function: &FunctionContext<'_>, call: tree_sitter::Node<'_>) -> Option<Expression> {
    let mut around = std::iter::successors(call.parent(), tree_sitter::Node::parent);
    let holder =
        around.find(|own| !matches!(own.kind(), "parenthesized_expression" | "cast_expression"))?;
    let part = match holder.kind() {
        "assignment_expression" if function.context.operator(holder) == b"=" => "left",
        "init_declarator" => "declarator",
        _ => return None,
    };
    let mut place = holder.part(part)?;
    while place.kind() == "pointer_declarator" {
        place = place.part("declarator")?;
    }
    Some(Expression::of(function.context, bare(place)))
}

/// The violation where nothing asks for the error, and something takes the result for an
/// address or for NULL.
fn unasked(
    function: &FunctionContext<'_>,
    at: Span,
    (fails, name): (Fails, &str),
    target: &Expression,
) -> Option<Violation> {
    let words = function.file.words;
    // A variable of another block may have its name.
    let declared = |at: Span| {
        let local = target.name().and_then(|name| function.local_at(name, at));
        local.map(|local| local.declared)
    };
    let known = declared(target.span);
    let same = |own: &Expression| own.uncast().1 == target && declared(own.span) == known;
    let (mut told, mut compared, mut followed) = (None, None, None);
    let mut null = false;
    each(function.root, &mut |node| {
        let behind = node.start_byte() >= at.end;
        let own = Expression::of(function.context, node);
        match &own.term {
            Term::Call(..) => {
                let asked = own.call().filter(|(_, given)| given.iter().any(same));
                if let Some((name, _)) = asked.filter(|(name, _)| words.tells_errors(name)) {
                    told = told.or(Some(own.span));
                    null |= words.tells_null(name);
                }
            }
            Term::Unary(not, of) if not == "!" && behind && same(of) => {
                compared = compared.or(Some(own.span));
            }
            Term::Binary(left, operator, right) if behind && same(left) => {
                let null = matches!(operator.as_str(), "==" | "!=") && right.is_null();
                compared = compared.or(null.then_some(own.span));
            }
            Term::Member {
                holder,
                arrow: true,
                ..
            } if behind && same(holder) => {
                followed = followed.or(Some(own.span));
            }
            Term::Behind(pointer) if behind && same(pointer) => {
                followed = followed.or(Some(own.span));
            }
            Term::Element { array, .. } if behind && same(array) => {
                followed = followed.or(Some(own.span));
            }
            _ => {}
        }
    });
    let mut returns = function.graph.statements.iter();
    // The caller asks it.
    let handed = returns.any(|own| {
        let given = own.expression.filter(|_| own.kind == StatementKind::Return);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| same(&given))
    });
    let asked = || {
        let written = target.name();
        let tests = function.graph.tests.iter();
        let mut tests =
            tests.filter(|(at, _)| written.is_some_and(|name| function.graph.tests(*at, name)));
        null || compared.is_some() || tests.next().is_some()
    };
    let file = function.file;
    let mut violation = match fails {
        Fails::Null => {
            // A variable alone may be asked for NULL in more ways than are seen.
            let place = told.filter(|_| !handed && target.name().is_some() && !asked())?;
            let message =
                format!("{name}() gives NULL where it fails, which IS_ERR() does not tell");
            file.violation(&INFO, place, "never holds", message)
        }
        _ => {
            let place = compared
                .or(followed)
                .filter(|_| told.is_none() && !handed)?;
            let what = match (compared, fails) {
                (Some(_), Fails::Either) => "it is compared with NULL, which it is at other times",
                (Some(_), _) => "it is compared with NULL, which it never is",
                (None, _) => "it is followed as it is",
            };
            let message = format!("{name}() gives an error pointer where it fails: {what}");
            file.violation(&INFO, place, "no IS_ERR()", message)
        }
    };
    violation.related.push(file.mark(at, "given here"));
    Some(violation)
}
