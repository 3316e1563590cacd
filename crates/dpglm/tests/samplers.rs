//! The exact samplers against their laws.
//!
//! Each test has level 1e-6 (the Dvoretzky-Kiefer-Wolfowitz inequality, the true chi-square or binomial
//! distribution), a seed derived from its name, and a sample size computed from the smallest defect it has to catch.
//! Each also runs on weakened samplers and must reject them.

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};
use dpglm::noise::exponential::exponential;
use dpglm::noise::gaussian::half_normal;
use dpglm::noise::{GaussianNoise, Grid, LaplaceNoise, Race, RandomSource};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};
use statrs::function::erf::{erf, erfc};

const LEVEL: f64 = 1e-6;

/// A reproducible source whose seed is the FNV-1a hash of a test's name.
fn source(name: &str) -> RandomSource {
    RandomSource::insecure_seeded(dpglm::numeric::fnv1a(name.bytes()))
}

// ---------------------------------------------------------------------------------------------------------------
// Kolmogorov-Smirnov, for the continuous laws
// ---------------------------------------------------------------------------------------------------------------

/// By Dvoretzky-Kiefer-Wolfowitz the largest gap exceeds `ks_limit` with probability at most 1e-6 if the law is
/// right. A law whose distribution function is off by `2 ks_limit` somewhere is rejected with probability 1 - 1e-6.
///
/// 1% of scale moves the distribution function of an exponential by 0.01/e = 3.6e-3, of a half-normal by
/// 0.01 * 0.484 = 4.8e-3, of a Gumbel (as a shift) by 3.6e-3. Twice the limit is 3.6e-3 at this size.
const KS_DRAWS: usize = 2_240_000;

fn ks_limit() -> f64 {
    ((2.0 / LEVEL).ln() / (2.0 * KS_DRAWS as f64)).sqrt()
}

/// The largest gap between the draws' empirical distribution function and `cdf`.
///
/// `below` and `up_to` are `P(X < x)` and `P(X <= x)`: the same for a continuous law, different on a grid.
fn ks_gap(mut draw: impl FnMut() -> f64, below: impl Fn(f64) -> f64, up_to: impl Fn(f64) -> f64) -> f64 {
    let mut draws: Vec<f64> = (0..KS_DRAWS).map(|_| draw()).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let total = draws.len() as f64;
    let mut gap: f64 = 0.0;
    for (index, value) in draws.iter().enumerate() {
        // The empirical function jumps from the number of smaller draws to the number of draws up to this one.
        if index == 0 || draws[index - 1] < *value {
            gap = gap.max((below(*value) - index as f64 / total).abs());
        }
        if index + 1 == draws.len() || draws[index + 1] > *value {
            gap = gap.max((up_to(*value) - (index + 1) as f64 / total).abs());
        }
    }
    gap
}

fn exponential_cdf(x: f64) -> f64 {
    -(-x.max(0.0)).exp_m1()
}

fn half_normal_cdf(x: f64) -> f64 {
    erf(x.max(0.0) / std::f64::consts::SQRT_2)
}

fn gumbel_cdf(x: f64) -> f64 {
    (-(-x).exp()).exp()
}

/// Von Neumann's algorithm on 4-bit digits that counts a tie as "not below" instead of drawing further digits.
fn exponential_without_extension(rng: &mut RandomSource) -> f64 {
    let mut integer = 0.0;
    loop {
        let first = rng.next_u32();
        let (mut previous, mut heads) = (first >> 28, true);
        loop {
            let next = rng.next_u32() >> 28;
            if next >= previous {
                break;
            }
            (previous, heads) = (next, !heads);
        }
        if heads {
            return integer + f64::from(first) / 2f64.powi(32);
        }
        integer += 1.0;
    }
}

#[test]
fn exponential_deviates_follow_their_law() {
    let rng = &mut source("exponential_deviates_follow_their_law");
    let gap = |draw: &mut dyn FnMut() -> f64| ks_gap(draw, exponential_cdf, exponential_cdf);
    assert!(gap(&mut || exponential(rng).approximate(rng)) < ks_limit());

    assert!(gap(&mut || 1.01 * exponential(rng).approximate(rng)) > ks_limit());
    assert!(gap(&mut || exponential_without_extension(rng)) > ks_limit());
}

#[test]
fn half_normal_deviates_follow_their_law() {
    let rng = &mut source("half_normal_deviates_follow_their_law");
    let gap = |draw: &mut dyn FnMut() -> f64| ks_gap(draw, half_normal_cdf, half_normal_cdf);
    assert!(gap(&mut || half_normal(rng).approximate(rng)) < ks_limit());

    assert!(gap(&mut || half_normal(rng).approximate(rng) / 1.01) > ks_limit());
    // Kahn's method without its rejection step.
    assert!(gap(&mut || exponential(rng).approximate(rng)) > ks_limit());
}

#[test]
fn gumbel_deviates_follow_their_law() {
    let rng = &mut source("gumbel_deviates_follow_their_law");
    let gap = |draw: &mut dyn FnMut() -> f64| ks_gap(draw, gumbel_cdf, gumbel_cdf);
    assert!(gap(&mut || -exponential(rng).approximate(rng).ln()) < ks_limit());

    assert!(gap(&mut || -(1.01 * exponential(rng).approximate(rng)).ln()) > ks_limit());
    assert!(gap(&mut || -exponential_without_extension(rng).ln()) > ks_limit());
}

/// Magnitudes of rounded noise against a continuous law: `P(|k| <= j) = F((j + 1/2) g / scale)`.
fn rounded_gap(step: f64, cdf: impl Fn(f64) -> f64, mut draw: impl FnMut() -> i128) -> f64 {
    ks_gap(|| draw().unsigned_abs() as f64, |k| cdf((k - 0.5) * step), |k| cdf((k + 0.5) * step))
}

#[test]
fn rounded_gaussian_noise_follows_its_law() {
    let rng = &mut source("rounded_gaussian_noise_follows_its_law");
    let (sigma, grid) = (std::f64::consts::PI, Grid::for_l2(1.0, 10).unwrap());
    let gap = |sampler: GaussianNoise, rng: &mut RandomSource| {
        rounded_gap(grid.spacing() / sigma, half_normal_cdf, || sampler.sample(rng))
    };
    assert!(gap(GaussianNoise::new(grid, sigma).unwrap(), rng) < ks_limit());

    assert!(gap(GaussianNoise::new(grid, sigma * 1.01).unwrap(), rng) > ks_limit());
    assert!(gap(GaussianNoise::new(grid, sigma / 1.01).unwrap(), rng) > ks_limit());
}

#[test]
fn rounded_laplace_noise_follows_its_law() {
    let rng = &mut source("rounded_laplace_noise_follows_its_law");
    let (scale, grid) = (0.7, Grid::for_l1(1.0, 10).unwrap());
    let gap = |sampler: LaplaceNoise, rng: &mut RandomSource| {
        rounded_gap(grid.spacing() / scale, exponential_cdf, || sampler.sample(rng))
    };
    assert!(gap(LaplaceNoise::new(grid, scale).unwrap(), rng) < ks_limit());

    assert!(gap(LaplaceNoise::new(grid, scale * 1.01).unwrap(), rng) > ks_limit());
    assert!(gap(LaplaceNoise::new(grid, scale / 1.01).unwrap(), rng) > ks_limit());
}

// ---------------------------------------------------------------------------------------------------------------
// Signs and coarse grids
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn signs_are_fair() {
    let rng = &mut source("signs_are_fair");
    // Half a percent of imbalance is 10.9 standard deviations at this size, the limit is at 4.9.
    let draws = 1_200_000u64;
    let fair = |positive: u64| {
        let law = Binomial::new(0.5, draws).unwrap();
        // Exact two-sided tail probability.
        2.0 * law.cdf(positive).min(law.sf(positive.saturating_sub(1))) >= LEVEL
    };
    let grid = Grid::for_l2(1.0, 1).unwrap();
    let gaussian = GaussianNoise::new(grid, 1.0).unwrap();
    let laplace = LaplaceNoise::new(grid, 1.0).unwrap();
    // Zero has probability 2^-24: it does not count on either side of a balance this wide.
    assert!(fair((0..draws).filter(|_| gaussian.sample(rng) > 0).count() as u64));
    assert!(fair((0..draws).filter(|_| laplace.sample(rng) > 0).count() as u64));

    let biased = |rng: &mut RandomSource| {
        let noise = gaussian.sample(rng);
        if rng.below(100) == 0 { noise.abs() } else { noise }
    };
    assert!(!fair((0..draws).filter(|_| biased(rng) > 0).count() as u64));
}

/// Chi-square statistic of counts against expected probabilities.
fn chi_square(counts: &[f64], probabilities: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    counts.iter().zip(probabilities).map(|(count, p)| (count - total * p).powi(2) / (total * p)).sum()
}

fn chi_square_limit(cells: usize) -> f64 {
    ChiSquared::new((cells - 1) as f64).expect("at least two cells").inverse_cdf(1.0 - LEVEL)
}

/// Largest cell of the coarse histogram, in grid steps. All beyond goes to the two outermost cells.
const EDGE: i128 = 11;

fn coarse_histogram(draws: usize, mut draw: impl FnMut() -> i128) -> Vec<f64> {
    let mut counts = vec![0.0; 2 * EDGE as usize + 1];
    for _ in 0..draws {
        counts[(draw().clamp(-EDGE, EDGE) + EDGE) as usize] += 1.0;
    }
    counts
}

/// Probabilities of the cells from the upper tail of a symmetric law, in grid steps.
fn coarse_law(tail: impl Fn(f64) -> f64) -> Vec<f64> {
    (-EDGE..=EDGE)
        .map(|cell| match cell.abs() {
            0 => 1.0 - 2.0 * tail(0.5),
            EDGE => tail(EDGE as f64 - 0.5),
            inner => tail(inner as f64 - 0.5) - tail(inner as f64 + 0.5),
        })
        .collect()
}

/// At 2 million draws 1% of scale has non-centrality `2e6 * 2 * 0.01^2 = 400` (Gaussian) or about 200 (Laplace), a
/// sign bias of 0.5% has `2e6 * (2 * 0.005)^2 = 200`. With 22 degrees of freedom the limit is 71, and 200 exceeds it
/// with probability 1 - 1e-6.
const COARSE_DRAWS: usize = 2_000_000;

#[test]
fn coarse_gaussian_noise_has_the_right_probabilities() {
    let rng = &mut source("coarse_gaussian_noise_has_the_right_probabilities");
    let grid = Grid::for_l2(2f64.powi(24), 1).unwrap();
    assert_eq!(grid.spacing(), 1.0);
    let sigma = 2.9;
    let law = coarse_law(|x| 0.5 * erfc(x / (sigma * std::f64::consts::SQRT_2)));
    let limit = chi_square_limit(law.len());
    let statistic = |draw: &mut dyn FnMut() -> i128| chi_square(&coarse_histogram(COARSE_DRAWS, draw), &law);

    let noise = GaussianNoise::new(grid, sigma).unwrap();
    assert!(statistic(&mut || noise.sample(rng)) < limit);

    let wide = GaussianNoise::new(grid, sigma * 1.01).unwrap();
    assert!(statistic(&mut || wide.sample(rng)) > limit);
    // Truncation instead of rounding.
    let fine = GaussianNoise::new(Grid::for_l2(1.0, 1).unwrap(), sigma).unwrap();
    assert!(statistic(&mut || fine.sample(rng) >> 24) > limit);
    // A sign bias of half a percent.
    let biased = &mut || if rng.below(100) == 0 { noise.sample(rng).abs() } else { noise.sample(rng) };
    assert!(statistic(biased) > limit);
}

#[test]
fn coarse_laplace_noise_has_the_right_probabilities() {
    let rng = &mut source("coarse_laplace_noise_has_the_right_probabilities");
    let grid = Grid::for_l1(2f64.powi(24), 1).unwrap();
    let scale = 2.9;
    let law = coarse_law(|x| 0.5 * (-x / scale).exp());
    let limit = chi_square_limit(law.len());
    let statistic = |draw: &mut dyn FnMut() -> i128| chi_square(&coarse_histogram(COARSE_DRAWS, draw), &law);

    let noise = LaplaceNoise::new(grid, scale).unwrap();
    assert!(statistic(&mut || noise.sample(rng)) < limit);

    let wide = LaplaceNoise::new(grid, scale * 1.01).unwrap();
    assert!(statistic(&mut || wide.sample(rng)) > limit);
    let fine = LaplaceNoise::new(Grid::for_l1(1.0, 1).unwrap(), scale).unwrap();
    assert!(statistic(&mut || fine.sample(rng) >> 24) > limit);
}

#[test]
fn vectors_get_independent_noise_on_the_grid() {
    let rng = &mut source("vectors_get_independent_noise_on_the_grid");
    let grid = Grid::for_l2(1.0, 4).unwrap();
    let noise = GaussianNoise::new(grid, 0.5).unwrap();
    let mut values = [1.0, f64::NAN, f64::INFINITY, 1.0 / 3.0];
    noise.add_to(&mut values, rng);
    assert!(values.iter().all(|value| value.is_finite()));
    assert!(values.iter().all(|&value| grid.value(grid.round(value)) == value));
    assert_ne!(values[0] - 1.0, values[1]);
}

// ---------------------------------------------------------------------------------------------------------------
// The race against the exponential mechanism
// ---------------------------------------------------------------------------------------------------------------

const RACE_DRAWS: usize = 1_000_000;
const RACE_SCORES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

/// Probabilities of the six pairs under two rounds of the exponential mechanism without replacement.
fn pair_law(scale: f64) -> Vec<f64> {
    let weights = RACE_SCORES.map(|score| (score / scale).exp());
    let total: f64 = weights.iter().sum();
    let chance = weights.map(|weight| weight / total);
    let pair =
        |i: usize, j: usize| chance[i] * chance[j] * (1.0 / (1.0 - chance[i]) + 1.0 / (1.0 - chance[j]));
    (0..4).flat_map(|i| (i + 1..4).map(move |j| pair(i, j))).collect()
}

fn pair_counts(mut pair: impl FnMut() -> (usize, usize)) -> Vec<f64> {
    let mut counts = vec![0.0; 6];
    for _ in 0..RACE_DRAWS {
        let (i, j) = pair();
        counts[[[9, 0, 1, 2], [9, 9, 3, 4], [9, 9, 9, 5]][i][j]] += 1.0;
    }
    counts
}

/// Non-centrality at which a chi-square with few degrees of freedom exceeds its limit (38 for 5) with probability
/// 1 - 1e-6: `(sqrt(38) + 5)^2` is about 125.
const RACE_POWER: f64 = 125.0;

#[test]
fn the_race_is_the_sequential_exponential_mechanism() {
    let rng = &mut source("the_race_is_the_sequential_exponential_mechanism");
    let mut race = Race::new();
    let scale: f64 = 0.7;
    let law = pair_law(scale);
    let limit = chi_square_limit(law.len());
    let mut select = |scores: &[f64], scale: f64, rng: &mut RandomSource| {
        let winners = race.select(scores, scale, 2, rng).unwrap();
        (winners[0], winners[1])
    };
    assert!(chi_square(&pair_counts(|| select(&RACE_SCORES, scale, rng)), &law) < limit);

    // A scale off by 2%, whose power is computed rather than assumed.
    let off: f64 = law.iter().zip(pair_law(scale * 1.02)).map(|(p, q)| (p - q).powi(2) / p).sum();
    assert!(RACE_DRAWS as f64 * off > RACE_POWER);
    assert!(chi_square(&pair_counts(|| select(&RACE_SCORES, scale * 1.02, rng)), &law) > limit);
    // The score of one item not noised (up to the unit scale of what it competes with).
    let without_noise = |rng: &mut RandomSource| {
        let keys: Vec<f64> = (0..4)
            .map(|item| {
                let gumbel = if item == 1 { 0.0 } else { -exponential(rng).approximate(rng).ln() };
                RACE_SCORES[item] / scale + gumbel
            })
            .collect();
        let mut order = [0, 1, 2, 3];
        order.sort_by(|&i, &j| keys[j].total_cmp(&keys[i]));
        (order[0].min(order[1]), order[0].max(order[1]))
    };
    assert!(chi_square(&pair_counts(|| without_noise(rng)), &law) > limit);
}

#[test]
fn weighted_selection_is_the_exponential_mechanism() {
    let rng = &mut source("weighted_selection_is_the_exponential_mechanism");
    let mut race = Race::new();
    let scores = [3.0, 50.0, 2.0, -9.0];
    let multiplicities = [3, 0, 5, 1_000_000];
    let scale: f64 = 1.1;
    let weights: Vec<f64> =
        scores.iter().zip(multiplicities).map(|(s, m)| m as f64 * (s / scale).exp()).collect();
    let total: f64 = weights.iter().sum();
    let law: Vec<f64> = [0, 2, 3].map(|item: usize| weights[item] / total).to_vec();
    let limit = chi_square_limit(3);
    let mut counts = |multiplicities: &[u64; 4]| {
        let mut counts = [0.0; 4];
        for _ in 0..RACE_DRAWS {
            counts[race.select_weighted(&scores, multiplicities, scale, rng).unwrap()] += 1.0;
        }
        assert_eq!(counts[1], 0.0);
        [counts[0], counts[2], counts[3]]
    };
    assert!(chi_square(&counts(&multiplicities), &law) < limit);

    // One multiplicity off by 5% moves a cell of probability near 1/3 by about 1%: non-centrality above 400.
    assert!(chi_square(&counts(&[3, 0, 5, 1_050_000]), &law) > limit);
}

// ---------------------------------------------------------------------------------------------------------------
// Sensitivity of the rounded values
// ---------------------------------------------------------------------------------------------------------------

/// A finite number in units of 2^-1074, exact.
fn exact(value: f64) -> IBig {
    let bits = value.to_bits();
    let (biased, stored) = ((bits >> 52 & 0x7ff) as usize, bits & ((1 << 52) - 1));
    let magnitude =
        if biased == 0 { IBig::from(stored) } else { IBig::from(stored | 1 << 52) << (biased - 1) };
    if value < 0.0 { -magnitude } else { magnitude }
}

/// The smallest number from `start` on for which `enough` holds.
fn round_up_until(start: f64, enough: impl Fn(f64) -> bool) -> f64 {
    let mut value = start;
    while !enough(value) {
        value = value.next_up();
    }
    value
}

/// Pairs of coordinates, as multiples of the spacing: near half-grid points, far apart, and far beyond the clamp.
fn coordinate_pair() -> impl Strategy<Value = (f64, f64)> {
    let half_point = (-1000i32..1000).prop_map(|k| f64::from(k) + 0.5);
    let beside = prop_oneof![Just(0.0), Just(f64::EPSILON), Just(-f64::EPSILON), -1e-3..1e-3f64];
    let near = (half_point, beside.clone(), beside, -2i32..=2).prop_map(|(point, left, right, steps)| {
        (point * (1.0 + left), (point + f64::from(steps)) * (1.0 + right))
    });
    let far = (-1e9..1e9f64, -1e9..1e9f64);
    let huge = (-1e40..1e40f64, -1e40..1e40f64);
    let mixed = (-1e3..1e3f64, prop_oneof![Just(1e31), Just(-1e31), Just(2f64.powi(100)), Just(1e300)]);
    prop_oneof![4 => near, 2 => far, 1 => huge, 1 => mixed]
}

/// Fixed cases, so that a failure names the change that caused it.
fn property_config() -> ProptestConfig {
    ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(0x6772_6964),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(property_config())]

    #[test]
    fn rounding_never_exceeds_the_enlarged_sensitivity(
        pairs in prop::collection::vec(coordinate_pair(), 1..12),
        exponent in -60i32..20,
    ) {
        // One dimension and a sensitivity of 2^24 spacings give any wanted spacing.
        let grid = Grid::for_l2(2f64.powi(exponent + 24), 1).unwrap();
        let g = grid.spacing();
        prop_assert_eq!(g, 2f64.powi(exponent));
        let dimension = pairs.len();
        let distances: Vec<UBig> =
            pairs.iter().map(|(v, w)| (exact(v * g) - exact(w * g)).unsigned_abs()).collect();
        let steps: Vec<UBig> =
            pairs.iter().map(|(v, w)| UBig::from((grid.round(v * g) - grid.round(w * g)).unsigned_abs())).collect();
        let moved = |steps: &UBig| steps * exact(g).unsigned_abs();
        let size = |value: f64| exact(value).unsigned_abs();
        let float_distances: Vec<f64> = pairs.iter().map(|(v, w)| (v * g - w * g).abs()).collect();

        // Smallest sensitivities that cover the pair, then the enlarged ones against the rounded pair.
        let sum: UBig = distances.iter().fold(UBig::ZERO, |sum, d| sum + d);
        let start = float_distances.iter().sum::<f64>() * (1.0 - 1e-14);
        let l1 = round_up_until(start, |bound| size(bound) >= sum);
        prop_assert!(steps.iter().map(moved).fold(UBig::ZERO, |sum, d| sum + d) <= size(grid.enlarged_l1(l1, dimension)));

        let squares = distances.iter().fold(UBig::ZERO, |sum, d| sum + d.sqr());
        let scale = float_distances.iter().fold(0.0, |a: f64, &b| a.max(b)).max(f64::MIN_POSITIVE);
        let root = float_distances.iter().map(|d| (d / scale).powi(2)).sum::<f64>().sqrt() * scale;
        let l2 = round_up_until(root * (1.0 - 1e-14), |bound| size(bound).sqr() >= squares);
        let moved_squares = steps.iter().map(|s| moved(s).sqr()).fold(UBig::ZERO, |sum, d| sum + d);
        prop_assert!(moved_squares <= size(grid.enlarged_l2(l2, dimension)).sqr());

        let largest = distances.iter().max().unwrap();
        let linf = round_up_until(scale * (1.0 - 1e-14), |bound| size(bound) >= *largest);
        prop_assert!(steps.iter().all(|s| moved(s) <= size(grid.enlarged_linf(linf))));
    }

    #[test]
    fn the_grid_is_as_fine_as_promised(
        sensitivity in prop::num::f64::POSITIVE | prop::num::f64::NORMAL,
        dimension in 1usize..1 << 40,
    ) {
        prop_assume!(sensitivity.abs() > 1e-280);
        let sensitivity = sensitivity.abs();
        let size = |value: f64| exact(value).unsigned_abs();
        let dimensions = UBig::from(dimension);
        let l2 = size(Grid::for_l2(sensitivity, dimension).unwrap().spacing()) << 24;
        prop_assert!(l2.sqr() * &dimensions <= size(sensitivity).sqr());
        // Not needlessly fine: the power of two loses a factor 2, the dimension's root a factor 2.
        prop_assert!((l2 << 2).sqr() * &dimensions >= size(sensitivity).sqr());
        let l1 = size(Grid::for_l1(sensitivity, dimension).unwrap().spacing()) << 24;
        prop_assert!(&l1 * &dimensions <= size(sensitivity));
        prop_assert!((l1 << 2) * &dimensions >= size(sensitivity));
    }

    #[test]
    fn nothing_panics_on_any_number(
        sensitivity in prop::num::f64::ANY,
        scale in prop_oneof![prop::num::f64::ANY, (0.0..1e6f64)],
        value in prop::num::f64::ANY,
        other in prop::num::f64::ANY,
        dimension in any::<usize>(),
        winners in 0usize..5,
    ) {
        let rng = &mut source("nothing_panics_on_any_number");
        let mut race = Race::new();
        let chosen = race.select(&[value, other, 1.0], scale, winners, rng).map(<[usize]>::len);
        prop_assert!(chosen.is_err() || chosen == Ok(winners));
        prop_assert!(race.select_weighted(&[value, other], &[0, 7], scale, rng).unwrap_or(1) == 1);
        for grid in [Grid::for_l2(sensitivity, dimension), Grid::for_l1(sensitivity, dimension), Grid::for_l2(1.0, 3)] {
            let Ok(grid) = grid else { continue };
            prop_assert!(grid.spacing() >= f64::MIN_POSITIVE);
            let enlarged =
                [grid.enlarged_l2(sensitivity, dimension), grid.enlarged_l1(sensitivity, dimension)];
            if sensitivity.is_finite() && sensitivity > 0.0 {
                prop_assert!(enlarged.iter().all(|&enlarged| enlarged > sensitivity));
                prop_assert!(grid.enlarged_linf(sensitivity) > sensitivity);
            }
            prop_assert!(grid.value(grid.round(value)).is_finite());
            if let Ok(noise) = GaussianNoise::new(grid, scale) {
                let mut values = [value, other];
                noise.add_to(&mut values, rng);
                prop_assert!(values.iter().all(|value| value.is_finite()));
            }
            if let Ok(noise) = LaplaceNoise::new(grid, scale) {
                let mut values = [value, other];
                noise.add_to(&mut values, rng);
                prop_assert!(values.iter().all(|value| value.is_finite()));
            }
        }
    }
}
