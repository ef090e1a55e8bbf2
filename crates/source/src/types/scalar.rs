//! The types that need no definition: read from `data/types/`.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::Deserialize;

use tollgate_defect::Defect;

use crate::vocabulary::read;

const SCALARS: &str = include_str!("../../../../data/types/scalars.toml");

/// The size of an enum whose values fit an `int`, in bytes.
const ENUM: u64 = 4;

/// Plain types with their sizes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scalars(HashMap<String, Known, RandomState>);

#[derive(Clone, Copy, Debug)]
struct Known {
    size: Size,
    lp64: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Size {
    Bytes(u64),
    Of(Width),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Width {
    Long,
}

#[derive(Deserialize)]
struct Scalar {
    names: Vec<String>,
    size: Size,
    #[serde(default)]
    lp64: bool,
}

#[derive(Deserialize)]
struct All {
    scalar: Vec<Scalar>,
}

impl Scalars {
    /// The types of `data/types/scalars.toml`, which is compiled in.
    pub(crate) fn builtin() -> Result<Self, Defect> {
        let all: All = read("data/types/scalars.toml", SCALARS)?;
        let known = all
            .scalar
            .into_iter()
            .flat_map(|Scalar { names, size, lp64 }| {
                names
                    .into_iter()
                    .map(move |name| (name, Known { size, lp64 }))
            });
        Ok(Self(known.collect()))
    }

    /// The size of a type in bytes, where a `long` has so many.
    pub(crate) fn size(&self, written: &str, long: u64) -> Option<u64> {
        let known = self.0.get(written).copied();
        let known = known.or_else(|| self.0.get(&plain(written)?).copied());
        match known {
            Some(Known { lp64: true, .. }) if long != 8 => None,
            Some(known) => Some(match known.size {
                Size::Bytes(bytes) => bytes,
                Size::Of(Width::Long) => long,
            }),
            None => written.starts_with("enum ").then_some(ENUM),
        }
    }
}

/// A type without the words that leave its size as it is.
fn plain(written: &str) -> Option<String> {
    let sign = |word: &&str| {
        !matches!(
            *word,
            "const" | "volatile" | "__user" | "unsigned" | "signed"
        )
    };
    let words: Vec<&str> = written.split_whitespace().filter(sign).collect();
    Some(match words.as_slice() {
        [] if written.trim().is_empty() => return None,
        [] => "int".to_owned(),
        [first @ .., "int"] if !first.is_empty() => first.join(" "),
        all => all.join(" "),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_type_stands_once_in_the_file_with_where_it_is_known_from() {
        let all: toml::Table = toml::from_str(SCALARS).unwrap();
        let mut seen = HashSet::new();
        for one in all["scalar"].as_array().unwrap() {
            assert!(one["reason"].as_str().unwrap().len() > 10, "{one}");
            for name in one["names"].as_array().unwrap() {
                assert!(seen.insert(name.as_str().unwrap()), "{name} stands twice");
            }
        }
    }

    #[test]
    fn a_size_is_that_of_the_words_on_the_machine() {
        let scalars = Scalars::builtin().unwrap();
        for (written, lp64, ilp32) in [
            ("unsigned", Some(4), Some(4)),
            ("const unsigned char", Some(1), Some(1)),
            ("short int", Some(2), Some(2)),
            ("unsigned long int", Some(8), Some(4)),
            ("long long int", Some(8), Some(8)),
            ("unsigned long long", Some(8), Some(8)),
            ("size_t", Some(8), Some(4)),
            ("__be32", Some(4), Some(4)),
            ("dma_addr_t", Some(8), None),
            ("enum kind", Some(4), Some(4)),
            ("struct kind", None, None),
            ("gone_t", None, None),
            ("", None, None),
        ] {
            let sizes = [8, 4].map(|long| scalars.size(written, long));
            assert_eq!(sizes, [lp64, ilp32], "{written}");
        }
    }
}
