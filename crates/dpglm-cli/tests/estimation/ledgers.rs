//! Ledgers as a user keeps them.
//!
//! `DPGLM_CRASHES` sets how often a fit is killed.

use super::support::{Folder, run_words};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SCHEMA: &str = r#"
target = "y"
[columns]
a = { kind = "real", bounds = [0, 1] }
g = { kind = "binary", levels = ["f", "m"] }
y = { kind = "real", bounds = [0, 2] }
who = { kind = "ignore" }
"#;

fn table(rows: usize) -> String {
    let row = |i: usize| {
        let a = (i * 7_919 % 1_000) as f64 / 1_000.0;
        format!("{a},{},{},p{}\n", ["f", "m"][i % 2], a + 0.1 * (i % 7) as f64, i / 2)
    };
    "a,g,y,who\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", table(400)).write("s.toml", SCHEMA);
    let schema = SCHEMA.replace("[columns]", "unit = \"who\"\n[columns]");
    folder.write("u.toml", schema);
    assert_eq!(folder.run("keygen --output k.key").code, 0);
    let made = folder.run("ledger init l.ledger --epsilon 4 --delta 1e-6 --about tests");
    assert_eq!(made.code, 0, "{}", made.stderr);
    folder
}

const FIT: &str = "fit t.csv --schema s.toml --delta 1e-6 --ledger l.ledger";

#[test]
fn what_is_paid_is_entered_and_found_again() {
    let folder = folder();
    for (line, what) in [
        (
            format!(
                "{FIT} --epsilon 0.5 --output fit.json --purpose risk --data-name people --fingerprint k.key"
            ),
            "fit",
        ),
        (
            "mean t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --ledger l.ledger --output mean.json"
                .into(),
            "mean",
        ),
        (
            "describe t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --ledger l.ledger --output d.json"
                .into(),
            "describe",
        ),
    ] {
        let ran = folder.run(&line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("entered in the ledger l.ledger"), "{}", ran.stderr);
        let shown = folder.json("ledger show l.ledger");
        let charges = shown["charges"].as_array().unwrap();
        assert_eq!(charges.last().unwrap()["what"], what);
        assert_eq!(charges.last().unwrap()["certificate"].as_str().unwrap().len(), 64);
    }
    let exported = folder.json("ledger export l.ledger");
    let first = &exported["records"][1]["entry"]["charged"];
    assert_eq!((&first["data"], &first["purpose"]), (&"people".into(), &"risk".into()));
    assert_eq!(first["fingerprint"].as_str().unwrap().len(), 64);
    let csv = folder.run("ledger export l.ledger").stdout;
    assert!(csv.lines().count() == 4 && csv.contains("people") && csv.contains("risk"), "{csv}");
    // The name of the file, where none is given; no fingerprint, where none is asked for.
    let second = &exported["records"][3]["entry"]["charged"];
    assert!(second["data"] == "t.csv" && second["fingerprint"].is_null());
    // Each artefact finds its line; one that was paid elsewhere does not.
    let verified = folder.json("ledger verify l.ledger fit.json mean.json d.json");
    assert_eq!(verified["fixed_to"], 6);
    assert_eq!(
        folder.run("fit t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --output other.json").code,
        0
    );
    folder.refuses("ledger verify l.ledger other.json", 1, &["no line notes other.json"]);
    let text = folder.run("ledger show l.ledger").stdout;
    assert!(text.contains("tests") && text.contains("risk") && text.contains("% "), "{text}");
    let left = folder.json("ledger remaining l.ledger");
    assert!(left["epsilon"].as_f64().unwrap() < 4.0 && left["epsilon"].as_f64().unwrap() > 3.5, "{left}");
}

/// What is accepted by name to pay for a fit is said wherever the ledger's promise is.
#[test]
fn assumptions_of_what_was_paid_are_said_with_the_promise() {
    const SAME_SUPPORT: &str = "one record does not change the support";
    let folder = folder();
    let line = "fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --sparsity 1 --method transfer-literal --no-intercept \
                --ledger l.ledger --output literal.json --accept";
    assert_eq!(folder.run(&format!("{FIT} --epsilon 0.5")).code, 0);
    let free = folder.run("ledger show l.ledger").stdout;
    assert!(!free.contains("provided that"), "{free}");
    let ran = run_words(&folder.path(""), line.split_whitespace().chain([SAME_SUPPORT]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown = folder.json("ledger show l.ledger");
    assert_eq!(shown["assuming"], serde_json::json!([SAME_SUPPORT]));
    let of_lines: Vec<usize> = shown["charges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["assuming"].as_array().unwrap().len())
        .collect();
    assert_eq!(of_lines, [0, 1]);
    let (provided, line) =
        (format!("provided that {SAME_SUPPORT}"), format!("Line 3 assumes that {SAME_SUPPORT}"));
    let text = folder.run("ledger show l.ledger").stdout;
    assert!(text.matches(&provided).count() == 2 && text.contains(&line), "{text}");
    let verified = folder.run("ledger verify l.ledger").stdout;
    assert!(verified.contains(&line), "{verified}");
    let csv = folder.run("ledger export l.ledger").stdout;
    assert!(csv.lines().nth(2).unwrap().ends_with(SAME_SUPPORT), "{csv}");
    assert_eq!(folder.run("report literal.json --ledger l.ledger --output page.html").code, 0);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains(&provided) && page.contains(&line), "{page}");
}

/// Ten fits of epsilon 0.5 within a total far below 5.
#[test]
fn ten_fits_cost_what_they_cost_together() {
    let folder = folder();
    assert_eq!(folder.run("ledger init ten.ledger --epsilon 2.5 --delta 1e-6").code, 0);
    for _ in 0..10 {
        let ran = folder.run("fit t.csv --schema s.toml --delta 1e-6 --epsilon 0.5 --ledger ten.ledger");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let shown = folder.json("ledger show ten.ledger");
    assert_eq!(shown["charges"].as_array().unwrap().len(), 10);
}

#[test]
fn what_has_no_room_is_refused_and_what_fits_is_said() {
    let folder = folder();
    assert_eq!(folder.run(&format!("{FIT} --epsilon 3.5")).code, 0);
    let before = std::fs::read(folder.path("l.ledger")).unwrap();
    // Before a table is looked at: this one is not there.
    folder.refuses(
        &format!("{} --epsilon 3.9", FIT.replace("t.csv", "none.csv")),
        1,
        &["no room", "no more than epsilon", "could fit"],
    );
    // Nor is it hashed.
    folder.refuses(
        &format!("{} --epsilon 3.9 --fingerprint k.key", FIT.replace("t.csv", "none.csv")),
        1,
        &["no room", "no more than epsilon", "could fit"],
    );
    // Where epsilons add up as well.
    assert_eq!(folder.run("ledger init pure.ledger --epsilon 1 --rule pure").code, 0);
    folder.refuses(
        "mean none.csv --schema s.toml --epsilon 2 --delta 1e-6 --ledger pure.ledger",
        1,
        &["no room", "no more than epsilon 1 at"],
    );
    let room = folder.json("ledger remaining l.ledger")["epsilon"].as_f64().unwrap();
    // A little less than a Gaussian of the same epsilon could cost: this fit also chooses.
    let refused = folder.run(&format!("{FIT} --epsilon {}", 1.02 * room));
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let fits =
        refused.stderr.split("; epsilon ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
    let planned = folder.run(&format!("{FIT} --epsilon {} --dry-run --rows 400", 1.2 * room));
    assert!(planned.code == 1 && planned.stderr.contains("no room"), "{}", planned.stderr);
    let planned = folder.run(&format!("{FIT} --epsilon {fits} --dry-run --rows 400"));
    assert!(planned.code == 0 && planned.stderr.contains("there is room"), "{}", planned.stderr);
    assert_eq!(std::fs::read(folder.path("l.ledger")).unwrap(), before);
    assert_eq!(folder.run(&format!("{FIT} --epsilon {fits}")).code, 0);
    folder.refuses(&format!("{FIT} --epsilon 0.5"), 1, &["no room"]);
}

#[test]
fn what_has_no_place_in_a_ledger_is_refused() {
    let folder = folder();
    let before = std::fs::read(folder.path("l.ledger")).unwrap();
    folder.refuses(
        "fit t.csv --schema s.toml --epsilon inf --ledger l.ledger",
        2,
        &["--ledger", "--epsilon"],
    );
    folder.refuses("fit t.csv --schema s.toml --method reference --ledger l.ledger", 2, &["--ledger"]);
    folder.refuses(
        &format!("{FIT} --epsilon 1 --insecure-seed 3"),
        2,
        &["--ledger", "leave out --insecure-seed"],
    );
    folder.refuses(
        &format!("{} --epsilon 1", FIT.replace("s.toml", "u.toml")),
        1,
        &["protects one row", "one who: all rows that carry the same `who`"],
    );
    folder.refuses(
        &format!("{} --epsilon 1", FIT.replace("l.ledger", "none.ledger")),
        1,
        &["none.ledger", "dpglm ledger init"],
    );
    folder.refuses(&format!("{FIT} --epsilon 1 --fingerprint none.key"), 1, &["none.key"]);
    folder.write("short.key", "abc");
    folder.refuses(&format!("{FIT} --epsilon 1 --fingerprint short.key"), 1, &["at least 16 bytes"]);
    folder.refuses("ledger init l.ledger --epsilon 9 --delta 1e-6", 1, &["it may hold what was spent"]);
    folder.refuses(
        "ledger init new.ledger --epsilon 9 --delta 1e-6 --reserve 1e-6",
        2,
        &["reserve", "below delta"],
    );
    // What may fail needs a reserve.
    folder.refuses(
        "mean t.csv --schema s.toml --tune sparsity=auto --epsilon 1 --delta 1e-7 --ledger l.ledger",
        1,
        &["no room"],
    );
    assert_eq!(std::fs::read(folder.path("l.ledger")).unwrap(), before);
}

#[test]
fn an_edited_or_cut_ledger_shows() {
    let folder = folder();
    for _ in 0..2 {
        assert_eq!(folder.run(&format!("{FIT} --epsilon 0.5 --purpose one")).code, 0);
    }
    assert_eq!(folder.run("ledger sign l.ledger --key-file k.key").code, 0);
    let key = folder.json("ledger sign l.ledger --key-file k.key")["public_key"].as_str().unwrap().to_owned();
    let head = folder.json("ledger verify l.ledger")["head"].as_str().unwrap().to_owned();
    assert_eq!(folder.json(&format!("ledger verify l.ledger --key {key} --head {head}"))["fixed_to"], 4);
    let whole = std::fs::read_to_string(folder.path("l.ledger")).unwrap();
    folder.write("l.ledger", whole.replace("\"purpose\":\"one\"", "\"purpose\":\"two\""));
    folder.refuses("ledger verify l.ledger", 1, &["line 2 of the ledger", "hash"]);
    folder.refuses(&format!("{FIT} --epsilon 0.5"), 1, &["line 2 of the ledger"]);
    let cut: String = whole.split_inclusive('\n').take(3).collect();
    folder.write("l.ledger", cut);
    let verified = folder.run("ledger verify l.ledger");
    assert!(verified.code == 0 && verified.stdout.contains("the file cannot show"), "{}", verified.stdout);
    folder.refuses(&format!("ledger verify l.ledger --head {head}"), 1, &["cut off"]);
    folder.refuses(&format!("ledger verify l.ledger --key {key}"), 1, &["cut off"]);
}

/// Kills fits at random moments: what was released is in the ledger, and the ledger verifies.
#[test]
fn killed_fits_are_never_under_counted() {
    let kills: u32 = std::env::var("DPGLM_CRASHES").ok().map_or(8, |text| text.parse().unwrap());
    let folder = folder();
    assert_eq!(folder.run("ledger init many.ledger --epsilon 200 --delta 1e-6").code, 0);
    let fit = |output: &str| {
        let words = format!(
            "fit t.csv --schema s.toml --delta 1e-6 --epsilon 0.1 --ledger many.ledger --output {output}"
        );
        Command::new(env!("CARGO_BIN_EXE_dpglm"))
            .current_dir(folder.path("").as_path())
            .args(words.split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let started = Instant::now();
    assert!(fit("whole.json").wait().unwrap().success());
    let whole = started.elapsed();
    let (mut released, mut charged) = (1, 0);
    for kill in 0..kills {
        let output = format!("{kill}.json");
        let mut child = fit(&output);
        // Anywhere from the start to a little after the end; golden steps, so that all moments are met.
        std::thread::sleep(
            whole.mul_f64(1.2 * (f64::from(kill) * 0.618_033_988_75).fract()).max(Duration::from_micros(1)),
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = folder.json("ledger show many.ledger");
        let charges = shown["charges"].as_array().unwrap().len();
        assert!(charges == charged || charges == charged + 1 || kill == 0, "{charges} after {charged}");
        if folder.path(&output).exists() {
            released += 1;
            assert_eq!(folder.run(&format!("ledger verify many.ledger {output}")).code, 0);
        }
        assert!(charges >= released, "{charges} charges, {released} artefacts");
        charged = charges;
    }
    println!("{kills} kills: {charged} charges, {released} artefacts");
}

#[test]
fn artefacts_add_up() {
    let folder = folder();
    for k in 0..3 {
        let line = format!("fit t.csv --schema s.toml --epsilon 0.5 --delta 1e-6 --output {k}.json");
        assert_eq!(folder.run(&line).code, 0);
    }
    let all = folder.json("account 0.json 1.json 2.json --delta 1e-6");
    let epsilon = all["epsilon"].as_f64().unwrap();
    assert!(epsilon > 0.75 && epsilon < 1.1 && all["rule"] == "fixed_plans", "{all}");
    let text = folder.run("account 0.json 1.json 2.json --delta 1e-6");
    assert!(
        text.stdout.contains("Rule: adaptive composition of plans that were fixed beforehand"),
        "{}",
        text.stdout
    );
    assert_eq!(folder.run("fit t.csv --schema s.toml --method reference --output exact.json").code, 0);
    folder.refuses("account 0.json exact.json --delta 1e-6", 1, &["exact.json", "cannot be added up"]);
    folder.refuses("account 0.json none.json --delta 1e-6", 1, &["none.json"]);
    let unit = folder.run("fit t.csv --schema u.toml --epsilon 0.5 --delta 1e-6 --output unit.json");
    assert_eq!(unit.code, 0, "{}", unit.stderr);
    folder.refuses("account 0.json unit.json --delta 1e-6", 1, &["different units"]);
}
