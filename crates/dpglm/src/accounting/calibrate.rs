//! From a budget to noise.
//!
//! # Algorithm
//! All noise scales of the template are multiplied by one factor, found by a search on the accountant's own epsilon: by a few secant
//! steps from the closed form of a Gaussian, and where these do not end, in a bracket. The factor returned has been accounted and meets
//! the budget: the search ends on the private side.

use super::{basic_epsilon, epsilon_at, gaussian};
use crate::error::{Error, Result};
use crate::privacy::{Budget, Event, Noise};

/// Relative precision of the noise factor where the accountant is numerical.
const PRECISION: f64 = 1e-6;

/// The events of `template` with their noise scaled by the smallest factor that, together with the already `spent`
/// events, meets the budget.
///
/// ```
/// use dpglm::accounting::{calibrate, epsilon_at};
/// use dpglm::privacy::{Budget, Event, Noise};
///
/// // Twenty gradient steps of sensitivity 1: the sigma here is only a starting shape.
/// let template = [Event::new("gradient", Noise::Gaussian { sensitivity: 1.0, sigma: 1.0 }, 20)?];
/// let events = calibrate(&template, &[], Budget::new(0.5, 1e-5)?)?;
/// assert!(epsilon_at(&events, 1e-5)? <= 0.5);
/// # Ok::<(), dpglm::Error>(())
/// ```
pub fn calibrate(template: &[Event], spent: &[Event], budget: Budget) -> Result<Vec<Event>> {
    if template.is_empty() {
        return Err(Error::Conflict(
            "calibrate needs at least one event whose noise may change: the template is empty".into(),
        ));
    }
    let unreachable = |reason: String| Error::BudgetUnreachable {
        epsilon: budget.epsilon().to_string(),
        delta: budget.delta().to_string(),
        reason,
    };
    let finish = |factor: f64| template.iter().map(|e| e.with_noise_scaled(factor)).collect();
    if budget.is_pure() {
        return finish(pure_factor(template, spent, budget).map_err(unreachable)?);
    }
    if !spent.is_empty() {
        let used = epsilon_at(spent, budget.delta())?;
        if used >= budget.epsilon() {
            return Err(unreachable(format!(
                "the events already spent cost epsilon {used} on their own; raise the budget"
            )));
        }
    }
    let (start, stride) = gaussian_factor(template, spent, budget).unwrap_or((1.0, 0.2));
    let cost = |factor: f64| -> Result<f64> {
        let mut events: Vec<Event> =
            template.iter().map(|e| e.with_noise_scaled(factor)).collect::<Result<_>>()?;
        events.extend_from_slice(spent);
        epsilon_at(&events, budget.delta())
    };
    // A closed form that is exact needs no search but for its last digits.
    if stride > 1e-9
        && let Some(factor) = secant(start, budget, &cost)
    {
        return finish(factor);
    }
    let (mut low, mut high) = bracket(start, stride, budget.epsilon(), &cost).ok_or_else(|| {
        unreachable("the noise would leave the range of double precision; rescale the template".into())
    })?;
    // Regula falsi on logarithms, halving the stale end's weight (Illinois), with a bisection whenever it stalls.
    let target = budget.epsilon().ln();
    let height = |epsilon: f64| (epsilon.ln() - target).max(-10.0);
    let (mut above, mut below) = (height(low.1), height(high.1));
    while high.0 / low.0 > 1.0 + PRECISION && below < -0.1 * PRECISION {
        let (a, b) = (low.0.ln(), high.0.ln());
        let guess = b + (a - b) * (below / (below - above)).clamp(0.02, 0.98);
        let factor = guess.exp();
        let epsilon = cost(factor)?;
        if epsilon <= budget.epsilon() {
            (high, below, above) = ((factor, epsilon), height(epsilon), 0.5 * above);
        } else {
            (low, above, below) = ((factor, epsilon), height(epsilon), 0.5 * below);
        }
    }
    finish(high.0)
}

/// The closed form where everything is Gaussian, and nearly right where selections and pure releases count as Gaussians of
/// the same zCDP; with a stride that leads from there to the other side.
fn gaussian_factor(template: &[Event], spent: &[Event], budget: Budget) -> Option<(f64, f64)> {
    let mut exact = true;
    let mut square = |events: &[Event]| -> Option<f64> {
        let mut sum = 0.0;
        for event in events {
            let noise = event.noise();
            let share = match noise {
                Noise::Gaussian { .. } => 1.0,
                Noise::Selection { .. } => 0.25,
                Noise::Laplace { .. } | Noise::Pure { .. } => 1.0,
                Noise::Zcdp { .. } | Noise::Approximate { .. } => return None,
            };
            exact &= matches!(noise, Noise::Gaussian { .. });
            sum += share * event.count() as f64 * noise.intensity().powi(2);
        }
        Some(sum)
    };
    let allowed = gaussian::largest_mu(budget.epsilon(), budget.delta()).powi(2) - square(spent)?;
    let factor = (square(template)? / allowed).sqrt();
    // A closed form is either right or short by its last digits.
    (factor.is_finite() && factor > 0.0).then_some((factor, if exact { 1e-10 } else { 1e-4 }))
}

/// A pure budget adds up: the factor at which the sum of the pure losses meets it.
fn pure_factor(template: &[Event], spent: &[Event], budget: Budget) -> std::result::Result<f64, String> {
    let unbounded = || "Gaussian and zCDP releases have no pure guarantee; grant a delta above 0".to_string();
    let used = basic_epsilon(spent).ok_or_else(unbounded)?;
    let wanted = basic_epsilon(template).ok_or_else(unbounded)?;
    let room = budget.epsilon() - used;
    // Rounded so that the sum, taken again, stays within the budget.
    let factor = wanted / room * (1.0 + 1e-12);
    if room > 0.0 && factor.is_finite() {
        return Ok(factor);
    }
    Err(format!("the events already spent cost epsilon {used} on their own; raise the budget"))
}

/// A factor that meets the budget within the precision, if the secant method finds one in a few steps from a start nearby. The first
/// step takes the slope of a Gaussian's epsilon, `mu^2 / 2 + mu t` for `t = sqrt(2 ln 1/delta)`; all aim a little to the private side.
fn secant(start: f64, budget: Budget, cost: &impl Fn(f64) -> Result<f64>) -> Option<f64> {
    const STEPS: usize = 5;
    let t = (-2.0 * budget.delta().ln()).sqrt();
    let mu = gaussian::largest_mu(budget.epsilon(), budget.delta());
    let mut slope = -(mu + t) / (0.5 * mu + t);
    let (target, mut factor) = (budget.epsilon().ln(), start.ln());
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..STEPS {
        let epsilon = cost(factor.exp()).ok()?;
        let miss = epsilon.ln() - target;
        if epsilon <= budget.epsilon() && miss > slope * PRECISION {
            return Some(factor.exp());
        }
        if let Some((before, missed)) = last {
            let seen = (miss - missed) / (factor - before);
            slope = if (-3.0..-0.3).contains(&seen) { seen } else { slope };
        }
        last = Some((factor, miss));
        factor -= miss / slope - 0.3 * PRECISION;
        if !factor.is_finite() || (factor - start.ln()).abs() > 0.5 {
            return None;
        }
    }
    None
}

/// A noise factor and the epsilon it leads to.
type Trial = (f64, f64);

/// Two factors: one whose noise is too small, and a larger one that meets the budget.
fn bracket(
    start: f64,
    mut stride: f64,
    budget: f64,
    cost: &impl Fn(f64) -> Result<f64>,
) -> Option<(Trial, Trial)> {
    let (mut low, mut high): (Option<Trial>, Option<Trial>) = (None, None);
    let mut factor = start;
    while low.is_none() || high.is_none() {
        // Epsilon falls at least as fast as noise grows: a stride as long as the miss leads to the other side.
        let (fits, miss) = match cost(factor) {
            Ok(epsilon) if epsilon <= budget => {
                high = Some((factor, epsilon));
                (true, (budget / epsilon).ln())
            }
            Ok(epsilon) => {
                low = Some((factor, epsilon));
                (false, (epsilon / budget).ln())
            }
            // Out of the range of f64: too much noise on the way up is hopeless, too little on the way down is a bound.
            Err(_) if low.is_some() => return None,
            Err(_) => {
                low = Some((factor, f64::MAX));
                (false, 0.0)
            }
        };
        let length = miss.min(1.0).max(stride);
        factor *= if fits { (-length).exp() } else { length.exp() };
        // Strides grow to reach an extreme template.
        stride = (stride * 30.0).min(30.0);
    }
    low.zip(high)
}
