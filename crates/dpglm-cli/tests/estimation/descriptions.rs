//! Descriptions: what is printed, drawn and written, and what is refused.

use crate::support::*;
use serde_json::{Value, json};

const SCHEMA: &str = r#"
header = true
[columns]
sex    = { kind = "binary", levels = ["f", "m"] }
age    = { kind = "real", bounds = [0, 120] }
region = { kind = "category", levels = ["north", "south", "west"], reference = "south" }
pay    = { kind = "real", bounds = [0, 100000] }
"#;

const BUDGET: &str = "--epsilon 1 --delta 1e-6";

/// `people.csv`: 20,000 rows. Men are ten years older, pay grows with age, every tenth age is missing, north is twice as frequent as the rest.
fn people() -> Folder {
    let mut draws = Draws::new(47);
    let mut text = String::from("sex,age,region,pay\n");
    for row in 0..20_000 {
        let sex = if row % 4 == 0 { "m" } else { "f" };
        let age = draws.between(20.0, 60.0) + if sex == "m" { 10.0 } else { 0.0 };
        let cell = if row % 10 == 3 { "NA".to_owned() } else { format!("{age:.0}") };
        let region = ["north", "south", "north", "west"][row / 4 % 4];
        text += &format!("{sex},{cell},{region},{:.0}\n", 300.0 * age + draws.between(0.0, 9_000.0));
    }
    let folder = Folder::new();
    folder.write("people.csv", text);
    folder.write("people.toml", format!("missing = \"drop\"{SCHEMA}"));
    folder.write("unit.toml", format!("unit = \"id\"{SCHEMA}"));
    folder.write("wide.toml", SCHEMA.replace("bounds = [0, 100000]", "magnitude = 1e12, resolution = 1"));
    folder
}

fn near(found: &Value, path: &[&str], exact: f64, distance: f64) {
    let estimate = number(found, &[path, &["estimate"]].concat());
    assert!((estimate - exact).abs() <= distance, "{path:?}: {estimate} for {exact}");
    let ends = path.iter().fold(found, |value, key| &value[*key])["interval"].clone();
    let (low, high) = (ends[0].as_f64().unwrap_or(f64::NAN), ends[1].as_f64().unwrap_or(f64::NAN));
    assert!(low <= estimate && estimate <= high && high - low < 8.0 * distance, "{path:?}: {ends}");
}

#[test]
fn a_table_is_described_drawn_and_shown() {
    let folder = people();
    let line = format!(
        "describe people.csv --schema people.toml {BUDGET} --histograms 6 --cross sex,region --correlations"
    );
    let found = folder.seeded(&line);
    assert_eq!((&found["schema"], &found["n"]), (&json!("dpglm.describe/1"), &json!(20_000)));
    let all = &found["groups"][0];
    near(all, &["columns", "age", "mean"], 42.5, 0.5);
    near(all, &["columns", "age", "deviation"], 12.3, 0.5);
    near(all, &["columns", "age", "median"], 42.0, 1.0);
    near(all, &["columns", "age", "missing"], 0.1, 0.01);
    near(all, &["columns", "pay", "third_quartile"], 20_400.0, 500.0);
    near(all, &["columns", "sex", "levels", "m"], 0.25, 0.01);
    // Levels stand in the order declared, the reference among them.
    let names: Vec<&String> = all["columns"]["region"]["levels"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["north", "south", "west"]);
    near(all, &["columns", "region", "levels", "north"], 0.5, 0.01);
    assert_eq!(all["cross"]["across"], json!(["north", "south", "west"]));
    let cell = all["cross"]["shares"][1][0]["estimate"].as_f64().unwrap();
    assert!((cell - 0.125).abs() < 0.01, "{cell}");
    let correlation = all["correlations"]["matrix"][1][2]["estimate"].as_f64().unwrap();
    assert!((correlation - 0.82).abs() < 0.1, "{correlation}");
    assert_eq!(
        all["columns"]["age"]["histogram"]["edges"],
        json!([0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0])
    );

    let printed = folder.run(&format!("{line} --plot --svg t.svg --html t.html --output t.json"));
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    for part in [
        "Description of 20000 rows",
        "standard deviation",
        "first quartile",
        "Correlations",
        "█",
        "conditions of use",
    ] {
        assert!(printed.stdout.contains(part), "{part}: {}", printed.stdout);
    }
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert!(read("t.svg").starts_with("<svg") && read("t.html").contains("</svg>"));
    let shown = folder.run("show t.json");
    assert!(shown.stdout.contains("quartiles") && shown.stdout.contains("Checked"), "{}", shown.stdout);
    folder.refuses("predict t.json people.csv", 1, &["fit"]);
}

#[test]
fn groups_stand_beside_each_other() {
    let folder = people();
    let found = folder.seeded(&format!("describe people.csv --schema people.toml {BUDGET} --by sex"));
    assert_eq!((&found["groups"][0]["group"], &found["groups"][1]["group"]), (&json!("f"), &json!("m")));
    near(&found["groups"][0], &["columns", "age", "mean"], 40.0, 0.6);
    near(&found["groups"][1], &["columns", "age", "mean"], 50.0, 1.0);
    near(&found["groups"][1], &["share"], 0.25, 0.01);
    let printed = folder.run(&format!("describe people.csv --schema people.toml {BUDGET} --by sex")).stdout;
    assert!(
        printed.contains("sex = f") && printed.contains("sex = m") && printed.contains("share of rows"),
        "{printed}"
    );
}

/// From a magnitude of 1e12 alone, with a tenth of the budget, in `describe` and in `mean`; the certificate lists what found them.
#[test]
fn bounds_are_found_where_a_magnitude_is_declared() {
    let folder = people();
    let found = folder.seeded(&format!("describe people.csv --schema wide.toml {BUDGET} --bounds private"));
    near(&found["groups"][0], &["columns", "pay", "mean"], 17_250.0, 400.0);
    near(&found["groups"][0], &["columns", "pay", "median"], 17_200.0, 300.0);
    let ages = folder.seeded(&format!(
        "describe people.csv --schema people.toml {BUDGET} --bounds private --magnitudes age=1e9:0.001"
    ));
    near(&ages["groups"][0], &["columns", "age", "median"], 42.0, 1.0);
    near(&ages["groups"][0], &["columns", "age", "first_quartile"], 32.0, 1.0);
    let releases = found["certificate"]["events"].to_string();
    assert!(releases.contains("medians for bounds"), "{releases}");
    let bounds = &found["groups"][0]["columns"]["pay"]["bounds"];
    assert!(bounds[1].as_f64().unwrap() < 1e7, "{bounds}");
    let means = folder.seeded(&format!(
        "mean people.csv --schema people.toml {BUDGET} --bounds private --magnitudes pay=1e9:1,age=1e6:0.1 --intervals 0.95"
    ));
    assert!((number(&means, &["means", "pay"]) - 17_250.0).abs() < 400.0, "{means}");
    assert!((number(&means, &["means", "age"]) - 42.5).abs() < 1.0, "{means}");
    assert!(means["bounds"]["age"].is_array() && means["observed"]["age"].is_number(), "{means}");
    for (line, words) in [
        (format!("mean people.csv --schema wide.toml {BUDGET}"), ["`pay`", "--bounds private"]),
        (
            format!("describe people.csv --schema people.toml {BUDGET} --bounds private"),
            ["nothing to find", "--magnitudes"],
        ),
        (
            format!("mean people.csv --schema people.toml {BUDGET} --magnitudes pay=1e9:1"),
            ["--magnitudes", "--bounds private"],
        ),
        (
            format!("mean people.csv --schema people.toml {BUDGET} --bounds private --magnitudes sex=1e9:1"),
            ["`sex`", "no number"],
        ),
        (
            format!("mean people.csv --schema people.toml {BUDGET} --bounds private --magnitudes pay=1:9"),
            ["magnitude", "resolution"],
        ),
    ] {
        folder.refuses(&line, 2, &words);
    }
}

/// A fit finds the bounds of its target and of a feature from the same budget; what was found is printed, certified and used by `predict`.
#[test]
fn a_fit_finds_its_bounds() {
    let folder = people();
    let line = format!(
        "fit people.csv --schema wide.toml --target pay {BUDGET} --bounds private --magnitudes pay=1e12:1,age=1e6:0.1"
    );
    let fit = folder.json(&format!("{line} --output fit.json"));
    // A missing age counts as 0, which is within the bounds or the nearest of them: nine in ten ages have slope 300.
    assert!((number(&fit, &["coefficients", "sex=m"])).abs() < 4_000.0, "{fit}");
    assert!(number(&fit, &["certificate", "epsilon"]) <= 1.0, "{fit}");
    let events = fit["certificate"]["events"].to_string();
    assert!(events.contains("medians for bounds") && events.contains("scores, pass 1"), "{events}");
    let (age, pay) = (&fit["bounds"]["age"], &fit["bounds"]["pay"]);
    assert!(age[1].as_f64().unwrap() > 60.0 && age[1].as_f64().unwrap() < 500.0, "{age}");
    assert!(pay[1].as_f64().unwrap() > 20_000.0 && pay[1].as_f64().unwrap() < 1e6, "{pay}");
    assert_eq!((&fit["target"]["bounds"], &fit["encoding"]["columns"]["age"]["bounds"]), (pay, age));
    assert_eq!(fit["encoding"]["columns"]["age"]["magnitude"], Value::Null);
    let printed = folder.run(&format!("{line} --intervals 0.95")).stdout;
    assert!(
        printed.contains("Bounds found for age:") && printed.contains("Bounds found for pay:"),
        "{printed}"
    );
    // Beyond what was found a cell counts as the bound.
    let end = age[1].as_f64().unwrap();
    folder.write("far.csv", format!("sex,age,region\nf,{end},south\nf,900000,south\nf,30,south\n"));
    let predicted = folder.json("predict fit.json far.csv");
    let rows: Vec<f64> = (0..3).map(|i| predicted["rows"][i][0].as_f64().unwrap()).collect();
    assert_eq!(rows[0], rows[1], "{rows:?}");
    let slope = number(&fit, &["coefficients", "age"]);
    assert!((rows[0] - rows[2] - slope * (end - 30.0)).abs() < 1e-6 * rows[0].abs(), "{rows:?}");

    let ages = folder.seeded(&format!(
        "fit people.csv --schema people.toml --target pay {BUDGET} --bounds private --magnitudes age=1e6:0.1 --bounds-share 0.2"
    ));
    assert!((number(&ages, &["coefficients", "age"]) - 300.0).abs() < 30.0, "{ages}");
    let planned = folder.json(&format!("{line} --dry-run --rows 20000"));
    assert!(planned["certificate"]["events"].to_string().contains("medians for bounds"), "{planned}");
    let start = "fit absent.csv --target pay";
    for (rest, words) in [
        (format!("--schema wide.toml {BUDGET}"), ["`pay`", "--bounds private"]),
        (format!("--schema people.toml {BUDGET} --bounds private"), ["nothing to find", "--magnitudes"]),
        (
            format!("--schema wide.toml {BUDGET} --bounds private --method bounded-score"),
            ["--method likelihood", "bounded-score"],
        ),
        (format!("--schema wide.toml {BUDGET} --bounds private --bounds-share 0.9"), ["share", "0.1"]),
        (format!("--schema wide.toml {BUDGET} --bounds-share 0.1"), ["--bounds-share", "--bounds private"]),
    ] {
        folder.refuses(&format!("{start} {rest}"), 2, &words);
    }
}

#[test]
fn what_cannot_be_described_is_refused_before_the_table_is_opened() {
    let folder = people();
    let line = |more: &str| format!("describe absent.csv --schema people.toml {BUDGET} {more}");
    for (more, words) in [
        ("--by age", ["--by", "category or binary"]),
        ("--cross sex,age", ["`age`", "category"]),
        ("--cross sex,sex", ["--cross", "two different"]),
        ("--by sex --cross sex,region", ["`sex`", "--by"]),
        ("--histograms 1", ["from 2 to 1000", "20"]),
        ("--intervals 95", ["interval level", "0.95"]),
        ("--plot --format json", ["--plot", "--html"]),
    ] {
        folder.refuses(&line(more), 2, &words);
    }
    folder.refuses(&format!("describe absent.csv --schema unit.toml {BUDGET}"), 1, &["`id`", "dpglm mean"]);
}
