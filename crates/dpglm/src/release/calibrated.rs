//! A plan with the noise that makes it meet its budget.

use super::Privacy;
use super::parts::{self, PartNames};
use super::plan::{Handle, PlannedRelease};
use super::replay::Probe;
use super::session::{ReleaseSession, not_planned};
#[cfg(test)]
use super::tape;
use crate::accounting::{Guarantee, account, calibrate, curve, part};
use crate::error::{Error, Result};
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, decimal};
use std::sync::{Arc, OnceLock};

/// A plan with the noise that makes it meet its budget, and what it guarantees.
#[derive(Debug, Clone)]
pub struct CalibratedPlan {
    pub(super) lines: Vec<PlannedRelease>,
    pub(super) fixed: Vec<Event>,
    pub(super) promise: Option<Promise>,
    /// Absent, but in audits.
    pub(super) probe: Probe,
}

#[derive(Debug, Clone)]
pub(super) struct Promise {
    /// Noise per unit of sensitivity at share 1.
    pub(super) multiplier: f64,
    pub(super) guarantee: Guarantee,
    /// The parts of the rows, if they pay apart.
    pub(super) parts: Option<PartNames>,
    /// Computed when it is first asked for: it takes longer than all of the planning.
    pub(super) curve: Arc<OnceLock<Vec<(f64, f64)>>>,
}

impl Promise {
    pub(super) fn new(multiplier: f64, guarantee: Guarantee, parts: Option<PartNames>) -> Self {
        Self { multiplier, guarantee, parts, curve: Arc::default() }
    }
}

impl CalibratedPlan {
    /// Calibrates a plan. Looks at public quantities only.
    pub(crate) fn new(plan: Vec<PlannedRelease>, privacy: Privacy) -> Result<Self> {
        Self::beside(Vec::new(), plan, privacy)
    }

    /// Calibrates a plan beside events whose noise is already known. Looks at public quantities only.
    pub(crate) fn beside(fixed: Vec<Event>, plan: Vec<PlannedRelease>, privacy: Privacy) -> Result<Self> {
        let promise = match privacy {
            Privacy::None => None,
            Privacy::Budget(budget) => Some(promise(&plan, &fixed, budget)?),
        };
        Ok(Self { lines: plan, fixed, promise, probe: Probe::default() })
    }

    /// A plan whose noise is given, not calibrated: this much per unit of sensitivity in the releases of its first line, and in others by
    /// their shares. It guarantees what that truly costs, and is refused where it costs more than the budget.
    pub(crate) fn at_noise(plan: Vec<PlannedRelease>, noise: f64, budget: Budget) -> Result<Self> {
        let multiplier = noise / plan.first().map_or(1.0, |line| line.noise(1.0));
        let events: Vec<Event> = plan.iter().map(|line| line.event(multiplier)).collect::<Result<_>>()?;
        let guarantee = account(&events, budget.delta())?;
        if guarantee.epsilon > budget.epsilon() {
            return Err(Error::Conflict(format!(
                "this noise costs epsilon {}, more than the {} that is stated: state less, where the printed noise may suffice, or let the noise be \
                 calibrated",
                decimal::rounded_up_to(guarantee.epsilon, 4),
                budget.epsilon()
            )));
        }
        let promise = Some(Promise::new(multiplier, guarantee, None));
        Ok(Self { lines: plan, fixed: Vec::new(), promise, probe: Probe::default() })
    }

    /// The same plan with its noise multiplied by a factor of at least 1, under the claim of before.
    pub(crate) fn with_more_noise(mut self, factor: f64) -> Self {
        self.curve();
        if let Some(promise) = &mut self.promise {
            promise.multiplier *= factor.max(1.0);
        }
        self
    }

    /// The same with its noise multiplied by a factor that the estimator knows of, under the claim of before: a twin for audits.
    #[cfg(test)]
    pub(crate) fn with_known_noise(mut self, factor: f64) -> Self {
        self.curve();
        self.promise.iter_mut().for_each(|promise| promise.multiplier *= factor);
        self
    }

    /// The same plan, watched or broken under an unchanged claim: for audits.
    pub(crate) fn probed(self, probe: Probe) -> Self {
        Self { probe, ..self }
    }

    /// Whether rows are in public parts that pay apart.
    pub(super) fn is_divided(&self) -> bool {
        self.promise.as_ref().is_some_and(|promise| promise.parts.is_some())
    }

    /// The planned events, with sensitivities in units of their own; empty without privacy.
    pub(crate) fn events(&self) -> Result<Vec<Event>> {
        let Some(promise) = &self.promise else { return Ok(Vec::new()) };
        let planned = self.lines.iter().map(|line| line.event(promise.multiplier));
        self.fixed.iter().cloned().map(Ok).chain(planned).collect()
    }

    /// The privacy curve of the plan. It says more than the guarantee, which stands without it where an extreme delta has no finite
    /// epsilon.
    pub(super) fn curve(&self) -> Vec<(f64, f64)> {
        let Some(promise) = &self.promise else { return Vec::new() };
        let compute = || -> Result<Vec<(f64, f64)>> {
            if promise.parts.is_some() {
                return part::curve(&self.events_of(parts::ALL)?, &self.planned_parts()?);
            }
            curve(&self.events()?)
        };
        promise.curve.get_or_init(|| compute().unwrap_or_default()).clone()
    }

    /// A session to spend the plan from, once.
    pub(crate) fn open<'a>(&'a self, rng: &'a mut RandomSource) -> ReleaseSession<'a> {
        let watch = self.probe.watch();
        #[cfg(test)]
        let watch = watch.or_else(|| tape::current().watch());
        ReleaseSession {
            plan: self,
            left: self.lines.iter().map(|p| p.count).collect(),
            fixed_left: self.fixed.clone(),
            stage: 0,
            events: Vec::new(),
            rng,
            watch: watch.map(|watch| (watch, Arc::new(self.clone().probed(self.probe.unwatched())))),
        }
    }

    /// The noise of a planned release per unit of sensitivity; zero without privacy.
    pub(crate) fn noise_per_sensitivity<K>(&self, what: Handle<K>, stage: u8) -> f64 {
        let planned = self.lines.iter().find(|line| line.is(what) && line.stage == stage);
        self.promise.as_ref().zip(planned).map_or(0.0, |(p, line)| line.noise(p.multiplier))
    }

    /// What `count` releases of this kind are charged as, with sensitivities in units of their own.
    pub(super) fn claim(&self, what: &'static str, stage: u8, count: u64) -> Result<Event> {
        let planned = self.lines.iter().find(|p| p.what == what && p.stage == stage);
        let fixed = self.fixed.iter().find(|e| e.release() == what);
        match (&self.promise, planned, fixed) {
            (Some(promise), Some(line), _) => {
                Event::new(what, line.event(promise.multiplier)?.noise(), count)
            }
            (Some(_), None, Some(event)) => Event::new(what, event.noise(), count),
            _ => Err(not_planned(what)),
        }
    }
}

fn promise(plan: &[PlannedRelease], fixed: &[Event], budget: Budget) -> Result<Promise> {
    let template: Vec<Event> = plan.iter().map(|p| p.event(1.0)).collect::<Result<_>>()?;
    let calibrated = calibrate(&template, fixed, budget)?;
    let (before, after) = (noise_to_sensitivity(&template), noise_to_sensitivity(&calibrated));
    // Given away: the rounding of sensitivities on the way from plan to release.
    let multiplier = after / before * (1.0 + 1e-9);
    let mut events: Vec<Event> = plan.iter().map(|p| p.event(multiplier)).collect::<Result<_>>()?;
    events.extend_from_slice(fixed);
    Ok(Promise::new(multiplier, account(&events, budget.delta())?, None))
}

/// The first event's noise relative to its sensitivity.
fn noise_to_sensitivity(events: &[Event]) -> f64 {
    events.first().map_or(1.0, |e| 1.0 / e.noise().intensity())
}
