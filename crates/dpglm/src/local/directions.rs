//! Public directions from a seed.
//!
//! # Algorithm
//! Direction `k` of a seed, in dimension `d`:
//!
//! 1. Take the key stream of ChaCha20 (RFC 8439) with block counter 0. Key: the 16 bytes of the seed, then the 16 bytes
//!    `dpglm-direction1`. Nonce: four zero bytes, `k` in four bytes, least significant first, four zero bytes.
//! 2. Read it as 32-bit words, least significant byte first, and pair them: `(a, b)`.
//! 3. Each pair gives two normal deviates by Box and Muller: `sqrt(-2 ln((a + 1/2) / 2^32))` times the cosine, then the
//!    sine, of `2 pi b / 2^32`. If `d` is odd, the last sine is not used.
//! 4. Divide the `d` deviates by their l2 norm.
//!
//! The directions of different `k` are independent, so a server computes only the one that was reported.
//!
//! # Guarantee
//! None is needed: a direction depends on the seed and the counter only, never on data. Another language's last digits may
//! differ; that changes an estimate by as much and no probability of a report by anything. The deviates have 32 bits, which
//! moves expectations by about 1e-9.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// The second half of the key: no other use of a seed gives the same stream.
const DOMAIN: &[u8; 16] = b"dpglm-direction1";

/// Generates the directions of one seed.
pub(super) struct Directions {
    stream: ChaCha20Rng,
    words: Vec<u8>,
}

impl Directions {
    /// The directions of a seed in the given dimension.
    pub(super) fn new(seed: [u8; 16], dimension: usize) -> Self {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&seed);
        key[16..].copy_from_slice(DOMAIN);
        // Two words a pair of deviates.
        Self { stream: ChaCha20Rng::from_seed(key), words: vec![0; 8 * dimension.div_ceil(2)] }
    }

    /// Writes direction `k`, before its division by its norm, and returns the norm.
    pub(super) fn deviates(&mut self, k: u32, into: &mut [f64]) -> f64 {
        // Step 1: the stream number is the nonce's last eight bytes.
        self.stream.set_stream(u64::from(k));
        self.stream.fill_bytes(&mut self.words);
        let mut squares = 0.0;
        // Steps 2 and 3.
        for (pair, words) in into.chunks_mut(2).zip(self.words.as_chunks::<8>().0) {
            let a = u32::from_le_bytes([words[0], words[1], words[2], words[3]]);
            let b = u32::from_le_bytes([words[4], words[5], words[6], words[7]]);
            let length = (-2.0 * ((f64::from(a) + 0.5) * 2f64.powi(-32)).ln()).sqrt();
            let (sine, cosine) = (TAU * f64::from(b) * 2f64.powi(-32)).sin_cos();
            for (x, part) in pair.iter_mut().zip([cosine, sine]) {
                *x = length * part;
                squares += *x * *x;
            }
        }
        squares.sqrt().max(f64::MIN_POSITIVE)
    }

    /// Writes direction `k`.
    pub(super) fn direction(&mut self, k: u32, into: &mut [f64]) {
        let norm = self.deviates(k, into); // Steps 1 to 3
        into.iter_mut().for_each(|x| *x /= norm); // Step 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_rfc() {
        // Where key and nonce go, against the block function written out.
        let seed: [u8; 16] = std::array::from_fn(|i| i as u8);
        let mut directions = Directions::new(seed, 4);
        let mut x = [0.0; 4];
        directions.deviates(0x0102_0304, &mut x);
        let mut key = [0; 32];
        key[..16].copy_from_slice(&seed);
        key[16..].copy_from_slice(b"dpglm-direction1");
        let nonce = [0, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0];
        assert_eq!(directions.words, block(&key, 0, &nonce)[..16]);
        // The block function itself, against RFC 8439 section 2.3.2.
        let key: [u8; 32] = std::array::from_fn(|i| i as u8);
        let expected = [0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15];
        assert_eq!(block(&key, 1, &[0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0])[..8], expected);
    }

    /// ChaCha20's block function, as in the RFC.
    fn block(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> Vec<u8> {
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let mut start = vec![0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
        start.extend(key.chunks(4).map(word));
        start.push(counter);
        start.extend(nonce.chunks(4).map(word));
        let mut x = start.clone();
        for _ in 0..10 {
            for [a, b, c, d] in [
                [0, 4, 8, 12],
                [1, 5, 9, 13],
                [2, 6, 10, 14],
                [3, 7, 11, 15],
                [0, 5, 10, 15],
                [1, 6, 11, 12],
                [2, 7, 8, 13],
                [3, 4, 9, 14],
            ] {
                for (p, q, r, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    x[p] = x[p].wrapping_add(x[q]);
                    x[r] = (x[r] ^ x[p]).rotate_left(turn);
                }
            }
        }
        x.iter().zip(&start).flat_map(|(a, b)| a.wrapping_add(*b).to_le_bytes()).collect()
    }

    #[test]
    fn directions_have_length_one_and_do_not_repeat() {
        for dimension in [1, 2, 3, 50, 1001] {
            let mut directions = Directions::new([9; 16], dimension);
            let (mut a, mut b) = (vec![0.0; dimension], vec![0.0; dimension]);
            directions.direction(0, &mut a);
            directions.direction(1, &mut b);
            for u in [&a, &b] {
                assert!((u.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
            }
            assert!(dimension == 1 || a != b);
            let first = a.clone();
            directions.direction(0, &mut a);
            assert_eq!(a, first);
        }
    }
}
