//! `get_user(a, p++)`: the accesses of a window keep to `p`, `p + 1`, and `p`
//! is moved on once, behind the window.

use tollgate_source::{Hazard, Jump, Run, Span};

use crate::plan::{Plan, Subject, mentions};
use crate::refusal::{Reason, Refusal};

/// A pointer that each access moves on by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advance {
    /// The pointer.
    pub(crate) pointer: String,
    /// How many accesses there are.
    pub(crate) count: usize,
}

impl Advance {
    /// The object and the size of the range, as C.
    pub(crate) fn range(&self) -> (String, String) {
        let Self { pointer, count } = self;
        (pointer.clone(), format!("{count} * sizeof(*{pointer})"))
    }

    /// The address of the access with that index.
    pub(crate) fn address(&self, index: usize) -> String {
        match index {
            0 => self.pointer.clone(),
            index => format!("{} + {index}", self.pointer),
        }
    }

    /// What moves the pointer on behind the window.
    pub(crate) fn statement(&self) -> String {
        format!("{} += {};", self.pointer, self.count)
    }
}

/// The pointer, if every access of the run has the address `pointer++` and
/// nothing else in the run names it.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Option<Advance> {
    let addresses = run.sites.iter().map(|site| subject.at(site.address));
    let mut pointers = addresses.map(|address| address.strip_suffix("++").map(str::to_owned));
    let pointer = pointers.next()??;
    let same = pointers.all(|other| other.as_ref() == Some(&pointer));
    let once = |hazards: &[Hazard]| hazards.iter().filter(|h| **h == Hazard::SideEffect).count();
    let alone = run.sites.iter().all(|site| once(&site.hazards) == 1);
    let named = words(&subject.at(run.span), &pointer) == run.sites.len();
    (same && alone && named && is_own(subject, &pointer)).then_some(Advance {
        pointer,
        count: run.sites.len(),
    })
}

/// Whether the name is that of a variable which only this call of the function
/// can see.
fn is_own(subject: &Subject<'_>, pointer: &str) -> bool {
    let body = subject.at(subject.function.body);
    let header = subject.at(subject.function.header);
    let plain = pointer.chars().all(|c| c.is_alphanumeric() || c == '_');
    let known = subject.outline.locals.iter().any(|l| l.name == pointer);
    let tight: String = body.split_whitespace().collect();
    let seen = mentions(&body, "static") || tight.contains(&format!("&{pointer}"));
    plain && !seen && (known || mentions(&header, pointer))
}

/// How often a name stands in a text as a word.
pub(crate) fn words(text: &str, name: &str) -> usize {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|part| *part == name).count()
}

/// After a fault the pointer stood behind the access that faulted, and stands
/// before the first one now: nothing may look.
pub(crate) fn check(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let Some(advance) = &plan.advance else {
        return Ok(());
    };
    let pointer = &advance.pointer;
    let named = |statement: &String| mentions(statement, pointer);
    let seen = match &plan.fault.jump {
        Jump::Return(_) => false,
        Jump::Goto(label) => is_used_behind(subject, plan.region, pointer, label),
        Jump::Break | Jump::Continue | Jump::None => true,
    };
    let kept = plan.before.is_some() || plan.behind.is_some() || plan.returns;
    if seen || kept || plan.chained.is_some() || plan.fault.statements.iter().any(named) {
        return Err(subject.refuse(plan.region, Reason::SideEffect));
    }
    Ok(())
}

/// Whether a name is used where a jump goes, or may be: a jump back may come to
/// anything again.
pub(crate) fn is_used_behind(subject: &Subject<'_>, from: Span, name: &str, label: &str) -> bool {
    let mut labels = subject.outline.labels.iter();
    let Some((_, place)) = labels.find(|(known, _)| known == label) else {
        return true;
    };
    let rest = Span::new(place.end, subject.function.body.end);
    place.start < from.start || mentions(&subject.at(rest), name)
}
