//! One user's second moments and feature-label products, released together.
//!
//! # Algorithm (Wang et al. 2021 Algorithm 1, joint)
//! 1. Clip the features to l2 norm `r`; take the label to its public interval and measure it from the middle, so that
//!    `|y| <= ymax`, half the interval's length.
//! 2. Form the vector of the `x_i^2`, the `sqrt(2) x_i x_j` for `i < j`, and the `w x_i y`. In these coordinates the
//!    first two blocks have the Frobenius norm of `x x^T`.
//! 3. Add Gaussian noise to the whole vector, once.
//!
//! # Guarantee
//! One Gaussian event under replacement of the user's whole record, for every record: a NaN or infinite feature makes
//! the features zero, a NaN label becomes the middle of its interval.
//!
//! # Why private
//! The squared l2 sensitivity of the vector is, with `a = w^2 ymax^2 / r^2`,
//! ```text
//! 2 r^4 (1 + a/2)^2   where a <= 2,        (2 w r ymax)^2   where a > 2.
//! ```
//! *Proof.* Take two records with `u = |x|^2`, `v = |x'|^2`, `c = <x, x'>`. Their vectors differ by
//! ```text
//! D = u^2 + v^2 - 2 c^2 + w^2 (u y^2 + v y'^2 - 2 c y y').
//! ```
//! 1. *Labels.* As `c^2 <= u v`, the quadratic form in `(y, y')` is not negative, hence convex, and largest at a corner of
//!    the square of side `2 ymax`. There it is `ymax^2 (u + v - 2c)` or `ymax^2 (u + v + 2c)`, so with `A = w^2 ymax^2`
//!    and `g = |c|`, `D <= u^2 + v^2 - 2 g^2 + A (u + v + 2 g)`.
//! 2. *Lengths.* For a fixed g this grows with u and v, and a larger length keeps `g <= sqrt(u v)` true, so both may be
//!    taken as `r^2`: `D <= 2 r^4 + 2 A r^2 - 2 g^2 + 2 A g` with `0 <= g <= r^2`.
//! 3. *Angle.* The parabola in g peaks at `g = A/2`. If `A/2 <= r^2`, that is `a <= 2`, the peak is
//!    `2 r^4 + 2 A r^2 + A^2/2 = 2 r^4 (1 + a/2)^2`. Otherwise it still rises at `g = r^2`, where it is `4 A r^2`.
//!
//! Every step is attained in two dimensions and more: `y = y' = ymax`, both rows of length r, at an angle whose cosine is
//! `-min(a/2, 1)`. In one dimension the bound is valid but not tight.
//!
//! The computed vector is within 4 units of the last place of the exact one, relative to a norm which is below the
//! sensitivity; the sensitivity is enlarged for that, and for the grid (`docs/proofs/noise.md`, section 1).
//!
//! # Differs from the paper
//! One release with the exact joint sensitivity in place of two at half of epsilon and delta; the paper's radius bounds
//! the l1 norm, which is not what enters the sensitivity; labels are centred, which halves the noise of binary ones.
//!
//! # References
//! Wang et al. 2021 Algorithm 1.

use super::threshold_bit::require_interval;
use crate::accounting::calibrate;
use crate::data::clipping::clip_l2;
use crate::error::{Error, Parameter, Result, require_nonzero};
use crate::mechanisms::{GaussianVector, Release};
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, Noise};
use std::f64::consts::SQRT_2;

/// The largest number of features: the released vector has `p (p + 3) / 2` numbers.
const MOST_FEATURES: usize = 4_096;

/// Releases one user's moments and products, features and label both private.
///
/// ```
/// use dpglm::local::JointStatistics;
/// use dpglm::noise::RandomSource;
/// use dpglm::privacy::Budget;
///
/// // Two features of l2 norm at most 1, a binary label.
/// let statistics = JointStatistics::for_budget(2, 1.0, (0.0, 1.0), 1.0, Budget::new(2.0, 1e-6)?)?;
/// let mut rng = RandomSource::from_os()?;
/// let mut sum = vec![0.0; statistics.numbers()];
/// for (x, y) in [([0.6, 0.8], 1.0), ([0.0, -0.5], 0.0)] {
///     let report = statistics.randomize(&x, y, &mut rng)?; // on the user's device
///     sum.iter_mut().zip(&report.value).for_each(|(s, v)| *s += v);
/// }
/// let means = statistics.means(&sum, 2)?; // on the server
/// assert_eq!((means.gram.len(), means.products.len()), (4, 2));
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct JointStatistics {
    features: usize,
    radius: f64,
    labels: (f64, f64),
    weight: f64,
    sigma: f64,
    mechanism: GaussianVector,
}

/// What the server has after adding up reports and dividing by their number.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanStatistics {
    /// The noisy mean of `x x^T`, row by row; symmetric, but not always positive.
    pub gram: Vec<f64>,
    /// The noisy mean of `x (y - middle)`.
    pub products: Vec<f64>,
    /// The noise's standard deviation in a diagonal entry of `gram`; off the diagonal it is this over `sqrt(2)`.
    pub gram_deviation: f64,
    /// The noise's standard deviation in an entry of `products`.
    pub product_deviation: f64,
}

impl JointStatistics {
    /// For `features` features clipped to l2 norm `radius`, labels taken to the public interval `labels`, products
    /// multiplied by `weight` beside the moments, and noise of standard deviation `sigma`.
    pub fn new(features: usize, radius: f64, labels: (f64, f64), weight: f64, sigma: f64) -> Result<Self> {
        let shape = Shape::new(features, radius, labels, weight)?;
        let mechanism = GaussianVector::new(shape.sensitivity, sigma, shape.numbers)?;
        Ok(Self { features, radius, labels, weight, sigma, mechanism })
    }

    /// With the smallest noise that meets the budget.
    pub fn for_budget(
        features: usize,
        radius: f64,
        labels: (f64, f64),
        weight: f64,
        budget: Budget,
    ) -> Result<Self> {
        let shape = Shape::new(features, radius, labels, weight)?;
        let template = GaussianVector::new(shape.sensitivity, shape.sensitivity, shape.numbers)?.events();
        match calibrate(&template, &[], budget)?.first().map(Event::noise) {
            Some(Noise::Gaussian { sigma, .. }) => Self::new(features, radius, labels, weight, sigma),
            _ => unreachable!("calibration keeps each event's kind"),
        }
    }

    /// How many numbers a report holds: `p (p + 1) / 2` moments, then `p` products, 8 bytes each.
    pub fn numbers(&self) -> usize {
        self.features * (self.features + 3) / 2
    }

    /// The middle of the label's interval, from which labels are measured.
    pub fn middle(&self) -> f64 {
        middle_and_reach(self.labels).0
    }

    /// What a report costs its user.
    pub fn events(&self) -> Vec<Event> {
        self.mechanism.events()
    }

    /// Steps 1 to 3, on the user's device.
    pub fn randomize(&self, x: &[f64], y: f64, rng: &mut RandomSource) -> Result<Release<Vec<f64>>> {
        self.mechanism.release(&self.coordinates(x, y)?, rng)
    }

    /// Steps 1 and 2: the vector before noise.
    fn coordinates(&self, x: &[f64], y: f64) -> Result<Vec<f64>> {
        if x.len() != self.features {
            return Err(Error::Conflict(format!(
                "the study has {} features, the record {}: use the study's own columns",
                self.features,
                x.len()
            )));
        }
        let mut x = x.to_vec();
        clip_l2(&mut x, self.radius);
        let middle = self.middle();
        // Subtraction is monotone, so the difference stays within the computed reach.
        let y = if y.is_nan() { 0.0 } else { y.clamp(self.labels.0, self.labels.1) - middle };
        let mut out = Vec::with_capacity(self.numbers());
        for (i, &a) in x.iter().enumerate() {
            out.push(a * a);
            out.extend(x[i + 1..].iter().map(|&b| SQRT_2 * (a * b)));
        }
        out.extend(x.iter().map(|&a| self.weight * (a * y)));
        Ok(out)
    }

    /// From the sum of the reports of `users` users to mean moments and products: on the server.
    pub fn means(&self, sum: &[f64], users: u64) -> Result<MeanStatistics> {
        require_nonzero(Parameter::Users, users, "at least one report is needed")?;
        if sum.len() != self.numbers() {
            return Err(Error::Conflict(format!(
                "a sum of reports has {} numbers, got {}: add up reports of this study only",
                self.numbers(),
                sum.len()
            )));
        }
        let (p, n) = (self.features, users as f64);
        let mut gram = vec![0.0; p * p];
        let mut numbers = sum.iter().map(|s| s / n);
        for i in 0..p {
            for (j, value) in (i..p).zip(&mut numbers) {
                let value = if i == j { value } else { value / SQRT_2 };
                (gram[i * p + j], gram[j * p + i]) = (value, value);
            }
        }
        Ok(MeanStatistics {
            gram,
            products: numbers.map(|v| v / self.weight).collect(),
            gram_deviation: self.sigma / n.sqrt(),
            product_deviation: self.sigma / (self.weight * n.sqrt()),
        })
    }
}

/// The public numbers of a release, checked, and what follows from them.
struct Shape {
    numbers: usize,
    sensitivity: f64,
}

impl Shape {
    fn new(features: usize, radius: f64, labels: (f64, f64), weight: f64) -> Result<Self> {
        if !(1..=MOST_FEATURES).contains(&features) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Features,
                range: "from 1 to 4096",
                value: features.to_string(),
                remedy: "a report holds p (p + 3) / 2 numbers; send products only, or fewer features",
            });
        }
        require_interval(labels)?;
        let reach = middle_and_reach(labels).1;
        // Within these bounds no product overflows, and what underflows vanishes beside the margin for rounding.
        for (parameter, value) in
            [(Parameter::Radius, radius), (Parameter::LabelHalfRange, reach), (Parameter::Weight, weight)]
        {
            if !(1e-60..=1e60).contains(&value) {
                return Err(Error::OutOfRange {
                    parameter,
                    range: "from 1e-60 to 1e60",
                    value: format!("{value:e}"),
                    remedy: "declare public bounds of ordinary size; rescale the data if need be",
                });
            }
        }
        Ok(Self { numbers: features * (features + 3) / 2, sensitivity: sensitivity(radius, reach, weight) })
    }
}

/// The middle of an interval, and the largest computed distance from it.
fn middle_and_reach((low, high): (f64, f64)) -> (f64, f64) {
    let middle = low / 2.0 + high / 2.0;
    (middle, (high - middle).max(middle - low))
}

/// The joint l2 sensitivity of the module's theorem, enlarged for the rounding of the computed vectors and its own.
fn sensitivity(radius: f64, reach: f64, weight: f64) -> f64 {
    let ratio = weight * reach / radius;
    let a = ratio * ratio;
    let exact =
        if a <= 2.0 { SQRT_2 * radius * radius * (1.0 + a / 2.0) } else { 2.0 * weight * radius * reach };
    exact * (1.0 + 32.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::local::seed;
    use statrs::distribution::{ContinuousCDF, Normal};

    fn distance(s: &JointStatistics, a: &(Vec<f64>, f64), b: &(Vec<f64>, f64)) -> f64 {
        let (a, b) = (s.coordinates(&a.0, a.1).unwrap(), s.coordinates(&b.0, b.1).unwrap());
        a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// The farthest pair that a search finds: extreme starts, then steps of shrinking size that are kept if they help.
    fn farthest(s: &JointStatistics, rng: &mut RandomSource) -> f64 {
        let p = s.features;
        let specials = [f64::NAN, f64::INFINITY, 1e300, -1e300, 0.0];
        let record = |rng: &mut RandomSource| {
            let mut x: Vec<f64> = (0..p).map(|_| 2.0 * s.radius * uniform(rng)).collect();
            if rng.below(10) == 0 {
                x[rng.below(p as u64) as usize] = specials[rng.below(5) as usize];
            }
            let y = match rng.below(4) {
                0 => 1e9 * uniform(rng),
                1 => specials[rng.below(5) as usize],
                2 => s.labels.0,
                _ => s.labels.1,
            };
            (x, y)
        };
        let mut best = 0.0_f64;
        for _ in 0..20 {
            let mut pair = (record(rng), record(rng));
            let mut reached = distance(s, &pair.0, &pair.1);
            for step in 0..400 {
                let size = s.radius * 0.97_f64.powi(step);
                let mut trial = pair.clone();
                let moved = if rng.coin() { &mut trial.0 } else { &mut trial.1 };
                moved.0.iter_mut().for_each(|x| *x += size * uniform(rng));
                if rng.below(8) == 0 {
                    moved.1 = if rng.coin() { s.labels.0 } else { s.labels.1 };
                }
                let d = distance(s, &trial.0, &trial.1);
                if d > reached {
                    (pair, reached) = (trial, d);
                }
            }
            best = best.max(reached);
        }
        best
    }

    /// Settings on both sides of a = 2 and at it: (radius, ymax, weight).
    const SETTINGS: [(f64, f64, f64); 7] = [
        (1.0, 0.5, 0.01),
        (1.0, 0.5, 1.0),
        (2.0, 3.0, 0.5),
        (1.0, SQRT_2, 1.0),
        (1.0, 1.5, 1.0),
        (0.3, 4.0, 2.0),
        (1e3, 1e-3, 1e6),
    ];

    #[test]
    fn no_pair_of_records_exceeds_the_sensitivity_and_a_search_comes_near_it() {
        let rng = &mut RandomSource::insecure_seeded(seed("no_pair_of_records_exceeds_the_sensitivity"));
        for (radius, ymax, weight) in SETTINGS {
            for p in [1, 2, 3, 7] {
                let s = JointStatistics::new(p, radius, (-ymax, ymax), weight, 1e8).unwrap();
                let bound = sensitivity(radius, ymax, weight);
                let found = farthest(&s, rng);
                assert!(found <= bound, "p {p}, ({radius}, {ymax}, {weight}): {found} above {bound}");
                if p == 2 {
                    assert!(found > 0.99 * bound, "({radius}, {ymax}, {weight}): {found} of {bound}");
                }
            }
        }
    }

    #[test]
    fn the_bound_is_attained_and_the_same_attack_refutes_a_smaller_one() {
        for (radius, ymax, weight) in SETTINGS {
            let s = JointStatistics::new(2, radius, (-ymax, ymax), weight, 1e8).unwrap();
            let bound = sensitivity(radius, ymax, weight);
            let a = (weight * ymax / radius).powi(2);
            let cosine = -(a / 2.0).min(1.0);
            let other = vec![radius * cosine, radius * (1.0 - cosine * cosine).sqrt()];
            let found = distance(&s, &(vec![radius, 0.0], ymax), &(other, ymax));
            assert!(found <= bound && found > bound * (1.0 - 1e-12), "{found} of {bound}");
            // Two mistakes easily made: the blocks' own sensitivities taken at orthogonal rows, and one release's bound
            // for half the range.
            let orthogonal = (2.0 * radius.powi(4) * (1.0 + a)).sqrt();
            // The two differ by a^2/4 relative to 2.
            assert!(a < 0.01 || found > orthogonal * (1.0 + 1e-5), "({radius}, {ymax}, {weight})");
            assert!(found > sensitivity(radius, ymax / 2.0, weight));
        }
    }

    #[test]
    fn labels_are_measured_from_the_middle_of_their_interval() {
        let s = JointStatistics::new(2, 1.0, (0.0, 1.0), 3.0, 1.0).unwrap();
        assert_eq!(s.coordinates(&[0.5, 0.25], 1.0).unwrap()[3..], [0.75, 0.375]);
        assert_eq!(s.coordinates(&[0.5, 0.25], -7.0).unwrap()[3..], [-0.75, -0.375]);
        assert_eq!(s.coordinates(&[0.5, 0.25], f64::NAN).unwrap()[3..], [0.0, 0.0]);
        assert_eq!(s.coordinates(&[f64::NAN, 0.25], 1.0).unwrap(), [0.0; 5]);
    }

    #[test]
    fn means_of_reports_are_unbiased_with_the_stated_deviation() {
        let rng = &mut RandomSource::insecure_seeded(seed("means_of_reports_are_unbiased"));
        let (weight, sigma, users) = (0.5, 1.0, 20_000);
        let s = JointStatistics::new(2, 1.0, (-1.0, 1.0), weight, sigma).unwrap();
        let mut sum = vec![0.0; s.numbers()];
        for _ in 0..users {
            let report = s.randomize(&[0.6, -0.6], 0.5, rng).unwrap();
            sum.iter_mut().zip(&report.value).for_each(|(s, v)| *s += v);
        }
        let means = s.means(&sum, users).unwrap();
        // Sums of exact Gaussians are Gaussian: six numbers at level 1e-6 together.
        let limit = Normal::new(0.0, 1.0).unwrap().inverse_cdf(1.0 - 1e-6 / 12.0);
        let scaled = |got: f64, truth: f64, deviation: f64| ((got - truth) / deviation).abs();
        let gram = means.gram_deviation;
        let checks = [
            scaled(means.gram[0], 0.36, gram),
            scaled(means.gram[1], -0.36, gram / SQRT_2),
            scaled(means.gram[2], -0.36, gram / SQRT_2),
            scaled(means.gram[3], 0.36, gram),
            scaled(means.products[0], 0.3, means.product_deviation),
            scaled(means.products[1], -0.3, means.product_deviation),
        ];
        assert!(checks.iter().all(|z| *z < limit), "{checks:?}");
        // The same check refuses products whose weight was not divided out.
        assert!(scaled(weight * means.products[0], 0.3, weight * means.product_deviation) > limit);
    }

    #[test]
    fn a_budget_is_met_and_wrong_parameters_are_refused() {
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let s = JointStatistics::for_budget(3, 1.0, (0.0, 1.0), 1.0, budget).unwrap();
        assert!(crate::accounting::epsilon_at(&s.events(), 1e-6).unwrap() <= 1.0);
        assert!(JointStatistics::new(0, 1.0, (0.0, 1.0), 1.0, 1.0).is_err());
        assert!(JointStatistics::new(usize::MAX, 1.0, (0.0, 1.0), 1.0, 1.0).is_err());
        for bad in [0.0, -1.0, 1e-70, 1e70, f64::NAN, f64::INFINITY] {
            assert!(JointStatistics::new(2, bad, (0.0, 1.0), 1.0, 1.0).is_err());
            assert!(JointStatistics::new(2, 1.0, (0.0, 1.0), bad, 1.0).is_err());
            assert!(JointStatistics::new(2, 1.0, (0.0, 0.0 * bad), 1.0, 1.0).is_err());
        }
        assert!(s.randomize(&[1.0], 0.0, &mut RandomSource::insecure_seeded(0)).is_err());
        assert!(s.means(&[0.0], 1).is_err() && s.means(&[0.0; 9], 0).is_err());
    }
}
