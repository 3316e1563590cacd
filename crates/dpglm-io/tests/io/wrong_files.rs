//! Every wrong file has its own message; every bad cell follows the public rule.

use dpglm_io::{ReadOptions, Response, Schema, UniformBounds, read_table, read_uniform};
use parquet::basic::Compression;

use crate::support::*;

const STRICT: ReadOptions = ReadOptions {
    precision: None,
    strict: true,
    format: None,
    delimiter: None,
    needs_target: true,
    constant_column: false,
};

/// The message of strict mode for a file that the public rule accepts.
fn strict(text: &str) -> String {
    let file = sample("table.csv", text);
    assert!(read_table(&file.path, &schema(PEOPLE_SCHEMA), &ReadOptions::default()).is_ok());
    message(read_table(&file.path, &schema(PEOPLE_SCHEMA), &STRICT))
}

#[test]
fn a_file_that_is_not_there() {
    let missing = std::path::Path::new("/nowhere/table.csv");
    let m = message(read_table(missing, &schema(PEOPLE_SCHEMA), &ReadOptions::default()));
    says(&m, &["/nowhere/table.csv", "cannot be opened", "check the path"]);
}

#[test]
fn a_folder_without_files() {
    let folder = tempfile::tempdir().unwrap();
    let m = message(read_table(folder.path(), &schema(PEOPLE_SCHEMA), &ReadOptions::default()));
    says(&m, &["there is no file", "check the path"]);
}

#[test]
fn a_missing_column() {
    let m = message(read("age,visits,sex,id,income\n30,2,Male,a,50\n", PEOPLE_SCHEMA));
    says(&m, &["table.csv", "header", "`work`", "missing here", "5 of the file's 5 columns"]);
}

#[test]
fn a_column_that_is_not_declared() {
    let m = message(read("age,visits,sex,work,id,income,town\n30,2,Male,Private,a,50,x\n", PEOPLE_SCHEMA));
    says(&m, &["does not declare 1 of the file's 7 columns (number 7)", "ignore"]);
    assert!(!m.contains("town"), "{m}");
}

/// The first line of such a file is somebody's row: no cell of it may be printed.
#[test]
fn a_file_without_a_header_shows_no_cell() {
    for text in ["30,2,Male,Private,a17,50\n", "30,30,Male,Male,a17,50\n"] {
        let m = message(read(text, PEOPLE_SCHEMA));
        says(&m, &["table.csv", "names = [...]"]);
        for cell in ["30", "Male", "Private", "a17"] {
            assert!(!m.contains(cell), "{cell}: {m}");
        }
    }
    let m = message(read("30,2,Male,Private,a17,50\n", PEOPLE_SCHEMA));
    says(&m, &["6 of the file's 6 columns", "`age`", "`income`"]);
    // A file to predict for may have other columns, but not lack the model's.
    let file = sample("new.csv", "30,2,Male,Private,a17,50\n");
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    let m = message(read_table(&file.path, &schema(PEOPLE_SCHEMA), &options));
    says(&m, &["`age`", "0 of the file's 6 columns", "`no header`"]);
    assert!(!m.contains("a17") && !m.contains("Private"), "{m}");
}

#[test]
fn a_file_to_predict_for_may_have_more_columns() {
    let file = sample("new.csv", "town,age,visits,sex,work,id,town\nx,30,2,Male,Private,a,y\n");
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    let wider = read_table(&file.path, &schema(PEOPLE_SCHEMA), &options).unwrap();
    let file = sample("new.csv", "age,visits,sex,work,id\n30,2,Male,Private,a\n");
    let same = read_table(&file.path, &schema(PEOPLE_SCHEMA), &options).unwrap();
    assert_eq!(wider.columns, same.columns);
    assert_eq!(entries(&wider), entries(&same));
}

#[test]
fn the_wrong_delimiter() {
    let m = message(read("age;visits;sex;work;id;income\n30;2;Male;Private;a;50\n", PEOPLE_SCHEMA));
    says(&m, &["delimiter = ';'"]);
}

#[test]
fn a_ragged_line() {
    let m = message(read(&format!("{PEOPLE}41,3,Male,Private,c\n"), PEOPLE_SCHEMA));
    says(&m, &["table.csv, line 4", "5 cells", "the first line has 6", "complete the line"]);
}

#[test]
fn an_unclosed_quote() {
    let m = message(read("age,visits,sex,work,id,income\n30,2,Male,\"Private,a,50\n1,2\n", PEOPLE_SCHEMA));
    says(&m, &["line 2", "close open quotes"]);
}

#[test]
fn duplicate_column_names() {
    let m = message(read("age,visits,sex,work,id,age\n30,2,Male,Private,a,50\n", PEOPLE_SCHEMA));
    says(&m, &["`age` occurs more than once", "name of its own"]);
    let file = sample("wide.csv", "a,b,a\n1,2,3\n");
    says(
        &message(read_uniform(
            &file.path,
            &UniformBounds::new(0.0, 9.0).with_header(true),
            &ReadOptions::default(),
        )),
        &["`a` occurs more than once"],
    );
}

#[test]
fn an_empty_file_of_every_format() {
    for name in ["t.csv", "t.parquet", "t.npy", "t.libsvm", "t.csv.gz"] {
        let file = sample(name, "");
        let uniform = match name {
            "t.libsvm" => UniformBounds::new(0.0, 1.0).with_features(3),
            text if text.contains("csv") => UniformBounds::new(0.0, 1.0).with_header(true),
            _ => UniformBounds::new(0.0, 1.0),
        };
        let m = message(read_uniform(&file.path, &uniform, &ReadOptions::default()));
        says(&m, &[name, "the file is empty", "export"]);
    }
    says(&message(read("\n\n", PEOPLE_SCHEMA)), &["the file is empty"]);
}

#[test]
fn a_header_and_nothing_else() {
    let m = message(read("age,visits,sex,work,id,income\n", PEOPLE_SCHEMA));
    says(&m, &["no data rows (n = 0)"]);
}

#[test]
fn one_row_is_a_table() {
    let table = read("age,visits,sex,work,id,income\n30,2,Male,Private,a,50\n", PEOPLE_SCHEMA).unwrap();
    assert_eq!((table.rows(), table.response.len()), (1, 1));
}

#[test]
fn no_feature_columns() {
    let only_target = "target = \"y\"\n[columns]\ny = { kind = \"real\", bounds = [0, 1] }\n";
    says(&message(read("y\n0.5\n", only_target)), &["no feature columns", "d = 0", "not ignored"]);
}

#[test]
fn a_column_of_one_value_is_fine() {
    let table =
        read("age,visits,sex,work,id,income\n30,1,Male,Private,a,1\n30,1,Male,Private,b,1\n", PEOPLE_SCHEMA);
    assert_eq!(table.unwrap().rows(), 2);
}

#[test]
fn target_outside_its_domain() {
    let text = "age,visits,sex,work,id,income\n30,1,Male,Private,a,-5\n30,1,Male,Private,b,1e9\n";
    assert_eq!(read(text, PEOPLE_SCHEMA).unwrap().response, [0.0, 100.0]);
    says(&strict(text), &["row 1, column `income`", "outside the declared bounds", "clamped"]);

    let labels = "x,y\n1,no\n1,yes\n1,maybe\n1,\n";
    let binary = "target = \"y\"\n[columns]\nx = { kind = \"real\", bounds = [0, 1] }\n\
                  y = { kind = \"binary\", levels = [\"no\", \"yes\"], fill = \"yes\" }\n";
    assert_eq!(read(labels, binary).unwrap().response, [0.0, 1.0, 1.0, 1.0]);
    let dropped = read(labels, &format!("missing = \"drop\"\n{binary}")).unwrap();
    assert_eq!(dropped.weights.unwrap(), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn nan_infinite_and_unreadable_cells() {
    for bad in ["NaN", "inf", "-inf", "1e999", "", "NA", "?", "forty", "\"\""] {
        let text =
            format!("age,visits,sex,work,id,income\n30,1,Male,Private,a,1\n{bad},1,Male,Private,b,1\n");
        let table = read(&text, PEOPLE_SCHEMA).unwrap();
        assert_eq!(entries(&table)[5], 0.0, "the midpoint stands in for {bad:?}");
        let dropped = read(&text, &format!("missing = \"drop\"\n{PEOPLE_SCHEMA}")).unwrap();
        assert_eq!((dropped.rows(), dropped.weights.unwrap()), (2, vec![1.0, 0.0]));
        let m = strict(&text);
        says(&m, &["table.csv, row 2, column `age`", "missing, not a number, NaN or infinite", "fill value"]);
        assert!(!m.contains("forty"), "a private value in {m}");
    }
}

#[test]
fn a_level_that_is_not_declared() {
    let text = "age,visits,sex,work,id,income\n30,1,Male,Circus,a,1\n30,1,Male,State,b,1\n";
    let table = read(text, PEOPLE_SCHEMA).unwrap();
    assert_eq!(entries(&table)[3..5], [0.0, 0.0], "the reference");
    says(&strict(text), &["row 1, column `work`", "not a declared level", "reference level"]);
    let with_fill = PEOPLE_SCHEMA.replace("\"Self\"]", "\"Self\"], fill = \"Self\"");
    let filled = read(text, &format!("undeclared = \"missing\"\n{with_fill}")).unwrap();
    assert_eq!(entries(&filled)[3..5], [0.0, 1.0], "the fill level");
    assert_eq!(filled.curator.to_string(), "column `work`: 1 not a declared level");
}

#[test]
fn an_exposure_that_is_not_positive() {
    let declared = "exposure = \"time\"\ntarget = \"y\"\n[columns]\ntime = { kind = \"real\", bounds = [0.1, 2] }\n\
                    x = { kind = \"real\", bounds = [0, 1] }\ny = { kind = \"count\", bounds = [0, 5] }\n";
    let table = read("time,x,y\n1,0,1\n0,0,1\n-3,0,1\n,0,9\n", declared).unwrap();
    assert_eq!(table.exposure.unwrap(), [1.0, 0.1, 0.1, 1.05]);
    assert_eq!(table.response, [1.0, 1.0, 1.0, 5.0]);
    assert_eq!(table.columns.len(), 1, "the exposure is no feature");
}

#[test]
fn a_truncated_parquet_file() {
    let whole = people_parquet(Compression::SNAPPY);
    for length in [4, 7, 8, 50, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        let file = sample("t.parquet", &whole[..length]);
        let m = message(read_table(&file.path, &schema(PARQUET_SCHEMA), &ReadOptions::default()));
        says(&m, &["t.parquet", "not a whole Parquet file", "cut short"]);
    }
}

#[test]
fn a_truncated_npy_file() {
    let whole = npy("'<f8'", false, "(3, 2)", &f64_bytes(&[1.0; 6]));
    for length in [6, 9, 40, 127, 128, whole.len() - 1] {
        let file = sample("x.npy", &whole[..length]);
        let m = message(read_uniform(&file.path, &UniformBounds::new(0.0, 1.0), &ReadOptions::default()));
        says(&m, &["x.npy", "not a whole NumPy array", "cut short", "again"]);
    }
    let longer = sample("x.npy", [&whole[..], &[0; 8]].concat());
    says(
        &message(read_uniform(&longer.path, &UniformBounds::new(0.0, 1.0), &ReadOptions::default())),
        &["8 bytes after the end", "one array a file"],
    );
}

#[test]
fn arrays_that_are_not_read() {
    for (descr, shape, parts) in [
        ("'|O'", "(1,)", ["never unpickled", "astype"]),
        ("'>f8'", "(1,)", ["big-endian", "astype"]),
        ("[('a', '<f8')]", "(1,)", ["records", "plain matrix"]),
        ("'<c16'", "(1,)", ["type <c16", "astype"]),
        ("'<f8'", "(1, 1, 1)", ["3 dimensions", "reshape"]),
        ("'<f8'", "()", ["0 dimensions", "reshape"]),
    ] {
        let file = sample("x.npy", npy(descr, false, shape, &[0; 8]));
        says(
            &message(read_uniform(&file.path, &UniformBounds::new(0.0, 1.0), &ReadOptions::default())),
            &[&["x.npy, header"], &parts[..]].concat(),
        );
    }
}

#[test]
fn an_archive_in_place_of_a_table() {
    let file = sample("x.zip", b"PK\x03\x04rest");
    let m = message(read_uniform(&file.path, &UniformBounds::new(0.0, 1.0), &ReadOptions::default()));
    says(&m, &["zip archive", ".npz"]);
}

#[test]
fn truncated_compressed_text() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, "a,b\n1,2\n".repeat(1000).as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let file = sample("t.csv.gz", &whole[..whole.len() - 12]);
    let m = message(read_uniform(
        &file.path,
        &UniformBounds::new(0.0, 2.0).with_header(true),
        &ReadOptions::default(),
    ));
    says(&m, &["t.csv.gz", "cannot be read", "cut short"]);
}

#[test]
fn libsvm_indices() {
    for (text, part) in [
        ("1 0:1\n", "an index is 0"),
        ("1 1:1 1:2\n", "repeated"),
        ("1 1:1\n1 3:1 2:2\n", "line 2: the indices are not ascending"),
        ("1 a:1\n", "not a whole number"),
        ("1 7\n", "index:value"),
        ("1 :1\n", "not a whole number"),
        ("1 1:1\n1 -3:1\n", "line 2: an index is negative"),
    ] {
        let file = sample("t.libsvm", text);
        let uniform =
            UniformBounds::new(0.0, 1.0).with_binary_response(Response::LastColumn).with_features(9);
        says(&message(read_uniform(&file.path, &uniform, &ReadOptions::default())), &["t.libsvm", part]);
    }
    let file = sample("t.libsvm", "1 1:1\n");
    let uniform = UniformBounds::new(0.0, 1.0).with_features(99_999_999);
    says(&message(read_uniform(&file.path, &uniform, &ReadOptions::default())), &["columns are too many"]);
    let bounds = UniformBounds::new(1.0, 2.0).with_features(9);
    says(&message(read_uniform(&file.path, &bounds, &ReadOptions::default())), &["must hold 0", "widen"]);
}

#[test]
fn a_response_that_does_not_fit() {
    let x = sample("x.npy", npy("'<f8'", false, "(3, 2)", &f64_bytes(&[1.0; 6])));
    let y = sample("y.npy", npy("'<f8'", false, "(2,)", &f64_bytes(&[1.0; 2])));
    let uniform = UniformBounds::new(0.0, 1.0).with_response(Response::File(y.path.clone()), 0.0, 1.0);
    let m = message(read_uniform(&x.path, &uniform, &ReadOptions::default()));
    says(&m, &["y.npy", "2 responses for the 3 rows of", "x.npy"]);
    let uniform = UniformBounds::new(0.0, 1.0).with_response(Response::File(x.path.clone()), 0.0, 1.0);
    says(
        &message(read_uniform(&x.path, &uniform, &ReadOptions::default())),
        &["one column, this file has 2"],
    );
}

#[test]
fn a_header_that_is_not_text() {
    let file = sample("t.csv", b"a\xff,b\n1,2\n");
    let m = message(read_uniform(
        &file.path,
        &UniformBounds::new(0.0, 9.0).with_header(true),
        &ReadOptions::default(),
    ));
    says(&m, &["column 1 is not UTF-8"]);
}

#[test]
fn a_schema_file_that_is_not_there() {
    says(
        &message(Schema::load(std::path::Path::new("/nowhere/s.toml"))),
        &["/nowhere/s.toml", "check the path"],
    );
    let file = sample("s.toml", PEOPLE_SCHEMA.replace("[10, 90]", "[90, 10]"));
    says(&message(Schema::load(&file.path)), &["s.toml, columns.age.bounds", "[90, 10]"]);
}
