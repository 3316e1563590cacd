//! Plans for rows in two public parts: some releases read the first part, some the second, the rest read all.
//!
//! # Algorithm
//! 1. The releases of the first part and of all rows are calibrated to the budget together: that is what a row of the first
//!    part pays.
//! 2. Those of the second part are calibrated to what the releases of all rows leave of the budget: that is what a row of the second
//!    part pays.
//! 3. What is promised is the larger of the two ([`crate::accounting::part`]).

use super::calibrated::Promise;
use super::{CalibratedPlan, PlannedRelease, Privacy, ReleaseSession};
use crate::accounting::Certificate;
use crate::accounting::part::{self, Part};
use crate::error::Result;
use crate::privacy::{Adjacency, Event};

/// Releases of the first part alone.
pub(crate) const FIRST: u8 = 0;
/// Releases of the second part alone.
pub(crate) const SECOND: u8 = 1;
/// Releases of all rows.
pub(crate) const ALL: u8 = 2;

/// Which rows are in which part.
pub(crate) type PartNames = [&'static str; 2];
/// Every fifth row apart.
pub(crate) const FIFTHS: PartNames =
    ["all but every fifth row, in the order of the table", "every fifth row"];
/// Rows by turns.
pub(crate) const HALVES: PartNames =
    ["every second row, in the order of the table, the first among them", "the rows between them"];

impl CalibratedPlan {
    /// Calibrates a plan for two public parts of the rows. Looks at public quantities only.
    pub(crate) fn in_parts(
        names: PartNames,
        first: Vec<PlannedRelease>,
        second: Vec<PlannedRelease>,
        all: Vec<PlannedRelease>,
        privacy: Privacy,
    ) -> Result<Self> {
        let mut plan: Vec<PlannedRelease> = first;
        plan.extend(all.iter().map(|line| line.at(ALL, 1.0)));
        // Step 1
        let mut calibration = Self::new(plan, privacy)?;
        let (Some(promise), Privacy::Budget(budget)) = (&calibration.promise, privacy) else {
            calibration.lines.extend(second.iter().map(|line| line.at(SECOND, 1.0)));
            return Ok(calibration);
        };
        // Step 2
        let common = calibration.events_of(ALL)?;
        let beside = Self::beside(common.clone(), second.clone(), privacy)?;
        let multiplier = beside.promise.as_ref().map_or(promise.multiplier, |p| p.multiplier);
        // One multiplier serves the whole plan, so the second part gets the shares that give it its own noise.
        let factor = (promise.multiplier / multiplier).powi(2) * (1.0 - 1e-12);
        let multiplier = promise.multiplier;
        calibration.lines.extend(second.iter().map(|line| line.at(SECOND, factor)));
        // Step 3
        let parts = calibration.parts_of(names)?;
        let guarantee = part::guarantee(&common, &parts, budget.delta())?;
        calibration.promise = Some(Promise::new(multiplier, guarantee, Some(names)));
        Ok(calibration)
    }

    /// The planned events of one stage, with sensitivities in units of their own.
    pub(crate) fn events_of(&self, stage: u8) -> Result<Vec<Event>> {
        let Some(promise) = &self.promise else { return Ok(Vec::new()) };
        let lines = self.lines.iter().filter(|line| line.stage == stage);
        lines.map(|line| line.event(promise.multiplier)).collect()
    }

    /// What the two parts will release, each from its own rows alone.
    pub(crate) fn planned_parts(&self) -> Result<Vec<Part>> {
        self.promise
            .as_ref()
            .and_then(|promise| promise.parts)
            .map_or(Ok(Vec::new()), |names| self.parts_of(names))
    }

    fn parts_of(&self, names: PartNames) -> Result<Vec<Part>> {
        let part = |(rows, stage): (&str, u8)| -> Result<Part> {
            Ok(Part { rows: rows.into(), events: self.events_of(stage)? })
        };
        names.into_iter().zip([FIRST, SECOND]).map(part).collect()
    }
}

impl ReleaseSession<'_> {
    /// The certificate for everything that left, each part's releases apart.
    pub(crate) fn close_in_parts(mut self, adjacency: Adjacency) -> Certificate {
        if let Some(nothing) = self.audited(&adjacency) {
            return nothing;
        }
        let events = std::mem::take(&mut self.events);
        let of = |stage: u8| -> Vec<Event> {
            events.iter().filter(|(s, _)| *s == stage).map(|(_, event)| event.clone()).collect()
        };
        let part = |(rows, stage): (&str, u8)| Part { rows: rows.into(), events: of(stage) };
        let names = self.plan.promise.as_ref().and_then(|promise| promise.parts);
        let parts: Vec<Part> = names.into_iter().flatten().zip([FIRST, SECOND]).map(part).collect();
        let common = of(ALL);
        match &self.plan.promise {
            None => self.close(adjacency),
            Some(promise) => {
                let (guarantee, curve) = (promise.guarantee, self.plan.curve());
                Certificate::accounted(adjacency, common, guarantee, curve, &*self.rng).in_parts(parts)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::epsilon_at;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::{Chosen, Handle, Vector};

    const FIT: Handle<Vector> = Handle::new("fit");
    const CHOICE: Handle<Chosen> = Handle::new("choice");

    /// Both parts' rows stay within the budget, and each uses nearly all of it.
    #[test]
    fn each_part_pays_the_whole_budget_and_no_more() {
        let budget = Budget::new(1.0, 1e-5).unwrap();
        let first = vec![FIT.planned(0.5, 10)];
        let all = vec![FIT.planned(0.5, 3)];
        let choice = CHOICE.planned(1.0, 1);
        let calibration =
            CalibratedPlan::in_parts(FIFTHS, first, vec![choice], all, Privacy::Budget(budget)).unwrap();
        let common = calibration.events_of(ALL).unwrap();
        for part in calibration.planned_parts().unwrap() {
            let epsilon = epsilon_at(&[common.clone(), part.events].concat(), 1e-5).unwrap();
            assert!(epsilon <= 1.0 && epsilon > 0.995, "{epsilon}");
        }
        let mut rng = RandomSource::from_os().unwrap();
        let mut session = calibration.open(&mut rng);
        // The same name in another stage is another release, with its own noise.
        assert!(session.top(CHOICE, &[0.0, 1.0], 1, 1.0).is_err());
        let early = session.noise_per_sensitivity(FIT);
        session.vector(FIT, &mut vec![0.0], 1.0).unwrap();
        session.enter(SECOND);
        assert!(session.vector(FIT, &mut vec![0.0], 1.0).is_err());
        session.top(CHOICE, &[0.0, 1.0], 1, 1.0).unwrap();
        session.enter(ALL);
        assert!(early > 1.5 * session.noise_per_sensitivity(FIT));
        (0..3).for_each(|_| session.vector(FIT, &mut vec![0.0], 1.0).unwrap());
        assert!(session.vector(FIT, &mut vec![0.0], 1.0).is_err());
        let certificate = session.close_in_parts(Adjacency::ReplaceRow);
        assert!(certificate.verify().is_ok());
        assert!(certificate.guarantee().unwrap().epsilon <= 1.0);
        assert_eq!(certificate.parts().iter().map(|p| p.events.len()).collect::<Vec<_>>(), [1, 1]);
    }
}
