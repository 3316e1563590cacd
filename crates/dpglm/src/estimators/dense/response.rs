//! Step 1: where the response lies.
//!
//! * Binary: the mean, shrunk towards 1/2 by its known noise. Classes: their shares, likewise.
//! * Real: a median on an even grid, a level of the distance from it that few responses exceed, then mean and mean square
//!   clipped there. The response is measured in their units from here on.
//! * Counts and amounts: a level that few exceed and the mean clipped there; the same for exposures.
//! * Sampling weights: likewise. They are measured in units of their mean from here on, so that scores are of the size that they are
//!   without weights; no estimate depends on it.
//!
//! # Guarantee
//! One number per unit for every quantile: selections of sensitivity 1. Means of numbers in [-1, 1] over units are exact sums
//! ([`crate::passes::by_unit`]). With weights, a binary response's release also tells the share of units that count:
//! the points `w (y - 1/2, sqrt(3)/2)` are at most 1 apart, as without; the shares of classes add up to it.

use super::Regression;
use super::plan::{
    CENTRE, COUNTED, DISPERSION, DISPERSION_LEVEL, EXPOSURE, EXPOSURE_LEVEL, Plan, RESPONSE, RESPONSE_LEVEL,
    SEEN, WEIGHT, WEIGHT_LEVEL,
};
use crate::error::Result;
use crate::families::Domain;
use crate::mechanisms::Candidates;
use crate::passes::by_unit::{exact_mean, mean_sensitivity};
use crate::passes::columns::SQUARE;
use crate::passes::{Absent, At, Form, Number, OfUnit, ResponseView, Rows};
use crate::release::{Chosen, Handle, PlannedRelease, ReleaseSession, Vector};
use nalgebra::DMatrix;

/// The response as it is fitted, and where its predictors start.
pub(super) struct Response {
    pub view: ResponseView,
    /// The number of units that count, as far as it is public or released.
    pub count: f64,
    /// The variance of the start.
    pub base_variance: f64,
    /// The mean slope of the residuals at the start, by direction.
    pub slopes: Vec<f64>,
    /// The largest norm of a residual at the start.
    pub worst: f64,
}

/// Of the level that it was clipped at, a positive mean is expected to be this share or more, and is at least [`LEAST_SHARE`].
const SMALL_SHARE: f64 = 0.03;
const LEAST_SHARE: f64 = 1e-6;

/// The least share of the largest amount that a level is looked for at.
const SMALL_AMOUNT: f64 = 1.0 / 1_048_576.0;

/// Levels of what is measured in units of its largest value.
fn of_one() -> Result<Candidates> {
    Candidates::positive_geometric(2f64.powi(-12), 1.0, 4)
}

/// Dispersions: the noise, relative to the level that few squares exceed, up to which a farther level is taken, and how much farther at most.
const LEAST_NOISE: f64 = 0.01;
const FARTHEST: f64 = 6.0;

/// The numbers that a likelihood is tuned with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// The score bound in units of the root of the effective number of columns.
    pub bound: f64,
    /// The prior variance of the intercept.
    pub prior: f64,
    /// How many units may exceed the bound on scores, in units of `sqrt(D) / mu`, and which share of all at most.
    pub beyond: f64,
    pub most: f64,
    /// The largest score that a level may have, in doublings of a typical one's: amounts have long tails.
    pub octaves: i32,
    /// How the tail falls: a level for fewer units than can be seen is extrapolated by a power of the logarithm.
    pub tail: f64,
}

impl Tuning {
    /// Of each kind of response: what the engine does with a family depends on its domain alone.
    pub(super) fn of(domain: Domain) -> Tuning {
        match domain {
            Domain::Real => {
                Tuning { bound: 0.0, prior: 0.09, beyond: 20.0, most: 0.3, octaves: 8, tail: 0.5 }
            }
            Domain::Count => {
                Tuning { bound: 0.0, prior: 0.5, beyond: 10.0, most: 0.03, octaves: 8, tail: 1.0 }
            }
            Domain::Positive | Domain::Nonnegative => {
                Tuning { bound: 0.0, prior: 0.5, beyond: 10.0, most: 0.03, octaves: 22, tail: 1.0 }
            }
            Domain::Binary => {
                Tuning { bound: 0.35, prior: 0.09, beyond: 10.0, most: 0.1, octaves: 8, tail: 1.0 }
            }
            Domain::Classes(_) => {
                Tuning { bound: 0.5, prior: 0.09, beyond: 10.0, most: 0.1, octaves: 8, tail: 1.0 }
            }
        }
    }
}

/// Releases numbers of the response.
struct Locator<'a, 'p, 's> {
    plan: &'a Plan,
    rows: &'a dyn Rows,
    session: &'a mut ReleaseSession<'p>,
    lines: &'s [PlannedRelease],
    count: f64,
}

impl Locator<'_, '_, '_> {
    fn n(&self) -> usize {
        self.plan.shape.units
    }

    fn share<K>(&self, what: Handle<K>) -> Option<f64> {
        self.lines.iter().find(|line| line.is(what)).map(|line| line.share)
    }

    /// The deviation of noise on a release of this sensitivity; what was planned with, where none is added.
    fn noise(&self, what: Handle<Vector>, sensitivity: f64) -> f64 {
        let share = self.share(what).unwrap_or(1.0);
        super::noise_of(self.plan, self.session, what, share) * sensitivity
    }

    /// A level that few units' largest numbers exceed; `None` if it was not planned.
    fn level(&mut self, what: Handle<Chosen>, number: Number, grid: Candidates) -> Result<Option<f64>> {
        let Some(share) = self.share(what) else { return Ok(None) };
        let beyond = SEEN / self.plan.mu_of(share);
        let (tally, _) = self.rows.tally(number, OfUnit::Largest, Absent::Zero, grid)?;
        self.session.quantile_of(what, &tally, 1.0 - beyond / self.n() as f64).map(Some)
    }

    /// Means of numbers in [-1, 1], with noise, and its deviation. A unit moves all of them by at most `distance`.
    fn means(
        &mut self,
        what: Handle<Vector>,
        numbers: Vec<Number>,
        distance: f64,
    ) -> Result<(Vec<f64>, f64)> {
        let sensitivity = mean_sensitivity(distance, numbers.len(), self.n(), self.count);
        let sums = self.rows.sums(numbers)?;
        let mut means: Vec<f64> = sums.into_iter().map(|sum| exact_mean(sum, self.count)).collect();
        let noise = self.noise(what, sensitivity);
        self.session.vector(what, &mut means, sensitivity)?;
        Ok((means, noise))
    }

    /// Sets the count from a released share of the units.
    fn set_count(&mut self, share: f64, noise: f64) {
        let n = self.n() as f64;
        self.count = n * share.clamp((2.0 * noise).max(1.0 / n).min(1.0), 1.0);
    }

    fn count_units(&mut self) -> Result<()> {
        if self.share(COUNTED).is_some() {
            let (share, noise) = self.means(COUNTED, vec![Number::Counted(1.0)], 1.0)?;
            self.set_count(share[0], noise);
        }
        Ok(())
    }
}

impl Response {
    pub(super) fn release(
        model: &Regression,
        plan: &Plan,
        rows: &dyn Rows,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Self> {
        let mut response = Self {
            view: ResponseView::new(model.likelihood.clone()),
            count: plan.shape.units as f64,
            base_variance: 0.0,
            slopes: vec![1.0],
            worst: 1.0,
        };
        let lines = plan.response_lines(model);
        let mut locator = Locator { plan, rows, session, lines: &lines, count: response.count };
        locator.count_units()?;
        let (low, high) = model.likelihood.bounds();
        match model.likelihood.domain() {
            Domain::Binary => response.locate_binary(&mut locator)?,
            Domain::Classes(classes) => response.locate_classes(classes, &mut locator)?,
            Domain::Real => response.locate_real(low, high, model.intercept, &mut locator)?,
            domain @ (Domain::Count | Domain::Positive | Domain::Nonnegative) => {
                // Counts are whole: nothing lies between 0 and 1.
                let least = if domain == Domain::Count { (0.5 * high).min(1.0) } else { high * SMALL_AMOUNT };
                response.locate_amounts((least, high), model.intercept, &mut locator)?;
            }
        }
        if plan.shape.weighted {
            let level =
                locator.level(WEIGHT_LEVEL, Number::SampleWeight { level: 1.0 }, of_one()?)?.unwrap_or(1.0);
            response.view.weight =
                positive_mean(&mut locator, WEIGHT, level, Number::SampleWeight { level })?.0;
        }
        response.count = locator.count;
        Ok(response)
    }

    /// Step 8: the dispersion at these coefficients of stored columns, in the units of the target.
    pub(super) fn dispersion(
        &self,
        plan: &Plan,
        rows: &dyn Rows,
        stored: &[f64],
        session: &mut ReleaseSession<'_>,
    ) -> Result<f64> {
        let lines = plan.dispersion_lines();
        let mut locator = Locator { plan, rows, session, lines: &lines, count: self.count };
        let (low, high) = self.view.likelihood.bounds();
        // No row of a usual mean is farther away.
        let span = (high - low) / self.view.unit;
        let usual = self
            .view
            .likelihood
            .family()
            .map_or(1.0, |family| family.variance(family.mean(self.view.base[0])));
        let top = (span * span / usual.max(1e-100)).clamp(1e-60, 1e90);
        let grid = Candidates::positive_geometric(2f64.powi(-48), 1.0, 4)?;
        let pearson = |level: f64| Number::Pearson { at: self.at(stored), level };
        // Squares have long tails: beyond the level that can be seen lies much of their mean. So they are clipped as far out as noise allows.
        let room = LEAST_NOISE * plan.shape.units as f64 * plan.mu_of(0.7 * plan.dispersion);
        let seen = locator.level(DISPERSION_LEVEL, pearson(top), grid)?.unwrap_or(1.0);
        let level = top * (seen * room.clamp(1.0, FARTHEST)).min(1.0);
        let (mean, _) = positive_mean(&mut locator, DISPERSION, level, pearson(level))?;
        let free = (self.count - plan.shape.columns as f64).max(1.0);
        Ok(mean * self.view.unit * self.view.unit * self.count / free)
    }

    /// Rows scored at these coefficients of stored columns.
    pub(super) fn at(&self, coefficients: &[f64]) -> At {
        At { view: self.view.clone(), coefficients: coefficients.to_vec() }
    }

    /// The response's distance from a centre in a unit.
    fn distance(&self, centre: f64, unit: f64, form: Form) -> Number {
        Number::Response { likelihood: self.view.likelihood.clone(), centre, unit, form }
    }

    /// What makes of coefficients by direction those of each predictor; of classes, of each after the first relative to it.
    pub(super) fn contrasts(&self) -> DMatrix<f64> {
        let directions = &self.view.directions;
        match self.view.outputs() {
            1 => directions.clone(),
            classes => DMatrix::from_fn(classes - 1, classes - 1, |class, direction| {
                directions[(class + 1, direction)] - directions[(0, direction)]
            }),
        }
    }

    /// Starts where rows of such an exposure have this mean, or at zero; gives the slope of the mean there, and the size of a score.
    fn start_at(&mut self, mean: Option<f64>, exposure: f64) -> (f64, f64) {
        let likelihood = &self.view.likelihood;
        let base = mean.map_or(0.0, |mean| likelihood.link(mean / exposure));
        let score = likelihood.score((0.0, exposure.ln()), &[base], &[0.0], &mut [0.0]);
        let slope = exposure * likelihood.mean_slope(base);
        self.view.base = vec![base];
        self.slopes = vec![score.slope];
        (slope, score.size)
    }

    fn locate_binary(&mut self, locator: &mut Locator<'_, '_, '_>) -> Result<()> {
        let n = locator.n() as f64;
        let (mut rate, mut noise) = (0.5, 0.0);
        if locator.share(RESPONSE).is_some() {
            let mut means = vec![self.distance(0.5, 1.0, Form::Signed)];
            if locator.plan.shape.dropped {
                let height = 0.75_f64.sqrt();
                means.push(Number::Counted(height));
                let (found, deviation) = locator.means(RESPONSE, means, 1.0)?;
                locator.set_count(found[1] / height, deviation / height);
                noise = deviation * n / locator.count;
                rate = found[0] * n / locator.count;
            } else {
                let (found, deviation) = locator.means(RESPONSE, means, 1.0)?;
                (rate, noise) = (found[0], deviation);
            }
            rate = 0.5 + rate * 0.09 / (0.09 + noise * noise);
            let least = (0.5 / locator.count.sqrt()).max((2.0 * noise).min(0.5)).min(0.5) / 2.0;
            rate = rate.clamp(least, 1.0 - least);
        }
        let (slope, worst) = self.start_at(Some(rate), 1.0);
        self.base_variance = (noise / slope).powi(2);
        self.worst = worst;
        Ok(())
    }

    fn locate_classes(&mut self, classes: usize, locator: &mut Locator<'_, '_, '_>) -> Result<()> {
        let (n, k) = (locator.n() as f64, classes as f64);
        let mut shares = vec![1.0 / k; classes];
        if locator.share(RESPONSE).is_some() {
            let of_class = |class: usize| Number::Class { likelihood: self.view.likelihood.clone(), class };
            let (mut found, mut noise) =
                locator.means(RESPONSE, (0..classes).map(of_class).collect(), 2f64.sqrt())?;
            if locator.plan.shape.dropped {
                locator.set_count(found.iter().sum(), noise * k.sqrt());
                found.iter_mut().for_each(|p| *p *= n / locator.count);
                noise *= n / locator.count;
            }
            let least = (0.5 / locator.count.sqrt()).max((2.0 * noise).min(0.5 / k)) / 2.0;
            let keep = 0.09 / (0.09 + noise * noise);
            shares = found.iter().map(|p| (1.0 / k + (p - 1.0 / k) * keep).max(least)).collect();
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|p| *p /= total);
        }
        let covariance = DMatrix::from_fn(classes, classes, |i, j| {
            if i == j { shares[i] * (1.0 - shares[i]) } else { -shares[i] * shares[j] }
        });
        let eigen = covariance.symmetric_eigen();
        let mut order: Vec<usize> = (0..classes).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        // All but the direction in which all predictors move together.
        let kept = &order[1..];
        self.view.directions =
            DMatrix::from_fn(classes, classes - 1, |i, j| eigen.eigenvectors[(i, kept[j])]);
        self.slopes = kept.iter().map(|&j| eigen.eigenvalues[j].max(1e-12)).collect();
        let logs: Vec<f64> = shares.iter().map(|p| p.ln()).collect();
        let middle = logs.iter().sum::<f64>() / k;
        self.view.base = logs.iter().map(|l| l - middle).collect();
        self.base_variance = 0.05;
        let least = shares.iter().fold(1.0_f64, |m, p| m.min(*p));
        self.worst = (1.0 - 2.0 * least + shares.iter().map(|p| p * p).sum::<f64>()).max(0.0).sqrt();
        Ok(())
    }

    fn locate_real(
        &mut self,
        low: f64,
        high: f64,
        intercept: bool,
        locator: &mut Locator<'_, '_, '_>,
    ) -> Result<()> {
        let (n, span) = (locator.n() as f64, high - low);
        let middle = if intercept { 0.5 * (low + high) } else { 0.0 };
        let farthest = if intercept { 0.5 * span } else { low.abs().max(high.abs()) };
        let (mut centre, mut level) = (middle, farthest);
        if locator.share(CENTRE).is_some() {
            let grid = Candidates::even(low, high, 1025)?;
            let number = Number::response(self.view.likelihood.clone());
            let (tally, _) = locator.rows.tally(number, OfUnit::Mean, Absent::Lowest, grid)?;
            centre = locator.session.quantile_of(CENTRE, &tally, 1.0 - 0.5 * locator.count / n)?;
            level = span;
        }
        let reach = if intercept { span } else { farthest };
        let grid = Candidates::positive_geometric(reach * 2f64.powi(-16), reach, 4)?;
        let distances = self.distance(centre, 1.0, Form::Absolute);
        level = locator.level(RESPONSE_LEVEL, distances, grid)?.unwrap_or(level);
        let numbers = [Form::Clipped, Form::ClippedSquare].map(|form| self.distance(centre, level, form));
        let (mean, square, noise) = mean_and_square(locator, numbers)?;
        let mean = if intercept { (mean * 0.1 / (0.1 + noise * noise)).clamp(-1.0, 1.0) } else { 0.0 };
        let variance = (square - mean * mean).max(noise).max(1e-4);
        self.view.unit = level * variance.sqrt();
        self.view.shift = centre + level * mean;
        self.base_variance = noise * noise / variance;
        Ok(())
    }

    fn locate_amounts(
        &mut self,
        (least, high): (f64, f64),
        intercept: bool,
        locator: &mut Locator<'_, '_, '_>,
    ) -> Result<()> {
        let grid = Candidates::positive_geometric(least, high, 4)?;
        let number = Number::response(self.view.likelihood.clone());
        let level = locator.level(RESPONSE_LEVEL, number, grid)?.unwrap_or(high);
        let (mean, noise) =
            positive_mean(locator, RESPONSE, level, self.distance(0.0, level, Form::Clipped))?;
        let (mut exposure, mut relative) = (1.0, 0.0);
        if locator.plan.shape.exposures {
            let number = Number::Exposure { level: 1.0 };
            let level = locator.level(EXPOSURE_LEVEL, number, of_one()?)?.unwrap_or(1.0);
            let (mean, noise) = positive_mean(locator, EXPOSURE, level, Number::Exposure { level })?;
            (exposure, relative) = (mean, (noise / mean).powi(2));
        }
        // Without an intercept the predictor of a row of zeros is zero.
        let (slope, _) = self.start_at(intercept.then_some(mean), exposure);
        self.base_variance = ((noise / slope).powi(2) + relative).min(1.0);
        Ok(())
    }
}

/// Mean and mean square of numbers in [-1, 1], released together ([`crate::passes::columns`] has the argument), and the noise
/// on the mean.
fn mean_and_square(locator: &mut Locator<'_, '_, '_>, numbers: [Number; 2]) -> Result<(f64, f64, f64)> {
    // The rounding of the squares is multiplied too: as that of four numbers.
    let sensitivity = mean_sensitivity(2.0, 4, locator.n(), locator.count);
    let sums = locator.rows.sums(numbers.to_vec())?;
    let means = sums.into_iter().map(|sum| exact_mean(sum, locator.count));
    let mut pair: Vec<f64> = means.zip([1.0, SQUARE]).map(|(mean, factor)| factor * mean).collect();
    let noise = locator.noise(RESPONSE, sensitivity);
    locator.session.vector(RESPONSE, &mut pair, sensitivity)?;
    Ok((pair[0], pair[1] / SQUARE, noise))
}

/// A mean of numbers in [0, level], given as a share of the level: what its noise leaves of it, and the deviation.
///
/// Its posterior mean, which has the least expected deviance, under a prior of the form `1 / (mean + small)`: uniform in the logarithm
/// but for magnitudes that no level is chosen for.
fn positive_mean(
    locator: &mut Locator<'_, '_, '_>,
    what: Handle<Vector>,
    level: f64,
    share: Number,
) -> Result<(f64, f64)> {
    let (found, noise) = locator.means(what, vec![share], 1.0)?;
    let (mean, deviation) = posterior_of_positive(found[0], noise);
    Ok((level * mean, level * deviation))
}

/// Posterior mean and deviation of a number in (0, 1], given what normal noise left of it.
fn posterior_of_positive(found: f64, noise: f64) -> (f64, f64) {
    const POINTS: usize = 256;
    let noise = noise.max(1e-12);
    let low = (found - 6.0 * noise).clamp(LEAST_SHARE, 1.0 - 1e-9);
    let high = (found + 6.0 * noise).max(noise).clamp(low * (1.0 + 1e-9), 1.0);
    let ratio = (high / low).ln() / (POINTS - 1) as f64;
    let points: Vec<f64> = (0..POINTS).map(|i| low * (ratio * i as f64).exp()).collect();
    let nearest = points.iter().fold(f64::INFINITY, |near, m| near.min((m - found).abs()));
    // Relative to the likeliest, so that something is left of a far tail.
    let likelihood = |m: f64| (0.5 * (nearest * nearest - (m - found).powi(2)) / (noise * noise)).exp();
    let weight = |m: f64| m / (m + SMALL_SHARE) * likelihood(m);
    let total: f64 = points.iter().map(|&m| weight(m)).sum();
    let mean = points.iter().map(|&m| weight(m) * m).sum::<f64>() / total;
    let variance = points.iter().map(|&m| weight(m) * (m - mean).powi(2)).sum::<f64>() / total;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_mean_stays_positive_and_clear_ones_stay_as_they_are() {
        for found in [0.002, 0.1, 0.9] {
            let (mean, deviation) = posterior_of_positive(found, 1e-4 * found);
            assert!(
                (mean / found - 1.0).abs() < 1e-3 && (deviation / (1e-4 * found) - 1.0).abs() < 0.1,
                "{mean}"
            );
        }
        // Hidden by its noise: small against the noise, and no more known than that.
        for found in [-0.5, -0.05, 0.0, 0.05] {
            let (mean, deviation) = posterior_of_positive(found, 0.05);
            assert!(mean > 0.0 && mean < 0.06 && deviation > 0.2 * mean, "{found}: {mean} {deviation}");
        }
        // Whatever was released, however far out.
        for (found, noise) in [(1e9, 1e-3), (-1e9, 1e-3), (0.5, 0.0), (2.0, 1e9)] {
            let (mean, deviation) = posterior_of_positive(found, noise);
            assert!(mean > 0.0 && mean <= 1.0 && deviation.is_finite(), "{found}: {mean} {deviation}");
        }
    }
}
