//! A case whose change has landed in the tree: the change is taken back as the base, and
//! the tree as it is stands beside our own fixes of that base.

use anyhow::bail;
use tollgate_lab::cache::Cache;
use tollgate_lab::case::{Case, Landed};
use tollgate_lab::image::Variant;
use tollgate_lab::process::Runner;
use tollgate_lab::tree::{Change, Tree};

use super::request::Request;
use super::setup::Setup;
use super::variant::Candidate;
use crate::progress::Steps;

/// Whether the case's own variants are proved: patches and programs of the user's alone
/// are held against the tree as it is, and so is a series.
pub(super) fn is_looked_for(request: &Request) -> bool {
    let own = request.patch.is_empty() && request.against.is_empty();
    request.series.is_none() && (own || !request.variant.is_empty())
}

/// The change of the case that the tree has.
///
/// # Errors
/// When a file that it names cannot be read.
pub(super) fn find(
    case: &Case,
    tree: &Tree,
    cache: &Cache,
    runner: &Runner,
    steps: &Steps<'_>,
) -> anyhow::Result<Option<Landed>> {
    if case.landed.is_empty() {
        return Ok(None);
    }
    let how = |landed: &Option<Landed>| match landed {
        Some(landed) => format!("taken back, in Linux since {}", landed.plan.since),
        None => "not in this tree".to_owned(),
    };
    Ok(steps.step(
        "look for the change",
        || case.landed_in(tree, cache, runner),
        how,
    )?)
}

/// The tree as it is, beside a base that is not.
pub(super) fn candidate(landed: &Landed) -> Candidate {
    Candidate {
        variant: Variant {
            name: landed.plan.name.clone(),
            change: Change::default(),
            config: Vec::new(),
        },
        compiler: None,
        program: None,
        fixes: Vec::new(),
        patch: landed.diff.clone(),
    }
}

/// Whether the change as it landed is one of those that are proved: it is where none is
/// named, or all are, or its name is among them.
pub(super) fn is_asked(request: &Request, landed: &Landed) -> bool {
    let named = &request.variant;
    let is = |name: &String| *name == landed.plan.name || name == super::variant::ALL;
    named.is_empty() || named.iter().any(is)
}

/// What the base is, in a sentence; none where it is the tree as it is.
pub(super) fn base_in_words(setup: &Setup<'_>) -> Option<String> {
    let about = &setup.case.about;
    if let Some(file) = &about.patch {
        return Some(format!(
            "the tree with cases/{}/{file} over it, as every image has it",
            about.name
        ));
    }
    let landed = setup.landed.as_ref()?;
    Some(format!(
        "the tree with {} taken back; {} is the tree as it is",
        landed.plan.words(),
        landed.plan.name
    ))
}

/// Refuses the name of a landed change on a tree that does not have it.
///
/// # Errors
/// With the reason.
pub(super) fn refuse_absent(request: &Request, setup: &Setup<'_>) -> anyhow::Result<()> {
    let is_named = |name: &String| request.variant.contains(name);
    let plans = setup.case.landed.iter();
    let named = plans.map(|plan| &plan.name).find(|name| is_named(name));
    match (named, &setup.landed) {
        (Some(name), None) => bail!(
            "--variant {name}: Linux {} does not have the change{}",
            setup.tree.version(),
            due(setup).map_or_else(String::new, |due| format!("; {due}"))
        ),
        _ => Ok(()),
    }
}

/// That a tree of this version should have a change of the case, and that it could not be
/// taken back.
pub(super) fn due(setup: &Setup<'_>) -> Option<String> {
    let version = setup.tree.version();
    let mut plans = setup.case.landed.iter();
    let plan = plans.find(|plan| setup.landed.is_none() && plan.is_due(version))?;
    Some(format!(
        "{} should be in Linux {version}, and cases/{}/{} does not take it back from this tree",
        plan.words(),
        setup.case.about.name,
        plan.patch
    ))
}
