//! No public method without an audit: the sources are searched for types that release something of private rows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::registry::entries;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Types with a method that takes private values and gives out something, and the entries that audit them.
const AUDITED: &[(&str, &[&str])] = &[
    ("ClippedSum", &["clipped-sum"]),
    ("DpIht", &["dp-iht"]),
    ("ExponentialMechanism", &["exponential"]),
    ("FrankWolfe", &["frank-wolfe"]),
    ("GaussianVector", &["gaussian"]),
    ("Glm", &["linear", "logistic", "poisson"]),
    ("GumbelTop", &["gumbel-top"]),
    ("JohnsonLindenstrauss", &["johnson-lindenstrauss"]),
    ("JointStatistics", &["joint-statistics"]),
    ("KarwaVadhan", &["karwa-vadhan"]),
    ("LabelIht", &["label-iht"]),
    ("LabelLasso", &["label-lasso"]),
    ("LabelNoise", &["label-laplace", "label-gaussian"]),
    ("LaplacePeeling", &["peeling"]),
    ("LaplaceVector", &["laplace"]),
    ("LinearStatistics", &["linear-statistics"]),
    ("LocalGaussian", &["local-gaussian"]),
    ("LocalIht", &["local-iht"]),
    ("Multinomial", &["multinomial"]),
    ("NoisyIht", &["noisy-iht", "peeling-iht"]),
    ("OneShotGlm", &["one-shot"]),
    ("PrivateMean", &["mean"]),
    ("PrivateQuantile", &["quantile", "quantile-unbounded"]),
    ("RandomizedResponse", &["randomized-response"]),
    ("Randomizer", &["privunit", "duchi"]),
    (
        "Regression",
        &["linear-likelihood", "logistic-likelihood", "poisson-likelihood", "multinomial-likelihood"],
    ),
    ("SelectRefine", &["select-refine"]),
    ("SparseMean", &["sparse-mean"]),
    ("SparseMultinomial", &["sparse-multinomial"]),
    ("ThresholdBit", &["threshold-bit"]),
    ("ThresholdIht", &["threshold-iht"]),
    ("Transfer", &["transfer"]),
    ("Truncation", &["truncation"]),
    ("TunedRidge", &["tuned-ridge", "tuned-ridge-choice"]),
    ("TunedSparseMean", &["tuned-sparse-mean"]),
    ("TunedSparsity", &["tuned-sparsity", "tuned-sparsity-choice"]),
    ("TwoStage", &["two-stage"]),
];

/// Types with such a method that promise nothing, and say so.
const UNPROTECTED: &[&str] = &["Iht"];

const FOLDERS: [&str; 6] = ["central", "comparators", "estimators", "local", "mechanisms", "tuning"];
const TELLING: [&str; 6] = ["choose", "fit", "prepare", "randomize", "release", "report"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The types of a source file that have a public method of one of these names, with a source of randomness or a budget.
fn releasing(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut of = "";
    let lines: Vec<&str> = text.lines().take_while(|line| *line != "mod tests {").collect();
    for (place, line) in lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("impl") {
            let rest = rest.rsplit(" for ").next().unwrap_or(rest);
            let rest = if rest.starts_with('<') {
                rest.split_once("> ").map_or(rest, |(_, rest)| rest)
            } else {
                rest
            };
            of = rest.trim().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        }
        let name = line.strip_prefix("    pub fn ").map(|rest| rest.split(['(', '<']).next().unwrap_or(""));
        if name.is_some_and(|name| TELLING.contains(&name)) {
            let signature = lines[place..].iter().take(10).take_while(|line| !line.ends_with('}')).copied();
            let signature = signature.collect::<String>();
            let signature = signature.split('{').next().unwrap_or("").to_owned();
            if ["RandomSource", "Privacy", "Dataset", "Design"].iter().any(|word| signature.contains(word)) {
                found.insert(of.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_public_method_has_an_entry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))) {
        found.extend(releasing(&std::fs::read_to_string(file).unwrap()));
    }
    // What a method prepares is audited with it.
    found.retain(|name| !name.starts_with("Prepared"));
    let known: BTreeSet<&str> =
        AUDITED.iter().map(|(name, _)| *name).chain(UNPROTECTED.iter().copied()).collect();
    for name in &found {
        assert!(
            known.contains(name.as_str()),
            "{name} has no entry in the registry: add one, and name it here"
        );
    }
    for name in known {
        assert!(found.contains(name), "{name} is not there any more");
    }
    for (name, of) in AUDITED {
        for entry in *of {
            assert!(entries().iter().any(|e| e.name == *entry), "{name}: the registry has no {entry}");
        }
    }
}

#[test]
fn a_method_without_an_entry_is_seen() {
    let source =
        "impl<'a> Novel<'a> {\n    /// Fits.\n    pub fn fit(&self, data: &Dataset) -> Fit {\n    }\n}\n";
    assert_eq!(releasing(source), BTreeSet::from(["Novel".to_owned()]));
    assert!(releasing("impl Novel {\n    fn fit(&self, data: &Dataset) -> Fit {\n    }\n}\n").is_empty());
}
