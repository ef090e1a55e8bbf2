//! The commands that repeat a verdict, as lines of a shell.

use tollgate_measure::{Attached, Commands};

use crate::document::{Block, Script, Section};
use crate::text::{clean_lines, wrap};

/// The width of a mail.
const WIDTH: usize = 72;
/// What ends a file in a script, as long as no line of the file is that.
const END: &str = "EOF";

/// The section that has them; none where there is nothing to repeat.
pub(super) fn section(commands: &Commands) -> Option<Section> {
    let script = Script {
        brief: brief(commands),
        whole: script(commands),
    };
    let some = !commands.is_empty();
    some.then(|| Section::new("To repeat", vec![Block::Script(script)]))
}

/// A script that needs what its first lines say, and nothing else: it writes the files
/// that the command reads, where they have a text.
#[must_use]
pub fn script(commands: &Commands) -> Vec<String> {
    if commands.is_empty() {
        return Vec::new();
    }
    let files = commands.files.iter().flat_map(written);
    let mut lines: Vec<String> = needs(commands).chain(files).collect();
    lines.extend(command(&commands.words));
    lines
}

/// The same for whoever has the files: each is named.
fn brief(commands: &Commands) -> Vec<String> {
    let files = commands.files.iter().flat_map(named);
    let mut lines: Vec<String> = needs(commands).chain(files).collect();
    lines.extend(command(&commands.words));
    lines
}

fn needs(commands: &Commands) -> impl Iterator<Item = String> {
    commands.needs.iter().flat_map(|need| comment(need))
}

fn comment(text: &str) -> Vec<String> {
    let lines = wrap(text, WIDTH - 2).into_iter();
    lines.map(|line| format!("# {line}")).collect()
}

fn named(file: &Attached) -> Vec<String> {
    let Attached {
        name, bytes, hash, ..
    } = file;
    comment(&format!(
        "{name} has {bytes} bytes and the BLAKE3 hash {hash}."
    ))
}

/// A here-document that makes the file; a file without a text is named.
fn written(file: &Attached) -> Vec<String> {
    let Some(text) = file.text.as_deref().filter(|text| is_kept(text)) else {
        return named(file);
    };
    let taken = |end: &String| text.lines().any(|line| line == end);
    let mut end = END.to_owned();
    while taken(&end) {
        end.push('_');
    }
    let head = format!("cat >{} <<'{end}'", quoted(&file.name));
    let lines = text.lines().map(str::to_owned);
    std::iter::once(head)
        .chain(lines)
        .chain([end.clone()])
        .collect()
}

/// Whether each form shows the text as it is, to the byte.
fn is_kept(text: &str) -> bool {
    text.ends_with('\n') && clean_lines(text) == text
}

/// A command on lines of at most 72 columns, as far as its words allow that.
fn command(words: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        // Room for what goes on in the next line.
        let fits = |line: &&mut String| line.chars().count() + word.chars().count() + 3 <= WIDTH;
        match lines.last_mut().filter(fits) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => {
                if let Some(line) = lines.last_mut() {
                    line.push_str(" \\");
                }
                let indent = if lines.is_empty() { "" } else { "  " };
                lines.push(format!("{indent}{word}"));
            }
        }
    }
    lines
}

/// A word as a POSIX shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn attached(name: &str, text: &str) -> Attached {
        Attached {
            name: name.into(),
            text: Some(text.into()),
            bytes: text.len(),
            hash: "0123".into(),
        }
    }

    fn prove(words: &[&str], files: Vec<Attached>) -> Commands {
        Commands {
            needs: vec!["LINUX is the folder of a tree of Linux 6.12.117.".into()],
            files,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    /// What a shell makes of a script in an empty folder, and the files it leaves.
    fn run(lines: &[String], name: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let script = lines.join("\n");
        let mut shell = Command::new("sh");
        let output = shell.args(["-ec", &script]).current_dir(folder.path());
        let output = output.output().unwrap();
        assert!(output.status.success(), "{output:?}\n{script}");
        let said = String::from_utf8(output.stdout).unwrap();
        let file = std::fs::read_to_string(folder.path().join(name)).unwrap();
        (said, file)
    }

    #[test]
    fn a_file_ends_where_none_of_its_lines_does() {
        let text = "EOF\nEOF_\n\t$HOME `date` \\\n";
        let lines = script(&prove(&["cat", "x.patch"], vec![attached("x.patch", text)]));
        assert_eq!(lines[1], "cat >x.patch <<'EOF__'");
        assert_eq!(run(&lines, "x.patch"), (text.to_owned(), text.to_owned()));
    }

    #[test]
    fn what_a_mail_would_change_is_named_and_not_written() {
        for text in ["a\r\n", "no end", "\u{1b}[2J\n", "\u{202e}\n"] {
            let lines = script(&prove(&["true"], vec![attached("x.patch", text)]));
            let count = text.len();
            let wanted = format!("# x.patch has {count} bytes and the BLAKE3 hash 0123.");
            assert_eq!(lines[1], wanted);
        }
    }

    #[test]
    fn a_long_command_goes_on_in_the_next_line() {
        let long = "a-name-of-a-patch-that-is-rather-long.patch";
        let words = ["printf", "%s\\n", long, long, "end"].map(quoted);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let lines = command(&prove(&words, Vec::new()).words);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        let all = [lines, vec!["echo >x".into()]].concat();
        assert_eq!(run(&all, "x").0, format!("{long}\n{long}\nend\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn a_shell_takes_a_word_as_it_was(word in "[^\u{0}]{0,20}", name in "[a-z ']{1,8}x") {
            let words = ["printf".to_owned(), "%s".to_owned(), quoted(&word)];
            let files = vec![attached(&name, "text\n")];
            let commands = Commands { needs: vec![word.clone()], files, words: words.to_vec() };
            let (said, file) = run(&script(&commands), &name);
            prop_assert_eq!(said, word);
            prop_assert_eq!(file, "text\n");
        }
    }
}
