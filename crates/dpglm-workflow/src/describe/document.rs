//! The artefact of a description: self-describing JSON.

use dpglm::accounting::Certificate;
use dpglm::estimators::describe::Estimate;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The schema of a description.
pub const DESCRIBE: &str = "dpglm.describe/1";

/// A description of a table: everything in it is public or was paid for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribeDocument {
    /// The schema's name and version.
    pub schema: String,
    /// The number of rows.
    pub n: usize,
    /// The column of groups that were described apart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// The intervals' level.
    pub level: f64,
    /// One per group; one of all rows without groups.
    pub groups: Vec<GroupDocument>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// A number with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The estimate.
    pub estimate: f64,
    /// For sampling and privacy noise together.
    pub interval: [f64; 2],
}

impl From<Estimate> for Number {
    fn from(estimate: Estimate) -> Self {
        Self { estimate: estimate.value, interval: [estimate.low, estimate.high] }
    }
}

/// One group.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDocument {
    /// The level of the groups' column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// The group's share of all rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<Number>,
    /// The declared columns.
    pub columns: IndexMap<String, ColumnDocument>,
    /// The cross table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cross: Option<CrossDocument>,
    /// The correlations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub correlations: Option<CorrelationsDocument>,
}

/// What is said of a column; what does not go with its kind is absent.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDocument {
    /// The share of rows in which it is missing, where missing cells are counted out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing: Option<Number>,
    /// The bounds that were found privately, where only a magnitude was declared: cells beyond count as the nearest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<[f64; 2]>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean: Option<Number>,
    /// The standard deviation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deviation: Option<Number>,
    /// The first quartile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_quartile: Option<Number>,
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median: Option<Number>,
    /// The third quartile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub third_quartile: Option<Number>,
    /// The histogram.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub histogram: Option<HistogramDocument>,
    /// The share of each level.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<IndexMap<String, Number>>,
}

/// A histogram.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramDocument {
    /// The ends of the bins, one more than there are bins.
    pub edges: Vec<f64>,
    /// The share of each bin.
    pub shares: Vec<Number>,
}

/// A cross table.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossDocument {
    /// The two columns.
    pub columns: [String; 2],
    /// The levels of the first.
    pub rows: Vec<String>,
    /// The levels of the second.
    pub across: Vec<String>,
    /// Of the rows that have both, a list for each level of the first.
    pub shares: Vec<Vec<Number>>,
}

/// A matrix of correlations.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrelationsDocument {
    /// The columns.
    pub columns: Vec<String>,
    /// Row after row.
    pub matrix: Vec<Vec<Number>>,
}

impl DescribeDocument {
    /// Whether lists go with what they are lists of, which a file that was changed may have lost.
    pub(crate) fn is_consistent(&self) -> bool {
        let square = |rows: &[Vec<Number>], down: usize, across: usize| {
            rows.len() == down && rows.iter().all(|row| row.len() == across)
        };
        self.groups.iter().all(|group| {
            let histograms = group.columns.values().filter_map(|column| column.histogram.as_ref());
            let cross = group.cross.as_ref();
            let correlations = group.correlations.as_ref();
            histograms.into_iter().all(|h| !h.shares.is_empty() && h.edges.len() == h.shares.len() + 1)
                && cross.is_none_or(|c| square(&c.shares, c.rows.len(), c.across.len()))
                && correlations.is_none_or(|c| square(&c.matrix, c.columns.len(), c.columns.len()))
        })
    }

    /// The name of each group.
    pub fn names(&self) -> Vec<String> {
        let name = |group: &GroupDocument| match (&self.by, &group.group) {
            (Some(by), Some(level)) => format!("{by} = {level}"),
            _ => "all rows".to_owned(),
        };
        self.groups.iter().map(name).collect()
    }

    /// The level as "95%".
    pub fn percent(&self) -> String {
        crate::table::percent(self.level)
    }
}
