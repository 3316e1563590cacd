//! Neighbours that try to break the claimed sensitivities of the dense estimators ([`crate::release::tape`]).

use super::{Glm, LinearStatistics, Multinomial, Privacy, PrivateMean};
use crate::data::Shape;
use crate::data::{Dataset, Design};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;
use crate::release::tape::attack;

pub(crate) const ROWS: usize = 24;
pub(crate) const COLUMNS: usize = 4;

/// A small generator of test tables.
pub(crate) struct Tables(u64);

impl Tables {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 * 2f64.powi(-53)
    }

    /// Usual entries, and the ones that break careless code.
    pub(crate) fn entry(&mut self) -> f64 {
        const ODD: [f64; 10] = [0.0, -1.0, 1.0, 1e30, -1e30, f64::NAN, f64::INFINITY, 1e-300, 3.0, -1e6];
        match (self.uniform() * 30.0) as usize {
            k @ 0..10 => ODD[k],
            _ => 2.0 * self.uniform() - 1.0,
        }
    }

    /// Two tables that differ in every row of one unit; with an intercept the first column is constant.
    pub(crate) fn neighbours(
        &mut self,
        intercept: bool,
        units: bool,
        response: impl Fn(f64) -> f64,
    ) -> [Dataset; 2] {
        let row = |tables: &mut Self| -> Vec<f64> {
            // Whole rows of one kind, often: the extreme points of what a row can do.
            let same = (tables.uniform() < 0.3).then(|| tables.entry());
            (0..COLUMNS)
                .map(|j| if intercept && j == 0 { 1.0 } else { same.unwrap_or_else(|| tables.entry()) })
                .collect()
        };
        let y = |tables: &mut Self| {
            if tables.uniform() < 0.1 { f64::NAN } else { response(tables.uniform()) }
        };
        let unit_of: Vec<u32> = (0..ROWS as u32).map(|i| i / 3).collect();
        let mut x: Vec<Vec<f64>> = (0..ROWS).map(|_| row(self)).collect();
        let mut r: Vec<f64> = (0..ROWS).map(|_| y(self)).collect();
        let build = |x: &[Vec<f64>], r: &[f64]| {
            let design = Design::from_f64(ROWS, COLUMNS, x.concat()).expect("shape");
            let data = Dataset::new(design, r.to_vec()).expect("shape");
            if units { data.with_units(unit_of.clone(), ROWS / 3, "person").expect("shape") } else { data }
        };
        let first = build(&x, &r);
        let victim = (self.uniform() * ROWS as f64) as usize;
        for i in (0..ROWS).filter(|&i| i == victim || units && unit_of[i] == unit_of[victim]) {
            // The mirror image of the row, or any other.
            if self.uniform() < 0.5 {
                x[i].iter_mut().skip(usize::from(intercept)).for_each(|x| *x = -*x);
                r[i] = response(self.uniform().round());
            } else {
                x[i] = row(self);
                r[i] = y(self);
            }
        }
        [first, build(&x, &r)]
    }
}

/// Enough that no release is kept from moving by noise that throws the iterates about.
pub(crate) fn privacy() -> Privacy {
    Privacy::Budget(Budget::new(3.0, 1e-3).expect("valid"))
}

/// Runs attacks until `releases` releases were compared.
pub(crate) fn withstands(
    name: &str,
    releases: usize,
    mut pair: impl FnMut(&mut Tables) -> Box<dyn Fn(bool)>,
) {
    let mut tables = Tables::new(name.bytes().map(u64::from).sum::<u64>() + 1);
    let (mut compared, mut worst) = (0, (0.0, String::new()));
    while compared < releases {
        let tape = attack(pair(&mut tables));
        compared += tape.compared;
        if tape.worst.0 > worst.0 {
            worst = tape.worst;
        }
    }
    assert!(worst.0 <= 1.0, "{name}: {} moved by {} of its claim", worst.1, worst.0);
    // An attack that comes nowhere near the claim would not notice a wrong one.
    assert!(worst.0 > 0.5, "{name}: the attacks reach {} of the claim only", worst.0);
}

/// The shape of tables of rows, or of units of three rows.
pub(crate) fn shape(units: bool) -> Shape {
    if units { Shape::new(COLUMNS, ROWS / 3).grouped() } else { Shape::new(COLUMNS, ROWS) }
}

fn glm(name: &str, family: fn() -> Family, target: (f64, f64), intercept: bool, units: bool) {
    let mut model = Glm::new(family(), target).and_then(|m| m.intervals(0.95)).expect("valid");
    if intercept {
        model = model.with_intercept();
    }
    let prepared = model.prepare(shape(units), privacy()).expect("valid");
    withstands(name, 100_000, |tables| {
        let pair = tables.neighbours(intercept, units, |u| target.0 + (target.1 - target.0) * u);
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            let rng = &mut RandomSource::insecure_seeded(seed);
            prepared.fit(&pair[usize::from(side)], rng).expect("fits");
        })
    });
}

#[test]
fn logistic_regression_withstands_neighbours() {
    glm("logistic", Family::logistic, (0.0, 1.0), false, false);
    glm("logistic with intercept", Family::logistic, (0.0, 1.0), true, false);
    glm("logistic of units", Family::logistic, (0.0, 1.0), true, true);
}

#[test]
fn linear_regression_withstands_neighbours() {
    glm("linear", Family::gaussian, (-2.0, 3.0), false, false);
    glm("linear with intercept, of units", Family::gaussian, (-2.0, 3.0), true, true);
}

#[test]
fn poisson_regression_withstands_neighbours() {
    glm("poisson with intercept", Family::poisson, (0.0, 9.0), true, false);
    glm("poisson of units", Family::poisson, (0.0, 9.0), false, true);
}

#[test]
fn multinomial_regression_withstands_neighbours() {
    let model = Multinomial::new(3).expect("valid").with_intercept();
    let prepared = model.prepare(shape(false), privacy()).expect("valid");
    withstands("multinomial", 100_000, |tables| {
        let pair = tables.neighbours(true, false, |u| (3.0 * u).floor());
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            prepared.fit(&pair[usize::from(side)], &mut RandomSource::insecure_seeded(seed)).expect("fits");
        })
    });
}

#[test]
fn sufficient_statistics_withstand_neighbours() {
    let model = LinearStatistics::new((-2.0, 3.0)).expect("valid").with_intercept();
    let model = model.intervals(0.95).expect("valid");
    let prepared = model.prepare(shape(false), privacy()).expect("valid");
    withstands("statistics", 100_000, |tables| {
        let pair = tables.neighbours(true, false, |u| 5.0 * u - 2.0);
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            prepared.fit(&pair[usize::from(side)], &mut RandomSource::insecure_seeded(seed)).expect("fits");
        })
    });
}

#[test]
fn the_mean_withstands_neighbours() {
    mean_withstands("mean", 5);
}

/// So little budget that columns keep their ranges as units.
#[test]
fn the_mean_in_units_of_its_ranges_withstands_neighbours() {
    mean_withstands("mean in units of its ranges", 4);
}

/// So little budget that nothing is localised and the ball holds the whole box.
#[test]
fn the_mean_of_the_whole_box_withstands_neighbours() {
    mean_withstands("mean of the whole box", 2);
}

/// At the smallest epsilon at which the mean has so many kinds of releases.
fn mean_withstands(name: &'static str, releases: usize) {
    let model = PrivateMean::new(vec![(-1.0, 2.0); COLUMNS]).and_then(|m| m.intervals(0.95)).expect("valid");
    let prepared = (0..80)
        .map(|k| Privacy::Budget(Budget::new(0.05 * 1.2_f64.powi(k), 1e-6).expect("valid")))
        .map(|privacy| model.prepare(shape(false), privacy).expect("valid"))
        .find(|prepared| prepared.events().expect("valid").len() == releases)
        .expect("some budget has these releases");
    withstands(name, 100_000, |tables| {
        let pair = tables.neighbours(false, false, |u| u);
        let (prepared, seed) = (prepared.clone(), tables.uniform().to_bits());
        Box::new(move |side| {
            prepared
                .fit(pair[usize::from(side)].design(), &mut RandomSource::insecure_seeded(seed))
                .expect("fits");
        })
    });
}
