//! Every method with a fixed seed: the same numbers as when they were written down.
//!
//! `golden.json` holds them. A change that means to change a number renews the file, and says why:
//! `cargo test -p dpglm-cli --test estimation -- --ignored write_the_golden_values`.

use crate::sparse::wide;
use crate::support::*;
use crate::units::visits;
use serde_json::{Map, Value, json};

const BUDGET: &str = "--epsilon 4 --delta 1e-6 --insecure-seed 1";

/// Schemas of [`people`] with other targets.
fn tables() -> [(&'static str, Folder); 3] {
    let people = people(4_000);
    let schema = |target: &str, from: &str, to: &str| {
        PEOPLE.replace("target = \"income\"", &format!("target = \"{target}\"")).replace(from, to)
    };
    let ignored = "choice = { kind = \"ignore\" }";
    people.write("sex.toml", schema("sex", "", ""));
    people.write("visits.toml", schema("visits", "", ""));
    people.write("rates.toml", format!("exposure = \"years\"\n{}", schema("visits", "", "")));
    let levels = "choice = { kind = \"category\", levels = [\"bus\", \"car\", \"walk\"] }";
    people.write("choice.toml", schema("choice", ignored, levels));
    people.write(
        "units.toml",
        format!("unit = \"id\"\n{PEOPLE}").replace("id     = { kind = \"ignore\" }\n", ""),
    );
    [("people", people), ("wide", wide(3_000)), ("visits", visits())]
}

/// Every method, and the ways to call it that differ inside.
fn calls() -> Vec<(&'static str, String)> {
    let of = |table: &'static str, start: &'static str, flags: &[&str]| {
        let call = move |flags: &&str| (table, format!("{start} {flags}"));
        flags.iter().map(call).collect::<Vec<_>>()
    };
    let dense = ["", "--intervals 0.95", "--robust"];
    let by_bounds = "fit wide.csv --header --feature-bounds=-1,1 --target-bounds=-5,5";
    let by_signs = "fit signs.csv --header --feature-bounds=-1,1 --binary --family logistic";
    let mut calls = Vec::new();
    calls.extend(of("people", "fit people.csv --schema schema.toml", &dense));
    calls.extend(of("people", "fit people.csv --schema schema.toml --method statistics", &[""]));
    calls.extend(of("people", "fit people.csv --schema schema.toml --tune ridge=auto", &[""]));
    calls.extend(of("people", "fit people.csv --schema sex.toml", &dense));
    calls.extend(of("people", "fit people.csv --schema visits.toml", &["", "--robust"]));
    calls.extend(of("people", "fit people.csv --schema rates.toml", &dense));
    calls.extend(of("people", "fit people.csv --schema choice.toml", &dense));
    calls.extend(of("people", "fit people.csv --schema units.toml", &dense));
    calls.extend(of("people", "mean people.csv --schema schema.toml", &["", "--method localise"]));
    calls.extend(of("people", "describe people.csv --schema schema.toml", &["--correlations"]));
    calls.extend(of(
        "wide",
        by_bounds,
        &[
            "",
            "--sparsity 2",
            "--sparsity 2 --intervals 0.95",
            "--sparsity 2 --method noisy-iht",
            "--sparsity 2 --method peeling-iht",
            "--sparsity 2 --method noisy-iht --no-intercept --steps 5 --step-length 0.5 --radius 2 --support-norm 1",
            "--sparsity 2 --method peeling-iht --no-intercept --calibration printed --radius 3 --support-norm 1.5",
            "--sparsity 2 --split --intervals 0.95",
            "--method sparse-frank-wolfe --l1-radius 3 --no-intercept",
            "--sparsity 2 --method best-subset --no-intercept",
            "--sparsity 2 --method dp-iht --row-norm 3",
            "--method frank-wolfe --l1-radius 3 --no-intercept",
            "--sparsity 2 --method two-stage --no-intercept",
            "--sparsity 2 --method johnson-lindenstrauss --no-intercept",
            "--sparsity 2 --method transfer --no-intercept",
            "--tune sparsity=auto",
        ],
    ));
    calls.extend(of("wide", by_signs, &["", "--sparsity 2", "--sparsity 2 --method dp-iht --row-norm 3"]));
    calls.extend(of(
        "wide",
        "fit signs.csv --header --feature-bounds=-1,1 --binary",
        &["--family multinomial", "--family multinomial --sparsity 2"],
    ));
    calls.extend(of(
        "wide",
        "mean wide.csv --header --feature-bounds=-1,1",
        &["", "--sparsity 1", "--tune sparsity=auto", "--method karwa-vadhan"],
    ));
    let visits = "--header --unit who --feature-bounds=0,10";
    calls.push(("visits", format!("fit visits.csv {visits} --target-bounds=0,10")));
    calls.push(("visits", format!("fit visits.csv {visits} --target-bounds=0,10 --sparsity 1")));
    calls.push(("visits", format!("mean visits.csv {visits}")));
    calls
}

/// The numbers of an artefact that data decide.
fn numbers(artefact: &Value) -> Value {
    let kept = ["coefficients", "standard_errors", "means", "support", "groups"];
    let kept = kept.iter().filter(|key| !artefact[**key].is_null());
    Value::Object(kept.map(|key| ((*key).to_owned(), artefact[*key].clone())).collect())
}

fn run_all() -> Map<String, Value> {
    let tables = tables();
    let of = |name: &str| &tables.iter().find(|(table, _)| *table == name).unwrap().1;
    let found = |(table, call): (&str, String)| {
        let artefact = of(table).json(&format!("{call} {BUDGET}"));
        (call, numbers(&artefact))
    };
    calls().into_iter().map(found).collect()
}

/// Where two values differ by more than a part in 1e9 of the larger, or of one where both are small.
fn differences(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, old) in a {
                differences(
                    &format!("{path}/{key}"),
                    old,
                    &b.get(key).cloned().unwrap_or(json!(null)),
                    found,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (k, (old, new)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{k}"), old, new, found);
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            if (a - b).abs() > 1e-9 * a.abs().max(b.abs()) {
                found.push(format!("{path}: {a} became {b}"));
            }
        }
        (old, new) if old == new => {}
        _ => found.push(format!("{path}: {old} became {new}")),
    }
}

fn golden_file() -> String {
    format!("{}/tests/estimation/golden.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_method_gives_the_golden_values() {
    let golden: Map<String, Value> = serde_json::from_slice(&std::fs::read(golden_file()).unwrap()).unwrap();
    let now = run_all();
    let calls = |values: &Map<String, Value>| values.keys().cloned().collect::<Vec<_>>();
    assert_eq!(calls(&golden), calls(&now));
    let mut found = Vec::new();
    differences("", &Value::Object(golden), &Value::Object(now), &mut found);
    assert!(found.is_empty(), "{} numbers changed:\n{}", found.len(), found.join("\n"));
}

#[test]
#[ignore = "renews the file"]
fn write_the_golden_values() {
    let text = serde_json::to_string_pretty(&Value::Object(run_all())).unwrap();
    std::fs::write(golden_file(), text + "\n").unwrap();
}
