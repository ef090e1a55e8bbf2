//! `perf annotate --stdio`, and what mails hold of it.

use serde::Serialize;

use super::lines::{Line, number};
use crate::profile::Place;

/// How the function of a block of annotated lines is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// A header or label above it.
    Header,
    /// A jump in it into the function itself, `<symbol+0x10>`.
    Jump,
    /// Its addresses lie near those of another block of the text, which is named.
    Neighbour,
    /// Nothing names it.
    Nobody,
}

/// An instruction and its part of its function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotated {
    /// In percent of the samples of the function.
    pub percent: f64,
    /// Where it is, if that is printed.
    pub address: Option<u64>,
    /// As it is printed, without its bytes.
    pub code: String,
}

/// Lines of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotation {
    /// Where in the text.
    pub place: Place,
    /// The first lines of other places of the text that hold the same.
    pub again: Vec<usize>,
    /// The function.
    pub function: Option<String>,
    /// How it is known.
    pub named_by: NamedBy,
    /// Its instructions.
    pub lines: Vec<Annotated>,
    /// Whether its writer left out lines.
    pub elided: bool,
    /// Where a jump says that the function begins.
    #[serde(skip)]
    start: Option<u64>,
}

impl Annotation {
    /// The part of the function that these lines are, in percent.
    #[must_use]
    pub fn percent(&self) -> f64 {
        self.lines.iter().map(|line| line.percent).sum()
    }
}

/// Two blocks farther apart are not taken for one function.
const FAR: u64 = 0x4000;

/// All blocks of a text, in order.
pub(crate) fn annotations(lines: &[Line<'_>]) -> Vec<Annotation> {
    let mut done: Vec<Annotation> = Vec::new();
    let mut open: Option<Annotation> = None;
    let mut header: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(found) = read(&line.text) {
            let block = open.get_or_insert_with(|| begin(line.number, header.take()));
            block.place.last = line.number;
            block.jump(&found.code);
            block.lines.push(found);
            continue;
        }
        if let Some(label) = label(&line.text) {
            done.extend(open.take());
            header = Some(label);
            continue;
        }
        let goes_on = || continues(lines, at);
        if let Some(block) = &mut open {
            if line.is_ellipsis() {
                block.elided = true;
            } else if is_source(&line.text) {
                // The lines of C between, and those without samples.
            } else if line.is_blank() || !goes_on() {
                done.extend(open.take());
            } else if let Some(last) = block.lines.last_mut() {
                last.code = format!("{} {}", last.code, line.text.trim());
                let code = last.code.clone();
                block.jump(&code);
            }
        }
        if let Some(name) = titled(&line.text) {
            header = Some(name);
        }
    }
    done.extend(open.take());
    done.retain(|block| block.lines.iter().any(|line| line.percent > 0.0));
    name_by_neighbours(&mut done);
    done
}

fn begin(line: usize, header: Option<String>) -> Annotation {
    let named_by = match header {
        Some(_) => NamedBy::Header,
        None => NamedBy::Nobody,
    };
    Annotation {
        place: Place {
            first: line,
            last: line,
        },
        again: Vec::new(),
        function: header,
        named_by,
        lines: Vec::new(),
        elided: false,
        start: None,
    }
}

impl Annotation {
    /// A branch to `c057f3c0 <snd_pcm_ioctl+0xbb0>` names the function. A call
    /// goes elsewhere and has no offset.
    fn jump(&mut self, code: &str) {
        if self.function.is_some() && self.start.is_some() {
            return;
        }
        let Some((symbol, offset, target)) = target(code) else {
            return;
        };
        if self.function.is_none() {
            self.function = Some(symbol.to_owned());
            self.named_by = NamedBy::Jump;
        }
        self.start = target.and_then(|target| target.checked_sub(offset));
    }
}

/// `… c057f3c0 <symbol+0xbb0>`.
fn target(code: &str) -> Option<(&str, u64, Option<u64>)> {
    let (before, rest) = code.split_once('<')?;
    let (inside, _) = rest.split_once('>')?;
    let (symbol, offset) = inside.split_once("+0x")?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let named = !symbol.is_empty() && symbol.bytes().all(plain);
    let offset = tollgate_defect::answer::hexadecimal(offset)?;
    let address = before.split_whitespace().next_back();
    let address = address.map(|word| word.trim_start_matches("0x"));
    named.then_some((
        symbol,
        offset,
        address.and_then(tollgate_defect::answer::hexadecimal),
    ))
}

/// `c057e810 <snd_pcm_ioctl>:`.
fn label(text: &str) -> Option<String> {
    let (address, rest) = text.trim().split_once(" <")?;
    let symbol = rest.strip_suffix(">:")?;
    tollgate_defect::answer::hexadecimal(address)?;
    (!symbol.contains(['+', ' ', '<'])).then(|| symbol.to_owned())
}

/// `__put_user_nocheck_4  /proc/kcore [Percent: local period]`, or
/// `Percent | Source code & Disassembly of vmlinux for cycles`, which names none.
fn titled(text: &str) -> Option<String> {
    let (before, _) = text.split_once("[Percent:")?;
    let name = before.split_whitespace().next()?;
    Some(name.to_owned())
}

/// A line with its part: `0.29 :   c057f85c:  39 5e 00 14  addi r10,r30,20` or
/// `89.91 │      stac`.
fn read(text: &str) -> Option<Annotated> {
    let (left, right) = split(text)?;
    let percent = number(left.trim()).filter(|percent| *percent <= 100.0)?;
    let code = right.trim();
    let (address, code) = match code.split_once(':') {
        Some((digits, rest)) => match tollgate_defect::answer::hexadecimal(digits.trim()) {
            Some(address) => (Some(address), rest.trim()),
            None => (None, code),
        },
        None => (None, code),
    };
    // `1.5 : text` is anything; the line of the terminal's own form has no address.
    let drawn = text.contains('│') || text.contains('|');
    let bare = without_bytes(code);
    // Where the address was left out, the instruction's bytes say what the line is.
    let has_bytes = bare.len() < code.trim_start().len();
    let code = bare;
    let arrows = |c: char| c.is_whitespace() || "←→↓↑│".contains(c);
    let code = code.trim_start_matches(arrows);
    ((address.is_some() || drawn || has_bytes) && !code.is_empty()).then(|| Annotated {
        percent,
        address,
        code: code.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

/// At the first of the signs that perf puts behind the percentage.
fn split(text: &str) -> Option<(&str, &str)> {
    let at = text.find([':', '│', '|'])?;
    let sign = text.get(at..)?.chars().next()?;
    Some((text.get(..at)?, text.get(at + sign.len_utf8()..)?))
}

/// A line of the listing that has no samples, or one of C.
fn is_source(text: &str) -> bool {
    split(text).is_some_and(|(left, _)| {
        let left = left.trim();
        left.is_empty() || left == "Percent" || left.starts_with("Disassembly of")
    })
}

/// The bytes of the instruction, in pairs of digits or as one word of eight.
fn without_bytes(code: &str) -> &str {
    let mut rest = code;
    loop {
        let text = rest.trim_start();
        let word = text.split_whitespace().next().unwrap_or_default();
        let bytes = matches!(word.len(), 2 | 8) && word.bytes().all(|b| b.is_ascii_hexdigit());
        match text.get(word.len()..) {
            Some(behind) if bytes && !behind.trim().is_empty() => rest = behind,
            _ => return text,
        }
    }
}

/// The end of a long line that mail has wrapped: a few words, and the listing goes on
/// or ends behind it.
fn continues(lines: &[Line<'_>], at: usize) -> bool {
    let Some(line) = lines.get(at) else {
        return false;
    };
    let text = line.text.trim();
    if text.starts_with('<') && text.ends_with('>') {
        return true;
    }
    let next = lines.get(at + 1);
    text.split_whitespace().count() <= 3 && next.is_some_and(|next| read(&next.text).is_some())
}

fn name_by_neighbours(blocks: &mut [Annotation]) {
    let named: Vec<(String, u64)> = blocks
        .iter()
        .filter_map(|block| Some((block.function.clone()?, block.start?)))
        .collect();
    for block in blocks.iter_mut().filter(|block| block.function.is_none()) {
        let Some(address) = block.lines.iter().find_map(|line| line.address) else {
            continue;
        };
        let near = named
            .iter()
            .find(|(_, start)| (*start..start.saturating_add(FAR)).contains(&address));
        if let Some((symbol, _)) = near {
            block.function = Some(symbol.clone());
            block.named_by = NamedBy::Neighbour;
        }
    }
}
