//! Formulas: which columns of a model are made of which columns of a file, as in `log(charges) ~ age + C(smoker) + age:bmi`.
//!
//! A formula is part of the [`Schema`](crate::Schema), so that whatever is read under it, a table to fit or one to predict for, in memory or
//! block by block, is read with the same terms, and one schema serves many models.
//!
//! | written | means |
//! | --- | --- |
//! | `a + b`, `- a`, `.` | terms together, without one, all columns that are left |
//! | `a:b`, `a * b` | the product, and `a + b + a:b`; `(a + b):c` distributes |
//! | `- 1`, `+ 0` | no intercept |
//! | `C(a)` or `a` | a column with levels: one indicator a level but the reference, or all levels where no other term speaks of the reference |
//! | `log`, `log2`, `log10`, `log1p`, `exp`, `sqrt`, `abs`, `pmin`, `pmax` | functions of numbers, row by row |
//! | `I(...)` | arithmetic: `+ - * / ^` |
//! | `ns(x, knots=[...])` | a natural cubic spline; `boundary=[a, b]` says beyond where it is straight |
//! | `bs(x, knots=[...])` | a cubic B-spline; `degree=` another one |
//! | `pieces(x, knots=[...])` | straight pieces with a bend at each knot |
//!
//! # Why private
//! Every term is a function of one row, and of public numbers: knots, levels and bounds are declared. Cells are clamped to their bounds before
//! anything is computed; the bounds of a term follow from them by interval arithmetic, every intermediate result is kept
//! within its own, and so is the term. What would need other rows (means, quantiles for knots, levels that occur) is refused.

mod compile;
mod expression;
mod parse;
mod spline;

pub(crate) use compile::{Compiled, SourceKind};

use crate::error::{Error, Result};

/// Refuses a formula.
fn refuse<T>(problem: impl Into<String>, remedy: impl Into<String>) -> Result<T> {
    Err(Error::declaration("formula", problem, remedy.into()))
}
