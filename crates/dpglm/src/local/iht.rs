//! Sparse regression in rounds: each user answers once, with a randomized gradient (LDP-IHT, Wang and Xu 2021 Algorithms 1 and 4).
//!
//! # Algorithm
//! Public: n, p, s, epsilon, a bound b on the features, the interval of the response, the family. The planner
//! ([`super::plan`]) divides the users into groups, one a round. From zero coefficients and all columns in play, in each round:
//!
//! 1. Server: publish the [`RoundState`]: coefficients, columns in play, clip.
//! 2. Device: take the features to `[-b, b]` and the response to its interval. The gradient of the user's loss in the columns in
//!    play is the family's bounded score times the features: its norm is at most `clip b sqrt(columns)`.
//! 3. Device: send a randomized report of it ([`super::randomizer`]).
//! 4. Server: average the estimates, take a step against the average, keep the largest coefficients. Their columns are
//!    the ones in play from now on.
//!
//! # Guarantee
//! Pure epsilon for each user under replacement of the user's record, for every record and for every state, however it
//! came about: also that of a server that does not follow this file.
//!
//! # Why private
//! A user sends one report, and [`Randomizer`] is pure epsilon whatever vector it is given. States depend on
//! earlier users' reports only, so for each user they are fixed numbers; the groups do not depend on the data.
//!
//! # Differs from the paper
//! Clips that shrink by a public schedule in place of a radius that bounds nothing; columns in play that shrink, so that later
//! reports are of few coordinates; PrivUnit in place of Duchi's randomizer; a step that suits the family's slope. The step is for
//! features that are about uncorrelated with second moment [`LocalIht::feature_square`]; say so if yours differ.
//!
//! # References
//! Wang and Xu 2021 Algorithms 1 and 4, Section 7.

use super::imitation::Imitation;
use super::plan::RoundPlan;
use super::randomizer::{Kind, Randomizer, Report};
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Randomness};
use serde::{Deserialize, Serialize};

/// Sparse linear, generalized linear or monotone regression from reports.
///
/// ```
/// use dpglm::families::Family;
/// use dpglm::local::{LocalIht, Randomizer};
/// use dpglm::noise::RandomSource;
///
/// let study = LocalIht::new(Family::logistic(), (0.0, 1.0), 1.0, 2)?;
/// let plan = study.plan(1_000, 6, 2.0)?; // users, columns, epsilon
/// let state = study.start(&plan);
/// // On a device of the first group:
/// let randomizer = study.randomizer(&state, plan.epsilon)?;
/// let report = study.report(&state, &randomizer, &[0.5, 1.0, 0.0, -1.0, 0.2, 0.1], 1.0, &mut RandomSource::from_os()?)?;
/// // On the server, after many of them:
/// let mut sum = vec![0.0; state.columns.len()];
/// randomizer.estimate(&report, &mut sum)?;
/// let next = study.close_round(&plan, &state, &sum, 1)?;
/// assert_eq!(next.round, 1);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalIht {
    family: Family,
    response: (f64, f64),
    feature_bound: f64,
    sparsity: usize,
    feature_square: f64,
    kind: Kind,
}

/// What the server publishes: everything a device needs to know for its report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundState {
    /// The number of rounds that are closed.
    pub round: usize,
    /// The coefficients of all columns.
    pub coefficients: Vec<f64>,
    /// The columns in play, ascending.
    pub columns: Vec<usize>,
    /// The bound on a score.
    pub clip: f64,
    /// The step that the server will take.
    pub step: f64,
}

impl LocalIht {
    /// For a family, the interval of the response, a bound on each feature's absolute value, and the number of columns to keep.
    pub fn new(family: Family, response: (f64, f64), feature_bound: f64, sparsity: usize) -> Result<Self> {
        if !(response.0 < response.1 && response.0.is_finite() && response.1.is_finite()) {
            return Err(Error::OutOfRange {
                parameter: Parameter::ResponseInterval,
                range: "two finite numbers, the smaller first",
                value: format!("[{}, {}]", response.0, response.1),
                remedy: "declare the public bounds of the response",
            });
        }
        require_positive(
            Parameter::FeatureBound,
            feature_bound,
            "the largest absolute value of a feature; public",
        )?;
        if !(1e-60..=1e60).contains(&feature_bound) || response.0.abs().max(response.1.abs()) > 1e30 {
            return Err(Error::Conflict(
                "feature bound or response interval beyond any use: measure them in other units".into(),
            ));
        }
        require_nonzero(Parameter::Sparsity, sparsity as u64, "ask for at least one column")?;
        let feature_square = feature_bound * feature_bound;
        Ok(Self { family, response, feature_bound, sparsity, feature_square, kind: Kind::PrivUnit })
    }

    /// The features' second moment, if it is public; otherwise the bound's square is taken, and steps are shorter.
    pub fn feature_square(mut self, second_moment: f64) -> Result<Self> {
        require_positive(
            Parameter::FeatureSecondMoment,
            second_moment,
            "a public number, at most the bound's square",
        )?;
        self.feature_square = second_moment.min(self.feature_bound * self.feature_bound);
        Ok(self)
    }

    /// With another randomizer than PrivUnit.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The rounds for so many users and columns at a pure epsilon per report.
    pub fn plan(&self, users: u64, columns: usize, epsilon: f64) -> Result<RoundPlan> {
        if self.sparsity > columns {
            return Err(Error::OutOfRange {
                parameter: Parameter::Sparsity,
                range: "from 1 to the number of columns",
                value: format!("{} of {columns}", self.sparsity),
                remedy: "ask for fewer columns",
            });
        }
        let middle = self.family.mean(0.0);
        let largest = (middle - self.response.0).abs().max((self.response.1 - middle).abs());
        let step = 1.0 / (self.family.steepest() * self.feature_square);
        RoundPlan::new(&self.family, (users, columns, self.sparsity), epsilon, largest, step, self.kind)
    }

    /// The state before the first round.
    pub fn start(&self, plan: &RoundPlan) -> RoundState {
        RoundState {
            round: 0,
            coefficients: vec![0.0; plan.columns],
            columns: (0..plan.columns).collect(),
            clip: plan.rounds.first().map_or(0.0, |round| round.clip),
            step: plan.step,
        }
    }

    /// The randomizer of a state's round.
    pub fn randomizer(&self, state: &RoundState, epsilon: f64) -> Result<Randomizer> {
        let columns = state.columns.len();
        let cap = self.family.bounded(state.clip)?.cap();
        Randomizer::new(self.kind, columns, cap * self.feature_bound * (columns as f64).sqrt(), epsilon)
    }

    /// Device: the clipped gradient in the columns in play (step 2).
    pub fn gradient(&self, state: &RoundState, features: &[f64], response: f64) -> Result<Vec<f64>> {
        if features.len() != state.coefficients.len() || state.columns.iter().any(|&j| j >= features.len()) {
            return Err(Error::Conflict(format!(
                "the study has {} columns, the record {}: use the study's own columns",
                state.coefficients.len(),
                features.len()
            )));
        }
        let admit = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(-self.feature_bound, self.feature_bound) };
        let predictor: f64 = features.iter().zip(&state.coefficients).map(|(&x, b)| admit(x) * b).sum();
        let (low, high) = self.response;
        let y = if response.is_nan() { 0.5 * (low + high) } else { response.clamp(low, high) };
        let score = self.family.bounded(state.clip)?.value(predictor, self.family.admit(y));
        Ok(state.columns.iter().map(|&j| score * admit(features[j])).collect())
    }

    /// Device: the report of a record (steps 2 and 3).
    pub fn report(
        &self,
        state: &RoundState,
        randomizer: &Randomizer,
        features: &[f64],
        response: f64,
        rng: &mut RandomSource,
    ) -> Result<Report> {
        randomizer.randomize(&self.gradient(state, features, response)?, rng)
    }

    /// Server: the next state from the sum of `count` estimates (step 4). After the last round the state is the result.
    pub fn close_round(
        &self,
        plan: &RoundPlan,
        state: &RoundState,
        sum: &[f64],
        count: u64,
    ) -> Result<RoundState> {
        require_nonzero(Parameter::Reports, count, "extend the round until there are some")?;
        let Some(round) = plan.rounds.get(state.round) else {
            return Err(Error::Conflict("all rounds are closed: the state is the result".into()));
        };
        if sum.len() != state.columns.len() || sum.iter().any(|x| !x.is_finite()) {
            return Err(Error::Conflict(format!(
                "the round needs a sum of {} finite numbers: add up this round's reports only",
                state.columns.len()
            )));
        }
        let mut moved: Vec<(usize, f64)> = state
            .columns
            .iter()
            .zip(sum)
            .map(|(&j, &g)| (j, state.coefficients[j] - state.step * (g / count as f64)))
            .collect();
        moved.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        moved.truncate(round.keep);
        moved.sort_by_key(|&(j, _)| j);
        let mut coefficients = vec![0.0; state.coefficients.len()];
        moved.iter().for_each(|&(j, value)| coefficients[j] = value);
        Ok(RoundState {
            round: state.round + 1,
            coefficients,
            columns: moved.into_iter().map(|(j, _)| j).collect(),
            clip: plan.rounds.get(state.round + 1).map_or(state.clip, |next| next.clip),
            step: state.step,
        })
    }

    /// The promise to each user, by where the devices draw their randomness from.
    pub fn certificate<'a>(
        &self,
        plan: &RoundPlan,
        randomness: impl Into<Randomness<'a>>,
    ) -> Result<Certificate> {
        let randomizer = self.randomizer(&self.start(plan), plan.epsilon)?;
        Ok(Certificate::certified(Adjacency::ReplaceUserRecord, randomizer.events()?, 0.0, randomness)?
            .enforcing(format!("each feature is taken to [-{b}, {b}]", b = self.feature_bound))
            .enforcing(format!("the response is taken to [{}, {}]", self.response.0, self.response.1))
            .enforcing("every report has one of two probabilities, whose ratio is at most e^epsilon, exactly")
            .provided("each user belongs to one group"))
    }

    /// The whole study on the rows of a table, each a user, in their order: with real reports.
    pub fn simulate(&self, data: &Dataset, epsilon: f64, rng: &mut RandomSource) -> Result<RoundState> {
        self.run(data, epsilon, |randomizer, vector, sum| {
            randomizer.estimate(&randomizer.randomize(vector, rng)?, sum)
        })
    }

    /// The same with estimates that have the law of real ones ([`Imitation`]): faster, and not private.
    pub fn imitate(&self, data: &Dataset, epsilon: f64, seed: u64) -> Result<RoundState> {
        let plan = self.plan(data.design().rows() as u64, data.design().columns(), epsilon)?;
        self.run_plan(data, &plan, |randomizer, vectors, sum| {
            let mut imitation = Imitation::new(randomizer, seed ^ (randomizer.dimension() as u64) << 32);
            vectors.iter().try_for_each(|vector| imitation.add(vector, sum))
        })
    }

    /// The same without noise: what the rounds and clips alone cost.
    pub fn without_noise(&self, data: &Dataset, epsilon: f64) -> Result<RoundState> {
        self.run(data, epsilon, |_, vector, sum| {
            sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
            Ok(())
        })
    }

    fn run(
        &self,
        data: &Dataset,
        epsilon: f64,
        mut answer: impl FnMut(&Randomizer, &[f64], &mut [f64]) -> Result<()>,
    ) -> Result<RoundState> {
        let plan = self.plan(data.design().rows() as u64, data.design().columns(), epsilon)?;
        self.run_plan(data, &plan, |randomizer, vectors, sum| {
            vectors.iter().try_for_each(|vector| answer(randomizer, vector, sum))
        })
    }

    fn run_plan(
        &self,
        data: &Dataset,
        plan: &RoundPlan,
        mut answer: impl FnMut(&Randomizer, &[Vec<f64>], &mut [f64]) -> Result<()>,
    ) -> Result<RoundState> {
        let mut state = self.start(plan);
        let mut next = 0;
        for round in &plan.rounds {
            let randomizer = self.randomizer(&state, plan.epsilon)?;
            let mut sum = vec![0.0; state.columns.len()];
            let group = next..next + round.users as usize;
            let vectors: Vec<Vec<f64>> = group
                .clone()
                .map(|row| {
                    let features: Vec<f64> = data.design().row(row).collect();
                    self.gradient(&state, &features, data.response()[row])
                })
                .collect::<Result<_>>()?;
            answer(&randomizer, &vectors, &mut sum)?;
            next = group.end;
            state = self.close_round(plan, &state, &sum, round.users)?;
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;
    use crate::families::{Domain, MonotoneLink};
    use crate::local::seed;

    /// Signs as features, coefficients 0.8, -0.5 and 0.3 on columns 1, 4 and 7.
    fn table(family: &Family, n: usize, rng: &mut RandomSource) -> (Dataset, Vec<f64>) {
        let mut truth = vec![0.0; 12];
        (truth[1], truth[4], truth[7]) = (0.8, -0.5, 0.3);
        let x: Vec<f64> = (0..12 * n).map(|_| if rng.coin() { 1.0 } else { -1.0 }).collect();
        let y = x
            .chunks_exact(12)
            .map(|row| {
                let mean = family.mean(row.iter().zip(&truth).map(|(x, b)| x * b).sum());
                let mut uniform = f64::from(rng.next_u32()) * 2f64.powi(-32);
                match family.domain() {
                    Domain::Binary => f64::from(u8::from(uniform < mean)),
                    Domain::Count => {
                        let (mut count, mut mass) = (0.0, (-mean).exp());
                        while uniform > mass && count < 50.0 {
                            (uniform, count) = (uniform - mass, count + 1.0);
                            mass *= mean / count;
                        }
                        count
                    }
                    _ => mean + 0.1 * (uniform - 0.5),
                }
            })
            .collect();
        (Dataset::new(Design::from_f64(n, 12, x).unwrap(), y).unwrap(), truth)
    }

    fn error(state: &RoundState, truth: &[f64]) -> f64 {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
        norm(&mut state.coefficients.iter().zip(truth).map(|(a, b)| a - b)) / norm(&mut truth.iter().copied())
    }

    /// A fit is far from the zero vector's error of 1. Chance: the bounds are four and more times the errors' mean.
    #[test]
    fn every_family_is_fitted_from_reports() {
        let link = MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0).unwrap();
        let cases = [
            (Family::gaussian(), (-2.0, 2.0), 4_000, 0.4),
            (Family::logistic(), (0.0, 1.0), 12_000, 0.7),
            (Family::monotone(link), (-14.0, 16.0), 6_000, 0.4),
            (Family::poisson(), (0.0, 15.0), 20_000, 0.7),
        ];
        let rng = &mut RandomSource::insecure_seeded(seed("every_family_is_fitted_from_reports"));
        for (family, interval, n, limit) in cases {
            let (data, truth) = table(&family, n, rng);
            let study = LocalIht::new(family.clone(), interval, 1.0, 3).unwrap();
            let real = error(&study.simulate(&data, 4.0, rng).unwrap(), &truth);
            let imitated = error(&study.imitate(&data, 4.0, 1).unwrap(), &truth);
            let noiseless = error(&study.without_noise(&data, 4.0).unwrap(), &truth);
            println!("{family:?}: {real:.3} {imitated:.3} {noiseless:.3}");
            assert!(real < limit && imitated < limit && noiseless < limit);
        }
    }

    /// The vector that is randomized lies in the randomizer's ball for every record and state, so that nothing is lost to its
    /// own clipping.
    #[test]
    fn gradients_stay_within_the_radius() {
        let study = LocalIht::new(Family::gaussian(), (-2.0, 2.0), 1.5, 2).unwrap();
        let plan = study.plan(1_000, 4, 1.0).unwrap();
        let mut state = study.start(&plan);
        state.coefficients = vec![3.0, -1e9, 0.0, 1e300];
        let radius = study.randomizer(&state, 1.0).unwrap().radius();
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1.5, 0.0];
        for a in bad {
            for b in bad {
                let gradient = study.gradient(&state, &[a, b, a, b], b).unwrap();
                let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                assert!(norm <= radius * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn wrong_use_is_an_error() {
        let study = LocalIht::new(Family::gaussian(), (-2.0, 2.0), 1.0, 2).unwrap();
        let plan = study.plan(1_000, 4, 1.0).unwrap();
        let mut state = study.start(&plan);
        assert!(study.close_round(&plan, &state, &[0.0; 4], 0).is_err());
        assert!(study.close_round(&plan, &state, &[0.0; 3], 5).is_err());
        assert!(study.close_round(&plan, &state, &[f64::NAN; 4], 5).is_err());
        assert!(study.gradient(&state, &[0.0; 5], 0.0).is_err());
        state.columns[0] = 9;
        assert!(study.gradient(&state, &[0.0; 4], 0.0).is_err());
        state.round = plan.rounds.len();
        assert!(study.close_round(&plan, &state, &[0.0; 4], 5).is_err());
        assert!(study.plan(1_000, 1, 1.0).is_err());
        assert!(LocalIht::new(Family::gaussian(), (2.0, -2.0), 1.0, 2).is_err());
        assert!(LocalIht::new(Family::gaussian(), (0.0, 2.0), f64::NAN, 2).is_err());
    }

    #[test]
    fn the_certificate_is_pure() {
        let study = LocalIht::new(Family::logistic(), (0.0, 1.0), 1.0, 2).unwrap();
        let certificate =
            study.certificate(&study.plan(1_000, 4, 1.25).unwrap(), Randomness::Devices).unwrap();
        let guarantee = certificate.guarantee().unwrap();
        // The accountant adds up outwards.
        assert!((1.25..1.25 + 1e-12).contains(&guarantee.epsilon) && guarantee.delta == 0.0);
        assert_eq!(certificate.adjacency(), &Adjacency::ReplaceUserRecord);
    }
}
