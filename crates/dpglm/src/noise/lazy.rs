//! Random real numbers whose binary digits are drawn when a comparison asks for them.
//!
//! A uniform real in `[0, 1)` is a sequence of independent uniform 32-bit words. Two such reals almost always differ
//! in the first word; when they do not, further words are drawn until they do. So a comparison is exact, and takes
//! little more than one word on average.

use dashu_int::UBig;

use super::source::RandomSource;

/// Bits per digit of a lazy number.
pub(super) const WORD_BITS: usize = 32;

/// A uniform real in `[0, 1)`, known to some number of 32-bit words.
#[derive(Debug)]
pub(super) struct LazyUniform {
    /// The first two words; the second is zero until it is drawn.
    head: u64,
    second_known: bool,
    /// Words from the third on. Almost never used, hence one pointer.
    tail: Option<Box<Tail>>,
}

#[derive(Debug, Default)]
struct Tail(Vec<u32>);

impl LazyUniform {
    /// A uniform real whose first word has been drawn.
    #[inline]
    pub(super) fn from_first(word: u32) -> Self {
        Self { head: u64::from(word) << WORD_BITS, second_known: false, tail: None }
    }

    /// A uniform real, known to its first word.
    #[inline]
    pub(super) fn draw(rng: &mut RandomSource) -> Self {
        Self::from_first(rng.next_u32())
    }

    /// The first word.
    #[inline]
    pub(super) fn first(&self) -> u32 {
        (self.head >> WORD_BITS) as u32
    }

    /// The first two words.
    #[inline]
    pub(super) fn first_two(&mut self, rng: &mut RandomSource) -> u64 {
        if !self.second_known {
            self.head |= u64::from(rng.next_u32());
            self.second_known = true;
        }
        self.head
    }

    /// The word at `position`, drawing it and those before it if they are not known yet.
    pub(super) fn word(&mut self, position: usize, rng: &mut RandomSource) -> u32 {
        match position {
            0 => self.first(),
            1 => self.first_two(rng) as u32,
            _ => {
                self.first_two(rng);
                let tail = &mut self.tail.get_or_insert_default().0;
                while tail.len() <= position - 2 {
                    tail.push(rng.next_u32());
                }
                tail[position - 2]
            }
        }
    }

    /// Whether this real lies below the other. Ends with probability one: equal reals have probability zero.
    pub(super) fn is_below(&mut self, other: &mut Self, rng: &mut RandomSource) -> bool {
        let mut position = 0;
        loop {
            let (mine, theirs) = (self.word(position, rng), other.word(position, rng));
            if mine != theirs {
                return mine < theirs;
            }
            position += 1;
        }
    }

    /// The first `words` words as one integer: the real times `2^(32 words)`, rounded down.
    pub(super) fn leading(&mut self, words: usize, rng: &mut RandomSource) -> UBig {
        (0..words)
            .fold(UBig::ZERO, |value, position| (value << WORD_BITS) + UBig::from(self.word(position, rng)))
    }
}

/// A non-negative random real: an integer part and a fraction whose digits are drawn on demand.
///
/// The digits that are not drawn yet are uniform and independent of everything drawn so far.
#[derive(Debug)]
pub struct LazyReal {
    pub(super) integer: u32,
    pub(super) fraction: LazyUniform,
}

impl LazyReal {
    /// The number times `2^64`, rounded down. Draws what is missing of the first 64 fraction digits.
    #[inline]
    pub(super) fn fixed_64(&mut self, rng: &mut RandomSource) -> u128 {
        u128::from(self.integer) << 64 | u128::from(self.fraction.first_two(rng))
    }

    /// The number times `2^(32 words)`, rounded down.
    pub(super) fn fixed(&mut self, words: usize, rng: &mut RandomSource) -> UBig {
        (UBig::from(self.integer) << (WORD_BITS * words)) + self.fraction.leading(words, rng)
    }

    /// The number to `f64` accuracy, for display and for tests: rounded, hence not safe as privacy noise.
    pub fn approximate(&mut self, rng: &mut RandomSource) -> f64 {
        self.fixed_64(rng) as f64 / 2f64.powi(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_decided_by_the_first_differing_word() {
        for depth in 1..6usize {
            // The reals share `depth` words; their words are drawn alternately once the first ones are known.
            let mut script = vec![9; 2 * (depth - 1)];
            script.extend([4, 5]);
            let rng = &mut RandomSource::scripted(&script);
            let (mut low, mut high) = (LazyUniform::from_first(9), LazyUniform::from_first(9));
            assert!(low.is_below(&mut high, rng));
            // Known digits are kept: asking again draws nothing and says the same.
            assert!(low.is_below(&mut high, rng) && !high.is_below(&mut low, rng));
            assert_eq!((low.word(depth, rng), high.word(depth, rng)), (4, 5));
        }
    }

    #[test]
    fn leading_digits_agree_at_every_length() {
        let rng = &mut RandomSource::insecure_seeded(11);
        let mut real = LazyReal { integer: 3, fraction: LazyUniform::draw(rng) };
        let longest = real.fixed(7, rng);
        for words in 0..7 {
            assert_eq!(real.fixed(words, rng), &longest >> (WORD_BITS * (7 - words)));
        }
        assert_eq!(UBig::from(real.fixed_64(rng)), real.fixed(2, rng));
    }
}
