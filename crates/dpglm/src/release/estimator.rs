//! What an estimator is: it plans its releases from public facts, and runs in a session that makes them.

use super::replay::Probe;
use super::{CalibratedPlan, Privacy, ReleaseSession, parts};
use crate::accounting::Part;
use crate::error::{Error, Result};
use crate::noise::RandomSource;
use crate::privacy::Event;
use std::fmt::Debug;

/// Is called with what is done, and of how much, while a fit runs. Both are public.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// A private estimator: how something is estimated from rows.
///
/// [`Estimator::fit`] does all at once. To fit several tables of one shape, or to know what will be released before the rows are
/// opened, [`Estimator::prepare`] first.
pub trait Estimator: Clone {
    /// The private rows.
    type Rows<'r>: ?Sized;
    /// What is public of them.
    type Shape: Copy + PartialEq + Debug;
    /// What else is decided from public facts; nothing for most.
    type Layout: Clone;
    /// What a fit gives.
    type Fit;

    /// What is public of these rows.
    fn shape(rows: &Self::Rows<'_>) -> Self::Shape;

    /// Decides all that public facts decide, and calibrates the noise of every release: before any row is seen.
    fn prepare(&self, shape: Self::Shape, privacy: Privacy) -> Result<Prepared<Self>>;

    /// Runs on rows of the shape that it was prepared for. Whatever leaves, leaves by the session.
    fn run(
        &self,
        layout: &Self::Layout,
        rows: &Self::Rows<'_>,
        session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<Self::Fit>;

    /// Prepares and fits.
    fn fit(&self, rows: &Self::Rows<'_>, privacy: Privacy, rng: &mut RandomSource) -> Result<Self::Fit> {
        self.prepare(Self::shape(rows), privacy)?.fit(rows, rng)
    }
}

/// An estimator ready to fit rows of one shape, as often as wanted; every fit spends the whole budget again.
#[derive(Debug, Clone)]
pub struct Prepared<E: Estimator> {
    pub(crate) estimator: E,
    pub(crate) layout: E::Layout,
    pub(crate) shape: E::Shape,
    pub(crate) plan: CalibratedPlan,
}

impl<E: Estimator> Prepared<E> {
    pub(crate) fn new(estimator: E, layout: E::Layout, shape: E::Shape, plan: CalibratedPlan) -> Self {
        Self { estimator, layout, shape, plan }
    }

    /// What a fit will release, with sensitivities in units of their own: known before the rows are opened.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.plan.events()
    }

    /// What each of the public parts of the rows will release alone; empty where the rows are not divided.
    pub fn parts(&self) -> Result<Vec<Part>> {
        if self.plan.is_divided() { self.plan.planned_parts() } else { Ok(Vec::new()) }
    }

    /// What will be released from all rows: everything, where the rows are not divided.
    pub fn common_events(&self) -> Result<Vec<Event>> {
        if self.plan.is_divided() { self.plan.events_of(parts::ALL) } else { self.plan.events() }
    }

    /// Fits.
    pub fn fit(&self, rows: &E::Rows<'_>, rng: &mut RandomSource) -> Result<E::Fit> {
        self.fit_reporting(rows, rng, &mut |_, _| {})
    }

    /// Fits and reports how far it is.
    pub fn fit_reporting(
        &self,
        rows: &E::Rows<'_>,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<E::Fit> {
        self.require(E::shape(rows))?;
        self.estimator.run(&self.layout, rows, self.plan.open(rng), progress)
    }

    /// Refuses rows of another shape.
    pub(crate) fn require(&self, shape: E::Shape) -> Result<()> {
        if shape == self.shape {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "prepared for {:?}, got {shape:?}: prepare again for these rows",
            self.shape
        )))
    }

    /// The same with its noise multiplied by a factor of at least 1, under the claim of before.
    pub(crate) fn with_more_noise(&self, factor: f64) -> Self {
        Self { plan: self.plan.clone().with_more_noise(factor), ..self.clone() }
    }

    /// The same, watched or broken under an unchanged claim: for audits.
    pub(crate) fn probed(&self, probe: Probe) -> Self {
        Self { plan: self.plan.clone().probed(probe), ..self.clone() }
    }
}

/// Refuses a shape that nothing can be fitted to.
pub(crate) fn require_shape(columns: usize, units: usize) -> Result<()> {
    if columns == 0 || units < 2 {
        return Err(Error::Conflict(format!(
            "{columns} columns and {units} rows or units: a fit needs at least 1 and 2"
        )));
    }
    Ok(())
}
