//! Audits of tuned fits: a row of the part that is fitted, a row of the part that chooses, and the best of random trials.

use super::method::{Method, Variant};
use super::releases::audit;
use super::sparse::{budgets, clamped, glm};
use super::tables::Frame;
use super::{AuditCase, RUNS, Run, Slack, Subject};
use crate::accounting::Part;
use crate::central::split_refine::chooses;
use crate::central::{SelectRefine, SplitRefine};
use crate::error::Result;
use crate::families::Family;
use crate::mechanisms::GaussianVector;
use crate::noise::RandomSource;
use crate::privacy::Event;
use crate::release::Estimator;
use crate::tuning::validation::validates;
use crate::tuning::{RandomStopping, TunedRidge, TunedSparsity};

/// What the two parts cannot see of each other.
const FITTED: &[Slack] = &[
    Slack { release: "number of columns", why: "a row of the fitted part has no vote in the choice" },
    Slack { release: "penalty", why: "a row of the fitted part has no vote in the choice" },
];
const CHOOSING: &[Slack] = &[
    Slack { release: "chosen columns", why: "a row of the part that chooses has no vote for columns" },
    Slack { release: "level of votes", why: "a row of the part that chooses has no vote for columns" },
];
const SLACK: [&[Slack]; 2] = [FITTED, CHOOSING];

/// Which rows may be replaced, and which part of the claim they pay for.
const PARTS: [fn(usize) -> bool; 2] = [|row| !validates(row), validates];

/// The ways to call a tuned fit: rows alone, however they are stored, with an intercept, and with weights.
fn ways(columns: usize, part: usize) -> Vec<(&'static str, Frame)> {
    let mut ways = clamped(columns, (0.0, 1.0));
    ways.push(("intercept", Frame::new(24, columns + 1, (0.0, 1.0)).with_intercept()));
    ways.push(("real responses", Frame::new(24, columns, (-2.0, 3.0))));
    ways.iter_mut().for_each(|(_, frame)| frame.replaced = PARTS[part]);
    ways
}

fn family(name: &str) -> Family {
    if name == "real responses" { Family::gaussian() } else { Family::logistic() }
}

/// What a row of this part pays for.
fn paid(all: Vec<Event>, mut parts: Vec<Part>, part: usize) -> Vec<Event> {
    [all, parts.swap_remove(part).events].concat()
}

fn sparsity(name: &'static str, part: usize) -> Result<AuditCase> {
    // One column more than may be kept, so that columns are chosen.
    let variants = ways(3, part).into_iter().map(|(way, frame)| {
        let inside = frame.clone();
        Variant::new(way, frame, move |privacy| {
            let columns = inside.columns;
            let model = TunedSparsity::new(glm(family(way), &inside)?.intervals(0.95)?, 2)?;
            let prepared = model.prepare(inside.shape(), privacy)?;
            let events = paid(prepared.common_events()?, prepared.parts()?, part);
            let fit = move |m: &_, data: &_, rng: &mut _| {
                let m: &crate::release::Prepared<TunedSparsity> = m;
                Ok(m.fit(data, rng)?.coefficients(columns))
            };
            Ok(Method::of(prepared, fit)?.charged(events))
        })
        .slow(budgets(way))
    });
    audit(name, variants.collect(), SLACK[part])
}

pub(super) fn tuned_sparsity() -> Result<AuditCase> {
    sparsity("tuned-sparsity", 0)
}

pub(super) fn tuned_sparsity_choice() -> Result<AuditCase> {
    sparsity("tuned-sparsity-choice", 1)
}

/// Which rows may be replaced: one of the half that chooses, or one of the half that is fitted.
const HALVES: [fn(usize) -> bool; 2] = [chooses, |row| !chooses(row)];
/// What a half has no part in.
const CHOSEN: &[Slack] = &[
    Slack { release: "column centres", why: NOT_FITTED },
    Slack { release: "column scales", why: NOT_FITTED },
    Slack { release: "typical size", why: NOT_FITTED },
    Slack { release: "moments of the features", why: NOT_FITTED },
    Slack { release: "burn-in gradients", why: NOT_FITTED },
    Slack { release: "gradients", why: NOT_FITTED },
    Slack { release: "slope of the score", why: NOT_FITTED },
    Slack { release: "second moment of the score", why: NOT_FITTED },
    Slack { release: "residual scale", why: "the half that chooses spends a hundredth of its budget on it" },
];
const HAS_NO_VOTE: &str = "a row of the half that is fitted has no vote for columns";
const REFINED: &[Slack] = &[
    Slack { release: "chosen columns", why: HAS_NO_VOTE },
    Slack { release: "level of votes", why: HAS_NO_VOTE },
];
const NOT_FITTED: &str = "a row of the half that chooses is not fitted";

fn split(name: &'static str, half: usize) -> Result<AuditCase> {
    let slack: [&'static [Slack]; 2] = [CHOSEN, REFINED];
    let variants = ways(4, half).into_iter().map(|(way, mut frame)| {
        frame.replaced = HALVES[half];
        let inside = frame.clone();
        Variant::new(way, frame, move |privacy| {
            let columns = inside.columns;
            let model = SelectRefine::new(glm(family(way), &inside)?.intervals(0.95)?, 1)?;
            let prepared = SplitRefine::new(model).prepare(inside.shape(), privacy)?;
            let events = paid(prepared.common_events()?, prepared.parts()?, half);
            let fit = move |m: &_, data: &_, rng: &mut _| {
                let m: &crate::release::Prepared<SplitRefine> = m;
                Ok(m.fit(data, rng)?.coefficients(columns))
            };
            Ok(Method::of(prepared, fit)?.charged(events))
        })
        .slow(budgets(way))
    });
    audit(name, variants.collect(), slack[half])
}

pub(super) fn split_refine() -> Result<AuditCase> {
    split("split-refine", 0)
}

pub(super) fn split_refine_fit() -> Result<AuditCase> {
    split("split-refine-fit", 1)
}

fn ridge(name: &'static str, part: usize) -> Result<AuditCase> {
    let variants = ways(2, part).into_iter().map(|(way, frame)| {
        let inside = frame.clone();
        Variant::new(way, frame, move |privacy| {
            let model = TunedRidge::new(glm(family(way), &inside)?, vec![0.0, 1.0])?;
            let prepared = model.prepare(inside.shape(), privacy)?;
            let events = paid(prepared.common_events()?, prepared.parts()?, part);
            let fit = |m: &_, data: &_, rng: &mut _| {
                let m: &crate::release::Prepared<TunedRidge> = m;
                Ok(m.fit(data, rng)?.fit.coefficients)
            };
            Ok(Method::of(prepared, fit)?.charged(events))
        })
        .slow(budgets(way))
    });
    audit(name, variants.collect(), SLACK[part])
}

pub(super) fn tuned_ridge() -> Result<AuditCase> {
    ridge("tuned-ridge", 0)
}

pub(super) fn tuned_ridge_choice() -> Result<AuditCase> {
    ridge("tuned-ridge-choice", 1)
}

/// Each trial is a number with Gaussian noise, which is its own score. With one trial the bound is that of the trial, and half of its
/// noise shows; with eight it has so much room that a tenth is the first that shows.
pub(super) fn random_stopping() -> Result<AuditCase> {
    let trial = |sensitivity: f64, sigma: f64| GaussianVector::new(sensitivity, sigma, 1);
    let claim = |expected: u64| -> Result<Vec<Event>> {
        Ok(vec![RandomStopping::new(expected)?.event("best trial", &trial(1.0, 2.0)?.events(), 1e-2)?])
    };
    let pair = |expected: u64, mechanism: GaussianVector, bare: bool| -> Result<Vec<Run>> {
        let stopping = RandomStopping::new(expected)?;
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
    let subject = |name, expected: u64, mechanism, bare| {
        Subject::of(name, &claim(expected)?, RUNS, pair(expected, mechanism, bare)?)
    };
    Ok(AuditCase::of(
        subject("random-stopping", 8, trial(1.0, 2.0)?, false)?,
        vec![
            subject("noise halved, one trial", 1, trial(1.0, 1.0)?, false)?,
            subject("sensitivity too small by 2, one trial", 1, trial(0.5, 1.0)?, false)?,
            subject("noise cut to a tenth", 8, trial(1.0, 0.2)?, false)?,
            subject("trials without noise", 8, trial(1.0, 2.0)?, true)?,
        ],
    ))
}
