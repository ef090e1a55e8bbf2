//! What a masked pointer covers of the accesses that rely on a check: one of them comes
//! first and tells of a pointer that is not the user's, then and not before. Where any
//! other may be what tells, all of them begin within a page of it, in the order of their
//! addresses.

use tollgate_source::{Site, Span, Statement, StatementKind, Token};

use crate::masks::Tells;
use crate::plan::{Checked, Plan};
use crate::planning::declared::{Pointer, numbered, path};
use crate::planning::fault::are_alike;
use crate::refusal::{Reason, Refusal};
use crate::styles::distance::{self, Distance, Place};
use crate::styles::pointer::PAGE;
use crate::styles::told;
use crate::subject::Subject;

/// Whether the window may stand around what follows the check, with the pointer masked:
/// the addresses that nothing checks then where it is masked.
///
/// # Errors
/// When something may happen before an access tells that the pointer is bad, when an
/// access may begin beyond a page of it, or when anything else looks at it.
pub(super) fn covered(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    pointer: &Pointer,
) -> Result<Vec<String>, Refusal> {
    if !are_alike(&checked.exit, &plan.fault.statements) {
        return Err(subject.refuse(plan.region, Reason::Exits));
    }
    if checked.implied {
        implied(subject, plan, checked, pointer)?;
    }
    let first = told::is_the_first(subject, plan, checked.from)?;
    undeclared(subject, plan, checked)?;
    unseen(subject, plan, checked, &pointer.name)?;
    let far = members(subject, plan, checked, pointer)?;
    match far.first() {
        // Each of them may be what tells.
        Some((place, address)) if !first || checked.implied => {
            Err(subject.refuse(*place, Reason::Range(address.clone())))
        }
        _ => Ok(far.into_iter().map(|(_, address)| address).collect()),
    }
}

/// All accesses are within the object, of which a page is all that masking covers, and
/// one way has two of them.
fn implied(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    pointer: &Pointer,
) -> Result<(), Refusal> {
    let unknown = |error| subject.refuse(plan.region, Reason::Layout(error));
    let of = subject.styled.types.layout(&pointer.pointee());
    let size = of.map_err(unknown)?.size;
    if size > PAGE {
        let object = format!("*{}", pointer.name);
        return Err(subject.refuse(plan.region, Reason::Large(object, size)));
    }
    match told::most(subject, plan, checked.from) {
        0 | 1 => Err(subject.refuse(plan.region, Reason::Statement)),
        _ => Ok(()),
    }
}

/// No variable is declared that what follows the scope would not see any more.
fn undeclared(subject: &Subject<'_>, plan: &Plan, checked: &Checked) -> Result<(), Refusal> {
    let flow = subject.flow;
    let behind = Span::new(checked.from, plan.region.end);
    let own = |own: &Statement| flow.holder(own).map_or(subject.function.body, |h| h.span);
    let mut all = flow.statements_in(behind);
    let declared = all.find(|s| s.kind == StatementKind::Declaration && own(s) == plan.run.block);
    declared.map_or(Ok(()), |own| Err(subject.refuse(own.span, Reason::Gap)))
}

/// Members of what the pointer points to, in the order of their addresses; where the
/// first access tells that the pointer is bad, only that one has to be near. What nothing
/// checks besides where the pointer is masked is given back.
fn members(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    pointer: &Pointer,
) -> Result<Vec<(Span, String)>, Refusal> {
    let (mut last, mut far) = (0, Vec::new());
    for (index, site) in plan.run.sites.iter().enumerate() {
        let first_tells = index > 0 && subject.styled.tells == Tells::TheFirst;
        match place(subject, site, pointer, checked.from)? {
            // Another round begins again.
            Place {
                at: Distance::Known(at),
                own: true,
            } if at < PAGE && (first_tells || at >= last && !(checked.loops && at > 0)) => {
                last = last.max(at);
            }
            Place {
                at: Distance::Known(at),
                own: true,
            } if at >= PAGE && !first_tells => {
                let object = format!("*{}", pointer.name);
                return Err(subject.refuse(plan.region, Reason::Large(object, at)));
            }
            _ if first_tells => far.push((site.span, subject.line(site.address))),
            _ => {
                let address = subject.line(site.address);
                return Err(subject.refuse(site.span, Reason::Order(address)));
            }
        }
    }
    Ok(far)
}

/// How far behind the pointer an access begins.
fn place(
    subject: &Subject<'_>,
    site: &Site,
    pointer: &Pointer,
    from: usize,
) -> Result<Place, Refusal> {
    if let Some(place) = distance::of(subject, site, &pointer.name, from) {
        return Ok(place);
    }
    let path = path(subject, site, &pointer.name)
        .ok_or_else(|| subject.refuse(site.span, Reason::Range(subject.line(site.address))))?;
    let unknown = |error| subject.refuse(site.span, Reason::Layout(error));
    let of = subject.styled.types.layout(&pointer.pointee());
    let of = of.map_err(unknown)?;
    let (at, _) = of.at(&numbered(subject, &path)).map_err(unknown)?;
    Ok(Place {
        at: Distance::Known(at),
        own: true,
    })
}

/// Nothing but the addresses names the pointer in the window, which is another value
/// there.
fn unseen(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    name: &str,
) -> Result<(), Refusal> {
    let all = subject.tokens(Span::new(checked.from, plan.region.end));
    let code: Vec<Token> = all.into_iter().filter(Token::is_code).collect();
    let known = |at: usize, span: Span| {
        let mut sites = plan.run.sites.iter();
        let accessed = sites.any(|site| site.address.contains(span));
        accessed || is_member(&code, at) || is_sized(subject, &code, at)
    };
    let named = |token: &Token| token.span.of(subject.text) == name.as_bytes();
    let mut names = code.iter().enumerate().filter(|(_, token)| named(token));
    let other = names.find(|(at, token)| !known(*at, token.span));
    other.map_or(Ok(()), |(_, token)| {
        Err(subject.refuse(token.span, Reason::Masked(name.to_owned())))
    })
}

/// Whether a word is a member's name.
fn is_member(code: &[Token], at: usize) -> bool {
    match code.get(..at) {
        Some([.., dot]) if dot.is(b'.') => true,
        Some([.., line, arrow]) => line.is(b'-') && arrow.is(b'>'),
        _ => false,
    }
}

/// Whether a name stands in `sizeof(*name)`, which asks for its type.
fn is_sized(subject: &Subject<'_>, code: &[Token], at: usize) -> bool {
    let front = at.checked_sub(3).and_then(|from| code.get(from..at));
    let closed = code.get(at + 1).is_some_and(|token| token.is(b')'));
    matches!(front, Some([word, open, star])
        if closed && open.is(b'(') && star.is(b'*') && word.span.of(subject.text) == b"sizeof")
}
