//! What a function sets of a struct before it is copied out: by itself, by what it calls.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Local, Node as Step, is_assembly};
use crate::lex::{Token, TokenKind};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::types::Shape;
use crate::{Direction, Span};

use super::accesses::{Access, every};
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fill::{Elements, Filling, Put, counted, element, filling};
use super::heap::set_by_alias;
use super::range::function_tokens;
use super::set_elements::{by_rounds, given_elements, left_out};
use super::space;

/// What is set of a struct.
#[derive(Default)]
pub(crate) struct Filled {
    /// The paths of the members that are set, `a.b`.
    pub(crate) members: BTreeSet<String>,
    /// The members of which a part is set.
    pub(crate) partly: Vec<(String, Filling)>,
    /// The arrays of which elements are set by their numbers, with how many they have.
    elements: BTreeMap<String, (Elements, u64)>,
    /// The arrays of which one element is set, by a number that is no constant.
    single: BTreeSet<String>,
    /// The arrays of which an element is set in some rounds of a loop, by what leaves it out.
    rounds: BTreeMap<String, BTreeMap<Span, Span>>,
    /// The reads from the user that fill all of it.
    pub(crate) fetched: Vec<Span>,
    /// The calls that set all of it.
    pub(crate) cleared: Vec<Span>,
    /// The call that sets the most bytes from its front on, if none sets all, and
    /// how many.
    pub(crate) front: Option<(Span, u64)>,
    /// Whether a call is given its address, which may set all of it.
    pub(crate) handed: bool,
    /// Whether something else that is not followed may have set all of it.
    pub(crate) elsewhere: bool,
}

impl Filled {
    /// With what a call sets that was looked into.
    pub(crate) fn add(&mut self, other: Self) {
        self.members.extend(other.members);
        self.partly.extend(other.partly);
        self.single.extend(other.single);
        for (path, (own, count)) in other.elements {
            let known = self
                .elements
                .entry(path)
                .or_insert_with(|| (Elements::new(own.first), count));
            known.0.numbers.extend(own.numbers);
        }
        for (path, own) in other.rounds {
            self.rounds.entry(path).or_default().extend(own);
        }
    }

    /// With what is set of a member by a pointer to it, or to an element of it.
    fn add_under(&mut self, path: &str, own: Self, array: bool) {
        let under = |inner: &String| format!("{path}.{inner}");
        let any = own.handed || own.members.len() + own.partly.len() > 0;
        self.elsewhere |= own.elsewhere;
        match array || own.handed {
            // Elements are not told apart.
            true => self.members.extend(any.then(|| path.to_owned())),
            false => {
                self.members.extend(own.members.iter().map(under));
                let partly = own.partly.into_iter();
                self.partly
                    .extend(partly.map(|(inner, part)| (under(&inner), part)));
            }
        }
    }

    /// With elements of an array that are set from a place on, of so many.
    fn set(&mut self, path: String, (at, numbers, count): (Span, BTreeSet<u64>, u64)) {
        let own = self.elements.entry(path);
        let (own, _) = own.or_insert_with(|| (Elements::new(at), count));
        own.numbers.extend(numbers);
    }

    /// With what elements make of their arrays.
    pub(crate) fn settle(&mut self) {
        for path in std::mem::take(&mut self.single) {
            let counted =
                |(own, part): &(String, Filling)| *own == path && part.put == Put::Counted;
            if !self.partly.iter().any(counted) {
                self.members.insert(path);
            }
        }
        for (path, (own, count)) in std::mem::take(&mut self.elements) {
            let filling = own.of(count);
            // What is left by the one the other may set.
            let both = self.partly.iter().any(|(own, _)| *own == path);
            match filling.put {
                _ if both => drop(self.members.insert(path)),
                Put::All => drop(self.members.insert(path)),
                _ => self.partly.push((path, filling)),
            }
        }
        for (path, own) in std::mem::take(&mut self.rounds) {
            match own.into_values().collect::<Vec<_>>().as_slice() {
                [call] => self.partly.push((
                    path,
                    Filling {
                        call: *call,
                        put: Put::Rounds,
                    },
                )),
                // What one of them leaves out the other may set.
                _ => drop(self.members.insert(path)),
            }
        }
    }
}

/// Where the struct is named before it is copied.
pub(crate) fn mentions_before<'t>(
    function: &FunctionContext<'t>,
    local: &Local,
    access: &Access<'_>,
) -> impl Iterator<Item = Node<'t>> {
    let (scope, at) = (local.scope, access.span.start);
    let own = function.mentions(&local.name);
    own.filter(move |node| node.start_byte() < at && scope.contains(span(*node)))
}

/// What sets members of the struct before it is copied.
pub(crate) fn filled(function: &FunctionContext<'_>, local: &Local, access: &Access<'_>) -> Filled {
    filled_past(function, local, access, |_| false)
}

/// The same on a way that passes by some places.
pub(crate) fn filled_past(
    function: &FunctionContext<'_>,
    local: &Local,
    access: &Access<'_>,
    passes_by: impl Fn(Span) -> bool,
) -> Filled {
    let mut found = Filled::default();
    for node in mentions_before(function, local, access).filter(|own| !passes_by(span(*own))) {
        if let Some(call) = fetching(function, node, local) {
            found.fetched.push(call);
            continue;
        }
        match clearing(function, node, local) {
            Some(call) => set(function, access, call, local, &mut found),
            None => {
                let handed = found.handed;
                mention(function, node, &mut found);
                // What it is handed to on a way that ends there does not matter.
                if found.handed && !handed {
                    let address = function.above(node).unwrap_or(node);
                    found.handed = may_lead(function, span(address), access.span);
                }
            }
        }
    }
    beside_the_parse(function, local, access, &mut found);
    found.settle();
    found
}

/// What the other sides of an `#if` set, which are not in the parse.
fn beside_the_parse(
    function: &FunctionContext<'_>,
    local: &Local,
    access: &Access<'_>,
    found: &mut Filled,
) {
    let text = function.file.text;
    let tokens = function_tokens(function);
    let named = |token: &Token| {
        let names = token.span.of(text) == local.name.as_bytes();
        names && token.span.start < access.span.start && local.scope.contains(token.span)
    };
    let all = tokens.iter().enumerate();
    let all = all.filter(|(_, token)| named(token));
    let mut hidden: BTreeMap<usize, usize> = all.map(|(at, own)| (own.span.start, at)).collect();
    for node in function.mentions(&local.name) {
        hidden.remove(&node.start_byte());
    }
    // What is never evaluated is in the parse, too.
    if !hidden.is_empty() {
        every(function.root, &mut |node| {
            hidden.remove(&node.start_byte());
        });
    }
    for at in hidden.into_values() {
        let set = tokens.get(at + 1..).and_then(|rest| assigned(text, rest));
        match set {
            Some(path) => drop(found.members.insert(path)),
            None => found.elsewhere = true,
        }
    }
}

/// The member that takes a value behind the name of a variable: `.a.b = `
fn assigned(text: &[u8], mut rest: &[Token]) -> Option<String> {
    let mut path = Vec::new();
    while let [dot, field, more @ ..] = rest
        && dot.is(b'.')
        && field.kind == TokenKind::Word
    {
        path.push(answer::text(field.span.of(text))?);
        rest = more;
    }
    match rest {
        [sign, next, ..] if sign.is(b'=') && !next.is(b'=') && !path.is_empty() => {
            Some(path.join("."))
        }
        _ => None,
    }
}

/// Whether a way leads from one place to another, as far as that is known.
fn may_lead(function: &FunctionContext<'_>, from: Span, to: Span) -> bool {
    function.touching(from).is_empty()
        || function.touching(to).is_empty()
        || function.comes_to(from, to)
}

/// The read from the user that fills all of the struct where it is named.
fn fetching(function: &FunctionContext<'_>, variable: Node<'_>, local: &Local) -> Option<Span> {
    let address = function
        .above(variable)
        .filter(|own| own.known_kind() == "pointer_expression" && local.plain)?;
    let place = span(address);
    let mut accesses = function.accesses.iter();
    let read = accesses.find(|own| own.value == place && own.word.direction == Direction::Read)?;
    let whole = local.is_sized(read.bytes.as_ref()?.uncast().1);
    whole.then_some(read.span)
}

/// A call that sets bytes of the struct from its front on, and how many it is given.
struct Clearing<'t> {
    call: Node<'t>,
    count: Expression,
}

fn clearing<'t>(
    function: &FunctionContext<'t>,
    variable: Node<'t>,
    local: &Local,
) -> Option<Clearing<'t>> {
    let address = function.above(variable)?;
    // `(void *)&x`
    let argument = cast_of(function, address);
    let arguments = function.above(argument)?;
    let call = function.above(arguments)?;
    let place = span(address);
    let mut accesses = function.accesses.iter();
    let read = accesses.find(|own| own.value == place && own.word.direction == Direction::Read);
    if let Some(count) = read.and_then(|own| own.bytes.clone()) {
        // What all of it was copied over is set.
        let front = address.known_kind() == "pointer_expression" && local.plain;
        let front = front && !local.is_sized(&count) && bytes(function, &count).is_some();
        return front.then_some(Clearing { call, count });
    }
    let name = String::from_utf8_lossy(function.called(call)).into_owned();
    let clears = function.file.words.clears(&name)?;
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    let whole = address.known_kind() == "pointer_expression" && local.plain;
    let object = part(clears.object).filter(|own| whole && own.id() == argument.id());
    let count = Expression::of(function.context, part(clears.count)?);
    object.map(|_| Clearing { call, count })
}

/// An expression with the casts around it.
fn cast_of<'t>(function: &FunctionContext<'t>, own: Node<'t>) -> Node<'t> {
    let around = function.around(own);
    let casts = around.take_while(|node| node.known_kind() == "cast_expression");
    casts.last().unwrap_or(own)
}

/// Notes what a call sets; one in a loop that the copy is not in may be passed by.
fn set(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    own: Clearing<'_>,
    local: &Local,
    found: &mut Filled,
) {
    let mut around = function.around(own.call);
    let looped = around.any(|node| {
        let looks = matches!(node.known_kind(), "for_statement" | "while_statement");
        looks && !span(node).contains(access.span)
    });
    if looped {
        found.elsewhere = true;
        return;
    }
    if local.is_sized(&own.count) {
        found.cleared.push(span(own.call));
        return;
    }
    match bytes(function, &own.count) {
        Some(count) if found.front.is_none_or(|(_, most)| most < count) => {
            found.front = Some((span(own.call), count));
        }
        Some(_) => {}
        None => found.elsewhere = true,
    }
}

/// How many bytes an expression says; a pointer has those of a 64-bit kernel.
fn bytes(function: &FunctionContext<'_>, count: &Expression) -> Option<u64> {
    if matches!(&count.term, Term::SizeOf(of) if matches!(of.term, Term::Address(_))) {
        return Some(8);
    }
    let value = count.name().and_then(|name| {
        let value = function.graph.only_value(name)?;
        function.expression(value)
    });
    space::bytes(function, value.as_ref().map_or(count, |own| own.uncast().1))
}

/// A mention of the struct: a member that is set or read, its size, or else
/// something that may fill it.
fn mention(function: &FunctionContext<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = function.above(node) else {
        return;
    };
    match parent.known_kind() {
        // An operand says where assembly writes, not how far.
        _ if is_operand(function, node) => found.elsewhere = true,
        "declaration" => {}
        "field_expression" => {
            let Some((path, whole)) = member(function, node, b".") else {
                return;
            };
            filled_member(function, (path, whole), found);
        }
        _ if goes_out(function, parent) => {}
        _ if is_handed(function, parent) => match of_callee(function, parent) {
            Some(own) => found.add(own),
            None => found.handed = true,
        },
        _ => found.elsewhere = true,
    }
}

/// A member that is set or read.
pub(crate) fn filled_member(
    function: &FunctionContext<'_>,
    (path, whole): (String, Node<'_>),
    found: &mut Filled,
) {
    if is_target(function, whole) || is_target(function, behind_cast(function, whole)) {
        let known = numbered(function, whole, |array| {
            element(function, array).map(|at| BTreeSet::from([at]))
        });
        let left_out = || left_out(function, whole);
        let rounds = || numbered(function, whole, |array| by_rounds(function, array));
        if let Some(own) = known {
            found.set(path, own);
        } else if let Some(by) = left_out() {
            let own = found.rounds.entry(path).or_default();
            own.insert(by, span(whole));
        } else if let Some(own) = rounds() {
            found.set(path, own);
        } else if is_one_element(function, whole) {
            found.single.insert(path);
        } else {
            found.members.insert(path);
        }
    } else if let Some(own) = filling(function, whole) {
        match own.put {
            Put::All => drop(found.members.insert(path)),
            _ => found.partly.push((path, own)),
        }
    } else if let Some((numbers, count)) = given(function, whole) {
        found.set(path, (span(whole), numbers, count));
    } else if let Some(own) = counted(function, whole) {
        found.partly.push((path, own));
    } else if is_moved_in(function, whole) {
        // What a call is given a place in it for may fill the rest.
        found.members.insert(path);
    } else if is_source(function, whole) {
        // What is copied from it leaves it as it is.
    } else if let Some((own, array)) = set_by_alias(function, whole) {
        found.add_under(&path, own, array);
    } else if takes_address(function, whole) {
        // Who is given a member's address fills the member, unless a size says
        // that more is meant.
        match is_given_alone(function, whole) {
            true => drop(found.members.insert(path)),
            false => found.elsewhere = true,
        }
    }
}

/// Whether a place is an element outside of any loop: `x.name[n]`.
fn is_one_element(function: &FunctionContext<'_>, place: Node<'_>) -> bool {
    let mut around = function.around(place);
    place.known_kind() == "subscript_expression"
        && !around.any(|own| LOOPS.contains(&own.known_kind()))
}

/// Whether a call is given a place in an array that is no front of it: `x.name + n`.
fn is_moved_in(function: &FunctionContext<'_>, array: Node<'_>) -> bool {
    let sum = function.above(array);
    let sum = sum.filter(|own| {
        own.known_kind() == "binary_expression" && function.context.operator(*own) == b"+"
    });
    let holder = sum.and_then(|own| function.above(own));
    let given = holder.is_some_and(|own| own.known_kind() == "argument_list");
    let place = given.then(|| Expression::of(function.context, array));
    let of = place.and_then(|own| space::type_of(function, &own));
    of.is_some_and(|of| matches!(of.shape, Shape::Array(..)))
}

/// The elements of a member that a function of the file sets which is given it, and how many it has.
fn given(function: &FunctionContext<'_>, member: Node<'_>) -> Option<(BTreeSet<u64>, u64)> {
    let whole = Expression::of(function.context, member);
    let argument = function.above(member)?.known_kind() == "argument_list";
    let numbers = given_elements(function, member).filter(|own| argument && !own.is_empty())?;
    Some((numbers, space::elements(function, &whole)?))
}

/// The array of which a place is an element, the numbers that it may have, and how many there are: a
/// member of an element is none.
fn numbered(
    function: &FunctionContext<'_>,
    place: Node<'_>,
    numbers: impl Fn(Node<'_>) -> Option<BTreeSet<u64>>,
) -> Option<(Span, BTreeSet<u64>, u64)> {
    let array = place
        .part("argument")
        .filter(|_| place.known_kind() == "subscript_expression")?;
    let numbers = numbers(array)?;
    let whole = Expression::of(function.context, array);
    let inner = whole.any(&|own| matches!(own.term, Term::Element { .. }));
    let count = space::elements(function, &whole).filter(|_| !inner)?;
    Some((span(array), numbers, count))
}

/// So many functions of the file may hand the struct's address on, one to the other.
const HANDED_ON: usize = 3;

/// What a function of the file that is given the struct's address sets of it, or a function that it
/// gives that to; none where it is not known.
pub(crate) fn of_callee(function: &FunctionContext<'_>, address: Node<'_>) -> Option<Filled> {
    sets_of(function, address, HANDED_ON)
}

fn sets_of(function: &FunctionContext<'_>, address: Node<'_>, depth: usize) -> Option<Filled> {
    let depth = depth.checked_sub(1)?;
    let arguments = function.above(address)?;
    let call = function.above(arguments)?;
    let name = function.callee(call)?;
    let mut cursor = arguments.walk();
    let mut all = arguments.named_children(&mut cursor);
    let at = all.position(|own| own.id() == address.id())?;
    look_into(function, name, |callee| {
        let own = parameter(callee, at)?;
        let mut found = Filled::default();
        let named = callee.mentions(&own);
        named.for_each(|node| match given_on(callee, node, depth) {
            Some(own) => found.add(own),
            None => behind(callee, node, &mut found),
        });
        let known = !found.elsewhere && !found.handed;
        // Who asks whether there is anything to set is not left without it here.
        if !callee.mentions(&own).any(|node| is_tested(callee, node)) {
            found
                .members
                .retain(|path| is_always_set(callee, &own, path));
        }
        known.then_some(found)
    })
}

/// What another function of the file sets, to which a pointer is given on; nothing where it may go
/// wrong, and its caller goes on all the same.
fn given_on(function: &FunctionContext<'_>, pointer: Node<'_>, depth: usize) -> Option<Filled> {
    let arguments = function.above(pointer)?;
    (arguments.known_kind() == "argument_list").then_some(())?;
    sets_of(function, pointer, depth)
}

/// Whether every way through a function sets that member behind its parameter; a loop is
/// taken to go round.
fn is_always_set(function: &FunctionContext<'_>, parameter: &str, path: &str) -> bool {
    let nothing = function.file.gives_nothing(function.body);
    let mut places = Vec::new();
    for node in function.mentions(parameter) {
        // What it is given on to sets what it sets.
        let given = function.above(node);
        let given = given.filter(|own| own.known_kind() == "argument_list");
        places.extend(given.and_then(|own| function.above(own)).map(span));
        let member = member(function, node, b"->");
        if let Some((_, whole)) = member.filter(|(own, _)| own == path) {
            let mut around = function.around(whole);
            let last = around.find(|own| LOOPS.contains(&own.known_kind()));
            places.push(span(last.unwrap_or(whole)));
        }
    }
    let graph = function.graph;
    let inside = |place: Span| {
        places
            .iter()
            .any(|own| own.contains(place) || place.contains(*own))
    };
    let sets = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        let acts = !matches!(node.action, Action::Join | Action::Exit { .. });
        acts && inside(node.span) || effects.any(|own| inside(own.span))
    };
    // A result may tell its caller what was not set: all but a 0 does.
    let tells = |node: &Step| !nothing && !returns_zero(function, node);
    let reached = graph.reached(0, sets);
    let mut left = reached.iter().filter_map(|at| graph.nodes.get(*at));
    !left.any(|node| matches!(node.action, Action::Exit { .. }) && !tells(node))
}

/// Whether 0 is what the function gives where it is left.
fn returns_zero(function: &FunctionContext<'_>, exit: &Step) -> bool {
    let given = function.graph.statement(exit.span);
    let given = given.and_then(|own| function.expression(own.expression?));
    given.is_some_and(|own| own.is_zero())
}

/// A mention of a pointer to the struct: a member behind it that is set or read, a test of
/// it, or else something that may fill it.
pub(crate) fn behind(function: &FunctionContext<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = function.above(node) else {
        return;
    };
    match parent.known_kind() {
        _ if is_operand(function, node) => found.elsewhere = true,
        "field_expression" => match member(function, node, b"->") {
            Some(own) => filled_member(function, own, found),
            None => found.elsewhere = true,
        },
        "sizeof_expression" => {}
        // One that gives nothing may leave all of it there, and nobody hears of that.
        _ if !function.file.gives_nothing(function.body) && is_tested(function, node) => {}
        _ => found.elsewhere = true,
    }
}

/// Whether nothing but whether a pointer is NULL is asked: `if (p)`, `p && p->a`, `!p`.
fn is_tested(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let Some(parent) = function.above(node) else {
        return false;
    };
    let operator = function.context.operator(parent);
    let condition = || {
        let around = function.above(parent).and_then(|own| own.part("condition"));
        around.map(|own| own.id()) == Some(parent.id())
    };
    match parent.known_kind() {
        "unary_expression" => operator == b"!",
        "binary_expression" => matches!(operator, b"&&" | b"||"),
        "parenthesized_expression" => condition(),
        _ => false,
    }
}

/// Whether `&x` is what an access gives to the user, which leaves it as it is.
pub(crate) fn goes_out(function: &FunctionContext<'_>, address: Node<'_>) -> bool {
    let place = span(address);
    let mut accesses = function.accesses.iter();
    address.known_kind() == "pointer_expression"
        && accesses.any(|own| own.word.direction == Direction::Write && own.value == place)
}

/// Whether `&x` is an argument of a call that is no access and no copy of a size.
fn is_handed(function: &FunctionContext<'_>, address: Node<'_>) -> bool {
    let call = function
        .above(address)
        .and_then(|arguments| function.above(arguments));
    let call = call.filter(|own| {
        own.known_kind() == "call_expression" && address.known_kind() == "pointer_expression"
    });
    call.is_some_and(|call| {
        let name = String::from_utf8_lossy(function.called(call)).into_owned();
        let words = function.file.words;
        let reads = words
            .access(&name)
            .or_else(|| words.in_window(&name))
            .is_some();
        let sized = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
        !reads && !Expression::of(function.context, call).any(&sized)
    })
}

/// Whether a node is in an operand of inline assembly, which the parser sees as a
/// call.
fn is_operand<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    let mut around = std::iter::once(node).chain(function.around(node));
    around.any(|node| {
        let word = || {
            let tokens = function_tokens(function);
            let at = tokens.partition_point(|t| t.span.start < node.start_byte());
            tokens.get(at).map(|t| t.span.of(function.file.text))
        };
        node.known_kind() == "call_expression" && word().is_some_and(is_assembly)
    })
}

/// The path from a variable to the member that an expression names, and the
/// expression; an element stands for its whole array. None if the path leaves
/// the variable through another step than the first.
pub(crate) fn member<'t>(
    function: &FunctionContext<'t>,
    variable: Node<'t>,
    first: &[u8],
) -> Option<(String, Node<'t>)> {
    let (mut node, mut path, mut array) = (variable, Vec::new(), false);
    let mut step = first;
    while let Some(parent) = function.above(node) {
        let inner = parent.part("argument").map(|inner| inner.id());
        match parent.known_kind() {
            _ if inner != Some(node.id()) => break,
            "subscript_expression" => array = true,
            "field_expression" if function.context.operator(parent) == step => {
                step = b".";
                let field = parent.part("field")?;
                path.extend((!array).then(|| function.context.written(field)));
            }
            "field_expression" => return None,
            _ => break,
        }
        node = parent;
    }
    Some((path.join("."), node))
}

/// Whether a node is assigned, or filled by a read from the user: `x.m |= 1` gives it no
/// value.
fn is_target(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let Some(parent) = function.above(node) else {
        return false;
    };
    let assigned = parent.known_kind() == "assignment_expression"
        && function.context.operator(parent) == b"="
        && parent.part("left").map(|l| l.id()) == Some(node.id());
    let call = function
        .above(parent)
        .filter(|c| c.known_kind() == "call_expression");
    let read = call.is_some_and(|call| {
        let name = String::from_utf8_lossy(function.called(call)).into_owned();
        let words = function.file.words;
        words
            .access(&name)
            .or_else(|| words.in_window(&name))
            .is_some_and(|w| w.direction == Direction::Read)
    });
    assigned || read
}

/// `*(T *)&place`, which is the place by another type; the place itself where there is no
/// such cast around it.
fn behind_cast<'t>(function: &FunctionContext<'t>, place: Node<'t>) -> Node<'t> {
    let is = |node: Node<'t>, operator: &[u8]| {
        node.known_kind() == "pointer_expression" && function.context.operator(node) == operator
    };
    let address = function.above(place).filter(|own| is(*own, b"&"));
    let cast = address.and_then(|own| function.above(own));
    let cast = cast.filter(|own| own.known_kind() == "cast_expression");
    let behind = cast.and_then(|own| {
        let mut around = function.around(own);
        around.find(|own| own.known_kind() != "parenthesized_expression")
    });
    behind.filter(|own| is(*own, b"*")).unwrap_or(place)
}

/// Whether a call is given a member, or its address, that copies from there into something else.
fn is_source(function: &FunctionContext<'_>, member: Node<'_>) -> bool {
    let address = function
        .above(member)
        .filter(|own| own.known_kind() == "pointer_expression");
    let argument = address.unwrap_or(member);
    let arguments = function
        .above(argument)
        .filter(|own| own.known_kind() == "argument_list");
    let object = arguments.and_then(|arguments| {
        let name = function.callee(function.above(arguments)?)?;
        let filled = function.file.words.fills(name)?;
        arguments.named_child(answer::fits(filled.object)?)
    });
    object.is_some_and(|own| own.id() != argument.id())
}

/// Whether a call is given the address of a member and not the size of what is larger.
fn is_given_alone(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let call = around.find(|own| own.known_kind() != "pointer_expression");
    let Some(call) = call.filter(|own| own.known_kind() == "argument_list") else {
        return false;
    };
    let whole = function.expression(span(call));
    let sized = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    whole.is_some_and(|whole| !whole.any(&sized))
}

fn takes_address(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    // An array member decays to its address as an argument.
    function.above(node).is_some_and(|p| {
        p.known_kind() == "pointer_expression" && function.context.operator(p) == b"&"
            || p.known_kind() == "argument_list"
    })
}
