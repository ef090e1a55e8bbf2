//! Kconfig files: which options there are, and what each depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::condition::{Condition, options_of_kconfig};

/// One `config` or `menuconfig` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The option, without `CONFIG_`.
    pub option: String,
    /// The file, from the top of the tree.
    pub file: String,
    /// Its first and last line in that file, from 1.
    pub lines: (u32, u32),
    /// What its own `depends on` lines say, and the `if`s and menus around it.
    pub depends: Condition,
    /// Whether people can choose it: it has a prompt.
    pub prompt: bool,
    /// The options that it turns on whatever they depend on, each with when.
    pub selects: Vec<(String, Condition)>,
    /// The line of the `choice` that it is one side of, from 1.
    pub choice: Option<u32>,
}

/// A file that another one reads, and when its options are there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sourced {
    by: String,
    condition: Condition,
}

/// All options of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kconfig {
    entries: BTreeMap<String, Vec<Entry>>,
    /// Files that every reader of the tree names in a way that is not followed.
    files: BTreeSet<String>,
    /// By file, who reads it.
    sourced: BTreeMap<String, Vec<Sourced>>,
}

/// How far `source` is followed.
const DEEPEST: usize = 16;

impl Kconfig {
    /// Reads one file of a tree. What it sources is read by itself: all Kconfig files
    /// of a tree are given, one after the other.
    pub fn add(&mut self, file: &str, text: &str) {
        self.files.insert(file.to_owned());
        let read = Read::of(file, text);
        for (name, condition) in read.sources {
            let by = file.to_owned();
            let all = self.sourced.entry(name).or_default();
            all.push(Sourced { by, condition });
        }
        for entry in read.entries {
            self.entries
                .entry(entry.option.clone())
                .or_default()
                .push(entry);
        }
    }

    /// Whether any file was read: without one nothing is known of options.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether no file defines any option.
    #[must_use]
    pub fn has_none(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a file defines the option.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.entries.contains_key(option)
    }

    /// Where an option is defined; more than once where architectures differ.
    #[must_use]
    pub fn entries(&self, option: &str) -> &[Entry] {
        self.entries.get(option).map_or(&[], Vec::as_slice)
    }

    /// Every block of a file.
    pub fn in_file<'a>(&'a self, file: &'a str) -> impl Iterator<Item = &'a Entry> {
        let all = self.entries.values().flatten();
        all.filter(move |entry| entry.file == file)
    }

    /// What one of its definitions depends on: beside it, around it, and around what
    /// reads its file.
    #[must_use]
    pub fn depends(&self, option: &str) -> Condition {
        let all = self.entries(option).iter();
        let any = all.map(|entry| self.needed(entry));
        any.reduce(Condition::or).unwrap_or(Condition::No)
    }

    /// What a definition depends on.
    #[must_use]
    pub fn needed(&self, entry: &Entry) -> Condition {
        self.around(&entry.file, DEEPEST).and(entry.depends.clone())
    }

    /// When a file is read; always where nobody is known to read it: its name may be
    /// put together.
    fn around(&self, file: &str, depth: usize) -> Condition {
        let by = self.sourced.get(file).map_or(&[][..], Vec::as_slice);
        let Some(deeper) = depth.checked_sub(1) else {
            return Condition::Yes;
        };
        let each = by
            .iter()
            .map(|one| self.around(&one.by, deeper).and(one.condition.clone()));
        each.reduce(Condition::or).unwrap_or(Condition::Yes)
    }

    /// Every definition that selects an option, with when.
    pub fn selecting<'a>(
        &'a self,
        option: &'a str,
    ) -> impl Iterator<Item = (&'a Entry, &'a Condition)> {
        let all = self.entries.values().flatten();
        all.flat_map(move |entry| {
            let own = entry.selects.iter().filter(move |(name, _)| name == option);
            own.map(move |(_, when)| (entry, when))
        })
    }

    /// Whether people can choose an option somewhere.
    #[must_use]
    pub fn has_prompt(&self, option: &str) -> bool {
        self.entries(option).iter().any(|entry| entry.prompt)
    }

    /// The other sides of the choice that an option is one side of.
    #[must_use]
    pub fn rivals(&self, option: &str) -> BTreeSet<&str> {
        let own = self.entries(option).iter();
        let own: BTreeSet<(&str, u32)> = own
            .filter_map(|entry| Some((entry.file.as_str(), entry.choice?)))
            .collect();
        let all = self.entries.values().flatten().filter(|entry| {
            let place = entry.choice.map(|line| (entry.file.as_str(), line));
            entry.option != option && place.is_some_and(|place| own.contains(&place))
        });
        all.map(|entry| entry.option.as_str()).collect()
    }
}

/// The options that the lines of a Kconfig file depend on, select or have for a default,
/// each with the first and the last line, from 1, of where it is named; not those that
/// the lines define.
#[must_use]
pub fn options_named(text: &str) -> Vec<((u32, u32), String)> {
    Read::of("", text).named
}

/// The files that a Kconfig file reads, as it names them.
#[must_use]
pub fn files_read(text: &str) -> Vec<String> {
    let sources = Read::of("", text).sources.into_iter();
    sources.map(|(name, _)| name).collect()
}

/// What is open around a block.
struct Around {
    /// `if`, `menu` or `choice`.
    word: &'static str,
    /// Its line.
    line: u32,
    condition: Condition,
}

/// What one file holds.
#[derive(Default)]
struct Read {
    entries: Vec<Entry>,
    /// The files that it reads, with when.
    sources: Vec<(String, Condition)>,
    around: Vec<Around>,
    /// The options that expressions name, with their lines.
    named: Vec<((u32, u32), String)>,
}

/// Whose properties the lines are.
enum Open {
    Entry(Entry),
    /// A `comment`: what it depends on is nobody else's.
    Comment,
    /// What is around: a menu, a choice.
    Outer,
}

impl Read {
    fn of(file: &str, text: &str) -> Self {
        let mut read = Self::default();
        let mut open = Open::Outer;
        let mut help: Option<usize> = None;
        for (lines, line) in logical(text) {
            let words = line.trim();
            if in_help(&mut help, &line) {
                continue;
            }
            let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
            if matches!(word, "help" | "---help---") {
                help = Some(0);
                continue;
            }
            let named = expressions(word, rest).into_iter();
            read.named.extend(named.map(|option| (lines, option)));
            if is_block(word) {
                read.closed(open);
                open = read.begun(file, lines.0, word, rest);
            } else {
                match &mut open {
                    Open::Entry(entry) => property(entry, word, rest),
                    Open::Outer if word == "depends" => depends_around(&mut read.around, rest),
                    Open::Comment | Open::Outer => {}
                }
            }
            if let Open::Entry(entry) = &mut open {
                entry.lines.1 = lines.1;
            }
        }
        read.closed(open);
        read
    }

    fn closed(&mut self, open: Open) {
        if let Open::Entry(entry) = open {
            self.entries.push(entry);
        }
    }

    /// What all that is open around depends on.
    fn outer(&self) -> Condition {
        let outer = self.around.iter().map(|one| one.condition.clone());
        outer.fold(Condition::Yes, Condition::and)
    }

    fn begun(&mut self, file: &str, number: u32, word: &str, rest: &str) -> Open {
        let mut open = |word, condition| {
            self.around.push(Around {
                word,
                line: number,
                condition,
            });
        };
        match word {
            "if" => open("if", Condition::of_kconfig(rest)),
            "menu" => open("menu", Condition::Yes),
            "choice" => open("choice", Condition::Yes),
            "endif" => close(&mut self.around, "if"),
            "endmenu" => close(&mut self.around, "menu"),
            "endchoice" => close(&mut self.around, "choice"),
            "source" => {
                let name = rest.trim().trim_matches(['"', '\'']).to_owned();
                self.sources.push((name, self.outer()));
            }
            "comment" => return Open::Comment,
            "config" | "menuconfig" => return self.entry(file, number, rest),
            _ => {}
        }
        Open::Outer
    }

    fn entry(&self, file: &str, number: u32, rest: &str) -> Open {
        let Some(option) = rest.split_whitespace().next() else {
            return Open::Outer;
        };
        let choice = self.around.iter().rfind(|one| one.word == "choice");
        Open::Entry(Entry {
            option: option.to_owned(),
            file: file.to_owned(),
            lines: (number, number),
            depends: self.outer(),
            prompt: false,
            selects: Vec::new(),
            choice: choice.map(|one| one.line),
        })
    }
}

/// Whether a line is of a help text, which goes on while it is indented.
fn in_help(help: &mut Option<usize>, line: &str) -> bool {
    let Some(least) = *help else { return false };
    let indent = line.len() - line.trim_start().len();
    let is_empty = line.trim().is_empty();
    if is_empty || indent > 0 && (least == 0 || indent >= least) {
        if least == 0 && !is_empty {
            *help = Some(indent);
        }
        return true;
    }
    *help = None;
    false
}

/// The options that the expressions of a line name.
fn expressions(word: &str, rest: &str) -> Vec<String> {
    match word {
        "if" | "depends" | "visible" | "select" | "imply" | "default" | "def_bool"
        | "def_tristate" | "range" => options_of_kconfig(rest),
        // A prompt may hold the quotes that it stands between (drivers/net/ethernet/3com).
        "bool" | "tristate" | "int" | "hex" | "string" | "prompt" => {
            let behind = rest.rsplit(['"', '\'']).next();
            behind.map_or_else(Vec::new, options_of_kconfig)
        }
        _ => Vec::new(),
    }
}

fn is_block(word: &str) -> bool {
    matches!(
        word,
        "config"
            | "menuconfig"
            | "choice"
            | "endchoice"
            | "menu"
            | "endmenu"
            | "if"
            | "endif"
            | "source"
            | "comment"
            | "mainmenu"
    )
}

fn close(around: &mut Vec<Around>, word: &str) {
    if let Some(at) = around.iter().rposition(|one| one.word == word) {
        around.truncate(at);
    }
}

/// `depends on` below a menu or a choice.
fn depends_around(around: &mut [Around], rest: &str) {
    let Some(inner) = around.last_mut() else {
        return;
    };
    if let Some(text) = rest.trim_start().strip_prefix("on ") {
        let outer = std::mem::replace(&mut inner.condition, Condition::Yes);
        inner.condition = outer.and(Condition::of_kconfig(text));
    }
}

fn property(entry: &mut Entry, word: &str, rest: &str) {
    match word {
        "depends" => {
            if let Some(text) = rest.trim_start().strip_prefix("on ") {
                let before = std::mem::replace(&mut entry.depends, Condition::Yes);
                entry.depends = before.and(Condition::of_kconfig(text));
            }
        }
        "bool" | "tristate" | "int" | "hex" | "string" | "prompt" => {
            entry.prompt |= rest.trim_start().starts_with(['"', '\'']);
        }
        "select" => {
            let (option, when) = rest.split_once(" if ").unwrap_or((rest, ""));
            let when = match when.trim() {
                "" => Condition::Yes,
                when => Condition::of_kconfig(when),
            };
            entry.selects.push((option.trim().to_owned(), when));
        }
        _ => {}
    }
}

/// Lines with those that a backslash continues, without comments, each with the
/// numbers of its first and its last.
fn logical(text: &str) -> Vec<((u32, u32), String)> {
    let mut found: Vec<((u32, u32), String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let (part, more) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        let part = match part.trim_start().starts_with('#') {
            true => "",
            false => part,
        };
        match found.last_mut().filter(|_| goes_on) {
            Some(((_, last), before)) => {
                *last = number;
                before.push_str(part);
            }
            None => found.push(((number, number), part.to_owned())),
        }
        goes_on = more;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
menu \"Sound\"
	depends on HAS_IOMEM

if SND
config SND_PCM
	tristate \"PCM\" if EXPERT
	depends on PCI && \\
		!UML
	help
	  config NOT_ONE is only said here.

	  More of it.

config HIDDEN
	bool
	default y
endif
endmenu
menuconfig TOP
	bool \"top\"
";

    #[test]
    fn options_are_known_with_what_they_depend_on() {
        let mut kconfig = Kconfig::default();
        kconfig.add("sound/Kconfig", TEXT);
        assert!(!kconfig.has("NOT_ONE") && kconfig.has("HIDDEN"));
        let pcm = &kconfig.entries("SND_PCM")[0];
        assert_eq!(
            pcm.depends.to_string(),
            "CONFIG_HAS_IOMEM && CONFIG_SND && CONFIG_PCI && !CONFIG_UML"
        );
        assert!(pcm.prompt && !kconfig.entries("HIDDEN")[0].prompt);
        assert_eq!(pcm.lines.0, 5);
        assert_eq!(kconfig.depends("TOP"), Condition::Yes);
        assert_eq!(kconfig.depends("NONE"), Condition::No);
        assert_eq!(kconfig.in_file("sound/Kconfig").count(), 3);
    }

    #[test]
    fn what_is_around_a_file_that_is_read_counts() {
        let mut kconfig = Kconfig::default();
        kconfig.add(
            "Kconfig",
            "if A\nmenu \"b\"\n\tdepends on B\nsource \"b/Kconfig\"\nendmenu\nendif\nsource \"c/$(X)/Kconfig\"\n",
        );
        kconfig.add(
            "b/Kconfig",
            "config ONE\n\tbool\n\tselect TWO if C\n\tselect THREE\n",
        );
        kconfig.add("d/Kconfig", "config TWO\n\tbool \"two\"\n\tdepends on D\n");
        assert_eq!(kconfig.depends("ONE").to_string(), "CONFIG_A && CONFIG_B");
        assert_eq!(kconfig.depends("TWO").to_string(), "CONFIG_D");
        let by = |option: &'static str| -> Vec<String> {
            let all = kconfig.selecting(option);
            all.map(|(by, when)| format!("{} {when}", by.option))
                .collect()
        };
        assert_eq!(by("TWO"), ["ONE CONFIG_C"]);
        assert_eq!(by("THREE"), ["ONE always"]);
        assert!(kconfig.has_prompt("TWO") && !kconfig.has_prompt("ONE"));
    }

    /// What a comment depends on was taken for what all behind it in its menu does.
    #[test]
    fn what_a_comment_depends_on_is_its_own() {
        let mut kconfig = Kconfig::default();
        let text = "menu \"m\"\n\tdepends on A\ncomment \"needs B\"\n\tdepends on !B\nconfig ONE\n\tbool\nendmenu\n";
        kconfig.add("Kconfig", text);
        assert_eq!(kconfig.depends("ONE").to_string(), "CONFIG_A");
    }

    #[test]
    fn options_are_named_where_they_stand() {
        let text = "config A\n\ttristate \"a \"B\" x\" if C\n\tdepends on D && \\\n\t\tE_F\n\tselect G if H\n\
                    \tdefault 64 if I = \"j\"\n\thelp\n\t  if K\nif 64BIT # if L\nmenu \"m\"\n\tvisible if M\n\
                    comment \"c\"\n\tdepends on N=y\nendmenu\nendif\n";
        let named = options_named(text);
        let named: Vec<(u32, u32, &str)> = named
            .iter()
            .map(|((first, last), option)| (*first, *last, option.as_str()))
            .collect();
        assert_eq!(
            named,
            [
                (2, 2, "C"),
                (3, 4, "D"),
                (3, 4, "E_F"),
                (5, 5, "G"),
                (5, 5, "H"),
                (6, 6, "I"),
                (9, 9, "64BIT"),
                (11, 11, "M"),
                (13, 13, "N"),
            ]
        );
    }

    #[test]
    fn the_sides_of_a_choice_are_rivals() {
        let mut kconfig = Kconfig::default();
        kconfig.add(
            "Kconfig",
            "choice\n\tprompt \"order\"\nconfig BIG\n\tbool \"big\"\nconfig LITTLE\n\tbool \"little\"\nendchoice\nchoice\nconfig X\n\tbool \"x\"\nendchoice\nconfig Y\n\tbool\n",
        );
        assert_eq!(kconfig.rivals("BIG"), BTreeSet::from(["LITTLE"]));
        assert!(kconfig.rivals("X").is_empty() && kconfig.rivals("Y").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "((config|if|menu|endif|endmenu|help|depends on|bool|choice|source)?[ \t\\\\a-zA-Z\"&|!#\n]{0,12}\n){0,12}") {
            let mut kconfig = Kconfig::default();
            kconfig.add("Kconfig", &text);
        }
    }
}
