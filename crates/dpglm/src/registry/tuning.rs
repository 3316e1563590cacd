//! Audits of tuned fits: a row of the part that is fitted, a row of the part that chooses, a tuned mean, and the best of random
//! trials.

use super::{AuditCase, Run, Subject};
use crate::central::{Glm, Prepared, Privacy};
use crate::data::{Dataset, Design};
use crate::error::Result;
use crate::families::Family;
use crate::mechanisms::GaussianVector;
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, Noise};
use crate::tuning::{RandomStopping, TunedSparseMean, TunedSparsity};
use std::rc::Rc;

const ROWS: usize = 40;
/// A row of the first part, and one of the second.
const FITTED: usize = 38;
const CHOOSING: usize = 39;

/// One more than may be kept, so that columns are chosen.
const COLUMNS: usize = 3;

/// A balanced table in which this row alone says something.
fn table(row: usize, response: f64) -> Result<Dataset> {
    let sign = |k: usize| if (k / COLUMNS) >> (k % COLUMNS) & 1 == 0 { 1.0 } else { -1.0 };
    let mut x: Vec<f64> = (0..COLUMNS * ROWS).map(sign).collect();
    x[COLUMNS * row..COLUMNS * (row + 1)].fill(1.0);
    let mut y: Vec<f64> = (0..ROWS).map(|i| f64::from(u8::from(i & 8 == 0))).collect();
    y[row] = response;
    Dataset::new(Design::from_f64(ROWS, COLUMNS, x)?, y)
}

fn tuned(name: &'static str, row: usize, part: usize) -> Result<AuditCase> {
    // With intervals every chosen coefficient is kept, so that all of them can be looked at.
    let model = TunedSparsity::new(Glm::new(Family::Logistic, (0.0, 1.0))?.intervals(0.95)?, 2)?;
    let honest = Rc::new(model.prepare(COLUMNS, ROWS, Privacy::Budget(Budget::new(4.0, 1e-2)?))?);
    let weak = Rc::new(honest.with_noise_share(0.05));
    let own = honest.parts()?.swap_remove(part).events;
    let claim: Vec<Event> = [honest.all_events()?, own].concat();
    let pair = |fit: &Rc<Prepared<TunedSparsity>>, bare: bool| -> Result<Vec<Run>> {
        let tables = [table(row, 0.0)?, table(row, 1.0)?];
        let fit = fit.clone();
        Ok(vec![Box::new(move |side, rng: &mut RandomSource| {
            let data = &tables[usize::from(side)];
            let found = fit.fit(data, rng)?;
            let mut output = found.coefficients(COLUMNS);
            output.push(output.iter().sum());
            output.push(found.support.len() as f64);
            if bare {
                output.push(data.response().iter().sum());
            }
            Ok(output)
        })])
    };
    Ok(AuditCase {
        weakened: vec![
            Subject { name: "noise cut to 0.05", claim: claim.clone(), pairs: pair(&weak, false)? },
            Subject {
                name: "sum of the responses without noise",
                claim: claim.clone(),
                pairs: pair(&honest, true)?,
            },
        ],
        honest: Subject { name, claim, pairs: pair(&honest, false)? },
    })
}

/// A row of the first part pays for the path and the final fit.
pub(super) fn tuned_sparsity() -> Result<AuditCase> {
    tuned("tuned-sparsity", FITTED, 0)
}

/// A row of the second part pays for the choice and the final fit.
pub(super) fn tuned_sparsity_choice() -> Result<AuditCase> {
    tuned("tuned-sparsity-choice", CHOOSING, 1)
}

/// The last row jumps from one end of the range to the other: it moves both counts by 2, and the means.
pub(super) fn tuned_sparse_mean() -> Result<AuditCase> {
    const CLAIM: (f64, f64) = (1.0, 1e-2);
    let model = TunedSparseMean::new(vec![(-4.0, 4.0); 2], 2)?;
    let claim =
        vec![Event::new("tuned sparse mean", Noise::Approximate { epsilon: CLAIM.0, delta: CLAIM.1 }, 1)?];
    let pair = |epsilon: f64, bare: bool| -> Result<Vec<Run>> {
        let table = |last: f64| -> Result<Design> {
            let entry = |row: usize| if row < 16 { -1.0 } else { 1.0 };
            let mut x: Vec<f64> = (0..ROWS).flat_map(|row| [entry(row), 1e-3 * entry(row)]).collect();
            x[2 * ROWS - 2..].fill(last);
            Design::from_f64(ROWS, 2, x)
        };
        let tables = [table(-4.0)?, table(4.0)?];
        let prepared = model.prepare(ROWS, Privacy::Budget(Budget::new(epsilon, CLAIM.1)?))?;
        Ok(vec![Box::new(move |side, rng: &mut RandomSource| {
            let table = &tables[usize::from(side)];
            let found = prepared.fit(table, rng)?;
            let mut output = vec![0.0; 2];
            found.support.iter().zip(&found.fit.means).for_each(|(&j, &m)| output[j] = m);
            output.push(output.iter().sum());
            output.push(found.support.len() as f64);
            if bare {
                output.push(table.row(ROWS - 1).sum());
            }
            Ok(output)
        })])
    };
    Ok(AuditCase {
        weakened: vec![
            Subject {
                name: "eighty times the budget",
                claim: claim.clone(),
                pairs: pair(80.0 * CLAIM.0, false)?,
            },
            Subject { name: "last row without noise", claim: claim.clone(), pairs: pair(CLAIM.0, true)? },
        ],
        honest: Subject { name: "tuned-sparse-mean", claim, pairs: pair(CLAIM.0, false)? },
    })
}

/// Each trial is a number with Gaussian noise, which is its own score.
pub(super) fn random_stopping() -> Result<AuditCase> {
    let stopping = RandomStopping::new(8)?;
    let trial = |sigma: f64| GaussianVector::new(1.0, sigma, 1);
    let claim = vec![stopping.event("best trial", &trial(2.0)?.events(), 1e-2)?];
    let pair = |sigma: f64, bare: bool| -> Result<Vec<Run>> {
        let mechanism = trial(sigma)?;
        Ok(vec![Box::new(move |side, rng: &mut RandomSource| {
            let value = if side { 1.0 } else { 0.0 };
            let best = stopping.run(
                |rng| {
                    let score = mechanism.release(&[value], rng)?.value[0];
                    Ok((score, if bare { value } else { score }))
                },
                rng,
            )?;
            Ok(vec![best])
        })])
    };
    Ok(AuditCase {
        weakened: vec![
            Subject { name: "noise cut to a tenth", claim: claim.clone(), pairs: pair(0.2, false)? },
            Subject { name: "trials without noise", claim: claim.clone(), pairs: pair(2.0, true)? },
        ],
        honest: Subject { name: "random-stopping", claim, pairs: pair(2.0, false)? },
    })
}
