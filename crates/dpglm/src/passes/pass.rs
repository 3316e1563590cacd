//! A pass as plain data, and who answers it.

use super::number::{Absent, Number, OfUnit};
use super::partial::{Partial, another};
use super::products::Weights;
use super::row_map::RowMap;
use super::scores::ScoreBounds;
use super::view::ResponseView;
use crate::data::Shape;
use crate::error::Result;
use crate::kernels::Partial as Sums;
use crate::mechanisms::{Candidates, Tally};
use crate::privacy::Adjacency;
use serde::{Deserialize, Serialize};

/// One question about private rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Pass {
    /// The sums of these numbers, one per unit, each clamped to [-1, 1] and rounded to a multiple of `2^-24`.
    Means(Vec<Number>),
    /// How many units' numbers count as each candidate.
    Tally { number: Number, of_unit: OfUnit, absent: Absent, candidates: Candidates },
    /// For distances that fall, how many units' largest numbers lie beyond each and not beyond the one before; none lies beyond the
    /// first. Units without rows that count are left out.
    Beyond { number: Number, distances: Vec<f64> },
    /// Of each column, entries clamped to [-1, 1], the sum and the sum of squares; a unit's rows share one vote.
    Columns,
    /// Sums of weighted products of rows, each of its own largest trace.
    Products { map: RowMap, outputs: usize, weights: Weights, traces: Vec<f64> },
    /// Sums of weighted scores, and of their slopes.
    Scores { map: RowMap, at: At, bounds: ScoreBounds },
}

/// Where rows are scored: how the response is read, and the coefficients of stored columns, a block for each linear predictor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct At {
    pub view: ResponseView,
    pub coefficients: Vec<f64>,
}

impl Pass {
    /// Whether it can be asked of rows of so many columns: one that was read from a file may be of another table.
    pub(super) fn is_for(&self, columns: usize) -> bool {
        match self {
            Pass::Means(numbers) => numbers.iter().all(|number| number.is_for(columns)),
            Pass::Tally { number, .. } | Pass::Beyond { number, .. } => number.is_for(columns),
            Pass::Columns => true,
            Pass::Products { map, outputs, weights, traces } => {
                let (wanted, sums) = match weights {
                    Weights::Shortened { .. } => (1, 1),
                    Weights::Slopes { at, .. }
                    | Weights::Curvature { at, .. }
                    | Weights::SecondOfUnits { at, .. } => (if at.is_for(columns) { 1 } else { 0 }, 1),
                    Weights::Far { at, .. } => (if at.is_for(columns) { at.view.directions() } else { 0 }, 1),
                    Weights::FarAndSecond { at, .. } => {
                        (if at.is_for(columns) { at.view.directions() } else { 0 }, 2)
                    }
                };
                wanted > 0 && *outputs == wanted && traces.len() == sums && map.is_for(columns)
            }
            Pass::Scores { map, at, .. } => map.is_for(columns) && at.is_for(columns),
        }
    }
}

impl At {
    pub(super) fn is_for(&self, columns: usize) -> bool {
        let outputs = self.view.outputs();
        outputs > 0
            && self.coefficients.len() == outputs * columns
            && self.view.directions.nrows() == outputs
            && self.view.likelihood.validate().is_ok()
            && self.view.weight > 0.0
            && self.view.weight.is_finite()
    }
}

/// Private rows: known through passes alone.
pub(crate) trait Rows {
    /// What is public of them.
    fn shape(&self) -> Shape;
    /// Whether zeros are left out: public, as storage is chosen by the format.
    fn is_sparse(&self) -> bool;
    /// Who is protected.
    fn adjacency(&self) -> Adjacency;
    /// Answers a pass.
    fn pass(&self, pass: &Pass) -> Result<Partial>;
    /// The same rows with some columns measured from a centre in a unit, and clamped to [-1, 1].
    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>>;
}

/// Private rows that an estimator can be run on wherever they are: [`Streamed`](super::Streamed) ones.
#[expect(private_bounds, reason = "passes are asked by estimators alone")]
pub trait PrivateRows: Rows {}

impl<R: Rows> PrivateRows for R {}

impl dyn Rows + '_ {
    /// The sums of [`Pass::Means`].
    pub(crate) fn sums(&self, numbers: Vec<Number>) -> Result<Vec<i64>> {
        match self.pass(&Pass::Means(numbers))? {
            Partial::Whole(sums) => Ok(sums),
            _ => Err(another()),
        }
    }

    /// Counts by candidate, and the largest number.
    pub(crate) fn tally(
        &self,
        number: Number,
        of_unit: OfUnit,
        absent: Absent,
        candidates: Candidates,
    ) -> Result<(Tally, f64)> {
        match self.pass(&Pass::Tally { number, of_unit, absent, candidates })? {
            Partial::Tally { tally, largest } => Ok((tally, largest)),
            _ => Err(another()),
        }
    }

    /// The counts of [`Pass::Beyond`].
    pub(crate) fn beyond(&self, number: Number, distances: &[f64]) -> Result<Vec<i64>> {
        match self.pass(&Pass::Beyond { number, distances: distances.to_vec() })? {
            Partial::Whole(counts) => Ok(counts),
            _ => Err(another()),
        }
    }

    /// Sums of the columns, then of their squares, and whether the first column is constant 1.
    pub(crate) fn columns(&self) -> Result<(Vec<f64>, bool)> {
        match self.pass(&Pass::Columns)? {
            Partial::Columns { sums, constant } => Ok((sums.values(), constant)),
            _ => Err(another()),
        }
    }

    /// Sums of weighted products.
    pub(super) fn products(&self, pass: &Pass) -> Result<Sums> {
        match self.pass(pass)? {
            Partial::Sums(sums) => Ok(sums),
            _ => Err(another()),
        }
    }

    /// Sums of scores, and of their slopes.
    pub(super) fn scores(&self, pass: &Pass) -> Result<(Sums, i64)> {
        match self.pass(pass)? {
            Partial::Scores { gradient, trace } => Ok((gradient, trace)),
            _ => Err(another()),
        }
    }
}
