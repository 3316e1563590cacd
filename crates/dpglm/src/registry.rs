//! One entry per public method: what it is, and how to try to break it.
//!
//! Each entry carries a worst-case pair of neighbouring inputs and weakened twins. The audit test runs all of them:
//! the honest mechanism must stay within its claim, and every weakened twin must be caught.

mod clamped;
mod dense;
mod evidence;
mod labels;
mod means;
mod mechanisms;
mod method;
mod releases;
mod reports;
mod search;
mod sparse;
mod tables;
mod tuning;

use crate::audit::Claim;
use crate::error::Result;
use crate::noise::RandomSource;
use crate::privacy::Event;

/// A registered mechanism or estimator.
pub struct Entry {
    /// Its name, as people type it.
    pub name: &'static str,
    /// What it releases, in one line.
    pub summary: &'static str,
    /// What kind of guarantee it gives.
    pub guarantee: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The honest mechanism and its weakened twins, ready to be audited.
    pub audit: fn() -> Result<AuditCase>,
}

/// What the audit of one mechanism or estimator needs.
pub struct AuditCase {
    /// The mechanism as it is: it must stay within its claim.
    pub honest: Subject,
    /// The mechanism broken on purpose, under the honest claim: each must be caught.
    pub weakened: Vec<Subject>,
    /// How far a search for the worst neighbours moved each release of an estimator.
    pub attacks: Vec<Attack>,
    /// Releases at which a twin cannot be caught, because the claim has room to spare.
    pub slack: Vec<Slack>,
}

impl AuditCase {
    /// A mechanism, and its twins.
    fn of(honest: Subject, weakened: Vec<Subject>) -> Self {
        Self { honest, weakened, attacks: Vec::new(), slack: Vec::new() }
    }
}

/// Something that runs on neighbouring inputs.
pub struct Subject {
    /// What it is, or how it is broken.
    pub name: &'static str,
    /// What it is tried with; the claim must hold in every one of them.
    pub trials: Vec<Trial>,
}

/// One pair of neighbours, and the claim that is held against it.
pub struct Trial {
    /// What is looked at: a release and the variant that makes it, all releases, or the result.
    pub of: String,
    /// The release, if it is one.
    pub release: Option<String>,
    /// What is claimed of it.
    pub claim: Claim,
    /// Runs on either side that tell noise from half of it.
    pub runs: u64,
    /// Runs it once.
    pub run: Run,
    /// Whether a broken twin must show here; a kind of release must show in one trial at least.
    pub telling: bool,
}

impl Slack {
    /// Whether it explains this.
    pub fn explains(&self, attack: &Attack) -> bool {
        self.release == attack.release
    }
}

/// How far the worst neighbours found move a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Attack {
    /// The way in which the estimator is called.
    pub variant: &'static str,
    /// The release.
    pub release: String,
    /// The largest difference found, as a share of the claimed sensitivity: above 1 the claim is refuted.
    pub share: f64,
    /// Whether a twin with half the noise cannot be told from the honest release there.
    pub untold: bool,
}

/// A release whose claim has room to spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slack {
    /// The release.
    pub release: &'static str,
    /// Why no neighbours come near the claim.
    pub why: &'static str,
}

impl Subject {
    /// A mechanism tried on pairs of its own, each held against the claim of these events.
    fn of(name: &'static str, events: &[Event], runs: u64, pairs: Vec<Run>) -> Result<Self> {
        let claim = Claim::of(events)?;
        let trial = |(place, run): (usize, Run)| Trial {
            of: format!("pair {place}"),
            release: None,
            claim: claim.clone(),
            runs,
            run,
            telling: false,
        };
        Ok(Self { name, trials: pairs.into_iter().enumerate().map(trial).collect() })
    }
}

/// Enough to tell a mechanism from one with half its noise, with room to spare.
const RUNS: u64 = 200_000;

/// Runs on one of two neighbouring inputs and gives the statistics of the output.
pub type Run = Box<dyn FnMut(bool, &mut RandomSource) -> Result<Vec<f64>>>;

/// Everything registered.
pub fn entries() -> &'static [Entry] {
    &[
        Entry {
            name: "gaussian",
            summary: "a vector with Gaussian noise",
            guarantee: "Gaussian(l2 sensitivity / sigma)",
            reference: "Balle and Wang 2018",
            audit: mechanisms::gaussian,
        },
        Entry {
            name: "laplace",
            summary: "a vector with Laplace noise",
            guarantee: "pure, l1 sensitivity / scale",
            reference: "Dwork, McSherry, Nissim and Smith 2006",
            audit: mechanisms::laplace,
        },
        Entry {
            name: "clipped-sum",
            summary: "the sum of rows clipped in l2 norm, with Gaussian noise",
            guarantee: "Gaussian(2 clip / sigma), every data set",
            reference: "C21 Algorithm 3.1, corrected",
            audit: mechanisms::clipped_sum,
        },
        Entry {
            name: "exponential",
            summary: "a choice among public candidates",
            guarantee: "bounded range 2 sensitivity / scale",
            reference: "McSherry and Talwar 2007",
            audit: mechanisms::exponential,
        },
        Entry {
            name: "quantile",
            summary: "a quantile of a column with declared bounds",
            guarantee: "bounded range 2 / scale, every data set",
            reference: "exponential mechanism on ranks; for C21 §5.1",
            audit: mechanisms::bounded_quantile,
        },
        Entry {
            name: "quantile-unbounded",
            summary: "a quantile of a column without declared bounds",
            guarantee: "bounded range 2 / scale, every data set",
            reference: "exponential mechanism on ranks over a geometric grid; for C21 §5.1",
            audit: mechanisms::unbounded_quantile,
        },
        Entry {
            name: "peeling",
            summary: "the largest coordinates, one at a time, with Laplace noise",
            guarantee: "s choices of pure 2 lambda / b, s values of pure lambda / b",
            reference: "C21 Algorithm 3.2, C20 Algorithm 3",
            audit: mechanisms::peeling,
        },
        Entry {
            name: "gumbel-top",
            summary: "the largest coordinates by one-shot Gumbel noise, with Gaussian values",
            guarantee: "s selections of bounded range 2 lambda / beta, one Gaussian",
            reference: "Durfee and Rogers 2019",
            audit: mechanisms::gumbel_top,
        },
        Entry {
            name: "mean",
            summary: "means of columns on one scale by private localisation and one tight clip of rows",
            guarantee: "selections and Gaussians, every data set",
            reference: "C21 Algorithm 3.1, corrected",
            audit: means::mean,
        },
        Entry {
            name: "column-means",
            summary: "means of any columns, each number with its own clip and noise",
            guarantee: "selections and a Gaussian, every data set",
            reference: "exponential mechanism on tail counts, joint Gaussian release",
            audit: means::column_means,
        },
        Entry {
            name: "linear-likelihood",
            summary: "linear regression: the maximum-likelihood fit, in few passes over the rows",
            guarantee: "selections and Gaussians, every data set",
            reference: "score passes in whitened coordinates; the default for dense models",
            audit: dense::linear_likelihood,
        },
        Entry {
            name: "logistic-likelihood",
            summary: "logistic regression: the maximum-likelihood fit, in few passes over the rows",
            guarantee: "selections and Gaussians, every data set",
            reference: "score passes in whitened coordinates; the default for dense models",
            audit: dense::logistic_likelihood,
        },
        Entry {
            name: "poisson-likelihood",
            summary: "Poisson regression: the maximum-likelihood fit, in few passes over the rows",
            guarantee: "selections and Gaussians, every data set",
            reference: "score passes in whitened coordinates; the default for dense models",
            audit: dense::poisson_likelihood,
        },
        Entry {
            name: "multinomial-likelihood",
            summary: "multinomial regression: the maximum-likelihood fit, in few passes over the rows",
            guarantee: "selections and Gaussians, every data set",
            reference: "score passes in whitened coordinates; the default for dense models",
            audit: dense::multinomial_likelihood,
        },
        Entry {
            name: "linear",
            summary: "linear regression by noisy gradient descent on bounded scores: a robust fit, not the mean",
            guarantee: "selections and Gaussians, every data set",
            reference: "C21 Algorithm 4.1, C20 Algorithm 1, corrected",
            audit: dense::linear,
        },
        Entry {
            name: "linear-statistics",
            summary: "linear regression from perturbed sufficient statistics",
            guarantee: "one selection and two Gaussians, every data set",
            reference: "Wang 2018 (AdaSSP)",
            audit: dense::linear_statistics,
        },
        Entry {
            name: "logistic",
            summary: "logistic regression by noisy gradient descent on bounded scores",
            guarantee: "selections and Gaussians, every data set",
            reference: "C20 Algorithm 1, corrected",
            audit: dense::logistic,
        },
        Entry {
            name: "poisson",
            summary: "Poisson regression by noisy gradient descent on bounded scores: a robust fit, not the mean",
            guarantee: "selections and Gaussians, every data set",
            reference: "C20 Algorithm 1, corrected",
            audit: dense::poisson,
        },
        Entry {
            name: "multinomial",
            summary: "multinomial regression by noisy gradient descent on bounded scores",
            guarantee: "one selection and Gaussians, every data set",
            reference: "C20 Algorithm 1, corrected",
            audit: dense::multinomial,
        },
        Entry {
            name: "select-refine",
            summary: "sparse regression: columns chosen once, then the dense fit on them",
            guarantee: "selections and Gaussians, every data set",
            reference: "after C20 Algorithm 5 and C21 Algorithm 4.2; the default for sparse models",
            audit: sparse::select_refine,
        },
        Entry {
            name: "noisy-iht",
            summary: "sparse regression by noisy iterative hard thresholding, Gumbel selection",
            guarantee: "selections and Gaussians, every data set",
            reference: "C20 Algorithm 5, C21 Algorithm 4.2, corrected",
            audit: sparse::noisy_iht,
        },
        Entry {
            name: "peeling-iht",
            summary: "sparse regression by noisy iterative hard thresholding, Laplace peeling",
            guarantee: "pure releases, every data set",
            reference: "C20 Algorithm 5, C21 Algorithm 4.2, corrected",
            audit: sparse::peeling_iht,
        },
        Entry {
            name: "dp-iht",
            summary: "sparse regression by hard thresholding on noisy gradients",
            guarantee: "Gaussians, every data set",
            reference: "WX Algorithm 3, corrected",
            audit: sparse::dp_iht,
        },
        Entry {
            name: "sparse-multinomial",
            summary: "sparse multinomial regression: columns chosen once, then the dense fit on them",
            guarantee: "selections and Gaussians, every data set",
            reference: "after C20 Algorithm 5",
            audit: sparse::sparse_multinomial,
        },
        Entry {
            name: "sparse-mean",
            summary: "a mean of few columns that differ from zero, chosen by counts of signs",
            guarantee: "selections and Gaussians, every data set",
            reference: "after C21 Algorithm 3.3",
            audit: means::sparse_mean,
        },
        Entry {
            name: "transfer",
            summary: "sparse regression by a teacher's noisy answers on public features",
            guarantee: "selections and one Gaussian, every data set; literal version conditional",
            reference: "WG Algorithm 1, corrected",
            audit: clamped::transfer,
        },
        Entry {
            name: "tuned-sparsity",
            summary: "sparse regression whose number of coefficients is chosen privately: a row of the fitted part",
            guarantee: "selections and Gaussians, every data set",
            reference: "for C21 §5.2, whose cross-validation is not private",
            audit: tuning::tuned_sparsity,
        },
        Entry {
            name: "tuned-sparsity-choice",
            summary: "the same: a row of the part that chooses",
            guarantee: "one selection and Gaussians, every data set",
            reference: "for C21 §5.2, whose cross-validation is not private",
            audit: tuning::tuned_sparsity_choice,
        },
        Entry {
            name: "tuned-ridge",
            summary: "a dense model whose ridge penalty is chosen privately: a row of the fitted part",
            guarantee: "selections and Gaussians, every data set",
            reference: "for WG §5, whose cross-validation is not private",
            audit: tuning::tuned_ridge,
        },
        Entry {
            name: "tuned-ridge-choice",
            summary: "the same: a row of the part that chooses",
            guarantee: "one selection and Gaussians, every data set",
            reference: "for WG §5, whose cross-validation is not private",
            audit: tuning::tuned_ridge_choice,
        },
        Entry {
            name: "truncation",
            summary: "column means truncated at private quantiles or at a public level",
            guarantee: "selections and one Gaussian, every data set",
            reference: "C21 §5.1, corrected",
            audit: means::truncation,
        },
        Entry {
            name: "tuned-sparse-mean",
            summary: "the mean of a table of which an unknown number of columns differ from zero",
            guarantee: "a pure choice, then selections and Gaussians, every data set",
            reference: "for C21 §5.2, whose cross-validation is not private",
            audit: means::tuned_sparse_mean,
        },
        Entry {
            name: "random-stopping",
            summary: "the best of a random number of private trials",
            guarantee: "approximate, by the trial's Rényi divergence",
            reference: "Liu and Talwar 2019; Papernot and Steinke 2022",
            audit: tuning::random_stopping,
        },
        Entry {
            name: "frank-wolfe",
            summary: "linear and logistic regression over an l1 ball",
            guarantee: "selections, every data set",
            reference: "Talwar, Thakurta and Zhang 2015",
            audit: clamped::frank_wolfe,
        },
        Entry {
            name: "two-stage",
            summary: "sparse regression by selection and objective perturbation",
            guarantee: "selections, an approximate release and one Gaussian, every data set",
            reference: "Kifer, Smith and Thakurta 2012; Iyengar et al. 2019",
            audit: clamped::two_stage,
        },
        Entry {
            name: "johnson-lindenstrauss",
            summary: "linear regression on a private random projection",
            guarantee: "one Gaussian and an approximate release, every data set",
            reference: "Sheffet 2017",
            audit: clamped::johnson_lindenstrauss,
        },
        Entry {
            name: "karwa-vadhan",
            summary: "column means of roughly normal data from coarse bounds",
            guarantee: "selections and one Gaussian, every data set",
            reference: "Karwa and Vadhan 2018",
            audit: means::karwa_vadhan,
        },
        Entry {
            name: "randomized-response",
            summary: "a user's label from a public list, kept or replaced by another",
            guarantee: "pure, one user's label, every label",
            reference: "Warner 1965",
            audit: labels::randomized_response,
        },
        Entry {
            name: "threshold-bit",
            summary: "whether a user's label is above a random public threshold, by randomized response",
            guarantee: "pure, one user's label, every label",
            reference: "after Duchi, Jordan and Wainwright 2018",
            audit: labels::threshold_bit,
        },
        Entry {
            name: "label-laplace",
            summary: "a user's label with Laplace noise",
            guarantee: "pure, one user's label, every label",
            reference: "Dwork, McSherry, Nissim and Smith 2006",
            audit: labels::label_laplace,
        },
        Entry {
            name: "label-gaussian",
            summary: "a user's label with Gaussian noise",
            guarantee: "one Gaussian, one user's label, every label",
            reference: "WX Algorithm 2, corrected",
            audit: labels::label_gaussian,
        },
        Entry {
            name: "joint-statistics",
            summary: "a user's second moments and feature-label products in one release",
            guarantee: "one Gaussian, one user's record, every record",
            reference: "NL Algorithm 1, joint",
            audit: labels::joint_statistics,
        },
        Entry {
            name: "threshold-iht",
            summary: "sparse regression from threshold bits and public features",
            guarantee: "pure, one user's label, every label",
            reference: "after WX Algorithm 2; the default for private labels",
            audit: labels::threshold_iht,
        },
        Entry {
            name: "label-iht",
            summary: "sparse regression from noisy labels and public features",
            guarantee: "that of the labels' noise, one user's label, every label",
            reference: "WX Algorithms 2 and 5, corrected",
            audit: labels::label_iht,
        },
        Entry {
            name: "label-lasso",
            summary: "the Lasso on noisy labels and public features",
            guarantee: "that of the labels' noise, one user's label, every label",
            reference: "WX section VI",
            audit: labels::label_lasso,
        },
        Entry {
            name: "privunit",
            summary: "a user's vector by one of many public directions, more often one near it",
            guarantee: "pure, per report, every vector, exact probabilities",
            reference: "Bhowmick et al. 2018; Ye and Barg 2018",
            audit: reports::privunit,
        },
        Entry {
            name: "duchi",
            summary: "a user's vector by its side of a public direction",
            guarantee: "pure, per report, every vector, exact probabilities",
            reference: "WX Algorithm 1; Duchi, Jordan and Wainwright 2018",
            audit: reports::duchi,
        },
        Entry {
            name: "local-gaussian",
            summary: "a user's vector with Gaussian noise",
            guarantee: "Gaussian(2 radius / sigma) per report, every vector",
            reference: "Balle and Wang 2018",
            audit: reports::local_gaussian,
        },
        Entry {
            name: "local-iht",
            summary: "sparse regression in rounds of randomized gradients, each user answering once",
            guarantee: "pure, per user, every record",
            reference: "WX Algorithms 1 and 4, corrected",
            audit: reports::local_iht,
        },
        Entry {
            name: "one-shot",
            summary: "a generalized linear model from one report a user and public features",
            guarantee: "pure, per user, every record",
            reference: "NL Algorithm 1, corrected",
            audit: reports::one_shot,
        },
    ]
}
