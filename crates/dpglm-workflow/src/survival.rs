//! Survival by counts: time is cut into intervals, in each of which the rate of the event is constant.
//!
//! # Algorithm
//! A person of time t becomes one row for each interval that begins before t: the person's columns, an indicator of the interval, the time
//! spent in it as exposure, and whether the event came in it. Poisson regression of these rows has the likelihood of the
//! piecewise-exponential model with proportional hazards (Holford 1980, Laird and Olivier 1981): the exponential of a coefficient is a hazard
//! ratio, that of an interval the hazard there against the first one.
//!
//! # Why private
//! Cuts are public. How many rows a person has tells when they left, so all rows of a person are one unit of privacy: the promise is
//! for a row of the table as it was given, or, where the table has units, for all rows of one. The model bounds what a unit adds, however many
//! rows it has, and the number of units is that of the table.

use super::failure::Failure;
use dpglm::accounting::Certificate;
use dpglm::data::design::Storage;
use dpglm::data::{Bounds, Design};
use dpglm::error::{Message, Parameter};
use dpglm::privacy::Adjacency;
use dpglm_io::encode::Units;
use dpglm_io::schema::Kind;
use dpglm_io::{Domain, Encoded, EncodedColumn, Scaling, Schema};
use serde::{Deserialize, Serialize};

/// The most cuts there may be.
const MOST_CUTS: usize = 100;

/// How survival is cut into intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survival {
    /// The column of times, from the start to the event or to the end of what is known.
    pub time: String,
    /// The column that says whether the event came then.
    pub event: String,
    /// Where one interval ends and the next begins, ascending.
    pub cuts: Vec<f64>,
    /// The upper bound of times, where the last interval ends.
    pub longest: f64,
}

impl Survival {
    /// Of two columns of a schema, and the schema that reads them as exposure and target.
    pub fn new(schema: Schema, time: &str, event: &str, cuts: Vec<f64>) -> Result<(Self, Schema), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        match schema.column(event).map(|c| &c.kind) {
            Some(Kind::Binary(_)) => {}
            Some(Kind::Count(n)) if n.bounds.lower() == 0.0 && n.bounds.upper() == 1.0 => {}
            _ => {
                return refuse(Message::new(
                    "{}: the event `{}` must be declared as binary, its second level the event",
                    &[&Parameter::Survival, &event],
                ));
            }
        }
        let survival = Self::of_exposure(&schema, time, event, cuts)?;
        Ok((survival, schema.with_target(Some(event))?.with_exposure(Some(time))?))
    }

    /// The same of a schema of the features, which reads times as exposure.
    pub fn of_exposure(schema: &Schema, time: &str, event: &str, cuts: Vec<f64>) -> Result<Self, Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        let longest = match schema.column(time).map(|c| &c.kind) {
            Some(Kind::Real(n) | Kind::Count(n)) if n.bounds.lower() > 0.0 => n.bounds.upper(),
            _ => {
                return refuse(Message::new(
                    "{}: the time `{}` must be declared as a number with bounds above 0, the longest time its upper one",
                    &[&Parameter::Survival, &time],
                ));
            }
        };
        let ascending = cuts.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = cuts.iter().all(|cut| *cut > 0.0 && *cut < longest);
        if !(ascending && inside && cuts.len() <= MOST_CUTS) {
            return refuse(Message::new(
                "{} must be at most 100 ascending times between 0 and the upper bound of `{}`, {}: write them like 1,2,5",
                &[&Parameter::Cuts, &time, &longest],
            ));
        }
        if !schema.intercept() {
            return refuse(Message::new(
                "{} has the hazard of the first interval as its intercept: leave out {}",
                &[&Parameter::Survival, &Parameter::NoIntercept],
            ));
        }
        Ok(Self { time: time.to_owned(), event: event.to_owned(), cuts, longest })
    }

    /// The domain of the event as a count.
    pub fn domain() -> Result<Domain, Failure> {
        Ok(Domain::Count(Bounds::new(0.0, 1.0)?))
    }

    /// The names of the indicators: of all intervals but the first.
    pub fn names(&self) -> Vec<String> {
        let ends = self.cuts.iter().skip(1).copied().chain([self.longest]);
        self.cuts.iter().zip(ends).map(|(from, to)| format!("{} from {from} to {to}", self.time)).collect()
    }

    /// The intervals, from the first to the last.
    fn intervals(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let starts = std::iter::once(0.0).chain(self.cuts.iter().copied());
        starts.zip(self.cuts.iter().copied().chain([self.longest]))
    }

    /// The indicators as columns of a table.
    pub fn columns(&self) -> Vec<EncodedColumn> {
        let column = |name| EncodedColumn { binary: true, ..EncodedColumn::number(name, Scaling::INDICATOR) };
        self.names().into_iter().map(column).collect()
    }

    /// A row for each interval in which a person was.
    pub(super) fn expanded(&self, table: Encoded) -> Result<Encoded, Failure> {
        let Some(times) = &table.exposure else {
            return Err(Failure::Failed(format!("there is no column `{}` of times", self.time).into()));
        };
        let (width, more) = (table.design.columns(), self.cuts.len());
        let stored = doubles(&table.design)?;
        let mut entries = Vec::new();
        let (mut response, mut exposure, mut of_row, mut of_rows) = (vec![], vec![], vec![], vec![]);
        for (row, &time) in times.iter().enumerate() {
            let unit = table.units.as_ref().map_or(row as u32, |units| units.of_row[row]);
            for (place, (from, to)) in self.intervals().enumerate().filter(|(_, (from, _))| *from < time) {
                entries.extend_from_slice(&stored[row * width..(row + 1) * width]);
                entries.extend((1..=more).map(|k| f64::from(u8::from(k == place))));
                exposure.push(time.min(to) - from);
                response.push(if time <= to { table.response[row] } else { 0.0 });
                of_row.push(unit);
                of_rows.push(row);
            }
        }
        let picked = |all: &Option<Vec<f64>>| -> Option<Vec<f64>> {
            all.as_ref().map(|all| of_rows.iter().map(|&row| all[row]).collect())
        };
        let target = match table.target.clone() {
            Some(target) => Some(dpglm_io::Target { domain: Self::domain()?, ..target }),
            None => None,
        };
        Ok(Encoded {
            design: Design::from_f64(of_row.len(), width + more, entries)?,
            columns: table.columns.iter().cloned().chain(self.columns()).collect(),
            response,
            target,
            weights: picked(&table.weights),
            sample_weight: picked(&table.sample_weight),
            exposure: Some(exposure),
            units: Some(Units {
                count: table.units.as_ref().map_or(times.len(), |units| units.count),
                of_row,
            }),
            ..table
        })
    }

    /// A certificate says what was made of a row, where rows are what it protects.
    pub fn noted(certificate: Certificate) -> Certificate {
        match certificate.adjacency() {
            Adjacency::ReplaceRow => certificate.of_rows_made(),
            _ => certificate,
        }
    }

    /// Up to which times survival is predicted, and the probability of it by the logarithm of the hazard in the first interval and how much
    /// higher it is in each of the others.
    pub fn curve(&self, first: f64, others: &[f64]) -> Vec<(f64, f64)> {
        let mut lost = 0.0;
        let logs = std::iter::once(0.0).chain(others.iter().copied());
        self.intervals()
            .zip(logs)
            .map(|((from, to), log)| {
                lost += (first + log).exp() * (to - from);
                (to, (-lost).exp())
            })
            .collect()
    }
}

/// The entries row after row.
fn doubles(design: &Design) -> Result<Vec<f64>, Failure> {
    Ok(match design.storage() {
        Storage::F64(entries) => entries.clone(),
        Storage::F32(entries) => entries.iter().map(|&x| f64::from(x)).collect(),
        Storage::I8 { entries, scale } => entries.iter().map(|&x| f64::from(x) * scale).collect(),
        Storage::Csr(_) => {
            return Err(Failure::Usage(Message::new(
                "{} takes a table whose columns have names, not sparse rows: give another file",
                &[&Parameter::Survival],
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survival() -> Survival {
        Survival { time: "t".into(), event: "died".into(), cuts: vec![1.0, 3.0], longest: 10.0 }
    }

    #[test]
    fn times_are_cut_into_intervals() {
        let table = Encoded {
            design: Design::from_f64(3, 2, vec![1.0, 0.5, 1.0, -0.5, 1.0, 0.25]).unwrap(),
            columns: vec![EncodedColumn::number("x".into(), Scaling::INDICATOR)],
            response: vec![1.0, 0.0, 1.0],
            target: None,
            weights: None,
            missing: None,
            exposure: Some(vec![2.5, 10.0, 1.0]),
            sample_weight: Some(vec![0.1, 0.2, 0.3]),
            units: None,
            intercept: true,
            constant_column: true,
            curator: dpglm_io::CuratorNotes::default(),
        };
        let cut = survival().expanded(table).unwrap();
        assert_eq!(cut.exposure, Some(vec![1.0, 1.5, 1.0, 2.0, 7.0, 1.0]));
        // An event at a cut is one of the interval that ends there.
        assert_eq!(cut.response, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        let units = cut.units.unwrap();
        assert_eq!((units.of_row, units.count), (vec![0, 0, 1, 1, 1, 2], 3));
        let rows = doubles(&cut.design).unwrap();
        assert_eq!(rows[4..8], [1.0, 0.5, 1.0, 0.0]);
        assert_eq!(rows[16..20], [1.0, -0.5, 0.0, 1.0]);
        assert_eq!(cut.sample_weight, Some(vec![0.1, 0.1, 0.2, 0.2, 0.2, 0.3]));
        assert_eq!(
            cut.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
            ["x", "t from 1 to 3", "t from 3 to 10"]
        );
    }

    #[test]
    fn survival_falls_by_the_hazard() {
        let curve = survival().curve(0.1_f64.ln(), &[2.0_f64.ln(), 0.0]);
        for ((to, alive), (time, lost)) in curve.into_iter().zip([(1.0, 0.1), (3.0, 0.5), (10.0, 1.2)]) {
            assert!(to == time && (alive - f64::exp(-lost)).abs() < 1e-12);
        }
    }
}
