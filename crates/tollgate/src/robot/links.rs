//! What objects give each other: exports that are gone and still used, and what a
//! module takes that nobody gives.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use tollgate_lab::job::{CellResult, ObjectResult, Outcome};
use tollgate_robot::{Finding, FindingKind, PatchReport};
use tollgate_source::{TokenKind, TreePath, Vocabulary, bodies, tokens};

use super::atlas::Atlas;
use super::build::Sides;
use super::context::Robot;
use super::objects::{belongs, object_of};
use super::plan::Plan;
use super::seat::Seat;
use super::series::Patch;

/// What gcc and clang call where the machine has no instruction for it (gccint,
/// "Routines for integer arithmetic"; the ABI of Arm's run-time library). The kernel is
/// not linked with their libraries.
const COMPILERS_OWN: [&str; 13] = [
    "__udivdi3",
    "__divdi3",
    "__umoddi3",
    "__moddi3",
    "__udivmoddi4",
    "__divmoddi4",
    "__aeabi_uldivmod",
    "__aeabi_ldivmod",
    "__udivti3",
    "__divti3",
    "__umodti3",
    "__modti3",
    "__multi3",
];

/// How a C file uses a word.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// It exports it.
    exports: bool,
    /// It has a function of that name.
    defines: bool,
}

/// By word, the files that have it in their code.
type Users = BTreeMap<String, Vec<(String, Use)>>;

/// A symbol that an object did not take before.
struct Import<'a> {
    seat: &'a Seat,
    object: &'a str,
    name: &'a str,
}

impl Robot<'_> {
    /// Exports that are gone and still used, and imports that nobody gives.
    pub(super) fn links(
        &self,
        sides: &[Sides],
        plan: &Plan,
        atlas: &Atlas,
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let lost = lost(sides, plan);
        let imports = imports(sides, plan, atlas);
        let mut words: BTreeSet<String> = lost.keys().cloned().collect();
        words.extend(imports.iter().map(|one| one.name.to_owned()));
        if words.is_empty() {
            return Ok(());
        }
        let users = self.users(&words, patch)?;
        for (name, (cell, object)) in &lost {
            let using = users.get(name).into_iter().flatten();
            let outside = using.filter(|(user, _)| is_outside(user, object, atlas));
            if let Some((user, _)) = outside.min_by_key(|(user, _)| user) {
                judged.findings.push(Finding {
                    kind: FindingKind::LostExport,
                    message: format!("{object} no longer exports {name}, which {user} uses: as a module that would not load"),
                    cell: cell.clone(),
                    object: object.clone(),
                    diagnostic: None,
                    file: source_of(object, patch, self),
                    line: 0,
                    also: Vec::new(),
                });
            }
        }
        for one in &imports {
            let using = users.get(one.name).map_or(&[][..], Vec::as_slice);
            if let Some(message) = unmet(one, using, atlas) {
                self.add_unmet(one, message, patch, judged);
            }
        }
        Ok(())
    }

    fn add_unmet(
        &self,
        one: &Import<'_>,
        message: String,
        patch: &Patch,
        judged: &mut PatchReport,
    ) {
        let cell = one.seat.cell.name.clone();
        let same = |known: &&mut Finding| {
            known.kind == FindingKind::UnmetImport && known.message == message
        };
        if let Some(known) = judged.findings.iter_mut().find(same) {
            known.also.push(cell);
            return;
        }
        judged.findings.push(Finding {
            kind: FindingKind::UnmetImport,
            cell,
            object: one.object.to_owned(),
            diagnostic: None,
            message,
            file: source_of(one.object, patch, self),
            line: 0,
            also: Vec::new(),
        });
    }

    /// The C and assembly files that have some words in their code, after the patch.
    fn users(&self, words: &BTreeSet<String>, patch: &Patch) -> anyhow::Result<Users> {
        let mut paths: BTreeSet<TreePath> = self.tree.sources().paths.into_iter().collect();
        paths.extend(patch.files.keys().filter(|path| path.is_c()).cloned());
        let code: Vec<&TreePath> = paths.iter().filter(|path| !path.is_header()).collect();
        let read = |path: &&TreePath| -> anyhow::Result<Vec<(String, Use)>> {
            self.runner.interrupt().check()?;
            let text = match patch.files.get(*path) {
                Some((_, after)) => after.clone().unwrap_or_else(Vec::new),
                None => self.tree.read(path)?,
            };
            Ok(used(&text, words))
        };
        let found: Vec<Vec<(String, Use)>> =
            code.par_iter().map(read).collect::<anyhow::Result<_>>()?;
        let mut users = Users::new();
        for (path, words) in code.iter().zip(found) {
            for (word, how) in words {
                users.entry(word).or_default().push((path.to_string(), how));
            }
        }
        Ok(users)
    }
}

/// What a text's code has of some words.
fn used(text: &[u8], words: &BTreeSet<String>) -> Vec<(String, Use)> {
    let is_word = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_');
    let maybe = text
        .split(is_word)
        .any(|word| !word.is_empty() && has(words, word));
    if !maybe {
        return Vec::new();
    }
    let all = tokens(text, 0);
    let mut found: BTreeMap<String, Use> = BTreeMap::new();
    let mut before: [&[u8]; 2] = [b"", b""];
    for token in all.iter().filter(|token| token.kind != TokenKind::Comment) {
        let word = text
            .get(token.span.start..token.span.end)
            .unwrap_or_default();
        if token.kind == TokenKind::Word && has(words, word) {
            let name = String::from_utf8_lossy(word).into_owned();
            let exports = before[1] == b"(" && before[0].starts_with(b"EXPORT_");
            found.entry(name).or_default().exports |= exports;
        }
        before = [before[1], word];
    }
    if let (false, Ok(vocabulary)) = (found.is_empty(), Vocabulary::shared()) {
        for body in bodies(text, &all, vocabulary) {
            if let Some(one) = found.get_mut(&body.name) {
                one.defines = true;
            }
        }
    }
    found.into_iter().collect()
}

fn has(words: &BTreeSet<String>, word: &[u8]) -> bool {
    tollgate_defect::answer::text(word).is_some_and(|word| words.contains(word))
}

/// Exports that are gone, with the cell and the object that had them.
fn lost(sides: &[Sides], plan: &Plan) -> BTreeMap<String, (String, String)> {
    let mut lost = BTreeMap::new();
    for one in sides {
        let Some(seat) = plan.seats.get(one.seat) else {
            continue;
        };
        let exports = |side: &CellResult| -> BTreeMap<String, String> {
            let each = side.objects.iter();
            let named = each.flat_map(|(object, one)| {
                one.exports
                    .iter()
                    .map(|name| (name.clone(), object.clone()))
            });
            named.collect()
        };
        let mut after = one.after.objects.values();
        if after.any(|one| one.outcome != Outcome::Built) {
            continue;
        }
        let kept = exports(&one.after);
        for (name, object) in exports(&one.before) {
            if !kept.contains_key(&name) {
                lost.entry(name).or_insert((seat.cell.name.clone(), object));
            }
        }
    }
    lost
}

/// What objects take that they did not take before.
fn imports<'a>(sides: &'a [Sides], plan: &'a Plan, atlas: &Atlas) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    for one in sides {
        let Some(seat) = plan.seats.get(one.seat) else {
            continue;
        };
        let built = |one: &&ObjectResult| one.outcome == Outcome::Built;
        for (object, new) in &one.after.objects {
            let old = one.before.objects.get(object).filter(built);
            if new.outcome != Outcome::Built {
                continue;
            }
            let module = is_module(object, seat, atlas);
            let fresh = new
                .imports
                .iter()
                .filter(|name| !old.is_some_and(|old| old.imports.contains(*name)))
                .filter(|name| module || COMPILERS_OWN.contains(&name.as_str()));
            found.extend(fresh.map(|name| Import { seat, object, name }));
        }
    }
    found
}

/// Whether an object is a part of a module.
pub(super) fn is_module(object: &str, seat: &Seat, atlas: &Atlas) -> bool {
    let condition = atlas.kbuild.condition(object);
    condition.is_some_and(|condition| {
        let mut options = condition.options().into_iter();
        options.any(|option| seat.config.value(option) == Some("m"))
    })
}

/// What is wrong with a symbol that an object takes; none where somebody gives it, or
/// nobody can tell: names that macros put together stand nowhere as they are.
fn unmet(one: &Import<'_>, users: &[(String, Use)], atlas: &Atlas) -> Option<String> {
    let Import { seat, object, name } = one;
    let here: Vec<&(String, Use)> = users
        .iter()
        .filter(|(path, _)| belongs(path, &seat.cell))
        .collect();
    if COMPILERS_OWN.contains(name) {
        let given = here.iter().any(|(_, how)| how.exports || how.defines);
        return (!given).then(|| {
            format!("{object} calls {name}, which the compiler's library has and the kernel has not: a division or product of more bits than the machine's words (see linux/math64.h)")
        });
    }
    let whole = atlas.kbuild.wholes(object);
    let elsewhere = |path: &str| is_elsewhere(path, object, &whole, atlas);
    let defined = here.iter().find(|(_, how)| how.defines)?;
    let given = here.iter().any(|(path, how)| {
        let module = || object_of(path).is_some_and(|own| is_module(&own, seat, atlas));
        how.exports
            || match elsewhere(path) {
                // Another module that uses it gets it from somewhere.
                true => !how.defines && module(),
                false => how.defines,
            }
    });
    (!given).then(|| {
        format!("{object} is part of a module and takes {name} from {}, which does not export it: modpost refuses the module", defined.0)
    })
}

/// Whether a file is compiled into something else than an object.
fn is_elsewhere(path: &str, object: &str, whole: &[String], atlas: &Atlas) -> bool {
    match object_of(path) {
        Some(own) if own == object => false,
        Some(own) => !atlas
            .kbuild
            .wholes(&own)
            .iter()
            .any(|one| whole.contains(one)),
        None => true,
    }
}

/// Whether a file that uses an export is of another module than the object that had it.
fn is_outside(user: &str, object: &str, atlas: &Atlas) -> bool {
    let built = object_of(user).is_some_and(|own| atlas.kbuild.condition(&own).is_some());
    built && is_elsewhere(user, object, &atlas.kbuild.wholes(object), atlas)
}

/// The file that Kbuild makes an object of; the object itself where it is generated.
fn source_of(object: &str, patch: &Patch, robot: &Robot<'_>) -> String {
    let stem = object.strip_suffix(".o").unwrap_or(object);
    let places = ["c", "S"].map(|ending| format!("{stem}.{ending}"));
    let there = |path: &&String| {
        let own = TreePath::new(path.as_bytes());
        own.is_some_and(|own| match patch.files.get(&own) {
            Some((_, after)) => after.is_some(),
            None => robot.tree.place(&own).is_file(),
        })
    };
    let source = places.iter().find(there);
    source.map_or_else(|| object.to_owned(), String::clone)
}
