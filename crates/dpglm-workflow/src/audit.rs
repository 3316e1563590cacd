//! Audits: attacks on a method, and lower bounds on its epsilon beside what it claims.

pub mod ground;
pub mod report;
pub mod subject;

use super::failure::Failure;
use dpglm::audit::{Findings, Ground, Inspection, Opposite, Table};
use dpglm::central::Privacy;
use dpglm::error::{Message, Parameter};
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use ground::Stage;
pub use subject::Subject;

/// How a method is attacked.
pub struct Attack {
    /// How often it is run on each of two neighbours; 0 leaves this out.
    pub runs: u64,
    /// Runs of a pilot, for methods that take long.
    pub pilot: Option<u64>,
    /// Pairs of canaries; by default a quarter of the rows, at most 500.
    pub canaries: Option<usize>,
    /// In what the two rows of a pair differ.
    pub opposite: Option<Opposite>,
    /// The confidence of the lower bounds, all together.
    pub confidence: f64,
    /// The claim, of which epsilon may be missing.
    pub claim: (Option<f64>, f64),
    /// How the method is run.
    pub privacy: Privacy,
}

impl Attack {
    /// Runs the attacks. `progress` is told before each run of the method how many are over; their number is not known beforehand, and
    /// is 0.
    pub fn run(
        &self,
        subject: &Subject,
        stage: &mut Stage,
        rng: &mut RandomSource,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Findings, Failure> {
        let mut over = 0;
        let mut begins = || {
            progress(over, 0);
            over += 1;
        };
        let mut inspection = Inspection::new(subject.estimand()?, 1.0 - self.confidence)?.runs(self.runs);
        if let Some(pilot) = self.pilot.filter(|&pilot| pilot > 0) {
            inspection = inspection.pilot(pilot);
        }
        if let Some(opposite) = self.opposite {
            inspection = inspection.opposite(opposite)?;
        }
        // Without a claim there is nothing to exceed; the bounds are the same.
        let promise = (self.claim.0.unwrap_or(0.0), self.claim.1);
        if let Some(right) = &stage.neighbour {
            if self.runs == 0 {
                return Err(Failure::Usage(Message::new(
                    "{} needs {} of at least 1",
                    &[&Parameter::Neighbour, &Parameter::Runs],
                )));
            }
            let mut fit = subject.estimator(stage, stage.base.rows(), self.privacy)?;
            let mut watched = |table: &Table, rng: &mut RandomSource| {
                begins();
                fit(table, rng)
            };
            return Ok(inspection.neighbours(&stage.base, right, promise, &mut watched, rng)?);
        }
        let canaries = self.canaries.unwrap_or((stage.base.rows() / 4).clamp(1, 500));
        // Canaries take the places of rows.
        let rest = stage.base.rows().checked_sub(canaries).filter(|&rest| rest > 0);
        let Some(rest) = rest else {
            return Err(Failure::Usage(format!(
                "canaries must be fewer than the {} rows they are planted among, got {canaries}: give fewer, or more rows",
                stage.base.rows()
            ).into()));
        };
        stage.base = stage.base.slice(0, rest)?;
        let mut inspection = inspection.canaries(canaries);
        if let Some(epsilon) = self.claim.0 {
            // What the method would claim of its noise, also where it is run without.
            let claimed = Privacy::Budget(Budget::new(epsilon, self.claim.1)?);
            if let Some(curve) = subject.curve(stage, rest + canaries, claimed)? {
                inspection = inspection.promise(curve);
            }
        }
        let mut fit = subject.estimator(stage, rest + canaries, self.privacy)?;
        let ground = Ground {
            base: &stage.base,
            held_out: Some(&stage.held_out),
            reference: &stage.reference,
            cells: &stage.cells,
        };
        let mut watched = |table: &Table, rng: &mut RandomSource| {
            begins();
            fit(table, rng)
        };
        Ok(inspection.run(&ground, promise, &mut watched, rng)?)
    }
}
