//! Kconfig files: which options there are, and what each depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::condition::Condition;

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
}

/// All options of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kconfig {
    entries: BTreeMap<String, Vec<Entry>>,
    /// Files that every reader of the tree names in a way that is not followed.
    files: BTreeSet<String>,
}

impl Kconfig {
    /// Reads one file of a tree. What it sources is read by itself: all Kconfig files
    /// of a tree are given, one after the other.
    pub fn add(&mut self, file: &str, text: &str) {
        self.files.insert(file.to_owned());
        for entry in entries(file, text) {
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

    /// What one of its definitions depends on, as far as it stands beside it.
    #[must_use]
    pub fn depends(&self, option: &str) -> Condition {
        let all = self.entries(option).iter();
        let any = all.map(|entry| entry.depends.clone());
        any.reduce(Condition::or).unwrap_or(Condition::No)
    }
}

/// What is open around a block.
struct Around {
    /// `if`, `menu` or `choice`.
    word: &'static str,
    condition: Condition,
}

/// The blocks of a file.
fn entries(file: &str, text: &str) -> Vec<Entry> {
    let mut around: Vec<Around> = Vec::new();
    let mut found: Vec<Entry> = Vec::new();
    let mut open: Option<Entry> = None;
    let mut help: Option<usize> = None;
    for (number, line) in logical(text) {
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        if let Some(least) = help {
            // The text of a help goes on while it is indented.
            if words.is_empty() || indent > 0 && (least == 0 || indent >= least) {
                help = Some(if least == 0 && !words.is_empty() {
                    indent
                } else {
                    least
                });
                continue;
            }
            help = None;
        }
        let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        if matches!(word, "help" | "---help---") {
            help = Some(0);
        } else if is_block(word) {
            found.extend(open.take());
            open = begun(file, number, word, rest, &mut around);
        } else if let Some(entry) = &mut open {
            property(entry, word, rest);
        } else if word == "depends" {
            depends_around(&mut around, rest);
        }
        if let Some(entry) = &mut open {
            entry.lines.1 = number;
        }
    }
    found.extend(open);
    found
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

fn begun(
    file: &str,
    number: u32,
    word: &str,
    rest: &str,
    around: &mut Vec<Around>,
) -> Option<Entry> {
    let mut open = |word, condition| around.push(Around { word, condition });
    match word {
        "if" => open("if", Condition::of_kconfig(rest)),
        "menu" => open("menu", Condition::Yes),
        "choice" => open("choice", Condition::Yes),
        "endif" => close(around, "if"),
        "endmenu" => close(around, "menu"),
        "endchoice" => close(around, "choice"),
        "config" | "menuconfig" => {
            let option = rest.split_whitespace().next()?;
            let outer = around.iter().map(|one| one.condition.clone());
            return Some(Entry {
                option: option.to_owned(),
                file: file.to_owned(),
                lines: (number, number),
                depends: outer.fold(Condition::Yes, Condition::and),
                prompt: false,
            });
        }
        _ => {}
    }
    None
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
        _ => {}
    }
}

/// Lines with those that a backslash continues, without comments, each with the
/// number of its first.
fn logical(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
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
            Some((_, before)) => before.push_str(part),
            None => found.push((number, part.to_owned())),
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

    proptest! {
        #[test]
        fn any_text_is_read(text in "((config|if|menu|endif|endmenu|help|depends on|bool|choice|source)?[ \t\\\\a-zA-Z\"&|!#\n]{0,12}\n){0,12}") {
            let mut kconfig = Kconfig::default();
            kconfig.add("Kconfig", &text);
        }
    }
}
