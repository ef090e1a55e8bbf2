use tree_sitter::Node;

use crate::Direction;
use crate::check::allocation::Allocation;
use crate::check::before_front::before_front;
use crate::check::bits::{self, Bit};
use crate::check::callee::look_into;
use crate::check::context::FunctionContext;
use crate::check::grown::grown;
use crate::check::limit::{changed, limit};
use crate::check::model::{Confidence, Mark, RuleInfo, Severity, Violation};
use crate::check::rounds::{is_end_elsewhere, stops_before, up_to};
use crate::check::rule::{Look, Rule};
use crate::check::{below, space, unbounded};
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "beyond-array",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a number of the user's is bounded, and may still pick what lies behind an array",
    why: "The element behind the last one is another object's: what lies there is read, or written over.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut known: Vec<Violation> = Vec::new();
    function.each_of(&["subscript_expression", "pointer_expression"], |node| {
        let told = match node.known_kind() {
            "subscript_expression" => picked(function, node),
            _ => None,
        };
        if let Some(told) = told.or_else(|| in_front(function, node)) {
            function.file.add_place(&mut known, told);
        }
    });
    out.extend(known);
    function.each_of(&["binary_expression"], |node| {
        if function.context.operator(node) == b"<<" {
            out.extend(shifted(function, node));
        }
    });
    for call in function.calls {
        out.extend(bits::picked(function, *call).and_then(|own| bit(function, &own)));
    }
}

/// A bit of a map, by a number that may be as large as there are bits.
fn bit(function: &FunctionContext<'_>, own: &Bit) -> Option<Violation> {
    let limit = limit(function, &own.number, own.at)?;
    let many = limit
        .value
        .and_then(|most| Some((most, own.many(function)?)));
    let beyond = match many {
        Some((most, many)) => most >= many,
        None => own.is_made_with(function, &limit),
    };
    beyond.then_some(())?;
    unbounded::users_within(function, &own.number, own.at)?;
    let file = function.file;
    let (number, map) = (file.plain(own.number.span), file.plain(own.map.span));
    let told = match many {
        Some((most, many)) => format!("{number} may be {most}, and {map} has {many} bits, from 0"),
        None => format!("{number} may be the number of bits that {map} has, which count from 0"),
    };
    let mut violation = file.violation(&INFO, own.at, "picked here", told);
    let refused = file.mark(limit.place, "no more than this is refused");
    violation.related.push(refused);
    Some(violation)
}

/// One element more than an array has, in the last round of a loop.
fn last_round(
    function: &FunctionContext<'_>,
    array: &Expression,
    index: &Expression,
    node: Node<'_>,
) -> Option<(String, Mark)> {
    let (last, place) = up_to(function, index, node)?;
    let count = space::elements(function, array);
    let many = count.zip(space::bytes(function, &last));
    let beyond = match many {
        Some((count, last)) => last >= count,
        None => is_count_of(&last, array) || is_end_elsewhere(function, array, &last),
    };
    let file = function.file;
    (beyond && !space::is_users(function, array)).then(|| {
        let [index, array, last] = [index, array, &last].map(|own| file.plain(own.span));
        let told =
            format!("{index} goes up to {last} itself, and the elements of {array} count from 0");
        (told, file.mark(place, "the last round"))
    })
}

/// An element behind the last one, in a loop of more rounds than there are elements.
fn too_many_rounds(
    function: &FunctionContext<'_>,
    array: &Expression,
    index: &Expression,
    node: Node<'_>,
) -> Option<(String, Mark)> {
    let (many, _) = stops_before(function, index, node)?;
    let limit =
        limit(function, &many, span(node)).or_else(|| grown(function, &many, span(node)))?;
    let most = limit.value?;
    let count = space::elements(function, array).filter(|count| most > *count)?;
    let file = function.file;
    (!space::is_users(function, array)).then(|| {
        let [index, many, array] = [index, &many, array].map(|own| file.plain(own.span));
        let told = format!(
            "{index} goes up to {many}, which may be {most}, and {array} has {count} elements"
        );
        (told, file.mark(limit.place, "no more than this is refused"))
    })
}

/// The last one of as many bytes as a program has written, which may be none.
fn in_front(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let number = before_front(function, node)?;
    let file = function.file;
    let told = format!(
        "{number} may be 0, which nothing refuses: the element lies in front of the first one"
    );
    Some(file.violation(&INFO, span(node), "picked here", told))
}

/// A bit that is picked by a number of the user's, which may be one that the type does not have:
/// `1u << n`.
fn shifted(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let own = function.expression_of(node);
    let Term::Binary(one, _, number) = &own.term else {
        return None;
    };
    let bits = bits(one.uncast().1)?;
    let number = number.uncast().1;
    matches!(number.term, Term::Name(_) | Term::Member { .. }).then_some(())?;
    let at = span(node);
    let limit = limit(function, number, at)?;
    let most = limit.value.filter(|most| *most >= bits)?;
    unbounded::users_within(function, number, at)?;
    let file = function.file;
    let told = format!(
        "{} may be {most}, and {} has {bits} bits, from 0",
        file.plain(number.span),
        file.plain(one.span)
    );
    let mut violation = file.violation(&INFO, at, "shifted here", told);
    let refused = file.mark(limit.place, "no more than this is refused");
    violation.related.push(refused);
    Some(violation)
}

/// The bits of a literal on a 64-bit machine; those of 32-bit ones are fewer.
fn bits(literal: &Expression) -> Option<u64> {
    let Term::Number(written) = &literal.term else {
        return None;
    };
    let long = written.chars().any(|own| matches!(own, 'l' | 'L'));
    Some(if long { 64 } else { 32 })
}

fn picked(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let element = function.expression_of(node);
    let Term::Element { array, index } = &element.term else {
        return None;
    };
    let (array, number) = (array.uncast().1, index.uncast().1);
    let of_array = bounded(function, array, number, node);
    let other = || {
        allocated(function, array, number, node)
            .or_else(|| below(function, array, number, node))
            .or_else(|| last_round(function, array, number, node))
            .or_else(|| too_many_rounds(function, array, number, node))
    };
    let file = function.file;
    let Some((told, place)) = of_array.or_else(other) else {
        let given = below::only_limited_by_callers(function, number)?;
        let (array, number) = (file.plain(array.span), file.plain(number.span));
        let told = format!(
            "{number} is signed, and nothing refuses less than 0 of {given}, which is given for it, before it \
             picks an element of {array}"
        );
        return Some(file.violation(&INFO, span(node), "picked here", told));
    };
    let mut violation = file.violation(&INFO, span(node), "picked here", told);
    violation.related.push(place);
    Some(violation)
}

/// By a number that may be less than 0, which is compared with the most that it may be, and
/// with nothing else: of two signed ones it then is less.
fn below(
    function: &FunctionContext<'_>,
    array: &Expression,
    number: &Expression,
    node: Node<'_>,
) -> Option<(String, Mark)> {
    let place = below::only_limit(function, number, span(node))?;
    let file = function.file;
    (!space::is_users(function, array)).then(|| {
        let (array, number) = (file.plain(array.span), file.plain(number.span));
        let told = format!("{number} is signed, and nothing refuses less than 0 of {array}");
        (told, file.mark(place, "no more than this is asked"))
    })
}

/// Of an array with so many elements, where the number may be as large as that.
fn bounded(
    function: &FunctionContext<'_>,
    array: &Expression,
    number: &Expression,
    node: Node<'_>,
) -> Option<(String, Mark)> {
    let at = span(node);
    let own = limit(function, number, at).or_else(|| grown(function, number, at))?;
    let count = space::elements(function, array);
    let counts_it =
        is_count_of(&own.other, array) || count.is_none() && counts(function, &own.other, array);
    let beyond = match (own.value, count) {
        (Some(most), Some(count)) => most >= count && !is_end(function, node, array),
        _ => {
            let another = || count.is_none() && counts_another(function, &own.other, array);
            own.included && (counts_it || count.is_none()) || !counts_it && another()
        }
    };
    let is_users = || {
        own.given
            || is_copied_length(function, array, number, at)
            || unbounded::users_within(function, number, at).is_some()
    };
    // As many as a number says that is refused, and as many as there are: whosever that number is.
    let certain = own.value.is_some() && count.is_some() || is_count_of(&own.other, array);
    if !beyond || space::is_users(function, array) || !(certain || is_users()) {
        return None;
    }
    // Last what takes longest.
    let another = count.is_none() && !counts_it && counts_another(function, &own.other, array);
    let known = count.is_some() || counts_it || another;
    if !known && !is_made_with(function, array, &own.other) {
        return None;
    }
    let file = function.file;
    let (array, number) = (file.plain(array.span), file.plain(number.span));
    let told = match (own.value, count) {
        (Some(most), Some(count)) => {
            format!("{number} may be {most}, and {array} has {count} elements, from 0")
        }
        _ if !another => {
            format!("{number} may be the number of elements that {array} has, which count from 0")
        }
        _ => {
            let other = file.plain(own.other.span);
            format!("{number} is bounded by {other}, which counts others than those of {array}")
        }
    };
    Some((told, file.mark(own.place, "no more than this is refused")))
}

/// Whether so many bytes were copied from the user to the array before.
fn is_copied_length(
    function: &FunctionContext<'_>,
    array: &Expression,
    number: &Expression,
    at: Span,
) -> bool {
    let mut reads = function.accesses.iter().filter(|own| {
        let before = own.span.end <= at.start;
        before && own.word.direction == Direction::Read && own.bytes.as_ref() == Some(number)
    });
    reads.any(|own| function.expression_of(own.value_node).uncast().1 == array)
}

/// `&a[n]` of single bytes is the end of what is in them.
fn is_end(function: &FunctionContext<'_>, node: Node<'_>, array: &Expression) -> bool {
    let around = function.above(node).map(|own| own.known_kind());
    let of_bytes = || space::element(function, array) == Some(1);
    around == Some("pointer_expression") && of_bytes()
}

/// `ARRAY_SIZE(a)` of `a`
fn is_count_of(of: &Expression, array: &Expression) -> bool {
    let call = of.uncast().1.call();
    call.is_some_and(|(name, given)| name == "ARRAY_SIZE" && given == [array.clone()])
}

/// Two members of the same structure.
fn side_by_side<'e>(one: &'e Expression, other: &'e Expression) -> Option<(&'e str, &'e str)> {
    let (own, others) = (one.uncast().1, other.uncast().1);
    match (&own.term, &others.term) {
        (
            Term::Member { holder, field, .. },
            Term::Member {
                holder: same,
                field: other,
                ..
            },
        ) if holder == same => Some((field, other)),
        _ => None,
    }
}

/// Whether a function of the file allocates a member of that name with so many elements:
/// `o->xs = kcalloc(num_online_cpus(), sizeof(*o->xs), GFP_KERNEL)`.
fn is_made_with(function: &FunctionContext<'_>, array: &Expression, count: &Expression) -> bool {
    let Term::Member { field, .. } = &array.term else {
        return false;
    };
    let count = count.uncast().1;
    let Some(counter) = counter(function, count) else {
        return false;
    };
    let file = function.file;
    let names = |body: &Body, word: &str| {
        let mut tokens = file.tokens_of(body).iter();
        tokens.any(|own| own.span.of(file.text) == word.as_bytes())
    };
    let makers = file.bodies.iter();
    let mut makers = makers.filter(|body| names(body, counter) && names(body, field));
    makers.any(|maker| {
        let made = |maker: &FunctionContext<'_>| makes(maker, field, count);
        look_into(function, &maker.name, made).is_some()
    })
}

/// The word of a number by which another function may name it as well: a call without arguments, a
/// member, a constant of the file's.
fn counter<'e>(function: &FunctionContext<'_>, count: &'e Expression) -> Option<&'e str> {
    match &count.term {
        Term::Call(..) => count
            .call()
            .filter(|(_, given)| given.is_empty())
            .map(|(name, _)| name),
        Term::Member { field, .. } => Some(field),
        Term::Name(name) => {
            let own = function.is_parameter(name) || function.local_at(name, count.span).is_some();
            (!own).then_some(name)
        }
        _ => None,
    }
}

/// Whether a function does that.
fn makes(function: &FunctionContext<'_>, field: &str, count: &Expression) -> Option<()> {
    let same = |own: &Expression| match (&own.term, &count.term) {
        (Term::Member { field: own, .. }, Term::Member { field, .. }) => own == field,
        _ => own == count,
    };
    let mut found = None;
    function.each_of(&["assignment_expression"], |node| {
        let Term::Assignment(left, _, value) = &function.expression_of(node).term else {
            return;
        };
        let own = matches!(&left.term, Term::Member { field: own, .. } if own == field);
        let Some((callee, given)) = value.uncast().1.call().filter(|_| own) else {
            return;
        };
        let known = function.file.words.allocates(callee);
        let of = known.and_then(|own| given.get(own.count?));
        found = found.or(of.filter(|of| same(of.uncast().1)).map(|_| ()));
    });
    found
}

/// `o->num_xs` of `o->xs`
fn counts(function: &FunctionContext<'_>, of: &Expression, array: &Expression) -> bool {
    let members = side_by_side(of, array);
    members.is_some_and(|(count, array)| function.file.words.counted(count).any(|own| own == array))
}

/// `o->num_ys` of `o->xs`, where both `ys` and a count of `xs` are members as well.
fn counts_another(function: &FunctionContext<'_>, of: &Expression, array: &Expression) -> bool {
    let Some((count, named)) = side_by_side(of, array) else {
        return false;
    };
    let Term::Member { holder, arrow, .. } = &array.term else {
        return false;
    };
    let words = function.file.words;
    let whole = words
        .counted(count)
        .next()
        .and_then(|_| space::written(function, holder));
    let Some(whole) = whole else { return false };
    let reach = if *arrow { "*" } else { "" };
    // Some member may be of a size that nobody knows.
    let Ok(of) = function
        .file
        .types
        .outline(&format!("typeof({reach}{whole})"))
    else {
        return false;
    };
    let members = of.members();
    let mut names = members.iter().map(|(_, own)| own.name.as_str());
    let is_member = |name: &str| members.iter().any(|(_, own)| own.name == name);
    let others = words
        .counted(count)
        .any(|own| own != named && is_member(own));
    others && names.any(|name| words.counted(name).any(|own| own == named))
}

/// Of memory that has as many bytes as the number says.
fn allocated(
    function: &FunctionContext<'_>,
    array: &Expression,
    number: &Expression,
    node: Node<'_>,
) -> Option<(String, Mark)> {
    let name = array.name()?;
    let of_bytes = || space::element(function, array) == Some(1);
    let own = |memory: &Allocation| {
        memory.is_of(number) && !changed(function, number, memory.place, span(node))
    };
    let only = Allocation::of(function, name, span(node));
    let mut all = match only {
        Some(only) => vec![only],
        None => Allocation::all(function, name, span(node)),
    }
    .into_iter();
    let memory = all.find(|memory| own(memory) && of_bytes())?;
    let file = function.file;
    let number = file.plain(number.span);
    let told =
        format!("{number} bytes were allocated, and {name}[{number}] is the one behind them");
    Some((told, file.mark(memory.place, "allocated here")))
}
