//! For the terminal.

use tollgate_robot::{LineState, PatchReport, Report, Status};
use tollgate_source::plain;

use super::{check_word, count, place, ranges, sentence, summary};

/// What was found, for people.
#[must_use]
pub fn robot_text(report: &Report) -> String {
    let mut text = String::new();
    for patch in &report.patches {
        push(&mut text, &one(patch));
    }
    if !report.cells.is_empty() {
        push(&mut text, &format!("Built in ({}):\n", report.flags));
        for cell in &report.cells {
            push(
                &mut text,
                &format!("  {} ({}): {}\n", cell.name, cell.compiler, cell.because),
            );
        }
    }
    let word = match report.status() {
        Status::Clean => "clean",
        Status::CouldNotTell => "could not tell",
        Status::Findings => "something is new and wrong",
    };
    push(
        &mut text,
        &format!("\n{} on {}: {word}\n", report.asked, report.base),
    );
    text
}

fn push(text: &mut String, more: &str) {
    // What compilers and files say may speak to a terminal.
    for line in more.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        text.push_str(&plain(line));
        text.push_str(end);
    }
}

fn one(patch: &PatchReport) -> String {
    let (number, all) = patch.number;
    let mut text = format!(
        "[{number}/{all}] {}\n  {}\n\n",
        patch.subject,
        summary(patch)
    );
    for finding in &patch.findings {
        let also = match finding.also.as_slice() {
            [] => String::new(),
            also => format!(", {}", also.join(", ")),
        };
        let cell = match finding.cell.is_empty() {
            true => String::new(),
            false => format!("\n      in {}{also}: {}", finding.cell, finding.object),
        };
        text += &format!("  {}: {}{cell}\n", place(finding), sentence(finding));
    }
    for line in &patch.lines {
        text += &lines(line);
    }
    for one in &patch.objects {
        text += &object(one);
    }
    for check in &patch.checks {
        text += &format!(
            "  {}: {}: {}\n",
            check.tool,
            check_word(check),
            check.summary
        );
    }
    for one in &patch.unbuilt {
        let cell = match one.cell.is_empty() {
            true => String::new(),
            false => format!(" in {}", one.cell),
        };
        text += &format!("  not built{cell}: {}: {}\n", one.what, one.why);
    }
    text + "\n"
}

fn lines(line: &tollgate_robot::Line) -> String {
    let within = match line.within.is_empty() {
        true => String::new(),
        false => format!(" within {}", line.within),
    };
    let place = format!("{}:{}{within}", line.file, ranges(&line.lines));
    match &line.state {
        LineState::Compiled { cells, missing } => {
            let names: Vec<&str> = cells.iter().map(|(cell, _)| cell.as_str()).collect();
            let missing = match missing.as_slice() {
                [] => String::new(),
                missing => format!("; NOT with {}", missing.join(", ")),
            };
            format!(
                "  {place}: {} lines compiled in {}{missing}\n",
                count(&line.lines),
                names.join(", ")
            )
        }
        LineState::Nothing => format!("  {place}: nothing that is compiled\n"),
        LineState::Unreached { needs } => format!("  {place}: COMPILED BY NONE: {needs}\n"),
        LineState::Dead { options } => {
            format!(
                "  {place}: COMPILED BY NONE, ever: no Kconfig file defines {}\n",
                options.join(", ")
            )
        }
    }
}

fn object(one: &tollgate_robot::ObjectReport) -> String {
    let size = |built: &Option<tollgate_robot::Built>| built.as_ref().and_then(|built| built.text);
    let same = one.after.as_ref().is_some_and(|after| after.same);
    let words = match (size(&one.before), size(&one.after)) {
        _ if same => "reads the same as before, so that it was not built again".to_owned(),
        (Some(old), Some(new)) if old == new => format!("{new} bytes of code, as before"),
        (Some(old), Some(new)) => {
            let sign = if new > old { "+" } else { "-" };
            format!("{old} -> {new} bytes of code ({sign}{})", new.abs_diff(old))
        }
        (None, Some(new)) => format!("new: {new} bytes of code"),
        (Some(_), None) => "no object any more".to_owned(),
        (None, None) => "no object".to_owned(),
    };
    let gates =
        |built: &Option<tollgate_robot::Built>| built.as_ref().and_then(|built| built.gates);
    let gates = match (gates(&one.before), gates(&one.after)) {
        (Some(old), Some(new)) if old != new => format!(", {old} -> {new} gates"),
        _ => String::new(),
    };
    format!("  {} in {}: {words}{gates}\n", one.object, one.cell)
}
