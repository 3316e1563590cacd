//! Means of any columns: what each block is, whose rows they are, and the estimates under their names.

use super::Means;
use crate::failure::Failure;
use crate::search;
use dpglm::central::{Interval, MeanFit, Privacy};
use dpglm::data::Design;
use dpglm::error::{Message, Parameter};
use dpglm::estimators::means::{self as library, Block, MeanRows, MeanShape, MeansFit};
use dpglm::noise::RandomSource;
use dpglm::passes::PrivateCells;
use dpglm::release::{Estimator, Prepared};
use dpglm_io::{Encoded, EncodedColumn, RowBlock, Units};
use indexmap::IndexMap;

/// Means of any columns, with what is public of their rows.
pub struct ColumnMeans {
    model: library::Means,
    shape: MeanShape,
}

/// The same with its noise calibrated.
pub struct ReadyColumnMeans(Prepared<library::Means>);

/// The means of all groups under their names, in the stored units of their columns.
pub(crate) struct Taken {
    /// The place of each mean's column.
    pub places: Vec<usize>,
    /// The name of each mean: the column's, with its group.
    pub names: Vec<String>,
    /// The means.
    pub fit: MeanFit,
    /// The share of the rows in which each declared column's cell is not missing, where cells may be; by group.
    pub observed: Option<IndexMap<String, f64>>,
    /// Each group's share of the rows, or of their weight.
    pub groups: Option<IndexMap<String, f64>>,
    /// The bounds that were found, in the user's units.
    pub bounds: Option<IndexMap<String, [f64; 2]>>,
}

/// The blocks of these columns: indicators of one category together.
pub(crate) fn blocks(columns: &[EncodedColumn]) -> Vec<(Block, &str)> {
    let same = |a: &EncodedColumn, b: &EncodedColumn| a.category.is_some() && a.category == b.category;
    let block = |group: &[EncodedColumn]| {
        let (low, high) = (group[0].scaling.lower, group[0].scaling.upper);
        match (group[0].category, group[0].binary) {
            (Some(_), _) => Block::Category { indicators: group.len() },
            (None, true) => Block::Binary { low, high },
            (None, false) => Block::Number { low, high },
        }
    };
    columns.chunk_by(same).map(|group| (block(group), group[0].declared.as_str())).collect()
}

impl ColumnMeans {
    pub(super) fn new(means: &Means, columns: &[EncodedColumn]) -> Result<Self, Failure> {
        let blocks = blocks(columns);
        if let Some(name) = means.weights.keys().find(|name| !blocks.iter().any(|(_, of)| of == name)) {
            return Err(Failure::Usage(Message::new(
                "{} speaks of `{}`, of which no mean is taken: give the names of declared columns",
                &[&Parameter::Weights, &name],
            )));
        }
        let precision = blocks.iter().map(|(_, of)| means.weights.get(*of).copied().unwrap_or(1.0)).collect();
        let mut model = library::Means::new(blocks.into_iter().map(|(block, _)| block).collect())?;
        model = model.weights(precision)?;
        if let Some(share) = means.bounds_share {
            model = model.searching(search::magnitudes(columns)?, share)?;
        }
        if let Some(level) = means.level {
            model = model.intervals(level)?;
        }
        Ok(Self { model, shape: means.shape(0) })
    }

    /// Calibrates the noise for so many rows, or units.
    pub fn prepare(&self, units: usize, privacy: Privacy) -> Result<ReadyColumnMeans, Failure> {
        Ok(ReadyColumnMeans(self.model.prepare(MeanShape { units, ..self.shape }, privacy)?))
    }
}

impl ReadyColumnMeans {
    /// What will be released.
    pub fn events(&self) -> Result<Vec<dpglm::privacy::Event>, Failure> {
        Ok(self.0.events()?)
    }

    /// The means of plain rows.
    pub fn of_rows(&self, design: &Design, rng: &mut RandomSource) -> Result<MeanFit, Failure> {
        let found = self.0.fit(&MeanRows::new(design)?, rng)?;
        Ok(MeanFit { means: all_means(&found), intervals: None, certificate: found.certificate })
    }

    /// The means of a table, with everything that its means speak of.
    pub(crate) fn of_table(
        &self,
        means: &Means,
        table: &Encoded,
        rng: &mut RandomSource,
    ) -> Result<Taken, Failure> {
        let blocks = blocks(&table.columns);
        let fit = |rows: &MeanRows<'_>| Ok(self.0.fit(rows, rng)?);
        let found = Parts::from(table).with_rows(means, blocks.len(), fit)?;
        Ok(named(means, &table.columns, &blocks, found))
    }

    /// The same of rows that are known through passes alone.
    pub(crate) fn of_cells(
        &self,
        means: &Means,
        columns: &[EncodedColumn],
        rows: &dyn PrivateCells,
        rng: &mut RandomSource,
    ) -> Result<Taken, Failure> {
        Ok(named(means, columns, &blocks(columns), self.0.fit_rows(rows, rng)?))
    }
}

/// What rows have, all of a table or those of a block.
pub(crate) struct Parts<'t> {
    design: &'t Design,
    response: &'t [f64],
    weights: Option<&'t [f64]>,
    exposure: Option<&'t [f64]>,
    missing: Option<&'t [bool]>,
    units: Option<&'t Units>,
}

impl<'t> From<&'t Encoded> for Parts<'t> {
    fn from(table: &'t Encoded) -> Self {
        let Encoded { design, response, weights, exposure, missing, units, .. } = table;
        let (weights, exposure) = (weights.as_deref(), exposure.as_deref());
        Self { design, response, weights, exposure, missing: missing.as_deref(), units: units.as_ref() }
    }
}

impl<'t> From<&'t RowBlock> for Parts<'t> {
    fn from(block: &'t RowBlock) -> Self {
        let RowBlock { design, response, weights, exposure, missing, units, .. } = block;
        let (weights, exposure) = (weights.as_deref(), exposure.as_deref());
        Self { design, response, weights, exposure, missing: missing.as_deref(), units: units.as_ref() }
    }
}

impl Parts<'_> {
    /// Does something with the rows as means see them.
    pub(crate) fn with_rows<T>(
        &self,
        means: &Means,
        blocks: usize,
        work: impl FnOnce(&MeanRows<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut rows = MeanRows::new(self.design)?;
        if let (Some(name), Some(units)) = (&means.unit, self.units) {
            rows = rows.with_units(&units.of_row, units.count, name)?;
        }
        if let Some(missing) = self.missing.filter(|_| means.missing) {
            rows = rows.with_missing(missing, blocks)?;
        }
        // A row without a group or a weight counts nowhere.
        let dropped = |row: usize| self.weights.is_some_and(|w| w[row] == 0.0);
        if let (Some(weight), Some(weights)) = (&means.sample_weight, self.exposure) {
            let weights: Vec<f64> =
                weights.iter().enumerate().map(|(row, w)| if dropped(row) { 0.0 } else { *w }).collect();
            rows = rows.with_weights(&weights, weight.largest)?;
        }
        let group = |(row, level): (usize, &f64)| if dropped(row) { u32::MAX } else { *level as u32 };
        let groups: Vec<u32> = self.response.iter().enumerate().map(group).collect();
        if let Some(by) = &means.by {
            rows = rows.with_groups(&groups, by.levels.len())?;
        }
        work(&rows)
    }
}

fn all_means(found: &MeansFit) -> Vec<f64> {
    found.groups.iter().flat_map(|group| group.columns.iter().map(|c| c.mean)).collect()
}

fn named(means: &Means, columns: &[EncodedColumn], blocks: &[(Block, &str)], found: MeansFit) -> Taken {
    let labels: Vec<String> = match &means.by {
        None => vec![String::new()],
        Some(by) => by.levels.iter().map(|level| format!("[{}={level}]", by.column)).collect(),
    };
    let count = columns.len();
    let named =
        |label: &String| -> Vec<String> { columns.iter().map(|c| format!("{}{label}", c.name)).collect() };
    let intervals: Option<Vec<Vec<Interval>>> = found.groups.iter().map(|g| g.intervals.clone()).collect();
    let observed = means.missing.then(|| {
        let of_group = |(group, label): (&library::GroupMeans, &String)| {
            let mut first = 0;
            let mut shares = Vec::with_capacity(blocks.len());
            for (block, of) in blocks {
                shares.push((format!("{of}{label}"), group.columns[first].observed.unwrap_or(1.0)));
                first += block.columns();
            }
            shares
        };
        found.groups.iter().zip(&labels).flat_map(of_group).collect()
    });
    let groups = means.by.as_ref().map(|by| {
        let total: f64 = found.groups.iter().filter_map(|g| g.share).sum();
        let share = |g: &library::GroupMeans| g.share.unwrap_or(0.0) / total.max(1e-300);
        by.levels.iter().cloned().zip(found.groups.iter().map(share)).collect()
    });
    let bounds = means.bounds_share.map(|_| {
        let found = found.groups.iter().take(1).flat_map(|group| &group.columns);
        let searched = columns.iter().zip(found).filter(|(column, _)| column.resolution.is_some());
        let user = |(column, mean): (&EncodedColumn, &library::ColumnMean)| {
            let end = |x: f64| column.scaling.center + column.scaling.half_width * x;
            (column.declared.clone(), [end(mean.range.0), end(mean.range.1)])
        };
        searched.map(user).collect()
    });
    Taken {
        bounds,
        places: (0..labels.len()).flat_map(|_| 0..count).collect(),
        names: labels.iter().flat_map(named).collect(),
        observed,
        groups,
        fit: MeanFit {
            means: all_means(&found),
            intervals: intervals.map(|all| all.concat()),
            certificate: found.certificate,
        },
    }
}
