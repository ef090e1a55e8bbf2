//! The call graphs that `perf report --stdio` draws under its rows.

use super::lines::{Line, percentage};
use crate::profile::{Frame, Row, Space, Stack};

/// Whether a line is of a drawing and no row: `|--4.00%--name`, `---name`.
pub(crate) fn is_drawn(text: &str) -> bool {
    text.starts_with('|') || text.starts_with("--") && !text.starts_with("-->")
}

/// The lines of the drawing that begins at a line, up to the empty one behind it.
pub(crate) fn region<'a, 't>(lines: &'a [Line<'t>], at: usize) -> Vec<&'a Line<'t>> {
    let rest = lines.get(at..).unwrap_or_default();
    let drawn = rest
        .first()
        .is_some_and(|line| is_drawn(line.text.trim_start()));
    if !drawn {
        return Vec::new();
    }
    let is_row = |line: &&Line<'_>| {
        line.text
            .split_whitespace()
            .next()
            .is_some_and(|word| percentage(word).is_some())
    };
    rest.iter()
        .take_while(|line| !line.is_blank() && !is_row(line))
        .collect()
}

/// A function of the drawing.
struct Node {
    indent: usize,
    /// Of all samples or of its parent's; where none is drawn, that of the parent.
    percent: Option<f64>,
    symbol: String,
}

/// The stacks that the drawing under a row shows. perf draws callees first (the
/// row's own symbol, then its callers) or callers first (then it ends in the symbol).
pub(crate) fn stacks(region: &[&Line<'_>], row: &Row) -> Vec<Stack> {
    let nodes: Vec<Node> = region.iter().filter_map(|line| node(&line.text)).collect();
    let mut paths = paths(&nodes, row.percent);
    if row.with_callees.is_some() {
        // With --children the drawing of a row also leads on to what it calls: only
        // what ends in the row's symbol is of its own samples.
        paths.retain(|(path, _)| path.len() > 1 && path.last() == Some(&row.symbol));
    }
    for (path, _) in &mut paths {
        if path.first() != Some(&row.symbol) && path.last() == Some(&row.symbol) {
            path.reverse();
        }
        if path.first() != Some(&row.symbol) {
            path.insert(0, row.symbol.clone());
        }
    }
    let frame = |(at, symbol): (usize, String)| Frame {
        symbol,
        space: if at == 0 { row.space } else { Space::Unknown },
    };
    paths
        .into_iter()
        .map(|(path, percent)| Stack {
            frames: path.into_iter().enumerate().map(frame).collect(),
            percent,
        })
        .collect()
}

fn node(text: &str) -> Option<Node> {
    let indent = text
        .chars()
        .take_while(|c| " |-".contains(*c) || *c == '\t')
        .count();
    let body: &str = text.trim_start_matches([' ', '|', '-', '\t']);
    if body.is_empty() {
        return None;
    }
    let (percent, symbol, indent) = match body.split_once("%--") {
        // The name stands where those below it do.
        Some((part, symbol)) => (super::lines::number(part), symbol, indent + part.len() + 3),
        None => (None, body, indent),
    };
    let symbol = symbol.split_whitespace().next()?.to_owned();
    Some(Node {
        indent,
        percent,
        symbol,
    })
}

/// From the root of the drawing to each of its ends, with the part of each.
fn paths(nodes: &[Node], whole: f64) -> Vec<(Vec<String>, f64)> {
    let mut open: Vec<(usize, String, f64)> = Vec::new();
    let mut found = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        // Lines at one depth follow one another in one chain, unless one has a
        // percentage, which begins a branch.
        if node.percent.is_some() {
            while open
                .last()
                .is_some_and(|(indent, _, _)| *indent >= node.indent)
            {
                open.pop();
            }
        }
        while open
            .last()
            .is_some_and(|(indent, _, _)| *indent > node.indent)
        {
            open.pop();
        }
        let above = open.last().map_or(whole, |(_, _, part)| *part);
        let part = node.percent.unwrap_or(above);
        open.push((node.indent, node.symbol.clone(), part));
        let deeper = nodes.get(at + 1).is_some_and(|next| {
            next.indent > node.indent || next.indent == node.indent && next.percent.is_none()
        });
        if !deeper {
            let path = open.iter().map(|(_, symbol, _)| symbol.clone()).collect();
            found.push((path, part));
        }
    }
    found
}
