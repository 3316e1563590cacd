//! Neighbours that try to break the claimed sensitivities ([`crate::central::session`], `tape`): with and without units, rows
//! that do not count, exposures, at budgets that reach every release.

use super::{Domain, Likelihood, Regression};
use crate::central::Privacy;
use crate::central::dense_attacks::{Tables, withstands};
use crate::data::{Dataset, Design};
use crate::families::{Family, toy};
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

const ROWS: usize = 24;
const COLUMNS: usize = 4;

/// What a table has beside rows and responses.
#[derive(Clone, Copy, Default)]
struct Beside {
    intercept: bool,
    units: bool,
    weights: bool,
    exposures: bool,
    sampled: bool,
}

/// One row: entries, response, weight, exposure, sampling weight.
type Row = (Vec<f64>, f64, f64, f64, f64);

fn row(tables: &mut Tables, beside: Beside, response: &impl Fn(f64) -> f64) -> Row {
    // Whole rows of one kind, often: the extreme points of what a row can do.
    let same = (tables.uniform() < 0.3).then(|| tables.entry());
    let entry = |tables: &mut Tables, j: usize| match same {
        _ if beside.intercept && j == 0 => 1.0,
        Some(x) => x,
        None => tables.entry(),
    };
    let x = (0..COLUMNS).map(|j| entry(tables, j)).collect();
    let y = if tables.uniform() < 0.1 { f64::NAN } else { response(tables.uniform()) };
    let weight = f64::from(u8::from(tables.uniform() < 0.7));
    let exposure = [1.0, 0.01, tables.uniform(), 5.0, f64::NAN][(5.0 * tables.uniform()) as usize];
    let sampling = [1.0, 1.0, tables.uniform(), 0.0, 1e-6, 7.0, f64::NAN][(7.0 * tables.uniform()) as usize];
    (x, y, weight, exposure, sampling)
}

fn table(rows: &[Row], beside: Beside) -> Dataset {
    let design = Design::from_f64(ROWS, COLUMNS, rows.iter().flat_map(|r| r.0.clone()).collect());
    let mut data = Dataset::new(design.expect("shape"), rows.iter().map(|r| r.1).collect()).expect("shape");
    if beside.units {
        let unit_of = (0..ROWS as u32).map(|i| i / 3).collect();
        data = data.with_units(unit_of, ROWS / 3, "person").expect("shape");
    }
    if beside.weights {
        data = data.with_weights(rows.iter().map(|r| r.2).collect()).expect("shape");
    }
    if beside.sampled {
        let weights: Vec<f64> = rows.iter().map(|r| r.4).collect();
        data = data.with_sample_weights(&weights, 0.5).expect("shape");
    }
    if beside.exposures {
        let exposures: Vec<f64> = rows.iter().map(|r| r.3).collect();
        data = data.with_exposures(&exposures, 1.0).expect("shape");
    }
    data
}

/// Two tables that differ in every row of one unit.
fn neighbours(tables: &mut Tables, beside: Beside, response: &impl Fn(f64) -> f64) -> [Dataset; 2] {
    let mut rows: Vec<Row> = (0..ROWS).map(|_| row(tables, beside, response)).collect();
    let first = table(&rows, beside);
    let victim = (tables.uniform() * ROWS as f64) as usize;
    for i in (0..ROWS).filter(|&i| i == victim || beside.units && i / 3 == victim / 3) {
        let mut other = row(tables, beside, response);
        // The mirror image of the row, or any other.
        if tables.uniform() < 0.5 {
            other.0 = rows[i].0.iter().map(|x| -x).collect();
            if beside.intercept {
                other.0[0] = 1.0;
            }
        }
        rows[i] = other;
    }
    [first, table(&rows, beside)]
}

fn attacked(name: &str, likelihood: &Likelihood, beside: Beside, response: impl Fn(f64) -> f64) {
    let mut model = Regression::new(likelihood.clone()).expect("valid");
    if beside.intercept {
        model = model.with_intercept();
    }
    if likelihood.has_dispersion() && beside.exposures {
        model = model.dispersion().expect("valid");
    }
    // Little: location alone, or with slopes for some. Enough for slopes of all. Enough for the slope matrix.
    let plain = [3.0, 40.0, 600.0].map(|epsilon| (model.clone(), epsilon));
    // Enough for intervals, and far more.
    let refused = beside.units && matches!(likelihood.domain(), Domain::Classes(_));
    let intervals = (!refused).then(|| model.clone().intervals(0.95).expect("valid"));
    let inferring =
        intervals.into_iter().flat_map(|model| [150.0, 600.0].map(|epsilon| (model.clone(), epsilon)));
    for (model, epsilon) in plain.into_iter().chain(inferring) {
        let privacy = Privacy::Budget(Budget::new(epsilon, 1e-3).expect("valid"));
        let mut tables = Tables::new(7);
        let shape = neighbours(&mut tables, beside, &response)[0].shape();
        let prepared = model.prepare(shape, privacy).expect("valid");
        assert!(
            model.level.is_none() || prepared.determines_any(),
            "{name}: nothing is inferred at {epsilon}"
        );
        withstands(name, 8_000, |tables| {
            let pair = neighbours(tables, beside, &response);
            let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
            Box::new(move |side| {
                let rng = &mut RandomSource::insecure_seeded(seed);
                prepared.fit(&pair[usize::from(side)], rng).expect("fits");
            })
        });
    }
}

const PLAIN: Beside =
    Beside { intercept: true, units: false, weights: false, exposures: false, sampled: false };

#[test]
fn binary_responses_withstand_neighbours() {
    attacked("logistic", &Likelihood::logistic(), PLAIN, f64::round);
    attacked("logistic without intercept", &Likelihood::logistic(), Beside::default(), f64::round);
    attacked("logistic with weights", &Likelihood::logistic(), Beside { weights: true, ..PLAIN }, f64::round);
    let units = Beside { units: true, weights: true, ..PLAIN };
    attacked("logistic of units", &Likelihood::logistic(), units, f64::round);
    attacked("added family of units", &Likelihood::new(toy::family(), (0.0, 1.0)), units, f64::round);
}

#[test]
fn real_responses_withstand_neighbours() {
    let likelihood = Likelihood::gaussian(-2.0, 3.0);
    attacked("linear", &likelihood, PLAIN, |u| 5.0 * u - 2.0);
    let bare = Beside { weights: true, ..Beside::default() };
    attacked("linear without intercept", &likelihood, bare, |u| 5.0 * u - 2.0);
    attacked("linear of units", &likelihood, Beside { units: true, ..PLAIN }, |u| 5.0 * u - 2.0);
    let far = Likelihood::gaussian(1e9, 1e9 + 1.0);
    attacked("linear, far from zero", &far, Beside { weights: true, ..PLAIN }, |u| 1e9 + u);
}

#[test]
fn counts_withstand_neighbours() {
    let likelihood = Likelihood::poisson(0.0, 9.0);
    let exposed = Beside { exposures: true, ..PLAIN };
    attacked("poisson", &likelihood, PLAIN, |u| (9.0 * u).floor());
    attacked("poisson with exposures", &likelihood, exposed, |u| (9.0 * u).floor());
    let all = Beside { units: true, weights: true, ..exposed };
    attacked("poisson of units", &likelihood, all, |u| (9.0 * u).floor());
}

#[test]
fn classes_withstand_neighbours() {
    let likelihood = Likelihood::Multinomial { classes: 3 };
    attacked("multinomial", &likelihood, Beside { weights: true, ..PLAIN }, |u| (3.0 * u).floor());
    attacked("multinomial of units", &likelihood, Beside { units: true, ..PLAIN }, |u| (3.0 * u).floor());
}

#[test]
fn amounts_withstand_neighbours() {
    let amount = |u: f64| (20.0 * u - 8.0).exp();
    let exposed = Beside { exposures: true, ..PLAIN };
    let gamma = Likelihood::new(Family::gamma(), (0.01, 1e4));
    attacked("gamma", &gamma, PLAIN, amount);
    attacked("gamma of units", &gamma, Beside { units: true, weights: true, ..exposed }, amount);
    let tweedie = Likelihood::new(Family::tweedie(1.5).expect("valid"), (0.0, 1e4));
    attacked("tweedie", &tweedie, exposed, |u| if u < 0.6 { 0.0 } else { amount(u) });
}

#[test]
fn other_links_withstand_neighbours() {
    attacked("probit", &Likelihood::new(Family::probit(), (0.0, 1.0)), PLAIN, f64::round);
    let units = Beside { units: true, ..PLAIN };
    attacked("cloglog of units", &Likelihood::new(Family::cloglog(), (0.0, 1.0)), units, f64::round);
}

#[test]
fn sampling_weights_withstand_neighbours() {
    let sampled = Beside { sampled: true, ..PLAIN };
    let units = Beside { units: true, ..sampled };
    attacked("weighted logistic", &Likelihood::logistic(), Beside { weights: true, ..sampled }, f64::round);
    attacked("weighted logistic of units", &Likelihood::logistic(), units, f64::round);
    attacked("weighted linear", &Likelihood::gaussian(-2.0, 3.0), sampled, |u| 5.0 * u - 2.0);
    let bare = Beside { intercept: false, exposures: true, ..sampled };
    attacked("weighted poisson", &Likelihood::poisson(0.0, 9.0), bare, |u| (9.0 * u).floor());
    attacked("weighted multinomial", &Likelihood::Multinomial { classes: 3 }, sampled, |u| (3.0 * u).floor());
}
