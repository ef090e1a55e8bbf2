//! Ranges of accesses that lie at known distances behind one address: of bytes
//! that are cast, and of a pointer that is moved on between them.

use tollgate_source::{Expression, Run, StepKind, Term, TypeName};

use crate::planning::declared::{size_behind, type_of};
use crate::subject::Subject;

/// `put_user(a, (u32 __user *)p); p += sizeof(u32); put_user(b, (u64 __user *)p);`:
/// the object, and the size up to the end of the last access.
pub(crate) fn steps(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let flow = subject.flow;
    let object = run.sites.first()?.object.clone();
    if !is_bytes(subject, &object) {
        return None;
    }
    let mut sizes: Vec<String> = Vec::new();
    let mut moved = true;
    for step in &run.steps {
        if let &[index] = step.sites.as_slice() {
            let address = subject.expression(run.sites.get(index)?.address)?;
            let (cast, place) = address.uncast();
            let own = place.name() == Some(&object) && moved;
            sizes.push(pointee(cast?).filter(|_| own)?);
            moved = false;
        } else if step.kind == StepKind::Plain && flow.names(step.span, &object) {
            let moves = subject.expression_of(step.span)?;
            (!moved && is_moved(&moves, &object, sizes.last()?)).then_some(())?;
            moved = true;
        }
    }
    // Each access reads it, and what stands between reads and moves it.
    let named = flow
        .effects_in(run.span)
        .filter(|e| flow.name_of(e) == object);
    let named = named.count();
    let wanted = 3 * run.sites.len() - 2;
    let sizes: Vec<String> = sizes.iter().map(|of| format!("sizeof({of})")).collect();
    (named == wanted && sizes.len() == run.sites.len()).then(|| (object, sum(&sizes)))
}

/// `object += sizeof(of)`
fn is_moved(moves: &Expression, object: &str, of: &str) -> bool {
    let Term::Assignment(left, operator, right) = &moves.term else {
        return false;
    };
    left.name() == Some(object) && operator == "+=" && right.sized() == Some(of)
}

/// What a pointer points to, if that is no pointer.
fn pointee(own: &TypeName) -> Option<String> {
    (own.pointers == 1 && own.dimensions.is_empty()).then(|| own.base.clone())
}

/// `sizeof(u32) + 2 * sizeof(u64)`
fn sum(sizes: &[String]) -> String {
    let mut terms: Vec<(&String, usize)> = Vec::new();
    for size in sizes {
        match terms.iter_mut().find(|(known, _)| *known == size) {
            Some((_, count)) => *count += 1,
            None => terms.push((size, 1)),
        }
    }
    let words = terms.into_iter().map(|(size, count)| match count {
        1 => size.clone(),
        count => format!("{count} * {size}"),
    });
    words.collect::<Vec<_>>().join(" + ")
}

/// The address of an access: what is added up, and what it points to by a cast.
struct Place {
    cast: Option<String>,
    terms: Vec<Expression>,
}

/// `p`, `p + 1`, `(u32 __user *)(p + HEADER)`: from the first address to the end
/// of the last access.
pub(crate) fn offsets(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let addresses = run
        .sites
        .iter()
        .map(|site| place(&subject.expression(site.address)?));
    let places: Vec<Place> = addresses.collect::<Option<_>>()?;
    let base = places.first()?.terms.clone();
    let start = base.first()?;
    let behind = |place: &Place| Some(place.terms.strip_prefix(base.as_slice())?.to_vec());
    let distances: Vec<Vec<Expression>> = places.iter().map(behind).collect::<Option<_>>()?;
    let constant = distances.iter().flatten().all(is_constant);
    let ends: Vec<(&Place, &Vec<Expression>)> = places.iter().zip(&distances).collect();
    if !constant
        || !base.iter().all(is_plain)
        || !ends.is_sorted_by(|a, b| follows(subject, *a, *b))
    {
        return None;
    }
    let (last, distance) = ends.last()?;
    let written = |terms: &[Expression]| {
        let words: Vec<String> = terms.iter().map(|one| subject.line(one.span)).collect();
        words.join(" + ")
    };
    let cast = places.iter().any(|place| place.cast.is_some());
    let size = match number(distance) {
        Some(distance) if !cast => {
            let element = size_behind(subject, start);
            format!("{} * {element}", distance.saturating_add(1))
        }
        _ if start.name().is_some_and(|name| is_bytes(subject, name)) && !distance.is_empty() => {
            let name = last.cast.as_deref().unwrap_or("char");
            format!("{} + sizeof({name})", written(distance))
        }
        _ => return None,
    };
    Some((written(&base), size))
}

/// An address taken apart, `&a[X]` as `a + X`; none for a cast to anything else
/// than a pointer.
fn place(address: &Expression) -> Option<Place> {
    let (cast, inner) = address.uncast();
    let mut terms: Vec<Expression> = inner.joined("+").into_iter().cloned().collect();
    if let Term::Address(element) = &inner.term
        && let Term::Element { array, index } = &element.term
    {
        terms = vec![(**array).clone()];
        terms.extend(index.joined("+").into_iter().cloned());
    }
    let cast = match cast {
        Some(cast) => Some(pointee(cast)?),
        None => None,
    };
    Some(Place { cast, terms })
}

/// Whether it is a number, or a constant with a name.
fn is_constant(own: &Expression) -> bool {
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    match &own.term {
        Term::Number(_) => true,
        Term::Name(name) => name.chars().all(capital),
        _ => false,
    }
}

/// Whether it calls nothing and changes nothing.
fn is_plain(own: &Expression) -> bool {
    match &own.term {
        Term::Name(_) | Term::Number(_) => true,
        Term::Member { holder: inner, .. } | Term::Behind(inner) => is_plain(inner),
        Term::Binary(left, operator, right) => {
            matches!(operator.as_str(), "+" | "-" | "*") && is_plain(left) && is_plain(right)
        }
        _ => false,
    }
}

/// The distance, if it is a number: 0 for none.
fn number(distance: &[Expression]) -> Option<u32> {
    match distance {
        [] => Some(0),
        [
            Expression {
                term: Term::Number(text),
                ..
            },
        ] => tollgate_defect::answer::number(text),
        _ => None,
    }
}

/// Whether the second place ends no earlier than the first.
fn follows(
    subject: &Subject<'_>,
    (a, near): (&Place, &Vec<Expression>),
    (b, far): (&Place, &Vec<Expression>),
) -> bool {
    let farther = match (number(near), number(far)) {
        (Some(a), Some(b)) => a <= b,
        _ => far.starts_with(near),
    };
    let bytes = |name: &str| subject.styled.types.size_everywhere(name);
    let size = |place: &Place| place.cast.as_deref().map_or(Some(1), bytes);
    let same = a.cast == b.cast;
    let wider = size(a).zip(size(b)).is_some_and(|(a, b)| a <= b);
    farther && (same || wider)
}

/// Whether a distance from the variable counts bytes.
fn is_bytes(subject: &Subject<'_>, name: &str) -> bool {
    let declared = type_of(subject, name).unwrap_or_default();
    let first = declared.split_whitespace().next().unwrap_or_default();
    first == "void" || subject.styled.types.size_everywhere(first) == Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_source::Vocabulary;

    fn apart(text: &str) -> (Option<String>, Vec<Expression>) {
        let found = place(&read(text)).unwrap();
        (found.cast, found.terms)
    }

    fn read(text: &str) -> Expression {
        Expression::written(text, &Vocabulary::builtin().unwrap()).unwrap()
    }

    #[test]
    fn an_address_is_taken_apart() {
        let of = |cast: &str, terms: &[&str]| {
            let terms = terms.iter().map(|term| read(term)).collect();
            (Some(cast.to_owned()).filter(|cast| !cast.is_empty()), terms)
        };
        assert_eq!(
            apart("(__be32 __user *)(&buf[X_LEN])"),
            of("__be32", &["buf", "X_LEN"])
        );
        assert_eq!(
            apart("(int __user *)(um + LEN + 1)"),
            of("int", &["um", "LEN", "1"])
        );
        assert_eq!(apart("p + 1"), of("", &["p", "1"]));
    }

    #[test]
    fn a_distance_is_a_constant() {
        let constant = |text: &str| read(text).joined("+").into_iter().all(is_constant);
        assert!(constant("LEN + 1"));
        assert!(!constant("n"));
        assert!(!constant("-1"));
        assert!(!constant("sizeof(x)"));
    }

    #[test]
    fn equal_sizes_are_counted() {
        let sizes = ["sizeof(u32)", "sizeof(u64)", "sizeof(u64)"].map(str::to_owned);
        assert_eq!(sum(&sizes), "sizeof(u32) + 2 * sizeof(u64)");
    }
}
