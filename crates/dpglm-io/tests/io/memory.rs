//! What is in memory is encoded as the same table in a file is.

use crate::support::{PEOPLE, PEOPLE_SCHEMA, f64_bytes, message, npy, npz, read, sample, says, schema, zip};
use dpglm_io::memory::{
    Cells, Matrix, Meaning, Numbers, SparseRows, attach_response, attach_weights, encode_columns,
    encode_matrix, encode_sparse,
};
use dpglm_io::{Encoded, ReadOptions, Response, Schema, UniformBounds, read_table, read_uniform};

const ROWS: usize = 700;
const COLUMNS: usize = 3;

fn names() -> Vec<String> {
    (0..COLUMNS).map(|j| format!("x{j}")).collect()
}

fn wide_schema(uniform: &UniformBounds) -> Schema {
    uniform.schema("X".as_ref(), &names()).unwrap()
}

/// Rows with cells that the public rule changes.
fn by_rows() -> Vec<f64> {
    let cell = |k: usize| match k % 97 {
        5 => f64::NAN,
        11 => f64::INFINITY,
        17 => -3.5,
        _ => (k as f64 * 0.37).sin(),
    };
    (0..ROWS * COLUMNS).map(cell).collect()
}

fn by_columns(rows: &[f64]) -> Vec<f64> {
    (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| rows[i * COLUMNS + j])).collect()
}

fn same(found: &Encoded, expected: &Encoded) {
    assert!(found.design == expected.design, "the designs differ");
    assert_eq!(found.columns, expected.columns);
    assert_eq!(found.response, expected.response);
    assert_eq!(found.target, expected.target);
    assert_eq!(found.curator.to_string(), expected.curator.to_string());
}

fn options() -> ReadOptions {
    ReadOptions { constant_column: true, ..ReadOptions::default() }
}

#[test]
fn a_matrix_in_either_order_and_precision() {
    let uniform = UniformBounds::new(-1.0, 1.0);
    let rows = by_rows();
    let columns = by_columns(&rows);
    let shape = format!("({ROWS}, {COLUMNS})");
    for (column_major, numbers) in [(false, &rows), (true, &columns)] {
        let file = sample("X.npy", npy("'<f8'", column_major, &shape, &f64_bytes(numbers)));
        let expected = read_uniform(&file.path, &uniform, &options()).unwrap();
        let matrix = Matrix { numbers: Numbers::F64(numbers), rows: ROWS, columns: COLUMNS, column_major };
        same(&encode_matrix("X", matrix, &names(), &wide_schema(&uniform), &options()).unwrap(), &expected);

        let single: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
        let bytes: Vec<u8> = single.iter().flat_map(|x| x.to_le_bytes()).collect();
        let file = sample("X.npy", npy("'<f4'", column_major, &shape, &bytes));
        let expected = read_uniform(&file.path, &uniform, &options()).unwrap();
        let matrix = Matrix { numbers: Numbers::F32(&single), ..matrix };
        same(&encode_matrix("X", matrix, &names(), &wide_schema(&uniform), &options()).unwrap(), &expected);
    }
    let strict = ReadOptions { strict: true, ..options() };
    let matrix = Matrix { numbers: Numbers::F64(&rows), rows: ROWS, columns: COLUMNS, column_major: false };
    let refused = encode_matrix("X", matrix, &names(), &wide_schema(&uniform), &strict);
    says(&message(refused), &["X, row 2, column `x2`", "NaN", "strict mode"]);
}

#[test]
fn bytes_stay_bytes() {
    let uniform = UniformBounds::new(0.0, 2.0);
    let numbers: Vec<i8> = (0..ROWS * COLUMNS).map(|k| (k % 3) as i8).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = sample("X.npy", npy("'|i1'", false, &format!("({ROWS}, {COLUMNS})"), &bytes));
    let expected = read_uniform(&file.path, &uniform, &options()).unwrap();
    let matrix = Matrix { numbers: Numbers::I8(&numbers), rows: ROWS, columns: COLUMNS, column_major: false };
    same(&encode_matrix("X", matrix, &names(), &wide_schema(&uniform), &options()).unwrap(), &expected);
}

#[test]
fn sparse_rows_and_a_response() {
    let values = [0.5, -2.0, 1.0];
    let members = npz("csr", [3, 3], &[0, 2, 2, 3], &[0, 2, 1], ("'<f8'", f64_bytes(&values)));
    let x = sample("X.npz", zip(&members, false));
    let y = sample("y.npy", npy("'<f8'", false, "(3,)", &f64_bytes(&[0.0, 7.0, f64::NAN])));
    let uniform = UniformBounds::new(-1.0, 1.0).with_response(Response::File(y.path.clone()), 0.0, 4.0);
    let expected = read_uniform(&x.path, &uniform, &options()).unwrap();
    let sparse = SparseRows {
        offsets: &[0, 2, 2, 3],
        indices: &[0, 2, 1],
        numbers: Numbers::F64(&values),
        columns: COLUMNS,
    };
    let mut found = encode_sparse("X", sparse, &names(), &wide_schema(&uniform), &options()).unwrap();
    let target = schema("target = \"y\"\n[columns]\ny = { kind = \"real\", bounds = [0, 4] }");
    attach_response(&mut found, "y", Cells::F64(&[0.0, 7.0, f64::NAN]), &target, &options()).unwrap();
    same(&found, &expected);
    let short = attach_response(&mut found, "y", Cells::F64(&[0.0]), &target, &options());
    says(&message(short), &["1 responses for 3 rows"]);
    let unsorted = SparseRows { indices: &[2, 0, 1], ..sparse };
    says(
        &message(encode_sparse("X", unsorted, &names(), &wide_schema(&uniform), &options())),
        &["row 1", "sum_duplicates"],
    );
    let beyond = SparseRows { indices: &[0, 3, 1], ..sparse };
    says(
        &message(encode_sparse("X", beyond, &names(), &wide_schema(&uniform), &options())),
        &["row 1", "beyond the 3 columns"],
    );
}

#[test]
fn columns_of_a_frame() {
    let expected = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let text =
        |cells: &[&str]| -> Vec<Meaning> { cells.iter().map(|s| Meaning::Text((*s).to_owned())).collect() };
    let (sexes, works, ids) = (text(&["Female", "Male"]), text(&["State", " Private "]), text(&["a", "b"]));
    let columns = [
        ("age", Cells::I64(&[30, 50])),
        ("visits", Cells::F64(&[2.0, 0.0])),
        ("sex", Cells::Coded { codes: &[1, 0], meanings: &sexes }),
        ("work", Cells::Coded { codes: &[1, 0], meanings: &works }),
        ("id", Cells::Coded { codes: &[0, 1], meanings: &ids }),
        ("income", Cells::F32(&[50.0, 20.0])),
    ]
    .map(|(name, cells)| (name.to_owned(), cells));
    let schema = schema(PEOPLE_SCHEMA);
    same(&encode_columns("table", &columns, &schema, &ReadOptions::default()).unwrap(), &expected);
    let missing = [&columns[..2], &[("sex".to_owned(), Cells::Coded { codes: &[-1, 9], meanings: &sexes })]];
    let missing = [&missing.concat()[..], &columns[3..]].concat();
    let table = encode_columns("table", &missing, &schema, &ReadOptions::default()).unwrap();
    assert_eq!(table.curator.to_string(), "column `sex`: 2 missing or not a number");
    // Cells of several kinds in one column: each is read by itself.
    let ages = [Meaning::Text("30".into()), Meaning::Number(50.0)];
    let mixed =
        [&[("age".to_owned(), Cells::Coded { codes: &[0, 1], meanings: &ages })], &columns[1..]].concat();
    same(&encode_columns("table", &mixed, &schema, &ReadOptions::default()).unwrap(), &expected);
    let uneven = [&columns[..5], &[("income".to_owned(), Cells::Truth(&[true]))]].concat();
    says(
        &message(encode_columns("table", &uneven, &schema, &ReadOptions::default())),
        &["do not fit together"],
    );
    let absent = &columns[1..];
    says(
        &message(encode_columns("table", absent, &schema, &ReadOptions::default())),
        &["`age` is declared in the schema but missing"],
    );
}

/// A weight that is missing follows the rule of the table's schema, in files and in memory.
#[test]
fn a_missing_weight_is_filled_or_drops_its_row() {
    for (rule, kept, filled) in [
        ("fill", None, 500.0),
        ("drop", Some(vec![1.0, 0.0, 0.0]), 500.0),
        ("indicator", Some(vec![1.0, 0.0, 1.0]), 500.0),
    ] {
        let schema = |weight: &str| {
            let x = "x = { kind = \"real\", bounds = [0, 10] }";
            Schema::parse(&format!("missing = \"{rule}\"\n{weight}[columns]\n{x}\n")).unwrap()
        };
        let x = [("x".to_owned(), Cells::F64(&[1.0, 2.0, f64::NAN]))];
        let mut table = encode_columns("x", &x, &schema(""), &options()).unwrap();
        let weights = Cells::F64(&[3.0, f64::NAN, 2000.0]);
        let with = attach_weights(&mut table, schema(""), ("w", (0.0, 1000.0)), weights, &options()).unwrap();
        assert_eq!((&table.weights, table.sample_weight), (&kept, Some(vec![3.0, filled, 1000.0])), "{rule}");
        assert_eq!(with.undeclared_fills().iter().any(|(name, _)| *name == "w"), rule == "fill");
        let file = sample("t.csv", "x,w\n1,3\n2,\n,2000\n");
        let found = read_table(&file.path, &with, &options()).unwrap();
        assert_eq!((found.weights, found.sample_weight), (kept, Some(vec![3.0, filled, 1000.0])), "{rule}");
    }
}
