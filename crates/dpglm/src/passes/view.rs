//! How a response is read: what has been released of it so far.

use super::products::pairs;
use crate::families::{Likelihood, RowScore};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// A response with a likelihood, in a unit, whose linear predictors start somewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResponseView {
    pub likelihood: Likelihood,
    /// Real responses are measured from here, in this unit; all others from zero, in units of 1.
    pub shift: f64,
    pub unit: f64,
    /// The start of each linear predictor.
    pub base: Vec<f64>,
    /// Sampling weights are measured in this unit: their mean, as far as it is known.
    pub weight: f64,
    /// The directions among the predictors in which coefficients differ, as columns.
    pub directions: DMatrix<f64>,
}

impl ResponseView {
    /// As it is given, of one linear predictor that starts at zero.
    pub(crate) fn new(likelihood: Likelihood) -> Self {
        Self {
            likelihood,
            shift: 0.0,
            unit: 1.0,
            base: vec![0.0],
            weight: 1.0,
            directions: DMatrix::identity(1, 1),
        }
    }

    /// The number of linear predictors.
    pub(crate) fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The number of directions.
    pub(crate) fn directions(&self) -> usize {
        self.directions.ncols()
    }

    /// A response as it is fitted.
    pub(super) fn value(&self, y: f64) -> f64 {
        (self.likelihood.admit(y) - self.shift) / self.unit
    }

    /// Writes the residuals of a row whose response is `value`, times its sampling weight.
    #[inline]
    pub(super) fn score(
        &self,
        value: f64,
        offset: f64,
        weight: f64,
        predictors: &[f64],
        residuals: &mut [f64],
    ) -> RowScore {
        let row = self.likelihood.score((value, offset), &self.base, predictors, residuals);
        if weight == self.weight {
            return row;
        }
        // A product is the same function of both sizes, which rounding does not turn round.
        let times = weight / self.weight;
        residuals.iter_mut().for_each(|r| *r *= times);
        RowScore { size: row.size * times, slope: row.slope * times }
    }

    /// Writes the upper triangle of the slope of a row's residuals by direction, a positive semi-definite matrix, and gives its trace,
    /// computed from the same numbers. Of shares p it is the sum of `p_c p_k (q_c - q_k) (q_c - q_k)'` over pairs of classes, q the rows
    /// of the directions: no term cancels another. Of a weighted row all is multiplied by its sampling weight.
    pub(super) fn curvature(
        &self,
        value: f64,
        weight: f64,
        residuals: &[f64],
        slope: f64,
        out: &mut [f64],
    ) -> f64 {
        if self.outputs() == 1 {
            out[0] = slope;
            return out[0];
        }
        let times = weight / self.weight;
        let mut trace = 0.0;
        out.fill(0.0);
        if times == 0.0 {
            return trace;
        }
        let share = |class: usize| {
            let share = f64::from(u8::from(class as f64 == value)) - residuals[class] / times;
            share.max(0.0)
        };
        for (c, k) in pairs(residuals.len()).filter(|(c, k)| c < k) {
            let both = times * share(c) * share(k);
            trace += 2.0 * both;
            let apart = |a: usize| self.directions[(c, a)] - self.directions[(k, a)];
            for (out, (a, b)) in out.iter_mut().zip(pairs(self.directions())) {
                *out += both * (apart(a) * apart(b));
            }
        }
        trace
    }

    /// Writes a row's residuals by direction.
    pub(super) fn turned(&self, residuals: &[f64], out: &mut [f64]) {
        for (out, direction) in out.iter_mut().zip(self.directions.column_iter()) {
            *out = direction.iter().zip(residuals).map(|(q, r)| q * r).sum();
        }
    }
}
