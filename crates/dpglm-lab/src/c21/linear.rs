//! What the figures about linear regression share.
//!
//! Entries of x uniform on (-1/sqrt d, 1/sqrt d), standard normal errors, beta on the unit sphere of its support. Certified methods get
//! the features scaled to their public bounds, [-1, 1]; coefficients are scaled back.

use super::SPARSITY;
use crate::Result;
use crate::draw::{Draw, distance};
use crate::figure::Point;
use crate::literal::{LiteralLinear, Thresholding, Truncate};
use dpglm::central::{Glm, Iht, Privacy, SelectRefine, reference};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::release::Estimator;

/// What is open in the low-dimensional ones.
pub(crate) const STEP_CHOICE: &str =
    "T and the step are not printed for the experiments: T = 10 and step d, which suits the curvature 1/(3d)";
/// What is open in the high-dimensional ones.
pub(crate) const SPARSE_CHOICE: &str = "T = 10, step d, B = 4 (R + 1)/sqrt(s), radius 1; Theorem 4.4's step s/(6L) would not move, and its constant rho is not printed";
/// Why high-dimensional errors cannot be small.
pub(crate) const HOPELESS: &str = " The design's signal has variance 1/(3d): least squares on the true support has a mean squared error of 3 d s/n, 60 at d = n, where the zero vector has 1.";
/// The range of responses.
pub(crate) const RANGE_CHOICE: &str = "certified methods are given responses in [-R, R] with the theoretical R = 4 sqrt(log n), features in their box, and beta in the unit ball, as the literal one is";

/// Rows of the paper's linear model, features scaled to [-1, 1].
pub struct Rows {
    /// The truth in the paper's units.
    pub beta: Vec<f64>,
    /// Scaled features and responses.
    pub data: Dataset,
    /// The public bound on responses.
    pub level: f64,
}

impl Rows {
    /// `n` rows of `d` columns, the first `s` of which matter.
    pub fn draw(draw: &mut Draw, n: usize, d: usize, s: usize) -> Result<Self> {
        let mut beta = draw.sphere(s);
        let root = (d as f64).sqrt();
        let x = draw.features(n * d);
        let predictor =
            |row: &[f32]| row.iter().zip(&beta).map(|(a, b)| f64::from(*a) * b).sum::<f64>() / root;
        let y = x.chunks_exact(d).map(|row| predictor(row) + draw.normal()).collect();
        beta.resize(d, 0.0);
        let level = 4.0 * (n as f64).ln().sqrt();
        Ok(Self { beta, data: Dataset::new(Design::from_f32(n, d, x)?, y)?, level })
    }

    /// The public interval of responses.
    pub fn target(&self) -> (f64, f64) {
        (-self.level, self.level)
    }

    /// The l2 error of coefficients of the scaled features.
    pub fn error(&self, scaled: &[f64]) -> f64 {
        let root = (self.beta.len() as f64).sqrt();
        distance(&scaled.iter().map(|b| b * root).collect::<Vec<f64>>(), &self.beta)
    }

    /// The certified model, told what the literal algorithm is told: beta lies in the unit ball.
    pub fn model(&self) -> dpglm::Result<Glm> {
        Glm::new(Family::gaussian(), self.target())?.radius(1.0 / (self.beta.len() as f64).sqrt())
    }

    /// The error of the certified regression on all columns.
    pub fn certified(&self, privacy: Privacy, rng: &mut RandomSource) -> dpglm::Result<f64> {
        Ok(self.error(&self.model()?.fit(&self.data, privacy, rng)?.coefficients))
    }

    /// The error of the certified sparse regression, told s.
    pub(crate) fn certified_sparse(&self, privacy: Privacy, rng: &mut RandomSource) -> dpglm::Result<f64> {
        let model = SelectRefine::new(self.model()?, SPARSITY)?;
        Ok(self.error(&model.fit(&self.data, privacy, rng)?.coefficients(self.beta.len())))
    }

    /// The error of least squares.
    pub(crate) fn non_private(&self) -> Result<f64> {
        Ok(self.error(&reference::glm(&Family::gaussian(), &self.data, 0.0, false)?.coefficients))
    }

    /// The error of iterative hard thresholding, told s.
    pub(crate) fn non_private_sparse(&self) -> Result<f64> {
        Ok(self.error(&Iht::new(SPARSITY)?.iterations(60)?.fit(&Family::gaussian(), &self.data, 0.0)?))
    }
}

/// Algorithm 4.1 at a point. In the scaled features a step d is a step 1, `c_x` is sqrt d and the radius 1/sqrt d.
pub fn literal(point: &Point, truncate: Truncate, steps: u32, step: f64) -> LiteralLinear {
    let root = point.get("d").sqrt();
    LiteralLinear {
        n: point.whole("n"),
        truncate,
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        steps,
        step: step / point.get("d"),
        length: root,
        radius: 1.0 / root,
    }
}

/// Algorithm 4.2 at a point, for the truncation level R. In the scaled features a step d is a step 1, and B grows by sqrt d.
pub(crate) fn sparse_literal(point: &Point, level: f64, sparsity: usize) -> Thresholding {
    let root = point.get("d").sqrt();
    Thresholding {
        n: point.whole("n"),
        sparsity,
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: 4.0 * (level + 1.0) / (sparsity as f64).sqrt() * root,
        // An entry of 1 times a residual of at most R + norm(x) norm(beta).
        sensitivity: 2.0 * (level + 1.0),
        steps: 10,
        step: 1.0,
        truncation: level,
        radius: 1.0 / root,
    }
}

/// Gigabytes.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * point.get("d") * 14e-9
}
