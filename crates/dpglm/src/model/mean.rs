//! Means of columns with public bounds.

use super::columns::Columns;
use crate::accounting::Certificate;
use crate::central::Privacy;
use crate::central::interval::Interval;
use crate::data::Design;
use crate::error::Result;
use crate::estimators::means::{Block, MeanRows, Means};
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

/// The means of columns with public bounds.
///
/// ```
/// use dpglm::prelude::*;
///
/// let rows: Vec<[f64; 2]> = (0..10_000).map(|i| [f64::from(17 + i % 60), f64::from(i % 3)]).collect();
/// let fit = Mean::new([(17.0, 90.0), (0.0, 10.0)])?.intervals(0.95).fit(&rows, Budget::new(1.0, 1e-6)?)?;
/// assert!((fit.means[0] - 46.5).abs() < 1.0);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mean {
    columns: Columns,
    level: Option<f64>,
}

/// Private means.
#[derive(Debug, Clone)]
pub struct MeanFit {
    /// One per column.
    pub means: Vec<f64>,
    /// Their intervals, if asked for.
    pub intervals: Option<Vec<Interval>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

impl Mean {
    /// Of columns within these public bounds.
    pub fn new(bounds: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        Ok(Self { columns: Columns::new(bounds)?, level: None })
    }

    /// Also gives confidence intervals of this level, paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Self {
        self.level = Some(level);
        self
    }

    /// The means of these rows, one cell per column. A cell outside its bounds counts as the nearest end, and one that is no number as their
    /// middle. The noise comes from the operating system.
    pub fn fit<R: AsRef<[f64]>>(&self, rows: &[R], budget: Budget) -> Result<MeanFit> {
        self.fit_with(rows, Privacy::Budget(budget), &mut RandomSource::from_os()?)
    }

    /// The same with noise from this source, or without privacy.
    pub fn fit_with<R: AsRef<[f64]>>(
        &self,
        rows: &[R],
        privacy: Privacy,
        rng: &mut RandomSource,
    ) -> Result<MeanFit> {
        let bounds = self.columns.bounds();
        let mut means =
            Means::new(bounds.iter().map(|b| Block::Number { low: b.lower(), high: b.upper() }).collect())?;
        if let Some(level) = self.level {
            means = means.intervals(level)?;
        }
        let cells = self.columns.cells(rows)?.map(|(_, x)| x).collect();
        let design = Design::from_f64(rows.len(), bounds.len(), cells)?;
        let found = means.fit(&MeanRows::new(&design)?, privacy, rng)?;
        // Without groups there is one.
        let all = found.groups.into_iter().next();
        let (columns, intervals) = all.map(|all| (all.columns, all.intervals)).unwrap_or_default();
        let means = columns.iter().map(|column| column.mean).collect();
        Ok(MeanFit { means, intervals, certificate: found.certificate })
    }
}
