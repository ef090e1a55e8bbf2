use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::fate::is_error;
use crate::check::left_unsigned::{LeftUnsigned, left_unsigned};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::taken_off::{TakenOff, taken_off};
use crate::check::{asked, below, bounded, extent, narrowed, space, unbounded};
use crate::compared::{Ordered, orders};
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "wrapping-size",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a size is made of a number that the user gives as it is, and may wrap",
    why: "What is left of the sum or the product is small and passes each check, while the number itself is not. \
          check_add_overflow(), size_add() and array_size() (include/linux/overflow.h) say so.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    function.each_of(&["binary_expression"], |node| {
        if node.known_kind() == "binary_expression" {
            out.extend(compared(function, node));
            out.extend(rest(function, node));
        }
    });
    for call in function.calls {
        out.extend(sized(function, *call));
        out.extend(left_unsigned(function, *call).map(|own| largest_left(function, *call, &own)));
    }
    for access in function.accesses.iter().chain(function.through) {
        let size = access.bytes.as_ref().map(|own| own.uncast().1);
        out.extend(size.and_then(|size| less(function, size, access.span)));
    }
    out.extend(taken_off(function).iter().map(|own| drained(function, own)));
}

/// The least of what is left and another number, where what is left may be the largest there is.
fn largest_left(function: &FunctionContext<'_>, call: Node<'_>, own: &LeftUnsigned) -> Violation {
    let file = function.file;
    let [left, whole, position] =
        [&own.left, &own.whole, &own.position].map(|own| file.plain(own.span));
    let told = format!(
        "{left} is never less than 0 by its type here: where {position}, which is the user's, is more than {whole}, \
         it bounds nothing, and nothing asks"
    );
    file.violation(&INFO, span(call), "bounds nothing there", told)
}

/// What was copied is taken off another number than it was held against.
fn drained(function: &FunctionContext<'_>, own: &TakenOff) -> Violation {
    let file = function.file;
    let [number, from, bound] =
        [&own.number, &own.from, &own.bound].map(|own| file.plain(own.span));
    let told = format!(
        "{from} wraps where {number} is more, and nothing holds the two against each other: {number} is no more \
         than {bound}"
    );
    let mut violation = file.violation(&INFO, own.place, "taken here", told);
    let asked = file.mark(own.bound.span, "this is its bound");
    violation.related.push(asked);
    violation
}

/// `if (a + b > SIZE) return -EINVAL;`, where nothing else bounds `a`.
fn compared(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    orders(function.context.operator(node)).then_some(())?;
    let own = function.expression_of(node);
    let size = Ordered::of(&own)?.more.uncast().1;
    is_made(size).then_some(())?;
    let then = span(narrowed::refused(node)?);
    let leaves = function.graph.statement(then);
    let leaves = leaves.is_some_and(|then| function.graph.leaves(then));
    (leaves || takes_error(function, then)).then_some(())?;
    let bytes = width(function, size)?;
    let number = wraps(function, size, bytes, span(node))
        .or_else(|| signed_product(function, size, bytes, span(node)))?;
    told(function, size, &number, span(node))
}

/// Whether a variable takes an error number in a place: `if (a + b > SIZE) ret = -EINVAL;`.
fn takes_error(function: &FunctionContext<'_>, place: Span) -> bool {
    let values = function.graph.assignments();
    let mut own = values.filter(|(_, value)| place.contains(*value));
    own.any(|(_, value)| {
        function
            .expression(value)
            .is_some_and(|value| is_error(&value))
    })
}

/// `if (n > SIZE - pos) n = SIZE - pos;`, where nothing asks whether the user's `pos` is within
/// SIZE: what is left of that is less than 0, or the largest number there is.
fn rest(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    orders(function.context.operator(node)).then_some(())?;
    let own = function.expression_of(node);
    let asked = Ordered::of(&own)?;
    let (rest, size) = (asked.less.uncast().1, asked.more);
    let Term::Binary(whole, operator, position) = &rest.term else {
        return None;
    };
    let position = position.uncast().1;
    let place = matches!(position.term, Term::Name(_) | Term::Member { .. });
    (place && operator == "-" && position != size.uncast().1).then_some(())?;
    narrowed::refused(node)?;
    let most = space::bytes(function, whole.uncast().1)?;
    // The comparison itself is no bound of it.
    let before = Span::new(node.start_byte(), node.start_byte());
    let source = unbounded::users(function, position, before)?;
    let judged = unbounded::is_handed_before(function, position, before);
    let more = largest(function, position)? > most;
    (more && !judged).then(|| {
        let file = function.file;
        let [rest, whole] = [rest.span, whole.span].map(|own| file.plain(own));
        let told = format!("{rest} wraps where {source}, which is the user's, is more than {whole}, and nothing asks");
        file.violation(&INFO, span(node), "bounds nothing there", told)
    })
}

/// The largest number that the type of a variable or a member has.
fn largest(function: &FunctionContext<'_>, number: &Expression) -> Option<u64> {
    let (bytes, signed) = scalar(function, number)?;
    let bits = answer::fits::<u32, _>(bytes * 8)?.checked_sub(u32::from(signed))?;
    u64::MAX.checked_shr(u64::BITS.checked_sub(bits)?)
}

/// What is allocated, or copied, is as many bytes as a sum or a product says.
fn sized(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let words = function.file.words;
    let allocated = words.allocates(name).filter(|own| own.object.is_none());
    let at = match (allocated, function.duplicates(name)) {
        // A product of the two is looked at by the call itself, what makes the number is not.
        (Some(own), _) => own.count.unwrap_or(own.size),
        (_, Some(own)) => own.count,
        _ => return None,
    };
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let given = given.get(at)?.uncast().1;
    let (size, bytes) = made(function, given, span(call))?;
    // A product of the two arguments is asked for by the call itself.
    let alone = allocated.is_none_or(|own| own.count.is_none());
    if let Some((number, place)) =
        below::limit_of_product(function, &size, span(call)).filter(|_| alone)
    {
        return Some(negative(function, call, (&size, &number), place));
    }
    let number = wraps(function, &size, bytes, span(call))
        .or_else(|| wraps_short(function, &size, span(call)))?;
    let root = number.root().name()?;
    let mut reads = function.reads(root);
    reads
        .any(|own| own.span.start >= call.end_byte())
        .then_some(())?;
    told(function, &size, &number, span(call))
}

/// A product of a number that may be less than 0.
fn negative(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    (size, number): (&Expression, &Expression),
    place: Span,
) -> Violation {
    let file = function.file;
    let told = format!(
        "{} wraps where {} is less than 0, which is signed and the user's: nothing refuses that",
        file.plain(size.span),
        file.plain(number.span)
    );
    let mut violation = file.violation(&INFO, span(call), "taken here", told);
    violation
        .related
        .push(file.mark(place, "no more than this is asked"));
    violation
}

/// What is left of a number of the user's where a constant is taken away, of which nothing asks
/// whether it is less than that.
fn less(function: &FunctionContext<'_>, size: &Expression, at: Span) -> Option<Violation> {
    let size = match size.name() {
        Some(name) => {
            let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
            let (_, place) = values.next().filter(|(_, place)| place.end <= at.start)?;
            let value = function.expression(place)?;
            let only = values.next().is_none() && asked::may_be_least(function, size);
            only.then(|| value.uncast().1.clone())?
        }
        None => size.clone(),
    };
    let Term::Binary(number, operator, by) = &size.term else {
        return None;
    };
    let taken = space::bytes(function, by.uncast().1).filter(|_| operator == "-")?;
    let number = number.uncast().1;
    let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
    (place && taken > 0 && asked::may_be_least(function, number)).then_some(())?;
    // Where nothing bounds it at all, that is what is wrong with it.
    unbounded::users(function, number, at)
        .is_none()
        .then_some(())?;
    let users = unbounded::users_within(function, number, at).filter(|own| !own.is_handed)?;
    let least = users
        .by
        .iter()
        .all(|own| asked::may_be_least(function, own));
    (least && !unbounded::is_handed_before(function, number, at)).then_some(())?;
    let file = function.file;
    let (size, number) = (file.plain(size.span), file.plain(number.span));
    let told = format!(
        "{size} wraps where {number}, which is the user's, is less than {taken}, and nothing asks"
    );
    Some(file.violation(&INFO, at, "taken here", told))
}

fn told(
    function: &FunctionContext<'_>,
    size: &Expression,
    number: &Expression,
    at: Span,
) -> Option<Violation> {
    let file = function.file;
    let message = format!(
        "{} wraps where {} is large enough, which is the user's and which nothing else bounds",
        file.plain(size.span),
        file.plain(number.span)
    );
    let mut violation = file.violation(&INFO, at, "taken here", message);
    if !at.contains(size.span) {
        violation.related.push(file.mark(size.span, "made here"));
    }
    Some(violation)
}

fn is_size(of: &Expression) -> bool {
    matches!(of.term, Term::SizeOf(_) | Term::SizeOfType(_))
}

/// Whether it is a sum or a product: a shift is one.
fn is_made(size: &Expression) -> bool {
    matches!(&size.term, Term::Binary(_, operator, _) if matches!(operator.as_str(), "+" | "*" | "<<"))
}

/// The sum or product that a size is, or that its variable takes, and the bytes of the type
/// in which it is kept.
fn made(function: &FunctionContext<'_>, size: &Expression, at: Span) -> Option<(Expression, u64)> {
    if is_made(size) {
        return Some((size.clone(), width(function, size)?));
    }
    let name = size.name()?;
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    let (_, place) = values.next()?;
    let kept = scalar(function, size)?.0;
    let value = function
        .expression(place)
        .filter(|_| place.end <= at.start)?;
    let value = value.uncast().1;
    (values.next().is_none() && is_made(value)).then_some(())?;
    Some((value.clone(), width(function, value)?.min(kept)))
}

/// The number of the user's that makes a sum or a product of so many bytes wrap.
fn wraps(
    function: &FunctionContext<'_>,
    size: &Expression,
    bytes: u64,
    at: Span,
) -> Option<Expression> {
    match &size.term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "*") => {
            wraps(function, left, bytes, at).or_else(|| wraps(function, right, bytes, at))
        }
        Term::Binary(number, operator, by) if operator == "<<" => {
            space::bytes(function, by.uncast().1).filter(|by| *by > 0)?;
            wraps(function, number.uncast().1, bytes, at)
        }
        Term::Name(_) | Term::Member { .. } => {
            let (own, signed) = scalar(function, size)?;
            let free = own >= bytes && !signed && is_free(function, size, bytes, at);
            free.then(|| size.clone())
        }
        _ => None,
    }
}

/// The same where a `size_t` has 32 bits, and nothing of the size is wider by itself.
fn wraps_short(function: &FunctionContext<'_>, size: &Expression, at: Span) -> Option<Expression> {
    size.any(&is_size).then_some(())?;
    wraps(function, size, SHORT, at)
}

/// The bytes of a `size_t` on a machine of 32 bits.
const SHORT: u64 = 4;

/// The signed number of which a product with a constant may be less than 0: `n * 2`.
fn signed_product(
    function: &FunctionContext<'_>,
    size: &Expression,
    bytes: u64,
    at: Span,
) -> Option<Expression> {
    let Term::Binary(left, operator, right) = &size.term else {
        return None;
    };
    let (left, right) = (left.uncast().1, right.uncast().1);
    let number = match space::bytes(function, left) {
        Some(_) => right,
        None => left,
    };
    let by = space::bytes(function, left).or_else(|| space::bytes(function, right));
    by.filter(|by| *by > 1 && operator == "*")?;
    let (own, signed) = match number.term {
        Term::Name(_) | Term::Member { .. } => scalar(function, number)?,
        _ => return None,
    };
    (own >= bytes && signed && is_free(function, number, bytes, at)).then_some(())?;
    // What takes it may be bounded.
    let mut values = function.graph.assignments();
    let taken = values.any(|(_, value)| {
        let value = function.expression(value);
        value.is_some_and(|value| value.uncast().1 == number)
    });
    (!taken).then(|| number.clone())
}

/// Whether a number of so many bytes is the user's as he gives it, but for the place that is
/// looked at. What a read or a write of a file is called with was bounded before
/// (rw_verify_area(), fs/read_write.c).
fn is_free(function: &FunctionContext<'_>, number: &Expression, bytes: u64, at: Span) -> bool {
    if function.pays().is_none() {
        return false;
    }
    let wide = |own: &Expression| scalar(function, own).is_some_and(|(own, _)| own >= bytes);
    let users = unbounded::users_within(function, number, at);
    users.is_some_and(|own| !own.is_handed && own.by.iter().all(wide))
        && !bounded::is_compared(function, number, at)
        && !unbounded::is_handed_before(function, number, at)
}

/// The bytes of the type in which an expression is worked out, where a `long` has 8 (C11,
/// 6.3.1.8): no less than an `int` has.
fn width(function: &FunctionContext<'_>, of: &Expression) -> Option<u64> {
    match &of.term {
        Term::Number(written) => {
            let long = written.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'l'));
            Some(if long { 8 } else { 4 })
        }
        Term::SizeOf(_) | Term::SizeOfType(_) => Some(8),
        Term::Binary(left, operator, _) if operator == "<<" => width(function, left),
        Term::Binary(left, _, right) => Some(width(function, left)?.max(width(function, right)?)),
        Term::Cast(to, _) if to.pointers == 0 => Some(function.file.layout(&to.base)?.size.max(4)),
        Term::Name(_) if extent::constant(function, of).is_some() => Some(4),
        _ => Some(scalar(function, of)?.0.max(4)),
    }
}

/// The bytes of a number's type, and whether it may be negative.
fn scalar(function: &FunctionContext<'_>, of: &Expression) -> Option<(u64, bool)> {
    let own = space::type_of(function, of)?;
    match own.shape {
        Shape::Scalar { signed, .. } => Some((own.size, signed)),
        _ => None,
    }
}
