//! A real kernel: what is found in its functions is what its table of
//! replacements holds.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says what it expects, and what it skips"
)]

use std::path::PathBuf;

use object::{Object, ObjectSection};
use tollgate_gates::Analysis;

#[test]
fn each_replacement_of_a_kernel_is_found_in_a_function() {
    let Some(path) = vmlinux() else {
        eprintln!("skipped: no vmlinux in the cache of `tollgate prove`, and no TOLLGATE_VMLINUX");
        return;
    };
    let bytes = std::fs::read(&path).unwrap();
    let analysis = Analysis::of(&bytes).unwrap();
    let found = analysis.patched_in_functions;
    assert_eq!(
        (found.opens, found.closes, found.fences),
        replacements(&bytes),
        "{}",
        path.display()
    );
    assert_eq!(analysis.patched, found);
    assert!(found.opens > 50, "{found:?}");
    let lost = analysis.functions.iter().filter(|f| f.lost).count();
    assert_eq!(
        (analysis.findings(), lost, analysis.unread_records),
        (0, 0, 0)
    );
}

/// stac, clac and lfence of `.altinstructions`, counted from the bytes: records
/// of 14, `s32 instr, repl; u16 cpuid, flags; u8 ilen, rlen`.
fn replacements(bytes: &[u8]) -> (usize, usize, usize) {
    let file = object::File::parse(bytes).unwrap();
    let table = file.section_by_name(".altinstructions").unwrap();
    let code = file.section_by_name(".altinstr_replacement").unwrap();
    let (records, code_bytes) = (table.data().unwrap(), code.data().unwrap());
    let text = |at: usize, length: usize| {
        let field = i32::from_le_bytes(records[at + 4..at + 8].try_into().unwrap());
        let place = (table.address() + at as u64 + 4).wrapping_add_signed(field.into());
        let from = usize::try_from(place.wrapping_sub(code.address())).ok()?;
        code_bytes.get(from..from + length)
    };
    let mut counts = (0, 0, 0);
    for at in (0..records.len()).step_by(14) {
        let feature = u16::from_le_bytes(records[at + 8..at + 10].try_into().unwrap());
        match (feature, text(at, records[at + 13].into())) {
            (308, Some([0x0f, 0x01, 0xcb])) => counts.0 += 1,
            (308, Some([0x0f, 0x01, 0xca])) => counts.1 += 1,
            (642, Some([0x0f, 0xae, 0xe8])) => counts.2 += 1,
            _ => {}
        }
    }
    counts
}

fn vmlinux() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TOLLGATE_VMLINUX") {
        return Some(named.into());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let images = cache.or_else(home)?.join("tollgate/images");
    let images = std::fs::read_dir(images).ok()?.flatten();
    let built = images.map(|image| image.path().join("vmlinux"));
    built.into_iter().find(|path| path.is_file())
}
