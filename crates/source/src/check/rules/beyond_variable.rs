use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::{Access, each};
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Local};
use crate::lex::TokenKind;
use crate::node::Parts as _;
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
    summary: "more bytes are copied than the kernel's variable has, or as many as the user likes",
    why: "A read then writes over what lies behind it on the stack, a write gives that to the user. \
          CONFIG_HARDENED_USERCOPY finds it when it happens, the compiler where both sizes are constants.",
};

/// So often a number may have been made of others.
const STEPS: usize = 4;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let copies = function.accesses.iter();
    out.extend(copies.filter_map(|access| copied(function, access)));
}

/// A copy of a number of bytes from or to a variable of the function.
fn copied(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?;
    let value = Expression::of(function.context, access.value_node);
    let object = Object::of(function, value.uncast().1)?;
    let name = object.name;
    let (told, confidence) = match space::bytes(function, count) {
        Some(bytes) => (bytes > object.size).then(|| {
            let told = format!("{bytes} bytes are copied, and {name} has {}", object.size);
            (told, Confidence::High)
        })?,
        None if object.is_pointer => {
            let told = format!("&{name} is where the pointer itself lies, not what it points to");
            (told, Confidence::High)
        }
        None => unbounded(function, access, count, name)?,
    };
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "copied here", told);
    violation.confidence = confidence;
    let declared = file.mark(object.declared, "the variable");
    violation.related.push(declared);
    Some(violation)
}

/// A variable of the function that lies on its stack.
struct Object<'f> {
    name: &'f str,
    /// Where it is declared: a parameter in the header.
    declared: Span,
    /// Its bytes.
    size: u64,
    is_pointer: bool,
}

impl<'f> Object<'f> {
    /// The one whose address an expression is: `&x`, `&x.member`, `array`, `array + n`.
    fn of(function: &'f FunctionContext<'_>, address: &Expression) -> Option<Self> {
        match &address.term {
            Term::Address(place) => Self::holding(function, place),
            Term::Binary(left, operator, _) if operator == "+" => Self::of(function, left),
            Term::Name(name) => {
                let local = function.local_at(name, address.span)?;
                Self::array(function, local)
            }
            _ => None,
        }
    }

    /// The one that a place lies in.
    fn holding(function: &'f FunctionContext<'_>, place: &Expression) -> Option<Self> {
        match &place.term {
            Term::Member {
                holder,
                arrow: false,
                ..
            } => Self::holding(function, holder).filter(|own| !own.is_pointer),
            Term::Element { array, .. } => Self::of(function, array),
            Term::Name(name) => match function.local_at(name, place.span) {
                Some(local) if local.array => Self::array(function, local),
                Some(local) => Self::plain(function, place, local.declared, &local.name),
                None => {
                    let name = function.parameter(name)?;
                    Self::plain(function, place, function.body.header, name)
                }
            },
            _ => None,
        }
    }

    fn plain(
        function: &FunctionContext<'_>,
        place: &Expression,
        declared: Span,
        name: &'f str,
    ) -> Option<Self> {
        let of = space::type_of(function, place)?;
        Some(Self {
            name,
            declared,
            size: of.size,
            is_pointer: matches!(of.shape, Shape::Pointer { .. }),
        })
    }

    /// An array, whose dimensions are written behind its name.
    fn array(function: &FunctionContext<'_>, local: &'f Local) -> Option<Self> {
        let size = space::array(function, local)?;
        Some(Self {
            name: &local.name,
            declared: local.declared,
            size,
            is_pointer: false,
        })
    }
}

/// A number that the user gives, and that nothing in the function bounds.
fn unbounded(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    count: &Expression,
    object: &str,
) -> Option<(String, Confidence)> {
    let mut seen = Vec::new();
    let source = users(function, count.uncast().1, access, &mut seen)?;
    let told = format!(
        "{} bytes are copied to or from {object}, and nothing bounds {source}, which is the user's",
        function.file.plain(count.span)
    );
    Some((told, Confidence::Medium))
}

/// The variable by which the user says how much a number is; none where anything may
/// bound it.
fn users(
    function: &FunctionContext<'_>,
    number: &Expression,
    access: &Access<'_>,
    seen: &mut Vec<String>,
) -> Option<String> {
    match &number.term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "-" | "*") => {
            let other = |one: &Expression, two: &Expression, seen: &mut Vec<String>| {
                let fixed = space::bytes(function, two).is_some();
                fixed.then(|| users(function, one, access, seen)).flatten()
            };
            other(left, right, seen).or_else(|| other(right, left, seen))
        }
        Term::Name(name) => by_name(function, name, access, seen),
        Term::Member { .. } => {
            let root = number.root().name()?;
            let own = function.local_at(root, number.span)?;
            let filled = own.plain && is_filled(function, root, access);
            (filled && !is_limited(function, root)).then(|| function.file.plain(number.span))
        }
        _ => None,
    }
}

fn by_name(
    function: &FunctionContext<'_>,
    name: &str,
    access: &Access<'_>,
    seen: &mut Vec<String>,
) -> Option<String> {
    if seen.len() > STEPS || seen.iter().any(|own| own == name) || is_limited(function, name) {
        return None;
    }
    seen.push(name.to_owned());
    let effects = function.graph.effects.iter();
    let own: Vec<&Effect> = effects
        .filter(|own| function.graph.name_of(own) == name && changes(own))
        .collect();
    let is_parameter = function.is_parameter(name);
    match own.as_slice() {
        [] if is_parameter && is_callback(function) => Some(name.to_owned()),
        [] => None,
        _ if is_parameter => None,
        own => {
            let values = own.iter().filter_map(|own| match &own.kind {
                EffectKind::Write(write) => write.value,
                _ => None,
            });
            let values: Vec<_> = values.collect();
            match values.as_slice() {
                // What it is declared with counts for as little.
                values if is_filled(function, name, access) && are_constants(function, values) => {
                    Some(name.to_owned())
                }
                [value] if own.len() == 1 => {
                    let value = function.expression(*value)?;
                    users(function, value.uncast().1, access, seen)
                }
                _ => None,
            }
        }
    }
}

fn are_constants(function: &FunctionContext<'_>, values: &[Span]) -> bool {
    let constant = |value: &Span| {
        let value = function.expression(*value);
        value.is_some_and(|value| space::bytes(function, &value).is_some())
    };
    values.iter().all(constant)
}

/// Whether an effect may change what a variable holds; a declaration without a value does
/// not.
fn changes(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::Write(write) => write.value.is_some() || write.next,
        EffectKind::Read => false,
        EffectKind::Address | EffectKind::Handed { .. } => true,
    }
}

/// Whether a read from the user fills the variable before an access.
fn is_filled(function: &FunctionContext<'_>, name: &str, access: &Access<'_>) -> bool {
    let mut reads = function.accesses.iter();
    reads.any(|read| {
        read.word.direction == Direction::Read
            && read.value_root == name
            && read.span.end <= access.span.start
    })
}

/// Whether anything but a loop compares the variable with something that may bound it, or
/// picks by it.
fn is_limited(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut limited = false;
    each(function.root, &mut |node| {
        limited |= match node.kind() {
            "switch_statement" => node
                .part("condition")
                .is_some_and(|asked| graph.names(span(asked), name)),
            "binary_expression" => {
                let compares = matches!(
                    function.context.operator(node),
                    b"<" | b">" | b"<=" | b">=" | b"==" | b"!="
                );
                let at = span(node);
                let asks = compares && graph.names(at, name);
                asks && !is_of_loop(node) && !is_of_zero(function, at)
            }
            _ => false,
        };
    });
    limited
}

/// Whether a node is what a loop asks for each round.
fn is_of_loop(node: Node<'_>) -> bool {
    let around = std::iter::successors(Some(node), Node::parent);
    let mut asked = around.filter_map(|own| {
        let of = own.parent()?;
        (of.part("condition") == Some(own)).then_some(of)
    });
    asked.next().is_some_and(|of| {
        matches!(
            of.kind(),
            "for_statement" | "while_statement" | "do_statement"
        )
    })
}

/// `n == 0`, `n < 0`, `n > 0`: that there is anything is no bound.
fn is_of_zero(function: &FunctionContext<'_>, at: Span) -> bool {
    let own = function.expression(at);
    own.is_some_and(|own| match &own.term {
        Term::Binary(left, _, right) => left.is_zero() || right.is_zero(),
        _ => false,
    })
}

/// Whether only others call the function, by a pointer to it: what they hand it is as the
/// user gave it (`struct file_operations`).
fn is_callback(function: &FunctionContext<'_>) -> bool {
    let file = function.file;
    let header = function.body.header;
    let has = |word: &[u8]| {
        let mut words = file.tokens_in(header).iter();
        words.any(|own| own.span.of(file.text) == word)
    };
    // An inline function is another file's to call.
    let is_own = has(b"static") && !has(b"inline") && !has(b"__always_inline");
    let named = |at: &usize| {
        let own = file.tokens.get(*at);
        own.is_some_and(|own| {
            own.kind == TokenKind::Word
                && own.span.of(file.text) == function.body.name.as_bytes()
                && !header.contains(own.span)
        })
    };
    // A macro may put its name together, so that nothing names it.
    let mut uses = (0..file.tokens.len()).filter(named);
    let called = uses.any(|at| file.tokens.get(at + 1).is_some_and(|next| next.is(b'(')));
    is_own && !called && has(b"__user")
}
