//! The files that a path stands for: itself, those of a folder, or those that a pattern names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

/// The files of a table, in the order of their names. A pattern may hold `*` and `?` in its last part; of a folder, files whose names begin
/// with a point or an underscore are left out, as engines that write tables in parts mean it.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return named(path, path, |name| !name.starts_with(['.', '_']));
    }
    let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !pattern.contains(['*', '?']) || path.exists() {
        return Ok(vec![path.to_path_buf()]);
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    named(path, folder, |name| matches(&pattern, &name.chars().collect::<Vec<_>>()))
}

fn named(path: &Path, folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::open(folder, e))? {
        let entry = entry.map_err(|e| Error::read(folder, e))?.path();
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if wanted(&name) && entry.is_file() {
            found.push(entry);
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        return Err(Error::file(path, Place::Whole, "there is no file of this name", "check the path"));
    }
    Ok(found)
}

/// Whether a name fits a pattern of `*` and `?`.
fn matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, name)| matches(pattern, name))
        }
        (Some((wanted, pattern)), Some((letter, name))) => {
            (*wanted == '?' || wanted == letter) && matches(pattern, name)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files() {
        let fits = |pattern: &str, name: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            matches(&letters(pattern), &letters(name))
        };
        assert!(fits("part-*.csv", "part-07.csv") && fits("*", "x") && fits("a?c", "abc") && fits("a*", "a"));
        assert!(!fits("part-*.csv", "part-07.csv.gz") && !fits("a?c", "ac") && !fits("", "a"));
    }

    #[test]
    fn folders_and_patterns_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "_SUCCESS", ".hidden", "c.txt"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            let found = files(path).unwrap();
            found.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(folder.path()), ["a.csv", "b.csv", "c.txt"]);
        assert_eq!(names(&folder.path().join("*.csv")), ["a.csv", "b.csv"]);
        assert!(files(&folder.path().join("*.parquet")).is_err());
        assert_eq!(files(Path::new("missing.csv")).unwrap(), [Path::new("missing.csv")]);
    }
}
