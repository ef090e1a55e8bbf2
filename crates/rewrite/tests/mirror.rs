//! The mirror test: windows that Linux 6.12 has already, turned back into chains
//! of `put_user()` and `get_user()`, and fixed again. The golden file has a row
//! for each function: equal to the maintainers' code up to the names of labels
//! and white space, or the difference and why, or why it is refused. A function
//! without a begin has no window to turn back.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

#[path = "mirror/macros.rs"]
mod macros;
#[path = "mirror/outcome.rs"]
mod outcome;
#[path = "mirror/text.rs"]
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tollgate_rewrite::{Request, Style};
use tollgate_source::{Body, Span, Token, Vocabulary, bodies, closing, tokens};

use outcome::{Outcome, counted};
use text::{Change, changed, find};

/// The files of Linux 6.12 whose functions have unsafe accesses.
const FILES: [&str; 30] = [
    "arch/loongarch/kvm/vcpu.c",
    "arch/powerpc/kernel/align.c",
    "arch/powerpc/kernel/ptrace/ptrace-view.c",
    "arch/powerpc/kernel/signal.h",
    "arch/powerpc/kernel/signal_32.c",
    "arch/powerpc/kernel/signal_64.c",
    "arch/powerpc/lib/sstep.c",
    "arch/x86/kernel/signal_32.c",
    "arch/x86/kernel/signal_64.c",
    "arch/x86/kernel/sys_ia32.c",
    "arch/x86/kernel/vm86_32.c",
    "arch/x86/kvm/x86.c",
    "drivers/gpu/drm/i915/gem/i915_gem_execbuffer.c",
    "drivers/gpu/drm/i915/i915_query.c",
    "fs/readdir.c",
    "fs/select.c",
    "include/linux/compat.h",
    "include/linux/signal.h",
    "include/linux/uaccess.h",
    "io_uring/net.c",
    "io_uring/waitid.c",
    "kernel/compat.c",
    "kernel/exit.c",
    "kernel/rseq.c",
    "lib/iov_iter.c",
    "lib/strncpy_from_user.c",
    "lib/strnlen_user.c",
    "lib/usercopy.c",
    "mm/gup.c",
    "net/core/scm.c",
];

const FRAME: &str = "the window goes around calls (unsafe_*altstack(), unsafe_*sigcontext() and the like) that have accesses of \
    their own; fix opens one for each run of single values, for the way that is needed, and leaves what is not next to another";
const MIXED: &str = "of the two windows of the file, both for writes, one is opened for both ways and the other for one: fix \
    opens each as the other is";

/// Why fix and the maintainers write it differently.
const EXPLAINED: [(&str, &str); 11] = [
    (
        "drivers/gpu/drm/i915/gem/i915_gem_execbuffer.c: eb_copy_relocations",
        MIXED,
    ),
    (
        "drivers/gpu/drm/i915/gem/i915_gem_execbuffer.c: i915_gem_execbuffer2_ioctl",
        MIXED,
    ),
    ("arch/powerpc/kernel/signal_32.c: handle_rt_signal32", FRAME),
    (
        "arch/powerpc/kernel/signal_32.c: restore_tm_user_regs",
        FRAME,
    ),
    (
        "arch/powerpc/kernel/signal_32.c: handle_signal32",
        "the window goes on over lines of the preprocessor and over calls that have accesses of their own; fix ends one before \
         such a line and opens another behind it",
    ),
    ("arch/x86/kernel/signal_32.c: ia32_setup_frame", FRAME),
    ("arch/x86/kernel/signal_32.c: ia32_setup_rt_frame", FRAME),
    ("arch/x86/kernel/signal_64.c: x64_setup_rt_frame", FRAME),
    ("arch/x86/kernel/signal_64.c: x32_setup_rt_frame", FRAME),
    (
        "arch/x86/kernel/sys_ia32.c: cp_stat64",
        "the size is that of the type by another name, the begin is for one way, which others of the architecture do not use, \
         and an end is for both",
    ),
    (
        "kernel/rseq.c: rseq_update_cpu_node_id",
        "a comment follows the last access, and nothing shows whether it speaks of that or of what comes next: fix closes before it",
    ),
];

/// What is said of a function that opens no window itself.
const NONE: &str = "no window of its own";

/// What windows are turned back into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Back {
    /// `put_user()`, each with a check and a window of its own.
    Chain,
    /// One `access_ok()` where the begin stands, and `__put_user()`, each with a
    /// window of its own: as most of these functions were before.
    Checked,
}

/// What it is turned back into, and whether what reads fill may be left on a fault.
type Try = (Back, bool);

const TRIES: [Try; 4] = [
    (Back::Chain, false),
    (Back::Checked, false),
    (Back::Chain, true),
    (Back::Checked, true),
];

/// A function of a file.
struct Function<'t> {
    back: Back,
    text: &'t str,
    body: Span,
    code: Vec<Token>,
}

/// A window of a function.
struct Window {
    /// From `if` to the end of what is done where the begin fails.
    opening: Span,
    /// What is done then.
    exit: Span,
    /// The index of the first token behind it.
    from: usize,
    /// The index of the end's name.
    end: usize,
}

impl<'t> Function<'t> {
    fn new(text: &'t str, body: &Body, back: Back) -> Self {
        let upto = text.as_bytes().get(..body.span.end).unwrap();
        let all = tokens(upto, body.span.start).into_iter();
        Self {
            back,
            text,
            body: body.span,
            code: all.filter(Token::is_code).collect(),
        }
    }

    fn at(&self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap()
    }

    fn word(&self, at: usize) -> &'t str {
        self.code.get(at).map_or("", |token| self.at(token.span))
    }

    fn begins(&self) -> Vec<usize> {
        let is = |at: &usize| {
            matches!(
                self.word(*at),
                "user_access_begin" | "user_read_access_begin" | "user_write_access_begin"
            )
        };
        (0..self.code.len()).filter(is).collect()
    }

    /// `if (!user_access_begin(…)) exit … user_access_end();`
    fn window(&self, at: usize) -> Result<Window, String> {
        let front = at.saturating_sub(3);
        if (self.word(front), self.word(at - 1)) != ("if", "!") {
            return Err("the begin is not all that an if asks for".to_owned());
        }
        let opened = if front > 0 && self.word(front - 1) == "else" {
            if self.back == Back::Checked {
                return Err("a masked begin has no access_ok()".to_owned());
            }
            let masked = (0..front).rfind(|at| self.word(*at) == "can_do_masked_user_access");
            masked.map(|at| at - 2).ok_or("the begin is in an else")?
        } else {
            front
        };
        let close = closing(&self.code, front + 1).unwrap();
        let exit = self.statement(close + 1);
        let from = (close + 1..self.code.len())
            .find(|at| self.code[*at].span.start >= exit.end)
            .unwrap();
        let end = (from..self.code.len()).find(|at| self.word(*at).ends_with("_access_end"));
        let end = end.ok_or("the function does not close it")?;
        let depth = |byte: u8| {
            self.code[from..end]
                .iter()
                .filter(|token| token.is(byte))
                .count()
        };
        if depth(b'{') != depth(b'}') {
            return Err("the window ends in another block than it begins".to_owned());
        }
        Ok(Window {
            opening: self.code[opened].span.join(exit),
            exit,
            from,
            end,
        })
    }

    /// The statement or block that begins at a token.
    fn statement(&self, from: usize) -> Span {
        let mut at = from;
        while at < self.code.len() {
            let end = closing(&self.code, at).unwrap_or(at);
            if self.code[end].is(b';') || self.code[at].is(b'{') {
                return self.code[from].span.join(self.code[end].span);
            }
            at = end + 1;
        }
        self.body
    }

    fn arguments(&self, open: usize) -> Vec<String> {
        let close = closing(&self.code, open).unwrap();
        let mut found = Vec::new();
        let (mut start, mut at) = (open + 1, open + 1);
        while at <= close {
            if at == close || self.code[at].is(b',') {
                let span = self.code[start].span.join(self.code[at - 1].span);
                found.push(
                    self.at(span)
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" "),
                );
                start = at + 1;
            }
            at = closing(&self.code, at).unwrap_or(at) + 1;
        }
        found
    }

    fn indent(&self, at: usize) -> &'t str {
        let line = self.text[..at].rfind('\n').map_or(0, |line| line + 1);
        let rest = &self.text[line..at];
        &rest[..rest.len() - rest.trim_start().len()]
    }

    /// The function's text with its windows turned back.
    fn turned_back(&self) -> Result<Vec<Change>, String> {
        let begins = self.begins();
        let mut changes = Vec::new();
        for begin in begins {
            let window = self.window(begin)?;
            changes.push(match self.back {
                Back::Chain => (self.line(window.opening), String::new()),
                Back::Checked => (self.code[begin].span, "access_ok".to_owned()),
            });
            changes.push((self.line(self.statement(window.end)), String::new()));
            self.accesses(&window, &mut changes)?;
        }
        Ok(changes)
    }

    /// A place with the blanks before it and the line end behind it.
    fn line(&self, span: Span) -> Span {
        let start = span.start - self.indent(span.start).len();
        let end = span.end + self.text[span.end..].find('\n').map_or(0, |end| end + 1);
        Span::new(start, end)
    }

    /// The accesses of a window as conditions.
    fn accesses(&self, window: &Window, changes: &mut Vec<Change>) -> Result<(), String> {
        let mut exit = self.at(window.exit).to_owned();
        let mut groups: Vec<(Span, Vec<String>, bool)> = Vec::new();
        for at in window.from..window.end {
            let Some(name) = self.word(at).strip_prefix("unsafe_") else {
                continue;
            };
            let known = ["put_user", "get_user", "copy_to_user", "copy_from_user"];
            let checks = self.back == Back::Chain || !known.contains(&name);
            let name = format!("{}{name}", if checks { "" } else { "__" });
            let mut arguments = self.arguments(at + 1);
            let label = arguments.pop().unwrap();
            let place = self.statement(at);
            if !place.text(self.text.as_bytes()).ends_with(");") {
                return Err("an unsafe access is no statement of its own".to_owned());
            }
            let (way_out, found) = self.way_out(&label, window)?;
            changes.push(way_out);
            exit = found;
            let call = format!("{name}({})", arguments.join(", "));
            let arm = self.code[at - 1].is(b')') || self.word(at - 1) == "else";
            match groups.last_mut() {
                Some((last, calls, false))
                    if !arm && self.text[last.end..place.start].trim().is_empty() =>
                {
                    *last = last.join(place);
                    calls.push(call);
                }
                _ => groups.push((place, vec![call], arm)),
            }
        }
        for (place, calls, arm) in groups {
            let indent = self.indent(place.start);
            let outer = self.indent(window.opening.start);
            let deeper = indent.strip_prefix(outer).unwrap_or("");
            let exit = exit.replace('\n', &format!("\n{deeper}"));
            let condition = calls.join(&format!(" ||\n{indent}    "));
            let body = if exit.starts_with('{') {
                format!(" {exit}")
            } else {
                format!("\n{indent}\t{exit}")
            };
            let test = format!("if ({condition}){body}");
            // An else behind it would be the test's own.
            let test = if arm {
                format!("{{\n{indent}{test}\n{indent}}}")
            } else {
                test
            };
            changes.push((place, test));
        }
        Ok(())
    }

    /// What becomes of the label with its end and what only a fault does behind
    /// it, and what a fault does.
    fn way_out(&self, label: &str, window: &Window) -> Result<(Change, String), String> {
        let is_label = |at: &usize| {
            self.word(*at) == label
                && self.code.get(at + 1).is_some_and(|t| t.is(b':'))
                && !self.code[at - 1].is(b'?')
        };
        let at = (1..self.code.len()).find(is_label);
        let at = at.ok_or_else(|| format!("{label} is a label of whoever calls it"))?;
        if !self.word(at + 2).ends_with("_access_end") {
            return self.way_back(at, window);
        }
        let before = self.text[..self.code[at].span.start].trim_end();
        let last = before.rsplit('\n').next().unwrap().trim();
        if !["return", "goto"].iter().any(|jump| last.starts_with(jump)) {
            // Success comes to the label, too, which stays with what is behind.
            let none = Span::new(self.code[at].span.start, self.code[at].span.start);
            return Ok(((none, String::new()), format!("goto {label};")));
        }
        let closed = self.statement(at + 2);
        let place = self.line(self.code[at].span).join(self.line(closed));
        let mut next = at + 2;
        while self.code[next].span.end <= closed.end {
            next += 1;
        }
        if self.code[next + 1].is(b':') {
            return Ok(((place, String::new()), format!("goto {};", self.word(next))));
        }
        let mut found = Vec::new();
        while !self.code[next].is(b'}') {
            let statement = self.statement(next);
            found.push(self.at(statement));
            let jumps = matches!(self.word(next), "return" | "goto");
            while self.code[next].span.end <= statement.end {
                next += 1;
            }
            if jumps {
                let start = before.len() + 1;
                let exit = self.block(&found, window);
                let place = Span::new(start, self.line(statement).end);
                return Ok(((place, String::new()), exit));
            }
        }
        Err("the way out goes on behind the window".to_owned())
    }

    /// `done: end; return ret; label: ret = false; goto done;`, where a begin that
    /// fails leaves with the same value.
    fn way_back(&self, at: usize, window: &Window) -> Result<(Change, String), String> {
        if self.back == Back::Checked {
            let none = Span::new(self.code[at].span.start, self.code[at].span.start);
            return Ok(((none, String::new()), format!("goto {};", self.word(at))));
        }
        let other = || "what is behind the label does not come to an end".to_owned();
        let set = self.at(self.statement(at + 2));
        let (variable, value) = set.split_once(" = ").ok_or_else(other)?;
        let jump = (at + 2..self.code.len()).find(|at| self.word(*at) == "goto");
        let jump = jump.ok_or_else(other)?;
        let done = self.word(jump + 1);
        let closed = self.word(window.end - 2) == done && self.code[window.end - 1].is(b':');
        let left = self.at(window.exit) == format!("return {value}");
        let mut behind = window.end;
        while self.code[behind].span.end < self.statement(window.end).end {
            behind += 1;
        }
        let returned = self.statement(behind + 1);
        if !closed || !left || self.at(returned) != format!("return {variable};") {
            return Err(other());
        }
        let place = self.line(self.code[window.end - 2].span);
        let place = place.join(self.line(self.statement(jump)));
        let text = format!("\treturn {variable};\n");
        Ok(((place, text), self.at(window.exit).to_owned()))
    }

    fn block(&self, statements: &[&str], window: &Window) -> String {
        let indent = self.indent(window.opening.start);
        let lines: String = statements
            .iter()
            .map(|line| format!("{indent}\t{line}\n"))
            .collect();
        match statements {
            [one] => (*one).to_owned(),
            _ => format!("{{\n{lines}{indent}}}"),
        }
    }
}

fn fixed(
    tree: &Path,
    path: &str,
    text: &str,
    body: &Body,
    (back, no_zero_on_fault): Try,
) -> Outcome {
    let function = Function::new(text, body, back);
    let changes = match function.turned_back() {
        Ok(changes) => changes,
        Err(why) => return Outcome::Kept(why),
    };
    let chains = changed(text, changes);
    let request = Request {
        style: style(text, body),
        open_over_rounds: true,
        no_zero_on_fault,
        ..Request::default()
    };
    Outcome::of((tree, path), &chains, (text, body), &request)
}

/// That of the function as its maintainers have it.
fn style(text: &str, body: &Body) -> Style {
    let masked = text[body.span.start..body.span.end].contains("masked_user_access_begin");
    if masked { Style::Masked } else { Style::Window }
}

fn row(tree: &Path, path: &str, text: &str, body: &Body) -> String {
    let place = format!("{path}: {}", body.name);
    if Function::new(text, body, Back::Chain).begins().is_empty() {
        return format!("{place}: no window of its own\n");
    }
    let (written, macros) = macros::written_out(text, body);
    let body = &find(&written, &body.name);
    let tried = TRIES.map(|how| (how, fixed(tree, path, &written, body, how)));
    let ((back, no_zero), best) = tried
        .into_iter()
        .min_by_key(|(_, outcome)| outcome.rank())
        .unwrap();
    let mut how = match back {
        Back::Chain => String::new(),
        Back::Checked => ", from one access_ok()".to_owned(),
    };
    if no_zero {
        how += ", with --no-zero-on-fault";
    }
    if !macros.is_empty() {
        how += &format!(", with {} written out", macros.join(", "));
    }
    match best {
        Outcome::Equal => {
            let style = style(&written, body);
            format!("{place}: equal{how}, in the style {style}\n")
        }
        Outcome::Differs(lines) => {
            let known = EXPLAINED.iter().find(|(known, _)| *known == place);
            let why = known.map_or("NOT EXPLAINED", |(_, why)| why);
            format!("{place}: differs{how}: {why}\n{lines}")
        }
        Outcome::Refused(why) => {
            let short = why.split_once(&format!("{} ", body.name));
            let why = short.map_or(why.as_str(), |(_, why)| why);
            format!("{place}: refused: {why}\n")
        }
        Outcome::Kept(why) => format!("{place}: not turned back: {why}\n"),
    }
}

#[test]
fn windows_that_are_turned_back_are_written_as_maintainers_did() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let vocabulary = Vocabulary::builtin().unwrap();
    let (mut rows, mut callers) = (String::new(), String::new());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in FILES {
        let before = rows.len();
        let text = String::from_utf8(fs::read(tree.join(path)).unwrap()).unwrap();
        let all = bodies(text.as_bytes(), &tokens(text.as_bytes(), 0), &vocabulary);
        for body in all {
            let own = &text[body.span.start..body.span.end];
            if !own.contains("unsafe_put_user(")
                && !own.contains("unsafe_get_user(")
                && !own.contains("unsafe_copy_")
            {
                continue;
            }
            let row = row(&tree, path, &text, &body);
            let verdict = ["equal", "differs", "refused", "not turned back", NONE]
                .into_iter()
                .find(|verdict| row.contains(&format!(": {verdict}")))
                .unwrap();
            if verdict == NONE {
                callers += &row;
                continue;
            }
            *counts.entry(verdict).or_default() += 1;
            rows += &row;
        }
        if rows.len() == before && !callers.contains(path) {
            rows += &format!("{path}: no function has one: they are in macros\n");
        }
    }
    insta::assert_snapshot!(format!(
        "{}\n\n{rows}\n{} functions have no begin of their own: a caller opens the window, or the architecture has none\n{callers}",
        counted(&counts),
        callers.lines().count()
    ));
    assert!(
        !rows.contains("NOT EXPLAINED"),
        "a difference needs its reason"
    );
}
