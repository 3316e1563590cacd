//! Families of amounts and other links, dispersions and sampling weights: fits beside the exact optimum, and their standard errors beside
//! the sandwich.

use super::tests::{Numbers, assert_close, budget, dataset, dot, fit, rows, seeded, with_intercept};
use super::{Likelihood, Regression};
use crate::central::{Glm, LinearStatistics, Multinomial, Privacy, reference};
use crate::data::Dataset;
use crate::families::{Family, simulate};
use crate::release::Estimator;
use nalgebra::{DMatrix, DVector};

const THETA: [f64; 4] = [0.3, 0.8, -0.6, 0.3];

/// Each family with the bounds of its response, and what its intercept is moved by.
fn families() -> Vec<(Family, (f64, f64), f64)> {
    vec![
        (Family::gaussian(), (-9.0, 9.0), 0.0),
        (Family::logistic(), (0.0, 1.0), 0.0),
        (Family::probit(), (0.0, 1.0), 0.0),
        (Family::cloglog(), (0.0, 1.0), -0.6),
        (Family::poisson(), (0.0, 60.0), 0.0),
        (Family::gamma(), (1e-3, 1e5), 6.0),
        (Family::tweedie(1.5).unwrap(), (0.0, 200.0), 0.5),
    ]
}

/// Rows with responses of the family, and weights that go with the response: without them the fit is another one.
fn table(family: &Family, shift: f64, n: usize) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let mut numbers = Numbers(seeded("rows with weights"));
    let x = rows(&mut numbers, n, 3);
    let mut rng = seeded("responses with weights");
    let y: Vec<f64> = x.iter().map(|x| family.simulate(dot(x, &THETA) + shift, 0.5, &mut rng)).collect();
    let mut sorted = y.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[n / 2].max(0.5 * (sorted[0] + sorted[n - 1]).min(1.0));
    let high = |y: f64, x: &[f64]| if y >= median && x[1] > 0.0 { 0.9 } else { 0.3 };
    let weights =
        y.iter().zip(&x).map(|(y, x)| high(*y, x) * (0.2 + 0.8 * simulate::uniform(&mut rng))).collect();
    (x, y, weights)
}

/// The standard errors of the sandwich at these coefficients.
fn sandwich(family: &Family, x: &[Vec<f64>], y: &[f64], weights: &[f64], b: &[f64]) -> Vec<f64> {
    let d = b.len();
    let (mut slope, mut second) = (DMatrix::zeros(d, d), DMatrix::zeros(d, d));
    for ((x, y), w) in x.iter().zip(y).zip(weights) {
        let (residual, row) = family.likelihood_score((*y, 0.0), dot(x, b));
        let x = DVector::from_row_slice(x);
        slope += &x * x.transpose() * (w * row.slope);
        second += &x * x.transpose() * (w * residual).powi(2);
    }
    let inverse = slope.try_inverse().unwrap();
    let covariance = &inverse * second * &inverse;
    (0..d).map(|j| covariance[(j, j)].sqrt()).collect()
}

fn weighted(x: &[Vec<f64>], y: &[f64], weights: &[f64]) -> Dataset {
    dataset(x, y.to_vec()).with_sample_weights(weights, 0.5).unwrap()
}

fn near_the_exact_fit(is_weighted: bool) {
    for (family, bounds, shift) in families() {
        let (x, y, weights) = table(&family, shift, 8_000);
        let weights = if is_weighted { weights } else { vec![1.0; x.len()] };
        let plain = dataset(&x, y.clone());
        let data = if is_weighted { weighted(&x, &y, &weights) } else { plain.clone() };
        let exact = reference::glm(&family, &data, 0.0, true).unwrap().coefficients;
        let errors = sandwich(&family, &x, &y, &weights, &exact);
        let likelihood = Likelihood::new(family.clone(), bounds);
        let model = with_intercept(likelihood).intervals(0.95).unwrap();
        let found = fit(&model, &data, Privacy::None, "weighted");
        // Weights that go with the response bend the path: few passes come less near, and inference starts from there.
        assert_close(&found.coefficients[0], &exact, if is_weighted { 0.04 } else { 0.02 });
        let inference = found.inference.unwrap().swap_remove(0);
        for (j, interval) in inference.intervals.unwrap().iter().enumerate() {
            let ratio = interval.standard_error / errors[j];
            assert!((ratio - 1.0).abs() < 0.1, "{family:?}, coefficient {j}: {ratio} of the sandwich");
            assert!(
                (inference.estimates[j] - exact[j]).abs() < 0.1 * errors[j],
                "{family:?}, coefficient {j}"
            );
        }
        let private = fit(&model, &data, budget(4.0), "weighted").inference.unwrap().swap_remove(0);
        for ((estimate, interval), exact) in
            private.estimates.iter().zip(private.intervals.unwrap()).zip(&exact)
        {
            assert!(
                (estimate - exact).abs() < 4.5 * interval.standard_error && interval.standard_error < 0.6,
                "{family:?}: {estimate} for {exact}, error {}",
                interval.standard_error
            );
        }
        if is_weighted {
            let without = reference::glm(&family, &plain, 0.0, true).unwrap().coefficients;
            let moved = (0..exact.len()).any(|j| (without[j] - exact[j]).abs() > 2.0 * errors[j]);
            assert!(moved, "{family:?}: weights make no difference");
        }
    }
}

#[test]
fn families_are_near_their_exact_fits() {
    near_the_exact_fit(false);
}

#[test]
fn weighted_families_are_near_their_exact_weighted_fits() {
    near_the_exact_fit(true);
}

/// Weights of one size are none, whichever size it is.
#[test]
fn equal_weights_change_little() {
    let (x, y, _) = table(&Family::logistic(), 0.0, 8_000);
    let model = with_intercept(Likelihood::logistic());
    let plain = fit(&model, &dataset(&x, y.clone()), Privacy::None, "equal").coefficients.swap_remove(0);
    for size in [1.0, 0.01] {
        let data = weighted(&x, &y, &vec![size; x.len()]);
        assert_close(&fit(&model, &data, Privacy::None, "equal").coefficients[0], &plain, 2e-3);
    }
}

/// Counts that vary three times as much as their means say: the sandwich knows, and the dispersion tells.
#[test]
fn dispersions_are_found() {
    let (x, _, _) = table(&Family::poisson(), 0.0, 20_000);
    let mut rng = seeded("overdispersed");
    // A gamma variable of mean 1 and variance 2 / mean makes a Poisson mean of variance 3 times itself.
    let draw = |x: &Vec<f64>, rng: &mut _| {
        let mean = (dot(x, &THETA) + 1.0).exp();
        simulate::poisson(mean * simulate::gamma(0.5 * mean, rng) / (0.5 * mean), rng)
    };
    let y: Vec<f64> = x.iter().map(|x| draw(x, &mut rng)).collect();
    let data = dataset(&x, y.clone());
    let model = with_intercept(Likelihood::poisson(0.0, 200.0)).dispersion().unwrap();
    for privacy in [Privacy::None, budget(2.0)] {
        let found = fit(&model, &data, privacy, "dispersion").dispersion.unwrap();
        assert!((found - 3.0).abs() < 0.35, "{found}");
    }
    let model = with_intercept(Likelihood::poisson(0.0, 200.0)).intervals(0.95).unwrap();
    let exact = reference::glm(&Family::poisson(), &data, 0.0, true).unwrap().coefficients;
    let errors = sandwich(&Family::poisson(), &x, &y, &vec![1.0; x.len()], &exact);
    let naive: f64 = x.iter().map(|x| x[1] * x[1] * dot(x, &exact).exp()).sum();
    let found = fit(&model, &data, Privacy::None, "dispersion").inference.unwrap().swap_remove(0);
    let error = found.intervals.unwrap()[1].standard_error;
    assert!((error / errors[1] - 1.0).abs() < 0.1 && error > 1.5 / naive.sqrt(), "{error} {}", errors[1]);
    // Of a real response it is the residual variance.
    let (x, y, _) = table(&Family::gaussian(), 0.0, 20_000);
    let model = with_intercept(Likelihood::gaussian(-9.0, 9.0)).dispersion().unwrap();
    let found = fit(&model, &dataset(&x, y), budget(2.0), "variance").dispersion.unwrap();
    assert!((found - 0.25).abs() < 0.02, "{found}");
    assert!(Regression::new(Likelihood::logistic()).unwrap().dispersion().is_err());
}

#[test]
fn other_methods_refuse_weights_and_amounts() {
    let (x, y, weights) = table(&Family::poisson(), 0.0, 100);
    let data = weighted(&x, &y, &weights);
    let rng = &mut seeded("refused");
    for error in [
        Glm::new(Family::poisson(), (0.0, 9.0)).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
        LinearStatistics::new((0.0, 9.0)).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
        Multinomial::new(3).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
    ] {
        assert!(error.to_string().contains("sample weights"), "{error}");
    }
    for family in [Family::gamma(), Family::tweedie(1.5).unwrap()] {
        assert!(Glm::new(family, (1.0, 9.0)).unwrap_err().to_string().contains("method likelihood"));
    }
    for (family, bounds) in [(Family::gamma(), (0.0, 1.0)), (Family::tweedie(1.5).unwrap(), (-1.0, 1.0))] {
        assert!(
            Regression::new(Likelihood::new(family, bounds)).unwrap_err().to_string().contains("amounts")
        );
    }
}
