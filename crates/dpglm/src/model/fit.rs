//! One fit for every regression: what was estimated, how well, and what it cost.

use super::columns::Columns;
use crate::accounting::Certificate;
use crate::central::interval::Interval;
use crate::data::UserUnits;
use crate::error::Result;
use crate::estimators::dense::{Inference, RegressionFit};
use crate::families::Family;
use std::fmt;

/// A coefficient, in the units of its column.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The column's name, or `(intercept)`.
    pub name: String,
    /// The estimate: with intervals the one they belong to, else the one that predictions use.
    pub estimate: f64,
    /// Its standard error and interval, sampling and privacy together, if asked for and the budget allows one.
    pub interval: Option<Interval>,
    /// Whether the budget determines the coefficient; false without intervals.
    pub determined: bool,
}

/// A fitted regression in the units of its columns.
#[derive(Debug, Clone)]
pub struct Fit {
    family: Family,
    columns: Columns,
    /// What predictions use: the intercept and the slopes, shrunk where noise hides them.
    prediction: (f64, Vec<f64>),
    /// The coefficients: the intercept first, if there is one.
    pub terms: Vec<Term>,
    /// The covariance of the terms' estimates, row-major, if there are intervals.
    pub covariance: Option<Vec<f64>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

impl Fit {
    pub(super) fn new(family: Family, columns: &Columns, intercept: bool, fit: RegressionFit) -> Self {
        let units = columns.user_units(intercept);
        // Of one response there is one block.
        let shrunk = fit.coefficients.concat();
        let inference = fit.inference.and_then(|blocks| blocks.into_iter().next());
        let prediction = in_units(&units, &shrunk, intercept);
        let stored = inference.as_ref().map_or(&shrunk, |found| &found.estimates);
        let (constant, slopes) = in_units(&units, stored, intercept);
        let estimates: Vec<f64> = intercept.then_some(constant).into_iter().chain(slopes).collect();
        let covariance = inference.as_ref().and_then(|found| covariance_in_units(&units, found, intercept));
        let width = inference.as_ref().map_or(0.0, width_of);
        let determined = inference.map_or_else(Vec::new, |found| found.determined);
        let names =
            intercept.then(|| "(intercept)".to_owned()).into_iter().chain(columns.names.iter().cloned());
        let d = estimates.len();
        let term = |(j, (name, &estimate)): (usize, (String, &f64))| {
            let interval = covariance.as_ref().map(|covariance| {
                let standard_error = covariance[j * d + j].sqrt();
                let (low, high) = (estimate - width * standard_error, estimate + width * standard_error);
                Interval { standard_error, low, high }
            });
            Term { name, estimate, interval, determined: determined.get(j).copied().unwrap_or(false) }
        };
        let terms = names.zip(&estimates).enumerate().map(term).collect();
        Self { family, columns: columns.clone(), prediction, terms, covariance, certificate: fit.certificate }
    }

    /// The mean response of each row: a probability, a real number, or a count.
    pub fn predict<R: AsRef<[f64]>>(&self, rows: &[R]) -> Result<Vec<f64>> {
        let (intercept, slopes) = &self.prediction;
        let mut predictors = vec![*intercept; rows.len()];
        for (k, (j, x)) in self.columns.cells(rows)?.enumerate() {
            predictors[k / slopes.len()] += slopes[j] * x;
        }
        Ok(predictors.into_iter().map(|u| self.family.mean(u)).collect())
    }
}

fn in_units(units: &UserUnits, stored: &[f64], intercept: bool) -> (f64, Vec<f64>) {
    let (constant, slopes) = stored.split_at(usize::from(intercept));
    let (slopes, constant) = units.coefficients(slopes, constant.first().copied());
    (constant.unwrap_or(0.0), slopes)
}

/// The covariance in the columns' units, the intercept first as in the design.
fn covariance_in_units(units: &UserUnits, found: &Inference, intercept: bool) -> Option<Vec<f64>> {
    let (covariance, d) = (found.covariance.as_ref()?, found.estimates.len());
    // `UserUnits` has the intercept last.
    let last = |j: usize| if intercept { (j + d - 1) % d } else { j };
    let mut turned = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            turned[last(i) * d + last(j)] = covariance[i * d + j];
        }
    }
    let turned = units.covariance(&turned, intercept)?;
    Some((0..d * d).map(|k| turned[last(k / d) * d + last(k % d)]).collect())
}

/// How many standard errors an interval reaches on each side.
fn width_of(found: &Inference) -> f64 {
    let intervals = found.intervals.iter().flatten().zip(&found.estimates);
    intervals
        .map(|(i, estimate)| (i.high - estimate) / i.standard_error)
        .find(|w| w.is_finite())
        .unwrap_or(0.0)
}

impl fmt::Display for Fit {
    /// A line per coefficient, then the promise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.terms.iter().map(|term| term.name.chars().count()).max().unwrap_or(0);
        for Term { name, estimate, interval, determined } in &self.terms {
            write!(f, "{name:width$}  {estimate:>12.5}")?;
            match interval {
                Some(Interval { standard_error, low, high }) => {
                    write!(f, "  s.e. {standard_error:.5}  [{low:.5}, {high:.5}]")?;
                    f.write_str(if *determined { "\n" } else { "  not determined\n" })?;
                }
                None => f.write_str("\n")?,
            }
        }
        write!(f, "{}", self.certificate)
    }
}
