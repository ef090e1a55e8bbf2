//! What the plugin wrote: every kernel instruction executed, by phase.
//!
//! The format is "Counts" in `docs/guest-protocol.md`.

use tollgate_defect::answer;

use crate::text::{decimal, hex_number, quote};

/// The plugin's counts of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executions {
    /// The architecture, as QEMU names its target.
    pub target: String,
    /// The lowest address that counts as kernel text.
    pub kernel: u64,
    /// The phases in the order in which they began; the index is the number.
    pub phases: Vec<Phase>,
}

/// What was executed between two markers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Instructions executed in user space.
    pub user: u64,
    /// Kernel instructions by address, then bytes; none twice. Their counts add
    /// up to a number of 63 bits.
    pub kernel: Vec<Executed>,
}

/// One instruction of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// Its bytes as they were translated, in memory order.
    pub bytes: Vec<u8>,
    /// How often it was executed.
    pub count: u64,
}

/// Counts that cannot be used, and where in the file that shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the plugin's counts: {fault}")]
pub struct CountsError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: CountsFault,
}

/// What can be wrong with the plugin's counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountsFault {
    /// No `complete` line.
    #[error(
        "the file ends here without `complete`; QEMU was stopped, or the disk is full: run again"
    )]
    CutOff,
    /// An `error` line.
    #[error("the plugin reports: {0}")]
    Plugin(String),
    /// A format of another age.
    #[error("found {0}, and this tollgate reads `tollgate-counts 1`: rebuild the plugin")]
    Version(String),
    /// Another line than the format allows here.
    #[error("found {found}, wanted {wanted}")]
    Unexpected {
        /// What the format allows.
        wanted: &'static str,
        /// What stands there.
        found: String,
    },
    /// A phase number out of turn.
    #[error("found phase {found}, wanted {wanted}: phases count up from 0 and do not nest")]
    PhaseNumber {
        /// Whose turn it was.
        wanted: u64,
        /// Whose number stands there.
        found: u64,
    },
    /// Addresses that do not rise.
    #[error("address {0:x} does not come after the one before it")]
    Order(u64),
    /// A user address among the kernel's.
    #[error("address {0:x} lies below the kernel")]
    BelowKernel(u64),
    /// More instructions than can be added up.
    #[error("the counts of the phase add up to 2^63 or more, which no run can execute")]
    Overflow,
    /// `complete N` does not agree with the phases.
    #[error("`complete` says {said} phases, and there are {found}")]
    Total {
        /// What the line says.
        said: u64,
        /// How many phases stand before it.
        found: usize,
    },
    /// Text after the last line.
    #[error("there is text after `complete`")]
    Trailing,
}

impl Executions {
    /// Reads the file that the plugin wrote.
    ///
    /// # Errors
    /// When it is cut off, of another version, reports an error of the plugin,
    /// or is not in the format in any other way.
    pub fn parse(file: &[u8]) -> Result<Self, CountsError> {
        let mut lines = Lines::new(file);
        let version = lines.next()?;
        if version != "tollgate-counts 1" {
            return Err(lines.fault(CountsFault::Version(quote(version))));
        }
        let target = lines.word("target ", "`target ARCHITECTURE`")?.to_owned();
        let kernel = lines.word("kernel ", KERNEL)?;
        let kernel = hex_number(kernel).ok_or_else(|| lines.unexpected(KERNEL, kernel))?;
        let mut phases = Vec::new();
        while let Some(phase) = phase(&mut lines, kernel, phases.len())? {
            phases.push(phase);
        }
        Ok(Self {
            target,
            kernel,
            phases,
        })
    }
}

const KERNEL: &str = "`kernel` and an address in hexadecimal";
const USER: &str = "`user` and a number of instructions";
const EXECUTED: &str = "`k ADDRESS BYTES COUNT`, or `end` and the number of the phase";
const PHASE: &str = "`phase` or `complete` and a number";

/// The next phase, or none when `complete` closes the file.
fn phase(lines: &mut Lines<'_>, kernel: u64, number: usize) -> Result<Option<Phase>, CountsError> {
    let line = lines.next()?;
    if let Some(said) = line.strip_prefix("complete ") {
        let said = decimal(said).ok_or_else(|| lines.unexpected(PHASE, line))?;
        return lines.close(said, number).map(|()| None);
    }
    let found = line.strip_prefix("phase ").and_then(decimal);
    lines.expect_number(found.ok_or_else(|| lines.unexpected(PHASE, line))?, number)?;
    let user = lines.word("user ", USER)?;
    let user = decimal(user).ok_or_else(|| lines.unexpected(USER, user))?;
    let mut phase = Phase {
        user,
        kernel: Vec::new(),
    };
    let mut total = user;
    while let Some(executed) = executed(lines, number)? {
        if executed.address < kernel {
            return Err(lines.fault(CountsFault::BelowKernel(executed.address)));
        }
        total = add(total, executed.count).ok_or_else(|| lines.fault(CountsFault::Overflow))?;
        refuse_disorder(lines, phase.kernel.last(), &executed)?;
        phase.kernel.push(executed);
    }
    Ok(Some(phase))
}

/// The next instruction of the phase, or none at its `end`.
fn executed(lines: &mut Lines<'_>, number: usize) -> Result<Option<Executed>, CountsError> {
    let line = lines.next()?;
    if let Some(found) = line.strip_prefix("end ") {
        let found = decimal(found).ok_or_else(|| lines.unexpected(EXECUTED, line))?;
        return lines.expect_number(found, number).map(|()| None);
    }
    let executed = instruction(line);
    executed
        .map(Some)
        .ok_or_else(|| lines.unexpected(EXECUTED, line))
}

fn instruction(line: &str) -> Option<Executed> {
    let mut words = line.strip_prefix("k ")?.split(' ');
    let (address, bytes, count) = (words.next()?, words.next()?, words.next()?);
    let executed = Executed {
        address: hex_number(address)?,
        bytes: answer::bytes(bytes).filter(|bytes| !bytes.is_empty())?,
        count: decimal(count).filter(|count| *count > 0)?,
    };
    words.next().is_none().then_some(executed)
}

fn refuse_disorder(
    lines: &Lines<'_>,
    before: Option<&Executed>,
    executed: &Executed,
) -> Result<(), CountsError> {
    let key = |executed: &Executed| (executed.address, executed.bytes.clone());
    match before {
        Some(before) if key(before) >= key(executed) => {
            Err(lines.fault(CountsFault::Order(executed.address)))
        }
        _ => Ok(()),
    }
}

fn add(total: u64, count: u64) -> Option<u64> {
    total
        .checked_add(count)
        .filter(|total| i64::try_from(*total).is_ok())
}

/// The file's lines, each ended by a newline, with the number of the current one.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(file: &'a [u8]) -> Self {
        Self {
            rest: file,
            number: 0,
        }
    }

    /// The next line; a fault when there is none or it is the plugin's error.
    fn next(&mut self) -> Result<&'a str, CountsError> {
        self.number += 1;
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let Some((line, rest)) = end.and_then(|end| self.rest.split_at_checked(end)) else {
            return Err(self.fault(CountsFault::CutOff));
        };
        self.rest = rest.get(1..).unwrap_or_default();
        let Ok(line) = str::from_utf8(line) else {
            return Err(self.unexpected("text", &String::from_utf8_lossy(line)));
        };
        match line.strip_prefix("error ") {
            Some(text) => Err(self.fault(CountsFault::Plugin(quote(text)))),
            None => Ok(line),
        }
    }

    /// The one word of a line that begins with `prefix`.
    fn word(&mut self, prefix: &str, wanted: &'static str) -> Result<&'a str, CountsError> {
        let line = self.next()?;
        let word = line
            .strip_prefix(prefix)
            .filter(|word| !word.is_empty() && !word.contains(' '));
        word.ok_or_else(|| self.unexpected(wanted, line))
    }

    fn expect_number(&self, found: u64, wanted: usize) -> Result<(), CountsError> {
        let wanted = wanted as u64;
        if found == wanted {
            return Ok(());
        }
        Err(self.fault(CountsFault::PhaseNumber { wanted, found }))
    }

    /// Checks what `complete` says and that nothing follows it.
    fn close(&self, said: u64, found: usize) -> Result<(), CountsError> {
        if said != found as u64 {
            return Err(self.fault(CountsFault::Total { said, found }));
        }
        if !self.rest.is_empty() {
            return Err(self.fault(CountsFault::Trailing));
        }
        Ok(())
    }

    fn unexpected(&self, wanted: &'static str, found: &str) -> CountsError {
        self.fault(CountsFault::Unexpected {
            wanted,
            found: quote(found),
        })
    }

    fn fault(&self, fault: CountsFault) -> CountsError {
        CountsError {
            line: self.number,
            fault,
        }
    }
}

#[cfg(test)]
mod tests;
