//! `tollgate cases`: what can be proved, and what others claim of it.

use tollgate_lab::case::Case;
use tollgate_report::cases as render;
use tollgate_report::cases::{CaseLine, VariantLine};

use crate::exit::Exit;
use crate::output::{Form, Output, forms};
use crate::place::{Place, parser};
use crate::term::Term;

/// Flags of `tollgate cases`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The form of the list
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = forms(&["text", "json"]))]
    format: Form,
    /// Where to write the JSON, too; - is standard output, and what is for people
    /// then goes to standard error
    #[arg(long, value_name = "FILE", value_parser = parser())]
    json: Option<Place>,
}

const EXAMPLES: &str = "\
A case is a system that a public patch is about: its variants, what runs in the
guest, and what was claimed of it. `tollgate prove CASE` measures the first
variant, `tollgate prove CASE --variant all` every one.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let output = Output::new(args.format, args.json.as_ref());
    output.check([])?;
    let cases: Result<Vec<CaseLine>, _> = Case::names().into_iter().map(line).collect();
    let cases = cases?;
    output.write(term, |form, _| {
        Ok(match form {
            Form::Json => render::json(&cases)?,
            _ => render::text(&cases),
        })
    })?;
    Ok(Exit::Clean)
}

fn line(name: &str) -> anyhow::Result<CaseLine> {
    let case = Case::named(name)?;
    let variants = case.variants.iter().map(|plan| VariantLine {
        name: plan.name.clone(),
        made_by: match (&plan.style, &plan.patch) {
            (Some(style), _) => format!("tollgate fix --style {style}"),
            (None, patch) => format!("the patch {}", patch.as_deref().unwrap_or_default()),
        },
        reason: plan.reason.clone(),
    });
    let mut benchmarks: Vec<String> = Vec::new();
    for benchmark in &case.benchmarks {
        if !benchmarks.contains(&benchmark.name) {
            benchmarks.push(benchmark.name.clone());
        }
    }
    Ok(CaseLine {
        name: name.to_owned(),
        summary: case.about.summary.clone(),
        variants: variants.collect(),
        benchmarks,
        claims: case
            .claims
            .iter()
            .map(|claim| (claim.text.clone(), claim.source.clone()))
            .collect(),
    })
}
