//! What the cache holds, and what was removed of it.

use serde::Serialize;
use tollgate_defect::Defect;

use crate::document::{Block, Cell, Document, Extent, Fact, Kind, Section, Table, Tone, Verdict};
use crate::json::to_json;

/// The version of the JSON forms; it grows when a reader would break.
pub const STORED_VERSION: u32 = 1;

/// Something that the cache holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredLine {
    /// What it is, in a word.
    pub kind: String,
    /// Its path below the cache.
    pub name: String,
    /// What its removal frees, in bytes on the disk.
    pub bytes: u64,
    /// When it was used last, in seconds since 1970.
    pub used: u64,
    /// The same as a day, `2026-11-22`.
    #[serde(skip)]
    pub day: String,
    /// Why it stays, of one that does when others are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// All of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredKind {
    /// Its name.
    pub kind: String,
    /// What it is, and what makes it again.
    pub about: String,
    /// How many there are.
    pub entries: usize,
    /// What their removal frees, in bytes on the disk.
    pub bytes: u64,
}

/// What the cache holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// The cache.
    pub cache: String,
    /// What the removal of everything frees: more than the sum, where entries share files.
    pub bytes: u64,
    /// What else the file system has free.
    pub free: Option<u64>,
    /// The kinds, those that hold most first.
    pub kinds: Vec<StoredKind>,
    /// The entries, the least recently used first.
    pub entries: Vec<StoredLine>,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The cache.
    pub cache: String,
    /// Whether it was only asked what would be.
    pub dry_run: bool,
    /// The bound, in bytes.
    pub keep: u64,
    /// What the cache took before.
    pub before: u64,
    /// What it takes now.
    pub after: u64,
    /// What is gone, the least recently used first.
    pub removed: Vec<StoredLine>,
    /// What is there, each with the reason.
    pub kept: Vec<StoredLine>,
}

impl Pruned {
    /// Whether what is left fits into the bound.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.after <= self.keep
    }
}

#[derive(Serialize)]
struct Json<'a, T> {
    version: u32,
    kind: &'static str,
    #[serde(flatten)]
    of: &'a T,
}

/// A JSON document that ends with a newline: `cache-list`.
///
/// # Errors
/// None that input can cause.
pub fn stored_json(stored: &Stored) -> Result<String, Defect> {
    to_json(&Json {
        version: STORED_VERSION,
        kind: "cache-list",
        of: stored,
    })
}

/// The same of what was removed: `cache-prune`.
///
/// # Errors
/// None that input can cause.
pub fn pruned_json(pruned: &Pruned) -> Result<String, Defect> {
    to_json(&Json {
        version: STORED_VERSION,
        kind: "cache-prune",
        of: pruned,
    })
}

/// `1.5 GiB`: bytes in the largest unit of 1024 that leaves one whole.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = UNITS.iter().find(|(_, shift)| bytes >> shift > 0);
    match unit {
        Some((name, shift)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

/// Every entry.
#[must_use]
pub fn list_document(stored: &Stored) -> Document {
    let blocks = match stored.entries.as_slice() {
        [] => vec![Block::Text("It holds nothing.".to_owned())],
        entries => vec![Block::Table(entry_table(entries))],
    };
    document(stored, vec![Section::new("Entries", blocks)])
}

/// The kinds alone.
#[must_use]
pub fn size_document(stored: &Stored) -> Document {
    let mut table = Table::new(&[
        ("kind", Kind::Word),
        ("entries", Kind::Number),
        ("size", Kind::Number),
    ]);
    for kind in &stored.kinds {
        let cells = [
            kind.kind.clone(),
            kind.entries.to_string(),
            size(kind.bytes),
        ];
        table.row(cells.map(Cell::from));
    }
    let about = stored
        .kinds
        .iter()
        .map(|kind| Fact::plain(&kind.kind, &kind.about));
    let blocks = match stored.kinds.as_slice() {
        [] => vec![Block::Text("It holds nothing.".to_owned())],
        _ => vec![Block::Table(table), Block::Facts(about.collect())],
    };
    document(stored, vec![Section::new("By kind", blocks)])
}

fn document(stored: &Stored, sections: Vec<Section>) -> Document {
    let free = stored.free.map_or(String::new(), |free| {
        format!("; {} are free beside it", size(free))
    });
    Document {
        title: format!("The cache {}", stored.cache),
        short: "cache".to_owned(),
        head: Extent::Full,
        verdicts: vec![Verdict {
            word: "HOLDS".to_owned(),
            tone: Tone::Plain,
            statement: format!(
                "{} on the disk in {} entries{free}. `tollgate cache prune --keep SIZE` removes \
                 what was not used for longest.",
                size(stored.bytes),
                stored.entries.len()
            ),
            ..Verdict::default()
        }],
        sections,
        ..Document::default()
    }
}

fn entry_table(entries: &[StoredLine]) -> Table {
    let mut table = Table::new(&[
        ("last used", Kind::Word),
        ("size", Kind::Number),
        ("kind", Kind::Word),
        ("name", Kind::Name),
    ]);
    for entry in entries {
        let cells = [
            entry.day.clone(),
            size(entry.bytes),
            entry.kind.clone(),
            entry.name.clone(),
        ];
        table.row(cells.map(Cell::from));
    }
    table
}

/// What was removed and what was not.
#[must_use]
pub fn prune_document(pruned: &Pruned) -> Document {
    let removed = match pruned.dry_run {
        true => "Would be removed",
        false => "Removed",
    };
    let mut sections = Vec::new();
    if !pruned.removed.is_empty() {
        let table = entry_table(&pruned.removed);
        sections.push(Section::new(removed, vec![Block::Table(table)]));
    }
    let mut reasons: Vec<&str> = Vec::new();
    for why in pruned.kept.iter().filter_map(|line| line.why.as_deref()) {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    for why in reasons {
        let of_reason = |line: &&StoredLine| line.why.as_deref() == Some(why);
        let lines: Vec<StoredLine> = pruned.kept.iter().filter(of_reason).cloned().collect();
        let blocks = vec![Block::Table(entry_table(&lines))];
        sections.push(Section::new(format!("Kept: {why}"), blocks));
    }
    Document {
        title: format!("The cache {}", pruned.cache),
        short: "cache".to_owned(),
        head: Extent::Full,
        verdicts: vec![pruned_verdict(pruned)],
        sections,
        ..Document::default()
    }
}

fn pruned_verdict(pruned: &Pruned) -> Verdict {
    let freed = pruned.before.saturating_sub(pruned.after);
    let did = match (pruned.dry_run, pruned.removed.len()) {
        (_, 0) => "nothing was removed".to_owned(),
        (true, count) => format!("{} in {count} entries would be freed", size(freed)),
        (false, count) => format!("{} in {count} entries were freed", size(freed)),
    };
    let (after, keep) = (size(pruned.after), size(pruned.keep));
    let (word, tone, rest) = match pruned.fits() {
        true => (
            "FITS",
            Tone::Good,
            format!("{after} are left, and {keep} are allowed"),
        ),
        false => (
            "TOO LARGE",
            Tone::Bad,
            format!("{after} are left where {keep} are allowed, and none of it may be removed"),
        ),
    };
    Verdict {
        word: word.to_owned(),
        tone,
        statement: format!("{did}: {rest}."),
        ..Verdict::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;

    fn line(kind: &str, name: &str, bytes: u64, why: Option<&str>) -> StoredLine {
        StoredLine {
            kind: kind.into(),
            name: name.into(),
            bytes,
            used: 1_795_000_000,
            day: "2026-11-18".into(),
            why: why.map(Into::into),
        }
    }

    fn stored() -> Stored {
        Stored {
            cache: "/home/you/.cache/tollgate".into(),
            bytes: 3 << 30,
            free: Some(40 << 30),
            kinds: vec![StoredKind {
                kind: "image".into(),
                about: "a kernel that prove boots: built again from its build folder".into(),
                entries: 1,
                bytes: 50 << 20,
            }],
            entries: vec![line(
                "image",
                "images/b6c7051c8d32fee477b05ee4589cf0daa9bf46be205a83d57d85612f054afdf5",
                50 << 20,
                None,
            )],
        }
    }

    fn pruned() -> Pruned {
        Pruned {
            cache: "/home/you/.cache/tollgate".into(),
            dry_run: false,
            keep: 1 << 30,
            before: 3 << 30,
            after: (1 << 30) + 512,
            removed: vec![line("tree", "trees/linux-source-6.12-1-2", 2 << 30, None)],
            kept: vec![
                line(
                    "result",
                    "results/epoll-1eb3ec59d47b",
                    4096,
                    Some("a result is an answer"),
                ),
                line(
                    "chroot",
                    "chroots/sid",
                    1 << 30,
                    Some("process 12 is using it"),
                ),
            ],
        }
    }

    #[test]
    fn what_is_held_and_what_is_removed_reads_well() {
        for document in [
            list_document(&stored()),
            size_document(&stored()),
            prune_document(&pruned()),
            list_document(&Stored::default()),
        ] {
            crate::format::tests::holds(&document);
            insta::assert_snapshot!(crate::format::tests::text(&document));
        }
    }

    #[test]
    fn the_documents_follow_their_schema() {
        let schema = include_str!("../../../schema/cache.schema.json");
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        for json in [
            stored_json(&stored()).unwrap(),
            pruned_json(&pruned()).unwrap(),
        ] {
            assert!(
                schema.is_valid(&serde_json::from_str(&json).unwrap()),
                "{json}"
            );
        }
    }

    #[test]
    fn sizes_have_one_digit_behind_the_point() {
        let sizes = [0, 1023, 1536, 5 << 20, (3 << 30) + (1 << 29), u64::MAX].map(size);
        assert_eq!(
            sizes,
            [
                "0 bytes",
                "1023 bytes",
                "1.5 KiB",
                "5.0 MiB",
                "3.5 GiB",
                "16777215.9 TiB"
            ]
        );
    }
}
