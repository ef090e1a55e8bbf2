use crate::check::accesses::Access;
use crate::check::allocation::Allocation;
use crate::check::cleared_elements::{LENGTH, cleared_elements};
use crate::check::context::FunctionContext;
use crate::check::duplicated::{Duplicated, duplicated};
use crate::check::element_size::{ElementSize, of_copy, of_larger, of_memory};
use crate::check::limit::limit;
use crate::check::limited_by_bytes;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::moved_by_bytes::{ByBytes, moved_by_bytes};
use crate::check::one_element::one_element;
use crate::check::pages_for_bytes::{PagesForBytes, pages_for_bytes};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "elements-for-bytes",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "as many bytes are copied as there are elements, which are larger",
    why: "The last elements are not copied: they keep what lay there before, and are used as if the user \
          had given them, or are not given to him.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let calls = function.calls.iter();
    let made: Vec<ElementSize> = calls
        .filter_map(|call| of_memory(function, *call))
        .collect();
    // As many bytes are copied as there are.
    let known = |own: &ElementSize| {
        let mut made = made.iter();
        made.any(|made| {
            own.size == made.size
                && own.object.of(function.file.text) == made.object.of(function.file.text)
        })
    };
    for access in function.accesses.iter().chain(function.through) {
        let told = wrong(function, access).or_else(|| of_another(function, access));
        let copied = || {
            let less = of_copy(function, access).filter(|own| !known(own));
            less.or_else(|| of_larger(function, access))
        };
        let told = told.or_else(|| Some(too_small(function, &copied()?)));
        out.extend(told.or_else(|| only_one(function, access)));
    }
    out.extend(made.iter().map(|own| too_small(function, own)));
    let checks = function.calls.iter();
    let checks = checks.filter_map(|call| pages_for_bytes(function, *call));
    out.extend(checks.map(|own| pages(function, &own)));
    let calls = function.calls.iter();
    let duplicated = calls.filter_map(|call| duplicated(function, *call));
    let cleared = function.calls.iter();
    let cleared = cleared.filter_map(|call| cleared_elements(function, *call));
    out.extend(duplicated.chain(cleared).map(|own| too_few(function, &own)));
    out.extend(
        moved_by_bytes(function)
            .iter()
            .map(|own| moved(function, own)),
    );
    let limited_by = limited_by_bytes::limited_by_bytes(function);
    out.extend(limited_by.iter().map(|own| limited(function, own)));
}

/// All of an array by the size of one element.
fn only_one(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = one_element(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() copies one element of {}, {} of {} bytes",
        access.word.name,
        file.plain(own.array),
        own.element,
        own.all
    );
    Some(file.violation(&INFO, access.span, "the first one alone", message))
}

/// A range that is checked for as many bytes as it has pages.
fn pages(function: &FunctionContext<'_>, own: &PagesForBytes) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() is given {} as a number of bytes, and {} says how many there are",
        own.name,
        file.plain(own.size),
        file.plain(own.bytes.span)
    );
    file.violation(&INFO, own.at, "pages, not bytes", message)
}

/// A number of elements that is held against a number of bytes.
fn limited(function: &FunctionContext<'_>, own: &limited_by_bytes::ByBytes) -> Violation {
    let file = function.file;
    let message = format!(
        "no more of {} are refused than {} has bytes, and an element has {}",
        file.plain(own.number),
        file.plain(own.array),
        own.element
    );
    file.violation(&INFO, own.asked, "bytes, not elements", message)
}

/// A pointer that goes on by as many elements as bytes are meant.
fn moved(function: &FunctionContext<'_>, own: &ByBytes) -> Violation {
    let file = function.file;
    let message = format!(
        "{} goes on by {} elements of {} bytes, and that is a number of bytes",
        own.pointer,
        file.plain(own.bytes),
        own.element
    );
    file.violation(&INFO, own.place, "bytes, not elements", message)
}

/// A copy of as many bytes as there are elements.
fn too_few(function: &FunctionContext<'_>, own: &Duplicated) -> Violation {
    let file = function.file;
    let message = format!(
        "{} is taken for a number of bytes, and that is how many elements of {} bytes {} has",
        file.plain(own.count),
        own.element,
        own.object
    );
    file.violation(&INFO, own.place, "elements, not bytes", message)
}

/// As many elements as a number says, by a size that is less than that of one.
fn too_small(function: &FunctionContext<'_>, own: &ElementSize) -> Violation {
    let file = function.file;
    let object = file.plain(own.object);
    let message = format!(
        "{} bytes are meant for each element of {object}, which has {}",
        own.size, own.element
    );
    let mut violation = file.violation(&INFO, own.place, "of another size", message);
    let all = file.mark(own.all, "so many elements");
    violation.related.push(all);
    violation
}

fn wrong(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let bytes = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let counts = is_length_of(bytes, value)
        || is_allocated(function, access, value, bytes)
        || is_bounded_by_length(function, access, value, bytes);
    counts.then_some(())?;
    // Last what takes longest.
    let size = space::element(function, value).filter(|size| *size > 1);
    size.map(|size| {
        let (count, object) = (
            function.file.plain(bytes.span),
            function.file.plain(value.span),
        );
        let name = &access.word.name;
        let message = format!(
            "{name}() is given {count} as a number of bytes, and that is how many elements of \
             {size} bytes {object} has"
        );
        function
            .file
            .violation(&INFO, access.span, "elements, not bytes", message)
    })
}

/// `n * sizeof(*other)`, of a copy of elements that have another size.
fn of_another(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let bytes = access.bytes.as_ref()?.uncast().1;
    let Term::Binary(left, operator, right) = &bytes.term else {
        return None;
    };
    let sized = [left, right].into_iter().find_map(|own| match &own.term {
        Term::SizeOf(of) => Some(&**of),
        _ => None,
    });
    let other = space::followed(sized.filter(|_| operator == "*")?)?.name()?;
    let value = function.expression_of(access.value_node);
    let object = value.uncast().1;
    let others = other != object.name()? && other != access.user_root;
    others.then_some(())?;
    let own = space::element(function, object).filter(|size| *size > 1)?;
    let size = space::element(function, space::followed(sized?)?)?;
    (size > own).then(|| {
        let file = function.file;
        let (count, object) = (file.plain(bytes.span), file.plain(object.span));
        let message = format!(
            "{}() copies {count} bytes, by the size of what {other} leads to, which is {size}; an element of \
             {object} has {own}",
            access.word.name
        );
        file.violation(&INFO, access.span, "of another size", message)
    })
}

/// `ARRAY_SIZE(x)` of `x`
fn is_length_of(count: &Expression, object: &Expression) -> bool {
    let of = count.call().filter(|(name, _)| *name == LENGTH);
    of.is_some_and(|(_, given)| given == std::slice::from_ref(object))
}

/// Whether the number is refused where it is more than there are elements.
fn is_bounded_by_length(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    object: &Expression,
    count: &Expression,
) -> bool {
    // Most functions ask for no such length.
    let mut calls = function.calls.iter();
    let asks = calls.any(|call| {
        let own = || is_length_of(&function.expression_of(*call), object);
        function.callee(*call) == Some(LENGTH) && own()
    });
    let place = asks && matches!(count.term, Term::Name(_) | Term::Member { .. });
    let own = place.then(|| limit(function, count, access.span)).flatten();
    own.is_some_and(|own| is_length_of(own.other.uncast().1, object))
}

/// Whether the object is memory that the function allocates for so many elements.
fn is_allocated(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    object: &Expression,
    count: &Expression,
) -> bool {
    let memory = object
        .name()
        .and_then(|name| Allocation::of(function, name, access.span));
    memory.is_some_and(|memory| memory.is_of_elements(function, count))
}
