use std::cell::OnceCell;

use crate::calls::Copied;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::refused::refused;
use crate::check::rule::{Look, Rule};
use crate::check::turned_over::turned_over;
use crate::expression::{Expression, Term};
use crate::flow::{Statement, StatementKind};
use crate::hashed::HashMap;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "inverted-test",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "-EFAULT is returned where the access did not fault",
    why: "copy_from_user() and get_user() give 0 where all went well, access_ok() and user_*_begin() give \
          0 where it did not, strncpy_from_user() gives a length, copy_from_iter() how many bytes it \
          copied. A ! too many or too few refuses what is right and goes on with what is not.",
};

/// By the variable that an address is made from: where it is accessed, and by which nodes.
type Places = HashMap<String, Vec<(Span, Vec<usize>)>>;

fn places_of(function: &FunctionContext<'_>) -> Places {
    let mut all = Places::default();
    for access in function.accesses.iter().chain(function.through) {
        let nodes = function.graph.nodes_in(access.span).collect();
        let own = all.entry(access.user_root.clone()).or_default();
        own.push((access.span, nodes));
    }
    all
}

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let places = OnceCell::new();
    let asked = function.graph.statements.iter();
    for own in asked.filter(|own| own.kind == StatementKind::If) {
        let condition = own.expression.and_then(|place| function.expression(place));
        let Some(condition) = condition else {
            continue;
        };
        let each = condition.joined("||").into_iter();
        let mut found = each.filter_map(|part| inverted(function, part)).peekable();
        let places = || places.get_or_init(|| places_of(function));
        let answered = || stores_fault(function, own) || gives_fault(function, own, places());
        if found.peek().is_some() && answered() {
            out.extend(found);
            continue;
        }
        out.extend(only_refused(function, (own, &condition), places()));
        let each = condition.joined("||").into_iter();
        out.extend(each.filter_map(|part| both(function, part)));
    }
    function.each_of(&["conditional_expression"], |node| {
        out.extend(chosen(function, &function.expression_of(node)));
    });
    for own in refused(function) {
        if !out.iter().any(|told| told.mark.span.contains(own.span)) {
            out.push(violation(function, own.span, &own.name, true));
        }
    }
    for own in turned_over(function) {
        let message = format!(
            "{} is used only where {}() faulted, which stores nothing then",
            own.variable, own.name
        );
        let file = function.file;
        let mut violation = file.violation(&INFO, own.access, "the other way around", message);
        violation.confidence = Confidence::Medium;
        violation.related.push(file.mark(own.used, "used here"));
        out.push(violation);
    }
}

/// `!get_user(a, p) ? -EFAULT : 0`, or `get_user(a, p) ? 0 : -EFAULT`.
fn chosen(function: &FunctionContext<'_>, own: &Expression) -> Option<Violation> {
    let Term::Choice(condition, yes, no) = &own.term else {
        return None;
    };
    let yes = yes.as_deref();
    if yes.is_some_and(is_fault) && no.is_zero() {
        let each = condition.joined("||").into_iter();
        return each.filter_map(|part| inverted(function, part)).next();
    }
    let (name, _) = condition.call()?;
    let refused = is_fault(no) && yes.is_none_or(Expression::is_zero);
    (refused && is_zero_right(function, name)).then(|| violation(function, own.span, name, true))
}

/// Accesses each of which gives 0 where all went well, joined by `&&`: a fault of one alone
/// passes. Where both fill the same or go to the same place the second one is tried because
/// the first one faulted.
fn both(function: &FunctionContext<'_>, part: &Expression) -> Option<Violation> {
    let each = part.joined("&&");
    let access = |own: &&Expression| {
        let mut accesses = function.accesses.iter();
        accesses.find(|access| access.span == own.span && access.word.result.is_some())
    };
    let all: Option<Vec<_>> = each.iter().map(access).collect();
    let all = all.filter(|all| all.len() > 1)?;
    let (first, rest) = all.split_first()?;
    let text = function.file.text;
    let other = |own: &&&Access<'_>| {
        let filled = first.value.of(text) == own.value.of(text);
        own.word.direction == first.word.direction && own.address != first.address && !filled
    };
    let second = rest.iter().find(other)?;
    let file = function.file;
    let message =
        "a fault of one of these alone passes: both have to fault to be answered".to_owned();
    let mut violation = file.violation(&INFO, first.span, "one of two", message);
    violation.related.push(file.mark(second.span, "the other"));
    Some(violation)
}

/// Where a range check says that the address is right the function leaves, and what accesses
/// it stands where the check says that it is not.
fn only_refused(
    function: &FunctionContext<'_>,
    (own, condition): (&Statement, &Expression),
    places: &Places,
) -> Option<Violation> {
    let (name, given) = condition.call()?;
    let checks = function.file.words.checks_range(name.as_bytes());
    let address = given.first().filter(|_| checks)?;
    let root = address.root().name()?;
    let graph = function.graph;
    let from = graph.inside(own.span).next().and_then(|then| then.before)?;
    let reached = graph.reached(from, |_| false);
    let own_places = places.get(root)?.iter();
    let mut behind = own_places
        .filter(|(access, _)| access.start >= own.span.end)
        .peekable();
    behind.peek()?;
    let mut nodes = behind.flat_map(|(_, nodes)| nodes);
    if nodes.any(|node| reached.contains(node)) {
        return None;
    }
    let shown = function.file.plain(address.span);
    let message = format!(
        "{name}() gives no 0 where {shown} is right, and what accesses it stands where it gives 0"
    );
    Some(
        function
            .file
            .violation(&INFO, condition.span, "the other way around", message),
    )
}

/// Whether every way from where the condition holds ends in -EFAULT, and nothing more is
/// accessed on it.
fn gives_fault(function: &FunctionContext<'_>, own: &Statement, places: &Places) -> bool {
    let graph = function.graph;
    let from = graph.inside(own.span).next().and_then(|then| then.before);
    let Some(from) = from else {
        return false;
    };
    let reached = graph.reached(from, |_| false);
    let mut accessed = places.values().flatten().flat_map(|(_, nodes)| nodes);
    let goes_on = accessed.any(|node| reached.contains(node));
    let fault = |at: Span| {
        let given = graph.statement(at).and_then(|own| own.expression);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| is_fault(&given))
    };
    !goes_on && graph.gives_only(from, "-EFAULT", fault)
}

/// Whether the last that is done where the condition holds is that a variable takes
/// -EFAULT.
fn stores_fault(function: &FunctionContext<'_>, own: &Statement) -> bool {
    let graph = function.graph;
    let Some(then) = graph.inside(own.span).next() else {
        return false;
    };
    let last = match then.kind {
        StatementKind::Block => graph.inside(then.span).last(),
        _ => Some(then),
    };
    let stored = last.filter(|last| last.kind == StatementKind::Expression);
    let stored = stored.and_then(|last| function.expression(last.expression?));
    stored.is_some_and(|stored| match &stored.term {
        Term::Assignment(_, operator, value) => operator == "=" && is_fault(value),
        _ => false,
    })
}

fn is_fault(own: &Expression) -> bool {
    match &own.term {
        Term::Unary(minus, of) => minus == "-" && of.name() == Some("EFAULT"),
        _ => false,
    }
}

/// A call that went well where the expression holds.
fn inverted(function: &FunctionContext<'_>, own: &Expression) -> Option<Violation> {
    let (call, negated) = match &own.term {
        Term::Unary(not, inner) if not == "!" => (&**inner, true),
        Term::Binary(call, equal, right) if right.is_zero() && is_equality(equal) => {
            (&**call, equal == "==")
        }
        _ => (own, false),
    };
    let (name, _) = call.call()?;
    let words = function.file.words;
    let known = function.known.get(name);
    let copies = known.and_then(|own| own.copies.as_ref());
    let word = words.access(name).or(copies);
    let faults = word.is_some_and(|word| word.result.is_some());
    let opens = words.checks_range(name.as_bytes())
        || words
            .begin(name)
            .is_some_and(|begin| !begin.always && !begin.guessed)
        || words.results().copied(name) == Some(Copied::All)
        || known.is_some_and(|own| own.succeeds);
    let measures = words.gives_length(name) || words.results().copied(name) == Some(Copied::Bytes);
    let wrong = if negated {
        faults && !opens
    } else {
        opens || measures
    };
    wrong.then(|| violation(function, own.span, name, negated))
}

/// Whether a call of that name gives 0 where all went well, and nothing else that is 0.
fn is_zero_right(function: &FunctionContext<'_>, name: &str) -> bool {
    let word = function.file.words.access(name);
    word.is_some_and(|word| word.result.is_some())
}

fn is_equality(operator: &str) -> bool {
    matches!(operator, "==" | "!=")
}

fn violation(function: &FunctionContext<'_>, at: Span, name: &str, negated: bool) -> Violation {
    let message = match negated {
        true => format!("{name}() gives 0 where nothing faulted, and that is answered by -EFAULT"),
        false => format!("{name}() gives no 0 where all is right, and that is answered by -EFAULT"),
    };
    function
        .file
        .violation(&INFO, at, "the other way around", message)
}
