//! Audits of the mechanisms.

use super::{AuditCase, RUNS, Run, Subject};
use crate::error::Result;
use crate::mechanisms::{
    Candidates, ClippedSum, ExponentialMechanism, GaussianVector, GumbelTop, LaplacePeeling, LaplaceVector,
    PrivateQuantile, SparseVector,
};
use crate::noise::RandomSource;
use crate::privacy::Event;
use std::rc::Rc;

/// Releases a vector of three coordinates.
type VectorRelease = Rc<dyn Fn(&[f64], &mut RandomSource) -> Result<Vec<f64>>>;

/// The audit of a mechanism for vectors of three coordinates that one row moves by 1 in the mechanism's norm.
/// Neighbours differ along each coordinate by 1, and along the diagonal by `diagonal`. Statistics: each coordinate, and their sum.
fn vector_case(
    name: &'static str,
    diagonal: f64,
    (honest, claim): (VectorRelease, Vec<Event>),
    halved: VectorRelease,
    (misjudged, small_claim): (VectorRelease, Vec<Event>),
) -> Result<AuditCase> {
    const D: usize = 3;
    let pairs = |release: VectorRelease| -> Vec<Run> {
        let mut shifts: Vec<[f64; D]> =
            (0..D).map(|j| std::array::from_fn(|k| f64::from(u8::from(j == k)))).collect();
        shifts.push([diagonal; D]);
        shifts
            .into_iter()
            .map(|shift| -> Run {
                let release = release.clone();
                Box::new(move |side, rng| {
                    let mut output = release(if side { &shift } else { &[0.0; D] }, rng)?;
                    output.push(output.iter().sum());
                    Ok(output)
                })
            })
            .collect()
    };
    let bare: VectorRelease = {
        let honest = honest.clone();
        Rc::new(move |x, rng| {
            let mut output = honest(x, rng)?;
            output[D - 1] = x[D - 1];
            Ok(output)
        })
    };
    Ok(AuditCase::of(
        Subject::of(name, &claim, RUNS, pairs(honest))?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(halved))?,
            Subject::of("last coordinate without noise", &claim, RUNS, pairs(bare))?,
            Subject::of("sensitivity too small by 2", &small_claim, RUNS, pairs(misjudged))?,
        ],
    ))
}

pub(super) fn gaussian() -> Result<AuditCase> {
    let build = |sensitivity: f64, sigma: f64| -> Result<(VectorRelease, Vec<Event>)> {
        let mechanism = GaussianVector::new(sensitivity, sigma, 3)?;
        let events = mechanism.events();
        Ok((Rc::new(move |x, rng| Ok(mechanism.release(x, rng)?.value)), events))
    };
    vector_case("gaussian", 1.0 / 3f64.sqrt(), build(1.0, 1.0)?, build(1.0, 0.5)?.0, build(0.5, 1.0)?)
}

pub(super) fn laplace() -> Result<AuditCase> {
    let build = |sensitivity: f64, scale: f64| -> Result<(VectorRelease, Vec<Event>)> {
        let mechanism = LaplaceVector::new(sensitivity, scale, 3)?;
        let events = mechanism.events();
        Ok((Rc::new(move |x, rng| Ok(mechanism.release(x, rng)?.value)), events))
    };
    vector_case("laplace", 1.0 / 3.0, build(1.0, 1.0)?, build(1.0, 0.5)?.0, build(0.5, 1.0)?)
}

/// A table of two columns in which one huge row turns into its opposite, along each column.
pub(super) fn clipped_sum() -> Result<AuditCase> {
    const D: usize = 2;
    let honest = ClippedSum::new(1.0, 2.0, D)?;
    let claim = honest.events();
    let halved = ClippedSum::new(1.0, 1.0, D)?;
    let unclipped = ClippedSum::new(1e6, 2.0, D)?;
    let misjudged = ClippedSum::new(0.5, 2.0, D)?.events();
    let pairs = |mechanism: ClippedSum, skip_last: bool| -> Vec<Run> {
        (0..D)
            .map(|column| -> Run {
                let mechanism = mechanism.clone();
                let tables: [Vec<f64>; 2] = [100.0, -100.0].map(|x| {
                    let mut table = vec![0.25, -0.25, 0.0, 0.0];
                    table[D + column] = x;
                    table
                });
                Box::new(move |side, rng| {
                    let table = &tables[usize::from(side)];
                    let mut output = mechanism.release(table, rng)?.value;
                    if skip_last {
                        output[D - 1] = table[D - 1] + table[2 * D - 1].clamp(-1.0, 1.0);
                    }
                    Ok(output)
                })
            })
            .collect()
    };
    Ok(AuditCase::of(
        Subject::of("clipped-sum", &claim, RUNS, pairs(honest.clone(), false))?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(halved, false))?,
            Subject::of("last coordinate without noise", &claim, RUNS, pairs(honest.clone(), true))?,
            Subject::of("clipping removed", &claim, RUNS, pairs(unclipped, false))?,
            Subject::of("sensitivity too small by 2", &misjudged, RUNS, pairs(honest.clone(), false))?,
        ],
    ))
}

/// Three candidates whose scores all move by the full sensitivity, some up and some down.
pub(super) fn exponential() -> Result<AuditCase> {
    let pairs = |scale: f64| -> Result<Vec<Run>> {
        let mut mechanism = ExponentialMechanism::new(1.0, scale)?;
        let scores = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]];
        Ok(vec![Box::new(move |side, rng| {
            let chosen = mechanism.choose(&scores[usize::from(side)], rng)?.value;
            Ok((0..3).map(|j| f64::from(u8::from(j == chosen))).collect())
        })])
    };
    let claim = ExponentialMechanism::new(1.0, 2.0)?.events();
    let misjudged = ExponentialMechanism::new(0.5, 2.0)?.events();
    Ok(AuditCase::of(
        Subject::of("exponential", &claim, RUNS, pairs(2.0)?)?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(1.0)?)?,
            Subject::of("sensitivity too small by 2", &misjudged, RUNS, pairs(2.0)?)?,
        ],
    ))
}

pub(super) fn bounded_quantile() -> Result<AuditCase> {
    quantile("quantile", Candidates::even(-1.0, 1.0, 3)?)
}

pub(super) fn unbounded_quantile() -> Result<AuditCase> {
    quantile("quantile-unbounded", Candidates::geometric(1.0, 4.0, 1)?)
}

/// Three rows of which one jumps from below all candidates to above them: candidates on one side of the wanted rank
/// lose a row, those on the other side gain one.
fn quantile(name: &'static str, candidates: Candidates) -> Result<AuditCase> {
    let build = move |scale: f64| PrivateQuantile::new(candidates, 2.0 / 3.0, scale);
    let pairs = |scale: f64| -> Result<Vec<Run>> {
        let mut mechanism = build(scale)?;
        let tables = [[-1e9, 0.0, 0.0], [0.0, 0.0, f64::INFINITY]];
        Ok(vec![Box::new(move |side, rng| {
            Ok(vec![mechanism.release(&tables[usize::from(side)], rng)?.value])
        })])
    };
    let claim = build(1.0)?.events();
    let misjudged = build(2.0)?.events();
    Ok(AuditCase::of(
        Subject::of(name, &claim, RUNS, pairs(1.0)?)?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(0.5)?)?,
            Subject::of("sensitivity too small by 2", &misjudged, RUNS, pairs(1.0)?)?,
        ],
    ))
}

/// Releases the larger of two coordinates.
type SparseRelease = Box<dyn FnMut(&[f64], &mut RandomSource) -> Result<SparseVector>>;

/// Makes a mechanism for a declared sensitivity, with its noise multiplied by a share, and its events.
type SparseBuild = fn(f64, f64) -> Result<(SparseRelease, Vec<Event>)>;

/// The audit of a mechanism that releases the larger of two coordinates. The smaller gains and the larger loses the full sensitivity
/// of 1. Statistics: each coordinate's value, far below all others when it was not chosen.
fn sparse_case(name: &'static str, gap: f64, build: SparseBuild) -> Result<AuditCase> {
    const NOT_CHOSEN: f64 = -1e6;
    let pairs = |share: f64, skip_last: bool| -> Result<Vec<Run>> {
        [[[0.0, gap], [1.0, gap - 1.0]], [[gap, 0.0], [gap - 1.0, 1.0]]]
            .into_iter()
            .map(|sides| -> Result<Run> {
                let (mut release, _) = build(1.0, share)?;
                Ok(Box::new(move |side, rng| {
                    let input = &sides[usize::from(side)];
                    let sparse = release(input, rng)?;
                    let mut statistics = vec![NOT_CHOSEN; 2];
                    for (&j, &value) in sparse.support.iter().zip(&sparse.values) {
                        statistics[j] = if skip_last && j == 1 { input[j] } else { value };
                    }
                    Ok(statistics)
                }))
            })
            .collect()
    };
    let claim = build(1.0, 1.0)?.1;
    Ok(AuditCase::of(
        Subject::of(name, &claim, RUNS, pairs(1.0, false)?)?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(0.5, false)?)?,
            Subject::of("last coordinate without noise", &claim, RUNS, pairs(1.0, true)?)?,
            Subject::of("sensitivity too small by 2", &build(0.5, 1.0)?.1, RUNS, pairs(1.0, false)?)?,
        ],
    ))
}

pub(super) fn peeling() -> Result<AuditCase> {
    sparse_case("peeling", 5.0, |sensitivity, share| {
        let mechanism = LaplacePeeling::new(1, sensitivity, 2.0 * share, 2)?;
        let events = mechanism.events();
        Ok((Box::new(move |x, rng| Ok(mechanism.release(x, rng)?.value)), events))
    })
}

pub(super) fn gumbel_top() -> Result<AuditCase> {
    sparse_case("gumbel-top", 4.0, |sensitivity, share| {
        let mut mechanism = GumbelTop::new(1, sensitivity, 2.0 * share, 2.0 * share, 2)?;
        let events = mechanism.events();
        Ok((Box::new(move |x, rng| Ok(mechanism.release(x, rng)?.value)), events))
    })
}
