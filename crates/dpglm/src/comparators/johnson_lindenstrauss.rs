//! Linear regression on a private random projection of the rows.
//!
//! # Algorithm (Sheffet 2017)
//! 1. Clamp entries and responses; scale the response to the length that a row of features may have. The rows of A, features and
//!    response together, then have length at most B.
//! 2. The smallest eigenvalue of `A^T A` (`least_eigenvalue`), with Gaussian noise, lowered until it is a lower bound with probability `1 - d`.
//! 3. The projection to r rows is private if all eigenvalues reach `w^2 = B^2 / h` ([`super::projection`]). Where the bound of
//!    step 2 does not, as much ridge as is missing is appended to A, and a little always.
//! 4. Release `R A` (the appended rows are Gaussian noise on it), and solve least squares on the r projected rows.
//!
//! # Guarantee
//! Replacement of one row, (epsilon, delta), for every data set. Step 2 has sensitivity `B^2`: taking a row away lowers, and
//! adding one raises, the smallest eigenvalue by at most that. The computed one errs by a proven amount (`docs/proofs/eigenvalue.md`), by
//! which the sensitivity is enlarged twice. Step 4 is (e, d') private wherever the bound of step 2 holds.
//!
//! # Why private
//! [`super::projection`] for the projection; its argument needs the eigenvalue bound on the first data set of the pair only, so
//! the failure of step 2 costs its probability once. In the program R is a matrix of doubles, not of real numbers, and the sum
//! `R A` is rounded: given R, the output is an exact Gaussian on a grid about a point at a distance of at most `eta` from
//! the ideal one, so both data sets' distributions are within `eta / (2 w0)` of the ideal in total variation, `w0^2` being the
//! least ridge. `(1 + e^epsilon)` times that is charged to delta, and refused where it is not small.
//!
//! # Differs from the paper
//! The constants are derived, not printed; the ridge is what is missing, in place of all or nothing; clamped, not assumed;
//! no t-values, only the estimate.
//!
//! # When it works
//! Many rows and few columns: w grows like `B r^(1/4)`, and r must exceed the number of columns. With as many columns as rows
//! the ridge hides the data.
//!
//! # References
//! Sheffet, *Differentially private ordinary least squares*, ICML 2017.

use super::least_eigenvalue;
use super::projection::largest_ratio;
use crate::central::Fit;
use crate::central::response::Response;
use crate::central::screening::require_entry;
use crate::data::Shape;
use crate::data::boxed::Boxed;
use crate::data::{Dataset, Design};
use crate::error::{Error, Parameter, Result};
use crate::kernels::{fused_pass_multi, plain_error, weighted_gram};
use crate::noise::{GaussianNoise, Grid, RandomSource};
use crate::numeric::{normal_below, turning_point};
use crate::privacy::{Adjacency, Noise};
use crate::release::{
    CalibratedPlan, Estimator, Fixed, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};
use nalgebra::{DMatrix, DVector};

const EIGENVALUE: Handle<Vector> = Handle::new("smallest eigenvalue");
const PROJECTION: Handle<Fixed> = Handle::new("projected rows");
/// The projection's share of epsilon.
const SHARE: f64 = 0.8;
/// Shares of delta: the projection, the failure of the eigenvalue bound, the rounding.
const FAILURES: (f64, f64, f64) = (0.4, 0.05, 0.05);
/// The least ridge, relative to what the projection needs.
const LEAST_RIDGE: f64 = 1.0 / 64.0;
/// Projected rows computed in one pass.
const BATCH: usize = 16;

/// Linear regression on a private random projection.
#[derive(Debug, Clone, PartialEq)]
pub struct JohnsonLindenstrauss {
    response: Response,
    entry: f64,
    rows: Option<u64>,
    ratio: f64,
}

impl JohnsonLindenstrauss {
    /// For responses in the public interval `target` and features within `entry` of zero.
    pub fn linear(target: (f64, f64), entry: f64) -> Result<Self> {
        Ok(Self { response: Response::linear(target)?, entry: require_entry(entry)?, rows: None, ratio: 1.0 })
    }

    /// Projects to this many rows in place of four times the number of columns.
    pub fn projected_rows(mut self, rows: u64) -> Result<Self> {
        crate::error::require_nonzero(Parameter::ProjectedRows, rows, "more than there are columns")?;
        self.rows = Some(rows);
        Ok(self)
    }

    /// The largest length of a row of A, and what the response is multiplied by.
    fn frame(&self, columns: usize) -> (f64, f64) {
        let features = self.entry * (columns as f64).sqrt();
        // The response may be as long as the features are together.
        (features * 2f64.sqrt() * (1.0 + 1e-12), features / self.response.reach())
    }

    /// The total variation between the program's projection and the ideal one, in units that cancel.
    ///
    /// An entry of R is a multiple of 2^-56, off by at most 2^-57, and at most 16 but with probability 1.3e-57. It is cut into a
    /// multiple of 2^-20 and a rest below 2^-20. Entries of A have at most 20 bits, so the kernel's sums of the first part
    /// are exact (products of 44 bits, blocks of 32 rows, compensated totals, up to 2^30 rows); those of the rest err by at most
    /// `n B 2^-20` times the error of summation. Putting them together rounds twice, relative to a projected row, whose norm
    /// is at most `sqrt(n) B (1 + 12)` but with probability 1e-30. Rounding to the noise's grid moves it by `2^-45 B`.
    fn rounding(&self, columns: usize, units: usize, rows: u64, ratio: f64) -> f64 {
        let n = units as f64;
        let each = n * (2f64.powi(-57) + 2f64.powi(-20) * plain_error(units, false))
            + f64::EPSILON * 13.0 * n.sqrt()
            + 2f64.powi(-44);
        let noise = (LEAST_RIDGE / ratio).sqrt();
        let unlikely = rows as f64 * (1.3e-57 * n + 1e-30);
        if units > 1 << 30 || columns > 1 << 20 {
            return 1.0;
        }
        0.5 * (rows as f64).sqrt() * each / noise + unlikely
    }
}

impl Estimator for JohnsonLindenstrauss {
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
        let rows = self.rows.unwrap_or(4 * (columns as u64 + 1));
        let plan = vec![EIGENVALUE.planned(1.0, 1)];
        let (mut fixed, mut ratio) = (Vec::new(), 1.0);
        if let Privacy::Budget(budget) = privacy {
            let (epsilon, delta) = (SHARE * budget.epsilon(), budget.delta());
            if budget.is_pure() {
                return Err(Error::OutOfRange {
                    parameter: Parameter::Delta,
                    range: "above 0 for a random projection",
                    value: "0".into(),
                    remedy: "state a delta well below 1/n",
                });
            }
            ratio = largest_ratio(rows, epsilon, FAILURES.0 * delta)?;
            let charge = self.rounding(columns, units, rows, ratio) * (1.0 + budget.epsilon().exp());
            if charge > FAILURES.2 * delta {
                return Err(Error::Conflict(format!(
                    "the rounding of {units} rows projected to {rows} costs a delta of {charge:e}, more than a twentieth of the \
                     budget's: project to fewer rows, or grant a larger delta"
                )));
            }
            let failures = (FAILURES.0 + FAILURES.1 + FAILURES.2) * delta;
            fixed.push(PROJECTION.event(epsilon, failures)?);
        }
        let model = Self { rows: Some(rows), ratio, ..self.clone() };
        let calibration = CalibratedPlan::beside(fixed, plan, privacy)?;
        Ok(Prepared::new(model, (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<Fit> {
        let Shape { columns, units, .. } = data.shape();
        let (model, d) = (&self, columns);
        let (length, factor) = model.frame(d);
        // Step 1
        let table = Boxed::new(data, model.entry, |y| model.response.admit(y))?;
        let joint = joined(&table, model.entry, factor, model.response.reach())?;

        // Step 2
        let error = least_eigenvalue::error(units, d + 1) * length * length;
        let sensitivity = (length * length + 2.0 * error) * (1.0 + 1e-12);
        let mut least = vec![least_eigenvalue::least(&joint, length)];
        session.vector(EIGENVALUE, &mut least, sensitivity)?;
        let noise = session.noise_per_sensitivity(EIGENVALUE) * sensitivity;
        let failure = FAILURES.1 * failure_delta(&session);
        // A millionth more covers the rounding to the grid, and the noise's own enlargement for it.
        let certain = least[0] - error - noise * (1.0 + 1e-6) * upper_quantile(failure) - 1e-6 * sensitivity;

        // Step 3
        let wanted = length * length / model.ratio * (1.0 + 1e-12);
        let ridge = (wanted - certain.max(0.0)).max(LEAST_RIDGE * wanted);

        // Step 4
        let rows = model.rows.unwrap_or(1) as usize;
        let draw =
            |rng: &mut RandomSource, share: f64| project(&joint, rows, ridge.sqrt() * share, length, rng);
        // A projection shows the second moments: one row of length B moves them by sqrt(2) B^2 in Frobenius norm.
        let hidden =
            |_: &[f64]| (weighted_gram(&joint, |_| 1.0), 2f64.sqrt() * length * length + 2.0 * error);
        let projected = match session.fixed(PROJECTION, draw, hidden)? {
            Some(projected) => projected,
            None => (0..units).flat_map(|row| joint.row(row)).collect(),
        };
        let coefficients = least_squares(&projected, d).into_iter().map(|b| b / factor).collect();
        let certificate = session
            .close(Adjacency::ReplaceRow)
            .enforcing(format!("features are clamped to [-{0}, {0}]", model.entry))
            .enforcing("the response is clamped to its declared range")
            .enforcing("the projected matrix has its eigenvalues lifted by a ridge to what privacy needs");
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}

/// The budget's delta, from the planned event; 1/2 without privacy, where the noise is zero.
fn failure_delta(session: &ReleaseSession<'_>) -> f64 {
    let events = session.planned_events().unwrap_or_default();
    let planned = events.iter().find_map(|e| match e.noise() {
        Noise::Approximate { delta, .. } => Some(delta / (FAILURES.0 + FAILURES.1 + FAILURES.2)),
        _ => None,
    });
    planned.unwrap_or(0.5)
}

/// Features and scaled response side by side, cut to 20 bits each: no row gets longer, and projections are exact.
fn joined(table: &Boxed, entry: f64, factor: f64, reach: f64) -> Result<Design> {
    let (n, d) = (table.design.rows(), table.design.columns());
    let unit = |bound: f64| libm::exp2(bound.log2().ceil() - 20.0);
    let cut = |x: f64, unit: f64| (x / unit).trunc() * unit;
    let (feature_unit, response_unit) = (unit(entry), unit(factor * reach));
    let mut entries = Vec::with_capacity(n * (d + 1));
    for row in 0..n {
        entries.extend(table.design.row(row).map(|x| cut(x, feature_unit)));
        // A row of zeros has weight zero, and its response does not count either.
        let counts = table.design.row(row).any(|x| x != 0.0);
        entries.push(if counts { cut(factor * table.response[row], response_unit) } else { 0.0 });
    }
    Design::from_f64(n, d + 1, entries)
}

/// `R A` with Gaussian noise of deviation `ridge` on every entry, row after row.
fn project(joint: &Design, rows: usize, ridge: f64, length: f64, rng: &mut RandomSource) -> Result<Vec<f64>> {
    let (n, d) = (joint.rows(), joint.columns());
    // Multiples of 2^-56.
    let normal = GaussianNoise::new(Grid::for_l2(2f64.powi(-32), 1)?, 1.0)?;
    let noise = GaussianNoise::new(Grid::for_l2(length * 2f64.powi(-20), d)?, ridge)?;
    let (coarse, fine) = (2f64.powi(-20), 2f64.powi(-56));
    let mut out = Vec::with_capacity(rows * d);
    let mut combination = vec![0.0; 2 * n * BATCH];
    let zeros = vec![0.0; 2 * BATCH * d];
    while out.len() < rows * d {
        let batch = BATCH.min(rows - out.len() / d);
        for row in combination[..2 * n * batch].chunks_exact_mut(2 * batch) {
            let (first, rest) = row.split_at_mut(batch);
            for (first, rest) in first.iter_mut().zip(rest) {
                let units = normal.sample(rng);
                let whole = (units + (1 << 35)) >> 36;
                *first = whole as f64 * coarse;
                *rest = (units - (whole << 36)) as f64 * fine;
            }
        }
        let mut sums = vec![0.0; 2 * batch * d];
        let take = |row: usize, _: &[f64], out: &mut [f64]| {
            out.copy_from_slice(&combination[2 * row * batch..][..2 * batch]);
        };
        fused_pass_multi(joint, 2 * batch, &zeros[..2 * batch * d], take, &mut sums);
        let (first, rest) = sums.split_at_mut(batch * d);
        first.iter_mut().zip(rest).for_each(|(a, b)| *a += *b);
        noise.add_to(first, rng);
        out.extend_from_slice(first);
    }
    Ok(out)
}

/// Least squares of the last column on the others, lifted a little where they do not determine it.
fn least_squares(rows: &[f64], columns: usize) -> Vec<f64> {
    let table = DMatrix::from_row_slice(rows.len() / (columns + 1), columns + 1, rows);
    let gram = table.tr_mul(&table);
    let mut matrix = gram.view((0, 0), (columns, columns)).into_owned();
    let products = DVector::from_iterator(columns, (0..columns).map(|j| gram[(j, columns)]));
    let mut lift = 1e-12 * matrix.trace().max(f64::MIN_POSITIVE) / columns as f64;
    // The matrix is positive semi-definite but for rounding, so a few doublings make it definite.
    for _ in 0..200 {
        (0..columns).for_each(|j| matrix[(j, j)] += lift);
        if let Some(factor) = matrix.clone().cholesky() {
            return factor.solve(&products).as_slice().to_vec();
        }
        lift *= 2.0;
    }
    vec![0.0; columns]
}

/// A z with `P(N(0,1) > z) <= p`, rounded up.
fn upper_quantile(p: f64) -> f64 {
    turning_point((0.0, 40.0), 80, |z| normal_below(-z) * (1.0 + 1e-9) > p).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::{Pair, pairs, sparse_linear};
    use crate::privacy::Budget;

    fn relative(a: &[f64], b: &[f64]) -> f64 {
        let square = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>();
        (square(&mut a.iter().zip(b).map(|(a, b)| a - b)) / square(&mut b.iter().copied())).sqrt()
    }

    #[test]
    fn recovers_at_a_large_budget_with_and_without_a_ridge() {
        for (n, bound) in [(60_000, 0.05), (3_000, 0.7)] {
            let (data, truth) = sparse_linear(n, 5, 1);
            let model = JohnsonLindenstrauss::linear((-5.0, 5.0), 1.0).unwrap().projected_rows(100).unwrap();
            let budget = Privacy::Budget(Budget::new(8.0, 1e-5).unwrap());
            let fit = model.fit(&data, budget, &mut RandomSource::insecure_seeded(3)).unwrap();
            assert!(
                relative(&fit.coefficients, &truth) < bound,
                "{n}: {}",
                relative(&fit.coefficients, &truth)
            );
        }
    }

    /// The smallest eigenvalue against random and adversarial neighbours.
    #[test]
    fn no_neighbour_moves_the_eigenvalue_by_more_than_claimed() {
        let mut nearest = 0.0_f64;
        let model = JohnsonLindenstrauss::linear((-3.0, 2.0), 1.0).unwrap();
        for columns in [1, 3] {
            let (length, factor) = model.frame(columns);
            for Pair { left, right, .. } in pairs(3_000, columns, (-3.0, 2.0), 11) {
                let least = |data: &Dataset| {
                    let table = Boxed::new(data, 1.0, |y| model.response.admit(y)).unwrap();
                    let joint = joined(&table, 1.0, factor, 3.0).unwrap();
                    for row in 0..joint.rows() {
                        assert!(joint.row(row).map(|x| x * x).sum::<f64>().sqrt() <= length);
                    }
                    least_eigenvalue::least(&joint, length)
                };
                let moved = (least(&left) - least(&right)).abs();
                let claim =
                    length * length * (1.0 + 2.0 * least_eigenvalue::error(left.units(), columns + 1));
                assert!(moved <= claim, "{moved} > {claim}");
                nearest = nearest.max(moved / claim);
            }
        }
        assert!(nearest > 0.3, "{nearest}");
    }

    #[test]
    fn the_projection_has_the_covariance_of_the_rows_and_the_ridge() {
        let design = Design::from_f64(3, 2, vec![1.0, 0.0, 0.0, 2.0, 1.0, 1.0]).unwrap();
        let rows = 40_000;
        let out = project(&design, rows, 0.5, 3.0, &mut RandomSource::insecure_seeded(9)).unwrap();
        let moment = |i: usize, j: usize| out.chunks_exact(2).map(|r| r[i] * r[j]).sum::<f64>() / rows as f64;
        // Standard errors are below 0.04.
        assert!((moment(0, 0) - 2.25).abs() < 0.2 && (moment(1, 1) - 5.25).abs() < 0.2);
        assert!((moment(0, 1) - 1.0).abs() < 0.2);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(JohnsonLindenstrauss::linear((1.0, 0.0), 1.0).is_err());
        assert!(JohnsonLindenstrauss::linear((0.0, 1.0), -1.0).is_err());
        let model = JohnsonLindenstrauss::linear((0.0, 1.0), 1.0).unwrap();
        assert!(model.clone().projected_rows(0).is_err());
        assert!(model.prepare(Shape::new(3, 100), Privacy::Budget(Budget::pure(1.0).unwrap())).is_err());
        assert!(model.prepare(Shape::new(0, 100), Privacy::None).is_err());
        // Rounding is refused where it is not small beside delta.
        let tiny = Privacy::Budget(Budget::new(1.0, 1e-14).unwrap());
        assert!(model.prepare(Shape::new(3, 10_000_000), tiny).is_err());
    }
}
