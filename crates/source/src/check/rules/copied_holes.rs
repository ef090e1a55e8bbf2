use tree_sitter::Node;

use crate::check::accesses::{Access, root_of};
use crate::check::all_asked_for::all_asked_for;
use crate::check::allocation::{Allocation, product};
use crate::check::arms::{Arm, arms};
use crate::check::as_many::as_many;
use crate::check::context::FunctionContext;
use crate::check::copied_on::copied_on;
use crate::check::fill::{Elements, Filling, Put, filling};
use crate::check::filled::{Filled, filled, filled_past, mentions_before};
use crate::check::filled_short::{filled_short, may_be_all};
use crate::check::heap::{filled_behind, filled_behind_past, filled_elements};
use crate::check::leading::elsewhere;
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::partly_written::partly_written;
use crate::check::rule::{Look, Rule};
use crate::check::set_elements::{is_compared_behind, left_out, set_elements};
use crate::check::sides::other_side;
use crate::check::space;
use crate::check::unset::{is_unset, set_only_if, unset_on_an_arm};
use crate::check::unset_part::unset_part;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Local};
use crate::node::Parts as _;
use crate::site::span;
use crate::types::{LayoutError, Machine, Shape, Type};
use crate::{Direction, Span};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "copied-holes",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a struct on the stack is copied to the user with bytes that nobody set",
    why: "Members that are never set and the padding between members still hold what lay on the kernel's \
          stack. Setting each member does not fill the padding: clear the struct first.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let shown = function.shown();
    for access in function.accesses.iter().chain(&shown) {
        let whole = access.word.count.is_some() && access.word.direction == Direction::Write;
        let part = || {
            half_filled(function, access)
                .or_else(|| only_strings(function, access))
                .or_else(|| in_some_rounds(function, access))
                .or_else(|| less_filled(function, access))
        };
        out.extend(whole.then(part).flatten());
        out.extend(whole.then(|| as_asked_for(function, access)).flatten());
        out.extend(unset_value(function, access).or_else(|| of_part(function, access)));
        out.extend(whole.then(|| allocated(function, access)).flatten());
        out.extend(whole.then(|| ended(function, access)).flatten());
        out.extend(whole.then(|| led_to(function, access)).flatten());
        out.extend(whole.then(|| running(function, access)).flatten());
        out.extend(whole.then(|| struct_of(function, access)).flatten());
    }
    for access in &copied_on(function, &shown) {
        out.extend(struct_of(function, access));
    }
}

/// A struct of the function that goes out whole, with what nobody has set.
fn struct_of(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let local = copied(function, access)?;
    let filled = filled(function, local, access);
    // Whoever clears it on one way knows that what it is handed to does not fill it.
    let unknown = filled.elsewhere || filled.handed && filled.cleared.is_empty();
    if is_cleared(function, access, &filled) || is_fetched(function, access, &filled) {
        return None;
    }
    let whole = (!unknown).then(|| judged(function, access, local, &filled));
    let few = || is_one_of_few(function, local, access);
    let wrong = whole.flatten().or_else(|| {
        (!unknown || few()).then_some(())?;
        let named = mentions_before(function, local, access);
        let place = (local.declared, "declared without a value");
        let ways = on_one_arm(function, access, (local, named), place, |arm| {
            filled_past(function, local, access, |place| arm.leaves_out(place))
        });
        ways.or_else(|| apart(function, access, local))
    });
    // One side of an `#if` may leave before.
    wrong.filter(|_| function.graph.is_reached(access.span))
}

/// An array that goes out whole, and in which calls have only written strings.
fn only_strings(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = partly_written(function, access)?;
    let name = &own.local.name;
    let what = format!(
        "all of {name} is copied, and behind what {}() writes nothing is set",
        own.by
    );
    let place = (own.written, "the string");
    Some(left(function, access, (name, &what), place))
}

/// Memory that is copied by a larger number than the one by which it was filled.
fn less_filled(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = filled_short(function, access)?;
    let (file, name) = (function.file, &own.local.name);
    let what = format!(
        "{} bytes of it are filled, and {} are copied",
        file.plain(own.count),
        file.plain(access.count?)
    );
    let place = (own.filled, "filled here");
    Some(left(function, access, (name, &what), place))
}

/// As many bytes as were asked for, of which a call may have given fewer.
fn as_asked_for(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = all_asked_for(function, access)?;
    let what = format!(
        "{} says how many bytes {}() has set, and all that were asked for are copied",
        own.given, own.by
    );
    let place = (own.filled, "filled here");
    Some(left(function, access, (&own.object, &what), place))
}

/// A struct that the function allocates, with what lay there, and copies whole; or an array of
/// them, of which each element is.
fn allocated(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let memory = Allocation::of(function, &local.name, access.span).filter(|own| !own.zeroed)?;
    let behind = value.behind();
    let size = space::type_of(function, &behind)?.size;
    let bytes = access.bytes.as_ref()?;
    let one = || memory.bytes(function) == Some(size) && may_be(function, bytes, size);
    let many = || memory.has_elements(function, size) && product(function, bytes, size);
    (one() || many()).then_some(())?;
    function.pays()?;
    let filled = filled_behind(function, local, memory.place, access.span);
    if filled.elsewhere || filled.handed {
        return None;
    }
    if let Some(counter) = as_many(function, local, access) {
        let what =
            format!("as many of its elements are set as {counter} counts, and all are copied");
        let place = (memory.place, ALLOCATED);
        return Some(left(function, access, (&local.name, &what), place));
    }
    let place = (memory.place, ALLOCATED);
    // Where the layout hangs on something nothing is said.
    let Ok(Some(what)) = unset(function, &local.base_type, &filled) else {
        let named = mentions_before(function, local, access);
        return on_one_arm(function, access, (local, named), place, |arm| {
            let ends = (local, memory.place, access.span);
            filled_behind_past(function, ends, |place| arm.leaves_out(place))
        });
    };
    Some(left(function, access, (&local.base_type, &what), place))
}

/// An array of the function without a value, of which as many elements are set as there is
/// something for, and that is copied by another number.
fn running(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let local = function.local_at(value.uncast().1.name()?, access.span)?;
    (local.array && !local.initialised && !local.lasting).then_some(())?;
    function.pays()?;
    let counter = as_many(function, local, access)?;
    // Whatever else names it may fill it.
    let mut others = false;
    for node in function.mentions(&local.name) {
        let at = span(node);
        let element = function.above(node).is_some_and(|around| {
            let measured = function.above(around).map(|own| own.known_kind());
            around.known_kind() == "subscript_expression"
                || around.known_kind() == "sizeof_expression"
                || measured == Some("sizeof_expression")
        });
        let known = local.declared.contains(at) || access.span.contains(at) || element;
        others |= !known && at.start < access.span.start;
    }
    let compared = is_compared_behind(function, &counter, access);
    let unseen = function.graph.unseen.contains(&local.name);
    let what = format!("as many of its elements are set as {counter} counts, and more are copied");
    let place = (local.declared, "declared without a value");
    (!others && !compared && !unseen).then(|| left(function, access, (&local.name, &what), place))
}

/// A struct that ends with an array, `struct_size(p, all, n)`, and whose elements go with it.
fn ended(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let bytes = access.bytes.as_ref()?;
    let (of, array) = with_array(function, bytes)?;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    (of == local.name).then_some(())?;
    let memory = Allocation::of(function, &local.name, access.span).filter(|own| !own.zeroed)?;
    with_array(function, memory.size()?).filter(|(_, own)| *own == array)?;
    let holder = function.file.layout(&local.base_type)?;
    let members = holder.members().into_iter();
    let mut own = members.filter(|(_, member)| member.name == array);
    let (_, member) = own.next()?;
    let Shape::Array(element, _) = &member.of.shape else {
        return None;
    };
    function.pays()?;
    let filled = filled_elements(function, (local, &array), memory.place, access.span);
    let nothing = filled.members.is_empty() && filled.partly.is_empty();
    if filled.elsewhere || filled.handed || nothing {
        return None;
    }
    let Ok(Some(what)) = unset(function, &element.name, &filled) else {
        return None;
    };
    let of = format!("{} in {array}", element.name);
    Some(left(
        function,
        access,
        (&of, &what),
        (memory.place, ALLOCATED),
    ))
}

const ALLOCATED: &str = "allocated with what lay there";

/// The pointer and the array of `struct_size(p, all, n)`.
fn with_array(function: &FunctionContext<'_>, bytes: &Expression) -> Option<(String, String)> {
    let (name, given) = bytes.uncast().1.call()?;
    // What is said of the call is that it counts elements behind what it is given.
    function.file.words.elements(name).filter(|at| *at == 2)?;
    let [of, array, _] = given else { return None };
    Some((of.name()?.to_owned(), array.name()?.to_owned()))
}

/// A struct of the function without a value, that a pointer leads to which leads to nothing
/// else, and that others fill by the pointer.
fn led_to(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let pointer = function.local_at(value.name()?, value.span)?;
    (!pointer.array && !pointer.plain).then_some(())?;
    let graph = function.graph;
    let values = graph.assignments().filter(|(own, _)| *own == pointer.name);
    let values = values.filter_map(|(_, at)| Some((at, function.expression(at)?)));
    let mut values = values.filter(|(_, own)| !own.is_null());
    let (place, target) = values.next().filter(|_| values.next().is_none())?;
    let Term::Address(target) = &target.uncast().1.term else {
        return None;
    };
    let local = function.local_at(target.name()?, place)?;
    let own = local.plain && !local.initialised && !local.lasting;
    let size = space::type_of(function, target)?.size;
    let whole = space::bytes(function, access.bytes.as_ref()?) == Some(size);
    (own && whole && is_named_once(function, local, place)).then_some(())?;
    function.pays()?;
    let filled = filled_behind(function, pointer, place, access.span);
    let nothing = filled.members.is_empty() && filled.partly.is_empty();
    if filled.elsewhere || filled.handed || nothing {
        return None;
    }
    let Ok(Some(what)) = unset(function, &local.base_type, &filled) else {
        return None;
    };
    let declared = (local.declared, "declared without a value");
    Some(left(function, access, (&local.base_type, &what), declared))
}

/// Whether a variable is named in one place alone, behind where it is declared.
fn is_named_once(function: &FunctionContext<'_>, local: &Local, place: Span) -> bool {
    let mut once = !function.graph.unseen.contains(&local.name);
    for node in function.mentions(&local.name) {
        let at = span(node);
        once &= local.declared.contains(at) || place.contains(at);
    }
    once
}

/// What goes to the user with what lay there.
fn left(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    (of, what): (&str, &str),
    (place, label): (Span, &str),
) -> Violation {
    let file = function.file;
    let message = format!("{of} goes to the user, but {what}");
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(place, label));
    violation
}

/// Whether a number of bytes is that many, on one side of a `?:` at least.
fn may_be(function: &FunctionContext<'_>, count: &Expression, bytes: u64) -> bool {
    match &count.uncast().1.term {
        Term::Choice(_, Some(one), other) => {
            may_be(function, one, bytes) || may_be(function, other, bytes)
        }
        _ => space::bytes(function, count) == Some(bytes),
    }
}

/// A value that goes out of a variable which has none.
fn unset_value(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    (access.word.direction == Direction::Write).then_some(())?;
    let value = function.expression_of(access.value_node);
    let whole = value.uncast().1;
    let local = match &whole.term {
        Term::Name(name) if access.word.count.is_none() => function.local_at(name, whole.span)?,
        Term::Address(of) => number(function, of, access)?,
        _ => return None,
    };
    let name = &local.name;
    let file = function.file;
    let what = match is_unset(function, local, access.span) {
        true => "nothing gives it a value before".to_owned(),
        false => match set_only_if(function, local, access.span) {
            Some(all) => {
                let lines = all.iter().map(|own| function.line(*own).to_string());
                let lines = lines.collect::<Vec<_>>().join(", ");
                format!("it has a value only where the condition in line {lines} holds")
            }
            None => {
                let decides = unset_on_an_arm(function, local, access.span)?;
                let line = function.line(decides);
                format!("what line {line} decides over gives it none on some way")
            }
        },
    };
    let message = format!("{name} goes to the user, and {what}");
    let mut violation = file.violation(&INFO, access.span, "what lay on the stack", message);
    violation
        .related
        .push(file.mark(local.declared, "declared without a value"));
    Some(violation)
}

/// A member that goes out of a struct of the function's, and that nothing sets.
fn of_part(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = unset_part(function, access)?;
    let what = match &own.never {
        Some(never) if own.part.ends_with(never.as_str()) => "it is never set".to_owned(),
        Some(never) => format!("{}.{never} is never set", own.local.name),
        None => "nobody set the padding in it".to_owned(),
    };
    let what = match own.decides {
        Some(at) => format!("{what} on a way past line {}", function.line(at)),
        None => what,
    };
    let place = (own.local.declared, "declared without a value");
    Some(left(function, access, (&own.part, &what), place))
}

/// The variable of one number whose bytes are copied.
fn number<'s>(
    function: &'s FunctionContext<'_>,
    place: &Expression,
    access: &Access<'_>,
) -> Option<&'s Local> {
    let local = function.local_at(place.name()?, place.span)?;
    let own = local.plain && !local.initialised && access.bytes.is_some();
    let of = own.then(|| space::type_of(function, place))??;
    matches!(of.shape, Shape::Scalar { .. }).then_some(local)
}

/// The struct of this function, declared without a value, whose copy goes out.
fn copied<'s>(function: &'s FunctionContext<'_>, access: &Access<'_>) -> Option<&'s Local> {
    let value = function.expression_of(access.value_node);
    let Term::Address(object) = &value.uncast().1.term else {
        return None;
    };
    let local = function.local_at(object.name()?, access.span)?;
    let count = access.bytes.as_ref()?;
    let whole = local.is_sized(count)
        || is_its_size(function, access)
        || is_at_most(function, count, local)
        || is_bounded(function, access, local);
    (local.plain && !local.initialised && !local.lasting && whole).then_some(local)
}

/// Whether a number of bytes is the least of the struct's and another one, which may be more.
fn is_at_most(function: &FunctionContext<'_>, count: &Expression, local: &Local) -> bool {
    let call = count.uncast().1.call();
    let given = call.filter(|(name, _)| function.file.words.gives_least(name));
    given.is_some_and(|(_, given)| {
        let other =
            |own: &Expression| !local.is_sized(own) && space::bytes(function, own).is_none();
        let sized = |own: &Expression| local.is_sized(own.uncast().1);
        given.iter().any(sized) && given.iter().any(|own| other(own.uncast().1))
    })
}

/// Whether so many bytes are copied as the struct has, by whatever name that number has: a
/// macro's, or a variable's that takes no other.
fn is_its_size(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let object = function.expression_of(access.value_node);
    let Term::Address(object) = &object.uncast().1.term else {
        return false;
    };
    let bytes = |count: &Expression| space::bytes(function, count);
    let named = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        let (_, value) = values.next()?;
        let value = function
            .expression(value)
            .filter(|_| values.next().is_none())?;
        bytes(&value)
    };
    let count = access.bytes.as_ref();
    let count = count.and_then(|count| bytes(count).or_else(|| named(count.name()?)));
    count.is_some() && count == space::type_of(function, object).map(|of| of.size)
}

/// An array of this function that goes out whole, and that nothing but calls which leave a
/// part of it have set.
fn half_filled(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let own = local.array && !local.initialised && !local.lasting;
    let size = space::array(function, local).filter(|_| own)?;
    let whole = may_be_all(function, access.bytes.as_ref()?, size, access.span);
    let before = Span::new(local.scope.start, access.span.start);
    let (mut set, mut rounds) = (Vec::new(), Vec::new());
    let mut elements: Option<Elements> = None;
    let mut elsewhere = !whole || function.graph.unseen.contains(&local.name);
    for node in function.mentions(&local.name) {
        let named = before.contains(span(node)) && !local.declared.contains(span(node));
        if named && !is_sized(node) {
            match (filling(function, node), counted(function, node)) {
                (Some(own), _) => set.push(own),
                (None, Some(own)) => rounds.push(own),
                (None, None) => match set_elements(function, node) {
                    Some(numbers) => {
                        let own = elements.get_or_insert_with(|| Elements::new(span(node)));
                        own.numbers.extend(numbers);
                    }
                    None => elsewhere = true,
                },
            }
        }
    }
    let count = space::elements(function, value);
    // What a call fills are elements, too.
    if let Some((elements, count)) = elements.as_mut().zip(count) {
        let each = size.checked_div(count);
        let filled = set.iter().filter_map(|own| match own.put {
            Put::Bytes(bytes) => bytes.checked_div(each?),
            _ => None,
        });
        elements
            .numbers
            .extend(0..filled.max().map_or(0, |own| own.min(count)));
    }
    set.extend(elements.zip(count).map(|(own, count)| own.of(count)));
    let left = set.iter().all(|own| own.put != Put::All) && !elsewhere;
    let name = &local.name;
    let what = match (set.first(), rounds.first()) {
        (Some(part), _) => in_part(function, name, part),
        (None, Some(count)) => {
            format!("as many of its elements are set as {count} says, and nobody sets the rest")
        }
        (None, None) => return None,
    };
    let message = left.then(|| format!("{name} goes to the user, but {what}"))?;
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation
        .related
        .push(file.mark(local.declared, "declared without a value"));
    Some(violation)
}

/// An array of this function that goes out whole, of which a loop sets an element in some of its
/// rounds, and nothing any other.
fn in_some_rounds(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let own = local.array && !local.initialised && !local.lasting;
    let size = space::array(function, local).filter(|_| own)?;
    let whole = may_be_all(function, access.bytes.as_ref()?, size, access.span);
    (whole && !function.graph.unseen.contains(&local.name)).then_some(())?;
    let before = Span::new(local.declared.end, access.span.start);
    let named = function.mentions(&local.name);
    let mut named = named.filter(|own| before.contains(span(*own)) && !is_sized(*own));
    let first = named.next()?;
    let skips =
        |own: Node<'_>| set_elements(function, own).and_then(|_| left_out(function, own.parent()?));
    let by = skips(first)?;
    named.all(|own| skips(own) == Some(by)).then_some(())?;
    let part = Filling {
        call: span(first),
        put: Put::Rounds,
    };
    let what = in_part(function, &local.name, &part);
    let place = (local.declared, "declared without a value");
    Some(left(function, access, (&local.name, &what), place))
}

/// The number of rounds, where an element of the array is set in each round of a loop that
/// is no constant number of them.
fn counted(function: &FunctionContext<'_>, array: Node<'_>) -> Option<String> {
    let element = array
        .parent()
        .filter(|own| own.known_kind() == "subscript_expression")?;
    let index = Expression::of(function.context, element.part("index")?);
    let index = index.uncast().1.name()?;
    let mut around = std::iter::successors(Some(element), Node::parent);
    let set = around.find(|own| own.known_kind() == "assignment_expression")?;
    set.part("left")
        .filter(|left| span(*left).contains(span(array)))?;
    let mut around = std::iter::successors(Some(set), Node::parent);
    let around = around.find(|own| own.known_kind() == "for_statement")?;
    let asked = Expression::of(function.context, around.part("condition")?);
    let Term::Binary(left, operator, right) = &asked.term else {
        return None;
    };
    let counts = operator == "<" && left.name() == Some(index);
    let constant = space::bytes(function, right).is_some() || right.call().is_some();
    (counts && !constant).then(|| function.file.plain(right.span))
}

/// Whether no more is asked of it than its size.
fn is_sized(node: Node<'_>) -> bool {
    let around = std::iter::successors(Some(node), Node::parent);
    around
        .take(3)
        .any(|own| own.known_kind() == "sizeof_expression")
}

/// Whether as many bytes are copied as a variable says, which is made of the struct's size
/// or compared with it: that may be all.
fn is_bounded(function: &FunctionContext<'_>, access: &Access<'_>, local: &Local) -> bool {
    let Some(count) = access.bytes.as_ref().and_then(Expression::name) else {
        return false;
    };
    let sized = |part: &Expression| local.is_sized(part);
    let names_size = |place: Span| {
        let whole = function.expression(place);
        whole.is_some_and(|whole| whole.any(&sized))
    };
    let graph = function.graph;
    let mut made = graph.assignments();
    let mut compared = graph.comparisons.iter();
    made.any(|(name, value)| name == count && names_size(value))
        || compared.any(|at| graph.names(*at, count) && names_size(*at))
}

/// Whether every way to the copy passes a call that sets all of the struct.
fn is_cleared(function: &FunctionContext<'_>, access: &Access<'_>, filled: &Filled) -> bool {
    let nodes = || function.graph.nodes.iter().enumerate();
    let clears = nodes().find_map(|(_, node)| match &node.action {
        Action::Call(call) if filled.cleared.contains(&node.span) => call.clears,
        _ => None,
    });
    let Some(place) = clears else {
        return false;
    };
    let own = |at: usize| function.place(at) == access.span;
    let mut here = function.states().filter(|(at, _)| own(*at));
    here.all(|(_, state)| state.cleared.contains(&place))
}

/// Whether the struct was read from the user as a whole, or cleared, on every way to the copy.
fn is_fetched(function: &FunctionContext<'_>, access: &Access<'_>, filled: &Filled) -> bool {
    let places = || filled.fetched.iter().chain(&filled.cleared).copied();
    !filled.fetched.is_empty() && {
        let places: Vec<Span> = places().collect();
        function.graph.passes(&places, access.span)
    }
}

fn judged(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    local: &Local,
    filled: &Filled,
) -> Option<Violation> {
    let name = &local.base_type;
    let (what, confidence) = match unset(function, name, filled) {
        Ok(what) => (what?, Confidence::High),
        Err(error) => (
            format!("what lay on the stack may go with it: {error}"),
            Confidence::Low,
        ),
    };
    let file = function.file;
    let message = format!(
        "{name} goes to the user, but {what}{}",
        past(function, filled)
    );
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation.confidence = confidence;
    if let Some(declared) = declaration(function, local) {
        violation
            .related
            .push(file.mark(span(declared), "declared without a value"));
        violation.suggestion = cleared(function, declared, local);
    }
    Some(violation)
}

/// So many mentions of a struct are looked through for what other ways do with it.
const FEW: usize = 24;

/// Whether a struct goes out by its own size, and is named a few times before.
fn is_one_of_few(function: &FunctionContext<'_>, local: &Local, access: &Access<'_>) -> bool {
    let sized = access.bytes.as_ref().is_some_and(|own| local.is_sized(own));
    sized
        && local.base_type.starts_with("struct ")
        && mentions_before(function, local, access).count() <= FEW
}

/// What is never set of the struct where nothing counts that leads elsewhere: another case of a
/// `switch` may set what this one does not.
fn apart(function: &FunctionContext<'_>, access: &Access<'_>, local: &Local) -> Option<Violation> {
    let others = elsewhere(
        function,
        mentions_before(function, local, access),
        access.span,
    );
    (!others.is_empty()).then_some(())?;
    function.pays()?;
    let filled = filled_past(function, local, access, |own| others.contains(&own));
    let known = filled.cleared.is_empty() && filled.fetched.is_empty();
    let any = !filled.members.is_empty() || !filled.partly.is_empty();
    let known = known && any && !filled.elsewhere && !filled.handed;
    let what = known.then(|| unset(function, &local.base_type, &filled));
    let Some(Ok(Some(what))) = what else {
        return None;
    };
    let place = (local.declared, "declared without a value");
    Some(left(function, access, (&local.base_type, &what), place))
}

/// What is never set of the struct on a way through one arm of what decides over the rest.
fn on_one_arm<'t>(
    function: &FunctionContext<'t>,
    access: &Access<'_>,
    (local, named): (&Local, impl Iterator<Item = Node<'t>>),
    place: (Span, &str),
    filled: impl Fn(&Arm) -> Filled,
) -> Option<Violation> {
    let named: Vec<Node<'t>> = named.collect();
    let ends = (place.0, access.span);
    let mut all = arms(function, named.iter().copied(), ends);
    all.extend(other_side(function, named.iter().copied(), ends));
    if !all.is_empty() {
        function.pays()?;
    }
    all.iter().find_map(|arm| {
        let filled = filled(arm);
        let known = filled.cleared.is_empty() && filled.fetched.is_empty();
        if !known || filled.elsewhere || filled.handed {
            return None;
        }
        let Ok(Some(what)) = unset(function, &local.base_type, &filled) else {
            return None;
        };
        let what = format!("{what} on a way past line {}", function.line(arm.decides));
        Some(left(function, access, (&local.base_type, &what), place))
    })
}

/// Where it is set, as far as it is.
fn past(function: &FunctionContext<'_>, filled: &Filled) -> String {
    let line = |span: &Span| function.line(*span);
    match (filled.cleared.first(), &filled.front) {
        (Some(call), _) => format!(" on a way past line {}, which clears it", line(call)),
        (None, Some((call, count))) => {
            format!(": line {} sets {count} bytes of it", line(call))
        }
        (None, None) => String::new(),
    }
}

/// What of the struct nobody has set, on the first machine on which that is so.
fn unset(
    function: &FunctionContext<'_>,
    name: &str,
    filled: &Filled,
) -> Result<Option<String>, LayoutError> {
    let types = function.file.types;
    let mut unknown = None;
    for machine in types.machines_with(name) {
        match types.layout_on(name, machine) {
            Ok(of) if !matches!(of.shape, Shape::Struct(_) | Shape::Union(_)) => return Ok(None),
            Ok(of) => {
                if let Some(what) = missing(function, &of, machine, filled) {
                    return Ok(Some(what));
                }
            }
            Err(error) => unknown = unknown.or(Some(error)),
        }
    }
    match unknown {
        Some(error) if name.starts_with("struct ") => Err(error),
        _ => Ok(None),
    }
}

/// What of a type nobody has set; nothing if a member has another name there.
fn missing(
    function: &FunctionContext<'_>,
    of: &Type,
    machine: &Machine,
    filled: &Filled,
) -> Option<String> {
    let front = filled.front.map_or(0, |(_, bytes)| bytes);
    let members = filled.members.iter().map(String::as_str);
    let Ok(left) = of.uncovered(front, members) else {
        return None;
    };
    let partly = |name: &&String| filled.partly.iter().find(|(own, _)| own == *name);
    let never: Vec<&String> = left
        .members
        .iter()
        .filter(|name| partly(name).is_none())
        .collect();
    if let Some(first) = never.first() {
        return Some(match never.len() {
            1 => format!("its member {first} is never set"),
            n => format!("{n} of its members are never set, {first} the first"),
        });
    }
    if let Some((name, own)) = left.members.iter().find_map(|name| partly(&name)) {
        return Some(in_part(function, name, own));
    }
    let (from, to) = *left.gaps.first()?;
    let place = match machine.long {
        8 => "64-bit".to_owned(),
        _ => machine.name.clone(),
    };
    Some(format!(
        "nobody set the {} bytes of padding at offset {} ({place})",
        (to - from).div_ceil(8),
        from / 8
    ))
}

/// What a call leaves of an object that it sets in part.
fn in_part(function: &FunctionContext<'_>, name: &str, own: &Filling) -> String {
    let line = function.line(own.call);
    match own.put {
        Put::Bytes(bytes) => {
            format!("line {line} sets {bytes} bytes of {name}, and nobody the rest")
        }
        Put::Elements(count) => format!(
            "{count} of the elements of {name} are set, each by its number, and nobody sets the rest"
        ),
        Put::Rounds => format!(
            "line {line} sets an element of {name} in some rounds alone, and nobody sets the others"
        ),
        Put::Counted => format!(
            "line {line} sets as many bytes of {name} as there are, and nobody sets the rest"
        ),
        Put::String | Put::All => {
            format!("line {line} puts a string into {name}, and nobody sets what lies behind it")
        }
    }
}

fn declaration<'t>(function: &FunctionContext<'t>, local: &Local) -> Option<Node<'t>> {
    let mut found = None;
    function.each_of(&["declaration"], |node| {
        let declares = node.known_kind() == "declaration"
            && node
                .part("declarator")
                .is_some_and(|d| root_of(function.context, d) == local.name);
        if declares && found.is_none() && local.scope.contains(span(node)) {
            found = Some(node);
        }
    });
    found
}

/// `struct x v;` alone gets a memset() behind the declarations of its block.
fn cleared(
    function: &FunctionContext<'_>,
    declared: Node<'_>,
    local: &Local,
) -> Option<Suggestion> {
    let mut next = declared.next_named_sibling()?;
    while matches!(next.known_kind(), "declaration" | "comment") {
        next = next.next_named_sibling()?;
    }
    let at = next.start_byte();
    let line = function.file.lines.line_start(at);
    let indent = Span::new(line, at).text(function.file.text);
    indent.trim().is_empty().then(|| Suggestion {
        span: Span::new(at, at),
        text: format!("memset(&{0}, 0, sizeof({0}));\n{indent}", local.name),
        why: "clear all of it first".to_owned(),
    })
}
