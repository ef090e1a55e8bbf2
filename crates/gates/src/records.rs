//! How the records of the kernel's tables may be laid out, and what their
//! fields say: parts of the data files `data/code/*.toml`.
//!
//! The kernel changed some of these structures more than once. Each layout that
//! it had is an entry with its reason and its source; `elf::fit` finds out
//! which one a file has.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::data::{hex, parse};
use crate::error::ObjectError;

const TABLES: &str = include_str!("../../../data/code/tables.toml");

/// A record: what is the same in every table.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// Bytes of it; never 0.
    #[serde(deserialize_with = "bytes")]
    pub(crate) size: usize,
    /// Where fields stand that point to code.
    pub(crate) code: Vec<usize>,
    /// Where fields stand that point to something that is no code.
    #[serde(default)]
    pub(crate) data: Vec<usize>,
    /// Where fields stand that point to anything.
    #[serde(default)]
    pub(crate) other: Vec<usize>,
    /// Where numbers stand that a linker may work out of two places.
    #[serde(default)]
    pub(crate) distances: Vec<usize>,
    /// Bytes of a field that points.
    #[serde(default = "four")]
    pub(crate) width: usize,
    /// Whether the fields hold addresses, and not distances from themselves.
    #[serde(default)]
    pub(crate) absolute: bool,
    /// Whether they hold distances from the record.
    #[serde(default)]
    pub(crate) from_start: bool,
    /// Only in files of this many bits.
    #[serde(default)]
    pub(crate) bits: Option<u32>,
    /// Numbers that are never larger: where each stands, its bytes (1 or 2),
    /// and its most.
    #[serde(default)]
    pub(crate) most: Vec<[usize; 3]>,
}

/// A layout of a table's records.
pub(crate) trait Laid {
    fn record(&self) -> &Record;

    /// Where the fields of this table alone stand: two layouts with the same
    /// ones tell the same of a record.
    fn fields(&self) -> Vec<Option<usize>> {
        Vec::new()
    }
}

/// `__ex_table`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultTable {
    #[serde(rename = "layout")]
    pub(crate) layouts: Vec<FaultLayout>,
    #[serde(default)]
    user: Vec<FaultKind>,
    #[serde(default, rename = "handler")]
    handlers: Vec<Handlers>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultLayout {
    pub(crate) record: Record,
    /// Where in it the type stands.
    pub(crate) kind_at: Option<usize>,
    /// Where it points to the function that handles the fault. Without either
    /// every record is of user memory.
    pub(crate) handler_at: Option<usize>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultKind {
    #[serde(deserialize_with = "hex")]
    value: u32,
    #[serde(deserialize_with = "hex")]
    mask: u32,
    /// Whether accesses to kernel memory have this type, too.
    #[serde(default)]
    kernel_too: bool,
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "reason")]
    _reason: String,
}

/// Functions that handle the faults of accesses to user memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Handlers {
    names: Vec<String>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// A section of records that point to code (`__mmu_ftr_fixup`): the first
/// field to where it begins, the second, if there is one, to where it ends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FixupTable {
    pub(crate) section: String,
    /// Whether a fence is put in there.
    #[serde(default)]
    pub(crate) fence: bool,
    #[serde(rename = "layout")]
    pub(crate) layouts: Vec<FixupLayout>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FixupLayout {
    pub(crate) record: Record,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// `.altinstructions`, or what an architecture calls it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlternativeTable {
    /// The section's name.
    #[serde(default = "altinstructions")]
    pub(crate) section: String,
    #[serde(rename = "layout")]
    pub(crate) layouts: Vec<AlternativeLayout>,
    /// Whether a record without a replacement points to a function that does
    /// the replacing. Features are settled once, then.
    #[serde(default)]
    pub(crate) callbacks: bool,
    /// The one of those functions that puts NOPs in.
    pub(crate) callback_nops: Option<String>,
    /// The features whose replacements are of the gate; any of them where the
    /// numbers are made by the build.
    #[serde(default, rename = "feature")]
    pub(crate) features: Vec<Feature>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlternativeLayout {
    pub(crate) record: Record,
    /// Where the number of the feature stands.
    pub(crate) feature_at: usize,
    /// The bit of it that says that the CPU must lack the feature.
    #[serde(default)]
    pub(crate) inverted: u16,
    /// The bit of it that says that a function does the replacing.
    #[serde(default)]
    pub(crate) callback: u16,
    /// The bit of it that says that the feature is a vendor's own.
    #[serde(default)]
    pub(crate) vendor: u16,
    pub(crate) flags_at: Option<usize>,
    /// The bit of the flags that says that the CPU must lack the feature.
    #[serde(default)]
    pub(crate) not: u16,
    /// Where the length stands, in bytes, of what is replaced; that of the
    /// replacement is the next byte.
    pub(crate) lengths_at: usize,
    /// Whether there is one length for both instead, of two bytes.
    #[serde(default)]
    pub(crate) one_length: bool,
    /// Where it stands how much of the former is padding.
    pub(crate) padding_at: Option<usize>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// A feature of the CPU that decides over a replacement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feature {
    pub(crate) number: u16,
    #[serde(rename = "name")]
    _name: String,
    /// The one replacement that is meant, where the feature has others.
    pub(crate) only: Option<String>,
    /// Whether it opens the way to low memory of the kernel's own, and not to that
    /// of users.
    #[serde(default)]
    pub(crate) kernel: bool,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// The tables that every machine has in the same way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    pub(crate) bugs: Vec<BugLayout>,
    pub(crate) jumps: Vec<JumpLayout>,
}

/// `__bug_table`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BugLayout {
    pub(crate) record: Record,
    /// Where BUGFLAG_WARNING is bit 0.
    pub(crate) flags_at: usize,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// `__jump_table`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JumpLayout {
    pub(crate) record: Record,
    /// Where the key stands, of the machine's word.
    pub(crate) key_at: usize,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

impl Common {
    /// # Errors
    /// When the data file cannot be read.
    pub(crate) fn built_in() -> Result<&'static Self, ObjectError> {
        static READ: OnceLock<Result<Common, ObjectError>> = OnceLock::new();
        READ.get_or_init(|| parse(TABLES))
            .as_ref()
            .map_err(Clone::clone)
    }
}

impl FaultTable {
    /// Whether a record of this type is of user memory alone; none where it is
    /// of none.
    pub(crate) fn is_user(&self, kind: u32) -> Option<bool> {
        let mut all = self.user.iter();
        let user = all.find(|user| kind & user.mask == user.value)?;
        Some(!user.kernel_too)
    }

    /// Whether this function handles faults of accesses to user memory.
    pub(crate) fn handles_user(&self, name: &str) -> bool {
        let mut names = self.handlers.iter().flat_map(|handlers| &handlers.names);
        names.any(|known| known == name)
    }
}

impl Laid for FaultLayout {
    fn record(&self) -> &Record {
        &self.record
    }

    fn fields(&self) -> Vec<Option<usize>> {
        vec![self.kind_at, self.handler_at]
    }
}

impl Laid for FixupLayout {
    fn record(&self) -> &Record {
        &self.record
    }
}

impl Laid for AlternativeLayout {
    fn record(&self) -> &Record {
        &self.record
    }

    fn fields(&self) -> Vec<Option<usize>> {
        let lengths = Some(self.lengths_at);
        vec![Some(self.feature_at), self.flags_at, lengths]
    }
}

impl Laid for BugLayout {
    fn record(&self) -> &Record {
        &self.record
    }

    fn fields(&self) -> Vec<Option<usize>> {
        vec![Some(self.flags_at)]
    }
}

impl Laid for JumpLayout {
    fn record(&self) -> &Record {
        &self.record
    }

    fn fields(&self) -> Vec<Option<usize>> {
        vec![Some(self.key_at)]
    }
}

fn altinstructions() -> String {
    ".altinstructions".to_owned()
}

fn four() -> usize {
    4
}

fn bytes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let size = usize::deserialize(from)?;
    if size == 0 {
        return Err(serde::de::Error::custom("a record has at least one byte"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field of a record lies in it, and each of the table's own is where a
    /// field begins.
    fn within(layout: &impl Laid) {
        let (record, fields) = (layout.record(), layout.fields());
        let code = record.code.iter().map(|at| at + record.width);
        let most = record.most.iter().map(|[at, width, _]| at + width);
        let other = record
            .data
            .iter()
            .chain(&record.other)
            .map(|at| at + record.width);
        let more = fields.iter().flatten().map(|at| at + 2);
        let ends = code.chain(most).chain(other).chain(more);
        assert!(ends.max().unwrap() <= record.size, "{record:?}");
        for at in fields.iter().flatten() {
            let mut code = record.code.iter();
            let inside = code.any(|code| (code + 1..code + record.width).contains(at));
            assert!(!inside, "{at} of {record:?}");
        }
    }

    #[test]
    fn every_layout_holds_its_fields_and_gives_reasons() {
        for (_, layout) in crate::tables::layouts() {
            for faults in layout.faults.iter().flat_map(|table| &table.layouts) {
                within(faults);
                assert!(!faults._reason.is_empty() && !faults._source.is_empty());
            }
            for layout in layout.alternatives.iter().flat_map(|table| &table.layouts) {
                within(layout);
                assert!(layout.padding_at.is_none_or(|at| at < layout.record.size));
                assert!(!layout._reason.is_empty() && !layout._source.is_empty());
            }
            for layout in layout.fixups.iter().flat_map(|table| &table.layouts) {
                within(layout);
                assert!(!layout._reason.is_empty() && !layout._source.is_empty());
            }
        }
        let common = Common::built_in().unwrap();
        for bug in &common.bugs {
            within(bug);
            assert!(!bug._reason.is_empty() && !bug._source.is_empty());
        }
        for jump in &common.jumps {
            within(jump);
            assert!(jump.key_at + 4 <= jump.record.size, "{jump:?}");
            assert!(!jump._reason.is_empty() && !jump._source.is_empty());
        }
    }
}
