//! A static function whose accesses happen in a window of its callers: it becomes one that
//! needs an open window, and each caller with accesses beside a call of it opens one around
//! them all.

mod callers;
mod names;
mod open;
mod pieces;
mod words;

use tollgate_source::{Access, Direction, Function, Token, TokenKind, TreePath, bodies, tokens};

use crate::asked::{Asked, Known, choose, not_understood, too_large, vocabulary};
use crate::edit::{Edit, apply};
use crate::include;
use crate::offers::Offers;
use crate::refusal::{FixError, Reason, Refusal};
use crate::request::{Patched, ReadTree, Request};
use crate::styles::{Work, work};
use crate::target::Target;

use callers::Caller;
pub(crate) use names::Names;
use open::Open;

/// Rewrites a function and those that call it.
///
/// # Errors
/// When the function is not there, something in it may not happen in a window, or no caller
/// has a window for it.
pub(crate) fn fix(
    tree: &dyn ReadTree,
    target: &Target,
    request: &Request,
    text: &[u8],
    offers: Offers,
) -> Result<Patched, FixError> {
    let Work::Runs(form) = work(request.style) else {
        return Err(FixError::NoCallers(request.style));
    };
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
    let (function, open) = opened(&asked)?;
    let vocabulary = vocabulary.with([word(&function, &open)]);
    let opened = Asked {
        vocabulary: &vocabulary,
        opened: Some(&function.name),
        ..asked
    };
    let (callers, refused) = callers::all(&opened, &function, &open)?;
    if callers.is_empty() {
        let line = function.position.line;
        let none = || Refusal {
            line,
            reason: Reason::NoCaller,
        };
        let refusal = refused.into_iter().next().unwrap_or_else(none);
        return Err(asked_of(target, &function, refusal));
    }
    patched(&opened, &function, &open, callers, refused)
}

/// The function, and what it is where a window is open.
fn opened(asked: &Asked<'_>) -> Result<(Function, Open), FixError> {
    let mut analyser = asked.analyser()?;
    let report = analyser.analyse(asked.text);
    too_large(asked.target, &report)?;
    let function = choose(asked.target, report.functions)?;
    let all = tokens(asked.text, 0);
    let bodies = bodies(asked.text, &all, asked.vocabulary).into_iter();
    let times = bodies.filter(|body| body.name == function.name).count();
    if times > 1 {
        let refusal = Refusal {
            line: function.position.line,
            reason: Reason::Twice(times),
        };
        return Err(asked_of(asked.target, &function, refusal));
    }
    let flow = asked.flow(&mut analyser, &function);
    let flow = flow.ok_or_else(|| not_understood(asked.target, &function))?;
    let known = Known {
        function: &function,
        flow: &flow,
        analyser,
        loops: &[],
    };
    let open = asked.about(known, |subject| {
        open::open(subject).map_err(|refusal| asked_of(asked.target, &function, refusal))
    })?;
    Ok((function, open))
}

fn asked_of(target: &Target, function: &Function, refusal: Refusal) -> FixError {
    FixError::Refused {
        path: target.path.clone(),
        function: function.name.clone(),
        refusal,
    }
}

/// The function as its callers see it: an access to what its pointer points to. That it is
/// one which writes says that it gives no argument a value; which way it goes, each site is
/// told.
fn word(function: &Function, open: &Open) -> Access {
    Access {
        name: function.name.clone(),
        direction: Direction::Write,
        range_check: open.checks,
        wrapper: false,
        value: (open.pointer == 0).into(),
        address: Some(open.pointer),
        telling: true,
        reason: "the function itself".to_owned(),
    }
}

/// The patch of what was found.
fn patched(
    asked: &Asked<'_>,
    function: &Function,
    open: &Open,
    callers: Vec<Caller>,
    refused: Vec<Refusal>,
) -> Result<Patched, FixError> {
    let served = callers.iter().map(|caller| caller.calls).sum();
    let kept = mentions(asked.text, function) > served;
    let before = |caller: &Caller| caller.accesses;
    let windows_before = callers.iter().map(before).sum();
    let windows_after = callers.iter().map(|caller| caller.plans.len()).sum();
    let words = words::Words {
        asked,
        function,
        open,
        callers: &callers,
        before: windows_before,
        after: windows_after,
        kept,
    };
    let (subject, body) = (words.subject()?, words.body());
    let behind = names::written(open, &Names::of(&function.name), kept);
    let mut edits = open.edits.clone();
    edits.push(Edit::insert(function.body.end, behind));
    edits.extend(callers.into_iter().flat_map(|caller| caller.edits));
    edits.extend(include::uaccess(asked.text));
    let rewritten = apply(asked.text, &edits).map_err(|defect| FixError::Defect {
        path: asked.target.path.clone(),
        function: function.name.clone(),
        defect,
    })?;
    Ok(Patched {
        path: TreePath::clone(&asked.target.path),
        function: function.name.clone(),
        original: asked.text.to_vec(),
        rewritten,
        subject,
        body,
        windows_before,
        windows_after,
        refused,
    })
}

/// How often the file names the function beside its definition.
fn mentions(text: &[u8], function: &Function) -> usize {
    let name = function.name.as_bytes();
    let own = function.header.join(function.body);
    let inside = |line: &[u8]| {
        let words = tokens(line, 0);
        let named = words.iter().filter(|word| word.span.of(line) == name);
        named.count()
    };
    let count = |token: &Token| match token.kind {
        TokenKind::Word => usize::from(token.span.of(text) == name),
        // Past the mark, its words are words.
        TokenKind::Directive => token.span.of(text).get(1..).map_or(0, inside),
        _ => 0,
    };
    let all = tokens(text, 0);
    let outside = all.iter().filter(|token| !own.contains(token.span));
    outside.map(count).sum()
}
