//! Neighbours at the ends of the range of numbers: bounds that are huge, tiny, or far from zero beside their width are refused,
//! or the claimed sensitivities hold for them too.

use super::dense_attacks::{COLUMNS, ROWS, Tables, privacy};
use super::{DpIht, Glm, LinearStatistics, NoisyIht, Selection};
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::Result;
use crate::families::Family;
use crate::noise::RandomSource;
use crate::release::Estimator;
use crate::release::tape::attack;

/// Lower bounds of a response, and how far above them its upper bounds are.
const TARGETS: [(f64, f64); 9] = [
    (-5e307, 1e308),
    (-4e304, 8e304),
    (-5e99, 1e100),
    (1e99, 1e84),
    (1e15, 1024.0),
    (0.0, 1e-90),
    (0.0, 1e-288),
    (0.0, 1e-291),
    (0.0, 1e-306),
];

/// Fits a table, or refuses what was declared.
type Fitting = Result<Box<dyn Fn(&Dataset, &mut RandomSource)>>;

/// Attacks what `fitting` makes of each target; how many targets were not refused.
fn accepted(name: &str, intercept: bool, fitting: impl Fn((f64, f64)) -> Fitting) -> usize {
    let mut accepted = 0;
    for (low, width) in TARGETS {
        let Ok(fit) = fitting((low, low + width)) else { continue };
        accepted += 1;
        let mut tables = Tables::new(accepted as u64);
        for _ in 0..50 {
            let pair = tables.neighbours(intercept, false, |u| low + width * u);
            let seed = tables.uniform().to_bits();
            let tape = attack(|side| fit(&pair[usize::from(side)], &mut RandomSource::insecure_seeded(seed)));
            let (worst, what) = tape.worst;
            assert!(
                worst <= 1.0,
                "{name}, from {low} to {width} above: {what} moved by {worst} of its claim"
            );
        }
    }
    accepted
}

fn linear(target: (f64, f64), intercept: bool) -> Result<Glm> {
    let model = Glm::new(Family::gaussian(), target)?;
    Ok(if intercept { model.with_intercept() } else { model })
}

#[test]
fn linear_regression_is_refused_or_withstands_the_ends_of_the_range() {
    for (intercept, level) in [(true, None), (false, None), (true, Some(0.95))] {
        let found = accepted("gradient", intercept, |target| {
            let model = linear(target, intercept)?;
            let model = level.map_or(Ok(model.clone()), |level| model.intervals(level))?;
            let prepared = model.prepare(Shape::new(COLUMNS, ROWS), privacy())?;
            Ok(Box::new(move |data, rng| drop(prepared.fit(data, rng).expect("fits"))))
        });
        assert_eq!(found, 4);
    }
}

#[test]
fn sufficient_statistics_are_refused_or_withstand_the_ends_of_the_range() {
    let found = accepted("statistics", true, |target| {
        let model = LinearStatistics::new(target)?.with_intercept();
        let prepared = model.prepare(Shape::new(COLUMNS, ROWS), privacy())?;
        Ok(Box::new(move |data, rng| drop(prepared.fit(data, rng).expect("fits"))))
    });
    assert_eq!(found, 4);
}

#[test]
fn sparse_models_are_refused_or_withstand_the_ends_of_the_range() {
    for selection in [Selection::Gumbel, Selection::Peeling] {
        let found = accepted("noisy-iht", true, |target| {
            let model = NoisyIht::new(linear(target, true)?, 2, 1.0, selection)?;
            let prepared = model.prepare(Shape::new(COLUMNS, ROWS), privacy())?;
            Ok(Box::new(move |data, rng| drop(prepared.fit(data, rng).expect("fits"))))
        });
        assert_eq!(found, 4);
    }
    for (row_norm, wanted) in [(1e-305, 0), (1e-100, 4), (1.0, 4), (1e100, 4), (1e305, 0)] {
        let found = accepted("dp-iht", true, |target| {
            let model = DpIht::new(linear(target, true)?, 2)?.row_norm(row_norm)?;
            let prepared = model.prepare(Shape::new(COLUMNS, ROWS), privacy())?;
            Ok(Box::new(move |data, rng| drop(prepared.fit(data, rng).expect("fits"))))
        });
        assert_eq!(found, wanted);
    }
}
