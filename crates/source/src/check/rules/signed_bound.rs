use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::cut_by_least::{CutByLeast, cut_by_least};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::{bounded, narrowed, space, unbounded};
use crate::compared::{Ordered, orders};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "signed-bound",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a number of the user's is held against its bound with another sign than it has, which half of all pass",
    why: "Half of the values that an unsigned number has are less than 0 behind such a cast, and so less than \
          any bound; what is less than 0 is more than any size that it is compared with. What is used \
          behind that is the number itself.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    function.each_of(&["binary_expression"], |node| {
        out.extend(compared(function, node));
        out.extend(held(function, node));
    });
    let cut = function
        .calls
        .iter()
        .filter_map(|call| cut_by_least(function, *call));
    out.extend(cut.map(|own| lost(function, &own)));
}

/// A number of which a part alone is held against its bound, and kept.
fn lost(function: &FunctionContext<'_>, own: &CutByLeast) -> Violation {
    let file = function.file;
    let message = format!(
        "{} is cut to what {} holds of it before it is held against the bound, and keeps that",
        file.plain(own.number.span),
        own.of
    );
    file.violation(&INFO, own.call, "cut before it is compared", message)
}

/// `if (n < sizeof(x)) return -EINVAL;` of a number with a sign, that nothing else bounds: one
/// that is less than 0 is a large one there.
fn held(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    orders(function.context.operator(node)).then_some(())?;
    let own = function.expression_of(node);
    let asked = Ordered::of(&own)?;
    let (number, least) = (asked.less, asked.more);
    let size = matches!(least.term, Term::SizeOf(_) | Term::SizeOfType(_));
    (size && is_place(number)).then_some(())?;
    let then = narrowed::refused(node)?;
    let leaves = function.graph.statement(span(then));
    leaves.filter(|then| function.graph.leaves(then))?;
    // Who calls the function may have asked.
    let root = number.root().name()?;
    let own = function.graph.local(root).is_some() && !function.is_parameter(root);
    let used = number.name().is_none_or(|name| {
        let mut reads = function.reads(name);
        !takes_another(function, name, node) && reads.any(|own| is_behind(function, own.span, node))
    });
    let place = span(node);
    let near = |other: Span| function.share_a_way(other, place);
    (own && used && !asks_of_sign(function, number, near)).then_some(())?;
    let of = space::type_of(function, number)?;
    matches!(of.shape, Shape::Scalar { signed: true, .. }).then_some(())?;
    let users = unbounded::users_within(function, number, span(node))?;
    let bounded = users.is_handed || bounded::is_compared_on_the_way(function, number, place);
    (!bounded).then(|| {
        let file = function.file;
        let message = format!(
            "{} is the user's and has a sign, and {} has none: less than 0 is large there, and passes",
            file.plain(number.span),
            file.plain(least.span)
        );
        file.violation(&INFO, span(node), "passed by what is less than 0", message)
    })
}

/// Whether a variable takes a value behind a test.
fn takes_another(function: &FunctionContext<'_>, name: &str, node: Node<'_>) -> bool {
    let graph = function.graph;
    let writes = |own: &&Effect| matches!(own.kind, EffectKind::Write(_)) && graph.is_whole(own);
    let mut values = graph.effects.iter().filter(writes);
    values.any(|own| graph.name_of(own) == name && is_behind(function, own.span, node))
}

fn is_behind(function: &FunctionContext<'_>, place: Span, node: Node<'_>) -> bool {
    place.start > node.end_byte() && function.share_a_way(span(node), place)
}

/// `if ((int)n > MOST) return -EINVAL;` of an unsigned number that nothing else bounds, or of
/// one of which the cast takes a part.
fn compared(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    orders(function.context.operator(node)).then_some(())?;
    let casts = |side| {
        let side = node.part(side);
        side.is_some_and(|own| own.known_kind() == "cast_expression")
    };
    (casts("left") || casts("right")).then_some(())?;
    let own = function.expression_of(node);
    let asked = Ordered::of(&own)?;
    let (cast, most) = (asked.more, asked.less);
    let Term::Cast(to, number) = &cast.term else {
        return None;
    };
    let number = number.uncast().1;
    let plain = to.pointers == 0 && !most.is_zero() && is_place(number);
    // `sizeof(x)` makes an unsigned comparison of it again.
    let sized = |part: &Expression| matches!(part.term, Term::SizeOf(_) | Term::SizeOfType(_));
    (plain && !most.any(&sized)).then_some(())?;
    let then = narrowed::refused(node)?;
    let leaves = function.graph.statement(span(then));
    let leaves = leaves.is_some_and(|then| function.graph.leaves(then));
    (leaves || takes_bound(function, number, span(then))).then_some(())?;
    let signed = |shape: &Shape| match shape {
        Shape::Scalar { signed, .. } => Some(*signed),
        _ => None,
    };
    let taken = function.file.layout(&to.base)?;
    let of = space::type_of(function, number)?;
    let turns = signed(&taken.shape)? && !signed(&of.shape)? && of.size >= taken.size;
    let cuts = of.size > taken.size;
    let other = space::type_of(function, most.uncast().1);
    let unsigned = other.is_some_and(|own| signed(&own.shape) == Some(false));
    let loses = cuts || turns && !unsigned;
    (loses && !asks_of_sign(function, number, |_| true)).then_some(())?;
    let users = unbounded::users_within(function, number, span(node))?;
    let handed = users.is_handed && !(cuts && function.file.answers_a_program(function.body));
    let place = span(node);
    let compared = match cuts {
        true => bounded::is_compared_on_the_way(function, number, place),
        false => bounded::is_compared(function, number, place),
    };
    (!handed && !compared).then(|| {
        let file = function.file;
        let what = match cuts {
            true => format!(
                "only what {} holds of it is held against the bound",
                to.base
            ),
            false => format!(
                "large ones are less than 0 as {}: they are not refused",
                to.base
            ),
        };
        let kind = if cuts { "" } else { "unsigned and " };
        let number = file.plain(number.span);
        let message = format!("{number} is {kind}the user's, and {what}");
        file.violation(&INFO, span(node), "passed by what is large", message)
    })
}

/// Whether a number takes another value in a place, as `if (n > MOST) n = MOST;` makes it.
fn takes_bound(function: &FunctionContext<'_>, number: &Expression, then: Span) -> bool {
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        if !then.contains(span(node)) {
            return;
        }
        let whole = function.expression_of(node);
        found |= matches!(&whole.term, Term::Assignment(left, ..) if **left == *number);
    });
    found
}

fn is_place(number: &Expression) -> bool {
    matches!(number.term, Term::Name(_) | Term::Member { .. })
}

/// Whether anything that counts compares the number with 0 by another operator than `==` and
/// `!=`.
fn asks_of_sign(
    function: &FunctionContext<'_>,
    number: &Expression,
    counts: impl Fn(Span) -> bool,
) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let compares = orders(function.context.operator(node));
        if found || !compares || !bounded::is_of_zero(function, span(node)) {
            return;
        }
        found = function.expression_of(node).any(&|part| part == number) && counts(span(node));
    });
    found
}
