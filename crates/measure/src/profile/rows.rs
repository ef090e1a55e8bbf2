//! Rows with a percentage: `perf report`, `perf top`, `perf annotate`.

use std::collections::HashMap;
use tollgate_defect::answer;

use super::Profile;

/// The rows of `perf report --stdio` and `perf top`.
pub(super) fn report(lines: &[&str]) -> Profile {
    let mut best: HashMap<(String, bool), f64> = HashMap::new();
    let mut table: HashMap<(String, bool), f64> = HashMap::new();
    let mut last = f64::INFINITY;
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let Some((percent, kernel, symbol)) = row(line, next) else {
            continue;
        };
        // Rows stand in falling order: a larger one begins another report.
        if percent > last {
            keep_largest(&mut best, &mut table);
        }
        last = percent;
        *table.entry((symbol, kernel)).or_insert(0.0) += percent;
    }
    keep_largest(&mut best, &mut table);
    Profile::new(&unit(lines), best)
}

fn keep_largest(best: &mut HashMap<(String, bool), f64>, table: &mut HashMap<(String, bool), f64>) {
    for (key, percent) in table.drain() {
        let largest = best.entry(key).or_insert(0.0);
        *largest = largest.max(percent);
    }
}

/// `27.63%  comm  dso  [k] symbol`; where mail has wrapped it, the symbol stands
/// on the next line.
fn row(line: &str, next: &str) -> Option<(f64, bool, String)> {
    let mut words = line.split_whitespace().peekable();
    let mut percent = percentage(words.next()?)?;
    // With --children, the second is the function's own.
    while let Some(own) = words.peek().and_then(|word| percentage(word)) {
        percent = own;
        words.next();
    }
    let mark = words.find(|word| is_mark(word))?;
    let wrapped = next
        .split_whitespace()
        .next()
        .filter(|word| percentage(word).is_none());
    let symbol = words.next().or(wrapped)?;
    Some((percent, mark == "[k]", symbol.to_owned()))
}

/// `[k]` kernel, `[.]` user space, `[g]`, `[u]` guests, `[H]` hypervisor.
fn is_mark(word: &str) -> bool {
    word.len() == 3 && word.starts_with('[') && word.ends_with(']')
}

fn percentage(word: &str) -> Option<f64> {
    number(word.strip_suffix('%')?)
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    answer::number::<f64>(text).filter(|number| plain && number.is_finite())
}

/// `# Samples: 34K of event 'cycles'`.
fn unit(lines: &[&str]) -> String {
    let event = lines
        .iter()
        .find_map(|line| line.split_once("of event '")?.1.split_once('\''))
        .map(|(event, _)| event);
    match event {
        Some(event) => format!("samples of {event}"),
        None => "samples".to_owned(),
    }
}

/// The rows of `perf annotate --stdio`, `0.29 :   c057f858:  3d 20  lis r9,1`,
/// as a part of the function that a header `<symbol>:` or a jump into it,
/// `<symbol+0x10>`, names.
pub(super) fn annotated(lines: &[&str]) -> Profile {
    let mut parts: HashMap<(String, bool), f64> = HashMap::new();
    let mut pending = 0.0;
    for line in lines {
        let percent = line
            .split_once(':')
            .filter(|(_, code)| code.trim_start().contains(':'))
            .and_then(|(percent, _)| number(percent.trim()));
        pending += percent.unwrap_or(0.0);
        if let Some(symbol) = named(line) {
            *parts.entry((symbol.to_owned(), true)).or_insert(0.0) += pending;
            pending = 0.0;
        }
    }
    // What follows the last name belongs to the function that had it.
    if let Some(largest) = parts.values_mut().max_by(|a, b| a.total_cmp(b)) {
        *largest += pending;
    }
    parts.retain(|_, percent| *percent > 0.0);
    Profile::new("samples of the function itself", parts)
}

/// `<symbol+0x10>` or `<symbol>:`.
fn named(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('<')?;
    let (inside, _) = rest.split_once('>')?;
    let symbol = inside.split('+').next()?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    (!symbol.is_empty() && symbol.bytes().all(plain)).then_some(symbol)
}
