//! The log of a build, told apart into what was said of each file of a tree.

use tollgate_robot::{Diagnostic, Severity, Tool, read_log};
use tollgate_source::check::{self, Heard, Said, Side, Snapshot, Subject};

/// What a build of a state of a tree says, by the files of that state.
pub(super) fn heard<S: Snapshot>(log: &[u8], side: &Side<S>) -> Heard {
    let mut heard = Heard::default();
    let all = read_log(&String::from_utf8_lossy(log)).into_iter();
    for (at, one) in all.enumerate() {
        heard.add(subject(&one, side), said(one, at));
    }
    heard
}

/// The file, or the source of the object; an object without one was linked.
fn subject<S: Snapshot>(one: &Diagnostic, side: &Side<S>) -> Subject {
    let source = match one.tool {
        Tool::Objtool => one.file.strip_suffix(".o").map(|stem| format!("{stem}.c")),
        _ => None,
    };
    let path = side.built(source.as_deref().unwrap_or(&one.file));
    match (path, one.tool) {
        (Some(path), _) => Subject::File(path),
        (None, Tool::Objtool) => Subject::Linked,
        (None, _) => Subject::Nothing,
    }
}

fn said(one: Diagnostic, at: usize) -> Said {
    Said {
        who: one.tool.name().to_owned(),
        severity: match one.severity {
            Severity::Warning => check::Severity::Warning,
            Severity::Error => check::Severity::Error,
        },
        line: one.line,
        column: one.column,
        function: one.function,
        text: one.text,
        at,
        flag: one.kind,
    }
}
