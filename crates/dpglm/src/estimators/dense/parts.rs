//! Fits of tables cut into parts are fits of the whole, to the last bit.

use super::{Domain, Likelihood, Regression};
use crate::central::Privacy;
use crate::data::{Dataset, Design, Values};
use crate::estimators::bounds::{Magnitude, Sought};
use crate::families::toy;
use crate::noise::RandomSource;
use crate::passes::cut::Cut;
use crate::privacy::Budget;
use crate::release::Estimator;
use std::ops::Range;

const UNITS: usize = 1_200;
const COLUMNS: usize = 4;

/// A table of which any units can be had apart.
struct Whole {
    likelihood: Likelihood,
    storage: &'static str,
    /// Rows per unit; 1 if rows are units.
    each: usize,
    weights: bool,
    exposures: bool,
}

impl Whole {
    fn part(&self, units: Range<usize>) -> Dataset {
        let rows = self.each * units.start..self.each * units.end;
        let count = rows.len();
        // A number of a row that looks like noise.
        let noise = |row: usize, k: usize| {
            let x = (row * 7 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            f64::from(x as u32) / f64::from(1_u32 << 31) * 2.0 - 1.0
        };
        let entries: Vec<f64> = rows
            .clone()
            .flat_map(|row| (0..COLUMNS).map(move |j| if j == 0 { 1.0 } else { noise(row, j) }))
            .collect();
        let design = match self.storage {
            "f64" => Design::from_f64(count, COLUMNS, entries.clone()),
            "f32" => Design::from_f32(count, COLUMNS, entries.iter().map(|&x| x as f32).collect()),
            "i8" => {
                let bytes = entries.iter().map(|x| (100.0 * x).round() as i8).collect();
                Design::from_i8(count, COLUMNS, bytes, 0.01)
            }
            _ => {
                let kept = |x: &f64| *x == 1.0 || x.abs() > 0.4;
                let mut offsets = vec![0];
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                for row in entries.chunks_exact(COLUMNS) {
                    for (j, x) in row.iter().enumerate().filter(|(_, x)| kept(x)) {
                        columns.push(j as u32);
                        values.push(*x);
                    }
                    offsets.push(values.len());
                }
                Design::from_csr(COLUMNS, offsets, columns, Values::F64(values))
            }
        };
        let response = rows.clone().map(|row| {
            let u = noise(row, 1) - 0.5 * noise(row, 2) + noise(row, 5);
            match self.likelihood.domain() {
                Domain::Real => 2005.0 + 3.0 * u,
                Domain::Binary => f64::from(u8::from(u > 0.0)),
                Domain::Count => (1.0 + u).exp().floor(),
                Domain::Classes(classes) => (classes as f64 * (0.5 + 0.19 * u)).floor(),
            }
        });
        let mut data = Dataset::new(design.expect("shape"), response.collect()).expect("shape");
        if self.weights {
            let counts = |row| f64::from(u8::from(noise(row, 6) > -0.7));
            data = data.with_weights(rows.clone().map(counts).collect()).expect("shape");
        }
        if self.exposures {
            let exposures: Vec<f64> = rows.map(|row| 0.6 + 0.39 * noise(row, 4)).collect();
            data = data.with_exposures(&exposures, 1.0).expect("shape");
        }
        if self.each > 1 {
            let of_row = (0..count).map(|row| (row / self.each) as u32).collect();
            data = data.with_units(of_row, units.len(), "person").expect("shape");
        }
        data
    }

    /// Cut at unequal places.
    fn cut(&self, parts: usize, seed: u64) -> Cut {
        let place = |k: usize| UNITS * k * (k + parts) / (2 * parts * parts);
        let datasets = (0..parts).map(|k| self.part(place(k)..place(k + 1))).collect();
        Cut::new(datasets, self.part(0..UNITS).shape(), seed)
    }

    fn compare(&self, model: &Regression, epsilon: f64) {
        let data = self.part(0..UNITS);
        let budget = Privacy::Budget(Budget::new(epsilon, 1e-6).expect("valid"));
        let prepared = model.prepare(data.shape(), budget).expect("valid");
        let whole = prepared.fit(&data, &mut RandomSource::insecure_seeded(7)).expect("a fit");
        for parts in [1, 7, 64] {
            let cut = self.cut(parts, parts as u64);
            let rng = &mut RandomSource::insecure_seeded(7);
            let found =
                model.run_on(&cut, &prepared.layout, prepared.plan.open(rng), &mut |_, _| {}).expect("a fit");
            assert!(found == whole, "{parts} parts of {:?}, {}", self.likelihood, self.storage);
        }
    }
}

/// One, seven and sixty-four parts, merged in random orders, of rows and of units, however entries are stored, with weights, exposures
/// and intervals: whatever a fit asks of its rows, it gets the same answer.
#[test]
fn parts_of_a_table_give_the_fit_of_the_whole() {
    let likelihoods = [
        Likelihood::gaussian(1990.0, 2020.0),
        Likelihood::logistic(),
        Likelihood::poisson(0.0, 50.0),
        Likelihood::Multinomial { classes: 3 },
        Likelihood::new(toy::family(), (0.0, 1.0)),
    ];
    for likelihood in likelihoods {
        for (storage, each) in [("f64", 1), ("f64", 3), ("f32", 1), ("i8", 2), ("csr", 1), ("csr", 3)] {
            let exposures = matches!(likelihood.domain(), Domain::Count);
            let whole = Whole { likelihood: likelihood.clone(), storage, each, weights: each < 3, exposures };
            let mut model = Regression::new(likelihood.clone()).expect("valid").with_intercept();
            whole.compare(&model, 0.3);
            if each == 1 || !matches!(likelihood.domain(), Domain::Classes(_)) {
                model = model.intervals(0.95).expect("valid");
            }
            whole.compare(&model, 8.0);
        }
    }
}

#[test]
fn parts_of_a_table_find_the_bounds_of_the_whole() {
    let likelihood = Likelihood::gaussian(-1e6, 1e6);
    let whole =
        Whole { likelihood: likelihood.clone(), storage: "f32", each: 2, weights: true, exposures: false };
    let magnitude = Magnitude::new(1e6, 1e-3).expect("valid");
    let sought = Some(Sought { magnitude, low: -1e6, high: 1e6, whole: None });
    let columns = vec![None, sought, None, sought];
    let model = Regression::new(likelihood.clone()).expect("valid").with_intercept();
    let model = model.searching(columns, sought, 0.2).expect("valid");
    whole.compare(&model, 2.0);
}
