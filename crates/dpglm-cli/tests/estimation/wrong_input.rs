//! Wrong input: a message a person can act on, exit code 1 for files and 2 for the command line. What depends on a
//! private cell follows the public rule and stops nothing.

use crate::support::*;
use std::path::Path;

const BUDGET: &str = "--epsilon 1 --delta 1e-6";
const PEOPLE_FIT: &str = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-6";

/// A small numeric table with target `y` in the last column.
fn numeric(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", text);
    folder
}

const NUMERIC: &str =
    "fit t.csv --header --feature-bounds=0,10 --target-bounds=0,10 --epsilon 1 --delta 1e-6";
const ROWS: &str = "a,b,y\n1,2,3\n4,5,6\n7,8,9\n2,4,6\n";

#[test]
fn missing_column() {
    let folder = people(20);
    folder.write("schema.toml", format!("{PEOPLE}height = {{ kind = \"real\", bounds = [0, 3] }}\n"));
    folder.refuses(PEOPLE_FIT, 1, &["people.csv", "`height`", "missing here"]);
    folder.write("schema.toml", PEOPLE.replace("choice = { kind = \"ignore\" }\n", ""));
    folder.refuses(PEOPLE_FIT, 1, &["does not declare 1 of the file's 8 columns (number 8)", "ignore"]);
    numeric(ROWS).refuses(&format!("{NUMERIC} --target z"), 1, &["no column `z`", "`a`, `b`, `y`"]);
}

/// Bad cells of every kind: the fit goes on, and the curator alone learns how many there were.
#[test]
fn bad_cells_follow_the_public_rule() {
    for (column, cell, word) in [
        ("target outside its domain", "p1,50,state,f,1,2,1000,bus", "column `income`: 1 outside the bounds"),
        ("undeclared level", "p1,50,abroad,f,1,2,50,bus", "column `work`: 1 not a declared level"),
        ("NaN", "p1,NaN,state,f,1,2,50,bus", "column `age`: 1 missing or not a number"),
        ("infinite", "p1,inf,state,f,1,2,50,bus", "column `age`: 1 missing or not a number"),
        ("infinite target", "p1,50,state,f,1,2,-inf,bus", "column `income`: 1 missing or not a number"),
    ] {
        let folder = people(200);
        let mut text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
        text.push_str(&format!("{cell}\n"));
        folder.write("people.csv", text);
        let ran = folder.run(&format!("{PEOPLE_FIT} --output fit.json"));
        assert_eq!(ran.code, 0, "{column}: {}", ran.stderr);
        assert!(ran.stderr.contains("for the curator, not for publication"), "{column}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{column}: {}", ran.stderr);
        let written = std::fs::read_to_string(folder.path("fit.json")).unwrap();
        assert!(!written.contains("curator") && !written.contains("outside the bounds"), "{column}");
        folder.refuses(
            &format!("{PEOPLE_FIT} --strict"),
            1,
            &["row 201", "strict mode", "nothing is released"],
        );
    }
}

#[test]
fn bad_cells_of_arrays_follow_it_too() {
    let folder = arrays(500);
    let mut numbers: Vec<f64> = (0..2_000).map(|i| f64::from(i % 7) / 7.0).collect();
    (numbers[3], numbers[17], numbers[40]) = (f64::NAN, f64::INFINITY, 1e300);
    let mut response: Vec<f64> = (0..500).map(|i| f64::from(i % 2)).collect();
    (response[0], response[1]) = (7.5, f64::NAN);
    folder.write("X.npy", npy(4, &numbers)).write("y.npy", npy(0, &response));
    let fit = folder.json(&format!("{LOGISTIC} --epsilon 1 --delta 1e-5"));
    assert!((0..4).all(|j| number(&fit, &["coefficients", &format!("x{j}")]).is_finite()));
    folder.refuses(&format!("{LOGISTIC} --epsilon 1 --delta 1e-5 --strict"), 1, &["row 1", "`x3`"]);
}

#[test]
fn bounds_reversed() {
    let folder = numeric(ROWS);
    let fit = |bounds: &str| format!("fit t.csv --header {bounds} {BUDGET}");
    folder.refuses(
        &fit("--feature-bounds=1,-1 --binary"),
        2,
        &["--feature-bounds", "reversed", "got [1, -1]"],
    );
    folder.refuses(
        &fit("--feature-bounds=-1,1 --target-bounds=5,-5"),
        2,
        &["--target-bounds", "reversed", "got [5, -5]"],
    );
    folder.refuses(&fit("--feature-bounds=1 --binary"), 2, &["--feature-bounds", "two numbers"]);
    folder.refuses(&format!("mean t.csv --header --feature-bounds=1,-1 {BUDGET}"), 2, &["reversed"]);
    let folder = people(20);
    folder.write("schema.toml", PEOPLE.replace("[20, 80]", "[80, 20]"));
    folder.refuses(PEOPLE_FIT, 1, &["schema.toml", "columns.age.bounds", "reversed"]);
}

#[test]
fn bounds_so_large_that_arithmetic_overflows() {
    let folder = numeric(ROWS);
    for bounds in
        ["--feature-bounds=-1e300,1e300 --binary", "--feature-bounds=0,10 --target-bounds=-1e200,1e200"]
    {
        folder.refuses(&format!("fit t.csv --header {bounds} {BUDGET}"), 2, &["overflow", "really take"]);
    }
    // The largest bounds that are accepted give finite numbers.
    let fit = folder.json(&format!(
        "fit t.csv --header --feature-bounds=-1e100,1e100 --target-bounds=-1e100,1e100 {BUDGET}"
    ));
    assert!(["(Intercept)", "a", "b"].iter().all(|name| number(&fit, &["coefficients", name]).is_finite()));
    let means = folder.json(&format!("mean t.csv --header --feature-bounds=-1e100,1e100 {BUDGET}"));
    assert!(["a", "b", "y"].iter().all(|name| number(&means, &["means", name]).is_finite()));
}

#[test]
fn ragged_csv() {
    numeric("a,b,y\n1,2,3\n4,5\n").refuses(NUMERIC, 1, &["t.csv, line 3", "2 cells", "complete the line"]);
}

#[test]
fn empty_files() {
    numeric("").refuses(NUMERIC, 1, &["t.csv", "the file is empty", "export"]);
    numeric("a,b,y\n").refuses(NUMERIC, 1, &["no data rows (n = 0)"]);
    let folder = arrays(2);
    folder.write("X.npy", "");
    folder.refuses(&format!("{LOGISTIC} {BUDGET}"), 1, &["X.npy", "empty"]);
    folder.refuses(
        &format!("fit none.csv --feature-bounds=0,1 --binary {BUDGET}"),
        1,
        &["none.csv", "check the path"],
    );
}

#[test]
fn one_row() {
    let folder = numeric("a,b,y\n1,2,3\n");
    folder.refuses(NUMERIC, 1, &["n = 1", "at least 2"]);
    let plain = NUMERIC.replace(BUDGET, "--method reference");
    folder.refuses(&plain, 1, &["n = 1", "at least 2"]);
}

#[test]
fn no_features() {
    numeric("y\n1\n2\n").refuses(NUMERIC, 1, &["d = 0", "at least one column"]);
}

#[test]
fn duplicate_column_names() {
    numeric("a,a,y\n1,2,3\n4,5,6\n").refuses(NUMERIC, 1, &["`a`", "more than once"]);
}

#[test]
fn rows_of_two_files_that_do_not_match() {
    let folder = arrays(20);
    folder.write("y.npy", npy(0, &[1.0; 19]));
    folder.refuses(&format!("{LOGISTIC} {BUDGET}"), 1, &["19 responses for the 20 rows"]);
}

#[test]
fn a_constant_column_is_fitted() {
    let rows: String = (0..400).map(|i| format!("5,{},{}\n", i % 10, f64::from(i % 10) / 2.0)).collect();
    let folder = numeric(&format!("a,b,y\n{rows}"));
    for extra in ["--epsilon 4 --delta 1e-5", "--epsilon inf", "--method reference"] {
        let fit =
            folder.json(&format!("fit t.csv --header --feature-bounds=0,10 --target-bounds=0,10 {extra}"));
        assert!(
            ["(Intercept)", "a", "b"].iter().all(|n| number(&fit, &["coefficients", n]).is_finite()),
            "{extra}"
        );
    }
}

#[test]
fn non_positive_exposure() {
    let schema = "target = \"y\"\nexposure = \"e\"\n[columns]\na = { kind = \"real\", bounds = [0, 10] }\n\
                  e = { kind = \"real\", bounds = [LOWER, 2] }\ny = { kind = \"count\", bounds = [0, 10] }\n";
    let folder = numeric("a,e,y\n1,0,2\n2,-3,1\n3,1,0\n4,2,3\n");
    folder.write("s.toml", schema.replace("LOWER", "0.1"));
    // A cell at or below zero is raised to the lower bound.
    let fit = folder.json(&format!("fit t.csv --schema s.toml {BUDGET}"));
    assert!(number(&fit, &["coefficients", "(Intercept)"]).is_finite());
    folder.write("s.toml", schema.replace("LOWER", "0"));
    folder.refuses(
        &format!("fit t.csv --schema s.toml {BUDGET}"),
        1,
        &["exposure", "above 0", "raised to it"],
    );
}

#[test]
fn truncated_parquet() {
    let folder = Folder::new();
    folder.write("t.parquet", b"PAR1\x15\x04\x15\x20");
    folder.refuses(
        &format!("fit t.parquet --feature-bounds=0,1 --binary {BUDGET}"),
        1,
        &["t.parquet", "again"],
    );
}

/// The first line of such a file is somebody's row: neither a draft nor a message may hold a cell of it.
#[test]
fn a_first_line_that_is_a_row_is_never_shown() {
    let folder = people(20);
    let text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    folder.write("people.csv", text.split_once('\n').unwrap().1);
    let row: Vec<&str> = text.lines().nth(1).unwrap().split(',').filter(|cell| cell.len() > 2).collect();
    let undeclared = vec!["must be declared", "somebody's row", "--header or --no-header"];
    for (command, code, words) in [
        ("schema init people.csv", 2, undeclared.clone()),
        ("schema init people.csv --header", 1, vec!["line 1", "somebody's row", "--no-header"]),
        (PEOPLE_FIT, 1, vec!["8 of the file's 8 columns", "`age`", "names = [...]"]),
        (&format!("fit people.csv --feature-bounds=0,1 --binary {BUDGET}"), 2, undeclared.clone()),
        (&format!("mean people.csv --feature-bounds=0,1 {BUDGET}"), 2, undeclared),
    ] {
        folder.refuses(command, code, &words);
        let said = folder.run(command).stderr;
        assert!(row.iter().all(|cell| !said.contains(cell)), "{command}: {said}");
    }
    let draft = folder.run("schema init people.csv --no-header");
    assert_eq!(draft.code, 0, "{}", draft.stderr);
    assert!(draft.stdout.contains("names = [\"c1\", \"c2\"") && draft.stdout.contains("c8 = {"));
    assert!(row.iter().all(|cell| !draft.stdout.contains(cell)), "{}", draft.stdout);
}

#[test]
fn budgets_that_promise_nothing() {
    let folder = arrays(20);
    for (budget, words) in [
        ("--epsilon 0 --delta 1e-6", vec!["--epsilon", "above 0", "got 0", "between 0.1 and 4"]),
        ("--epsilon -1 --delta 1e-6", vec!["--epsilon", "got -1"]),
        ("--epsilon 1 --delta 0", vec!["--delta", "strictly between 0 and 1", "got 0", "below 1/n"]),
        ("--epsilon 1 --delta 1", vec!["--delta", "got 1"]),
        ("--epsilon 1", vec!["--delta is needed", "no default"]),
        ("--delta 1e-6", vec!["--epsilon is needed", "no default"]),
        ("--epsilon nan --delta 1e-6", vec!["--epsilon", "NaN"]),
    ] {
        folder.refuses(&format!("{LOGISTIC} {budget}"), 2, &words);
        folder.refuses(&format!("mean X.npy --feature-bounds=-1,1 {budget}"), 2, &words);
    }
}

/// Who grants a budget expects noise: a method without any refuses it, and an infinite epsilon has no delta.
#[test]
fn budgets_that_nothing_is_spent_of() {
    let folder = arrays(20);
    for (flags, words) in [
        (
            "--method reference --epsilon 1",
            vec!["--epsilon goes with a private method", "--method likelihood"],
        ),
        ("--method reference --delta 1e-6", vec!["--delta goes with a private method", "leave out --delta"]),
        ("--method reference --insecure-seed 1", vec!["--insecure-seed goes with a private method"]),
        ("--method iht --sparsity 1 --epsilon 1", vec!["--epsilon goes", "--method select-refine"]),
        ("--epsilon inf --delta 1e-6", vec!["--delta goes with a finite --epsilon", "leave out --delta"]),
        ("--tune clip=auto --method reference", vec!["--tune clip=auto", "not with reference"]),
    ] {
        folder.refuses(&format!("{LOGISTIC} {flags}"), 2, &words);
    }
    for (flags, words) in [
        ("--epsilon inf --delta 1e-6", vec!["--delta goes with a finite --epsilon"]),
        ("--epsilon 1 --delta 1e-6 --tune clip=auto", vec!["--tune clip=auto", "leave it out"]),
    ] {
        folder.refuses(&format!("mean X.npy --feature-bounds=-1,1 {flags}"), 2, &words);
    }
}

#[test]
fn no_bounds_no_fit() {
    let folder = numeric(ROWS);
    folder.refuses(&format!("fit t.csv {BUDGET}"), 2, &["--feature-bounds", "no default", "schema init"]);
    folder.refuses(&format!("fit t.csv --feature-bounds=0,10 {BUDGET}"), 2, &["--target-bounds", "--binary"]);
    folder.refuses(&format!("fit {NUMERIC_FLAGS} {BUDGET}"), 2, &["a table is needed"]);
}

const NUMERIC_FLAGS: &str = "--feature-bounds=0,10 --target-bounds=0,10";

#[test]
fn models_that_do_not_fit_together() {
    let folder = numeric(ROWS);
    for (extra, words) in [
        ("--family logistic", vec!["--family logistic", "--binary"]),
        ("--family multinomial", vec!["levels"]),
        ("--method statistics --radius 2", vec!["--radius", "--method statistics"]),
        ("--method reference --intervals 0.95", vec!["--intervals", "--method likelihood", "--epsilon inf"]),
        ("--method reference --radius 1", vec!["--radius", "--method reference"]),
        ("--method statistics --ridge 1", vec!["--ridge"]),
        ("--intervals 95", vec!["interval level", "from 0.5 to below 1", "got 95"]),
        ("--ridge -1", vec!["ridge", "at least 0"]),
        ("--radius 0", vec!["radius", "above 0"]),
    ] {
        folder.refuses(&format!("{NUMERIC} {extra}"), 2, &words);
    }
    let people = people(20);
    people.refuses(&format!("{PEOPLE_FIT} --unit age"), 2, &["`age`", "cannot also be a feature"]);
    people.refuses(&format!("{PEOPLE_FIT} --target none"), 2, &["`none`", "not declared"]);
    people.refuses(&format!("{PEOPLE_FIT} --unit none"), 1, &["`none`", "missing here"]);
    people.refuses(&format!("{PEOPLE_FIT} --unit none --dry-run --rows 20"), 1, &["`none`", "missing here"]);
    people.refuses(
        &format!("mean people.csv --schema schema.toml --unit id --method karwa-vadhan {BUDGET}"),
        2,
        &["karwa-vadhan", "unit `id`", "--method localise"],
    );
}

#[test]
fn unwritable_output() {
    let folder = numeric(ROWS);
    folder.refuses(&format!("{NUMERIC} --output none/fit.json"), 1, &["none/fit.json", "create the folder"]);
    folder.refuses(&format!("{NUMERIC} --output ."), 1, &["not a folder"]);
    // The place is tried before the table is read.
    folder.refuses(
        &format!("{} --output none/fit.json", NUMERIC.replace("t.csv", "absent.csv")),
        1,
        &["none/fit.json"],
    );
    folder.refuses(
        &format!("mean t.csv --header --feature-bounds=0,10 {BUDGET} --output none/m.json"),
        1,
        &["create the folder"],
    );
    folder.refuses(
        &format!("{NUMERIC} --output /proc/fit.json"),
        1,
        &["/proc/fit.json", "cannot be written"],
    );
    assert_eq!(folder.names(), ["t.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn disk_full() {
    let folder = numeric(ROWS);
    folder.refuses(&format!("{NUMERIC} --output /dev/full"), 1, &["/dev/full", "the disk is full"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dpglm"));
    let output =
        command.current_dir(folder.path("")).args(NUMERIC.split_whitespace()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write the result"));
    assert!(Path::new("/dev/full").exists());
}
