//! The command as its users see it: what it prints, how it fails, how it behaves in a pipe.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Every case under `tests/cmd`. `TRYCMD=overwrite` writes the answers anew; digits that may differ between machines are
/// then replaced by `[..]` by hand.
#[test]
fn printed_cases() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_dpglm"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run_with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = start(arguments);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn events_from_standard_input() {
    let events = r#"[{"mechanism": "laplace", "sensitivity": 1, "scale": 4, "count": 2}]"#;
    let output = run_with_input(&["account", "--events", "-", "--pure", "--format", "json"], events);
    assert!(output.status.success());
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((answer["epsilon"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    let output = run_with_input(&["account", "--events", "-", "--pure"], "[{}]");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("standard input: event 1 (line 1, column 2)"), "{message}");
}

/// A calibrated event, given back to the accountant, costs what the calibration said.
#[test]
fn calibrate_and_account_agree() {
    let budget = ["--epsilon", "0.5", "--delta", "1e-5", "--format", "json"];
    for mechanism in ["gaussian", "laplace", "selection"] {
        let releases = ["calibrate", "--mechanism", mechanism, "--sensitivity", "1", "--count", "20"];
        let calibrated = start(&[&releases[..], &budget].concat()).wait_with_output().unwrap();
        let calibrated: serde_json::Value = serde_json::from_slice(&calibrated.stdout).unwrap();
        let events = calibrated["events"].to_string();
        let account = ["account", "--events", "-", "--delta", "1e-5", "--format", "json"];
        let accounted: serde_json::Value =
            serde_json::from_slice(&run_with_input(&account, &events).stdout).unwrap();
        assert_eq!(accounted["epsilon"], calibrated["epsilon"]);
        assert!(accounted["epsilon"].as_f64().unwrap() <= 0.5);
    }
}

#[test]
fn plot_draws_the_curve_and_the_answer() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("curve.svg");
    let arguments =
        ["account", "--mechanism", "gaussian", "--sensitivity", "1", "--sigma", "4", "--delta", "1e-5"];
    let output =
        start(&[&arguments[..], &["--plot", path.to_str().unwrap()]].concat()).wait_with_output().unwrap();
    assert!(output.status.success());
    let drawing = std::fs::read_to_string(path).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
    assert!(drawing.contains("(0.926342, 1e-5)"), "{drawing}");
    assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
}

/// A reader that goes away is neither a panic nor a failure.
#[test]
fn closed_pipes_are_no_failure() {
    for arguments in [
        &["account", "--mechanism", "gaussian", "--sensitivity", "1", "--sigma", "4", "--delta", "1e-5"][..],
        &["account", "--help"],
        &["account"],
    ] {
        let mut child = start(arguments);
        drop(child.stdout.take());
        drop(child.stderr.take());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if arguments.len() == 1 { 2 } else { 0 }), "{arguments:?}");
    }
}
