//! Numbers that the user gives and that nothing in the function bounds.

use std::cell::OnceCell;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::asked::may_be_least;
use super::bounded::{
    comes_before, is_compared, is_limited, is_limited_at_all, is_limited_member, is_limited_on_ways,
};
use super::callee::look_into;
use super::context::FunctionContext;
use super::fetched::{is_line_of_log, is_told};
use super::filled_place::{
    is_copied, is_filled, is_filled_place, is_given_copy, named_in, pointer_of,
};
use super::narrowed::{is_narrowed, is_repeated, lesser, narrowing, repeated};
use super::space;
use super::strings::words;
use super::taken_anew::{Taken, taken_anew, takes_off};
use super::tokens::parameters;
use super::words::Permission;

/// So often a number may have been made of others.
const STEPS: usize = 4;

/// The variable by which the user says how much a number is; none where anything may
/// bound it.
pub(crate) fn users(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<String> {
    made(function, number, at, &mut Search::default())
}

/// A number of the user's.
pub(crate) struct Users {
    /// What it is made of, as the function names it.
    pub(crate) source: String,
    /// What of the function it is made of, itself first.
    pub(crate) by: Vec<Expression>,
    /// Whether it is what the function is called with by a pointer to it.
    pub(crate) is_handed: bool,
}

/// The same of a number that the function may bound, but not what the number is made of:
/// that is compared with nothing.
pub(crate) fn users_within(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Users> {
    within(function, number, at, Search::default())
}

/// The same, where a bound from below is one, too.
pub(crate) fn users_within_both(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Users> {
    let search = Search {
        from_below: true,
        ..Search::default()
    };
    within(function, number, at, search)
}

fn within(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
    search: Search,
) -> Option<Users> {
    let mut search = Search {
        within: Some(function.body.span),
        ..search
    };
    let source = made(function, number, at, &mut search)?;
    let other = |own: &&Expression| !number.any(&|part| part == *own);
    let mut by = search.by.iter().filter(other);
    let bounded =
        by.any(|own| is_compared(function, own, at) || is_handed_before(function, own, at));
    (!bounded).then_some(Users {
        source,
        by: search.by,
        is_handed: search.is_handed,
    })
}

/// What a number was made of so far.
#[derive(Default)]
struct Search {
    /// The variables, each with the function that it is in.
    seen: Vec<String>,
    /// The function in which a bound is none.
    within: Option<Span>,
    /// What the number is made of in there.
    by: Vec<Expression>,
    /// Whether it comes from who calls a function by a pointer.
    is_handed: bool,
    /// Whether a bound from below is one, too.
    from_below: bool,
}

impl Search {
    /// Whether a bound that stands in the function counts.
    fn counts(&self, function: &FunctionContext<'_>) -> bool {
        self.within != Some(function.body.span)
    }

    /// Whether a function bounds a variable before a place, as far as it counts.
    fn is_limited(&self, function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
        match self.from_below {
            true => is_limited_at_all(function, name, at),
            false => is_limited(function, name, at),
        }
    }

    /// The same of a member.
    fn is_limited_member(
        &self,
        function: &FunctionContext<'_>,
        member: (&str, &Expression),
        at: Span,
    ) -> bool {
        is_limited_member(function, member, at, self.from_below)
    }

    /// Whether a number was not asked for yet, and not too many were: functions may call
    /// each other in a ring. Variables of two functions may share a name.
    fn is_new(&mut self, function: &FunctionContext<'_>, name: &str) -> bool {
        let known = format!("{}:{name}", function.body.name);
        let new = self.seen.len() <= STEPS && !self.seen.contains(&known);
        if new {
            self.seen.push(known);
        }
        new
    }
}

fn made(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
    search: &mut Search,
) -> Option<String> {
    if !search.counts(function) {
        search.by.push(number.clone());
    }
    match &number.term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "-" | "*") => {
            let other = |one: &Expression, two: &Expression, search: &mut Search| {
                let source = made(function, one, at, search)?;
                space::bytes(function, two).map(|_| source)
            };
            other(left, right, search).or_else(|| other(right, left, search))
        }
        Term::Name(name) => by_name(function, name, at, search),
        // The lesser of two, as min() gives it.
        Term::Choice(..) if !search.counts(function) => {
            made(function, lesser(number)?.0, at, search)
        }
        Term::Call(..) => {
            let (name, given) = number.call()?;
            // The lesser has a bound where that counts, the larger is bounded from below alone.
            let words = function.file.words;
            let greatest = words.gives_greatest(name);
            if greatest || words.lessens(name) {
                let open = greatest == search.counts(function);
                let mut given = given.iter().filter(|_| open);
                return given.find_map(|own| made(function, own.uncast().1, at, search));
            }
            let of = given.first()?;
            let given = function.file.words.gives_users(name);
            // `switch (cmd)` says which, and with it how much.
            let counts = search.counts(function);
            let limited = of
                .root()
                .name()
                .is_none_or(|root| counts && search.is_limited(function, root, at));
            (given && !limited).then(|| function.file.plain(number.span))
        }
        Term::Member { .. } => member(function, number, at, search),
        Term::Behind(position) => {
            let name = position.name().filter(|_| is_position(function, number))?;
            let limited = search.counts(function) && search.is_limited(function, name, at);
            // Who reads or writes there for the function asks where that is.
            let kept = !function.graph.takes_a_value(name)
                && values(function, number, at).is_empty()
                && !is_handed_before(function, position, at);
            (kept && !limited).then(|| function.file.plain(number.span))
        }
        _ => None,
    }
}

/// The same of a member.
fn member(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
    search: &mut Search,
) -> Option<String> {
    match &number.term {
        Term::Member { .. } if is_filled_place(function, number, at) => {
            let limited = || {
                let root = number.root().name();
                root.is_none_or(|root| search.is_limited_member(function, (root, number), at))
            };
            let assigned = !values(function, number, at).is_empty();
            let bounded = assigned || search.counts(function) && limited();
            (!bounded).then(|| words(function, number))
        }
        Term::Member { .. } if behind_local(function, number).is_some() => {
            behind(function, number, at, search)
        }
        Term::Member {
            holder,
            arrow: true,
            field,
        } => {
            let root = holder.name()?;
            let kept = !function.graph.takes_a_value(root);
            let limited =
                search.counts(function) && search.is_limited_member(function, (root, number), at);
            let filled = is_filled(function, root, at) || is_put_over(function, root, at);
            let known =
                kept && !limited && !filled && search.is_new(function, &format!("{root}->{field}"));
            if known && is_given_copy(function, root) {
                return Some(words(function, number));
            }
            known.then(|| by_callers(function, root, Some(field), search))?
        }
        Term::Member { .. } => {
            let root = number.root().name()?;
            let own = function.local_at(root, number.span)?;
            let assigned = !values(function, number, at).is_empty();
            let filled = own.plain && is_filled(function, root, at) && !assigned;
            let limited = (filled || assigned)
                && search.counts(function)
                && search.is_limited_member(function, (root, number), at);
            match assigned && own.plain && !limited {
                // It may be made of itself: `own.n = own.n + 1`.
                true => {
                    let new = search.is_new(function, &function.file.plain(number.span));
                    let value = only_value(function, number, at).filter(|_| new)?;
                    made(function, &value, at, search)
                }
                false => (filled && !limited).then(|| words(function, number)),
            }
        }
        _ => None,
    }
}

/// The pointer of the function itself behind which a member lies, or a member of that.
fn behind_local<'e>(function: &FunctionContext<'_>, number: &'e Expression) -> Option<&'e str> {
    pointer_of(number).filter(|root| !function.is_parameter(root))
}

/// The same of a member behind a pointer that the function makes itself.
fn behind(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
    search: &mut Search,
) -> Option<String> {
    let root = behind_local(function, number)?;
    let copied = is_copied(function, root, at) && values(function, number, at).is_empty();
    let bounded = |search: &Search| {
        search.counts(function) && search.is_limited_member(function, (root, number), at)
    };
    if copied {
        return (!bounded(search)).then(|| words(function, number));
    }
    // `p = &own.part;`: what lies behind it has another name.
    let value = function.expression(function.graph.only_value(root)?)?;
    let Term::Address(place) = &value.uncast().1.term else {
        return None;
    };
    let new = search.is_new(function, &function.file.plain(number.span));
    let own = named_in(number, place).filter(|_| new && !bounded(search))?;
    made(function, &own, at, search)
}

/// Whether a number is where in a file a program reads or writes, which it says: `*ppos`.
pub(crate) fn is_position(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Term::Behind(pointer) = &number.term else {
        return false;
    };
    let name = pointer.name();
    name.is_some_and(|name| position(function).is_some_and(|own| own == name))
}

/// The parameter by which a program says where in a file it reads or writes, and is told where
/// it goes on.
pub(crate) fn position(function: &FunctionContext<'_>) -> Option<String> {
    let (file, own) = (function.file, function.body);
    let at = file.handlers(own).find_map(|own| own.position)?;
    let mut names = parameters(file.text, file.tokens, own)?;
    (at < names.len()).then(|| names.swap_remove(at))
}

/// The parameters by which a read() or write() of a table of the file is given where the program's bytes
/// are, and how many.
pub(crate) fn given_to_a_program(function: &FunctionContext<'_>) -> Option<(String, String)> {
    let (file, own) = (function.file, function.body);
    let mut places = file
        .handlers(own)
        .filter_map(|own| Some((own.buffer?, own.position?)));
    let (buffer, position) = places.next()?;
    let names = parameters(file.text, file.tokens, own)?;
    let count = names.get(position.checked_sub(1)?)?;
    Some((names.get(buffer)?.clone(), count.clone()))
}

/// What a member takes before a place, if it takes but one value.
fn only_value(function: &FunctionContext<'_>, member: &Expression, at: Span) -> Option<Expression> {
    let mut values = values(function, member, at);
    let only = values.pop().flatten();
    only.filter(|_| values.is_empty())
}

/// What a member takes before a place; none of what another operator than `=` makes of it.
fn values(
    function: &FunctionContext<'_>,
    member: &Expression,
    at: Span,
) -> Vec<Option<Expression>> {
    let mut values = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if node.known_kind() == "assignment_expression" {
            match &function.expression_of(node).term {
                Term::Assignment(left, operator, value)
                    if **left == *member && comes_before(function, span(node), at) =>
                {
                    values.push((operator == "=").then(|| value.uncast().1.clone()));
                }
                _ => {}
            }
        }
    });
    values
}

fn by_name(
    function: &FunctionContext<'_>,
    name: &str,
    at: Span,
    search: &mut Search,
) -> Option<String> {
    // Most indices only count: what follows takes longer.
    if !search.is_new(function, name) || only_counts(function, name) {
        return None;
    }
    let again = repeated(function, name);
    let effects = function.graph.effects.iter();
    let own: Vec<&Effect> = effects
        .filter(|own| function.graph.name_of(own) == name && changes(own))
        .filter(|own| !is_repeated(own, &again) && comes_before(function, own.span, at))
        .filter(|own| !takes_off(function, own))
        .collect();
    let mut own = function.on_the_way(own, at);
    let is_parameter = function.is_parameter(name);
    let clamps = |own: &Effect| match &own.kind {
        EffectKind::Write(write) => write
            .value
            .is_some_and(|value| is_constant(function, value)),
        _ => false,
    };
    // `if (n > 8) n = 8;`, whatever else is given what it was.
    let given = |own: &Effect| {
        let copy = matches!(own.kind, EffectKind::Handed { by_address: false });
        copy && !function
            .accesses
            .iter()
            .any(|access| access.span.contains(own.span))
    };
    // `n = min(n, 8)` on some ways leaves it what it was on the others.
    let narrowing = narrowing(function, name, &own);
    let narrows = |own: &Effect| narrowing.contains(&own.span);
    let counts = search.counts(function);
    own.retain(|own| counts || !narrowing.contains(&own.span));
    let narrowed = counts && is_narrowed(function, &narrowing, at);
    let clamped =
        own.iter().any(|own| clamps(own) || narrows(own)) || function.body.is_system_call();
    let kept = is_parameter
        && clamped
        && !narrowed
        && own
            .iter()
            .all(|own| clamps(own) || narrows(own) || given(own))
        && !is_replaced(function, name, at);
    let own = if kept { Vec::new() } else { own };
    let source = match own.as_slice() {
        [] if is_parameter && is_callback(function) => {
            // Nobody judges what a system call is given.
            search.is_handed = !function.body.is_system_call();
            Some(name.to_owned())
        }
        [] if is_parameter => by_callers(function, name, None, search),
        _ if is_parameter => None,
        own => by_values(function, name, own, at, search),
    };
    // Last, for the whole function is looked through for it.
    let source =
        source.filter(|_| !search.counts(function) || !search.is_limited(function, name, at));
    source.or_else(|| anew(function, name, at, search))
}

/// Whether a variable of the function takes constants and steps, and nothing else.
fn only_counts(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let counts = |effect: &Effect| match &effect.kind {
        EffectKind::Write(write) => write.value.is_none() || write.constant.is_some(),
        EffectKind::Read | EffectKind::Handed { by_address: false } => true,
        EffectKind::Address | EffectKind::Handed { by_address: true } => false,
    };
    let mut accesses = function.accesses.iter();
    let mut effects = graph.effects.iter();
    !function.is_parameter(name)
        && effects.all(|own| counts(own) || graph.name_of(own) != name)
        && !accesses.any(|own| own.value_root == name)
}

/// The same of a variable that takes one value, but for constants, or that a read fills.
fn by_values(
    function: &FunctionContext<'_>,
    name: &str,
    own: &[&Effect],
    at: Span,
    search: &mut Search,
) -> Option<String> {
    let values = own.iter().filter_map(|own| match &own.kind {
        EffectKind::Write(write) => write.value,
        _ => None,
    });
    let values: Vec<_> = values.collect();
    // What it is declared with counts for as little.
    let mut others = values
        .iter()
        .filter(|value| !is_constant(function, **value));
    match (others.next(), others.next()) {
        (None, _) => {
            let users = is_filled(function, name, at) && !is_replaced(function, name, at);
            users.then(|| name.to_owned())
        }
        (Some(value), None) if own.len() == values.len() => {
            let value = function.expression(*value)?;
            made(function, value.uncast().1, at, search)
        }
        _ => None,
    }
}

/// The same of what a variable takes once more, and where nothing bounds it behind that.
fn anew(
    function: &FunctionContext<'_>,
    name: &str,
    at: Span,
    search: &mut Search,
) -> Option<String> {
    if !search.counts(function) {
        return None;
    }
    taken_anew(function, name, at).iter().find_map(|own| {
        let behind = |asked: Span| own.is_followed_by(function, asked);
        if is_limited_on_ways(function, (name, at), behind) {
            return None;
        }
        let value = function.expression(own.value)?;
        made(function, value.uncast().1, own.at, search)
    })
}

/// Whether a call before a place puts something else over what a pointer leads to: `memset()`.
pub(crate) fn is_put_over(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let words = function.file.words;
    let mut calls = function
        .calls
        .iter()
        .filter(|own| own.end_byte() <= at.start);
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let object = whole.call().and_then(|(callee, given)| {
            let cleared = words.clears(callee).map(|own| own.object);
            given.get(cleared.or(words.fills(callee).map(|own| own.object))?)
        });
        object.is_some_and(|own| own.uncast().1.name() == Some(name))
    })
}

/// What a caller of a function gives it as that parameter, or in that member behind it, who
/// has it from the user and bounds it by nothing: what others give does not mend that.
fn by_callers(
    function: &FunctionContext<'_>,
    name: &str,
    member: Option<&str>,
    search: &mut Search,
) -> Option<String> {
    let (file, own) = (function.file, function.body);
    // A name of its own is not asked of the callers again at each place that has it.
    let first = search.seen.len() == 1;
    let asked = (own.span.start, name.to_owned(), member.map(str::to_owned));
    let asked = first.then_some((asked, search.within.is_some(), search.from_below));
    if let Some(asked) = &asked
        && file.nobody.borrow().contains(asked)
    {
        return None;
    }
    let names = parameters(file.text, file.tokens, own)?;
    let at = names.iter().position(|own| own == name)?;
    if !file.is_declared(own, b"static") {
        return None;
    }
    let found = from_a_caller(function, (own, at), member, search);
    let nobody = asked.filter(|_| found.is_none() && !file.in_part.get());
    file.nobody.borrow_mut().extend(nobody);
    found
}

/// The same of the one that stands there among those that it takes.
fn from_a_caller(
    function: &FunctionContext<'_>,
    (own, at): (&Body, usize),
    member: Option<&str>,
    search: &mut Search,
) -> Option<String> {
    let file = function.file;
    file.callers(own).find_map(|caller| {
        look_into(function, &caller.name, |caller| {
            let called = |call: &&Node<'_>| caller.called(**call) == own.name.as_bytes();
            let mut sources = caller.calls.iter().filter(called).map(|call| {
                let given = call.part("arguments")?;
                let given = given.named_child(answer::fits::<u32, _>(at)?)?;
                let given = caller.expression_of(given);
                let given = given.uncast().1;
                let given = match member {
                    None => given.clone(),
                    Some(field) => member_of(given, field)?,
                };
                // `if (!n) return …;` compares nothing.
                let judged = is_asked_before(caller, &given, span(*call))
                    || search.from_below && !may_be_least(caller, &given);
                (!judged).then(|| made(caller, &given, span(*call), search))?
            });
            sources.find_map(|own| own)
        })
    })
}

/// `x.m` of `&x`, `p->m` of `p`
fn member_of(given: &Expression, field: &str) -> Option<Expression> {
    let (holder, arrow) = match &given.term {
        Term::Address(place) => ((**place).clone(), false),
        Term::Name(_) => (given.clone(), true),
        _ => return None,
    };
    let term = Term::Member {
        holder: Box::new(holder),
        arrow,
        field: field.to_owned(),
    };
    let span = given.span;
    Some(Expression { span, term })
}

fn is_constant(function: &FunctionContext<'_>, value: Span) -> bool {
    let value = function.expression(value);
    value.is_some_and(|value| space::bytes(function, &value).is_some())
}

/// Whether an effect may change what a variable holds; a declaration without a value does
/// not.
fn changes(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::Write(write) => write.value.is_some() || write.next,
        EffectKind::Read => false,
        EffectKind::Address | EffectKind::Handed { .. } => true,
    }
}

/// Whether every way to an access passes where the variable takes a constant, behind what
/// the user filled it with.
fn is_replaced(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let graph = function.graph;
    let filled = function.accesses.iter();
    let filled = filled.filter(|own| {
        let reads = own.word.direction == Direction::Read;
        reads && own.value_root == name && own.span.end <= at.start
    });
    let last = filled.map(|own| own.span.end).max();
    let constant = |effect: &Effect| match &effect.kind {
        EffectKind::Write(write) => {
            let own = graph.name_of(effect) == name && graph.is_whole(effect);
            let value = write
                .value
                .filter(|_| own && Some(effect.span.start) >= last);
            value.is_some_and(|value| is_constant(function, value))
        }
        _ => false,
    };
    let constants = graph.effects.iter().filter(|own| constant(own));
    let constants: Vec<Span> = constants.map(|own| own.span).collect();
    graph.passes(&constants, at)
}

/// Whether only others call the function, by a pointer to it: what they hand it is as the
/// user gave it (`struct file_operations`).
pub(crate) fn is_callback(function: &FunctionContext<'_>) -> bool {
    let file = function.file;
    let header = function.body.header;
    let has = |word: &[u8]| file.is_declared(function.body, word);
    // An inline function is another file's to call.
    let is_own = has(b"static") && !has(b"inline") && !has(b"__always_inline");
    // A system call.
    let is_own = is_own || has(b"asmlinkage") || function.body.is_system_call();
    let named = |at: &usize| {
        let own = file.tokens.get(*at);
        own.is_some_and(|own| {
            own.kind == TokenKind::Word
                && own.span.of(file.text) == function.body.name.as_bytes()
                && !header.contains(own.span)
        })
    };
    // A macro may put its name together, so that nothing names it; outside a function it is
    // declared.
    let mut uses = (0..file.tokens.len()).filter(named);
    let called = uses.any(|at| {
        let inside = file.tokens.get(at).and_then(|own| file.holder(own.span));
        inside.is_some() && file.tokens.get(at + 1).is_some_and(|next| next.is(b'('))
    });
    is_own && !called && (has(b"__user") || function.body.is_system_call())
}

/// Whether a call that is no access is given the number, or the struct that it is in,
/// before a place: it may have judged it.
pub(crate) fn is_handed_before(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> bool {
    is_handed_where(function, number, at, |_| true)
}

/// The same of calls of which what they give is asked: of others, a number by its value is no
/// less the user's.
pub(crate) fn is_judged_before(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> bool {
    let conditions = asked(function);
    is_handed_where(function, number, at, |call| {
        number.name().is_none() || is_told(function, call, &conditions)
    })
}

/// The same of a member as of a number: what prints it judges nothing.
fn is_asked_before(function: &FunctionContext<'_>, number: &Expression, at: Span) -> bool {
    let conditions = asked(function);
    is_handed_where(function, number, at, |call| {
        is_told(function, call, &conditions)
    })
}

/// What a function asks, but for copies.
fn asked(function: &FunctionContext<'_>) -> Vec<Span> {
    let mut conditions = Vec::new();
    function.each_of(
        &["if_statement", "while_statement", "switch_statement"],
        |own| {
            // What is copied there is not asked.
            let copies = |asked: &Span| {
                let mut accesses = function.accesses.iter();
                accesses.any(|access| asked.contains(access.span))
            };
            let asked = own.part("condition").map(span);
            conditions.extend(asked.filter(|asked| !copies(asked)));
        },
    );
    conditions
}

fn is_handed_where(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
    counts: impl Fn(Node<'_>) -> bool,
) -> bool {
    let root = number.root().name();
    let by_pointer = matches!(number.term, Term::Member { arrow: true, .. });
    let words = function.file.words;
    // What it was before says nothing of what it takes behind that.
    let taken: OnceCell<Vec<Taken>> = OnceCell::new();
    let behind = |call: Span| {
        let all = taken.get_or_init(|| {
            let name = number.name().into_iter();
            name.flat_map(|name| taken_anew(function, name, at))
                .collect()
        });
        let mut taken = all.iter().peekable();
        taken.peek().is_none() || taken.any(|own| own.is_followed_by(function, call))
    };
    let mut calls = function
        .calls
        .iter()
        .filter(|call| call.end_byte() <= at.start);
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let Term::Call(_, arguments) = &whole.term else {
            // `unlikely(…)` is what it is given.
            let callee = function.called(*call);
            return !function.context.vocabulary.is_transparent(callee) && behind(span(*call));
        };
        let name = whole.call().map(|(name, _)| name);
        // What copies, frees or looks at the pointer alone judges nothing.
        let reads = name.is_some_and(|name| {
            words.access(name).is_some()
                || words.in_window(name).is_some()
                || words.tells_errors(name)
                || words.tells_null(name)
                || words.frees(name)
                || words.lessens(name)
                || words.fetches(name).is_some()
                || words.fills(name).is_some()
                || words.clears(name).is_some()
                || !words.reads_strings(name).is_empty()
                || by_pointer && words.permission(name) == Permission::Allowed
                || is_line_of_log(*call)
        });
        let struct_of = |part: &Expression| match &part.term {
            Term::Address(of) => root.is_some() && of.name() == root,
            _ => false,
        };
        let given = |own: &Expression| {
            let itself = by_pointer && own.uncast().1.name() == root;
            itself
                || own.any(&|part| struct_of(part))
                || own.any(&|part| part == number) && counts(*call)
        };
        // Another case of a `switch` judges nothing of this one.
        let comes = || function.touching(at).is_empty() || function.comes_to(span(*call), at);
        !reads && arguments.iter().any(given) && behind(span(*call)) && comes()
    })
}
