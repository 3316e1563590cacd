//! What may be asked of private rows, as plain data: what is computed from a row with which public parameters, under which
//! bound, and what replacing one unit can change.
//!
//! A `Pass` is a description that can be written down and sent; `Rows` answer it with a `Partial`, and those of parts of
//! a table, cut between units, add up to that of the whole without error. So an estimator that knows rows through passes alone
//! gives the same result for a table in memory, in blocks or on several machines.
//!
//! | pass | what it gives | bound on a unit | sensitivity |
//! | --- | --- | --- | --- |
//! | `Means` | sums of numbers in [-1, 1], one per unit | what a number can be | `by_unit::mean_sensitivity` |
//! | `Tally` | how many units' numbers count as each candidate | one number | 1 |
//! | `Beyond` | how many units lie beyond each distance | one number | 1 |
//! | `Columns` | sums and sums of squares of each column | entries in [-1, 1] | `columns::sensitivity` |
//! | `Products` | sums of weighted products `w x x'` | trace | `products::sensitivity` |
//! | `Scores` | sums of weighted scores `w r u'` and of their slopes | l2 norm, trace | `scores::sensitivity` |
//!
//! `cells` are the questions about rows with missing cells, weights and groups, and `cells::CellRows` those who answer them.
//!
//! Means divide sums by a *count*, the public number of units or a released share of it. `row_map` gives each row's l2 norm in
//! released coordinates, rounded up; norms stay where the rows are.
//!
//! Rows that are not one table in memory are [`Streamed`]: whoever has them gives them as [`Blocks`]. Rows at several places are [`Sites`].

pub(crate) mod by_unit;
pub(crate) mod cells;
pub(crate) mod columns;
#[cfg(test)]
pub(crate) mod cut;
mod kept;
mod number;
mod partial;
mod pass;
pub(crate) mod products;
pub(crate) mod row_map;
pub(crate) mod scores;
mod sites;
mod streamed;
mod table;
mod view;

pub use cells::PrivateCells;
pub(crate) use number::{Absent, Form, Number, OfUnit};
pub use pass::PrivateRows;
pub(crate) use pass::{At, Rows};
pub use sites::{Ask, Memo, Respondent, SiteCells, Sites, answer, in_memory, merge};
pub use streamed::{Block, Blocks, Streamed};
pub(crate) use table::Table;
pub(crate) use view::ResponseView;
