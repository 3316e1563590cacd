//! `dpglm plan`: two of rows, epsilon and error give the third; simulations are kept; hopeless plans are named.

use crate::support::*;

const PLAN: &str = "plan --model logistic --columns 3 --delta 1e-6 --runs 20 --cache kept";

#[test]
fn each_of_the_three_follows_from_the_other_two() {
    let folder = Folder::new();
    let known = folder.json(&format!("{PLAN} --rows 2000 --epsilon 1"));
    let error = number(&known, &["error"]);
    assert!(error > 1e-4 && error < 0.2, "{known}");
    assert_eq!((&known["simulated"], &known["intervals"]), (&true.into(), &true.into()));
    assert_eq!(known["rates"].as_array().unwrap().len(), 2);
    assert!(known["rates"][0]["fitted_constant"].as_f64().unwrap() > 0.0);
    let rows = folder.json(&format!("{PLAN} --error {error} --epsilon 1"))["rows"].as_u64().unwrap();
    assert!((700..6_000).contains(&rows), "{rows}");
    let epsilon = number(&folder.json(&format!("{PLAN} --error {error} --rows 2000")), &["epsilon"]);
    assert!(epsilon > 0.3 && epsilon < 3.0, "{epsilon}");
    // What was simulated before is read again, to the last digit, and drawn.
    assert!(!std::fs::read_dir(folder.path("kept")).unwrap().next().unwrap().unwrap().path().is_dir());
    let again = folder.run(&format!("{PLAN} --rows 2000 --epsilon 1 --plot plan.svg --format json"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&again.stdout).unwrap(), known);
    assert!(std::fs::read_to_string(folder.path("plan.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn plans_that_no_method_can_keep_are_named() {
    let folder = Folder::new();
    let ran = folder
        .run("plan --model logistic --columns 3 --runs 2 --rows 40 --epsilon 0.01 --delta 1e-6 --cache kept");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("no private method can work here"), "{}", ran.stderr);
    assert!(ran.stdout.contains("no coefficient can be determined"), "{}", ran.stdout);
}

#[test]
fn wrong_wishes_are_refused() {
    let folder = Folder::new();
    let two = "give two of --rows, --epsilon and --error";
    folder.refuses(&format!("{PLAN} --rows 100"), 2, &[two]);
    folder.refuses(&format!("{PLAN} --rows 100 --epsilon 1 --error 0.1"), 2, &[two]);
    folder.refuses(
        "plan --model mean --columns 3 --rows 100 --epsilon 1 --delta 1e-6",
        2,
        &["--feature-bounds"],
    );
    folder.refuses(
        "plan --model linear --columns 3 --rows 100 --epsilon 1 --delta 1e-6",
        2,
        &["--target-bounds"],
    );
    folder.refuses(&format!("{PLAN} --error -1 --epsilon 1"), 2, &["error"]);
    folder.refuses(&format!("{PLAN} --error 1e-30 --epsilon 1"), 1, &["rows"]);
    folder.refuses(&format!("{PLAN} --sparsity 9 --rows 100 --epsilon 1"), 1, &["9"]);
}

#[test]
fn a_schema_says_what_is_planned() {
    let folder = Folder::new();
    let schema = |target: &str| {
        format!(
            "target = \"y\"\n[columns]\nage = {{ kind = \"real\", bounds = [0, 9] }}\n\
             work = {{ kind = \"category\", levels = [\"a\", \"b\", \"c\"] }}\ny = {target}\n"
        )
    };
    let tail = "--rows 400 --epsilon 1 --delta 1e-6 --runs 2 --cache kept";
    for (target, flags) in [
        ("{ kind = \"binary\", levels = [\"0\", \"1\"] }", "--model logistic --columns 3"),
        ("{ kind = \"real\", bounds = [-2, 5] }", "--model linear --columns 3 --target-bounds=-2,5"),
    ] {
        folder.write("schema.toml", schema(target));
        assert_eq!(
            folder.json(&format!("plan --schema schema.toml {tail}")),
            folder.json(&format!("plan {flags} {tail}"))
        );
    }
    folder.write("schema.toml", schema("{ kind = \"count\", bounds = [0, 5] }"));
    folder.refuses(&format!("plan --schema schema.toml {tail}"), 2, &["--mean-count"]);
    let counts = "--model poisson --columns 3 --target-bounds=0,5 --mean-count 0.5";
    assert_eq!(
        folder.json(&format!("plan --schema schema.toml --mean-count 0.5 {tail}")),
        folder.json(&format!("plan {counts} {tail}"))
    );
    folder.write("schema.toml", schema("{ kind = \"category\", levels = [\"u\", \"v\", \"w\"] }"));
    folder.refuses(&format!("plan --schema schema.toml {tail}"), 2, &["`y`", "--model"]);
    folder.refuses(&format!("plan {tail}"), 2, &["--schema"]);
}

#[test]
fn rare_counts_need_more_rows() {
    let folder = Folder::new();
    let plan = |count: &str| {
        folder.json(&format!(
            "plan --model poisson --columns 3 --target-bounds=0,20 --mean-count {count} --rows 4000 --epsilon 1 --delta 1e-6 --runs 20 \
             --cache kept"
        ))
    };
    let (rare, common) = (plan("0.2"), plan("3"));
    assert!(number(&rare, &["error"]) > 2.0 * number(&common, &["error"]), "{rare} {common}");
    assert_eq!(common["intervals"], true);
    folder.refuses(
        "plan --model poisson --columns 3 --target-bounds=0,20 --mean-count 30 --rows 400 --epsilon 1 --delta 1e-6",
        2,
        &["--mean-count", "within the target's bounds"],
    );
    folder.refuses(
        "plan --model poisson --columns 3 --mean-count 3 --rows 400 --epsilon 1 --delta 1e-6",
        2,
        &["--target-bounds"],
    );
}
