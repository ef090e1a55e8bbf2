//! What the macros of a file define, and which files it includes.

use memchr::memmem::{self, Finder, find_iter};

use super::Extent;
use super::parse::extent;
use crate::lex::{Token, TokenKind, tokens};
use crate::path::TreePath;

/// What a file says about a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// Nothing.
    Nothing,
    /// Its value, the same wherever the file defines it.
    Value(Extent),
    /// More than one value, or none that a size can have.
    Unclear,
}

/// The value that a file's `#define` gives a macro without parameters.
pub(super) fn given(text: &[u8], name: &str) -> Given {
    let mut found = Given::Nothing;
    for at in Finder::new(name).find_iter(text) {
        let Some(directive) = directive(text, at, name.len()) else {
            continue;
        };
        let value = match directive {
            b"define" => value(text, at + name.len()).map_or(Given::Unclear, Given::Value),
            // Another file may have defined it.
            b"ifndef" => Given::Unclear,
            _ => continue,
        };
        match found {
            Given::Nothing => found = value,
            ref before if *before == value => {}
            _ => return Given::Unclear,
        }
    }
    found
}

/// The directive whose first word stands at a place and ends after `length`.
fn directive(text: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    let next = text.get(at + length).copied().unwrap_or(b'\n');
    let before = text.get(..at)?;
    let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line = before.get(line..)?;
    let word = line.trim_ascii();
    let apart = line.len() > 1 && line.last().is_some_and(u8::is_ascii_whitespace);
    let ends = next.is_ascii_whitespace() || next == b'/';
    let word = word.strip_prefix(b"#").filter(|_| apart && ends)?;
    Some(word.trim_ascii_start())
}

/// The rest of a line as a constant.
fn value(text: &[u8], at: usize) -> Option<Extent> {
    let rest = text.get(at..)?;
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let all: Vec<Token> = tokens(text.get(..at + end)?, at)
        .into_iter()
        .filter(|t| t.kind != TokenKind::Comment)
        .collect();
    extent(text, &all, &|_| None)
}

/// The files that a file includes and that may lie in the tree, where the
/// headers that all architectures share lie; `folder` is that of the file.
#[must_use]
pub fn included(text: &[u8], folder: &TreePath) -> Vec<TreePath> {
    let places = find_iter(text, b"#include");
    let named = places.filter_map(|at| {
        let rest = text.get(at + b"#include".len()..)?.trim_ascii_start();
        let (open, rest) = rest.split_first()?;
        let close = if *open == b'<' { b'>' } else { b'"' };
        let end = rest.iter().take(LONGEST).position(|b| *b == close)?;
        let name = rest.get(..end)?;
        let below = memmem::find(name, b"..").is_none();
        below.then_some((*open, name))
    });
    let mut found = Vec::new();
    for (open, name) in named {
        match open {
            b'"' => found.push(folder.joined(name)),
            b'<' if !name.starts_with(b"asm/") => {
                found.push(TreePath::within("include").joined(name));
                found.push(TreePath::within("include/uapi").joined(name));
            }
            _ => {}
        }
    }
    found
}

/// Longer than any path of a header.
const LONGEST: usize = 256;
