//! The range that a begin checks, as far as its arguments say.

use std::collections::{BTreeMap, BTreeSet};
use tollgate_defect::answer;

use crate::lex::{Token, TokenKind};

use super::accesses::{each_call, root_of};
use super::layout::sizeof_operand;
use super::scene::Scene;
use crate::flow::{Begin, EffectKind, Write};

/// What a begin checks.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The variable that the address is made from.
    pub(crate) root: String,
    /// The address as it is written.
    address: String,
    /// The size as it is written; none if the begin takes none.
    size: Option<String>,
    /// What `sizeof` is of, if the size is one.
    operand: Option<String>,
    /// How many elements of the object, where the size says so.
    pub(crate) elements: Option<u64>,
    /// How many bytes, where the size says so.
    pub(crate) bytes: Option<u64>,
}

impl Range {
    /// The range of a begin whose address is known.
    pub(crate) fn of(scene: &Scene<'_>, begin: &Begin) -> Option<Self> {
        let address = begin.address?;
        let root = if begin.scope.is_some() {
            first_name(&scene.page.plain(address))
        } else {
            let node = scene
                .root
                .descendant_for_byte_range(address.start, address.end)?;
            root_of(scene.context, node)
        };
        let text = scene.page.text;
        let operand = begin.size.and_then(|size| sizeof_operand(text, size));
        let size = begin.size.map(|size| scene.page.plain(size));
        let elements = elements(size.as_deref(), operand.as_deref(), &root);
        let bytes = size
            .as_deref()
            .and_then(|size| bytes(scene, size, operand.as_deref()));
        Some(Self {
            address: scene.page.plain(address),
            root,
            size,
            operand,
            elements,
            bytes,
        })
    }

    /// The range as the begin has it.
    pub(crate) fn words(&self) -> String {
        match &self.size {
            Some(size) => format!("{size} from {}", self.address),
            None => format!("what {} points to", self.address),
        }
    }

    /// What is wrong with the range itself.
    pub(crate) fn wrong(&self, scene: &Scene<'_>) -> Option<String> {
        let size = self.size.as_deref()?;
        let endless = ["TASK_SIZE", "ULONG_MAX", "SIZE_MAX", "LONG_MAX", "INT_MAX"];
        if endless.contains(&size) || size.starts_with('~') || size == "-1" {
            return Some(format!("the size {size} is no size of an object"));
        }
        let operand = self.operand.as_deref()?;
        if operand == self.root && declared_type(scene, &self.root).is_some() {
            return Some(format!(
                "sizeof({operand}) is the size of the pointer, not of what it points to"
            ));
        }
        let own = declared_type(scene, &self.root)?;
        let plain = self.address == self.root;
        let other = operand
            .strip_prefix('*')
            .map_or(Some(operand.to_owned()), |name| declared_type(scene, name))?;
        let wrong =
            plain && own.starts_with("struct ") && other.starts_with("struct ") && own != other;
        wrong.then(|| {
            format!(
                "{} points to {own}, but the size is that of {other}",
                self.root
            )
        })
    }

    /// Whether the size is that of one object.
    pub(crate) fn is_exact(&self, scene: &Scene<'_>) -> bool {
        let operand = self.operand.as_deref();
        operand.is_some_and(|operand| {
            operand == format!("*{}", self.root)
                || declared_type(scene, &self.root).is_some_and(|own| own == operand)
        })
    }

    /// Whether the range is one member and the address another one.
    pub(crate) fn leaves_member(&self, address: &str) -> bool {
        let member = self.address.starts_with('&') && self.address.contains("->");
        let operand = self.operand.as_deref().unwrap_or_default();
        let whole = self.address.trim_start_matches('&');
        member
            && operand == whole
            && address.starts_with('&')
            && !address.starts_with(&self.address)
    }

    /// Whether the function checks that object by itself.
    pub(crate) fn is_checked_elsewhere(&self, scene: &Scene<'_>, root: &str) -> bool {
        let mut found = false;
        each_call(scene.root, &mut |call| {
            let check = scene.page.words.checks_range(scene.context.callee(call));
            let address = call
                .child_by_field_name("arguments")
                .and_then(|a| a.named_child(0));
            found |= check && address.is_some_and(|a| root_of(scene.context, a) == root);
        });
        found
    }
}

/// The variable of an address that the parser has not seen: a statement with a
/// scope is a loop to it.
fn first_name(address: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = address.trim_start_matches(|c| !is_word(c));
    start.chars().take_while(|c| is_word(*c)).collect()
}

/// `sizeof(*p)` is one element, `2 * sizeof(…)` two.
fn elements(size: Option<&str>, operand: Option<&str>, root: &str) -> Option<u64> {
    if let Some(operand) = operand {
        return (operand == format!("*{root}")).then_some(1);
    }
    let size = size?;
    let (count, _) = match size.starts_with("sizeof") {
        true => size.rsplit_once('*').map(|(unit, count)| (count, unit)),
        false => size.split_once('*'),
    }?;
    answer::number(count.trim())
}

/// How many bytes a size is, where a `long` has 8.
fn bytes(scene: &Scene<'_>, size: &str, operand: Option<&str>) -> Option<u64> {
    match operand {
        None => answer::number(size),
        Some("void *") => Some(8),
        Some(name) => scene.context.vocabulary.scalar(name, 8),
    }
}

pub(crate) fn function_tokens<'s>(scene: &Scene<'s>) -> &'s [Token] {
    let place = scene.body.header.join(scene.body.span);
    let tokens = scene.page.tokens;
    let first = tokens.partition_point(|t| t.span.start < place.start);
    let last = tokens.partition_point(|t| t.span.end <= place.end);
    tokens.get(first..last).unwrap_or_default()
}

/// The type of `T __user *name`, as the function declares it.
pub(crate) fn declared_type(scene: &Scene<'_>, name: &str) -> Option<String> {
    let tokens = function_tokens(scene);
    let text = scene.page.text;
    let at = tokens.windows(2).position(|pair| {
        let [star, word] = pair else { return false };
        star.is(b'*') && word.span.of(text) == name.as_bytes()
    })?;
    let before = tokens.get(..at)?.iter().rev();
    let mut words: Vec<&[u8]> = before
        .take_while(|t| t.kind == TokenKind::Word)
        .map(|t| t.span.of(text))
        .collect();
    words.reverse();
    words.contains(&b"__user".as_slice()).then_some(())?;
    words.retain(|w| {
        !matches!(
            *w,
            b"__user" | b"const" | b"volatile" | b"static" | b"register"
        )
    });
    let words: Vec<String> = words
        .iter()
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    Some(words.join(" "))
}

/// Whether the one variable is made from the other, by whatever way.
pub(crate) fn is_related(scene: &Scene<'_>, one: &str, other: &str) -> bool {
    let edges = relations(scene);
    let mut known = BTreeSet::from([one]);
    let mut work = vec![one];
    while let Some(name) = work.pop() {
        for next in edges.get(name).into_iter().flatten() {
            if known.insert(next) {
                work.push(next);
            }
        }
    }
    known.contains(other)
}

/// Variables that stand on the two sides of an assignment.
fn relations<'s>(scene: &'s Scene<'_>) -> BTreeMap<&'s str, BTreeSet<&'s str>> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for effect in &scene.graph.effects {
        let EffectKind::Write(Write {
            value: Some(value), ..
        }) = &effect.kind
        else {
            continue;
        };
        let left = scene.graph.name_of(effect);
        for right in scene.graph.effects_in(*value) {
            let right = scene.graph.name_of(right);
            edges.entry(left).or_default().insert(right);
            edges.entry(right).or_default().insert(left);
        }
    }
    edges
}
