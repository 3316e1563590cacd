//! What was fitted, and the same in the user's own units.

use super::{Family, INTERCEPT, Model};
use dpglm::accounting::Certificate;
use dpglm::central::{Fit, Interval, MultinomialFit, SparseFit, SparseMultinomialFit};
use dpglm::estimators::bounds::FoundBounds;
use dpglm::estimators::dense::{Inference, RegressionFit};
use dpglm_io::UserUnits;

/// Of more coefficients than these an artefact holds no covariance: its size grows with the square.
pub(crate) const MOST_COVARIANCES: usize = 500;

/// What was fitted, in stored units: one block of coefficients, or one a class after the first.
pub struct Estimates {
    /// One block for each linear predictor.
    pub blocks: Vec<Vec<f64>>,
    /// The fitted columns of the design, ascending, the constant one included; all of them if `None`.
    pub support: Option<Vec<usize>>,
    /// Covariance of the coefficients of each block, or of the unshrunk ones, and the half-width of an interval in standard errors.
    pub spread: Option<(Vec<Vec<f64>>, f64)>,
    /// The unshrunk coefficients of each block that intervals belong to, where the fitted ones are shrunk.
    pub unshrunk: Option<Vec<Unshrunk>>,
    /// The penalty, where it was chosen privately.
    pub ridge: Option<f64>,
    /// The dispersion, where it was asked for.
    pub dispersion: Option<f64>,
    /// Bounds that were found: coefficients are of columns as scaled by them.
    pub bounds: Option<FoundBounds>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// What intervals of one block belong to where fitted coefficients are shrunk, in stored units.
pub struct Unshrunk {
    /// The estimates of maximum likelihood.
    pub estimates: Vec<f64>,
    /// Whether the budget determines the coefficient.
    pub determined: Vec<bool>,
}

/// One coefficient in the user's units.
pub struct Coefficient {
    /// Its column, or that of a class.
    pub name: String,
    /// Its value.
    pub estimate: f64,
    /// The unshrunk value, which the interval belongs to, and whether the budget determines it.
    pub unshrunk: Option<(f64, bool)>,
    /// Standard error and interval.
    pub spread: Option<(f64, [f64; 2])>,
}

/// Half of an interval's width in standard errors: the same for all.
fn half_width(intervals: Option<&[Interval]>) -> f64 {
    let interval = intervals.into_iter().flatten().find(|i| i.standard_error > 0.0);
    interval.map_or(0.0, |i| (i.high - i.low) / (2.0 * i.standard_error))
}

impl From<Fit> for Estimates {
    fn from(fit: Fit) -> Self {
        let half_width = half_width(fit.intervals.as_deref());
        Self {
            blocks: vec![fit.coefficients],
            support: None,
            spread: fit.covariance.map(|covariance| (vec![covariance], half_width)),
            unshrunk: None,
            ridge: None,
            dispersion: None,
            bounds: None,
            certificate: fit.certificate,
        }
    }
}

impl From<RegressionFit> for Estimates {
    fn from(fit: RegressionFit) -> Self {
        let (mut spread, mut unshrunk) = (None, None);
        if let Some(blocks) = fit.inference {
            let (mut covariances, mut half) = (Some(Vec::new()), 0.0_f64);
            let mut all = Vec::new();
            for Inference { estimates, intervals, determined, covariance } in blocks {
                half = half.max(half_width(intervals.as_deref()));
                covariances = covariances.zip(covariance).map(|(before, one)| [before, vec![one]].concat());
                all.push(Unshrunk { estimates, determined });
            }
            spread = covariances.map(|covariances| (covariances, half));
            unshrunk = Some(all);
        }
        Self {
            blocks: fit.coefficients,
            support: None,
            spread,
            unshrunk,
            ridge: None,
            dispersion: fit.dispersion,
            bounds: fit.bounds,
            certificate: fit.certificate,
        }
    }
}

impl From<MultinomialFit> for Estimates {
    fn from(fit: MultinomialFit) -> Self {
        Self {
            blocks: fit.coefficients,
            support: None,
            spread: None,
            unshrunk: None,
            ridge: None,
            dispersion: None,
            bounds: None,
            certificate: fit.certificate,
        }
    }
}

impl From<SparseFit> for Estimates {
    fn from(sparse: SparseFit) -> Self {
        Self { support: Some(sparse.support), ..sparse.fit.into() }
    }
}

impl From<SparseMultinomialFit> for Estimates {
    fn from(sparse: SparseMultinomialFit) -> Self {
        Self { support: Some(sparse.support), ..sparse.fit.into() }
    }
}

impl Estimates {
    /// A fit without an intercept whose zeros are left out, and all but the largest coefficients where a sparsity is given.
    pub(crate) fn of_largest(fit: Fit, sparsity: Option<usize>) -> Self {
        let all = fit.coefficients;
        let mut support: Vec<usize> = (0..all.len()).filter(|&j| all[j] != 0.0).collect();
        // A stable sort: ties by index.
        support.sort_by(|&i, &j| all[j].abs().total_cmp(&all[i].abs()));
        support.truncate(sparsity.unwrap_or(all.len()));
        support.sort_unstable();
        let blocks = vec![support.iter().map(|&j| all[j]).collect()];
        let certificate = fit.certificate;
        Self {
            blocks,
            support: Some(support),
            spread: None,
            unshrunk: None,
            ridge: None,
            dispersion: None,
            bounds: None,
            certificate,
        }
    }

    /// The names of the chosen columns; `None` if all columns were fitted.
    pub fn chosen(&self, intercept: bool, names: &[String]) -> Option<Vec<String>> {
        let constants = usize::from(intercept);
        let of_column = |j: &usize| names.get(j.checked_sub(constants)?).cloned();
        self.support.as_ref().map(|support| support.iter().filter_map(of_column).collect())
    }

    /// The largest coefficient in size, the intercept's left out, with its column's name.
    pub fn largest<'n>(&self, intercept: bool, names: &'n [String]) -> Option<(&'n str, f64)> {
        let slopes =
            self.blocks.iter().flat_map(|block| block.iter().skip(usize::from(intercept)).zip(names));
        let sizes = slopes.map(|(b, name)| (name.as_str(), b.abs()));
        sizes.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The coefficients of the user's columns. `log_unit` is the logarithm of the unit in which exposures were measured: it
    /// moves from the intercept to the exposures.
    pub(crate) fn in_user_units(
        &self,
        model: &Model,
        names: &[String],
        units: &UserUnits,
        log_unit: f64,
    ) -> Vec<Coefficient> {
        let constants = usize::from(model.intercept);
        let classes = model.classes();
        let chosen = self.chosen(model.intercept, names);
        let names = chosen.as_deref().unwrap_or(names);
        let units = &self.units_of_chosen(constants, units);
        let in_user_units = |block: &[f64]| -> Vec<f64> {
            let stored = block.get(constants..).unwrap_or_default();
            let intercept = block.first().copied().filter(|_| constants > 0);
            let (slopes, intercept) = units.coefficients(stored, intercept);
            intercept.map(|b| b - log_unit).into_iter().chain(slopes).collect()
        };
        let mut all = Vec::new();
        for (k, block) in self.blocks.iter().enumerate() {
            let errors = self.standard_errors(k, units, constants > 0);
            let unshrunk = self.unshrunk.as_ref().and_then(|blocks| blocks.get(k)).map(|unshrunk| {
                let estimates = in_user_units(&unshrunk.estimates);
                let determined = self.determined(k, unshrunk, units, constants > 0, errors.as_ref());
                estimates.into_iter().zip(determined).collect::<Vec<_>>()
            });
            let labels =
                (constants > 0).then_some(INTERCEPT).into_iter().chain(names.iter().map(String::as_str));
            for (j, (name, estimate)) in labels.zip(in_user_units(block)).enumerate() {
                let name = if model.family == Family::Multinomial {
                    coefficient_of_class(&classes, k + 1, name)
                } else {
                    name.to_owned()
                };
                let unshrunk = unshrunk.as_ref().and_then(|all| all.get(j).copied());
                let middle = unshrunk.map_or(estimate, |(estimate, _)| estimate);
                let spread = errors.as_ref().and_then(|(errors, half_width)| {
                    let error = *errors.get(j)?;
                    Some((error, [middle - half_width * error, middle + half_width * error]))
                });
                all.push(Coefficient { name, estimate, unshrunk, spread });
            }
        }
        all
    }

    /// Which coefficients the budget determines in the user's units. Slopes are the stored ones in other units; the intercept is
    /// far from the stored one's middle, and is determined unless slopes that are not make up a third of its variance.
    fn determined(
        &self,
        block: usize,
        unshrunk: &Unshrunk,
        units: &UserUnits,
        with_intercept: bool,
        errors: Option<&(Vec<f64>, f64)>,
    ) -> Vec<bool> {
        let mut determined = unshrunk.determined.clone();
        let covariance = self.spread.as_ref().and_then(|(blocks, _)| blocks.get(block));
        let Some((covariance, (errors, _))) = covariance.zip(errors) else { return determined };
        if with_intercept && !determined.is_empty() {
            let size = determined.len();
            let hidden = (1..size).filter(|&j| !unshrunk.determined[j]);
            let variance: f64 = hidden
                .map(|j| units.shift.get(j - 1).map_or(0.0, |s| s * s * covariance[j * size + j]))
                .sum();
            determined[0] &= errors.first().is_none_or(|error| 3.0 * variance < error * error);
        }
        determined
    }

    fn units_of_chosen(&self, constants: usize, units: &UserUnits) -> UserUnits {
        let Some(support) = &self.support else { return units.clone() };
        let pick = |all: &[f64]| -> Vec<f64> {
            support.iter().filter_map(|j| all.get(j.checked_sub(constants)?).copied()).collect()
        };
        UserUnits { scale: pick(&units.scale), shift: pick(&units.shift) }
    }

    /// Standard errors in the user's units, the intercept first, and an interval's half-width in standard errors.
    fn standard_errors(
        &self,
        block: usize,
        units: &UserUnits,
        with_intercept: bool,
    ) -> Option<(Vec<f64>, f64)> {
        let (_, half_width) = self.spread.as_ref()?;
        let size = units.scale.len() + usize::from(with_intercept);
        let user = self.covariance(block, units, with_intercept)?;
        let errors = (0..size).map(|i| user[i * size + i].max(0.0).sqrt()).collect();
        Some((errors, *half_width))
    }

    /// The covariances of all blocks in the user's units, the intercept first: of each row after row, up to the diagonal. `None` without
    /// standard errors, and for very many coefficients.
    pub(crate) fn covariances(&self, intercept: bool, units: &UserUnits) -> Option<Vec<Vec<Vec<f64>>>> {
        let units = &self.units_of_chosen(usize::from(intercept), units);
        let size = units.scale.len() + usize::from(intercept);
        if size > MOST_COVARIANCES {
            return None;
        }
        let triangle = |block: usize| -> Option<Vec<Vec<f64>>> {
            let all = self.covariance(block, units, intercept)?;
            Some((0..size).map(|i| all[i * size..=i * size + i].to_vec()).collect())
        };
        (0..self.spread.as_ref()?.0.len()).map(triangle).collect()
    }

    /// The covariance of a block in the user's units, the intercept first.
    fn covariance(&self, block: usize, units: &UserUnits, with_intercept: bool) -> Option<Vec<f64>> {
        let covariance = self.spread.as_ref()?.0.get(block)?;
        let size = units.scale.len() + usize::from(with_intercept);
        // The map to the user's units wants the intercept last.
        let from = |i: usize| if with_intercept { (i + 1) % size } else { i };
        let entry = |i: usize, j: usize| covariance.get(from(i) * size + from(j)).copied();
        let reordered: Option<Vec<f64>> = (0..size * size).map(|k| entry(k / size, k % size)).collect();
        let user = units.covariance(&reordered?, with_intercept)?;
        let back = |i: usize| if with_intercept { (i + size - 1) % size } else { i };
        Some((0..size * size).map(|k| user[back(k / size) * size + back(k % size)]).collect())
    }
}

/// The name of a class's coefficient.
pub fn coefficient_of_class(classes: &[String], class: usize, name: &str) -> String {
    format!("{}:{name}", classes.get(class).map_or("", String::as_str))
}
