use crate::check::callee::{look_into, parameter};
use crate::check::context::{FileContext, FunctionContext};
use crate::check::fate::is_given_users;
use crate::check::locks;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::summary::faults_in;
use crate::check::unhandled::answered;
use crate::check::words::Permission;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Flow, Node};
use crate::hashed::{HashMap, HashSet};
use crate::lex::Token;
use crate::node::LOOPS;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::split::Body;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "fault-in-atomic",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an access that may sleep stands where nobody may",
    why: "A page of the user that is not there is read from a disk, and who waits for it sleeps: with a \
          spinlock held, in a reader of RCU, or with preemption or interrupts off that ends in a hang or \
          in a report of might_sleep(). A fault takes the mmap lock, which its holder must not wait for. \
          Copy before, behind, or with page faults disabled.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut told = HashSet::default();
    let places = by_place(function.graph);
    let mut regions = regions(function);
    regions.extend(lent(function));
    // What stands in several is said of one in which nothing relies on a fault that fails.
    regions.sort_by_key(|own| function.file.words.is_fallible(own.group));
    for region in regions {
        for call in function.calls {
            let place = span(*call);
            // What is called for its arguments is another node.
            let nodes = places.get(&place).map_or(&[][..], Vec::as_slice);
            let held = |node: &usize| region.held.contains(node);
            if !told.contains(&place) && nodes.iter().any(held) {
                // What another region says of it is another question.
                if !is_expected(function, *call, &region) {
                    continue;
                }
                let sleeper = sleeper(function, *call, &region).filter(|own| {
                    !unhandled(function, &region) || own.iterates || answered(function, *call)
                });
                out.extend(sleeper.map(|own| violation(function, &own, &region)));
                told.insert(place);
            }
        }
    }
    for call in function.calls {
        out.extend(by_pointer(function, *call));
    }
}

/// Where the function itself begins what nobody may sleep in.
fn regions(function: &FunctionContext<'_>) -> Vec<Region> {
    let mut locks = HashMap::default();
    let nodes = function.graph.nodes.iter().enumerate();
    let begun = nodes.filter_map(|(at, node)| match group(function, node) {
        Some((group, true)) if is_whole(function, at, group) => Some(Region {
            begin: node.span,
            call: format!("{}()", name_of(node)),
            group,
            lent: false,
            held: {
                let locks = locks.entry(group);
                held(
                    function,
                    at,
                    locks.or_insert_with(|| Locks::of(function, group)),
                )
            },
        }),
        _ => None,
    });
    let scopes = function.graph.cleanups.iter();
    let guarded = scopes.filter_map(|scope| guarded(function, *scope));
    begun.chain(guarded).collect()
}

/// The call of a function of the file that is given one which may sleep on a fault, and calls that
/// where nobody may: `rc = (*copy)(to, from, n)` under a lock.
fn by_pointer(function: &FunctionContext<'_>, call: tree_sitter::Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let file = function.file;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let named = given.iter().enumerate().filter_map(|(at, own)| {
        let own = match &own.uncast().1.term {
            Term::Address(place) => place.name()?,
            _ => own.uncast().1.name()?,
        };
        let outer = function.graph.local(own).is_none() && !function.is_parameter(own);
        let sleeps = || function.known.may_sleep(own) && file.body_named(own).is_some();
        (outer && sleeps()).then_some((at, own))
    });
    let mut named = named.peekable();
    named.peek()?;
    file.body_named(name)?;
    named.find_map(|(at, own)| {
        let inner = faults_in(function, own)?;
        look_into(function, name, |callee| {
            let (place, region) = called_in_region(callee, at)?;
            let sleeper = Sleeper {
                name: own.to_owned(),
                span: place,
                inner: Some(inner.clone()),
                declared: false,
                iterates: false,
            };
            Some(violation(callee, &sleeper, &region))
        })
    })
}

/// Where a function calls what it is given in a place, and where nobody may sleep.
fn called_in_region(function: &FunctionContext<'_>, at: usize) -> Option<(Span, Region)> {
    let own = parameter(function, at)?;
    let calls = function.calls.iter().filter(|call| {
        let called = call.part("function").map(bare);
        let called = called.map(|called| function.expression_of(called));
        called.is_some_and(|called| match &called.uncast().1.term {
            Term::Behind(of) => of.uncast().1.name() == Some(&own),
            _ => called.uncast().1.name() == Some(&own),
        })
    });
    let calls: Vec<Span> = calls.map(|call| span(*call)).collect();
    (!calls.is_empty()).then_some(())?;
    let places = by_place(function.graph);
    regions(function).into_iter().find_map(|region| {
        let open = !function.file.words.is_fallible(region.group)
            && !function.file.words.is_unhandled(region.group);
        let mut calls = calls.iter().filter(|_| open);
        let place = calls.find(|place| {
            let nodes = places.get(place).map_or(&[][..], Vec::as_slice);
            nodes.iter().any(|node| region.held.contains(node))
        });
        place.copied().map(|place| (place, region))
    })
}

/// The nodes that something happens at, by where.
fn by_place(graph: &Flow) -> HashMap<Span, Vec<usize>> {
    let mut found: HashMap<Span, Vec<usize>> = HashMap::default();
    for (at, node) in graph.nodes.iter().enumerate() {
        if node.action != Action::Join {
            found.entry(node.span).or_default().push(at);
        }
    }
    found
}

/// Whether a fault is expected there: who holds the mmap lock, and asks for no result, has
/// looked at the page (arch/m68k/kernel/sys_m68k.c).
fn is_expected(
    function: &FunctionContext<'_>,
    call: tree_sitter::Node<'_>,
    region: &Region,
) -> bool {
    let dropped = call
        .parent()
        .is_some_and(|own| own.known_kind() == "expression_statement");
    !dropped || !function.file.words.is_taken_again(region.group)
}

/// Whether no fault is handled in a region, so that an access fails in it wherever the page is not there.
fn unhandled(function: &FunctionContext<'_>, region: &Region) -> bool {
    function.file.words.is_unhandled(region.group)
}

/// A call that may sleep on a fault.
struct Sleeper {
    name: String,
    span: Span,
    /// What it calls that does.
    inner: Option<String>,
    /// Whether no more is known of it than that it is given an address of the user's.
    declared: bool,
    /// Whether it copies from or to the iterator that the function is given.
    iterates: bool,
}

fn sleeper(
    function: &FunctionContext<'_>,
    call: tree_sitter::Node<'_>,
    region: &Region,
) -> Option<Sleeper> {
    let name = function.callee(call)?;
    let iterates = iterates(function, call, name);
    let inner = match function.known.get(name) {
        _ if iterates || function.file.words.may_fault(name) => None,
        Some(own) => Some(own.faults.clone()?),
        None if function.known.may_sleep(name) => Some(faults_in(function, name)?),
        None => {
            // Who relies on it that a fault fails there knows whom he calls, and so does who
            // holds another's mmap lock.
            let words = function.file.words;
            let hard = !words.is_fallible(region.group) && !words.is_taken_again(region.group);
            return (hard && is_handed(function, call, name)).then(|| Sleeper {
                name: name.to_owned(),
                span: span(call),
                inner: None,
                declared: true,
                iterates,
            });
        }
    };
    Some(Sleeper {
        name: name.to_owned(),
        span: span(call),
        inner,
        declared: false,
        iterates,
    })
}

/// Whether a call copies from or to the iterator that the function is given, and nothing around it
/// asks of what memory that is.
fn iterates(function: &FunctionContext<'_>, call: tree_sitter::Node<'_>, name: &str) -> bool {
    let Some(at) = function.file.words.results().iterates(name) else {
        return false;
    };
    let whole = function.expression_of(call);
    let iterator = whole.call().and_then(|(_, given)| given.get(at));
    let root = iterator.and_then(|own| own.root().name());
    root.is_some_and(|root| function.is_parameter(root) && !is_asked_around(function, call, root))
}

/// Whether an `if` or a choice around a call asks about a variable.
fn is_asked_around(
    function: &FunctionContext<'_>,
    call: tree_sitter::Node<'_>,
    variable: &str,
) -> bool {
    let place = span(call);
    let asks = |own: tree_sitter::Node<'_>| {
        let condition = own.part("condition");
        condition.is_some_and(|condition| {
            let names = |part: &Expression| part.name() == Some(variable);
            !span(condition).contains(place) && function.expression_of(condition).any(&names)
        })
    };
    let mut around = function.around(call);
    around.any(|own| {
        matches!(own.known_kind(), "if_statement" | "conditional_expression") && asks(own)
    })
}

/// Whether a function of another file is given an address of the user's, and declared to take
/// one: what for, if not to access it?
fn is_handed(function: &FunctionContext<'_>, call: tree_sitter::Node<'_>, name: &str) -> bool {
    let (file, words) = (function.file, function.file.words);
    let pointer = function.graph.local(name).is_some() || function.is_parameter(name);
    let quiet = words.knows(name)
        || words.is_sleepless(name)
        || words.addresses(name)
        || words.permission(name) == Permission::Allowed;
    if pointer || quiet || file.bodies.iter().any(|body| body.name == name) {
        return false;
    }
    let whole = function.expression_of(call);
    let given = whole.call().map_or(&[][..], |(_, given)| given);
    let users = |own: &Expression| !own.is_null() && space::is_users(function, own);
    let mut given = given.iter().enumerate().filter(|(_, own)| users(own));
    // Last what takes longest.
    given.any(|(at, _)| {
        let takes = file.signature(name);
        takes.is_some_and(|takes| {
            takes
                .takes
                .get(at)
                .is_some_and(|own| own.pointer && own.users)
        })
    })
}

/// Where nobody may sleep.
struct Region {
    /// What begins it.
    begin: Span,
    /// The call, as it is named.
    call: String,
    /// The group that it begins.
    group: usize,
    /// Whether it is the caller's, and ends there.
    lent: bool,
    /// The nodes in it.
    held: HashSet<usize>,
}

/// The group that a node begins or ends.
fn group(function: &FunctionContext<'_>, node: &Node) -> Option<(usize, bool)> {
    match &node.action {
        Action::Call(call) => {
            let helper = || Some((function.known.locks(&call.name)?, true));
            let own = function.file.words.atomic_of(&call.name);
            own.or_else(helper)
                .or_else(|| headers(function, &call.name))
        }
        _ => None,
    }
}

/// The same of an inline function of a header.
fn headers(function: &FunctionContext<'_>, name: &str) -> Option<(usize, bool)> {
    let words = function.file.words;
    let (group, begins) = locks::headers(function, name)?;
    words.is_atomic(group).then_some((group, begins))
}

/// Whether a region has an end in the function, where a header's function begins it: what
/// ends it otherwise may be anything.
fn is_whole(function: &FunctionContext<'_>, begin: usize, group: usize) -> bool {
    let graph = function.graph;
    let ends = |at: usize| {
        let node = graph.nodes.get(at);
        node.is_some_and(|node| self::group(function, node) == Some((group, false)))
    };
    let name = graph.nodes.get(begin).map_or("", name_of);
    let own = function.file.words.locker(name).is_none() || function.known.locks(name).is_some();
    own || graph.reached_behind(begin, |_| false).into_iter().any(ends)
}

/// What is called at a node.
fn name_of(node: &Node) -> &str {
    match &node.action {
        Action::Call(call) => &call.name,
        _ => "",
    }
}

/// The nodes that are reached with what a node begins, and no way else: what some way
/// comes to without it may be asked for on both sides.
fn held(function: &FunctionContext<'_>, begin: usize, locks: &Locks) -> HashSet<usize> {
    let (graph, group) = (function.graph, locks.group);
    let of = |node: &Node, begins: bool| self::group(function, node) == Some((group, begins));
    let stops = |node: &Node| {
        let name = name_of(node);
        function.file.words.switches_faults_off(name) || unlocks(function, name, group)
    };
    let own = function.place(begin);
    let ends = |node: &Node| of(node, false) && locks.ends(own, node.span);
    let mut held = graph.reached_behind(begin, |node| ends(node) || stops(node));
    held.retain(|node| !locks.free.contains(node));
    held
}

/// The locks that the calls of a group are given, by where they stand.
struct Locks {
    group: usize,
    /// The nodes that some way comes to without any of them.
    free: HashSet<usize>,
    begins: HashMap<Span, Option<Expression>>,
    ends: HashMap<Span, Option<Expression>>,
}

impl Locks {
    fn of(function: &FunctionContext<'_>, group: usize) -> Self {
        let (mut begins, mut ends) = (HashMap::default(), HashMap::default());
        for call in function.calls {
            let name = function.callee(*call);
            let own = name.and_then(|name| function.file.words.atomic_of(name));
            let lock = || locks::given(function, *call);
            match own {
                Some((of, true)) if of == group => begins.insert(span(*call), lock()),
                Some((of, false)) if of == group => ends.insert(span(*call), lock()),
                _ => None,
            };
        }
        let begun = |node: &Node| self::group(function, node) == Some((group, true));
        Self {
            group,
            free: function.graph.reached(0, begun),
            begins,
            ends,
        }
    }

    /// Whether a call ends what another one began: not where it is given another lock, and
    /// each of the two is begun and ended here by its name.
    fn ends(&self, begin: Span, end: Span) -> bool {
        let (Some(own), Some(other)) = (self.begins.get(&begin), self.ends.get(&end)) else {
            return true;
        };
        let member =
            |lock: &'_ Option<Expression>| lock.as_ref().and_then(locks::member).map(str::to_owned);
        let apart = member(own) != member(other)
            && self.begins.values().any(|lock| lock == other)
            && self.ends.values().any(|lock| lock == own);
        !apart
    }
}

/// What comes before a call that lets go what the function never took: on every way out of it
/// there is such a call, and who calls it from the same file takes that.
fn lent(function: &FunctionContext<'_>) -> Vec<Region> {
    let (graph, words) = (function.graph, function.file.words);
    let mut found: Vec<Region> = Vec::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        let Action::Call(call) = &node.action else {
            continue;
        };
        let Some((group, false)) = words.atomic_of(&call.name) else {
            continue;
        };
        let known = found.iter().any(|own| own.group == group);
        if !known && is_lent(function, group) {
            let own =
                |node: &Node| self::group(function, node).is_some_and(|(own, _)| own == group);
            let stops = |node: &Node| {
                let name = name_of(node);
                own(node) || words.switches_faults_off(name) || unlocks(function, name, group)
            };
            found.push(Region {
                begin: function.place(at),
                call: format!("{}()", call.name),
                group,
                lent: true,
                held: graph.reached(0, stops),
            });
        }
    }
    found
}

/// Whether a group was begun for the function by who calls it.
fn is_lent(function: &FunctionContext<'_>, group: usize) -> bool {
    let (file, graph) = (function.file, function.graph);
    let own = |node: &Node| self::group(function, node).is_some_and(|(own, _)| own == group);
    let begins = |node: &Node| self::group(function, node) == Some((group, true));
    if graph.nodes.iter().any(begins) || graph.leaves_without(own) {
        return false;
    }
    let begun = |name: &str| file.words.atomic_of(name) == Some((group, true));
    let takes = |body: &Body| locks::names(function, body, begun);
    !file.is_kept(function.body) && file.callers(function.body).any(takes)
}

/// The scope of a guard whose class is one of a group, up to where faults are switched off
/// in it: by a call, or by a guard.
fn guarded(function: &FunctionContext<'_>, scope: Span) -> Option<Region> {
    let (graph, words) = (function.graph, function.file.words);
    let (group, _) = words.atomic_of(function.guard(scope)?)?;
    let off = graph.cleanups.iter().filter(|own| {
        let call = function.guard(**own);
        call.is_some_and(|call| words.switches_faults_off(call))
    });
    let off: Vec<&Span> = off.collect();
    let inside = |at: &usize| {
        let place = function.place(*at);
        scope.contains(place) && !off.iter().any(|own| own.contains(place))
    };
    let first = graph.nodes_in(scope).min()?;
    let stops = |node: &Node| {
        let name = name_of(node);
        words.switches_faults_off(name) || unlocks(function, name, group)
    };
    let reached = graph.reached(first, stops);
    let [word, _, class, ..] = function.file.tokens_in(scope) else {
        return None;
    };
    let text = |own: &Token| own.span.text(function.file.text);
    Some(Region {
        begin: word.span.join(class.span),
        call: format!("{}({})", text(word), text(class)),
        group,
        lent: false,
        held: reached.into_iter().filter(inside).collect(),
    })
}

/// Whether a function of the file ends the group before it begins it: that is its caller's.
fn unlocks(function: &FunctionContext<'_>, name: &str, group: usize) -> bool {
    let file = function.file;
    let mut bodies = file.bodies.iter().filter(|body| body.name == name);
    let of = |name: &str| file.words.atomic_of(name).filter(|(own, _)| *own == group);
    bodies.any(|body| locks::first(function, body, of).is_some_and(|(_, begins)| !begins))
}

fn violation(function: &FunctionContext<'_>, own: &Sleeper, region: &Region) -> Violation {
    let file = function.file;
    let (does, label, from) = if file.words.is_taken_again(region.group) {
        (
            "takes that itself where it faults",
            "a fault takes it",
            "taken from here on",
        )
    } else if unhandled(function, region) {
        (
            match own.iterates {
                true => "ends wherever a page of the user's is not there",
                false => "fails wherever the page is not there, which is answered by -EFAULT",
            },
            "no fault is handled",
            "page faults are off from here on",
        )
    } else {
        ("may sleep", "may sleep", "nobody may sleep from here on")
    };
    let within = match &own.inner {
        Some(inner) => format!(" in {inner}()"),
        None if own.declared => ", as it is given an address of the user's".to_owned(),
        None => String::new(),
    };
    let message = format!(
        "{}() {does}{within}, and stands {} {} on line {}",
        own.name,
        if region.lent { "before" } else { "behind" },
        region.call,
        function.line(region.begin)
    );
    let mut violation = file.violation(&INFO, own.span, label, message);
    let mark = match region.lent {
        true => "the caller's is let go here",
        false => from,
    };
    violation.related.push(file.mark(region.begin, mark));
    if file.words.is_fallible(region.group)
        && !copies(function, own)
        && !goes_round(function, own, region)
        && !is_heard(function, own, region)
    {
        violation.confidence = Confidence::Low;
    }
    violation
}

/// Whether a loop in the region does it word by word, which nobody takes back either.
fn goes_round(function: &FunctionContext<'_>, own: &Sleeper, region: &Region) -> bool {
    let mut found = false;
    function.each_of(&LOOPS, |node| {
        let place = span(node);
        found |= place.contains(own.span) && !place.contains(region.begin);
    });
    found
}

/// Whether nothing else in the region is given an address of the user's: code that relies on it that
/// a fault fails there does something to a word that nobody else may do in between.
fn is_alone(function: &FunctionContext<'_>, own: &Sleeper, region: &Region) -> bool {
    let inside = |call: &tree_sitter::Node<'_>| {
        let mut nodes = function.graph.nodes_in(span(*call));
        span(*call) != own.span && nodes.any(|at| region.held.contains(&at))
    };
    let few = function.calls.len() <= CALLS;
    let mut others = function.calls.iter().filter(|call| inside(call));
    few && !others.any(|call| is_given_users(function, *call))
}

/// Of a function with more calls nobody is told so: what a region holds is asked for each of them.
const CALLS: usize = 128;

/// Whether a program hears of the fault of a single value, which nobody tries again.
fn is_heard(function: &FunctionContext<'_>, own: &Sleeper, region: &Region) -> bool {
    is_of_programs(function.file, function.body, CALLERS) && is_alone(function, own, region)
}

/// So many callers up a program's call is looked for.
const CALLERS: usize = 2;

/// Whether a program calls a function, by itself or by others of the file: what it gives for a fault
/// goes to the program, and nobody tries it again.
fn is_of_programs(file: &FileContext<'_>, body: &Body, deep: usize) -> bool {
    let above = |own: &Body| is_of_programs(file, own, deep - 1);
    file.answers_a_program(body) || deep > 0 && file.callers(body).any(above)
}

/// Whether it is a copy of many bytes that may sleep. Code that relies on it that a fault
/// fails there reads and writes a word, as arch_futex_atomic_op_inuser() does, and what it
/// does to one it takes back; half a copy nobody takes back.
fn copies(function: &FunctionContext<'_>, own: &Sleeper) -> bool {
    let name = own.inner.as_ref().unwrap_or(&own.name);
    let access = function.file.words.access(name);
    own.iterates || access.is_some_and(|access| access.count.is_some())
}
