//! Audits of sparse estimation and of the comparators: whole fits on two neighbouring tables.
//!
//! The tables are balanced so that every column's gradient at zero vanishes but for one row, whose response is turned round or
//! which is huge: there one row decides which column is chosen, and moves the estimate most.

use super::{AuditCase, Run, Subject};
use crate::central::{
    DpIht, Glm, Multinomial, NoisyIht, Prepared, Privacy, SelectRefine, Selection, SparseFit, SparseMean,
    SparseMultinomial, Transfer,
};
use crate::comparators::{FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, TwoStage};
use crate::data::{Dataset, Design};
use crate::error::Result;
use crate::families::Family;
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event};
use std::rc::Rc;

const ROWS: usize = 40;
/// The weakened twins' noise.
const WEAK: f64 = 0.15;
/// The same where the columns take most of the budget, and the coefficients show the rest only.
const WEAKER: f64 = 0.05;

fn budget(epsilon: f64) -> Result<Privacy> {
    Ok(Privacy::Budget(Budget::new(epsilon, 1e-2)?))
}

/// Fits a table and gives statistics of the result; prepared once.
type FitTable = Rc<dyn Fn(&Dataset, &mut RandomSource) -> Result<Vec<f64>>>;

/// A balanced table with a column for each entry of its last row, which has this response.
fn table(last: &[f64], response: f64, responses: (f64, f64)) -> Result<Dataset> {
    let columns = last.len();
    let mut x = Vec::with_capacity(columns * ROWS);
    let mut y = Vec::with_capacity(ROWS);
    for row in 0..ROWS {
        // Each sign pattern of the first columns comes with both responses equally often.
        x.extend((0..columns).map(|j| if row >> (j % 3) & 1 == 0 { 1.0 } else { -1.0 }));
        y.push(if row & 8 == 0 { responses.0 } else { responses.1 });
    }
    x[columns * (ROWS - 1)..].copy_from_slice(last);
    y[ROWS - 1] = response;
    Dataset::new(Design::from_f64(ROWS, columns, x)?, y)
}

/// The honest fit and its twins, on pairs that turn the last row's response round (a row at the edge of its box, and a huge one)
/// and on one that turns the row round, so that the first column gains what the others lose: there one row decides the choice.
fn case(
    name: &'static str,
    columns: usize,
    responses: (f64, f64),
    claim: Vec<Event>,
    honest: FitTable,
    weak: FitTable,
) -> Result<AuditCase> {
    let turned = |last: f64| -> Result<[Dataset; 2]> {
        let last = vec![last; columns];
        Ok([table(&last, responses.0, responses)?, table(&last, responses.1, responses)?])
    };
    let deciding = || -> Result<[Dataset; 2]> {
        let last =
            |first: f64| -> Vec<f64> { (0..columns).map(|j| if j == 0 { first } else { -first }).collect() };
        Ok([table(&last(1.0), responses.0, responses)?, table(&last(-1.0), responses.0, responses)?])
    };
    let pairs = |fit: &FitTable, tables: Vec<[Dataset; 2]>| -> Vec<Run> {
        let pair = |tables: [Dataset; 2]| -> Run {
            let fit = fit.clone();
            Box::new(move |side, rng| fit(&tables[usize::from(side)], rng))
        };
        tables.into_iter().map(pair).collect()
    };
    // One statistic is the sum of the responses: what a fit must never show.
    let bare: FitTable = {
        let honest = honest.clone();
        Rc::new(move |data, rng| {
            let mut output = honest(data, rng)?;
            output.push(data.response().iter().sum());
            Ok(output)
        })
    };
    Ok(AuditCase {
        weakened: vec![
            Subject {
                name: "noise cut",
                claim: claim.clone(),
                pairs: pairs(&weak, vec![turned(1.0)?, deciding()?]),
            },
            Subject {
                name: "sum of the responses without noise",
                claim: claim.clone(),
                pairs: pairs(&bare, vec![turned(1.0)?]),
            },
        ],
        honest: Subject { name, claim, pairs: pairs(&honest, vec![turned(1.0)?, turned(1e9)?, deciding()?]) },
    })
}

/// Each coefficient, their sum, along which the last row pulls, and whether the first column was chosen.
fn statistics(mut coefficients: Vec<f64>) -> Vec<f64> {
    let chosen = coefficients[0] != 0.0;
    coefficients.push(coefficients.iter().sum());
    coefficients.push(f64::from(u8::from(chosen)));
    coefficients
}

/// The audit of a prepared model whose fits are coefficients.
macro_rules! coefficients_case {
    ($name:literal, $prepared:expr, $columns:expr) => {{
        let prepared = Rc::new($prepared);
        let weak = Rc::new(prepared.with_noise_share(WEAK));
        let claim = prepared.events()?;
        let honest: FitTable =
            Rc::new(move |data, rng| Ok(statistics(prepared.fit(data, rng)?.coefficients)));
        let weakened: FitTable = Rc::new(move |data, rng| Ok(statistics(weak.fit(data, rng)?.coefficients)));
        case($name, $columns, (-1.0, 1.0), claim, honest, weakened)
    }};
}

/// The audit of a sparse model of one out of these columns.
fn sparse_case<M: Clone + 'static>(
    name: &'static str,
    columns: usize,
    responses: (f64, f64),
    prepared: Prepared<M>,
    fit: impl Fn(&Prepared<M>, &Dataset, &mut RandomSource) -> Result<Vec<f64>> + Copy + 'static,
) -> Result<AuditCase> {
    let weak = prepared.with_noise_share(WEAKER);
    let claim = prepared.events()?;
    let honest: FitTable = Rc::new(move |data, rng| Ok(statistics(fit(&prepared, data, rng)?)));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(statistics(fit(&weak, data, rng)?)));
    case(name, columns, responses, claim, honest, weakened)
}

fn dense(fit: Result<SparseFit>, columns: usize) -> Result<Vec<f64>> {
    Ok(fit?.coefficients(columns))
}

pub(super) fn select_refine() -> Result<AuditCase> {
    // With intervals, the chosen column is shown whether it is clear of zero or not. One of three: of two, both would be fitted
    // and none chosen.
    let model = SelectRefine::new(Glm::new(Family::Logistic, (0.0, 1.0))?.intervals(0.95)?, 1)?;
    let prepared = model.prepare(3, ROWS, budget(4.0)?)?;
    sparse_case("select-refine", 3, (0.0, 1.0), prepared, |m, data, rng| dense(m.fit(data, rng), 3))
}

pub(super) fn noisy_iht() -> Result<AuditCase> {
    let model =
        NoisyIht::new(Glm::new(Family::Logistic, (0.0, 1.0))?, 1, 1.0, Selection::Gumbel)?.steps(2)?;
    let prepared = model.prepare(2, ROWS, budget(4.0)?)?;
    sparse_case("noisy-iht", 2, (0.0, 1.0), prepared, |m, data, rng| dense(m.fit(data, rng), 2))
}

pub(super) fn peeling_iht() -> Result<AuditCase> {
    let model =
        NoisyIht::new(Glm::new(Family::Logistic, (0.0, 1.0))?, 1, 1.0, Selection::Peeling)?.steps(2)?;
    let prepared = model.prepare(2, ROWS, budget(4.0)?)?;
    sparse_case("peeling-iht", 2, (0.0, 1.0), prepared, |m, data, rng| dense(m.fit(data, rng), 2))
}

/// Rows of length sqrt 2, all of which the gradient may see.
pub(super) fn dp_iht() -> Result<AuditCase> {
    let model = DpIht::new(Glm::new(Family::Logistic, (0.0, 1.0))?, 1)?.row_norm(1.5)?.steps(2)?;
    let prepared = model.prepare(2, ROWS, budget(4.0)?)?;
    sparse_case("dp-iht", 2, (0.0, 1.0), prepared, |m, data, rng| dense(m.fit(data, rng), 2))
}

pub(super) fn sparse_multinomial() -> Result<AuditCase> {
    let model = SparseMultinomial::new(Multinomial::new(3)?, 1)?;
    let prepared = model.prepare(2, ROWS, budget(4.0)?)?;
    sparse_case("sparse-multinomial", 2, (1.0, 2.0), prepared, |m, data, rng| {
        let found = m.fit(data, rng)?;
        // Two classes change places, so the difference of their coefficients carries the most.
        let difference = found.fit.coefficients[0][0] - found.fit.coefficients[1][0];
        let mut all = vec![0.0; 2];
        all[found.support[0]] = difference;
        Ok(all)
    })
}

/// The table's first column is the one whose mean is not zero; the last row jumps from one end of the range to the other.
pub(super) fn sparse_mean() -> Result<AuditCase> {
    let prepared = Rc::new(SparseMean::new(vec![(-4.0, 4.0); 2], 1)?.prepare(ROWS, budget(4.0)?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAKER));
    let claim = prepared.events()?;
    let tables: Rc<Vec<Design>> = Rc::new(
        [-4.0, 4.0]
            .into_iter()
            .map(|last| {
                let entry = |row: usize| if row < 16 { -1.0 } else { 1.0 };
                let mut x: Vec<f64> = (0..ROWS).flat_map(|row| [entry(row), 1e-3 * entry(row)]).collect();
                x[2 * ROWS - 2..].fill(last);
                Design::from_f64(ROWS, 2, x)
            })
            .collect::<Result<_>>()?,
    );
    let pairs = |mechanism: &Rc<Prepared<SparseMean>>, bare: bool| -> Vec<Run> {
        let (mechanism, tables) = (mechanism.clone(), tables.clone());
        vec![Box::new(move |side, rng| {
            let table = &tables[usize::from(side)];
            let found = mechanism.fit(table, rng)?;
            let mut means = vec![0.0; 2];
            means[found.support[0]] = found.fit.means[0];
            if bare {
                means[1] = table.row(ROWS - 1).sum();
            }
            Ok(means)
        })]
    };
    Ok(AuditCase {
        weakened: vec![
            Subject { name: "noise cut to 0.05", claim: claim.clone(), pairs: pairs(&weak, false) },
            Subject { name: "last row without noise", claim: claim.clone(), pairs: pairs(&prepared, true) },
        ],
        honest: Subject { name: "sparse-mean", claim, pairs: pairs(&prepared, false) },
    })
}

/// A ball so small that the other rows' gradients stay balanced: the last row decides every step.
pub(super) fn frank_wolfe() -> Result<AuditCase> {
    let model = FrankWolfe::linear((-1.0, 1.0), 1.0, 1e-4)?.residual_cap(1.0)?.steps(4)?;
    coefficients_case!("frank-wolfe", model.prepare(2, ROWS, budget(4.0)?)?, 2)
}

/// A cap far below the responses: the last row's gradient keeps its full size wherever the minimum is.
pub(super) fn two_stage() -> Result<AuditCase> {
    let model = TwoStage::linear((-1.0, 1.0), 1.0, 1)?.residual_cap(0.1)?;
    coefficients_case!("two-stage", model.prepare(1, ROWS, budget(3.0)?)?, 1)
}

pub(super) fn transfer() -> Result<AuditCase> {
    let model =
        Transfer::linear((-1.0, 1.0), 1.0, 1)?.residual_cap(1.0)?.ridge(1.0)?.synthetic_features(4)?;
    coefficients_case!("transfer", model.prepare(1, ROWS, budget(4.0)?)?, 1)
}

/// The last row carries all there is in one direction of the table: its size decides the projection's length there.
pub(super) fn johnson_lindenstrauss() -> Result<AuditCase> {
    let model = JohnsonLindenstrauss::linear((-1.0, 1.0), 1.0)?.projected_rows(12)?;
    let prepared = Rc::new(model.prepare(1, ROWS, budget(2.0)?)?);
    let weak = Rc::new(prepared.with_noise_share(0.005));
    let claim = prepared.events()?;
    let honest: FitTable = Rc::new(move |data, rng| Ok(statistics(prepared.fit(data, rng)?.coefficients)));
    let weakened: FitTable = Rc::new(move |data, rng| Ok(statistics(weak.fit(data, rng)?.coefficients)));
    let tables = |last: [f64; 2]| -> Result<Rc<Vec<Dataset>>> {
        let make = |last: f64| {
            let x: Vec<f64> = (0..ROWS).map(|row| if row + 1 == ROWS { 1.0 } else { 0.0 }).collect();
            let mut y = vec![0.0; ROWS];
            y[ROWS - 1] = last;
            Dataset::new(Design::from_f64(ROWS, 1, x)?, y)
        };
        Ok(Rc::new(last.into_iter().map(make).collect::<Result<_>>()?))
    };
    let pair = |fit: &FitTable, last: [f64; 2], bare: bool| -> Result<Run> {
        let (fit, tables) = (fit.clone(), tables(last)?);
        Ok(Box::new(move |side, rng| {
            let data = &tables[usize::from(side)];
            let mut output = fit(data, rng)?;
            if bare {
                output.push(data.response().iter().sum());
            }
            Ok(output)
        }))
    };
    Ok(AuditCase {
        weakened: vec![
            Subject {
                name: "noise cut to a two-hundredth",
                claim: claim.clone(),
                pairs: vec![pair(&weakened, [-1.0, 1.0], false)?],
            },
            Subject {
                name: "sum of the responses without noise",
                claim: claim.clone(),
                pairs: vec![pair(&honest, [-1.0, 1.0], true)?],
            },
        ],
        honest: Subject {
            name: "johnson-lindenstrauss",
            claim,
            pairs: vec![pair(&honest, [-1.0, 1.0], false)?, pair(&honest, [0.0, 1e9], false)?],
        },
    })
}

/// Rows so alike that scale and location are found all the time; the last one jumps from far below the range to far above.
pub(super) fn karwa_vadhan() -> Result<AuditCase> {
    let prepared =
        Rc::new(KarwaVadhan::new(vec![(-2.0, 2.0)], (0.9, 1.1))?.prepare(1, ROWS, budget(3.0)?)?);
    let weak = Rc::new(prepared.with_noise_share(WEAK));
    let claim = prepared.events()?;
    let tables: Vec<Design> = [-1e6, 1e6]
        .into_iter()
        .map(|last| {
            let mut x: Vec<f64> = (0..ROWS).map(|row| if row % 2 == 0 { 0.2 } else { 1.9 }).collect();
            x[ROWS - 1] = last;
            Design::from_f64(ROWS, 1, x)
        })
        .collect::<Result<_>>()?;
    let tables = Rc::new(tables);
    let pairs = |mechanism: &Rc<Prepared<KarwaVadhan>>, bare: bool| -> Vec<Run> {
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
        honest: Subject { name: "karwa-vadhan", claim, pairs: pairs(&prepared, false) },
    })
}
