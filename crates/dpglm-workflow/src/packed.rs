//! Rows that somebody else holds, packed: a cluster's workers, or batches that are read again. What they are asked is answered block by block.
//!
//! Whoever holds rows makes [`PackedRows`] of the public declaration alone, and needs nothing else. Answers are exact sums, not noised: they are
//! for the curator's process, as are those of sites (`dpglm::passes::Sites`).

use super::data::Frame;
use super::failure::Failure;
use super::means::columns::{Parts, blocks};
use super::means::{MeanMethod, Means};
use dpglm::passes::{Memo, Respondent};
use dpglm_io::packing::Packing;
use dpglm_io::{EncodedColumn, Schema};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// What this process keeps of blocks from question to question. Spark's workers live as long as their executor.
static MEMO: LazyLock<Memo> = LazyLock::new(|| Memo::new(MEMO_BYTES));
const MEMO_BYTES: usize = 192 << 20;

/// A block's key: that of its bytes and of how they are read, under a secret of this process. Norms of other rows would break a bound, so nobody may
/// be able to make two blocks of one key, and the same bytes are other rows where they are declared otherwise.
fn key(declared: &str, block: &[u8]) -> u128 {
    static SECRETS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    let [a, b] = SECRETS.each_ref().map(|secret| u128::from(secret.hash_one((declared, block))));
    a << 64 | b
}

/// How packed rows answer.
pub struct PackedRows {
    packing: Packing,
    /// How bytes are read, and as whose rows.
    declared: String,
    frame: Frame,
    /// What is public of rows whose cells are asked for.
    means: Means,
    blocks: usize,
}

impl PackedRows {
    /// Rows of these columns under a schema, packed so. The schema says whose rows they are.
    pub fn new(packing: Packing, schema: &Schema, columns: &[EncodedColumn]) -> Self {
        let unit = schema.unit().map(str::to_owned);
        let means = Means { unit, ..Means::by_method(MeanMethod::Columns).under(schema) };
        let declared = format!("{} {:?} {:?}", packing.declared(), schema.unit(), schema.intercept());
        let frame = Frame::new(schema, schema.intercept());
        Self { packing, declared, frame, means, blocks: blocks(columns).len() }
    }

    /// How they are packed.
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Adds what a block says to a question, and gives the sum of the fingerprints of its rows.
    pub fn add(&self, to: &mut Respondent, block: &[u8]) -> Result<u64, Failure> {
        let (rows, print) = self.packing.unpack(block)?;
        match to.asks_for_cells() {
            true => Parts::from(&rows).with_rows(&self.means, self.blocks, |rows| Ok(to.add_cells(rows)?))?,
            false => to.add(self.frame.dataset(rows)?, key(&self.declared, block), &MEMO)?,
        }
        Ok(print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpglm_io::memory::{Cells, encode_columns};
    use dpglm_io::packing::Beside;
    use dpglm_io::read::ReadOptions;

    /// Counts of a list of few are packed as their places in it, so that other bounds give the same bytes to other entries.
    #[test]
    fn the_same_bytes_under_other_bounds_are_other_rows() {
        let options = ReadOptions::default();
        let of = |bounds: &str| {
            let text = format!(
                r#"{{"intercept": false, "columns": {{"x": {{"kind": "count", "bounds": {bounds}}}}}}}"#
            );
            let schema: Schema = serde_json::from_str(&text).unwrap();
            let names = ["x".to_owned()];
            let columns = [("x".to_owned(), Cells::F64(&[1.0, 2.0, 23.0, 24.0]))];
            let table = encode_columns("X", &columns, &schema, &options).unwrap();
            let beside = Beside { response: None, units: false, bytes: false };
            let packing = Packing::new(&names, &schema, beside, &options).unwrap();
            let block = packing.block(&table).unwrap().bytes;
            (block, PackedRows::new(packing, &schema, &table.columns))
        };
        let ((one, narrow), (same, wide)) = (of("[0, 24]"), of("[0, 240]"));
        assert_eq!(one, same);
        assert_ne!(key(&narrow.declared, &one), key(&wide.declared, &one));
        assert_eq!(key(&narrow.declared, &one), key(&of("[0, 24]").1.declared, &one));
    }
}
