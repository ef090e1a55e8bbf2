//! What a function does to windows, as a graph: one node an event, an edge for
//! each way on.

use crate::span::Span;
use crate::vocabulary::Direction;

use super::words::Kind;

/// What becomes of the result of a begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A condition tests it: the two edges of its node are the two outcomes.
    Tested,
    /// It is put into a variable.
    Stored(String),
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
    pub(crate) label: Option<String>,
}

/// A call of anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The access that takes its result as an argument, if one does.
    pub(crate) argument_of: Option<String>,
}

/// A variable that takes a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assign {
    pub(crate) variable: String,
    /// Whether it is zero now, where the text says so.
    pub(crate) truth: Option<bool>,
    /// The access that holds the assignment in an argument, and whether it is
    /// the user's address.
    pub(crate) argument_of: Option<(String, bool)>,
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
    /// An assignment.
    Assign(Assign),
    /// The value of a variable is needed.
    Use(String),
    /// The function is left; the place is the return or the closing brace.
    Exit { hands_over: bool },
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

/// A node of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) action: Action,
    pub(crate) span: Span,
    pub(crate) next: Vec<(Edge, usize)>,
}

/// The graph of a function; node 0 is the entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Conditions as they are written, each once.
    pub(crate) conditions: Vec<String>,
    /// Whether it jumps to a label that is computed.
    pub(crate) computed: bool,
    /// Jumps to a label: from the node at that place.
    pub(crate) jumps: Vec<(Span, String)>,
    /// The labels with their places.
    pub(crate) labels: Vec<(String, Span)>,
}

impl Graph {
    /// Whether a window is opened anywhere here.
    pub(crate) fn opens(&self) -> bool {
        self.nodes
            .iter()
            .any(|node| matches!(node.action, Action::Begin(_)))
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
}
