//! What a figure's repetitions come to: means and standard errors, kept with everything that made them.

use crate::Result;
use crate::figure::{Axes, Figure, Kind, Measure, Promise, Scale};
use crate::runner::Extent;
use crate::task::{Record, VERSION};
use crate::verdict::{Outcome, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A figure's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// The figure's key.
    pub key: String,
    /// The version of the lab.
    pub version: String,
    /// Where it stands and what it shows.
    pub title: String,
    /// What the paper says.
    pub claim: String,
    /// What the paper leaves open, and what was taken.
    pub choices: Vec<String>,
    /// Where the rows come from.
    pub data: String,
    /// What runs along the x axis.
    pub x: String,
    /// What is measured.
    pub y: String,
    /// How x is drawn.
    pub x_scale: Scale,
    /// How y is drawn.
    pub y_scale: Scale,
    /// What the values are.
    pub measure: Measure,
    /// The point whose numbers stand in the table of all figures.
    pub headline: String,
    /// Does the claim hold?
    pub verdict: Verdict,
    /// All points with their lines.
    pub points: Vec<PointResult>,
}

/// One point's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// The point's name.
    pub name: String,
    /// Where it lies on the x axis.
    pub x: f64,
    /// What is fixed there.
    pub settings: BTreeMap<String, f64>,
    /// The lines that have values there.
    pub lines: Vec<LineResult>,
}

/// One line's results at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineResult {
    /// The line's name.
    pub line: String,
    /// What it is.
    pub kind: Kind,
    /// What it promises; none if it promises nothing.
    pub promise: Option<Promise>,
    /// The mean of the values; none if the method always failed.
    pub mean: Option<f64>,
    /// The mean's standard error; none for fewer than two values.
    pub standard_error: Option<f64>,
    /// Every repetition's value; none where the method failed.
    pub values: Vec<Option<f64>>,
    /// Means after every step, with standard errors, of a line that has steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<(Option<f64>, Option<f64>)>,
}

impl LineResult {
    /// Mean and standard error; NaN and zero where there is none.
    pub fn pair(&self) -> (f64, f64) {
        (self.mean.unwrap_or(f64::NAN), self.standard_error.unwrap_or(0.0))
    }
}

impl PointResult {
    /// A line's results.
    pub fn line(&self, name: &str) -> Option<&LineResult> {
        self.lines.iter().find(|l| l.line == name)
    }

    /// The first line of a kind.
    pub fn kind(&self, kind: Kind) -> Option<&LineResult> {
        self.lines.iter().find(|l| l.kind == kind)
    }

    /// A line's mean; NaN if there is none.
    pub fn mean(&self, name: &str) -> f64 {
        self.line(name).map_or(f64::NAN, |l| l.pair().0)
    }
}

impl FigureResult {
    /// From a figure's records.
    pub fn of(figure: &Figure, extent: Extent, records: &[Record]) -> Result<Self> {
        let Axes { x, y, x_scale, y_scale, measure } = figure.axes;
        let mut points = Vec::new();
        for point in extent.points(figure) {
            let promises = (figure.promises)(&point)?;
            let mut here: Vec<&Record> = records
                .iter()
                .filter(|r| r.point == point.name && r.repetition < extent.repetitions(figure))
                .collect();
            here.sort_by_key(|r| r.repetition);
            let mut lines = Vec::new();
            for line in figure.lines {
                let values: Vec<Option<f64>> =
                    here.iter().filter_map(|r| r.values.get(line.name).copied()).map(rounded).collect();
                if values.is_empty() {
                    continue;
                }
                let (mean, standard_error) = summary(&values);
                let paths: Vec<&Vec<Option<f64>>> =
                    here.iter().filter_map(|r| r.paths.get(line.name)).collect();
                let steps = paths.iter().map(|p| p.len()).max().unwrap_or(0);
                let at = |t: usize| -> Vec<Option<f64>> {
                    paths.iter().map(|p| p.get(t).copied().flatten()).collect()
                };
                lines.push(LineResult {
                    line: line.name.into(),
                    kind: line.kind,
                    promise: promises.iter().find(|(name, _)| *name == line.name).map(|(_, p)| p.clone()),
                    mean,
                    standard_error,
                    values,
                    path: (0..steps).map(|t| summary(&at(t))).collect(),
                });
            }
            let settings = point.settings.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
            points.push(PointResult { name: point.name, x: point.x, settings, lines });
        }
        let mut result = Self {
            key: figure.key.into(),
            version: VERSION.into(),
            title: figure.title.into(),
            claim: figure.claim.into(),
            choices: figure.choices.iter().map(|c| (*c).to_owned()).collect(),
            data: figure.data.into(),
            x: x.into(),
            y: y.into(),
            x_scale,
            y_scale,
            measure,
            headline: figure.headline.into(),
            verdict: Verdict { outcome: Outcome::DoesNotHold, because: String::new() },
            points,
        };
        result.verdict = (figure.verdict)(&result);
        Ok(result)
    }

    /// A point by its name.
    pub fn point(&self, name: &str) -> Option<&PointResult> {
        self.points.iter().find(|p| p.name == name)
    }

    /// A line's means and standard errors over all points where it has values.
    pub fn along(&self, line: &str) -> Vec<(f64, f64)> {
        self.points.iter().filter_map(|p| p.line(line)).map(LineResult::pair).collect()
    }

    /// The point of the table of all figures, or the last one if it was not run.
    pub fn headline(&self) -> Option<&PointResult> {
        self.point(&self.headline).or(self.points.last())
    }

    /// The ratio of two errors; none for what is no error.
    pub fn ratio(&self, a: f64, b: f64) -> Option<f64> {
        match self.measure {
            Measure::Error => Some(a / b),
            Measure::LogError => Some((a - b).exp()),
            Measure::Area => None,
        }
    }

    /// How many repetitions the fullest point has.
    pub fn repetitions(&self) -> usize {
        self.points.iter().flat_map(|p| &p.lines).map(|l| l.values.len()).max().unwrap_or(0)
    }
}

/// Six digits: more would be noise, and the file is read by people.
fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|v| format!("{v:.5e}").parse().unwrap_or(v))
}

/// Mean and standard error of the values there are.
fn summary(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let m = known.len() as f64;
    if known.is_empty() {
        return (None, None);
    }
    let mean = known.iter().sum::<f64>() / m;
    let square = known.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let error = (known.len() > 1).then(|| (square / (m - 1.0) / m).sqrt());
    (rounded(Some(mean)), rounded(error))
}

/// Reads a results file; an absent one has no figures.
pub fn read(path: &Path) -> Result<Vec<FigureResult>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: cannot read: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: not a results file: {e}", path.display()).into())
}

/// Puts figures into a results file, each in place of its older self, in the order of the keys.
pub fn merged(old: Vec<FigureResult>, new: Vec<FigureResult>) -> Vec<FigureResult> {
    let mut all: BTreeMap<String, FigureResult> = old.into_iter().map(|f| (f.key.clone(), f)).collect();
    all.extend(new.into_iter().map(|f| (f.key.clone(), f)));
    all.into_values().collect()
}

/// The text of a results file: one repetition's values on one line.
pub fn text(figures: &[FigureResult]) -> Result<String> {
    let pretty = serde_json::to_string_pretty(figures)?;
    Ok(compact_numbers(&pretty) + "\n")
}

/// Joins the lines of arrays that hold numbers only.
fn compact_numbers(pretty: &str) -> String {
    let mut out = String::with_capacity(pretty.len());
    let mut open: Option<String> = None;
    for line in pretty.lines() {
        let word = line.trim();
        let is_number =
            word.trim_end_matches(',').parse::<f64>().is_ok() || word.trim_end_matches(',') == "null";
        match &mut open {
            Some(array) if is_number => {
                array.push_str(word);
                if word.ends_with(',') {
                    array.push(' ');
                }
            }
            Some(array) if word.starts_with(']') => {
                out.push_str(array);
                out.push_str(word);
                out.push('\n');
                open = None;
            }
            Some(array) => {
                // Not an array of numbers after all.
                out.push_str(array);
                out.push('\n');
                open = None;
                if word.ends_with('[') {
                    open = Some(line.to_owned());
                } else {
                    out.push_str(line);
                    out.push('\n');
                }
            }
            None if word.ends_with('[') => open = Some(line.to_owned()),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out.extend(open);
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        assert_eq!(summary(&[Some(1.0), None, Some(3.0)]), (Some(2.0), Some(1.0)));
        assert_eq!(summary(&[Some(1.5)]), (Some(1.5), None));
        assert_eq!(summary(&[None]), (None, None));
    }

    #[test]
    fn numbers_share_a_line() {
        let value =
            serde_json::json!({"a": [1.0, null, 2.5], "b": [{"c": []}, {"d": [[1.0, 2.0], [3.0, null]]}]});
        let compact = compact_numbers(&serde_json::to_string_pretty(&value).unwrap());
        assert!(compact.contains("[1.0, null, 2.5]"), "{compact}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&compact).unwrap(), value);
    }
}
