//! Folded stacks: `main;read;do_syscall_64_[k] 12`, outermost first.

use super::lines::Line;
use crate::gather::Gather;
use crate::profile::{Form, Frame, Measure, Profile, Samples, Space};

/// What is no stack among stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Odd {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What stands there, cut.
    pub(crate) text: String,
}

/// A sum above this is of time, bytes or instructions: nobody takes so many samples.
const MOST_SAMPLES: f64 = 20_000_000.0;

/// The profile of a text in which most lines are folded stacks; none where few are.
///
/// # Errors
/// The first line that is none, where most are.
pub(crate) fn stacks(lines: &[Line<'_>]) -> Result<Option<Profile>, Odd> {
    let full: Vec<&Line<'_>> = lines
        .iter()
        .filter(|line| !line.is_blank() && !line.text.starts_with('#'))
        .collect();
    let read = full.iter().filter(|line| stack(&line.text).is_some());
    let deep = read.clone().any(|line| line.text.contains(';'));
    let (read, all) = (read.count(), full.len());
    // One stack alone has a `;`; names and numbers without any may be anything.
    if !deep || read * 2 < all {
        return Ok(None);
    }
    if let Some(odd) = full.iter().find(|line| stack(&line.text).is_none()) {
        let text: String = odd.text.chars().take(60).collect();
        return Err(Odd {
            line: odd.number,
            text,
        });
    }
    let names_kernel = full.iter().any(|line| line.text.contains("_[k]"));
    let mut gather = Gather::default();
    let mut total = 0.0;
    for (frames, count) in full.iter().filter_map(|line| stack(&line.text)) {
        total += count;
        let frames = frames.rev().map(|name| frame(name, names_kernel)).collect();
        gather.add_many(frames, "", count, count as u64);
    }
    let mut profile = gather.profile(Form::Folded, Measure::Samples { event: None });
    profile.place.first = full.first().map_or(0, |line| line.number);
    profile.place.last = full.last().map_or(0, |line| line.number);
    if total > MOST_SAMPLES {
        profile.samples = Samples::Unknown;
        profile.notes.push(
            "its numbers are too large to be samples: how many there were is not known".to_owned(),
        );
    } else {
        profile
            .notes
            .push("its numbers are taken for samples".to_owned());
    }
    Ok(Some(profile))
}

fn stack(text: &str) -> Option<(std::str::Split<'_, char>, f64)> {
    let (frames, count) = text.trim().rsplit_once(' ')?;
    let count = super::lines::number(count)?;
    let starts = !frames.is_empty() && !frames.starts_with(';');
    starts.then(|| (frames.split(';'), count))
}

fn frame(name: &str, names_kernel: bool) -> Frame {
    let marks = [
        ("_[k]", Space::Kernel),
        ("_[j]", Space::User),
        ("_[i]", Space::User),
    ];
    for (mark, space) in marks {
        if let Some(symbol) = name.strip_suffix(mark) {
            // An inlined frame of the kernel is marked as inlined alone.
            let space = if mark == "_[i]" {
                Space::Unknown
            } else {
                space
            };
            return Frame {
                symbol: symbol.to_owned(),
                space,
            };
        }
    }
    let space = match name {
        "[user space]" => Space::User,
        _ if names_kernel => Space::User,
        _ => Space::Unknown,
    };
    Frame {
        symbol: name.to_owned(),
        space,
    }
}
