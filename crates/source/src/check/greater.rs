//! Copies by the greater of two numbers: as many bytes as the program has room for, or gives, where as many
//! as there are were only held to be no more.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::bounded::{asks_for_less, is_compared_before, refuses_less};
use super::context::{FileContext, FunctionContext};
use super::space;
use super::tokens::parameters;
use super::unbounded::is_handed_before;

/// A copy by the greater one.
pub(crate) struct Greater {
    /// How many bytes are copied.
    number: Expression,
    /// How many there are.
    amount: Expression,
    /// Where less than that is refused.
    asked: Span,
}

impl Greater {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, amount] = [&self.number, &self.amount].map(|own| file.plain(own.span));
        let told = format!(
            "{number} bytes are copied, of which no more than {amount} are there, and only less is refused"
        );
        (told, self.asked)
    }
}

/// `if (m->len > room) return -EMSGSIZE;` and then `copy_to_user(to, m->data, room)`.
pub(crate) fn greater(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Greater> {
    let number = access.bytes.as_ref()?.uncast().1;
    let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
    let root = number.root().name().filter(|_| place)?;
    let value = function.expression_of(access.value_node);
    let object = value.uncast().1;
    // What a call gives has no other name.
    let front = matches!(
        object.term,
        Term::Name(_) | Term::Member { .. } | Term::Call(..)
    );
    (front && object.root().name() != Some(root)).then_some(())?;
    let mut asked: Option<(Expression, Span)> = None;
    function.each_of(&["binary_expression"], |node| {
        let at = span(node);
        let orders = compares(function.context.operator(node)) && at.end <= access.span.start;
        if asked.is_some() || !orders || !function.graph.names(at, root) {
            return;
        }
        let is = |own: &Expression| own == number;
        if asks_for_less(function, node, is) && refuses_less(function, node, is) {
            asked = other(&function.expression_of(node), number).map(|own| (own, at));
        }
    });
    let (amount, asked) = asked?;
    let known = space::bytes(function, &amount).is_none()
        && (is_room(function, object, &amount, access.span)
            || is_paired(function, access, number) && is_amount(function, object, &amount)
            || is_told_of(function, access, number) && is_filled(function, &amount, asked));
    (known && space::bytes(function, number).is_none()).then_some(())?;
    function.pays()?;
    let bounded = is_compared_before(function, number, asked, access.span)
        || is_handed_before(function, number, access.span)
        || number.name().is_some_and(|name| {
            function.graph.only_value(name).is_none() && function.graph.takes_a_value(name)
        });
    let always = function.graph.passes(&[asked], access.span);
    (always && !bounded).then(|| Greater {
        number: number.clone(),
        amount,
        asked,
    })
}

/// What a comparison holds a number against.
fn other(whole: &Expression, number: &Expression) -> Option<Expression> {
    let Term::Binary(left, _, right) = &whole.term else {
        return None;
    };
    let (left, right) = (left.uncast().1, right.uncast().1);
    let other = if left == number { right } else { left };
    matches!(other.term, Term::Name(_) | Term::Member { .. }).then(|| other.clone())
}

/// Whether the object is memory that was allocated for so many bytes.
fn is_room(
    function: &FunctionContext<'_>,
    object: &Expression,
    amount: &Expression,
    at: Span,
) -> bool {
    let memory = object
        .name()
        .and_then(|name| Allocation::of(function, name, at));
    memory.is_some_and(|own| own.is_of_bytes(function, amount))
}

/// Whether a number is the parameter right behind the user's pointer: how much the program has.
fn is_paired(function: &FunctionContext<'_>, access: &Access<'_>, number: &Expression) -> bool {
    let file = function.file;
    let own = number.name().filter(|own| function.is_parameter(own));
    let all = own.and_then(|_| parameters(file.text, file.tokens, function.body));
    let pair = |two: &[String]| match two {
        [pointer, count] => *pointer == access.user_root && Some(count.as_str()) == own,
        _ => false,
    };
    all.is_some_and(|all| all.windows(2).any(pair))
}

/// Whether one structure of the program's says where its memory is, and how much it has.
fn is_told_of(function: &FunctionContext<'_>, access: &Access<'_>, number: &Expression) -> bool {
    let root = number.root();
    let address = function.expression(access.user);
    let place = matches!(number.term, Term::Member { .. });
    let of_it = |part: &Expression| {
        matches!(part.term, Term::Member { .. }) && part != number && part.root() == root
    };
    place && address.is_some_and(|own| own.any(&of_it))
}

/// Whether a call has told an amount by its address.
fn is_filled(function: &FunctionContext<'_>, amount: &Expression, at: Span) -> bool {
    let Some(name) = amount.name() else {
        return false;
    };
    let graph = function.graph;
    let given = graph.effects.iter().any(|own| {
        let told = matches!(own.kind, EffectKind::Handed { by_address: true });
        told && own.span.end <= at.start && graph.name_of(own) == name
    });
    graph.local(name).is_some() && given
}

/// Whether an amount is said by what the object is a member of: `m->len` of `m->data`, or a variable that
/// is made of that.
fn is_amount(function: &FunctionContext<'_>, object: &Expression, amount: &Expression) -> bool {
    let holder = match &object.term {
        Term::Member { holder, .. } => Some(&**holder),
        _ => None,
    };
    let of_it = |own: &Expression| matches!(&own.term, Term::Member { holder: own, .. } if Some(&**own) == holder);
    let made = || {
        let value = function.graph.only_value(amount.name()?)?;
        function.expression(value)
    };
    holder.is_some() && (of_it(amount) || made().is_some_and(|own| own.any(&of_it)))
}
