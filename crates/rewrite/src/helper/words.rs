//! What the patch says of itself.

use tollgate_source::{Direction, Function, Jump};

use crate::asked::Asked;
use crate::helper::callers::Caller;
use crate::helper::names::Names;
use crate::helper::open::Open;
use crate::lines::{width, wrapped};
use crate::message::{COLUMNS, values, windows};
use crate::plan::Plan;
use crate::prefix::prefix;
use crate::refusal::FixError;
use crate::target::argument;

/// What the message is made of.
pub(super) struct Words<'w> {
    pub(super) asked: &'w Asked<'w>,
    pub(super) function: &'w Function,
    pub(super) open: &'w Open,
    pub(super) callers: &'w [Caller],
    /// Windows that were opened where nothing faults.
    pub(super) before: usize,
    /// Windows that are.
    pub(super) after: usize,
    /// Whether others still call the function.
    pub(super) kept: bool,
}

impl Words<'_> {
    /// The first line.
    pub(super) fn subject(&self) -> Result<String, FixError> {
        let Asked {
            target, request, ..
        } = self.asked;
        let name = &self.function.name;
        let prefix = prefix(target, request.prefix.as_deref(), name)?;
        let wanted = format!("{prefix}: Open user access around {name}()");
        let short = format!("{prefix}: Open a window around {name}()");
        Ok(match width(&wanted) <= COLUMNS {
            true => wanted,
            false => short,
        })
    }

    /// The paragraphs, with a line end behind the last.
    pub(super) fn body(&self) -> String {
        let mut all = vec![self.problem(), self.change(), self.meaning()];
        let mut changes: Vec<&String> = self.callers.iter().flat_map(|own| &own.changes).collect();
        changes.dedup();
        all.extend(changes.into_iter().cloned());
        if self.kept {
            let name = &self.function.name;
            all.push(format!(
                "{name}() stays for calls that have no window, and opens one of its own now."
            ));
        }
        let all = all.iter().map(|paragraph| wrapped(paragraph, COLUMNS));
        let figures = self.asked.request.figures.join("\n");
        let figures = Some(figures).filter(|figures| !figures.is_empty());
        let all: Vec<String> = all.chain(figures).collect();
        all.join("\n\n") + "\n"
    }

    fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.callers.iter().flat_map(|caller| &caller.plans)
    }

    fn problem(&self) -> String {
        let Open {
            accesses,
            calls,
            loops,
            direction,
            ..
        } = self.open;
        let with: Vec<String> = calls.iter().map(|name| format!("{name}()")).collect();
        let rounds = if *loops {
            ", some in each round of a loop"
        } else {
            ""
        };
        format!(
            "{}() {} user memory with {}{rounds}, and {} beside a call of it. Each access opens access to user memory \
             and closes it again: stac and clac on x86 with SMAP, writes of a protection register on powerpc with KUAP.",
            self.function.name,
            match direction {
                Direction::Write => format!("writes {} to", values(*accesses)),
                Direction::Read => format!("reads {} from", values(*accesses)),
            },
            with.join(" and "),
            match self.callers {
                [one] => format!("{}() has others", called(one)),
                _ => format!("{} have others", self.names()),
            },
        )
    }

    fn names(&self) -> String {
        let names = self.callers.iter().map(|own| format!("{}()", called(own)));
        let names: Vec<String> = names.collect();
        match names.split_last() {
            Some((last, front)) if !front.is_empty() => format!("{} and {last}", front.join(", ")),
            _ => names.join(""),
        }
    }

    fn change(&self) -> String {
        let names = Names::of(&self.function.name);
        let before = match (self.open.loops, self.open.some) {
            (true, _) => "one for each access".to_owned(),
            (false, true) => format!("up to {}", self.before),
            (false, false) => self.before.to_string(),
        };
        format!(
            "Make its accesses those of {}(), which needs an open window and goes to a label on a fault, and open one around it and \
             what stands beside it in {}. That is {} instead of {before} when nothing faults.",
            names.unsafe_,
            self.names(),
            windows(self.after),
        )
    }

    fn meaning(&self) -> String {
        let whole = self
            .plans()
            .all(|plan| plan.size == format!("sizeof(*{})", plan.object));
        let mut text = self.asked.form.range(whole).to_owned();
        if self.plans().any(|plan| plan.absorbs) {
            text += ", and takes the place of access_ok()";
        }
        if !self.open.checks {
            text += "; until now a check elsewhere had to cover them";
        }
        let order = self.asked.form.order();
        let mut jumps = self.plans().map(|plan| &plan.fault.jump);
        let first = jumps.next();
        text += &match first {
            Some(Jump::Return(value))
                if !value.is_empty() && jumps.all(|own| Some(own) == first) =>
            {
                format!(". On a fault the callers still return {value}, {order}.")
            }
            _ => format!(". On a fault the callers still do what they did, {order}."),
        };
        if self.open.stops || self.plans().any(|plan| plan.stops) {
            text += " One thing changes: the accesses stop at the first fault, where the later ones were still tried.";
        }
        if self.open.keeps {
            text += " After a fault, what the reads fill keeps what it held: get_user() made it zero. Nobody may rely on that.";
        }
        if self.open.loops {
            text += " The window stays open over all rounds of the loop, however many there are.";
        }
        if self.open.skips {
            text += " What stands between them does not happen then, either.";
        }
        text
    }
}

fn called(caller: &Caller) -> &str {
    argument(&caller.name).unwrap_or(&caller.name)
}
