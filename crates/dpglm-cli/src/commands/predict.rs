//! `dpglm predict`: what a model says about new rows.

use crate::artefact::{self, Artefact};
use crate::failure::Failure;
use crate::progress::tell;
use crate::table::{Lists, declared_header, is_text, lists};
use crate::{Format, flags, render};
use clap::Args;
use dpglm_io::schema::{Column, Kind};
use dpglm_io::{Declared, Encoded, ReadOptions, Schema, UniformBounds, read_table, read_uniform, shape};
use dpglm_workflow::inference::{average, predict_with_intervals};
use dpglm_workflow::predict::{Predictions, linear_predictors, predict};
use std::collections::HashSet;
use std::path::PathBuf;

/// Predict for the rows of a new table: the mean response, or the probability of each level.
///
/// The table has the columns that the model was fitted to; target, exposure and unit may be missing, and other columns are
/// ignored. The model may be
/// published; what it says about a row is about that row, so predictions are as private as the table they are made for.
#[derive(Args)]
pub struct Arguments {
    /// A model written by `dpglm fit --output`
    #[arg(value_name = "ARTEFACT")]
    artefact: PathBuf,
    /// The table to predict for
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The two list columns that hold the sparse rows of a Parquet file [default: indices,values]
    #[arg(long, value_name = "NAMES", value_parser = lists)]
    sparse_columns: Option<Lists>,
    /// The first line of the text file holds the columns' names [default: as in the table that the model was fitted to]
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The text file has no line of names: its columns are called as in the table that the model was fitted to, or x0, x1, ...
    #[arg(long)]
    no_header: bool,
    /// Also give intervals of this level (0.95) for the mean response, of a model that was fitted with intervals. They belong to the
    /// estimates without shrinkage, which stand beside the predictions
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,
    /// The average of the predictions for all rows, with its interval, in place of each
    #[arg(long, requires = "intervals")]
    average: bool,
    /// Write the predictions to a CSV file [default: print them]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let Artefact::Fit(fit) = artefact::read(&arguments.artefact)? else {
        return Err(Failure::Failed(format!(
            "{}: means predict nothing: give a file that `dpglm fit --output` wrote",
            arguments.artefact.display()
        )));
    };
    let blocks =
        fit.blocks().map_err(|e| Failure::Failed(format!("{}: {e}", arguments.artefact.display())))?;
    let table = read(arguments, &fit.encoding)?;
    let notes = table.curator.to_string();
    if !notes.is_empty() {
        tell(&format!(
            "note: cells mapped by the public rule, clamped to the model's bounds or counted as its schema says\n  {}",
            notes.replace('\n', "\n  ")
        ));
    }
    let found: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    if found != fit.features().iter().map(String::as_str).collect::<Vec<_>>() {
        return Err(Failure::Failed(format!(
            "{}: its columns are not those of the model: the artefact's encoding was changed",
            arguments.file.display()
        )));
    }
    if let (Some(level), true) = (arguments.intervals, arguments.average) {
        require_level(level)?;
        let found = average(&fit, &table, level)?;
        let text = match format {
            Format::Json => render::json(&found)?,
            Format::Table => {
                let cells = [found.estimate, found.standard_error, found.interval[0], found.interval[1]];
                let cells = cells.map(|x| x.to_string()).join(",");
                format!("average,std. error,from,to,determined\n{cells},{}\n", found.determined)
            }
        };
        return written(arguments, text);
    }
    let predictors = linear_predictors(&table, &blocks, &fit.encoding);
    let mut document = predict(&fit, &predictors, table.exposure.as_deref());
    if let Some(level) = arguments.intervals {
        require_level(level)?;
        document.add_intervals(&predict_with_intervals(&fit, &table, level)?);
    }
    let text = match format {
        Format::Json => render::json(&document)?,
        Format::Table => csv(&document),
    };
    written(arguments, text)
}

fn require_level(level: f64) -> Result<(), Failure> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Failure::Usage(format!("--intervals must lie between 0 and 1, got {level}: write it like 0.95")))
}

/// Writes the result where it was asked for, or gives it to be printed.
fn written(arguments: &Arguments, text: String) -> Result<String, Failure> {
    let Some(output) = &arguments.output else { return Ok(text) };
    dpglm_io::write_atomically(output, text.as_bytes())?;
    Ok(String::new())
}

/// Reads a table as the model's own was read.
fn read(arguments: &Arguments, schema: &Schema) -> Result<Encoded, Failure> {
    let path = arguments.file.as_path();
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    let mut schema = schema.clone();
    if let Some((flag, header)) = declared_header(arguments.header, arguments.no_header) {
        if !is_text(path)? {
            return Err(Failure::Usage(format!(
                "{flag} speaks of the first line of delimited text, and {} is none: leave out {flag}",
                path.display()
            )));
        }
        schema = schema.with_header(header)?;
    }
    let Some(names) = shape(path, Declared::Schema(&schema), &options)?.columns else {
        // Sparse rows without names: all features have the same bounds.
        let read: HashSet<String> = schema.columns_read()?.into_iter().collect();
        let is_feature = |c: &&Column| read.contains(&c.name);
        let features: Vec<_> = schema.columns().iter().filter(is_feature).collect();
        let Some(Kind::Real(numeric)) = features.first().map(|c| &c.kind) else {
            return Err(Failure::Failed(format!(
                "{}: the model's columns have names, those of sparse rows have none: give a table with names",
                path.display()
            )));
        };
        let uniform = UniformBounds {
            features: Some(features.len()),
            intercept: schema.intercept(),
            scale: schema.scale(),
            lists: arguments.sparse_columns.as_ref().map(|Lists(names)| names.clone()),
            ..UniformBounds::new(numeric.bounds.lower(), numeric.bounds.upper())
        };
        return Ok(read_uniform(path, &uniform, &options)?);
    };
    if arguments.sparse_columns.is_some() {
        return Err(Failure::Usage(format!(
            "--sparse-columns names the lists of a Parquet file, and {} has none: leave it out",
            path.display()
        )));
    }
    let declared: HashSet<&str> =
        schema.columns().iter().map(|c| c.name.as_str()).chain(schema.unit()).collect();
    let table = read_table(path, &schema, &options)?;
    let unknown: Vec<String> = (1..)
        .zip(&names)
        .filter(|(_, name)| !declared.contains(name.as_str()))
        .map(|(i, _): (usize, _)| i.to_string())
        .collect();
    if !unknown.is_empty() {
        // By number: what stands in an unknown file's first line may be somebody's cell.
        tell(&format!(
            "note: {}: {} of its {} columns are not the model's and are ignored (number {})",
            path.display(),
            unknown.len(),
            names.len(),
            unknown.join(", ")
        ));
    }
    Ok(table)
}

fn csv(document: &Predictions) -> String {
    let heading: Vec<String> = document.columns.iter().map(|name| quoted(name)).collect();
    let mut text = heading.join(",") + "\n";
    for row in &document.rows {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}
