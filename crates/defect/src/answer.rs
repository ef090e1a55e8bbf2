//! Failures that are the answer to what was asked. Each has its name here, so
//! that a failure which is passed over anywhere else is seen.

use std::path::Path;
use std::str::FromStr;

/// The number that a text is; none where it is not one of that type.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it is one was asked")]
pub fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// The number that hexadecimal digits are; none where they are not, or more than
/// 64 bits.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it is one was asked")]
pub fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// Bytes as pairs of hexadecimal digits.
#[must_use]
pub fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(fits::<u8, _>);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// The number that octal digits are.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it is one was asked")]
pub fn octal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 8).ok()
}

/// The number that the digits of a base are; none where they are not.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it is one was asked")]
pub fn digits(digits: &str, base: u32) -> Option<i128> {
    i128::from_str_radix(digits, base).ok()
}

/// The text that bytes are; none where they are not UTF-8.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether they are was asked")]
pub fn text(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(bytes).ok()
}

/// A number in another type; none where it does not fit.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it fits was asked")]
pub fn fits<T: TryFrom<U>, U>(number: U) -> Option<T> {
    T::try_from(number).ok()
}

/// Where a sorted slice was found to hold something; none where it does not.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it does was asked")]
pub fn found(search: Result<usize, usize>) -> Option<usize> {
    search.ok()
}

/// A path from a folder; none where it does not lie in it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whether it does was asked")]
pub fn below<'a>(path: &'a Path, folder: &Path) -> Option<&'a Path> {
    path.strip_prefix(folder).ok()
}

/// What a reader found that says no more of a failure than that there is nothing.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "whether there is something was asked"
)]
pub fn there<T>(read: Result<T, ()>) -> Option<T> {
    read.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_none_is_no_answer() {
        assert_eq!(number("12"), Some(12_u8));
        assert_eq!(number::<u8>("300"), None);
        assert_eq!((hexadecimal("1f"), hexadecimal("g")), (Some(31), None));
        assert_eq!((octal("17"), octal("8")), (Some(15), None));
        assert_eq!(bytes("0f01cb"), Some(vec![0x0f, 0x01, 0xcb]));
        for wrong in ["+f", "0x1", "f0f", "é0", "é"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        assert_eq!((digits("101", 2), digits("2", 2)), (Some(5), None));
        assert_eq!((text(b"a"), text(b"\xff")), (Some("a"), None));
        assert_eq!((fits::<u8, _>(255), fits::<u8, _>(256)), (Some(255), None));
        assert_eq!((there(Ok(1)), there(Err::<u8, _>(()))), (Some(1), None));
        assert_eq!(found([1, 3].binary_search(&3)), Some(1));
        assert_eq!(found([1, 3].binary_search(&2)), None);
        let place = Path::new("a/b");
        assert_eq!(below(place, Path::new("a")), Some(Path::new("b")));
        assert_eq!(below(place, Path::new("c")), None);
    }
}
