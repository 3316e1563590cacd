//! Bounds of any size are found, by means and by a regression; what does not fit is refused.

use super::super::dense::{Likelihood, Regression};
use super::super::means::{Means, MeansFit};
use super::*;
use crate::accounting::account;
use crate::central::Privacy;
use crate::central::dense_attacks::Tables;
use crate::data::csr::Values;
use crate::data::{Dataset, Design, Shape};
use crate::estimators::means::MeanRows;
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

const ROWS: usize = 20_000;

/// Columns of one rank order: ages, years of a calendar, payments that are zero for nine in ten, sizes over twelve orders of magnitude,
/// and a constant.
fn columns() -> Vec<[f64; 5]> {
    let mut tables = Tables::new(41);
    (0..ROWS)
        .map(|_| {
            let age = 20.0 + 30.0 * (tables.uniform() + tables.uniform());
            let year = 2000.0 + (20.0 * tables.uniform()).floor();
            let paid = if tables.uniform() < 0.9 { 0.0 } else { -5e4 * tables.uniform().max(1e-9).ln() };
            let size = 10f64.powf(12.0 * tables.uniform() - 3.0);
            [age, year, paid, size, -7.0]
        })
        .collect()
}

fn means(table: &[[f64; 5]], bounds: &[(f64, f64)], search: bool, seed: u64) -> MeansFit {
    let design = Design::from_f64(ROWS, 5, table.concat()).expect("shape");
    let blocks = bounds.iter().map(|&(low, high)| Block::Number { low, high }).collect();
    let mut model = Means::new(blocks).and_then(|m| m.intervals(0.95)).expect("valid");
    if search {
        let magnitude = Magnitude::new(1e12, 1e-3).expect("valid");
        model = model.searching(vec![Some(magnitude); 5], SHARE).expect("valid");
    }
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"));
    let rows = MeanRows::new(&design).expect("shape");
    model.fit(&rows, privacy, &mut RandomSource::insecure_seeded(seed)).expect("fits")
}

/// From a magnitude of 1e12 alone, means are nearly as near as with good bounds; no column fails.
#[test]
fn bounds_of_any_size_are_found() {
    let table = columns();
    let good = [(0.0, 120.0), (1990.0, 2030.0), (0.0, 1e6), (0.0, 1e9), (-10.0, 0.0)];
    let wide = [(-1e12, 1e12); 5];
    let exact: Vec<f64> = (0..5).map(|j| table.iter().map(|row| row[j]).sum::<f64>() / ROWS as f64).collect();
    let error = |bounds: &[(f64, f64)], search: bool| -> Vec<f64> {
        let runs: Vec<MeansFit> = (0..12).map(|seed| means(&table, bounds, search, seed)).collect();
        (0..5)
            .map(|j| {
                let square = |fit: &MeansFit| (fit.groups[0].columns[j].mean - exact[j]).powi(2);
                (runs.iter().map(square).sum::<f64>() / 12.0).sqrt()
            })
            .collect()
    };
    let (found, known) = (error(&wide, true), error(&good, false));
    for (j, near) in [1.0, 0.5, 400.0, 1e7, 0.1].into_iter().enumerate() {
        assert!(found[j] < near, "{j}: {found:?} beside {known:?}");
    }
    // Without a search the widest column drowns the rest.
    let lost = means(&table, &wide, false, 1).groups[0].columns[0].mean;
    assert!((lost - exact[0]).abs() > 1e3, "{lost}");
}

#[test]
fn what_does_not_fit_is_refused() {
    for (largest, resolution) in [(1.0, 0.0), (1.0, 2.0), (f64::INFINITY, 1.0), (1.0, f64::NAN), (1e9, 1e-9)]
    {
        assert!(Magnitude::new(largest, resolution).is_err(), "{largest} {resolution}");
    }
    let model =
        || Means::new(vec![Block::Number { low: -1.0, high: 1.0 }, Block::Category { indicators: 1 }]);
    let magnitude = Some(Magnitude::new(1.0, 0.1).expect("valid"));
    assert!(model().expect("valid").searching(vec![magnitude], 0.1).is_err());
    assert!(model().expect("valid").searching(vec![None, magnitude], 0.1).is_err());
    assert!(model().expect("valid").searching(vec![magnitude, None], 0.9).is_err());
    assert!(model().expect("valid").searching(vec![magnitude, None], 0.1).is_ok());
}

/// A regression from magnitudes alone: within its budget, bounds in the certificate, slopes as with good bounds, whatever the offset.
#[test]
fn a_regression_finds_its_bounds() {
    let table = columns();
    let rows = 20_000;
    let (mut entries, mut response) = (Vec::new(), Vec::new());
    let mut tables = Tables::new(3);
    for row in &table {
        entries.extend([1.0, row[0] / 1e12, row[1] / 1e12]);
        let noise: f64 = (0..12).map(|_| tables.uniform()).sum::<f64>() - 6.0;
        response.push(1e4 + 40.0 * (row[0] - 50.0) - 100.0 * (row[1] - 2010.0) + 300.0 * noise);
    }
    let data = Dataset::new(Design::from_f64(rows, 3, entries).expect("shape"), response).expect("shape");
    let magnitude = |largest, resolution| Magnitude::new(largest, resolution).expect("valid");
    let column = Sought { magnitude: magnitude(1.0, 1e-12), low: -1.0, high: 1.0, whole: None };
    let target = Sought { magnitude: magnitude(1e9, 1.0), low: -1e9, high: 1e9, whole: Some(1.0) };
    let model = Regression::new(Likelihood::gaussian(-1e9, 1e9)).expect("valid");
    let model = model.with_intercept().intervals(0.95).expect("valid");
    let model = model.searching(vec![None, Some(column), Some(column)], Some(target), SHARE).expect("valid");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let prepared = model.prepare(data.shape(), Privacy::Budget(budget)).expect("valid");
    let planned = account(&prepared.events().expect("planned"), budget.delta()).expect("accounted");
    assert!(planned.epsilon <= 1.0 && planned.epsilon > 0.99, "{planned:?}");
    let fit = prepared.fit(&data, &mut RandomSource::insecure_seeded(5)).expect("fits");
    let paid = account(fit.certificate.events(), budget.delta()).expect("accounted");
    assert!(paid.epsilon <= 1.0, "{paid:?}");
    let count = |what: &str| {
        let of = fit.certificate.events().iter().filter(|e| e.release() == what);
        of.map(crate::privacy::Event::count).sum::<u64>()
    };
    assert_eq!((count(CENTRES.name()), count(ENDS.name())), (3, 6));
    let found = fit.bounds.as_ref().expect("found");
    let (low, high) = found.target.expect("sought");
    assert!(low.fract() == 0.0 && high.fract() == 0.0 && low < 8e3 && high > 12e3 && high - low < 1e5);
    for (column, slope, near) in [(1, 40.0, 2.0), (2, -100.0, 5.0)] {
        let (_, unit) = found.scaling(column, true).expect("sought");
        let slope_found = fit.coefficients[0][column] / (unit * 1e12);
        assert!((slope_found - slope).abs() < near, "{column}: {slope_found}");
    }
    assert_eq!(found.scaling(0, true), None);
}

#[test]
fn a_regression_refuses_a_search_that_does_not_fit() {
    let magnitude = Magnitude::new(1.0, 0.1).expect("valid");
    let sought = Some(Sought { magnitude, low: -1.0, high: 1.0, whole: None });
    let model = |columns, target| {
        let model = Regression::new(Likelihood::logistic()).expect("valid").with_intercept();
        model.searching(columns, target, 0.1)?.prepare(Shape::new(2, 100), Privacy::None)
    };
    assert!(model(vec![None, sought], None).is_ok());
    assert!(model(vec![sought, None], None).is_err(), "the constant column has no bounds");
    assert!(model(vec![None, sought], sought).is_err(), "a binary response has no bounds");
    assert!(model(vec![sought], None).is_err(), "one per column");
    assert!(model(vec![None, None], None).is_err(), "nothing to find");
    let sparse = Design::from_csr(2, vec![0, 1, 2], vec![0, 0], Values::Ones).expect("shape");
    let data = Dataset::new(sparse, vec![0.0, 1.0]).expect("shape");
    let model = Regression::new(Likelihood::logistic()).expect("valid");
    let model = model.searching(vec![None, sought], None, 0.1).expect("valid");
    let refused = model.fit(&data, Privacy::None, &mut RandomSource::insecure_seeded(1));
    assert!(refused.is_err_and(|e| e.to_string().contains("sparse rows")));
}

/// Nine columns share the search, so each has little of it: bounds stay near the values all the same, however large the magnitude.
#[test]
fn bounds_are_not_far_too_wide() {
    let mut tables = Tables::new(23);
    let entries: Vec<f64> =
        (0..9 * ROWS).map(|_| 20.0 + 30.0 * (tables.uniform() + tables.uniform())).collect();
    let design = Design::from_f64(ROWS, 9, entries).expect("shape");
    let model = Means::new(vec![Block::Number { low: -1e9, high: 1e9 }; 9]).expect("valid");
    let magnitude = Magnitude::new(1e9, 1e-3).expect("valid");
    let model = model.searching(vec![Some(magnitude); 9], SHARE).expect("valid");
    let privacy = Privacy::Budget(Budget::new(0.5, 1e-6).expect("valid"));
    let rows = MeanRows::new(&design).expect("shape");
    for seed in 0..6 {
        let fit = model.fit(&rows, privacy, &mut RandomSource::insecure_seeded(seed)).expect("fits");
        for column in &fit.groups[0].columns {
            let (low, high) = column.range;
            assert!(low < 20.0 && high > 80.0 && high - low < 3_000.0, "{seed}: {low} {high}");
        }
    }
}

/// Half of this mean hangs on one row of two hundred, all at one far value: the bounds hold it.
#[test]
fn rare_rows_far_out_stay_within_the_bounds() {
    let mut tables = Tables::new(29);
    let value = |row: usize, u: f64| match row {
        _ if row.is_multiple_of(200) => 99_999.0,
        _ if row.is_multiple_of(12) => 2_000.0 + 13_000.0 * u,
        _ => 0.0,
    };
    let entries: Vec<f64> = (0..ROWS).flat_map(|row| [0; 5].map(|_| value(row, tables.uniform()))).collect();
    let design = Design::from_f64(ROWS, 5, entries).expect("shape");
    let model = Means::new(vec![Block::Number { low: -1e9, high: 1e9 }; 5]).expect("valid");
    let magnitude = Magnitude::new(1e9, 1e-3).expect("valid");
    let model = model.searching(vec![Some(magnitude); 5], SHARE).expect("valid");
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"));
    let rows = MeanRows::new(&design).expect("shape");
    let fit = model.fit(&rows, privacy, &mut RandomSource::insecure_seeded(1)).expect("fits");
    for column in &fit.groups[0].columns {
        assert!(column.range.1 >= 99_999.0, "{:?}", column.range);
    }
}
