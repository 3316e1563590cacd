//! What a dry run promises: the planned releases and what they would cost.

use super::failure::Failure;
use dpglm::accounting::{Certificate, Part};
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Event};
use serde::{Deserialize, Serialize};

/// The schema of a plan.
pub const PLAN: &str = "dpglm.plan/1";

/// The plan as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDocument {
    schema: String,
    /// What would leave, and what it would cost.
    pub certificate: Certificate,
}

impl PlanDocument {
    /// The document of a planned certificate.
    pub fn new(certificate: Certificate) -> Self {
        Self { schema: PLAN.into(), certificate }
    }
}

/// The certificate that the planned events would carry with noise from `source`, with sensitivities in units of their own; it
/// may rest on an assumption.
pub fn certificate(
    events: Vec<Event>,
    parts: Vec<Part>,
    adjacency: Adjacency,
    assumption: Option<&str>,
    privacy: Privacy,
    source: &RandomSource,
) -> Result<Certificate, Failure> {
    Ok(match privacy {
        Privacy::Budget(budget) if !(events.is_empty() && parts.is_empty()) => {
            let certificate =
                Certificate::certified_in_parts(adjacency, events, parts, budget.delta(), source)?;
            match assumption {
                Some(assumption) => certificate.assuming(assumption),
                None => certificate,
            }
        }
        _ => Certificate::without_promise(adjacency, events, "no noise would be added"),
    })
}
