//! A draft names and guesses, and is refused until its blanks are filled.

use dpglm_io::{Schema, draft};
use parquet::basic::Compression;

use crate::support::*;

#[test]
fn a_draft_fails_until_its_blanks_are_filled() {
    let file = sample("t.csv", PEOPLE);
    let text = draft(&file.path, Some(true)).unwrap();
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
    let text = draft(&file.path, None).unwrap();
    says(&text, &["age = { kind = \"real\"", "work = { kind = \"category\""]);
    says(&text, &["member = { kind = \"binary\", levels = [\"false\", \"true\"] }"]);
}

#[test]
fn names_that_need_quotes() {
    let file = sample("t.csv", "\"my \"\"age\"\"\",b c,d.e,f\\g,h\u{7}i,jø\n1,2,3,4,5,6\n");
    let text = draft(&file.path, Some(true)).unwrap().replace("bounds = []", "bounds = [0, 9]");
    let parsed = Schema::parse(&text.replace("target = \"\"", "")).unwrap();
    let names: Vec<&str> = parsed.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["my \"age\"", "b c", "d.e", "f\\g", "h\u{7}i", "jø"]);
}

#[test]
fn files_without_names_need_no_schema() {
    let file = sample("x.npy", npy("'<f8'", false, "(1,)", &f64_bytes(&[7.0])));
    says(&message(draft(&file.path, Some(true))), &["no schema is needed", "feature bounds"]);
}

/// The first line of a file without a header is somebody's row: it must not become the names of a draft.
#[test]
fn a_first_line_that_may_be_a_row_is_refused() {
    for (line, why) in [
        ("39,State-gov,77516", "cell 1 of the first line is a number"),
        ("Ann,State-gov,", "cell 3 of the first line is empty"),
        ("Ann,?,Male", "cell 2 of the first line is a number or missing"),
        ("Ann,Berlin,Berlin", "cell 3 of the first line repeats another"),
    ] {
        let file = sample("t.csv", format!("{line}\n50,Private,83311\n"));
        let m = message(draft(&file.path, Some(true)));
        says(&m, &[why, "--no-header", "line 1"]);
        for cell in ["39", "77516", "State-gov", "Ann", "Berlin"] {
            assert!(!m.contains(cell), "{cell}: {m}");
        }
        let text = draft(&file.path, Some(false)).unwrap();
        says(&text, &["names = [\"c1\", \"c2\", \"c3\"]", "c2 = { kind = "]);
        for cell in ["39", "77516", "State-gov", "Ann", "Berlin"] {
            assert!(!text.contains(cell), "{cell}: {text}");
        }
    }
}

#[test]
fn a_draft_for_a_file_without_a_header_reads_it_once_filled_in() {
    let file = sample("t.csv", "39,State-gov,7\n50,Private,8\n");
    let text = draft(&file.path, Some(false))
        .unwrap()
        .replace("target = \"\"", "target = \"c3\"")
        .replace("bounds = []", "bounds = [0, 100]")
        .replace("levels = []", "levels = [\"Private\", \"State-gov\"]");
    let schema = Schema::parse(&text).unwrap();
    let table = dpglm_io::read_table(&file.path, &schema, &dpglm_io::ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.response.as_slice()), (2, [7.0, 8.0].as_slice()));
    let file = sample("t.parquet", people_parquet(Compression::SNAPPY));
    says(&message(draft(&file.path, Some(false))), &["names its columns"]);
}
