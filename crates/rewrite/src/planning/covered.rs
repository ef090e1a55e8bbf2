//! `if (!access_ok(p, sizeof(*p))) exit` right above a window: the begin checks
//! the same and leaves in the same way.

use tollgate_source::{Span, StatementKind, Term};

use crate::plan::Plan;
use crate::planning::fault::are_alike;
use crate::subject::Subject;

/// The plan with the check above it in what it replaces. Other styles may mask
/// the pointer instead of checking it, and what follows may need the check.
pub(crate) fn absorb(subject: &Subject<'_>, plan: &mut Plan) {
    let plain = subject.styled.weaves && plan.chained.is_none();
    let found = plain.then(|| above(subject, plan)).flatten();
    if let Some(check) = found {
        plan.region = check.join(plan.region);
        plan.absorbs = true;
    }
}

/// The check right above the window, if it is of the same range and leaves alike.
fn above(subject: &Subject<'_>, plan: &Plan) -> Option<Span> {
    let flow = subject.flow;
    let own = flow.statements_in(plan.region).next()?;
    let check = flow.before(own)?;
    let [exit] = flow.inside(check.span).collect::<Vec<_>>()[..] else {
        return None;
    };
    let asked = subject.expression(check.expression?)?;
    let same = match &asked.term {
        Term::Unary(operator, inner) if operator == "!" => {
            subject.checks(inner, &plan.object, &plan.size) == Some(true)
        }
        _ => false,
    };
    let own = subject.statements(exit.span);
    let alike = are_alike(&own, &plan.fault.statements) && plan.before.is_none();
    let alone = subject.is_code(Span::new(check.span.start, plan.region.start));
    (check.kind == StatementKind::If && same && alike && alone).then_some(check.span)
}
