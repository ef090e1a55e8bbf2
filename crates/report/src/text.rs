//! Text from a guest, a tree or a user made harmless, wrapped and shortened.

use tollgate_measure::Ratio;

/// `text` with every character that could move a cursor, hide or reorder text
/// written as its code.
pub(crate) fn clean(text: &str) -> String {
    clean_but(text, |_| false)
}

/// The same for text of several lines: newlines and tabs stay.
pub(crate) fn clean_lines(text: &str) -> String {
    clean_but(text, |c| matches!(c, '\n' | '\t'))
}

fn clean_but(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if harmful(c) && !keep(c) {
            out.extend(c.escape_unicode())
        } else {
            out.push(c)
        }
    }
    out
}

/// Control characters, and those that Unicode calls formatting: invisible ones
/// and those that turn the direction of writing.
fn harmful(c: char) -> bool {
    let format = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}');
    c.is_control() || format
}

/// `text` in at most `most` characters, the end of a longer one replaced.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= most {
        return text;
    }
    let head: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{head}...")
}

/// The thousands of every number in `text` apart, not those of a fraction:
/// `1,190,753.25`.
pub(crate) fn grouped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c: char| !c.is_ascii_digit());
        let (digits, after) = number.split_at(end.unwrap_or(number.len()));
        let fraction = before.ends_with('.');
        out.push_str(before);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && !fraction && (digits.len() - index).is_multiple_of(3) {
                out.push(',');
            }
            out.push(digit);
        }
        rest = after;
    }
    out + rest
}

/// Words in lines of at most `width` characters; a longer word is broken.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrapped(text, width.max(1), chunks)
}

/// The same, and a path, which is to be copied, stays whole.
pub(crate) fn wrap_paths(text: &str, width: usize) -> Vec<String> {
    wrapped(text, width.max(1), |word, width| match word.contains('/') {
        true => vec![word.to_owned()],
        false => chunks(word, width),
    })
}

fn wrapped(text: &str, width: usize, long: impl Fn(&str, usize) -> Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in clean(text).split_whitespace() {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut() {
            Some(line) if fits(line) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(long(word, width)),
        }
    }
    lines
}

fn chunks(word: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars
        .chunks(width)
        .map(|chunk| chunk.iter().collect())
        .collect()
}

/// `text` behind `label`, wrapped, later lines indented as far as the first.
pub(crate) fn labelled(label: &str, text: &str, indent: usize, width: usize) -> String {
    let lines = wrap(text, width.saturating_sub(indent));
    let mut lines = lines.iter();
    let first = lines.next().map_or("", String::as_str);
    let mut out = format!("{label:indent$}{first}\n");
    lines.for_each(|line| out.push_str(&format!("{:indent$}{line}\n", "")));
    out
}

/// Nanoseconds with as many decimals as a clock that counts them can mean over a
/// repetition: none from 10,000 up.
pub(crate) fn nanoseconds(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        size if size < 100.0 => format!("{nanoseconds:.2}"),
        size if size < 10_000.0 => format!("{nanoseconds:.1}"),
        _ => format!("{nanoseconds:.0}"),
    }
}

/// `1 point`, `2 points`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// With a sign; `0` alone when it is exactly nothing.
pub(crate) fn signed(ratio: Ratio, fewest: u32) -> String {
    if ratio.is_zero() {
        return "0".to_owned();
    }
    let sign = if ratio.numerator < 0 { "-" } else { "+" };
    format!(
        "{sign}{}",
        ratio.abs().decimal(ratio.visible_places(fewest))
    )
}

/// Up to two decimals, none where they are zeros: `2`, `1.03`.
pub(crate) fn short(ratio: Ratio) -> String {
    let text = ratio.decimal(ratio.visible_places(2));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart_but_not_those_of_a_fraction() {
        assert_eq!(grouped("−1190753.3500"), "−1,190,753.3500");
        assert_eq!(grouped("2048 → 1024"), "2,048 → 1,024");
        assert_eq!(grouped("202.00 +0.0004 %"), "202.00 +0.0004 %");
        assert_eq!(grouped("999 1000 -"), "999 1,000 -");
    }

    #[test]
    fn what_moves_the_cursor_or_turns_text_is_written_as_its_code() {
        assert_eq!(
            clean("a\x1b[2Jb\u{9b}c\u{202e}d\r\n"),
            "a\\u{1b}[2Jb\\u{9b}c\\u{202e}d\\u{d}\\u{a}"
        );
        assert_eq!(clean_lines("a\n\tb\r"), "a\n\tb\\u{d}");
        assert_eq!(clean("größer → 日本"), "größer → 日本");
    }

    #[test]
    fn lines_keep_to_the_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), Vec::<String>::new());
        assert_eq!(
            labelled("A", "one two three", 4, 11),
            "A   one two\n    three\n"
        );
        assert_eq!(shorten("abcdefghij", 7), "abcd...");
        assert_eq!(shorten("abcdefg", 7), "abcdefg");
    }

    #[test]
    fn numbers_show_their_sign_and_no_empty_decimals() {
        assert_eq!(signed(Ratio::new(-3, 2), 2), "-1.50");
        assert_eq!(signed(Ratio::new(1, 1000), 2), "+0.001");
        assert_eq!(signed(Ratio::new(0, 2), 2), "0");
        assert_eq!(short(Ratio::new(4, 2)), "2");
        assert_eq!(short(Ratio::new(103, 100)), "1.03");
        assert_eq!(short(Ratio::new(100, 1)), "100");
        assert_eq!(short(Ratio::new(0, 1)), "0");
    }
}
