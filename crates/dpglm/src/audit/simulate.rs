//! Simulated tables with a known truth, to attack methods on.

use super::canaries::PublicBox;
use super::score::Estimand;
use super::table::Table;
use crate::error::{Error, Parameter, Result};
use crate::families::Domain;
use crate::families::simulate::uniform;
use crate::noise::RandomSource;

/// Rows uniform in a box, whose mean or response follows a known truth.
#[derive(Debug, Clone)]
pub struct DataModel {
    estimand: Estimand,
    cells: PublicBox,
    truth: Vec<f64>,
}

/// How far the mean of a column lies from the middle of its range, in half ranges.
const SHIFT: f64 = 0.3;
/// A linear predictor of unit variance in this share of a real response's range, and as much noise.
const SHARE: f64 = 1.0 / 8.0;

impl DataModel {
    /// The first `support` columns that vary matter, with alternating signs; a constant column is the intercept, which centres the
    /// linear predictor.
    pub fn new(estimand: Estimand, cells: PublicBox, support: usize) -> Result<Self> {
        let varying: Vec<usize> =
            (0..cells.features.len()).filter(|&j| cells.features[j].0 < cells.features[j].1).collect();
        if support == 0 || support > varying.len() {
            return Err(Error::OutOfRange {
                parameter: Parameter::Support,
                range: "from 1 to the number of columns that vary",
                value: support.to_string(),
                remedy: "it is the number of columns that matter",
            });
        }
        let half = |j: usize| 0.5 * (cells.features[j].1 - cells.features[j].0);
        let middle = |j: usize| 0.5 * (cells.features[j].1 + cells.features[j].0);
        let sign = |place: usize| if place.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut truth = vec![0.0; cells.features.len()];
        match &estimand {
            Estimand::Mean => {
                for (place, &j) in varying.iter().enumerate() {
                    let shift = if place < support { SHIFT * sign(place) } else { 0.0 };
                    truth[j] = middle(j) + shift * half(j);
                }
            }
            Estimand::Glm(family) => {
                // A uniform column has variance half^2 / 3.
                let unit = match family.domain() {
                    Domain::Real => SHARE * (cells.response.1 - cells.response.0),
                    _ => 1.0,
                } * (3.0 / support as f64).sqrt();
                for (place, &j) in varying.iter().take(support).enumerate() {
                    truth[j] = sign(place) * unit / half(j);
                }
                if let Some(constant) = (0..truth.len()).find(|&j| cells.features[j] == (1.0, 1.0)) {
                    let centre: f64 = varying.iter().map(|&j| truth[j] * middle(j)).sum();
                    let level = match family.domain() {
                        Domain::Real => {
                            let middle = 0.5 * (cells.response.0 + cells.response.1);
                            family.link(middle).unwrap_or(0.0)
                        }
                        _ => 0.0,
                    };
                    truth[constant] = level - centre;
                }
            }
        }
        Ok(Self { estimand, cells, truth })
    }

    /// The mean, or the coefficients, that the rows follow (but for responses cut to their range).
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// The public box of the rows.
    pub fn cells(&self) -> &PublicBox {
        &self.cells
    }

    /// Fresh rows.
    pub fn draw(&self, rows: usize, rng: &mut RandomSource) -> Result<Table> {
        let mut features = Vec::with_capacity(rows * self.truth.len());
        let mut response = Vec::with_capacity(rows);
        for _ in 0..rows {
            let start = features.len();
            for (j, &(low, high)) in self.cells.features.iter().enumerate() {
                let u = uniform(rng);
                features.push(match self.estimand {
                    // About the mean, as wide as the range allows.
                    Estimand::Mean if low < high => {
                        self.truth[j] + 0.5 * (high - low) * (1.0 - SHIFT) * (2.0 * u - 1.0)
                    }
                    _ => low + (high - low) * u,
                });
            }
            let predictor: f64 = features[start..].iter().zip(&self.truth).map(|(x, b)| x * b).sum();
            response.push(match &self.estimand {
                Estimand::Mean => 0.0,
                Estimand::Glm(family) => {
                    let (low, high) = self.cells.response;
                    family.simulate(predictor, SHARE * (high - low), rng).clamp(low, high)
                }
            });
        }
        Table::new(self.truth.len(), features, response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::reference;
    use crate::families::Family;

    #[test]
    fn tables_follow_their_truth() {
        let mut rng = RandomSource::insecure_seeded(11);
        for (family, response) in [
            (Family::gaussian(), (-3.0, 5.0)),
            (Family::logistic(), (0.0, 1.0)),
            (Family::poisson(), (0.0, 60.0)),
        ] {
            let cells = PublicBox::even(4, (0.0, 2.0), true, response);
            let model = DataModel::new(Estimand::Glm(family.clone()), cells, 2).unwrap();
            let data = model.draw(40_000, &mut rng).unwrap().dataset().unwrap();
            let fit = reference::glm(&family, &data, 0.0, true).unwrap();
            for (found, truth) in fit.coefficients.iter().zip(model.truth()) {
                // A Gaussian response is cut at four deviations, which moves a slope by less than this.
                assert!((found - truth).abs() < 0.1, "{family:?} {found} {truth}");
            }
        }
        let cells = PublicBox::even(3, (-2.0, 4.0), false, (0.0, 1.0));
        let model = DataModel::new(Estimand::Mean, cells, 2).unwrap();
        let table = model.draw(20_000, &mut rng).unwrap();
        for j in 0..3 {
            let column: Vec<f64> = (0..table.rows()).map(|i| table.row(i)[j]).collect();
            assert!((column.iter().sum::<f64>() / 20_000.0 - model.truth()[j]).abs() < 0.06);
            assert!(column.iter().all(|x| (-2.0..=4.0).contains(x)));
        }
        assert!(DataModel::new(Estimand::Mean, PublicBox::even(2, (0.0, 1.0), true, (0.0, 1.0)), 3).is_err());
    }
}
