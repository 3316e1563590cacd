//! Audits of estimators.

use super::fit::{Asked, AskedMeans, Budgeted};
use super::running;
use super::table::Table;
use super::values;
use dpglm::audit::Opposite;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_io::{Domain, Encoded};
use dpglm_workflow::audit::ground::Stage;
use dpglm_workflow::audit::report::AuditDocument;
use dpglm_workflow::audit::subject::MeanToAudit;
use dpglm_workflow::audit::{Attack, Subject};
use dpglm_workflow::means::MeanMethod;
use dpglm_workflow::{Failure, render};
use extendr_api::Robj;
use serde::Deserialize;

/// How an estimator is attacked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct How {
    runs: u64,
    canaries: Option<usize>,
    opposite: Option<String>,
    confidence: f64,
    without_noise: bool,
}

impl How {
    fn attack(&self, budget: &Budgeted) -> Result<Attack, Failure> {
        let granted = budget.claimed()?;
        let claim = match (granted, budget.delta()) {
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

/// Begins to attack a model.
pub fn model(table: &Table, asked: &Robj, how: &Robj) -> Result<Robj, Failure> {
    let (asked, how): (Asked, How) = (values::read(asked)?, values::read(how)?);
    let attack = how.attack(asked.budget())?;
    let Some(target) = table.target.clone() else {
        return Err(Failure::Usage("there is no response to explain: the formula has none".into()));
    };
    let model = asked.model(&target, &table.columns, &table.schema)?;
    if model.family.one_predictor().is_none() {
        return Err(Failure::Usage(
            "an audit attacks models with one linear predictor, not multinomial ones: give another family or response".into(),
        ));
    }
    let (rows, rng) = (table.take()?, asked.budget().source()?);
    let model = Box::new(model);
    run(attack, move || Subject::Model(model), rows, Some(target.domain), rng)
}

/// Begins to attack a mean.
pub fn mean(table: &Table, asked: &Robj, how: &Robj) -> Result<Robj, Failure> {
    let (asked, how): (AskedMeans, How) = (values::read(asked)?, values::read(how)?);
    let attack = how.attack(asked.budget())?;
    let method = match asked.method()? {
        MeanMethod::Columns => MeanToAudit::Columns,
        MeanMethod::Localise => MeanToAudit::Localise,
        MeanMethod::KarwaVadhan => MeanToAudit::KarwaVadhan,
    };
    if let Some((what, _)) = asked.beyond_audits().into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(
            format!(
                "{what} cannot be had with an audit, which attacks means of all columns or of a given sparsity, without \
                 intervals: leave out {what}"
            )
            .into(),
        ));
    }
    let (sparsity, rng) = (asked.sparsity(), asked.budget().source()?);
    run(attack, move || Subject::Mean { method, sparsity }, table.take()?, None, rng)
}

fn run(
    attack: Attack,
    subject: impl FnOnce() -> Subject + Send + 'static,
    rows: Encoded,
    domain: Option<Domain>,
    mut rng: RandomSource,
) -> Result<Robj, Failure> {
    Ok(running::start(move |_, progress| {
        let subject = subject();
        let mut stage = Stage::of_tables(rows, None, domain.as_ref(), &subject, &mut rng)?;
        let findings = attack.run(&subject, &mut stage, &mut rng, progress)?;
        let document =
            AuditDocument::new(&findings, &subject, &stage, attack.claim, attack.confidence, attack.runs);
        Ok((render::json(&document)?, Some(document.in_words())))
    }))
}
