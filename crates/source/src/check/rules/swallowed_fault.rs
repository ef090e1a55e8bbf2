use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::bounded::is_loop;
use crate::check::context::FunctionContext;
use crate::check::error_overwritten::error_overwritten;
use crate::check::fate::{
    Arm, Fallible, Fate, fallible, fate, given, gives_errors, is_error, is_given_users,
    only_of_rounds, stores_error, taken,
};
use crate::check::lost_on_a_way::{lost_on_a_way, used_unasked, used_untold};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::positive_error::{Positive, positive_errors};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::parameters;
use crate::check::words::Permission;
use crate::expression::Expression;
use crate::flow::{Action, Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::words::is_loud;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "swallowed-fault",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "an access faulted, and the caller is told that all went well",
    why: "Who gave the address has to hear that it is none: a fault that is only logged, that is answered \
          by 0 or whose error number is overwritten leaves the user with what was never copied.",
};

/// So many calls of a function are followed, more than any of the kernel's has that asks
/// each for its result: each takes as long as the function is large.
const CALLS: usize = 128;

/// So many things that last are looked for where a fault goes on; a way that does more is
/// not the fault's own.
const LASTING: usize = 32;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut errors = None;
    for (at, call) in fallible(function).enumerate() {
        if function.stops_at(at, CALLS) {
            break;
        }
        let told = unasked(function, &call).or_else(|| {
            let fate = fate(function, &call)?;
            let errors = || *errors.get_or_insert_with(|| can_tell(function));
            overwritten(function, &call, &fate)
                .or_else(|| lost_error(function, &fate))
                .or_else(|| answered(function, &call, &fate, errors))
                .or_else(|| answered_by_all(function, &call, &fate))
                .or_else(|| left_early(function, &call, &fate))
                .or_else(|| used_anyway(function, &call, &fate))
                .or_else(|| used_before(function, &call, &fate))
        });
        let told = told.or_else(|| on_a_way(function, &call));
        let told = told.or_else(|| put_over(function, &call));
        out.extend(told.map(|told| told.violation(function, &call)));
    }
    out.extend(lost_of_others(function));
    let positive = positive_errors(function);
    out.extend(positive.iter().map(|own| unsigned(function, own)));
}

/// An error number without its sign.
fn unsigned(function: &FunctionContext<'_>, own: &Positive) -> Violation {
    let message = format!(
        "{} gives {} as it is, more than 0: its caller takes that for no error",
        function.body.name, own.name
    );
    let file = function.file;
    file.violation(&INFO, own.at, "without its sign", message)
}

/// What is said of a call.
struct Told {
    message: String,
    label: &'static str,
    related: Option<(Span, &'static str)>,
}

impl Told {
    fn violation(self, function: &FunctionContext<'_>, call: &Fallible<'_>) -> Violation {
        let file = function.file;
        let mut violation = file.violation(&INFO, call.span, self.label, self.message);
        let related = self.related.map(|(at, label)| file.mark(at, label));
        violation.related.extend(related);
        violation
    }
}

/// Nothing asks what a helper gives, or what was chosen by a result.
fn unasked(function: &FunctionContext<'_>, call: &Fallible<'_>) -> Option<Told> {
    let name = &call.name;
    let parent = function.above(call.node)?;
    if call.helper && parent.known_kind() == "expression_statement" {
        return Some(Told {
            message: format!("{name}() says whether it faulted, and nothing asks it"),
            label: "its result is dropped",
            related: None,
        });
    }
    let own = taken(function, call.node)?;
    let unread = (call.helper || own.chosen) && !function.graph.is_looked_at(own.effect);
    unread.then(|| Told {
        message: format!("nothing looks at what {name}() gave"),
        label: "its result is lost",
        related: None,
    })
}

/// What functions of the file give that say whether they faulted, of addresses that they find by
/// themselves, and at which nothing looks.
fn lost_of_others(function: &FunctionContext<'_>) -> Vec<Violation> {
    let calls = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let known = function.known.get(name)?;
        let own = known.tells_fault && !is_given_users(function, *call);
        own.then(|| Fallible::of(function, *call))
    });
    let calls = calls.enumerate();
    let calls = calls.take_while(|(at, _)| !function.stops_at(*at, CALLS));
    let lost = calls.filter_map(|(_, call)| {
        taken(function, call.node)?;
        Some(unasked(function, &call)?.violation(function, &call))
    });
    lost.collect()
}

/// The variable takes something else before it was asked for.
fn overwritten(function: &FunctionContext<'_>, call: &Fallible<'_>, fate: &Fate) -> Option<Told> {
    fate.overwritten.then_some(())?;
    let own = taken(function, call.node)?;
    // What nothing looks at at all is ignored-fault's.
    function.graph.is_looked_at(own.effect).then_some(())?;
    let variable = function.graph.effects.get(own.effect)?;
    let variable = function.graph.name_of(variable);
    let message = format!(
        "what {}() gives to {variable} is overwritten by its next result before anything asks for it",
        call.name
    );
    Some(Told {
        message,
        label: "its result is lost",
        related: None,
    })
}

/// The variable takes another result on some way before it was asked for.
fn on_a_way(function: &FunctionContext<'_>, call: &Fallible<'_>) -> Option<Told> {
    let own = lost_on_a_way(function, call.node)?;
    // What nothing looks at at all is ignored-fault's.
    let at = |effect: &Effect| {
        let written = matches!(effect.kind, EffectKind::Write(_));
        written && effect.span.contains(call.span)
    };
    let taken = function.graph.effects.iter().position(at)?;
    function.graph.is_looked_at(taken).then_some(())?;
    let (name, variable) = (&call.name, &own.variable);
    Some(Told {
        message: format!(
            "what {name}() gives to {variable} is overwritten on a way on which nothing asks for it"
        ),
        label: "its result is lost",
        related: Some((own.by, "overwritten here")),
    })
}

/// The variable had an error number of the function's own, which its result takes the place of.
fn put_over(function: &FunctionContext<'_>, call: &Fallible<'_>) -> Option<Told> {
    let own = error_overwritten(function, call)?;
    Some(Told {
        message: format!(
            "what {}() gives to {} is put over an error number that nothing has asked for",
            call.name, own.variable
        ),
        label: "an error is lost",
        related: Some((own.taken, "taken here")),
    })
}

/// What a read should have filled is used before anybody asks the variable that says that it faulted.
fn used_before(function: &FunctionContext<'_>, call: &Fallible<'_>, fate: &Fate) -> Option<Told> {
    let access = function.accesses.iter().find(|own| own.node == call.node)?;
    let of_one = access.word.direction == Direction::Read && access.word.count.is_none();
    let root = access.value_root.as_str();
    of_one.then_some(())?;
    function.graph.local(root).filter(|own| own.plain)?;
    let mut arms = fate.arms.iter().filter(|arm| !arm.negated);
    let used = arms
        .find_map(|arm| used_untold(function, root, arm, access.span))
        .or_else(|| used_unasked(function, root, access.node))?;
    Some(Told {
        message: format!(
            "{root} is used though {}() may have faulted, of which the caller is told behind that",
            call.name
        ),
        label: "its fault comes too late",
        related: Some((used, "used here")),
    })
}

/// An error number that a variable takes where the access faulted, at which nothing looks.
fn lost_error(function: &FunctionContext<'_>, fate: &Fate) -> Option<Told> {
    let graph = function.graph;
    let lost = |arm: &Arm| {
        let mut nodes: Vec<usize> = only_of_rounds(function, arm).into_iter().collect();
        nodes.sort_unstable();
        let effects = nodes.iter().filter_map(|at| graph.nodes.get(*at));
        let mut effects = effects.flat_map(|node| node.effects.clone());
        effects.find(|at| {
            let own = graph.effects.get(*at);
            own.is_some_and(|own| stores_error(function, own)) && !graph.is_looked_at(*at)
        })
    };
    let at = fate.arms.iter().find_map(lost)?;
    let own = graph.effects.get(at)?;
    Some(Told {
        message: format!(
            "nothing looks at the error number that {} takes where this faulted",
            graph.name_of(own)
        ),
        label: "its fault is lost",
        related: Some((own.span, "an error number that is lost")),
    })
}

/// Every way from the fault gives 0, in a function that gives error numbers.
fn answered(
    function: &FunctionContext<'_>,
    call: &Fallible<'_>,
    fate: &Fate,
    mut errors: impl FnMut() -> bool,
) -> Option<Told> {
    let graph = function.graph;
    // That is inverted-test's: what is given where nothing faulted is the fault.
    let inverted =
        |arm: &Arm| graph.gives_only(arm.success, "-EFAULT", |at| is_fault(function, at));
    let gives = |arm: &&Arm| {
        // What is done where it could be read is all that there is to do.
        if arm.negated {
            return false;
        }
        let zero = |at| is_zero(function, at);
        let given = graph.gives_only(arm.fault, "0", zero) && !inverted(arm);
        given && is_whole_quiet(function, arm)
    };
    let arm = fate.arms.iter().filter(|_| !fate.told).find(gives)?;
    errors().then(|| Told {
        message: format!(
            "where {}() faulted the function gives 0, and nobody is told",
            call.name
        ),
        label: "its fault is swallowed",
        related: exit(function, arm).map(|at| (at, "0 is given here")),
    })
}

/// Every way from the fault gives as many bytes as a program has asked to read or write.
fn answered_by_all(
    function: &FunctionContext<'_>,
    call: &Fallible<'_>,
    fate: &Fate,
) -> Option<Told> {
    let count = asked_for(function)?;
    let graph = function.graph;
    let gives = |arm: &&Arm| {
        let reached = graph.reached(arm.fault, |_| false);
        let nodes = reached.iter().filter_map(|at| graph.nodes.get(*at));
        let mut exits = nodes.filter(|own| matches!(own.action, Action::Exit { .. }));
        let all = |exit: &Step| {
            let given = given(function, exit.span);
            given.is_some_and(|own| own.uncast().1.name() == Some(&count))
        };
        !arm.negated && exits.all(all) && is_whole_quiet(function, arm)
    };
    let arm = fate.arms.iter().filter(|_| !fate.told).find(gives)?;
    Some(Told {
        message: format!(
            "where {}() faulted the function gives {count}, as if all of that had been done",
            call.name
        ),
        label: "its fault is swallowed",
        related: Some((exit(function, arm)?, "all of it is given here")),
    })
}

/// The parameter by which a read() or write() of a table of the file is told how many bytes are asked
/// for, where nothing else is put into it.
fn asked_for(function: &FunctionContext<'_>) -> Option<String> {
    let file = function.file;
    let mut handlers = file.handlers(function.body);
    let position = handlers.find_map(|own| own.position)?;
    let names = parameters(file.text, file.tokens, function.body)?;
    let count = names.into_iter().nth(position.checked_sub(1)?)?;
    (!function.graph.takes_a_value(&count)).then_some(count)
}

/// A loop is left where its access faulted, and the function then gives what it gives where
/// all rounds went well.
fn left_early(function: &FunctionContext<'_>, call: &Fallible<'_>, fate: &Fate) -> Option<Told> {
    let graph = function.graph;
    let mut around = function.around(call.node);
    let round = around.find(|own| is_loop(*own)).map(span)?;
    let same = |arm: &&Arm| {
        let reached = graph.reached(arm.fault, |_| false);
        let nodes = || reached.iter().filter_map(|at| graph.nodes.get(*at));
        let leaves = |node: &Step| node.action == Action::Join || !round.contains(node.span);
        let silent = || is_quiet(function, only(function, arm)).is_some();
        // A number that does not say how far it came.
        let given = || {
            let exits = nodes().filter(|node| matches!(node.action, Action::Exit { .. }));
            let mut names = exits.map(|exit| {
                let given = given(function, exit.span)?;
                given.uncast().1.name().map(str::to_owned)
            });
            let first = names.next()??;
            names
                .all(|own| own.as_ref() == Some(&first))
                .then_some(first)
        };
        !arm.negated
            && nodes().all(leaves)
            && silent()
            && given().is_some_and(|name| {
                is_number_of_all(function, &name, round) || is_memory(function, &name, round, arm)
            })
    };
    let arm = fate.arms.iter().filter(|_| !fate.told).find(same)?;
    (gives_errors(function) || gives_error_pointers(function)).then(|| Told {
        message: format!(
            "where {}() faulted the loop ends, and the function gives what it gives for all rounds",
            call.name
        ),
        label: "its fault is swallowed",
        related: exit(function, arm).map(|at| (at, "all of them are given here")),
    })
}

/// Whether a variable is a number that no round of a loop changes, and that takes no error
/// number.
fn is_number_of_all(function: &FunctionContext<'_>, name: &str, round: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == name);
    !effects.any(|own| {
        let changes = !matches!(own.kind, EffectKind::Read);
        let error = match &own.kind {
            EffectKind::Write(write) => {
                let value = write.value.and_then(|value| function.expression(value));
                value.is_some_and(|value| {
                    is_error(&value) || value.is_zero() || value.call().is_some()
                })
            }
            _ => false,
        };
        changes && (round.contains(own.span) || error)
    })
}

/// Whether a variable leads to memory that the function allocates before a loop, of which nothing behind
/// the loop knows how much of it was filled.
fn is_memory(function: &FunctionContext<'_>, name: &str, round: Span, arm: &Arm) -> bool {
    let graph = function.graph;
    let whole = graph.effects.iter().filter(|own| {
        let own_name = graph.name_of(own) == name && graph.is_whole(own);
        own_name && own.kind != EffectKind::Read
    });
    let allocated = |own: &Effect| match &own.kind {
        EffectKind::Write(write) if own.span.end <= round.start => {
            let value = write.value.and_then(|value| function.expression(value));
            let call = |own: &Expression| {
                let name = own.uncast().1.call().map(|(name, _)| name);
                name.is_some_and(|name| function.file.words.allocates(name).is_some())
            };
            write.value.is_none() || value.is_some_and(|value| call(&value))
        }
        _ => false,
    };
    let mut values = whole.peekable();
    values.peek().is_some() && values.all(allocated) && !is_counted(function, round, arm)
}

/// Whether a variable that a loop changes is read behind it, where a fault has left it.
fn is_counted(function: &FunctionContext<'_>, round: Span, arm: &Arm) -> bool {
    let graph = function.graph;
    let changed = graph.effects.iter().filter(|own| {
        round.contains(own.span) && own.kind != EffectKind::Read && graph.is_whole(own)
    });
    let changed: HashSet<usize> = changed.map(|own| own.place).collect();
    let reached = graph.reached(arm.fault, |_| false);
    let mut effects = reached.iter().flat_map(|at| graph.effects_of(*at));
    effects.any(|own| {
        own.kind == EffectKind::Read && changed.contains(&own.place) && !round.contains(own.span)
    })
}

/// Whether the function gives an error number as a pointer anywhere.
fn gives_error_pointers(function: &FunctionContext<'_>) -> bool {
    let graph = function.graph;
    let exits = graph
        .nodes
        .iter()
        .filter(|own| matches!(own.action, Action::Exit { .. }));
    let mut given = exits.filter_map(|own| given(function, own.span));
    given.any(|own| {
        let name = own.uncast().1.call().map(|(name, _)| name);
        name.is_some_and(|name| function.file.words.makes_error(name))
    })
}

/// Whether 0 is what the function gives where all went well: it gives error numbers
/// elsewhere, or nothing but 0.
fn can_tell(function: &FunctionContext<'_>) -> bool {
    gives_errors(function)
        || function
            .graph
            .gives_only(0, "0", |at| is_zero(function, at))
}

/// Whether a `return` gives 0.
fn is_zero(function: &FunctionContext<'_>, at: Span) -> bool {
    given(function, at).is_some_and(|given| given.is_zero())
}

/// Whether a `return` gives an error number.
fn is_fault(function: &FunctionContext<'_>, at: Span) -> bool {
    given(function, at).is_some_and(|given| is_error(&given))
}

/// Where the ways from a fault leave, the first in the text.
fn exit(function: &FunctionContext<'_>, arm: &Arm) -> Option<Span> {
    let graph = function.graph;
    let reached = graph.reached(arm.fault, |_| false);
    let nodes = reached.iter().filter_map(|at| graph.nodes.get(*at));
    let exits = nodes.filter(|node| matches!(node.action, Action::Exit { .. }));
    exits.map(|node| node.span).min()
}

/// What a read should have filled is used although all that its fault does is to be logged.
fn used_anyway(function: &FunctionContext<'_>, call: &Fallible<'_>, fate: &Fate) -> Option<Told> {
    let access = function.accesses.iter().find(|own| own.node == call.node)?;
    let reads = access.word.direction == Direction::Read && !fate.told;
    let root = &access.value_root;
    let logs = |arm: &&Arm| is_quiet(function, only(function, arm)) == Some(Quiet::Logged);
    let mut arms = fate.arms.iter().filter(|_| reads);
    let logged = arms.clone().find(logs);
    let arm = logged.or_else(|| arms.find(|arm| leaves_unset(function, access, arm)))?;
    let behind = function.graph.reached(arm.fault, |_| false);
    let goes_on = only(function, arm).into_iter().all(|at| {
        let node = function.graph.nodes.get(at);
        let ends = node.is_some_and(|node| matches!(node.action, Action::Exit { .. }));
        let mut effects = function.graph.effects_of(at).iter();
        !ends && !effects.any(|own| stores_error(function, own))
    });
    let comes_to = |at: Span| {
        let mut nodes = behind
            .iter()
            .flat_map(|node| function.graph.effects_of(*node));
        nodes.any(|own| own.span == at)
    };
    let local = function.graph.local(root);
    let own = local.is_some_and(|own| own.plain || own.array);
    let used = function.reads(root).find(|read| {
        let behind = read.span.start >= access.span.end;
        behind && comes_to(read.span) && !is_logged(function, read.span)
    });
    let used = used.filter(|_| own && goes_on).map(|own| own.span);
    // What a parameter points to is the caller's, who is told nothing.
    let handed = function.is_parameter(root) && function.file.gives_nothing(function.body);
    let does = match logged {
        Some(_) => "which is only logged",
        None => "and what is done then keeps nobody from it",
    };
    (used.is_some() || handed && goes_on).then(|| Told {
        message: format!(
            "{root} is used though {}() may have faulted, {does}",
            call.name
        ),
        label: "its fault is swallowed",
        related: used.map(|at| (at, "used here")),
    })
}

/// Whether something is done where an access faulted, and it has nothing to do with a variable that
/// nothing but the access sets: a signal is sent, something is counted.
fn leaves_unset(function: &FunctionContext<'_>, access: &Access<'_>, arm: &Arm) -> bool {
    let graph = function.graph;
    let root = access.value_root.as_str();
    let sets = |effect: &&Effect| match &effect.kind {
        EffectKind::Write(write) => write.value.is_some(),
        kind => *kind != EffectKind::Read,
    };
    let mut set = graph.effects.iter().filter(sets);
    let before = |own: &Effect| own.span.end <= access.span.start && graph.name_of(own) == root;
    let unset = graph.local(root).is_some() && !set.any(before);
    let apart = |at: &usize| {
        let mut effects = graph.effects_of(*at).iter();
        let touched = effects.any(|own| {
            let local = graph.places.as_local(own.place).is_some();
            graph.name_of(own) == root || local && matches!(own.kind, EffectKind::Write(_))
        });
        let node = graph.nodes.get(*at);
        !touched && node.is_some_and(|own| !matches!(own.action, Action::Exit { .. }))
    };
    let own = only(function, arm);
    let nodes = own.iter().filter_map(|at| graph.nodes.get(*at));
    let mut called = nodes.filter_map(|node| match &node.action {
        Action::Call(call) => Some(call.name.as_str()),
        _ => None,
    });
    // What is named like a macro may leave by itself.
    let plain = |name: &str| !is_loud(name.as_bytes());
    let done = called.clone().next().is_some() && called.all(plain);
    unset && done && own.iter().all(apart)
}

/// What is done only where the access faulted.
fn only(function: &FunctionContext<'_>, arm: &Arm) -> HashSet<usize> {
    let graph = function.graph;
    let mut own = graph.reached(arm.fault, |_| false);
    let other = graph.reached(arm.success, |_| false);
    own.retain(|at| !other.contains(at));
    own
}

/// A way on which nothing is done that anybody sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quiet {
    /// Nothing at all is done.
    Silent,
    /// A line of the log, what is freed or unlocked.
    Logged,
}

/// Whether every way on that is taken where the access did not fault passes a node, too.
fn is_common(function: &FunctionContext<'_>, arm: &Arm, at: usize) -> bool {
    let graph = function.graph;
    let passed = graph.nodes.get(at).map(std::ptr::from_ref);
    let reached = graph.reached(arm.success, |node| Some(std::ptr::from_ref(node)) == passed);
    let mut nodes = reached.iter().filter_map(|at| graph.nodes.get(*at));
    !nodes.any(|node| matches!(node.action, Action::Exit { .. }))
}

/// Whether nothing of what is done where the access faulted lasts, but for what is done in
/// any case.
fn is_whole_quiet(function: &FunctionContext<'_>, arm: &Arm) -> bool {
    let reached = function.graph.reached(arm.fault, |_| false);
    let lasts = |at: &usize| quiet(function, *at).is_none();
    let lasting: Vec<usize> = reached.into_iter().filter(lasts).collect();
    let common = |at: &usize| is_common(function, arm, *at);
    !function.stops_at(lasting.len(), LASTING + 1) && lasting.iter().all(common)
}

/// Whether nothing of what is done in some nodes lasts; none where something does.
fn is_quiet(function: &FunctionContext<'_>, nodes: HashSet<usize>) -> Option<Quiet> {
    let each: Option<Vec<Quiet>> = nodes.into_iter().map(|at| quiet(function, at)).collect();
    Some(match each?.contains(&Quiet::Logged) {
        true => Quiet::Logged,
        false => Quiet::Silent,
    })
}

/// The same of one node.
fn quiet(function: &FunctionContext<'_>, at: usize) -> Option<Quiet> {
    let (graph, words) = (function.graph, function.file.words);
    let node = graph.nodes.get(at)?;
    let lasts =
        |own: &Effect| matches!(own.kind, EffectKind::Write(_)) && !stores_error(function, own);
    if graph.effects_at(node).iter().any(lasts) {
        return None;
    }
    match &node.action {
        Action::Join | Action::Exit { .. } => Some(Quiet::Silent),
        Action::Call(call) if call.frees || words.pair_of(&call.name).is_some() => {
            Some(Quiet::Silent)
        }
        // A text that goes into an object lasts.
        Action::Call(call) if words.fills(&call.name).is_some() => None,
        Action::Call(_) if is_log(function, node.span) => Some(Quiet::Logged),
        Action::Call(call) => {
            let harmless = words.permission(&call.name) == Permission::Allowed;
            harmless.then_some(Quiet::Silent)
        }
        _ => None,
    }
}

/// Whether a call is a statement that is given a text: a line of a log.
fn is_log(function: &FunctionContext<'_>, call: Span) -> bool {
    let mut calls = function.calls.iter();
    let call = calls.find(|own| span(**own) == call);
    call.is_some_and(|call| {
        let alone = call
            .parent()
            .is_some_and(|own| own.known_kind() == "expression_statement");
        alone && has_text(*call)
    })
}

fn has_text(call: Node<'_>) -> bool {
    call.part("arguments").is_some_and(|arguments| {
        let mut cursor = arguments.walk();
        arguments
            .named_children(&mut cursor)
            .any(|own| matches!(own.known_kind(), "string_literal" | "concatenated_string"))
    })
}

/// Whether a place is in a line of the log.
fn is_logged(function: &FunctionContext<'_>, place: Span) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| span(*call).contains(place) && is_log(function, span(*call)))
}
