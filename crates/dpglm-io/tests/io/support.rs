//! Small files to read.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use dpglm::data::Values;
use dpglm::data::design::Storage;
use dpglm_io::{Encoded, ReadOptions, Schema, read_table};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

/// A folder with one file in it.
pub struct Sample {
    _folder: TempDir,
    pub path: PathBuf,
}

/// Writes a file into a folder of its own.
pub fn sample(name: &str, bytes: impl AsRef<[u8]>) -> Sample {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    Sample { _folder: folder, path }
}

pub const PEOPLE: &str = "\
age,visits,sex,work,id,income
30,2,Male,Private,a,50
50,0,Female,State,b,20
";

pub const PEOPLE_SCHEMA: &str = r#"
target = "income"
[columns]
age = { kind = "real", bounds = [10, 90] }
visits = { kind = "count", bounds = [0, 10] }
sex = { kind = "binary", levels = ["Female", "Male"] }
work = { kind = "category", levels = ["Private", "State", "Self"] }
id = { kind = "ignore" }
income = { kind = "real", bounds = [0, 100] }
"#;

pub fn schema(text: &str) -> Schema {
    Schema::parse(text).unwrap()
}

/// Reads a CSV text under a schema.
pub fn read(text: &str, schema_text: &str) -> dpglm_io::Result<Encoded> {
    let file = sample("table.csv", text);
    read_table(&file.path, &schema(schema_text), &ReadOptions::default())
}

/// The message of an error, which must be one.
pub fn message<T>(result: dpglm_io::Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

/// Checks that a message says all of these things.
#[track_caller]
pub fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

/// The stored entries as double precision, row after row, zeros and all.
pub fn entries(table: &Encoded) -> Vec<f64> {
    match table.design.storage() {
        Storage::F64(entries) => entries.clone(),
        Storage::F32(entries) => entries.iter().map(|x| f64::from(*x)).collect(),
        Storage::I8 { entries, scale } => entries.iter().map(|x| f64::from(*x) * scale).collect(),
        Storage::Csr(csr) => {
            let columns = table.design.columns();
            let mut out = vec![0.0; table.rows() * columns];
            for (row, range) in csr.offsets().windows(2).enumerate() {
                for k in range[0]..range[1] {
                    out[row * columns + csr.column(k)] = match csr.values() {
                        Values::F64(values) => values[k],
                        Values::F32(values) => f64::from(values[k]),
                        Values::Ones => 1.0,
                    };
                }
            }
            out
        }
    }
}

/// A zip archive of these members.
pub fn zip(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let packed = if deflated {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            bytes.clone()
        };
        let mut common = Vec::new();
        common.extend([45, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        common.extend(crc.sum().to_le_bytes());
        common.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        common.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        common.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        common.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x2d\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(u32::try_from(out.len()).unwrap().to_le_bytes());
        directory.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(packed);
    }
    let start = u32::try_from(out.len()).unwrap();
    let length = u32::try_from(directory.len()).unwrap();
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([u8::try_from(members.len()).unwrap(), 0].repeat(2));
    out.extend(length.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A sparse array as `scipy.sparse.save_npz` writes it.
pub fn npz(
    format: &str,
    shape: [i64; 2],
    indptr: &[i32],
    indices: &[i32],
    data: (&str, Vec<u8>),
) -> Vec<(&'static str, Vec<u8>)> {
    let whole = |numbers: &[i32]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy("'<i4'", false, &format!("({},)", numbers.len()), &bytes)
    };
    let shape: Vec<u8> = shape.iter().flat_map(|x| x.to_le_bytes()).collect();
    vec![
        ("indices.npy", whole(indices)),
        ("indptr.npy", whole(indptr)),
        ("format.npy", npy("'|S3'", false, "()", format.as_bytes())),
        ("shape.npy", npy("'<i8'", false, "(2,)", &shape)),
        ("data.npy", npy(data.0, false, &format!("({},)", indices.len()), &data.1)),
    ]
}

/// A `.npy` file of the given type and shape.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

pub fn f64_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A Parquet file with columns age (optional), visits, member, work (optional) and income, in two row groups of three
/// rows; the second row's age and the third's work are null.
pub fn people_parquet(compression: Compression) -> Vec<u8> {
    let schema = parse_message_type(
        "message people { optional double age; required int64 visits; required boolean member; \
         optional byte_array work (UTF8); required double income; }",
    )
    .unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties)).unwrap();
    for shift in [0.0, 10.0] {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[30.0 + shift, 50.0], Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[1, 2, 30], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<BoolType>().write_batch(&[true, false, true], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let words = [ByteArray::from("Private"), ByteArray::from("State")];
        column.typed::<ByteArrayType>().write_batch(&words, Some(&[1, 1, 0]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[5.0, f64::NAN, 15.0], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

pub const PARQUET_SCHEMA: &str = r#"
target = "income"
[columns]
age = { kind = "real", bounds = [10, 90] }
visits = { kind = "count", bounds = [0, 10] }
member = { kind = "binary", levels = [false, true] }
work = { kind = "category", levels = ["Private", "State"] }
income = { kind = "real", bounds = [0, 100] }
"#;

/// The lists of a column, one a row: a list or an element may be missing.
pub type Rows<T> = [Option<Vec<Option<T>>>];

/// A list whose elements are all there.
pub fn some<T: Copy>(elements: &[T]) -> Option<Vec<Option<T>>> {
    Some(elements.iter().copied().map(Some).collect())
}

/// A way to write sparse rows as two lists.
pub struct ListKind {
    /// The types of the lists' elements: whole numbers of 32 bits or not, single precision or not.
    pub narrow: [bool; 2],
    /// Whether a list may be missing, and an element.
    pub optional: [bool; 2],
    /// Lists without the groups around their elements.
    pub bare: bool,
}

pub const LIST_KINDS: [ListKind; 5] = [
    ListKind { narrow: [true, false], optional: [true, true], bare: false },
    ListKind { narrow: [false, true], optional: [true, true], bare: false },
    ListKind { narrow: [false, false], optional: [false, true], bare: false },
    ListKind { narrow: [true, true], optional: [true, false], bare: false },
    ListKind { narrow: [false, false], optional: [false, false], bare: true },
];

impl ListKind {
    fn column(&self, name: &str, element: &str) -> String {
        if self.bare {
            return format!("repeated {element} {name};");
        }
        let [list, inner] = self.optional.map(|optional| if optional { "optional" } else { "required" });
        format!("{list} group {name} (LIST) {{ repeated group list {{ {inner} {element} element; }} }}")
    }

    /// A file with columns `indices`, `id`, `values` and `y`, two rows in a group.
    pub fn file(&self, indices: &Rows<i64>, values: &Rows<f64>, y: &[f64]) -> Vec<u8> {
        let schema = parse_message_type(&format!(
            "message rows {{ {} required int64 id; {} required double y; }}",
            self.column("indices", if self.narrow[0] { "int32" } else { "int64" }),
            self.column("values", if self.narrow[1] { "float" } else { "double" }),
        ))
        .unwrap();
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::default()).unwrap();
        for start in (0..y.len()).step_by(2) {
            let range = start..y.len().min(start + 2);
            let mut group = writer.next_row_group().unwrap();
            let (whole, levels, starts) = self.levels(&indices[range.clone()]);
            if self.narrow[0] {
                let whole: Vec<i32> = whole.into_iter().map(|x| i32::try_from(x).unwrap()).collect();
                write::<Int32Type>(&mut group, &whole, &levels, &starts);
            } else {
                write::<Int64Type>(&mut group, &whole, &levels, &starts);
            }
            write::<Int64Type>(&mut group, &vec![7; range.len()], &[], &[]);
            let (real, levels, starts) = self.levels(&values[range.clone()]);
            if self.narrow[1] {
                let real: Vec<f32> = real.into_iter().map(|x| x as f32).collect();
                write::<FloatType>(&mut group, &real, &levels, &starts);
            } else {
                write::<DoubleType>(&mut group, &real, &levels, &starts);
            }
            write::<DoubleType>(&mut group, &y[range], &[], &[]);
            group.close().unwrap();
        }
        writer.close().unwrap();
        bytes
    }

    fn levels<T: Copy>(&self, rows: &Rows<T>) -> (Vec<T>, Vec<i16>, Vec<i16>) {
        let [list, element] = self.optional.map(i16::from);
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let elements = row.as_deref().unwrap_or_default();
            if elements.is_empty() {
                definitions.push(if row.is_some() { list } else { 0 });
                repetitions.push(0);
            }
            for (k, x) in elements.iter().enumerate() {
                definitions.push(list + 1 + if x.is_some() { element } else { 0 });
                repetitions.push(i16::from(k > 0));
                values.extend(x);
            }
        }
        (values, definitions, repetitions)
    }
}

fn write<T: parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[T::T],
    definitions: &[i16],
    repetitions: &[i16],
) {
    let mut column = group.next_column().unwrap().unwrap();
    let given = !definitions.is_empty();
    column
        .typed::<T>()
        .write_batch(values, given.then_some(definitions), given.then_some(repetitions))
        .unwrap();
    column.close().unwrap();
}
