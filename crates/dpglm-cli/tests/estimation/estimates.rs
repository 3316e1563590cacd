//! What the commands estimate, on data whose truth is known.

use crate::support::*;

/// Squared distance from the truth.
fn error(fit: &serde_json::Value) -> f64 {
    TRUTH
        .iter()
        .enumerate()
        .map(|(j, b)| (number(fit, &["coefficients", &format!("x{j}")]) - b).powi(2))
        .sum()
}

#[test]
fn a_logistic_fit_of_arrays_is_near_the_truth_and_certified() {
    let folder = arrays(40_000);
    let fit = folder.json(&format!("{LOGISTIC} --epsilon 0.5 --delta 1.25e-5"));
    assert_eq!(fit["schema"], "dpglm.fit/1");
    assert_eq!(fit["certificate"]["grade"], "certified");
    assert_eq!(fit["certificate"]["adjacency"], "replace_row");
    assert!(number(&fit, &["certificate", "epsilon"]) <= 0.5);
    assert_eq!(number(&fit, &["certificate", "delta"]), 1.25e-5);
    assert!(!fit["certificate"]["events"].as_array().unwrap().is_empty());
    assert!(fit["intervals"].is_null() && fit["coefficients"].as_object().unwrap().len() == 4);
    // Ten times the expected error: sampling and privacy noise together are about 0.001.
    assert!(error(&fit) < 0.01, "{}", fit["coefficients"]);
}

#[test]
fn without_noise_the_estimate_is_close_to_the_exact_optimum() {
    let folder = arrays(20_000);
    let exact = folder.json(&format!("{LOGISTIC} --method reference"));
    let same = folder.json(&format!("{LOGISTIC} --epsilon inf"));
    for fit in [&exact, &same] {
        assert_eq!(fit["certificate"]["grade"], "none");
        assert!(fit["certificate"]["epsilon"].is_null());
    }
    for j in 0..4 {
        let name = format!("x{j}");
        let (a, b) = (number(&exact, &["coefficients", &name]), number(&same, &["coefficients", &name]));
        // Both are efficient to within a few percent: their difference is a fraction of a standard error (0.025).
        assert!((a - b).abs() < 0.02, "{name}: {a} and {b}");
    }
}

#[test]
fn a_linear_fit_gives_intervals_around_the_truth() {
    let folder = arrays(20_000);
    let fit = folder.seeded(
        "fit --design X.npy --response z.npy --family gaussian --target-bounds=-5,5 --feature-bounds=-1,1 \
         --epsilon 1 --delta 1e-6 --intervals 0.999999",
    );
    assert!(error(&fit) < 0.02, "{}", fit["coefficients"]);
    for (name, truth) in [("(Intercept)", 0.0), ("x0", 0.6), ("x1", -0.5), ("x2", 0.4), ("x3", 0.0)] {
        let ends = fit["intervals"][name].as_array().unwrap();
        let (low, high) = (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap());
        assert!(low < truth && truth < high, "{name}: [{low}, {high}]");
        assert!(number(&fit, &["standard_errors", name]) > 0.0);
    }
}

#[test]
fn means_in_the_users_units_from_every_numeric_format() {
    let mut draws = Draws::new(3);
    let numbers: Vec<f64> = (0..20_000).flat_map(|_| [7.0 + draws.normal(), -3.0 + draws.normal()]).collect();
    let text: String = numbers.chunks(2).map(|row| format!("{},{}\n", row[0], row[1])).collect();
    let folder = Folder::new();
    folder.write("m.npy", npy(2, &numbers)).write("m.csv", text);
    for file in ["m.npy", "m.csv --no-header"] {
        let means = folder.json(&format!(
            "mean {file} --feature-bounds=-50,50 --epsilon 0.5 --delta 1e-6 --intervals 0.999999"
        ));
        for (name, truth) in [("x0", 7.0), ("x1", -3.0)] {
            assert!((number(&means, &["means", name]) - truth).abs() < 0.2, "{means}");
            let ends = means["intervals"][name].as_array().unwrap();
            assert!(ends[0].as_f64().unwrap() < truth && truth < ends[1].as_f64().unwrap(), "{means}");
        }
        assert_eq!(means["certificate"]["grade"], "certified");
    }
}

#[test]
fn a_table_under_a_schema_has_coefficients_in_its_own_units() {
    let folder = people(8_000);
    let fit = folder.seeded(
        "fit people.csv --schema schema.toml --epsilon 4 --delta 1e-6 --intervals 0.999999 --output fit.json",
    );
    assert_eq!(fit["family"], "gaussian");
    let names: Vec<&String> = fit["coefficients"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 7, "{names:?}");
    for (name, truth) in [("age", 0.4), ("sex=m", 5.0), ("work=state", 0.0), ("work=self", 0.0)] {
        let ends = fit["intervals"][name].as_array().unwrap();
        assert!(ends[0].as_f64().unwrap() < truth && truth < ends[1].as_f64().unwrap(), "{name}: {ends:?}");
        assert!((number(&fit, &["coefficients", name]) - truth).abs() < 1.5, "{name}");
    }
    assert!((number(&fit, &["coefficients", "age"]) - 0.4).abs() < 0.05);
    assert!((number(&fit, &["coefficients", "(Intercept)"]) - 30.0).abs() < 4.0);
}

/// A target far from zero beside its spread, with gaps in half of the rows.
#[test]
fn years_are_fitted_in_years_also_where_most_rows_are_dropped() {
    let mut draws = Draws::new(12);
    let (mut whole, mut gaps) = (String::from("a,b,year\n"), String::from("a,b,year\n"));
    for row in 0..20_000 {
        let (a, b) = (draws.between(-1.0, 1.0), draws.between(-1.0, 1.0));
        let year = 2005.0 + 4.0 * a - 2.0 * b + draws.normal();
        whole.push_str(&format!("{a},{b},{year}\n"));
        gaps.push_str(&if row % 5 < 2 { format!("{a},{b},{year}\n") } else { format!("{a},,{year}\n") });
    }
    let folder = Folder::new();
    let schema = "target = \"year\"\nmissing = \"drop\"\n[columns]\na = { kind = \"real\", bounds = [-1, 1] }\n\
                  b = { kind = \"real\", bounds = [-1, 1] }\nyear = { kind = \"real\", bounds = [1990, 2020] }\n";
    folder.write("whole.csv", whole).write("gaps.csv", gaps).write("schema.toml", schema);
    for (file, method, slack) in
        [("whole", "gradient", 0.15), ("whole", "statistics", 0.8), ("gaps", "gradient", 0.5)]
    {
        let fit = folder.seeded(&format!(
            "fit {file}.csv --schema schema.toml --method {method} --epsilon 1 --delta 1e-6"
        ));
        for (name, truth) in [("(Intercept)", 2005.0), ("a", 4.0), ("b", -2.0)] {
            let found = number(&fit, &["coefficients", name]);
            assert!((found - truth).abs() < slack, "{file}, {method}, {name}: {found}");
        }
    }
}

#[test]
fn exposures_and_their_unit_move_between_intercept_and_rows() {
    let folder = people(8_000);
    let declared = PEOPLE.replace("\"income\"\n", "\"visits\"\nexposure = \"years\"\n");
    folder.write(
        "rates.toml",
        declared.replace("income = { kind = \"real\", bounds = [0, 100] }", "income = { kind = \"ignore\" }"),
    );
    let exact = folder.json("fit people.csv --schema rates.toml --method reference");
    let fit = folder.seeded("fit people.csv --schema rates.toml --epsilon 4 --delta 1e-6");
    assert_eq!(fit["family"], "poisson");
    for (fit, slack) in [(&exact, 0.06), (&fit, 0.3)] {
        // At age 50 and work "private" the rate is e^0.3 a year.
        let rate =
            number(fit, &["coefficients", "(Intercept)"]) + 50.0 * number(fit, &["coefficients", "age"]);
        assert!((rate - 0.3).abs() < slack, "{rate}");
        assert!((number(fit, &["coefficients", "work=self"]) - 0.4).abs() < slack);
    }
}

#[test]
fn several_classes_get_coefficients_each() {
    let folder = people(2_000);
    folder.write(
        "choice.toml",
        PEOPLE.replace("\"income\"\n", "\"choice\"\n").replace(
            "choice = { kind = \"ignore\" }",
            "choice = { kind = \"category\", levels = [\"bus\", \"car\", \"walk\"] }",
        ),
    );
    let fit = folder.seeded("fit people.csv --schema choice.toml --epsilon 2 --delta 1e-5 --output fit.json");
    assert_eq!(fit["family"], "multinomial");
    let names: Vec<&String> = fit["coefficients"].as_object().unwrap().keys().collect();
    assert!(
        names.iter().any(|name| *name == "car:(Intercept)") && names.iter().any(|name| *name == "walk:age")
    );
    let predicted = folder.json("predict fit.json people.csv");
    assert_eq!(predicted["columns"], serde_json::json!(["bus", "car", "walk"]));
    for row in predicted["rows"].as_array().unwrap() {
        let sum: f64 = row.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_unit_of_privacy_is_named_in_the_promise() {
    let folder = people(4_000);
    let ran = folder
        .run("fit people.csv --schema schema.toml --unit id --epsilon 4 --delta 1e-6 --output fit.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Replacing all rows of any one id changes"), "{}", ran.stdout);
    let fit: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path("fit.json")).unwrap()).unwrap();
    assert_eq!((&fit["n"], &fit["unit"]), (&2_000.into(), &"id".into()));
    assert_eq!(fit["certificate"]["adjacency"], serde_json::json!({ "replace_unit": "id" }));
}

#[test]
fn every_method_and_precision_runs() {
    let folder = arrays(3_000);
    let linear = "fit --design X.npy --response z.npy --target-bounds=-5,5 --feature-bounds=-1,1 --epsilon 4 --delta 1e-5";
    for extra in ["", "--method statistics", "--ridge 0.1", "--radius 2", "--precision f32", "--no-intercept"]
    {
        let fit = folder.seeded(&format!("{linear} {extra}"));
        assert!(
            (number(&fit, &["coefficients", "x0"]) - 0.6).abs() < 0.4,
            "{extra}: {}",
            fit["coefficients"]
        );
    }
}

#[test]
fn a_fixed_seed_repeats_and_promises_nothing() {
    let folder = arrays(2_000);
    let command = format!("{LOGISTIC} --epsilon 1 --delta 1e-5 --insecure-seed 5");
    let (a, b) = (folder.json(&command), folder.json(&command));
    assert_eq!(a, b);
    assert_eq!(a["certificate"]["grade"], "none");
    assert!(a["certificate"]["reason"].as_str().unwrap().contains("seed 5"));
}
