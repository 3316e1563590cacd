//! Which means a command takes, and by which method.

pub mod columns;

use super::failure::Failure;
use super::ledger::Planned;
use super::planned;
use super::public_facts::PublicFacts;
use super::search;
use super::tune::Tune;
use columns::{ColumnMeans, ReadyColumnMeans};
use dpglm::accounting::Certificate;
use dpglm::central::{MeanFit, Prepared, Privacy, PrivateMean, SparseMean};
use dpglm::comparators::KarwaVadhan;
use dpglm::data::{MeanTable, Shape};
use dpglm::error::{Message, Parameter};
use dpglm::estimators::means::MeanShape;
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Event, Noise};
use dpglm::release::Estimator as _;
use dpglm::tuning::{PreparedSparseMean, TunedSparseMean};
use dpglm_io::schema::{Kind, Missing};
use dpglm_io::{EncodedColumn, Schema};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How means are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum MeanMethod {
    /// Each column its own clip and noise: for any mixture of numbers, 0/1 columns and categories
    Columns,
    /// A coarse private look, then one tight clip of whole rows: for columns on one scale
    Localise,
    /// Private histograms for scale and place, then a clip; for roughly normal columns
    KarwaVadhan,
}

/// The means to take, all of it public.
#[derive(Clone)]
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
    /// Whether missing cells are counted out column by column.
    pub missing: bool,
    /// The groups whose means are taken apart.
    pub by: Option<By>,
    /// The column of survey weights.
    pub sample_weight: Option<SampleWeight>,
    /// How precise declared columns are to be, beside the others' 1.
    pub weights: IndexMap<String, f64>,
    /// The part of the budget for the bounds of columns that have a magnitude in their place.
    pub bounds_share: Option<f64>,
}

/// A column of groups.
#[derive(Debug, Clone, PartialEq)]
pub struct By {
    /// Its name.
    pub column: String,
    /// Its public levels.
    pub levels: Vec<String>,
}

/// A column of survey weights.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleWeight {
    /// Its name.
    pub column: String,
    /// The largest weight, which is public.
    pub largest: f64,
}

/// The estimator for given columns.
pub enum Estimator {
    /// Of every column, each with its own clip.
    Columns(ColumnMeans),
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
        let refuse = |message: Message| Err(Failure::Usage(message));
        if tune.ridge.is_some() {
            return refuse(Message::new(
                "{} ridge=auto goes with `dpglm fit`: a mean has no penalty",
                &[&Parameter::Tune],
            ));
        }
        if tune.clip {
            return refuse(Message::new(
                "{} clip=auto goes with `dpglm fit`: means find their clip privately always; leave it out",
                &[&Parameter::Tune],
            ));
        }
        Ok(tune.sparsity)
    }

    /// Means of every row and column by this method, and nothing beside.
    pub fn by_method(method: MeanMethod) -> Self {
        Self {
            method,
            level: None,
            sparsity: None,
            largest: None,
            deviations: None,
            unit: None,
            missing: false,
            by: None,
            sample_weight: None,
            weights: IndexMap::new(),
            bounds_share: None,
        }
    }

    /// The method that is taken where none is given: that of columns on one scale where one pair of bounds holds for all of them, that
    /// of any columns under a schema.
    pub fn default_method(one_scale: bool, is_sparse: bool) -> MeanMethod {
        if one_scale || is_sparse { MeanMethod::Localise } else { MeanMethod::Columns }
    }

    /// The schema under which a table is read for means: groups in the target's place, survey weights in the exposure's, all other
    /// columns features.
    pub fn schema(schema: Schema, by: Option<&str>, sample_weight: Option<&str>) -> Result<Schema, Failure> {
        let refuse = |flag: Parameter, name: &str, remedy: &str| {
            Err(Failure::Usage(Message::new("{} `{}` is not such a column: {}", &[&flag, &name, &remedy])))
        };
        let schema = schema.of_columns()?.without_exposure().with_target(None)?;
        if let Some(name) = by
            && !matches!(schema.column(name).map(|c| &c.kind), Some(Kind::Binary(_) | Kind::Category(_)))
        {
            return refuse(Parameter::By, name, "declare it as a category or binary, with public levels");
        }
        if let Some(name) = sample_weight {
            let fits = |c: &dpglm_io::schema::Column| match &c.kind {
                Kind::Real(n) | Kind::Count(n) => n.bounds.lower() > 0.0,
                _ => false,
            };
            if !schema.column(name).is_some_and(fits) {
                let remedy = "declare it as real with bounds above 0, up to the largest weight; a weight of zero counts as the \
                              lower bound";
                return refuse(Parameter::SampleWeight, name, remedy);
            }
        }
        Ok(schema.with_target(by)?.with_exposure(sample_weight)?.counting_out())
    }

    /// What such a schema says of groups, weights and missing cells.
    pub fn under(mut self, schema: &Schema) -> Self {
        self.missing = schema.missing() == Missing::Drop;
        self.by = schema.target().and_then(|name| match schema.column(name).map(|c| &c.kind) {
            Some(Kind::Binary(c) | Kind::Category(c)) => {
                Some(By { column: name.to_owned(), levels: c.levels.names().to_vec() })
            }
            _ => None,
        });
        self.sample_weight = schema.exposure().and_then(|name| match schema.column(name).map(|c| &c.kind) {
            Some(Kind::Real(n) | Kind::Count(n)) => {
                Some(SampleWeight { column: name.to_owned(), largest: n.bounds.upper() })
            }
            _ => None,
        });
        self
    }

    /// What is public of so many rows or units.
    pub(crate) fn shape(&self, units: usize) -> MeanShape {
        MeanShape {
            units,
            grouped: self.unit.is_some(),
            weighted: self.sample_weight.is_some(),
            missing: self.missing,
            groups: self.by.as_ref().map(|by| by.levels.len()),
        }
    }

    /// Refuses a method that looks at rows in memory.
    pub fn require_passes(&self) -> Result<(), Failure> {
        if self.method == MeanMethod::Columns {
            return Ok(());
        }
        Err(Failure::Usage(Message::new(
            "this method of means holds the table in memory: use {} columns, which does not",
            &[&Parameter::Method],
        )))
    }

    /// Refuses what goes with means of any columns alone.
    fn validate_columns(&self) -> Result<(), Failure> {
        if self.method == MeanMethod::Columns && !self.is_sparse() {
            return Ok(());
        }
        let instead = if self.is_sparse() {
            Message::new("leave out {} and {}", &[&Parameter::Sparsity, &Parameter::Tune])
        } else {
            Message::new("use {} columns", &[&Parameter::Method])
        };
        let given = [
            (Parameter::By, self.by.is_some()),
            (Parameter::SampleWeight, self.sample_weight.is_some()),
            (Parameter::Weights, !self.weights.is_empty()),
            (Parameter::Bounds, self.bounds_share.is_some()),
        ];
        if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Failure::Usage(Message::new(
                "{} cannot be had with this method of means: {}, or leave out {}",
                &[&flag, &instead, &flag],
            )));
        }
        if self.missing {
            return Err(Failure::Failed(Message::new(
                "this method of means counts every row, but the schema says missing = \"drop\": {}, or write missing = \"fill\"",
                &[&instead],
            )));
        }
        Ok(())
    }

    /// Refuses what does not fit together, before any table is opened.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        self.validate_columns()?;
        if self.method == MeanMethod::Columns && self.is_sparse() {
            return refuse(Message::new(
                "{} and {} cannot be had with {} columns, which takes every column's mean: leave out one of them",
                &[&Parameter::Sparsity, &Parameter::Tune, &Parameter::Method],
            ));
        }
        // Columns on several scales would hide a wrong order.
        if let Some((low, high)) = self.deviations.filter(|&(low, high)| !(low > 0.0 && low <= high)) {
            return Err(Failure::Usage(Message::new(
                "{} must be above 0, the smaller first, got {},{}: give the least and the largest deviation",
                &[&Parameter::Deviations, &low, &high],
            )));
        }
        if self.largest.is_some() && self.sparsity.is_some() {
            return refuse(Message::new(
                "{} gives the number that {} sparsity=auto would choose: leave out one of them",
                &[&Parameter::Sparsity, &Parameter::Tune],
            ));
        }
        if let (MeanMethod::KarwaVadhan, Some(unit)) = (self.method, &self.unit) {
            return Err(Failure::Usage(Message::new(
                "{} karwa-vadhan compares rows by their place in the table, but the unit `{}` is protected with all of its \
                 rows: use {} localise or columns, or leave out the unit",
                &[&Parameter::Method, &unit, &Parameter::Method],
            )));
        }
        match (self.method, self.deviations) {
            (MeanMethod::Localise | MeanMethod::Columns, None) => Ok(()),
            (MeanMethod::Localise | MeanMethod::Columns, Some(_)) => refuse(Message::new(
                "{} goes with {} karwa-vadhan: leave it out, or give that method",
                &[&Parameter::Deviations, &Parameter::Method],
            )),
            (MeanMethod::KarwaVadhan, _) if self.level.is_some() => refuse(Message::new(
                "{} cannot be had with {} karwa-vadhan: leave it out, or use {} localise or columns",
                &[&Parameter::Intervals, &Parameter::Method, &Parameter::Method],
            )),
            (MeanMethod::KarwaVadhan, _) if self.is_sparse() => refuse(Message::new(
                "{} cannot be had with {} karwa-vadhan, which takes every column's mean: leave out one of them",
                &[&Parameter::Sparsity, &Parameter::Method],
            )),
            _ => Ok(()),
        }
    }

    /// Whether most means are taken to be zero.
    pub fn is_sparse(&self) -> bool {
        self.sparsity.or(self.largest).is_some()
    }

    /// Refuses bounds that a sparse mean cannot have, before any table is opened.
    pub fn require_zero(&self, known: &PublicFacts) -> Result<(), Failure> {
        match (self.is_sparse(), known) {
            (false, _) => Ok(()),
            (true, PublicFacts::Schema(schema)) => schema.encoded()?.0.iter().try_for_each(|c| {
                let user = |stored: f64| c.scaling.center + c.scaling.half_width * stored;
                require_zero_within(
                    &format!("`{}`", c.name).into(),
                    user(c.scaling.lower),
                    user(c.scaling.upper),
                )
            }),
            (true, PublicFacts::Uniform(uniform)) => require_zero_within(
                &Message::new("{}", &[&Parameter::FeatureBounds]),
                uniform.bounds.feature.0,
                uniform.bounds.feature.1,
            ),
        }
    }

    /// The estimator of these columns as they are stored.
    pub fn estimator(&self, columns: &[EncodedColumn]) -> Result<Estimator, Failure> {
        search::require(self.bounds_share, columns)?;
        let ranges = columns.iter().map(|c| (c.scaling.lower, c.scaling.upper)).collect();
        if let Some(largest) = self.largest {
            let model = TunedSparseMean::new(ranges, largest.min(columns.len()))?;
            return Ok(Estimator::Tuned(match self.level {
                Some(level) => model.intervals(level)?,
                None => model,
            }));
        }
        Ok(match (self.method, self.sparsity, self.level) {
            (MeanMethod::Columns, ..) => Estimator::Columns(ColumnMeans::new(self, columns)?),
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
fn require_zero_within(what: &Message, low: f64, high: f64) -> Result<(), Failure> {
    if low <= 0.0 && high >= 0.0 {
        return Ok(());
    }
    Err(Failure::Usage(Message::new(
        "a sparse mean takes most means to be 0, but the bounds [{}, {}] of {} do not hold 0: measure the columns \
         from where most of them have their mean, or leave out {} and {}",
        &[&low, &high, what, &Parameter::Sparsity, &Parameter::Tune],
    )))
}

/// The estimator with its noise calibrated.
pub enum ReadyMeans {
    /// Of every column, each with its own clip.
    Columns(ReadyColumnMeans),
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
        let shape = Shape::new(columns, rows);
        Ok(match self {
            Estimator::Columns(model) => ReadyMeans::Columns(model.prepare(rows, privacy)?),
            Estimator::Dense(model) => ReadyMeans::Dense(model.prepare(shape, privacy)?),
            Estimator::Sparse(model) => ReadyMeans::Sparse(model.prepare(shape, privacy)?),
            Estimator::Tuned(model) => ReadyMeans::Tuned(model.prepare(rows, privacy)?),
            Estimator::KarwaVadhan(model) => ReadyMeans::KarwaVadhan(model.prepare(shape, privacy)?),
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
        let ready = self.prepare(columns, rows, privacy)?;
        if let ReadyMeans::Tuned(prepared) = &ready
            && let Some(certificate) = prepared.planned(adjacency.clone(), source)?
        {
            return Ok(certificate);
        }
        planned::certificate(ready.events()?, Vec::new(), adjacency, None, privacy, source)
    }
}

impl ReadyMeans {
    fn events(&self) -> Result<Vec<Event>, Failure> {
        Ok(match self {
            ReadyMeans::Columns(prepared) => prepared.events()?,
            ReadyMeans::Dense(prepared) => prepared.events()?,
            ReadyMeans::Sparse(prepared) => prepared.events()?,
            ReadyMeans::KarwaVadhan(prepared) => prepared.events()?,
            ReadyMeans::Tuned(prepared) => prepared.events()?,
        })
    }

    /// What a ledger is charged. The noise of a tuned mean depends on the number of columns that is chosen on the way, so there no list is
    /// right beforehand: it counts as one release that meets the budget.
    pub fn planned(&self, protects: Adjacency, privacy: Privacy) -> Result<Planned, Failure> {
        let events = match (self, privacy) {
            (ReadyMeans::Tuned(_), Privacy::Budget(budget)) => {
                let (epsilon, delta) = (budget.epsilon(), budget.delta());
                vec![Event::new(
                    "sparse means, their number chosen",
                    Noise::Approximate { epsilon, delta },
                    1,
                )?]
            }
            _ => self.events()?,
        };
        Ok(Planned { what: "mean", events, parts: Vec::new(), protects, assuming: None })
    }

    /// The means of the chosen columns and which they are; of all if `None`.
    pub fn fit(
        &self,
        table: &impl MeanTable,
        rng: &mut RandomSource,
    ) -> Result<(MeanFit, Option<Vec<usize>>), Failure> {
        Ok(match self {
            // Of rows alone: a table with more to it has its own way.
            ReadyMeans::Columns(prepared) => (prepared.of_rows(table.design(), rng)?, None),
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
