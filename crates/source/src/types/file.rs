//! What a file defines: types, constants and macros, with the `#if`s around them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tollgate_defect::answer;

use memchr::memmem;

use crate::lex::{Token, TokenKind, lex};
use crate::path::TreePath;
use crate::span::Span;

use super::prototypes::{Declared, functions};
use super::sought::{Marks, Sought, hash};
use super::words::{begins_line, directive, is_loud, name_at, name_before, spelled};

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A struct, union or enum.
    Tag,
    /// A typedef.
    Typedef,
    /// One of the values of an enum.
    Enumerator,
    /// A macro.
    Macro,
}

/// What a single word may be that stands for a type.
pub(super) const TYPES: &[Kind] = &[Kind::Typedef, Kind::Macro];

/// One definition of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// Where its statement, or its line, begins.
    pub(super) at: usize,
}

/// What the text around a word says of it.
enum Shown {
    Not,
    Defined(Entry),
    Perhaps,
}

/// A side of an `#if`.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The branch around it.
    pub(super) parent: Option<usize>,
    /// The lines that begin the sides before it.
    pub(super) earlier: Vec<Span>,
    /// The line that begins it.
    pub(super) own: Span,
    /// Whether it keeps a file, or a definition, from being read twice.
    pub(super) guard: bool,
}

/// A line that includes a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    pub(super) name: String,
    pub(super) quoted: bool,
    pub(super) branch: Option<usize>,
}

/// A file with the names that it defines.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: TreePath,
    pub(super) text: Vec<u8>,
    pub(super) branches: Vec<Branch>,
    pub(super) includes: Vec<Include>,
    /// Where another branch begins, with its index.
    turns: Vec<(usize, Option<usize>)>,
    /// Places of `#pragma pack` with the limit from there on, in bytes.
    packs: Vec<(usize, Option<u64>)>,
    /// The lines that define macros, by what their names are hashed to.
    defines: Vec<(u64, Span)>,
    /// Which of those there may be.
    defined: Marks,
    /// What it defines: read when one of the names is asked for.
    names: OnceLock<Names>,
    /// Whether the words stand in it that typedefs and enumerators begin with.
    keywords: [OnceLock<bool>; 2],
    /// How often its text was searched for a name.
    searches: AtomicUsize,
    /// The functions that it declares: read when one is asked for.
    functions: OnceLock<Vec<Declared>>,
    /// What it includes, by machine.
    pub(super) included: Mutex<Vec<(usize, Included)>>,
}

/// Searches of a text that cost about as much as reading it whole.
const SEARCHES: usize = 24;

/// A definition of a name.
#[derive(Clone, Copy, Debug)]
struct Defined {
    /// What the tag and the word of the name are hashed to.
    hash: u64,
    /// `struct`, `union` or `enum`; empty for what is no tag.
    tag: &'static str,
    word: Span,
    entry: Entry,
}

/// Definitions of a file.
#[derive(Debug, Default)]
struct Names {
    /// By the hash of their names, those of one name in their order.
    all: Vec<Defined>,
    /// Which of those hashes there may be.
    marks: Marks,
}

/// The headers that one file includes.
pub(super) type Included = Arc<[Arc<File>]>;

impl File {
    /// Reads what a file defines. Any bytes give an answer.
    pub(super) fn new(path: TreePath, text: Vec<u8>) -> Self {
        let mut lines = Lines::new(&text);
        let mut end = 0;
        for at in memchr::memchr_iter(b'#', &text) {
            let line = (at >= end)
                .then(|| begins_line(&text, at))
                .filter(|begins| *begins);
            if let Some(token) = line.and_then(|_| lex(&text, at).next()) {
                end = token.span.end;
                lines.line(token.span);
            }
        }
        lines.defines.sort_unstable();
        Self {
            defined: Marks::of(lines.defines.iter().map(|(hash, _)| *hash)),
            defines: lines.defines,
            branches: lines.branches,
            turns: lines.turns,
            includes: lines.includes,
            packs: lines.packs,
            names: OnceLock::new(),
            keywords: Default::default(),
            searches: AtomicUsize::new(0),
            functions: OnceLock::new(),
            path,
            included: Mutex::default(),
            text,
        }
    }

    /// Every definition of a name as one of some kinds; a tag's name is `struct x`.
    /// The whole file is only read where its text alone does not say, or where that
    /// was searched often.
    pub(super) fn entries(&self, name: Sought<'_>, kinds: &[Kind]) -> Vec<Entry> {
        if kinds == [Kind::Macro] {
            return self.macros(name);
        }
        if self.names.get().is_some() {
            return self.read(name, kinds);
        }
        if !kinds.iter().any(|kind| self.may_define(*kind)) {
            return Vec::new();
        }
        if self.searches.fetch_add(1, Ordering::Relaxed) >= SEARCHES {
            return self.read(name, kinds);
        }
        let mut found = match kinds.contains(&Kind::Macro) {
            true => self.macros(name),
            false => Vec::new(),
        };
        let Sought { tag, word, .. } = name;
        for at in memmem::find_iter(&self.text, word.as_bytes()) {
            match self.shown(at, tag, word) {
                Shown::Not => {}
                Shown::Defined(entry) => found.push(entry),
                Shown::Perhaps => return self.read(name, kinds),
            }
        }
        found
    }

    /// Whether it may define anything of a kind.
    fn may_define(&self, kind: Kind) -> bool {
        let [typedef, enumerated] = &self.keywords;
        let holds = |word: &str| memmem::find(&self.text, word.as_bytes()).is_some();
        match kind {
            Kind::Macro => !self.defines.is_empty(),
            Kind::Tag => true,
            Kind::Typedef => *typedef.get_or_init(|| holds("typedef")),
            Kind::Enumerator => *enumerated.get_or_init(|| holds("enum")),
        }
    }

    /// The same from all that the file defines.
    fn read(&self, name: Sought<'_>, kinds: &[Kind]) -> Vec<Entry> {
        let names = self.names.get_or_init(|| Reader::names(&self.text));
        let Sought { tag, word, hash } = name;
        if !names.marks.may_hold(hash) {
            return Vec::new();
        }
        let first = names.all.partition_point(|own| own.hash < hash);
        let all = names.all.get(first..).into_iter().flatten();
        let same = all.take_while(|own| own.hash == hash);
        let own = same.filter(|own| own.tag == tag && own.word.of(&self.text) == word.as_bytes());
        let mut found: Vec<Entry> = own.map(|own| own.entry).collect();
        found.dedup_by_key(|entry| entry.at);
        found.retain(|entry| kinds.contains(&entry.kind));
        found
    }

    /// The lines that define a macro.
    fn macros(&self, name: Sought<'_>) -> Vec<Entry> {
        let Sought { tag, word, hash } = name;
        if !tag.is_empty() || !self.defined.may_hold(hash) {
            return Vec::new();
        }
        let first = self.defines.partition_point(|(own, _)| *own < hash);
        let all = self.defines.get(first..).unwrap_or_default().iter();
        let same = all.take_while(|(own, _)| *own == hash);
        let places = same.filter(|(_, line)| {
            let (_, behind) = directive(&self.text, *line);
            name_at(&self.text, behind) == word.as_bytes() && !self.is_noted(line.start)
        });
        let kind = Kind::Macro;
        let entry = |(_, line): &(u64, Span)| Entry {
            kind,
            at: line.start,
        };
        places.map(entry).collect()
    }

    /// What the text around a word, which may be a tag, says of it.
    fn shown(&self, at: usize, tag: &str, word: &str) -> Shown {
        let before = self.text.get(..at).unwrap_or_default();
        let close = before.trim_ascii_end();
        let behind = self.text.get(at + word.len()..).unwrap_or_default();
        let next = behind.iter().find(|b| !b.is_ascii_whitespace());
        let next = next.copied().unwrap_or(b'}');
        let whole = name_at(&self.text, at).len() == word.len()
            && before.last().is_none_or(|b| name_at(&[*b], 0).is_empty());
        let outer = close.strip_suffix(tag.as_bytes());
        // `struct __packed s {`, `struct __aligned(8) s {`
        let ends = || close.ends_with(b")") || is_loud(name_before(close));
        match outer.filter(|_| !tag.is_empty()) {
            _ if !whole => Shown::Not,
            Some(outer) if next == b'{' && self.is_noted(outer.len()) => Shown::Not,
            Some(outer) if next == b'{' => Shown::Defined(Entry {
                kind: Kind::Tag,
                at: outer.len(),
            }),
            None if !tag.is_empty() && !ends() => Shown::Not,
            _ if !tag.is_empty() => match b"{_/".contains(&next) || next.is_ascii_uppercase() {
                true => Shown::Perhaps,
                false => Shown::Not,
            },
            // The last word of a typedef, or one of the values of an enum.
            _ if b";,[_=}/#".contains(&next) => Shown::Perhaps,
            _ if next == b')' && close.ends_with(b"*") => Shown::Perhaps,
            _ if next == b'(' && close.last().is_some_and(ends_type) => Shown::Perhaps,
            _ => Shown::Not,
        }
    }

    /// The functions that it declares, which are looked for once.
    pub(super) fn functions(&self) -> &[Declared] {
        self.functions.get_or_init(|| functions(&self.text))
    }

    /// Whether a place is in a comment.
    pub(super) fn is_noted(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit(|byte| *byte == b'\n').next();
        let behind = line.is_some_and(|line| memmem::find(line, b"//").is_some());
        behind
            || memmem::rfind(before, b"/*").is_some_and(|open| {
                let rest = before.get(open + 2..).unwrap_or_default();
                memmem::find(rest, b"*/").is_none()
            })
    }

    /// Which branch of an `#if` a place is in.
    pub(super) fn branch(&self, at: usize) -> Option<usize> {
        let before = self.turns.partition_point(|(place, _)| *place <= at);
        self.turns.get(before.checked_sub(1)?)?.1
    }

    /// What it includes on a machine, which is looked up once.
    pub(super) fn included(&self, machine: usize, look: impl FnOnce() -> Included) -> Included {
        let lock = || self.included.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |all: &[(usize, Included)]| {
            let own = all.iter().find(|(own, _)| *own == machine);
            own.map(|(_, included)| Arc::clone(included))
        };
        if let Some(known) = known(&lock()) {
            return known;
        }
        let found = look();
        lock().push((machine, Arc::clone(&found)));
        found
    }

    /// The largest alignment that members have at a place, if it is limited.
    pub(super) fn pack(&self, at: usize) -> Option<u64> {
        let before = self.packs.partition_point(|(place, _)| *place < at);
        self.packs.get(before.checked_sub(1)?)?.1
    }
}

/// Whether a byte may end the type that a function gives.
fn ends_type(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*')
}

/// `struct`, `union` or `enum` whose tag or brace is yet to come.
struct Opened {
    word: &'static str,
    at: usize,
    tag: Option<Span>,
    /// Parentheses of an attribute that are open.
    parentheses: usize,
}

/// A `typedef` that has not ended.
struct Renaming {
    at: usize,
    depth: usize,
    /// How much of the type was read.
    typed: Typed,
    /// The last word behind the first of the type.
    last: Option<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    Not,
    /// A tag or a brace follows.
    Tag,
    Done,
}

/// The values of an enum that has not ended.
struct Values {
    at: usize,
    depth: usize,
    /// Whether the next word is a value's name.
    named: bool,
}

/// Reads the lines of the preprocessor.
struct Lines<'t> {
    text: &'t [u8],
    branches: Vec<Branch>,
    branch: Option<usize>,
    turns: Vec<(usize, Option<usize>)>,
    includes: Vec<Include>,
    packs: Vec<(usize, Option<u64>)>,
    pushed: Vec<Option<u64>>,
    defines: Vec<(u64, Span)>,
    /// The name of the last line and where that ends, if it was `#ifndef`.
    asked: (&'t [u8], usize),
}

/// Reads what is defined.
struct Reader<'t> {
    text: &'t [u8],
    names: Vec<Defined>,
    depth: usize,
    /// Parentheses and brackets that are open.
    parentheses: usize,
    opened: Option<Opened>,
    renaming: Option<Renaming>,
    values: Option<Values>,
    before: Option<Token>,
}

impl<'t> Reader<'t> {
    fn names(text: &'t [u8]) -> Names {
        let mut reader = Self {
            text,
            names: Vec::new(),
            depth: 0,
            parentheses: 0,
            opened: None,
            renaming: None,
            values: None,
            before: None,
        };
        for token in lex(text, 0).filter(|token| token.kind != TokenKind::Comment) {
            reader.token(token);
        }
        let mut all = reader.names;
        all.sort_by_key(|own| own.hash);
        let marks = Marks::of(all.iter().map(|own| own.hash));
        Names { all, marks }
    }

    fn add(&mut self, tag: &'static str, word: Span, kind: Kind, at: usize) {
        self.names.push(Defined {
            hash: hash(tag.as_bytes(), word.of(self.text)),
            tag,
            word,
            entry: Entry { kind, at },
        });
    }

    fn token(&mut self, token: Token) {
        if token.kind == TokenKind::Directive {
            let (word, behind) = directive(self.text, token.span);
            if word == b"define" {
                let end = behind + name_at(self.text, behind).len();
                self.add("", Span::new(behind, end), Kind::Macro, token.span.start);
            }
            return;
        }
        self.tag(&token);
        self.typedef(&token);
        self.value(&token);
        match token.kind {
            TokenKind::Punct(b';') if self.depth == 0 => self.parentheses = 0,
            TokenKind::Punct(b'{') => self.depth += 1,
            TokenKind::Punct(b'}') => self.depth = self.depth.saturating_sub(1),
            TokenKind::Punct(b'(' | b'[') => self.parentheses += 1,
            TokenKind::Punct(b')' | b']') => self.parentheses = self.parentheses.saturating_sub(1),
            _ => {}
        }
        self.before = Some(token);
    }

    /// `struct x {`, with attributes anywhere before the brace.
    fn tag(&mut self, token: &Token) {
        let word = match token.span.of(self.text) {
            b"struct" => Some("struct"),
            b"union" => Some("union"),
            b"enum" => Some("enum"),
            _ => None,
        };
        if let Some(word) = word {
            self.opened = Some(Opened {
                word,
                at: token.span.start,
                tag: None,
                parentheses: 0,
            });
            return;
        }
        let Some(opened) = &mut self.opened else {
            return;
        };
        match token.kind {
            // `struct s f(int x) {` is a function; `struct __aligned(8) s {` is not.
            TokenKind::Punct(b'(') => match opened.tag {
                Some(tag) if opened.parentheses == 0 && !is_loud(tag.of(self.text)) => {
                    self.opened = None;
                }
                _ => opened.parentheses += 1,
            },
            TokenKind::Punct(b')') if opened.parentheses > 0 => opened.parentheses -= 1,
            _ if opened.parentheses > 0 => {}
            TokenKind::Word => opened.tag = Some(token.span),
            TokenKind::Punct(b'{') => self.defined(),
            _ => self.opened = None,
        }
    }

    fn defined(&mut self) {
        let Some(opened) = self.opened.take() else {
            return;
        };
        if let Some(tag) = opened.tag {
            self.add(opened.word, tag, Kind::Tag, opened.at);
        }
        if opened.word == "enum" {
            self.parentheses = 0;
            self.values = Some(Values {
                at: opened.at,
                depth: self.depth + 1,
                named: false,
            });
        }
    }

    /// Names before what ends a declarator of a typedef. Other words may be
    /// among them: who looks one up reads the statement.
    fn typedef(&mut self, token: &Token) {
        if token.span.of(self.text) == b"typedef" {
            self.renaming = Some(Renaming {
                at: token.span.start,
                depth: self.depth,
                typed: Typed::Not,
                last: None,
            });
            self.parentheses = 0;
            return;
        }
        let Some(renaming) = &mut self.renaming else {
            return;
        };
        if self.depth != renaming.depth {
            return;
        }
        let (at, last) = (renaming.at, renaming.last);
        let starred = self.before.is_some_and(|t| t.is(b'*'));
        match token.kind {
            TokenKind::Punct(b'{') => renaming.typed = Typed::Done,
            TokenKind::Word if renaming.typed != Typed::Done => {
                renaming.typed = match token.span.of(self.text) {
                    b"const" | b"volatile" => return,
                    b"struct" | b"union" | b"enum" => Typed::Tag,
                    _ => Typed::Done,
                };
            }
            TokenKind::Word => {
                let attribute = token.span.of(self.text).starts_with(b"__");
                let pointer = self.parentheses == 1 && starred;
                if self.parentheses == 0 {
                    renaming.last = Some(token.span);
                }
                let name = match () {
                    () if pointer => Some(token.span),
                    () if attribute && self.parentheses == 0 => last,
                    () => None,
                };
                self.renamed(name, at);
            }
            TokenKind::Punct(b';' | b',' | b'[') if self.parentheses == 0 => {
                if token.is(b';') {
                    self.renaming = None;
                }
                self.renamed(last, at);
            }
            TokenKind::Punct(b'(') if self.parentheses == 0 => self.renamed(last, at),
            _ => {}
        }
    }

    fn renamed(&mut self, name: Option<Span>, at: usize) {
        if let Some(name) = name {
            self.add("", name, Kind::Typedef, at);
        }
    }

    fn value(&mut self, token: &Token) {
        let Some(values) = &mut self.values else {
            return;
        };
        let inside = values.depth == self.depth && self.parentheses == 0;
        match token.kind {
            TokenKind::Punct(b'{') => values.named = values.depth == self.depth + 1,
            TokenKind::Punct(b'}') if values.depth == self.depth => self.values = None,
            TokenKind::Punct(b',') if inside => values.named = true,
            TokenKind::Word if values.named && inside => {
                let at = values.at;
                values.named = false;
                self.add("", token.span, Kind::Enumerator, at);
            }
            _ => values.named &= !inside,
        }
    }
}

impl<'t> Lines<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            branches: Vec::new(),
            branch: None,
            turns: Vec::new(),
            includes: Vec::new(),
            packs: Vec::new(),
            pushed: Vec::new(),
            defines: Vec::new(),
            asked: (b"", 0),
        }
    }

    fn line(&mut self, line: Span) {
        let (word, behind) = directive(self.text, line);
        let asked = std::mem::take(&mut self.asked);
        match word {
            b"define" => self.define(line, behind, asked),
            b"include" => self.include(line, behind),
            b"pragma" => self.pragma(line, behind),
            b"if" | b"ifdef" | b"ifndef" => {
                self.enter(self.branch, Vec::new(), line);
                if word == b"ifndef" {
                    self.asked = (name_at(self.text, behind), line.end);
                }
            }
            b"elif" | b"else" => self.other_side(line),
            b"endif" => {
                self.branch = self.current().and_then(|branch| branch.parent);
                self.turns.push((line.start, self.branch));
            }
            _ => {}
        }
    }

    fn current(&self) -> Option<&Branch> {
        self.branches.get(self.branch?)
    }

    fn enter(&mut self, parent: Option<usize>, earlier: Vec<Span>, own: Span) {
        self.branch = Some(self.branches.len());
        self.turns.push((own.start, self.branch));
        self.branches.push(Branch {
            parent,
            earlier,
            own,
            guard: false,
        });
    }

    fn other_side(&mut self, line: Span) {
        let Some(before) = self.current() else {
            return;
        };
        let (parent, mut earlier) = (before.parent, before.earlier.clone());
        earlier.push(before.own);
        self.enter(parent, earlier, line);
    }

    /// The name behind `#ifndef` makes a guard of it, if only comments and blanks
    /// stand between.
    fn define(&mut self, line: Span, behind: usize, asked: (&[u8], usize)) {
        let name = name_at(self.text, behind);
        self.defines.push((hash(b"", name), line));
        let same = !asked.0.is_empty() && name == asked.0;
        let mut between = lex(self.text, asked.1);
        if same
            && between
                .find(|t| t.kind != TokenKind::Comment)
                .map(|t| t.span)
                == Some(line)
            && let Some(branch) = self.branch.and_then(|at| self.branches.get_mut(at))
        {
            branch.guard = true;
        }
    }

    fn include(&mut self, line: Span, behind: usize) {
        let found = spelled(Span::new(behind, line.end).of(self.text));
        let branch = self.branch;
        self.includes.extend(found.map(|(name, quoted)| Include {
            name,
            quoted,
            branch,
        }));
    }

    /// `#pragma pack(push, 1)`
    fn pragma(&mut self, line: Span, behind: usize) {
        let rest = Span::new(behind, line.end).text(self.text);
        let Some(rest) = rest.trim().strip_prefix("pack") else {
            return;
        };
        let inside = rest.trim().trim_start_matches('(');
        let inside = inside.split(')').next().unwrap_or_default();
        let now = self.packs.last().and_then(|(_, limit)| *limit);
        let mut limit = None;
        for word in inside.split(',').map(str::trim) {
            match word {
                "push" => {
                    self.pushed.push(now);
                    limit = now;
                }
                "pop" => limit = self.pushed.pop().flatten(),
                number => limit = answer::number(number),
            }
        }
        self.packs.push((line.start, limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the two ways of looking have to agree on.
    const HARD: &str = "typedef struct a *(*give_t)(int);\n\
        typedef struct b *flat_t(void), word_t;\nstruct c f(int x) {\n}\n\
        enum d g(void)\n{\n\treturn ONE;\n}\nenum { ONE, TWO = 2 } e;\n\
        struct __packed h { int ONE_of; };\nstruct __aligned(8) i {\n};\n\
        #define j(x) x\n/* #define k 1 */\ntypedef union { int l; } m, *n;\n";

    /// That, the C files of the tests and of the guest, and those of a folder that may be named.
    fn samples() -> Vec<Vec<u8>> {
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![top.join("tests"), top.join("guest")];
        let own = std::env::var_os("TOLLGATE_TYPES_OF").map(Into::into);
        folders.extend(own);
        let mut found = vec![HARD.into()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "h" || end == "c") {
                    found.push(std::fs::read(path).unwrap());
                }
            }
        }
        found
    }

    fn kinds(of: &[Entry]) -> Vec<(usize, usize)> {
        let mut all: Vec<_> = of
            .iter()
            .map(|entry| (entry.kind as usize, entry.at))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn a_search_finds_what_a_reading_of_the_whole_does() {
        let sets: [&[Kind]; 4] = [
            &[Kind::Tag],
            &[Kind::Typedef],
            TYPES,
            &[Kind::Macro, Kind::Enumerator],
        ];
        let mut asked = 0;
        for text in samples() {
            let whole = File::new(TreePath::top(), text.clone());
            for own in Reader::names(&text).all {
                let name = format!("{} {}", own.tag, own.word.text(&text));
                let name = name.trim_start();
                for set in sets {
                    if name.contains(" ") != (set == [Kind::Tag]) {
                        continue;
                    }
                    let fresh = File::new(TreePath::top(), text.clone());
                    let sought = Sought::of(name);
                    let (found, read) = (fresh.entries(sought, set), whole.read(sought, set));
                    let lines = String::from_utf8_lossy(&text);
                    assert_eq!(
                        kinds(&found),
                        kinds(&read),
                        "{name} as {set:?} in\n{lines:.400}"
                    );
                    asked += 1;
                }
            }
        }
        assert!(asked > 100, "{asked} names");
    }
}
