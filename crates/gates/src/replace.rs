//! What the kernel puts in place of code at boot: the records of
//! `.altinstructions`.

use std::collections::BTreeMap;

use crate::code_tables::CodeTables;
use crate::decode::{Decoder, Flow, Gate, Instruction, Origin};
use crate::elf::{Alternative, Choice, ElfFile, Place, Switched};
use crate::error::ObjectError;
use crate::hash::HashMap;
use crate::records::{AlternativeTable, Feature};

/// What the running kernel has in place of some bytes: the gate's.
pub(crate) struct Patch {
    /// Bytes that it replaces.
    pub(crate) length: u64,
    pub(crate) instructions: Vec<Instruction>,
    /// The bytes that the instructions are made of.
    pub(crate) bytes: Vec<u8>,
}

/// What a feature of the CPU puts in place, which may be there or not.
pub(crate) struct Detour {
    /// As the file holds it.
    pub(crate) instructions: Vec<Instruction>,
    /// Where it goes on.
    pub(crate) back: Place,
    /// The feature that decides.
    pub(crate) feature: u16,
    /// Whether it is for CPUs that lack it.
    pub(crate) inverted: bool,
}

/// The detours of a file.
#[derive(Default)]
pub(crate) struct Detours {
    /// By what they replace.
    by_place: HashMap<Place, Vec<Detour>>,
    /// Where the last instruction of one goes on.
    backs: HashMap<Place, Place>,
    /// Where the running kernel has an instruction of one.
    shown: HashMap<Place, Place>,
}

impl Detours {
    /// What may stand at a place instead.
    pub(crate) fn at(&self, place: Place) -> &[Detour] {
        self.by_place.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The instructions that may stand in place of these.
    pub(crate) fn of<'a>(
        &'a self,
        instructions: &'a [Instruction],
    ) -> impl Iterator<Item = Instruction> + 'a {
        let all = instructions.iter().flat_map(|i| self.at(i.at));
        all.flat_map(|detour| detour.instructions.iter().copied())
    }

    /// Where the last instruction of a detour goes on.
    pub(crate) fn back(&self, last: Place) -> Option<Place> {
        self.backs.get(&last).copied()
    }

    /// Where the running kernel has an instruction.
    pub(crate) fn shown(&self, place: Place) -> Place {
        self.shown.get(&place).copied().unwrap_or(place)
    }

    fn add(&mut self, at: Place, detour: Detour) {
        for instruction in &detour.instructions {
            self.shown.insert(instruction.at, at);
        }
        if let Some(last) = detour.instructions.last() {
            self.backs.insert(last.at, detour.back);
        }
        self.by_place.entry(at).or_default().push(detour);
    }
}

/// What the table of replacements comes to.
#[derive(Default)]
pub(crate) struct Replaced {
    pub(crate) patches: BTreeMap<Place, Patch>,
    pub(crate) detours: Detours,
    /// Code of machines that settle their features once: where it jumps, and
    /// which feature decides.
    pub(crate) switched: Vec<(Place, Switched)>,
    /// Where the replacements stand in the file: from and up to.
    pub(crate) stand: BTreeMap<Place, u64>,
    /// Records that could not be followed.
    pub(crate) unread: usize,
}

impl Replaced {
    /// # Errors
    /// When it cannot be told how the records are laid out.
    pub(crate) fn read(
        image: &ElfFile<'_>,
        layout: &CodeTables,
        decoder: &Decoder,
    ) -> Result<Self, ObjectError> {
        let mut all = Self::default();
        let Some(table) = &layout.alternatives else {
            return Ok(all);
        };
        let found = image.alternatives(table)?;
        let reader = Reader {
            image,
            layout,
            decoder,
            table,
        };
        for record in found.by_place.values().flatten() {
            let end = behind(record.replacement, record.replacement_length).address;
            let known = all.stand.entry(record.replacement).or_default();
            *known = end.max(*known);
        }
        for (at, records) in &found.by_place {
            all.place(&reader, *at, records);
        }
        let nops = found.nops.into_iter().map(|(at, feature)| {
            let jumped = Some(Choice { feature, on: false });
            let targets = Vec::new();
            (at, Switched { targets, jumped })
        });
        all.switched.extend(nops);
        all.unread += found.unread;
        Ok(all)
    }

    /// The records of a place, of which the kernel applies the later over the
    /// earlier: what stands before the gate's never shows.
    fn place(&mut self, reader: &Reader<'_, '_>, at: Place, records: &[Alternative]) {
        let gate = records.iter().enumerate().rev();
        let gate = gate.filter_map(|(index, record)| Some((index, reader.patch(record)?)));
        let later = match gate.into_iter().next() {
            Some((index, patch)) => {
                self.patches.insert(at, patch);
                records.get(index + 1..).unwrap_or_default()
            }
            None => records,
        };
        for record in later.iter().filter(|record| !reader.is_never(record)) {
            if reader.table.callbacks {
                match reader.switched(record) {
                    Some(switched) => self.switched.push((at, switched)),
                    None => self.unread += 1,
                }
                continue;
            }
            match reader.detour(record) {
                Some(detour) if reader.matters(record, &detour, self.patches.contains_key(&at)) => {
                    self.detours.add(at, detour);
                }
                Some(_) => {}
                None => self.unread += 1,
            }
        }
    }
}

/// What records are read with.
struct Reader<'a, 'data> {
    image: &'a ElfFile<'data>,
    layout: &'a CodeTables,
    decoder: &'a Decoder,
    table: &'a AlternativeTable,
}

impl Reader<'_, '_> {
    /// The instructions of some bytes of the file, as if they stood at a place.
    fn decode(&self, at: Place, bytes: &[u8]) -> Vec<Instruction> {
        let mut instructions = Vec::new();
        self.decoder
            .decode(self.image, self.layout, at, bytes, &mut instructions);
        instructions
    }

    /// The bytes that a record puts in; none where the file does not hold them.
    fn bytes(&self, record: &Alternative) -> Option<&[u8]> {
        let length = usize::from(record.replacement_length);
        let bytes = self.image.bytes_at(record.replacement, length)?;
        (bytes.len() == length).then_some(bytes)
    }

    /// The feature of the gate that a record is of.
    fn feature(&self, record: &Alternative) -> Option<&Feature> {
        let mut all = self.table.features.iter();
        all.find(|known| known.number == record.feature)
    }

    /// Whether a record is for CPUs without the gate alone.
    fn is_never(&self, record: &Alternative) -> bool {
        let feature = self.feature(record);
        record.inverted && feature.is_some_and(|feature| feature.only.is_none())
    }

    /// The instructions of a record that is of the gate.
    fn patch(&self, record: &Alternative) -> Option<Patch> {
        let bytes = self.bytes(record)?;
        let feature = self.feature(record);
        let only = |feature: &Feature| feature.only.as_ref().is_none_or(|only| *only == hex(bytes));
        let of_the_gate = self.table.features.is_empty() || feature.is_some_and(only);
        if record.inverted || !of_the_gate {
            return None;
        }
        let mut instructions = self.decode(record.at, bytes);
        let gates = |i: &Instruction| !matches!(i.gate, Gate::No);
        instructions.iter().any(gates).then_some(())?;
        let kernel = feature.is_some_and(|feature| feature.kernel);
        for instruction in &mut instructions {
            instruction.patched = true;
            instruction.gate = match instruction.gate {
                Gate::Open if kernel => Gate::OpenKernel,
                Gate::Close if kernel => Gate::CloseKernel,
                gate => gate,
            };
        }
        Some(Patch {
            length: u64::from(record.length.max(1)),
            instructions,
            bytes: bytes.to_vec(),
        })
    }

    /// What a record of another feature puts in, and where that goes on.
    fn detour(&self, record: &Alternative) -> Option<Detour> {
        let mut instructions = self.decode(record.replacement, self.bytes(record)?);
        let back = behind(record.at, record.length);
        let end = behind(record.replacement, record.replacement_length);
        for instruction in &mut instructions {
            instruction.origin = Origin::Put;
            // Such a pushf saves interrupts, not the gate.
            instruction.gate = instruction.gate.of_flags();
            // The end of the replacement is that of what it replaces.
            if let Flow::Jump(to) | Flow::Branch(to) = &mut instruction.flow
                && to.place == Some(end)
            {
                to.place = Some(back);
            }
        }
        Some(Detour {
            instructions,
            back,
            feature: record.feature,
            inverted: record.inverted,
        })
    }

    /// Whether a detour is any other way than the code in its place: most put in
    /// another instruction that computes.
    fn matters(&self, record: &Alternative, detour: &Detour, over_gate: bool) -> bool {
        let length = usize::from(record.length);
        let bytes = self.image.bytes_at(record.at, length).unwrap_or_default();
        let own = self.decode(record.at, bytes);
        let plain = |i: &Instruction| matches!((i.flow, i.gate), (Flow::Next, Gate::No));
        over_gate || !own.iter().chain(&detour.instructions).all(plain)
    }

    /// Where the jumps of a record go, of a machine that settles its features
    /// once. None where the file does not hold it.
    fn switched(&self, record: &Alternative) -> Option<Switched> {
        let instructions = self.decode(record.replacement, self.bytes(record)?);
        let target = |instruction: &Instruction| match instruction.flow {
            Flow::Jump(to) | Flow::Branch(to) => to.place,
            _ => None,
        };
        let targets: Vec<Place> = instructions.iter().filter_map(target).collect();
        let jumped = Some(Choice {
            feature: record.feature.into(),
            on: !targets.is_empty(),
        });
        Some(Switched { targets, jumped })
    }
}

/// The place so many bytes behind another.
fn behind(place: Place, length: u16) -> Place {
    Place {
        address: place.address.saturating_add(length.into()),
        ..place
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
