//! Whose row it is, and where the table begins: what decides it is declared, never a private cell.

use crate::support::*;
use serde_json::json;

const BOUNDS: &str = "--feature-bounds=0,10 --epsilon 4 --delta 1e-6";

/// `visits.csv`: 400 people with one to five rows each, whose own level is 2 or 8; people of many rows have the low one.
pub fn visits() -> Folder {
    let mut draws = Draws::new(21);
    let mut text = String::from("a,who,y\n");
    for person in 0..400 {
        let (level, rows) = if person % 2 == 0 { (2.0, 5) } else { (8.0, 1) };
        for _ in 0..rows {
            let a = level + draws.between(-1.0, 1.0);
            text += &format!(
                "{a:.3},{},{:.3}\n",
                1_000 + person,
                (0.5 * a + 0.2 * draws.normal()).clamp(0.0, 10.0)
            );
        }
    }
    let folder = Folder::new();
    folder.write("visits.csv", text);
    folder.write(
        "visits.toml",
        "header = true\ntarget = \"y\"\nunit = \"who\"\n[columns]\na = { kind = \"real\", bounds = [0, 10] }\n\
         y = { kind = \"real\", bounds = [0, 10] }\n",
    );
    folder
}

/// The id is neither a feature nor a coefficient, and the promise is for all rows of a person.
#[test]
fn a_unit_is_protected_with_bounds_as_with_a_schema() {
    let folder = visits();
    let seeded = "--epsilon 4 --delta 1e-6 --insecure-seed 5";
    let bounds = folder.json(&format!(
        "fit visits.csv --header --unit who --feature-bounds=0,10 --target-bounds=0,10 {seeded}"
    ));
    let schema = folder.json(&format!("fit visits.csv --schema visits.toml {seeded}"));
    assert_eq!(bounds["coefficients"], schema["coefficients"]);
    let names: Vec<&String> = bounds["coefficients"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["(Intercept)", "a"]);
    for fit in [&bounds, &schema] {
        assert_eq!((&fit["n"], &fit["unit"]), (&json!(400), &json!("who")));
        assert_eq!(fit["certificate"]["adjacency"], json!({ "replace_unit": "who" }));
    }
    let fit = format!("fit visits.csv --header --target-bounds=0,10 {BOUNDS}");
    let ran = folder.run(&format!("{fit} --unit who --output fit.json"));
    assert!(ran.stdout.contains("Replacing all rows of any one who changes"), "{}{}", ran.stdout, ran.stderr);
    // The model needs no id to predict.
    folder.write("new.csv", "a\n2\n8\n");
    assert_eq!(folder.json("predict fit.json new.csv")["rows"].as_array().unwrap().len(), 2);
    folder.refuses(&format!("{fit} --unit patient"), 1, &["no column `patient` for the unit", "`who`"]);
    folder.refuses(&format!("{fit} --unit patient --dry-run --rows 400"), 1, &["no column `patient`"]);
    folder.refuses(&format!("{fit} --unit y"), 2, &["`y`", "cannot be the target too", "--target"]);
    folder.refuses(&format!("{fit} --unit who --tune ridge=auto"), 2, &["--tune", "the unit `who`"]);
    folder.refuses(
        &format!("{fit} --unit who --sparsity 1 --method two-stage --no-intercept"),
        2,
        &["one row a person", "the unit `who`", "select-refine"],
    );
    let plan = folder.json(&format!("{fit} --unit who --dry-run --rows 400"));
    assert_eq!(plan["certificate"]["adjacency"], json!({ "replace_unit": "who" }));
}

/// Every person counts once: the mean of the people is 5, that of the rows 3.
#[test]
fn means_of_people() {
    let folder = visits();
    for table in ["visits.csv --header --unit who --feature-bounds=0,10", "visits.csv --schema visits.toml"] {
        let means = folder.seeded(&format!("mean {table} --epsilon 4 --delta 1e-6 --intervals 0.999999"));
        assert_eq!((&means["n"], &means["unit"]), (&json!(400), &json!("who")));
        assert_eq!(means["columns"], json!(["a", "y"]));
        let a = number(&means, &["means", "a"]);
        assert!((a - 5.0).abs() < 0.6, "{a}");
        let ends = means["intervals"]["a"].as_array().unwrap();
        assert!(ends[0].as_f64().unwrap() < 5.0 && 5.0 < ends[1].as_f64().unwrap());
        let certificate = &means["certificate"];
        assert_eq!(certificate["adjacency"], json!({ "replace_unit": "who" }));
        let enforced = certificate["enforced"].to_string();
        assert!(enforced.contains("all rows of one who count as one row, their mean"), "{enforced}");
        let plan = folder.json(&format!("mean {table} --epsilon 4 --delta 1e-6 --dry-run --rows 400"));
        assert_eq!(plan["certificate"]["adjacency"], certificate["adjacency"]);
        let ran = folder.run(&format!("mean {table} --epsilon 4 --delta 1e-6 --output m.json --force"));
        assert!(ran.stdout.starts_with("Means of 400 units"), "{}", ran.stdout);
        assert!(folder.run("show m.json").stdout.starts_with(before_conditions(&ran.stdout)));
    }
    let rows = folder.seeded(&format!("mean visits.csv --header {BOUNDS}"));
    assert!((number(&rows, &["means", "a"]) - 3.0).abs() < 0.6 && rows["unit"].is_null(), "{rows}");
    for flags in ["--sparsity 1", "--tune sparsity=auto:2"] {
        let means = folder.seeded(&format!("mean visits.csv --header --unit who {BOUNDS} {flags}"));
        assert_eq!(means["certificate"]["adjacency"], json!({ "replace_unit": "who" }), "{flags}");
    }
    folder.refuses(
        &format!("mean visits.csv --header --unit who {BOUNDS} --method karwa-vadhan"),
        2,
        &["karwa-vadhan", "the unit `who`", "--method localise"],
    );
    folder.refuses(
        &format!("mean visits.csv --header --unit id {BOUNDS}"),
        1,
        &["no column `id` for the unit"],
    );
}

/// However many rows a person brings, and whatever is in them, one person moves the mean of 400 by at most a 400th of the range.
#[test]
fn a_person_with_very_many_rows_counts_once() {
    let folder = visits();
    let text = std::fs::read_to_string(folder.path("visits.csv")).unwrap();
    let many = text.clone() + &"1e300,1000,10\n".repeat(20_000);
    folder.write("many.csv", many);
    let mean = |file: &str| {
        let means =
            folder.json(&format!("mean {file} --header --unit who --feature-bounds=0,10 --epsilon inf"));
        (means["n"].as_u64().unwrap(), number(&means, &["means", "a"]))
    };
    let (before, after) = (mean("visits.csv"), mean("many.csv"));
    assert_eq!((before.0, after.0), (400, 400));
    assert!((before.1 - after.1).abs() <= 10.0 / 400.0 && before.1 != after.1, "{before:?} {after:?}");
}

/// The first row of a table without a header is somebody's: it must neither vanish nor become names, whatever it holds.
#[test]
fn a_private_first_row_is_never_a_header() {
    let rows = "4,5,6\n".repeat(50);
    let folder = Folder::new();
    for first in ["refused,unknown,dead", "1,2,3", "NA,NA,NA", "1,unknown,3"] {
        folder.write("t.csv", format!("{first}\n{rows}"));
        folder.refuses(&format!("mean t.csv {BOUNDS}"), 2, &["must be declared", "--header or --no-header"]);
        let said = folder.run(&format!("mean t.csv {BOUNDS}")).stderr;
        assert!(["refused", "unknown", "dead", "NA"].iter().all(|cell| !said.contains(cell)), "{said}");
        let means = folder.seeded(&format!("mean t.csv --no-header {BOUNDS}"));
        assert_eq!((&means["n"], &means["columns"]), (&json!(51), &json!(["x0", "x1", "x2"])), "{first}");
    }
    // The declaration goes into the artefact: a table to predict for is read the same way.
    folder.write("t.csv", format!("dead,NA,3\n{rows}"));
    let fit = format!("fit t.csv --no-header --target-bounds=0,10 {BOUNDS} --output fit.json");
    assert_eq!(folder.run(&fit).code, 0);
    folder.write("new.csv", "1,2\n3,4\n");
    assert_eq!(folder.json("predict fit.json new.csv")["rows"].as_array().unwrap().len(), 2);
    folder.write("named.csv", "x1,x0\n2,1\n4,3\n");
    assert_eq!(folder.json("predict fit.json named.csv --header"), folder.json("predict fit.json new.csv"));
    // Labels in a file of their own, the first of them missing.
    folder.write("X.npy", npy(2, &[0.5; 8])).write("y.csv", "NA\n1\n0\n1\n");
    let fit = "fit --design X.npy --response y.csv --no-header --binary --feature-bounds=0,1 --epsilon 4 --delta 1e-6";
    let fit = folder.seeded(fit);
    assert_eq!((&fit["n"], &fit["target"]["name"]), (&json!(4), &json!("y")));
}
