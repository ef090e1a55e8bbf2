//! What a proof leaves: the page, the JSON, the patch; beside each other, each
//! renamed into place.

use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, bail};
use tollgate_defect::OrDefect as _;
use tollgate_measure::{Comparison, Proof};
use tollgate_report::comparison as render;
use tollgate_report::document::Document;
use tollgate_report::format::{Format, html, terminal};
use tollgate_report::profile::{ProfileFormat, profile};

use super::question::Question;
use super::setup::Setup;
use super::store::{DOCUMENT, PAGE, Store};
use super::variant::Candidate;
use tollgate_source::shown as name_of;

use super::request::Request;
use crate::date;
use crate::door;
use crate::figures::{self, Figures, of_counts};
use crate::output::Form;
use crate::place::{self, Place};
use crate::term::Term;

/// Checks before the work that its results will have a place.
///
/// # Errors
/// When a path that was given is in no folder, or is one, or is given twice.
pub(crate) fn check(request: &Request) -> anyhow::Result<()> {
    profile_format(request)?;
    let [shown, json] = request.output.places();
    let places = [
        shown,
        json,
        ("--html", request.html.as_ref()),
        ("--profile-out", request.profile_out.as_ref()),
    ];
    let patches = request.patch.iter().map(|path| ("--patch", path.as_path()));
    let series = request
        .series
        .iter()
        .map(|path| ("--series", Path::new(path)));
    let program = request
        .program
        .first()
        .map(|path| ("the program", Path::new(path)));
    let against = request.against.iter();
    let against = against.filter_map(|one| Some(("--against", Path::new(one.program.first()?))));
    let inputs: Vec<_> = patches
        .chain(series)
        .chain(program)
        .chain(against)
        .collect();
    if let Some(tree) = &request.tree {
        for (flag, place) in &places {
            if let Some(path) = place
                .and_then(Place::file)
                .filter(|path| place::is_kept(path))
            {
                door::refuse_inside(tree, flag, path)?;
            }
        }
    }
    place::check(&places, &inputs)
}

/// A result on its way to standard output.
pub(crate) struct Shown {
    pub(crate) document: Document,
    pub(crate) json: String,
    /// Where its files are, a line each.
    pub(crate) written: String,
}

impl Shown {
    /// Shows it: what is for people on standard error where standard output holds
    /// something else.
    ///
    /// # Errors
    /// The stream's own.
    pub(crate) fn show(&self, request: &Request, term: &Term) -> anyhow::Result<()> {
        let written = self.written.trim_end();
        match request.output.form {
            Form::Json => term.json(&self.json)?,
            Form::Document(name) => {
                let format = Format::of(name).or_defect("a format has no entry")?;
                term.raw(format.render(&self.document, term.look())?.as_bytes())?;
            }
            Form::Text | Form::Source | Form::Sarif | Form::Ktap => {
                return self.lines(request, term);
            }
        }
        term.note(written);
        Ok(())
    }

    fn lines(&self, request: &Request, term: &Term) -> anyhow::Result<()> {
        let places = [&request.output.json, &request.html, &request.profile_out];
        let mut places = places.into_iter().flatten();
        let lines = |look| format!("{}\n{}", terminal(&self.document, look), self.written);
        if places.any(|place| *place == Place::Stdout) {
            term.verdict(lines(term.look_stderr()).trim_end());
            return Ok(());
        }
        Ok(term.result(&lines(term.look()))?)
    }
}

/// With the day on which it was made.
pub(super) fn dated(document: Document) -> Document {
    Document {
        date: date::today(),
        ..document
    }
}

/// The form of the profile, none where there is none to write.
fn profile_format(request: &Request) -> anyhow::Result<Option<ProfileFormat>> {
    let Some(place) = &request.profile_out else {
        return Ok(None);
    };
    let ending = place.file().and_then(Path::extension);
    let ending = ending.and_then(|ending| ending.to_str());
    let of_ending = || ProfileFormat::of_ending(ending?);
    match request.profile_format.or_else(of_ending) {
        Some(format) => Ok(Some(format)),
        None => bail!(
            "--profile-out {place}: its ending is none of .perf, .txt, .folded, .json; say the form with --profile-format"
        ),
    }
}

/// What `write` writes.
pub(crate) struct Outcome<'a> {
    pub(crate) question: &'a Question,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) proof: &'a Proof,
}

/// Writes the results, into the cache and where the user wants them, and returns
/// the lines that say where they are.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(
    request: &Request,
    setup: &Setup<'_>,
    outcome: &Outcome<'_>,
    term: &Term,
) -> anyhow::Result<String> {
    let Outcome {
        question,
        candidates,
        proof,
    } = outcome;
    let store = Store::open(&setup.cache, question, &render::decided(proof))?;
    let page = html(&dated(render::document(proof)))?;
    let document = render::json(proof)?;
    store.put(PAGE, &page)?;
    store.put(DOCUMENT, &document)?;
    let mut patches = Written::default();
    for (candidate, comparison) in candidates.iter().zip(&proof.comparisons) {
        let name = match candidates.len() {
            1 => "variant.patch".to_owned(),
            _ => format!("{}.patch", candidate.variant.name),
        };
        // Another program on the base's kernel needs none.
        if candidate.patch.is_empty() {
            continue;
        }
        store.put(&name, patch(setup, question, candidate, comparison)?)?;
        patches.line("Patch:", &name_of(&store.place(&name)));
    }
    // First of all into the cache: what was counted is not lost where a file of the
    // user's cannot be written.
    let mut written = Written(store.keep()?);
    written.page(request.html.as_ref(), &store, &page, term)?;
    written.document(request.output.json.as_ref(), &store, &document, term)?;
    if let (Some(place), Some(format)) = (&request.profile_out, profile_format(request)?) {
        place.write(&profile(proof, format)?, term)?;
        written.line("Profile:", place);
    }
    Ok(written.0 + &patches.0)
}

/// The lines that say where results are.
#[derive(Default)]
pub(crate) struct Written(pub(crate) String);

impl Written {
    fn line(&mut self, what: &str, place: &impl Display) {
        self.0.push_str(&format!("{what:7} {place}\n"));
    }

    /// The page, where the user wants it.
    pub(crate) fn page(
        &mut self,
        wanted: Option<&Place>,
        store: &Store,
        page: &str,
        term: &Term,
    ) -> anyhow::Result<()> {
        if let Some(place) = wanted {
            let wrote = place.write(page, term);
            wrote.with_context(|| kept(store))?;
        }
        self.line("Page:", &shown(wanted, store, PAGE));
        Ok(())
    }

    /// The JSON, where the user wants it. A file of an earlier result that has a
    /// verdict which this one has not stays, under another name.
    pub(crate) fn document(
        &mut self,
        wanted: Option<&Place>,
        store: &Store,
        document: &str,
        term: &Term,
    ) -> anyhow::Result<()> {
        if let Some(place) = wanted {
            let earlier = place.set_aside(document, render::decided_in)?;
            let wrote = place.write_json(document, term);
            wrote.with_context(|| kept(store))?;
            if let Some(earlier) = earlier {
                self.line("Earlier:", &name_of(&earlier));
            }
        }
        self.line("JSON:", &shown(wanted, store, DOCUMENT));
        Ok(())
    }
}

fn kept(store: &Store) -> String {
    let document = store.place(DOCUMENT);
    format!("the result is {}, but", name_of(&document))
}

fn shown(wanted: Option<&Place>, store: &Store, name: &str) -> Place {
    let own = || Place::File(store.place(name));
    wanted.cloned().unwrap_or_else(own)
}

/// The patch; one of ours gets the figures into its message, here and, through
/// the cache, from `tollgate fix`, which nobody else's program can have measured.
/// Figures that counts did not decide are none, and those of several functions
/// together are not of each.
fn patch(
    setup: &Setup<'_>,
    question: &Question,
    candidate: &Candidate,
    comparison: &Comparison,
) -> anyhow::Result<Vec<u8>> {
    match candidate.fixes.as_slice() {
        [fixed] if of_counts(comparison.verdict) => {
            let text = render::commit_figures(comparison);
            // `fix` says what the first compiler makes of it.
            if setup.program.is_none() && candidate.compiler.is_none() {
                let measured = measured(setup, comparison, &text);
                figures::keep(
                    setup.cache.root(),
                    &fixed.patched,
                    &question.key()?,
                    &measured,
                )?;
            }
            fixed.with_figures(&text, setup)
        }
        _ => Ok(candidate.patch.clone()),
    }
}

fn measured(setup: &Setup<'_>, comparison: &Comparison, text: &str) -> Figures {
    let request = setup.request;
    Figures {
        subject: setup.subject(),
        tree: comparison.setting.tree.clone(),
        arch: comparison.setting.arch.clone(),
        config: comparison.setting.config.clone(),
        chosen: !request.bench.is_empty() || !request.param.is_empty(),
        workloads: comparison.workloads.len(),
        lines: text.lines().map(str::to_owned).collect(),
    }
}
