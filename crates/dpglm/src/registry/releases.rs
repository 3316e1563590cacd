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
//! is. Each must be caught at every kind of release that the claim leaves no room at ([`Slack`] names the others and why). In step 4 a
//! twin that also gives out the exact sum of the table must be caught.

use super::evidence::{draws_needed, draws_of_all, statistic};
use super::method::{DELTA, Variant};
use super::search::{Claims, Found, HALF, Kind, Worst, search};
use super::tables::{KINDS, Tables};
use super::{Attack, AuditCase, Run, Slack, Subject, Trial};
use crate::audit::Claim;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::noise::RandomSource;
use crate::numeric::fnv1a;
use crate::release::replay::{Compared, Output, Probe, Watch};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Pairs that a search draws, and pairs that it changes.
const PAIRS: (usize, usize) = (60, 180);
/// The same for the pair that all releases tell apart together.
const WHOLE: (usize, usize) = (40, 200);
/// Draws of one release on either side.
const FEWEST_DRAWS: f64 = 4_000.0;
const MOST_DRAWS: f64 = 100_000.0;
/// Draws of all releases together: no more than this.
const MOST_SEQUENCES: f64 = 12_000.0;
/// The epsilon at which all releases together tell the noise from half of it best.
const TOGETHER: f64 = 6.0;
/// The epsilon of whole fits.
const RESULT: f64 = 3.0;

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
        untried: untried(&variants)?,
    };
    let mut claims = Claims::default();
    let mut best: BTreeMap<Kind, Candidate> = BTreeMap::new();
    for variant in &variants {
        let seed = seed(&[name, variant.name]);
        let mut own: BTreeMap<Kind, Candidate> = BTreeMap::new();
        for &budget in variant.budgets {
            let method = variant.prepare(budget)?;
            let found = search(&method, &variant.frame, seed, PAIRS, false, &mut claims)?;
            for (kind, worst) in &found.worst {
                let draws = draws_needed(&worst.release, &worst.claim, HALF);
                let candidate = Candidate { variant: variant.name, draws, worst: worst.clone() };
                own.entry(*kind).and_modify(|c| c.better(&candidate)).or_insert(candidate);
            }
            note(&mut case.attacks, variant.name, &found);
        }
        for (kind, candidate) in own {
            let attacks = case.attacks.iter_mut();
            let attack = attacks.filter(|a| a.variant == variant.name && a.release == kind.0);
            attack.for_each(|attack| attack.told |= candidate.tells());
            if variant.far && candidate.tells() {
                add_release(&mut case, &candidate);
            }
            best.entry(kind).and_modify(|c| c.better(&candidate)).or_insert(candidate);
        }
    }
    best.values().for_each(|candidate| add_release(&mut case, candidate));
    if let Some(first) = variants.first() {
        add_whole(&mut case, first, seed(&[name]))?;
    }
    Ok(case)
}

/// The kinds of tables that the first way to call the estimator would take as well, and no other way tries.
fn untried(variants: &[Variant]) -> Result<Vec<&'static str>> {
    let Some(first) = variants.first() else { return Ok(Vec::new()) };
    let method = first.prepare((RESULT, DELTA))?;
    let mut untried = Vec::new();
    for (name, is_of, make) in KINDS {
        let frame = make(first.frame.clone());
        if variants.iter().any(|variant| is_of(&variant.frame)) || first.frame.bare && !is_of(&frame) {
            continue;
        }
        let data = Tables::new(&frame, 0).plain().table(&frame, false)?;
        if method.fit(Probe::default())(&data, &mut RandomSource::insecure_seeded(0)).is_ok() {
            untried.push(name);
        }
    }
    Ok(untried)
}

/// A release on its worst pair, in one way to call the estimator.
#[derive(Clone)]
struct Candidate {
    variant: &'static str,
    /// As many draws tell half the noise.
    draws: f64,
    worst: Worst,
}

impl Candidate {
    /// Takes the other's place if it needs fewer draws.
    fn better(&mut self, other: &Self) {
        if other.draws < self.draws {
            *self = other.clone();
        }
    }

    /// Draws on either side: more than needed, because thresholds that a pilot places are not the best ones.
    fn runs(&self) -> f64 {
        (2.0 * self.draws).max(FEWEST_DRAWS)
    }

    fn tells(&self) -> bool {
        self.runs() <= MOST_DRAWS && self.worst.release.can_be_drawn()
    }
}

/// Notes how far a search moved each kind of release.
fn note(attacks: &mut Vec<Attack>, variant: &'static str, found: &Found) {
    for ((release, _), &share) in &found.largest {
        let known = attacks.iter_mut().find(|a| a.variant == variant && a.release == *release);
        match known {
            Some(attack) => attack.share = attack.share.max(share),
            None => attacks.push(Attack { variant, release: (*release).into(), share, told: false }),
        }
    }
}

/// Step 2
fn add_release(case: &mut AuditCase, candidate: &Candidate) {
    let Worst { release, claim, .. } = &candidate.worst;
    if !release.can_be_drawn() {
        return;
    }
    let tells = candidate.tells();
    let trial = |broken: Probe| -> Trial {
        let (release, statistic) = (release.clone(), statistic(release));
        Trial {
            of: format!("{}, {}", release.what, candidate.variant),
            claim: claim.as_ref().clone(),
            runs: if tells { candidate.runs() as u64 } else { 10_000 },
            run: Box::new(move |side, rng| Ok(vec![statistic(&release.draw(&broken, side, rng)?)])),
            telling: true,
        }
    };
    case.honest.trials.push(trial(Probe::default()));
    if tells {
        for (twin, broken) in case.weakened.iter_mut().zip(twins()) {
            twin.trials.push(trial(broken));
        }
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
        let runs = (2.0 * draws_of_all(&releases, &claim, HALF)).clamp(FEWEST_DRAWS, MOST_SEQUENCES);
        let trial = |broken: Probe| -> Trial {
            Trial {
                of: "all releases".into(),
                claim: claim.clone(),
                runs: runs as u64,
                run: all_of(releases.clone(), broken),
                // A hundred releases may hide each other's faults; each kind of them must show alone.
                telling: false,
            }
        };
        case.honest.trials.push(trial(Probe::default()));
        for (twin, broken) in case.weakened.iter_mut().zip(twins()) {
            twin.trials.push(trial(broken));
        }
    }
    // Step 4
    let method = variant.prepare((RESULT, DELTA))?;
    let claim = Claim::of(&method.events)?;
    let output = |bare: bool| -> Result<Trial> {
        let fit = method.fit(Probe::default());
        let frame = &variant.frame;
        let pair = if bare { &Tables::new(frame, seed).plain() } else { &found.pair };
        let tables = [pair.table(frame, false)?, pair.table(frame, true)?];
        Ok(Trial {
            of: "result".into(),
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
            let mut session = calibration.open(rng);
            while let Some(release) = releases.get(at).filter(|r| r.shares_session_with(first)) {
                sum += statistics[at](&release.draw_from(&mut session, side)?);
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
        attack.told = true;
    });
    Ok(())
}

/// A seed from names, so that no seed is ever chosen by its result.
pub(super) fn seed(parts: &[&str]) -> u64 {
    fnv1a(parts.iter().flat_map(|part| part.bytes()))
}
