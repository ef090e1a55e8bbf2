//! A function of a tree, rewritten.

use std::cell::RefCell;
use std::io;

use tollgate_source::{
    Access, Analyser, FileReport, Function, Headers, LineIndex, Loop, Opportunity, Parted, Run,
    Span, TreePath, Types, Vocabulary,
};

use crate::calls::{Calls, is_absent};
use crate::custom::Custom;
use crate::edit::{Edit, apply};
use crate::include;
use crate::masks::{self, Tells};
use crate::message::Facts;
use crate::offers::{Offers, UACCESS};
use crate::plan::Plan;
use crate::planning::{Around, checked, pieces, plan, rounds, zero};
use crate::prefix::prefix;
use crate::refusal::{FixError, Reason, Refusal};
use crate::request::{Patched, ReadTree, Request};
use crate::style::Style;
use crate::styles::{self, Form, Work, is_woven, size_switch};
use crate::subject::{Styled, Subject};
use crate::target::{Target, is_meant, near};
use crate::writing::Written;

/// Rewrites one function.
///
/// # Errors
/// When the file or the function is not there, or nothing of it can be
/// rewritten without a change of what it means.
pub fn fix(tree: &dyn ReadTree, target: &Target, request: &Request) -> Result<Patched, FixError> {
    let text = read(tree, &target.path)?;
    let offers = offers_of(tree, request.style)?;
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
    let mut analyser = Analyser::new(&vocabulary).map_err(|e| FixError::Analysis(e.to_string()))?;
    let report = analyser.analyse(text);
    too_large(target, &report)?;
    let function = choose(target, report.functions)?;
    let loops = match form.spans_loops() || form.copies_elements() {
        true => rounds::candidates(analyser.loops(text, &function), &function.runs),
        false => Vec::new(),
    };
    let alone = function.runs.is_empty() && loops.is_empty();
    if alone && !form.takes_checks() {
        return Err(nothing(target, &function, &report.opportunities));
    }
    let Some(flow) = analyser
        .flow(text, &function)
        .filter(|_| function.understood)
    else {
        return Err(match alone {
            true => nothing(target, &function, &report.opportunities),
            false => not_understood(target, &function),
        });
    };
    let reader = |path: &TreePath| tree.read(path);
    let headers = Headers::new(&reader).map_err(|e| FixError::Analysis(e.to_string()))?;
    let types = Types::new(&headers, &target.path, text);
    let calls = Calls::new(tree, &target.path, text, &vocabulary);
    let custom = match form.keeps_ways() {
        true => None,
        false => Custom::of(tree, &target.path, text, &vocabulary)?,
    };
    let subject = Subject {
        calls: &calls,
        text,
        lines: &LineIndex::new(text),
        function: &function,
        flow: &flow,
        analyser: &RefCell::new(analyser),
        loops: &loops,
        vocabulary: &vocabulary,
        offers: Custom::offers(custom, offers),
        custom,
        own_file: target
            .path
            .as_path()
            .extension()
            .is_some_and(|kind| kind == "c"),
        stop_at_first_fault: request.stop_at_first_fault,
        open_over_rounds: request.open_over_rounds,
        no_zero_on_fault: request.no_zero_on_fault,
        styled: Styled {
            style: request.style,
            weaves: form.weaves(),
            types: &types,
            one_mask: masks::is_for_both_ways(tree, offers)?,
            tells: tells(tree, target, request, &vocabulary)?,
            touch_all_members: request.touch_all_members,
        },
    };
    if alone && checked::plans(&subject, |_| Ok(())).0.is_empty() {
        calls.unread()?;
        return Err(nothing(target, &function, &report.opportunities));
    }
    let rewritten = rewrite(target, &subject, request, form);
    calls.unread()?;
    rewritten
}

/// What tells of a bad pointer, for the style whose scopes say so.
fn tells(
    tree: &dyn ReadTree,
    target: &Target,
    request: &Request,
    vocabulary: &Vocabulary,
) -> Result<Tells, FixError> {
    match request.style {
        Style::Scoped => {
            let uaccess = read(tree, &TreePath::within(UACCESS))?;
            masks::tells(tree, &target.path, &uaccess, vocabulary)
        }
        _ => Ok(Tells::default()),
    }
}

/// The words of an access, with the macros of the headers beside the file; a header
/// that is not there lies in another folder of headers.
fn vocabulary(tree: &dyn ReadTree, path: &TreePath, text: &[u8]) -> Result<Vocabulary, FixError> {
    let builtin = Vocabulary::builtin().map_err(|e| FixError::Analysis(e.to_string()))?;
    let mut analyser = Analyser::new(&builtin).map_err(|e| FixError::Analysis(e.to_string()))?;
    let folder = path.folder();
    let mut wrappers = Vec::new();
    for name in include::own_headers(text) {
        let path = folder.joined(name.as_bytes());
        match tree.read(&path) {
            Ok(header) => wrappers.extend(analyser.analyse(&header).wrappers),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(unread(&path, &error)),
        }
    }
    wrappers.retain(Access::is_known_by_name);
    Ok(builtin.with(wrappers))
}

fn read(tree: &dyn ReadTree, path: &TreePath) -> Result<Vec<u8>, FixError> {
    tree.read(path).map_err(|error| unread(path, &error))
}

fn unread(path: &TreePath, error: &io::Error) -> FixError {
    FixError::File {
        path: path.clone(),
        reason: error.to_string(),
    }
}

/// A function of which nothing was looked at is not said to hold nothing.
fn too_large(target: &Target, report: &FileReport) -> Result<(), FixError> {
    let large = report.not_analysed.iter().find(|access| {
        let function = access.function.as_deref().unwrap_or_default();
        access.reason == tollgate_source::Reason::TooLarge && is_meant(function, &target.function)
    });
    large.map_or(Ok(()), |access| {
        Err(FixError::Refused {
            path: target.path.clone(),
            function: access.function.clone().unwrap_or_default(),
            refusal: Refusal {
                line: access.position.line,
                reason: Reason::TooLarge,
            },
        })
    })
}

fn choose(target: &Target, functions: Vec<Function>) -> Result<Function, FixError> {
    let names: Vec<String> = functions.iter().map(|f| f.name.clone()).collect();
    let mut meant: Vec<Function> = functions
        .into_iter()
        .filter(|f| is_meant(&f.name, &target.function))
        .collect();
    meant.sort_by_key(|function| function.runs.is_empty());
    let Some(function) = meant.into_iter().next() else {
        let near = near(&target.function, names.iter().map(String::as_str))
            .into_iter()
            .map(str::to_owned)
            .collect();
        return Err(FixError::Function {
            path: target.path.clone(),
            function: target.function.clone(),
            near,
        });
    };
    Ok(function)
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

fn not_understood(target: &Target, function: &Function) -> FixError {
    FixError::Refused {
        path: target.path.clone(),
        function: function.name.clone(),
        refusal: Refusal {
            line: function.position.line,
            reason: Reason::NotUnderstood,
        },
    }
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

/// Plans that touch no byte twice.
fn planned(subject: &Subject<'_>, form: &dyn Form) -> (Vec<Plan>, Vec<Refusal>) {
    let (mut plans, mut refused) = match form.takes_checks() {
        true => checked(subject, form),
        false => (Vec::new(), Vec::new()),
    };
    let taken: Vec<Span> = plans.iter().map(|plan| plan.region).collect();
    for run in &subject.function.runs {
        if taken.iter().any(|region| meet(*region, run.span)) {
            continue;
        }
        let (found, refusal) = plans_for(subject, run);
        let by = |subject: &Subject<'_>| allowed(subject, run, form);
        refused.extend(refusal.map(|refusal| besides(subject, refusal, &by)));
        for plan in found {
            if plans.iter().any(|other| meet(other.region, plan.region)) {
                refused.push(subject.refuse(plan.region, Reason::Statement));
            } else {
                plans.push(plan);
            }
        }
    }
    looped(subject, form, &mut plans, &mut refused);
    (plans, refused)
}

/// Windows that take the place of an `access_ok()` statement. Each run is in one of
/// them as a whole, or in none.
fn checked(subject: &Subject<'_>, form: &dyn Form) -> (Vec<Plan>, Vec<Refusal>) {
    let apart = |plan: &Plan| {
        let mut runs = subject.function.runs.iter();
        runs.all(|run| !meet(plan.region, run.span) || plan.region.contains(run.span))
    };
    let is_implied = |plan: &Plan| plan.checked.as_ref().is_some_and(|own| own.implied);
    // What one run is has a form of its own.
    let is_run = |plan: &Plan| {
        let mut runs = subject.function.runs.iter();
        is_implied(plan) && runs.any(|run| is_served(subject, form, run, plan))
    };
    let fits = |plan: &Plan| match is_run(plan) || is_implied(plan) && !apart(plan) {
        true => Err(subject.refuse(plan.region, Reason::Statement)),
        false => form.fits(subject, plan),
    };
    let (mut plans, refused) = checked::plans(subject, fits);
    plans.retain(apart);
    (plans, refused)
}

/// Whether a run has all accesses of a plan, and a window of its own.
fn is_served(subject: &Subject<'_>, form: &dyn Form, run: &Run, whole: &Plan) -> bool {
    let all = whole.region.contains(run.span) && run.sites.len() >= whole.run.sites.len();
    let own = plan(subject, run).and_then(|plan| form.fits(subject, &plan));
    all && matches!(own, Ok(()))
}

/// A window around each loop with one access in each round, or a copy in its place.
fn looped(
    subject: &Subject<'_>,
    form: &dyn Form,
    plans: &mut Vec<Plan>,
    refused: &mut Vec<Refusal>,
) {
    let plan = match form.copies_elements() {
        true => rounds::copied::plan,
        false => rounds::plan,
    };
    let spans = |own: &&Loop| {
        let mut checked = plans.iter().filter(|plan| plan.checked.is_some());
        !checked.any(|plan| plan.region.contains(own.span))
    };
    let apart: Vec<&Loop> = subject.loops.iter().filter(spans).collect();
    for own in apart {
        match plan(subject, own) {
            Ok(plan) if plans.iter().any(|other| meet(other.region, plan.region)) => {
                refused.push(subject.refuse(own.span, Reason::Statement));
            }
            Ok(plan) => plans.push(plan),
            Err(refusal) => {
                let by = |subject: &Subject<'_>| match plan(subject, own) {
                    Ok(_) => Ok(()),
                    Err(refusal) => Err(refusal.reason),
                };
                refused.push(besides(subject, refusal, &by));
            }
        }
    }
    plans.sort_by_key(|plan| plan.region.start);
}

fn meet(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// What stands in the way besides, where leave to stop at the first fault would not
/// be enough, or leave to keep what reads fill is wanted, too.
fn besides(
    subject: &Subject<'_>,
    refusal: Refusal,
    allowed: &dyn Fn(&Subject<'_>) -> Result<(), Reason>,
) -> Refusal {
    let stopping = Subject {
        stop_at_first_fault: true,
        ..*subject
    };
    let keeping = Subject {
        no_zero_on_fault: true,
        ..stopping
    };
    let keeps = || !subject.no_zero_on_fault && allowed(&keeping).is_ok();
    let reason = match &refusal.reason {
        Reason::GoesOn => match allowed(&stopping) {
            Ok(()) => Reason::GoesOn,
            Err(_) if keeps() => Reason::GoesOnReading,
            Err(other) => Reason::GoesOnAnd(Box::new(other)),
        },
        Reason::Untested if subject.stop_at_first_fault && keeps() => Reason::UntestedReads,
        _ => return refusal,
    };
    Refusal { reason, ..refusal }
}

/// Whether anything of a run has a form by what is allowed; else what stands in the way.
fn allowed(subject: &Subject<'_>, run: &Run, form: &dyn Form) -> Result<(), Reason> {
    let (plans, refusal) = plans_for(subject, run);
    let written = form.write(subject, plans);
    let other = refusal.or(written.refused.into_iter().next());
    match other {
        Some(other) if written.plans.is_empty() => Err(other.reason),
        _ => Ok(()),
    }
}

fn plans_for(subject: &Subject<'_>, run: &Run) -> (Vec<Plan>, Option<Refusal>) {
    let in_pieces = || -> Vec<Plan> {
        let of = |around| -> Vec<Plan> {
            let pieces = pieces(subject, run, around).into_iter();
            // The refusal of the whole is the one that is said.
            pieces.flat_map(|piece| plan(subject, &piece)).collect()
        };
        let plans = of(Around::Harm);
        match plans.is_empty() {
            true => of(Around::Unplaced),
            false => plans,
        }
    };
    match plan(subject, run) {
        Ok(whole) if !subject.styled.weaves && is_woven(subject, &whole) => {
            let plans = in_pieces();
            let plans = if plans.is_empty() { vec![whole] } else { plans };
            (plans, None)
        }
        Ok(plan) => (vec![plan], None),
        Err(refusal) => (in_pieces(), Some(refusal)),
    }
}
