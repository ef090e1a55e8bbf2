//! What is drawn with a seed: the same seed draws the same, so that what went wrong can
//! be drawn again.

/// Numbers of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The row of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next of all numbers.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of the numbers below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).unwrap()
    }

    /// One of several.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Bytes, each of all.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[0]).collect()
    }
}

/// The seed that the environment gives, else the usual one.
#[must_use]
pub fn seed() -> u64 {
    match std::env::var("TOLLGATE_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again() {
        let mut draw = Draw::new(0);
        // The first two of the seed 0, as other implementations have them.
        assert_eq!(draw.number(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(draw.number(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(Draw::new(7).bytes(9), Draw::new(7).bytes(9));
        assert!(draw.below(3) < 3);
    }
}
