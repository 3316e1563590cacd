//! Simulated errors on disk: the same question is answered at once the next time.

use dpglm::numeric::fnv1a;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A folder with one file per simulated point; without one nothing is kept.
pub(crate) struct Cache {
    folder: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    /// What was simulated, in full: a name is only its hash.
    key: String,
    errors: Vec<f64>,
}

impl Cache {
    /// The given folder, or the user's cache.
    pub(super) fn open(folder: Option<PathBuf>) -> Self {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let standard = || {
            let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
            Some(base.join("dpglm"))
        };
        Self { folder: folder.or_else(standard) }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("plan-{:016x}.json", fnv1a(key.bytes()))))
    }

    /// The errors known for this key; none if there is no such file, or it is of something else.
    pub(super) fn read(&self, key: &str) -> Vec<f64> {
        let text = self.path(key).and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        match serde_json::from_str::<Entry>(&text) {
            Ok(entry) if entry.key == key && entry.errors.iter().all(|e| e.is_finite()) => entry.errors,
            _ => Vec::new(),
        }
    }

    /// Keeps errors. A cache that cannot be written is no reason to stop.
    pub(super) fn write(&self, key: &str, errors: &[f64]) {
        let (Some(path), Some(folder)) = (self.path(key), &self.folder) else { return };
        let entry = Entry { key: key.into(), errors: errors.to_vec() };
        if let Ok(text) = serde_json::to_string(&entry) {
            let _ = std::fs::create_dir_all(folder);
            let _ = std::fs::write(path, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path().join("deep")));
        assert!(cache.read("a").is_empty());
        cache.write("a", &[0.5, 0.25]);
        assert_eq!(cache.read("a"), [0.5, 0.25]);
        assert!(cache.read("b").is_empty());
        // A damaged file, or one of another key, counts as absent.
        std::fs::write(cache.path("a").unwrap(), "{").unwrap();
        assert!(cache.read("a").is_empty());
        std::fs::write(cache.path("a").unwrap(), r#"{"key":"b","errors":[1.0]}"#).unwrap();
        assert!(cache.read("a").is_empty());
    }
}
