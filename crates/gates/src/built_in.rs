//! Tables that are part of the program, found by name.

/// The table of that name, or the names that there are, for a sentence.
pub(crate) fn find<'a>(tables: &[(&str, &'a str)], name: &str) -> Result<&'a str, String> {
    let found = tables.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let known: Vec<&str> = tables.iter().map(|(known, _)| *known).collect();
        known.join(", ")
    })
}
