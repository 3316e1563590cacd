//! A draft names and guesses, and is refused until its blanks are filled.

use dpglm_io::{Schema, draft};
use parquet::basic::Compression;

use crate::support::*;

#[test]
fn a_draft_fails_until_its_blanks_are_filled() {
    let file = sample("t.csv", PEOPLE);
    let text = draft(&file.path, Some(true), false).unwrap();
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
    let text = draft(&file.path, None, false).unwrap();
    says(&text, &["age = { kind = \"real\"", "work = { kind = \"category\""]);
    says(&text, &["member = { kind = \"binary\", levels = [\"false\", \"true\"] }"]);
}

#[test]
fn names_that_need_quotes() {
    let file = sample("t.csv", "\"my \"\"age\"\"\",b c,d.e,f\\g,h\u{7}i,jø\n1,2,3,4,5,6\n");
    let text = draft(&file.path, Some(true), false).unwrap().replace("bounds = []", "bounds = [0, 9]");
    let parsed = Schema::parse(&text.replace("target = \"\"", "")).unwrap();
    let names: Vec<&str> = parsed.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["my \"age\"", "b c", "d.e", "f\\g", "h\u{7}i", "jø"]);
}

#[test]
fn files_without_names_need_no_schema() {
    let file = sample("x.npy", npy("'<f8'", false, "(1,)", &f64_bytes(&[7.0])));
    says(&message(draft(&file.path, Some(true), false)), &["no schema is needed", "feature bounds"]);
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
        let m = message(draft(&file.path, Some(true), false));
        says(&m, &[why, "`no header`", "line 1"]);
        for cell in ["39", "77516", "State-gov", "Ann", "Berlin"] {
            assert!(!m.contains(cell), "{cell}: {m}");
        }
        let text = draft(&file.path, Some(false), false).unwrap();
        says(&text, &["names = [\"c1\", \"c2\", \"c3\"]", "c2 = { kind = "]);
        for cell in ["39", "77516", "State-gov", "Ann", "Berlin"] {
            assert!(!text.contains(cell), "{cell}: {text}");
        }
    }
}

#[test]
fn a_draft_for_a_file_without_a_header_reads_it_once_filled_in() {
    let file = sample("t.csv", "39,State-gov,7\n50,Private,8\n");
    let text = draft(&file.path, Some(false), false)
        .unwrap()
        .replace("target = \"\"", "target = \"c3\"")
        .replace("bounds = []", "bounds = [0, 100]")
        .replace("levels = []", "levels = [\"Private\", \"State-gov\"]");
    let schema = Schema::parse(&text).unwrap();
    let table = dpglm_io::read_table(&file.path, &schema, &dpglm_io::ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.response.as_slice()), (2, [7.0, 8.0].as_slice()));
    let file = sample("t.parquet", people_parquet(Compression::SNAPPY));
    says(&message(draft(&file.path, Some(false), false)), &["names its columns"]);
}

/// Kinds, a delimiter and hints are guesses for the curator; none of them holds a number or a text of a cell.
#[test]
fn drafts_guess_more_than_types() {
    let rows = "12,5;1;;NA;3;oui;7\n13,5;0;;;NA;non;0\n14,1;1;;?;5;oui;0\n";
    let file = sample("t.csv", format!("weight;member;empty;none;visits;text;age\n{rows}"));
    let text = draft(&file.path, Some(true), true).unwrap();
    says(&text, &["delimiter = \";\"", "member = { kind = \"binary\", levels = [\"0\", \"1\"] }\n"]);
    says(
        &text,
        &[
            "empty = { kind = \"real\", bounds = [] }  # no cell in the first rows",
            "none = { kind = \"real\"",
        ],
    );
    says(
        &text,
        &["visits = { kind = \"real\", bounds = [] }  # a number of things", "text = { kind = \"category\""],
    );
    says(&text, &["age = { kind = \"real\", bounds = [] }  # age in years: [0, 110] is common"]);
    assert!(!text.contains("oui") && !text.contains("12,5"), "{text}");
    let plain = draft(&file.path, Some(true), false).unwrap();
    assert!(!plain.contains("is common"), "{plain}");
    let filled = text
        .replace("target = \"\"", "target = \"member\"")
        .replace("bounds = []", "bounds = [0, 100]")
        .replace("levels = []", "levels = [\"non\", \"oui\"]");
    let schema = Schema::parse(&filled).unwrap();
    let table = dpglm_io::read_table(&file.path, &schema, &dpglm_io::ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.response.as_slice()), (3, [1.0, 0.0, 1.0].as_slice()));
    // A column of zeros is no 0/1 column, and tabs are told in files of any name.
    let file = sample("t.txt", "a\tb\n0\t1\n0\t0\n");
    let text = draft(&file.path, Some(true), false).unwrap();
    says(&text, &["delimiter = \"\\t\"", "a = { kind = \"real\", bounds = [] }", "b = { kind = \"binary\""]);
    // Where commas are usual and split every line, they are not told.
    let file = sample("t.csv", "a,b\n1,x;y;z\n");
    assert!(!draft(&file.path, Some(true), false).unwrap().contains("delimiter ="));
}

#[test]
fn a_check_says_what_columns_are_read_as_and_shows_no_cell() {
    let schema = Schema::parse(
        "target = \"income\"\nunit = \"id\"\nundeclared = \"missing\"\n[columns]\nage = { kind = \"real\", bounds = [18, 98], fill = 40 }\n\
         work = { kind = \"category\", levels = [\"Private\", \"State\", \"Self\"], reference = \"State\" }\n\
         income = { kind = \"count\", bounds = [0, 10] }\n",
    )
    .unwrap();
    let text = dpglm_io::check(&schema, None).unwrap();
    says(&text, &["age", "[18, 98]", "a missing cell as 40", "2 columns of 0 and 1 against \"State\""]);
    says(&text, &["income (target)", "count", "as a missing one", "`id`", "valid"]);
    let file = sample("t.csv", "id,age,work,income\n1,77,Private,3\n");
    let text = dpglm_io::check(&schema, Some(&file.path)).unwrap();
    says(&text, &["has the declared columns, 4 in all"]);
    assert!(!text.contains("77"), "{text}");
    let file = sample("t.csv", "id,years,work,income\n1,77,Private,3\n");
    says(
        &message(dpglm_io::check(&schema, Some(&file.path))),
        &["does not declare 1 of the file's 4 columns", "`age`"],
    );
}

/// The reference page names every field that a schema can have. The fields come from the parser's own list.
#[test]
fn every_field_is_on_the_reference_page() {
    let page = include_str!("../../../../docs/schema.md");
    for wrong in ["nonsense = 1\n[columns]\n", "[columns]\na = { kind = \"real\", nonsense = 1 }\n"] {
        let m = message(Schema::parse(wrong));
        let (_, fields) = m.split_once("expected one of ").unwrap();
        let fields: Vec<&str> =
            fields.split('`').skip(1).step_by(2).take_while(|f| !f.contains(' ')).collect();
        assert!(fields.len() >= 5, "{m}");
        for field in fields {
            assert!(page.contains(&format!("| `{field}` |")), "docs/schema.md does not explain {field}");
        }
    }
}
