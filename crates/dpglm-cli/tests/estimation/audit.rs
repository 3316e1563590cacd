//! `dpglm audit`: fits without noise are caught, private ones are not, and every way to call it works.

use crate::support::{Folder, run_words};
use serde_json::Value;

const SMALL: &str =
    "--rows 240 --columns 3 --feature-bounds=-1,1 --no-intercept --canaries 24 --runs 60 --insecure-seed 1";

fn audit(folder: &Folder, arguments: &str) -> (i32, Value) {
    let ran = folder.run(&format!("audit {arguments} --format json"));
    let found = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{arguments}: {}", ran.stderr));
    (ran.code, found)
}

#[test]
fn fits_without_noise_are_caught_and_private_ones_are_not() {
    let folder = Folder::new();
    for (kind, caught) in [
        ("--binary --method reference", true),
        ("--binary --without-noise", true),
        ("--target-bounds=-2,2 --method reference", true),
        ("--mean reference", true),
        ("--binary", false),
        ("--target-bounds=-2,2 --method statistics", false),
        ("--binary --sparsity 2", false),
        ("--mean", false),
        ("--mean karwa-vadhan", false),
        ("--mean --sparsity 2", false),
    ] {
        let kind = if kind.contains("mean") {
            format!("{SMALL} {kind}").replace("--no-intercept ", "")
        } else {
            format!("{SMALL} {kind}")
        };
        let (code, found) = audit(&folder, &format!("{kind} --epsilon 1 --delta 1e-6"));
        assert_eq!(code, i32::from(caught), "{kind}: {found}");
        assert_eq!(found["exceeds_claim"], caught, "{kind}: {found}");
        assert_eq!(found["adjacency"], "replace one row");
        assert_eq!(found["one_run"]["canaries"], 24);
        assert!(found["for_whom"].as_str().unwrap().contains("do not publish"));
        assert!(found["canaries"]["area"].is_number() && found["held_out"]["area"].is_number());
    }
}

/// A mean of many columns, in one run: the claimed curve stands, and part of the claim is proved. Without noise it falls, although no
/// bound on epsilon that holds for any method reaches the claim.
#[test]
fn one_run_bounds_a_mean_of_many_columns_and_refutes_its_curve_without_noise() {
    let folder = Folder::new();
    let call = "--mean --rows 1100 --columns 1024 --canaries 1000 --runs 0 --feature-bounds=-1,1 --epsilon 4 --delta 1e-5";
    let (code, found) = audit(&folder, &format!("{call} --insecure-seed 1"));
    let run = &found["one_run"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert_eq!((code, &run["refutes_curve"]), (0, &Value::Bool(false)), "{found}");
    let (any, gaussian) = (number(&run["epsilon"]), number(&run["if_gaussian"]["epsilon"]));
    assert!(0.8 < any && any < gaussian && 1.4 < gaussian && gaussian < 4.0, "{found}");
    assert!(number(&run["p_value"]) > 0.05 && number(&found["lower_bound"]) == any, "{found}");

    let fewer = call.replace("1100", "600").replace("1024", "512").replace("1000", "500");
    let broken = folder.run(&format!("audit {fewer} --without-noise --insecure-seed 1"));
    assert_eq!(broken.code, 1, "{}", broken.stdout);
    assert!(broken.stderr.contains("gave away more than the privacy curve"), "{}", broken.stderr);
    for words in ["the same if Gaussian", "the claimed curve", "refuted", "any method"] {
        assert!(broken.stdout.contains(words), "{words} is not in: {}", broken.stdout);
    }
}

#[test]
fn without_a_claim_nothing_is_refuted() {
    let folder = Folder::new();
    let (code, found) = audit(&folder, &format!("{SMALL} --binary --epsilon inf --delta 1e-6"));
    assert_eq!((code, &found["claim"]["epsilon"]), (0, &Value::Null));
    assert!(found["lower_bound"].as_f64().unwrap() > 1.0, "{found}");
    assert!(found["one_run"]["p_value"].is_null() && found["one_run"]["refutes_curve"].is_null(), "{found}");
}

#[test]
fn a_file_is_split_planted_and_drawn() {
    let folder = Folder::new();
    let rows: String = (0..400).map(|i| format!("{},{},{}\n", i % 7, i % 3, (i / 3) % 2)).collect();
    folder.write("table.csv", format!("a,b,y\n{rows}"));
    let call =
        "table.csv --header --feature-bounds=0,10 --binary --runs 0 --canaries 40 --epsilon 1 --delta 1e-6";
    let ran = folder.run(&format!("audit {call} --plot roc.svg --insecure-seed 3"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for words in
        ["claimed", "proved by one run", "held-out rows told apart", "curator only", "95% confidence"]
    {
        assert!(ran.stdout.contains(words), "{words} is not in: {}", ran.stdout);
    }
    let drawing = std::fs::read_to_string(folder.path("roc.svg")).unwrap();
    assert!(
        drawing.starts_with("<svg") && drawing.contains("canary rows") && drawing.contains("claim allows")
    );
}

#[test]
fn another_program_is_run_on_two_neighbours() {
    let folder = Folder::new();
    let table = |last: &str| format!("x,y\n{}{last}\n", "0.5,0.5\n".repeat(20));
    folder.write("left.csv", table("0,1")).write("right.csv", table("1,0")).write("far.csv", "x,y\n1,1\n");
    // Least squares through the origin, without noise.
    let script = r#"tail -n +2 "$1" | awk -F, '{a+=$1*$2; b+=$1*$1} END {printf "{\"coefficients\": [%.12g]}", a/b}' > "$2""#;
    folder.write("fit.sh", script);
    let pair = "audit left.csv --neighbour right.csv --header --feature-bounds=0,1 --target-bounds=0,1 --no-intercept --runs 40 --epsilon 0.5 --delta 1e-9";
    let mut words: Vec<&str> = pair.split(' ').collect();
    words.extend(["--command", "sh fit.sh {data} {output}", "--format", "json"]);
    let ran = run_words(&folder.path(""), words.into_iter());
    let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    assert_eq!((ran.code, &found["exceeds_claim"]), (1, &Value::Bool(true)), "{found}");
    assert!(ran.stderr.contains("the claim does not hold"), "{}", ran.stderr);
    let far = pair.replace("right.csv", "far.csv");
    folder.refuses(&far, 1, &["differ in shape"]);
    folder.refuses(&pair.replace("right.csv", "left.csv"), 1, &["differ in 0 rows", "exactly one"]);
}

#[test]
fn wrong_calls_are_refused() {
    let folder = Folder::new();
    for (arguments, words) in [
        ("audit --epsilon 1 --delta 1e-6", &["--feature-bounds"][..]),
        ("audit --feature-bounds=-1,1 --epsilon 1 --delta 1e-6", &["--target-bounds", "--binary"]),
        ("audit --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6", &["--rows N", "--columns D"]),
        ("audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary --epsilon 1", &["--delta is needed"]),
        ("audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary", &["--epsilon is needed"]),
        ("audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary --epsilon inf", &["--delta is needed"]),
        (
            "audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6 --canaries 50",
            &["fewer than the 50 rows"],
        ),
        (
            "audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6 --command true",
            &["{data}"],
        ),
        (
            "audit --rows 50 --columns 2 --feature-bounds=-1,1 --binary --family multinomial --epsilon 1 --delta 1e-6",
            &["one linear predictor"],
        ),
        (
            "audit --rows 50 --columns 2 --feature-bounds=-1,1 --mean --opposite response --epsilon 1 --delta 1e-6",
            &["no response"],
        ),
    ] {
        let ran = folder.run(arguments);
        assert!(ran.code == 2 || ran.code == 1, "{arguments}: {}", ran.stdout);
        assert_eq!(ran.stdout, "", "{arguments}");
        for word in words {
            assert!(ran.stderr.contains(word), "{arguments}: `{word}` is not in: {}", ran.stderr);
        }
    }
}
