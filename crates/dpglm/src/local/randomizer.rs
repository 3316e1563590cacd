//! Randomizers of vectors in an l2 ball of public radius: what a device runs, and what a server makes of the report.
//!
//! [`Kind::PrivUnit`] is the choice to make: its error is about [`Kind::Duchi`]'s for epsilon below 1 and far below it above 1.
//! Duchi's report costs a device one direction in place of hundreds.
//!
//! # Guarantee
//! One pure event of `epsilon` per report, under replacement of the user's record. It holds for every vector: bad ones follow
//! a public rule (longer than the radius: scaled down; a NaN or an infinite entry: the zero vector). The arguments are in
//! [`super::privunit`] and [`super::duchi`].

use super::directions::Directions;
use super::duchi::SideOfDirection;
use super::privunit::SubsetSelection;
pub use super::report::{Kind, REPORT_BYTES, Report};
use super::weights::check_epsilon;
use crate::accounting::Certificate;
use crate::data::clipping::clip_l2;
use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Event, Noise, Randomness};
use std::fmt;

/// Largest dimension of a randomized vector.
const MOST_COORDINATES: usize = 1 << 24;

/// Randomizes vectors of one dimension and radius.
///
/// ```
/// use dpglm::local::randomizer::{Kind, Randomizer, Report};
/// use dpglm::noise::RandomSource;
///
/// let randomizer = Randomizer::new(Kind::PrivUnit, 3, 1.0, 2.0)?;
/// // On the device:
/// let bytes = randomizer.randomize(&[0.3, -0.2, 0.5], &mut RandomSource::from_os()?)?.to_bytes();
/// // On the server: the sum of many of these, divided by their number, estimates the mean vector.
/// let mut sum = [0.0; 3];
/// randomizer.estimate(&Report::from_bytes(&bytes)?, &mut sum)?;
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    dimension: usize,
    radius: f64,
    epsilon: f64,
    pub(super) law: Law,
}

#[derive(Debug, Clone)]
pub(super) enum Law {
    Duchi(SideOfDirection),
    PrivUnit(SubsetSelection),
}

/// The random choices behind one report, for test vectors and for writing clients in other languages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// The public seed: uniform.
    pub seed: [u8; 16],
    /// Which outcome: uniform below [`Randomizer::outcomes`].
    pub draw: u64,
    /// Which sign a short vector gets (Duchi only): uniform in 64 bits.
    pub sign: u64,
}

impl fmt::Debug for Choices {
    /// Hides the choices: with them a report gives the vector's side away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choices").finish_non_exhaustive()
    }
}

impl Randomizer {
    /// For vectors of `dimension` coordinates and l2 norm at most `radius`, with pure privacy loss `epsilon` per report.
    pub fn new(kind: Kind, dimension: usize, radius: f64, epsilon: f64) -> Result<Self> {
        require_nonzero(Parameter::Dimension, dimension as u64, "give the number of coordinates")?;
        if dimension > MOST_COORDINATES {
            return Err(Error::OutOfRange {
                parameter: Parameter::Dimension,
                range: "at most 16,777,216",
                value: dimension.to_string(),
                remedy: "restrict the vector to fewer coordinates",
            });
        }
        require_positive(Parameter::Radius, radius, "the largest l2 norm of a vector; a public number")?;
        if !(1e-100..=1e100).contains(&radius) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Radius,
                range: "from 1e-100 to 1e100",
                value: format!("{radius:e}"),
                remedy: "measure the vector in other units",
            });
        }
        let epsilon = check_epsilon(epsilon)?;
        let law = match kind {
            Kind::Duchi => Law::Duchi(SideOfDirection::plan(dimension, epsilon)),
            Kind::PrivUnit => Law::PrivUnit(SubsetSelection::plan(dimension + 1, epsilon)),
        };
        Ok(Self { dimension, radius, epsilon, law })
    }

    /// Which randomizer this is.
    pub fn kind(&self) -> Kind {
        match self.law {
            Law::Duchi(_) => Kind::Duchi,
            Law::PrivUnit(_) => Kind::PrivUnit,
        }
    }

    /// The number of coordinates of a vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The radius of the ball.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The pure privacy loss of one report.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// What one report costs the user.
    pub fn events(&self) -> Result<Vec<Event>> {
        let noise = Noise::Pure { epsilon: self.epsilon };
        Ok(vec![Event::new("randomized report of a vector", noise, 1)?])
    }

    /// The promise to a user who sends one report, by where the device draws its randomness from.
    pub fn certificate<'a>(&self, randomness: impl Into<Randomness<'a>>) -> Result<Certificate> {
        Ok(Certificate::certified(Adjacency::ReplaceUserRecord, self.events()?, 0.0, randomness)?
            .enforcing(format!("the vector is clipped to l2 norm {}", self.radius))
            .enforcing(
                "every report has one of two probabilities, whose ratio is at most e^epsilon, exactly",
            ))
    }

    /// An upper bound on the expected squared l2 norm of one estimate, up to rounding: `(radius / gain)^2`.
    pub fn mean_square(&self) -> f64 {
        (self.radius / self.gain()).powi(2)
    }

    /// How many candidate directions a device computes.
    pub fn candidates(&self) -> u32 {
        match &self.law {
            Law::Duchi(_) => 1,
            Law::PrivUnit(selection) => selection.candidates,
        }
    }

    /// How many candidates make up the cap of PrivUnit; 1 for Duchi.
    pub fn cap(&self) -> u32 {
        match &self.law {
            Law::Duchi(_) => 1,
            Law::PrivUnit(selection) => selection.cap,
        }
    }

    /// The number below which [`Choices::draw`] is uniform.
    pub fn outcomes(&self) -> u64 {
        self.weights().total()
    }

    /// The weights of a likely and of another outcome: their ratio is at most `e^epsilon`.
    pub fn outcome_weights(&self) -> (u64, u64) {
        (self.weights().inside, self.weights().outside)
    }

    fn weights(&self) -> &super::weights::Weights {
        match &self.law {
            Law::Duchi(side) => &side.weights,
            Law::PrivUnit(selection) => &selection.weights,
        }
    }

    /// The expected inner product of a report's direction with that of a vector on the sphere: what estimates divide by.
    pub fn gain(&self) -> f64 {
        match &self.law {
            Law::Duchi(side) => side.gain,
            Law::PrivUnit(selection) => selection.gain,
        }
    }

    /// Device: the report of a vector.
    pub fn randomize(&self, vector: &[f64], rng: &mut RandomSource) -> Result<Report> {
        let mut seed = [0; 16];
        for word in seed.as_chunks_mut().0 {
            *word = rng.next_u32().to_le_bytes();
        }
        self.randomize_with(vector, &Choices { seed, draw: self.weights().draw(rng), sign: rng.next_u64() })
    }

    /// The report that given random choices lead to. Private only if they were drawn as [`randomize`](Self::randomize) does.
    pub fn randomize_with(&self, vector: &[f64], choices: &Choices) -> Result<Report> {
        require_dimension(self.dimension, vector.len())?;
        if choices.draw >= self.outcomes() {
            return Err(Error::OutOfRange {
                parameter: Parameter::Draw,
                range: "below the number of outcomes",
                value: "a larger number".into(),
                remedy: "draw it uniformly below Randomizer::outcomes",
            });
        }
        let scaled = self.scaled(vector);
        let index = match &self.law {
            Law::Duchi(side) => side.choose(choices.seed, &scaled, choices.draw, choices.sign),
            Law::PrivUnit(selection) => selection.choose(choices.seed, &lift(scaled), choices.draw),
        };
        Ok(Report { kind: self.kind(), seed: choices.seed, index })
    }

    /// The vector after the public rules, divided by the radius.
    pub(super) fn scaled(&self, vector: &[f64]) -> Vec<f64> {
        let mut scaled: Vec<f64> = vector.iter().map(|x| x / self.radius).collect();
        clip_l2(&mut scaled, 1.0);
        scaled
    }

    /// Server: adds the unbiased estimate of the vector behind a report.
    pub fn estimate(&self, report: &Report, into: &mut [f64]) -> Result<()> {
        require_dimension(self.dimension, into.len())?;
        self.named_direction(report, |direction, sign| {
            let factor = sign * self.radius / self.gain();
            into.iter_mut().zip(direction).for_each(|(sum, u)| *sum += factor * u);
        })
    }

    /// Gives `take` the direction that a report names, in the vector's own dimension, and its sign.
    pub(super) fn named_direction(&self, report: &Report, take: impl FnOnce(&[f64], f64)) -> Result<()> {
        let malformed = |reason: &str| Error::Malformed { what: "report", reason: reason.into() };
        if report.kind != self.kind() {
            return Err(malformed("it comes from another kind of randomizer than the study's"));
        }
        let (lifted, counter, sign) = match &self.law {
            Law::Duchi(_) => match report.index {
                0 => (self.dimension, 0, -1.0),
                1 => (self.dimension, 0, 1.0),
                _ => return Err(malformed("its index is neither 0 nor 1")),
            },
            Law::PrivUnit(selection) if report.index < selection.candidates => {
                (self.dimension + 1, report.index, 1.0)
            }
            Law::PrivUnit(_) => return Err(malformed("its index is beyond the number of candidates")),
        };
        let mut direction = vec![0.0; lifted];
        Directions::new(report.seed, lifted).direction(counter, &mut direction);
        take(&direction[..self.dimension], sign);
        Ok(())
    }
}

/// The point of the upper half sphere above a vector of length at most one.
pub(super) fn lift(mut scaled: Vec<f64>) -> Vec<f64> {
    let squares: f64 = scaled.iter().map(|x| x * x).sum();
    scaled.push((1.0 - squares).max(0.0).sqrt());
    scaled
}

fn require_dimension(expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "the randomizer was built for {expected} coordinates and got {got}: build it anew"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::privunit::continuous_gain;
    use crate::local::seed;

    /// The mean of estimates along a vector is its length, at level 1e-6 by Hoeffding's inequality: one estimate lies within
    /// radius / gain of zero. A gain that is wrong by a tenth is caught.
    #[test]
    fn estimates_are_unbiased() {
        const N: usize = 30_000;
        for (kind, p, epsilon, length) in [
            (Kind::PrivUnit, 1, 2.0, 3.0),
            (Kind::PrivUnit, 3, 3.0, 3.0),
            (Kind::PrivUnit, 3, 3.0, 1.2),
            (Kind::Duchi, 2, 3.0, 3.0),
            (Kind::Duchi, 2, 3.0, 1.0),
        ] {
            let randomizer = Randomizer::new(kind, p, 3.0, epsilon).unwrap();
            let rng = &mut RandomSource::insecure_seeded(seed(&format!("unbiased {kind:?} {p} {length}")));
            let mut vector = vec![0.0; p];
            vector[p - 1] = length;
            let mut sum = vec![0.0; p];
            for _ in 0..N {
                randomizer.estimate(&randomizer.randomize(&vector, rng).unwrap(), &mut sum).unwrap();
            }
            let mean = sum[p - 1] / N as f64;
            let reach = 3.0 / randomizer.gain();
            let limit = 2.0 * reach * ((2.0 / 1e-6_f64).ln() / (2.0 * N as f64)).sqrt();
            assert!((mean - length).abs() < limit, "{kind:?} {p} {length}: {mean} beyond {limit}");
            // The weakened variant: estimates with a gain that is a tenth too small.
            if length == 3.0 {
                assert!((mean / 0.9 - length).abs() > limit, "{kind:?} {p}: no power, limit {limit}");
            }
        }
    }

    #[test]
    fn privunit_beats_duchi_and_comes_close_to_its_continuous_limit() {
        println!("dimension epsilon   Duchi   PrivUnit  continuous   (mean square of an estimate, radius 1)");
        for p in [5, 10, 50, 500] {
            for epsilon in [0.5, 1.0, 2.0, 4.0, 8.0] {
                let square = |kind| Randomizer::new(kind, p, 1.0, epsilon).unwrap().mean_square();
                let (duchi, ours) = (square(Kind::Duchi), square(Kind::PrivUnit));
                let limit = continuous_gain(p + 1, epsilon).powi(-2);
                println!("{p:9} {epsilon:7} {duchi:9.2} {ours:9.2} {limit:9.2}");
                // Lifting spreads the square over one more coordinate, which estimates leave out.
                let ours = ours * p as f64 / (p + 1) as f64;
                assert!(ours < 1.01 * duchi, "{p} {epsilon}");
                assert!(epsilon < 2.0 || ours < 0.9 * duchi, "{p} {epsilon}");
                assert!(ours < 1.03 * limit, "{p} {epsilon}");
            }
        }
    }

    #[test]
    fn every_vector_gets_a_report_and_wrong_reports_are_refused() {
        let rng = &mut RandomSource::insecure_seeded(seed("every_vector_gets_a_report"));
        for kind in [Kind::PrivUnit, Kind::Duchi] {
            let randomizer = Randomizer::new(kind, 2, 1.0, 1.0).unwrap();
            for vector in [[f64::NAN, 0.0], [f64::INFINITY, 1.0], [1e308, -1e308], [0.0; 2], [1e-320, 0.0]] {
                let report = randomizer.randomize(&vector, rng).unwrap();
                randomizer.estimate(&report, &mut [0.0; 2]).unwrap();
            }
            assert!(randomizer.randomize(&[0.0; 3], rng).is_err());
            let beyond = Report { kind, seed: [0; 16], index: randomizer.candidates().max(2) };
            assert!(randomizer.estimate(&beyond, &mut [0.0; 2]).is_err());
            let other = if kind == Kind::Duchi { Kind::PrivUnit } else { Kind::Duchi };
            assert!(
                randomizer.estimate(&Report { kind: other, seed: [0; 16], index: 0 }, &mut [0.0; 2]).is_err()
            );
            let choices = Choices { seed: [0; 16], draw: randomizer.outcomes(), sign: 0 };
            assert!(randomizer.randomize_with(&[0.0; 2], &choices).is_err());
        }
        for (p, radius, epsilon) in
            [(0, 1.0, 1.0), (2, 0.0, 1.0), (2, f64::NAN, 1.0), (2, 1.0, 0.0), (2, 1.0, 33.0)]
        {
            assert!(Randomizer::new(Kind::PrivUnit, p, radius, epsilon).is_err());
        }
    }

    #[test]
    fn extreme_parameters_have_sound_numbers() {
        for p in [1, 2, 1_000, 1 << 16] {
            for epsilon in [1e-6, 0.01, 12.0, 32.0] {
                for kind in [Kind::PrivUnit, Kind::Duchi] {
                    let randomizer = Randomizer::new(kind, p, 1e-90, epsilon).unwrap();
                    let (inside, outside) = randomizer.outcome_weights();
                    assert!(inside >= outside && (inside as f64 / outside as f64).ln() <= epsilon);
                    let gain = randomizer.gain();
                    assert!(gain > 0.0 && gain <= 1.0, "{kind:?} {p} {epsilon}: {gain}");
                    if kind == Kind::PrivUnit {
                        let limit = continuous_gain(p + 1, epsilon);
                        assert!(gain <= limit * (1.0 + 1e-6), "{p} {epsilon}: {gain} {limit}");
                    }
                    assert!(randomizer.cap() < randomizer.candidates().max(2));
                }
            }
        }
    }
}
