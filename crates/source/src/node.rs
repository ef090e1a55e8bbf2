//! The parts of a node of the parse, by their names in the grammar.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use tollgate_defect::answer;
use tree_sitter::{Language, Node};

/// The numbers of the grammar's fields: the parser library compares a name with each
/// of them, and a body has thousands of nodes.
static FIELDS: LazyLock<HashMap<&'static str, NonZeroU16, RandomState>> = LazyLock::new(|| {
    let language = Language::new(tree_sitter_c::LANGUAGE);
    let all = 1..=language.field_count();
    let named = all.filter_map(|number| {
        let id = NonZeroU16::new(answer::fits(number)?)?;
        Some((language.field_name_for_id(id.get())?, id))
    });
    named.collect()
});

/// What a node is made of.
pub(crate) trait Parts<'t> {
    /// The first child in the field of that name.
    fn part(&self, name: &str) -> Option<Node<'t>>;

    /// Whether it is a statement.
    fn is_statement(&self) -> bool;
}

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
    fn part(&self, name: &str) -> Option<Node<'t>> {
        self.child_by_field_id(FIELDS.get(name)?.get())
    }

    fn is_statement(&self) -> bool {
        STATEMENTS.contains(&self.kind())
    }
}
