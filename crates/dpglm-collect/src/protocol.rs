//! The curator's side of a study: which rounds there are, what a round's reports say together, and the estimate.
//!
//! The fit is [`LocalIht`]. Nothing here knows of HTTP or of a storage: a state goes in as text, reports go in as bytes, the next
//! state comes out. The same reports give the same state to the last bit, in any order, whoever computes it.
//!
//! A record is scaled by the study's bounds: each feature to [-1, 1], a linear response to [-1, 1], a logistic one to 0 or 1
//! (above the middle of its bounds, or not); a missing feature counts as its middle. Estimates are scaled back.
//!
//! The plan of the rounds is computed from the study by device and service alike. A device refuses a round whose numbers are not
//! those of its own plan, so that two versions of this program never mix silently.

mod assignment;

use std::sync::Arc;

use dpglm::accounting::Certificate;
use dpglm::families::Domain;
use dpglm::local::randomizer::{Kind, Randomizer, Report};
use dpglm::local::{LocalIht, ReportSum, RoundPlan, RoundState};
use dpglm::noise::RandomSource;
use dpglm::privacy::Randomness;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::study::Study;
use crate::token::TokenHash;

pub use assignment::Assignment;

/// The plan of a study. Cheap to clone.
#[derive(Debug, Clone)]
pub struct StudyProtocol {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    study: Study,
    fit: LocalIht,
    plan: RoundPlan,
    /// The randomizer of each round.
    randomizers: Vec<Randomizer>,
}

/// When rounds end: public, from the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// A round with so many reports is complete.
    pub target: u64,
    /// A round with fewer is never closed.
    pub minimum: u64,
    /// How long a round lasts.
    pub seconds: u64,
    /// How often a round with too few reports is given the same time again.
    pub extensions: u32,
}

/// A closed round.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// The state after the round, as JSON.
    pub result: String,
    /// The state in which the next round opens; `None` after the last.
    pub next: Option<String>,
}

/// One coefficient, in the units of the study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// The feature's name, or `(Intercept)`.
    pub name: String,
    /// The estimate.
    pub estimate: f64,
}

/// What a device does in a round, for the page.
#[derive(Debug, Serialize)]
pub(crate) struct RoundNumbers {
    kind: Kind,
    pub(crate) dimension: usize,
    pub(crate) radius: f64,
    epsilon: f64,
    candidates: u32,
    cap: u32,
    pub(crate) gain: f64,
}

/// The relative difference of two clips that counts as rounding.
const ROUNDING: f64 = 1e-9;

impl StudyProtocol {
    /// The plan of a study: public numbers only.
    pub fn new(study: &Study) -> Result<Self> {
        let (family, interval) = study.family().model();
        let intercept = usize::from(study.intercept());
        let mut fit =
            LocalIht::new(family, interval, 1.0, study.sparsity() + intercept)?.kind(study.randomizer());
        if let Some(square) = study.second_moment() {
            fit = fit.feature_square(square)?;
        }
        let plan = fit.plan(study.reports(), study.features().len() + intercept, study.epsilon())?;
        // The numbers of a round's randomizer depend on how many columns are in play, not on which.
        let randomizers = plan
            .rounds
            .iter()
            .enumerate()
            .map(|(round, numbers)| {
                let columns = (0..numbers.columns).collect();
                let state = RoundState { round, columns, clip: numbers.clip, ..fit.start(&plan) };
                fit.randomizer(&state, study.epsilon())
            })
            .collect::<dpglm::Result<_>>()?;
        Ok(Self { inner: Arc::new(Inner { study: study.clone(), fit, plan, randomizers }) })
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.inner.study
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u32 {
        u32::try_from(self.inner.plan.rounds.len()).unwrap_or(u32::MAX)
    }

    /// When a round, from 1, ends.
    pub fn rule(&self, round: u32) -> Rule {
        let study = &self.inner.study;
        let planned = self.inner.plan.rounds.get(place(round));
        let target = planned.map_or(u64::MAX, |round| round.users);
        Rule {
            target,
            minimum: study.minimum().min(target),
            seconds: study.seconds(),
            extensions: study.extensions(),
        }
    }

    /// The round in which a device answers: drawn from its token by the service's secret, in proportion to the rounds' sizes.
    ///
    /// Nobody chooses: people who act together are spread over the rounds as everybody is.
    pub fn assigned(&self, assignment: &Assignment, token: &TokenHash) -> u32 {
        let rounds = &self.inner.plan.rounds;
        let first = place(assignment.first()).min(rounds.len() - 1);
        let total: u128 = rounds[first..].iter().map(|round| u128::from(round.users)).sum();
        let mut at = (u128::from(assignment.draw(token)) * total) >> 64;
        for (place, round) in rounds.iter().enumerate().skip(first) {
            if at < u128::from(round.users) {
                return u32::try_from(place + 1).unwrap_or(u32::MAX);
            }
            at -= u128::from(round.users);
        }
        self.rounds()
    }

    /// When a round that opens now is due, in seconds since 1970: never after the study's own end.
    pub fn deadline(&self, round: u32, now: u64) -> u64 {
        let due = now.saturating_add(self.rule(round).seconds);
        self.inner.study.expires().map_or(due, |end| due.min(end.max(now)))
    }

    /// The promise to each participant.
    pub fn certificate(&self) -> Result<Certificate> {
        Ok(self.inner.fit.certificate(&self.inner.plan, Randomness::Devices)?)
    }

    /// The state in which the first round opens.
    pub fn first(&self) -> Result<String> {
        write(&self.inner.fit.start(&self.inner.plan))
    }

    /// Whether these bytes are a report that a device could have made for the round.
    pub fn accepts(&self, round: u32, report: &[u8]) -> bool {
        let (Ok(report), Some(randomizer)) =
            (Report::from_bytes(report), self.inner.randomizers.get(place(round)))
        else {
            return false;
        };
        let indices = match randomizer.kind() {
            Kind::Duchi => 2,
            Kind::PrivUnit => randomizer.candidates(),
        };
        report.kind == randomizer.kind() && report.index < indices
    }

    /// Device: the report of a record, in the user's units, for a round.
    pub fn report(
        &self,
        state: &str,
        round: u32,
        features: &[f64],
        response: f64,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        let (state, randomizer) = self.round(state, round)?;
        if features.len() != self.inner.study.features().len() {
            return Err(Error::Argument(format!(
                "the study has {} features, the record {}",
                self.inner.study.features().len(),
                features.len()
            )));
        }
        let (features, response) = self.scale(features, response);
        Ok(self.inner.fit.report(&state, randomizer, &features, response, rng)?)
    }

    /// The record in the fit's units.
    fn scale(&self, features: &[f64], response: f64) -> (Vec<f64>, f64) {
        let study = &self.inner.study;
        let mut scaled: Vec<f64> =
            study.features().iter().zip(features).map(|(column, &value)| column.scale(value)).collect();
        scaled.extend(study.intercept().then_some(1.0));
        let response = study.response().scale(response);
        // Of two values the upper end of the bounds is 1.
        let binary = study.family().model().0.domain() == Domain::Binary;
        let response = if binary { f64::from(u8::from(response > 0.0)) } else { response };
        (scaled, response)
    }

    /// The state of a round, if it is one that the study's own plan can have.
    fn round(&self, text: &str, round: u32) -> Result<(RoundState, &Randomizer)> {
        let state = read(text)?;
        let foreign = || {
            Error::refused(
                "the service's round is not one of the study's plan",
                "update this program, or ask the curator which version the service runs",
            )
        };
        let (Some(planned), Some(randomizer)) =
            (self.inner.plan.rounds.get(place(round)), self.inner.randomizers.get(place(round)))
        else {
            return Err(foreign());
        };
        let agrees = state.round == place(round)
            && state.coefficients.len() == self.inner.plan.columns
            && state.coefficients.iter().all(|value| value.is_finite())
            && state.columns.len() == planned.columns
            && state.columns.is_sorted_by(|a, b| a < b)
            && state.columns.iter().all(|&column| column < self.inner.plan.columns)
            && (state.clip - planned.clip).abs() <= ROUNDING * planned.clip;
        if agrees { Ok((state, randomizer)) } else { Err(foreign()) }
    }

    /// An empty sum for a round's reports.
    pub fn sum(&self, state: &str) -> Result<ReportSum> {
        let number = u32::try_from(read(state)?.round + 1).unwrap_or(u32::MAX);
        let (_, randomizer) = self.round(state, number)?;
        Ok(ReportSum::new(randomizer))
    }

    /// Takes the step that a round's sum leads to.
    pub fn close_round(&self, state: &str, sum: &ReportSum) -> Result<Closed> {
        let number = u32::try_from(read(state)?.round + 1).unwrap_or(u32::MAX);
        let (state, _) = self.round(state, number)?;
        let next = self.inner.fit.close_round(&self.inner.plan, &state, &sum.total(), sum.count())?;
        let result = write(&next)?;
        Ok(Closed { next: (number < self.rounds()).then(|| result.clone()), result })
    }

    /// The estimate of the last closed round's result, in the study's units. Empty if no round is closed.
    pub fn estimate(&self, result: Option<&str>) -> Result<Vec<Coefficient>> {
        let Some(result) = result else { return Ok(Vec::new()) };
        let fitted = read(result)?.coefficients;
        let study = &self.inner.study;
        let [low, high] = study.response().bounds;
        // The predictor of a linear mean is in units of the response, any other has none.
        let (middle, half) = match study.family().model().0.is_linear() {
            true => (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low),
            false => (0.0, 1.0),
        };
        let mut constant = middle + half * fitted.get(study.features().len()).copied().unwrap_or(0.0);
        let mut slopes = Vec::with_capacity(fitted.len());
        for (column, value) in study.features().iter().zip(&fitted) {
            let [low, high] = column.bounds;
            let slope = half * value / (0.5 * high - 0.5 * low);
            constant -= slope * (0.5 * low + 0.5 * high);
            slopes.push(Coefficient { name: column.name.clone(), estimate: slope });
        }
        let mut estimate = vec![Coefficient { name: "(Intercept)".into(), estimate: constant }];
        estimate.append(&mut slopes);
        Ok(estimate)
    }

    /// What a mean gradient is multiplied by.
    pub(crate) fn step(&self) -> f64 {
        self.inner.plan.step
    }

    /// The numbers of a round.
    pub(crate) fn round_numbers(&self, round: u32) -> Option<RoundNumbers> {
        self.inner.randomizers.get(place(round)).map(|randomizer| RoundNumbers {
            kind: randomizer.kind(),
            dimension: randomizer.dimension(),
            radius: randomizer.radius(),
            epsilon: randomizer.epsilon(),
            candidates: randomizer.candidates(),
            cap: randomizer.cap(),
            gain: randomizer.gain(),
        })
    }
}

/// Whether two results of a round are the same: equal columns, and coefficients up to rounding. The first version of this
/// program added reports up in another way.
pub fn same_result(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (read(one), read(other)) else { return false };
    let close = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    one.round == other.round
        && one.columns == other.columns
        && one.coefficients.len() == other.coefficients.len()
        && one.coefficients.iter().zip(&other.coefficients).all(|(a, b)| close(a, b))
}

/// Rounds are counted from 1 outside, from 0 in the plan.
fn place(round: u32) -> usize {
    (round as usize).wrapping_sub(1)
}

fn write(state: &RoundState) -> Result<String> {
    serde_json::to_string(state)
        .map_err(|error| Error::Storage(format!("the state cannot be written: {error}")))
}

fn read(text: &str) -> Result<RoundState> {
    serde_json::from_str(text).map_err(|error| {
        Error::Storage(format!("the round's state cannot be read (column {})", error.column()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(family: &str) -> Study {
        Study::parse(&format!(
            r#"
            version = 1
            name = "a"
            purpose = "b"
            participants = "c"
            model = {{ family = "{family}", sparsity = 2, response = {{ name = "y", bounds = [10, 30] }}, features = [
                {{ name = "u", bounds = [0, 4] }}, {{ name = "v", bounds = [-1, 1] }}, {{ name = "w", bounds = [5, 6] }} ] }}
            privacy = {{ epsilon = 1, randomizer = "duchi" }}
            rounds = {{ reports = 100, minimum = 1, hours = 1, extensions = 0 }}
            "#
        ))
        .unwrap()
    }

    fn closed(protocol: &StudyProtocol, coefficients: [f64; 4]) -> String {
        let state = read(&protocol.first().unwrap()).unwrap();
        write(&RoundState { coefficients: coefficients.to_vec(), ..state }).unwrap()
    }

    /// Prediction from the estimate in the study's units is the fit's own prediction, scaled.
    #[test]
    fn estimates_are_in_the_studys_units() {
        for (family, middle, half) in [("linear", 20.0, 10.0), ("logistic", 0.0, 1.0)] {
            let protocol = StudyProtocol::new(&study(family)).unwrap();
            let fitted = [0.5, -0.25, 0.125, 0.0625];
            let estimate = protocol.estimate(Some(&closed(&protocol, fitted))).unwrap();
            let names: Vec<&str> = estimate.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names, ["(Intercept)", "u", "v", "w"]);
            for record in [[0.0, 0.0, 5.0], [3.0, -0.5, 5.75], [4.0, 1.0, 6.0]] {
                let (scaled, _) = protocol.scale(&record, 10.0);
                let fit: f64 = scaled.iter().zip(fitted).map(|(x, b)| x * b).sum();
                let user: f64 = estimate[1..].iter().zip(record).map(|(c, x)| c.estimate * x).sum();
                assert!((estimate[0].estimate + user - (middle + half * fit)).abs() < 1e-12);
            }
            assert_eq!(protocol.estimate(None).unwrap(), []);
        }
    }

    #[test]
    fn every_value_is_scaled_by_the_public_rule() {
        let linear = StudyProtocol::new(&study("linear")).unwrap();
        let odd = [f64::NAN, f64::INFINITY, -1e300];
        assert_eq!(linear.scale(&odd, f64::NEG_INFINITY), (vec![0.0, 1.0, -1.0, 1.0], -1.0));
        assert_eq!(linear.scale(&[1.0, 0.5, 5.5], f64::NAN), (vec![-0.5, 0.5, 0.0, 1.0], 0.0));
        let logistic = StudyProtocol::new(&study("logistic")).unwrap();
        for (response, coded) in
            [(10.0, 0.0), (20.0, 0.0), (20.5, 1.0), (30.0, 1.0), (f64::NAN, 0.0), (1e9, 1.0)]
        {
            assert_eq!(logistic.scale(&odd, response).1, coded, "{response}");
        }
    }

    #[test]
    fn reports_of_another_kind_are_not_accepted() {
        let protocol = StudyProtocol::new(&study("linear")).unwrap();
        let report = |kind, index| Report { kind, seed: [7; 16], index }.to_bytes();
        assert!(protocol.accepts(1, &report(Kind::Duchi, 0)) && protocol.accepts(1, &report(Kind::Duchi, 1)));
        assert!(!protocol.accepts(1, &report(Kind::Duchi, 2)));
        assert!(!protocol.accepts(1, &report(Kind::PrivUnit, 0)));
        assert!(!protocol.accepts(0, &report(Kind::Duchi, 0)));
        assert!(!protocol.accepts(protocol.rounds() + 1, &report(Kind::Duchi, 0)));
        assert!(!protocol.accepts(1, &[]));
    }

    #[test]
    fn the_plan_spends_epsilon_once_and_asks_for_all_reports() {
        let protocol = StudyProtocol::new(&study("linear")).unwrap();
        let asked: u64 = (1..=protocol.rounds()).map(|round| protocol.rule(round).target).sum();
        assert_eq!(asked, 100);
        let guarantee = protocol.certificate().unwrap().guarantee().unwrap();
        // Certificates round upward.
        assert!((1.0..1.0 + 1e-9).contains(&guarantee.epsilon) && guarantee.delta == 0.0);
        let first = protocol.first().unwrap();
        assert!(protocol.sum("null").is_err());
        let empty = protocol.sum(&first).unwrap();
        assert!(protocol.close_round(&first, &empty).is_err(), "an empty round is not closed");
    }
}
