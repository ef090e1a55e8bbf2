//! What a patch says of itself.

use tollgate_source::{Direction, Jump, Trait};

use crate::gate::Gate;
use crate::layout::{width, wrapped};
use crate::plan::{Line, Plan};
use crate::target::argument;

/// Columns of a commit message: Documentation/process/submitting-patches.rst.
const COLUMNS: usize = 75;

/// What the message is made of.
pub(crate) struct Facts<'a> {
    /// How the subject begins.
    pub(crate) prefix: &'a str,
    /// The function as it is defined.
    pub(crate) function: &'a str,
    /// The windows that were written.
    pub(crate) plans: &'a [Plan],
    /// Windows that the function opened before, in all.
    pub(crate) before: usize,
    /// Windows that it opens after.
    pub(crate) after: usize,
    /// Measured figures, each a line that is already worded.
    pub(crate) figures: &'a [String],
    /// What changes besides, each a sentence.
    pub(crate) changes: &'a [String],
}

impl Facts<'_> {
    /// The first line.
    pub(crate) fn subject(&self) -> String {
        let name = self.name();
        let long = format!("{}: Use one user access window in {name}()", self.prefix);
        let many = format!("{}: Use user access windows in {name}()", self.prefix);
        let short = format!("{}: Open user access once in {name}()", self.prefix);
        let wanted = match self.plans.first().map(|plan| &plan.gate) {
            Some(Gate::Copies) => format!("{}: Copy user memory at once in {name}()", self.prefix),
            _ if self.plans.len() > 1 => many,
            _ => long,
        };
        if width(&wanted) <= COLUMNS {
            wanted
        } else {
            short
        }
    }

    /// The paragraphs, with a line end behind the last.
    pub(crate) fn body(&self) -> String {
        let mut paragraphs = vec![
            wrapped(&self.problem(), COLUMNS),
            wrapped(&self.change(), COLUMNS),
        ];
        paragraphs.push(wrapped(&self.meaning(), COLUMNS));
        let changes = self.changes.iter().map(|change| wrapped(change, COLUMNS));
        paragraphs.extend(changes);
        if !self.figures.is_empty() {
            paragraphs.push(self.figures.join("\n"));
        }
        paragraphs.join("\n\n") + "\n"
    }

    fn name(&self) -> &str {
        argument(self.function).unwrap_or(self.function)
    }

    fn count(&self, direction: Direction) -> usize {
        self.plans
            .iter()
            .map(|plan| plan.run.count(direction))
            .sum()
    }

    fn problem(&self) -> String {
        let (reads, writes) = (self.count(Direction::Read), self.count(Direction::Write));
        let doing = match (reads, writes) {
            (0, writes) => format!(
                "writes {} to user memory with {}",
                values(writes),
                self.calls()
            ),
            (reads, 0) => format!(
                "reads {} from user memory with {}",
                values(reads),
                self.calls()
            ),
            (reads, writes) => {
                format!(
                    "reads {} from and writes {} to user memory with {}",
                    values(reads),
                    values(writes),
                    self.calls()
                )
            }
        };
        format!(
            "{}() {doing}. Each call opens access to user memory and closes it again: stac and clac on x86 with SMAP, \
             writes of a protection register on powerpc with KUAP.",
            self.name()
        )
    }

    /// `get_user() and put_user()`.
    fn calls(&self) -> String {
        let mut names: Vec<&str> = self
            .plans
            .iter()
            .flat_map(|p| &p.run.sites)
            .map(|site| site.call.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
            .iter()
            .map(|name| format!("{name}()"))
            .collect::<Vec<_>>()
            .join(" and ")
    }

    fn change(&self) -> String {
        let once = if self.plans.len() > 1 {
            "once for each group of adjacent accesses"
        } else {
            "once"
        };
        let how = match self.plans.first().map(|plan| &plan.gate) {
            Some(Gate::Scoped(_)) => {
                format!(
                    "Open it {once} with a scope that closes it, and use the unsafe accessors inside."
                )
            }
            Some(Gate::Copies) => "Copy adjacent members at once.".to_owned(),
            _ => format!("Open it {once} and use the unsafe accessors inside."),
        };
        format!("{how} {}", self.counts())
    }

    /// What each window takes the place of; how often a function comes to it is
    /// not known.
    fn counts(&self) -> String {
        if self.plans.iter().any(|plan| plan.gate == Gate::Copies) {
            return format!(
                "That is {} instead of {} when nothing faults.",
                windows(self.after),
                self.before
            );
        }
        let mut each: Vec<String> = Vec::new();
        for count in self.plans.iter().map(count) {
            if !each.contains(&count) {
                each.push(count);
            }
        }
        let alike = if each.len() == 1 && self.plans.len() > 1 {
            " for each of them"
        } else {
            ""
        };
        let apart = if each.len() > 1 { "," } else { "" };
        let looped = self.plans.iter().filter(|plan| plan.run.has(Trait::InLoop));
        let rounds = match looped.count() {
            0 => "",
            some if some == self.plans.len() => ", in each round of the loop",
            _ => ", for those in a loop in each round of it",
        };
        format!(
            "That is 1 window {}{apart}{alike} when nothing faults{rounds}.",
            each.join(", and 1 ")
        )
    }

    fn meaning(&self) -> String {
        let mut text = match self.plans.first().map(|plan| &plan.gate) {
            Some(Gate::Masked(_)) => {
                "Where the architecture can mask the pointer, that takes the place of the range check and its fence: \
                 a pointer outside user space then faults at the first access. Elsewhere the begin checks the range of \
                 the whole object, next to the accesses"
            }
            Some(Gate::Scoped(_)) => {
                "The scope checks the range of the whole object, or masks the pointer where the architecture can"
            }
            Some(Gate::Copies) => "Each copy checks its range",
            _ if self.plans.iter().any(|plan| !is_object(plan)) => {
                "The begin checks the range of all accesses behind it, next to them"
            }
            _ => "The begin checks the range of the whole object, next to the accesses",
        }
        .to_owned();
        if self.plans.iter().any(|plan| plan.absorbs) {
            text += ", and takes the place of access_ok()";
        }
        if self.plans.iter().any(was_checked_elsewhere) {
            text += "; until now a check elsewhere had to cover them";
        }
        text += &format!(". {}", self.outcome());
        let copies = |plan: &&Plan| plan.gate == Gate::Copies;
        if self.plans.iter().filter(copies).any(|plan| plan.zeroes) {
            text += " One thing changes: on a fault nothing is stored of what the copy was to read, where the members before \
                     the fault were stored, and the one that faulted was made zero.";
        } else if self.plans.iter().any(|plan| plan.zeroes) {
            text += " get_user() makes its variable zero on a fault, where something may look at it later: the variable is made \
                     zero before the read.";
        }
        if self.plans.iter().any(|plan| plan.stops) {
            text += " One thing changes: the accesses stop at the first fault, where the later ones were still tried.";
        }
        text
    }

    fn outcome(&self) -> String {
        let order = match self.plans.first().map(|plan| &plan.gate) {
            Some(Gate::Copies) => "though a copy goes in the order of addresses",
            _ => "and the accesses happen in the same order",
        };
        match self.plans.first().map(|plan| &plan.fault.jump) {
            Some(Jump::Return(value)) if !value.is_empty() && self.same_jump() => {
                format!("On a fault the function still returns {value}, {order}.")
            }
            _ => format!("On a fault the function still does what it did, {order}."),
        }
    }

    fn same_jump(&self) -> bool {
        self.plans
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a.fault.jump == b.fault.jump))
    }
}

/// Whether the range is that of what a pointer points to.
fn is_object(plan: &Plan) -> bool {
    plan.size == format!("sizeof(*{})", plan.object)
}

/// `instead of 3`; accesses that hang on a condition may be fewer.
fn count(plan: &Plan) -> String {
    let asked = |line: &Line| matches!(line, Line::When { .. });
    let most = if plan.lines.iter().any(asked) {
        "up to "
    } else {
        ""
    };
    format!("instead of {most}{}", plan.run.sites.len())
}

/// Whether no access of the window checked its range, nor the chain for them.
fn was_checked_elsewhere(plan: &Plan) -> bool {
    !plan.absorbs && plan.run.sites.iter().any(|site| !site.range_check)
}

fn values(number: usize) -> String {
    if number == 1 {
        "a value".to_owned()
    } else {
        format!("{number} values")
    }
}

fn windows(number: usize) -> String {
    if number == 1 {
        "1 window".to_owned()
    } else {
        format!("{number} windows")
    }
}
