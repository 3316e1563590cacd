//! What a user asks for as a model or as means, and its artefact as JSON.

use super::ledger::{PaidFrom, payer};
use super::running;
use super::table::{Table, schema};
use super::values::{self, Number};
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::privacy::Adjacency;
use dpglm_io::{EncodedColumn, Schema, Target, UniformBounds};
use dpglm_workflow::ledger::Grant;
use dpglm_workflow::means::{MeanMethod, Means};
use dpglm_workflow::model::{FitRequest, Method, Model, TableFacts};
use dpglm_workflow::survival::Survival;
use dpglm_workflow::tune::{self, Tune};
use dpglm_workflow::{Failure, PublicFacts, budget, fit as assembly, planned, render};
use extendr_api::Robj;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

type Done<T> = Result<T, Failure>;

/// The budget and the source of noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgeted {
    epsilon: Option<Number>,
    delta: Option<Number>,
    insecure_seed: Option<u64>,
}

impl Budgeted {
    /// Each number is checked by itself first, as flags are.
    fn numbers(&self) -> Done<(Option<f64>, Option<f64>)> {
        let epsilon = self.epsilon.map(|x| budget::epsilon(x.0)).transpose()?;
        Ok((epsilon, self.delta.map(|x| budget::delta(x.0)).transpose()?))
    }

    /// The budget, or why it cannot be granted.
    pub fn granted(&self) -> Done<Privacy> {
        let (epsilon, delta) = self.numbers()?;
        budget::privacy(epsilon, delta)
    }

    /// What an audit compares with.
    pub fn claimed(&self) -> Done<Privacy> {
        let (epsilon, delta) = self.numbers()?;
        budget::claimed(epsilon, delta)
    }

    pub fn delta(&self) -> Option<f64> {
        self.delta.map(|x| x.0)
    }

    /// Where noise comes from.
    pub fn source(&self) -> Done<RandomSource> {
        Ok(match self.insecure_seed {
            Some(seed) => RandomSource::insecure_seeded(seed),
            None => RandomSource::from_os()?,
        })
    }
}

/// What is asked of a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    budget: Budgeted,
    family: Option<String>,
    power: Option<f64>,
    /// Where the hazard may change, of a model of survival whose times are the exposure.
    cuts: Option<Vec<f64>>,
    dispersion: bool,
    method: Option<String>,
    robust: bool,
    ridge: Option<f64>,
    radius: Option<f64>,
    intervals: Option<f64>,
    tune: Option<String>,
    sparsity: Option<usize>,
    row_norm: Option<f64>,
    l1_radius: Option<f64>,
    accept: Option<String>,
    /// Whether all features have the same bounds, as without a schema.
    uniform: bool,
    /// The part of the budget for the bounds of numbers that have a magnitude in their place.
    bounds_share: Option<f64>,
}

/// What is asked of means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedMeans {
    budget: Budgeted,
    method: Option<String>,
    intervals: Option<f64>,
    tune: Option<String>,
    sparsity: Option<usize>,
    deviations: Option<(f64, f64)>,
    precision: Option<BTreeMap<String, f64>>,
    by: Option<String>,
    weights: Option<String>,
    missing: String,
    /// The bounds of all features, where they are the same.
    uniform: Option<(f64, f64)>,
    bounds_share: Option<f64>,
}

/// Refuses a budget that cannot be granted, before anything else is looked at.
pub fn check_budget(asked: &Robj) -> Done<()> {
    values::read::<Budgeted>(asked)?.granted().map(drop)
}

/// Refuses bounds that cannot be used; `key` is what the user calls them.
pub fn check_bounds(key: &str, low: f64, high: f64) -> Done<()> {
    dpglm_io::bounds::declared(key, low, high)?;
    Ok(())
}

fn tuned(text: Option<&str>) -> Done<Tune> {
    Ok(text.map(tune::parse).transpose().map_err(Failure::Usage)?.unwrap_or_default())
}

impl Asked {
    fn privacy(&self, method: Method) -> Done<Privacy> {
        if method.is_private() {
            return self.budget.granted();
        }
        let private = Method::default_for((method == Method::Iht).then_some(1), None, false);
        let given = (self.budget.epsilon.map(|x| x.0), self.budget.delta(), self.budget.insecure_seed);
        budget::none(&method.name(), &private.name(), given)
    }

    pub fn budget(&self) -> &Budgeted {
        &self.budget
    }

    /// The model for these features and this target.
    pub fn model(&self, target: &Target, columns: &[EncodedColumn], schema: &Schema) -> Done<Model> {
        let size = |c: &EncodedColumn| c.scaling.lower.abs().max(c.scaling.upper.abs());
        let entry = if self.uniform { 1.0 } else { columns.iter().map(size).fold(0.0, f64::max) };
        let survival = match &self.cuts {
            None => None,
            Some(cuts) => {
                let time = schema.exposure().unwrap_or_default();
                Some(Survival::of_exposure(schema, time, &target.name, cuts.clone())?)
            }
        };
        let request = FitRequest {
            family: self.family.as_deref().map(|name| render::named("family", name)).transpose()?,
            power: self.power,
            dispersion: self.dispersion,
            survival,
            method: self.method.as_deref().map(|name| render::named("method", name)).transpose()?,
            robust: self.robust,
            ridge: self.ridge,
            radius: self.radius,
            level: self.intervals,
            tune: tuned(self.tune.as_deref())?,
            sparsity: self.sparsity,
            row_norm: self.row_norm,
            l1_radius: self.l1_radius,
            steps: None,
            step_length: None,
            support_norm: None,
            calibration: None,
            split: false,
            has_public_features: false,
            accepted: self.accept.clone(),
        };
        let unit = schema.unit().map(str::to_owned);
        let nonnegative = columns.iter().all(|c| c.scaling.lower >= 0.0);
        let intercept = schema.intercept();
        let facts = TableFacts { domain: target.domain.clone(), intercept, entry, nonnegative, unit };
        let model = request.model_of(facts, (!self.uniform).then_some(schema))?;
        model.validate()?;
        model.searching(self.bounds_share, columns, schema, Some(target))
    }
}

fn without_target() -> Failure {
    Failure::Usage("there is no response to explain: the formula has none".into())
}

/// Begins to fit a model to a table with its response.
pub fn fit(table: &Table, asked: &Robj, ledger: &Robj) -> Done<Robj> {
    let payer = payer(values::read::<Option<PaidFrom>>(ledger)?)?;
    let asked: Asked = values::read(asked)?;
    let target = table.target.clone().ok_or_else(without_target)?;
    let model = asked.model(&target, &table.columns, &table.schema)?;
    let privacy = asked.privacy(model.method)?;
    let mut rng = match model.method.is_private() {
        true => asked.budget.source()?,
        // No noise is drawn.
        false => RandomSource::insecure_seeded(0),
    };
    let prepared = assembly::prepare(&model, table.take()?, table.schema.clone(), Path::new(&table.from))?;
    Ok(running::start(move |say, progress| {
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.fit(&model, grant, &mut rng, say, progress)?;
        Ok((render::json(&document)?, None))
    }))
}

/// Begins to take means of a table's columns.
pub fn mean(table: &Table, asked: &Robj, ledger: &Robj) -> Done<Robj> {
    let payer = payer(values::read::<Option<PaidFrom>>(ledger)?)?;
    let asked: AskedMeans = values::read(asked)?;
    let (means, privacy) = asked.means(&table.schema)?;
    let mut rng = asked.budget.source()?;
    let encoded = table.take()?;
    Ok(running::start(move |say, progress| {
        // Means have no steps to stop between, but none begins, and nothing is paid, after an interrupt.
        progress(0, 1);
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = assembly::take_means(&means, &encoded, grant, &mut rng, say)?;
        Ok((render::json(&document)?, None))
    }))
}

impl AskedMeans {
    pub fn budget(&self) -> &Budgeted {
        &self.budget
    }

    pub fn sparsity(&self) -> Option<usize> {
        self.sparsity
    }

    /// What an audit of means cannot follow, each with whether it is given.
    pub fn beyond_audits(&self) -> [(&'static str, bool); 8] {
        [
            ("dp_magnitude()", self.bounds_share.is_some()),
            ("by", self.by.is_some()),
            ("weights", self.weights.is_some()),
            ("precision", self.precision.is_some()),
            ("missing", self.missing != "fill"),
            ("tune", self.tune.is_some()),
            ("intervals", self.intervals.is_some()),
            ("deviations", self.deviations.is_some()),
        ]
    }

    pub fn method(&self) -> Done<MeanMethod> {
        let is_sparse = self.sparsity.is_some() || tuned(self.tune.as_deref())?.sparsity.is_some();
        let default = Means::default_method(self.uniform.is_some(), is_sparse);
        self.method.as_deref().map_or(Ok(default), |name| render::named("method", name))
    }

    fn means(&self, schema: &Schema) -> Done<(Means, Privacy)> {
        let means = Means {
            level: self.intervals,
            sparsity: self.sparsity,
            largest: Means::largest(&tuned(self.tune.as_deref())?)?,
            deviations: self.deviations,
            unit: schema.unit().map(str::to_owned),
            weights: self.precision.iter().flatten().map(|(name, w)| (name.clone(), *w)).collect(),
            bounds_share: self.bounds_share,
            ..Means::by_method(self.method()?)
        };
        let means = means.under(schema);
        means.validate()?;
        means.require_zero(&match self.uniform {
            Some((low, high)) => PublicFacts::Uniform(UniformBounds::new(low, high)),
            None => PublicFacts::Schema(schema.clone()),
        })?;
        Ok((means, self.budget.granted()?))
    }
}

/// The schema, as JSON, under which a table is read for means: with its groups and survey weights apart from the features.
pub fn schema_of_means(features: &Robj, by: Option<&str>, weights: Option<&str>) -> Done<String> {
    let schema = Means::schema(schema(features)?, by, weights)?;
    serde_json::to_string(&schema).map_err(|error| Failure::Failed(error.to_string().into()))
}

/// The certificate, as JSON, that a fit of so many rows, or units, would carry. No row is needed.
pub fn planned_fit(asked: &Robj, declared: &Robj, rows: usize) -> Done<String> {
    let (asked, schema) = (values::read::<Asked>(asked)?, schema(declared)?);
    let (columns, target) = schema.encoded()?;
    let model = asked.model(&target.ok_or_else(without_target)?, &columns, &schema)?;
    let privacy = asked.privacy(model.method)?;
    let shape = schema.shape(columns.len() + usize::from(model.intercept), rows);
    let ready = model.for_shape(shape, privacy).prepare(shape, privacy)?;
    let (events, parts, rng) = (ready.events()?, ready.parts()?, asked.budget.source()?);
    Ok(planned::certificate(events, parts, adjacency(&schema), model.assumption(), privacy, &rng)?.to_json())
}

/// The same for means.
pub fn planned_mean(asked: &Robj, declared: &Robj, rows: usize) -> Done<String> {
    let (asked, schema) = (values::read::<AskedMeans>(asked)?, schema(declared)?);
    let (means, privacy) = asked.means(&schema)?;
    let (columns, rng) = (schema.encoded()?.0, asked.budget.source()?);
    Ok(means.estimator(&columns)?.planned(columns.len(), rows, adjacency(&schema), privacy, &rng)?.to_json())
}

fn adjacency(schema: &Schema) -> Adjacency {
    schema.unit().map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned()))
}
