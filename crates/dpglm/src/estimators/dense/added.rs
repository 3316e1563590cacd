//! A family that is not the library's own: the engine knows it by what it says of itself.

use super::tests::{Numbers, assert_close, budget, dataset, dot, fit, rows, seeded, with_intercept};
use super::{Domain, Likelihood, Regression};
use crate::central::{Glm, Privacy};
use crate::data::Dataset;
use crate::families::{Family, MonotoneLink, toy};
use crate::noise::RandomSource;
use crate::privacy::conditions;
use crate::release::Estimator;
use nalgebra::{DMatrix, DVector};

const THETA: [f64; 4] = [-0.5, 0.8, -0.6, 0.3];

fn likelihood() -> Likelihood {
    Likelihood::new(toy::family(), (0.0, 1.0))
}

/// Rows, and responses that the family simulates.
fn table(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let x = rows(&mut Numbers(seeded("rows of an added family")), n, 3);
    let mut rng = seeded("responses of an added family");
    let y = x.iter().map(|x| toy::family().simulate(dot(x, &THETA), 0.0, &mut rng)).collect();
    (x, y)
}

/// Fisher's scoring: the optimum, and its standard errors.
fn optimum(x: &[Vec<f64>], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (family, d) = (toy::family(), x[0].len());
    let mut b = DVector::zeros(d);
    for _ in 0..30 {
        let (mut score, mut information) = (DVector::zeros(d), DMatrix::zeros(d, d));
        for (x, y) in x.iter().zip(y) {
            let (residual, row) = family.likelihood_score((*y, 0.0), dot(x, b.as_slice()));
            let x = DVector::from_row_slice(x);
            information += &x * x.transpose() * row.slope;
            score += x * residual;
        }
        let inverse = information.try_inverse().unwrap();
        b += &inverse * score;
    }
    let mut information = DMatrix::zeros(d, d);
    for x in x {
        let (_, row) = family.likelihood_score((0.0, 0.0), dot(x, b.as_slice()));
        let x = DVector::from_row_slice(x);
        information += &x * x.transpose() * row.slope;
    }
    let covariance = information.try_inverse().unwrap();
    (b.as_slice().to_vec(), (0..d).map(|j| covariance[(j, j)].sqrt()).collect())
}

fn data() -> (Dataset, Vec<f64>, Vec<f64>) {
    let (x, y) = table(20_000);
    let (exact, errors) = optimum(&x, &y);
    (dataset(&x, y), exact, errors)
}

#[test]
fn a_fit_is_near_the_optimum_of_an_added_family() {
    let (data, exact, errors) = data();
    // As simulated.
    for ((b, truth), error) in exact.iter().zip(THETA).zip(&errors) {
        assert!((b - truth).abs() < 5.0 * error, "{exact:?}");
    }
    let model = with_intercept(likelihood());
    assert_close(&fit(&model, &data, Privacy::None, "added").coefficients[0], &exact, 0.01);
    assert_close(&fit(&model, &data, budget(2.0), "added").coefficients[0], &exact, 0.1);
    // The logistic coefficients are others: the family is not taken for another one.
    let logistic = fit(&with_intercept(Likelihood::logistic()), &data, Privacy::None, "added");
    assert!((logistic.coefficients[0][1] - exact[1]).abs() > 0.2, "{logistic:?}");
}

#[test]
fn intervals_of_an_added_family_have_its_standard_errors() {
    let (data, exact, errors) = data();
    let model = with_intercept(likelihood()).intervals(0.95).unwrap();
    let inferred = |privacy| fit(&model, &data, privacy, "added").inference.unwrap().swap_remove(0);
    let found = inferred(Privacy::None);
    assert_close(&found.estimates, &exact, 0.01);
    for (interval, error) in found.intervals.unwrap().iter().zip(&errors) {
        assert!(
            (interval.standard_error / error - 1.0).abs() < 0.1,
            "{} for {error}",
            interval.standard_error
        );
    }
    let found = inferred(budget(4.0));
    for ((estimate, interval), exact) in found.estimates.iter().zip(found.intervals.unwrap()).zip(&exact) {
        assert!((estimate - exact).abs() < 4.5 * interval.standard_error, "{estimate} for {exact}");
    }
}

#[test]
fn descent_fits_an_added_family() {
    let (data, exact, _) = data();
    let model = Glm::new(toy::family(), (0.0, 1.0)).unwrap().with_intercept();
    let found = model.fit(&data, budget(4.0), &mut seeded("descent of an added family")).unwrap();
    assert_close(&found.coefficients, &exact, 0.25);
}

#[test]
fn code_of_the_callers_own_is_a_condition() {
    let (data, ..) = data();
    let rng = &mut RandomSource::from_os().unwrap();
    for (of, wanted) in [(likelihood(), true), (Likelihood::logistic(), false)] {
        let certificate = with_intercept(of).fit(&data, budget(2.0), rng).unwrap().certificate;
        assert_eq!(certificate.conditions().contains(&conditions::OWN_CODE.to_owned()), wanted);
    }
}

#[test]
fn families_that_the_engine_cannot_fit_are_refused() {
    let link = MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0).unwrap();
    let error = Regression::new(Likelihood::new(Family::monotone(link), (0.0, 1.0))).unwrap_err();
    assert!(error.to_string().contains("linear mean"), "{error}");
    // Exposures go with families that say so.
    assert_eq!(likelihood().domain(), Domain::Binary);
    let (x, y) = table(100);
    let data = dataset(&x, y).with_exposures(&[2.0; 100], 1.0).unwrap();
    let model = with_intercept(likelihood());
    let error = model.fit(&data, Privacy::None, &mut seeded("added")).unwrap_err();
    assert!(error.to_string().contains("exposures"), "{error}");
}
