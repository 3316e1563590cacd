//! Audits of the estimators: whole fits on two neighbouring tables, with the coefficients as statistics.
//!
//! The tables are balanced so that the solution is zero, where one row's score has its full size with either response; in
//! the neighbour that row's response is flipped, or the whole row is huge. The largest share of the budget goes into the
//! gradients, so the coefficients carry most of what a fit gives away.

use super::{AuditCase, Run, Subject};
use crate::central::{Glm, LinearStatistics, Multinomial, Prepared, Privacy, PrivateMean};
use crate::data::{Dataset, Design, Shape};
use crate::error::Result;
use crate::estimators::dense::{Likelihood, Regression};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event};
use std::rc::Rc;

const ROWS: usize = 200;
/// The weakened twins' noise. The coefficients show a part of what a fit releases only, so noise cut by half would need
/// many more runs to show.
const WEAK: f64 = 0.15;

/// Large enough that a few hundred fits tell the noise from half of it.
fn budget() -> Result<Privacy> {
    Ok(Privacy::Budget(Budget::new(8.0, 1e-3)?))
}

/// Fits a table and gives the coefficients; prepared once.
type FitTable = Rc<dyn Fn(&Dataset, &mut RandomSource) -> Result<Vec<f64>>>;

/// A balanced table of two columns whose last row has this first entry and response.
fn table(first: f64, response: f64, responses: (f64, f64)) -> Result<Dataset> {
    let mut x = Vec::with_capacity(2 * ROWS);
    let mut y = Vec::with_capacity(ROWS);
    for row in 0..ROWS {
        // All four sign patterns with both responses, equally often.
        x.extend([if row & 1 == 0 { 1.0 } else { -1.0 }, if row & 2 == 0 { 0.5 } else { -0.5 }]);
        y.push(if row & 4 == 0 { responses.0 } else { responses.1 });
    }
    x[2 * ROWS - 2] = first;
    x[2 * ROWS - 1] = 0.0;
    y[ROWS - 1] = response;
    Dataset::new(Design::from_f64(ROWS, 2, x)?, y)
}

/// The honest fit and its twins, on pairs that flip the last row's response: for a row of usual size and
/// for a huge one.
fn case(
    name: &'static str,
    responses: (f64, f64),
    claim: Vec<Event>,
    honest: FitTable,
    weak: FitTable,
) -> Result<AuditCase> {
    // A row a little longer than the typical one has the largest weighted norm; a huge one tries the weighting.
    let pairs = |fit: &FitTable, rows: &[f64]| -> Result<Vec<Run>> {
        rows.iter()
            .map(|&first| -> Result<Run> {
                let tables = [table(first, responses.0, responses)?, table(first, responses.1, responses)?];
                let fit = fit.clone();
                Ok(Box::new(move |side, rng| fit(&tables[usize::from(side)], rng)))
            })
            .collect()
    };
    // One coordinate of the result is the mean response of the last row itself: what a fit must never show.
    let bare: FitTable = {
        let honest = honest.clone();
        Rc::new(move |data, rng| {
            let mut output = honest(data, rng)?;
            if let Some(last) = output.last_mut() {
                *last = data.response().iter().sum();
            }
            Ok(output)
        })
    };
    Ok(AuditCase {
        weakened: vec![
            Subject { name: "noise cut", claim: claim.clone(), pairs: pairs(&weak, &[1.3])? },
            Subject {
                name: "last coordinate without noise",
                claim: claim.clone(),
                pairs: pairs(&bare, &[1.3])?,
            },
        ],
        honest: Subject { name, claim, pairs: pairs(&honest, &[1.3, 1e6])? },
    })
}

fn glm(name: &'static str, family: Family, target: (f64, f64), responses: (f64, f64)) -> Result<AuditCase> {
    let prepared = Rc::new(Glm::new(family, target)?.prepare(2, ROWS, budget()?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAK));
    let claim = prepared.events()?;
    let honest: FitTable = Rc::new(move |data, rng| Ok(prepared.fit(data, rng)?.coefficients));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(weak.fit(data, rng)?.coefficients));
    case(name, responses, claim, honest, weakened)
}

/// Maximum likelihood in few passes, without an intercept.
fn regression(
    name: &'static str,
    likelihood: Likelihood,
    responses: (f64, f64),
    weak: f64,
) -> Result<AuditCase> {
    let prepared = Rc::new(Regression::new(likelihood)?.prepare(Shape::new(2, ROWS), budget()?)?);
    let weak = Rc::new(prepared.with_noise_share(weak));
    let claim = prepared.events()?;
    // Of classes that change places the difference of the coefficients carries the most.
    let statistics = |blocks: Vec<Vec<f64>>| -> Vec<f64> {
        let difference = blocks.get(1).map(|second| blocks[0][0] - second[0]);
        difference.into_iter().chain(blocks.concat()).collect()
    };
    let honest: FitTable = Rc::new(move |data, rng| Ok(statistics(prepared.fit(data, rng)?.coefficients)));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(statistics(weak.fit(data, rng)?.coefficients)));
    case(name, responses, claim, honest, weakened)
}

pub(super) fn linear_likelihood() -> Result<AuditCase> {
    regression("linear-likelihood", Likelihood::Gaussian { low: -1.0, high: 1.0 }, (-1.0, 1.0), WEAK)
}

pub(super) fn logistic_likelihood() -> Result<AuditCase> {
    regression("logistic-likelihood", Likelihood::Logistic, (0.0, 1.0), WEAK)
}

pub(super) fn poisson_likelihood() -> Result<AuditCase> {
    // Scores of counts are clipped where few lie beyond: one row moves them by a fraction of the claim.
    regression("poisson-likelihood", Likelihood::Poisson { low: 0.0, high: 8.0 }, (0.0, 8.0), 0.03)
}

pub(super) fn multinomial_likelihood() -> Result<AuditCase> {
    regression("multinomial-likelihood", Likelihood::Multinomial { classes: 3 }, (1.0, 2.0), WEAK)
}

pub(super) fn linear() -> Result<AuditCase> {
    glm("linear", Family::Gaussian, (-1.0, 1.0), (-1.0, 1.0))
}

pub(super) fn logistic() -> Result<AuditCase> {
    glm("logistic", Family::Logistic, (0.0, 1.0), (0.0, 1.0))
}

pub(super) fn poisson() -> Result<AuditCase> {
    glm("poisson", Family::Poisson, (0.0, 8.0), (0.0, 8.0))
}

pub(super) fn multinomial() -> Result<AuditCase> {
    let prepared = Rc::new(Multinomial::new(3)?.prepare(2, ROWS, budget()?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAK));
    let claim = prepared.events()?;
    // Two classes change places, so the difference of their coefficients carries the most.
    let statistics = |coefficients: Vec<Vec<f64>>| -> Vec<f64> {
        let difference = coefficients[0][0] - coefficients[1][0];
        [vec![difference], coefficients.concat()].concat()
    };
    let honest: FitTable = Rc::new(move |data, rng| Ok(statistics(prepared.fit(data, rng)?.coefficients)));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(statistics(weak.fit(data, rng)?.coefficients)));
    case("multinomial", (1.0, 2.0), claim, honest, weakened)
}

pub(super) fn linear_statistics() -> Result<AuditCase> {
    let prepared = Rc::new(LinearStatistics::new((-1.0, 1.0))?.prepare(2, ROWS, budget()?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAK));
    let claim = prepared.events()?;
    let honest: FitTable = Rc::new(move |data, rng| Ok(prepared.fit(data, rng)?.coefficients));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(weak.fit(data, rng)?.coefficients));
    case("linear-statistics", (-1.0, 1.0), claim, honest, weakened)
}

/// Rows spread over [-1, 1]; the last one jumps from one end of the range to the other.
pub(super) fn mean() -> Result<AuditCase> {
    let prepared = Rc::new(PrivateMean::new(vec![(-4.0, 4.0)])?.prepare(ROWS, budget()?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAK));
    let claim = prepared.events()?;
    let tables: Vec<Design> = [-4.0, 4.0]
        .into_iter()
        .map(|last| {
            let mut x: Vec<f64> = (0..ROWS).map(|row| 2.0 * row as f64 / ROWS as f64 - 1.0).collect();
            x[ROWS - 1] = last;
            Design::from_f64(ROWS, 1, x)
        })
        .collect::<Result<_>>()?;
    let tables = Rc::new(tables);
    let pairs = |mechanism: &Rc<Prepared<PrivateMean>>, bare: bool| -> Vec<Run> {
        let (mechanism, tables) = (mechanism.clone(), tables.clone());
        vec![Box::new(move |side, rng| {
            let table = &tables[usize::from(side)];
            let mut output = mechanism.fit(table, rng)?.means;
            if bare {
                output[0] = table.row(ROWS - 1).sum();
            }
            Ok(output)
        })]
    };
    Ok(AuditCase {
        weakened: vec![
            Subject { name: "noise cut to 0.15", claim: claim.clone(), pairs: pairs(&weak, false) },
            Subject { name: "last row without noise", claim: claim.clone(), pairs: pairs(&prepared, true) },
        ],
        honest: Subject { name: "mean", claim, pairs: pairs(&prepared, false) },
    })
}
