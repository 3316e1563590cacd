//! Audits of sparse regression.

use super::dense::{OFFSETS, offset, ways};
use super::method::{BOTH, MANY, Method, Variant};
use super::releases::audit;
use super::tables::{Frame, Store};
use super::{AuditCase, Slack};
use crate::central::{
    DpIht, Glm, Huber, Loss, LossBounds, LossModel, Multinomial, NoisyIht, Prepared, SelectRefine, Selection,
    SparseFit, SparseMultinomial, SquaredHinge, WholeGradient,
};
use crate::data::Dataset;
use crate::error::Result;
use crate::families::Family;
use crate::noise::RandomSource;
use crate::release::Estimator;

const UNITS: usize = 24;
const NONE: &[Slack] = &[];
/// Stated budgets of printed noise: what it costs is a fraction of them.
const PRINTED: &[(f64, f64)] = &[(100.0, 1e-3), (200.0, 1e-3), (400.0, 1e-3)];

/// A model in the frame of its tables.
pub(super) fn glm(family: Family, frame: &Frame) -> Result<Glm> {
    let model = Glm::new(family, frame.target)?;
    Ok(if frame.intercept { model.with_intercept() } else { model })
}

/// The ways in which every sparse model can be called, with a column to leave out, and one with exposures.
fn wider(target: (f64, f64)) -> Vec<(&'static str, Frame)> {
    let mut ways = ways(target);
    ways.iter_mut().for_each(|(_, frame)| frame.columns += 1);
    ways
}

/// Budgets that tell of the choice of columns as well, for one of the ways.
pub(super) fn budgets(way: &str) -> &'static [(f64, f64)] {
    if way == "rows" { BOTH } else { MANY }
}

/// A way to fit coefficients of which most are zero.
fn sparse<M: Estimator + 'static>(
    name: &'static str,
    frame: Frame,
    prepare: impl Fn(&Frame, crate::central::Privacy) -> Result<Prepared<M>> + 'static,
    fit: impl Fn(&Prepared<M>, &Dataset, &mut RandomSource) -> Result<SparseFit> + Copy + 'static,
) -> Variant {
    let inside = frame.clone();
    Variant::new(name, frame, move |privacy| {
        let columns = inside.columns;
        Method::of(prepare(&inside, privacy)?, move |m, data, rng| {
            Ok(fit(m, data, rng)?.coefficients(columns))
        })
    })
}

pub(super) fn select_refine() -> Result<AuditCase> {
    let one = |name: &'static str, family: Family, sparsity: usize, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            // With intervals, the chosen columns are shown whether they are clear of zero or not.
            let model = SelectRefine::new(glm(family.clone(), frame)?.intervals(0.95)?, sparsity)?;
            model.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng)).slow(budgets(name))
    };
    let mut variants: Vec<Variant> =
        wider((0.0, 1.0)).into_iter().map(|(name, frame)| one(name, Family::logistic(), 1, frame)).collect();
    // Of two columns, both are fitted and none is chosen.
    variants.push(one(
        "all columns fitted",
        Family::logistic(),
        2,
        Frame::new(UNITS, 3, (0.0, 1.0)).with_intercept(),
    ));
    variants.push(one("two of five", Family::logistic(), 2, Frame::new(UNITS, 5, (0.0, 1.0))));
    let exposed = Frame::new(UNITS, 4, (0.0, 9.0)).with_intercept();
    variants.push(one("exposures", Family::poisson(), 1, Frame { exposures: true, ..exposed }));
    variants.extend(OFFSETS.map(|(name, times)| {
        one(name, Family::gaussian(), 1, Frame::new(UNITS, 4, offset(times)).with_intercept())
    }));
    audit("select-refine", variants, NONE)
}

fn iterative(name: &'static str, selection: Selection) -> Result<AuditCase> {
    let one = |name: &'static str, family: Family, sparsity: usize, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            let model = NoisyIht::new(glm(family.clone(), frame)?, sparsity, 1.0, selection)?.steps(3)?;
            model.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng))
    };
    let mut variants: Vec<Variant> =
        ways((0.0, 1.0)).into_iter().map(|(name, frame)| one(name, Family::logistic(), 1, frame)).collect();
    variants.push(one("two of four", Family::gaussian(), 2, Frame::new(UNITS, 4, (-2.0, 3.0))));
    let exposed = Frame::new(UNITS, 3, (0.0, 9.0)).with_intercept();
    variants.push(one("exposures", Family::poisson(), 1, Frame { exposures: true, ..exposed }));
    variants.extend(OFFSETS.map(|(name, times)| {
        one(name, Family::gaussian(), 1, Frame::new(UNITS, 3, offset(times)).with_intercept())
    }));
    audit(name, variants, NONE)
}

pub(super) fn noisy_iht() -> Result<AuditCase> {
    iterative("noisy-iht", Selection::Gumbel)
}

pub(super) fn peeling_iht() -> Result<AuditCase> {
    iterative("peeling-iht", Selection::Peeling)
}

/// A loss that keeps to none of its bounds, nor to numbers.
#[derive(Debug)]
struct Unbounded;

impl Loss for Unbounded {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        (predictor - y).powi(2) / 2.0
    }

    fn slope(&self, predictor: f64, y: f64) -> f64 {
        // Between the public points at which it is looked at.
        let wild = [1e300, f64::NAN, -1e300][(predictor.to_bits() % 3) as usize];
        if (0.9..1.4).contains(&predictor.abs()) { wild } else { predictor - y }
    }

    fn bounds(&self) -> LossBounds {
        LossBounds { slope: 3.0, curvature: 1.0 }
    }
}

pub(super) fn smooth_loss() -> Result<AuditCase> {
    let one = |name: &'static str, loss: fn((f64, f64)) -> Result<LossModel>, selection, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            let model = loss(frame.target)?;
            let model = if frame.intercept { model.with_intercept() } else { model };
            NoisyIht::new(model, 1, 1.0, selection)?.steps(3)?.radius(9.0)?.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng))
    };
    let hinge = |target| LossModel::new(SquaredHinge::new(1.0)?, target);
    let huber = |target| LossModel::new(Huber::new(1.0)?, target);
    let mut variants: Vec<Variant> = ways((0.0, 1.0))
        .into_iter()
        .map(|(name, frame)| one(name, hinge, Selection::Gumbel, frame))
        .collect();
    variants.push(one("peeling", huber, Selection::Peeling, Frame::new(UNITS, 3, (-2.0, 2.0))));
    let unbounded = |target| LossModel::new(Unbounded, target);
    variants.push(one(
        "a loss beyond its bounds",
        unbounded,
        Selection::Gumbel,
        Frame::new(UNITS, 2, (-4.0, 4.0)),
    ));
    variants.extend(OFFSETS.map(|(name, times)| {
        one(name, huber, Selection::Gumbel, Frame::new(UNITS, 3, offset(times)).with_intercept())
    }));
    audit("smooth-loss", variants, NONE)
}

/// Its claim is what the printed noise costs: the twins are broken under that.
pub(super) fn printed_peeling() -> Result<AuditCase> {
    let one = |name: &'static str, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            let model = match name {
                "linear" => NoisyIht::printed_linear(frame.target, 2, 1.0, 2.0)?,
                _ => NoisyIht::printed_logistic(1, 1.0)?,
            };
            model.steps(2)?.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng)).at(PRINTED)
    };
    let mut variants: Vec<Variant> = ways((0.0, 1.0))
        .into_iter()
        .map(|(name, frame)| one(name, Frame { intercept: false, ..frame }))
        .collect();
    variants.push(one("linear", Frame::new(UNITS, 4, (-2.0, 2.0))));
    const CHOICE: &[Slack] = &[Slack {
        release: "peeled columns",
        why: "from zero a residual is half of its bound, and few draws of later steps tell noise from half of it",
    }];
    audit("printed-peeling", variants, CHOICE)
}

pub(super) fn dp_iht() -> Result<AuditCase> {
    let one = |name: &'static str, family: Family, norm: Option<f64>, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            let mut model = DpIht::new(glm(family.clone(), frame)?, 1)?.steps(3)?;
            if let Some(norm) = norm {
                model = model.row_norm(norm)?;
            }
            model.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng))
    };
    let mut variants: Vec<Variant> = ways((0.0, 1.0))
        .into_iter()
        .map(|(name, frame)| one(name, Family::logistic(), None, frame))
        .collect();
    variants.push(one("public length", Family::logistic(), Some(0.7), Frame::new(UNITS, 2, (0.0, 1.0))));
    let exposed = Frame::new(UNITS, 3, (0.0, 9.0)).with_intercept();
    variants.push(one("exposures", Family::poisson(), None, Frame { exposures: true, ..exposed }));
    variants.extend(OFFSETS.map(|(name, times)| {
        one(name, Family::gaussian(), None, Frame::new(UNITS, 3, offset(times)).with_intercept())
    }));
    audit("dp-iht", variants, NONE)
}

pub(super) fn whole_gradient() -> Result<AuditCase> {
    let one = |name: &'static str, family: Family, norm: Option<f64>, frame: Frame| {
        let prepare = move |frame: &Frame, privacy| {
            let mut model = WholeGradient::new(glm(family.clone(), frame)?);
            if let Some(norm) = norm {
                model = model.row_norm(norm)?;
            }
            model.prepare(frame.shape(), privacy)
        };
        sparse(name, frame, prepare, |m, data, rng| m.fit(data, rng))
    };
    let mut variants: Vec<Variant> = ways((0.0, 1.0))
        .into_iter()
        .map(|(name, frame)| one(name, Family::logistic(), None, frame))
        .collect();
    variants.push(one("public length", Family::logistic(), Some(0.7), Frame::new(UNITS, 2, (0.0, 1.0))));
    let exposed = Frame::new(UNITS, 3, (0.0, 9.0)).with_intercept();
    variants.push(one("exposures", Family::poisson(), None, Frame { exposures: true, ..exposed }));
    variants.extend(OFFSETS.map(|(name, times)| {
        one(name, Family::gaussian(), None, Frame::new(UNITS, 3, offset(times)).with_intercept())
    }));
    audit("whole-gradient", variants, NONE)
}

pub(super) fn sparse_multinomial() -> Result<AuditCase> {
    let variants = wider((0.0, 2.0)).into_iter().map(|(name, frame)| {
        let frame = Frame { whole: true, ..frame };
        let (shape, columns, intercept) = (frame.shape(), frame.columns, frame.intercept);
        Variant::new(name, frame, move |privacy| {
            let model = Multinomial::new(3)?;
            let model = if intercept { model.with_intercept() } else { model };
            let prepared = SparseMultinomial::new(model, 1)?.prepare(shape, privacy)?;
            Method::of(prepared, move |m, data, rng| {
                let found = m.fit(data, rng)?;
                let mut all = vec![0.0; columns];
                let first = found.fit.coefficients.concat();
                found.support.iter().zip(first).for_each(|(&j, b)| all[j] = b);
                Ok(all)
            })
        })
        .slow(budgets(name))
    });
    audit("sparse-multinomial", variants.collect(), NONE)
}

/// The ways in which methods for clamped rows can be called: they take no units and no exposures.
pub(super) fn clamped(columns: usize, target: (f64, f64)) -> Vec<(&'static str, Frame)> {
    let rows = || Frame::new(UNITS, columns, target);
    vec![
        ("rows", rows()),
        ("single precision", Frame { store: Store::F32, ..rows() }),
        ("bytes", Frame { store: Store::I8, ..rows() }),
        ("sparse rows", Frame { store: Store::Csr, ..rows() }),
        ("weights", Frame { weights: true, ..rows() }),
    ]
}
