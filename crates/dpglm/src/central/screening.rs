//! Private choice of a support: the columns with the largest gradient at coefficients zero.
//!
//! # Guarantee
//! Replacement of one row. Entries lie within `entry` of zero and scores within `cap`, both enforced, so one row moves each
//! coordinate of the mean gradient by at most `2 cap entry / n`, plus the rounding of its part and of the sum; its size no more.
//! The s largest are chosen by one-shot Gumbel noise: s selections.

use crate::data::boxed::Boxed;
use crate::error::{Error, Parameter, Result};
use crate::families::BoundedScore;
use crate::kernels::{Grid, exact_pass};
use crate::release::{Chosen, Handle, ReleaseSession};

/// The mean gradient `(1/n) sum_i score(x_i . coefficients, y_i) x_i` of a table clamped to `entry`.
pub(crate) fn mean_gradient(
    table: &Boxed,
    coefficients: &[f64],
    score: &BoundedScore<'_>,
    entry: f64,
) -> Vec<f64> {
    let n = table.design.rows() as f64;
    let residual = |row: usize, u: &[f64], out: &mut [f64]| out[0] = score.value(u[0], table.response[row]);
    let grid = Grid::uniform(coefficients.len(), score.cap() * entry);
    let mut gradient = exact_pass(&table.design, 1, coefficients, &grid, residual).values();
    gradient.iter_mut().for_each(|g| *g /= n);
    gradient
}

/// What one row can change in each coordinate of [`mean_gradient`].
pub(crate) fn coordinate_sensitivity(rows: usize, cap: f64, entry: f64) -> f64 {
    // Sparse rows have the coarser grid.
    let part = 1.0 + Grid::rounding(true) + 4.0 * f64::EPSILON;
    2.0 * cap * entry * (part / rows as f64 + 2.0 * f64::EPSILON)
}

/// The chosen columns, ascending.
pub(crate) fn select_support(
    what: Handle<Chosen>,
    table: &Boxed,
    score: &BoundedScore<'_>,
    entry: f64,
    sparsity: usize,
    session: &mut ReleaseSession<'_>,
) -> Result<Vec<usize>> {
    let start = vec![0.0; table.design.columns()];
    let mut sizes = mean_gradient(table, &start, score, entry);
    sizes.iter_mut().for_each(|g| *g = g.abs());
    session.top(what, &sizes, sparsity, coordinate_sensitivity(table.design.rows(), score.cap(), entry))
}

/// A sparsity between 1 and the number of columns.
pub(crate) fn require_sparsity(sparsity: usize, columns: usize) -> Result<()> {
    if (1..=columns).contains(&sparsity) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        parameter: Parameter::Sparsity,
        range: "from 1 to the number of columns",
        value: format!("{sparsity} of {columns}"),
        remedy: "give the number of coefficients that may differ from zero",
    })
}

/// A positive bound on the entries, within what a design can hold.
pub(crate) fn require_entry(entry: f64) -> Result<f64> {
    if (1e-15..=1e15).contains(&entry) {
        return Ok(entry);
    }
    Err(Error::OutOfRange {
        parameter: Parameter::EntryBound,
        range: "above 0, and within [1e-15, 1e15]",
        value: entry.to_string(),
        remedy: "declare the public bound on the size of every feature; scale the features if need be",
    })
}
