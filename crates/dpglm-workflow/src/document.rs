//! The files that commands leave behind: self-describing JSON with the name and version of its schema.

pub use super::describe::document::DESCRIBE;
use super::describe::document::DescribeDocument;
use super::failure::Failure;
use super::means::MeanMethod;
use super::model::{Calibration, Coefficient, Family, INTERCEPT, Method, coefficient_of_class};
use super::survival::Survival;
use super::{render, table};
use dpglm::accounting::Certificate;
use dpglm::error::{Message, Parameter};
use dpglm::families::Domain as Values;
use dpglm_io::{Domain, Schema, Target};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// The schema of a fitted model.
pub const FIT: &str = "dpglm.fit/1";
/// The schema of means.
pub const MEAN: &str = "dpglm.mean/1";

/// A fitted model: everything in it is public or was paid for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitDocument {
    /// The schema's name and version.
    pub schema: String,
    /// What kind of response it explains.
    pub family: Family,
    /// How it was fitted.
    pub method: Method,
    /// The number of rows, or of units where a unit is declared.
    pub n: usize,
    /// The column that says whose row it is.
    pub unit: Option<String>,
    /// How survival was cut into intervals, where that is what was explained: coefficients are logarithms of hazard ratios then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub survival: Option<Survival>,
    /// The target's public facts.
    pub target: TargetDocument,
    /// The features, in the order of the coefficients.
    pub columns: Vec<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// The penalty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ridge: Option<f64>,
    /// The largest l2 norm of the coefficients.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub radius: Option<f64>,
    /// The number of coefficients that were allowed to differ from zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sparsity: Option<usize>,
    /// The largest l2 norm of a row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub row_norm: Option<f64>,
    /// Which way the default of few coefficients went, and why: public numbers decide.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub route: Option<String>,
    /// The largest l1 norm of the coefficients.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub l1_radius: Option<f64>,
    /// The number of steps that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steps: Option<u64>,
    /// The length of a step that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step_length: Option<f64>,
    /// The largest l2 norm of any entries of a row that are as many as the sparsity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub support_norm: Option<f64>,
    /// How much noise was added, if not what the budget asks for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibration: Option<Calibration>,
    /// Whether one half of the rows chose the columns and the other was fitted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub split: Option<bool>,
    /// The bounds that were found privately, of numbers of which only a magnitude was declared: cells beyond count as the nearest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<IndexMap<String, [f64; 2]>>,
    /// The chosen columns; the coefficients of all others are zero. All columns if absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub support: Option<Vec<String>>,
    /// In the user's own units; of the chosen columns alone where there is a support. Predictions are made with these.
    pub coefficients: IndexMap<String, f64>,
    /// The same without shrinkage and penalty: what standard errors and intervals belong to. The coefficients themselves if absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimates: Option<IndexMap<String, f64>>,
    /// Whether the budget determines the coefficient; if not its interval says nothing. All of them if absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub determined: Option<IndexMap<String, bool>>,
    /// Of sampling and of privacy noise together.
    pub standard_errors: Option<IndexMap<String, f64>>,
    /// The covariance of the estimates of each linear predictor, in their order: row after row up to the diagonal. Absent for very many.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub covariance: Option<Vec<Vec<Vec<f64>>>>,
    /// The intervals' level.
    pub level: Option<f64>,
    /// The ends of the confidence intervals.
    pub intervals: Option<IndexMap<String, [f64; 2]>>,
    /// By how much responses vary more than their means say: the factor of the family's variance. Standard errors do not need it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dispersion: Option<f64>,
    /// What left, and what it cost.
    pub certificate: Certificate,
    /// How to read another table of the same kind.
    pub encoding: Schema,
}

/// The target's public facts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetDocument {
    /// Its name.
    pub name: String,
    /// The bounds of a number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<[f64; 2]>,
    /// The levels of a category.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<Vec<String>>,
}

/// One linear predictor's coefficients.
pub struct Block {
    /// The intercept, if there is one.
    pub intercept: Option<f64>,
    /// In the order of the features.
    pub slopes: Vec<f64>,
}

/// Means of a table's columns.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanDocument {
    /// The schema's name and version.
    pub schema: String,
    /// The number of rows, or of units where a unit is declared.
    pub n: usize,
    /// The column that says whose row it is: each unit counts as one row, the mean of its rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// All columns; by group, each column of each group.
    pub columns: Vec<String>,
    /// The column of groups whose means were taken apart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// The column of survey weights.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample_weight: Option<String>,
    /// Each group's share of the rows, or of their weight.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<IndexMap<String, f64>>,
    /// The share of the rows in which each declared column has a value, where missing cells are counted out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<IndexMap<String, f64>>,
    /// The bounds that were found privately, of columns of which only a magnitude was declared: cells beyond count as the nearest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<IndexMap<String, [f64; 2]>>,
    /// How they were taken, where not by one clip of whole rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<MeanMethod>,
    /// The number of means that were allowed to differ from zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sparsity: Option<usize>,
    /// The chosen columns; the means of all others are taken to be zero. All columns if absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub support: Option<Vec<String>>,
    /// In the user's own units.
    pub means: IndexMap<String, f64>,
    /// Of sampling and of privacy noise together.
    pub standard_errors: Option<IndexMap<String, f64>>,
    /// The intervals' level.
    pub level: Option<f64>,
    /// The ends of the confidence intervals.
    pub intervals: Option<IndexMap<String, [f64; 2]>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// An artefact of any kind.
pub enum Artefact {
    /// A fitted model.
    Fit(Box<FitDocument>),
    /// Means of columns.
    Mean(Box<MeanDocument>),
    /// The description of a table.
    Describe(Box<DescribeDocument>),
}

impl From<&Target> for TargetDocument {
    fn from(target: &Target) -> Self {
        let (bounds, levels) = match &target.domain {
            Domain::Real(b) | Domain::Count(b) => (Some([b.lower(), b.upper()]), None),
            Domain::Binary(levels) => (None, Some(levels.to_vec())),
            Domain::Category(levels) => (None, Some(levels.clone())),
        };
        Self { name: target.name.clone(), bounds, levels }
    }
}

impl FitDocument {
    /// The coefficients as a block for each linear predictor: intercept first, then the features in their order.
    pub fn blocks(&self) -> Result<Vec<Block>, String> {
        let chosen: Option<HashSet<&str>> =
            self.support.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let find = |name: &str| {
            self.coefficients.get(name).copied().ok_or_else(|| format!("it has no coefficient `{name}`"))
        };
        let is_zero = |name: &str| chosen.as_ref().is_some_and(|chosen| !chosen.contains(name));
        let classes = self.target.levels.as_deref().unwrap_or_default();
        let outputs = if self.family == Family::Multinomial { 1..classes.len() } else { 0..1 };
        outputs
            .map(|class| {
                let called = |name: &str| match self.family == Family::Multinomial {
                    true => coefficient_of_class(classes, class, name),
                    false => name.to_owned(),
                };
                let intercept = if self.intercept { Some(find(&called(INTERCEPT))?) } else { None };
                let slope = |name: &String| if is_zero(name) { Ok(0.0) } else { find(&called(name)) };
                let slopes = self.columns.iter().map(slope).collect::<Result<_, _>>()?;
                Ok(Block { intercept, slopes })
            })
            .collect()
    }
}

impl FitDocument {
    /// The features of the table: intervals of time are none of them.
    pub fn features(&self) -> &[String] {
        let intervals = self.survival.as_ref().map_or(0, |survival| survival.cuts.len());
        &self.columns[..self.columns.len().saturating_sub(intervals)]
    }

    /// Hazard ratios with their intervals, of a model of survival.
    fn hazard_ratios(&self) -> String {
        if self.survival.is_none() {
            return String::new();
        }
        let ratios = |all: &IndexMap<String, f64>| -> IndexMap<String, f64> {
            let slopes = all.iter().filter(|(name, _)| *name != INTERCEPT);
            slopes.map(|(name, b)| (name.clone(), b.exp())).collect()
        };
        let ends = self.intervals.as_ref().map(|all| -> IndexMap<String, [f64; 2]> {
            let slopes = all.iter().filter(|(name, _)| *name != INTERCEPT);
            slopes.map(|(name, ends)| (name.clone(), ends.map(f64::exp))).collect()
        });
        let estimates = ratios(self.estimates.as_ref().unwrap_or(&self.coefficients));
        let determined = self.determined.as_ref().map(|all| {
            all.iter().filter(|(name, _)| *name != INTERCEPT).map(|(name, is)| (name.clone(), *is)).collect()
        });
        let level = self.level.zip(ends.as_ref());
        format!("\n{}", table::table("hazard ratio", &estimates, None, level, determined.as_ref()))
    }

    /// What was fitted, and to how much.
    pub fn heading(&self) -> String {
        let rows = if self.unit.is_some() { "units" } else { "rows" };
        let of = match (&self.target.levels, self.family.one_predictor()) {
            (Some(levels), Some(family)) if family.domain() == Values::Binary && levels.len() == 2 => {
                format!("{} ({} against {})", self.target.name, levels[1], levels[0])
            }
            (Some(levels), None) if !levels.is_empty() => {
                format!("{} (against {})", self.target.name, levels[0])
            }
            _ => self.target.name.clone(),
        };
        let family = match self.survival {
            Some(_) => "Survival (piecewise-exponential)".to_owned(),
            None => render::sentence(self.family.name()),
        };
        let chosen = chosen(self.support.as_deref(), &self.columns);
        format!("{family} model of {of}, {} {rows}{chosen}", self.n)
    }
}

impl MeanDocument {
    /// What was taken, and of how much.
    pub fn heading(&self) -> String {
        let rows = if self.unit.is_some() { "units" } else { "rows" };
        format!("Means of {} {rows}{}", self.n, chosen(self.support.as_deref(), &self.columns))
    }
}

impl FitDocument {
    /// What the table's intervals mean, where coefficients are shrunk or not all are determined.
    pub fn notes_on_intervals(&self) -> String {
        let Some(determined) = &self.determined else { return String::new() };
        if self.intervals.is_none() {
            return "\nNo coefficient is determined at this budget, so there are no intervals: the whole budget went to the \
                    prediction, and the coefficients are shrunk. More rows, a larger epsilon or fewer columns help.\n"
                .into();
        }
        let mut notes = String::new();
        if determined.values().any(|is| !is) {
            notes += "\nNot determined: noise hides the coefficient, or the rows do not tell it from other columns' or from \
                      infinity. Its interval is what a uniform prior leaves; it says nothing of the sign or the size.\n";
        }
        let penalty = match (self.ridge.is_some_and(|ridge| ridge > 0.0), self.radius.is_some()) {
            (false, false) => "shrinkage",
            (true, _) => "shrinkage or the ridge penalty",
            (false, true) => "shrinkage or the radius",
        };
        notes
            + &format!(
                "\nEstimates and intervals are of maximum likelihood, without {penalty}. Predictions use shrunk coefficients; an \
                 artefact holds both, as `estimates` and `coefficients`.\n"
            )
    }
}

impl FitDocument {
    /// What weights and a dispersion mean, if there are any.
    pub fn notes_on_weights_and_dispersion(&self) -> String {
        let mut notes = String::new();
        if let Some(weight) = self.encoding.weight() {
            let errors = match self.intervals {
                Some(_) => {
                    " Standard errors are design-based: of weighted scores as they vary from row to row."
                }
                None => "",
            };
            notes += &format!("\nRows are weighted by {weight}.{errors}\n");
        }
        if let Some(dispersion) = self.dispersion {
            let errors = match self.intervals {
                Some(_) => " Standard errors hold whatever it is.",
                None => "",
            };
            notes += &format!("\nDispersion: {}.{errors}\n", render::rounded(dispersion));
        }
        notes
    }
}

/// Names with the estimates, standard errors and intervals that belong to them.
pub struct Named {
    /// The estimates.
    pub estimates: IndexMap<String, f64>,
    /// The same without shrinkage, where there is any.
    pub unshrunk: Option<IndexMap<String, f64>>,
    /// Whether the budget determines them, where that is known.
    pub determined: Option<IndexMap<String, bool>>,
    /// Of sampling and of privacy noise together.
    pub standard_errors: Option<IndexMap<String, f64>>,
    /// The ends of the confidence intervals.
    pub intervals: Option<IndexMap<String, [f64; 2]>>,
}

impl Named {
    /// Refuses two coefficients of one name.
    pub fn new(coefficients: &[Coefficient]) -> Result<Self, Failure> {
        let estimates: IndexMap<_, _> = coefficients.iter().map(|c| (c.name.clone(), c.estimate)).collect();
        if estimates.len() < coefficients.len() {
            return Err(Failure::Failed(
                "two coefficients would have the same name: rename a column or a level".into(),
            ));
        }
        let unshrunk: Option<Vec<_>> = coefficients.iter().map(|c| Some((&c.name, c.unshrunk?))).collect();
        let unshrunk = unshrunk.filter(|all| !all.is_empty());
        let spread: Option<Vec<_>> = coefficients.iter().map(|c| Some((&c.name, c.spread?))).collect();
        // No coefficient at all has no standard error either.
        let spread = spread.filter(|all| !all.is_empty());
        Ok(Self {
            estimates,
            unshrunk: unshrunk
                .as_ref()
                .map(|all| all.iter().map(|(name, (estimate, _))| ((*name).clone(), *estimate)).collect()),
            determined: unshrunk
                .map(|all| all.iter().map(|(name, (_, is))| ((*name).clone(), *is)).collect()),
            standard_errors: spread
                .as_ref()
                .map(|all| all.iter().map(|(name, (error, _))| ((*name).clone(), *error)).collect()),
            intervals: spread
                .map(|all| all.iter().map(|(name, (_, ends))| ((*name).clone(), *ends)).collect()),
        })
    }
}

/// Reads an artefact from a file and recomputes its certificate's claim from the events it lists.
pub fn read(path: &Path) -> Result<Artefact, Failure> {
    let refuse =
        |what: Message| Failure::Failed(Message::new("{}: {}", &[&path.display().to_string(), &what]));
    let text = std::fs::read_to_string(path).map_err(|e| {
        refuse(Message::new(
            "cannot be read ({}): give a file that `dpglm fit {}` wrote",
            &[&e.to_string(), &Parameter::Output],
        ))
    })?;
    parse(&text).map_err(refuse)
}

/// The same from the artefact's text. On failure says what is wrong with it.
pub fn parse(text: &str) -> Result<Artefact, Message> {
    #[derive(Deserialize)]
    struct Label {
        schema: String,
    }
    let label: Label = serde_json::from_str(text).map_err(|e| {
        Message::new(
            "not an artefact of this program ({}): give a file that `dpglm fit {}` wrote",
            &[&e.to_string(), &Parameter::Output],
        )
    })?;
    fn document<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        serde_json::from_str(text)
            .map_err(|e| format!("not a valid artefact ({e}): it was changed after it was written"))
    }
    let artefact = match label.schema.as_str() {
        FIT => {
            let fit: FitDocument = document(text)?;
            let blocks = fit.blocks().map_err(|e| format!("not a valid artefact: {e}"))?;
            let known: HashSet<&String> = fit.columns.iter().collect();
            let chosen = fit.support.as_ref().unwrap_or(&fit.columns);
            let matches =
                blocks.len() * (chosen.len() + usize::from(fit.intercept)) == fit.coefficients.len();
            if !matches || !chosen.iter().all(|name| known.contains(name)) {
                return Err("not a valid artefact: coefficients and columns do not match".into());
            }
            Artefact::Fit(Box::new(fit))
        }
        MEAN => Artefact::Mean(Box::new(document(text)?)),
        DESCRIBE => {
            let description: DescribeDocument = document(text)?;
            if !description.is_consistent() {
                return Err("not a valid artefact: its lists do not go together".into());
            }
            Artefact::Describe(Box::new(description))
        }
        other => {
            return Err(format!(
                "an artefact of schema {other:?}; this version reads {FIT:?}, {MEAN:?} and {DESCRIBE:?}"
            )
            .into());
        }
    };
    artefact.certificate().verify().map_err(|e| e.to_string())?;
    Ok(artefact)
}

impl Artefact {
    /// What left, and what it cost.
    pub fn certificate(&self) -> &Certificate {
        match self {
            Artefact::Fit(fit) => &fit.certificate,
            Artefact::Mean(mean) => &mean.certificate,
            Artefact::Describe(description) => &description.certificate,
        }
    }

    /// The heading and the table of estimates.
    pub fn table(&self) -> String {
        match self {
            Artefact::Fit(fit) => {
                let table = table::table(
                    "coefficient",
                    fit.estimates.as_ref().unwrap_or(&fit.coefficients),
                    fit.standard_errors.as_ref(),
                    fit.level.zip(fit.intervals.as_ref()),
                    fit.determined.as_ref(),
                );
                let given = given_the_choice(fit.support.as_deref(), fit.level, fit.split.unwrap_or(false));
                let notes = fit.notes_on_intervals();
                let bounds = bounds_found(fit.bounds.as_ref());
                let beside = fit.notes_on_weights_and_dispersion();
                let fills = fills_in_words(&fit.encoding.undeclared_fills());
                let ratios = fit.hazard_ratios();
                format!("{}\n\n{table}{ratios}{given}{notes}{beside}{bounds}{fills}", fit.heading())
            }
            Artefact::Mean(mean) => {
                let table = table::table(
                    "mean",
                    &mean.means,
                    mean.standard_errors.as_ref(),
                    mean.level.zip(mean.intervals.as_ref()),
                    None,
                );
                let given = given_the_choice(mean.support.as_deref(), mean.level, false);
                let groups = shares("share of rows", mean.groups.as_ref());
                let observed = shares("share observed", mean.observed.as_ref());
                let bounds = bounds_found(mean.bounds.as_ref());
                format!("{}\n\n{table}{groups}{observed}{given}{bounds}", mean.heading())
            }
            Artefact::Describe(description) => description.table(),
        }
    }

    /// The whole artefact as JSON.
    pub fn json(&self) -> Result<String, Failure> {
        match self {
            Artefact::Fit(fit) => render::json(fit),
            Artefact::Mean(mean) => render::json(mean),
            Artefact::Describe(description) => render::json(description),
        }
    }
}

/// A line for each pair of bounds that was found.
fn bounds_found(bounds: Option<&IndexMap<String, [f64; 2]>>) -> String {
    let found = |(name, [low, high]): (&String, &[f64; 2])| {
        format!("\nBounds found for {name}: {} to {}", render::rounded(*low), render::rounded(*high))
    };
    let bounds: String = bounds.into_iter().flatten().map(found).collect();
    if bounds.is_empty() { bounds } else { bounds + "\n" }
}

/// What missing cells count as where nobody declared it.
fn fills_in_words(fills: &[(&str, f64)]) -> String {
    /// Columns beyond these are counted.
    const MOST: usize = 5;
    if fills.is_empty() {
        return String::new();
    }
    let mut all: Vec<String> =
        fills.iter().take(MOST).map(|(name, fill)| format!("{name} {}", render::rounded(*fill))).collect();
    if fills.len() > MOST {
        all.push(format!("and {} more", fills.len() - MOST));
    }
    format!(
        "\nA missing cell counts as the middle of its bounds where no fill is declared: {}.\n",
        all.join(", ")
    )
}

/// A table of shares, if there are any.
fn shares(what: &str, shares: Option<&IndexMap<String, f64>>) -> String {
    shares.map_or_else(String::new, |shares| format!("\n{}", table::table(what, shares, None, None, None)))
}

/// ", 3 of 1000 columns"; nothing where all columns were estimated.
fn chosen(support: Option<&[String]>, columns: &[String]) -> String {
    support.map_or_else(String::new, |support| format!(", {} of {} columns", support.len(), columns.len()))
}

/// What intervals of chosen columns mean.
fn given_the_choice(support: Option<&[String]>, level: Option<f64>, split: bool) -> &'static str {
    match (support, level) {
        (Some(_), Some(_)) if split => {
            "\nStandard errors and intervals hold given the chosen columns, whichever they are: the rows they come from had no part in \
             the choice.\n"
        }
        (Some(_), Some(_)) => {
            "\nThe rows that chose the columns were fitted, too: intervals of columns that chance chose miss far more often than they say.\n"
        }
        _ => "",
    }
}
