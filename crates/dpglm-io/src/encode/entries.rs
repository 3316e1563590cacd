//! The design under construction, in the layout its file suggests.

use dpglm::data::{Design, Values};

use super::Precision;
use crate::bounds::{Bounds, Scaling};

/// How the design is stored.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// Every entry.
    Dense(Precision),
    /// The entries that the file gives. They must come row by row, and by increasing column within a row.
    Sparse(Precision),
    /// One byte an entry.
    Bytes(ByteScale),
}

/// Whole numbers in a byte for scaled values: `(x - center) * factor`, each standing for `scale`.
#[derive(Clone, Copy)]
pub(crate) struct ByteScale {
    center: f64,
    factor: f64,
    scale: f64,
    /// What stands for 1 in the constant column.
    one: i8,
}

impl ByteScale {
    /// A way to hold whole numbers within `bounds`, scaled, in a byte; `None` if there is none.
    pub(crate) fn new(bounds: Bounds, scaling: &Scaling, constant: bool) -> Option<Self> {
        let whole = |x: f64| x == x.round() && x.abs() <= 127.0;
        if !(whole(bounds.lower()) && whole(bounds.upper())) {
            return None;
        }
        // A centre between two whole numbers needs half units.
        let factor = [1.0, 2.0].into_iter().find(|m| whole(scaling.center * m))?;
        let ends = [bounds.lower(), bounds.upper()].map(|x| (x - scaling.center) * factor);
        let units = factor * scaling.half_width;
        let one = if constant { units } else { 0.0 };
        if !ends.into_iter().chain([one]).all(whole) {
            return None;
        }
        // The quotient or one of its neighbours: with it the constant is 1 as computed, and no entry is above 1.
        let nearest = 1.0 / units;
        let scale =
            [nearest, nearest.next_up(), nearest.next_down()].into_iter().find(|s| units * s == 1.0)?;
        Some(Self { center: scaling.center, factor, scale, one: one as i8 })
    }

    /// What one of the whole numbers stands for.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }
}

/// The entries so far.
pub(super) enum Entries {
    F64(Vec<f64>),
    F32(Vec<f32>),
    Bytes(Vec<i8>, ByteScale),
    Sparse(Sparse),
}

/// Sparse rows so far.
pub(super) struct Sparse {
    constant: bool,
    precision: Precision,
    starts: Vec<usize>,
    indices: Vec<u32>,
    wide: Vec<f64>,
    narrow: Vec<f32>,
}

impl Entries {
    pub(super) fn new(layout: Layout, constant: bool) -> Self {
        match layout {
            Layout::Dense(Precision::F64) => Self::F64(Vec::new()),
            Layout::Dense(Precision::F32) => Self::F32(Vec::new()),
            Layout::Bytes(scale) => Self::Bytes(Vec::new(), scale),
            Layout::Sparse(precision) => Self::Sparse(Sparse {
                constant,
                precision,
                starts: Vec::new(),
                indices: Vec::new(),
                wide: Vec::new(),
                narrow: Vec::new(),
            }),
        }
    }

    /// Makes room for `rows` rows of zeros; false if memory does not suffice.
    pub(super) fn grow(&mut self, rows: usize, width: usize) -> bool {
        match self {
            Self::F64(entries) => grow(entries, rows, width, 0.0),
            Self::F32(entries) => grow(entries, rows, width, 0.0),
            // The byte that stands for the value zero is only known column by column; every cell is put.
            Self::Bytes(entries, _) => grow(entries, rows, width, 0),
            Self::Sparse(_) => true,
        }
    }

    /// Sets the first column of a row to one.
    pub(crate) fn set_constant(&mut self, row: usize, width: usize) {
        match self {
            Self::F64(entries) => entries[row * width] = 1.0,
            Self::F32(entries) => entries[row * width] = 1.0,
            Self::Bytes(entries, scale) => entries[row * width] = scale.one,
            Self::Sparse(_) => {}
        }
    }

    /// Sets one entry to a value in the user's units.
    #[inline]
    pub(super) fn set(&mut self, row: usize, column: usize, width: usize, value: f64, scaling: &Scaling) {
        let at = row * width + column;
        match self {
            Self::F64(entries) => entries[at] = scaling.apply(value),
            Self::F32(entries) => entries[at] = scaling.single(scaling.apply(value)),
            Self::Bytes(entries, scale) => {
                entries[at] = ((value - scale.center) * scale.factor).round() as i8;
            }
            Self::Sparse(sparse) => sparse.push(row, column, scaling.apply(value), scaling),
        }
    }

    /// The design of `rows` rows.
    pub(super) fn finish(self, rows: usize, width: usize) -> dpglm::Result<Design> {
        match self {
            Self::F64(mut entries) => {
                entries.shrink_to_fit();
                Design::from_f64(rows, width, entries)
            }
            Self::F32(mut entries) => {
                entries.shrink_to_fit();
                Design::from_f32(rows, width, entries)
            }
            Self::Bytes(entries, scale) => Design::from_i8(rows, width, entries, scale.scale),
            Self::Sparse(sparse) => sparse.finish(rows, width),
        }
    }
}

impl Sparse {
    /// Begins the rows up to `row`, each with its one in the constant column.
    fn begin(&mut self, row: usize) {
        while self.starts.len() <= row {
            self.starts.push(self.indices.len());
            if self.constant {
                self.push_entry(0, 1.0, &Scaling::INDICATOR);
            }
        }
    }

    fn push(&mut self, row: usize, column: usize, stored: f64, scaling: &Scaling) {
        self.begin(row);
        // A zero takes no room.
        if stored != 0.0 {
            self.push_entry(column, stored, scaling);
        }
    }

    fn push_entry(&mut self, column: usize, stored: f64, scaling: &Scaling) {
        // Readers refuse columns that do not fit 32 bits.
        self.indices.push(column as u32);
        match self.precision {
            Precision::F64 => self.wide.push(stored),
            Precision::F32 => self.narrow.push(scaling.single(stored)),
        }
    }

    fn finish(mut self, rows: usize, width: usize) -> dpglm::Result<Design> {
        if rows > 0 {
            self.begin(rows - 1);
        }
        self.starts.push(self.indices.len());
        self.indices.shrink_to_fit();
        let all_one = self.wide.iter().all(|x| *x == 1.0) && self.narrow.iter().all(|x| *x == 1.0);
        let values = match self.precision {
            _ if all_one => Values::Ones,
            Precision::F64 => Values::F64(self.wide),
            Precision::F32 => Values::F32(self.narrow),
        };
        Design::from_csr(width, self.starts, self.indices, values)
    }
}

/// Lengthens a vector to `rows * width`; false if memory does not suffice. Capacity grows by a quarter, so that the
/// buffer never holds much more than the table.
pub(super) fn grow<T: Copy>(values: &mut Vec<T>, rows: usize, width: usize, with: T) -> bool {
    let Some(length) = rows.checked_mul(width) else { return false };
    if length > values.capacity() {
        let spare = (length - values.len()).max(values.len() / 4);
        if values.try_reserve_exact(spare).is_err() {
            return false;
        }
    }
    values.resize(length, with);
    true
}
