//! Sparse regression by knowledge transfer: a teacher on the private rows, noisy answers on public features, a student.
//!
//! # Algorithm (Wang and Gu 2020 Algorithm 1, made private for every data set)
//! 1. Clamp entries and responses. For a real response: the cap on its residuals, public or a private quantile.
//! 2. The support S: the s columns with the largest gradient at zero, by one-shot Gumbel noise (`central::screening`).
//! 3. The teacher: the minimum on S of the mean of the capped losses plus `lambda/2 |theta|^2`, until its gradient is proven to be
//!    at most tau (`central::strongly_convex`).
//! 4. Its linear predictors on m public feature rows, with Gaussian noise.
//! 5. The student: iterative hard thresholding on the public rows and the noisy answers ([`super::iht`]).
//!
//! The literal version has in place of steps 2 and 3 a teacher by iterative hard thresholding over all columns.
//!
//! # Guarantee
//! Replacement of one row. *Certified* for every data set. The *literal* version is conditional: it holds if one record does not
//! change the teacher's support, which nothing enforces, and is refused unless that is accepted by name.
//!
//! # Why private
//! With entries within c and scores within k, a row's gradient on S is at most `sqrt(s) gamma`, `gamma = c k`. Let theta and
//! theta' be the teachers of neighbours on the same S: `lambda |theta - theta'| <= |grad F(theta)| + |grad F(theta')| <= tau +
//! (tau + 2 sqrt(s) gamma / n)`, because F and F' differ in one row. So
//! `|theta - theta'| <= 2 sqrt(s) gamma / (n lambda) + 2 tau / lambda`, and the answers differ by at most the largest singular
//! value of the public features on S times that; it is computed and rounded upward. Capping a scalar score at a level that does
//! not depend on theta keeps the losses convex, so strong convexity holds whatever the rows are.
//!
//! It is output perturbation of the teacher, times the condition of the public features: the answers' noise comes back
//! multiplied by the inverse of what the spectral norm multiplied it with, at best by one.
//!
//! # Differs from the paper
//! The paper's proof uses the first-order condition of a convex set for the set of sparse vectors, where one record can flip the
//! support (a test shows it); hence step 2, the polished teacher and the grade of the literal version. Its bound (B.4) is
//! half of what its own argument gives. The spectral norm is exact in place of a bound of high probability. Answers are
//! linear predictors in the logistic model too. In the certified version the student sees the columns of S only: the others are
//! known to be zero.
//!
//! # References
//! Wang and Gu 2020: Wang and Gu, *Differentially private sparse learning by knowledge transfer* (seed 001).

use super::glm::Fit;
use super::iht::Iht;
use super::response::Response;
use super::screening::{require_entry, require_sparsity, select_support};
use super::strongly_convex::Problem;
use crate::data::Shape;
use crate::data::boxed::Boxed;
use crate::data::range::require_magnitude;
use crate::data::{Dataset, Design};
use crate::error::{Error, Parameter, Result, require_nonzero};
use crate::families::{BoundedScore, Family};
use crate::kernels::{gram_error, predict, weighted_gram};
use crate::noise::RandomSource;
use crate::privacy::Adjacency;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    Vector, require_shape,
};
use nalgebra::DMatrix;

/// What the literal version assumes. The caller must accept it in these words.
pub const SAME_SUPPORT: &str = "one record does not change the support";

const SUPPORT: Handle<Chosen> = Handle::new("support");
const ANSWERS: Handle<Vector> = Handle::new("teacher's answers");
/// The share of the budget that choosing the support gets.
const SELECTION: f64 = 0.4;

/// Sparse regression by knowledge transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    response: Response,
    entry: f64,
    sparsity: usize,
    ridge: Option<f64>,
    public: Public,
    literal: bool,
    accepted: bool,
}

/// The features that the teacher answers on.
#[derive(Debug, Clone, PartialEq)]
enum Public {
    /// Public rows.
    Given(Design),
    /// This many rows, uniform on the box of the entries, from a public seed; as many as private rows if not said.
    Synthetic(Option<usize>),
}

impl Transfer {
    /// A linear model with `sparsity` coefficients that are not zero: responses in the public interval `target`, features within
    /// `entry` of zero.
    pub fn linear(target: (f64, f64), entry: f64, sparsity: usize) -> Result<Self> {
        Self::new(Response::linear(target)?, entry, sparsity)
    }

    /// A logistic model with `sparsity` coefficients that are not zero: responses 0 or 1, features within `entry` of zero.
    pub fn logistic(entry: f64, sparsity: usize) -> Result<Self> {
        Self::new(Response::binary(), entry, sparsity)
    }

    fn new(response: Response, entry: f64, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        let public = Public::Synthetic(None);
        let entry = require_entry(entry)?;
        Ok(Self { response, entry, sparsity, ridge: None, public, literal: false, accepted: false })
    }

    /// Caps the residuals of a real response at a public number, in place of a private quantile of the responses.
    pub fn residual_cap(mut self, cap: f64) -> Result<Self> {
        self.response.set_cap(cap)?;
        Ok(self)
    }

    /// Sets the teacher's lambda in place of the planned one.
    pub fn ridge(mut self, lambda: f64) -> Result<Self> {
        self.ridge = Some(require_magnitude(
            Parameter::Ridge,
            lambda,
            "noise falls and bias grows with it; 0.1 is usual",
        )?);
        Ok(self)
    }

    /// Lets the teacher answer on these public rows. They must not come from the private people.
    pub fn public_features(mut self, features: Design) -> Self {
        self.public = Public::Given(features);
        self
    }

    /// Lets the teacher answer on this many synthetic rows, uniform on the box of the entries.
    pub fn synthetic_features(mut self, rows: usize) -> Result<Self> {
        require_nonzero(
            Parameter::SyntheticRows,
            rows as u64,
            "a few times the sparsity times the logarithm of the columns",
        )?;
        self.public = Public::Synthetic(Some(rows));
        Ok(self)
    }

    /// The paper's teacher, whose support is not chosen privately. Needs [`accepting`](Self::accepting).
    pub fn literal(mut self) -> Self {
        self.literal = true;
        self
    }

    /// Accepts the assumption of the literal version, in the words of [`SAME_SUPPORT`].
    pub fn accepting(mut self, assumption: &str) -> Result<Self> {
        if assumption != SAME_SUPPORT {
            return Err(Error::OutOfRange {
                parameter: Parameter::AcceptedAssumption,
                range: "the words \"one record does not change the support\"",
                value: format!("{assumption:?}"),
                remedy: "accept it by name only if you believe it of your data; the certified version needs no assumption",
            });
        }
        self.accepted = true;
        Ok(self)
    }

    /// The lambda at which bias and noise of the teacher are least together, for features uniform on their box (variance
    /// `c^2/3`) and coefficients of norm `cap / c` (a logistic model: `3 / c`).
    fn planned_ridge(&self, units: usize, privacy: Privacy) -> f64 {
        if let Some(lambda) = self.ridge {
            return lambda;
        }
        let (c, s) = (self.entry, self.sparsity as f64);
        if privacy == Privacy::None {
            return 1e-9 * c * c;
        }
        let size = if self.response.is_real() { 1.0 } else { 6.0 };
        let curvature = if self.response.is_real() { 1.0 / 3.0 } else { 1.0 / 15.0 };
        let noise = 2.0 * s / (units as f64 * privacy.mu() * (1.0 - SELECTION).sqrt());
        let harm = |l: f64| (size * l / (l + curvature)).powi(2) + (noise / l).powi(2);
        let best = (0..400).map(|i| 1e-6 * 1.05_f64.powi(i)).min_by(|a, b| harm(*a).total_cmp(&harm(*b)));
        best.unwrap_or(0.1) * c * c
    }

    /// Step 3 on a support: the teacher, and what one row can change in it, in l2 norm.
    fn teacher(&self, table: &Boxed, support: &[usize], score: &BoundedScore<'_>) -> Result<(Vec<f64>, f64)> {
        let design = table.design.select_columns(support)?;
        let lambda = self.ridge.unwrap_or(0.1);
        let n = design.rows() as f64;
        let real = self.response.is_real();
        let cap = score.cap();
        let slope = |row: usize, u: f64| {
            if real {
                return f64::from(u8::from((u - table.response[row]).abs() < cap));
            }
            // The bounded logistic score is e^-m / 2 for margins m above 0, and 1/2 below.
            let margin = if table.response[row] >= 0.5 { u } else { -u };
            if margin > 0.0 { 0.5 * (-margin).exp() } else { 0.0 }
        };
        let problem = Problem {
            design: &design,
            scale: 1.0 / n,
            ridge: lambda,
            tilt: &vec![0.0; support.len()],
            score: &|row, u| score.value(u, table.response[row]),
            slope: &slope,
            cap,
            steepest: if real { 1.0 } else { 0.5 },
            entry: self.entry,
            reach: self.response.reach(),
        };
        let row = self.entry * cap * (support.len() as f64).sqrt() * (1.0 + 1e-12);
        let tolerance = (1e-4 * row / n).max(problem.floor(0.0));
        let teacher = problem.solve(tolerance)?;
        let sensitivity = (2.0 * row / (n * lambda) + 2.0 * tolerance / lambda) * (1.0 + 1e-12);
        Ok((teacher, sensitivity))
    }
}

impl Estimator for Transfer {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = Fit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        require_sparsity(self.sparsity, columns)?;
        // Below this, a teacher on adversarial rows could take hours to prove its distance from the minimum.
        if self.ridge.is_some_and(|lambda| lambda < 1e-9 * self.entry * self.entry) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Ridge,
                range: "at least 1e-9 times the squared entry bound",
                value: self.ridge.unwrap_or_default().to_string(),
                remedy: "choose a larger ridge: noise is proportional to its inverse",
            });
        }
        if self.literal && !self.accepted {
            return Err(Error::Conflict(format!(
                "literal knowledge transfer is private only if {SAME_SUPPORT}: accept that by name, or leave out `literal`"
            )));
        }
        let public = match &self.public {
            Public::Given(features) if features.columns() != columns => {
                return Err(Error::Conflict(format!(
                    "{} public columns for {columns} private ones: they must be the same columns",
                    features.columns()
                )));
            }
            Public::Given(features) => features.clone(),
            Public::Synthetic(rows) => synthetic(rows.unwrap_or(units), columns, self.entry)?,
        };
        if public.rows() < self.sparsity {
            return Err(Error::Conflict(format!(
                "{} public rows for a sparsity of {}: the answers would not determine the student",
                public.rows(),
                self.sparsity
            )));
        }
        let mut plan: Vec<PlannedRelease> = self.response.planned(units, privacy)?.into_iter().collect();
        if !self.literal {
            plan.push(SUPPORT.planned(SELECTION, self.sparsity as u64));
        }
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        plan.push(ANSWERS.planned(rest, 1));
        let ridge = Some(self.planned_ridge(units, privacy));
        let model = Self { ridge, public: Public::Given(public), ..self.clone() };
        Ok(Prepared::new(model, (), shape, CalibratedPlan::new(plan, privacy)?))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<Fit> {
        let Shape { columns, units, .. } = data.shape();
        let model = self;
        let Public::Given(public) = &model.public else {
            return Err(Error::Conflict(
                "public features are drawn when the model is prepared: prepare it".into(),
            ));
        };
        // Step 1
        let table = Boxed::new(data, model.entry, |y| model.response.admit(y))?;
        let cap = model.response.release_cap(&data.counted(table.response.clone()), &mut session)?;
        let score = model.response.family.bounded(cap)?;

        // Step 2
        let support = if model.literal {
            literal_support(model, &table)?
        } else {
            select_support(SUPPORT, &table, &score, model.entry, model.sparsity, &mut session)?
        };

        // Step 3
        let (teacher, sensitivity) = model.teacher(&table, &support, &score)?;

        // Step 4
        let chosen = public.select_columns(&support)?;
        let mut answers = vec![0.0; public.rows()];
        predict(&chosen, &teacher, &mut answers);
        // A predictor of s terms errs by at most (s + 2) u times their sizes, on both sides of a pair. Coefficients are at most the
        // largest gradient, and the tolerance, over lambda: half of n times what a row moves them by, or less.
        let largest = 0.5 * units as f64 * sensitivity * (1.0 + 1e-12);
        let rounding = 2.0 * (support.len() as f64 + 2.0) * f64::EPSILON * frobenius(&chosen) * largest;
        session.vector(ANSWERS, &mut answers, largest_singular_value(&chosen) * sensitivity + rounding)?;

        // Step 5
        let student = Iht::new(model.sparsity.min(support.len()))?.iterations(300)?;
        let mut coefficients = vec![0.0; columns];
        if model.literal {
            coefficients = student.fit_design(&Family::gaussian(), public, &answers, 0.0)?;
        } else {
            let values = student.fit_design(&Family::gaussian(), &chosen, &answers, 0.0)?;
            support.iter().zip(values).for_each(|(&j, b)| coefficients[j] = b);
        }
        let mut certificate = session
            .close(Adjacency::ReplaceRow)
            .enforcing(format!("features are clamped to [-{0}, {0}]", model.entry))
            .enforcing("the response is clamped to its declared domain")
            .enforcing("each row's score is bounded")
            .enforcing("the teacher's distance from its minimum is bounded by strong convexity")
            .provided("public features, if supplied, do not come from the private people");
        if model.literal {
            certificate = certificate.assuming(SAME_SUPPORT);
        }
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}

/// The support of the paper's teacher: not private by itself.
fn literal_support(model: &Transfer, table: &Boxed) -> Result<Vec<usize>> {
    let iht = Iht::new(model.sparsity)?;
    let lambda = model.ridge.unwrap_or(0.1);
    let teacher = iht.fit_design(&model.response.family, &table.design, &table.response, lambda)?;
    let mut support: Vec<usize> = (0..teacher.len()).filter(|&j| teacher[j] != 0.0).collect();
    // The size of the support is public: fill up with the first columns that are zero.
    let zeros: Vec<usize> = (0..teacher.len()).filter(|&j| teacher[j] == 0.0).collect();
    support.extend(zeros.iter().take(model.sparsity.saturating_sub(support.len())));
    support.sort_unstable();
    Ok(support)
}

/// Rows uniform on the box, from a fixed public seed: they carry no secret and need none.
fn synthetic(rows: usize, columns: usize, entry: f64) -> Result<Design> {
    let mut rng = RandomSource::insecure_seeded(0x7374_7564_656e_7473);
    let uniform = |rng: &mut RandomSource| (rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0;
    Design::from_f64(rows, columns, (0..rows * columns).map(|_| entry * uniform(&mut rng)).collect())
}

fn frobenius(design: &Design) -> f64 {
    let squares: f64 = (0..design.rows()).flat_map(|row| design.row(row)).map(|x| x * x).sum();
    // A plain sum of k squares lacks at most k u of itself, which is a share of 1e-9 from five million entries on.
    let entries = design.rows() as f64 * design.columns() as f64;
    squares.sqrt() * (1.0 + (entries + 8.0) * f64::EPSILON)
}

/// An upper bound on the largest singular value, within a few parts in a million of it.
///
/// For a symmetric positive matrix G, `|G^(2^k)|_F ^ (2^-k)` lies above its largest eigenvalue and falls to it. Twenty squarings;
/// each errs by at most `s u` times the squared Frobenius norm, that is by `s^2 u` relative to the largest eigenvalue, and the
/// roots keep the sum of all errors at that: the last factor covers it for up to 10,000 columns. Beyond, the Frobenius norm.
fn largest_singular_value(design: &Design) -> f64 {
    let s = design.columns();
    if s > 10_000 {
        return frobenius(design);
    }
    let mut power = DMatrix::from_row_slice(s, s, &weighted_gram(design, |_| 1.0));
    let square = frobenius(design).powi(2);
    let (mut logarithm, mut weight) = (0.0, 1.0);
    for _ in 0..20 {
        let size = power.norm();
        if !(size > 0.0 && size.is_finite()) {
            // A matrix of zeros, or beyond all range: the Frobenius norm bounds it.
            return square.sqrt();
        }
        logarithm += weight * size.ln();
        weight *= 0.5;
        power /= size;
        power = &power * &power;
    }
    logarithm += weight * power.norm().max(f64::MIN_POSITIVE).ln();
    // The first matrix is itself a rounded sum.
    let largest = logarithm.exp() + gram_error(design.rows()) * square;
    largest.min(square).sqrt() * (1.0 + 1e-7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Grade;
    use crate::central::attacks::{Pair, pairs, sparse_linear, sparse_logistic, uniform};
    use crate::central::strongly_convex::norm;
    use crate::privacy::Budget;

    fn budget(epsilon: f64) -> Privacy {
        Privacy::Budget(Budget::new(epsilon, 1e-6).unwrap())
    }

    fn relative(a: &[f64], b: &[f64]) -> f64 {
        let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        norm(&difference) / norm(b)
    }

    #[test]
    fn recovers_at_a_large_budget() {
        let (data, truth) = sparse_linear(5_000, 30, 1);
        let (binary, odds) = sparse_logistic(50_000, 30, 2);
        let linear = Transfer::linear((-5.0, 5.0), 1.0, 3).unwrap();
        let logistic = Transfer::logistic(1.0, 3).unwrap();
        let literal = |m: &Transfer| m.clone().literal().accepting(SAME_SUPPORT).unwrap();
        for model in [literal(&linear), linear] {
            let fit = model.fit(&data, budget(50.0), &mut RandomSource::insecure_seeded(3)).unwrap();
            assert!(relative(&fit.coefficients, &truth) < 0.06, "{}", relative(&fit.coefficients, &truth));
        }
        for model in [literal(&logistic), logistic] {
            let fit = model.fit(&binary, budget(50.0), &mut RandomSource::insecure_seeded(3)).unwrap();
            assert!(relative(&fit.coefficients, &odds) < 0.12, "{}", relative(&fit.coefficients, &odds));
        }
    }

    #[test]
    fn literal_transfer_is_refused_until_its_assumption_is_accepted_and_says_so() {
        let (data, _) = sparse_linear(200, 5, 1);
        let model = Transfer::linear((-5.0, 5.0), 1.0, 2).unwrap();
        let error = model.clone().literal().prepare(Shape::new(5, 200), budget(1.0)).unwrap_err();
        assert!(error.to_string().contains(SAME_SUPPORT));
        assert!(model.clone().literal().accepting("yes").is_err());
        let accepted = model.clone().literal().accepting(SAME_SUPPORT).unwrap();
        let mut rng = RandomSource::from_os().unwrap();
        let fit = accepted.fit(&data, budget(1.0), &mut rng).unwrap();
        assert_eq!(fit.certificate.grade(), &Grade::Conditional(vec![SAME_SUPPORT.into()]));
        let fit = model.fit(&data, budget(1.0), &mut rng).unwrap();
        assert_eq!(fit.certificate.grade(), &Grade::Certified);
    }

    /// The counter-example to the paper's Theorem 4.3: 9,999 records, of which one moves from the first column to the second.
    fn tied(last: usize) -> Dataset {
        let n = 9_999;
        let x: Vec<f64> = (0..n)
            .flat_map(|row| {
                let column = if row == n - 1 { last } else { row % 2 };
                [f64::from(u8::from(column == 0)), f64::from(u8::from(column == 1))]
            })
            .collect();
        Dataset::new(Design::from_f64(n, 2, x).unwrap(), vec![1.0; n]).unwrap()
    }

    #[test]
    fn one_record_can_flip_the_literal_teacher() {
        let model =
            Transfer::linear((-1.0, 1.0), 1.0, 1).unwrap().residual_cap(2.0).unwrap().ridge(0.5).unwrap();
        let score = model.response.family.bounded(2.0).unwrap();
        let teachers: Vec<Vec<f64>> = [0, 1]
            .into_iter()
            .map(|last| {
                let table = Boxed::new(&tied(last), 1.0, |y| y).unwrap();
                let support = literal_support(&model, &table).unwrap();
                assert_eq!(support, [last]);
                let mut full = vec![0.0; 2];
                full[support[0]] = model.teacher(&table, &support, &score).unwrap().0[0];
                full
            })
            .collect();
        let moved = norm(&[teachers[0][0] - teachers[1][0], teachers[0][1] - teachers[1][1]]);
        // (B.4) with s = 1, gamma = 1, lambda = 1/2.
        let printed = 2f64.sqrt() / (9_999.0 * 0.5);
        assert!((moved - 0.5 * 2f64.sqrt()).abs() < 1e-3, "{moved}");
        assert!((printed - 2.8e-4).abs() < 0.1e-4 && moved > 2_000.0 * printed);
    }

    /// On a fixed support no neighbour moves the teacher by more than claimed, nor its answers.
    #[test]
    fn no_neighbour_moves_the_teacher_by_more_than_claimed() {
        let mut nearest = 0.0_f64;
        let public = synthetic(20, 4, 1.0).unwrap();
        for (linear, target) in [(true, (-3.0, 2.0)), (false, (0.0, 1.0))] {
            for (case, Pair { left, right, .. }) in pairs(600, 4, target, 17).into_iter().enumerate() {
                let model =
                    if linear { Transfer::linear(target, 1.0, 3) } else { Transfer::logistic(1.0, 3) }
                        .unwrap();
                let lambda = [1e-3, 0.1, 10.0][case % 3];
                let model = model.ridge(lambda).unwrap();
                let cap = [0.05, 1.0, 6.0][case / 3 % 3];
                let score = model.response.family.bounded(cap).unwrap();
                let support = [vec![0, 1, 2], vec![1, 2, 3]][case % 2].clone();
                let solve = |data: &Dataset| {
                    let table = Boxed::new(data, 1.0, |y| model.response.admit(y)).unwrap();
                    model.teacher(&table, &support, &score).unwrap()
                };
                let ((a, claim), (b, other)) = (solve(&left), solve(&right));
                assert_eq!(claim, other);
                let moved: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                assert!(norm(&moved) <= claim, "{} > {claim}", norm(&moved));
                nearest = nearest.max(norm(&moved) / claim);
                let chosen = public.select_columns(&support).unwrap();
                let mut answers = vec![0.0; 20];
                predict(&chosen, &moved, &mut answers);
                assert!(norm(&answers) <= largest_singular_value(&chosen) * claim);
            }
        }
        assert!(nearest > 0.9, "{nearest}");
    }

    #[test]
    fn the_spectral_norm_is_rounded_upward_and_tight() {
        let mut rng = RandomSource::insecure_seeded(8);
        for case in 0..200 {
            let (n, s) = (1 + case % 30, 1 + case % 7);
            let entries: Vec<f64> =
                (0..n * s).map(|_| uniform(&mut rng) * 10f64.powi(case as i32 % 9 - 4)).collect();
            let matrix = DMatrix::from_row_slice(n, s, &entries);
            let exact = matrix.singular_values().max();
            let bound = largest_singular_value(&Design::from_f64(n, s, entries).unwrap());
            assert!(bound >= exact && bound <= exact * (1.0 + 1e-5), "{bound} {exact}");
        }
        assert_eq!(largest_singular_value(&Design::from_f64(2, 2, vec![0.0; 4]).unwrap()), 0.0);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(Transfer::logistic(1.0, 0).is_err());
        assert!(Transfer::logistic(f64::NAN, 2).is_err());
        assert!(Transfer::linear((2.0, 1.0), 1.0, 2).is_err());
        let model = Transfer::logistic(1.0, 3).unwrap();
        assert!(model.clone().ridge(1e-12).unwrap().prepare(Shape::new(5, 100), budget(1.0)).is_err());
        assert!(model.clone().ridge(0.0).is_err() && model.clone().synthetic_features(0).is_err());
        assert!(model.prepare(Shape::new(2, 100), budget(1.0)).is_err());
        let other = synthetic(50, 7, 1.0).unwrap();
        assert!(
            model.clone().public_features(other.clone()).prepare(Shape::new(8, 100), budget(1.0)).is_err()
        );
        assert!(model.clone().public_features(other).prepare(Shape::new(7, 100), budget(1.0)).is_ok());
        assert!(model.synthetic_features(2).unwrap().prepare(Shape::new(7, 100), budget(1.0)).is_err());
    }
}
