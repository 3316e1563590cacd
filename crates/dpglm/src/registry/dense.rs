//! Audits of the dense models: rows and units, with and without an intercept, however the features are stored.

use super::method::{LIKELIHOOD, MANY, Method, Variant};
use super::releases::audit;
use super::tables::{Frame, Store};
use super::{AuditCase, Slack};
use crate::central::{Glm, LinearStatistics, Multinomial};
use crate::error::Result;
use crate::estimators::bounds::{Magnitude, Sought};
use crate::estimators::dense::{Likelihood, Regression};
use crate::families::Family;
use crate::release::Estimator;
use std::rc::Rc;

const UNITS: usize = 24;
/// Bounds are found first.
const SEARCHED: &str = "private bounds";
/// The dispersion is released, too.
const DISPERSED: &str = "dispersion";

/// The ways in which every dense model can be called.
pub(super) fn ways(target: (f64, f64)) -> Vec<(&'static str, Frame)> {
    let rows = || Frame::new(UNITS, 2, target);
    let intercept = || Frame::new(UNITS, 3, target).with_intercept();
    vec![
        ("rows", rows()),
        ("intercept", intercept()),
        ("units", Frame { per_unit: Some(3), ..rows() }),
        ("units with intercept", Frame { per_unit: Some(3), ..intercept() }),
        ("single precision", Frame { store: Store::F32, ..intercept() }),
        ("bytes", Frame { store: Store::I8, ..intercept() }),
        ("sparse rows", Frame { store: Store::Csr, ..rows() }),
        ("weights", Frame { weights: true, ..intercept() }),
    ]
}

/// The same, and with offsets.
fn with_exposures(target: (f64, f64)) -> Vec<(&'static str, Frame)> {
    let mut ways = ways(target);
    ways.push(("exposures", Frame { exposures: true, ..Frame::new(UNITS, 3, target).with_intercept() }));
    ways
}

/// With sampling weights, which maximum likelihood alone takes.
fn sampled(target: (f64, f64), per_unit: Option<usize>) -> (&'static str, Frame) {
    ("sample weights", Frame { sampled: true, per_unit, ..Frame::new(UNITS, 3, target).with_intercept() })
}

/// Targets so many times their span away from zero.
pub(super) const OFFSETS: [(&str, f64); 4] =
    [("offset 1e0", 1e0), ("offset 1e4", 1e4), ("offset 1e8", 1e8), ("offset 1e12", 1e12)];

/// An interval of length 3, so many times that far from zero.
pub(super) fn offset(times: f64) -> (f64, f64) {
    (3.0 * times, 3.0 * times + 3.0)
}

fn glm(name: &'static str, family: Family, target: (f64, f64), frame: Frame) -> Variant {
    let (shape, intercept) = (frame.shape(), frame.intercept);
    Variant::new(name, frame, move |privacy| {
        let mut model = Glm::new(family.clone(), target)?.intervals(0.95)?;
        if intercept {
            model = model.with_intercept();
        }
        Method::of(model.prepare(shape, privacy)?, |m, data, rng| Ok(m.fit(data, rng)?.coefficients))
    })
    .slow(MANY)
}

/// Maximum likelihood in few passes. With so many units the slope matrix is released at budgets that are still small enough to tell.
fn likelihood(name: &'static str, likelihood: Likelihood, frame: Frame) -> Variant {
    likelihood_of(name, likelihood, frame, false)
}

/// The same after bounds are found, of a column and of the response.
fn searching(likelihood: Likelihood, target: (f64, f64)) -> Variant {
    let frame = Frame { weights: true, ..Frame::new(UNITS, 2, target).with_intercept() };
    likelihood_of(SEARCHED, likelihood, frame, false)
}

/// The same with the dispersion.
fn dispersed(likelihood: Likelihood, target: (f64, f64), per_unit: Option<usize>) -> Variant {
    let frame = Frame { per_unit, ..Frame::new(UNITS, 2, target).with_intercept() };
    likelihood_of(DISPERSED, likelihood, frame, false)
}

/// The same with intervals.
fn with_intervals(likelihood: Likelihood, target: (f64, f64), per_unit: Option<usize>) -> Variant {
    let frame =
        Frame { per_unit, weights: per_unit.is_some(), ..Frame::new(UNITS, 2, target).with_intercept() };
    let name = if per_unit.is_some() { "intervals of units" } else { "intervals" };
    likelihood_of(name, likelihood, frame, true)
}

fn likelihood_of(name: &'static str, likelihood: Likelihood, frame: Frame, intervals: bool) -> Variant {
    let frame = Frame { units: 2 * UNITS, ..frame };
    let shape = frame.shape();
    let (intercept, (low, high)) = (frame.intercept, frame.target);
    let (searched, dispersed) = (name == SEARCHED, name == DISPERSED);
    let variant = Variant::new(name, frame, move |privacy| {
        let mut model = Regression::new(likelihood.clone())?;
        if searched {
            let sought = |low: f64, high: f64| -> Result<Option<Sought>> {
                let magnitude = Magnitude::new(low.abs().max(high.abs()), 1e-3)?;
                Ok(Some(Sought { magnitude, low, high, whole: None }))
            };
            model = model.searching(vec![None, sought(-1.0, 1.0)?], sought(low, high)?, 0.5)?;
        }
        if intercept {
            model = model.with_intercept();
        }
        if intervals {
            model = model.intervals(0.95)?;
        }
        if dispersed {
            model = model.dispersion()?;
        }
        let prepared = model.prepare(shape, privacy)?;
        Ok(Method::new(prepared.events()?, move |probe| {
            let prepared = prepared.probed(probe);
            Rc::new(move |data, rng| {
                let fit = prepared.fit(data, rng)?;
                let inferred = fit.inference.into_iter().flatten();
                let inferred = inferred
                    .flat_map(|found| [found.estimates, found.covariance.unwrap_or_default()].concat());
                Ok(fit.coefficients.concat().into_iter().chain(inferred).chain(fit.dispersion).collect())
            })
        }))
    });
    variant.slow(LIKELIHOOD)
}

pub(super) fn linear_likelihood() -> Result<AuditCase> {
    let (low, high) = (-2.0, 3.0);
    let one = |(name, frame)| likelihood(name, Likelihood::gaussian(low, high), frame);
    let mut variants: Vec<Variant> =
        ways((low, high)).into_iter().chain([sampled((low, high), None)]).map(one).collect();
    variants.extend(OFFSETS.map(|(name, times)| {
        let (low, high) = offset(times);
        let frame = Frame::new(UNITS, 2, (low, high)).with_intercept();
        likelihood(name, Likelihood::gaussian(low, high), frame)
    }));
    variants.push(with_intervals(Likelihood::gaussian(low, high), (low, high), Some(3)));
    variants.push(searching(Likelihood::gaussian(low, high), (low, high)));
    variants.push(dispersed(Likelihood::gaussian(low, high), (low, high), None));
    audit("linear-likelihood", variants, SAMPLED)
}

pub(super) fn logistic_likelihood() -> Result<AuditCase> {
    let ways = ways((0.0, 1.0)).into_iter().chain([sampled((0.0, 1.0), None)]);
    let variants = ways.map(|(name, frame)| likelihood(name, Likelihood::logistic(), frame));
    let variants = variants.chain([with_intervals(Likelihood::logistic(), (0.0, 1.0), None)]);
    audit("logistic-likelihood", variants.collect(), SAMPLED)
}

pub(super) fn poisson_likelihood() -> Result<AuditCase> {
    let (low, high) = (0.0, 9.0);
    let one = |(name, frame)| likelihood(name, Likelihood::poisson(low, high), frame);
    let intervals = with_intervals(Likelihood::poisson(low, high), (low, high), Some(3));
    let ways = with_exposures((low, high)).into_iter().chain([sampled((low, high), Some(3))]);
    let dispersed = dispersed(Likelihood::poisson(low, high), (low, high), Some(3));
    audit("poisson-likelihood", ways.map(one).chain([intervals, dispersed]).collect(), BOTH)
}

/// A family of one predictor that shares its passes with those above: with intervals of rows or of units.
fn added(
    name: &'static str,
    family: Family,
    target: (f64, f64),
    per_unit: Option<usize>,
) -> Result<AuditCase> {
    let of = || Likelihood::new(family.clone(), target);
    let mut ways = vec![
        ("intercept", Frame::new(UNITS, 3, target).with_intercept()),
        ("units", Frame { per_unit: Some(3), ..Frame::new(UNITS, 2, target) }),
        ("single precision", Frame { store: Store::F32, ..Frame::new(UNITS, 3, target).with_intercept() }),
        ("bytes", Frame { store: Store::I8, ..Frame::new(UNITS, 3, target).with_intercept() }),
        ("sparse rows", Frame { store: Store::Csr, ..Frame::new(UNITS, 2, target) }),
    ];
    if family.takes_exposures() {
        let exposed = Frame { exposures: true, ..Frame::new(UNITS, 3, target).with_intercept() };
        ways.push(("exposures", exposed));
    }
    let variants = ways.into_iter().map(|(way, frame)| likelihood(way, of(), frame));
    let slack = if family.takes_exposures() { EXPOSURES } else { NONE };
    audit(name, variants.chain([with_intervals(of(), target, per_unit)]).collect(), slack)
}

pub(super) fn probit_likelihood() -> Result<AuditCase> {
    added("probit-likelihood", Family::probit(), (0.0, 1.0), None)
}

pub(super) fn cloglog_likelihood() -> Result<AuditCase> {
    added("cloglog-likelihood", Family::cloglog(), (0.0, 1.0), None)
}

pub(super) fn gamma_likelihood() -> Result<AuditCase> {
    added("gamma-likelihood", Family::gamma(), (0.5, 9.0), Some(3))
}

pub(super) fn tweedie_likelihood() -> Result<AuditCase> {
    added("tweedie-likelihood", Family::tweedie(1.5)?, (0.0, 9.0), None)
}

pub(super) fn multinomial_likelihood() -> Result<AuditCase> {
    let one = |(name, frame)| {
        likelihood(name, Likelihood::Multinomial { classes: 3 }, Frame { whole: true, ..frame })
    };
    let classes = Likelihood::Multinomial { classes: 3 };
    let intervals = Frame { whole: true, ..Frame::new(UNITS, 2, (0.0, 2.0)).with_intercept() };
    let intervals = likelihood_of("intervals", classes, intervals, true);
    let ways = ways((0.0, 2.0)).into_iter().chain([sampled((0.0, 2.0), None)]);
    let variants = ways.map(one).chain([intervals]);
    audit("multinomial-likelihood", variants.collect(), SAMPLED)
}

const NONE: &[Slack] = &[];
/// The levels of exposures and of sampling weights have so small a part of the budget that their twins are out of reach.
const EXPOSURES: &[Slack] = &[EXPOSURE_LEVEL];
const SAMPLED: &[Slack] = &[WEIGHT_LEVEL];
const BOTH: &[Slack] = &[EXPOSURE_LEVEL, WEIGHT_LEVEL];
const OUT_OF_REACH: &str = "it has a 280th part of the budget: at the largest epsilon there is, 100,000 draws do not tell half of its noise";
const EXPOSURE_LEVEL: Slack = Slack { release: "exposure tail level", why: OUT_OF_REACH };
const WEIGHT_LEVEL: Slack = Slack { release: "sample weight tail level", why: OUT_OF_REACH };

pub(super) fn linear() -> Result<AuditCase> {
    let target = (-2.0, 3.0);
    let one = |(name, frame)| glm(name, Family::gaussian(), target, frame);
    let mut variants: Vec<Variant> = ways(target).into_iter().map(one).collect();
    variants.extend(OFFSETS.map(|(name, times)| {
        let target = offset(times);
        glm(name, Family::gaussian(), target, Frame::new(UNITS, 2, target).with_intercept())
    }));
    audit("linear", variants, NONE)
}

pub(super) fn logistic() -> Result<AuditCase> {
    let target = (0.0, 1.0);
    let ways = ways(target).into_iter();
    audit("logistic", ways.map(|(name, frame)| glm(name, Family::logistic(), target, frame)).collect(), NONE)
}

pub(super) fn poisson() -> Result<AuditCase> {
    let target = (0.0, 9.0);
    let variants =
        with_exposures(target).into_iter().map(|(name, frame)| glm(name, Family::poisson(), target, frame));
    audit("poisson", variants.collect(), NONE)
}

pub(super) fn multinomial() -> Result<AuditCase> {
    let variants = ways((0.0, 2.0)).into_iter().map(|(name, frame)| {
        let frame = Frame { whole: true, ..frame };
        let (shape, intercept) = (frame.shape(), frame.intercept);
        Variant::new(name, frame, move |privacy| {
            let mut model = Multinomial::new(3)?;
            if intercept {
                model = model.with_intercept();
            }
            let prepared = model.prepare(shape, privacy)?;
            Method::of(prepared, |m, data, rng| Ok(m.fit(data, rng)?.coefficients.concat()))
        })
        .slow(MANY)
    });
    audit("multinomial", variants.collect(), NONE)
}

pub(super) fn linear_statistics() -> Result<AuditCase> {
    let one = |name: &'static str, target: (f64, f64), frame: Frame| {
        let (shape, intercept) = (frame.shape(), frame.intercept);
        Variant::new(name, frame, move |privacy| {
            let mut model = LinearStatistics::new(target)?.intervals(0.95)?;
            if intercept {
                model = model.with_intercept();
            }
            let prepared = model.prepare(shape, privacy)?;
            Method::of(prepared, |m, data, rng| {
                let fit = m.fit(data, rng)?;
                Ok([fit.coefficients, fit.covariance.unwrap_or_default()].concat())
            })
        })
    };
    let target = (-2.0, 3.0);
    let mut variants: Vec<Variant> =
        ways(target).into_iter().map(|(name, frame)| one(name, target, frame)).collect();
    variants.extend(OFFSETS.map(|(name, times)| {
        let target = offset(times);
        one(name, target, Frame::new(UNITS, 2, target).with_intercept())
    }));
    audit("linear-statistics", variants, NONE)
}
