use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::as_string::{is_taken, may_hold, perhaps};
use crate::check::brimful::{Copy, copies, filling};
use crate::check::context::FunctionContext;
use crate::check::cut_string::cut_string;
use crate::check::format::literal;
use crate::check::found_byte::{is_refused, looks_for_end};
use crate::check::hanging::Hanging;
use crate::check::measured::{Measured, measured};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::placed::placed;
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::stale_tail::stale_tail;
use crate::check::strings::{Reading, front, readings, values, words};
use crate::check::words::Permission;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Local};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unterminated-string",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "bytes of the user's are read as a string, and nothing puts a 0 behind them",
    why: "copy_from_user() and memdup_user() copy bytes, and the user need not have sent a 0: strlen(), \
          kstrtoul() and the like go on into what lies behind. memdup_user_nul() puts a 0 there, \
          strncpy_from_user() where the string is shorter than its room.",
};

/// The expressions that may be an assignment or a call, by themselves or in parentheses.
const MAY_END: [&str; 3] = [
    "assignment_expression",
    "call_expression",
    "parenthesized_expression",
];

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        out.extend(cut_off(function, *call));
        out.extend(in_front(function, *call));
    }
    out.extend(measured(function).iter().map(|own| changed(function, own)));
    let reads = function.accesses.iter();
    out.extend(reads.filter_map(|access| stale(function, access)));
    let copies = copies(function);
    let duplicates = |call: &Node<'_>| {
        let name = function.callee(*call);
        name.is_some_and(|name| function.duplicates(name).is_some())
    };
    if copies.is_empty() && !function.calls.iter().any(duplicates) {
        return;
    }
    let mut known = Vec::new();
    for call in function.calls {
        // What is read from the front of such a buffer is told already.
        let told = out.iter();
        let mut told = told.filter(|own| own.rule == INFO.name);
        if told.any(|own| own.mark.span == span(*call)) {
            continue;
        }
        if !may_hold(function, &copies, *call) {
            continue;
        }
        let read = readings(function, *call);
        if read.is_empty() {
            out.extend(perhaps_unended(function, &copies, *call, &mut known));
        }
        for own in read {
            out.extend(unended(function, &copies, (span(*call), &own), &mut known));
        }
    }
}

/// The same of what a call takes that nobody knows.
fn perhaps_unended(
    function: &FunctionContext<'_>,
    copies: &[Copy],
    call: Node<'_>,
    known: &mut Vec<String>,
) -> Option<Violation> {
    perhaps(function, copies, call).iter().find_map(|own| {
        let mut with = known.clone();
        let told = unended(function, copies, (span(call), &own.reading), &mut with);
        let told = told.filter(|_| is_taken(function, call, own))?;
        *known = with;
        Some(told)
    })
}

/// Bytes of the user's that a call reads as a string; once for each object.
fn unended(
    function: &FunctionContext<'_>,
    copies: &[Copy],
    (call, reading): (Span, &Reading),
    known: &mut Vec<String>,
) -> Option<Violation> {
    let file = function.file;
    let all = values(function, &reading.string);
    let mut found = all.iter().filter_map(|own| {
        let bytes = Bytes::of(function, copies, front(own), call)?;
        let ends = reading.compared && duplicated(function, &bytes.root, call).is_none();
        (!ends && !bytes.may_end(function, call)).then_some(bytes)
    });
    let bytes = found.next()?;
    let text = words(function, bytes.place);
    if known.contains(&text) {
        return None;
    }
    let by = &reading.by;
    let message = format!("{by} reads {text} up to a 0, and the user need not have sent one");
    let mut violation = file.violation(&INFO, call, "reads on", message);
    let copied = file.mark(bytes.copied, "copies bytes");
    violation.related.push(copied);
    known.push(text);
    Some(violation)
}

/// A string that lasts, and of which a longer one before leaves what lies behind.
fn stale(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = stale_tail(function, access)?;
    let message = format!(
        "nothing puts a 0 behind what is copied to {}, which {} reads: what was longer before goes on there",
        own.array, own.by
    );
    Some(
        function
            .file
            .violation(&INFO, access.span, "no end", message),
    )
}

/// A string that may have been cut off, as if it were whole.
fn cut_off(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let cut = cut_string(function, call)?;
    let file = function.file;
    let object = file.plain(cut.object.span);
    let message = format!(
        "{}() puts no 0 behind a string that fills {object}, and nothing asks whether it did",
        cut.name
    );
    Some(file.violation(&INFO, span(call), "may be cut off", message))
}

/// A string that is read from the front of a buffer which the user may have filled from the middle
/// on.
fn in_front(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let own = placed(function, call)?;
    let behind = function.calls.iter();
    let behind = behind.filter(|other| other.start_byte() >= call.end_byte());
    let mut read = behind.filter_map(|other| {
        let mut all = readings(function, *other).into_iter();
        let reads = all.find(|own_reading| own_reading.string.root().name() == Some(&own.name));
        reads.map(|reading| (span(*other), reading.by))
    });
    let (at, by) = read.next()?;
    let file = function.file;
    let message = format!(
        "{by} reads {} from its front, and {} says from which byte on the user has filled it: what lies before \
         that is not set",
        own.name, own.position
    );
    let mut violation = file.violation(&INFO, at, "reads what nothing has set", message);
    violation
        .related
        .push(file.mark(span(call), "filled from the position on"));
    Some(violation)
}

/// A string that is copied by a length which was asked for before.
fn changed(function: &FunctionContext<'_>, own: &Measured) -> Violation {
    let file = function.file;
    let message = format!(
        "{} is copied as far as its 0 stood on line {}, and the program may have taken that away since",
        own.name,
        function.line(own.by)
    );
    let mut violation = file.violation(&INFO, own.copied, "may have no 0", message);
    violation.related.push(file.mark(own.by, "measured here"));
    violation
}

/// Bytes that were copied from the user into an object of the kernel's.
struct Bytes<'e> {
    /// The object, as it is named where it is read.
    place: &'e Expression,
    /// The variable that it is or lies in.
    root: String,
    /// Others that lead to it.
    aliases: Vec<String>,
    /// Where they were copied.
    copied: Span,
    /// Whether that leaves nothing of what lay there before.
    full: bool,
}

impl<'e> Bytes<'e> {
    /// Those that were copied before a place into an array, behind a pointer or into the
    /// struct that an array lies in.
    fn of(
        function: &FunctionContext<'_>,
        copies: &[Copy],
        place: &'e Expression,
        at: Span,
    ) -> Option<Self> {
        let named = place.root().name()?;
        if place.pointer().is_some() {
            return Self::behind(function, place, at);
        }
        if let Some((root, copied)) = full(function, copies, (place, named), at) {
            return Some(Self {
                place,
                aliases: aliases(function, &root),
                copied,
                full: true,
                root,
            });
        }
        let origin = origin(function, named).filter(|_| place.name().is_some());
        let root = origin.unwrap_or_else(|| named.to_owned());
        let local = function.local_at(&root, place.span)?;
        let whole = match &place.term {
            Term::Name(_) => {
                !local.initialised || !local.array || begins_with_text(function, local)
            }
            Term::Member { .. } => local.plain && is_array(function, place),
            _ => false,
        };
        let mut reads = copies.iter().filter(|_| whole);
        let read = reads.find(|copy| copy.root == root && copy.span.end <= at.start);
        let copied = read.map(|copy| copy.span);
        let copied = copied.filter(|_| !is_zeroed(function, &root));
        let copied = copied.or_else(|| duplicated(function, &root, at).filter(|_| whole));
        Some(Self {
            place,
            aliases: aliases(function, &root),
            copied: copied?,
            full: false,
            root,
        })
    }

    /// Those that were copied into the same array behind a pointer, or into all of the structure
    /// that it leads to.
    fn behind(function: &FunctionContext<'_>, place: &'e Expression, at: Span) -> Option<Self> {
        let array = matches!(place.term, Term::Member { .. }) && is_array(function, place);
        let mut reads = function.accesses.iter().filter(|access| {
            let copies = access.word.direction == Direction::Read && access.word.count.is_some();
            array && copies && access.span.end <= at.start
        });
        let holder = match &place.term {
            Term::Member { holder, arrow, .. } if *arrow && array => Some(&**holder),
            _ => None,
        };
        let copied = reads.find_map(|access| {
            let filled = function.expression_of(access.value_node);
            let filled = filled.uncast().1;
            let count = access.bytes.as_ref();
            let all = holder.is_some_and(|own| {
                own == filled && count.is_some_and(|count| is_size_behind(count, own))
            });
            let whole = || {
                let count = count.and_then(|own| space::bytes(function, own));
                let size = space::type_of(function, place).map(|own| own.size);
                count.is_some() && count == size
            };
            (filled == place || all).then(|| (access.span, all || whole()))
        });
        let doubled = || doubled(function, holder?, at).map(|own| (own, true));
        let (copied, full) = copied.or_else(doubled)?;
        let root = place.root().name()?.to_owned();
        Some(Self {
            place,
            aliases: aliases(function, &root),
            root,
            copied,
            full,
        })
    }

    /// Whether anything but the copy may have put a 0 there before a place.
    fn may_end(&self, function: &FunctionContext<'_>, at: Span) -> bool {
        let words = function.file.words;
        let mut ended = false;
        let holds = |own: &Expression| self.holds(function, own);
        let mut hanging = Hanging::new(&holds);
        function.each_of(&MAY_END, |node| {
            let before = node.end_byte() <= at.start && !self.copied.contains(span(node));
            // A 0 that was there before is copied over.
            let gone = self.full && node.end_byte() <= self.copied.start;
            if !before || gone || ended {
                return;
            }
            let own = function.expression_of(node);
            ended = match &own.term {
                // An element is set: `buf[n] = 0`, `*end = 0`.
                Term::Assignment(left, ..) => {
                    let sets = self.may_hold(function, left) && left.name().is_none();
                    sets && !hanging.takes(function, node)
                }
                Term::Call(..) if is_no_end(function, &own, at) => false,
                Term::Call(..) => own.call().is_none_or(|(name, given)| {
                    let copies = words.access(name).is_some()
                        || words.allocates(name).is_some()
                        || !words.reads_strings(name).is_empty()
                        || words.tells_errors(name)
                        || words.frees(name)
                        || words.permission(name) == Permission::Allowed
                        || words.results().looks(name);
                    let fills = words.fills(name).and_then(|own| given.get(own.object));
                    fills.is_some_and(|own| self.holds(function, own))
                        || !copies
                            && given
                                .iter()
                                .any(|own| self.is_given(function, own) && !is_byte(own))
                }),
                _ => false,
            };
        });
        ended || hanging.may_end(function, at)
    }

    /// Whether a place may lie in the object: another member of its struct does not.
    fn may_hold(&self, function: &FunctionContext<'_>, place: &Expression) -> bool {
        let member = |own: &Expression| matches!(own.term, Term::Member { .. });
        let apart = member(self.place) && place.any(&member);
        self.holds(function, place) && (!apart || place.any(&|part| part == self.place))
    }

    /// Whether a call that is given that may reach the object: by the address or the value of
    /// another member of its struct it does not.
    fn is_given(&self, function: &FunctionContext<'_>, given: &Expression) -> bool {
        let own = match &given.uncast().1.term {
            Term::Address(place) => place,
            _ => given.uncast().1,
        };
        let member = |own: &Expression| matches!(own.term, Term::Member { .. });
        let apart = member(self.place) && member(own) && own.root().name() == Some(&self.root);
        let in_other = !own.any(&|part| part == self.place) && !self.place.any(&|part| part == own);
        self.holds(function, given) && !(apart && in_other)
    }

    /// Whether an expression leads to the object: its size does not, nor what only looks at it.
    fn holds(&self, function: &FunctionContext<'_>, own: &Expression) -> bool {
        let is = |name: &str| name == self.root || self.aliases.iter().any(|own| own == name);
        let looks = |name: &str| function.file.words.results().looks(name);
        match &own.term {
            Term::Name(name) => is(name),
            Term::SizeOf(_) => false,
            Term::Call(..) if own.call().is_some_and(|(name, _)| looks(name)) => false,
            _ => own
                .parts()
                .into_iter()
                .any(|part| self.holds(function, part)),
        }
    }
}

/// Whether a call only looks for a byte, and what is read has no 0 by that: it is another byte, or a 0 is
/// refused.
fn is_no_end(function: &FunctionContext<'_>, call: &Expression, at: Span) -> bool {
    match looks_for_end(function, call) {
        Some(true) => is_refused(function, call, at),
        Some(false) => true,
        None => false,
    }
}

/// `s[n]`, `*s`: whoever is given one byte of a string does not know where it lies.
fn is_byte(own: &Expression) -> bool {
    match &own.uncast().1.term {
        Term::Element { array: of, .. } | Term::Behind(of) => of.name().is_some(),
        _ => false,
    }
}

fn is_array(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let of = space::type_of(function, place);
    of.is_some_and(|of| matches!(of.shape, Shape::Array(..)))
}

/// Whether the memory that a variable leads to was all 0 before.
fn is_zeroed(function: &FunctionContext<'_>, root: &str) -> bool {
    let words = function.file.words;
    let mut values = function
        .graph
        .assignments()
        .filter(|(name, _)| *name == root);
    values.any(|(_, value)| {
        let value = function.expression(value);
        // A text that the array begins with is written over, its 0 is not.
        if value
            .as_ref()
            .and_then(|own| literal(own))
            .is_some_and(|own| !own.is_empty())
        {
            return false;
        }
        let allocates = value.as_ref().and_then(|own| own.uncast().1.call());
        let known = allocates.and_then(|(name, _)| {
            let page = words.results().gives_page(name).map(|own| own.zeroed);
            words.allocates(name).map(|own| own.zeroed).or(page)
        });
        known.unwrap_or(true)
    })
}

/// Whether an array begins with a text, over which as many bytes are copied as a program says.
fn begins_with_text(function: &FunctionContext<'_>, local: &Local) -> bool {
    let mut values = function.graph.assignments();
    let text = values.any(|(name, value)| {
        let own = name == local.name && local.declared.contains(value);
        let value = function.expression(value).filter(|_| own);
        value
            .and_then(|own| literal(&own))
            .is_some_and(|own| !own.is_empty())
    });
    let mut accesses = function.accesses.iter();
    text && accesses.any(|own| {
        let count = own.bytes.as_ref().filter(|_| own.value_root == local.name);
        count.is_some_and(|count| space::bytes(function, count).is_none())
    })
}

/// Where the variable takes a copy of the user's bytes, which is all that it takes.
fn duplicated(function: &FunctionContext<'_>, root: &str, at: Span) -> Option<Span> {
    let values = function
        .graph
        .assignments()
        .filter(|(name, _)| *name == root);
    let mut values = values.filter_map(|(_, value)| function.expression(value));
    let own = values.find(|own| !own.is_null())?;
    let (name, _) = own.uncast().1.call()?;
    let alone = values.next().is_none() && own.span.end <= at.start;
    (alone && function.duplicates(name).is_some()).then_some(own.span)
}

/// Where a pointer takes a copy of all of the user's structure: `p = memdup_user(u, sizeof(*p))`.
fn doubled(function: &FunctionContext<'_>, pointer: &Expression, at: Span) -> Option<Span> {
    let copied = duplicated(function, pointer.name()?, at)?;
    let made = function.expression(copied)?;
    let (name, given) = made.uncast().1.call()?;
    let count = given.get(function.duplicates(name)?.count)?;
    is_size_behind(count, pointer).then_some(copied)
}

/// `sizeof(*p)` of a pointer.
fn is_size_behind(count: &Expression, pointer: &Expression) -> bool {
    match &count.uncast().1.term {
        Term::SizeOf(of) => matches!(&of.term, Term::Behind(own) if **own == *pointer),
        _ => false,
    }
}

/// The variable that a copy before a place may fill to the last byte, and that copy: what is
/// read there is it or lies in it, or is a pointer that has taken its value once.
fn full(
    function: &FunctionContext<'_>,
    copies: &[Copy],
    (place, named): (&Expression, &str),
    at: Span,
) -> Option<(String, Span)> {
    let pointer = place.name().is_some();
    let values = function.graph.assignments();
    let values = values.filter(|(name, value)| *name == named && value.end <= at.start);
    let values = values.filter_map(|(_, value)| function.expression(value));
    let roots = values.filter(|_| pointer);
    let roots = roots.filter_map(|value| Some(value.uncast().1.name()?.to_owned()));
    let mut all = std::iter::once(named.to_owned()).chain(roots);
    all.find_map(|root| {
        let copied = filling(function, copies, (place, &root), at)?;
        Some((root, copied))
    })
}

/// The variable whose value a pointer of the function begins with, which takes no other but
/// what is made of itself: `at = data; at += 4;`.
fn origin(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    let graph = function.graph;
    let steps =
        |effect: &Effect| matches!(&effect.kind, EffectKind::Write(write) if write.compound);
    let taken = graph
        .effects
        .iter()
        .filter(|effect| graph.is_whole(effect) && graph.name_of(effect) == name && !steps(effect));
    let values = taken.filter_map(|effect| match &effect.kind {
        EffectKind::Write(write) => function.expression(write.value?),
        _ => None,
    });
    let mut others = values.filter(|own| !own.any(&|part| part.name() == Some(name)));
    let first = others.next()?;
    let own = front(first.uncast().1)
        .name()
        .filter(|_| others.next().is_none())?;
    function.local_at(own, first.span)?;
    Some(own.to_owned())
}

/// The other variables that may lead to an object, by which a 0 may be put there, one by the
/// other.
fn aliases(function: &FunctionContext<'_>, root: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    loop {
        let known = |name: &str| name == root || found.iter().any(|own| own == name);
        let mut values = function.graph.assignments();
        let next = values.find(|(name, value)| {
            let own = || function.expression(*value);
            !known(name) && own().is_some_and(|own| leads_to(function, &own, &known))
        });
        let Some((name, _)) = next else {
            return found;
        };
        let name = name.to_owned();
        found.push(name);
    }
}

fn leads_to(
    function: &FunctionContext<'_>,
    own: &Expression,
    known: &dyn Fn(&str) -> bool,
) -> bool {
    let own = own.uncast().1;
    match &own.term {
        Term::Name(name) => known(name),
        Term::Address(place) => place.root().name().is_some_and(known),
        Term::Binary(left, _, _) => leads_to(function, left, known),
        Term::Call(_, given) => {
            let first = given.first();
            let looks = looks_for_end(function, own).is_some();
            looks && first.is_some_and(|own| leads_to(function, own, known))
        }
        _ => false,
    }
}
