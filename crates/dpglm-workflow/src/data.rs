//! From encoded rows to the data set that a model is fitted to.

use dpglm::data::Dataset;
use dpglm_io::schema::Kind;
use dpglm_io::{RowBlock, Schema};

/// What is public of the rows beside the design.
pub(super) struct Frame {
    /// What a unit is called.
    unit: String,
    /// Whether units are rows of the table, of which these rows were made.
    made_of_rows: bool,
    /// What exposures are measured in, and what a bad one is, in that unit.
    exposure: (f64, f64),
    /// The largest sampling weight, and what a bad one is in units of that.
    weight: (f64, f64),
}

impl Frame {
    /// Of a table under this schema, for a model that may have an intercept.
    pub(super) fn new(schema: &Schema, intercept: bool) -> Self {
        let declared = schema.exposure().and_then(|name| schema.column(name)).map(|column| &column.kind);
        let (fill, largest) = match declared {
            Some(Kind::Real(numeric) | Kind::Count(numeric)) => (numeric.fill, numeric.bounds.upper()),
            _ => (1.0, 1.0),
        };
        // Only an intercept can take up a change of the exposures' unit.
        let unit = if intercept { largest } else { 1.0 };
        let declared = schema.weight().and_then(|name| schema.column(name)).map(|column| &column.kind);
        let weight = match declared {
            Some(Kind::Real(n) | Kind::Count(n)) => (n.bounds.upper(), (n.fill / n.bounds.upper()).min(1.0)),
            _ => (1.0, 1.0),
        };
        let name = schema.unit().unwrap_or("unit").to_owned();
        Self { unit: name, made_of_rows: false, exposure: (unit, fill / unit), weight }
    }

    /// The same where units may be rows of which these were made.
    pub(super) fn made_of_rows(self, made_of_rows: bool) -> Self {
        Self { made_of_rows, ..self }
    }

    /// The logarithm of the unit in which exposures are measured.
    pub(super) fn log_unit(&self) -> f64 {
        self.exposure.0.ln()
    }

    /// The data set of some rows, or of all.
    pub(super) fn dataset(&self, rows: RowBlock) -> dpglm::Result<Dataset> {
        let mut data = Dataset::new(rows.design, rows.response)?;
        if let Some(weights) = rows.weights {
            data = data.with_weights(weights)?;
        }
        if let Some(units) = rows.units {
            data = match self.made_of_rows {
                true => data.with_rows_made_of(units.of_row, units.count)?,
                false => data.with_units(units.of_row, units.count, self.unit.as_str())?,
            };
        }
        if let Some(mut weights) = rows.sample_weight {
            let (largest, fill) = self.weight;
            weights.iter_mut().for_each(|w| *w /= largest);
            data = data.with_sample_weights(&weights, fill)?;
        }
        if let Some(mut exposures) = rows.exposure {
            let (unit, fill) = self.exposure;
            exposures.iter_mut().for_each(|e| *e /= unit);
            data = data.with_exposures(&exposures, fill)?;
        }
        Ok(data)
    }
}
