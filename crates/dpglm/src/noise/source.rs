//! The source of random bits.
//!
//! ChaCha20 keyed by the operating system. The sampler takes 32-bit words, because most comparisons of random
//! numbers are decided by the first 32 binary digits.

use std::fmt;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::error::{Error, Result};

/// Words produced per refill.
const BUFFER: usize = 256;

/// A stream of uniform random bits.
///
/// Neither `Clone` nor serialisable: a copy would repeat the noise of the original, and the difference of two
/// releases with equal noise is the private difference itself.
///
/// ```
/// use dpglm::noise::RandomSource;
///
/// let source = RandomSource::from_os()?;
/// assert!(source.is_private());
/// # Ok::<(), dpglm::Error>(())
/// ```
pub struct RandomSource {
    generator: ChaCha20Rng,
    buffer: Box<[u32; BUFFER]>,
    /// Index of the next unused word of `buffer`.
    next: usize,
    /// Unused bits of the word that coins are taken from, below a marker bit: 1 means none.
    coins: u64,
    insecure_seed: Option<u64>,
}

impl RandomSource {
    /// A source keyed by the operating system: the only one whose results are private.
    pub fn from_os() -> Result<Self> {
        let mut key = [0u8; 32];
        getrandom::fill(&mut key).map_err(|failure| Error::NoRandomness(failure.to_string()))?;
        Ok(Self::keyed(key, None))
    }

    /// A reproducible source for experiments and tests.
    ///
    /// Whoever knows the seed can subtract the noise, so nothing computed with this source is private.
    pub fn insecure_seeded(seed: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self::keyed(key, Some(seed))
    }

    fn keyed(key: [u8; 32], insecure_seed: Option<u64>) -> Self {
        Self {
            generator: ChaCha20Rng::from_seed(key),
            buffer: Box::new([0; BUFFER]),
            next: BUFFER,
            coins: 1,
            insecure_seed,
        }
    }

    /// Whether results drawn from this source can be private: false for a seeded one.
    pub fn is_private(&self) -> bool {
        self.insecure_seed.is_none()
    }

    /// The seed of an insecure source, for an artefact to record.
    pub fn insecure_seed(&self) -> Option<u64> {
        self.insecure_seed
    }

    /// 32 uniform bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        let Some(&word) = self.buffer.get(self.next) else { return self.refill() };
        self.next += 1;
        word
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) << 32 | u64::from(self.next_u32())
    }

    /// A fair coin. One word serves 32 coins.
    #[inline]
    pub fn coin(&mut self) -> bool {
        if self.coins == 1 {
            self.coins = 1 << 32 | u64::from(self.next_u32());
        }
        let heads = self.coins & 1 == 1;
        self.coins >>= 1;
        heads
    }

    /// A uniform integer in `0..bound`, exact: surplus values are drawn again. Zero if `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        let Some(largest) = bound.checked_sub(1) else { return 0 };
        if largest == 0 {
            return 0;
        }
        // Cut to the bits of the largest value, more than half of all draws are kept.
        let spare_bits = largest.leading_zeros();
        loop {
            let candidate = self.next_u64() >> spare_bits;
            if candidate <= largest {
                return candidate;
            }
        }
    }

    /// Fills the buffer and takes its first word.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> u32 {
        let mut bytes = [0u8; 4 * BUFFER];
        self.generator.fill_bytes(&mut bytes);
        for (word, chunk) in self.buffer.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*chunk);
        }
        self.next = 1;
        self.buffer[0]
    }
}

impl fmt::Debug for RandomSource {
    /// Hides the state: it determines all future noise. A seed is shown only where it already voids privacy.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RandomSource")
            .field("insecure_seed", &self.insecure_seed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl RandomSource {
    /// A source that starts with the given words, to drive a sampler into a path of tiny probability.
    pub(crate) fn scripted(words: &[u32]) -> Self {
        let mut source = Self::insecure_seeded(0);
        source.next = BUFFER - words.len();
        source.buffer[source.next..].copy_from_slice(words);
        source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_sources_repeat_and_say_so() {
        let (mut first, mut second) = (RandomSource::insecure_seeded(7), RandomSource::insecure_seeded(7));
        assert!((0..1000).all(|_| first.next_u64() == second.next_u64()));
        assert!(!first.is_private());
        assert_eq!(first.insecure_seed(), Some(7));
    }

    #[test]
    fn operating_system_sources_differ() {
        let mut first = RandomSource::from_os().unwrap();
        let mut second = RandomSource::from_os().unwrap();
        assert!(first.is_private() && first.insecure_seed().is_none());
        assert_ne!([first.next_u64(), first.next_u64()], [second.next_u64(), second.next_u64()]);
    }

    #[test]
    fn the_key_stream_is_chacha20() {
        // First block of the all-zero key and nonce, RFC 8439 appendix A.1, test vector 1.
        let mut source = RandomSource::insecure_seeded(0);
        assert_eq!(source.next_u32().to_le_bytes(), [0x76, 0xb8, 0xe0, 0xad]);
        assert_eq!(source.next_u32().to_le_bytes(), [0xa0, 0xf1, 0x3d, 0x90]);
    }

    #[test]
    fn debug_hides_the_state() {
        let mut source = RandomSource::insecure_seeded(3);
        let before = format!("{source:?}");
        source.next_u32();
        assert_eq!(before, format!("{source:?}"));
        assert_eq!(before, "RandomSource { insecure_seed: Some(3), .. }");
    }

    #[test]
    fn coins_take_every_bit_of_a_word_once() {
        let mut source = RandomSource::scripted(&[0x4000_0005, 0xffff_ffff]);
        let word = (0..32).fold(0u32, |word, bit| word | u32::from(source.coin()) << bit);
        assert_eq!(word, 0x4000_0005);
        assert!(source.coin());
    }

    #[test]
    fn below_rejects_surplus_values() {
        // 2 bits serve a bound of 3; the value 3 (top bits 11) is drawn again.
        let mut source = RandomSource::scripted(&[0xffff_ffff, 0, 0x8000_0000, 0]);
        assert_eq!(source.below(3), 2);
        assert_eq!(source.below(0), 0);
        assert_eq!(source.below(1), 0);
        let mut source = RandomSource::insecure_seeded(1);
        assert!((0..1000).all(|_| source.below(u64::MAX) < u64::MAX));
        let seen = (0..200).fold(0u32, |seen, _| seen | 1 << source.below(5));
        assert_eq!(seen, 0b11111);
    }
}
