//! How lines of kernel C are written: tabs of eight, 80 columns where it can be.

use tollgate_source::{Token, TokenKind, closing, tokens};

/// Columns that a line should keep to: Documentation/process/coding-style.rst.
pub(crate) const PREFERRED: usize = 80;

/// Columns beyond which scripts/checkpatch.pl warns.
const LONGEST: usize = 100;

/// The columns that text like this keeps to: 80, or 100 if it is wider than 80.
pub(crate) fn widest(text: &str) -> usize {
    let widest = text.lines().map(width).max().unwrap_or(0);
    if widest > PREFERRED {
        LONGEST
    } else {
        PREFERRED
    }
}

/// The width of a text whose tabs end at multiples of eight.
pub(crate) fn width(text: &str) -> usize {
    text.chars().fold(0, |column, c| {
        if c == '\t' {
            (column / 8 + 1) * 8
        } else {
            column + 1
        }
    })
}

/// `head(a, b, c)tail`, broken after a comma and aligned to the parenthesis
/// where the line is too long for one.
pub(crate) fn call(
    columns: usize,
    indent: &str,
    head: &str,
    arguments: &[&str],
    tail: &str,
) -> String {
    let opening = format!("{indent}{head}(");
    let flat = format!("{opening}{}{tail}", arguments.join(", "));
    if width(&flat) <= columns {
        return flat;
    }
    let broken = filled(columns, &opening, arguments, tail);
    let helps = broken.lines().all(|line| width(line) <= columns) || width(&flat) > LONGEST;
    if helps { broken } else { flat }
}

fn filled(columns: usize, opening: &str, arguments: &[&str], tail: &str) -> String {
    let margin = aligned(width(opening));
    let mut out = String::new();
    let mut line = opening.to_owned();
    for (at, argument) in arguments.iter().enumerate() {
        let end = if at + 1 == arguments.len() { tail } else { "," };
        let piece = format!("{argument}{end}");
        let first = line == opening || line == margin;
        let gap = if first { "" } else { " " };
        if !first && width(&line) + 1 + width(&piece) > columns {
            out.push_str(&line);
            out.push('\n');
            line = format!("{margin}{piece}");
        } else {
            line = format!("{line}{gap}{piece}");
        }
    }
    out + &line
}

fn aligned(column: usize) -> String {
    "\t".repeat(column / 8) + &" ".repeat(column % 8)
}

/// Words of a text, one blank between two; strings keep theirs.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |all, line| {
        let tight = all.ends_with(['(', '[', '.', '>'])
            || line.starts_with([')', ']', '.', ','])
            || line.starts_with("->");
        if tight { all + line } else { all + " " + line }
    })
}

/// An argument as scripts/checkpatch.pl --strict wants a new line to have it:
/// blanks around binary operators, no parentheses around a plain operand of `&`.
pub(crate) fn tidy(text: &str) -> String {
    let bytes = text.as_bytes();
    let all = tokens(bytes, 0);
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    for (index, token) in all.iter().enumerate() {
        out.push_str(text.get(at..token.span.start).unwrap_or_default());
        at = token.span.end;
        let word = text
            .get(token.span.start..token.span.end)
            .unwrap_or_default();
        if is_binary(&all, index) {
            let before = if out.ends_with(' ') { "" } else { " " };
            let behind = if text.get(at..).is_some_and(|rest| rest.starts_with(' ')) {
                ""
            } else {
                " "
            };
            out.push_str(&format!("{before}{word}{behind}"));
        } else if !is_needless(text, &all, index) {
            out.push_str(word);
        }
    }
    out + text.get(at..).unwrap_or_default()
}

/// Whether the token is one of `+ - * /` between two operands, alone.
fn is_binary(all: &[Token], index: usize) -> bool {
    let near = |at: Option<usize>| at.and_then(|at| all.get(at));
    let Some(token) = all.get(index) else {
        return false;
    };
    let operator = [b'+', b'-', b'*', b'/'].iter().any(|b| token.is(*b));
    let (Some(before), Some(behind)) = (near(index.checked_sub(1)), near(Some(index + 1))) else {
        return false;
    };
    // After a parenthesis the operator may belong to a cast.
    let left = matches!(before.kind, TokenKind::Word | TokenKind::Number) || before.is(b']');
    let right = matches!(behind.kind, TokenKind::Word | TokenKind::Number) || behind.is(b'(');
    operator && left && right
}

/// Whether the token is a parenthesis of `&(p->a)`.
fn is_needless(text: &str, all: &[Token], index: usize) -> bool {
    let opens = |open: usize| {
        let address = open == 1 && all.first().is_some_and(|t| t.is(b'&'));
        address
            && closing(all, open)
                .is_some_and(|close| close + 1 == all.len() && is_place(text, all, open, close))
    };
    opens(index) || index + 1 == all.len() && opens(1) && all.get(index).is_some_and(|t| t.is(b')'))
}

/// Whether names, members and indices are all there is between two tokens.
fn is_place(text: &str, all: &[Token], open: usize, close: usize) -> bool {
    let inside = all.get(open + 1..close).unwrap_or_default();
    let starts = inside.first().is_some_and(|t| t.kind == TokenKind::Word);
    let plain = |t: &Token| {
        matches!(t.kind, TokenKind::Word | TokenKind::Number)
            || [b'-', b'>', b'.', b'[', b']'].iter().any(|b| t.is(*b))
    };
    let arrows = |b: &[u8]| text.as_bytes().windows(2).filter(|pair| *pair == b).count();
    let minuses = inside.iter().filter(|t| t.is(b'-')).count();
    starts && inside.iter().all(plain) && minuses == arrows(b"->")
}

/// A condition as scripts/checkpatch.pl --strict wants a new line to have it: no
/// parentheses around a plain comparison beside `||`.
pub(crate) fn untied(condition: &str) -> String {
    let all = tokens(condition.as_bytes(), 0);
    let mut out = String::with_capacity(condition.len());
    let (mut first, mut at) = (0, 0);
    for end in operands(&all) {
        let operand = all.get(first..end).unwrap_or_default();
        if let [open, .., close] = operand
            && is_bracketed(operand)
            && compares(condition, operand)
        {
            out.push_str(condition.get(at..open.span.start).unwrap_or_default());
            out.push_str(
                condition
                    .get(open.span.end..close.span.start)
                    .unwrap_or_default(),
            );
            at = close.span.end;
        }
        // Behind the two of `||`.
        first = end + 2;
    }
    out + condition.get(at..).unwrap_or_default()
}

/// Where the operands of `||` end that stand in no brackets.
fn operands(all: &[Token]) -> Vec<usize> {
    let mut depth = 0usize;
    let mut ends = Vec::new();
    for (at, token) in all.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            TokenKind::Punct(b'|') if depth == 0 => {
                let next = all.get(at + 1).filter(|next| next.is(b'|'));
                let double = next.is_some_and(|next| next.span.start == token.span.end);
                ends.extend(double.then_some(at));
            }
            _ => {}
        }
    }
    ends.push(all.len());
    ends
}

fn is_bracketed(operand: &[Token]) -> bool {
    let opens = operand.first().is_some_and(|t| t.is(b'('));
    opens && closing(operand, 0).is_some_and(|close| close + 1 == operand.len())
}

/// Whether one comparison of names, members and numbers is all there is in brackets.
fn compares(text: &str, operand: &[Token]) -> bool {
    let [_, inside @ .., _] = operand else {
        return false;
    };
    let place = |t: &Token| matches!(t.kind, TokenKind::Word | TokenKind::Number) || t.is(b'.');
    let others = inside.split(place).map(|marks| spelled(text, marks));
    let marks: Vec<String> = others
        .filter(|mark| !mark.is_empty() && mark != "->")
        .collect();
    matches!(marks.as_slice(), [one] if COMPARISONS.contains(&one.as_str()))
}

/// The operators that compare two values.
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

fn spelled(text: &str, marks: &[Token]) -> String {
    marks
        .iter()
        .map(|mark| mark.span.text(text.as_bytes()))
        .collect()
}

/// `text` with the indentation of its lines moved from `from` to `to`.
pub(crate) fn reindent(text: &str, from: &str, to: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix(from) {
        Some(rest) if !line.trim().is_empty() => format!("{to}{rest}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A paragraph of words in lines of at most `columns`.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Whether `text` holds `name` as a word, or as a whole expression; a member of
/// that name is something else.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let front = text.get(..at).unwrap_or_default();
            let after = text.get(at + name.len()..).and_then(|s| s.chars().next());
            let member = front.ends_with('.') || front.ends_with("->");
            !member && !is_word(front.chars().next_back()) && !is_word(after)
        })
}

/// The body of an `if`, with braces if it has more than one statement.
pub(crate) fn arm(statements: &[String], indent: &str) -> String {
    let body = reindent(&statements.join("\n"), "", &format!("{indent}\t"));
    if statements.len() == 1 {
        format!("\n{body}")
    } else {
        format!(" {{\n{body}\n{indent}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_tidied_and_nothing_else() {
        let cases = [
            ("a+b", "a + b"),
            ("regs[i]/HZ", "regs[i] / HZ"),
            ("p->a - 1", "p->a - 1"),
            ("(u32 __user *)p", "(u32 __user *)p"),
            ("*p+-1", "*p+-1"),
            ("x++ + y", "x++ + y"),
            ("&(ur->offset)", "&ur->offset"),
            ("&(a.b[2])", "&a.b[2]"),
            ("&(p)->a", "&(p)->a"),
            ("&(p + 1)->a", "&(p + 1)->a"),
            ("\"a+b\"", "\"a+b\""),
        ];
        for (before, after) in cases {
            assert_eq!(tidy(before), after);
        }
    }

    #[test]
    fn what_is_wider_than_80_columns_has_100() {
        for (columns, widest_line) in [(1, 80), (80, 80), (81, 100), (120, 100)] {
            let text = format!("a\n{}\nb\n", "x".repeat(columns));
            assert_eq!(widest(&text), widest_line, "{columns} columns");
        }
    }

    #[test]
    fn a_comparison_needs_no_parentheses() {
        assert_eq!(untied("(a >= b->c) || (a & 0x7)"), "a >= b->c || (a & 0x7)");
        assert_eq!(untied("(a == b) && c"), "(a == b) && c");
        assert_eq!(untied("(a = b) || (f(a) < 0)"), "(a = b) || (f(a) < 0)");
        assert_eq!(untied("(a==b)||(c->d!=2)"), "a==b||c->d!=2");
        assert_eq!(untied("(a ==\tb) ||\n\t(c < d)"), "a ==\tb ||\n\tc < d");
        assert_eq!(untied("f((a == b) || c) || d"), "f((a == b) || c) || d");
        assert_eq!(
            untied("(a == b) || (c == d) != e"),
            "a == b || (c == d) != e"
        );
        assert_eq!(
            untied("(a < b > c) || (-a == b)"),
            "(a < b > c) || (-a == b)"
        );
        assert_eq!(untied("(c == '|') || (a == b)"), "(c == '|') || a == b");
    }

    #[test]
    fn a_long_call_is_broken_after_a_comma() {
        let name = "a_name_that_is_quite_long->and_a_member_of_it";
        let text = call(80, "\t", "unsafe_put_user", &[name, name, "efault"], ");");
        assert_eq!(
            text,
            format!("\tunsafe_put_user({name},\n\t\t\t{name}, efault);")
        );
    }
}
