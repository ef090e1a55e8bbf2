//! The accesses of a function in the order of the text, with what their
//! arguments are.

use std::borrow::Cow;
use std::sync::LazyLock;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::Expression;
use crate::hashed::HashMap;
use crate::node::{Parts as _, kind_count, kind_number};
use crate::site::{Context, bare, span};
use crate::span::Span;

use super::known::Summaries;
use super::words::{AccessWord, CheckWords};

/// One access, in a window or with its own.
#[derive(Clone, Debug)]
pub(crate) struct Access<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) word: AccessWord,
    pub(crate) span: Span,
    /// The other side of the user's address.
    pub(crate) value: Span,
    pub(crate) value_node: Node<'t>,
    /// The user's address.
    pub(crate) user: Span,
    /// How many bytes, if it is given.
    pub(crate) count: Option<Span>,
    pub(crate) bytes: Option<Expression>,
    /// The variable that the value is or lies in.
    pub(crate) value_root: String,
    /// The variable that the address is made from.
    pub(crate) user_root: String,
    /// The address, without casts.
    pub(crate) address: Expression,
    /// Whether it happens in a window.
    pub(crate) inside: bool,
}

/// Every node below and with one, in the order of the text, but not what is never evaluated.
pub(crate) struct Nodes<'t> {
    all: Vec<Node<'t>>,
    /// Their places in `all`, by kind, and of one kind in the order of the text.
    sorted: Vec<usize>,
    /// Where those of a kind begin, by its number.
    begins: Vec<usize>,
}

impl<'t> Nodes<'t> {
    pub(crate) fn of(root: Node<'t>) -> Self {
        let mut all = Vec::new();
        let mut kinds = Vec::new();
        each(root, &mut |node| {
            kinds.push(usize::from(node.kind_id()));
            all.push(node);
        });
        let (sorted, begins) = by_kind(&kinds);
        Self {
            all,
            sorted,
            begins,
        }
    }

    /// Those of some kinds, in the order of the text.
    pub(crate) fn of_kinds(&self, kinds: &[&str]) -> impl Iterator<Item = Node<'t>> {
        let mut found = kinds.iter().map(|kind| self.of_kind(kind));
        let places = match (found.next(), found.next()) {
            (Some(only), None) => Cow::Borrowed(only),
            _ => {
                let all = kinds.iter().flat_map(|kind| self.of_kind(kind));
                let mut all: Vec<usize> = all.copied().collect();
                all.sort_unstable();
                Cow::Owned(all)
            }
        };
        let count = places.len();
        let places = (0..count).filter_map(move |at| places.get(at).copied());
        places.filter_map(|at| self.all.get(at).copied())
    }

    fn of_kind(&self, kind: &str) -> &[usize] {
        let own = kind_number(kind).map(usize::from).and_then(|number| {
            let (begin, end) = (self.begins.get(number)?, self.begins.get(number + 1)?);
            self.sorted.get(*begin..*end)
        });
        debug_assert!(own.is_some(), "the grammar has no kind {kind}");
        own.unwrap_or(&[])
    }

    /// The calls among them.
    pub(crate) fn calls(&self) -> Vec<Node<'t>> {
        self.of_kinds(&["call_expression"]).collect()
    }
}

/// What calls call, by the numbers of their nodes: nearly each rule asks that of each.
pub(crate) struct Callees<'t>(HashMap<usize, Option<&'t str>>);

impl<'t> Callees<'t> {
    pub(crate) fn new(context: &Context<'t>, calls: &[Node<'_>]) -> Self {
        let own = |call: &Node<'_>| (call.id(), answer::text(context.callee(*call)));
        Self(calls.iter().map(own).collect())
    }

    /// What a call calls, which may be one of those or what is never evaluated.
    pub(crate) fn of(&self, context: &Context<'t>, call: Node<'_>) -> Option<&'t str> {
        match self.0.get(&call.id()) {
            Some(known) => *known,
            None => answer::text(context.callee(call)),
        }
    }
}

/// The places of a list of kinds by their kinds, and where those of each begin; what was not
/// understood is of none.
fn by_kind(kinds: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut begins = vec![0_usize; kind_count() + 1];
    for kind in kinds {
        begins
            .get_mut(kind + 1)
            .into_iter()
            .for_each(|own| *own += 1);
    }
    let mut sum = 0;
    for own in &mut begins {
        sum += *own;
        *own = sum;
    }
    let (mut sorted, mut next) = (vec![0; sum], begins.clone());
    for (at, kind) in kinds.iter().enumerate() {
        let Some(next) = next.get_mut(*kind) else {
            continue;
        };
        if let Some(own) = sorted.get_mut(*next) {
            *own = at;
        }
        *next += 1;
    }
    (sorted, begins)
}

/// Those of some calls that are accesses.
pub(crate) fn accesses<'t>(
    context: &Context<'_>,
    words: &CheckWords,
    calls: &[Node<'t>],
) -> Vec<Access<'t>> {
    let own = |call: &Node<'t>| {
        let name = context.callee(*call);
        let name = String::from_utf8_lossy(name);
        let inside = words.in_window(&name);
        let word = inside.or_else(|| words.access(&name))?;
        access(context, *call, word, inside.is_some())
    };
    calls.iter().filter_map(own).collect()
}

/// Those of some calls that hand bytes to a program whose memory they know by themselves.
pub(crate) fn shown<'t>(
    context: &Context<'_>,
    words: &CheckWords,
    calls: &[Node<'t>],
) -> Vec<Access<'t>> {
    let own = |call: &Node<'t>| {
        let word = words.shows(answer::text(context.callee(*call))?)?;
        access(context, *call, word, false)
    };
    calls.iter().filter_map(own).collect()
}

/// Those of some calls that are of a function of the file which copies what it is given.
pub(crate) fn through<'t>(
    context: &Context<'_>,
    known: &Summaries,
    calls: &[Node<'t>],
) -> Vec<Access<'t>> {
    if known.is_empty() {
        return Vec::new();
    }
    let own = |call: &Node<'t>| {
        let name = answer::text(context.callee(*call))?;
        let word = known.get(name)?.copies.as_ref()?;
        access(context, *call, word, false)
    };
    calls.iter().filter_map(own).collect()
}

/// Every node below and with a node, in the order of the text, but not what is
/// never evaluated.
pub(crate) fn each<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    static UNEVALUATED: LazyLock<[Option<u16>; 2]> =
        LazyLock::new(|| ["sizeof_expression", "offsetof_expression"].map(kind_number));
    let unevaluated = *UNEVALUATED;
    visit(node, act, |node| {
        !unevaluated.contains(&Some(node.kind_id()))
    });
}

/// Every node below and with a node, what is never evaluated among them.
pub(crate) fn every<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    visit(node, act, |_| true);
}

/// Visits the nodes that are looked into, by one cursor: it makes nothing for a node.
fn visit<'t>(root: Node<'t>, act: &mut impl FnMut(Node<'t>), enters: impl Fn(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let looks = node.is_named() && enters(node);
        if looks {
            act(node);
        }
        if looks && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn access<'t>(
    context: &Context<'_>,
    call: Node<'t>,
    word: &AccessWord,
    inside: bool,
) -> Option<Access<'t>> {
    let word = word.clone();
    let arguments = call.part("arguments")?;
    let part = |at: usize| arguments.named_child(answer::fits::<u32, _>(at)?);
    let (value, user) = (part(word.value)?, part(word.user)?);
    Some(Access {
        node: call,
        span: span(call),
        value: span(value),
        value_node: value,
        user: span(user),
        count: word.count.and_then(part).map(span),
        bytes: word
            .count
            .and_then(part)
            .map(|count| Expression::of(context, count)),
        value_root: root_of(context, value),
        user_root: root_of(context, user),
        address: Expression::of(context, bare(user)),
        inside,
        word,
    })
}

/// The variable that an expression starts from, `frame` for `&frame->uc.uc_flags`.
pub(crate) fn root_of(context: &Context<'_>, node: Node<'_>) -> String {
    let whole = Expression::of(context, node);
    whole.root().span.text(context.original)
}
