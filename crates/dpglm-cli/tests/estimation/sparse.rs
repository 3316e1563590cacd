//! Sparse models and means: what is chosen, written, shown and predicted, and what is refused.

use crate::parquet_files::lists;
use crate::support::*;
use serde_json::Value;
use std::collections::HashSet;

const COLUMNS: usize = 30;
const FIT: &str = "fit wide.csv --header --feature-bounds=-1,1 --target-bounds=-5,5 --epsilon 4 --delta 1e-6";
const BUDGET: &str = "--epsilon 4 --delta 1e-6";
const SAME_SUPPORT: &str = "one record does not change the support";

/// `wide.csv` with thirty columns, of which `g3` and `g17` matter; `b` is the sign of the response.
pub fn wide(rows: usize) -> Folder {
    let mut draws = Draws::new(11);
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("g{j}")).collect();
    let (mut text, mut signs) = (format!("{},y\n", names.join(",")), format!("{},b\n", names.join(",")));
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| draws.between(-1.0, 1.0)).collect();
        let y = 1.5 * row[3] - 1.2 * row[17] + 0.3 * draws.normal();
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        text += &format!("{},{y:.4}\n", cells.join(","));
        signs += &format!("{},{}\n", cells.join(","), u8::from(y > 0.0));
    }
    let folder = Folder::new();
    folder.write("wide.csv", text).write("signs.csv", signs);
    folder
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn the_chosen_columns_are_listed_and_hold_the_coefficients() {
    let folder = wide(4_000);
    let ran = folder.run(&format!("{FIT} --sparsity 2 --intervals 0.95 --output fit.json"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for word in ["4000 rows, 2 of 30 columns", "g3", "g17", "hold given the chosen columns", "a factor e^4,"]
    {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
    let fit: Value = serde_json::from_slice(&std::fs::read(folder.path("fit.json")).unwrap()).unwrap();
    assert_eq!(strings(&fit["support"]), ["g3", "g17"]);
    assert_eq!((fit["method"].as_str(), fit["sparsity"].as_u64()), (Some("select_refine"), Some(2)));
    let held: HashSet<&str> = fit["coefficients"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(held, HashSet::from(["(Intercept)", "g3", "g17"]));
    assert_eq!(fit["columns"].as_array().unwrap().len(), COLUMNS);
    assert!((number(&fit, &["coefficients", "g3"]) - 1.5).abs() < 0.3);
    let ends = fit["intervals"]["g17"].as_array().unwrap();
    assert!(ends[0].as_f64() < ends[1].as_f64());

    assert!(folder.run("show fit.json").stdout.starts_with(before_conditions(&ran.stdout)));
    assert_eq!(folder.json("show fit.json"), fit);
}

/// Absent coefficients are zero.
#[test]
fn predictions_use_the_chosen_columns_alone() {
    let folder = wide(3_000);
    assert_eq!(folder.run(&format!("{FIT} --sparsity 2 --output fit.json")).code, 0);
    let fit = folder.json("show fit.json");
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("g{j}")).collect();
    let cells: Vec<String> = (0..COLUMNS).map(|j| format!("{}", 0.01 * j as f64)).collect();
    folder.write("new.csv", format!("{}\n{}\n", names.join(","), cells.join(",")));
    let predicted = folder.json("predict fit.json new.csv")["rows"][0][0].as_f64().unwrap();
    let slopes = strings(&fit["support"])
        .into_iter()
        .map(|name| 0.01 * name[1..].parse::<f64>().unwrap() * number(&fit, &["coefficients", name]));
    let expected = number(&fit, &["coefficients", "(Intercept)"]) + slopes.sum::<f64>();
    assert!((predicted - expected).abs() < 1e-9, "{predicted} {expected}");

    // An artefact whose support and coefficients do not agree is refused.
    for support in [serde_json::json!(["g3"]), serde_json::json!(["g3", "height"]), serde_json::json!(null)] {
        let mut bad = fit.clone();
        bad["support"] = support;
        folder.write("bad.json", bad.to_string());
        folder.refuses("show bad.json", 1, &["bad.json", "not a valid artefact"]);
    }
}

#[test]
fn every_sparse_method_fits_and_says_what_it_promises() {
    let folder = wide(4_000);
    for (flags, grade) in [
        ("--sparsity 2", "certified"),
        ("--sparsity 2 --method noisy-iht", "certified"),
        ("--sparsity 2 --method noisy-iht --steps 20 --step-length 0.5 --radius 3", "certified"),
        ("--sparsity 2 --method noisy-iht --no-intercept --support-norm 0.5", "certified"),
        ("--sparsity 2 --method peeling-iht", "certified"),
        (
            "--sparsity 2 --method peeling-iht --no-intercept --calibration printed --radius 3 --support-norm 1.5",
            "certified",
        ),
        ("--sparsity 2 --split", "certified"),
        ("--sparsity 2 --split --intervals 0.95", "certified"),
        ("--sparsity 2 --method dp-iht --row-norm 3", "certified"),
        ("--sparsity 2 --method whole-gradient --row-norm 3", "certified"),
        ("--method frank-wolfe --l1-radius 3 --no-intercept", "certified"),
        ("--sparsity 2 --method frank-wolfe --l1-radius 3 --no-intercept", "certified"),
        ("--method sparse-frank-wolfe --l1-radius 3 --no-intercept --steps 30", "certified"),
        ("--sparsity 2 --method best-subset --no-intercept", "certified"),
        ("--sparsity 2 --method two-stage --no-intercept", "certified"),
        ("--sparsity 2 --method johnson-lindenstrauss --no-intercept", "certified"),
        ("--sparsity 2 --method transfer --no-intercept", "certified"),
        ("--sparsity 2 --method iht --no-intercept", "none"),
    ] {
        // A method without noise takes no budget.
        let call = if grade == "none" { FIT.replace(BUDGET, "") } else { FIT.to_owned() };
        let fit = folder.json(&format!("{call} {flags}"));
        assert_eq!(fit["certificate"]["grade"], grade, "{flags}");
        let support = strings(&fit["support"]);
        assert!(!flags.contains("--sparsity") || support.len() <= 2, "{flags}: {support:?}");
        assert!(support.iter().all(|name| number(&fit, &["coefficients", name]).is_finite()), "{flags}");
        let events = fit["certificate"]["events"].as_array().unwrap();
        let plan = folder.json(&format!("{call} {flags} --dry-run --rows 4000"));
        assert_eq!(
            plan["certificate"]["events"].as_array().unwrap().is_empty(),
            events.is_empty(),
            "{flags}"
        );
        if grade == "certified" {
            assert!(number(&plan, &["certificate", "epsilon"]) <= 4.0, "{flags}");
        }
    }
    let dense = folder.json(&format!("{FIT} --method johnson-lindenstrauss --no-intercept"));
    assert!(dense["support"].is_null() && dense["coefficients"].as_object().unwrap().len() == COLUMNS);
    let signs = "fit signs.csv --header --feature-bounds=-1,1 --binary --epsilon 4 --delta 1e-6 --sparsity 2";
    for flags in [
        "",
        "--split",
        "--method two-stage --no-intercept",
        "--method best-subset --no-intercept",
        "--method sparse-frank-wolfe --l1-radius 6 --no-intercept",
        "--method transfer --no-intercept",
    ] {
        assert!(strings(&folder.seeded(&format!("{signs} {flags}"))["support"]).contains(&"g3"), "{flags}");
    }
}

/// The printed noise is stated at what it truly costs, which is not what was asked for.
#[test]
fn printed_noise_states_its_true_epsilon() {
    let folder = wide(4_000);
    let printed = format!("{FIT} --sparsity 2 --method peeling-iht --no-intercept --calibration printed");
    folder.refuses(&printed, 2, &["--calibration printed", "--radius C", "--support-norm C"]);
    let linear = format!("{printed} --radius 3 --support-norm 1.5");
    for document in [folder.json(&linear), folder.json(&format!("{linear} --dry-run --rows 4000"))] {
        let epsilon = number(&document, &["certificate", "epsilon"]);
        assert!(epsilon > 0.1 && epsilon < 2.5, "{epsilon}");
        assert_eq!(document["certificate"]["grade"], "certified");
    }
    assert_eq!(folder.json(&linear)["calibration"], "printed");
    let signs = "fit signs.csv --header --feature-bounds=-1,1 --binary --sparsity 2 --method peeling-iht --calibration printed";
    let logistic = folder.json(&format!("{signs} --no-intercept --epsilon 4 --delta 1e-6"));
    assert!(number(&logistic, &["certificate", "epsilon"]) < 1.5);
    folder.refuses(&format!("{signs} --epsilon 4 --delta 1e-6"), 2, &["no intercept", "--no-intercept"]);
    // In one step at a budget that no one should have, thirty columns cost more than is stated.
    let all = format!("{signs} --no-intercept --epsilon 400 --delta 0.5 --steps 1")
        .replace("--sparsity 2", "--sparsity 30");
    folder.refuses(&all, 1, &["this noise costs epsilon", "let the noise be calibrated"]);
}

#[test]
fn intervals_after_a_split_say_so() {
    let folder = wide(4_000);
    let split = format!("{FIT} --sparsity 2 --split --intervals 0.95");
    let fit = folder.json(&split);
    let parts = fit["certificate"]["parts"].as_array().unwrap();
    assert_eq!((parts.len(), fit["split"].as_bool()), (2, Some(true)));
    let plan = folder.json(&format!("{split} --dry-run --rows 4000"));
    assert!(
        number(&plan, &["certificate", "epsilon"]) <= 4.0 && number(&plan, &["certificate", "epsilon"]) > 3.5
    );
    assert!(folder.run(&split).stdout.contains("had no part in the choice"));
    // Intervals ask for it by themselves; rows that cannot be divided are told of, and the clearest of one fit are refused.
    let asked = folder.json(&format!("{FIT} --sparsity 2 --intervals 0.95"));
    assert_eq!(
        (asked["certificate"]["parts"].as_array().unwrap().len(), asked["split"].as_bool()),
        (2, Some(true))
    );
    let plain = folder.json(&format!("{FIT} --sparsity 2"));
    assert!(plain["certificate"]["parts"].as_array().is_none_or(Vec::is_empty) && plain["split"].is_null());
    folder.refuses(
        &format!("{FIT} --sparsity 20 --intervals 0.95"),
        2,
        &["half of the columns", "leave out --sparsity"],
    );
    for (flags, words) in [
        ("--sparsity 20 --split", vec!["divide no rows"]),
        ("--sparsity 2 --split --tune sparsity=auto", vec!["sparsity"]),
        ("--sparsity 2 --split --row-norm 1", vec!["--split", "--row-norm"]),
        ("--sparsity 2 --split --method noisy-iht", vec!["--split goes with --method select-refine"]),
        ("--split", vec!["--split goes with --method select-refine"]),
    ] {
        let code = if words[0] == "divide no rows" { 1 } else { 2 };
        folder.refuses(&format!("{FIT} {flags}"), code, &words);
    }
}

#[test]
fn several_classes_share_the_chosen_columns() {
    let folder = wide(4_000);
    let fit = "fit signs.csv --header --feature-bounds=-1,1 --binary --family multinomial --sparsity 2 --epsilon 4 --delta 1e-6";
    let ran = folder.run(&format!("{fit} --output fit.json"));
    assert!(ran.stdout.contains("4000 rows, 2 of 30 columns"), "{}{}", ran.stdout, ran.stderr);
    let fit = folder.json("show fit.json");
    assert_eq!(strings(&fit["support"]), ["g3", "g17"]);
    assert!(number(&fit, &["coefficients", "1:g3"]) > 0.5);
    let rows = folder.json("predict fit.json signs.csv");
    let p = &rows["rows"][0];
    assert!((p[0].as_f64().unwrap() + p[1].as_f64().unwrap() - 1.0).abs() < 1e-9);
}

/// The columns of a category are chosen one by one, and a unit is protected as a whole.
#[test]
fn a_schema_with_units() {
    let folder = people(4_000);
    folder.write("schema.toml", PEOPLE.replace("id     = { kind = \"ignore\" }\n", ""));
    let fit =
        folder.seeded("fit people.csv --schema schema.toml --unit id --sparsity 2 --epsilon 4 --delta 1e-6");
    assert_eq!((fit["n"].as_u64(), fit["unit"].as_str()), (Some(2_000), Some("id")));
    assert!(strings(&fit["support"]).contains(&"age"), "{}", fit["support"]);
    folder.refuses(
        "fit people.csv --schema schema.toml --unit id --sparsity 2 --epsilon 4 --delta 1e-6 --method two-stage --no-intercept",
        2,
        &["one row a person", "the unit `id`", "select-refine"],
    );
}

#[test]
fn literal_transfer_needs_its_assumption_by_name() {
    let folder = wide(2_000);
    let literal = format!("{FIT} --sparsity 2 --method transfer-literal --no-intercept");
    folder.refuses(&literal, 2, &["private only if", SAME_SUPPORT, "--accept", "--method transfer"]);
    folder.refuses(&format!("{literal} --accept yes"), 2, &["must be the words", SAME_SUPPORT]);
    for (extra, schema) in [("", "dpglm.fit/1"), ("--dry-run --rows 2000", "dpglm.plan/1")] {
        let words = format!("{literal} {extra} --format json");
        let ran = run_words(&folder.path(""), words.split_whitespace().chain(["--accept", SAME_SUPPORT]));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (document["schema"].as_str(), &document["certificate"]["grade"]),
            (Some(schema), &"conditional".into())
        );
    }
}

#[test]
fn public_features_must_be_those_of_the_private_table() {
    let folder = wide(2_000);
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("g{j}")).collect();
    let rows: String = (0..200)
        .map(|i| {
            let cells: Vec<String> = (0..COLUMNS)
                .map(|j| format!("{}", f64::from((i * 31 + j as i32 * 17) % 21 - 10) / 10.0))
                .collect();
            cells.join(",") + "\n"
        })
        .collect();
    folder.write("public.csv", format!("{}\n{rows}", names.join(",")));
    let transfer = format!("{FIT} --sparsity 2 --method transfer --no-intercept --public-features");
    assert_eq!(strings(&folder.seeded(&format!("{transfer} public.csv"))["support"]).len(), 2);
    folder.write("other.csv", format!("{}\n{rows}", names.join(",").replace("g5,", "h5,")));
    folder.refuses(&format!("{transfer} other.csv"), 1, &["--public-features", "column 6", "same columns"]);
    folder.write("fewer.csv", "g0,g1\n0,1\n1,0\n0,0.5\n");
    folder.refuses(
        &format!("{transfer} fewer.csv"),
        1,
        &["2 public columns for 30 private ones", "same columns"],
    );
    folder.refuses(&format!("{transfer} absent.csv"), 1, &["absent.csv", "check the path"]);
    folder.refuses(
        &format!("{FIT} --sparsity 2 --public-features public.csv"),
        2,
        &["--public-features goes with --method transfer"],
    );
}

#[test]
fn sparsities_that_cannot_be() {
    let folder = wide(20);
    folder.refuses(&format!("{FIT} --sparsity 0"), 2, &["--sparsity", "at least 1", "got 0"]);
    folder.refuses(&format!("{FIT} --sparsity -3"), 2, &["--sparsity", "got -3"]);
    let plain = FIT.replace(BUDGET, "--method iht --no-intercept");
    for call in [FIT, &format!("{FIT} --method frank-wolfe --l1-radius 1 --no-intercept"), &plain] {
        folder.refuses(&format!("{call} --sparsity 31"), 2, &["number of columns, 30", "got 31"]);
    }
    folder.refuses(
        "mean wide.csv --header --feature-bounds=-5,5 --epsilon 1 --delta 1e-6 --sparsity 0",
        2,
        &["at least 1"],
    );
    folder.refuses(
        "mean wide.csv --header --feature-bounds=-5,5 --epsilon 1 --delta 1e-6 --sparsity 32",
        2,
        &["32 of 31"],
    );
    // More coefficients than rows: allowed, with a word of warning.
    let ran = folder.run(&format!("{FIT} --sparsity 25"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: --sparsity 25 is more than there are rows (20)"), "{}", ran.stderr);
    assert!(!folder.run(&format!("{FIT} --sparsity 5")).stderr.contains("warning: --sparsity"));
}

#[test]
fn sparse_flags_that_do_not_fit_together() {
    let folder = wide(20);
    for (flags, words) in [
        ("--sparsity 2 --method statistics", vec!["--sparsity", "--method statistics", "leave out"]),
        ("--sparsity 2 --method gradient", vec!["--sparsity", "fits every column"]),
        ("--method two-stage --no-intercept", vec!["needs --sparsity"]),
        ("--sparsity 2 --method two-stage", vec!["no intercept", "--no-intercept"]),
        ("--sparsity 2 --method frank-wolfe --no-intercept", vec!["needs --l1-radius"]),
        ("--method frank-wolfe --no-intercept --l1-radius 0", vec!["radius", "above 0"]),
        ("--sparsity 2 --method noisy-iht --row-norm 1", vec!["--row-norm goes with --method select-refine"]),
        ("--sparsity 2 --row-norm 1 --intervals 0.95", vec!["--row-norm", "whole gradient", "--intervals"]),
        ("--row-norm 1 --intervals 0.95", vec!["--intervals", "whole-gradient"]),
        ("--sparsity 2 --method dp-iht --row-norm 0", vec!["--row-norm", "above 0"]),
        ("--sparsity 2 --l1-radius 1", vec!["--l1-radius goes with --method frank-wolfe"]),
        ("--sparsity 2 --steps 5", vec!["--steps goes with --method noisy-iht"]),
        ("--sparsity 2 --method noisy-iht --steps 0", vec!["--steps", "at least 1"]),
        ("--sparsity 2 --method noisy-iht --step-length 0", vec!["--step-length", "above 0"]),
        ("--sparsity 2 --method noisy-iht --support-norm 1", vec!["--support-norm", "--no-intercept"]),
        (
            "--sparsity 2 --method noisy-iht --no-intercept --support-norm 0",
            vec!["--support-norm", "above 0"],
        ),
        (
            "--sparsity 2 --method noisy-iht --calibration printed",
            vec!["--calibration goes with --method peeling-iht"],
        ),
        ("--sparsity 2 --method best-subset", vec!["no intercept"]),
        ("--method sparse-frank-wolfe --no-intercept", vec!["sparse-frank-wolfe needs --l1-radius"]),
        ("--sparsity 2 --accept x", vec!["--accept goes with --method transfer-literal"]),
        ("--sparsity 2 --method noisy-iht --intervals 0.95", vec!["--intervals", "--method select-refine"]),
        ("--sparsity 2 --method noisy-iht --ridge 1", vec!["--ridge", "--method select-refine"]),
        ("--sparsity 2 --method two-stage --no-intercept --family poisson", vec!["poisson"]),
    ] {
        folder.refuses(&format!("{FIT} {flags}"), 2, &words);
    }
    folder.refuses(
        "fit signs.csv --header --feature-bounds=-1,1 --binary --epsilon 4 --delta 1e-6 --method johnson-lindenstrauss --no-intercept",
        2,
        &["no logistic model", "without --method"],
    );
    folder.refuses(
        "fit signs.csv --header --feature-bounds=-1,1 --binary --family multinomial --epsilon 4 --delta 1e-6 --sparsity 2 --method iht",
        2,
        &["no multinomial model", "without --method"],
    );
}

/// Nothing to see, or nothing in one row: the public rules hold, and the fit is finite.
#[test]
fn zeros_and_empty_rows_are_fitted() {
    let folder = Folder::new();
    let zeros: String = (0..300).map(|i| format!("0,0,0,{}\n", i % 5)).collect();
    folder.write("zeros.csv", format!("a,b,c,y\n{zeros}"));
    let empty: String = (0..300)
        .map(|i| if i == 7 { ",,,\n".into() } else { format!("1,0,{},{}\n", i % 3, i % 5) })
        .collect();
    folder.write("empty.csv", format!("a,b,c,y\n{empty}"));
    let sparse: String = (0..300)
        .map(|i| if i == 7 { "1\n".into() } else { format!("{} {}:1\n", i % 5, i % 3 + 1) })
        .collect();
    folder.write("empty.libsvm", sparse);
    for (file, flags) in [
        ("zeros.csv --header", BUDGET),
        ("zeros.csv --header", "--epsilon 4 --delta 1e-6 --method noisy-iht"),
        ("zeros.csv --header", "--epsilon 4 --delta 1e-6 --method dp-iht"),
        ("zeros.csv --header", "--epsilon 4 --delta 1e-6 --method two-stage --no-intercept"),
        ("zeros.csv --header", "--epsilon 4 --delta 1e-6 --method transfer --no-intercept"),
        ("zeros.csv --header", "--method iht --no-intercept"),
        ("empty.csv --header", BUDGET),
        ("empty.csv --header", "--epsilon 4 --delta 1e-6 --method noisy-iht"),
        ("empty.libsvm --columns 3", BUDGET),
    ] {
        let fit = folder
            .json(&format!("fit {file} --feature-bounds=-2,2 --target-bounds=0,5 --sparsity 2 {flags}"));
        let finite =
            fit["coefficients"].as_object().unwrap().values().all(|b| b.as_f64().unwrap().is_finite());
        assert!(finite, "{file} {flags}: {}", fit["coefficients"]);
        assert!(fit["standard_errors"].is_null(), "{file} {flags}");
    }
}

#[test]
fn sparse_means_and_karwa_vadhan() {
    let mut draws = Draws::new(5);
    let rows: String = (0..4_000)
        .map(|_| {
            let cells: Vec<String> =
                (0..10).map(|j| format!("{:.3}", draws.normal() + if j == 4 { 2.0 } else { 0.0 })).collect();
            cells.join(",") + "\n"
        })
        .collect();
    let names: Vec<String> = (0..10).map(|j| format!("m{j}")).collect();
    let folder = Folder::new();
    folder.write("t.csv", format!("{}\n{rows}", names.join(",")));
    // The bounds' middle is not zero: means that are not chosen are zero in the user's own units.
    let mean = "mean t.csv --header --feature-bounds=-5,9 --epsilon 2 --delta 1e-6";
    let sparse = folder.seeded(&format!("{mean} --sparsity 1 --intervals 0.95"));
    assert_eq!(strings(&sparse["support"]), ["m4"]);
    assert_eq!(sparse["means"].as_object().unwrap().len(), 1);
    assert!((number(&sparse, &["means", "m4"]) - 2.0).abs() < 0.2);
    let ran = folder.run(&format!("{mean} --sparsity 1 --intervals 0.95 --output m.json"));
    assert!(ran.stdout.contains("Means of 4000 rows, 1 of 10 columns"), "{}", ran.stdout);
    assert!(ran.stdout.contains("columns that chance chose"));
    assert!(folder.run("show m.json").stdout.starts_with(before_conditions(&ran.stdout)));
    for flags in ["", "--deviations=0.1,10"] {
        let all = folder.seeded(&format!("{mean} --method karwa-vadhan {flags}"));
        assert_eq!((all["method"].as_str(), all["support"].is_null()), (Some("karwa_vadhan"), true));
        assert!((number(&all, &["means", "m4"]) - 2.0).abs() < 0.5, "{}", all["means"]);
    }
    for (flags, words) in [
        ("--method karwa-vadhan --sparsity 1", vec!["--sparsity", "leave out"]),
        ("--method karwa-vadhan --intervals 0.95", vec!["--intervals", "--method localise"]),
        ("--deviations=1,2", vec!["--deviations goes with --method karwa-vadhan"]),
        ("--method karwa-vadhan --deviations=2,1", vec!["deviations", "the smaller first"]),
    ] {
        folder.refuses(&format!("{mean} {flags}"), 2, &words);
    }
    // Bounds without zero are refused before a table is opened: there is none.
    folder.write("bounds.toml", "[columns]\na = { kind = \"real\", bounds = [1, 9] }\n");
    for (flags, what) in [("--feature-bounds=1,9", "--feature-bounds"), ("--schema bounds.toml", "`a`")] {
        folder.refuses(
            &format!("mean nowhere.csv {flags} --epsilon 2 --delta 1e-6 --sparsity 1"),
            2,
            &[what, "[1, 9]", "do not hold 0"],
        );
    }
}

#[test]
fn sparse_rows_of_text_and_of_parquet_are_one() {
    let mut draws = Draws::new(6);
    let mut rows: Vec<(Vec<i64>, Vec<f64>, f64)> = (0..2_000)
        .map(|i| {
            let columns: Vec<i64> = (0..12).filter(|j| (i + j) % 4 == 0).collect();
            let values: Vec<f64> = columns.iter().map(|_| draws.normal().clamp(-1.0, 1.0)).collect();
            let slope = columns.iter().zip(&values).map(|(&j, x)| if j == 3 { 4.0 * x } else { 0.0 });
            let y = f64::from(u8::from(slope.sum::<f64>() + 0.5 * draws.normal() > 0.0));
            (columns, values, y)
        })
        .collect();
    rows[5] = (vec![], vec![], 1.0);
    let text = |rows: &[(Vec<i64>, Vec<f64>, f64)]| -> String {
        let row = |(columns, values, y): &(Vec<i64>, Vec<f64>, f64)| {
            let entries = columns.iter().zip(values).map(|(j, x)| format!(" {}:{x}", j + 1));
            format!("{y}{}\n", entries.collect::<String>())
        };
        rows.iter().map(row).collect()
    };
    let folder = Folder::new();
    folder.write("t.libsvm", text(&rows)).write("t.parquet", lists(&rows, ["indices", "values"]));
    folder.write("u.parquet", lists(&rows, ["columns", "x"]));
    // One row names a column that nobody declared: neither the shape nor anything else may show it.
    let mut beyond = rows.clone();
    beyond[9].0.push(70_000);
    beyond[9].1.push(1.0);
    folder
        .write("beyond.libsvm", text(&beyond))
        .write("beyond.parquet", lists(&beyond, ["indices", "values"]));
    let rest = "--feature-bounds=-1,1 --binary --sparsity 2 --epsilon 4 --delta 1e-6";
    let seeded = format!("{rest} --columns 12 --insecure-seed 3");
    let fits: Vec<_> = [
        format!("t.libsvm {seeded}"),
        format!("t.parquet {seeded} --target y"),
        format!("t.parquet {seeded}"),
        format!("u.parquet {seeded} --sparse-columns columns,x"),
        format!("beyond.libsvm {seeded}"),
        format!("beyond.parquet {seeded}"),
    ]
    .map(|arguments| folder.json(&format!("fit {arguments}")))
    .into();
    assert!(strings(&fits[0]["support"]).contains(&"x3"), "{}", fits[0]["support"]);
    for fit in &fits {
        assert_eq!((&fit["coefficients"], &fit["columns"]), (&fits[0]["coefficients"], &fits[0]["columns"]));
    }
    for file in ["t.libsvm", "t.parquet"] {
        folder.refuses(
            &format!("fit {file} {rest}"),
            1,
            &["number of columns", "one private row", "--columns"],
        );
        folder.refuses(
            &format!("mean {file} --feature-bounds=-1,1 --epsilon 1 --delta 1e-6"),
            1,
            &["--columns"],
        );
    }
    folder.refuses(&format!("fit u.parquet {seeded}"), 1, &["no list `indices`", "--sparse-columns"]);
    folder.refuses(&format!("fit u.parquet {seeded} --sparse-columns a"), 2, &["indices,values"]);
    folder.refuses(&format!("fit beyond.parquet {seeded} --strict"), 1, &["row 10", "left out"]);
    // A plan needs the footer only; predictions are those of the text.
    assert!(folder.run(&format!("fit t.parquet {rest} --columns 12 --dry-run")).code == 0);
    assert_eq!(folder.run(&format!("fit t.libsvm {seeded} --output fit.json")).code, 0);
    let predicted = folder.json("predict fit.json t.libsvm");
    assert_eq!(predicted, folder.json("predict fit.json t.parquet"));
    assert_eq!(predicted, folder.json("predict fit.json u.parquet --sparse-columns columns,x"));
}
