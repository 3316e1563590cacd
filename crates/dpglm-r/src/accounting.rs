//! Events, as the JSON they are everywhere.

use super::values;
use dpglm::accounting as library;
use dpglm::privacy::{Budget, Event};
use dpglm_workflow::{Failure, render};
use extendr_api::prelude::*;

type Done<T> = std::result::Result<T, Failure>;

/// Epsilon at a delta, by which bound, and the whole curve. Without a delta the guarantee is pure.
pub fn account(events: &Robj, delta: Option<f64>) -> Done<Robj> {
    let events: Vec<Event> = values::read(events)?;
    let delta = delta.unwrap_or(0.0);
    let guarantee = library::account(&events, delta)?;
    let curve = library::curve(&events)?;
    let (epsilons, deltas): (Vec<f64>, Vec<f64>) = curve.into_iter().unzip();
    Ok(list!(
        epsilon = guarantee.epsilon,
        delta = delta,
        bound = render::bound(guarantee.method),
        curve = list!(epsilon = epsilons, delta = deltas)
    )
    .into())
}

/// The template with noise that meets the budget beside what is spent. Without a delta the guarantee is pure.
pub fn calibrate(template: &Robj, spent: &Robj, epsilon: f64, delta: Option<f64>) -> Done<Robj> {
    let (template, spent): (Vec<Event>, Vec<Event>) = (values::read(template)?, values::read(spent)?);
    let budget = match delta {
        Some(delta) => Budget::new(epsilon, delta),
        None => Budget::pure(epsilon),
    }?;
    let calibrated = library::calibrate(&template, &spent, budget)?;
    let json =
        serde_json::to_string(&calibrated).map_err(|error| Failure::Failed(error.to_string().into()))?;
    values::parsed(&json)
}

/// A privacy number as it is printed, rounded up.
pub fn rounded_up(value: f64) -> String {
    dpglm::privacy::decimal::rounded_up(value)
}
