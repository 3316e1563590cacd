//! Log-moments of the privacy loss: what Rényi differential privacy and exponential tilting are built on.
//!
//! For the dominating pair (P, Q) of a release with loss `L = ln dP/dQ`, the log-moment is `K(a) = ln E_P e^{a L}`,
//! that is `a` times the Rényi divergence of order `1 + a`. Log-moments of (adaptive) compositions add. Each closed
//! form below is written so that no digits cancel for small parameters. All pairs here are symmetric (Q is the mirror
//! image of P), so `K(-1 - a) = K(a)`.
//!
//! | release | K(a) | reference |
//! | --- | --- | --- |
//! | Gaussian(mu) | `a(a+1) mu^2 / 2` | Mironov 2017, Proposition 7 |
//! | Laplace(t) | `ln((a+1)/(2a+1) e^{at} + a/(2a+1) e^{-(a+1)t})` | Mironov 2017, Proposition 6 |
//! | pure(t) | `ln(cosh((a+1/2)t) / cosh(t/2))` | Mironov 2017, Proposition 5 |
//! | selection(eta) | `(a+1) S(a+1) - a S(a) - S(1)`, `S(k) = ln(sinh(k eta/2) / (k eta/2))` | below |
//! | zCDP(rho) | `a(a+1) rho` | Bun and Steinke 2016 |
//!
//! A selection of bounded range eta has log-ratios in some `[t - eta, t]`. For a convex function of the ratio with the
//! ratio's Q-mean fixed at 1 the two end points are extremal, and maximising that two-point moment over `t` gives the
//! line above (at `e^t = a/(a+1) e^{eta/2} sinh((a+1) eta/2) / sinh(a eta/2)`). It lies below the `eta^2/8`-zCDP line.

use crate::privacy::Noise;

/// `K(order)` of one release, for order > 0, from the noise's kind and its intensity.
pub(crate) fn log_moment(noise: &Noise, order: f64) -> f64 {
    let x = noise.intensity();
    match noise {
        Noise::Gaussian { .. } => gaussian(x, order),
        Noise::Laplace { .. } => laplace(x, order),
        Noise::Pure { .. } => two_point(x, order),
        Noise::Selection { .. } => bounded_range(x, order),
        Noise::Zcdp { .. } => order * (order + 1.0) * x,
        // Its loss may be infinite; `account` takes its delta off before it asks for moments.
        Noise::Approximate { .. } => f64::INFINITY,
    }
}

pub(crate) fn gaussian(mu: f64, order: f64) -> f64 {
    order * (order + 1.0) * mu * mu / 2.0
}

pub(crate) fn laplace(t: f64, order: f64) -> f64 {
    // Both first-order terms cancel exactly, so only the (positive) remainders of the exponentials are summed.
    let (up, down) = ((order + 1.0) / (2.0 * order + 1.0), order / (2.0 * order + 1.0));
    if order * t > 300.0 {
        return order * t + (up + down * (-(2.0 * order + 1.0) * t).exp()).ln();
    }
    (up * exp_remainder(order * t) + down * exp_remainder(-(order + 1.0) * t)).ln_1p()
}

pub(crate) fn two_point(t: f64, order: f64) -> f64 {
    // cosh a - cosh b = 2 sinh((a+b)/2) sinh((a-b)/2)
    if order * t > 300.0 {
        return order * t + (-(2.0 * order + 1.0) * t).exp().ln_1p() - (-t).exp().ln_1p();
    }
    (2.0 * (0.5 * (order + 1.0) * t).sinh() * (0.5 * order * t).sinh() / (0.5 * t).cosh()).ln_1p()
}

pub(crate) fn bounded_range(eta: f64, order: f64) -> f64 {
    // The same sum as in the table, with the differences of S taken without cancellation: a large order multiplies their
    // error, and a small one leaves little else.
    let (x, h) = (0.5 * order * eta, 0.5 * eta);
    (order * ln_sinh_ratio_rise(x, h) + ln_sinh_ratio_rise(h, x)).max(0.0)
}

/// `ln(sinh(x + h)/(x + h)) - ln(sinh(x)/x)`.
fn ln_sinh_ratio_rise(x: f64, h: f64) -> f64 {
    if h > 0.01 * x {
        return ln_sinh_ratio(x + h) - ln_sinh_ratio(x);
    }
    if x > 0.5 {
        return h + ((-2.0 * x).exp() * (-2.0 * h).exp_m1() / (-2.0 * x).exp_m1()).ln_1p() - (h / x).ln_1p();
    }
    // ln(sinh(x)/x) = x^2/6 - x^4/180 + ..., each power's difference with its factor (x+h)^2 - x^2 taken out.
    const SERIES: [f64; 9] = [
        1.0 / 6.0,
        -1.0 / 180.0,
        1.0 / 2835.0,
        -1.0 / 37800.0,
        1.0 / 467_775.0,
        -691.0 / 3_831_077_250.0,
        2.0 / 127_702_575.0,
        -3617.0 / 2_605_132_530_000.0,
        43867.0 / 350_813_659_321_125.0,
    ];
    let (low, high) = (x * x, (x + h) * (x + h));
    let (mut power, mut quotient, mut sum) = (1.0, 1.0, 0.0);
    for coefficient in SERIES {
        sum += coefficient * quotient;
        power *= low;
        quotient = high * quotient + power;
    }
    h * (2.0 * x + h) * sum
}

/// The log-moment of the envelope pair that dominates every selection of bounded range eta (see [`super::loss`]).
pub(crate) fn bounded_range_envelope(eta: f64, order: f64) -> f64 {
    ln_sinh_ratio(0.5 * (2.0 * order + 1.0) * eta) - ln_sinh_ratio(0.5 * eta)
}

/// `e^x - 1 - x`, without cancellation near zero.
fn exp_remainder(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x;
    }
    let mut term = 0.5 * x * x;
    let mut sum = 0.0;
    for k in 3..22 {
        sum += term;
        term *= x / f64::from(k);
    }
    sum
}

/// `ln(sinh(x)/x)`, without cancellation near zero and without overflow.
fn ln_sinh_ratio(x: f64) -> f64 {
    if x > 0.5 {
        return x + (-(-2.0 * x).exp_m1() / (2.0 * x)).ln();
    }
    let square = x * x;
    let mut term = square / 6.0;
    let mut sum = 0.0;
    for k in 2..14 {
        sum += term;
        let k = f64::from(2 * k);
        term *= square / (k * (k + 1.0));
    }
    sum.ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::quadrature::integrate;

    /// The moments by direct integration of the loss distributions.
    #[test]
    fn closed_forms_match_integration() {
        for &x in &[0.01_f64, 0.3, 1.0, 4.0] {
            for &a in &[0.1_f64, 1.0, 3.0, 10.0] {
                let density = |l: f64| 0.25 * (0.5 * (l - x)).exp() * (a * l).exp();
                let atoms = 0.5 * (a * x).exp() + 0.5 * (-x - a * x).exp();
                let expected = (integrate(-x, x, 20, density) + atoms).ln();
                assert!((laplace(x, a) - expected).abs() < 1e-13 * (1.0 + expected), "laplace {x} {a}");
                let top = 1.0 / (1.0 + (-x).exp());
                let expected = (top * (a * x).exp() + (1.0 - top) * (-a * x).exp()).ln();
                assert!((two_point(x, a) - expected).abs() < 1e-13 * (1.0 + expected), "pure {x} {a}");
                let density = |l: f64| 0.25 / (0.5 * x).sinh() * (0.5 * l + a * l).exp();
                let expected = integrate(-x, x, 20, density).ln();
                let got = bounded_range_envelope(x, a);
                assert!((got - expected).abs() < 1e-13 * (1.0 + expected), "envelope {x} {a}");
                let expected = (0..=20_000)
                    .map(|i| {
                        let t = x * f64::from(i) / 20_000.0;
                        let top = (1.0 - (t - x).exp()) / (t.exp() - (t - x).exp());
                        (top * ((a + 1.0) * t).exp() + (1.0 - top) * ((a + 1.0) * (t - x)).exp()).ln()
                    })
                    .fold(0.0, f64::max);
                let got = bounded_range(x, a);
                assert!(
                    got >= expected - 1e-12 && got <= expected + 1e-6 * (1.0 + expected),
                    "range {x} {a}"
                );
                assert!(got <= a * (a + 1.0) * x * x / 8.0 * (1.0 + 1e-9), "zCDP line {x} {a}");
            }
        }
    }

    #[test]
    fn branches_meet() {
        for a in [0.5, 2.0, 40.0] {
            for t in [300.0 / a - 1e-9, 300.0 / a + 1e-9] {
                assert!((laplace(t, a) - (a * t + ((a + 1.0) / (2.0 * a + 1.0)).ln())).abs() < 1e-9);
                assert!((two_point(t, a) - a * t + (-t).exp().ln_1p()).abs() < 1e-9);
            }
        }
        for f in [exp_remainder, ln_sinh_ratio] {
            assert!((f(0.5 - 1e-12) - f(0.5 + 1e-12)).abs() < 1e-11);
        }
    }
}
