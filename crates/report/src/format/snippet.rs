//! Lines of a source with what is to say of their places, as compilers show them.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet as Lines};
use serde::{Serialize, Serializer};
use tollgate_source::plain;

use crate::document::{Remark, Snippet, Source, Tone};
use crate::text::wrap_paths;

/// How many characters a line of a page has at the most.
const PAGE: usize = 110;

impl Snippet {
    /// As text, coloured where `color` says so; it ends with a newline. Control
    /// characters of the source are shown by their pictures or as their codes. Notes
    /// are wrapped in lines of that `width`, where there is one.
    pub(crate) fn text(&self, color: bool, width: Option<usize>) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let text = renderer.render(&[self.wrapped(width).group()]) + "\n";
        match color {
            // The renderer's own codes are in it.
            true => text,
            false => plain(&text).into_owned(),
        }
    }

    fn wrapped(&self, width: Option<usize>) -> Self {
        let width = width.map(|width| width.saturating_sub(self.margin()));
        let fold = |text: &String| match width {
            Some(width) => wrap_paths(text, width).join("\n"),
            None => text.clone(),
        };
        let notes = self.notes.iter().map(|remark| match remark {
            Remark::Note(text) => Remark::Note(fold(text)),
            Remark::Help(text) => Remark::Help(fold(text)),
        });
        Self {
            notes: notes.collect(),
            ..self.clone()
        }
    }

    /// What stands in front of the text of a note: room for the numbers of lines, and
    /// the renderer's own words.
    fn margin(&self) -> usize {
        let last = |source: &Source| source.line + source.text.matches('\n').count();
        let most = self.sources.iter().map(last).max();
        most.map_or(1, |line| line.max(1).to_string().len()) + " = note: ".len()
    }

    fn group(&self) -> Group<'_> {
        let title = level(self.tone).primary_title(&self.title);
        let title = match &self.id {
            Some(id) => title.id(id),
            None => title,
        };
        let mut group = Group::with_title(title);
        for source in &self.sources {
            group = group.element(lines(source));
        }
        for remark in &self.notes {
            group = group.element(match remark {
                Remark::Note(text) => Level::NOTE.message(text),
                Remark::Help(text) => Level::HELP.message(text),
            });
        }
        group
    }
}

fn level(tone: Tone) -> Level<'static> {
    match tone {
        Tone::Bad => Level::ERROR,
        Tone::Doubt => Level::WARNING,
        Tone::Good | Tone::Plain => Level::NOTE,
    }
}

fn lines(source: &Source) -> Lines<'_, Annotation<'_>> {
    let marks = source.marks.iter().map(|mark| {
        let kind = match mark.primary {
            true => AnnotationKind::Primary,
            false => AnnotationKind::Context,
        };
        kind.span(mark.span.clone()).label(mark.label.as_str())
    });
    Lines::source(source.text.as_str())
        .path(source.path.as_str())
        .line_start(source.line.max(1))
        .fold(!source.whole)
        .annotations(marks)
}

impl Serialize for Snippet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text(false, Some(PAGE)).serialize(serializer)
    }
}
