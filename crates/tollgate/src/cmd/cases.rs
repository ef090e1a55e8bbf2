//! `tollgate cases`: what can be proved, and what others claim of it.

use tollgate_lab::case::{Case, VariantPlan};
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

/// What makes a variant: of the kernel, of the program, or of both.
fn made_by(plan: &VariantPlan) -> String {
    let style = plan.style.iter();
    let style = style.map(|style| format!("tollgate fix --style {style}"));
    let patch = plan.patch.iter().map(|patch| format!("the patch {patch}"));
    let mode = plan.mode.iter();
    let mode = mode.map(|words| format!("the program's mode {}", words.join(" ")));
    let build = plan.defines.iter();
    let build = build.map(|words| format!("the program built with {}", words.join(", ")));
    let source = plan.source_patch.iter();
    let source = source.map(|patch| format!("the patch {patch} to the program's package"));
    let config = Some(&plan.config).filter(|lines| !lines.is_empty());
    let config = config.map(|lines| format!("the kernel with {}", lines.join(", ")));
    let made = style.chain(patch).chain(config).chain(mode).chain(build);
    let all: Vec<String> = made.chain(source).collect();
    all.join("; ")
}

fn line(name: &str) -> anyhow::Result<CaseLine> {
    let case = Case::named(name)?;
    let variants = case.variants.iter().map(|plan| VariantLine {
        name: plan.name.clone(),
        made_by: made_by(plan),
        reason: plan.reason.clone(),
    });
    let landed = case.landed.iter().map(|plan| VariantLine {
        name: plan.name.clone(),
        made_by: "the tree as it is, where it has the change, which the base has not".to_owned(),
        reason: format!("as it was merged: {}", plan.words()),
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
        variants: variants.chain(landed).collect(),
        benchmarks,
        claims: case
            .claims
            .iter()
            .map(|claim| (claim.text.clone(), claim.source.clone()))
            .collect(),
    })
}
