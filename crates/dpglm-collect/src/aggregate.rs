//! The curator's side of a study: which rounds there are, what a round's reports say together, and the estimate.
//!
//! Nothing here knows of HTTP or of a storage: a state goes in as text, reports go in as bytes, the next state comes out. The
//! same reports give the same state, whatever their order and whoever computes it.

use std::sync::Arc;

use dpglm::local::randomizer::{Kind, Randomizer, Report};
use dpglm::noise::RandomSource;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::storage::{Round, Rule};
use crate::study::Study;

/// The plan of a study.
#[derive(Debug, Clone)]
pub struct Aggregate {
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct Plan {
    study: Study,
    randomizer: Randomizer,
    rounds: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    round: u32,
    theta: Vec<f64>,
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
    /// The feature's name.
    pub name: String,
    /// The estimate.
    pub estimate: f64,
}

/// A study's facts, for the page.
#[derive(Debug, Serialize)]
pub struct Facts<'a> {
    name: &'a str,
    purpose: &'a str,
    epsilon: f64,
}

/// What a device does in a round, for the page.
#[derive(Debug, Serialize)]
pub struct RoundPlan {
    kind: Kind,
}

impl Aggregate {
    /// The plan of a study: public numbers only.
    pub fn new(study: &Study) -> Result<Self> {
        let randomizer = Randomizer::new(Kind::Duchi, study.features().len(), 1.0, study.epsilon())?;
        Ok(Self { plan: Arc::new(Plan { study: study.clone(), randomizer, rounds: 3 }) })
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u32 {
        self.plan.rounds
    }

    /// When a round ends.
    pub fn rule(&self, _round: u32) -> Rule {
        let study = &self.plan.study;
        let target = (study.reports() / u64::from(self.plan.rounds)).max(1);
        Rule {
            target,
            minimum: study.minimum().min(target),
            seconds: study.seconds(),
            extensions: study.extensions(),
        }
    }

    /// The state in which the first round opens.
    pub fn first(&self) -> Result<String> {
        write(&State { round: 1, theta: vec![0.0; self.plan.study.features().len()] })
    }

    /// Whether these bytes are a report that a device could have made for the round.
    pub fn accepts(&self, _round: u32, report: &[u8]) -> bool {
        let mut sum = vec![0.0; self.plan.study.features().len()];
        Report::from_bytes(report)
            .is_ok_and(|report| self.plan.randomizer.estimate(&report, &mut sum).is_ok())
    }

    /// A device's report for a round.
    pub fn report(
        &self,
        state: &str,
        round: u32,
        features: &[f64],
        _response: f64,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        let state = read(state)?;
        if state.round != round {
            return Err(Error::Argument("the state is another round's".into()));
        }
        Ok(self.plan.randomizer.randomize(features, rng)?)
    }

    /// Sums a round's reports, which must be sorted, and takes the step.
    pub fn close_round(&self, state: &str, reports: &[Vec<u8>]) -> Result<Closed> {
        let mut state = read(state)?;
        let mut sum = vec![0.0; state.theta.len()];
        for report in reports {
            self.plan.randomizer.estimate(&Report::from_bytes(report)?, &mut sum)?;
        }
        for (t, s) in state.theta.iter_mut().zip(&sum) {
            *t += s / reports.len().max(1) as f64;
        }
        state.round += 1;
        let text = write(&state)?;
        Ok(Closed { next: (state.round <= self.plan.rounds).then(|| text.clone()), result: text })
    }

    /// The estimate after the last closed round.
    pub fn estimate(&self, rounds: &[Round]) -> Result<Vec<Coefficient>> {
        let Some(result) = rounds.iter().rev().find_map(|round| round.result.as_deref()) else {
            return Ok(Vec::new());
        };
        let state = read(result)?;
        let names = self.plan.study.features().iter().map(|column| column.name.clone());
        Ok(names.zip(state.theta).map(|(name, estimate)| Coefficient { name, estimate }).collect())
    }

    /// The numbers of a round.
    pub fn round_plan(&self, _state: &str) -> Result<RoundPlan> {
        Ok(RoundPlan { kind: Kind::Duchi })
    }

    /// The facts of a study.
    pub fn facts<'a>(&self, study: &'a Study) -> Facts<'a> {
        Facts { name: study.name(), purpose: study.purpose(), epsilon: study.epsilon() }
    }
}

fn write(state: &State) -> Result<String> {
    serde_json::to_string(state)
        .map_err(|error| Error::Storage(format!("the state cannot be written: {error}")))
}

fn read(text: &str) -> Result<State> {
    serde_json::from_str(text)
        .map_err(|error| Error::Storage(format!("the state cannot be read (column {})", error.column())))
}
