//! The code of a file as the running kernel has it.

use std::collections::BTreeMap;
use tollgate_defect::{Defect, OrDefect as _, answer};

use crate::calls::{Calls, Role, ThunkKind};
use crate::code_tables::CodeTables;
use crate::decode::{Comparison, Decoder, Destination, Flow, Gate, Instruction};
use crate::elf::{ElfFile, Faults, Jumps, Place};
use crate::error::ObjectError;
use crate::hash::{HashMap, HashSet};
use crate::input::Input;
use crate::padding::has_traps;
use crate::replace::{Detours, Patch, Replaced};
use crate::symbols::Function;
use crate::tables::Tables;
use crate::values::Operation;

/// How often functions may share their code on the whole.
const MOST_SHARED: u64 = 8;

/// Bytes of a function that are followed. The longest of a kernel has some
/// hundred thousand; one instruction takes up to a hundred times its bytes.
pub(crate) const MOST_FUNCTION: u64 = 4 << 20;

/// Bytes of the longest instruction of x86 (SDM 2.3.11), longer than those of any other.
const LONGEST_INSTRUCTION: u64 = 15;

/// A file with its tables read.
pub(crate) struct Code<'data> {
    pub(crate) image: ElfFile<'data>,
    /// The kernel's name of the machine, `powerpc`.
    pub(crate) architecture: &'static str,
    pub(crate) layout: &'static CodeTables,
    pub(crate) calls: &'static Calls,
    pub(crate) decoder: Decoder,
    pub(crate) faults: Faults,
    pub(crate) jumps: Jumps,
    /// Traps that are mere warnings.
    warnings: HashSet<Place>,
    /// What is patched in: the gate's alone.
    patches: BTreeMap<Place, Patch>,
    /// What other features put in, by where.
    pub(crate) detours: Detours,
    /// Where replacements stand in the file, which is no function's code.
    replacements: BTreeMap<Place, u64>,
    /// Where a feature of the CPU switches code off.
    optional: BTreeMap<Place, u64>,
    /// Where a fence is put in.
    fences: HashSet<Place>,
    /// Records of tables that could not be followed.
    pub(crate) unread: usize,
    /// What is known of the functions that the file defines, by where they
    /// begin: names are compared once, not at every call.
    roles: HashMap<Place, Role>,
    /// Whether a trap behind a return is the function's.
    pub(crate) has_traps: bool,
}

impl<'data> Code<'data> {
    /// # Errors
    /// When it is no complete ELF file, of a machine without tables, or
    /// with tables of the kernel's that are laid out as none that is known.
    pub(crate) fn parse(input: Input<'data>) -> Result<Self, ObjectError> {
        Self::of(input, Tables::built_in()?)
    }

    /// By these tables.
    pub(crate) fn of(input: Input<'data>, tables: &'static Tables) -> Result<Self, ObjectError> {
        let image = ElfFile::parse(input)?;
        let found = tables.find(&image.file)?;
        let layout = &found.machine.layout;
        let decoder = Decoder::of(found)?;
        let faults = layout.faults.as_ref().map(|table| image.faults(table));
        let faults = faults.transpose()?.unwrap_or_default();
        let (jumps, warnings) = (image.jumps(&layout.settled_keys)?, image.warnings()?);
        let mut code = Self {
            unread: faults.unread,
            calls: &found.machine.calls,
            architecture: found.machine.name(),
            patches: BTreeMap::new(),
            detours: Detours::default(),
            replacements: BTreeMap::new(),
            optional: BTreeMap::new(),
            fences: HashSet::default(),
            image,
            layout,
            decoder,
            faults,
            jumps,
            warnings,
            roles: HashMap::default(),
            has_traps: false,
        };
        code.roles = code.known_roles();
        let put = Replaced::read(&code.image, code.layout, &code.decoder)?;
        for (at, switched) in put.switched {
            let known = code.jumps.entry(at).or_default();
            known.targets.extend(switched.targets);
            known.jumped = switched.jumped;
        }
        (code.patches, code.detours) = (put.patches, put.detours);
        code.replacements = put.stand;
        code.unread += put.unread;
        code.mark_fixups()?;
        code.has_traps = has_traps(&code);
        Ok(code)
    }

    fn mark_fixups(&mut self) -> Result<(), ObjectError> {
        for table in &self.layout.fixups {
            let (found, unread) = self.image.fixups(table)?;
            self.unread += unread;
            if table.fence {
                self.fences.extend(found.iter().map(|fixup| fixup.start));
            } else {
                self.optional
                    .extend(found.iter().map(|fixup| (fixup.start, fixup.end)));
            }
        }
        Ok(())
    }

    /// Whether a feature of the CPU switches an instruction off.
    pub(crate) fn is_optional(&self, at: Place) -> bool {
        let before = self.optional.range(..=at).next_back();
        before.is_some_and(|(start, end)| start.section == at.section && at.address < *end)
    }

    /// Every instruction that the table of replacements puts in place.
    pub(crate) fn patched(&self) -> Vec<Instruction> {
        let patches = self.patches.values();
        let mut all: Vec<_> = patches
            .flat_map(|patch| patch.instructions.clone())
            .collect();
        for (start, end) in &self.optional {
            self.decode(*start, *end, &mut all);
        }
        for at in &self.fences {
            self.decode(*at, at.address.saturating_add(4), &mut all);
        }
        all.retain(|instruction| instruction.patched);
        all
    }

    /// The bytes of an instruction as the running kernel has it: those that are put
    /// in its place, or its own, which a feature of the CPU may switch off.
    ///
    /// # Errors
    /// When the file has no such bytes: it was decoded from some.
    pub(crate) fn bytes_of(&self, instruction: &Instruction) -> Result<&[u8], Defect> {
        let what = format!(
            "no bytes of the instruction at {:#x}",
            instruction.at.address
        );
        self.bytes(instruction).or_defect(&what)
    }

    /// The same; none where the file has none.
    pub(crate) fn bytes(&self, instruction: &Instruction) -> Option<&[u8]> {
        let (here, length) = (instruction.at, usize::from(instruction.length));
        let section = Place { address: 0, ..here };
        // What a patch is longer than it replaces is never run from its own place.
        let patch = self.patches.range(section..=here).next_back();
        let put = patch.and_then(|(at, patch)| {
            let from = answer::fits::<usize, _>(here.address.checked_sub(at.address)?)?;
            patch.bytes.get(from..from.checked_add(length)?)
        });
        put.or_else(|| self.image.bytes_at(here, length))
    }

    /// What a comparison asks; with what its relocation says in an object file.
    pub(crate) fn comparison(&self, at: Place, bytes: &[u8]) -> Option<Comparison> {
        let from = if self.image.relocatable {
            0
        } else {
            at.address
        };
        let mut comparison = self.decoder.comparison(from, bytes)?;
        for offset in 0..bytes.len() as u64 {
            let address = at.address.saturating_add(offset);
            if let Some(reference) = self.image.relocations.at(Place { address, ..at }) {
                comparison.text.push_str(&format!(" {reference:?}"));
            }
        }
        Some(comparison)
    }

    /// The instructions between two addresses of a section, in order.
    pub(crate) fn instructions(&self, from: Place, end: u64) -> Vec<Instruction> {
        let to = Place {
            address: end,
            ..from
        };
        let (mut out, mut at) = (Vec::new(), from);
        for (place, patch) in self.patches.range(from..to.max(from)) {
            if place.address < at.address {
                continue;
            }
            self.decode(at, place.address, &mut out);
            out.extend(&patch.instructions);
            at.address = place.address.saturating_add(patch.length);
        }
        self.decode(at, end, &mut out);
        out
    }

    fn decode(&self, at: Place, end: u64, out: &mut Vec<Instruction>) {
        let length = answer::fits::<usize, _>(end.saturating_sub(at.address)).unwrap_or(0);
        let Some(bytes) = self.image.bytes_at(at, length) else {
            return;
        };
        let first = out.len();
        self.decoder
            .decode(&self.image, self.layout, at, bytes, out);
        for instruction in out.iter_mut().skip(first) {
            instruction.gate = instruction.gate.of_flags();
            self.settle(instruction);
            instruction.patched = instruction.gate != Gate::No && self.is_switched(instruction.at);
        }
    }

    /// Adds what the file knows besides the bytes.
    fn settle(&self, instruction: &mut Instruction) {
        instruction.flow = self.settled(instruction);
        instruction.gate = self.settled_gate(instruction);
        if let Flow::Call(to) = instruction.flow
            && let Some(lost) = self.role(&to).clobbers
        {
            instruction.operation = Operation::Lose(lost);
        }
    }

    /// What the kernel may have in place of some of these instructions.
    pub(crate) fn detours(&self, of: &[Instruction]) -> Vec<Instruction> {
        let mut all: Vec<_> = self.detours.of(of).collect();
        all.iter_mut().for_each(|i| self.settle(i));
        all
    }

    /// Whether a place is in what is only copied to another.
    pub(crate) fn is_replacement(&self, at: Place) -> bool {
        let before = self.replacements.range(..=at).next_back();
        before.is_some_and(|(start, end)| start.section == at.section && at.address < *end)
    }

    /// Whether the kernel puts a gate in, or leaves it in, by the CPU's features.
    fn is_switched(&self, at: Place) -> bool {
        self.fences.contains(&at) || self.is_optional(at)
    }

    /// The gate with what the file knows besides: fences that are put in, calls
    /// of what opens or closes for its caller.
    fn settled_gate(&self, instruction: &Instruction) -> Gate {
        if self.fences.contains(&instruction.at) {
            return Gate::Fence;
        }
        let (Flow::Call(to) | Flow::Jump(to)) = instruction.flow else {
            return instruction.gate;
        };
        match self.role(&to) {
            Role { opens: true, .. } => Gate::Open,
            Role { closes: true, .. } => Gate::Close,
            _ => instruction.gate,
        }
    }

    /// The flow with what the file knows besides: thunks, calls that do not
    /// come back, traps that are warnings.
    fn settled(&self, instruction: &Instruction) -> Flow {
        let thunk = |to: &Destination| self.role(to).thunk;
        match instruction.flow {
            Flow::Jump(to) => match thunk(&to) {
                Some(ThunkKind::Return) => Flow::Return,
                Some(ThunkKind::Indirect) => Flow::IndirectJump,
                None => Flow::Jump(to),
            },
            Flow::Call(to) => match thunk(&to) {
                Some(ThunkKind::Indirect) => Flow::IndirectCall,
                _ => Flow::Call(to),
            },
            Flow::Bug if self.warnings.contains(&instruction.at) => Flow::Next,
            Flow::Bug => Flow::Stop,
            other => other,
        }
    }

    fn known_roles(&self) -> HashMap<Place, Role> {
        let named = self
            .functions()
            .map(|(at, f)| (at, self.calls.role(&f.name)));
        named.filter(|(_, role)| *role != Role::default()).collect()
    }

    /// Makes known what functions of the file are.
    pub(crate) fn learn(&mut self, roles: &BTreeMap<Place, Role>) {
        self.roles.extend(roles);
    }

    /// Takes that back.
    pub(crate) fn forget(&mut self, roles: &BTreeMap<Place, Role>) {
        for at in roles.keys() {
            self.roles.remove(at);
        }
    }

    /// What is known of the function that begins at a place.
    pub(crate) fn role_at(&self, at: Place) -> Role {
        self.roles.get(&at).copied().unwrap_or_default()
    }

    /// What is known of what a call or jump goes to.
    pub(crate) fn role(&self, to: &Destination) -> Role {
        let known = to.place.and_then(|place| self.roles.get(&place));
        match (known, to.reference) {
            (Some(role), _) => *role,
            (None, Some(reference)) if !self.is_inside(to) => {
                self.calls.role(self.image.relocations.name(reference))
            }
            (None, _) => Role::default(),
        }
    }

    /// Whether a destination lies in a function of the file.
    fn is_inside(&self, to: &Destination) -> bool {
        to.place
            .is_some_and(|place| self.function_at(place).is_some())
    }

    /// The name of what a call or jump goes to, when it goes to its start.
    pub(crate) fn name(&self, to: &Destination) -> Option<(&str, u64)> {
        if let Some(named) = to.place.and_then(|place| self.image.name_of(place)) {
            return Some(named);
        }
        let name = self.image.relocations.name(to.reference?);
        (!name.is_empty()).then_some((name, 0))
    }

    /// Refuses a file whose functions hold the same code again and again: to
    /// follow it all would take for ever.
    pub(crate) fn refuse_much_twice(&self) -> Result<(), ObjectError> {
        let sections = self.image.sections.iter().filter(|s| s.executable);
        let code: u64 = sections.map(|section| section.bytes.len() as u64).sum();
        let most = code
            .saturating_mul(MOST_SHARED)
            .saturating_add(MOST_FUNCTION);
        let mut sum = 0_u64;
        for (at, function) in self.functions() {
            let section = self.image.section(at.section);
            let end = section.map_or(0, |s| s.address.saturating_add(s.bytes.len() as u64));
            sum = sum.saturating_add(function.end.min(end).saturating_sub(at.address));
            if sum > most {
                return Err(ObjectError::Overlap {
                    code,
                    name: function.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Every function of the file, by section and address.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (Place, &Function)> {
        let sections = self.image.sections.iter().filter(|s| s.executable);
        sections.flat_map(|section| {
            section.functions.functions().iter().map(|function| {
                let place = Place {
                    section: section.index,
                    address: function.start,
                };
                (place, function)
            })
        })
    }

    /// Where a function ends. One without a size may reach over the padding of its
    /// section: megabytes of zeros or int3 (0xcc) in a kernel of huge pages, of which no
    /// more is left than an instruction may end in.
    pub(crate) fn end_of(&self, at: Place, function: &Function) -> u64 {
        let end = self.used_end(at, function);
        end.min(at.address.saturating_add(MOST_FUNCTION))
    }

    /// Whether a function is longer than what is followed of one.
    pub(crate) fn is_cut(&self, at: Place, function: &Function) -> bool {
        self.used_end(at, function).saturating_sub(at.address) > MOST_FUNCTION
    }

    fn used_end(&self, at: Place, function: &Function) -> u64 {
        let size = function.end.saturating_sub(at.address);
        let length = answer::fits::<usize, _>(size).unwrap_or(usize::MAX);
        match self.image.bytes_at(at, length) {
            Some(bytes) if !function.sized => {
                let last = bytes.iter().rposition(|byte| !matches!(byte, 0 | 0xcc));
                let used = last.map_or(0, |last| last as u64 + 1);
                let used = used
                    .saturating_add(LONGEST_INSTRUCTION)
                    .min(bytes.len() as u64);
                at.address.saturating_add(used)
            }
            _ => function.end,
        }
    }

    /// Whether an instruction of x86 saves or restores the state of registers
    /// (XSAVE, XRSTOR, FXSAVE: 0f ae and 0f c7). Those have the same type in the
    /// table of faults, and most are of kernel memory.
    pub(crate) fn is_register_state(&self, at: Place) -> bool {
        let bytes = self.image.bytes_at(at, 3).unwrap_or_default();
        let rex = bytes.first().is_some_and(|byte| byte & 0xf0 == 0x40);
        let opcode = bytes.get(usize::from(rex)..).unwrap_or_default();
        matches!(opcode, [0x0f, 0xae | 0xc7, ..])
    }

    /// The function that begins at or holds a place.
    pub(crate) fn function_at(&self, place: Place) -> Option<&Function> {
        self.image
            .section(place.section)?
            .functions
            .at(place.address)
    }
}
