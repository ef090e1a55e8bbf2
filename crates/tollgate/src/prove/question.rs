//! What a proof was asked, whole: two results of one question are results of the
//! same thing, and of no other.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_lab::tree;
use tollgate_report::to_json;

use super::guests::{GuestAsked, Guests};
use super::setup::Setup;

/// Part of every key: raise it when a question is asked in another way.
const VERSION: u32 = 1;

/// Characters of a subject in a name, and of the hash behind it.
const SUBJECT: usize = 60;
const HASH: usize = 12;

/// Everything that decides what a proof finds, but for how long it may take: a
/// guest that ended in time has counted the same.
#[derive(Debug, Serialize)]
pub(crate) struct Question {
    version: u32,
    kind: &'static str,
    subject: String,
    tree: String,
    config: String,
    compiler: String,
    /// The images in their order, the base first.
    images: Vec<Asked>,
    machine: Machine,
    guests: Vec<GuestAsked>,
    /// The hash of the plugin that counts.
    plugin: String,
}

/// An image that was asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    pub(crate) name: String,
    /// The hash of what it is built from (tree, patch, configuration, compiler);
    /// none where it could not be made.
    pub(crate) content: Option<String>,
}

/// The machine that the guests have in common.
#[derive(Debug, Serialize)]
struct Machine {
    arch: String,
    qemu: String,
    plugin_api: u32,
    command_line: String,
}

impl Question {
    /// What `setup` asks of these images in the setup's guests.
    pub(crate) fn new(
        kind: &'static str,
        setup: &Setup<'_>,
        images: Vec<Asked>,
        guests: &Guests<'_>,
    ) -> Self {
        Self {
            version: VERSION,
            kind,
            subject: setup.subject(),
            tree: setup.tree.version().to_owned(),
            config: setup.config(),
            compiler: setup.compiler.version.clone(),
            images,
            machine: Machine {
                arch: setup.machine.name.clone(),
                qemu: setup.qemu.version.clone(),
                plugin_api: setup.qemu.plugin_api,
                command_line: setup.machine.command_line(),
            },
            guests: guests.asked(),
            plugin: guests.plugin().to_owned(),
        }
    }

    /// As a document for people.
    ///
    /// # Errors
    /// None that input can cause.
    pub(crate) fn document(&self) -> Result<String, Defect> {
        to_json(self)
    }

    /// The name of its results: the subject, for people, and a hash over all of it.
    ///
    /// # Errors
    /// None that input can cause.
    pub(crate) fn name(&self) -> serde_json::Result<String> {
        let plain = |c: char| match c {
            c if c.is_alphanumeric() || "-_.".contains(c) => c,
            _ => '_',
        };
        let subject: String = self.subject.chars().map(plain).take(SUBJECT).collect();
        let hash: String = self.key()?.chars().take(HASH).collect();
        Ok(match self.kind {
            "prove" => format!("{subject}-{hash}"),
            kind => format!("{subject}-{kind}-{hash}"),
        })
    }

    /// The hash over all of it.
    ///
    /// # Errors
    /// None that input can cause.
    pub(crate) fn key(&self) -> serde_json::Result<String> {
        Ok(tree::hash(&serde_json::to_vec(self)?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_turns_text_round_is_escaped_and_stays_what_it_is() {
        let subject = "a\u{202e}b\u{9b}2J";
        let question = Question {
            version: VERSION,
            kind: "prove",
            subject: subject.to_owned(),
            tree: String::new(),
            config: String::new(),
            compiler: String::new(),
            images: Vec::new(),
            machine: Machine {
                arch: String::new(),
                qemu: String::new(),
                plugin_api: 0,
                command_line: String::new(),
            },
            guests: Vec::new(),
            plugin: String::new(),
        };
        let text = question.document().unwrap();
        assert!(text.contains("a\\u202eb\\u009b2J"), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read.get("subject").unwrap(), subject);
    }
}
