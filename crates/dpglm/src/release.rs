//! One budget, many releases: each release draws a planned share, and nothing leaves outside the session.
//!
//! # Algorithm
//! A plan lists every release with its share of the budget (shares are of `rho`: a Gaussian of share f has
//! `mu^2 = f mu_total^2`, a selection the bounded range that gives the same rho). The accountant calibrates one noise
//! multiplier for the whole plan and computes the guarantee, before any data is seen. While the estimator runs, a release
//! that was not planned is refused, and so is one whose noise is less than planned. Sensitivities may depend on earlier releases, noise per unit
//! of sensitivity may not: that is what composition rests on (`docs/proofs/composition.md`).
//!
//! A release whose noise an estimator has to find by itself (objective perturbation, a random projection) is planned as a
//! *fixed* event of known (epsilon, delta); the others' noise is calibrated to what it leaves.
//!
//! A plan may have stages (`PlannedRelease::at`): the same release in two stages is two, told apart by the stage that the session is in,
//! and no release of one stage can be paid from another's. `parts` builds plans for rows in public parts on it.

//!
//! | file | what |
//! | --- | --- |
//! | `plan` | handles of releases, by kind, and lines of a plan |
//! | `calibrated` | a plan with its noise, and what it guarantees |
//! | `estimator` | what an estimator is, and one that is prepared |
//! | `session` | a calibrated plan being spent |
//! | `parts` | plans for rows in public parts |
//! | `replay` | a run recorded and replayed on a neighbouring table, for audits |

pub(crate) mod calibrated;
pub(crate) mod estimator;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod replay;
pub(crate) mod session;
#[cfg(test)]
pub(crate) mod tape;

pub use calibrated::CalibratedPlan;
pub(crate) use estimator::require_shape;
pub use estimator::{Estimator, Prepared, Progress};
pub(crate) use plan::{Chosen, Fixed, Handle, NoisyMax, Numbers, PlannedRelease, Vector};
pub use session::ReleaseSession;

use crate::accounting::gaussian::largest_mu;
use crate::privacy::Budget;

/// The privacy asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Privacy {
    /// An (epsilon, delta) budget for everything that leaves.
    Budget(Budget),
    /// No privacy: the same planned algorithm with no noise, to see what privacy costs.
    None,
}

impl Privacy {
    /// The budget as the `mu` of one Gaussian release, for planning. 1 without a finite or approximate budget.
    pub fn mu(&self) -> f64 {
        match self {
            Privacy::Budget(budget) if !budget.is_pure() => largest_mu(budget.epsilon(), budget.delta()),
            _ => 1.0,
        }
    }
}
