//! Means of any table: each column its own clip, by group, weighted, with missing cells counted out.

use crate::support::*;
use serde_json::json;

const SCHEMA: &str = r#"
header = true
target = "paid"
[columns]
sex    = { kind = "binary", levels = ["f", "m"] }
age    = { kind = "real", bounds = [0, 120] }
region = { kind = "category", levels = ["north", "south", "west"] }
gain   = { kind = "real", bounds = [0, 100000] }
weight = { kind = "real", bounds = [0.1, 5] }
paid   = { kind = "real", bounds = [0, 1000000] }
"#;

/// `people.csv`: 20,000 rows. Men are ten years older; nine gains in ten are zero; every fifth age is missing, of the young only;
/// the older half weighs twice as much.
fn people() -> Folder {
    let mut draws = Draws::new(31);
    let mut text = String::from("sex,age,region,gain,weight,paid\n");
    for row in 0..20_000 {
        let sex = if row % 4 == 0 { "m" } else { "f" };
        let age = draws.between(20.0, 60.0) + if sex == "m" { 10.0 } else { 0.0 };
        let gain = if row % 10 == 0 { draws.between(0.0, 20_000.0) } else { 0.0 };
        let cell = if age < 40.0 && row % 5 == 0 { "NA".to_owned() } else { format!("{age:.2}") };
        let region = ["north", "south", "west"][row % 3];
        let weight = if row % 2 == 0 { 1 } else { 2 };
        text += &format!(
            "{sex},{cell},{region},{gain:.1},{weight},{:.1}\n",
            2_000.0 + 1_000.0 * draws.normal().abs()
        );
    }
    let folder = Folder::new();
    folder.write("people.csv", text);
    folder.write("people.toml", SCHEMA);
    folder.write("drop.toml", format!("missing = \"drop\"{SCHEMA}"));
    folder
}

const BUDGET: &str = "--epsilon 1 --delta 1e-6";

#[test]
fn a_mixed_table_under_a_schema() {
    let folder = people();
    let means = folder.seeded(&format!("mean people.csv --schema people.toml {BUDGET} --intervals 0.95"));
    assert_eq!(means["method"], json!("columns"));
    for (name, exact, near) in [
        ("sex=m", 0.25, 0.01),
        ("region=west", 1.0 / 3.0, 0.01),
        ("gain", 1_000.0, 150.0),
        ("paid", 2_798.0, 60.0),
    ] {
        let mean = number(&means, &["means", name]);
        assert!((mean - exact).abs() < near, "{name}: {mean}");
        assert!(number(&means, &["standard_errors", name]) < near, "{name}");
    }
    // Of one method more noise: columns on one scale would be drowned by the widest.
    let plan = folder.json(&format!("mean people.csv --schema people.toml {BUDGET} --dry-run --rows 20000"));
    assert_eq!(plan["certificate"]["events"].as_array().unwrap().len(), 4);
    let few = folder.json(&format!("mean people.csv --schema people.toml {BUDGET} --dry-run --rows 200"));
    assert_eq!(few["certificate"]["events"].as_array().unwrap().len(), 1);
}

#[test]
fn groups_weights_and_missing_cells() {
    let folder = people();
    let asked = format!("mean people.csv --schema drop.toml {BUDGET} --by sex --sample-weight weight");
    let means = folder.seeded(&asked);
    assert_eq!((&means["by"], &means["sample_weight"]), (&json!("sex"), &json!("weight")));
    let columns: Vec<&str> =
        means["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!(columns[..2], ["age[sex=f]", "region=south[sex=f]"]);
    assert_eq!(columns.len(), 10);
    let (women, men) = (number(&means, &["means", "age[sex=f]"]), number(&means, &["means", "age[sex=m]"]));
    // Half of the women's ages below 40 that are every fifth are missing.
    assert!((women - 41.1).abs() < 1.0 && (men - 50.5).abs() < 1.5, "{women} {men}");
    let observed = number(&means, &["observed", "age[sex=f]"]);
    assert!((observed - 0.9).abs() < 0.03, "{observed}");
    // Men's weights are a twentieth of what they may be: of so few, noise hides a little.
    assert!(number(&means, &["observed", "gain[sex=m]"]) > 0.8);
    // Every fourth row is a man's, and lighter than the others.
    assert!((number(&means, &["groups", "m"]) - 1.0 / 6.0).abs() < 0.01);
    let told = folder.run(&asked).stdout;
    assert!(told.contains("share of rows") && told.contains("share observed"), "{told}");
    let finer = folder
        .seeded(&format!("mean people.csv --schema people.toml {BUDGET} --weights age=8 --intervals 0.95"));
    let plain = folder.seeded(&format!("mean people.csv --schema people.toml {BUDGET} --intervals 0.95"));
    let error = |means, name| number(means, &["standard_errors", name]);
    // Most of the error is sampling, which weights do not change.
    assert!(error(&finer, "sex=m") > 1.05 * error(&plain, "sex=m"));
}

#[test]
fn what_cannot_be_had_is_refused() {
    let folder = people();
    let asked = |flags: &str| format!("mean people.csv --schema people.toml {BUDGET} {flags}");
    folder.refuses(&asked("--by age"), 2, &["--by `age`", "category or binary"]);
    folder.refuses(&asked("--by nobody"), 2, &["--by `nobody`"]);
    folder.refuses(&asked("--sample-weight gain"), 2, &["--sample-weight `gain`", "above 0"]);
    folder.refuses(&asked("--weights nobody=2"), 2, &["`nobody`", "--weights"]);
    folder.refuses(&asked("--weights age=0"), 2, &["weight of a column"]);
    folder.refuses(&asked("--weights age"), 2, &["age=2,income=0.5"]);
    folder.refuses(&asked("--weights age=1,age=2"), 2, &["each once"]);
    folder.refuses(&asked("--by sex --method localise"), 2, &["--by", "use --method columns"]);
    folder.refuses(&asked("--method columns --sparsity 1"), 2, &["--sparsity", "--method columns"]);
    let drop = format!("mean people.csv --schema drop.toml {BUDGET} --method localise");
    folder.refuses(&drop, 1, &["missing = \"drop\"", "--method columns"]);
}
