//! What a figure of a paper is.

use crate::Result;
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::accounting::epsilon_at;
use dpglm::privacy::Event;
use serde::{Deserialize, Serialize};

/// A figure or table of a paper, ready to be run again.
pub struct Figure {
    /// How it is called on the command line: `c20-1a`.
    pub key: &'static str,
    /// Where it stands and what it shows.
    pub title: &'static str,
    /// What the paper says it shows, in a sentence.
    pub claim: &'static str,
    /// What the paper leaves open (T, constants, grids) and what was taken; what had to be corrected to run at all.
    pub choices: &'static [&'static str],
    /// Where the rows come from; a stand-in is named here.
    pub data: &'static str,
    /// The axes of the drawing.
    pub axes: Axes,
    /// What is drawn, in the order of the legend.
    pub lines: &'static [Line],
    /// How often each point is repeated.
    pub repetitions: Repetitions,
    /// The settings on the x axis.
    pub points: fn() -> Vec<Point>,
    /// The point whose numbers stand in the table of all figures.
    pub headline: &'static str,
    /// What each private line promises at a point, and what it keeps. A line that is not named makes no promise.
    pub promises: fn(&Point) -> Result<Promises>,
    /// One repetition at one point: draws the rows once, then gives the task a value for every line.
    pub run: fn(&Point, &mut Task) -> Result<()>,
    /// Does the claim hold? A rule on the numbers.
    pub verdict: fn(&FigureResult) -> Verdict,
    /// Gigabytes that one repetition needs.
    pub memory: fn(&Point) -> f64,
}

/// The promises of the private lines, by the line's name.
pub type Promises = Vec<(&'static str, Promise)>;

/// The axes of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axes {
    /// What runs along the x axis.
    pub x: &'static str,
    /// What is measured.
    pub y: &'static str,
    /// How x is drawn.
    pub x_scale: Scale,
    /// How y is drawn.
    pub y_scale: Scale,
    /// What the values are.
    pub measure: Measure,
}

/// What a figure's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Errors: smaller is better.
    Error,
    /// Natural logarithms of errors: ratios are those of the errors.
    LogError,
    /// Areas under an attack's curve: no errors, but bounded by what is promised.
    Area,
}

/// How an axis is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten.
    Logarithmic,
    /// One place a point, with its name (x axis only).
    Named,
    /// The values of a path, step after step (x axis only).
    Steps,
}

/// How often a point is repeated: `--quick` and `--full`. The quick repetitions are the first of the full ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetitions {
    /// Enough to see the picture.
    pub quick: u32,
    /// As many as the paper has.
    pub full: u32,
}

/// One line of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Its name in the legend.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The paper's algorithm with the paper's noise.
    Literal,
    /// The product at the budget that the paper states.
    Certified,
    /// The product at the epsilon that the literal run truly has.
    CertifiedAtTrue,
    /// No noise.
    NonPrivate,
    /// A variant, or another author's method that the paper compares with.
    Comparator,
}

/// The name of the line of kind [`Kind::Literal`], unless a figure has several.
pub const LITERAL: &str = "literal";
/// The name of the line of kind [`Kind::Certified`].
pub(crate) const CERTIFIED: &str = "certified";
/// The name of the line of kind [`Kind::CertifiedAtTrue`].
pub(crate) const AT_TRUE: &str = "certified, literal's true epsilon";
/// The name of the line of kind [`Kind::NonPrivate`].
pub(crate) const NON_PRIVATE: &str = "non-private";

/// The four lines that most figures have.
pub const USUAL: [Line; 4] = [
    Line { name: LITERAL, kind: Kind::Literal },
    Line { name: CERTIFIED, kind: Kind::Certified },
    Line { name: AT_TRUE, kind: Kind::CertifiedAtTrue },
    Line { name: NON_PRIVATE, kind: Kind::NonPrivate },
];

/// A comparator's line.
pub const fn comparator(name: &'static str) -> Line {
    Line { name, kind: Kind::Comparator }
}

/// One place on the x axis with all its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its name: seeds derive from it, so it names the settings.
    pub name: String,
    /// Where it lies on the x axis.
    pub x: f64,
    /// What is fixed there: n, d, epsilon, ...
    pub settings: Vec<(&'static str, f64)>,
    /// Whether `--quick` runs it.
    pub quick: bool,
}

impl Point {
    /// A point with its settings.
    pub fn new(name: impl Into<String>, x: f64, settings: &[(&'static str, f64)]) -> Self {
        Self { name: name.into(), x, settings: settings.to_vec(), quick: true }
    }

    /// Only `--full` runs it.
    pub fn full_only(mut self) -> Self {
        self.quick = false;
        self
    }

    /// A setting; NaN if the point has none of that name, which every user of the number refuses.
    pub fn get(&self, name: &str) -> f64 {
        self.settings.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, value)| *value)
    }

    /// A setting that is a whole number.
    pub fn whole(&self, name: &str) -> usize {
        self.get(name) as usize
    }
}

/// What a private line says of itself, and what is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The epsilon that is stated.
    pub epsilon: f64,
    /// The delta that is stated.
    pub delta: f64,
    /// The epsilon at that delta by the accountant; none if there is no finite one.
    pub truly: Option<f64>,
    /// On what the true one rests.
    pub because: String,
}

impl Promise {
    /// A certified method keeps what it states, for every data set.
    pub fn certified(epsilon: f64, delta: f64) -> Self {
        Self { epsilon, delta, truly: Some(epsilon), because: "every data set".into() }
    }

    /// A literal run: what its events cost by the accountant.
    pub fn literal(epsilon: f64, delta: f64, events: &[Event], because: &str) -> Result<Self> {
        Ok(Self { epsilon, delta, truly: Some(epsilon_at(events, delta)?), because: because.into() })
    }

    /// A run for which no epsilon holds.
    pub fn broken(epsilon: f64, delta: f64, because: &str) -> Self {
        Self { epsilon, delta, truly: None, because: because.into() }
    }

    /// The certified promise at this one's true epsilon, where that is finite and differs by more than a hundredth.
    pub(crate) fn at_true(&self) -> Option<Self> {
        let truly = self.truly.filter(|e| *e > 0.0 && (e / self.epsilon).ln().abs() > 0.01)?;
        Some(Self::certified(truly, self.delta))
    }
}

/// The promises of [`USUAL`]: the literal one, the certified one at what it states, and at its true epsilon.
pub(crate) fn usual_promises(literal: Promise) -> Promises {
    let mut promises = vec![(CERTIFIED, Promise::certified(literal.epsilon, literal.delta))];
    promises.extend(literal.at_true().map(|promise| (AT_TRUE, promise)));
    promises.insert(0, (LITERAL, literal));
    promises
}
