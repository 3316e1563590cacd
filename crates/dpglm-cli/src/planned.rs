//! What a dry run prints: the planned releases and what they would cost.

use crate::failure::Failure;
use crate::{Format, render};
use dpglm::central::Privacy;
use dpglm::privacy::{Adjacency, Certificate, Event, Part};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    certificate: &'a Certificate,
}

/// The planned events, with sensitivities in units of their own, and the promise they would carry, which may rest on an
/// assumption.
pub fn show(
    events: Vec<Event>,
    parts: Vec<Part>,
    adjacency: Adjacency,
    assumption: Option<&str>,
    privacy: Privacy,
    format: Format,
) -> Result<String, Failure> {
    let certificate = match privacy {
        Privacy::Budget(budget) if !events.is_empty() => {
            let certificate = Certificate::certified_in_parts(adjacency, events, parts, budget.delta())?;
            match assumption {
                Some(assumption) => certificate.assuming(assumption),
                None => certificate,
            }
        }
        _ => Certificate::without_promise(adjacency, events, "no noise would be added"),
    };
    if format == Format::Json {
        return render::json(&Document { schema: "dpglm.plan/1", certificate: &certificate });
    }
    let releases = match certificate.events() {
        [] => String::new(),
        events => format!(
            "Planned releases, each in units of its own sensitivity:\n\n{}\n",
            render::events(events, render::rounded)?
        ),
    };
    let releases = releases + &render::parts(certificate.parts(), render::rounded)?;
    Ok(format!("{releases}{certificate}\nThis is a plan: no cell was read and nothing was spent.\n"))
}
