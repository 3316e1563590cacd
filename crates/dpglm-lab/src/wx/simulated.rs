//! What the simulated figures share: features of random sign, s coefficients uniform on [0, 1], bounded errors.
//!
//! Each figure varies one of n, p, s, epsilon about a middle setting: one group of points a panel.

use crate::Result;
use crate::draw::{Draw, distance, norm};
use crate::figure::{CERTIFIED, LITERAL, NON_PRIVATE, Point};
use crate::results::FigureResult;
use crate::task::Task;
use dpglm::central::Iht;
use dpglm::data::{Dataset, Design};
use dpglm::families::{Family, MonotoneLink};

/// The errors' bound C.
pub const ERROR: f64 = 0.05;
/// Where the rows come from.
pub const DATA: &str = "simulated as in the paper";
/// What is open in all of them.
pub(crate) const SCALED: &str = "coefficients uniform on [0, 1] are scaled to norm at most 1: the model's class asks for it, and iterates are projected on the unit ball";
/// What is open in all of them.
pub(crate) const GRIDS: &str =
    "p, s, epsilon and n are not printed: one of them varies about a middle setting, in three values";
/// What is open in all of them.
pub const BEST: &str = "the mean over repetitions is shown: the paper shows the best of ten runs, chosen by the true error, which nobody knows";
/// What is open in all of them.
pub const ROUNDS: &str = "T = ceil(log(n/p)), s = s*, delta = 1e-3, as printed; step 0.2, from zero (Algorithm's line), or from a standard normal vector (section VIII)";

/// The panels: the varied setting, its three values, and its value in the other panels.
pub(crate) type Panels = [(&'static str, [f64; 3], f64); 4];

/// The points: each panel's values, with the others at their own fixed value.
pub fn points(panels: &Panels) -> Vec<Point> {
    let middle: Vec<(&'static str, f64)> = panels.iter().map(|(name, _, fixed)| (*name, *fixed)).collect();
    let mut points = Vec::new();
    for (name, values, _) in panels {
        for &value in values {
            let mut settings: Vec<(&'static str, f64)> = middle.clone();
            settings.iter_mut().filter(|(n, _)| n == name).for_each(|(_, v)| *v = value);
            settings.push(("delta", 1e-3));
            points.push(Point::new(point_name(name, value), value, &settings));
        }
    }
    points
}

fn point_name(panel: &str, value: f64) -> String {
    if value >= 1e3 { format!("by {panel}, {}k", value / 1e3) } else { format!("by {panel}, {value}") }
}

/// A line's means and standard errors along a panel.
pub fn along(result: &FigureResult, line: &str, panel: &str) -> Vec<(f64, f64)> {
    let start = format!("by {panel},");
    let points = result.points.iter().filter(|p| p.name.starts_with(&start));
    points.filter_map(|p| p.line(line)).map(|l| l.pair()).collect()
}

/// Whether a line ends below where it began, by more than two standard errors.
pub(crate) fn clearly_falling(values: &[(f64, f64)]) -> bool {
    values.first().zip(values.last()).is_some_and(|(a, b)| a.0 - b.0 > 2.0 * a.1.hypot(b.1))
}

/// The ends of a panel, in words.
pub fn ends(result: &FigureResult, panel: &str) -> String {
    let words = |line: &str| {
        let values = along(result, line, panel);
        match (values.first(), values.last()) {
            (Some(a), Some(b)) => format!("{:.3} to {:.3}", a.0, b.0),
            _ => "nothing".into(),
        }
    };
    format!("by {panel} it goes from {} literally and from {} certified", words(LITERAL), words(CERTIFIED))
}

/// The identity, or the paper's `8 u + cos u` whose slope lies in [7, 9].
pub fn family(linear: bool) -> Result<Family> {
    if linear {
        return Ok(Family::gaussian());
    }
    Ok(Family::monotone(MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0)?))
}

/// The interval of the labels of s coefficients of norm at most 1: `f` at `-+ sqrt(s)`, and the errors.
pub(crate) fn label_range(family: &Family, s: f64) -> (f64, f64) {
    (family.mean(-s.sqrt()) - ERROR, family.mean(s.sqrt()) + ERROR)
}

/// One simulated study.
pub struct Study {
    /// Features and labels.
    pub data: Dataset,
    /// The features' signs, row after row.
    pub signs: Vec<i8>,
    /// The true coefficients.
    pub truth: Vec<f64>,
}

impl Study {
    /// Draws the rows of a point.
    pub fn new(point: &Point, family: &Family, draw: &mut Draw) -> Result<Self> {
        let (n, p, s) = (point.whole("n"), point.whole("p"), point.whole("s"));
        let mut truth = vec![0.0; p];
        draw.shuffled(p).iter().take(s).for_each(|&j| truth[j] = draw.uniform());
        let length = norm(&truth).max(1.0);
        truth.iter_mut().for_each(|b| *b /= length);
        let signs = draw.signs(n * p);
        let y = signs
            .chunks_exact(p)
            .map(|row| {
                let u = row.iter().zip(&truth).map(|(&x, b)| f64::from(x) * b).sum();
                family.mean(u) + draw.between(-ERROR, ERROR)
            })
            .collect();
        let data = Dataset::new(Design::from_i8(n, p, signs.clone(), 1.0)?, y)?;
        Ok(Self { data, signs, truth })
    }

    /// A row of features.
    pub fn row(&self, i: usize) -> Vec<f64> {
        let p = self.truth.len();
        self.signs[i * p..(i + 1) * p].iter().map(|&x| f64::from(x)).collect()
    }

    /// The relative l2 error.
    pub fn error(&self, estimate: &[f64]) -> f64 {
        distance(estimate, &self.truth) / norm(&self.truth)
    }

    /// The non-private line: iterative hard thresholding.
    pub fn reference(&self, family: &Family, sparsity: usize, task: &mut Task) -> Result<()> {
        task.value(NON_PRIVATE, self.error(&Iht::new(sparsity)?.fit(family, &self.data, 0.0)?));
        Ok(())
    }
}

/// A start that is standard normal in every coordinate.
pub(crate) fn random_start(draw: &mut Draw, p: usize) -> Vec<f64> {
    (0..p).map(|_| draw.normal()).collect()
}

/// Gigabytes.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * (3.0 * point.get("p") + 200.0) * 1e-9
}
