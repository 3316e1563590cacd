//! Means of tables cut into parts are means of the whole, to the last bit.

use super::{Block, MeanRows, Means};
use crate::central::Privacy;
use crate::data::Design;
use crate::estimators::bounds::Magnitude;
use crate::noise::RandomSource;
use crate::passes::cut::CutCells;
use crate::privacy::Budget;
use crate::release::Estimator;
use std::ops::Range;

const UNITS: usize = 1_500;
pub(in crate::estimators) const BLOCKS: [Block; 4] = [
    Block::Number { low: 0.0, high: 100.0 },
    Block::Category { indicators: 2 },
    Block::Binary { low: 0.0, high: 1.0 },
    Block::Number { low: -1e6, high: 1e6 },
];
const COLUMNS: usize = 5;
const GROUPS: usize = 3;

/// What a table has beside its entries.
#[derive(Debug, Clone, Copy)]
pub(in crate::estimators) struct Kind {
    /// Rows per unit; 1 if rows are units.
    pub each: usize,
    pub weights: bool,
    pub missing: bool,
    pub groups: bool,
}

/// Some units of a table of which any can be had apart.
pub(in crate::estimators) struct Part {
    kind: Kind,
    units: usize,
    design: Design,
    weights: Vec<f64>,
    missing: Vec<bool>,
    groups: Vec<u32>,
    of_row: Vec<u32>,
}

impl Part {
    fn new(kind: Kind, units: Range<usize>) -> Self {
        let rows = kind.each * units.start..kind.each * units.end;
        // A number of a row that looks like noise.
        let noise = |row: usize, k: usize| {
            let x = (row * 11 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            f64::from(x as u32) / f64::from(1_u32 << 31)
        };
        let entries = rows.clone().flat_map(|row| {
            let level = (3.0 * noise(row, 1)) as usize;
            let is = |k: usize| f64::from(u8::from(level == k));
            let heavy = 1.0 / (noise(row, 3) + 1e-3) - 3.0;
            [120.0 * noise(row, 0), is(1), is(2), f64::from(u8::from(noise(row, 2) < 0.2)), heavy]
        });
        let entries: Vec<f64> = entries.collect();
        Self {
            kind,
            units: units.len(),
            design: Design::from_f64(rows.len(), COLUMNS, entries).expect("shape"),
            weights: rows.clone().map(|row| (3.0 * noise(row, 4)).min(2.0)).collect(),
            missing: rows.clone().flat_map(|row| (5..9).map(move |k| noise(row, k) < 0.1)).collect(),
            groups: rows.clone().map(|row| ((GROUPS as f64 + 0.3) * noise(row, 9)) as u32).collect(),
            of_row: rows.map(|row| (row / kind.each - units.start) as u32).collect(),
        }
    }

    pub(in crate::estimators) fn whole(kind: Kind) -> Self {
        Self::new(kind, 0..UNITS)
    }

    /// Cut at unequal places.
    pub(in crate::estimators) fn cut(kind: Kind, parts: usize) -> Vec<Self> {
        let place = |k: usize| UNITS * k * (k + parts) / (2 * parts * parts);
        (0..parts).map(|k| Self::new(kind, place(k)..place(k + 1))).collect()
    }

    pub(in crate::estimators) fn rows(&self) -> MeanRows<'_> {
        let mut rows = MeanRows::new(&self.design).expect("shape");
        if self.kind.each > 1 {
            rows = rows.with_units(&self.of_row, self.units, "person").expect("shape");
        }
        if self.kind.weights {
            rows = rows.with_weights(&self.weights, 2.0).expect("shape");
        }
        if self.kind.missing {
            rows = rows.with_missing(&self.missing, BLOCKS.len()).expect("shape");
        }
        if self.kind.groups {
            rows = rows.with_groups(&self.groups, GROUPS).expect("shape");
        }
        rows
    }
}

/// One, seven and sixty-four parts, merged in random orders; passes and answers are written down and read again.
#[test]
fn parts_of_a_table_give_the_means_of_the_whole() {
    let magnitude = Some(Magnitude::new(1e6, 1e-2).expect("valid"));
    let plain = Means::new(BLOCKS.to_vec()).and_then(|m| m.intervals(0.95)).expect("valid");
    let searching = plain.clone().searching(vec![None, None, None, magnitude], 0.1).expect("valid");
    for (each, more) in [(1, false), (1, true), (3, false), (3, true)] {
        let kind = Kind { each, weights: more, missing: more, groups: more };
        let whole = Part::whole(kind);
        // Declared ranges only, and enough for clips.
        for (model, epsilon) in [(&plain, 0.2), (&plain, 20.0), (&searching, 20.0)] {
            let budget = Privacy::Budget(Budget::new(epsilon, 1e-6).expect("valid"));
            let prepared = model.prepare(whole.rows().shape(), budget).expect("valid");
            let expected = prepared.fit(&whole.rows(), &mut RandomSource::insecure_seeded(7)).expect("fits");
            for parts in [1, 7, 64] {
                let cut = Part::cut(kind, parts);
                let rows = CutCells::new(cut.iter().map(Part::rows).collect(), whole.rows().shape(), 3);
                let rng = &mut RandomSource::insecure_seeded(7);
                let found = model.run_on(&rows, &prepared.layout, prepared.plan.open(rng)).expect("fits");
                assert!(found == expected, "{parts} parts, {kind:?}, epsilon {epsilon}");
            }
        }
    }
}
