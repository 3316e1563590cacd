//! Where a descent starts, and how large a score may be.
//!
//! # Algorithm
//! * Real responses: with an intercept, the median response; the upper quartile of the absolute residuals caps the score.
//! * Binary responses: with an intercept, the logit of the mean response. Their scores are bounded by 1/2 by themselves.
//! * Counts: with an intercept, the logarithm of events per exposure; the cap grows with the root of the rate.
//!
//! With an intercept a real response with a linear mean is measured from the middle of its public bounds from there on, and the
//! intercept gets the middle back at the end: no bound on iterates, and no rounding, then depends on where zero is.
//!
//! Units whose rows all have weight zero are left out of quantiles and of the logit.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. Quantiles are of one number per unit that counts: selections of sensitivity 1, also
//! where the replaced unit begins or ceases to count ([`crate::mechanisms::quantile`]). Means are of one number per unit in
//! [0, 1], whole multiples of `2^-24` rounded down and added exactly: a unit moves each by at most `1/n`.

use super::glm::Glm;
use crate::data::Dataset;
use crate::error::Result;
use crate::families::Domain;
use crate::mechanisms::Candidates;
use crate::release::{Chosen, Handle, PlannedRelease, Privacy, ReleaseSession, Vector};
use std::borrow::Cow;

const CENTRE: Handle<Chosen> = Handle::new("response centre");
const SCALE: Handle<Chosen> = Handle::new("residual scale");
pub(super) const RATE: Handle<Vector> = Handle::new("response rate");
/// A mean of 1, as a whole number; 2^36 of them fit a 64-bit sum.
const ONE: f64 = 16_777_216.0;

/// Where to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Start {
    /// The linear predictor of every row, before exposures.
    pub base: f64,
    /// The first cap on the score.
    pub cap: f64,
}

impl Glm {
    /// Whether the response is a real number with an unknown scale.
    pub(crate) fn is_real(&self) -> bool {
        self.family.domain() == Domain::Real
    }

    /// The releases of the start, and of the scale after burn-in.
    pub(crate) fn start_planned(&self, units: usize, privacy: Privacy) -> Result<Vec<PlannedRelease>> {
        let mut plan = Vec::new();
        if self.is_real() {
            if self.intercept {
                plan.push(CENTRE.planned_quantiles(self.centres()?, 1, units, privacy));
            }
            plan.push(SCALE.planned_quantiles(self.scales()?, 2, units, privacy));
        } else if self.intercept {
            plan.push(RATE.planned(0.01, 1));
        }
        Ok(plan)
    }

    /// Releases the start.
    pub(crate) fn start(
        &self,
        data: &Dataset,
        response: &[f64],
        session: &mut ReleaseSession<'_>,
    ) -> Result<Start> {
        match self.family.domain() {
            Domain::Real => {
                let mut centre = 0.0;
                if self.intercept {
                    let responses = counted_means(data, |row| response[row]);
                    centre = session.quantile(CENTRE, &responses, self.centres()?, 0.5)?;
                }
                let cap = self.residual_scale(data, |row| response[row] - centre, session)?;
                // The inverse of a link is not always known.
                Ok(Start { base: self.family.link(centre).unwrap_or(0.0), cap })
            }
            Domain::Binary | Domain::Classes(_) => {
                let mut base = 0.0;
                if self.intercept {
                    let mut means = vec![mean_of_units(data, |row| response[row])];
                    if data.has_weights() {
                        // How many rows count is private too.
                        means.push(mean_of_units(data, |_| 1.0));
                    }
                    let released = means.len();
                    session.vector(RATE, &mut means, mean_sensitivity(data, released))?;
                    let counted = means.get(1).map_or(1.0, |share| share.max(1e-3));
                    let p = (means[0] / counted).clamp(0.02, 0.98);
                    base = self.family.link(p).unwrap_or(0.0);
                }
                Ok(Start { base, cap: 0.5 })
            }
            Domain::Count | Domain::Positive | Domain::Nonnegative => {
                let mut rate = 0.5;
                if self.intercept {
                    let events = mean_of_units(data, |row| response[row] / self.target.1);
                    let exposure = mean_of_units(data, |row| data.offset(row).exp().min(1.0));
                    let mut rates = vec![events, exposure];
                    session.vector(RATE, &mut rates, mean_sensitivity(data, 2))?;
                    rate = (rates[0] * self.target.1 / rates[1].max(1e-3)).clamp(1e-4, self.target.1);
                }
                let base = if self.intercept { self.family.link(rate).unwrap_or(0.0) } else { 0.0 };
                Ok(Start { base, cap: 0.5 + 1.5 * rate.sqrt() })
            }
        }
    }

    /// The upper quartile of the units' mean absolute residuals: a cap that keeps most of the information.
    pub(super) fn residual_scale(
        &self,
        data: &Dataset,
        residual: impl Fn(usize) -> f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<f64> {
        let sizes = counted_means(data, |row| residual(row).abs());
        session.quantile(SCALE, &sizes, self.scales()?, 0.75)
    }

    /// Where a real response's centre may lie.
    fn centres(&self) -> Result<Candidates> {
        Candidates::even(self.target.0, self.target.1, 1025)
    }

    /// How large a real response's residuals may be.
    fn scales(&self) -> Result<Candidates> {
        Candidates::positive_geometric(self.reach() * 2f64.powi(-16), self.reach(), 8)
    }

    /// The responses, those outside their domain by the public rule: the nearest value, or, for what is not a number, the middle of
    /// a real response's bounds.
    pub(crate) fn admitted(&self, data: &Dataset) -> Vec<f64> {
        let admit = |y: f64| self.family.admit_within(y, self.target);
        data.response().iter().map(|&y| admit(y)).collect()
    }

    /// Where a real response is measured from. Without an intercept, or under another link, zero stays where it is.
    pub(crate) fn middle(&self) -> f64 {
        let moves = self.family.is_linear() && self.intercept;
        if moves { self.target.0 / 2.0 + self.target.1 / 2.0 } else { 0.0 }
    }

    /// How far a real response may lie from where it is measured, or from another.
    pub(super) fn reach(&self) -> f64 {
        let (low, high) = self.target;
        if self.intercept { high - low } else { (high - low).max(low.abs()).max(high.abs()) }
    }

    /// Start and responses, measured from the middle.
    pub(super) fn measured<'a>(&self, start: Start, response: &'a [f64]) -> (Start, Cow<'a, [f64]>) {
        let middle = self.middle();
        let start = Start { base: start.base - middle, ..start };
        if middle == 0.0 {
            return (start, Cow::Borrowed(response));
        }
        (start, response.iter().map(|y| y - middle).collect())
    }
}

/// One number per unit that counts: the mean over its rows of weight above zero.
pub(crate) fn counted_means(data: &Dataset, value: impl Fn(usize) -> f64) -> Vec<f64> {
    let counts = data.sum_by_unit(|row| data.weight(row));
    let mut sums = data.sum_by_unit(|row| if data.weight(row) > 0.0 { value(row) } else { 0.0 });
    for (sum, count) in sums.iter_mut().zip(&counts) {
        *sum /= count.max(1.0);
    }
    data.counted(sums)
}

/// The mean over the units of their rows' mean of a value in [0, 1]; rows of weight zero count as zero.
fn mean_of_units(data: &Dataset, value: impl Fn(usize) -> f64) -> f64 {
    let counts = data.sum_by_unit(|_| 1.0);
    let sums = data.sum_by_unit(|row| data.weight(row) * value(row));
    let means = sums.into_iter().zip(counts).map(|(sum, count)| sum / count.max(1.0));
    let total: u64 = means.map(|m| (m.clamp(0.0, 1.0) * ONE) as u64).sum();
    total as f64 / (ONE * data.units() as f64)
}

/// What one unit moves a vector of such means by: each by 1/n, and the rounding of each on both sides.
fn mean_sensitivity(data: &Dataset, means: usize) -> f64 {
    (means as f64).sqrt() * (1.0 / data.units() as f64 + 4.0 * f64::EPSILON) * (1.0 + 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::{DpIht, LinearStatistics, NoisyIht, SelectRefine, Selection};
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::Estimator;
    use crate::release::tape::attack;

    fn privacy() -> Privacy {
        Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"))
    }

    /// `zero + 4 a - 2 b` with noise of deviation 1, a and b uniform on [-1, 1], and a column of ones.
    fn table(rows: usize, zero: f64) -> Dataset {
        let rng = &mut RandomSource::insecure_seeded(11);
        let mut uniform = || 2.0 * (rng.below(1 << 30) as f64 / f64::from(1 << 30)) - 1.0;
        let x: Vec<f64> = (0..rows).flat_map(|_| [1.0, uniform(), uniform()]).collect();
        let noise: Vec<f64> = (0..rows).map(|_| 3f64.sqrt() * uniform()).collect();
        let y = x.chunks_exact(3).zip(noise).map(|(x, e)| zero + 4.0 * x[1] - 2.0 * x[2] + e).collect();
        Dataset::new(Design::from_f64(rows, 3, x).expect("shape"), y).expect("shape")
    }

    type Fits = Vec<(&'static str, Vec<f64>)>;

    /// The coefficients that each method finds for a response within 15 of `zero`.
    fn fits(data: &Dataset, zero: f64) -> Fits {
        let target = (zero - 15.0, zero + 15.0);
        let model = Glm::new(Family::gaussian(), target).expect("valid").with_intercept();
        let rng = &mut RandomSource::insecure_seeded(7);
        let noisy = NoisyIht::new(model.clone(), 2, 1.0, Selection::Gumbel).expect("valid");
        let statistics = LinearStatistics::new(target).expect("valid").with_intercept();
        vec![
            ("gradient", model.fit(data, privacy(), rng).expect("fits").coefficients),
            ("statistics", statistics.fit(data, privacy(), rng).expect("fits").coefficients),
            ("select-refine", {
                let sparse = SelectRefine::new(model.clone(), 2).expect("valid");
                sparse.fit(data, privacy(), rng).expect("fits").coefficients(3)
            }),
            ("dp-iht", {
                let sparse = DpIht::new(model, 2).expect("valid");
                sparse.fit(data, privacy(), rng).expect("fits").coefficients(3)
            }),
            ("noisy-iht", noisy.fit(data, privacy(), rng).expect("fits").coefficients(3)),
        ]
    }

    /// Years: a response far from zero is fitted as well as one about zero.
    #[test]
    fn no_result_depends_on_where_zero_is() {
        let near = fits(&table(20_000, 0.0), 0.0);
        for zero in [2005.0, -1e6] {
            for ((name, far), (_, near)) in fits(&table(20_000, zero), zero).iter().zip(&near) {
                let moved: Vec<f64> = far.iter().zip([zero, 0.0, 0.0]).map(|(b, z)| b - z).collect();
                let wanted = if *name == "noisy-iht" { [0.0, near[1], near[2]] } else { [0.0, 4.0, -2.0] };
                for (found, wanted) in moved.iter().zip(wanted) {
                    assert!((found - wanted).abs() < 0.35, "{name} about {zero}: {far:?}, about 0: {near:?}");
                }
            }
        }
    }

    /// Three quarters of the rows are dropped, their cells filled in with the ends of their bounds: they set neither the size of a
    /// row nor the scale of residuals.
    #[test]
    fn rows_that_were_dropped_set_no_scale() {
        let (rows, zero) = (40_000, 2005.0);
        let whole = table(rows, zero);
        let counts = |row: usize| row.is_multiple_of(4);
        let entries = (0..rows).flat_map(|row| {
            let fill = move |(j, x): (usize, f64)| if j == 0 || counts(row) { x } else { 1.0 };
            whole.design().row(row).enumerate().map(fill)
        });
        let design = Design::from_f64(rows, 3, entries.collect()).expect("shape");
        let response = (0..rows).map(|row| if counts(row) { whole.response()[row] } else { 1990.0 });
        let weights = (0..rows).map(|row| f64::from(u8::from(counts(row)))).collect();
        let data = Dataset::new(design, response.collect()).and_then(|d| d.with_weights(weights));
        for (name, found) in fits(&data.expect("shape"), zero) {
            // The steps of hard thresholding are planned for gradients of all rows, and come a part of the way.
            let near = if name.ends_with("iht") { 3.9 } else { 0.5 };
            for (found, wanted) in found.iter().zip([zero, 4.0, -2.0]) {
                assert!((found - wanted).abs() < near, "{name}: {found:?}");
            }
        }
    }

    /// A row that is replaced, begins or ceases to count moves no release by more than claimed.
    #[test]
    fn rows_that_may_not_count_withstand_neighbours() {
        let (rows, columns) = (24, 3);
        let rng = &mut RandomSource::insecure_seeded(23);
        let mut worst = (0.0, String::new());
        for case in 0..300 {
            let mut uniform = || rng.below(1 << 30) as f64 / f64::from(1 << 30);
            let mut x: Vec<f64> = (0..rows * columns).map(|_| 3.0 * uniform() - 1.5).collect();
            x.iter_mut().step_by(columns).for_each(|x| *x = 1.0);
            let mut y: Vec<f64> = (0..rows).map(|_| uniform().round()).collect();
            let mut weights: Vec<f64> = (0..rows).map(|_| uniform().round()).collect();
            let table = |x: &[f64], y: &[f64], weights: &[f64]| {
                let design = Design::from_f64(rows, columns, x.to_vec()).expect("shape");
                Dataset::new(design, y.to_vec())
                    .and_then(|d| d.with_weights(weights.to_vec()))
                    .expect("shape")
            };
            let left = table(&x, &y, &weights);
            (x[1], x[2], y[0], weights[0]) = (-x[1], 1e9 * uniform(), 1.0 - y[0], uniform().round());
            let pair = [left, table(&x, &y, &weights)];
            let family = [Family::logistic(), Family::gaussian(), Family::poisson()][case % 3].clone();
            let model = Glm::new(family, (0.0, 1.0)).expect("valid").with_intercept();
            let prepared = model.prepare(pair[0].shape(), privacy()).expect("valid");
            let tape = attack(|side| {
                let rng = &mut RandomSource::insecure_seeded(case as u64);
                prepared.fit(&pair[usize::from(side)], rng).expect("fits");
            });
            worst = if tape.worst.0 > worst.0 { tape.worst } else { worst };
        }
        assert!(worst.0 <= 1.0 && worst.0 > 0.5, "{} moved by {} of its claim", worst.1, worst.0);
    }
}
