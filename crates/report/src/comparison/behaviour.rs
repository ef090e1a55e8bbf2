//! What two kernels did differently with one input, in words and with the bytes
//! behind them.

use tollgate_defect::answer;
use tollgate_measure::{Layout, Outcome, Part, Place, PointDifference, Spot};

use crate::text::{clean, plural};

/// The most differences that are shown one by one.
const POINTS_SHOWN: usize = 5;
/// Bytes of user memory longer than this are shown around the first that differs,
/// in characters; the JSON document has them whole.
const BYTES_SHOWN: usize = 64;
/// What is shown in front of the first character that differs.
const BYTES_BEFORE: usize = 16;
/// The longest memory that is compared byte by byte; the guest shows less.
const MEMORY: usize = 1 << 16;

/// How the guest's sweeps place a buffer, by the family in a point's name
/// (guest/positions.c, guest/sweep_epoll_wait.c): what stands in front of the number
/// and behind it.
const FAMILIES: [(&str, &str, &str); 15] = [
    ("end", BEGINS, " in front of unmapped memory"),
    (
        "end-max1",
        BEGINS,
        " in front of unmapped memory, with room for 1",
    ),
    (
        "end-max2",
        BEGINS,
        " in front of unmapped memory, with room for 2",
    ),
    (
        "end-max32",
        BEGINS,
        " in front of unmapped memory, with room for 32",
    ),
    (
        "level",
        BEGINS,
        " in front of unmapped memory, level-triggered",
    ),
    (
        "edge",
        BEGINS,
        " in front of unmapped memory, edge-triggered",
    ),
    ("oneshot", BEGINS, " in front of unmapped memory, one-shot"),
    ("read-only", BEGINS, " in front of a read-only page"),
    ("no-access", BEGINS, " in front of a page without access"),
    ("write-only", BEGINS, " in front of a write-only page"),
    (
        "absent",
        BEGINS,
        " in front of a page that is not there yet",
    ),
    ("start", "", " of the buffer lie in front of mapped memory"),
    (
        "start-read-only",
        "",
        " of the buffer lie in a read-only page",
    ),
    ("top", BEGINS, " below the end of user space"),
    ("align", BEGINS, " behind an aligned address"),
];
const BEGINS: &str = "the buffer begins ";

/// Names of error numbers (include/uapi/asm-generic/errno-base.h, errno.h of the
/// architectures that QEMU plays here are the same so far).
const ERRORS: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

/// The first differences, two lines each: what differs in words, then what each
/// kernel left, each by its letter. How many more there are is the last. The layouts
/// name the members of structures that lie in memory.
pub(super) fn lines(
    differences: &[PointDifference],
    layouts: &[Layout],
    letters: (char, char),
) -> Vec<String> {
    let shown = differences.iter().take(POINTS_SHOWN);
    let shown = shown.map(|point| line(point, layouts, letters));
    let more = differences.len().saturating_sub(POINTS_SHOWN);
    let more =
        (more > 0).then(|| format!("and {more} more (all of them are in the JSON document)"));
    shown.chain(more).collect()
}

fn line(point: &PointDifference, layouts: &[Layout], (a, b): (char, char)) -> String {
    let around = first_difference(point).unwrap_or_default();
    let bytes = |outcome: Option<&Outcome>| match outcome {
        None => "has no such point".to_owned(),
        Some(outcome) => raw(outcome, around),
    };
    let layout = Layout::of(layouts, &point.sweep, &point.name);
    let place = place(&point.name).map_or_else(String::new, |words| format!(" ({words})"));
    format!(
        "{} {}{place}: {}. {a} {}; {b} {}",
        clean(&point.sweep),
        clean(&point.name),
        what(point, layout, a, b),
        bytes(point.before.as_ref()),
        bytes(point.after.as_ref())
    )
}

/// Where the input lay, as far as the point's name says it.
fn place(name: &str) -> Option<String> {
    let (name, again) = match name.strip_suffix("/again") {
        Some(name) => (name, "the call after the one in which "),
        None => (name, ""),
    };
    let mut parts = name.rsplit('/');
    let (last, family) = (parts.next()?, parts.next()?);
    if family == "at" || name.rsplit('/').nth(2) == Some("at") {
        return Some(format!(
            "{again}the buffer is at an address that is no user memory"
        ));
    }
    let number: usize = answer::number(last)?;
    let (_, before, behind) = FAMILIES.iter().find(|(known, ..)| *known == family)?;
    let bytes = plural(number, "byte");
    Some(format!("{again}{before}{bytes}{behind}"))
}

/// Which of its parts differ.
fn what(point: &PointDifference, layout: Option<&Layout>, a: char, b: char) -> String {
    let (before, after) = match (&point.before, &point.after) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => return format!("only {b} has it"),
        (_, None) => return format!("only {a} has it"),
    };
    let mut all = Vec::new();
    if before.ret != after.ret {
        all.push(format!(
            "returns {} in {a}, {} in {b}",
            before.ret, after.ret
        ));
    }
    if before.errno != after.errno {
        let [one, other] = [before.errno, after.errno].map(error);
        all.push(format!("errno is {one} in {a}, {other} in {b}"));
    }
    if before.bytes != after.bytes {
        all.push(memory([&before.bytes, &after.bytes], layout, a, b));
    }
    all.join(", ")
}

/// `EFAULT`, `200`, `0`.
fn error(number: u32) -> String {
    let index = number.checked_sub(1);
    let known = index.and_then(answer::fits::<usize, _>);
    match known.and_then(|index| ERRORS.get(index)) {
        Some(name) => (*name).to_owned(),
        None => number.to_string(),
    }
}

/// A byte of memory as the guest found it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Written(u8),
    /// Still what the sweep put there.
    Untouched,
    /// Where no program may read.
    Unreadable,
}

impl Byte {
    fn words(self) -> String {
        match self {
            Self::Written(byte) => format!("0x{byte:02x}"),
            Self::Untouched => "untouched".to_owned(),
            Self::Unreadable => "not readable".to_owned(),
        }
    }
}

/// The first byte of memory that differs, and how many do.
fn memory(sides: [&str; 2], layout: Option<&Layout>, a: char, b: char) -> String {
    let [Some(one), Some(other)] = sides.map(bytes) else {
        return "leaves other bytes".to_owned();
    };
    if one.len() != other.len() {
        let (one, other) = (plural(one.len(), "byte"), other.len());
        return format!("shows {one} of memory in {a}, {other} in {b}");
    }
    let pairs = || one.iter().zip(&other).enumerate();
    let count = pairs().filter(|(_, (one, other))| one != other).count();
    let first = pairs().find(|(_, (one, other))| one != other);
    let Some((at, (left, right))) = first else {
        return "writes the same bytes otherwise".to_owned();
    };
    // A layout of other memory than what is shown says nothing of it.
    let layout = layout.filter(|layout| layout.shown() == one.len());
    let (different, left, right) = (plural(count, "byte"), left.words(), right.words());
    match layout.and_then(|layout| layout.place(at)) {
        None => format!(
            "leaves {different} of memory different: byte {at} is {left} in {a}, {right} in {b}"
        ),
        Some(place) => {
            let first = if count > 1 { "the first " } else { "" };
            let lies = lies(place, at);
            format!(
                "leaves {different} of memory different, {first}{lies}: {left} in {a}, {right} in {b}"
            )
        }
    }
}

/// Where a byte lies, `at` being its number among those that are shown.
fn lies(place: Place<'_>, at: usize) -> String {
    match place {
        Place::Front(bytes) => format!("at {} in front of the buffer", plural(bytes, "byte")),
        Place::Behind(byte) => format!("at byte {byte} behind the buffer"),
        Place::Buffer(spot) => in_buffer(spot, at, "the buffer", ""),
        Place::Also(spot) => in_buffer(spot, at, "the second buffer", " of the second buffer"),
    }
}

fn in_buffer(spot: Spot<'_>, at: usize, buffer: &str, suffix: &str) -> String {
    let part = match spot.part {
        Part::Byte(byte) => return format!("at byte {byte} of {buffer}"),
        Part::Field(name) => clean(name),
        Part::Padding(Some(name)) => format!("padding behind {}", clean(name)),
        Part::Padding(None) => "padding at the start".to_owned(),
    };
    let element = spot.element;
    let element = element.map_or_else(String::new, |number| format!(" of element {number}"));
    format!("in {part}{element}{suffix} (byte {at})")
}

/// Memory as `docs/guest-protocol.md` writes it; none where it is not written so.
fn bytes(text: &str) -> Option<Vec<Byte>> {
    let mut all = Vec::new();
    for item in text.split(',').filter(|item| !item.is_empty()) {
        let run = |text| answer::number::<usize>(text);
        let (byte, times) = match (item.strip_prefix("..x"), item.strip_prefix("--x")) {
            (Some(times), _) => (Byte::Untouched, run(times)?),
            (_, Some(times)) => (Byte::Unreadable, run(times)?),
            _ => {
                all.extend(hex(item)?);
                continue;
            }
        };
        if all.len() + times > MEMORY {
            return None;
        }
        all.extend(std::iter::repeat_n(byte, times));
    }
    Some(all)
}

fn hex(digits: &str) -> Option<Vec<Byte>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => {
            let value = digit(high)? << 4 | digit(low)?;
            answer::fits::<u8, _>(value).map(Byte::Written)
        }
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// How many characters of both outcomes' bytes are the same from the start; none
/// where the bytes are the same throughout, or one side has none to compare.
fn first_difference(point: &PointDifference) -> Option<usize> {
    let (before, after) = (point.before.as_ref()?, point.after.as_ref()?);
    let pairs = before.bytes.chars().zip(after.bytes.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    (before.bytes != after.bytes).then_some(same)
}

fn raw(outcome: &Outcome, around: usize) -> String {
    let Outcome { ret, errno, bytes } = outcome;
    let bytes = if bytes.is_empty() { "none" } else { bytes };
    format!("ret={ret} errno={errno} bytes={}", excerpt(bytes, around))
}

/// What lies around a position of a long text: whole bytes, and whole counts of them.
fn excerpt(text: &str, around: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= BYTES_SHOWN {
        return text.to_owned();
    }
    let wanted = around
        .saturating_sub(BYTES_BEFORE)
        .min(letters.len() - BYTES_SHOWN);
    let cuts = cuts(&letters);
    let last = |most: usize| cuts.iter().copied().rfind(|at| *at <= most);
    // The first is 0.
    let from = last(wanted).unwrap_or(0);
    // What is longer by itself is shown whole.
    let to = last(from + BYTES_SHOWN).filter(|at| *at > from);
    let to = to.unwrap_or(letters.len());
    let shown: String = letters.iter().skip(from).take(to - from).collect();
    let start = if from > 0 { "..." } else { "" };
    let end = if to < letters.len() { "..." } else { "" };
    format!("{start}{shown}{end}")
}

/// Where a text may be cut: before a byte, before `..xN` and `--xN`, and at its end.
fn cuts(letters: &[char]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in letters.split(|letter| *letter == ',') {
        let step = match part.first() {
            Some('.' | '-') => part.len(),
            _ => 2,
        };
        found.extend((at..at + part.len().max(1)).step_by(step));
        at += part.len() + 1;
    }
    found.push(letters.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_measure::{Field, Shape};

    fn outcome(ret: i64, errno: u32, bytes: &str) -> Option<Outcome> {
        Some(Outcome {
            ret,
            errno,
            bytes: bytes.into(),
        })
    }

    #[test]
    fn bytes_and_counts_of_them_are_cut_nowhere() {
        let text = "01000000,..x8,".to_owned() + &"0500".repeat(40) + ",--x4096";
        for around in 0..text.len() {
            let shown = excerpt(&text, around);
            let inner = shown.trim_start_matches("...").trim_end_matches("...");
            for part in inner.split(',').filter(|part| !part.is_empty()) {
                let count = ["..x8", "--x4096"].contains(&part);
                let digits = part.bytes().all(|byte| byte.is_ascii_hexdigit());
                let own = count
                    || digits && part.len().is_multiple_of(2) && part != "8" && part != "4096";
                assert!(own, "{around}: {shown}");
            }
            assert!(inner.len() <= BYTES_SHOWN, "{around}: {shown}");
        }
        assert_eq!(excerpt("0100", 2), "0100");
    }

    fn said(name: &str, before: Option<Outcome>, after: Option<Outcome>) -> String {
        let point = PointDifference {
            sweep: "waitid".into(),
            name: name.into(),
            before,
            after,
        };
        line(&point, &[], ('A', 'B'))
    }

    fn layouts() -> Vec<Layout> {
        let field = |(name, offset, size): &(&str, u16, u16)| Field {
            name: (*name).to_owned(),
            offset: *offset,
            size: *size,
        };
        let shape = |size, each, fields: &[_]| Shape {
            size,
            each,
            fields: fields.iter().map(field).collect(),
        };
        let layout = |prefix: &str, buffer, also| Layout {
            sweep: "s".to_owned(),
            prefix: prefix.to_owned(),
            front: 4,
            behind: 4,
            buffer,
            also,
        };
        let told = shape(8, None, &[("si_signo", 4, 2)]);
        vec![
            layout("", shape(8, None, &[]), None),
            layout(
                "events/",
                shape(16, Some(8), &[("events", 0, 2), ("data", 4, 4)]),
                None,
            ),
            layout("also/", shape(4, None, &[("\u{1b}x", 0, 4)]), Some(told)),
            layout("plain/", shape(4, None, &[]), Some(shape(8, None, &[]))),
        ]
    }

    /// What is said where all bytes from one on are others, or that one alone.
    fn lying(name: &str, shown: usize, at: usize, alone: bool) -> String {
        let after: String = (0..shown)
            .map(|byte| {
                if byte == at || !alone && byte > at {
                    "01"
                } else {
                    "00"
                }
            })
            .collect();
        let point = PointDifference {
            sweep: "s".into(),
            name: name.into(),
            before: outcome(0, 0, &"00".repeat(shown)),
            after: outcome(0, 0, &after),
        };
        let said = line(&point, &layouts(), ('A', 'B'));
        let (said, _) = said.split_once(". A ret").unwrap();
        said.to_owned()
    }

    #[test]
    fn a_byte_that_differs_is_named_by_its_member_or_by_its_place() {
        let mut said = Vec::new();
        for (name, shown, bytes) in [
            ("end/3", 16, &[1, 4, 11, 12, 15][..]),
            ("events/end/3", 24, &[3, 4, 6, 11, 12, 19, 20]),
            ("also/end/3", 20, &[4, 12, 16, 18]),
            ("plain/end/3", 20, &[3, 19]),
        ] {
            said.extend(bytes.iter().map(|at| lying(name, shown, *at, false)));
        }
        said.push(lying("events/align/3/again", 24, 4, true));
        said.push(lying("plain/align/3", 20, 3, true));
        // More is shown than the layout has.
        said.push(lying("events/align/3", 25, 4, true));
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn a_difference_says_which_field_and_which_fault_and_what_each_left() {
        let good = || outcome(0, 0, "..x8,0500,--x4");
        let lines = [
            said("end/17", good(), outcome(-1, 14, "..x8,0500,--x4")),
            said("child/absent/4", good(), outcome(0, 0, "..x8,0501,--x4")),
            said("at/null/0", good(), outcome(0, 0, "..x10,--x4")),
            said("start/1/again", good(), outcome(0, 0, "..x8,05")),
            said("option/200", good(), outcome(0, 200, "no bytes")),
            said("end/0", good(), None),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }

    /// Only what differs of a long answer is worth a reader's time.
    #[test]
    fn a_long_difference_is_shown_where_it_begins() {
        let long = |at: &str| {
            let bytes = format!("..x8,{}{at}{}", "00".repeat(90), "11".repeat(90));
            outcome(200, 0, &bytes)
        };
        let line = said("end/9", long("04"), long("05"));
        for words in [
            "bytes=...00000000000000000411",
            "bytes=...00000000000000000511",
        ] {
            assert!(line.contains(words), "{line}");
        }
        assert!(line.contains("byte 98 is 0x04 in A, 0x05 in B"), "{line}");
        assert!(line.ends_with("..."), "{line}");
    }
}
