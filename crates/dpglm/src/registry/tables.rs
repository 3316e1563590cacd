//! Neighbouring tables that try to move a release as far as it is claimed to move, or farther.
//!
//! A pair is a table, one of its units, and what that unit is replaced by. Tables are random, balanced, constant, spread out or
//! nearly empty; the unit that changes has entries inside its bounds, at their ends, far beyond them, tiny, or no number at
//! all; it is mirrored, its response is turned round, its rows are dropped or more of them come in. [`Neighbours::changed`]
//! changes a pair a little, for a search that climbs.

use crate::data::csr::Values;
use crate::data::{Dataset, Design, Shape};
use crate::error::Result;
use crate::noise::RandomSource;

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    F64,
    F32,
    /// Bytes that stand for 64ths.
    I8,
    Csr,
}

/// The public shape of the tables of one way to call an estimator.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub units: usize,
    pub columns: usize,
    /// The first column is constant 1.
    pub intercept: bool,
    /// The middle of an entry's bounds, and half their distance.
    pub entries: (f64, f64),
    /// The bounds of the response.
    pub target: (f64, f64),
    /// Responses are whole numbers.
    pub whole: bool,
    /// Rows of a usual unit; `None` if each row is a unit.
    pub per_unit: Option<usize>,
    pub store: Store,
    pub weights: bool,
    pub exposures: bool,
    /// Rows have sampling weights.
    pub sampled: bool,
    /// Nothing but the entries counts: no responses, units, weights or exposures.
    pub bare: bool,
    /// Which units may be replaced.
    pub replaced: fn(usize) -> bool,
}

/// Kinds of tables: their name, whether a frame is of the kind, and how to make it so. A bare frame stays what it is.
type TableKind = (&'static str, fn(&Frame) -> bool, fn(Frame) -> Frame);

pub(super) const KINDS: [TableKind; 7] = [
    ("units", |f| f.per_unit.is_some(), |f| Frame { per_unit: (!f.bare).then_some(1), ..f }),
    ("weights", |f| f.weights, |f| Frame { weights: !f.bare, ..f }),
    ("exposures", |f| f.exposures, |f| Frame { exposures: !f.bare, ..f }),
    ("sample weights", |f| f.sampled, |f| Frame { sampled: !f.bare, ..f }),
    ("single precision", |f| f.store == Store::F32, |f| Frame { store: Store::F32, ..f }),
    ("bytes", |f| f.store == Store::I8, |f| Frame { store: Store::I8, ..f }),
    ("sparse rows", |f| f.store == Store::Csr, |f| Frame { store: Store::Csr, ..f }),
];

impl Frame {
    /// What is public of its tables.
    pub(super) fn shape(&self) -> Shape {
        Shape {
            columns: self.columns,
            units: self.units,
            grouped: self.per_unit.is_some(),
            dropped: self.weights,
            exposures: self.exposures,
            weighted: self.sampled,
        }
    }

    /// Rows of so many columns with entries in [-1, 1] and responses in `target`.
    pub(super) fn new(units: usize, columns: usize, target: (f64, f64)) -> Self {
        Self {
            units,
            columns,
            intercept: false,
            entries: (0.0, 1.0),
            target,
            whole: false,
            per_unit: None,
            store: Store::F64,
            weights: false,
            exposures: false,
            sampled: false,
            bare: false,
            replaced: |_| true,
        }
    }

    pub(super) fn with_intercept(self) -> Self {
        Self { intercept: true, ..self }
    }

    /// Entries in this interval.
    pub(super) fn within(self, (low, high): (f64, f64)) -> Self {
        Self { entries: (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0), ..self }
    }
}

/// One row.
#[derive(Clone)]
struct Record {
    x: Vec<f64>,
    y: f64,
    weight: f64,
    exposure: f64,
    sample_weight: f64,
}

/// Two tables that differ in one unit.
#[derive(Clone)]
pub(super) struct Neighbours {
    units: Vec<Vec<Record>>,
    replaced: usize,
    sides: [Vec<Record>; 2],
}

/// Sizes of entries in units of half their range: usual ones three times, then what breaks careless code.
const SIZES: [f64; 22] = [
    1.0,
    1.0,
    1.0,
    0.5,
    0.25,
    1.3,
    1.5,
    2.0,
    4.0,
    30.0,
    1e3,
    1e6,
    1e30,
    1e100,
    1e300,
    1e-3,
    1e-30,
    1e-100,
    1e-300,
    0.0,
    f64::INFINITY,
    f64::NAN,
];
const EXPOSURES: [f64; 10] = [1.0, 1.0, 0.5, 1e-3, 1e-15, 1e15, 1e300, 0.0, -1.0, f64::NAN];
const SAMPLE_WEIGHTS: [f64; 9] = [1.0, 1.0, 1.0, 0.5, 0.02, 1e-9, 0.0, 1e300, f64::NAN];

/// Draws tables.
pub(super) struct Tables<'f> {
    frame: &'f Frame,
    rng: RandomSource,
}

impl<'f> Tables<'f> {
    pub(super) fn new(frame: &'f Frame, seed: u64) -> Self {
        Self { frame, rng: RandomSource::insecure_seeded(seed) }
    }

    pub(super) fn seed(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform on (-1, 1).
    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.rng.below(n) == 0
    }

    fn pick(&mut self, values: &[f64]) -> f64 {
        values[self.rng.below(values.len() as u64) as usize]
    }

    fn sign(&mut self) -> f64 {
        if self.rng.coin() { 1.0 } else { -1.0 }
    }

    /// A whole row of one kind, in units of half the range of an entry.
    fn row(&mut self) -> Vec<f64> {
        let d = self.frame.columns;
        let size = self.pick(&SIZES);
        let only = self.rng.below(d as u64) as usize;
        let sign = self.sign();
        match self.rng.below(6) {
            0 => vec![sign * size; d],
            1 => (0..d).map(|j| if j % 2 == 0 { size } else { -size }).collect(),
            2 => (0..d).map(|_| self.sign() * size).collect(),
            3 => (0..d).map(|j| if j == only { sign * size } else { 0.0 }).collect(),
            4 => (0..d).map(|_| self.uniform() * size).collect(),
            _ => (0..d).map(|_| self.sign() * self.pick(&SIZES)).collect(),
        }
    }

    fn response(&mut self) -> f64 {
        let (low, high) = self.frame.target;
        let y = match self.rng.below(12) {
            0..=3 => low,
            4..=7 => high,
            8 => low / 2.0 + high / 2.0,
            9 => low / 2.0 + high / 2.0 + 0.5 * (high - low) * self.uniform(),
            10 => f64::NAN,
            _ => self.sign() * 1e300,
        };
        if self.frame.whole { y.round() } else { y }
    }

    /// A row of the unit that changes.
    fn record(&mut self) -> Record {
        let x = self.row();
        Record {
            x: self.placed(x),
            y: self.response(),
            weight: if self.frame.weights && self.one_in(4) { 0.0 } else { 1.0 },
            exposure: if self.frame.exposures { self.pick(&EXPOSURES) } else { 1.0 },
            sample_weight: if self.frame.sampled { self.pick(&SAMPLE_WEIGHTS) } else { 1.0 },
        }
    }

    /// A row in its columns' ranges, the constant first.
    fn placed(&self, mut x: Vec<f64>) -> Vec<f64> {
        let (middle, half) = self.frame.entries;
        x.iter_mut().for_each(|x| *x = middle + half * *x);
        if self.frame.intercept {
            x[0] = 1.0;
        }
        x
    }

    /// The rows of the unit that changes: as many as usual, or none, or twice as many where units have several.
    fn unit(&mut self) -> Vec<Record> {
        let rows = self.frame.per_unit.map_or(1, |rows| match self.rng.below(8) {
            0 => 0,
            1 => 2 * rows,
            2 => 1,
            _ => rows,
        });
        if self.rng.coin() {
            return vec![self.record(); rows];
        }
        (0..rows).map(|_| self.record()).collect()
    }

    /// The unit turned round: its features mirrored, or its responses at the other end.
    fn turned(&mut self, unit: &[Record]) -> Vec<Record> {
        let (low, high) = self.frame.target;
        let (mirror, flip, swap) = (self.rng.coin(), self.rng.coin(), self.one_in(4));
        let (middle, _) = self.frame.entries;
        let constant = usize::from(self.frame.intercept);
        let turn = |record: &Record| {
            let mut record = record.clone();
            let x = &mut record.x[constant..];
            if mirror {
                x.iter_mut().for_each(|x| *x = middle - (*x - middle));
            }
            if swap && !x.is_empty() {
                x.rotate_left(1);
            }
            if flip || !mirror {
                record.y = if record.y == low { high } else { low };
            }
            record
        };
        unit.iter().map(turn).collect()
    }

    /// The other units.
    fn background(&mut self) -> Vec<Vec<Record>> {
        let Frame { units, columns, target: (low, high), whole, .. } = *self.frame;
        let (style, responses, odd) = (self.rng.below(8), self.rng.below(6), self.one_in(3));
        let base = self.row();
        let width = [1.0, 1e-3, 1e-6][self.rng.below(6).min(2) as usize];
        // Orders of magnitude that a geometric spread covers.
        let octaves = [(-24.0, 0.0), (0.0, 10.0), (-4.0, 4.0)][self.rng.below(3) as usize];
        (0..units)
            .map(|unit| {
                let record = |tables: &mut Self| {
                    if odd && tables.one_in(8) {
                        return tables.record();
                    }
                    let spread = 2.0 * unit as f64 / (units - 1).max(1) as f64 - 1.0;
                    let x = match style {
                        0 => (0..columns).map(|_| width * tables.uniform()).collect(),
                        1 => (0..columns)
                            .map(|j| if unit >> (j % 5) & 1 == 0 { width } else { -width })
                            .collect(),
                        2 => vec![width; columns],
                        3 => base.clone(),
                        4 => vec![0.0; columns],
                        // Every place of a range once, so that ranks have something to move past.
                        5 => (0..columns).map(|j| if j % 2 == 0 { spread } else { -spread }).collect(),
                        6 => (0..columns).map(|j| f64::from(u8::from(unit % columns == j))).collect(),
                        // Every order of magnitude once, on both sides.
                        _ => {
                            let (low, high) = octaves;
                            let size = libm::exp2(low + (high - low) * unit as f64 / units as f64);
                            vec![if unit & 1 == 0 { size } else { -size }; columns]
                        }
                    };
                    let middle = low / 2.0 + high / 2.0;
                    let y = match responses {
                        0 => middle + 0.5 * (high - low) * tables.uniform(),
                        1 => {
                            if unit & 1 == 0 {
                                low
                            } else {
                                high
                            }
                        }
                        2 => middle + 0.5 * (high - low) * spread,
                        3 => low,
                        4 => high,
                        _ => middle + 0.5 * (high - low) * width * tables.uniform(),
                    };
                    Record {
                        x: tables.placed(x),
                        y: if whole { y.round() } else { y },
                        weight: if tables.frame.weights && tables.one_in(8) { 0.0 } else { 1.0 },
                        exposure: if tables.frame.exposures {
                            1.0 - 0.5 * tables.uniform().abs()
                        } else {
                            1.0
                        },
                        sample_weight: if tables.frame.sampled { 1.0 - tables.uniform().abs() } else { 1.0 },
                    }
                };
                (0..self.frame.per_unit.unwrap_or(1)).map(|_| record(self)).collect()
            })
            .collect()
    }

    /// A pair without tricks: a row a little longer than the others is mirrored and its response turned round.
    pub(super) fn plain(&mut self) -> Neighbours {
        let mut pair = self.neighbours();
        let (low, high) = self.frame.target;
        for (unit, (sign, y)) in pair.sides.iter_mut().zip([(1.0, low), (-1.0, high)]) {
            let x = self.placed(vec![1.3 * sign; self.frame.columns]);
            *unit = vec![
                Record { x, y, weight: 1.0, exposure: 1.0, sample_weight: 1.0 };
                self.frame.per_unit.unwrap_or(1)
            ];
        }
        let usual = |record: &Record| record.x.iter().chain([&record.y]).all(|x| x.abs() < 1e20);
        let first = pair.sides[0].clone();
        pair.units.iter_mut().filter(|unit| !unit.iter().all(usual)).for_each(|unit| unit.clone_from(&first));
        pair
    }

    /// Pairs for ranks and counts: some rows are large, one is between, the others are small; one that says nothing becomes large.
    pub(super) fn graded(&mut self) -> Vec<Neighbours> {
        let Frame { units, columns, target: (low, high), per_unit, .. } = *self.frame;
        let unit = |size: f64, y: f64| {
            let record = Record {
                x: self.placed(vec![size; columns]),
                y,
                weight: 1.0,
                exposure: 1.0,
                sample_weight: 1.0,
            };
            vec![record; per_unit.unwrap_or(1)]
        };
        let replaced = (0..units).rev().find(|&unit| (self.frame.replaced)(unit)).unwrap_or(0);
        let pair = |cut: usize| Neighbours {
            units: (0..units)
                .map(|k| match k.cmp(&cut) {
                    std::cmp::Ordering::Less => unit(1.0, high),
                    std::cmp::Ordering::Equal => unit(0.2, high),
                    std::cmp::Ordering::Greater => unit(0.02, low),
                })
                .collect(),
            replaced,
            sides: [unit(0.0, low), unit(1.0, high)],
        };
        (0..units).map(pair).collect()
    }

    /// A pair of neighbours.
    pub(super) fn neighbours(&mut self) -> Neighbours {
        let units = self.background();
        let replaced = loop {
            let unit = self.rng.below(units.len() as u64) as usize;
            if (self.frame.replaced)(unit) {
                break unit;
            }
        };
        let first = self.unit();
        let second = if self.one_in(4) { self.unit() } else { self.turned(&first) };
        Neighbours { units, replaced, sides: [first, second] }
    }
}

impl Neighbours {
    /// The table, or its neighbour.
    pub(super) fn table(&self, frame: &Frame, side: bool) -> Result<Dataset> {
        let own = |unit: usize| match unit == self.replaced {
            true => &self.sides[usize::from(side)],
            false => &self.units[unit],
        };
        let rows = || (0..self.units.len()).flat_map(own);
        let count = rows().count();
        let entries = || rows().flat_map(|record| record.x.iter().copied());
        let design = match frame.store {
            Store::F64 => Design::from_f64(count, frame.columns, entries().collect())?,
            Store::F32 => Design::from_f32(count, frame.columns, entries().map(|x| x as f32).collect())?,
            Store::I8 => {
                let byte = |x: f64| (64.0 * x).round().clamp(-128.0, 127.0) as i8;
                Design::from_i8(count, frame.columns, entries().map(byte).collect(), 1.0 / 64.0)?
            }
            Store::Csr => {
                let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for record in rows() {
                    for (j, &x) in record.x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        indices.push(j as u32);
                        values.push(x);
                    }
                    offsets.push(indices.len());
                }
                Design::from_csr(frame.columns, offsets, indices, Values::F64(values))?
            }
        };
        let mut data = Dataset::new(design, rows().map(|record| record.y).collect())?;
        if frame.weights {
            data = data.with_weights(rows().map(|record| record.weight).collect())?;
        }
        if frame.exposures {
            data = data.with_exposures(&rows().map(|record| record.exposure).collect::<Vec<_>>(), 1.0)?;
        }
        if frame.sampled {
            let weights: Vec<f64> = rows().map(|record| record.sample_weight).collect();
            data = data.with_sample_weights(&weights, 0.5)?;
        }
        if frame.per_unit.is_some() {
            let of_row = (0..self.units.len()).flat_map(|unit| own(unit).iter().map(move |_| unit as u32));
            data = data.with_units(of_row.collect(), self.units.len(), "person")?;
        }
        Ok(data)
    }

    /// The same pair with something changed.
    pub(super) fn changed(&self, tables: &mut Tables<'_>) -> Self {
        let mut pair = self.clone();
        let side = usize::from(tables.rng.coin());
        let factor = libm::exp2(tables.uniform());
        let (middle, half) = tables.frame.entries;
        let constant = usize::from(tables.frame.intercept);
        let scale = |unit: &mut [Record]| {
            let entries = unit.iter_mut().flat_map(|record| record.x.iter_mut().skip(constant));
            entries.for_each(|x| *x = middle + factor * (*x - middle));
        };
        match tables.rng.below(9) {
            0 => pair.sides.iter_mut().for_each(|unit| scale(unit)),
            1 => scale(&mut pair.sides[side]),
            2 => pair.sides[side] = tables.turned(&pair.sides[1 - side]),
            3 => pair.sides[side] = tables.unit(),
            4 => pair.units = tables.background(),
            5 => {
                let y = tables.response();
                pair.sides[side].iter_mut().for_each(|record| record.y = y);
            }
            6 => {
                // One entry, of the same column in all rows of the unit.
                let column = tables.rng.below(tables.frame.columns as u64) as usize;
                let x = middle + half * tables.sign() * tables.pick(&SIZES);
                let rows = pair.sides[side].iter_mut().filter(|_| column >= constant);
                rows.for_each(|record| record.x[column] = x);
            }
            7 => {
                // A turn of the whole row among its columns.
                let x = tables.row();
                let x = tables.placed(x);
                pair.sides[side].iter_mut().for_each(|record| record.x.clone_from(&x));
            }
            _ => {
                let unit = tables.rng.below(pair.units.len() as u64) as usize;
                pair.units[unit] = tables.unit();
            }
        }
        // Where each row is a unit, a table keeps its number of rows.
        debug_assert!(tables.frame.per_unit.is_some() || pair.sides.iter().all(|unit| unit.len() == 1));
        pair
    }
}
