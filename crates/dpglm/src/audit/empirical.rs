//! Lower confidence bounds on epsilon, at many points of the privacy curve.
//!
//! # Algorithm
//! 1. A pilot of runs on both data sets of a neighbouring pair fixes thresholds for each statistic of the output.
//! 2. Fresh runs count, for each threshold, how often the statistic reaches it and how often it does not.
//! 3. A promise (epsilon, delta) says `P(S) <= e^epsilon Q(S) + delta` for every set S and both orders of the pair.
//!    Exact binomial bounds `p <= P(S)`, `Q(S) <= q` therefore prove `epsilon >= ln((p - delta) / q)`.
//! 4. That is compared with the claim at every point of its curve. All bounds hold together with the stated confidence (Bonferroni).
//!
//! # What it can and cannot show
//! A finding above the claim proves a broken promise (up to the confidence). No finding proves nothing by itself; that
//! is why each registered mechanism comes with weakened twins, on which the same audit must find something.

use super::binomial::{low_count, lower_bound, upper_bound};
use crate::accounting::{account, epsilon_at, failure_probability};
use crate::error::{Parameter, Result, require_nonzero};
use crate::noise::RandomSource;
use crate::privacy::Event;

/// A claimed privacy curve, as (epsilon, delta) points from pure to delta = 1/2.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    points: Vec<(f64, f64)>,
}

impl Claim {
    /// The curve that the accountant grants the events.
    pub fn of(events: &[Event]) -> Result<Self> {
        let spent = failure_probability(events);
        let mut points: Vec<(f64, f64)> = (1..=30)
            .map(|i| 0.5_f64.powi(i))
            // Where only one point of the curve is known: that one.
            .chain((spent > 0.0).then_some(1.001 * spent))
            .filter(|delta| *delta > spent * (1.0 + 1e-9))
            .map(|delta| Ok((epsilon_at(events, delta)?, delta)))
            .collect::<Result<_>>()?;
        // Not every event has a pure guarantee.
        if let Ok(pure) = account(events, 0.0) {
            points.push((pure.epsilon, 0.0));
        }
        Ok(Self { points })
    }

    /// One promise (epsilon, delta).
    pub fn at(epsilon: f64, delta: f64) -> Result<Self> {
        if !(epsilon.is_finite() && epsilon >= 0.0 && (0.0..1.0).contains(&delta)) {
            return Err(crate::Error::Conflict(format!(
                "a claim of epsilon {epsilon} and delta {delta}: epsilon must be finite and at least 0, and delta at least 0 and \
                 below 1"
            )));
        }
        Ok(Self { points: vec![(epsilon, delta)] })
    }

    /// Points (epsilon, delta) that all hold, such as a certificate's curve.
    pub fn curve(points: Vec<(f64, f64)>) -> Result<Self> {
        if points.is_empty() {
            return Err(crate::Error::Conflict(
                "a curve of no points claims nothing: give at least one".into(),
            ));
        }
        points.iter().try_for_each(|&(epsilon, delta)| Self::at(epsilon, delta).map(drop))?;
        Ok(Self { points })
    }

    /// The (epsilon, delta) points of the curve.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The point that a set of probability at least `p` on one side and at most `q` on the other exceeds by most:
    /// `(excess, epsilon proved, epsilon claimed, delta)`.
    fn compare(&self, p: f64, q: f64) -> (f64, f64, f64, f64) {
        self.points
            .iter()
            .filter(|(_, delta)| p > *delta)
            .map(|&(claimed, delta)| {
                let proved = ((p - delta) / q).ln();
                (proved - claimed, proved, claimed, delta)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::NEG_INFINITY, 0.0, 0.0, 1.0))
    }
}

/// The strongest evidence of a run of audits.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which statistic of the output.
    pub statistic: usize,
    /// The set is "statistic at least this" or its complement.
    pub threshold: f64,
    /// Lower bound on the set's probability on one side, upper bound on the other.
    pub probabilities: (f64, f64),
    /// The epsilon proved, at `delta`.
    pub epsilon: f64,
    /// The epsilon claimed at `delta`.
    pub claimed: f64,
    /// The delta of the claim's point.
    pub delta: f64,
    /// A repetition of the audit would exceed the claim again with probability above 0.999.
    pub repeatable: bool,
}

/// What an audit of one pair of neighbours found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The evidence that comes nearest to the claim or exceeds it most.
    pub strongest: Finding,
    /// How many sets were tried.
    pub sets: usize,
    /// Some set, not only the strongest, would exceed the claim again in a repetition of the audit with probability above 0.999.
    pub repeatable: bool,
}

impl Report {
    /// Whether the claim is refuted at the audit's confidence.
    pub fn refutes(&self) -> bool {
        self.strongest.epsilon > self.strongest.claimed
    }
}

/// How many runs to make and how sure to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Audit {
    runs: u64,
    pilot: u64,
    error: f64,
}

/// The share of a statistic's pooled pilot values below each threshold.
const LEVELS: [f64; 17] =
    [0.001, 0.003, 0.01, 0.03, 0.07, 0.15, 0.25, 0.4, 0.5, 0.6, 0.75, 0.85, 0.93, 0.97, 0.99, 0.997, 0.999];

impl Audit {
    /// `runs` on each side. An honest mechanism is refuted wrongly with probability at most `error`.
    pub fn new(runs: u64, error: f64) -> Result<Self> {
        require_nonzero(
            Parameter::Runs,
            runs,
            "a few hundred thousand runs tell a noise scale from its half",
        )?;
        crate::privacy::budget::check_delta(error)?;
        Ok(Self { runs, pilot: (runs / 20).max(200), error })
    }

    /// Another size of the pilot on each side, for methods that take long. It costs power, never confidence.
    pub fn pilot(mut self, runs: u64) -> Result<Self> {
        self.pilot = require_nonzero(Parameter::PilotRuns, runs, "a few dozen place the thresholds")?;
        Ok(self)
    }

    /// Audits one neighbouring pair: `run(false, ..)` and `run(true, ..)` give the statistics of one output on either
    /// data set, always equally many.
    pub fn examine(
        &self,
        claim: &Claim,
        mut run: impl FnMut(bool, &mut RandomSource) -> Result<Vec<f64>>,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        // Step 1: thresholds from a pilot that is not used again.
        let mut pilot: Vec<Vec<f64>> = Vec::new();
        for side in [false, true] {
            for _ in 0..self.pilot {
                for (k, x) in run(side, rng)?.into_iter().enumerate() {
                    if pilot.len() <= k {
                        pilot.push(Vec::new());
                    }
                    pilot[k].push(x);
                }
            }
        }
        let thresholds: Vec<Vec<f64>> = pilot
            .into_iter()
            .map(|mut values| {
                values.sort_by(f64::total_cmp);
                let mut chosen: Vec<f64> =
                    LEVELS.iter().map(|level| values[(level * values.len() as f64) as usize]).collect();
                chosen.dedup();
                chosen
            })
            .collect();

        // Step 2: counts on fresh runs.
        let mut reached: [Vec<Vec<u64>>; 2] =
            std::array::from_fn(|_| thresholds.iter().map(|t| vec![0; t.len()]).collect());
        for side in [false, true] {
            let counts = &mut reached[usize::from(side)];
            for _ in 0..self.runs {
                let output = run(side, rng)?;
                for ((x, levels), counts) in output.iter().zip(&thresholds).zip(counts.iter_mut()) {
                    let passed = levels.partition_point(|t| t <= x);
                    if let Some(last) = passed.checked_sub(1) {
                        counts[last] += 1;
                    }
                }
            }
            // From "highest threshold reached" to "threshold reached".
            for counts in counts.iter_mut() {
                for i in (1..counts.len()).rev() {
                    counts[i - 1] += counts[i];
                }
            }
        }

        // Steps 3 and 4: both sets of each threshold, in both orders; two bounds each.
        let sets: usize = thresholds.iter().map(|t| 4 * t.len()).sum();
        let alpha = self.error / (2 * sets) as f64;
        let mut strongest: Option<(f64, Finding)> = None;
        let mut some_repeatable = false;
        for (statistic, levels) in thresholds.iter().enumerate() {
            for (i, &threshold) in levels.iter().enumerate() {
                let (left, right) = (reached[0][statistic][i], reached[1][statistic][i]);
                for (a, b) in [
                    (left, right),
                    (right, left),
                    (self.runs - left, self.runs - right),
                    (self.runs - right, self.runs - left),
                ] {
                    let p = lower_bound(a, self.runs, alpha);
                    let q = upper_bound(b, self.runs, alpha);
                    let (excess, epsilon, claimed, delta) = claim.compare(p, q);
                    let repeatable = excess > 0.0 && self.would_repeat(claim, p, q, alpha);
                    some_repeatable |= repeatable;
                    if strongest.as_ref().is_none_or(|(most, _)| excess > *most) {
                        let probabilities = (p, q);
                        let finding = Finding {
                            statistic,
                            threshold,
                            probabilities,
                            epsilon,
                            claimed,
                            delta,
                            repeatable,
                        };
                        strongest = Some((excess, finding));
                    }
                }
            }
        }
        let Some((_, strongest)) = strongest else {
            return Err(crate::Error::Conflict("the audited output has no statistics to look at".into()));
        };
        Ok(Report { strongest, sets, repeatable: some_repeatable })
    }

    /// Whether sets of probability at least `p` and at most `q` would refute the claim in a new audit of the same size
    /// with probability above 0.999: they do so even at counts that are this unlucky with probability 0.0005 each.
    fn would_repeat(&self, claim: &Claim, p: f64, q: f64, alpha: f64) -> bool {
        let a = low_count(self.runs, p, 5e-4);
        let b = self.runs - low_count(self.runs, 1.0 - q, 5e-4);
        claim.compare(lower_bound(a, self.runs, alpha), upper_bound(b, self.runs, alpha)).0 > 0.0
    }
}
