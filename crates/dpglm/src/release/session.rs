//! A calibrated plan being spent: everything that leaves, leaves here.

use super::calibrated::CalibratedPlan;
use super::plan::{Chosen, Fixed, Handle, Kind, NoisyMax, Numbers, PlannedRelease, Vector};
use super::replay::{Input, Output, Played, Watch};
use crate::accounting::Certificate;
use crate::error::{Error, Result};
use crate::mechanisms::{Candidates, GaussianVector, LaplacePeeling, LaplaceVector, PrivateQuantile, Tally};
use crate::noise::{Race, RandomSource};
use crate::privacy::{Adjacency, Event, Noise};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A calibrated plan being spent.
pub struct ReleaseSession<'a> {
    pub(super) plan: &'a CalibratedPlan,
    pub(super) left: Vec<u64>,
    pub(super) fixed_left: Vec<Event>,
    pub(super) stage: u8,
    /// What left, with the stage it left in.
    pub(super) events: Vec<(u8, Event)>,
    pub(super) rng: &'a mut RandomSource,
    /// Absent, but in audits; with the calibration that a record refers to.
    pub(super) watch: Option<(Watch, Arc<CalibratedPlan>)>,
}

impl ReleaseSession<'_> {
    /// The noise of a planned release per unit of sensitivity; zero without privacy.
    pub(crate) fn noise_per_sensitivity<K>(&self, what: Handle<K>) -> f64 {
        self.plan.noise_per_sensitivity(what, self.stage)
    }

    /// What was planned, with sensitivities in units of their own.
    pub(crate) fn planned_events(&self) -> Result<Vec<Event>> {
        self.plan.events()
    }

    /// Whether such a release is planned for this stage.
    pub(crate) fn plans<K>(&self, what: Handle<K>) -> bool {
        self.plan.lines.iter().any(|line| line.is(what) && line.stage == self.stage)
    }

    /// Takes `count` planned releases out of the plan and gives their noise per unit of sensitivity; `None` without
    /// privacy.
    fn take(&mut self, what: &str, kind: Kind, count: u64) -> Result<Option<f64>> {
        let planned = |p: &PlannedRelease| p.what == what && p.kind == kind && p.stage == self.stage;
        let place = self.plan.lines.iter().position(planned);
        let Some((place, left)) =
            place.and_then(|i| Some((i, self.left.get_mut(i).filter(|left| **left >= count)?)))
        else {
            return Err(not_planned(what));
        };
        *left -= count;
        let broken = self.plan.probe.noise;
        Ok(self.plan.promise.as_ref().map(|p| self.plan.lines[place].noise(p.multiplier) * broken))
    }

    /// What a sensitivity is stated as: what it is, but for the broken twins of audits.
    fn stated(&self, sensitivity: f64) -> f64 {
        sensitivity * self.plan.probe.sensitivity
    }

    /// What leaves: what `draw` gives. Under the watch of an audit it may be played back in place of that.
    fn leave<T: Played>(
        &mut self,
        what: &'static str,
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
    pub(crate) fn vector(
        &mut self,
        what: Handle<Vector>,
        values: &mut Vec<f64>,
        sensitivity: f64,
    ) -> Result<()> {
        let Some(noise) = self.take(what.name(), Kind::Gaussian, 1)? else { return Ok(()) };
        let sensitivity = self.stated(sensitivity);
        let exact = std::mem::take(values);
        let input = |_: &Output| Input::Vector { values: exact.clone(), sensitivity };
        *values = self.leave(what.name(), input, |session| {
            // The grid enlarges the event's sensitivity by a part in 2^24 at most; the noise is raised to match.
            let sigma = sensitivity * noise * (1.0 + 2f64.powi(-23));
            let release =
                GaussianVector::new(sensitivity, sigma, exact.len())?.release(&exact, session.rng)?;
            release.events.iter().try_for_each(|event| session.record(what.name(), event, noise))?;
            Ok(release.value)
        })?;
        Ok(())
    }

    /// Releases a quantile of numbers of which there is one per unit.
    pub(crate) fn quantile(
        &mut self,
        what: Handle<Chosen>,
        values: &[f64],
        candidates: Candidates,
        q: f64,
    ) -> Result<f64> {
        self.quantile_of(what, &Tally::of(candidates, values), q)
    }

    /// The same of numbers that have been counted.
    pub(crate) fn quantile_of(&mut self, what: Handle<Chosen>, tally: &Tally, q: f64) -> Result<f64> {
        let candidates = tally.candidates();
        let Some(scale) = self.take(what.name(), Kind::Selection, 1)? else {
            // Without privacy: the same candidates, no noise to speak of.
            let mut exact = PrivateQuantile::new(candidates, q, 1e-9)?;
            return Ok(exact.release_of(tally, &mut RandomSource::insecure_seeded(0))?.value);
        };
        let scale = self.stated(scale);
        let input = |_: &Output| Input::Quantile { tally: tally.clone(), q };
        self.leave(what.name(), input, |session| {
            let release = PrivateQuantile::new(candidates, q, scale)?.release_of(tally, session.rng)?;
            release.events.iter().try_for_each(|event| session.record(what.name(), event, scale))?;
            Ok(release.value)
        })
    }

    /// The place of one of these scores, by the exponential mechanism: the better, the likelier. Replacing one unit changes the
    /// scores by amounts that lie within an interval of length `range`, wherever it lies: that is what bounds the ratio of any
    /// two probabilities, so scores that move in one direction only cost half of what their sensitivity would.
    pub(crate) fn choice(&mut self, what: Handle<Chosen>, scores: &[f64], range: f64) -> Result<usize> {
        let Some(noise) = self.take(what.name(), Kind::Selection, 1)? else {
            return Ok(largest(scores, 1).first().copied().unwrap_or(0));
        };
        let range = self.stated(range);
        let input = |_: &Output| Input::Choice { scores: scores.to_vec(), range };
        let chosen = self.leave(what.name(), input, |session| {
            let scale = noise * range / 2.0;
            let chosen = Race::new().select(scores, scale, 1, session.rng)?.to_vec();
            let event = Event::new(what.name(), Noise::Selection { sensitivity: range / 2.0, scale }, 1)?;
            session.record(what.name(), &event, noise)?;
            Ok(chosen)
        })?;
        chosen.first().copied().ok_or_else(|| not_planned(what.name()))
    }

    /// `count` of the numbers below `of`, ascending, every set as likely as any other: coins that are not released.
    pub(crate) fn sample(&mut self, of: usize, count: usize) -> Result<Vec<usize>> {
        self.leave(
            "coins",
            |_| Input::Coins,
            |session| {
                // Floyd's algorithm: after each step the set is a uniform one of the numbers up to `last`.
                let mut chosen = BTreeSet::new();
                for last in of.saturating_sub(count)..of {
                    let place = session.rng.below(last as u64 + 1) as usize;
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
        what: Handle<Chosen>,
        scores: &[f64],
        count: usize,
        sensitivity: f64,
    ) -> Result<Vec<usize>> {
        let Some(noise) = self.take(what.name(), Kind::Selection, count as u64)? else {
            return Ok(largest(scores, count));
        };
        let sensitivity = self.stated(sensitivity);
        let input = |_: &Output| Input::Top { scores: scores.to_vec(), count, sensitivity };
        self.leave(what.name(), input, |session| {
            let scale = noise * sensitivity;
            // In units of a power of two near the scale, which is exact: races are run within a narrower range than models.
            let unit = 2f64.powi(scale.log2().floor() as i32);
            let units: Vec<f64> = scores.iter().map(|score| score / unit).collect();
            let mut chosen = Race::new().select(&units, scale / unit, count, session.rng)?.to_vec();
            chosen.sort_unstable();
            let event = Event::new(what.name(), Noise::Selection { sensitivity, scale }, count as u64)?;
            session.record(what.name(), &event, scale / sensitivity)?;
            Ok(chosen)
        })
    }

    /// Which `count` of the scores are the largest, ascending, one after the other by report-noisy-max with Laplace noise.
    /// `count` planned choices pay for it.
    pub(crate) fn peel(
        &mut self,
        what: Handle<NoisyMax>,
        scores: &[f64],
        count: usize,
        sensitivity: f64,
    ) -> Result<Vec<usize>> {
        let Some(noise) = self.take(what.name(), Kind::NoisyMax, count as u64)? else {
            return Ok(largest(scores, count));
        };
        let sensitivity = self.stated(sensitivity);
        let input = |_: &Output| Input::Peel { scores: scores.to_vec(), count, sensitivity };
        self.leave(what.name(), input, |session| {
            // The grid enlarges the sensitivity by a part in 2^24 at most; the noise is raised to match.
            let scale = 2.0 * noise * sensitivity * (1.0 + 2f64.powi(-23));
            let peeling = LaplacePeeling::new(count, sensitivity, scale, scores.len())?;
            let (chosen, event) = peeling.choose(scores, session.rng)?;
            session.record(what.name(), &event, noise)?;
            Ok(chosen)
        })
    }

    /// Releases numbers, each of the given sensitivity, one by one with Laplace noise, in place.
    pub(crate) fn each(
        &mut self,
        what: Handle<Numbers>,
        values: &mut Vec<f64>,
        sensitivity: f64,
    ) -> Result<()> {
        let Some(noise) = self.take(what.name(), Kind::Laplace, values.len() as u64)? else { return Ok(()) };
        let sensitivity = self.stated(sensitivity);
        let exact = std::mem::take(values);
        let input = |_: &Output| Input::Each { values: exact.clone(), sensitivity };
        *values = self.leave(what.name(), input, |session| {
            let scale = noise * sensitivity * (1.0 + 2f64.powi(-23));
            let mechanism = LaplaceVector::new(sensitivity, scale, 1)?;
            let mut released = Vec::with_capacity(exact.len());
            for &value in &exact {
                let release = mechanism.release(&[value], session.rng)?;
                release.events.iter().try_for_each(|event| session.record(what.name(), event, noise))?;
                released.extend(release.value);
            }
            Ok(released)
        })?;
        Ok(())
    }

    /// The fullest of `bins` bins, by the exponential mechanism, given how many units fall into each bin that is not empty. One
    /// unit changes each count by at most 1. The empty bins race as one group, so millions of them cost no more.
    pub(crate) fn fullest(
        &mut self,
        what: Handle<Chosen>,
        counts: &BTreeMap<u64, u64>,
        bins: u64,
    ) -> Result<u64> {
        let noise = self.take(what.name(), Kind::Selection, 1)?;
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
        self.leave(what.name(), input, |session| {
            let group = Race::new().select_weighted(&scores, &sizes, scale, session.rng)?;
            let event = Event::new(what.name(), Noise::Selection { sensitivity: 1.0, scale }, 1)?;
            session.record(what.name(), &event, scale)?;
            let place = session.rng.below(sizes.get(group).copied().unwrap_or(1));
            Ok(nth_bin(&occupied, group, place))
        })
    }

    /// A fixed release, which finds its noise by itself: `draw(rng, share)` makes it with that share of its noise (1, but for the
    /// broken twins of audits). `hidden(released)` says what the noise hides if that is released, and how far one unit moves it
    /// in l2 norm; audits compare it. `None` without privacy.
    pub(crate) fn fixed(
        &mut self,
        what: Handle<Fixed>,
        draw: impl FnOnce(&mut RandomSource, f64) -> Result<Vec<f64>>,
        hidden: impl Fn(&[f64]) -> (Vec<f64>, f64),
    ) -> Result<Option<Vec<f64>>> {
        if self.plan.promise.is_none() {
            return Ok(None);
        }
        let Some(place) = self.fixed_left.iter().position(|e| e.release() == what.name()) else {
            return Err(not_planned(what.name()));
        };
        let event = self.fixed_left.remove(place);
        let share = self.stated(self.plan.probe.noise);
        let stated = self.stated(1.0);
        let input = |output: &Output| {
            let (hidden, sensitivity) = match output {
                Output::Vector(released) => hidden(released),
                _ => (Vec::new(), 1.0),
            };
            Input::Fixed { hidden, sensitivity: sensitivity * stated }
        };
        let released = self.leave(what.name(), input, |session| draw(session.rng, share))?;
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
        match &self.plan.promise {
            None => Certificate::without_promise(
                adjacency,
                Vec::new(),
                "no noise was added (epsilon is infinite)",
            ),
            Some(promise) => Certificate::accounted(
                adjacency,
                std::mem::take(&mut self.events).into_iter().map(|(_, event)| event).collect(),
                promise.guarantee,
                self.plan.curve(),
                &*self.rng,
            ),
        }
    }

    /// The certificate of a session that an audit watched or broke.
    pub(super) fn audited(&self, adjacency: &Adjacency) -> Option<Certificate> {
        let reason = "the run belongs to an audit: it was recorded, or its noise was cut on purpose";
        let nothing = || Certificate::without_promise(adjacency.clone(), Vec::new(), reason);
        (!self.plan.probe.is_absent()).then(nothing)
    }
}

pub(super) fn not_planned(what: &str) -> Error {
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
    use crate::privacy::Budget;
    use crate::release::Privacy;

    const SUPPORT: Handle<Chosen> = Handle::new("support");
    const OTHER: Handle<Chosen> = Handle::new("other");
    const MEAN: Handle<Vector> = Handle::new("mean");
    const MINIMUM: Handle<Fixed> = Handle::new("minimum");

    fn budget() -> Privacy {
        Privacy::Budget(Budget::new(2.0, 1e-5).unwrap())
    }

    #[test]
    fn the_largest_scores_are_chosen_once_and_paid_for() {
        let plan = vec![SUPPORT.planned(1.0, 2)];
        for privacy in [budget(), Privacy::None] {
            let calibration = CalibratedPlan::new(plan.clone(), privacy).unwrap();
            let mut rng = RandomSource::from_os().unwrap();
            let mut session = calibration.open(&mut rng);
            let chosen = session.top(SUPPORT, &[1e6, 0.0, f64::NAN, 2e6, -1e6], 2, 1.0).unwrap();
            assert_eq!(chosen, [0, 3]);
            assert!(session.top(SUPPORT, &[1.0, 2.0], 1, 1.0).is_err());
            assert!(session.top(OTHER, &[1.0, 2.0], 1, 1.0).is_err());
        }
        let calibration = CalibratedPlan::new(plan, budget()).unwrap();
        let mut rng = RandomSource::from_os().unwrap();
        let mut session = calibration.open(&mut rng);
        session.top(SUPPORT, &[1e6, 0.0, 3.0], 2, 0.5).unwrap();
        let certificate = session.close(Adjacency::ReplaceRow);
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
        let fixed = MINIMUM.event(1.0, 4e-6).unwrap();
        let plan = vec![MEAN.planned(1.0, 1)];
        let beside = CalibratedPlan::beside(vec![fixed.clone()], plan.clone(), budget()).unwrap();
        let alone = CalibratedPlan::new(plan.clone(), budget()).unwrap();
        assert!(beside.noise_per_sensitivity(MEAN, 0) > 1.2 * alone.noise_per_sensitivity(MEAN, 0));
        let mut rng = RandomSource::from_os().unwrap();
        let mut session = beside.open(&mut rng);
        let mut minimum = |what| session.fixed(what, |_, share| Ok(vec![share]), |_| (vec![0.0], 1.0));
        assert!(minimum(Handle::new("mean")).is_err());
        assert_eq!(minimum(MINIMUM).unwrap(), Some(vec![1.0]));
        assert!(minimum(MINIMUM).is_err());
        session.vector(MEAN, &mut vec![0.0; 3], 1.0).unwrap();
        let certificate = session.close(Adjacency::ReplaceRow);
        assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 2.0);
        // What a fixed event fails with cannot exceed the budget's delta.
        let greedy = MINIMUM.event(1.0, 1e-5).unwrap();
        assert!(CalibratedPlan::beside(vec![greedy], plan, budget()).is_err());
    }
}
