//! The day, for whoever reads a result later.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds of a day, and days of four centuries, which repeat.
const DAY: u64 = 86_400;
const ERA: u64 = 146_097;

/// Today in UTC, `2026-11-22`; none by a clock that stands before 1970.
pub(crate) fn today() -> Option<String> {
    since(SystemTime::now()).map(of)
}

/// How long after 1970 a time is; none of one before it.
#[expect(
    clippy::disallowed_methods,
    reason = "that a time lies before 1970 is what is asked"
)]
pub(crate) fn since(time: SystemTime) -> Option<Duration> {
    time.duration_since(UNIX_EPOCH).ok()
}

/// The Gregorian date of a time since 1970 (the algorithm `civil_from_days` of
/// Howard Hinnant, whose years begin in March).
pub(crate) fn of(since: Duration) -> String {
    let days = since.as_secs() / DAY + 719_468;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = match month {
        0..=9 => (month + 3, 0),
        _ => (month - 9, 1),
    };
    format!("{}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let of_days = |days| of(Duration::from_secs(days * DAY + 1));
        assert_eq!(of_days(0), "1970-01-01");
        assert_eq!(of_days(11_016), "2000-02-29");
        assert_eq!(of_days(11_017), "2000-03-01");
        assert_eq!(of_days(20_779), "2026-11-22");
        assert_eq!(of_days(47_540), "2100-02-28");
        assert_eq!(of_days(47_541), "2100-03-01");
    }
}
