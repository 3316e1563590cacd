//! The rows that an audit stands on: simulated, or the user's own.

use super::Subject;
use crate::failure::Failure;
use dpglm::audit::{DataModel, Estimand, PublicBox, Table};
use dpglm::central::reference;
use dpglm::noise::RandomSource;
use dpglm_io::{Domain, Encoded, EncodedColumn, Scaling};

/// Keeps the reference point defined where columns repeat each other.
const RIDGE: f64 = 1e-3;
const MOST_COLUMNS: usize = 1_200;

/// The tables, in stored units, or in the user's for another program.
pub struct Stage {
    /// The rows that are in.
    pub base: Table,
    /// Rows like them that are not.
    pub held_out: Table,
    /// The truth of simulated rows; of a file, an estimate from rows that are used for nothing else.
    pub reference: Vec<f64>,
    /// What is publicly known of the cells.
    pub cells: PublicBox,
    /// The columns, the constant one left out.
    pub columns: Vec<EncodedColumn>,
    /// A table that differs in one row.
    pub neighbour: Option<Table>,
    /// Whether the rows are simulated.
    pub is_simulated: bool,
}

/// Rows to be simulated.
pub struct Simulated {
    /// How many.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// The bounds of every column.
    pub bounds: (f64, f64),
    /// Whether columns are centred, as where an intercept can take it up.
    pub intercept: bool,
    /// How many columns matter.
    pub support: Option<usize>,
}

impl Stage {
    /// The stage of a table, and of a neighbour of it if there is one.
    pub fn of_tables(
        table: Encoded,
        neighbour: Option<Encoded>,
        domain: Option<&Domain>,
        subject: &Subject,
        rng: &mut RandomSource,
    ) -> Result<Self, Failure> {
        let (table, columns, cells) = encoded(table, domain, subject)?;
        let neighbour = match neighbour {
            Some(other) => Some(encoded(other, domain, subject)?.0),
            None => None,
        };
        Self::of_file(table, columns, cells, neighbour, subject, rng)
    }

    /// Half of the rows are members, a quarter is held out, and a quarter gives the reference point. Neighbours stay whole.
    fn of_file(
        table: Table,
        columns: Vec<EncodedColumn>,
        cells: PublicBox,
        neighbour: Option<Table>,
        subject: &Subject,
        rng: &mut RandomSource,
    ) -> Result<Self, Failure> {
        let n = table.rows();
        if neighbour.is_some() {
            let (held_out, reference) = (table.slice(0, 0)?, vec![0.0; table.columns()]);
            return Ok(Self {
                base: table,
                held_out,
                reference,
                cells,
                columns,
                neighbour,
                is_simulated: false,
            });
        }
        if n < 8 {
            return Err(Failure::Failed(
                format!("only {n} rows: an audit needs at least 8, and tells little below hundreds").into(),
            ));
        }
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let table = table.reordered(&order)?;
        let quarter = n / 4;
        let reference = reference_point(&table.slice(0, quarter)?, &subject.estimand()?)?;
        Ok(Self {
            held_out: table.slice(quarter, quarter)?,
            base: table.slice(2 * quarter, n - 2 * quarter)?,
            reference,
            cells,
            columns,
            neighbour,
            is_simulated: false,
        })
    }
}

/// What the rows set aside say; zero where they are too few to say anything.
fn reference_point(rows: &Table, estimand: &Estimand) -> Result<Vec<f64>, Failure> {
    let (n, d) = (rows.rows(), rows.columns());
    Ok(match estimand {
        Estimand::Mean => (0..d).map(|j| (0..n).map(|i| rows.row(i)[j]).sum::<f64>() / n as f64).collect(),
        Estimand::Glm(family) if d <= MOST_COLUMNS && 2 * d < n => {
            reference::glm(family, &rows.dataset()?, RIDGE, false)
                .map_or_else(|_| vec![0.0; d], |fit| fit.coefficients)
        }
        Estimand::Glm(_) => vec![0.0; d],
    })
}

/// The stage of simulated rows.
pub fn simulated(
    wanted: &Simulated,
    domain: Option<&Domain>,
    subject: &Subject,
    rng: &mut RandomSource,
) -> Result<Stage, Failure> {
    let (rows, d) = (wanted.rows, wanted.columns);
    if rows < 8 || d == 0 {
        return Err(Failure::Usage(
            format!("{rows} rows and {d} columns: an audit needs at least 8 and 1").into(),
        ));
    }
    let (low, high) = wanted.bounds;
    // As a file's columns are stored: centred where an intercept can take it up.
    let (center, half_width) = if wanted.intercept {
        (0.5 * (low + high), 0.5 * (high - low))
    } else {
        (0.0, low.abs().max(high.abs()))
    };
    let scaling = Scaling {
        center,
        half_width,
        lower: (low - center) / half_width,
        upper: (high - center) / half_width,
    };
    let columns: Vec<EncodedColumn> =
        (1..=d).map(|j| EncodedColumn::number(format!("x{j}"), scaling)).collect();
    let constant = subject.has_constant(wanted.intercept);
    let cells = cells(&columns, constant, subject.response_range(domain), subject.is_external());
    let support = wanted.support.unwrap_or(d).min(d);
    let model = DataModel::new(subject.estimand()?, cells.clone(), support)?;
    Ok(Stage {
        base: model.draw(rows, rng)?,
        held_out: model.draw(rows, rng)?,
        reference: model.truth().to_vec(),
        cells,
        columns,
        neighbour: None,
        is_simulated: true,
    })
}

fn encoded(
    encoded: Encoded,
    domain: Option<&Domain>,
    subject: &Subject,
) -> Result<(Table, Vec<EncodedColumn>, PublicBox), Failure> {
    let constant = encoded.constant_column;
    let cells = cells(&encoded.columns, constant, subject.response_range(domain), subject.is_external());
    let mut table = Table::of(&encoded.design, &encoded.response)?;
    if subject.is_external() {
        let d = table.columns();
        let skipped = usize::from(constant);
        let mut features = Vec::with_capacity(table.rows() * d);
        for row in 0..table.rows() {
            for (j, &x) in table.row(row).iter().enumerate() {
                let scaling = j.checked_sub(skipped).map(|j| encoded.columns[j].scaling);
                features.push(scaling.map_or(x, |s| s.center + s.half_width * x));
            }
        }
        table = Table::new(d, features, table.response().to_vec())?;
    }
    Ok((table, encoded.columns, cells))
}

/// The ranges of the columns as stored, or as another program sees them.
fn cells(columns: &[EncodedColumn], constant: bool, response: (f64, f64), in_user_units: bool) -> PublicBox {
    let range = |c: &EncodedColumn| {
        let s = c.scaling;
        if in_user_units {
            (s.center + s.half_width * s.lower, s.center + s.half_width * s.upper)
        } else {
            (s.lower, s.upper)
        }
    };
    let mut features: Vec<(f64, f64)> = columns.iter().map(range).collect();
    let mut categories: Vec<Option<usize>> = columns.iter().map(|c| c.category).collect();
    if constant {
        features.insert(0, (1.0, 1.0));
        categories.insert(0, None);
    }
    PublicBox { features, categories, response }
}

impl Subject {
    /// The two ends between which a canary's response jumps.
    fn response_range(&self, domain: Option<&Domain>) -> (f64, f64) {
        match domain {
            _ if self.is_mean() => (0.0, 1.0),
            Some(Domain::Real(bounds) | Domain::Count(bounds)) => (bounds.lower(), bounds.upper()),
            _ => (0.0, 1.0),
        }
    }
}
