//! `missing = "indicator"`: a cell is filled, and a column says where.

use dpglm_io::{ReadOptions, Schema, read_table};

use crate::support::*;

const SCHEMA: &str = r#"
target = "y"
missing = "indicator"
scale = "none"
[columns]
age = { kind = "real", bounds = [0, 100], fill = 40 }
size = { kind = "real", bounds = [0, 10] }
work = { kind = "category", levels = ["a", "b", "c"] }
y = { kind = "real", bounds = [0, 1] }
"#;

const ROWS: &str = "age,size,work,y\n30,2,b,0.5\n,3,c,0.25\n50,nan,,0.1\n20,1,a,\n";

#[test]
fn a_column_says_where_cells_are_missing() {
    let file = sample("t.csv", ROWS);
    let schema = Schema::parse(SCHEMA).unwrap();
    let options = ReadOptions::default();
    let table = read_table(&file.path, &schema, &options).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["age", "age=missing", "size", "size=missing", "work=b", "work=c", "work=missing"]);
    #[rustfmt::skip]
    assert_eq!(entries(&table), [
        30.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0,
        40.0, 1.0, 3.0, 0.0, 0.0, 1.0, 0.0,
        50.0, 0.0, 5.0, 1.0, 0.0, 0.0, 1.0,
        20.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0,
    ]);
    // What is explained has no column that could say so: its row is dropped.
    assert_eq!(table.weights.as_deref(), Some(&[1.0, 1.0, 1.0, 0.0][..]));
    assert!(schema.shape(8, 4).dropped);
    assert_eq!(schema.undeclared_fills(), [("size", 5.0)]);
    // The columns follow from the schema alone.
    assert_eq!(schema.encoded().unwrap().0, table.columns);
    let strict = ReadOptions { strict: true, ..options };
    says(&message(read_table(&file.path, &schema, &strict)), &["row 2", "`age`", "a column says so"]);
}

#[test]
fn a_formula_has_them_for_what_it_names() {
    let file = sample("t.csv", ROWS);
    let schema = Schema::parse(SCHEMA).unwrap().with_formula(Some("y ~ I(age / 10) + work")).unwrap();
    let table = read_table(&file.path, &schema, &ReadOptions::default()).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["I(age / 10)", "work=b", "work=c", "age=missing", "work=missing"]);
    #[rustfmt::skip]
    assert_eq!(entries(&table), [
        3.0, 1.0, 0.0, 0.0, 0.0,
        4.0, 0.0, 1.0, 1.0, 0.0,
        5.0, 0.0, 0.0, 0.0, 1.0,
        2.0, 0.0, 0.0, 0.0, 0.0,
    ]);
    assert_eq!(table.weights.as_deref(), Some(&[1.0, 1.0, 1.0, 0.0][..]));
}

#[test]
fn names_must_be_told_apart_and_sparse_rows_have_none() {
    let twice = SCHEMA.replace("\"c\"]", "\"missing\"]");
    let file = sample("t.csv", ROWS);
    let twice = Schema::parse(&twice).unwrap();
    says(&message(read_table(&file.path, &twice, &ReadOptions::default())), &["work=missing", "rename"]);
}
