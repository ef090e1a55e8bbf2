//! Samples of time one a line, as lat_sig prints them, under the words that say
//! which kernel and which benchmark they are of.

use serde::Serialize;

use super::lines::Line;
use super::times::duration;
use crate::profile::Place;

/// Repeated measurements of one benchmark on one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Where in the text.
    pub place: Place,
    /// The kernel, in the words above; empty where there are none.
    pub heading: String,
    /// The benchmark, in the words right above its samples; empty where there are
    /// none.
    pub label: String,
    /// What was measured, `Signal handler overhead`.
    pub what: String,
    /// In nanoseconds, in order.
    pub nanoseconds: Vec<f64>,
}

/// All points of a text, in order.
pub(crate) fn points(lines: &[Line<'_>]) -> Vec<Point> {
    let mut done: Vec<Point> = Vec::new();
    let mut open: Option<Point> = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let Some((what, time, taken)) = sample(lines, at) else {
            done.extend(open.take());
            at += 1;
            continue;
        };
        if open.as_ref().is_some_and(|point| point.what != what) {
            done.extend(open.take());
        }
        let point = open.get_or_insert_with(|| begin(lines, at, line.number, what, done.last()));
        point.nanoseconds.push(time);
        point.place.last = line.number + taken - 1;
        at += taken;
    }
    done.extend(open.take());
    done
}

/// `Signal handler overhead: 1.7531 microseconds`, wrapped or not.
fn sample<'l>(lines: &'l [Line<'_>], at: usize) -> Option<(&'l str, f64, usize)> {
    let line = lines.get(at)?;
    let (what, rest) = line.text.split_once(':')?;
    let what = what.trim();
    let known = [
        "Signal handler overhead",
        "Signal handler installation",
        "Protection fault",
    ];
    if !known.contains(&what) {
        return None;
    }
    let time = |rest: &str| {
        let mut words = rest.split_whitespace();
        let joined: String = words.by_ref().take(2).collect();
        words
            .next()
            .is_none()
            .then(|| duration(&joined, None))
            .flatten()
    };
    if let Some(time) = time(rest) {
        return Some((what, time, 1));
    }
    let next = lines.get(at + 1)?;
    Some((what, time(&format!("{rest} {}", next.text))?, 2))
}

fn begin(
    lines: &[Line<'_>],
    at: usize,
    number: usize,
    what: &str,
    before: Option<&Point>,
) -> Point {
    let (heading, label) = words_above(lines, at, before);
    Point {
        place: Place {
            first: number,
            last: number,
        },
        heading,
        label,
        what: what.to_owned(),
        nanoseconds: Vec::new(),
    }
}

/// The line above is the benchmark; what stands above that, up to an empty line, the
/// kernel. Right behind other samples it is still the same kernel.
fn words_above(lines: &[Line<'_>], at: usize, before: Option<&Point>) -> (String, String) {
    let above = lines.get(..at).unwrap_or_default();
    let same_kernel = || before.map_or(String::new(), |point| point.heading.clone());
    let mut words = above
        .iter()
        .rev()
        .take_while(|line| !line.is_blank() && !is_rule(&line.text));
    let is_sample = |line: &Line<'_>| line.text.contains(':') && line.text.contains("seconds");
    let Some(label) = words.next().filter(|line| !is_sample(line)) else {
        return (same_kernel(), String::new());
    };
    let text = label.text.trim().to_owned();
    let mut heading: Vec<&str> = Vec::new();
    for line in words {
        if is_sample(line) {
            return (same_kernel(), text);
        }
        heading.push(line.text.trim());
    }
    heading.reverse();
    match heading.is_empty() {
        // A label that stands alone is of a kernel with its own words above an
        // empty line, or of none.
        true => (same_kernel(), text),
        false => (heading.join(" "), text),
    }
}

/// `----`
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.bytes().all(|b| b == b'-' || b == b'=')
}
