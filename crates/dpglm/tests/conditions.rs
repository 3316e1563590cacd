//! What every certificate says of its conditions of use: for each estimator the common list, word for word, and what is its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::accounting::{Certificate, Grade};
use dpglm::central::{
    DpIht, Glm, LinearStatistics, Loss, LossBounds, LossModel, Multinomial, NoisyIht, Privacy, PrivateMean,
    SelectRefine, Selection, SparseMean, SparseMultinomial, SplitRefine, SquaredHinge, Transfer,
    WholeGradient,
};
use dpglm::comparators::{
    BestSubset, FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, SparseFrankWolfe, TwoStage,
};
use dpglm::data::{Dataset, Design};
use dpglm::estimators::dense::{Likelihood, Regression};
use dpglm::estimators::describe::Describe;
use dpglm::estimators::means::{Block, MeanRows, Means};
use dpglm::families::{Family, MonotoneLink};
use dpglm::local::{
    Kind, LabelNoise, LocalGaussian, LocalIht, OneShotGlm, RandomizedResponse, Randomizer, ThresholdBit,
};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Budget, Randomness, conditions};
use dpglm::registry::entries;
use dpglm::release::Estimator;
use dpglm::tuning::{Truncation, TruncationLevel, TunedRidge, TunedSparseMean, TunedSparsity};

const ROWS: usize = 120;
const COLUMNS: usize = 3;

fn design() -> Design {
    let cells = (0..ROWS * COLUMNS).map(|i| ((i * 37 % 101) as f64 / 50.0 - 1.0) * 0.9);
    Design::from_f64(ROWS, COLUMNS, cells.collect()).unwrap()
}

/// A table with this many different responses, 0, 1, ...
fn table(levels: usize) -> Dataset {
    Dataset::new(design(), (0..ROWS).map(|i| (i * 7 % levels) as f64).collect()).unwrap()
}

fn units(levels: usize) -> Dataset {
    let of_row = (0..ROWS as u32).map(|row| row / 2).collect();
    table(levels).with_units(of_row, ROWS / 2, "patient").unwrap()
}

/// The certificate of every estimator for a trusted curator, by its names in the registry, with the conditions of its own.
fn central(rng: &mut RandomSource) -> Vec<(&'static str, Certificate, Vec<&'static str>)> {
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-5).unwrap());
    let ranges = vec![(-1.0, 1.0); COLUMNS];
    let (rows, two, three) = (design(), table(2), table(3));
    let column_means = Means::new(vec![Block::Number { low: -1.0, high: 1.0 }; COLUMNS]).unwrap();
    let describe = Describe::new(vec![Block::Number { low: -1.0, high: 1.0 }; COLUMNS]).unwrap();
    let linear = || Glm::new(Family::gaussian(), (0.0, 1.0)).unwrap();
    let logistic = || Glm::new(Family::logistic(), (0.0, 1.0)).unwrap();
    let poisson = Glm::new(Family::poisson(), (0.0, 2.0)).unwrap();
    let noisy = |selection| NoisyIht::new(logistic(), 1, 1.0, selection).unwrap();
    let hinge = LossModel::new(SquaredHinge::new(1.0).unwrap(), (0.0, 1.0)).unwrap();
    let likelihood = |of| Regression::new(of).unwrap();
    let of = |family, bounds| likelihood(Likelihood::new(family, bounds));
    let tweedie = Family::tweedie(1.5).unwrap();
    let (real, counts) = (Likelihood::gaussian(0.0, 1.0), Likelihood::poisson(0.0, 2.0));
    let classes = Likelihood::Multinomial { classes: 3 };
    let transfer = || Transfer::logistic(1.0, 1).unwrap();
    let truncated = |level| Truncation::new(level, COLUMNS).unwrap();
    let public = "public features, if supplied, do not come from the private people";
    let order = conditions::ORDER;
    let accepted = transfer().literal().accepting("one record does not change the support").unwrap();
    let theoretical = TruncationLevel::Theoretical { sigma: 1.0 };
    let found = TruncationLevel::Private { low: -1.0, high: 1.0 };
    vec![
        (
            "mean",
            PrivateMean::new(ranges.clone()).unwrap().fit(&rows, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "column-means",
            column_means.fit(&MeanRows::new(&rows).unwrap(), privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("describe", describe.fit(&MeanRows::new(&rows).unwrap(), privacy, rng).unwrap().certificate, vec![]),
        (
            "sparse-mean",
            SparseMean::new(ranges.clone(), 1).unwrap().fit(&rows, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        (
            "tuned-sparse-mean",
            TunedSparseMean::new(ranges.clone(), 2)
                .unwrap()
                .fit(&rows, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            vec![],
        ),
        ("linear-likelihood", likelihood(real).fit(&two, privacy, rng).unwrap().certificate, vec![]),
        (
            "logistic-likelihood",
            likelihood(Likelihood::logistic()).fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "probit-likelihood",
            of(Family::probit(), (0.0, 1.0)).fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "cloglog-likelihood",
            of(Family::cloglog(), (0.0, 1.0)).fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "gamma-likelihood",
            of(Family::gamma(), (0.5, 2.0)).fit(&three, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "tweedie-likelihood",
            of(tweedie, (0.0, 2.0)).fit(&three, privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("poisson-likelihood", likelihood(counts).fit(&three, privacy, rng).unwrap().certificate, vec![]),
        (
            "multinomial-likelihood",
            likelihood(classes).fit(&three, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "karwa-vadhan",
            KarwaVadhan::new(ranges, (1e-3, 1.0)).unwrap().fit(&rows, privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("truncation", truncated(theoretical).fit(&rows, privacy, rng).unwrap().certificate, vec![]),
        ("truncation", truncated(found).fit(&rows, privacy, rng).unwrap().certificate, vec![]),
        ("linear", linear().fit(&two, privacy, rng).unwrap().certificate, vec![]),
        ("logistic", logistic().fit(&two, privacy, rng).unwrap().certificate, vec![]),
        ("poisson", poisson.fit(&three, privacy, rng).unwrap().certificate, vec![]),
        (
            "linear-statistics",
            LinearStatistics::new((0.0, 1.0)).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("multinomial", Multinomial::new(3).unwrap().fit(&three, privacy, rng).unwrap().certificate, vec![]),
        (
            "sparse-multinomial",
            SparseMultinomial::new(Multinomial::new(3).unwrap(), 1)
                .unwrap()
                .fit(&three, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            vec![],
        ),
        (
            "select-refine",
            SelectRefine::new(logistic(), 1).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        ("noisy-iht", noisy(Selection::Gumbel).fit(&two, privacy, rng).unwrap().fit.certificate, vec![]),
        (
            "split-refine",
            SplitRefine::new(SelectRefine::new(logistic(), 1).unwrap())
                .fit(&two, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            vec![order],
        ),
        (
            "smooth-loss",
            NoisyIht::new(hinge, 1, 1.0, Selection::Gumbel)
                .unwrap()
                .fit(&two, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            vec![],
        ),
        (
            "printed-peeling",
            NoisyIht::printed_logistic(1, 1.0).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        (
            "sparse-frank-wolfe",
            SparseFrankWolfe::logistic(1.0, 1.0).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "best-subset",
            BestSubset::logistic(1.0, 1).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("peeling-iht", noisy(Selection::Peeling).fit(&two, privacy, rng).unwrap().fit.certificate, vec![]),
        (
            "dp-iht",
            DpIht::new(logistic(), 1).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        (
            "whole-gradient",
            WholeGradient::new(logistic()).fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        ("transfer", transfer().fit(&two, privacy, rng).unwrap().certificate, vec![public]),
        ("transfer", accepted.fit(&two, privacy, rng).unwrap().certificate, vec![public]),
        (
            "frank-wolfe",
            FrankWolfe::logistic(1.0, 1.0).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "two-stage",
            TwoStage::logistic(1.0, 1).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        (
            "johnson-lindenstrauss",
            JohnsonLindenstrauss::linear((0.0, 1.0), 1.0)
                .unwrap()
                .fit(&two, privacy, rng)
                .unwrap()
                .certificate,
            vec![],
        ),
        (
            "tuned-sparsity",
            TunedSparsity::new(logistic(), 2).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![order],
        ),
        (
            "tuned-ridge",
            TunedRidge::new(logistic(), vec![0.0, 0.1])
                .unwrap()
                .fit(&two, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            vec![order],
        ),
    ]
}

/// The same for units of several rows, as far as a method takes them.
fn of_units(rng: &mut RandomSource) -> Vec<(&'static str, Certificate, Vec<&'static str>)> {
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-5).unwrap());
    let (two, three) = (units(2), units(3));
    let logistic = || Glm::new(Family::logistic(), (0.0, 1.0)).unwrap();
    let noisy = NoisyIht::new(logistic(), 1, 1.0, Selection::Gumbel).unwrap();
    vec![
        ("logistic", logistic().fit(&two, privacy, rng).unwrap().certificate, vec![]),
        (
            "linear-statistics",
            LinearStatistics::new((0.0, 1.0)).unwrap().fit(&two, privacy, rng).unwrap().certificate,
            vec![],
        ),
        ("multinomial", Multinomial::new(3).unwrap().fit(&three, privacy, rng).unwrap().certificate, vec![]),
        (
            "select-refine",
            SelectRefine::new(logistic(), 1).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        ("noisy-iht", noisy.fit(&two, privacy, rng).unwrap().fit.certificate, vec![]),
        (
            "dp-iht",
            DpIht::new(logistic(), 1).unwrap().fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
        (
            "whole-gradient",
            WholeGradient::new(logistic()).fit(&two, privacy, rng).unwrap().fit.certificate,
            vec![],
        ),
    ]
}

/// Every randomizer and protocol of the local model.
fn local(randomness: Randomness<'_>) -> Vec<(&'static str, Certificate, Vec<&'static str>)> {
    let randomizer = |kind| Randomizer::new(kind, 3, 1.0, 1.0).unwrap();
    let budget = Budget::new(1.0, 1e-5).unwrap();
    let bounds = (0.0, 1.0);
    let study = LocalIht::new(Family::logistic(), bounds, 1.0, 2).unwrap();
    let one_shot = OneShotGlm::new(Family::logistic(), bounds, 1.0).unwrap();
    vec![
        ("privunit", randomizer(Kind::PrivUnit).certificate(randomness).unwrap(), vec![]),
        ("duchi", randomizer(Kind::Duchi).certificate(randomness).unwrap(), vec![]),
        (
            "local-gaussian",
            LocalGaussian::new(3, 1.0, budget).unwrap().certificate(randomness).unwrap(),
            vec![],
        ),
        (
            "local-iht",
            study.certificate(&study.plan(1_000, 4, 1.0).unwrap(), randomness).unwrap(),
            vec!["each user belongs to one group"],
        ),
        (
            "one-shot",
            one_shot.certificate(&one_shot.randomizer(3, 1.0).unwrap(), randomness).unwrap(),
            vec!["the public rows belong to people who are not among the users"],
        ),
        (
            "randomized-response",
            RandomizedResponse::new(3, 1.0).unwrap().certificate(randomness).unwrap(),
            vec![],
        ),
        ("threshold-bit", ThresholdBit::new(bounds, 1.0).unwrap().certificate(randomness).unwrap(), vec![]),
        ("label-laplace", LabelNoise::laplace(bounds, 1.0).unwrap().certificate(randomness).unwrap(), vec![]),
        (
            "label-gaussian",
            LabelNoise::gaussian(bounds, budget).unwrap().certificate(randomness).unwrap(),
            vec![],
        ),
    ]
}

/// Registered, but without a certificate of their own: single mechanisms, whose caller writes it, and protocols on the
/// reports of another entry.
const WITHOUT: &[&str] = &[
    "gaussian",
    "laplace",
    "clipped-sum",
    "exponential",
    "quantile",
    "quantile-unbounded",
    "peeling",
    "gumbel-top",
    "random-stopping",
    "tuned-sparsity-choice",
    "tuned-ridge-choice",
    "split-refine-fit",
    "joint-statistics",
    "threshold-iht",
    "label-iht",
    "label-lasso",
];

fn listed(common: &[&str], own: &[&str]) -> Vec<String> {
    common.iter().chain(own).map(|condition| (*condition).to_owned()).collect()
}

#[test]
fn every_certificate_lists_its_conditions() {
    let public = "the declared bounds and levels, the names of the columns and whether there is a header line are public: none was \
                  chosen by looking at private rows";
    let cipher = "the randomness is computational: nobody can tell the output of ChaCha20, seeded by the operating system, from \
                  random bits";
    let clock =
        "nobody observes how long the run takes or how much memory it uses: neither is part of the promise";
    let failed = "a failed run is not released";
    let rng = &mut RandomSource::from_os().unwrap();
    let mut seen = Vec::new();
    for (name, certificate, own) in central(rng) {
        assert_eq!(*certificate.adjacency(), Adjacency::ReplaceRow, "{name}");
        assert!(!matches!(certificate.grade(), Grade::None(_)), "{name}");
        let common = [public, "the number of rows is public", cipher, clock, failed];
        assert_eq!(certificate.conditions(), listed(&common, &own), "{name}");
        seen.push(name);
    }
    for (name, certificate, own) in of_units(rng) {
        assert_eq!(*certificate.adjacency(), Adjacency::ReplaceUnit("patient".into()), "{name}");
        let units = "the number of units is public, and all rows of one person carry the same `patient`";
        assert_eq!(certificate.conditions(), listed(&[public, units, cipher, clock, failed], &own), "{name}");
    }
    for (name, certificate, own) in local(Randomness::Devices) {
        let public =
            "the declared bounds and levels are public, and so is who takes part and how many they are";
        let features = "the users' features are public: the promise is for the label alone";
        let once = "each user sends one report, and a repetition sends the same bytes";
        let system = "the randomness is computational: each device draws it from its own operating system, and nobody can tell it \
                      from random bits";
        let clock = "nobody observes how long a device takes or how much memory it uses: neither is part of the promise";
        let fails = "a device whose run fails sends nothing";
        let common: &[&str] = match certificate.adjacency() {
            Adjacency::ReplaceUserLabel => &[public, features, once, system, clock, fails],
            Adjacency::ReplaceUserRecord => &[public, once, system, clock, fails],
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(certificate.conditions(), listed(common, &own), "{name}");
        seen.push(name);
    }
    for entry in entries() {
        let has = seen.contains(&entry.name);
        assert!(
            has != WITHOUT.contains(&entry.name),
            "{}: give its certificate here, or say that it has none",
            entry.name
        );
    }
}

/// Conditions are the promise's: a fixed seed leaves neither, for any estimator.
#[test]
fn a_fixed_seed_leaves_no_promise_and_no_conditions() {
    let rng = &mut RandomSource::insecure_seeded(0x0063_6f6e_6469_7469);
    let mut all = central(rng);
    all.extend(of_units(rng));
    all.extend(local(Randomness::Source(rng)));
    for (name, certificate, _) in all {
        let Grade::None(reason) = certificate.grade() else { panic!("{name}: {:?}", certificate.grade()) };
        assert!(reason.contains("fixed seed"), "{name}: {reason}");
        assert!(certificate.guarantee().is_none() && certificate.curve().is_empty(), "{name}");
        assert!(certificate.conditions().is_empty(), "{name}");
        assert!(!certificate.events().is_empty() || certificate.parts().len() == 2, "{name}");
        assert!(certificate.to_string().starts_with("No privacy is promised"), "{name}");
    }
}

/// The logarithm of the hyperbolic cosine of the residual.
#[derive(Debug)]
struct LogCosh;

impl Loss for LogCosh {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        (predictor - y).cosh().ln()
    }
    fn slope(&self, predictor: f64, y: f64) -> f64 {
        (predictor - y).tanh()
    }
    fn bounds(&self) -> LossBounds {
        LossBounds { slope: 1.0, curvature: 1.0 }
    }
}

/// No program can tell whether code of the caller's remembers rows.
#[test]
fn a_loss_of_the_callers_own_is_a_condition() {
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-5).unwrap());
    let of = |loss: LossModel| {
        let model = NoisyIht::new(loss, 1, 1.0, Selection::Gumbel).unwrap();
        let fit = model.fit(&table(2), privacy, &mut RandomSource::from_os().unwrap()).unwrap();
        fit.fit.certificate.conditions().iter().any(|condition| condition == conditions::OWN_CODE)
    };
    assert!(of(LossModel::new(LogCosh, (0.0, 1.0)).unwrap()));
    assert!(!of(LossModel::new(SquaredHinge::new(1.0).unwrap(), (0.0, 1.0)).unwrap()));
}

#[test]
fn a_family_of_the_callers_own_is_a_condition() {
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-5).unwrap());
    let rng = &mut RandomSource::from_os().unwrap();
    let (data, bounds) = (table(2), (0.0, 1.0));
    let own = || Family::monotone(MonotoneLink::new(|u| u + 0.1 * u.sin(), 0.9, 1.1).unwrap());
    for (family, wanted) in [(own(), true), (Family::gaussian(), false)] {
        let model = || Glm::new(family.clone(), bounds).unwrap();
        let certificates = [
            model().fit(&data, privacy, rng).unwrap().certificate,
            SelectRefine::new(model(), 1).unwrap().fit(&data, privacy, rng).unwrap().fit.certificate,
            SplitRefine::new(SelectRefine::new(model(), 1).unwrap())
                .fit(&data, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            NoisyIht::new(model(), 1, 1.0, Selection::Gumbel)
                .unwrap()
                .fit(&data, privacy, rng)
                .unwrap()
                .fit
                .certificate,
            DpIht::new(model(), 1).unwrap().fit(&data, privacy, rng).unwrap().fit.certificate,
            WholeGradient::new(model()).fit(&data, privacy, rng).unwrap().fit.certificate,
            TunedSparsity::new(model(), 2).unwrap().fit(&data, privacy, rng).unwrap().fit.certificate,
            TunedRidge::new(model(), vec![0.0, 1.0])
                .unwrap()
                .fit(&data, privacy, rng)
                .unwrap()
                .fit
                .certificate,
        ];
        for (place, certificate) in certificates.iter().enumerate() {
            let found = certificate.conditions().iter().any(|condition| condition == conditions::OWN_CODE);
            assert_eq!(found, wanted, "certificate {place}");
        }
    }
}
