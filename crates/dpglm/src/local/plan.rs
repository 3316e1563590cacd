//! How many rounds, how many users in each, which clip: from public numbers only.
//!
//! # Algorithm
//! With p columns, s of them wanted, n users:
//!
//! 1. The columns in play shrink by 2.5 each round, from p down to s; then one more round on the s columns. A
//!    randomized vector of d coordinates carries noise of total variance proportional to d^2, so that a round on few columns
//!    tells far more, and the first round need not find the support, only keep it among 2/5 of the columns.
//! 2. A round on d columns gets a share of the users proportional to `d^(3/4)`.
//! 3. The clip of the score starts at 0.4 of the largest residual that the declared responses allow at zero coefficients.
//!    The planner then follows the expected size `rho` of a residual: half of it goes away in a round (a clip at one standard
//!    deviation passes two thirds), and the reports' noise on the columns that are kept is added:
//!    `rho' = sqrt(rho^2 / 4 + noise^2)`. The next clip is `rho'`.
//! 4. Families whose score has a bound of its own (logistic), or errors that do not shrink (Poisson), keep their cap, or a
//!    floor below it.
//!
//! The numbers 2.5, 3/4, 0.4 and 1/2 were chosen by simulation (features of independent signs, p = 50, s = 5, epsilon 2,
//! 10,000 to 160,000 users, responses declared at twice and at four times their deviation).

use super::randomizer::{Kind, Randomizer};
use crate::error::{Error, Parameter, Result, require_nonzero};
use crate::families::{Domain, Family};
use serde::{Deserialize, Serialize};

/// What the columns in play are divided by from one round to the next.
const NARROWING: f64 = 2.5;
/// A round's share of the users is proportional to this power of its columns.
const SHARE_POWER: f64 = 0.75;
/// The first clip, as a share of the largest residual at zero coefficients.
const FIRST_CLIP: f64 = 0.4;
/// The part of the residual that a round is trusted to leave.
const LEFT_OVER: f64 = 0.5;
/// The clip never falls below this share of the first one.
const SMALLEST_CLIP: f64 = 0.02;
/// Poisson residuals do not shrink below the deviation of a count of mean one; twice that.
const COUNT_FLOOR: f64 = 2.0;

/// One round: a group of users, each of whom sends one report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// How many users answer.
    pub users: u64,
    /// How many columns are in play.
    pub columns: usize,
    /// How many of them stay.
    pub keep: usize,
    /// The bound on a score.
    pub clip: f64,
}

/// All rounds of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundPlan {
    /// The privacy loss of a report.
    pub epsilon: f64,
    /// The columns of the study.
    pub columns: usize,
    /// The step: what the mean gradient is multiplied by.
    pub step: f64,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
}

impl RoundPlan {
    /// A plan for `users` users and `columns` columns of which `keep` are wanted. `largest` is the largest residual at zero
    /// coefficients; `kind` the randomizer.
    pub(super) fn new(
        family: &Family,
        (users, columns, keep): (u64, usize, usize),
        epsilon: f64,
        largest: f64,
        step: f64,
        kind: Kind,
    ) -> Result<Self> {
        // Step 1
        let mut sizes = vec![columns];
        while let Some(&last) = sizes.last().filter(|&&d| d > keep) {
            sizes.push(((last as f64 / NARROWING).ceil() as usize).max(keep));
        }
        sizes.push(keep);
        require_nonzero(Parameter::Users, users, "a study needs users")?;
        if users < 10 * sizes.len() as u64 {
            return Err(Error::OutOfRange {
                parameter: Parameter::Users,
                range: "at least ten per round",
                value: format!("{users} for {} rounds", sizes.len()),
                remedy: "ask more users, or start from fewer columns",
            });
        }
        // Step 2
        let total: f64 = sizes.iter().map(|&d| (d as f64).powf(SHARE_POWER)).sum();
        let mut left = users;
        let mut rounds = Vec::with_capacity(sizes.len());
        let mut size = FIRST_CLIP * largest;
        let floor = match family.domain() {
            Domain::Count => COUNT_FLOOR.min(size),
            _ => SMALLEST_CLIP * size,
        };
        for (at, &d) in sizes.iter().enumerate() {
            let share = (d as f64).powf(SHARE_POWER) / total;
            let last = at + 1 == sizes.len();
            let group = if last { left } else { ((share * users as f64) as u64).clamp(1, left) };
            left -= group;
            let kept = sizes.get(at + 1).copied().unwrap_or(keep);
            // Steps 3 and 4
            let clip = family.own_cap().unwrap_or(size);
            rounds.push(Round { users: group, columns: d, keep: kept, clip });
            if !last {
                let gain = Randomizer::new(kind, d, 1.0, epsilon)?.gain();
                let noise = clip * (kept as f64 / group as f64).sqrt() / gain;
                size = (LEFT_OVER * size).hypot(noise).clamp(floor, size);
            }
        }
        Ok(Self { epsilon, columns, step, rounds })
    }

    /// The number of users of all rounds.
    pub fn users(&self) -> u64 {
        self.rounds.iter().map(|round| round.users).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(users: u64, columns: usize, keep: usize) -> Result<RoundPlan> {
        RoundPlan::new(&Family::gaussian(), (users, columns, keep), 2.0, 2.3, 1.0, Kind::PrivUnit)
    }

    #[test]
    fn plans_use_every_user_once_and_narrow_to_the_wanted_columns() {
        for (users, columns, keep) in [(10_000, 50, 5), (160_000, 50, 5), (1_000, 4, 4), (999, 7, 1)] {
            let plan = plan(users, columns, keep).unwrap();
            assert_eq!(plan.users(), users);
            assert_eq!(plan.rounds[0].columns, columns);
            assert_eq!(plan.rounds.last().unwrap().keep, keep);
            for pair in plan.rounds.windows(2) {
                assert_eq!(pair[0].keep, pair[1].columns);
                assert!(pair[1].clip <= pair[0].clip && pair[1].clip > 0.0);
            }
            assert!(plan.rounds.iter().all(|round| round.users > 0));
        }
        assert!(plan(20, 50, 5).is_err());
    }

    #[test]
    fn more_users_mean_tighter_clips() {
        let (few, many) = (plan(10_000, 50, 5).unwrap(), plan(160_000, 50, 5).unwrap());
        assert!(many.rounds.last().unwrap().clip < few.rounds.last().unwrap().clip);
    }
}
