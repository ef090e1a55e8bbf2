//! What a command shows, and where: `--format` is the form of what standard output
//! gets, `--json` names a file that gets the JSON beside it. They mean the same in all
//! commands.

use std::path::Path;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tollgate_report::format::{Format, Look};

use crate::door;
use crate::place::{self, Place};
use crate::term::Term;

/// The forms that are no format of a document, and what each is.
const OTHERS: [(&str, &str); 3] = [
    ("json", "one document for programs; schema/ describes it"),
    ("sarif", "SARIF 2.1.0"),
    ("source", "The lines of the source, marked"),
];

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people, where they asked.
    Text,
    /// The same with the lines of the source.
    Source,
    /// For programs.
    Json,
    /// For programs, as SARIF.
    Sarif,
    /// A document in the format of that name.
    Document(&'static str),
}

impl Form {
    fn of(name: &str) -> Self {
        match name {
            "source" => Self::Source,
            "json" => Self::Json,
            "sarif" => Self::Sarif,
            name => Format::of(name)
                .filter(|format| !format.is_lines)
                .map_or(Self::Text, |format| Self::Document(format.name)),
        }
    }

    /// What is said of a flag that asks for it.
    fn flag(self) -> Option<&'static str> {
        match self {
            Self::Text | Self::Source => None,
            Self::Json => Some("--format json"),
            Self::Sarif => Some("--format sarif"),
            Self::Document(_) => Some("--format"),
        }
    }
}

/// Reads `--format` where a command has these forms.
pub(crate) fn forms(names: &[&'static str]) -> impl TypedValueParser<Value = Form> + use<> {
    let value = |name: &&'static str| {
        let other = OTHERS.iter().find(|(known, _)| known == name);
        let about = other.map(|(_, about)| *about);
        let about = about.or_else(|| Format::of(name).map(|format| format.about));
        PossibleValue::new(*name).help(about.unwrap_or_default())
    };
    let values: Vec<PossibleValue> = names.iter().map(value).collect();
    PossibleValuesParser::new(values).map(|name| Form::of(&name))
}

/// The forms of a document, and its JSON.
pub(crate) fn documents() -> impl TypedValueParser<Value = Form> {
    let formats = tollgate_report::format::FORMATS.iter();
    let names: Vec<&'static str> = formats.map(|format| format.name).chain(["json"]).collect();
    forms(&names)
}

/// What was asked of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) form: Form,
    pub(crate) json: Option<Place>,
}

impl Output {
    pub(crate) fn new(form: Form, json: Option<&Place>) -> Self {
        Self {
            form,
            json: json.cloned(),
        }
    }

    /// The places that the flags name; each is written once.
    pub(crate) fn places(&self) -> [place::Wanted<'_>; 2] {
        let own = self.form.flag();
        [
            (own.unwrap_or_default(), own.map(|_| &Place::Stdout)),
            ("--json", self.json.as_ref()),
        ]
    }

    /// Checks before the work that there is a place for everything.
    ///
    /// # Errors
    /// As [`place::check`].
    pub(crate) fn check<'p>(
        &self,
        inputs: impl IntoIterator<Item = &'p Path>,
    ) -> anyhow::Result<()> {
        let inputs: Vec<_> = inputs
            .into_iter()
            .map(|path| ("what is read", path))
            .collect();
        place::check(&self.places(), &inputs)
    }

    /// Refuses to write into a tree, which is only read.
    ///
    /// # Errors
    /// When the JSON would lie in it.
    pub(crate) fn refuse_inside(&self, tree: &Path) -> anyhow::Result<()> {
        let kept = self.json.as_ref().and_then(Place::file);
        match kept.filter(|path| place::is_kept(path)) {
            Some(path) => door::refuse_inside(tree, "--json", path),
            None => Ok(()),
        }
    }

    /// Writes an answer: `render` gives it in a form.
    ///
    /// # Errors
    /// Those of `render`, and of what is written to.
    pub(crate) fn write(
        &self,
        term: &Term,
        render: impl Fn(Form, Look) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let aside = self.json == Some(Place::Stdout);
        let text = render(
            self.form,
            if aside {
                term.look_stderr()
            } else {
                term.look()
            },
        )?;
        // A reader that has gone away costs no file.
        let shown = match self.form {
            Form::Text | Form::Source if aside => {
                term.verdict(text.trim_end());
                Ok(())
            }
            Form::Text | Form::Source => term.result(&text),
            Form::Json | Form::Sarif => term.json(&text),
            Form::Document(_) => term.raw(text.as_bytes()),
        };
        if let Some(place) = &self.json {
            let wrote = place.write_json(&render(Form::Json, term.look())?, term);
            wrote.with_context(|| format!("--json {place}"))?;
        }
        Ok(shown?)
    }
}
