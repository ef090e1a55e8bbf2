//! The cases that can be proved, with what others claim of them.

use crate::json::to_json;
use serde::Serialize;
use tollgate_defect::Defect;

use crate::document::{Block, Document, Extent, Fact, Section};

/// The version of the JSON form; it grows when a reader would break.
pub const CASES_VERSION: u32 = 1;

/// One case of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseLine {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub summary: String,
    /// Its variants, the one that is proved by default first.
    pub variants: Vec<VariantLine>,
    /// The benchmarks that it runs, each name once.
    pub benchmarks: Vec<String>,
    /// What was claimed, and where.
    #[serde(serialize_with = "claims")]
    pub claims: Vec<(String, String)>,
}

/// One variant of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariantLine {
    /// Its name.
    pub name: String,
    /// What makes it: a style of `fix`, or a patch.
    pub made_by: String,
    /// Why the case has it.
    pub reason: String,
}

#[derive(Serialize)]
struct JsonClaim<'a> {
    text: &'a str,
    source: &'a str,
}

fn claims<S: serde::Serializer>(
    claims: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        claims
            .iter()
            .map(|(text, source)| JsonClaim { text, source }),
    )
}

#[derive(Serialize)]
struct JsonCases<'a> {
    version: u32,
    kind: &'static str,
    cases: &'a [CaseLine],
}

/// The list, each case a section.
#[must_use]
pub fn document(cases: &[CaseLine]) -> Document {
    Document {
        title: "Cases that can be proved".to_owned(),
        short: "cases".to_owned(),
        head: Extent::Full,
        sections: cases.iter().map(section).collect(),
        ..Document::default()
    }
}

fn section(case: &CaseLine) -> Section {
    let variants = case.variants.iter().map(|variant| {
        let (made_by, reason) = (&variant.made_by, &variant.reason);
        Fact::plain(&variant.name, format!("{reason} ({made_by})"))
    });
    let claims = case.claims.iter().map(|(text, source)| {
        let source = format!("[{source}]");
        format!("{text} {source}")
    });
    let claims: Vec<String> = claims.collect();
    let mut facts: Vec<Fact> = vec![Fact::plain("benchmarks", case.benchmarks.join(", "))];
    let first = Some("claimed").into_iter().chain(std::iter::repeat(""));
    let claimed = first.zip(claims);
    facts.extend(claimed.map(|(label, text)| Fact::plain(label, text)));
    Section::new(
        format!("{}: {}", case.name, case.summary),
        vec![Block::Facts(variants.chain(facts).collect())],
    )
}

/// The list as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn json(cases: &[CaseLine]) -> Result<String, Defect> {
    to_json(&JsonCases {
        version: CASES_VERSION,
        kind: "cases",
        cases,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;

    fn cases() -> Vec<CaseLine> {
        let variant = |name: &str, made_by: &str| VariantLine {
            name: name.to_owned(),
            made_by: made_by.to_owned(),
            reason: "what the author asked for, in so many words that they need two lines".into(),
        };
        vec![CaseLine {
            name: "epoll".into(),
            summary: "each event is written with two passages of the gate".into(),
            variants: vec![
                variant("window", "tollgate fix --style window"),
                variant("bare", "the patch bare.patch"),
            ],
            benchmarks: vec!["epoll_wait".into(), "getppid".into()],
            claims: vec![("+1 % (AMD, timed)".into(), "a list, October 2025".into())],
        }]
    }

    #[test]
    fn the_list_fits_a_terminal() {
        let document = document(&cases());
        crate::format::tests::holds(&document);
        insta::assert_snapshot!(crate::format::tests::text(&document));
    }

    #[test]
    fn the_document_follows_its_schema() {
        let schema = include_str!("../../../schema/cases.schema.json");
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let document = json(&cases()).unwrap();
        assert!(
            schema.is_valid(&serde_json::from_str(&document).unwrap()),
            "{document}"
        );
        insta::assert_snapshot!(document);
    }
}
