//! The names that a kernel carries for its own messages (CONFIG_KALLSYMS): what
//! there is where an image has no symbols.
//!
//! scripts/kallsyms.c writes them into the constants: how many there are, the
//! names, each as a row of tokens, where every 256th of them begins (the markers),
//! the tokens, and the addresses. Some kernels have the order of the names by the
//! alphabet as well. Nothing says where any of it is: the tokens of
//! the digits stand one behind the other, and all else follows from there.

use tollgate_defect::answer;

/// A name of the kernel's own list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) address: u64,
    /// As `nm` has it: `T` and `t` are code.
    pub(crate) kind: u8,
}

impl Entry {
    pub(crate) fn is_code(&self) -> bool {
        is_text(self.kind)
    }
}

fn is_text(kind: u8) -> bool {
    matches!(kind, b't' | b'T' | b'w' | b'W')
}

/// The constants of an image.
#[derive(Clone, Copy)]
pub(crate) struct Constants<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where they are in memory.
    pub(crate) address: u64,
    pub(crate) little: bool,
    /// Bytes of a pointer.
    pub(crate) wide: usize,
}

/// What is found of the list before its addresses are.
struct Table {
    names: Vec<(u8, String)>,
    /// Where the number of names stands.
    start: usize,
    /// Behind the index of the tokens.
    end: usize,
}

/// Tokens, and names between two markers.
const TOKENS: usize = 256;
/// The most bytes that one name takes: the kernel's longest has 512 letters
/// (KSYM_NAME_LEN), each a token at worst.
const MOST_NAME: usize = 514;
/// The most bytes of the tokens: they are of a few letters each.
const MOST_TOKENS: usize = 1 << 13;

/// The bytes of a number in the order of the names.
const ORDER: usize = 3;
/// More names than any kernel has: with every option it has about a million.
const MOST_NAMES: usize = 1 << 22;

/// The list that the constants hold; none where they hold none. `is_code` tells
/// whether there is code at an address.
pub(crate) fn read(all: Constants<'_>, is_code: impl Fn(u64) -> bool) -> Option<Vec<Entry>> {
    let digits: Vec<u8> = (b'0'..=b'9').flat_map(|digit| [digit, 0]).collect();
    let mut at = 0;
    while let Some(found) = all.find(&digits, at) {
        let table = all.table(found);
        if let Some(entries) = table.and_then(|table| all.entries(table, &is_code)) {
            return Some(entries);
        }
        at = found + 1;
    }
    None
}

impl Constants<'_> {
    fn find(&self, what: &[u8], from: usize) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        let mut windows = rest.windows(what.len());
        windows
            .position(|window| window == what)
            .map(|at| from + at)
    }

    fn half(&self, at: usize) -> Option<u16> {
        let raw = *self.bytes.get(at..)?.first_chunk::<2>()?;
        Some(match self.little {
            true => u16::from_le_bytes(raw),
            false => u16::from_be_bytes(raw),
        })
    }

    fn word(&self, at: usize) -> Option<u32> {
        let raw = *self.bytes.get(at..)?.first_chunk::<4>()?;
        Some(match self.little {
            true => u32::from_le_bytes(raw),
            false => u32::from_be_bytes(raw),
        })
    }

    fn pointer(&self, at: usize) -> Option<u64> {
        if self.wide == 4 {
            return self.word(at).map(u64::from);
        }
        let raw = *self.bytes.get(at..)?.first_chunk::<8>()?;
        Some(match self.little {
            true => u64::from_le_bytes(raw),
            false => u64::from_be_bytes(raw),
        })
    }

    /// The list whose token of the digit 0 is here.
    fn table(&self, zero: usize) -> Option<Table> {
        let upto = zero.saturating_add(MOST_TOKENS).min(self.bytes.len());
        let mut places = zero..upto;
        let (index, offsets) = places.find_map(|at| Some((at, self.index(at)?)))?;
        let first = zero.checked_sub(usize::from(*offsets.get(usize::from(b'0'))?))?;
        let tokens: Option<Vec<&[u8]>> = offsets.iter().map(|at| self.token(first, *at)).collect();
        let tokens = tokens?;
        let mut markers = self.markers(first).chain(self.markers_before_order(first));
        let (start, names) =
            markers.find_map(|(markers, start)| self.names(start, &markers, &tokens))?;
        let end = index + TOKENS * 2;
        Some(Table { names, start, end })
    }

    /// Where each token begins, if that is what stands here.
    fn index(&self, at: usize) -> Option<Vec<u16>> {
        (self.half(at)? == 0).then_some(())?;
        let all = (0..TOKENS).map(|token| self.half(at + token * 2));
        let all = all.collect::<Option<Vec<_>>>()?;
        all.is_sorted_by(|a, b| a < b).then_some(all)
    }

    fn token(&self, first: usize, at: u16) -> Option<&[u8]> {
        let rest = self.bytes.get(first + usize::from(at)..)?;
        let end = rest.iter().take(MOST_TOKENS).position(|byte| *byte == 0)?;
        rest.get(..end)
    }

    /// What may be the markers, which end before the tokens, and where they begin.
    fn markers(&self, tokens: usize) -> impl Iterator<Item = (Vec<u32>, usize)> {
        let ends = (0..4).filter_map(move |gap| (tokens & !3).checked_sub(gap * 4));
        let all = ends.filter_map(|end| self.markers_up_to(end));
        all.filter(|(markers, _)| markers.len() > 1)
    }

    /// The same where the order of the names by the alphabet stands between them and
    /// the tokens, as 6.2 and 6.3 have it, and later kernels of 6.1.
    fn markers_before_order(&self, tokens: usize) -> impl Iterator<Item = (Vec<u32>, usize)> {
        let most = MOST_NAMES * ORDER;
        let ends = (1..most / 4).map_while(move |words| (tokens & !3).checked_sub(words * 4));
        let all = ends.filter_map(|end| Some((end, self.markers_up_to(end)?)));
        let fits = move |end: usize, markers: usize| {
            // Both may be followed by bytes that fill up to eight.
            let least = tokens.saturating_sub(end + 14) / ORDER;
            let most = (tokens - end) / ORDER;
            (least.div_ceil(TOKENS).max(2)..=most.div_ceil(TOKENS)).contains(&markers)
        };
        all.filter_map(move |(end, found)| fits(end, found.0.len()).then_some(found))
    }

    fn markers_up_to(&self, end: usize) -> Option<(Vec<u32>, usize)> {
        let (mut markers, mut at) = (Vec::new(), end);
        loop {
            at = at.checked_sub(4)?;
            let marker = self.word(at)?;
            if markers.last().is_some_and(|later| marker >= *later) {
                return None;
            }
            markers.push(marker);
            if marker == 0 {
                markers.reverse();
                return Some((markers, at));
            }
        }
    }

    /// The names before the markers at `end`, and where their number stands.
    fn names(
        &self,
        end: usize,
        markers: &[u32],
        tokens: &[&[u8]],
    ) -> Option<(usize, Vec<(u8, String)>)> {
        let last = answer::fits::<usize, _>(*markers.last()?)?;
        let latest = end.checked_sub(last)? & !3;
        let earliest = latest.saturating_sub(TOKENS * MOST_NAME);
        let starts = (earliest..latest).rev().filter(|at| at % 4 == 0);
        let mut starts = starts.filter_map(|at| {
            let count = answer::fits::<usize, _>(self.word(at)?)?;
            (count.div_ceil(TOKENS) == markers.len()).then_some((at, count))
        });
        starts.find_map(|(at, count)| {
            let mut from = [4, 8].into_iter();
            let names = from.find_map(|gap| self.names_from(at + gap, count, markers, tokens))?;
            Some((at, names))
        })
    }

    fn names_from(
        &self,
        from: usize,
        count: usize,
        markers: &[u32],
        tokens: &[&[u8]],
    ) -> Option<Vec<(u8, String)>> {
        let (mut at, mut all) = (from, Vec::new());
        for number in 0..count {
            if number % TOKENS == 0 {
                let marker = answer::fits::<usize, _>(*markers.get(number / TOKENS)?)?;
                (at.checked_sub(from)? == marker).then_some(())?;
            }
            let (length, head) = self.length(at)?;
            let row = self
                .bytes
                .get(at + head..(at + head).checked_add(length)?)?;
            let pieces = row
                .iter()
                .filter_map(|token| tokens.get(usize::from(*token)));
            let name: Vec<u8> = pieces.flat_map(|piece| piece.iter().copied()).collect();
            let (kind, name) = name.split_first()?;
            all.push((*kind, String::from_utf8_lossy(name).into_owned()));
            at += head + length;
        }
        Some(all)
    }

    /// How many tokens a name has, and the bytes of that number: two since 6.1,
    /// where it is more than 127.
    fn length(&self, at: usize) -> Option<(usize, usize)> {
        let low = usize::from(*self.bytes.get(at)?);
        if low & 0x80 == 0 {
            return Some((low, 1));
        }
        let high = usize::from(*self.bytes.get(at + 1)?);
        Some((low & 0x7f | high << 7, 2))
    }

    /// The names with their addresses, which stand behind the tokens, or before
    /// the names (up to 6.3), in one of the forms that the kernel had: the one
    /// whose addresses are in order, those of code where code is.
    fn entries(&self, table: Table, is_code: &impl Fn(u64) -> bool) -> Option<Vec<Entry>> {
        let count = table.names.len();
        let behind = table.end.next_multiple_of(4);
        let mut places = vec![behind, table.end.next_multiple_of(8)];
        // offsets, a pointer for their base, the number of names.
        for gap in [self.wide, self.wide + 4] {
            places.extend(table.start.checked_sub(gap + count * 4).map(|at| at & !3));
        }
        let mut forms = places.into_iter().flat_map(|at| self.forms(at, count));
        let code = |addresses: &Vec<u64>| {
            let named = table.names.iter().zip(addresses);
            let code = named.filter(|((kind, _), _)| is_text(*kind));
            let (mut all, mut there) = (0, 0);
            for (_, address) in code {
                all += 1;
                there += usize::from(is_code(*address));
            }
            there > all / 2
        };
        let addresses = forms.find(|addresses| addresses.is_sorted() && code(addresses))?;
        let entry = |((kind, name), address)| Entry {
            name,
            address,
            kind,
        };
        Some(table.names.into_iter().zip(addresses).map(entry).collect())
    }

    /// The addresses that the offsets here may be.
    fn forms(&self, at: usize, count: usize) -> Vec<Vec<u64>> {
        let offsets = (0..count).map(|number| self.word(at + number * 4));
        let Some(offsets) = offsets.collect::<Option<Vec<u32>>>() else {
            return Vec::new();
        };
        let mask = if self.wide == 4 {
            u64::from(u32::MAX)
        } else {
            u64::MAX
        };
        let own = |number: usize| self.address.wrapping_add((at + number * 4) as u64);
        let signed = |offset: u32| i64::from(offset.cast_signed());
        let numbered = || offsets.iter().enumerate();
        // From themselves: 7.0 and later.
        let near = numbered()
            .map(|(number, offset)| own(number).wrapping_add_signed(signed(*offset)) & mask);
        let mut forms = vec![near.collect()];
        let base = (at + count * 4).next_multiple_of(self.wide);
        if let Some(base) = self.pointer(base) {
            let plain = offsets
                .iter()
                .map(|offset| base.wrapping_add(u64::from(*offset)) & mask);
            // Up to 6.14 on x86 with more than one CPU: those of a CPU's own area
            // are absolute, the others less than 0 (CONFIG_KALLSYMS_ABSOLUTE_PERCPU).
            let split = offsets.iter().map(|offset| match signed(*offset) {
                offset @ 0.. => offset.cast_unsigned(),
                offset => base.wrapping_sub(1).wrapping_add_signed(-offset) & mask,
            });
            forms.extend([plain.collect(), split.collect()]);
        }
        forms
    }
}
