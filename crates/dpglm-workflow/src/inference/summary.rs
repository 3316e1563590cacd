//! Tests of coefficients one by one and of each term's together, ratios, contrasts.

use super::contrasts::contrast;
use super::effects::{Effects, effects};
use super::simultaneous::together;
use super::{Block, Contrast, Simultaneous, Together, blocks, level_of, p_value, ratio_of, reach};
use crate::document::FitDocument;
use crate::failure::Failure;
use crate::render;
use crate::table::{number, percent};
use indexmap::IndexMap;
use nalgebra::DVector;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// What is asked.
#[derive(Default)]
pub struct Request {
    /// The level of intervals; by default the fit's own.
    pub level: Option<f64>,
    /// Whether to give ratios.
    pub ratios: bool,
    /// How intervals are made to hold together.
    pub together: Option<Together>,
    /// Combinations of coefficients.
    pub contrasts: Vec<String>,
    /// Public values to predict at.
    pub at: Option<IndexMap<String, String>>,
    /// Others, which are compared with them.
    pub versus: Option<IndexMap<String, String>>,
}

/// What follows from a fit.
#[derive(Serialize)]
pub struct Summary {
    schema: &'static str,
    /// What was fitted.
    pub heading: String,
    /// The level of intervals.
    pub level: f64,
    /// What the exponential of a coefficient is a ratio of, where ratios are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<&'static str>,
    /// Each coefficient.
    pub coefficients: Vec<Line>,
    /// Each term of several coefficients.
    pub joint: Vec<JointTest>,
    /// How intervals hold together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simultaneous: Option<Simultaneous>,
    /// Combinations of coefficients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrast>,
    /// Predictions and effects at public values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Effects>,
}

/// One coefficient.
#[derive(Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Without shrinkage.
    pub estimate: f64,
    /// Of sampling and of privacy noise together.
    pub standard_error: f64,
    /// The estimate in standard errors; `None` if the budget does not determine it.
    pub z: Option<f64>,
    /// The probability of an estimate at least as far from 0 if it is 0.
    pub p_value: Option<f64>,
    /// The ends of its confidence interval.
    pub interval: [f64; 2],
    /// Whether the budget determines it.
    pub determined: bool,
    /// The ends of an interval that holds together with all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simultaneous: Option<[f64; 2]>,
    /// Its exponential, and the ends of the interval of that; beyond the largest number there is, that number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<[f64; 3]>,
}

/// Whether a term's coefficients are all zero: Wald's test.
#[derive(Serialize)]
pub struct JointTest {
    /// The column or the term.
    pub term: String,
    /// The class, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Chi-squared with as many degrees of freedom as there are coefficients; `None` where rounding leaves their covariance without an
    /// inverse.
    pub statistic: Option<f64>,
    /// The number of coefficients.
    pub degrees: usize,
    /// How many of them the budget does not determine.
    pub not_determined: usize,
    /// The probability of a statistic at least as large if all are zero.
    pub p_value: Option<f64>,
}

/// Computes what is asked.
pub fn summarize(fit: &FitDocument, request: &Request) -> Result<Summary, Failure> {
    let blocks = blocks(fit)?;
    let level = level_of(request.level, fit)?;
    let width = reach(level);
    let ratio = match (request.ratios, ratio_of(fit)) {
        (false, _) => None,
        (true, Some(ratio)) => Some(ratio),
        (true, None) => {
            return Err(Failure::Usage(
                format!(
                    "ratios: exponentials of the coefficients of a {} model are no ratios: leave out the ratios, or explain the logarithm of \
                     the target",
                    fit.family.name()
                )
                .into(),
            ));
        }
    };
    let simultaneous = request.together.map(|method| together(method, &blocks, level)).transpose()?;
    let mut coefficients = Vec::new();
    for block in &blocks {
        for (j, name) in block.names.iter().enumerate() {
            let (estimate, error, determined) = (block.estimates[j], block.errors[j], block.determined[j]);
            let z = estimate / error.max(f64::MIN_POSITIVE);
            let ends = |width: f64| [estimate - width * error, estimate + width * error];
            let [low, high] = ends(width);
            let is_slope = block.features[j].is_some();
            coefficients.push(Line {
                name: name.clone(),
                estimate,
                standard_error: error,
                z: determined.then_some(z),
                p_value: determined.then(|| p_value(z)),
                interval: [low, high],
                determined,
                simultaneous: simultaneous.as_ref().filter(|_| is_slope).map(|all| ends(all.reach)),
                ratio: ratio.filter(|_| is_slope).map(|_| [estimate, low, high].map(exponential)),
            });
        }
    }
    let contrasts =
        request.contrasts.iter().map(|text| contrast(text, &blocks, width)).collect::<Result<_, _>>()?;
    let at = match (&request.at, &request.versus) {
        (Some(at), versus) => Some(effects(fit, &blocks, at, versus.as_ref(), level)?),
        (None, Some(_)) => {
            return Err(Failure::Usage("versus goes with at: give the values to compare with too".into()));
        }
        (None, None) => None,
    };
    Ok(Summary {
        schema: "dpglm.summary/1",
        heading: fit.heading(),
        level,
        ratio,
        joint: joint(fit, &blocks),
        coefficients,
        simultaneous,
        contrasts,
        at,
    })
}

/// A number in any case: JSON has no infinity.
fn exponential(x: f64) -> f64 {
    x.exp().min(f64::MAX)
}

/// Wald's test of every term of several coefficients; none without a covariance.
fn joint(fit: &FitDocument, blocks: &[Block]) -> Vec<JointTest> {
    let Ok((columns, _)) = fit.encoding.encoded() else { return Vec::new() };
    let mut tests = Vec::new();
    for block in blocks {
        let Some(covariance) = &block.covariance else { continue };
        let mut terms: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (j, feature) in block.features.iter().enumerate() {
            if let Some(column) = feature.and_then(|place| columns.get(place)) {
                terms.entry(&column.declared).or_default().push(j);
            }
        }
        for (term, places) in terms.into_iter().filter(|(_, places)| places.len() > 1) {
            let estimates = DVector::from_iterator(places.len(), places.iter().map(|&j| block.estimates[j]));
            let within = covariance.select_rows(&places).select_columns(&places);
            let solved = within.cholesky().map(|c| c.solve(&estimates));
            let statistic = solved.map(|solved| estimates.dot(&solved));
            let Ok(distribution) = ChiSquared::new(places.len() as f64) else { continue };
            tests.push(JointTest {
                term: term.to_owned(),
                class: block.class.clone(),
                statistic,
                degrees: places.len(),
                not_determined: places.iter().filter(|&&j| !block.determined[j]).count(),
                p_value: statistic.map(|statistic| distribution.sf(statistic)),
            });
        }
    }
    tests
}

/// A probability for people.
pub(super) fn p_in_words(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// z and p, or why there are none.
fn tested(z: Option<f64>, p: Option<f64>) -> [String; 2] {
    match (z, p) {
        (Some(z), Some(p)) => [format!("{z:.2}"), p_in_words(p)],
        _ => [String::new(), "not determined".to_owned()],
    }
}

impl Summary {
    /// The same for people.
    pub fn text(&self) -> String {
        let level = percent(self.level);
        let mut headings = vec!["coefficient", "estimate", "std. error", "z", "p"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        headings.extend([format!("{level} from"), "to".into()]);
        if self.simultaneous.is_some() {
            headings.extend(["all from".to_owned(), "to".into()]);
        }
        if let Some(ratio) = self.ratio {
            headings.extend([ratio.to_owned(), "from".into(), "to".into()]);
        }
        let mut rows = vec![headings];
        for line in &self.coefficients {
            let error = Some(line.standard_error);
            let mut row =
                vec![line.name.clone(), number(line.estimate, error), number(line.standard_error, error)];
            row.extend(tested(line.z, line.p_value));
            row.extend(line.interval.map(|end| number(end, error)));
            if self.simultaneous.is_some() {
                row.extend(
                    line.simultaneous
                        .map_or([String::new(), String::new()], |ends| ends.map(|end| number(end, error))),
                );
            }
            if self.ratio.is_some() {
                row.extend(line.ratio.map_or([const { String::new() }; 3], |all| all.map(render::rounded)));
            }
            rows.push(row);
        }
        let mut text = format!("{}\n\n{}", self.heading, render::table(&rows));
        if let Some(all) = &self.simultaneous {
            text += &format!(
                "\nThe intervals under `all from` hold together for {} coefficients at {level}: they reach {:.3} standard errors ({}).\n",
                all.of,
                all.reach,
                render::name(&all.method)
            );
        }
        if !self.joint.is_empty() {
            let mut rows = vec![["term", "chi-squared", "df", "p"].map(str::to_owned).to_vec()];
            for test in &self.joint {
                let term = match &test.class {
                    Some(class) => format!("{class}:{}", test.term),
                    None => test.term.clone(),
                };
                let mut row = vec![
                    term,
                    test.statistic.map_or("no inverse".into(), |statistic| format!("{statistic:.2}")),
                    test.degrees.to_string(),
                    test.p_value.map_or(String::new(), p_in_words),
                ];
                if test.not_determined > 0 {
                    row.push(format!("{} not determined", test.not_determined));
                }
                rows.push(row);
            }
            text += &format!("\nAre all coefficients of a term zero? (Wald)\n\n{}", render::table(&rows));
        }
        if !self.contrasts.is_empty() {
            let mut rows = vec![vec![
                "contrast".to_owned(),
                "estimate".into(),
                "std. error".into(),
                "z".into(),
                "p".into(),
                format!("{level} from"),
                "to".into(),
            ]];
            for found in &self.contrasts {
                let error = Some(found.standard_error);
                let mut row = vec![
                    found.expression.clone(),
                    number(found.estimate, error),
                    number(found.standard_error, error),
                ];
                row.extend(tested(found.z, found.p_value));
                row.extend(found.interval.map(|end| number(end, error)));
                rows.push(row);
            }
            text += &format!("\n{}", render::table(&rows));
        }
        if let Some(at) = &self.at {
            text += &format!("\n{}", at.text(self.level));
        }
        text + "\nComputed from the artefact alone: it costs no privacy. Standard errors hold sampling and privacy noise.\n"
    }
}
