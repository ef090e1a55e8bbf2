//! Functions that a patch gives another name: what was said of them is not new.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::Defect;
use tollgate_source::{Vocabulary, bodies, tokens};

use super::series::Patch;

/// A function of a file: its name, and the lines of its body.
type Function<'t> = (String, Vec<&'t [u8]>);

/// The name that a function had before, by the one that it has.
///
/// # Errors
/// When the vocabulary is not what it should be: without it no function is known.
pub(super) fn renamed(patch: &Patch) -> Result<BTreeMap<String, String>, Defect> {
    let vocabulary = Vocabulary::shared()?;
    let files = patch.files.iter().filter(|(path, _)| path.is_c());
    let both = files.filter_map(|(_, (old, new))| Some((old.as_deref()?, new.as_deref()?)));
    Ok(both
        .flat_map(|(old, new)| between(functions(old, vocabulary), functions(new, vocabulary)))
        .collect())
}

/// Functions that are gone and new ones are the same where they stand between the same
/// others and at least half of their lines are.
fn between(old: Vec<Function<'_>>, new: Vec<Function<'_>>) -> Vec<(String, String)> {
    let names = |all: &[Function<'_>]| -> BTreeSet<String> {
        all.iter().map(|(name, _)| name.clone()).collect()
    };
    let (was, is) = (names(&old), names(&new));
    let (gone, come) = (apart(&old, &is), apart(&new, &was));
    let mut found = Vec::new();
    for (behind, come) in &come {
        let gone = gone.get(behind).map_or(&[][..], Vec::as_slice);
        if gone.len() != come.len() {
            continue;
        }
        let pairs = gone
            .iter()
            .zip(come)
            .filter(|(old, new)| alike(&old.1, &new.1));
        found.extend(pairs.map(|(old, new)| (new.0.clone(), old.0.clone())));
    }
    found
}

fn functions<'t>(text: &'t [u8], vocabulary: &Vocabulary) -> Vec<Function<'t>> {
    let all = bodies(text, &tokens(text, 0), vocabulary).into_iter();
    all.map(|body| {
        let inner = text.get(body.span.start..body.span.end).unwrap_or(&[]);
        let lines = inner.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        // A brace alone says nothing of whose it is.
        (body.name, lines.filter(|line| line.len() > 1).collect())
    })
    .collect()
}

/// The functions that the other side has not, by the last one before that it has.
fn apart<'f, 't>(
    all: &'f [Function<'t>],
    other: &BTreeSet<String>,
) -> BTreeMap<&'f str, Vec<&'f Function<'t>>> {
    let (mut found, mut behind) = (BTreeMap::<&str, Vec<&Function<'t>>>::new(), "");
    for one in all {
        match other.contains(&one.0) {
            true => behind = &one.0,
            false => found.entry(behind).or_default().push(one),
        }
    }
    found
}

fn alike(old: &[&[u8]], new: &[&[u8]]) -> bool {
    let mut left: Vec<&[u8]> = old.to_vec();
    let mut same = 0;
    for line in new {
        if let Some(at) = left.iter().position(|one| one == line) {
            left.swap_remove(at);
            same += 1;
        }
    }
    same * 2 >= old.len().max(new.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_with_another_name_is_known_by_its_lines_and_its_place() {
        let body = "{\n\tint unused;\n\treturn value;\n}\n";
        let text = |name: &str, body: &str| {
            format!("int first(void)\n{{\n\treturn 1;\n}}\nint {name}(int value)\n{body}")
        };
        let pairs = |old: String, new: String| {
            let vocabulary = Vocabulary::shared().unwrap();
            let of = |text| functions(text, vocabulary);
            between(of(old.as_bytes()), of(new.as_bytes()))
        };
        assert_eq!(
            pairs(text("a", body), text("b", body)),
            [("b".to_owned(), "a".to_owned())]
        );
        // Another function in its place is no other name of it.
        let other = "{\n\tdo_something(value);\n\treturn 2 * other(value);\n}\n";
        assert_eq!(pairs(text("a", body), text("b", other)), []);
        assert_eq!(pairs(text("a", body), text("a", body)), []);
        let two = text("b", body) + "int c(int value)\n" + body;
        assert_eq!(pairs(text("a", body), two), []);
    }
}
