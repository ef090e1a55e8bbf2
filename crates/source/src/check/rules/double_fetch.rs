use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::check::callee::{look_into, parameter};
use crate::check::context::FunctionContext;
use crate::check::element_again::{
    is_element_again, is_over_judged, is_over_judged_whole, is_unsettled,
};
use crate::check::fetch::{Fetch, is_member_behind};
use crate::check::fetched::{is_all_of, is_line_of_log, is_told, member_of};
use crate::check::fetched_in_callee::{given_to_callees, is_again_in_callee};
use crate::check::fetched_part::{
    Part, field, front_of, inmost, is_held_down, is_last_alone, is_of_number, is_part,
    is_same_place, part_of,
};
use crate::check::judged_bytes::are_again;
use crate::check::known::Asked;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::parsed_again::is_parsed_again;
use crate::check::refetched::{
    checked_fields, conditions, conditions_from, equal_to, front, goes_unasked, is_as_long,
    is_compared, is_judged, is_kept_beside, is_limited, is_put_over, is_refused, is_set,
    is_whole_over, made_of, operands, together,
};
use crate::check::room_made::{is_of_its_own, makes_room};
use crate::check::rounds_again::{goes_over_again, is_asked_inside, loop_around};
use crate::check::rule::{Look, Rule};
use crate::check::sized_again::is_sized_again;
use crate::check::space;
use crate::check::words::Permission;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, StatementKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "double-fetch",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a value is fetched from the user, checked, and fetched again for its use",
    why: "Another thread of the user can change it between the two. What was checked is then not what is \
          used. Fetch once, check the copy and use the copy.",
};

/// So often a pointer may have another name.
const ALIASES: usize = 4;

/// So many fetches of a function are compared with each other.
const FETCHES: usize = 64;

/// The variable whose value another one has from its only assignment on.
fn origin(function: &FunctionContext<'_>, name: &str) -> String {
    let mut name = name.to_owned();
    for _ in 0..ALIASES {
        let sets: Vec<(usize, Option<String>)> = sets(function, &name).collect();
        let [(_, Some(of))] = sets.as_slice() else {
            break;
        };
        if function.graph.takes_a_value(of) {
            break;
        }
        name.clone_from(of);
    }
    name
}

/// Where a variable takes a value, and the variable whose value that is.
fn sets<'s>(
    function: &'s FunctionContext<'_>,
    name: &'s str,
) -> impl Iterator<Item = (usize, Option<String>)> {
    let graph = function.graph;
    let effects = graph.effects.iter();
    let own = effects.filter(move |own| graph.is_whole(own) && graph.name_of(own) == name);
    own.filter_map(|own| match &own.kind {
        EffectKind::Write(write) => {
            let value = write.value.filter(|_| !write.next);
            let value = value.and_then(|value| function.expression(value));
            let of = value.and_then(|value| value.uncast().1.name().map(str::to_owned));
            // What is only declared holds nothing yet.
            let declared = || {
                graph
                    .local(name)
                    .is_some_and(|local| local.declared.contains(own.span))
            };
            let declares = write.value.is_none() && !write.next && declared();
            (!declares).then_some((own.span.start, of))
        }
        _ => None,
    })
}

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let all = function.accesses.iter().chain(function.through);
    let reads = all.filter_map(|access| Fetch::of(function, access));
    let calls = function.calls.iter();
    let copies = calls.filter_map(|call| {
        Fetch::duplicate(function, *call).or_else(|| Fetch::told(function, *call))
    });
    let calls = function.calls.iter();
    let others = calls.flat_map(|call| Fetch::through(function, *call));
    let mut fetches: Vec<Fetch<'_>> = reads.chain(copies).chain(others).collect();
    fetches.sort_by_key(|fetch| fetch.span.start);
    if function.stops_at(fetches.len(), FETCHES + 1) {
        fetches.truncate(FETCHES);
    }
    for fetch in &mut fetches {
        let of = origin(function, &fetch.user_root);
        fetch.address = fetch.address.renamed(&fetch.user_root, &of);
        fetch.user_root = of;
    }
    for (at, first) in fetches.iter().enumerate() {
        let later = fetches.iter().skip(at + 1);
        let again = later.filter(|second| follows(function, first, second));
        let again = again
            .into_iter()
            .find(|second| is_double(function, first, second));
        let mut later = fetches.iter().skip(at + 1);
        let again = again.or_else(|| later.find(|own| is_in_other_rounds(function, first, own)));
        if let Some(second) = again {
            out.push(violation(function, first, second));
        }
    }
    check_callees(function, &fetches, out);
}

/// The same of what a function of the file fetches that is given the pointer behind the first.
fn check_callees(function: &FunctionContext<'_>, fetches: &[Fetch<'_>], out: &mut Vec<Violation>) {
    if fetches.iter().all(|own| own.asked.is_some()) {
        return;
    }
    let mut given = given_to_callees(function, fetches);
    for own in &mut given {
        own.fetch.user_root = origin(function, &own.fetch.user_root);
    }
    for first in fetches
        .iter()
        .filter(|own| own.asked.is_none() && !own.parsed)
    {
        let again = given.iter().find(|own| {
            follows(function, first, &own.fetch) && is_again_in_callee(function, first, own)
        });
        out.extend(again.map(|own| violation(function, first, &own.fetch)));
    }
}

fn violation(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> Violation {
    let file = function.file;
    let message = format!(
        "what line {} fetched and the code checked is fetched again here, and used from here",
        function.line(first.span)
    );
    let mut violation = file.violation(&INFO, second.span, "fetched again", message);
    violation
        .related
        .push(file.mark(first.span, "fetched first, then checked"));
    violation
}

/// Whether a path leads from the one to the other, with the same user pointer.
fn follows(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    // What a loop does to the address in each round is done behind the access, wherever it is written.
    let from = match loop_around(function, first.node) {
        Some(own) if !own.contains(second.span) => own.start,
        _ => first.span.start,
    };
    let place = Span::new(from, second.span.end);
    let address: BTreeSet<&str> = names(function, first.user).collect();
    let moved = |effect: &Effect| {
        matches!(effect.kind, EffectKind::Write(_))
            && address.contains(function.graph.name_of(effect))
            && !function.graph.is_behind(effect)
    };
    first.user_root == second.user_root
        && (!function.graph.effects_in(place).any(moved) || is_rewound(function, first, second))
        && together(first.node, second.node)
}

/// Whether the pointer is set between the two fetches to what it was set to before the
/// first: two loops go over the same.
fn is_rewound(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    let kept = |of: &String| !function.graph.takes_a_value(of);
    let last = |byte: usize| {
        let before = sets(function, &first.user_root).filter(|(at, _)| *at < byte);
        let named = before.filter_map(|(at, of)| Some((at, of.filter(kept)?)));
        named.max_by_key(|(at, _)| *at)
    };
    match (last(first.span.start), last(second.span.start)) {
        (Some((_, from)), Some((at, again))) => from == again && at > first.span.end,
        _ => false,
    }
}

/// The variables that are named in a place.
fn names<'s>(function: &'s FunctionContext<'_>, place: Span) -> impl Iterator<Item = &'s str> {
    let effects = function.graph.effects_in(place);
    effects.map(|effect| function.graph.name_of(effect))
}

/// Whether what the second fills takes another value, whole: that of the first's copy,
/// for nothing else would fetch twice.
fn is_replaced(function: &FunctionContext<'_>, second: &Fetch<'_>) -> bool {
    let graph = function.graph;
    let replaces = |effect: &Effect| {
        matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some())
            && effect.span.start >= second.span.end
            && graph.name_of(effect) == second.value_root
            && graph.is_all_behind(effect)
    };
    // Another case of a `switch` may do it for its own.
    let behind = graph.reached_behind_any(graph.nodes_in(second.span), |_| false);
    let mut effects = behind.into_iter().flat_map(|node| graph.effects_of(node));
    effects.any(replaces)
}

fn is_double(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    // What lies behind the front that another one fetched is another part.
    let replaced = second.counted && is_replaced(function, second);
    if second.shifted || replaced || first.parsed || is_told_size(function, first, second) {
        return false;
    }
    if second.parsed {
        return is_parsed_again(function, first, second);
    }
    let between = || conditions(function, first, second);
    let own = match &first.asked {
        Some(asked) => is_asked_before(function, first, asked, second),
        None => {
            is_element_again(function, first, second, between)
                || is_double_of(function, first, second)
        }
    };
    own || are_again(function, first, second, between) || is_sized_again(function, first, second)
}

/// Whether each element that was judged is fetched once more in a later loop, and used from there.
fn is_in_other_rounds(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    first.asked.is_none()
        && second.asked.is_none()
        && goes_over_again(function, first, second)
        && match first.counted {
            true => is_asked_inside(function, first, second),
            false => is_checked(function, first, second, &first.value_root),
        }
        && is_used(function, second)
}

/// The same of two fetches of the function's own.
fn is_double_of(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    match (!first.counted, !second.counted) {
        (true, true) => {
            is_same_place(function, first, second)
                && is_checked(function, first, second, &first.value_root)
                && is_used(function, second)
        }
        (true, false) => part_of(&first.address, &second.address)
            .map(|part| {
                makes_room(function, first, second) && is_of_its_own(function, first, second, &part)
                    || is_checked(function, first, second, &first.value_root)
                        && (is_put_over(function, first, second)
                            || uses_part(function, first, second, &part)
                            || part == Part::First && uses_front_number(function, first, second)
                            || is_sized_by(function, first, second)
                                && goes_alone(function, first, second, &part))
            })
            .unwrap_or_else(|| {
                is_checked(function, first, second, &first.value_root)
                    && is_last_alone(function, first, second)
            }),
        (false, true) => member_of(&second.address, &first.address).is_some_and(|field| {
            let between = || is_read_between(function, first, second, &field);
            first.all
                && (between() && is_used(function, second)
                    || is_kept_beside(function, first, second, &field))
        }),
        (false, false) if first.address == second.address => {
            let fields = checked_fields(function, first, second);
            let kept = second.stays && is_as_long(function, first, second) && !first.stays;
            let judged = || is_judged(function, first, &conditions(function, first, second));
            kept && (!fields.is_empty() || judged()) && !is_asked_again(function, second)
                || is_over_judged(function, first, second, &fields)
                || is_over_judged_whole(function, first, second, || {
                    conditions(function, first, second)
                })
                || fields.into_iter().any(|field| {
                    let own = || uses_part(function, first, second, &Part::Field(field.clone()));
                    uses_front(function, first, second, &field).unwrap_or_else(own)
                })
                || goes_unjudged(function, first, second)
                || is_of_number(function, first) && uses_front_number(function, first, second)
        }
        (false, false) => {
            member_of(&first.address, &second.address).is_some()
                && is_whole_over(
                    function,
                    first,
                    second,
                    &conditions(function, first, second),
                )
        }
    }
}

/// Whether the number at the front of the second copy is used as it came the second time, and every
/// way to that has compared what came first: not another case of a `switch`.
fn uses_front_number(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let place = Span::new(first.span.end, second.span.start);
    let compared = function.graph.comparisons.iter().copied();
    let compared = compared.filter(|own| place.contains(*own));
    let asked: Vec<Span> = compared
        .filter(|own| function.graph.names(*own, &first.value_root))
        .collect();
    !asked.is_empty()
        && function.graph.passes(&asked, second.span)
        && front_of(function, second).is_some_and(|part| uses_part(function, first, second, &part))
}

/// Whether a function that is called before the second fetch has asked something of what
/// lies there, its result was asked, and the second's own is used.
fn is_asked_before(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    asked: &Asked,
    second: &Fetch<'_>,
) -> bool {
    let told = second.asked.is_none()
        && is_told(function, first.node, &conditions(function, first, second));
    let same = first.address == second.address;
    told && match asked {
        Asked::Value if !second.counted => same && is_used(function, second),
        Asked::Value => part_of(&first.address, &second.address)
            .is_some_and(|part| uses_part(function, first, second, &part)),
        Asked::Fields(fields) => {
            let mut fields = fields.iter();
            let used = |field: &String| {
                let part = Part::Field(field.clone());
                uses_part(function, first, second, &part)
            };
            same && second.counted && fields.any(used)
        }
        Asked::Whole => {
            let mut reads = function.reads(&second.value_root);
            let used = reads.any(|read| second.span.end <= read.span.start);
            same && second.counted && used && !is_asked_again(function, second)
        }
    }
}

/// Whether a call behind the second fetch that stands in a condition is given all of what
/// it filled.
fn is_asked_again(function: &FunctionContext<'_>, second: &Fetch<'_>) -> bool {
    let later = conditions_from(function, second.span.end);
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let place = span(*call);
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        place.start >= second.span.end
            && later.iter().any(|own| own.contains(place))
            && given.iter().any(|own| is_all_of(own, &second.value_root))
    })
}

/// Whether the member of the first copy is looked at before the second fetch.
fn is_read_between(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &str,
) -> bool {
    let mut found = false;
    function.each_of(&["field_expression"], |node| {
        let place = span(node);
        let between = first.span.end <= place.start && place.end <= second.span.start;
        if found || !between {
            return;
        }
        let set = function.above(node).is_some_and(|own| {
            own.known_kind() == "assignment_expression" && own.part("left") == Some(node)
        });
        found = !set && field(function, node, &first.value_root).as_deref() == Some(wanted);
    });
    found
}

/// Whether a condition between the two asks for the variable, beyond the fetch
/// that fills it.
fn is_checked(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    variable: &str,
) -> bool {
    let between = Span::new(first.span.end, second.span.start);
    let made = made_of(function, variable, between);
    let mut conditions = conditions(function, first, second).into_iter();
    conditions.any(|condition| {
        let from = if condition.contains(first.span) {
            Span::new(first.span.end, condition.end)
        } else {
            condition
        };
        let named = function.graph.names(from, variable);
        named || made.iter().any(|name| is_limited(function, from, name))
    })
}

/// Whether the variable of a fetch is used behind it, and nothing refuses what it may be.
fn is_used(function: &FunctionContext<'_>, second: &Fetch<'_>) -> bool {
    let variable = &second.value_root;
    let behind = |at: usize| second.span.end <= at;
    let look = || {
        let still = still_there(function, second);
        let mut refused = false;
        for node in function.mentions(variable) {
            let asked = || behind(node.start_byte()) && is_refused(function, node);
            refused = refused || asked() && still(span(node));
        }
        let mut reads = function.reads(variable);
        // Whoever finds what stays behind when the function is left uses it.
        let mut used = || second.stays || reads.any(|read| behind(read.span.start));
        !refused && !is_held_down(function, second) && used()
    };
    *second.used.get_or_init(look)
}

/// Whether what a fetch filled may still be in its variable in a place: not behind where that takes
/// another value.
fn still_there(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> impl Fn(Span) -> bool {
    let graph = function.graph;
    let replaces = |own: &Effect| match &own.kind {
        EffectKind::Write(write) => {
            let value = write.value.filter(|_| !write.optional && !write.compound);
            value.is_some_and(|value| !graph.names(value, &fetch.value_root))
                && graph.name_of(own) == fetch.value_root
                && graph.is_whole(own)
        }
        _ => false,
    };
    let reached = graph.reached_behind_any(graph.nodes_in(fetch.span), |node| {
        graph.effects_at(node).iter().any(replaces)
    });
    move |place| {
        let nodes = function.touching(place);
        nodes.is_empty() || nodes.iter().any(|node| reached.contains(node))
    }
}

/// Whether the second copy's own part is read after it, and neither set nor
/// checked again.
fn uses_part(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &Part,
) -> bool {
    // A member that is a structure has members of its own.
    let (mut read, mut set) = (BTreeSet::new(), BTreeSet::new());
    let (mut used, mut judged) = (Vec::new(), Vec::new());
    let checks = operands(function, &conditions(function, first, second));
    let later = operands(function, &conditions_from(function, second.span.end));
    let again = |place: Span| {
        let mut own = later.iter().filter(|own| own.span.contains(place));
        own.any(|own| checks.contains(own))
    };
    function.each_of(&["field_expression", "subscript_expression"], |node| {
        let looks = matches!(
            node.known_kind(),
            "field_expression" | "subscript_expression"
        );
        if !looks || span(node).start < second.span.end {
            return;
        }
        if !is_part(function, node, &second.value_root, wanted) {
            return;
        }
        let node = match first.asked {
            Some(_) => inmost(function, node),
            None => node,
        };
        let assigned = function.above(node).is_some_and(|p| {
            p.known_kind() == "assignment_expression"
                && p.part("left").map(|l| l.id()) == Some(node.id())
        });
        // Set again, compared with what was checked, or checked as it was.
        let compared = is_compared(function, first, node) || is_refused(function, node);
        let settled = assigned || compared || again(span(node));
        let (all, places) = match settled {
            true => (&mut set, &mut judged),
            false => (&mut read, &mut used),
        };
        all.insert(function.context.written(node));
        // What sets it is noted with the assignment.
        places.push(span(
            function.above(node).filter(|_| assigned).unwrap_or(node),
        ));
    });
    // What begins where the whole does may have any name there.
    let whole = match wanted {
        Part::First | Part::Front(_) => false,
        Part::Field(field) => {
            is_handed(function, second)
                || is_read_by_callee(function, second, field)
                || goes_on(function, first, second)
        }
    };
    // Of what this function checked itself each member is known, of what another one did not.
    let apart = first.asked.is_some() && !read.is_subset(&set);
    let elsewhere = || first.asked.is_none() && is_unsettled(function, second, &used, &judged);
    apart || (whole || !read.is_empty()) && (set.is_empty() || elsewhere())
}

/// Whether that part is read of the structure with which the second copy begins, and neither set
/// nor checked again; none where it has no such.
fn uses_front(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &str,
) -> Option<bool> {
    let nodes = front(function, first, second, wanted);
    let checks = operands(function, &conditions(function, first, second));
    let given = |node: &Node<'_>| {
        let mut accesses = function.accesses.iter();
        accesses.any(|own| own.span.contains(span(*node)))
    };
    // What an access is as large as is no comparison, whatever its result is held against.
    let settled = |node: &Node<'_>| {
        if given(node) {
            return false;
        }
        let later = conditions_from(function, second.span.end);
        let mut later = later.iter().filter(|own| own.contains(span(*node)));
        is_set(function, *node)
            || is_compared(function, first, *node)
            || is_refused(function, *node)
            || later.any(|own| {
                let again = operands(function, &[*own]);
                again.iter().any(|own| checks.contains(own))
            })
    };
    (!nodes.is_empty()).then(|| !nodes.iter().any(settled))
}

/// Whether a call has judged all of the first copy, and nothing judges the second, which goes on.
fn goes_unjudged(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    is_judged(function, first, &conditions(function, first, second)) && {
        let later = conditions_from(function, second.span.end);
        goes_unasked(function, first, second, &later)
    }
}

/// Whether a call behind the second fetch is given the address of what it filled: it sees
/// all of it. What goes back to the user, or is cleared, is not used.
fn is_handed(function: &FunctionContext<'_>, second: &Fetch<'_>) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let name = String::from_utf8_lossy(function.called(*call)).into_owned();
        let words = function.file.words;
        let goes_back = words.access(&name).is_some() || words.clears(&name).is_some();
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = |given: &Expression| {
            matches!(&given.uncast().1.term, Term::Address(of) if of.name() == Some(&second.value_root))
        };
        !goes_back && span(*call).start >= second.span.end && given.iter().any(own)
    })
}

/// Whether the second is of as many bytes as the first says.
fn is_sized_by(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    let made = made_of(
        function,
        &first.value_root,
        Span::new(first.span.end, second.span.start),
    );
    let mut sizes = made.into_iter().chain([first.value_root.as_str()]);
    sizes.any(|name| function.graph.names(second.span, name))
        || equal_to(function, first, second)
            .iter()
            .any(|name| function.graph.names(second.span, name))
}

/// Whether what the first fetched says how large the program's structure is, of which the call
/// copies no more than the kernel has: who is told so by copy_struct_from_user() has no use for
/// what stands there once more.
fn is_told_size(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    let name = function.callee(second.node);
    let sizes = name.and_then(|name| function.file.words.sizes(name));
    let whole = function.expression_of(second.node);
    let given = sizes.and_then(|own| whole.call()?.1.get(own.user));
    given.is_some_and(|own| function.graph.names(own.span, &first.value_root))
}

/// Whether a function that is not in the file is given the pointer behind the second fetch,
/// without what the first one fetched, and that was neither set nor asked for since: all that it
/// can go by is what was fetched again.
fn goes_alone(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    part: &Part,
) -> bool {
    let Part::Field(wanted) = part else {
        return false;
    };
    let words = function.file.words;
    let mut touched = false;
    function.each_of(&["field_expression"], |node| {
        let own = field(function, node, &second.value_root);
        touched |= own.as_deref() == Some(wanted) && span(node).start >= second.span.end;
    });
    let mut calls = function
        .calls
        .iter()
        .filter(|call| span(**call).start >= second.span.end);
    !touched
        && calls.any(|call| {
            let whole = function.expression_of(*call);
            let Some((name, given)) = whole.call() else {
                return false;
            };
            let judges = words.frees(name)
                || words.tells_errors(name)
                || words.tells_null(name)
                || words.access(name).is_some()
                || words.permission(name) == Permission::Allowed
                || is_line_of_log(*call)
                || function.file.body_named(name).is_some();
            let own = |own: &Expression| own.uncast().1.name() == Some(&second.value_root);
            let beside = |own: &Expression| own.any(&|part| part.name() == Some(&first.value_root));
            !judges && given.iter().any(own) && !given.iter().any(beside)
        })
}

/// Whether what the second fetch filled is the caller's: the function gives its address, or
/// was given it, or stores it behind a pointer. Or it lies over what was checked, and goes to another function.
fn goes_on(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    let root = &second.value_root;
    let own = |own: &Expression| own.uncast().1.name() == Some(root);
    let mut returns = function.graph.statements.iter();
    let returned = returns.any(|asked| {
        let given = asked
            .expression
            .filter(|_| asked.kind == StatementKind::Return);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| own(&given))
    });
    // `*param = copy`
    let stored = || {
        let behind = function.graph.effects.iter();
        let mut behind = behind.filter(|effect| function.graph.is_behind(effect));
        behind.any(|effect| match &effect.kind {
            EffectKind::Write(write) => {
                let value = write.value.filter(|at| function.graph.names(*at, root));
                let value = value.and_then(|at| function.expression(at));
                value.is_some_and(|value| own(&value))
            }
            _ => false,
        })
    };
    let over = || {
        first.value_root == *root
            && function.calls.iter().any(|call| {
                let whole = function.expression_of(*call);
                let frees = whole
                    .call()
                    .is_some_and(|(name, _)| function.file.words.frees(name));
                let Term::Call(_, given) = &whole.term else {
                    return false;
                };
                !frees && span(*call).start >= second.span.end && given.iter().any(own)
            })
    };
    // Nobody looks for the header in what has no members.
    let behind = Expression {
        span: second.span,
        term: Term::Behind(Box::new(Expression {
            span: second.span,
            term: Term::Name(root.clone()),
        })),
    };
    let of = || space::type_of(function, &behind).map(|of| of.shape);
    let given = || function.is_parameter(root) && matches!(of(), Some(Shape::Struct(_)));
    let kept = || is_kept(function, first, second);
    second.whole && (returned || given() || stored() || over() || kept())
}

/// Whether the second fetch fills a structure of the type that was checked by a pointer to a
/// member behind another one, which no call is given since: what is there when the function is
/// left is used by whoever finds it.
fn is_kept(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> bool {
    let root = &second.value_root;
    let assigned = function.graph.assignments();
    let mut values = assigned.filter(|(name, _)| name == root);
    let only = values.next().filter(|_| values.next().is_none());
    let value = only.and_then(|(_, at)| function.expression(at));
    if !value.is_some_and(|value| is_member_behind(&value)) {
        return false;
    }
    let checked = space::declared(function, &first.value_root, first.span);
    let filled = space::declared(function, root, second.span);
    let same = checked.zip(filled).is_some_and(|(checked, filled)| {
        filled.strip_suffix('*').map(str::trim_end) == Some(checked.as_str())
    });
    let given = |call: &Node<'_>| {
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = |own: &Expression| own.uncast().1.name() == Some(root);
        span(*call).start >= second.span.end && given.iter().any(own)
    };
    same && !function.calls.iter().any(given)
}

/// Whether a function of the file that is given the pointer behind the second fetch reads
/// that member.
fn is_read_by_callee(function: &FunctionContext<'_>, second: &Fetch<'_>, wanted: &str) -> bool {
    let calls = function.calls.iter();
    let mut later = calls.filter(|call| span(**call).start >= second.span.end);
    later.any(|call| {
        let name = function.callee(*call);
        let Some(name) = name.filter(|name| function.file.body_named(name).is_some()) else {
            return false;
        };
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = |given: &Expression| is_pointer_to(function, given, second);
        let Some(at) = given.iter().position(own) else {
            return false;
        };
        let reads = look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            let others = callee.graph.assignments().filter(|(_, value)| {
                let value = callee.expression(*value);
                value.is_some_and(|value| value.uncast().1.name() == Some(&own))
            });
            let names: Vec<&str> = std::iter::once(own.as_str())
                .chain(others.map(|(name, _)| name))
                .collect();
            let mut found = None;
            callee.each_of(&["field_expression"], |node| {
                let named = |own: &&str| field(callee, node, own).as_deref() == Some(wanted);
                found = found.or(names.iter().any(named).then_some(()));
            });
            found
        });
        reads.is_some()
    })
}

/// Whether an argument is the pointer that the second fetch fills, or what takes it behind that.
fn is_pointer_to(function: &FunctionContext<'_>, given: &Expression, second: &Fetch<'_>) -> bool {
    let root = &second.value_root;
    let Some(name) = given.uncast().1.name() else {
        return false;
    };
    let mut values = function.graph.assignments();
    name == root
        || values.any(|(own, value)| {
            let behind =
                own == name && value.start >= second.span.end && value.end <= given.span.start;
            let value = function.expression(value).filter(|_| behind);
            value.is_some_and(|value| value.uncast().1.name() == Some(root))
        })
}
