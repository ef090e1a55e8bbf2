//! What compilers and their helpers say, and what of it is new. A diagnostic has an
//! identity that no moved line changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// gcc, its assembler with it.
    Gcc,
    /// clang.
    Clang,
    /// sparse.
    Sparse,
    /// objtool, on the object.
    Objtool,
    /// modpost, on the object or its module.
    Modpost,
    /// `tollgate gates`, on the object.
    Gates,
    /// make or Kconfig.
    Kbuild,
}

impl Tool {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Sparse => "sparse",
            Self::Objtool => "objtool",
            Self::Modpost => "modpost",
            Self::Gates => "gates",
            Self::Kbuild => "kbuild",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is there all the same.
    Warning,
    /// There is no object.
    Error,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Who said it.
    pub tool: Tool,
    /// How bad it is.
    pub severity: Severity,
    /// The flag that asks for it, `unused-variable`; empty where there is none.
    pub kind: String,
    /// The file, from the top of the tree; empty where none is named.
    pub file: String,
    /// Its line, from 1; 0 where none is named.
    pub line: u32,
    /// Its column, from 1; 0 where none is named.
    pub column: u32,
    /// The function; empty outside of one, or where none is named.
    pub function: String,
    /// What it says.
    pub text: String,
    /// Its line in what was said, from 0.
    pub at: usize,
}

/// What stays the same of a diagnostic where lines move: all but its place, and
/// numbers that name a place in its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(Tool, Severity, String, String, String, String);

impl Diagnostic {
    /// Its identity.
    #[must_use]
    pub fn identity(&self) -> Identity {
        Identity(
            self.tool,
            self.severity,
            self.kind.clone(),
            self.file.clone(),
            self.function.clone(),
            placeless(&self.text),
        )
    }

    /// Names the function that a step leads to, where what was said is said of a section
    /// that holds what is put into functions (`.altinstr_replacement`).
    fn led_to(&mut self, object: &str, place: &str) {
        let name = place
            .split('+')
            .next()
            .filter(|name| !name.starts_with('.'));
        if self.tool == Tool::Objtool && self.file == object && self.function.starts_with('.') {
            self.function = name.map_or_else(|| self.function.clone(), str::to_owned);
        }
    }

    /// The same of functions that have another name, wherever it says their names.
    fn named(&self, names: &BTreeMap<String, String>) -> Self {
        let mut one = self.clone();
        if names.is_empty() {
            return one;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut text = String::new();
        let mut rest = self.text.as_str();
        while let Some(first) = rest.chars().next() {
            let end = match is_word(first) {
                true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                false => first.len_utf8(),
            };
            let (word, after) = rest.split_at(end);
            text.push_str(names.get(word).map_or(word, String::as_str));
            rest = after;
        }
        one.text = text;
        if let Some(name) = names.get(&self.function) {
            one.function.clone_from(name);
        }
        one
    }
}

/// What of `after` is new: of each identity as many as `before` has not.
#[must_use]
pub fn fresh<'a>(before: &[Diagnostic], after: &'a [Diagnostic]) -> Vec<&'a Diagnostic> {
    fresh_of(before, after, &BTreeMap::new())
}

/// The same where functions have another name: `before_of` has the one that each had.
#[must_use]
pub fn fresh_of<'a>(
    before: &[Diagnostic],
    after: &'a [Diagnostic],
    before_of: &BTreeMap<String, String>,
) -> Vec<&'a Diagnostic> {
    let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
    for one in before {
        *known.entry(one.identity()).or_default() += 1;
    }
    let is_new = |one: &&Diagnostic| match known.get_mut(&one.named(before_of).identity()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    after.iter().filter(is_new).collect()
}

/// Reads what was said of one object. `tool` is its compiler, `root` what stands
/// before the paths of the tree.
#[must_use]
pub fn read(said: &str, tool: Tool, root: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut function = String::new();
    let mut unmet: Option<&str> = None;
    for (at, line) in said.lines().enumerate() {
        if let Some(option) = line.strip_prefix(UNMET) {
            unmet = Some(option.trim());
            continue;
        }
        if let Some(option) = unmet {
            found.extend(selector(line, option).map(|one| Diagnostic { at, ..one }));
            unmet = unmet.filter(|_| line.starts_with(' ') || line.is_empty());
        }
        if let Some(named) = context(line) {
            function = named;
            continue;
        }
        if let Some((object, way)) = trace(line) {
            if let Some(last) = found.last_mut() {
                last.led_to(object, way);
            }
            continue;
        }
        let read = objtool(line)
            .or_else(|| modpost(line))
            .or_else(|| gates(line))
            .or_else(|| placed(line, tool, root, &function))
            .or_else(|| bare(line, tool));
        found.extend(read.map(|one| Diagnostic { at, ..one }));
    }
    found
}

/// Reads the log of a whole build, where what is said tells who says it: clang counts what
/// it said at the end, sparse names no flag. Quotation marks are those of any locale.
#[must_use]
pub fn read_log(log: &str) -> Vec<Diagnostic> {
    let plain = log.replace(['\u{2018}', '\u{2019}'], "'");
    let counted = |line: &str| {
        line.ends_with(" generated.") && line.starts_with(|c: char| c.is_ascii_digit())
    };
    let compiler = match plain.lines().any(counted) {
        true => Tool::Clang,
        false => Tool::Gcc,
    };
    let mut found = read(&plain, compiler, "");
    for one in &mut found {
        let is_placed = one.tool == compiler && one.line > 0;
        if is_placed && one.severity == Severity::Warning && one.kind.is_empty() {
            one.tool = Tool::Sparse;
        }
    }
    found
}

/// What Kconfig says of an option whose dependencies are off, and that is on all the
/// same; below it a line for each that selects it.
const UNMET: &str = "WARNING: unmet direct dependencies detected for ";

/// `  - BY [=y] && OTHER [=n]`
fn selector(line: &str, option: &str) -> Option<Diagnostic> {
    let by = line.trim_start().strip_prefix("- ")?;
    let by = by.split([' ', '[']).next()?;
    let text = format!(
        "CONFIG_{by} selects CONFIG_{option}, of which not all that it depends on is on: unmet direct dependencies"
    );
    Some(empty(Tool::Kbuild, Severity::Warning, &text))
}

fn empty(tool: Tool, severity: Severity, text: &str) -> Diagnostic {
    Diagnostic {
        tool,
        severity,
        kind: String::new(),
        file: String::new(),
        line: 0,
        column: 0,
        function: String::new(),
        text: text.trim().to_owned(),
        at: 0,
    }
}

/// `fs/x.c: In function 'f':` → `f`; `At top level:` → nothing.
fn context(line: &str) -> Option<String> {
    if line.starts_with(' ') {
        return None;
    }
    if line.ends_with(": At top level:") {
        return Some(String::new());
    }
    let begin = [": In function '", ": In member function '", "In function '"];
    let (_, rest) = begin.iter().find_map(|begin| line.split_once(begin))?;
    let end = rest.find('\'')?;
    let after = rest.get(end + 1..)?;
    matches!(after, ":" | ",").then(|| rest.get(..end).unwrap_or_default().to_owned())
}

/// `fs/x.c:12:3: warning: text [-Wkind]`
fn placed(line: &str, tool: Tool, root: &str, function: &str) -> Option<Diagnostic> {
    let words = [
        (": warning: ", Severity::Warning),
        (": error: ", Severity::Error),
        (": fatal error: ", Severity::Error),
        (": sorry, unimplemented: ", Severity::Error),
        (": Error: ", Severity::Error),
        (": Warning: ", Severity::Warning),
        (": internal compiler error: ", Severity::Error),
    ];
    let all = words.iter();
    let found = all.filter_map(|(word, severity)| Some((line.find(word)?, word, severity)));
    let (at, word, severity) = found.min_by_key(|(at, ..)| *at)?;
    let (place, text) = (line.get(..at)?, line.get(at + word.len()..)?);
    let mut parts = place.rsplitn(3, ':');
    let last = parts.next()?;
    let (file, line, column) = match (parts.next(), parts.next(), number(last)) {
        (Some(middle), Some(file), Some(column)) if number(middle).is_some() => {
            (file, number(middle)?, column)
        }
        (Some(file), None, Some(line)) => (file, line, 0),
        (Some(_), Some(_), Some(line)) => (place.rsplit_once(':')?.0, line, 0),
        _ => return None,
    };
    let (text, kind) = kind_of(text);
    Some(Diagnostic {
        kind,
        file: short(file, root),
        line,
        column,
        function: function.to_owned(),
        ..empty(tool, *severity, text)
    })
}

fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
    let fold = |all: u32, byte: u8| {
        all.saturating_mul(10)
            .saturating_add(u32::from(byte - b'0'))
    };
    digits.then(|| text.bytes().fold(0, fold))
}

/// `text [-Wkind]` apart; `-Werror=kind` is the same kind.
fn kind_of(text: &str) -> (&str, String) {
    let Some((before, flag)) = text.rsplit_once(" [-W") else {
        return (text, String::new());
    };
    match flag.strip_suffix(']') {
        Some(flag) => {
            let flag = flag
                .trim_start_matches("error=")
                .trim_start_matches("error,-W");
            (before, flag.to_owned())
        }
        None => (text, String::new()),
    }
}

/// A path as the tree has it.
fn short(file: &str, root: &str) -> String {
    let below = file
        .strip_prefix(root)
        .map(|below| below.trim_start_matches('/'));
    below.unwrap_or(file).trim_start_matches("./").to_owned()
}

/// `fs/x.o: warning: objtool: f+0x12: text`
fn objtool(line: &str) -> Option<Diagnostic> {
    let (object, rest) = line.split_once(": ")?;
    let (severity, rest) = match rest.split_once(": objtool: ")? {
        ("warning", rest) => (Severity::Warning, rest),
        ("error", rest) => (Severity::Error, rest),
        _ => return None,
    };
    let (place, text) = match rest.split_once(": ") {
        Some((place, text)) if !place.contains(' ') => (place, text),
        _ => ("", rest),
    };
    let function = place.split('+').next().unwrap_or_default();
    Some(Diagnostic {
        file: object.to_owned(),
        function: function.to_owned(),
        ..empty(Tool::Objtool, severity, text)
    })
}

/// `fs/x.o: warning: objtool:   f+0x12: (alt)`: a step of the way on which objtool
/// found what it said last, the object and the step's place (tools/objtool's `BT_INSN`,
/// asked for by --backtrace). Its own words begin where these are indented.
fn trace(line: &str) -> Option<(&str, &str)> {
    let (object, rest) = line.split_once(": ")?;
    let step = rest.split_once(": objtool:   ")?.1;
    let (place, _) = step.split_once(": ")?;
    (!place.contains(' ')).then_some((object, place))
}

/// `ERROR: modpost: "f" [x.ko] undefined!`, `WARNING: modpost: …`
fn modpost(line: &str) -> Option<Diagnostic> {
    let (severity, text) = match line.split_once(": modpost: ")? {
        ("ERROR", text) => (Severity::Error, text),
        ("WARNING", text) => (Severity::Warning, text),
        _ => return None,
    };
    Some(empty(Tool::Modpost, severity, text))
}

/// `tollgate gates: f: text [rule]`, as a job writes what `tollgate gates` finds.
fn gates(line: &str) -> Option<Diagnostic> {
    let rest = line.strip_prefix("tollgate gates: ")?;
    let (function, rest) = rest.split_once(": ")?;
    let (text, rule) = rest.strip_suffix(']')?.rsplit_once(" [")?;
    Some(Diagnostic {
        kind: rule.to_owned(),
        function: function.to_owned(),
        ..empty(Tool::Gates, Severity::Warning, text)
    })
}

/// Words without a place: of the driver of a compiler, of the linker, of make.
fn bare(line: &str, tool: Tool) -> Option<Diagnostic> {
    let rest = match line.split_once(": ") {
        Some((program, rest)) if is_program(program) => rest,
        _ => line,
    };
    let pairs = [
        ("error: ", Severity::Error),
        ("fatal error: ", Severity::Error),
        ("warning: ", Severity::Warning),
    ];
    if let Some((text, severity)) = pairs
        .iter()
        .find_map(|(word, s)| Some((rest.strip_prefix(word)?, s)))
    {
        let (text, kind) = kind_of(text);
        return Some(Diagnostic {
            kind,
            ..empty(tool, *severity, text)
        });
    }
    let kbuild = line.contains("*** ")
        && !line.contains("] Error ")
        && !line.contains("] Killed")
        && !line.contains(" Waiting for unfinished")
        && !line.contains("*** Deleting file ");
    let kbuild = kbuild || line.contains(": syntax error");
    let warned = line.contains(":warning: ");
    (kbuild || warned).then(|| {
        let severity = match warned {
            true => Severity::Warning,
            false => Severity::Error,
        };
        empty(Tool::Kbuild, severity, line)
    })
}

/// Whether a program names itself so, by whatever name it is called: `cc1`,
/// `s390x-linux-gnu-gcc-12`, `/usr/bin/ld.lld`; a file that a compiler reads or writes is
/// none.
fn is_program(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.' | '/');
    let is_file = |end: &str| name.ends_with(end);
    let files = [".c", ".h", ".S", ".s", ".o", ".a", ".ko", ".lds"];
    name.chars().all(is_plain) && !files.into_iter().any(is_file)
}

/// A text without the numbers that name a place: `file.c:12:3`, `+0x1f`, the counters
/// at the end of names that the kernel's macros make (`__compiletime_assert_123`).
fn placeless(text: &str) -> String {
    let word = |word: &str| {
        let end = word.trim_end_matches([',', ';', ')', '\'', '"', ':', '.']);
        let (own, tail) = word.split_at(end.len());
        let own = match own.split_once("+0x") {
            Some((name, _)) => name,
            None => own,
        };
        let made = own.trim_start_matches(['\'', '"', '(']).starts_with("__");
        let placed = own.contains(':') || own.contains("0x");
        let bare = match made || placed {
            true => own.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':'),
            false => own,
        };
        format!("{bare}{tail}")
    };
    let words: Vec<String> = text.split_whitespace().map(word).collect();
    let mut text = words.join(" ");
    for before in [" at line ", " on line "] {
        if let Some((start, rest)) = text.split_once(before) {
            text = format!(
                "{start}{before}{}",
                rest.trim_start_matches(|c: char| c.is_ascii_digit())
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A compiler that is called by the name of its machine named nothing that was heard.
    #[test]
    fn what_a_driver_says_is_heard_by_whatever_name_it_has() {
        let of = |line: &str| {
            let all = read(line, Tool::Gcc, "/t");
            all.iter()
                .map(|one| (one.severity, one.text.clone()))
                .collect::<Vec<_>>()
        };
        let unknown = "unrecognized command-line option '-fx'".to_owned();
        for program in ["gcc", "s390x-linux-gnu-gcc-12", "/usr/bin/clang-19", "cc1"] {
            let line = format!("{program}: error: unrecognized command-line option '-fx'");
            assert_eq!(of(&line), [(Severity::Error, unknown.clone())]);
        }
        assert_eq!(of("cc1: all warnings being treated as errors"), []);
        assert_eq!(of("fs/a.o: error: x"), []);
    }

    const SAID: &str = "\
In file included from /t/sound/core/pcm_native.c:4033:
/t/sound/core/pcm_compat.c: In function 'snd_pcm_ioctl_sync_ptr_x32':
/t/sound/core/pcm_compat.c:473:70: error: macro \"unsafe_put_user\" requires 3 arguments, but only 2 given
  473 |         unsafe_put_user(scontrol.avail_min, &src->c.control.avail_min), Efault_wr);
      |                                                                      ^
/t/arch/x86/include/asm/uaccess.h:532: note: macro \"unsafe_put_user\" defined here
/t/sound/core/pcm_compat.c:473:71: warning: left-hand operand of comma expression has no effect [-Wunused-value]
sound/core/pcm_native.o: warning: objtool: snd_x+0x12: call to f() with UACCESS enabled
ERROR: modpost: \"snd_y\" [sound/core/snd-pcm.ko] undefined!
WARNING: modpost: sound/core/snd: section mismatch in reference: f+0x1c (section: .text) -> g (section: .init.text)
tollgate gates: snd_z: call with the window open of f [call-in-window]
WARNING: unmet direct dependencies detected for IIO_BUFFER_HW_CONSUMER
  Depends on [n]: IIO [=n] && IIO_BUFFER [=n]
  Selected by [y]:
  - GLOB_SELFTEST [=y] && RUNTIME_TESTING_MENU [=y]
  - OTHER [=y]
/t/lib/x.c:9:1: error: call to '__compiletime_assert_171' declared with attribute error: BUILD_BUG_ON failed: 1
";

    #[test]
    fn each_tool_is_read() {
        let found = read(SAID, Tool::Gcc, "/t");
        let short: Vec<String> = found
            .iter()
            .map(|one| {
                format!(
                    "{} {} {}:{}:{} {:?} [{}] {}",
                    one.tool.name(),
                    one.severity.name(),
                    one.file,
                    one.line,
                    one.column,
                    one.function,
                    one.kind,
                    one.text
                )
            })
            .collect();
        insta::assert_snapshot!(short.join("\n"));
    }

    /// The steps were said to be findings without a function.
    #[test]
    fn a_backtrace_names_the_function_of_a_replacement() {
        let said = "\
fs/x.o: warning: objtool: .altinstr_replacement+0x4: redundant UACCESS disable
fs/x.o: warning: objtool:   .altinstr_aux+0x2: (branch)
fs/x.o: warning: objtool:   f+0x1f: (alt)
fs/x.o: warning: objtool:   g+0x2: (branch)
fs/y.o: warning: objtool: h+0x3: return with UACCESS enabled
fs/y.o: warning: objtool:   i+0x9: <=== (sym)
";
        let found = read(said, Tool::Gcc, "");
        let short: Vec<_> = found
            .iter()
            .map(|one| (one.function.as_str(), one.at))
            .collect();
        assert_eq!(short, [("f", 0), ("h", 4)]);
    }

    #[test]
    fn a_line_that_moved_is_not_new_and_one_that_replaces_another_is() {
        let before = read(SAID, Tool::Gcc, "/t");
        let moved = SAID
            .replace("473:", "513:")
            .replace("0x12", "0xff")
            .replace("0x1c", "0x2c")
            .replace("assert_171", "assert_9");
        assert_eq!(
            fresh(&before, &read(&moved, Tool::Gcc, "/t")),
            Vec::<&Diagnostic>::new()
        );
        let other = SAID.replace(
            "left-hand operand of comma expression has no effect [-Wunused-value]",
            "unused variable 'x' [-Wunused-variable]",
        );
        let other = read(&other, Tool::Gcc, "/t");
        let new = fresh(&before, &other);
        assert_eq!(
            new.iter().map(|one| one.kind.as_str()).collect::<Vec<_>>(),
            ["unused-variable"]
        );
    }

    #[test]
    fn what_was_said_of_a_function_is_not_new_under_its_new_name() {
        let said = "x.c: In function 'old':\nx.c:1:2: warning: 'old' is odd, not 'older' [-Wa]\n";
        let before = read(said, Tool::Gcc, "");
        let after = read(&said.replace("'old'", "'new'"), Tool::Gcc, "");
        assert_eq!(fresh(&before, &after).len(), 1);
        let names = BTreeMap::from([("new".to_owned(), "old".to_owned())]);
        assert!(fresh_of(&before, &after, &names).is_empty());
        let more = read(
            &said.replace("'old'", "'new'").replace("odd", "even"),
            Tool::Gcc,
            "",
        );
        assert_eq!(fresh_of(&before, &more, &names).len(), 1);
    }

    #[test]
    fn the_same_once_more_is_new() {
        let once = "x.c: In function 'f':\nx.c:1:2: warning: a [-Wa]\n";
        let twice = format!("{once}x.c:9:2: warning: a [-Wa]\n");
        let (before, after) = (read(once, Tool::Gcc, ""), read(&twice, Tool::Gcc, ""));
        assert_eq!(fresh(&before, &after).len(), 1);
        assert_eq!(fresh(&after, &before).len(), 0);
    }

    #[test]
    fn a_function_ends_with_the_next_context() {
        let said = "x.c: In function 'f':\nx.c:1:2: warning: a\nx.c: At top level:\nx.c:3:1: warning: 'g' defined but not used [-Wunused-function]\n";
        let found = read(said, Tool::Gcc, "");
        assert_eq!(
            found
                .iter()
                .map(|one| one.function.as_str())
                .collect::<Vec<_>>(),
            ["f", ""]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z/.]{0,6}(:[0-9]{0,3}){0,2}(: warning: |: error: |: modpost: |: objtool: |: In function ')?[a-zé '\\[\\]+0x:-]{0,20}\n){0,12}") {
            let found = read(&text, Tool::Gcc, "/t");
            prop_assert!(fresh(&found, &found).is_empty());
        }
    }
}
