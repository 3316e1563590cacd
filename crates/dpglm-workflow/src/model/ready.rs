//! A model's estimator with its noise calibrated, whichever it is.

use super::estimates::Estimates;
use crate::failure::Failure;
use dpglm::accounting::Part;
use dpglm::data::{Dataset, Shape};
use dpglm::estimators::dense::Regression;
use dpglm::noise::RandomSource;
use dpglm::passes::PrivateRows;
use dpglm::privacy::Event;
use dpglm::release::{Estimator, Prepared, Privacy, Progress};

/// A model with its noise calibrated.
pub struct Ready {
    estimator: Box<dyn Fits>,
    /// Whether a coefficient can be determined, where a public rule tells.
    pub(crate) determines_any: Option<bool>,
}

/// How a model is fitted, before the shape of the table is known.
pub(super) type Chosen<'m> = Box<dyn FnOnce(Shape, Privacy) -> Result<Ready, Failure> + 'm>;

trait Fits {
    fn events(&self) -> dpglm::Result<Vec<Event>>;
    fn parts(&self) -> dpglm::Result<Vec<Part>>;
    fn fit(
        &self,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure>;

    /// Fits rows that are known through passes alone.
    fn fit_rows(
        &self,
        _rows: &dyn PrivateRows,
        _rng: &mut RandomSource,
        _progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        Err(Failure::Failed("the method looks at rows in memory: nothing is released".into()))
    }
}

/// A regression, which knows rows through passes alone.
struct InPasses(Prepared<Regression>);

impl Fits for InPasses {
    fn events(&self) -> dpglm::Result<Vec<Event>> {
        self.0.common_events()
    }

    fn parts(&self) -> dpglm::Result<Vec<Part>> {
        self.0.parts()
    }

    fn fit(
        &self,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        Ok(self.0.fit_reporting(data, rng, progress)?.into())
    }

    fn fit_rows(
        &self,
        rows: &dyn PrivateRows,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        Ok(self.0.fit_rows(rows, rng, progress)?.into())
    }
}

/// A private estimator, and what its fits say.
struct Private<E: Estimator, S> {
    prepared: Prepared<E>,
    says: S,
}

impl<E, S> Fits for Private<E, S>
where
    E: for<'r> Estimator<Rows<'r> = Dataset>,
    S: Fn(E::Fit) -> Estimates,
{
    fn events(&self) -> dpglm::Result<Vec<Event>> {
        self.prepared.common_events()
    }

    fn parts(&self) -> dpglm::Result<Vec<Part>> {
        self.prepared.parts()
    }

    fn fit(
        &self,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        Ok((self.says)(self.prepared.fit_reporting(data, rng, progress)?))
    }
}

/// A fit without noise.
struct Exact<F>(F);

impl<F: Fn(&Dataset) -> Result<Estimates, Failure>> Fits for Exact<F> {
    fn events(&self) -> dpglm::Result<Vec<Event>> {
        Ok(Vec::new())
    }

    fn parts(&self) -> dpglm::Result<Vec<Part>> {
        Ok(Vec::new())
    }

    fn fit(&self, data: &Dataset, _: &mut RandomSource, _: Progress<'_>) -> Result<Estimates, Failure> {
        (self.0)(data)
    }
}

impl Ready {
    /// By an estimator of the library; `says` gives what its fits found.
    pub(super) fn by<'m, E>(estimator: E, says: impl Fn(E::Fit) -> Estimates + 'static) -> Chosen<'m>
    where
        E: for<'r> Estimator<Rows<'r> = Dataset, Shape = Shape> + 'static,
    {
        Box::new(move |shape, privacy| Self::prepared(estimator.prepare(shape, privacy)?, says))
    }

    /// By a prepared estimator.
    pub(super) fn prepared<E>(
        prepared: Prepared<E>,
        says: impl Fn(E::Fit) -> Estimates + 'static,
    ) -> Result<Self, Failure>
    where
        E: for<'r> Estimator<Rows<'r> = Dataset> + 'static,
    {
        Ok(Self { estimator: Box::new(Private { prepared, says }), determines_any: None })
    }

    /// By a regression.
    pub(super) fn in_passes(prepared: Prepared<Regression>) -> Self {
        let determines_any = Some(prepared.determines_any());
        Self { estimator: Box::new(InPasses(prepared)), determines_any }
    }

    /// Without noise.
    pub(super) fn exact<'m>(fit: impl Fn(&Dataset) -> Result<Estimates, Failure> + 'static) -> Chosen<'m> {
        Box::new(move |_, _| Ok(Self { estimator: Box::new(Exact(fit)), determines_any: None }))
    }

    /// What a fit will release; empty without privacy.
    pub fn events(&self) -> Result<Vec<Event>, Failure> {
        Ok(self.estimator.events()?)
    }

    /// What public parts of the rows will release, each alone; empty where the rows are not divided.
    pub fn parts(&self) -> Result<Vec<Part>, Failure> {
        Ok(self.estimator.parts()?)
    }

    /// Fits the model. `progress` is called with the steps that are over and their number, which is public.
    pub fn fit(
        &self,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        self.estimator.fit(data, rng, progress)
    }

    /// The same on rows that are not one table in memory.
    pub(crate) fn fit_rows(
        &self,
        rows: &dyn PrivateRows,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<Estimates, Failure> {
        self.estimator.fit_rows(rows, rng, progress)
    }
}
