//! Wang and Xu 2021 Algorithms 1 and 4 (LDP-IHT): users in T groups send randomized gradients; the server steps, keeps the s largest
//! coordinates, and projects on the unit ball.
//!
//! The gradient of user i is `x f'(<x, theta>) (f(<x, theta>) - y)`, randomized with the radius `r = b C sqrt(p)`. The proof's bound
//! on gradients is wrong: longer ones occur, for which the randomizer is not defined (a probability above 1). They are
//! clipped to r here, so that it runs; then it is epsilon-private exactly. The randomizer's factor `O(r sqrt(p))` is the one
//! that makes it unbiased.

use crate::Result;
use crate::draw::norm;
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::local::{Imitation, Kind, Randomizer};

/// The printed constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalConstants {
    /// Coefficients to keep.
    pub sparsity: usize,
    /// The pure epsilon of a report.
    pub epsilon: f64,
    /// Step length eta.
    pub step: f64,
    /// The randomizer's radius r.
    pub radius: f64,
}

/// The printed number of rounds, `ceil(log(n/p))`, at least one.
pub fn rounds(n: usize, p: usize) -> usize {
    (n as f64 / p as f64).ln().ceil().max(1.0) as usize
}

/// The last iterate from `start`. Reports have the law of real ones, from a seeded generator.
pub fn local_iht(
    family: &Family,
    data: &Dataset,
    row: impl Fn(usize) -> Vec<f64>,
    constants: &LocalConstants,
    start: Vec<f64>,
    seed: u64,
) -> Result<Vec<f64>> {
    let (n, p) = (data.design().rows(), data.design().columns());
    let rounds = rounds(n, p);
    let LocalConstants { sparsity, epsilon, step, radius } = *constants;
    let randomizer = Randomizer::new(Kind::Duchi, p, radius, epsilon)?;
    let mut imitation = Imitation::new(&randomizer, seed);
    let mut point = start;
    for round in 0..rounds {
        let first = round * (n / rounds);
        let last = if round + 1 == rounds { n } else { first + n / rounds };
        let mut sum = vec![0.0; p];
        for i in first..last {
            let mut gradient = row(i);
            let u: f64 = gradient.iter().zip(&point).map(|(x, b)| x * b).sum();
            let score = family.mean_slope(u) * (family.mean(u) - data.response()[i]);
            gradient.iter_mut().for_each(|x| *x *= score);
            let length = norm(&gradient);
            if length > radius {
                gradient.iter_mut().for_each(|x| *x *= radius / length);
            }
            imitation.add(&gradient, &mut sum)?;
        }
        let factor = step / (last - first).max(1) as f64;
        point.iter_mut().zip(&sum).for_each(|(b, g)| *b -= factor * g);
        keep_and_project(&mut point, sparsity);
    }
    Ok(point)
}

/// Keeps the largest coordinates in size.
pub fn keep_largest(point: &mut [f64], sparsity: usize) {
    let mut order: Vec<usize> = (0..point.len()).collect();
    order.sort_by(|&i, &j| point[j].abs().total_cmp(&point[i].abs()));
    order.iter().skip(sparsity).for_each(|&j| point[j] = 0.0);
}

/// Keeps the largest coordinates in size, and shortens to length 1.
pub(crate) fn keep_and_project(point: &mut [f64], sparsity: usize) {
    keep_largest(point, sparsity);
    let length = norm(point);
    if length > 1.0 {
        point.iter_mut().for_each(|b| *b /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_and_projects() {
        let mut point = [3.0, -4.0, 0.1];
        keep_and_project(&mut point, 2);
        assert_eq!(point, [0.6, -0.8, 0.0]);
        assert_eq!(rounds(24_000, 500), 4);
        assert_eq!(rounds(10, 500), 1);
    }
}
