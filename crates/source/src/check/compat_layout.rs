//! What lies otherwise for a 32-bit program, copied as the kernel has it to or from an address
//! that only such a program gives.

use memchr::memmem;
use tollgate_defect::answer;
use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;
use crate::types::{Shape, Type};
use crate::wrappers::defined;

use super::accesses::{Access, every};
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

/// A structure of the kernel's own.
pub(crate) struct Beside {
    pub(crate) own: String,
    /// What the tree has for a 32-bit program in its stead.
    pub(crate) other: String,
}

/// What a function for 32-bit programs alone copies as the kernel has it, where the tree has another
/// structure for what these have, by the same name behind a word: `struct compat_x` of `struct x`.
pub(crate) fn beside(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Beside> {
    let count = access.bytes.as_ref()?;
    let file = function.file;
    names_any(file).then_some(())?;
    let value = function.expression_of(access.value_node);
    let own = space::pointee(function, &value)?;
    let sized = matches!(
        &count.uncast().1.term,
        Term::SizeOf(_) | Term::SizeOfType(_)
    );
    let name = own.strip_prefix("struct ").unwrap_or(&own);
    let theirs = format!("{WORD}_{name}");
    // Who names both knows which one goes where.
    let mut tokens = file.tokens_of(function.body).iter();
    let knows_both = tokens.any(|own| own.span.of(file.text) == theirs.as_bytes());
    (sized && !knows_both && !is_macro(file, name)).then_some(())?;
    let other = own.replace(name, &theirs);
    file.types.may_define(&other).then_some(())?;
    let of_other = file.layout(&other)?;
    let of_own = file.layout(&own)?;
    let whole = space::bytes(function, count)? == of_own.size;
    (whole && !lies_alike(&of_own, &of_other)).then_some(())?;
    (answers(file, function.body, DEPTH) && !knows(function)).then_some(())?;
    Some(Beside { own, other })
}

/// Whether the file means something else by a name, `#define siginfo compat_siginfo`.
fn is_macro(file: &FileContext<'_>, name: &str) -> bool {
    let mut lines = file.tokens.iter();
    lines.any(|line| {
        let own = || defined(file.text, line.span);
        line.kind == TokenKind::Directive
            && own().is_some_and(|own| own.of(file.text) == name.as_bytes())
    })
}

/// An offset or a size of the kernel's own structure.
pub(crate) struct Native {
    /// What gives it.
    pub(crate) place: Span,
    /// The structure, and the one that a 32-bit program has in its stead.
    pub(crate) own: String,
    pub(crate) other: String,
}

/// Where a function for 32-bit programs that names both structures measures what the program
/// has, or gives, by the kernel's own.
pub(crate) fn natives(function: &FunctionContext<'_>) -> Vec<Native> {
    let mut found = Vec::new();
    let file = function.file;
    let text = file.text;
    let mut tokens = file.tokens_of(function.body).iter();
    if !names_any(file) || !tokens.any(|own| own.span.of(text).starts_with(WORD.as_bytes())) {
        return found;
    }
    every(function.root, &mut |node| {
        if matches!(
            node.known_kind(),
            "offsetof_expression" | "sizeof_expression"
        ) {
            found.extend(Native::of(function, node));
        }
    });
    // Last what takes longest.
    if !found.is_empty() && (!answers(file, function.body, DEPTH) || knows(function)) {
        found.clear();
    }
    found
}

impl Native {
    fn of(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Self> {
        let measured = function.expression_of(node);
        let name = match &measured.term {
            Term::SizeOfType(of) if of.pointers == 0 && of.dimensions.is_empty() => {
                of.base.strip_prefix("struct ")?.to_owned()
            }
            Term::Other(words) => match words.as_slice() {
                [first, _, kind, name, comma, ..] => {
                    let whole = first == "offsetof" && kind == "struct" && comma == ",";
                    whole.then(|| name.clone())?
                }
                _ => return None,
            },
            _ => return None,
        };
        let other = format!("{WORD}_{name}");
        let (file, text) = (function.file, function.file.text);
        let mut tokens = file.tokens_of(function.body).iter();
        tokens.find(|own| own.span.of(text) == other.as_bytes())?;
        is_of_programs(function, node, &other).then_some(())?;
        // What lies alike is the same number.
        let written = file.plain(span(node));
        let others = written.replace(&format!("struct {name}"), &format!("struct {other}"));
        let (own_value, other_value) = (file.value(&written), file.value(&others));
        let alike = own_value.is_some() && own_value == other_value;
        (!alike).then(|| Self {
            place: span(node),
            own: format!("struct {name}"),
            other: format!("struct {other}"),
        })
    }
}

/// Whether a measure is one of what the program has: an access is given it, at once or by a
/// variable, or it is compared with a parameter alone.
fn is_of_programs(function: &FunctionContext<'_>, node: Node<'_>, other: &str) -> bool {
    let words = function.file.words;
    // Where in its own object something goes is the kernel's affair.
    let given = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let object = words.access(name).map(|own| own.value);
        let object = object.or_else(|| words.fetches(name))?;
        let whole = function.expression_of(*call);
        let given = whole.call()?.1.iter().enumerate();
        let others = given.filter(|(at, _)| *at != object);
        Some(others.map(|(_, own)| own.span).collect::<Vec<_>>())
    });
    let mut copies = given.flatten();
    let Some(parent) = function.above(node) else {
        return false;
    };
    let taker = match parent.known_kind() {
        "init_declarator" => parent.part("declarator"),
        "assignment_expression" => parent.part("left"),
        "binary_expression" if is_of_parameter(function, parent, other) => return true,
        // Who copies as much as the kernel's own has may write the rest of it over.
        _ if node.known_kind() == "sizeof_expression" => return false,
        _ => None,
    };
    let at = span(node);
    match taker.map(|own| function.file.plain(span(own))) {
        Some(name) => copies.any(|copy| function.graph.names(copy, &name)),
        None => copies.any(|copy| copy.contains(at)),
    }
}

/// `len < offsetof(struct x, m)` of a parameter, where nothing beside it speaks of the other.
fn is_of_parameter(function: &FunctionContext<'_>, node: Node<'_>, other: &str) -> bool {
    let own = function.expression_of(node);
    let Term::Binary(left, operator, right) = &own.term else {
        return false;
    };
    let compares = compares(operator);
    let parameter = |own: &Expression| {
        let name = own.uncast().1.name();
        name.is_some_and(|name| function.is_parameter(name))
    };
    let around = std::iter::successors(Some(node), Node::parent);
    let mut asked = around.take_while(|own| own.known_kind() != "compound_statement");
    let told = asked.any(|own| {
        own.known_kind() == "if_statement"
            && own.part("condition").is_some_and(|of| {
                let condition = function.file.tokens_in(span(of)).iter();
                let mut words = condition.map(|own| own.span.of(function.file.text));
                words.any(|word| word == other.as_bytes())
            })
    });
    compares && !told && (parameter(left) || parameter(right))
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
