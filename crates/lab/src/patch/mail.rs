//! A patch as people have it: a plain diff, a mail, or a mailbox with several.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tollgate_defect::answer;

use super::{Error, NO_DIFF, Patch};
use crate::cache::{self, Cache};
use crate::git;
use crate::input;
use crate::process::{self, Runner};

impl Patch {
    /// Reads a plain diff, a mail or a mailbox. The mails of a mailbox that have
    /// a diff are one patch after the other, in the order of their numbers
    /// (`[PATCH 2/3]`) where all have one, else in the file's. Of a thread with several
    /// versions it is the newest. What is compressed with gzip is unpacked.
    ///
    /// # Errors
    /// When the file cannot be read, or is a mailbox without a diff.
    pub fn read(path: &Path, cache: &Cache, runner: &Runner) -> Result<Self, Error> {
        let diff = read_file(path)?;
        if !is_mail(&diff) {
            return Ok(Self::plain(path, diff));
        }
        let base = base(&diff);
        let Parts { parts, superseded } = parts_of(path, diff, cache, runner)?;
        let diffs: Vec<Vec<u8>> = parts.into_iter().map(|part| part.diff).collect();
        Ok(Self {
            path: path.to_owned(),
            base,
            diff: diffs.concat(),
            patches: diffs.len(),
            superseded,
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
            superseded: Vec::new(),
        }
    }
}

/// One patch of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its subject without what stands in brackets before it.
    pub subject: String,
    /// What stands in brackets before it, such as `[PATCH v2 1/3]`, where that is told.
    pub tags: Option<String>,
    /// Its diff.
    pub diff: Vec<u8>,
    /// Its `Message-ID`, without its brackets, where it has one.
    pub message_id: Option<String>,
    /// Who sent it, `NAME <ADDRESS>`, where it says so.
    pub author: Option<String>,
}

/// The patches of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Those that count, one by one.
    pub parts: Vec<Part>,
    /// The subjects of those of which it has a newer version.
    pub superseded: Vec<String>,
}

/// The patches of a mailbox one by one, at least one, in the order in which
/// [`Patch::read`] has them.
///
/// # Errors
/// When the file cannot be read, or has no mail with a diff.
pub fn parts(path: &Path, cache: &Cache, runner: &Runner) -> Result<Parts, Error> {
    parts_of(
        path,
        input::given(path).map_err(|source| missing(path, source))?,
        cache,
        runner,
    )
}

/// The same of a text that was read, and what messages call it. A pipe can be read once, so
/// that git gets a file of what was read.
///
/// # Errors
/// When it has no mail with a diff.
pub fn parts_of(
    path: &Path,
    text: Vec<u8>,
    cache: &Cache,
    runner: &Runner,
) -> Result<Parts, Error> {
    let text = unpacked(text).map_err(|source| missing(path, source))?;
    if !is_mail(&text) && has_diff(&text) {
        let only = Part {
            subject: String::new(),
            tags: None,
            diff: text,
            message_id: None,
            author: None,
        };
        return Ok(Parts {
            parts: vec![only],
            superseded: Vec::new(),
        });
    }
    let no_patch = |reason: String| Error::NoPatch {
        path: path.to_owned(),
        reason,
    };
    if !is_mail(&text) {
        return Err(no_patch(NO_DIFF.to_owned()));
    }
    let scratch = cache.scratch()?;
    let (file, folder) = (scratch.path().join("mbox"), scratch.path().join("mails"));
    cache::write_file(&file, &text)?;
    cache::make_folder(&folder)?;
    let mailbox = Mailbox {
        folder: &folder,
        runner,
    };
    let parts = mailbox.parts().map_err(|error| match error {
        Error::Process(process::Error::Failed { message, .. }) => no_patch(message),
        other => other,
    })?;
    if parts.parts.is_empty() {
        return Err(no_patch("none of its mails has a diff".to_owned()));
    }
    Ok(parts)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let text = input::given(path).map_err(|source| missing(path, source))?;
    unpacked(text).map_err(|source| missing(path, source))
}

/// What a list's archive packs with gzip (RFC 1952), as it was.
fn unpacked(text: Vec<u8>) -> std::io::Result<Vec<u8>> {
    match text.starts_with(&[0x1f, 0x8b]) {
        true => input::limited(MultiGzDecoder::new(text.as_slice())),
        false => Ok(text),
    }
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
    fn parts(&self) -> Result<Parts, Error> {
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
        let (mut mails, older) = newest(mails);
        if mails.iter().all(|mail| mail.tag.number.is_some()) {
            mails.sort_by_key(|mail| mail.tag.number);
        }
        Ok(Parts {
            parts: mails.into_iter().map(|mail| mail.part).collect(),
            superseded: older.into_iter().map(|mail| mail.said).collect(),
        })
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
        let subject_alone = plain.trim_start_matches("Subject:").trim().to_owned();
        let said = subject(&String::from_utf8_lossy(&raw)).unwrap_or(info.clone());
        let said = said.trim_start_matches("Subject:").trim().to_owned();
        let tags = said.strip_suffix(&subject_alone).map(str::trim);
        let part = Part {
            tags: tags.filter(|tags| tags.starts_with('[')).map(str::to_owned),
            subject: subject_alone,
            diff: cache::read_file(&self.folder.join(format!("{name}.diff")))?,
            message_id: header(&raw, "message-id").map(|id| id.trim_matches(['<', '>']).to_owned()),
            author: author(&info),
        };
        Ok(Mail {
            tag: Tag::of(&said),
            said,
            part,
        })
    }
}

/// A header of a mail, by its name in small letters (RFC 5322).
fn header(mail: &[u8], name: &str) -> Option<String> {
    let mail = String::from_utf8_lossy(mail);
    let mut lines = mail
        .lines()
        .take_while(|line| !line.is_empty())
        .skip_while(|line| {
            let named = line
                .split_once(':')
                .map(|(named, _)| named.to_ascii_lowercase());
            named.as_deref() != Some(name)
        });
    let (_, first) = lines.next()?.split_once(':')?;
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    let words: String = std::iter::once(first).chain(more).collect();
    Some(words.trim().to_owned())
}

/// The author as git mailinfo writes it, in two lines.
fn author(info: &str) -> Option<String> {
    let line = |name: &str| info.lines().find_map(|line| line.strip_prefix(name));
    let (name, email) = (line("Author: ")?, line("Email: ")?);
    Some(format!("{} <{}>", name.trim(), email.trim()))
}

fn uncounted(listed: &str) -> Error {
    let source = std::io::Error::other(format!("it wrote {listed:?} for the number of mails"));
    let program = "git mailsplit".to_owned();
    Error::Process(process::Error::Read { program, source })
}

struct Mail {
    tag: Tag,
    /// The whole subject.
    said: String,
    part: Part,
}

/// What stands in brackets before a subject: `[PATCH v3 02/10]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    version: u32,
    number: Option<u32>,
    of: Option<u32>,
}

impl Tag {
    /// A patch that names no version is the first.
    fn of(subject: &str) -> Self {
        let tag = subject
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        let words = tag.map_or("", |(tag, _)| tag);
        let version = words.split_whitespace().find_map(|word| {
            let digits = word.strip_prefix(['v', 'V'])?;
            answer::number(digits)
        });
        let counted = words
            .split_whitespace()
            .find_map(|word| word.split_once('/'));
        let number = counted.and_then(|(number, _)| answer::number(number));
        Self {
            version: version.unwrap_or(1),
            number,
            of: number.and(counted).and_then(|(_, of)| answer::number(of)),
        }
    }
}

/// The mails of the newest version, and the others. Where the newest is not whole,
/// since only some patches were sent again, each patch is its own newest one.
fn newest(mails: Vec<Mail>) -> (Vec<Mail>, Vec<Mail>) {
    let last = mails.iter().map(|mail| mail.tag.version).max();
    let numbers = mails
        .iter()
        .filter(|mail| Some(mail.tag.version) == last)
        .filter_map(|mail| Some((mail.tag.number?, mail.tag.of?)));
    let numbers: BTreeSet<(u32, u32)> = numbers.collect();
    let whole = numbers
        .first()
        .is_some_and(|(_, of)| (1..=*of).all(|number| numbers.contains(&(number, *of))));
    // One without a number is known by its subject.
    let key = |mail: &Mail| match mail.tag.number {
        Some(number) => (Some(number), String::new()),
        None => (None, mail.part.subject.clone()),
    };
    let mut versions: BTreeMap<(Option<u32>, String), u32> = BTreeMap::new();
    for mail in &mails {
        let known = versions.entry(key(mail)).or_default();
        *known = mail.tag.version.max(*known);
    }
    mails.into_iter().partition(|mail| {
        let numbered = whole && mail.tag.number.is_some();
        let wanted = if numbered {
            last
        } else {
            versions.get(&key(mail)).copied()
        };
        Some(mail.tag.version) == wanted
    })
}

/// All that is read of a mail without git.
pub(super) fn read_any(text: &[u8]) {
    let words = String::from_utf8_lossy(text);
    let found = [
        header(text, "message-id"),
        subject(&words),
        base(text),
        author(&words),
    ];
    let tag = Tag::of(&words);
    assert!(tag.number.is_some() || tag.of.is_none());
    assert!(found.iter().flatten().all(|line| !line.contains('\n')));
    let kinds = (is_mail(text), has_diff(text));
    assert!(kinds != (true, true) || !text.is_empty());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_patch_is_in_its_subject() {
        let of = |subject: &str| {
            let tag = Tag::of(subject);
            (tag.version, tag.number, tag.of)
        };
        assert_eq!(of("Subject: [PATCH v3 02/10] a: b"), (3, Some(2), Some(10)));
        assert_eq!(of("Subject: [PATCH] a/b: c"), (1, None, None));
        assert_eq!(of("Subject: a [x/y] b"), (1, None, None));
        assert_eq!(of("Subject: [RFC PATCH v2] vfs: d"), (2, None, None));
        let folded = "To: x\nSubject: [PATCH\n 2/2] a\nFrom: y\n";
        assert_eq!(
            of(&subject(folded).unwrap_or_default()),
            (1, Some(2), Some(2))
        );
    }

    #[test]
    fn a_header_is_found_by_its_name_with_its_folded_lines() {
        let mail =
            b"From: a\nMessage-ID:\n <1@b>\nX-Of: c\nTo: d\n\nMessage-ID: <2@b>\nSender: e\n";
        assert_eq!(header(mail, "message-id").as_deref(), Some("<1@b>"));
        assert_eq!(header(mail, "to").as_deref(), Some("d"));
        assert_eq!(header(mail, "sender"), None);
    }

    /// What git says of a file of its own is no answer to who gave another.
    #[test]
    fn a_text_that_is_no_mail_and_has_no_diff_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let runner = Runner::new(process::Interrupt::default(), None);
        for text in ["", "\n", "no diff at all\n"] {
            let given = Path::new("given.patch");
            let error = parts_of(given, text.into(), &cache, &runner).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("given.patch holds no patch: {NO_DIFF}")
            );
        }
    }

    fn taken(subjects: &[&str]) -> Vec<String> {
        let mail = |said: &&str| Mail {
            tag: Tag::of(said),
            said: (*said).to_owned(),
            part: Part {
                tags: None,
                subject: said.rsplit("] ").next().unwrap_or_default().to_owned(),
                diff: Vec::new(),
                message_id: None,
                author: None,
            },
        };
        let (taken, older) = newest(subjects.iter().map(mail).collect());
        assert_eq!(taken.len() + older.len(), subjects.len());
        taken.into_iter().map(|mail| mail.said).collect()
    }

    #[test]
    fn of_a_thread_the_newest_version_counts() {
        let (one, two) = ("[PATCH 1/2] a: b", "[PATCH 2/2] a: c");
        let (new, newer) = ("[PATCH v2 1/2] a: bb", "[PATCH v2 2/2] a: c");
        assert_eq!(taken(&[one, two, new, newer]), [new, newer]);
        // Fewer patches than before.
        assert_eq!(
            taken(&[one, two, "[PATCH v3 1/1] a: d"]),
            ["[PATCH v3 1/1] a: d"]
        );
        // Only one was sent again.
        assert_eq!(taken(&[one, two, newer]), [one, newer]);
        assert_eq!(taken(&[one, two]), [one, two]);
        let single = ["[PATCH] a: b", "[PATCH v2] a: b", "[PATCH] x: y"];
        assert_eq!(taken(&single), ["[PATCH v2] a: b", "[PATCH] x: y"]);
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
