//! Standard errors and confidence intervals that include sampling and privacy noise.
//!
//! # Algorithm
//! The estimate is the average of iterates `b <- b + v`, `v <- c v - a P (s(b) + noise)`. Near the root of the expected
//! score s, with slope H, its mean square error has three parts:
//! 1. sampling: `H^-1 M H^-1 / n`, with M the second moment of a unit's score (the sandwich);
//! 2. privacy: each noise vector enters every later iterate. In the eigenbasis of `S = P^1/2 H P^1/2` the recursion falls
//!    apart into one of two numbers for each direction; the response to one noise vector is found by running it.
//! 3. start: a direction that the steps did not carry all the way keeps a known share of its distance from the start.
//!
//! H and M are released with noise of their own, from the same budget; M is lifted to what is possible, and H lowered by
//! a tenth of what noise may have added to its eigenvalues, down to that tenth. A coefficient whose own slope noise
//! hides, as that of a level which hardly any row has, is not determined: its interval is as wide as the descent's ball.
//!
//! # What it assumes
//! A correct mean model; intervals cover the parameter under sampling and privacy noise at the nominal rate where n is
//! large enough that noise does not dominate (simulated coverage is in the documentation). Privacy does not rest on it.

use super::descent::{Drive, Phase};
use crate::error::{Error, Parameter, Result};
use crate::numeric::normal_quantile;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The standard error, sampling and privacy together.
    pub standard_error: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// One phase of a descent, linearised: what it does to the distance from the root, and what its noise adds.
pub(super) struct Passage {
    transfer: DMatrix<f64>,
    covariance: DMatrix<f64>,
}

impl Passage {
    /// A phase with steps of gradient noise `noise`, on a score of slope `slope`. Its result is its last iterate, or the
    /// average of its iterates.
    pub(super) fn new(drive: &Drive, slope: &DMatrix<f64>, noise: f64, averaged: bool) -> Self {
        let phase = drive.phase;
        let inverse = drive.conditioner.inverse();
        let (root, unroot) = square_roots(&inverse);
        let eigen = SymmetricEigen::new(&root * slope * &root);
        let outcome = |places: &[f64]| {
            if averaged { mean(places) } else { places.last().copied().unwrap_or(0.0) }
        };
        let steps = phase.steps as usize;
        let mut kept = DMatrix::zeros(slope.nrows(), slope.nrows());
        // One column per noise vector: what it moves the result by, in each direction.
        let mut effects = DMatrix::zeros(slope.nrows(), steps);
        for (i, speed) in eigen.eigenvalues.iter().enumerate() {
            // Below zero is noise; beyond this the steps would not have converged.
            let speed = speed.clamp(1e-6, 3.0);
            kept[(i, i)] = outcome(&path(phase, drive.momentum, speed, 1.0, 0.0));
            let mut response = vec![0.0; steps];
            response.extend(path(phase, drive.momentum, speed, 0.0, 1.0));
            for step in 0..steps {
                // The response to a noise vector begins at its step.
                effects[(i, step)] = noise * outcome(&response[steps - step..][..steps]);
            }
        }
        let driving = eigen.eigenvectors.transpose() * inverse * &eigen.eigenvectors;
        let covariance = driving.component_mul(&(&effects * effects.transpose()));
        let out = &root * &eigen.eigenvectors;
        let transfer = &out * kept * eigen.eigenvectors.transpose() * unroot;
        Self { transfer, covariance: &out * covariance * out.transpose() }
    }
}

/// The privacy and start parts of the mean square error of a descent in two phases that came `moved` from its start:
/// steps 2 and 3 above.
pub(super) fn descent_error(burn_in: &Passage, averaged: &Passage, moved: &[f64]) -> DMatrix<f64> {
    let onward = &averaged.transfer;
    let mut error = &averaged.covariance + onward * &burn_in.covariance * onward.transpose();
    // The estimate lies `1 - left` of the way from the start to the root.
    let left = onward * &burn_in.transfer;
    let come = DMatrix::identity(left.nrows(), left.nrows()) - &left;
    if let Some(whole) = come.lu().solve(&DVector::from_column_slice(moved)) {
        let short = left * whole;
        error += &short * short.transpose();
    }
    error
}

/// The places after each step of a phase in a direction of this speed, from a place and an impulse at the first step.
fn path(phase: Phase, momentum: f64, speed: f64, mut place: f64, mut impulse: f64) -> Vec<f64> {
    let mut velocity = 0.0;
    (0..phase.steps)
        .map(|_| {
            velocity = momentum * velocity - phase.length * (speed * place + impulse);
            place += velocity;
            impulse = 0.0;
            place
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The square root of a positive definite matrix, and its inverse.
fn square_roots(matrix: &DMatrix<f64>) -> (DMatrix<f64>, DMatrix<f64>) {
    let mut eigen = matrix.clone().symmetric_eigen();
    let floor = f64::MIN_POSITIVE.sqrt();
    eigen.eigenvalues.iter_mut().for_each(|e| *e = e.max(floor).sqrt());
    let root = eigen.recompose();
    eigen.eigenvalues.iter_mut().for_each(|e| *e = 1.0 / *e);
    (root, eigen.recompose())
}

/// Refuses a level at which no interval makes sense.
pub(crate) fn require_level(level: f64) -> Result<f64> {
    if (0.5..1.0).contains(&level) {
        return Ok(level);
    }
    Err(Error::OutOfRange {
        parameter: Parameter::IntervalLevel,
        range: "from 0.5 to below 1",
        value: level.to_string(),
        remedy: "0.95 is usual",
    })
}

/// Intervals of the given level from estimates and their variances.
pub(crate) fn intervals(
    estimates: &[f64],
    variances: impl Iterator<Item = f64>,
    level: f64,
) -> Vec<Interval> {
    let width = normal_quantile(0.5 + 0.5 * level);
    estimates
        .iter()
        .zip(variances)
        .map(|(&b, variance)| {
            let standard_error = variance.max(0.0).sqrt();
            Interval { standard_error, low: b - width * standard_error, high: b + width * standard_error }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::moments::Conditioner;
    use super::*;
    use crate::release::Handle;

    fn drive(phase: Phase, inverse: &DMatrix<f64>, momentum: f64) -> Drive {
        let matrix = inverse.clone().try_inverse().expect("definite");
        Drive { phase, conditioner: Conditioner::new(&matrix, 0.0), momentum, stir: 0.0 }
    }

    /// The covariance in the eigenbasis equals that of the recursion carried out on matrices.
    #[test]
    fn the_covariance_is_that_of_the_recursion() {
        let slope = DMatrix::from_row_slice(2, 2, &[0.5, 0.2, 0.2, 0.3]);
        let inverses = [
            DMatrix::from_row_slice(2, 2, &[1.5, -0.4, -0.4, 2.0]),
            DMatrix::from_row_slice(2, 2, &[0.9, 0.1, 0.1, 0.7]),
        ];
        let phases = [
            Phase { what: Handle::new(""), steps: 4, length: 1.0 },
            Phase { what: Handle::new(""), steps: 9, length: 0.5 },
        ];
        let (momenta, noises) = ([0.3, 0.6], [0.7, 0.3]);
        let passage =
            |k: usize| Passage::new(&drive(phases[k], &inverses[k], momenta[k]), &slope, noises[k], k == 1);
        let got = descent_error(&passage(0), &passage(1), &[0.0, 0.0]);
        // Each noise vector's linear effect on the average, found by running the recursion on unit vectors.
        let effect = |at: u64| -> DMatrix<f64> {
            let mut e = DMatrix::zeros(2, 2);
            let mut v = DMatrix::zeros(2, 2);
            let mut average = DMatrix::zeros(2, 2);
            for step in 0..13 {
                let k = usize::from(step >= 4);
                if step == 4 {
                    v.fill(0.0);
                }
                let mut gradient = &slope * &e;
                if step == at {
                    gradient += DMatrix::identity(2, 2);
                }
                v = v * momenta[k] - (&inverses[k] * gradient) * phases[k].length;
                e += &v;
                if k == 1 {
                    average += &e / 9.0;
                }
            }
            average
        };
        let mut expected = DMatrix::zeros(2, 2);
        for at in 0..13 {
            let a = effect(at);
            let noise: f64 = noises[usize::from(at >= 4)];
            expected += &a * a.transpose() * noise.powi(2);
        }
        assert!((got - expected).norm() < 1e-12);
    }

    /// Without noise, the error is what is left of the way to the root.
    #[test]
    fn the_start_is_accounted_for() {
        let phase = Phase { what: Handle::new(""), steps: 20, length: 0.5 };
        let (root, inverse, slope) = (2.0, 0.1, 0.02);
        let (mut place, mut average) = (0.0, 0.0);
        for averaging in [false, true] {
            let mut velocity = 0.0;
            for _ in 0..phase.steps {
                velocity = 0.8 * velocity - phase.length * inverse * slope * (place - root);
                place += velocity;
                if averaging {
                    average += place / phase.steps as f64;
                }
            }
        }
        let one = |x: f64| DMatrix::from_element(1, 1, x);
        let passage = |averaged| Passage::new(&drive(phase, &one(inverse), 0.8), &one(slope), 0.0, averaged);
        let got = descent_error(&passage(false), &passage(true), &[average])[(0, 0)];
        assert!((got.sqrt() - (root - average)).abs() < 1e-9, "{got} {average}");
    }
}
