//! What a terminal that shows no UTF-8 gets in its place. The one table of it:
//! everything that is written to a stream passes here (`term.rs`).

use std::ffi::OsString;

/// Whether the locale of this process shows UTF-8: the first of LC_ALL, LC_CTYPE
/// and LANG that is set decides (locale(7)). Where none is, nobody has said
/// otherwise, and text is UTF-8.
pub(crate) fn locale_is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut values = names.filter_map(variable);
    let Some(locale) = values.find(|value| !value.is_empty()) else {
        return true;
    };
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// What stands for a character, where something looks like it.
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '→' | '⟶' => "->",
        '←' => "<-",
        '⇒' => "=>",
        '↑' => "^",
        '↓' => "v",
        '±' => "+-",
        '−' | '–' | '‐' | '‑' => "-",
        '—' => "--",
        '×' => "x",
        '÷' => "/",
        '·' | '•' => "*",
        '…' => "...",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '≈' => "~",
        '∞' => "inf",
        'µ' | 'μ' => "u",
        'σ' => "sigma",
        '°' => " deg",
        '²' => "^2",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '✓' | '✔' => "ok",
        '✗' | '✘' => "x",
        '\u{a0}' => " ",
        '─' | '━' | '┄' | '┈' | '╌' => "-",
        '═' => "=",
        '│' | '┃' | '┆' | '┊' | '╎' | '║' => "|",
        '█' | '▉' | '▊' | '▋' | '■' => "#",
        '░' | '▒' | '▓' => ":",
        '\u{250c}'..='\u{254b}' | '\u{2552}'..='\u{257f}' => "+",
        _ => return None,
    })
}

/// The same text in ASCII. What is written wider than it was takes from the
/// blanks behind it, so that columns stay; what nothing looks like is its code,
/// `\u{e9}`.
pub(crate) fn text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = Plain::default();
    text.chars().for_each(|c| out.push(c));
    out.text
}

/// Text on its way into ASCII.
#[derive(Default)]
struct Plain {
    text: String,
    /// Columns that the line has more than before.
    wider: usize,
}

impl Plain {
    fn push(&mut self, c: char) {
        match c {
            '\n' => self.wider = 0,
            // One blank stays between two words.
            ' ' if self.wider > 0 && self.text.ends_with(' ') => {
                self.wider -= 1;
                return;
            }
            _ => {}
        }
        if c.is_ascii() {
            return self.text.push(c);
        }
        let code = c.escape_unicode().to_string();
        let alike = look_alike(c).unwrap_or(&code);
        self.wider += alike.len() - 1;
        self.text.push_str(alike);
    }
}

/// The same JSON in ASCII: only strings of a document hold anything else, and
/// there `\u` and four digits is the same character (RFC 8259, section 7).
pub(crate) fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        let units = &mut [0; 2];
        for unit in c.encode_utf16(units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = |values: [&str; 3]| {
            locale_is_utf8(|name| {
                let names = ["LC_ALL", "LC_CTYPE", "LANG"];
                let mut pairs = names.into_iter().zip(values);
                let (_, value) = pairs.find(|(known, _)| *known == name)?;
                Some(value.into())
            })
        };
        assert!(of(["", "", ""]));
        assert!(of(["C.UTF-8", "C", "C"]) && of(["", "de_DE.utf8", "C"]));
        assert!(!of(["C", "C.UTF-8", "C.UTF-8"]) && !of(["", "", "POSIX"]));
        assert!(!of(["", "de_DE.ISO-8859-1", "C.UTF-8"]));
    }

    #[test]
    fn text_is_ascii_and_columns_stay() {
        let table = "a      1 → 128   x\nb  2,048 → 1     y\n";
        assert_eq!(text(table), "a      1 -> 128  x\nb  2,048 -> 1    y\n");
        assert_eq!(text("┌─┬─┐ ±5 % … ‘x’ é"), "+-+-+ +-5 % ... 'x' \\u{e9}");
        assert_eq!(text("plain  text"), "plain  text");
    }

    #[test]
    fn every_character_becomes_ascii() {
        let all: String = ('\u{80}'..='\u{2fff}').collect();
        assert!(text(&all).is_ascii() && json(&all).is_ascii());
    }

    #[test]
    fn json_in_ascii_is_the_same_document() {
        let document = serde_json::json!({ "größer": "→ 日本 \u{1f600}" });
        let ascii = json(&document.to_string());
        assert!(ascii.is_ascii());
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&ascii).ok(),
            Some(document)
        );
    }
}
