//! The parts and the kind of a node of the parse, by their names in the grammar.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use tollgate_defect::answer;
use tree_sitter::{Language, Node};

/// The grammar's fields that are asked for most.
const FIELDS: [&str; 15] = [
    "condition",
    "left",
    "arguments",
    "argument",
    "right",
    "declarator",
    "value",
    "body",
    "alternative",
    "consequence",
    "index",
    "operator",
    "field",
    "type",
    "function",
];

/// Their numbers: the parser library compares a name with each that it knows, and a body has
/// thousands of nodes.
static NUMBERS: LazyLock<[Option<NonZeroU16>; FIELDS.len()]> = LazyLock::new(|| {
    let language = Language::new(tree_sitter_c::LANGUAGE);
    FIELDS.map(|name| language.field_id_for_name(name))
});

/// Where a name stands among [`FIELDS`]. Who asks by a literal is told while this is compiled.
#[inline]
const fn place(name: &str) -> Option<usize> {
    Some(match name.as_bytes() {
        b"condition" => 0,
        b"left" => 1,
        b"arguments" => 2,
        b"argument" => 3,
        b"right" => 4,
        b"declarator" => 5,
        b"value" => 6,
        b"body" => 7,
        b"alternative" => 8,
        b"consequence" => 9,
        b"index" => 10,
        b"operator" => 11,
        b"field" => 12,
        b"type" => 13,
        b"function" => 14,
        _ => return None,
    })
}

/// The kinds of the statements that go round.
pub(crate) const LOOPS: [&str; 3] = ["for_statement", "while_statement", "do_statement"];

/// The grammar's kinds of nodes: the parser library spells one out anew for who asks, and
/// looks through all of it for what is no UTF-8.
struct Kinds {
    /// By their numbers.
    names: Vec<Option<&'static str>>,
    /// The numbers of those that are no punctuation.
    numbers: HashMap<&'static str, u16, RandomState>,
}

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let language = Language::new(tree_sitter_c::LANGUAGE);
    let all = 0..language.node_kind_count();
    let all = all.filter_map(answer::fits::<u16, _>);
    let name = |number: u16| language.node_kind_for_id(number);
    let named = all
        .clone()
        .filter(|number| language.node_kind_is_named(*number));
    let numbers = named.filter_map(|number| {
        let name = name(number)?;
        Some((name, language.id_for_node_kind(name, true)))
    });
    Kinds {
        numbers: numbers.collect(),
        names: all.map(name).collect(),
    }
});

/// How many kinds there are.
pub(crate) fn kind_count() -> usize {
    KINDS.names.len()
}

/// The number that a kind has for [`Node::kind_id`].
pub(crate) fn kind_number(kind: &str) -> Option<u16> {
    KINDS.numbers.get(kind).copied()
}

/// What a node is made of.
pub(crate) trait Parts<'t> {
    /// The first child in the field of that name.
    fn part(&self, name: &str) -> Option<Node<'t>>;

    /// The same as [`Node::kind`], which takes longer.
    fn known_kind(&self) -> &'static str;

    /// Whether it is a statement.
    fn is_statement(&self) -> bool;

    /// Whether it is an expression by itself, and its place is read as no other.
    fn is_expression(&self) -> bool;
}

const EXPRESSIONS: [&str; 21] = [
    "assignment_expression",
    "binary_expression",
    "call_expression",
    "cast_expression",
    "char_literal",
    "compound_literal_expression",
    "conditional_expression",
    "false",
    "field_expression",
    "identifier",
    "null",
    "number_literal",
    "offsetof_expression",
    "parenthesized_expression",
    "pointer_expression",
    "sizeof_expression",
    "string_literal",
    "subscript_expression",
    "true",
    "unary_expression",
    "update_expression",
];

/// The grammar's statements.
const STATEMENTS: [&str; 16] = [
    "attributed_statement",
    "break_statement",
    "case_statement",
    "compound_statement",
    "continue_statement",
    "do_statement",
    "expression_statement",
    "for_statement",
    "goto_statement",
    "if_statement",
    "labeled_statement",
    "return_statement",
    "seh_leave_statement",
    "seh_try_statement",
    "switch_statement",
    "while_statement",
];

impl<'t> Parts<'t> for Node<'t> {
    #[inline]
    fn part(&self, name: &str) -> Option<Node<'t>> {
        match place(name) {
            Some(at) => {
                let number = (*NUMBERS.get(at)?)?;
                self.child_by_field_id(number.get())
            }
            None => self.child_by_field_name(name),
        }
    }

    fn known_kind(&self) -> &'static str {
        let known = KINDS.names.get(usize::from(self.kind_id()));
        // What was not understood has a kind of its own.
        known.copied().flatten().unwrap_or_else(|| self.kind())
    }

    fn is_statement(&self) -> bool {
        STATEMENTS.contains(&self.known_kind())
    }

    fn is_expression(&self) -> bool {
        EXPRESSIONS.contains(&self.known_kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_what_the_parser_says() {
        let mut parser = tree_sitter::Parser::new();
        parser
            .set_language(&tree_sitter_c::LANGUAGE.into())
            .unwrap();
        let text = "int f(struct s *p) { if (p->a[1] = (u8)2) { g(sizeof(x)); } $ (((; }";
        let tree = parser.parse(text, None).unwrap();
        let (mut cursor, mut count) = (tree.walk(), 0);
        loop {
            let node = cursor.node();
            assert_eq!(node.known_kind(), node.kind());
            if node.is_named() && !node.is_error() {
                assert_eq!(kind_number(node.kind()), Some(node.kind_id()));
            }
            count += 1;
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    assert!(tree.root_node().has_error() && count > 40);
                    return;
                }
            }
        }
    }
}
