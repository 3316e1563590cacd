//! Whom a promise protects and by what algorithm, in words.

use crate::effects::domain;
use dpglm::accounting::Certificate;
use dpglm::families::Domain;
use dpglm::privacy::Adjacency;
use dpglm::registry;
use dpglm_workflow::document::{Artefact, FitDocument, MeanDocument};
use dpglm_workflow::means::MeanMethod;
use dpglm_workflow::model::{Calibration, Method};

/// What neighbours are.
pub(crate) fn neighbours(certificate: &Certificate) -> String {
    match certificate.adjacency() {
        Adjacency::ReplaceRow if certificate.is_of_rows_made() => {
            "Two tables are neighbours when one row is replaced by any other, with all rows that are made of it. Both have as many rows before \
             rows are made of them, and their number is public."
                .into()
        }
        Adjacency::ReplaceRow => "Two tables are neighbours when one row is replaced by any other. Both have as many rows, and their number is public.".into(),
        Adjacency::ReplaceUnit(column) => format!(
            "Two tables are neighbours when all rows of one {column} are replaced by any others. Both have as many values of `{column}`, and their number is public."
        ),
        Adjacency::ReplaceUserRecord => "Neighbours differ in one user's record, before it leaves the user's device. Who takes part is public.".into(),
        Adjacency::ReplaceUserLabel => "Neighbours differ in one user's label, before it leaves the user's device. Features and who takes part are public.".into(),
        Adjacency::ReplacePair => "Two tables are neighbours when one row, which describes two people, is replaced by any other. Both have as many rows, and their number is public.".into(),
    }
}

/// Whether users' devices add the noise.
pub(crate) fn is_local(adjacency: &Adjacency) -> bool {
    matches!(adjacency, Adjacency::ReplaceUserRecord | Adjacency::ReplaceUserLabel)
}

/// Which algorithm, where it comes from and where its argument stands.
pub(crate) fn algorithm(artefact: &Artefact) -> Vec<String> {
    let (called, entry) = match artefact {
        Artefact::Fit(fit) => (fit.method.name(), entry_of_fit(fit)),
        Artefact::Mean(mean) => ("means".into(), entry_of_means(mean)),
        Artefact::Describe(_) => ("describe".into(), "describe"),
    };
    let Some(entry) = registry::entries().iter().find(|found| found.name == entry) else {
        return vec![format!("{called}. It is not among the audited methods; `dpglm methods` lists it.")];
    };
    vec![
        format!("{called} ({}): {}. Guarantee: {}.", entry.name, entry.summary, entry.guarantee),
        format!("From: {}. `docs/references.md` of the program has the works in full.", entry.reference),
        format!(
            "The argument why it is private stands in the library's documentation of {}. Its mechanism is audited by the library's tests, and \
             copies of it with too little noise are caught.",
            entry.types.join(", ")
        ),
    ]
}

/// The pages of proofs that the releases of a certificate rest on.
pub(crate) fn proofs(certificate: &Certificate) -> String {
    let events =
        || certificate.events().iter().chain(certificate.parts().iter().flat_map(|part| &part.events));
    let has = |kind: &str| {
        events().any(|event| serde_json::to_value(event).is_ok_and(|fields| fields["mechanism"] == kind))
    };
    let mut pages = vec!["composition", "noise"];
    let by_kind = [("selection", "selections"), ("laplace", "laplace")];
    pages.extend(by_kind.into_iter().filter(|(kind, _)| has(kind)).map(|(_, page)| page));
    if matches!(certificate.adjacency(), Adjacency::ReplaceUnit(_)) || certificate.is_of_rows_made() {
        pages.push("units");
    }
    let pages: Vec<String> = pages.into_iter().map(|page| format!("docs/proofs/{page}.md")).collect();
    format!("Proofs: {}.", pages.join(", "))
}

fn entry_of_fit(fit: &FitDocument) -> &'static str {
    use {Domain as D, Method as M};
    let is_tuned = !fit.certificate.parts().is_empty();
    match (fit.method, domain(fit)) {
        (M::SelectRefine, _) if fit.split == Some(true) => "split-refine",
        (M::SelectRefine, _) if is_tuned => "tuned-sparsity",
        (M::BoundedScore, _) if is_tuned => "tuned-ridge",
        (M::Likelihood, D::Real) => "linear-likelihood",
        (M::Likelihood, D::Binary) if fit.family.name() == "probit" => "probit-likelihood",
        (M::Likelihood, D::Binary) if fit.family.name() == "cloglog" => "cloglog-likelihood",
        (M::Likelihood, D::Binary) => "logistic-likelihood",
        (M::Likelihood, D::Positive) => "gamma-likelihood",
        (M::Likelihood, D::Nonnegative) => "tweedie-likelihood",
        (M::Likelihood, D::Count) => "poisson-likelihood",
        (M::Likelihood, D::Classes(_)) => "multinomial-likelihood",
        (M::BoundedScore, D::Real) => "linear",
        (M::BoundedScore, D::Binary) => "logistic",
        (M::BoundedScore, D::Count | D::Positive | D::Nonnegative) => "poisson",
        (M::BoundedScore, D::Classes(_)) => "multinomial",
        (M::Statistics, _) => "linear-statistics",
        (M::SelectRefine, D::Classes(_)) => "sparse-multinomial",
        (M::SelectRefine, _) => "select-refine",
        (M::NoisyIht, _) => "noisy-iht",
        (M::PeelingIht, _) if fit.calibration == Some(Calibration::Printed) => "printed-peeling",
        (M::PeelingIht, _) => "peeling-iht",
        (M::DpIht, _) => "dp-iht",
        (M::WholeGradient, _) => "whole-gradient",
        (M::FrankWolfe, _) => "frank-wolfe",
        (M::SparseFrankWolfe, _) => "sparse-frank-wolfe",
        (M::TwoStage, _) => "two-stage",
        (M::BestSubset, _) => "best-subset",
        (M::JohnsonLindenstrauss, _) => "johnson-lindenstrauss",
        (M::Transfer, _) => "transfer",
        (M::TransferLiteral, _) => "transfer-literal",
        (M::Reference, _) => "reference",
        (M::Iht, _) => "iht",
    }
}

fn entry_of_means(mean: &MeanDocument) -> &'static str {
    match (mean.method, mean.sparsity) {
        (Some(MeanMethod::Columns), _) => "column-means",
        (Some(MeanMethod::KarwaVadhan), _) => "karwa-vadhan",
        (_, Some(_)) if !mean.certificate.parts().is_empty() => "tuned-sparse-mean",
        (_, Some(_)) => "sparse-mean",
        _ => "mean",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every private method of the artefacts has its entry in the registry.
    #[test]
    fn names_of_methods_are_in_the_registry() {
        let source = include_str!("subject.rs");
        let names: Vec<&str> = source
            .lines()
            .filter(|line| line.contains("=> \"") && line.trim_start().starts_with("(M::"))
            .filter_map(|line| line.rsplit('"').nth(1))
            .collect();
        assert!(names.len() > 15, "{names:?}");
        for name in names {
            let is_reference = ["transfer-literal", "reference", "iht"].contains(&name);
            assert!(is_reference != registry::entries().iter().any(|entry| entry.name == name), "{name}");
        }
    }
}
