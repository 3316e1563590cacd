//! Sparse text tables in LIBSVM's format, and parts of them.

use crate::Result;
use crate::data::file;
use dpglm::data::design::Storage;
use dpglm::data::{Design, Values};
use dpglm_io::read::{Format, ReadOptions, read_uniform};
use dpglm_io::uniform::{Response, UniformBounds};
use std::sync::OnceLock;

/// A sparse table with its response.
pub struct Text {
    /// Sparse rows.
    pub design: Design,
    /// One number a row.
    pub response: Vec<f64>,
}

/// RCV1: 23,749 documents, 47,236 terms, rows of length 1, label 1 for corporate and economic news.
pub(crate) fn rcv1() -> Result<&'static Text> {
    static ROWS: OnceLock<std::result::Result<Text, String>> = OnceLock::new();
    let read = || {
        let uniform = UniformBounds { intercept: false, ..UniformBounds::new(0.0, 1.0) };
        let uniform = uniform.with_binary_response(Response::LastColumn).with_features(47_236);
        read("rcv1_binary_subset/rcv1_subset.binary.bz2", &uniform)
    };
    ROWS.get_or_init(|| read().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone().into())
}

/// We8there: 6,166 reviews of restaurants, counts of 2,640 pairs of words up to 10, the overall rating from 1 to 5.
pub fn we8there() -> Result<&'static Text> {
    static ROWS: OnceLock<std::result::Result<Text, String>> = OnceLock::new();
    let read = || {
        let uniform = UniformBounds { intercept: false, ..UniformBounds::new(0.0, 10.0) };
        let uniform = uniform.with_response(Response::LastColumn, 1.0, 5.0).with_features(2_640);
        read("we8there_text_regression/we8there.libsvm.gz", &uniform)
    };
    ROWS.get_or_init(|| read().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone().into())
}

fn read(name: &str, uniform: &UniformBounds) -> Result<Text> {
    let options = ReadOptions { format: Format::named("libsvm"), ..ReadOptions::default() };
    let table = read_uniform(&file(name)?, uniform, &options)?;
    Ok(Text { design: table.design, response: table.response })
}

impl Text {
    /// The entries of a row: columns and values.
    fn row(&self, row: usize) -> Vec<(usize, f64)> {
        let Storage::Csr(csr) = self.design.storage() else { return Vec::new() };
        (csr.offsets()[row]..csr.offsets()[row + 1])
            .map(|e| {
                let value = match csr.values() {
                    Values::F64(values) => values[e],
                    Values::F32(values) => f64::from(values[e]),
                    Values::Ones => 1.0,
                };
                (csr.column(e), value)
            })
            .collect()
    }

    /// In how many of the rows each column occurs.
    pub(crate) fn occurrences(&self, rows: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.design.columns()];
        rows.iter().flat_map(|&row| self.row(row)).for_each(|(column, _)| counts[column] += 1);
        counts
    }

    /// The chosen rows and columns; each row's entries, as (column, value), pass through `map` first.
    pub fn part(
        &self,
        rows: &[usize],
        columns: &[usize],
        map: impl Fn(Vec<(usize, f64)>) -> Vec<(usize, f64)>,
    ) -> Result<Design> {
        let mut place = vec![None; self.design.columns()];
        let mut ordered = columns.to_vec();
        ordered.sort_unstable();
        ordered.iter().enumerate().for_each(|(k, &column)| place[column] = u32::try_from(k).ok());
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let kept = self.row(row).into_iter().filter(|(column, _)| place[*column].is_some()).collect();
            for (column, value) in map(kept) {
                if let Some(k) = place[column] {
                    indices.push(k);
                    values.push(value);
                }
            }
            offsets.push(indices.len());
        }
        Ok(Design::from_csr(columns.len(), offsets, indices, Values::F64(values))?)
    }

    /// The responses of the chosen rows.
    pub(crate) fn response_of(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&row| self.response[row]).collect()
    }
}

/// A row scaled to length 1, a little below so that rounding does not lengthen it.
pub fn unit(row: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let length = row.iter().map(|(_, x)| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    row.into_iter().map(|(j, x)| (j, x / (length * (1.0 + 1e-9)))).collect()
}
