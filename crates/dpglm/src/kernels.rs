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
//! | sparse rows | a column's terms are summed one by one, up to 45 of them, before they join its compensated total |
//!
//! The result depends on the shape and the data alone. How the rows are cut does not depend on the number of cores,
//! partial sums are combined in a fixed order, and every instruction set with a fused multiply-add performs the same
//! operations.
//!
//! # Rounding
//! With `u = 2^-53` and `gamma_k = k u / (1 - k u)` (Higham, *Accuracy and Stability of Numerical Algorithms*, §3.1):
//! a term that meets at most `k` roundings is off by at most `gamma_k` times its size. One coordinate of the gradient:
//!
//! 1. Eight rows are summed first, each product fused with its addition or rounded before it: a term meets 8 roundings.
//!    Such sums, and the up to 7 rows that fill no group of eight, are added up over a *block* of at most 256 rows, the
//!    first addition being to zero: at most `31 + 7 - 1` more. A block's sum therefore meets `D = min(rows, 45)`
//!    roundings and is off by at most `gamma_D` times the sum of the absolute values of its terms.
//! 2. Block sums join a compensated total `(high, low)`: TwoSum adds to `high` and gives exactly what that rounding
//!    lost, which goes to `low`. The at most 64 pieces of the rows join each other in the same way. There are fewer
//!    than `M = rows / 256 + 200` additions to `low`. Each loses at most `u` times the running sum, so the lost parts add up to at most
//!    `gamma_M` times the sum of absolute values, and adding *them* errs by at most `gamma_M^2` times it (Ogita, Rump
//!    and Oishi, *Accurate sum and dot product*, 2005, Proposition 4.5).
//! 3. The final `high + low` rounds once: `u`.
//!
//! Together `gamma_D + (1 + gamma_D)(u + gamma_M^2) < (D + 2) u + 2 (M u)^2`, which `summation_error` returns. It is at
//! most 47 `u`, about `5.3e-15`, up to a hundred billion rows.
//!
//! *The ends of the range.* A product below the normal range rounds by up to `2^-1075` whatever its size, so a coordinate errs by
//! at most `2^-1074` a row more, and so does a residual that its caller computed as a product. As long as the sum of the absolute
//! values of the terms is below `1e300` (`1e280` for entries of one byte, whose scale comes last), no sum, and no difference that
//! TwoSum takes, overflows. One that does leaves an infinity or no number, which one row decides: whoever claims a
//! sensitivity keeps the terms in range ([`crate::data`], `range`). An inner product may overflow: the residual receives what comes
//! of it.
//!
//! *Entries of one byte.* The sum of `r_i` times whole numbers is multiplied by the scale, which rounds once more, and
//! is compared with the sum of `r_i` times the real numbers that the entries stand for. `gamma_D + (1 + gamma_D)(u +
//! gamma_M^2)`, times `1 + u`, plus `u`, is still below the same bound: `D + 2` roundings exceed `(D + 2) u` by less
//! than `(D + 3)^2 u^2 < (M u)^2`, because `M >= 200`.
//!
//! *Sparse rows.* A column's products are added to a plain sum, the first to zero, of at most 45 terms, each fused with
//! its addition or rounded before it: at most `D` roundings. The sum joins `(high, low)` by TwoSum, and a second TwoSum makes `high` the double nearest to the
//! total, so that `low`, and what the first TwoSum lost, are at most about `u` times the sum of absolute values. Adding
//! those rounds twice, by at most `4 u^2` times it; at most `rows` sums and 16 pieces join. `4 (rows + 16) u^2` is below the
//! `(M u)^2` to spare above for every number of rows, because `(R / 256 + 200)^2 > 4 (R + 16)` has no real zero.
//!
//! What is bounded is the *sum*. The linear predictor carries an error of its own, but it only moves the residual, and
//! whoever supplies the residual clips it afterwards.

mod columns;
mod fused;
mod gram;
mod lanes;
mod mapped;
mod reach;
mod rows;
mod scores;
mod sparse;

use crate::data::Dataset;
use crate::data::design::{Design, Storage};
use lanes::Level;

pub(crate) use columns::{ColumnSums, column_sums};
pub(crate) use mapped::mapped_squares;

/// Half the distance from 1 to the next double.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;
/// The most roundings a term meets inside a block of rows (step 1 of the module's argument).
const BLOCK_ROUNDINGS: usize = rows::STRIP + (fused::BLOCK / rows::STRIP - 1) + (rows::STRIP - 1) - 1;

/// The gradient `gradient[j] = sum_i residual(i, x_i . coefficients) x_ij`, in one read of the design.
///
/// `residual` is called once for every row, on any thread. It receives an infinite or undefined predictor where the
/// inner product overflows; if it returns one, so does the gradient.
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
    fused_pass_at(Level::best(), design, outputs, coefficients, &residual, gradient);
}

fn fused_pass_at(
    level: Level,
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    residual: &(impl Fn(usize, &[f64], &mut [f64]) + Sync),
    gradient: &mut [f64],
) {
    // Whole batches of rows go through one pointer, so that the passes are compiled once, not for every residual.
    fused_batches(level, design, outputs, coefficients, gradient, &|first, predictors, residuals| {
        let rows = predictors.chunks_exact(outputs).zip(residuals.chunks_exact_mut(outputs));
        for (k, (predictors, residuals)) in rows.enumerate() {
            residual(first + k, predictors, residuals);
        }
    });
}

/// Sets the residuals of a batch of rows: the number of the first, their predictors, their residuals.
type Residuals<'a> = &'a (dyn Fn(usize, &[f64], &mut [f64]) + Sync);

fn fused_batches(
    level: Level,
    design: &Design,
    outputs: usize,
    coefficients: &[f64],
    gradient: &mut [f64],
    residual: Residuals<'_>,
) {
    let columns = design.columns();
    assert_eq!(coefficients.len(), outputs * columns, "coefficients: one for each output and column");
    assert_eq!(gradient.len(), outputs * columns, "gradient: one entry for each output and column");
    if outputs == 0 {
        return;
    }
    match design.storage() {
        Storage::F64(x) => fused::fused(level, x, columns, outputs, coefficients, residual, gradient),
        Storage::F32(x) => fused::fused(level, x, columns, outputs, coefficients, residual, gradient),
        Storage::I8 { entries, scale } => {
            let scaled = times(coefficients, *scale);
            fused::fused(level, entries, columns, outputs, &scaled, residual, gradient);
            gradient.iter_mut().for_each(|g| *g *= scale);
        }
        Storage::Csr(x) => sparse::fused(level, x, outputs, coefficients, residual, gradient),
    }
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
}

/// For every column `sum_i score(i) map(x_ij)`, in one read of the design, with the error of [`summation_error`].
///
/// `score` is called once for every row, on any thread.
pub(crate) fn column_scores(design: &Design, score: impl Fn(usize) -> f64 + Sync, map: Map) -> Vec<f64> {
    column_scores_at(Level::best(), design, &(&score as &(dyn Fn(usize) -> f64 + Sync)), map)
}

fn column_scores_at(
    level: Level,
    design: &Design,
    score: &(impl Fn(usize) -> f64 + Sync),
    map: Map,
) -> Vec<f64> {
    let mut out = vec![0.0; design.columns()];
    match (design.storage(), map) {
        (Storage::F64(x), Map::Identity) => scores::scores(level, rows::Whole, x, score, &mut out),
        (Storage::F64(x), Map::Sign) => scores::scores(level, rows::Sign, x, score, &mut out),
        (Storage::F64(x), Map::Clamped(k)) => scores::scores(level, clamped(k), x, score, &mut out),
        (Storage::F32(x), Map::Identity) => scores::scores(level, rows::Whole, x, score, &mut out),
        (Storage::F32(x), Map::Sign) => scores::scores(level, rows::Sign, x, score, &mut out),
        (Storage::F32(x), Map::Clamped(k)) => scores::scores(level, clamped(k), x, score, &mut out),
        (Storage::I8 { entries, scale }, Map::Identity) => {
            scores::scores(level, rows::Whole, entries, score, &mut out);
            out.iter_mut().for_each(|sum| *sum *= scale);
        }
        (Storage::I8 { entries, .. }, _) => scores::scores(level, rows::Sign, entries, score, &mut out),
        (Storage::Csr(x), map) => sparse::scores(level, x, score, map != Map::Identity, &mut out),
    }
    out
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

/// The symmetric matrix `sum_i weight(i) x_i x_i^T`, columns x columns, row-major.
///
/// `weight` may be called several times for a row, on any thread, and must always give the same answer.
pub fn weighted_gram(design: &Design, weight: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    weighted_grams(design, 1, |row, out| out[0] = weight(row))
}

/// [`weighted_gram`] for several weights per row, in one read: `weights` sets the `weightings` of a row, and the matrices follow
/// one another.
pub(crate) fn weighted_grams(
    design: &Design,
    weightings: usize,
    weights: impl Fn(usize, &mut [f64]) + Sync,
) -> Vec<f64> {
    // Through one pointer, so that the kernel is compiled once.
    weighted_grams_at(Level::best(), design, weightings, &(&weights as &(dyn Fn(usize, &mut [f64]) + Sync)))
}

fn weighted_grams_at(
    level: Level,
    design: &Design,
    weightings: usize,
    weights: &(impl Fn(usize, &mut [f64]) + Sync),
) -> Vec<f64> {
    let shape = [design.rows(), design.columns()];
    match design.storage() {
        Storage::F64(x) => gram::grams(level, &x[..], shape, weightings, weights),
        Storage::F32(x) => gram::grams(level, &x[..], shape, weightings, weights),
        Storage::I8 { entries, scale } => {
            let mut gram = gram::grams(level, &entries[..], shape, weightings, weights);
            gram.iter_mut().for_each(|g| *g = *g * scale * scale);
            gram
        }
        Storage::Csr(x) => gram::grams(level, x, shape, weightings, weights),
    }
}

/// A bound on the rounding error of a gradient over `rows` rows.
///
/// Every coordinate of a [`fused_pass`] is within `summation_error(rows) * sum_i |r_i x_ij|` of the exact sum of the
/// products of the residuals returned and the entries stored. So in l2 norm it is within
/// `summation_error(rows) * rows * C` if `|r_i| norm(x_i) <= C` for every row. The module's docs have the argument.
pub(crate) fn summation_error(rows: usize) -> f64 {
    rounding_bound(rows, BLOCK_ROUNDINGS)
}

/// The same for [`weighted_gram`]: every entry is within `gram_error(rows) * sum_i |w_i x_ij x_ik|` of the exact sum.
///
/// A block has 256 rows there, summed one by one, and the weight is multiplied in first. The scale of entries of one
/// byte is multiplied in twice at the end.
pub fn gram_error(rows: usize) -> f64 {
    rounding_bound(rows, gram::BLOCK) + 3.0 * UNIT_ROUNDOFF
}

fn rounding_bound(rows: usize, most_in_block: usize) -> f64 {
    let steps = rows as f64 / fused::BLOCK as f64 + 200.0;
    let second_order = steps * UNIT_ROUNDOFF;
    (rows.min(most_in_block) + 2) as f64 * UNIT_ROUNDOFF + 2.0 * second_order * second_order
}

#[cfg(test)]
mod tests;
