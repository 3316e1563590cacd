//! Generalized linear models from one report a user and public unlabeled features (Wang et al. 2021 Algorithm 1).
//!
//! # Algorithm
//! Public: the family, the interval of the label, the l2 radius of the features, the features' means (zero unless said), and rows
//! of features of people who are not among the users.
//!
//! 1. Device: clip the features to the radius, take the label to its interval, subtract the interval's middle. Send
//!    one randomized report: of `x (y - middle)` by PrivUnit (Gram public), or of `x x^T` and `x (y - middle)` together with
//!    Gaussian noise ([`super::statistics`]; Gram private or blended).
//! 2. Server: the mean product, plus middle times the features' public mean. The Gram matrix: that of the public rows, the
//!    users' noisy one, or their average weighted by precision.
//! 3. Least squares: solve Gram times w = product. A Gram matrix that is not safely positive ends the fit with a clear outcome.
//! 4. Optionally shrink w by the factor of James and Stein: the noise's variance is public.
//! 5. The model's coefficients are c w, with c from the public rows ([`super::scale`]).
//!
//! # Guarantee
//! Under replacement of one user's record, for every record: pure epsilon with a public Gram matrix, else the
//! (epsilon, delta) of the joint release. Public rows are not protected.
//!
//! # Why private
//! Each user sends one report; steps 2 to 5 see reports and public numbers only. See [`super::privunit`], [`super::statistics`].
//!
//! # Differs from the paper
//! The server holds features with the same marginal, so that the Gram matrix can come from them without noise and a report has p
//! numbers behind it in place of p(p+3)/2; pure epsilon; centred labels, which halve the reports' noise and, where the
//! means are public, the sampling error; a bracketed search for c. Equal marginals are an assumption for accuracy only.
//!
//! # References
//! Wang et al. 2021 Algorithm 1; W. James and C. Stein, "Estimation with quadratic loss", 1961.

use super::randomizer::{Kind, Randomizer, Report};
use super::scale::Scale;
use super::statistics::MeanStatistics;
use crate::accounting::Certificate;
use crate::data::Design;
use crate::data::clipping::clip_l2;
use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::families::Family;
use crate::kernels::{predict, weighted_gram};
use crate::noise::RandomSource;
use crate::privacy::Randomness;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// A Gram matrix is taken as positive if its smallest eigenvalue is above this share of its largest.
const SMALLEST_SHARE: f64 = 1e-10;

/// Where the Gram matrix comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gram {
    /// From the public rows.
    Public,
    /// From the users' noisy moments.
    Private,
    /// From both, weighted by their precision.
    Blend,
}

/// A generalized linear model from one report a user.
#[derive(Debug, Clone)]
pub struct OneShotGlm {
    family: Family,
    labels: (f64, f64),
    radius: f64,
    means: Option<Vec<f64>>,
    shrink: bool,
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq)]
pub enum OneShotOutcome {
    /// With coefficients.
    Fitted {
        /// The model's coefficients.
        coefficients: Vec<f64>,
        /// The least-squares coefficients they are a multiple of.
        least_squares: Vec<f64>,
        /// The multiple, and whether it was the only one.
        scale: Scale,
    },
    /// The least-squares coefficients have no multiple that solves the model's equation: more users, or a larger epsilon.
    NoScale {
        /// The least-squares coefficients.
        least_squares: Vec<f64>,
    },
    /// The Gram matrix is not safely positive: use public rows, more users, or drop columns that repeat others.
    IndefiniteGram {
        /// Its smallest eigenvalue, of a released or public matrix.
        smallest: f64,
    },
}

impl OneShotGlm {
    /// For a family, the label's interval and the l2 radius of the features.
    pub fn new(family: Family, labels: (f64, f64), radius: f64) -> Result<Self> {
        if !(labels.0 < labels.1 && labels.0 >= -1e30 && labels.1 <= 1e30) {
            return Err(Error::OutOfRange {
                parameter: Parameter::LabelInterval,
                range: "two numbers within 1e30 of zero, the smaller first",
                value: format!("[{}, {}]", labels.0, labels.1),
                remedy: "declare the public bounds of the label",
            });
        }
        require_positive(
            Parameter::Radius,
            radius,
            "the largest l2 norm of a user's features; a public number",
        )?;
        Ok(Self { family, labels, radius, means: None, shrink: true })
    }

    /// With public means of the features, where they are not zero.
    pub fn feature_means(mut self, means: Vec<f64>) -> Result<Self> {
        if means.iter().any(|m| !m.is_finite()) {
            return Err(Error::Conflict("the features' public means must be finite numbers".into()));
        }
        self.means = Some(means);
        Ok(self)
    }

    /// Whether to shrink the least-squares coefficients (step 4). On unless said otherwise.
    pub fn shrink(mut self, shrink: bool) -> Self {
        self.shrink = shrink;
        self
    }

    fn middle(&self) -> f64 {
        0.5 * self.labels.0 + 0.5 * self.labels.1
    }

    /// The randomizer of the products, for a public Gram matrix.
    pub fn randomizer(&self, features: usize, epsilon: f64) -> Result<Randomizer> {
        let reach = 0.5 * self.labels.1 - 0.5 * self.labels.0;
        Randomizer::new(Kind::PrivUnit, features, self.radius * reach, epsilon)
    }

    /// Device: the product of clipped features and centred label (step 1).
    pub fn product(&self, features: &[f64], label: f64) -> Vec<f64> {
        let mut x = features.to_vec();
        clip_l2(&mut x, self.radius);
        let label = if label.is_nan() { self.middle() } else { label };
        let y = self.family.admit(label).clamp(self.labels.0, self.labels.1) - self.middle();
        x.iter_mut().for_each(|x| *x *= y);
        x
    }

    /// Device: the report, for a public Gram matrix.
    pub fn report(
        &self,
        randomizer: &Randomizer,
        features: &[f64],
        label: f64,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        randomizer.randomize(&self.product(features, label), rng)
    }

    /// The promise to each user, for a public Gram matrix. With the joint release, its own events are the promise.
    pub fn certificate<'a>(
        &self,
        randomizer: &Randomizer,
        randomness: impl Into<Randomness<'a>>,
    ) -> Result<Certificate> {
        Ok(randomizer
            .certificate(randomness)?
            .enforcing(format!("the features are clipped to l2 norm {}", self.radius))
            .enforcing(format!("the label is taken to [{}, {}]", self.labels.0, self.labels.1))
            .provided("the public rows belong to people who are not among the users"))
    }

    /// Server: the fit from the sum of the estimates of `users` reports, with the public rows' Gram matrix.
    pub fn fit_public(
        &self,
        randomizer: &Randomizer,
        sum: &[f64],
        users: u64,
        public: &Design,
    ) -> Result<OneShotOutcome> {
        require_nonzero(Parameter::Users, users, "at least one report is needed")?;
        require_columns(public.columns(), sum.len())?;
        require_columns(randomizer.dimension(), sum.len())?;
        let n = users as f64;
        let product: Vec<f64> = sum.iter().map(|s| s / n).collect();
        // The square of an estimate is about evenly spread over the lifted coordinates.
        let variance = randomizer.mean_square() / (randomizer.dimension() + 1) as f64 / n;
        self.solve(self.public_gram(public)?, product, variance, public)
    }

    /// Server: the fit from the users' noisy mean moments and products, for the private or the blended Gram matrix.
    pub fn fit_joint(
        &self,
        statistics: &MeanStatistics,
        users: u64,
        public: &Design,
        gram: Gram,
    ) -> Result<OneShotOutcome> {
        require_nonzero(Parameter::Users, users, "at least one report is needed")?;
        let p = statistics.products.len();
        require_columns(public.columns(), p)?;
        require_columns(p * p, statistics.gram.len())?;
        let own = DMatrix::from_row_slice(p, p, &statistics.gram);
        let matrix = match gram {
            Gram::Private => own,
            Gram::Public => self.public_gram(public)?,
            Gram::Blend => {
                let shared = self.public_gram(public)?;
                // Sampling variances of an entry: about the square of a typical second moment over the rows.
                let typical = shared.trace() / p as f64;
                let ours = statistics.gram_deviation.powi(2) + typical * typical / users as f64;
                let theirs = typical * typical / public.rows() as f64;
                let share = theirs / (ours + theirs).max(f64::MIN_POSITIVE);
                own * share + shared * (1.0 - share)
            }
        };
        let reach = 0.5 * self.labels.1 - 0.5 * self.labels.0;
        let sampling = (self.radius * reach).powi(2) / p as f64 / users as f64;
        let variance = statistics.product_deviation.powi(2) + sampling;
        self.solve(matrix, statistics.products.clone(), variance, public)
    }

    /// The mean of `x x^T` over the public rows, clipped as the users' are.
    fn public_gram(&self, public: &Design) -> Result<DMatrix<f64>> {
        let p = public.columns();
        let norms = crate::kernels::squared_row_norms(public);
        let weight = |row: usize| (self.radius * self.radius / norms[row]).min(1.0);
        let sum = weighted_gram(public, weight);
        Ok(DMatrix::from_fn(p, p, |i, j| sum[i.max(j) * p + i.min(j)] / public.rows() as f64))
    }

    /// Steps 2 to 5, with the variance of a coordinate of the mean product.
    fn solve(
        &self,
        gram: DMatrix<f64>,
        mut product: Vec<f64>,
        variance: f64,
        public: &Design,
    ) -> Result<OneShotOutcome> {
        let p = product.len();
        if let Some(means) = &self.means {
            require_columns(p, means.len())?;
            product.iter_mut().zip(means).for_each(|(v, m)| *v += self.middle() * m); // Step 2
        }
        // Step 3
        let eigen = SymmetricEigen::new(gram.clone());
        let (smallest, largest) = (eigen.eigenvalues.min(), eigen.eigenvalues.max());
        if smallest.is_nan() || smallest <= SMALLEST_SHARE * largest.abs() || largest.is_nan() {
            return Ok(OneShotOutcome::IndefiniteGram { smallest });
        }
        let inverse = DVector::from_iterator(p, eigen.eigenvalues.iter().map(|e| 1.0 / e));
        let rotated = eigen.eigenvectors.tr_mul(&DVector::from_vec(product));
        let mut w = &eigen.eigenvectors * rotated.component_mul(&inverse);
        // Step 4, in the norm of the predictors: w^T G w, of which the noise makes up variance * trace(G^-1).
        if self.shrink && p > 2 {
            let size = w.dot(&(&gram * &w));
            let noise = variance * inverse.sum() * (p - 2) as f64 / p as f64;
            w *= if size > 0.0 { (1.0 - noise / size).max(0.0) } else { 0.0 };
        }
        let least_squares: Vec<f64> = w.iter().copied().collect();
        // Step 5
        let mut predictors = vec![0.0; public.rows()];
        predict(public, &least_squares, &mut predictors);
        let scale = Scale::solve(&self.family, &predictors);
        Ok(match scale.value() {
            Some(c) => OneShotOutcome::Fitted {
                coefficients: least_squares.iter().map(|w| c * w).collect(),
                least_squares,
                scale,
            },
            None => OneShotOutcome::NoScale { least_squares },
        })
    }
}

fn require_columns(expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Conflict(format!("{got} numbers where {expected} belong: use the study's own columns")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{JointStatistics, seed};
    use crate::privacy::Budget;

    const TRUTH: [f64; 3] = [0.9, -0.6, 0.3];

    /// Independent signs over sqrt(3), and binary labels.
    fn rows(n: usize, rng: &mut RandomSource) -> (Vec<f64>, Vec<f64>) {
        let size = 1.0 / 3f64.sqrt();
        let x: Vec<f64> = (0..3 * n).map(|_| if rng.coin() { size } else { -size }).collect();
        let y = x
            .chunks_exact(3)
            .map(|row| {
                let mean = Family::logistic().mean(row.iter().zip(TRUTH).map(|(x, b)| x * b).sum());
                f64::from(u8::from(f64::from(rng.next_u32()) * 2f64.powi(-32) < mean))
            })
            .collect();
        (x, y)
    }

    fn error(outcome: &OneShotOutcome) -> f64 {
        let OneShotOutcome::Fitted { coefficients, .. } = outcome else { panic!("{outcome:?}") };
        coefficients.iter().zip(TRUTH).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// The truth has norm 1.1; errors are about 0.15 (public) and 0.3 (private moments), the zero vector's is 1.1.
    #[test]
    fn all_three_grams_fit_from_reports() {
        let rng = &mut RandomSource::insecure_seeded(seed("all_three_grams_fit_from_reports"));
        let (n, model) = (20_000, OneShotGlm::new(Family::logistic(), (0.0, 1.0), 1.0).unwrap());
        let public = Design::from_f64(n, 3, rows(n, rng).0).unwrap();
        let (x, y) = rows(n, rng);
        let randomizer = model.randomizer(3, 6.0).unwrap();
        let mut sum = vec![0.0; 3];
        for (x, &y) in x.chunks_exact(3).zip(&y) {
            randomizer.estimate(&model.report(&randomizer, x, y, rng).unwrap(), &mut sum).unwrap();
        }
        let fit = model.fit_public(&randomizer, &sum, n as u64, &public).unwrap();
        assert!(error(&fit) < 0.6, "{fit:?}");
        let joint =
            JointStatistics::for_budget(3, 1.0, (0.0, 1.0), 2.0, Budget::new(10.0, 1e-5).unwrap()).unwrap();
        let mut sum = vec![0.0; joint.numbers()];
        for (x, &y) in x.chunks_exact(3).zip(&y) {
            let report = joint.randomize(x, y, rng).unwrap().value;
            sum.iter_mut().zip(&report).for_each(|(s, v)| *s += v);
        }
        let means = joint.means(&sum, n as u64).unwrap();
        for gram in [Gram::Private, Gram::Blend, Gram::Public] {
            let fit = model.fit_joint(&means, n as u64, &public, gram).unwrap();
            assert!(error(&fit) < 0.8, "{gram:?}: {fit:?}");
        }
    }

    #[test]
    fn failures_are_outcomes() {
        let model = OneShotGlm::new(Family::logistic(), (0.0, 1.0), 1.0).unwrap().shrink(false);
        let public = Design::from_f64(4, 2, vec![0.5, 0.1, -0.5, 0.2, 0.5, -0.1, -0.5, -0.2]).unwrap();
        let means = |gram: Vec<f64>, product: f64| MeanStatistics {
            gram,
            products: vec![product, 0.0],
            gram_deviation: 0.1,
            product_deviation: 0.1,
        };
        let fit = |means: &MeanStatistics| model.fit_joint(means, 100, &public, Gram::Private).unwrap();
        for gram in [vec![1.0, 2.0, 2.0, 1.0], vec![0.0; 4], vec![f64::NAN; 4], vec![1.0, 1.0, 1.0, 1.0]] {
            assert!(matches!(fit(&means(gram, 0.1)), OneShotOutcome::IndefiniteGram { .. }));
        }
        let identity = || vec![1.0, 0.0, 0.0, 1.0];
        assert!(matches!(fit(&means(identity(), 50.0)), OneShotOutcome::NoScale { .. }));
        assert!(matches!(fit(&means(identity(), 0.1)), OneShotOutcome::Fitted { .. }));
        assert!(matches!(fit(&means(identity(), f64::NAN)), OneShotOutcome::NoScale { .. }));
        // Repeated columns make the public Gram matrix singular.
        let repeated = Design::from_f64(2, 2, vec![0.5, 0.5, -0.5, -0.5]).unwrap();
        let outcome = model.fit_joint(&means(identity(), 0.1), 100, &repeated, Gram::Public).unwrap();
        assert!(matches!(outcome, OneShotOutcome::IndefiniteGram { .. }));
    }

    #[test]
    fn products_are_within_the_radius_for_every_record() {
        let model = OneShotGlm::new(Family::gaussian(), (-2.0, 4.0), 1.5).unwrap();
        let radius = model.randomizer(2, 1.0).unwrap().radius();
        assert_eq!(radius, 4.5);
        let certificate = model.certificate(&model.randomizer(2, 1.0).unwrap(), Randomness::Devices).unwrap();
        assert!(certificate.guarantee().is_some_and(|g| g.delta == 0.0 && g.epsilon < 1.0 + 1e-12));
        let bad = [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.3, 4.0, -2.0];
        for a in bad {
            for b in bad {
                let product = model.product(&[a, b], b);
                assert!(product.iter().map(|v| v * v).sum::<f64>().sqrt() <= radius);
            }
        }
    }
}
