//! Audits of the means: dense, sparse, of an unknown number of columns, truncated, and from coarse bounds.

use super::dense::{OFFSETS, offset};
use super::method::{DELTA, MEANS, Method, Variant};
use super::releases::audit;
use super::tables::{Frame, Store};
use super::{AuditCase, Slack};
use crate::central::{Privacy, PrivateMean, SparseMean};
use crate::comparators::KarwaVadhan;
use crate::error::Result;
use crate::privacy::{Event, Noise};
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
            let prepared = PrivateMean::new(vec![range; 2])?.intervals(0.95)?.prepare(ROWS, privacy)?;
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

pub(super) fn sparse_mean() -> Result<AuditCase> {
    let variants = stored().map(|(name, frame)| {
        Variant::new(name, Frame { columns: 3, ..frame }, |privacy| {
            let prepared = SparseMean::new(vec![RANGE; 3], 1)?.intervals(0.95)?.prepare(ROWS, privacy)?;
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
            let prepared = Truncation::new(level, 2)?.prepare(ROWS, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.means))
        })
    };
    let private = |(low, high): (f64, f64)| TruncationLevel::Private { low, high };
    let mut variants = vec![
        one("private quantiles", private(RANGE), table(RANGE)),
        one("theoretical level", TruncationLevel::Theoretical { sigma: 0.5 }, table(RANGE)),
    ];
    variants.extend(OFFSETS.map(|(name, times)| one(name, private(offset(times)), table(offset(times)))));
    audit("truncation", variants, NONE)
}

pub(super) fn karwa_vadhan() -> Result<AuditCase> {
    let one = |name: &'static str, range: (f64, f64), frame: Frame| {
        Variant::new(name, frame, move |privacy| {
            let prepared = KarwaVadhan::new(vec![range; 2], (0.1, 2.0))?.prepare(2, ROWS, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data.design(), rng)?.means))
        })
    };
    let mut variants: Vec<Variant> = stored().map(|(name, frame)| one(name, RANGE, frame)).into();
    variants.extend(OFFSETS.map(|(name, times)| one(name, offset(times), table(offset(times)))));
    audit("karwa-vadhan", variants, NONE)
}
