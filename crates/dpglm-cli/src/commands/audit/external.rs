//! Another program as a method: a table goes in as CSV, coefficients come out as JSON.

use dpglm::audit::Table;
use dpglm::{Error, Result};
use dpglm_workflow::Failure;
use serde_json::Value;
use std::fmt::Write;
use std::process::{Command, Stdio};

/// A program that fits the table in one file and writes coefficients to another.
pub struct External {
    command: String,
    /// The names of the columns, the constant one left out.
    names: Vec<String>,
    has_constant: bool,
    /// Private rows pass through here: readable by its owner alone, and removed in the end.
    folder: tempfile::TempDir,
}

impl External {
    pub fn new(command: &str, names: Vec<String>, has_constant: bool) -> std::result::Result<Self, Failure> {
        for place in ["{data}", "{output}"] {
            if !command.contains(place) {
                return Err(Failure::Usage(format!(
                    "--command must name {place}, which stands for a file: write it like 'python fit.py {{data}} {{output}}'"
                ).into()));
            }
        }
        let folder = tempfile::tempdir().map_err(|error| {
            Failure::Failed(format!("cannot make a folder for the command's files: {error}").into())
        })?;
        Ok(Self { command: command.to_owned(), names, has_constant, folder })
    }

    pub fn fit(&self, table: &Table) -> Result<Vec<f64>> {
        let failed = |what: &str, why: String| Error::Conflict(format!("--command: {what}: {why}"));
        let (data, output) = (self.folder.path().join("data.csv"), self.folder.path().join("output.json"));
        std::fs::write(&data, self.csv(table))
            .map_err(|e| failed("cannot write its table", e.to_string()))?;
        // An output of the run before must not pass for one of this run.
        let _ = std::fs::remove_file(&output);
        let quoted =
            |path: &std::path::Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let script = self.command.replace("{data}", &quoted(&data)).replace("{output}", &quoted(&output));
        let ran = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::null())
            .output()
            .map_err(|e| failed("the shell did not start", e.to_string()))?;
        if !ran.status.success() {
            let message = String::from_utf8_lossy(&ran.stderr);
            let last =
                message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            return Err(failed(&format!("it ended with {}", ran.status), last.to_owned()));
        }
        let text = std::fs::read_to_string(&output)
            .map_err(|e| failed("it wrote no readable output", e.to_string()))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|e| failed("its output is not JSON", e.to_string()))?;
        self.coefficients(&value).ok_or_else(|| {
            failed(
                "its output is not understood",
                format!(
                    "write {{\"coefficients\": [{} numbers]{}}}",
                    self.names.len(),
                    if self.has_constant { ", \"intercept\": number" } else { "" }
                ),
            )
        })
    }

    /// The rows with a header, the response last; digits enough to read the same numbers back.
    fn csv(&self, table: &Table) -> String {
        let skipped = usize::from(self.has_constant);
        let mut text = self
            .names
            .iter()
            .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect::<Vec<_>>()
            .join(",");
        text.push_str(",y\n");
        for row in 0..table.rows() {
            for x in &table.row(row)[skipped..] {
                let _ = write!(text, "{x:?},");
            }
            let _ = writeln!(text, "{:?}", table.response()[row]);
        }
        text
    }

    /// An array, an array under "coefficients", or an object there with a number for each column; and the intercept.
    fn coefficients(&self, value: &Value) -> Option<Vec<f64>> {
        let slopes = match value.get("coefficients").unwrap_or(value) {
            Value::Array(list) if list.len() == self.names.len() => {
                list.iter().map(number).collect::<Option<Vec<f64>>>()?
            }
            Value::Object(named) => {
                self.names.iter().map(|name| number(named.get(name)?)).collect::<Option<Vec<f64>>>()?
            }
            _ => return None,
        };
        if !self.has_constant {
            return Some(slopes);
        }
        let inside = value.get("coefficients").and_then(|c| c.get(crate::model::INTERCEPT));
        let intercept = value.get("intercept").or(inside).map_or(Some(0.0), number)?;
        Some(std::iter::once(intercept).chain(slopes).collect())
    }
}

/// A number; `null` and strings such as "nan" count as not a number, which an audit may look at too.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_go_out_and_coefficients_come_back() {
        let names = vec!["a".to_owned(), "b\"c".to_owned()];
        let plain = External::new("cat {data} {output}", names.clone(), false).unwrap();
        let table = Table::new(2, vec![0.1, 2.0, -3.0, 1e-9], vec![1.0, 0.0]).unwrap();
        assert_eq!(plain.csv(&table), "\"a\",\"b\"\"c\",y\n0.1,2.0,1.0\n-3.0,1e-9,0.0\n");
        assert_eq!(plain.coefficients(&json!([1, 2.5])), Some(vec![1.0, 2.5]));
        assert_eq!(plain.coefficients(&json!({"coefficients": {"b\"c": 2, "a": 1}})), Some(vec![1.0, 2.0]));
        assert_eq!(plain.coefficients(&json!([1])), None);
        let whole = External::new("cp {data} {output}", names, true).unwrap();
        assert_eq!(
            whole.coefficients(&json!({"coefficients": [1, 2], "intercept": 3})),
            Some(vec![3.0, 1.0, 2.0])
        );
        let message = whole.fit(&Table::new(3, vec![1.0; 3], vec![0.0]).unwrap()).unwrap_err().to_string();
        assert!(message.contains("not JSON"), "{message}");
        assert!(External::new("python fit.py", vec![], false).is_err());
    }

    #[test]
    fn a_command_is_run_anew_each_time_and_its_failure_is_told() {
        let table = Table::new(1, vec![4.0], vec![0.0]).unwrap();
        let shell = |script: &str| External::new(script, vec!["x".into()], false).unwrap();
        let counts = shell("test -s {data} && echo '{\"coefficients\": [7]}' > {output}");
        assert_eq!(counts.fit(&table).unwrap(), [7.0]);
        let fails = shell("echo oh dear >&2; exit 3 # {data} {output}").fit(&table).unwrap_err().to_string();
        assert!(fails.contains("oh dear") && fails.contains('3'), "{fails}");
        let silent = shell("true {data} {output}").fit(&table).unwrap_err().to_string();
        assert!(silent.contains("no readable output"), "{silent}");
    }
}
