//! The vectors that other languages check themselves against: parameters, the vector, the random choices, the report's bytes
//! and the direction that the server decodes.
//!
//! `DPGLM_WRITE_VECTORS=1` writes the file anew; read the difference.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::local::{Choices, Kind, Randomizer, Report};
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/local_reports.json");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn kind(name: &str) -> Kind {
    serde_json::from_value(json!(name)).unwrap()
}

/// The parameters, vectors and choices; the rest is computed.
fn inputs() -> Vec<Value> {
    let mut out = Vec::new();
    let vectors: [Vec<f64>; 5] = [
        vec![0.6, -0.8],
        vec![0.0, 0.0, 0.0],
        vec![0.1, 0.2, 0.3, -0.4, 0.5],
        vec![3.0, 4.0, 0.0],
        vec![0.25],
    ];
    for (i, vector) in vectors.iter().enumerate() {
        for name in ["privunit", "duchi"] {
            for (epsilon, share) in [(1.0, 0.05), (2.0, 0.6), (5.0, 0.97)] {
                let randomizer = Randomizer::new(kind(name), vector.len(), 1.0, epsilon).unwrap();
                let seed: Vec<u8> = (0..16).map(|k| (17 * k + 31 * i + name.len()) as u8).collect();
                let draw = (randomizer.outcomes() as f64 * share) as u64;
                // Numbers beyond 2^53 travel as text: many languages read JSON's numbers as doubles.
                out.push(json!({
                    "kind": name, "dimension": vector.len(), "radius": 1.0, "epsilon": epsilon, "vector": vector,
                    "seed": hex(&seed), "draw": draw.to_string(), "sign": (u64::MAX / 5 * (i as u64)).to_string(),
                }));
            }
        }
    }
    out
}

/// Adds what a client and a server compute.
fn complete(mut case: Value) -> Value {
    let number = |field: &str| case[field].as_f64().unwrap();
    let text = |field: &str| case[field].as_str().unwrap();
    let vector: Vec<f64> = case["vector"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let randomizer =
        Randomizer::new(kind(text("kind")), vector.len(), number("radius"), number("epsilon")).unwrap();
    let choices = Choices {
        seed: unhex(text("seed")).try_into().unwrap(),
        draw: text("draw").parse().unwrap(),
        sign: text("sign").parse().unwrap(),
    };
    let report = randomizer.randomize_with(&vector, &choices).unwrap();
    let mut estimate = vec![0.0; vector.len()];
    randomizer.estimate(&Report::from_bytes(&report.to_bytes()).unwrap(), &mut estimate).unwrap();
    let direction: Vec<f64> = estimate.iter().map(|e| e * randomizer.gain() / randomizer.radius()).collect();
    let (inside, outside) = randomizer.outcome_weights();
    case["candidates"] = json!(randomizer.candidates());
    case["cap"] = json!(randomizer.cap());
    case["inside"] = json!(inside.to_string());
    case["outside"] = json!(outside.to_string());
    case["outcomes"] = json!(randomizer.outcomes().to_string());
    case["gain"] = json!(randomizer.gain());
    case["report"] = json!(hex(&report.to_bytes()));
    case["direction"] = json!(direction);
    case
}

fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| close(v, w)))
        }
        _ => a == b,
    }
}

#[test]
fn reports_agree_with_the_committed_vectors() {
    let computed: Vec<Value> = inputs().into_iter().map(complete).collect();
    if std::env::var_os("DPGLM_WRITE_VECTORS").is_some() {
        std::fs::write(FILE, serde_json::to_string_pretty(&computed).unwrap() + "\n").unwrap();
    }
    let committed: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    assert_eq!(computed.len(), committed.len());
    for (ours, theirs) in computed.iter().zip(&committed) {
        assert!(close(ours, theirs), "{ours:#}\n{theirs:#}");
    }
    // The comparison notices a changed bit.
    let mut wrong = computed[0].clone();
    wrong["report"] = json!("00");
    assert!(!close(&wrong, &committed[0]));
}

#[test]
fn committed_vectors_cover_both_kinds_and_both_sides() {
    let committed: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    for name in ["privunit", "duchi"] {
        assert!(committed.iter().filter(|case| case["kind"] == name).count() >= 10);
    }
    let duchi = |index: &str| {
        committed.iter().any(|c| c["kind"] == "duchi" && c["report"].as_str().unwrap().ends_with(index))
    };
    assert!(duchi("00000000") && duchi("01000000"));
}
