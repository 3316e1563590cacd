//! What a user asks for as a model, and its artefact as JSON.

use super::ledger::{PaidFrom, payer};
use super::running;
use super::table::{Table, schema};
use super::words::{self, exception};
use dpglm::central::Privacy;
use dpglm::error::Message;
use dpglm::noise::RandomSource;
use dpglm::privacy::Adjacency;
use dpglm_io::{EncodedColumn, Target, UniformBounds};
use dpglm_workflow::ledger::Grant;
use dpglm_workflow::means::{MeanMethod, Means};
use dpglm_workflow::model::{FitRequest, Method, Model, PublicFeatures, TableFacts};
use dpglm_workflow::survival::Survival;
use dpglm_workflow::tune::{self, Tune};
use dpglm_workflow::{Failure, PublicFacts, budget, fit as assembly, planned, render};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// What is asked of a model.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    epsilon: Option<f64>,
    delta: Option<f64>,
    insecure_seed: Option<u64>,
    family: Option<String>,
    power: Option<f64>,
    dispersion: bool,
    /// Where the hazard may change, of a model of survival whose times are the exposure.
    cuts: Option<Vec<f64>>,
    method: Option<String>,
    robust: bool,
    ridge: Option<f64>,
    radius: Option<f64>,
    intervals: Option<f64>,
    tune: Option<String>,
    sparsity: Option<usize>,
    row_norm: Option<f64>,
    l1_radius: Option<f64>,
    steps: Option<u64>,
    step_length: Option<f64>,
    support_norm: Option<f64>,
    calibration: Option<String>,
    split: bool,
    accept: Option<String>,
    /// Whether all features have the same bounds, as without a schema.
    uniform: bool,
    /// The part of the budget for the bounds of numbers that have a magnitude in their place.
    bounds_share: Option<f64>,
}

/// What is asked of means.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AskedMeans {
    epsilon: Option<f64>,
    delta: Option<f64>,
    insecure_seed: Option<u64>,
    method: Option<String>,
    intervals: Option<f64>,
    tune: Option<String>,
    sparsity: Option<usize>,
    deviations: Option<(f64, f64)>,
    weights: Option<BTreeMap<String, f64>>,
    by: Option<String>,
    sample_weight: Option<String>,
    missing: String,
    /// The bounds of all features, where they are the same.
    uniform: Option<(f64, f64)>,
    /// The part of the budget for the bounds of numbers that have a magnitude in their place.
    bounds_share: Option<f64>,
}

/// Refuses a budget that cannot be granted, before anything else is looked at.
#[pyfunction]
#[pyo3(signature = (epsilon, delta))]
pub fn check_budget(epsilon: Option<f64>, delta: Option<f64>) -> PyResult<()> {
    granted(epsilon, delta).map(drop).map_err(exception)
}

/// Refuses bounds that cannot be used; `key` is what the user calls them.
#[pyfunction]
pub fn check_bounds(key: &str, low: f64, high: f64) -> PyResult<()> {
    dpglm_io::bounds::declared(key, low, high).map(drop).map_err(exception)
}

pub fn granted(epsilon: Option<f64>, delta: Option<f64>) -> Result<Privacy, Failure> {
    let (epsilon, delta) = numbers(epsilon, delta)?;
    budget::privacy(epsilon, delta)
}

fn claimed(epsilon: Option<f64>, delta: Option<f64>) -> Result<Privacy, Failure> {
    let (epsilon, delta) = numbers(epsilon, delta)?;
    budget::claimed(epsilon, delta)
}

/// Each number is checked by itself first, as flags are.
fn numbers(epsilon: Option<f64>, delta: Option<f64>) -> Result<(Option<f64>, Option<f64>), Failure> {
    Ok((epsilon.map(budget::epsilon).transpose()?, delta.map(budget::delta).transpose()?))
}

pub fn source(seed: Option<u64>) -> Result<RandomSource, Failure> {
    Ok(match seed {
        Some(seed) => RandomSource::insecure_seeded(seed),
        None => RandomSource::from_os()?,
    })
}

fn tuned(text: Option<&str>) -> Result<Tune, Failure> {
    Ok(text.map(tune::parse).transpose().map_err(Failure::Usage)?.unwrap_or_default())
}

impl Asked {
    pub fn privacy(&self, method: Method) -> Result<Privacy, Failure> {
        if method.is_private() {
            return granted(self.epsilon, self.delta);
        }
        let private = Method::default_for((method == Method::Iht).then_some(1), None, false);
        budget::none(&method.name(), &private.name(), (self.epsilon, self.delta, self.insecure_seed))
    }

    pub fn delta(&self) -> Option<f64> {
        self.delta
    }

    pub fn claimed(&self) -> Result<Privacy, Failure> {
        claimed(self.epsilon, self.delta)
    }

    pub fn source(&self) -> Result<RandomSource, Failure> {
        source(self.insecure_seed)
    }

    pub fn sparsity(&self) -> Option<usize> {
        self.sparsity
    }

    /// The model for these features and this target.
    pub fn model(
        &self,
        target: &Target,
        columns: &[EncodedColumn],
        schema: &dpglm_io::Schema,
        public: Option<&Table>,
    ) -> Result<Model, Failure> {
        let size = |c: &EncodedColumn| c.scaling.lower.abs().max(c.scaling.upper.abs());
        let entry = if self.uniform { 1.0 } else { columns.iter().map(size).fold(0.0, f64::max) };
        let survival = match &self.cuts {
            None => None,
            Some(cuts) => {
                let time = schema.exposure().unwrap_or_default().to_owned();
                Some(Survival::of_exposure(schema, &time, &target.name, cuts.clone())?)
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
            steps: self.steps,
            step_length: self.step_length,
            support_norm: self.support_norm,
            calibration: self
                .calibration
                .as_deref()
                .map(|name| render::named("calibration", name))
                .transpose()?,
            split: self.split,
            has_public_features: public.is_some(),
            accepted: self.accept.clone(),
        };
        let unit = schema.unit().map(str::to_owned);
        let nonnegative = columns.iter().all(|c| c.scaling.lower >= 0.0);
        let intercept = schema.intercept();
        let facts = TableFacts { domain: target.domain.clone(), intercept, entry, nonnegative, unit };
        let mut model = request.model_of(facts, (!self.uniform).then_some(schema))?;
        model.validate()?;
        model = model.searching(self.bounds_share, columns, schema, Some(target))?;
        if let Some(table) = public {
            let design = table.take()?.design;
            model.sparse.public_features = Some(PublicFeatures { design, names: table.names() });
        }
        Ok(model)
    }
}

/// Fits a model to a table with its response. Gives the artefact's JSON and what is to be said beside it.
#[pyfunction]
#[pyo3(signature = (table, asked, public=None, progress=None, ledger=None))]
pub fn fit(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    asked: Asked,
    public: Option<&Bound<'_, Table>>,
    progress: Option<Py<PyAny>>,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let (table, public) = (table.get(), public.map(Bound::get));
    let Some(target) = table.target.clone() else {
        return Err(exception(Failure::Usage("there is no target to explain: give y".into())));
    };
    let model = asked.model(&target, &table.columns, &table.schema, public).map_err(exception)?;
    let privacy = asked.privacy(model.method).map_err(exception)?;
    let mut rng = match model.method.is_private() {
        true => asked.source().map_err(exception)?,
        // No noise is drawn.
        false => RandomSource::insecure_seeded(0),
    };
    let encoded = table.take();
    let prepared = py
        .detach(|| assembly::prepare(&model, encoded?, table.schema.clone(), Path::new(&table.from)))
        .map_err(exception)?;
    running::run(py, progress.as_ref(), move |progress| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.fit(&model, grant, &mut rng, say, progress)?;
        Ok((render::json(&document)?, said))
    })
}

/// Takes means of a table's columns. Gives the artefact's JSON and what is to be said beside it.
#[pyfunction]
#[pyo3(signature = (table, asked, ledger=None))]
pub fn mean(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    asked: AskedMeans,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let table = table.get();
    let (means, privacy) = asked.means(&table.schema).map_err(exception)?;
    let mut rng = source(asked.insecure_seed).map_err(exception)?;
    let encoded = table.take().map_err(exception)?;
    running::run(py, None, move |_| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = assembly::take_means(&means, &encoded, grant, &mut rng, say)?;
        Ok((render::json(&document)?, said))
    })
}

impl AskedMeans {
    pub fn claimed(&self) -> Result<Privacy, Failure> {
        claimed(self.epsilon, self.delta)
    }

    pub fn delta(&self) -> Option<f64> {
        self.delta
    }

    pub fn sparsity(&self) -> Option<usize> {
        self.sparsity
    }

    /// What an audit of means cannot follow, each with whether it is given.
    pub fn beyond_audits(&self) -> [(&'static str, bool); 8] {
        [
            ("magnitudes", self.bounds_share.is_some()),
            ("by", self.by.is_some()),
            ("sample_weight", self.sample_weight.is_some()),
            ("weights", self.weights.is_some()),
            ("missing", self.missing != "fill"),
            ("tune", self.tune.is_some()),
            ("intervals", self.intervals.is_some()),
            ("deviations", self.deviations.is_some()),
        ]
    }

    pub fn source(&self) -> Result<RandomSource, Failure> {
        source(self.insecure_seed)
    }

    pub fn method(&self) -> Result<MeanMethod, Failure> {
        let is_sparse = self.sparsity.is_some() || tuned(self.tune.as_deref())?.sparsity.is_some();
        let default = Means::default_method(self.uniform.is_some(), is_sparse);
        self.method.as_deref().map_or(Ok(default), |name| render::named("method", name))
    }

    pub fn means(&self, schema: &dpglm_io::Schema) -> Result<(Means, Privacy), Failure> {
        let means = Means {
            level: self.intervals,
            sparsity: self.sparsity,
            largest: Means::largest(&tuned(self.tune.as_deref())?)?,
            deviations: self.deviations,
            unit: schema.unit().map(str::to_owned),
            weights: self.weights.iter().flatten().map(|(name, w)| (name.clone(), *w)).collect(),
            bounds_share: self.bounds_share,
            ..Means::by_method(self.method()?)
        };
        let means = means.under(schema);
        means.validate()?;
        means.require_zero(&match self.uniform {
            Some((low, high)) => PublicFacts::Uniform(UniformBounds::new(low, high)),
            None => PublicFacts::Schema(schema.clone()),
        })?;
        Ok((means, granted(self.epsilon, self.delta)?))
    }
}

/// The certificate, as JSON, that a fit of a table of this shape would carry. No row is needed.
#[pyfunction]
#[pyo3(signature = (asked, features, target, rows, unit=None, public=None))]
pub fn planned_fit(
    asked: Asked,
    features: &str,
    target: &str,
    rows: usize,
    unit: Option<&str>,
    public: Option<&Bound<'_, Table>>,
) -> PyResult<String> {
    let (features, target) = (of_units(features, unit)?, schema(target)?);
    let plan = || -> Result<String, Failure> {
        let (columns, _) = features.encoded()?;
        let Some(target) = target.encoded()?.1 else {
            return Err(Failure::Usage("there is no target to explain: give y".into()));
        };
        let model = asked.model(&target, &columns, &features, public.map(Bound::get))?;
        let privacy = asked.privacy(model.method)?;
        let shape = model.fitted_shape(features.shape(columns.len() + usize::from(model.intercept), rows));
        let ready = model.for_shape(shape, privacy).prepare(shape, privacy)?;
        let (events, parts) = (ready.events()?, ready.parts()?);
        let (adjacency, rng) = (adjacency(&features), asked.source()?);
        let certificate = planned::certificate(events, parts, adjacency, model.assumption(), privacy, &rng)?;
        Ok(model.noted(certificate).to_json())
    };
    plan().map_err(exception)
}

/// A schema of the features, with the unit whose rows are protected together.
fn of_units(features: &str, unit: Option<&str>) -> PyResult<dpglm_io::Schema> {
    let features = schema(features)?;
    match unit {
        None => Ok(features),
        Some(_) => features.with_unit(unit).map_err(exception),
    }
}

fn adjacency(features: &dpglm_io::Schema) -> Adjacency {
    features.unit().map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned()))
}

/// The same for means.
#[pyfunction]
#[pyo3(signature = (asked, features, rows, unit=None))]
pub fn planned_mean(asked: AskedMeans, features: &str, rows: usize, unit: Option<&str>) -> PyResult<String> {
    let features = of_units(features, unit)?;
    let plan = || -> Result<String, Failure> {
        let (means, privacy) = asked.means(&features)?;
        let columns = features.encoded()?.0;
        let (adjacency, rng) = (adjacency(&features), asked.source()?);
        Ok(means.estimator(&columns)?.planned(columns.len(), rows, adjacency, privacy, &rng)?.to_json())
    };
    plan().map_err(exception)
}
