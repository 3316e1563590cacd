//! Which model a command fits, and by which method.

mod estimates;
mod method;
mod ready;
mod request;
mod sparse;

use super::failure::Failure;
use super::render;
use super::search::ModelSearch;
use dpglm::central::{Glm, LinearStatistics, Multinomial, reference};
use dpglm::data::Shape;
use dpglm::error::{Message, Parameter};
use dpglm::estimators::dense::{Likelihood, Regression};
use dpglm::families::Family as OnePredictor;
use dpglm::release::{Estimator, Privacy};
use dpglm::tuning::TunedRidge;
use dpglm_io::Domain;
use ready::Chosen;
use serde::{Deserialize, Serialize};

pub(crate) use estimates::coefficient_of_class;
pub use estimates::{Coefficient, Estimates};
pub use method::Method;
pub use ready::Ready;
pub use request::{FitRequest, TableFacts};
pub use sparse::{PublicFeatures, Sparse};

/// What kind of response a model explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A real response: linear regression
    Gaussian,
    /// A response of two levels: logistic regression
    Logistic,
    /// A count, perhaps with an exposure: log-linear regression
    Poisson,
    /// A response of several levels: softmax regression
    Multinomial,
}

/// A model, all of it public.
pub struct Model {
    /// What kind of response it explains.
    pub family: Family,
    /// How it is fitted.
    pub method: Method,
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

impl Family {
    /// The family that goes with a target.
    pub fn of(domain: &Domain) -> Self {
        match domain {
            Domain::Real(_) => Family::Gaussian,
            Domain::Count(_) => Family::Poisson,
            Domain::Binary(_) => Family::Logistic,
            Domain::Category(_) => Family::Multinomial,
        }
    }

    /// Its name on the command line and in Python.
    pub fn name(self) -> String {
        render::name(&self)
    }

    /// The same as a family with one linear predictor; a multinomial one has several.
    pub fn one_predictor(self) -> Option<OnePredictor> {
        match self {
            Family::Gaussian => Some(OnePredictor::Gaussian),
            Family::Logistic => Some(OnePredictor::Logistic),
            Family::Poisson => Some(OnePredictor::Poisson),
            Family::Multinomial => None,
        }
    }
}

impl Model {
    /// Refuses what does not fit together, before any table is opened.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        let family = self.family.name();
        let fits = match (self.family, &self.domain) {
            (Family::Gaussian, Domain::Real(_) | Domain::Count(_) | Domain::Binary(_)) => true,
            (Family::Logistic, Domain::Binary(_)) => true,
            (Family::Poisson, Domain::Count(bounds) | Domain::Real(bounds)) => bounds.lower() >= 0.0,
            (Family::Multinomial, Domain::Binary(_) | Domain::Category(_)) => true,
            _ => false,
        };
        if !fits {
            let wanted = match self.family {
                Family::Gaussian => "a real target with bounds".into(),
                Family::Logistic => Message::new(
                    "a binary target ({}, or kind = \"binary\" in the schema)",
                    &[&Parameter::Binary],
                ),
                Family::Poisson => {
                    "a target with bounds of at least 0 (kind = \"count\" in the schema)".into()
                }
                Family::Multinomial => "a target with levels (kind = \"category\" in the schema)".into(),
            };
            return refuse(Message::new(
                "{} {} needs {}: change the family or the declaration of the target",
                &[&Parameter::Family, &family, &wanted],
            ));
        }
        if self.method == Method::Statistics && self.family != Family::Gaussian {
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
        self.validate_sparse()?;
        // The library checks the numbers themselves.
        match self.family {
            _ if self.method == Method::Likelihood => self.regression().map(drop),
            Family::Multinomial => self.multinomial().map(drop),
            family => self.glm(family).map(drop),
        }
    }

    /// Refuses a method that looks at rows in memory.
    pub fn require_passes(&self) -> Result<(), Failure> {
        if self.method == Method::Likelihood {
            return Ok(());
        }
        Err(Failure::Usage(Message::new(
            "{} {} holds the table in memory: leave out {}, or use {} likelihood, which reads it block by block",
            &[&Parameter::Method, &self.method.name(), &Parameter::Memory, &Parameter::Method],
        )))
    }

    /// How many linear predictors a row has.
    pub fn outputs(&self) -> usize {
        if self.family == Family::Multinomial { self.classes().len() } else { 1 }
    }

    /// Calibrates the noise for a table of this shape, the constant column included.
    pub fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Ready, Failure> {
        self.chosen()?(shape, privacy)
    }

    /// The estimator that the method names.
    fn chosen(&self) -> Result<Chosen<'_>, Failure> {
        Ok(match (self.method, self.family) {
            (Method::Likelihood, _) => {
                let regression = self.regression()?;
                Box::new(move |shape, privacy| Ok(Ready::in_passes(regression.prepare(shape, privacy)?)))
            }
            (Method::Reference, _) => {
                let (ridge, intercept, classes) =
                    (self.ridge.unwrap_or(0.0), self.intercept, self.classes().len());
                let family = self.family.one_predictor();
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
            (_, Family::Multinomial) => Ready::by(self.multinomial()?, Estimates::from),
            (_, family) => match &self.ridges {
                Some(ridges) => {
                    let tuned = TunedRidge::new(self.glm(family)?, ridges.clone())?;
                    Ready::by(tuned, |found| Estimates { ridge: Some(found.ridge), ..found.fit.into() })
                }
                None => Ready::by(self.glm(family)?, Estimates::from),
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
        let (low, high) = self.target_bounds();
        let mut model = Regression::new(match self.family {
            Family::Gaussian => Likelihood::Gaussian { low, high },
            Family::Logistic => Likelihood::Logistic,
            Family::Poisson => Likelihood::Poisson { low, high },
            Family::Multinomial => Likelihood::Multinomial { classes: self.classes().len() },
        })?;
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
        if let Some(search) = &self.search {
            model = model.searching(search.sought(self.intercept), search.target, search.share)?;
        }
        Ok(model)
    }

    fn glm(&self, family: Family) -> Result<Glm, Failure> {
        let family = family.one_predictor().unwrap_or(OnePredictor::Gaussian);
        let mut model = Glm::new(family, self.target_bounds())?;
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
