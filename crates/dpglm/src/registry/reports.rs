//! Audits of the local randomizers and of the protocols that use them.
//!
//! The neighbours are two records of one user, as far apart as they can be. The statistics are the coordinates of the
//! estimate that the server computes from the user's report: for a fixed seed a report has two probabilities, and on which
//! side of the record its direction lies tells most about which.

use super::{AuditCase, RUNS, Run, Subject};
use crate::error::Result;
use crate::families::Family;
use crate::local::{Choices, Kind, LocalGaussian, LocalIht, OneShotGlm, Randomizer};
use crate::mechanisms::GaussianVector;
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, Noise, Randomness};
use std::rc::Rc;

const EPSILON: f64 = 1.0;
const DIMENSION: usize = 2;

/// What the server learns of a vector.
type Answer = Rc<dyn Fn(&[f64], &mut RandomSource) -> Result<Vec<f64>>>;

/// Pairs of vectors: opposite along each coordinate, and one of them zero or not even finite.
fn pairs(answer: &Answer, vectors: &[[[f64; DIMENSION]; 2]]) -> Vec<Run> {
    vectors
        .iter()
        .map(|&pair| -> Run {
            let answer = answer.clone();
            Box::new(move |side, rng| answer(&pair[usize::from(side)], rng))
        })
        .collect()
}

fn answer(randomizer: Randomizer) -> Answer {
    Rc::new(move |vector, rng| {
        let mut estimate = vec![0.0; DIMENSION];
        randomizer.estimate(&randomizer.randomize(vector, rng)?, &mut estimate)?;
        Ok(estimate)
    })
}

fn randomizer(name: &'static str, kind: Kind) -> Result<AuditCase> {
    let build = |epsilon: f64| Randomizer::new(kind, DIMENSION, 1.0, epsilon);
    let honest = build(EPSILON)?;
    let claim = honest.events()?;
    // The report is always one of the likely ones.
    let always: Answer = {
        let honest = honest.clone();
        Rc::new(move |vector, rng| {
            let likely = honest.outcome_weights().0 * u64::from(honest.cap());
            let mut seed = [0; 16];
            seed[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
            let choices = Choices { seed, draw: rng.below(likely), sign: rng.next_u64() };
            let mut estimate = vec![0.0; DIMENSION];
            honest.estimate(&honest.randomize_with(vector, &choices)?, &mut estimate)?;
            Ok(estimate)
        })
    };
    let opposite = [[1.0, 0.0], [-1.0, 0.0]];
    let all = [opposite, [[0.0, 1e9], [0.0, -1e9]], [[f64::NAN, 1.0], [0.6, 0.8]]];
    Ok(AuditCase::of(
        Subject::of(name, &claim, RUNS, pairs(&answer(honest), &all))?,
        vec![
            Subject::of("epsilon doubled", &claim, RUNS, pairs(&answer(build(2.0 * EPSILON)?), &[opposite]))?,
            Subject::of("always a likely report", &claim, RUNS, pairs(&always, &[opposite]))?,
        ],
    ))
}

pub(super) fn duchi() -> Result<AuditCase> {
    randomizer("duchi", Kind::Duchi)
}

pub(super) fn privunit() -> Result<AuditCase> {
    randomizer("privunit", Kind::PrivUnit)
}

pub(super) fn local_gaussian() -> Result<AuditCase> {
    let honest = LocalGaussian::new(DIMENSION, 1.0, Budget::new(EPSILON, 1e-4)?)?;
    let claim = honest.events();
    let sigma = match claim.first().map(Event::noise) {
        Some(Noise::Gaussian { sigma, .. }) => sigma,
        _ => unreachable!("a Gaussian release has a Gaussian event"),
    };
    // Without the device's own clipping, and with a share of its noise.
    let bare = |share: f64| -> Result<Answer> {
        let mechanism = GaussianVector::new(2.0, share * sigma, DIMENSION)?;
        Ok(Rc::new(move |vector, rng| Ok(mechanism.release(vector, rng)?.value)))
    };
    let opposite = |size: f64| [[size, 0.0], [-size, 0.0]];
    let answer: Answer = Rc::new(move |vector, rng| Ok(honest.randomize(vector, rng)?.value));
    Ok(AuditCase::of(
        Subject::of(
            "local-gaussian",
            &claim,
            RUNS,
            pairs(&answer, &[opposite(50.0), [[0.0, 1.0], [f64::NAN, -1.0]]]),
        )?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(&bare(0.5)?, &[opposite(1.0)]))?,
            Subject::of("clipping removed", &claim, RUNS, pairs(&bare(1.0)?, &[opposite(50.0)]))?,
        ],
    ))
}

/// A user of the first round whose label jumps from one end to the other; the server looks at that user's report alone.
pub(super) fn local_iht() -> Result<AuditCase> {
    let study = Rc::new(LocalIht::new(Family::gaussian(), (-1.0, 1.0), 1.0, 1)?);
    let plan = study.plan(100, DIMENSION, EPSILON)?;
    let state = Rc::new(study.start(&plan));
    let claim = study.certificate(&plan, Randomness::Devices)?.events().to_vec();
    let build = |epsilon: f64, reports: u32| -> Result<Vec<Run>> {
        let (study, state) = (study.clone(), state.clone());
        let randomizer = study.randomizer(&state, epsilon)?;
        Ok(vec![Box::new(move |side, rng| {
            let mut sum = vec![0.0; DIMENSION];
            for _ in 0..reports {
                let y = if side { 1.0 } else { -1.0 };
                let report = study.report(&state, &randomizer, &[1.0, 1e9], y, rng)?;
                randomizer.estimate(&report, &mut sum)?;
            }
            sum.push(sum.iter().sum());
            Ok(sum)
        })])
    };
    protocol("local-iht", claim, build)
}

/// A user whose label flips, with features of full length.
pub(super) fn one_shot() -> Result<AuditCase> {
    let model = Rc::new(OneShotGlm::new(Family::logistic(), (0.0, 1.0), 1.0)?);
    let claim = model.randomizer(DIMENSION, EPSILON)?.events()?;
    let build = |epsilon: f64, reports: u32| -> Result<Vec<Run>> {
        let model = model.clone();
        let randomizer = model.randomizer(DIMENSION, epsilon)?;
        Ok(vec![Box::new(move |side, rng| {
            let mut sum = vec![0.0; DIMENSION];
            for _ in 0..reports {
                let label = if side { 1.0 } else { 0.0 };
                randomizer.estimate(&model.report(&randomizer, &[0.0, 7.0], label, rng)?, &mut sum)?;
            }
            Ok(sum)
        })])
    };
    protocol("one-shot", claim, build)
}

fn protocol(
    name: &'static str,
    claim: Vec<Event>,
    build: impl Fn(f64, u32) -> Result<Vec<Run>>,
) -> Result<AuditCase> {
    Ok(AuditCase::of(
        Subject::of(name, &claim, RUNS, build(EPSILON, 1)?)?,
        vec![
            Subject::of("epsilon doubled", &claim, RUNS, build(2.0 * EPSILON, 1)?)?,
            Subject::of("ten answers of one user", &claim, RUNS, build(EPSILON, 10)?)?,
        ],
    ))
}
