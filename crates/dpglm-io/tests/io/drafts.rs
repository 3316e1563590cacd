//! A draft names and guesses, and is refused until its blanks are filled.

use dpglm_io::{Schema, draft};
use parquet::basic::Compression;

use crate::support::*;

#[test]
fn a_draft_fails_until_its_blanks_are_filled() {
    let file = sample("t.csv", PEOPLE);
    let text = draft(&file.path).unwrap();
    says(&text, &["leak", "left blank on purpose", "age = { kind = \"real\", bounds = [] }"]);
    says(&text, &["sex = { kind = \"category\", levels = [] }"]);
    assert!(!text.contains("Male") && !text.contains("Private"), "a draft holds no cell");
    let m = message(Schema::parse(&text));
    says(
        &m,
        &["`target`", "`columns.age.bounds`", "`columns.sex.levels`", "still blank", "public knowledge"],
    );

    let filled = text
        .replace("target = \"\"", "target = \"income\"")
        .replace("bounds = []", "bounds = [0, 100]")
        .replace("levels = []", "levels = [\"a\", \"b\"]");
    assert_eq!(Schema::parse(&filled).unwrap().columns().len(), 6);
}

#[test]
fn a_draft_for_parquet_reads_types_only() {
    let file = sample("t.parquet", people_parquet(Compression::SNAPPY));
    let text = draft(&file.path).unwrap();
    says(&text, &["age = { kind = \"real\"", "work = { kind = \"category\""]);
    says(&text, &["member = { kind = \"binary\", levels = [\"false\", \"true\"] }"]);
}

#[test]
fn names_that_need_quotes() {
    let file = sample("t.csv", "\"my \"\"age\"\"\",b c,d.e,f\\g,h\u{7}i,jø\n1,2,3,4,5,6\n");
    let text = draft(&file.path).unwrap().replace("bounds = []", "bounds = [0, 9]");
    let parsed = Schema::parse(&text.replace("target = \"\"", "")).unwrap();
    let names: Vec<&str> = parsed.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["my \"age\"", "b c", "d.e", "f\\g", "h\u{7}i", "jø"]);
}

#[test]
fn files_without_names_need_no_schema() {
    let file = sample("x.npy", npy("'<f8'", false, "(1,)", &f64_bytes(&[7.0])));
    says(&message(draft(&file.path)), &["no schema is needed", "feature bounds"]);
}
