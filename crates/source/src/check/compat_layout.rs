//! What lies otherwise for a 32-bit program, copied as the kernel has it to or from an address
//! that only such a program gives.

use memchr::memmem;
use tollgate_defect::answer;

use crate::expression::Expression;
use crate::split::Body;
use crate::types::{Shape, Type};

use super::accesses::Access;
use super::context::{FileContext, FunctionContext};
use super::space;

/// A type that a 32-bit program has otherwise.
pub(crate) struct Otherwise {
    pub(crate) name: String,
    /// Its bytes here and there.
    pub(crate) own: u64,
    pub(crate) other: u64,
}

/// What an access takes at once at an address of a 32-bit program, and such a one has otherwise.
pub(crate) fn otherwise(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Otherwise> {
    let types = function.file.types;
    let machine = types.compat()?;
    let user = function.expression(access.user)?;
    is_compat(function, &user).then_some(())?;
    let name = match &access.bytes {
        Some(_) => {
            let value = function.expression_of(access.value_node);
            space::pointee(function, &value)?
        }
        // `put_user(v, p)` of `long __user *p`: a cast is judged by itself.
        None if user.name().is_some() => space::pointee(function, &user)?,
        None => return None,
    };
    let own = function.file.layout(&name)?;
    if let Some(count) = &access.bytes {
        (space::bytes(function, count)? == own.size).then_some(())?;
    }
    let Ok(other) = types.layout_on(&name, machine) else {
        return None;
    };
    (!knows(function) && !lies_alike(&own, &other)).then_some(Otherwise {
        name,
        own: own.size,
        other: other.size,
    })
}

/// Whether the function asks which kind of program calls it.
fn knows(function: &FunctionContext<'_>) -> bool {
    let mut asks = false;
    function.each_of(&["identifier"], |node| {
        let name = answer::text(function.context.seen(node));
        asks |= name.is_some_and(|name| function.file.words.results().asks_compat(name));
    });
    asks
}

/// Whether an address is what a 32-bit program gave, at once or by a variable that takes nothing
/// else.
fn is_compat(function: &FunctionContext<'_>, address: &Expression) -> bool {
    let words = function.file.words;
    let given = |own: &Expression| {
        let call = own.uncast().1.call();
        call.is_some_and(|(name, _)| words.addresses(name) && !words.addresses_any(name))
    };
    let own = address.uncast().1;
    match own.name() {
        // Who answers a 32-bit program alone has its addresses from it.
        Some(name) if function.is_parameter(name) => {
            names_any(function.file)
                && !function.graph.takes_a_value(name)
                && answers(function.file, function.body, DEPTH)
        }
        Some(name) => {
            let local = function.graph.local(name).is_some();
            let value = function.graph.only_value(name).filter(|_| local);
            let value = value.and_then(|value| function.expression(value));
            value.is_some_and(|value| given(&value))
        }
        None => given(own),
    }
}

/// So many callers are asked, one of the other.
const DEPTH: usize = 3;

/// What stands in the name of who answers 32-bit programs alone (kernel/compat.c,
/// net/compat.c, drivers' own).
const WORD: &str = "compat";

/// Whether the file has the word at all, in a name of any kind: to look for who calls a function
/// takes longer.
fn names_any(file: &FileContext<'_>) -> bool {
    let any = |word: &str| memmem::find(file.text, word.as_bytes()).is_some();
    *file
        .compat
        .get_or_init(|| any(WORD) || any(&WORD.to_uppercase()))
}

/// Whether a function is called for 32-bit programs alone: it is one of their system calls, tables
/// have it for their calls and for no others, its name says so, or all who call it are such.
fn answers(file: &FileContext<'_>, body: &Body, depth: usize) -> bool {
    let mut handlers = file.handlers(body).peekable();
    if handlers.peek().is_some() {
        return handlers.all(|own| own.compat);
    }
    if body.is_system_call() {
        return body.is_compat_call();
    }
    let is_static = file.is_declared(body, b"static");
    let by_callers = || {
        let callers: Vec<&Body> = file.callers(body).collect();
        let called = is_static && !callers.is_empty() && depth > 0;
        called
            && callers
                .iter()
                .all(|caller| answers(file, caller, depth - 1))
    };
    body.name.split('_').any(|word| word == WORD) || by_callers()
}

/// Whether two layouts of a type have the same bytes in the same places.
fn lies_alike(one: &Type, other: &Type) -> bool {
    let inside = match (&one.shape, &other.shape) {
        (Shape::Struct(own), Shape::Struct(others)) | (Shape::Union(own), Shape::Union(others)) => {
            let mut pairs = own.iter().zip(others);
            own.len() == others.len()
                && pairs.all(|(own, other)| {
                    own.offset == other.offset
                        && own.bits == other.bits
                        && lies_alike(&own.of, &other.of)
                })
        }
        // Words of which there are twice as many, half as wide: the same where the first byte is
        // the least, and elsewhere they are copied one by one (kernel/compat.c).
        (Shape::Array(own, count), Shape::Array(other, others)) => {
            let words = |of: &Type| matches!(of.shape, Shape::Scalar { .. });
            count == others && lies_alike(own, other) || words(own) && words(other)
        }
        _ => true,
    };
    one.size == other.size && inside
}
