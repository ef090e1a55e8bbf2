//! `perf.data`, read by linux-perf-data. It holds addresses; the kernel's get names
//! from `/proc/kallsyms` of the boot that was recorded, the rest are counted.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};

use linux_perf_data::linux_perf_event_reader::constants::PERF_CONTEXT_MAX;
use linux_perf_data::linux_perf_event_reader::{CpuMode, EventRecord, SampleRecord, constants};
use linux_perf_data::{PerfFile, PerfFileReader, PerfFileRecord};
use tollgate_defect::answer;

mod sizes;

use crate::gather::Gather;
use crate::profile::{Form, Frame, Measure, Profile, Space, space_of};

/// The first bytes of a file, as perf on a machine of either endianness writes them.
#[must_use]
pub fn is_perf_data(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP")
}

/// The kernel's symbols by address, as `/proc/kallsyms` lists them.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    by_address: BTreeMap<u64, (String, Option<String>)>,
}

impl Kallsyms {
    /// Reads `ffffffff81000000 T name [module]` a line. Symbols of data are left out.
    /// Addresses that are all 0, as an ordinary user sees them, give none.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut by_address = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let address = words.next().and_then(answer::hexadecimal);
            let is_code = words
                .next()
                .is_some_and(|kind| matches!(kind, "t" | "T" | "w" | "W"));
            let (Some(address), Some(name), true) =
                (address.filter(|at| *at > 0), words.next(), is_code)
            else {
                continue;
            };
            let module = words
                .next()
                .map(|module| module.trim_matches(['[', ']']).to_owned());
            let better = |known: &(String, Option<String>)| is_plainer(name, &known.0);
            let entry = by_address.entry(address);
            entry
                .and_modify(|known| {
                    if better(known) {
                        *known = (name.to_owned(), module.clone());
                    }
                })
                .or_insert_with(|| (name.to_owned(), module.clone()));
        }
        Self { by_address }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    fn name(&self, address: u64) -> Option<&(String, Option<String>)> {
        let (_, found) = self.by_address.range(..=address).next_back()?;
        Some(found)
    }
}

/// Of two names of one address that which is no mark of a section or of a prologue.
fn is_plainer(name: &str, known: &str) -> bool {
    let odd = |name: &str| {
        name.starts_with("__pfx_")
            || name.starts_with("_stext")
            || name.starts_with("_text")
            || name.ends_with("_start")
            || name.starts_with("__cfi_")
    };
    odd(known) && !odd(name)
}

/// What perf.data could not be read for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PerfDataError {
    /// Its head points outside of it.
    #[error(
        "its head says that {what} lies at byte {offset} and takes {size} bytes, and the file has {length}: it was cut off or is no perf.data"
    )]
    Outside {
        /// Which section.
        what: &'static str,
        /// Where.
        offset: u64,
        /// How large.
        size: u64,
        /// What there is.
        length: u64,
    },
    /// The library's own words.
    #[error("linux-perf-data cannot read it: {0}")]
    Library(String),
    /// The library gave up without words.
    #[error("linux-perf-data cannot make sense of it: it is damaged")]
    Damaged,
    /// It has records, and none of them is a sample.
    #[error("it holds {records} records and no sample{}", if *.packed { ": it is compressed (perf record -z), which is not read; record it without -z, or give the text of perf script" } else { "" })]
    Empty {
        /// How many.
        records: u64,
        /// Whether some of them are compressed.
        packed: bool,
    },
}

/// The profiles of a perf.data, one an event.
///
/// # Errors
/// When it is damaged, or holds no samples.
pub(crate) fn perf_data(bytes: &[u8], kernel: &Kallsyms) -> Result<Vec<Profile>, PerfDataError> {
    sizes::check(bytes)?;
    // Damage that the library does not expect ends in a panic of its own.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let read = panic::catch_unwind(AssertUnwindSafe(|| read(bytes, kernel)));
    panic::set_hook(hook);
    match read {
        Ok(read) => read,
        Err(_) => Err(PerfDataError::Damaged),
    }
}

fn read(bytes: &[u8], kernel: &Kallsyms) -> Result<Vec<Profile>, PerfDataError> {
    let library = |error: linux_perf_data::Error| PerfDataError::Library(error.to_string());
    let is_pipe = bytes.get(8..16) == Some(&16_u64.to_le_bytes()[..]);
    if is_pipe {
        let PerfFileReader {
            perf_file,
            record_iter,
        } = PerfFileReader::parse_pipe(Cursor::new(bytes)).map_err(library)?;
        return walk(perf_file, record_iter, kernel);
    }
    let PerfFileReader {
        perf_file,
        record_iter,
    } = PerfFileReader::parse_file(Cursor::new(bytes)).map_err(library)?;
    walk(perf_file, record_iter, kernel)
}

struct Walk<'k> {
    kernel: &'k Kallsyms,
    events: Vec<(String, Gather)>,
    maps: HashMap<i32, Vec<(u64, u64, String)>>,
    records: u64,
    lost: u64,
    packed: bool,
    odd: u64,
}

fn walk<R: std::io::Read>(
    mut file: PerfFile,
    mut records: linux_perf_data::PerfRecordIter<R>,
    kernel: &Kallsyms,
) -> Result<Vec<Profile>, PerfDataError> {
    let names: Vec<String> = file
        .event_attributes()
        .iter()
        .map(|attribute| {
            attribute
                .name()
                .unwrap_or("an event without a name")
                .to_owned()
        })
        .collect();
    let mut walk = Walk {
        kernel,
        events: names
            .into_iter()
            .map(|name| (name, Gather::default()))
            .collect(),
        maps: HashMap::new(),
        records: 0,
        lost: 0,
        packed: false,
        odd: 0,
    };
    loop {
        let record = match records.next_record(&mut file) {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(error) => {
                return Err(PerfDataError::Library(format!(
                    "after {} records: {error}",
                    walk.records
                )));
            }
        };
        walk.records += 1;
        match record {
            PerfFileRecord::EventRecord { attr_index, record } => match record.parse() {
                Ok(record) => walk.event(attr_index, record),
                Err(_) => walk.odd += 1,
            },
            // PERF_RECORD_COMPRESSED and COMPRESSED2 (tools/lib/perf/include/perf/event.h).
            PerfFileRecord::UserRecord(record) => {
                walk.packed |= matches!(record.record_type.record_type().0, 81 | 83)
            }
        }
    }
    walk.done()
}

impl Walk<'_> {
    fn event(&mut self, event: usize, record: EventRecord<'_>) {
        match record {
            EventRecord::Sample(sample) => self.sample(event, &sample),
            EventRecord::Mmap(map) if map.pid >= 0 => {
                self.map(map.pid, map.address, map.length, &map.path.as_slice());
            }
            EventRecord::Mmap2(map) if map.pid >= 0 => {
                self.map(map.pid, map.address, map.length, &map.path.as_slice());
            }
            EventRecord::Fork(fork) => {
                let inherited = self.maps.get(&fork.ppid).filter(|_| fork.pid != fork.ppid);
                if let Some(inherited) = inherited.cloned() {
                    self.maps.insert(fork.pid, inherited);
                }
            }
            EventRecord::Lost(lost) => self.lost = self.lost.saturating_add(lost.count),
            _ => {}
        }
    }

    fn map(&mut self, pid: i32, address: u64, length: u64, path: &[u8]) {
        let path = String::from_utf8_lossy(path)
            .trim_end_matches('\0')
            .to_owned();
        let maps = self.maps.entry(pid).or_default();
        maps.push((address, address.saturating_add(length), path));
    }

    fn sample(&mut self, event: usize, sample: &SampleRecord<'_>) {
        let mut space = match sample.cpu_mode {
            CpuMode::Kernel | CpuMode::GuestKernel => Space::Kernel,
            CpuMode::User | CpuMode::GuestUser => Space::User,
            _ => Space::Unknown,
        };
        let pid = sample.pid.unwrap_or(-1);
        let mut frames = Vec::new();
        let mut object = String::new();
        let chain = sample.callchain.as_ref();
        let chained = (0..chain.map_or(0, |chain| chain.len())).filter_map(|at| chain?.get(at));
        for address in chained {
            if address >= PERF_CONTEXT_MAX {
                space = context(address);
                continue;
            }
            let (frame, image) = self.frame(address, space, pid);
            if frames.is_empty() {
                object = image;
            }
            frames.push(frame);
        }
        if let (true, Some(ip)) = (frames.is_empty(), sample.ip) {
            let (frame, image) = self.frame(ip, space, pid);
            frames.push(frame);
            object = image;
        }
        let period = sample.period.unwrap_or(1) as f64;
        if let Some((_, gather)) = self.events.get_mut(event) {
            gather.add(frames, &object, period);
        }
    }

    fn frame(&self, address: u64, space: Space, pid: i32) -> (Frame, String) {
        if space == Space::Kernel {
            let (symbol, object) = match self.kernel.name(address) {
                Some((name, None)) => (name.clone(), "[kernel.kallsyms]".to_owned()),
                Some((name, Some(module))) => (name.clone(), format!("[{module}]")),
                None => ("[unknown]".to_owned(), "[kernel]".to_owned()),
            };
            return (Frame { symbol, space }, object);
        }
        let maps = self.maps.get(&pid).into_iter().flatten().rev();
        let mut around = maps.filter(|(start, end, _)| (*start..*end).contains(&address));
        let object = around
            .next()
            .map_or_else(String::new, |(_, _, path)| path.clone());
        let space = match space_of(&object) {
            Space::Unknown => space,
            known => known,
        };
        let symbol = "[unknown]".to_owned();
        (Frame { symbol, space }, object)
    }

    fn done(self) -> Result<Vec<Profile>, PerfDataError> {
        let mut notes = Vec::new();
        if self.kernel.is_empty() {
            notes.push("the kernel's addresses have no names: /proc/kallsyms of the machine and boot that were recorded is needed (--kallsyms FILE, read as root)".to_owned());
        }
        if self.lost > 0 {
            notes.push(format!("perf lost {} records while it recorded", self.lost));
        }
        if self.odd > 0 {
            notes.push(format!("records that could not be read: {}", self.odd));
        }
        let profile = |(event, gather): (String, Gather)| {
            let mut profile =
                gather.profile(Form::PerfData, Measure::Samples { event: Some(event) });
            profile.notes.extend(notes.iter().cloned());
            profile
        };
        let mut found: Vec<Profile> = self.events.into_iter().map(profile).collect();
        found.retain(|profile| !profile.rows.is_empty());
        match found.is_empty() {
            true => Err(PerfDataError::Empty {
                records: self.records,
                packed: self.packed,
            }),
            false => Ok(found),
        }
    }
}

fn context(mark: u64) -> Space {
    match mark {
        constants::PERF_CONTEXT_KERNEL | constants::PERF_CONTEXT_GUEST_KERNEL => Space::Kernel,
        constants::PERF_CONTEXT_USER | constants::PERF_CONTEXT_GUEST_USER => Space::User,
        _ => Space::Unknown,
    }
}
