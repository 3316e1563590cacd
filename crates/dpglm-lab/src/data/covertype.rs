//! Covertype (UCI): 581,012 pieces of forest, 54 features, seven classes of trees.
//!
//! The scales of the ten numbers are declared, not read off the rows: degrees, the eight bits of a hillshade, and generous
//! distances in metres for a forest of this size.

use crate::Result;
use crate::data::file;
use dpglm::data::Design;
use dpglm::data::design::Storage;
use dpglm_io::encode::Precision;
use dpglm_io::read::{ReadOptions, read_table};
use dpglm_io::schema::Schema;
use std::fmt::Write;
use std::sync::OnceLock;

/// All rows.
pub(crate) struct Covertype {
    /// 54 entries a row, each scaled to [-1, 1] by its declared bounds.
    pub entries: Vec<f32>,
    /// 1 for lodgepole pine (class 2), else 0.
    pub labels: Vec<f64>,
}

/// Columns of a row.
pub(crate) const COLUMNS: usize = 54;

const NUMBERS: [(&str, f64, f64); 10] = [
    ("Elevation", 1_500.0, 4_400.0),
    ("Aspect", 0.0, 360.0),
    ("Slope", 0.0, 90.0),
    ("Horizontal_Distance_To_Hydrology", 0.0, 1_500.0),
    ("Vertical_Distance_To_Hydrology", -200.0, 600.0),
    ("Horizontal_Distance_To_Roadways", 0.0, 7_500.0),
    ("Hillshade_9am", 0.0, 255.0),
    ("Hillshade_Noon", 0.0, 255.0),
    ("Hillshade_3pm", 0.0, 255.0),
    ("Horizontal_Distance_To_Fire_Points", 0.0, 7_500.0),
];

/// The rows, read once.
pub(crate) fn rows() -> Result<&'static Covertype> {
    static ROWS: OnceLock<std::result::Result<Covertype, String>> = OnceLock::new();
    ROWS.get_or_init(|| read().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone().into())
}

fn read() -> Result<Covertype> {
    let mut schema = String::from("target = \"Cover_Type\"\n[columns]\n");
    for (name, low, high) in NUMBERS {
        writeln!(schema, "{name} = {{ kind = \"real\", bounds = [{low:?}, {high:?}] }}")?;
    }
    for (name, count) in [("Wilderness_Area", 4), ("Soil_Type", 40)] {
        for i in 1..=count {
            writeln!(schema, "{name}{i} = {{ kind = \"real\", bounds = [0, 1] }}")?;
        }
    }
    writeln!(schema, "Cover_Type = {{ kind = \"real\", bounds = [1, 7] }}")?;
    let schema = Schema::parse(&schema)?.with_intercept(false);
    let options = ReadOptions { precision: Some(Precision::F32), ..ReadOptions::default() };
    let table = read_table(&file("covtype/covtype.csv.xz")?, &schema, &options)?;
    let labels = table.response.iter().map(|y| f64::from(u8::from(*y == 2.0))).collect();
    match table.design.storage() {
        Storage::F32(entries) if table.design.columns() == COLUMNS => {
            Ok(Covertype { entries: entries.clone(), labels })
        }
        _ => Err("covtype.csv.xz: not the 54 columns that were expected".into()),
    }
}

impl Covertype {
    /// The chosen rows and columns as a design, each entry mapped by `map(column, entry)`.
    pub(crate) fn design(
        &self,
        rows: &[usize],
        columns: &[usize],
        map: impl Fn(usize, f32) -> f32,
    ) -> Result<Design> {
        let mut entries = Vec::with_capacity(rows.len() * columns.len());
        for &row in rows {
            let all = &self.entries[row * COLUMNS..(row + 1) * COLUMNS];
            entries.extend(columns.iter().map(|&j| map(j, all[j])));
        }
        Ok(Design::from_f32(rows.len(), columns.len(), entries)?)
    }

    /// Mean and standard deviation of every column over the chosen rows; a constant column has deviation 1.
    pub(crate) fn moments(&self, rows: &[usize]) -> Vec<(f32, f32)> {
        let mut sums = vec![(0.0_f64, 0.0_f64); COLUMNS];
        for &row in rows {
            for (sum, x) in sums.iter_mut().zip(&self.entries[row * COLUMNS..(row + 1) * COLUMNS]) {
                sum.0 += f64::from(*x);
                sum.1 += f64::from(*x).powi(2);
            }
        }
        let n = rows.len().max(1) as f64;
        sums.into_iter()
            .map(|(a, b)| {
                let deviation = (b / n - (a / n).powi(2)).max(0.0).sqrt();
                ((a / n) as f32, if deviation > 1e-6 { deviation as f32 } else { 1.0 })
            })
            .collect()
    }

    /// The labels of the chosen rows.
    pub(crate) fn labels_of(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&row| self.labels[row]).collect()
    }
}
