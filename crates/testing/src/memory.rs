//! A kernel's memory as cores hold it (/proc/kcore, dumps): a few functions of x86-64 and
//! the kernel's own list of names, without an assembler.

/// Where the kernel of these cores is.
pub const BASE: u64 = 0xffff_ffff_8100_0000;
/// Where its code begins there, `_stext`.
pub const STEXT: u64 = BASE + 64;

/// The machines of ELF that the tests need, and its kind of a core.
pub const X86_64: u16 = 62;
/// See [`X86_64`].
pub const PPC64: u16 = 21;
/// See [`X86_64`].
pub const CORE: u16 = 4;

const STAC: [u8; 3] = [0x0f, 0x01, 0xcb];
const CLAC: [u8; 3] = [0x0f, 0x01, 0xca];
const RET: u8 = 0xc3;
/// movl %eax, (%rdi)
const STORE: [u8; 2] = [0x89, 0x07];

/// Writes memory piece by piece, and remembers what stands where.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    names: Vec<(u64, String)>,
}

impl Writer {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn here(&self) -> u64 {
        BASE + self.bytes.len() as u64
    }

    /// A name as `nm` has it, its kind before it.
    fn name(&mut self, kind: char, name: &str) {
        let here = self.here();
        self.names.push((here, format!("{kind}{name}")));
    }

    /// A function at the next 16 bytes; where it begins.
    fn function(&mut self, name: &str, code: &[u8]) -> u64 {
        self.align(16);
        self.name('T', name);
        let here = self.here();
        self.bytes.extend(code);
        here
    }

    /// The distance from here to an address.
    fn near(&mut self, address: u64) {
        let distance = address.wrapping_sub(self.here()) as u32;
        self.bytes.extend(distance.to_le_bytes());
    }

    fn words(&mut self, words: &[u32]) {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        self.bytes.extend(bytes);
    }

    /// The list of the names, as scripts/kallsyms writes it since 7.0.
    fn list(&mut self) {
        self.names.sort_by_key(|(address, _)| *address);
        let names = std::mem::take(&mut self.names);
        self.align(8);
        self.words(&[names.len() as u32]);
        let (mut markers, from) = (Vec::new(), self.bytes.len());
        for (number, (_, name)) in names.iter().enumerate() {
            if number % 256 == 0 {
                markers.push((self.bytes.len() - from) as u32);
            }
            self.bytes.push(name.len() as u8);
            self.bytes.extend(name.bytes());
        }
        self.align(4);
        self.words(&markers);
        let (from, mut index) = (self.bytes.len(), Vec::new());
        for token in 0..=255_u8 {
            index.extend(((self.bytes.len() - from) as u16).to_le_bytes());
            let letter = token.is_ascii_alphanumeric() || token == b'_';
            self.bytes.extend(if letter {
                vec![token, 0]
            } else {
                b"~~\0".to_vec()
            });
        }
        self.align(4);
        self.bytes.extend(index);
        self.align(4);
        names.iter().for_each(|(address, _)| self.near(*address));
    }
}

/// A kernel's memory at [`BASE`]. `f` stores to user memory and leaves its window open
/// where that faults, `g` opens and closes, and `boot` is a name of what ran at boot alone,
/// over which another thing lies, though a table still knows an access of it. `gated`: as a processor with SMAP has it; else there are
/// NOPs, as on one that has none.
#[must_use]
pub fn kernel(gated: bool) -> Vec<u8> {
    let [open, close] = match gated {
        true => [STAC, CLAC],
        false => [[0x90; 3]; 2],
    };
    let mut memory = Writer::default();
    memory.bytes.resize((STEXT - BASE) as usize, 0);
    memory.function("_stext", &[RET]);
    let code = [&open[..], &STORE, &close, &[RET]].concat();
    let f = memory.function("f", &code);
    memory.function("g", &[&open[..], &close, &[RET]].concat());
    memory.align(16);
    memory.name('T', "_etext");
    memory.bytes.resize(memory.bytes.len() + 64, 0);
    memory.name('D', "__init_begin");
    let boot = memory.function("boot", &[&STAC[..], &[0xff; 64]].concat());
    memory.align(16);
    memory.name('D', "__init_end");
    memory.words(&[0; 4]);
    memory.name('D', "__start___ex_table");
    for (access, fixup) in [(f + 3, f + 8), (boot, boot + 3)] {
        memory.near(access);
        memory.near(fixup);
        // EX_TYPE_UACCESS.
        memory.words(&[3]);
    }
    memory.name('D', "__stop___ex_table");
    memory.words(&[0]);
    // A list has more names than fit between two markers.
    for number in 0..300 {
        memory.name('d', &format!("x{number:03}"));
        memory.words(&[0]);
    }
    memory.list();
    memory.bytes
}

/// A segment of a core: its kind in ELF, its address, its bytes.
pub type Segment = (u32, u64, Vec<u8>);

/// A segment of memory.
#[must_use]
pub fn loaded(address: u64, bytes: Vec<u8>) -> Segment {
    (1, address, bytes)
}

/// The notes that fs/proc/kcore.c writes, another before the kernel's own.
#[must_use]
pub fn notes(text: &str) -> Segment {
    let mut out = Vec::new();
    for (name, text) in [("CORE", "12345678"), ("VMCOREINFO", text)] {
        let sizes = [name.len() + 1, text.len(), 0].map(|size| (size as u32).to_le_bytes());
        out.extend(sizes.concat());
        for bytes in [format!("{name}\0").as_bytes(), text.as_bytes()] {
            out.extend(bytes);
            out.resize(out.len().next_multiple_of(4), 0);
        }
    }
    (4, 0, out)
}

/// An ELF file of 64 bits, little-endian, of such a kind and machine.
#[must_use]
pub fn elf(kind: u16, machine: u16, segments: &[Segment]) -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([kind, machine].map(u16::to_le_bytes).concat());
    out.extend(1_u32.to_le_bytes());
    out.extend([0, 64, 0_u64].map(u64::to_le_bytes).concat());
    out.extend(0_u32.to_le_bytes());
    let sizes = [64, 56, segments.len() as u16, 0, 0, 0];
    out.extend(sizes.map(u16::to_le_bytes).concat());
    let mut at = 64 + 56 * segments.len() as u64;
    for (kind, address, bytes) in segments {
        let size = bytes.len() as u64;
        out.extend([*kind, 7].map(u32::to_le_bytes).concat());
        let fields = [at, *address, 0, size, size, 4];
        out.extend(fields.map(u64::to_le_bytes).concat());
        at += size;
    }
    segments.iter().for_each(|(_, _, bytes)| out.extend(bytes));
    out
}
