//! The tables of all architectures: what `tollgate_arch` says of each, with the
//! files of `data/code` and `data/arch` that go with it.

use std::collections::HashMap;
use std::sync::OnceLock;

use object::Object as _;
use object::read::elf::FileHeader as _;
use tollgate_arch::{Architecture, Architectures, Decoder, Elf, Order, Wrong};
use tollgate_defect::OrDefect as _;

use crate::calls::Calls;
use crate::code_tables::CodeTables;
use crate::data::{code, parse, with_opcodes};
use crate::error::ObjectError;
use crate::input::File;
use crate::opcodes::Opcodes;

/// All that is known of architectures.
pub(crate) struct Tables {
    all: Architectures,
    read: HashMap<String, Result<Machine, ObjectError>>,
}

/// What is known of one.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) layout: CodeTables,
    pub(crate) calls: Calls,
    pub(crate) decoder: Decoder,
    name: String,
}

/// What is known of the machine that a file is for.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) machine: &'static Machine,
    /// 32 or 64.
    pub(crate) class: u8,
    tables: &'static Tables,
}

impl Tables {
    /// Those that the program carries.
    ///
    /// # Errors
    /// When the table of architectures cannot be read.
    pub(crate) fn built_in() -> Result<&'static Self, ObjectError> {
        static READ: OnceLock<Result<Tables, Wrong>> = OnceLock::new();
        let read = READ.get_or_init(|| Ok(Self::of(Architectures::built_in()?.clone(), code)));
        read.as_ref()
            .map_err(|error| ObjectError::Table(error.to_string()))
    }

    /// Those of architectures whose files `text` gives by name.
    pub(crate) fn of(all: Architectures, text: impl Fn(&str) -> Option<&'static str>) -> Self {
        let machine = |known: &Architecture| {
            let decoder = known.decoder?;
            let read = match text(&known.name) {
                Some(text) => Machine::read(&known.name, decoder, text),
                None => Err(ObjectError::Table(format!(
                    "data/code has no {}.toml",
                    known.name
                ))),
            };
            Some((known.name.clone(), read))
        };
        let read = all.iter().filter_map(machine).collect();
        Self { all, read }
    }

    /// What is known of the machine that a file is for.
    ///
    /// # Errors
    /// When that is nothing.
    pub(crate) fn find(&'static self, file: &File<'_>) -> Result<Found, ObjectError> {
        let elf = elf(file)?;
        let known = self.all.of_elf(elf).map(|(known, _)| known.name.as_str());
        match known.and_then(|name| self.read.get(name)) {
            Some(machine) => Ok(Found {
                machine: machine.as_ref().map_err(Clone::clone)?,
                class: elf.class,
                tables: self,
            }),
            None => Err(ObjectError::Arch {
                arch: known.map_or_else(|| format!("ELF machine {}", elf.machine), str::to_owned),
                known: self.known().join(", "),
            }),
        }
    }

    /// The architectures whose object code can be read, in the table's order.
    fn known(&self) -> Vec<&str> {
        let known = self.all.iter().filter(|known| known.decoder.is_some());
        known.map(|known| known.name.as_str()).collect()
    }
}

impl Machine {
    fn read(name: &str, decoder: Decoder, text: &str) -> Result<Self, ObjectError> {
        let layout: CodeTables = parse(text)?;
        if let Some(fault) = layout.fault() {
            return Err(ObjectError::Table(format!(
                "data/code/{name}.toml: {fault}"
            )));
        }
        Ok(Self {
            layout,
            calls: Calls::of(name)?,
            decoder,
            name: name.to_owned(),
        })
    }

    /// The kernel's name for it, `powerpc`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Found {
    /// What the instructions of its targets mean to the gate.
    ///
    /// # Errors
    /// When no file says so.
    pub(crate) fn opcodes(self) -> Result<&'static Opcodes, ObjectError> {
        static READ: OnceLock<HashMap<String, Result<Opcodes, String>>> = OnceLock::new();
        let read = READ.get_or_init(|| {
            let built_in = |name: &str| Opcodes::built_in(name).map_err(|error| error.to_string());
            let all = with_opcodes().into_iter();
            all.map(|name| (name.to_owned(), built_in(name))).collect()
        });
        let targets = self.tables.all.targets();
        let mut own = targets.filter(|(known, _)| known.name == self.machine.name);
        let table = own.find_map(|(_, target)| read.get(target.opcodes()));
        match table.or_defect("an architecture with a decoder has no opcodes")? {
            Ok(opcodes) => Ok(opcodes),
            Err(error) => Err(ObjectError::Table(error.clone())),
        }
    }
}

/// What the header of a file says it is for.
fn elf(file: &File<'_>) -> Result<Elf, ObjectError> {
    let machine = match file {
        object::File::Elf32(file) => file.elf_header().e_machine(file.endian()),
        object::File::Elf64(file) => file.elf_header().e_machine(file.endian()),
        other => {
            let reason = format!("it is a file of another format ({:?})", other.format());
            return Err(ObjectError::Format(reason));
        }
    };
    Ok(Elf {
        machine: machine.0,
        class: if file.is_64() { 64 } else { 32 },
        order: Order::of(file.is_little_endian()),
    })
}

/// The layouts that the program carries, by architecture.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<(&'static str, &'static CodeTables)> {
    let all = &Tables::built_in().expect("the tables read").read;
    let layout = |(name, read): (&'static String, &'static Result<Machine, ObjectError>)| {
        let machine = read
            .as_ref()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.as_str(), &machine.layout)
    };
    all.iter().map(layout).collect()
}

#[cfg(test)]
mod tests;
