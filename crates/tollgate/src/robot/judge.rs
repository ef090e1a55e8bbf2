//! What is new: the sides of a patch against each other.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::answer;
use tollgate_lab::job::{CellResult, ObjectResult, Outcome};
use tollgate_robot::{
    Built, CellReport, Condition, Diagnostic, Finding, FindingKind, Line, LineKind, LineState,
    Listing, ObjectReport, PatchReport, Report, Severity, Tool, Unbuilt, fresh, read,
};
use tollgate_source::{LineIndex, TokenKind, TreePath, Vocabulary, bodies, tokens};

use super::Robot;
use super::atlas::Atlas;
use super::build::{Sides, States};
use super::objects::{Edited, Reached};
use super::plan::{Plan, Seat, Spot, dead, needs};
use super::series::{self, Patch, Series};
use crate::progress::Steps;

/// Where a job's builds find the tree.
const ROOT: &str = "/tmp/linux";
/// Lines of a listing before and behind the wrong ones, where no function is known.
const AROUND: u32 = 8;
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
        let reached = Reached::of(patch, atlas);
        let mut judged = PatchReport {
            number: (patch.number, series.patches.len()),
            subject: patch.subject.clone(),
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
            before: changes(series, patch.number - 1),
            after: changes(series, patch.number),
        };
        let label = format!("patch {}/{}", patch.number, series.patches.len());
        let plan = steps.step(
            &format!("{label}: work out the cells"),
            || self.plan(&reached, atlas),
            |plan| format!("{} compile something of it", plan.seats.len()),
        )?;
        let mut work = Judged {
            reached,
            plan,
            taken: BTreeSet::new(),
            sides: Vec::new(),
            proven: BTreeMap::new(),
            atlas,
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
        let random = |seat: &Seat| seat.cell.base.seed.is_some();
        let mut next = Self::choose(&work.plan, &BTreeSet::new(), None);
        let drawn = work
            .plan
            .seats
            .iter()
            .enumerate()
            .filter(|(_, seat)| random(seat));
        next.extend(drawn.map(|(number, _)| number));
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
            self.cell(seat, one, work, report);
            self.objects(seat, one, patch, judged)?;
            self.outside(seat, one, judged);
        }
        self.lost_exports(work, patch, judged)?;
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
                if let Outcome::Died(why) | Outcome::NotMade(why) = &new.outcome {
                    judged.unbuilt.push(unbuilt(cell, object, why));
                }
                let fresh = fresh(&old_said, &new_said);
                let refused = new.outcome == Outcome::Refused;
                if refused && fresh.is_empty() {
                    judged.unbuilt.push(unbuilt(
                        cell,
                        object,
                        "it does not compile without the patch either",
                    ));
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

    fn text_of(&self, path: &str, patch: &Patch, after: bool) -> Option<Vec<u8>> {
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
            None => answer::there(self.tree.read(&path).map_err(drop)),
        }
    }

    fn listing(
        &self,
        cell: &str,
        result: &ObjectResult,
        fresh: &[&Diagnostic],
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let Some(first) = fresh
            .iter()
            .find(|one| one.line > 0 && !one.file.is_empty())
        else {
            return Ok(());
        };
        let known = |listing: &Listing| listing.file == first.file && listing.line == first.line;
        if judged.listings.iter().any(known) {
            return Ok(());
        }
        let Some(text) = self.text_of(&first.file, patch, true) else {
            return Ok(());
        };
        let wrong: BTreeSet<u32> = fresh
            .iter()
            .filter(|one| one.file == first.file)
            .map(|one| one.line)
            .collect();
        let around = (first.line.saturating_sub(AROUND), first.line + AROUND);
        let (from, to) = function_at(&text, first.line)
            .map_or(around, |(_, from, to)| (from.saturating_sub(1), to + 2));
        let text = String::from_utf8_lossy(&text).into_owned();
        let numbered = (1_u32..).zip(text.lines());
        let lines = numbered.filter(|(number, _)| (from..=to).contains(number));
        let lines: Vec<_> = lines
            .map(|(number, line)| (number, wrong.contains(&number), line.to_owned()))
            .collect();
        let said = result.said.iter().flat_map(|(tool, said)| {
            let own: BTreeSet<usize> = fresh
                .iter()
                .filter(|one| one.tool == *tool)
                .map(|one| one.at)
                .collect();
            let marked = said
                .lines()
                .enumerate()
                .map(move |(at, line)| (own.contains(&at), line.replace(&format!("{ROOT}/"), "")));
            marked.collect::<Vec<_>>()
        });
        judged.listings.push(Listing {
            file: first.file.clone(),
            name: subject_of(first),
            line: first.line,
            lines,
            said: said.collect(),
            cell: cell.to_owned(),
        });
        Ok(())
    }

    /// Options that edited lines name and no Kconfig file defines.
    fn dead_options(&self, patch: &Patch, atlas: &Atlas, judged: &mut PatchReport) {
        if atlas.kconfig.is_empty() {
            return;
        }
        for (path, (before, after)) in &patch.files {
            let (Some(name), Some(after)) = (path.as_text(), after) else {
                continue;
            };
            let old = before.clone().unwrap_or_else(Vec::new);
            let edits = tollgate_robot::edits(&old, after);
            let known: BTreeSet<String> = options_in(name, &old)
                .into_iter()
                .map(|(_, option)| option)
                .collect();
            for (line, option) in options_in(name, after) {
                let own = edits.new.contains(&line) && !known.contains(&option);
                if own && !atlas.kconfig.has(&option) && !defines(after, &option) {
                    let message = format!(
                        "CONFIG_{option} is an option that no Kconfig file defines: what asks for it can never be"
                    );
                    judged.findings.push(Finding {
                        kind: FindingKind::DeadOption,
                        cell: String::new(),
                        object: String::new(),
                        diagnostic: None,
                        message,
                        file: name.to_owned(),
                        line,
                        also: Vec::new(),
                    });
                }
            }
        }
    }

    /// Exports that are gone and that something still uses.
    fn lost_exports(
        &self,
        work: &Judged<'_>,
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let mut lost: BTreeMap<String, (String, String)> = BTreeMap::new();
        for one in &work.sides {
            let Some(seat) = work.plan.seats.get(one.seat) else {
                continue;
            };
            let exports = |side: &CellResult| -> BTreeSet<String> {
                side.objects
                    .values()
                    .flat_map(|one| one.exports.clone())
                    .collect()
            };
            let broken = one
                .after
                .objects
                .values()
                .any(|one| one.outcome != Outcome::Built);
            if broken {
                continue;
            }
            for name in exports(&one.before).difference(&exports(&one.after)) {
                let of = one
                    .before
                    .objects
                    .iter()
                    .find(|(_, built)| built.exports.contains(name));
                let object = of.map_or(String::new(), |(object, _)| object.clone());
                lost.entry(name.clone())
                    .or_insert((seat.cell.name.clone(), object));
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        let users = self.users(&lost.keys().cloned().collect(), patch)?;
        for (name, (cell, object)) in lost {
            let whole = work.atlas.kbuild.wholes(&object);
            let outside = users.get(&name).into_iter().flatten().find(|user| {
                let own = super::objects::object_of(user);
                own.is_some_and(|own| {
                    own != object
                        && work.atlas.kbuild.condition(&own).is_some()
                        && !work
                            .atlas
                            .kbuild
                            .wholes(&own)
                            .iter()
                            .any(|one| whole.contains(one))
                })
            });
            if let Some(user) = outside {
                judged.findings.push(Finding {
                    kind: FindingKind::LostExport,
                    message: format!("{object} no longer exports {name}, which {user} uses: as a module that would not load"),
                    cell,
                    object: object.clone(),
                    diagnostic: None,
                    file: object.replace(".o", ".c"),
                    line: 0,
                    also: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// The C files that have some words in their code, after the patch.
    fn users(
        &self,
        words: &BTreeSet<String>,
        patch: &Patch,
    ) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        use rayon::prelude::*;
        let sources = self.tree.sources().paths;
        let code: Vec<&TreePath> = sources.iter().filter(|path| !path.is_header()).collect();
        let read = |path: &&TreePath| -> anyhow::Result<Vec<(String, String)>> {
            self.runner.interrupt().check()?;
            let text = match patch.files.get(*path) {
                Some((_, after)) => after.clone().unwrap_or_else(Vec::new),
                None => self.tree.read(path)?,
            };
            let there = |word: &&String| memchr::memmem::find(&text, word.as_bytes()).is_some();
            let maybe: Vec<&String> = words.iter().filter(there).collect();
            if maybe.is_empty() {
                return Ok(Vec::new());
            }
            let used: BTreeSet<&[u8]> = tokens(&text, 0)
                .iter()
                .filter(|token| token.kind == TokenKind::Word)
                .filter_map(|token| text.get(token.span.start..token.span.end))
                .collect();
            let own = maybe
                .into_iter()
                .filter(|word| used.contains(word.as_bytes()));
            Ok(own.map(|word| (word.clone(), path.to_string())).collect())
        };
        let found: Vec<Vec<(String, String)>> =
            code.par_iter().map(read).collect::<anyhow::Result<_>>()?;
        let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (word, path) in found.into_iter().flatten() {
            users.entry(word).or_default().push(path);
        }
        Ok(users)
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
            return LineState::Unreached {
                needs: self.unreached(&condition, file),
            };
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
    match within.as_slice() {
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

/// The function around a line, with its first and its last line.
fn function_at(text: &[u8], line: u32) -> Option<(String, u32, u32)> {
    let Ok(vocabulary) = Vocabulary::shared() else {
        return None;
    };
    let index = LineIndex::new(text);
    let all = bodies(text, &tokens(text, 0), vocabulary);
    let lined = all.into_iter().map(|body| {
        let from = index.position(body.header.start).line;
        (
            body.name,
            from,
            index.position(body.span.end.saturating_sub(1)).line,
        )
    });
    lined
        .into_iter()
        .find(|(_, from, to)| (*from..=*to).contains(&line))
}

/// What an editor looks for: the name in quotes of a message, else its function.
fn subject_of(one: &Diagnostic) -> String {
    let quote = |c: char| matches!(c, '\'' | '"');
    let mut parts = one.text.split(quote);
    match parts.nth(1).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => one.function.clone(),
    }
}

/// The options that a file names, with their lines, without `CONFIG_`.
fn options_in(path: &str, text: &[u8]) -> Vec<(u32, String)> {
    use super::atlas::{Sort, sort};
    let mut found = Vec::new();
    let mut take = |line: u32, words: &str| {
        for part in words.split("CONFIG_").skip(1) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            if !name.is_empty()
                && !part
                    .get(name.len()..)
                    .is_some_and(|rest| rest.starts_with("##"))
            {
                found.push((
                    line,
                    name.strip_suffix("_MODULE").unwrap_or(name).to_owned(),
                ));
            }
        }
    };
    match sort(path) {
        Sort::Code => {
            let index = LineIndex::new(text);
            for token in tokens(text, 0) {
                if matches!(token.kind, TokenKind::Word | TokenKind::Directive) {
                    let words = text
                        .get(token.span.start..token.span.end)
                        .unwrap_or_default();
                    let words = String::from_utf8_lossy(words).into_owned();
                    if token.kind == TokenKind::Directive || words.starts_with("CONFIG_") {
                        take(index.position(token.span.start).line, &words);
                    }
                }
            }
        }
        Sort::Kbuild => {
            let text = String::from_utf8_lossy(text).into_owned();
            for (number, line) in (1_u32..).zip(text.lines()) {
                take(number, line.split('#').next().unwrap_or(line));
            }
        }
        Sort::Kconfig => {
            let mut own = tollgate_robot::Kconfig::default();
            own.add(path, &String::from_utf8_lossy(text));
            for entry in own.in_file(path) {
                for option in entry.depends.options() {
                    found.push((entry.lines.0, option.to_owned()));
                }
            }
        }
        _ => {}
    }
    found
}

/// Whether a file defines the name of an option itself.
fn defines(text: &[u8], option: &str) -> bool {
    let all = tokens(text, 0);
    let mut directives = all
        .iter()
        .filter(|token| token.kind == TokenKind::Directive);
    directives.any(|token| {
        let words = text
            .get(token.span.start..token.span.end)
            .unwrap_or_default();
        let words = String::from_utf8_lossy(words).into_owned();
        let mut words = words.trim_start_matches('#').split_whitespace();
        words.next() == Some("define")
            && words
                .next()
                .is_some_and(|name| name.split('(').next() == Some(&format!("CONFIG_{option}")))
    })
}

fn changes(series: &Series, number: usize) -> Vec<tollgate_lab::job::FileChange> {
    series
        .states
        .get(number)
        .map_or_else(Vec::new, series::changes)
}
