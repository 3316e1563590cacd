//! Audits of the means: dense, sparse, of an unknown number of columns, truncated, and from coarse bounds.

use super::dense::{OFFSETS, offset};
use super::method::{COLUMN_MEANS, DELTA, MEANS, Method, Variant};
use super::releases::audit;
use super::tables::{Frame, Store};
use super::{AuditCase, Slack};
use crate::central::{Privacy, PrivateMean, SparseMean};
use crate::comparators::KarwaVadhan;
use crate::data::Shape;
use crate::error::Result;
use crate::estimators::bounds::Magnitude;
use crate::estimators::means::{Block, MeanRows, MeanShape, Means};
use crate::privacy::{Event, Noise};
use crate::release::Estimator;
use crate::tuning::{Truncation, TruncationLevel, TunedSparseMean};
use std::rc::Rc;

const ROWS: usize = 24;
const RANGE: (f64, f64) = (-1.0, 2.0);
const NONE: &[Slack] = &[];
/// Tables of two columns in one range; a mean has no response.
fn table(range: (f64, f64)) -> Frame {
    Frame { bare: true, ..Frame::new(ROWS, 2, (0.0, 1.0)).within(range) }
}

/// Every way to store a table of entries in a range about zero.
fn stored() -> [(&'static str, Frame); 4] {
    [
        ("rows", Store::F64),
        ("single precision", Store::F32),
        ("bytes", Store::I8),
        ("sparse rows", Store::Csr),
    ]
    .map(|(name, store)| (name, Frame { store, ..table(RANGE) }))
}

pub(super) fn mean() -> Result<AuditCase> {
    let one = |name: &'static str, range: (f64, f64), frame: Frame| {
        Variant::new(name, frame, move |privacy| {
            let prepared =
                PrivateMean::new(vec![range; 2])?.intervals(0.95)?.prepare(Shape::new(2, ROWS), privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.means))
        })
        .at(MEANS)
    };
    let mut variants: Vec<Variant> = stored().map(|(name, frame)| one(name, RANGE, frame)).into();
    // So little budget that columns keep their ranges as units, or that nothing is localised at all.
    variants.push(one("few rows", RANGE, table(RANGE)).at(&[(2.0, DELTA)]));
    variants.push(one("fewer rows", RANGE, table(RANGE)).at(&[(0.7, DELTA)]));
    variants.extend(OFFSETS.map(|(name, times)| one(name, offset(times), table(offset(times)))));
    audit("mean", variants, NONE)
}

/// The means of columns of all kinds. A table's last entry says whose group a row is in, or which cell is missing.
#[derive(Clone, Copy)]
enum Counted {
    All,
    Missing,
    ByGroup,
}

/// Two numbers of one range and a 0/1 column, of rows or units.
fn columns(name: &'static str, range: (f64, f64), counted: Counted, frame: Frame) -> Variant {
    let (low, high) = range;
    let shape = MeanShape {
        units: frame.units,
        grouped: frame.per_unit.is_some(),
        weighted: frame.weights,
        missing: matches!(counted, Counted::Missing),
        groups: matches!(counted, Counted::ByGroup).then_some(2),
    };
    Variant::new(name, Frame { columns: 3, ..frame }.within(range), move |privacy| {
        let blocks =
            vec![Block::Number { low, high }, Block::Number { low, high }, Block::Binary { low, high }];
        let mut model = Means::new(blocks)?;
        if name.starts_with("private bounds") {
            let magnitude = Magnitude::new(low.abs().max(high.abs()), 1e-3)?;
            model = model.searching(vec![Some(magnitude), Some(magnitude), None], 0.3)?;
        }
        let prepared = model.prepare(shape, privacy)?;
        Ok(Method::new(prepared.events()?, move |probe| {
            let prepared = prepared.probed(probe);
            Rc::new(move |data, rng| {
                let design = data.design();
                let numbers = 0..design.rows();
                let above = |row: usize| design.entry(row, 2) > low / 2.0 + high / 2.0;
                let missing: Vec<bool> = numbers.clone().flat_map(|row| [above(row), false, false]).collect();
                let groups: Vec<u32> = numbers.clone().map(|row| u32::from(above(row))).collect();
                let weights: Vec<f64> = numbers.clone().map(|row| data.weight(row)).collect();
                let units: Vec<u32> = numbers.map(|row| data.unit_of(row) as u32).collect();
                let mut rows = MeanRows::new(design)?;
                if let Some(name) = data.unit_name() {
                    rows = rows.with_units(&units, data.units(), name)?;
                }
                if data.has_weights() {
                    rows = rows.with_weights(&weights, 1.0)?;
                }
                rows = match counted {
                    Counted::All => rows,
                    Counted::Missing => rows.with_missing(&missing, 3)?,
                    Counted::ByGroup => rows.with_groups(&groups, 2)?,
                };
                let found = prepared.fit(&rows, rng)?;
                Ok(found.groups.iter().flat_map(|g| g.columns.iter().map(|c| c.mean)).collect())
            })
        }))
    })
    .at(COLUMN_MEANS)
}

pub(super) fn column_means() -> Result<AuditCase> {
    let all = Counted::All;
    let mut variants: Vec<Variant> = stored().map(|(name, frame)| columns(name, RANGE, all, frame)).into();
    let units = || Frame { per_unit: Some(3), ..table(RANGE) };
    variants.push(columns("units", RANGE, all, units()));
    variants.push(columns("weights", RANGE, all, Frame { weights: true, ..table(RANGE) }));
    variants.push(columns("missing cells", RANGE, Counted::Missing, table(RANGE)));
    variants.push(columns("by group", RANGE, Counted::ByGroup, table(RANGE)));
    variants.push(columns("units by group", RANGE, Counted::ByGroup, units()));
    variants.push(columns("private bounds", RANGE, all, table(RANGE)));
    variants.push(columns("private bounds of units", RANGE, all, units()));
    variants.extend(OFFSETS.map(|(name, times)| columns(name, offset(times), all, table(offset(times)))));
    audit("column-means", variants, NONE)
}

pub(super) fn sparse_mean() -> Result<AuditCase> {
    let variants = stored().map(|(name, frame)| {
        Variant::new(name, Frame { columns: 3, ..frame }, |privacy| {
            let prepared =
                SparseMean::new(vec![RANGE; 3], 1)?.intervals(0.95)?.prepare(Shape::new(3, ROWS), privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.fit.means))
        })
        .at(MEANS)
    });
    audit("sparse-mean", variants.into(), NONE)
}

pub(super) fn tuned_sparse_mean() -> Result<AuditCase> {
    let variants = stored().map(|(name, frame)| {
        Variant::new(name, Frame { columns: 3, ..frame }, |privacy: Privacy| {
            // The two costs are added, so what is promised is one point.
            let promised = match privacy {
                Privacy::Budget(budget) => {
                    let (epsilon, delta) = (budget.epsilon(), budget.delta());
                    vec![Event::new("tuned sparse mean", Noise::Approximate { epsilon, delta }, 1)?]
                }
                Privacy::None => Vec::new(),
            };
            let prepared = TunedSparseMean::new(vec![RANGE; 3], 2)?.prepare(ROWS, privacy)?;
            Ok(Method::new(promised, move |probe| {
                let prepared = prepared.probed(probe);
                Rc::new(move |data, rng| {
                    let found = prepared.fit(data.design(), rng)?;
                    let mut means = vec![0.0; 3];
                    found.support.iter().zip(&found.fit.means).for_each(|(&j, &m)| means[j] = m);
                    Ok(means)
                })
            })
            .loose())
        })
        .at(MEANS)
    });
    audit("tuned-sparse-mean", variants.into(), NONE)
}

pub(super) fn truncation() -> Result<AuditCase> {
    let one = |name: &'static str, level: TruncationLevel, frame: Frame| {
        Variant::new(name, frame, move |privacy| {
            let prepared = Truncation::new(level, 2)?.prepare(Shape::new(2, ROWS), privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.means))
        })
    };
    let private = |(low, high): (f64, f64)| TruncationLevel::Private { low, high };
    let mut variants: Vec<Variant> = stored().map(|(name, frame)| one(name, private(RANGE), frame)).into();
    variants.push(one("theoretical level", TruncationLevel::Theoretical { sigma: 0.5 }, table(RANGE)));
    variants.extend(OFFSETS.map(|(name, times)| one(name, private(offset(times)), table(offset(times)))));
    audit("truncation", variants, NONE)
}

pub(super) fn karwa_vadhan() -> Result<AuditCase> {
    let one = |name: &'static str, range: (f64, f64), frame: Frame| {
        Variant::new(name, frame, move |privacy| {
            let prepared =
                KarwaVadhan::new(vec![range; 2], (0.1, 2.0))?.prepare(Shape::new(2, ROWS), privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.means))
        })
    };
    let mut variants: Vec<Variant> = stored().map(|(name, frame)| one(name, RANGE, frame)).into();
    variants.extend(OFFSETS.map(|(name, times)| one(name, offset(times), table(offset(times)))));
    audit("karwa-vadhan", variants, NONE)
}
