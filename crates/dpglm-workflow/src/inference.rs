//! What follows from a fitted model without another look at the rows: tests, ratios, contrasts, intervals that hold together, predictions
//! with intervals, effects at public values, and two models beside each other.
//!
//! # Why private
//! All of it is computed from an artefact, whose every number is public or was paid for, and from what the caller says; nothing here can
//! read a row of the table that was fitted. So it costs nothing, and may be done as often as one likes.
//!
//! # What it rests on
//! Estimates without shrinkage are close to normal about what they estimate, with the covariance that the artefact holds, of sampling and
//! privacy noise together. A coefficient that is not determined keeps the wide interval it has.

mod compare;
mod contrasts;
mod effects;
mod meaning;
mod simultaneous;
mod summary;

pub use compare::{Comparison, compare};
pub use contrasts::Contrast;
pub use effects::{Average, Effects, Predicted, average, predict_with_intervals};
pub use simultaneous::{Simultaneous, Together};
pub use summary::{JointTest, Line, Request, Summary, summarize};

use super::document::FitDocument;
use super::failure::Failure;
use super::model::{Family, INTERCEPT, coefficient_of_class};
use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

/// The estimates of one linear predictor.
pub(crate) struct Block {
    /// The class that it is about, of several.
    pub class: Option<String>,
    pub names: Vec<String>,
    /// The place of each coefficient among the features; `None` for the intercept.
    pub features: Vec<Option<usize>>,
    pub estimates: DVector<f64>,
    pub errors: Vec<f64>,
    pub determined: Vec<bool>,
    /// Of the estimates, where the artefact holds it.
    pub covariance: Option<DMatrix<f64>>,
}

/// The estimates of every linear predictor; refuses a fit without standard errors.
pub(crate) fn blocks(fit: &FitDocument) -> Result<Vec<Block>, Failure> {
    let Some(errors) = &fit.standard_errors else {
        return Err(Failure::Failed(
            "the model has no standard errors: fit it with intervals, which the same budget pays for".into(),
        ));
    };
    let estimates = fit.estimates.as_ref().unwrap_or(&fit.coefficients);
    let levels = fit.target.levels.as_deref().unwrap_or_default();
    let several = fit.family == Family::Multinomial;
    let classes: Vec<usize> = if several { (1..levels.len()).collect() } else { vec![0] };
    let chosen: Vec<usize> = match &fit.support {
        None => (0..fit.columns.len()).collect(),
        Some(support) => {
            let place = |name: &String| fit.columns.iter().position(|column| column == name);
            support.iter().filter_map(place).collect()
        }
    };
    let features: Vec<Option<usize>> =
        fit.intercept.then_some(None).into_iter().chain(chosen.into_iter().map(Some)).collect();
    let damaged = || Failure::Failed("not a valid artefact: its estimates do not go together".into());
    let block = |(k, class): (usize, &usize)| -> Result<Block, Failure> {
        let name = |feature: &Option<usize>| {
            let plain = feature.map_or(INTERCEPT, |j| fit.columns[j].as_str());
            if several { coefficient_of_class(levels, *class, plain) } else { plain.to_owned() }
        };
        let names: Vec<String> = features.iter().map(name).collect();
        let pick = |all: &indexmap::IndexMap<String, f64>| -> Option<Vec<f64>> {
            names.iter().map(|name| all.get(name).copied()).collect()
        };
        let is =
            |name: &String| fit.determined.as_ref().and_then(|all| all.get(name)).copied().unwrap_or(true);
        let covariance = match fit.covariance.as_ref().and_then(|blocks| blocks.get(k)) {
            None => None,
            Some(rows) => {
                let whole =
                    rows.len() == names.len() && rows.iter().enumerate().all(|(i, row)| row.len() == i + 1);
                if !whole {
                    return Err(damaged());
                }
                Some(DMatrix::from_fn(rows.len(), rows.len(), |i, j| rows[i.max(j)][i.min(j)]))
            }
        };
        Ok(Block {
            class: several.then(|| levels.get(*class).cloned()).flatten(),
            features: features.clone(),
            estimates: pick(estimates).ok_or_else(damaged)?.into(),
            errors: pick(errors).ok_or_else(damaged)?,
            determined: names.iter().map(is).collect(),
            names,
            covariance,
        })
    };
    classes.iter().enumerate().map(block).collect()
}

impl Block {
    /// The covariance, or why there is none.
    fn covariance(&self) -> Result<&DMatrix<f64>, Failure> {
        self.covariance.as_ref().ok_or_else(|| {
            Failure::Failed(
                format!(
                    "the artefact has no covariance of its {} estimates, which this needs: fit again (of more than {} coefficients it \
                     is not kept)",
                    self.names.len(),
                    super::model::MOST_COVARIANCES
                )
                .into(),
            )
        })
    }

    /// A combination of the coefficients and its standard error.
    fn combined(&self, weights: &DVector<f64>) -> Result<(f64, f64), Failure> {
        let variance = weights.dot(&(self.covariance()? * weights));
        Ok((weights.dot(&self.estimates), variance.max(0.0).sqrt()))
    }
}

/// How many standard errors an interval of this level reaches to either side.
pub(crate) fn reach(level: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + 0.5 * level)
}

/// The probability of a normal deviate at least as far out.
pub(crate) fn p_value(z: f64) -> f64 {
    2.0 * Normal::standard().sf(z.abs())
}

/// A level of confidence, checked; by default the fit's own.
pub(crate) fn level_of(asked: Option<f64>, fit: &FitDocument) -> Result<f64, Failure> {
    let level = asked.or(fit.level).unwrap_or(0.95);
    if level > 0.0 && level < 1.0 {
        return Ok(level);
    }
    Err(Failure::Usage(format!("a level lies between 0 and 1, got {level}: write it like 0.95").into()))
}

/// What an exponential of a coefficient is a ratio of; `None` where it is no ratio.
pub fn ratio_of(fit: &FitDocument) -> Option<&'static str> {
    if fit.survival.is_some() {
        return Some("hazard ratio");
    }
    let Some(single) = fit.family.one_predictor() else { return Some("odds ratio") };
    let follows = |mean: fn(f64) -> f64| {
        [-2.0, -0.5, 0.3, 1.5].iter().all(|&u| (single.mean(u) / mean(u) - 1.0).abs() < 1e-9)
    };
    if follows(f64::exp) {
        Some(if fit.family.takes_exposures() { "rate ratio" } else { "ratio of means" })
    } else if follows(|u| 1.0 / (1.0 + (-u).exp())) {
        Some("odds ratio")
    } else if follows(|u| -(-u.exp()).exp_m1()) {
        // Of an event within a period: its hazard is multiplied in all of it.
        Some("hazard ratio")
    } else {
        None
    }
}
