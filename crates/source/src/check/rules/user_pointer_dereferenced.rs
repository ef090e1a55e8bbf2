use tree_sitter::Node;

use crate::check::accesses::Access;
use crate::check::by_force::{
    cast_of, chosen, is_alternative, is_forced, is_held, is_of_number, is_own_users, is_unsaid,
};
use crate::check::callee::{goes_through, takes_pointer};
use crate::check::conditions::is_without;
use crate::check::context::FunctionContext;
use crate::check::extent;
use crate::check::forced::switches_space;
use crate::check::format::{Taken, literal, taken};
use crate::check::handed_buffer::{handed_buffer, is_in_buffer};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::{declared_type, declares};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::tokens::parameters;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::types::Shape;
use crate::{Direction, Span};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "user-pointer-dereferenced",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a load or a store through a __user pointer that no accessor makes",
    why: "The address is the user's: nothing has opened access for a plain load or store, nothing \
          handles its fault, and an architecture with separate address spaces goes somewhere else. \
          An open window makes it work on some machines only.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let text = function.file.text;
    let has = |place: Span, word: &[u8]| {
        let mut words = function.file.tokens_in(place).iter();
        words.any(|own| own.span.of(text) == word)
    };
    let declares = has(function.body.header.join(function.body.span), b"__user");
    let forced = has(function.body.span, b"__force");
    let behind = |own: &&Effect| function.graph.places.is_right_behind(own.place);
    let unsaid = unsaid(function);
    let buffer = handed_buffer(function.file, function.body);
    for effect in function.graph.effects.iter().filter(behind) {
        let load = effect.kind == EffectKind::Read;
        if !(load || is_store(effect)) {
            continue;
        }
        let own = || declares.then(|| through_own(function, effect, load))?;
        let forced_one = || forced.then(|| through_held(function, effect, load))?;
        let name = function.graph.name_of(effect);
        let told = own()
            .or_else(forced_one)
            .or_else(|| {
                unsaid
                    .contains(name)
                    .then(|| held(function, effect, load))?
            })
            .or_else(|| through_buffer(function, effect, load, buffer.as_deref()?))
            .or_else(|| through_taken(function, effect, load));
        let told = told.filter(|_| !load || !is_stored_too(function, effect));
        out.extend(told.map(|what| violation(function, effect.span, &what, load)));
    }
    function.each_of(
        &[
            "subscript_expression",
            "field_expression",
            "pointer_expression",
        ],
        |node| {
            out.extend(through_other(function, node, forced));
        },
    );
    for call in function.calls {
        out.extend(through_callee(function, *call));
        if forced {
            out.extend(through_pointer(function, *call));
            out.extend(through_chosen(function, *call));
        }
        out.extend(through_library(function, *call));
    }
    let printing = printing(function).into_iter();
    out.extend(printing.filter_map(|call| through_format(function, call)));
}

/// The pointers of the function that hold nothing but an address which a cast took from the user's and
/// said nothing of that.
fn unsaid<'f>(function: &'f FunctionContext<'_>) -> HashSet<&'f str> {
    let graph = function.graph;
    let text = function.file.text;
    // Most are no casts, which the text says.
    let cast = |own: &Span| own.of(text).starts_with(b"(");
    let casts = graph.assignments().filter(|(_, value)| cast(value));
    let all = casts.filter(|(_, value)| {
        let value = function.expression(*value);
        value.is_some_and(|value| is_unsaid(function, &value))
    });
    let names: HashSet<&str> = all.map(|(name, _)| name).collect();
    let own = names.into_iter().filter(|name| {
        let users = declared_type(function, name);
        users.is_none() && is_held(function, name, is_unsaid)
    });
    own.collect()
}

/// The calls that are given a literal which may have something followed.
fn printing<'t>(function: &FunctionContext<'t>) -> Vec<Node<'t>> {
    let mut found: Vec<Node<'t>> = Vec::new();
    function.each_of(&["string_literal", "concatenated_string"], |node| {
        let list = function.above(node);
        let list = list.filter(|own| own.known_kind() == "argument_list");
        let call = list.and_then(|own| function.above(own));
        let call = call.filter(|own| own.known_kind() == "call_expression");
        let written = span(node).of(function.file.text);
        let follows = || written.contains(&b'%') && written.iter().any(|own| b"sp".contains(own));
        if let Some(call) = call.filter(|_| follows())
            && !found.contains(&call)
        {
            found.push(call);
        }
    });
    found
}

/// Where among what a call is given its format stands: the first literal that takes something.
fn format(given: &[Expression]) -> Option<(usize, Vec<Taken>)> {
    given.iter().enumerate().find_map(|(at, own)| {
        let all = taken(&literal(own)?)?;
        (!all.is_empty()).then_some((at, all))
    })
}

/// An address of the user's whose text or bytes a format has printed: `pr_info("%s", p)`.
fn through_format(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let (at, taken) = format(given)?;
    let behind = given.get(at + 1..)?;
    // A macro may give more by itself.
    let mut pairs = behind
        .iter()
        .zip(&taken)
        .filter(|_| behind.len() == taken.len());
    let users = |(own, taken): &(&Expression, &Taken)| {
        let place = own.uncast().1;
        let other = || match place.name() {
            Some(name) => space::is_set_to_another(function, name),
            None => function.assigns(place),
        };
        let users = || space::is_users(function, own) || is_forced(function, own);
        **taken == Taken::Followed && (users() && !other() || is_in_buffer(function, own))
    };
    let (own, _) = pairs.find(users)?;
    Some(gone_through(function, own, name))
}

/// An address of the user's that memcpy(), strlen() and the like are given.
fn through_library(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    if !function.file.words.goes_by_hand(name) {
        return None;
    }
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let words = function.file.words;
    let filled = words.fills(name).map(|own| own.object);
    let filled = filled.or(words.clears(name).map(|own| own.object));
    // A member, or what a cast makes of a variable, may be the user's or the kernel's, which is
    // told by who copies from either; what the function declares as the user's is that.
    let either = |own: &Expression| {
        let place = own.uncast().1;
        let goes = match filled.and_then(|at| given.get(at)) {
            Some(object) if object.span == own.span => Direction::Write,
            _ => Direction::Read,
        };
        let unmarked = match &own.term {
            Term::Cast(_, value) => !space::is_cast(function, own, value),
            _ => place.name().is_none(),
        };
        let mut accesses = function.accesses.iter().filter(|_| unmarked);
        accesses.any(|access| {
            let same = access.address == *place && access.word.direction == goes;
            same && is_alternative(function, span(call), access.span)
        })
    };
    let users = |own: &&Expression| {
        // A cast binds closer than what is added to what it makes.
        let front = match &own.term {
            Term::Binary(left, ..) => left,
            _ => *own,
        };
        if is_forced(function, own) || is_forced(function, front) {
            return !either(own);
        }
        let place = own.uncast().1;
        let other = || match place.name() {
            Some(name) => space::is_set_to_another(function, name),
            None => function.assigns(place),
        };
        let kept = || !other() || space::is_from_user(function, own);
        is_in_buffer(function, own) || space::is_users(function, own) && !either(own) && kept()
    };
    // What a format takes is printed, and need not be followed.
    let until = format(given).map_or(given.len(), |(at, _)| at);
    let own = given.iter().take(until).find(users)?;
    Some(gone_through(function, own, name))
}

/// An address of the user's, by a cast the kernel's, that a function which is called by a pointer
/// is given, and elsewhere one of the kernel's: it cannot know which.
fn through_pointer(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let pointer = || function.is_parameter(name) || function.graph.local(name).is_some();
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let forced = |own: &Expression| match &own.term {
        Term::Cast(to, _) => {
            to.pointers > 0 && !space::is_users(function, own) && is_own_users(function, own)
        }
        _ => false,
    };
    let at = given.iter().position(forced)?;
    pointer().then_some(())?;
    let mut others = function.calls.iter().filter(|own| **own != call);
    let kernels = others.any(|other| {
        let whole = function.expression_of(*other);
        let Some((_, given)) = whole.call().filter(|(own, _)| *own == name) else {
            return false;
        };
        given.get(at).is_some_and(|own| {
            let pointer = || {
                let of = space::type_of(function, own.uncast().1);
                of.is_some_and(|of| {
                    matches!(
                        of.shape,
                        Shape::Pointer { user: false, .. } | Shape::Array(..)
                    )
                })
            };
            !own.is_null() && !is_own_users(function, own) && pointer()
        })
    });
    let own = given.get(at).filter(|_| kernels)?;
    Some(gone_through(function, own, name))
}

/// The violation of an address of the user's that a call goes through.
fn gone_through(function: &FunctionContext<'_>, own: &Expression, name: &str) -> Violation {
    let written = function.file.plain(own.span);
    let message =
        format!("{written} is an address of the user's, and {name}() goes through it by hand");
    function
        .file
        .violation(&INFO, own.span, "the user's", message)
}

/// The addresses of the user's that a function of the file is given, and goes through by
/// hand.
fn through_callee(function: &FunctionContext<'_>, call: Node<'_>) -> Vec<Violation> {
    let name = function.callee(call);
    let Some(name) = name.filter(|name| function.file.body_named(name).is_some()) else {
        return Vec::new();
    };
    let copies = function
        .known
        .get(name)
        .is_some_and(|own| own.copies.is_some());
    let whole = function.expression_of(call);
    // Which side of a copy is whose is another rule's question.
    let Some((_, given)) = whole.call().filter(|_| !copies) else {
        return Vec::new();
    };
    let all = given.iter().enumerate();
    let through = all.filter_map(|(at, own)| {
        let forced = || is_forced(function, own) || is_in_buffer(function, own);
        let own_users = || space::is_users(function, own) || forced();
        let users = takes_pointer(function.file, name, at) && own_users();
        // A copy's address may stand where the user's stood.
        if !users || function.assigns(own.uncast().1) {
            return None;
        }
        let place = goes_through(function, name, at)?;
        let mut violation = gone_through(function, own, name);
        let mark = function.file.mark(place, "a plain access");
        violation.related.push(mark);
        Some(violation)
    });
    through.collect()
}

fn violation(function: &FunctionContext<'_>, at: Span, what: &str, load: bool) -> Violation {
    let (done, label) = match load {
        true => ("loaded", "a plain load"),
        false => ("stored", "a plain store"),
    };
    let message = format!("{what} of the user's, and is {done} through by hand");
    let file = function.file;
    let mut violation = file.violation(&INFO, at, label, message);
    // There the memory of the user is the kernel's.
    if is_without(file, at, "CONFIG_MMU") {
        violation.confidence = Confidence::Low;
    }
    violation
}

/// What a pointer of the function that a load or a store goes through points to.
fn through_own(function: &FunctionContext<'_>, effect: &Effect, load: bool) -> Option<String> {
    let name = function.graph.name_of(effect);
    let of = declared_type(function, name).filter(|_| is_the_users(function, effect))?;
    let place = function.expression(effect.span)?;
    let target = stored_to(&place);
    // Whoever casts it says that it is the kernel's there.
    if target.any(&|own: &Expression| matches!(own.term, Term::Cast(..))) {
        return None;
    }
    let plain = || is_plain(function, effect.span) && is_loaded(function, target, name);
    (!load || plain()).then(|| match of.is_empty() {
        // `void * __user *p`: what that leads to has no name.
        true => format!("{name} is an address"),
        false => format!("{name} points to {of}"),
    })
}

/// A pointer of the kernel's that holds nothing but an address which a cast took from the user's
/// by force.
fn through_held(function: &FunctionContext<'_>, effect: &Effect, load: bool) -> Option<String> {
    let name = function.graph.name_of(effect);
    if !is_held(function, name, is_forced) {
        return None;
    }
    held(function, effect, load)
}

/// What a program's own address points to, or what a variable of the function does that holds nothing
/// but that one.
fn through_buffer(
    function: &FunctionContext<'_>,
    effect: &Effect,
    load: bool,
    buffer: &str,
) -> Option<String> {
    let name = function.graph.name_of(effect);
    let own = match name == buffer {
        true => !space::may_be_another(function, name),
        false => is_held(function, name, is_in_buffer),
    };
    own.then(|| held(function, effect, load))?
}

/// What a load or a store through a variable says that holds nothing but an address of the user's.
fn held(function: &FunctionContext<'_>, effect: &Effect, load: bool) -> Option<String> {
    let name = function.graph.name_of(effect);
    let place = function.expression(effect.span)?;
    let target = stored_to(&place);
    let plain = || is_plain(function, effect.span) && is_loaded(function, target, name);
    (!load || plain()).then(|| format!("{name} is an address"))
}

/// An address of the user's, by force one of the kernel's, that a function is given where it is given
/// the kernel's on another way.
fn through_chosen(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let own = chosen(function, given)?;
    Some(gone_through(function, own, name))
}

/// A pointer that is declared as one of the kernel's, and that every way to the load or the store
/// has handed to an access as an address of the user's, by a cast that says so.
fn through_taken(function: &FunctionContext<'_>, effect: &Effect, load: bool) -> Option<String> {
    let name = function.graph.name_of(effect);
    let mut accesses = function.accesses.iter();
    let taken = accesses.find(|own| {
        is_taken(function, own, name, effect.span) || is_of_number(function, own, name, effect.span)
    })?;
    let place = function.expression(effect.span)?;
    let target = stored_to(&place);
    let cast = target.any(&|own: &Expression| matches!(own.term, Term::Cast(..)));
    let plain = !load || is_plain(function, effect.span) && is_loaded(function, target, name);
    (!cast && plain && !switches_space(function)).then(|| {
        let line = function.line(taken.span);
        format!("{name}, which line {line} takes for an address, is one")
    })
}

/// Whether an access is given a variable by a cast to a pointer to user memory, and every way to a
/// place passes it with the same value.
fn is_taken(function: &FunctionContext<'_>, access: &Access<'_>, name: &str, at: Span) -> bool {
    if access.user_root != name || access.span.end > at.start {
        return false;
    }
    let Some(user) = function.expression(access.user) else {
        return false;
    };
    let Term::Cast(_, value) = &user.term else {
        return false;
    };
    let marked =
        space::is_cast(function, &user, value) && !space::is_forced(function, &user, value);
    let own = value.uncast().1;
    own.name() == Some(name)
        && marked
        && function.graph.passes(&[access.span], at)
        && is_same_behind(function, name, access.span, at)
}

/// Whether a way leads from one place to another on which a variable takes no other value.
fn is_same_behind(function: &FunctionContext<'_>, name: &str, from: Span, to: Span) -> bool {
    let graph = function.graph;
    let takes = |own: &Effect| {
        let whole = graph.name_of(own) == name && graph.is_whole(own);
        whole && own.kind != EffectKind::Read
    };
    let changes = |node: &Step| graph.effects_at(node).iter().any(takes);
    let mut reached = graph.reached_behind_any(graph.nodes_in(from), changes);
    reached.extend(graph.nodes_in(from));
    function.touching(to).into_iter().any(|at| {
        let before = graph.effects_of(at).iter().take_while(|own| own.span != to);
        let kept = !before.into_iter().any(takes);
        let leads = |from: &usize| {
            let node = graph.nodes.get(*from);
            node.is_some_and(|node| node.next.iter().any(|(_, next)| *next == at))
        };
        kept && (reached.contains(&at) || reached.iter().any(leads))
    })
}

/// The place that is written, or what is read.
fn stored_to(place: &Expression) -> &Expression {
    match &place.term {
        Term::Assignment(left, ..) => left,
        _ => place,
    }
}

/// A load or a store through an address of the user's that is no variable of the
/// function: a cast, a member that is declared so, what makes an address of a number.
fn through_other(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    forced: bool,
) -> Option<Violation> {
    let follows = match node.known_kind() {
        "subscript_expression" => true,
        "field_expression" => function.context.operator(node) == b"->",
        "pointer_expression" => function.context.operator(node) == b"*",
        _ => false,
    };
    // A variable of the function is seen by its effects.
    let argument = node.part("argument").filter(|_| follows)?;
    if argument.known_kind() == "identifier" {
        return None;
    }
    // What the text alone says comes first: a type takes a search of the headers.
    let (whole, use_of) = used(node)?;
    let stored = use_of.known_kind() == "update_expression"
        || use_of.known_kind() == "assignment_expression" && use_of.part("left") == Some(whole);
    let taken =
        use_of.known_kind() == "pointer_expression" && function.context.operator(use_of) == b"&";
    if taken || !stored && !is_plain(function, span(node)) {
        return None;
    }
    let place = function.expression_of(node);
    let pointer = space::followed(&place)?;
    let by_force = || {
        let own = forced.then(|| cast_of(pointer))?;
        own.filter(|own| is_forced(function, own))
    };
    let users = space::is_users(function, pointer)
        || is_programs_number(function, pointer)
        || is_in_buffer(function, pointer)
        || by_force().is_some();
    if pointer.name().is_some() || !users {
        return None;
    }
    // A copy's address may stand where the user's stood.
    if is_tried_before(function, pointer, node)
        || space::takes_another(function, pointer.uncast().1)
    {
        return None;
    }
    let pointer = holder(function, pointer)?;
    // What a member behind it holds is another address.
    if !space::is_users(function, pointer)
        && !is_programs_number(function, pointer)
        && !is_in_buffer(function, pointer)
        && cast_of(pointer).is_none_or(|own| !is_forced(function, own))
    {
        return None;
    }
    let whole_place = function.expression_of(bare(whole));
    if pointer.name().is_some() || !stored && !has_value(function, &whole_place) {
        return None;
    }
    let what = format!("{} is an address", function.file.plain(pointer.span));
    let at = if stored { use_of } else { whole };
    Some(violation(function, span(at), &what, !stored))
}

/// Whether a cast makes a pointer of the number that a program gives with a call, which is an
/// address of the user's where it is one: `*(int *)arg`.
fn is_programs_number(function: &FunctionContext<'_>, pointer: &Expression) -> bool {
    let Term::Cast(to, value) = &pointer.term else {
        return false;
    };
    let (file, own) = (function.file, function.body);
    let name = value.uncast().1.name();
    let kept = name.filter(|name| to.pointers > 0 && !function.graph.takes_a_value(name));
    let Some(name) = kept.filter(|name| function.is_parameter(name)) else {
        return false;
    };
    let mut numbers = file.handlers(own).filter_map(|own| own.number).peekable();
    let names = numbers
        .peek()
        .and_then(|_| parameters(file.text, file.tokens, own));
    names.is_some_and(|names| numbers.any(|at| names.get(at).is_some_and(|own| own == name)))
}

/// Whether a cast to a kernel's pointer is followed where an access to the same address
/// has faulted: what emulates an instruction tries the user first, then the kernel.
fn is_tried_before(function: &FunctionContext<'_>, pointer: &Expression, node: Node<'_>) -> bool {
    if !matches!(pointer.term, Term::Cast(..)) {
        return false;
    }
    let (_, address) = pointer.uncast();
    let asked = function
        .accesses
        .iter()
        .filter(|access| access.address == *address);
    let conditions: Vec<Span> = asked.map(|access| access.span).collect();
    let mut around = function.around(node);
    around.any(|own| {
        let asked = own
            .part("condition")
            .filter(|_| own.known_kind() == "if_statement");
        let asked = asked.map(span).filter(|asked| !asked.contains(span(node)));
        asked.is_some_and(|asked| conditions.iter().any(|access| asked.contains(*access)))
    })
}

/// The largest place of which a node is the front, its members and the parentheses around
/// it, and what has that as its part.
fn used(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let mut whole = node;
    loop {
        let around = whole.parent()?;
        let member = around.known_kind() == "field_expression"
            && around
                .part("operator")
                .is_some_and(|own| own.known_kind() == ".");
        if !member && around.known_kind() != "parenthesized_expression" {
            return Some((whole, around));
        }
        whole = around;
    }
}

/// The pointer that leads to an array: it lies in what holds it.
fn holder<'e>(
    function: &FunctionContext<'_>,
    mut pointer: &'e Expression,
) -> Option<&'e Expression> {
    while let Term::Member { .. } | Term::Element { .. } = pointer.term
        && let Some(Shape::Array(..)) = space::type_of(function, pointer).map(|of| of.shape)
    {
        pointer = space::followed(pointer)?;
    }
    Some(pointer)
}

fn has_value(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let of = space::type_of(function, place);
    of.is_some_and(|of| !matches!(of.shape, Shape::Array(..) | Shape::Opaque))
}

/// Whether nothing but operators take what is there, and what computes with values alone:
/// no other call, which may be a macro that takes its address, and no assembly.
fn is_plain(function: &FunctionContext<'_>, place: Span) -> bool {
    let root = function.root;
    let mut node = root.descendant_for_byte_range(place.start, place.end);
    while let Some(own) = node {
        match own.known_kind() {
            "call_expression" if is_pure(function, own) => node = function.above(own),
            "call_expression" | "gnu_asm_expression" => return false,
            "declaration" => return true,
            _ if own.is_statement() => return true,
            _ => node = function.above(own),
        }
    }
    false
}

/// `READ_ONCE(p->size)`, `le32_to_cpu(p->size)`
fn is_pure(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let name = function.called(call);
    function.context.vocabulary.is_pure(name)
}

/// Whether the place has a value of its own: an array is but its address, and so may be
/// what the tree says nothing of.
fn is_loaded(function: &FunctionContext<'_>, place: &Expression, pointer: &str) -> bool {
    let of = extent::place(function, place, pointer).map(|(_, of)| of);
    // Which element it is, is of no matter.
    let of = of.or_else(|| space::type_of(function, place));
    of.is_some_and(|of| matches!(of.shape, Shape::Scalar { .. } | Shape::Pointer { .. }))
}

/// Whether the declaration that the variable has there makes it a pointer to user
/// memory, no array of such; a parameter that takes another value may be anything.
fn is_the_users(function: &FunctionContext<'_>, effect: &Effect) -> bool {
    let (graph, text) = (function.graph, function.file.text);
    let name = graph.name_of(effect);
    let local = graph.places.as_local(graph.places.root(effect.place));
    let place = match local.and_then(|local| graph.locals.get(local)) {
        Some(local) if local.array => return false,
        Some(local) => local.declared,
        None if space::may_be_another(function, name) => return false,
        None => function.body.header,
    };
    let own = function.file.tokens_in(place);
    own.windows(3).any(|three| {
        let array = three.last().is_some_and(|next| next.is(b'['));
        declares(function, three, name) && !array
    }) && own.iter().any(|token| token.span.of(text) == b"__user")
}

/// Whether what is loaded is stored in the same expression: `(*p)++`, which is told once.
fn is_stored_too(function: &FunctionContext<'_>, load: &Effect) -> bool {
    let mut effects = function.graph.effects.iter();
    effects.any(|own| is_store(own) && own.place == load.place && own.span.contains(load.span))
}

/// An assignment; what inline assembly writes is its own affair.
fn is_store(effect: &Effect) -> bool {
    matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some() || write.next)
}
