//! Neighbouring tables that try to break a claimed sensitivity, and easy simulated data. Tests only.

use crate::data::{Dataset, Design};
use crate::families::Family;
use crate::noise::RandomSource;

/// Two tables that differ in one row, and a point to look at.
pub(crate) struct Pair {
    pub left: Dataset,
    pub right: Dataset,
    pub point: Vec<f64>,
}

/// Uniform on (-1, 1).
pub(crate) fn uniform(rng: &mut RandomSource) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
}

/// `count` pairs of `columns` columns: random tables, balanced ones, tables of equal rows; in the neighbour one row is
/// turned round, huge, not a number, zero, or moves from one column to another.
pub(crate) fn pairs(count: usize, columns: usize, target: (f64, f64), seed: u64) -> Vec<Pair> {
    let mut rng = RandomSource::insecure_seeded(seed);
    (0..count)
        .map(|case| {
            let rows = 2 + rng.below(30) as usize;
            let style = rng.below(4);
            let response = |rng: &mut RandomSource| {
                if rng.coin() {
                    target.0
                } else {
                    target.0 + (target.1 - target.0) * (0.5 + 0.5 * uniform(rng))
                }
            };
            let row = |rng: &mut RandomSource| -> Vec<f64> {
                (0..columns)
                    .map(|j| match style {
                        0 => uniform(rng),
                        1 => {
                            if rng.coin() {
                                1.0
                            } else {
                                -1.0
                            }
                        }
                        2 => 1.0,
                        _ => f64::from(u8::from(j == case % columns)),
                    })
                    .collect()
            };
            let mut x: Vec<Vec<f64>> = (0..rows).map(|_| row(&mut rng)).collect();
            let mut y: Vec<f64> = (0..rows).map(|_| response(&mut rng)).collect();
            let place = rng.below(rows as u64) as usize;
            let table = |x: &[Vec<f64>], y: &[f64]| {
                Dataset::new(Design::from_f64(rows, columns, x.concat()).expect("shape"), y.to_vec())
                    .expect("shape")
            };
            if rng.coin() {
                // The row to be replaced is itself as extreme as it can be.
                x[place] = vec![1e12; columns];
                y[place] = target.1;
            }
            let left = table(&x, &y);
            match rng.below(6) {
                0 => x[place].iter_mut().for_each(|v| *v = -*v),
                1 => x[place] = (0..columns).map(|_| if rng.coin() { 1e300 } else { -1e300 }).collect(),
                2 => x[place] = vec![f64::NAN; columns],
                3 => x[place] = vec![0.0; columns],
                4 => x[place].rotate_left(1),
                _ => {}
            }
            y[place] = match rng.below(4) {
                0 => target.0,
                1 => target.1,
                2 => f64::NAN,
                _ => 1e300,
            };
            let right = table(&x, &y);
            let size = [0.0, 0.1, 1.0, 1e3][rng.below(4) as usize];
            let point = (0..columns).map(|_| size * uniform(&mut rng)).collect();
            Pair { left, right, point }
        })
        .collect()
}

/// Three coefficients that are not zero, features uniform on (-1, 1), responses with a little noise.
pub(crate) fn sparse_linear(rows: usize, columns: usize, seed: u64) -> (Dataset, Vec<f64>) {
    let (x, truth, mut rng) = sparse_features(rows, columns, seed);
    let predictor = |row: &[f64]| row.iter().zip(&truth).map(|(x, b)| x * b).sum::<f64>();
    let y = x.chunks_exact(columns).map(|row| predictor(row) + 0.1 * uniform(&mut rng)).collect();
    (Dataset::new(Design::from_f64(rows, columns, x).expect("shape"), y).expect("shape"), truth)
}

/// The same with binary responses of the logistic model.
pub(crate) fn sparse_logistic(rows: usize, columns: usize, seed: u64) -> (Dataset, Vec<f64>) {
    let (x, truth, mut rng) = sparse_features(rows, columns, seed);
    let probability =
        |row: &[f64]| Family::logistic().mean(row.iter().zip(&truth).map(|(x, b)| x * b).sum::<f64>());
    let y = x
        .chunks_exact(columns)
        .map(|row| f64::from(u8::from(0.5 * (uniform(&mut rng) + 1.0) < probability(row))))
        .collect();
    (Dataset::new(Design::from_f64(rows, columns, x).expect("shape"), y).expect("shape"), truth)
}

fn sparse_features(rows: usize, columns: usize, seed: u64) -> (Vec<f64>, Vec<f64>, RandomSource) {
    let mut rng = RandomSource::insecure_seeded(seed);
    let mut truth = vec![0.0; columns];
    (truth[0], truth[columns / 2], truth[columns - 1]) = (2.0, -1.5, 1.0);
    let x = (0..rows * columns).map(|_| uniform(&mut rng)).collect();
    (x, truth, rng)
}
