//! `if (!access_ok(p, sizeof(*p))) exit` right above a window: the begin checks
//! the same and leaves in the same way.

use tollgate_source::{Span, closing};

use crate::fault::statements;
use crate::layout::on_one_line;
use crate::plan::{Plan, Subject};
use crate::style::Style;

/// The plan with the check above it in what it replaces. Other styles may mask
/// the pointer instead of checking it, and what follows may need the check.
pub(crate) fn absorb(subject: &Subject<'_>, plan: &mut Plan) {
    let plain = subject.styled.style == Style::Window && plan.chained.is_none();
    let found = plain.then(|| above(subject, plan)).flatten();
    if let Some(check) = found {
        plan.region = check.join(plan.region);
        plan.absorbs = true;
    }
}

/// The check right above the window, if it is of the same range and leaves alike.
fn above(subject: &Subject<'_>, plan: &Plan) -> Option<Span> {
    let from = plan.region.start;
    let text = subject.text.get(subject.function.body.start..from)?;
    let text = String::from_utf8_lossy(text).into_owned();
    let checks = subject.vocabulary.range_checks().iter();
    let at = checks.filter_map(|check| text.rfind(&format!("if (!{check}(")));
    let at = at.max()?;
    let start = subject.function.body.start + at;
    let code = subject.code(Span::new(start, from));
    // if ( ! access_ok ( … ) )
    let close = closing(&code, 4)?;
    let checked = Span::new(code.get(4)?.span.end, code.get(close)?.span.start);
    let exit = code.get(close + 2)?.span.join(code.last()?.span);
    let tight = |text: &str| text.split_whitespace().collect::<String>();
    let same = tight(&subject.at(checked)) == tight(&format!("{}, {}", plan.object, plan.size));
    let alone = code.get(close + 1)?.is(b')') && is_one(&subject.at(exit));
    let kept = !subject.comments(Span::new(start, from)).is_empty();
    let alike = statements(subject, exit) == plan.fault.statements && plan.before.is_none();
    let statement = begins(&text[..at]) && !on_one_line(&text[at..]).contains('#');
    (same && alone && alike && statement && !kept).then(|| Span::new(start, exit.end))
}

/// Whether a text is one statement, or one block.
fn is_one(exit: &str) -> bool {
    let block = exit.starts_with('{') && exit.find('}') == exit.rfind('}') && exit.ends_with('}');
    block || !exit.contains(['{', '}']) && exit.matches(';').count() == 1
}

/// Whether a statement begins behind the text, which hangs on nothing.
fn begins(before: &str) -> bool {
    before.trim_end().ends_with([';', '{', '}', ':'])
}
