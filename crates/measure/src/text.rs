//! What both readers of lines share: strict numbers, quoting for messages.

use tollgate_defect::answer;

/// The longest piece of a faulty line that a message repeats, in characters.
const QUOTED: usize = 100;

/// A decimal number without a sign: what `parse` takes, less its leading `+`.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then(|| answer::number(text))?
}

/// A decimal number that may be negative.
pub(crate) fn signed(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| answer::number(text))?
}

/// A hexadecimal number without `0x`.
pub(crate) fn hex_number(text: &str) -> Option<u64> {
    let first = text.starts_with(|c: char| c.is_ascii_hexdigit());
    first.then(|| answer::hexadecimal(text))?
}

/// `text` fit for a message: on one line, harmless to a terminal, not endless.
pub(crate) fn quote(text: &str) -> String {
    let short: String = text.chars().take(QUOTED).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("`{}{dots}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_only() {
        assert_eq!(decimal("18446744073709551615"), Some(u64::MAX));
        assert_eq!(signed("-14"), Some(-14));
        assert_eq!(hex_number("ffffffff81000123"), Some(0xffff_ffff_8100_0123));
        for wrong in ["", "+1", "--1", "1 ", "0x1", "18446744073709551616", "é"] {
            assert_eq!(decimal(wrong), None, "{wrong}");
            assert_eq!(signed(wrong), None, "{wrong}");
        }
        assert_eq!(hex_number("+f"), None);
    }

    #[test]
    fn a_quotation_cannot_move_the_cursor_or_fill_the_screen() {
        assert_eq!(quote("a\x1b[2Jb"), "`a\\u{1b}[2Jb`");
        assert_eq!(
            quote(&"x".repeat(10_000)),
            format!("`{}...`", "x".repeat(QUOTED))
        );
    }
}
