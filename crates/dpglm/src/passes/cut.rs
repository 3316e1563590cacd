//! A table cut into parts, for tests: each pass is answered part by part, and the answers are merged in random order.

use super::cells::{CellPass, CellRows, MeanRows, MeanShape};
use super::partial::Partial;
use super::pass::{Pass, Rows};
use super::table::Table;
use crate::data::{Dataset, Shape};
use crate::error::Result;
use crate::noise::RandomSource;
use crate::privacy::Adjacency;
use std::cell::RefCell;

/// Parts of a table, each with whole units.
pub(crate) struct Cut {
    parts: Vec<Dataset>,
    whole: Shape,
    order: RefCell<RandomSource>,
}

impl Cut {
    pub(crate) fn new(parts: Vec<Dataset>, whole: Shape, seed: u64) -> Self {
        Self { parts, whole, order: RefCell::new(RandomSource::insecure_seeded(seed)) }
    }
}

impl Rows for Cut {
    fn shape(&self) -> Shape {
        self.whole
    }

    fn is_sparse(&self) -> bool {
        !self.parts[0].design().is_dense()
    }

    fn adjacency(&self) -> Adjacency {
        self.parts[0].adjacency()
    }

    /// Nothing is kept from pass to pass, and passes and answers are written down and read again.
    fn pass(&self, pass: &Pass) -> Result<Partial> {
        let pass: Pass = written(pass);
        let answers = self.parts.iter().map(|part| Table::new(part).pass(&pass)).collect::<Result<_>>()?;
        merged(answers, &mut self.order.borrow_mut())
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let scaled = |part: &Dataset| Ok(part.with_design(part.design().rescaled(maps)?));
        let parts = self.parts.iter().map(scaled).collect::<Result<_>>()?;
        Ok(Box::new(Self::new(parts, self.whole, 1)))
    }
}

/// Parts of a table with cells, each with whole units.
pub(crate) struct CutCells<'a> {
    parts: Vec<MeanRows<'a>>,
    whole: MeanShape,
    order: RefCell<RandomSource>,
}

impl<'a> CutCells<'a> {
    pub(crate) fn new(parts: Vec<MeanRows<'a>>, whole: MeanShape, seed: u64) -> Self {
        Self { parts, whole, order: RefCell::new(RandomSource::insecure_seeded(seed)) }
    }
}

impl CellRows for CutCells<'_> {
    fn shape(&self) -> MeanShape {
        self.whole
    }

    fn unit_name(&self) -> Option<&str> {
        self.parts[0].unit_name()
    }

    fn require(&self, columns: usize, blocks: usize) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.require(columns, blocks))
    }

    fn answer(&self, pass: &CellPass) -> Result<Partial> {
        let pass: CellPass = written(pass);
        let answers = self.parts.iter().map(|part| part.answer(&pass)).collect::<Result<_>>()?;
        merged(answers, &mut self.order.borrow_mut())
    }
}

/// The answers of all parts, written down and read again, merged in random order.
fn merged(mut answers: Vec<Partial>, order: &mut RandomSource) -> Result<Partial> {
    let mut draw = |left: &mut Vec<Partial>| -> Partial {
        let place = order.below(left.len() as u64) as usize;
        written(&left.swap_remove(place))
    };
    let mut total = draw(&mut answers);
    while !answers.is_empty() {
        total.merge(&draw(&mut answers))?;
    }
    Ok(total)
}

fn written<T: serde::Serialize + serde::de::DeserializeOwned>(thing: &T) -> T {
    let text = serde_json::to_string(thing).expect("plain data");
    serde_json::from_str(&text).expect("what was written")
}
