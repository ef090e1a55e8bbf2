//! Which range a begin has to check so that it covers every access of a run.

use tollgate_source::{Expression, Reach, Run, Shape, Site, Span, Term, Trait};

use crate::lines::on_one_line;
use crate::planning::declared::{joined, numbered, path, pointee, size_behind, type_of};
use crate::planning::offset;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// The object and the size of the range, as C.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Result<(String, String), Refusal> {
    let object = one_object(subject, run)?;
    run.sites
        .iter()
        .try_for_each(|site| member_of_array(subject, site, object))?;
    if let Some(range) = offset::steps(subject, run).or_else(|| one_address(subject, run)) {
        return Ok(range);
    }
    if let Some(range) = one_element(subject, run) {
        return Ok(range);
    }
    if let Some(range) = one_member(subject, run, object) {
        return Ok(range);
    }
    if let Some(range) = offset::offsets(subject, run) {
        return Ok(range);
    }
    of_object(subject, run, object)
}

/// The object, if there is only one.
pub(crate) fn one_object<'r>(subject: &Subject<'_>, run: &'r Run) -> Result<&'r str, Refusal> {
    let objects = run.objects();
    match objects.as_slice() {
        [object] => Ok(object),
        _ => Err(subject.refuse(run.span, Reason::Objects(objects.join(", ")))),
    }
}

/// An element of an array that is the object's member: the size of the object
/// takes it in only if the array has so many elements, which is no open array's.
fn member_of_array(subject: &Subject<'_>, site: &Site, object: &str) -> Result<(), Refusal> {
    let path = path(subject, site, object);
    let Some(path) = path.filter(|path| path.iter().any(|step| step.index.is_some())) else {
        return Ok(());
    };
    let of = pointee(subject, object).map(|name| subject.styled.types.outline(&name));
    match of {
        Some(Ok(of)) if of.at(&numbered(subject, &path)).is_ok() => Ok(()),
        _ => {
            let reason = Reason::Range(subject.line(site.address));
            Err(subject.refuse(site.span, reason))
        }
    }
}

/// The range from where the object begins, whichever of its members are accessed.
pub(crate) fn of_object(
    subject: &Subject<'_>,
    run: &Run,
    object: &str,
) -> Result<(String, String), Refusal> {
    let elements = elements(subject, run)?;
    whole(subject, run.span, object)?;
    let object = on_one_line(object);
    let size = if elements == 1 {
        format!("sizeof(*{object})")
    } else {
        format!("{elements} * sizeof(*{object})")
    };
    Ok((object, size))
}

/// The addresses of the run's accesses.
fn addresses(subject: &Subject<'_>, run: &Run) -> Option<Vec<Expression>> {
    let all = run
        .sites
        .iter()
        .map(|site| subject.expression(site.address));
    all.collect()
}

/// Every access at the same address: its own type says the size.
fn one_address(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let addresses = addresses(subject, run)?;
    let first = addresses
        .first()
        .filter(|first| addresses.iter().all(|a| a == *first))?;
    let text = subject.line(first.span);
    let size = match &first.term {
        Term::Address(place) => format!("sizeof({})", subject.line(place.span)),
        _ => size_behind(subject, first),
    };
    Some((text, size))
}

/// Fields of one element of an array, `&o[i].a` and `&o[i].b`.
fn one_element(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let addresses = addresses(subject, run)?;
    let elements: Option<Vec<&Expression>> = addresses.iter().map(element).collect();
    let elements = elements?;
    let first = elements
        .first()
        .filter(|first| elements.iter().all(|e| e == *first))?;
    let text = subject.line(first.span);
    Some((format!("&{text}"), format!("sizeof({text})")))
}

/// `o[i]` of `&o[i].a.b`, where it is the only index.
fn element(address: &Expression) -> Option<&Expression> {
    let Term::Address(place) = &address.term else {
        return None;
    };
    let mut inner = place;
    while let Term::Member {
        holder,
        arrow: false,
        ..
    } = &inner.term
    {
        inner = holder;
    }
    let index = |own: &Expression| matches!(own.term, Term::Element { .. });
    let only = matches!(&inner.term, Term::Element { array, .. } if !array.any(&index));
    (only && inner != place).then_some(inner)
}

/// The innermost member that all addresses lie in, `p->a` for `&p->a.x` and
/// `&p->a.y`; none where a check of the whole object is part of the run.
fn one_member(subject: &Subject<'_>, run: &Run, object: &str) -> Option<(String, String)> {
    if run.has(Trait::AccessOk) || run.sites.iter().any(|site| site.reach != Reach::Field) {
        return None;
    }
    let mut paths = run.sites.iter().map(|site| path(subject, site, object));
    let mut common = paths.next()??;
    common.pop();
    for path in paths {
        let mut path = path?;
        path.pop();
        let same = common.iter().zip(&path).take_while(|(a, b)| a == b).count();
        common.truncate(same);
    }
    let member = format!("{}->{}", on_one_line(object), joined(&common));
    (!common.is_empty()).then(|| (format!("&{member}"), format!("sizeof({member})")))
}

/// Whether a type is a union, under whatever name; by its tag where its definition is out
/// of reach.
fn is_union(subject: &Subject<'_>, declared: &str) -> bool {
    match subject.styled.types.outline(declared) {
        Ok(of) => matches!(of.shape, Shape::Union(_)),
        Err(_) => declared.split_whitespace().next() == Some("union"),
    }
}

/// Whether a begin at a place may check all of what a variable points to.
pub(crate) fn may_be_whole(subject: &Subject<'_>, place: Span, object: &str) -> bool {
    whole(subject, place, object).is_ok()
}

/// Whether the begin may check all of the object: user memory may hold less of
/// it where it is a union, or where its size is compared.
fn whole(subject: &Subject<'_>, place: Span, object: &str) -> Result<(), Refusal> {
    let Some(declared) = type_of(subject, object) else {
        return Ok(());
    };
    let shorter = Reason::Shorter(format!("*{object}"));
    if is_union(subject, &declared) {
        return Err(subject.refuse(place, shorter));
    }
    let mut compared = subject.flow.comparisons.iter();
    let less = |at: &&Span| {
        let own = subject.expression(**at);
        own.is_some_and(|own| may_be_less(&own, at.start > place.start, object, &declared))
    };
    match compared.find(less) {
        Some(_) => Err(subject.refuse(place, shorter)),
        None => Ok(()),
    }
}

/// Whether a comparison with the size says that there may be less: what is
/// compared before the run and left if it is less says that there is not.
fn may_be_less(own: &Expression, later: bool, object: &str, declared: &str) -> bool {
    let Term::Binary(left, operator, right) = &own.term else {
        return false;
    };
    let size = |side: &Expression| is_size(side.uncast().1, object, declared);
    let below = operator.starts_with('<');
    match (size(left), size(right)) {
        (false, false) => false,
        (true, true) => true,
        (_, last) => later || below != last,
    }
}

/// `sizeof(struct s)` or `sizeof(*p)`.
fn is_size(own: &Expression, object: &str, declared: &str) -> bool {
    let behind = |of: &Expression| matches!(&of.term, Term::Behind(p) if p.name() == Some(object));
    let pointee = matches!(&own.term, Term::SizeOf(of) if behind(of));
    pointee || own.sized() == Some(declared)
}

/// How many elements of the object's type the accesses span; 1 for fields.
fn elements(subject: &Subject<'_>, run: &Run) -> Result<u32, Refusal> {
    let mut most = 1;
    for site in &run.sites {
        most = most.max(match site.reach {
            Reach::Field | Reach::Whole => 1,
            Reach::Element(index) => index.saturating_add(1),
            Reach::Computed => {
                return Err(subject.refuse(site.span, Reason::Range(subject.line(site.address))));
            }
        });
    }
    let fields = run.sites.iter().any(|site| site.reach == Reach::Field);
    if fields && most > 1 {
        return Err(subject.refuse(run.span, Reason::Range(run.objects().join(", "))));
    }
    Ok(most)
}
