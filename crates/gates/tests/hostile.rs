//! Objects that are cut off, altered, or lie about themselves: each is analysed
//! or refused with a sentence.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::Path;

use tollgate_gates::{Analysis, ObjectError, fuzz};

/// The objects of the fuzz target: of x86, powerpc and arm64, and an archive.
fn objects() -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gates");
    let files = std::fs::read_dir(corpus).unwrap();
    let objects: Vec<_> = files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(objects.len() > 5);
    objects
}

#[test]
fn a_file_may_be_cut_off_anywhere() {
    for object in objects() {
        for length in 0..object.len() {
            fuzz::gates(&object[..length]);
        }
    }
}

#[test]
fn every_field_may_lie() {
    for object in objects() {
        for at in (0..object.len().saturating_sub(8)).step_by(8) {
            for lie in [u64::MAX, 0xffff_fff0, 1 << 40] {
                let mut altered = object.clone();
                altered[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                fuzz::gates(&altered);
            }
        }
    }
}

#[test]
fn any_bit_may_be_flipped() {
    for object in objects() {
        for bit in (0..object.len() * 8).step_by(17) {
            let mut altered = object.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            fuzz::gates(&altered);
        }
    }
}

#[test]
fn what_is_refused_is_refused_with_a_sentence() {
    let whole = objects()
        .into_iter()
        .find(|object| Analysis::of(object).is_ok());
    let whole = whole.unwrap();
    let cut = Analysis::of(&whole[..whole.len() / 2]).unwrap_err();
    assert!(matches!(cut, ObjectError::Elf { .. }), "{cut}");
    let text = cut.to_string();
    assert!(text.contains("cannot be read as an ELF object"), "{text}");
    assert!(text.contains("give a complete .o"), "{text}");
    // e_machine of a machine without tables: SPARC V9.
    let mut sparc = whole.clone();
    sparc[18..20].copy_from_slice(&43_u16.to_le_bytes());
    let text = Analysis::of(&sparc).unwrap_err().to_string();
    assert!(
        text.contains("is not known here; known are: x86, powerpc"),
        "{text}"
    );
}
