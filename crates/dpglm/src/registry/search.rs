//! The search for the neighbours that a release tells apart best.
//!
//! Graded and random pairs first. Then, again and again, the release whose worst pair reaches least has that pair changed a little, and the
//! change is kept where some release is told apart better. Every pair is run through the whole estimator, recorded
//! and replayed, so all releases profit from every pair.

use super::evidence::{draws_needed, together, total_variation};
use super::method::Method;
use super::tables::{Frame, Neighbours, Tables};
use crate::audit::Claim;
use crate::error::Result;
use crate::privacy::{Event, Noise};
use crate::release::replay::{Compared, Input, Probe};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A kind of release: its name and its stage.
pub(super) type Kind = (&'static str, u8);

/// The pair that tells most about a kind of release.
#[derive(Clone)]
pub(super) struct Worst {
    pub release: Compared,
    pub claim: Rc<Claim>,
    pair: Neighbours,
    seed: u64,
    reached: f64,
}

/// What a search found.
pub(super) struct Found {
    pub worst: BTreeMap<Kind, Worst>,
    /// The largest difference of two inputs in units of the claimed sensitivity, for each kind of release.
    pub largest: BTreeMap<Kind, f64>,
    /// The pair whose releases tell most together.
    pub pair: Neighbours,
    seed: u64,
    pub releases: Vec<Compared>,
    pub compared: usize,
}

/// The claims of single releases: computed once for all ways to call an estimator.
#[derive(Default)]
pub(super) struct Claims(Vec<(Noise, u64, Rc<Claim>)>);

impl Claims {
    fn of(&mut self, event: &Event) -> Result<Rc<Claim>> {
        let known =
            self.0.iter().find(|(noise, count, _)| (*noise, *count) == (event.noise(), event.count()));
        if let Some((.., claim)) = known {
            return Ok(claim.clone());
        }
        let claim = Rc::new(Claim::of(std::slice::from_ref(event))?);
        self.0.push((event.noise(), event.count(), claim.clone()));
        Ok(claim)
    }
}

/// Half the noise, or half the sensitivity: what a search prepares to find.
pub(super) const HALF: f64 = 0.5;

/// A pair that reaches this much of a claim need not be bettered.
const ENOUGH: f64 = 0.95;
/// As many changes in vain end a search.
const PATIENCE: usize = 60;
/// As few draws as these are few enough.
const FEW_DRAWS: f64 = 4_000.0;

/// Runs `random` pairs, and up to as many changed ones as `changed` says. `whole` looks for the pair that all releases together
/// tell apart best, in place of one pair for each.
pub(super) fn search(
    method: &Method,
    frame: &Frame,
    seed: u64,
    (random, changed): (usize, usize),
    whole: bool,
    claims: &mut Claims,
) -> Result<Found> {
    let mut tables = Tables::new(frame, seed);
    let pair = tables.neighbours();
    let mut found = Found {
        worst: BTreeMap::new(),
        largest: BTreeMap::new(),
        pair: pair.clone(),
        seed: 0,
        releases: Vec::new(),
        compared: 0,
    };
    found.try_pair(method, frame, pair, tables.seed(), claims)?;
    for pair in tables.graded() {
        found.try_pair(method, frame, pair, tables.seed(), claims)?;
    }
    for _ in 1..random {
        let pair = tables.neighbours();
        found.try_pair(method, frame, pair, tables.seed(), claims)?;
    }
    let mut best_round = 0;
    for round in 0..changed {
        if round > best_round + PATIENCE {
            break;
        }
        let least = found.worst.values().min_by(|a, b| a.reached.total_cmp(&b.reached));
        let (pair, seed) = match least {
            _ if whole => (&found.pair, found.seed),
            Some(worst) if worst.reached < ENOUGH => (&worst.pair, worst.seed),
            _ => break,
        };
        // The past is changed too now and then: another iterate may suit the pair better.
        let seed = if round % 4 == 0 { tables.seed() } else { seed };
        let pair = pair.changed(&mut tables);
        if found.try_pair(method, frame, pair, seed, claims)? {
            best_round = round;
        }
    }
    Ok(found)
}

impl Found {
    /// Whether something was told apart better.
    fn try_pair(
        &mut self,
        method: &Method,
        frame: &Frame,
        pair: Neighbours,
        seed: u64,
        claims: &mut Claims,
    ) -> Result<bool> {
        let mut better = false;
        let releases = method.compare(frame, &pair, seed, Probe::default())?;
        self.compared += releases.len();
        for release in &releases {
            let kind = (release.what, release.stage);
            let largest = self.largest.entry(kind).or_insert(0.0);
            *largest = largest.max(release.share);
            let known = self.worst.get(&kind);
            if known.is_some_and(|worst| worst.reached >= 1.0) {
                continue;
            }
            let claim = claims.of(&release.claim()?)?;
            let reached = reached(release, &claim);
            if known.is_none_or(|worst| reached > worst.reached) {
                let (release, pair) = (release.clone(), pair.clone());
                self.worst.insert(kind, Worst { release, claim, pair, seed, reached });
                better = true;
            }
        }
        if together(&releases) > together(&self.releases) {
            (self.pair, self.seed, self.releases) = (pair, seed, releases);
            better = true;
        }
        Ok(better)
    }
}

/// How well a release tells its two inputs apart, as a share of what its claim allows; comparable among inputs of one release.
fn reached(release: &Compared, claim: &Claim) -> f64 {
    match release.inputs[0] {
        Input::Vector { .. } | Input::Each { .. } | Input::Fixed { .. } => release.share,
        // A choice may move all scores alike and show nothing: what counts is how likely the telling results are.
        _ => {
            let draws = draws_needed(release, claim, HALF);
            match draws.is_finite() {
                true => 0.5 + 0.5 * (FEW_DRAWS / draws).min(1.0),
                false => 0.5 * total_variation(release),
            }
        }
    }
}
