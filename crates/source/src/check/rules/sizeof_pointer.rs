use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::{declared_type, file_array_type, file_scalar_type};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::lex::Token;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "sizeof-pointer",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "what a pointer points to is copied, cleared or checked by the size of the pointer",
    why: "sizeof(p) is 4 or 8, whatever p points to: the rest is not copied, or goes out with what it held \
          before. sizeof(*p) was meant. gcc warns of memset() and memcpy(), and of no copy from or to a user.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let copies = function.accesses.iter().chain(function.through);
    let copies = copies.filter_map(|access| {
        let count = access.bytes.as_ref()?;
        let value = function.expression_of(access.value_node);
        let told = wrong(function, access.node, &access.word.name, &value, count);
        // `copy_from_user(&next, next, sizeof(next))` walks from pointer to pointer.
        let walks = matches!(&value.term, Term::Address(of) if of.name() == access.address.name());
        told.or_else(|| {
            let address = function.expression(access.user).filter(|_| !walks)?;
            wrong(function, access.node, &access.word.name, &address, count).filter(|_| {
                address.uncast().1.name().is_none() || !is_as_large(function, &value, count)
            })
        })
    });
    let shown = function.shown();
    let shown = shown.iter().filter_map(|access| {
        let value = function.expression_of(access.value_node);
        wrong(
            function,
            access.node,
            &access.word.name,
            &value,
            access.bytes.as_ref()?,
        )
    });
    let clears = function
        .calls
        .iter()
        .filter_map(|call| cleared(function, *call));
    let calls = || function.calls.iter();
    let checks = calls().filter_map(|call| checked(function, *call));
    let handed = calls().filter_map(|call| handed(function, *call));
    let taken = calls().filter_map(|call| taken(function, *call));
    let allocated = calls().filter_map(|call| allocated(function, *call));
    let filled = calls().filter_map(|call| filled(function, *call));
    out.extend(
        copies
            .chain(shown)
            .chain(filled)
            .chain(clears)
            .chain(checks)
            .chain(handed)
            .chain(taken)
            .chain(allocated),
    );
    out.extend(compared(function));
}

/// What a call fills that knows by itself where the user's bytes are, or begins at one of them:
/// `simple_write_to_buffer(p, sizeof(p), pos, from, n)`.
fn filled(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let words = function.file.words;
    let from = words.results().fills_from(name);
    let from = from.map(|own| (own.object, own.room));
    let (object, count) = from.or_else(|| Some((words.fetches(name)?, words.fetched(name)?)))?;
    words.access(name).is_none().then_some(())?;
    let object = argument(function, call, object)?;
    wrong(
        function,
        call,
        name,
        &object,
        &argument(function, call, count)?,
    )
}

/// `p = memdup_user(from, sizeof(p))`
fn taken(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let copied = function.duplicates(name)?;
    let target = function.taker(call)?;
    let count = argument(function, call, copied.count)?;
    wrong(function, call, name, &target, &count)
}

/// `p = kmalloc(sizeof(p) + n, …)`, the size by a variable or not.
fn allocated(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let own = function.file.words.allocates(name)?;
    let size = argument(function, call, own.size).filter(|_| own.object.is_none())?;
    let target = function.taker(call)?;
    let value = size.name().and_then(|name| {
        let value = function.graph.only_value(name)?;
        function.expression(value)
    });
    let size = value.as_deref().unwrap_or(&size);
    match &size.uncast().1.term {
        Term::Binary(left, operator, right) if operator == "+" => {
            let wrong = |side: &Expression| wrong(function, call, name, &target, side);
            wrong(left).or_else(|| wrong(right))
        }
        _ => wrong(function, call, name, &target, size),
    }
}

/// `if (n != sizeof(p))` of the `n` bytes that are copied to where `p` leads, or from there.
fn compared(function: &FunctionContext<'_>) -> Vec<Violation> {
    let mut asked: Vec<(Node<'_>, Expression, Expression)> = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        let compares = compares(function.context.operator(node));
        // What the text alone says comes first.
        let sized = ["left", "right"].into_iter().any(|side| {
            let side = node.part(side);
            side.is_some_and(|own| own.known_kind() == "sizeof_expression")
        });
        if !compares || !sized {
            return;
        }
        if let Term::Binary(left, _, right) = &function.expression_of(node).term {
            asked.push((node, (**left).clone(), (**right).clone()));
        }
    });
    let own = asked.iter().filter_map(|(node, left, right)| {
        let (number, size) = match &left.term {
            Term::SizeOf(_) => (right, left),
            _ => (left, right),
        };
        let number = number.uncast().1;
        let copies = function.accesses.iter().filter_map(|access| {
            let same = access.bytes.as_ref()?.uncast().1 == number;
            same.then(|| (*function.expression_of(access.value_node)).clone())
        });
        let duplicates = function.calls.iter().filter_map(|call| {
            let copied = function.duplicates(function.callee(*call)?)?;
            let count = argument(function, *call, copied.count)?;
            (count.uncast().1 == number).then(|| function.taker(*call))?
        });
        let mut objects = copies.chain(duplicates);
        objects.find_map(|object| held_against(function, *node, (&object, size)))
    });
    own.collect()
}

/// A number of bytes of an object that is held against the size of the pointer to it.
fn held_against(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    (object, size): (&Expression, &Expression),
) -> Option<Violation> {
    let file = function.file;
    let told = pointers_size(function, node, object, size)?;
    let comparison = file.plain(span(node));
    let message = format!("{comparison} holds the number of bytes against {told}");
    Some(file.violation(&INFO, span(node), "the size of a pointer", message))
}

/// `f(sizeof(p), p)` of a pointer to the user's, where nothing else is known of the call.
fn handed(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let words = function.file.words;
    let copies = words.access(name).or_else(|| words.in_window(name));
    let known = copies.is_some() || words.checks_range(name.as_bytes());
    let list = call.part("arguments").filter(|_| !known)?;
    let mut cursor = list.walk();
    let given: Vec<Node<'_>> = list.named_children(&mut cursor).collect();
    // What the text alone says comes first.
    let sized = |own: &Node<'_>| own.known_kind() == "sizeof_expression";
    given.iter().any(sized).then_some(())?;
    let given = given.into_iter();
    let given: Vec<Expression> = given
        .map(|own| Expression::of(function.context, own))
        .collect();
    let sizes = given.iter().filter_map(|own| match &own.term {
        Term::SizeOf(of) => Some((own, &**of)),
        _ => None,
    });
    let mut wrong = sizes.filter_map(|(size, of)| {
        let object = given.iter().find(|own| own.uncast().1 == of)?;
        let users = space::is_users(function, object);
        (users && is_plain_pointer(function, of)).then_some((object, size))
    });
    let (object, size) = wrong.next()?;
    self::wrong(function, call, name, object, size)
}

/// Whether a place holds a pointer, and not one to a pointer.
fn is_plain_pointer(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let of = space::type_of(function, place).map(|of| of.shape);
    matches!(of, Some(Shape::Pointer { to, .. }) if !to.contains('*'))
}

fn cleared(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let callee = function.called(call);
    let name = String::from_utf8_lossy(callee).into_owned();
    let zeroes = function.context.vocabulary.zeroes(callee);
    let clears = function.file.words.clears(&name).or(zeroes)?;
    let object = argument(function, call, clears.object)?;
    let count = argument(function, call, clears.count)?;
    wrong(function, call, &name, &object, &count)
}

/// `access_ok(p, sizeof(p))`
fn checked(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.called(call);
    let checks = function.file.words.checks_range(name);
    let address = argument(function, call, 0).filter(|_| checks)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let size = argument(function, call, 1)?;
    let told = wrong(function, call, &name, &address, &size);
    told.or_else(|| checked_for_another(function, call, &address, &size))
}

/// `access_ok(from, sizeof(p))`, where as many bytes are copied from there to where `p` leads as
/// something else says.
fn checked_for_another(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    address: &Expression,
    size: &Expression,
) -> Option<Violation> {
    let Term::SizeOf(of) = &size.term else {
        return None;
    };
    let pointer = of.name()?;
    let there = |own: &&Access<'_>| own.address == *address.uncast().1;
    let access = function.accesses.iter().find(there)?;
    let value = function.expression_of(access.value_node);
    let other = access
        .bytes
        .as_ref()
        .is_some_and(|bytes| bytes.uncast().1 != size);
    let leads = front(value.uncast().1) == Some(pointer);
    (other && leads && points(function, pointer, span(call))).then_some(())?;
    let file = function.file;
    let message = format!(
        "{}() is given sizeof({pointer}), the size of the pointer and not of what is copied there",
        String::from_utf8_lossy(function.called(call))
    );
    Some(file.violation(&INFO, span(call), "the size of a pointer", message))
}

fn argument(function: &FunctionContext<'_>, call: Node<'_>, at: usize) -> Option<Expression> {
    let own = call
        .part("arguments")?
        .named_child(answer::fits::<u32, _>(at)?)?;
    Some(Expression::of(function.context, own))
}

/// What is wrong where a call is given `sizeof(p)` of what is at `p`, `sizeof(&x)` of `x`.
fn wrong(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    name: &str,
    object: &Expression,
    count: &Expression,
) -> Option<Violation> {
    let told = pointers_size(function, call, object, count)?;
    let file = function.file;
    let message = format!("{name}() is given {told}");
    Some(file.violation(&INFO, span(call), "the size of a pointer", message))
}

/// The size of a pointer, where that of what it points to is meant.
fn pointers_size(
    function: &FunctionContext<'_>,
    at: Node<'_>,
    object: &Expression,
    count: &Expression,
) -> Option<String> {
    let of = match &count.term {
        Term::SizeOf(of) => of,
        // `n * sizeof(p)`
        Term::Binary(left, operator, right) if operator == "*" => {
            let each = |side: &Expression| pointers_size(function, at, object, side);
            return each(left).or_else(|| each(right));
        }
        _ => return None,
    };
    let (whole, object) = (object, object.uncast().1);
    Some(match &of.term {
        Term::Address(place) if **of == *object => {
            let place = function.file.plain(place.span);
            format!("sizeof(&{place}), the size of an address and not of {place}")
        }
        Term::Member { .. } => {
            let same = **of == *object && is_plain_pointer(function, of);
            let pointer = same.then(|| function.file.plain(of.span))?;
            format!("sizeof({pointer}), the size of the pointer and not of what it points to")
        }
        _ => {
            let pointer = of.name()?;
            if front(object) != Some(pointer) {
                return of_a_member(function, (at, pointer), object, count);
            }
            if is_made_address(function, whole, of) {
                return Some(format!(
                    "sizeof({pointer}), the size of the number that is the address and not of what lies there"
                ));
            }
            points(function, pointer, span(at)).then_some(())?;
            format!("sizeof({pointer}), the size of the pointer and not of what it points to")
        }
    })
}

/// The size of a pointer, where the object is a member of what that leads to and has another size:
/// `f(&p->m, sizeof(p))`.
fn of_a_member(
    function: &FunctionContext<'_>,
    (at, pointer): (Node<'_>, &str),
    object: &Expression,
    count: &Expression,
) -> Option<String> {
    let (place, by_address) = match &object.term {
        Term::Address(place) => (&**place, true),
        _ => (object, false),
    };
    let own = place.root().name() == Some(pointer);
    (own && matches!(place.term, Term::Member { .. })).then_some(())?;
    points(function, pointer, span(at)).then_some(())?;
    let of = space::type_of(function, place)?;
    // What a member that is a pointer leads to has no size here.
    let lies_there = by_address || matches!(of.shape, Shape::Array(..));
    let other = space::bytes(function, count).is_some_and(|bytes| bytes != of.size);
    (lies_there && other).then(|| {
        let place = function.file.plain(place.span);
        format!("sizeof({pointer}), the size of the pointer and not of {place}")
    })
}

/// Whether a variable of the kernel's has as many bytes, whatever they are named by.
fn is_as_large(function: &FunctionContext<'_>, value: &Expression, count: &Expression) -> bool {
    let Term::Address(place) = &value.uncast().1.term else {
        return false;
    };
    let of = space::type_of(function, place).map(|of| of.size);
    of.is_some() && of == space::bytes(function, count)
}

/// Whether a cast to what is no number makes an address of a number: `(void __user *)arg`.
fn is_made_address(
    function: &FunctionContext<'_>,
    address: &Expression,
    number: &Expression,
) -> bool {
    let Term::Cast(to, _) = &address.term else {
        return false;
    };
    to.pointers == 1 && to.base == "void" && {
        let of = space::type_of(function, number);
        of.is_some_and(|of| matches!(of.shape, Shape::Scalar { .. }))
    }
}

/// The pointer that an address is made from: `p`, `&p[n]`, `p + n`.
fn front(address: &Expression) -> Option<&str> {
    match &address.term {
        Term::Address(of) => match &of.term {
            Term::Element { array, .. } => array.name(),
            _ => None,
        },
        Term::Binary(left, operator, _) if operator == "+" => left.name(),
        _ => address.name(),
    }
}

/// Whether the variable that a name means there is declared as a pointer, and not as one
/// to a pointer.
fn points(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let place = match function.local_at(name, at) {
        Some(local) if local.plain || local.array => return false,
        Some(local) => local.declared,
        // `T __user *, name` of a system call's header.
        None if declared_type(function, name).is_some_and(|of| !of.is_empty()) => return true,
        None if function.is_parameter(name) => function.body.header,
        None => return is_file_pointer(function, name),
    };
    let own = |token: &Token| token.span.of(function.file.text) == name.as_bytes();
    let mut all = function.file.tokens_in(place).windows(4);
    all.any(|four| match four {
        [first, star, word, next] => {
            !first.is(b'*') && star.is(b'*') && own(word) && !next.is(b'[')
        }
        _ => false,
    })
}

/// Whether a variable of the file's, or of another one that a header declares, is a pointer, and
/// not one to a pointer.
fn is_file_pointer(function: &FunctionContext<'_>, name: &str) -> bool {
    let own = file_scalar_type(function, name);
    let elsewhere = || {
        let array = file_array_type(function, name).is_some();
        (!array).then(|| function.file.types.pointer(name))?
    };
    let of = own.or_else(elsewhere);
    of.is_some_and(|of| of.matches('*').count() == 1)
}
