//! Nothing about how a file is read is told from its cells: whether there is a header, whose row it is and how many rows
//! there are do not depend on what a private cell says.

use dpglm_io::{Declared, ReadOptions, Response, UniformBounds, draft, read_table, read_uniform, shape};
use parquet::basic::Compression;

use crate::support::*;

const OPTIONS: ReadOptions = ReadOptions {
    precision: None,
    strict: false,
    format: None,
    delimiter: None,
    needs_target: true,
    constant_column: false,
};

fn uniform() -> UniformBounds {
    UniformBounds { intercept: false, ..UniformBounds::new(0.0, 10.0) }
}

/// First lines of a table of three columns, any of which may be somebody's row.
const FIRST: [&str; 7] =
    ["refused,unknown,dead", "NA,NA,NA", "1,2,3", "1,x,3", ",,", "a,a,a", "\"q,\",b\u{e9},-inf"];

/// Without a declaration a text file is refused, whatever its first line says, in words that hold none of its cells.
#[test]
fn an_undeclared_header_is_refused_whatever_the_first_line_says() {
    for line in FIRST {
        let file = sample("t.csv", format!("{line}\n4,5,6\n"));
        let messages = [
            message(read_uniform(&file.path, &uniform(), &OPTIONS)),
            message(shape(&file.path, Declared::Uniform(&uniform()), &OPTIONS)),
            message(draft(&file.path, None, false)),
        ];
        for m in messages {
            says(
                &m,
                &[
                    "header: ",
                    "t.csv",
                    "must be declared",
                    "its cells do not decide",
                    "`header` or `no header`",
                ],
            );
            let rest = m.replace(&file.path.display().to_string(), "").replace("somebody's", "");
            assert!(
                ["refused", "unknown", "dead", "NA", "q,", "inf"].iter().all(|cell| !rest.contains(cell)),
                "{m}"
            );
        }
    }
}

/// Declared, the first line is what was declared, whatever it says: the number of rows and the names do not depend on it.
#[test]
fn a_declared_header_does_not_depend_on_the_first_line() {
    for line in FIRST {
        let file = sample("t.csv", format!("{line}\n4,5,6\n"));
        let rows = read_uniform(&file.path, &uniform().with_header(false), &OPTIONS).unwrap();
        let names: Vec<&str> = rows.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!((rows.rows(), names), (2, vec!["x0", "x1", "x2"]), "{line}");
        // Names that repeat are a fault of the header, which was declared to be one.
        if !["a,a,a", "NA,NA,NA"].contains(&line) {
            let named = read_uniform(&file.path, &uniform().with_header(true), &OPTIONS).unwrap();
            assert_eq!(named.rows(), 1, "{line}");
        }
    }
    // A first label that is missing is a label.
    let x = sample("x.npy", npy("'<f8'", false, "(3, 1)", &f64_bytes(&[1.0, 2.0, 3.0])));
    for (first, value) in [("NA", 0.0), ("", 0.0), ("yes", 0.0), ("1", 1.0)] {
        let y = sample("y.csv", format!("{first}\n1\n0\n"));
        let uniform = uniform().with_binary_response(Response::File(y.path.clone())).with_header(false);
        let table = read_uniform(&x.path, &uniform, &OPTIONS).unwrap();
        assert_eq!(table.response, [value, 1.0, 0.0], "{first:?}");
        assert_eq!(table.target.unwrap().name, "y");
    }
}

#[test]
fn a_schema_is_a_declaration() {
    let columns = "x0 = { kind = \"real\", bounds = [0, 10] }\nx1 = { kind = \"real\", bounds = [0, 10] }\n";
    let without = format!("header = false\n[columns]\n{columns}");
    for line in ["1,2", "x0,x1", "dead,NA", "x0,dead"] {
        let table = read(&format!("{line}\n3,4\n"), &without).unwrap();
        assert_eq!(table.rows(), 2, "{line}");
    }
    // Without a word about it, and with one, the first line is the header: a row in its place is a column that is missing.
    for declared in [format!("[columns]\n{columns}"), format!("header = true\n[columns]\n{columns}")] {
        assert_eq!(read("x0,x1\n3,4\n", &declared).unwrap().rows(), 1);
        says(&message(read("1,2\n3,4\n", &declared)), &["`x0`, `x1`", "names = [...]"]);
    }
    let both = format!("header = true\nnames = [\"x0\", \"x1\"]\n[columns]\n{columns}");
    says(&message(dpglm_io::Schema::parse(&both)), &["header", "`names`", "take out one"]);
    // What an artefact carries is read back the same.
    let schema = schema(&without);
    let text = serde_json::to_string(&schema).unwrap();
    assert!(text.contains("\"header\":false"), "{text}");
    assert_eq!(serde_json::from_str::<dpglm_io::Schema>(&text).unwrap(), schema);
    let listed = dpglm_io::Schema::parse(&format!("names = [\"x1\", \"x0\"]\n[columns]\n{columns}")).unwrap();
    let file = sample("t.csv", "1,2\n");
    for (schema, first) in [(listed.clone().with_header(false).unwrap(), 2.0), (schema, 1.0)] {
        let table = read_table(&file.path, &schema, &OPTIONS).unwrap();
        assert_eq!(
            table.columns[0].scaling.center + table.columns[0].scaling.half_width * entries(&table)[0],
            first
        );
    }
    assert!(read_table(&file.path, &listed.with_header(true).unwrap(), &OPTIONS).is_err());
}

/// What says nothing about a file is refused, not passed over.
#[test]
fn declarations_that_say_nothing_are_refused() {
    let array = sample("x.npy", npy("'<f8'", false, "(1, 2)", &f64_bytes(&[1.0, 2.0])));
    let sparse = sample("t.libsvm", "1 1:1\n");
    let table = sample("t.parquet", people_parquet(Compression::SNAPPY));
    let text = sample("t.csv", "a,b\n1,2\n");
    let lists = Some(["indices".to_owned(), "values".to_owned()]);
    let declared = uniform().with_header(true);
    for (path, uniform, parts) in [
        (&array.path, uniform().with_header(true), ["x.npy is no delimited text", "`no header`"]),
        (&sparse.path, uniform().with_features(1).with_header(false), ["t.libsvm is no", "`header`"]),
        (&table.path, uniform().with_header(true), ["t.parquet is no", "leave out `header`"]),
        (&array.path, uniform().with_features(2), ["x.npy says itself", "leave out `columns`"]),
        (&table.path, uniform().with_features(2), ["t.parquet says itself", "`columns`"]),
        (&text.path, declared.clone().with_features(2), ["t.csv says itself", "`columns`"]),
        (
            &text.path,
            UniformBounds { lists: lists.clone(), ..declared },
            ["t.csv has no lists", "`sparse columns`"],
        ),
        (&table.path, UniformBounds { lists, ..uniform() }, ["t.parquet has no lists", "`sparse columns`"]),
    ] {
        says(&message(read_uniform(path, &uniform, &OPTIONS)), &parts);
        says(&message(shape(path, Declared::Uniform(&uniform), &OPTIONS)), &parts);
    }
    says(
        &message(draft(&table.path, Some(true), false)),
        &["names its columns itself", "leave out `header`"],
    );
    assert!(draft(&table.path, None, false).is_ok());
}

#[test]
fn a_unit_is_no_feature() {
    let file = sample("t.csv", "a,who,y\n1,ann,3\n4,bob,6\n7,ann,9\n1,,2\n");
    let declared = uniform().with_response(Response::LastColumn, 0.0, 10.0).with_header(true);
    let table = read_uniform(&file.path, &declared.clone().with_unit("who"), &OPTIONS).unwrap();
    assert_eq!(table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a"]);
    let units = table.units.unwrap();
    assert_eq!((units.of_row, units.count), (vec![0, 1, 0, 2], 3));
    let m = message(read_uniform(&file.path, &declared.clone().with_unit("id"), &OPTIONS));
    says(&m, &["there is no column `id` for the unit", "`a`, `who`, `y`"]);
    let m = message(read_uniform(&file.path, &declared.with_unit("y"), &OPTIONS));
    says(&m, &["`y`", "cannot be the target too", "`target`"]);
    let array = sample("x.npy", npy("'<f8'", false, "(1, 2)", &f64_bytes(&[1.0, 2.0])));
    let sparse = sample("t.libsvm", "1 1:1\n");
    let lists = sample("t.parquet", LIST_KINDS[0].file(&[some(&[0])], &[some(&[1.0])], &[1.0]));
    for (path, uniform) in [
        (&array.path, uniform()),
        (&sparse.path, uniform().with_features(1)),
        (&lists.path, uniform().with_features(1)),
    ] {
        for m in [
            message(read_uniform(path, &uniform.clone().with_unit("x0"), &OPTIONS)),
            message(shape(path, Declared::Uniform(&uniform.clone().with_unit("x0")), &OPTIONS)),
        ] {
            says(&m, &["unit: ", "have no names", "leave out `unit`"]);
        }
    }
    // In text without a header the columns are numbered.
    let file = sample("t.csv", "1,7\n2,8\n3,7\n");
    let table = read_uniform(&file.path, &uniform().with_header(false).with_unit("x1"), &OPTIONS).unwrap();
    assert_eq!(table.units.unwrap().of_row, [0, 1, 0]);
    // Rows without an id are one unit, however a file writes that.
    let declared = schema("unit = \"x1\"\n[columns]\nx0 = { kind = \"real\", bounds = [0, 9] }\n");
    let numbers = [1.0, 7.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 4.0, 7.0];
    let array = sample("x.npy", npy("'<f8'", false, "(4, 2)", &f64_bytes(&numbers)));
    assert_eq!(read_table(&array.path, &declared, &OPTIONS).unwrap().units.unwrap().of_row, [0, 1, 1, 0]);
}

/// A parser of text passes over blank lines; in a file of one column each is somebody without a value.
#[test]
fn a_blank_line_in_a_file_of_one_column_is_a_missing_cell() {
    for (text, rows) in [
        ("1\n\n2\n", 3),
        ("\n1\n2\n", 3),
        ("1\n2\n\n", 3),
        ("1\r\n\r\n2\r\n", 3),
        ("\r\n1\r\n2\r\n", 3),
        ("1\r\n2\r\n\r\n\r\n", 4),
        ("1\n2\r\n3\r\n", 3),
        ("1\nNA\n2", 3),
        ("1\n\"\"\n2\n", 3),
        ("1\n2\n", 2),
    ] {
        for header in [false, true] {
            let text = if header { format!("x\n{text}") } else { text.to_owned() };
            let file = sample("t.csv", &text);
            let table = read_uniform(&file.path, &uniform().with_header(header), &OPTIONS).unwrap();
            assert_eq!(table.rows(), rows, "{text:?}");
        }
    }
    let strict = ReadOptions { strict: true, ..OPTIONS };
    let file = sample("t.csv", "1\n\n2\n");
    says(&message(read_uniform(&file.path, &uniform().with_header(false), &strict)), &["row 2"]);
    // Other files have no such rows: a row of two missing cells has a delimiter.
    let file = sample("t.csv", "1,2\n\n,\n3,4\n");
    assert_eq!(read_uniform(&file.path, &uniform().with_header(false), &OPTIONS).unwrap().rows(), 3);
}

/// A comment stands before the table. A cell that begins as one does not make its row vanish.
#[test]
fn a_row_that_begins_like_a_comment_stays() {
    let declared = "comment = \"#\"\n[columns]\nname = { kind = \"ignore\" }\nb = { kind = \"real\", bounds = [0, 9] }\n";
    let text = "# from the archive\n# in two lines\nname,b\nann,1\n#1 fan,2\nbob,3\n";
    assert_eq!(read(text, declared).unwrap().rows(), 3);
    let m = message(read("# one\nname,b\nann,1\nbob\n", declared));
    says(&m, &["line 4", "1 cells"]);
    says(&message(read("# nothing else\n", declared)), &["the file is empty"]);
}
