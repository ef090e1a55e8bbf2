//! What a patch says of itself.

use tollgate_source::{Direction, Jump, Step, StepKind, Trait};

use crate::lines::{width, wrapped};
use crate::plan::{Copied, Line, Plan};
use crate::styles::Form;
use crate::target::argument;

/// Columns of a commit message: Documentation/process/submitting-patches.rst.
pub(crate) const COLUMNS: usize = 75;

/// What the message is made of.
pub(crate) struct Facts<'a> {
    /// How the style is written, with its words.
    pub(crate) form: &'a dyn Form,
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
        let short = format!("{}: Open user access once in {name}()", self.prefix);
        let does = self.form.does(self.plans.len() > 1);
        let wanted = format!("{}: {does} {name}()", self.prefix);
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
        let rounds = match self.plans.iter().all(|plan| plan.rounds.is_some()) {
            true => " in each round of a loop",
            false => "",
        };
        format!(
            "{}() {doing}{rounds}. Each call opens access to user memory and closes it again: stac and clac on x86 with SMAP, \
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
        let change = match self.plans.iter().all(|plan| copied(plan).is_some()) {
            true => "Copy all elements at once.".to_owned(),
            false => self.form.change(once),
        };
        format!("{change} {}", self.counts())
    }

    /// What each window takes the place of; how often a function comes to it is
    /// not known.
    fn counts(&self) -> String {
        if !self.form.opens_one_each() {
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
        let mut text = self.range();
        if self.plans.iter().any(|plan| plan.absorbs) {
            text += ", and takes the place of access_ok()";
        }
        if self.plans.iter().any(was_checked_elsewhere) {
            text += "; until now a check elsewhere had to cover them";
        }
        text += &format!(". {}", self.outcome());
        if self.plans.iter().any(|plan| plan.zeroes) {
            text = format!("{text} {}", self.form.zeroes());
        }
        if self.plans.iter().any(|plan| plan.stops) {
            text += " One thing changes: the accesses stop at the first fault, where the later ones were still tried.";
        }
        let carried = |plan: &Plan| plan.chained.as_ref().is_some_and(|own| own.carried);
        if self.plans.iter().any(carried) {
            text += " Nor are they tried behind an error from before.";
        }
        if self.plans.iter().any(skips) {
            text += " What stands between them does not happen then, either.";
        }
        text
    }

    /// What checks which range.
    fn range(&self) -> String {
        let unchecked = |plan: &Plan| copied(plan).is_some_and(|own| !own.checks);
        let some = self.plans.iter().any(unchecked);
        if some && self.plans.iter().all(unchecked) {
            return "A check elsewhere has to cover the range, as until now".to_owned();
        }
        let range = self.form.range(self.plans.iter().all(is_object));
        match some {
            true => format!(
                "{range}, but that of a loop's elements, which a check elsewhere has to cover as until now"
            ),
            false => range.to_owned(),
        }
    }

    fn outcome(&self) -> String {
        let order = self.form.order();
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

/// What a copy in the place of a loop is made of.
fn copied(plan: &Plan) -> Option<&Copied> {
    plan.rounds.as_ref()?.copied.as_ref()
}

/// Whether the range is that of what a pointer points to.
fn is_object(plan: &Plan) -> bool {
    plan.size == format!("sizeof(*{})", plan.object)
}

/// `instead of 3`; accesses that hang on a condition may be fewer.
fn count(plan: &Plan) -> String {
    if let Some(rounds) = &plan.rounds {
        let most = if rounds.exact { "" } else { "up to " };
        return format!("around a loop instead of {most}{}", rounds.most);
    }
    let asked = |line: &Line| matches!(line, Line::When { .. });
    let checked = plan.checked.as_ref();
    if checked.is_some_and(|own| own.loops) {
        return "instead of one for each access".to_owned();
    }
    let most = if plan.lines.iter().any(asked) || checked.is_some_and(|own| own.some) {
        "up to "
    } else {
        ""
    };
    format!("instead of {most}{}", plan.run.sites.len())
}

/// Whether a statement between the accesses used to be executed after a fault, and no
/// longer is.
fn skips(plan: &Plan) -> bool {
    let plain = |step: &Step| step.kind == StepKind::Plain;
    plan.stops && plan.run.steps.iter().any(plain)
}

/// Whether no access of the window checked its range, nor the chain for them.
fn was_checked_elsewhere(plan: &Plan) -> bool {
    let apart = plan.absorbs || copied(plan).is_some();
    !apart && plan.run.sites.iter().any(|site| !site.range_check)
}

pub(crate) fn values(number: usize) -> String {
    if number == 1 {
        "a value".to_owned()
    } else {
        format!("{number} values")
    }
}

pub(crate) fn windows(number: usize) -> String {
    if number == 1 {
        "1 window".to_owned()
    } else {
        format!("{number} windows")
    }
}
