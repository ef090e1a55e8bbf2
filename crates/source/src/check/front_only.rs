//! Structures of a function of which a copy from the user fills no more than the front, and of which
//! what lies behind is used as if it were filled, too.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::Local;
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::{Shape, Type};

use super::accesses::Access;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::filled_short::comes_as_it_is;
use super::leading::{elsewhere, whole};
use super::space;

/// So many places that name the structure are looked at.
const FEW: usize = 64;

/// A structure of which only the front is filled.
pub(crate) struct FrontOnly {
    /// How many bytes are filled, and how many there are.
    pub(crate) bytes: u64,
    pub(crate) size: u64,
    /// The member behind them.
    pub(crate) member: String,
    /// Where it is used.
    pub(crate) used: Span,
    /// The function that uses it, where it is given all of the structure.
    pub(crate) by: Option<String>,
}

/// What a place that names the structure does with it.
enum Act {
    /// A member is read.
    Reads(String),
    /// All of it is given by its address to a call, as which argument.
    Given(Span, usize),
    /// A member takes a value.
    Sets(String),
    /// Bytes from its front on come from the user.
    Fetches(Span),
    /// What is done may fill it.
    Other,
}

/// What is used of what `copy_from_user(&x, u, offsetofend(struct x, m))` leaves as it was.
pub(crate) fn front_only(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<FrontOnly> {
    let count = access
        .bytes
        .as_ref()
        .filter(|_| access.word.direction == Direction::Read)?;
    let value = function.expression_of(access.value_node);
    let Term::Address(object) = &value.uncast().1.term else {
        return None;
    };
    let local = function.local_at(object.name()?, access.span)?;
    let bare = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    let written = count.uncast().1;
    // All of it is meant mostly, and a type takes a search.
    let all = matches!(&written.term, Term::SizeOf(of) if of.name() == object.name());
    (bare && !all && !function.graph.unseen.contains(&local.name)).then_some(())?;
    let bytes = fixed(function, written, access.span)?;
    let of = space::type_of(function, object)?;
    (bytes < of.size && matches!(of.shape, Shape::Struct(_))).then_some(())?;
    function.pays()?;
    let front = Front {
        function,
        local,
        of: &of,
        bytes,
    };
    front.used(access.span)
}

/// How many bytes a number says at a place: a constant, or the only one that a variable comes there
/// with.
fn fixed(function: &FunctionContext<'_>, count: &Expression, at: Span) -> Option<u64> {
    let known = of_types(function, count.span).or_else(|| space::bytes(function, count));
    if known.is_some() {
        return known;
    }
    let name = count.name()?;
    function.local_at(name, at).filter(|own| own.plain)?;
    let values = function.graph.assignments().filter(|(own, _)| *own == name);
    let mut values = values.filter(|(_, value)| comes_as_it_is(function, name, (*value, at)));
    let (_, value) = values.next().filter(|_| values.next().is_none())?;
    of_types(function, value)
        .or_else(|| space::bytes(function, function.expression(value)?.uncast().1))
}

/// Whether a name is a member's that such a call is given.
fn is_member<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    let mut around = function.around(node);
    let call = around.find(|own| own.known_kind() == "call_expression" || own.is_statement());
    let name = call
        .filter(|own| !own.is_statement())
        .and_then(|own| function.callee(own));
    name.is_some_and(|name| function.file.words.results().is_of_types(name))
}

/// The constant that a call makes of a type and a member, which may be called as a variable is.
fn of_types(function: &FunctionContext<'_>, value: Span) -> Option<u64> {
    let file = function.file;
    let first = file.tokens_in(value).first()?;
    let name = answer::text(first.span.of(file.text))?;
    let own = file.words.results().is_of_types(name);
    own.then(|| file.value(&file.plain(value))).flatten()
}

struct Front<'f, 't> {
    function: &'f FunctionContext<'t>,
    local: &'f Local,
    of: &'f Type,
    bytes: u64,
}

impl<'t> Front<'_, 't> {
    /// Where something behind the front is used that nothing has filled, on a way behind a copy.
    fn used(&self, copy: Span) -> Option<FrontOnly> {
        let function = self.function;
        let named = || {
            let own = function.mentions(&self.local.name);
            own.filter(|own| {
                !self.local.declared.contains(span(*own)) && !is_member(function, *own)
            })
        };
        (named().take(FEW + 1).count() <= FEW).then_some(())?;
        let apart = elsewhere(function, named(), copy);
        let (mut stops, mut uses) = (Vec::new(), Vec::new());
        for node in named().filter(|own| !copy.contains(span(*own))) {
            let act = self.act(node);
            let before = node.end_byte() <= copy.start;
            if before && !apart.contains(&span(node)) && !self.leaves(&act) {
                return None;
            }
            let at = span(whole(function, node));
            match act {
                Act::Reads(path) => uses.extend(self.behind(&path).then_some((at, path, None))),
                Act::Given(call, given) => match self.taken(call, given).filter(|_| !before) {
                    Some((path, by)) => uses.push((at, path, Some(by))),
                    None => stops.push(at),
                },
                Act::Sets(path) if !self.behind(&path) => {}
                Act::Sets(_) | Act::Fetches(_) | Act::Other => stops.push(at),
            }
        }
        uses.retain(|(at, ..)| at.start >= copy.end);
        (!uses.is_empty()).then_some(())?;
        let reached = self.reached(copy, &stops);
        // What some way fills may be all that is used behind it.
        let filled = |at: Span| {
            let mut stops = stops.iter();
            stops.any(|own| function.comes_to(copy, *own) && function.comes_to(*own, at))
        };
        let mut met = uses.into_iter().filter(|(at, ..)| {
            let mut nodes = function.touching(*at).into_iter();
            nodes.any(|own| reached.contains(&own)) && !filled(*at)
        });
        let (used, member, by) = met.next()?;
        Some(FrontOnly {
            bytes: self.bytes,
            size: self.of.size,
            member,
            used,
            by,
        })
    }

    /// The nodes behind a copy to which a way leads that fills nothing more.
    fn reached(&self, copy: Span, stops: &[Span]) -> HashSet<usize> {
        let function = self.function;
        let stopping: HashSet<usize> = stops
            .iter()
            .flat_map(|own| function.touching(*own))
            .collect();
        let graph = function.graph;
        let from = graph.nodes_in(copy);
        let next = from.filter_map(|own| graph.nodes.get(own));
        let mut work: Vec<usize> = next
            .flat_map(|own| own.next.iter().map(|(_, to)| *to))
            .collect();
        let mut seen = HashSet::default();
        while let Some(at) = work.pop() {
            if stopping.contains(&at) || !seen.insert(at) {
                continue;
            }
            let next = graph.nodes.get(at).map_or(&[][..], |own| &own.next);
            work.extend(next.iter().map(|(_, to)| *to));
        }
        seen
    }

    /// Whether what is done before a copy sets nothing behind its front.
    fn leaves(&self, act: &Act) -> bool {
        match act {
            Act::Reads(_) => true,
            Act::Sets(path) => !self.behind(path),
            Act::Fetches(place) => {
                let mut accesses = self.function.accesses.iter();
                let own = accesses.find(|own| own.span == *place);
                let count = own.and_then(|own| own.bytes.as_ref());
                let bytes = count.and_then(|own| fixed(self.function, own.uncast().1, *place));
                bytes.is_some_and(|bytes| bytes <= self.bytes)
            }
            Act::Given(..) | Act::Other => false,
        }
    }

    /// Whether a member begins behind the front.
    fn behind(&self, path: &str) -> bool {
        let Ok((at, _)) = self.of.at(path) else {
            return false;
        };
        at >= self.bytes
    }

    /// What a function of the file reads of what lies behind the front, where it is given all.
    fn taken(&self, call: Span, at: usize) -> Option<(String, String)> {
        let function = self.function;
        let call = function.calls.iter().find(|own| span(**own) == call)?;
        let name = function.callee(*call)?;
        let path = look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            let mut paths = Vec::new();
            for node in callee.mentions(&own) {
                paths.push(read_by(callee, node)?);
            }
            paths.into_iter().find(|own| self.behind(own))
        })?;
        Some((path, name.to_owned()))
    }

    fn act(&self, node: Node<'t>) -> Act {
        let function = self.function;
        let (top, path) = climb(function, node, ".");
        let Some(around) = function.above(top) else {
            return Act::Other;
        };
        let is_left = || around.part("left") == Some(top);
        match around.known_kind() {
            "assignment_expression" if is_left() => match path.is_empty() {
                true => Act::Other,
                false => Act::Sets(path),
            },
            "pointer_expression" if path.is_empty() => self.given(around),
            "pointer_expression" => Act::Other,
            _ if path.is_empty() || self.is_array(top, &path) => Act::Other,
            _ => Act::Reads(path),
        }
    }

    /// Whether it is an array, whose name alone is its address.
    fn is_array(&self, place: Node<'t>, path: &str) -> bool {
        let Ok((_, of)) = self.of.at(path) else {
            return false;
        };
        place.known_kind() == "field_expression" && matches!(of.shape, Shape::Array(..))
    }

    /// What is done with the address of all of it.
    fn given(&self, address: Node<'t>) -> Act {
        let function = self.function;
        let mut accesses = function.accesses.iter();
        if let Some(own) = accesses.find(|own| own.value.contains(span(address))) {
            return match own.word.direction {
                Direction::Read => Act::Fetches(own.span),
                _ => Act::Other,
            };
        }
        let Some(arguments) = function.above(address) else {
            return Act::Other;
        };
        let call = function
            .above(arguments)
            .filter(|_| arguments.known_kind() == "argument_list");
        let mut cursor = arguments.walk();
        let mut all = arguments.named_children(&mut cursor);
        let at = all.position(|own| own.id() == address.id());
        match (call, at) {
            (Some(call), Some(at)) => Act::Given(span(call), at),
            _ => Act::Other,
        }
    }
}

/// The member from a variable on, and its path: the element of an array stands for all of it.
fn climb<'t>(function: &FunctionContext<'t>, node: Node<'t>, first: &str) -> (Node<'t>, String) {
    let (mut top, mut path) = (node, String::new());
    while let Some(around) = function.above(top) {
        let holds = around.part("argument") == Some(top);
        match around.known_kind() {
            "field_expression" if holds => {
                let operator = function.context.operator(around);
                let wanted = if path.is_empty() { first } else { "." };
                let Some(field) = around
                    .part("field")
                    .filter(|_| operator == wanted.as_bytes())
                else {
                    break;
                };
                let dot = if path.is_empty() { "" } else { "." };
                path = format!("{path}{dot}{}", function.context.written(field));
            }
            "subscript_expression" if holds && !path.is_empty() => {}
            _ => break,
        }
        top = around;
    }
    (top, path)
}

/// The member that a function reads where it names a parameter; none where it does anything else with it.
fn read_by<'t>(callee: &FunctionContext<'t>, node: Node<'t>) -> Option<String> {
    let (top, path) = climb(callee, node, "->");
    let around = callee.above(top).filter(|_| !path.is_empty())?;
    let set = around.known_kind() == "assignment_expression" && around.part("left") == Some(top);
    let address = around.known_kind() == "pointer_expression";
    (!set && !address).then_some(path)
}
