//! Audits of methods that clamp entries and responses to public bounds: knowledge transfer and the comparators.

use super::dense::{OFFSETS, offset, ways};
use super::method::{Method, Variant};
use super::releases::{Fixed, add_fixed, audit};
use super::sparse::clamped;
use super::tables::Frame;
use super::{AuditCase, Slack};
use crate::central::Transfer;
use crate::comparators::{BestSubset, FrankWolfe, JohnsonLindenstrauss, SparseFrankWolfe, TwoStage};
use crate::data::Shape;
use crate::data::{Dataset, Design};
use crate::error::Result;
use crate::release::Estimator;

const UNITS: usize = 24;
const NONE: &[Slack] = &[];
const TARGET: (f64, f64) = (-1.0, 1.0);

/// Why the distance from a minimum tells nothing.
const DISTANCE: &[Slack] = &[Slack {
    release: "distance from the minimum",
    why: "the solver comes much nearer to the minimum than it has to, on both tables",
}];

/// Budgets of best-subset: a choice among few sets, whose claim is nine times a row's squared response, needs a large one to tell.
const SUBSET: &[(f64, f64)] = &[(12.0, 1e-3), (60.0, 1e-3)];
const SUBSET_SLACK: &[Slack] = &[
    Slack {
        release: "distance from the minimum",
        why: "the solver comes much nearer to the minimum than it has to, on both tables",
    },
    Slack {
        release: "set of columns",
        why: "a row moves the sum of squares by as much as claimed only if all others together pull the ridge regression far the other way",
    },
];

/// Four rows of which only the last one says anything.
fn lone_row(response: f64) -> Result<Dataset> {
    Dataset::new(Design::from_f64(4, 1, vec![0.0, 0.0, 0.0, 1.0])?, vec![0.0, 0.0, 0.0, response])
}

/// The usual ways, others, and targets far from zero.
fn all_ways(columns: usize, others: Vec<(&'static str, Frame)>) -> Vec<(&'static str, Frame)> {
    let mut ways = clamped(columns, TARGET);
    ways.extend(others);
    ways.extend(OFFSETS.map(|(name, times)| (name, Frame::new(UNITS, columns, offset(times)))));
    ways
}

pub(super) fn frank_wolfe() -> Result<AuditCase> {
    let variants =
        all_ways(2, vec![("logistic", Frame::new(UNITS, 2, (0.0, 1.0)))]).into_iter().map(|(name, frame)| {
            let (shape, target) = (frame.shape(), frame.target);
            Variant::new(name, frame, move |privacy| {
                let model = match name {
                    "logistic" => FrankWolfe::logistic(1.0, 1.0)?,
                    _ => FrankWolfe::linear(target, 1.0, 1.0)?,
                };
                let prepared = model.steps(4)?.prepare(shape, privacy)?;
                Method::of(prepared, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
            })
        });
    audit("frank-wolfe", variants.collect(), NONE)
}

pub(super) fn sparse_frank_wolfe() -> Result<AuditCase> {
    // It takes units, and fits no intercept.
    let mut all: Vec<_> =
        ways(TARGET).into_iter().map(|(name, frame)| (name, Frame { intercept: false, ..frame })).collect();
    all.push(("logistic", Frame::new(UNITS, 2, (0.0, 1.0))));
    all.extend(OFFSETS.map(|(name, times)| (name, Frame::new(UNITS, 2, offset(times)))));
    let variants = all.into_iter().map(|(name, frame)| {
        let (shape, target) = (frame.shape(), frame.target);
        Variant::new(name, frame, move |privacy| {
            let model = match name {
                "logistic" => SparseFrankWolfe::logistic(1.0, 1.0)?,
                _ => SparseFrankWolfe::linear(target, 1.0, 1.0)?,
            };
            let prepared = model.steps(4)?.prepare(shape, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
        })
    });
    audit("sparse-frank-wolfe", variants.collect(), NONE)
}

pub(super) fn best_subset() -> Result<AuditCase> {
    let others = vec![
        ("logistic", Frame::new(UNITS, 3, (0.0, 1.0))),
        ("all columns", Frame::new(UNITS, 1, TARGET)),
        ("two of four", Frame::new(UNITS, 4, TARGET)),
    ];
    let variants = all_ways(3, others).into_iter().map(|(name, frame)| {
        let (shape, target) = (frame.shape(), frame.target);
        Variant::new(name, frame, move |privacy| {
            let sparsity = if shape.columns == 4 { 2 } else { 1 };
            let model = match name {
                "logistic" => BestSubset::logistic(1.0, sparsity)?,
                _ => BestSubset::linear(target, 1.0, sparsity)?,
            };
            let prepared = model.sets(2)?.prepare(shape, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
        })
        .at(SUBSET)
    });
    let mut case = audit("best-subset", variants.collect(), SUBSET_SLACK)?;
    let few = Variant::new("four rows", Frame::new(4, 1, TARGET), |privacy| {
        let model = BestSubset::linear(TARGET, 1.0, 1)?.residual_cap(0.1)?;
        Method::of(model.prepare(Shape::new(1, 4), privacy)?, |m, data, rng| {
            Ok(m.fit(data, rng)?.coefficients)
        })
    });
    let minimum = Fixed {
        release: "perturbed minimum",
        budget: (5.0, 0.1),
        runs: 150_000,
        tables: [lone_row(-1.0)?, lone_row(1.0)?],
        statistic: |theta| theta.iter().sum(),
    };
    add_fixed(&mut case, &few, &minimum)?;
    Ok(case)
}

pub(super) fn transfer() -> Result<AuditCase> {
    let others = vec![
        ("logistic", Frame::new(UNITS, 3, (0.0, 1.0))),
        ("all columns", Frame::new(UNITS, 1, TARGET)),
        ("two of four", Frame::new(UNITS, 4, TARGET)),
    ];
    let variants = all_ways(3, others).into_iter().map(|(name, frame)| {
        let (shape, target) = (frame.shape(), frame.target);
        Variant::new(name, frame, move |privacy| {
            let sparsity = if shape.columns == 4 { 2 } else { 1 };
            let model = match name {
                "logistic" => Transfer::logistic(1.0, sparsity)?,
                _ => Transfer::linear(target, 1.0, sparsity)?,
            };
            let prepared = model.ridge(1.0)?.synthetic_features(4)?.prepare(shape, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
        })
    });
    audit("transfer", variants.collect(), NONE)
}

pub(super) fn two_stage() -> Result<AuditCase> {
    let others = vec![
        ("logistic", Frame::new(UNITS, 3, (0.0, 1.0))),
        ("all columns", Frame::new(UNITS, 1, TARGET)),
        ("two of four", Frame::new(UNITS, 4, TARGET)),
    ];
    let variants = all_ways(3, others).into_iter().map(|(name, frame)| {
        let (shape, target) = (frame.shape(), frame.target);
        Variant::new(name, frame, move |privacy| {
            let sparsity = if shape.columns == 4 { 2 } else { 1 };
            let model = match name {
                "logistic" => TwoStage::logistic(1.0, sparsity)?,
                _ => TwoStage::linear(target, 1.0, sparsity)?,
            };
            Method::of(model.prepare(shape, privacy)?, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
        })
    });
    let mut case = audit("two-stage", variants.collect(), DISTANCE)?;
    // A cap far below the responses: the last row's gradient keeps its full size wherever the minimum is.
    let few = Variant::new("four rows", Frame::new(4, 1, TARGET), |privacy| {
        let model = TwoStage::linear(TARGET, 1.0, 1)?.residual_cap(0.1)?;
        Method::of(model.prepare(Shape::new(1, 4), privacy)?, |m, data, rng| {
            Ok(m.fit(data, rng)?.coefficients)
        })
    });
    let minimum = Fixed {
        release: "perturbed minimum",
        budget: (5.0, 0.1),
        runs: 150_000,
        tables: [lone_row(-1.0)?, lone_row(1.0)?],
        statistic: |theta| theta.iter().sum(),
    };
    add_fixed(&mut case, &few, &minimum)?;
    Ok(case)
}

pub(super) fn johnson_lindenstrauss() -> Result<AuditCase> {
    let variants = all_ways(1, Vec::new()).into_iter().map(|(name, frame)| {
        let (shape, target) = (frame.shape(), frame.target);
        Variant::new(name, frame, move |privacy| {
            let model = JohnsonLindenstrauss::linear(target, 1.0)?.projected_rows(12)?;
            Method::of(model.prepare(shape, privacy)?, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
        })
    });
    let mut case = audit("johnson-lindenstrauss", variants.collect(), NONE)?;
    let few = Variant::new("four rows", Frame::new(4, 1, TARGET), |privacy| {
        let model = JohnsonLindenstrauss::linear(TARGET, 1.0)?.projected_rows(12)?;
        Method::of(model.prepare(Shape::new(1, 4), privacy)?, |m, data, rng| {
            Ok(m.fit(data, rng)?.coefficients)
        })
    });
    // The last row carries all there is: with its response it turns by a right angle.
    let projection = Fixed {
        release: "projected rows",
        budget: (1.0, 0.1),
        runs: 16_000,
        tables: [lone_row(-1.0)?, lone_row(1.0)?],
        statistic: |rows| rows.chunks_exact(2).map(|row| row[0] * row[1]).sum(),
    };
    add_fixed(&mut case, &few, &projection)?;
    Ok(case)
}
