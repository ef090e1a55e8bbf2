use tree_sitter::Node;

use crate::check::accesses::Access;
use crate::check::behind_given::behind_given;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::told_less::{ToldLess, told_less, told_less_by};
use crate::check::unasked_room::{UnaskedRoom, unasked_room};
use crate::expression::{Expression, Term};
use crate::flow::Effect;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "beyond-argument",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "more bytes are copied than the argument of a case's command has",
    why: "A command's number says how large its argument is. A case that serves an older command as well, \
          with a shorter argument, and copies as much as the newer one has, reads or writes over what lies \
          behind it.",
};

/// Where a command's number has the size of its argument: 14 bits, or 13 where an
/// architecture says in three which way it goes (`include/uapi/asm-generic/ioctl.h`).
const SIZE: (u64, u64) = (16, 0x1fff);

/// Bytes of an `int`.
const INT: u64 = 4;

/// So many commands of a case are looked at.
const LABELS: usize = 16;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses.iter().filter(|own| !own.inside) {
        let told = wrong(function, access)
            .or_else(|| wide(function, access))
            .or_else(|| goes_on(function, access));
        let beside = || {
            let own = told_less(function, access)?;
            Some(beside(function, (access.span, &access.word.name), &own))
        };
        out.extend(told.or_else(beside));
    }
    out.extend(unasked_room(function).map(|own| whole(function, &own)));
    for call in function.calls {
        let told = told_less_by(function, *call).zip(function.callee(*call));
        out.extend(told.map(|(own, name)| beside(function, (span(*call), name), &own)));
    }
}

/// More bytes than the size that is given beside the pointer has to say: `if (len < sizeof(short)) return
/// -EINVAL;` in front of `get_user(n, (int __user *)p)`.
fn beside(function: &FunctionContext<'_>, (at, name): (Span, &str), own: &ToldLess) -> Violation {
    let message = format!(
        "{name}() takes {} bytes, and {} may say that there are {}",
        own.bytes, own.number, own.least
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, at, "more than there is", message);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(own.asked, "held against that"));
    violation
}

/// As many bytes as read() or write() is given, from behind the front of them on.
fn goes_on(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = behind_given(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() copies {} bytes, which is how many there are from the front on, and begins behind that",
        access.word.name, own.count
    );
    let mut violation = file.violation(&INFO, access.span, "more than there is", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.by, "so far behind"));
    Some(violation)
}

/// Bytes of a read() that nothing holds against how many the program has asked for.
fn whole(function: &FunctionContext<'_>, own: &UnaskedRoom<'_, '_>) -> Violation {
    let (file, access) = (function.file, own.access);
    let message = format!(
        "{}() writes to {}, and nothing asks how many bytes {} says that it has",
        access.word.name,
        file.plain(access.user),
        own.count
    );
    let mut violation = file.violation(&INFO, access.span, "more than there may be", message);
    violation.confidence = Confidence::Medium;
    violation
}

/// One value of more bytes than the argument of the only command of a case has: `put_user(n, (long __user
/// *)arg)` behind an `_IOR('x', 1, int)`.
fn wide(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    access.word.count.is_none().then_some(())?;
    is_argument(function, &access.address).then_some(())?;
    let case = Case::around(function, access.node)?;
    let [label] = case.labels.as_slice() else {
        return None;
    };
    let user = function.expression(access.user)?;
    let of = space::pointee(function, &user)?;
    let bytes = function.file.layout(&of)?.size;
    // Few commands have less than an int, and each is a macro of some header.
    (bytes > INT).then_some(())?;
    let size = size(function, label)?;
    let wrong = (1..bytes).contains(&size) && !case.asks(function, access, label);
    wrong.then(|| {
        let message = format!(
            "{}() takes {bytes} bytes, and the argument of {label} has {size}",
            access.word.name
        );
        let file = function.file;
        file.violation(&INFO, access.span, "more than there is", message)
    })
}

fn wrong(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?;
    let case = Case::around(function, access.node).filter(|own| own.labels.len() > 1)?;
    is_argument(function, &access.address).then_some(())?;
    // Last what takes longest: each command is a macro of some header.
    let bytes = space::bytes(function, count)?;
    let sizes: Option<Vec<(&String, u64)>> = case
        .labels
        .iter()
        .map(|own| Some((own, size(function, own)?)))
        .collect();
    let sizes = sizes?;
    sizes.iter().any(|(_, size)| *size == bytes).then_some(())?;
    // An old command may not say how much it has.
    // It may say that it is a pointer, whose size that then is: `_IOW('x', 1, struct s *)`.
    let pointer = function.file.layout("void *").map(|of| of.size);
    let short = |size: u64| (1..bytes).contains(&size) && Some(size) != pointer;
    let (short, size) = sizes
        .iter()
        .find(|(name, size)| short(*size) && !case.asks(function, access, name))?;
    let message = format!(
        "{}() copies {bytes} bytes, and the case is {short}'s as well, whose argument has {size}",
        access.word.name
    );
    let file = function.file;
    Some(file.violation(
        &INFO,
        access.span,
        "as much as another command has",
        message,
    ))
}

/// A case of one command or of several.
struct Case<'t> {
    /// What is done.
    node: Node<'t>,
    /// What says which command it is.
    command: String,
    /// Its commands, by their names.
    labels: Vec<String>,
}

impl<'t> Case<'t> {
    /// The one around an access.
    fn around(function: &FunctionContext<'t>, access: Node<'t>) -> Option<Self> {
        let mut around = function.around(access);
        let node = around.find(|own| own.known_kind() == "case_statement")?;
        let switch = around.find(|own| own.known_kind() == "switch_statement")?;
        let command = Expression::of(function.context, switch.part("condition")?);
        let command = command.uncast().1.name()?.to_owned();
        let before = std::iter::successors(node.prev_named_sibling(), Node::prev_named_sibling);
        let before = before.filter(|own| own.known_kind() != "comment");
        let before =
            before.take_while(|own| own.known_kind() == "case_statement" && is_empty(*own));
        let label = |own: Node<'_>| {
            let value = own.part("value")?;
            Expression::of(function.context, value)
                .name()
                .map(str::to_owned)
        };
        let labels = std::iter::once(node).chain(before).take(LABELS).map(label);
        let labels: Vec<String> = labels.collect::<Option<_>>()?;
        Some(Self {
            node,
            command,
            labels,
        })
    }

    /// Whether the case asks before the access which command it is, and not by the name of
    /// another one alone, or something that was known before it.
    fn asks(&self, function: &FunctionContext<'_>, access: &Access<'_>, label: &str) -> bool {
        let mut asked = false;
        function.each_of(
            &["if_statement", "conditional_expression", "switch_statement"],
            |own| {
                let condition = own.part("condition").map(span);
                let here =
                    span(self.node).contains(span(own)) && own.start_byte() < access.span.end;
                let Some(condition) = condition.filter(|_| here && !asked) else {
                    return;
                };
                let whole = function.expression(condition);
                // `if (compat)`
                let known = whole.as_ref().and_then(|own| not(own).name());
                asked |= known.is_some_and(|name| !self.sets(function, name));
                if asked || !self.is_named(function, condition) {
                    return;
                }
                asked |= span(own).contains(access.span) && !condition.contains(access.span);
                let names = |name: &str| {
                    let named = |part: &Expression| part.name() == Some(name);
                    whole.as_ref().is_none_or(|own| own.any(&named))
                };
                let mut others = self.labels.iter().filter(|own| *own != label);
                asked |= names(label) || !others.any(|own| names(own));
            },
        );
        asked
    }

    /// Whether a condition names the command, and not only to copy as much as that says.
    fn is_named(&self, function: &FunctionContext<'_>, condition: Span) -> bool {
        let copies = |own: &Effect| {
            let mut accesses = function.accesses.iter();
            accesses.any(|access| access.span.contains(own.span))
        };
        let mut effects = function.graph.effects_in(condition);
        effects.any(|own| function.graph.name_of(own) == self.command && !copies(own))
    }

    /// Whether a variable takes a value in the case.
    fn sets(&self, function: &FunctionContext<'_>, name: &str) -> bool {
        let mut values = function.graph.assignments();
        values.any(|(own, value)| own == name && span(self.node).contains(value))
    }
}

/// What is asked, whether it is so or not.
fn not(asked: &Expression) -> &Expression {
    match &asked.term {
        Term::Unary(sign, inner) if sign == "!" => not(inner),
        _ => asked.uncast().1,
    }
}

/// Whether nothing is done in a case, which then goes on with the next one.
fn is_empty(case: Node<'_>) -> bool {
    let mut cursor = case.walk();
    let value = case.part("value");
    case.named_children(&mut cursor)
        .all(|own| Some(own) == value || own.known_kind() == "comment")
}

/// Whether an address is what the function is given as such, from its front on: a parameter, or
/// a variable that is nothing else.
fn is_argument(function: &FunctionContext<'_>, address: &Expression) -> bool {
    let Some(name) = address.name() else {
        return false;
    };
    let kept = |name: &str| function.is_parameter(name) && !function.graph.takes_a_value(name);
    let same = || {
        let value = function.expression(function.graph.only_value(name)?)?;
        match &value.uncast().1.term {
            Term::Name(own) => Some(kept(own)),
            _ => Some(false),
        }
    };
    kept(name) || function.graph.local(name).is_some() && same() == Some(true)
}

/// How many bytes the argument of a command has, as its number says.
fn size(function: &FunctionContext<'_>, command: &str) -> Option<u64> {
    let (at, mask) = SIZE;
    function
        .file
        .value(command)
        .map(|number| number >> at & mask)
}
