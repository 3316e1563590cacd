//! Tracing attacks: does a record look as if an estimate had been computed from it?
//!
//! # The attacks (Cai et al. 2021)
//! | function | of | formula |
//! | --- | --- | --- |
//! | [`mean`] | §2.3, the example | `<x - mu, M>` |
//! | [`sparse_mean`] | (3.2) | `<(x - mu) on supp(mu), M - mu>` |
//! | [`linear`] | (4.2) | `<M - beta, (y - x'beta) x>` |
//! | [`sparse_linear`] | (4.5) | the same with `M - beta` on supp(beta) |
//!
//! Each is large for a record that the estimate M was computed from, and has mean zero for one that it was not. All but the
//! first, which does not subtract mu from M, are score attacks ([`super::score`]) up to the error's variance.
//!
//! # References
//! Cai et al. 2021 Lemmas 2.1, 3.2, 4.1 and 4.3.

/// `<x - mu, M>`, for a mean (Cai et al. 2021 §2.3).
pub fn mean(record: &[f64], truth: &[f64], estimate: &[f64]) -> f64 {
    (0..truth.len()).map(|j| (record[j] - truth[j]) * estimate[j]).sum()
}

/// `<(x - mu) on the support of mu, M - mu>`, for a mean of few coordinates that differ from zero (Cai et al. 2021 (3.2)).
pub fn sparse_mean(record: &[f64], truth: &[f64], estimate: &[f64]) -> f64 {
    let support = (0..truth.len()).filter(|&j| truth[j] != 0.0);
    support.map(|j| (record[j] - truth[j]) * (estimate[j] - truth[j])).sum()
}

/// `<M - beta, (y - x'beta) x>`, for linear regression (Cai et al. 2021 (4.2)).
pub fn linear(record: &[f64], response: f64, truth: &[f64], estimate: &[f64]) -> f64 {
    let inner: f64 = (0..truth.len()).map(|j| (estimate[j] - truth[j]) * record[j]).sum();
    residual(record, response, truth) * inner
}

/// The same on the support of beta alone (Cai et al. 2021 (4.5)).
pub fn sparse_linear(record: &[f64], response: f64, truth: &[f64], estimate: &[f64]) -> f64 {
    let support = (0..truth.len()).filter(|&j| truth[j] != 0.0);
    let inner: f64 = support.map(|j| (estimate[j] - truth[j]) * record[j]).sum();
    residual(record, response, truth) * inner
}

fn residual(record: &[f64], response: f64, truth: &[f64]) -> f64 {
    response - record.iter().zip(truth).map(|(x, b)| x * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::roc::Roc;
    use super::super::score::{Estimand, ScoreAttack};
    use super::*;
    use crate::central::{Privacy, PrivateMean};
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::Estimator;

    fn uniform(rng: &mut RandomSource) -> f64 {
        (rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    #[test]
    fn they_are_score_attacks() {
        let (truth, estimate) = ([0.5, 0.0, -1.0], [0.4, 0.3, -0.7]);
        let (record, y) = ([1.0, -0.5, 0.25], 0.8);
        let attack = |estimand| ScoreAttack::new(estimand, truth.to_vec());
        let linear_score = attack(Estimand::Glm(Family::gaussian()));
        let mean_score = attack(Estimand::Mean);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        close(linear(&record, y, &truth, &estimate), linear_score.value(&estimate, &record, y));
        close(
            sparse_linear(&record, y, &truth, &estimate),
            linear_score.on_support().value(&estimate, &record, y),
        );
        close(
            sparse_mean(&record, &truth, &estimate),
            mean_score.on_support().value(&estimate, &record, 0.0),
        );
    }

    /// the example of Cai et al. 2021: few rows of many columns. A plain mean gives every row away, a private one does not.
    #[test]
    fn a_plain_mean_of_many_columns_gives_its_rows_away_and_a_private_one_does_not() {
        let (n, d) = (60, 2_000);
        let mut rng = RandomSource::insecure_seeded(0x0074_7261_6369_6e67);
        let mut draw =
            || -> Vec<Vec<f64>> { (0..n).map(|_| (0..d).map(|_| uniform(&mut rng)).collect()).collect() };
        let (members, others) = (draw(), draw());
        let truth = vec![0.0; d];
        let plain: Vec<f64> = (0..d).map(|j| members.iter().map(|x| x[j]).sum::<f64>() / n as f64).collect();
        let table = Design::from_f64(n, d, members.concat()).unwrap();
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-3).unwrap());
        let private =
            PrivateMean::new(vec![(-1.0, 1.0); d]).unwrap().fit(&table, privacy, &mut rng).unwrap().means;
        let area = |estimate: &[f64]| {
            let score =
                |rows: &[Vec<f64>]| -> Vec<f64> { rows.iter().map(|x| mean(x, &truth, estimate)).collect() };
            Roc::of(&score(&members), &score(&others)).unwrap().area()
        };
        assert!(area(&plain) > 0.999, "{}", area(&plain));
        // Were members and others alike, an area beyond this would have probability below 1e-6 (Hoeffding for U-statistics).
        let limit = 0.5 + (1e6_f64.ln() / (2.0 * n as f64)).sqrt();
        assert!(area(&private) < limit && area(&plain) > limit, "{} {limit}", area(&private));
    }
}
