//! What `get_user()` leaves in its variable on a fault: zero. The window leaves
//! what was there, so that where something may look, zero is put there before.

use tollgate_source::{Direction, Form, Jump, Site, Span, StepKind};

use crate::advance::is_used_behind;
use crate::layout::on_one_line;
use crate::plan::{Line, Plan, Subject, mentions};
use crate::refusal::{Reason, Refusal};

/// Adds `x = 0;` before each read of which something may look at `x` after a
/// fault: before the begin for the first, if a failed check of the range makes it
/// zero, too. Where the begin stands for an `access_ok()`, that check leaves it
/// alone.
pub(crate) fn add(subject: &Subject<'_>, plan: &mut Plan) -> Result<(), Refusal> {
    let mut lines = Vec::with_capacity(plan.lines.len());
    for mut line in std::mem::take(&mut plan.lines) {
        if let Line::Access(index) | Line::When { index, .. } = line
            && let Some(variable) = cleared(subject, plan, index)?
        {
            plan.zeroes = true;
            let statement = format!("{variable} = 0;");
            lines.extend(place(plan, &mut line, statement));
        }
        lines.push(line);
    }
    plan.lines = lines;
    Ok(())
}

/// Puts the statement where it is executed if the access is: in the line of an
/// access under a condition, or as a line of its own, which is given back.
fn place(plan: &mut Plan, line: &mut Line, statement: String) -> Option<Line> {
    let first = plan.run.sites.first();
    match line {
        Line::When { zero, .. } => *zero = Some(statement),
        Line::Access(0) if !plan.absorbs && first.is_some_and(|site| site.range_check) => {
            plan.cleared = Some(statement);
        }
        _ => return Some(Line::Zero(statement)),
    }
    None
}

/// A variable that is made zero behind what opens the window.
pub(crate) fn inside(plan: &Plan) -> Option<&str> {
    plan.lines.iter().find_map(|line| match line {
        Line::Zero(statement)
        | Line::When {
            zero: Some(statement),
            ..
        } => statement.strip_suffix(" = 0;"),
        _ => None,
    })
}

/// A variable of a read that the function itself may look at after a fault.
pub(crate) fn looked_at(subject: &Subject<'_>, plan: &Plan) -> Option<(Span, String)> {
    let reads = plan
        .run
        .sites
        .iter()
        .filter(|site| site.direction == Direction::Read);
    let variables = reads.map(|site| (site, on_one_line(&subject.at(site.value))));
    let looks = |(site, variable): &(&Site, String)| {
        let shared = !is_own(subject, variable) && matches!(plan.fault.jump, Jump::Return(_));
        let named = |line: &String| mentions(line, root(variable));
        plan.fault.statements.iter().any(named) || !shared && is_seen(subject, plan, site, variable)
    };
    let (site, variable) = variables.into_iter().find(|read| looks(read))?;
    Some((site.value, variable))
}

/// The variable of a read, if something may look at it after a fault.
fn cleared(subject: &Subject<'_>, plan: &Plan, index: usize) -> Result<Option<String>, Refusal> {
    let site = plan.run.sites.get(index);
    let Some(site) = site.filter(|site| site.direction == Direction::Read) else {
        return Ok(None);
    };
    let variable = on_one_line(&subject.at(site.value));
    if !is_seen(subject, plan, site, &variable) {
        return Ok(None);
    }
    if goes_on(plan) {
        return Err(subject.refuse(site.span, Reason::ReadAfterFault(variable)));
    }
    Ok(Some(variable))
}

fn is_seen(subject: &Subject<'_>, plan: &Plan, site: &Site, variable: &str) -> bool {
    let root = root(variable);
    if plan
        .fault
        .statements
        .iter()
        .any(|line| mentions(line, variable))
    {
        return true;
    }
    if !is_own(subject, variable) {
        return !is_freed(subject, plan, root);
    }
    match &plan.fault.jump {
        Jump::Return(_) => false,
        Jump::Goto(label) => is_used_behind(subject, site.span, root, label),
        Jump::Break => !subject.is_dead(root, plan.run.block.end),
        Jump::Continue => true,
        Jump::None => !subject.is_dead(root, plan.region.end),
    }
}

/// Whether a fault did not end the reads: what they hold then is another thing.
fn goes_on(plan: &Plan) -> bool {
    let forms = plan.run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Guard { form, .. } | StepKind::Assign { form, .. } => Some(*form),
        _ => None,
    });
    forms
        .into_iter()
        .any(|form| matches!(form, Form::ErrOr | Form::BitOr))
}

/// The variable that a place is reached from, `p` of `*p` and of `p->a`.
fn root(place: &str) -> &str {
    let start = place.trim_start_matches(['*', '(', '&', ' ']);
    let end = start
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(start.len());
    start.get(..end).unwrap_or_default()
}

/// Whether a place is in a variable that lives and dies with the call.
fn is_own(subject: &Subject<'_>, place: &str) -> bool {
    let local = |name: &str| subject.outline.locals.iter().find(|l| l.name == name);
    if let Some((_, name)) = place.split_once('&') {
        return !place.contains("->") && local(root(name)).is_some_and(|l| l.plain || l.array);
    }
    let name = root(place);
    let reached = place.starts_with(['*', '(']) || place.contains("->");
    match local(name) {
        Some(local) => !reached && (place == name || local.plain || local.array),
        None => place == name && mentions(&subject.at(subject.function.header), name),
    }
}

/// Whether two places that are filled are surely not the same: variables of this
/// call, or members of one object of which neither holds the other.
pub(crate) fn are_apart(subject: &Subject<'_>, one: &str, other: &str) -> bool {
    let (first, second) = (root(one), root(other));
    let plain = |place: &str| {
        place
            .chars()
            .all(|c| c.is_alphanumeric() || "_->.".contains(c))
    };
    if first != second {
        return is_own(subject, one) && is_own(subject, other);
    }
    let holds = |a: &str, b: &str| {
        b.strip_prefix(a)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    plain(one) && plain(other) && !holds(one, other) && !holds(other, one)
}

/// Whether the object is freed on the way out, so that nobody can look.
fn is_freed(subject: &Subject<'_>, plan: &Plan, object: &str) -> bool {
    let body = subject.at(subject.function.body);
    let behind = match &plan.fault.jump {
        Jump::Goto(label) => {
            let mut labels = subject.outline.labels.iter();
            let place = labels
                .find(|(name, _)| name == label)
                .map(|(_, span)| span.end);
            let end = subject.function.body.end;
            place.map(|start| subject.at(tollgate_source::Span::new(start, end)))
        }
        _ => None,
    };
    let call = format!("free({object})");
    let freed = |text: &String| text.contains(&call);
    body.contains(&format!("{object} __free("))
        || plan.fault.statements.iter().any(freed)
        || behind.iter().any(freed)
}
