//! How accesses are joined inside one statement.

use tree_sitter::Node;

use crate::model::{Exit, Form, StepKind};
use crate::node::Parts as _;
use crate::site::{Context, bare, inner, span};

/// What an expression statement, a declaration or a return is.
pub(crate) fn simple(context: &Context<'_>, node: Node<'_>) -> StepKind {
    let expression = node.named_child(0).map(bare);
    match (node.known_kind(), expression) {
        ("return_statement", Some(value)) => StepKind::Return {
            form: joined(context, value),
        },
        ("declaration", _) => declaration(context, node),
        (_, Some(value)) if value.known_kind() == "assignment_expression" => {
            assignment(context, value)
        }
        (_, Some(value)) if is_access(context, value) => StepKind::Bare,
        _ => StepKind::Expression,
    }
}

/// The `if` with that condition and that way out.
pub(crate) fn guard(context: &Context<'_>, condition: Node<'_>, exit: Exit) -> StepKind {
    let form = match joined(context, bare(condition)) {
        Form::Assign | Form::Expression => Form::SequentialIf,
        form => form,
    };
    StepKind::Guard {
        form,
        condition: inner(condition),
        exit,
    }
}

/// Whether a condition holds exactly when `variable` is 0.
pub(crate) fn tests_no_error(context: &Context<'_>, condition: Node<'_>, variable: &[u8]) -> bool {
    let node = unhinted(context, condition);
    let is_variable =
        |part: Option<Node<'_>>| part.is_some_and(|part| context.seen(bare(part)) == variable);
    match node.known_kind() {
        "unary_expression" => context.operator(node) == b"!" && is_variable(node.part("argument")),
        "binary_expression" => {
            let zero = node
                .part("right")
                .is_some_and(|right| context.seen(right) == b"0");
            context.operator(node) == b"==" && zero && is_variable(node.part("left"))
        }
        _ => false,
    }
}

/// Whether a condition holds exactly when none of its accesses faults:
/// `!access && !(err = access)`.
pub(crate) fn is_no_fault(context: &Context<'_>, condition: Node<'_>) -> bool {
    let node = unhinted(context, condition);
    let side = |field: &str| {
        node.part(field)
            .is_some_and(|side| is_no_fault(context, side))
    };
    match (node.known_kind(), context.operator(node)) {
        ("binary_expression", b"&&") => side("left") && side("right"),
        ("unary_expression", b"!") => node
            .part("argument")
            .is_some_and(|argument| is_result(context, unhinted(context, argument))),
        _ => false,
    }
}

/// An access, or a variable that takes its result.
fn is_result(context: &Context<'_>, node: Node<'_>) -> bool {
    let assigned = (node.known_kind() == "assignment_expression")
        .then(|| node.part("right"))
        .flatten();
    is_access(context, assigned.map_or(node, bare))
}

/// The expression inside `likely(…)`, parentheses and casts.
pub(crate) fn unhinted<'t>(context: &Context<'_>, node: Node<'t>) -> Node<'t> {
    let node = bare(node);
    if node.known_kind() != "call_expression"
        || !context.vocabulary.is_transparent(context.callee(node))
    {
        return node;
    }
    let argument = node
        .part("arguments")
        .filter(|a| a.named_child_count() == 1);
    argument
        .and_then(|a| a.named_child(0))
        .map_or(node, |inner| unhinted(context, inner))
}

fn is_access(context: &Context<'_>, node: Node<'_>) -> bool {
    node.known_kind() == "call_expression" && context.access(node).is_some()
}

fn declaration(context: &Context<'_>, node: Node<'_>) -> StepKind {
    let Some(declarator) = node
        .part("declarator")
        .filter(|d| d.known_kind() == "init_declarator")
    else {
        return StepKind::Expression;
    };
    let (Some(name), Some(value)) = (declarator.part("declarator"), declarator.part("value"))
    else {
        return StepKind::Expression;
    };
    StepKind::Assign {
        form: joined(context, value),
        variable: context.written(name),
    }
}

fn assignment(context: &Context<'_>, node: Node<'_>) -> StepKind {
    let (Some(left), Some(right)) = (node.part("left"), node.part("right")) else {
        return StepKind::Expression;
    };
    let form = if context.operator(node) == b"|=" {
        Form::ErrOr
    } else {
        joined(context, right)
    };
    StepKind::Assign {
        form,
        variable: span(left).text(context.original),
    }
}

fn joined(context: &Context<'_>, node: Node<'_>) -> Form {
    let node = unhinted(context, node);
    match (node.known_kind(), context.operator(node)) {
        ("binary_expression", b"||") => Form::OrChain,
        ("binary_expression", b"|") => Form::BitOr,
        ("conditional_expression", _) => Form::Elvis,
        ("call_expression", _) if is_access(context, node) => Form::Assign,
        _ => Form::Expression,
    }
}
