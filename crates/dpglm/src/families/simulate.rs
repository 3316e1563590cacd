//! Draws of responses, for simulated tables: not for noise.

use crate::noise::RandomSource;

/// 1 with this probability.
pub(crate) fn binary(mean: f64, rng: &mut RandomSource) -> f64 {
    f64::from(u8::from(uniform(rng) < mean))
}

/// Normal, by Box and Muller.
pub(crate) fn normal(mean: f64, deviation: f64, rng: &mut RandomSource) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
    mean + deviation * radius * (std::f64::consts::TAU * uniform(rng)).cos()
}

/// Poisson, by inversion; means are of order one.
pub(crate) fn poisson(mean: f64, rng: &mut RandomSource) -> f64 {
    let (mut count, mut mass, u) = (0.0, (-mean).exp(), uniform(rng));
    let mut below = mass;
    while u >= below && count < 1_000.0 {
        count += 1.0;
        mass *= mean / count;
        below += mass;
    }
    count
}

/// Uniform on [0, 1), to 53 bits.
pub(crate) fn uniform(rng: &mut RandomSource) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
}

/// Gamma of scale 1, zero for a shape of zero (Marsaglia and Tsang 2000).
pub(crate) fn gamma(shape: f64, rng: &mut RandomSource) -> f64 {
    if shape <= 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        return gamma(shape + 1.0, rng) * (1.0 - uniform(rng)).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = normal(0.0, 1.0, rng);
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && (1.0 - uniform(rng)).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}
