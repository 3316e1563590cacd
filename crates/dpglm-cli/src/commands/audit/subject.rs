//! What is attacked: a model's method, a mean, or another program.

use super::external::External;
use super::ground::Stage;
use super::{Arguments, MeanToAudit};
use crate::failure::Failure;
use crate::means::{MeanMethod, Means};
use crate::model::{Estimates, Family, Method, Model};
use crate::table::Known;
use dpglm::audit::{Estimand, Estimator, Table};
use dpglm::central::Privacy;
use dpglm::families::Family as OnePredictor;
use dpglm::noise::RandomSource;

/// What is attacked.
pub enum Subject {
    Model(Box<Model>),
    Mean { method: MeanToAudit, sparsity: Option<usize> },
    External { command: String, family: OnePredictor },
}

impl Subject {
    pub fn new(arguments: &Arguments, known: &Known) -> Result<Self, Failure> {
        if let Some(method) = arguments.mean {
            return Ok(Self::Mean { method, sparsity: arguments.sparse.sparsity });
        }
        let Some(domain) = known.domain()? else {
            return Err(Failure::Usage(
                "the schema names no target: give --target COLUMN, or --mean to attack a mean".into(),
            ));
        };
        let family = arguments.family.unwrap_or_else(|| Family::of(&domain));
        let Some(one_predictor) = family.one_predictor() else {
            return Err(Failure::Usage(
                "an audit attacks models with one linear predictor, not multinomial ones: give another --family or --target"
                    .into(),
            ));
        };
        if let Some(command) = &arguments.command {
            return Ok(Self::External { command: command.clone(), family: one_predictor });
        }
        let method = arguments.method.unwrap_or(Method::default_for(arguments.sparse.sparsity));
        let mut model = Model {
            family,
            method,
            domain,
            intercept: known.intercept(),
            ridge: arguments.ridge,
            ridges: None,
            radius: None,
            level: None,
            sparse: arguments.sparse.options(known)?,
        };
        model.validate()?;
        model.sparse.public_features = arguments.sparse.public_features(&arguments.columns, known)?;
        Ok(Self::Model(Box::new(model)))
    }

    pub fn estimand(&self) -> Estimand {
        match self {
            Self::Mean { .. } => Estimand::Mean,
            Self::External { family, .. } => Estimand::Glm(family.clone()),
            Self::Model(model) => {
                Estimand::Glm(model.family.one_predictor().unwrap_or(OnePredictor::Gaussian))
            }
        }
    }

    pub fn is_mean(&self) -> bool {
        matches!(self, Self::Mean { .. })
    }

    pub fn is_external(&self) -> bool {
        matches!(self, Self::External { .. })
    }

    /// Whether tables carry a constant column.
    pub fn has_constant(&self, intercept: bool) -> bool {
        intercept && !self.is_mean()
    }

    /// In words, for the report.
    pub fn name(&self) -> String {
        match self {
            Self::Model(model) => format!("{} model by {}", model.family.name(), model.method.name()),
            Self::Mean { method, .. } => format!("mean by {}", method.name()),
            Self::External { command, .. } => format!("command `{command}`"),
        }
    }

    /// The method, ready for tables of this many rows.
    pub fn estimator(
        &self,
        stage: &Stage,
        rows: usize,
        privacy: Privacy,
    ) -> Result<Box<Estimator<'_>>, Failure> {
        let columns = stage.base.columns();
        Ok(match self {
            Self::External { command, .. } => {
                let names = stage.columns.iter().map(|c| c.name.clone()).collect();
                let external = External::new(command, names, columns > stage.columns.len())?;
                Box::new(move |table: &Table, _: &mut RandomSource| external.fit(table))
            }
            Self::Model(model) => {
                let ready = model.prepare(columns, rows, privacy)?;
                Box::new(move |table: &Table, rng: &mut RandomSource| {
                    let estimates = ready.fit(model, &table.dataset()?, rng).map_err(in_words)?;
                    Ok(spread_out(estimates, columns))
                })
            }
            Self::Mean { method: MeanToAudit::Reference, .. } => {
                Box::new(move |table: &Table, _: &mut RandomSource| {
                    let n = table.rows() as f64;
                    Ok((0..columns)
                        .map(|j| (0..table.rows()).map(|i| table.row(i)[j]).sum::<f64>() / n)
                        .collect())
                })
            }
            Self::Mean { method, sparsity } => {
                let method = match method {
                    MeanToAudit::KarwaVadhan => MeanMethod::KarwaVadhan,
                    _ => MeanMethod::Localise,
                };
                let means =
                    Means { method, level: None, sparsity: *sparsity, largest: None, deviations: None };
                means.validate()?;
                let ready = means.estimator(&stage.columns)?.prepare(columns, rows, privacy)?;
                Box::new(move |table: &Table, rng: &mut RandomSource| {
                    let (fit, support) = ready.fit(&table.design()?, rng).map_err(in_words)?;
                    let Some(support) = support else { return Ok(fit.means) };
                    let mut all = vec![0.0; columns];
                    support.iter().zip(&fit.means).for_each(|(&j, &mean)| all[j] = mean);
                    Ok(all)
                })
            }
        })
    }
}

/// All coefficients, those that were not chosen as zeros.
fn spread_out(estimates: Estimates, columns: usize) -> Vec<f64> {
    let block = estimates.blocks.into_iter().next().unwrap_or_default();
    let Some(support) = estimates.support else { return block };
    let mut all = vec![0.0; columns];
    support.iter().zip(&block).for_each(|(&j, &b)| all[j] = b);
    all
}

/// The library runs the method and passes its failure on.
fn in_words(failure: Failure) -> dpglm::Error {
    dpglm::Error::Conflict(failure.to_string())
}
