//! How well a release tells two neighbours apart: exactly, from what the mechanism was given on both.
//!
//! A mechanism's law on a known input is known. So for a pair of inputs it can be computed, before anything is drawn, which
//! results speak for one of them, how often an honest release gives them, and how often one with too little noise does. A
//! search for the worst pair maximises that, and an audit learns from it which statistic to look at and how many draws
//! it needs.

use crate::audit::Claim;
use crate::mechanisms::PrivateQuantile;
use crate::release::replay::{Compared, Input, Output};
use std::collections::BTreeMap;

/// Sets of results, from the ones that speak most for the first table to all of them: their probabilities on the table and on its
/// neighbour.
type Sets = Vec<(f64, f64)>;

/// No more supports than this are listed one by one.
const MOST_SUPPORTS: usize = 2_000;

/// The statistic that tells the two inputs of a release apart best: the logarithm of the likelihood ratio, but for a constant.
pub(super) fn statistic(release: &Compared) -> Box<dyn Fn(&Output) -> f64> {
    let noise = release.noise_per_sensitivity();
    match release.inputs.clone() {
        [Input::Vector { values: a, sensitivity }, Input::Vector { values: b, .. }] => {
            // Scaled first, so that neither tiny nor huge vectors leave the range of numbers.
            let direction: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b - a) / sensitivity).collect();
            let moved = move |x: &[f64]| -> f64 {
                let along = x.iter().zip(&a).zip(&direction);
                along.map(|((x, a), d)| (x - a) / sensitivity * d).sum::<f64>() / (noise * noise)
            };
            Box::new(move |output| if let Output::Vector(x) = output { moved(x) } else { 0.0 })
        }
        [Input::Each { values: a, sensitivity }, Input::Each { values: b, .. }] => {
            let nearer = move |x: &[f64]| -> f64 {
                let each = x.iter().zip(&a).zip(&b).map(|((x, a), b)| (x - a).abs() - (x - b).abs());
                each.sum::<f64>() / (noise * sensitivity)
            };
            Box::new(move |output| if let Output::Vector(x) = output { nearer(x) } else { 0.0 })
        }
        [Input::Quantile { tally: a, q }, Input::Quantile { tally: b, .. }] => {
            let candidates = a.candidates();
            let (a, b) = (PrivateQuantile::groups(&a, q), PrivateQuantile::groups(&b, q));
            let gains: BTreeMap<u64, f64> =
                a.beside(&b).map(|(start, _, u, v)| (start, (v - u) / noise)).collect();
            Box::new(move |output| match output {
                Output::Number(x) => {
                    gains.range(..=candidates.place(*x)).next_back().map_or(0.0, |(_, gain)| *gain)
                }
                _ => 0.0,
            })
        }
        [Input::Top { scores: a, sensitivity, .. }, Input::Top { scores: b, .. }]
        | [Input::Peel { scores: a, sensitivity, .. }, Input::Peel { scores: b, .. }] => {
            let gains: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b - a) / (noise * sensitivity)).collect();
            Box::new(move |output| match output {
                Output::Indices(chosen) => chosen.iter().map(|&j| gains[j]).sum(),
                _ => 0.0,
            })
        }
        [Input::Choice { scores: a, range }, Input::Choice { scores: b, .. }] => {
            let gains: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 2.0 * (b - a) / (noise * range)).collect();
            Box::new(move |output| match output {
                Output::Indices(chosen) => chosen.iter().map(|&j| gains[j]).sum(),
                _ => 0.0,
            })
        }
        [Input::Fullest { counts: a, .. }, Input::Fullest { counts: b, .. }] => {
            let count = |of: &BTreeMap<u64, u64>, bin: u64| of.get(&bin).copied().unwrap_or(0) as f64;
            Box::new(move |output| match output {
                Output::Bin(bin) => (count(&b, *bin) - count(&a, *bin)) / noise,
                _ => 0.0,
            })
        }
        _ => Box::new(|_| 0.0),
    }
}

/// How many draws on either side show that the release exceeds its claim when its noise is multiplied by `factor`, with
/// probability above 0.999 and twice in a row; infinite if no number does.
pub(super) fn draws_needed(release: &Compared, claim: &Claim, factor: f64) -> f64 {
    draws(sets(release, factor), claim)
}

/// The same for many releases together, whose statistics add up to one that is nearly normal.
pub(super) fn draws_of_all(releases: &[Compared], claim: &Claim, factor: f64) -> f64 {
    draws(gaussian(together(releases).sqrt() / factor), claim)
}

/// How well releases tell the two tables apart together: the sum of the squares of what a Gaussian release's mu would be.
pub(super) fn together(releases: &[Compared]) -> f64 {
    let square = |release: &Compared| match release.inputs[0] {
        Input::Vector { .. } | Input::Each { .. } => {
            (release.share.min(1.0) / release.noise_per_sensitivity()).powi(2)
        }
        Input::Fixed { .. } => 0.0,
        // The total variation of a small mu is mu / sqrt(2 pi).
        _ => (2.5 * total_variation(release)).powi(2),
    };
    releases.iter().map(square).sum()
}

fn draws(mut sets: Sets, claim: &Claim) -> f64 {
    // Bounds at a part in 1e-10 of a normal law, once for the evidence and once for its repetition, and an unlucky draw.
    const DEVIATIONS: f64 = 16.0;
    const FEW: f64 = 100.0;
    // Rarer sets may not show in the pilot that places thresholds.
    const RARE: f64 = 0.02;
    sets.retain(|(p, _)| *p > RARE);
    let points: Vec<(f64, f64)> =
        claim.points().iter().map(|&(epsilon, delta)| (epsilon.exp(), delta)).collect();
    let shown = |n: f64| {
        sets.iter().any(|&(p, q)| {
            let low = p - DEVIATIONS * (p * (1.0 - p) / n).sqrt();
            let high = q + DEVIATIONS * (q * (1.0 - q) / n).sqrt() + FEW / n;
            points.iter().any(|&(ratio, delta)| low > ratio * high + delta)
        })
    };
    (0..16).map(|k| 1_000.0 * libm::exp2(0.5 * f64::from(k))).find(|&n| shown(n)).unwrap_or(f64::INFINITY)
}

/// The sets of a Gaussian release.
fn gaussian(mu: f64) -> Sets {
    let above = |x: f64| 0.5 * libm::erfc(x / std::f64::consts::SQRT_2);
    let threshold = |k: i32| 0.1 * f64::from(k);
    (-45..=45).map(|k| (above(threshold(k) - 0.5 * mu), above(threshold(k) + 0.5 * mu))).collect()
}

/// The largest difference of the probabilities of a set, with noise as claimed.
pub(super) fn total_variation(release: &Compared) -> f64 {
    sets(release, 1.0).iter().map(|(p, q)| p - q).fold(0.0, f64::max)
}

fn sets(release: &Compared, factor: f64) -> Sets {
    let noise = factor * release.noise_per_sensitivity();
    match &release.inputs {
        [Input::Vector { .. }, Input::Vector { .. }] => gaussian(release.share / noise),
        [Input::Each { .. }, Input::Each { .. }] => {
            // The number that moves most, alone.
            let shift = release.share / noise;
            let above = |x: f64| if x > 0.0 { 0.5 * (-x).exp() } else { 1.0 - 0.5 * x.exp() };
            (-20..=40).map(|k| shift * 0.05 * f64::from(k)).map(|t| (above(t - shift), above(t))).collect()
        }
        [Input::Quantile { tally: a, q }, Input::Quantile { tally: b, .. }] => {
            let (a, b) = (PrivateQuantile::groups(a, *q), PrivateQuantile::groups(b, *q));
            ordered(normalised(a.beside(&b).map(|(_, size, u, v)| (size as f64, u / noise, v / noise))))
        }
        [Input::Fullest { counts: a, bins }, Input::Fullest { counts: b, .. }] => {
            let occupied: BTreeMap<u64, (f64, f64)> = a
                .keys()
                .chain(b.keys())
                .map(|bin| {
                    let count = |of: &BTreeMap<u64, u64>| of.get(bin).copied().unwrap_or(0) as f64;
                    (*bin, (count(a), count(b)))
                })
                .collect();
            let empty = (*bins as f64 - occupied.len() as f64, 0.0, 0.0);
            let occupied = occupied.into_values().map(|(u, v)| (1.0, u / noise, v / noise));
            ordered(normalised(occupied.chain([empty])))
        }
        [Input::Choice { scores: a, range }, Input::Choice { scores: b, .. }] => {
            let scale = noise * range / 2.0;
            ordered(normalised(a.iter().zip(b).map(|(a, b)| (1.0, a / scale, b / scale))))
        }
        [Input::Top { scores: a, count, sensitivity }, Input::Top { scores: b, .. }] => {
            let scale = noise * sensitivity;
            ordered(supports(a.len(), *count).map_or_else(Vec::new, |supports| {
                let (a, b) = (weights(a, scale), weights(b, scale));
                supports.iter().map(|chosen| (chance(&a, chosen), chance(&b, chosen))).collect()
            }))
        }
        [Input::Peel { scores: a, count: 1, sensitivity }, Input::Peel { scores: b, .. }] => {
            let scale = 2.0 * noise * sensitivity;
            let (a, b) = (noisy_maximum(a, scale), noisy_maximum(b, scale));
            ordered(a.into_iter().zip(b).collect())
        }
        _ => Vec::new(),
    }
}

/// All sets that likelihood ratios make, in both orders.
fn ordered(mut results: Vec<(f64, f64)>) -> Sets {
    let mut sets = Vec::with_capacity(2 * results.len());
    let speaks = |(p, q): &(f64, f64)| if p + q > 0.0 { p / (p + q) } else { 0.5 };
    results.sort_by(|a, b| speaks(b).total_cmp(&speaks(a)));
    for turned in [false, true] {
        let (mut p, mut q) = (0.0, 0.0);
        for (a, b) in &results {
            (p, q) = (p + a, q + b);
            sets.push(if turned { (q, p) } else { (p, q) });
        }
        results.reverse();
    }
    sets
}

/// Probabilities from sizes and exponents on both sides.
fn normalised(groups: impl Iterator<Item = (f64, f64, f64)>) -> Vec<(f64, f64)> {
    let groups: Vec<(f64, f64, f64)> = groups.filter(|(size, ..)| *size > 0.0).collect();
    let highest = groups.iter().fold((f64::MIN, f64::MIN), |top, g| (top.0.max(g.1), top.1.max(g.2)));
    let weight =
        |(size, u, v): &(f64, f64, f64)| (size * (u - highest.0).exp(), size * (v - highest.1).exp());
    let weights: Vec<(f64, f64)> = groups.iter().map(weight).collect();
    let total = weights.iter().fold((0.0, 0.0), |sum, w| (sum.0 + w.0, sum.1 + w.1));
    weights.into_iter().map(|(a, b)| (a / total.0, b / total.1)).collect()
}

fn weights(scores: &[f64], scale: f64) -> Vec<f64> {
    let number = |s: f64| if s.is_nan() { f64::MIN } else { s };
    let highest = scores.iter().map(|&s| number(s)).fold(f64::MIN, f64::max);
    // The lowest keep a weight, so that no division below is by zero.
    scores.iter().map(|&s| ((number(s) - highest) / scale).exp().max(1e-300)).collect()
}

/// All supports of `count` out of `d`, if there are not too many.
fn supports(d: usize, count: usize) -> Option<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let longer = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
            let next = chosen.last().map_or(0, |last| last + 1);
            (next..d).map(|j| [chosen.as_slice(), &[j]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > MOST_SUPPORTS {
            return None;
        }
    }
    Some(all)
}

/// The probability that items of these weights are drawn one after the other without replacement, in any order.
fn chance(weights: &[f64], chosen: &[usize]) -> f64 {
    fn drawn(weights: &[f64], chosen: &[usize], left: f64) -> f64 {
        let rest = |k: usize| -> Vec<usize> {
            chosen.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, &j)| j).collect()
        };
        if chosen.is_empty() {
            return 1.0;
        }
        let first = |(k, &j): (usize, &usize)| {
            weights[j] / left * drawn(weights, &rest(k), (left - weights[j]).max(1e-300))
        };
        chosen.iter().enumerate().map(first).sum()
    }
    drawn(weights, chosen, weights.iter().sum())
}

/// The probability of each score to be the largest with Laplace noise, by integration.
fn noisy_maximum(scores: &[f64], scale: f64) -> Vec<f64> {
    const STEP: f64 = 0.1;
    let below = |x: f64| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() };
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let shifted: Vec<f64> = scores.iter().map(|s| ((s - highest) / scale).max(-40.0)).collect();
    let lowest = shifted.iter().copied().fold(0.0, f64::min);
    let mut chances = vec![0.0; scores.len()];
    // Whatever the lowest, only where it comes near the highest can it win.
    for k in ((lowest - 12.0).max(-20.0) / STEP) as i32..=(20.0 / STEP) as i32 {
        let t = STEP * f64::from(k);
        let cdf: Vec<f64> = shifted.iter().map(|s| below(t - s)).collect();
        for (j, chance) in chances.iter_mut().enumerate() {
            let density = 0.5 * (-(t - shifted[j]).abs()).exp();
            let others: f64 = cdf.iter().enumerate().filter(|(i, _)| *i != j).map(|(_, f)| f).product();
            *chance += STEP * density * others;
        }
    }
    let total: f64 = chances.iter().sum();
    chances.into_iter().map(|chance| chance / total).collect()
}
