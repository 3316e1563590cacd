//! Exact standard exponential deviates, from comparisons alone.
//!
//! # Algorithm
//!
//! Everything rests on a coin that shows heads with probability `exp(-x)`, `0 <= x <= 1`:
//!
//! 1. Draw uniforms `u1, u2, ...` as long as they descend: `x > u1 > u2 > ...`.
//! 2. Let `n` be the index of the first one that does not. Heads if `n` is odd.
//!
//! Indeed `P(n > k) = x^k / k!`, so `P(n odd) = sum_k (-1)^k x^k / k! = exp(-x)`.
//!
//! The exponential deviate (von Neumann 1951):
//!
//! 1. Draw a uniform `x` and toss its coin.
//! 2. Heads: the deviate is `x` plus the number of tails seen so far. Tails: go to 1.
//!
//! A round shows tails with probability `1/e`, and given heads `x` has a density proportional to `exp(-x)` on
//! `[0, 1)`: integer part and fraction have exactly the distribution they have in a standard exponential.
//!
//! No logarithm is evaluated and nothing is rounded. A tie of the first 32 digits draws further digits.
//!
//! # References
//!
//! J. von Neumann, "Various techniques used in connection with random digits", 1951.

use super::lazy::{LazyReal, LazyUniform};
use super::source::RandomSource;

/// A standard exponential deviate, exact.
#[inline]
pub fn exponential(rng: &mut RandomSource) -> LazyReal {
    let mut integer = 0;
    loop {
        let first = rng.next_u32();
        let challenger = rng.next_u32();
        if challenger == first {
            let mut fraction = LazyUniform::from_first(first);
            if exp_coin_after_tie(&mut fraction, challenger, rng) {
                return LazyReal { integer, fraction };
            }
        } else if challenger > first || finish_run(challenger, rng) {
            return LazyReal { integer, fraction: LazyUniform::from_first(first) };
        }
        integer += 1;
    }
}

/// A coin that shows heads with probability `1/e`.
#[inline]
pub(super) fn inverse_e_coin(rng: &mut RandomSource) -> bool {
    // Every uniform lies below x = 1, so the run starts with its first element.
    let first = rng.next_u32();
    finish_run(first, rng)
}

/// The result of the coin once the run's first uniform, of which only the given first word is known, lies below `x`.
#[inline]
pub(super) fn finish_run(first: u32, rng: &mut RandomSource) -> bool {
    let mut previous = first;
    // The second uniform ends the run at the even index 2: tails.
    let mut heads = false;
    loop {
        let next = rng.next_u32();
        if next >= previous {
            return if next == previous { finish_run_after_tie(previous, heads, rng) } else { heads };
        }
        previous = next;
        heads = !heads;
    }
}

/// The coin for `x`, after the first words of `x` and of the first challenger turned out equal.
#[cold]
#[inline(never)]
fn exp_coin_after_tie(x: &mut LazyUniform, challenger: u32, rng: &mut RandomSource) -> bool {
    let mut challenger = LazyUniform::from_first(challenger);
    !challenger.is_below(x, rng) || finish_run_exactly(challenger, false, rng)
}

/// Continues a run whose last element and challenger have equal first words.
#[cold]
#[inline(never)]
fn finish_run_after_tie(word: u32, heads: bool, rng: &mut RandomSource) -> bool {
    let (mut previous, mut next) = (LazyUniform::from_first(word), LazyUniform::from_first(word));
    if !next.is_below(&mut previous, rng) { heads } else { finish_run_exactly(next, !heads, rng) }
}

/// Continues a run below `previous`, of which any number of words may be known. `heads` is the result if the next
/// uniform ends the run.
#[cold]
#[inline(never)]
pub(super) fn finish_run_exactly(mut previous: LazyUniform, mut heads: bool, rng: &mut RandomSource) -> bool {
    loop {
        let mut next = LazyUniform::draw(rng);
        if !next.is_below(&mut previous, rng) {
            return heads;
        }
        previous = next;
        heads = !heads;
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    use super::*;

    fn drawn(words: &[u32]) -> (u32, u64) {
        let rng = &mut RandomSource::scripted(words);
        let mut deviate = exponential(rng);
        let fraction = deviate.fraction.first_two(rng);
        (deviate.integer, fraction)
    }

    #[test]
    fn runs_without_ties() {
        // x = 5, u1 = 6: the run ends at 1, heads. The last word is the fraction's second.
        assert_eq!(drawn(&[5, 6, 40]), (0, 5 << 32 | 40));
        // x = 9 > 8, then 8: 8.. ends at 2, tails; x = 3, u1 = 4: heads.
        assert_eq!(drawn(&[9, 8, 20, 3, 4, 40]), (1, 3 << 32 | 40));
        // x = 9 > 8 > 7, then 20: ends at 3, heads.
        assert_eq!(drawn(&[9, 8, 7, 20, 40]), (0, 9 << 32 | 40));
    }

    #[test]
    fn ties_are_broken_by_further_digits() {
        // x and u1 tie on 5; second words: u1 has 7, x has 6, so u1 is not below: heads, and x keeps its digit.
        assert_eq!(drawn(&[5, 5, 7, 6]), (0, 5 << 32 | 6));
        // u1 is below by the second word; the next uniform 9 is not below u1: tails. Then x = 10, u1 = 11.
        assert_eq!(drawn(&[5, 5, 6, 7, 9, 10, 11, 40]), (1, 10 << 32 | 40));
        // Tie of three words, then decided.
        assert_eq!(drawn(&[5, 5, 1, 1, 2, 2, 4, 3]), (0, 5 << 32 | 1));
        // u1 = 9 < 10 = x, u2 ties with u1 and is below by its second word, u3 = 20 is not: ends at 3, heads.
        assert_eq!(drawn(&[10, 9, 9, 1, 2, 20, 40]), (0, 10 << 32 | 40));
        // u2 ties with u1 and is above: ends at 2, tails.
        assert_eq!(drawn(&[10, 9, 9, 2, 1, 3, 4, 40]), (1, 3 << 32 | 40));
        // u3 ties with the first word of u2, which is known to two words.
        assert_eq!(drawn(&[10, 9, 9, 1, 2, 9, 3, 40]), (0, 10 << 32 | 40));
    }

    /// Counts of (integer part 0, 1, 2, 3 or more) x (first two binary digits), from words that are all zeros or all
    /// ones: compared word by word, these are uniform reals written with binary digits, and half of all comparisons
    /// tie.
    fn counts_on_binary_words(draws: u32, sampler: impl Fn(&mut RandomSource) -> LazyReal) -> [f64; 16] {
        let bits = &mut RandomSource::insecure_seeded(0x7469_6573);
        let mut counts = [0.0; 16];
        for _ in 0..draws {
            let words: [u32; 128] = std::array::from_fn(|_| if bits.coin() { u32::MAX } else { 0 });
            let rng = &mut RandomSource::scripted(&words);
            let mut deviate = sampler(rng);
            let digits = [0, 1].map(|position| (deviate.fraction.word(position, rng) & 1) as usize);
            counts[4 * deviate.integer.min(3) as usize + 2 * digits[0] + digits[1]] += 1.0;
        }
        counts
    }

    fn chi_square(counts: &[f64; 16]) -> f64 {
        let total: f64 = counts.iter().sum();
        let survival = |x: f64| (-x).exp();
        let statistic = |(cell, count): (usize, &f64)| {
            let start = cell as f64 / 4.0;
            let within = survival(start) - survival(start + 0.25);
            // The last four cells gather all integer parts from 3 on.
            let expected = total * if cell < 12 { within } else { within / (1.0 - survival(1.0)) };
            (count - expected).powi(2) / expected
        };
        counts.iter().enumerate().map(statistic).sum()
    }

    #[test]
    fn the_law_is_right_where_half_of_all_comparisons_tie() {
        let limit = ChiSquared::new(15.0).unwrap().inverse_cdf(1.0 - 1e-6);
        let draws = 200_000;
        assert!(chi_square(&counts_on_binary_words(draws, exponential)) < limit);
        // A sampler that counts a tie as "not below" instead of drawing digits: about half of its coins are wrong,
        // which moves cells by tens of percent where a shift of 2% in one cell would be caught.
        let careless = |rng: &mut RandomSource| {
            let mut integer = 0;
            loop {
                let (first, mut previous, mut heads) = (rng.next_u32(), rng.next_u32(), true);
                if previous < first {
                    heads = false;
                    loop {
                        let next = rng.next_u32();
                        if next >= previous {
                            break;
                        }
                        (previous, heads) = (next, !heads);
                    }
                }
                if heads {
                    return LazyReal { integer, fraction: LazyUniform::from_first(first) };
                }
                integer += 1;
            }
        };
        assert!(chi_square(&counts_on_binary_words(draws, careless)) > limit);
    }
}
