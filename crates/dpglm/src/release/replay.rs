//! Records a run of an estimator and replays it on a neighbouring table: for audits, out of reach of a fit.
//!
//! # Why
//! The accountant assumes of each release: *given everything that was released before*, replacing one unit moves what is about to be
//! released by at most the stated sensitivity. Two independent runs cannot show that, because they already differ in
//! what they released before.
//!
//! # Algorithm
//! 1. The estimator runs on a table. Its session keeps the exact [`Input`] of every mechanism and the [`Output`] that left.
//! 2. It runs on a neighbour. Its session plays the outputs back in place of drawing them, so both runs share all that was
//!    released before each release.
//! 3. The two inputs of each release are compared with the stated sensitivity ([`Input::share`]). Whatever else the mechanism
//!    takes (a sensitivity, candidates, a length) must be the same on both sides: noise that follows the rows is a leak too.
//! 4. Each release can be made again on either input, through the session, as often as wanted ([`Compared::draw`]): no fit
//!    has to be repeated to look at its noise.
//!
//! # Out of reach of a fit
//! A session is watched only if its calibration carries a [`Probe`], which nothing outside this crate can attach. A watched or
//! broken session closes with a certificate that promises nothing.

use super::{CalibratedPlan, Handle, ReleaseSession};
use crate::error::{Error, Result};
use crate::mechanisms::{PrivateQuantile, Tally};
use crate::noise::RandomSource;
use crate::privacy::Event;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an audit does to a session: breaks it on purpose, or watches it. By default neither.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    /// What all noise is multiplied by, under an unchanged claim.
    pub noise: f64,
    /// What every stated sensitivity is multiplied by, under an unchanged claim.
    pub sensitivity: f64,
    watch: Option<Watch>,
}

impl Default for Probe {
    fn default() -> Self {
        Self { noise: 1.0, sensitivity: 1.0, watch: None }
    }
}

impl Probe {
    /// Noise, and every stated sensitivity, multiplied by a share.
    pub(crate) fn broken(noise: f64, sensitivity: f64) -> Self {
        Self { noise, sensitivity, watch: None }
    }

    /// The same, watched.
    pub(crate) fn watched(self, watch: &Watch) -> Self {
        Self { watch: Some(watch.clone()), ..self }
    }

    /// The same fault without the watch.
    pub(super) fn unwatched(&self) -> Self {
        Self { watch: None, ..*self }
    }

    pub(super) fn watch(&self) -> Option<Watch> {
        self.watch.clone()
    }

    /// Whether results are those of an honest session.
    pub(super) fn is_absent(&self) -> bool {
        self.watch.is_none() && self.noise == 1.0 && self.sensitivity == 1.0
    }
}

/// What a mechanism is given before its noise. Exact private values.
#[derive(Clone, PartialEq)]
pub(crate) enum Input {
    /// A vector of this l2 sensitivity.
    Vector { values: Vec<f64>, sensitivity: f64 },
    /// One number per unit.
    Quantile { tally: Tally, q: f64 },
    /// Scores of which the `count` largest are chosen at once.
    Top { scores: Vec<f64>, count: usize, sensitivity: f64 },
    /// Scores of which one is chosen; a unit changes them by amounts within an interval of this length.
    Choice { scores: Vec<f64>, range: f64 },
    /// Scores of which the `count` largest are chosen one after the other.
    Peel { scores: Vec<f64>, count: usize, sensitivity: f64 },
    /// Numbers of this sensitivity each.
    Each { values: Vec<f64>, sensitivity: f64 },
    /// How many units fall into each bin, of so many.
    Fullest { counts: BTreeMap<u64, u64>, bins: u64 },
    /// What the noise of a fixed release hides, given what was released, with its l2 sensitivity.
    Fixed { hidden: Vec<f64>, sensitivity: f64 },
    /// Nothing: coins that both runs share, and that do not leave.
    Coins,
}

/// What left.
#[derive(Clone, PartialEq)]
pub(crate) enum Output {
    Vector(Vec<f64>),
    Number(f64),
    Indices(Vec<usize>),
    Bin(u64),
}

/// One release of a recorded run.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub what: &'static str,
    pub stage: u8,
    pub input: Input,
    pub output: Output,
    calibration: Arc<CalibratedPlan>,
}

/// One release on two neighbouring tables, given everything that was released before.
#[derive(Clone)]
pub(crate) struct Compared {
    pub what: &'static str,
    pub stage: u8,
    /// On the table and on its neighbour.
    pub inputs: [Input; 2],
    /// How far the inputs are apart, as a share of the stated sensitivity. Above 1 the claim is refuted.
    pub share: f64,
    calibration: Arc<CalibratedPlan>,
}

/// Shapes only: inputs are private values.
impl fmt::Debug for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compared({}, stage {}, share {})", self.what, self.stage, self.share)
    }
}

/// A watch on the sessions of one run.
#[derive(Clone)]
pub(crate) struct Watch(Arc<Mutex<Replay>>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// What has been recorded, and how far it has been played back.
struct Replay {
    recorded: Arc<Vec<Recorded>>,
    /// This many releases are played back; later ones are drawn.
    played: usize,
    place: usize,
    /// In a whole replay inputs are compared, and no release may be left over or missing.
    compared: Option<Vec<Compared>>,
    kept: Vec<Recorded>,
}

impl Watch {
    /// Keeps what is released.
    pub(crate) fn recording() -> Self {
        Self::playing(Arc::default(), 0)
    }

    /// Plays the first releases of a recorded run back, and keeps those after them.
    pub(crate) fn playing(recorded: Arc<Vec<Recorded>>, played: usize) -> Self {
        Self(Arc::new(Mutex::new(Replay { recorded, played, place: 0, compared: None, kept: Vec::new() })))
    }

    fn comparing(recorded: Vec<Recorded>) -> Self {
        let played = recorded.len();
        let watch = Self::playing(Arc::new(recorded), played);
        watch.replay().compared = Some(Vec::with_capacity(played));
        watch
    }

    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The releases that were drawn since the watch began, or since it was asked last; the next run begins anew.
    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        let mut replay = self.replay();
        replay.place = 0;
        std::mem::take(&mut replay.kept)
    }

    /// The comparison of a whole replay.
    fn compared(&self) -> Result<Vec<Compared>> {
        let mut replay = self.replay();
        if replay.place != replay.played {
            return Err(different("the neighbour's run released less"));
        }
        Ok(replay.compared.take().unwrap_or_default())
    }

    /// What is played back in place of this release; `None` if it is to be drawn. `input` may depend on what is released.
    pub(super) fn play(
        &self,
        what: &'static str,
        stage: u8,
        input: &impl Fn(&Output) -> Input,
    ) -> Result<Option<Output>> {
        let mut replay = self.replay();
        let place = replay.place;
        replay.place += 1;
        let recorded = replay.recorded.clone();
        let Some(recorded) = recorded.get(place).filter(|_| place < replay.played) else {
            return match replay.compared {
                Some(_) => Err(different("the neighbour's run released more")),
                None => Ok(None),
            };
        };
        if (recorded.what, recorded.stage) != (what, stage) {
            return Err(different("the two runs released different things"));
        }
        if let Some(compared) = &mut replay.compared
            && recorded.input != Input::Coins
        {
            let input = input(&recorded.output);
            compared.push(Compared {
                what,
                stage,
                share: recorded.input.share(&input)?,
                inputs: [recorded.input.clone(), input],
                calibration: recorded.calibration.clone(),
            });
        }
        Ok(Some(recorded.output.clone()))
    }

    /// Keeps a release that was drawn.
    pub(super) fn keep(
        &self,
        what: &'static str,
        stage: u8,
        input: Input,
        output: Output,
        calibration: Arc<CalibratedPlan>,
    ) {
        self.replay().kept.push(Recorded { what, stage, input, output, calibration });
    }
}

/// Runs an estimator on a table (`false`) and on its neighbour (`true`) and compares what the two were about to release, given
/// the same past. `run` must give the sessions it opens the probe.
pub(crate) fn compare(probe: Probe, mut run: impl FnMut(Probe, bool) -> Result<()>) -> Result<Vec<Compared>> {
    let watch = Watch::recording();
    run(probe.clone().watched(&watch), false)?;
    let watch = Watch::comparing(watch.recorded());
    run(probe.watched(&watch), true)?;
    watch.compared()
}

fn different(how: &str) -> Error {
    Error::Conflict(format!("{how}: what is released must not depend on one unit's rows"))
}

impl Input {
    /// How far two inputs are apart, as a share of the stated sensitivity; an error if the noise itself differs.
    pub(crate) fn share(&self, other: &Self) -> Result<f64> {
        let equal = |same: bool| match same {
            true => Ok(()),
            false => Err(different("the noise of a release differs between neighbours")),
        };
        match (self, other) {
            (
                Input::Vector { values: a, sensitivity: s } | Input::Fixed { hidden: a, sensitivity: s },
                Input::Vector { values: b, sensitivity: t } | Input::Fixed { hidden: b, sensitivity: t },
            ) => {
                equal(s == t && a.len() == b.len())?;
                Ok(distance(a, b) / s)
            }
            (Input::Each { values: a, sensitivity: s }, Input::Each { values: b, sensitivity: t }) => {
                equal(s == t && a.len() == b.len())?;
                Ok(largest(differences(a, b)) / s)
            }
            (
                Input::Top { scores: a, count: m, sensitivity: s },
                Input::Top { scores: b, count: n, sensitivity: t },
            )
            | (
                Input::Peel { scores: a, count: m, sensitivity: s },
                Input::Peel { scores: b, count: n, sensitivity: t },
            ) => {
                equal(s == t && m == n && a.len() == b.len())?;
                // What is not a number counts as the lowest score.
                let moved = a.iter().zip(b).map(|(a, b)| match (a.is_nan(), b.is_nan()) {
                    (true, true) => 0.0,
                    (false, false) if a == b => 0.0,
                    (false, false) => (a - b).abs(),
                    _ => f64::INFINITY,
                });
                Ok(largest(moved) / s)
            }
            (Input::Choice { scores: a, range: s }, Input::Choice { scores: b, range: t }) => {
                equal(s == t && a.len() == b.len())?;
                let moved = || a.iter().zip(b).map(|(a, b)| b - a);
                let (least, most) =
                    moved().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| (l.min(x), m.max(x)));
                Ok((most - least) / s)
            }
            (Input::Quantile { tally: a, q }, Input::Quantile { tally: b, q: r }) => {
                // A unit that counts may be replaced by one that does not.
                equal(a.candidates() == b.candidates() && q == r && a.total().abs_diff(b.total()) <= 1)?;
                let (a, b) = (PrivateQuantile::groups(a, *q), PrivateQuantile::groups(b, *q));
                Ok(largest(a.beside(&b).map(|(_, _, u, v)| (u - v).abs())))
            }
            (Input::Fullest { counts: a, bins }, Input::Fullest { counts: b, bins: others }) => {
                equal(bins == others)?;
                let count = |of: &BTreeMap<u64, u64>, bin: &u64| of.get(bin).copied().unwrap_or(0);
                Ok(largest(a.keys().chain(b.keys()).map(|bin| count(a, bin).abs_diff(count(b, bin)) as f64)))
            }
            _ => Err(different("the two runs released different things")),
        }
    }

    /// Makes the release, through the session.
    fn release(&self, what: &'static str, session: &mut ReleaseSession<'_>) -> Result<Output> {
        Ok(match self {
            Input::Vector { values, sensitivity } => {
                let mut values = values.clone();
                session.vector(Handle::new(what), &mut values, *sensitivity)?;
                Output::Vector(values)
            }
            Input::Quantile { tally, q } => {
                Output::Number(session.quantile_of(Handle::new(what), tally, *q)?)
            }
            Input::Top { scores, count, sensitivity } => {
                Output::Indices(session.top(Handle::new(what), scores, *count, *sensitivity)?)
            }
            Input::Choice { scores, range } => {
                Output::Indices(vec![session.choice(Handle::new(what), scores, *range)?])
            }
            Input::Peel { scores, count, sensitivity } => {
                Output::Indices(session.peel(Handle::new(what), scores, *count, *sensitivity)?)
            }
            Input::Each { values, sensitivity } => {
                let mut values = values.clone();
                session.each(Handle::new(what), &mut values, *sensitivity)?;
                Output::Vector(values)
            }
            Input::Fullest { counts, bins } => {
                Output::Bin(session.fullest(Handle::new(what), counts, *bins)?)
            }
            Input::Fixed { .. } | Input::Coins => {
                return Err(Error::Conflict(format!("the {what} can be drawn by a fit only")));
            }
        })
    }
}

impl Compared {
    /// What this release alone is charged as.
    pub(crate) fn claim(&self) -> Result<Event> {
        self.calibration.claim(self.what, self.stage, self.inputs[0].count())
    }

    /// The noise of the release per unit of sensitivity, as claimed.
    pub(crate) fn noise_per_sensitivity(&self) -> f64 {
        self.calibration.noise_per_sensitivity(Handle::<()>::new(self.what), self.stage)
    }

    /// Makes the release again on one of the inputs, in a session of its own.
    pub(crate) fn draw(&self, broken: &Probe, side: bool, rng: &mut RandomSource) -> Result<Output> {
        let calibration = self.calibration.as_ref().clone().probed(broken.unwatched());
        self.draw_from(&mut calibration.open(rng), side)
    }

    /// Makes the release again on one of the inputs, in a session that makes others too.
    pub(crate) fn draw_from(&self, session: &mut ReleaseSession<'_>, side: bool) -> Result<Output> {
        session.enter(self.stage);
        self.inputs[usize::from(side)].release(self.what, session)
    }

    /// Whether the session alone can make the release again: not a fixed one, which its estimator makes.
    pub(crate) fn can_be_drawn(&self) -> bool {
        !matches!(self.inputs[0], Input::Fixed { .. } | Input::Coins)
    }

    /// Whether both releases were made in the same session.
    pub(crate) fn shares_session_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.calibration, &other.calibration)
    }

    /// The calibration that the release was planned in.
    pub(crate) fn calibration(&self) -> &Arc<CalibratedPlan> {
        &self.calibration
    }
}

impl Input {
    /// How many planned releases pay for it.
    fn count(&self) -> u64 {
        match self {
            Input::Top { count, .. } | Input::Peel { count, .. } => *count as u64,
            Input::Each { values, .. } => values.len() as u64,
            _ => 1,
        }
    }
}

/// What of a value can be played back.
pub(super) trait Played: Sized {
    fn kept(&self) -> Output;
    fn of(output: Output) -> Option<Self>;
}

macro_rules! played {
    ($($value:ty => $kind:ident),*) => {
        $(impl Played for $value {
            fn kept(&self) -> Output {
                Output::$kind(self.clone())
            }
            fn of(output: Output) -> Option<Self> {
                match output {
                    Output::$kind(value) => Some(value),
                    _ => None,
                }
            }
        })*
    };
}
played!(Vec<f64> => Vector, f64 => Number, Vec<usize> => Indices, u64 => Bin);

/// The sizes of the differences. As in releases, what is not a number counts as zero.
fn differences<'v>(a: &'v [f64], b: &'v [f64]) -> impl Iterator<Item = f64> + Clone + 'v {
    let number = |x: f64| if x.is_nan() { 0.0 } else { x };
    a.iter().zip(b).map(move |(&a, &b)| if a == b { 0.0 } else { (number(a) - number(b)).abs() })
}

fn largest(differences: impl Iterator<Item = f64>) -> f64 {
    differences.fold(0.0, f64::max)
}

/// The l2 distance, scaled before it is squared: differences of 1e-200 or 1e200 count as what they are.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let differences = differences(a, b);
    let scale = largest(differences.clone());
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    scale * differences.map(|d| (d / scale).powi(2)).sum::<f64>().sqrt()
}
