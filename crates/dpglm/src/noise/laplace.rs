//! Exact Laplace noise on a grid.
//!
//! # Algorithm
//!
//! 1. Draw an exact exponential `E` and a fair sign.
//! 2. Multiply by the scale and round to the grid.
//!
//! # Guarantee
//!
//! [`LaplaceNoise::sample`] returns the integer `k` with probability `P(k - 1/2 <= b L / g < k + 1/2)`, `L` standard
//! Laplace, exactly. Added to a value rounded to the same grid it is the Laplace mechanism of scale `b` and
//! l1-sensitivity [`Grid::enlarged_l1`].
//!
//! The largest of several grid values with independent noise of this kind may be reported, ties going to the lowest
//! index: report-noisy-max with l-infinity sensitivity [`Grid::enlarged_linf`] `= lambda'` is `2 lambda' / b`-private.
//!
//! # Why private
//!
//! For an integer `a`, `a + round(y) = round(a + y)`: the output is a function of the exact sum of the grid value and
//! the continuous noise. For the maximum, the tail of the rounded noise falls by at most `exp(-m g / b)` over `m`
//! grid steps, which is all that the usual argument needs.

use super::exponential::exponential;
use super::grid::Grid;
use super::rounding::GridScale;
use super::source::RandomSource;
use crate::error::{Parameter, Result};

/// Laplace noise of a given scale, rounded to a grid.
///
/// ```
/// use dpglm::noise::{Grid, LaplaceNoise, RandomSource};
///
/// let grid = Grid::for_l1(1.0, 2)?;
/// let noise = LaplaceNoise::new(grid, 0.5)?;
/// let mut released = [0.25, -0.5];
/// noise.add_to(&mut released, &mut RandomSource::from_os()?);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LaplaceNoise {
    grid: Grid,
    scale: GridScale,
}

impl LaplaceNoise {
    /// Noise of density `exp(-|x| / scale) / (2 scale)` on `grid`.
    pub fn new(grid: Grid, scale: f64) -> Result<Self> {
        let scale = GridScale::new(Parameter::Scale, scale, &grid)?;
        Ok(Self { grid, scale })
    }

    /// The grid that values and noise are rounded to.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// One noise value, in grid units.
    #[inline]
    pub fn sample(&self, rng: &mut RandomSource) -> i128 {
        let mut magnitude = exponential(rng);
        self.scale.signed_round(&mut magnitude, rng)
    }

    /// Replaces each value by its grid point plus independent noise.
    pub fn add_to(&self, values: &mut [f64], rng: &mut RandomSource) {
        for value in values {
            *value = self.grid.value(self.grid.round(*value) + self.sample(rng));
        }
    }
}

#[cfg(test)]
mod tests {
    /// `P(R >= k)` for Laplace noise of scale `b` grid steps, rounded.
    fn tail(k: i32, b: f64) -> f64 {
        let edge = f64::from(k) - 0.5;
        if edge >= 0.0 { 0.5 * (-edge / b).exp() } else { 1.0 - 0.5 * (edge / b).exp() }
    }

    /// Probabilities that each grid score is the noisy maximum, ties going to the lowest index.
    fn noisy_max_law(scores: &[i32; 3], b: f64) -> [f64; 3] {
        std::array::from_fn(|winner| {
            let at = |top: i32| {
                let own = tail(top - scores[winner], b) - tail(top - scores[winner] + 1, b);
                let others = (0..3).filter(|&other| other != winner).map(|other| {
                    // A tie loses against a lower index and wins against a higher one.
                    1.0 - tail(top - scores[other] + i32::from(other > winner), b)
                });
                own * others.product::<f64>()
            };
            (-300..300).map(at).sum()
        })
    }

    /// The largest log-ratio of the noisy maximum's law over neighbours whose scores move by `-steps` or `steps`.
    fn worst_loss(steps: i32, b: f64) -> f64 {
        let mut worst: f64 = 0.0;
        for scores in [[0, 0, 0], [0, 3, 5], [9, 2, 0], [0, 20, 0]] {
            let law = noisy_max_law(&scores, b);
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for moves in 0..8 {
                let moved = std::array::from_fn(|item| {
                    scores[item] + if moves >> item & 1 == 1 { steps } else { -steps }
                });
                let ratio = |(p, q): (&f64, &f64)| (p / q).ln().abs();
                worst = law.iter().zip(&noisy_max_law(&moved, b)).map(ratio).fold(worst, f64::max);
            }
        }
        worst
    }

    #[test]
    fn the_noisy_maximum_of_grid_values_keeps_its_guarantee() {
        let (steps, b) = (2, 5.0);
        let claim = 2.0 * f64::from(steps) / b;
        assert!(worst_loss(steps, b) <= claim);
        // Tight enough to notice noise of nine tenths of the scale.
        assert!(worst_loss(steps, 0.9 * b) > claim);
    }
}
