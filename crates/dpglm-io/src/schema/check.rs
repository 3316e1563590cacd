//! What a schema comes to, column by column, and whether a file has the columns that it speaks of. No cell is shown or looked at.

use std::path::Path;

use super::{Kind, Missing, Naming, Schema, Undeclared};
use crate::error::Result;
use crate::read::{Declared, ReadOptions, shape};
use crate::text;

/// Says what each column of a schema is read as; with a file, whether its names agree.
pub fn check(schema: &Schema, file: Option<&Path>) -> Result<String> {
    let mut rows = vec![["column", "kind", "declared", "read as"].map(String::from).to_vec()];
    for column in schema.columns() {
        let (kind, declared, encoded) = match &column.kind {
            Kind::Real(n) | Kind::Count(n) => (
                if n.whole { "count" } else { "real" },
                match n.resolution {
                    Some(resolution) => format!("at most {} in size, to {resolution}", n.bounds.upper()),
                    None => format!("[{}, {}]", n.bounds.lower(), n.bounds.upper()),
                },
                format!("one number; a missing cell {}", missing(schema, &n.fill.to_string())),
            ),
            Kind::Binary(c) | Kind::Category(c) => {
                let names = c.levels.names();
                let reference = names.get(c.reference).map_or("", String::as_str);
                let fill = names.get(c.fill).map_or("", String::as_str);
                let is_binary = matches!(column.kind, Kind::Binary(_));
                let columns = match is_binary {
                    true => "0 or 1".to_owned(),
                    false => format!("{} columns of 0 and 1 against \"{reference}\"", names.len() - 1),
                };
                let undeclared = match schema.undeclared() {
                    Undeclared::Reference => format!("as \"{reference}\""),
                    Undeclared::Missing => "as a missing one".to_owned(),
                };
                (
                    if is_binary { "binary" } else { "category" },
                    names.join(", "),
                    format!(
                        "{columns}; a level not listed {undeclared}, a missing cell {}",
                        missing(schema, fill)
                    ),
                )
            }
            Kind::Ignore => ("ignore", String::new(), "not read".to_owned()),
        };
        let role = match () {
            () if schema.target() == Some(&column.name) => " (target)",
            () if schema.exposure() == Some(&column.name) => " (exposure)",
            () if schema.weight() == Some(&column.name) => " (weight)",
            () if schema.unit() == Some(&column.name) => " (unit)",
            () => "",
        };
        rows.push(vec![format!("{}{role}", column.name), kind.to_owned(), declared, encoded]);
    }
    let mut said = text::aligned(&rows);
    let (encoded, _) = schema.encoded()?;
    said += &format!("\nThe schema is valid. A model has {} columns", encoded.len());
    said += if schema.intercept() { " and an intercept.\n" } else { " and no intercept.\n" };
    if let Some(unit) = schema.unit() {
        said += &format!("All rows of one `{unit}` are protected together.\n");
    }
    said += match schema.naming() {
        Naming::FirstLine => "The first line of a text file is its header.\n",
        Naming::Listed(_) => "A text file has no header; its columns are called as `names` lists them.\n",
        Naming::Numbered => "A text file has no header; its columns are called x0, x1, ...\n",
    };
    if let Some(path) = file {
        let found = shape(path, Declared::Schema(schema), &ReadOptions::default())?;
        if let Some(names) = &found.columns {
            schema.encoded_in(path, names)?;
            said += &format!("{} has the declared columns, {} in all.\n", path.display(), names.len());
        }
    }
    Ok(said)
}

/// What becomes of a missing cell.
fn missing(schema: &Schema, fill: &str) -> String {
    match schema.missing() {
        Missing::Fill => format!("as {fill}"),
        Missing::Drop => "drops the row (in means and descriptions, the cell)".to_owned(),
        Missing::Indicator => format!("as {fill}, and a column says where"),
    }
}
