//! One budget, many releases: each release draws a planned share, and nothing leaves outside the purse.
//!
//! # Algorithm
//! A plan lists every release with its share of the budget (shares are of `rho`: a Gaussian of share f has
//! `mu^2 = f mu_total^2`, a selection the bounded range that gives the same rho). The accountant calibrates one noise
//! multiplier for the whole plan and computes the guarantee, before any data is seen. While the estimator runs, a release
//! that was not planned is refused, and so is one whose noise is less than planned. Sensitivities may depend on earlier releases, noise per unit
//! of sensitivity may not: that is what composition rests on (`docs/proofs/composition.md`).
//!
//! A release whose noise an estimator has to find by itself (objective perturbation, a random projection) is planned as a
//! *fixed* event of known (epsilon, delta); the others' noise is calibrated to what it leaves.
//!
//! A plan may have stages ([`Planned::at`]): releases of the same name are then told apart by the stage that the purse is in,
//! and no release of one stage can be paid from another's. [`split`] builds plans for rows in public parts on it.

pub(crate) mod split;
#[cfg(test)]
pub(crate) mod tape;

use crate::accounting::gaussian::largest_mu;
use crate::accounting::{Guarantee, account, calibrate, curve};
use crate::error::{Error, Result};
use crate::mechanisms::{Candidates, GaussianVector, LaplacePeeling, LaplaceVector, PrivateQuantile};
use crate::noise::{Race, RandomSource};
use crate::privacy::{Adjacency, Budget, Certificate, Event, Noise};
use std::collections::BTreeSet;

/// The privacy asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Privacy {
    /// An (epsilon, delta) budget for everything that leaves.
    Budget(Budget),
    /// No privacy: the same planned algorithm with no noise, to see what privacy costs.
    None,
}

impl Privacy {
    /// The budget as the `mu` of one Gaussian release, for planning. 1 without a finite or approximate budget.
    pub(crate) fn mu(&self) -> f64 {
        match self {
            Privacy::Budget(budget) if !budget.is_pure() => largest_mu(budget.epsilon(), budget.delta()),
            _ => 1.0,
        }
    }
}

/// One line of a plan: `count` releases of one kind that share `share` of the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Planned {
    pub what: &'static str,
    kind: Kind,
    pub share: f64,
    count: u64,
    stage: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gaussian,
    Selection,
    /// Report-noisy-max with Laplace noise.
    NoisyMax,
    Laplace,
}

impl Planned {
    pub(crate) fn gaussian(what: &'static str, share: f64, count: u64) -> Self {
        Self { what, kind: Kind::Gaussian, share, count, stage: 0 }
    }

    /// `count` quantiles among `candidates`, each with at least 1% of the budget, and up to 5% where there are so few
    /// units that noise in their ranks could carry it past all of them.
    pub(crate) fn quantiles(
        what: &'static str,
        candidates: Candidates,
        count: u64,
        units: usize,
        privacy: Privacy,
    ) -> Self {
        // Noise of scale 1/(mu sqrt(share)) on ranks stays within a quarter of the units.
        let reach = 4.0 * ((candidates.count() as f64).ln() + 3.0) / (units as f64 * privacy.mu());
        Self::selection(what, count as f64 * (reach * reach).clamp(0.01, 0.05), count)
    }

    pub(crate) fn selection(what: &'static str, share: f64, count: u64) -> Self {
        Self { what, kind: Kind::Selection, share, count, stage: 0 }
    }

    /// `count` choices by report-noisy-max with Laplace noise. A pure epsilon0 has rho `epsilon0^2 / 2`, as a Gaussian of the
    /// same mu.
    pub(crate) fn noisy_max(what: &'static str, share: f64, count: u64) -> Self {
        Self { what, kind: Kind::NoisyMax, share, count, stage: 0 }
    }

    /// `count` numbers with Laplace noise.
    pub(crate) fn laplace(what: &'static str, share: f64, count: u64) -> Self {
        Self { what, kind: Kind::Laplace, share, count, stage: 0 }
    }

    /// The same line with this factor on its share, to be spent in a later stage.
    pub(crate) fn at(self, stage: u8, factor: f64) -> Self {
        Self { stage, share: factor * self.share, ..self }
    }

    /// The same share for `times` as many releases.
    pub(crate) fn times(self, times: u64) -> Self {
        Self { count: self.count * times, ..self }
    }

    /// The noise of each release per unit of sensitivity.
    fn noise(&self, multiplier: f64) -> f64 {
        multiplier / (self.share / self.count as f64).sqrt()
    }

    fn event(&self, multiplier: f64) -> Result<Event> {
        let noise = self.noise(multiplier);
        let noise = match self.kind {
            Kind::Gaussian => Noise::Gaussian { sensitivity: 1.0, sigma: noise },
            Kind::Selection => Noise::Selection { sensitivity: 1.0, scale: noise },
            // Scores may rise and fall, so the scale is twice what a number of the same epsilon needs.
            Kind::NoisyMax => Noise::Pure { epsilon: 1.0 / noise },
            Kind::Laplace => Noise::Laplace { sensitivity: 1.0, scale: noise },
        };
        Event::new(self.what, noise, self.count)
    }
}

/// A plan with the noise that makes it meet its budget, and what it guarantees.
#[derive(Debug, Clone)]
pub(crate) struct Calibration {
    plan: Vec<Planned>,
    fixed: Vec<Event>,
    promise: Option<Promise>,
    /// 1, but for the broken twins of audits.
    noise_share: f64,
}

#[derive(Debug, Clone)]
struct Promise {
    /// Noise per unit of sensitivity at share 1.
    multiplier: f64,
    guarantee: Guarantee,
    curve: Vec<(f64, f64)>,
}

impl Calibration {
    /// Calibrates a plan. Looks at public quantities only.
    pub(crate) fn new(plan: Vec<Planned>, privacy: Privacy) -> Result<Self> {
        Self::beside(Vec::new(), plan, privacy)
    }

    /// Calibrates a plan beside events whose noise is already known. Looks at public quantities only.
    pub(crate) fn beside(fixed: Vec<Event>, plan: Vec<Planned>, privacy: Privacy) -> Result<Self> {
        let promise = match privacy {
            Privacy::None => None,
            Privacy::Budget(budget) => Some(promise(&plan, &fixed, budget)?),
        };
        Ok(Self { plan, fixed, promise, noise_share: 1.0 })
    }

    /// The same plan with its noise multiplied by `share` under an unchanged claim. A broken twin for audits.
    pub(crate) fn with_noise_share(mut self, share: f64) -> Self {
        if let Some(promise) = &mut self.promise {
            promise.multiplier *= share;
        }
        self.noise_share *= share;
        self
    }

    /// The planned events, with sensitivities in units of their own; empty without privacy.
    pub(crate) fn events(&self) -> Result<Vec<Event>> {
        let Some(promise) = &self.promise else { return Ok(Vec::new()) };
        let planned = self.plan.iter().map(|line| line.event(promise.multiplier));
        self.fixed.iter().cloned().map(Ok).chain(planned).collect()
    }

    /// A purse to spend the plan from, once.
    pub(crate) fn open<'a>(&'a self, rng: &'a mut RandomSource) -> Purse<'a> {
        Purse {
            calibration: self,
            left: self.plan.iter().map(|p| p.count).collect(),
            fixed_left: self.fixed.clone(),
            stage: 0,
            events: Vec::new(),
            rng,
            #[cfg(test)]
            tape: tape::take(),
        }
    }

    /// The noise of a planned release per unit of sensitivity; zero without privacy.
    fn noise_per_sensitivity(&self, what: &str, stage: u8) -> f64 {
        let planned = self.plan.iter().find(|p| p.what == what && p.stage == stage);
        self.promise.as_ref().zip(planned).map_or(0.0, |(p, line)| line.noise(p.multiplier))
    }
}

fn promise(plan: &[Planned], fixed: &[Event], budget: Budget) -> Result<Promise> {
    let template: Vec<Event> = plan.iter().map(|p| p.event(1.0)).collect::<Result<_>>()?;
    let calibrated = calibrate(&template, fixed, budget)?;
    let (before, after) = (noise_to_sensitivity(&template), noise_to_sensitivity(&calibrated));
    // Given away: the rounding of sensitivities on the way from plan to release.
    let multiplier = after / before * (1.0 + 1e-9);
    let mut events: Vec<Event> = plan.iter().map(|p| p.event(multiplier)).collect::<Result<_>>()?;
    events.extend_from_slice(fixed);
    Ok(Promise { multiplier, guarantee: account(&events, budget.delta())?, curve: curve(&events)? })
}

/// The first event's noise relative to its sensitivity.
fn noise_to_sensitivity(events: &[Event]) -> f64 {
    events.first().map_or(1.0, |e| 1.0 / e.noise().intensity())
}

/// A calibrated plan being spent.
pub(crate) struct Purse<'a> {
    calibration: &'a Calibration,
    left: Vec<u64>,
    fixed_left: Vec<Event>,
    stage: u8,
    /// What left, with the stage it left in.
    events: Vec<(u8, Event)>,
    rng: &'a mut RandomSource,
    #[cfg(test)]
    tape: tape::Tape,
}

#[cfg(test)]
impl Drop for Purse<'_> {
    fn drop(&mut self) {
        tape::put_back(std::mem::take(&mut self.tape));
    }
}

impl Purse<'_> {
    /// The noise of a planned release per unit of sensitivity; zero without privacy.
    pub(crate) fn noise_per_sensitivity(&self, what: &str) -> f64 {
        self.calibration.noise_per_sensitivity(what, self.stage)
    }

    /// Whether such a release is planned for this stage.
    pub(crate) fn plans(&self, what: &str) -> bool {
        self.calibration.plan.iter().any(|p| p.what == what && p.stage == self.stage)
    }

    /// Takes `count` planned releases out of the plan and gives their noise per unit of sensitivity; `None` without
    /// privacy.
    fn take(&mut self, what: &str, kind: Kind, count: u64) -> Result<Option<f64>> {
        let planned = |p: &Planned| p.what == what && p.kind == kind && p.stage == self.stage;
        let place = self.calibration.plan.iter().position(planned);
        let Some((place, left)) =
            place.and_then(|i| Some((i, self.left.get_mut(i).filter(|left| **left >= count)?)))
        else {
            return Err(Error::Conflict(format!(
                "the release of the {what} was not planned, so nothing pays for it"
            )));
        };
        *left -= count;
        Ok(self.calibration.promise.as_ref().map(|p| self.calibration.plan[place].noise(p.multiplier)))
    }

    /// Notes what left, after checking that its noise is no less than planned.
    fn record(&mut self, what: &str, event: &Event, planned: f64) -> Result<()> {
        let noise = event.noise();
        let allowed = match noise {
            Noise::Selection { .. } => 2.0 / planned,
            _ => 1.0 / planned,
        };
        if noise.intensity() > allowed * (1.0 + 1e-12) {
            return Err(Error::Conflict(format!(
                "the release of the {what} has less noise than planned: nothing is released"
            )));
        }
        let count = match self.events.last() {
            Some((stage, last))
                if *stage == self.stage && last.release() == what && last.noise() == noise =>
            {
                let count = last.count() + event.count();
                self.events.pop();
                count
            }
            _ => event.count(),
        };
        self.events.push((self.stage, Event::new(what, noise, count)?));
        Ok(())
    }

    /// Releases a vector of the given l2 sensitivity, in place.
    pub(crate) fn vector(&mut self, what: &str, values: &mut Vec<f64>, sensitivity: f64) -> Result<()> {
        let Some(noise) = self.take(what, Kind::Gaussian, 1)? else { return Ok(()) };
        // The grid enlarges the event's sensitivity by a part in 2^24 at most; the noise is raised to match.
        let mechanism =
            GaussianVector::new(sensitivity, sensitivity * noise * (1.0 + 2f64.powi(-23)), values.len())?;
        #[cfg(test)]
        let exact = values.clone();
        let release = mechanism.release(values, self.rng)?;
        *values = release.value;
        #[cfg(test)]
        self.tape.vector(what, &exact, sensitivity, values);
        release.events.iter().try_for_each(|event| self.record(what, event, noise))
    }

    /// Releases a quantile of numbers of which there is one per unit.
    pub(crate) fn quantile(
        &mut self,
        what: &str,
        values: &[f64],
        candidates: Candidates,
        q: f64,
    ) -> Result<f64> {
        let Some(scale) = self.take(what, Kind::Selection, 1)? else {
            // Without privacy: the same candidates, no noise to speak of.
            let mut exact = PrivateQuantile::new(candidates, q, 1e-9)?;
            return Ok(exact.release(values, &mut RandomSource::insecure_seeded(0))?.value);
        };
        let release = PrivateQuantile::new(candidates, q, scale)?.release(values, self.rng)?;
        release.events.iter().try_for_each(|event| self.record(what, event, scale))?;
        #[cfg(test)]
        let release = self.tape.quantile(release);
        Ok(release.value)
    }

    /// `count` of the numbers below `of`, ascending, every set as likely as any other: coins that are not released.
    pub(crate) fn sample(&mut self, of: usize, count: usize) -> Vec<usize> {
        // Floyd's algorithm: after each step the set is a uniform one of the numbers up to `last`.
        let mut chosen = BTreeSet::new();
        for last in of.saturating_sub(count)..of {
            let place = self.rng.below(last as u64 + 1) as usize;
            if !chosen.insert(place) {
                chosen.insert(last);
            }
        }
        let chosen: Vec<usize> = chosen.into_iter().collect();
        #[cfg(test)]
        let chosen = self.tape.coins(chosen);
        chosen
    }

    /// Which `count` of the scores are the largest, ascending, by one-shot Gumbel noise; one unit moves each score by at most
    /// `sensitivity`. `count` planned selections pay for it. A score that is not a number counts as the lowest.
    pub(crate) fn top(
        &mut self,
        what: &str,
        scores: &[f64],
        count: usize,
        sensitivity: f64,
    ) -> Result<Vec<usize>> {
        let scale = self.take(what, Kind::Selection, count as u64)?.map(|noise| noise * sensitivity);
        let Some(scale) = scale else {
            return Ok(largest(scores, count));
        };
        // In units of a power of two near the scale, which is exact: races are run within a narrower range than models.
        let unit = 2f64.powi(scale.log2().floor() as i32);
        let units: Vec<f64> = scores.iter().map(|score| score / unit).collect();
        let mut chosen = Race::new().select(&units, scale / unit, count, self.rng)?.to_vec();
        chosen.sort_unstable();
        let event = Event::new(what, Noise::Selection { sensitivity, scale }, count as u64)?;
        self.record(what, &event, scale / sensitivity)?;
        #[cfg(test)]
        let chosen = self.tape.top(what, scores, sensitivity, chosen);
        Ok(chosen)
    }

    /// Which `count` of the scores are the largest, ascending, one after the other by report-noisy-max with Laplace noise.
    /// `count` planned choices pay for it.
    pub(crate) fn peel(
        &mut self,
        what: &str,
        scores: &[f64],
        count: usize,
        sensitivity: f64,
    ) -> Result<Vec<usize>> {
        let Some(noise) = self.take(what, Kind::NoisyMax, count as u64)? else {
            return Ok(largest(scores, count));
        };
        // The grid enlarges the sensitivity by a part in 2^24 at most; the noise is raised to match.
        let scale = 2.0 * noise * sensitivity * (1.0 + 2f64.powi(-23));
        let peeling = LaplacePeeling::new(count, sensitivity, scale, scores.len())?;
        let (chosen, event) = peeling.choose(scores, self.rng)?;
        self.record(what, &event, noise)?;
        #[cfg(test)]
        let chosen = self.tape.top(what, scores, sensitivity, chosen);
        Ok(chosen)
    }

    /// Releases numbers, each of the given sensitivity, one by one with Laplace noise, in place.
    pub(crate) fn each(&mut self, what: &str, values: &mut [f64], sensitivity: f64) -> Result<()> {
        let count = values.len() as u64;
        let Some(noise) = self.take(what, Kind::Laplace, count)? else { return Ok(()) };
        let scale = noise * sensitivity * (1.0 + 2f64.powi(-23));
        for value in values.iter_mut() {
            let release = LaplaceVector::new(sensitivity, scale, 1)?.release(&[*value], self.rng)?;
            release.events.iter().try_for_each(|event| self.record(what, event, noise))?;
            let released = release.value.first().copied().unwrap_or(0.0);
            #[cfg(test)]
            let released = self.tape.number(what, *value, sensitivity, released);
            *value = released;
        }
        Ok(())
    }

    /// One of several groups of public candidates by the exponential mechanism, and the place of the winner in its group.
    /// All candidates of a group share one score, of which one unit moves each by at most 1.
    pub(crate) fn group(&mut self, what: &str, scores: &[f64], sizes: &[u64]) -> Result<(usize, u64)> {
        let Some(scale) = self.take(what, Kind::Selection, 1)? else {
            let best = (0..scores.len()).max_by(|&i, &j| scores[i].total_cmp(&scores[j]));
            return Ok((best.unwrap_or(0), 0));
        };
        let chosen = Race::new().select_weighted(scores, sizes, scale, self.rng)?;
        let event = Event::new(what, Noise::Selection { sensitivity: 1.0, scale }, 1)?;
        self.record(what, &event, scale)?;
        Ok((chosen, self.rng.below(sizes.get(chosen).copied().unwrap_or(1))))
    }

    /// Pays for a fixed release: the random source for its noise, and the share of it to add (1, but for the broken twins
    /// of audits). `None` without privacy.
    pub(crate) fn fixed(&mut self, what: &str) -> Result<Option<(&mut RandomSource, f64)>> {
        if self.calibration.promise.is_none() {
            return Ok(None);
        }
        let Some(place) = self.fixed_left.iter().position(|e| e.release() == what) else {
            return Err(Error::Conflict(format!(
                "the release of the {what} was not planned, so nothing pays for it"
            )));
        };
        self.events.push((self.stage, self.fixed_left.remove(place)));
        Ok(Some((self.rng, self.calibration.noise_share)))
    }

    /// Releases from here on are those planned for this stage.
    pub(crate) fn enter(&mut self, stage: u8) {
        self.stage = stage;
    }

    /// The certificate for everything that left, under the guarantee of the whole plan.
    pub(crate) fn close(mut self, adjacency: Adjacency) -> Certificate {
        match &self.calibration.promise {
            None => Certificate::without_promise(
                adjacency,
                Vec::new(),
                "no noise was added (epsilon is infinite)",
            ),
            Some(promise) => Certificate::accounted(
                adjacency,
                std::mem::take(&mut self.events).into_iter().map(|(_, event)| event).collect(),
                promise.guarantee,
                promise.curve.clone(),
                &*self.rng,
            ),
        }
    }
}

/// The places of the `count` largest scores, ascending, without noise; what is not a number counts as the lowest.
fn largest(scores: &[f64], count: usize) -> Vec<usize> {
    let lowest = |j: usize| if scores[j].is_nan() { f64::NEG_INFINITY } else { scores[j] };
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&i, &j| lowest(j).total_cmp(&lowest(i)).then(i.cmp(&j)));
    order.truncate(count);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Privacy {
        Privacy::Budget(Budget::new(2.0, 1e-5).unwrap())
    }

    #[test]
    fn the_largest_scores_are_chosen_once_and_paid_for() {
        let plan = vec![Planned::selection("support", 1.0, 2)];
        for privacy in [budget(), Privacy::None] {
            let calibration = Calibration::new(plan.clone(), privacy).unwrap();
            let mut rng = RandomSource::from_os().unwrap();
            let mut purse = calibration.open(&mut rng);
            let chosen = purse.top("support", &[1e6, 0.0, f64::NAN, 2e6, -1e6], 2, 1.0).unwrap();
            assert_eq!(chosen, [0, 3]);
            assert!(purse.top("support", &[1.0, 2.0], 1, 1.0).is_err());
            assert!(purse.top("other", &[1.0, 2.0], 1, 1.0).is_err());
        }
        let calibration = Calibration::new(plan, budget()).unwrap();
        let mut rng = RandomSource::from_os().unwrap();
        let mut purse = calibration.open(&mut rng);
        purse.top("support", &[1e6, 0.0, 3.0], 2, 0.5).unwrap();
        let certificate = purse.close(Adjacency::ReplaceRow);
        assert_eq!(certificate.events().iter().map(Event::count).sum::<u64>(), 2);
        assert!(certificate.verify().is_ok());
    }

    #[test]
    fn fixed_events_are_spent_once_and_share_the_budget() {
        let fixed = Event::new("minimum", Noise::Approximate { epsilon: 1.0, delta: 4e-6 }, 1).unwrap();
        let plan = vec![Planned::gaussian("mean", 1.0, 1)];
        let beside = Calibration::beside(vec![fixed.clone()], plan.clone(), budget()).unwrap();
        let alone = Calibration::new(plan.clone(), budget()).unwrap();
        assert!(beside.noise_per_sensitivity("mean", 0) > 1.2 * alone.noise_per_sensitivity("mean", 0));
        let mut rng = RandomSource::from_os().unwrap();
        let mut purse = beside.open(&mut rng);
        assert!(purse.fixed("mean").is_err());
        assert!(purse.fixed("minimum").unwrap().is_some());
        assert!(purse.fixed("minimum").is_err());
        purse.vector("mean", &mut vec![0.0; 3], 1.0).unwrap();
        let certificate = purse.close(Adjacency::ReplaceRow);
        assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 2.0);
        // What a fixed event fails with cannot exceed the budget's delta.
        let greedy = Event::new("minimum", Noise::Approximate { epsilon: 1.0, delta: 1e-5 }, 1).unwrap();
        assert!(Calibration::beside(vec![greedy], plan, budget()).is_err());
    }
}
