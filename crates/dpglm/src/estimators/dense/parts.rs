//! Fits of tables cut into parts are fits of the whole, to the last bit.

use super::{Domain, Likelihood, Regression};
use crate::central::Privacy;
use crate::data::{Dataset, Design, Shape, Values};
use crate::error::Result;
use crate::estimators::bounds::{Magnitude, Sought};
use crate::families::{Family, toy};
use crate::noise::RandomSource;
use crate::passes::{Ask, Block, Blocks, Sites, Streamed, answer, cut::Cut, in_memory, merge};
use crate::privacy::Budget;
use crate::release::Estimator;
use std::ops::Range;
use std::sync::{Arc, Mutex};

const UNITS: usize = 1_200;
const COLUMNS: usize = 4;

/// A table of which any units can be had apart.
#[derive(Clone)]
struct Whole {
    likelihood: Likelihood,
    storage: &'static str,
    /// Rows per unit; 1 if rows are units.
    each: usize,
    weights: bool,
    exposures: bool,
    sampled: bool,
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
                Domain::Positive => (1.0 + u).exp(),
                Domain::Nonnegative => ((1.0 + u).exp() - 1.0).max(0.0),
                Domain::Classes(classes) => (classes as f64 * (0.5 + 0.19 * u)).floor(),
            }
        });
        let mut data = Dataset::new(design.expect("shape"), response.collect()).expect("shape");
        if self.weights {
            let counts = |row| f64::from(u8::from(noise(row, 6) > -0.7));
            data = data.with_weights(rows.clone().map(counts).collect()).expect("shape");
        }
        if self.sampled {
            let weights: Vec<f64> = rows.clone().map(|row| 0.5 + 0.49 * noise(row, 9)).collect();
            data = data.with_sample_weights(&weights, 0.5).expect("shape");
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
        Likelihood::new(Family::probit(), (0.0, 1.0)),
        Likelihood::new(Family::gamma(), (0.1, 50.0)),
        Likelihood::new(Family::tweedie(1.5).expect("valid"), (0.0, 50.0)),
    ];
    for likelihood in likelihoods {
        for (storage, each) in [("f64", 1), ("f64", 3), ("f32", 1), ("i8", 2), ("csr", 1), ("csr", 3)] {
            let exposures = likelihood.takes_exposures();
            let sampled = storage != "f32";
            let whole = Whole {
                likelihood: likelihood.clone(),
                storage,
                each,
                weights: each < 3,
                exposures,
                sampled,
            };
            let mut model = Regression::new(likelihood.clone()).expect("valid").with_intercept();
            whole.compare(&model, 0.3);
            if likelihood.has_dispersion() {
                model = model.dispersion().expect("valid");
            }
            if each == 1 || !matches!(likelihood.domain(), Domain::Classes(_)) {
                model = model.intervals(0.95).expect("valid");
            }
            whole.compare(&model, 8.0);
        }
    }
}

/// A table in blocks of so many units.
struct InBlocks {
    whole: Whole,
    each: usize,
    shape: Shape,
}

impl Blocks for InBlocks {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn is_sparse(&self) -> bool {
        self.whole.storage == "csr"
    }

    fn unit(&self) -> Option<&str> {
        (self.whole.each > 1).then_some("person")
    }

    fn read(&self, give: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let whole = &self.whole;
        let starts = (0..UNITS).step_by(self.each);
        let parts = starts.map(|start| start..(start + self.each).min(UNITS));
        let block = |part| -> Block {
            let whole = whole.clone();
            Box::new(move || Ok(whole.part(part)))
        };
        parts.map(block).try_for_each(give)
    }
}

impl Whole {
    fn streamed(&self, each: usize, memory: usize) -> Streamed {
        let shape = self.part(0..UNITS).shape();
        Streamed::new(Arc::new(InBlocks { whole: self.clone(), each, shape }), memory)
    }
}

/// Blocks of any size, whatever is kept between passes, of rows and units, however entries are stored.
#[test]
fn streamed_rows_give_the_fit_of_the_whole() {
    let [gaussian, poisson] = [Likelihood::gaussian(1990.0, 2020.0), Likelihood::poisson(0.0, 50.0)];
    let cases = [
        (gaussian.clone(), "f64", 1),
        (gaussian, "i8", 3),
        (Likelihood::logistic(), "f32", 1),
        (Likelihood::logistic(), "csr", 2),
        (Likelihood::Multinomial { classes: 3 }, "f64", 1),
        (poisson.clone(), "i8", 1),
        (poisson, "f64", 2),
    ];
    for (likelihood, storage, each) in cases {
        let exposures = likelihood.takes_exposures();
        let name = format!("{likelihood:?}, {storage}");
        let model = Regression::new(likelihood.clone());
        let whole = Whole { likelihood, storage, each, weights: each < 3, exposures, sampled: each == 1 };
        let model = model.and_then(|m| m.with_intercept().intervals(0.95)).expect("valid");
        let data = whole.part(0..UNITS);
        let budget = Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"));
        let prepared = model.prepare(data.shape(), budget).expect("valid");
        let wanted = prepared.fit(&data, &mut RandomSource::insecure_seeded(7)).expect("a fit");
        for (block, memory) in [(1, 0), (7, 5_000), (1_000, usize::MAX), (UNITS, 1 << 20)] {
            let rows = whole.streamed(block, memory);
            let rng = &mut RandomSource::insecure_seeded(7);
            let found = prepared.fit_rows(&rows, rng, &mut |_, _| {}).expect("a fit");
            assert!(found == wanted, "blocks of {block} of {name}");
        }
    }
}

/// A table whose parts are at sites.
struct AtSites(Vec<Dataset>);

impl Ask for AtSites {
    fn ask(&self, question: &str) -> Result<Vec<String>> {
        let mut answers: Vec<String> =
            self.0.iter().map(|part| answer(&in_memory(part), question)).collect::<Result<_>>()?;
        // Some come merged.
        let last = answers.split_off(1);
        answers.push(merge(&last)?);
        Ok(answers)
    }
}

impl Whole {
    fn at_sites(&self) -> Sites {
        let ends = [0, 3, 4, 700, 1_100, UNITS];
        let parts = ends.windows(2).map(|ends| self.part(ends[0]..ends[1])).collect();
        let unit = (self.each > 1).then(|| "person".to_owned());
        Sites::new(self.part(0..UNITS).shape(), unit, Arc::new(AtSites(parts)))
    }
}

#[test]
fn five_sites_give_the_fit_of_the_whole() {
    let likelihoods = [
        Likelihood::gaussian(1990.0, 2020.0),
        Likelihood::logistic(),
        Likelihood::poisson(0.0, 50.0),
        Likelihood::Multinomial { classes: 3 },
    ];
    for (likelihood, (storage, each)) in
        likelihoods.into_iter().zip([("f64", 1), ("i8", 2), ("f32", 1), ("f64", 1)])
    {
        let (name, exposures) = (format!("{likelihood:?}"), likelihood.takes_exposures());
        let model = Regression::new(likelihood.clone());
        let whole = Whole { likelihood, storage, each, weights: true, exposures, sampled: true };
        let model = model.and_then(|m| m.with_intercept().intervals(0.95)).expect("valid");
        let data = whole.part(0..UNITS);
        let budget = Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"));
        let prepared = model.prepare(data.shape(), budget).expect("valid");
        let wanted = prepared.fit(&data, &mut RandomSource::insecure_seeded(7)).expect("a fit");
        let found =
            prepared.fit_rows(&whole.at_sites(), &mut RandomSource::insecure_seeded(7), &mut |_, _| {});
        assert!(found.expect("a fit") == wanted, "{name}");
    }
}

/// A question about another table, or none, is refused and stops nobody.
#[test]
fn strange_questions_are_refused() {
    /// Keeps what it is asked.
    struct Listening(Mutex<Vec<String>>, Dataset);
    impl Ask for Listening {
        fn ask(&self, question: &str) -> Result<Vec<String>> {
            self.0.lock().expect("alone").push(question.to_owned());
            Ok(vec![answer(&in_memory(&self.1), question)?])
        }
    }
    let whole = Whole {
        likelihood: Likelihood::logistic(),
        storage: "f64",
        each: 1,
        weights: false,
        exposures: false,
        sampled: false,
    };
    let data = whole.part(0..UNITS);
    let listening = Arc::new(Listening(Mutex::default(), data.clone()));
    let model = Regression::new(whole.likelihood).and_then(|m| m.intervals(0.95)).expect("valid");
    let prepared =
        model.prepare(data.shape(), Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"))).expect("valid");
    let rows = Sites::new(data.shape(), None, listening.clone());
    prepared.fit_rows(&rows, &mut RandomSource::insecure_seeded(7), &mut |_, _| {}).expect("a fit");
    let questions = listening.0.lock().expect("alone").clone();
    assert!(questions.len() > 10);
    let other = data.with_columns(&[0, 1]).expect("two columns");
    let about_columns = |question: &&String| question.contains("centre") || question.contains("coefficients");
    assert!(questions.iter().filter(about_columns).count() > 5);
    for question in questions.iter().filter(about_columns) {
        let refused = answer(&in_memory(&other), question).expect_err("of another table").to_string();
        assert!(refused.contains("not of one kind"), "{refused}");
    }
    for question in ["", "{}", "[1]", &questions[0][..questions[0].len() - 1]] {
        assert!(
            answer(&in_memory(&data), question)
                .expect_err("no question")
                .to_string()
                .contains("not a valid pass")
        );
    }
    let one = answer(&in_memory(&data), &questions[0]).expect("an answer");
    let last = answer(&in_memory(&data), questions.last().expect("some")).expect("an answer");
    assert!(
        merge(&[one.clone(), last]).is_err() && merge(&[]).is_err() && merge(&[one, "7".into()]).is_err()
    );
}

/// What is not the rows that were announced is not fitted.
#[test]
fn other_rows_than_announced_are_refused() {
    let whole = || Whole {
        likelihood: Likelihood::logistic(),
        storage: "f64",
        each: 2,
        weights: true,
        exposures: false,
        sampled: false,
    };
    let says = |change: fn(&mut InBlocks), what: &str| {
        let mut blocks = InBlocks { shape: whole().part(0..UNITS).shape(), whole: whole(), each: 100 };
        change(&mut blocks);
        let rows = Streamed::new(Arc::new(blocks), 0);
        let model = Regression::new(Likelihood::logistic()).expect("valid").with_intercept();
        let budget = Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"));
        let prepared = model.prepare(rows.shape(), budget).expect("valid");
        let found = prepared.fit_rows(&rows, &mut RandomSource::insecure_seeded(7), &mut |_, _| {});
        let message = found.expect_err("nothing is released").to_string();
        assert!(message.contains(what), "{message}");
    };
    says(|blocks| blocks.shape.units += 1, "not as many");
    says(|blocks| blocks.shape.columns += 1, "another shape");
    says(|blocks| blocks.whole.weights = false, "another shape");
    let model = Regression::new(Likelihood::logistic()).expect("valid").with_intercept();
    let budget = Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"));
    let prepared = model.prepare(Shape::new(COLUMNS, 9), budget).expect("valid");
    let rows = whole().streamed(100, 0);
    let found = prepared.fit_rows(&rows, &mut RandomSource::insecure_seeded(7), &mut |_, _| {});
    assert!(found.expect_err("another shape").to_string().contains("prepared for"));
}

#[test]
fn parts_of_a_table_find_the_bounds_of_the_whole() {
    let likelihood = Likelihood::gaussian(-1e6, 1e6);
    let whole = Whole {
        likelihood: likelihood.clone(),
        storage: "f32",
        each: 2,
        weights: true,
        exposures: false,
        sampled: true,
    };
    let magnitude = Magnitude::new(1e6, 1e-3).expect("valid");
    let sought = Some(Sought { magnitude, low: -1e6, high: 1e6, whole: None });
    let columns = vec![None, sought, None, sought];
    let model = Regression::new(likelihood.clone()).expect("valid").with_intercept();
    let model = model.searching(columns, sought, 0.2).expect("valid");
    whole.compare(&model, 2.0);
    let data = whole.part(0..UNITS);
    let prepared = model.prepare(data.shape(), Privacy::Budget(Budget::new(2.0, 1e-6).expect("valid")));
    let prepared = prepared.expect("valid");
    let wanted = prepared.fit(&data, &mut RandomSource::insecure_seeded(7)).expect("a fit");
    let rows = whole.streamed(70, 1 << 20);
    let found = prepared.fit_rows(&rows, &mut RandomSource::insecure_seeded(7), &mut |_, _| {});
    assert!(found.expect("a fit") == wanted);
}
