use crate::check::accesses::each;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
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
        let gives = name.filter(|name| function.gives_error_pointer(name));
        let target = gives.and_then(|name| Some((name, target(function, *call)?)));
        out.extend(
            target.and_then(|(name, target)| unasked(function, span(*call), &name, &target)),
        );
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
    name: &str,
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
    let (mut told, mut compared, mut followed) = (false, None, None);
    each(function.root, &mut |node| {
        let behind = node.start_byte() >= at.end;
        let own = Expression::of(function.context, node);
        match &own.term {
            Term::Call(..) => {
                let call = own
                    .call()
                    .map(|(name, given)| (words.tells_errors(name), given));
                told |= call.is_some_and(|(tells, given)| tells && given.iter().any(same));
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
    told |= returns.any(|own| {
        let given = own.expression.filter(|_| own.kind == StatementKind::Return);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| same(&given))
    });
    let place = compared.or(followed).filter(|_| !told)?;
    let what = match compared {
        Some(_) => "it is compared with NULL, which it never is",
        None => "it is followed as it is",
    };
    let message = format!("{name}() gives an error pointer where it fails: {what}");
    let file = function.file;
    let mut violation = file.violation(&INFO, place, "no IS_ERR()", message);
    violation
        .related
        .push(file.mark(at, "an address or an error number"));
    Some(violation)
}
