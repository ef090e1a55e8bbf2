//! Kbuild files: which objects there are, and under which conditions. Read as
//! text; Kbuild itself has the last word, since it compiles.

use std::collections::{BTreeMap, BTreeSet};

use crate::condition::{Condition, option_of_word};

/// How many Kbuild files a condition is followed through.
const DEEPEST: usize = 24;

/// How many objects are looked at for one condition: lists that name each other would
/// take as many as there are ways among them.
const MOST_STEPS: usize = 4096;

/// What is said of an object that is part of too many others.
const TOO_MANY: &str = "more composite objects than are followed";

/// Where a condition is being followed.
struct Way {
    /// The objects that it leads through.
    within: Vec<String>,
    /// How many more may be looked at.
    steps: usize,
}

/// One assignment that names objects or folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What stands before the dash: `obj`, `lib`, or the name of a composite object.
    pub list: String,
    /// What is named: `pcm.o`, `oss/`, as it stands there.
    pub names: Vec<String>,
    /// When the assignment counts.
    pub condition: Condition,
    /// Its first and last line, from 1.
    pub lines: (u32, u32),
}

/// One assignment that changes how objects are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// The object that it names, `glob.o` of `CFLAGS_glob.o`; none where it is of all that
    /// the file makes (`ccflags-y`).
    pub object: Option<String>,
    /// Its first and last line, from 1.
    pub lines: (u32, u32),
}

impl Flags {
    /// Whether they are of an object of their folder.
    #[must_use]
    pub fn reach(&self, object: &str) -> bool {
        self.object.as_deref().is_none_or(|own| own == object)
    }

    /// Whether one of some lines is theirs.
    #[must_use]
    pub fn stand_in(&self, lines: &BTreeSet<u32>) -> bool {
        lines.range(self.lines.0..=self.lines.1).next().is_some()
    }
}

/// One Kbuild file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Makefile {
    /// What names objects.
    pub rules: Vec<Rule>,
    /// What changes how objects are compiled.
    pub flags: Vec<Flags>,
    /// The options that it names, without `CONFIG_`, with their lines.
    pub options: Vec<(u32, String)>,
}

impl Makefile {
    /// Reads a Kbuild file.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut made = Self {
            options: named(text),
            ..Self::default()
        };
        let mut branches: Vec<Branch> = Vec::new();
        for (first, last, line) in logical(text) {
            // A recipe's line, or a comment.
            if line.starts_with('\t') && !line.contains("+=") && !line.contains(":=") {
                continue;
            }
            let words = line.trim();
            if !directive(words, &mut branches) {
                let around = branches.iter().map(Branch::condition);
                let around = around.fold(Condition::Yes, Condition::and);
                made.assignment(words, &around, (first, last));
            }
        }
        made
    }

    fn assignment(&mut self, line: &str, around: &Condition, lines: (u32, u32)) {
        let Some((left, right)) = assigned(line) else {
            return;
        };
        if let Some(object) = flags(left) {
            self.flags.push(Flags { object, lines });
            return;
        }
        let Some((list, condition)) = listed(left) else {
            return;
        };
        let names: Vec<String> = right
            .split_whitespace()
            .filter(|name| name.ends_with(".o") || name.ends_with('/'))
            .map(str::to_owned)
            .collect();
        if !names.is_empty() {
            self.rules.push(Rule {
                list: list.to_owned(),
                names,
                condition: around.clone().and(condition),
                lines,
            });
        }
    }

    /// When an object of the folder, or a folder below it with a slash at its end, is
    /// part of the kernel or of a module; none where no rule names it.
    #[must_use]
    pub fn condition(&self, name: &str) -> Option<Condition> {
        let mut way = Way {
            within: Vec::new(),
            steps: MOST_STEPS,
        };
        self.condition_within(name, &mut way)
    }

    /// The same behind the objects of a way: what is part of itself is so by no rule more
    /// than those that name it elsewhere.
    fn condition_within(&self, name: &str, way: &mut Way) -> Option<Condition> {
        if way.within.len() == DEEPEST || way.within.iter().any(|one| one == name) {
            return None;
        }
        let Some(left) = way.steps.checked_sub(1) else {
            return Some(Condition::Unknown(TOO_MANY.to_owned()));
        };
        way.steps = left;
        way.within.push(name.to_owned());
        let found = self.condition_of_rules(name, way);
        way.within.pop();
        found
    }

    fn condition_of_rules(&self, name: &str, way: &mut Way) -> Option<Condition> {
        let named = self
            .rules
            .iter()
            .filter(|rule| rule.names.iter().any(|one| one == name));
        let each = named.filter_map(|rule| match is_list(&rule.list) {
            true => Some(rule.condition.clone()),
            false => {
                let whole = self.condition_within(&format!("{}.o", rule.list), way)?;
                Some(rule.condition.clone().and(whole))
            }
        });
        each.reduce(Condition::or)
    }

    /// What an object is part of: the composite objects that name it, with itself.
    #[must_use]
    pub fn wholes(&self, name: &str) -> Vec<String> {
        let named = self
            .rules
            .iter()
            .filter(|rule| rule.names.iter().any(|one| one == name));
        let composite = named.filter(|rule| !is_list(&rule.list));
        let mut all: Vec<String> = composite.map(|rule| format!("{}.o", rule.list)).collect();
        if all.is_empty() {
            all.push(name.to_owned());
        }
        all.dedup();
        all
    }

    /// Every object that it names.
    pub fn objects(&self) -> impl Iterator<Item = (&str, &Rule)> {
        self.rules.iter().flat_map(|rule| {
            let objects = rule.names.iter().filter(|name| name.ends_with(".o"));
            objects.map(move |name| (name.as_str(), rule))
        })
    }

    /// The flags in whose lines one of some options is named.
    fn flagged(&self, options: &BTreeSet<String>) -> Vec<&Flags> {
        let named = self
            .options
            .iter()
            .filter(|(_, name)| options.contains(name));
        let lines: BTreeSet<u32> = named.map(|(line, _)| *line).collect();
        let own = self.flags.iter();
        own.filter(|flags| flags.stand_in(&lines)).collect()
    }

    /// The objects that a compiler makes for an object: its parts, or itself.
    #[must_use]
    pub fn parts_or_itself<'a>(&'a self, object: &'a str) -> Vec<&'a str> {
        let parts = self.parts(object);
        match parts.is_empty() {
            true => vec![object],
            false => parts
                .into_iter()
                .filter(|part| part.ends_with(".o"))
                .collect(),
        }
    }

    /// The parts of a composite object, with when each is one.
    #[must_use]
    pub fn parts(&self, composite: &str) -> Vec<&str> {
        let stem = composite.strip_suffix(".o").unwrap_or(composite);
        let own = self.rules.iter().filter(|rule| rule.list == stem);
        own.flat_map(|rule| rule.names.iter().map(String::as_str))
            .collect()
    }
}

/// The Kbuild files of a tree, by folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kbuild {
    files: BTreeMap<String, Makefile>,
}

impl Kbuild {
    /// Takes in the Kbuild file of a folder, `sound/core`, or of the top, ``.
    pub fn add(&mut self, folder: &str, makefile: Makefile) {
        let known = self.files.entry(folder.to_owned()).or_default();
        known.rules.extend(makefile.rules);
        known.flags.extend(makefile.flags);
        known.options.extend(makefile.options);
    }

    /// The file of a folder.
    #[must_use]
    pub fn file(&self, folder: &str) -> Option<&Makefile> {
        self.files.get(folder)
    }

    /// When Kbuild makes an object, `sound/core/pcm_native.o`. None where the Kbuild
    /// file of its folder and those above name it nowhere. What leads to the folder
    /// and is not found is taken to.
    #[must_use]
    pub fn condition(&self, object: &str) -> Option<Condition> {
        let (folder, own) = self.named(object)?;
        Some(self.leads_to(&folder, DEEPEST).and(own))
    }

    /// The nearest folder whose file names something, and when.
    fn named(&self, path: &str) -> Option<(String, Condition)> {
        let mut folder = parent(path);
        loop {
            let name = match folder.is_empty() {
                true => path,
                false => path.get(folder.len() + 1..)?,
            };
            let file = self.files.get(folder);
            if let Some(condition) = file.and_then(|file| file.condition(name)) {
                return Some((folder.to_owned(), condition));
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }

    fn leads_to(&self, folder: &str, depth: usize) -> Condition {
        let Some(deeper) = depth.checked_sub(1).filter(|_| !folder.is_empty()) else {
            return Condition::Yes;
        };
        match self.named(&format!("{folder}/")) {
            Some((above, own)) => self.leads_to(&above, deeper).and(own),
            None => Condition::Yes,
        }
    }

    /// The objects whose rules name one of some options, by whatever folder leads to
    /// them from that rule.
    #[must_use]
    pub fn depending(&self, options: &BTreeSet<String>) -> Vec<String> {
        let names = |condition: &Condition| {
            condition
                .options()
                .iter()
                .any(|option| options.contains(*option))
        };
        let mut found = Vec::new();
        for (folder, file) in &self.files {
            let flagged = file.flagged(options);
            let below = names(&self.leads_to(folder, DEEPEST));
            for (object, rule) in file.objects() {
                let own = file.condition(object).unwrap_or(Condition::No);
                let all = below || names(&own) || names(&rule.condition);
                let parts = file.parts_or_itself(object);
                let reached = parts
                    .into_iter()
                    .filter(|part| all || flagged.iter().any(|flags| flags.reach(part)));
                found.extend(reached.map(|part| match folder.is_empty() {
                    true => part.to_owned(),
                    false => format!("{folder}/{part}"),
                }));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// What an object ends in: `sound/core/snd-pcm.o` for `sound/core/pcm_native.o`.
    #[must_use]
    pub fn wholes(&self, object: &str) -> Vec<String> {
        let folder = parent(object);
        let name = object.rsplit('/').next().unwrap_or(object);
        let joined = |name: String| match folder.is_empty() {
            true => name,
            false => format!("{folder}/{name}"),
        };
        let file = self.files.get(folder);
        let wholes = file.map_or_else(|| vec![name.to_owned()], |file| file.wholes(name));
        wholes.into_iter().map(joined).collect()
    }
}

fn parent(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder)
}

/// A conditional of make that is open.
struct Branch {
    /// The sides before, none of which holds here.
    before: Vec<Condition>,
    now: Condition,
}

impl Branch {
    fn condition(&self) -> Condition {
        let before = self.before.iter().cloned().map(Condition::negated);
        before
            .fold(Condition::Yes, Condition::and)
            .and(self.now.clone())
    }
}

/// Takes a conditional of make; whether the line was one.
fn directive(line: &str, branches: &mut Vec<Branch>) -> bool {
    let (word, rest) = line.split_once([' ', '\t', '(']).unwrap_or((line, ""));
    let rest = match line.as_bytes().get(word.len()) {
        Some(b'(') => line.get(word.len()..).unwrap_or(rest),
        _ => rest,
    };
    match word {
        "ifeq" | "ifneq" | "ifdef" | "ifndef" => branches.push(Branch {
            before: Vec::new(),
            now: tested(word, rest.trim()),
        }),
        "else" => {
            if let Some(branch) = branches.last_mut() {
                let rest = rest.trim();
                let (word, tested_words) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
                let next = match word {
                    "" => Condition::Yes,
                    word => tested(word, tested_words.trim()),
                };
                let old = std::mem::replace(&mut branch.now, next);
                branch.before.push(old);
            }
        }
        "endif" => drop(branches.pop()),
        _ => return false,
    }
    true
}

fn tested(word: &str, rest: &str) -> Condition {
    let unknown = || Condition::Unknown(format!("{word} {rest}"));
    match word {
        "ifdef" | "ifndef" => {
            let Some(option) = rest.strip_prefix("CONFIG_") else {
                return unknown();
            };
            let holds = Condition::option(option.trim());
            if word == "ifdef" {
                holds
            } else {
                holds.negated()
            }
        }
        "ifeq" | "ifneq" => {
            let inner = rest
                .strip_prefix('(')
                .and_then(|rest| rest.trim_end().strip_suffix(')'));
            let sides = inner.and_then(|inner| inner.rsplit_once(','));
            let Some((left, right)) = sides else {
                return unknown();
            };
            let (left, right) = (left.trim(), right.trim());
            let (side, value) = if right.contains("$(") {
                (right, left)
            } else {
                (left, right)
            };
            let holds = match (option_of(side), value) {
                (Some(option), "y" | "m") => option,
                (Some(option), "" | "n") => option.negated(),
                _ => return unknown(),
            };
            if word == "ifeq" {
                holds
            } else {
                holds.negated()
            }
        }
        _ => unknown(),
    }
}

/// The options of `$(CONFIG_A)`, `$(subst m,y,$(CONFIG_A))`, `$(CONFIG_A)$(CONFIG_B)`,
/// where anything follows from them being on.
fn option_of(words: &str) -> Option<Condition> {
    let mut found = Condition::No;
    for part in words.split("$(CONFIG_").skip(1) {
        let name = part.split(')').next()?;
        let own = Condition::option(name);
        found = match words.contains("$(if ") || words.contains("$(and ") {
            true if found != Condition::No => found.and(own),
            _ => found.or(own),
        };
    }
    (found != Condition::No).then_some(found)
}

fn assigned(line: &str) -> Option<(&str, &str)> {
    let at = line.find('=')?;
    let (left, right) = line.split_at(at);
    let left = left.trim_end_matches(['+', ':', '?']).trim();
    let is_one = !left.is_empty() && !left.contains(char::is_whitespace) || left.contains("$(");
    is_one.then_some((left, right.get(1..)?.trim()))
}

/// Variables that say how all objects of a folder are compiled, by how they begin
/// (scripts/Makefile.lib and scripts/Makefile.build).
const OF_FOLDERS: [&str; 14] = [
    "ccflags",
    "asflags",
    "subdir-ccflags",
    "subdir-asflags",
    "KBUILD_CFLAGS",
    "KBUILD_AFLAGS",
    "KBUILD_CPPFLAGS",
    "NOSTDINC_FLAGS",
    "LINUXINCLUDE",
    "EXTRA_CFLAGS",
    "ldflags",
    "CFLAGS_",
    "AFLAGS_",
    "KBUILD_LDFLAGS",
];

/// Variables whose name goes on with that of an object, or, without the last `_`, are of
/// all objects of a folder; a beginning of another after it (scripts/Makefile.lib).
const OF_OBJECTS: [&str; 14] = [
    "CFLAGS_REMOVE_",
    "CFLAGS_",
    "AFLAGS_REMOVE_",
    "AFLAGS_",
    "GCOV_PROFILE_",
    "KASAN_SANITIZE_",
    "KCOV_INSTRUMENT_",
    "KCSAN_INSTRUMENT_BARRIERS_",
    "KCSAN_SANITIZE_",
    "KMSAN_ENABLE_CHECKS_",
    "KMSAN_SANITIZE_",
    "OBJECT_FILES_NON_STANDARD_",
    "UBSAN_SIGNED_WRAP_",
    "UBSAN_SANITIZE_",
];

/// The object whose flags a variable has, `Some(None)` for those of a whole folder; none
/// where it has no flags. A name that make puts together may be any object's.
fn flags(left: &str) -> Option<Option<String>> {
    let object = |begin: &&str| {
        left.strip_prefix(*begin)
            .filter(|rest| rest.ends_with(".o"))
    };
    let named = OF_OBJECTS.iter().find_map(object);
    let of_folder = OF_FOLDERS.iter().any(|begin| left.starts_with(begin));
    let of_all = || {
        OF_OBJECTS
            .iter()
            .any(|begin| begin.strip_suffix('_') == Some(left))
    };
    match named {
        Some(name) if name.contains("$(") => Some(None),
        Some(name) => Some(Some(name.to_owned())),
        None => (of_folder || of_all()).then_some(None),
    }
}

/// `obj-$(CONFIG_X)` → the list and when it counts.
fn listed(left: &str) -> Option<(&str, Condition)> {
    let at = left.find("-$(").or_else(|| left.rfind('-'))?;
    let (list, when) = (left.get(..at)?, left.get(at + 1..)?);
    let condition = match when {
        "y" | "m" | "objs" => Condition::Yes,
        "n" | "" => return None,
        when if when.contains("$(CONFIG_") => option_of(when)?,
        when if when.starts_with("$(") => Condition::Unknown(when.to_owned()),
        _ => return None,
    };
    Some((list, condition))
}

/// Lists that Kbuild makes by themselves; any other names a composite object.
fn is_list(list: &str) -> bool {
    matches!(
        list,
        "obj"
            | "lib"
            | "extra"
            | "always"
            | "core"
            | "libs"
            | "drivers"
            | "init"
            | "net"
            | "subdir"
            | "virt"
            | "head"
            | "pi-obj"
            | "kvm"
            | "hostprogs"
    )
}

/// The options that lines name outside of comments.
fn named(text: &str) -> Vec<(u32, String)> {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let line = |(number, line): (u32, &'_ str)| -> Vec<(u32, String)> {
        let code = line.split('#').next().unwrap_or_default();
        let options = code.split(is_end).filter_map(option_of_word);
        options.map(|option| (number, option)).collect()
    };
    (1_u32..).zip(text.lines()).flat_map(line).collect()
}

/// Lines with those that a backslash continues, without comments, each with its
/// first and its last line.
fn logical(text: &str) -> Vec<(u32, u32, String)> {
    let mut found: Vec<(u32, u32, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let (part, more) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some((_, last, before)) => {
                *last = number;
                before.push(' ');
                before.push_str(part);
            }
            None => found.push((number, number, part.to_owned())),
        }
        goes_on = more;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CORE: &str = "\
snd-y     := sound.o init.o \\
	memory.o
snd-$(CONFIG_ISA_DMA_API) += isadma.o
ifneq ($(CONFIG_SND_PROC_FS),)
snd-y += info.o
snd-$(CONFIG_SND_OSSEMUL) += info_oss.o
else ifdef CONFIG_X
snd-y += x.o
else
snd-y += other.o
endif
snd-pcm-objs := pcm.o pcm_native.o
obj-$(CONFIG_SND) += snd.o
obj-$(CONFIG_SND_PCM)	+= snd-pcm.o
obj-$(CONFIG_SND_OSSEMUL)	+= oss/ # comment
CFLAGS_pcm.o := -DX
obj-$(subst m,y,$(CONFIG_SEQ)) += seq.o
";

    /// Flags of one object were taken for those of all that the file makes.
    #[test]
    fn flags_reach_whom_they_name() {
        let text = "obj-y += a.o b_c.o c.o\nCFLAGS_REMOVE_b_c.o = -pg\nKASAN_SANITIZE_c.o := n\n\
                    ccflags-y += -DX\nUBSAN_SANITIZE := n\nCFLAGS_$(target).o = -g\nBOOT := x.o\n";
        let made = Makefile::parse(text);
        let reached = |line: u32| {
            let flags = made
                .flags
                .iter()
                .filter(|flags| flags.lines == (line, line));
            let all = ["a.o", "b_c.o", "c.o"].into_iter();
            let reached = |own: &Flags| {
                all.clone()
                    .filter(|name| own.reach(name))
                    .collect::<Vec<_>>()
            };
            flags.map(reached).collect::<Vec<_>>()
        };
        let all = vec![vec!["a.o", "b_c.o", "c.o"]];
        assert_eq!(
            (reached(2), reached(3)),
            (vec![vec!["b_c.o"]], vec![vec!["c.o"]])
        );
        assert_eq!(
            (reached(4), reached(5), reached(6)),
            (all.clone(), all.clone(), all)
        );
        assert_eq!(reached(7), Vec::<Vec<&str>>::new());
    }

    #[test]
    fn an_option_of_one_objects_flags_reaches_that_object() {
        let mut kbuild = Kbuild::default();
        let text = "obj-y += a.o b.o\nCFLAGS_a.o += -DX=$(CONFIG_F)\n";
        kbuild.add("lib", Makefile::parse(text));
        let options = BTreeSet::from(["F".to_owned()]);
        assert_eq!(kbuild.depending(&options), ["lib/a.o"]);
    }

    #[test]
    fn objects_have_conditions() {
        let made = Makefile::parse(CORE);
        let when = |name: &str| made.condition(name).map(|c| c.to_string());
        assert_eq!(when("pcm_native.o").as_deref(), Some("CONFIG_SND_PCM"));
        assert_eq!(when("memory.o").as_deref(), Some("CONFIG_SND"));
        assert_eq!(
            when("isadma.o").as_deref(),
            Some("CONFIG_ISA_DMA_API && CONFIG_SND")
        );
        assert_eq!(
            when("info_oss.o").as_deref(),
            Some("CONFIG_SND_PROC_FS && CONFIG_SND_OSSEMUL && CONFIG_SND")
        );
        assert_eq!(
            when("x.o").as_deref(),
            Some("!CONFIG_SND_PROC_FS && CONFIG_X && CONFIG_SND")
        );
        assert_eq!(
            when("other.o").as_deref(),
            Some("!CONFIG_SND_PROC_FS && !CONFIG_X && CONFIG_SND")
        );
        assert_eq!(when("oss/").as_deref(), Some("CONFIG_SND_OSSEMUL"));
        assert_eq!(when("seq.o").as_deref(), Some("CONFIG_SEQ"));
        assert_eq!(when("none.o"), None);
        assert_eq!(made.wholes("pcm_native.o"), ["snd-pcm.o"]);
        assert_eq!(made.parts("snd-pcm.o"), ["pcm.o", "pcm_native.o"]);
        let own = Flags {
            object: Some("pcm.o".to_owned()),
            lines: (16, 16),
        };
        assert_eq!(made.flags, [own]);
        let third = made.options.iter().find(|(line, _)| *line == 3);
        assert_eq!(
            third.map(|(_, option)| option.as_str()),
            Some("ISA_DMA_API")
        );
        let commented = Makefile::parse("obj-y += a.o # CONFIG_B\nx-$(CONFIG_$(C)) += d.o\n");
        assert_eq!(commented.options, []);
    }

    #[test]
    fn a_folder_is_reached_from_the_top() {
        let mut all = Kbuild::default();
        all.add(
            "",
            Makefile::parse("obj-y += sound/\nobj-$(CONFIG_NET) += net/\n"),
        );
        all.add("sound", Makefile::parse("obj-$(CONFIG_SOUND) += core/\n"));
        all.add("sound/core", Makefile::parse(CORE));
        let when = |name: &str| all.condition(name).map(|c| c.to_string());
        assert_eq!(
            when("sound/core/pcm.o").as_deref(),
            Some("CONFIG_SOUND && CONFIG_SND_PCM")
        );
        assert_eq!(when("sound/core/nothing.o"), None);
        assert_eq!(all.wholes("sound/core/pcm.o"), ["sound/core/snd-pcm.o"]);
        // Flags of a folder reach all of it.
        all.add(
            "net",
            Makefile::parse("obj-y += a.o b.o\nccflags-$(CONFIG_F) += -DX\n"),
        );
        let depending = |option: &str| all.depending(&BTreeSet::from([option.to_owned()]));
        assert_eq!(depending("F"), ["net/a.o", "net/b.o"]);
        assert_eq!(depending("NET"), ["net/a.o", "net/b.o"]);
        assert_eq!(depending("NOBODY"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn any_text_is_a_makefile(text in "((ifeq|ifdef|else|endif|obj-|x-y)?[ ()$,:+=\\\\a-zA-Z_./\t-]{0,24}\n){0,10}") {
            let made = Makefile::parse(&text);
            let names: Vec<String> = made.objects().map(|(name, _)| name.to_owned()).collect();
            for name in names {
                let _ = made.condition(&name);
            }
        }
    }
}
