//! How a model is fitted: the methods by name, and what each of them takes.

use crate::render;
use serde::{Deserialize, Serialize};

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Maximum likelihood in few passes over the rows: for every family
    Likelihood,
    /// Bounded scores, for rows that few others resemble: many noisy gradient steps. Estimates what a robust fit does, not the mean
    #[cfg_attr(feature = "clap", value(alias = "gradient"))]
    #[serde(alias = "gradient")]
    BoundedScore,
    /// Noisy sums of squares and products, in one pass: for a gaussian response
    Statistics,
    /// The exact optimum, without any privacy
    Reference,
    /// Sparse: choose the columns once, then take noisy gradient steps on them alone
    SelectRefine,
    /// Sparse: choose the columns anew in each of ten noisy gradient steps
    NoisyIht,
    /// Sparse: the same by Laplace peeling, as the papers print it
    PeelingIht,
    /// Sparse: noise on the whole gradient, then keep the largest; for rows of small l2 norm
    DpIht,
    /// Noise on the whole gradient of all columns, for many columns and rows of small l2 norm; with --sparsity the largest are kept
    WholeGradient,
    /// Steps towards corners of an l1 ball; needs --l1-radius
    FrankWolfe,
    /// The same where a step looks only at the rows that its column occurs in: for sparse rows; needs --l1-radius
    SparseFrankWolfe,
    /// Sparse: choose the columns, then perturb the objective
    TwoStage,
    /// Sparse: choose among all sets of a few candidate columns, then perturb the objective
    BestSubset,
    /// Least squares on a private random projection
    JohnsonLindenstrauss,
    /// Sparse: learn from a private teacher's noisy answers on public features
    Transfer,
    /// The same as printed: private only under an assumption that --accept names
    TransferLiteral,
    /// Sparse: iterative hard thresholding, without any privacy
    Iht,
}

/// How much noise the printed methods add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Calibration {
    /// As much as the budget asks for
    Exact,
    /// As much as the paper prints, whatever that costs; it is stated, and refused above the budget
    Printed,
}

/// Whether a method is told how many coefficients differ from zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakesSparsity {
    /// It fits every column.
    Never,
    /// The largest coefficients are kept, which costs nothing: the others were released too.
    Afterwards,
    /// It chooses the columns.
    Always,
}

impl Method {
    /// The method for users who name none: for few coefficients, or for short rows, or with a penalty that is chosen privately, or in
    /// plain.
    pub fn default_for(sparsity: Option<usize>, row_norm: Option<f64>, tunes_ridge: bool) -> Self {
        match (sparsity, row_norm) {
            (Some(_), _) => Method::SelectRefine,
            (None, Some(_)) => Method::WholeGradient,
            (None, None) if tunes_ridge => Method::BoundedScore,
            (None, None) => Method::Likelihood,
        }
    }

    /// Its name on the command line and in Python.
    pub fn name(self) -> String {
        render::name(&self)
    }

    /// False for the references, which promise nothing.
    pub fn is_private(self) -> bool {
        !matches!(self, Method::Reference | Method::Iht)
    }

    /// Whether it is told how many coefficients differ from zero.
    pub(crate) fn takes_sparsity(self) -> TakesSparsity {
        match self {
            Method::Likelihood | Method::BoundedScore | Method::Statistics | Method::Reference => {
                TakesSparsity::Never
            }
            Method::FrankWolfe
            | Method::SparseFrankWolfe
            | Method::JohnsonLindenstrauss
            | Method::WholeGradient => TakesSparsity::Afterwards,
            _ => TakesSparsity::Always,
        }
    }

    /// Whether it is one of those that came with sparse models.
    pub fn is_sparse(self) -> bool {
        self.takes_sparsity() != TakesSparsity::Never
    }

    /// Whether it fits an intercept, and takes units and exposures: what a generalized linear model has.
    pub(crate) fn takes_a_whole_model(self) -> bool {
        !self.is_sparse()
            || matches!(
                self,
                Method::SelectRefine
                    | Method::NoisyIht
                    | Method::PeelingIht
                    | Method::DpIht
                    | Method::WholeGradient
            )
    }

    /// Whether it takes rows of units, without an intercept and exposures.
    pub(crate) fn takes_units(self) -> bool {
        self.takes_a_whole_model() || self == Method::SparseFrankWolfe
    }

    /// Whether it can give confidence intervals.
    pub(crate) fn takes_intervals(self) -> bool {
        matches!(self, Method::Likelihood | Method::BoundedScore | Method::SelectRefine | Method::Statistics)
    }

    /// Whether it can keep to a ball.
    pub(crate) fn takes_radius(self) -> bool {
        matches!(self, Method::Likelihood | Method::BoundedScore | Method::SelectRefine)
            || self.thresholds_steps()
    }

    /// Whether it takes steps along noisy gradients and keeps the largest coefficients of each, chosen with noise.
    pub(crate) fn thresholds_steps(self) -> bool {
        matches!(self, Method::NoisyIht | Method::PeelingIht)
    }

    /// Whether it takes a penalty.
    pub(crate) fn takes_ridge(self) -> bool {
        matches!(
            self,
            Method::Likelihood
                | Method::BoundedScore
                | Method::Reference
                | Method::SelectRefine
                | Method::Transfer
                | Method::TransferLiteral
                | Method::Iht
        )
    }
}
