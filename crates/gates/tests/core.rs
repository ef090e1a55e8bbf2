//! Cores: /proc/kcore of a running kernel, dumps.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::io::Cursor;

use tollgate_gates::{Analysis, Input, Rule, Stream, is_core, unpacked};
use tollgate_testing::memory::{BASE, CORE, PPC64, STEXT, X86_64, elf, kernel, loaded, notes};

/// `f` is wrong, `g` is not, and what ran at boot alone is not looked at.
fn check(core: &[u8]) {
    let whole = unpacked(core).unwrap().unwrap();
    let analysis = Analysis::of(&whole).unwrap();
    let names: Vec<&str> = analysis.functions.iter().map(|f| &*f.name).collect();
    assert_eq!(names, ["_stext", "f", "g"]);
    let found: Vec<_> = analysis
        .functions
        .iter()
        .flat_map(|f| f.findings.iter().map(|finding| (&*f.name, finding.rule)))
        .collect();
    assert_eq!(found, [("f", Rule::ReturnOpen)]);
    assert_eq!(analysis.functions[2].address, STEXT + 32);
    assert_eq!(analysis.functions[1].counts.accesses, 1);
}

#[test]
fn a_core_is_read_where_its_note_says_that_the_kernel_is() {
    let info = format!("OSRELEASE=6.12.0\nSYMBOL(_stext)={STEXT:x}\nKERNELOFFSET=0\n");
    let others = loaded(0xffff_8880_0000_0000, vec![0x90; 300]);
    let modules = loaded(0xffff_ffff_c000_0000, vec![0; 4096]);
    let own = loaded(BASE, kernel(true));
    let all = [others.clone(), modules, own.clone()];
    let told = elf(CORE, X86_64, &[&[notes(&info)], &all[..]].concat());
    assert!(is_core(&told));
    check(&told);
    // Without the note, the addresses of x86-64 tell.
    check(&elf(CORE, X86_64, &all));
    // No core, the same segments.
    let linked = elf(2, X86_64, &all);
    assert!(!is_core(&linked));
    assert_eq!(unpacked(&linked).unwrap(), None);
    // The note names a place that no segment has.
    let note = notes("SYMBOL(_stext)=ffffffff90000000\n");
    let astray = elf(CORE, X86_64, &[note, others, own]);
    let said = unpacked(&astray).unwrap_err().to_string();
    assert!(
        said.contains("no kernel with a list of its names"),
        "{said}"
    );
}

#[test]
fn of_a_segment_of_terabytes_the_kernel_is_read_alone() {
    // The linear map, as arm64 has the kernel in one of all that is ever mapped: the
    // file is as long as it says, and nothing is read of it but what is needed.
    let memory = kernel(true);
    let before = 1_u64 << 32;
    let note = notes(&format!("SYMBOL(_stext)={STEXT:x}\n"));
    let mut core = elf(CORE, X86_64, &[note, loaded(BASE - before, Vec::new())]);
    let size = before + memory.len() as u64;
    let header = 64 + 56;
    core[header + 32..header + 48].copy_from_slice(&[size, size].map(u64::to_le_bytes).concat());
    let at = core.len() as u64 + before;
    let far = Far {
        start: Cursor::new(core),
        at,
        memory,
        place: 0,
    };
    let stream = Stream::new(far).unwrap();
    let whole = unpacked(Input::from(&stream)).unwrap().unwrap();
    let analysis = Analysis::of(&whole).unwrap();
    let f = analysis.functions.iter().find(|f| f.name == "f").unwrap();
    assert_eq!((f.address, f.counts.opens), (STEXT + 16, 1));
}

/// A file with a hole of gigabytes.
struct Far {
    start: Cursor<Vec<u8>>,
    at: u64,
    memory: Vec<u8>,
    place: u64,
}

impl std::io::Read for Far {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = if self.place >= self.at {
            let rest = &self.memory[usize::try_from(self.place - self.at).unwrap()..];
            let size = rest.len().min(out.len());
            out[..size].copy_from_slice(&rest[..size]);
            size
        } else {
            self.start.set_position(self.place);
            let size = self.start.read(out)?;
            assert!(size > 0, "the hole is read");
            size
        };
        self.place += read as u64;
        Ok(read)
    }
}

impl std::io::Seek for Far {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        let end = self.at + self.memory.len() as u64;
        self.place = match to {
            std::io::SeekFrom::Start(place) => place,
            std::io::SeekFrom::End(by) => end.checked_add_signed(by).unwrap(),
            std::io::SeekFrom::Current(by) => self.place.checked_add_signed(by).unwrap(),
        };
        Ok(self.place)
    }
}

#[test]
fn a_core_that_cannot_be_read_is_refused_with_the_reason() {
    let user = loaded(0x40_0000, vec![0x90; 4096]);
    let vsyscall = loaded(0xffff_ffff_ff60_0000, vec![0xcc; 4096]);
    let mut small = elf(CORE, X86_64, std::slice::from_ref(&user));
    small[4] = 1;
    let mut cut = elf(CORE, X86_64, &[loaded(BASE, vec![0; 4096])]);
    cut.truncate(1000);
    for (bytes, reason) in [
        (
            elf(CORE, X86_64, &[user.clone(), vsyscall]),
            "no kernel with a list of its names",
        ),
        (
            elf(CORE, X86_64, std::slice::from_ref(&user)),
            "no kernel with a list of its names",
        ),
        (
            elf(CORE, PPC64, &[user]),
            "whose notes do not say where a kernel is",
        ),
        (small, "only those of 64 bits and little-endian"),
        (cut, "cannot be read: it ends before"),
        (
            elf(CORE, X86_64, &[])[..40].to_vec(),
            "cannot be read as an ELF object",
        ),
    ] {
        let said = unpacked(&bytes).unwrap_err().to_string();
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn any_byte_of_a_core_may_lie() {
    let note = notes(&format!("SYMBOL(_stext)={STEXT:x}\n"));
    let whole = elf(CORE, X86_64, &[note, loaded(BASE, kernel(true))]);
    for at in (0..whole.len()).step_by(37).chain(0..400) {
        let mut altered = whole.clone();
        altered[at] ^= 0xff;
        if let Ok(Some(bytes)) = unpacked(&altered)
            && let Err(error) = Analysis::of(&bytes)
        {
            let said = error.to_string();
            assert!(!said.contains("a defect of tollgate"), "{said}");
        }
    }
}
