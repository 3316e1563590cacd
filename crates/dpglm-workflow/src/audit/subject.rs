//! What is attacked: a model's method, a mean, or another program.

use super::ground::Stage;
use crate::failure::Failure;
use crate::means::{MeanMethod, Means};
use crate::model::{Estimates, Model};
use crate::planned;
use dpglm::audit::{Claim, Estimand, Fitter, Table};
use dpglm::central::Privacy;
use dpglm::families::Family as OnePredictor;
use dpglm::noise::RandomSource;
use dpglm::privacy::Adjacency;

/// Starts another program: from the columns' names, and whether a constant column stands before them, to a method.
pub type Start = dyn Fn(Vec<String>, bool) -> Result<Box<Fitter<'static>>, Failure>;

/// Which mean is attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum MeanToAudit {
    /// Each column its own clip and noise
    Columns,
    /// A coarse private look, then a tight clip; with --sparsity of few columns
    Localise,
    /// Private histograms for scale and place, then a clip
    KarwaVadhan,
    /// The plain average, without any privacy
    Reference,
}

impl MeanToAudit {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MeanToAudit::Columns => "columns",
            MeanToAudit::Localise => "localise",
            MeanToAudit::KarwaVadhan => "karwa-vadhan",
            MeanToAudit::Reference => "reference",
        }
    }
}

/// What is attacked.
pub enum Subject {
    /// A model's method.
    Model(Box<Model>),
    /// A mean.
    Mean {
        /// How it is taken.
        method: MeanToAudit,
        /// The number of means that may differ from zero.
        sparsity: Option<usize>,
    },
    /// Another program.
    External {
        /// In words, for the report.
        name: String,
        /// What kind of response it explains.
        family: OnePredictor,
        /// How it is started.
        start: Box<Start>,
    },
}

impl Subject {
    /// What the method estimates.
    pub fn estimand(&self) -> Result<Estimand, Failure> {
        Ok(match self {
            Self::Mean { .. } => Estimand::Mean,
            Self::External { family, .. } => Estimand::Glm(family.clone()),
            Self::Model(model) => {
                let Some(family) = model.family.one_predictor() else {
                    return Err(Failure::Usage(
                        "an audit attacks models with one linear predictor, not multinomial ones: give another family or target"
                            .into(),
                    ));
                };
                Estimand::Glm(family.clone())
            }
        })
    }

    /// Whether it is a mean.
    pub fn is_mean(&self) -> bool {
        matches!(self, Self::Mean { .. })
    }

    /// Whether it is another program, which sees the user's own units.
    pub(crate) fn is_external(&self) -> bool {
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
            Self::External { name, .. } => name.clone(),
        }
    }

    /// The privacy curve that the method claims for tables of this many rows; `None` if it says no more than the claim.
    pub fn curve(&self, stage: &Stage, rows: usize, privacy: Privacy) -> Result<Option<Claim>, Failure> {
        let columns = stage.base.columns();
        // What is claimed of honest noise, whichever noise the audited runs have.
        let honest = RandomSource::from_os()?;
        let certificate = match self {
            Self::External { .. } | Self::Mean { method: MeanToAudit::Reference, .. } => return Ok(None),
            Self::Model(model) => {
                let ready = model.prepare(dpglm::data::Shape::new(columns, rows), privacy)?;
                let (events, parts) = (ready.events()?, ready.parts()?);
                planned::certificate(
                    events,
                    parts,
                    Adjacency::ReplaceRow,
                    model.assumption(),
                    privacy,
                    &honest,
                )?
            }
            Self::Mean { method, sparsity } => means(*method, *sparsity)?
                .estimator(&stage.columns)?
                .planned(columns, rows, Adjacency::ReplaceRow, privacy, &honest)?,
        };
        let mut points = certificate.curve().to_vec();
        points.extend(certificate.guarantee().map(|at| (at.epsilon, at.delta)));
        Ok(if points.is_empty() { None } else { Some(Claim::curve(points)?) })
    }

    /// The method, ready for tables of this many rows.
    pub fn estimator(
        &self,
        stage: &Stage,
        rows: usize,
        privacy: Privacy,
    ) -> Result<Box<Fitter<'_>>, Failure> {
        let columns = stage.base.columns();
        Ok(match self {
            Self::External { start, .. } => {
                let names = stage.columns.iter().map(|c| c.name.clone()).collect();
                start(names, columns > stage.columns.len())?
            }
            Self::Model(model) => {
                let ready = model.prepare(dpglm::data::Shape::new(columns, rows), privacy)?;
                Box::new(move |table: &Table, rng: &mut RandomSource| {
                    let estimates = ready.fit(&table.dataset()?, rng, &mut |_, _| ()).map_err(in_words)?;
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
                let means = means(*method, *sparsity)?;
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

/// The mean as `dpglm mean` would take it.
fn means(method: MeanToAudit, sparsity: Option<usize>) -> Result<Means, Failure> {
    let method = match method {
        MeanToAudit::Columns => MeanMethod::Columns,
        MeanToAudit::KarwaVadhan => MeanMethod::KarwaVadhan,
        MeanToAudit::Localise | MeanToAudit::Reference => MeanMethod::Localise,
    };
    let means = Means { sparsity, ..Means::by_method(method) };
    means.validate()?;
    Ok(means)
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
