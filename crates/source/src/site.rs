//! From a call in the parse to a [`Site`]: its object, its reach, its hazards.

use std::collections::HashSet;
use tollgate_defect::answer;

use tree_sitter::Node;

use crate::model::{Hazard, Reach, Site};
use crate::node::Parts as _;
use crate::span::{LineIndex, Span};
use crate::vocabulary::{Access, Vocabulary};
use crate::wrappers::Wrapper;

/// What every part of the analysis of one body looks things up in.
pub(crate) struct Context<'a> {
    /// The bytes of the file.
    pub(crate) original: &'a [u8],
    /// What the parser saw; same length.
    pub(crate) normalised: &'a [u8],
    /// The words that mean something.
    pub(crate) vocabulary: &'a Vocabulary,
    /// The lines of the file.
    pub(crate) lines: &'a LineIndex<'a>,
    /// The file's own macros around accesses, in order.
    pub(crate) wrappers: &'a [Wrapper],
    /// Variables of the function that are declared as pointers to user memory.
    pub(crate) user_pointers: &'a HashSet<Vec<u8>>,
}

impl<'a> Context<'a> {
    /// What the parser saw of a node.
    pub(crate) fn seen(&self, node: Node<'_>) -> &'a [u8] {
        span(node).of(self.normalised)
    }

    /// Whether an expression calls nothing, as its text shows: quicker than a walk
    /// through its parts, and most of a body is of that kind.
    pub(crate) fn calls_nothing(&self, node: Node<'_>) -> bool {
        let called = memchr::memchr(b'(', self.seen(node)).is_some();
        !called && !node.has_error() && node.known_kind() != "compound_statement"
    }

    /// The original text of a node.
    pub(crate) fn written(&self, node: Node<'_>) -> String {
        span(node).text(self.original)
    }

    /// The name that a call calls, if it is a plain name.
    pub(crate) fn callee(&self, call: Node<'_>) -> &'a [u8] {
        match call.part("function") {
            Some(function) if function.known_kind() == "identifier" => self.seen(function),
            _ => b"",
        }
    }

    /// The access that a call is, if it is one. A macro means what it was last
    /// defined as.
    pub(crate) fn access(&self, call: Node<'_>) -> Option<&'a Access> {
        let access = self.vocabulary.access(self.callee(call))?;
        let own = self.wrapper(call, access);
        Some(own.map_or(access, |wrapper| &wrapper.access))
    }

    /// The macro of the file that a call of that name is where it stands.
    fn wrapper(&self, call: Node<'_>, access: &Access) -> Option<&'a Wrapper> {
        self.wrappers.iter().rev().find(|wrapper| {
            wrapper.defined < call.start_byte() && wrapper.access.name == access.name
        })
    }

    /// The object that a macro of the file accesses.
    fn wrapped(&self, call: Node<'_>, access: &Access) -> Option<(String, Reach)> {
        let own = self.wrapper(call, access)?;
        let arguments = call.part("arguments")?;
        let mut cursor = arguments.walk();
        let all = arguments.named_children(&mut cursor);
        let given: Vec<String> = all
            .filter(|argument| argument.known_kind() != "comment")
            .map(|argument| self.written(argument))
            .collect();
        own.addresses.object(&given)
    }

    /// The access as a site; none if the call has too few arguments.
    pub(crate) fn site(&self, call: Node<'_>, access: &Access) -> Option<Site> {
        let arguments = call.part("arguments")?;
        let argument = |at: usize| arguments.named_child(answer::fits(at)?);
        let value = argument(access.value)?;
        let address = match access.address {
            Some(at) => argument(at),
            None => last_child(arguments),
        }?;
        let made = self.wrapped(call, access);
        let (object, reach) = made.unwrap_or_else(|| self.object(address));
        let mut hazards = Vec::new();
        self.hazards(value, &mut hazards);
        self.hazards(address, &mut hazards);
        if access.wrapper {
            hazards.insert(0, Hazard::Wrapped(access.name.clone()));
        }
        Some(Site {
            call: access.name.clone(),
            direction: access.direction,
            range_check: access.range_check,
            span: span(call),
            position: self.lines.position(call.start_byte()),
            value: span(value),
            address: span(address),
            object,
            reach,
            hazards,
        })
    }

    /// The object that an address lies in, and how it is reached.
    pub(crate) fn object(&self, address: Node<'_>) -> (String, Reach) {
        let inner = bare(address);
        let found = self.object_of(inner);
        match found {
            // The type that the object has is not the one that is accessed.
            (object, Reach::Whole | Reach::Element(_)) if self.is_cast(address) => {
                (object, Reach::Computed)
            }
            // Nor is that of an array which is a member and stands for an address.
            (object, Reach::Field)
                if self.is_cast(address) && inner.known_kind() != "pointer_expression" =>
            {
                (object, Reach::Computed)
            }
            found => found,
        }
    }

    fn object_of(&self, inner: Node<'_>) -> (String, Reach) {
        match inner.known_kind() {
            // Nobody reads a pointer there by hand: it is an array of the object's.
            "field_expression" if self.is_user_struct(inner) => self.place(inner),
            "identifier" | "field_expression" | "subscript_expression" => {
                (self.written(inner), Reach::Whole)
            }
            "call_expression" => self.computed(inner),
            "pointer_expression" if self.operator(inner) == b"&" => self.place(argument(inner)),
            "binary_expression" => self.sum(inner),
            "update_expression" => (self.object(argument(inner)).0, Reach::Computed),
            _ => (self.written(inner), Reach::Computed),
        }
    }

    /// `MEMBER(p)`: what is made of a user pointer alone lies in what it points to.
    fn computed(&self, call: Node<'_>) -> (String, Reach) {
        let only = call
            .part("arguments")
            .filter(|all| all.named_child_count() == 1);
        let only = only.and_then(|all| all.named_child(0)).map(bare);
        let pointer = only.filter(|only| {
            only.known_kind() == "identifier" && self.user_pointers.contains(self.seen(*only))
        });
        match pointer {
            Some(pointer) => (self.written(pointer), Reach::Computed),
            None => (self.written(call), Reach::Whole),
        }
    }

    /// `p + 1`.
    fn sum(&self, node: Node<'_>) -> (String, Reach) {
        let (Some(left), Some(right)) = (node.part("left"), node.part("right")) else {
            return (self.written(node), Reach::Computed);
        };
        let array = bare(left);
        let own = array.known_kind() == "field_expression" && self.is_user_struct(array);
        if own && self.operator(node) == b"+" {
            return self.element_of_member(array, Some(right));
        }
        let object = self.object(left);
        match (self.operator(node), &object.1) {
            (b"+", Reach::Whole) if !self.is_cast(left) => (object.0, self.element(right)),
            _ => (object.0, Reach::Computed),
        }
    }

    fn is_cast(&self, node: Node<'_>) -> bool {
        match node.known_kind() {
            "cast_expression" => true,
            "parenthesized_expression" => {
                node.named_child(0).is_some_and(|inner| self.is_cast(inner))
            }
            _ => false,
        }
    }

    /// The place whose address is taken, `p->a.b` or `p[1]`.
    fn place(&self, node: Node<'_>) -> (String, Reach) {
        let inner = bare(node);
        match inner.known_kind() {
            "field_expression" if self.operator(inner) == b"->" => {
                (self.written(argument(inner)), Reach::Field)
            }
            "field_expression" => match self.place(argument(inner)) {
                (object, Reach::Whole) => (object, Reach::Field),
                found => found,
            },
            "subscript_expression" => self.subscript(inner),
            "pointer_expression" => self.object(argument(inner)),
            _ => (self.written(inner), Reach::Whole),
        }
    }

    /// An element of the user's array, or of an array inside the user's struct.
    fn subscript(&self, node: Node<'_>) -> (String, Reach) {
        let array = bare(argument(node));
        let index = node.part("index");
        if array.known_kind() != "field_expression" || !self.is_user_struct(array) {
            let reach = index.map_or(Reach::Computed, |index| self.element(index));
            return (self.written(array), reach);
        }
        self.element_of_member(array, index)
    }

    /// An element of an array that is a member: whether it has so many says its type.
    fn element_of_member(&self, array: Node<'_>, index: Option<Node<'_>>) -> (String, Reach) {
        let known = |index| self.is_constant(index) || self.element(index) != Reach::Computed;
        let reach = match index.is_some_and(known) {
            true => Reach::Field,
            false => Reach::Computed,
        };
        (self.place(array).0, reach)
    }

    fn is_user_struct(&self, field: Node<'_>) -> bool {
        let mut root = field;
        while root.known_kind() == "field_expression" {
            root = bare(argument(root));
        }
        self.user_pointers.contains(self.seen(root))
    }

    fn element(&self, index: Node<'_>) -> Reach {
        let number = answer::text(self.seen(index)).and_then(answer::number);
        number.map_or(Reach::Computed, Reach::Element)
    }

    /// The operator of a unary, binary, field or assignment expression.
    pub(crate) fn operator(&self, node: Node<'_>) -> &'a [u8] {
        node.part("operator")
            .map(|op| self.seen(op))
            .unwrap_or_default()
    }

    fn hazards(&self, node: Node<'_>, found: &mut Vec<Hazard>) {
        match node.known_kind() {
            "sizeof_expression" | "offsetof_expression" => return,
            "call_expression" if !self.may_stay(node) => {
                found.push(Hazard::Call(self.call_name(node)))
            }
            "update_expression" | "assignment_expression" => found.push(Hazard::SideEffect),
            "subscript_expression" if !self.has_constant_index(node) => {
                found.push(Hazard::Index(self.written(argument(node))));
            }
            "compound_statement" => found.push(Hazard::Call("({ })".into())),
            _ => {}
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor)
            .for_each(|child| self.hazards(child, found));
    }

    pub(crate) fn has_constant_index(&self, subscript: Node<'_>) -> bool {
        let index = subscript.part("index");
        index.is_some_and(|index| self.is_constant(index))
    }

    /// Whether an index is a number, or a name as constants have it.
    fn is_constant(&self, index: Node<'_>) -> bool {
        let text = self.seen(index);
        let constant = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
        !text.is_empty() && text.iter().all(constant)
    }

    fn may_stay(&self, call: Node<'_>) -> bool {
        let callee = self.callee(call);
        self.vocabulary.is_pure(callee) || self.vocabulary.is_transparent(callee)
    }

    fn call_name(&self, call: Node<'_>) -> String {
        call.part("function")
            .map(|f| self.written(f))
            .unwrap_or_default()
    }
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let last = node.named_child_count().checked_sub(1)?;
    node.named_child(answer::fits(last)?)
}

/// The span of a node.
pub(crate) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The operand of an expression with one; the node itself where there is none.
pub(crate) fn argument(node: Node<'_>) -> Node<'_> {
    node.part("argument").unwrap_or(node)
}

/// The expression inside parentheses and casts.
pub(crate) fn bare(node: Node<'_>) -> Node<'_> {
    let inner = match node.known_kind() {
        "parenthesized_expression" => node.named_child(0),
        "cast_expression" => node.part("value"),
        _ => None,
    };
    inner.map_or(node, bare)
}

/// The word that a text begins with.
pub(crate) fn first_word(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// What stands between the parentheses of a condition.
pub(crate) fn inner(condition: Node<'_>) -> Span {
    condition
        .named_child(0)
        .filter(|_| condition.known_kind() == "parenthesized_expression")
        .map_or(span(condition), span)
}
