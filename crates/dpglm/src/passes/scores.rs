//! A score pass: the mean of weighted scores `w r u'`, r the residuals of a row and u the row in released coordinates, and
//! the mean slope of the residuals.
//!
//! A row keeps its predictor whatever its length; its score is multiplied by `w = min(1, bound / (|u| size))`, where `size` bounds
//! its residuals: over all responses it might have had, so that weights depend on features alone, or its own. Where units have
//! several rows, all of a unit's rows are multiplied by one factor `min(1, bound / sum of |u| size)`; the rows are then read
//! twice, for the sum must be known before the first of them is weighted.
//!
//! # Guarantee
//! A unit's weighted score has Frobenius norm at most `bound`, enforced on the computed numbers: norms are rounded up, and
//! the factor is short by more than its own rounding. A replaced unit moves the mean by at most `2 bound / count`, plus, on both
//! sides, the rounding of its rows to the grid of the sums and the roundings of the map ([`RowMap`]). The slopes of a unit, times `|u|^2`, count
//! as at most `trace` in their mean; they are rounded to multiples of `2^-24 trace` and added as whole numbers: the mean moves by at
//! most `trace / count`.

use super::by_unit::{ByUnit, exact_mean};
use super::row_map::RowMap;
use crate::data::Design;
use crate::kernels::{Grid, exact_pass, fused_pass_multi, predict, rounding};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a model says of one row at given linear predictors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowScore {
    /// A bound on the l2 norm of the row's residuals.
    pub size: f64,
    /// The slope of the residuals in the predictors, its trace where there are several.
    pub slope: f64,
}

/// How rows score.
pub(crate) trait RowModel: Sync {
    /// The number of linear predictors.
    fn outputs(&self) -> usize;
    /// Writes the residuals of a row. They and the answer are finite.
    fn score(&self, row: usize, predictors: &[f64], residuals: &mut [f64]) -> RowScore;
    /// Whether the size is the residual's own: then only rows of weight 1 count in the slope.
    fn own_size(&self) -> bool;
    /// The directions among the predictors in which coefficients differ.
    fn directions(&self) -> usize;
    /// Writes the upper triangle of the slope of a scored row's residuals in these directions, a positive semi-definite matrix, and
    /// gives its trace, computed from the same numbers.
    fn curvature(&self, row: usize, scored: &Scored, out: &mut [f64]) -> f64;
    /// Writes a scored row's residuals in these directions.
    fn turned(&self, row: usize, scored: &Scored, out: &mut [f64]);
}

/// The rows of a score pass.
pub(crate) struct ScorePass<'a> {
    pub units: &'a ByUnit<'a>,
    /// The rows with entries in [-1, 1].
    pub design: &'a Design,
    pub map: &'a RowMap,
    /// Each row's norm in the coordinates of the map, rounded up.
    pub norms: &'a [f64],
    pub count: f64,
}

/// What a score pass gives, before noise.
pub(crate) struct Scores {
    /// The mean score, one vector of one entry a column for each output.
    pub gradient: Vec<f64>,
    /// The mean of `slope |u|^2`.
    pub trace: f64,
    /// Each row's slope; a unit's sum, times squared norms, is at most the bound for it.
    pub slopes: Vec<f64>,
}

/// The bounds on what one unit adds to a score pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreBounds {
    /// Of the Frobenius norm of its weighted score.
    pub score: f64,
    /// Of its slopes times squared norms, in the mean slope.
    pub trace: f64,
    /// The same, not smaller, in the slopes of rows.
    pub slopes: f64,
}

/// Rows scored at given coefficients, before weights are known.
pub(crate) struct Scored {
    residuals: Vec<f64>,
    sizes: Vec<f64>,
    slopes: Vec<f64>,
}

impl Scored {
    /// The residuals of a row.
    pub(crate) fn residuals(&self, row: usize) -> &[f64] {
        let outputs = self.residuals.len() / self.sizes.len();
        &self.residuals[row * outputs..(row + 1) * outputs]
    }

    /// The slope of a row.
    pub(crate) fn slope(&self, row: usize) -> f64 {
        self.slopes[row]
    }

    /// The same rows with other norms. Two more roundings are within the margins of the weights.
    pub(crate) fn with_norms(mut self, before: &[f64], after: &[f64]) -> Self {
        for ((size, before), after) in self.sizes.iter_mut().zip(before).zip(after) {
            *size *= after / before;
        }
        self
    }
}

/// Shorter than 1 by more than the rounding of a size, a quotient and a product.
const SHORT: f64 = 1.0 - 1e-9;
/// Shorter by the rounding of a unit's sum of as many rows as there can be, too: `2^36 2^-53 < 2^-16`.
const SHORT_SUM: f64 = 1.0 - 1.0 / 32_768.0;

impl ScorePass<'_> {
    /// What a replaced unit moves the mean score of so many outputs by.
    pub(crate) fn sensitivity(&self, bound: f64, outputs: usize) -> f64 {
        let grid = rounding(self.design) * (outputs as f64).sqrt() * self.map.grid_growth();
        let roundings = (self.map.columns() as f64 + 24.0) * f64::EPSILON * self.map.growth();
        let error = self.units.data().shape().rows_per_unit() * grid + self.units() * roundings;
        (1.0 + 1e-9 + error) * 2.0 * bound / self.count
    }

    /// The grid of sums of scores of at most this norm.
    fn grid(&self, bound: f64) -> Grid {
        Grid::of_columns(self.map.stored_bounds().into_iter().map(|stored| stored * bound))
    }

    /// What a replaced unit moves the mean slope by.
    pub(crate) fn trace_sensitivity(&self, trace: f64) -> f64 {
        trace / self.count * (1.0 + 1e-9) + 8.0 * f64::EPSILON * trace * self.units() / self.count
    }

    fn units(&self) -> f64 {
        self.units.data().units() as f64
    }

    /// One read: scores and slopes, each row its own unit. `coefficients` are those of stored columns.
    pub(crate) fn read(&self, model: &impl RowModel, coefficients: &[f64], bounds: ScoreBounds) -> Scores {
        let data = self.units.data();
        let slopes: Vec<AtomicU64> = (0..self.norms.len()).map(|_| AtomicU64::new(0)).collect();
        let allowed = bounds.score * SHORT;
        let residual = |row: usize, predictors: &[f64], out: &mut [f64]| {
            let RowScore { size, slope } = model.score(row, predictors, out);
            let (norm, weight) = (self.norms[row], data.weight(row));
            let factor = (allowed / (norm * size)).min(1.0);
            out.iter_mut().for_each(|r| *r *= weight * factor);
            let kept = if model.own_size() { f64::from(u8::from(factor >= 1.0)) } else { factor };
            let slope = (weight * kept * slope).min(bounds.slopes * SHORT / (norm * norm));
            slopes[row].store(slope.to_bits(), Ordering::Relaxed);
        };
        let grid = self.grid(bounds.score);
        let gradient = exact_pass(self.design, model.outputs(), coefficients, &grid, residual).values();
        let slopes = slopes.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect();
        self.finish(gradient, slopes, bounds.trace)
    }

    /// The first read where weights must wait: rows scored at these coefficients. At zero nothing is read.
    pub(crate) fn score(&self, model: &impl RowModel, coefficients: &[f64]) -> Scored {
        let (rows, outputs) = (self.norms.len(), model.outputs());
        let predictors = self.predictors(coefficients, outputs);
        let mut residuals = vec![0.0; rows * outputs];
        let (mut sizes, mut slopes) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let each = predictors.chunks_exact(outputs).zip(residuals.chunks_exact_mut(outputs));
        for (row, (predictors, residuals)) in each.enumerate() {
            let RowScore { size, slope } = model.score(row, predictors, residuals);
            sizes.push(self.norms[row] * size);
            slopes.push(slope);
        }
        Scored { residuals, sizes, slopes }
    }

    fn predictors(&self, coefficients: &[f64], outputs: usize) -> Vec<f64> {
        let mut predictors = vec![0.0; self.norms.len() * outputs];
        if coefficients.iter().all(|&b| b == 0.0) {
            return predictors;
        }
        if outputs == 1 {
            predict(self.design, coefficients, &mut predictors);
            return predictors;
        }
        let found: Vec<AtomicU64> = predictors.iter().map(|_| AtomicU64::new(0)).collect();
        let keep = |row: usize, predictors: &[f64], out: &mut [f64]| {
            for (k, (u, out)) in predictors.iter().zip(out).enumerate() {
                found[row * outputs + k].store(u.to_bits(), Ordering::Relaxed);
                *out = 0.0;
            }
        };
        fused_pass_multi(self.design, outputs, coefficients, keep, &mut vec![0.0; coefficients.len()]);
        found.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect()
    }

    /// The units' sizes: what the bound is compared with.
    pub(crate) fn sizes(&self, scored: &Scored) -> Vec<f64> {
        self.units.sums(|row| scored.sizes[row])
    }

    /// What each unit's scores are multiplied by so that they stay within the bound.
    pub(crate) fn factors(&self, scored: &Scored, bound: f64) -> Vec<f64> {
        let allowed = bound * SHORT_SUM;
        self.sizes(scored).iter().map(|size| (allowed / size).min(SHORT_SUM)).collect()
    }

    /// Whether a factor leaves a unit as it is.
    pub(crate) fn leaves(factor: f64) -> bool {
        factor >= SHORT_SUM
    }

    /// The second read: scores and slopes, each unit's rows weighted together.
    pub(crate) fn read_scored(&self, model: &impl RowModel, scored: &Scored, bounds: ScoreBounds) -> Scores {
        let (data, outputs) = (self.units.data(), model.outputs());
        let factors = self.factors(scored, bounds.score);
        let residual = |row: usize, _: &[f64], out: &mut [f64]| {
            let factor = data.weight(row) * factors[data.unit_of(row)];
            out.iter_mut().zip(scored.residuals(row)).for_each(|(out, r)| *out = factor * r);
        };
        let zeros = vec![0.0; outputs * self.design.columns()];
        let grid = self.grid(bounds.score);
        let gradient = exact_pass(self.design, outputs, &zeros, &grid, residual).values();
        let slope = |row: usize| {
            let factor = factors[data.unit_of(row)];
            let kept = if model.own_size() { f64::from(u8::from(factor >= SHORT_SUM)) } else { factor };
            kept * scored.slopes[row]
        };
        let traces = self.units.sums(|row| slope(row) * self.norms[row].powi(2));
        let slopes = (0..self.norms.len())
            .map(|row| {
                let share = (bounds.slopes * SHORT_SUM / traces[data.unit_of(row)]).min(1.0);
                if share > 0.0 { data.weight(row) * slope(row) * share } else { 0.0 }
            })
            .collect();
        self.finish(gradient, slopes, bounds.trace)
    }

    fn finish(&self, mut gradient: Vec<f64>, slopes: Vec<f64>, trace: f64) -> Scores {
        self.map.apply(&mut gradient);
        gradient.iter_mut().for_each(|g| *g /= self.count);
        let shares = self.units.sums(|row| slopes[row] * self.norms[row].powi(2) / trace);
        // A unit beyond the bound counts as at it.
        let trace = trace * exact_mean(&shares, self.count);
        Scores { gradient, trace, slopes }
    }
}
