//! Audits of estimators.

use super::fit::{Asked, AskedMeans};
use super::running;
use super::table::{Table, schema};
use super::words::exception;
use dpglm::audit::Opposite;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_io::{Domain, Encoded, UniformBounds};
use dpglm_workflow::audit::ground::{self, Simulated, Stage};
use dpglm_workflow::audit::report::AuditDocument;
use dpglm_workflow::audit::subject::MeanToAudit;
use dpglm_workflow::audit::{Attack, Subject};
use dpglm_workflow::means::MeanMethod;
use dpglm_workflow::{Failure, render};
use pyo3::prelude::*;

/// How an estimator is attacked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    runs: u64,
    canaries: Option<usize>,
    opposite: Option<String>,
    confidence: f64,
    without_noise: bool,
    rows: Option<usize>,
    columns: Option<usize>,
}

/// The rows: a table, or the bounds of simulated ones.
enum Rows {
    Table(Box<Encoded>),
    Simulated(Simulated),
}

impl How {
    fn rows(
        &self,
        table: Option<&Table>,
        bounds: Option<(f64, f64)>,
        intercept: bool,
        support: Option<usize>,
    ) -> Result<Rows, Failure> {
        match (table, bounds, self.rows, self.columns) {
            (Some(table), ..) => Ok(Rows::Table(Box::new(table.take()?))),
            (None, Some(bounds), Some(rows), Some(columns)) => {
                Ok(Rows::Simulated(Simulated { rows, columns, bounds, intercept, support }))
            }
            _ => Err(Failure::Usage("give X and y, or rows=N and columns=D for simulated rows".into())),
        }
    }

    fn attack(&self, granted: Privacy, delta: Option<f64>) -> Result<Attack, Failure> {
        let claim = match (granted, delta) {
            (Privacy::Budget(budget), _) => (Some(budget.epsilon()), budget.delta()),
            (_, Some(delta)) => (None, delta),
            (_, None) => {
                return Err(Failure::Usage(
                    "delta is needed and has no default: a lower bound on epsilon goes with a delta".into(),
                ));
            }
        };
        let opposite = match self.opposite.as_deref() {
            None => None,
            Some("response") => Some(Opposite::Response),
            Some("features") => Some(Opposite::Features),
            Some(other) => {
                return Err(Failure::Usage(
                    format!("opposite must be one of response, features, got {other}: choose one of them")
                        .into(),
                ));
            }
        };
        Ok(Attack {
            runs: self.runs,
            pilot: None,
            canaries: self.canaries,
            opposite,
            confidence: self.confidence,
            claim,
            privacy: if self.without_noise { Privacy::None } else { granted },
        })
    }
}

/// Attacks a model. Gives the findings as JSON and in words.
#[pyfunction]
#[pyo3(signature = (table, asked, how, bounds, target, intercept, public=None))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by a function that names them")]
pub fn audit_model(
    py: Python<'_>,
    table: Option<&Bound<'_, Table>>,
    asked: Asked,
    how: How,
    bounds: Option<(f64, f64)>,
    target: Option<&str>,
    intercept: bool,
    public: Option<&Bound<'_, Table>>,
) -> PyResult<(String, String)> {
    let table = table.map(Bound::get);
    let declared = target.map(schema).transpose()?;
    let prepare = || -> Result<_, Failure> {
        let attack = how.attack(asked.claimed()?, asked.delta())?;
        let target = match (table, declared) {
            (Some(table), _) => table.target.clone(),
            (None, Some(declared)) => declared.encoded()?.1,
            (None, None) => None,
        };
        let Some(target) = target else {
            return Err(Failure::Usage("there is no target to explain: give y".into()));
        };
        let names: Vec<String> = (0..how.columns.unwrap_or(1)).map(|j| format!("x{j}")).collect();
        let features = match (table, bounds) {
            (Some(table), _) => table.schema.clone(),
            (None, Some((low, high))) => {
                UniformBounds { intercept, ..UniformBounds::new(low, high) }.schema("X".as_ref(), &names)?
            }
            (None, None) => {
                return Err(Failure::Usage("simulated rows need one pair of feature_bounds".into()));
            }
        };
        let columns = table.map_or_else(Vec::new, |table| table.columns.clone());
        let model = asked.model(&target, &columns, &features, public.map(Bound::get))?;
        if model.family.one_predictor().is_none() {
            return Err(Failure::Usage(
                "an audit attacks models with one linear predictor, not multinomial ones: give another family or target"
                    .into(),
            ));
        }
        let rows = how.rows(table, bounds, intercept, asked.sparsity())?;
        Ok((attack, Box::new(model), rows, Some(target.domain), asked.source()?))
    };
    let (attack, model, rows, domain, rng) = prepare().map_err(exception)?;
    run(py, attack, move || Subject::Model(model), rows, domain, rng)
}

/// Attacks a mean. Gives the findings as JSON and in words.
#[pyfunction]
#[pyo3(signature = (table, asked, how, bounds))]
pub fn audit_mean(
    py: Python<'_>,
    table: Option<&Bound<'_, Table>>,
    asked: AskedMeans,
    how: How,
    bounds: Option<(f64, f64)>,
) -> PyResult<(String, String)> {
    let table = table.map(Bound::get);
    let prepare = || -> Result<_, Failure> {
        let attack = how.attack(asked.claimed()?, asked.delta())?;
        let method = match asked.method()? {
            MeanMethod::Columns => MeanToAudit::Columns,
            MeanMethod::Localise => MeanToAudit::Localise,
            MeanMethod::KarwaVadhan => MeanToAudit::KarwaVadhan,
        };
        let sparsity = asked.sparsity();
        if let Some((flag, _)) = asked.beyond_audits().into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::Usage(format!(
                "{flag} cannot be had with an audit, which attacks means of all columns or of a given sparsity, without \
                 intervals: leave out {flag}"
            ).into()));
        }
        // As means are taken: columns that are not centred keep their zero.
        let rows = how.rows(table, bounds, sparsity.is_none(), sparsity)?;
        Ok((attack, method, sparsity, rows, asked.source()?))
    };
    let (attack, method, sparsity, rows, rng) = prepare().map_err(exception)?;
    run(py, attack, move || Subject::Mean { method, sparsity }, rows, None, rng)
}

fn run(
    py: Python<'_>,
    attack: Attack,
    subject: impl FnOnce() -> Subject + Send + 'static,
    rows: Rows,
    domain: Option<Domain>,
    mut rng: RandomSource,
) -> PyResult<(String, String)> {
    running::run(py, None, move |progress| {
        let subject = subject();
        let mut stage = match rows {
            Rows::Table(table) => Stage::of_tables(*table, None, domain.as_ref(), &subject, &mut rng)?,
            Rows::Simulated(wanted) => ground::simulated(&wanted, domain.as_ref(), &subject, &mut rng)?,
        };
        let findings = attack.run(&subject, &mut stage, &mut rng, progress)?;
        let document =
            AuditDocument::new(&findings, &subject, &stage, attack.claim, attack.confidence, attack.runs);
        Ok((render::json(&document)?, document.in_words()))
    })
}
