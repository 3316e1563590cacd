//! What a fitted model says about other rows: the mean response, or the probability of each level.

use super::document::{Block, FitDocument};
use super::inference::Predicted;
use dpglm::families::multinomial::probabilities;
use dpglm::kernels;
use dpglm_io::{Encoded, Schema, UserUnits};
use serde::Serialize;

/// The predictions as JSON.
#[derive(Serialize)]
pub struct Predictions {
    schema: &'static str,
    /// The target, or its levels.
    pub columns: Vec<String>,
    /// One number for each column, row after row.
    pub rows: Vec<Vec<f64>>,
}

impl Predictions {
    /// Puts the estimates without shrinkage, and the ends of their intervals, beside the predictions.
    pub fn add_intervals(&mut self, found: &[Predicted]) {
        self.columns.extend(["estimate", "from", "to"].map(str::to_owned));
        for (row, Predicted { estimate, interval: [low, high] }) in self.rows.iter_mut().zip(found) {
            row.extend([*estimate, *low, *high]);
        }
    }
}

/// One vector of linear predictors for each block of coefficients.
pub fn linear_predictors(table: &Encoded, blocks: &[Block], schema: &Schema) -> Vec<Vec<f64>> {
    let units = UserUnits::new(table.columns.iter().map(|column| column.scaling));
    blocks
        .iter()
        .map(|Block { intercept, slopes }| {
            // Only a model with an intercept has centred columns.
            let slopes = &slopes[..slopes.len().min(table.columns.len())];
            let (stored, intercept) = units.stored(slopes, intercept.filter(|_| schema.intercept()));
            let mut out = vec![0.0; table.rows()];
            kernels::predict(&table.design, &stored, &mut out);
            let intercept = intercept.unwrap_or(0.0);
            out.iter_mut().for_each(|u| *u += intercept);
            out
        })
        .collect()
}

/// The predictions from linear predictors.
pub fn predict(fit: &FitDocument, predictors: &[Vec<f64>], exposures: Option<&[f64]>) -> Predictions {
    let levels = fit.target.levels.clone().unwrap_or_default();
    let rows = predictors.first().map_or(0, Vec::len);
    if let Some(survival) = &fit.survival {
        let later = &fit.columns[fit.features().len()..];
        let later: Vec<f64> =
            later.iter().map(|name| fit.coefficients.get(name).copied().unwrap_or(0.0)).collect();
        let until = survival.curve(0.0, &later).into_iter();
        let columns = until.map(|(time, _)| format!("survival to {time}")).collect();
        let row = |u: &f64| survival.curve(*u, &later).into_iter().map(|(_, alive)| alive).collect();
        let rows = predictors.first().map_or_else(Vec::new, |all| all.iter().map(row).collect());
        return Predictions { schema: "dpglm.predictions/1", columns, rows };
    }
    let row = |i: usize| -> Vec<f64> {
        let Some(family) = fit.family.one_predictor() else {
            let at: Vec<f64> = predictors.iter().map(|u| u[i]).collect();
            let mut p = vec![0.0; at.len() + 1];
            p[0] = probabilities(&at, &mut p[1..]);
            return p;
        };
        let offset = exposures.map_or(0.0, |e| e[i].ln());
        let u = predictors[0][i] + offset;
        if fit.family.has_levels() { vec![family.rest(u), family.mean(u)] } else { vec![family.mean(u)] }
    };
    let columns = if fit.family.has_levels() { levels } else { vec![fit.target.name.clone()] };
    Predictions { schema: "dpglm.predictions/1", columns, rows: (0..rows).map(row).collect() }
}
