//! Samples one by one: `perf script`, with call chains and without.

use std::collections::HashMap;
use tollgate_defect::answer;

use super::Profile;

/// One sample's header line, and the frame behind it if it has one.
struct Header<'a> {
    period: f64,
    event: &'a str,
    frame: Option<(&'a str, bool)>,
}

/// The samples of `perf script`. Each counts its period; of a call chain the
/// first frame counts, in which the processor was.
pub(super) fn samples(lines: &[&str]) -> Profile {
    let mut periods: HashMap<(String, bool), f64> = HashMap::new();
    let (mut total, mut event) = (0.0, "");
    let mut open: Option<f64> = None;
    for line in lines {
        let frame = match header(line) {
            Some(found) => {
                event = found.event;
                open = found.frame.is_none().then_some(found.period);
                found.frame.map(|frame| (found.period, frame))
            }
            None => open.and_then(|period| Some((period, frame(line)?))),
        };
        if let Some((period, (symbol, kernel))) = frame {
            open = None;
            total += period;
            *periods.entry((symbol.to_owned(), kernel)).or_insert(0.0) += period;
        }
    }
    let percent = |period: f64| {
        if total > 0.0 {
            100.0 * period / total
        } else {
            0.0
        }
    };
    let parts = periods
        .into_iter()
        .map(|(key, period)| (key, percent(period)));
    Profile::new(&format!("samples of {event}"), parts.collect())
}

/// `comm pid [cpu] time: period event: ip symbol+offset (dso)`.
fn header(line: &str) -> Option<Header<'_>> {
    let mut words = line.split_whitespace();
    words.find(|word| is_time(word))?;
    let first = words.next()?;
    let period = answer::number::<f64>(first).filter(|p| p.is_finite() && *p >= 0.0);
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
        event: event.split(':').next().unwrap_or(event),
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

/// `ffffffff81234567 symbol+0x17 ([kernel.kallsyms])`.
fn frame(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split_whitespace();
    let address = words.next()?;
    address
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then_some(())?;
    let symbol = words.next()?;
    let dso = words.next_back().unwrap_or_default();
    let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name);
    Some((symbol, is_kernel(dso)))
}

/// The kernel, or a module: `([kernel.kallsyms])`, `(/lib/…/snd.ko)`, `([snd_pcm])`.
fn is_kernel(dso: &str) -> bool {
    let inside = dso.trim_matches(['(', ')']);
    let user = matches!(inside, "[vdso]" | "[unknown]" | "[heap]" | "[stack]");
    inside.contains("vmlinux") || inside.contains(".ko") || inside.starts_with('[') && !user
}
