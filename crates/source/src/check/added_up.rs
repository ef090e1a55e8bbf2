//! Lengths that grow by how much calls would have written, and go out as what there is: behind the one
//! for which there was no room the length is more than the buffer has.

use tree_sitter::Node;

use crate::calls::Writes;
use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::lex::Token;
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::behind_front::begun;
use super::callee::look_into;
use super::context::FunctionContext;
use super::overlong::{Overlong, most};
use super::space;

/// So many variables made of the length are looked at.
const FEW: usize = 8;

/// A call that writes a string behind what is there, and adds how long that would be.
struct Addition {
    call: Span,
    name: String,
    /// What takes the call's result before it is added; the length itself where nothing does.
    by: Expression,
    /// The most that all its rounds write; none where nothing says so.
    most: Option<u64>,
}

/// A copy whose length grew so, where nothing holds it against the room.
pub(crate) fn added_up(
    function: &FunctionContext<'_>,
    copy: Span,
    (buffer, count): (&Expression, &Expression),
) -> Option<Overlong> {
    let (front, count) = (buffer.uncast().1, count.uncast().1);
    let number = counted(function, front, count)?;
    let own = grown(function, (front, &number), copy).or_else(|| elsewhere(function, front, count));
    let (addition, known) = own?;
    (!is_judged(function, &number)).then(|| Overlong {
        copy,
        written: if known { addition.call } else { copy },
        name: addition.name,
        buffer: front.span,
        long: function.file.plain(count.span),
    })
}

/// What is added to: the length, or the place that was moved on where the length is how far.
fn counted(
    function: &FunctionContext<'_>,
    front: &Expression,
    count: &Expression,
) -> Option<Expression> {
    let made = |name: &str| function.expression(function.graph.only_value(name)?);
    let moved = |own: &Expression| match &own.uncast().1.term {
        Term::Binary(place, operator, from) if operator == "-" => {
            let place = place.uncast().1;
            (from.uncast().1 == front && place.name().is_some()).then(|| place.clone())
        }
        _ => None,
    };
    match &count.term {
        Term::Name(name) => {
            let far = made(name).and_then(|own| moved(&own));
            let local = || function.graph.local(name).filter(|own| own.plain);
            far.or_else(|| local().map(|_| count.clone()))
        }
        Term::Member { .. } => Some(count.clone()),
        _ => moved(count),
    }
}

/// The first call before a copy that adds to a length, where all of them may come to more than there
/// is room for.
fn grown(
    function: &FunctionContext<'_>,
    (front, number): (&Expression, &Expression),
    copy: Span,
) -> Option<(Addition, bool)> {
    let before = function
        .calls
        .iter()
        .filter(|own| span(**own).end <= copy.start);
    let all: Vec<Addition> = before
        .filter_map(|call| addition(function, *call, (front, number)))
        .collect();
    let judged = all.iter().any(|own| is_judged(function, &own.by));
    let open = all.into_iter().find(|own| own.most.is_none())?;
    (!judged).then_some((open, true))
}

/// The same of a member, in another function of the file, where nothing sets it to begin anew.
fn elsewhere(
    function: &FunctionContext<'_>,
    front: &Expression,
    count: &Expression,
) -> Option<(Addition, bool)> {
    let fields = (field(front)?, field(count)?);
    let file = function.file;
    let grows = |two: &[Token]| match two {
        [member, plus] => member.span.of(file.text) == fields.1.as_bytes() && plus.is(b'+'),
        _ => false,
    };
    let adds = |body: &&Body| file.tokens_of(body).windows(2).any(grows);
    let own = |body: &&Body| !std::ptr::eq(*body, function.body);
    let mut bodies = file.bodies.iter().filter(own).filter(adds);
    bodies.find_map(|body| look_into(function, &body.name, |callee| in_callee(callee, fields)))
}

fn in_callee(callee: &FunctionContext<'_>, fields: (&str, &str)) -> Option<(Addition, bool)> {
    callee.calls.iter().find_map(|call| {
        let (writes, given) = written(callee, *call)?;
        let object = given.get(writes.object)?.uncast().1;
        let (front, number) = begun(object)?;
        (field(front) == Some(fields.0) && field(number) == Some(fields.1)).then_some(())?;
        let own = addition(callee, *call, (front, number))?;
        let open = !is_judged(callee, number) && !is_judged(callee, &own.by);
        (open && !begins(callee, number)).then_some((own, false))
    })
}

/// The member's name.
fn field(own: &Expression) -> Option<&str> {
    match &own.term {
        Term::Member { field, .. } => Some(field),
        _ => None,
    }
}

/// Whether a function gives a length another value than more of it.
fn begins(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        let own = function.expression_of(node);
        found |= matches!(&own.term, Term::Assignment(left, operator, value)
            if operator == "=" && **left == *number && !value.any(&|part| part == number));
    });
    found
}

/// What a call is told that writes no more than there is room for.
fn written(function: &FunctionContext<'_>, call: Node<'_>) -> Option<(Writes, Vec<Expression>)> {
    let name = function.callee(call)?;
    let writes = function.file.words.results().writes(name)?;
    writes.count?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    Some((writes, given.to_vec()))
}

fn addition<'t>(
    function: &FunctionContext<'t>,
    call: Node<'t>,
    (front, number): (&Expression, &Expression),
) -> Option<Addition> {
    let (writes, given) = written(function, call)?;
    let object = given.get(writes.object)?.uncast().1;
    (object == number || begun(object) == Some((front, number))).then_some(())?;
    let by = added(function, call, number)?;
    let room = given.get(writes.count?)?;
    (!is_measured(function, room, number)).then_some(())?;
    let rounds = rounds(function, call);
    let once = most(function, writes, &given);
    Some(Addition {
        call: span(call),
        name: function.callee(call)?.to_owned(),
        by,
        most: rounds.and_then(|rounds| once?.checked_mul(rounds)),
    })
}

/// Whether the room is made to measure: by a count of what there is to write, or by what another pass over
/// it has added up.
fn is_measured(function: &FunctionContext<'_>, room: &Expression, number: &Expression) -> bool {
    let counts = |own: &Expression| match &own.term {
        Term::Call(..) => true,
        Term::Binary(_, operator, _) => operator == "*",
        _ => false,
    };
    let counted = |own: &Expression| space::bytes(function, own).is_none() && own.any(&counts);
    let measured = |name: &str| match function.graph.only_value(name) {
        Some(value) => function
            .expression(value)
            .is_none_or(|own| counted(own.uncast().1)),
        None => true,
    };
    let local = |name: &str| function.graph.local(name).is_some_and(|own| own.plain);
    room.any(&|part| {
        let name = part.name().filter(|_| part != number);
        name.is_some_and(|name| local(name) && measured(name))
    })
}

/// What takes the result of a call on its way into a length: `n += f(…)`, `n = n + f(…)`, or a variable,
/// `l = f(…); n += l;`.
fn added<'t>(
    function: &FunctionContext<'t>,
    call: Node<'t>,
    number: &Expression,
) -> Option<Expression> {
    let is = |own: &Expression| own.uncast().1 == number;
    let mut around = function.around(call);
    let holder = around.find(|own| {
        let passes = [
            "parenthesized_expression",
            "cast_expression",
            "binary_expression",
        ];
        !passes.contains(&own.known_kind())
    })?;
    let own = function.expression_of(holder);
    if let Term::Assignment(left, operator, value) = &own.term
        && is(left)
    {
        let grows = operator == "+=" || operator == "=" && value.any(&|part| part == number);
        return grows.then(|| number.clone());
    }
    let by = function.taker(call)?;
    by.name()?;
    let mut adds = false;
    function.each_of(&["assignment_expression"], |node| {
        adds |= matches!(&function.expression_of(node).term, Term::Assignment(left, operator, value)
            if is(left) && (operator == "+=" && *value.uncast().1 == by
                || operator == "=" && value.any(&|part| *part == by) && value.any(&|part| part == number)));
    });
    adds.then_some(by)
}

/// In how many rounds a place is at most; none where nothing says so.
fn rounds(function: &FunctionContext<'_>, place: Node<'_>) -> Option<u64> {
    let mut around = std::iter::successors(place.parent(), Node::parent);
    around.try_fold(1_u64, |rounds, own| match own.known_kind() {
        "for_statement" => {
            let asked = own.part("condition")?;
            let asked = function.expression_of(asked);
            let ends = Ordered::of(&asked)?;
            let most = ends.more.uncast().1;
            let most = space::bytes(function, most).or_else(|| elements(function, most))?;
            rounds.checked_mul(most.checked_add(1)?)
        }
        kind if LOOPS.contains(&kind) => None,
        _ => Some(rounds),
    })
}

/// `ARRAY_SIZE(a)`: what a table of the file's has is no number of the user's.
fn elements(function: &FunctionContext<'_>, own: &Expression) -> Option<u64> {
    let (_, given) = own.call()?;
    let [array] = given else { return None };
    space::elements(function, array.uncast().1)
}

/// Whether anything holds a number against the room, or what is made of it: by an order, or the lesser of
/// both.
fn is_judged(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Some(root) = number.root().name() else {
        return true;
    };
    let graph = function.graph;
    let made = graph.assignments().filter(|(own, value)| {
        *own != root
            && function
                .expression(*value)
                .is_some_and(|own| own.any(&|part| part == number))
    });
    let made: Vec<&str> = made.map(|(own, _)| own).take(FEW + 1).collect();
    if function.stops_at(made.len(), FEW + 1) {
        return true;
    }
    let of_it = |own: &Expression| {
        own.any(&|part| part == number || part.name().is_some_and(|own| made.contains(&own)))
    };
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        if found || !compares(function.context.operator(node)) {
            return;
        }
        let own = function.expression_of(node);
        let Term::Binary(left, operator, right) = &own.term else {
            return;
        };
        let zero = left.is_zero() || right.is_zero();
        let plain = *left.uncast().1 == *number || *right.uncast().1 == *number;
        // That there is any, or an error, is no bound.
        let asks = !zero || !plain && Ordered::of(&own).is_some();
        found = asks && (of_it(left) || of_it(right)) && compares(operator);
    });
    found || is_lessened(function, &of_it)
}

fn is_lessened(function: &FunctionContext<'_>, of_it: &dyn Fn(&Expression) -> bool) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let lessens = function
            .callee(*call)
            .is_some_and(|name| function.file.words.lessens(name));
        let whole = lessens.then(|| function.expression_of(*call));
        let given = whole.as_ref().and_then(|own| own.call());
        given.is_some_and(|(_, given)| given.iter().any(of_it))
    })
}
