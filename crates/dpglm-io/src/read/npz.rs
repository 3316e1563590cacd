//! SciPy's sparse arrays (`scipy.sparse.save_npz`): a zip archive of the arrays `indptr`, `indices` and `data`.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::npy::Member;
use super::source::{self, Opening, Source};
use super::{Declared, ReadOptions, unnamed};
use crate::cell::Cell;
use crate::encode::{Builder, Layout, Plan, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;
use crate::uniform::Response;

const SAVE_AGAIN: &str = "save it again with scipy.sparse.save_npz";

/// A sparse array of SciPy.
pub(crate) struct Npz;

impl Source for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn is_begun_by(&self, first: &[u8], extension: &str) -> bool {
        first.starts_with(b"PK\x03\x04") && extension == "npz"
    }

    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        if let Declared::Uniform(uniform) = opening.declared
            && matches!(uniform.response, Response::LastColumn | Response::Column(_))
        {
            return Err(fault(
                path,
                "a sparse array holds features only",
                "give the response in a file of its own",
            ));
        }
        opening.refuse_unit(path)?;
        Ok(Box::new(Array::open(path)?))
    }

    fn open_response(&self, path: &Path, _opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        Err(fault(path, "a response is not read from a sparse array", "save it with numpy.save"))
    }
}

/// An open sparse array whose format and shape have been read.
pub(crate) struct Array {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    rows: usize,
    columns: usize,
    /// The member `data.npy`, once it is read.
    data: Vec<u8>,
}

impl Array {
    /// Opens an archive; refuses all but compressed sparse rows.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = BufReader::new(File::open(path).map_err(|e| Error::open(path, e))?);
        let mut archive = ZipArchive::new(file).map_err(|error| {
            damaged(path, &format!("its directory is not readable; it may be cut short ({error})"))
        })?;
        if archive.index_for_name("format.npy").is_none() {
            return Err(fault(
                path,
                "it holds no sparse array of SciPy",
                "save one with scipy.sparse.save_npz",
            ));
        }
        let format = member(path, &mut archive, "format.npy")?;
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
        Ok(Self { path: path.to_path_buf(), archive, rows, columns, data: Vec::new() })
    }
}

impl source::Table for Array {
    fn rows(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn columns(&self) -> Result<Vec<String>> {
        Ok(unnamed(self.columns))
    }

    fn leaves_zeros_out(&self) -> bool {
        true
    }

    /// As the file itself stores them; dense where columns are left out or change places.
    fn settings(&mut self, options: &ReadOptions, _schema: &Schema, plan: &Plan) -> Result<Settings> {
        self.data = member(&self.path, &mut self.archive, "data.npy")?;
        let settings = options.sparse_settings(Member::parse(&self.path, &self.data)?.precision());
        Ok(match settings.layout {
            Layout::Sparse(precision) if !plan.keeps_order() => {
                Settings { layout: Layout::Dense(precision), ..settings }
            }
            _ => settings,
        })
    }

    fn read_into(mut self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let path = &self.path;
        let offsets = numbers(path, &mut self.archive, "indptr.npy")?;
        let indices = numbers(path, &mut self.archive, "indices.npy")?;
        let values = Member::parse(path, &self.data)?;
        self.check(&offsets, &indices, values.count())?;
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
        })
    }
}

impl Array {
    /// Refuses arrays that are not compressed sparse rows of the announced shape.
    fn check(&self, offsets: &[usize], indices: &[usize], values: usize) -> Result<()> {
        let path = &self.path;
        let fits = offsets.len() == self.rows.saturating_add(1)
            && offsets.first() == Some(&0)
            && offsets.last() == Some(&indices.len())
            && offsets.is_sorted()
            && values == indices.len();
        if !fits {
            return Err(fault(path, "its arrays do not fit together", SAVE_AGAIN));
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
                    SAVE_AGAIN,
                ));
            }
        }
        Ok(())
    }
}

/// A member's bytes, unpacked. At most as many as its directory announces are held, and no room is made for them before they come.
fn member(path: &Path, archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Result<Vec<u8>> {
    let found = match archive.by_name(name) {
        Ok(found) => found,
        Err(ZipError::FileNotFound) => {
            return Err(fault(path, format!("{name} is missing"), SAVE_AGAIN));
        }
        Err(error) => return Err(damaged(path, &error)),
    };
    let size = found.size();
    let mut bytes = Vec::new();
    // One byte more than announced, to notice a member that goes on.
    let read = found.take(size.saturating_add(1)).read_to_end(&mut bytes);
    if let Err(error) = read {
        return Err(damaged(path, &error));
    }
    if bytes.len() as u64 != size {
        return Err(damaged(path, &"a member is not as long as its directory says"));
    }
    Ok(bytes)
}

/// A member of whole numbers from 0.
fn numbers(path: &Path, archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Result<Vec<usize>> {
    let bytes = member(path, archive, name)?;
    let array = Member::parse(path, &bytes)?;
    let mut out = Vec::with_capacity(array.count());
    array.each(|x| {
        if !(0.0..9e15).contains(&x) || x.fract() != 0.0 {
            return Err(fault(
                path,
                format!("{name} has a number that is negative or not whole"),
                SAVE_AGAIN,
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

/// What is said of an archive that cannot be read. Its members' bytes are never part of it.
fn damaged(path: &Path, what: &dyn std::fmt::Display) -> Error {
    fault(
        path,
        format!("not a whole .npz archive: {what}"),
        "fetch the file again, or save it again with scipy.sparse.save_npz",
    )
}
