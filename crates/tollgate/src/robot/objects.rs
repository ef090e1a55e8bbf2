//! Which objects a patch reaches, and which lines of it have to be compiled.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_lab::job::is_plain;
use tollgate_robot::{
    Cell, Condition, Config, Edits, Flags, Groups, LineKind, Makefile, Truth, edits,
};

use tollgate_source::{LineIndex, TokenKind, tokens};

use super::atlas::{Atlas, Sort, sort};
use super::series::Patch;

/// One edited file of C or assembly.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) path: String,
    pub(crate) groups: Groups,
    pub(crate) edits: Edits,
    /// The numbers of the groups that edited lines are in, with these lines.
    pub(crate) touched: BTreeMap<usize, BTreeSet<u32>>,
}

impl Edited {
    fn of(path: &str, before: &[u8], after: &[u8]) -> Self {
        let groups = Groups::of(after);
        let edits = edits(before, after);
        let mut touched: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        let last = after.iter().filter(|byte| **byte == b'\n').count() as u32;
        for line in &edits.new {
            if groups.kind(*line) != LineKind::Blank {
                touched
                    .entry(groups.number(*line))
                    .or_default()
                    .insert(*line);
            }
        }
        let old = Groups::of(before);
        let matters = edits
            .old
            .iter()
            .any(|line| old.kind(*line) != LineKind::Blank);
        // What is gone is missed where it stood.
        for line in edits.gone.iter().filter(|_| matters) {
            let line = (*line).clamp(1, last.max(1));
            touched.entry(groups.number(line)).or_default().insert(line);
        }
        Self {
            path: path.to_owned(),
            groups,
            edits,
            touched,
        }
    }

    pub(crate) fn condition(&self, group: usize) -> Condition {
        self.groups
            .group(group)
            .map_or(Condition::Yes, |group| group.condition.clone())
    }
}

/// What a patch reaches.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// Files of C and assembly that are there after it.
    pub(crate) edited: Vec<Edited>,
    /// Objects to build besides those of edited files, with why: a rule of Kbuild or an
    /// option that is edited.
    pub(crate) named: BTreeMap<String, String>,
    /// Objects of C files whose kernel-doc is edited, which W=1 has read again.
    pub(crate) documented: BTreeSet<String>,
    /// Files that a build runs.
    pub(crate) build_files: Vec<String>,
    /// Files that no cell compiles.
    pub(crate) foreign: Vec<String>,
    /// Kconfig files: where there are any the configuration is made anew.
    pub(crate) kconfig: Vec<String>,
    /// Objects that only a rule that is gone names.
    pub(crate) unnamed: BTreeSet<String>,
    /// Objects that only a rule that is new names, with its file.
    pub(crate) added: BTreeMap<String, String>,
}

impl Reached {
    pub(crate) fn of(patch: &Patch, atlas: &Atlas) -> Self {
        let mut reached = Self::default();
        for (path, (before, after)) in &patch.files {
            let name = path.as_path().to_string_lossy().into_owned();
            let text = |side: &Option<Vec<u8>>| side.as_deref().map_or(Vec::new(), <[u8]>::to_vec);
            let (old, new) = (text(before), text(after));
            match sort(&name) {
                Sort::Words => {}
                Sort::Other => reached.foreign.push(name),
                Sort::Script => reached.build_files.push(name),
                Sort::Code if !is_plain(&name) => reached.foreign.push(name),
                Sort::Code => {
                    if after.is_some() {
                        let edited = Edited::of(&name, &old, &new);
                        if edits_kernel_doc(&edited.edits, &old, &new) {
                            reached.documented.extend(documented_by(&name));
                        }
                        reached.edited.push(edited);
                    } else {
                        reached.gone(&name, atlas);
                    }
                }
                Sort::Kbuild => {
                    reached.rules(&name, &old, &new);
                    reached.build_files.push(name);
                }
                Sort::Kconfig => {
                    reached.build_files.push(name.clone());
                    reached.kconfig.push(name);
                }
            }
        }
        reached
    }

    /// What included a file that is gone.
    fn gone(&mut self, name: &str, atlas: &Atlas) {
        for (_, user) in atlas.includes.users(name, "") {
            if let Some(object) = object_of(&user) {
                self.named
                    .insert(object, format!("it included {name}, which is gone"));
            }
        }
    }

    /// The objects of the rules that were edited.
    fn rules(&mut self, name: &str, old: &[u8], new: &[u8]) {
        let folder = name
            .rsplit_once('/')
            .map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let edits = edits(old, new);
        let sides = [(old, &edits.old), (new, &edits.new)];
        let [before, after] = sides.map(|(text, lines)| named(text, lines, &folder));
        for object in before.edited.iter().chain(&after.edited) {
            let why = format!("its rule in {name} is edited");
            self.named.insert(object.clone(), why);
        }
        self.unnamed
            .extend(before.all.difference(&after.all).cloned());
        let added = after.all.difference(&before.all);
        self.added
            .extend(added.map(|object| (object.clone(), name.to_owned())));
    }
}

/// The objects of a Kbuild file.
struct Named {
    all: BTreeSet<String>,
    /// Those whose rules, or the flags of all of them, stand in some lines.
    edited: BTreeSet<String>,
}

fn named(text: &[u8], lines: &BTreeSet<u32>, folder: &str) -> Named {
    let made = Makefile::parse(&String::from_utf8_lossy(text));
    let edited = made.flags.iter().filter(|flags| flags.stand_in(lines));
    let flags: Vec<&Flags> = edited.collect();
    let is_edited = |(first, last): (u32, u32)| lines.range(first..=last).next().is_some();
    let mut named = Named {
        all: BTreeSet::new(),
        edited: BTreeSet::new(),
    };
    for (object, rule) in made.objects() {
        for part in made.parts_or_itself(object) {
            let path = format!("{folder}{part}");
            if is_edited(rule.lines) || flags.iter().any(|flags| flags.reach(part)) {
                named.edited.insert(path.clone());
            }
            named.all.insert(path);
        }
    }
    named
}

/// The object with whose making Kbuild reads a file's kernel-doc: it does of C.
fn documented_by(path: &str) -> Option<String> {
    object_of(path).filter(|_| path.ends_with(".c"))
}

/// Whether lines of a kernel-doc comment are edited on either side.
fn edits_kernel_doc(edits: &Edits, old: &[u8], new: &[u8]) -> bool {
    let within = |text: &[u8], lines: &BTreeSet<u32>| {
        let index = LineIndex::new(text);
        let all = tokens(text, 0);
        let mut comments = all.iter().filter(|token| token.kind == TokenKind::Comment);
        comments.any(|token| {
            let words = text.get(token.span.start..token.span.end);
            let is_doc = words.is_some_and(|words| {
                words.starts_with(b"/**") && words.get(3).is_some_and(u8::is_ascii_whitespace)
            });
            let first = index.position(token.span.start).line;
            let last = index.position(token.span.end.saturating_sub(1)).line;
            is_doc && lines.range(first..=last).next().is_some()
        })
    };
    within(old, &edits.old) || within(new, &edits.new)
}

/// `fs/x.c` → `fs/x.o`; none of a header.
pub(crate) fn object_of(path: &str) -> Option<String> {
    let stem = path
        .strip_suffix(".c")
        .or_else(|| path.strip_suffix(".S"))?;
    Some(format!("{stem}.o"))
}

/// Whether a kernel of that cell has the file.
pub(crate) fn belongs(path: &str, cell: &Cell) -> bool {
    match path.strip_prefix("arch/") {
        None => true,
        Some(rest) => rest.split('/').next() == Some(&cell.folder),
    }
}

/// Objects of a cell that read a file, nearest first; each with how many includes lie
/// between.
pub(crate) fn readers(
    path: &str,
    cell: &Cell,
    config: &Config,
    atlas: &Atlas,
    foreign: &[String],
) -> Vec<(usize, String)> {
    let own = object_of(path).map(|object| (0, object));
    let users = atlas.includes.users(path, &cell.folder).into_iter();
    let users = users.filter_map(|(depth, user)| Some((depth, object_of(&user)?)));
    let mut all: Vec<(usize, String)> = own
        .into_iter()
        .chain(users)
        .filter(|(_, object)| belongs(object, cell) && is_plain(object))
        .filter(|(_, object)| !foreign.iter().any(|folder| object.starts_with(folder)))
        .filter(|(_, object)| builds(object, config, atlas) != Truth::No)
        .collect();
    let shared = |object: &str| {
        let both = object.split('/').zip(path.split('/'));
        both.take_while(|(a, b)| a == b).count()
    };
    all.sort_by_cached_key(|(depth, object)| {
        (*depth, std::cmp::Reverse(shared(object)), object.clone())
    });
    all
}

/// Whether Kbuild makes an object in a configuration. One that no Kbuild file names is
/// none, and neither is one whose condition cannot be read.
pub(crate) fn builds(object: &str, config: &Config, atlas: &Atlas) -> Truth {
    let condition = atlas.kbuild.condition(object);
    condition.map_or(Truth::No, |condition| condition.truth(config))
}
