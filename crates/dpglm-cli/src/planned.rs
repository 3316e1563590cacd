//! What a dry run prints: the planned releases and what they would cost.

use crate::failure::Failure;
use crate::table::Columns;
use crate::{Format, render};
use dpglm::accounting::Certificate;
use dpglm_workflow::planned::PlanDocument;
use std::path::Path;

pub use dpglm_workflow::planned::certificate;

/// Refuses flags that a plan cannot follow: no cell enters it, and it writes nothing.
pub fn refuse_misplaced(columns: &Columns, output: Option<&Path>) -> Result<(), Failure> {
    let flags = columns.about_cells().into_iter().chain([("--output", output.is_some())]);
    match flags.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::Usage(format!(
            "{flag} has no place in a dry run, which plans from public facts and writes nothing: leave out {flag} or --dry-run"
        ))),
    }
}

/// The planned events, with sensitivities in units of their own, and the promise they would carry.
pub fn show(certificate: &Certificate, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return render::json(&PlanDocument::new(certificate.clone()));
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
        "{releases}{certificate}\n{conditions}This is a plan: it rests on public facts alone, and nothing was spent.\n"
    ))
}
