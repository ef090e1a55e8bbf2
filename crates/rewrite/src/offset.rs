//! Ranges of accesses that lie at known distances behind one address: of bytes
//! that are cast, and of a pointer that is moved on between them.

use tollgate_source::{Run, StepKind};

use crate::layout::on_one_line;
use crate::plan::Subject;
use crate::range::declared;

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
        let text = on_one_line(&subject.at(step.span));
        if let &[index] = step.sites.as_slice() {
            let address = on_one_line(&subject.at(run.sites.get(index)?.address));
            let (cast, place) = cast(&address)?;
            (place == object && moved).then(|| sizes.push(format!("sizeof({cast})")))?;
            moved = false;
        } else if step.kind == StepKind::Plain && flow.names(step.span, &object) {
            let last = sizes.last()?;
            (!moved && text == format!("{object} += {last};")).then_some(())?;
            moved = true;
        }
    }
    // Each access reads it, and what stands between reads and moves it.
    let named = flow
        .effects_in(run.span)
        .filter(|e| flow.name_of(e) == object);
    let named = named.count();
    let wanted = 3 * run.sites.len() - 2;
    (named == wanted && sizes.len() == run.sites.len()).then(|| (object, sum(&sizes)))
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

/// An access at a constant distance behind the first.
struct Place {
    cast: Option<String>,
    /// The distance as it is written, empty for none.
    distance: String,
}

/// `p`, `p + 1`, `(u32 __user *)(p + HEADER)`: from the first address to the end
/// of the last access.
pub(crate) fn offsets(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let addresses = run.sites.iter().map(|site| subject.at(site.address));
    let parts: Vec<(Option<String>, String)> = addresses
        .map(|address| parts(&on_one_line(&address)))
        .collect();
    let (_, base) = parts.first()?;
    let plain = |c: char| c.is_alphanumeric() || "_->. +*".contains(c);
    let places: Vec<Place> = parts
        .iter()
        .map(|(cast, place)| behind(base, place).map(|distance| (cast, distance)))
        .map(|found| {
            found.map(|(cast, distance)| Place {
                cast: cast.clone(),
                distance,
            })
        })
        .collect::<Option<_>>()?;
    let root = base
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()?;
    let last = places.last()?;
    if !base.chars().all(plain) || !places.is_sorted_by(|a, b| follows(subject, a, b)) {
        return None;
    }
    let cast = places.iter().any(|place| place.cast.is_some());
    let size = match last.distance.parse::<u32>() {
        Ok(distance) if !cast => {
            format!("{} * sizeof(*{root})", distance.saturating_add(1))
        }
        _ if is_bytes(subject, root) && !last.distance.is_empty() => {
            let name = last.cast.as_deref().unwrap_or("char");
            format!("{} + sizeof({name})", last.distance)
        }
        _ => return None,
    };
    Some((base.clone(), size))
}

/// The type of a cast, and what is cast without parentheses, `&a[X]` as `a + X`.
fn parts(address: &str) -> (Option<String>, String) {
    let (name, place) = cast(address).map_or((None, address), |(name, place)| (Some(name), place));
    let inner = place
        .strip_prefix('(')
        .and_then(|p| p.strip_suffix(')'))
        .unwrap_or(place);
    let element = inner.strip_prefix('&').and_then(|p| p.strip_suffix(']'));
    let sum = element
        .and_then(|element| element.split_once('['))
        .map(|(a, x)| format!("{a} + {x}"));
    (name, sum.unwrap_or_else(|| inner.to_owned()))
}

/// `u32` and `p` of `(u32 __user *)p`.
fn cast(address: &str) -> Option<(String, &str)> {
    let (name, place) = address.strip_prefix('(')?.split_once("*)")?;
    let name = name.replace("__user", "");
    let words: Vec<&str> = name.split_whitespace().collect();
    let plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || "_ ".contains(c));
    (plain && !words.is_empty()).then(|| (words.join(" "), place.trim_start()))
}

/// The constant that a place lies behind another.
fn behind(base: &str, place: &str) -> Option<String> {
    let rest = place.strip_prefix(base)?;
    if rest.is_empty() {
        return Some(String::new());
    }
    let distance = rest.strip_prefix(" + ")?;
    let constant = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "_ +".contains(c);
    let number = distance.chars().all(|c| c.is_ascii_digit());
    let named = distance.starts_with(|c: char| c.is_ascii_uppercase());
    ((number || named) && distance.chars().all(constant)).then(|| distance.to_owned())
}

/// Whether the second place ends no earlier than the first.
fn follows(subject: &Subject<'_>, a: &Place, b: &Place) -> bool {
    let farther = match (a.distance.parse::<u32>(), b.distance.parse::<u32>()) {
        (Ok(a), Ok(b)) => a <= b,
        _ => b.distance.starts_with(&a.distance),
    };
    let bytes = |name: &str| subject.styled.types.everywhere(name);
    let size = |place: &Place| place.cast.as_deref().map_or(Some(1), bytes);
    let same = a.cast == b.cast;
    let wider = size(a).zip(size(b)).is_some_and(|(a, b)| a <= b);
    farther && (same || wider)
}

/// Whether a distance from the variable counts bytes.
fn is_bytes(subject: &Subject<'_>, name: &str) -> bool {
    let declared = declared(subject, name).unwrap_or_default();
    let first = declared.split_whitespace().next().unwrap_or_default();
    first == "void" || subject.styled.types.everywhere(first) == Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let of = |text: &str| parts(text);
        let named = |name: &str, place: &str| (Some(name.to_owned()), place.to_owned());
        assert_eq!(
            of("(__be32 __user *)(&buf[X_LEN])"),
            named("__be32", "buf + X_LEN")
        );
        assert_eq!(
            of("(int __user *)(um + LEN + 1)"),
            named("int", "um + LEN + 1")
        );
        assert_eq!(of("p + 1"), (None, "p + 1".to_owned()));
    }

    #[test]
    fn a_distance_is_a_constant() {
        assert_eq!(behind("p", "p").as_deref(), Some(""));
        assert_eq!(behind("p", "p + LEN + 1").as_deref(), Some("LEN + 1"));
        assert_eq!(behind("p", "p + n"), None);
        assert_eq!(behind("p", "p - 1"), None);
        assert_eq!(behind("p", "p->a"), None);
    }

    #[test]
    fn equal_sizes_are_counted() {
        let sizes = ["sizeof(u32)", "sizeof(u64)", "sizeof(u64)"].map(str::to_owned);
        assert_eq!(sum(&sizes), "sizeof(u32) + 2 * sizeof(u64)");
    }
}
