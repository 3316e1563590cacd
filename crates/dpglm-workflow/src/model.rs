//! Which model a command fits, and by which method.

mod estimates;
mod family;
mod method;
mod ready;
mod request;
mod sparse;

use super::failure::Failure;
use super::search::ModelSearch;
use super::survival::Survival;
use dpglm::accounting::Certificate;
use dpglm::central::{Glm, LinearStatistics, Multinomial, reference};
use dpglm::data::Shape;
use dpglm::error::{Message, Parameter};
use dpglm::estimators::dense::Regression;
use dpglm::release::{Estimator, Privacy};
use dpglm::tuning::TunedRidge;
use dpglm_io::Domain;
use ready::Chosen;
use std::borrow::Cow;

pub(crate) use estimates::MOST_COVARIANCES;
pub use estimates::{Coefficient, Estimates, coefficient_of_class};
pub use family::Family;
pub use method::{Calibration, Method};
pub use ready::Ready;
pub use request::{FitRequest, TableFacts};
pub use sparse::{PublicFeatures, Sparse};

/// A model, all of it public.
#[derive(Clone)]
pub struct Model {
    /// What kind of response it explains.
    pub family: Family,
    /// How it is fitted.
    pub method: Method,
    /// How survival is cut into intervals, where that is what is explained.
    pub survival: Option<Survival>,
    /// Whether the dispersion is to be released too.
    pub dispersion: bool,
    /// Whether the user named no method: public facts of the table may decide then.
    pub by_default: bool,
    /// The values its target can take.
    pub domain: Domain,
    /// Whether it has an intercept.
    pub intercept: bool,
    /// The penalty on the squared l2 norm of the coefficients, for columns scaled to [-1, 1].
    pub ridge: Option<f64>,
    /// Penalties to choose one from privately.
    pub ridges: Option<Vec<f64>>,
    /// The largest l2 norm of the coefficients.
    pub radius: Option<f64>,
    /// The level of confidence intervals.
    pub level: Option<f64>,
    /// What sparse methods need beside.
    pub sparse: Sparse,
    /// Bounds that are to be found first.
    pub search: Option<ModelSearch>,
}

/// The name of the intercept in tables and artefacts.
pub const INTERCEPT: &str = "(Intercept)";

impl Model {
    /// Refuses what does not fit together, before any table is opened.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        let family = self.family.name();
        if !self.family.fits(&self.domain) {
            let wanted = self.family.needs();
            return refuse(Message::new(
                "{} {} needs {}: change the family or the declaration of the target",
                &[&Parameter::Family, &family, &wanted],
            ));
        }
        if self.method == Method::Statistics && !self.family.is_linear() {
            return refuse(Message::new(
                "{} statistics fits gaussian responses only, not {}: use {} likelihood",
                &[&Parameter::Method, &family, &Parameter::Method],
            ));
        }
        let name = self.method.name();
        for (flag, is_given, takes) in [
            (Parameter::Intervals, self.level.is_some(), self.method.takes_intervals()),
            (Parameter::Radius, self.radius.is_some(), self.method.takes_radius()),
            (Parameter::Ridge, self.ridge.is_some(), self.method.takes_ridge()),
        ] {
            if !is_given {
                continue;
            }
            if !takes {
                let other = match self.method {
                    Method::Reference => Message::new(
                        "likelihood (with {} inf it adds no noise either)",
                        &[&Parameter::Epsilon],
                    ),
                    method if method.is_sparse() => "select-refine".into(),
                    _ => "likelihood".into(),
                };
                return refuse(Message::new(
                    "{} cannot be had with {} {}: leave it out, or use {} {}",
                    &[&flag, &Parameter::Method, &name, &Parameter::Method, &other],
                ));
            }
            let fits = flag == Parameter::Ridge || self.method == Method::Likelihood;
            if self.family == Family::Multinomial && !fits {
                return refuse(Message::new(
                    "{} cannot be had with {} {}: leave it out, or use another family",
                    &[&flag, &Parameter::Family, &family],
                ));
            }
        }
        if self.ridges.is_some()
            && (self.method != Method::BoundedScore || self.family == Family::Multinomial)
        {
            return refuse(Message::new(
                "{} ridge=auto goes with {} bounded-score and one predictor, not with {} and {}: give {} R",
                &[&Parameter::Tune, &Parameter::Method, &name, &family, &Parameter::Ridge],
            ));
        }
        let has_levels = self.family.has_levels();
        if self.dispersion && has_levels {
            return refuse(Message::new(
                "{} goes with numbers and counts: the variance of a response of levels follows from its mean, so leave it out",
                &[&Parameter::Dispersion],
            ));
        }
        self.validate_sparse()?;
        // The library checks the numbers themselves.
        match self.family.one_predictor() {
            _ if self.method == Method::Likelihood => self.regression().map(drop),
            None => self.multinomial().map(drop),
            Some(_) => self.glm().map(drop),
        }
    }

    /// Refuses a method that looks at rows in memory.
    pub fn require_passes(&self) -> Result<(), Failure> {
        if self.survival.is_some() {
            return Err(Failure::Usage(Message::new(
                "{} holds the table in memory, where it is cut into intervals: leave out {}",
                &[&Parameter::Survival, &Parameter::Memory],
            )));
        }
        if self.method == Method::Likelihood {
            return Ok(());
        }
        Err(Failure::Usage(Message::new(
            "{} {} holds the table in memory: leave out {}, or use {} likelihood, which reads it block by block",
            &[&Parameter::Method, &self.method.name(), &Parameter::Memory, &Parameter::Method],
        )))
    }

    /// The shape of what is fitted, of a table of this shape.
    pub fn fitted_shape(&self, shape: Shape) -> Shape {
        match &self.survival {
            None => shape,
            Some(survival) => Shape { columns: shape.columns + survival.cuts.len(), ..shape.grouped() },
        }
    }

    /// A certificate says too what the model makes of rows.
    pub fn noted(&self, certificate: Certificate) -> Certificate {
        if self.survival.is_some() { Survival::noted(certificate) } else { certificate }
    }

    /// How many linear predictors a row has.
    pub fn outputs(&self) -> usize {
        if self.family == Family::Multinomial { self.classes().len() } else { 1 }
    }

    /// The model for a table of this shape: so wide a one that a fit of all columns would be noise is fitted on few of them, unless
    /// the user asked for something else; and intervals of columns that are chosen first come from rows that did not choose them.
    pub fn for_shape(&self, shape: Shape, privacy: Privacy) -> Cow<'_, Self> {
        let model = self.for_width(shape, privacy);
        if !model.needs_halves(shape, privacy) {
            return model;
        }
        let mut halved = model.into_owned();
        halved.sparse.split = true;
        Cow::Owned(halved)
    }

    fn for_width(&self, shape: Shape, privacy: Privacy) -> Cow<'_, Self> {
        let is_plain = self.by_default && self.method == Method::Likelihood && self.search.is_none();
        let is_plain = is_plain
            && self.family.is_classic()
            && !self.dispersion
            && !shape.weighted
            && self.survival.is_none();
        if !is_plain || self.family == Family::Multinomial || !sparse::is_too_wide(shape, privacy) {
            return Cow::Borrowed(self);
        }
        let mut few = self.clone();
        few.method = Method::SelectRefine;
        few.sparse.sparsity = Some(sparse::MOST_BY_DEFAULT);
        Cow::Owned(few)
    }

    /// Calibrates the noise for a table of this shape, the constant column included.
    pub fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Ready, Failure> {
        self.chosen()?(shape, privacy)
    }

    /// The estimator that the method names.
    fn chosen(&self) -> Result<Chosen<'_>, Failure> {
        Ok(match (self.method, self.family.one_predictor()) {
            (Method::Likelihood, _) => {
                let regression = self.regression()?;
                Box::new(move |shape, privacy| Ok(Ready::in_passes(regression.prepare(shape, privacy)?)))
            }
            (Method::Reference, family) => {
                let (ridge, intercept, classes) =
                    (self.ridge.unwrap_or(0.0), self.intercept, self.classes().len());
                let family = family.cloned();
                Ready::exact(move |data| {
                    Ok(match &family {
                        Some(family) => reference::glm(family, data, ridge, intercept)?.into(),
                        None => reference::multinomial(classes, data, ridge, intercept)?.into(),
                    })
                })
            }
            (method, _) if method.is_sparse() => self.chosen_sparse()?,
            (Method::Statistics, _) => {
                let mut model = LinearStatistics::new(self.target_bounds())?;
                if self.intercept {
                    model = model.with_intercept();
                }
                if let Some(level) = self.level {
                    model = model.intervals(level)?;
                }
                Ready::by(model, Estimates::from)
            }
            (_, None) => Ready::by(self.multinomial()?, Estimates::from),
            (_, Some(_)) => match &self.ridges {
                Some(ridges) => {
                    let tuned = TunedRidge::new(self.glm()?, ridges.clone())?;
                    Ready::by(tuned, |found| Estimates { ridge: Some(found.ridge), ..found.fit.into() })
                }
                None => Ready::by(self.glm()?, Estimates::from),
            },
        })
    }

    /// The classes of a multinomial response.
    pub fn classes(&self) -> Vec<String> {
        match &self.domain {
            Domain::Category(levels) => levels.clone(),
            Domain::Binary(levels) => levels.to_vec(),
            Domain::Real(_) | Domain::Count(_) => Vec::new(),
        }
    }

    fn target_bounds(&self) -> (f64, f64) {
        match &self.domain {
            Domain::Real(bounds) | Domain::Count(bounds) => (bounds.lower(), bounds.upper()),
            Domain::Binary(_) | Domain::Category(_) => (0.0, 1.0),
        }
    }

    pub(super) fn regression(&self) -> Result<Regression, Failure> {
        let likelihood = self.family.likelihood(self.target_bounds(), self.classes().len());
        let mut model = Regression::new(likelihood)?;
        if self.intercept {
            model = model.with_intercept();
        }
        if let Some(ridge) = self.ridge {
            model = model.ridge(ridge)?;
        }
        if let Some(radius) = self.radius {
            model = model.radius(radius)?;
        }
        if let Some(level) = self.level {
            model = model.intervals(level)?;
        }
        if self.dispersion {
            model = model.dispersion()?;
        }
        if let Some(search) = &self.search {
            model = model.searching(search.sought(self.intercept), search.target, search.share)?;
        }
        Ok(model)
    }

    /// A model of one linear predictor.
    fn glm(&self) -> Result<Glm, Failure> {
        let Some(family) = self.family.one_predictor() else {
            return Err(Failure::Usage(Message::new(
                "{} {} has several linear predictors, and this method takes one: choose another family",
                &[&Parameter::Family, &self.family.name()],
            )));
        };
        let mut model = Glm::new(family.clone(), self.target_bounds())?;
        if self.intercept {
            model = model.with_intercept();
        }
        if let Some(ridge) = self.ridge {
            model = model.ridge(ridge)?;
        }
        if let Some(radius) = self.radius {
            model = model.radius(radius)?;
        }
        if let Some(level) = self.level {
            model = model.intervals(level)?;
        }
        Ok(model)
    }

    fn multinomial(&self) -> Result<Multinomial, Failure> {
        let mut model = Multinomial::new(self.classes().len())?;
        if self.intercept {
            model = model.with_intercept();
        }
        Ok(match self.ridge {
            Some(ridge) => model.ridge(ridge)?,
            None => model,
        })
    }
}
