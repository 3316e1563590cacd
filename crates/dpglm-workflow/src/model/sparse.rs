//! Models in which few coefficients differ from zero, and the methods of other authors to compare with.

use super::estimates::Estimates;
use super::method::{Calibration, Method, TakesSparsity};
use super::ready::{Chosen, Ready};
use super::{Failure, Family, Model};
use dpglm::accounting::Certificate;
use dpglm::central::transfer::SAME_SUPPORT;
use dpglm::central::{
    DpIht, Fit, Iht, NoisyIht, Privacy, Route, SelectRefine, Selection, SparseMultinomial, SplitRefine,
    Transfer, WholeGradient,
};
use dpglm::comparators::{BestSubset, FrankWolfe, JohnsonLindenstrauss, SparseFrankWolfe, TwoStage};
use dpglm::data::{Design, Shape};
use dpglm::error::{AsPieces, Message, Parameter};
use dpglm::privacy::Adjacency;
use dpglm::release::Estimator;
use dpglm::tuning::TunedSparsity;

/// What sparse methods need beside the model, all of it public.
#[derive(Clone)]
pub struct Sparse {
    /// The number of coefficients that may differ from zero.
    pub sparsity: Option<usize>,
    /// The largest sparsity to choose one up to privately.
    pub largest: Option<usize>,
    /// The largest l2 norm of a row.
    pub row_norm: Option<f64>,
    /// The largest l1 norm of the coefficients.
    pub l1_radius: Option<f64>,
    /// The number of steps.
    pub steps: Option<u64>,
    /// The length of a step.
    pub step_length: Option<f64>,
    /// The largest l2 norm of any entries of a row that are as many as the sparsity.
    pub support_norm: Option<f64>,
    /// How much noise is added.
    pub calibration: Option<Calibration>,
    /// Whether one half of the rows chooses columns and the other is fitted.
    pub split: bool,
    /// Whether public rows were given.
    pub has_public_features: bool,
    /// Read when everything else is known to fit together.
    pub public_features: Option<PublicFeatures>,
    /// The assumption that was accepted by name.
    pub accepted: Option<String>,
    /// The largest stored entry that the declared bounds allow.
    pub entry: f64,
    /// Whether the declared bounds allow no stored entry below zero.
    pub nonnegative: bool,
}

/// Rows that a teacher answers on.
#[derive(Clone)]
pub struct PublicFeatures {
    /// The rows, as the private ones are stored.
    pub design: Design,
    /// Their columns.
    pub names: Vec<String>,
}

/// Columns that are asked for where a table is too wide to fit all. Fewer are chosen where the budget tells fewer from noise.
pub(super) const MOST_BY_DEFAULT: usize = 100;
/// A table of no more columns is fitted whole.
const NARROW: f64 = 1_000.0;

/// Whether noise on the products of all columns would drown them: a Gram matrix of D columns needs `n mu` of about `7.5 D^1.5`.
pub(super) fn is_too_wide(shape: Shape, privacy: Privacy) -> bool {
    let columns = shape.columns as f64;
    columns > NARROW && 7.5 * columns.powf(1.5) > shape.units as f64 * privacy.mu()
}

impl Model {
    /// Refuses what does not go with a sparse method or needs one, before any private table is opened.
    pub(super) fn validate_sparse(&self) -> Result<(), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        let (method, sparse) = (self.method, &self.sparse);
        let name = method.name();
        match (method.takes_sparsity(), sparse.sparsity) {
            (TakesSparsity::Never, Some(_)) => {
                return refuse(Message::new(
                    "{} cannot be had with {} {}, which fits every column: leave out {} for a sparse \
                     model, or {} for a dense one",
                    &[
                        &Parameter::Sparsity,
                        &Parameter::Method,
                        &name,
                        &Parameter::Method,
                        &Parameter::Sparsity,
                    ],
                ));
            }
            (TakesSparsity::Always, None) if sparse.largest.is_none() => {
                return refuse(Message::new(
                    "{} {} needs {} S, the number of coefficients that may differ from zero",
                    &[&Parameter::Method, &name, &Parameter::Sparsity],
                ));
            }
            _ => {}
        }
        for (flag, is_given, goes_with) in [
            (
                Parameter::RowNorm,
                sparse.row_norm.is_some(),
                &[Method::SelectRefine, Method::WholeGradient, Method::DpIht][..],
            ),
            (
                Parameter::L1Radius,
                sparse.l1_radius.is_some(),
                &[Method::FrankWolfe, Method::SparseFrankWolfe],
            ),
            (
                Parameter::Steps,
                sparse.steps.is_some(),
                &[
                    Method::NoisyIht,
                    Method::PeelingIht,
                    Method::DpIht,
                    Method::FrankWolfe,
                    Method::SparseFrankWolfe,
                ],
            ),
            (Parameter::StepLength, sparse.step_length.is_some(), &[Method::NoisyIht, Method::PeelingIht]),
            (Parameter::SupportNorm, sparse.support_norm.is_some(), &[Method::NoisyIht, Method::PeelingIht]),
            (Parameter::Split, sparse.split, &[Method::SelectRefine]),
            (Parameter::Calibration, sparse.calibration.is_some(), &[Method::PeelingIht]),
            (
                Parameter::PublicFeatures,
                sparse.has_public_features,
                &[Method::Transfer, Method::TransferLiteral],
            ),
            (Parameter::Accept, sparse.accepted.is_some(), &[Method::TransferLiteral]),
        ] {
            if is_given && !goes_with.contains(&method) {
                let wanted = goes_with[0].name();
                return refuse(Message::new(
                    "{} goes with {} {}, not with {}: leave it out, or change the method",
                    &[&flag, &Parameter::Method, &wanted, &name],
                ));
            }
        }
        if sparse.largest.is_some() && (method != Method::SelectRefine || self.family == Family::Multinomial)
        {
            return refuse(Message::new(
                "{} sparsity=auto goes with {} select-refine and one predictor, not with {} and {}: give {} S",
                &[&Parameter::Tune, &Parameter::Method, &name, &self.family.name(), &Parameter::Sparsity],
            ));
        }
        if sparse.split {
            let other = [
                (Parameter::RowNorm, sparse.row_norm.is_some()),
                (Parameter::Tune, sparse.largest.is_some()),
            ];
            if let Some((flag, _)) = other.iter().find(|(_, is_given)| *is_given) {
                return refuse(Message::new(
                    "{} chooses columns on one half of the rows, which does not go with {}: leave out one of the two",
                    &[&Parameter::Split, flag],
                ));
            }
            if self.family == Family::Multinomial {
                return refuse(Message::new(
                    "{} goes with one predictor, not with {} multinomial: leave it out",
                    &[&Parameter::Split, &Parameter::Family],
                ));
            }
        }
        if sparse.row_norm.is_some() && method == Method::SelectRefine {
            let other = [
                (Parameter::Intervals, self.level.is_some()),
                (Parameter::Radius, self.radius.is_some()),
                (Parameter::Ridge, self.ridge.is_some()),
                (Parameter::Tune, sparse.largest.is_some()),
            ];
            if let Some((flag, _)) = other.iter().find(|(_, is_given)| *is_given) {
                return refuse(Message::new(
                    "{} lets noise be added to the whole gradient, which has no {}: leave out one of the two",
                    &[&Parameter::RowNorm, flag],
                ));
            }
            if self.family == Family::Multinomial {
                return refuse(Message::new(
                    "{} goes with one predictor, not with {} multinomial: leave it out",
                    &[&Parameter::RowNorm, &Parameter::Family],
                ));
            }
        }
        if !method.is_sparse() {
            return Ok(());
        }
        let family = self.family.name();
        let fits = match method {
            Method::JohnsonLindenstrauss => self.family.is_linear(),
            Method::FrankWolfe
            | Method::SparseFrankWolfe
            | Method::TwoStage
            | Method::BestSubset
            | Method::Transfer
            | Method::TransferLiteral => self.family.is_linear() || self.family.is_logistic(),
            Method::SelectRefine => true,
            _ => self.family != Family::Multinomial,
        };
        if !fits {
            return refuse(Message::new(
                "{} {} has no {} model: use {} without {}, or choose another family",
                &[&Parameter::Method, &name, &family, &Parameter::Sparsity, &Parameter::Method],
            ));
        }
        if self.intercept && sparse.support_norm.is_some() {
            return refuse(Message::new(
                "{} is about entries of features, and the constant of an intercept is an entry of 1: give {}, or leave out {}",
                &[&Parameter::SupportNorm, &Parameter::NoIntercept, &Parameter::SupportNorm],
            ));
        }
        if self.intercept && !method.takes_a_whole_model() {
            return refuse(Message::new(
                "{} {} fits no intercept: give {}, or use {} select-refine",
                &[&Parameter::Method, &name, &Parameter::NoIntercept, &Parameter::Method],
            ));
        }
        if method == Method::TransferLiteral && sparse.accepted.is_none() {
            return refuse(Message::new(
                "{} {} is private only if {}: give {} \"{}\" if you believe it of \
                 your data, or use {} transfer, which needs no assumption",
                &[
                    &Parameter::Method,
                    &name,
                    &SAME_SUPPORT,
                    &Parameter::Accept,
                    &SAME_SUPPORT,
                    &Parameter::Method,
                ],
            ));
        }
        self.chosen_sparse().map(drop)
    }

    /// What the promise of a plan rests on.
    pub fn assumption(&self) -> Option<&'static str> {
        (self.method == Method::TransferLiteral).then_some(SAME_SUPPORT)
    }

    /// The estimator that the method names.
    pub(super) fn chosen_sparse(&self) -> Result<Chosen<'_>, Failure> {
        let sparse = &self.sparse;
        let (s, entry) = (sparse.sparsity.unwrap_or(1), sparse.entry);
        let logistic = self.family.is_logistic();
        let target = self.target_bounds();
        let asked = sparse.sparsity;
        let largest = move |fit: Fit| Estimates::of_largest(fit, asked);
        let noisy = |selection| -> Result<Chosen<'_>, Failure> {
            Ok(Ready::by(self.thresholding(s, selection)?, Estimates::from))
        };
        let chosen: Chosen<'_> = match self.method {
            Method::NoisyIht => noisy(Selection::Gumbel)?,
            Method::PeelingIht => noisy(Selection::Peeling)?,
            Method::DpIht => {
                let mut model = DpIht::new(self.glm()?, s)?;
                if let Some(bound) = sparse.row_norm {
                    model = model.row_norm(bound)?;
                }
                if let Some(steps) = sparse.steps {
                    model = model.steps(steps)?;
                }
                Ready::by(model, Estimates::from)
            }
            Method::WholeGradient => Ready::by(self.whole_gradient()?, Estimates::from),
            Method::FrankWolfe | Method::SparseFrankWolfe => {
                let Some(radius) = sparse.l1_radius else {
                    return Err(Failure::Usage(Message::new(
                        "{} {} needs {} R, a public number and the largest l1 norm of the \
                         coefficients, for columns scaled to [-1, 1]",
                        &[&Parameter::Method, &self.method.name(), &Parameter::L1Radius],
                    )));
                };
                if self.method == Method::SparseFrankWolfe {
                    let mut model = match logistic {
                        true => SparseFrankWolfe::logistic(entry, radius)?,
                        false => SparseFrankWolfe::linear(target, entry, radius)?,
                    };
                    if let Some(steps) = sparse.steps {
                        model = model.steps(steps)?;
                    }
                    Ready::by(model, largest)
                } else {
                    let mut model = match logistic {
                        true => FrankWolfe::logistic(entry, radius)?,
                        false => FrankWolfe::linear(target, entry, radius)?,
                    };
                    if let Some(steps) = sparse.steps {
                        model = model.steps(steps)?;
                    }
                    Ready::by(model, largest)
                }
            }
            Method::BestSubset => {
                let model = match logistic {
                    true => BestSubset::logistic(entry, s)?,
                    false => BestSubset::linear(target, entry, s)?,
                };
                Ready::by(model, largest)
            }
            Method::TwoStage => {
                let model = match logistic {
                    true => TwoStage::logistic(entry, s)?,
                    false => TwoStage::linear(target, entry, s)?,
                };
                Ready::by(model, largest)
            }
            Method::JohnsonLindenstrauss => {
                let model = JohnsonLindenstrauss::linear(target, entry)?;
                Ready::by(model, move |fit| if asked.is_some() { largest(fit) } else { fit.into() })
            }
            Method::Transfer | Method::TransferLiteral => Ready::by(self.transfer(s)?, largest),
            Method::Iht => {
                let (iht, ridge) = (Iht::new(s)?, self.ridge.unwrap_or(0.0));
                let Some(family) = self.family.one_predictor().cloned() else {
                    return Err(Failure::Usage(Message::new(
                        "{} iht has no multinomial model",
                        &[&Parameter::Method],
                    )));
                };
                Ready::exact(move |data| {
                    let coefficients = iht.fit(&family, data, ridge)?;
                    let reason = "iterative hard thresholding on the rows themselves, without noise";
                    let certificate = Certificate::without_promise(Adjacency::ReplaceRow, Vec::new(), reason);
                    Ok(largest(Fit { coefficients, intervals: None, covariance: None, certificate }))
                })
            }
            // The default: whatever chooses among methods for the user is built here.
            _ if self.family == Family::Multinomial => {
                Ready::by(SparseMultinomial::new(self.multinomial()?, s)?, Estimates::from)
            }
            _ => match sparse.largest {
                Some(most) => {
                    let tuned = TunedSparsity::new(self.glm()?, most)?;
                    Box::new(move |shape, privacy| {
                        let tuned = tuned.up_to(self.free_columns(shape))?;
                        Ready::prepared(tuned.prepare(shape, privacy)?, Estimates::from)
                    })
                }
                None => {
                    let mut model = SelectRefine::new(self.glm()?, s)?;
                    if sparse.nonnegative {
                        model = model.nonnegative();
                    }
                    if sparse.split {
                        return Ok(Ready::by(SplitRefine::new(model), Estimates::from));
                    }
                    let whole = self.whole_gradient()?;
                    let chosen: Chosen<'_> =
                        Box::new(move |shape, privacy| match self.route(shape, privacy) {
                            Some(Route::FitAll) if self.level.is_some() => Err(kept_by_size(s)),
                            Some(Route::WholeGradient) => {
                                Ready::prepared(whole.prepare(shape, privacy)?, Estimates::from)
                            }
                            _ => Ready::prepared(model.prepare(shape, privacy)?, Estimates::from),
                        });
                    chosen
                }
            },
        };
        Ok(Box::new(move |shape, privacy| {
            self.require_columns(shape)?;
            chosen(shape, privacy)
        }))
    }

    /// Noisy iterative hard thresholding, by whichever choice, with whatever noise.
    fn thresholding(&self, s: usize, selection: Selection) -> Result<NoisyIht, Failure> {
        let sparse = &self.sparse;
        let mut model = match sparse.calibration {
            Some(Calibration::Printed) => self.printed(s)?,
            _ => {
                // The constant column is an entry of the row too.
                let entry = if self.intercept { sparse.entry.max(1.0) } else { sparse.entry };
                NoisyIht::new(self.glm()?, s, entry, selection)?
            }
        };
        if let Some(steps) = sparse.steps {
            model = model.steps(steps)?;
        }
        if let Some(length) = sparse.step_length {
            model = model.step_length(length)?;
        }
        if let Some(radius) = self.radius {
            model = model.radius(radius)?;
        }
        Ok(match sparse.support_norm {
            Some(bound) => model.support_norm(bound)?,
            None => model,
        })
    }

    /// The method with the noise that its paper prints.
    fn printed(&self, s: usize) -> Result<NoisyIht, Failure> {
        let refuse =
            |message: &str, names: &[&dyn AsPieces]| Err(Failure::Usage(Message::new(message, names)));
        let (flag, printed) = (&Parameter::Calibration, &"printed");
        if self.intercept {
            return refuse("{} {} has no intercept: give {}", &[flag, printed, &Parameter::NoIntercept]);
        }
        if self.family.is_logistic() {
            return Ok(NoisyIht::printed_logistic(s, self.sparse.entry)?);
        }
        if !self.family.is_linear() {
            return refuse(
                "{} {} is for gaussian and logistic models, not for {}: leave it out",
                &[flag, printed, &self.family.name()],
            );
        }
        let (Some(radius), Some(norm)) = (self.radius, self.sparse.support_norm) else {
            return refuse(
                "{} {} of a gaussian model needs {} C and {} C, the bounds that its noise is printed for",
                &[flag, printed, &Parameter::Radius, &Parameter::SupportNorm],
            );
        };
        let norm = norm.min(self.sparse.entry * (s as f64).sqrt());
        Ok(NoisyIht::printed_linear(self.target_bounds(), s, norm, radius)?)
    }

    fn whole_gradient(&self) -> Result<WholeGradient, Failure> {
        let mut model = WholeGradient::new(self.glm()?);
        if let Some(sparsity) = self.sparse.sparsity {
            model = model.sparsity(sparsity)?;
        }
        match self.sparse.row_norm {
            Some(bound) => Ok(model.row_norm(bound)?),
            None => Ok(model),
        }
    }

    /// Which way the default of few coefficients goes for a table of this shape; `None` for other methods.
    pub(crate) fn route(&self, shape: Shape, privacy: Privacy) -> Option<Route> {
        let is_default = self.method == Method::SelectRefine && self.family != Family::Multinomial;
        let sparsity = self.sparse.sparsity.filter(|_| is_default)?;
        let model = self.glm().ok()?;
        let choosing = if self.sparse.split { shape.units.div_ceil(2) } else { shape.units };
        Some(Route::of(&model, Shape { units: choosing, ..shape }, sparsity, self.sparse.row_norm, privacy))
    }

    /// Whether intervals would come from the rows that chose the columns, and need not: a column that chance chose was chosen for the
    /// very errors that its interval would have to hold against.
    pub(super) fn needs_halves(&self, shape: Shape, privacy: Privacy) -> bool {
        let asked = self.level.is_some() && !self.sparse.split && !shape.grouped;
        asked && matches!(self.route(shape, privacy), Some(Route::ChooseFirst(_)))
    }

    /// The columns beside the constant one.
    fn free_columns(&self, shape: Shape) -> usize {
        shape.columns - usize::from(self.intercept).min(shape.columns)
    }

    fn require_columns(&self, shape: Shape) -> Result<(), Failure> {
        let free = self.free_columns(shape);
        match self.sparse.sparsity {
            Some(sparsity) if sparsity > free => Err(Failure::Usage(Message::new(
                "{} must be from 1 to the number of columns, {}, got {}: give the number of coefficients that may differ from zero",
                &[&Parameter::Sparsity, &free, &sparsity],
            ))),
            _ => Ok(()),
        }
    }

    fn transfer(&self, sparsity: usize) -> Result<Transfer, Failure> {
        let sparse = &self.sparse;
        let mut model = if self.family.is_logistic() {
            Transfer::logistic(sparse.entry, sparsity)?
        } else {
            Transfer::linear(self.target_bounds(), sparse.entry, sparsity)?
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
}

/// The clearest of the coefficients of one fit are those that noise favoured: no interval of theirs would hold as often as it says.
fn kept_by_size(sparsity: usize) -> Failure {
    Failure::Usage(Message::new(
        "{} {} is half of the columns or more, so all are fitted and the clearest kept, whose intervals would miss too often: leave out {} for \
         intervals of all columns, or {} for the clearest alone",
        &[&Parameter::Sparsity, &sparsity, &Parameter::Sparsity, &Parameter::Intervals],
    ))
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
        Err(Failure::Failed(Message::new(
            "{}: {} public columns for {} private ones, and column {} is the first that differs: they must \
             be the same columns in the same order",
            &[&Parameter::PublicFeatures, &public.names.len(), &private.len(), &at],
        )))
    }
}
