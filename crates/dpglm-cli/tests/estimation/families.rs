//! Families of amounts, other links, dispersions, sampling weights and survival, as a user calls them.

use crate::support::*;
use serde_json::json;

const COLUMNS: [(&str, &str); 7] = [
    ("age", "{ kind = \"real\", bounds = [20, 70] }"),
    ("sex", "{ kind = \"binary\", levels = [\"f\", \"m\"] }"),
    ("stands", "{ kind = \"real\", bounds = [0, 40] }"),
    ("cost", "{ kind = \"real\", bounds = [1, 100000] }"),
    ("claim", "{ kind = \"real\", bounds = [0, 100000] }"),
    ("died", "{ kind = \"binary\", levels = [\"no\", \"yes\"] }"),
    ("days", "{ kind = \"real\", bounds = [1, 1000] }"),
];

/// A schema with these columns alone, the last of them the target.
fn schema(columns: &[&str]) -> String {
    let declared = |(name, facts): &(&str, &str)| match columns.contains(name) {
        true => format!("{name} = {facts}\n"),
        false => format!("{name} = {{ kind = \"ignore\" }}\n"),
    };
    let all: String = COLUMNS.iter().map(declared).collect();
    format!("header = true\ntarget = \"{}\"\n[columns]\n{all}", columns.last().unwrap())
}

/// `people.csv`: 20,000 rows. A cost is `exp(6 + age / 50)` times an exponential variable, a claim the same or none; men stand for four times
/// as many people, and cost twice as much; the hazard is `exp(age / 50) / 1000`, and nobody is known after 1,000 days.
fn people() -> Folder {
    let mut draws = Draws::new(32);
    let mut text = String::from("age,sex,stands,cost,claim,died,days\n");
    for row in 0..20_000 {
        let (age, male) = (draws.between(20.0, 70.0), row % 3 == 0);
        let mut exponential = || -draws.between(0.0, 1.0).max(1e-12).ln();
        let cost = (6.0 + age / 50.0).exp() * if male { 2.0 } else { 1.0 } * exponential();
        let claim = if row % 2 == 0 { cost } else { 0.0 };
        let days = 1_000.0 * (-age / 50.0).exp() * exponential();
        let (sex, stands) = if male { ("m", 20) } else { ("f", 5) };
        let died = if days < 1_000.0 { "yes" } else { "no" };
        text += &format!("{age:.2},{sex},{stands},{cost:.1},{claim:.1},{died},{:.1}\n", days.min(1_000.0));
    }
    let folder = Folder::new();
    folder.write("people.csv", text);
    folder.write("cost.toml", schema(&["age", "sex", "cost"]));
    folder.write("claim.toml", schema(&["age", "sex", "claim"]));
    folder.write("plain.toml", schema(&["age", "stands", "cost"]));
    folder.write("died.toml", schema(&["age", "sex", "days", "died"]));
    folder.write("weighted.toml", format!("weight = \"stands\"\n{}", schema(&["age", "stands", "cost"])));
    folder
}

const ASKED: &str = "--epsilon 4 --delta 1e-6 --intervals 0.95";

#[test]
fn amounts_and_their_dispersion() {
    let folder = people();
    let fit =
        folder.seeded(&format!("fit people.csv --schema cost.toml {ASKED} --family gamma --dispersion"));
    assert!((number(&fit, &["estimates", "age"]) - 0.02).abs() < 0.003);
    assert!((number(&fit, &["estimates", "sex=m"]) - 2_f64.ln()).abs() < 0.1);
    assert!((number(&fit, &["dispersion"]) - 1.0).abs() < 0.15, "{}", fit["dispersion"]);
    let claims = format!("fit people.csv --schema claim.toml {ASKED} --family tweedie");
    let fit = folder.seeded(&format!("{claims} --power 1.7"));
    assert_eq!(fit["family"], json!("tweedie-1.7"));
    assert!((number(&fit, &["estimates", "age"]) - 0.02).abs() < 0.006, "{}", fit["estimates"]);
    let fit = folder.seeded(&claims);
    assert_eq!((&fit["family"], fit.get("dispersion")), (&json!("tweedie"), None));
    for (asked, words) in [
        ("--schema claim.toml --family gamma", ["gamma", "above 0"]),
        ("--schema cost.toml --family gamma --power 1.5", ["--power", "tweedie"]),
        ("--schema claim.toml --family tweedie --power 2", ["--power", "from 1.01 to 1.99"]),
        ("--schema cost.toml --family gamma --robust", ["--family gamma", "likelihood"]),
        ("--schema died.toml --dispersion", ["--dispersion", "levels"]),
    ] {
        folder.refuses(&format!("fit people.csv {ASKED} {asked}"), 2, &words);
    }
}

#[test]
fn links_of_two_levels() {
    let folder = people();
    for family in ["probit", "cloglog"] {
        let asked =
            format!("fit people.csv --schema died.toml {ASKED} --family {family} --output {family}.json");
        assert_eq!(folder.run(&asked).code, 0);
        let predicted = folder.json(&format!("predict {family}.json people.csv"));
        let row = predicted["rows"][0].as_array().unwrap();
        assert!((row[0].as_f64().unwrap() + row[1].as_f64().unwrap() - 1.0).abs() < 1e-9);
        // The complement of a log-log is a survival, whose hazard is multiplied.
        let asked = format!("summary {family}.json --ratios");
        match family {
            "cloglog" => assert!(folder.run(&asked).stdout.contains("hazard ratio")),
            _ => folder.refuses(&asked, 2, &["no ratios"]),
        }
    }
}

#[test]
fn sampling_weights_move_the_estimate() {
    let folder = people();
    let asked = format!("fit people.csv --schema plain.toml {ASKED} --family gamma");
    let weighted = format!("{asked} --sample-weight stands");
    let fit = folder.seeded(&weighted);
    // A third of the rows costs twice as much and stands for four times as many: 5/3 of the others' cost.
    let level = number(&fit, &["estimates", "(Intercept)"]) + 45.0 * number(&fit, &["estimates", "age"]);
    assert!((level - (6.0 + 0.9 + (5.0 / 3.0_f64).ln())).abs() < 0.08, "{level}");
    assert_eq!(fit["encoding"]["weight"], json!("stands"));
    assert!(fit["coefficients"].get("stands").is_none());
    let text = folder.run(&weighted).stdout;
    assert!(text.contains("weighted by stands") && text.contains("design-based"), "{text}");
    // The schema may say so itself, and in blocks it is the same.
    let again = asked.replace("plain.toml", "weighted.toml");
    for way in ["", "--memory 200MiB"] {
        assert_eq!(fit["coefficients"], folder.seeded(&format!("{again} {way}"))["coefficients"], "{way}");
    }
    // Nor does it matter how the features are named.
    for features in ["--formula cost~age", "--formula cost~. --memory 200MiB", "--features age"] {
        let same = folder.seeded(&format!("{again} {features} --force --output fit.json"));
        for key in ["coefficients", "standard_errors"] {
            assert_eq!(fit[key], same[key], "{features}");
        }
        // A weight has no effect.
        folder.refuses("summary fit.json --at stands=7", 2, &["`stands`", "it reads age"]);
    }
    for (asked, code, words) in [
        ("--schema plain.toml --sample-weight age2", 2, ["weight", "bounds of at least 0"]),
        ("--schema plain.toml --sample-weight cost", 2, ["weight", "is the target"]),
        ("--schema weighted.toml --sparsity 1", 2, ["sample weight", "likelihood"]),
        ("--schema weighted.toml --formula cost~age+stands", 2, ["`stands`", "sampling weight"]),
        ("--schema weighted.toml --formula log1p(stands)~age", 2, ["`stands`", "sampling weight"]),
        ("--schema weighted.toml --features stands", 2, ["`stands`", "weight"]),
    ] {
        folder.refuses(&format!("fit people.csv {ASKED} {asked}"), code, &words);
    }
}

#[test]
fn survival_by_intervals() {
    let folder = people();
    let asked = format!("fit people.csv --schema died.toml {ASKED} --survival days,died --cuts 100,300");
    let fit = folder.seeded(&asked);
    // No column says whose row it is: one row is protected, with the rows made of it, and no person.
    assert_eq!(fit["unit"], json!(null));
    assert_eq!(fit["certificate"]["adjacency"], json!("replace_row"));
    assert!((number(&fit, &["estimates", "age"]) - 0.02).abs() < 0.003, "{}", fit["estimates"]);
    for interval in ["days from 100 to 300", "days from 300 to 1000"] {
        assert!(number(&fit, &["estimates", interval]).abs() < 0.2, "{}", fit["estimates"]);
    }
    let text = folder.run(&format!("{asked} --output fit.json")).stdout;
    assert!(text.contains("hazard ratio") && text.contains("Survival"), "{text}");
    assert!(
        text.contains("Replacing any one row of the table, with all rows that are made of it,"),
        "{text}"
    );
    folder.run("report fit.json --output fit.html");
    let page = std::fs::read_to_string(folder.path("fit.html")).unwrap();
    assert!(page.contains("with all rows that are made of it") && !page.contains("person:"), "{page}");
    // A ledger of rows takes it, and one of people does not.
    for (whom, ledger) in [("", "rows.ledger"), ("--unit person", "people.ledger")] {
        folder.run(&format!("ledger init {ledger} --epsilon 4 --delta 1e-6 {whom}"));
    }
    folder.run(&format!("{asked} --ledger rows.ledger"));
    folder.refuses(
        &format!("{asked} --ledger people.ledger"),
        1,
        &["protects one person", "protects one row"],
    );
    let predicted = folder.json("predict fit.json people.csv");
    assert_eq!(predicted["columns"], json!(["survival to 100", "survival to 300", "survival to 1000"]));
    let found = folder.json("summary fit.json --ratios");
    assert_eq!(found["ratio"], json!("hazard ratio"));
    // A curve over time has no interval here, and asking for one says so.
    for asked in [
        "predict fit.json people.csv --intervals 0.95",
        "predict fit.json people.csv --intervals 0.95 --average",
        "summary fit.json --at age=40",
    ] {
        folder.refuses(asked, 2, &["survival", "hazard ratios"]);
    }
    // Fewer features, in either way.
    let few = folder.seeded(&format!("{asked} --features age"));
    let names = ["age", "days from 100 to 300", "days from 300 to 1000"];
    assert_eq!(few["columns"], json!(names));
    assert_eq!(few["coefficients"], folder.seeded(&format!("{asked} --formula ~age"))["coefficients"]);
    let plan = folder.json(&format!("{asked} --dry-run --rows 20000"));
    assert_eq!(plan["certificate"]["adjacency"], json!("replace_row"));
    for (asked, words) in [
        ("--survival died,days --cuts 100", ["--survival", "binary"]),
        ("--survival days,died --cuts 300,100", ["--cuts", "ascending"]),
        ("--survival days,died --cuts 100 --family gamma", ["--survival", "poisson"]),
        ("--survival days,died --cuts 100 --no-intercept", ["--survival", "--no-intercept"]),
        ("--survival days,died --cuts 100 --memory 1MiB", ["--survival", "--memory"]),
    ] {
        folder.refuses(&format!("fit people.csv --schema died.toml {ASKED} {asked}"), 2, &words);
    }
}
