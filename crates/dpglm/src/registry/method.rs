//! The ways to call an estimator, as an audit needs them: fits that can be watched and broken.

use super::tables::{Frame, Neighbours};
use crate::data::Dataset;
use crate::error::Result;
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event};
use crate::release::replay::{Compared, Probe, compare};
use crate::release::{Estimator, Prepared, Privacy};
use std::rc::Rc;

/// Fits a table and gives the numbers of the result.
pub(super) type Fit = Rc<dyn Fn(&Dataset, &mut RandomSource) -> Result<Vec<f64>>>;

/// An estimator prepared for a budget.
pub(super) struct Method {
    /// What the unit that may be replaced pays for.
    pub events: Vec<Event>,
    /// Whether that says no more than what all releases of a run cost together.
    pub loose: bool,
    probed: Rc<dyn Fn(Probe) -> Fit>,
}

impl Method {
    /// A method whose sessions take the probe that it is given.
    pub(super) fn new(events: Vec<Event>, probed: impl Fn(Probe) -> Fit + 'static) -> Self {
        Self { events, loose: false, probed: Rc::new(probed) }
    }

    /// A prepared model, and how it is fitted.
    pub(super) fn of<M: Estimator + 'static>(
        prepared: Prepared<M>,
        fit: impl Fn(&Prepared<M>, &Dataset, &mut RandomSource) -> Result<Vec<f64>> + Copy + 'static,
    ) -> Result<Self> {
        Ok(Self::new(prepared.events()?, move |probe| {
            let prepared = prepared.probed(probe);
            Rc::new(move |data, rng| fit(&prepared, data, rng))
        }))
    }

    /// The same, charged with other events.
    pub(super) fn charged(self, events: Vec<Event>) -> Self {
        Self { events, ..self }
    }

    /// The same, if what is promised is more than what the releases of one run cost.
    pub(super) fn loose(self) -> Self {
        Self { loose: true, ..self }
    }

    /// The fit, watched or broken.
    pub(super) fn fit(&self, probe: Probe) -> Fit {
        (self.probed)(probe)
    }

    /// What the estimator is about to release on both tables of a pair, given the same past. The seed is that of the past.
    pub(super) fn compare(
        &self,
        frame: &Frame,
        pair: &Neighbours,
        seed: u64,
        probe: Probe,
    ) -> Result<Vec<Compared>> {
        let tables = [pair.table(frame, false)?, pair.table(frame, true)?];
        compare(probe, |probe, side| {
            let rng = &mut RandomSource::insecure_seeded(seed);
            self.fit(probe)(&tables[usize::from(side)], rng).map(drop)
        })
    }
}

/// One way to call an estimator.
pub(super) struct Variant {
    /// What is special about it.
    pub name: &'static str,
    /// The shape of its tables.
    pub frame: Frame,
    /// Budgets, as epsilon and delta, at which some of its releases tell noise from half of it in few draws.
    pub budgets: &'static [(f64, f64)],
    /// How often it is fitted as a whole, on either side.
    pub fits: u64,
    /// Values so far from zero that their releases are drawn as well as compared.
    pub far: bool,
    prepare: Rc<dyn Fn(Privacy) -> Result<Method>>,
}

/// The delta of audited budgets.
pub(super) const DELTA: f64 = 1e-3;
/// Budgets that a handful of releases share.
const FEW: &[(f64, f64)] = &[(3.0, DELTA), (12.0, DELTA)];
/// Budgets that quantiles of a column or two and a mean share.
pub(super) const MEANS: &[(f64, f64)] = &[(3.0, DELTA), (12.0, DELTA), (40.0, DELTA)];
/// A budget for the sums of columns alone, and ones that their centres and clips share with them.
pub(super) const COLUMN_MEANS: &[(f64, f64)] = &[(3.0, DELTA), (100.0, DELTA), (300.0, DELTA)];
/// Budgets that a hundred gradients share.
pub(super) const MANY: &[(f64, f64)] = &[(60.0, DELTA)];
/// Budgets that ten score passes share, most of it in the last.
pub(super) const LIKELIHOOD: &[(f64, f64)] = &[(12.0, DELTA), (46.0, DELTA), (150.0, DELTA), (600.0, DELTA)];
/// Budgets that a hundred gradients and the choice of a few columns share.
pub(super) const BOTH: &[(f64, f64)] = &[(8.0, DELTA), (60.0, DELTA)];

impl Variant {
    pub(super) fn new(
        name: &'static str,
        frame: Frame,
        prepare: impl Fn(Privacy) -> Result<Method> + 'static,
    ) -> Self {
        Self {
            name,
            frame,
            budgets: FEW,
            fits: 2_000,
            far: name.ends_with("1e12"),
            prepare: Rc::new(prepare),
        }
    }

    /// With these budgets.
    pub(super) fn at(self, budgets: &'static [(f64, f64)]) -> Self {
        Self { budgets, ..self }
    }

    /// With a hundred steps, and perhaps a choice of columns before them: its fits take longer.
    pub(super) fn slow(self, budgets: &'static [(f64, f64)]) -> Self {
        Self { budgets, fits: 700, ..self }
    }

    pub(super) fn prepare(&self, (epsilon, delta): (f64, f64)) -> Result<Method> {
        (self.prepare)(Privacy::Budget(Budget::new(epsilon, delta)?))
    }
}
