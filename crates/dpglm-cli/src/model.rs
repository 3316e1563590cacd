//! Which model a command fits, and its estimates in the user's own units.

use crate::failure::Failure;
use crate::progress::Progress;
use clap::ValueEnum;
use dpglm::central::{Fit, Glm, LinearStatistics, Multinomial, MultinomialFit, Prepared, Privacy, reference};
use dpglm::data::Dataset;
use dpglm::families::Family as OnePredictor;
use dpglm::noise::RandomSource;
use dpglm::privacy::{Certificate, Event};
use dpglm_io::{Domain, UserUnits};
use serde::{Deserialize, Serialize};

/// What kind of response a model explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
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

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Noisy gradient steps: for every family
    Gradient,
    /// Noisy sums of squares and products, in one pass: for a gaussian response
    Statistics,
    /// The exact optimum, without any privacy
    Reference,
}

/// A model, all of it public.
pub struct Model {
    pub family: Family,
    pub method: Method,
    pub domain: Domain,
    pub intercept: bool,
    pub ridge: Option<f64>,
    pub radius: Option<f64>,
    pub level: Option<f64>,
}

/// A model with its noise calibrated.
pub enum Ready {
    Glm(Prepared<Glm>),
    Statistics(Prepared<LinearStatistics>),
    Multinomial(Prepared<Multinomial>),
    Reference,
}

/// What was fitted, in stored units: one block of coefficients, or one a class after the first.
pub struct Estimates {
    pub blocks: Vec<Vec<f64>>,
    /// Covariance of the coefficients and the half-width of an interval in standard errors.
    pub spread: Option<(Vec<f64>, f64)>,
    pub certificate: Certificate,
}

/// One coefficient in the user's units.
pub struct Coefficient {
    pub name: String,
    pub estimate: f64,
    /// Standard error and interval.
    pub spread: Option<(f64, [f64; 2])>,
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

    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
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

impl Method {
    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
    }
}

impl Model {
    /// Refuses what does not fit together, before any table is opened.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: String| Err(Failure::Usage(message));
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
                Family::Gaussian => "a real target with bounds",
                Family::Logistic => "a binary target (--binary, or kind = \"binary\" in the schema)",
                Family::Poisson => "a target with bounds of at least 0 (kind = \"count\" in the schema)",
                Family::Multinomial => "a target with levels (kind = \"category\" in the schema)",
            };
            return refuse(format!(
                "--family {family} needs {wanted}: change the family or the declaration of the target"
            ));
        }
        if self.method == Method::Statistics && self.family != Family::Gaussian {
            return refuse(format!(
                "--method statistics fits gaussian responses only, not {family}: use --method gradient"
            ));
        }
        let plain = self.method == Method::Gradient && self.family != Family::Multinomial;
        let what = match self.method {
            Method::Gradient => format!("--family {family}"),
            method => format!("--method {}", method.name()),
        };
        if self.level.is_some() && !plain {
            return refuse(format!(
                "--intervals cannot be had with {what}: leave them out, or use --method gradient with another family"
            ));
        }
        if self.radius.is_some() && !plain {
            return refuse(format!(
                "--radius cannot be had with {what}: leave it out, or use --method gradient"
            ));
        }
        if self.ridge.is_some() && self.method == Method::Statistics {
            return refuse(format!("--ridge cannot be had with {what}, which chooses its own: leave it out"));
        }
        // The library checks the numbers themselves.
        match self.family {
            Family::Multinomial => self.multinomial().map(drop),
            family => self.glm(family).map(drop),
        }
    }

    /// Calibrates the noise for a table of this shape, the constant column included.
    pub fn prepare(&self, columns: usize, units: usize, privacy: Privacy) -> Result<Ready, Failure> {
        Ok(match (self.method, self.family) {
            (Method::Reference, _) => Ready::Reference,
            (Method::Statistics, _) => {
                let mut model = LinearStatistics::new(self.target_bounds())?;
                if self.intercept {
                    model = model.with_intercept();
                }
                Ready::Statistics(model.prepare(columns, units, privacy)?)
            }
            (Method::Gradient, Family::Multinomial) => {
                Ready::Multinomial(self.multinomial()?.prepare(columns, units, privacy)?)
            }
            (Method::Gradient, family) => Ready::Glm(self.glm(family)?.prepare(columns, units, privacy)?),
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

impl Ready {
    /// What a fit will release; empty without privacy.
    pub fn events(&self) -> Result<Vec<Event>, Failure> {
        Ok(match self {
            Ready::Glm(prepared) => prepared.events()?,
            Ready::Statistics(prepared) => prepared.events()?,
            Ready::Multinomial(prepared) => prepared.events()?,
            Ready::Reference => Vec::new(),
        })
    }

    /// Fits the model.
    pub fn fit(&self, model: &Model, data: &Dataset, rng: &mut RandomSource) -> Result<Estimates, Failure> {
        let mut bar = Progress::new();
        let progress = &mut |done, of| bar.step(done, of);
        Ok(match self {
            Ready::Glm(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Ready::Statistics(prepared) => prepared.fit(data, rng)?.into(),
            Ready::Multinomial(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Ready::Reference => {
                let ridge = model.ridge.unwrap_or(0.0);
                match model.family.one_predictor() {
                    Some(family) => reference::glm(&family, data, ridge, model.intercept)?.into(),
                    None => {
                        reference::multinomial(model.classes().len(), data, ridge, model.intercept)?.into()
                    }
                }
            }
        })
    }
}

impl From<Fit> for Estimates {
    fn from(fit: Fit) -> Self {
        // Every interval is as many standard errors wide.
        let half_width = fit.intervals.iter().flatten().find(|i| i.standard_error > 0.0);
        let half_width = half_width.map_or(0.0, |i| (i.high - i.low) / (2.0 * i.standard_error));
        Self {
            blocks: vec![fit.coefficients],
            spread: fit.covariance.map(|covariance| (covariance, half_width)),
            certificate: fit.certificate,
        }
    }
}

impl From<MultinomialFit> for Estimates {
    fn from(fit: MultinomialFit) -> Self {
        Self { blocks: fit.coefficients, spread: None, certificate: fit.certificate }
    }
}

impl Estimates {
    /// The coefficients of the user's columns. `log_unit` is the logarithm of the unit in which exposures were measured: it
    /// moves from the intercept to the exposures.
    pub fn in_user_units(
        &self,
        model: &Model,
        names: &[String],
        units: &UserUnits,
        log_unit: f64,
    ) -> Vec<Coefficient> {
        let constants = usize::from(model.intercept);
        let classes = model.classes();
        let errors = self.standard_errors(units, constants > 0);
        let mut all = Vec::new();
        for (k, block) in self.blocks.iter().enumerate() {
            let stored = block.get(constants..).unwrap_or_default();
            let intercept = block.first().copied().filter(|_| constants > 0);
            let (slopes, intercept) = units.coefficients(stored, intercept);
            let estimates = intercept.map(|b| b - log_unit).into_iter().chain(slopes);
            let labels =
                (constants > 0).then_some(INTERCEPT).into_iter().chain(names.iter().map(String::as_str));
            for (j, (name, estimate)) in labels.zip(estimates).enumerate() {
                let name = match model.family {
                    Family::Multinomial => coefficient_of_class(&classes, k + 1, name),
                    _ => name.to_owned(),
                };
                let spread = errors.as_ref().and_then(|(errors, half_width)| {
                    let error = *errors.get(j)?;
                    Some((error, [estimate - half_width * error, estimate + half_width * error]))
                });
                all.push(Coefficient { name, estimate, spread });
            }
        }
        all
    }

    /// Standard errors in the user's units, the intercept first, and an interval's half-width in standard errors.
    fn standard_errors(&self, units: &UserUnits, with_intercept: bool) -> Option<(Vec<f64>, f64)> {
        let (covariance, half_width) = self.spread.as_ref()?;
        let size = units.scale.len() + usize::from(with_intercept);
        // The map to the user's units wants the intercept last.
        let from = |i: usize| if with_intercept { (i + 1) % size } else { i };
        let entry = |i: usize, j: usize| covariance.get(from(i) * size + from(j)).copied();
        let reordered: Option<Vec<f64>> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
        let user = units.covariance(&reordered?, with_intercept)?;
        let mut errors: Vec<f64> = (0..size).map(|i| user[i * size + i].max(0.0).sqrt()).collect();
        if with_intercept {
            errors.rotate_right(1);
        }
        Some((errors, *half_width))
    }
}

/// The name of a class's coefficient.
pub fn coefficient_of_class(classes: &[String], class: usize, name: &str) -> String {
    format!("{}:{name}", classes.get(class).map_or("", String::as_str))
}
