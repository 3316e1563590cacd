//! What the figures about means share.

use super::SPARSITY;
use crate::Result;
use crate::draw::{Draw, distance};
use crate::figure::Point;
use crate::literal::{LiteralMean, Truncate};
use dpglm::central::{Privacy, PrivateMean, SparseMean};
use dpglm::data::Design;
use dpglm::noise::RandomSource;
use dpglm::release::Estimator;

/// What is open in all of them.
pub(crate) const RANGE_CHOICE: &str =
    "the certified mean is given the public range [-50, 50] of every column";
/// How the quantiles of the literal runs are found.
pub(crate) const QUANTILE_CHOICE: &str = "Lei's Algorithm 1' is not printed: the exponential mechanism on the ranks of all entries, epsilon 0.5 for each of two quantiles, which the paper does not account for";
/// The public range.
pub const RANGE: (f64, f64) = (-50.0, 50.0);

/// Normal rows about a mean, entry after entry.
pub struct Rows {
    /// The truth.
    pub mu: Vec<f64>,
    /// The entries, row after row.
    pub entries: Vec<f64>,
}

impl Rows {
    /// `n` rows of `d` columns; the first `s` means uniform on (-10, 10), the others zero.
    pub fn draw(draw: &mut Draw, n: usize, d: usize, s: usize) -> Self {
        let mu: Vec<f64> = (0..d).map(|j| if j < s { draw.between(-10.0, 10.0) } else { 0.0 }).collect();
        let mut entries = Vec::with_capacity(n * d);
        for _ in 0..n {
            entries.extend(mu.iter().map(|m| m + draw.normal()));
        }
        Self { mu, entries }
    }

    /// The columns' averages.
    pub fn average(&self) -> Vec<f64> {
        average(&self.entries, self.mu.len())
    }

    /// The average with all but the s largest set to zero.
    pub(crate) fn sparse_average(&self, s: usize) -> Vec<f64> {
        keep_largest(self.average(), s)
    }

    /// The l2 distance from the truth.
    pub fn error(&self, estimate: &[f64]) -> f64 {
        distance(estimate, &self.mu)
    }

    /// As a table.
    pub fn design(&self) -> dpglm::Result<Design> {
        let d = self.mu.len();
        Design::from_f64(self.entries.len() / d, d, self.entries.clone())
    }

    /// The error of the certified mean of all columns.
    pub fn certified(&self, privacy: Privacy, rng: &mut RandomSource) -> dpglm::Result<f64> {
        let model = PrivateMean::new(vec![RANGE; self.mu.len()])?;
        Ok(self.error(&model.fit(&self.design()?, privacy, rng)?.means))
    }

    /// The error of the certified sparse mean, told s.
    pub(crate) fn certified_sparse(
        &self,
        table: &Design,
        s: usize,
        privacy: Privacy,
        rng: &mut RandomSource,
    ) -> dpglm::Result<f64> {
        let fit = SparseMean::new(vec![RANGE; self.mu.len()], s)?.fit(table, privacy, rng)?;
        Ok(self.error(&spread(self.mu.len(), &fit.support, &fit.fit.means)))
    }
}

/// The averages of columns.
pub fn average(entries: &[f64], d: usize) -> Vec<f64> {
    let mut sums = vec![0.0; d];
    for row in entries.chunks_exact(d) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    let n = (entries.len() / d) as f64;
    sums.into_iter().map(|s| s / n).collect()
}

/// All but the s largest set to zero.
pub fn keep_largest(mut v: Vec<f64>, s: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()));
    order.iter().skip(s).for_each(|&j| v[j] = 0.0);
    v
}

/// Values on a support, zero elsewhere.
pub fn spread(d: usize, support: &[usize], values: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; d];
    support.iter().zip(values).for_each(|(&j, &v)| all[j] = v);
    all
}

/// The literal algorithm at a point.
pub fn literal(point: &Point, truncate: Truncate, sparse: bool) -> LiteralMean {
    LiteralMean {
        n: point.whole("n"),
        d: point.whole("d"),
        truncate,
        sparsity: sparse.then_some(SPARSITY),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
    }
}

/// Gigabytes: the entries twice, and their sorted copy.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * point.get("d") * 28e-9
}

/// The literal mean's error.
pub(crate) fn literal_error(rows: &Rows, model: &LiteralMean, draw: &mut Draw) -> Result<f64> {
    Ok(rows.error(&model.fit(&rows.entries, draw)?))
}
