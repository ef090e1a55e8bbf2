//! A patch as people have it: a plain diff, a mail, or a mailbox with several.

use std::path::Path;
use tollgate_defect::answer;

use super::{Error, Patch};
use crate::cache::{self, Cache};
use crate::git;
use crate::input;
use crate::process::{self, Runner};

impl Patch {
    /// Reads a plain diff, a mail or a mailbox. The mails of a mailbox that have
    /// a diff are one patch after the other, in the order of their numbers
    /// (`[PATCH 2/3]`) where all have one, else in the file's.
    ///
    /// # Errors
    /// When the file cannot be read, or is a mailbox without a diff.
    pub fn read(path: &Path, cache: &Cache, runner: &Runner) -> Result<Self, Error> {
        let diff = read_file(path)?;
        if !is_mail(&diff) {
            return Ok(Self::plain(path, diff));
        }
        let parts = parts_of(path, &diff, cache, runner)?;
        let diffs: Vec<Vec<u8>> = parts.into_iter().map(|part| part.diff).collect();
        Ok(Self {
            path: path.to_owned(),
            base: base(&diff),
            diff: diffs.concat(),
            patches: diffs.len(),
        })
    }

    /// A diff that is already at hand; `path` is what messages call it.
    #[must_use]
    pub fn plain(path: &Path, diff: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            base: base(&diff),
            diff,
            patches: 1,
        }
    }
}

/// One patch of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its subject without what stands in brackets before it.
    pub subject: String,
    /// Its diff.
    pub diff: Vec<u8>,
}

/// The patches of a mailbox one by one, at least one, in the order in which
/// [`Patch::read`] has them.
///
/// # Errors
/// When the file cannot be read, or has no mail with a diff.
pub fn parts(path: &Path, cache: &Cache, runner: &Runner) -> Result<Vec<Part>, Error> {
    parts_of(path, &read_file(path)?, cache, runner)
}

/// A pipe can be read once, so that git gets a file of what was read.
fn parts_of(path: &Path, text: &[u8], cache: &Cache, runner: &Runner) -> Result<Vec<Part>, Error> {
    let scratch = cache.scratch()?;
    let (file, folder) = (scratch.path().join("mbox"), scratch.path().join("mails"));
    cache::write_file(&file, text)?;
    cache::make_folder(&folder)?;
    let mailbox = Mailbox {
        folder: &folder,
        runner,
    };
    let no_patch = |reason: String| Error::NoPatch {
        path: path.to_owned(),
        reason,
    };
    let parts = mailbox.parts().map_err(|error| match error {
        Error::Process(process::Error::Failed { message, .. }) => no_patch(message),
        other => other,
    })?;
    if parts.is_empty() {
        return Err(no_patch("none of its mails has a diff".to_owned()));
    }
    Ok(parts)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    input::given(path).map_err(|source| missing(path, source))
}

fn missing(path: &Path, source: std::io::Error) -> Error {
    Error::Missing {
        path: path.to_owned(),
        source,
    }
}

/// The commit of the line `base-commit:`, which stands below the diff of a patch or
/// in the cover letter of a series.
fn base(text: &[u8]) -> Option<String> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut named = lines.filter_map(|line| line.strip_prefix(b"base-commit: "));
    let name = String::from_utf8_lossy(named.next()?).trim().to_owned();
    let is_id = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(name)
}

/// A mailbox begins with `From `, a mail with a header.
fn is_mail(text: &[u8]) -> bool {
    let Some(line) = text.split(|byte| *byte == b'\n').next() else {
        return false;
    };
    let colon = line.iter().position(|byte| *byte == b':');
    let name = colon.and_then(|at| line.get(..at));
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(is_letter);
    line.starts_with(b"From ") || name.is_some_and(is_name)
}

struct Mailbox<'a> {
    /// Where its mails are put, beside the mailbox.
    folder: &'a Path,
    runner: &'a Runner,
}

impl Mailbox<'_> {
    /// The mails that have a diff, decoded, in order.
    fn parts(&self) -> Result<Vec<Part>, Error> {
        let mut split = git::isolated(self.folder);
        // -b: a mail without the line `From ` is a mailbox of one.
        split.args(["mailsplit", "-b", "-o.", "../mbox"]);
        let listed = self.runner.output(&mut split).map_err(Error::Process)?;
        let listed = String::from_utf8_lossy(&listed);
        let count: Option<usize> = answer::number(listed.trim());
        let count = count.ok_or_else(|| uncounted(&listed))?;
        let mut mails = Vec::new();
        for number in 1..=count {
            let mail = self.mail(&format!("{number:04}"))?;
            if has_diff(&mail.part.diff) {
                mails.push(mail);
            }
        }
        if mails.iter().all(|mail| mail.number.is_some()) {
            mails.sort_by_key(|mail| mail.number);
        }
        Ok(mails.into_iter().map(|mail| mail.part).collect())
    }

    fn mail(&self, name: &str) -> Result<Mail, Error> {
        let raw = cache::read_file(&self.folder.join(name))?;
        let mut command = git::isolated(self.folder);
        command.args([
            "mailinfo",
            &format!("{name}.message"),
            &format!("{name}.diff"),
        ]);
        let info = self.runner.output_of(&mut command, &raw);
        let info = info.map_err(Error::Process)?;
        let info = String::from_utf8_lossy(&info).into_owned();
        // A mail may have no subject.
        let plain = subject(&info).unwrap_or_default();
        let part = Part {
            subject: plain.trim_start_matches("Subject:").trim().to_owned(),
            diff: cache::read_file(&self.folder.join(format!("{name}.diff")))?,
        };
        Ok(Mail {
            number: number_in(&subject(&String::from_utf8_lossy(&raw)).unwrap_or(info)),
            part,
        })
    }
}

fn uncounted(listed: &str) -> Error {
    let source = std::io::Error::other(format!("it wrote {listed:?} for the number of mails"));
    let program = "git mailsplit".to_owned();
    Error::Process(process::Error::Read { program, source })
}

struct Mail {
    /// N of `[PATCH N/M]`.
    number: Option<u32>,
    part: Part,
}

fn has_diff(text: &[u8]) -> bool {
    let starts = |line: &[u8]| line.starts_with(b"--- ") || line.starts_with(b"diff --git ");
    text.split(|byte| *byte == b'\n').any(starts)
}

/// The subject as the mail has it; git's own summary drops `[PATCH 1/2]`.
fn subject(mail: &str) -> Option<String> {
    let mut lines = mail
        .lines()
        .skip_while(|line| !line.starts_with("Subject:"));
    let first = lines.next()?;
    // A long subject goes on in lines that begin with white space (RFC 5322).
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    Some(std::iter::once(first).chain(more).collect())
}

fn number_in(subject: &str) -> Option<u32> {
    let (_, rest) = subject.split_once('[')?;
    let (tag, _) = rest.split_once(']')?;
    let word = tag.split_whitespace().find(|word| word.contains('/'))?;
    answer::number(word.split('/').next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_patch_is_in_its_subject() {
        assert_eq!(number_in("Subject: [PATCH v3 02/10] a: b"), Some(2));
        assert_eq!(number_in("Subject: [PATCH] a/b: c"), None);
        assert_eq!(number_in("Subject: a [x/y] b"), None);
        let folded = "To: x\nSubject: [PATCH\n 2/2] a\nFrom: y\n";
        assert_eq!(number_in(&subject(folded).unwrap_or_default()), Some(2));
    }

    #[test]
    fn a_diff_is_no_mail() {
        assert!(is_mail(b"From 0123 Mon Sep 17\nx"));
        assert!(is_mail(b"Message-Id: <x>\n"));
        assert!(!is_mail(b"diff --git a/x b/x\n"));
        assert!(!is_mail(b"--- a/x\n"));
        assert!(!is_mail(b"Some words: first\n"));
        assert!(!is_mail(b""));
    }
}
