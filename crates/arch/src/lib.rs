//! The architectures of the kernel: `data/architectures.toml`, read once.
//!
//! What differs from one architecture to another is a property that stands in
//! that file. The other crates ask for the property; none asks for a name, so
//! that an architecture is an entry of data.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

use std::sync::OnceLock;

use serde::Deserialize;

/// The file, as it is part of the program.
const BUILT_IN: &str = include_str!("../../../data/architectures.toml");
/// Where every architecture has what reaches for user memory.
const HEADER: &str = "uaccess.h";

/// The table is not as its head describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "data/architectures.toml: {}", self.0)
    }
}

impl std::error::Error for Wrong {}

/// All architectures, in the order of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architectures {
    architecture: Vec<Architecture>,
}

/// One folder of `arch/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Its folder under `arch/`, `powerpc`.
    pub name: String,
    /// How its object code is taken apart; none where that is not known.
    pub decoder: Option<Decoder>,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    own_rules: Vec<String>,
    /// What its macros of system calls put before a function's name.
    #[serde(default)]
    pub syscalls: Vec<String>,
    /// What keeps its kernel from user memory.
    pub reason: String,
    /// Where in a kernel tree that, and the rest of the entry, is written.
    pub source: String,
    /// What a kernel of it is compiled for.
    #[serde(default, rename = "target")]
    pub targets: Vec<Target>,
}

/// How object code is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decoder {
    /// By a table of words.
    Words,
    /// By the library that knows the instructions of this family, whose lengths
    /// vary.
    #[serde(rename = "iced-x86")]
    Iced,
}

/// What a kernel is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// tollgate's own name for it, `ppc64le`.
    pub name: String,
    #[serde(default)]
    aliases: Vec<String>,
    /// `ARCH=` of Kbuild.
    pub kbuild: String,
    machine: u16,
    class: u8,
    order: Order,
    /// What the names of its cross tools begin with, `aarch64-linux-gnu-`.
    #[serde(rename = "cross")]
    pub cross_compile: String,
    /// The target of QEMU, `aarch64`.
    pub qemu: String,
    opcodes: Option<String>,
    objects: Option<String>,
    hosted: Option<Hosted>,
}

/// Another target whose own compiler makes programs for this one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hosted {
    by: String,
    flags: Vec<String>,
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The lowest first.
    Little,
    /// The highest first.
    Big,
}

impl Order {
    /// That of a file or machine, by whether it is little-endian.
    #[must_use]
    pub fn of(little: bool) -> Self {
        match little {
            true => Self::Little,
            false => Self::Big,
        }
    }
}

/// What an ELF file says it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    /// `e_machine`.
    pub machine: u16,
    /// 32 or 64, of `e_ident[EI_CLASS]`.
    pub class: u8,
    /// Of `e_ident[EI_DATA]`.
    pub order: Order,
}

impl Architectures {
    /// Those that the program knows.
    ///
    /// # Errors
    /// When the file that it carries is wrong: a defect of tollgate, which a test
    /// of this crate finds.
    pub fn built_in() -> Result<&'static Self, Wrong> {
        static READ: OnceLock<Result<Architectures, Wrong>> = OnceLock::new();
        let read = READ.get_or_init(|| Self::parse(BUILT_IN));
        read.as_ref().map_err(Clone::clone)
    }

    /// Reads a table in the format of `data/architectures.toml`.
    ///
    /// # Errors
    /// When it is not in that format, or says two things of one name.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        let all: Self = toml::from_str(text).map_err(|error| Wrong(error.to_string()))?;
        match all.said_twice() {
            Some(name) => Err(Wrong(format!("`{name}` stands there twice"))),
            None => Ok(all),
        }
    }

    fn said_twice(&self) -> Option<&str> {
        let folders = self.iter().map(|all| all.name.as_str());
        let targets = self.targets().map(|(_, target)| target.name.as_str());
        repeated(folders.collect()).or_else(|| repeated(targets.collect()))
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Architecture> {
        self.architecture.iter()
    }

    /// Each target with its architecture.
    pub fn targets(&self) -> impl Iterator<Item = (&Architecture, &Target)> {
        let of = |all| move |target| (all, target);
        self.iter()
            .flat_map(move |all| all.targets.iter().map(of(all)))
    }

    /// The one of that folder under `arch/`.
    #[must_use]
    pub fn folder(&self, name: &str) -> Option<&Architecture> {
        self.iter().find(|known| known.name == name)
    }

    /// The target of tollgate's own name.
    #[must_use]
    pub fn target(&self, name: &str) -> Option<(&Architecture, &Target)> {
        self.targets().find(|(_, target)| target.name == name)
    }

    /// The target that others call so, where its numbers have that order: for
    /// Rust powerpc64 is both.
    #[must_use]
    pub fn called(&self, name: &str, order: Order) -> Option<&Target> {
        let is = |target: &&Target| target.order == order && target.is_called(name);
        self.targets().map(|(_, target)| target).find(is)
    }

    /// The architecture of an ELF file, and its target where that one's numbers have
    /// the file's order, too.
    #[must_use]
    pub fn of_elf(&self, elf: Elf) -> Option<(&Architecture, Option<&Target>)> {
        let exact = |(_, target): &(_, &Target)| target.elf() == elf;
        if let Some((all, target)) = self.targets().find(exact) {
            return Some((all, Some(target)));
        }
        let like =
            |(_, target): &(_, &Target)| (target.machine, target.class) == (elf.machine, elf.class);
        self.targets().find(like).map(|(all, _)| (all, None))
    }

    /// What single objects are compiled for, and with which fragment of the
    /// configuration: the first target that has one.
    #[must_use]
    pub fn compiled(&self) -> Option<(&Architecture, &Target, &str)> {
        let mut targets = self.targets();
        targets.find_map(|(all, target)| Some((all, target, target.objects.as_deref()?)))
    }

    /// The headers of an architecture, by its folder, that may define
    /// `user_access_begin()` and its kin: paths from the top of a tree.
    #[must_use]
    pub fn access_headers(&self, folder: &str) -> Vec<String> {
        let path = |name: &str| format!("arch/{folder}/include/asm/{name}");
        let said = self.folder(folder).map(|all| all.headers.as_slice());
        match said.filter(|said| !said.is_empty()) {
            Some(said) => said.iter().map(|name| path(name)).collect(),
            None => vec![path(HEADER)],
        }
    }
}

impl Architecture {
    /// The folders of a tree whose code is compiled into no object of the kernel
    /// proper: `arch/x86/boot/`.
    pub fn own_rules(&self) -> impl Iterator<Item = String> {
        let own = self.own_rules.iter();
        own.map(|folder| format!("arch/{}/{folder}/", self.name))
    }
}

impl Target {
    /// What its ELF files say.
    #[must_use]
    pub fn elf(&self) -> Elf {
        let Self {
            machine,
            class,
            order,
            ..
        } = *self;
        Elf {
            machine,
            class,
            order,
        }
    }

    /// The table of `data/arch` that its instructions are looked up in.
    #[must_use]
    pub fn opcodes(&self) -> &str {
        self.opcodes.as_deref().unwrap_or(&self.name)
    }

    /// The program that plays it.
    #[must_use]
    pub fn qemu_program(&self) -> String {
        format!("qemu-system-{}", self.qemu)
    }

    /// The flags with which a machine's own compiler makes programs for it; none where
    /// that takes a cross compiler.
    #[must_use]
    pub fn flags_on(&self, host: &Self) -> Option<&[String]> {
        let hosted = self.hosted.as_ref();
        match hosted.filter(|hosted| hosted.by == host.name) {
            Some(hosted) => Some(&hosted.flags),
            None => (self.name == host.name).then_some(&[]),
        }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

fn repeated(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    let mut pairs = names.windows(2);
    pairs.find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
