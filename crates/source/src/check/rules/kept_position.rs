use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::counted_again::counted_again;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::moved_by_call::{moved_by_call, moved_by_part};
use crate::check::moved_too_far::too_far;
use crate::check::position_set::position_set;
use crate::check::position_twice::{Twice, position_twice};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::parameter_spans;
use crate::check::unbounded;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kept-position",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a copy begins where a program stands in a file, and that is not moved on by what was copied, or counts twice",
    why: "The program that reads on is given the same bytes again, and never comes to the end; or it never \
          sees those that a fault left.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    from_the_front(function, out);
    moved_past(function, out);
    added_again(function, out);
    moved_by_itself(function, out);
    set_anew(function, out);
    let calls = function.calls.iter();
    let twice = calls.filter_map(|call| position_twice(function, *call));
    out.extend(twice.map(|own| counted_twice(function, &own)));
    // What of the file has a function called takes longest.
    let mut written = function
        .accesses
        .iter()
        .filter(|own| gives_bytes(own))
        .peekable();
    if written.peek().is_none() || !is_of_file(function) {
        return;
    }
    let Some(position) = unbounded::position(function) else {
        return;
    };
    let Some(access) = written.find(|own| begins_there(function, own, &position)) else {
        return;
    };
    let mut mentions = function.mentions(&position);
    if mentions.all(|node| is_read(function, node)) {
        let file = function.file;
        let message = format!(
            "{} begins where *{position} says, and {} never moves that on",
            file.plain(access.value),
            function.body.name
        );
        out.push(file.violation(&INFO, access.span, "the same again", message));
    }
}

/// What lasts and is moved on by all that was asked for, where a part may have been left.
fn moved_past(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    if let Some(own) = too_far(function) {
        let file = function.file;
        let message = format!(
            "{} is moved on by all that was asked for, and {} counts how much of it was copied",
            file.plain(own.what),
            function.body.name
        );
        let mut violation = file.violation(&INFO, own.moved, "the rest is passed over", message);
        let counted = file.mark(own.counted, "less, where a part was left");
        violation.related.push(counted);
        out.push(violation);
    }
}

/// What a position was moved on by, added to it once more.
fn added_again(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let position = unbounded::position(function);
    let own = position.and_then(|position| Some((counted_again(function, &position)?, position)));
    if let Some((own, position)) = own {
        let file = function.file;
        let message = format!("*{position} was moved on by that already, which counts twice here");
        let mut violation = file.violation(&INFO, own.sum, "counted twice", message);
        violation
            .related
            .push(file.mark(own.moved, "moved on here"));
        out.push(violation);
    }
}

/// What a call moved a position on by, added to it once more, or a part of what is given for all.
fn moved_by_itself(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let file = function.file;
    out.extend(moved_by_call(function).iter().map(|own| {
        let message = format!(
            "{}() has moved {} on by that itself, which counts twice here",
            own.name,
            file.plain(own.position)
        );
        let mut violation = file.violation(&INFO, own.again, "counted twice", message);
        violation.related.push(file.mark(own.call, "moved on here"));
        violation
    }));
    out.extend(moved_by_part(function).map(|own| {
        let message = format!(
            "the position goes on by {}, and {} counts more than that",
            file.plain(own.by),
            file.plain(own.told)
        );
        let mut violation = file.violation(&INFO, own.moved, "given again", message);
        violation
            .related
            .push(file.mark(own.besides, "not counted there"));
        violation
    }));
}

/// A position that is set to how much was copied, and not moved on by it.
fn set_anew(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let position = unbounded::position(function);
    let Some(own) = position_set(function, position.as_deref()) else {
        return;
    };
    let file = function.file;
    let message = format!(
        "{} becomes {}, which is how much was copied from there on",
        file.plain(own.position),
        file.plain(own.by)
    );
    let mut violation = file.violation(&INFO, own.set, "not moved on", message);
    violation
        .related
        .push(file.mark(own.copy, "begins behind the front"));
    out.push(violation);
}

/// An object that begins at a position already which the call adds to it.
fn counted_twice(function: &FunctionContext<'_>, own: &Twice) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() adds the position itself to where {} leads, which begins there already",
        own.name,
        file.plain(own.object)
    );
    let mut violation = file.violation(&INFO, own.call, "counted twice", message);
    violation.related.push(file.mark(own.added, "added here"));
    violation
}

/// A call that begins where a variable of the function's own says, which is 0 each time.
fn from_the_front(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let calls = function.calls.iter();
    let mut own = calls.filter_map(|call| Some((*call, own_position(function, *call)?)));
    let Some((call, name)) = own.next().filter(|_| is_of_file(function)) else {
        return;
    };
    let Some(position) = unbounded::position(function) else {
        return;
    };
    let mut mentions = function.mentions(&position);
    if mentions.all(|node| is_read(function, node)) && !sets_position(function) {
        let file = function.file;
        let message = format!(
            "{name} is 0 each time, and {} never moves *{position} on",
            function.body.name
        );
        out.push(file.violation(&INFO, span(call), "the same again", message));
    }
}

/// The variable by which a call is told to begin at the front: one of the function's whose
/// address nothing else has, and which is 0.
fn own_position(function: &FunctionContext<'_>, call: Node<'_>) -> Option<String> {
    let results = function.file.words.results();
    let at = results.begins_at(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let name = match &given.get(at)?.term {
        Term::Address(inner) => inner.name()?,
        _ => return None,
    };
    let graph = function.graph;
    let local = graph.local(name).filter(|own| !own.lasting)?;
    let values = graph.assignments().filter(|(own, _)| *own == name);
    let values: Vec<Span> = values.map(|(_, value)| value).collect();
    let zero = |at: &Span| function.expression(*at).is_some_and(|own| own.is_zero());
    let takes = |node: Node<'_>| {
        let holder = function.above(node);
        holder.is_some_and(|own| own.part("left") == Some(node))
    };
    let inside = |place: Span, node: Node<'_>| place.contains(span(node));
    let own = |node| inside(span(call), node) || inside(local.declared, node) || takes(node);
    let once = matches!(values.as_slice(), [value] if zero(value));
    let alone = once && function.mentions(name).all(own);
    alone.then(|| name.to_owned())
}

/// Whether the function names the position that the file itself has.
fn sets_position(function: &FunctionContext<'_>) -> bool {
    let mut found = false;
    function.each_of(&["field_expression"], |node| {
        let own = function.expression_of(node);
        found |= matches!(&own.term, Term::Member { field, .. } if field == "f_pos");
    });
    found
}

/// Whether the function is given the file: what other structures call a read() is told where to
/// by one that moves the program on.
fn is_of_file(function: &FunctionContext<'_>) -> bool {
    let (file, body) = (function.file, function.body);
    let places = parameter_spans(file.tokens, body);
    let first = places.and_then(|all| all.first().copied());
    first.is_some_and(|first| {
        let mut pairs = file.tokens_in(first).windows(2);
        pairs.any(|two| {
            two.iter()
                .map(|own| own.span.of(file.text))
                .eq([&b"struct"[..], b"file"])
        })
    })
}

fn gives_bytes(access: &Access<'_>) -> bool {
    access.count.is_some() && access.word.direction == Direction::Write
}

/// Whether the kernel's side of a copy is made of where the program stands.
fn begins_there(function: &FunctionContext<'_>, access: &Access<'_>, position: &str) -> bool {
    let value = function.expression_of(access.value_node);
    let stands = |part: &Expression| match &part.term {
        Term::Behind(pointer) => pointer.name() == Some(position),
        _ => false,
    };
    let made = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        values.any(|(_, value)| {
            function
                .expression(value)
                .is_some_and(|own| own.any(&stands))
        })
    };
    value.any(&|part| stands(part) || part.name().is_some_and(made))
}

/// `*position` where its value is needed, and no other mention.
fn is_read<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    let plain = |own: &Node<'_>| own.known_kind() != "parenthesized_expression";
    let mut around = function.around(node).filter(plain);
    let Some(behind) = around.next() else {
        return false;
    };
    let follows =
        behind.known_kind() == "pointer_expression" && function.context.operator(behind) == b"*";
    let kept = |own: Node<'_>| match own.known_kind() {
        "assignment_expression" => own.part("left") != Some(behind),
        "update_expression" => false,
        "pointer_expression" => function.context.operator(own) != b"&",
        _ => true,
    };
    follows && around.next().is_some_and(kept)
}
