//! What an executed instruction means for the gate to user memory, and for the
//! registers that a task keeps beside the general ones.
//!
//! The tables are data files (`data/arch/*.toml`), one an architecture, each
//! entry with its reason and its source.

use serde::{Deserialize, Serialize};
use tollgate_arch::{Architectures, Target, Wrong};
use tollgate_defect::answer;

use crate::data;

/// The bytes of an address behind ModRM on x86: SIB and a displacement of four
/// (Intel SDM vol. 2, 2.1.3).
const MOST_OF_AN_ADDRESS: usize = 5;

/// The bits of ModRM that are all set where it names a register and no address (Intel
/// SDM vol. 2, 2.1.3).
const REGISTER: u8 = 0xc0;

/// What an instruction does to the gate, or to the registers of the FPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// User memory is in reach after it.
    Open,
    /// User memory is out of reach after it.
    Close,
    /// Writes the register whose value opens or closes: the bytes of the
    /// instruction do not say which.
    Write,
    /// Holds back speculation past a range check.
    Fence,
    /// Saves the registers of the FPU in the extended format.
    Xsave,
    /// Loads them from it.
    Xrstor,
    /// Saves the registers of the x87 and of SSE alone.
    Fxsave,
    /// Loads those.
    Fxrstor,
    /// Writes the register of protection keys.
    Wrpkru,
    /// Reads it.
    Rdpkru,
    /// Nothing of the above.
    Other,
}

/// An architecture's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opcodes {
    arch: String,
    target: String,
    /// What stands before the name of a system call's function.
    system_calls: Vec<String>,
    entries: Vec<Opcode>,
}

/// One entry: an instruction (or a family, where the mask leaves bits open).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The mnemonic, `stac`.
    pub name: String,
    /// What it does.
    pub meaning: Meaning,
    /// Why it has that meaning.
    pub reason: String,
    /// Where that is written: a manual, a kernel file.
    pub source: String,
    value: Vec<u8>,
    mask: Vec<u8>,
    address: bool,
}

/// A table that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpcodesError {
    /// No such file among the built-in ones.
    #[error("no opcode table for architecture `{arch}`; there are tables for: {known}")]
    UnknownArch {
        /// What was asked for.
        arch: String,
        /// The architectures there are, separated by commas.
        known: String,
    },
    /// The table of architectures cannot be read.
    #[error(transparent)]
    Architectures(Wrong),
    /// Not TOML, or not the fields wanted.
    #[error("the opcode table is not as described in data/arch/x86_64.toml: {0}")]
    Format(String),
    /// A `value` or `mask` that is not pairs of hexadecimal digits.
    #[error("opcode `{name}`: `{text}` is not a row of bytes in hexadecimal")]
    Hex {
        /// The entry.
        name: String,
        /// What stands there.
        text: String,
    },
    /// `mask` and `value` of different lengths.
    #[error("opcode `{name}`: the mask has {mask} bytes, the value {value}; give both the same")]
    Length {
        /// The entry.
        name: String,
        /// Bytes in the mask.
        mask: usize,
        /// Bytes in the value.
        value: usize,
    },
    /// Two entries that match one instruction and give it two meanings.
    #[error("opcodes `{first}` and `{second}` match the same bytes and mean different things")]
    Ambiguous {
        /// The entry that stands first.
        first: String,
        /// The other.
        second: String,
    },
}

impl Opcodes {
    /// The table that comes with the program for `arch` (`x86_64`, `arm64`).
    ///
    /// # Errors
    /// When there is none.
    pub fn built_in(arch: &str) -> Result<Self, OpcodesError> {
        let architectures = Architectures::built_in().map_err(OpcodesError::Architectures)?;
        let text = architectures
            .target(arch)
            .and_then(|(all, target)| Some((all, target, data::opcodes(target.opcodes())?)));
        match text {
            Some((all, target, text)) => Ok(Self {
                system_calls: all.syscalls.clone(),
                ..Self::parse(target, text)?
            }),
            None => Err(OpcodesError::UnknownArch {
                arch: arch.to_owned(),
                known: data::with_opcodes().join(", "),
            }),
        }
    }

    /// Reads the table of a target, in the format of `data/arch/x86_64.toml`.
    ///
    /// # Errors
    /// When it is not in that format, or says two things of one instruction.
    pub fn parse(target: &Target, text: &str) -> Result<Self, OpcodesError> {
        let table: Table =
            toml::from_str(text).map_err(|error| OpcodesError::Format(error.to_string()))?;
        let entries = table
            .opcode
            .into_iter()
            .map(|entry| entry.opcode(table.order));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        refuse_ambiguous(&entries)?;
        Ok(Self {
            arch: target.name.clone(),
            target: target.qemu.clone(),
            system_calls: Vec::new(),
            entries,
        })
    }

    /// The system call whose function is called so: `__x64_sys_ioctl` is `ioctl`.
    #[must_use]
    pub fn system_call<'a>(&self, function: &'a str) -> Option<&'a str> {
        let mut before = self.system_calls.iter();
        before.find_map(|before| function.strip_prefix(before.as_str()))
    }

    /// The architecture.
    #[must_use]
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// The architecture as QEMU names its target, `aarch64`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The entries in the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[Opcode] {
        &self.entries
    }

    /// What the instruction with these bytes, as they lie in memory, means.
    #[must_use]
    pub fn meaning(&self, bytes: &[u8]) -> Meaning {
        let entry = self.entries.iter().find(|entry| entry.matches(bytes));
        entry.map_or(Meaning::Other, |entry| entry.meaning)
    }
}

impl Opcode {
    fn matches(&self, bytes: &[u8]) -> bool {
        let masked = bytes.iter().zip(&self.mask).map(|(byte, mask)| byte & mask);
        let address = || bytes.get(self.value.len() - 1).is_some_and(is_address);
        self.takes(bytes.len())
            && masked.eq(self.value.iter().copied())
            && (!self.address || address())
    }

    /// Whether it has an address where all of the other's have a register.
    fn parts_from(&self, other: &Self) -> bool {
        let place = self.value.len() - 1;
        let fixed = other.mask.get(place).is_some_and(|mask| !is_address(mask));
        self.address && fixed && other.value.get(place).is_some_and(|byte| !is_address(byte))
    }

    /// Whether an instruction of that many bytes can be it.
    fn takes(&self, length: usize) -> bool {
        let more = if self.address { MOST_OF_AN_ADDRESS } else { 0 };
        (self.value.len()..=self.value.len() + more).contains(&length)
    }

    /// Whether some instruction matches both.
    fn overlaps(&self, other: &Self) -> bool {
        let ours = self.value.iter().zip(&self.mask);
        let theirs = other.value.iter().zip(&other.mask);
        let length = self.value.len().max(other.value.len());
        self.takes(length)
            && other.takes(length)
            && !self.parts_from(other)
            && !other.parts_from(self)
            && ours
                .zip(theirs)
                .all(|((a, of_a), (b, of_b))| (a ^ b) & of_a & of_b == 0)
    }
}

fn is_address(modrm: &u8) -> bool {
    modrm & REGISTER != REGISTER
}

fn refuse_ambiguous(entries: &[Opcode]) -> Result<(), OpcodesError> {
    for (index, second) in entries.iter().enumerate() {
        let earlier = entries.iter().take(index);
        let clash = |first: &&Opcode| first.meaning != second.meaning && first.overlaps(second);
        if let Some(first) = earlier.into_iter().find(clash) {
            return Err(OpcodesError::Ambiguous {
                first: first.name.clone(),
                second: second.name.clone(),
            });
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    order: Order,
    opcode: Vec<Entry>,
}

/// How values and masks are written in the file.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    Memory,
    Big,
    Little,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    meaning: Meaning,
    value: String,
    mask: Option<String>,
    #[serde(default)]
    address: bool,
    reason: String,
    source: String,
}

impl Entry {
    fn opcode(self, order: Order) -> Result<Opcode, OpcodesError> {
        let value = self.bytes(&self.value, order)?;
        let mask = match &self.mask {
            Some(mask) => self.bytes(mask, order)?,
            None => vec![0xff; value.len()],
        };
        if mask.len() != value.len() {
            let (mask, value) = (mask.len(), value.len());
            return Err(OpcodesError::Length {
                name: self.name,
                mask,
                value,
            });
        }
        let value = value
            .iter()
            .zip(&mask)
            .map(|(value, mask)| value & mask)
            .collect();
        let Self {
            name,
            meaning,
            address,
            reason,
            source,
            ..
        } = self;
        Ok(Opcode {
            name,
            meaning,
            reason,
            source,
            value,
            mask,
            address,
        })
    }

    fn bytes(&self, text: &str, order: Order) -> Result<Vec<u8>, OpcodesError> {
        let wrong = || OpcodesError::Hex {
            name: self.name.clone(),
            text: text.to_owned(),
        };
        let mut bytes = answer::bytes(text)
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(wrong)?;
        if matches!(order, Order::Little) {
            bytes.reverse();
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
