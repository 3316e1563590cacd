//! No bytes make a reader panic.

use dpglm_io::{
    Declared, Format, ReadOptions, Response, Schema, UniformBounds, read_table, read_uniform, shape,
};
use parquet::basic::Compression;
use proptest::prelude::*;

use crate::support::*;

fn named(format: &str) -> Format {
    Format::named(format).unwrap()
}

fn try_everything(bytes: &[u8], format: Format) {
    let file = sample("hostile", bytes);
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let plain = UniformBounds::new(-1.0, 1.0);
    let mut all = vec![plain.clone(), plain.clone().with_features(5)];
    all.extend([true, false].map(|header| plain.clone().with_header(header)));
    all.extend(all.clone().into_iter().map(|uniform| uniform.with_binary_response(Response::LastColumn)));
    all.extend([true, false].map(|header| {
        plain.clone().with_response(Response::File(file.path.clone()), 0.0, 1.0).with_header(header)
    }));
    all.push(plain.with_header(true).with_unit("1"));
    for uniform in &all {
        let _ = (
            read_uniform(&file.path, uniform, &options),
            shape(&file.path, Declared::Uniform(uniform), &options),
        );
    }
    let _ = read_table(&file.path, &schema(PARQUET_SCHEMA), &options);
    let _ = [None, Some(true), Some(false)].map(|header| dpglm_io::draft(&file.path, header, true));
}

/// A valid file with some bytes changed and perhaps its end cut off.
fn damaged(whole: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = whole.len();
    (proptest::collection::vec((0..length, any::<u8>()), 1..6), 0..length).prop_map(move |(changes, cut)| {
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if cut % 4 == 0 {
            bytes.truncate(cut);
        }
        bytes
    })
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(
        prop_oneof![
            Just(b','),
            Just(b'\n'),
            Just(b'"'),
            Just(b' '),
            Just(b':'),
            Just(b'1'),
            Just(b'-'),
            Just(b'.'),
            Just(b'e'),
            any::<u8>()
        ],
        0..60,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for format in Format::all() {
            try_everything(&bytes, format);
        }
    }

    #[test]
    fn text_like_bytes(bytes in text()) {
        try_everything(&bytes, named("csv"));
        try_everything(&bytes, named("libsvm"));
    }

    #[test]
    fn damaged_arrays(bytes in damaged(npy("'<f8'", false, "(3, 2)", &f64_bytes(&[0.5; 6])))) {
        try_everything(&bytes, named("npy"));
    }

    #[test]
    fn damaged_sparse_arrays(bytes in damaged(zip(
        &npz("csr", [2, 3], &[0, 2, 3], &[0, 2, 1], ("'<f8'", f64_bytes(&[0.5, 1.0, 2.0]))),
        false,
    ))) {
        try_everything(&bytes, named("npz"));
    }

    #[test]
    fn damaged_parquet(bytes in damaged(people_parquet(Compression::SNAPPY))) {
        try_everything(&bytes, named("parquet"));
    }

    #[test]
    fn damaged_lists(bytes in damaged(LIST_KINDS[0].file(
        &[some(&[0, 2]), None, some(&[1])],
        &[some(&[0.5, 1.0]), Some(vec![]), Some(vec![None])],
        &[1.0, 0.0, 1.0],
    ))) {
        try_everything(&bytes, named("parquet"));
    }

    #[test]
    fn arbitrary_schemas(text in "[a-z=\\[\\]{}\", .0-9\n]{0,80}") {
        let _ = Schema::parse(&text);
    }

    #[test]
    fn damaged_schemas(bytes in damaged(PEOPLE_SCHEMA.as_bytes().to_vec())) {
        let _ = Schema::parse(&String::from_utf8_lossy(&bytes));
    }
}
