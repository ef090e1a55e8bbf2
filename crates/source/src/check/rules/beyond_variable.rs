use tree_sitter::Node;

use crate::check::accesses::Access;
use crate::check::allocation::Allocation;
use crate::check::behind_front::behind_front;
use crate::check::below;
use crate::check::bounds_itself::bounds_itself;
use crate::check::context::FunctionContext;
use crate::check::expanded::{Expanded, expanded};
use crate::check::from_below::from_below;
use crate::check::left_of::left_of;
use crate::check::limit::limit;
use crate::check::member_as_whole::{AsWhole, has_its_own_size, member_as_whole};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::only_least::only_least;
use crate::check::other_bounds::other_bound;
use crate::check::overlong::{Overlong, Overrun, overlong, overruns};
use crate::check::past_array::{PastArray, past_array};
use crate::check::pushed::{Pushed, pushed};
use crate::check::remaining::remaining;
use crate::check::rest_of_page::rest_moved;
use crate::check::room::{Object, memory, room, size_at};
use crate::check::rule::{Look, Rule};
use crate::check::scanned_string::{TooLong, too_long};
use crate::check::short::short;
use crate::check::space;
use crate::check::told_room::{ToldRoom, told_room};
use crate::check::unbounded;
use crate::check::unplaced::{Unplaced, unplaced};
use crate::expression::{Expression, Term};
use crate::flow::Local;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "beyond-variable",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "more bytes are copied than the kernel's object has, or as many as the user likes",
    why: "A read then writes over what lies behind it, a write gives that to the user. \
          CONFIG_HARDENED_USERCOPY finds it when it happens, the compiler where both sizes are constants.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let through = function.through.iter();
    let through = through.filter(|own| !bounds_itself(function, own));
    let copies = function.accesses.iter().chain(through);
    let mut known: Vec<Violation> = Vec::new();
    for access in copies {
        let told = wrong(function, access);
        let Some(told) = told else { continue };
        function.file.add_place(&mut known, told);
    }
    out.extend(known);
    out.extend(
        overlong(function)
            .iter()
            .map(|own| unwritten(function, own)),
    );
    out.extend(unplaced(function).iter().map(|own| behind(function, own)));
    for access in function.shown() {
        let own = Copied::by(function, &access).and_then(|own| copied(function, &own));
        let own = own.or_else(|| allocated(function, &access));
        out.extend(own.or_else(|| elsewhere(function, &Copied::by(function, &access)?)));
    }
    out.extend(overruns(function).iter().map(|own| overrun(function, own)));
    for call in function.calls {
        out.extend(as_the_program_says(function, *call));
        out.extend(moved(function, *call));
        out.extend(too_long(function, *call).map(|own| scanned(function, &own)));
        out.extend(
            rest_moved(function, *call)
                .map(|(own, at)| bounded(function, at, own.told(function.file))),
        );
        out.extend(told_room(function, *call).map(|own| more_room(function, &own)));
        out.extend(
            expanded(function, *call)
                .iter()
                .map(|own| beyond(function, own)),
        );
        out.extend(Copied::fetched(function, *call).and_then(|own| {
            copied(function, &own)
                .or_else(|| elsewhere(function, &own))
                .or_else(|| at_least(function, &own))
                .or_else(|| negative(function, own.at, &own.count))
        }));
    }
    for local in function
        .graph
        .locals
        .iter()
        .filter(|own| !own.plain && !own.array)
    {
        out.extend(taken_for_more(function, local));
    }
}

/// What is wrong with a copy.
fn wrong(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    from_inside(function, access)
        .or_else(|| where_it_lies(function, access))
        .or_else(|| behind_its_front(function, access))
        .or_else(|| from_behind(function, access))
        .or_else(|| by_another_bound(function, access))
        .or_else(|| {
            (!has_its_own_size(function, access)).then_some(())?;
            copied(function, &Copied::by(function, access)?)
        })
        .or_else(|| allocated(function, access))
        .or_else(|| {
            Some(as_whole(
                function,
                access,
                &member_as_whole(function, access)?,
            ))
        })
        .or_else(|| from_an_element_on(function, access))
        .or_else(|| Some(past(function, access, &past_array(function, access)?)))
        .or_else(|| as_large_as(function, access))
        .or_else(|| elsewhere(function, &Copied::by(function, access)?))
        .or_else(|| at_least(function, &Copied::by(function, access)?))
        .or_else(|| within_memory(function, access))
        .or_else(|| Some(on_top(function, access, &pushed(function, access)?)))
        .or_else(|| negative(function, access.span, access.bytes.as_ref()?))
}

/// So many bytes that are copied from or to an object of the kernel's.
struct Copied<'t> {
    at: Span,
    node: Node<'t>,
    count: Expression,
    value: Expression,
}

impl<'t> Copied<'t> {
    /// What an access copies.
    fn by(function: &FunctionContext<'_>, access: &Access<'t>) -> Option<Self> {
        Some(Self {
            at: access.span,
            node: access.node,
            count: access.bytes.clone()?,
            value: (*function.expression_of(access.value_node)).clone(),
        })
    }

    /// What a call copies that knows by itself where the user's bytes are, or as much of them as is said
    /// that there is room for.
    fn fetched(function: &FunctionContext<'_>, call: Node<'t>) -> Option<Self> {
        let words = function.file.words;
        let name = function.callee(call)?;
        let from = words.results().fills_from(name);
        let from = from.map(|own| (own.object, own.room));
        let (object, count) =
            from.or_else(|| Some((words.fetches(name)?, words.fetched(name)?)))?;
        words.access(name).is_none().then_some(())?;
        let whole = function.expression_of(call);
        let (_, given) = whole.call()?;
        Some(Self {
            at: span(call),
            node: call,
            count: given.get(count)?.clone(),
            value: given.get(object)?.clone(),
        })
    }
}

/// An object that is said to have as many bytes as the program says that its own has.
fn as_the_program_says(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let places = function.file.words.sizes(name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let own = given.get(places.kernel)?.uncast().1;
    let program = given.get(places.user)?.uncast().1;
    let mut accesses = function.accesses.iter();
    let fetched = own.name().is_none_or(|name| {
        function.is_parameter(name) || accesses.any(|access| access.value_root == name)
    });
    let same = own == program && fetched && space::bytes(function, own).is_none();
    let file = function.file;
    same.then(|| {
        let told = format!(
            "{} is how large the program says that its object is, and {name}() takes it for the size of the \
             kernel's, too",
            file.plain(own.span)
        );
        file.violation(&INFO, span(call), "copied here", told)
    })
}

/// Memory of as many bytes as the user says, of which a member is looked at.
fn taken_for_more(function: &FunctionContext<'_>, local: &Local) -> Option<Violation> {
    let own = short(function, local)?;
    let file = function.file;
    let (number, name) = (file.plain(own.number), &local.name);
    let told = format!(
        "{name} leads to as many bytes as {number} says, which is the user's, and nothing asks whether the \
         structure has as many"
    );
    let mut violation = file.violation(&INFO, own.member, "may lie behind them", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.made, "made here"));
    Some(violation)
}

/// As many bytes as a string would have, which has been cut off where there was no room.
fn unwritten(function: &FunctionContext<'_>, own: &Overlong) -> Violation {
    let file = function.file;
    let (buffer, name) = (file.plain(own.buffer), &own.name);
    let told = format!(
        "{name}() gives how long the string would be, and {} may be longer than {buffer} has room for",
        own.long
    );
    let mut violation = file.violation(&INFO, own.copy, "copied here", told);
    violation.confidence = Confidence::Medium;
    if !own.copy.contains(own.written) {
        let mark = file.mark(own.written, "how long it would be");
        violation.related.push(mark);
    }
    violation
}

/// A call that is told of as much room as there is from the front on, and begins behind that.
fn more_room(function: &FunctionContext<'_>, own: &ToldRoom) -> Violation {
    let file = function.file;
    let [room, front, index] = [&own.room, &own.front, &own.index].map(|own| file.plain(own.span));
    let told = format!(
        "{room} is all the room that {front} has, and what the call is given begins {index} behind its front"
    );
    let mut violation = file.violation(&INFO, own.at, "told of more than is left", told);
    violation.confidence = Confidence::Medium;
    violation
}

/// A copy from where the program says, which is bounded by what there is from the front on.
fn behind(function: &FunctionContext<'_>, own: &Unplaced) -> Violation {
    let file = function.file;
    let told = format!(
        "{} bytes begin at {}, which the program says, and are bounded as if that were the front",
        own.count, own.from
    );
    let mut violation = file.violation(&INFO, own.access, "goes on behind the end", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.asked, "all there is"));
    violation
}

/// A call that reads or writes more bytes than there are.
fn beyond(function: &FunctionContext<'_>, own: &Expanded) -> Violation {
    let file = function.file;
    let told = format!(
        "{}() takes {} bytes for each of {}, and {} has {}",
        own.name, own.times, own.count, own.object, own.room
    );
    let mut violation = file.violation(&INFO, own.call, "goes on behind it", told);
    violation.confidence = Confidence::Medium;
    violation
}

/// A string that is written into an array which may not have room for it.
fn overrun(function: &FunctionContext<'_>, own: &Overrun) -> Violation {
    let file = function.file;
    let told = format!(
        "{}() writes up to {} bytes with the 0 at the end, and {} has {}",
        own.name, own.bytes, own.array, own.size
    );
    let mut violation = file.violation(&INFO, own.call, "may write on", told);
    violation.confidence = Confidence::Medium;
    let mark = file.mark(own.shown, "a program reads it");
    violation.related.push(mark);
    violation
}

/// A string that sscanf() takes into an array which may not have room for it.
fn scanned(function: &FunctionContext<'_>, own: &TooLong) -> Violation {
    let file = function.file;
    let bytes = match own.bytes {
        Some(bytes) => format!("up to {bytes} bytes"),
        None => "as many bytes as the program likes".to_owned(),
    };
    let told = format!(
        "{}() writes {bytes} with the 0 at the end, and {} has {}",
        own.name, own.array, own.size
    );
    let mut violation = file.violation(&INFO, own.call, "may write on", told);
    violation.confidence = Confidence::Medium;
    violation
}

/// A variable of the function that memcpy(), memset() or the like fills with as many bytes
/// as the user says.
fn moved(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let words = function.file.words;
    let name = function.callee(call)?;
    let fills = words.fills(name).filter(|_| words.access(name).is_none())?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let count = given.get(fills.count?)?.uncast().1;
    if let Some(told) = negative(function, span(call), count) {
        return Some(told);
    }
    let object = Object::of(function, given.get(fills.object)?.uncast().1)?;
    let known = object.is_pointer || space::bytes(function, count).is_some();
    let at = span(call);
    let (told, confidence) = unbounded(function, at, count, object.name).filter(|_| !known)?;
    let file = function.file;
    let mut violation = file.violation(&INFO, at, "copied here", told);
    violation.confidence = confidence;
    let declared = file.mark(object.declared, "the variable");
    violation.related.push(declared);
    Some(violation)
}

/// A copy of as many bytes as an object has, from or to what lies behind its front: `a + n` and
/// `&a[n]` with `sizeof(a)`.
fn from_inside(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?;
    let Term::SizeOf(object) = &count.uncast().1.term else {
        return None;
    };
    let value = function.expression_of(access.value_node);
    let (array, index) = match &value.term {
        Term::Binary(array, operator, index) if operator == "+" => (array, index),
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => (array, index),
            _ => return None,
        },
        _ => return None,
    };
    let front = index.is_zero() || space::bytes(function, index) == Some(0);
    (**array == **object && !front).then_some(())?;
    let file = function.file;
    let (object, place) = (file.plain(object.span), file.plain(value.span));
    let told =
        format!("as many bytes are copied as {object} has, and {place} lies behind its front");
    Some(file.violation(&INFO, access.span, "copied here", told))
}

/// A copy of more bytes than a pointer has, or of a number that is kept, from or to where the
/// pointer itself lies: `&p->q`, which is a member.
fn where_it_lies(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let Term::Address(place) = &value.uncast().1.term else {
        return None;
    };
    matches!(place.term, Term::Member { .. }).then_some(())?;
    let count = access.bytes.as_ref()?.uncast().1;
    let bytes = space::bytes(function, count);
    // A number of bytes that is kept is that of something else than one pointer.
    let kept = bytes.is_none() && matches!(count.term, Term::Member { .. } | Term::Name(_));
    let of = space::type_of(function, place).filter(|_| kept || bytes.is_some())?;
    let fits = bytes.is_some_and(|bytes| bytes <= of.size);
    (matches!(of.shape, Shape::Pointer { .. }) && !fits).then(|| {
        let file = function.file;
        let (place, count) = (file.plain(place.span), file.plain(count.span));
        let bytes = bytes.map_or(count, |bytes| bytes.to_string());
        let told = format!(
            "&{place} is where the pointer itself lies, which has {} bytes, and {bytes} are copied",
            of.size
        );
        file.violation(&INFO, access.span, "copied here", told)
    })
}

/// A copy of a member by the size of what it is a part of.
fn as_whole(function: &FunctionContext<'_>, access: &Access<'_>, own: &AsWhole) -> Violation {
    let file = function.file;
    let told = format!(
        "{} bytes {} copied, the size of {}, and {} has {}",
        own.bytes,
        own.bound.map_or("are", |_| "may be"),
        if own.other {
            "another object"
        } else {
            "the whole"
        },
        file.plain(own.member.span),
        own.own
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    let bound = own.bound.map(|at| file.mark(at, "no more than this"));
    violation.related.extend(bound);
    violation
}

/// A copy of more bytes than there are from an element on.
fn from_an_element_on(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let bytes = space::bytes(function, access.bytes.as_ref()?.uncast().1)?;
    let value = function.expression_of(access.value_node);
    let own = left_of(function, value.uncast().1).filter(|own| bytes > own.bytes)?;
    let file = function.file;
    let told = format!(
        "{bytes} bytes are copied, and from {} on {} has {}",
        file.plain(value.span),
        own.array,
        own.bytes
    );
    Some(file.violation(&INFO, access.span, "copied here", told))
}

/// A copy from or to where a pointer leads that was moved by the size of something larger.
fn past(function: &FunctionContext<'_>, access: &Access<'_>, own: &PastArray) -> Violation {
    let file = function.file;
    let told = format!(
        "{} has {} bytes, and the copy goes on to {} behind its front",
        own.array, own.size, own.end
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    let moved = file.mark(own.moved, "made from this");
    violation.related.push(moved);
    violation
}

/// A copy of as many elements as a number says that only has to be as large as how many there are.
fn as_large_as(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = only_least(function, access)?;
    let file = function.file;
    let told = format!(
        "{} is only asked to be as large as {}, and may be more than is there",
        own.number, own.least
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.asked, "asked here"));
    Some(violation)
}

/// A copy of as many bytes as an object may have, from or to what lies behind its front.
fn behind_its_front(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let size = |front: &Expression| {
        size_at(function, front)
            .or_else(|| Allocation::of(function, front.name()?, access.span)?.bytes(function))
            .or_else(|| room(function, front, access.span).map(|own| own.size))
    };
    let own = behind_front(function, access, size)?;
    let file = function.file;
    let [number, front, index] =
        [&own.number, &own.front, &own.index].map(|own| file.plain(own.span));
    let told = format!(
        "{number} may be {}, which is all that {front} has, and the copy begins {index} bytes behind its front",
        own.size
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = Confidence::Medium;
    let bound = file.mark(own.bound, "no more than this is copied");
    violation.related.push(bound);
    Some(violation)
}

/// A copy from or to what lies behind a front, of as many bytes as there are from that front on.
fn from_behind(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = remaining(function, access)?;
    let file = function.file;
    let [number, front, index, all] =
        [&own.number, &own.front, &own.index, &own.all].map(|own| file.plain(own.span));
    let told = format!(
        "{number} may be {all}, which is how much there is from {front} on, and the copy begins {index} bytes \
         behind that"
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.by, "as much as this"));
    Some(violation)
}

/// A copy of as many bytes as something else than its object bounds.
fn by_another_bound(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = other_bound(function, access)?;
    Some(bounded(function, access.span, own))
}

/// A copy of as many bytes as something else says.
fn bounded(function: &FunctionContext<'_>, at: Span, (told, by): (String, Span)) -> Violation {
    let file = function.file;
    let mut violation = file.violation(&INFO, at, "copied here", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(by, "bounded here"));
    violation
}

/// A copy of a number of bytes from or to a variable of the function.
fn copied(function: &FunctionContext<'_>, own: &Copied<'_>) -> Option<Violation> {
    let (at, count, value) = (own.at, &own.count, &own.value);
    let object = Object::of(function, value.uncast().1)?;
    let name = object.name;
    let (told, confidence) = match space::bytes(function, count) {
        Some(bytes) if object.size.is_some() => {
            let size = object.size.filter(|size| bytes > *size)?;
            let told = format!("{bytes} bytes are copied, and {name} has {size}");
            (told, Confidence::High)
        }
        Some(_) => {
            let told = by_another(function, count, value.uncast().1)?;
            (told, Confidence::Medium)
        }
        None if object.is_pointer => {
            let told = format!("&{name} is where the pointer itself lies, not what it points to");
            (told, Confidence::High)
        }
        None => by_another(function, count, value.uncast().1)
            .map(|told| (told, Confidence::Medium))
            .or_else(|| unbounded(function, at, count, name))
            .or_else(|| within(function, at, count, &object))
            .or_else(|| at_most_less(function, at, count, &object))?,
    };
    let file = function.file;
    let mut violation = file.violation(&INFO, at, "copied here", told);
    violation.confidence = confidence;
    let declared = file.mark(object.declared, "the variable");
    violation.related.push(declared);
    Some(violation)
}

/// A copy of one structure of the function by the size of another one's, where nobody knows how
/// large both are: they are two types.
fn by_another(
    function: &FunctionContext<'_>,
    count: &Expression,
    address: &Expression,
) -> Option<String> {
    let (Term::SizeOf(other), Term::Address(own)) = (&count.uncast().1.term, &address.term) else {
        return None;
    };
    let structure = |of: &Expression| {
        let local = function
            .local_at(of.name()?, of.span)
            .filter(|own| own.plain)?;
        local
            .base_type
            .starts_with("struct ")
            .then_some(&local.base_type)
    };
    let (of_own, of_other) = (structure(own)?, structure(other)?);
    (of_own != of_other).then(|| {
        let file = function.file;
        let (own, other) = (file.plain(own.span), file.plain(other.span));
        format!("{own} is a {of_own}, and is copied by the size of {other}, which is a {of_other}")
    })
}

/// A copy of a number of bytes from or to memory that the function allocates.
fn allocated(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let name = value.uncast().1.name()?;
    let memory = Allocation::of(function, name, access.span)?;
    let told = memory.exceeded(function, count, access.span)?;
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(memory.place, "allocated here"));
    Some(violation)
}

/// A copy from or to memory that the function has by a pointer, of as many bytes as the
/// user says: whoever allocated it did not ask him.
fn elsewhere(function: &FunctionContext<'_>, own: &Copied<'_>) -> Option<Violation> {
    let (at, count) = (own.at, own.count.uncast().1);
    let place = memory(function, own.value.uncast().1)?;
    let source = unbounded::users(function, count, at)?;
    let named = Expression::written(&source, function.context.vocabulary)?;
    // Whoever calls by a pointer to the function may have judged what it is given, but for
    // a program's call.
    let local = function.local_at(named.root().name()?, at);
    let answers = || {
        let declares = |word: &[u8]| function.file.is_declared(function.body, word);
        function.file.answers_a_program(function.body)
            || declares(b"asmlinkage") && declares(b"__user")
    };
    (local.is_some() || answers()).then_some(())?;
    let mut judged = [&named, count].into_iter();
    if judged.any(|own| unbounded::is_handed_before(function, own, at)) {
        return None;
    }
    // What takes a value here may be as large as that says.
    let taken = place.name().is_none() && function.assigns(place);
    let made = made_of(function, named.root());
    let sized = place.name().is_some_and(|name| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        let of_it = |part: &Expression| {
            let made = |name: &str| made.iter().any(|own| own == name);
            part.root() == named.root() || part.name().is_some_and(made)
        };
        values.any(|(_, value)| {
            let value = function.expression(value);
            value.is_none_or(|value| value.any(&of_it))
        })
    });
    let file = function.file;
    let (told, confidence) = unbounded(function, at, count, &file.plain(place.span))?;
    (!taken && !sized).then(|| {
        let mut violation = file.violation(&INFO, at, "copied here", told);
        violation.confidence = confidence;
        violation
    })
}

/// A copy of as many bytes as a number says of which the function only asks whether it is less
/// than the object has.
fn at_least(function: &FunctionContext<'_>, own: &Copied<'_>) -> Option<Violation> {
    let (number, value) = (own.count.uncast().1, own.value.uncast().1);
    let least = from_below(function, own.node, number, value)?;
    let file = function.file;
    let [name, object] = [number, value].map(|own| file.plain(own.span));
    let told = format!(
        "{name} bytes are copied to or from {object}, which has {}, and only less is refused",
        least.size
    );
    let mut violation = file.violation(&INFO, own.at, "copied here", told);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(least.asked, "less is refused here"));
    Some(violation)
}

/// The variables that take something made of another one.
fn made_of(function: &FunctionContext<'_>, root: &Expression) -> Vec<String> {
    let taken = function.graph.assignments();
    let made = taken.filter(|(_, value)| {
        let value = function.expression(*value);
        value.is_some_and(|value| value.any(&|part| part == root))
    });
    made.map(|(name, _)| name.to_owned()).collect()
}

/// A number that the user gives, and that the function only refuses where it is more than
/// the object has.
fn within(
    function: &FunctionContext<'_>,
    at: Span,
    count: &Expression,
    object: &Object<'_>,
) -> Option<(String, Confidence)> {
    let number = count.uncast().1;
    let most = limit(function, number, at)?.value?;
    let size = object.size?;
    let beyond = most > size && !object.is_pointer;
    let judged = unbounded::is_handed_before(function, number, at);
    let users = unbounded::users_within(function, number, at).filter(|_| beyond && !judged)?;
    let told = format!(
        "{}, which is the user's, may be {most}, and {} has {} bytes",
        users.source, object.name, size
    );
    Some((told, Confidence::Medium))
}

/// The larger of what the object has and another number: `max(n, sizeof(x))`, where nothing
/// says that it is no more.
fn at_most_less(
    function: &FunctionContext<'_>,
    at: Span,
    count: &Expression,
    object: &Object<'_>,
) -> Option<(String, Confidence)> {
    let (callee, given) = count.uncast().1.call()?;
    let size = object.size.filter(|_| !object.is_pointer)?;
    let picks = function.file.words.gives_greatest(callee);
    let known = |own: &Expression| space::bytes(function, own.uncast().1);
    let mut sizes = given.iter().filter(|_| picks).filter_map(known);
    sizes.find(|own| *own >= size)?;
    let mut others = given.iter().map(|own| own.uncast().1);
    let other = others.find(|own| {
        let place = matches!(own.term, Term::Name(_) | Term::Member { .. });
        place && known(own).is_none() && space::type_of(function, own).is_some()
    })?;
    let most = limit(function, other, at).and_then(|own| own.value);
    let told = format!(
        "no fewer than {size} bytes are copied, which {} has, and more where {} is more",
        object.name,
        function.file.plain(other.span)
    );
    most.is_none_or(|most| most > size)
        .then_some((told, Confidence::Medium))
}

/// The same of what a caller has, of a member, of what the function allocates and of the file's own.
fn within_memory(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let number = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let own = limit(function, number, access.span)?;
    let most = own.value?;
    let room = room(function, value, access.span).filter(|room| most > room.size)?;
    if unbounded::is_handed_before(function, number, access.span) {
        return None;
    }
    let users = unbounded::users_within(function, number, access.span)?;
    let file = function.file;
    let told = format!(
        "{}, which is the user's, may be {most}, and {} has {} bytes",
        users.source, room.of, room.size
    );
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = Confidence::Medium;
    let refused = file.mark(own.place, "no more than this is refused");
    violation.related.push(refused);
    Some(violation)
}

/// More than a stack of the user's grows by.
fn on_top(function: &FunctionContext<'_>, access: &Access<'_>, own: &Pushed) -> Violation {
    let file = function.file;
    let told = format!(
        "{} bytes are written, and {} may be moved by {} alone: the rest goes over what lies there",
        own.bytes,
        file.plain(own.top),
        own.least
    );
    let mut violation = file.violation(&INFO, access.span, "written here", told);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(own.moved, "moved by this"));
    violation
}

/// A size that may be less than 0, which is more than anything has.
fn negative(function: &FunctionContext<'_>, at: Span, count: &Expression) -> Option<Violation> {
    let (number, place) = below::limit_of_size(function, count, at)?;
    let file = function.file;
    let (size, number) = (file.plain(count.span), file.plain(number.span));
    let told = match size == number {
        true => format!("{number} is signed and the user's, and nothing refuses less than 0"),
        false => format!(
            "{size} may be as little as {number}, which is signed and the user's, and nothing refuses less \
             than 0"
        ),
    };
    let mut violation = file.violation(&INFO, at, "copied here", told);
    violation.confidence = Confidence::Medium;
    let asked = file.mark(place, "no more than this is asked");
    violation.related.push(asked);
    Some(violation)
}

/// A number that the user gives, and that nothing in the function bounds.
fn unbounded(
    function: &FunctionContext<'_>,
    at: Span,
    count: &Expression,
    object: &str,
) -> Option<(String, Confidence)> {
    let source = unbounded::users(function, count.uncast().1, at)?;
    let told = format!(
        "{} bytes are copied to or from {object}, and nothing bounds {source}, which is the user's",
        function.file.plain(count.span)
    );
    Some((told, Confidence::Medium))
}
