//! What a command shows, and where: `--format` is the form of what standard output
//! gets, `--json` names a file that gets the JSON beside it. They mean the same in all
//! commands.

use std::io;
use std::marker::PhantomData;
use std::path::Path;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tollgate_defect::OrDefect as _;
use tollgate_report::document::Document;
use tollgate_report::format::{FORMATS, Format, Look, terminal};

use crate::date;
use crate::door;
use crate::place::{self, Place, parser};
use crate::term::Term;

/// The forms that are no format of a document, and what each is.
const OTHERS: [(&str, &str); 5] = [
    (
        "mail",
        "the mail that a build robot sends; nothing where nothing is wrong",
    ),
    ("ktap", "KTAP version 1"),
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
    /// For programs, as KTAP.
    Ktap,
    /// A document in the format of that name.
    Document(&'static str),
}

impl Form {
    fn of(name: &str) -> Self {
        match name {
            "source" => Self::Source,
            "json" => Self::Json,
            "sarif" => Self::Sarif,
            "ktap" => Self::Ktap,
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
            Self::Ktap => Some("--format ktap"),
            Self::Document(_) => Some("--format"),
        }
    }
}

/// The forms that a command has beside those of a document and JSON.
pub(crate) trait Forms: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Their names; one of a document's formats where the command has its own.
    const MORE: &'static [&'static str] = &[];
}

/// None beside them.
#[derive(Clone, Debug)]
pub(crate) struct Documents;

/// Those of findings in a source.
#[derive(Clone, Debug)]
pub(crate) struct Findings;

/// Those of rules.
#[derive(Clone, Debug)]
pub(crate) struct Rules;

/// Those of builds.
#[derive(Clone, Debug)]
pub(crate) struct Builds;

impl Forms for Documents {}

impl Forms for Findings {
    const MORE: &'static [&'static str] = &["source", "sarif"];
}

impl Forms for Rules {
    const MORE: &'static [&'static str] = &["sarif"];
}

impl Forms for Builds {
    const MORE: &'static [&'static str] = &["mail", "sarif", "ktap"];
}

/// The flags of every command that answers.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked<F: Forms> {
    /// How to write the result
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = forms(F::MORE))]
    format: Form,
    /// Where to write the JSON (schema/), too; - is standard output, and what is for
    /// people then goes to standard error
    #[arg(long, value_name = "FILE", value_parser = parser())]
    json: Option<Place>,
    #[arg(skip)]
    forms: PhantomData<F>,
}

impl<F: Forms> Asked<F> {
    /// The same as plain data.
    pub(crate) fn output(&self) -> Output {
        Output {
            form: self.format,
            json: self.json.clone(),
        }
    }
}

/// Reads `--format`: the formats of a document, JSON, and what a command has more.
pub(crate) fn forms(more: &'static [&'static str]) -> impl TypedValueParser<Value = Form> + use<> {
    let formats = FORMATS.iter().filter(|format| !more.contains(&format.name));
    let formats = formats.map(|format| (format.name, format.about));
    let has = |name: &str| name == "json" || more.contains(&name);
    let others = OTHERS.iter().copied().filter(|(name, _)| has(name));
    let values = formats.chain(others);
    let values = values.map(|(name, about)| PossibleValue::new(name).help(about));
    let values: Vec<PossibleValue> = values.collect();
    PossibleValuesParser::new(values).map(|name| Form::of(&name))
}

/// An answer in a form.
pub(crate) enum Answer {
    /// For people, in whatever format they asked for.
    Document(Box<Document>),
    /// For programs, as it is.
    Text(String),
    /// A patch, with bytes of the user's files.
    Bytes(Vec<u8>),
}

impl From<Document> for Answer {
    fn from(document: Document) -> Self {
        Self::Document(Box::new(document))
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Answer {
    /// As lines of a terminal.
    fn lines(self, look: Look) -> String {
        match self {
            Self::Document(document) => terminal(&document, look),
            Self::Text(text) => text,
            Self::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// On standard output, as a terminal is to have it.
    fn show(self, term: &Term) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => term.raw(&bytes),
            other => term.result(&other.lines(term.look())),
        }
    }

    /// In the format of that name.
    fn formatted(self, name: &str, look: Look) -> anyhow::Result<String> {
        let format = Format::of(name).or_defect("a format has no entry")?;
        Ok(match self {
            Self::Document(document) => {
                let date = document.date.clone().or_else(date::today);
                format.render(&Document { date, ..*document }, look)?
            }
            other => other.lines(look),
        })
    }
}

/// What was asked of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) form: Form,
    pub(crate) json: Option<Place>,
}

impl Output {
    /// Whether JSON is asked for, wherever it goes.
    pub(crate) fn has_json(&self) -> bool {
        self.form == Form::Json || self.json.is_some()
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
        render: impl Fn(Form) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<()> {
        let aside = self.json == Some(Place::Stdout);
        let answer = render(self.form)?;
        // A reader that has gone away costs no file.
        let shown = match self.form {
            Form::Text | Form::Source if aside => {
                term.verdict(answer.lines(term.look_stderr()).trim_end());
                Ok(())
            }
            Form::Text | Form::Source => answer.show(term),
            Form::Json | Form::Sarif => term.json(&answer.lines(term.look())),
            Form::Ktap => term.raw(answer.lines(term.look()).as_bytes()),
            Form::Document(name) => term.raw(answer.formatted(name, term.look())?.as_bytes()),
        };
        if let Some(place) = &self.json {
            let json = render(Form::Json)?.lines(term.look());
            let wrote = place.write_json(&json, term);
            wrote.with_context(|| format!("--json {place}"))?;
        }
        Ok(shown?)
    }
}
