//! The description of a table: what is asked for, and its artefact.

pub mod document;
pub mod drawing;
mod text;

use super::failure::Failure;
use super::large::{LargeCells, WatchRows};
use super::ledger::{Grant, Planned};
use super::means::columns::{Parts, blocks};
use super::means::{By, MeanMethod, Means};
use super::{budget, planned, search};
use document::{
    ColumnDocument, CorrelationsDocument, CrossDocument, DESCRIBE, DescribeDocument, GroupDocument,
    HistogramDocument, Number,
};
use dpglm::accounting::Certificate;
use dpglm::central::Privacy;
use dpglm::error::{Message, Parameter};
use dpglm::estimators::describe::{BlockSummary, Describe, DescribeFit, Described, Estimate, Scale};
use dpglm::estimators::means::{Block, MeanRows, MeanShape};
use dpglm::noise::RandomSource;
use dpglm::passes::{Ask, SiteCells};
use dpglm::privacy::Adjacency;
use dpglm::release::Estimator as _;
use dpglm_io::schema::{Kind, Missing};
use dpglm_io::{Encoded, EncodedColumn, LargeTable, Scaling, Schema};
use std::sync::Arc;

/// The level of intervals where none is given.
pub const LEVEL: f64 = 0.95;

/// What is to be described, all of it public.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The column of groups to be described apart.
    pub by: Option<String>,
    /// The level of intervals.
    pub level: f64,
    /// The bins of histograms.
    pub bins: Option<usize>,
    /// The two columns of a cross table.
    pub cross: Option<[String; 2]>,
    /// Whether correlations are wanted.
    pub correlations: bool,
    /// The part of the budget for the bounds of columns that have a magnitude in their place.
    pub bounds_share: Option<f64>,
}

impl Default for Description {
    fn default() -> Self {
        Self { by: None, level: LEVEL, bins: None, cross: None, correlations: false, bounds_share: None }
    }
}

/// A description of tables under a schema.
pub struct Prepared {
    model: Describe,
    schema: Schema,
    asked: Description,
    by: Option<By>,
}

impl Description {
    /// The schema under which a table is read to be described: groups in the target's place, all other columns features.
    pub fn schema(&self, schema: Schema) -> Result<Schema, Failure> {
        if let Some(unit) = schema.unit() {
            return Err(Failure::Failed(format!(
                "a description counts rows and protects one row, but the schema protects all rows of a `{unit}` together: give a table with \
                 one row for each `{unit}` and a schema without unit, or take `dpglm mean`, which counts each `{unit}` once"
            ).into()));
        }
        Ok(Means::schema(schema, self.by.as_deref(), None)?.with_intercept(true))
    }

    /// Refuses what cannot be described, before any table is opened. The schema is one of [`Self::schema`].
    pub fn prepare(&self, schema: &Schema) -> Result<Prepared, Failure> {
        let columns = schema.encoded()?.0;
        search::require(self.bounds_share, &columns)?;
        let blocks = blocks(&columns);
        let mut model =
            Describe::new(blocks.iter().map(|(block, _)| *block).collect())?.intervals(self.level)?;
        if let Some(share) = self.bounds_share {
            model = model.searching(search::magnitudes(&columns)?, share)?;
        }
        let mut first = 0;
        for (place, (block, declared)) in blocks.iter().enumerate() {
            if let Some(Kind::Real(n) | Kind::Count(n)) = schema.column(declared).map(|c| &c.kind) {
                let Scaling { center, half_width: unit, .. } = columns[first].scaling;
                model = model.measured(place, Scale { center, unit, whole: n.whole })?;
            }
            first += block.columns();
        }
        if let Some(bins) = self.bins {
            if !blocks.iter().any(|(block, _)| matches!(block, Block::Number { .. })) {
                return Err(Failure::Usage(Message::new(
                    "{} needs a number, and the schema declares none: leave out {}",
                    &[&Parameter::Histograms, &Parameter::Histograms],
                )));
            }
            model = model.histograms(bins)?;
        }
        if let Some([a, b]) = &self.cross {
            let place = |name: &String| {
                let found = blocks.iter().position(|(_, of)| of == name);
                found.filter(|&p| !matches!(blocks[p].0, Block::Number { .. })).ok_or_else(|| {
                    Failure::Usage(Message::new("{} speaks of `{}`, which is no category or 0/1 column described here: name two of them, not that of {}", &[&Parameter::Cross, &name, &Parameter::By]))
                })
            };
            let (a, b) = (place(a)?, place(b)?);
            if a == b {
                return Err(Failure::Usage(Message::new(
                    "{} needs two different columns: name another one",
                    &[&Parameter::Cross],
                )));
            }
            model = model.cross(a, b)?;
        }
        if self.correlations {
            let fits = |(block, _): &&(Block, &str)| !matches!(block, Block::Category { .. });
            if blocks.iter().filter(fits).count() < 2 {
                return Err(Failure::Usage(Message::new(
                    "{} needs two numbers or 0/1 columns: leave out {}",
                    &[&Parameter::Correlations, &Parameter::Correlations],
                )));
            }
            model = model.correlations()?;
        }
        let by = Means::by_method(MeanMethod::Columns).under(schema).by;
        Ok(Prepared { model, schema: schema.clone(), asked: self.clone(), by })
    }
}

/// A description with its noise calibrated.
type Calibrated = dpglm::release::Prepared<Describe>;

impl Prepared {
    fn shape(&self, rows: usize) -> MeanShape {
        MeanShape {
            missing: self.schema.missing() == Missing::Drop,
            groups: self.by.as_ref().map(|by| by.levels.len()),
            ..MeanShape::new(rows)
        }
    }

    /// The certificate that a description of so many rows would carry.
    pub fn planned(
        &self,
        rows: usize,
        privacy: Privacy,
        source: &RandomSource,
    ) -> Result<Certificate, Failure> {
        let events = self.model.prepare(self.shape(rows), privacy)?.events()?;
        planned::certificate(events, Vec::new(), Adjacency::ReplaceRow, None, privacy, source)
    }

    /// What a description of so many rows is charged.
    pub fn entry(&self, rows: usize, privacy: Privacy) -> Result<Planned, Failure> {
        let events = self.model.prepare(self.shape(rows), privacy)?.events()?;
        let protects = Adjacency::ReplaceRow;
        Ok(Planned { what: "describe", events, parts: Vec::new(), protects, assuming: None })
    }

    /// Describes a table that was read under the schema, and gives the artefact.
    pub fn describe<'g>(
        &self,
        table: &Encoded,
        grant: impl Into<Grant<'g>>,
        rng: &mut RandomSource,
        say: &mut dyn FnMut(&Message),
    ) -> Result<DescribeDocument, Failure> {
        self.release(&table.columns, table.rows(), grant.into(), rng, say, |prepared, means, rng| {
            let fit = |rows: &MeanRows<'_>| Ok(prepared.fit(rows, rng)?);
            Parts::from(table).with_rows(means, blocks(&table.columns).len(), fit)
        })
    }

    /// The same of so many rows of these columns that are asked.
    pub fn describe_asked<'g>(
        &self,
        columns: &[EncodedColumn],
        n: usize,
        ask: Arc<dyn Ask>,
        grant: impl Into<Grant<'g>>,
        rng: &mut RandomSource,
        say: &mut dyn FnMut(&Message),
    ) -> Result<DescribeDocument, Failure> {
        let rows = SiteCells::new(self.shape(n), columns.len(), None, ask);
        let describe =
            |prepared: &Calibrated, _: &Means, rng: &mut RandomSource| Ok(prepared.fit_rows(&rows, rng)?);
        self.release(columns, n, grant.into(), rng, say, describe)
    }

    /// The same of a table of which a few blocks are in memory at a time. `watch` is told how far a pass is.
    pub fn describe_large<'g>(
        &self,
        table: LargeTable,
        watch: WatchRows,
        grant: impl Into<Grant<'g>>,
        rng: &mut RandomSource,
        say: &mut dyn FnMut(&Message),
    ) -> Result<DescribeDocument, Failure> {
        let (columns, n) = (table.columns.clone(), table.rows as usize);
        let means = Means::by_method(MeanMethod::Columns).under(&self.schema);
        self.describe_asked(&columns, n, Arc::new(LargeCells { table, means, watch }), grant, rng, say)
    }

    fn release(
        &self,
        columns: &[EncodedColumn],
        n: usize,
        grant: Grant<'_>,
        rng: &mut RandomSource,
        say: &mut dyn FnMut(&Message),
        describe: impl FnOnce(&Calibrated, &Means, &mut RandomSource) -> Result<DescribeFit, Failure>,
    ) -> Result<DescribeDocument, Failure> {
        let privacy = grant.privacy;
        budget::warning_of_large_delta(privacy, n).iter().for_each(&mut *say);
        let prepared = self.model.prepare(self.shape(n), privacy)?;
        let blocks = blocks(columns);
        let means = Means::by_method(MeanMethod::Columns).under(&self.schema);
        let paid = grant.pay(|| self.entry(n, privacy), &|privacy| self.entry(n, privacy))?;
        let found = describe(&prepared, &means, rng)?;
        let named = |(place, group): (usize, &Described)| GroupDocument {
            group: self.by.as_ref().and_then(|by| by.levels.get(place).cloned()),
            share: group.share.map(Number::from),
            columns: self.columns(columns, &blocks, &found.blocks, group),
            cross: group.cross.as_ref().and_then(|cells| self.cross(&blocks, cells)),
            correlations: group.correlations.as_ref().map(|r| {
                let names: Vec<String> = blocks
                    .iter()
                    .filter(|(block, _)| !matches!(block, Block::Category { .. }))
                    .map(|(_, of)| (*of).to_owned())
                    .collect();
                let matrix = r.chunks(names.len()).map(|row| row.iter().copied().map(Number::from).collect());
                CorrelationsDocument { matrix: matrix.collect(), columns: names }
            }),
        };
        let document = DescribeDocument {
            schema: DESCRIBE.into(),
            n,
            by: self.by.as_ref().map(|by| by.column.clone()),
            level: self.asked.level,
            groups: found.groups.iter().enumerate().map(named).collect(),
            certificate: found.certificate,
        };
        paid.close(&document.certificate, &document, say)?;
        Ok(document)
    }

    /// What is said of the columns of a group, in the user's units.
    fn columns(
        &self,
        encoded: &[EncodedColumn],
        blocks: &[(Block, &str)],
        found: &[Block],
        group: &Described,
    ) -> indexmap::IndexMap<String, ColumnDocument> {
        let mut first = 0;
        let mut all = indexmap::IndexMap::new();
        for (((block, declared), summary), found) in blocks.iter().zip(&group.blocks).zip(found) {
            let column = &encoded[first];
            first += block.columns();
            let kind = self.schema.column(declared).map(|c| &c.kind);
            let document = match (summary, kind) {
                (BlockSummary::Number { .. }, Some(Kind::Real(n) | Kind::Count(n))) => {
                    number(summary, column, n, found)
                }
                (BlockSummary::Levels { missing, shares }, Some(Kind::Binary(c) | Kind::Category(c))) => {
                    let order = declared_order(c.levels.names().len(), c.reference);
                    let share = |k: usize| Number::from(shares[order[k]]);
                    let names = c.levels.names().iter().cloned();
                    ColumnDocument {
                        missing: missing.map(Number::from),
                        levels: Some(names.enumerate().map(|(k, name)| (name, share(k))).collect()),
                        ..ColumnDocument::default()
                    }
                }
                _ => ColumnDocument::default(),
            };
            all.insert((*declared).to_owned(), document);
        }
        all
    }

    fn cross(&self, blocks: &[(Block, &str)], cells: &[Estimate]) -> Option<CrossDocument> {
        let names = self.asked.cross.as_ref()?;
        let levels = |name: &String| match self.schema.column(name).map(|c| &c.kind) {
            Some(Kind::Binary(c) | Kind::Category(c)) => Some((c.levels.names().to_vec(), c.reference)),
            _ => None,
        };
        debug_assert!(names.iter().all(|name| blocks.iter().any(|(_, of)| of == name)));
        let ((rows, a), (columns, b)) = (levels(&names[0])?, levels(&names[1])?);
        let (down, along) = (declared_order(rows.len(), a), declared_order(columns.len(), b));
        let cell = |i: usize, j: usize| cells.get(i * along.len() + j).copied().map(Number::from);
        let shares: Option<Vec<Vec<Number>>> =
            down.iter().map(|&i| along.iter().map(|&j| cell(i, j)).collect()).collect();
        Some(CrossDocument { columns: names.clone(), rows, across: columns, shares: shares? })
    }
}

/// Where each declared level stands in a list that has the reference first.
fn declared_order(levels: usize, reference: usize) -> Vec<usize> {
    (0..levels).map(|k| if k == reference { 0 } else { k + usize::from(k < reference) }).collect()
}

fn number(
    summary: &BlockSummary,
    column: &EncodedColumn,
    numeric: &dpglm_io::schema::Numeric,
    found: &Block,
) -> ColumnDocument {
    let BlockSummary::Number { missing, mean, deviation, quartiles, histogram } = summary else {
        return ColumnDocument::default();
    };
    let (center, unit) = (column.scaling.center, column.scaling.half_width);
    let bounds = numeric.bounds;
    let user = |x: f64| bounds.clamp(center + unit * x);
    let ends = match (found, numeric.resolution) {
        (Block::Number { low, high }, Some(_)) => (user(*low), user(*high)),
        _ => (bounds.lower(), bounds.upper()),
    };
    let on_grid = |x: f64| round(user(x), ends);
    let map = |e: &Estimate, to: &dyn Fn(f64) -> f64| Number {
        estimate: to(e.value),
        interval: [to(e.low), to(e.high)],
    };
    let [first, median, third] = quartiles.each_ref().map(|q| Some(map(q, &on_grid)));
    ColumnDocument {
        missing: missing.map(Number::from),
        mean: Some(map(mean, &user)),
        deviation: Some(map(deviation, &|x| unit * x)),
        first_quartile: first,
        median,
        third_quartile: third,
        histogram: histogram.as_ref().map(|bins| {
            let (low, high) = ends;
            let edge = |k: usize| low + (high - low) * k as f64 / bins.len() as f64;
            HistogramDocument {
                edges: (0..=bins.len()).map(edge).collect(),
                shares: bins.iter().copied().map(Number::from).collect(),
            }
        }),
        levels: None,
        bounds: numeric.resolution.map(|_| [ends.0, ends.1]),
    }
}

/// A quartile without the digits that scaling left behind. It was chosen from round numbers within these bounds.
fn round(x: f64, (low, high): (f64, f64)) -> f64 {
    let power = 10f64.powi(9 - (high - low).log10().ceil() as i32);
    // Zero has no sign.
    ((x * power).round() / power).clamp(low, high) + 0.0
}
