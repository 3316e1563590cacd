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

pub(crate) mod replay;
pub(crate) mod split;
#[cfg(test)]
pub(crate) mod tape;

use crate::accounting::Certificate;
use crate::accounting::gaussian::largest_mu;
use crate::accounting::{Guarantee, account, calibrate, curve, part};
use crate::error::{Error, Result};
use crate::mechanisms::{Candidates, GaussianVector, LaplacePeeling, LaplaceVector, PrivateQuantile, Tally};
use crate::noise::{Race, RandomSource};
use crate::privacy::{Adjacency, Budget, Event, Noise};
use replay::{Input, Output, Played, Probe, Watch};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

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
    /// Absent, but in audits.
    probe: Probe,
}

#[derive(Debug, Clone)]
struct Promise {
    /// Noise per unit of sensitivity at share 1.
    multiplier: f64,
    guarantee: Guarantee,
    /// Whether rows are in parts that pay apart.
    in_parts: bool,
    /// Computed when it is first asked for: it takes longer than all of the planning.
    curve: Arc<OnceLock<Vec<(f64, f64)>>>,
}

impl Promise {
    fn new(multiplier: f64, guarantee: Guarantee, in_parts: bool) -> Self {
        Self { multiplier, guarantee, in_parts, curve: Arc::default() }
    }
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
        Ok(Self { plan, fixed, promise, probe: Probe::default() })
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

    /// The planned events, with sensitivities in units of their own; empty without privacy.
    pub(crate) fn events(&self) -> Result<Vec<Event>> {
        let Some(promise) = &self.promise else { return Ok(Vec::new()) };
        let planned = self.plan.iter().map(|line| line.event(promise.multiplier));
        self.fixed.iter().cloned().map(Ok).chain(planned).collect()
    }

    /// The privacy curve of the plan. It says more than the guarantee, which stands without it where an extreme delta has no finite
    /// epsilon.
    fn curve(&self) -> Vec<(f64, f64)> {
        let Some(promise) = &self.promise else { return Vec::new() };
        let compute = || -> Result<Vec<(f64, f64)>> {
            if promise.in_parts {
                return part::curve(&self.events_of(split::ALL)?, &self.planned_parts()?);
            }
            curve(&self.events()?)
        };
        promise.curve.get_or_init(|| compute().unwrap_or_default()).clone()
    }

    /// A purse to spend the plan from, once.
    pub(crate) fn open<'a>(&'a self, rng: &'a mut RandomSource) -> Purse<'a> {
        let watch = self.probe.watch();
        #[cfg(test)]
        let watch = watch.or_else(|| tape::current().watch());
        Purse {
            calibration: self,
            left: self.plan.iter().map(|p| p.count).collect(),
            fixed_left: self.fixed.clone(),
            stage: 0,
            events: Vec::new(),
            rng,
            watch: watch.map(|watch| (watch, Arc::new(self.clone().probed(self.probe.unwatched())))),
        }
    }

    /// The noise of a planned release per unit of sensitivity; zero without privacy.
    pub(crate) fn noise_per_sensitivity(&self, what: &str, stage: u8) -> f64 {
        let planned = self.plan.iter().find(|p| p.what == what && p.stage == stage);
        self.promise.as_ref().zip(planned).map_or(0.0, |(p, line)| line.noise(p.multiplier))
    }

    /// What `count` releases of this kind are charged as, with sensitivities in units of their own.
    fn claim(&self, what: &str, stage: u8, count: u64) -> Result<Event> {
        let planned = self.plan.iter().find(|p| p.what == what && p.stage == stage);
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

fn promise(plan: &[Planned], fixed: &[Event], budget: Budget) -> Result<Promise> {
    let template: Vec<Event> = plan.iter().map(|p| p.event(1.0)).collect::<Result<_>>()?;
    let calibrated = calibrate(&template, fixed, budget)?;
    let (before, after) = (noise_to_sensitivity(&template), noise_to_sensitivity(&calibrated));
    // Given away: the rounding of sensitivities on the way from plan to release.
    let multiplier = after / before * (1.0 + 1e-9);
    let mut events: Vec<Event> = plan.iter().map(|p| p.event(multiplier)).collect::<Result<_>>()?;
    events.extend_from_slice(fixed);
    Ok(Promise::new(multiplier, account(&events, budget.delta())?, false))
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
    /// Absent, but in audits; with the calibration that a record refers to.
    watch: Option<(Watch, Arc<Calibration>)>,
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
            return Err(not_planned(what));
        };
        *left -= count;
        let broken = self.calibration.probe.noise;
        Ok(self
            .calibration
            .promise
            .as_ref()
            .map(|p| self.calibration.plan[place].noise(p.multiplier) * broken))
    }

    /// What a sensitivity is stated as: what it is, but for the broken twins of audits.
    fn stated(&self, sensitivity: f64) -> f64 {
        sensitivity * self.calibration.probe.sensitivity
    }

    /// What leaves: what `draw` gives. Under the watch of an audit it may be played back in place of that.
    fn leave<T: Played>(
        &mut self,
        what: &str,
        input: impl Fn(&Output) -> Input,
        draw: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Some((watch, calibration)) = self.watch.clone() else { return draw(self) };
        if let Some(played) = watch.play(what, self.stage, &input)? {
            return T::of(played).ok_or_else(|| not_planned(what));
        }
        let drawn = draw(self)?;
        let output = drawn.kept();
        watch.keep(what, self.stage, input(&output), output, calibration);
        Ok(drawn)
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
        let sensitivity = self.stated(sensitivity);
        let exact = std::mem::take(values);
        let input = |_: &Output| Input::Vector { values: exact.clone(), sensitivity };
        *values = self.leave(what, input, |purse| {
            // The grid enlarges the event's sensitivity by a part in 2^24 at most; the noise is raised to match.
            let sigma = sensitivity * noise * (1.0 + 2f64.powi(-23));
            let release = GaussianVector::new(sensitivity, sigma, exact.len())?.release(&exact, purse.rng)?;
            release.events.iter().try_for_each(|event| purse.record(what, event, noise))?;
            Ok(release.value)
        })?;
        Ok(())
    }

    /// Releases a quantile of numbers of which there is one per unit.
    pub(crate) fn quantile(
        &mut self,
        what: &str,
        values: &[f64],
        candidates: Candidates,
        q: f64,
    ) -> Result<f64> {
        self.quantile_of(what, &Tally::of(candidates, values), q)
    }

    /// The same of numbers that have been counted.
    pub(crate) fn quantile_of(&mut self, what: &str, tally: &Tally, q: f64) -> Result<f64> {
        let candidates = tally.candidates();
        let Some(scale) = self.take(what, Kind::Selection, 1)? else {
            // Without privacy: the same candidates, no noise to speak of.
            let mut exact = PrivateQuantile::new(candidates, q, 1e-9)?;
            return Ok(exact.release_of(tally, &mut RandomSource::insecure_seeded(0))?.value);
        };
        let scale = self.stated(scale);
        let input = |_: &Output| Input::Quantile { tally: tally.clone(), q };
        self.leave(what, input, |purse| {
            let release = PrivateQuantile::new(candidates, q, scale)?.release_of(tally, purse.rng)?;
            release.events.iter().try_for_each(|event| purse.record(what, event, scale))?;
            Ok(release.value)
        })
    }

    /// The place of one of these scores, by the exponential mechanism: the better, the likelier. Replacing one unit changes the
    /// scores by amounts that lie within an interval of length `range`, wherever it lies: that is what bounds the ratio of any
    /// two probabilities, so scores that move in one direction only cost half of what their sensitivity would.
    pub(crate) fn choice(&mut self, what: &str, scores: &[f64], range: f64) -> Result<usize> {
        let Some(noise) = self.take(what, Kind::Selection, 1)? else {
            return Ok(largest(scores, 1).first().copied().unwrap_or(0));
        };
        let range = self.stated(range);
        let input = |_: &Output| Input::Choice { scores: scores.to_vec(), range };
        let chosen = self.leave(what, input, |purse| {
            let scale = noise * range / 2.0;
            let chosen = Race::new().select(scores, scale, 1, purse.rng)?.to_vec();
            let event = Event::new(what, Noise::Selection { sensitivity: range / 2.0, scale }, 1)?;
            purse.record(what, &event, noise)?;
            Ok(chosen)
        })?;
        chosen.first().copied().ok_or_else(|| not_planned(what))
    }

    /// `count` of the numbers below `of`, ascending, every set as likely as any other: coins that are not released.
    pub(crate) fn sample(&mut self, of: usize, count: usize) -> Result<Vec<usize>> {
        self.leave(
            "coins",
            |_| Input::Coins,
            |purse| {
                // Floyd's algorithm: after each step the set is a uniform one of the numbers up to `last`.
                let mut chosen = BTreeSet::new();
                for last in of.saturating_sub(count)..of {
                    let place = purse.rng.below(last as u64 + 1) as usize;
                    if !chosen.insert(place) {
                        chosen.insert(last);
                    }
                }
                Ok(chosen.into_iter().collect())
            },
        )
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
        let Some(noise) = self.take(what, Kind::Selection, count as u64)? else {
            return Ok(largest(scores, count));
        };
        let sensitivity = self.stated(sensitivity);
        let input = |_: &Output| Input::Top { scores: scores.to_vec(), count, sensitivity };
        self.leave(what, input, |purse| {
            let scale = noise * sensitivity;
            // In units of a power of two near the scale, which is exact: races are run within a narrower range than models.
            let unit = 2f64.powi(scale.log2().floor() as i32);
            let units: Vec<f64> = scores.iter().map(|score| score / unit).collect();
            let mut chosen = Race::new().select(&units, scale / unit, count, purse.rng)?.to_vec();
            chosen.sort_unstable();
            let event = Event::new(what, Noise::Selection { sensitivity, scale }, count as u64)?;
            purse.record(what, &event, scale / sensitivity)?;
            Ok(chosen)
        })
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
        let sensitivity = self.stated(sensitivity);
        let input = |_: &Output| Input::Peel { scores: scores.to_vec(), count, sensitivity };
        self.leave(what, input, |purse| {
            // The grid enlarges the sensitivity by a part in 2^24 at most; the noise is raised to match.
            let scale = 2.0 * noise * sensitivity * (1.0 + 2f64.powi(-23));
            let peeling = LaplacePeeling::new(count, sensitivity, scale, scores.len())?;
            let (chosen, event) = peeling.choose(scores, purse.rng)?;
            purse.record(what, &event, noise)?;
            Ok(chosen)
        })
    }

    /// Releases numbers, each of the given sensitivity, one by one with Laplace noise, in place.
    pub(crate) fn each(&mut self, what: &str, values: &mut Vec<f64>, sensitivity: f64) -> Result<()> {
        let Some(noise) = self.take(what, Kind::Laplace, values.len() as u64)? else { return Ok(()) };
        let sensitivity = self.stated(sensitivity);
        let exact = std::mem::take(values);
        let input = |_: &Output| Input::Each { values: exact.clone(), sensitivity };
        *values = self.leave(what, input, |purse| {
            let scale = noise * sensitivity * (1.0 + 2f64.powi(-23));
            let mechanism = LaplaceVector::new(sensitivity, scale, 1)?;
            let mut released = Vec::with_capacity(exact.len());
            for &value in &exact {
                let release = mechanism.release(&[value], purse.rng)?;
                release.events.iter().try_for_each(|event| purse.record(what, event, noise))?;
                released.extend(release.value);
            }
            Ok(released)
        })?;
        Ok(())
    }

    /// The fullest of `bins` bins, by the exponential mechanism, given how many units fall into each bin that is not empty. One
    /// unit changes each count by at most 1. The empty bins race as one group, so millions of them cost no more.
    pub(crate) fn fullest(&mut self, what: &str, counts: &BTreeMap<u64, u64>, bins: u64) -> Result<u64> {
        let noise = self.take(what, Kind::Selection, 1)?;
        let occupied: Vec<u64> = counts.keys().copied().collect();
        let mut scores: Vec<f64> = counts.values().map(|&c| c as f64).collect();
        let mut sizes = vec![1; scores.len()];
        let empty = bins.saturating_sub(occupied.len() as u64);
        if empty > 0 {
            scores.push(0.0);
            sizes.push(empty);
        }
        let Some(scale) = noise else {
            let best = (0..scores.len()).max_by(|&i, &j| scores[i].total_cmp(&scores[j]));
            return Ok(best.map_or(0, |group| nth_bin(&occupied, group, 0)));
        };
        let scale = self.stated(scale);
        let input = |_: &Output| Input::Fullest { counts: counts.clone(), bins };
        self.leave(what, input, |purse| {
            let group = Race::new().select_weighted(&scores, &sizes, scale, purse.rng)?;
            let event = Event::new(what, Noise::Selection { sensitivity: 1.0, scale }, 1)?;
            purse.record(what, &event, scale)?;
            let place = purse.rng.below(sizes.get(group).copied().unwrap_or(1));
            Ok(nth_bin(&occupied, group, place))
        })
    }

    /// A fixed release, which finds its noise by itself: `draw(rng, share)` makes it with that share of its noise (1, but for the
    /// broken twins of audits). `hidden(released)` says what the noise hides if that is released, and how far one unit moves it
    /// in l2 norm; audits compare it. `None` without privacy.
    pub(crate) fn fixed(
        &mut self,
        what: &str,
        draw: impl FnOnce(&mut RandomSource, f64) -> Result<Vec<f64>>,
        hidden: impl Fn(&[f64]) -> (Vec<f64>, f64),
    ) -> Result<Option<Vec<f64>>> {
        if self.calibration.promise.is_none() {
            return Ok(None);
        }
        let Some(place) = self.fixed_left.iter().position(|e| e.release() == what) else {
            return Err(not_planned(what));
        };
        let event = self.fixed_left.remove(place);
        let share = self.stated(self.calibration.probe.noise);
        let stated = self.stated(1.0);
        let input = |output: &Output| {
            let (hidden, sensitivity) = match output {
                Output::Vector(released) => hidden(released),
                _ => (Vec::new(), 1.0),
            };
            Input::Fixed { hidden, sensitivity: sensitivity * stated }
        };
        let released = self.leave(what, input, |purse| draw(purse.rng, share))?;
        self.events.push((self.stage, event));
        Ok(Some(released))
    }

    /// Releases from here on are those planned for this stage.
    pub(crate) fn enter(&mut self, stage: u8) {
        self.stage = stage;
    }

    /// The certificate for everything that left, under the guarantee of the whole plan.
    pub(crate) fn close(mut self, adjacency: Adjacency) -> Certificate {
        if let Some(nothing) = self.audited(&adjacency) {
            return nothing;
        }
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
                self.calibration.curve(),
                &*self.rng,
            ),
        }
    }

    /// The certificate of a session that an audit watched or broke.
    fn audited(&self, adjacency: &Adjacency) -> Option<Certificate> {
        let reason = "the run belongs to an audit: it was recorded, or its noise was cut on purpose";
        let nothing = || Certificate::without_promise(adjacency.clone(), Vec::new(), reason);
        (!self.calibration.probe.is_absent()).then(nothing)
    }
}

fn not_planned(what: &str) -> Error {
    Error::Conflict(format!("the release of the {what} was not planned, so nothing pays for it"))
}

/// The bin at this place of a group: the groups are the occupied bins, ascending, and then all empty ones.
fn nth_bin(occupied: &[u64], group: usize, place: u64) -> u64 {
    match occupied.get(group) {
        Some(&bin) => bin,
        // The empty bin of this rank: step over the occupied ones below it.
        None => occupied.iter().fold(place, |bin, &taken| if taken <= bin { bin + 1 } else { bin }),
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
    fn an_empty_bin_of_every_rank_can_be_found() {
        assert_eq!([0, 1].map(|group| nth_bin(&[2, 5], group, 0)), [2, 5]);
        assert_eq!([0, 1, 2, 3].map(|place| nth_bin(&[2, 5], 2, place)), [0, 1, 3, 4]);
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
        let mut minimum = |what: &str| purse.fixed(what, |_, share| Ok(vec![share]), |_| (vec![0.0], 1.0));
        assert!(minimum("mean").is_err());
        assert_eq!(minimum("minimum").unwrap(), Some(vec![1.0]));
        assert!(minimum("minimum").is_err());
        purse.vector("mean", &mut vec![0.0; 3], 1.0).unwrap();
        let certificate = purse.close(Adjacency::ReplaceRow);
        assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 2.0);
        // What a fixed event fails with cannot exceed the budget's delta.
        let greedy = Event::new("minimum", Noise::Approximate { epsilon: 1.0, delta: 1e-5 }, 1).unwrap();
        assert!(Calibration::beside(vec![greedy], plan, budget()).is_err());
    }
}
