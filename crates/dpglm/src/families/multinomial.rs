//! The multinomial (softmax) family: one linear predictor per class, the first class as reference.

use super::likelihood::{RowScore, finite};

/// Class probabilities from the predictors of the classes after the first, whose own predictor is zero. Writes one
/// probability per predictor and returns that of the reference class.
pub fn probabilities(predictors: &[f64], out: &mut [f64]) -> f64 {
    let largest = predictors.iter().fold(0.0_f64, |m, u| m.max(*u));
    let mut total = (-largest).exp();
    for (p, u) in out.iter_mut().zip(predictors) {
        *p = (u - largest).exp();
        total += *p;
    }
    for p in out.iter_mut() {
        *p /= total;
    }
    (-largest).exp() / total
}

/// Writes the residuals of maximum likelihood, of every class with its own predictor, counted from its base.
pub(super) fn likelihood_score(y: f64, base: &[f64], predictors: &[f64], residuals: &mut [f64]) -> RowScore {
    for ((p, u), base) in residuals.iter_mut().zip(predictors).zip(base) {
        *p = finite(u + base);
    }
    let largest = residuals.iter().fold(f64::NEG_INFINITY, |m, u| m.max(*u));
    residuals.iter_mut().for_each(|u| *u = (*u - largest).exp());
    let total: f64 = residuals.iter().sum();
    let (mut squares, mut least) = (0.0, 1.0_f64);
    for p in residuals.iter_mut() {
        *p /= total;
        squares += *p * *p;
        least = least.min(*p);
    }
    let worst = (1.0 - 2.0 * least + squares).max(0.0).sqrt();
    let mut own = 0.0;
    for (class, p) in residuals.iter_mut().enumerate() {
        *p = f64::from(u8::from(class as f64 == y)) - *p;
        own += *p * *p;
    }
    // The own norm is no larger but for rounding.
    RowScore { size: worst.max(own.sqrt()), slope: 1.0 - squares }
}

/// The bounded score `cap_share * (p - e_y)`: a multiple of the residual that depends on the predictors only, so its
/// conditional mean is zero, and whose l2 norm is at most [`cap`].
pub(crate) fn bounded_score(predictors: &[f64], class: usize, out: &mut [f64]) {
    let classes = predictors.len() + 1;
    let reference = probabilities(predictors, out);
    let squares: f64 = out.iter().map(|p| p * p).sum();
    // |p - e_k|^2 over the free classes: squares - 2 p_k + 1, or squares for the reference class.
    let least = out.iter().fold(f64::INFINITY, |m, p| m.min(*p));
    let largest = (squares + 1.0 - 2.0 * least).max(squares).max(reference * reference);
    let share = (cap(classes) / largest.sqrt()).min(1.0) * (1.0 - 1e-12);
    for (k, p) in out.iter_mut().enumerate() {
        let residual = *p - f64::from(u8::from(k + 1 == class));
        *p = if residual.is_finite() { share * residual } else { 0.0 };
    }
}

/// The bound on the score's l2 norm: that of the residual of a free class at equal probabilities.
pub fn cap(classes: usize) -> f64 {
    let k = classes as f64;
    ((1.0 - 1.0 / k).powi(2) + (k - 2.0) / (k * k)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_has_mean_zero_and_stays_within_its_cap() {
        for predictors in [vec![0.0], vec![1.0, -2.0], vec![5.0, 5.0, -30.0], vec![700.0, -700.0]] {
            let mut p = vec![0.0; predictors.len()];
            let reference = probabilities(&predictors, &mut p);
            let mut mean = vec![0.0; predictors.len()];
            for class in 0..=predictors.len() {
                let mut score = vec![0.0; predictors.len()];
                bounded_score(&predictors, class, &mut score);
                let norm = score.iter().map(|s| s * s).sum::<f64>().sqrt();
                assert!(norm <= cap(predictors.len() + 1), "{predictors:?} class {class}: {norm}");
                let mass = if class == 0 { reference } else { p[class - 1] };
                for (m, s) in mean.iter_mut().zip(&score) {
                    *m += mass * s;
                }
            }
            assert!(mean.iter().all(|m| m.abs() < 1e-12), "{predictors:?}: {mean:?}");
        }
    }

    #[test]
    fn two_classes_are_the_logistic_family() {
        assert!((cap(2) - 0.5).abs() < 1e-15);
        let mut score = [0.0];
        bounded_score(&[0.8], 1, &mut score);
        let p = 1.0 / (1.0 + (-0.8_f64).exp());
        assert!((score[0] - (p - 1.0) / (2.0 * p)).abs() < 1e-10);
    }
}
