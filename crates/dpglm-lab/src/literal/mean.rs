//! Means as Cai et al. 2021 prints them: Algorithm 3.1 (truncate, average, Gaussian noise) and Algorithm 3.3 (truncate, average, peel).
//!
//! Truncation levels of §5.1: none, `4 sigma sqrt(log n)`, or private 2.5% and 97.5% quantiles of all entries. For the last the paper
//! names Lei's Algorithm 1'; here it is the exponential mechanism on ranks over a geometric grid, with the stated epsilon for
//! each of the two, which the paper does not account for. One row moves d entries, hence a rank by d.

use super::peeling;
use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::mechanisms::{Candidates, PrivateQuantile};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Event, Noise};

/// The three ways to truncate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    /// Not at all; the noise is that of the theoretical level.
    Never,
    /// At `4 sigma sqrt(log n)`, sigma = 1.
    Theory,
    /// At private quantiles.
    Quantiles,
}

/// A truncated, noisy mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiteralMean {
    /// Rows.
    pub n: usize,
    /// Columns.
    pub d: usize,
    /// How entries are truncated.
    pub truncate: Truncate,
    /// The sparsity of Algorithm 3.3; none for Algorithm 3.1.
    pub sparsity: Option<usize>,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
}

impl LiteralMean {
    /// The theoretical level with sigma = 1.
    pub fn theory(&self) -> f64 {
        4.0 * (self.n as f64).ln().sqrt()
    }

    /// The printed standard deviation of Algorithm 3.1 for a truncation level.
    pub fn sigma(&self, level: f64) -> f64 {
        2.0 * level * (self.d as f64 * (1.0 / self.delta).ln()).sqrt() / (self.n as f64 * self.epsilon)
    }

    /// Stated and true epsilon, for entries of any size.
    pub fn promise(&self) -> Result<Promise> {
        if self.truncate == Truncate::Never {
            return Ok(Promise::broken(
                self.epsilon,
                self.delta,
                "one row moves an untruncated mean by anything",
            ));
        }
        // The level cancels between sensitivity and noise.
        let mut events = match self.sparsity {
            None => {
                let sensitivity = 2.0 * (self.d as f64).sqrt() / self.n as f64;
                vec![Event::new("mean", Noise::Gaussian { sensitivity, sigma: self.sigma(1.0) }, 1)?]
            }
            Some(s) => {
                let lambda = 2.0 / self.n as f64;
                let scale = peeling::laplace_scale(lambda, s, self.epsilon, self.delta);
                peeling::events(s, 1, lambda, scale)?
            }
        };
        let mut because = "every data set, but for rounding";
        if self.truncate == Truncate::Quantiles {
            // Utilities of sensitivity d with noise 2 d / epsilon.
            events.push(Event::new("quantiles", Noise::Pure { epsilon: self.epsilon }, 2)?);
            because = "the quantiles are paid for as well";
        }
        Promise::literal(self.epsilon, self.delta, &events, because)
    }

    /// The truncation level of these entries: infinite for none.
    pub fn level(&self, entries: &[f64], rng: &mut RandomSource) -> Result<(f64, f64)> {
        Ok(match self.truncate {
            Truncate::Never => (f64::NEG_INFINITY, f64::INFINITY),
            Truncate::Theory => (-self.theory(), self.theory()),
            Truncate::Quantiles => {
                let candidates = Candidates::geometric(0.01, 1e4, 16)?;
                let scale = 2.0 * self.d as f64 / self.epsilon;
                let mut at = |q: f64| -> Result<f64> {
                    Ok(PrivateQuantile::new(candidates, q, scale)?.release(entries, rng)?.value)
                };
                let (low, high) = (at(0.025)?, at(0.975)?);
                (low.min(high), low.max(high))
            }
        })
    }

    /// The estimate.
    pub fn fit(&self, entries: &[f64], draw: &mut Draw) -> Result<Vec<f64>> {
        let (low, high) = self.level(entries, &mut RandomSource::insecure_seeded(draw.bits()))?;
        let mut mean = vec![0.0; self.d];
        for row in entries.chunks_exact(self.d) {
            for (m, x) in mean.iter_mut().zip(row) {
                *m += x.clamp(low, high);
            }
        }
        mean.iter_mut().for_each(|m| *m /= self.n as f64);
        // Half the interval's length is what the printed noise calls R.
        let level = if self.truncate == Truncate::Never { self.theory() } else { 0.5 * (high - low) };
        match self.sparsity {
            None => {
                let sigma = self.sigma(level);
                mean.iter_mut().for_each(|m| *m += sigma * draw.normal());
                Ok(mean)
            }
            Some(s) => {
                let lambda = 2.0 * level / self.n as f64;
                Ok(peeling::peel(&mean, s, peeling::laplace_scale(lambda, s, self.epsilon, self.delta), draw))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::distance;

    /// An independent implementation finds an l2 error of 0.155 at n = 20,000 with the theoretical level.
    #[test]
    fn literal_agrees_with_an_independent_implementation() {
        let (n, d) = (20_000, 20);
        let delta = 10.0 / (n as f64).powf(1.1);
        let model = LiteralMean { n, d, truncate: Truncate::Theory, sparsity: None, epsilon: 0.5, delta };
        let errors: Vec<f64> = (0..30_u64)
            .map(|i| {
                let mut draw = Draw::new(crate::task::seed(&["c21 mean", &i.to_string()]));
                let mu: Vec<f64> = (0..d).map(|_| draw.between(-10.0, 10.0)).collect();
                let entries: Vec<f64> = (0..n * d).map(|k| mu[k % d] + draw.normal()).collect();
                distance(&model.fit(&entries, &mut draw).unwrap(), &mu)
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / 30.0;
        let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 29.0).sqrt();
        let allowed = 5.0 * deviation * (2.0 / 30.0_f64).sqrt();
        assert!((mean - 0.155).abs() < allowed, "{mean} {allowed}");
        assert!(allowed < 0.5 * 0.155, "half the noise would be seen: {allowed}");
    }

    /// The printed variance is too small for small delta (Algorithm 3.1 against Example 2.2).
    #[test]
    fn printed_variance_exceeds_its_epsilon() {
        let truly = |n: usize| {
            let delta = 10.0 / (n as f64).powf(1.1);
            let model =
                LiteralMean { n, d: 20, truncate: Truncate::Theory, sparsity: None, epsilon: 0.5, delta };
            model.promise().unwrap().truly.unwrap()
        };
        assert!(truly(5_000) < 0.5 && (truly(100_000) - 0.5035).abs() < 5e-4, "{}", truly(100_000));
    }
}
