//! The header that a window needs.

use tollgate_source::{Span, Token, TokenKind, tokens};

use crate::directives::words;
use crate::edit::Edit;

struct Include {
    span: Span,
    depth: usize,
    path: String,
}

/// The edit that makes the file include `<linux/uaccess.h>` itself, if it does not.
pub(crate) fn uaccess(text: &[u8]) -> Option<Edit> {
    let all = tokens(text, 0);
    let known = includes(text, &all);
    if known
        .iter()
        .any(|include| include.path == "<linux/uaccess.h>")
    {
        return None;
    }
    let line = "#include <linux/uaccess.h>\n";
    let includes = includes(text, leading(text, &all));
    let depth = includes.iter().map(|include| include.depth).min()?;
    let top: Vec<&Include> = includes
        .iter()
        .filter(|include| include.depth == depth)
        .collect();
    let linux: Vec<&&Include> = top
        .iter()
        .filter(|include| include.path.starts_with("<linux/"))
        .collect();
    let sorted = linux.is_sorted_by_key(|include| &include.path);
    let next = linux
        .iter()
        .find(|include| sorted && include.path.as_str() > "<linux/uaccess.h>");
    match (next, linux.last(), top.first()) {
        (Some(next), _, _) => Some(Edit::insert(next.span.start, line)),
        (None, Some(last), _) => Some(Edit::insert(line_end(text, last.span.end), line)),
        (None, None, Some(first)) => Some(Edit::insert(first.span.start, line)),
        (None, None, None) => None,
    }
}

/// The headers that the file includes from its own folder.
pub(crate) fn own_headers(text: &[u8]) -> Vec<String> {
    let known = includes(text, &tokens(text, 0)).into_iter();
    known
        .filter_map(|include| {
            Some(
                include
                    .path
                    .strip_prefix('"')?
                    .strip_suffix('"')?
                    .to_owned(),
            )
        })
        .collect()
}

fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter()
        .position(|b| *b == b'\n')
        .map_or(text.len(), |at| from + at + 1)
}

/// The first lines without code between them that include anything. An include
/// further down may fill an initialiser or undo what a macro means.
fn leading<'t>(text: &[u8], all: &'t [Token]) -> &'t [Token] {
    let mut groups = all.split(Token::is_code);
    let is_include = |token: &Token| {
        token.kind == TokenKind::Directive && words(text, token).starts_with("include")
    };
    groups
        .find(|group| group.iter().any(is_include))
        .unwrap_or_default()
}

fn includes(text: &[u8], among: &[Token]) -> Vec<Include> {
    let mut depth = 0usize;
    let mut found = Vec::new();
    for line in among
        .iter()
        .filter(|token| token.kind == TokenKind::Directive)
    {
        let words = words(text, line);
        if words.starts_with("if") {
            depth += 1;
        } else if words.starts_with("endif") {
            depth = depth.saturating_sub(1);
        } else if let Some(path) = words.strip_prefix("include") {
            let path = path
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
            found.push(Include {
                span: line.span,
                depth,
                path,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::apply;

    fn with(text: &str) -> String {
        let edits: Vec<Edit> = uaccess(text.as_bytes()).into_iter().collect();
        String::from_utf8(apply(text.as_bytes(), &edits).unwrap()).unwrap()
    }

    #[test]
    fn it_is_put_in_order() {
        let text = "#include <linux/fs.h>\n#include <linux/wait.h>\n#include <asm/page.h>\n";
        assert_eq!(
            with(text),
            text.replace(
                "#include <linux/wait",
                "#include <linux/uaccess.h>\n#include <linux/wait"
            )
        );
    }

    #[test]
    fn it_is_put_last_where_there_is_no_order() {
        let text = "#include <linux/wait.h>\n#include <linux/fs.h>\n#include <asm/page.h>\n";
        assert_eq!(
            with(text),
            text.replace("#include <asm", "#include <linux/uaccess.h>\n#include <asm")
        );
    }

    #[test]
    fn an_include_under_a_condition_is_no_place() {
        let text = "#ifndef H\n#define H\n#include <linux/fs.h>\n#ifdef X\n#include <linux/x.h>\n#endif\n#endif\n";
        assert_eq!(
            with(text),
            text.replace("fs.h>\n", "fs.h>\n#include <linux/uaccess.h>\n")
        );
    }

    #[test]
    fn an_include_in_an_initialiser_is_no_place() {
        let text = "#include <linux/bpf.h>\n#include <linux/trace_events.h>\n\nstatic const int types[] = {\n#include <linux/bpf_types.h>\n};\n";
        assert_eq!(
            with(text),
            text.replace("events.h>\n", "events.h>\n#include <linux/uaccess.h>\n")
        );
    }

    #[test]
    fn a_declaration_may_come_before_the_first() {
        let text = "static int version = 3;\n#define V \"3\"\n#include <linux/fs.h>\n\nint x;\n#include <linux/b.h>\n";
        assert_eq!(
            with(text),
            text.replace("fs.h>\n", "fs.h>\n#include <linux/uaccess.h>\n")
        );
    }

    #[test]
    fn once_is_enough() {
        let text = "#include <linux/uaccess.h>\n";
        assert_eq!(with(text), text);
    }
}
