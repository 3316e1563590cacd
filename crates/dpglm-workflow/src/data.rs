//! From an encoded table to the data set that a model is fitted to.

use super::failure::Failure;
use super::model::Model;
use dpglm::data::Dataset;
use dpglm_io::schema::Kind;
use dpglm_io::{Encoded, Schema};

/// The data set a model is fitted to, and the logarithm of the unit in which its exposures are measured.
pub(super) fn dataset(table: Encoded, schema: &Schema, model: &Model) -> Result<(Dataset, f64), Failure> {
    let mut data = Dataset::new(table.design, table.response)?;
    if let Some(weights) = table.weights {
        data = data.with_weights(weights)?;
    }
    if let Some(units) = table.units {
        data = data.with_units(units.of_row, units.count, schema.unit().unwrap_or("unit"))?;
    }
    let mut log_unit = 0.0;
    if let Some(mut exposures) = table.exposure {
        let declared = schema.exposure().and_then(|name| schema.column(name)).map(|column| &column.kind);
        let (fill, largest) = match declared {
            Some(Kind::Real(numeric) | Kind::Count(numeric)) => (numeric.fill, numeric.bounds.upper()),
            _ => (1.0, 1.0),
        };
        // Only an intercept can take up a change of the exposures' unit.
        let unit = if model.intercept { largest } else { 1.0 };
        exposures.iter_mut().for_each(|e| *e /= unit);
        data = data.with_exposures(&exposures, fill / unit)?;
        log_unit = unit.ln();
    }
    Ok((data, log_unit))
}
