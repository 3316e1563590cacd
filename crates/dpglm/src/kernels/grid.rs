//! Sums without error: every row's part is rounded to a grid first.
//!
//! The running sum of column j starts at `1.5 2^52 g` and stays between `2^52 g` and `2^53 g`, where doubles are the
//! multiples of g. So `sum + r x` in one fused operation rounds the part `r x` to a multiple of g and adds it without any error
//! (Demmel and Nguyen, *Parallel reproducible summation*, 2015). After a block of rows the start is taken away, which is exact, and
//! the block's sum joins a total of two doubles by TwoSum, which is exact too: what TwoSum leaves over are multiples of g
//! below `2^53 g`.
//!
//! # Why the order does not matter
//! A part is rounded to the nearest multiple whatever the sum is, unless it lies half way between two: then the sum's last bit
//! would decide. No part does. The last bit of r is set ([`LastBit`]), so the lowest bit of `r x` that is one is worth at most
//! `2^-52 |r x|`, far below `g / 2`.
//!
//! # How far a sum is from that of the parts
//! With `|r x| <= bound` and `g = 2^-step bound`, bounds being powers of two, a part errs by at most `g / 2`, and a setting of the last
//! bit by at most `2^-52 bound`: together at most [`Grid::rounding`]. A sum of two doubles that is rounded to one at the end errs by a
//! relative `2^-53` more, as every number that is computed from it does.
//!
//! # Overflow
//! A block has at most `2^50 / 2^step` rows ([`Grid::rows`]), so its sum moves by at most `2^50 g` from its start. Up to
//! `2^36` rows join a total below `2^79 g`, whose two doubles hold it.
//!
//! A caller that has no public bound, because nothing private depends on the sum, gives [`Grid::none`]: then the same loops add
//! plainly, and the result is within [`plain_error`] of the sum of absolute values.

/// Rows that join a total together: at most as many as a block of sparse rows has between two reads of all columns.
const SPARSE_ROWS: usize = 1 << 15;
/// The same for dense rows, which are read in blocks of this size anyway.
pub(super) const DENSE_ROWS: usize = 1 << 8;

/// The same where sums are plain.
const PLAIN_ROWS: usize = 32;

/// How finely parts are rounded: `2^50` over the rows of a block.
const SPARSE_STEP: i32 = -35;
const DENSE_STEP: i32 = -42;

/// The grid of one sum per column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Powers of two; all zero if there is none.
    bounds: Vec<f64>,
}

impl Grid {
    /// For parts of size at most `bound` in each of the columns. The bound is public.
    pub(crate) fn uniform(columns: usize, bound: f64) -> Self {
        Self { bounds: vec![power_above(bound); columns] }
    }

    /// For parts of size at most so much in each column. The bounds are public.
    pub(crate) fn of_columns(bounds: impl IntoIterator<Item = f64>) -> Self {
        Self { bounds: bounds.into_iter().map(power_above).collect() }
    }

    /// Plain sums, for what needs no bound.
    pub(crate) fn none(columns: usize) -> Self {
        Self { bounds: vec![0.0; columns] }
    }

    /// By how much a row's rounded part may differ from its part, as a share of the bound that was given.
    pub(crate) fn rounding(sparse: bool) -> f64 {
        // Half a step of a bound that may have doubled, and a little more than two last bits.
        2f64.powi(if sparse { SPARSE_STEP } else { DENSE_STEP }) * (1.0 + 1e-2)
    }

    /// The same of a product of two columns, as a share of the product of their bounds.
    pub(crate) fn product_rounding() -> f64 {
        // Both bounds may have doubled.
        2.0 * Self::rounding(false)
    }

    /// Where the sums start: `1.5 2^52 g` per column, for entries that stand for `scale` times themselves.
    pub(super) fn starts(&self, sparse: bool, scale: f64) -> Vec<f64> {
        let unit = 1.5 * 2f64.powi(52 + if sparse { SPARSE_STEP } else { DENSE_STEP });
        self.scaled(scale).into_iter().map(|bound| unit * bound).collect()
    }

    /// The bounds of entries that stand for `scale` times themselves.
    pub(super) fn scaled(&self, scale: f64) -> Vec<f64> {
        let scaled =
            |&bound: &f64| if scale == 1.0 || bound == 0.0 { bound } else { power_above(bound / scale) };
        self.bounds.iter().map(scaled).collect()
    }

    /// Where the sum of products starts of columns with bounds of product one.
    pub(super) fn product_start() -> f64 {
        1.5 * 2f64.powi(52 + DENSE_STEP)
    }

    /// The rows of a block.
    pub(super) const fn rows(sparse: bool) -> usize {
        if sparse { SPARSE_ROWS } else { DENSE_ROWS }
    }
}

/// By how much a plain sum over so many rows may differ from the exact one, as a share of the sum of its terms' absolute values.
///
/// With `u = 2^-53`, a block's sum of `k` terms meets at most k roundings and errs by `k u / (1 - k u)`. Block sums join a total by
/// TwoSum, whose lost parts add up to `m^2 u^2` for m blocks and pieces, and the total rounds once (Ogita, Rump and Oishi, *Accurate sum
/// and dot product*, 2005, Proposition 4.5).
pub(crate) fn plain_error(rows: usize, sparse: bool) -> f64 {
    const U: f64 = f64::EPSILON / 2.0;
    let second_order = (rows as f64 / PLAIN_ROWS as f64 + 200.0) * U;
    let block = if sparse { SPARSE_ROWS } else { PLAIN_ROWS };
    (rows.min(block) + 3) as f64 * U + 4.0 * second_order * second_order
}

/// The smallest power of two that is at least this, within the range in which starts and steps are normal numbers.
pub(crate) fn power_above(bound: f64) -> f64 {
    const LEAST: f64 = 1e-280;
    const LARGEST: f64 = 1e280;
    let bound = bound.clamp(LEAST, LARGEST);
    let power = f64::from_bits(bound.to_bits() & !((1 << 52) - 1));
    if power < bound { 2.0 * power } else { power }
}

/// Which bit of a factor is set: the last one, or none where sums are plain.
#[derive(Clone, Copy)]
pub(super) struct LastBit(u64);

impl LastBit {
    /// What sums that start here need.
    pub(super) fn of(starts: &[f64]) -> Self {
        Self(u64::from(starts.iter().any(|&start| start != 0.0)))
    }

    /// The rows of a block of dense rows: few where plain sums round at every addition.
    pub(super) fn rows(self) -> usize {
        if self.0 == 0 { PLAIN_ROWS } else { DENSE_ROWS }
    }

    /// The number with that bit set.
    #[inline(always)]
    pub(super) fn set(self, x: f64) -> f64 {
        f64::from_bits(x.to_bits() | self.0)
    }
}
