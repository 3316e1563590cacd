//! Privacy numbers are printed by `dpglm::privacy::decimal`, which rounds to the safe side, and by nothing else.
//!
//! Every place in the sources that prints a number to fewer digits than it has is listed here with what it prints. A new one is an
//! error until somebody has asked: is it an epsilon, a delta, a mu, a noise? Then it goes through `decimal`; if not, it is listed.

use std::fs;
use std::path::{Path, PathBuf};

/// Where numbers are rounded to the nearest: file, how often, and what they are.
const NEAREST: &[(&str, usize, &str)] = &[
    ("crates/dpglm-io/src/encode/numbering.rs", 1, "the digits of an identifier"),
    ("crates/dpglm/src/model/fit.rs", 4, "coefficients and their intervals"),
    ("crates/dpglm-cli/src/commands/collect/curator.rs", 1, "estimates"),
    ("crates/dpglm-cli/src/commands/collect/simulate.rs", 4, "seconds and rates"),
    ("crates/dpglm-cli/src/progress.rs", 4, "sizes, rates and times"),
    ("crates/dpglm-cli/src/every_flag/files.rs", 5, "cells of tables that a test writes"),
    ("crates/dpglm-collect/src/page/client.js", 3, "the report that is shown to its sender"),
    ("crates/dpglm-collect/src/server/pages.rs", 2, "estimates"),
    ("crates/dpglm-workflow/src/audit/report.rs", 6, "rates of attacks, p-values rounded up, the confidence"),
    ("crates/dpglm-workflow/src/budget.rs", 1, "1/n"),
    ("crates/dpglm-report/src/effects.rs", 3, "factors of odds and counts"),
    ("crates/dpglm-report/src/meaning.rs", 1, "a whole number, rounded to the safe side before"),
    ("crates/dpglm-report/src/review.rs", 2, "bounds that were found"),
    ("crates/dpglm-plot/src/axis.rs", 2, "ticks of axes"),
    ("crates/dpglm-plot/src/planned_error.rs", 1, "simulated errors"),
    ("crates/dpglm-plot/src/roc.rs", 1, "areas"),
    ("crates/dpglm-plot/src/svg.rs", 41, "coordinates"),
    ("crates/dpglm-workflow/src/describe/text.rs", 7, "estimates, edges of bins, found bounds"),
    ("crates/dpglm-r/src/values.rs", 1, "whole numbers"),
    ("crates/dpglm-workflow/src/document.rs", 4, "found bounds, fill values, dispersions"),
    ("crates/dpglm-workflow/src/inference/effects.rs", 1, "public values"),
    (
        "crates/dpglm-workflow/src/inference/summary.rs",
        4,
        "z, p-values of tests of coefficients, statistics, ratios",
    ),
    ("crates/dpglm-workflow/src/render.rs", 1, "the rounding of estimates itself"),
    (
        "crates/dpglm-workflow/src/study.rs",
        7,
        "errors, rates and constants; an epsilon to plan with, before it is used",
    ),
    ("crates/dpglm-workflow/src/table.rs", 3, "estimates"),
    ("crates/dpglm/src/privacy/decimal.rs", 1, "the exact digits that are then rounded"),
    ("python/src/dpglm/_base.py", 1, "estimates"),
];

/// The lab prints errors of simulations in a hundred places; its epsilons go through one function.
const LAB: &str = "crates/dpglm-lab/src/";

/// Words that say that a number is one of privacy.
const PRIVACY: [&str; 8] = ["epsilon", "delta", "mu", "rho", "sigma", "scale", "spent", "truly"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| ["rs", "py", "js", "html"].iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
}

/// The program of a file, without its comments and tests.
fn program(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        ["//", "# ", ">>> "].iter().any(|mark| line.starts_with(mark))
    };
    text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

/// The format specifications with a precision, `{x:.3}` and their like, as (what is named, specification).
fn precisions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('{') {
        let Some(end) = text[start..].find('}') else { continue };
        let Some((name, form)) = text[start + 1..start + end].split_once(':') else { continue };
        let named = name.chars().all(|c| c.is_alphanumeric() || "_.[]()\"'".contains(c));
        let formed = form.chars().all(|c| c.is_alphanumeric() || "<>^+#.*$?_".contains(c));
        let precise = form.split_once('.').is_some_and(|(_, digits)| !digits.is_empty());
        if named && formed && precise && !form.contains("..") {
            found.push((name.to_owned(), form.to_owned()));
        }
    }
    found
}

/// Other ways of rounding to the nearest, by the language.
fn other_ways(extension: &str, text: &str) -> usize {
    let calls: &[&str] = match extension {
        "py" => &[" round(", "(round(", "np.round(", "np.around(", "%."],
        "rs" => &["render::rounded("],
        _ => &[".toFixed(", ".toPrecision("],
    };
    calls.iter().map(|call| text.matches(call).count()).sum()
}

#[test]
fn every_place_that_rounds_to_the_nearest_is_known() {
    let root = root();
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    sources(&root.join("python/src"), &mut files);
    assert!(files.len() > 200, "{}", files.len());
    let mut unknown = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let text = program(&file);
        let precisions = precisions(&text);
        for (number, form) in &precisions {
            let parts = number.split(|c: char| !c.is_alphanumeric());
            let private = parts.into_iter().any(|part| PRIVACY.contains(&part));
            assert!(
                !private,
                "{name}: {{{number}:{form}}} is a privacy number: print it by privacy::decimal"
            );
        }
        if name.starts_with(LAB) {
            continue;
        }
        let extension = file.extension().unwrap_or_default().to_str().unwrap();
        let count = precisions.len() + other_ways(extension, &text);
        let known = NEAREST.iter().find(|(place, ..)| *place == name).map_or(0, |(_, count, _)| *count);
        if count != known {
            unknown.push(format!("{name}: {count}, and {known} are known"));
        }
    }
    assert!(
        unknown.is_empty(),
        "a privacy number goes through privacy::decimal; list any other in {}:\n{}",
        file!(),
        unknown.join("\n")
    );
}

/// The test sees what it must see.
#[test]
fn what_rounds_to_the_nearest_is_recognised() {
    let found = |extension: &str, text: &str| precisions(text).len() + other_ways(extension, text);
    for (extension, rounds) in [
        ("rs", "write!(f, \"e^{epsilon:.4}\")"),
        ("rs", "format!(\"{:.3}\", g.epsilon)"),
        ("rs", "format!(\"{value:.*e}\", 5)"),
        ("rs", "format!(\"{x:>8.decimals$}\")"),
        ("rs", "render::rounded(epsilon)"),
        ("py", "f\"{self.epsilon:.6g}\""),
        ("py", "print(round(epsilon, 3))"),
        ("js", "facts.epsilon.toPrecision(3)"),
    ] {
        assert_eq!(found(extension, rounds), 1, "{rounds}");
    }
    for exact in
        ["format!(\"{epsilon}\")", "format!(\"{delta:e}\")", "Point { epsilon: self.x.y, delta }", "{a:>5}"]
    {
        assert_eq!(found("rs", exact), 0, "{exact}");
    }
}
