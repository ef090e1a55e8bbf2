//! Patches that go together: those to one file as one, and the words of the letter
//! before them.

use tollgate_source::Name;

use crate::request::Patched;

impl Patched {
    /// The whole message. `trailers` go below it, one line each.
    #[must_use]
    pub fn message(&self, trailers: &[String]) -> String {
        let trailers = if trailers.is_empty() {
            String::new()
        } else {
            format!("\n{}\n", trailers.join("\n"))
        };
        format!("{}\n\n{}{trailers}", self.subject, self.body)
    }

    /// Adds a patch that builds on this one.
    fn join(&mut self, patched: Self) {
        let prefix = self
            .subject
            .rsplit_once(": ")
            .map_or("", |(prefix, _)| prefix);
        let name = Name::from(self.path.file());
        self.subject = format!("{prefix}: Use user access windows in {name}");
        self.body = format!("{}\n{}", self.body, patched.body);
        self.function = format!("{}, {}", self.function, patched.function);
        self.rewritten = patched.rewritten;
        self.windows_before += patched.windows_before;
        self.windows_after += patched.windows_after;
        self.refused.extend(patched.refused);
    }
}

/// The patches to one file as one patch, in the order of their first.
#[must_use]
pub fn merged(patches: Vec<Patched>) -> Vec<Patched> {
    let mut files: Vec<Patched> = Vec::new();
    for patched in patches {
        match files.iter_mut().find(|file| file.path == patched.path) {
            Some(file) => file.join(patched),
            None => files.push(patched),
        }
    }
    files
}

/// The letter before patches that rewrite so many functions: `text` is git's, which
/// leaves two places for words.
#[must_use]
pub fn cover_letter(text: &str, patches: &[Patched], functions: usize) -> String {
    let before: usize = patches.iter().map(|patched| patched.windows_before).sum();
    let after: usize = patches.iter().map(|patched| patched.windows_after).sum();
    let blurb = format!(
        "Each patch turns adjacent user accesses of a function into one window.\n\
         Together they open {after} windows where {before} were opened, when nothing\n\
         faults. The patches do not depend on each other but for those to one file."
    );
    let subject = format!("Use user access windows in {functions} functions");
    text.replacen("*** SUBJECT HERE ***", &subject, 1)
        .replacen("*** BLURB HERE ***", &blurb, 1)
}
