//! A model with its noise calibrated for a shape of data and a budget, before any data is seen.

use crate::data::{Dataset, Design};
use crate::error::{Error, Result};
use crate::privacy::Event;
use crate::release::CalibratedPlan;
use crate::release::replay::Probe;

/// A model ready to fit data of one shape, as often as wanted; every fit spends the whole budget again.
#[derive(Debug, Clone)]
pub struct Prepared<M> {
    pub(crate) model: M,
    pub(crate) columns: usize,
    pub(crate) units: usize,
    pub(crate) calibration: CalibratedPlan,
}

impl<M: Clone> Prepared<M> {
    /// What a fit will release, with sensitivities in units of their own: known before the data is opened.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.calibration.events()
    }

    /// The same with its noise multiplied by a factor of at least 1, under the claim of before.
    pub(crate) fn with_more_noise(&self, factor: f64) -> Self {
        Self { calibration: self.calibration.clone().with_more_noise(factor), ..self.clone() }
    }

    /// The same, watched or broken under an unchanged claim: for audits.
    pub(crate) fn probed(&self, probe: Probe) -> Self {
        Self { calibration: self.calibration.clone().probed(probe), ..self.clone() }
    }

    /// Refuses data of another shape than prepared for, and exposures that the model would ignore. Shapes are public.
    pub(crate) fn require_shape_of(&self, data: &Dataset, takes_exposures: bool) -> Result<()> {
        if data.has_offsets() && !takes_exposures {
            return Err(Error::Conflict("exposures go with counts: fit a Poisson regression".into()));
        }
        let (columns, units) = (data.design().columns(), data.units());
        if (columns, units) == (self.columns, self.units) {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "prepared for {} columns and {} units, got {columns} and {units}: prepare anew",
            self.columns, self.units
        )))
    }
}

impl<M> Prepared<M> {
    /// Refuses a table of another shape than prepared for. Shapes are public.
    pub(crate) fn require_table(&self, table: &Design) -> Result<()> {
        let (rows, columns) = (table.rows(), table.columns());
        if (rows, columns) == (self.units, self.columns) {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "prepared for {} rows and {} columns, got {rows} and {columns}: prepare anew",
            self.units, self.columns
        )))
    }
}

/// Refuses a shape that no model can be fitted to.
pub(crate) fn require_shape(columns: usize, units: usize) -> Result<()> {
    if columns == 0 || units < 2 {
        return Err(Error::Conflict(format!(
            "{columns} columns and {units} rows or units: a fit needs at least 1 and 2"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::central::{Glm, LinearStatistics, Multinomial, Privacy};
    use crate::data::{Dataset, Design};
    use crate::families::Family;
    use crate::noise::RandomSource;

    #[test]
    fn exposures_are_for_counts_alone() {
        let design = Design::from_f64(4, 1, vec![0.1, -0.3, 0.5, 0.2]).unwrap();
        let data = Dataset::new(design, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
        let data = data.with_exposures(&[1.0, 2.0, 3.0, 1.0], 1.0).unwrap();
        let rng = &mut RandomSource::insecure_seeded(1);
        let glm = |family| Glm::new(family, (0.0, 1.0)).unwrap();
        assert!(glm(Family::Poisson).fit(&data, Privacy::None, rng).is_ok());
        let refused = [
            glm(Family::Logistic).fit(&data, Privacy::None, rng).unwrap_err(),
            glm(Family::Gaussian).fit(&data, Privacy::None, rng).unwrap_err(),
            LinearStatistics::new((0.0, 1.0)).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
            Multinomial::new(2).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
        ];
        for error in refused {
            assert!(error.to_string().contains("exposures go with counts"), "{error}");
        }
    }
}
