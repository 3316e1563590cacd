//! What a user asks for, before it is known to fit together.

use super::{Calibration, Family, Method, Model, Sparse};
use crate::failure::Failure;
use crate::public_facts::PublicFacts;
use crate::survival::Survival;
use crate::tune::Tune;
use dpglm::error::{Message, Parameter};
use dpglm_io::schema::Missing;
use dpglm_io::{Domain, Schema};

/// What a user asks for; what is left out follows from what is publicly known.
#[derive(Default)]
pub struct FitRequest {
    /// What kind of response it is; by default the kind that goes with the target.
    pub family: Option<Family>,
    /// The power of the mean in the variance of a Tweedie family.
    pub power: Option<f64>,
    /// How survival is cut into intervals, where that is what is explained.
    pub survival: Option<Survival>,
    /// Whether the dispersion is to be released too.
    pub dispersion: bool,
    /// How to fit it; by default by maximum likelihood, for few coefficients after a choice of columns.
    pub method: Option<Method>,
    /// Whether scores are to be bounded: a short name of the method that does it.
    pub robust: bool,
    /// The penalty.
    pub ridge: Option<f64>,
    /// The largest l2 norm of the coefficients.
    pub radius: Option<f64>,
    /// The level of intervals.
    pub level: Option<f64>,
    /// What is chosen privately.
    pub tune: Tune,
    /// The number of coefficients that may differ from zero.
    pub sparsity: Option<usize>,
    /// The largest l2 norm of a row.
    pub row_norm: Option<f64>,
    /// The largest l1 norm of the coefficients.
    pub l1_radius: Option<f64>,
    /// The number of steps.
    pub steps: Option<u64>,
    /// The length of a step.
    pub step_length: Option<f64>,
    /// The largest l2 norm of any entries of a row that are as many as the sparsity.
    pub support_norm: Option<f64>,
    /// How much noise is added; by default as much as the budget asks for.
    pub calibration: Option<Calibration>,
    /// Whether one half of the rows chooses columns and the other is fitted.
    pub split: bool,
    /// Whether public rows are given.
    pub has_public_features: bool,
    /// The assumption that was accepted by name.
    pub accepted: Option<String>,
}

/// What a model must know of its table.
pub struct TableFacts {
    /// The values the target can take.
    pub domain: Domain,
    /// Whether the model has an intercept.
    pub intercept: bool,
    /// The largest size of a stored feature that the declared bounds allow.
    pub entry: f64,
    /// Whether the declared bounds allow no stored feature below zero.
    pub nonnegative: bool,
    /// The column that says whose row it is.
    pub unit: Option<String>,
}

impl FitRequest {
    /// The model for a table of which this is known. It is still to be validated.
    pub fn model(self, known: &PublicFacts) -> Result<Model, Failure> {
        let Some(domain) = known.domain()? else {
            return Err(Failure::Usage(Message::new(
                "the schema names no target: write target = \"...\" in it, or give {} COLUMN",
                &[&Parameter::Target],
            )));
        };
        let facts = TableFacts {
            domain,
            intercept: known.intercept(),
            entry: known.largest_entry()?,
            nonnegative: known.nonnegative()?,
            unit: known.unit().map(str::to_owned),
        };
        match known {
            PublicFacts::Schema(schema) => self.model_of(facts, Some(schema)),
            PublicFacts::Uniform(_) => self.model_of(facts, None),
        }
    }

    /// The same from facts, and the schema of the features if there is one.
    pub fn model_of(mut self, mut facts: TableFacts, schema: Option<&Schema>) -> Result<Model, Failure> {
        if self.survival.is_some() {
            let poisson = Family::Single(dpglm::families::Family::poisson());
            if let Some(family) = self.family.replace(poisson.clone()).filter(|family| *family != poisson) {
                return Err(Failure::Usage(Message::new(
                    "{} is fitted as {} poisson, not {}: leave out {}",
                    &[&Parameter::Survival, &Parameter::Family, &family.name(), &Parameter::Family],
                )));
            }
            facts.domain = Survival::domain()?;
        }
        let family = self.family.unwrap_or_else(|| Family::of(&facts.domain));
        let family = match self.power {
            Some(power) => family.with_power(power)?,
            None => family,
        };
        if let Some(exposure) = schema.and_then(Schema::exposure)
            && !family.takes_exposures()
        {
            return Err(Failure::Usage(Message::new(
                "the exposure `{}` goes with {} poisson, gamma or tweedie, not with {}: change the family, or the schema",
                &[&exposure, &Parameter::Family, &family.name()],
            )));
        }
        self.tune.validate(self.sparsity.is_some(), self.ridge.is_some())?;
        if let Some(unit) = &facts.unit
            && self.tune.divides_rows()
        {
            return Err(Failure::Usage(Message::new(
                "{} divides the rows by their place in the table, but the unit `{}` is protected with all of its rows: give \
                 the parameter itself, or leave out the unit",
                &[&Parameter::Tune, &unit],
            )));
        }
        if let Some(unit) = facts.unit.as_ref().filter(|_| self.split) {
            return Err(Failure::Usage(Message::new(
                "{} divides the rows by their place in the table, but the unit `{}` is protected with all of its rows: leave out {}, \
                 or the unit",
                &[&Parameter::Split, unit, &Parameter::Split],
            )));
        }
        let default = || {
            let sparsity = self.sparsity.or(self.tune.sparsity);
            Method::default_for(sparsity, self.row_norm, self.tune.ridge.is_some())
        };
        let method = match (self.robust, self.method) {
            (true, Some(method)) if method != Method::BoundedScore => {
                return Err(Failure::Usage(Message::new(
                    "{} is short for {} {}, not for {}: give one of the two",
                    &[&Parameter::Robust, &Parameter::Method, &Method::BoundedScore.name(), &method.name()],
                )));
            }
            (true, _) => Method::BoundedScore,
            (false, method) => method.unwrap_or_else(default),
        };
        if self.tune.clip
            && !matches!(method, Method::Likelihood | Method::BoundedScore | Method::SelectRefine)
        {
            return Err(Failure::Usage(Message::new(
                "{} clip=auto goes with {} likelihood, bounded-score and select-refine, which find their clip \
                 privately, not with {}: leave it out, or change the method",
                &[&Parameter::Tune, &Parameter::Method, &method.name()],
            )));
        }
        require_plain(method, facts.unit.as_deref(), schema)?;
        require_likelihood(method, &family, (self.dispersion, self.survival.is_some()), schema)?;
        Ok(Model {
            family,
            method,
            survival: self.survival,
            dispersion: self.dispersion,
            by_default: !self.robust && self.method.is_none(),
            domain: facts.domain,
            intercept: facts.intercept,
            ridge: self.ridge,
            ridges: self.tune.ridge,
            radius: self.radius,
            level: self.level,
            sparse: Sparse {
                sparsity: self.sparsity,
                largest: self.tune.sparsity,
                row_norm: self.row_norm,
                l1_radius: self.l1_radius,
                steps: self.steps,
                step_length: self.step_length,
                support_norm: self.support_norm,
                calibration: self.calibration,
                split: self.split,
                has_public_features: self.has_public_features,
                public_features: None,
                accepted: self.accepted,
                entry: facts.entry,
                nonnegative: facts.nonnegative,
            },
            search: None,
        })
    }
}

/// Refuses what maximum likelihood alone takes.
fn require_likelihood(
    method: Method,
    family: &Family,
    (dispersion, survival): (bool, bool),
    schema: Option<&Schema>,
) -> Result<(), Failure> {
    if method == Method::Likelihood {
        return Ok(());
    }
    let weight = schema.and_then(Schema::weight).map(|weight| format!("the sample weight `{weight}`"));
    let what = if survival && method != Method::Reference {
        Message::from(Parameter::Survival)
    } else if dispersion {
        Message::from(Parameter::Dispersion)
    } else if method == Method::Reference {
        return Ok(());
    } else if let Some(weight) = weight {
        weight.into()
    } else if !family.is_classic() {
        Message::new("{} {}", &[&Parameter::Family, &family.name()])
    } else {
        return Ok(());
    };
    Err(Failure::Usage(Message::new(
        "{} goes with {} likelihood, not with {}: leave out one of the two",
        &[&what, &Parameter::Method, &method.name()],
    )))
}

/// Refuses what a method does not take. The library refuses such data as well.
fn require_plain(method: Method, unit: Option<&str>, schema: Option<&Schema>) -> Result<(), Failure> {
    if method.takes_a_whole_model() {
        return Ok(());
    }
    let (what, way_out) = if let Some(unit) = unit.filter(|_| !method.takes_units()) {
        (format!("the unit `{unit}`"), Message::new("use {} select-refine", &[&Parameter::Method]))
    } else if let Some(exposure) = schema.and_then(Schema::exposure) {
        (format!("the exposure `{exposure}`"), Message::new("use {} select-refine", &[&Parameter::Method]))
    } else if method == Method::Iht && schema.is_some_and(|schema| schema.missing() == Missing::Drop) {
        ("missing = \"drop\"".to_owned(), "write missing = \"fill\"".into())
    } else {
        return Ok(());
    };
    Err(Failure::Usage(Message::new(
        "{} {} takes one row a person, of weight 1, and no exposures, but there is {}: {}",
        &[&Parameter::Method, &method.name(), &what, &way_out],
    )))
}
