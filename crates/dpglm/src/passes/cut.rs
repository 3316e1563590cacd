//! A table cut into parts, for tests: each pass is answered part by part, and the answers are merged in random order.

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
        let mut answers: Vec<Partial> =
            self.parts.iter().map(|part| Table::new(part).pass(&pass)).collect::<Result<_>>()?;
        let mut order = self.order.borrow_mut();
        let mut draw = || -> Partial {
            let place = order.below(answers.len() as u64) as usize;
            written(&answers.swap_remove(place))
        };
        let mut total = draw();
        for _ in 1..self.parts.len() {
            total.merge(&draw())?;
        }
        Ok(total)
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let scaled = |part: &Dataset| Ok(part.with_design(part.design().rescaled(maps)?));
        let parts = self.parts.iter().map(scaled).collect::<Result<_>>()?;
        Ok(Box::new(Self::new(parts, self.whole, 1)))
    }
}

fn written<T: serde::Serialize + serde::de::DeserializeOwned>(thing: &T) -> T {
    let text = serde_json::to_string(thing).expect("plain data");
    serde_json::from_str(&text).expect("what was written")
}
