//! The commands, one after the other, as in their help.

use crate::process::{Server, study_text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn dpglm(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpglm"))
        .arg("collect")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_study_from_key_to_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("study.toml"), study_text(3, 1, 300, "privunit")).unwrap();
    let key = json(&dpglm(here, &["keygen", "--output", "curator.key", "--format", "json"]));
    let key = key["public_key"].as_str().unwrap();
    let again = dpglm(here, &["keygen", "--output", "curator.key"]);
    assert_eq!(again.status.code(), Some(1), "a key is never overwritten");
    let unsigned = dpglm(here, &["serve", "study.toml"]);
    assert!(String::from_utf8_lossy(&unsigned.stderr).contains("sign the study first"));

    let plan = json(&dpglm(here, &["sign", "study.toml", "--key-file", "curator.key", "--format", "json"]));
    assert_eq!(plan["public_key"], key);
    let sizes: Vec<u64> = plan["rounds"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 300);
    let early = dpglm(here, &["enroll", "--storage", "study.sqlite", "--count", "1", "--output", "t"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("no study has begun"));

    let server = Server::start(
        &here.join("study.toml"),
        &here.join("study.sqlite").display().to_string(),
        "127.0.0.1:0",
    );
    let url = format!("http://{}", server.address);
    let enrolled =
        dpglm(here, &["enroll", "--storage", "study.sqlite", "--count", "301", "--output", "tokens"]);
    assert!(enrolled.status.success());
    let tokens = std::fs::read_to_string(here.join("tokens")).unwrap();
    assert_eq!(tokens.lines().count(), 301);

    // One person.
    std::fs::write(here.join("token"), tokens.lines().next().unwrap()).unwrap();
    std::fs::write(here.join("me.json"), r#"{"x1": 0.5, "x2": null, "y": 1}"#).unwrap();
    let report = |limit: &str, record: &str| {
        let arguments =
            ["report", "--service", &url, "--key", key, "--limit", limit, "--token-file", "token"];
        dpglm(
            here,
            &[&arguments[..], &["--device", "device", "--record", record, "--format", "json"]].concat(),
        )
    };
    let refused = report("1", "me.json");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("above the user's limit of 1"));
    std::fs::write(here.join("odd.json"), r#"{"x1": "my secret"}"#).unwrap();
    let odd = report("2", "odd.json");
    assert!(!odd.status.success() && !String::from_utf8_lossy(&odd.stderr).contains("secret"));
    let first = json(&report("2", "me.json"));
    assert_eq!((first["code"].as_str(), first["spent"].as_f64()), (Some("accepted"), Some(2.0)));
    assert_eq!(json(&report("2", "me.json"))["code"], "already-counted");

    // Many.
    let mut table = String::from("x1,x2,x3,y\n");
    let mut devices = String::new();
    for (i, token) in tokens.lines().skip(1).take(299).enumerate() {
        table += &format!("{},{},0.5,{}\n", (i % 3) as f64 - 1.0, (i % 2) as f64, (i % 3) as f64 - 1.0);
        devices += &format!("{token}\n");
    }
    std::fs::write(here.join("people.csv"), table).unwrap();
    std::fs::write(here.join("devices"), devices).unwrap();
    let arguments = ["simulate", "people.csv", "--service", &url, "--key", key, "--tokens", "devices"];
    let simulated =
        json(&dpglm(here, &[&arguments[..], &["--format", "json", "--connections", "4"]].concat()));
    // One place of the first round was taken by the person, so one simulated device is late and the last round lacks two.
    let accepted = simulated["accepted"].as_u64().unwrap();
    assert_eq!(accepted + simulated["refused"].as_u64().unwrap(), 299);
    assert!(accepted >= 297, "{simulated}");
    let estimate = json(&dpglm(here, &["estimate", "--storage", "study.sqlite", "--format", "json"]));
    assert_eq!(estimate["estimate"][0]["name"], "(Intercept)");
    assert_eq!(estimate["rounds"].as_array().unwrap().len(), sizes.len());
    // Certificates round upward.
    let epsilon = estimate["certificate"]["epsilon"].as_f64().unwrap();
    assert!((2.0..2.0 + 1e-9).contains(&epsilon));
    let shown = dpglm(here, &["estimate", "--storage", "study.sqlite"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Replacing any one user's record"));
    let log = server.kill();
    assert!(tokens.lines().all(|token| !log.contains(token)));
}

#[test]
fn wrong_use_is_said_plainly() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, complaint) in [
        (&["enroll", "--count", "1", "--output", "x"][..], 2, "--storage"),
        (&["enroll", "--storage", "s", "--count", "0", "--output", "x"], 2, "0 is not in"),
        (&["estimate", "--storage", "none/such"], 1, "cannot open"),
        (&["sign", "study.toml", "--key-file", "none"], 1, "none"),
        (
            &[
                "report",
                "--service",
                "x",
                "--key",
                "0",
                "--limit",
                "1",
                "--token-file",
                "t",
                "--device",
                "d",
                "--record",
                "r",
            ],
            2,
            "http://",
        ),
    ] {
        let output = dpglm(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(complaint), "{arguments:?}: {said}");
    }
}
