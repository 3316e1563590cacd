//! Linear regression from perturbed sufficient statistics: one pass over the data.
//!
//! # Algorithm (adaptive ridge as in AdaSSP, Wang 2018)
//! 1. The typical size R of the units and their weights ([`super::glm`]); the response is measured from the middle of its range.
//! 2. Release the weighted moments `X^T W X / n` and `X^T W y / n`, with the same weights.
//! 3. Solve with a ridge that lifts the smallest eigenvalue to what the noise could have moved it by.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A unit's moment matrix has trace at most `1.5 R^2`; its part of `X^T W y`
//! has l2 norm at most `R * Y` with Y half the response's range, so a replacement moves the mean by at most `2 R Y / n`.
//!
//! # When to prefer it
//! Few columns and many rows, or errors too skewed for a clipped residual: its target is the least-squares solution
//! itself. Its noise grows with the whole range of the response, that of [`super::glm`] with the residuals' only.

use super::glm::{Fit, adjacency};
use super::moments::{self, Conditioner, TRACE};
use super::prepared::{Prepared, require_shape};
use super::purse::{Calibration, Planned, Privacy};
use super::weighting;
use crate::data::Dataset;
use crate::data::dataset::MOST_ROWS;
use crate::data::range::require_interval;
use crate::error::Result;
use crate::kernels::{fused_pass, summation_error};
use crate::noise::RandomSource;

const MOMENTS: &str = "moments of the features";
const PRODUCTS: &str = "products of features and response";

/// Linear regression by perturbed sufficient statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearStatistics {
    target: (f64, f64),
    intercept: bool,
}

impl LinearStatistics {
    /// For a response in the public interval `target`.
    pub fn new(target: (f64, f64)) -> Result<Self> {
        let target = require_interval("target bounds", target, "declare the public range of the response")?;
        Ok(Self { target, intercept: false })
    }

    /// The design's first column is constant 1.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// Calibrates the noise for data of `columns` columns (the constant one included) and `units` units.
    pub fn prepare(&self, columns: usize, units: usize, privacy: Privacy) -> Result<Prepared<Self>> {
        require_shape(columns, units)?;
        let mut plan = weighting::planned(columns, self.intercept, units, privacy)?;
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        plan.push(Planned::gaussian(MOMENTS, 0.4 * rest, 1));
        plan.push(Planned::gaussian(PRODUCTS, 0.6 * rest, 1));
        let calibration = Calibration::new(plan, privacy)?;
        Ok(Prepared { model: self.clone(), columns, units, calibration })
    }

    /// Prepares and fits.
    pub fn fit(&self, data: &Dataset, privacy: Privacy, rng: &mut RandomSource) -> Result<Fit> {
        self.prepare(data.design().columns(), data.units(), privacy)?.fit(data, rng)
    }
}

impl Prepared<LinearStatistics> {
    /// Fits the model.
    pub fn fit(&self, data: &Dataset, rng: &mut RandomSource) -> Result<Fit> {
        self.require_shape_of(data, false)?;
        let (design, n) = (data.design(), data.units() as f64);
        let d = design.columns();
        let mut purse = self.calibration.open(rng);

        // Step 1. With an intercept the response's middle is absorbed by it; without, zero stays where it is.
        let (low, high) = self.model.target;
        let middle = if self.model.intercept { low / 2.0 + high / 2.0 } else { 0.0 };
        let reach = (high - middle).abs().max((low - middle).abs());
        let admit = |y: f64| if y.is_nan() { middle } else { y.clamp(low, high) };
        let weighting = weighting::release(data, self.model.intercept, &mut purse)?;
        let weights = moments::shortened(
            data,
            &weighting.norms,
            |row| weighting.weights[row],
            TRACE * weighting.size.powi(2),
        );

        // Step 2
        let trace = TRACE * weighting.size * weighting.size;
        let coordinates = &weighting.coordinates;
        let gram = moments::release_gram(
            MOMENTS,
            design,
            coordinates,
            |row| weights[row],
            trace,
            data.units(),
            &mut purse,
        )?;
        let mut products = vec![0.0; d];
        let response = data.response();
        fused_pass(
            design,
            &vec![0.0; d],
            |row, _| weights[row] * (admit(response[row]) - middle),
            &mut products,
        );
        coordinates.map(&mut products);
        products.iter_mut().for_each(|p| *p /= n);
        let rounding = 2.0 * (summation_error(MOST_ROWS) + 4.0 * f64::EPSILON) * coordinates.amplification();
        let error = rounding * weighting.size * reach;
        purse.vector(PRODUCTS, &mut products, 2.0 * weighting.size * reach / n + error)?;

        // Step 3
        let smallest = gram.matrix.clone().symmetric_eigenvalues().min();
        let lift = (gram.spread - smallest).max(1e-12 * trace);
        let mut coefficients =
            coordinates.stored(Conditioner::new(&gram.matrix, lift).apply(products).as_slice());
        if self.model.intercept {
            coefficients[0] += middle;
        }
        let certificate = purse
            .close(adjacency(data))
            .enforcing("the rows of a unit are weighted so that their l2 norms sum to at most the released typical size")
            .enforcing("the response is clamped to its declared range");
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}
