//! Samples one by one: `perf script`, with call chains and without.

use std::collections::HashMap;

use super::lines::Line;
use crate::gather::Gather;
use crate::profile::{Form, Frame, Measure, Profile, Space, space_of};

/// One sample's header line, and the frame behind it if it has one.
struct Header<'a> {
    period: f64,
    event: &'a str,
    frame: Option<(Frame, &'a str)>,
}

/// A sample of which the frames are being read.
struct Open {
    event: String,
    period: f64,
    frames: Vec<Frame>,
    object: String,
}

/// The samples of `perf script`, a profile an event. Each counts its period; the
/// first frame is where the processor was.
pub(crate) fn samples(lines: &[Line<'_>]) -> Vec<Profile> {
    let mut all = Samples::default();
    for line in lines {
        match header(&line.text) {
            Some(found) => all.begin(&found, line.number),
            None if line.is_blank() => all.end(),
            None => all.frame(line),
        }
    }
    all.end();
    all.profiles()
}

#[derive(Default)]
struct Samples {
    /// By event, in the order in which they are met.
    events: Vec<(String, Gather)>,
    known: HashMap<String, usize>,
    open: Option<Open>,
    first: usize,
    last: usize,
    odd: Option<usize>,
    odd_count: usize,
    without_frame: usize,
}

impl Samples {
    fn begin(&mut self, header: &Header<'_>, line: usize) {
        self.end();
        if self.first == 0 {
            self.first = line;
        }
        self.last = line;
        let (frames, object) = match &header.frame {
            Some((frame, object)) => (vec![frame.clone()], (*object).to_owned()),
            None => (Vec::new(), String::new()),
        };
        self.open = Some(Open {
            event: header.event.to_owned(),
            period: header.period,
            frames,
            object,
        });
    }

    fn frame(&mut self, line: &Line<'_>) {
        let Some(open) = &mut self.open else {
            self.odd_count += usize::from(self.first > 0);
            self.odd = self.odd.or(Some(line.number)).filter(|_| self.first > 0);
            return;
        };
        match frame(&line.text) {
            Some((frame, object)) => {
                if open.frames.is_empty() {
                    object.clone_into(&mut open.object);
                }
                open.frames.push(frame);
                self.last = line.number;
            }
            None => {
                self.odd_count += 1;
                self.odd = self.odd.or(Some(line.number));
            }
        }
    }

    fn end(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        if open.frames.is_empty() {
            self.without_frame += 1;
            return;
        }
        let next = self.events.len();
        let at = *self.known.entry(open.event.clone()).or_insert(next);
        if at == next {
            self.events.push((open.event.clone(), Gather::default()));
        }
        if let Some((_, gather)) = self.events.get_mut(at) {
            gather.add(open.frames, &open.object, open.period);
        }
    }

    fn profiles(self) -> Vec<Profile> {
        let mut notes = Vec::new();
        if let Some(line) = self.odd {
            let lines = match self.odd_count {
                1 => "1 line is".to_owned(),
                many => format!("{many} lines are"),
            };
            notes.push(format!(
                "{lines} no sample and no frame, the first is line {line}"
            ));
        }
        if self.without_frame > 0 {
            notes.push(format!(
                "samples without an address: {}",
                self.without_frame
            ));
        }
        let (first, last) = (self.first, self.last);
        let profile = |(event, gather): (String, Gather)| {
            let mut profile = gather.profile(Form::Script, Measure::Samples { event: Some(event) });
            profile.place.first = first;
            profile.place.last = last;
            profile.notes.extend(notes.iter().cloned());
            profile
        };
        self.events.into_iter().map(profile).collect()
    }
}

/// `comm pid [cpu] time: period event: ip symbol+offset (dso)`.
fn header(line: &str) -> Option<Header<'_>> {
    let mut words = line.split_whitespace();
    words.find(|word| is_time(word))?;
    let first = words.next()?;
    let period = super::lines::number(first);
    let event = match period {
        Some(_) => words.next()?,
        None => first,
    };
    let event = event.strip_suffix(':')?;
    let rest = words.next().map(|ip| {
        let at = ip.as_ptr() as usize - line.as_ptr() as usize;
        line.get(at..).unwrap_or_default()
    });
    Some(Header {
        period: period.unwrap_or(1.0),
        event,
        frame: rest.and_then(frame),
    })
}

/// `12345.678901:`
fn is_time(word: &str) -> bool {
    let Some((seconds, parts)) = word.strip_suffix(':').and_then(|time| time.split_once('.'))
    else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(seconds) && digits(parts)
}

/// `ffffffff81234567 symbol+0x17 ([kernel.kallsyms])`, and the image's name.
fn frame(line: &str) -> Option<(Frame, &str)> {
    let text = line.trim();
    let (address, rest) = text.split_once(char::is_whitespace)?;
    address
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then_some(())?;
    let rest = rest.trim();
    // A symbol of C++ holds blanks and brackets; the image stands last.
    let (symbol, object) = match rest.rfind(" (").filter(|_| rest.ends_with(')')) {
        Some(at) => (rest.get(..at)?, rest.get(at + 2..rest.len() - 1)?),
        None => (rest, ""),
    };
    let symbol = symbol
        .rsplit_once("+0x")
        .map_or(symbol, |(name, _)| name)
        .trim();
    let space = match (space_of(object), is_high(address)) {
        // Code that was made at run time (BPF, ftrace) is in no file.
        (Space::Unknown, true) => Space::Kernel,
        (Space::Unknown, false) if !object.is_empty() => Space::User,
        (space, _) => space,
    };
    let frame = Frame {
        symbol: symbol.to_owned(),
        space,
    };
    (!symbol.is_empty()).then_some((frame, object))
}

/// The upper half of 64 bits is the kernel's.
fn is_high(address: &str) -> bool {
    address.len() == 16 && address.starts_with(['f', 'F'])
}
