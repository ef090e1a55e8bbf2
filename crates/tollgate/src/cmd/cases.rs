//! `tollgate cases`: what can be proved, and what others claim of it.

use tollgate_lab::case::Case;
use tollgate_report::cases as render;
use tollgate_report::cases::{CaseLine, VariantLine};

use crate::exit::Exit;
use crate::output::{Asked, Documents, Form};
use crate::term::Term;

/// Flags of `tollgate cases`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Asked<Documents>,
}

const EXAMPLES: &str = "\
A case is a system that a public patch is about: its variants, what runs in the
guest, and what was claimed of it. `tollgate prove CASE` measures the first
variant, `tollgate prove CASE --variant all` every one.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let output = args.output.output();
    output.check([])?;
    let cases: Result<Vec<CaseLine>, _> = Case::names().into_iter().map(line).collect();
    let cases = cases?;
    output.write(term, |form| {
        Ok(match form {
            Form::Json => render::json(&cases)?.into(),
            _ => render::document(&cases).into(),
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
