//! Rows packed into few bytes, for somebody else to hold: a cluster's cache, a file.
//!
//! How a row is packed follows from its declaration alone, so every machine that knows the declaration packs and unpacks alike.
//!
//! A block is its header, then rows of equal length:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..8 | the sum of fingerprints of its rows, modulo 2^40 |
//! | 8..16 | how many rows it has |
//! | 16..24 | how many units; rows, where every row is a unit |
//!
//! Fingerprints tell rows apart that differ by accident. Their sum does not depend on the order of rows or on where blocks end: rows that are
//! read a second time, as a cluster does whose machine has failed, must have the sum of the first time.
//!
//! Where units have several rows, rows come with the id of their unit in a form in which equal ids are equal bytes ([`unit_ids`]). [`Packing::gather`]
//! brings the rows of a unit together, in the order of their bytes: the order in which they come does not matter.

use std::path::Path;

use dpglm::data::dataset::MOST_UNIT_ROWS;

use crate::cell::Cell;
use crate::encode::{Encoded, Layout, Numbering, Plan, Present, Record, RowBlock, Settings};
use crate::error::{Error, Place, Result};
use crate::memory::{Cells, byte_layout};
use crate::read::ReadOptions;
use crate::schema::Schema;

/// The header's bytes.
const HEADER: usize = 24;
/// Rows of a block that is gathered, about.
const BLOCK_ROWS: usize = 1 << 14;
/// Fingerprints count modulo this: sums of many blocks' fit in 63 bits.
const PRINTS: u64 = 1 << 40;

/// How rows of a declared table are packed.
pub struct Packing {
    record: Record,
}

/// Some rows, packed, with what is known of them.
pub struct PackedBlock {
    /// Header and rows.
    pub bytes: Vec<u8>,
    /// How many rows.
    pub rows: u64,
    /// How many units.
    pub units: u64,
    /// The sum of their fingerprints.
    pub print: u64,
}

/// What is packed beside the features.
#[derive(Clone, Copy)]
pub struct Beside<'s> {
    /// The response, where it has a schema of its own: its name, and this.
    pub response: Option<(&'s str, &'s Schema)>,
    /// Whether units may have several rows, also where the schema names none.
    pub units: bool,
    /// Whether the numbers come as bytes, and stay so where their bounds allow it.
    pub bytes: bool,
}

impl Packing {
    /// Of columns of these names.
    pub fn new(names: &[String], schema: &Schema, beside: Beside<'_>, options: &ReadOptions) -> Result<Self> {
        let path = Path::new("the rows");
        let plan = Plan::new(schema, path, names, options.needs_target)?;
        let layout = match beside.bytes.then(|| byte_layout(schema, &plan, options)).flatten() {
            Some(bytes) => bytes,
            None => Layout::Dense(options.precision.unwrap_or(crate::Precision::F64)),
        };
        let settings = Settings { layout, strict: false, constant_column: options.constant_column };
        let mut present = Present::new(schema, &plan, &settings);
        present.units |= beside.units;
        let mut record = Record::new(&plan, &settings, &present).ok_or_else(|| unexpected(path))?;
        if let Some((name, schema)) = beside.response {
            let plan = Plan::new(schema, Path::new(name), &[name.to_owned()], true)?;
            record = record.with_response(&plan);
        }
        Ok(Self { record })
    }

    /// The bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.record.bytes()
    }

    /// How rows are packed, as text: that of two differs where the same bytes are other rows.
    pub fn declared(&self) -> String {
        format!("{:?}", self.record)
    }

    /// The rows of a table, without a header.
    pub fn pack(&self, table: &Encoded) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(table.rows() * self.row_bytes());
        self.put(table, &mut bytes)?;
        // Numbers of units hold within this table alone: rows get those of their block when they are gathered.
        let size = self.row_bytes();
        if self.record.has_units() {
            bytes.chunks_exact_mut(size).for_each(|row| row[size - 4..].fill(0));
        }
        Ok(bytes)
    }

    /// A table as a block, each row a unit.
    pub fn block(&self, table: &Encoded) -> Result<PackedBlock> {
        let mut bytes = vec![0; HEADER];
        bytes.reserve_exact(table.rows() * self.row_bytes());
        self.put(table, &mut bytes)?;
        let rows = bytes[HEADER..].chunks_exact(self.row_bytes());
        let print = rows.fold(0, |sum: u64, row| sum.wrapping_add(fingerprint(&[row])));
        let rows = table.rows() as u64;
        Ok(PackedBlock::sealed(bytes, rows, rows, print))
    }

    fn put(&self, table: &Encoded, bytes: &mut Vec<u8>) -> Result<()> {
        if self.record.write(table, bytes) { Ok(()) } else { Err(unexpected(Path::new("the rows"))) }
    }

    /// Packed rows in blocks, the rows of a unit in one. The id of the k-th row is that between the k-th end and the one before. Of a unit's
    /// rows as many are kept as count.
    pub fn gather(&self, ids: &[u8], ends: &[usize], rows: &[u8]) -> Result<Vec<PackedBlock>> {
        let size = self.row_bytes();
        let sound = ends.is_sorted() && ends.last().is_none_or(|&end| end <= ids.len());
        if !sound || ends.len().checked_mul(size) != Some(rows.len()) {
            return Err(unexpected(Path::new("the rows")));
        }
        let id = |row: usize| &ids[if row == 0 { 0 } else { ends[row - 1] }..ends[row]];
        let row_of = |row: usize| &rows[row * size..][..size];
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_unstable_by(|&a, &b| id(a).cmp(id(b)).then_with(|| row_of(a).cmp(row_of(b))));
        let most = MOST_UNIT_ROWS as usize;
        let mut blocks = Vec::new();
        let (mut bytes, mut units, mut print) = (vec![0; HEADER], 0_u32, 0_u64);
        let mut seal = |bytes: &mut Vec<u8>, units: &mut u32, print: &mut u64| {
            let bytes = std::mem::replace(bytes, vec![0; HEADER]);
            let rows = ((bytes.len() - HEADER) / size) as u64;
            blocks.push(PackedBlock::sealed(
                bytes,
                rows,
                std::mem::take(units).into(),
                std::mem::take(print),
            ));
        };
        for unit in order.chunk_by(|&a, &b| id(a) == id(b)) {
            if (bytes.len() - HEADER) / size + unit.len().min(most) > BLOCK_ROWS && units > 0 {
                seal(&mut bytes, &mut units, &mut print);
            }
            for (place, &row) in unit.iter().enumerate() {
                print = print.wrapping_add(fingerprint(&[id(row), row_of(row)]));
                if place < most {
                    bytes.extend_from_slice(row_of(row));
                    let at = bytes.len() - 4;
                    bytes[at..].copy_from_slice(&units.to_le_bytes());
                }
            }
            units += 1;
        }
        if units > 0 {
            seal(&mut bytes, &mut units, &mut print);
        }
        Ok(blocks)
    }

    /// The rows of a block, and the sum of their fingerprints when it was packed.
    pub fn unpack(&self, block: &[u8]) -> Result<(RowBlock, u64)> {
        let faulty = || {
            Error::file(Path::new("the rows"), Place::Whole, "a block is not whole", "pack the rows again")
        };
        let (header, rows) = block.split_at_checked(HEADER).ok_or_else(faulty)?;
        let number = |at: usize| header[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (print, count, units) = (number(0), number(8) as usize, number(16) as usize);
        if count.checked_mul(self.row_bytes()) != Some(rows.len()) {
            return Err(faulty());
        }
        Ok((self.record.read(rows, (0, units))?, print))
    }
}

impl PackedBlock {
    fn sealed(mut bytes: Vec<u8>, rows: u64, units: u64, print: u64) -> Self {
        let print = print % PRINTS;
        for (place, number) in [print, rows, units].into_iter().enumerate() {
            bytes[8 * place..][..8].copy_from_slice(&number.to_le_bytes());
        }
        Self { bytes, rows, units, print }
    }
}

/// Ids of units, of any kind, as bytes that are equal where the ids are: one after the other, with the end of each. Missing ids are all equal;
/// the schema says which text stands for one.
pub fn unit_ids(schema: &Schema, cells: Cells<'_>) -> Result<(Vec<u8>, Vec<usize>)> {
    let marks = schema.marks();
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(cells.len()));
    for row in 0..cells.len() {
        let cell = cells.at(row);
        Numbering::write(if marks.cover(cell) { Cell::Missing } else { cell }, &mut bytes);
        ends.push(bytes.len());
    }
    Ok((bytes, ends))
}

/// A number that differs where bytes differ, but for accidents.
fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut word = |word: u64| {
        state = (state.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    };
    for part in parts {
        word(part.len() as u64);
        let (words, rest) = part.as_chunks();
        words.iter().for_each(|bytes| word(u64::from_le_bytes(*bytes)));
        rest.iter().for_each(|&byte| word(byte.into()));
    }
    // Sums look at low bits most: high ones are brought down.
    state ^= state >> 32;
    state = state.wrapping_mul(0xd6e8_feb8_6659_fd93);
    state ^ (state >> 32)
}

fn unexpected(path: &Path) -> Error {
    Error::file(
        path,
        Place::Whole,
        "rows were not encoded as declared",
        "give all of them the same declared columns; nothing is released",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{attach_response, attach_units, encode_columns};
    use dpglm::data::design::Storage;

    const FEATURES: &str = r#"{"intercept": true, "missing": "drop", "columns": {
        "age": {"kind": "real", "bounds": [18, 98]}, "sex": {"kind": "binary", "levels": ["f", "m"]}}}"#;
    const RESPONSE: &str = r#"{"target": "y", "columns": {"y": {"kind": "count", "bounds": [0, 9]}}}"#;

    fn schema(json: &str) -> Schema {
        serde_json::from_str(json).unwrap()
    }

    fn table(ages: &[f64], sexes: &[i64], counts: &[f64], options: &ReadOptions) -> Encoded {
        let levels = ["f", "m"].map(|level| crate::memory::Meaning::Text(level.into()));
        let columns = [
            ("age".to_owned(), Cells::F64(ages)),
            ("sex".to_owned(), Cells::Coded { codes: sexes, meanings: &levels }),
        ];
        let mut table = encode_columns("X", &columns, &schema(FEATURES), options).unwrap();
        attach_response(&mut table, "y", Cells::F64(counts), &schema(RESPONSE), options).unwrap();
        table
    }

    fn packing(units: bool, options: &ReadOptions) -> Packing {
        let (features, response) = (schema(FEATURES), schema(RESPONSE));
        let beside = Beside { response: Some(("y", &response)), units, bytes: false };
        Packing::new(&["age".into(), "sex".into()], &features, beside, options).unwrap()
    }

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let options = ReadOptions { constant_column: true, ..ReadOptions::default() };
        let packing = packing(false, &options);
        // An age of eight bytes, a byte each for sex, response and weight.
        assert_eq!(packing.row_bytes(), 11);
        let table = table(&[20.5, f64::NAN, 200.0], &[0, 1, -1], &[3.0, 9.0, 4.0], &options);
        let block = packing.block(&table).unwrap();
        let (rows, print) = packing.unpack(&block.bytes).unwrap();
        let entries = |design: &dpglm::data::Design| match design.storage() {
            Storage::F64(entries) => entries.to_vec(),
            _ => Vec::new(),
        };
        assert_eq!(entries(&rows.design), entries(&table.design));
        assert_eq!(entries(&rows.design).len(), 9);
        assert_eq!((rows.response, rows.weights), (table.response, table.weights));
        assert_eq!((block.rows, block.units, block.print), (3, 3, print));
        for broken in [&block.bytes[..10], &block.bytes[..block.bytes.len() - 1]] {
            assert!(packing.unpack(broken).is_err());
        }
    }

    /// However rows come, their units' rows end up in the same order, with the same sum of fingerprints.
    #[test]
    fn rows_are_gathered_by_unit_in_any_order() {
        let options = ReadOptions { constant_column: true, ..ReadOptions::default() };
        let packing = packing(true, &options);
        let ids = [7_i64, 3, 7, 9, 3, 7];
        let gathered = |order: &[usize]| {
            let pick = |all: &[f64]| -> Vec<f64> { order.iter().map(|&k| all[k]).collect() };
            let ages = pick(&[20.0, 30.0, 40.0, 50.0, 60.0, 25.0]);
            let ids: Vec<i64> = order.iter().map(|&k| ids[k]).collect();
            let mut table = table(&ages, &[0; 6], &pick(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), &options);
            attach_units(&mut table, "person", Cells::I64(&ids), &options).unwrap();
            table.units.as_mut().unwrap().of_row.fill(0);
            let (bytes, ends) = unit_ids(&schema(FEATURES), Cells::I64(&ids)).unwrap();
            packing.gather(&bytes, &ends, &packing.pack(&table).unwrap()).unwrap()
        };
        let first = gathered(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(first.len(), 1);
        assert_eq!((first[0].rows, first[0].units), (6, 3));
        assert_eq!(packing.unpack(&first[0].bytes).unwrap().0.units.unwrap().of_row, [0, 0, 1, 1, 1, 2]);
        let second = gathered(&[5, 3, 1, 0, 4, 2]);
        assert_eq!(first[0].bytes, second[0].bytes);
        // Another row is another sum.
        assert_ne!(gathered(&[5, 3, 1, 0, 4, 4])[0].print, first[0].print);
    }

    #[test]
    fn equal_ids_are_equal_bytes() {
        let of = |cells: Cells<'_>| {
            let (bytes, ends) = unit_ids(&schema(FEATURES), cells).unwrap();
            bytes[..ends[0]].to_vec()
        };
        let text = |text: &str| {
            let meanings = [crate::memory::Meaning::Text(text.into())];
            of(Cells::Coded { codes: &[0], meanings: &meanings })
        };
        assert_eq!(of(Cells::I64(&[7])), of(Cells::F64(&[7.0])));
        assert_eq!(of(Cells::I64(&[7])), text("7"));
        assert_eq!(of(Cells::I64(&[7])), text("0000007"));
        assert_eq!(of(Cells::Truth(&[true])), text("True"));
        assert_ne!(of(Cells::I64(&[7])), text("p07"));
        assert_eq!(of(Cells::F64(&[f64::NAN])), text("NA"));
        assert_eq!(of(Cells::F64(&[f64::NAN])), of(Cells::Coded { codes: &[-1], meanings: &[] }));
    }
}
