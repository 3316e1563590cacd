//! Predictions with intervals: for rows, on average, and at public values, with what a change of each column does there.
//!
//! They are made with the estimates that standard errors belong to, without shrinkage. An interval of a mean response is that of the linear
//! predictor, taken through the mean; of averages and differences it is by linearisation (the delta method).

use super::summary::p_in_words;
use super::{Block, blocks, p_value, reach};
use crate::document::FitDocument;
use crate::failure::Failure;
use crate::model::MOST_COVARIANCES;
use crate::render;
use crate::table::{number, percent};
use dpglm::families::Family as OnePredictor;
use dpglm::kernels;
use dpglm_io::memory::{Cells, Meaning, encode_columns};
use dpglm_io::schema::{Column, Kind};
use dpglm_io::{Encoded, ReadOptions};
use indexmap::IndexMap;
use nalgebra::DVector;
use serde::Serialize;

/// Half the distance over which a derivative at `x` is taken, of a column with such a range. A function like the logarithm bends within a
/// part of `x` itself, however wide the bounds are; a step far below the range is lost in the rounding of stored columns.
fn step(x: f64, range: f64) -> f64 {
    (1e-4 * x.abs()).max(1e-9 * range).min(1e-5 * range)
}

/// A prediction with its interval.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Predicted {
    /// The mean response, without shrinkage.
    pub estimate: f64,
    /// The ends of its confidence interval.
    pub interval: [f64; 2],
}

/// The average of predictions.
#[derive(Debug, Clone, Serialize)]
pub struct Average {
    schema: &'static str,
    /// Of so many rows.
    pub rows: usize,
    /// The mean of the mean responses.
    pub estimate: f64,
    /// Of sampling and of privacy noise in the coefficients; the rows are taken as they are.
    pub standard_error: f64,
    /// The level.
    pub level: f64,
    /// The ends of its confidence interval.
    pub interval: [f64; 2],
    /// Whether all coefficients are determined that a row's prediction rests on; if not, the error is not to be relied upon.
    pub determined: bool,
}

/// What a model says at public values.
#[derive(Debug, Serialize)]
pub struct Effects {
    /// What is explained.
    pub target: String,
    /// The values of the columns that the model reads; those that were not given are the fill values.
    pub values: IndexMap<String, String>,
    /// The mean response there.
    pub prediction: Predicted,
    /// What a change of each column does to it.
    pub effects: Vec<Effect>,
    /// The same at other values, and the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<Versus>,
}

/// What a change of a column does to the mean response, the others held.
#[derive(Debug, Serialize)]
pub struct Effect {
    /// The column, with the level that is compared to the one given.
    pub change: String,
    /// A derivative of a number, by unit; a difference of levels.
    pub estimate: f64,
    /// Of sampling and of privacy noise together.
    pub standard_error: f64,
    /// The probability of an estimate at least as far from 0 if it is 0; nothing where it rests on a coefficient that is not determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The ends of its confidence interval.
    pub interval: [f64; 2],
}

/// A second set of values.
#[derive(Debug, Serialize)]
pub struct Versus {
    /// The values that differ.
    pub values: IndexMap<String, String>,
    /// The mean response there.
    pub prediction: Predicted,
    /// By how much the first exceeds it.
    pub difference: Effect,
}

/// The one linear predictor of a fit and its family.
struct Model<'f> {
    family: &'f OnePredictor,
    block: &'f Block,
}

impl<'f> Model<'f> {
    fn new(fit: &'f FitDocument, blocks: &'f [Block]) -> Result<Self, Failure> {
        if fit.survival.is_some() {
            return Err(Failure::Usage(
                "a model of survival predicts a curve over time, for which there are no intervals, averages and effects at values: leave \
                 them out, and read the hazard ratios and their intervals"
                    .into(),
            ));
        }
        match (fit.family.one_predictor(), blocks) {
            (Some(family), [block]) => {
                block.covariance()?;
                Ok(Self { family, block })
            }
            _ => Err(Failure::Usage(
                "intervals of predictions need the covariances between classes, which a multinomial fit does not keep: leave out the \
                 intervals, or fit one class against the others"
                    .into(),
            )),
        }
    }

    /// What multiplies the coefficients in each row, in the user's units.
    fn rows(&self, table: &Encoded) -> Result<Vec<DVector<f64>>, Failure> {
        // The artefact may be anybody's.
        if self.block.features.iter().flatten().any(|&j| j >= table.columns.len()) {
            return Err(Failure::Failed(
                "not a valid artefact: it has more coefficients than its encoding has columns".into(),
            ));
        }
        let column = |feature: &Option<usize>| -> Vec<f64> {
            let Some(j) = *feature else { return vec![1.0; table.rows()] };
            let (mut stored, mut one) = (vec![0.0; table.rows()], vec![0.0; table.design.columns()]);
            one[j] = 1.0;
            kernels::predict(&table.design, &one, &mut stored);
            let scaling = table.columns[j].scaling;
            stored.into_iter().map(|x| scaling.center + scaling.half_width * x).collect()
        };
        let columns: Vec<Vec<f64>> = self.block.features.iter().map(column).collect();
        Ok((0..table.rows())
            .map(|i| DVector::from_iterator(columns.len(), columns.iter().map(|column| column[i])))
            .collect())
    }

    fn at(&self, row: &DVector<f64>, offset: f64, reach: f64) -> Result<Predicted, Failure> {
        let (predictor, error) = self.block.combined(row)?;
        let mean = |u: f64| self.family.mean(u + offset);
        let interval = [mean(predictor - reach * error), mean(predictor + reach * error)];
        Ok(Predicted { estimate: mean(predictor), interval })
    }

    /// The mean at a row, and its derivatives in the coefficients.
    fn gradient(&self, row: &DVector<f64>, offset: f64) -> (f64, DVector<f64>) {
        let predictor = row.dot(&self.block.estimates) + offset;
        (self.family.mean(predictor), row * self.family.mean_slope(predictor))
    }

    /// Whether all coefficients are determined that the difference of two rows rests on. Where the mean is curved that are all which the rows
    /// have: out where a level is separated the mean is flat, and a linearisation would tell a certainty that nobody has.
    fn determines(&self, before: &DVector<f64>, after: &DVector<f64>) -> bool {
        let curved = self.family.mean_slope(0.0) != self.family.mean_slope(1.0);
        let rests = |j: usize| {
            let moves = before[j] != after[j];
            moves || (curved && self.block.features[j].is_some() && after[j] != 0.0)
        };
        (0..before.len()).all(|j| self.block.determined[j] || !rests(j))
    }

    fn effect(
        &self,
        change: String,
        estimate: f64,
        gradient: &DVector<f64>,
        determined: bool,
        reach: f64,
    ) -> Result<Effect, Failure> {
        let (_, standard_error) = self.block.combined(gradient)?;
        Ok(Effect {
            change,
            estimate,
            standard_error,
            p_value: determined.then(|| p_value(estimate / standard_error.max(f64::MIN_POSITIVE))),
            interval: [estimate - reach * standard_error, estimate + reach * standard_error],
        })
    }
}

fn offset(table: &Encoded, row: usize) -> f64 {
    table.exposure.as_ref().map_or(0.0, |exposures| exposures[row].ln())
}

/// Predicts for every row of a table, with intervals.
pub fn predict_with_intervals(
    fit: &FitDocument,
    table: &Encoded,
    level: f64,
) -> Result<Vec<Predicted>, Failure> {
    let blocks = blocks(fit)?;
    let model = Model::new(fit, &blocks)?;
    let reach = reach(level);
    model.rows(table)?.iter().enumerate().map(|(i, row)| model.at(row, offset(table, i), reach)).collect()
}

/// The average of the predictions for a table's rows, taken as they are.
pub fn average(fit: &FitDocument, table: &Encoded, level: f64) -> Result<Average, Failure> {
    let blocks = blocks(fit)?;
    let model = Model::new(fit, &blocks)?;
    let rows = table.rows();
    let (mut mean, mut gradient) = (0.0, DVector::zeros(model.block.names.len()));
    let mut determined = true;
    for (i, row) in model.rows(table)?.iter().enumerate() {
        let (value, derivative) = model.gradient(row, offset(table, i));
        mean += value / rows as f64;
        gradient += derivative / rows as f64;
        determined &= row.iter().zip(&model.block.determined).all(|(x, determined)| *determined || *x == 0.0);
    }
    let found = model.effect(String::new(), mean, &gradient, determined, reach(level))?;
    Ok(Average {
        schema: "dpglm.average/1",
        rows,
        estimate: mean,
        standard_error: found.standard_error,
        level,
        interval: found.interval,
        determined,
    })
}

/// Predicts at public values, and says what a change of each column does there.
pub(super) fn effects(
    fit: &FitDocument,
    blocks: &[Block],
    at: &IndexMap<String, String>,
    versus: Option<&IndexMap<String, String>>,
    level: f64,
) -> Result<Effects, Failure> {
    let model = Model::new(fit, blocks)?;
    let reach = reach(level);
    let columns = columns_read(fit)?;
    if columns.len() > MOST_COVARIANCES {
        return Err(Failure::Usage(
            format!(
                "at: the model reads {} columns, and this is for {MOST_COVARIANCES} at most: predict for a table of one row",
                columns.len()
            )
            .into(),
        ));
    }
    let profile = |given: &IndexMap<String, String>, otherwise: &dyn Fn(&Column) -> Meaning| {
        if let Some(unknown) = given.keys().find(|name| !columns.iter().any(|c| c.name == **name)) {
            let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            return Err(Failure::Usage(
                format!("at: `{unknown}` is no column that the model reads: it reads {}", names.join(", "))
                    .into(),
            ));
        }
        columns
            .iter()
            .map(|column| {
                Ok(given
                    .get(&column.name)
                    .map(|text| value(column, text))
                    .transpose()?
                    .unwrap_or_else(|| otherwise(column)))
            })
            .collect::<Result<Vec<Meaning>, Failure>>()
    };
    let here = profile(at, &fill)?;
    // Two rows for each change: the column before and after it.
    let mut changes: Vec<(String, f64)> = Vec::new();
    let mut rows = vec![here.clone()];
    for (c, column) in columns.iter().enumerate() {
        let with = |meaning: Meaning| {
            let mut row = here.clone();
            row[c] = meaning;
            row
        };
        match (&column.kind, &here[c]) {
            (Kind::Real(n), Meaning::Number(x)) => {
                let step = step(*x, n.bounds.upper() - n.bounds.lower());
                let [low, high] = [x - step, x + step].map(|end| n.bounds.clamp(end));
                rows.extend([with(Meaning::Number(low)), with(Meaning::Number(high))]);
                changes.push((format!("{}, by unit", column.name), high - low));
            }
            // Whole numbers: one more, or the last one.
            (Kind::Count(n), Meaning::Number(x)) => {
                let low = x.min(n.bounds.upper() - 1.0);
                rows.extend([with(Meaning::Number(low)), with(Meaning::Number(low + 1.0))]);
                changes.push((format!("{} {} against {low}", column.name, low + 1.0), 1.0));
            }
            (Kind::Binary(levels) | Kind::Category(levels), Meaning::Text(now)) => {
                for other in levels.levels.names().iter().filter(|other| *other != now) {
                    rows.extend([here.clone(), with(Meaning::Text(other.clone()))]);
                    changes.push((format!("{} {other} against {now}", column.name), 1.0));
                }
            }
            _ => {}
        }
    }
    let there = versus.map(|versus| {
        let same = |column: &Column| {
            let place = columns.iter().position(|other| other.name == column.name);
            place.map_or(Meaning::Number(0.0), |place| here[place].clone())
        };
        profile(versus, &same)
    });
    let there = there.transpose()?;
    rows.extend(there.clone());
    let table = encode(fit, &columns, &rows)?;
    let encoded = model.rows(&table)?;
    let prediction = model.at(&encoded[0], 0.0, reach)?;
    let found = changes
        .into_iter()
        .enumerate()
        .map(|(k, (change, by))| {
            let [(before, g), (after, h)] =
                [1 + 2 * k, 2 + 2 * k].map(|row| model.gradient(&encoded[row], 0.0));
            let determined = model.determines(&encoded[1 + 2 * k], &encoded[2 + 2 * k]);
            model.effect(change, (after - before) / by, &((h - g) / by), determined, reach)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let in_words = |row: &[Meaning]| -> IndexMap<String, String> {
        columns.iter().zip(row).map(|(column, meaning)| (column.name.clone(), word(meaning))).collect()
    };
    let versus = match (there, encoded.last()) {
        (Some(there), Some(other)) => {
            let [(first, g), (second, h)] = [&encoded[0], other].map(|row| model.gradient(row, 0.0));
            let mut values = in_words(&there);
            values.retain(|name, value| in_words(&here).get(name) != Some(value));
            Some(Versus {
                values,
                prediction: model.at(other, 0.0, reach)?,
                difference: {
                    let determined = model.determines(other, &encoded[0]);
                    model.effect("difference".into(), first - second, &(g - h), determined, reach)?
                },
            })
        }
        _ => None,
    };
    let target = match &fit.target.levels {
        Some(levels) if levels.len() == 2 => format!("probability of {} = {}", fit.target.name, levels[1]),
        _ => fit.target.name.clone(),
    };
    Ok(Effects { target, values: in_words(&here), prediction, effects: found, versus })
}

/// The columns that the model reads as features.
fn columns_read(fit: &FitDocument) -> Result<Vec<Column>, Failure> {
    let read = fit.encoding.columns_read()?;
    Ok(fit.encoding.columns().iter().filter(|column| read.contains(&column.name)).cloned().collect())
}

/// What a column is where nothing is said of it.
fn fill(column: &Column) -> Meaning {
    match &column.kind {
        Kind::Real(n) | Kind::Count(n) => Meaning::Number(n.fill),
        Kind::Binary(c) | Kind::Category(c) => {
            Meaning::Text(c.levels.names().get(c.fill).cloned().unwrap_or_default())
        }
        Kind::Ignore => Meaning::Text(String::new()),
    }
}

/// A value as it was written; refuses what a row could not hold.
fn value(column: &Column, text: &str) -> Result<Meaning, Failure> {
    let refuse =
        |what: String| Err(Failure::Usage(format!("at: `{}` {what}, got {text}", column.name).into()));
    match &column.kind {
        Kind::Real(n) | Kind::Count(n) => match text.trim().parse::<f64>() {
            Ok(x) if n.bounds.contains(x) && (!n.whole || x.fract() == 0.0) => Ok(Meaning::Number(x)),
            _ => {
                let whole = if n.whole { "whole " } else { "" };
                refuse(format!("must be a {whole}number in [{}, {}]", n.bounds.lower(), n.bounds.upper()))
            }
        },
        Kind::Binary(c) | Kind::Category(c) => match c.levels.find(text) {
            Some(level) => Ok(Meaning::Text(c.levels.names()[level].clone())),
            None => refuse(format!("must be one of {}", c.levels.names().join(", "))),
        },
        Kind::Ignore => refuse("is not read".into()),
    }
}

fn word(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Number(x) => render::rounded(*x),
        Meaning::Text(text) => text.clone(),
        Meaning::Truth(truth) => truth.to_string(),
        Meaning::Integer(x) => x.to_string(),
    }
}

/// Rows of public values, encoded as the fitted table was.
fn encode(fit: &FitDocument, columns: &[Column], rows: &[Vec<Meaning>]) -> Result<Encoded, Failure> {
    let codes: Vec<i64> = (0..rows.len() as i64).collect();
    let meanings: Vec<Vec<Meaning>> =
        (0..columns.len()).map(|c| rows.iter().map(|row| row[c].clone()).collect()).collect();
    let cells: Vec<(String, Cells<'_>)> = columns
        .iter()
        .zip(&meanings)
        .map(|(column, meanings)| (column.name.clone(), Cells::Coded { codes: &codes, meanings }))
        .collect();
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    Ok(encode_columns("at", &cells, &fit.encoding, &options)?)
}

impl Effects {
    pub(super) fn text(&self, level: f64) -> String {
        let level = percent(level);
        let list = |values: &IndexMap<String, String>| {
            let all: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            all.join(", ")
        };
        let line = |what: String, found: &Predicted| {
            let width = Some((found.interval[1] - found.interval[0]) / 4.0);
            let [low, high] = found.interval.map(|end| number(end, width));
            format!("{what}: {}, {level} from {low} to {high}\n", number(found.estimate, width))
        };
        let mut rows = vec![["a change of", "changes it by", "std. error", "p"].map(str::to_owned).to_vec()];
        rows[0].extend([format!("{level} from"), "to".into()]);
        let row = |effect: &Effect| {
            let error = Some(effect.standard_error);
            let mut row = vec![
                effect.change.clone(),
                number(effect.estimate, error),
                number(effect.standard_error, error),
                effect.p_value.map_or("not determined".into(), p_in_words),
            ];
            row.extend(effect.interval.map(|end| number(end, error)));
            row
        };
        rows.extend(self.effects.iter().map(row));
        let mut text = format!("At {}\n", list(&self.values));
        let what = match self.target.starts_with("probability") {
            true => self.target.clone(),
            false => format!("mean of {}", self.target),
        };
        text += &line(what, &self.prediction);
        if let Some(versus) = &self.versus {
            text += &line(format!("the same at {}", list(&versus.values)), &versus.prediction);
            rows.insert(1, row(&versus.difference));
        }
        text + "\n" + &render::table(&rows)
    }
}
