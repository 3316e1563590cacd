//! Two fitted models beside each other.

use super::meaning::{Meanings, other_declarations};
use super::summary::p_in_words;
use super::{blocks, p_value};
use crate::document::FitDocument;
use crate::failure::Failure;
use crate::render;
use crate::table::number;
use serde::Serialize;

/// Two fits beside each other.
#[derive(Serialize)]
pub struct Comparison {
    schema: &'static str,
    /// What each is.
    pub models: [String; 2],
    /// What each promises, in a sentence.
    pub promises: [String; 2],
    /// What is not the same of the two: family, method, target, formula, unit, weights, the rules for cells, declarations of columns.
    pub differences: Vec<String>,
    /// Coefficients of both.
    pub coefficients: Vec<Compared>,
    /// Coefficients of one alone.
    pub only: [Vec<String>; 2],
}

/// A coefficient of both models.
#[derive(Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// In each.
    pub estimates: [f64; 2],
    /// In each.
    pub standard_errors: [f64; 2],
    /// The first less the second.
    pub difference: f64,
    /// If the two are of different people. Of the same people it is not this one.
    pub standard_error: f64,
    /// For the difference, if the two are of different people; `None` if the two are of different things, or a budget does not determine
    /// one of them.
    pub p_value: Option<f64>,
    /// Whether the name means the same in both: the family is the same, and what the columns are that it speaks of.
    pub same_meaning: bool,
}

/// A coefficient of one model.
struct Single {
    name: String,
    /// The place of its column; none of the intercept.
    place: Option<usize>,
    estimate: f64,
    error: f64,
    determined: bool,
}

fn singles(fit: &FitDocument) -> Result<Vec<Single>, Failure> {
    let mut all = Vec::new();
    for block in blocks(fit)? {
        all.extend(block.names.iter().enumerate().map(|(j, name)| Single {
            name: name.clone(),
            place: block.features[j],
            estimate: block.estimates[j],
            error: block.errors[j],
            determined: block.determined[j],
        }));
    }
    Ok(all)
}

/// Compares two fits with standard errors.
pub fn compare(first: &FitDocument, second: &FitDocument) -> Result<Comparison, Failure> {
    let (a, b) = (singles(first)?, singles(second)?);
    let meanings = [Meanings::of(first)?, Meanings::of(second)?];
    // The levels of one target in another order turn signs, and classes are compared with the first one.
    let same_levels = first.target.name != second.target.name || first.target.levels == second.target.levels;
    let same_scale = first.family == second.family && same_levels;
    let not_in = |those: &[Single], others: &[Single]| -> Vec<String> {
        let is_other = |name: &String| others.iter().any(|other| other.name == *name);
        those.iter().map(|single| single.name.clone()).filter(|name| !is_other(name)).collect()
    };
    let coefficients = a
        .iter()
        .filter_map(|x| {
            let y = b.iter().find(|y| y.name == x.name)?;
            let (difference, error) = (x.estimate - y.estimate, x.error.hypot(y.error));
            let same_meaning = same_scale && meanings[0].agree(x.place, &meanings[1], y.place);
            let tested = same_meaning && x.determined && y.determined;
            Some(Compared {
                name: x.name.clone(),
                estimates: [x.estimate, y.estimate],
                standard_errors: [x.error, y.error],
                difference,
                standard_error: error,
                p_value: tested.then(|| p_value(difference / error.max(f64::MIN_POSITIVE))),
                same_meaning,
            })
        })
        .collect();
    let only = [not_in(&a, &b), not_in(&b, &a)];
    Ok(Comparison {
        schema: "dpglm.comparison/1",
        models: [first.heading(), second.heading()],
        promises: [first, second].map(|fit| fit.certificate.to_string()),
        differences: differences(first, second)?,
        coefficients,
        only,
    })
}

/// What is not the same of two fits.
fn differences(first: &FitDocument, second: &FitDocument) -> Result<Vec<String>, Failure> {
    let or_none = |text: Option<&str>| text.unwrap_or("none").to_owned();
    let cuts = |fit: &FitDocument| match &fit.survival {
        Some(survival) => survival.cuts.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
        None => "none".into(),
    };
    let facts = |fit: &FitDocument| {
        let encoding = &fit.encoding;
        [
            ("family", fit.family.name().to_owned()),
            ("method", fit.method.name()),
            ("target", fit.target.name.clone()),
            ("formula", or_none(encoding.formula())),
            ("unit", or_none(fit.unit.as_deref())),
            ("weight", or_none(encoding.weight())),
            ("exposure", or_none(encoding.exposure())),
            ("cuts", cuts(fit)),
            ("missing cells", render::name(&encoding.missing())),
            ("undeclared levels", render::name(&encoding.undeclared())),
        ]
    };
    let differs = |((what, a), (_, b)): ((&str, String), (&str, String))| {
        (a != b).then(|| format!("{what}: {a} and {b}"))
    };
    let mut all: Vec<String> = facts(first).into_iter().zip(facts(second)).filter_map(differs).collect();
    all.extend(other_declarations(&first.encoding, &second.encoding)?);
    Ok(all)
}

impl Comparison {
    /// The same for people.
    pub fn text(&self) -> String {
        let mut text = format!("first:  {}\nsecond: {}\n", self.models[0], self.models[1]);
        if !self.differences.is_empty() {
            text += &format!("\nNot the same: {}\n", self.differences.join("; "));
        }
        let headings =
            ["coefficient", "first", "std. error", "second", "std. error", "difference", "std. error", "p"];
        let mut rows = vec![headings.map(str::to_owned).to_vec()];
        for found in &self.coefficients {
            let mut row = vec![found.name.clone()];
            for (estimate, error) in found.estimates.into_iter().zip(found.standard_errors) {
                row.extend([number(estimate, Some(error)), number(error, Some(error))]);
            }
            let error = Some(found.standard_error);
            row.extend([number(found.difference, error), number(found.standard_error, error)]);
            row.push(match (found.p_value, found.same_meaning) {
                (Some(p), _) => p_in_words(p),
                (None, true) => "not determined".into(),
                (None, false) => "not comparable".into(),
            });
            rows.push(row);
        }
        text += &format!("\n{}", render::table(&rows));
        for (which, names) in ["first", "second"].into_iter().zip(&self.only) {
            if !names.is_empty() {
                text += &format!("\nIn the {which} alone: {}\n", names.join(", "));
            }
        }
        if self.coefficients.iter().any(|found| !found.same_meaning) {
            text += "\nNot comparable: one name, but of another family, other levels, another reference level, another basis of a curve or other \
                     intervals; a test of the difference would say nothing.\n";
        }
        text + "\nThe difference's standard error and p hold if the two are of different people. Of the same people the errors of sampling go \
               together, and the standard error is another one: smaller where they go the same way, larger where they go against each other.\n\
               A model with a larger budget is not a better one by that alone: both hold for all their data sets.\n"
    }
}
