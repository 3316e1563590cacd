//! Two fitted models beside each other.

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
    /// What is not the same of the two: family, method, target, formula, unit.
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
    /// If the two are of different people. Of the same people it is smaller: what they share cancels.
    pub standard_error: f64,
    /// For the difference, if the two are of different people; `None` if a budget does not determine one of them.
    pub p_value: Option<f64>,
}

/// Compares two fits with standard errors.
pub fn compare(first: &FitDocument, second: &FitDocument) -> Result<Comparison, Failure> {
    let lines = |fit: &FitDocument| -> Result<Vec<(String, f64, f64, bool)>, Failure> {
        let mut all = Vec::new();
        for block in blocks(fit)? {
            for (j, name) in block.names.iter().enumerate() {
                all.push((name.clone(), block.estimates[j], block.errors[j], block.determined[j]));
            }
        }
        Ok(all)
    };
    let (a, b) = (lines(first)?, lines(second)?);
    let mut differences = Vec::new();
    let mut differs = |what: &str, a: String, b: String| {
        if a != b {
            differences.push(format!("{what}: {a} and {b}"));
        }
    };
    let or_none = |text: Option<&str>| text.unwrap_or("none").to_owned();
    differs("family", first.family.name().into(), second.family.name().into());
    differs("method", first.method.name(), second.method.name());
    differs("target", first.target.name.clone(), second.target.name.clone());
    differs("formula", or_none(first.encoding.formula()), or_none(second.encoding.formula()));
    differs("unit", or_none(first.unit.as_deref()), or_none(second.unit.as_deref()));
    let not_in = |those: &[(String, f64, f64, bool)], others: &[(String, f64, f64, bool)]| -> Vec<String> {
        let is_other = |name: &String| others.iter().any(|(other, ..)| other == name);
        those.iter().map(|(name, ..)| name.clone()).filter(|name| !is_other(name)).collect()
    };
    let coefficients = a
        .iter()
        .filter_map(|(name, x, s, determined)| {
            let (_, y, t, also) = b.iter().find(|(other, ..)| other == name)?;
            let (difference, error) = (x - y, s.hypot(*t));
            let p = (*determined && *also).then(|| p_value(difference / error.max(f64::MIN_POSITIVE)));
            Some(Compared {
                name: name.clone(),
                estimates: [*x, *y],
                standard_errors: [*s, *t],
                difference,
                standard_error: error,
                p_value: p,
            })
        })
        .collect();
    let only = [not_in(&a, &b), not_in(&b, &a)];
    Ok(Comparison {
        schema: "dpglm.comparison/1",
        models: [first.heading(), second.heading()],
        promises: [first, second].map(|fit| fit.certificate.to_string()),
        differences,
        coefficients,
        only,
    })
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
            row.push(found.p_value.map_or("not determined".into(), p_in_words));
            rows.push(row);
        }
        text += &format!("\n{}", render::table(&rows));
        for (which, names) in ["first", "second"].into_iter().zip(&self.only) {
            if !names.is_empty() {
                text += &format!("\nIn the {which} alone: {}\n", names.join(", "));
            }
        }
        text + "\nThe difference's standard error and p hold if the two are of different people. Of the same people the errors of sampling are \
               shared, and the difference is told better than that.\n\
               A model with a larger budget is not a better one by that alone: both hold for all their data sets.\n"
    }
}
