//! What a fix was asked for, and everything that is known of a function when it is decided
//! what becomes of it.

use std::cell::RefCell;
use std::io;

use tollgate_source::{
    Access, Analyser, FileReport, Flow, Function, Headers, LineIndex, Loop, TreePath, Types,
    Vocabulary,
};

use crate::calls::{Calls, is_absent};
use crate::custom::Custom;
use crate::include;
use crate::masks::{self, Tells};
use crate::offers::{Offers, UACCESS};
use crate::planning::rounds;
use crate::refusal::{FixError, Reason, Refusal};
use crate::request::{ReadTree, Request};
use crate::style::Style;
use crate::styles::Form;
use crate::subject::{Styled, Subject};
use crate::target::{Target, is_meant, near};

/// What was asked for, and what is read once for all functions that it is about.
pub(crate) struct Asked<'a> {
    pub(crate) tree: &'a dyn ReadTree,
    pub(crate) target: &'a Target,
    pub(crate) request: &'a Request,
    pub(crate) text: &'a [u8],
    pub(crate) offers: Offers,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) form: &'a dyn Form,
    /// The function that is called with a window open.
    pub(crate) opened: Option<&'a str>,
}

/// A function and its graph.
pub(crate) struct Known<'k, 'a> {
    pub(crate) function: &'k Function,
    pub(crate) flow: &'k Flow,
    pub(crate) analyser: Analyser<'a>,
    pub(crate) loops: &'k [Loop],
}

impl<'a> Asked<'a> {
    pub(crate) fn analyser(&self) -> Result<Analyser<'a>, FixError> {
        Analyser::new(self.vocabulary).map_err(|e| FixError::Analysis(e.to_string()))
    }

    pub(crate) fn loops(&self, analyser: &mut Analyser<'a>, function: &Function) -> Vec<Loop> {
        match self.form.spans_loops() || self.form.copies_elements() {
            true => rounds::candidates(analyser.loops(self.text, function), &function.runs),
            false => Vec::new(),
        }
    }

    /// The graph of a function of which every byte was understood.
    pub(crate) fn flow(&self, analyser: &mut Analyser<'a>, function: &Function) -> Option<Flow> {
        let flow = analyser.flow(self.text, function);
        flow.filter(|_| function.understood)
    }

    /// What comes of a function with everything that is known of it.
    ///
    /// # Errors
    /// Those of what is done with it, and a header that is there and cannot be read.
    pub(crate) fn about<R>(
        &self,
        known: Known<'_, '_>,
        act: impl FnOnce(&Subject<'_>) -> Result<R, FixError>,
    ) -> Result<R, FixError> {
        let Self {
            tree,
            target,
            request,
            text,
            offers,
            vocabulary,
            form,
            opened,
        } = *self;
        let reader = |path: &TreePath| tree.read(path);
        let headers = Headers::new(&reader).map_err(|e| FixError::Analysis(e.to_string()))?;
        let types = Types::new(&headers, &target.path, text);
        let calls = Calls::new(tree, &target.path, text, vocabulary);
        let custom = match form.keeps_ways() {
            true => None,
            false => Custom::of(tree, &target.path, text, vocabulary)?,
        };
        let subject = Subject {
            calls: &calls,
            text,
            lines: &LineIndex::new(text),
            function: known.function,
            flow: known.flow,
            analyser: &RefCell::new(known.analyser),
            loops: known.loops,
            vocabulary,
            offers: Custom::offers(custom, offers),
            custom,
            own_file: is_own_file(target),
            stop_at_first_fault: request.stop_at_first_fault,
            open_over_rounds: request.open_over_rounds,
            no_zero_on_fault: request.no_zero_on_fault,
            opened,
            objtool: objtool(tree, request, &target.path)?,
            styled: Styled {
                style: request.style,
                weaves: form.weaves(),
                types: &types,
                one_mask: masks::is_for_both_ways(tree, offers)?,
                tells: tells(tree, target, request, vocabulary)?,
                touch_all_members: request.touch_all_members,
            },
        };
        let done = act(&subject);
        calls.unread()?;
        done
    }
}

/// Whether objtool looks for calls in the windows of a file: where an index is checked by
/// one, it is made only when that is out of bounds. x86 alone selects it.
fn objtool(tree: &dyn ReadTree, request: &Request, path: &TreePath) -> Result<bool, FixError> {
    let mut parts = path.parts();
    let own = parts.next().filter(|first| *first == b"arch");
    let Some(arch) = own.and(parts.next()).filter(|_| request.into_callers) else {
        return Ok(true);
    };
    let path = TreePath::within("arch").joined(arch).joined(b"Kconfig");
    let text = match tree.read(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(true),
        Err(error) => return Err(unread(&path, &error)),
    };
    let selects = |line: &[u8]| {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let checks: [&[u8]; 2] = [b"HAVE_STACK_VALIDATION", b"HAVE_UACCESS_VALIDATION"];
        words.next() == Some(b"select") && words.next().is_some_and(|word| checks.contains(&word))
    };
    Ok(text.split(|byte| *byte == b'\n').any(selects))
}

/// Whether nobody outside the file calls its static functions: it is no header.
fn is_own_file(target: &Target) -> bool {
    let kind = target.path.as_path().extension();
    kind.is_some_and(|kind| kind == "c")
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
pub(crate) fn vocabulary(
    tree: &dyn ReadTree,
    path: &TreePath,
    text: &[u8],
) -> Result<Vocabulary, FixError> {
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

pub(crate) fn read(tree: &dyn ReadTree, path: &TreePath) -> Result<Vec<u8>, FixError> {
    tree.read(path).map_err(|error| unread(path, &error))
}

pub(crate) fn unread(path: &TreePath, error: &io::Error) -> FixError {
    FixError::File {
        path: path.clone(),
        reason: error.to_string(),
    }
}

/// A function of which nothing was looked at is not said to hold nothing.
pub(crate) fn too_large(target: &Target, report: &FileReport) -> Result<(), FixError> {
    let mut large = report.not_analysed.iter().filter_map(|access| {
        let function = access.function.as_ref()?;
        let large = access.reason == tollgate_source::Reason::TooLarge;
        (large && is_meant(function, &target.function)).then_some((function, access.position.line))
    });
    large.next().map_or(Ok(()), |(function, line)| {
        Err(FixError::Refused {
            path: target.path.clone(),
            function: function.clone(),
            refusal: Refusal {
                line,
                reason: Reason::TooLarge,
            },
        })
    })
}

pub(crate) fn choose(target: &Target, functions: Vec<Function>) -> Result<Function, FixError> {
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

pub(crate) fn not_understood(target: &Target, function: &Function) -> FixError {
    FixError::Refused {
        path: target.path.clone(),
        function: function.name.clone(),
        refusal: Refusal {
            line: function.position.line,
            reason: Reason::NotUnderstood,
        },
    }
}
