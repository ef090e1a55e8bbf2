//! The files of the cases that come along.

use crate::assets;

/// The text of a file that a case names: one of its folder, or `OTHER-CASE/FILE`.
#[must_use]
pub fn case_file(case: &str, file: &str) -> Option<&'static str> {
    assets::text(&assets::CASES, &format!("{case}/{file}"))
        .or_else(|| assets::text(&assets::CASES, file))
}
