//! Ways to a place through one arm of an `if`, a `switch` or an `#if`, for whoever asks what is not
//! done on them.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::space;

/// So many statements are asked for the arms that they have.
const FEW: usize = 12;

/// A statement with more arms is not asked for them.
const MANY: usize = 64;

/// A way through one arm of a statement that decides; where it has no `else` or no `default`, one
/// that takes none of its arms.
pub(crate) struct Arm {
    /// The statement.
    pub(crate) decides: Span,
    /// What the way passes by.
    pub(super) left_out: Vec<Span>,
    /// Whether it is what a `switch` does with what no case says.
    pub(super) other: bool,
    /// Whether a call says which arm is taken.
    pub(super) called: bool,
}

impl Arm {
    /// Whether the way passes by a place.
    pub(crate) fn leaves_out(&self, place: Span) -> bool {
        self.left_out.iter().any(|own| own.contains(place))
    }
}

/// The ways to a place through single arms of the statements that decide over what stands before it,
/// from where something begins to matter on; not of those whose condition other conditions of the
/// function may hang together with.
pub(crate) fn arms<'t>(
    function: &FunctionContext<'t>,
    before: impl Iterator<Item = Node<'t>>,
    (from, at): (Span, Span),
) -> Vec<Arm> {
    let mut deciding: Vec<Node<'t>> = Vec::new();
    for node in before {
        if span(node).start < from.end {
            continue;
        }
        for own in decisions(function, node, (from, at)) {
            if !deciding.iter().any(|known| known.id() == own.id()) {
                deciding.push(own);
            }
        }
    }
    if deciding.len() > FEW && function.stops_at(deciding.len(), FEW) {
        return Vec::new();
    }
    let all = deciding
        .iter()
        .map(|own| match hanging(function, *own, at) {
            Hanging::No => of_decision(function, *own, (from, at)),
            // What no case says may be anything that a mask lets through.
            Hanging::ByMask => {
                let mut all = of_decision(function, *own, (from, at));
                all.retain(|arm| arm.other);
                all
            }
            Hanging::Yes => Vec::new(),
        });
    with_outer(&all.flatten().collect::<Vec<_>>())
}

/// The ways through the arms of a statement that is itself in one arm of another: they pass by what
/// that passes by.
fn with_outer(all: &[Arm]) -> Vec<Arm> {
    let own = all.iter().map(|own| {
        let mut left_out = own.left_out.clone();
        let outer =
            |other: &&Arm| other.decides != own.decides && other.decides.contains(own.decides);
        let mut deciding: Vec<Span> = all.iter().filter(outer).map(|own| own.decides).collect();
        deciding.dedup();
        for decides in deciding {
            let ways = all.iter().filter(|other| other.decides == decides);
            let mut ways = ways.filter(|other| !other.leaves_out(own.decides));
            if let (Some(only), None) = (ways.next(), ways.next()) {
                left_out.extend(&only.left_out);
            }
        }
        Arm {
            decides: own.decides,
            left_out,
            other: own.other,
            called: own.called,
        }
    });
    own.collect()
}

/// The statements around a place that decide over it, up to what holds the other place as well, and
/// that no loop goes round in.
fn decisions<'t>(
    function: &FunctionContext<'t>,
    node: Node<'t>,
    (from, at): (Span, Span),
) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let apart = |own: &Node<'t>| !span(*own).contains(at) && !span(*own).contains(from);
    for own in function.around(node).take_while(apart) {
        match own.known_kind() {
            "if_statement" if is_else(own) => {}
            "if_statement" | "switch_statement" => found.push(own),
            kind if LOOPS.contains(&kind) => found.clear(),
            _ => {}
        }
    }
    found
}

/// Whether an `if` is the `else` of another one.
fn is_else(node: Node<'_>) -> bool {
    let above = node
        .parent()
        .filter(|own| own.known_kind() == "else_clause");
    above.is_some()
}

/// The ways through the arms of one statement that come to a place.
fn of_decision(function: &FunctionContext<'_>, node: Node<'_>, ends: (Span, Span)) -> Vec<Arm> {
    let (arms, complete) = parts(node);
    if function.stops_at(arms.len(), MANY) {
        return Vec::new();
    }
    let held: Vec<Vec<usize>> = arms.iter().map(|own| nodes(function, *own)).collect();
    let head = head(function, node, &arms);
    let mut chain = std::iter::successors(Some(node), |own| next(*own));
    let called = chain.any(|own| {
        let asked = own.part("condition").map(|own| function.expression_of(own));
        asked.is_some_and(|own| own.any(&|part| matches!(part.term, Term::Call(..))))
    });
    let mut found = Vec::new();
    let other = |but: Option<usize>| {
        let all = arms.iter().zip(&held).enumerate();
        all.filter(move |(at, _)| Some(*at) != but)
    };
    for at in 0..arms.len() {
        let Some(own) = held.get(at).filter(|own| !own.is_empty()) else {
            continue;
        };
        let reached = onward(function, own, &[], ends);
        let falls = |nodes: &[usize]| nodes.iter().any(|node| reached.contains(node));
        let passed = other(Some(at)).filter(|(_, (_, nodes))| !falls(nodes));
        if comes(function, &reached, ends.1) {
            found.push(Arm {
                decides: span(node),
                left_out: passed.map(|(_, (place, _))| *place).collect(),
                other: arms.get(at).is_some_and(|own| is_default(node, *own)),
                called,
            });
        }
    }
    let empty = held
        .iter()
        .zip(&arms)
        .any(|(own, place)| own.is_empty() && place.end > place.start);
    if !complete || empty {
        let stops: Vec<usize> = held.concat();
        let reached = onward(function, &head, &stops, ends);
        if comes(function, &reached, ends.1) {
            found.push(Arm {
                decides: span(node),
                left_out: arms,
                other: node.known_kind() == "switch_statement",
                called,
            });
        }
    }
    found
}

/// Whether an arm is the `default` of a `switch`.
fn is_default(node: Node<'_>, arm: Span) -> bool {
    let case = node.descendant_for_byte_range(arm.start, arm.end);
    let mut around = std::iter::successors(case, Node::parent);
    let case = around.find(|own| own.known_kind() == "case_statement");
    case.is_some_and(|own| span(own) == arm && own.part("value").is_none())
}

/// What a statement chooses from, and whether one of it is always taken.
fn parts(node: Node<'_>) -> (Vec<Span>, bool) {
    match node.known_kind() {
        "if_statement" => {
            let chain: Vec<Node<'_>> =
                std::iter::successors(Some(node), |own| next(*own)).collect();
            let own = chain.iter().filter_map(|own| own.part("consequence"));
            let last = chain.last().and_then(|own| own.part("alternative"));
            (own.chain(last).map(span).collect(), last.is_some())
        }
        "switch_statement" => {
            let body = node.part("body");
            let mut cursor = node.walk();
            let cases = body.map(|body| body.named_children(&mut cursor).collect::<Vec<_>>());
            let cases = cases.into_iter().flatten();
            let cases: Vec<Node<'_>> = cases.filter(|own| has_statements(*own)).collect();
            let complete = cases.iter().any(|own| own.part("value").is_none());
            (cases.into_iter().map(span).collect(), complete)
        }
        _ => (Vec::new(), true),
    }
}

/// The `if` that an `else` has at once.
fn next(node: Node<'_>) -> Option<Node<'_>> {
    let other = node.part("alternative")?;
    match other.known_kind() {
        "else_clause" => other.named_child(0),
        _ => Some(other),
    }
    .filter(|own| own.known_kind() == "if_statement")
}

/// A case that holds anything: what does not goes on to the next.
fn has_statements(node: Node<'_>) -> bool {
    let value = usize::from(node.part("value").is_some());
    node.known_kind() == "case_statement" && node.named_child_count() > value
}

/// The nodes of a place.
fn nodes(function: &FunctionContext<'_>, place: Span) -> Vec<usize> {
    let mut own = function.touching(place);
    let all = function.graph.nodes.iter().enumerate();
    let inside = all.filter(|(_, node)| node.span != Span::default() && place.contains(node.span));
    own.extend(inside.map(|(at, _)| at));
    own
}

/// The nodes at which a statement decides.
fn head(function: &FunctionContext<'_>, node: Node<'_>, arms: &[Span]) -> Vec<usize> {
    let whole = span(node);
    let front = arms.iter().map(|own| own.start).min();
    let own = Span::new(whole.start, front.unwrap_or(whole.start));
    let mut found = function.touching(own);
    let all = function.graph.nodes.iter().enumerate();
    found.extend(all.filter(|(_, own)| own.span == whole).map(|(at, _)| at));
    found
}

/// Where ways from some nodes lead to, up to the place that is asked for and to where it all begins.
fn onward(
    function: &FunctionContext<'_>,
    from: &[usize],
    stops: &[usize],
    (begins, at): (Span, Span),
) -> Vec<usize> {
    let graph = function.graph;
    let ends = nodes(function, at);
    let begins = nodes(function, begins);
    let starts = from.iter().filter_map(|at| graph.nodes.get(*at));
    let starts = starts.flat_map(|own| own.next.iter().map(|(_, next)| *next));
    let starts: Vec<usize> = starts.chain(from.iter().copied()).collect();
    let mut met = Vec::new();
    let reached = graph.reached_past(starts.iter().copied(), |node, _| {
        !from.contains(&node)
            && (stops.contains(&node) || ends.contains(&node) || begins.contains(&node))
    });
    // The place itself ends a way, and is reached where one that leads there is.
    for node in reached.iter().filter_map(|at| graph.nodes.get(*at)) {
        met.extend(node.next.iter().map(|(_, next)| *next));
    }
    met.extend(starts);
    met.retain(|own| ends.contains(own) && !stops.contains(own));
    reached.into_iter().chain(met).collect()
}

fn comes(function: &FunctionContext<'_>, reached: &[usize], at: Span) -> bool {
    nodes(function, at).iter().any(|own| reached.contains(own))
}

/// Whether what else on the same ways decides asks for what a statement asks for, or for anything that
/// it sets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hanging {
    No,
    /// It asks for bits of what a `switch` picks by, and no more.
    ByMask,
    Yes,
}

fn hanging(function: &FunctionContext<'_>, node: Node<'_>, at: Span) -> Hanging {
    let chain = std::iter::successors(Some(node), |own| next(*own));
    let (mut asked, mut handed) = (Vec::new(), Vec::new());
    for own in chain.filter_map(|own| own.part("condition")) {
        places(&function.expression_of(own), &mut asked);
        given(&function.expression_of(own), &mut handed);
    }
    asked.retain(|own| own.name().is_none() || space::bytes(function, own).is_none());
    let kept = |own: &&Expression| !handed.contains(own);
    let without: Vec<Expression> = asked.iter().filter(kept).cloned().collect();
    let set = set_in(function, node);
    let mut found = match asked.is_empty() {
        true => Hanging::Yes,
        false => Hanging::No,
    };
    let switch = node.known_kind() == "switch_statement";
    function.each_of(&DECIDING, |own| {
        let other = own.part("condition").filter(|_| found != Hanging::Yes);
        let Some(other) = other.filter(|own| !span(node).contains(span(*own))) else {
            return;
        };
        let mut others = Vec::new();
        places(&function.expression_of(other), &mut others);
        // What is asked of the place itself is whether it went well.
        let apart = |own: &&Expression| !at.contains(own.span);
        let without_it: Vec<Expression> = others.iter().filter(apart).cloned().collect();
        let within = |all: &[Expression], others: &[Expression]| {
            let mut all = all.iter();
            all.any(|own| others.iter().any(|other| other.any(&|part| part == own)))
        };
        let names_set = within(&set, &without_it);
        let behind = other.start_byte() > node.end_byte();
        // Of what a pointer leads to that a call is given, what is asked and done with before is another
        // question.
        let holder = other.parent().map(span);
        let over = other.end_byte() < node.start_byte()
            && !holder.is_some_and(|own| own.contains(span(node)));
        let hangs = within(if over { &without } else { &asked }, &others) || behind && names_set;
        if hangs && function.share_a_way(span(node), span(other)) {
            let masks = switch && behind && !names_set;
            let masks = masks && masks_alone(&function.expression_of(other), &asked);
            found = match masks {
                true => Hanging::ByMask,
                false => Hanging::Yes,
            };
        }
    });
    found
}

/// `x & 1`, `(x & MASK) == 0`, `DIRECTION(x) & READ`: of what is asked besides, no more than bits.
fn masks_alone(own: &Expression, asked: &[Expression]) -> bool {
    let own = own.uncast().1;
    let names = |own: &Expression| own.any(&|part| asked.contains(part));
    match &own.term {
        Term::Binary(left, operator, right) => match operator.as_str() {
            "&" => !matches!(left.term, Term::Number(_)) && !names(right),
            "==" | "!=" if right.is_zero() => masks_alone(left, asked),
            "&&" | "||" => [left, right]
                .iter()
                .all(|own| !names(own) || masks_alone(own, asked)),
            _ => false,
        },
        Term::Unary(not, of) => not == "!" && masks_alone(of, asked),
        _ => false,
    }
}

/// The statements, and the expression, that decide by a condition.
const DECIDING: [&str; 6] = [
    "if_statement",
    "while_statement",
    "do_statement",
    "for_statement",
    "switch_statement",
    "conditional_expression",
];

/// What takes a value in a place.
fn set_in(function: &FunctionContext<'_>, node: Node<'_>) -> Vec<Expression> {
    let mut set = Vec::new();
    function.each_of(&["assignment_expression", "update_expression"], |own| {
        if span(node).contains(span(own)) {
            match &function.expression_of(own).term {
                Term::Assignment(left, ..) | Term::Step(left) => set.push((**left).clone()),
                _ => {}
            }
        }
    });
    set
}

/// The variables that calls are given in an expression.
fn given(of: &Expression, found: &mut Vec<Expression>) {
    if let Some((_, all)) = of.uncast().1.call() {
        let named = all.iter().map(|own| own.uncast().1);
        found.extend(named.filter(|own| own.name().is_some()).cloned());
    }
    for part in of.parts() {
        given(part, found);
    }
}

/// The variables, the members and the calls that an expression is made of, each as a whole.
fn places(of: &Expression, found: &mut Vec<Expression>) {
    match &of.uncast().1.term {
        Term::Name(_) | Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => {
            found.push(of.uncast().1.clone());
        }
        Term::Call(called, given) => {
            found.push((**called).clone());
            given.iter().for_each(|own| places(own, found));
        }
        Term::Unary(_, own) | Term::Step(own) | Term::Address(own) => places(own, found),
        Term::Binary(left, _, right) | Term::Assignment(left, _, right) => {
            places(left, found);
            places(right, found);
        }
        Term::Choice(asked, one, other) => {
            places(asked, found);
            one.iter().for_each(|own| places(own, found));
            places(other, found);
        }
        _ => {}
    }
}
