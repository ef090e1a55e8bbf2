//! Pages of the user's that a call pinned: a reference alone is no pin, and those of earlier rounds
//! stay pinned where a later one fails.

use tree_sitter::Node;

use crate::calls::OfPages;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::callee::look_into;
use super::context::FunctionContext;
use super::other_heap::OtherHeap;

/// A call that finds pages of the user's, and the array that it puts them in.
struct Found {
    call: Span,
    name: String,
    array: Expression,
    pins: bool,
}

/// All of a function.
fn found(function: &FunctionContext<'_>) -> Vec<Found> {
    let calls = function.calls.iter();
    let all = calls.filter_map(|call| {
        let name = function.callee(*call)?;
        let OfPages { at, pinned, .. } = function.file.words.pages(name)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        Some(Found {
            call: span(*call),
            name: name.to_owned(),
            array: front(function, given.get(at)?),
            pins: pinned,
        })
    });
    all.collect()
}

/// Where an address begins: `pages` of `pages + n`, `&pages[n]` and a variable that is only either.
fn front(function: &FunctionContext<'_>, address: &Expression) -> Expression {
    let own = address.uncast().1;
    match &own.term {
        Term::Binary(left, operator, _) if operator == "+" => left.uncast().1.clone(),
        Term::Address(of) => match &of.term {
            Term::Element { array, .. } => array.uncast().1.clone(),
            _ => (**of).clone(),
        },
        Term::Name(name) => {
            let value = function.graph.only_value(name);
            let value = value.and_then(|value| function.expression(value));
            let sum = value
                .filter(|own| matches!(own.uncast().1.term, Term::Binary(..) | Term::Address(_)));
            sum.map_or_else(|| own.clone(), |value| front(function, &value))
        }
        _ => own.clone(),
    }
}

/// Pages that were pinned, of which a call gives back a reference alone.
pub(crate) fn dropped(function: &FunctionContext<'_>) -> Vec<OtherHeap> {
    let words = function.file.words;
    let calls = function.calls.iter();
    let drops = calls.filter_map(|call| {
        let name = function.callee(*call)?;
        words.drops_page(name).then_some(())?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let page = given.first()?.uncast().1.clone();
        Some((span(*call), name.to_owned(), page))
    });
    let drops: Vec<(Span, String, Expression)> = drops.collect();
    if drops.is_empty() {
        return Vec::new();
    }
    let found = found(function);
    let all = drops.into_iter().filter_map(|released| {
        let (at, name, page) = released;
        let known = |array: &Expression| {
            (!unpins(function, array)).then_some(())?;
            here(&found, array).or_else(|| elsewhere(function, array))
        };
        let given = array_of(function, &page)
            .and_then(|array| known(&array))
            .or_else(|| beside(function, &page))?;
        Some(OtherHeap {
            what: function.file.plain(page.span),
            given,
            released: (at, name),
        })
    });
    all.collect()
}

/// The call of the function that pinned a page, where no other one finds any for the same array.
fn here(found: &[Found], array: &Expression) -> Option<(Span, String)> {
    only(found.iter().filter(|own| own.array == *array))
}

/// Whether the function gives back pins of the array as well: it knows which pages have one.
fn unpins(function: &FunctionContext<'_>, array: &Expression) -> bool {
    function.calls.iter().any(|call| {
        let name = function.callee(*call);
        let own = name.is_some_and(|name| function.file.words.unpins(name));
        own && function.expression_of(*call).any(&|part| part == array)
    })
}

/// The one call that pins, if all of some do.
fn only<'f>(mut all: impl Iterator<Item = &'f Found>) -> Option<(Span, String)> {
    let first = all.next()?;
    let pins = first.pins && all.all(|own| own.pins);
    pins.then(|| (first.call, first.name.clone()))
}

/// The array of a page: `pages` of `pages[i]`, and of a variable that takes nothing else.
fn array_of(function: &FunctionContext<'_>, page: &Expression) -> Option<Expression> {
    match &page.term {
        Term::Element { array, .. } => Some(array.uncast().1.clone()),
        Term::Behind(of) => Some(front(function, of)),
        Term::Name(name) => {
            let values = values(function, name);
            let mut arrays = values.iter().map(|value| match &value.term {
                Term::Element { array, .. } => Some(array.uncast().1),
                _ => None,
            });
            match arrays.next() {
                Some(first) => {
                    let first = first?.clone();
                    let same = arrays.all(|own| own == Some(&first));
                    same.then_some(first)
                }
                // `pin_user_pages(at, 1, flags, &page)`, `release_pages(pages, n)`
                None => Some(page.clone()),
            }
        }
        Term::Member { .. } => Some(page.clone()),
        _ => None,
    }
}

/// What a variable takes, but for nothing.
fn values(function: &FunctionContext<'_>, name: &str) -> Vec<Expression> {
    let values = function.graph.assignments().filter(|(own, _)| *own == name);
    let values = values.filter_map(|(_, value)| function.expression(value));
    let values = values.map(|value| value.uncast().1.clone());
    values.filter(|value| !value.is_null()).collect()
}

/// The call that gives back the pin of another page which the function has by the same call.
fn beside(function: &FunctionContext<'_>, page: &Expression) -> Option<(Span, String)> {
    let words = function.file.words;
    let own = giver(function, page)?;
    // What takes a reference by itself has nothing to do with pins.
    let takes = words.takes(&own) || words.owner_named(&own).iter().any(|own| own.takes);
    (!takes).then_some(())?;
    function.calls.iter().find_map(|call| {
        let name = function.callee(*call)?;
        words.unpins(name).then_some(())?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let other = given.first()?.uncast().1;
        let same = other != page && giver(function, other)? == own;
        same.then(|| (span(*call), own.clone()))
    })
}

/// The call that gives a variable all that it holds.
fn giver(function: &FunctionContext<'_>, page: &Expression) -> Option<String> {
    let values = values(function, page.name()?);
    let mut names = values.iter().map(|value| value.call().map(|own| own.0));
    let first = names.next()??;
    names
        .all(|own| own == Some(first))
        .then(|| first.to_owned())
}

/// The call of another function of the file that pins the pages of a member, where none finds any for
/// it in another way.
fn elsewhere(function: &FunctionContext<'_>, array: &Expression) -> Option<(Span, String)> {
    let Term::Member { field, .. } = &array.term else {
        return None;
    };
    let file = function.file;
    let finds = |body: &&Body| {
        let tokens = file.tokens_of(body);
        let has = |word: &[u8]| tokens.iter().any(|own| own.span.of(file.text) == word);
        let pages = || {
            let mut names = tokens
                .iter()
                .filter_map(|own| tollgate_defect::answer::text(own.span.of(file.text)));
            names.any(|name| file.words.pages(name).is_some())
        };
        has(field.as_bytes()) && pages()
    };
    let mut all = Vec::new();
    for body in file.bodies.iter().filter(finds) {
        let own = |callee: &FunctionContext<'_>| Some(of_member(callee, field));
        all.extend(look_into(function, &body.name, own)?);
    }
    only(all.iter())
}

/// The calls of a function that find pages for a member of that name.
fn of_member(function: &FunctionContext<'_>, field: &str) -> Vec<Found> {
    let is = |own: &Expression| matches!(&own.uncast().1.term, Term::Member { field: own, .. } if own == field);
    let kept = |array: &Expression| {
        let mut found = false;
        function.each_of(&["assignment_expression"], |node| {
            found |= match &function.expression_of(node).term {
                Term::Assignment(left, operator, value) => {
                    operator == "=" && is(left) && value.uncast().1 == array
                }
                _ => false,
            };
        });
        found
    };
    let mut all = found(function);
    all.retain(|own| is(&own.array) || own.array.name().is_some() && kept(&own.array));
    all
}

/// Pins of a loop's earlier rounds that are lost.
pub(crate) struct Left {
    /// The call that pins.
    pub(crate) pinned: Span,
    /// The array.
    pub(crate) array: String,
    /// Where the array is freed.
    pub(crate) freed: Span,
}

/// The arrays of pages that are freed with the pins in them, where the call that pins more fails.
pub(crate) fn left_pinned(function: &FunctionContext<'_>) -> Vec<Left> {
    let found = found(function);
    let pins = found.iter().filter(|own| own.pins);
    pins.filter_map(|own| of_rounds(function, own)).collect()
}

fn of_rounds(function: &FunctionContext<'_>, pinned: &Found) -> Option<Left> {
    let round = function.leads(pinned.call, pinned.call);
    let root = pinned.array.root().name().filter(|_| round)?;
    let words = function.file.words;
    let given = function
        .calls
        .iter()
        .filter(|call| span(**call) != pinned.call && function.graph.names(span(**call), root));
    let (frees, others): (Vec<&Node<'_>>, Vec<&Node<'_>>) = given.partition(|call| {
        let name = function.callee(**call);
        name.is_some_and(|name| words.frees(name))
    });
    // Another way back to the call is another round.
    let stops: Vec<usize> = function.graph.nodes_in(pinned.call).collect();
    let behind = function
        .graph
        .reached_behind_any(stops.iter().copied(), |_| false);
    let freed = frees.into_iter().map(|call| span(*call)).find(|freed| {
        let mut nodes = function.graph.nodes_in(*freed);
        let reached =
            nodes.any(|node| behind.contains(&node)) && !function.leads(*freed, pinned.call);
        let given_back = |call: &&Node<'_>| {
            let own = span(**call);
            function.leads(pinned.call, own) && function.leads(own, *freed)
        };
        reached && !others.iter().any(given_back)
    })?;
    Some(Left {
        pinned: pinned.call,
        array: function.file.plain(pinned.array.span),
        freed,
    })
}
