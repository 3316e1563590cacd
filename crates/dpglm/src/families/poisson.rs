//! The clipped residual of a Poisson response: its expectation and how that moves.

/// `E clip(m - Y, -cap, cap)` for `Y ~ Poisson(m)`, tabulated in `ln m` and interpolated. It depends on public
/// numbers only, so its accuracy concerns bias, not privacy.
#[derive(Debug, Clone)]
pub(super) struct ClippedPoisson {
    means: Vec<f64>,
    slopes: Vec<f64>,
}

const LOWEST: f64 = -18.0;
const STEP: f64 = 0.02;
const NODES: usize = 1401; // up to ln m = 10

impl ClippedPoisson {
    pub(super) fn new(cap: f64) -> Self {
        let (means, slopes) = (0..NODES).map(|i| moments((LOWEST + STEP * i as f64).exp(), cap)).unzip();
        Self { means, slopes }
    }

    pub(super) fn clipped_mean(&self, mean: f64) -> f64 {
        interpolate(&self.means, mean)
    }

    /// The derivative of the expected score in the log-mean: `E[clip(m - Y) (m - Y)]`.
    pub(super) fn slope(&self, mean: f64) -> f64 {
        interpolate(&self.slopes, mean)
    }
}

fn interpolate(values: &[f64], mean: f64) -> f64 {
    let place = ((mean.ln() - LOWEST) / STEP).clamp(0.0, (NODES - 1) as f64);
    let i = (place as usize).min(NODES - 2);
    let share = place - i as f64;
    values[i] * (1.0 - share) + values[i + 1] * share
}

/// `(E clip(m - Y), E clip(m - Y)(m - Y))`, summed outward from the mode until the terms vanish.
fn moments(mean: f64, cap: f64) -> (f64, f64) {
    let mode = mean.floor();
    let at_mode = (mode * mean.ln() - mean - libm::lgamma(mode + 1.0)).exp();
    let (mut first, mut second) = (0.0, 0.0);
    let mut add = |k: f64, mass: f64| {
        let residual = mean - k;
        let clipped = residual.clamp(-cap, cap);
        first += mass * clipped;
        second += mass * clipped * residual;
    };
    let (mut k, mut mass) = (mode, at_mode);
    while mass > 1e-18 {
        add(k, mass);
        k += 1.0;
        mass *= mean / k;
    }
    (k, mass) = (mode, at_mode);
    while k > 0.0 && mass > 1e-18 {
        mass *= k / mean;
        k -= 1.0;
        add(k, mass);
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_caps_give_zero_mean_and_the_variance() {
        for mean in [1e-4, 0.3, 2.7, 40.0, 900.0] {
            let (first, second) = moments(mean, 1e9);
            assert!(first.abs() < 1e-9 * (1.0 + mean), "{mean}: {first}");
            assert!((second / mean - 1.0).abs() < 1e-9, "{mean}: {second}");
        }
    }

    #[test]
    fn the_table_interpolates() {
        let table = ClippedPoisson::new(1.3);
        for mean in [1e-3, 0.11, 1.0, 7.7, 300.0] {
            let (first, second) = moments(mean, 1.3);
            assert!((table.clipped_mean(mean) - first).abs() < 2e-3);
            assert!((table.slope(mean) / second - 1.0).abs() < 2e-2, "{mean}");
        }
    }
}
