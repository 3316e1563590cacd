//! PrivUnit by subset selection: one of many public directions, more often one near the vector.
//!
//! # Algorithm
//! Device, for a vector `x` of l2 norm at most `r` in dimension `p`:
//!
//! 1. Draw a seed, uniform and independent of `x`. It generates K directions in dimension `p + 1`, public to whoever
//!    sees the seed (`local::directions`).
//! 2. Lift the vector to the sphere: `z = (x / r, sqrt(1 - |x / r|^2))`.
//! 3. Order the candidates by their inner product with `z`, equal ones by their number. The first m are the cap.
//! 4. Report the seed and one candidate: each of the cap with weight `inside`, each other with weight `outside`
//!    (`local::weights`).
//!
//! Server: the first `p` coordinates of the reported direction, times `r / gain`, where
//! `gain = E[<u, z>] = top (likely - (1 - likely) m / (K - m))`, `top` the expected mean of the m largest of K coordinates
//! (`local::sphere`) and `likely` the probability of the cap. The law of the candidates does not change under
//! rotations, so the estimate's expectation is `x`.
//!
//! # Guarantee
//! Pure epsilon under replacement of the user's record, for every vector, and for the program: see below.
//!
//! # Why private
//! Given the seed, whatever the vector is and however its products are rounded, exactly m of K candidates have probability
//! `inside / total` and the others `outside / total`; the total is the same for all vectors. Two vectors therefore give a
//! report probabilities whose ratio is 1, `inside / outside` or its inverse, and `inside <= e^epsilon outside`. The seed
//! carries no information. No step of this argument involves a floating-point number.
//!
//! # Choice of K and m
//! The mean square of the estimate's error is about `r^2 / gain^2`. K is the smallest power of two whose best gain comes within
//! 0.5% of the best one for K up to 16,384; m maximises the gain for K. A device computes K (p + 1) normal deviates.
//!
//! # Differs from the papers
//! Bhowmick et al. sample a direction on the sphere in floating point, which is not pure epsilon; here the direction is one of
//! finitely many. The price is a gain that is lower by the fluctuation of the cap, below 1% up to epsilon 8 (and growing
//! above: K stops at 16,384). Short vectors are lifted by one dimension. The randomised sign of Wang and Xu 2021 Algorithm 1 has about
//! the same error for vectors of norm r, and adds the sign's own variance for shorter ones, which lifting does not.
//!
//! # References
//! A. Bhowmick, J. Duchi, J. Freudiger, G. Kapoor and R. Rogers, "Protection against reconstruction and its applications in
//! private federated learning", 2018. M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally
//! differential privacy", 2018 (subset selection).

use super::directions::Directions;
use super::sphere::Marginal;
use super::weights::Weights;

/// The most candidates a device looks at.
pub(crate) const MOST_CANDIDATES: u32 = 1 << 14;
/// The share of the best gain that a smaller number of candidates must reach.
const ENOUGH: f64 = 0.995;

/// The public numbers of subset selection.
#[derive(Debug, Clone)]
pub(super) struct SubsetSelection {
    pub(super) candidates: u32,
    pub(super) cap: u32,
    pub(super) weights: Weights,
    pub(super) gain: f64,
}

impl SubsetSelection {
    /// For directions of the given dimension, at least 2.
    pub(super) fn plan(lifted: usize, epsilon: f64) -> Self {
        let coarse = Marginal::new(lifted, 150);
        let share = best_share(&coarse, epsilon).0;
        let mut plans: Vec<(f64, u32, u32)> = Vec::new();
        for bits in 3..=MOST_CANDIDATES.ilog2() {
            let candidates = 1u32 << bits;
            let wanted = (share * f64::from(candidates)).round().clamp(1.0, f64::from(candidates / 2)) as u32;
            plans.push((gain(&coarse, epsilon, wanted, candidates).0, candidates, wanted));
        }
        let best = plans.iter().fold(0.0_f64, |m, plan| m.max(plan.0));
        let (_, candidates, mut cap) =
            plans.into_iter().find(|plan| plan.0 >= ENOUGH * best).unwrap_or((0.0, 8, 1));
        // The rounded share may lie beside the best m, above all among few candidates.
        let fine = Marginal::new(lifted, 1000);
        let at = |cap: u32| gain(&fine, epsilon, cap, candidates);
        let mut here = at(cap);
        for direction in [-1, 1] {
            while let Some(next) = cap.checked_add_signed(direction).filter(|c| (1..candidates).contains(c)) {
                let there = at(next);
                if there.0 <= here.0 {
                    break;
                }
                (cap, here) = (next, there);
            }
        }
        Self { candidates, cap, weights: here.1, gain: here.0 }
    }

    /// Steps 3 and 4: the candidate that the draw means, for a lifted vector.
    pub(super) fn choose(&self, seed: [u8; 16], lifted: &[f64], draw: u64) -> u32 {
        let mut directions = Directions::new(seed, lifted.len());
        let mut direction = vec![0.0; lifted.len()];
        let scores: Vec<f64> = (0..self.candidates)
            .map(|k| {
                let norm = directions.deviates(k, &mut direction);
                direction.iter().zip(lifted).map(|(u, z)| u * z).sum::<f64>() / norm
            })
            .collect();
        let mut order: Vec<u32> = (0..self.candidates).collect();
        // A total order on whatever the scores are, so that the cap always has m members.
        order.select_nth_unstable_by(self.cap as usize, |&a, &b| {
            scores[b as usize].total_cmp(&scores[a as usize]).then_with(|| a.cmp(&b))
        });
        let mut in_cap = vec![false; self.candidates as usize];
        order[..self.cap as usize].iter().for_each(|&k| in_cap[k as usize] = true);
        let (likely, place) = match self.weights.outcome(draw) {
            Ok(member) => (true, member),
            Err(other) => (false, other),
        };
        // There are as many of each kind as the weights count, so the place exists for every draw.
        (0..self.candidates).filter(|&k| in_cap[k as usize] == likely).nth(place as usize).unwrap_or(0)
    }
}

/// The expected inner product of the reported direction and the vector's, and the weights it goes with.
fn gain(marginal: &Marginal, epsilon: f64, cap: u32, candidates: u32) -> (f64, Weights) {
    let weights = Weights::new(epsilon, cap, candidates);
    let likely = weights.likely();
    // The mean of all candidates is zero, so the others' sum is minus the cap's.
    let others = f64::from(cap) / f64::from(candidates - cap);
    (marginal.mean_of_largest(cap, candidates) * (likely - (1.0 - likely) * others), weights)
}

/// The best cap's share of the sphere and its gain, for infinitely many candidates: continuous PrivUnit.
fn best_share(marginal: &Marginal, epsilon: f64) -> (f64, f64) {
    marginal
        .caps()
        .map(|(share, mean)| {
            // share e^eps / (share e^eps + 1 - share) - (the rest) share / (1 - share), without overflow.
            let odds = (-epsilon).exp() * (1.0 - share) / share;
            (share, mean * (1.0 - odds * share / (1.0 - share)) / (1.0 + odds))
        })
        .fold((0.5, 0.0), |best, plan| if plan.1 > best.1 { plan } else { best })
}

/// The gain of continuous PrivUnit with the best cap, for comparison: no choice of K exceeds it.
pub fn continuous_gain(dimension: usize, epsilon: f64) -> f64 {
    best_share(&Marginal::new(dimension.max(2), 4000), epsilon).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_comes_close_to_that_of_continuous_privunit() {
        for (lifted, epsilon, share) in [
            (2, 1.0, 0.98),
            (6, 2.0, 0.99),
            (11, 0.5, 0.99),
            (51, 0.1, 0.99),
            (51, 2.0, 0.99),
            (51, 5.0, 0.99),
            (501, 8.0, 0.98),
            (11, 10.0, 0.97),
        ] {
            let plan = SubsetSelection::plan(lifted, epsilon);
            let reached = plan.gain / continuous_gain(lifted, epsilon);
            println!("{lifted} {epsilon}: {} of {}, {reached:.4}", plan.cap, plan.candidates);
            assert!(reached > share && reached <= 1.0 + 1e-9, "{lifted} {epsilon}: {reached}");
        }
    }

    /// The whole distribution of a report given the seed, by trying every draw's class: two values, ratio at most
    /// e^epsilon, the same total for every vector, however odd.
    #[test]
    fn reports_have_two_probabilities_whatever_the_vector() {
        let plan = SubsetSelection::plan(4, 1.5);
        let (inside, outside) = (plan.weights.inside, plan.weights.outside);
        assert!((inside as f64 / outside as f64).ln() <= 1.5);
        let vectors =
            [[0.5; 4], [0.0; 4], [f64::NAN; 4], [1e300, -1e300, f64::INFINITY, 1.0], [1e-320, 0.0, 0.0, 1.0]];
        for vector in vectors {
            let mut weight = vec![0; plan.candidates as usize];
            let border = u64::from(plan.cap) * inside;
            for member in 0..u64::from(plan.cap) {
                weight[plan.choose([3; 16], &vector, member * inside) as usize] += inside;
                assert_eq!(
                    plan.choose([3; 16], &vector, member * inside),
                    plan.choose([3; 16], &vector, (member + 1) * inside - 1)
                );
            }
            for other in 0..u64::from(plan.candidates - plan.cap) {
                weight[plan.choose([3; 16], &vector, border + other * outside) as usize] += outside;
            }
            assert_eq!(weight.iter().sum::<u64>(), plan.weights.total());
            assert_eq!(weight.iter().filter(|&&w| w == inside).count(), plan.cap as usize);
            assert!(weight.iter().all(|&w| w == inside || w == outside));
        }
    }
}
