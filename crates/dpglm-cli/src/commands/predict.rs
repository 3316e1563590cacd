//! `dpglm predict`: what a model says about new rows.

use crate::artefact::{self, Artefact};
use crate::failure::Failure;
use crate::progress::tell;
use crate::table::{Lists, lists};
use crate::{Format, render};
use clap::Args;
use dpglm_io::assembly::predict::{Predictions, linear_predictors, predict};
use dpglm_io::schema::Kind;
use dpglm_io::{Encoded, ReadOptions, Schema, Shape, Wide, read_table, read_wide, shape};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

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
    let table = read(&arguments.file, &fit.encoding, arguments.sparse_columns.as_ref())?;
    let found: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    if found != fit.columns.iter().map(String::as_str).collect::<Vec<_>>() {
        return Err(Failure::Failed(format!(
            "{}: its columns are not those of the model: the artefact's encoding was changed",
            arguments.file.display()
        )));
    }
    let predictors = linear_predictors(&table, &blocks, &fit.encoding);
    let document = predict(&fit, &predictors, table.exposure.as_deref());
    let text = match format {
        Format::Json => render::json(&document)?,
        Format::Table => csv(&document),
    };
    let Some(output) = &arguments.output else { return Ok(text) };
    dpglm_io::write_atomically(output, text.as_bytes())?;
    Ok(String::new())
}

/// Reads a table as the model's own was read.
fn read(path: &Path, schema: &Schema, lists: Option<&Lists>) -> Result<Encoded, Failure> {
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    let Some(mut names) = shape(path, Some(schema), &options)?.columns else {
        // Sparse rows without names: all features have the same bounds.
        let features: Vec<_> = schema.columns().iter().filter(|c| schema.target() != Some(&c.name)).collect();
        let Some(Kind::Real(numeric)) = features.first().map(|c| &c.kind) else {
            return Err(Failure::Failed(format!(
                "{}: the model's columns have names, those of sparse rows have none: give a table with names",
                path.display()
            )));
        };
        let mut wide = Wide {
            features: Some(features.len()),
            intercept: schema.intercept(),
            scale: schema.scale(),
            ..Wide::new(numeric.bounds.lower(), numeric.bounds.upper())
        };
        if let Some(Lists(names)) = lists {
            wide.lists.clone_from(names);
        }
        return Ok(read_wide(path, &wide, &options)?);
    };
    let declared: HashSet<&str> =
        schema.columns().iter().map(|c| c.name.as_str()).chain(schema.unit()).collect();
    let mut schema = schema.clone();
    if !names.iter().any(|name| declared.contains(name.as_str()))
        && let Ok(Shape { columns: Some(numbered), .. }) = shape(path, None, &options)
        && numbered.first().is_some_and(|name| declared.contains(name.as_str()))
    {
        // A numeric text file without a header line: its columns are called x0, x1, ...
        schema = schema.with_names(Some(numbered.clone()))?;
        names = numbered;
    }
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
