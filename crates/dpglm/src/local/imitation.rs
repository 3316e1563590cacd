//! Estimates with the law of real reports, without their candidates: for simulations and planning.
//!
//! A device that runs PrivUnit looks at hundreds of directions. The law of the one it reports is known, so that a
//! simulation of a hundred thousand devices can draw it directly:
//!
//! 1. Inside the cap or not, with its probability; then one of its ranks j, uniformly.
//! 2. The probability of a larger coordinate than the j-th largest of K is Beta(j, K - j + 1); the inverse of the law of
//!    a coordinate gives the direction's inner product t with the vector's.
//! 3. The rest of the direction is uniform and orthogonal to the vector.
//!
//! Nothing drawn here is private: no report is made, and the generator is seeded.

use super::randomizer::{Law, Randomizer, lift};
use super::sphere::Marginal;
use crate::error::{Error, Result};
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Draws estimates as [`Randomizer::randomize`] and [`Randomizer::estimate`] would.
pub struct Imitation<'a> {
    randomizer: &'a Randomizer,
    generator: ChaCha20Rng,
    /// Log-odds of exceeding the angle, descending, and the angle.
    quantiles: Vec<(f64, f64)>,
    spare: Option<f64>,
}

impl<'a> Imitation<'a> {
    /// An imitation with a seeded generator.
    pub fn new(randomizer: &'a Randomizer, seed: u64) -> Self {
        let quantiles = match &randomizer.law {
            Law::Duchi(_) => Vec::new(),
            Law::PrivUnit(_) => {
                const STEPS: i32 = 2_000;
                let marginal = Marginal::new(randomizer.dimension() + 1, 2);
                (-STEPS..=STEPS)
                    .map(|i| f64::from(i) / f64::from(STEPS) * marginal.reach())
                    .map(|angle| (marginal.tail(-angle).ln() - marginal.tail(angle).ln(), angle))
                    .filter(|(odds, _)| odds.is_finite())
                    .map(|(odds, angle)| (-odds, angle))
                    .collect()
            }
        };
        Self { randomizer, generator: ChaCha20Rng::seed_from_u64(seed), quantiles, spare: None }
    }

    /// Adds one estimate of the vector.
    pub fn add(&mut self, vector: &[f64], into: &mut [f64]) -> Result<()> {
        let randomizer = self.randomizer;
        if vector.len() != randomizer.dimension() || into.len() != vector.len() {
            return Err(Error::Conflict(format!(
                "the randomizer was built for {} coordinates: build it anew",
                randomizer.dimension()
            )));
        }
        let scaled = randomizer.scaled(vector);
        let factor = randomizer.radius() / randomizer.gain();
        match &randomizer.law {
            Law::Duchi(side) => {
                let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
                let mut direction: Vec<f64> = scaled.iter().map(|_| self.normal()).collect();
                let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                let product: f64 = direction.iter().zip(&scaled).map(|(u, x)| u * x).sum();
                let kept = self.uniform() < 0.5 + 0.5 * length;
                let truth = self.uniform() < side.weights.likely();
                let sign = if ((product >= 0.0) == kept) == truth { 1.0 } else { -1.0 };
                direction.iter_mut().for_each(|u| *u *= sign / norm);
                into.iter_mut().zip(&direction).for_each(|(sum, u)| *sum += factor * u);
            }
            Law::PrivUnit(selection) => {
                let (cap, count) = (u64::from(selection.cap), u64::from(selection.candidates));
                // Step 1
                let inside = self.uniform() < selection.weights.likely();
                let (first, ranks) = if inside { (1, cap) } else { (cap + 1, count - cap) };
                let rank = first + ((self.uniform() * ranks as f64) as u64).min(ranks - 1);
                // Step 2
                let (a, b) = (self.gamma(rank as f64), self.gamma((count - rank + 1) as f64));
                let t = self.angle((a / b).ln()).sin();
                // Step 3
                let z = lift(scaled);
                let mut rest: Vec<f64> = z.iter().map(|_| self.normal()).collect();
                let along: f64 = rest.iter().zip(&z).map(|(h, z)| h * z).sum();
                rest.iter_mut().zip(&z).for_each(|(h, z)| *h -= along * z);
                let norm = rest.iter().map(|h| h * h).sum::<f64>().sqrt();
                let share = (1.0 - t * t).sqrt() / norm.max(f64::MIN_POSITIVE);
                for ((sum, z), h) in into.iter_mut().zip(&z).zip(&rest) {
                    *sum += factor * (t * z + share * h);
                }
            }
        }
        Ok(())
    }

    /// The angle that is exceeded with the given log-odds, by interpolation.
    fn angle(&self, odds: f64) -> f64 {
        let after = self.quantiles.partition_point(|q| q.0 > odds);
        match (self.quantiles.get(after.wrapping_sub(1)), self.quantiles.get(after)) {
            (Some(&(o1, a1)), Some(&(o2, a2))) => a1 + (a2 - a1) * (odds - o1) / (o2 - o1),
            (Some(&(_, edge)), None) | (None, Some(&(_, edge))) => edge,
            (None, None) => 0.0,
        }
    }

    fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let length = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(length * sine);
        length * cosine
    }

    /// A gamma deviate of shape at least 1 (Marsaglia and Tsang 2000). By hand, so that a seed gives the same simulated reports under
    /// every version of a crate of distributions.
    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{Kind, seed};
    use crate::noise::RandomSource;

    /// The largest distance of two samples' distribution functions.
    fn kolmogorov(a: &mut [f64], b: &mut [f64]) -> f64 {
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
        while i < a.len() && j < b.len() {
            if a[i] <= b[j] {
                i += 1
            } else {
                j += 1
            }
            largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
        }
        largest
    }

    /// Level 1e-6 by the two-sample bound of Wei and Dudley (2012): P(D > l) <= 2 exp(-2 l^2 n / 2) for equal sizes n.
    fn limit(n: usize) -> f64 {
        ((2.0 / 1e-6_f64).ln() / n as f64).sqrt()
    }

    #[test]
    fn imitated_estimates_have_the_law_of_real_ones() {
        const N: usize = 20_000;
        for (kind, vector, name) in [
            (Kind::PrivUnit, [0.6, -0.3, 0.2], "short"),
            (Kind::PrivUnit, [0.0, 2.0, 0.0], "full"),
            (Kind::Duchi, [0.1, 0.5, 0.0], "duchi"),
        ] {
            let randomizer = Randomizer::new(kind, 3, 2.0, 1.7).unwrap();
            let rng = &mut RandomSource::insecure_seeded(seed(name));
            let mut imitation = Imitation::new(&randomizer, seed("imitation"));
            // The wrong vector must show: the law of estimates of half the vector.
            let half = vector.map(|x| 0.25 * x);
            let mut samples: [Vec<f64>; 3] = std::array::from_fn(|_| Vec::with_capacity(N));
            let along = |e: [f64; 3]| e.iter().zip(&vector).map(|(e, x)| e * x).sum::<f64>() + 0.1 * e[0];
            for _ in 0..N {
                let (mut real, mut imitated, mut wrong) = ([0.0; 3], [0.0; 3], [0.0; 3]);
                randomizer.estimate(&randomizer.randomize(&vector, rng).unwrap(), &mut real).unwrap();
                imitation.add(&vector, &mut imitated).unwrap();
                imitation.add(&half, &mut wrong).unwrap();
                for (sample, estimate) in samples.iter_mut().zip([real, imitated, wrong]) {
                    sample.push(along(estimate));
                }
            }
            let [mut real, mut imitated, mut wrong] = samples;
            let right = kolmogorov(&mut real, &mut imitated);
            assert!(right < limit(N), "{name}: {right} above {}", limit(N));
            if name == "full" {
                assert!(kolmogorov(&mut real, &mut wrong) > limit(N), "{name}: no power");
            }
        }
    }
}
