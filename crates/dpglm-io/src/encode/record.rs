//! A row as few bytes, from which the very same numbers come back.
//!
//! What a column can hold is public: a number of few whole values, a level, an indicator. Such a column takes one byte, the place of its value
//! in a list that follows from the declaration; others are stored as they are. Every row takes the same number of bytes.

use std::sync::Arc;

use dpglm::data::Design;
use dpglm::data::design::Storage;

use super::plan::{Plan, Purpose};
use super::{Encoded, Layout, Precision, Present, RowBlock, Settings, Units};
use crate::bounds::Scaling;
use crate::cell::Numeric;

/// How a number is stored.
#[derive(Clone, Debug, PartialEq)]
enum Code {
    /// It is always the same.
    Fixed(f64),
    /// The place in a list of at most 256 numbers, ascending.
    Level(Arc<Levels>),
    /// A byte of a one-byte design.
    Byte,
    Single,
    Double,
}

/// The numbers that bytes stand for.
#[derive(Debug, PartialEq)]
struct Levels {
    /// How many there are.
    count: usize,
    table: [f64; 256],
}

/// So many columns that are stored alike.
#[derive(Clone, Debug)]
struct Run {
    code: Code,
    count: usize,
}

/// How rows are written.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    entries: Entries,
    runs: Vec<Run>,
    width: usize,
    response: Option<Code>,
    weights: bool,
    exposure: bool,
    /// How many cells a row has whose absence is marked.
    marks: usize,
    sample_weight: bool,
    units: bool,
    bytes: usize,
}

/// The storage of the design.
#[derive(Clone, Copy, Debug)]
enum Entries {
    F64,
    F32,
    I8(f64),
}

impl Code {
    /// For these numbers and no others, if they are few.
    fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_unstable_by(f64::total_cmp);
        // Zeros of either sign are two numbers: what comes back is the same to the last bit.
        numbers.dedup_by_key(|x| x.to_bits());
        match numbers[..] {
            [only] => Some(Self::Fixed(only)),
            _ if numbers.len() <= 256 => {
                let mut table = [f64::NAN; 256];
                table[..numbers.len()].copy_from_slice(&numbers);
                Some(Self::Level(Arc::new(Levels { count: numbers.len(), table })))
            }
            _ => None,
        }
    }

    /// For a number under its public rule, as `stored` makes it.
    fn of_number(numeric: &Numeric, stored: impl Fn(f64) -> f64) -> Option<Self> {
        let (low, high) = (numeric.bounds.lower(), numeric.bounds.upper());
        if !numeric.whole || high - low > 300.0 {
            return None;
        }
        let mut values = vec![low, high, numeric.fill];
        let mut whole = low.ceil();
        while whole <= high {
            // A number below zero may round to a zero with a sign.
            values.extend(if whole == 0.0 { vec![0.0, -0.0] } else { vec![whole] });
            whole += 1.0;
        }
        Self::of(values.into_iter().map(stored).collect())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Level(_) | Self::Byte => 1,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Writes a number; false if it is none that the declaration allows.
    fn write(&self, x: f64, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Fixed(only) => return only.to_bits() == x.to_bits(),
            Self::Level(levels) => {
                let Some(place) = levels.place(x) else { return false };
                out.push(place);
            }
            Self::Byte => return false,
            Self::Single => out.extend((x as f32).to_le_bytes()),
            Self::Double => out.extend(x.to_le_bytes()),
        }
        true
    }

    /// Reads so many numbers, in the form in which they are held.
    fn read<'b, T: Clone>(
        &self,
        count: usize,
        bytes: &'b [u8],
        out: &mut Vec<T>,
        held: impl Fn(f64) -> T,
    ) -> &'b [u8] {
        let (own, rest) = bytes.split_at(count * self.bytes());
        match self {
            Self::Fixed(only) => out.extend(std::iter::repeat_n(held(*only), count)),
            Self::Level(levels) => {
                out.extend(own.iter().map(|&place| held(levels.table[usize::from(place)])))
            }
            Self::Byte => out.extend(own.iter().map(|&byte| held(f64::from(byte.cast_signed())))),
            Self::Single => {
                out.extend(own.as_chunks().0.iter().map(|bytes| held(f32::from_le_bytes(*bytes).into())));
            }
            Self::Double => {
                out.extend(own.as_chunks().0.iter().map(|bytes| held(f64::from_le_bytes(*bytes))))
            }
        }
        rest
    }
}

impl Purpose {
    /// How it is stored, if it is the response.
    fn response(&self) -> Option<Code> {
        match self {
            Purpose::NumberTarget(numeric) => Some(Code::of_number(numeric, |x| x).unwrap_or(Code::Double)),
            Purpose::LevelTarget(levels) => {
                let levels = (0..levels.levels.names().len()).map(|level| level as f64).collect();
                Some(Code::of(levels).unwrap_or(Code::Double))
            }
            Purpose::Term { is_response: true, .. } => Some(Code::Double),
            _ => None,
        }
    }
}

impl Levels {
    fn place(&self, x: f64) -> Option<u8> {
        let numbers = &self.table[..self.count];
        // Levels are nearly always evenly spaced.
        let (first, last) = (numbers[0], numbers[self.count - 1]);
        let guess = ((x - first) / (last - first) * (self.count - 1) as f64).round() as usize;
        let is_x = |place: &usize| numbers.get(*place).is_some_and(|level| level.to_bits() == x.to_bits());
        let found = Some(guess).filter(is_x);
        let found = found.or_else(|| numbers.binary_search_by(|level| level.total_cmp(&x)).ok());
        found.and_then(|place| u8::try_from(place).ok())
    }
}

impl Record {
    /// Of a table read by this plan. `None` if rows leave zeros out.
    pub(crate) fn new(plan: &Plan, settings: &Settings, has: &Present) -> Option<Self> {
        let entries = match settings.layout {
            Layout::Dense(Precision::F64) => Entries::F64,
            Layout::Dense(Precision::F32) => Entries::F32,
            Layout::Bytes(scale) => Entries::I8(scale.scale()),
            Layout::Sparse(_) => return None,
        };
        let single = matches!(entries, Entries::F32);
        let stored = |scaling: &Scaling, value: f64| {
            let stored = scaling.apply(value);
            if single { f64::from(scaling.single(stored)) } else { stored }
        };
        let wide = if single { Code::Single } else { Code::Double };
        let mut codes = vec![wide.clone(); plan.columns.len()];
        let mut response = None;
        for slot in &plan.slots {
            if let Some(at) = slot.missing_at {
                codes[at] = Code::of(vec![0.0, 1.0]).unwrap_or(wide.clone());
            }
            match &slot.purpose {
                Purpose::Number { at, numeric, scaling } => {
                    codes[*at] = Code::of_number(numeric, |x| stored(scaling, x)).unwrap_or(wide.clone());
                }
                Purpose::Binary { at, scaling, .. } => {
                    let levels = [0.0, 1.0].map(|x| stored(scaling, x));
                    codes[*at] = Code::of(levels.to_vec()).unwrap_or(wide.clone());
                }
                Purpose::Indicators { first, levels, .. } => {
                    let indicator = Code::of(vec![0.0, 1.0]).unwrap_or(wide.clone());
                    codes[*first..][..levels.levels.names().len() - 1].fill(indicator);
                }
                Purpose::NumberTarget(_) | Purpose::LevelTarget(_) => response = slot.purpose.response(),
                Purpose::Exposure(_) | Purpose::SampleWeight(_) | Purpose::Unit => {}
                Purpose::Term { .. } => response = slot.purpose.response().or(response),
            }
        }
        if has.constant {
            codes.insert(0, Code::Fixed(1.0));
        }
        if matches!(entries, Entries::I8(_)) {
            codes.fill(Code::Byte);
        }
        let mut runs: Vec<Run> = Vec::new();
        for code in codes {
            match runs.last_mut() {
                Some(run) if run.code == code => run.count += 1,
                _ => runs.push(Run { code, count: 1 }),
            }
        }
        let width = runs.iter().map(|run| run.count).sum();
        let bytes = runs.iter().map(|run| run.count * run.code.bytes()).sum::<usize>()
            + response.as_ref().map_or(0, Code::bytes)
            + usize::from(has.weights)
            + 8 * usize::from(has.exposure)
            + 8 * usize::from(has.sample_weight)
            + has.marks
            + 4 * usize::from(has.units);
        let Present { weights, exposure, sample_weight, marks, units, .. } = *has;
        Some(Self { entries, runs, width, response, weights, exposure, sample_weight, marks, units, bytes })
    }

    /// With a response that is declared apart.
    pub(crate) fn with_response(mut self, plan: &Plan) -> Self {
        let before = self.response.take().map_or(0, |code| code.bytes());
        self.response = plan.slots.iter().find_map(|slot| slot.purpose.response());
        self.bytes = self.bytes + self.response.as_ref().map_or(0, Code::bytes) - before;
        self
    }

    /// The bytes of a row; at least one.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.max(1)
    }

    /// The bytes of a row of the design in memory.
    pub(crate) fn bytes_in_memory(&self) -> usize {
        self.width
            * match self.entries {
                Entries::F64 => 8,
                Entries::F32 => 4,
                Entries::I8(_) => 1,
            }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether rows say whose they are.
    pub(crate) fn has_units(&self) -> bool {
        self.units
    }

    /// Whose row it is.
    pub(crate) fn unit_of(&self, row: &[u8]) -> u32 {
        row.last_chunk().map_or(0, |unit| u32::from_le_bytes(*unit))
    }

    /// Writes the rows of a block; false if one holds what the declaration does not allow, which no builder makes.
    pub(crate) fn write(&self, block: &Encoded, out: &mut Vec<u8>) -> bool {
        let mut fits = block.design.columns() == self.width;
        for row in 0..block.rows() {
            let mut at = row * self.width;
            for run in &self.runs {
                let range = at..at + run.count;
                at = range.end;
                match (block.design.storage(), &run.code) {
                    (Storage::I8 { entries, .. }, Code::Byte) => {
                        out.extend(entries[range].iter().map(|x| x.cast_unsigned()));
                    }
                    (Storage::F64(entries), code) => {
                        fits &= entries[range].iter().all(|&x| code.write(x, out));
                    }
                    (Storage::F32(entries), code) => {
                        fits &= entries[range].iter().all(|&x| code.write(x.into(), out));
                    }
                    _ => fits = false,
                }
            }
            if let Some(code) = &self.response {
                fits &= block.response.get(row).is_some_and(|&y| code.write(y, out));
            }
            if self.weights {
                out.push(u8::from(block.weights.as_ref().is_some_and(|weights| weights[row] > 0.0)));
            }
            if self.exposure {
                out.extend(block.exposure.as_ref().map_or(1.0, |exposure| exposure[row]).to_le_bytes());
            }
            if self.sample_weight {
                out.extend(block.sample_weight.as_ref().map_or(1.0, |weight| weight[row]).to_le_bytes());
            }
            if self.marks > 0 {
                let marks =
                    block.missing.as_ref().and_then(|all| all.get(row * self.marks..(row + 1) * self.marks));
                fits &= marks.is_some();
                out.extend(marks.unwrap_or_default().iter().map(|&missing| u8::from(missing)));
            }
            if self.units {
                out.extend(block.units.as_ref().map_or(0, |units| units.of_row[row]).to_le_bytes());
            }
            if self.bytes == 0 {
                out.push(0);
            }
        }
        fits
    }

    /// Reads rows. Their units are those from `first` on.
    pub(crate) fn read(&self, bytes: &[u8], (first, count): (u32, usize)) -> dpglm::Result<RowBlock> {
        let rows = bytes.len() / self.bytes();
        let with_room = |is_there: bool| Vec::with_capacity(if is_there { rows } else { 0 });
        let (mut response, mut weights, mut exposure) =
            (with_room(self.response.is_some()), with_room(self.weights), with_room(self.exposure));
        let mut sample_weight = with_room(self.sample_weight);
        let mut of_row = Vec::with_capacity(if self.units { rows } else { 0 });
        let mut missing = Vec::with_capacity(rows * self.marks);
        let (mut wide, mut narrow, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        match self.entries {
            Entries::F64 => wide.reserve_exact(rows * self.width),
            Entries::F32 => narrow.reserve_exact(rows * self.width),
            Entries::I8(_) => whole.reserve_exact(rows * self.width),
        }
        for mut row in bytes.chunks_exact(self.bytes()) {
            for Run { code, count } in &self.runs {
                row = match self.entries {
                    Entries::F64 => code.read(*count, row, &mut wide, |x| x),
                    Entries::F32 => code.read(*count, row, &mut narrow, |x| x as f32),
                    Entries::I8(_) => {
                        let (own, rest) = row.split_at(*count);
                        whole.extend(own.iter().map(|byte| byte.cast_signed()));
                        rest
                    }
                };
            }
            if let Some(code) = &self.response {
                row = code.read(1, row, &mut response, |y| y);
            }
            if self.weights {
                weights.push(f64::from(row[0]));
                row = &row[1..];
            }
            if self.exposure {
                row = Code::Double.read(1, row, &mut exposure, |e| e);
            }
            if self.sample_weight {
                row = Code::Double.read(1, row, &mut sample_weight, |w| w);
            }
            missing.extend(row.iter().take(self.marks).map(|&mark| mark > 0));
            if self.units {
                of_row.push(self.unit_of(row) - first);
            }
        }
        let design = match self.entries {
            Entries::F64 => Design::from_f64(rows, self.width, wide),
            Entries::F32 => Design::from_f32(rows, self.width, narrow),
            Entries::I8(scale) => Design::from_i8(rows, self.width, whole, scale),
        }?;
        Ok(RowBlock {
            design,
            response,
            weights: self.weights.then_some(weights),
            exposure: self.exposure.then_some(exposure),
            missing: (self.marks > 0).then_some(missing),
            sample_weight: self.sample_weight.then_some(sample_weight),
            units: self.units.then_some(Units { of_row, count }),
        })
    }
}
