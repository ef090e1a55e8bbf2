//! The data files that the program carries, and how they are read.

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::error::ObjectError;

/// How object code is read, a file an architecture, and what all have alike.
static CODE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/code");
/// What instructions mean to the gate, a file a target.
static OPCODES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/arch");

/// The text of a file of `data/code`.
pub(crate) fn code(name: &str) -> Option<&'static str> {
    CODE.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The text of a file of `data/arch`.
pub(crate) fn opcodes(name: &str) -> Option<&'static str> {
    OPCODES.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The targets that `data/arch` has a file of, in order.
pub(crate) fn with_opcodes() -> Vec<&'static str> {
    let files = OPCODES.files();
    let mut names: Vec<_> = files
        .filter_map(|file| file.path().file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// Reads a data file of the program.
///
/// # Errors
/// When it is not as the program describes it.
pub(crate) fn parse<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ObjectError> {
    toml::from_str(text).map_err(|error| ObjectError::Table(error.to_string()))
}

/// A number of 32 bits that a data file writes in hexadecimal digits.
pub(crate) fn hex<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = String::deserialize(from)?;
    u32::from_str_radix(&text, 16).map_err(|_| {
        serde::de::Error::custom(format!(
            "`{text}` is no number of up to 8 hexadecimal digits"
        ))
    })
}

/// The same of 64 bits.
pub(crate) fn hex64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    hex_digits(&String::deserialize(from)?)
}

fn hex_digits<E: serde::de::Error>(text: &str) -> Result<u64, E> {
    u64::from_str_radix(text, 16).map_err(|_| {
        E::custom(format!(
            "`{text}` is no number of up to 16 hexadecimal digits"
        ))
    })
}

/// Several of those.
pub(crate) fn hexes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let all = Vec::<String>::deserialize(from)?.into_iter();
    all.map(|text| hex_digits(&text)).collect()
}
