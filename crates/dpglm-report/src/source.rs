//! What a report is made from: documents of every kind, read and checked.

use dpglm::accounting::Certificate;
use dpglm::error::{Message, Parameter};
use dpglm_workflow::audit::report::{AUDIT, AuditDocument};
use dpglm_workflow::document::{self, Artefact};
use dpglm_workflow::planned::{PLAN, PlanDocument};
use dpglm_workflow::study::{STUDY, StudyDocument};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A document and what it is called: the name of its file.
pub struct Source {
    /// The name.
    pub name: String,
    /// The document.
    pub(crate) document: Document,
}

/// A document of any kind.
pub(crate) enum Document {
    /// A fit, means or a description, with a certificate that adds up.
    Artefact(Artefact),
    /// The releases of a dry run, with a certificate that adds up.
    Plan(Box<PlanDocument>),
    /// A study's plan by simulation.
    Study(Box<StudyDocument>),
    /// What attacks found: not for publication.
    Audit(Box<AuditDocument>),
}

impl Source {
    /// Reads a document from its JSON. A certificate's claim is computed again from the releases it lists.
    pub fn parse(name: impl Into<String>, text: &str) -> Result<Self, Message> {
        #[derive(Deserialize)]
        struct Label {
            schema: Option<String>,
        }
        let label = serde_json::from_str::<Label>(text).ok().and_then(|label| label.schema);
        let document = match label.as_deref() {
            Some(PLAN) => {
                let plan: PlanDocument = read(text)?;
                plan.certificate.verify().map_err(|error| error.to_string())?;
                Document::Plan(Box::new(plan))
            }
            Some(STUDY) => Document::Study(Box::new(read(text)?)),
            Some(AUDIT) => Document::Audit(Box::new(read(text)?)),
            Some(document::FIT | document::MEAN | document::DESCRIBE) => {
                Document::Artefact(document::parse(text)?)
            }
            Some(other) => {
                return Err(format!(
                    "a document of schema {other:?}: reports are made of fits, means, descriptions, plans and audits"
                )
                .into());
            }
            None => {
                return Err(Message::new(
                    "not a document of this program: give what `dpglm fit {}` wrote, or what `dpglm plan` or `dpglm audit` printed as JSON",
                    &[&Parameter::Output],
                ));
            }
        };
        Ok(Self { name: name.into(), document })
    }

    /// The certificate, where the document has one.
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        match &self.document {
            Document::Artefact(artefact) => Some(artefact.certificate()),
            Document::Plan(plan) => Some(&plan.certificate),
            Document::Study(_) | Document::Audit(_) => None,
        }
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Message> {
    serde_json::from_str(text).map_err(|error| {
        format!("not a valid document ({error}): it was changed after it was written").into()
    })
}
