//! Parquet files: a flat one, and one of sparse rows.

use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Two columns of 200 rows in two groups.
pub fn flat() -> Vec<u8> {
    let schema = parse_message_type("message t { required double a; required double y; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
    for group in 0..2 {
        let mut rows = writer.next_row_group().unwrap();
        for _ in 0..2 {
            let cells: Vec<f64> = (0..100).map(|i| f64::from((i * 7 + group) % 10)).collect();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(&cells, None, None).unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

/// A Parquet file of sparse rows: lists of columns from 0 and of values, and the response `y`.
pub fn lists(rows: &[(Vec<i64>, Vec<f64>, f64)], names: [&str; 2]) -> Vec<u8> {
    let list = |name: &str, element: &str| {
        format!("required group {name} (LIST) {{ repeated group list {{ required {element} element; }} }}")
    };
    let [indices, values] = [list(names[0], "int64"), list(names[1], "double")];
    let schema =
        parse_message_type(&format!("message rows {{ {indices} {values} required double y; }}")).unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let levels = |lengths: Vec<usize>| -> (Vec<i16>, Vec<i16>) {
        let each = lengths
            .into_iter()
            .flat_map(|n| (0..n.max(1)).map(move |k| (i16::from(n > 0), i16::from(k > 0))));
        each.unzip()
    };
    let (defined, repeated) = levels(rows.iter().map(|row| row.0.len()).collect());
    let mut column = group.next_column().unwrap().unwrap();
    let all: Vec<i64> = rows.iter().flat_map(|row| row.0.clone()).collect();
    column.typed::<Int64Type>().write_batch(&all, Some(&defined), Some(&repeated)).unwrap();
    column.close().unwrap();
    let (defined, repeated) = levels(rows.iter().map(|row| row.1.len()).collect());
    let mut column = group.next_column().unwrap().unwrap();
    let all: Vec<f64> = rows.iter().flat_map(|row| row.1.clone()).collect();
    column.typed::<DoubleType>().write_batch(&all, Some(&defined), Some(&repeated)).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let all: Vec<f64> = rows.iter().map(|row| row.2).collect();
    column.typed::<DoubleType>().write_batch(&all, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}
