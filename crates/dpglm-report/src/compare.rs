//! Several documents on one page: what differs, fits beside each other, and what they cost together.

use crate::effects::{Effect, effects};
use crate::kinds::{DRAWN, scale};
use crate::meaning::exception;
use crate::page::{Block, Section, Table};
use crate::promise::{Meaning, percent_up};
use crate::source::{Document, Source};
use dpglm::accounting::{Certificate, Grade};
use dpglm::privacy::decimal::rounded_up;
use dpglm_plot::forest::{Forest, Row};
use dpglm_plot::themed;
use dpglm_workflow::document::{Artefact, FitDocument};

/// The first section of a page with several documents.
pub(crate) fn section(sources: &[Source]) -> Section {
    let mut blocks = vec![Block::Table(overview(sources))];
    blocks.extend(together(sources).map(Block::Text));
    blocks.extend(forest(sources));
    Section { id: "comparison".into(), heading: "Comparison", blocks }
}

fn overview(sources: &[Source]) -> Table {
    let row = |source: &Source| {
        let what = match &source.document {
            Document::Artefact(Artefact::Fit(fit)) => fit.heading(),
            Document::Artefact(Artefact::Mean(mean)) => mean.heading(),
            Document::Artefact(Artefact::Describe(description)) => description.heading(),
            Document::Plan(_) => "Plan of a release".into(),
            Document::Study(_) => "Plan of a study".into(),
            Document::Audit(_) => "Audit: not for publication".into(),
        };
        let mut cells = vec![source.name.clone(), what];
        match source.certificate() {
            None => cells.extend(["", "", "", "", ""].map(str::to_owned)),
            Some(certificate) => {
                let claim = certificate.guarantee();
                let number = |value: Option<f64>| value.map_or_else(|| "none".into(), rounded_up);
                // A number alone would say that it is never exceeded.
                let sure = Meaning::of(certificate).map_or_else(
                    || "100%".into(),
                    |m| format!("{}{}", percent_up(m.sure(0.5)), exception(&m)),
                );
                cells.extend([
                    grade(certificate).to_owned(),
                    number(claim.map(|c| c.epsilon)),
                    number(claim.map(|c| c.delta)),
                    certificate.adjacency().protected(),
                    sure,
                ]);
            }
        }
        cells
    };
    let headings = ["File", "What", "Grade", "epsilon", "delta", "Protects", "50% sure becomes at most"];
    Table {
        caption: "The documents of this page".into(),
        headings: headings.map(str::to_owned).to_vec(),
        rows: sources.iter().map(row).collect(),
        is_numeric: false,
    }
}

fn grade(certificate: &Certificate) -> &'static str {
    match certificate.grade() {
        Grade::Certified => "certified",
        Grade::Conditional(_) => "CONDITIONAL",
        Grade::None(_) => "NONE: nothing promised",
    }
}

/// What releases cost if they were made from the same rows: losses and failures add up where budgets were fixed beforehand, whatever else of a
/// release followed earlier results.
fn together(sources: &[Source]) -> Option<String> {
    let released: Vec<&Certificate> = sources
        .iter()
        .filter(|source| matches!(source.document, Document::Artefact(_)))
        .filter_map(Source::certificate)
        .collect();
    if released.len() < 2 {
        return None;
    }
    if released.iter().any(|certificate| certificate.guarantee().is_none()) {
        return Some("Together these results promise nothing about people who are in all of them: one of them promises nothing.".into());
    }
    if released.iter().any(|certificate| certificate.adjacency() != released[0].adjacency()) {
        return Some("They protect different units, so their losses cannot be added here.".into());
    }
    let claims = || released.iter().filter_map(|certificate| certificate.guarantee());
    let rounding = 1.0 + 1e-14 * released.len() as f64;
    let (epsilon, delta) = (claims().map(|c| c.epsilon).sum::<f64>(), claims().map(|c| c.delta).sum::<f64>());
    Some(format!(
        "Each promise is for its own results. If they were made from the same people, together they cost at most epsilon {} and delta {}: \
         losses add up. This holds where the budget of each was fixed without looking at the results of the others: only a ledger, whose \
         total is fixed beforehand, promises more.",
        rounded_up(epsilon * rounding),
        rounded_up(delta * rounding)
    ))
}

/// Fits of one target and family beside each other.
fn forest(sources: &[Source]) -> Option<Block> {
    let fits: Vec<(&str, &FitDocument)> = sources
        .iter()
        .filter_map(|source| match &source.document {
            Document::Artefact(Artefact::Fit(fit)) => Some((source.name.as_str(), fit.as_ref())),
            _ => None,
        })
        .collect();
    let (_, first) = fits.first()?;
    let alike = |fit: &FitDocument| fit.family == first.family && fit.target.name == first.target.name;
    if fits.len() < 2 || !fits.iter().all(|(_, fit)| alike(fit)) {
        return None;
    }
    let all: Vec<Vec<Effect>> = fits.iter().map(|(_, fit)| effects(fit)).collect();
    let mut names: Vec<&str> = Vec::new();
    for effect in all.iter().flatten().filter(|effect| !effect.is_intercept()) {
        if !names.contains(&effect.name.as_str()) && names.len() < DRAWN {
            names.push(&effect.name);
        }
    }
    let row = |name: &&str| Row {
        name: (*name).to_owned(),
        marks: all.iter().map(|of| of.iter().find(|e| e.name == **name).map(Effect::mark)).collect(),
    };
    let rows = names.iter().map(row).collect();
    let title = format!("Effects on {} in {} fits", first.target.name, fits.len());
    let label = scale(first);
    let svg =
        Forest { title: &title, label, series: fits.iter().map(|(name, _)| *name).collect(), rows }.svg();
    Some(Block::Figure {
        svg: themed(&svg),
        caption: format!(
            "{title}: {label} from the lowest to the highest value of a number or term that the declared bounds allow, or from the reference level to another. Intervals that \
             overlap may still belong to different truths."
        ),
    })
}
