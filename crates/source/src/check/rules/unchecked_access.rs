use std::collections::BTreeSet;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::accesses::{Access, root_of};
use crate::check::callee::{look_into, look_into_first_side};
use crate::check::context::FunctionContext;
use crate::check::copied_pointer::{copied_pointer, is_alone};
use crate::check::fetched::is_line_of_log;
use crate::check::fetched_pointer::fetched_behind;
use crate::check::made::{Made, checks_ranges, made};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::{beside, related};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::tokens::parameters;
use crate::expression::{Expression, Term};
use crate::flow::{Action, StatementKind};
use crate::hashed::{HashMap, HashSet};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unchecked-access",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an access that does not check a pointer which nothing has checked on some way to it",
    why: "__put_user(), __copy_to_user() and the like check nothing. What access_ok() has not seen may be \
          the kernel's own memory.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    // There a check refuses nothing.
    let machines = function.file.types.machines();
    if !machines.is_empty() && machines.iter().all(|own| own.apart) {
        return;
    }
    let bare = |access: &&Access<'_>| !access.inside && !access.word.checked && !access.word.part;
    let mut told: HashSet<&str> = HashSet::default();
    let mut judges: HashMap<&str, Judges> = HashMap::default();
    for access in function.accesses.iter().filter(bare) {
        let root = access.user_root.as_str();
        if told.contains(root) {
            continue;
        }
        if !judges.contains_key(root) && function.pays().is_none() {
            return;
        }
        let judges = judges
            .entry(root)
            .or_insert_with(|| Judges::of(function, root));
        let Some(message) = unchecked(function, access, judges) else {
            continue;
        };
        told.insert(root);
        let told = "not checked";
        out.push(function.file.violation(&INFO, access.span, told, message));
    }
}

/// Why the pointer of an access is not checked there.
fn unchecked(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    judges: &Judges,
) -> Option<String> {
    let (name, root) = (&access.word.name, access.user_root.as_str());
    let seen = seen(function, judges, access.span).or_else(|| anew(function, access, judges));
    let Some(seen) = seen else {
        return as_given(function, access, is_alone);
    };
    match seen {
        Seen::Before(line) => Some(format!(
            "{name}() checks nothing, and {root} takes what was fetched on line {line}, behind where it is checked"
        )),
        Seen::OnSomeWays(line) => Some(format!(
            "{name}() checks nothing, and there is a way to it that does not pass line {line}, where \
             {root} is checked"
        )),
        Seen::Never => match entry(function, root, LONGEST) {
            Some(entry) => Some(format!(
                "{name}() checks nothing, and {root} {entry}, where nothing checks it"
            )),
            None => as_given(function, access, |_, _| true),
        },
    }
}

/// A pointer that lies in a copy of what the program gave.
fn as_given(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    holds: impl FnOnce(&FunctionContext<'_>, &Access<'_>) -> bool,
) -> Option<String> {
    let pointer = copied_pointer(function, access).filter(|_| holds(function, access))?;
    let name = &access.word.name;
    Some(format!(
        "{name}() checks nothing, and {pointer} is as the program gave it, where nothing checks it"
    ))
}

/// Whether a pointer was checked.
enum Seen {
    /// On some ways to a place, on that line.
    OnSomeWays(u32),
    /// Only before it takes what the user gives, on that line.
    Before(u32),
    /// Nowhere.
    Never,
}

/// A pointer that takes what was fetched behind each check of it.
fn anew(function: &FunctionContext<'_>, access: &Access<'_>, judges: &Judges) -> Option<Seen> {
    // A window checks what it is opened for.
    let judged = judges.checks.is_empty() || function.graph.opens();
    let taken = (!judged).then(|| fetched_behind(function, access, &judges.checks))??;
    (!is_apart(function, &judges.checks, access.span)).then_some(())?;
    Some(Seen::Before(function.line(taken)))
}

/// What a function checks of a pointer before a place; none where every way passes a
/// check, or something that may be one.
fn seen(function: &FunctionContext<'_>, judges: &Judges, at: Span) -> Option<Seen> {
    let leads = |own: &Span| own.start < at.start && function.leads(*own, at);
    if judges.others.iter().any(leads) {
        return None;
    }
    let before = judges.checks.iter().filter(|own| own.start < at.start);
    let places: Vec<Span> = before.copied().collect();
    let Some(first) = places.first() else {
        // One that comes too late is another rule's.
        return judges.checks.is_empty().then_some(Seen::Never);
    };
    function.pays()?;
    let partly = !function.graph.passes(&places, at) && !is_apart(function, &places, at);
    partly.then(|| Seen::OnSomeWays(function.line(*first)))
}

/// What may judge a pointer in a function, in the order of the text.
struct Judges {
    /// The calls that check its range.
    checks: Vec<Span>,
    /// Whatever else may have checked it.
    others: Vec<Span>,
}

impl Judges {
    fn of(function: &FunctionContext<'_>, root: &str) -> Self {
        let (related, base) = judged(function, root);
        let nodes = function.graph.nodes.iter();
        let begins = nodes.filter(|own| matches!(own.action, Action::Begin(_)));
        let mut own = Self {
            checks: Vec::new(),
            others: begins.map(|own| own.span).collect(),
        };
        let bare = function.accesses.iter().filter(|own| !own.word.checked);
        let bare: HashSet<Span> = bare.map(|own| own.span).collect();
        for call in function
            .calls
            .iter()
            .filter(|own| !bare.contains(&span(**own)))
        {
            own.note(function, *call, root, &related);
            own.others.extend(
                base.as_deref()
                    .and_then(|base| reaches(function, *call, base)),
            );
        }
        own
    }

    fn note(
        &mut self,
        function: &FunctionContext<'_>,
        call: Node<'_>,
        root: &str,
        related: &BTreeSet<&str>,
    ) {
        let checks = function.file.words.checks_range(function.called(call));
        let address = call.part("arguments").and_then(|own| own.named_child(0));
        match address
            .filter(|_| checks)
            .map(|own| root_of(function.context, own))
        {
            Some(own) if own == root => self.checks.push(span(call)),
            Some(own) if related.contains(own.as_str()) => self.others.push(span(call)),
            Some(_) => {}
            None => {
                let mut effects = function.graph.effects_in(span(call));
                let given = effects.any(|own| related.contains(function.graph.name_of(own)));
                let judges = given
                    && !is_line_of_log(call)
                    && !is_given_members(function, call, related)
                    && !only_accesses(function, call, DEEPEST);
                self.others.extend(judges.then(|| span(call)));
            }
        }
    }
}

/// Whether a call is given some pointers only by the addresses of members of what they lead to:
/// who checks one says nothing of the others.
fn is_given_members(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    related: &BTreeSet<&str>,
) -> bool {
    let whole = function.expression_of(call);
    let Some((_, given)) = whole.call() else {
        return false;
    };
    let of =
        |own: &Expression| own.any(&|part| part.name().is_some_and(|name| related.contains(name)));
    let mut leading = given.iter().filter(|own| of(own)).peekable();
    leading.peek().is_some() && leading.all(is_members_address)
}

/// Whether an expression is `&p->member`, and not the front of an array that is one.
fn is_members_address(own: &Expression) -> bool {
    let (_, inner) = own.uncast();
    match &inner.term {
        Term::Address(place) => matches!(place.term, Term::Member { .. } | Term::Element { .. }),
        _ => false,
    }
}

/// Whether a call is of a function of the file that checks no range, and hands no address of the
/// user's on to who may: it judges no pointer.
fn only_accesses(function: &FunctionContext<'_>, call: Node<'_>, steps: usize) -> bool {
    let judges = |callee: &FunctionContext<'_>| {
        let accesses: HashSet<Span> = callee.accesses.iter().map(|own| own.span).collect();
        let mut others = callee.calls.iter().filter(|own| {
            let apart = !accesses.contains(&span(**own));
            apart && is_given_users_address(callee, **own)
        });
        let left = steps.checked_sub(1);
        let hands = others.any(|own| !left.is_some_and(|left| only_accesses(callee, *own, left)));
        (!hands && !checks_ranges(callee) && !asks_where(callee)).then_some(())
    };
    let name = function.callee(call);
    name.is_some_and(|name| look_into_first_side(function, name, judges).is_some())
}

/// Whether a function asks by itself where a pointer of the user's that it is given leads to:
/// `(unsigned long)fp > LIMIT - size`, `(unsigned long)fp & 7`.
fn asks_where(function: &FunctionContext<'_>) -> bool {
    let graph = &function.graph;
    if function.stops_at(graph.conditions.len(), CONDITIONS) {
        return true;
    }
    let returns = graph.statements.iter();
    let returns = returns.filter(|own| own.kind == StatementKind::Return);
    let given = returns.filter_map(|own| function.expression(own.expression?));
    let asked = graph.conditions.iter();
    let mut asked = asked.filter_map(|own| function.asked(own)).chain(given);
    asked.any(|own| own.any(&|part| is_held_against(function, part)))
}

/// Whether an expression holds a parameter that is a pointer of the user's against what is none,
/// or takes bits of it.
fn is_held_against(function: &FunctionContext<'_>, part: &Expression) -> bool {
    let Term::Binary(left, sign, right) = &part.term else {
        return false;
    };
    let users = |side: &Expression| {
        side.any(&|own| {
            let own_one = own.name().is_some_and(|name| function.is_parameter(name));
            own_one && space::is_users(function, own)
        })
    };
    let held = matches!(sign.as_str(), "<" | ">" | "<=" | ">=" | "&");
    held && users(left) != users(right)
}

fn is_given_users_address(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    call.part("arguments").is_some_and(|given| {
        let mut cursor = given.walk();
        let mut given = given.named_children(&mut cursor);
        given.any(|own| space::is_users(function, &function.expression_of(own)))
    })
}

/// The variables whose check is one of the pointer, and the one that the number lies in of
/// which the function makes it.
fn judged<'s>(
    function: &'s FunctionContext<'_>,
    root: &'s str,
) -> (BTreeSet<&'s str>, Option<String>) {
    let Some(from) = made(function, root) else {
        return (related(function, root), None);
    };
    // What a pointer of the function's own was made of is no pointer that anybody checks.
    let (source, base) = match from {
        Made::Of(name) => (Some(name), None),
        Made::Here { base, .. } => (None, base),
    };
    let users = |own: &str| {
        let local = function.graph.local(own);
        let end = local.map_or(function.body.span.end, |own| own.scope.end);
        let (span, term) = (Span::new(end, end), Term::Name(own.to_owned()));
        space::is_users(function, &Expression { term, span })
    };
    let mut related = beside(function, root);
    related.retain(|own| Some(*own) == source.as_deref() || users(own));
    related.insert(root);
    (related, base)
}

/// A call that accesses the user's memory, and is given what the address lies in.
fn reaches(function: &FunctionContext<'_>, call: Node<'_>, base: &str) -> Option<Span> {
    let name = function.callee(call)?;
    let own = function.known.get(name).is_some() && function.may_fault(name);
    let mut given = function.graph.effects_in(span(call)).filter(|_| own);
    given
        .any(|own| function.graph.name_of(own) == base)
        .then(|| span(call))
}

/// Whether what decides over a check decides over the access, too.
fn is_apart(function: &FunctionContext<'_>, checks: &[Span], at: Span) -> bool {
    let asked = |place: Span| {
        let conditions = conditions(function, place).into_iter();
        let effects = conditions.flat_map(|own| function.graph.effects_in(own));
        let names = effects.map(|effect| function.graph.name_of(effect).to_owned());
        names.collect::<Vec<String>>()
    };
    let own = asked(at);
    let mut checks = checks.iter().flat_map(|place| asked(*place));
    checks.any(|name| own.contains(&name))
}

/// The conditions of the statements around a place.
fn conditions(function: &FunctionContext<'_>, place: Span) -> Vec<Span> {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let around = std::iter::successors(node, |own| function.above(*own));
    let asked = around.filter_map(|own| match own.known_kind() {
        "binary_expression" => own.part("left"),
        _ => own.part("condition").or_else(|| own.part("value")),
    });
    asked.map(span).filter(|own| !own.contains(place)).collect()
}

/// A function with more conditions is taken to ask.
const CONDITIONS: usize = 256;

/// So many functions are followed, one in the other.
const DEEPEST: usize = 3;

/// So many callers and variables are followed on the way that a pointer came.
const LONGEST: usize = 6;

/// How a pointer comes from the user, where nothing checks it on the way: by a system call or
/// an ioctl, or as a number of which it is made. Of a function that anybody else may call,
/// nobody knows.
fn entry(function: &FunctionContext<'_>, root: &str, depth: usize) -> Option<String> {
    let (file, own) = (function.file, function.body);
    let left = depth.checked_sub(1)?;
    if !function.is_parameter(root) {
        return match made(function, root)? {
            Made::Of(other) => entry(function, &other, left),
            Made::Here { what, .. } => Some(format!("is made of {what} in {}", own.name)),
        };
    }
    // One that steps on is the user's as before.
    let kept = !function.graph.takes_a_value(root) || !space::may_be_another(function, root);
    kept.then_some(())?;
    if own.takes_any_address() || file.handlers(own).any(|as_| as_.unchecked) {
        return Some(format!("comes from the user by {}", own.name));
    }
    file.is_declared(own, b"static").then_some(())?;
    let names = parameters(file.text, file.tokens, own)?;
    let at = names.iter().position(|own| own == root)?;
    let mut callers = file.callers(own);
    callers.find_map(|caller| {
        look_into(function, &caller.name, |caller| {
            let called = |call: &&Node<'_>| caller.called(**call) == own.name.as_bytes();
            let mut calls = caller.calls.iter().filter(called);
            calls.find_map(|call| {
                let given = call
                    .part("arguments")?
                    .named_child(answer::fits::<u32, _>(at)?)?;
                let given = root_of(caller.context, given);
                let seen = seen(caller, &Judges::of(caller, &given), span(*call))?;
                matches!(seen, Seen::Never).then(|| entry(caller, &given, left))?
            })
        })
    })
}
