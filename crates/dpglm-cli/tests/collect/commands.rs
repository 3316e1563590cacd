//! The commands, one after the other, as in their help.

use crate::process::{Prepared, Server, enroll_first, free_address, round_of, study_text};
use dpglm_collect::answer::Answer;
use dpglm_collect::client::{Place as ServicePlace, Service};
use dpglm_collect::storage::{self, Access};
use dpglm_collect::study::signature_path;
use dpglm_collect::token::Token;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

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
    let address = free_address();
    std::fs::write(here.join("study.toml"), study_text(&[&address], 3, 1, 300, "privunit")).unwrap();
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
    // What people who act together could do is stated for every round, and what shuffling would save on request.
    let influence = plan["influence"].as_array().unwrap();
    assert_eq!(influence.len(), sizes.len());
    assert!(
        influence
            .iter()
            .all(|round| round["one_report"].as_f64() > Some(0.0) && round["colluders"].as_u64() > Some(0))
    );
    let said = dpglm(here, &["sign", "study.toml", "--key-file", "curator.key"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("colluders flip it"));
    let asked =
        ["plan", "study.toml", "--shuffled-delta", "1e-3", "--shuffled-epsilon", "0.5", "--format", "json"];
    let planned = json(&dpglm(here, &asked));
    assert_eq!(
        (&planned["shuffled"]["grade"], &planned["public_key"]),
        (&"conditional".into(), &Value::Null)
    );
    assert!(planned["largest_local_epsilon"].as_f64().unwrap() >= 0.5);
    assert!(
        !dpglm(here, &["plan", "study.toml", "--shuffled-epsilon", "1"]).status.success(),
        "without its delta"
    );
    let early = dpglm(here, &["enroll", "--storage", "study.sqlite", "--count", "1", "--output", "t"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("cannot open"));
    assert!(!here.join("study.sqlite").exists() && !here.join("t").exists(), "nothing is created by mistake");

    let server =
        Server::start(&here.join("study.toml"), &here.join("study.sqlite").display().to_string(), &address);
    let url = format!("http://{}", server.address);
    let enroll = |count: &str, output: &str| {
        dpglm(here, &["enroll", "--storage", "study.sqlite", "--count", count, "--output", output])
    };
    assert!(enroll("500", "tokens").status.success());
    let count = || {
        json(&dpglm(here, &["status", "--storage", "study.sqlite", "--format", "json"]))["enrolled"].clone()
    };
    assert!(!enroll("7", "tokens").status.success(), "an existing file is not overwritten");
    assert_eq!(count(), 500, "and nobody was enrolled for nothing");
    let tokens = std::fs::read_to_string(here.join("tokens")).unwrap();
    assert_eq!(tokens.lines().count(), 500);

    // One person, of the first round.
    let text = std::fs::read_to_string(here.join("study.toml")).unwrap();
    let study = dpglm_collect::study::Study::parse(&text).unwrap();
    let storage = here.join("study.sqlite").display().to_string();
    let first = |line: &&str| round_of(&storage, &study, &Token::parse(line).unwrap()) == 1;
    let own = tokens.lines().find(first).unwrap();
    std::fs::write(here.join("token"), own).unwrap();
    std::fs::write(here.join("me.json"), r#"{"x1": 0.5, "x2": null, "x3": 1e400, "y": "NaN"}"#).unwrap();
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
    std::fs::write(here.join("odd.json"), r#"{"x1": "my secret" ]"#).unwrap();
    let odd = report("2", "odd.json");
    assert!(!odd.status.success() && !String::from_utf8_lossy(&odd.stderr).contains("secret"));
    let first = json(&report("2", "me.json"));
    assert_eq!((first["code"].as_str(), first["spent"].as_f64()), (Some("accepted"), Some(2.0)));
    assert_eq!(json(&report("2", "me.json"))["code"], "already-counted");

    // Many.
    let mut table = String::from("x1,x2,x3,y\n");
    let mut devices = String::new();
    for (i, token) in tokens.lines().filter(|token| *token != own).enumerate() {
        table += &format!("{},{},0.5,{}\n", (i % 3) as f64 - 1.0, (i % 2) as f64, (i % 3) as f64 - 1.0);
        devices += &format!("{token}\n");
    }
    std::fs::write(here.join("people.csv"), table).unwrap();
    std::fs::write(here.join("devices"), devices).unwrap();
    let arguments = ["simulate", "people.csv", "--service", &url, "--key", key, "--tokens", "devices"];
    let simulated =
        json(&dpglm(here, &[&arguments[..], &["--format", "json", "--connections", "4"]].concat()));
    assert_eq!((&simulated["accepted"], &simulated["refused"]), (&299.into(), &0.into()), "{simulated}");
    assert_eq!(simulated["turned_away"], 200);
    let estimate = json(&dpglm(here, &["estimate", "--storage", "study.sqlite", "--format", "json"]));
    assert_eq!(estimate["estimate"][0]["name"], "(Intercept)");
    assert_eq!(estimate["rounds"].as_array().unwrap().len(), sizes.len());
    // Certificates round upward.
    let epsilon = estimate["certificate"]["epsilon"].as_f64().unwrap();
    assert!((2.0..2.0 + 1e-9).contains(&epsilon));
    let asked = ["estimate", "--storage", "study.sqlite", "--shuffled-delta", "1e-3", "--format", "json"];
    let shuffled = json(&dpglm(here, &asked))["shuffled"].clone();
    assert_eq!(shuffled["grade"], "conditional");
    assert!(shuffled["epsilon"].as_f64().unwrap() < 2.0 && shuffled["delta"] == 1e-3, "{shuffled}");
    let shown = dpglm(here, &["estimate", "--storage", "study.sqlite"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Replacing any one user's record"));
    let log = server.kill();
    assert!(tokens.lines().all(|token| !log.contains(token)));
}

/// What an operator does beside a running service, and how it stops.
#[test]
fn an_operator_keeps_a_study_going() {
    let address = free_address();
    let prepared = Prepared::new(&study_text(&[&address], 3, 1, 300, "duchi"));
    let (here, place) = (prepared.folder.path(), prepared.sqlite());
    let metrics = free_address();
    let mut server = Server::start_with(&prepared.file, &place, &address, &["--metrics", &metrics]);
    std::fs::write(here.join("place"), format!("{place}\n")).unwrap();
    let status = || json(&dpglm(here, &["status", "--storage-file", "place", "--format", "json"]));
    let deadline = |status: &Value| status["rounds"][0]["deadline"].as_str().unwrap().to_owned();
    let before = status();
    assert_eq!(
        (&before["rounds"][0]["phase"], &before["expires"]),
        (&"open".into(), &"2100-01-01T00:00:00Z".into())
    );
    assert!(dpglm(here, &["extend", "--storage", &place, "--hours", "48"]).status.success());
    assert!(deadline(&status()) > deadline(&before));
    let early = dpglm(here, &["reopen", "--storage", &place, "--hours", "1"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("has not ended"));
    storage::open(&place, Access::Existing).unwrap().abandon(1).unwrap();
    let over = dpglm(here, &["extend", "--storage", &place, "--hours", "1"]);
    assert!(String::from_utf8_lossy(&over.stderr).contains("`dpglm collect reopen`"));
    let shown = dpglm(here, &["reopen", "--storage", &place, "--hours", "1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("round 1 is open until 20"));
    assert_eq!(status()["rounds"][0]["phase"], "open");
    // A lost letter: its token is taken back.
    let service = Service::new(&format!("http://{address}")).unwrap();
    let token = enroll_first(&place, prepared.accepted.study());
    std::fs::write(here.join("lost"), token.reveal()).unwrap();
    assert!(matches!(service.reserve(&token).unwrap(), ServicePlace::Held { .. }));
    let revoked = dpglm(here, &["revoke", "--storage", &place, "--tokens", "lost"]);
    assert!(String::from_utf8_lossy(&revoked.stdout).starts_with("1 of 1 tokens"));
    assert_eq!(service.reserve(&token).unwrap(), ServicePlace::Refused(Answer::Token));
    // Metrics have their own address, and are nowhere else.
    let watched = Service::new(&format!("http://{metrics}")).unwrap().get("/metrics").unwrap();
    assert!(watched.contains("dpglm_ready 1") && service.get("/metrics").is_err());
    // SIGTERM ends the process in time, although a request was half sent.
    let mut half = std::net::TcpStream::connect(&address).unwrap();
    std::io::Write::write_all(&mut half, b"POST /report HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\nab")
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    assert!(server.wait(Duration::from_secs(20)), "the service did not stop");
    let log = server.kill();
    assert!(log.lines().all(|line| line.starts_with("time=20") && line.contains(" level=")), "{log}");

    // A signature of zeros is not served, whoever is said to have made it; nor a study whose key is another.
    let beside = signature_path(&prepared.file);
    let kept = std::fs::read_to_string(&beside).unwrap();
    let file = prepared.file.display().to_string();
    let serve = |more: &[&str]| {
        let output =
            dpglm(here, &[&["serve", &file, "--storage", &place, "--listen", "127.0.0.1:0"], more].concat());
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    std::fs::write(&beside, "0".repeat(128)).unwrap();
    assert!(serve(&[]).contains("does not say whose it is"));
    assert!(serve(&["--key", &prepared.key]).contains("not by the curator's key"));
    std::fs::write(&beside, format!("key {}\nstudy {}\n", prepared.key, "0".repeat(128))).unwrap();
    assert!(serve(&[]).contains("not by the curator's key"));
    std::fs::write(&beside, kept).unwrap();
    assert!(serve(&["--key", &"1".repeat(64)]).contains("not by the curator's key"));
}

#[test]
fn keys_are_replaced_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let key = |name: &str| {
        json(&dpglm(here, &["keygen", "--output", name, "--format", "json"]))["public_key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (old, new) = (key("old"), key("new"));
    let said = dpglm(here, &["replace-key", "--key-file", "old", "--new", &new]);
    let line = String::from_utf8(said.stdout).unwrap();
    let public = |text: &str| dpglm_sign::PublicKey::parse(text).unwrap();
    assert_eq!(
        dpglm_sign::statement::successors(&public(&old), &line).unwrap(),
        [public(&old), public(&new)]
    );
    let said = dpglm(here, &["revoke-key", "--key-file", "old"]);
    let both = line + &String::from_utf8(said.stdout).unwrap();
    assert_eq!(dpglm_sign::statement::successors(&public(&old), &both), None);
}

#[test]
fn wrong_use_is_said_plainly() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, complaint) in [
        (&["enroll", "--count", "1", "--output", "x"][..], 2, "--storage"),
        (
            &["estimate", "--storage", "postgresql://me:secret@db.example.org/study"],
            2,
            "a password on the command line can be read",
        ),
        (&["status", "--storage-file", "none"], 1, "none"),
        (&["extend", "--storage", "s", "--hours", "0"], 2, "--hours"),
        (&["extend", "--storage", "s", "--hours", "1", "--format", "json"], 2, "leave it out"),
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

#[test]
fn a_study_is_paid_from_a_ledger_once_for_each_beginning() {
    let address = free_address();
    let study = Prepared::new(&study_text(&[&address], 3, 1, 300, "privunit"));
    let here = study.folder.path();
    let run = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_dpglm")).args(arguments).current_dir(here).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let make = |name: &str, epsilon: &str, protects: &str| {
        let flags = ["--epsilon", epsilon, "--rule", "pure", "--protects", protects];
        assert_eq!(run(&[&["ledger", "init", name][..], &flags].concat()).0, Some(0));
    };
    make("small", "1", "record");
    make("rows", "3", "row");
    make("large", "3", "record");
    // Without room, or where something else is protected, nobody can answer.
    let serve = ["collect", "serve", "study.toml", "--listen", &address, "--ledger"];
    for (name, words) in
        [("small", "no room in the ledger"), ("rows", "protects one row"), ("none", "ledger init")]
    {
        let (code, said) = run(&[&serve[..], &[name]].concat());
        assert!(code == Some(1) && said.contains(words), "{name}: {said}");
        assert!(!here.join("study.toml.sqlite").exists());
    }
    let charges = || {
        let shown = json(
            &Command::new(env!("CARGO_BIN_EXE_dpglm"))
                .args(["ledger", "show", "large", "--format", "json"])
                .current_dir(here)
                .output()
                .unwrap(),
        );
        shown["charges"].as_array().unwrap().clone()
    };
    let ledger = here.join("large").display().to_string();
    for times in 0..2 {
        let server = Server::start_with(&study.file, &study.sqlite(), &address, &["--ledger", &ledger]);
        let said = server.kill();
        assert_eq!(said.contains("is paid already"), times == 1, "{said}");
        let charges = charges();
        assert_eq!(charges.len(), 1);
        assert_eq!((&charges[0]["what"], &charges[0]["data"]), (&"collect".into(), &"trial".into()));
        let loss = charges[0]["loss"].as_f64().unwrap();
        assert!((2.0..2.000_001).contains(&loss), "each answers one round: {loss}");
    }
    // Begun again it asks everybody again: there is no room for that, and with more room it is paid again.
    let again = here.join("again.sqlite").display().to_string();
    let (code, said) = run(&[&serve[..], &[&ledger, "--storage", &again]].concat());
    assert!(code == Some(1) && said.contains("no room in the ledger"), "{said}");
    assert_eq!(charges().len(), 1);
    make("larger", "5", "record");
    let ledger = here.join("larger").display().to_string();
    for storage in [&study.sqlite(), &again] {
        let said = Server::start_with(&study.file, storage, &address, &["--ledger", &ledger]).kill();
        assert!(!said.contains("is paid already"), "{said}");
    }
    let shown = Command::new(env!("CARGO_BIN_EXE_dpglm"))
        .args(["ledger", "show", "larger", "--format", "json"])
        .current_dir(here)
        .output()
        .unwrap();
    assert_eq!(json(&shown)["charges"].as_array().unwrap().len(), 2);
}
