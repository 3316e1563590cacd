//! The audit of descriptions: means, quartiles, tallies and products, of plain rows, by group and with missing cells.

use super::AuditCase;
use super::dense::{OFFSETS, offset};
use super::method::{DELTA, Method, Variant};
use super::releases::audit;
use super::tables::{Frame, Store};
use crate::error::Result;
use crate::estimators::bounds::Magnitude;
use crate::estimators::describe::{BlockSummary, Describe, Estimate};
use crate::estimators::means::{Block, MeanRows, MeanShape};
use crate::release::Estimator;
use std::rc::Rc;

const ROWS: usize = 24;
const RANGE: (f64, f64) = (-1.0, 2.0);
/// Budgets that tell the sums and tallies, and ones at which selections show that share a small part with eight others.
const BUDGETS: &[(f64, f64)] = &[(5.0, DELTA), (60.0, DELTA), (140.0, DELTA), (250.0, DELTA), (400.0, DELTA)];

/// A number's bounds are found first.
const SEARCHED: &str = "private bounds";

/// A table's last entry says which group a row is in, or which cell is missing.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    All,
    Missing,
    ByGroup,
}

/// A number and two 0/1 columns of one range, everything asked for.
fn one(name: &'static str, range: (f64, f64), counted: Counted, store: Store) -> Variant {
    let (low, high) = range;
    let searched = name == SEARCHED;
    let shape = MeanShape {
        missing: counted == Counted::Missing,
        groups: (counted == Counted::ByGroup).then_some(2),
        ..MeanShape::new(ROWS)
    };
    let frame = Frame { bare: true, store, ..Frame::new(ROWS, 3, (0.0, 1.0)).within(range) };
    let mut variant = Variant::new(name, frame, move |privacy| {
        let blocks =
            vec![Block::Number { low, high }, Block::Binary { low, high }, Block::Binary { low, high }];
        let model = Describe::new(blocks)?.histograms(3)?.cross(1, 2)?.correlations()?;
        let model = match searched {
            true => {
                let magnitude = Magnitude::new(low.abs().max(high.abs()), 1e-3)?;
                model.searching(vec![Some(magnitude), None, None], 0.3)?
            }
            false => model,
        };
        let prepared = model.prepare(shape, privacy)?;
        Ok(Method::new(prepared.events()?, move |probe| {
            let prepared = prepared.probed(probe);
            Rc::new(move |data, rng| {
                let design = data.design();
                let above = |row: usize| design.entry(row, 2) > low / 2.0 + high / 2.0;
                let missing: Vec<bool> =
                    (0..design.rows()).flat_map(|row| [above(row), false, false]).collect();
                let groups: Vec<u32> = (0..design.rows()).map(|row| u32::from(above(row))).collect();
                let rows = MeanRows::new(design)?;
                let rows = match counted {
                    Counted::All => rows,
                    Counted::Missing => rows.with_missing(&missing, 3)?,
                    Counted::ByGroup => rows.with_groups(&groups, 2)?,
                };
                let found = prepared.fit(&rows, rng)?;
                Ok(found.groups.iter().flat_map(|group| group.blocks.iter().flat_map(numbers)).collect())
            })
        }))
    })
    .at(BUDGETS);
    variant.fits = 1_000;
    variant
}

/// What is given out of a block.
fn numbers(block: &BlockSummary) -> Vec<f64> {
    let values = |of: &[Estimate]| of.iter().map(|e| e.value).collect();
    match block {
        BlockSummary::Number { mean, deviation, quartiles, .. } => {
            [vec![mean.value, deviation.value], values(quartiles)].concat()
        }
        BlockSummary::Levels { shares, .. } => values(shares),
    }
}

pub(super) fn describe() -> Result<AuditCase> {
    let mut variants = vec![
        one("rows", RANGE, Counted::All, Store::F64),
        one("single precision", RANGE, Counted::All, Store::F32),
        one("bytes", RANGE, Counted::All, Store::I8),
        one("sparse rows", RANGE, Counted::All, Store::Csr),
        one("missing cells", RANGE, Counted::Missing, Store::F64),
        one("by group", RANGE, Counted::ByGroup, Store::F64),
        one(SEARCHED, RANGE, Counted::Missing, Store::F64),
    ];
    variants.extend(OFFSETS.map(|(name, times)| one(name, offset(times), Counted::All, Store::F64)));
    audit("describe", variants, &[])
}
