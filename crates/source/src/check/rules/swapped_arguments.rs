use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::accesses::Access;
use crate::check::callee::look_into;
use crate::check::context::FunctionContext;
use crate::check::followed::{followed, followed_to};
use crate::check::forced::{cast_place, kernels_place};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::declared_type;
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::summary::parameter;
use crate::check::tokens::{parameter_spans, parameters};
use crate::check::two_sided::unasked;
use crate::check::unbounded::users_within;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "swapped-arguments",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the user's pointer stands where the kernel's belongs, and the other way around",
    why: "copy_from_user() and get_user() have the kernel's side first, copy_to_user() the user's: swapped, \
          the address of the kernel fails the range check, and the user's is gone through by hand.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(
        function
            .accesses
            .iter()
            .chain(function.through)
            .filter_map(|own| {
                swapped(function, own)
                    .or_else(|| as_both(function, own))
                    .or_else(|| of_either(function, own))
            }),
    );
    sizes(function, out);
    if has_cast(function) {
        let all = function.calls.iter();
        out.extend(all.filter_map(|call| handed(function, *call)));
        function.each_of(&["assignment_expression"], |node| {
            out.extend(kept(function, node));
        });
    }
}

/// Whether a cast makes anything the user's that may be the kernel's own: an address, an array, a
/// member.
fn has_cast(function: &FunctionContext<'_>) -> bool {
    let mut found = false;
    function.each_of(&["cast_expression"], |node| {
        let Some(value) = node.part("value").map(bare).filter(|_| !found) else {
            return;
        };
        let own = match value.known_kind() {
            "pointer_expression" | "field_expression" | "cast_expression" => true,
            "identifier" => {
                let local = function.graph.local(&function.context.written(value));
                local.is_some_and(|own| own.array)
            }
            _ => false,
        };
        let place = Span::new(node.start_byte(), value.start_byte());
        let mut words = function.file.tokens_in(place).iter();
        found = own && words.any(|own| own.span.of(function.file.text) == b"__user");
    });
    found
}

/// A pointer that the function follows, and that an access is given for one of the user's.
fn as_both(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = followed(function, access).or_else(|| followed_to(function, access))?;
    let (file, name) = (function.file, &own.name);
    let given = match own.place {
        true => "a place that it leads to",
        false => "it",
    };
    let message = format!(
        "{name} is followed as the kernel's on line {}, and {}() is given {given} for an address of the user's",
        function.line(own.at),
        access.word.name
    );
    let mut violation = file.violation(&INFO, access.span, "the kernel's", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.at, "followed here"));
    Some(violation)
}

/// An address that may be the kernel's, and that nothing asks for whose it is.
fn of_either(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = unasked(function, access)?;
    let file = function.file;
    let message = format!(
        "{} may hold an address of the kernel's, as its {} says, which nothing here looks at",
        own.holder, own.teller
    );
    let mut violation = file.violation(&INFO, access.span, "taken for the user's", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// An address of the kernel's that a cast makes the user's, by force or not, and that a function is
/// given which is declared to take one of the user's.
fn handed(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let (file, name) = (function.file, function.callee(call)?);
    let mut accesses = function.accesses.iter().chain(function.through);
    let known = file.words.knows(name) || file.words.addresses(name);
    let never = || file.body_named(name).is_none() && file.words.never_takes_users(name);
    if known || never() || accesses.any(|own| own.node == call) {
        return None;
    }
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let mut places = given.iter().enumerate().filter_map(|(at, own)| {
        let only = own.name().and_then(|name| function.graph.only_value(name));
        let value = only.and_then(|at| function.expression(at));
        let place = cast_place(function, value.as_deref().unwrap_or(own), true)?;
        Some((at, own, place))
    });
    let (at, own, place) = places.next()?;
    // Last what takes longest.
    takes_users(function, name, at).then_some(())?;
    let message = format!(
        "{} lies in the kernel's memory, and {name}() is declared to take an address of the user's",
        file.plain(place.span)
    );
    let mut violation = file.violation(&INFO, own.span, "the kernel's", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// An address of the kernel's that a cast makes the user's, and that a member keeps: whoever is
/// given what holds it takes it for one.
fn kept(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let whole = function.expression_of(node);
    let Term::Assignment(left, operator, value) = &whole.term else {
        return None;
    };
    let member = operator == "=" && matches!(left.term, Term::Member { .. });
    let place = cast_place(function, value, false).filter(|_| member)?;
    let file = function.file;
    let message = format!(
        "{} lies in the kernel's memory, and a cast makes its address the user's for {}",
        file.plain(place.span),
        file.plain(left.span)
    );
    let mut violation = file.violation(&INFO, value.span, "the kernel's", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// Whether a function is declared to take an address of the user's in a place.
fn takes_users(function: &FunctionContext<'_>, name: &str, at: usize) -> bool {
    let file = function.file;
    let Some(body) = file.body_named(name) else {
        let takes = file.signature(name);
        return takes.is_some_and(|takes| {
            let own = takes.takes.get(at);
            own.is_some_and(|own| own.pointer && own.users)
        });
    };
    let places = parameter_spans(file.tokens, body);
    let place = places.and_then(|places| places.get(at).copied());
    place.is_some_and(|place| {
        let mut own = file.tokens_in(place).iter();
        own.any(|own| own.span.of(file.text) == b"__user")
    })
}

/// The size that the kernel's object has, where that of the program's belongs.
fn sizes(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        let name = answer::text(function.called(*call));
        let places = name.and_then(|name| Some((name, function.file.words.sizes(name)?)));
        let Some((name, places)) = places else {
            continue;
        };
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let (Some(kernel), Some(user)) = (given.get(places.kernel), given.get(places.user)) else {
            continue;
        };
        let swapped = is_swapped(function, kernel, user)
            || is_users_for_kernels(function, (kernel, user), span(*call));
        if swapped || are_swapped_by_callers(function, kernel, user) {
            let message = format!(
                "{} is how large the kernel's object is, and is given to {name}() as the size of the user's",
                function.file.plain(user.span)
            );
            let place = span(*call);
            out.push(function.file.violation(&INFO, place, "swapped", message));
        }
    }
}

/// Whether what the program's object is said to have is a constant, and the kernel's is not.
fn is_swapped(function: &FunctionContext<'_>, kernel: &Expression, user: &Expression) -> bool {
    let constant = |own: &Expression| {
        let size = matches!(own.uncast().1.term, Term::SizeOf(_) | Term::SizeOfType(_));
        size || space::bytes(function, own).is_some()
    };
    constant(user) && !constant(kernel)
}

/// Whether the program has said what the kernel's object is said to have, and not what its own is.
fn is_users_for_kernels(
    function: &FunctionContext<'_>,
    (kernel, user): (&Expression, &Expression),
    at: Span,
) -> bool {
    let users = |own: &Expression| users_within(function, own.uncast().1, at).is_some();
    // Of what the function is given nobody knows whose it is.
    let kept = matches!(user.uncast().1.term, Term::Member { arrow: true, .. })
        || space::bytes(function, user).is_some();
    kept && kernel.uncast().1 != user.uncast().1 && users(kernel) && !users(user)
}

/// The same of what all callers in the file give for two parameters.
fn are_swapped_by_callers(
    function: &FunctionContext<'_>,
    kernel: &Expression,
    user: &Expression,
) -> bool {
    let file = function.file;
    let Some(names) = parameters(file.text, file.tokens, function.body) else {
        return false;
    };
    let place = |own: &Expression| parameter(function, &names, own);
    let (Some(kernel), Some(user)) = (place(kernel), place(user)) else {
        return false;
    };
    let mut given = Vec::new();
    for caller in file.callers(function.body) {
        let own = look_into(function, &caller.name, |caller| {
            let calls = caller.calls.iter().filter_map(|call| {
                let whole = caller.expression_of(*call);
                let (name, given) = whole.call()?;
                let own = name == function.body.name;
                let pair = own.then(|| Some((given.get(kernel)?, given.get(user)?)))?;
                Some(pair.is_some_and(|(kernel, user)| is_swapped(caller, kernel, user)))
            });
            Some(calls.collect::<Vec<bool>>())
        });
        let Some(own) = own else { return false };
        given.extend(own);
    }
    !given.is_empty() && given.into_iter().all(|own| own)
}

fn swapped(function: &FunctionContext<'_>, own: &Access<'_>) -> Option<Violation> {
    let address = function.expression(own.user)?;
    let message = both(function, own, &address)
        .or_else(|| object(function, own, &address))
        .or_else(|| users(function, own));
    let file = function.file;
    let Some(message) = message else {
        let mut violation = file.violation(&INFO, own.span, "the kernel's", cast(function, own)?);
        violation.confidence = Confidence::Medium;
        return Some(violation);
    };
    Some(file.violation(&INFO, own.span, "swapped", message))
}

/// An address of the kernel's that a cast makes the user's.
fn cast(function: &FunctionContext<'_>, own: &Access<'_>) -> Option<String> {
    let place = kernels_place(function, own)?;
    Some(format!(
        "{} lies in the kernel's memory, and a cast gives its address to {}() as the user's",
        function.file.plain(place.span),
        own.word.name
    ))
}

/// Two variables, each on the other's side.
fn both(function: &FunctionContext<'_>, own: &Access<'_>, address: &Expression) -> Option<String> {
    let value = Expression::of(function.context, own.value_node);
    let value = value
        .name()
        .filter(|name| declared_type(function, name).is_some())?;
    let address = address.name().filter(|name| is_kernels(function, name))?;
    Some(format!(
        "{value} is the user's, and is given to {}() as the kernel's; {address} as the user's",
        own.word.name
    ))
}

/// A variable of the function itself, or its place, where the user's address belongs.
fn object(
    function: &FunctionContext<'_>,
    own: &Access<'_>,
    address: &Expression,
) -> Option<String> {
    let known = match &address.term {
        Term::Address(place) => lies_here(function, place, own.span),
        Term::Name(name) => is_array(function, name, own.span),
        _ => false,
    };
    let written = function.file.plain(address.span);
    known.then(|| {
        format!(
            "{written} is the kernel's own, and is given to {}() as the user's",
            own.word.name
        )
    })
}

/// An address of the user's where a copy has the kernel's.
fn users(function: &FunctionContext<'_>, own: &Access<'_>) -> Option<String> {
    own.count?;
    let value = Expression::of(function.context, own.value_node);
    space::is_users(function, &value).then(|| {
        format!(
            "{} is an address of the user's, and is given to {}() as the kernel's",
            function.file.plain(own.value),
            own.word.name
        )
    })
}

/// Whether the place is a variable of the function or a part of one, behind no pointer.
fn lies_here(function: &FunctionContext<'_>, place: &Expression, at: Span) -> bool {
    match &place.term {
        Term::Name(name) => function.local_at(name, at).is_some() || function.is_parameter(name),
        Term::Member {
            holder,
            arrow: false,
            ..
        } => lies_here(function, holder, at),
        Term::Element { array, .. } => array
            .name()
            .is_some_and(|name| is_array(function, name, at)),
        _ => false,
    }
}

fn is_array(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let local = function.local_at(name, at);
    local.is_some_and(|local| local.array)
}

/// Whether the variable is declared here, and not as the user's.
fn is_kernels(function: &FunctionContext<'_>, name: &str) -> bool {
    let known = function.graph.local(name).is_some() || function.is_parameter(name);
    known && declared_type(function, name).is_none()
}
