//! A function with user accesses, made from decisions: what a kernel has, with
//! what a rewriting may trip over woven in.
//!
//! Everything that a function does is defined where it is compiled as
//! [`crate::program`] says, so that two versions of it can be compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::accesses::{Direction, Object, Site};
use crate::choices::Choices;

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Int,
    Long,
    Bool,
    Nothing,
}

impl Returns {
    fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Long => "long",
            Self::Bool => "bool",
            Self::Nothing => "void",
        }
    }
}

/// The parameters of every function: objects of the user, the caller's
/// structure, a place for a result that may be NULL, and a small number.
const PARAMETERS: &str = "struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n";

/// A file with one function `f`.
#[must_use]
pub fn function(choices: &mut Choices) -> String {
    Maker::new(choices).file()
}

/// Makes one function.
pub(crate) struct Maker<'c> {
    pub(crate) choices: &'c mut Choices,
    pub(crate) returns: Returns,
    /// The declaration of each local variable that is used.
    pub(crate) locals: BTreeMap<&'static str, String>,
    /// Labels that something goes to.
    pub(crate) labels: BTreeSet<&'static str>,
    /// The variable for errors.
    pub(crate) err: &'static str,
    /// The way out of each access, where they have one in common.
    pub(crate) way_out: Option<Vec<String>>,
    /// How many loops are around.
    pub(crate) loops: usize,
    /// Whether the function has an object that it frees in the end.
    pub(crate) owns: bool,
    /// Objects whose range is checked before everything else.
    pub(crate) checked: BTreeSet<Object>,
    /// Lines in front of the function.
    pub(crate) macros: BTreeSet<&'static str>,
}

impl<'c> Maker<'c> {
    fn new(choices: &'c mut Choices) -> Self {
        let kinds = [
            (70, Returns::Int),
            (8, Returns::Long),
            (10, Returns::Bool),
            (12, Returns::Nothing),
        ];
        let returns = choices.weighted(&kinds).unwrap_or(Returns::Int);
        let err = choices.word(&["err", "ret", "error", "rc", "res"]);
        let owns = choices.chance(8);
        Self {
            choices,
            returns,
            locals: BTreeMap::new(),
            labels: BTreeSet::new(),
            err,
            way_out: None,
            loops: 0,
            owns,
            checked: BTreeSet::new(),
            macros: BTreeSet::new(),
        }
    }

    fn file(mut self) -> String {
        let mut body = self.head();
        let count = 1 + self
            .choices
            .weighted(&[(50, 0), (35, 1), (15, 2)])
            .unwrap_or(0);
        for at in 0..count {
            if at > 0 {
                body.extend(self.filler());
            }
            body.extend(self.segment(at + 1 == count));
        }
        body.extend(self.tail());
        let declarations = self.declarations();
        let gap = if declarations.is_empty() { "" } else { "\n" };
        format!(
            "#include <linux/uaccess.h>\n#include \"types.h\"\n\n{}{} f({PARAMETERS})\n{{\n{declarations}{gap}{}}}\n",
            self.macros
                .iter()
                .map(|line| format!("{line}\n\n"))
                .collect::<String>(),
            self.returns.name(),
            indented(&body)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        )
    }

    /// What stands before the accesses.
    fn head(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.owns {
            self.locals.insert("m", "struct s *m;".to_owned());
            lines.push("m = make();".to_owned());
        }
        if self.choices.chance(12) {
            lines.push("lock(k);".to_owned());
        }
        if self.choices.chance(15) {
            let object = self
                .choices
                .pick(&[Object::P, Object::T])
                .unwrap_or(Object::P);
            let exit = self.exit();
            let check = format!("!access_ok({0}, sizeof(*{0}))", object.name());
            lines.extend(branch(&check, &exit));
            self.checked.insert(object);
        }
        if self.choices.chance(20) {
            lines.extend(self.filler());
        }
        lines
    }

    /// The lines of the declarations: each on its own, or those of a type as one.
    fn declarations(&mut self) -> String {
        let lines: Vec<String> = self.locals.values().cloned().collect();
        let mut out: Vec<String> = Vec::new();
        for line in lines {
            let joined = self.choices.chance(50);
            match (out.last_mut(), line.strip_prefix("u32 ")) {
                (Some(last), Some(rest))
                    if joined && last.starts_with("u32 ") && !rest.starts_with('*') =>
                {
                    last.truncate(last.len() - 1);
                    last.push_str(&format!(", {rest}"));
                }
                _ => out.push(line),
            }
        }
        out.iter().map(|line| format!("\t{line}\n")).collect()
    }

    /// The variable for errors, which is declared from here on.
    pub(crate) fn error(&mut self, known: bool) -> &'static str {
        let name = self.err;
        if !self.locals.contains_key(name) {
            let all: &[(usize, &str)] = if known {
                &[
                    (60, " = 0"),
                    (15, " = -EINVAL"),
                    (10, " = 1"),
                    (15, " = k->d & 1"),
                ]
            } else {
                &[
                    (50, ""),
                    (30, " = 0"),
                    (12, " = -EINVAL"),
                    (4, " = 1"),
                    (4, " = k->d & 1"),
                ]
            };
            let value = self.choices.weighted(all).unwrap_or_default();
            let of = self
                .choices
                .weighted(&[(9, "int"), (1, "long")])
                .unwrap_or("int");
            self.locals.insert(name, format!("{of} {name}{value};"));
        }
        name
    }

    /// A plain variable of the function.
    pub(crate) fn variable(&mut self) -> &'static str {
        let all = [(40, "a"), (30, "b"), (12, "e"), (10, "wide"), (8, "half")];
        let name = self.choices.weighted(&all).unwrap_or("a");
        self.declare(name)
    }

    /// Declares a plain variable, if it is not yet.
    pub(crate) fn declare(&mut self, name: &'static str) -> &'static str {
        if !self.locals.contains_key(name) {
            let of = match name {
                "wide" => "u64",
                "half" => "u16",
                _ => "u32",
            };
            let value = self
                .choices
                .weighted(&[(70, ""), (15, " = 0"), (15, " = 3")]);
            let value = value.unwrap_or_default();
            self.locals.insert(name, format!("{of} {name}{value};"));
        }
        name
    }

    /// A variable that something has been declared for; a fresh one else.
    fn known(&mut self) -> &'static str {
        let plain =
            |name: &&'static str| matches!(*name, "a" | "b" | "e" | "wide" | "half" | "late");
        let names: Vec<&'static str> = self.locals.keys().copied().filter(plain).collect();
        match self.choices.pick(&names) {
            Some(name) => name,
            None => "n",
        }
    }

    /// A pure condition, and whether it says that `o` is not NULL.
    pub(crate) fn condition(&mut self) -> (String, bool) {
        let all = [
            "n",
            "n > 2",
            "n & 1",
            "k->a == 1",
            "k->d & 1",
            "!k->b",
            "o",
            "!o",
            "o && n",
            "k->in.x > n",
            "k->b || n",
            "n == 1 && k->a",
            "p != NULL",
            "!(n & 2)",
            "shared.a > 3",
            "n ? k->a : k->b",
        ];
        let word = self.choices.word(&all);
        if self.choices.chance(15) {
            let name = self.known();
            return (format!("{name} > 2"), false);
        }
        (word.to_owned(), matches!(word, "o" | "o && n"))
    }

    /// A condition that can be joined to others.
    pub(crate) fn operand(&mut self) -> (String, bool) {
        let (text, guards) = self.condition();
        let tied = text.contains(['&', '|', '?']) && text.contains(' ');
        (if tied { format!("({text})") } else { text }, guards)
    }

    /// A statement without user access.
    pub(crate) fn filler(&mut self) -> Vec<String> {
        let name = self.known();
        let one = |text: String| vec![text];
        match self.choices.below(12) {
            0 => one(format!("k->b = {name};")),
            1 => one("trace(n);".to_owned()),
            2 => one("counter++;".to_owned()),
            3 => one(format!("{name} += 1;")),
            4 => one(format!("k->w[1] = {name} + 1;")),
            5 => {
                let (condition, _) = self.condition();
                let exit = self.exit();
                branch(&condition, &exit)
            }
            6 => {
                let (condition, _) = self.condition();
                branch(&condition, &[format!("k->last = {name};")])
            }
            7 => one("/* Something to say. */".to_owned()),
            8 => one(format!("trace({name});")),
            9 => {
                let exit = self.leaving();
                branch(&format!("{name} > 3"), &exit)
            }
            10 => one("shared = *k;".to_owned()),
            _ => one(String::new()),
        }
    }

    /// A way out for other reasons than a fault.
    pub(crate) fn leaving(&mut self) -> Vec<String> {
        let name = self.known();
        match (self.returns, self.choices.below(4)) {
            (_, 0) => self.exit(),
            (Returns::Nothing, _) => vec!["return;".to_owned()],
            (Returns::Bool, _) => vec![format!("return {name} > 1;")],
            (_, 1) => vec![format!("return {name};")],
            (_, 2) => vec!["return -EINVAL;".to_owned()],
            _ => vec!["return 0;".to_owned()],
        }
    }

    /// What is done on a fault; the jump last.
    pub(crate) fn exit(&mut self) -> Vec<String> {
        if let Some(exit) = &self.way_out {
            return exit.clone();
        }
        if self.loops > 0 && self.choices.chance(50) {
            return self.loop_exit();
        }
        if self.owns && self.choices.chance(70) {
            return self.freeing_exit();
        }
        let kinds = [
            (46, 0),
            (10, 1),
            (16, 2),
            (5, 3),
            (4, 4),
            (3, 5),
            (4, 6),
            (4, 7),
            (8, 8),
        ];
        let fault = self.fault();
        match self.choices.weighted(&kinds).unwrap_or(0) {
            1 => {
                let err = self.error(true);
                self.labels.insert("out");
                lines(&[&format!("{err} = -EFAULT;"), "goto out;"])
            }
            2 => {
                self.error(true);
                self.labels.insert("out");
                lines(&["goto out;"])
            }
            3 => lines(&["k->d = 7;", &fault]),
            4 => lines(&["trace(5);", &fault]),
            5 => {
                let name = self.known();
                lines(&[&format!("k->b = {name};"), &fault])
            }
            6 if self.returns == Returns::Int => {
                let name = self.known();
                lines(&[&format!("return {name} ? -EIO : -EFAULT;")])
            }
            7 => lines(&["counter++;", "/* What is left. */", &fault]),
            8 if self.returns == Returns::Int => lines(&["return -EIO;"]),
            _ => lines(&[&fault]),
        }
    }

    fn loop_exit(&mut self) -> Vec<String> {
        match self.choices.below(5) {
            0 | 1 => lines(&["break;"]),
            2 => lines(&["continue;"]),
            3 => lines(&["counter++;", "continue;"]),
            _ => {
                let err = self.error(true);
                lines(&[&format!("{err} = -EFAULT;"), "break;"])
            }
        }
    }

    fn freeing_exit(&mut self) -> Vec<String> {
        if self.choices.chance(30) {
            let fault = self.fault();
            return lines(&["kfree(m);", &fault]);
        }
        self.labels.insert("free");
        let err = self.error(true);
        match self.choices.below(2) {
            0 => lines(&[&format!("{err} = -EFAULT;"), "goto free;"]),
            _ => lines(&["goto free;"]),
        }
    }

    /// How the function says that an access has faulted.
    pub(crate) fn fault(&mut self) -> String {
        match self.returns {
            Returns::Nothing => "return;",
            Returns::Bool => self.choices.word(&["return false;", "return true;"]),
            Returns::Int | Returns::Long => "return -EFAULT;",
        }
        .to_owned()
    }

    /// What stands behind the accesses.
    fn tail(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        for _ in 0..self.choices.below(4) {
            found.extend(self.filler());
        }
        let label = |name: &str| format!("{name}:");
        if self.labels.contains("out") {
            found.extend(
                self.choices
                    .chance(50)
                    .then(|| format!("{} = 0;", self.err)),
            );
            found.push(label("out"));
            found.extend(self.cleanup());
        }
        let frees = self.owns && self.choices.chance(70) || self.labels.contains("free");
        if self.labels.contains("free") {
            found.push(label("free"));
        }
        found.extend(frees.then(|| "kfree(m);".to_owned()));
        let labels = found.last().is_some_and(|line| line.ends_with(':'));
        found.extend(self.result(labels));
        found
    }

    /// What a label stands in front of.
    fn cleanup(&mut self) -> Vec<String> {
        let name = self.known();
        match self.choices.below(6) {
            0 => lines(&["unlock(k);"]),
            1 => lines(&["k->d = 3;"]),
            2 => lines(&[&format!("k->b = {name};")]),
            3 => lines(&[&format!("trace({name});")]),
            _ => Vec::new(),
        }
    }

    /// The last return; one has to be where a label ends the body.
    fn result(&mut self, labelled: bool) -> Vec<String> {
        let name = self.known();
        let err = self.locals.contains_key(self.err).then_some(self.err);
        let err = err.filter(|_| self.choices.chance(80));
        match (self.returns, err) {
            (Returns::Nothing, _) if labelled || self.choices.chance(15) => lines(&["return;"]),
            (Returns::Nothing, _) => Vec::new(),
            (Returns::Bool, Some(err)) => lines(&[&format!("return !{err};")]),
            (Returns::Bool, None) => lines(&["return true;"]),
            (_, Some(err)) => match self.choices.below(6) {
                0 => lines(&[&format!("return {err} ? -EIO : 0;")]),
                1 => lines(&[&format!("return {err} + (int){name};")]),
                _ => lines(&[&format!("return {err};")]),
            },
            (_, None) => match self.choices.below(4) {
                0 => lines(&[&format!("return {name};")]),
                _ => lines(&["return 0;"]),
            },
        }
    }

    /// Accesses to one object, mostly, and what they are for.
    pub(crate) fn sites(&mut self) -> Vec<Site> {
        let ways = [
            (46, Some(Direction::Read)),
            (38, Some(Direction::Write)),
            (16, None),
        ];
        let way = self.choices.weighted(&ways).unwrap_or(None);
        let object = Object::chosen(self.choices);
        let unchecked = self.checked.contains(&object) && self.choices.chance(70);
        let mut sites = self.addresses(object);
        for site in &mut sites {
            let reads = self.choices.chance(50);
            let own = if reads {
                Direction::Read
            } else {
                Direction::Write
            };
            site.direction = way.unwrap_or(own);
            site.unchecked = unchecked;
        }
        sites
    }
}

/// `if (condition) exit`, with braces where they are needed.
pub(crate) fn branch(condition: &str, exit: &[String]) -> Vec<String> {
    let head = format!("if ({condition})");
    if exit.len() == 1 {
        return std::iter::once(head).chain(indented(exit)).collect();
    }
    block(&head, exit)
}

/// `head { … }`
pub(crate) fn block(head: &str, inside: &[String]) -> Vec<String> {
    let mut all = vec![format!("{head} {{")];
    all.extend(indented(inside));
    all.push("}".to_owned());
    all
}

/// The lines one tab further to the right; labels keep to the margin.
pub(crate) fn indented(inside: &[String]) -> Vec<String> {
    let each = |line: &String| match line.as_str() {
        "" => String::new(),
        label
            if label.ends_with(':')
                && !label.starts_with("case")
                && !label.starts_with("default") =>
        {
            label.to_owned()
        }
        directive if directive.starts_with('#') => directive.to_owned(),
        line => format!("\t{}", line.replace('\n', "\n\t")),
    };
    inside.iter().map(each).collect()
}

pub(crate) fn lines(all: &[&str]) -> Vec<String> {
    all.iter().map(|line| (*line).to_owned()).collect()
}
