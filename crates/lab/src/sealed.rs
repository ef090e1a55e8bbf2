//! Records that know their own hash: JSON, and under it a line with the hash of what
//! stands above it. What a disk, a cut or a hand has changed is not believed.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tollgate_defect::answer;

use crate::cache::{self, Error};
use crate::damage;
use crate::tree;

/// How the last line begins.
const SEAL: &str = "blake3 ";

/// Keeps a value in a file.
///
/// # Errors
/// What the system says.
pub fn keep<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let text = serde_json::to_string(value).map_err(|error| Error::Write {
        path: path.to_owned(),
        source: std::io::Error::other(error),
    })?;
    let hash = tree::hash(text.as_bytes());
    cache::write_file(path, format!("{text}\n{SEAL}{hash}\n").as_bytes())
}

/// The value of a file that can be made again: none where there is no such file, or
/// where it does not hold what was kept, which is noted ([`damage`]).
///
/// # Errors
/// When the file is there and cannot be read.
pub fn kept<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    match read(path)? {
        Read::Value(value) => Ok(Some(value)),
        Read::Nothing => Ok(None),
        Read::Damaged => {
            damage::note(path);
            Ok(None)
        }
    }
}

/// The value of a file that nothing makes again; none where there is no such file.
///
/// # Errors
/// When the file is there, and cannot be read or does not hold what was kept.
pub fn kept_or_lost<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    match read(path)? {
        Read::Value(value) => Ok(Some(value)),
        Read::Nothing => Ok(None),
        Read::Damaged => Err(Error::Read {
            path: path.to_owned(),
            reason: "it does not hold what was written there".to_owned(),
        }),
    }
}

enum Read<T> {
    Value(T),
    Nothing,
    Damaged,
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Read<T>, Error> {
    let Some(bytes) = cache::read_if_there(path)? else {
        return Ok(Read::Nothing);
    };
    let Some(text) = unsealed(&bytes) else {
        // An earlier tollgate kept its records without a seal: whole, and not believed.
        let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
        return Ok(if is_whole {
            Read::Nothing
        } else {
            Read::Damaged
        });
    };
    Ok(match serde_json::from_slice(text) {
        Ok(value) => Read::Value(value),
        // What another tollgate kept in another shape is whole, and says nothing here.
        Err(_) => Read::Nothing,
    })
}

/// The value in the bytes of a file that was kept; none where they are not those, or
/// are a value of another shape.
#[must_use]
pub fn value<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let read = serde_json::from_slice(unsealed(bytes)?);
    answer::there(read.map_err(drop))
}

/// What stands above the seal, where it fits.
fn unsealed(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_suffix(b"\n")?;
    let at = memchr::memrchr(b'\n', bytes)?;
    let (text, seal) = bytes.split_at(at);
    let hash = seal.strip_prefix(b"\n")?.strip_prefix(SEAL.as_bytes())?;
    (tree::hash(text).as_bytes() == hash).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_record_can_be_another_and_none_can_be_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        let value = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(kept::<Vec<String>>(&path).unwrap(), None);
        keep(&path, &value).unwrap();
        assert_eq!(kept(&path).unwrap(), Some(value));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                assert_eq!(unsealed(&altered), None, "{at} {bit}");
            }
            assert_eq!(unsealed(&whole[..at]), None, "{at}");
        }
        std::fs::write(&path, &whole[1..]).unwrap();
        assert_eq!(kept::<Vec<String>>(&path).unwrap(), None);
        assert!(damage::taken().contains(&path));
        let told = kept_or_lost::<Vec<String>>(&path).unwrap_err().to_string();
        assert!(
            told.contains("record.json") && told.contains("delete it"),
            "{told}"
        );
    }

    #[test]
    fn a_record_of_another_shape_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("another.json");
        keep(&path, &1).unwrap();
        assert_eq!(kept::<String>(&path).unwrap(), None);
        assert!(!damage::taken().contains(&path));
    }

    /// The figures of an earlier tollgate ended every `fix` of what they were measured for.
    #[test]
    fn a_record_without_a_seal_says_nothing_and_is_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, "{\"a\":1}\n").unwrap();
        assert!(kept_or_lost::<u32>(&path).unwrap().is_none());
        std::fs::write(&path, "{\"a\":1").unwrap();
        assert!(kept_or_lost::<u32>(&path).is_err());
    }
}
