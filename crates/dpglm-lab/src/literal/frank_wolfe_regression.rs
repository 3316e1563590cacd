//! Private Frank-Wolfe as published (Talwar, Thakurta and Zhang 2015), the comparator of Wang and Gu 2020.
//!
//! T times over the l1 ball of radius R: the vertex with the least `<vertex, gradient>` plus Laplace noise of scale
//! `L R sqrt(8 T log(1/delta)) / (n eps)`, and a step of `2/(t+2)` towards it from zero, t from 1. L is the Lipschitz
//! constant of one row's loss in the l1 norm.
//!
//! What it costs in truth, for rows whose gradients have entries within L: one row moves a vertex's value by at most
//! `2 L R / n`, so each of the T choices has log-ratios within `2 * 2 L R / n` over the scale.

use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::privacy::{Event, Noise};

/// The printed noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrankWolfeNoise {
    /// Rows.
    pub n: usize,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The Lipschitz constant L.
    pub lipschitz: f64,
    /// The radius R of the l1 ball.
    pub radius: f64,
    /// Steps T.
    pub steps: u32,
}

impl FrankWolfeNoise {
    /// The scale of the noise on the vertices' values.
    pub fn scale(&self) -> f64 {
        let root = (8.0 * f64::from(self.steps) * (1.0 / self.delta).ln()).sqrt();
        self.lipschitz * self.radius * root / (self.n as f64 * self.epsilon)
    }

    /// Stated and true epsilon.
    pub fn promise(&self) -> Result<Promise> {
        let sensitivity = 2.0 * self.lipschitz * self.radius / self.n as f64;
        let noise = Noise::Pure { epsilon: 2.0 * sensitivity / self.scale() };
        let events = [Event::new("vertices", noise, u64::from(self.steps))?];
        Promise::literal(self.epsilon, self.delta, &events, "gradients of one row with entries within L")
    }
}

/// The last iterate.
pub fn frank_wolfe(family: &Family, data: &Dataset, noise: &FrankWolfeNoise, draw: &mut Draw) -> Vec<f64> {
    let d = data.design().columns();
    let mut point = vec![0.0; d];
    let mut gradient = vec![0.0; d];
    for t in 1..=noise.steps {
        fused_pass(data.design(), &point, |row, u| family.mean(u) - data.response()[row], &mut gradient);
        let mut best = (f64::INFINITY, 0, 1.0);
        for (j, g) in gradient.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let value = sign * noise.radius * g / noise.n as f64 + noise.scale() * draw.laplace();
                if value < best.0 {
                    best = (value, j, sign);
                }
            }
        }
        let share = 2.0 / (f64::from(t) + 2.0);
        point.iter_mut().for_each(|b| *b *= 1.0 - share);
        point[best.1] += share * best.2 * noise.radius;
    }
    point
}
