use std::collections::BTreeSet;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::accesses::{Access, each, every, root_of};
use crate::check::allocation::Allocation;
use crate::check::callee::{look_into, parameter};
use crate::check::context::FunctionContext;
use crate::check::fill::{Filling, Put, filling};
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::range::{function_tokens, sizeof_operand};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::unset::is_unset;
use crate::check::words::CheckWords;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Local, Node as Step, is_assembly};
use crate::lex::Token;
use crate::node::Parts as _;
use crate::site::span;
use crate::types::{LayoutError, Machine, Shape, Type};
use crate::{Direction, Span};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "copied-holes",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a struct on the stack is copied to the user with bytes that nobody set",
    why: "Members that are never set and the padding between members still hold what lay on the kernel's \
          stack. Setting each member does not fill the padding: clear the struct first.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses {
        let whole = access.word.count.is_some() && access.word.direction == Direction::Write;
        out.extend(whole.then(|| half_filled(function, access)).flatten());
        out.extend(unset_value(function, access));
        out.extend(whole.then(|| allocated(function, access)).flatten());
        let Some(local) = copied(function, access).filter(|_| whole) else {
            continue;
        };
        let filled = filled(function, local, access);
        // Whoever clears it on one way knows that what it is handed to does not fill it.
        let unknown = filled.elsewhere || filled.handed && filled.cleared.is_empty();
        if !unknown && !is_cleared(function, access, &filled) {
            out.extend(judged(function, access, local, &filled));
        }
    }
}

/// A struct that the function allocates, with what lay there, and copies whole.
fn allocated(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = Expression::of(function.context, access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let memory = Allocation::of(function, &local.name, access.span)?;
    let behind = Expression {
        span: value.span,
        term: Term::Behind(Box::new(value.clone())),
    };
    let size = space::type_of(function, &behind)?.size;
    let whole = space::bytes(function, access.bytes.as_ref()?) == Some(size);
    if memory.zeroed || !whole || memory.bytes(function) != Some(size) {
        return None;
    }
    let mut filled = Filled::default();
    each(function.root, &mut |node| {
        let own = node.kind() == "identifier"
            && node.end_byte() <= access.span.start
            // `kmalloc_obj(*p)` takes the size of what it names.
            && !memory.place.contains(span(node))
            && local.scope.contains(span(node))
            && function.context.seen(node) == local.name.as_bytes();
        if own {
            reached(function, node, &mut filled);
        }
    });
    let unknown = filled.elsewhere || filled.handed || function.graph.unseen.contains(&local.name);
    if unknown {
        return None;
    }
    // Where the layout hangs on something nothing is said.
    let Ok(Some(what)) = unset(function, &local.base_type, &filled) else {
        return None;
    };
    let file = function.file;
    let message = format!("{} goes to the user, but {what}", local.base_type);
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(memory.place, "allocated with what lay there"));
    Some(violation)
}

/// A mention of a pointer to memory that the function allocates: what is set behind it, a
/// test of it, or what gives it back.
fn reached(function: &FunctionContext<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = node.parent() else { return };
    let left = || parent.part("left").map(|left| left.id()) == Some(node.id());
    let called = |ask: fn(&CheckWords, &str) -> bool| {
        let call = parent.parent().filter(|_| parent.kind() == "argument_list");
        let name = call.and_then(|call| answer::text(function.context.callee(call)));
        name.is_some_and(|name| ask(function.file.words, name))
    };
    match parent.kind() {
        // Its declaration, and what it takes.
        "init_declarator" | "pointer_declarator" | "declaration" => {}
        "assignment_expression" if left() => {}
        "unary_expression" | "binary_expression" | "parenthesized_expression" => {}
        "argument_list" if called(|words, name| words.frees(name)) => {}
        "argument_list" => match of_callee(function, node) {
            Some(own) => found.add(own),
            None => found.handed = true,
        },
        _ => behind(function, node, found),
    }
}

/// A value that goes out of a variable which has none.
fn unset_value(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let single = access.word.direction == Direction::Write && access.word.count.is_none();
    let value = Expression::of(function.context, access.value_node);
    let name = value.uncast().1.name().filter(|_| single)?;
    let local = function.local_at(name, value.span)?;
    if !is_unset(function, local, access.span) {
        return None;
    }
    let file = function.file;
    let message = format!("{name} goes to the user, and nothing gives it a value before");
    let mut violation = file.violation(&INFO, access.span, "what lay on the stack", message);
    violation
        .related
        .push(file.mark(local.declared, "declared without a value"));
    Some(violation)
}

/// The struct of this function, declared without a value, whose copy goes out.
fn copied<'s>(function: &'s FunctionContext<'_>, access: &Access<'_>) -> Option<&'s Local> {
    let text = function.file.plain(access.value);
    let name = text.rsplit(')').next()?.trim().strip_prefix('&')?;
    let local = function.local_at(name, access.span)?;
    let operand = sizeof_operand(function.file.text, access.count?);
    let whole = operand.is_some_and(|of| of == local.name || of == local.base_type);
    let whole = whole || is_its_size(function, access) || is_bounded(function, access, local);
    (local.plain && !local.initialised && whole).then_some(local)
}

/// Whether so many bytes are copied as the struct has, by whatever name that number has: a
/// macro's, or a variable's that takes no other.
fn is_its_size(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let object = Expression::of(function.context, access.value_node);
    let Term::Address(object) = &object.uncast().1.term else {
        return false;
    };
    let bytes = |count: &Expression| space::bytes(function, count);
    let named = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        let (_, value) = values.next()?;
        let value = function
            .expression(value)
            .filter(|_| values.next().is_none())?;
        bytes(&value)
    };
    let count = access.bytes.as_ref();
    let count = count.and_then(|count| bytes(count).or_else(|| named(count.name()?)));
    count.is_some() && count == space::type_of(function, object).map(|of| of.size)
}

/// An array of this function that goes out whole, and that nothing but calls which leave a
/// part of it have set.
fn half_filled(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let value = Expression::of(function.context, access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let size = space::array(function, local).filter(|_| local.array && !local.initialised)?;
    let whole = space::bytes(function, access.bytes.as_ref()?) == Some(size);
    let before = Span::new(local.scope.start, access.span.start);
    let mut set = Vec::new();
    let mut elsewhere = !whole || function.graph.unseen.contains(&local.name);
    each(function.root, &mut |node| {
        let named = node.kind() == "identifier"
            && function.context.seen(node) == local.name.as_bytes()
            && before.contains(span(node))
            && !local.declared.contains(span(node));
        if named && !is_sized(node) {
            match filling(function, node) {
                Some(own) => set.push(own),
                None => elsewhere = true,
            }
        }
    });
    let part = set
        .first()
        .filter(|_| set.iter().all(|own| own.put != Put::All) && !elsewhere)?;
    let message = format!(
        "{} goes to the user, but {}",
        local.name,
        in_part(function, &local.name, part)
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation
        .related
        .push(file.mark(local.declared, "declared without a value"));
    Some(violation)
}

/// Whether no more is asked of it than its size.
fn is_sized(node: Node<'_>) -> bool {
    let around = std::iter::successors(Some(node), Node::parent);
    around.take(3).any(|own| own.kind() == "sizeof_expression")
}

/// Whether as many bytes are copied as a variable says, which is made of the struct's size
/// or compared with it: that may be all.
fn is_bounded(function: &FunctionContext<'_>, access: &Access<'_>, local: &Local) -> bool {
    let Some(count) = access.bytes.as_ref().and_then(Expression::name) else {
        return false;
    };
    let sized = |part: &Expression| local.is_sized(part);
    let names_size = |place: Span| {
        let whole = function.expression(place);
        whole.is_some_and(|whole| whole.any(&sized))
    };
    let graph = function.graph;
    let mut made = graph.assignments();
    let mut compared = graph.comparisons.iter();
    made.any(|(name, value)| name == count && names_size(value))
        || compared.any(|at| graph.names(*at, count) && names_size(*at))
}

#[derive(Default)]
struct Filled {
    /// The paths of the members that are set, `a.b`.
    members: BTreeSet<String>,
    /// The members of which a call sets a part.
    partly: Vec<(String, Filling)>,
    /// The calls that set all of it.
    cleared: Vec<Span>,
    /// The call that sets the most bytes from its front on, if none sets all, and
    /// how many.
    front: Option<(Span, u64)>,
    /// Whether a call is given its address, which may set all of it.
    handed: bool,
    /// Whether something else that is not followed may have set all of it.
    elsewhere: bool,
}

impl Filled {
    /// With what a call sets that was looked into.
    fn add(&mut self, other: Self) {
        self.members.extend(other.members);
        self.partly.extend(other.partly);
    }
}

/// Whether every way to the copy passes a call that sets all of the struct.
fn is_cleared(function: &FunctionContext<'_>, access: &Access<'_>, filled: &Filled) -> bool {
    let nodes = || function.graph.nodes.iter().enumerate();
    let clears = nodes().find_map(|(_, node)| match &node.action {
        Action::Call(call) if filled.cleared.contains(&node.span) => call.clears,
        _ => None,
    });
    let Some(place) = clears else {
        return false;
    };
    let own = |at: usize| function.place(at) == access.span;
    let mut here = function.states().filter(|(at, _)| own(*at));
    here.all(|(_, state)| state.cleared.contains(&place))
}

/// What sets members of the struct before it is copied.
fn filled(function: &FunctionContext<'_>, local: &Local, access: &Access<'_>) -> Filled {
    let mut found = Filled::default();
    each(function.root, &mut |node| {
        let before = node.start_byte() < access.span.start;
        if node.kind() == "identifier"
            && before
            && function.context.seen(node) == local.name.as_bytes()
            && local.scope.contains(span(node))
        {
            match clearing(function, node, local) {
                Some(call) => set(function, access, call, local, &mut found),
                None => mention(function, node, &mut found),
            }
        }
    });
    // The other sides of an #if are not in the parse.
    let named = |token: &&Token| {
        let names = token.span.of(function.file.text) == local.name.as_bytes();
        names && token.span.start < access.span.start && local.scope.contains(token.span)
    };
    let named = function_tokens(function).iter().filter(named);
    let mut hidden: BTreeSet<usize> = named.map(|token| token.span.start).collect();
    every(function.root, &mut |node| {
        hidden.remove(&node.start_byte());
    });
    found.elsewhere |= !hidden.is_empty();
    found
}

/// A call that sets bytes of the struct from its front on, and how many it is given.
struct Clearing<'t> {
    call: Node<'t>,
    count: Expression,
}

fn clearing<'t>(
    function: &FunctionContext<'_>,
    variable: Node<'t>,
    local: &Local,
) -> Option<Clearing<'t>> {
    let address = variable.parent()?;
    let arguments = address.parent()?;
    let call = arguments.parent()?;
    let name = String::from_utf8_lossy(function.context.callee(call)).into_owned();
    let clears = function.file.words.clears(&name)?;
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    let whole = address.kind() == "pointer_expression" && local.plain;
    let object = part(clears.object).filter(|own| whole && own.id() == address.id());
    let count = Expression::of(function.context, part(clears.count)?);
    object.map(|_| Clearing { call, count })
}

/// Notes what a call sets; one in a loop that the copy is not in may be passed by.
fn set(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    own: Clearing<'_>,
    local: &Local,
    found: &mut Filled,
) {
    let mut around = std::iter::successors(own.call.parent(), Node::parent);
    let looped = around.any(|node| {
        let looks = matches!(node.kind(), "for_statement" | "while_statement");
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
    space::bytes(function, count)
}

/// A mention of the struct: a member that is set or read, its size, or else
/// something that may fill it.
fn mention(function: &FunctionContext<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = node.parent() else { return };
    match parent.kind() {
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
fn filled_member(
    function: &FunctionContext<'_>,
    (path, whole): (String, Node<'_>),
    found: &mut Filled,
) {
    if is_target(function, whole) || is_target(function, behind_cast(function, whole)) {
        found.members.insert(path);
    } else if let Some(own) = filling(function, whole) {
        match own.put {
            Put::All => drop(found.members.insert(path)),
            Put::Bytes(_) | Put::String => found.partly.push((path, own)),
        }
    } else if takes_address(function, whole) {
        // Who is given a member's address fills the member, unless a size says
        // that more is meant.
        match is_given_alone(function, whole) {
            true => drop(found.members.insert(path)),
            false => found.elsewhere = true,
        }
    }
}

/// What a function of the file that is given the struct's address sets of it; none where it
/// is not known.
fn of_callee(function: &FunctionContext<'_>, address: Node<'_>) -> Option<Filled> {
    let arguments = address.parent()?;
    let call = arguments.parent()?;
    let name = answer::text(function.context.callee(call))?;
    let mut cursor = arguments.walk();
    let mut all = arguments.named_children(&mut cursor);
    let at = all.position(|own| own.id() == address.id())?;
    look_into(function, name, |callee| {
        let own = parameter(callee, at)?;
        let mut found = Filled::default();
        each(callee.root, &mut |node| {
            let named = node.kind() == "identifier" && callee.context.seen(node) == own.as_bytes();
            if named {
                behind(callee, node, &mut found);
            }
        });
        let known = !found.elsewhere && !found.handed;
        // A result may tell its caller what was not set.
        if callee.file.gives_nothing(callee.body) {
            found
                .members
                .retain(|path| is_always_set(callee, &own, path));
        }
        known.then_some(found)
    })
}

/// Whether every way through a function sets that member behind its parameter; a loop is
/// taken to go round.
fn is_always_set(function: &FunctionContext<'_>, parameter: &str, path: &str) -> bool {
    let mut places = Vec::new();
    each(function.root, &mut |node| {
        let named =
            node.kind() == "identifier" && function.context.seen(node) == parameter.as_bytes();
        let member = named.then(|| member(function, node, b"->")).flatten();
        if let Some((_, whole)) = member.filter(|(own, _)| own == path) {
            let mut around = std::iter::successors(Some(whole), Node::parent);
            let last = around.find(|own| LOOPS.contains(&own.kind()));
            places.push(span(last.unwrap_or(whole)));
        }
    });
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
    !graph.leaves_without(sets)
}

/// Statements that go round.
const LOOPS: [&str; 3] = ["for_statement", "while_statement", "do_statement"];

/// A mention of a pointer to the struct: a member behind it that is set or read, a test of
/// it, or else something that may fill it.
fn behind(function: &FunctionContext<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = node.parent() else { return };
    match parent.kind() {
        _ if is_operand(function, node) => found.elsewhere = true,
        "field_expression" => match member(function, node, b"->") {
            Some(own) => filled_member(function, own, found),
            None => found.elsewhere = true,
        },
        "sizeof_expression" => {}
        _ => found.elsewhere = true,
    }
}

/// Whether `&x` is what an access gives to the user, which leaves it as it is.
fn goes_out(function: &FunctionContext<'_>, address: Node<'_>) -> bool {
    let place = span(address);
    let mut accesses = function.accesses.iter();
    address.kind() == "pointer_expression"
        && accesses.any(|own| own.word.direction == Direction::Write && own.value == place)
}

/// Whether `&x` is an argument of a call that is no access and no copy of a size.
fn is_handed(function: &FunctionContext<'_>, address: Node<'_>) -> bool {
    let call = address.parent().and_then(|arguments| arguments.parent());
    let call = call
        .filter(|own| own.kind() == "call_expression" && address.kind() == "pointer_expression");
    call.is_some_and(|call| {
        let name = String::from_utf8_lossy(function.context.callee(call)).into_owned();
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
fn is_operand(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = std::iter::successors(Some(node), Node::parent);
    around.any(|node| {
        let tokens = function_tokens(function);
        let at = tokens.partition_point(|t| t.span.start < node.start_byte());
        let word = tokens.get(at).map(|t| t.span.of(function.file.text));
        node.kind() == "call_expression" && word.is_some_and(is_assembly)
    })
}

/// The path from a variable to the member that an expression names, and the
/// expression; an element stands for its whole array. None if the path leaves
/// the variable through another step than the first.
fn member<'t>(
    function: &FunctionContext<'_>,
    variable: Node<'t>,
    first: &[u8],
) -> Option<(String, Node<'t>)> {
    let (mut node, mut path, mut array) = (variable, Vec::new(), false);
    let mut step = first;
    while let Some(parent) = node.parent() {
        let inner = parent.part("argument").map(|inner| inner.id());
        match parent.kind() {
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

/// Whether a node is assigned, or filled by a read from the user.
fn is_target(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    let assigned = parent.kind() == "assignment_expression"
        && parent.part("left").map(|l| l.id()) == Some(node.id());
    let call = parent.parent().filter(|c| c.kind() == "call_expression");
    let read = call.is_some_and(|call| {
        let name = String::from_utf8_lossy(function.context.callee(call)).into_owned();
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
fn behind_cast<'t>(function: &FunctionContext<'_>, place: Node<'t>) -> Node<'t> {
    let is = |node: Node<'t>, operator: &[u8]| {
        node.kind() == "pointer_expression" && function.context.operator(node) == operator
    };
    let address = place.parent().filter(|own| is(*own, b"&"));
    let cast = address.and_then(|own| own.parent());
    let cast = cast.filter(|own| own.kind() == "cast_expression");
    let behind = cast.and_then(|own| {
        let mut around = std::iter::successors(own.parent(), Node::parent);
        around.find(|own| own.kind() != "parenthesized_expression")
    });
    behind.filter(|own| is(*own, b"*")).unwrap_or(place)
}

/// Whether a call is given the address of a member and not the size of what is larger.
fn is_given_alone(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = std::iter::successors(node.parent(), Node::parent);
    let call = around.find(|own| own.kind() != "pointer_expression");
    let Some(call) = call.filter(|own| own.kind() == "argument_list") else {
        return false;
    };
    let whole = function.expression(span(call));
    let sized = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    whole.is_some_and(|whole| !whole.any(&sized))
}

fn takes_address(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    // An array member decays to its address as an argument.
    node.parent().is_some_and(|p| {
        p.kind() == "pointer_expression" && function.context.operator(p) == b"&"
            || p.kind() == "argument_list"
    })
}

fn judged(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    local: &Local,
    filled: &Filled,
) -> Option<Violation> {
    let name = &local.base_type;
    let (what, confidence) = match unset(function, name, filled) {
        Ok(what) => (what?, Confidence::High),
        Err(error) => (
            format!("what lay on the stack may go with it: {error}"),
            Confidence::Low,
        ),
    };
    let file = function.file;
    let message = format!(
        "{name} goes to the user, but {what}{}",
        past(function, filled)
    );
    let mut violation = file.violation(&INFO, access.span, "copied whole", message);
    violation.confidence = confidence;
    if let Some(declared) = declaration(function, local) {
        violation
            .related
            .push(file.mark(span(declared), "declared without a value"));
        violation.suggestion = cleared(function, declared, local);
    }
    Some(violation)
}

/// Where it is set, as far as it is.
fn past(function: &FunctionContext<'_>, filled: &Filled) -> String {
    let line = |span: &Span| function.line(*span);
    match (filled.cleared.first(), &filled.front) {
        (Some(call), _) => format!(" on a way past line {}, which clears it", line(call)),
        (None, Some((call, count))) => {
            format!(": line {} clears {count} bytes of it", line(call))
        }
        (None, None) => String::new(),
    }
}

/// What of the struct nobody has set, on the first machine on which that is so.
fn unset(
    function: &FunctionContext<'_>,
    name: &str,
    filled: &Filled,
) -> Result<Option<String>, LayoutError> {
    let types = function.file.types;
    let mut unknown = None;
    for machine in types.machines_with(name) {
        match types.layout_on(name, machine) {
            Ok(of) if !matches!(of.shape, Shape::Struct(_) | Shape::Union(_)) => return Ok(None),
            Ok(of) => {
                if let Some(what) = missing(function, &of, machine, filled) {
                    return Ok(Some(what));
                }
            }
            Err(error) => unknown = unknown.or(Some(error)),
        }
    }
    match unknown {
        Some(error) if name.starts_with("struct ") => Err(error),
        _ => Ok(None),
    }
}

/// What of a type nobody has set; nothing if a member has another name there.
fn missing(
    function: &FunctionContext<'_>,
    of: &Type,
    machine: &Machine,
    filled: &Filled,
) -> Option<String> {
    let front = filled.front.map_or(0, |(_, bytes)| bytes);
    let members = filled.members.iter().map(String::as_str);
    let Ok(left) = of.uncovered(front, members) else {
        return None;
    };
    let partly = |name: &&String| filled.partly.iter().find(|(own, _)| own == *name);
    let never: Vec<&String> = left
        .members
        .iter()
        .filter(|name| partly(name).is_none())
        .collect();
    if let Some(first) = never.first() {
        return Some(match never.len() {
            1 => format!("its member {first} is never set"),
            n => format!("{n} of its members are never set, {first} the first"),
        });
    }
    if let Some((name, own)) = left.members.iter().find_map(|name| partly(&name)) {
        return Some(in_part(function, name, own));
    }
    let (from, to) = *left.gaps.first()?;
    let place = match machine.long {
        8 => "64-bit".to_owned(),
        _ => machine.name.clone(),
    };
    Some(format!(
        "nobody set the {} bytes of padding at offset {} ({place})",
        (to - from).div_ceil(8),
        from / 8
    ))
}

/// What a call leaves of an object that it sets in part.
fn in_part(function: &FunctionContext<'_>, name: &str, own: &Filling) -> String {
    let line = function.line(own.call);
    match own.put {
        Put::Bytes(bytes) => {
            format!("line {line} sets {bytes} bytes of {name}, and nobody the rest")
        }
        Put::String | Put::All => {
            format!("line {line} puts a string into {name}, and nobody sets what lies behind it")
        }
    }
}

fn declaration<'t>(function: &FunctionContext<'t>, local: &Local) -> Option<Node<'t>> {
    let mut found = None;
    each(function.root, &mut |node| {
        let declares = node.kind() == "declaration"
            && node
                .part("declarator")
                .is_some_and(|d| root_of(function.context, d) == local.name);
        if declares && found.is_none() && local.scope.contains(span(node)) {
            found = Some(node);
        }
    });
    found
}

/// `struct x v;` alone gets a memset() behind the declarations of its block.
fn cleared(
    function: &FunctionContext<'_>,
    declared: Node<'_>,
    local: &Local,
) -> Option<Suggestion> {
    let mut next = declared.next_named_sibling()?;
    while matches!(next.kind(), "declaration" | "comment") {
        next = next.next_named_sibling()?;
    }
    let at = next.start_byte();
    let line = function.file.lines.line_start(at);
    let indent = Span::new(line, at).text(function.file.text);
    indent.trim().is_empty().then(|| Suggestion {
        span: Span::new(at, at),
        text: format!("memset(&{0}, 0, sizeof({0}));\n{indent}", local.name),
        why: "clear all of it first".to_owned(),
    })
}
