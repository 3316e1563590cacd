//! Files that leave zeros out, and files of one byte an entry.

use crate::support::{entries, f64_bytes, message, npy, npz, sample, says, zip};
use dpglm::data::Values;
use dpglm::data::design::Storage;
use dpglm_io::{Encoded, Format, Precision, ReadOptions, Response, Scale, Wide, read_wide, shape};

const OPTIONS: ReadOptions = ReadOptions {
    precision: None,
    strict: false,
    format: None,
    delimiter: None,
    header: None,
    needs_target: true,
    constant_column: false,
};

fn is_sparse(table: &Encoded) -> bool {
    matches!(table.design.storage(), Storage::Csr(_))
}

fn wide() -> Wide {
    Wide::new(-2.0, 4.0)
}

#[test]
fn a_sparse_text_is_stored_sparsely_with_the_same_numbers() {
    let file = sample("t.libsvm", "1 3:8 20:-1\n0\n1 1:2 2:nan 20:0\n");
    let wide = wide().with_binary_response(Response::LastColumn);
    for constant_column in [false, true] {
        for precision in [Precision::F32, Precision::F64] {
            let options = ReadOptions { constant_column, precision: Some(precision), ..OPTIONS };
            let table = read_wide(&file.path, &wide, &options).unwrap();
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
    assert!(is_sparse(&read_wide(&dense.path, &wide, &OPTIONS).unwrap()));
}

#[test]
fn entries_of_one_need_no_values() {
    let file = sample("t.svm", "1 3:1 9:1\n0 2:1\n");
    let table = read_wide(&file.path, &Wide::new(0.0, 1.0), &OPTIONS).unwrap();
    let Storage::Csr(csr) = table.design.storage() else { panic!("sparse rows were expected") };
    assert!(matches!(csr.values(), Values::Ones));
    assert_eq!((csr.offsets(), csr.indices()), (&[0, 2, 3][..], &[2, 8, 1][..]));
}

#[test]
fn arrays_of_scipy() {
    let members = npz("csr", [3, 9], &[0, 2, 2, 3], &[0, 8, 4], ("'<f8'", f64_bytes(&[1.0, -8.0, 4.0])));
    for deflated in [false, true] {
        let file = sample("x.npz", zip(&members, deflated));
        let table = read_wide(&file.path, &wide(), &OPTIONS).unwrap();
        assert!(is_sparse(&table));
        let mut expected = [0.0; 27];
        (expected[0], expected[8], expected[22]) = (0.25, -0.5, 1.0);
        assert_eq!(entries(&table), expected);
        let found = shape(&file.path, None, &OPTIONS).unwrap();
        assert_eq!((found.rows, found.columns.map(|c| c.len())), (Some(3), Some(9)));
        let y = sample("y.npy", npy("'<f8'", false, "(3,)", &f64_bytes(&[0.0, 1.0, 1.0])));
        let with_response = wide().with_binary_response(Response::File(y.path.clone()));
        assert_eq!(read_wide(&file.path, &with_response, &OPTIONS).unwrap().response, [0.0, 1.0, 1.0]);
        let plain = Wide { scale: Scale::None, ..wide() };
        assert_eq!(entries(&read_wide(&file.path, &plain, &OPTIONS).unwrap())[8], -2.0);
    }
    let narrow = [1.5_f32, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = sample("x.npz", zip(&npz("csr", [1, 9], &[0, 2], &[1, 3], ("'<f4'", narrow)), true));
    let table = read_wide(&file.path, &wide(), &OPTIONS).unwrap();
    let Storage::Csr(csr) = table.design.storage() else { panic!("sparse rows were expected") };
    assert!(matches!(csr.values(), Values::F32(_)), "single precision stays single");
}

#[test]
fn wrong_arrays_of_scipy() {
    let data = || ("'<f8'", f64_bytes(&[1.0, 2.0]));
    let refused = |members: &[(&str, Vec<u8>)], parts: &[&str]| {
        let file = sample("x.npz", zip(members, true));
        says(&message(read_wide(&file.path, &wide(), &OPTIONS)), &[&["x.npz"], parts].concat());
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
    says(&message(read_wide(&file.path, &wide(), &OPTIONS)), &["checksum"]);
    let file = sample("x.npz", &broken[..broken.len() - 30]);
    says(&message(read_wide(&file.path, &wide(), &OPTIONS)), &["cut short"]);
    let bounds = Wide::new(1.0, 2.0);
    let file = sample("x.npz", zip(&npz("csr", [1, 3], &[0, 2], &[0, 1], data()), true));
    says(&message(read_wide(&file.path, &bounds, &OPTIONS)), &["must hold 0", "widen"]);
    let column = wide().with_binary_response(Response::LastColumn);
    says(&message(read_wide(&file.path, &column, &OPTIONS)), &["features only", "file of its own"]);
    let options = ReadOptions { format: Some(Format::Npz), ..OPTIONS };
    let text = sample("x.npz", "1,2,3\n");
    says(&message(read_wide(&text.path, &wide(), &options)), &["not a whole .npz archive"]);
}

#[test]
fn bytes_stay_bytes_where_the_bounds_allow() {
    let genotypes: Vec<u8> = vec![0, 1, 2, 2, 0, 3];
    let file = sample("x.npy", npy("'|i1'", false, "(3, 2)", &genotypes));
    let read = |wide: &Wide, constant_column: bool| {
        let table = read_wide(&file.path, wide, &ReadOptions { constant_column, ..OPTIONS }).unwrap();
        (matches!(table.design.storage(), Storage::I8 { .. }), entries(&table), table)
    };
    // Centred at 1; the last entry is clamped to 2.
    let (bytes, found, table) = read(&Wide::new(0.0, 2.0), true);
    assert!(bytes);
    assert_eq!(found, [1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0]);
    assert_eq!(table.to_user_units(&[1.0, 2.0], Some(0.0)).1, Some(-3.0));
    // A centre of 1.5 in half units.
    let (bytes, found, _) = read(&Wide::new(0.0, 3.0), true);
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
                let wide = Wide { scale, intercept, ..Wide::new(lower, upper) };
                let options =
                    ReadOptions { precision: Some(Precision::F64), constant_column: true, ..OPTIONS };
                let double = read_wide(&file.path, &wide, &options).unwrap();
                let (_, found, _) = read(&wide, true);
                assert_eq!(found.len(), entries(&double).len());
                for (a, b) in found.iter().zip(entries(&double)) {
                    assert!((a - b).abs() < 1e-15, "[{lower}, {upper}], {scale:?}, {intercept}: {a} {b}");
                }
            }
        }
    }
    assert!(!read(&Wide::new(0.5, 2.0), false).0, "bounds that are not whole");
    assert!(!read(&Wide::new(-100.0, 127.0), false).0, "half units that leave the byte");
}
