//! What a model gives in the units of its columns.

use super::{Linear, Logistic, Mean};
use crate::central::Privacy;
use crate::noise::RandomSource;
use crate::privacy::Budget;

fn rows() -> (Vec<[f64; 2]>, Vec<f64>) {
    let noise = |i: usize| ((i * 7_919) % 1_000) as f64 / 500.0 - 1.0;
    (0..8_000)
        .map(|i| {
            let (a, b) = ((i % 31) as f64 + 1_000.0, ((i * 17) % 101) as f64 / 1e4);
            ([a, b], 2005.0 + 0.3 * (a - 1_000.0) - 200.0 * b + noise(i))
        })
        .unzip()
}

/// Least squares by the normal equations about the means, with the sandwich variance of the slopes.
fn least_squares(x: &[[f64; 2]], y: &[f64]) -> ([f64; 3], [f64; 2]) {
    let n = x.len() as f64;
    let mean = |f: &dyn Fn(usize) -> f64| (0..x.len()).map(f).sum::<f64>() / n;
    let (ma, mb, my) = (mean(&|i| x[i][0]), mean(&|i| x[i][1]), mean(&|i| y[i]));
    let (aa, ab, bb) = (
        mean(&|i| (x[i][0] - ma).powi(2)),
        mean(&|i| (x[i][0] - ma) * (x[i][1] - mb)),
        mean(&|i| (x[i][1] - mb).powi(2)),
    );
    let (ay, by) = (mean(&|i| (x[i][0] - ma) * (y[i] - my)), mean(&|i| (x[i][1] - mb) * (y[i] - my)));
    let determinant = aa * bb - ab * ab;
    let (a, b) = ((bb * ay - ab * by) / determinant, (aa * by - ab * ay) / determinant);
    let residual = |i: usize| y[i] - my - a * (x[i][0] - ma) - b * (x[i][1] - mb);
    let influence = |i: usize| {
        let (u, v) = (x[i][0] - ma, x[i][1] - mb);
        [(bb * u - ab * v) / determinant * residual(i), (aa * v - ab * u) / determinant * residual(i)]
    };
    let error = |j: usize| (mean(&|i| influence(i)[j].powi(2)) / n).sqrt();
    ([my - a * ma - b * mb, a, b], [error(0), error(1)])
}

#[test]
fn a_fit_without_noise_is_least_squares_in_the_columns_units() {
    let (x, y) = rows();
    let ([intercept, a, b], errors) = least_squares(&x, &y);
    let model = Linear::new([(990.0, 1_050.0), (0.0, 0.02)], (1990.0, 2020.0)).unwrap();
    let model = model.names(["far", "small"]).unwrap().intervals(0.95);
    let fit = model.fit_with(&x, &y, Privacy::None, &mut RandomSource::insecure_seeded(1)).unwrap();
    let names: Vec<&str> = fit.terms.iter().map(|term| term.name.as_str()).collect();
    assert_eq!(names, ["(intercept)", "far", "small"]);
    for (term, (wanted, scale)) in fit.terms.iter().zip([(intercept, 10.0), (a, 0.01), (b, 5.0)]) {
        assert!((term.estimate - wanted).abs() < 0.01 * scale, "{fit} for {wanted}");
        let interval = term.interval.unwrap();
        assert!(term.determined && interval.low < wanted && wanted < interval.high, "{fit}");
    }
    for (term, error) in fit.terms[1..].iter().zip(errors) {
        assert!((term.interval.unwrap().standard_error / error - 1.0).abs() < 0.05, "{fit} for {error}");
    }
    let predicted = fit.predict(&x[..50]).unwrap();
    for (row, predicted) in x.iter().zip(predicted) {
        assert!((predicted - intercept - a * row[0] - b * row[1]).abs() < 0.02);
    }
    assert!(fit.to_string().contains("small"));
}

#[test]
fn cells_that_are_no_numbers_or_outside_count_by_the_public_rule() {
    let (x, y) = rows();
    let y: Vec<f64> = y.iter().map(|y| f64::from(u8::from(*y > 2004.0))).collect();
    let model = Logistic::new([(990.0, 1_050.0), (0.0, 0.02)]).unwrap();
    let fit = |x: &[[f64; 2]]| {
        let budget = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
        model.fit_with(x, &y, budget, &mut RandomSource::insecure_seeded(1)).unwrap().terms
    };
    let (mut odd, mut mapped) = (x.clone(), x);
    (odd[0], mapped[0]) = ([f64::NAN, 7.0], [1_020.0, 0.02]);
    (odd[1], mapped[1]) = ([f64::NEG_INFINITY, -1.0], [990.0, 0.0]);
    assert_eq!(fit(&odd), fit(&mapped));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let told = |error: crate::Error| error.to_string();
    assert!(told(Logistic::new([]).unwrap_err()).contains("at least one"));
    assert!(told(Logistic::new([(1.0, 0.0)]).unwrap_err()).contains("reversed"));
    assert!(told(Linear::new([(0.0, 1.0)], (2.0, 2.0)).unwrap_err()).contains("target bounds"));
    let model = Logistic::new([(0.0, 1.0)]).unwrap();
    assert!(told(model.clone().names(["a", "b"]).unwrap_err()).contains("2 names for 1 columns"));
    let budget = Budget::new(1.0, 1e-6).unwrap();
    assert!(told(model.fit(&[[0.0, 1.0]], &[1.0], budget).unwrap_err()).contains("a row of 2 cells"));
    assert!(model.fit(&[[0.0], [1.0]], &[1.0], budget).is_err());
    assert!(model.intervals(1.5).fit(&[[0.0]], &[1.0], budget).is_err());
    assert!(Mean::new([(0.0, 1.0)]).unwrap().fit(&[vec![0.0], vec![]], budget).is_err());
}
