//! What people who act together can do to a study: how far a report moves a coefficient, and how many flip a feature.
//!
//! A device may send any direction it likes, so one report moves the mean gradient by a vector of length `radius / gain / n`
//! at most, and the coefficients by `step` times that. To put another feature in the place of a true one, colluders push one
//! up and the other down: along both at once a report gains `sqrt(2)` times that. Rounds are drawn from tokens, so of
//! colluding devices each round has its share, and no more than chance allows.
//!
//! These are bounds: a real attacker has to search for seeds whose directions suit, and gets about half as far.

use dpglm::accounting::{Certificate, shuffle};
use dpglm::privacy::{Adjacency, Event, Noise, Randomness};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::protocol::StudyProtocol;

/// What a round withstands. Coefficients are those of features and response scaled by their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Influence {
    /// From 1.
    pub round: u32,
    /// Reports of the round, as planned.
    pub reports: u64,
    /// How far one report moves a coefficient at most.
    pub one_report: f64,
    /// The coefficient that just stands out of the privacy noise of all columns in play.
    pub stands_out: f64,
    /// How many colluding reports in this round could put another feature in the place of one that just stands out.
    pub colluders: u64,
    /// The largest coefficient whose feature could be replaced if one in a hundred devices colludes, chance included.
    pub one_percent: f64,
}

/// The share of colluders for which a round's exposure is stated.
const SHARE: f64 = 0.01;
/// The probability with which chance gives a round more of them: 1e-6, as a normal quantile rounded up.
const CHANCE: f64 = 4.8;

impl StudyProtocol {
    /// What each round withstands.
    pub fn influence(&self) -> Vec<Influence> {
        (1..=self.rounds())
            .filter_map(|round| {
                let numbers = self.round_numbers(round)?;
                let reports = self.rule(round).target;
                let (n, columns) = (reports as f64, numbers.dimension as f64);
                let reach = self.step() * numbers.radius / numbers.gain;
                let one_report = reach / n;
                let noise = reach / (n * columns).sqrt();
                let stands_out = noise * ((2.0 * columns.ln()).sqrt() + 2.0);
                let pair = std::f64::consts::SQRT_2 * one_report;
                let gathered = n * SHARE + CHANCE * (n * SHARE * (1.0 - SHARE)).sqrt() + CHANCE;
                Some(Influence {
                    round,
                    reports,
                    one_report,
                    stands_out,
                    colluders: (stands_out / pair).ceil() as u64,
                    one_percent: pair * gathered.min(n),
                })
            })
            .collect()
    }

    /// The promise towards whoever sees shuffled reports alone, at `delta`, if rounds have these numbers of reports: what the
    /// smallest round gives. Conditional, since no software of the curator can check who shuffles.
    pub fn shuffled(&self, reports: impl IntoIterator<Item = u64>, delta: f64) -> Result<Certificate> {
        let fewest = reports.into_iter().min().filter(|&fewest| fewest > 0);
        let fewest =
            fewest.ok_or_else(|| Error::Argument("no round has reports: nothing was shuffled yet".into()))?;
        if !(delta > 0.0 && delta < 1.0) {
            return Err(Error::Argument(format!("delta must lie between 0 and 1, got {delta}")));
        }
        let local = self.study().epsilon();
        // The accountant adds failure probabilities up outwards: the release's own lies a little below the claim's.
        let own = delta * (1.0 - 1e-9);
        // A zero would be no event: the smallest loss that can be written stands for it.
        let epsilon = shuffle::epsilon(local, fewest, own)?.max(1e-12);
        let noise = Noise::Approximate { epsilon, delta: own };
        let event = Event::new("one report among the shuffled reports of its round", noise, 1)?;
        Ok(Certificate::certified(Adjacency::ReplaceUserRecord, vec![event], delta, Randomness::Devices)?
            .enforcing(format!("each report is pure epsilon {local} by itself, whoever sees it"))
            .assuming(
                "an independent party shuffles the reports of each round, and gives the curator these and nothing else about who \
                 sent them: no token, address, time or order",
            )
            .assuming(format!("at least {fewest} reports of each round, one's own included, come from devices that follow the protocol"))
            .provided("each user belongs to one round"))
    }
}
