//! Each format is read to the same table.

use dpglm::release::Estimator;
use std::io::Write;

use dpglm::central::{Glm, Privacy};
use dpglm::data::Dataset;
use dpglm::data::design::Storage;
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm_io::{
    Declared, Precision, ReadOptions, Response, Scale, Shape, UniformBounds, read_table, read_uniform, shape,
};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};

use crate::support::*;

const OPTIONS: ReadOptions = ReadOptions {
    precision: None,
    strict: false,
    format: None,
    delimiter: None,
    needs_target: true,
    constant_column: false,
};

/// Features as they are, so that a test can read them.
fn plain(lower: f64, upper: f64) -> UniformBounds {
    UniformBounds { scale: Scale::None, ..UniformBounds::new(lower, upper) }
}

#[test]
fn a_table_under_a_schema() {
    let table = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["age", "visits", "sex=Male", "work=State", "work=Self"]);
    assert_eq!(entries(&table), [-0.5, -0.6, 1.0, 0.0, 0.0, 0.0, -1.0, -1.0, 1.0, 0.0]);
    assert_eq!(table.response, [50.0, 20.0]);
    assert!(table.weights.is_none() && table.exposure.is_none() && table.units.is_none());
    assert_eq!(table.norm_bound(), 2.0);
}

#[test]
fn columns_keep_the_order_of_the_schema_not_of_the_file() {
    let shuffled = "income,work,id,sex,visits,age\n50,Private,a,Male,2,30\n20,State,b,Female,0,50\n";
    let (a, b) = (read(PEOPLE, PEOPLE_SCHEMA).unwrap(), read(shuffled, PEOPLE_SCHEMA).unwrap());
    assert_eq!(entries(&a), entries(&b));
    assert_eq!(a.columns, b.columns);
}

#[test]
fn compressed_text() {
    let plain = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(PEOPLE.as_bytes()).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(PEOPLE.as_bytes()).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(PEOPLE.as_bytes()).unwrap();
    for (name, bytes) in [
        ("t.csv.gz", gz.finish().unwrap()),
        ("t.csv.bz2", bz2.finish().unwrap()),
        ("t.csv.xz", xz.finish().unwrap()),
    ] {
        let file = sample(name, bytes);
        let table = read_table(&file.path, &schema(PEOPLE_SCHEMA), &OPTIONS).unwrap();
        assert_eq!(entries(&table), entries(&plain), "{name}");
    }
}

#[test]
fn text_without_a_header_with_comments_spaces_and_a_byte_order_mark() {
    let declared = "names = [\"a\", \"b\"]\ndelimiter = \";\"\ncomment = \"|\"\nscale = \"none\"\n[columns]\n\
                    a = { kind = \"real\", bounds = [0, 9] }\nb = { kind = \"real\", bounds = [0, 9] }\n";
    let table = read("| from the archive\n 1 ; 2\n3;4\n", declared).unwrap();
    assert_eq!(entries(&table), [1.0, 2.0, 3.0, 4.0]);
    let marked = read(&format!("\u{feff}{PEOPLE}"), PEOPLE_SCHEMA).unwrap();
    assert_eq!(marked.rows(), 2);
    says(&message(read("1;2;3\n", declared)), &["the schema names 2 columns, this line has 3"]);
}

#[test]
fn lines_of_json_say_what_delimited_text_says() {
    let declared = "target = \"y\"\nmissing = \"drop\"\n[columns]\nx = { kind = \"real\", bounds = [0, 9] }\n\
                    who = { kind = \"category\", levels = [\"a\", \"b\"] }\ny = { kind = \"binary\", levels = [\"false\", \"true\"] }\n";
    let text = read("x,who,y\n1.5,a,true\n3,b,false\n,b,true\n", declared).unwrap();
    let lines = "{\"x\": 1.5, \"who\": \"a\", \"y\": true}\n\n{\"y\": false, \"x\": 3, \"who\": \" b \"}\n\
                 {\"x\": null, \"who\": \"b\", \"y\": true}\n";
    let file = sample("t.jsonl", lines);
    let table = read_table(&file.path, &schema(declared), &OPTIONS).unwrap();
    assert_eq!(entries(&table), entries(&text));
    assert_eq!((table.response, table.weights), (text.response, text.weights));
    let draft = dpglm_io::draft(&file.path, None, true).unwrap();
    assert!(draft.contains("y = { kind = \"binary\"") && draft.contains("x = { kind = \"real\""), "{draft}");
    says(&message(dpglm_io::draft(&file.path, Some(true), true)), &["in every line", "`header`"]);

    let wrong = |line: &str| {
        let first = "{\"x\": 1, \"who\": \"a\", \"y\": true}\n";
        let file = sample("t.ndjson", format!("{first}{line}\n"));
        message(read_table(&file.path, &schema(declared), &OPTIONS))
    };
    for (line, problem) in [
        ("{\"x\": 1, \"who\": \"secret\"}", "the keys are not those of the first line"),
        (
            "{\"x\": 1, \"who\": \"secret\", \"y\": true, \"z\": 1}",
            "the keys are not those of the first line",
        ),
        ("{\"x\": 1, \"who\": \"secret\", \"who\": \"a\", \"y\": true}", "each key once"),
        ("\"secret\"", "no JSON object"),
        ("{\"x\": 1, \"who\": \"secret\"", "no JSON object"),
    ] {
        let said = wrong(line);
        says(&said, &["t.ndjson", "line 2", problem]);
        assert!(!said.contains("secret"), "{said}");
    }
    says(
        &message(read_table(&sample("t.jsonl", "\n").path, &schema(declared), &OPTIONS)),
        &["the file is empty"],
    );
}

/// Whether a table is read does not depend on what one cell holds.
#[test]
fn no_cell_of_a_line_of_json_stops_a_run() {
    let declared = "missing = \"drop\"\n[columns]\nx = { kind = \"real\", bounds = [0, 9] }\n\
                    who = { kind = \"category\", levels = [\"a\", \"b\"] }\n";
    for cell in [
        "1e400",
        "-1e400",
        "[1]",
        "{\"x\": 1}",
        "\"\\ud800\"",
        "123456789012345678901234567890",
        "true",
        "\"\"",
    ] {
        let file =
            sample("t.jsonl", format!("{{\"x\": 1, \"who\": \"a\"}}\n{{\"x\": {cell}, \"who\": \"b\"}}\n"));
        let table = read_table(&file.path, &schema(declared), &OPTIONS).unwrap();
        assert_eq!(table.rows(), 2, "{cell}");
    }
    let file = sample("t.jsonl", b"{\"x\": 1, \"who\": \"a\"}\n{\"x\": 2, \"who\": \"\xff\"}\n");
    assert_eq!(read_table(&file.path, &schema(declared), &OPTIONS).unwrap().rows(), 2);
}

#[test]
fn spellings_of_one_level_and_numbers_as_levels() {
    let declared = "target = \"y\"\n[columns]\nx = { kind = \"category\", levels = [1, [2, \"two\"], 3], reference = 2 }\n\
                    y = { kind = \"category\", levels = [\"low\", \"mid\", \"high\"] }\n";
    let table = read("x,y\n1,low\n2.0,mid\ntwo,high\n3,high\n", declared).unwrap();
    assert_eq!(table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["x=1", "x=3"]);
    assert_eq!(entries(&table), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(table.response, [0.0, 1.0, 2.0, 2.0]);
}

#[test]
fn units_and_exposure() {
    let declared = "target = \"y\"\nunit = \"who\"\n[columns]\nx = { kind = \"real\", bounds = [0, 1] }\n\
                    y = { kind = \"count\", bounds = [0, 9] }\n";
    let table = read("who,x,y\nann,0,1\nbob,0,2\nann,0,2.4\n,0,3\nNA,0,1\n", declared).unwrap();
    let units = table.units.unwrap();
    assert_eq!((units.of_row, units.count), (vec![0, 1, 0, 2, 2], 3));
    assert_eq!(table.response, [1.0, 2.0, 2.0, 3.0, 1.0]);
}

#[test]
fn a_file_to_predict_for_needs_no_target() {
    let options = ReadOptions { needs_target: false, ..OPTIONS };
    let file = sample("t.csv", "age,visits,sex,work,id\n30,2,Male,Private,a\n");
    let table = read_table(&file.path, &schema(PEOPLE_SCHEMA), &options).unwrap();
    assert_eq!((table.rows(), table.response.len()), (1, 0));
    assert!(table.target.is_some(), "its declaration is still known");
}

#[test]
fn wide_text_with_and_without_names() {
    let named = sample("t.csv", "a,,y\n1,2,1\n3,4,-1\n");
    let plain = UniformBounds { scale: Scale::None, ..UniformBounds::new(0.0, 9.0) };
    let (uniform, without) = (plain.clone().with_header(true), plain.with_header(false));
    let table =
        read_uniform(&named.path, &uniform.clone().with_binary_response(Response::LastColumn), &OPTIONS)
            .unwrap();
    assert_eq!(table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "x1"]);
    assert_eq!(table.response, [1.0, 0.0]);
    let unnamed = sample("t.tsv", "1\t2\n3\t4e0\n");
    let table = read_uniform(&unnamed.path, &without, &OPTIONS).unwrap();
    assert_eq!(entries(&table), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.columns[1].name, "x1");
    let years = sample("t.csv", "2019,2020\n3,4\n");
    let table = read_uniform(&years.path, &uniform, &OPTIONS).unwrap();
    assert_eq!((table.rows(), table.columns[0].name.as_str()), (1, "2019"));
    let chosen = uniform.with_response(Response::Column("a".into()), 0.0, 2.0);
    assert_eq!(read_uniform(&named.path, &chosen, &OPTIONS).unwrap().response, [1.0, 2.0]);
}

#[test]
fn arrays_of_every_type_and_order() {
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let small: Vec<u8> = vec![1, 2, 3, 4, 5, 6];
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("'<f8'", f64_bytes(&numbers)),
        ("'<f4'", small.iter().flat_map(|x| f32::from(*x).to_le_bytes()).collect()),
        ("'|i1'", small.clone()),
        ("'|u1'", small.clone()),
        ("'<i2'", small.iter().flat_map(|x| i16::from(*x).to_le_bytes()).collect()),
        ("'<i4'", small.iter().flat_map(|x| i32::from(*x).to_le_bytes()).collect()),
        ("'<i8'", small.iter().flat_map(|x| i64::from(*x).to_le_bytes()).collect()),
        ("'<u8'", small.iter().flat_map(|x| u64::from(*x).to_le_bytes()).collect()),
    ];
    for (descr, bytes) in &cases {
        let file = sample("x.npy", npy(descr, false, "(2, 3)", bytes));
        let table = read_uniform(&file.path, &plain(0.0, 9.0), &OPTIONS).unwrap();
        assert_eq!(entries(&table), numbers, "{descr}");
        let is_single = matches!(table.design.storage(), Storage::F32(_));
        assert_eq!(is_single, *descr == "'<f4'", "single precision stays single");
        let is_bytes = matches!(table.design.storage(), Storage::I8 { .. });
        assert_eq!(is_bytes, *descr == "'|i1'", "bytes stay bytes");
        let file = sample("x.npy", npy(descr, true, "(2, 3)", bytes));
        let table = read_uniform(&file.path, &plain(0.0, 9.0), &OPTIONS).unwrap();
        assert_eq!(entries(&table), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0], "{descr} by columns");
    }
    let truth = sample("x.npy", npy("'|b1'", false, "(3,)", &[0, 1, 1]));
    assert_eq!(entries(&read_uniform(&truth.path, &plain(0.0, 1.0), &OPTIONS).unwrap()), [0.0, 1.0, 1.0]);
}

/// Whatever whole bounds are declared, the constant column of an array of bytes is 1 and the ends of the bounds are stored
/// as -1 and 1: an intercept is fitted on no other column.
#[test]
fn bytes_within_any_whole_bounds_have_a_constant_column_of_one() {
    let options = ReadOptions { constant_column: true, ..OPTIONS };
    let model = Glm::new(Family::logistic(), (0.0, 1.0)).unwrap().with_intercept();
    let fit = model.prepare(dpglm::data::Shape::new(2, 4), Privacy::None).unwrap();
    for bound in 1..=127_i8 {
        for low in [-bound, 0] {
            let numbers = [low, bound, bound, low].map(|x| x.to_le_bytes()[0]);
            let file = sample("x.npy", npy("'|i1'", false, "(4, 1)", &numbers));
            let uniform = UniformBounds::new(f64::from(low), f64::from(bound));
            let table = read_uniform(&file.path, &uniform, &options).unwrap();
            assert!(matches!(table.design.storage(), Storage::I8 { .. }), "[{low}, {bound}]");
            assert_eq!(entries(&table), [1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0], "[{low}, {bound}]");
            let data = Dataset::new(table.design, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
            fit.fit(&data, &mut RandomSource::insecure_seeded(1)).unwrap();
        }
    }
}

#[test]
fn a_wide_array_by_columns() {
    let (rows, columns) = (37, 150);
    let value = |i: usize, j: usize| (i * columns + j) as f64;
    let by_columns: Vec<f64> = (0..columns).flat_map(|j| (0..rows).map(move |i| value(i, j))).collect();
    let file = sample("x.npy", npy("'<f8'", true, "(37, 150)", &f64_bytes(&by_columns)));
    let table = read_uniform(&file.path, &plain(0.0, 1e6), &OPTIONS).unwrap();
    let by_rows: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| value(i, j))).collect();
    assert_eq!(entries(&table), by_rows);
}

#[test]
fn later_versions_of_the_array_format() {
    let first = npy("'<f8'", false, "(1,)", &f64_bytes(&[7.0]));
    for version in [2, 3] {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend((first.len() as u32 - 18).to_le_bytes());
        bytes.extend(&first[10..]);
        let file = sample("x.npy", bytes);
        assert_eq!(entries(&read_uniform(&file.path, &plain(0.0, 9.0), &OPTIONS).unwrap()), [7.0]);
    }
}

#[test]
fn design_and_response_in_two_files() {
    let x = sample("x.npy", npy("'<f8'", false, "(2, 2)", &f64_bytes(&[0.5, -0.5, 3.0, f64::NAN])));
    let y =
        sample("y.npy", npy("'<i8'", false, "(2,)", &[1_i64.to_le_bytes(), 0_i64.to_le_bytes()].concat()));
    let uniform = UniformBounds { intercept: false, ..UniformBounds::new(-1.0, 1.0) };
    let uniform = uniform.with_binary_response(Response::File(y.path.clone()));
    let table = read_uniform(&x.path, &uniform, &OPTIONS).unwrap();
    assert_eq!(entries(&table), [0.5, -0.5, 1.0, 0.0]);
    assert_eq!(table.response, [1.0, 0.0]);
    assert_eq!(table.target.as_ref().unwrap().name, "y");
    assert_eq!(
        table.curator.to_string(),
        "column `x0`: 1 outside the bounds\ncolumn `x1`: 1 missing or not a number"
    );
    let text = sample("y.csv", "1\n0\n");
    let uniform = UniformBounds::new(-1.0, 1.0).with_response(Response::File(text.path.clone()), 0.0, 5.0);
    let table = read_uniform(&x.path, &uniform.with_header(false), &OPTIONS).unwrap();
    assert_eq!((&table.response[..], table.target.unwrap().name.as_str()), (&[1.0, 0.0][..], "y"));
}

#[test]
fn parquet_in_every_codec() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        let file = sample("t.parquet", people_parquet(compression));
        let table = read_table(&file.path, &schema(PARQUET_SCHEMA), &OPTIONS).unwrap();
        assert_eq!(table.rows(), 6);
        let first = [-0.5, -0.8, 1.0, 0.0, 0.0, -0.6, -1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
        let found = entries(&table);
        for (a, b) in found.iter().zip(first) {
            assert!((a - b).abs() < 1e-12, "{compression:?}: {found:?}");
        }
        assert_eq!(found[12], -0.25, "the second row group");
        assert_eq!(table.response, [5.0, 50.0, 15.0, 5.0, 50.0, 15.0]);
    }
}

#[test]
fn parquet_as_a_wide_file() {
    let file = sample("t.parquet", people_parquet(Compression::SNAPPY));
    let table = read_uniform(&file.path, &plain(0.0, 50.0), &OPTIONS).unwrap();
    assert_eq!(entries(&table)[..5], [30.0, 1.0, 1.0, 25.0, 5.0], "text is no number and gets the midpoint");
}

#[test]
fn libsvm_text() {
    let file = sample("t.libsvm", "+1 1:0.5 3:2 # first\n\n-1 2:1\n1\n");
    let uniform = plain(0.0, 1.0).with_binary_response(Response::LastColumn);
    let uniform = uniform.with_features(3);
    let table = read_uniform(&file.path, &uniform, &OPTIONS).unwrap();
    assert_eq!(entries(&table), [0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(table.response, [1.0, 0.0, 1.0]);
    let scaled = UniformBounds { features: Some(4), ..UniformBounds::new(0.0, 1.0) };
    let table = read_uniform(&file.path, &scaled, &OPTIONS).unwrap();
    assert_eq!(
        entries(&table)[..4],
        [0.5, 0.0, 1.0, 0.0],
        "a file that leaves zeros out is not centred: what is left out stays zero"
    );
    assert!(table.target.is_none() && table.response.is_empty());
    // One private row must set neither the width nor whether there is a result.
    let narrow = UniformBounds::new(0.0, 1.0).with_features(2);
    let table = read_uniform(&file.path, &narrow, &OPTIONS).unwrap();
    assert_eq!(entries(&table), [0.5, 0.0, 0.0, 1.0, 0.0, 0.0]);
    says(&table.curator.to_string(), &["`x2 and beyond`: 1 left out"]);
    let strict = ReadOptions { strict: true, ..OPTIONS };
    let m = message(read_uniform(&file.path, &narrow, &strict));
    says(&m, &["row 1", "beyond the declared number", "left out"]);
    let huge = sample("t.libsvm", "1 1:0.5 99999999999:1 99999999999999999999999:1\n");
    assert_eq!(entries(&read_uniform(&huge.path, &narrow, &OPTIONS).unwrap()), [0.5, 0.0]);
    let unknown = message(read_uniform(&file.path, &UniformBounds::new(0.0, 1.0), &OPTIONS));
    says(&unknown, &["t.libsvm", "number of columns", "one private row", "`columns`"]);
}

#[test]
fn single_precision_on_request() {
    let options = ReadOptions { precision: Some(Precision::F32), ..OPTIONS };
    let file = sample("t.csv", PEOPLE);
    let table = read_table(&file.path, &schema(PEOPLE_SCHEMA), &options).unwrap();
    assert!(matches!(table.design.storage(), Storage::F32(_)));
    assert_eq!(entries(&table)[0], -0.5);
}

#[test]
fn a_schema_alone_tells_the_encoded_columns() {
    let table = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let (columns, target) = schema(PEOPLE_SCHEMA).encoded().unwrap();
    assert_eq!((&columns, &target), (&table.columns, &table.target));
    assert_eq!(dpglm_io::norm_bound(&columns), table.norm_bound());
}

#[test]
fn the_header_alone_tells_the_shape() {
    // The rows are broken: a look at one of them would fail.
    let text = sample("t.csv", "a,b\n1,2,3\n");
    let columns = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect());
    let (uniform, plain) = (UniformBounds::new(0.0, 9.0).with_header(true), UniformBounds::new(0.0, 9.0));
    let (named, plain) = (Declared::Uniform(&uniform), Declared::Uniform(&plain));
    assert_eq!(
        shape(&text.path, named, &OPTIONS).unwrap(),
        Shape { rows: None, columns: columns(&["a", "b"]) }
    );
    let array = sample("x.npy", npy("'<f8'", false, "(3, 2)", &f64_bytes(&[1.0; 6])));
    assert_eq!(
        shape(&array.path, plain, &OPTIONS).unwrap(),
        Shape { rows: Some(3), columns: columns(&["x0", "x1"]) }
    );
    let table = sample("t.parquet", people_parquet(Compression::SNAPPY));
    let found = shape(&table.path, plain, &OPTIONS).unwrap();
    assert_eq!((found.rows, found.columns.map(|c| c.len())), (Some(6), Some(5)));
    let sparse = sample("t.libsvm", "1 1:1\n");
    assert_eq!(shape(&sparse.path, plain, &OPTIONS).unwrap(), Shape { rows: None, columns: None });
}

#[test]
fn a_constant_column_comes_first_where_the_model_has_an_intercept() {
    let options = ReadOptions { constant_column: true, ..OPTIONS };
    let plain = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let file = sample("people.csv", PEOPLE);
    let table = read_table(&file.path, &schema(PEOPLE_SCHEMA), &options).unwrap();
    assert!(table.constant_column && table.columns == plain.columns);
    let width = plain.columns.len() + 1;
    for (row, features) in entries(&table).chunks(width).zip(entries(&plain).chunks(width - 1)) {
        assert_eq!(row[0], 1.0);
        assert_eq!(&row[1..], features);
    }
    let single = ReadOptions { precision: Some(Precision::F32), ..options };
    let table = read_table(&file.path, &schema(PEOPLE_SCHEMA), &single).unwrap();
    assert_eq!(entries(&table).chunks(width).map(|row| row[0]).collect::<Vec<_>>(), [1.0, 1.0]);
    let without = schema(PEOPLE_SCHEMA).with_intercept(false);
    assert!(!read_table(&file.path, &without, &options).unwrap().constant_column);
    // Rows that name their columns, and leave most of them out.
    let sparse = sample("t.libsvm", "1 2:3\n-1 1:4\n");
    let uniform = plain_wide_with_label();
    assert_eq!(
        entries(&read_uniform(&sparse.path, &uniform, &options).unwrap()),
        [1.0, 0.0, 3.0, 1.0, 4.0, 0.0]
    );
}

fn plain_wide_with_label() -> UniformBounds {
    plain(0.0, 5.0).with_binary_response(Response::LastColumn).with_features(2)
}
