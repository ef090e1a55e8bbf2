//! What other tools said of a tree's files: compilers, sparse, objtool. Of what they say
//! that counts here which is about functions that the rules look at.

use std::collections::BTreeMap;

use crate::path::TreePath;
use crate::span::Span;
use crate::split::Body;

use super::context::FileContext;
use super::model::{Severity, Violation};
use super::rules::diagnostic;

/// One thing that a tool said of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who said it: `gcc`.
    pub who: String,
    /// How bad it says it is.
    pub severity: Severity,
    /// The line, from 1; 0 where none is named.
    pub line: u32,
    /// The column in bytes, from 1; 0 where none is named.
    pub column: u32,
    /// The function, by the name of its code (`f.cold`); empty where none is named.
    pub function: String,
    /// What it says.
    pub text: String,
    /// Its place among all that was said, from 0.
    pub at: usize,
    /// The flag that asks for it (`unused-value`); empty where there is none.
    pub flag: String,
}

/// What a tool said something of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file, by its path from the kernel tree's top.
    File(TreePath),
    /// An object that several files were linked into: a function of any of them.
    Linked,
    /// Nothing that the tree has.
    Nothing,
}

/// All that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    by_file: BTreeMap<TreePath, Vec<Said>>,
    linked: Vec<Said>,
    elsewhere: usize,
}

impl Heard {
    /// Takes in one thing that was said.
    pub fn add(&mut self, subject: Subject, said: Said) {
        match subject {
            Subject::File(path) => self.by_file.entry(path).or_default().push(said),
            Subject::Linked => self.linked.push(said),
            Subject::Nothing => self.elsewhere += 1,
        }
    }

    /// How much was said in all.
    #[must_use]
    pub fn count(&self) -> usize {
        let of_files = self.by_file.values().map(Vec::len).sum::<usize>();
        of_files + self.linked.len() + self.elsewhere
    }

    /// What was said of a file, or may be about its functions.
    fn of(&self, path: &TreePath) -> impl Iterator<Item = &Said> {
        let own = self.by_file.get(path).into_iter().flatten();
        own.chain(&self.linked)
    }
}

/// What of it is about one of some functions of a file, with its place among all that
/// was said.
pub(super) fn violations(
    file: &FileContext<'_>,
    path: &TreePath,
    heard: &Heard,
    is_looked_at: impl Fn(&Body) -> bool,
) -> Vec<(usize, Violation)> {
    let placed = |said: &Said| {
        let (span, body) = place(file, said)?;
        is_looked_at(body).then(|| (said.at, violation(file, said, span)))
    };
    heard.of(path).filter_map(placed).collect()
}

fn violation(file: &FileContext<'_>, said: &Said, span: Span) -> Violation {
    let flag = match said.flag.as_str() {
        "" => String::new(),
        flag => format!(" [-W{flag}]"),
    };
    let message = format!("{} says: {}{flag}", said.who, said.text);
    let found = file.violation(&diagnostic::INFO, span, "", message);
    let severity = said.severity;
    Violation { severity, ..found }
}

/// The place that is meant, and the function that holds it.
fn place<'f>(file: &'f FileContext<'_>, said: &Said) -> Option<(Span, &'f Body)> {
    if said.line > 0 {
        let span = word_at(file, said)?;
        return file.holder(span).map(|body| (span, body));
    }
    let name = said.function.split('.').next()?;
    let mut bodies = file.bodies.iter();
    let body = bodies.find(|body| body.name == name)?;
    Some((body.name_span, body))
}

/// The token that a line and a column name; the first behind them where none is there.
fn word_at(file: &FileContext<'_>, said: &Said) -> Option<Span> {
    let wanted = (said.line, said.column);
    let at = |span: Span| {
        let position = file.lines.position(span.start);
        (position.line, position.column)
    };
    let behind = file
        .tokens
        .partition_point(|token| at(token.span) <= wanted);
    let own = behind.checked_sub(1).and_then(|last| file.tokens.get(last));
    let own = own.filter(|token| said.column > 0 && at(token.span).0 == said.line);
    let next = file.tokens.get(behind);
    let next = next.filter(|token| at(token.span).0 == said.line);
    own.or(next).map(|token| token.span)
}
