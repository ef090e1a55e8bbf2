//! What the cache holds, and what of it has to go.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use tollgate_defect::answer;
use tollgate_lab::inventory::{Entry, Inventory, KINDS, Kept, Kind, Line, Users};
use tollgate_lab::space;
use tollgate_report::stored::{self as render, Pruned, Stored, StoredKind, StoredLine};
use tollgate_source::shown;

use crate::exit::Exit;
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::term::Term;
use crate::{date, folders, signals};

/// How much may stay, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound(u64);

impl Bound {
    /// `20G`, `20GiB`, `500m`, `0`; none of what is no size.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
        let shift = match unit.to_ascii_lowercase().trim_end_matches("ib") {
            "" if unit.is_empty() => 0,
            "k" => 10,
            "m" => 20,
            "g" => 30,
            "t" => 40,
            _ => return None,
        };
        let number: u64 = answer::number(digits)?;
        number.checked_mul(1 << shift).map(Self)
    }
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Entries,
    Kinds,
}

/// Says what a cache holds; one that is not there holds nothing, and is not made.
///
/// # Errors
/// When it cannot be looked through.
pub(crate) fn look(
    given: Option<&Path>,
    output: &Output,
    what: Shown,
    term: &Term,
) -> anyhow::Result<Exit> {
    output.check([])?;
    let place = folders::cache(given)?;
    let inventory = read(&place, term)?;
    let stored = stored(&place, &inventory);
    output.write(term, |form| {
        Ok(match (form, what) {
            (Form::Json, _) => render::stored_json(&stored)?.into(),
            (_, Shown::Entries) => render::list_document(&stored).into(),
            (_, Shown::Kinds) => render::size_document(&stored).into(),
        })
    })?;
    Ok(Exit::Clean)
}

/// Removes what was not used for longest, until the rest fits.
///
/// # Errors
/// When the cache cannot be looked through, or something cannot be removed.
pub(crate) fn prune(
    given: Option<&Path>,
    output: &Output,
    keep: Bound,
    dry_run: bool,
    term: &Term,
) -> anyhow::Result<Exit> {
    output.check([])?;
    let place = folders::cache(given)?;
    let there = fs::exists(&place).with_context(|| shown(&place).to_string())?;
    anyhow::ensure!(there, "there is no cache {}", shown(&place));
    // Nobody makes or uses anything in it until this ends.
    let cache = folders::open_cache(&place, term)?;
    output.refuse_inside(cache.root())?;
    let inventory = read(cache.root(), term)?;
    let users = Users::now(&cache);
    let plan = inventory.plan(keep.0, &users);
    if !dry_run {
        let meter = Meter::of(term, "remove");
        plan.carry_out(&cache, &signals::obeyed())?;
        drop(meter);
    }
    let pruned = Pruned {
        cache: shown(&place).to_string(),
        dry_run,
        keep: keep.0,
        before: plan.before,
        after: plan.after,
        removed: plan.removed.iter().map(|one| line(one, None)).collect(),
        kept: plan
            .kept
            .iter()
            .map(|(one, why)| line(one, Some(why)))
            .collect(),
    };
    output.write(term, |form| {
        Ok(match form {
            Form::Json => render::pruned_json(&pruned)?.into(),
            _ => render::prune_document(&pruned).into(),
        })
    })?;
    Ok(match pruned.fits() {
        true => Exit::Clean,
        false => Exit::Findings,
    })
}

fn read(place: &Path, term: &Term) -> anyhow::Result<Inventory> {
    let meter = Meter::of(term, "look through the cache");
    let inventory = Inventory::read(place, &signals::obeyed())?;
    drop(meter);
    Ok(inventory)
}

fn stored(place: &Path, inventory: &Inventory) -> Stored {
    let mut entries: Vec<(&Entry, u64)> = inventory.entries().collect();
    entries.sort_by_key(|(entry, _)| (entry.used, &entry.name));
    Stored {
        cache: shown(place).to_string(),
        bytes: inventory.bytes(),
        free: space::room(place),
        kinds: kinds(&entries),
        entries: entries
            .iter()
            .map(|(entry, bytes)| stored_line(entry.kind, &entry.name, entry.used, *bytes))
            .collect(),
    }
}

/// Those that there are, what takes most first.
fn kinds(entries: &[(&Entry, u64)]) -> Vec<StoredKind> {
    let mut sums: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for (entry, bytes) in entries {
        let sum = sums.entry(entry.kind.name).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    }
    let about = |name: &str| {
        let of_name = KINDS.iter().filter(|kind| kind.name == name);
        let all: Vec<&str> = of_name.map(|kind| kind.about).collect();
        all.join("; ")
    };
    let mut kinds: Vec<StoredKind> = sums
        .into_iter()
        .map(|(name, (entries, bytes))| StoredKind {
            kind: name.to_owned(),
            about: about(name),
            entries,
            bytes,
        })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.bytes));
    kinds
}

fn line(line: &Line, why: Option<&Kept>) -> StoredLine {
    let why = why.map(|why| match why {
        Kept::Fits => "used later than what goes, and it fits".to_owned(),
        Kept::InUse(by) => format!("{by} is using it"),
        Kept::Never(reason) => (*reason).to_owned(),
    });
    let stored = stored_line(line.kind, &line.name, line.used, line.bytes);
    StoredLine { why, ..stored }
}

fn stored_line(kind: &Kind, name: &Path, used: SystemTime, bytes: u64) -> StoredLine {
    // A clock that stood before 1970 says nothing.
    let since = date::since(used).unwrap_or(Duration::ZERO);
    StoredLine {
        kind: kind.name.to_owned(),
        name: shown(name).to_string(),
        bytes,
        used: since.as_secs(),
        day: date::of(since),
        why: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_units_of_1024() {
        let bytes = |text| Bound::of(text).map(|bound| bound.0);
        assert_eq!(bytes("0"), Some(0));
        assert_eq!(bytes("512"), Some(512));
        for text in ["20G", "20g", "20GiB", "20gib"] {
            assert_eq!(bytes(text), Some(20 << 30), "{text}");
        }
        assert_eq!(bytes("3k"), Some(3 << 10));
        assert_eq!(bytes("2T"), Some(2 << 40));
        for text in [
            "",
            "G",
            "-1",
            "1.5G",
            "20X",
            "20 G",
            "ib",
            "1ib",
            "18446744073709551615T",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
