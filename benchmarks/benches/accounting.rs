//! Accounting and calibration. The comparison with dp-accounting, in one run, is `crosscheck/speed.py`.

use divan::{Bencher, black_box};
use dpglm::accounting::{account, calibrate};
use dpglm::central::Privacy;
use dpglm::data::Shape;
use dpglm::estimators::dense::{Likelihood, Regression};
use dpglm::privacy::{Budget, Event, Noise};
use dpglm::release::Estimator;

fn main() {
    divan::main();
}

#[divan::bench]
fn calibrate_20_gaussians(bencher: Bencher) {
    let template = [Event::new("step", Noise::Gaussian { sensitivity: 1.0, sigma: 1.0 }, 20).expect("valid")];
    let budget = Budget::new(0.5, 1e-5).expect("valid");
    bencher.bench(|| calibrate(black_box(&template), &[], budget));
}

#[divan::bench(args = [1_000, 1_000_000])]
fn account_laplace_by_fourier(bencher: Bencher, count: u64) {
    let events =
        [Event::new("step", Noise::Laplace { sensitivity: 1.0, scale: 100.0 }, count).expect("valid")];
    bencher.bench(|| account(black_box(&events), 1e-6));
}

#[divan::bench]
fn calibrate_selection_and_values(bencher: Bencher) {
    let template = [
        Event::new("support", Noise::Selection { sensitivity: 1.0, scale: 20.0 }, 20).expect("valid"),
        Event::new("values", Noise::Gaussian { sensitivity: 1.0, sigma: 5.0 }, 1).expect("valid"),
    ];
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    bencher.bench(|| calibrate(black_box(&template), &[], budget));
}

/// All of the planning of a dense fit, with intervals (whose tail levels are selections) and without.
#[divan::bench(args = [false, true])]
fn plan_a_dense_fit(bencher: Bencher, intervals: bool) {
    let mut model = Regression::new(Likelihood::logistic()).expect("valid").with_intercept();
    if intervals {
        model = model.intervals(0.95).expect("valid");
    }
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"));
    bencher.bench(|| model.prepare(black_box(Shape::new(11, 40_000)), privacy));
}
