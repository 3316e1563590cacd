//! Step 0: every release and its share of the budget, from public facts alone.
//!
//! Means and quartiles share the budget so that both are about as precise, in units of a column's deviation; what is asked for
//! beside takes its part from both.

use super::{Block, Describe, MeanShape};
use crate::central::Privacy;
use crate::estimators::means::plan::Plan as MeansPlan;
use crate::release::{Chosen, Handle, PlannedRelease, Vector};

pub(super) const QUARTILES: Handle<Chosen> = Handle::new("quartiles");
pub(super) const ENDS: Handle<Chosen> = Handle::new("ends of the quartiles' intervals");
pub(super) const TALLIES: Handle<Vector> = Handle::new("tallies");
pub(super) const PRODUCTS: Handle<Vector> = Handle::new("products of columns");

/// Parts of the budget, before they are divided by their sum.
const MEANS: f64 = 0.45;
const NUMBERS: f64 = 0.45;
/// Of the quartiles' part, what their intervals have.
const OF_ENDS: f64 = 0.4;
const HISTOGRAMS: f64 = 0.15;
const CROSS: f64 = 0.1;
const GROUPS: f64 = 0.05;
const CORRELATIONS: f64 = 0.2;

/// The plan of a description.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(super) shape: MeanShape,
    pub(super) means: MeansPlan,
    quartiles: f64,
    tallies: f64,
    products: f64,
    numbers: u64,
}

impl Plan {
    pub(super) fn new(model: &Describe, shape: MeanShape, privacy: Privacy) -> Self {
        let numbers = model.blocks.iter().filter(|b| matches!(b, Block::Number { .. })).count();
        let part = |asked: bool, part: f64| if asked { part } else { 0.0 };
        let quartiles = part(numbers > 0, NUMBERS);
        let tallies = part(model.bins.is_some() && numbers > 0, HISTOGRAMS)
            + part(model.cross.is_some(), CROSS)
            + part(shape.groups.is_some(), GROUPS);
        let products = part(model.correlations, CORRELATIONS);
        // What is left after bounds are found is shared out.
        let sum = (MEANS + quartiles + tallies + products) / model.means.after_search().0;
        Self {
            shape,
            means: MeansPlan::new(&model.means, shape, privacy, MEANS / sum),
            quartiles: quartiles / sum,
            tallies: tallies / sum,
            products: products / sum,
            numbers: (numbers * shape.groups.unwrap_or(1)) as u64,
        }
    }

    /// The lines of the plan.
    pub(super) fn lines(&self) -> Vec<PlannedRelease> {
        let mut lines = self.means.lines();
        if self.quartiles > 0.0 {
            lines.push(QUARTILES.planned((1.0 - OF_ENDS) * self.quartiles, 3 * self.numbers));
            lines.push(ENDS.planned(OF_ENDS * self.quartiles, 6 * self.numbers));
        }
        if self.tallies > 0.0 {
            lines.push(TALLIES.planned(self.tallies, 1));
        }
        if self.products > 0.0 {
            lines.push(PRODUCTS.planned(self.products, 1));
        }
        lines
    }
}
