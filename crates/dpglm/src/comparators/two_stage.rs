//! Sparse linear and logistic regression in two stages: private selection, then objective perturbation.
//!
//! # Algorithm (Kifer, Smith and Thakurta 2012)
//! 1. Clamp entries and responses. For a real response: the cap on its residuals, public or a private quantile.
//! 2. The support: the s columns with the largest gradient at zero, by one-shot Gumbel noise (`central::screening`).
//! 3. On the support, with the noise `b ~ N(0, sigma^2 I)`, minimise `sum_i loss_i + ridge/2 |theta|^2 + b . theta` until its
//!    gradient is proven to be at most tau (`central::strongly_convex`).
//! 4. Release the point reached with Gaussian noise of sensitivity `2 tau / ridge`.
//!
//! The losses are twice differentiable: logistic as it is; for a real response with residual r and cap k the smoothed Huber
//! loss `k^2 ln cosh(r/k)`, of slope `k tanh(r/k)`, at most k, and curvature at most 1.
//!
//! # Guarantee
//! Replacement of one row, (epsilon, delta), for every data set. A row on the support has length at most `c sqrt(s)`, so the
//! gradient of its loss is at most `k c sqrt(s)` (logistic: `c sqrt(s)`) and its curvature at most `c^2 s` (a quarter).
//! [`super::objective_perturbation`] proves the (epsilon, delta) of the exact minimum.
//!
//! # Why private
//! The program cannot release the exact minimum. Let theta be it, on the data D and noise b. The point reached, t(D, theta), is a
//! function of D and theta (b follows from them) within `tau / ridge` of theta, by strong convexity. So
//! `(theta, t - theta + Gaussian)` is an objective perturbation followed by a Gaussian release of sensitivity `2 tau / ridge`
//! that may depend on it, and their sum is a function of both (Iyengar et al. 2019). tau includes all rounding of the
//! gradient, and that of b to its grid: the minimum for the rounded b has gradient at most `|b - rounded b|`.
//!
//! # Differs from the paper
//! One-shot selection by marginal scores in place of votes over subsamples; Gaussian noise with a derived constant; the
//! minimum is approximate and paid for; nothing is assumed of the data.
//!
//! # References
//! Kifer, Smith and Thakurta, *Private convex empirical risk minimization and high-dimensional regression*, COLT 2012;
//! Iyengar et al., *Towards practical differentially private convex optimization*, S&P 2019.

use super::objective_perturbation::{Perturbation, calibrate};
use crate::central::Fit;
use crate::central::response::Response;
use crate::central::screening::{require_entry, require_sparsity, select_support};
use crate::central::strongly_convex::Problem;
use crate::data::Shape;
use crate::data::boxed::Boxed;
use crate::data::{Dataset, Design};
use crate::error::Result;
use crate::noise::{GaussianNoise, Grid, RandomSource};
use crate::privacy::{Adjacency, Event};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Fixed, Handle, PlannedRelease, Prepared, Privacy, Progress,
    ReleaseSession, Vector, require_shape,
};

const SUPPORT: Handle<Chosen> = Handle::new("support");
const MINIMUM: Handle<Fixed> = Handle::new("perturbed minimum");
const DISTANCE: Handle<Vector> = Handle::new("distance from the minimum");
/// The shares of epsilon and of delta that the objective perturbation gets.
const PERTURBATION: (f64, f64) = (0.6, 0.5);
/// The share of the rest that the selection gets; the distance from the minimum is tiny and needs little.
const SELECTION: f64 = 0.9;

/// Sparse regression by selection and objective perturbation.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoStage {
    pub(super) response: Response,
    pub(super) entry: f64,
    pub(super) sparsity: usize,
    perturbation: Option<Perturbation>,
}

impl TwoStage {
    /// Linear regression with `sparsity` coefficients that are not zero: responses in the public interval `target`, features
    /// within `entry` of zero.
    pub fn linear(target: (f64, f64), entry: f64, sparsity: usize) -> Result<Self> {
        Self::new(Response::linear(target)?, entry, sparsity)
    }

    /// Logistic regression with `sparsity` coefficients that are not zero: responses 0 or 1, features within `entry` of zero.
    pub fn logistic(entry: f64, sparsity: usize) -> Result<Self> {
        Self::new(Response::binary(), entry, sparsity)
    }

    fn new(response: Response, entry: f64, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self { response, entry: require_entry(entry)?, sparsity, perturbation: None })
    }

    /// Caps the residuals of a real response at a public number, in place of a private quantile of the responses.
    pub fn residual_cap(mut self, cap: f64) -> Result<Self> {
        self.response.set_cap(cap)?;
        Ok(self)
    }

    /// The objective perturbation that a budget pays for, and the model with it.
    pub(super) fn perturbed(&self, privacy: Privacy) -> Result<(Vec<Event>, Self)> {
        let Privacy::Budget(budget) = privacy else { return Ok((Vec::new(), self.clone())) };
        let (epsilon, delta) = (PERTURBATION.0 * budget.epsilon(), PERTURBATION.1 * budget.delta());
        // In units of the cap times c s: a ridge of one curvature shrinks coefficients of about cap / c (logistic: 2 / c)
        // by so much; a quarter is the curvature of the logistic loss.
        let weight = if self.response.is_real() { 1.0 } else { 0.5 };
        let perturbation = Some(calibrate(epsilon, delta, weight)?);
        Ok((vec![MINIMUM.event(epsilon, delta)?], Self { perturbation, ..self.clone() }))
    }

    /// The distance from the minimum, as a line of a plan.
    pub(super) fn distance_planned(share: f64) -> PlannedRelease {
        DISTANCE.planned(share, 1)
    }

    /// Steps 3 and 4.
    pub(super) fn perturbed_minimum(
        &self,
        design: &Design,
        response: &[f64],
        cap: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Vec<f64>> {
        let (family, s) = (&self.response.family, self.sparsity);
        let real = self.response.is_real();
        let cap = if real { cap } else { 1.0 };
        // Enlarged by more than its own rounding.
        let length = self.entry * (s as f64).sqrt() * (1.0 + 1e-12);
        let (largest, steepest) = (cap * length, if real { 1.0 } else { 0.25 });
        let ridge = self.perturbation.map_or(1e-6, |p| p.ridge) * steepest * length * length;
        let score = |row: usize, u: f64| smooth_score(real, cap, family.mean(u) - response[row]);
        let slope = |row: usize, u: f64| {
            if real { smooth_slope(cap, u - response[row]) } else { family.mean_slope(u) }
        };
        let zeros = vec![0.0; s];
        let level = Problem {
            design,
            scale: 1.0,
            ridge,
            tilt: &zeros,
            score: &score,
            slope: &slope,
            cap,
            steepest,
            entry: self.entry,
            reach: self.response.reach(),
        };
        // A millionth of the noise's own effect where rounding allows it, in units of a row's gradient.
        let condition = 1.0 + design.rows() as f64 * steepest * length * length / ridge;
        let tolerance = |tilt_size: f64| (1e-6 * largest / condition).max(level.floor(tilt_size));
        let Some(p) = self.perturbation else { return level.solve(tolerance(0.0)) };
        let grid = Grid::for_l2(largest * 2f64.powi(-16), s)?;
        let rounding = grid.spacing() * (s as f64).sqrt();
        let sigma = 2.0 * largest / p.mu * (1.0 + 1e-12);
        // Longer with probability below e^-200. The tolerance must not depend on the noise itself.
        let tolerance = tolerance(sigma * ((s as f64).sqrt() + 20.0));
        let draw = |rng: &mut RandomSource, share: f64| {
            let mut tilt = vec![0.0; s];
            GaussianNoise::new(grid, sigma * share)?.add_to(&mut tilt, rng);
            Problem { tilt: &tilt, ..level }.solve(tolerance)
        };
        // Given the minimum, the noise is what the rows' gradient lacks: one row moves that by twice its largest gradient.
        let hidden = |theta: &[f64]| {
            let (gradient, error) = level.gradient(theta);
            (gradient, 2.0 * (largest * (1.0 + 1e-12) + error))
        };
        let Some(mut theta) = session.fixed(MINIMUM, draw, hidden)? else { return level.solve(tolerance) };
        let sensitivity = 2.0 * (tolerance + rounding) / ridge * (1.0 + 1e-12);
        session.vector(DISTANCE, &mut theta, sensitivity)?;
        Ok(theta)
    }
}

/// The slope of the smoothed Huber loss at a residual, or the residual of a binary response; at most `cap` in size.
fn smooth_score(real: bool, cap: f64, residual: f64) -> f64 {
    let score = if real { cap * (residual / cap).tanh() } else { residual };
    if score.is_nan() { 0.0 } else { score.clamp(-cap, cap) }
}

/// The curvature of the smoothed Huber loss.
fn smooth_slope(cap: f64, residual: f64) -> f64 {
    let t = (residual / cap).tanh();
    1.0 - t * t
}

impl Estimator for TwoStage {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = Fit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        require_sparsity(self.sparsity, columns)?;
        let mut plan: Vec<PlannedRelease> = self.response.planned(units, privacy)?.into_iter().collect();
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        plan.push(SUPPORT.planned(SELECTION * rest, self.sparsity as u64));
        plan.push(Self::distance_planned((1.0 - SELECTION) * rest));
        let (fixed, model) = self.perturbed(privacy)?;
        let calibration = CalibratedPlan::beside(fixed, plan, privacy)?;
        Ok(Prepared::new(model, (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<Fit> {
        let Shape { columns, .. } = data.shape();
        let model = self;
        // Step 1
        let table = Boxed::new(data, model.entry, |y| model.response.admit(y))?;
        let cap = model.response.release_cap(&data.counted(table.response.clone()), &mut session)?;
        // Step 2
        let score = model.response.family.bounded(cap)?;
        let support = select_support(SUPPORT, &table, &score, model.entry, model.sparsity, &mut session)?;
        // Steps 3 and 4
        let chosen = table.design.select_columns(&support)?;
        let values = model.perturbed_minimum(&chosen, &table.response, cap, &mut session)?;
        let mut coefficients = vec![0.0; columns];
        support.iter().zip(values).for_each(|(&j, b)| coefficients[j] = b);
        let certificate = session
            .close(Adjacency::ReplaceRow)
            .enforcing(format!("features are clamped to [-{0}, {0}]", model.entry))
            .enforcing("the response is clamped to its declared domain")
            .enforcing("each row's loss has a bounded slope and curvature")
            .enforcing("the distance from the exact minimum is bounded by strong convexity");
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Grade;
    use crate::central::attacks::{Pair, pairs, sparse_linear, sparse_logistic};
    use crate::central::strongly_convex::norm;
    use crate::privacy::Budget;

    fn ample() -> Privacy {
        Privacy::Budget(Budget::new(50.0, 1e-6).unwrap())
    }

    fn relative(a: &[f64], b: &[f64]) -> f64 {
        let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        norm(&difference) / norm(b)
    }

    #[test]
    fn recovers_at_a_large_budget() {
        let (data, truth) = sparse_linear(4_000, 40, 1);
        let model = TwoStage::linear((-5.0, 5.0), 1.0, 3).unwrap();
        let fit = model.fit(&data, ample(), &mut RandomSource::insecure_seeded(3)).unwrap();
        assert!(relative(&fit.coefficients, &truth) < 0.05, "{:?}", relative(&fit.coefficients, &truth));
        let (data, truth) = sparse_logistic(20_000, 20, 2);
        let model = TwoStage::logistic(1.0, 3).unwrap();
        let fit = model.fit(&data, ample(), &mut RandomSource::insecure_seeded(3)).unwrap();
        assert!(relative(&fit.coefficients, &truth) < 0.1, "{:?}", relative(&fit.coefficients, &truth));
    }

    #[test]
    fn the_certificate_lists_every_release_and_can_be_checked() {
        let (data, _) = sparse_linear(500, 10, 1);
        let budget = Privacy::Budget(Budget::new(2.0, 1e-4).unwrap());
        let model = TwoStage::linear((-5.0, 5.0), 1.0, 3).unwrap();
        let fit = model.fit(&data, budget, &mut RandomSource::from_os().unwrap()).unwrap();
        let names: Vec<&str> = fit.certificate.events().iter().map(Event::release).collect();
        assert_eq!(names, ["residual cap", SUPPORT.name(), MINIMUM.name(), DISTANCE.name()]);
        assert_eq!(fit.certificate.grade(), &Grade::Certified);
        let guarantee = fit.certificate.guarantee().unwrap();
        assert!(guarantee.epsilon <= 2.0 && guarantee.epsilon > 1.99 && guarantee.delta == 1e-4);
        assert!(fit.certificate.curve().iter().all(|(_, delta)| *delta > 5e-5));
        assert_eq!(
            crate::accounting::Certificate::from_json(&fit.certificate.to_json()).unwrap(),
            fit.certificate
        );
    }

    /// What the proof of objective perturbation rests on: at any point the two gradients differ by at most 2 G, in the
    /// plane of the two rows, whatever the rows are.
    #[test]
    fn no_neighbour_moves_the_gradient_by_more_than_claimed() {
        let mut nearest = 0.0_f64;
        for (response, target) in
            [(Response::linear((-3.0, 2.0)).unwrap(), (-3.0, 2.0)), (Response::binary(), (0.0, 1.0))]
        {
            let real = response.is_real();
            for Pair { left, right, point } in pairs(1_000, 5, target, 7) {
                for cap in if real { vec![0.01, 1.0, 8.0] } else { vec![1.0] } {
                    let gradient = |data: &Dataset| {
                        let table = Boxed::new(data, 1.0, |y| response.admit(y)).unwrap();
                        let mut sum = vec![0.0; point.len()];
                        for row in 0..table.design.rows() {
                            let u: f64 = table.design.row(row).zip(&point).map(|(x, b)| x * b).sum();
                            let score =
                                smooth_score(real, cap, response.family.mean(u) - table.response[row]);
                            sum.iter_mut().zip(table.design.row(row)).for_each(|(s, x)| *s += score * x);
                        }
                        sum
                    };
                    let (a, b) = (gradient(&left), gradient(&right));
                    let moved: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                    let claim = 2.0 * cap * (point.len() as f64).sqrt();
                    assert!(norm(&moved) <= claim * (1.0 + 1e-9), "{} > {claim}", norm(&moved));
                    nearest = nearest.max(norm(&moved) / claim);
                }
            }
        }
        assert!(nearest > 0.95, "{nearest}");
    }

    /// The slope of the smoothed loss is its derivative, and its curvature never exceeds 1.
    #[test]
    fn the_smoothed_loss_is_twice_differentiable() {
        for cap in [0.1, 1.0, 5.0] {
            for i in -400..400 {
                let r = f64::from(i) * 0.037;
                let loss = |r: f64| cap * cap * (r / cap).cosh().ln();
                let h = 1e-5;
                let slope = (loss(r + h) - loss(r - h)) / (2.0 * h);
                if (r / cap).abs() < 300.0 {
                    assert!((slope - smooth_score(true, cap, r)).abs() < 1e-4 * (1.0 + cap));
                }
                let curvature = (smooth_score(true, cap, r + h) - smooth_score(true, cap, r - h)) / (2.0 * h);
                assert!(
                    (curvature - smooth_slope(cap, r)).abs() < 1e-4
                        && (0.0..=1.0).contains(&smooth_slope(cap, r))
                );
            }
        }
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(TwoStage::logistic(1.0, 0).is_err());
        assert!(TwoStage::logistic(0.0, 3).is_err());
        assert!(TwoStage::linear((1.0, 0.0), 1.0, 3).is_err());
        assert!(TwoStage::linear((0.0, 1.0), 1.0, 3).unwrap().residual_cap(0.0).is_err());
        assert!(TwoStage::logistic(1.0, 6).unwrap().prepare(Shape::new(5, 100), ample()).is_err());
    }
}
