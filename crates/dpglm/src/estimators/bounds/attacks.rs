//! Neighbours that try to break the claimed sensitivities of a regression whose bounds are found first
//! ([`crate::central::session`], `tape`): rows and units, with rows that do not count.

use super::{Magnitude, Sought};
use crate::central::Privacy;
use crate::central::dense_attacks::{Tables, withstands};
use crate::data::{Dataset, Design};
use crate::estimators::dense::{Likelihood, Regression};
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

const ROWS: usize = 24;
const COLUMNS: usize = 3;

/// Entries of the two columns, response, weight.
type Row = ([f64; 2], f64, f64);

fn row(tables: &mut Tables) -> Row {
    let same = (tables.uniform() < 0.3).then(|| tables.entry());
    // Over many sizes, so that what is found differs from table to table.
    let size = 10f64.powf(3.0 * tables.uniform() - 3.0);
    let x = [0; 2].map(|_| same.unwrap_or_else(|| size * tables.entry()));
    let y = if tables.uniform() < 0.1 { f64::NAN } else { 9.0 * tables.uniform().powi(4) };
    (x, y, f64::from(u8::from(tables.uniform() < 0.7)))
}

fn table(rows: &[Row], units: bool) -> Dataset {
    let entries = rows.iter().flat_map(|(x, ..)| [1.0, x[0], x[1]]).collect();
    let design = Design::from_f64(ROWS, COLUMNS, entries).expect("shape");
    let data = Dataset::new(design, rows.iter().map(|r| r.1).collect()).expect("shape");
    if !units {
        return data;
    }
    let unit_of = (0..ROWS as u32).map(|i| i / 3).collect();
    let data = data.with_units(unit_of, ROWS / 3, "person").expect("shape");
    data.with_weights(rows.iter().map(|r| r.2).collect()).expect("shape")
}

fn neighbours(tables: &mut Tables, units: bool) -> [Dataset; 2] {
    let mut rows: Vec<Row> = (0..ROWS).map(|_| row(tables)).collect();
    let first = table(&rows, units);
    let victim = (tables.uniform() * ROWS as f64) as usize;
    for i in (0..ROWS).filter(|&i| i == victim || units && i / 3 == victim / 3) {
        let mirrored = tables.uniform() < 0.5;
        rows[i] = match mirrored {
            true => (rows[i].0.map(|x| -x), 9.0 - rows[i].1, rows[i].2),
            false => row(tables),
        };
    }
    [first, table(&rows, units)]
}

fn attacked(name: &str, likelihood: &Likelihood, low: f64, units: bool) {
    let magnitude = |largest| Magnitude::new(largest, 1e-3).expect("valid");
    let column = Sought { magnitude: magnitude(1.0), low: -1.0, high: 1.0, whole: None };
    let target = Sought { magnitude: magnitude(9.0), low, high: 9.0, whole: Some(1.0) };
    let model = Regression::new(likelihood.clone()).expect("valid").with_intercept();
    let model = model.searching(vec![None, Some(column), None], Some(target), 0.3).expect("valid");
    for epsilon in [40.0, 600.0] {
        let privacy = Privacy::Budget(Budget::new(epsilon, 1e-3).expect("valid"));
        let shape = neighbours(&mut Tables::new(7), units)[0].shape();
        let prepared = model.prepare(shape, privacy).expect("valid");
        withstands(name, 4_000, |tables| {
            let pair = neighbours(tables, units);
            let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
            Box::new(move |side| {
                let rng = &mut RandomSource::insecure_seeded(seed);
                prepared.fit(&pair[usize::from(side)], rng).expect("fits");
            })
        });
    }
}

#[test]
fn regressions_with_private_bounds_withstand_neighbours() {
    let real = Likelihood::gaussian(-9.0, 9.0);
    attacked("linear", &real, -9.0, false);
    attacked("linear of units", &real, -9.0, true);
    let counts = Likelihood::poisson(0.0, 9.0);
    attacked("poisson", &counts, 0.0, false);
    attacked("poisson of units", &counts, 0.0, true);
}
