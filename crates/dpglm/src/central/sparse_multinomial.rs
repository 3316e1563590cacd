//! Sparse multinomial regression: choose the columns once, then fit all classes on them.
//!
//! # Algorithm
//! As [`super::select_refine`], with one sum per class and column of `(1[y_i = k] - 1/K) sign(x_ij)`; a column's score is the
//! sum over the classes of their absolute values.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. The classes' numbers of one row have absolute values that sum to
//! `2 (K-1)/K`, and the rows of a unit share one vote, so one unit moves a column's score by at most `4 (K-1)/K`, plus the
//! bounded error of summation: s selections. The rest is [`super::multinomial`]'s.

use super::multinomial::{Multinomial, MultinomialFit};
use super::screening::require_sparsity;
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::Result;
use crate::kernels::{Grid, Map, column_scores, rounding};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, require_shape,
};

const COLUMNS: Handle<Chosen> = Handle::new("chosen columns");
/// The share of the budget that choosing the columns deserves: a wrong column costs more than noise on a right one.
const SELECTION: f64 = 0.7;

/// A private multinomial model of few columns.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMultinomial {
    model: Multinomial,
    sparsity: usize,
}

/// A fitted sparse multinomial model.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMultinomialFit {
    /// The chosen columns of the design, ascending, the constant column included.
    pub support: Vec<usize>,
    /// The fit on those columns.
    pub fit: MultinomialFit,
}

impl SparseMultinomial {
    /// A model that uses at most `sparsity` columns beside the constant one.
    pub fn new(model: Multinomial, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self { model, sparsity })
    }

    fn select(
        &self,
        data: &Dataset,
        response: &[usize],
        session: &mut ReleaseSession<'_>,
    ) -> Result<Vec<usize>> {
        let (constant, classes) = (usize::from(self.model.intercept), self.model.classes);
        let rows = data.sum_by_unit(|_| 1.0);
        let even = 1.0 / classes as f64;
        let mut scores = vec![0.0; data.design().columns()];
        let grid = Grid::uniform(data.design().columns(), 1.0);
        for class in 0..classes {
            let vote = |row: usize| {
                let share = data.weight(row) / rows[data.unit_of(row)];
                share * (f64::from(u8::from(response[row] == class)) - even)
            };
            let sums = column_scores(data.design(), vote, Map::Sign, &grid).values();
            scores.iter_mut().zip(sums).for_each(|(score, sum)| *score += sum.abs());
        }
        scores.drain(..constant);
        let one = 2.0 * (1.0 - even);
        // A unit's shares sum to 1, up to rounding; its rows are rounded in each sum, and sums, and their sum, on both sides of a pair.
        let grid = data.shape().rows_per_unit() * rounding(data.design());
        let error = classes as f64 * (grid + 2.0 * f64::EPSILON * data.units() as f64);
        let sensitivity = 2.0 * (one + error) * (1.0 + 1e-9);
        let chosen = session.top(COLUMNS, &scores, self.sparsity, sensitivity)?;
        Ok((0..constant).chain(chosen.into_iter().map(|j| j + constant)).collect())
    }
}

impl Estimator for SparseMultinomial {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = SparseMultinomialFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.sparsity, columns - constant)?;
        let mut plan = self.model.plan(self.sparsity + constant, units, privacy)?;
        plan.iter_mut().for_each(|line| line.share *= 1.0 - SELECTION);
        plan.push(COLUMNS.planned(SELECTION, self.sparsity as u64));
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseMultinomialFit> {
        let Shape { columns: _, .. } = data.shape();
        let model = &self.model;
        let response = model.admitted(data);
        let support = self.select(data, &response, &mut session)?;
        let chosen = data.with_columns(&support)?;
        let coefficients = model.descend(&chosen, &response, &mut session, progress)?;
        let certificate = Multinomial::enforced(session.close(data.adjacency()))
            .enforcing("the rows of a unit share one vote in the choice of columns");
        Ok(SparseMultinomialFit { support, fit: MultinomialFit { coefficients, certificate } })
    }
}
