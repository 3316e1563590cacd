//! Selections of equal bounded range: the worst that they can do together, each chosen after the earlier ones' results.
//!
//! # Algorithm
//! Write the privacy curve as `phi(x) = delta(ln x)`: convex, falling from 1 to 0.
//!
//! 1. Before any release `phi(x) = (1 - x)^+`.
//! 2. One more selection of bounded range `eta`, made first: its log-ratios lie in `[t - eta, t]` for a `t` of the adversary's
//!    choice, and the worst such release has two outcomes. The new curve at x is the highest chord of phi between two points
//!    `u <= x <= e^eta u`.
//! 3. After the last round, the curve's kinks are the atoms of a pair that dominates all of the selections together.
//!
//! The curve is kept at the multiples of `eta / cells` and linear in x between them, which is an upper bound of a convex curve. Of
//! such a curve step 2 is exact: in every cell of u the chord's height at x is `A u + B + C / u` with `A, C <= 0`, highest where
//! `x = e^eta u^2 / r`, r being the ratio of the P-mass to the Q-mass between u and `e^eta u`.
//!
//! # Guarantee
//! An upper bound for adaptive composition, in any order and between any other releases: `docs/proofs/selections.md`. It is the
//! optimum for as many selections as one block holds, up to the grid; blocks compose like separate releases.
//!
//! # References
//! Dong, Durfee and Rogers, *Optimal differential privacy composition for exponential mechanisms*, ICML 2020.

use std::sync::Arc;

/// Most selections whose common worst case is computed; more are taken in blocks, which costs about a hundredth of epsilon.
const BLOCK: u64 = 32;
/// Ranges for which the arithmetic below keeps its digits. Others compose like separate releases.
const RANGES: std::ops::RangeInclusive<f64> = 1e-7..=20.0;
/// Relative error of one round, charged against the user. A chord's height is a sum of positive products of numbers that are
/// right to a few units of round-off.
const ROUNDING: f64 = 1e-14;

/// The pair that dominates `count` selections of bounded range `range`, as atoms of its loss under P.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Together {
    pub range: f64,
    pub count: u64,
    /// The atoms' distance.
    pub grain: f64,
    /// P-masses at `grain * i` for i from `-(len - 1) / 2` to `(len - 1) / 2`.
    masses: Vec<f64>,
}

impl Together {
    /// `count` selections of bounded range `range` as blocks of nearly equal size, each with its number; `None` where
    /// nothing is gained or the range is extreme.
    pub(crate) fn blocks(range: f64, count: u64) -> Option<Vec<(Arc<Self>, u64)>> {
        if count < 2 || !RANGES.contains(&range) {
            return None;
        }
        let blocks = count.div_ceil(BLOCK);
        let (size, larger) = (count / blocks, count % blocks);
        let cells = cells(size + u64::from(larger > 0));
        let curve = Curve::new(range, cells).after(size);
        let mut parts = vec![(Arc::new(curve.together(range, size)), blocks - larger)];
        if larger > 0 {
            parts.push((Arc::new(curve.after(1).together(range, size + 1)), larger));
        }
        Some(parts)
    }

    /// The atoms of the loss under P.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let half = (self.masses.len() / 2) as f64;
        self.masses.iter().enumerate().map(move |(i, &mass)| (self.grain * (i as f64 - half), mass))
    }

    /// The largest loss.
    pub(crate) fn width(&self) -> f64 {
        self.range * self.count as f64
    }
}

/// Grid cells to a range. The grid enlarges the loss's variance by `2 / (3 cells^2)` of itself; time grows with `size^2 cells`.
fn cells(size: u64) -> usize {
    match size {
        0..=4 => 64,
        5..=8 => 48,
        9..=16 => 32,
        _ => 24,
    }
}

/// A privacy curve of symmetric pairs on a grid.
struct Curve {
    grain: f64,
    /// `e^{d grain} - 1` and `e^{cells grain} - e^{d grain}` for d up to the number of cells to a range.
    rise: Vec<f64>,
    rest: Vec<f64>,
    /// delta at `grain * i` for i from 0; zero beyond. At `-e` it is `1 - e^-e + e^-e delta(e)`, by symmetry.
    delta: Vec<f64>,
}

impl Curve {
    /// Step 1
    fn new(range: f64, cells: usize) -> Self {
        let grain = range / cells as f64;
        let at = |d: usize| grain * d as f64;
        Self {
            grain,
            rise: (0..=cells).map(|d| at(d).exp_m1()).collect(),
            rest: (0..=cells).map(|d| at(d).exp() * at(cells - d).exp_m1()).collect(),
            delta: vec![0.0],
        }
    }

    /// Step 2, as often as there are selections.
    fn after(&self, count: u64) -> Self {
        let mut delta = self.delta.clone();
        for _ in 0..count {
            delta = self.round(&delta);
        }
        Self { grain: self.grain, rise: self.rise.clone(), rest: self.rest.clone(), delta }
    }

    /// The curve with one more selection.
    fn round(&self, delta: &[f64]) -> Vec<f64> {
        let cells = self.rise.len() - 1;
        let (span, width) = (self.rise[cells], self.rise[1]);
        // The curve from one range below zero to one beyond its end.
        let left = (1..=cells).rev().map(|i| {
            let x = -self.grain * i as f64;
            x.exp() * delta.get(i).copied().unwrap_or(0.0) - x.exp_m1()
        });
        let phi: Vec<f64> =
            left.chain(delta.iter().copied()).chain(std::iter::repeat_n(0.0, cells + 1)).collect();
        let last = delta.len() - 1 + cells;
        let mut new = phi[cells..=cells + last].to_vec();
        // Places are counted from one range below zero.
        let mut covered = 0;
        for cell in 0..last {
            let [a, b, c, d] = [cell, cell + 1, cell + cells, cell + cells + 1].map(|i| phi[i]);
            // P- and Q-mass between the chord's ends, the second in units of 1/x at the cell's left end.
            let (near, far) = ((a - b) / width, (c - d) / width);
            let (p, q) = ((a - c) + (near - far), near - far / (1.0 + span));
            // Without mass the curve is a line there, and so is every chord.
            if !(p > 0.0 && q > 0.0) {
                continue;
            }
            let pull = p / q / (1.0 + span);
            // The chords of this cell touch the new curve over two cells from here; those of its left end from where
            // the last cell's ended. A thousandth of a cell is far more than the rounding of the logarithm.
            let low = cell as f64 - pull.ln() / self.grain;
            let first = ((low - 1e-3).ceil() as usize).min(covered).max(cell + 1).max(cells);
            let end = ((low + 2.001).floor() as usize).min(cell + cells).min(cells + last);
            for place in first..=end {
                let (rise, rest) = (self.rise[place - cell], self.rest[place - cell]);
                // u = x_cell (1 + lift), within the cell. Whatever u is, the chord's height is a lower bound of the new curve.
                let lift = (((1.0 + rise) * pull).sqrt() - 1.0).clamp(0.0, width);
                let share = lift / width;
                let scale = 1.0 / ((1.0 + lift) * span);
                let (upper, lower) = ((rest + lift * (1.0 + span)) * scale, (rise - lift).max(0.0) * scale);
                let height =
                    upper * ((1.0 - share) * a + share * b) + lower * ((1.0 - share) * c + share * d);
                let slot = &mut new[place - cells];
                *slot = slot.max(height);
            }
            covered = end;
        }
        new.iter_mut().for_each(|delta| *delta *= 1.0 + ROUNDING);
        new
    }

    /// Step 3: the P-mass at a kink is `x` times the change of slope.
    fn together(&self, range: f64, count: u64) -> Together {
        let width = self.rise[1];
        let at = |i: usize| self.delta.get(i).copied().unwrap_or(0.0);
        let fall = |i: usize| (at(i) - at(i + 1)) / width;
        // Rounding can make a tiny mass negative; zero in its place can only raise delta.
        let right: Vec<f64> = (1..self.delta.len())
            .map(|i| ((fall(i - 1) - fall(i)) + width * fall(i - 1)).max(0.0) * (1.0 + ROUNDING))
            .collect();
        let left: Vec<f64> =
            right.iter().enumerate().map(|(i, p)| p * (-self.grain * (i + 1) as f64).exp()).collect();
        let middle = (1.0 - right.iter().sum::<f64>() - left.iter().sum::<f64>()).max(0.0);
        let masses = left.into_iter().rev().chain([middle]).chain(right).collect();
        Together { range, count, grain: self.grain, masses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curve of a block at `e`.
    fn curve(all: &Together, e: f64) -> f64 {
        all.atoms().filter(|(x, _)| *x > e).map(|(x, p)| -p * (e - x).exp_m1()).sum()
    }

    /// The adversary of the definition: before each selection it picks a shift `t`, here one of the lattice's points, so that no
    /// value is ever needed between them. What it reaches is a lower bound of the optimum, and close to it on a fine lattice.
    /// From `-count * range` to `count * range`.
    fn adversary(range: f64, count: usize, fine: usize) -> Vec<f64> {
        let (h, reach) = (range / fine as f64, (count * fine) as i64);
        let trivial = |i: i64| -(h * i as f64).min(0.0).exp_m1();
        let mut best: Vec<f64> = (-reach..=reach).map(trivial).collect();
        for _ in 0..count {
            let at = |i: i64| {
                usize::try_from(i + reach).ok().and_then(|i| best.get(i)).copied().unwrap_or(trivial(i))
            };
            best = (-reach..=reach)
                .map(|e| {
                    (0..=fine as i64)
                        .map(|t| {
                            let top = (h * t as f64 - range).exp_m1() / (-range).exp_m1();
                            top * at(e - t) + (1.0 - top) * at(e - t + fine as i64)
                        })
                        .fold(0.0, f64::max)
                })
                .collect();
        }
        best
    }

    /// Never below what an adversary reaches, and hardly above.
    #[test]
    fn blocks_cost_what_the_best_adversary_reaches() {
        for (range, count, fine) in
            [(0.7, 2, 256), (0.7, 3, 192), (0.05, 4, 192), (3.0, 3, 192), (1e-4, 6, 96)]
        {
            let blocks = Together::blocks(range, count as u64).unwrap();
            let [(all, 1)] = blocks.as_slice() else { panic!("one block") };
            let reached = adversary(range, count, fine);
            let h = range / fine as f64;
            for (i, lower) in reached.iter().enumerate().step_by(fine / 16) {
                let e = h * (i as f64 - (count * fine) as f64);
                let ours = curve(all, e);
                assert!(ours >= lower * (1.0 - 1e-12), "{range} {count} {e}: {ours} < {lower}");
                // Near the largest loss the curve is a high power of the distance to it, and the grid shows.
                if e <= (count as f64 - 1.0) * range {
                    assert!(ours <= lower * (1.0 + 1e-2) + 1e-12, "{range} {count} {e}: {ours} > {lower}");
                }
            }
        }
    }

    /// Three selections of range 0.7: the optimum by a lattice of 2,048 points to a range, and what three separate envelopes cost.
    #[test]
    fn three_selections_cost_less_than_three_envelopes() {
        let blocks = Together::blocks(0.7, 3).unwrap();
        for (e, optimum, apart) in [
            (0.0, 0.257_253_306, 0.277_918),
            (0.35, 0.141_984_917, 0.162_975),
            (0.7, 0.062_725_289, 0.079_163_5),
            (1.05, 0.022_325_207, 0.029_625_5),
            (1.4, 0.005_207_000, 0.006_935_6),
        ] {
            let ours = curve(&blocks[0].0, e);
            assert!(ours >= optimum && ours < optimum * (1.0 + 5e-4), "{e}: {ours} {optimum}");
            assert!(ours < 0.93 * apart, "{e}: {ours} {apart}");
        }
    }

    /// An adversary that does not react does worse: a bound for shifts fixed in advance would be too small.
    #[test]
    fn reacting_pays() {
        let (range, count) = (0.7_f64, 3);
        let e = 0.7;
        let fixed = (1..700)
            .map(|k| {
                let t = 1e-3 * f64::from(k);
                let top = (t - range).exp_m1() / (-range).exp_m1();
                let ways = [1.0, 3.0, 3.0, 1.0];
                (0..=count)
                    .map(|downs: i32| {
                        let loss = f64::from(count) * t - f64::from(downs) * range;
                        let mass = ways[downs as usize] * top.powi(count - downs) * (1.0 - top).powi(downs);
                        -mass * (e - loss).min(0.0).exp_m1()
                    })
                    .sum::<f64>()
            })
            .fold(0.0, f64::max);
        let ours = curve(&Together::blocks(range, count as u64).unwrap()[0].0, e);
        assert!(ours > 1.01 * fixed, "{ours} {fixed}");
    }

    /// The atoms are a symmetric pair of two probability measures, for every range and number.
    #[test]
    fn atoms_are_a_pair() {
        for range in [1e-7, 1e-3, 0.2, 2.0, 20.0] {
            for count in [2, 5, 31, 33, 100] {
                let blocks = Together::blocks(range, count).unwrap();
                assert_eq!(blocks.iter().map(|(all, number)| all.count * number).sum::<u64>(), count);
                for (all, _) in blocks {
                    let p: f64 = all.atoms().map(|(_, mass)| mass).sum();
                    let q: f64 = all.atoms().map(|(x, mass)| mass * (-x).exp()).sum();
                    assert!((p - 1.0).abs() < 1e-11 && (q - 1.0).abs() < 1e-11, "{range} {count}: {p} {q}");
                    assert!(all.atoms().all(|(x, mass)| mass >= 0.0 && x <= all.width() * (1.0 + 1e-12)));
                }
            }
        }
        assert!(Together::blocks(1.0, 1).is_none() && Together::blocks(1e-8, 5).is_none());
    }
}
