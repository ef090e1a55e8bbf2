//! Which memory a pointer leads to, as its declaration, its cast or the tree's own types
//! say: what sparse calls the address space.

use std::rc::Rc;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Local};
use crate::lex::{Token, TokenKind};
use crate::node::Parts as _;
use crate::span::Span;
use crate::types::{Shape, Type};

use super::context::FunctionContext;
use super::extent;
use super::range::{array_type, declared_type, declares, file_array_type};
use super::unbounded;

/// Whether the value of an expression is an address in user memory.
pub(crate) fn is_users(function: &FunctionContext<'_>, of: &Expression) -> bool {
    match &of.term {
        Term::Name(name) => is_declared(function, name, of.span),
        Term::Cast(to, value) => {
            is_cast(function, of, value)
                || to.pointers > 0
                    && (!is_forced(function, of, value) || is_from_user(function, of))
                    && is_users(function, value)
        }
        Term::Binary(left, operator, right) => match operator.as_str() {
            "+" => is_users(function, left) || is_users(function, right),
            "-" => is_users(function, left) && !is_users(function, right),
            _ => false,
        },
        Term::Step(inner) => is_users(function, inner),
        Term::Choice(_, Some(one), other) => is_users(function, one) && is_users(function, other),
        Term::Address(place) => is_in_users(function, place),
        Term::Call(..) => of
            .call()
            .is_some_and(|(name, _)| function.file.words.addresses(name)),
        Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => holds(function, of),
        _ => false,
    }
}

/// Whether the function gives a place another value than an address of the user's.
pub(crate) fn takes_another(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        if found || node.known_kind() != "assignment_expression" {
            return;
        }
        found = match &function.expression_of(node).term {
            Term::Assignment(left, operator, value) if **left == *place => {
                operator != "=" || !is_users(function, value)
            }
            _ => false,
        };
    });
    found
}

/// Whether a parameter may hold what is no address of the user's.
pub(crate) fn may_be_another(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    let handed = |kind: &EffectKind| match kind {
        EffectKind::Address => true,
        EffectKind::Handed { by_address } => *by_address,
        EffectKind::Read | EffectKind::Write(_) => false,
    };
    is_set_to_another(function, name)
        || effects.any(|own| graph.name_of(own) == name && graph.is_whole(own) && handed(&own.kind))
}

/// Whether a variable is assigned what is no address of the user's; one that steps on stays
/// the user's.
pub(crate) fn is_set_to_another(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    effects.any(|effect| match &effect.kind {
        EffectKind::Write(write) if !write.next && !write.compound => {
            let users = || {
                let value = write.value.and_then(|at| function.expression(at));
                value.is_some_and(|value| is_users(function, &value))
            };
            let own = graph.name_of(effect) == name && graph.is_whole(effect);
            // What is only declared holds nothing yet.
            let declares = || {
                let local = graph.local(name).map(|local| local.declared);
                write.value.is_none() && local.is_some_and(|own| own.contains(effect.span))
            };
            own && !users() && !declares()
        }
        _ => false,
    })
}

/// Whether a place lies in user memory.
pub(crate) fn is_in_users(function: &FunctionContext<'_>, place: &Expression) -> bool {
    match &place.term {
        Term::Behind(pointer) => is_users(function, pointer),
        Term::Member {
            holder,
            arrow: true,
            ..
        } => is_users(function, holder),
        Term::Member { holder, .. } => is_in_users(function, holder),
        Term::Element { array, .. } => is_users(function, array),
        _ => false,
    }
}

/// The pointer that is followed last to come to a place: `p->q` of `p->q->a.b`.
pub(crate) fn followed(place: &Expression) -> Option<&Expression> {
    match &place.term {
        Term::Behind(pointer) => Some(pointer),
        Term::Member {
            holder,
            arrow: true,
            ..
        } => Some(holder),
        Term::Member { holder, .. } => followed(holder),
        Term::Element { array, .. } => Some(array),
        _ => None,
    }
}

/// Whether the place holds a pointer to user memory, or is an array that lies there.
fn holds(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let named = named(place);
    let told = named.is_some_and(|(name, member)| function.file.may_be_users(name, member));
    if !told && !is_in_users(function, place) {
        return false;
    }
    match type_of(function, place).map(|of| of.shape) {
        Some(Shape::Pointer { user, .. }) => user,
        Some(Shape::Array(..)) => is_in_users(function, place),
        _ => false,
    }
}

/// The member or the variable that a place is, or is an element of, or lies behind; and
/// whether it is a member.
fn named(place: &Expression) -> Option<(&str, bool)> {
    match &place.term {
        Term::Member { field, .. } => Some((field, true)),
        Term::Element { array: inner, .. } | Term::Behind(inner) => named(inner),
        Term::Name(name) => Some((name, false)),
        _ => None,
    }
}

/// The type of a place, as the tree has it.
pub(crate) fn type_of(function: &FunctionContext<'_>, place: &Expression) -> Option<Type> {
    let written = written(function, place)?;
    function.file.layout(&format!("typeof({written})"))
}

/// The bytes of an array of the function, whose dimensions are written behind its name.
pub(crate) fn array(function: &FunctionContext<'_>, local: &Local) -> Option<u64> {
    let written = array_type(function, local)?;
    function.file.value(&format!("sizeof({written})"))
}

/// The type of an array, or what it is where it is a pointer.
fn array_at(function: &FunctionContext<'_>, array: &Expression) -> Option<Type> {
    let Some(name) = array.name() else {
        return type_of(function, array);
    };
    let written = match function.local_at(name, array.span) {
        Some(local) if local.array => array_type(function, local),
        Some(_) => None,
        None if function.is_parameter(name) => None,
        None => file_array_type(function, name),
    };
    match written {
        Some(written) => function.file.layout(&written),
        None => type_of(function, array),
    }
}

/// How many bytes an array of more than one element has.
pub(crate) fn array_bytes(function: &FunctionContext<'_>, array: &Expression) -> Option<u64> {
    let of = array_at(function, array)?;
    matches!(of.shape, Shape::Array(_, count) if count > 1).then_some(of.size)
}

/// How many elements an array has.
pub(crate) fn elements(function: &FunctionContext<'_>, array: &Expression) -> Option<u64> {
    match array_at(function, array)?.shape {
        // One at the end of a struct may stand for any number.
        Shape::Array(_, count) if count > 1 => Some(count),
        _ => None,
    }
}

/// How many bytes each element of an array has, or what a pointer leads to.
pub(crate) fn element(function: &FunctionContext<'_>, array: &Expression) -> Option<u64> {
    match array_at(function, array)?.shape {
        Shape::Array(of, _) => Some(of.size),
        Shape::Pointer { .. } => {
            let written = written(function, array)?;
            function.file.value(&format!("sizeof(*{written})"))
        }
        _ => None,
    }
}

/// How many bytes a number is, the sizes of the function's own variables among them.
pub(crate) fn bytes(function: &FunctionContext<'_>, count: &Expression) -> Option<u64> {
    match &count.term {
        Term::SizeOf(of) => {
            let own = of.name().and_then(|name| function.local_at(name, of.span));
            match own {
                Some(local) if local.array => array(function, local),
                Some(_) => type_of(function, of).map(|own| own.size),
                // A type with a name of its own looks like a variable.
                None => {
                    let own = type_of(function, of).map(|own| own.size);
                    own.or_else(|| function.file.value(&function.file.plain(count.span)))
                }
            }
        }
        Term::Binary(left, operator, right) => {
            let (left, right) = (bytes(function, left)?, bytes(function, right)?);
            match operator.as_str() {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" => left.checked_div(right),
                _ => None,
            }
        }
        Term::Name(name) => {
            let own = function.local_at(name, count.span);
            match own.and_then(|own| only_value(function, own, count.span)) {
                Some(value) => bytes(function, &value),
                None => extent::bytes(function, count),
            }
        }
        _ => extent::bytes(function, count),
    }
}

/// What a plain variable has from its declaration on, where nothing can give it another value.
fn only_value(function: &FunctionContext<'_>, local: &Local, at: Span) -> Option<Rc<Expression>> {
    let graph = function.graph;
    (local.plain && local.initialised && !graph.unseen.contains(&local.name)).then_some(())?;
    // What is made of itself would be asked for without an end.
    let value = graph
        .only_value(&local.name)
        .filter(|own| own.end <= at.start)?;
    let shown = |own: &Effect| match &own.kind {
        EffectKind::Address => true,
        EffectKind::Handed { by_address } => *by_address,
        EffectKind::Read | EffectKind::Write(_) => false,
    };
    let mut effects = graph.effects.iter();
    let changed = effects.any(|own| shown(own) && graph.name_of(own) == local.name);
    function.expression(value).filter(|_| !changed)
}

/// The place with what its variable is declared as in the variable's stead, so that it
/// means the same where nobody knows the function.
pub(crate) fn written(function: &FunctionContext<'_>, place: &Expression) -> Option<String> {
    Some(match &place.term {
        Term::Name(name) => format!("(*({} *)0)", declaration(function, name, place.span)?),
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let step = if *arrow { "->" } else { "." };
            format!("{}{step}{field}", written(function, holder)?)
        }
        Term::Element { array, .. } => format!("{}[0]", written(function, array)?),
        Term::Behind(pointer) => match &pointer.term {
            Term::Address(place) => written(function, place)?,
            _ => format!("(*{})", written(function, pointer)?),
        },
        // Of the type that its pointer has.
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "-") => {
            let pointer = if is_users(function, right) {
                right
            } else {
                left
            };
            written(function, pointer)?
        }
        Term::Cast(to, _) if to.pointers > 0 && to.dimensions.is_empty() => {
            format!("(({}{})0)", to.base, " *".repeat(to.pointers))
        }
        Term::Call(..) => {
            let (name, _) = place.call()?;
            format!("(({})0)", function.file.signature(name)?.gives.as_ref()?)
        }
        _ => return None,
    })
}

/// The same without what says where it lies and whether it may be written, `struct s *`.
pub(crate) fn declared(function: &FunctionContext<'_>, name: &str, at: Span) -> Option<String> {
    let own = declaration(function, name, at)?;
    let kept = own.split_whitespace().filter(|word| {
        let marks = [
            "__user", "const", "volatile", "static", "register", "__force",
        ];
        !marks.contains(word)
    });
    Some(kept.collect::<Vec<_>>().join(" "))
}

/// The type of what an address leads to, as it is declared: of a variable's own address, a
/// pointer, a cast.
pub(crate) fn pointee(function: &FunctionContext<'_>, address: &Expression) -> Option<String> {
    let plain = |of: &str| !matches!(of, "void" | "char" | "u8" | "unsigned char");
    match &address.term {
        Term::Address(place) => {
            let own = declared(function, place.name()?, place.span)?;
            (!own.contains('*') && plain(&own)).then_some(own)
        }
        Term::Name(name) => {
            let own = declared(function, name, address.span)?;
            let of = own.strip_suffix('*')?.trim_end().to_owned();
            (!of.contains('*') && plain(&of)).then_some(of)
        }
        Term::Cast(to, _) if to.pointers == 1 && plain(&to.base) => Some(to.base.clone()),
        Term::Cast(_, value) => pointee(function, value),
        _ => None,
    }
}

/// What the variable that a name means there is declared as, `struct s __user *`: an
/// array as the pointer that it stands for.
fn declaration(function: &FunctionContext<'_>, name: &str, at: Span) -> Option<String> {
    let local = function.local_at(name, at);
    let tokens = declaring(function, local);
    let text = function.file.text;
    let own = |two: &[Token]| match two {
        [own, next] => own.span.of(text) == name.as_bytes() && ends_name(next),
        _ => false,
    };
    let place = tokens.windows(2).position(own);
    // The last token of the declaration may be the name.
    let place = place.or_else(|| {
        let last = tokens.last()?;
        (last.span.of(text) == name.as_bytes()).then_some(tokens.len() - 1)
    })?;
    // `SYSCALL_DEFINE2(f, int, fd, …)`
    let apart = local.is_none() && function.body.is_system_call();
    let front = place
        .checked_sub(1)
        .filter(|at| apart && tokens.get(*at).is_some_and(|own| own.is(b',')));
    let before = tokens.get(..front.unwrap_or(place))?;
    let array = tokens.get(place + 1).is_some_and(|next| next.is(b'['));
    let kept = before
        .iter()
        .rev()
        .take_while(|token| token.kind == TokenKind::Word || token.is(b'*'));
    let mut kept: Vec<String> = kept.map(|token| token.span.text(text)).collect();
    kept.reverse();
    let starred = |word: &&str| matches!(*word, "*" | "__user");
    let own = kept.iter().map(String::as_str);
    let stars: Vec<&str> = own.skip_while(|word| !starred(word)).collect();
    let written = match local {
        // `struct a *x, *y`: what stands in front of a comma is the same for both.
        Some(local) if stars.is_empty() => local.base_type.clone(),
        Some(local) => format!("{} {}", local.base_type, stars.join(" ")),
        None => kept.join(" "),
    };
    let array = if array { " *" } else { "" };
    (!written.is_empty()).then(|| written + array)
}

fn ends_name(next: &Token) -> bool {
    b",)[;=".iter().any(|byte| next.is(*byte))
}

/// The tokens that declare a variable of the function, or else its parameters.
fn declaring<'s>(function: &FunctionContext<'s>, local: Option<&Local>) -> &'s [Token] {
    let place = local.map_or(function.body.header, |local| local.declared);
    function.file.tokens_in(place)
}

/// Whether the variable that a name means there is declared as a pointer to user memory,
/// and not as an array of such.
fn is_declared(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let local = function.local_at(name, at);
    if local.is_some_and(|local| local.array) || declared_type(function, name).is_none() {
        return false;
    }
    let text = function.file.text;
    let tokens = declaring(function, local);
    let own = |three: &[Token]| {
        let array = three.last().is_some_and(|next| next.is(b'['));
        declares(function, three, name) && !array
    };
    tokens.windows(3).any(own) && tokens.iter().any(|token| token.span.of(text) == b"__user")
}

/// Whether a cast says that it takes the address out of the user's space: without
/// `__force` that is what sparse warns of (Documentation/dev-tools/sparse.rst).
pub(crate) fn is_forced(
    function: &FunctionContext<'_>,
    cast: &Expression,
    value: &Expression,
) -> bool {
    let place = Span::new(cast.span.start, value.span.start.max(cast.span.start));
    let mut own = function.file.tokens_in(place).iter();
    own.any(|own| own.span.of(function.file.text) == b"__force")
}

/// Whether the address itself was fetched from the user: whatever a cast says of it.
pub(crate) fn is_from_user(function: &FunctionContext<'_>, cast: &Expression) -> bool {
    // What a call is given begins with the cast.
    let users = unbounded::users_within(function, cast.uncast().1, cast.span);
    users.is_some_and(|own| !own.is_handed)
}

/// Whether the type of a cast says that what it makes is an address of the user's.
pub(crate) fn is_cast(
    function: &FunctionContext<'_>,
    cast: &Expression,
    value: &Expression,
) -> bool {
    let place = Span::new(cast.span.start, value.span.start.max(cast.span.start));
    let text = function.file.text;
    let own = function.file.tokens_in(place);
    let marked = own.iter().position(|own| own.span.of(text) == b"__user");
    // Behind the last star it would be the pointer's own place.
    marked.is_some_and(|at| own.iter().skip(at).filter(|own| own.is(b'*')).count() == 1)
}
