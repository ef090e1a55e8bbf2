//! What a format of printf() writes.

use crate::expression::{Expression, Term};

/// The text of a literal, as it is written; what a macro puts in front of it counts as nothing,
/// `KERN_ERR "text"`.
pub(crate) fn literal(of: &Expression) -> Option<String> {
    let Term::Other(words) = &of.term else {
        return None;
    };
    let inner = |word: &String| {
        let own = word.strip_prefix('"')?.strip_suffix('"')?;
        Some(own.to_owned())
    };
    let words = words.iter().skip_while(|word| !word.starts_with('"'));
    let all: Option<Vec<String>> = words.map(inner).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.concat())
}

/// A part of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// So many bytes of the format itself.
    Text(u64),
    /// A number, of at least so many.
    Number {
        /// The least.
        width: u64,
        /// How it is written.
        numeral: Numeral,
    },
    /// A string of no more than so many.
    Cut {
        /// The most.
        most: u64,
    },
    /// A string that is as long as it is.
    String {
        /// The least.
        width: u64,
    },
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numeral {
    /// In what: `d`, `x` and so on.
    pub(crate) letter: u8,
    /// What it is: `hh`, `h`, `l`, `ll`, nothing of an int.
    pub(crate) size: NumeralSize,
    /// Whether what says the base stands in front of it: `%#x`.
    pub(crate) marked: bool,
}

/// What a number is of which a format says how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumeralSize {
    /// So many bytes.
    Bytes(u64),
    /// As many as a long has.
    Long,
}

/// What some letters in front of the last one say.
fn numeral_size(letters: &[u8]) -> NumeralSize {
    match letters {
        b"" => NumeralSize::Bytes(4),
        b"h" => NumeralSize::Bytes(2),
        b"hh" => NumeralSize::Bytes(1),
        b"l" | b"z" | b"t" => NumeralSize::Long,
        _ => NumeralSize::Bytes(8),
    }
}

/// The parts of a format as it is written between its quotes; none of one that takes a width
/// from its arguments, or prints what only the kernel's own `%p…` does.
pub(crate) fn parts(format: &str) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    let mut rest = format.bytes().peekable();
    while let Some(byte) = rest.next() {
        // `\n` is one.
        if byte == b'\\' {
            rest.next();
        }
        if byte != b'%' {
            found.push(Part::Text(1));
            continue;
        }
        let mut marked = false;
        while let Some(flag) = rest.next_if(|own| b"-+ #0".contains(own)) {
            marked |= flag == b'#';
        }
        let width = number(&mut rest);
        let most = rest.next_if_eq(&b'.').map(|_| number(&mut rest));
        let mut letters = Vec::new();
        while let Some(letter) = rest.next_if(|own| b"hlzjtLq".contains(own)) {
            letters.push(letter);
        }
        found.push(match (rest.next()?, most) {
            (b'%', _) => Part::Text(1),
            (b's', Some(most)) => Part::Cut {
                most: most.max(width),
            },
            (b's', None) => Part::String { width },
            (letter @ (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c'), _) => Part::Number {
                width: width.max(most.unwrap_or(0)),
                numeral: Numeral {
                    letter,
                    size: numeral_size(&letters),
                    marked,
                },
            },
            _ => return None,
        });
    }
    Some(found)
}

/// How many bytes a format writes at least.
pub(crate) fn least(format: &str) -> Option<u64> {
    let all = parts(format)?.into_iter();
    let own = all.map(|part| match part {
        Part::Text(bytes) => bytes,
        Part::Number { width, .. } => width.max(1),
        Part::String { width } => width,
        Part::Cut { .. } => 0,
    });
    Some(own.fold(0, u64::saturating_add))
}

/// What is done with an argument behind a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is printed, or says how wide something is.
    Value,
    /// What it leads to is printed.
    Followed,
}

/// What may stand behind `%p` for what is printed of the memory that the pointer leads to
/// (Documentation/core-api/printk-formats.rst); `%pI` and `%pi` have one of these behind them.
const FOLLOWED: &[u8] = b"AaCDdEGghMmNOtURrVb4";
const ADDRESSES: &[u8] = b"46S";

/// What is done with each argument that a format takes; none of one that is not understood.
pub(crate) fn taken(format: &str) -> Option<Vec<Taken>> {
    let mut found = Vec::new();
    let mut rest = format.bytes().peekable();
    while let Some(byte) = rest.next() {
        // `\n` is one.
        if byte == b'\\' {
            rest.next();
        }
        if byte != b'%' {
            continue;
        }
        while let Some(own) = rest.next_if(|own| b"-+ #0.*123456789hlzjtLq".contains(own)) {
            found.extend((own == b'*').then_some(Taken::Value));
        }
        match rest.next()? {
            b'%' => {}
            b's' => found.push(Taken::Followed),
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' => found.push(Taken::Value),
            b'p' => {
                let named = rest.next_if(u8::is_ascii_alphanumeric);
                let follows = named.is_some_and(|own| match own {
                    b'I' | b'i' => rest.peek().is_some_and(|own| ADDRESSES.contains(own)),
                    b'f' => rest.peek() == Some(&b'w'),
                    own => FOLLOWED.contains(&own),
                });
                found.push(if follows {
                    Taken::Followed
                } else {
                    Taken::Value
                });
            }
            _ => return None,
        }
    }
    Some(found)
}

/// How many arguments a format has set where all of a text is there (C11, 7.21.6.2); none of one
/// that is not understood, or asks how far it has come, which the result does not count.
pub(crate) fn scanned(format: &str) -> Option<usize> {
    let mut found = 0;
    let mut rest = format.bytes().peekable();
    while let Some(byte) = rest.next() {
        // `\n` is one.
        if byte == b'\\' {
            rest.next();
        }
        if byte != b'%' {
            continue;
        }
        let dropped = rest.next_if_eq(&b'*').is_some();
        number(&mut rest);
        while rest.next_if(|own| b"hlzjtLq".contains(own)).is_some() {}
        match rest.next()? {
            b'%' => {}
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' => found += usize::from(!dropped),
            _ => return None,
        }
    }
    Some(found)
}

/// A string that a format of scanf() takes from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScannedString {
    /// Which of the arguments behind the format it goes to.
    pub(crate) into: usize,
    /// How long it may be, where that is said.
    pub(crate) most: Option<u64>,
    /// How many bytes of the text stand before it at least.
    pub(crate) before: u64,
}

/// Those of a format; none of one that is not understood.
pub(crate) fn scanned_strings(format: &str) -> Option<Vec<ScannedString>> {
    let (mut found, mut into, mut before) = (Vec::new(), 0, 0);
    let mut rest = format.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            // White space stands for none as well.
            before += u64::from(!byte.is_ascii_whitespace() && byte != b'\\');
            continue;
        }
        let dropped = rest.next_if_eq(&b'*').is_some();
        let most = number(&mut rest);
        while rest.next_if(|own| b"hlzjtLq".contains(own)).is_some() {}
        match rest.next()? {
            b'%' => {}
            b's' if !dropped => found.push(ScannedString {
                into,
                most: (most > 0).then_some(most),
                before,
            }),
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'n' => {}
            _ => return None,
        }
        before += 1;
        into += usize::from(!dropped);
    }
    Some(found)
}

/// The number that comes next; 0 where there is none.
fn number(rest: &mut std::iter::Peekable<std::str::Bytes<'_>>) -> u64 {
    let mut value = 0_u64;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        value = value
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_taken_apart() {
        let all = parts("\\n%5.3s%-8s%%%08llx").unwrap();
        assert_eq!(
            all,
            [
                Part::Text(1),
                Part::Cut { most: 5 },
                Part::String { width: 8 },
                Part::Text(1),
                Part::Number {
                    width: 8,
                    numeral: Numeral {
                        letter: b'x',
                        size: NumeralSize::Bytes(8),
                        marked: false
                    }
                }
            ]
        );
        for none in ["%*d", "%pM", "%.*s", "%", "%n"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn a_format_says_how_many_arguments_it_sets() {
        for (format, all) in [
            ("%u %hu", 2),
            ("%4x:%lld\\n", 2),
            ("%*s %31s", 1),
            ("100%%n %c", 1),
            ("", 0),
        ] {
            assert_eq!(scanned(format), Some(all), "{format}");
        }
        for none in ["%u%n", "%[a-z]", "%"] {
            assert_eq!(scanned(none), None, "{none}");
        }
    }

    #[test]
    fn a_format_says_which_arguments_it_follows() {
        let (value, followed) = (Taken::Value, Taken::Followed);
        for (format, all) in [
            ("\\n%5.3s%% %-8lld", &[followed, value][..]),
            ("%*pbl %.*s", &[value, followed, value, followed]),
            ("%p %px %pK %pS %pe %lx", &[value; 6]),
            ("%pM%pI4 %pi6c %pISpc %pUl", &[followed; 5]),
            (
                "%pd2 %pfwP %pa %p4cc %*ph",
                &[followed, followed, followed, followed, value, followed],
            ),
            ("%pid %pf", &[value, value]),
            ("100%%", &[]),
        ] {
            assert_eq!(taken(format).as_deref(), Some(all), "{format}");
        }
        for none in ["%[a-z]", "%", "%n"] {
            assert_eq!(taken(none), None, "{none}");
        }
    }
}
