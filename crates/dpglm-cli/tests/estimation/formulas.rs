//! Formulas, and what follows from a fit: tests, contrasts, ratios, predictions with intervals.

use crate::support::*;
use serde_json::Value;

const SCHEMA: &str = r#"
target = "costs"
[columns]
age = { kind = "real", bounds = [20, 80], fill = 50 }
dose = { kind = "real", bounds = [0, 10] }
work = { kind = "category", levels = ["a", "b", "c"] }
sex = { kind = "binary", levels = ["f", "m"] }
ill = { kind = "binary", levels = ["no", "yes"] }
costs = { kind = "real", bounds = [0.1, 1000] }
"#;

fn people(rows: usize) -> Folder {
    let mut draws = Draws::new(7);
    let mut text = String::from("age,dose,work,sex,ill,costs\n");
    for i in 0..rows {
        let (age, dose) = (draws.between(20.0, 80.0), draws.between(0.0, 10.0));
        let (work, sex) = (["a", "b", "c"][i % 3], ["f", "m"][usize::from(draws.uniform() < 0.5)]);
        let male = f64::from(u8::from(sex == "m"));
        let bent = 0.02 * (age - 20.0) + 0.04 * (age - 50.0).max(0.0);
        let log = 1.0 + bent + 0.3 * male + 0.05 * male * dose + 0.4 * draws.normal();
        let logit = -1.0 + 0.2 * dose + 0.8 * f64::from(u8::from(work == "c"));
        let ill = if draws.uniform() < 1.0 / (1.0 + (-logit).exp()) { "yes" } else { "no" };
        let age = if i % 50 == 0 { String::new() } else { format!("{age:.3}") };
        text += &format!("{age},{dose:.3},{work},{sex},{ill},{:.4}\n", log.exp());
    }
    let folder = Folder::new();
    folder.write("people.csv", text).write("schema.toml", SCHEMA);
    folder
}

const FIT: &str = "fit people.csv --schema schema.toml";
const BUDGET: &str = "--epsilon 3 --delta 1e-6 --intervals 0.95";

fn of<'v>(lines: &'v Value, key: &str, name: &str) -> &'v Value {
    lines.as_array().unwrap().iter().find(|line| line[key] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_formula_is_fitted_kept_and_applied_to_new_rows() {
    let people = people(20_000);
    let formula = "log(costs)~pieces(age,knots=[50])+sex*dose";
    let fit = people.seeded(&format!("{FIT} --formula {formula} {BUDGET} --output fit.json"));
    assert_eq!(fit["target"]["name"], "log(costs)");
    assert_eq!(fit["encoding"]["formula"], formula);
    for (name, truth) in [
        ("pieces(age, knots=[50])[slope]", 0.02),
        ("pieces(age, knots=[50])[bend at 50]", 0.04),
        ("sex=m", 0.3),
        ("sex=m:dose", 0.05),
        ("dose", 0.0),
    ] {
        let (found, error) = (number(&fit["estimates"][name]), number(&fit["standard_errors"][name]));
        assert!((found - truth).abs() < 4.0 * error && error < 0.1, "{name}: {found} ({error})");
    }
    people.write("new.csv", "name,age,sex,dose\nx,50,m,0\ny,80,f,5\n");
    let found = people.json("predict fit.json new.csv");
    let (first, second) = (number(&found["rows"][0][0]), number(&found["rows"][1][0]));
    assert!((first - 1.9).abs() < 0.1 && (second - 3.4).abs() < 0.15, "{first} {second}");
    // The optimum without noise is that of the same model on columns made by hand.
    let by_hand = "log(costs)~age+I(pmax(age-50,0))+sex+dose+I(dose*1):sex";
    let a = people.json(&format!("{FIT} --formula {formula} --method reference"));
    let b = people.json(&format!("{FIT} --formula {by_hand} --method reference"));
    let [x, y] = [(&a, "pieces(age, knots=[50])[bend at 50]"), (&b, "I(pmax(age - 50, 0))")]
        .map(|(fit, name)| number(&fit["coefficients"][name]));
    assert!((x - y).abs() < 1e-7, "{x} {y}");
}

#[test]
fn one_schema_serves_many_models() {
    let people = people(3_000);
    let fit = people.json(&format!("{FIT} --features age,sex --target ill {BUDGET}"));
    assert_eq!(fit["columns"], serde_json::json!(["age", "sex=m"]));
    assert_eq!((&fit["family"], &fit["target"]["name"]), (&"logistic".into(), &"ill".into()));
    let same = people.seeded(&format!("{FIT} --formula ill~age+sex {BUDGET}"));
    let plain = people.seeded(&format!("{FIT} --features age,sex --target ill {BUDGET}"));
    assert_eq!(same["coefficients"], plain["coefficients"]);
    // A formula without a left side leaves the target to the schema or the flag.
    let named = people.seeded(&format!("{FIT} --formula ~age+sex --target ill {BUDGET}"));
    assert_eq!((&named["target"], &named["coefficients"]), (&plain["target"], &plain["coefficients"]));
    people.refuses(&format!("{FIT} --features age --formula ~age {BUDGET}"), 2, &["cannot be used with"]);
    people.refuses(&format!("{FIT} --features height {BUDGET}"), 2, &["`height`", "not declared"]);
    people.refuses(&format!("{FIT} --target ill --formula costs~age {BUDGET}"), 2, &["left side"]);
    people.refuses(&format!("{FIT} --formula log(dose)~age {BUDGET}"), 2, &["lower bound above 0", "log1p"]);
    people.refuses(&format!("{FIT} --formula costs~scale(age) {BUDGET}"), 2, &["I((age - 50) / 10)"]);
    // Means and descriptions take the columns as they are.
    people.write("formula.toml", format!("formula = \"log(costs) ~ age\"\n{SCHEMA}"));
    let means = people.json("mean people.csv --schema formula.toml --epsilon 1 --delta 1e-6");
    assert!(means["means"]["costs"].is_number());
}

#[test]
fn missing_cells_have_a_column_and_undeclared_fills_a_word() {
    let people = people(6_000);
    people.write("indicator.toml", format!("missing = \"indicator\"\n{SCHEMA}"));
    let fit = people.seeded(&format!(
        "fit people.csv --schema indicator.toml --formula log(costs)~age+dose {BUDGET} --output fit.json"
    ));
    assert_eq!(fit["columns"], serde_json::json!(["age", "dose", "age=missing", "dose=missing"]));
    let shown = people.run("show fit.json").stdout;
    assert!(shown.contains("middle of its bounds where no fill is declared: dose 5."), "{shown}");
    // No cell of that column is missing: its coefficient cannot be told.
    assert_eq!(fit["determined"]["dose=missing"], false);
    people.write("new.csv", "age,dose\n,5\n50,5\n");
    let found = people.json("predict fit.json new.csv");
    let gap = number(&found["rows"][0][0]) - number(&found["rows"][1][0]);
    assert!((gap - number(&fit["coefficients"]["age=missing"])).abs() < 1e-9, "{gap}");
    // What rests on that coefficient is told apart from what does not.
    let average = "predict fit.json new.csv --intervals 0.95 --average";
    assert_eq!(people.json(average)["determined"], true);
    people.write("new.csv", "age,dose\n50,5\n50,\n");
    assert_eq!(people.json(average)["determined"], false);
    assert!(people.run(&format!("{average} --format table")).stdout.ends_with(",false\n"));
    let asked = "summary fit.json --contrast dose=missing --contrast dose";
    let found = people.json(asked);
    assert!(found["contrasts"][0]["p_value"].is_null() && found["contrasts"][0]["z"].is_null());
    assert!(found["contrasts"][1]["p_value"].is_number());
    assert!(people.run(&format!("{asked} --format table")).stdout.contains("not determined"));
}

#[test]
fn tests_ratios_and_contrasts_follow_from_the_artefact() {
    let people = people(12_000);
    let fit =
        people.seeded(&format!("{FIT} --target ill --features age,dose,work {BUDGET} --output fit.json"));
    let words = [
        "summary",
        "fit.json",
        "--ratios",
        "--simultaneous",
        "bonferroni",
        "--contrast",
        "work=c - 2 * work=b",
    ];
    let tail = ["--at", "dose=4,work=c", "--versus", "dose=5", "--format", "json"];
    let ran = run_words(&people.path(""), words.into_iter().chain(tail));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let dose = of(&found["coefficients"], "name", "dose");
    let (b, s) = (number(&fit["estimates"]["dose"]), number(&fit["standard_errors"]["dose"]));
    assert_eq!(number(&dose["z"]), b / s);
    assert!(number(&dose["p_value"]) < 1e-6 && (number(&dose["ratio"][0]) - b.exp()).abs() < 1e-12);
    assert!((number(&dose["ratio"][0]) / 0.2_f64.exp()).ln().abs() < 0.05);
    // Four slopes: Bonferroni takes a quarter of the error.
    assert!((number(&found["simultaneous"]["reach"]) - 2.497_705).abs() < 1e-5);
    // The covariance of the two levels, by hand.
    let names: Vec<&str> = fit["estimates"].as_object().unwrap().keys().map(String::as_str).collect();
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let (i, j) = (place("work=b"), place("work=c"));
    let at = |i: usize, j: usize| number(&fit["covariance"][0][i.max(j)][i.min(j)]);
    let estimate = |name: &str| number(&fit["estimates"][name]);
    let (x, y) = (estimate("work=b"), estimate("work=c"));
    let determinant = at(i, i) * at(j, j) - at(i, j) * at(i, j);
    let wald = (x * x * at(j, j) - 2.0 * x * y * at(i, j) + y * y * at(i, i)) / determinant;
    let joint = of(&found["joint"], "term", "work");
    assert!((number(&joint["statistic"]) / wald - 1.0).abs() < 1e-9 && joint["degrees"] == 2);
    // With two degrees of freedom the tail is an exponential.
    assert!((number(&joint["p_value"]) / (-0.5 * wald).exp() - 1.0).abs() < 1e-6);
    let contrast = &found["contrasts"][0];
    assert!((number(&contrast["estimate"]) - (y - 2.0 * x)).abs() < 1e-12);
    let variance = at(j, j) + 4.0 * at(i, i) - 4.0 * at(i, j);
    assert!((number(&contrast["standard_error"]) - variance.sqrt()).abs() < 1e-9);
    // At public values: the probability, its derivative, and the difference.
    let (p, q) = (
        number(&found["at"]["prediction"]["estimate"]),
        number(&found["at"]["versus"]["prediction"]["estimate"]),
    );
    let slope = of(&found["at"]["effects"], "change", "dose, by unit");
    assert!((number(&slope["estimate"]) - b * p * (1.0 - p)).abs() < 1e-6);
    assert!((number(&found["at"]["versus"]["difference"]["estimate"]) - (p - q)).abs() < 1e-12);
    assert!((p / (1.0 - p) * (b).exp() - q / (1.0 - q)).abs() < 1e-6);
    people.refuses("summary fit.json --contrast height", 2, &["no coefficient `height`", "2 * age"]);
    people.refuses("summary fit.json --at dose=11", 2, &["`dose`", "[0, 10]"]);
    people.refuses("summary fit.json --at height=1", 2, &["`height`", "it reads age, dose, work"]);
    people.json(&format!("{FIT} {BUDGET} --output linear.json"));
    people.refuses("summary linear.json --ratios", 2, &["gaussian", "logarithm of the target"]);
    people.json(&format!("{FIT} --epsilon 1 --delta 1e-6 --output plain.json"));
    people.refuses("summary plain.json", 1, &["no standard errors"]);
    let shown = people.run("compare fit.json linear.json").stdout;
    assert!(shown.contains("family: logistic and gaussian") && shown.contains("dose"), "{shown}");
}

#[test]
fn predictions_have_intervals_and_an_average() {
    let people = people(12_000);
    let fit = people.seeded(&format!("{FIT} --target ill --features dose {BUDGET} --output fit.json"));
    people.write("new.csv", "dose\n0\n5\n10\n");
    let found = people.json("predict fit.json new.csv --intervals 0.9");
    assert_eq!(found["columns"], serde_json::json!(["no", "yes", "estimate", "from", "to"]));
    let [b0, b] = ["(Intercept)", "dose"].map(|name| number(&fit["estimates"][name]));
    let c = |i: usize, j: usize| number(&fit["covariance"][0][i][j]);
    let mut mean = 0.0;
    for (row, x) in [0.0, 5.0, 10.0].into_iter().enumerate() {
        let error = (c(0, 0) + 2.0 * x * c(1, 0) + x * x * c(1, 1)).sqrt();
        let p = |k: f64| 1.0 / (1.0 + (-(b0 + b * x + k * 1.644_853_626_951 * error)).exp());
        for (column, k) in [(2, 0.0), (3, -1.0), (4, 1.0)] {
            assert!((number(&found["rows"][row][column]) - p(k)).abs() < 1e-9);
        }
        mean += p(0.0) / 3.0;
    }
    let average = people.json("predict fit.json new.csv --intervals 0.9 --average");
    assert!((number(&average["estimate"]) - mean).abs() < 1e-9);
    assert!(number(&average["interval"][0]) < mean && mean < number(&average["interval"][1]));
    people.refuses("predict fit.json new.csv --intervals 95", 2, &["between 0 and 1"]);
    people.refuses("predict fit.json new.csv --average", 2, &["--intervals"]);
}

#[test]
fn effects_follow_a_bent_term_far_below_its_upper_bound() {
    let folder = Folder::new();
    let mut draws = Draws::new(11);
    let mut text = String::from("income,y\n");
    for _ in 0..4_000 {
        let income = draws.between(0.0, 6.0 * 10_f64.ln()).exp();
        text += &format!("{income:.6},{:.4}\n", 1.0 + 0.5 * income.ln() + 0.1 * draws.normal());
    }
    let schema = "target = \"y\"\n[columns]\nincome = { kind = \"real\", bounds = [1, 1e6] }\ny = { kind = \"real\", bounds = [0, 10] }\n";
    folder.write("people.csv", text).write("schema.toml", schema);
    let fit = folder.seeded(&format!("{FIT} --formula y~log(income) {BUDGET} --output fit.json"));
    let slope = number(&fit["estimates"]["log(income)"]);
    for (income, exact) in [(1.0, 2e-3), (2.5, 1e-6), (100.0, 1e-6), (50_000.0, 1e-6), (1e6, 1e-4)] {
        let found = folder.json(&format!("summary fit.json --at income={income}"));
        let effect = number(&of(&found["at"]["effects"], "change", "income, by unit")["estimate"]);
        assert!((effect * income / slope - 1.0).abs() < exact, "{income}: {effect}");
    }
}

#[test]
fn only_the_same_coefficients_are_compared() {
    let people = people(6_000);
    let asked = format!("--target ill --formula ~ns(age,knots=[40,60])+work+dose {BUDGET}");
    let fit = |name: &str, from: &str, to: &str| {
        people.write("other.toml", SCHEMA.replace(from, to));
        people.json(&format!("fit people.csv --schema other.toml {asked} --output {name}.json"));
    };
    fit("first", "", "");
    fit("same", "", "");
    fit("reference", "\"c\"]", "\"c\"], reference = \"c\"");
    fit("bounds", "[20, 80]", "[20, 90]");
    let tested = |other: &str, name: &str| {
        let found = people.json(&format!("compare first.json {other}.json"));
        let line = of(&found["coefficients"], "name", name).clone();
        assert_eq!(line["same_meaning"], line["p_value"].is_number());
        (line["p_value"].is_number(), found["differences"].to_string())
    };
    for (other, changed, unchanged, words) in [
        ("same", &[][..], &["(Intercept)", "work=b", "ns(age, knots=[40, 60])[60]", "dose"][..], "[]"),
        ("reference", &["(Intercept)", "work=b"], &["ns(age, knots=[40, 60])[60]", "dose"], "against c"),
        (
            "bounds",
            &["(Intercept)", "ns(age, knots=[40, 60])[60]"],
            &["work=b", "dose"],
            "number in [20, 90]",
        ),
    ] {
        for (names, expected) in [(changed, false), (unchanged, true)] {
            for name in names {
                let (found, differences) = tested(other, name);
                assert!(found == expected && differences.contains(words), "{other}: {name} {differences}");
            }
        }
    }
    let shown = people.run("compare first.json reference.json").stdout;
    assert!(shown.contains("not comparable") && !shown.contains("told better"), "{shown}");
}

#[test]
fn where_nothing_says_what_the_reference_level_does_it_has_a_column() {
    let people = people(3_000);
    let text = std::fs::read_to_string(people.path("people.csv")).unwrap();
    let mean = |level: &str| {
        let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let costs: Vec<f64> =
            rows.filter(|cells| cells[2] == level).map(|cells| cells[5].parse().unwrap()).collect();
        costs.iter().sum::<f64>() / costs.len() as f64
    };
    let fit = people.json(&format!("{FIT} --formula costs~C(work)-1 --method reference"));
    for level in ["a", "b", "c"] {
        assert!((number(&fit["coefficients"][format!("work={level}")]) / mean(level) - 1.0).abs() < 1e-6);
    }
    // A slope for each, whichever way it is written.
    let slopes = people.json(&format!("{FIT} --formula costs~sex:dose --method reference"));
    let same = people.json(&format!("{FIT} --formula costs~dose+sex:dose --method reference"));
    let [f, m] = ["sex=f:dose", "sex=m:dose"].map(|name| number(&slopes["coefficients"][name]));
    let [dose, more] = ["dose", "sex=m:dose"].map(|name| number(&same["coefficients"][name]));
    assert!((f - dose).abs() < 1e-7 && (m - dose - more).abs() < 1e-7, "{f} {m} {dose} {more}");
}

/// An artefact may be anybody's.
#[test]
fn an_edited_artefact_is_refused_or_told() {
    let people = people(3_000);
    let fit = people.seeded(&format!("{FIT} --target ill --features dose,work {BUDGET} --output fit.json"));
    let mut edited = fit.clone();
    for row in edited["covariance"][0].as_array_mut().unwrap() {
        row.as_array_mut().unwrap().iter_mut().for_each(|cell| *cell = 0.0.into());
    }
    people.write("edited.json", edited.to_string());
    let joint = &people.json("summary edited.json")["joint"][0];
    assert!(joint["term"] == "work" && joint["statistic"].is_null() && joint["p_value"].is_null());
    assert!(people.run("summary edited.json").stdout.contains("no inverse"));
    // A ratio beyond all numbers is the largest of them.
    let mut edited = fit.clone();
    edited["estimates"]["dose"] = 1e4.into();
    people.write("edited.json", edited.to_string());
    let found = people.json("summary edited.json --ratios");
    assert!(number(&of(&found["coefficients"], "name", "dose")["ratio"][0]) > 1e308);
    // Fewer columns than coefficients.
    let mut edited = fit.clone();
    edited["encoding"]["columns"]["work"] = serde_json::json!({ "kind": "ignore" });
    people.write("edited.json", edited.to_string());
    people.refuses("summary edited.json --at dose=4", 1, &["not a valid artefact", "more coefficients"]);
}
