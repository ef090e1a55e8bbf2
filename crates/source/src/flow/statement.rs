//! The statements of a function as a tree, and how its conditions are joined.

use crate::span::Span;

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `{ … }`
    Block,
    /// `if`
    If,
    /// The `else` of an `if`.
    Else,
    /// `while`, `for`, and a macro of that kind.
    Loop,
    /// `do … while`
    Do,
    /// A macro before a block, of which nothing else is known.
    Scope,
    /// `switch`
    Switch,
    /// A case of a switch.
    Case,
    /// A label with what follows it.
    Label,
    /// `goto`
    Goto,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return,
    /// A declaration.
    Declaration,
    /// An expression.
    Expression,
    /// A side of an `#if`.
    Side,
}

impl StatementKind {
    /// Whether nothing comes behind one of the kind from it.
    #[must_use]
    pub fn leaves(self) -> bool {
        matches!(
            self,
            Self::Goto | Self::Break | Self::Continue | Self::Return
        )
    }
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// All of it.
    pub span: Span,
    /// The one that holds it.
    pub parent: Option<usize>,
    /// What an `if` asks, what a `return` gives, or the expression that it is.
    pub expression: Option<Span>,
    /// The label that a `goto` names; none of a computed one.
    pub label: Option<Span>,
    /// The node before it.
    pub(crate) before: Option<usize>,
    /// The node behind it, if anything can come there.
    pub(crate) after: Option<usize>,
}

/// `left && right`, `left || right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junction {
    /// All of it.
    pub span: Span,
    /// Whether both have to hold.
    pub both: bool,
    /// What is asked first.
    pub left: Span,
    /// What is asked if the first does not decide.
    pub right: Span,
}
