//! A whole audit of an estimator: canaries in one run, members against others, and many runs on two neighbours.
//!
//! # Algorithm
//! 1. Pairs of canaries ([`super::canaries`]); a coin for each says which of its rows joins the base rows.
//! 2. What a fit without noise would give before the coins are tossed: the attacker knows all but the coins.
//! 3. One fit. For each pair, `<H (M - baseline), S(z) - S(z')>`: the score attack ([`super::score`]), with the curvature H of the model
//!    undoing what the fit did to a row's gradient. A sparse estimate is looked at where it is not zero.
//! 4. The lower bound from one run ([`super::one_run`]), and the ROC of canary rows that were in against those that were not.
//! 5. The plain score attack on the base rows and on rows that were held out: their ROC.
//! 6. Many runs on two tables that differ in one canary: the lower bound of [`super::empirical`], with the attack, the direction in
//!    which a pilot moved, and, where there are few, the coefficients themselves as statistics.
//!
//! # What it shows
//! The bounds of steps 4 and 6 are for *replacement of one row* and hold together with the stated confidence: each gets half of the error.
//! An area under the ROC is a description, no bound. Everything here depends on the private rows and is for their curator alone.

use super::canaries::{Canaries, Opposite, PublicBox, Row};
use super::empirical::{Audit, Claim, Report};
use super::one_run::{self, OneRun};
use super::roc::Roc;
use super::score::{Estimand, ScoreAttack};
use super::table::Table;
use crate::central::reference;
use crate::error::{Error, Parameter, Result};
use crate::kernels::{fused_pass, predict};
use crate::noise::RandomSource;

/// Keeps the baseline defined where columns repeat each other.
const RIDGE: f64 = 1e-6;
/// Beyond these the baseline would cost far more than the audit: the reference point stands in for it.
const MOST_COLUMNS: usize = 1_200;
const MOST_WORK: f64 = 2e11;
/// Runs on each side that find the direction in which a replacement moves the estimate.
const SCOUTS: u64 = 20;
/// With so few coefficients each of them is looked at.
const FEW: usize = 4;

/// Gives the estimate from a table: one number for each column.
pub type Fitter<'a> = dyn FnMut(&Table, &mut RandomSource) -> Result<Vec<f64>> + 'a;

/// What to do, and how surely.
#[derive(Debug, Clone)]
pub struct Inspection {
    estimand: Estimand,
    opposite: Opposite,
    canaries: usize,
    runs: u64,
    pilot: Option<u64>,
    promise: Option<Claim>,
    error: f64,
}

/// The tables of an audit.
pub struct Ground<'a> {
    /// The rows that are always in the table.
    pub base: &'a Table,
    /// Rows like them that are never in it.
    pub held_out: Option<&'a Table>,
    /// The truth, or an estimate of it from rows of neither kind.
    pub reference: &'a [f64],
    /// What is publicly known of the cells.
    pub cells: &'a PublicBox,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The bound from one run.
    pub one_run: Option<OneRun>,
    /// Canary rows that were in against those that were not.
    pub canaries: Option<Roc>,
    /// Rows that were in against rows that were held out.
    pub rows: Option<Roc>,
    /// The bound from many runs.
    pub many_runs: Option<Report>,
}

impl Findings {
    /// The larger of the lower bounds on epsilon; zero if there is none.
    pub fn epsilon(&self) -> f64 {
        let one = self.one_run.map_or(0.0, |run| run.epsilon);
        let many = self.many_runs.as_ref().map_or(0.0, |report| report.strongest.epsilon);
        one.max(many).max(0.0)
    }

    /// Whether a claim of this epsilon is refuted: by a lower bound, or because one run gave away more than the claimed curve allows.
    pub fn refutes(&self, epsilon: f64) -> bool {
        self.epsilon() > epsilon || self.one_run.is_some_and(|run| run.refutes)
    }
}

impl Inspection {
    /// An audit whose bounds hold together with probability at least `1 - error`.
    pub fn new(estimand: Estimand, error: f64) -> Result<Self> {
        if !(error > 0.0 && error < 1.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Error,
                range: "strictly between 0 and 1",
                value: error.to_string(),
                remedy: "0.05 gives bounds of 95% confidence",
            });
        }
        let opposite = if estimand == Estimand::Mean { Opposite::Features } else { Opposite::Response };
        Ok(Self { estimand, opposite, canaries: 0, runs: 0, pilot: None, promise: None, error })
    }

    /// Plants so many pairs of canaries.
    pub fn canaries(mut self, count: usize) -> Self {
        self.canaries = count;
        self
    }

    /// In what the two rows of a pair differ.
    pub fn opposite(mut self, opposite: Opposite) -> Result<Self> {
        if self.estimand == Estimand::Mean && opposite == Opposite::Response {
            return Err(Error::Conflict("a mean has no response: the canaries' features must differ".into()));
        }
        self.opposite = opposite;
        Ok(self)
    }

    /// Runs the method so often on each of two neighbours.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }

    /// Runs a pilot of this size on each neighbour first, for methods that take long.
    pub fn pilot(mut self, runs: u64) -> Self {
        self.pilot = Some(runs);
        self
    }

    /// Puts the method's whole curve to the test of one run, not one point of it alone.
    pub fn promise(mut self, curve: Claim) -> Self {
        self.promise = Some(curve);
        self
    }

    /// Steps 1 to 6, against a promise of (epsilon, delta).
    pub fn run(
        &self,
        ground: &Ground<'_>,
        claim: (f64, f64),
        fit: &mut Fitter<'_>,
        rng: &mut RandomSource,
    ) -> Result<Findings> {
        let d = ground.base.columns();
        if ground.reference.len() != d || ground.cells.features.len() != d {
            return Err(Error::Conflict(format!(
                "a reference of {} numbers and bounds of {} columns for a table of {d}",
                ground.reference.len(),
                ground.cells.features.len()
            )));
        }
        if self.canaries == 0 {
            return Err(Error::Conflict("an audit needs at least one pair of canaries".into()));
        }
        // Step 1
        let canaries = Canaries::new(self.canaries, ground.cells, self.opposite, rng)?;
        let coins = one_run::coins(self.canaries, rng);
        // Step 2
        let known = Known::new(&self.estimand, ground, &canaries)?;
        // Step 3
        let estimate = require_length(fit(&canaries.plant(ground.base, &coins), rng)?, d)?;
        let direction = known.direction(&estimate)?;
        let along = |(row, response): Row| dot(&direction, &known.attack.score(&row, response));
        let scores: Vec<[f64; 2]> = (0..canaries.len()).map(|i| canaries.pair(i).map(along)).collect();
        // Step 4
        let shares = if self.runs > 0 { 2.0 } else { 1.0 };
        let differences: Vec<f64> = scores.iter().map(|[a, b]| a - b).collect();
        let curve = match &self.promise {
            Some(promise) => promise.clone(),
            None => Claim::at(claim.0, claim.1)?,
        };
        let one_run = one_run::examine(&differences, &coins, &curve, claim.1, self.error / shares)?;
        let chosen = |inside: bool| -> Vec<f64> {
            scores.iter().zip(&coins).map(|(pair, &second)| pair[usize::from(second == inside)]).collect()
        };
        let canary_roc = Roc::of(&chosen(true), &chosen(false))?;
        // Step 5
        let plain = ScoreAttack::new(self.estimand.clone(), ground.reference.to_vec());
        let of_rows = |table: &Table| -> Vec<f64> {
            (0..table.rows()).map(|i| plain.value(&estimate, table.row(i), table.response()[i])).collect()
        };
        let rows = match ground.held_out {
            Some(others) if others.rows() > 0 && ground.base.rows() > 0 => {
                Some(Roc::of(&of_rows(ground.base), &of_rows(others))?)
            }
            _ => None,
        };
        // Step 6
        let many_runs = if self.runs > 0 {
            let mut other = vec![false; canaries.len()];
            let left = canaries.plant(ground.base, &other);
            other[0] = true;
            let right = canaries.plant(ground.base, &other);
            let moved: Vec<f64> = {
                let [a, b] = canaries.pair(0).map(|(row, y)| known.attack.score(&row, y));
                b.iter().zip(&a).map(|(b, a)| b - a).collect()
            };
            let along = known.curved(&moved)?;
            Some(self.compare(&left, &right, Some(&along), claim, self.error / shares, fit, rng)?)
        } else {
            None
        };
        Ok(Findings { one_run: Some(one_run), canaries: Some(canary_roc), rows, many_runs })
    }

    /// Step 6 alone, on two tables of the caller's that differ in one row.
    pub fn neighbours(
        &self,
        left: &Table,
        right: &Table,
        claim: (f64, f64),
        fit: &mut Fitter<'_>,
        rng: &mut RandomSource,
    ) -> Result<Findings> {
        match left.rows_that_differ(right) {
            Some(1) => {}
            Some(rows) => {
                return Err(Error::Conflict(format!(
                    "the two tables differ in {rows} rows: neighbours differ in exactly one"
                )));
            }
            None => {
                return Err(Error::Conflict(
                    "the two tables differ in shape: neighbours have as many rows and columns".into(),
                ));
            }
        }
        let report = self.compare(left, right, None, claim, self.error, fit, rng)?;
        Ok(Findings { one_run: None, canaries: None, rows: None, many_runs: Some(report) })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of step 6, which two callers put together differently"
    )]
    fn compare(
        &self,
        left: &Table,
        right: &Table,
        along: Option<&[f64]>,
        claim: (f64, f64),
        error: f64,
        fit: &mut Fitter<'_>,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        let d = left.columns();
        // The direction in which the scouts moved on average; their runs are not used again.
        let mut moved = vec![0.0; d];
        for _ in 0..SCOUTS {
            for (table, sign) in [(left, -1.0), (right, 1.0)] {
                let estimate = require_length(fit(table, rng)?, d)?;
                moved.iter_mut().zip(&estimate).for_each(|(m, e)| *m += sign * e);
            }
        }
        let statistics = |estimate: &[f64]| -> Vec<f64> {
            let mut all = vec![dot(&moved, estimate)];
            all.extend(along.map(|along| dot(along, estimate)));
            if d <= FEW {
                all.extend(estimate.iter().flat_map(|&b| [b, b.abs()]));
            }
            all
        };
        let mut audit = Audit::new(self.runs, error)?;
        if let Some(pilot) = self.pilot {
            audit = audit.pilot(pilot)?;
        }
        let run = |side: bool, rng: &mut RandomSource| -> Result<Vec<f64>> {
            Ok(statistics(&require_length(fit(if side { right } else { left }, rng)?, d)?))
        };
        audit.examine(&Claim::at(claim.0, claim.1)?, run, rng)
    }
}

/// What the attacker knows before the coins are tossed.
struct Known {
    /// The score attack about the baseline.
    attack: ScoreAttack,
    baseline: Vec<f64>,
    /// The undecided table and the curvature of each of its rows; `None` where the identity stands in.
    curvature: Option<(Table, Vec<f64>)>,
    /// The public point that a mean may be drawn to, by a factor that is not known.
    drawn_to: Option<Vec<f64>>,
}

impl Known {
    fn new(estimand: &Estimand, ground: &Ground<'_>, canaries: &Canaries) -> Result<Self> {
        let about = |point: Vec<f64>| (ScoreAttack::new(estimand.clone(), point.clone()), point);
        let middle = ground.cells.features.iter().map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        let Estimand::Glm(family) = estimand else {
            let (attack, baseline) = about(canaries.undecided_mean(ground.base));
            return Ok(Self { attack, baseline, curvature: None, drawn_to: Some(middle) });
        };
        let undecided = canaries.undecided(ground.base);
        let (n, d) = (undecided.rows(), undecided.columns());
        let feasible = d <= MOST_COLUMNS && d < n / 2 && n as f64 * (d * d) as f64 <= MOST_WORK;
        let exact =
            if feasible { reference::glm(family, &undecided.dataset()?, RIDGE, false).ok() } else { None };
        let (attack, baseline) =
            about(exact.map_or_else(|| ground.reference.to_vec(), |fit| fit.coefficients));
        let mut predictors = vec![0.0; n];
        predict(&undecided.design()?, &baseline, &mut predictors);
        let slopes = predictors.iter().map(|&u| family.mean_slope(u)).collect();
        Ok(Self { attack, baseline, curvature: Some((undecided, slopes)), drawn_to: None })
    }

    /// `H v`, up to a factor.
    fn curved(&self, v: &[f64]) -> Result<Vec<f64>> {
        let Some((table, slopes)) = &self.curvature else { return Ok(v.to_vec()) };
        let mut product = vec![0.0; v.len()];
        fused_pass(&table.design()?, v, |row, u| slopes[row] * u, &mut product);
        Ok(product)
    }

    /// `H (M - baseline)`; of a sparse estimate the part where it is not zero.
    fn direction(&self, estimate: &[f64]) -> Result<Vec<f64>> {
        let sparse = estimate.contains(&0.0);
        let keep = |j: usize| !sparse || estimate[j] != 0.0;
        let factor = self.factor(estimate, keep);
        let baseline = |j: usize| match &self.drawn_to {
            Some(middle) => middle[j] + factor * (self.baseline[j] - middle[j]),
            None => self.baseline[j],
        };
        let from = |j: usize| if keep(j) { estimate[j] - baseline(j) } else { 0.0 };
        let mut direction = self.curved(&(0..estimate.len()).map(from).collect::<Vec<_>>())?;
        (0..direction.len()).filter(|&j| !keep(j)).for_each(|j| direction[j] = 0.0);
        Ok(direction)
    }
}

impl Known {
    /// By how much a mean was drawn to its public point, by least squares; 1 where there are too few columns to tell, and for models.
    fn factor(&self, estimate: &[f64], keep: impl Fn(usize) -> bool) -> f64 {
        let Some(middle) = self.drawn_to.as_ref().filter(|middle| middle.len() > FEW) else { return 1.0 };
        let (mut product, mut square) = (0.0, 0.0);
        for j in (0..middle.len()).filter(|&j| keep(j)) {
            let known = self.baseline[j] - middle[j];
            product += known * (estimate[j] - middle[j]);
            square += known * known;
        }
        if square > 0.0 { (product / square).clamp(0.0, 1.0) } else { 1.0 }
    }
}

fn require_length(estimate: Vec<f64>, columns: usize) -> Result<Vec<f64>> {
    if estimate.len() == columns {
        return Ok(estimate);
    }
    Err(Error::Conflict(format!(
        "the method gave {} numbers for {columns} columns: it must give one for each",
        estimate.len()
    )))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::super::simulate::DataModel;
    use super::*;
    use crate::central::transfer::SAME_SUPPORT;
    use crate::central::{Glm, Prepared, Privacy, PrivateMean, Transfer};
    use crate::data::Shape;
    use crate::families::Family;
    use crate::privacy::Budget;
    use crate::release::Estimator;

    const CLAIM: (f64, f64) = (2.0, 1e-6);
    const ROWS: usize = 600;

    fn budget() -> Privacy {
        Privacy::Budget(Budget::new(CLAIM.0, CLAIM.1).unwrap())
    }

    /// One audit on a simulated table of six columns.
    fn audit(estimand: Estimand, response: (f64, f64), seed: u64, fit: &mut Fitter<'_>) -> Findings {
        let mut rng = RandomSource::insecure_seeded(seed);
        let cells = PublicBox::even(6, (-1.0, 1.0), false, response);
        let model = DataModel::new(estimand.clone(), cells, 6).unwrap();
        let (base, others) = (model.draw(ROWS, &mut rng).unwrap(), model.draw(ROWS, &mut rng).unwrap());
        let ground =
            Ground { base: &base, held_out: Some(&others), reference: model.truth(), cells: model.cells() };
        let inspection = Inspection::new(estimand, 0.05).unwrap().canaries(8).runs(120).pilot(40);
        inspection.run(&ground, CLAIM, fit, &mut rng).unwrap()
    }

    /// Fits without noise are caught, by many runs; the same estimators with noise are not.
    #[test]
    fn plain_fits_are_caught_and_private_ones_are_not() {
        for (family, response) in [(Family::gaussian(), (-2.0, 2.0)), (Family::logistic(), (0.0, 1.0))] {
            let estimand = Estimand::Glm(family.clone());
            let plain = audit(estimand.clone(), response, 21, &mut |table, _| {
                Ok(reference::glm(&family, &table.dataset()?, 0.0, false)?.coefficients)
            });
            assert!(plain.epsilon() > CLAIM.0, "{family:?}: {}", plain.epsilon());
            assert!(plain.rows.is_some() && plain.canaries.is_some());
            let prepared =
                Glm::new(family, response).unwrap().prepare(Shape::new(6, ROWS + 8), budget()).unwrap();
            let private = audit(estimand, response, 22, &mut |table, rng| {
                Ok(prepared.fit(&table.dataset()?, rng)?.coefficients)
            });
            assert!(private.epsilon() <= CLAIM.0, "{}", private.epsilon());
        }
        let plain = audit(Estimand::Mean, (0.0, 1.0), 23, &mut |table, _| {
            let n = table.rows() as f64;
            Ok((0..6).map(|j| (0..table.rows()).map(|i| table.row(i)[j]).sum::<f64>() / n).collect())
        });
        assert!(plain.epsilon() > CLAIM.0, "{}", plain.epsilon());
        let prepared = PrivateMean::new(vec![(-1.0, 1.0); 6])
            .unwrap()
            .prepare(Shape::new(6, ROWS + 8), budget())
            .unwrap();
        let private = audit(Estimand::Mean, (0.0, 1.0), 24, &mut |table, rng| {
            Ok(prepared.fit(&table.design()?, rng)?.means)
        });
        assert!(private.epsilon() <= CLAIM.0, "{}", private.epsilon());
    }

    /// One run with many canaries is enough for a fit without noise, of a table with many columns.
    #[test]
    fn one_run_catches_a_plain_fit() {
        let mut rng = RandomSource::insecure_seeded(25);
        let estimand = Estimand::Glm(Family::gaussian());
        let cells = PublicBox::even(64, (-1.0, 1.0), false, (-2.0, 2.0));
        let model = DataModel::new(estimand.clone(), cells, 64).unwrap();
        let base = model.draw(400, &mut rng).unwrap();
        let ground = Ground { base: &base, held_out: None, reference: model.truth(), cells: model.cells() };
        let inspection = Inspection::new(estimand, 0.05).unwrap().canaries(60);
        for (noise, caught) in [(0.0, true), (1.0, false)] {
            let found = inspection
                .run(
                    &ground,
                    CLAIM,
                    &mut |table, rng| {
                        let fit = reference::glm(&Family::gaussian(), &table.dataset()?, 0.0, false)?;
                        let coin = |rng: &mut RandomSource| if rng.coin() { 1.0 } else { -1.0 };
                        Ok(fit.coefficients.iter().map(|b| b + noise * coin(rng)).collect())
                    },
                    &mut rng,
                )
                .unwrap();
            assert_eq!(found.epsilon() > CLAIM.0, caught, "{:?}", found.one_run);
            assert!(found.rows.is_none() && found.many_runs.is_none());
        }
    }

    /// A mean with half its noise is caught by one run, and the honest one is not. Of 6,000 simulated counts for these sizes one of
    /// the twin's would have missed it, and none of the honest mean's refuted it.
    #[test]
    fn one_run_catches_a_mean_with_half_its_noise() {
        let (n, d, canaries, claim) = (2_050, 2_048, 2_000, (4.0, 1e-5));
        let privacy = Privacy::Budget(Budget::new(claim.0, claim.1).unwrap());
        let honest =
            PrivateMean::new(vec![(-1.0, 1.0); d]).unwrap().prepare(Shape::new(d, n), privacy).unwrap();
        let events = honest.events().unwrap();
        assert_eq!(events.len(), 1, "one Gaussian release: {events:?}");
        // The mean is shrunk by how much of it is noise, so that the twin must know of its noise.
        let plan = honest.plan.clone().with_known_noise(0.5);
        let half = Prepared { plan, ..honest.clone() };
        let mut rng = RandomSource::insecure_seeded(0x6861_6c66_206e_6f69);
        let cells = PublicBox::even(d, (-1.0, 1.0), false, (0.0, 1.0));
        let model = DataModel::new(Estimand::Mean, cells, d).unwrap();
        let base = model.draw(n - canaries, &mut rng).unwrap();
        let ground = Ground { base: &base, held_out: None, reference: model.truth(), cells: model.cells() };
        let inspection = Inspection::new(Estimand::Mean, 0.05).unwrap().canaries(canaries);
        let inspection = inspection.promise(Claim::of(&events).unwrap());
        for (prepared, caught) in [(honest, false), (half, true)] {
            let found = inspection
                .run(&ground, claim, &mut |t, rng| Ok(prepared.fit(&t.design()?, rng)?.means), &mut rng)
                .unwrap();
            let run = found.one_run.unwrap();
            assert!(found.refutes(claim.0) == caught && run.refutes == caught, "{run:?}");
            assert_eq!(run.gaussian.unwrap().epsilon > claim.0, caught, "{run:?}");
            assert!(run.gaussian.unwrap().epsilon > 1.5 && found.epsilon() < claim.0, "{run:?}");
        }
    }

    /// The counter-example to the literal knowledge transfer: one record decides between two columns.
    #[test]
    fn literal_transfer_is_caught_on_its_counter_example_and_the_certified_one_is_not() {
        let n = 999;
        let tied = |last: usize| {
            let column = |row: usize| if row == n - 1 { last } else { row % 2 };
            let entry = |row: usize, j: usize| f64::from(u8::from(column(row) == j));
            let x = (0..n).flat_map(|row| [entry(row, 0), entry(row, 1)]).collect();
            Table::new(2, x, vec![1.0; n]).unwrap()
        };
        let inspection = Inspection::new(Estimand::Glm(Family::gaussian()), 0.05).unwrap().runs(60).pilot(30);
        let mut rng = RandomSource::insecure_seeded(26);
        let certified = Transfer::linear((-1.0, 1.0), 1.0, 1).unwrap().ridge(0.5).unwrap();
        let literal = certified.clone().literal().accepting(SAME_SUPPORT).unwrap();
        let claim = (1.0, 1e-5);
        let privacy = Privacy::Budget(Budget::new(claim.0, claim.1).unwrap());
        for (model, caught) in [(literal, true), (certified, false)] {
            let prepared = model.prepare(Shape::new(2, n), privacy).unwrap();
            let found = inspection
                .neighbours(
                    &tied(0),
                    &tied(1),
                    claim,
                    &mut |table, rng| Ok(prepared.fit(&table.dataset()?, rng)?.coefficients),
                    &mut rng,
                )
                .unwrap();
            assert_eq!(found.epsilon() > claim.0, caught, "{}", found.epsilon());
        }
        let three = tied(0).slice(0, 3).unwrap();
        let unequal = inspection.neighbours(&tied(0), &three, claim, &mut |_, _| Ok(vec![]), &mut rng);
        assert!(unequal.unwrap_err().to_string().contains("shape"));
        let same = inspection.neighbours(&tied(0), &tied(0), claim, &mut |_, _| Ok(vec![]), &mut rng);
        assert!(same.unwrap_err().to_string().contains("differ in 0 rows"));
    }

    #[test]
    fn wrong_input_is_refused() {
        assert!(Inspection::new(Estimand::Mean, 0.0).is_err());
        let mean = Inspection::new(Estimand::Mean, 0.05).unwrap();
        assert!(mean.opposite(Opposite::Response).is_err());
        let mut rng = RandomSource::insecure_seeded(1);
        let base = Table::new(1, vec![0.0; 4], vec![0.0; 4]).unwrap();
        let cells = PublicBox::even(1, (-1.0, 1.0), false, (0.0, 1.0));
        let ground = Ground { base: &base, held_out: None, reference: &[0.0], cells: &cells };
        let inspection = Inspection::new(Estimand::Mean, 0.05).unwrap();
        let none = inspection.run(&ground, CLAIM, &mut |_, _| Ok(vec![0.0]), &mut rng);
        assert!(none.unwrap_err().to_string().contains("canaries"));
        let short = inspection.canaries(9).run(&ground, CLAIM, &mut |_, _| Ok(vec![]), &mut rng);
        assert!(short.unwrap_err().to_string().contains("0 numbers for 1 columns"));
    }
}
