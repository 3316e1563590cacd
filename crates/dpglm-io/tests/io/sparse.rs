//! Files that leave zeros out, and files of one byte an entry.

use crate::support::{LIST_KINDS, ListKind, entries, f64_bytes, message, npy, npz, sample, says, some, zip};
use dpglm::central::{DpIht, Glm, Privacy, PrivateMean, SelectRefine, SparseMean};
use dpglm::data::design::Storage;
use dpglm::data::{Dataset, Design, Values};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_io::{
    Declared, Encoded, Format, Precision, ReadOptions, Response, Scale, Schema, UniformBounds, read_table,
    read_uniform, shape,
};

const OPTIONS: ReadOptions = ReadOptions {
    precision: None,
    strict: false,
    format: None,
    delimiter: None,
    needs_target: true,
    constant_column: false,
};

fn is_sparse(table: &Encoded) -> bool {
    matches!(table.design.storage(), Storage::Csr(_))
}

fn uniform() -> UniformBounds {
    UniformBounds::new(-2.0, 4.0)
}

#[test]
fn a_sparse_text_is_stored_sparsely_with_the_same_numbers() {
    let file = sample("t.libsvm", "1 3:8 20:-1\n0\n1 1:2 2:nan 20:0\n");
    let uniform = uniform().with_binary_response(Response::LastColumn).with_features(20);
    for constant_column in [false, true] {
        for precision in [Precision::F32, Precision::F64] {
            let options = ReadOptions { constant_column, precision: Some(precision), ..OPTIONS };
            let table = read_uniform(&file.path, &uniform, &options).unwrap();
            assert!(is_sparse(&table) && table.constant_column == constant_column);
            let width = 20 + usize::from(constant_column);
            let found = entries(&table);
            let mut expected = vec![0.0; 3 * width];
            // Clamped to 4, divided by 4; what is not a number has the middle of the bounds.
            for (row, column, x) in [(0, 2, 1.0), (0, 19, -0.25), (2, 0, 0.5), (2, 1, 0.25)] {
                expected[row * width + usize::from(constant_column) + column] = x;
            }
            for row in expected.chunks_mut(width).filter(|_| constant_column) {
                row[0] = 1.0;
            }
            assert_eq!(found, expected);
            assert_eq!(table.response, [1.0, 0.0, 1.0]);
            let notes = table.curator.to_string();
            says(&notes, &["`x2`: 1 outside", "`x1`: 1 missing"]);
            // Coefficients in the user's units: no shift of the intercept.
            let (slopes, intercept) = table.to_user_units(&[1.0; 20], Some(3.0));
            assert_eq!((slopes[0].1, intercept), (0.25, Some(3.0)));
        }
    }
    let dense = sample("t.libsvm", "1 1:1 2:2\n0 1:2 2:3\n");
    // The format decides, however full the private rows are: rows stored otherwise would be measured otherwise.
    assert!(is_sparse(&read_uniform(&dense.path, &uniform, &OPTIONS).unwrap()));
}

#[test]
fn entries_of_one_need_no_values() {
    let file = sample("t.svm", "1 3:1 9:1\n0 2:1\n");
    let table = read_uniform(&file.path, &UniformBounds::new(0.0, 1.0).with_features(9), &OPTIONS).unwrap();
    let Storage::Csr(csr) = table.design.storage() else { panic!("sparse rows were expected") };
    assert!(matches!(csr.values(), Values::Ones));
    assert_eq!(csr.offsets(), [0, 2, 3]);
    assert_eq!([0, 1, 2].map(|k| csr.column(k)), [2, 8, 1]);
}

/// Whether all entries are 1 is private, and decides how they are stored: no bit of a result may depend on that.
#[test]
fn ones_without_values_give_the_same_results() {
    let (rows, columns) = (400, 30_u32);
    let entry = |i: u32, j: u32| (i * 7 + j * j * 3 + i * j).is_multiple_of(5);
    let indices: Vec<u32> = (0..rows).flat_map(|i| (0..columns).filter(move |&j| entry(i, j))).collect();
    let mut offsets = vec![0];
    for i in 0..rows {
        offsets.push(offsets[i as usize] + (0..columns).filter(|&j| entry(i, j)).count());
    }
    let response: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(entry(i, 3) || i % 3 == 0))).collect();
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
    let results = |values: Values| -> Vec<Vec<f64>> {
        let design = Design::from_csr(columns as usize, offsets.clone(), indices.clone(), values).unwrap();
        let glm = Glm::new(Family::logistic(), (0.0, 1.0)).unwrap();
        let data = Dataset::new(design.clone(), response.clone()).unwrap();
        let rng = &mut RandomSource::insecure_seeded(5);
        let ranges = vec![(0.0, 1.0); columns as usize];
        vec![
            glm.fit(&data, privacy, rng).unwrap().coefficients,
            SelectRefine::new(glm.clone(), 3).unwrap().fit(&data, privacy, rng).unwrap().fit.coefficients,
            DpIht::new(glm, 3).unwrap().fit(&data, privacy, rng).unwrap().fit.coefficients,
            PrivateMean::new(ranges.clone()).unwrap().fit(&design, privacy, rng).unwrap().means,
            SparseMean::new(ranges, 3).unwrap().fit(&design, privacy, rng).unwrap().fit.means,
        ]
    };
    let ones = results(Values::Ones);
    assert_eq!(ones, results(Values::F64(vec![1.0; indices.len()])));
    assert_eq!(ones, results(Values::F32(vec![1.0; indices.len()])));
}

#[test]
fn arrays_of_scipy() {
    let members = npz("csr", [3, 9], &[0, 2, 2, 3], &[0, 8, 4], ("'<f8'", f64_bytes(&[1.0, -8.0, 4.0])));
    for deflated in [false, true] {
        let file = sample("x.npz", zip(&members, deflated));
        let table = read_uniform(&file.path, &uniform(), &OPTIONS).unwrap();
        assert!(is_sparse(&table));
        let mut expected = [0.0; 27];
        (expected[0], expected[8], expected[22]) = (0.25, -0.5, 1.0);
        assert_eq!(entries(&table), expected);
        let found = shape(&file.path, Declared::Uniform(&uniform()), &OPTIONS).unwrap();
        assert_eq!((found.rows, found.columns.map(|c| c.len())), (Some(3), Some(9)));
        let y = sample("y.npy", npy("'<f8'", false, "(3,)", &f64_bytes(&[0.0, 1.0, 1.0])));
        let with_response = uniform().with_binary_response(Response::File(y.path.clone()));
        assert_eq!(read_uniform(&file.path, &with_response, &OPTIONS).unwrap().response, [0.0, 1.0, 1.0]);
        let plain = UniformBounds { scale: Scale::None, ..uniform() };
        assert_eq!(entries(&read_uniform(&file.path, &plain, &OPTIONS).unwrap())[8], -2.0);
    }
    let narrow = [1.5_f32, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = sample("x.npz", zip(&npz("csr", [1, 9], &[0, 2], &[1, 3], ("'<f4'", narrow)), true));
    let table = read_uniform(&file.path, &uniform(), &OPTIONS).unwrap();
    let Storage::Csr(csr) = table.design.storage() else { panic!("sparse rows were expected") };
    assert!(matches!(csr.values(), Values::F32(_)), "single precision stays single");
}

#[test]
fn wrong_arrays_of_scipy() {
    let data = || ("'<f8'", f64_bytes(&[1.0, 2.0]));
    let refused = |members: &[(&str, Vec<u8>)], parts: &[&str]| {
        let file = sample("x.npz", zip(members, true));
        says(&message(read_uniform(&file.path, &uniform(), &OPTIONS)), &[&["x.npz"], parts].concat());
    };
    refused(&npz("csc", [1, 2], &[0, 2], &[0, 1], data()), &["compressed sparse rows", "tocsr"]);
    refused(&npz("csr", [1, 3], &[0, 2], &[1, 0], data()), &["row 1", "out of order", "sum_duplicates"]);
    refused(&npz("csr", [1, 3], &[0, 2], &[1, 1], data()), &["repeated"]);
    refused(&npz("csr", [1, 3], &[0, 2], &[1, 3], data()), &["row 1", "beyond the 3 columns"]);
    refused(&npz("csr", [1, 3], &[0, 2], &[-1, 1], data()), &["indices.npy", "negative"]);
    refused(&npz("csr", [2, 3], &[0, 2], &[0, 1], data()), &["do not fit together"]);
    refused(&npz("csr", [2, 3], &[0, 2, 1], &[0, 1], data()), &["do not fit together"]);
    refused(&npz("csr", [1, 3], &[0, 2], &[0, 1], data())[1..], &["indices.npy is missing"]);
    refused(&[("arr_0.npy", Vec::new())], &["no sparse array", "save_npz"]);
    let mut broken = zip(&npz("csr", [1, 3], &[0, 2], &[0, 1], data()), false);
    let at = broken.windows(8).position(|w| w == 1.0_f64.to_le_bytes()).unwrap();
    broken[at] ^= 1;
    let file = sample("x.npz", &broken);
    says(&message(read_uniform(&file.path, &uniform(), &OPTIONS)), &["checksum"]);
    let file = sample("x.npz", &broken[..broken.len() - 30]);
    says(&message(read_uniform(&file.path, &uniform(), &OPTIONS)), &["cut short"]);
    let bounds = UniformBounds::new(1.0, 2.0);
    let file = sample("x.npz", zip(&npz("csr", [1, 3], &[0, 2], &[0, 1], data()), true));
    says(&message(read_uniform(&file.path, &bounds, &OPTIONS)), &["must hold 0", "widen"]);
    let column = uniform().with_binary_response(Response::LastColumn);
    says(&message(read_uniform(&file.path, &column, &OPTIONS)), &["features only", "file of its own"]);
    let options = ReadOptions { format: Format::named("npz"), ..OPTIONS };
    let text = sample("x.npz", "1,2,3\n");
    says(&message(read_uniform(&text.path, &uniform(), &options)), &["not a whole .npz archive"]);
}

#[test]
fn bytes_stay_bytes_where_the_bounds_allow() {
    let genotypes: Vec<u8> = vec![0, 1, 2, 2, 0, 3];
    let file = sample("x.npy", npy("'|i1'", false, "(3, 2)", &genotypes));
    let read = |uniform: &UniformBounds, constant_column: bool| {
        let table = read_uniform(&file.path, uniform, &ReadOptions { constant_column, ..OPTIONS }).unwrap();
        (matches!(table.design.storage(), Storage::I8 { .. }), entries(&table), table)
    };
    // Centred at 1; the last entry is clamped to 2.
    let (bytes, found, table) = read(&UniformBounds::new(0.0, 2.0), true);
    assert!(bytes);
    assert_eq!(found, [1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0]);
    assert_eq!(table.to_user_units(&[1.0, 2.0], Some(0.0)).1, Some(-3.0));
    // A centre of 1.5 in half units.
    let (bytes, found, _) = read(&UniformBounds::new(0.0, 3.0), true);
    assert!(bytes);
    for (found, expected) in
        found.iter().zip([1.0, -1.0, -1.0 / 3.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, -1.0, 1.0])
    {
        assert!((found - expected).abs() < 1e-15 && found.abs() <= 1.0);
    }
    // The same numbers as in double precision, whatever the bounds and the scale.
    for (lower, upper) in [(0.0, 2.0), (-1.0, 2.0), (0.0, 100.0), (-100.0, 127.0), (0.5, 2.0), (0.0, 1.0)] {
        for scale in [Scale::Symmetric, Scale::Unit, Scale::None] {
            for intercept in [false, true] {
                let uniform = UniformBounds { scale, intercept, ..UniformBounds::new(lower, upper) };
                let options =
                    ReadOptions { precision: Some(Precision::F64), constant_column: true, ..OPTIONS };
                let double = read_uniform(&file.path, &uniform, &options).unwrap();
                let (_, found, _) = read(&uniform, true);
                assert_eq!(found.len(), entries(&double).len());
                for (a, b) in found.iter().zip(entries(&double)) {
                    assert!((a - b).abs() < 1e-15, "[{lower}, {upper}], {scale:?}, {intercept}: {a} {b}");
                }
            }
        }
    }
    assert!(!read(&UniformBounds::new(0.5, 2.0), false).0, "bounds that are not whole");
    assert!(!read(&UniformBounds::new(-100.0, 127.0), false).0, "half units that leave the byte");
}

#[test]
fn sparse_rows_in_lists_of_parquet() {
    let indices = [some(&[0, 3, 8]), some(&[]), some(&[1]), some(&[2, 400]), some(&[4])];
    let values = [some(&[1.0, 8.0, -2.0]), some(&[]), some(&[f64::NAN]), some(&[0.5, 1.0]), some(&[0.0])];
    let y = [1.0, 0.0, 0.0, 1.0, 1.0];
    let mut expected = vec![0.0; 45];
    // Clamped to 4, divided by 4; what is not a number has the middle of the bounds; what is beyond is left out.
    for (row, column, x) in [(0, 0, 0.25), (0, 3, 1.0), (0, 8, -0.5), (2, 1, 0.25), (3, 2, 0.125)] {
        expected[row * 9 + column] = x;
    }
    for kind in &LIST_KINDS {
        let file = sample("t.parquet", kind.file(&indices, &values, &y));
        for response in [Response::LastColumn, Response::Column("y".into())] {
            let uniform = uniform().with_binary_response(response).with_features(9);
            let table = read_uniform(&file.path, &uniform, &OPTIONS).unwrap();
            let Storage::Csr(csr) = table.design.storage() else { panic!("sparse rows were expected") };
            assert_eq!(
                matches!(csr.values(), Values::F32(_)),
                kind.narrow[1],
                "single precision stays single"
            );
            assert_eq!((entries(&table), &table.response[..]), (expected.clone(), &y[..]));
            assert_eq!((table.columns.len(), table.columns[8].name.as_str()), (9, "x8"));
            assert_eq!(table.target.as_ref().map(|t| t.name.as_str()), Some("y"));
            let notes = table.curator.to_string();
            says(&notes, &["`x3`: 1 outside", "`x1`: 1 missing", "`x9 and beyond`: 1 left out"]);
            let strict = ReadOptions { strict: true, ..OPTIONS };
            says(&message(read_uniform(&file.path, &uniform, &strict)), &["row 1", "x3"]);
        }
        let alone = read_uniform(&file.path, &uniform().with_features(9), &OPTIONS).unwrap();
        assert!(entries(&alone) == expected && alone.target.is_none());
        let answers = sample("y.npy", npy("'<f8'", false, "(5,)", &f64_bytes(&y)));
        let apart = uniform().with_binary_response(Response::File(answers.path.clone())).with_features(9);
        assert_eq!(read_uniform(&file.path, &apart, &OPTIONS).unwrap().response, y);
        let found = shape(&file.path, Declared::Uniform(&uniform()), &OPTIONS).unwrap();
        assert_eq!((found.rows, found.columns), (Some(5), None));
    }
    // More rows than are decoded at a time.
    let rows = 9_001;
    let (indices, values): (Vec<_>, Vec<_>) = (0..rows)
        .map(|i| (some(&[i % 7, 7 + i % 2][..(i % 3) as usize]), some(&[1.0, -1.0][..(i % 3) as usize])))
        .unzip();
    let y: Vec<f64> = (0..rows).map(|i| (i % 2) as f64).collect();
    let file = sample("t.parquet", LIST_KINDS[0].file(&indices, &values, &y));
    let uniform = UniformBounds::new(-1.0, 1.0).with_binary_response(Response::LastColumn).with_features(9);
    let table = read_uniform(&file.path, &uniform, &OPTIONS).unwrap();
    let found = entries(&table);
    for i in [1, 2, 4_097, 8_999, 9_000] {
        let mut row = [0.0; 9];
        (0..i % 3)
            .for_each(|k| row[if k == 0 { i % 7 } else { 7 + i % 2 }] = if k == 0 { 1.0 } else { -1.0 });
        assert_eq!((&found[9 * i..9 * i + 9], table.response[i]), (&row[..], (i % 2) as f64));
    }
}

#[test]
fn lists_and_elements_that_are_missing() {
    let kind = &LIST_KINDS[0];
    let values = [Some(vec![None, Some(2.0)]), None, Some(vec![])];
    let file = sample("t.parquet", kind.file(&[some(&[1, 2]), None, None], &values, &[1.0, 0.0, 1.0]));
    let table = read_uniform(&file.path, &uniform().with_features(3), &OPTIONS).unwrap();
    assert_eq!(entries(&table), [0.0, 0.25, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    says(&table.curator.to_string(), &["`x1`: 1 missing"]);
}

#[test]
fn wrong_lists() {
    let kind = &LIST_KINDS[0];
    let uniform = uniform().with_features(9);
    let file = |kind: &ListKind, indices: &[i64], values: &[f64]| {
        sample("t.parquet", kind.file(&[some(&[]), some(indices)], &[some(&[]), some(values)], &[0.0, 1.0]))
    };
    let refused = |indices: &[i64], values: &[f64], parts: &[&str]| {
        for kind in &LIST_KINDS {
            let m = message(read_uniform(&file(kind, indices, values).path, &uniform, &OPTIONS));
            says(&m, &[&["t.parquet", "row 2"], parts].concat());
        }
    };
    refused(&[1, 1], &[1.0, 2.0], &["repeated"]);
    refused(&[2, 1], &[1.0, 2.0], &["not ascending", "sort"]);
    refused(&[-1], &[1.0], &["negative", "from 0"]);
    refused(&[1, 2], &[1.0], &["different lengths"]);
    refused(&[], &[1.0], &["different lengths"]);
    let null = kind.file(&[some(&[]), Some(vec![None])], &[some(&[]), some(&[1.0])], &[0.0, 1.0]);
    let null = sample("t.parquet", null);
    says(&message(read_uniform(&null.path, &uniform, &OPTIONS)), &["row 2", "missing or negative"]);
    let good = file(kind, &[1], &[1.0]);
    let unknown = UniformBounds { features: None, ..uniform.clone() };
    says(&message(read_uniform(&good.path, &unknown, &OPTIONS)), &["number of columns", "`columns`"]);
    let names =
        |a: &str, b: &str| UniformBounds { lists: Some([a.to_owned(), b.to_owned()]), ..uniform.clone() };
    for other in [names("columns", "values"), names("indices", "y")] {
        let m = message(read_uniform(&good.path, &other, &OPTIONS));
        says(&m, &["there is no list", "`indices`", "`values`", "`sparse columns`"]);
    }
    let m = message(read_uniform(&good.path, &names("values", "indices"), &OPTIONS));
    says(&m, &["elements of `values`", "whole numbers"]);
    let column = uniform.clone().with_binary_response(Response::Column("z".into()));
    says(&message(read_uniform(&good.path, &column, &OPTIONS)), &["`z`", "`id`, `y`"]);
    let bounds = UniformBounds::new(1.0, 2.0).with_features(9);
    says(&message(read_uniform(&good.path, &bounds, &OPTIONS)), &["must hold 0"]);
    let schema = Schema::parse("[columns]\nindices = { kind = \"real\", bounds = [0, 1] }").unwrap();
    says(&message(read_table(&good.path, &schema, &OPTIONS)), &["nested", "instead of a schema"]);
}
