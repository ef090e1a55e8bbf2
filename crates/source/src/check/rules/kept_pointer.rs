use crate::Direction;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kept-pointer",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "bytes are counted as copied, and the next ones are copied at the same address",
    why: "The program is told of bytes that lie nowhere, since others were written over them, or the same \
          bytes are fetched again for those behind them.",
};

/// A copy that begins right where a pointer leads.
struct Copy<'f> {
    access: &'f Access<'f>,
    pointer: &'f str,
    bytes: &'f Expression,
}

/// So many pairs of copies of a function are asked whether a way leads from one to the other.
const WAYS: usize = 1024;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let copies: Vec<Copy<'_>> = function.accesses.iter().filter_map(copy).collect();
    if copies.is_empty() {
        return;
    }
    let counts = counts(function);
    let mut told: Vec<Span> = Vec::new();
    let mut asked = 0;
    for first in &copies {
        if asked > WAYS {
            return;
        }
        let counted = counts.iter().filter(|(_, by)| by == first.bytes.uncast().1);
        let wrong = counted.map(|(place, _)| *place).find_map(|place| {
            let mut others = copies.iter().filter(|own| is_of_same(own, first));
            let next = others.find(|next| {
                asked += 1;
                let asks = !told.contains(&next.access.span) && !function.stops_at(asked, WAYS);
                asks && goes_on(function, first, place, next)
            });
            next.map(|next| (place, next))
        });
        if let Some((place, next)) = wrong {
            told.push(next.access.span);
            out.push(violation(function, first, place, next));
        }
    }
}

fn copy<'f>(access: &'f Access<'f>) -> Option<Copy<'f>> {
    let bytes = access.bytes.as_ref()?;
    let whole = matches!(access.word.direction, Direction::Read | Direction::Write);
    Some(Copy {
        access,
        pointer: access.address.uncast().1.name().filter(|_| whole)?,
        bytes,
    })
}

fn is_of_same(one: &Copy<'_>, other: &Copy<'_>) -> bool {
    let direction = one.access.word.direction == other.access.word.direction;
    direction && one.pointer == other.pointer
}

/// What is counted up or down, where, and by how much: `done += n`, `left -= n`.
fn counts(function: &FunctionContext<'_>) -> Vec<(Span, Expression)> {
    let mut found = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if let Term::Assignment(left, operator, by) = &function.expression_of(node).term
            && matches!(operator.as_str(), "+=" | "-=")
            && left.uncast().1.name().is_some()
        {
            found.push((span(node), by.uncast().1.clone()));
        }
    });
    found
}

/// Whether a way leads from a copy past the place that counts its bytes to the next one, and the
/// pointer keeps its value on each: which ways are taken together, conditions say that nobody
/// compares here.
fn goes_on(function: &FunctionContext<'_>, first: &Copy<'_>, place: Span, next: &Copy<'_>) -> bool {
    let graph = function.graph;
    let behind = |nodes: &[usize]| graph.reached_behind_any(nodes.iter().copied(), |_| false);
    let first_nodes: Vec<usize> = graph.nodes_in(first.access.span).collect();
    let next_nodes: Vec<usize> = graph.nodes_in(next.access.span).collect();
    let reached = behind(&first_nodes);
    let leads = |from: &[usize]| {
        let then = behind(from);
        next_nodes.iter().any(|own| then.contains(own))
    };
    let mut counted = function.touching(place);
    counted.retain(|own| reached.contains(own));
    if counted.is_empty() || !leads(&counted) {
        return false;
    }
    let mut moves = movers(function, first.pointer);
    moves.retain(|own| reached.contains(own));
    // What a statement does behind its last call belongs to the node that comes next.
    !leads(&moves) && !moves.iter().any(|own| next_nodes.contains(own))
}

/// The nodes at which a pointer takes another value, or may.
fn movers(function: &FunctionContext<'_>, pointer: &str) -> Vec<usize> {
    let graph = function.graph;
    let own = (0..graph.nodes.len()).filter(|at| {
        let mut effects = graph.effects_of(*at).iter();
        effects.any(|effect| {
            let takes = match &effect.kind {
                EffectKind::Write(_) | EffectKind::Address => true,
                EffectKind::Handed { by_address } => *by_address,
                EffectKind::Read => false,
            };
            takes && graph.name_of(effect) == pointer
        })
    });
    own.collect()
}

fn violation(
    function: &FunctionContext<'_>,
    first: &Copy<'_>,
    place: Span,
    next: &Copy<'_>,
) -> Violation {
    let file = function.file;
    let (pointer, bytes) = (first.pointer, file.plain(first.bytes.span));
    let again = first.access.span == next.access.span;
    let message = match again {
        true => format!(
            "{pointer} is the same in each round, and {bytes} bytes there are counted each time"
        ),
        false => format!(
            "{bytes} bytes at {pointer} are counted, and the next ones are copied at {pointer} as well"
        ),
    };
    let mut violation = file.violation(&INFO, next.access.span, "at the same address", message);
    let related = &mut violation.related;
    related.push(file.mark(place, "counted here"));
    if !again {
        related.push(file.mark(first.access.span, "copied before"));
    }
    violation
}
