//! Step 1: where the response lies.
//!
//! * Binary: the mean, shrunk towards 1/2 by its known noise. Classes: their shares, likewise.
//! * Real: a median on an even grid, a level of the distance from it that few responses exceed, then mean and mean square
//!   clipped there. The response is measured in their units from here on.
//! * Counts: a level that few exceed and the mean clipped there; the same for exposures.
//!
//! # Guarantee
//! One number per unit for every quantile: selections of sensitivity 1. Means of numbers in [-1, 1] over units are exact sums
//! ([`crate::passes::by_unit`]). With weights, a binary response's release also tells the share of units that count:
//! the points `w (y - 1/2, sqrt(3)/2)` are at most 1 apart, as without; the shares of classes add up to it.

use super::plan::{CENTRE, COUNTED, EXPOSURE, EXPOSURE_LEVEL, Plan, RESPONSE, RESPONSE_LEVEL, SEEN};
use super::{Likelihood, Regression};
use crate::central::purse::Purse;
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::passes::by_unit::{ByUnit, exact_mean, mean_sensitivity};
use crate::passes::columns::SQUARE;
use crate::passes::products::pairs;
use crate::passes::scores::{RowModel, RowScore, Scored};
use nalgebra::DMatrix;

/// The response as it is fitted, and where its predictors start.
pub(super) struct Response<'a> {
    likelihood: Likelihood,
    units: &'a ByUnit<'a>,
    /// In units of `unit` from `shift` for real responses.
    values: Vec<f64>,
    pub unit: f64,
    pub shift: f64,
    /// The number of units that count, as far as it is public or released.
    pub count: f64,
    /// The start of each linear predictor.
    pub base: Vec<f64>,
    /// The variance of the start.
    pub base_variance: f64,
    /// The mean slope of the residuals at the start, by direction.
    pub slopes: Vec<f64>,
    /// The directions among the predictors, as columns.
    pub directions: DMatrix<f64>,
    /// The largest norm of a residual at the start.
    pub worst: f64,
}

/// Of the level that it was clipped at, a positive mean is expected to be this share or more, and is at least [`LEAST_SHARE`].
const SMALL_SHARE: f64 = 0.03;
const LEAST_SHARE: f64 = 1e-6;

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
    /// How the tail falls: a level for fewer units than can be seen is extrapolated by a power of the logarithm.
    pub tail: f64,
}

impl Likelihood {
    pub(super) fn tuning(&self) -> Tuning {
        match self {
            Likelihood::Gaussian { .. } => {
                Tuning { bound: 0.0, prior: 0.09, beyond: 20.0, most: 0.3, tail: 0.5 }
            }
            Likelihood::Poisson { .. } => {
                Tuning { bound: 0.0, prior: 0.5, beyond: 10.0, most: 0.03, tail: 1.0 }
            }
            Likelihood::Logistic => Tuning { bound: 0.35, prior: 0.09, beyond: 10.0, most: 0.1, tail: 1.0 },
            Likelihood::Multinomial { .. } => {
                Tuning { bound: 0.5, prior: 0.09, beyond: 10.0, most: 0.1, tail: 1.0 }
            }
        }
    }

    /// The nearest value of the response's domain: the public rule for a value outside it.
    fn admit(&self, y: f64) -> f64 {
        match *self {
            Likelihood::Gaussian { low, high } => {
                if y.is_nan() {
                    0.5 * (low + high)
                } else {
                    y.clamp(low, high)
                }
            }
            Likelihood::Logistic => f64::from(u8::from(y >= 0.5)),
            Likelihood::Poisson { low, high } => {
                if y.is_nan() {
                    low
                } else {
                    y.clamp(low, high)
                }
            }
            Likelihood::Multinomial { classes } => {
                if y >= 0.0 && y < classes as f64 {
                    y.floor()
                } else {
                    0.0
                }
            }
        }
    }
}

/// Releases numbers of the response.
struct Locator<'a, 'p, 's> {
    plan: &'a Plan,
    units: &'a ByUnit<'a>,
    purse: &'a mut Purse<'p>,
    shares: &'s [(&'static str, super::plan::Kind, f64)],
    count: f64,
}

impl Locator<'_, '_, '_> {
    fn n(&self) -> usize {
        self.plan.shape.units
    }

    fn share(&self, what: &str) -> Option<f64> {
        self.shares.iter().find(|(name, ..)| *name == what).map(|(_, _, share)| *share)
    }

    /// The deviation of noise on a release of this sensitivity; what was planned with, where none is added.
    fn noise(&self, what: &str, sensitivity: f64) -> f64 {
        let share = self.share(what).unwrap_or(1.0);
        super::noise_of(self.plan, self.purse, what, share) * sensitivity
    }

    /// A level that few of these numbers exceed; `None` if it was not planned.
    fn level(&mut self, what: &'static str, values: &[f64], grid: Candidates) -> Result<Option<f64>> {
        let Some(share) = self.share(what) else { return Ok(None) };
        let beyond = SEEN / self.plan.mu_of(share);
        self.purse.quantile(what, values, grid, 1.0 - beyond / self.n() as f64).map(Some)
    }

    /// Means of numbers in [-1, 1], with noise, and its deviation. A unit moves all of them by at most `distance`.
    fn means(&mut self, what: &'static str, columns: &[Vec<f64>], distance: f64) -> Result<(Vec<f64>, f64)> {
        let sensitivity = mean_sensitivity(distance, columns.len(), self.n(), self.count);
        let mut means: Vec<f64> = columns.iter().map(|values| exact_mean(values, self.count)).collect();
        let noise = self.noise(what, sensitivity);
        self.purse.vector(what, &mut means, sensitivity)?;
        Ok((means, noise))
    }

    /// Sets the count from a released share of the units.
    fn set_count(&mut self, share: f64, noise: f64) {
        let n = self.n() as f64;
        self.count = n * share.clamp((2.0 * noise).max(1.0 / n).min(1.0), 1.0);
    }

    fn count_units(&mut self) -> Result<()> {
        if self.share(COUNTED).is_some() {
            let (share, noise) = self.means(COUNTED, &[self.units.counted()], 1.0)?;
            self.set_count(share[0], noise);
        }
        Ok(())
    }
}

impl<'a> Response<'a> {
    pub(super) fn release(
        model: &Regression,
        plan: &Plan,
        units: &'a ByUnit<'a>,
        purse: &mut Purse<'_>,
    ) -> Result<Self> {
        let data = units.data();
        let values: Vec<f64> = data.response().iter().map(|&y| model.likelihood.admit(y)).collect();
        let mut response = Self {
            likelihood: model.likelihood,
            units,
            values,
            unit: 1.0,
            shift: 0.0,
            count: plan.shape.units as f64,
            base: vec![0.0],
            base_variance: 0.0,
            slopes: vec![1.0],
            directions: DMatrix::identity(1, 1),
            worst: 1.0,
        };
        let shares = plan.response_shares(model);
        let mut locator = Locator { plan, units, purse, shares: &shares, count: response.count };
        locator.count_units()?;
        match model.likelihood {
            Likelihood::Logistic => response.locate_binary(&mut locator)?,
            Likelihood::Multinomial { classes } => response.locate_classes(classes, &mut locator)?,
            Likelihood::Gaussian { low, high } => {
                response.locate_real(low, high, model.intercept, &mut locator)?
            }
            Likelihood::Poisson { high, .. } => {
                response.locate_counts(high, model.intercept, &mut locator)?
            }
        }
        response.count = locator.count;
        Ok(response)
    }

    /// What makes of coefficients by direction those of each predictor; of classes, of each after the first relative to it.
    pub(super) fn contrasts(&self) -> DMatrix<f64> {
        match self.base.len() {
            1 => self.directions.clone(),
            classes => DMatrix::from_fn(classes - 1, classes - 1, |class, direction| {
                self.directions[(class + 1, direction)] - self.directions[(0, direction)]
            }),
        }
    }

    fn locate_binary(&mut self, locator: &mut Locator<'_, '_, '_>) -> Result<()> {
        let n = locator.n() as f64;
        let (mut rate, mut noise) = (0.5, 0.0);
        if locator.share(RESPONSE).is_some() {
            let signed = self.units.means(|row| self.values[row] - 0.5);
            let mut means = vec![signed];
            if locator.plan.shape.dropped {
                let height = 0.75_f64.sqrt();
                means.push(self.units.counted().iter().map(|c| c * height).collect());
                let (found, deviation) = locator.means(RESPONSE, &means, 1.0)?;
                locator.set_count(found[1] / height, deviation / height);
                noise = deviation * n / locator.count;
                rate = found[0] * n / locator.count;
            } else {
                let (found, deviation) = locator.means(RESPONSE, &means, 1.0)?;
                (rate, noise) = (found[0], deviation);
            }
            rate = 0.5 + rate * 0.09 / (0.09 + noise * noise);
            let least = (0.5 / locator.count.sqrt()).max((2.0 * noise).min(0.5)).min(0.5) / 2.0;
            rate = rate.clamp(least, 1.0 - least);
        }
        let slope = rate * (1.0 - rate);
        self.base = vec![(rate / (1.0 - rate)).ln()];
        self.base_variance = (noise / slope).powi(2);
        self.slopes = vec![slope];
        self.worst = rate.max(1.0 - rate);
        Ok(())
    }

    fn locate_classes(&mut self, classes: usize, locator: &mut Locator<'_, '_, '_>) -> Result<()> {
        let (n, k) = (locator.n() as f64, classes as f64);
        let mut shares = vec![1.0 / k; classes];
        if locator.share(RESPONSE).is_some() {
            let of_class =
                |class: usize| self.units.means(|row| f64::from(u8::from(self.values[row] == class as f64)));
            let columns: Vec<Vec<f64>> = (0..classes).map(of_class).collect();
            let (mut found, mut noise) = locator.means(RESPONSE, &columns, 2f64.sqrt())?;
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
        self.directions = DMatrix::from_fn(classes, classes - 1, |i, j| eigen.eigenvectors[(i, kept[j])]);
        self.slopes = kept.iter().map(|&j| eigen.eigenvalues[j].max(1e-12)).collect();
        let logs: Vec<f64> = shares.iter().map(|p| p.ln()).collect();
        let middle = logs.iter().sum::<f64>() / k;
        self.base = logs.iter().map(|l| l - middle).collect();
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
            let mut means = self.units.means(|row| self.values[row]);
            // Units that do not count are lowest.
            for (mean, counted) in means.iter_mut().zip(self.units.counted()) {
                *mean = if counted > 0.0 { *mean } else { f64::NEG_INFINITY };
            }
            let grid = Candidates::even(low, high, 1025)?;
            centre = locator.purse.quantile(CENTRE, &means, grid, 1.0 - 0.5 * locator.count / n)?;
            level = span;
        }
        let distances = self.units.largest(|row| (self.values[row] - centre).abs());
        let reach = if intercept { span } else { farthest };
        let grid = Candidates::positive_geometric(reach * 2f64.powi(-16), reach, 4)?;
        level = locator.level(RESPONSE_LEVEL, &distances, grid)?.unwrap_or(level);
        let clipped = |row: usize| ((self.values[row] - centre) / level).clamp(-1.0, 1.0);
        let columns = [self.units.means(clipped), self.units.means(|row| clipped(row).powi(2))];
        let (mean, square, noise) = mean_and_square(locator, &columns)?;
        let mean = if intercept { (mean * 0.1 / (0.1 + noise * noise)).clamp(-1.0, 1.0) } else { 0.0 };
        let variance = (square - mean * mean).max(noise).max(1e-4);
        self.unit = level * variance.sqrt();
        self.shift = centre + level * mean;
        let (unit, shift) = (self.unit, self.shift);
        self.values.iter_mut().for_each(|y| *y = (*y - shift) / unit);
        self.base_variance = noise * noise / variance;
        Ok(())
    }

    fn locate_counts(&mut self, high: f64, intercept: bool, locator: &mut Locator<'_, '_, '_>) -> Result<()> {
        let largest = self.units.largest(|row| self.values[row]);
        // Counts are whole: nothing lies between 0 and 1.
        let grid = Candidates::positive_geometric((0.5 * high).min(1.0), high, 4)?;
        let level = locator.level(RESPONSE_LEVEL, &largest, grid)?.unwrap_or(high);
        let (mean, noise) = positive_mean(
            locator,
            RESPONSE,
            level,
            self.units.means(|row| self.values[row].min(level) / level),
        )?;
        let (mut exposure, mut relative) = (1.0, 0.0);
        if locator.plan.shape.exposures {
            let data = self.units.data();
            let exposed = |row: usize| data.offset(row).exp().min(1.0);
            let largest = self.units.largest(exposed);
            let grid = Candidates::positive_geometric(2f64.powi(-12), 1.0, 4)?;
            let level = locator.level(EXPOSURE_LEVEL, &largest, grid)?.unwrap_or(1.0);
            let means = self.units.means(|row| exposed(row).min(level) / level);
            let (mean, noise) = positive_mean(locator, EXPOSURE, level, means)?;
            (exposure, relative) = (mean, (noise / mean).powi(2));
        }
        // Without an intercept the predictor of a row of zeros is zero.
        self.base = vec![if intercept { (mean / exposure).ln() } else { 0.0 }];
        self.base_variance = ((noise / mean).powi(2) + relative).min(1.0);
        self.slopes = vec![if intercept { mean } else { exposure }];
        Ok(())
    }
}

/// Mean and mean square of numbers in [-1, 1], released together ([`crate::passes::columns`] has the argument), and the noise
/// on the mean.
fn mean_and_square(locator: &mut Locator<'_, '_, '_>, columns: &[Vec<f64>; 2]) -> Result<(f64, f64, f64)> {
    // The rounding of the squares is multiplied too: as that of four numbers.
    let sensitivity = mean_sensitivity(2.0, 4, locator.n(), locator.count);
    let [mean, square] = columns.each_ref().map(|values| exact_mean(values, locator.count));
    let mut pair = vec![mean, SQUARE * square];
    let noise = locator.noise(RESPONSE, sensitivity);
    locator.purse.vector(RESPONSE, &mut pair, sensitivity)?;
    Ok((pair[0], pair[1] / SQUARE, noise))
}

/// A mean of numbers in [0, level], given as shares of the level: what its noise leaves of it, and the deviation.
///
/// Its posterior mean, which has the least expected deviance, under a prior of the form `1 / (mean + small)`: uniform in the logarithm
/// but for magnitudes that no level is chosen for.
fn positive_mean(
    locator: &mut Locator<'_, '_, '_>,
    what: &'static str,
    level: f64,
    shares: Vec<f64>,
) -> Result<(f64, f64)> {
    let (found, noise) = locator.means(what, &[shares], 1.0)?;
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

impl RowModel for Response<'_> {
    fn outputs(&self) -> usize {
        self.base.len()
    }

    fn own_size(&self) -> bool {
        self.likelihood.is_real()
    }

    fn directions(&self) -> usize {
        self.slopes.len()
    }

    /// Of shares p it is the sum of `p_c p_k (q_c - q_k) (q_c - q_k)'` over pairs of classes, q the rows of the directions: no term
    /// cancels another.
    fn curvature(&self, row: usize, scored: &Scored, out: &mut [f64]) -> f64 {
        let Likelihood::Multinomial { .. } = self.likelihood else {
            out[0] = scored.slope(row);
            return out[0];
        };
        let residuals = scored.residuals(row);
        let share = |class: usize| f64::from(u8::from(class as f64 == self.values[row])) - residuals[class];
        let mut trace = 0.0;
        out.fill(0.0);
        for (c, k) in pairs(residuals.len()).filter(|(c, k)| c < k) {
            let both = share(c) * share(k);
            trace += 2.0 * both;
            let apart = |a: usize| self.directions[(c, a)] - self.directions[(k, a)];
            for (out, (a, b)) in out.iter_mut().zip(pairs(self.slopes.len())) {
                *out += both * (apart(a) * apart(b));
            }
        }
        trace
    }

    fn turned(&self, row: usize, scored: &Scored, out: &mut [f64]) {
        let residuals = scored.residuals(row);
        for (out, direction) in out.iter_mut().zip(self.directions.column_iter()) {
            *out = direction.iter().zip(residuals).map(|(q, r)| q * r).sum();
        }
    }

    fn score(&self, row: usize, predictors: &[f64], residuals: &mut [f64]) -> RowScore {
        let y = self.values[row];
        match self.likelihood {
            Likelihood::Gaussian { .. } => {
                residuals[0] = finite(y - predictors[0]);
                RowScore { size: residuals[0].abs(), slope: 1.0 }
            }
            Likelihood::Logistic => {
                let u = finite(predictors[0] + self.base[0]).clamp(-40.0, 40.0);
                let p = 1.0 / (1.0 + (-u).exp());
                residuals[0] = y - p;
                RowScore { size: p.max(1.0 - p), slope: p * (1.0 - p) }
            }
            Likelihood::Poisson { .. } => {
                let u = finite(predictors[0] + self.base[0]).clamp(-30.0, 8.0);
                let mean = u.exp() * self.units.data().offset(row).exp();
                residuals[0] = y - mean;
                RowScore { size: residuals[0].abs(), slope: mean }
            }
            Likelihood::Multinomial { .. } => {
                for ((p, u), base) in residuals.iter_mut().zip(predictors).zip(&self.base) {
                    *p = finite(u + base);
                }
                let largest = residuals.iter().fold(f64::NEG_INFINITY, |m, u| m.max(*u));
                residuals.iter_mut().for_each(|u| *u = (*u - largest).exp());
                let total: f64 = residuals.iter().sum();
                let (mut squares, mut least) = (0.0, 1.0_f64);
                for p in residuals.iter_mut() {
                    *p /= total;
                    squares += *p * *p;
                    least = least.min(*p);
                }
                let worst = (1.0 - 2.0 * least + squares).max(0.0).sqrt();
                let mut own = 0.0;
                for (class, p) in residuals.iter_mut().enumerate() {
                    *p = f64::from(u8::from(class as f64 == y)) - *p;
                    own += *p * *p;
                }
                // The own norm is no larger but for rounding.
                RowScore { size: worst.max(own.sqrt()), slope: 1.0 - squares }
            }
        }
    }
}

/// Not a number, which only a predictor out of range can be, counts as zero.
fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(-1e100, 1e100) }
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
