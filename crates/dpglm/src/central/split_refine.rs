//! Sparse generalized linear models whose intervals owe nothing to the choice of columns: one half of the rows chooses, the other is fitted.
//!
//! # Algorithm
//! 1. Every second row: where to start, and the columns, as [`super::select_refine`] chooses them, as many as the budget can tell from noise
//!    in half of the rows.
//! 2. The rows between them: the dense fit of [`super::glm`] on the chosen columns, with its own start, and its intervals if asked for.
//! 3. Unless intervals are asked for: step 4 of [`super::select_refine`].
//!
//! # Guarantee
//! Replacement of one row, for every data set. A row is in one half, by its place in the table, and pays for what that half releases: the whole budget
//! is spent on either. Sensitivities are those of the methods named.
//!
//! # Why split
//! A column that was chosen from a row is chosen partly for that row's error, so an interval from the same rows holds for the chosen columns on
//! average only as far as the noise of the choice hides it. Rows that had no vote have errors that know nothing of the choice: given the
//! columns, whichever they are, intervals have their level for the coefficients of the model on these columns.
//!
//! # What it costs
//! Half of the rows for either step, but no share of the budget: privacy noise on coefficients is about that of all rows at a share of
//! a quarter, which is what a fit after a choice from the same rows has. Sampling errors grow by the root of two.

use super::affordable::Affordable;
use super::choice::{self, Choice, ChosenColumns};
use super::screening::require_sparsity;
use super::select_refine::{Route, SelectRefine, SparseFit};
use super::settle::settled;
use crate::data::{Dataset, Shape};
use crate::error::{Error, Result};
use crate::privacy::Adjacency;
use crate::release::parts::{HALVES, SECOND};
use crate::release::{CalibratedPlan, Estimator, Prepared, Privacy, Progress, ReleaseSession, require_shape};

/// A sparse model chosen on one half of the rows and fitted on the other.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitRefine {
    model: SelectRefine,
}

/// Whether a row has a vote for columns; the others are fitted.
pub(crate) fn chooses(row: usize) -> bool {
    row.is_multiple_of(2)
}

impl SplitRefine {
    /// The same model with its rows divided.
    pub fn new(model: SelectRefine) -> Self {
        Self { model }
    }

    /// The shape of the half that chooses.
    fn first_half(shape: Shape) -> Shape {
        Shape { units: shape.units.div_ceil(2), ..shape }
    }
}

impl Estimator for SplitRefine {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = Affordable;
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let SelectRefine { model, sparsity, .. } = &self.model;
        if shape.grouped {
            return Err(Error::Conflict(
                "a division of the rows by their place in the table would part those of a unit: divide no rows".into(),
            ));
        }
        require_shape(shape.columns, shape.units / 2)?;
        shape.require_unweighted(model.takes_exposures())?;
        let constant = usize::from(model.intercept);
        require_sparsity(*sparsity, shape.columns - constant)?;
        let first = Self::first_half(shape);
        if !matches!(self.model.route(first, privacy), Route::ChooseFirst(_)) {
            return Err(Error::Conflict(
                "half of the columns or more are asked for, so all are fitted and none is chosen first: divide no rows".into(),
            ));
        }
        let affordable = self.model.affordable(first, privacy);
        let mut choosing = model.start_planned(first.units, privacy)?;
        let spent: f64 = choosing.iter().map(|line| line.share).sum();
        choosing.extend(choice::planned(1.0 - spent, affordable.columns));
        let fitting = model.plan(affordable.columns + constant, shape.units / 2, privacy)?;
        let calibration = CalibratedPlan::in_parts(HALVES, choosing, fitting, Vec::new(), privacy)?;
        Ok(Prepared::new(self.clone(), affordable, shape, calibration))
    }

    fn run(
        &self,
        affordable: &Affordable,
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let SelectRefine { model, nonnegative, .. } = &self.model;
        let constant = usize::from(model.intercept);
        // Step 1. The start needs responses only: one column stands for all of them.
        let thin = data.with_columns(&[0])?.with_rows_where(chooses)?;
        let start = model.start(&thin, &model.admitted(&thin), &mut session)?;
        let choice =
            Choice { columns: affordable.columns, signed: affordable.signed, nonnegative: *nonnegative };
        let ChosenColumns { support, signs } =
            choice::choose(model, data, &model.admitted(data), start, choice, chooses, &mut session)?;
        // Step 2
        session.enter(SECOND);
        let fitted = data.with_columns(&support)?.with_rows_where(|row| !chooses(row))?;
        let response = model.admitted(&fitted);
        let start = model.start(&fitted, &response, &mut session)?;
        let estimate = model.descend(&fitted, &response, start, &mut session, progress)?;
        // Step 3
        let expected = if model.is_real() { start.cap } else { 1.0 };
        let settled = settled(&estimate, &signs, constant, start, expected);
        let certificate = session
            .close_in_parts(Adjacency::ReplaceRow)
            .enforcing("each row has one vote of bounded score in the choice of columns");
        let mut found =
            SparseFit { support, fit: estimate.certified(model.family.provided_for(certificate)) };
        if found.fit.intervals.is_none() {
            found.fit.coefficients = settled;
            found.keep(|i, b| i < constant || b != 0.0);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::Glm;
    use crate::central::attacks::{sparse_linear, uniform};
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    fn budget(epsilon: f64) -> Privacy {
        Privacy::Budget(Budget::new(epsilon, 1e-6).unwrap())
    }

    fn linear(sparsity: usize) -> SplitRefine {
        let model = Glm::new(Family::gaussian(), (-5.0, 5.0)).and_then(|m| m.intervals(0.95)).unwrap();
        SplitRefine::new(SelectRefine::new(model, sparsity).unwrap())
    }

    #[test]
    fn halves_pay_apart_and_find_the_model() {
        let (data, truth) = sparse_linear(12_000, 40, 1);
        let fit = linear(3).fit(&data, budget(4.0), &mut RandomSource::from_os().unwrap()).unwrap();
        let certificate = &fit.fit.certificate;
        assert!(certificate.events().is_empty() && certificate.parts().len() == 2);
        for (part, word) in certificate.parts().iter().zip(["chosen columns", "gradients"]) {
            assert!(part.events.iter().any(|event| event.release() == word), "{part:?}");
            let alone = crate::accounting::account(&part.events, 1e-6).unwrap().epsilon;
            assert!(alone <= 4.0 && alone > 3.9, "{alone}");
        }
        assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 4.0);
        for (j, truth) in truth.iter().enumerate() {
            let b = fit.coefficients(40)[j];
            assert!((b - truth).abs() < 0.2, "{j}: {b} {truth}");
        }
    }

    /// Rows that are fitted have no vote, and rows that choose are not fitted.
    #[test]
    fn each_half_does_its_own_part() {
        let table = |weak: bool| {
            let rng = &mut RandomSource::insecure_seeded(5);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for row in 0..8_000 {
                let cells: Vec<f64> = (0..9).map(|_| uniform(rng)).collect();
                // The half that chooses knows of column 4; in the other one it may have another coefficient.
                let b = if chooses(row) || !weak { 2.0 } else { -1.0 };
                y.push(b * cells[4] + 0.1 * uniform(rng));
                x.extend(cells);
            }
            Dataset::new(Design::from_f64(8_000, 9, x).unwrap(), y).unwrap()
        };
        for (weak, wanted) in [(false, 2.0), (true, -1.0)] {
            let fit =
                linear(1).fit(&table(weak), budget(8.0), &mut RandomSource::insecure_seeded(1)).unwrap();
            assert_eq!(fit.support, [4]);
            assert!((fit.fit.coefficients[0] - wanted).abs() < 0.1, "{:?}", fit.fit.coefficients);
        }
    }

    #[test]
    fn what_cannot_be_divided_is_refused() {
        let shape = Shape::new(5, 1_000);
        assert!(linear(3).prepare(shape, budget(1.0)).unwrap_err().to_string().contains("divide no rows"));
        assert!(linear(1).prepare(Shape::new(5, 3), budget(1.0)).is_err());
        let (data, _) = sparse_linear(100, 9, 1);
        let units = data.with_units((0..100).map(|i| i / 2).collect(), 50, "person").unwrap();
        let refused = linear(1).fit(&units, budget(1.0), &mut RandomSource::insecure_seeded(1));
        assert!(refused.unwrap_err().to_string().contains("those of a unit"));
    }
}
