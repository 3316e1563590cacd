//! A first version of a schema for a file: names and kinds, with everything that must come from public knowledge
//! left blank.

use std::fmt::Write;
use std::path::Path;

use super::hints;
use crate::error::Result;
use crate::read::{ColumnPreview, InferredType, preview};

/// Why the blanks are blank.
const PREFACE: &str = "\
# Bounds and levels are left blank on purpose. Read off the file they would leak what the rows say: one person can
# be the largest income or the only member of a category. Write what is known without the file: a code book, the law,
# a published table, common sense. Values outside are clamped; levels not listed count as the reference.
#
# kind = \"real\"      bounds = [lower, upper]
# kind = \"count\"     bounds = [0, largest]
# kind = \"binary\"    levels = [\"no\", \"yes\"]                 the first is 0
# kind = \"category\"  levels = [\"a\", \"b\", [\"c\", \"C\"]]      the first is the reference; [..] lists spellings
# kind = \"ignore\"    for a column that is not read: names, numbers of records, free text
#
# Kinds are guesses from the first rows: check them.
";

/// Drafts a schema from a file's header and the types of its first rows. Blanks make it fail validation until they
/// are filled in.
///
/// Of a text file it must be said whether it has a header: the first line may be somebody's row, whose cells would stand in the
/// draft as names. A declared header with a cell that no name should be is refused all the same. Without a header the columns are
/// called c1, c2, ... Files that name their columns themselves need no declaration and refuse one.
///
/// With `units`, a number whose *name* reads like an age, a percentage or an amount of money has a comment with bounds that are common for
/// such columns: a reminder of public knowledge, taken from no cell.
pub fn draft(file: &Path, has_header: Option<bool>, units: bool) -> Result<String> {
    let (columns, delimiter) = preview(file, has_header)?;
    let mut text = String::from(PREFACE);
    text.push_str(
        "\ntarget = \"\"           # the column to explain\nintercept = true\n\
         missing = \"fill\"      # or \"drop\": the row gets weight zero\n",
    );
    if let Some(mark) = delimiter {
        // Writing to a string does not fail.
        let _ = writeln!(text, "delimiter = {:?}       # a guess from the first lines", mark.to_string());
    }
    if has_header == Some(true) {
        text.push_str("header = true         # the first line holds the names below\n");
    }
    if has_header == Some(false) {
        let names: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "# The file has no header line: these are the names of its columns, to be changed here and below."
        );
        let _ = writeln!(text, "names = [{}]", names.join(", "));
    }
    if units {
        text.push_str(
            "\n# Notes beside numbers are bounds that are common for columns of such names. They are no advice on this table.\n",
        );
    }
    text.push_str("\n[columns]\n");
    for ColumnPreview { name, looks } in columns {
        let (declaration, note) = match looks {
            InferredType::Number => ("kind = \"real\", bounds = []", ""),
            InferredType::Text => ("kind = \"category\", levels = []", ""),
            // The type itself says which levels there are.
            InferredType::Truth => ("kind = \"binary\", levels = [\"false\", \"true\"]", ""),
            InferredType::Bit => (
                "kind = \"binary\", levels = [\"0\", \"1\"]",
                if units && hints::is_number_of_things(&name) {
                    "of 0 and 1 in the first rows; a count may have more"
                } else {
                    ""
                },
            ),
            InferredType::Empty => {
                ("kind = \"real\", bounds = []", "no cell in the first rows: the kind is not known")
            }
        };
        let is_number = matches!(looks, InferredType::Number | InferredType::Empty);
        let hint = if units && is_number { hints::of(&name).unwrap_or_default() } else { String::new() };
        let notes: Vec<&str> = [note, &hint].into_iter().filter(|note| !note.is_empty()).collect();
        let comment = if notes.is_empty() { String::new() } else { format!("  # {}", notes.join("; ")) };
        let _ = writeln!(text, "{} = {{ {declaration} }}{comment}", key(&name));
    }
    Ok(text)
}

/// A name as a TOML key: bare where that is allowed.
fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if is_bare {
        return name.to_owned();
    }
    let mut quoted = String::from('"');
    for c in name.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
