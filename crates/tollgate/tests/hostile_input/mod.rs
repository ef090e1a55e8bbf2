//! Inputs made to do harm: real ones, changed as no honest program would, drawn with a
//! seed.

use tollgate_testing::draw::Draw;

/// What an input is given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Patch,
    Mail,
    Object,
    Profile,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Patch, Self::Mail, Self::Object, Self::Profile];
}

/// An input, and what was done to it.
pub(crate) struct Hostile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) how: String,
}

/// What a terminal obeys, what turns text round, what is no text, what ends a string.
const SPEAKS: [&str; 7] = [
    "\x1b[2J\x1b[31m",
    "\x1b]0;title\x07",
    "\u{202e}desrever\u{2066}",
    "\u{9b}2J",
    "a\rb\x08c\x0b\x0c",
    "\u{200b}\u{feff}\u{e0041}",
    "nul\0nul",
];

/// Numbers that overflow something.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "1e999",
    "nan",
    "0x7fffffffffffffff",
];

/// What can be done to any text.
fn changed_text(text: &[u8], draw: &mut Draw) -> Hostile {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let line = draw.below(lines.len().max(1));
    let with_line = |new: &[u8]| -> Vec<u8> {
        let (before, after) = lines.split_at(line.min(lines.len()));
        [&before.concat(), new, &after.concat()].concat()
    };
    let own = lines.get(line).copied().unwrap_or_default();
    let (how, bytes) = match draw.below(11) {
        0 => ("cut off", text[..draw.below(text.len() + 1)].to_vec()),
        1 => ("bytes altered", altered(text, draw)),
        2 => {
            let spoken = draw.of(&SPEAKS).as_bytes().to_vec();
            let mut at = own.to_vec();
            let place = draw.below(at.len() + 1);
            at.splice(place..place, spoken);
            ("speaks to a terminal", with_line(&at))
        }
        3 => ("a line ten thousand times", with_line(&own.repeat(10_000))),
        4 => {
            let long = vec![b'x'; 4 << 20];
            ("a line of 4 MiB", with_line(&long))
        }
        5 => ("a number that overflows", numbered(text, draw)),
        6 => ("no text", with_line(&[0xff, 0xfe, 0, 0xc3, 0x28, b'\n'])),
        7 => (
            "lines of a Mac",
            text.iter()
                .map(|b| if *b == b'\n' { b'\r' } else { *b })
                .collect(),
        ),
        8 => (
            "two bytes a letter",
            text.iter().flat_map(|b| [*b, 0]).collect(),
        ),
        9 => {
            let mut lines = lines.clone();
            for at in (1..lines.len()).rev() {
                lines.swap(at, draw.below(at + 1));
            }
            ("lines in another order", lines.concat())
        }
        _ => (
            "tabs and blanks without end",
            with_line(&b" \t".repeat(1 << 20)),
        ),
    };
    Hostile {
        bytes,
        how: how.to_owned(),
    }
}

fn altered(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=draw.below(16) {
        if !bytes.is_empty() {
            let at = draw.below(bytes.len());
            bytes[at] = *draw.of(&[0, 0xff, b'\n', b'-', b'@', b'"', b'\\', b'9', 0x1b, 0x80]);
        }
    }
    bytes
}

/// Some of the numbers of a text are others.
fn numbered(text: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        let number = part.first().is_some_and(u8::is_ascii_digit);
        match number && draw.below(3) == 0 {
            true => out.extend_from_slice(draw.of(&NUMBERS).as_bytes()),
            false => out.extend_from_slice(part),
        }
    }
    out
}

const PATCH: &str = "\
From: A B <a@example.org>
Subject: [PATCH] x: Change a line

Why.
---
diff --git a/kernel/gate.c b/kernel/gate.c
--- a/kernel/gate.c
+++ b/kernel/gate.c
@@ -3,5 +3,5 @@

 int gate(const char *what)
 {
-\treturn what[0] == 0;
+\treturn what[0] == 1;
 }
";

fn many_hunks() -> String {
    let hunks = "@@ -1,1 +1,1 @@\n-a\n+b\n".repeat(10_000);
    format!("--- a/kernel/gate.c\n+++ b/kernel/gate.c\n{hunks}")
}

fn many_files() -> String {
    let file = |n| format!("--- /dev/null\n+++ b/kernel/n{n}.c\n@@ -0,0 +1 @@\n+int n{n};\n");
    (0..5000).map(file).collect()
}

/// Patches whose heads lie.
fn patch_heads(draw: &mut Draw) -> Hostile {
    const NAMES: [&str; 12] = [
        "../../../../etc/passwd",
        "/etc/passwd",
        "kernel/../../gate.c",
        ".git/hooks/pre-commit",
        "\"kernel/\\033[2J.c\"",
        "\"kernel/\\000.c\"",
        "kernel",
        "",
        "kernel/gate.c/x",
        "\"unclosed",
        "/dev/null",
        "kernel/\u{202e}c.etag",
    ];
    const MODES: [&str; 6] = ["120000", "160000", "040000", "100777", "999999", "-1"];
    let (name, other) = (draw.of(&NAMES), draw.of(&NAMES));
    let mode = draw.of(&MODES);
    let (how, text) = match draw.below(9) {
        0 => (
            "a name that leads out",
            PATCH.replace("kernel/gate.c", name),
        ),
        1 => (
            "a rename that leads out",
            format!(
                "diff --git a/{name} b/{other}\nsimilarity index 100%\nrename from {name}\nrename to {other}\n"
            ),
        ),
        2 => (
            "a mode that is none",
            format!(
                "diff --git a/kernel/new b/kernel/new\nnew file mode {mode}\n--- /dev/null\n+++ b/kernel/new\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
            ),
        ),
        3 => (
            "a binary patch that is none",
            format!(
                "diff --git a/kernel/gate.c b/kernel/gate.c\nindex 1..2 {mode}\nGIT binary patch\nliteral 99999999999\nzcmV;@0000000000\n\n"
            ),
        ),
        4 => ("ten thousand hunks", many_hunks()),
        5 => ("five thousand files", many_files()),
        6 => (
            "a hunk that is longer than it says",
            PATCH.replace(
                "@@ -3,5 +3,5 @@",
                &format!("@@ -3,{} +3,{} @@", draw.of(&NUMBERS), draw.of(&NUMBERS)),
            ),
        ),
        7 => (
            "code that is nested without end",
            format!(
                "--- /dev/null\n+++ b/kernel/deep.c\n@@ -0,0 +1,3 @@\n+int f(void)\n+{}\n+{}\n",
                "{".repeat(100_000),
                "(".repeat(100_000)
            ),
        ),
        _ => (
            "a copy of what is not there",
            format!("diff --git a/{name} b/kernel/x.c\ncopy from {name}\ncopy to kernel/x.c\n"),
        ),
    };
    Hostile {
        bytes: text.into_bytes(),
        how: how.to_owned(),
    }
}

/// Mails whose heads or parts lie.
fn mail_heads(draw: &mut Draw) -> Hostile {
    let spoken = draw.of(&SPEAKS);
    let quoted: String = spoken.bytes().map(|byte| format!("={byte:02X}")).collect();
    let with = |head: &str| format!("From x Mon Sep 17 00:00:00 2001\n{head}\n{PATCH}");
    let (how, text) = match draw.below(10) {
        0 => ("a subject that speaks", with(&format!("Subject: {spoken}"))),
        1 => (
            "a subject that speaks when decoded",
            with(&format!("Subject: =?utf-8?q?{quoted}?=")),
        ),
        2 => (
            "a sender that speaks when decoded",
            with(&format!("From: =?utf-8?q?{quoted}?= <a@b>")),
        ),
        3 => (
            "a charset that is none",
            with("Content-Type: text/plain; charset=\x1b[2J"),
        ),
        4 => (
            "base64 that is none",
            with("Content-Transfer-Encoding: base64\n\n!!!!====\x1b"),
        ),
        5 => (
            "parts within parts",
            (0..3000)
                .map(|n| format!("Content-Type: multipart/mixed; boundary=\"b{n}\"\n\n--b{n}\n"))
                .collect::<String>()
                + PATCH,
        ),
        6 => (
            "a boundary of a megabyte",
            with(&format!(
                "Content-Type: multipart/mixed; boundary=\"{}\"",
                "b".repeat(1 << 20)
            )),
        ),
        7 => (
            "a hundred thousand heads",
            with(&"X-Head: x\n".repeat(100_000)),
        ),
        8 => (
            "three thousand mails",
            with("Subject: [PATCH] x").repeat(3000),
        ),
        _ => (
            "a head folded without end",
            with(&format!("Subject: x{}", "\n y".repeat(200_000))),
        ),
    };
    Hostile {
        bytes: text.into_bytes(),
        how: how.to_owned(),
    }
}

/// Objects whose fields lie.
fn object(base: &[u8], draw: &mut Draw) -> Hostile {
    const LIES: [u64; 7] = [
        0,
        1,
        0xffff_fff0,
        1 << 40,
        u64::MAX,
        i64::MAX as u64,
        0x8000_0000,
    ];
    let mut bytes = base.to_vec();
    let how = match draw.below(4) {
        0 => {
            bytes.truncate(draw.below(bytes.len() + 1));
            "cut off"
        }
        1 => {
            for _ in 0..=draw.below(64) {
                let at = draw.below(bytes.len());
                bytes[at] ^= 1 << draw.below(8);
            }
            "bits altered"
        }
        2 => {
            for _ in 0..=draw.below(4) {
                let at = draw.below(bytes.len().saturating_sub(8).max(1)) & !7;
                let lie = draw.of(&LIES).to_le_bytes();
                if let Some(field) = bytes.get_mut(at..at + 8) {
                    field.copy_from_slice(&lie);
                }
            }
            "fields that lie"
        }
        _ => {
            // The head: sizes and places of the tables.
            for _ in 0..=draw.below(4) {
                let at = 16 + draw.below(48);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = draw.bytes(1)[0];
                }
            }
            "a head that lies"
        }
    };
    Hostile {
        bytes,
        how: how.to_owned(),
    }
}

/// Profiles that no profiler writes.
fn profile_heads(draw: &mut Draw) -> Hostile {
    let spoken = draw.of(&SPEAKS);
    let number = draw.of(&NUMBERS);
    let (how, text) = match draw.below(8) {
        0 => (
            "a stack without end",
            format!("{} 1\n", vec!["f"; 500_000].join(";")),
        ),
        1 => (
            "a million stacks",
            (0..200_000).map(|n| format!("a;b{n};c {n}\n")).collect(),
        ),
        2 => (
            "a function that speaks",
            format!("a;{spoken};copy_to_user {number}\n"),
        ),
        3 => (
            "counts that overflow together",
            "a;copy_to_user 18446744073709551615\n".repeat(9),
        ),
        4 => (
            "a table that speaks",
            format!("# Overhead  Command  Symbol\n    {number}%  {spoken}  [k] {spoken}\n"),
        ),
        5 => (
            "shares of more than all",
            "    99.9%  x  [k] copy_to_user\n".repeat(1000),
        ),
        6 => ("JSON within JSON", "[".repeat(200_000)),
        _ => (
            "JSON that is another's",
            format!(
                "{{\"schema\": \"tollgate-run\", \"version\": {number}, \"x\": \"{}\"}}",
                "\\u001b[2J"
            ),
        ),
    };
    Hostile {
        bytes: text.into_bytes(),
        how: how.to_owned(),
    }
}

/// One of a kind; `bases` are honest ones.
pub(crate) fn made(kind: Kind, bases: &[Vec<u8>], draw: &mut Draw) -> Hostile {
    let heads = draw.below(2) == 0;
    let base = draw.of(bases).clone();
    match (kind, heads) {
        (Kind::Patch, true) => patch_heads(draw),
        (Kind::Mail, true) => mail_heads(draw),
        (Kind::Profile, true) => profile_heads(draw),
        (Kind::Object, _) => object(&base, draw),
        (Kind::Patch, false) => changed_text(PATCH.as_bytes(), draw),
        (Kind::Mail | Kind::Profile, false) => changed_text(&base, draw),
    }
}
