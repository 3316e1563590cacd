//! Reading order is dependency order: no module of the library names one that comes after it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules, each of which may use those before it.
const LAYERS: [&str; 22] = [
    "error",
    "numeric",
    "parallel",
    "noise",
    "privacy",
    "accounting",
    "data",
    "mechanisms",
    "families",
    "kernels",
    "passes",
    "release",
    "central",
    "estimators",
    "model",
    "prelude",
    "comparators",
    "theory",
    "local",
    "tuning",
    "audit",
    "registry",
];

#[test]
fn nothing_points_upward() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let layer = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let mut wrong = Vec::new();
    for file in sources(&root) {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let own = layer(&module).unwrap_or_else(|| panic!("{module} has no layer: give it one in this test"));
        for used in modules_used(&product_code(&file)) {
            if layer(&used).is_some_and(|other| other > own) {
                wrong.push(format!("{}: {module} uses {used}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The check itself can fail.
    assert_eq!(
        modules_used("use crate::registry::Entry; // crate::audit"),
        BTreeSet::from(["registry".to_owned()])
    );
}

/// The crates, each of which may depend on those before it.
const CRATES: [&str; 12] = [
    "dpglm",
    "dpglm-sign",
    "dpglm-ledger",
    "dpglm-plot",
    "dpglm-io",
    "dpglm-workflow",
    "dpglm-report",
    "dpglm-collect",
    "dpglm-cli",
    "dpglm-lab",
    "dpglm-py",
    "dpglm-r",
];

#[test]
fn no_crate_depends_on_a_later_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found: Vec<String> =
        fs::read_dir(root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    found.sort_unstable();
    let mut listed = CRATES.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed, "give every crate its place in this test");
    for (place, name) in CRATES.iter().enumerate() {
        let manifest = fs::read_to_string(root.join(name).join("Cargo.toml")).unwrap();
        let used = crates_used(&manifest);
        let wrong: Vec<&&str> = CRATES[place..].iter().filter(|later| used.contains(**later)).collect();
        assert!(wrong.is_empty(), "{name} depends on {wrong:?}");
    }
    // The check itself can fail.
    assert_eq!(
        crates_used("[dependencies]\ndpglm.workspace = true\ndpglm-io = { path = \"..\" }\n"),
        BTreeSet::from(["dpglm".to_owned(), "dpglm-io".to_owned()])
    );
}

/// Crates whose messages several front ends show, each in its own way.
const SHARED: [&str; 9] = [
    "dpglm",
    "dpglm-sign",
    "dpglm-ledger",
    "dpglm-io",
    "dpglm-workflow",
    "dpglm-report",
    "dpglm-collect",
    "dpglm-py",
    "dpglm-r",
];

#[test]
fn only_the_command_speaks_of_flags() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut wrong = Vec::new();
    for name in SHARED {
        for file in sources(&root.join(name).join("src")) {
            let code = product_code(&file);
            let lines = code.lines().enumerate().filter(|(_, line)| names_a_flag(line));
            wrong.extend(lines.map(|(at, line)| format!("{}:{}: {}", file.display(), at + 1, line.trim())));
        }
    }
    assert!(wrong.is_empty(), "write a `Parameter` in a `Message`:\n{}", wrong.join("\n"));
    // The check itself can fail.
    assert!(names_a_flag("    \"leave out --ridge\","));
    assert!(!names_a_flag("    // as --ridge does"));
}

/// Whether a line of code, its comment aside, holds `--` before a letter: nothing but a text does.
fn names_a_flag(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.split("--").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// What a manifest names on the left of its lines.
fn crates_used(manifest: &str) -> BTreeSet<String> {
    let dependencies = manifest.split("\n[").filter(|part| part.contains("dependencies]"));
    let lines = dependencies.flat_map(|part| part.lines().skip(1));
    lines
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|n| n.starts_with("dpglm"))
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") && !is_test_file(&path) {
            found.push(path);
        }
    }
    found
}

/// Files of tests alone, by their names in this crate.
fn is_test_file(path: &Path) -> bool {
    path.file_stem()
        .is_some_and(|stem| stem.to_str().is_some_and(|stem| stem == "tests" || stem.ends_with("attacks")))
}

/// The file without the module of tests that ends it.
fn product_code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    match text.find("#[cfg(test)]\nmod tests {") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What stands after `crate::`, comments aside.
fn modules_used(code: &str) -> BTreeSet<String> {
    let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let after = code.iter().flat_map(|line| line.split("crate::").skip(1));
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    after.map(name).collect()
}
