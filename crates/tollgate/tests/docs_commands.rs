//! The commands of the README and of `docs/`: each block of commands is marked with how
//! it is run, and is run so.
//!
//! A block is fenced as `console` or `sh`, or indented by four spaces. Its commands are
//! the lines behind a `$ `, or, where it has none, those that begin with a program. The
//! mark is a comment above it, `<!-- run: HOW -->`, where HOW is
//!
//! - `fake`: here, on the fake tree under the fake QEMU;
//! - `kernel`: here, on Linux 6.12.117, whose source is only read;
//! - `long`: it builds kernels for minutes, and is run with the full tests
//!   (`TOLLGATE_DOCS=1`);
//! - `step NAME...`: a step of `scripts/full-tests` for each command;
//! - `form`: it shows a form, with words in the place of files: its flags are checked;
//! - `hand, REASON`: no test can run it.
//!
//! `, exit N` says what the last command of it ends with, `exit any` that this hangs on
//! more than the command; otherwise it is 0. Where a block shows what is printed, it is
//! printed, however its lines are broken; `...` stands for what is left out, times in
//! seconds are not compared.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]
#![allow(
    clippy::print_stderr,
    reason = "what is run, and how much of it, is counted"
)]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::Lab;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What a command begins with.
const PROGRAMS: &[&str] = &[
    "tollgate", "make", "cargo", "git", "perf", "gcc", "export", "b4", "mdbook",
];

/// How a block is run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    Fake,
    Kernel,
    Long,
    Step(Vec<String>),
    Form,
    Hand,
    /// It is no command: a file of that name, for those that follow.
    Text(String),
}

#[derive(Clone, Debug)]
struct Block {
    /// `docs/run.md:8`.
    place: String,
    lines: Vec<String>,
    mark: Option<String>,
}

#[derive(Debug)]
struct Marked {
    block: Block,
    how: How,
    /// None where any will do but 2.
    exit: Option<i32>,
}

/// The pages, by their path below the project.
fn pages() -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

fn read(page: &Path) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap()
}

/// The blocks of a page that could hold commands, or are marked.
fn blocks(page: &Path, text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    let mut mark = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let start = at;
        let mut own: Option<Vec<String>> = None;
        if let Some(language) = line.strip_prefix("```") {
            let body = lines[at + 1..]
                .iter()
                .take_while(|line| !line.starts_with("```"));
            let body: Vec<String> = body.map(|line| (*line).to_owned()).collect();
            at += body.len() + 2;
            own = ["", "console", "sh"].contains(&language).then_some(body);
        } else if line.starts_with("    ") && (at == 0 || lines[at - 1].trim().is_empty()) {
            let body = lines[at..].iter();
            let body = body.take_while(|line| line.starts_with("    ") || line.trim().is_empty());
            let mut body: Vec<String> = body
                .map(|line| line.get(4..).unwrap_or("").to_owned())
                .collect();
            at += body.len();
            while body.last().is_some_and(|line| line.trim().is_empty()) {
                body.pop();
            }
            own = Some(body);
        } else {
            at += 1;
            if let Some(words) = line.strip_prefix("<!-- run: ") {
                let words = words.strip_suffix(" -->");
                mark = Some(words.unwrap_or("a mark that ends with -->").to_owned());
                continue;
            }
            if line.trim().is_empty() {
                continue;
            }
        }
        let mark = mark.take();
        let Some(body) = own else {
            assert_eq!(
                mark,
                None,
                "{}:{start}: a mark above no block",
                page.display()
            );
            continue;
        };
        all.push(Block {
            place: format!("{}:{}", page.display(), start + 1),
            lines: body,
            mark,
        });
    }
    all
}

fn is_command(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or("");
    let is_ours = ["scripts/", "benches/"]
        .iter()
        .any(|folder| word.starts_with(folder));
    let is_set = word
        .split_once('=')
        .is_some_and(|(name, _)| name.starts_with("TOLLGATE_"));
    is_ours || is_set || PROGRAMS.contains(&word) && line.contains(' ') && !line.contains(" = ")
}

impl Block {
    /// Its commands, as a shell takes them; and, in place of each, where its output is.
    fn commands(&self) -> Vec<(String, Vec<String>)> {
        let shows = self.lines.iter().any(|line| line.starts_with("$ "));
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        let mut goes_on = false;
        for line in &self.lines {
            let command = match shows {
                true => line.strip_prefix("$ "),
                false => Some(line.as_str()).filter(|line| is_command(line)),
            };
            match (command, all.last_mut()) {
                (None, Some((last, _))) if goes_on => {
                    last.push('\n');
                    last.push_str(line);
                }
                (None, Some((_, output))) if shows => output.push(line.clone()),
                (Some(command), _) => all.push((command.to_owned(), Vec::new())),
                _ => {}
            }
            goes_on = line.ends_with('\\');
        }
        all
    }

    /// How it is run.
    fn marked(self) -> Result<Option<Marked>, String> {
        let commands = self.commands();
        let place = &self.place;
        let Some(mark) = &self.mark else {
            return match commands.first() {
                None => Ok(None),
                Some((command, _)) => Err(format!(
                    "{place}: no mark says how `{command}` is run; write `<!-- run: HOW -->` above \
                     the block (crates/tollgate/tests/docs_commands.rs has each HOW)"
                )),
            };
        };
        let mut parts = mark.split(", ");
        let how = parts.next().unwrap_or("");
        let how = match how.split_once(' ').unwrap_or((how, "")) {
            ("fake", "") => How::Fake,
            ("kernel", "") => How::Kernel,
            ("long", "") => How::Long,
            ("form", "") => How::Form,
            ("hand", "") if mark.contains(", ") => How::Hand,
            ("step", names) => How::Step(names.split(' ').map(str::to_owned).collect()),
            ("text", name) => How::Text(name.to_owned()),
            _ => return Err(format!("{place}: {mark:?} is no way to run it")),
        };
        if commands.is_empty() && !matches!(how, How::Text(_)) {
            return Err(format!("{place}: a mark above a block without commands"));
        }
        let exit = parts.find_map(|part| part.strip_prefix("exit "));
        let exit = match exit {
            None => Some(0),
            Some("any") => None,
            Some(code) => Some(code.parse().map_err(|_| format!("{place}: exit {code}"))?),
        };
        Ok(Some(Marked {
            how,
            exit,
            block: self,
        }))
    }
}

fn all() -> Vec<Marked> {
    let mut faults = Vec::new();
    let mut all = Vec::new();
    for page in pages() {
        for block in blocks(&page, &read(&page)) {
            match block.marked() {
                Ok(one) => all.extend(one),
                Err(fault) => faults.push(fault),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    all
}

/// A home with what the commands of the docs name.
fn home(lab: &Lab) {
    for (folder, name) in [("tests", "fake-qemu"), ("../../", "guest")] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(folder)
            .join(name);
        std::os::unix::fs::symlink(from, lab.path(name)).unwrap();
    }
    fs::create_dir(lab.path("bin")).unwrap();
    let page = read(Path::new("docs/own-benchmark.md"));
    let program = page.split("```c\n").nth(1).unwrap();
    let program = program.split("```").next().unwrap();
    fs::write(lab.path("my-benchmark.c"), program).unwrap();
    for page in pages() {
        for block in blocks(&page, &read(&page)) {
            let Ok(Some(one)) = block.marked() else {
                continue;
            };
            if let How::Text(name) = one.how {
                let text = one.block.lines.join("\n") + "\n";
                fs::write(lab.path(&name), text).unwrap();
            }
        }
    }
}

/// `tollgate` as a program of the home.
fn program(lab: &Lab, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = lab.path("bin/tollgate");
    let ours = env!("CARGO_BIN_EXE_tollgate");
    fs::write(&path, format!("#!/bin/sh\nours='{ours}'\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// On the fake tree there is no kernel to boot: prove takes the fake QEMU.
const ON_FAKES: &str = "case $1 in
prove) shift; exec \"$ours\" prove --qemu \"$HOME/fake-qemu\" \"$@\" ;;
*) exec \"$ours\" \"$@\" ;;
esac";

/// A patch of the fake tree.
const WINDOW: &str = "--- a/include/linux/eventpoll.h
+++ b/include/linux/eventpoll.h
@@ -16,8 +16,13 @@ static inline struct epoll_event __user *
 epoll_put_uevent(__poll_t revents, __u64 data,
 \t\t struct epoll_event __user *uevent)
 {
-\tif (__put_user(revents, &uevent->events) ||
-\t    __put_user(data, &uevent->data))
-\t\treturn NULL;
+\tif (!user_write_access_begin(uevent, sizeof(*uevent)))
+\t\treturn NULL;
+\tunsafe_put_user(revents, &uevent->events, efault);
+\tunsafe_put_user(data, &uevent->data, efault);
+\tuser_write_access_end();
+\tif (0)
+efault:
+\t\treturn NULL;
 
 \treturn uevent+1;
";

/// `~/linux`, a repository whose last commit is the patch's inverse: its window is taken
/// out, so that the patch applies.
fn fake_linux(lab: &Lab) {
    fs::write(lab.path("my.patch"), WINDOW).unwrap();
    let script = "set -e
mv tree linux; cd linux; git init -q -b main .; git config user.name A; git config user.email a@example.org
patch -s -p1 <../my.patch; git add -A; git commit -qm 'epoll: Open the window once'
patch -s -R -p1 <../my.patch; git commit -qam 'epoll: Open two windows again'";
    let output = support::run(&mut lab.shell(script, &[]));
    assert!(output.status.success(), "{output:?}");
}

/// A shell for one command of a block: in the project, where it is the project's.
fn shell(lab: &Lab, how: &How, command: &str) -> Command {
    let ours = ["make ", "scripts/", "benches/", "cargo "];
    let in_project = ours.iter().any(|head| command.starts_with(head));
    let mut shell = lab.shell(command, &[lab.path("bin")]);
    shell.env("HOME", lab.path(""));
    if in_project {
        shell.current_dir(ROOT);
    }
    if *how == How::Long {
        // What takes minutes is kept where it is otherwise, and Rust's tools lie there.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        for (name, usual) in [
            ("TOLLGATE_CACHE", ".cache/tollgate"),
            ("CARGO_HOME", ".cargo"),
            ("RUSTUP_HOME", ".rustup"),
        ] {
            let place = std::env::var_os(name).unwrap_or_else(|| home.join(usual).into());
            shell.env(name, place);
        }
    }
    shell
}

/// Runs the commands of a block in a home; what was wrong.
fn run(lab: &Lab, one: &Marked, faults: &mut Vec<String>) {
    let place = &one.block.place;
    let commands = one.block.commands();
    let last = commands.len().saturating_sub(1);
    for (at, (command, shown)) in commands.iter().enumerate() {
        eprintln!("{place}: {command}");
        let output = support::run(&mut shell(lab, &one.how, command));
        let code = support::code(&output);
        let good = match one.exit {
            Some(wanted) if at == last => code == wanted,
            _ => [0, 1].contains(&code),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let both = format!("{said}\n{}", String::from_utf8_lossy(&output.stdout));
        if !good {
            faults.push(format!("{place}: `{command}` ended with {code}\n{both}"));
        }
        if let Some(missing) = missing(shown, &both) {
            faults.push(format!(
                "{place}: `{command}` does not print {missing:?}, but\n{both}"
            ));
        }
    }
}

/// The words of an output, whatever its lines are, without times in seconds.
fn words(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let is_time = all.last().is_some_and(|time| time.parse::<f64>().is_ok());
        if word == "s" && is_time {
            all.pop();
        }
        all.push(word);
    }
    all
}

/// The first words that are shown and not printed behind those before them; `...` stands
/// for any.
fn missing(shown: &[String], printed: &str) -> Option<String> {
    let (shown, printed) = (shown.join("\n"), words(printed));
    let mut rest = printed.as_slice();
    for part in words(&shown)
        .split(|word| *word == "...")
        .filter(|part| !part.is_empty())
    {
        let Some(at) = rest.windows(part.len()).position(|window| window == part) else {
            return Some(part.join(" "));
        };
        rest = &rest[at + part.len()..];
    }
    None
}

fn finish(faults: &[String], count: usize, what: &str) {
    eprintln!("{count} blocks of commands {what}");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn each_block_is_marked_and_each_is_counted() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in all() {
        let name = match one.how {
            How::Step(_) => "step".to_owned(),
            How::Text(_) => "text".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        *counts.entry(name).or_default() += one.block.commands().len();
    }
    eprintln!("commands of the docs, by how they are run: {counts:?}");
    // Most of them are run by a test of some kind.
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    let run = count("fake") + count("kernel") + count("long") + count("step");
    assert!(count("fake") + count("kernel") > 10, "{counts:?}");
    assert!(run > 2 * count("hand"), "{counts:?}");
}

#[test]
fn commands_that_are_quick_are_run_on_the_fake_tree() {
    let lab = Lab::new();
    home(&lab);
    fake_linux(&lab);
    program(&lab, ON_FAKES);
    let mut faults = Vec::new();
    let marked: Vec<Marked> = all()
        .into_iter()
        .filter(|one| one.how == How::Fake)
        .collect();
    marked.iter().for_each(|one| run(&lab, one, &mut faults));
    finish(&faults, marked.len(), "run on the fake tree");
}

#[test]
fn commands_that_only_read_a_kernel_are_run_on_one() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let lab = Lab::new();
    home(&lab);
    program(&lab, "exec \"$ours\" \"$@\"");
    for name in ["linux", "linux-source-6.12"] {
        std::os::unix::fs::symlink(&tree, lab.path(name)).unwrap();
    }
    let mut faults = Vec::new();
    let marked: Vec<Marked> = all()
        .into_iter()
        .filter(|one| one.how == How::Kernel)
        .collect();
    marked.iter().for_each(|one| run(&lab, one, &mut faults));
    finish(&faults, marked.len(), "run on a kernel");
}

#[test]
fn commands_that_build_for_minutes_are_run_where_they_are_asked_for() {
    if tollgate_testing::asked("TOLLGATE_DOCS").is_none() {
        return;
    }
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let lab = Lab::new();
    home(&lab);
    program(&lab, "exec \"$ours\" \"$@\"");
    for name in ["linux", "linux-source-6.12"] {
        std::os::unix::fs::symlink(&tree, lab.path(name)).unwrap();
    }
    let only = std::env::var("TOLLGATE_DOCS_ONLY").unwrap_or_default();
    let mut faults = Vec::new();
    let marked = all().into_iter().filter(|one| one.how == How::Long);
    let marked: Vec<Marked> = marked
        .filter(|one| one.block.place.contains(&only))
        .collect();
    marked.iter().for_each(|one| run(&lab, one, &mut faults));
    finish(&faults, marked.len(), "that build for minutes");
}

#[test]
fn each_step_is_one_of_the_full_tests() {
    let script = Path::new(ROOT).join("scripts/full-tests");
    let output = Command::new(&script).arg("--list").output().unwrap();
    let steps = String::from_utf8(output.stdout).unwrap();
    let steps: BTreeSet<&str> = steps.lines().collect();
    let script = fs::read_to_string(script).unwrap();
    for one in all() {
        let How::Step(names) = &one.how else { continue };
        let commands = one.block.commands();
        assert_eq!(
            names.len(),
            commands.len(),
            "{}: a step for each command",
            one.block.place
        );
        for (name, (command, _)) in names.iter().zip(commands) {
            assert!(
                steps.contains(name.as_str()),
                "{}: no step {name}",
                one.block.place
            );
            let body = script
                .lines()
                .find(|line| line.starts_with(&format!("{name}()")));
            let command = command.split("  #").next().unwrap_or("").trim();
            let command = command.trim_end_matches(" TREE");
            assert!(
                body.unwrap().contains(command),
                "{}: {name} is not `{command}`",
                one.block.place
            );
        }
    }
}

/// The flags of a command, as its help lists them.
fn flags(subcommand: &str, known: &mut BTreeMap<String, Option<String>>) -> Option<String> {
    let asked = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        let output = command.args(words).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then_some(text)
    };
    // With that of the commands that it has itself: `cache prune`.
    let help = || {
        let mut text = asked(&[subcommand])?;
        for inner in listed(&text).iter().filter(|name| *name != "help") {
            text += &format!("\n{}", asked(&[subcommand, inner])?);
        }
        Some(text)
    };
    known
        .entry(subcommand.to_owned())
        .or_insert_with(help)
        .clone()
}

/// `tollgate …` in a text between backquotes, on one line.
fn inline(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|words| words.starts_with("tollgate ") && !words.contains('\n'))
}

#[test]
fn every_flag_that_the_docs_name_is_one() {
    let mut known = BTreeMap::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        let of_blocks = blocks(&page, &text).into_iter();
        let of_blocks = of_blocks
            .flat_map(|block| block.commands())
            .map(|(command, _)| command);
        let commands: Vec<String> = of_blocks.chain(inline(&text).map(str::to_owned)).collect();
        for command in &commands {
            let Some(words) = command.strip_prefix("tollgate ") else {
                continue;
            };
            let own = words
                .split(" #")
                .next()
                .unwrap_or("")
                .split(" -- ")
                .next()
                .unwrap_or("");
            let mut words = own.split_whitespace();
            let Some(subcommand) = words
                .next()
                .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
            else {
                continue;
            };
            count += 1;
            let subcommand = subcommand.trim_end_matches([',', '.']);
            let Some(help) = flags(subcommand, &mut known) else {
                faults.push(format!(
                    "{}: `{command}`: no command {subcommand}",
                    page.display()
                ));
                continue;
            };
            for flag in words.filter(|word| word.starts_with("--") && word.len() > 2) {
                let name = flag.split(['=', ']', ',']).next().unwrap_or(flag);
                let is_flag = help
                    .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
                    .any(|word| word == name);
                if !is_flag {
                    faults.push(format!(
                        "{}: `{command}`: {subcommand} has no {name}",
                        page.display()
                    ));
                }
            }
        }
    }
    eprintln!("the flags of {count} commands are known");
    assert!(count > 60 && faults.is_empty(), "{}", faults.join("\n"));
}

/// The commands, as the help of all lists them: each begins in the third column.
fn subcommands() -> Vec<String> {
    let help = support::run(Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("--help"));
    listed(&String::from_utf8(help.stdout).unwrap())
}

/// The commands that a help lists; none where it has none.
fn listed(help: &str) -> Vec<String> {
    let listed = help
        .split_once("Commands:\n")
        .map_or("", |(_, listed)| listed);
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = listed.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The page with each command's help is made of it.
#[test]
fn the_page_of_flags_is_the_help() {
    let path = Path::new(ROOT).join("docs/flags.md");
    let mut page = "# Every flag\n\nWhat each command says of itself with `--help`; a test holds \
                    this page to it (`UPDATE_DOCS=1\ncargo test -p tollgate --test docs_commands` \
                    writes it).\n"
        .to_owned();
    let mut known = BTreeMap::new();
    for name in subcommands().iter().filter(|name| *name != "help") {
        let help = flags(name, &mut known).unwrap();
        page += &format!(
            "\n## tollgate {name}\n\n```text\n{}\n```\n",
            help.trim_end()
        );
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
}

/// The table of forms has the version that each schema has.
#[test]
fn the_page_of_forms_has_each_schema_and_its_version() {
    let page = read(Path::new("docs/formats.md"));
    for entry in fs::read_dir(Path::new(ROOT).join("schema")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let schema: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let text = schema.to_string();
        // What a user writes, and what is another project's, have no version of ours.
        let version = text.split("\"version\":{\"const\":").nth(1);
        let Some(version) = version.and_then(|rest| rest.split(['}', ',']).next()) else {
            assert!(
                name.starts_with("case.") || name.starts_with("speedscope."),
                "{name}"
            );
            continue;
        };
        let row = format!("| `schema/{name}` | {version} |");
        assert!(page.contains(&row), "docs/formats.md lacks {row}");
    }
}

/// The book leads to every page, and every link of a page to a file.
#[test]
fn the_book_leads_to_every_page_and_nowhere_else() {
    let summary = read(Path::new("docs/SUMMARY.md"));
    let mut faults = Vec::new();
    for page in pages() {
        let Ok(below) = page.strip_prefix("docs") else {
            continue;
        };
        let name = below.to_str().unwrap();
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            faults.push(format!(
                "docs/SUMMARY.md does not lead to {name}: give it a line there"
            ));
        }
        for target in read(&page)
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or("");
            let at = Path::new(ROOT).join(&page).parent().unwrap().join(file);
            if !file.is_empty() && !file.contains("://") && !at.exists() {
                faults.push(format!(
                    "{}: a link to {target}, which is not there",
                    page.display()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The page of rules lists each, with its severity and confidence.
#[test]
fn the_page_of_rules_has_each() {
    let page = read(Path::new("docs/rules.md"));
    for path in pages().iter().filter(|path| path.starts_with("docs/rules")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = read(path);
        let text = words(&text).join(" ");
        let word = |before: &str| {
            let rest = text.split(before).nth(1).unwrap();
            rest.split_whitespace()
                .next()
                .unwrap()
                .trim_matches([',', '.'])
                .to_owned()
        };
        let row = format!("| [{name}](rules/{name}.md) | ");
        let row = page
            .lines()
            .find(|line| line.starts_with(&row))
            .unwrap_or_else(|| panic!("docs/rules.md lacks {name}"));
        let wanted = format!("| {} | {} |", word("Severity "), word("confidence"));
        assert!(row.ends_with(&wanted), "{row}: {wanted}");
    }
}

#[test]
fn a_command_without_a_mark_is_refused() {
    let page = Path::new("docs/x.md");
    let of = |text: &str| {
        let found = blocks(page, text).into_iter().map(Block::marked);
        found.collect::<Result<Vec<_>, _>>()
    };
    let fault = of("Text.\n\n    tollgate scan ~/linux\n").unwrap_err();
    assert!(
        fault.starts_with("docs/x.md:3: no mark says how `tollgate scan ~/linux`"),
        "{fault}"
    );
    assert!(of("```console\n$ tollgate scan x\n```\n").is_err());
    assert!(of("<!-- run: soon -->\n\n    tollgate scan x\n").is_err());
    assert!(of("<!-- run: hand -->\n\n    tollgate scan x\n").is_err());
    assert!(of("<!-- run: fake -->\n\n    no command\n").is_err());
    let good = of("<!-- run: kernel, exit 1 -->\n\n    $ tollgate scan \\\n      x\n    a 2.0 s\n    ...\n    b\n").unwrap();
    let one = good[0].as_ref().unwrap();
    assert_eq!((&one.how, one.exit), (&How::Kernel, Some(1)));
    let commands = one.block.commands();
    assert_eq!(commands[0].0, "tollgate scan \\\n  x");
    assert_eq!(missing(&commands[0].1, "x\na  3.5 s\ny\nb\n"), None);
    assert_eq!(
        missing(&commands[0].1, "b\na 3.5 s\n"),
        Some("b".to_owned())
    );
    assert!(
        of("```c\nmake x;\n```\n\n    make = [1]\n")
            .unwrap()
            .iter()
            .all(Option::is_none)
    );
}
