//! What is new: the sides of a patch against each other.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::answer;
use tollgate_lab::job::{CellResult, ObjectResult, Outcome};
use tollgate_robot::{
    Built, CellReport, Condition, Diagnostic, Finding, FindingKind, Line, LineKind, LineState,
    ObjectReport, PatchReport, Report, Severity, Tool, Unbuilt, fresh, fresh_of, read,
};
use tollgate_source::TreePath;

use super::atlas::Atlas;
use super::build::{Sides, States};
use super::context::{ROOT, Robot};
use super::listing::function_at;
use super::objects::{Edited, Reached};
use super::plan::{Plan, dead, needs};
use super::renamed::renamed;
use super::seat::{Seat, Spot};
use super::series::{self, Patch, Series};
use crate::progress::Steps;

/// Rounds in which cells are added for lines that were taken to be compiled and were
/// not.
const ROUNDS: usize = 6;

/// What is known of a patch while it is judged.
struct Judged<'a> {
    reached: Reached,
    plan: Plan,
    taken: BTreeSet<usize>,
    sides: Vec<Sides>,
    proven: BTreeMap<Spot, Vec<(String, String)>>,
    atlas: &'a Atlas,
    /// The names that functions had before.
    names: BTreeMap<String, String>,
}

impl Robot<'_> {
    /// Judges one patch of a series.
    pub(crate) fn patch(
        &self,
        series: &Series,
        patch: &Patch,
        atlas: &mut Atlas,
        report: &mut Report,
        steps: &Steps<'_>,
    ) -> anyhow::Result<PatchReport> {
        atlas.patched(patch);
        let mut reached = Reached::of(patch, atlas);
        if self.asked.warn.is_empty() {
            reached.documented.clear();
        }
        let mut judged = PatchReport {
            number: (patch.number, series.patches.len()),
            subject: patch.subject.clone(),
            tags: patch.tags.clone(),
            message_id: patch.message_id.clone(),
            author: patch.author.clone(),
            files: patch.files.keys().map(ToString::to_string).collect(),
            build_files: reached.build_files.clone(),
            ..PatchReport::default()
        };
        for file in &reached.foreign {
            judged.unbuilt.push(unbuilt("", file, "the robot builds C, assembly and what Kbuild and Kconfig files say of them, nothing else"));
        }
        if !reached.build_files.is_empty() && !self.asked.trust {
            let files = reached.build_files.join(", ");
            judged.unbuilt.push(unbuilt(
                "",
                "the patch",
                &format!("it changes what a build runs ({files}): look at it, then say --trust"),
            ));
            return Ok(judged);
        }
        self.dead_options(patch, atlas, &mut judged);
        let states = States {
            number: patch.number,
            before: changes(series, patch.number - 1),
            after: changes(series, patch.number),
        };
        let label = format!("patch {}/{}", patch.number, series.patches.len());
        let plan = steps.step(
            &format!("{label}: work out the cells"),
            || self.plan(&reached, &states, patch, atlas),
            |plan| format!("{} compile something of it", plan.seats.len()),
        )?;
        let mut work = Judged {
            reached,
            plan,
            taken: BTreeSet::new(),
            sides: Vec::new(),
            proven: BTreeMap::new(),
            atlas,
            names: renamed(patch)?,
        };
        steps.step(
            &format!("{label}: build both sides"),
            || self.rounds(&mut work, &states, &mut judged),
            |()| String::new(),
        )?;
        self.conclude(&work, patch, &mut judged, report)?;
        self.checked(series, patch, &work.sides, &work.plan, &mut judged, steps)?;
        Ok(judged)
    }

    /// Builds until every edited line is proved to be compiled, or no cell is left.
    fn rounds(
        &self,
        work: &mut Judged<'_>,
        states: &States,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let mut next = Self::choose(&work.plan, &BTreeSet::new(), None);
        let numbered = work.plan.seats.iter().enumerate();
        let always = numbered.filter(|(_, seat)| seat.always);
        next.extend(always.map(|(number, _)| number));
        next.sort_unstable();
        next.dedup();
        for _ in 0..ROUNDS {
            self.round(&next, work, states, judged)?;
            let missing = work.missing();
            if missing.is_empty() {
                return Ok(());
            }
            next = Self::choose(&work.plan, &work.taken, Some(&missing));
            if next.is_empty() {
                break;
            }
        }
        let missing = work.missing();
        let made = self.derive(&missing, &work.reached, work.atlas, &mut work.plan)?;
        self.round(&made, work, states, judged)
    }

    fn round(
        &self,
        next: &[usize],
        work: &mut Judged<'_>,
        states: &States,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let seats = next
            .iter()
            .filter_map(|number| Some((*number, work.plan.seats.get(*number)?)));
        let seats: Vec<(usize, &Seat)> = seats.collect();
        let (sides, unbuilt) = self.build(&seats, states, &work.reached)?;
        judged.unbuilt.extend(unbuilt);
        work.taken.extend(next.iter().copied());
        for one in &sides {
            let Some(seat) = work.plan.seats.get(one.seat) else {
                continue;
            };
            for (number, file) in work.reached.edited.iter().enumerate() {
                for group in file.touched.keys() {
                    for (object, result) in &one.after.objects {
                        if has(file, *group, result, seat) {
                            let place = (seat.cell.name.clone(), object.clone());
                            work.proven.entry((number, *group)).or_default().push(place);
                            break;
                        }
                    }
                }
            }
        }
        work.sides.extend(sides);
        Ok(())
    }

    /// Puts together what is known.
    fn conclude(
        &self,
        work: &Judged<'_>,
        patch: &Patch,
        judged: &mut PatchReport,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        judged.unbuilt.extend(work.plan.unbuilt.iter().cloned());
        for one in &work.sides {
            let Some(seat) = work.plan.seats.get(one.seat) else {
                continue;
            };
            for (file, count) in &seat.left {
                let why = format!(
                    "they read {file} and are over the limit of {}; --full builds them",
                    self.limits.objects
                );
                judged.unbuilt.push(unbuilt(
                    &seat.cell.name,
                    &format!("{count} more objects"),
                    &why,
                ));
            }
            if let Some(why) = &seat.unread {
                judged.unbuilt.push(unbuilt(
                    &seat.cell.name,
                    "what reads options that change",
                    why,
                ));
            }
            self.cell(seat, one, work, report);
            self.objects(seat, one, work, patch, judged)?;
            self.outside(seat, one, judged);
        }
        self.links(&work.sides, &work.plan, work.atlas, patch, judged)?;
        let lines = work.lines();
        judged.lines = lines;
        self.irrelevant(work, judged);
        judged
            .findings
            .sort_by_key(|finding| (finding.kind, finding.file.clone(), finding.line));
        judged.unbuilt.sort();
        judged.unbuilt.dedup();
        Ok(())
    }

    /// A cell that cannot be had says nothing where others have all its values and
    /// compile every line.
    fn irrelevant(&self, work: &Judged<'_>, judged: &mut PatchReport) {
        let asked = &self.asked.cells;
        let have: BTreeSet<String> = work
            .sides
            .iter()
            .filter_map(|one| work.plan.seats.get(one.seat))
            .flat_map(|seat| {
                seat.cell
                    .axes
                    .iter()
                    .map(|(axis, value)| format!("{} {value}", axis.name()))
            })
            .collect();
        let covered = |name: &str| {
            let cell = self.cells.iter().find(|cell| cell.name == name);
            cell.is_some_and(|cell| {
                !asked.contains(&cell.name)
                    && cell
                        .axes
                        .iter()
                        .all(|(axis, value)| have.contains(&format!("{} {value}", axis.name())))
            })
        };
        let all_lines = work.missing().is_empty();
        let not_had = |one: &Unbuilt| work.plan.unbuilt.contains(one);
        judged
            .unbuilt
            .retain(|one| !(all_lines && not_had(one) && covered(&one.cell)));
    }

    fn cell(&self, seat: &Seat, sides: &Sides, work: &Judged<'_>, report: &mut Report) {
        if report
            .cells
            .iter()
            .any(|known| known.name == seat.cell.name)
        {
            return;
        }
        let mut variables = Vec::new();
        if !seat.cell.cross.is_empty() {
            variables.push(format!("CROSS_COMPILE={}", seat.cell.cross));
        }
        if let Some(version) = &seat.cell.llvm {
            variables.push(format!("LLVM={version}"));
        }
        let because = match seat.because.is_empty() {
            true => because(seat, work),
            false => seat.because.clone(),
        };
        report.cells.push(CellReport {
            name: seat.cell.name.clone(),
            arch: seat.cell.arch.clone(),
            compiler: sides.after.compiler.clone(),
            base: match seat.cell.base.seed {
                None => seat.cell.base.goal.clone(),
                Some(seed) => format!("{} KCONFIG_SEED={seed}", seat.cell.base.goal),
            },
            fragment: seat.cell.overlay(),
            variables,
            because,
            axes: seat.cell.axes.clone(),
            packages: seat.cell.packages.clone(),
        });
    }

    fn objects(
        &self,
        seat: &Seat,
        sides: &Sides,
        work: &Judged<'_>,
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let names: BTreeSet<&String> = sides
            .before
            .objects
            .keys()
            .chain(sides.after.objects.keys())
            .collect();
        for object in names {
            let (old, new) = (
                sides.before.objects.get(object),
                sides.after.objects.get(object),
            );
            let old_said = old.map_or_else(Vec::new, |one| self.diagnostics(one, patch, false));
            let new_said = new.map_or_else(Vec::new, |one| self.diagnostics(one, patch, true));
            let cell = &seat.cell.name;
            if let Some(new) = new {
                let adds = work.reached.added.get(object);
                match (&new.outcome, adds) {
                    (Outcome::NotMade(why), Some(file)) if why.contains(NO_RULE) => {
                        judged.findings.push(no_source(cell, object, file));
                    }
                    (Outcome::Died(why) | Outcome::NotMade(why), _) => {
                        judged.unbuilt.push(unbuilt(cell, object, why));
                    }
                    _ => {}
                }
                let mut fresh = fresh_of(&old_said, &new_said, &work.names);
                // What a module has to say of itself once says one of its parts.
                let alone = work.atlas.kbuild.wholes(object) == [object.clone()]
                    && super::links::is_module(object, seat, work.atlas);
                fresh.retain(|one| alone || !is_of_modules(one));
                let refused = new.outcome == Outcome::Refused;
                if refused && fresh.is_empty() {
                    unsaid(cell, object, old, new, judged);
                }
                for one in &fresh {
                    found(one, cell, object, judged);
                }
                if !fresh.is_empty() {
                    self.listing(cell, new, &fresh, patch, judged)?;
                }
            }
            if let Some(Outcome::Died(why)) = old.map(|old| &old.outcome) {
                judged
                    .unbuilt
                    .push(unbuilt(cell, object, &format!("without the patch: {why}")));
            }
            let same = matches!((old, new), (Some(a), Some(b)) if a.text.is_some() && a.text == b.text && a.command == b.command);
            judged.objects.push(ObjectReport {
                cell: cell.clone(),
                object: object.clone(),
                before: old.and_then(|one| built(one, &old_said, false)),
                after: new.and_then(|one| built(one, &new_said, same)),
            });
        }
        Ok(())
    }

    /// What make and Kconfig said of nothing in particular.
    fn outside(&self, seat: &Seat, sides: &Sides, judged: &mut PatchReport) {
        let died = |side: &CellResult| {
            let mut all = side.objects.values();
            all.any(|one| matches!(one.outcome, Outcome::Died(_)))
        };
        // Its last words are of its death, which is said.
        if died(&sides.before) || died(&sides.after) {
            return;
        }
        let all = |side: &CellResult| {
            let mut found = read(&side.configured, Tool::Kbuild, ROOT);
            found.extend(read(&side.make, seat.cell.tool(), ROOT));
            // What the compiler said of an object stands with the object.
            let own: BTreeSet<_> = side
                .objects
                .values()
                .flat_map(|one| &one.said)
                .flat_map(|(tool, said)| read(said, *tool, ROOT))
                .map(|one| one.identity())
                .collect();
            found.retain(|one| {
                !own.contains(&one.identity()) && !one.text.contains("No rule to make target")
            });
            // What is left no compiler said: kernel-doc, or make itself.
            found.iter_mut().for_each(|one| one.tool = Tool::Kbuild);
            found
        };
        let (old, new) = (all(&sides.before), all(&sides.after));
        for one in fresh(&old, &new) {
            found(one, &seat.cell.name, "", judged);
        }
    }

    /// What was said of an object, with functions where the compiler names none.
    fn diagnostics(&self, result: &ObjectResult, patch: &Patch, after: bool) -> Vec<Diagnostic> {
        let all = result.said.iter();
        let mut found: Vec<Diagnostic> = all
            .flat_map(|(tool, said)| read(said, *tool, ROOT))
            .collect();
        for one in &mut found {
            let silent = matches!(one.tool, Tool::Clang | Tool::Sparse);
            if silent
                && one.function.is_empty()
                && one.line > 0
                && let Some(text) = self.text_of(&one.file, patch, after)
                && let Some((name, ..)) = function_at(&text, one.line)
            {
                one.function = name;
            }
        }
        found
    }

    pub(super) fn text_of(&self, path: &str, patch: &Patch, after: bool) -> Option<Vec<u8>> {
        let path = TreePath::new(path.as_bytes())?;
        match patch.files.get(&path) {
            Some((old, new)) => {
                if after {
                    new.clone()
                } else {
                    old.clone()
                }
            }
            // Where it cannot be read no function is named.
            None => answer::there(self.tree.source(&path).map_err(drop)),
        }
    }
}

impl Judged<'_> {
    /// Edited lines that nothing was proved to compile.
    fn missing(&self) -> BTreeSet<Spot> {
        let mut missing = BTreeSet::new();
        for (number, file) in self.reached.edited.iter().enumerate() {
            for group in file.touched.keys() {
                let spot = (number, *group);
                let alive = dead(&file.condition(*group), self.atlas).is_empty();
                if alive && !self.proven.contains_key(&spot) {
                    missing.insert(spot);
                }
            }
        }
        missing
    }

    fn lines(&self) -> Vec<Line> {
        let mut all = Vec::new();
        for (number, file) in self.reached.edited.iter().enumerate() {
            if file.touched.is_empty() {
                all.push(Line {
                    file: file.path.clone(),
                    lines: ranges(&file.edits.new),
                    within: String::new(),
                    state: LineState::Nothing,
                });
            }
            for (group, lines) in &file.touched {
                let within = file
                    .groups
                    .group(*group)
                    .map_or(String::new(), |one| one.begins.clone());
                all.push(Line {
                    file: file.path.clone(),
                    lines: ranges(lines),
                    within,
                    state: self.state((number, *group), file),
                });
            }
        }
        all
    }

    fn state(&self, spot: Spot, file: &Edited) -> LineState {
        let condition = file.condition(spot.1);
        let options = dead(&condition, self.atlas);
        if !options.is_empty() {
            return LineState::Dead { options };
        }
        let Some(cells) = self.proven.get(&spot) else {
            let needs = match self.without_answer(spot).as_slice() {
                [] => self.unreached(&condition, file),
                cells => format!("no answer of {}, where it was to be", cells.join(", ")),
            };
            return LineState::Unreached { needs };
        };
        let values = |names: &dyn Fn(&Seat) -> bool| -> BTreeSet<String> {
            let seats = self.plan.seats.iter().filter(|seat| names(seat));
            seats
                .flat_map(|seat| {
                    seat.cell
                        .axes
                        .iter()
                        .map(|(axis, value)| format!("{} {value}", axis.name()))
                })
                .collect()
        };
        let proven = values(&|seat| cells.iter().any(|(cell, _)| *cell == seat.cell.name));
        // What was built and has not the lines was taken to have them, and has not.
        let possible = values(&|seat| {
            let number = self
                .plan
                .seats
                .iter()
                .position(|one| one.cell.name == seat.cell.name);
            let untried =
                number.is_none_or(|number| !self.sides.iter().any(|one| one.seat == number));
            untried && seat.spots.contains(&spot)
        });
        LineState::Compiled {
            cells: cells.clone(),
            missing: possible.difference(&proven).cloned().collect(),
        }
    }

    /// The cells that were to compile a spot and could not be built.
    fn without_answer(&self, spot: Spot) -> Vec<&str> {
        let seats = self.plan.seats.iter().enumerate();
        let asked = seats
            .filter(|(number, seat)| self.taken.contains(number) && seat.spots.contains(&spot));
        let lacking = asked.filter(|(number, _)| !self.sides.iter().any(|one| one.seat == *number));
        lacking.map(|(_, seat)| seat.cell.name.as_str()).collect()
    }

    fn unreached(&self, condition: &Condition, file: &Edited) -> String {
        let object = super::objects::object_of(&file.path);
        let own = object
            .as_ref()
            .and_then(|object| self.atlas.kbuild.condition(object));
        let own = own.filter(|own| *own != Condition::Yes);
        let asked = match (condition, own) {
            (Condition::Yes, None) => {
                return match object {
                    Some(object) => format!(
                        "no Kbuild file of these architectures names {object}, and nothing that is built includes {}",
                        file.path
                    ),
                    None => format!(
                        "nothing that is built in these cells includes {}",
                        file.path
                    ),
                };
            }
            (condition, Some(own)) => condition.clone().and(own),
            (condition, None) => condition.clone(),
        };
        needs(&asked, self.atlas)
    }
}

/// Whether the lines of a group reach the compiler in an object.
fn has(file: &Edited, group: usize, result: &ObjectResult, seat: &Seat) -> bool {
    let Some(lines) = result.lines.get(&file.path) else {
        return false;
    };
    let all: Vec<u32> = file.groups.lines_of(group).collect();
    let text = all
        .iter()
        .filter(|line| matches!(file.groups.kind(**line), LineKind::Code | LineKind::Define));
    let mut text = text.peekable();
    if text.peek().is_none() {
        // Nothing but directives, which leave no line behind: the file is read here, and
        // its options say that these are, too.
        return file.condition(group).truth(&seat.config) == tollgate_robot::Truth::Yes;
    }
    text.any(|line| lines.contains(line))
}

fn because(seat: &Seat, work: &Judged<'_>) -> String {
    let mut within: Vec<String> = Vec::new();
    for (file, group) in &seat.spots {
        let Some(edited) = work.reached.edited.get(*file) else {
            continue;
        };
        let here = work.proven.get(&(*file, *group));
        let proven = here.is_some_and(|all| all.iter().any(|(cell, _)| *cell == seat.cell.name));
        if let Some(one) = edited
            .groups
            .group(*group)
            .filter(|one| proven && !one.begins.is_empty())
        {
            within.push(format!("{}:{} {}", edited.path, one.line, one.begins));
        }
    }
    let axes: Vec<String> = seat
        .cell
        .axes
        .iter()
        .map(|(axis, value)| format!("{} {value}", axis.name()))
        .collect();
    let documented: Vec<&str> = seat.once.iter().map(String::as_str).collect();
    match within.as_slice() {
        [] if seat.spots.is_empty() && seat.named.is_empty() && !documented.is_empty() => {
            format!(
                "Kbuild reads edited kernel-doc with {}",
                documented.join(", ")
            )
        }
        [] => format!("it compiles edited lines with {}", axes.join(", ")),
        within => format!("it compiles the edited lines within {}", within.join(", ")),
    }
}

fn unbuilt(cell: &str, what: &str, why: &str) -> Unbuilt {
    Unbuilt {
        cell: cell.to_owned(),
        what: what.to_owned(),
        why: why.to_owned(),
    }
}

/// What make says of an object that it has nothing to make of.
const NO_RULE: &str = "No rule to make target";

/// An object that does not compile, of which no diagnostic is new: it did not before, or
/// what the compiler says is none that is known.
fn unsaid(
    cell: &str,
    object: &str,
    old: Option<&ObjectResult>,
    new: &ObjectResult,
    judged: &mut PatchReport,
) {
    let why = match old.map(|old| &old.outcome) {
        None | Some(Outcome::Built | Outcome::Preprocessed) => None,
        Some(Outcome::Refused) => Some("it does not compile without the patch either"),
        Some(Outcome::Died(_) | Outcome::NotMade(_)) => {
            Some("it does not compile; whether it did without the patch is not known")
        }
    };
    if let Some(why) = why {
        judged.unbuilt.push(unbuilt(cell, object, why));
        return;
    }
    let said = new.said.iter().flat_map(|(_, said)| said.lines());
    let mut said = said.filter(|line| !line.trim().is_empty());
    let last = said.next_back();
    let last = last.map_or("it says nothing", str::trim);
    judged.findings.push(Finding {
        kind: FindingKind::Error,
        cell: cell.to_owned(),
        object: object.to_owned(),
        diagnostic: None,
        message: format!("{object} does not compile any more; the compiler's last words: {last}"),
        file: object.to_owned(),
        line: 0,
        also: Vec::new(),
    });
}

fn no_source(cell: &str, object: &str, file: &str) -> Finding {
    Finding {
        kind: FindingKind::Error,
        cell: cell.to_owned(),
        object: object.to_owned(),
        diagnostic: None,
        message: format!(
            "{file} names {object}, and there is nothing that Kbuild could make it of"
        ),
        file: file.to_owned(),
        line: 0,
        also: Vec::new(),
    }
}

/// `missing MODULE_LICENSE() in x.o`
fn is_of_modules(one: &Diagnostic) -> bool {
    one.tool == Tool::Modpost && one.text.starts_with("missing MODULE_")
}

/// Adds a diagnostic, or the cell to one that says the same.
fn found(one: &Diagnostic, cell: &str, object: &str, judged: &mut PatchReport) {
    let same = |finding: &&mut Finding| {
        let said = finding.diagnostic.as_ref();
        said.is_some_and(|said| said.identity() == one.identity() && said.line == one.line)
            && finding.object == object
    };
    if let Some(known) = judged.findings.iter_mut().find(same) {
        if known.cell != cell && !known.also.iter().any(|also| also == cell) {
            known.also.push(cell.to_owned());
        }
        return;
    }
    judged.findings.push(Finding {
        kind: match one.severity {
            Severity::Error => FindingKind::Error,
            Severity::Warning => FindingKind::Warning,
        },
        cell: cell.to_owned(),
        object: object.to_owned(),
        message: one.text.clone(),
        file: one.file.clone(),
        line: one.line,
        diagnostic: Some(one.clone()),
        also: Vec::new(),
    });
}

fn built(result: &ObjectResult, said: &[Diagnostic], same: bool) -> Option<Built> {
    let success = match result.outcome {
        Outcome::Built => true,
        Outcome::Refused => false,
        Outcome::Preprocessed | Outcome::NotMade(_) | Outcome::Died(_) => return None,
    };
    let lines = result.said.iter().flat_map(|(_, said)| said.lines());
    let counted = lines.filter(|line| line.contains("warning:") || line.contains("error:"));
    Some(Built {
        success,
        diagnostics: said.len(),
        warning_lines: counted.count(),
        text: result.size,
        gates: result.gates,
        same,
    })
}

/// Lines as ranges, both ends included.
fn ranges(lines: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => found.push((*line, *line)),
        }
    }
    found
}

fn changes(series: &Series, number: usize) -> Vec<tollgate_lab::job::FileChange> {
    series
        .states
        .get(number)
        .map_or_else(Vec::new, series::changes)
}
