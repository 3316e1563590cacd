//! What may be asked of private rows, as plain data: what is computed from a row with which public parameters, under which
//! bound, and what replacing one unit can change.
//!
//! | pass | what it gives | bound on a unit |
//! | --- | --- | --- |
//! | [`columns`] | mean and mean square of each column | entries in [-1, 1] |
//! | [`row_map`] | each row's l2 norm in released coordinates, rounded up (stays inside) | |
//! | [`products`] | a mean of weighted products `w x x'` | trace |
//! | [`scores`] | a mean of weighted scores `w r u'` and of their slopes | l2 norm, trace |
//! | [`by_unit`] | one number per unit, for means and tail levels | one number |
//!
//! Sums run over rows; means divide by a *count*, the public number of units or a released share of it.

pub(crate) mod by_unit;
pub(crate) mod columns;
pub(crate) mod products;
pub(crate) mod row_map;
pub(crate) mod scores;
