//! Audits of what users' devices release about a label, and of what a server makes of it.
//!
//! The neighbours are one user's record with two labels as far apart as the mechanism lets them be, or farther. A server's estimate is
//! audited on studies of three users, each with a column of their own: there one report decides one coefficient.

use super::{AuditCase, RUNS, Run, Subject};
use crate::data::Design;
use crate::error::Result;
use crate::families::Family;
use crate::local::{
    JointStatistics, LabelIht, LabelLasso, LabelNoise, RandomizedResponse, ThresholdBit, ThresholdIht,
    ThresholdReport,
};
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, Noise};
use std::rc::Rc;

/// Releases something about one real label and gives statistics of it.
type Device = Rc<dyn Fn(f64, &mut RandomSource) -> Result<Vec<f64>>>;

/// A server's estimates cost more than reports.
const FITS: u64 = 10_000;

/// Far outside every declared interval, at its ends, and not a number.
const LABELS: [[f64; 2]; 3] = [[-1e9, 1e9], [-1.0, 1.0], [f64::NAN, 1.0]];

fn pairs(device: &Device) -> Vec<Run> {
    LABELS
        .into_iter()
        .map(|labels| -> Run {
            let device = device.clone();
            Box::new(move |side, rng| device(labels[usize::from(side)], rng))
        })
        .collect()
}

fn case(
    name: &'static str,
    runs: u64,
    claim: &[Event],
    honest: Device,
    weakened: Vec<(&'static str, Device)>,
) -> Result<AuditCase> {
    let subject = |(name, device): (&'static str, Device)| Subject::of(name, claim, runs, pairs(&device));
    let weakened = weakened.into_iter().map(subject).collect::<Result<_>>()?;
    Ok(AuditCase::of(subject((name, honest))?, weakened))
}

/// Three levels, and a label off the list.
pub(super) fn randomized_response() -> Result<AuditCase> {
    let honest = RandomizedResponse::new(3, 1.0)?;
    let pairs = |response: RandomizedResponse, unchecked: bool| -> Vec<Run> {
        [[0, 1], [1, 2], [77, 1]]
            .into_iter()
            .map(|labels| -> Run {
                let response = response.clone();
                Box::new(move |side, rng| {
                    let label = labels[usize::from(side)];
                    let report = if unchecked && label >= 3 { label } else { response.randomize(label, rng) };
                    Ok([0, 1, 2, 77].map(|level| f64::from(u8::from(report == level))).to_vec())
                })
            })
            .collect()
    };
    let claim = honest.events()?;
    Ok(AuditCase::of(
        Subject::of("randomized-response", &claim, RUNS, pairs(honest.clone(), false))?,
        vec![
            Subject::of(
                "other levels too rare",
                &claim,
                RUNS,
                pairs(RandomizedResponse::new(3, 1.5)?, false),
            )?,
            Subject::of("labels not checked", &claim, RUNS, pairs(honest, true))?,
        ],
    ))
}

pub(super) fn threshold_bit() -> Result<AuditCase> {
    // The bit, the threshold, and the bit where the threshold is low or high.
    let statistics = |bit: &ThresholdBit, report: ThresholdReport| {
        let sign = if report.above { 1.0 } else { -1.0 };
        let threshold = bit.threshold(&report);
        vec![
            sign,
            threshold,
            sign * f64::from(u8::from(threshold > 0.0)),
            sign * f64::from(u8::from(threshold < 0.0)),
        ]
    };
    let device = |epsilon: f64| -> Result<Device> {
        let bit = ThresholdBit::new((-1.0, 1.0), epsilon)?;
        Ok(Rc::new(move |label, rng| Ok(statistics(&bit, bit.randomize(label, rng)))))
    };
    let bit = ThresholdBit::new((-1.0, 1.0), 1.0)?;
    let claim = bit.events()?;
    let near: Device = {
        let bit = bit.clone();
        Rc::new(move |label, rng| {
            // A threshold that follows the label gives it away, however the bit is flipped.
            let mut report = bit.randomize(label, rng);
            report.threshold = report.threshold / 2 + if label > 0.0 { 1 << 31 } else { 0 };
            Ok(statistics(&bit, report))
        })
    };
    let twins = vec![("flips too rare", device(1.5)?), ("threshold drawn near the label", near)];
    case("threshold-bit", RUNS, &claim, device(1.0)?, twins)
}

fn noise_device(noise: LabelNoise) -> Device {
    Rc::new(move |label, rng| Ok(vec![noise.randomize(label, rng)?]))
}

/// Labels clamped as declared, with the noise of an interval that may be shorter.
fn with_noise_of(noise: LabelNoise) -> Device {
    Rc::new(move |label: f64, rng: &mut RandomSource| {
        let label = if label.is_nan() { 0.0 } else { label.clamp(-1.0, 1.0) };
        Ok(vec![label + noise.randomize(0.0, rng)?])
    })
}

pub(super) fn label_laplace() -> Result<AuditCase> {
    let honest = LabelNoise::laplace((-1.0, 1.0), 1.0)?;
    // The same noise, made for an interval a hundred times as long: labels beyond the declared one show.
    let unclipped = LabelNoise::laplace((-100.0, 100.0), 100.0)?;
    let twins = vec![
        ("noise halved", noise_device(LabelNoise::laplace((-1.0, 1.0), 2.0)?)),
        ("sensitivity too small by 2", with_noise_of(LabelNoise::laplace((-0.5, 0.5), 1.0)?)),
        ("clipping removed", noise_device(unclipped)),
    ];
    case("label-laplace", RUNS, &honest.events(), noise_device(honest), twins)
}

pub(super) fn label_gaussian() -> Result<AuditCase> {
    let budget = Budget::new(1.0, 1e-3)?;
    let honest = LabelNoise::gaussian((-1.0, 1.0), budget)?;
    // Gaussian noise is proportional to the length of the interval: half of the noise, and half of the sensitivity, are
    // those of half the interval.
    let twins = vec![
        ("noise halved", with_noise_of(LabelNoise::gaussian((-0.5, 0.5), budget)?)),
        ("sensitivity too small by 2", with_noise_of(LabelNoise::gaussian((0.0, 1.0), budget)?)),
        (
            "noise of the paper for errors of a tenth",
            with_noise_of(LabelNoise::gaussian((-0.1, 0.1), budget)?),
        ),
    ];
    case("label-gaussian", RUNS, &honest.events(), noise_device(honest), twins)
}

/// Two records at the angle where the sensitivity is attained; and two huge ones.
pub(super) fn joint_statistics() -> Result<AuditCase> {
    const SIGMA: f64 = 2.0;
    const COSINE: f64 = -0.5;
    let build =
        |radius: f64, labels: (f64, f64), sigma: f64| JointStatistics::new(2, radius, labels, 1.0, sigma);
    let pairs = |s: JointStatistics| -> Vec<Run> {
        let angle: [([f64; 2], f64); 2] =
            [([1.0, 0.0], 1.0), ([COSINE, (1.0 - COSINE * COSINE).sqrt()], 1.0)];
        let huge = [([1e9, 0.0], 1e9), ([0.0, 1e9], -1e9)];
        [angle, huge]
            .into_iter()
            .map(|records| -> Run {
                let s = s.clone();
                // The difference of the two records' vectors: where their laws differ.
                let [(a, _), (b, _)] = records;
                let length = |x: [f64; 2]| x[0].hypot(x[1]);
                let (a, b) = (a.map(|v| v / length(a)), b.map(|v| v / length(b)));
                let (ya, yb) = (records[0].1.signum(), records[1].1.signum());
                let direction = [
                    a[0] * a[0] - b[0] * b[0],
                    2f64.sqrt() * (a[0] * a[1] - b[0] * b[1]),
                    a[1] * a[1] - b[1] * b[1],
                    a[0] * ya - b[0] * yb,
                    a[1] * ya - b[1] * yb,
                ];
                Box::new(move |side, rng| {
                    let (x, y) = records[usize::from(side)];
                    let mut output = s.randomize(&x, y, rng)?.value;
                    output.push(output.iter().zip(&direction).map(|(o, d)| o * d).sum());
                    Ok(output)
                })
            })
            .collect()
    };
    // a = w^2 ymax^2 / r^2 = 1, so the cosine -a/2 is the worst.
    let honest = build(1.0, (-1.0, 1.0), SIGMA)?;
    let claim = honest.events();
    let misjudged = build(1.0, (-0.25, 0.25), SIGMA)?.events();
    Ok(AuditCase::of(
        Subject::of("joint-statistics", &claim, RUNS, pairs(honest.clone()))?,
        vec![
            Subject::of("noise halved", &claim, RUNS, pairs(build(1.0, (-1.0, 1.0), SIGMA / 2.0)?))?,
            Subject::of("clipping removed", &claim, RUNS, pairs(build(1e3, (-1e3, 1e3), SIGMA)?))?,
            Subject::of("sensitivity for a quarter of the labels", &misjudged, RUNS, pairs(honest))?,
        ],
    ))
}

/// Three users with a column each; the first one's label is the one that changes.
fn study() -> Result<Design> {
    Design::from_f64(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
}

/// A server's estimate from labels with Laplace noise of a known deviation.
fn from_noisy_labels(
    name: &'static str,
    fit: fn(&Design, f64, &[f64]) -> Result<Vec<f64>>,
) -> Result<AuditCase> {
    let design = Rc::new(study()?);
    // Each label as a device would report it, or clamped as declared with the noise of a shorter interval.
    let device = |noise: LabelNoise, apart: bool| -> Device {
        let (design, deviation) = (design.clone(), noise.deviation());
        let report = if apart { with_noise_of(noise) } else { noise_device(noise) };
        Rc::new(move |label, rng| {
            let labels = [label, 0.5, -0.5].map(|y| report(y, rng));
            let labels: Vec<Vec<f64>> = labels.into_iter().collect::<Result<_>>()?;
            fit(&design, deviation, &labels.concat())
        })
    };
    let honest = LabelNoise::laplace((-1.0, 1.0), 2.0)?;
    let Some(Noise::Laplace { scale, .. }) = honest.events().first().map(Event::noise) else {
        unreachable!("Laplace noise")
    };
    let twins = vec![
        ("noise halved", device(LabelNoise::laplace((-1.0, 1.0), 4.0)?, false)),
        ("sensitivity too small by 2", device(LabelNoise::laplace((-0.5, 0.5), 2.0)?, true)),
        ("clipping removed", device(LabelNoise::laplace((-100.0, 100.0), 200.0 / scale)?, false)),
    ];
    case(name, FITS, &honest.events(), device(honest, false), twins)
}

pub(super) fn label_iht() -> Result<AuditCase> {
    from_noisy_labels("label-iht", |design, _, labels| {
        LabelIht::new(Family::gaussian(), 2)?.fit(design, labels)
    })
}

pub(super) fn label_lasso() -> Result<AuditCase> {
    // A tenth of the usual penalty: three users' labels would all be taken for noise.
    from_noisy_labels("label-lasso", |design, deviation, labels| {
        LabelLasso::for_noise(0.1 * deviation, 3, 3)?.fit(design, labels)
    })
}

pub(super) fn threshold_iht() -> Result<AuditCase> {
    let design = Rc::new(study()?);
    let device = |epsilon: f64, unflipped: bool| -> Result<Device> {
        let (design, bit) = (design.clone(), ThresholdBit::new((-1.0, 1.0), epsilon)?);
        let model = ThresholdIht::new(Family::gaussian(), 3)?;
        Ok(Rc::new(move |label, rng| {
            let mut reports = [label, 0.5, -0.5].map(|y| bit.randomize(y, rng));
            if unflipped {
                reports[0].above = bit.threshold(&reports[0]) < label;
            }
            model.fit(&design, &bit, &reports)
        }))
    };
    let claim = ThresholdBit::new((-1.0, 1.0), 2.0)?.events()?;
    let twins = vec![("epsilon doubled", device(4.0, false)?), ("one bit not flipped", device(2.0, true)?)];
    case("threshold-iht", FITS, &claim, device(2.0, false)?, twins)
}
