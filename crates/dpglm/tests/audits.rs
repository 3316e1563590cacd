//! The audit of every registered mechanism, and of its weakened twins.
//!
//! Confidence: all statements of one subject hold together with probability at least 1 - 1e-6. Power: each weakened
//! twin's evidence is so strong that a repetition with new randomness would catch it with probability above 0.999
//! (computed from the exact bounds on its outcome probabilities, and asserted).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::audit::{Audit, Claim, Report};
use dpglm::noise::RandomSource;
use dpglm::registry::{Subject, entries};

/// Enough for a mechanism to be told from one with half its noise, with room to spare.
const RUNS: u64 = 200_000;
/// Whole fits cost more; at their larger epsilon, noise cut to 0.15 shows in fewer runs.
const FITS: u64 = 1_500;
/// Fits of forty rows and a column or two: cheaper, so there are more of them.
const SMALL_FITS: u64 = 10_000;
/// A report by PrivUnit looks at hundreds of directions.
const REPORTS: u64 = 5_000;
const ERROR: f64 = 1e-6;

/// A seed derived from names, so that no seed is ever chosen by its result.
fn seed(parts: &[&str]) -> u64 {
    parts.iter().flat_map(|part| part.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The audit of every pair of a subject; the error is shared among the pairs.
fn examine(entry: &str, subject: &mut Subject) -> Vec<Report> {
    let claim = Claim::of(&subject.claim).unwrap();
    let runs = match entry {
        "mean" | "linear" | "linear-statistics" | "logistic" | "poisson" | "multinomial" => FITS,
        "linear-likelihood" | "logistic-likelihood" | "poisson-likelihood" | "multinomial-likelihood" => FITS,
        "select-refine" | "sparse-multinomial" => FITS,
        "tuned-sparsity" | "tuned-sparsity-choice" => FITS,
        "noisy-iht" | "peeling-iht" | "dp-iht" | "sparse-mean" | "tuned-sparse-mean" => SMALL_FITS,
        "transfer" | "frank-wolfe" | "two-stage" | "johnson-lindenstrauss" | "karwa-vadhan" => SMALL_FITS,
        "threshold-iht" | "label-iht" | "label-lasso" => FITS,
        "privunit" | "local-iht" | "one-shot" => REPORTS,
        _ => RUNS,
    };
    let audit = Audit::new(runs, ERROR / subject.pairs.len() as f64).unwrap();
    let mut rng = RandomSource::insecure_seeded(seed(&[entry, subject.name]));
    subject.pairs.iter_mut().map(|pair| audit.examine(&claim, pair, &mut rng).unwrap()).collect()
}

fn audit_entry(name: &str) {
    let entry = entries().iter().find(|entry| entry.name == name).unwrap();
    let mut case = (entry.audit)().unwrap();
    assert!(case.weakened.len() >= 2, "{name} has too few weakened twins");
    for (pair, report) in examine(name, &mut case.honest).iter().enumerate() {
        println!("{name}, pair {pair}: {:?}", report.strongest);
        assert!(!report.refutes(), "{name}, pair {pair} exceeds its claim: {:?}", report.strongest);
        assert!(report.sets >= 4, "{name}, pair {pair}: nothing was looked at");
    }
    for weak in &mut case.weakened {
        let reports = examine(name, weak);
        let caught = reports.iter().filter(|r| r.refutes() && r.strongest.repeatable).count();
        println!("{name}, {}: caught on {caught} of {} pairs", weak.name, reports.len());
        assert!(caught > 0, "{name} with {} is not caught: {reports:#?}", weak.name);
    }
}

// One test an entry, so that they run side by side.
macro_rules! audits {
    ($($test:ident => $name:literal,)*) => {
        $(#[test] fn $test() { audit_entry($name); })*

        #[test]
        fn every_entry_is_audited() {
            let audited = [$($name),*];
            for entry in entries() {
                assert!(audited.contains(&entry.name), "{} has no audit test", entry.name);
            }
        }
    };
}

audits! {
    randomized_response => "randomized-response",
    tuned_sparsity => "tuned-sparsity",
    tuned_sparsity_choice => "tuned-sparsity-choice",
    tuned_sparse_mean => "tuned-sparse-mean",
    random_stopping => "random-stopping",
    threshold_bit => "threshold-bit",
    label_laplace => "label-laplace",
    label_gaussian => "label-gaussian",
    joint_statistics => "joint-statistics",
    threshold_iht => "threshold-iht",
    label_iht => "label-iht",
    label_lasso => "label-lasso",
    gaussian => "gaussian",
    laplace => "laplace",
    clipped_sum => "clipped-sum",
    exponential => "exponential",
    quantile => "quantile",
    quantile_unbounded => "quantile-unbounded",
    peeling => "peeling",
    gumbel_top => "gumbel-top",
    mean => "mean",
    linear_likelihood => "linear-likelihood",
    logistic_likelihood => "logistic-likelihood",
    poisson_likelihood => "poisson-likelihood",
    multinomial_likelihood => "multinomial-likelihood",
    linear => "linear",
    linear_statistics => "linear-statistics",
    logistic => "logistic",
    poisson => "poisson",
    multinomial => "multinomial",
    select_refine => "select-refine",
    noisy_iht => "noisy-iht",
    peeling_iht => "peeling-iht",
    dp_iht => "dp-iht",
    sparse_multinomial => "sparse-multinomial",
    sparse_mean => "sparse-mean",
    transfer => "transfer",
    frank_wolfe => "frank-wolfe",
    two_stage => "two-stage",
    johnson_lindenstrauss => "johnson-lindenstrauss",
    karwa_vadhan => "karwa-vadhan",
    privunit => "privunit",
    duchi => "duchi",
    local_gaussian => "local-gaussian",
    local_iht => "local-iht",
    one_shot => "one-shot",
}
