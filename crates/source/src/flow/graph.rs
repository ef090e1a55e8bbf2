//! The graph of a function.

use std::cell::OnceCell;
use std::ops::Range;

use crate::calls::Direction;
use crate::calls::Kind;
use crate::expression::Expression;
use crate::hashed::{HashMap, HashSet};
use crate::model::Jump;
use crate::span::Span;

use super::names::Places;
use super::statement::{Junction, Statement};

/// A variable that a function declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type as it is written, without the `*` of pointers.
    pub base_type: String,
    /// Whether it is a plain variable: no pointer, array or function.
    pub plain: bool,
    /// Whether it is an array.
    pub array: bool,
    /// Whether the declaration gives it a value.
    pub initialised: bool,
    /// Whether it outlives the call: `static`.
    pub lasting: bool,
    /// Whether something looks at it when its scope is left: `__free(…)`.
    pub cleaned: bool,
    /// Its declaration.
    pub declared: Span,
    /// The block in which it lives.
    pub scope: Span,
}

impl Local {
    /// Whether an expression is its size, by its name or its type.
    pub(crate) fn is_sized(&self, size: &Expression) -> bool {
        let own = |of: &str| of == self.name || of == self.base_type;
        self.plain && size.sized().is_some_and(own)
    }
}

/// A value that is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// The expression, if there is one: none for `x++` and `int x;`.
    pub value: Option<Span>,
    /// The constant that the expression is, as it is written.
    pub constant: Option<String>,
    /// Whether it is zero now, where the text says so.
    pub truth: Option<bool>,
    /// Whether a structure may be copied, which a compiler does with a call.
    pub copies: bool,
    /// Whether it is the next of what it was, which the expression gives: `x++`.
    pub next: bool,
    /// Whether it takes in what the place held, by a compound assignment: `x += n`.
    pub compound: bool,
    /// Whether the place may keep what it held: code of a configuration.
    pub optional: bool,
}

/// What is done to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Its value is needed.
    Read,
    /// It takes a value.
    Write(Write),
    /// Its address goes to where it is not followed.
    Address,
    /// A call was given it, by its address or as an argument of what may be a
    /// macro: it may hold something else now.
    Handed {
        /// Whether the call has its address.
        by_address: bool,
    },
}

/// One thing that is done to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What.
    pub kind: EffectKind,
    /// The place, as a number of the graph's.
    pub(crate) place: usize,
    /// Where it is named.
    pub span: Span,
    /// The access that holds it in an argument, and whether that is the user's
    /// address.
    pub(crate) argument_of: Option<(usize, bool)>,
}

/// What becomes of the result of a begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A condition tests it: the two edges of its node are the two outcomes.
    Tested,
    /// It is put into a place.
    Stored(usize),
    /// Nothing asks for it.
    Ignored,
    /// The function returns it: the window is the caller's.
    Returned,
    /// It opens whatever happens.
    Always,
}

/// A window that is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    pub(crate) call: String,
    pub(crate) kind: Kind,
    pub(crate) opening: Opening,
    pub(crate) fence: bool,
    /// The address whose range is checked; none where nothing is known of it.
    pub(crate) address: Option<Span>,
    /// How many bytes from there.
    pub(crate) size: Option<Span>,
    /// The block that the window is open for, if it closes by scope.
    pub(crate) scope: Option<Span>,
}

/// An access that needs an open window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    pub(crate) call: String,
    /// None for a macro whose name does not tell.
    pub(crate) direction: Option<Direction>,
    /// Whether it is a macro around accesses, of which only the label is known.
    pub(crate) wrapper: bool,
    pub(crate) value: Option<Span>,
    pub(crate) user: Option<Span>,
    /// The variable that it fills, which a fault leaves without a value.
    pub(crate) fills: Option<usize>,
    /// Whether it happens in a function that is called there.
    pub(crate) called: bool,
}

/// A call of anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The places that are handed to it as they are, in order.
    pub(crate) given: Vec<usize>,
    /// Whether nobody sees those any more.
    pub(crate) frees: bool,
    /// The variable of which it sets every byte.
    pub(crate) clears: Option<usize>,
    /// The access that takes its result as an argument, if one does.
    pub(crate) argument_of: Option<usize>,
}

/// What happens at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing; ways meet here.
    Join,
    /// A window opens.
    Begin(Begin),
    /// A window closes.
    End { call: String, kind: Kind },
    /// An access in a window.
    Inside(Inside),
    /// A call.
    Call(Call),
    /// The function is left; the place is the return or the closing brace.
    Exit {
        hands_over: bool,
        /// The place that it gives as it is.
        returned: Option<usize>,
    },
}

/// When an edge is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Always.
    Always,
    /// If the condition of that number holds, or does not.
    If(usize, bool),
    /// If the begin opens the window, or does not.
    Opened(bool),
    /// If the access faults.
    Fault,
}

/// A node of the graph: what is done to places, and then what happens.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) effects: Range<usize>,
    pub(crate) action: Action,
    pub(crate) span: Span,
    pub(crate) next: Vec<(Edge, usize)>,
}

/// A condition that paths divide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// As it is written.
    pub(crate) text: String,
    /// The place, if it is nothing but one.
    pub(crate) place: Option<usize>,
    /// Every place that it reads.
    pub(crate) reads: Vec<usize>,
}

/// The graph of a function; node 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub(crate) nodes: Vec<Node>,
    pub(crate) effects: Vec<Effect>,
    /// Their numbers in the order of the text, once that was asked for.
    pub(crate) in_order: OnceCell<Vec<usize>>,
    /// Those numbers with the nodes that they belong to, once that was asked for.
    pub(crate) owners: OnceCell<Vec<(usize, usize)>>,
    pub(crate) places: Places,
    /// The names of accesses that others are arguments of.
    pub(crate) accesses: Vec<String>,
    /// Conditions, each once.
    pub(crate) conditions: Vec<Condition>,
    /// Whether it jumps to a label that is computed.
    pub(crate) computed: bool,
    /// Jumps to a label by what is no `goto`: from the node at that place.
    pub(crate) jumps: Vec<(Span, String)>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) junctions: Vec<Junction>,
    /// Conditions that hold exactly when a variable is not 0, or less.
    pub(crate) tests: Vec<(Span, usize)>,
    /// `return asked ? -EFAULT : 0;`: the statement, what is asked, and whether
    /// each part of that is asked only if the ones before it do not hold.
    pub(crate) choices: Vec<(Span, Span, bool)>,
    /// Indices that are no constants: the place, the array.
    pub(crate) indices: Vec<(Span, Span)>,
    /// `a < b` and its like.
    pub comparisons: Vec<Span>,
    /// The node that each label is.
    pub(crate) at_label: HashMap<String, usize>,
    /// Words of code that the graph does not show: other sides of `#if`s.
    pub(crate) unseen: HashSet<String>,
    /// Words of the header: parameters are among them.
    pub(crate) header: HashSet<String>,
    /// Every word of the body.
    pub(crate) words: HashSet<String>,
    /// The labels with their places.
    pub labels: Vec<(String, Span)>,
    /// Where each cleanup is pending: a jump from inside to outside runs it, and
    /// one from outside to inside is an error.
    pub cleanups: Vec<Span>,
    /// Every variable that the function declares.
    pub locals: Vec<Local>,
    /// Whether the function's result is `void`.
    pub gives_nothing: bool,
    /// How the last statement of the body leaves; [`Jump::None`] if it does not.
    pub ending: Option<Jump>,
    /// Jumps to what is not in it: of a macro, which its user has.
    pub(crate) leaving: Vec<(usize, Edge, Leaving)>,
}

/// What a jump out of a definition goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// A label.
    Label(String),
    /// What is behind the loop or the switch around.
    Break,
    /// The next round of the loop around.
    Continue,
}

impl Flow {
    /// Whether a window is opened anywhere here.
    pub(crate) fn opens(&self) -> bool {
        self.nodes
            .iter()
            .any(|node| matches!(node.action, Action::Begin(_)))
    }

    /// Whether anything here opens, closes or needs a window.
    pub(crate) fn has_window(&self) -> bool {
        let of = |action: &Action| {
            matches!(
                action,
                Action::Begin(_) | Action::End { .. } | Action::Inside(_)
            )
        };
        self.nodes.iter().any(|node| of(&node.action))
    }

    /// The begin at a node.
    pub(crate) fn begin(&self, node: usize) -> Option<(&Begin, Span)> {
        match self.nodes.get(node) {
            Some(Node {
                action: Action::Begin(begin),
                span,
                ..
            }) => Some((begin, *span)),
            _ => None,
        }
    }

    /// What is done before the action of a node, in order.
    pub(crate) fn effects_of(&self, node: usize) -> &[Effect] {
        self.nodes
            .get(node)
            .map_or(&[], |node| self.effects_at(node))
    }

    /// The same of a node of the graph.
    pub(crate) fn effects_at(&self, node: &Node) -> &[Effect] {
        self.effects.get(node.effects.clone()).unwrap_or_default()
    }
}
