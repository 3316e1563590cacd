//! What intervals say on small tables like real ones.

use super::super::tests::{
    Numbers, assert_close, budget, dataset, dot, fit, logistic, real, rows, seeded, with_intercept,
};
use super::super::{Inference, Likelihood};
use super::times_noise;
use crate::central::{Privacy, reference};
use crate::data::Dataset;
use crate::families::{Domain, Family};
use crate::passes::products::unpacked;
use crate::release::Estimator;
use nalgebra::{DMatrix, DVector};

fn counted() -> Likelihood {
    Likelihood::poisson(0.0, 60.0)
}
const THETA: [f64; 4] = [-0.5, 1.0, -0.7, 0.3];

fn inferred(likelihood: &Likelihood, data: &Dataset, privacy: Privacy, name: &str) -> Inference {
    let model = with_intercept(likelihood.clone()).intervals(0.95).unwrap();
    fit(&model, data, privacy, name).inference.unwrap().swap_remove(0)
}

fn errors(inference: &Inference) -> Vec<f64> {
    inference.intervals.as_ref().unwrap().iter().map(|i| i.standard_error).collect()
}

/// Responses of each family for the same predictors.
fn response(likelihood: &Likelihood, u: f64, numbers: &mut Numbers) -> f64 {
    match likelihood.domain() {
        Domain::Real => u + 0.5 * numbers.normal(),
        Domain::Count => numbers.poisson(u.exp()),
        _ => logistic(numbers, u),
    }
}

/// The standard errors of the sandwich at these coefficients, the rows of a unit taken together.
fn sandwich(likelihood: &Likelihood, x: &[Vec<f64>], y: &[f64], b: &[f64], per_unit: usize) -> Vec<f64> {
    let d = b.len();
    let (mut slope, mut second) = (DMatrix::zeros(d, d), DMatrix::zeros(d, d));
    for (x, y) in x.chunks(per_unit).zip(y.chunks(per_unit)) {
        let mut score = DVector::zeros(d);
        for (x, y) in x.iter().zip(y) {
            let (u, row) = (dot(x, b), DVector::from_row_slice(x));
            let (mean, curve) = match likelihood.domain() {
                Domain::Real => (u, 1.0),
                Domain::Count => (u.exp(), u.exp()),
                _ => (1.0 / (1.0 + (-u).exp()), 1.0 / (2.0 + u.exp() + (-u).exp())),
            };
            slope += &row * row.transpose() * curve;
            score += row * (y - mean);
        }
        second += &score * score.transpose();
    }
    let inverse = slope.try_inverse().unwrap();
    let covariance = &inverse * second * &inverse;
    (0..d).map(|j| covariance[(j, j)].sqrt()).collect()
}

/// Without noise estimates are the exact ones, and standard errors those of the sandwich.
#[test]
fn without_noise_intervals_are_those_of_the_sandwich() {
    let mut numbers = Numbers(seeded("sandwich"));
    let x = rows(&mut numbers, 4_000, 3);
    for (likelihood, family) in [
        (real(), Family::gaussian()),
        (Likelihood::logistic(), Family::logistic()),
        (counted(), Family::poisson()),
    ] {
        let y: Vec<f64> = x.iter().map(|x| response(&likelihood, dot(x, &THETA), &mut numbers)).collect();
        let data = dataset(&x, y.clone());
        let exact = reference::glm(&family, &data, 0.0, true).unwrap().coefficients;
        let found = inferred(&likelihood, &data, Privacy::None, "sandwich");
        assert_close(&found.estimates, &exact, 1e-4);
        assert!(found.determined.iter().all(|d| *d), "{likelihood:?}");
        let wanted = sandwich(&likelihood, &x, &y, &exact, 1);
        for (error, wanted) in errors(&found).iter().zip(wanted) {
            assert!((error / wanted - 1.0).abs() < 0.01, "{likelihood:?}: {error} for {wanted}");
        }
        // A penalty shrinks the coefficients, not what is inferred.
        let model = with_intercept(likelihood.clone()).ridge(0.3).unwrap().intervals(0.95).unwrap();
        let shrunk = fit(&model, &data, Privacy::None, "sandwich");
        assert!(shrunk.coefficients[0][1] < 0.9 * exact[1]);
        assert_close(&shrunk.inference.unwrap()[0].estimates, &exact, 0.02);
    }
}

/// How often an interval misses, in 400 fits of new tables, and the mean standard error over the spread of estimates.
fn misses(likelihood: &Likelihood, shortened: f64, name: &str) -> (usize, f64) {
    let mut numbers = Numbers(seeded(name));
    let model = with_intercept(likelihood.clone()).intervals(0.95).unwrap();
    let prepared =
        model.prepare(dataset(&rows(&mut numbers, 3_000, 3), vec![0.0; 3_000]).shape(), budget(2.0));
    let prepared = prepared.unwrap();
    let (mut missed, mut squares, mut variance) = (0, 0.0, 0.0);
    for run in 0..RUNS {
        let x = rows(&mut numbers, 3_000, 3);
        let y = x.iter().map(|x| response(likelihood, dot(x, &THETA), &mut numbers)).collect();
        let fit = prepared.fit(&dataset(&x, y), &mut seeded(&format!("{name} {run}"))).unwrap();
        let found = fit.inference.unwrap().swap_remove(0);
        // One coefficient a table: runs are independent.
        let interval = found.intervals.as_ref().unwrap()[1];
        let error = found.estimates[1] - THETA[1];
        assert!(interval.low < found.estimates[1] && found.estimates[1] < interval.high);
        missed += usize::from(error.abs() > 1.96 * shortened * interval.standard_error);
        squares += error * error;
        variance += interval.standard_error.powi(2);
    }
    (missed, (variance / squares).sqrt())
}

/// The same of classes, whose scores are several per row.
#[test]
fn without_noise_intervals_of_classes_are_those_of_the_sandwich() {
    let mut numbers = Numbers(seeded("sandwich of classes"));
    let x = rows(&mut numbers, 6_000, 2);
    let blocks = [[0.4, 1.0, -0.7], [-0.6, -0.5, 0.8]];
    let shares = |x: &[f64], blocks: &[Vec<f64>]| {
        let sizes: Vec<f64> = blocks.iter().map(|b| dot(x, b).exp()).collect();
        let all = 1.0 + sizes.iter().sum::<f64>();
        sizes.iter().map(|s| s / all).collect::<Vec<f64>>()
    };
    let truth = blocks.map(|b| b.to_vec());
    let y: Vec<f64> = x
        .iter()
        .map(|x| {
            let (p, u) = (shares(x, &truth), numbers.uniform());
            if u < p[0] { 1.0 } else { f64::from(u8::from(u < p[0] + p[1])) * 2.0 }
        })
        .collect();
    let data = dataset(&x, y.clone());
    let exact = reference::multinomial(3, &data, 0.0, true).unwrap().coefficients;
    let (mut slope, mut second) = (DMatrix::zeros(6, 6), DMatrix::zeros(6, 6));
    for (x, y) in x.iter().zip(&y) {
        let (p, row) = (shares(x, &exact), DMatrix::from_column_slice(3, 1, x));
        let own = DMatrix::from_fn(2, 1, |k, _| f64::from(u8::from(*y == (k + 1) as f64)) - p[k]);
        let curve = DMatrix::from_fn(2, 2, |k, l| if k == l { p[k] * (1.0 - p[k]) } else { -p[k] * p[l] });
        slope += curve.kronecker(&(&row * row.transpose()));
        second += (&own * own.transpose()).kronecker(&(&row * row.transpose()));
    }
    let inverse = slope.try_inverse().unwrap();
    let covariance = &inverse * second * &inverse;
    let model = with_intercept(Likelihood::Multinomial { classes: 3 }).intervals(0.95).unwrap();
    let found = fit(&model, &data, Privacy::None, "sandwich of classes").inference.unwrap();
    for (block, (found, exact)) in found.iter().zip(&exact).enumerate() {
        assert_close(&found.estimates, exact, 1e-3);
        assert!(found.determined.iter().all(|d| *d));
        for (j, error) in errors(found).iter().enumerate() {
            let wanted = covariance[(3 * block + j, 3 * block + j)].sqrt();
            assert!((error / wanted - 1.0).abs() < 0.01, "{error} for {wanted}");
        }
    }
}

/// What noise of a matrix of products does to a vector has the covariance that is said.
#[test]
fn noise_of_products_has_the_covariance_that_is_said() {
    let (d, outputs) = (3, 2);
    let vector = DVector::from_row_slice(&[1.0, -0.5, 0.25, 2.0, 0.0, -1.0]);
    let wanted = times_noise(&(&vector * vector.transpose()), outputs);
    let mut found = DMatrix::zeros(6, 6);
    // The covariance is the sum over the numbers that have noise.
    let numbers = d * (d + 1) / 2 * (outputs * (outputs + 1) / 2);
    for one in 0..numbers {
        let mut packed = vec![0.0; numbers];
        packed[one] = 1.0;
        let moved = unpacked(packed, d, outputs) * &vector;
        found += &moved * moved.transpose();
    }
    assert!((found - wanted).norm() < 1e-12);
}

const RUNS: usize = 400;
/// More misses of 5% in 400 have probability below 1e-6.
const MOST_MISSES: usize = 44;

/// Nominal 95% intervals miss in at most 5% of tables (level 1e-6), and are not much longer than they must be. With standard errors
/// halved some 30% miss: power above 1 - 1e-9.
#[test]
fn intervals_cover() {
    for (likelihood, name) in
        [(real(), "cover linear"), (Likelihood::logistic(), "cover logistic"), (counted(), "cover counts")]
    {
        let (missed, ratio) = misses(&likelihood, 1.0, name);
        assert!(missed <= MOST_MISSES, "{name}: {missed} of {RUNS}");
        assert!((0.9..1.6).contains(&ratio), "{name}: {ratio}");
    }
    let (missed, _) = misses(&Likelihood::logistic(), 0.5, "cover halved");
    assert!(missed > MOST_MISSES, "halved errors miss only {missed} of {RUNS}");
}

/// Copies share what they have together; none of it is known of either. The others are.
#[test]
fn copied_and_constant_columns_are_not_determined() {
    let mut numbers = Numbers(seeded("undetermined"));
    let x: Vec<Vec<f64>> =
        rows(&mut numbers, 20_000, 2).into_iter().map(|x| vec![1.0, x[1], x[1], x[2], 0.3]).collect();
    for likelihood in [real(), Likelihood::logistic()] {
        let y = x.iter().map(|x| response(&likelihood, x[1] - x[3], &mut numbers)).collect();
        let data = dataset(&x, y);
        for privacy in [budget(1.0), budget(4.0), Privacy::None] {
            let found = inferred(&likelihood, &data, privacy, "undetermined");
            // A constant other than zero is another intercept.
            assert_eq!(found.determined[1..], [false, false, true, false], "{likelihood:?} {privacy:?}");
            let error = errors(&found);
            assert!(error[1] > 0.3 && error[2] > 0.3 && error[3] < 0.2, "{error:?}");
            assert!((found.estimates[3] + 1.0).abs() < 4.0 * error[3]);
        }
    }
}

/// A level whose responses are all alike has no finite coefficient. Noise may hide that now and then: a step towards infinity moves the
/// predictor of its rows by about 1, and noise takes from it what it may.
#[test]
fn separated_levels_are_not_determined() {
    const RUNS: usize = 6;
    let mut numbers = Numbers(seeded("separated level"));
    let (mut runs, mut missed) = (0, Vec::new());
    for share in [0.3, 0.05, 0.02] {
        let x: Vec<Vec<f64>> = rows(&mut numbers, 20_000, 1)
            .into_iter()
            .map(|x| vec![1.0, x[1], if numbers.uniform() < share { 1.0 } else { -1.0 }])
            .collect();
        let binary = x.iter().map(|x| if x[2] > 0.0 { 0.0 } else { logistic(&mut numbers, x[1]) }).collect();
        let counts = x.iter().map(|x| if x[2] > 0.0 { 0.0 } else { numbers.poisson(x[1].exp()) }).collect();
        for (likelihood, y) in [(Likelihood::logistic(), binary), (counted(), counts)] {
            let data: Dataset = dataset(&x, y);
            for run in 0..RUNS {
                for privacy in [budget(1.0), budget(4.0)] {
                    let found = inferred(&likelihood, &data, privacy, &format!("separated level {run}"));
                    runs += 1;
                    if found.determined[2] {
                        missed.push((likelihood.clone(), share, privacy));
                    }
                    assert!(found.determined[1], "{likelihood:?} {share}: {found:?}");
                }
            }
            // Without noise, what has not settled beside it is not called determined either.
            assert!(!inferred(&likelihood, &data, Privacy::None, "separated level").determined[2]);
        }
    }
    assert!(20 * missed.len() <= runs, "{missed:?} of {runs}");
}

/// A number decides every response: no coefficient has a value, that of another column neither.
#[test]
fn where_a_number_separates_all_rows_nothing_is_determined() {
    let mut numbers = Numbers(seeded("separated by number"));
    let x = rows(&mut numbers, 20_000, 2);
    let data = dataset(&x, x.iter().map(|x| f64::from(u8::from(x[1] > 0.0))).collect());
    for run in 0..6 {
        for epsilon in [0.5, 1.0, 4.0] {
            let found = inferred(
                &Likelihood::logistic(),
                &data,
                budget(epsilon),
                &format!("separated by number {run}"),
            );
            assert_eq!(found.determined, [false; 3], "{found:?}");
        }
    }
}

/// Below the public rule the whole budget goes to prediction.
#[test]
fn a_small_budget_determines_nothing() {
    let mut numbers = Numbers(seeded("small"));
    let x = rows(&mut numbers, 200, 3);
    let data = dataset(&x, x.iter().map(|x| x[1]).collect());
    for likelihood in [real(), Likelihood::logistic(), counted()] {
        let model = with_intercept(likelihood.clone()).intervals(0.9).unwrap();
        let prepared = model.prepare(data.shape(), budget(0.1)).unwrap();
        assert!(!prepared.determines_any());
        let found = prepared.fit(&data, &mut seeded("small")).unwrap();
        let plain = fit(&with_intercept(likelihood.clone()), &data, budget(0.1), "small");
        assert_eq!(found.coefficients, plain.coefficients);
        let inference = found.inference.unwrap().swap_remove(0);
        assert_eq!(inference.intervals, None);
        assert_eq!(inference.estimates, found.coefficients[0]);
        assert_eq!(inference.determined, [false; 4]);
        assert!(model.prepare(data.shape(), budget(20.0)).unwrap().determines_any());
    }
}

/// The rows of a unit are one observation: three copies of each row say no more than one.
#[test]
fn rows_of_a_unit_count_together() {
    let mut numbers = Numbers(seeded("together"));
    let once = rows(&mut numbers, 4_000, 3);
    let x: Vec<Vec<f64>> = once.iter().flat_map(|x| [x.clone(), x.clone(), x.clone()]).collect();
    for likelihood in [real(), Likelihood::logistic(), counted()] {
        let y: Vec<f64> =
            once.iter().flat_map(|x| [response(&likelihood, dot(x, &THETA), &mut numbers); 3]).collect();
        let unit_of: Vec<u32> = (0..12_000).map(|i| i / 3).collect();
        let data = dataset(&x, y.clone()).with_units(unit_of, 4_000, "person").unwrap();
        let found = inferred(&likelihood, &data, Privacy::None, "together");
        let wanted = sandwich(&likelihood, &x, &y, &found.estimates, 3);
        for (error, wanted) in errors(&found).iter().zip(&wanted) {
            assert!((error / wanted - 1.0).abs() < 0.02, "{likelihood:?}: {error} for {wanted}");
        }
        let noisy = inferred(&likelihood, &data, budget(4.0), "together");
        for ((error, wanted), (b, truth)) in
            errors(&noisy).iter().zip(&wanted).zip(noisy.estimates.iter().zip(THETA))
        {
            assert!(*error > 0.9 * wanted && *error < 20.0 * wanted, "{likelihood:?}: {error} for {wanted}");
            assert!((b - truth).abs() < 4.5 * error, "{likelihood:?}: {b} for {truth}, {error}");
        }
    }
}

/// Rows that do not count say nothing: errors are those of the rows that do.
#[test]
fn dropped_rows_do_not_shorten_intervals() {
    let mut numbers = Numbers(seeded("dropped intervals"));
    let x = rows(&mut numbers, 40_000, 3);
    let weights: Vec<f64> = x.iter().map(|_| f64::from(u8::from(numbers.uniform() < 0.1))).collect();
    for likelihood in [real(), Likelihood::logistic()] {
        let y: Vec<f64> = x.iter().map(|x| response(&likelihood, dot(x, &THETA), &mut numbers)).collect();
        let kept = |row: &usize| weights[*row] > 0.0;
        let counted: Vec<usize> = (0..x.len()).filter(kept).collect();
        let x_counted: Vec<Vec<f64>> = counted.iter().map(|&i| x[i].clone()).collect();
        let y_counted: Vec<f64> = counted.iter().map(|&i| y[i]).collect();
        let wanted = sandwich(&likelihood, &x_counted, &y_counted, &THETA, 1);
        let data = dataset(&x, y).with_weights(weights.clone()).unwrap();
        for (privacy, most) in [(Privacy::None, 1.1), (budget(4.0), 6.0)] {
            let found = inferred(&likelihood, &data, privacy, "dropped intervals");
            for (j, (error, wanted)) in errors(&found).iter().zip(&wanted).enumerate() {
                let ratio = error / wanted;
                assert!((0.9..most).contains(&ratio), "{likelihood:?} {privacy:?} {j}: {ratio}");
                assert!((found.estimates[j] - THETA[j]).abs() < 4.5 * error, "{likelihood:?} {found:?}");
            }
        }
    }
}

#[test]
fn levels_are_probabilities() {
    for level in [0.0, 1.0, 95.0, f64::NAN] {
        let message = with_intercept(real()).intervals(level).unwrap_err().to_string();
        assert!(message.contains("level"), "{message}");
    }
}

/// A rare response with a steep slope: the intercept lies far from the link of the mean response, and the fit gets there.
#[test]
fn steep_slopes_of_a_rare_response_are_found() {
    let mut numbers = Numbers(seeded("steep"));
    let mut row = || vec![1.0, (numbers.normal() / 4.0).clamp(-1.0, 1.0), 2.0 * numbers.uniform() - 1.0];
    let x: Vec<Vec<f64>> = (0..10_000).map(|_| row()).collect();
    let y = x.iter().map(|x| logistic(&mut numbers, dot(x, &[-6.0, 11.0, -0.3]))).collect();
    let data = dataset(&x, y);
    let exact = reference::glm(&Family::logistic(), &data, 0.0, true).unwrap().coefficients;
    for (epsilon, runs) in [(100.0, 3), (4.0, 5)] {
        for run in 0..runs {
            let found = inferred(&Likelihood::logistic(), &data, budget(epsilon), &format!("steep {run}"));
            for ((b, error), exact) in found.estimates.iter().zip(errors(&found)).zip(&exact) {
                assert!((b - exact).abs() < 3.0 * error, "{epsilon}: {b} +- {error} for {exact}");
            }
            assert!((found.estimates[1] - exact[1]).abs() < 0.15 * exact[1], "{epsilon}: {found:?}");
        }
    }
}
