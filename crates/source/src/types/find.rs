//! Where a name is defined for a file: itself, what needs no definition, the
//! headers that it includes, nearest first.

use std::sync::Arc;

use super::file::{Branch, Entry, File, Kind, TYPES};
use super::headers::Answer;
use super::input::{Input, Word};
use super::layout::LayoutError;
use super::machine::Machine;
use super::macros::Macro;
use super::query::Query;
use super::sought::Sought;
use super::words::{directive, is_loud, name_at};
use crate::lex::{TokenKind, lex};
use crate::path::TreePath;
use crate::span::Span;

/// A file whose text is read, and the one for which it is.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) file: Arc<File>,
    pub(super) root: Arc<File>,
}

impl Scope {
    /// Another file that is read for the same one.
    pub(super) fn with(&self, file: Arc<File>) -> Self {
        Self {
            file,
            root: Arc::clone(&self.root),
        }
    }
}

/// A definition and the file that holds it.
pub(super) struct Found {
    pub(super) scope: Scope,
    pub(super) entry: Entry,
}

/// Tokens of the longest statement that is read.
const STATEMENT: usize = 30_000;

/// What is looked for.
#[derive(Clone, Copy)]
struct Wanted<'w> {
    name: &'w str,
    kinds: &'w [Kind],
    /// Whether a macro counts that stands for nothing but its own name.
    any: bool,
    /// A file that is not looked at.
    but: Option<usize>,
}

impl<'w> Wanted<'w> {
    /// A name wherever it is defined as more than itself.
    fn of(name: &'w str, kinds: &'w [Kind]) -> Self {
        Self {
            name,
            kinds,
            any: false,
            but: None,
        }
    }
}

/// A name without a definition that counts.
fn unknown(name: &str, absent: bool) -> LayoutError {
    match absent {
        true => LayoutError::Absent(name.to_owned()),
        false => LayoutError::Missing(name.to_owned()),
    }
}

/// What a name may be in the file itself: no type if an index says that others define
/// such a one, and the file does not.
fn near<'k>(kinds: &'k [Kind], defining: &[&TreePath], scope: &Scope) -> &'k [Kind] {
    let elsewhere = !defining.is_empty() && !defining.contains(&&scope.file.path);
    match kinds {
        TYPES if elsewhere => &[Kind::Macro],
        _ if elsewhere && !kinds.contains(&Kind::Macro) => &[],
        _ => kinds,
    }
}

/// The file for its identity.
pub(super) fn id(file: &Arc<File>) -> usize {
    Arc::as_ptr(file).addr()
}

impl Query<'_> {
    /// Where a name is defined as one of those kinds.
    pub(super) fn find(
        &mut self,
        name: &str,
        kinds: &[Kind],
        scope: &Scope,
    ) -> Result<Found, LayoutError> {
        let wanted = Wanted::of(name, kinds);
        let found = self.search(wanted, scope)?;
        if !found.is_default(name) {
            return Ok(found);
        }
        // It counts only where nothing else defines the name.
        let own = &found.scope.file;
        let root = self.reader_of(own, wanted, scope);
        let root = scope.with(root.unwrap_or_else(|| Arc::clone(own)));
        let but = Some(id(&found.scope.file));
        match self.search(Wanted { but, ..wanted }, &root) {
            Ok(other) => Ok(other),
            Err(_) => Ok(found),
        }
    }

    fn search(&mut self, wanted: Wanted<'_>, scope: &Scope) -> Result<Found, LayoutError> {
        let name = wanted.name;
        self.work(name)?;
        self.cut = false;
        let mut absent = false;
        let prelude = Arc::clone(&self.types.headers.facts.prelude);
        // An index knows types alone.
        let of_types = wanted.kinds != [Kind::Macro];
        let defining = match of_types {
            true => self.types.defining(name),
            false => Vec::new(),
        };
        let own = Wanted {
            kinds: near(wanted.kinds, &defining, scope),
            ..wanted
        };
        for (file, wanted) in [(self.types.real(&scope.file), own), (prelude, wanted)] {
            if let Some(found) = self.among(&[file], wanted, scope, &mut absent) {
                return Ok(found);
            }
        }
        if let Some(candidates) = self.candidates(&defining, scope) {
            let files = self.files(candidates);
            if let Some(found) = self.among(&files, wanted, scope, &mut absent) {
                return Ok(found);
            }
            if wanted.kinds == [Kind::Tag] && is_settled(&defining, scope) {
                return Err(unknown(name, absent));
            }
        }
        let own = self.types.real(&scope.file);
        let mut found = self.remembered(Arc::clone(&own), wanted, scope, &mut absent);
        let root = match found {
            Some(_) => None,
            None => self.reader_of(&own, wanted, scope),
        };
        if let Some(root) = root.filter(|root| !Arc::ptr_eq(&own, root)) {
            // What the file includes, or defines, before it includes the header.
            let asked = Arc::ptr_eq(&root, &self.types.real(&scope.root));
            self.own += usize::from(asked);
            let first = std::slice::from_ref(&root);
            found = self.among(first, wanted, scope, &mut absent);
            found = found.or_else(|| self.remembered(root, wanted, scope, &mut absent));
        }
        if let Some(found) = found {
            return Ok(found);
        }
        Err(unknown(name, absent))
    }

    /// The file that a header is read for, and that may define what it lacks: the
    /// one that is asked about. What is generic is read for the architecture's own
    /// header of that name, and what programs get lacks no macro: each of those
    /// headers is compiled alone (usr/include/Makefile).
    fn reader_of(
        &self,
        header: &Arc<File>,
        wanted: Wanted<'_>,
        scope: &Scope,
    ) -> Option<Arc<File>> {
        let path = header.path.lossy();
        if path.contains("/asm-generic/") {
            let mut own = self.own_of(&header.path).into_iter();
            return own.find_map(|path| self.types.headers.file(&path));
        }
        let for_programs = || {
            let own = header.entries(Sought::of(wanted.name), wanted.kinds);
            !wanted.any && !own.is_empty()
        };
        let alone = path.contains("/uapi/") && wanted.kinds == [Kind::Macro] && !for_programs();
        (!alone).then(|| self.types.real(&scope.root))
    }

    fn files(&self, paths: Vec<&TreePath>) -> Vec<Arc<File>> {
        let headers = self.types.headers;
        let files = paths.into_iter();
        files.filter_map(|path| headers.file(path)).collect()
    }

    /// Of the files that define a type by an index the headers that a file may see, if
    /// there is one alone, or they are one for who includes them: in the place of a
    /// generic one the architecture's own. None if it may be any of several.
    fn candidates<'p>(
        &self,
        defining: &[&'p TreePath],
        scope: &Scope,
    ) -> Option<Vec<&'p TreePath>> {
        let near = |path: &&&TreePath| path.is_header() && self.is_near(path, &scope.root.path);
        let mut files: Vec<&TreePath> = defining.iter().filter(near).copied().collect();
        files.dedup();
        if files.len() > 1 {
            let all = files.clone();
            files.retain(|path| !all.iter().any(|own| self.is_own(own, path)));
        }
        let mut others = files.iter().skip(1);
        let same = others.all(|path| files.first().is_some_and(|first| is_same(first, path)));
        same.then_some(files)
    }

    /// Where an architecture may have its own header for a generic one.
    fn own_of(&self, path: &TreePath) -> Vec<TreePath> {
        let path = path.lossy();
        let Some((_, name)) = path.split_once("/asm-generic/") else {
            return Vec::new();
        };
        let arch = &self.machine.arch;
        let own = ["", "uapi/"].map(|uapi| format!("arch/{arch}/include/{uapi}asm/{name}"));
        let own = own.iter().skip(usize::from(self.machine.programs));
        own.map(|path| TreePath::within(path)).collect()
    }

    /// Whether a header is the architecture's own for a generic one.
    fn is_own(&self, path: &TreePath, generic: &TreePath) -> bool {
        let generic = generic.lossy();
        let named = generic.split_once("/asm-generic/").map(|(_, name)| name);
        named.is_some() && named == own_name(&path.lossy(), self.machine)
    }

    /// Whether a word may be a typedef: one that an index does not know, nor is
    /// spelled as most are, is taken for none.
    pub(super) fn may_be_typedef(&self, word: &str) -> bool {
        let defined =
            || self.types.headers.index.is_none() || !self.types.defining(word).is_empty();
        word.ends_with("_t") || defined() || self.is_given_type(word)
    }

    /// Whether a word is a type that no tree has to define.
    pub(super) fn is_given_type(&self, word: &str) -> bool {
        let prelude = &self.types.headers.facts.prelude;
        !prelude.entries(Sought::of(word), TYPES).is_empty()
    }

    /// Whether a word is a type that no tree has to define, and no macro.
    pub(super) fn is_given_typedef(&self, word: &str) -> bool {
        let prelude = &self.types.headers.facts.prelude;
        !prelude
            .entries(Sought::of(word), &[Kind::Typedef])
            .is_empty()
    }

    /// Whether code of a file may see what another defines: not that of another
    /// architecture, nor of programs.
    fn is_near(&self, path: &TreePath, root: &TreePath) -> bool {
        let mut parts = path.parts();
        match (parts.next(), parts.next()) {
            (Some(b"arch"), Some(arch)) => arch == self.machine.arch.as_bytes(),
            (Some(top @ (b"tools" | b"samples" | b"scripts" | b"Documentation")), _) => {
                root.parts().next() == Some(top)
            }
            _ => true,
        }
    }

    /// The nearest headers that define the name, as they were found before if no
    /// question can find them another way.
    fn remembered(
        &mut self,
        from: Arc<File>,
        wanted: Wanted<'_>,
        scope: &Scope,
        absent: &mut bool,
    ) -> Option<Found> {
        let types = self.types;
        let kinds = wanted.kinds.iter().map(|kind| 1 << *kind as usize).sum();
        let stored = self.types.is_stored(&from);
        let asked = (
            id(&from),
            self.machine.id,
            (kinds, wanted.any, wanted.but),
            wanted.name.into(),
        );
        if let Some(known) = types.found(&asked, stored) {
            *absent |= known.absent;
            return known.definer.map(|(file, entry)| Found {
                scope: scope.with(file),
                entry,
            });
        }
        let before = self.own;
        let mut left_out = false;
        let found = self.included(&from, wanted, scope, &mut left_out);
        if before == self.own && !self.cut {
            let definer = found.as_ref();
            let definer = definer.map(|found| (Arc::clone(&found.scope.file), found.entry));
            let absent = left_out;
            types.keep_found(asked, Answer { definer, absent }, stored);
        }
        *absent |= left_out;
        found
    }

    /// The nearest headers that define the name. What is spelled as macros are is
    /// looked up as one first, which needs no search of the text.
    fn included(
        &mut self,
        from: &Arc<File>,
        wanted: Wanted<'_>,
        scope: &Scope,
        absent: &mut bool,
    ) -> Option<Found> {
        let macros = |kind: &&Kind| **kind == Kind::Macro && is_loud(wanted.name.as_bytes());
        let (first, others): (Vec<Kind>, Vec<Kind>) = wanted.kinds.iter().partition(macros);
        [first, others].iter().find_map(|kinds| {
            let wanted = Wanted { kinds, ..wanted };
            let asked = !kinds.is_empty();
            asked.then(|| self.nearest(from, wanted, scope, absent))?
        })
    }

    fn nearest(
        &mut self,
        from: &Arc<File>,
        wanted: Wanted<'_>,
        scope: &Scope,
        absent: &mut bool,
    ) -> Option<Found> {
        let mut steps = 1..;
        loop {
            let level = self.types.level(from, self.machine, steps.next()?)?;
            self.cut |= level.cut;
            let found = self.among(&level.files, wanted, scope, absent);
            if found.is_some() {
                return found;
            }
        }
    }

    /// The definition among files, if one of them has any. Of several, which one
    /// counts is an option like any other.
    fn among(
        &mut self,
        files: &[Arc<File>],
        wanted: Wanted<'_>,
        scope: &Scope,
        absent: &mut bool,
    ) -> Option<Found> {
        let mut found: Vec<Found> = Vec::new();
        let sought = Sought::of(wanted.name);
        let asked = files.iter().filter(|_| !wanted.kinds.is_empty());
        for file in asked.filter(|file| wanted.but != Some(id(file))) {
            for entry in file.entries(sought, wanted.kinds) {
                let own = scope.with(Arc::clone(file));
                let active = self.is_active(&own, file.branch(entry.at));
                *absent |= !active;
                if active && wanted.fits(&own, &entry) {
                    found.push(Found { scope: own, entry });
                }
            }
        }
        if found.len() > 1 {
            found.dedup_by(|a, b| a.is_same(b));
        }
        while found.len() > 1 {
            let first = found.swap_remove(0);
            let place = format!("{} at byte {}", first.scope.file.path, first.entry.at);
            if self.choose(&format!(
                "which definition of {} is meant, such as {place}",
                wanted.name
            )) {
                return Some(first);
            }
        }
        found.pop()
    }

    /// Whether a branch of an `#if` is compiled.
    pub(super) fn is_active(&mut self, scope: &Scope, branch: Option<usize>) -> bool {
        let Some(branch) = branch.and_then(|at| scope.file.branches.get(at)).cloned() else {
            return true;
        };
        self.is_active(scope, branch.parent) && (branch.guard || self.is_side(scope, &branch))
    }

    /// Whether all of the `#if`s around a place are compiled; of each its lines so
    /// far.
    pub(super) fn are_active(&mut self, scope: &Scope, sides: &[Vec<Span>]) -> bool {
        sides.iter().all(|lines| {
            let Some((own, earlier)) = lines.split_last() else {
                return true;
            };
            !earlier.iter().any(|line| self.holds(scope, *line)) && self.holds(scope, *own)
        })
    }

    fn is_side(&mut self, scope: &Scope, branch: &Branch) -> bool {
        let mut lines = branch.earlier.clone();
        lines.push(branch.own);
        self.are_active(scope, &[lines])
    }

    /// Whether the line that begins a side of an `#if` lets it be compiled.
    fn holds(&mut self, scope: &Scope, line: Span) -> bool {
        let key = (id(&scope.file), line.start);
        // What its own condition hangs on is not defined yet.
        if self.deciding.contains(&key) {
            self.own += 1;
            return false;
        }
        self.deciding.push(key);
        let text = &scope.file.text;
        let (word, behind) = directive(text, line);
        let name = || String::from_utf8_lossy(name_at(text, behind)).into_owned();
        let answer = match word {
            b"else" => true,
            b"ifdef" => self.is_defined(&name(), scope),
            b"ifndef" => !self.is_defined(&name(), scope),
            _ => {
                let all = lex(text.get(..line.end).unwrap_or_default(), behind);
                let words = all.filter(|t| t.kind != TokenKind::Comment);
                let words = words.map(|t| Word::of(text, &t)).collect();
                let holds = self.nested("a condition", |run| Ok(run.condition(words, scope)));
                matches!(holds, Ok(true))
            }
        };
        self.deciding.pop();
        answer
    }

    /// Whether a name is a macro.
    pub(super) fn is_defined(&mut self, name: &str, scope: &Scope) -> bool {
        if self.machine.value(name).is_some() {
            return true;
        }
        if self.types.headers.facts.is_undefined(name, self.machine) {
            return false;
        }
        if name.starts_with("CONFIG_") || self.unsure.is_some() {
            return self.choose(name);
        }
        let kinds = &[Kind::Macro];
        let any = true;
        let wanted = Wanted {
            any,
            ..Wanted::of(name, kinds)
        };
        match self.search(wanted, scope) {
            Ok(_) => true,
            Err(_) if self.cut => self.choose(name),
            // `__NAME` is defined by headers alone, `__NAME__` by compilers too.
            Err(_) => (!name.starts_with("__") || name.ends_with("__")) && self.choose(name),
        }
    }

    /// The words of a statement that are compiled, to its semicolon.
    pub(super) fn statement(&mut self, found: &Found) -> Result<Input, LayoutError> {
        let (scope, at) = (&found.scope, found.entry.at);
        let file = Arc::clone(&scope.file);
        let unclear = |what: &[u8]| {
            let what = String::from_utf8_lossy(what).into_owned();
            let place = format!("what {} defines at byte {at}", file.path);
            LayoutError::Unclear(place, what)
        };
        let mut sides = Vec::new();
        let (mut words, mut depth) = (Vec::new(), 0usize);
        for token in lex(&file.text, at).take(STATEMENT) {
            match token.kind {
                TokenKind::Comment => continue,
                TokenKind::Directive => {
                    let active = self.line(scope, token.span, &mut sides);
                    if active && directive(&file.text, token.span).0 == b"include" {
                        return Err(unclear(b"#include"));
                    }
                    continue;
                }
                _ if sides.iter().any(|side: &Side| !side.active) => continue,
                TokenKind::Punct(b'{' | b'(' | b'[') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']') if depth == 0 => break,
                TokenKind::Punct(b'}' | b')' | b']') => depth -= 1,
                TokenKind::Punct(b';') if depth == 0 => return Ok(Input::new(words)),
                _ => {}
            }
            words.push(Word::of(&file.text, &token));
        }
        Err(unclear(b"its end"))
    }

    /// Follows the `#if`s inside a statement; whether the line itself is compiled.
    fn line(&mut self, scope: &Scope, line: Span, sides: &mut Vec<Side>) -> bool {
        let around = |sides: &[Side]| sides.iter().all(|side| side.active);
        match directive(&scope.file.text, line).0 {
            b"if" | b"ifdef" | b"ifndef" => {
                let active = around(sides) && self.holds(scope, line);
                sides.push(Side {
                    active,
                    taken: active,
                });
            }
            b"elif" | b"else" => match sides.pop() {
                Some(before) => {
                    let active = !before.taken && around(sides) && self.holds(scope, line);
                    sides.push(Side {
                        active,
                        taken: before.taken || active,
                    });
                }
                // The statement began inside the first side.
                None => sides.push(Side {
                    active: false,
                    taken: true,
                }),
            },
            b"endif" => drop(sides.pop()),
            _ => return around(sides),
        }
        false
    }
}

/// Where the declarations of the structure at a place begin that have some word,
/// with the lines of the `#if`s around each.
pub(super) fn declarations(text: &[u8], at: usize, word: &str) -> Vec<(usize, Vec<Vec<Span>>)> {
    let (mut found, mut sides) = (Vec::new(), Vec::<Vec<Span>>::new());
    let (mut depth, mut begin, mut named) = (0usize, None, false);
    let mut inside = lex(text, at).take(STATEMENT);
    inside.find(|token| token.is(b'{'));
    for token in inside {
        match token.kind {
            TokenKind::Comment => continue,
            TokenKind::Directive => {
                match directive(text, token.span).0 {
                    b"if" | b"ifdef" | b"ifndef" => sides.push(vec![token.span]),
                    b"elif" | b"else" => {
                        let last = sides.last_mut().into_iter();
                        last.for_each(|lines| lines.push(token.span));
                    }
                    b"endif" => drop(sides.pop()),
                    _ => {}
                }
                continue;
            }
            TokenKind::Punct(b'{' | b'(' | b'[') => depth += 1,
            TokenKind::Punct(b'}' | b')' | b']') if depth == 0 => break,
            TokenKind::Punct(b'}' | b')' | b']') => depth -= 1,
            TokenKind::Punct(b';') if depth == 0 => {
                found.extend(begin.take().filter(|_| named));
                named = false;
                continue;
            }
            TokenKind::Word => named |= token.span.of(text) == word.as_bytes(),
            _ => {}
        }
        begin = begin.or_else(|| Some((token.span.start, sides.clone())));
    }
    found
}

/// The name below `asm/` of a header that an architecture has of its own.
fn own_name<'p>(path: &'p str, machine: &Machine) -> Option<&'p str> {
    let inside = path.strip_prefix("arch/")?.strip_prefix(&*machine.arch)?;
    let inside = inside.strip_prefix("/include/")?;
    let exported = inside.strip_prefix("uapi/");
    let own = exported.or(Some(inside).filter(|_| !machine.programs))?;
    own.strip_prefix("asm/")
}

/// Whether an index has said all of a struct or union that it knows: the file which
/// is asked about does not define it, or was looked at.
fn is_settled(defining: &[&TreePath], scope: &Scope) -> bool {
    let seen = Arc::ptr_eq(&scope.file, &scope.root) || !defining.contains(&&scope.root.path);
    !defining.is_empty() && seen
}

/// Whether two headers have one name in an `#include`: what the kernel has of its own
/// beside what programs get.
fn is_same(a: &TreePath, b: &TreePath) -> bool {
    let name = |path: &str| {
        let (_, name) = path.split_once("include/")?;
        Some(name.strip_prefix("uapi/").unwrap_or(name).to_owned())
    };
    let first = name(&a.lossy());
    first.is_some() && first == name(&b.lossy())
}

/// A side of an `#if` inside a statement.
struct Side {
    active: bool,
    /// Whether this or an earlier side is compiled.
    taken: bool,
}

impl Wanted<'_> {
    /// Whether an entry is a definition: a macro of its own name is none.
    fn fits(&self, scope: &Scope, entry: &Entry) -> bool {
        let own =
            || Macro::read(&scope.file.text, entry.at).is_none_or(|found| found.is_only(self.name));
        self.any || entry.kind != Kind::Macro || !own()
    }
}

impl Found {
    /// Whether this is a macro that is defined only where it is not yet.
    fn is_default(&self, name: &str) -> bool {
        let file = &self.scope.file;
        let branch = file
            .branch(self.entry.at)
            .and_then(|at| file.branches.get(at));
        let asked = |branch: &Branch| {
            let (_, behind) = directive(&file.text, branch.own);
            name_at(&file.text, behind) == name.as_bytes()
        };
        self.entry.kind == Kind::Macro && branch.is_some_and(|own| own.guard && asked(own))
    }

    /// Whether two lines define a macro in the same words.
    fn is_same(&self, other: &Self) -> bool {
        let line = |found: &Self| {
            let line = lex(&found.scope.file.text, found.entry.at).next();
            line.map(|token| token.span.text(&found.scope.file.text))
        };
        self.entry.kind == Kind::Macro
            && self.entry.kind == other.entry.kind
            && line(self) == line(other)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::own_name;
    use crate::types::machine::Facts;

    /// Programs get what an architecture exports, the kernel has all of its own.
    #[test]
    fn programs_have_the_exported_headers_alone() {
        let facts = Facts::builtin().unwrap();
        let kernel = facts
            .machines
            .iter()
            .find(|one| one.name == "x86_64")
            .unwrap();
        let programs = kernel.for_programs();
        for machine in [kernel, &programs] {
            let exported = own_name("arch/x86/include/uapi/asm/stat.h", machine);
            assert_eq!(exported, Some("stat.h"));
            assert_eq!(own_name("arch/arm/include/asm/page.h", machine), None);
        }
        let inner = "arch/x86/include/asm/page.h";
        assert_eq!(own_name(inner, kernel), Some("page.h"));
        assert_eq!(own_name(inner, &programs), None);
    }
}
