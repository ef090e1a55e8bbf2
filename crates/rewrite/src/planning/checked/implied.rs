//! Accesses that check their own range, to members of one object: what is between them
//! may stand in a scope of that object as it may behind a check of it.

use tollgate_source::{Expression, Span, Statement, StatementKind, Term};

use crate::planning::checked::bytes;
use crate::planning::checked::check::Check;
use crate::planning::checked::sites::Access;
use crate::planning::declared::{declared, members, part, pointee};
use crate::planning::range;
use crate::planning::rounds::value::constant;
use crate::style::Style;
use crate::subject::Subject;

/// What a statement with such an access says where a check does not: a scope alone needs
/// no more than that.
pub(super) fn check<'f>(subject: &'f Subject<'_>, own: &'f Statement) -> Option<Check<'f>> {
    if subject.styled.style != Style::Scoped || own.kind != StatementKind::If {
        return None;
    }
    let flow = subject.flow;
    let mut inner = flow.statements_in(own.span);
    let (address, exit) = inner.find_map(|own| access(subject, own))?;
    let object = root(&address)?;
    let name = subject.line(object);
    declared(subject, &name)?;
    range::may_be_whole(subject, own.span, &name).then(|| Check {
        statement: own,
        object,
        size: format!("sizeof(*{name})"),
        exit,
        from: front(subject, own),
        implied: true,
    })
}

/// Where a statement begins, with the comment right above it where that speaks of a
/// condition.
fn front(subject: &Subject<'_>, own: &Statement) -> usize {
    let start = own.span.start;
    let before = subject.flow.before(own).map(|before| before.span.end);
    let from = before.filter(|_| access(subject, own).is_none());
    let comments = from.map(|from| subject.comments(Span::new(from, start)));
    let last = comments.and_then(|all| all.last().copied());
    let near = |comment: &Span| {
        let begins = subject.line_start(comment.start) + subject.indent(comment.start).len();
        let gap = subject.at(Span::new(comment.end, start));
        begins == comment.start && gap.trim().is_empty() && gap.matches('\n').count() == 1
    };
    last.filter(near).map_or(start, |comment| comment.start)
}

/// The address of the first access of an `if` that leaves on its fault, and what is done
/// then.
fn access(subject: &Subject<'_>, own: &Statement) -> Option<(Expression, Span)> {
    let [exit] = subject.flow.inside(own.span).collect::<Vec<_>>()[..] else {
        return None;
    };
    let asked = own.expression.filter(|_| own.kind == StatementKind::If)?;
    let asked = subject
        .expression(asked)
        .filter(|_| subject.flow.leaves(exit))?;
    let (name, arguments) = asked.joined("||").first()?.call()?;
    let known = subject.vocabulary.access(name.as_bytes())?;
    let address = arguments.get(known.address?)?;
    (known.range_check && !known.wrapper).then(|| (address.clone(), exit.span))
}

/// Where the variable stands that an address is made from.
fn root(address: &Expression) -> Option<Span> {
    let root = address.root();
    root.name().map(|_| root.span)
}

/// Whether an access is to a member of the object, or to all of it.
pub(super) fn is_within(subject: &Subject<'_>, check: &Check<'_>, own: &Access) -> bool {
    let (Some(object), Some(address)) = (
        subject.expression(check.object),
        subject.expression(own.site.address),
    ) else {
        return false;
    };
    // A cast may make a value larger; how much a copy takes is its size.
    let address = match own.size {
        Some(_) => address.uncast().1,
        None => &address,
    };
    match &address.term {
        Term::Address(place) => members(place, &object).is_some(),
        // An array.
        Term::Member { .. } => members(address, &object).is_some(),
        _ => *address == object,
    }
}

/// Whether a copy of a constant size is to a member of the object that has so many bytes.
pub(super) fn holds(subject: &Subject<'_>, check: &Check<'_>, own: &Access) -> bool {
    let within = || {
        let size = subject.expression(own.size?)?;
        let size = constant_size(subject, &size)?;
        let address = subject.expression(own.site.address)?;
        let place = match address.uncast().1 {
            Expression {
                term: Term::Address(place),
                ..
            } => place,
            place => place,
        };
        Some(size <= extent(subject, place, &subject.line(check.object))?)
    };
    let sides = [own.site.address, own.site.value];
    let are_bytes = |side: &Span| bytes::are_behind(subject, *side) == Some(true);
    sides.iter().all(are_bytes) && within() == Some(true)
}

/// How many bytes a constant size is: `sizeof(p->a)`, or what names no variable.
fn constant_size(subject: &Subject<'_>, size: &Expression) -> Option<u64> {
    match &size.term {
        Term::SizeOf(place) => extent(subject, place, place.root().name()?),
        _ => constant(subject, size),
    }
}

/// How many bytes a member of what a variable points to has.
fn extent(subject: &Subject<'_>, place: &Expression, object: &str) -> Option<u64> {
    let path = members(place, &subject.written(object)?)?;
    part(subject, &pointee(subject, object)?, &path).map(|(_, found)| found.size)
}
