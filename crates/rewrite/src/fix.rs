//! A function of a tree, rewritten.

use tollgate_source::{Function, Opportunity, Parted, Run, TreePath};

use crate::asked::{Asked, Known, choose, not_understood, read, too_large, vocabulary};
use crate::edit::{Edit, apply};
use crate::helper;
use crate::include;
use crate::message::Facts;
use crate::offers::{Offers, UACCESS};
use crate::planned::planned;
use crate::planning::{checked, zero};
use crate::prefix::prefix;
use crate::refusal::{FixError, Reason, Refusal};
use crate::request::{Patched, ReadTree, Request};
use crate::style::Style;
use crate::styles::{self, Form, Work, size_switch};
use crate::subject::Subject;
use crate::target::Target;
use crate::writing::Written;

/// Rewrites one function.
///
/// # Errors
/// When the file or the function is not there, or nothing of it can be
/// rewritten without a change of what it means.
pub fn fix(tree: &dyn ReadTree, target: &Target, request: &Request) -> Result<Patched, FixError> {
    let text = read(tree, &target.path)?;
    let offers = offers_of(tree, request.style)?;
    if request.into_callers {
        return helper::fix(tree, target, request, &text, offers);
    }
    match styles::work(request.style) {
        Work::Runs(form) => of_runs(tree, target, request, &text, offers, form),
        Work::Copies => size_switch::fix(target, &text, offers, request),
    }
}

/// Asks whether a tree has the calls that a style needs: where it has not, no function of it
/// can be rewritten so.
///
/// # Errors
/// When it has not, or its header could not be read.
pub fn offered(tree: &dyn ReadTree, style: Style) -> Result<(), FixError> {
    offers_of(tree, style).map(|_| ())
}

fn offers_of(tree: &dyn ReadTree, style: Style) -> Result<Offers, FixError> {
    let offers = Offers::read(&read(tree, &TreePath::within(UACCESS))?);
    match styles::lacks(style, offers) {
        Some(lacks) => Err(FixError::Style { style, lacks }),
        None => Ok(offers),
    }
}

fn of_runs(
    tree: &dyn ReadTree,
    target: &Target,
    request: &Request,
    text: &[u8],
    offers: Offers,
    form: &dyn Form,
) -> Result<Patched, FixError> {
    let vocabulary = vocabulary(tree, &target.path, text)?.with(request.macros.clone());
    let asked = Asked {
        tree,
        target,
        request,
        text,
        offers,
        vocabulary: &vocabulary,
        form,
        opened: None,
    };
    let mut analyser = asked.analyser()?;
    let report = analyser.analyse(text);
    too_large(target, &report)?;
    let function = choose(target, report.functions)?;
    let loops = asked.loops(&mut analyser, &function);
    let alone = function.runs.is_empty() && loops.is_empty();
    if alone && !form.takes_checks() {
        return Err(nothing(target, &function, &report.opportunities));
    }
    let Some(flow) = asked.flow(&mut analyser, &function) else {
        return Err(match alone {
            true => nothing(target, &function, &report.opportunities),
            false => not_understood(target, &function),
        });
    };
    let known = Known {
        function: &function,
        flow: &flow,
        analyser,
        loops: &loops,
    };
    asked.about(known, |subject| {
        if alone && checked::plans(subject, |_| Ok(())).0.is_empty() {
            return Err(nothing(target, &function, &report.opportunities));
        }
        rewrite(target, subject, request, form)
    })
}

/// Why nothing of a function without runs is rewritten.
fn nothing(target: &Target, function: &Function, opportunities: &[Opportunity]) -> FixError {
    let path = target.path.clone();
    match parted(function, opportunities) {
        Some(refusal) => FixError::Parted {
            path,
            function: function.name.clone(),
            refusal,
        },
        None => FixError::Nothing {
            path,
            line: function.position.line,
            function: function.name.clone(),
        },
    }
}

/// What stands between accesses of a function that no run joins.
fn parted(function: &Function, opportunities: &[Opportunity]) -> Option<Refusal> {
    let mut own = opportunities
        .iter()
        .filter(|opportunity| opportunity.function == function.name);
    own.find_map(|opportunity| {
        let near = opportunity.near.as_ref()?;
        let line = opportunity
            .beside
            .as_ref()
            .map(|beside| beside.position.line);
        let line = line.unwrap_or(opportunity.position.line);
        let reason = match (&near.parted, &near.other) {
            (Parted::Round { line, calls: true }, _) => Reason::CallingRound(*line),
            (Parted::Round { line, .. }, _) => Reason::Round(*line),
            (_, Some(other)) => Reason::OtherObject(other.clone()),
            (Parted::Loop { line: head }, None) => Reason::Parted(
                line,
                format!("where the loop at line {head} begins or ends"),
            ),
            (Parted::When { condition }, None) => {
                Reason::Parted(line, format!("where {condition}"))
            }
            (Parted::Unless { condition }, None) => {
                Reason::Parted(line, format!("where not {condition}"))
            }
            (Parted::Case, None) => Reason::Parted(line, "in a case".to_owned()),
            (Parted::Statement, None) => {
                Reason::Parted(line, "behind another statement".to_owned())
            }
        };
        let line = opportunity.position.line;
        Some(Refusal { line, reason })
    })
}

fn rewrite(
    target: &Target,
    subject: &Subject<'_>,
    request: &Request,
    form: &dyn Form,
) -> Result<Patched, FixError> {
    let function = subject.function;
    let (written, refused) = windows(subject, form);
    let (plans, edits) = (written.plans, written.edits);
    let mut changes = written.changes;
    changes.extend(checked::said(&plans));
    changes.extend(zero::said(subject, &plans));
    changes.extend(subject.custom.and_then(|custom| custom.said(&plans)));
    if plans.is_empty() {
        // What a flag allows is worth more than what comes first.
        let allowed = refused.iter().position(|own| own.reason.is_allowed());
        let refusal = refused.into_iter().nth(allowed.unwrap_or(0));
        let mut error = not_understood(target, function);
        if let (FixError::Refused { refusal: own, .. }, Some(refusal)) = (&mut error, refusal) {
            *own = refusal;
        }
        return Err(error);
    }
    let spans = |run: &Run| {
        let mut spanning = plans.iter().filter(|plan| plan.checked.is_some());
        spanning.any(|plan| plan.region.contains(run.span))
    };
    let runs = function.runs.iter().filter(|run| !spans(run));
    let spanning = plans.iter().filter(|plan| plan.checked.is_some());
    let runs = runs
        .chain(spanning.map(|plan| &plan.run))
        .map(|run| run.sites.len());
    let rounds = plans.iter().filter_map(|plan| plan.rounds.as_ref());
    let before = runs.chain(rounds.map(|rounds| rounds.most)).sum();
    let after = usize::saturating_sub(before, written.saved);
    let prefix = prefix(target, request.prefix.as_deref(), &function.name)?;
    let facts = Facts {
        form,
        prefix: &prefix,
        function: &function.name,
        plans: &plans,
        before,
        after,
        figures: &request.figures,
        changes: &changes,
    };
    Ok(Patched {
        path: target.path.clone(),
        function: function.name.clone(),
        rewritten: edited(target, &function.name, subject.text, edits)?,
        original: subject.text.to_vec(),
        subject: facts.subject(),
        body: facts.body(),
        windows_before: before,
        windows_after: after,
        refused,
    })
}

fn edited(
    target: &Target,
    function: &str,
    text: &[u8],
    mut edits: Vec<Edit>,
) -> Result<Vec<u8>, FixError> {
    edits.extend(include::uaccess(text));
    apply(text, &edits).map_err(|defect| FixError::Defect {
        path: target.path.clone(),
        function: function.to_owned(),
        defect,
    })
}

/// A window for each run that may have one, or for pieces of it.
fn windows(subject: &Subject<'_>, form: &dyn Form) -> (Written, Vec<Refusal>) {
    let (plans, mut refused) = planned(subject, form);
    let mut written = form.write(subject, plans);
    refused.append(&mut written.refused);
    refused.sort_by_key(|refusal| refusal.line);
    (written, refused)
}
