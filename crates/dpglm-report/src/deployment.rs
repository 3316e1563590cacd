//! A release in the fields of OpenDP's Privacy Deployments Registry, as far as a certificate knows them.
//!
//! The fields are those of the registry's template for records. What no certificate knows says so, and is for the curator.

use crate::{review, subject};
use dpglm::accounting::Certificate;
use dpglm::privacy::decimal::{rounded_down, rounded_up};
use dpglm::privacy::{Adjacency, Noise};
use dpglm_workflow::document::Artefact;
use dpglm_workflow::render;
use serde_json::{Value, json};

/// What a curator has to write.
pub(crate) const OPEN: &str = "TO BE FILLED IN BY THE CURATOR";

/// The record as JSON.
pub(crate) fn json(certificate: &Certificate, artefact: &Artefact) -> String {
    serde_json::to_string_pretty(&record(certificate, artefact)).unwrap_or_default()
}

fn record(certificate: &Certificate, artefact: &Artefact) -> Value {
    let (kind, what, n) = match artefact {
        Artefact::Fit(fit) => ("Machine learning model", fit.heading(), fit.n),
        Artefact::Mean(mean) => ("Summary statistics", mean.heading(), mean.n),
        Artefact::Describe(description) => ("Summary statistics", description.heading(), description.n),
    };
    let claim = certificate.guarantee();
    let (epsilon, delta) = (claim.map(|claim| claim.epsilon), claim.map(|claim| claim.delta));
    let is_local = subject::is_local(certificate.adjacency());
    let unit = match certificate.adjacency() {
        Adjacency::ReplaceUnit(column) => column.clone(),
        Adjacency::ReplaceRow => "row".into(),
        Adjacency::ReplacePair => "row of two people".into(),
        Adjacency::ReplaceUserRecord => "user's record".into(),
        Adjacency::ReplaceUserLabel => "user's label".into(),
    };
    let events = certificate.events().iter().chain(certificate.parts().iter().flat_map(|part| &part.events));
    let mechanisms: Vec<String> = events
        .map(|event| format!("{} x {}: {}", event.count(), event.release(), mechanism(event.noise())))
        .collect();
    let method = claim.map(|claim| render::bound(claim.method)).unwrap_or_default();
    json!({
        "url_slug": OPEN,
        "deployment": {
            "basic": {
                "name": OPEN,
                "data_curators": [{ "data_curator_name": OPEN, "data_curator_type": OPEN }],
                "description": what,
                "intended_use": OPEN,
                "data_product_type": kind,
                "data_product_region": OPEN,
                "data_product_sector": OPEN,
                "publication_date": OPEN,
            },
            "dp_variant": {
                "variant_name": if delta == Some(0.0) { "Pure DP" } else { "Approximate DP" },
                "data_domain": subject::neighbours(certificate),
                "unprotected_quantities": certificate.conditions().join("; "),
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_details": subject::neighbours(certificate),
                "number_of_privacy_units": n,
                "privacy_parameters": { "epsilon": epsilon, "delta": delta },
                "privacy_parameters_details": certificate.to_string(),
            },
            "deployment_model": {
                "model_name": if is_local { "Local" } else { "Central" },
                "model_name_details": "",
                "trust_assumptions": certificate.conditions().join("; "),
                "actors": OPEN,
                "release_type": OPEN,
                "release_type_details": OPEN,
                "data_source_type": OPEN,
                "data_source_type_details": OPEN,
                "access_type": "Non-interactive",
                "access_type_details": "",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": OPEN,
                "mechanisms": format!(
                    "dpglm {}. {}. Enforced: {}",
                    review::written_by(certificate), mechanisms.join("; "), certificate.enforced().join("; ")
                ),
                "composition": format!("accounted for by: {method}"),
                "post_processing": OPEN,
                "justification": OPEN,
                "utility": OPEN,
                "additional_information": subject::algorithm(artefact).join(" "),
            },
            "administrative": { "evidence_sources": {}, "status": "Draft", "registry_authors": [OPEN] },
        },
    })
}

fn mechanism(noise: Noise) -> String {
    match noise {
        Noise::Gaussian { sensitivity, sigma } => {
            format!("Gaussian, sigma / sensitivity {}", rounded_down(sigma / sensitivity))
        }
        Noise::Laplace { sensitivity, scale } => {
            format!("Laplace, scale / sensitivity {}", rounded_down(scale / sensitivity))
        }
        Noise::Selection { sensitivity, scale } => {
            format!("exponential mechanism, scale / sensitivity {}", rounded_down(scale / sensitivity))
        }
        Noise::Pure { epsilon } => format!("pure, epsilon {}", rounded_up(epsilon)),
        Noise::Zcdp { rho } => format!("zero-concentrated, rho {}", rounded_up(rho)),
        Noise::Approximate { epsilon, delta } => {
            format!("approximate, epsilon {}, delta {}", rounded_up(epsilon), rounded_up(delta))
        }
        _ => "another".into(),
    }
}
