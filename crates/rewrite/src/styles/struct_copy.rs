//! The style `struct-copy`: adjacent members of a structure go through a copy of
//! it on the stack, and one `copy_to_user()` or `copy_from_user()`.
//!
//! A copy writes every byte of the structure. Members that the function leaves
//! alone would be written as well: that is refused unless it is asked for, but
//! for padding, and the message of the patch names what is written. The copy is
//! zeroed by memset() and not by an initialiser: the C standard lets `= {}`
//! leave holes as they are, and they would go to user space.

use tollgate_source::{Direction, Site, Span, StepKind};

use crate::edit::Edit;
use crate::lines::{arm, call, tidy, widest};
use crate::offers::Offers;
use crate::plan::{Line, Plan};
use crate::planning::{written, zero};
use crate::refusal::{Reason, Refusal};
use crate::styles::array_copy;
use crate::styles::form::{Form, copies};
use crate::styles::groups::{Group, Part, parts, place};
use crate::styles::pointer;
use crate::subject::Subject;
use crate::writing::shape::{left_unused, own_variable};
use crate::writing::variables::{declaring, free_name};
use crate::writing::{Written, braces};

/// The largest copy, in bytes: scripts/checkstack.pl names functions that use
/// more than 100, and a build warns from 1024 on.
const STACK: u64 = 256;

/// A copy on the stack.
struct Copy {
    /// Which member it is of, `s.status`; empty for the whole object.
    prefix: String,
    /// Its type.
    of: String,
    /// Its name.
    name: String,
}

/// One copy of a structure for each group of its members.
pub(crate) struct StructCopy;

impl Form for StructCopy {
    fn lacks(&self, offers: Offers) -> Option<&'static str> {
        copies(offers)
    }

    fn keeps_ways(&self) -> bool {
        true
    }

    fn copies_elements(&self) -> bool {
        true
    }

    fn write(&self, subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
        let mut written = Written::default();
        let mut copies = Vec::new();
        let regions: Vec<Span> = plans.iter().map(|plan| plan.region).collect();
        for plan in plans {
            let rounds = plan.rounds.as_ref();
            let copied = rounds.and_then(|own| Some((own.copied.clone()?, own.most)));
            if let Some(copied) = copied {
                array_copy::write(subject, plan, copied, &mut written);
                continue;
            }
            match Writer::new(subject, &plan, &regions, &mut copies) {
                Ok(writer) => {
                    written.saved += writer.saved();
                    written.changes.extend(writer.changes());
                    written.edits.extend(writer.edits());
                    written.plans.push(plan);
                }
                Err(refusal) => written.refused.push(refusal),
            }
        }
        let declared = copies
            .iter()
            .map(|copy| format!("{} {};", copy.of, copy.name));
        let declared: Vec<String> = declared.collect();
        written.edits.extend(declaring(subject, &declared));
        written
    }

    fn does(&self, _: bool) -> &'static str {
        "Copy user memory at once in"
    }

    fn change(&self, _: &str) -> String {
        "Copy adjacent members at once.".to_owned()
    }

    fn opens_one_each(&self) -> bool {
        false
    }

    fn range(&self, _: bool) -> &'static str {
        "Each copy checks its range"
    }

    fn order(&self) -> &'static str {
        "though a copy goes in the order of addresses"
    }

    fn zeroes(&self) -> &'static str {
        "One thing changes: on a fault nothing is stored of what the copy was to read, where the members before \
         the fault were stored, and the one that faulted was made zero."
    }
}

/// Writes the copies of one plan.
struct Writer<'w, 'a> {
    subject: &'w Subject<'a>,
    plan: &'w Plan,
    pointer: String,
    reads: bool,
    parts: Vec<Part>,
    /// The names of the copies of the groups, in order.
    names: Vec<String>,
    /// Where an opening brace is needed.
    braces: Option<usize>,
}

impl<'w, 'a> Writer<'w, 'a> {
    fn new(
        subject: &'w Subject<'a>,
        plan: &'w Plan,
        regions: &[Span],
        copies: &mut Vec<Copy>,
    ) -> Result<Self, Refusal> {
        let refuse = |reason| Err(subject.refuse(plan.region, reason));
        if plan.chained.is_some() {
            return refuse(Reason::Shape(subject.styled.style));
        }
        let reads = plan.run.count(Direction::Read);
        if reads > 0 && reads < plan.run.sites.len() {
            return refuse(Reason::BothWays);
        }
        if subject.conditions(plan.region) != Some(Vec::new()) {
            return refuse(Reason::LeftOut);
        }
        // What stands between writes would happen before the copy, and so before a fault.
        if reads == 0 && has_statements(plan) {
            return refuse(Reason::Gap);
        }
        if subject.disables_faults() {
            return refuse(Reason::FaultsDisabled);
        }
        let only_set = || left_unused(subject, plan, regions);
        if let Some(variable) = own_variable(subject, plan, regions).or_else(only_set) {
            return refuse(Reason::Unused(variable));
        }
        if let Some((place, variable)) = zero::looked_at(subject, plan) {
            return Err(subject.refuse(place, Reason::CopiedAfterFault(variable)));
        }
        let braces = braces::opening(subject, plan.region)?;
        let pointer = pointer::of(subject, plan)?;
        let parts = parts(subject, plan, &pointer)?;
        let groups = || parts.iter().filter_map(Part::group);
        if let Some(large) = groups().find(|group| group.size > STACK) {
            return refuse(Reason::Stack(large.of.clone(), large.size));
        }
        let whole = matches!(parts.as_slice(), [Part::Group(group)] if group.prefix.is_empty());
        if plan.absorbs && !whole {
            return refuse(Reason::CheckedBefore(pointer.name));
        }
        in_order(subject, plan, &parts)?;
        wipes_nothing(subject, plan, &pointer.name, groups())?;
        let names = groups()
            .map(|group| named(subject, group, copies))
            .collect();
        Ok(Self {
            subject,
            plan,
            pointer: pointer.name,
            reads: reads > 0,
            parts,
            names,
            braces,
        })
    }

    fn groups(&self) -> impl Iterator<Item = (&Group, &String)> {
        self.parts.iter().filter_map(Part::group).zip(&self.names)
    }

    /// Windows that are opened no more.
    fn saved(&self) -> usize {
        self.groups().map(|(group, _)| group.sites.len() - 1).sum()
    }

    /// What the copies do that the accesses did not.
    fn changes(&self) -> Vec<String> {
        let between = has_statements(self.plan).then(|| {
            "One thing changes: on a fault nothing of what stands between the reads happens, where what stood \
             before the fault did."
                .to_owned()
        });
        let groups = self.groups();
        groups
            .filter_map(|(group, _)| self.change(group))
            .chain(between)
            .collect()
    }

    fn change(&self, group: &Group) -> Option<String> {
        let object = place(&self.pointer, &group.prefix);
        let members = group.untouched.join(", ");
        match (self.reads, members.is_empty()) {
            (true, true) => None,
            (true, false) => Some(format!(
                "The copy of {object} also reads {members}, which nothing looks at."
            )),
            (false, true) => group.zeroed.then(|| {
                format!(
                    "One thing changes: where an architecture has holes between the members of {object}, they are \
                     written as zeros, and were left alone until now."
                )
            }),
            (false, false) => Some(format!(
                "One thing changes: the copy of {object} writes zeros to {members}, and to holes between members, \
                 which were left alone until now."
            )),
        }
    }

    fn edits(&self) -> Vec<Edit> {
        let (region, text) = (self.plan.region, self.text());
        let Some(at) = self.braces else {
            return vec![Edit::replace(region, text)];
        };
        let indent = self.subject.indent(region.start);
        let closed = format!("{text}\n{}}}", braces::outer(&indent));
        vec![Edit::insert(at, " {"), Edit::replace(region, closed)]
    }

    fn text(&self) -> String {
        let indent = self.subject.indent(self.plan.region.start);
        let before = self.plan.before.map(|part| self.kept(part, &indent));
        let condition = self.condition(&indent) + &arm(&self.plan.fault.statements, &indent);
        let members = self.members(&indent);
        let mut pieces: Vec<String> = before.into_iter().collect();
        if self.reads {
            pieces.extend([condition, members]);
        } else {
            let zeroed = self.groups().filter(|(group, _)| group.zeroed);
            pieces.extend(
                zeroed.map(|(_, name)| format!("{indent}memset(&{name}, 0, sizeof({name}));")),
            );
            pieces.extend([members, condition]);
        }
        pieces.extend(self.plan.behind.map(|part| self.kept(part, &indent)));
        let results = self.plan.results.iter();
        pieces.extend(results.map(|variable| format!("{indent}{variable} = 0;")));
        if self.plan.returns {
            pieces.push(format!("\n{indent}return 0;"));
        }
        pieces.join("\n").trim_start().to_owned()
    }

    fn kept(&self, part: tollgate_source::Span, indent: &str) -> String {
        let condition = self.subject.at(part);
        format!(
            "{indent}if ({condition}){}",
            arm(&self.plan.fault.statements, indent)
        )
    }

    /// `if (copy_to_user(…) || put_user(…))`.
    fn condition(&self, indent: &str) -> String {
        let mut names = self.names.iter();
        let mut lines = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let head = if at == 0 { "if (" } else { "    " };
            let tail = if at + 1 == self.parts.len() {
                "))"
            } else {
                ") ||"
            };
            lines.push(match part {
                Part::Access(index) => self.access(*index, indent, head, tail),
                Part::Group(group) => {
                    let name = names.next().map_or("", String::as_str);
                    self.copy(group, name, indent, head, tail)
                }
            });
        }
        lines.join("\n")
    }

    fn access(&self, index: usize, indent: &str, head: &str, tail: &str) -> String {
        let Some(site) = self.plan.run.sites.get(index) else {
            return String::new();
        };
        let value = tidy(&self.subject.line(site.value));
        let address = tidy(&self.subject.line(site.address));
        let head = format!("{head}{}", site.call);
        call(self.columns(), indent, &head, &[&value, &address], tail)
    }

    fn copy(&self, group: &Group, name: &str, indent: &str, head: &str, tail: &str) -> String {
        let user = if group.prefix.is_empty() {
            self.pointer.clone()
        } else {
            format!("&{}->{}", self.pointer, group.prefix)
        };
        let (own, size) = (format!("&{name}"), format!("sizeof({name})"));
        let (function, arguments) = if self.reads {
            ("copy_from_user", [own.as_str(), &user, &size])
        } else {
            ("copy_to_user", [user.as_str(), &own, &size])
        };
        let head = format!("{head}{function}");
        call(self.columns(), indent, &head, &arguments, tail)
    }

    /// The assignments between the copies and what the function has, and the
    /// comments that stood between the accesses.
    fn members(&self, indent: &str) -> String {
        let lines = self.plan.lines.iter().filter_map(|line| match line {
            Line::Verbatim(text) => Some(format!("{indent}{text}")),
            Line::Access(index) => self.member(*index, indent),
            _ => None,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn member(&self, index: usize, indent: &str) -> Option<String> {
        let (group, name) = self
            .groups()
            .find(|(group, _)| group.sites.iter().any(|(at, _)| *at == index))?;
        let (_, path) = group.sites.iter().find(|(at, _)| *at == index)?;
        let site: &Site = self.plan.run.sites.get(index)?;
        let value = tidy(&self.subject.line(site.value));
        Some(if self.reads {
            format!("{indent}{value} = {name}.{path};")
        } else {
            format!("{indent}{name}.{path} = {value};")
        })
    }

    fn columns(&self) -> usize {
        widest(&self.subject.at(self.plan.region))
    }
}

/// Whether anything but comments stands between the accesses.
fn has_statements(plan: &Plan) -> bool {
    let mut steps = plan.run.steps.iter();
    steps.any(|step| step.kind == StepKind::Plain)
}

/// Members of a copy are stored behind every access of the condition: what comes
/// later in the run and is read by itself must be another place.
fn in_order(subject: &Subject<'_>, plan: &Plan, parts: &[Part]) -> Result<(), Refusal> {
    let sites = || plan.run.sites.iter().enumerate();
    let reads = |site: &Site| site.direction == Direction::Read;
    let copied = |at: usize| {
        let mut groups = parts.iter().filter_map(Part::group);
        groups.any(|group| group.sites.iter().any(|(own, _)| *own == at))
    };
    for (at, first) in sites().filter(|(at, site)| reads(site) && copied(*at)) {
        for (_, second) in sites().filter(|(later, _)| *later > at && !copied(*later)) {
            if !zero::are_apart(subject, first, second) {
                let [one, other] = [first, second].map(|site| subject.line(site.value));
                return Err(subject.refuse(second.span, Reason::Overlap(other, one)));
            }
        }
    }
    Ok(())
}

/// What no access of a group is to is made zero by the copy: nothing may have been written
/// there before.
fn wipes_nothing<'g>(
    subject: &Subject<'_>,
    plan: &Plan,
    pointer: &str,
    groups: impl Iterator<Item = &'g Group>,
) -> Result<(), Refusal> {
    let writes = plan.run.count(Direction::Write) > 0;
    for group in groups.filter(|group| writes && !group.untouched.is_empty()) {
        let (prefix, left) = (&group.prefix, &group.untouched);
        if let Some(earlier) = written::before(subject, plan.region, pointer, prefix, left) {
            let line = subject.line_of(earlier.span);
            let reason = Reason::WrittenBefore {
                object: place(pointer, prefix).into(),
                call: format!("{}() of line {line}", earlier.name).into(),
            };
            return Err(subject.refuse(plan.region, reason));
        }
    }
    Ok(())
}

/// The copy for a group: one for all groups of the same member.
fn named(subject: &Subject<'_>, group: &Group, copies: &mut Vec<Copy>) -> String {
    let same = |copy: &&Copy| copy.prefix == group.prefix && copy.of == group.of;
    if let Some(known) = copies.iter().find(same) {
        return known.name.clone();
    }
    let member = group.prefix.rsplit('.').next().unwrap_or_default();
    let member = member.split('[').next().unwrap_or_default();
    let base = if member.is_empty() {
        "copy".to_owned()
    } else {
        format!("user_{member}")
    };
    let taken: Vec<String> = copies.iter().map(|copy| copy.name.clone()).collect();
    let name = free_name(subject, &base, &taken);
    copies.push(Copy {
        prefix: group.prefix.clone(),
        of: group.of.clone(),
        name: name.clone(),
    });
    name
}
