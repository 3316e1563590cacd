//! Sparse means whose number of columns is not known.
//!
//! # Algorithm
//! 1. For each column, how many more rows lie above zero than below, in absolute value: the counts of
//!    [`crate::central::sparse_mean`]. Ordered, `c_1 >= c_2 >= ...`; a public level `L` above what columns of mean zero reach.
//! 2. A number s from 1 to the largest, by the exponential mechanism: the score of s is minus the distance of L from the
//!    interval `[c_(s+1), c_s]`. It is zero where s columns lie above L and no others.
//! 3. The sparse mean of s columns, on the rest of the budget.
//!
//! # Guarantee
//! Replacement of one row, or of all rows of one unit ([`crate::data::unit_means`]), for every data set. One row moves every count by at most 2, so each `c_s` and each score by at most 2
//! (counts and L are whole numbers: exact). The choice has pure epsilon `a` = 15% of the budget's. Whatever s it gives, step 3
//! is (epsilon - a, delta)-private. Step 3's noise is calibrated to s, which depends on the rows, so the two costs are simply
//! *added*: a joint account of a plan that was chosen on the way would promise too much.
//!
//! A promise is made before it is known which s is chosen. So the certificate claims the budget, and a curve that every s keeps to: at each
//! delta the larger of what 1 and the largest number of columns cost, and a thousandth more. Where another s would cost more,
//! its noise is raised until it does not.
//!
//! # Differs from the paper
//! Cai et al. 2021 §5.2 chooses s by cross-validation and counts too little for it ([`super::validation`]). No fits are compared here and no row is
//! set aside.

use crate::accounting::Certificate;
use crate::accounting::{self, Guarantee, Method};
use crate::central::{Privacy, SparseMean, SparseMeanFit};
use crate::data::Shape;
use crate::data::{Design, MeanTable};
use crate::error::{Error, Result};
use crate::kernels::{Grid, Map, column_scores};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Budget, Event, Noise};
use crate::release::replay::Probe;
use crate::release::{CalibratedPlan, Chosen, Estimator, Handle, Prepared, require_shape};
use std::sync::{Arc, OnceLock};

const NUMBER: Handle<Chosen> = Handle::new("number of columns");
/// What one row can change in a count.
const SENSITIVITY: f64 = 2.0;
/// The choice's part of epsilon.
const SHARE: f64 = 0.15;
/// What the claimed curve lies above that of the numbers at both ends.
const MARGIN: f64 = 1e-3;
/// How far the level lies above the largest count of a column of mean zero, in units of the choice's noise.
const ABOVE: f64 = 6.0;

/// The mean of a table of which an unknown number of columns, up to a public largest one, differ from zero.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSparseMean {
    ranges: Vec<(f64, f64)>,
    level: Option<f64>,
    largest: usize,
}

impl TunedSparseMean {
    /// For columns in these public ranges, each of which holds zero, at most `largest` of which have another mean.
    pub fn new(ranges: Vec<(f64, f64)>, largest: usize) -> Result<Self> {
        SparseMean::new(ranges.clone(), largest)?;
        Ok(Self { ranges, level: None, largest })
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget. They hold given the columns.
    pub fn intervals(self, level: f64) -> Result<Self> {
        self.with(self.largest)?.intervals(level)?;
        Ok(Self { level: Some(level), ..self })
    }

    /// The sparse mean of so many columns.
    fn with(&self, sparsity: usize) -> Result<SparseMean> {
        let model = SparseMean::new(self.ranges.clone(), sparsity)?;
        self.level.map_or(Ok(model.clone()), |level| model.intervals(level))
    }

    /// Calibrates the noise for a table of this many rows. That of the means waits for their number.
    pub fn prepare(&self, rows: usize, privacy: Privacy) -> Result<PreparedSparseMean> {
        require_shape(self.ranges.len(), rows)?;
        let (choice, rest) = Choice::divide(privacy)?;
        let ready = Arc::new((0..self.largest).map(|_| OnceLock::new()).collect());
        let mut prepared = PreparedSparseMean {
            model: self.clone(),
            rows,
            choice,
            rest,
            claimed: Vec::new(),
            ready,
            probe: Probe::default(),
        };
        prepared.claimed = prepared.worst_curve()?;
        Ok(prepared)
    }

    /// Prepares and fits.
    pub fn fit(
        &self,
        table: &impl MeanTable,
        privacy: Privacy,
        rng: &mut RandomSource,
    ) -> Result<SparseMeanFit> {
        self.prepare(table.design().rows(), privacy)?.fit(table, rng)
    }
}

/// A tuned sparse mean, ready for tables of one shape.
pub struct PreparedSparseMean {
    model: TunedSparseMean,
    rows: usize,
    choice: Option<Choice>,
    rest: Privacy,
    /// The curve that step 3 keeps to, whatever the number of columns.
    claimed: Vec<(f64, f64)>,
    /// Calibrated when its number of columns is first chosen.
    ready: Arc<Vec<OnceLock<Prepared<SparseMean>>>>,
    /// Absent, but in audits.
    probe: Probe,
}

impl PreparedSparseMean {
    /// What a fit will release if the largest number is chosen; with another the rest's noise differs, its cost does not.
    pub fn events(&self) -> Result<Vec<Event>> {
        let mut events = self.choice.as_ref().map_or(Ok(Vec::new()), Choice::events)?;
        events.extend(self.with(self.model.largest)?.events()?);
        Ok(events)
    }

    /// The certificate that a fit to a table of these neighbours with noise from `source` would carry; none without privacy.
    pub fn planned(&self, adjacency: Adjacency, source: &RandomSource) -> Result<Option<Certificate>> {
        let (Some(choice), Privacy::Budget(rest)) = (&self.choice, self.rest) else { return Ok(None) };
        let events = self.with(self.model.largest)?.events()?;
        let certificate = Certificate::certified(adjacency, events, rest.delta(), source)?;
        Ok(Some(self.promising(certificate, choice)?))
    }

    /// The certificate of step 3 under the promise of all steps, which is the same whatever was chosen.
    fn promising(&self, certificate: Certificate, choice: &Choice) -> Result<Certificate> {
        let (epsilon, delta) = (choice.budget.epsilon(), choice.budget.delta());
        let guarantee = Guarantee { epsilon, delta, method: Method::Basic };
        let curve = self.claimed.iter().map(|(rest, delta)| (choice.epsilon + rest, *delta)).collect();
        Ok(certificate.after(choice.events()?, guarantee, curve))
    }

    /// What 1 and the largest number of columns cost at each delta: the larger, and a little more.
    fn worst_curve(&self) -> Result<Vec<(f64, f64)>> {
        if self.choice.is_none() {
            return Ok(Vec::new());
        }
        let of = |sparsity: usize| accounting::curve(&self.calibrated(sparsity)?.events()?);
        let (few, many) = (of(1)?, of(self.model.largest)?);
        Ok(few.iter().zip(&many).map(|(a, b)| (a.0.max(b.0) * (1.0 + MARGIN), a.1)).collect())
    }

    /// Step 3 for so many columns, calibrated to the rest of the budget.
    fn calibrated(&self, sparsity: usize) -> Result<Prepared<SparseMean>> {
        self.model.with(sparsity)?.prepare(Shape::new(self.model.ranges.len(), self.rows), self.rest)
    }

    /// The same with so much noise that it keeps to the claimed curve.
    fn within_claim(&self, sparsity: usize) -> Result<Prepared<SparseMean>> {
        let mut prepared = self.calibrated(sparsity)?;
        if self.claimed.is_empty() {
            return Ok(prepared);
        }
        for _ in 0..100 {
            let curve = accounting::curve(&prepared.events()?)?;
            let worst =
                curve.iter().zip(&self.claimed).map(|(own, claim)| own.0 / claim.0).fold(0.0, f64::max);
            if worst <= 1.0 {
                return Ok(prepared);
            }
            prepared = prepared.with_more_noise(worst.min(2.0) * (1.0 + MARGIN));
        }
        Err(Error::Conflict(format!(
            "no noise brings {sparsity} columns within the claim: state the sparsity"
        )))
    }

    fn with(&self, sparsity: usize) -> Result<&Prepared<SparseMean>> {
        let ready = &self.ready[sparsity - 1];
        if let Some(prepared) = ready.get() {
            return Ok(prepared);
        }
        let prepared = self.within_claim(sparsity)?;
        Ok(ready.get_or_init(|| prepared))
    }

    /// The same, watched or broken under an unchanged claim: for audits.
    pub(crate) fn probed(&self, probe: Probe) -> Self {
        let Self { model, rows, choice, rest, claimed, ready, .. } = self;
        let (model, choice, ready) = (model.clone(), choice.clone(), ready.clone());
        Self { model, rows: *rows, choice, rest: *rest, claimed: claimed.clone(), ready, probe }
    }

    /// Chooses the number of columns and takes their means.
    pub fn fit(&self, people: &impl MeanTable, rng: &mut RandomSource) -> Result<SparseMeanFit> {
        let table = people.design();
        // Also where nothing is chosen a table of another shape is refused.
        if (table.rows(), table.columns()) != (self.rows, self.model.ranges.len()) {
            return Err(Error::Conflict(format!(
                "prepared for {} rows and {} columns, got {} and {}: prepare again for these rows",
                self.rows,
                self.model.ranges.len(),
                table.rows(),
                table.columns()
            )));
        }
        // Step 1
        let counts = ordered_counts(table);
        let noise = self.choice.as_ref().map_or(0.0, Choice::noise);
        let scores = scores(&counts, self.model.largest, level(table.rows(), table.columns(), noise));
        // Steps 2 and 3
        let Some(choice) = &self.choice else {
            let best = (0..scores.len()).max_by(|&i, &j| scores[i].total_cmp(&scores[j]).then(j.cmp(&i)));
            return self.with(best.map_or(self.model.largest, |i| i + 1))?.fit(people, rng);
        };
        let calibration = choice.calibration.clone().probed(self.probe.clone());
        let chosen = calibration.open(rng).top(NUMBER, &scores, 1, SENSITIVITY)?;
        let sparsity = chosen.first().map_or(self.model.largest, |i| i + 1);
        let mut found = self.with(sparsity)?.probed(self.probe.clone()).fit(people, rng)?;
        found.fit.certificate = self.promising(found.fit.certificate, choice)?;
        Ok(found)
    }
}

/// The choice of the number, and what it costs.
#[derive(Clone)]
struct Choice {
    calibration: CalibratedPlan,
    epsilon: f64,
    /// Of all steps.
    budget: Budget,
}

impl Choice {
    /// The choice, and what it leaves of the budget; no choice needs noise without privacy.
    fn divide(privacy: Privacy) -> Result<(Option<Self>, Privacy)> {
        let Privacy::Budget(budget) = privacy else { return Ok((None, privacy)) };
        let epsilon = SHARE * budget.epsilon();
        // Rounded so that the two parts add up to no more than the whole.
        let rest = Budget::new((budget.epsilon() - epsilon) * (1.0 - 1e-12), budget.delta())?;
        let own = Privacy::Budget(Budget::pure(epsilon)?);
        let calibration = CalibratedPlan::new(vec![NUMBER.planned(1.0, 1)], own)?;
        Ok((Some(Self { calibration, epsilon, budget }), Privacy::Budget(rest)))
    }

    /// The scale of its noise.
    fn noise(&self) -> f64 {
        SENSITIVITY * self.calibration.noise_per_sensitivity(NUMBER, 0)
    }

    /// What it releases, under the name that certificates show.
    fn events(&self) -> Result<Vec<Event>> {
        let noise = Noise::Selection { sensitivity: SENSITIVITY, scale: self.noise() };
        Ok(vec![Event::new(NUMBER.name(), noise, 1)?])
    }
}

/// How many more rows lie on one side of zero than on the other, the largest first.
fn ordered_counts(table: &Design) -> Vec<f64> {
    let mut counts = column_scores(table, |_| 1.0, Map::Sign, &Grid::uniform(table.columns(), 1.0)).values();
    counts.iter_mut().for_each(|c| *c = c.abs());
    counts.sort_by(|a, b| b.total_cmp(a));
    counts
}

/// What columns of mean zero reach with `rows` rows, and the choice's noise above it; a whole number.
fn level(rows: usize, columns: usize, noise: f64) -> f64 {
    let largest_of_null = (2.0 * rows as f64 * (columns as f64).ln().max(1.0)).sqrt();
    (largest_of_null + ABOVE * noise).min(1e15).round()
}

/// The scores of 1 to `largest` columns, from counts in descending order.
fn scores(counts: &[f64], largest: usize, level: f64) -> Vec<f64> {
    let next = |s: usize| counts.get(s).copied().unwrap_or(0.0);
    (1..=largest).map(|s| -(level - counts[s - 1]).max(next(s) - level).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::privacy::Budget;

    /// Forty columns, every tenth with a mean of its own.
    fn table(n: usize) -> (Design, Vec<f64>) {
        let mut rng = RandomSource::insecure_seeded(31);
        let truth: Vec<f64> =
            (0..40).map(|j| if j % 10 == 3 { 2.0 - f64::from(j) / 10.0 } else { 0.0 }).collect();
        let x: Vec<f64> = (0..n * 40).map(|i| truth[i % 40] + uniform(&mut rng)).collect();
        (Design::from_f64(n, 40, x).unwrap(), truth)
    }

    /// Four means of forty differ from zero; up to sixteen are allowed.
    #[test]
    fn means_that_are_zero_are_left_out() {
        let (table, truth) = table(4_000);
        let model = TunedSparseMean::new(vec![(-20.0, 20.0); 40], 16).unwrap();
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
        let fit = model.fit(&table, privacy, &mut RandomSource::from_os().unwrap()).unwrap();
        let mut found = vec![0.0; 40];
        fit.support.iter().zip(&fit.fit.means).for_each(|(&j, &m)| found[j] = m);
        assert!(found.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 0.3), "{found:?}");
        assert_eq!(fit.support.len(), 4);
        let certificate = &fit.fit.certificate;
        let promised = certificate.guarantee().unwrap().epsilon;
        assert!(certificate.verify().is_ok() && promised == 1.0, "{promised}");
        assert_eq!(certificate.events()[0].release(), NUMBER.name());
        let exact = model.fit(&table, Privacy::None, &mut RandomSource::from_os().unwrap()).unwrap();
        assert_eq!(exact.support, [3, 13, 23, 33]);
    }

    /// Tables in which 1 to 16 columns differ from zero: the number that is found follows, the claim does not. The same noise
    /// scaled to each number alone claims something else each time.
    #[test]
    fn the_claim_is_the_same_whatever_is_chosen() {
        let budget = Budget::new(2.0, 1e-7).unwrap();
        let prepared = TunedSparseMean::new(vec![(-20.0, 20.0); 40], 16)
            .unwrap()
            .prepare(2_000, Privacy::Budget(budget))
            .unwrap();
        let planned =
            prepared.planned(Adjacency::ReplaceRow, &RandomSource::from_os().unwrap()).unwrap().unwrap();
        let mut own = Vec::new();
        for sparsity in [1, 2, 5, 11, 16] {
            let x: Vec<f64> = (0..2_000 * 40).map(|i| if i % 40 < sparsity { 3.0 } else { 0.0 }).collect();
            let table = Design::from_f64(2_000, 40, x).unwrap();
            let fit = prepared.fit(&table, &mut RandomSource::from_os().unwrap()).unwrap();
            assert_eq!(fit.support.len(), sparsity);
            let certificate = fit.fit.certificate;
            assert_eq!(certificate.guarantee(), planned.guarantee());
            assert_eq!(certificate.guarantee().map(|g| (g.epsilon, g.delta)), Some((2.0, 1e-7)));
            assert_eq!(certificate.curve(), planned.curve());
            assert_eq!(certificate.conditions(), planned.conditions());
            assert!(certificate.verify().is_ok());
            let alone = prepared.calibrated(sparsity).unwrap();
            let curve = accounting::curve(&alone.events().unwrap()).unwrap();
            assert!(!own.contains(&curve));
            own.push(curve);
        }
    }

    /// Noise is raised where a number of columns would exceed the claim.
    #[test]
    fn noise_is_raised_to_keep_to_the_claim() {
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
        let model = TunedSparseMean::new(vec![(-20.0, 20.0); 40], 8).unwrap();
        let mut prepared = model.prepare(2_000, privacy).unwrap();
        prepared.claimed.iter_mut().for_each(|point| point.0 *= 0.8);
        let raised = accounting::curve(&prepared.with(4).unwrap().events().unwrap()).unwrap();
        assert!(raised.iter().zip(&prepared.claimed).all(|(own, claim)| own.0 <= claim.0));
    }

    /// Whatever a row is replaced by, no score moves by more than 2; some move by that much.
    #[test]
    fn scores_withstand_neighbours() {
        let rng = &mut RandomSource::insecure_seeded(0x7363_6f72_6532);
        let mut largest: f64 = 0.0;
        for _ in 0..100_000 {
            let rows = 3 + rng.below(9) as usize;
            let mut x: Vec<f64> = (0..4 * rows).map(|_| rng.below(3) as f64 - 1.0).collect();
            let of = |x: &[f64]| {
                let table = Design::from_f64(rows, 4, x.to_vec()).unwrap();
                scores(&ordered_counts(&table), 3, level(rows, 4, 0.0))
            };
            let before = of(&x);
            let wild = [f64::NAN, f64::INFINITY, -1e300, 1.0, -1.0, 0.0, 1e-300];
            x[..4].fill_with(|| wild[rng.below(7) as usize]);
            for (a, b) in before.iter().zip(of(&x)) {
                assert!((a - b).abs() <= SENSITIVITY, "{a} {b}");
                largest = largest.max((a - b).abs());
            }
        }
        assert_eq!(largest, SENSITIVITY);
    }

    #[test]
    fn senseless_shapes_are_refused() {
        assert!(TunedSparseMean::new(vec![(-1.0, 1.0); 3], 0).is_err());
        assert!(TunedSparseMean::new(vec![(-1.0, 1.0); 3], 4).is_err());
        assert!(TunedSparseMean::new(vec![(1.0, 2.0); 3], 1).is_err());
    }
}
