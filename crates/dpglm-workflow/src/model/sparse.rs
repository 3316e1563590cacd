//! Models in which few coefficients differ from zero, and the methods of other authors to compare with.

use super::estimates::Estimates;
use super::method::{Method, TakesSparsity};
use super::{Failure, Family, Model};
use dpglm::accounting::{Certificate, Part};
use dpglm::central::transfer::SAME_SUPPORT;
use dpglm::central::{
    DpIht, Fit, Iht, NoisyIht, Prepared, Privacy, SelectRefine, Selection, SparseMultinomial, Transfer,
};
use dpglm::comparators::{FrankWolfe, JohnsonLindenstrauss, TwoStage};
use dpglm::data::{Dataset, Design};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Event};
use dpglm::tuning::TunedSparsity;

/// What sparse methods need beside the model, all of it public.
pub struct Sparse {
    /// The number of coefficients that may differ from zero.
    pub sparsity: Option<usize>,
    /// The largest sparsity to choose one up to privately.
    pub largest: Option<usize>,
    /// The largest l2 norm of a row.
    pub row_norm: Option<f64>,
    /// The largest l1 norm of the coefficients.
    pub l1_radius: Option<f64>,
    /// Whether public rows were given.
    pub has_public_features: bool,
    /// Read when everything else is known to fit together.
    pub public_features: Option<PublicFeatures>,
    /// The assumption that was accepted by name.
    pub accepted: Option<String>,
    /// The largest stored entry that the declared bounds allow.
    pub entry: f64,
}

/// Rows that a teacher answers on.
pub struct PublicFeatures {
    /// The rows, as the private ones are stored.
    pub design: Design,
    /// Their columns.
    pub names: Vec<String>,
}

/// A sparse model, not yet calibrated.
enum Estimator {
    SelectRefine(SelectRefine),
    Tuned(TunedSparsity),
    Multinomial(SparseMultinomial),
    NoisyIht(NoisyIht),
    DpIht(DpIht),
    Transfer(Box<Transfer>),
    FrankWolfe(FrankWolfe),
    TwoStage(TwoStage),
    JohnsonLindenstrauss(JohnsonLindenstrauss),
    Iht(Iht),
}

/// A sparse model with its noise calibrated.
#[expect(missing_docs, reason = "each is called by its estimator")]
pub enum ReadySparse {
    SelectRefine(Prepared<SelectRefine>),
    Tuned(Prepared<TunedSparsity>),
    Multinomial(Prepared<SparseMultinomial>),
    NoisyIht(Prepared<NoisyIht>),
    DpIht(Prepared<DpIht>),
    Transfer(Box<Prepared<Transfer>>),
    FrankWolfe(Prepared<FrankWolfe>),
    TwoStage(Prepared<TwoStage>),
    JohnsonLindenstrauss(Prepared<JohnsonLindenstrauss>),
    Iht(Iht),
}

impl Model {
    /// Refuses what does not go with a sparse method or needs one, before any private table is opened.
    pub(super) fn validate_sparse(&self) -> Result<(), Failure> {
        let refuse = |message: String| Err(Failure::Usage(message));
        let (method, sparse) = (self.method, &self.sparse);
        let name = method.name();
        match (method.takes_sparsity(), sparse.sparsity) {
            (TakesSparsity::Never, Some(_)) => {
                return refuse(format!(
                    "--sparsity cannot be had with --method {name}, which fits every column: leave out --method for a sparse \
                     model, or --sparsity for a dense one"
                ));
            }
            (TakesSparsity::Always, None) if sparse.largest.is_none() => {
                return refuse(format!(
                    "--method {name} needs --sparsity S, the number of coefficients that may differ from zero"
                ));
            }
            _ => {}
        }
        for (flag, is_given, goes_with) in [
            ("--row-norm", sparse.row_norm.is_some(), &[Method::DpIht][..]),
            ("--l1-radius", sparse.l1_radius.is_some(), &[Method::FrankWolfe]),
            ("--public-features", sparse.has_public_features, &[Method::Transfer, Method::TransferLiteral]),
            ("--accept", sparse.accepted.is_some(), &[Method::TransferLiteral]),
        ] {
            if is_given && !goes_with.contains(&method) {
                let wanted = goes_with[0].name();
                return refuse(format!(
                    "{flag} goes with --method {wanted}, not with {name}: leave it out, or change the method"
                ));
            }
        }
        if sparse.largest.is_some() && (method != Method::SelectRefine || self.family == Family::Multinomial)
        {
            return refuse(format!(
                "--tune sparsity=auto goes with --method select-refine and one predictor, not with {name} and {}: give --sparsity S",
                self.family.name()
            ));
        }
        if !method.is_sparse() {
            return Ok(());
        }
        let family = self.family.name();
        let fits = match method {
            Method::JohnsonLindenstrauss => self.family == Family::Gaussian,
            Method::FrankWolfe | Method::TwoStage | Method::Transfer | Method::TransferLiteral => {
                matches!(self.family, Family::Gaussian | Family::Logistic)
            }
            Method::SelectRefine => true,
            _ => self.family != Family::Multinomial,
        };
        if !fits {
            return refuse(format!(
                "--method {name} has no {family} model: use --sparsity without --method, or choose another family"
            ));
        }
        if self.intercept && !method.takes_a_whole_model() {
            return refuse(format!(
                "--method {name} fits no intercept: give --no-intercept, or use --method select-refine"
            ));
        }
        if method == Method::TransferLiteral && sparse.accepted.is_none() {
            return refuse(format!(
                "--method {name} is private only if {SAME_SUPPORT}: give --accept \"{SAME_SUPPORT}\" if you believe it of \
                 your data, or use --method transfer, which needs no assumption"
            ));
        }
        self.estimator().map(drop)
    }

    /// What the promise of a plan rests on.
    pub fn assumption(&self) -> Option<&'static str> {
        (self.method == Method::TransferLiteral).then_some(SAME_SUPPORT)
    }

    fn estimator(&self) -> Result<Estimator, Failure> {
        let sparse = &self.sparse;
        let (s, entry) = (sparse.sparsity.unwrap_or(1), sparse.entry);
        let logistic = self.family == Family::Logistic;
        let target = self.target_bounds();
        let noisy = |selection| -> Result<Estimator, Failure> {
            // The constant column is an entry of the row too.
            let entry = if self.intercept { entry.max(1.0) } else { entry };
            Ok(Estimator::NoisyIht(NoisyIht::new(self.glm(self.family)?, s, entry, selection)?))
        };
        Ok(match self.method {
            Method::NoisyIht => noisy(Selection::Gumbel)?,
            Method::PeelingIht => noisy(Selection::Peeling)?,
            Method::DpIht => {
                let model = DpIht::new(self.glm(self.family)?, s)?;
                Estimator::DpIht(match sparse.row_norm {
                    Some(bound) => model.row_norm(bound)?,
                    None => model,
                })
            }
            Method::FrankWolfe => {
                let Some(radius) = sparse.l1_radius else {
                    return Err(Failure::Usage(
                        "--method frank-wolfe needs --l1-radius R, a public number and the largest l1 norm of the \
                         coefficients, for columns scaled to [-1, 1]"
                            .into(),
                    ));
                };
                Estimator::FrankWolfe(if logistic {
                    FrankWolfe::logistic(entry, radius)?
                } else {
                    FrankWolfe::linear(target, entry, radius)?
                })
            }
            Method::TwoStage => Estimator::TwoStage(if logistic {
                TwoStage::logistic(entry, s)?
            } else {
                TwoStage::linear(target, entry, s)?
            }),
            Method::JohnsonLindenstrauss => {
                Estimator::JohnsonLindenstrauss(JohnsonLindenstrauss::linear(target, entry)?)
            }
            Method::Transfer | Method::TransferLiteral => Estimator::Transfer(Box::new(self.transfer(s)?)),
            Method::Iht => Estimator::Iht(Iht::new(s)?),
            // The default: whatever chooses among methods for the user is built here.
            _ if self.family == Family::Multinomial => {
                Estimator::Multinomial(SparseMultinomial::new(self.multinomial()?, s)?)
            }
            _ => match sparse.largest {
                Some(largest) => Estimator::Tuned(TunedSparsity::new(self.glm(self.family)?, largest)?),
                None => Estimator::SelectRefine(SelectRefine::new(self.glm(self.family)?, s)?),
            },
        })
    }

    fn transfer(&self, sparsity: usize) -> Result<Transfer, Failure> {
        let sparse = &self.sparse;
        let mut model = match self.family {
            Family::Logistic => Transfer::logistic(sparse.entry, sparsity)?,
            _ => Transfer::linear(self.target_bounds(), sparse.entry, sparsity)?,
        };
        if let Some(ridge) = self.ridge {
            model = model.ridge(ridge)?;
        }
        if let Some(public) = &sparse.public_features {
            model = model.public_features(public.design.clone());
        }
        if self.method == Method::TransferLiteral {
            model = model.literal();
        }
        match &sparse.accepted {
            Some(words) => Ok(model.accepting(words)?),
            None => Ok(model),
        }
    }

    pub(super) fn prepare_sparse(
        &self,
        columns: usize,
        units: usize,
        privacy: Privacy,
    ) -> Result<ReadySparse, Failure> {
        let free = columns - usize::from(self.intercept).min(columns);
        if let Some(sparsity) = self.sparse.sparsity
            && sparsity > free
        {
            return Err(Failure::Usage(format!(
                "sparsity must be from 1 to the number of columns, {free}, got {sparsity}: give the number of coefficients \
                 that may differ from zero"
            )));
        }
        Ok(match self.estimator()? {
            Estimator::SelectRefine(m) => ReadySparse::SelectRefine(m.prepare(columns, units, privacy)?),
            Estimator::Tuned(m) => ReadySparse::Tuned(m.up_to(free)?.prepare(columns, units, privacy)?),
            Estimator::Multinomial(m) => ReadySparse::Multinomial(m.prepare(columns, units, privacy)?),
            Estimator::NoisyIht(m) => ReadySparse::NoisyIht(m.prepare(columns, units, privacy)?),
            Estimator::DpIht(m) => ReadySparse::DpIht(m.prepare(columns, units, privacy)?),
            Estimator::Transfer(m) => ReadySparse::Transfer(Box::new(m.prepare(columns, units, privacy)?)),
            Estimator::FrankWolfe(m) => ReadySparse::FrankWolfe(m.prepare(columns, units, privacy)?),
            Estimator::TwoStage(m) => ReadySparse::TwoStage(m.prepare(columns, units, privacy)?),
            Estimator::JohnsonLindenstrauss(m) => {
                ReadySparse::JohnsonLindenstrauss(m.prepare(columns, units, privacy)?)
            }
            Estimator::Iht(m) => ReadySparse::Iht(m),
        })
    }
}

impl Sparse {
    /// Refuses public rows of other columns than the private ones.
    pub(crate) fn require_same_columns(&self, private: &[String]) -> Result<(), Failure> {
        let Some(public) = &self.public_features else { return Ok(()) };
        if public.names == private {
            return Ok(());
        }
        let first = public.names.iter().zip(private).position(|(a, b)| a != b);
        let at = first.unwrap_or(public.names.len().min(private.len())) + 1;
        Err(Failure::Failed(format!(
            "--public-features: {} public columns for {} private ones, and column {at} is the first that differs: they must \
             be the same columns in the same order",
            public.names.len(),
            private.len()
        )))
    }
}

impl ReadySparse {
    /// What a fit will release.
    pub fn events(&self) -> Result<Vec<Event>, Failure> {
        Ok(match self {
            Self::SelectRefine(prepared) => prepared.events()?,
            Self::Tuned(prepared) => prepared.all_events()?,
            Self::Multinomial(prepared) => prepared.events()?,
            Self::NoisyIht(prepared) => prepared.events()?,
            Self::DpIht(prepared) => prepared.events()?,
            Self::Transfer(prepared) => prepared.events()?,
            Self::FrankWolfe(prepared) => prepared.events()?,
            Self::TwoStage(prepared) => prepared.events()?,
            Self::JohnsonLindenstrauss(prepared) => prepared.events()?,
            Self::Iht(_) => Vec::new(),
        })
    }

    /// What public parts of the rows will release, each alone.
    pub fn parts(&self) -> Result<Vec<Part>, Failure> {
        match self {
            Self::Tuned(prepared) => Ok(prepared.parts()?),
            _ => Ok(Vec::new()),
        }
    }

    /// Fits the model.
    pub fn fit(
        &self,
        model: &Model,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Estimates, Failure> {
        let sparsity = model.sparse.sparsity;
        Ok(match self {
            Self::SelectRefine(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Self::Tuned(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Self::Multinomial(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Self::NoisyIht(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Self::DpIht(prepared) => prepared.fit_reporting(data, rng, progress)?.into(),
            Self::Transfer(prepared) => Estimates::of_largest(prepared.fit(data, rng)?, sparsity),
            Self::FrankWolfe(prepared) => Estimates::of_largest(prepared.fit(data, rng)?, sparsity),
            Self::TwoStage(prepared) => Estimates::of_largest(prepared.fit(data, rng)?, sparsity),
            Self::JohnsonLindenstrauss(prepared) => {
                let fit = prepared.fit(data, rng)?;
                if sparsity.is_some() { Estimates::of_largest(fit, sparsity) } else { fit.into() }
            }
            Self::Iht(iht) => {
                let Some(family) = model.family.one_predictor() else {
                    return Err(Failure::Usage("--method iht has no multinomial model".into()));
                };
                let coefficients = iht.fit(&family, data, model.ridge.unwrap_or(0.0))?;
                let reason = "iterative hard thresholding on the rows themselves, without noise";
                let certificate = Certificate::without_promise(Adjacency::ReplaceRow, Vec::new(), reason);
                let fit = Fit { coefficients, intervals: None, covariance: None, certificate };
                Estimates::of_largest(fit, sparsity)
            }
        })
    }
}
