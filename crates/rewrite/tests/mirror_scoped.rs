//! The mirror test of the scoped forms: scopes that Linux 7.3 has, turned back into
//! chains of `put_user()` and `get_user()` that go to the same label, and fixed again
//! in the style `scoped`. The golden file has a row for each function.

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

/// The files of Linux 7.3.4 whose functions have scopes.
const FILES: [&str; 12] = [
    "arch/powerpc/kernel/align.c",
    "arch/powerpc/kernel/ptrace/ptrace-view.c",
    "arch/powerpc/lib/sstep.c",
    "arch/x86/include/asm/futex.h",
    "fs/readdir.c",
    "fs/select.c",
    "include/linux/eventpoll.h",
    "include/linux/rseq_entry.h",
    "kernel/futex/waitwake.c",
    "kernel/rseq.c",
    "net/core/scm.c",
    "net/socket.c",
];

/// Why fix writes what maintainers wrote in another way, or not at all.
const EXPLAINED: [(&str, &str); 7] = [
    (
        "arch/powerpc/kernel/align.c: emulate_spe",
        "the scope masks addr and the accesses go through p, which was made from it before and is not masked",
    ),
    (
        "arch/powerpc/kernel/ptrace/ptrace-view.c: gpr32_set_common_user",
        "where count leaves no round, nothing is accessed, and a bad pointer that was an error is none",
    ),
    (
        "fs/select.c: do_sys_poll",
        "where nfds is 0, nothing is accessed, and a bad pointer that was an error is none",
    ),
    (
        "include/linux/rseq_entry.h: rseq_debug_update_user_cs",
        "the scope goes on over two other pointers, of which it masks neither; that one is below TASK_SIZE is asked of a number \
         that it was made from, and that the other is the user's was known when it was registered",
    ),
    (
        "include/linux/rseq_entry.h: rseq_update_user_cs",
        "the scope goes on over two other pointers, as in rseq_debug_update_user_cs; it is left by break, and a label is inside",
    ),
    (
        "kernel/rseq.c: rseq_handle_cs",
        "the scope has one access, which opens user memory once without it, too",
    ),
    (
        "kernel/rseq.c: rseq_reset_ids",
        "the scope is opened for both ways, although the accesses go one way: fix opens it for that way",
    ),
];

/// What scopes are turned back into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Back {
    /// `put_user()`, each with a check of its own.
    Chain,
    /// One `access_ok()` where the scope begins, and `__put_user()` behind it.
    Checked,
}

/// A function of a file.
struct Function<'t> {
    text: &'t str,
    code: Vec<Token>,
}

impl<'t> Function<'t> {
    fn new(text: &'t str, body: &Body) -> Self {
        let upto = text.as_bytes().get(..body.span.end).unwrap();
        let all = tokens(upto, body.span.start).into_iter();
        Self {
            text,
            code: all.filter(Token::is_code).collect(),
        }
    }

    fn at(&self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap()
    }

    fn word(&self, at: usize) -> &'t str {
        self.code.get(at).map_or("", |token| self.at(token.span))
    }

    fn scopes(&self) -> Vec<usize> {
        let is = |at: &usize| {
            let word = self.word(*at);
            word.starts_with("scoped_user_") && word.contains("_access")
        };
        (0..self.code.len()).filter(is).collect()
    }

    /// The function without its scopes, or why it is not turned back.
    fn turned_back(&self, back: Back) -> Result<Vec<Change>, String> {
        let mut changes = Vec::new();
        for at in self.scopes() {
            let head = closing(&self.code, at + 1).unwrap();
            let open = head + 1;
            let end = if self.code[open].is(b'{') {
                closing(&self.code, open).unwrap()
            } else {
                (open..self.code.len())
                    .find(|at| self.code[*at].is(b';'))
                    .unwrap()
            };
            let opening = self.code[at].span.join(self.code[head].span);
            let braces = self.code[open].is(b'{');
            let opening = if braces {
                opening.join(self.code[open].span)
            } else {
                opening
            };
            changes.push((opening, self.check(at, head, back)));
            if braces {
                changes.push((self.code[end].span, String::new()));
            }
            self.accesses(open, end, back, &mut changes)?;
        }
        Ok(changes)
    }

    /// What stands for the head of a scope.
    fn check(&self, at: usize, head: usize, back: Back) -> String {
        if back == Back::Chain {
            return String::new();
        }
        let label = self.word(head - 1);
        let inside = Span::new(self.code[at + 1].span.end, self.code[head - 2].span.start);
        let range = match self.word(at).ends_with("_size") {
            true => self.at(inside).to_owned(),
            false => format!("{0}, sizeof(*{0})", self.at(inside)),
        };
        format!("if (!access_ok({range}))\n\t\tgoto {label};\n")
    }

    fn accesses(
        &self,
        from: usize,
        end: usize,
        back: Back,
        changes: &mut Vec<Change>,
    ) -> Result<(), String> {
        let mut found = 0;
        for at in from..end {
            let Some(name) = self.word(at).strip_prefix("unsafe_") else {
                continue;
            };
            if !["put_user", "get_user", "copy_to_user"].contains(&name) {
                return Err(format!(
                    "unsafe_{name}() has no form with a window of its own"
                ));
            }
            let close = closing(&self.code, at + 1).unwrap();
            let label = self.word(close - 1);
            let comma = self.code[close - 2].span.start;
            let arguments = self.at(Span::new(self.code[at + 1].span.end, comma));
            let place = self.code[at].span.join(self.code[close + 1].span);
            let checks = if back == Back::Checked { "__" } else { "" };
            let test = format!("if ({checks}{name}({arguments}))\n\t\tgoto {label};");
            let arm = self.code[at - 1].is(b')') || self.word(at - 1) == "else";
            changes.push((place, if arm { format!("{{ {test} }}") } else { test }));
            found += 1;
        }
        match found {
            0 => Err("the accesses are in what the scope calls".to_owned()),
            _ => Ok(()),
        }
    }
}

/// What it is turned back into, and whether what reads fill may be left on a fault.
type Try = (Back, bool);

const TRIES: [Try; 4] = [
    (Back::Chain, false),
    (Back::Checked, false),
    (Back::Chain, true),
    (Back::Checked, true),
];

fn fixed(
    tree: &Path,
    path: &str,
    written: &str,
    body: &Body,
    (back, no_zero_on_fault): Try,
) -> Outcome {
    let changes = match Function::new(written, body).turned_back(back) {
        Ok(changes) => changes,
        Err(why) => return Outcome::Kept(why),
    };
    let chains = changed(written, changes);
    let request = Request {
        style: Style::Scoped,
        open_over_rounds: true,
        no_zero_on_fault,
        ..Request::default()
    };
    Outcome::of((tree, path), &chains, (written, body), &request)
}

fn row(tree: &Path, path: &str, text: &str, body: &Body) -> String {
    let place = format!("{path}: {}", body.name);
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
    let known = EXPLAINED.iter().find(|(known, _)| *known == place);
    let reason = known.map_or("NOT EXPLAINED", |(_, why)| why);
    match best {
        Outcome::Equal => format!("{place}: equal{how}\n"),
        Outcome::Differs(lines) => format!("{place}: differs{how}: {reason}\n{lines}"),
        Outcome::Refused(why) => format!("{place}: refused{how}: {reason}\n    {why}\n"),
        Outcome::Kept(why) => format!("{place}: not turned back: {why}\n"),
    }
}

#[test]
fn scopes_that_are_turned_back_are_written_as_maintainers_did() {
    let Some(tree) = tollgate_testing::kernel::newer() else {
        return;
    };
    let vocabulary = Vocabulary::builtin().unwrap();
    let mut rows = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in FILES {
        let text = String::from_utf8(fs::read(tree.join(path)).unwrap()).unwrap();
        for body in bodies(text.as_bytes(), &tokens(text.as_bytes(), 0), &vocabulary) {
            if Function::new(&text, &body).scopes().is_empty() {
                continue;
            }
            let row = row(&tree, path, &text, &body);
            let verdicts = ["equal", "differs", "refused", "not turned back"];
            let verdict = verdicts
                .into_iter()
                .find(|verdict| row.contains(&format!(": {verdict}")));
            *counts.entry(verdict.unwrap()).or_default() += 1;
            rows += &row;
        }
    }
    insta::assert_snapshot!(format!("{}\n\n{rows}", counted(&counts)));
    assert!(
        !rows.contains("NOT EXPLAINED"),
        "a difference needs its reason"
    );
}
