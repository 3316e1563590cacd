//! The passes over the rows: all of the time of a fit is spent here.
//!
//! A gradient of a generalized linear model is `sum_i r_i x_i` with `r_i = residual(i, x_i . b)`. [`fused_pass`] reads
//! every row once: it computes the inner product, asks for the residual, and adds the row to the gradient while its
//! entries are still in the cache. All arithmetic is in `f64`, whatever the storage.
//!
//! | storage | what differs |
//! | --- | --- |
//! | `f64`, `f32` | nothing: an `f32` becomes the same `f64` |
//! | one byte an entry | whole numbers are summed, and the sum is multiplied by the scale |
//! | sparse rows | a coarser grid, because sums are read seldom |
//!
//! Where a sum is released, its caller gives a public bound on what one row adds, and the sum has no error: each row's part is
//! rounded to a grid that the bound decides (`kernels::grid`), and the rest is exact. So the result does not depend on how the rows are cut, on the
//! order of the parts or on the number of cores, and one row more or less moves it by that row's part, however many rows there
//! are. Every instruction set performs the same operations.
//!
//! The linear predictor carries an error of its own, but it only moves the residual, and whoever supplies the residual clips it
//! afterwards. It may overflow: the residual receives what comes of it. In which order its terms are added depends on the number of
//! columns alone.

mod columns;
mod fused;
mod gram;
mod grid;
mod lanes;
mod mapped;
mod partial;
mod reach;
mod rows;
mod scores;
mod sparse;

use crate::data::Dataset;
use crate::data::design::{Design, Storage};
use lanes::Level;

pub(crate) use columns::column_sums;
pub(crate) use grid::{Grid, plain_error, power_above};
pub(crate) use mapped::mapped_squares;
pub(crate) use partial::Partial;

/// The gradient `gradient[j] = sum_i residual(i, x_i . coefficients) x_ij`, in one read of the design.
///
/// `residual` is called once for every row, on any thread. It receives an infinite or undefined predictor where the
/// inner product overflows; if it returns one, so does the gradient. The sums are plain ones: what is to be released is
/// added up by `exact_pass`.
///
/// # Panics
/// If `coefficients` or `gradient` do not have one entry a column.
pub fn fused_pass(
    design: &Design,
    coefficients: &[f64],
    residual: impl Fn(usize, f64) -> f64 + Sync,
    gradient: &mut [f64],
) {
    fused_pass_multi(design, 1, coefficients, |i, u, r| r[0] = residual(i, u[0]), gradient);
}

/// [`fused_pass`] for several linear predictors a row.
///
/// `coefficients` and `gradient` hold `outputs` vectors of one entry a column, one after the other. `residual` receives
/// the row's `outputs` predictors and must set all of its `outputs` residuals.
///
/// # Panics
/// If `coefficients` or `gradient` do not have `outputs` entries a column.
pub fn fused_pass_multi(
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    residual: impl Fn(usize, &[f64], &mut [f64]) + Sync,
    gradient: &mut [f64],
) {
    assert_eq!(gradient.len(), outputs * design.columns(), "gradient: one entry for each output and column");
    let sums = exact_pass(design, outputs, coefficients, &Grid::none(design.columns()), residual);
    gradient.copy_from_slice(&sums.values());
}

/// The same sums on a grid: `|r x_j|` is at most the grid's bound of column j for every row and output, and the result is
/// the exact sum of the rows' rounded parts.
///
/// # Panics
/// If `coefficients` do not have `outputs` entries a column.
pub(crate) fn exact_pass(
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    grid: &Grid,
    residual: impl Fn(usize, &[f64], &mut [f64]) + Sync,
) -> Partial {
    exact_pass_at(Level::best(), design, outputs, coefficients, grid, &residual)
}

fn exact_pass_at(
    level: Level,
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    grid: &Grid,
    residual: &(impl Fn(usize, &[f64], &mut [f64]) + Sync),
) -> Partial {
    // Whole batches of rows go through one pointer, so that the passes are compiled once, not for every residual.
    exact_batches(level, design, outputs, coefficients, grid, &|first, predictors, residuals| {
        let rows = predictors.chunks_exact(outputs).zip(residuals.chunks_exact_mut(outputs));
        for (k, (predictors, residuals)) in rows.enumerate() {
            residual(first + k, predictors, residuals);
        }
    })
}

/// Sets the residuals of a batch of rows: the number of the first, their predictors, their residuals.
type Residuals<'a> = &'a (dyn Fn(usize, &[f64], &mut [f64]) + Sync);

fn exact_batches(
    level: Level,
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    grid: &Grid,
    residual: Residuals<'_>,
) -> Partial {
    assert_eq!(
        coefficients.len(),
        outputs * design.columns(),
        "coefficients: one for each output and column"
    );
    if outputs == 0 {
        return Partial::new([], 1.0);
    }
    let (sparse, scale) = kind(design);
    let starts = grid.starts(sparse, scale);
    let sums = match design.storage() {
        Storage::F64(x) => fused::fused(level, x, outputs, coefficients, &starts, residual),
        Storage::F32(x) => fused::fused(level, x, outputs, coefficients, &starts, residual),
        Storage::I8 { entries, scale } => {
            fused::fused(level, entries, outputs, &times(coefficients, *scale), &starts, residual)
        }
        Storage::Csr(x) => sparse::fused(level, x, outputs, coefficients, &starts, residual),
    };
    Partial::new(sums, scale)
}

/// Whether rows are sparse, and what their entries are multiplied by.
fn kind(design: &Design) -> (bool, f64) {
    match design.storage() {
        Storage::F64(_) | Storage::F32(_) => (false, 1.0),
        Storage::I8 { scale, .. } => (false, *scale),
        Storage::Csr(_) => (true, 1.0),
    }
}

/// By how much a row's part of an [`exact_pass`] over this design may differ from what is added, as a share of the bound.
pub(crate) fn rounding(design: &Design) -> f64 {
    Grid::rounding(kind(design).0)
}

fn times(numbers: &[f64], scale: f64) -> Vec<f64> {
    numbers.iter().map(|x| x * scale).collect()
}

/// The linear predictors `out[i] = x_i . coefficients`.
///
/// # Panics
/// If `coefficients` does not have one entry a column, or `out` one a row.
pub fn predict(design: &Design, coefficients: &[f64], out: &mut [f64]) {
    assert_eq!(coefficients.len(), design.columns(), "coefficients: one for each column");
    assert_eq!(out.len(), design.rows(), "out: one entry for each row");
    let (level, columns) = (Level::best(), design.columns());
    match design.storage() {
        Storage::F64(x) => fused::predict(level, x, columns, coefficients, out),
        Storage::F32(x) => fused::predict(level, x, columns, coefficients, out),
        Storage::I8 { entries, scale } => {
            fused::predict(level, entries, columns, &times(coefficients, *scale), out);
        }
        Storage::Csr(x) => sparse::predict(level, x, coefficients, out),
    }
}

/// What is added up of an entry by `column_scores`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// The entry itself.
    Identity,
    /// 1, 0 or -1 as the entry is above, at or below zero.
    Sign,
    /// The entry times `2^k`, clamped to [-1, 1]: the sign of all but small ones. For dense floating-point designs; of others
    /// the sign.
    Clamped(u8),
    /// 1 for entries above zero, 0 for all others.
    Present,
}

/// For every column `sum_i score(i) map(x_ij)`, in one read of the design: the exact sum of the rows' parts, rounded to the grid.
///
/// `score` is called once for every row, on any thread.
pub(crate) fn column_scores(
    design: &Design,
    score: impl Fn(usize) -> f64 + Sync,
    map: Map,
    grid: &Grid,
) -> Partial {
    column_scores_at(Level::best(), design, &(&score as &(dyn Fn(usize) -> f64 + Sync)), map, grid)
}

fn column_scores_at(
    level: Level,
    design: &Design,
    score: &(impl Fn(usize) -> f64 + Sync),
    map: Map,
    grid: &Grid,
) -> Partial {
    let (sparse, scale) = kind(design);
    // Signs of scaled entries are those of the entries.
    let scale = if map == Map::Identity { scale } else { 1.0 };
    let starts = &grid.starts(sparse, scale);
    let sums = match (design.storage(), map) {
        (Storage::F64(x), Map::Identity) => scores::scores(level, rows::Whole, x, starts, score),
        (Storage::F64(x), Map::Sign) => scores::scores(level, rows::Sign, x, starts, score),
        (Storage::F64(x), Map::Clamped(k)) => scores::scores(level, clamped(k), x, starts, score),
        (Storage::F64(x), Map::Present) => scores::scores(level, rows::Present, x, starts, score),
        (Storage::F32(x), Map::Identity) => scores::scores(level, rows::Whole, x, starts, score),
        (Storage::F32(x), Map::Sign) => scores::scores(level, rows::Sign, x, starts, score),
        (Storage::F32(x), Map::Clamped(k)) => scores::scores(level, clamped(k), x, starts, score),
        (Storage::F32(x), Map::Present) => scores::scores(level, rows::Present, x, starts, score),
        (Storage::I8 { entries, .. }, Map::Identity) => {
            scores::scores(level, rows::Whole, entries, starts, score)
        }
        (Storage::I8 { entries, .. }, Map::Present) => {
            scores::scores(level, rows::Present, entries, starts, score)
        }
        (Storage::I8 { entries, .. }, _) => scores::scores(level, rows::Sign, entries, starts, score),
        (Storage::Csr(x), map) => {
            let negative = match map {
                Map::Identity => None,
                Map::Present => Some(0),
                Map::Sign | Map::Clamped(_) => Some(-1),
            };
            sparse::scores(level, x, starts, score, negative)
        }
    };
    Partial::new(sums, scale)
}

/// For every column of a dense floating-point design, how many of these rows have an entry of at least `2^-k` in absolute value,
/// for each k of `powers`; zeros for other designs.
///
/// # Panics
/// If there is no such row.
pub(crate) fn count_reaching<const LEVELS: usize>(
    design: &Design,
    rows: &[usize],
    powers: [u8; LEVELS],
) -> Vec<[u32; LEVELS]> {
    let levels = powers.map(|power| 2f64.powi(-i32::from(power)));
    let columns = design.columns();
    match design.storage() {
        Storage::F64(x) => reach::count(Level::best(), x, columns, rows, levels),
        Storage::F32(x) => reach::count(Level::best(), x, columns, rows, levels.map(|level| level as f32)),
        Storage::I8 { .. } | Storage::Csr(_) => vec![[0; LEVELS]; columns],
    }
}

fn clamped(power: u8) -> rows::Clamped {
    rows::Clamped(2f64.powi(i32::from(power)))
}

/// The squared l2 norms of the rows, never below the true value; exactly zero for a row of zeros.
pub fn squared_row_norms(design: &Design) -> Vec<f64> {
    squared_row_norms_from(design, &vec![0.0; design.columns()], &vec![1.0; design.columns()])
}

/// The sums `sum_j (scale_j (x_ij - centre_j))^2`, never below the true value; exactly zero for a row that equals the
/// centre. Only dense floating-point designs can be measured from a centre other than zero.
///
/// # Panics
/// If `centre` or `scale` do not have one finite number a column, or if the centre of another design is not zero.
pub(crate) fn squared_row_norms_from(design: &Design, centre: &[f64], scale: &[f64]) -> Vec<f64> {
    squared_row_norms_at(Level::best(), design, centre, scale)
}

fn squared_row_norms_at(level: Level, design: &Design, centre: &[f64], multipliers: &[f64]) -> Vec<f64> {
    let columns = design.columns();
    assert_eq!(centre.len(), columns, "centre: one number for each column");
    assert_eq!(multipliers.len(), columns, "scale: one number for each column");
    assert!(centre.iter().chain(multipliers).all(|m| m.is_finite()), "centre and scale: finite numbers");
    assert!(design.can_be_centred() || centre.iter().all(|&c| c == 0.0), "centre: zero for this design");
    let mut out = vec![0.0; design.rows()];
    match design.storage() {
        Storage::F64(x) => fused::squares(level, x, centre, multipliers, &mut out),
        Storage::F32(x) => fused::squares(level, x, centre, multipliers, &mut out),
        Storage::I8 { entries, scale } => {
            fused::squares(level, entries, centre, &times(multipliers, *scale), &mut out);
        }
        Storage::Csr(x) => sparse::squares(level, x, multipliers, &mut out),
    }
    for (i, norm) in out.iter_mut().enumerate() {
        let roundings = match design.storage() {
            Storage::Csr(x) => sparse::square_roundings(x.offsets()[i + 1] - x.offsets()[i]),
            // Where a scale was multiplied into the multipliers its rounding counts twice.
            Storage::I8 { .. } => rows::square_roundings(columns) + 2,
            _ => rows::square_roundings(columns),
        };
        // Each of k roundings loses at most u. Twice that, and some more, covers the two of the correction itself.
        *norm *= 1.0 + (roundings + 4) as f64 * f64::EPSILON;
        // Below this, squares that left the normal range may be missing: at most 2^-1074 a column.
        let differs = |(j, x): (usize, f64)| x != centre[j] && multipliers[j] != 0.0;
        if *norm < 1e-270 && design.stored(i).any(differs) {
            *norm += f64::MIN_POSITIVE;
        }
    }
    out
}

/// The l2 norm of each row, measured from a centre and scaled by powers of two, times its weight, rounded up.
pub(crate) fn weighted_row_norms(data: &Dataset, centre: &[f64], scale: &[f64]) -> Vec<f64> {
    let mut norms = squared_row_norms_from(data.design(), centre, scale);
    for (row, norm) in norms.iter_mut().enumerate() {
        *norm = norm.sqrt().next_up() * data.weight(row);
    }
    norms
}

/// The symmetric matrix `sum_i weight(i) x_i x_i^T`, columns x columns, row-major, in plain sums.
///
/// `weight` may be called several times for a row, on any thread, and must always give the same answer.
pub fn weighted_gram(design: &Design, weight: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let grid = Grid::none(design.columns());
    weighted_grams(design, 1, &grid, |row, out| out[0] = weight(row)).values()
}

/// The same for several weights per row, in one read, on a grid: `weights` sets the `weightings` of a row, and the matrices follow
/// one another. `|w x_j x_k|` is at most the product of the bounds of the columns j and k, and the result is the exact sum of the
/// rows' rounded parts.
pub(crate) fn weighted_grams(
    design: &Design,
    weightings: usize,
    grid: &Grid,
    weights: impl Fn(usize, &mut [f64]) + Sync,
) -> Partial {
    // Through one pointer, so that the kernel is compiled once.
    let weights = &weights as &(dyn Fn(usize, &mut [f64]) + Sync);
    weighted_grams_at(Level::best(), design, weightings, grid, &weights)
}

fn weighted_grams_at(
    level: Level,
    design: &Design,
    weightings: usize,
    grid: &Grid,
    weights: &(impl Fn(usize, &mut [f64]) + Sync),
) -> Partial {
    let (shape, scale) = ([design.rows(), design.columns()], kind(design).1);
    let bounds = &grid.scaled(scale);
    let sums = match design.storage() {
        Storage::F64(x) => gram::grams(level, &x[..], shape, weightings, bounds, weights),
        Storage::F32(x) => gram::grams(level, &x[..], shape, weightings, bounds, weights),
        Storage::I8 { entries, .. } => gram::grams(level, &entries[..], shape, weightings, bounds, weights),
        Storage::Csr(x) => gram::grams(level, x, shape, weightings, bounds, weights),
    };
    Partial::new(sums, scale * scale)
}

/// By how much [`weighted_gram`] over so many rows may differ from the exact sum, as a share of the sum of absolute values: the weight
/// is multiplied in first, and the scale of entries of one byte twice at the end.
pub fn gram_error(rows: usize) -> f64 {
    plain_error(rows, false) + (gram::BLOCK as f64 + 3.0) * 0.5 * f64::EPSILON
}

#[cfg(test)]
mod tests;
