//! SciPy's sparse arrays (`scipy.sparse.save_npz`): a zip archive of the arrays `indptr`, `indices` and `data`.

use std::path::{Path, PathBuf};

use super::npy::Member;
use super::zip::Archive;
use super::{ReadOptions, unnamed};
use crate::cell::Cell;
use crate::encode::{Builder, Encoded, Layout, Plan};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;

/// An open sparse array whose format and shape have been read.
pub(crate) struct Array {
    path: PathBuf,
    archive: Archive,
    rows: usize,
    columns: usize,
}

impl Array {
    /// Opens an archive; refuses all but compressed sparse rows.
    pub fn open(path: &Path) -> Result<Self> {
        let mut archive = Archive::open(path)?;
        let format = match archive.member("format.npy")? {
            Some(format) => format,
            None => {
                return Err(fault(
                    path,
                    "it holds no sparse array of SciPy",
                    "save one with scipy.sparse.save_npz",
                ));
            }
        };
        // The header is text, and the format's name is the last thing in the member.
        if !format.ends_with(b"csr") {
            return Err(fault(
                path,
                "the array is not in compressed sparse rows",
                "convert first: X.tocsr()",
            ));
        }
        let shape = numbers(path, &mut archive, "shape.npy")?;
        let [rows, columns] = shape[..] else {
            return Err(fault(path, "the array does not have two dimensions", "save a sparse matrix"));
        };
        if columns >= u32::MAX as usize {
            return Err(fault(path, "it has more than 4,294,967,294 columns", "hash them to fewer"));
        }
        Ok(Self { path: path.to_path_buf(), archive, rows, columns })
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Reads the entries under a schema for columns `x0, x1, ...`
    pub fn read(mut self, schema: &Schema, options: &ReadOptions) -> Result<Encoded> {
        let path = &self.path;
        let names = unnamed(self.columns);
        let plan = Plan::new(schema, path, &names, options.needs_target)?.without_centring(schema)?;
        let offsets = numbers(path, &mut self.archive, "indptr.npy")?;
        let indices = numbers(path, &mut self.archive, "indices.npy")?;
        let data = member(path, &mut self.archive, "data.npy")?;
        let values = Member::parse(path, &data)?;
        let fits = offsets.len() == self.rows.saturating_add(1)
            && offsets.first() == Some(&0)
            && offsets.last() == Some(&indices.len())
            && offsets.is_sorted()
            && values.count() == indices.len();
        if !fits {
            return Err(fault(
                path,
                "its arrays do not fit together",
                "save it again with scipy.sparse.save_npz",
            ));
        }
        for (row, range) in offsets.windows(2).enumerate() {
            let indices = &indices[range[0]..range[1]];
            if !indices.is_sorted_by(|a, b| a < b) {
                return Err(fault(
                    path,
                    format!("the columns of row {} are out of order or repeated", row + 1),
                    "call X.sum_duplicates() before it is saved",
                ));
            }
            if indices.last().is_some_and(|last| *last >= self.columns) {
                return Err(fault(
                    path,
                    format!("row {} has an entry beyond the {} columns", row + 1, self.columns),
                    "save it again with scipy.sparse.save_npz",
                ));
            }
        }
        let mut settings = options.sparse_settings(values.precision());
        if !plan.keeps_order()
            && let Layout::Sparse(precision) = settings.layout
        {
            settings.layout = Layout::Dense(precision);
        }
        let mut builder = Builder::new(path, schema, plan, settings);
        builder.ensure_rows(self.rows)?;
        let mut slot_of = vec![None; self.columns];
        for slot in 0..builder.slots() {
            slot_of[builder.position(slot)] = Some(slot);
        }
        let (mut row, mut k) = (0, 0);
        values.each(|value| {
            while offsets[row + 1] <= k {
                row += 1;
            }
            let slot = slot_of[indices[k]];
            k += 1;
            slot.map_or(Ok(()), |slot| builder.put(row, slot, Cell::Number(value)))
        })?;
        builder.finish()
    }
}

fn member(path: &Path, archive: &mut Archive, name: &str) -> Result<Vec<u8>> {
    archive
        .member(name)?
        .ok_or_else(|| fault(path, format!("{name} is missing"), "save it again with scipy.sparse.save_npz"))
}

/// A member of whole numbers from 0.
fn numbers(path: &Path, archive: &mut Archive, name: &str) -> Result<Vec<usize>> {
    let bytes = member(path, archive, name)?;
    let array = Member::parse(path, &bytes)?;
    let mut out = Vec::with_capacity(array.count());
    array.each(|x| {
        if !(0.0..9e15).contains(&x) || x.fract() != 0.0 {
            return Err(fault(
                path,
                format!("{name} has a number that is negative or not whole"),
                "save it again with scipy.sparse.save_npz",
            ));
        }
        out.push(x as usize);
        Ok(())
    })?;
    Ok(out)
}

fn fault(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::file(path, Place::Whole, problem, remedy)
}
