//! What a dry run prints: the planned releases and what they would cost.

use crate::failure::Failure;
use crate::{Format, render};
use dpglm::privacy::Certificate;
use dpglm_io::assembly::planned::PlanDocument;

pub use dpglm_io::assembly::planned::certificate;

/// The planned events, with sensitivities in units of their own, and the promise they would carry.
pub fn show(certificate: &Certificate, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return render::json(&PlanDocument::new(certificate));
    }
    let releases = match certificate.events() {
        [] => String::new(),
        events => format!(
            "Planned releases, each in units of its own sensitivity:\n\n{}\n",
            render::events(events, render::Digits::Few)?
        ),
    };
    let releases = releases + &render::parts(certificate.parts(), render::Digits::Few)?;
    let conditions = render::conditions(certificate, "--format json lists them");
    Ok(format!(
        "{releases}{certificate}\n{conditions}This is a plan: no cell was read and nothing was spent.\n"
    ))
}
