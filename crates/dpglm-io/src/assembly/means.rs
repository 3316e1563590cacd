//! Which means a command takes, and by which method.

use super::failure::Failure;
use super::known::Known;
use super::planned;
use super::tune::Tune;
use crate::EncodedColumn;
use dpglm::central::{MeanFit, Prepared, Privacy, PrivateMean, SparseMean};
use dpglm::comparators::KarwaVadhan;
use dpglm::data::MeanTable;
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Certificate};
use dpglm::tuning::{PreparedSparseMean, TunedSparseMean};
use serde::{Deserialize, Serialize};

/// How means are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum MeanMethod {
    /// A coarse private look, then a tight clip
    Localise,
    /// Private histograms for scale and place, then a clip; for roughly normal columns
    KarwaVadhan,
}

/// The means to take, all of it public.
pub struct Means {
    /// How they are taken.
    pub method: MeanMethod,
    /// The level of confidence intervals.
    pub level: Option<f64>,
    /// The number of means that may differ from zero.
    pub sparsity: Option<usize>,
    /// The largest sparsity to choose one up to privately.
    pub largest: Option<usize>,
    /// Bounds on the columns' standard deviations, in the user's units.
    pub deviations: Option<(f64, f64)>,
    /// The column that says whose row it is: each unit then counts as one row, the mean of its rows.
    pub unit: Option<String>,
}

/// The estimator for given columns.
pub enum Estimator {
    /// Of every column.
    Dense(PrivateMean),
    /// Of columns that are chosen privately.
    Sparse(SparseMean),
    /// Of a number of columns that is chosen privately.
    Tuned(TunedSparseMean),
    /// Of every column, by histograms.
    KarwaVadhan(KarwaVadhan),
}

impl Means {
    /// The largest number of means to choose one up to, of what is to be tuned.
    pub fn largest(tune: &Tune) -> Result<Option<usize>, Failure> {
        let refuse = |message: &str| Err(Failure::Usage(message.into()));
        if tune.ridge.is_some() {
            return refuse("--tune ridge=auto goes with `dpglm fit`: a mean has no penalty");
        }
        if tune.clip {
            return refuse(
                "--tune clip=auto goes with `dpglm fit`: means find their clip privately always; leave it out",
            );
        }
        Ok(tune.sparsity)
    }

    /// Refuses what does not fit together, before any table is opened.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::Usage(message.into()));
        if self.largest.is_some() && self.sparsity.is_some() {
            return refuse(
                "--sparsity gives the number that --tune sparsity=auto would choose: leave out one of them",
            );
        }
        if let (MeanMethod::KarwaVadhan, Some(unit)) = (self.method, &self.unit) {
            return Err(Failure::Usage(format!(
                "--method karwa-vadhan compares rows by their place in the table, but the unit `{unit}` is protected with all of its \
                 rows: use --method localise, or leave out the unit"
            )));
        }
        match (self.method, self.deviations) {
            (MeanMethod::Localise, None) => Ok(()),
            (MeanMethod::Localise, Some(_)) => {
                refuse("--deviations goes with --method karwa-vadhan: leave it out, or give that method")
            }
            (MeanMethod::KarwaVadhan, _) if self.level.is_some() => refuse(
                "--intervals cannot be had with --method karwa-vadhan: leave it out, or use --method localise",
            ),
            (MeanMethod::KarwaVadhan, _) if self.is_sparse() => refuse(
                "--sparsity cannot be had with --method karwa-vadhan, which takes every column's mean: leave out one of them",
            ),
            _ => Ok(()),
        }
    }

    /// Whether most means are taken to be zero.
    pub fn is_sparse(&self) -> bool {
        self.sparsity.or(self.largest).is_some()
    }

    /// Refuses bounds that a sparse mean cannot have, before any table is opened.
    pub fn require_zero(&self, known: &Known) -> Result<(), Failure> {
        match (self.is_sparse(), known) {
            (false, _) => Ok(()),
            (true, Known::Schema(schema)) => schema.encoded()?.0.iter().try_for_each(|c| {
                let user = |stored: f64| c.scaling.center + c.scaling.half_width * stored;
                require_zero_within(&format!("`{}`", c.name), user(c.scaling.lower), user(c.scaling.upper))
            }),
            (true, Known::Wide(wide)) => {
                require_zero_within("--feature-bounds", wide.bounds.feature.0, wide.bounds.feature.1)
            }
        }
    }

    /// The estimator of these columns as they are stored.
    pub fn estimator(&self, columns: &[EncodedColumn]) -> Result<Estimator, Failure> {
        let ranges = columns.iter().map(|c| (c.scaling.lower, c.scaling.upper)).collect();
        if let Some(largest) = self.largest {
            let model = TunedSparseMean::new(ranges, largest.min(columns.len()))?;
            return Ok(Estimator::Tuned(match self.level {
                Some(level) => model.intervals(level)?,
                None => model,
            }));
        }
        Ok(match (self.method, self.sparsity, self.level) {
            (MeanMethod::KarwaVadhan, ..) => {
                Estimator::KarwaVadhan(KarwaVadhan::new(ranges, self.stored_deviations(columns))?)
            }
            (_, Some(sparsity), level) => {
                let model = SparseMean::new(ranges, sparsity)?;
                Estimator::Sparse(match level {
                    Some(level) => model.intervals(level)?,
                    None => model,
                })
            }
            (_, None, level) => {
                let model = PrivateMean::new(ranges)?;
                Estimator::Dense(match level {
                    Some(level) => model.intervals(level)?,
                    None => model,
                })
            }
        })
    }

    /// One interval that holds for every stored column. Nothing within bounds deviates by more than half their distance; a
    /// millionth of that is as good as constant.
    fn stored_deviations(&self, columns: &[EncodedColumn]) -> (f64, f64) {
        let each = columns.iter().map(|c| match self.deviations {
            Some((low, high)) => (low / c.scaling.half_width, high / c.scaling.half_width),
            None => {
                let most = 0.5 * (c.scaling.upper - c.scaling.lower);
                (most * 2f64.powi(-20), most)
            }
        });
        each.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((1.0, 1.0))
    }
}

/// Most means are taken to be zero: zero must be possible.
fn require_zero_within(what: &str, low: f64, high: f64) -> Result<(), Failure> {
    if low <= 0.0 && high >= 0.0 {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "a sparse mean takes most means to be 0, but the bounds [{low}, {high}] of {what} do not hold 0: measure the columns \
         from where most of them have their mean, or leave out --sparsity and --tune"
    )))
}

/// The estimator with its noise calibrated.
pub enum ReadyMeans {
    /// Of every column.
    Dense(Prepared<PrivateMean>),
    /// Of columns that are chosen privately.
    Sparse(Prepared<SparseMean>),
    /// Of a number of columns that is chosen privately.
    Tuned(PreparedSparseMean),
    /// Of every column, by histograms.
    KarwaVadhan(Prepared<KarwaVadhan>),
}

impl Estimator {
    /// Calibrates the noise for a table of this shape.
    pub fn prepare(&self, columns: usize, rows: usize, privacy: Privacy) -> Result<ReadyMeans, Failure> {
        Ok(match self {
            Estimator::Dense(model) => ReadyMeans::Dense(model.prepare(rows, privacy)?),
            Estimator::Sparse(model) => ReadyMeans::Sparse(model.prepare(rows, privacy)?),
            Estimator::Tuned(model) => ReadyMeans::Tuned(model.prepare(rows, privacy)?),
            Estimator::KarwaVadhan(model) => ReadyMeans::KarwaVadhan(model.prepare(columns, rows, privacy)?),
        })
    }

    /// The certificate that a fit of so many rows would carry, with noise from `source`.
    pub fn planned(
        &self,
        columns: usize,
        rows: usize,
        adjacency: Adjacency,
        privacy: Privacy,
        source: &RandomSource,
    ) -> Result<Certificate, Failure> {
        let events = match self.prepare(columns, rows, privacy)? {
            ReadyMeans::Dense(prepared) => prepared.events()?,
            ReadyMeans::Sparse(prepared) => prepared.events()?,
            ReadyMeans::KarwaVadhan(prepared) => prepared.events()?,
            ReadyMeans::Tuned(prepared) => match prepared.planned(adjacency.clone(), source)? {
                Some(certificate) => return Ok(certificate),
                None => prepared.events()?,
            },
        };
        planned::certificate(events, Vec::new(), adjacency, None, privacy, source)
    }

    /// The means of the chosen columns and which they are; of all if `None`.
    pub fn fit(
        &self,
        table: &impl MeanTable,
        privacy: Privacy,
        rng: &mut RandomSource,
    ) -> Result<(MeanFit, Option<Vec<usize>>), Failure> {
        let design = table.design();
        self.prepare(design.columns(), design.rows(), privacy)?.fit(table, rng)
    }
}

impl ReadyMeans {
    /// The means of the chosen columns and which they are; of all if `None`.
    pub fn fit(
        &self,
        table: &impl MeanTable,
        rng: &mut RandomSource,
    ) -> Result<(MeanFit, Option<Vec<usize>>), Failure> {
        Ok(match self {
            ReadyMeans::Dense(prepared) => (prepared.fit(table, rng)?, None),
            // Of rows alone: units were refused before.
            ReadyMeans::KarwaVadhan(prepared) => (prepared.fit(table.design(), rng)?, None),
            ReadyMeans::Sparse(prepared) => {
                let sparse = prepared.fit(table, rng)?;
                (sparse.fit, Some(sparse.support))
            }
            ReadyMeans::Tuned(prepared) => {
                let sparse = prepared.fit(table, rng)?;
                (sparse.fit, Some(sparse.support))
            }
        })
    }
}
