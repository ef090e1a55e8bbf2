//! The formats of a document: one file each, and a row here. A format knows nothing of
//! what a document is of.

mod html;
mod look;
mod mail;
mod markdown;
mod plot;
mod snippet;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;

use tollgate_defect::Defect;

use crate::document::Document;
pub use look::Look;

/// How a format is asked for, and what makes it.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether it is for people who read it where it is printed.
    pub is_lines: bool,
    render: fn(&Document, Look) -> Result<String, Defect>,
}

/// All formats; the first is the one for a terminal.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "for people, in lines as wide as the terminal",
        is_lines: true,
        render: |document, look| Ok(terminal::render(document, look)),
    },
    Format {
        name: "html",
        about: "a page that needs nothing else",
        is_lines: false,
        render: |document, _| html::render(document),
    },
    Format {
        name: "markdown",
        about: "for a tracker or a repository",
        is_lines: false,
        render: |document, _| Ok(markdown::render(document)),
    },
    Format {
        name: "mail",
        about: "plain text of 72 columns, the verdict first",
        is_lines: false,
        render: |document, _| Ok(mail::render(document)),
    },
];

impl Format {
    /// The format of that name.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// A document in this format; it ends with a newline. Whatever comes from a guest,
    /// a tree or a user is made harmless.
    ///
    /// # Errors
    /// None that input can cause.
    pub fn render(&self, document: &Document, look: Look) -> Result<String, Defect> {
        (self.render)(document, look)
    }
}

/// A page.
///
/// # Errors
/// None that input can cause.
pub fn html(document: &Document) -> Result<String, Defect> {
    html::render(document)
}

/// Text for a terminal.
#[must_use]
pub fn terminal(document: &Document, look: Look) -> String {
    terminal::render(document, look)
}
