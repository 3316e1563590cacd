//! The audit of an estimator, release by release.
//!
//! # Algorithm
//! For every way to call the estimator ([`Variant`]):
//! 1. The pair of neighbours that each kind of release tells apart best, by [`search`]; no pair may move a release by more than
//!    its claimed sensitivity.
//! 2. That release is made again on both inputs through the session that a fit uses, as often as it takes, and the most telling
//!    statistic is held against the claim of this release alone.
//! 3. All releases of one run are made again together, and the sum of their statistics is held against the composed claim.
//! 4. The result of whole fits on that pair is held against the composed claim.
//!
//! Steps 2 and 3 are repeated on twins of the session: one adds half the noise, one takes every sensitivity for half of what it
//! is. Each must be caught at every kind of release, in one way to call the estimator at least ([`Slack`] names releases whose claim has
//! room to spare, and why). In step 4 a twin that also gives out the exact sum of the table must be caught.

use super::evidence::{draws_needed, statistic};
use super::method::{DELTA, Variant};
use super::search::{Claims, Found, HALF, Kind, Worst, search};
use super::tables::Tables;
use super::{Attack, AuditCase, Run, Slack, Subject, Trial};
use crate::audit::Claim;
use crate::central::purse::replay::{Compared, Output, Probe, Watch};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::noise::RandomSource;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Pairs that a search draws, and pairs that it changes.
const PAIRS: (usize, usize) = (60, 180);
/// The same for the pair that all releases tell apart together.
const WHOLE: (usize, usize) = (40, 80);
/// Draws of one release on either side.
const FEWEST_DRAWS: f64 = 4_000.0;
const MOST_DRAWS: f64 = 100_000.0;
/// Draws of all releases together.
const SEQUENCES: u64 = 12_000;
/// The epsilon at which all releases together tell the noise from half of it best.
const TOGETHER: f64 = 3.0;

/// The twins of a session that must be caught.
fn twins() -> [Probe; 2] {
    [Probe::broken(HALF, 1.0), Probe::broken(1.0, HALF)]
}

/// The audit of an estimator called in these ways. The first is also audited as a whole.
pub(super) fn audit(
    name: &'static str,
    variants: Vec<Variant>,
    slack: &'static [Slack],
) -> Result<AuditCase> {
    let mut case = AuditCase {
        honest: Subject { name, trials: Vec::new() },
        weakened: vec![
            Subject { name: "noise halved", trials: Vec::new() },
            Subject { name: "sensitivity too small by 2", trials: Vec::new() },
        ],
        attacks: Vec::new(),
        slack: slack.to_vec(),
    };
    let mut claims = Claims::default();
    for (place, variant) in variants.iter().enumerate() {
        let seed = seed(&[name, variant.name]);
        let mut best: BTreeMap<Kind, (f64, Worst)> = BTreeMap::new();
        for &budget in variant.budgets {
            let method = variant.prepare(budget)?;
            let found = search(&method, &variant.frame, seed, PAIRS, false, &mut claims)?;
            for (kind, worst) in &found.worst {
                let draws = draws_needed(&worst.release, &worst.claim, HALF);
                if best.get(kind).is_none_or(|(fewest, _)| draws < *fewest) {
                    best.insert(kind.clone(), (draws, worst.clone()));
                }
            }
            note(&mut case.attacks, variant.name, &found);
        }
        for (draws, worst) in best.into_values() {
            add_release(&mut case, variant.name, draws, worst);
        }
        if place == 0 {
            add_whole(&mut case, variant, seed)?;
        }
    }
    Ok(case)
}

/// Notes how far a search moved each kind of release.
fn note(attacks: &mut Vec<Attack>, variant: &'static str, found: &Found) {
    for ((release, _), &share) in &found.largest {
        let known = attacks.iter_mut().find(|a| a.variant == variant && a.release == *release);
        match known {
            Some(attack) => attack.share = attack.share.max(share),
            None => attacks.push(Attack { variant, release: release.clone(), share, untold: false }),
        }
    }
}

/// Step 2
fn add_release(case: &mut AuditCase, variant: &'static str, draws: f64, worst: Worst) {
    let Worst { release, claim, .. } = worst;
    let release = Rc::new(release);
    // Thresholds that a pilot places are not the best ones.
    let draws = (2.0 * draws).max(FEWEST_DRAWS);
    let telling = draws <= MOST_DRAWS;
    let trial = |broken: Probe| -> Trial {
        let (release, statistic) = (release.clone(), statistic(&release));
        Trial {
            of: format!("{}, {variant}", release.what),
            release: Some(release.what.clone()),
            claim: claim.as_ref().clone(),
            runs: if telling { draws as u64 } else { 10_000 },
            run: Box::new(move |side, rng| Ok(vec![statistic(&release.draw(&broken, side, rng)?)])),
            telling: false,
        }
    };
    let drawn = release.can_be_drawn();
    if drawn {
        case.honest.trials.push(trial(Probe::default()));
    }
    for (twin, broken) in case.weakened.iter_mut().zip(twins()) {
        if drawn && telling {
            twin.trials.push(trial(broken));
        }
    }
    if !(drawn && telling) {
        let attacks = case.attacks.iter_mut();
        attacks.filter(|a| a.variant == variant && a.release == release.what).for_each(|a| a.untold = true);
    }
}

/// Steps 3 and 4
fn add_whole(case: &mut AuditCase, variant: &Variant, seed: u64) -> Result<()> {
    let method = variant.prepare((TOGETHER, DELTA))?;
    let found = search(&method, &variant.frame, seed, WHOLE, true, &mut Claims::default())?;
    let claim = Claim::of(&method.events)?;
    let releases = Rc::new(found.releases);
    if releases.iter().all(Compared::can_be_drawn) {
        let claim = match method.loose {
            false => claim.clone(),
            true => Claim::of(&releases.iter().map(Compared::claim).collect::<Result<Vec<_>>>()?)?,
        };
        let trial = |broken: Probe| -> Trial {
            Trial {
                of: "all releases".into(),
                release: None,
                claim: claim.clone(),
                runs: SEQUENCES,
                run: all_of(releases.clone(), broken),
                telling: false,
            }
        };
        case.honest.trials.push(trial(Probe::default()));
        for (twin, broken) in case.weakened.iter_mut().zip(twins()) {
            twin.trials.push(trial(broken));
        }
    }
    let output = |bare: bool| -> Result<Trial> {
        let fit = method.fit(Probe::default());
        let frame = &variant.frame;
        let pair = if bare { &Tables::new(frame, seed).plain() } else { &found.pair };
        let tables = [pair.table(frame, false)?, pair.table(frame, true)?];
        Ok(Trial {
            of: "result".into(),
            release: None,
            claim: claim.clone(),
            runs: variant.fits,
            run: Box::new(move |side, rng| {
                let data = &tables[usize::from(side)];
                let mut result = fit(data, rng)?;
                result.push(result.iter().sum());
                if bare {
                    result.push(total(data));
                }
                Ok(result)
            }),
            telling: true,
        })
    };
    case.honest.trials.push(output(false)?);
    case.weakened.push(Subject { name: "sum of the table without noise", trials: vec![output(true)?] });
    Ok(())
}

/// All releases of one run, in one session each time.
fn all_of(releases: Rc<Vec<Compared>>, broken: Probe) -> Run {
    let statistics: Vec<_> = releases.iter().map(statistic).collect();
    Box::new(move |side, rng| {
        let mut sum = 0.0;
        let mut at = 0;
        while let Some(first) = releases.get(at) {
            // A run may open several sessions, one after the other.
            let calibration = first.calibration().as_ref().clone().probed(broken.clone());
            let mut purse = calibration.open(rng);
            while let Some(release) = releases.get(at).filter(|r| r.shares_session_with(first)) {
                sum += statistics[at](&release.draw_from(&mut purse, side)?);
                at += 1;
            }
        }
        Ok(vec![sum])
    })
}

/// What a fit must never show: the sum of everything in the table, cut to a usual size.
fn total(data: &Dataset) -> f64 {
    let usual = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(-1e15, 1e15) };
    let design = data.design();
    let entries: f64 = (0..design.rows()).flat_map(|row| design.row(row)).map(usual).sum();
    entries + data.response().iter().map(|&y| usual(y)).sum::<f64>()
}

/// A release that its estimator makes with noise of its own: every draw is a fit, with all that was released before played back.
pub(super) struct Fixed {
    /// Its name.
    pub release: &'static str,
    /// At which budget, and in how many fits on either side, half the noise shows.
    pub budget: (f64, f64),
    pub runs: u64,
    /// The table and its neighbour.
    pub tables: [Dataset; 2],
    /// What tells them apart.
    pub statistic: fn(&[f64]) -> f64,
}

/// Adds the trials of a fixed release.
pub(super) fn add_fixed(case: &mut AuditCase, variant: &Variant, fixed: &Fixed) -> Result<()> {
    let method = variant.prepare(fixed.budget)?;
    let watch = Watch::recording();
    let rng = &mut RandomSource::insecure_seeded(seed(&[fixed.release]));
    method.fit(Probe::default().watched(&watch))(&fixed.tables[0], rng)?;
    let recorded = Arc::new(watch.recorded());
    let Some(place) = recorded.iter().position(|release| release.what == fixed.release) else {
        return Err(Error::Conflict(format!("the {} is not released", fixed.release)));
    };
    let claims = method.events.iter().filter(|event| event.release() == fixed.release);
    let claim = Claim::of(&claims.cloned().collect::<Vec<_>>())?;
    let trial = |broken: Probe| -> Trial {
        let watch = Watch::playing(recorded.clone(), place);
        let fit = method.fit(broken.watched(&watch));
        let (tables, statistic) = (fixed.tables.clone(), fixed.statistic);
        Trial {
            of: format!("{}, {}", fixed.release, variant.name),
            release: Some(fixed.release.into()),
            claim: claim.clone(),
            runs: fixed.runs,
            run: Box::new(move |side, rng| {
                fit(&tables[usize::from(side)], rng)?;
                Ok(match watch.recorded().first().map(|release| &release.output) {
                    Some(Output::Vector(released)) => vec![statistic(released)],
                    _ => Vec::new(),
                })
            }),
            telling: true,
        }
    };
    case.honest.trials.push(trial(Probe::default()));
    for (twin, broken) in case.weakened.iter_mut().zip(twins()) {
        twin.trials.push(trial(broken));
    }
    case.attacks.iter_mut().filter(|attack| attack.release == fixed.release).for_each(|attack| {
        attack.untold = false;
    });
    Ok(())
}

/// A seed from names, so that no seed is ever chosen by its result.
pub(super) fn seed(parts: &[&str]) -> u64 {
    parts.iter().flat_map(|part| part.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
