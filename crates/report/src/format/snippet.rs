//! Lines of a source with what is to say of their places, as compilers show them.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet as Lines};
use serde::{Serialize, Serializer};
use tollgate_source::plain;

use crate::document::{Remark, Snippet, Source, Tone};

impl Snippet {
    /// As text, coloured where `color` says so; it ends with a newline. Control
    /// characters of the source are shown by their pictures or as their codes.
    pub(crate) fn text(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let text = renderer.render(&[self.group()]) + "\n";
        match color {
            // The renderer's own codes are in it.
            true => text,
            false => plain(&text).into_owned(),
        }
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
        self.text(false).serialize(serializer)
    }
}
