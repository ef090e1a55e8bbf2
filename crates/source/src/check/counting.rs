//! Whether a variable counts elements or bytes, as the function uses it.

use tree_sitter::Node as Syntax;

use crate::compared::orders;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::{extent, space};

/// Whether the variable is how many elements a pointer leads to, which are larger than a
/// byte: so often a loop goes around that accesses one, or it is multiplied with a size.
pub(crate) fn is_of_elements(function: &FunctionContext<'_>, count: &str, pointer: &str) -> bool {
    let size = extent::element(function, pointer).or_else(|| element(function, pointer));
    let larger = size.is_some_and(|size| size > 1);
    larger
        && !is_of_bytes(function, count)
        && (is_limit_of(function, count, pointer)
            || is_added(function, pointer, count)
            || is_round(function, count, pointer)
            || is_unlimited(function, count, pointer)
            || is_times_a_size(function, count)
            || is_times_a_size_below(function, count))
}

/// How large what a pointer leads to is, which need not be declared as the user's where an access is
/// given it.
fn element(function: &FunctionContext<'_>, pointer: &str) -> Option<u64> {
    let mut accesses = function.accesses.iter();
    let access = accesses.find(|own| own.user_root == pointer)?;
    let user = function.expression(access.user)?;
    space::element(function, user.uncast().1.root())
}

/// Whether an element is accessed in each round of a loop, and nothing there asks how many there were:
/// what would be a number of bytes says no more than the rounds, each of which goes on by an element.
fn is_unlimited(function: &FunctionContext<'_>, count: &str, pointer: &str) -> bool {
    let mut own = function.accesses.iter();
    let access = own.find(|own| own.user_root == pointer && function.leads(own.span, own.span));
    let Some(access) = access else { return false };
    let address = access.address.uncast().1;
    let plain = (address.name() == Some(pointer)).then_some(pointer);
    let Some(index) = picked(address, pointer).or(plain) else {
        return false;
    };
    let graph = function.graph;
    let own = graph.local(count).is_some() || function.is_parameter(count);
    // What is compared there may say how many rounds there are.
    let round =
        |at: &Span| function.comes_to(access.span, *at) && function.comes_to(*at, access.span);
    let mut comparisons = graph.comparisons.iter();
    own && goes_by_one(function, index)
        && !comparisons.any(|at| graph.names(*at, index) || round(at))
        && !is_divided(function, count)
}

/// Whether a variable goes on by one alone, wherever it does.
fn goes_by_one(function: &FunctionContext<'_>, index: &str) -> bool {
    let graph = function.graph;
    let all = graph.effects.iter().filter(|own| {
        matches!(own.kind, EffectKind::Write(_))
            && graph.name_of(own) == index
            && graph.is_whole(own)
    });
    let mut steps = all.filter_map(|own| match &own.kind {
        EffectKind::Write(write) if write.next || write.compound => {
            Some(is_one(function, own.span))
        }
        _ => None,
    });
    let first = steps.next();
    first == Some(true) && steps.all(|one| one)
}

/// Whether the function divides or shifts the variable.
fn is_divided(function: &FunctionContext<'_>, count: &str) -> bool {
    any(function, &|own| match &own.term {
        Term::Binary(left, operator, _) => {
            matches!(operator.as_str(), "/" | "%" | ">>") && names(left, count)
        }
        Term::Assignment(left, operator, _) => {
            matches!(operator.as_str(), "/=" | ">>=" | "-=") && names(left, count)
        }
        _ => false,
    })
}

/// Whether the function multiplies the variable with a size, and takes it for bytes nowhere.
pub(crate) fn is_multiplied(function: &FunctionContext<'_>, count: &str) -> bool {
    !is_of_bytes(function, count) && is_times_a_size(function, count)
}

/// Whether a function of the file that is given the variable multiplies it with a size.
fn is_times_a_size_below(function: &FunctionContext<'_>, count: &str) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let Some((name, given)) = whole.call() else {
            return false;
        };
        let at = given.iter().position(|own| own.name() == Some(count));
        let below = at.filter(|_| function.file.body_named(name).is_some());
        let below = below.and_then(|at| {
            look_into(function, name, |callee| {
                let own = parameter(callee, at)?;
                Some(!is_of_bytes(callee, &own) && is_times_a_size(callee, &own))
            })
        });
        below == Some(true)
    })
}

/// Whether the variable is made of a size or divided by one, or says how many bytes are
/// copied.
fn is_of_bytes(function: &FunctionContext<'_>, count: &str) -> bool {
    let mut copies = function.accesses.iter();
    let copied = copies.any(|own| own.bytes.as_ref().and_then(Expression::name) == Some(count));
    let made = |value: Span| {
        function
            .expression(value)
            .is_some_and(|own| own.any(&is_size))
    };
    let mut values = function.graph.assignments();
    copied
        || values.any(|(name, value)| name == count && made(value))
        || any(function, &|own| match &own.term {
            Term::Binary(left, operator, right) => {
                let divided = matches!(operator.as_str(), "/" | "%");
                divided && names(left, count) && is_size(right)
            }
            Term::Assignment(left, operator, right) => {
                let stepped = matches!(operator.as_str(), "-=" | "+=" | "/=" | "*=");
                stepped && left.name() == Some(count) && is_size(right)
            }
            _ => false,
        })
}

/// `n * sizeof(x)`, `n > MAX / sizeof(x)`, `kcalloc(n, sizeof(x))`
fn is_times_a_size(function: &FunctionContext<'_>, count: &str) -> bool {
    any(function, &|own| match &own.term {
        Term::Binary(left, operator, right) => match operator.as_str() {
            "*" => {
                left.name() == Some(count) && is_size(right)
                    || right.name() == Some(count) && is_size(left)
            }
            operator if orders(operator) => {
                left.name() == Some(count) && is_quotient(right)
                    || right.name() == Some(count) && is_quotient(left)
            }
            _ => false,
        },
        Term::Call(..) => own.call().is_some_and(|(name, arguments)| {
            let at = function.file.words.elements(name);
            // `kmalloc_array(bytes, 1)`
            let one = |own: &Expression| matches!(&own.term, Term::Number(one) if one == "1");
            let given =
                at.is_some_and(|at| arguments.get(at).and_then(Expression::name) == Some(count));
            given && !arguments.iter().any(one)
        }),
        _ => false,
    })
}

/// Whether a quotient by a size is a part of it.
fn is_quotient(own: &Expression) -> bool {
    own.any(&|part| match &part.term {
        Term::Binary(_, operator, right) => operator == "/" && is_size(right),
        _ => false,
    })
}

fn is_size(own: &Expression) -> bool {
    matches!(own.uncast().1.term, Term::SizeOf(_) | Term::SizeOfType(_))
}

fn names(own: &Expression, name: &str) -> bool {
    own.any(&|part| part.name() == Some(name))
}

/// Whether any expression of the function is so.
fn any(function: &FunctionContext<'_>, is: &dyn Fn(&Expression) -> bool) -> bool {
    const KINDS: [&str; 3] = [
        "binary_expression",
        "call_expression",
        "assignment_expression",
    ];
    let mut found = false;
    function.each_of(&KINDS, |node| {
        if !found && KINDS.contains(&node.known_kind()) {
            found = is(&function.expression_of(node));
        }
    });
    found
}

/// Whether an access picks an element by what a loop compares with the variable.
fn is_limit_of(function: &FunctionContext<'_>, count: &str, pointer: &str) -> bool {
    let mut own = function
        .accesses
        .iter()
        .filter(|own| own.user_root == pointer);
    own.any(|access| {
        let index = picked(access.address.uncast().1, pointer);
        index.is_some_and(|index| is_limited(function, access.span, (index, count)))
    })
}

/// Whether a loop in which an element is accessed goes around so often.
fn is_round(function: &FunctionContext<'_>, count: &str, pointer: &str) -> bool {
    let mut found = false;
    function.each_of(
        &["for_statement", "while_statement", "do_statement"],
        |node| {
            let looped = matches!(
                node.known_kind(),
                "for_statement" | "while_statement" | "do_statement"
            );
            let condition = node.part("condition").filter(|_| looped && !found);
            let mut own = function.accesses.iter();
            let accesses = own.any(|own| own.user_root == pointer && span(node).contains(own.span));
            if let Some(condition) = condition.filter(|_| accesses) {
                let condition = Expression::of(function.context, condition);
                found =
                    counter(&condition, count).is_some_and(|by| steps_by_one(function, node, by));
            }
        },
    );
    found
}

/// What goes up or down where a loop goes around `count` times: `n--`, `n > 0`, `i < n`.
fn counter<'e>(condition: &'e Expression, count: &str) -> Option<&'e str> {
    match &condition.term {
        Term::Step(own) => own.name().filter(|own| *own == count),
        Term::Name(own) => Some(own.as_str()).filter(|own| *own == count),
        Term::Binary(left, operator, right) => match operator.as_str() {
            "&&" => counter(left, count).or_else(|| counter(right, count)),
            "<" | "!=" if right.name() == Some(count) => left.name(),
            ">" | "!=" if right.is_zero() => counter(left, count),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a loop changes the variable, and by one alone.
fn steps_by_one(function: &FunctionContext<'_>, looped: Syntax<'_>, variable: &str) -> bool {
    let parts = ["condition", "update", "body"].map(|part| looped.part(part).map(span));
    let inside = |at: Span| parts.iter().flatten().any(|part| part.contains(at));
    let graph = function.graph;
    let writes = graph
        .effects
        .iter()
        .filter(|own| matches!(own.kind, EffectKind::Write(_)) && graph.name_of(own) == variable);
    let mut writes = writes.filter(|own| inside(own.span)).peekable();
    writes.peek().is_some() && writes.all(|own| is_one(function, own.span))
}

/// `n++`, `n += 1`
fn is_one(function: &FunctionContext<'_>, at: Span) -> bool {
    let own = function.expression(at);
    own.is_some_and(|own| match &own.term {
        Term::Step(_) => true,
        Term::Assignment(_, operator, by) => {
            let moves = matches!(operator.as_str(), "+=" | "-=");
            moves && matches!(&by.term, Term::Number(one) if one == "1")
        }
        _ => false,
    })
}

/// Whether the loop around a place compares the one variable with the other.
fn is_limited(function: &FunctionContext<'_>, place: Span, (index, count): (&str, &str)) -> bool {
    let graph = function.graph;
    let mut node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let mut limits = graph.comparisons.iter();
    while let Some(own) = node.filter(|own| own.part("condition").is_none() || is_if(*own)) {
        node = function.above(own);
    }
    let condition = node.and_then(|around| around.part("condition")).map(span);
    limits.any(|at| {
        let limit = condition.is_some_and(|condition| condition.contains(*at));
        limit && graph.names(*at, index) && graph.names(*at, count)
    })
}

fn is_if(node: Syntax<'_>) -> bool {
    matches!(
        node.known_kind(),
        "if_statement" | "conditional_expression" | "switch_statement"
    )
}

/// Whether a number is added to the pointer, as only a number of elements is.
fn is_added(function: &FunctionContext<'_>, pointer: &str, count: &str) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let sum = matches!(function.context.operator(node), b"+" | b"-");
        if sum && node.known_kind() == "binary_expression" {
            let whole = function.expression_of(node);
            let named = |part: &Expression| part.name() == Some(count);
            found |= added_to(&whole, pointer) && whole.any(&named);
        }
    });
    found
}

/// Whether an expression is the pointer with something added.
fn added_to(whole: &Expression, pointer: &str) -> bool {
    match &whole.term {
        Term::Binary(left, operator, _) if operator == "+" || operator == "-" => {
            left.name() == Some(pointer) || added_to(left, pointer)
        }
        _ => false,
    }
}

/// The variable that an index is, which may go on there: `i++`.
fn variable(index: &Expression) -> Option<&str> {
    match &index.uncast().1.term {
        Term::Step(of) => of.name(),
        _ => index.name(),
    }
}

/// The variable that picks the element: `i` of `&p[i].a`.
fn picked<'e>(address: &'e Expression, root: &str) -> Option<&'e str> {
    let element = |place: &'e Expression| match &place.term {
        Term::Element { array, index } if array.name() == Some(root) => variable(index),
        _ => None,
    };
    let mut place = match &address.term {
        Term::Address(place) => &**place,
        // `p + i`
        Term::Binary(base, operator, index) if operator == "+" && base.name() == Some(root) => {
            return variable(index);
        }
        _ => return None,
    };
    while let Term::Member {
        holder,
        arrow: false,
        ..
    } = &place.term
    {
        place = holder;
    }
    element(place)
}
