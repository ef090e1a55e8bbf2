//! What a rewriter has to know about a function besides its runs: names that
//! are taken, where variables live, how the function ends.

use tree_sitter::Node;

use crate::model::Jump;
use crate::site::{Context, bare, span};
use crate::span::Span;

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
    /// The block in which it lives.
    pub scope: Span,
}

/// One mention of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name.
    pub name: String,
    /// Where.
    pub span: Span,
    /// Whether it is assigned as a whole here; else it is read.
    pub assigned: bool,
    /// Where it has the value that it is assigned: behind what the value is made
    /// from, which may be the old one. The end of the mention for a read.
    pub done: usize,
    /// The parts around it that may not be executed, outermost first.
    pub around: Vec<Span>,
}

/// What else there is in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// How the last statement of the body leaves; [`Jump::None`] if it does not.
    pub ending: Option<Jump>,
    /// The last statement of the body.
    pub last_statement: Span,
    /// Where each cleanup is pending: a jump from inside to outside runs it, and
    /// one from outside to inside is an error.
    pub cleanups: Vec<Span>,
    /// Every label with its place.
    pub labels: Vec<(String, Span)>,
    /// Every variable.
    pub locals: Vec<Local>,
    /// Every mention of a name in the body, in order.
    pub uses: Vec<Use>,
}

impl Outline {
    /// Whether nothing reads what the variable holds at `byte`: each later read
    /// has an assignment before it on every way there. For code outside loops.
    #[must_use]
    pub fn is_dead(&self, variable: &str, byte: usize) -> bool {
        let after = |u: &&Use| u.name == variable && u.span.start >= byte;
        let reads = self.uses.iter().filter(after).filter(|u| !u.assigned);
        let forward = reads.into_iter().all(|read| {
            let writes = self.uses.iter().filter(after).filter(|u| u.assigned);
            writes
                .into_iter()
                .any(|write| self.comes_first(write, read))
        });
        forward && !self.is_read_again(variable, byte)
    }

    /// Whether a jump back to a label may come to a read before `byte`.
    fn is_read_again(&self, variable: &str, byte: usize) -> bool {
        let first = self.labels.iter().map(|(_, label)| label.start).min();
        let between =
            |u: &Use| first.is_some_and(|label| label < u.span.start) && u.span.start < byte;
        self.uses
            .iter()
            .any(|u| u.name == variable && !u.assigned && between(u))
    }

    /// Whether every way to `read` passes `write`.
    fn comes_first(&self, write: &Use, read: &Use) -> bool {
        let entered = |(_, label): &(String, Span)| {
            write.span.end <= label.start && label.end <= read.span.start
        };
        write.done <= read.span.start
            && read.around.starts_with(&write.around)
            && !self.labels.iter().any(entered)
    }

    /// Whether the name is mentioned, declared or a label here.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.labels.iter().any(|(label, _)| label == name)
            || self.locals.iter().any(|local| local.name == name)
            || self.uses.iter().any(|u| u.name == name)
    }
}

/// Reads the outline off a parsed body; `scopes` are the places of the words
/// that open a scope with a cleanup.
pub(crate) fn outline(context: &Context<'_>, root: Node<'_>, scopes: &[Span]) -> Outline {
    let mut reader = Reader {
        context,
        blocks: Vec::new(),
        out: Outline::default(),
        around: Vec::new(),
    };
    if let Some(body) = root.named_child(0) {
        reader.ending(body);
        reader.node(body, span(body));
    }
    reader.out.uses.sort_by_key(|u| u.span);
    reader.out.cleanups = scopes
        .iter()
        .filter_map(|word| reader.pending(*word))
        .collect();
    reader.out
}

struct Reader<'a, 'c> {
    context: &'c Context<'a>,
    out: Outline,
    /// Blocks, and statements that a macro turned into loops.
    blocks: Vec<Span>,
    around: Vec<Span>,
}

impl Reader<'_, '_> {
    fn ending(&mut self, body: Node<'_>) {
        let count = u32::try_from(body.named_child_count()).unwrap_or(u32::MAX);
        let Some(mut last) = count.checked_sub(1).and_then(|last| body.named_child(last)) else {
            return;
        };
        while last.kind() == "labeled_statement" {
            let count = u32::try_from(last.named_child_count()).unwrap_or(u32::MAX);
            let Some(inner) = count
                .checked_sub(1)
                .and_then(|inner| last.named_child(inner))
            else {
                break;
            };
            last = inner;
        }
        let argument = last
            .named_child(0)
            .map(|node| self.context.written(node))
            .unwrap_or_default();
        self.out.last_statement = span(last);
        self.out.ending = Some(match last.kind() {
            "return_statement" => Jump::Return(argument),
            "goto_statement" => Jump::Goto(argument),
            _ => Jump::None,
        });
    }

    /// From the word to the end of what it opens: its own statement, or the
    /// rest of the block around it.
    fn pending(&self, word: Span) -> Option<Span> {
        let own = self.blocks.iter().find(|block| block.start == word.start);
        let around = self.blocks.iter().filter(|block| block.contains(word));
        let innermost = around.min_by_key(|block| block.end - block.start);
        own.or(innermost)
            .map(|block| Span::new(word.start, block.end))
    }

    fn node(&mut self, node: Node<'_>, scope: Span) {
        if matches!(node.kind(), "compound_statement" | "while_statement") {
            self.blocks.push(span(node));
        }
        match node.kind() {
            "identifier" => self.mention(node, None),
            "assignment_expression" => self.assignment(node, scope),
            "declaration" => self.declaration(node, scope),
            "call_expression" => self.call(node, scope),
            "labeled_statement" => self.label(node, scope),
            "field_expression" => self.child(node, "argument", scope),
            "sizeof_expression" | "type_descriptor" => {}
            "compound_statement" | "for_statement" => self.children(node, span(node)),
            _ => self.children(node, scope),
        }
    }

    fn children(&mut self, node: Node<'_>, scope: Span) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let optional = may_be_skipped(self.context, node, child);
            if optional {
                self.around.push(span(child));
            }
            self.node(child, scope);
            if optional {
                self.around.pop();
            }
        }
    }

    fn child(&mut self, node: Node<'_>, field: &str, scope: Span) {
        if let Some(child) = node.child_by_field_name(field) {
            self.node(child, scope);
        }
    }

    /// A mention, in an expression that assigns it or as a read.
    fn mention(&mut self, node: Node<'_>, assigning: Option<Node<'_>>) {
        let name = self.context.written(node);
        self.out.uses.push(Use {
            name,
            span: span(node),
            assigned: assigning.is_some(),
            done: assigning.unwrap_or(node).end_byte(),
            around: self.around.clone(),
        });
    }

    fn assignment(&mut self, node: Node<'_>, scope: Span) {
        self.child(node, "right", scope);
        match node.child_by_field_name("left").map(bare) {
            Some(left) if left.kind() == "identifier" && self.context.operator(node) == b"=" => {
                self.mention(left, Some(node))
            }
            Some(left) => self.node(left, scope),
            None => {}
        }
    }

    /// A read of user memory assigns its first argument.
    fn call(&mut self, node: Node<'_>, scope: Span) {
        let access = self
            .context
            .access(node)
            .filter(|access| access.direction == crate::Direction::Read);
        let arguments = node.child_by_field_name("arguments");
        match (
            access,
            arguments.and_then(|a| a.named_child(0)),
            arguments.and_then(|a| a.named_child(1)),
        ) {
            (Some(_), Some(value), Some(address)) if value.kind() == "identifier" => {
                self.node(address, scope);
                self.mention(value, Some(node));
            }
            _ => self.children(node, scope),
        }
    }

    fn label(&mut self, node: Node<'_>, scope: Span) {
        if let Some(label) = node.child_by_field_name("label") {
            self.out
                .labels
                .push((self.context.written(label), span(label)));
        }
        self.children(node, scope);
    }

    fn declaration(&mut self, node: Node<'_>, scope: Span) {
        let base_type = node
            .child_by_field_name("type")
            .map(|t| self.context.written(t))
            .unwrap_or_default();
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let value = declarator.child_by_field_name("value");
            if let Some(value) = value {
                self.node(value, scope);
            }
            let name = innermost(declarator);
            let holder = if value.is_some() {
                declarator.child_by_field_name("declarator")
            } else {
                Some(declarator)
            };
            self.out.locals.push(Local {
                name: self.context.written(name),
                base_type: base_type.clone(),
                plain: holder.is_some_and(|d| d.kind() == "identifier"),
                array: holder.is_some_and(is_array),
                initialised: value.is_some(),
                scope,
            });
        }
    }
}

fn is_array(declarator: Node<'_>) -> bool {
    let inner = declarator.child_by_field_name("declarator");
    declarator.kind() == "array_declarator" || inner.is_some_and(is_array)
}

fn innermost(declarator: Node<'_>) -> Node<'_> {
    let inner = declarator
        .child_by_field_name("declarator")
        .or_else(|| match declarator.kind() {
            "identifier" => None,
            _ => declarator.named_child(0),
        });
    inner.map_or(declarator, innermost)
}

/// Whether `child` is a part of `node` that may not be executed.
fn may_be_skipped(context: &Context<'_>, node: Node<'_>, child: Node<'_>) -> bool {
    let is_field = |field: &str| {
        node.child_by_field_name(field)
            .is_some_and(|part| part.id() == child.id())
    };
    match node.kind() {
        "if_statement" | "conditional_expression" => {
            is_field("consequence") || is_field("alternative")
        }
        "while_statement" | "for_statement" | "switch_statement" => is_field("body"),
        "binary_expression" => matches!(context.operator(node), b"&&" | b"||") && is_field("right"),
        _ => child.kind() == "case_statement",
    }
}
