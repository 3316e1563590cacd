//! Every certified method for a trusted curator with one linear predictor, and the means.

use crate::{BINARY, COLUMNS, REAL, ROWS};
use dpglm::Result;
use dpglm::audit::{Estimand, Table};
use dpglm::central::{
    DpIht, Glm, LinearStatistics, NoisyIht, Privacy, PrivateMean, SelectRefine, Selection, SparseMean,
    SparseMeanFit, Transfer,
};
use dpglm::comparators::{FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, TwoStage};
use dpglm::data::Shape;
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::release::Estimator;
use dpglm::tuning::{TunedRidge, TunedSparseMean, TunedSparsity};

/// A fit of a table.
pub type Fit = Box<dyn FnMut(&Table, &mut RandomSource) -> Result<Vec<f64>>>;

/// A method, what it estimates, the range of its response, the number of columns that matter, and a fit.
pub type Case = (&'static str, Estimand, (f64, f64), usize, Fit);

/// Every certified method for a trusted curator, at epsilon 1.
pub fn methods(privacy: Privacy) -> Result<Vec<Case>> {
    let glm = |family: Family, range| Glm::new(family, range);
    let of = |family: Family| Estimand::Glm(family);
    let ranges = || vec![(-1.0, 1.0); COLUMNS];
    /// A fit of coefficients by a prepared model.
    macro_rules! model {
        ($prepared:expr) => {{
            let prepared = $prepared;
            Box::new(move |table: &Table, rng: &mut RandomSource| {
                Ok(prepared.fit(&table.dataset()?, rng)?.coefficients)
            }) as Fit
        }};
    }
    macro_rules! sparse {
        ($prepared:expr) => {{
            let prepared = $prepared;
            Box::new(move |table: &Table, rng: &mut RandomSource| {
                Ok(prepared.fit(&table.dataset()?, rng)?.coefficients(COLUMNS))
            }) as Fit
        }};
    }
    let logistic = || glm(Family::logistic(), BINARY);
    let mean = PrivateMean::new(ranges())?.prepare(Shape::new(COLUMNS, ROWS), privacy)?;
    let karwa = KarwaVadhan::new(ranges(), (0.01, 1.0))?.prepare(Shape::new(COLUMNS, ROWS), privacy)?;
    let few = SparseMean::new(ranges(), 2)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?;
    let unknown = TunedSparseMean::new(vec![(-1.0, 1.0); COLUMNS], 3)?.prepare(ROWS, privacy)?;
    let counts = (0.0, 10.0);
    Ok(vec![
        ("mean", Estimand::Mean, BINARY, 4, Box::new(move |t, rng| Ok(mean.fit(&t.design()?, rng)?.means))),
        (
            "karwa-vadhan",
            Estimand::Mean,
            BINARY,
            4,
            Box::new(move |t, rng| Ok(karwa.fit(&t.design()?, rng)?.means)),
        ),
        (
            "sparse-mean",
            Estimand::Mean,
            BINARY,
            2,
            Box::new(move |t, rng| Ok(every(few.fit(&t.design()?, rng)?))),
        ),
        (
            "tuned-sparse-mean",
            Estimand::Mean,
            BINARY,
            2,
            Box::new(move |t, rng| Ok(every(unknown.fit(&t.design()?, rng)?))),
        ),
        (
            "linear",
            of(Family::gaussian()),
            REAL,
            4,
            model!(glm(Family::gaussian(), REAL)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "linear-statistics",
            of(Family::gaussian()),
            REAL,
            4,
            model!(LinearStatistics::new(REAL)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "logistic",
            of(Family::logistic()),
            BINARY,
            4,
            model!(logistic()?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "poisson",
            of(Family::poisson()),
            counts,
            4,
            model!(glm(Family::poisson(), counts)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "select-refine",
            of(Family::logistic()),
            BINARY,
            2,
            sparse!(SelectRefine::new(logistic()?, 2)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "tuned-sparsity",
            of(Family::logistic()),
            BINARY,
            2,
            sparse!(TunedSparsity::new(logistic()?, 3)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "tuned-ridge",
            of(Family::logistic()),
            BINARY,
            4,
            Box::new({
                let prepared = TunedRidge::new(logistic()?, vec![0.0, 0.1])?
                    .prepare(Shape::new(COLUMNS, ROWS), privacy)?;
                move |t: &Table, rng: &mut RandomSource| {
                    Ok(prepared.fit(&t.dataset()?, rng)?.fit.coefficients)
                }
            }),
        ),
        (
            "noisy-iht",
            of(Family::logistic()),
            BINARY,
            2,
            sparse!(
                NoisyIht::new(logistic()?, 2, 1.0, Selection::Gumbel)?
                    .prepare(Shape::new(COLUMNS, ROWS), privacy)?
            ),
        ),
        (
            "peeling-iht",
            of(Family::logistic()),
            BINARY,
            2,
            sparse!(
                NoisyIht::new(logistic()?, 2, 1.0, Selection::Peeling)?
                    .prepare(Shape::new(COLUMNS, ROWS), privacy)?
            ),
        ),
        (
            "dp-iht",
            of(Family::logistic()),
            BINARY,
            2,
            sparse!(DpIht::new(logistic()?, 2)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "frank-wolfe",
            of(Family::gaussian()),
            REAL,
            2,
            model!(FrankWolfe::linear(REAL, 1.0, 2.0)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "two-stage",
            of(Family::logistic()),
            BINARY,
            2,
            model!(TwoStage::logistic(1.0, 2)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "johnson-lindenstrauss",
            of(Family::gaussian()),
            REAL,
            4,
            model!(JohnsonLindenstrauss::linear(REAL, 1.0)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
        (
            "transfer",
            of(Family::logistic()),
            BINARY,
            2,
            model!(Transfer::logistic(1.0, 2)?.prepare(Shape::new(COLUMNS, ROWS), privacy)?),
        ),
    ])
}

/// The means of all columns, zeros where none was taken.
fn every(found: SparseMeanFit) -> Vec<f64> {
    let mut all = vec![0.0; COLUMNS];
    found.support.iter().zip(&found.fit.means).for_each(|(&j, &m)| all[j] = m);
    all
}
