//! Steps 1 and 2: where a number's rows lie, and where it is clipped.
//!
//! # Algorithm
//! 1. The centre is a private median among even places, as many as the units can tell apart.
//! 2. On each side of it, a clip at a distance `w` of [`STEPS`] geometric ones within the declared room, by the exponential
//!    mechanism with weight `exp(-eta beyond(w)) / w^PULL`: light tails are cut near their end, heavy ones where about
//!    `PULL / (eta * tail index)` units lie beyond. No reward is given for a distance below a floor, a part of the larger room
//!    and of the other side's clip, so that a column which is nearly constant keeps its rare rows.
//!
//! # Guarantee
//! A unit has one number in each release: the mean of its cells that count for the median, the largest (smallest) for a clip. A median
//! is a selection of sensitivity 1 ([`crate::mechanisms::quantile`]; a unit without cells joins or leaves). `beyond(w)` falls
//! with w, for one unit from 1 to 0 at its number; so replacing a unit changes all counts by amounts in [0, 1], or all in [-1, 0]:
//! the scores' changes lie within an interval of length 1.

use super::plan::{CENTRES, NARROWER, Plan, WIDER};
use super::{Block, Means};
use crate::error::Result;
use crate::mechanisms::{Candidates, Tally};
use crate::passes::cells::{Cell, CellPass, CellRows};
use crate::release::{Chosen, Handle, ReleaseSession};

/// Distances from the centre, each this part of the last.
const STEP: f64 = 1.04;
const STEPS: i32 = 200;
/// A clip twice as wide needs `2^PULL` times the evidence, but for so few units that they could not win.
const PULL: f64 = 4.5;
const PULL_PER_UNIT: f64 = 1.0 / 24.0;
/// No reward below this part of the larger room; above it where the centre lies at an end of the range.
const FLOOR: f64 = 0.01;
const FLOOR_AT_END: f64 = 0.1;
/// Nor below this part of the narrower side's clip.
const FLOOR_BESIDE: f64 = 0.4;
/// A share of the units that is always to be seen: the whole reward is no more than it outweighs.
const SEEN: f64 = 0.03;
/// The public part of a score is a multiple of this, so that its sum with up to `2^36` units is exact.
const GRAIN: f64 = 1.0 / 65_536.0;
/// What clipping may take away, in units of `pull / eta` units times the clip's distance from the centre.
const ALLOWANCE: f64 = 0.3;

/// A number's clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::estimators) struct Clip {
    pub low: f64,
    pub high: f64,
    pub centre: f64,
    /// What clipping may have taken from the mean over units, before the column's shape is looked at.
    pub allowance: f64,
}

impl Clip {
    /// None: the declared range.
    pub(super) fn declared(low: f64, high: f64) -> Self {
        Self { low, high, centre: low / 2.0 + high / 2.0, allowance: 0.0 }
    }

    pub(in crate::estimators) fn middle(&self) -> f64 {
        self.low / 2.0 + self.high / 2.0
    }

    /// Half its length, and above 0.
    pub(in crate::estimators) fn half(&self) -> f64 {
        (self.high / 2.0 - self.low / 2.0).max(1e-300)
    }
}

/// One clip per block that is a number or a 0/1 column; `None` for a category.
pub(in crate::estimators) fn release(
    model: &Means,
    plan: &Plan,
    rows: &dyn CellRows,
    session: &mut ReleaseSession<'_>,
) -> Result<Vec<Option<Clip>>> {
    let mut column = 0;
    let mut clips = Vec::with_capacity(model.blocks.len());
    for (place, block) in model.blocks.iter().enumerate() {
        clips.push(match *block {
            Block::Category { .. } => None,
            Block::Number { low, high } if plan.clipped > 0 => {
                let side = Side { rows, cell: Cell { block: place, column, low, high } };
                Some(side.clip(plan, session)?)
            }
            Block::Number { low, high } | Block::Binary { low, high } => Some(Clip::declared(low, high)),
        });
        column += block.columns();
    }
    Ok(clips)
}

/// A number's column, within its bounds.
pub(in crate::estimators) struct Side<'a> {
    pub rows: &'a dyn CellRows,
    pub cell: Cell,
}

impl Side<'_> {
    /// How many units' means count as each candidate.
    pub(in crate::estimators) fn means(&self, candidates: Candidates) -> Result<Tally> {
        self.rows.tally(&CellPass::Tally { cell: self.cell, candidates })
    }

    /// For distances that fall, how many units lie beyond each and not beyond the one before; none lies beyond the first.
    pub(in crate::estimators) fn beyond(
        &self,
        upper: bool,
        centre: f64,
        distances: &[f64],
    ) -> Result<Vec<i64>> {
        let distances = distances.to_vec();
        self.rows.whole(&CellPass::Beyond { cell: self.cell, centre, upper, distances })
    }

    fn clip(&self, plan: &Plan, session: &mut ReleaseSession<'_>) -> Result<Clip> {
        let Cell { low, high, .. } = self.cell;
        let n = plan.shape.units as f64;
        // Step 1
        let evidence = n / (4.0 * plan.rank_noise(CENTRES, session.noise_per_sensitivity(CENTRES)));
        let places = evidence.min(9.7).exp().max(128.0) as u64 + 1;
        let centre = session.quantile_of(CENTRES, &self.means(Candidates::even(low, high, places)?)?, 0.5)?;

        // Step 2
        let rooms = [(centre - low).max(0.0), (high - centre).max(0.0)];
        let order = if rooms[0] <= rooms[1] { [0, 1] } else { [1, 0] };
        let room = rooms[order[1]];
        let eta = 2.0 / plan.rank_noise(WIDER, session.noise_per_sensitivity(WIDER));
        let least = if rooms[order[0]] <= 1e-9 * room { FLOOR_AT_END } else { FLOOR };
        let mut floor = room * least.max((-eta * n * SEEN / pull(eta, n)).exp());
        let (mut widths, mut squares) = (rooms, 0.0);
        for (side, what) in order.into_iter().zip([NARROWER, WIDER]) {
            let eta = 2.0 / plan.rank_noise(what, session.noise_per_sensitivity(what));
            let pull = pull(eta, n);
            let width = self.distance(side == 1, centre, rooms[side], floor, pull / eta, what, session)?;
            if width < rooms[side] {
                squares += (ALLOWANCE * pull / eta * width / n).powi(2);
            }
            widths[side] = width;
            floor = floor.max(FLOOR_BESIDE * width);
        }
        let clip = Clip {
            low: (centre - widths[0]).max(low),
            high: (centre + widths[1]).min(high),
            centre,
            allowance: squares.sqrt(),
        };
        Ok(clip)
    }

    /// A distance from the centre that few units lie beyond. `reward` is what halving it is worth, in units over ln 2.
    #[allow(clippy::too_many_arguments, reason = "the parts of one formula")]
    fn distance(
        &self,
        upper: bool,
        centre: f64,
        room: f64,
        floor: f64,
        reward: f64,
        what: Handle<Chosen>,
        session: &mut ReleaseSession<'_>,
    ) -> Result<f64> {
        // Largest first; a side without room has one candidate, which costs what it was planned to.
        let widths: Vec<f64> = match room > 0.0 {
            true => (0..STEPS).map(|k| room * STEP.powi(-k)).collect(),
            false => vec![0.0],
        };
        let mut total = 0;
        let scores: Vec<f64> = self
            .beyond(upper, centre, &widths)?
            .into_iter()
            .zip(&widths)
            .map(|(count, width)| {
                total += count;
                let wide = reward * (width.max(floor).max(1e-300) / room.max(1e-300)).ln();
                -(total as f64) - (wide / GRAIN).round().clamp(-1e10, 1e10) * GRAIN
            })
            .collect();
        let chosen = session.choice(what, &scores, 1.0)?;
        Ok(widths.get(chosen).copied().unwrap_or(room))
    }
}

fn pull(eta: f64, units: f64) -> f64 {
    (eta * units * PULL_PER_UNIT).clamp(1.0, PULL)
}
