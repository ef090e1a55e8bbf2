//! The accesses of a function in the order of the text, with what their
//! arguments are.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::Expression;
use crate::hashed::HashMap;
use crate::node::{Parts as _, kind_count, kind_number};
use crate::search::Hashed;
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
    /// Where each begins: the parser library adds that up for who asks.
    starts: Vec<usize>,
    /// The place in `all` of what each stands in, its own for the first.
    above: Vec<usize>,
    /// Their places in `all`, by kind, and of one kind in the order of the text.
    sorted: Vec<usize>,
    /// Where those of a kind begin, by its number.
    begins: Vec<usize>,
    /// The places of the names among them, once that was asked.
    named: OnceCell<HashMap<Hashed, Vec<usize>>>,
}

impl<'t> Nodes<'t> {
    pub(crate) fn of(root: Node<'t>) -> Self {
        let most = root.descendant_count();
        let (mut all, mut kinds) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let (mut above, mut around) = (Vec::with_capacity(most), Vec::new());
        let mut starts = Vec::with_capacity(most);
        visit(
            root,
            &mut |node, depth| {
                around.truncate(depth);
                above.push(around.last().copied().unwrap_or(0));
                around.push(all.len());
                kinds.push(usize::from(node.kind_id()));
                starts.push(node.start_byte());
                all.push(node);
            },
            is_evaluated,
        );
        let (sorted, begins) = by_kind(&kinds);
        Self {
            all,
            starts,
            above,
            sorted,
            begins,
            named: OnceCell::new(),
        }
    }

    /// The names among them that are spelt so, in the order of the text.
    pub(crate) fn named(
        &self,
        context: &Context<'_>,
        name: &[u8],
    ) -> impl Iterator<Item = Node<'t>> {
        let all = self.named.get_or_init(|| {
            let mut named = HashMap::<Hashed, Vec<usize>>::default();
            for at in self.of_kind("identifier") {
                let own = self.all.get(*at).map(|own| Hashed::of(context.seen(*own)));
                let places = own.map(|own| named.entry(own).or_default());
                places.into_iter().for_each(|places| places.push(*at));
            }
            named
        });
        let places = all.get(&Hashed::of(name)).into_iter().flatten();
        let own = places.filter_map(|at| self.all.get(*at).copied());
        own.filter(move |own| context.seen(*own) == name)
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

    /// What a node stands in: the parser library comes down from the root to it for who asks.
    pub(crate) fn above(&self, node: Node<'t>) -> Option<Node<'t>> {
        let Some(at) = self.place(node) else {
            return node.parent();
        };
        let above = self.above.get(at).filter(|above| **above != at);
        above.and_then(|above| self.all.get(*above)).copied()
    }

    /// Where a node is among them: not below what is never evaluated.
    fn place(&self, node: Node<'t>) -> Option<usize> {
        let begin = node.start_byte();
        let first = self.starts.partition_point(|own| *own < begin);
        let rest = self.starts.get(first..)?.iter();
        let here = rest.take_while(|own| **own == begin).count();
        let mut here = self.all.get(first..first + here)?.iter();
        here.position(|own| own.id() == node.id())
            .map(|at| first + at)
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
    pub(crate) fn of<'c: 't>(&self, context: &Context<'c>, call: Node<'_>) -> Option<&'t str> {
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
    (calls, callees): (&[Node<'t>], &Callees<'_>),
) -> Vec<Access<'t>> {
    let own = |call: &Node<'t>| {
        let name = callees.of(context, *call)?;
        let inside = words.in_window(name);
        let word = inside.or_else(|| words.access(name))?;
        access(context, *call, word, inside.is_some())
    };
    calls.iter().filter_map(own).collect()
}

/// Those of some calls that hand bytes to a program whose memory they know by themselves.
pub(crate) fn shown<'t>(
    context: &Context<'_>,
    words: &CheckWords,
    (calls, callees): (&[Node<'t>], &Callees<'_>),
) -> Vec<Access<'t>> {
    let own = |call: &Node<'t>| {
        let word = words.shows(callees.of(context, *call)?)?;
        access(context, *call, word, false)
    };
    calls.iter().filter_map(own).collect()
}

/// Those of some calls that are of a function of the file which copies what it is given.
pub(crate) fn through<'t>(
    context: &Context<'_>,
    known: &Summaries,
    (calls, callees): (&[Node<'t>], &Callees<'_>),
) -> Vec<Access<'t>> {
    if known.is_empty() {
        return Vec::new();
    }
    let own = |call: &Node<'t>| {
        let name = callees.of(context, *call)?;
        let word = known.get(name)?.copies.as_ref()?;
        access(context, *call, word, false)
    };
    calls.iter().filter_map(own).collect()
}

/// Every node below and with a node, in the order of the text, but not what is
/// never evaluated.
pub(crate) fn each<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    visit(node, &mut |node, _| act(node), is_evaluated);
}

/// Every node below and with a node, what is never evaluated among them.
pub(crate) fn every<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    visit(node, &mut |node, _| act(node), |_| true);
}

/// Whether what stands in a node is ever evaluated.
fn is_evaluated(node: Node<'_>) -> bool {
    static UNEVALUATED: LazyLock<[Option<u16>; 2]> =
        LazyLock::new(|| ["sizeof_expression", "offsetof_expression"].map(kind_number));
    !UNEVALUATED.contains(&Some(node.kind_id()))
}

/// Visits the nodes that are looked into, with how deep they stand, by one cursor: it makes
/// nothing for a node.
fn visit<'t>(
    root: Node<'t>,
    act: &mut impl FnMut(Node<'t>, usize),
    enters: impl Fn(Node<'t>) -> bool,
) {
    let (mut cursor, mut depth) = (root.walk(), 0_usize);
    loop {
        let node = cursor.node();
        let looks = node.is_named() && enters(node);
        if looks {
            act(node, depth);
        }
        if looks && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth = depth.saturating_sub(1);
        }
    }
}

/// What a call is as an access of that word.
pub(crate) fn as_access<'t>(
    context: &Context<'_>,
    call: Node<'t>,
    word: &AccessWord,
) -> Option<Access<'t>> {
    access(context, call, word, false)
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
