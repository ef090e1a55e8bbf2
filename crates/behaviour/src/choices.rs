//! Where a generated function takes its decisions from.

/// Bytes that decisions are taken from, one after the other. Where they end,
/// each decision is the first of its kind, so that any bytes make a function.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: Vec<u8>,
    at: usize,
}

/// More than any function takes.
const ENOUGH: usize = 4096;

impl Choices {
    /// The decisions that a seed stands for (`SplitMix64`, Steele and others 2014).
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let words = (0..ENOUGH / 8).flat_map(|_| next().to_le_bytes());
        Self {
            bytes: words.collect(),
            at: 0,
        }
    }

    /// The decisions that these bytes are.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            at: 0,
        }
    }

    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        byte
    }

    /// A number below `count`, which is at most 256; 0 for none.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let byte = usize::from(self.byte());
        if count == 0 { 0 } else { byte * count / 256 }
    }

    /// Whether something happens that happens in that many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        usize::from(self.byte()) * 100 >= (100 - percent.min(100)) * 256
    }

    /// One of several, the first where the bytes have ended.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).copied()
    }

    /// One of several texts.
    pub(crate) fn word(&mut self, all: &[&'static str]) -> &'static str {
        self.pick(all).unwrap_or_default()
    }

    /// One of several, each as often as its number says.
    pub(crate) fn weighted<T: Copy>(&mut self, all: &[(usize, T)]) -> Option<T> {
        let sum: usize = all.iter().map(|(weight, _)| weight).sum();
        let mut left = usize::from(self.byte()) * sum / 256;
        for (weight, one) in all {
            if left < *weight {
                return Some(*one);
            }
            left -= weight;
        }
        all.first().map(|(_, one)| *one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_decisions_each_time() {
        let mut decisions = [Choices::of_seed(7), Choices::of_seed(7)]
            .map(|mut choices| (0..100).map(|_| choices.below(256)).collect::<Vec<_>>());
        assert_eq!(decisions[0], decisions[1]);
        decisions[0].dedup();
        assert!(decisions[0].len() > 50);
    }

    #[test]
    fn where_the_bytes_end_the_first_is_chosen() {
        let mut choices = Choices::of_bytes(&[255]);
        assert_eq!(choices.below(4), 3);
        assert_eq!(choices.below(4), 0);
        assert!(!choices.chance(99));
        assert_eq!(choices.weighted(&[(1, 'a'), (200, 'b')]), Some('a'));
    }
}
