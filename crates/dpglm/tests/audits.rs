//! The audit of every registered mechanism and estimator, and of its weakened twins.
//!
//! Confidence: all statements of one subject hold together with probability at least 1 - 1e-6. Power: each weakened
//! twin's evidence is so strong that a repetition with new randomness would catch it with probability above 0.999
//! (computed from the exact bounds on its outcome probabilities, and asserted).
//!
//! Estimators are audited release by release: see `docs/audit.md`, whose table these tests print
//! (`cargo test -p dpglm --test audits -- --nocapture --test-threads 1 | grep '^|'`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::audit::{Audit, Report};
use dpglm::noise::RandomSource;
use dpglm::registry::{AuditCase, Subject, entries};

const ERROR: f64 = 1e-6;

/// A seed derived from names, so that no seed is ever chosen by its result.
fn seed(parts: &[&str]) -> u64 {
    parts.iter().flat_map(|part| part.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Every trial of a subject; the error is shared among them.
fn examine(entry: &str, subject: &mut Subject) -> Vec<Report> {
    let mut rng = RandomSource::insecure_seeded(seed(&[entry, subject.name]));
    let share = ERROR / subject.trials.len() as f64;
    let mut examine = |trial: &mut dpglm::registry::Trial| {
        let audit = Audit::new(trial.runs, share).unwrap();
        audit.examine(&trial.claim, &mut trial.run, &mut rng).unwrap()
    };
    subject.trials.iter_mut().map(&mut examine).collect()
}

fn audit_entry(name: &str) {
    let entry = entries().iter().find(|entry| entry.name == name).unwrap();
    let mut case = (entry.audit)().unwrap();
    assert!(case.weakened.len() >= 2, "{name} has too few weakened twins");
    let mut faults = attacked(&case);
    let reports = examine(name, &mut case.honest);
    for (trial, report) in case.honest.trials.iter().zip(&reports) {
        let (of, strongest) = (&trial.of, &report.strongest);
        if report.refutes() {
            faults.push(format!("{of} exceeds its claim: {strongest:?}"));
        }
        assert!(report.sets >= 4, "{name}, {of}: nothing was looked at");
    }
    for twin in &mut case.weakened {
        let reports = examine(name, twin);
        let caught: Vec<bool> = reports.iter().map(|report| report.refutes() && report.repeatable).collect();
        let of = |kind: Option<&str>| -> Vec<usize> {
            (0..twin.trials.len()).filter(|&k| twin.trials[k].release.as_deref() == kind).collect()
        };
        let mut kinds: Vec<Option<&str>> = twin.trials.iter().map(|trial| trial.release.as_deref()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        // All releases together need not show where each of them does.
        let single = kinds.iter().any(Option::is_some);
        for kind in kinds.into_iter().filter(|kind| !single || kind.is_some()) {
            let trials = of(kind);
            if !trials.iter().any(|&k| caught[k]) {
                let strongest: Vec<_> =
                    trials.iter().map(|&k| (&twin.trials[k].of, &reports[k].strongest)).collect();
                faults.push(format!("{} is not caught, {kind:?}: {strongest:?}", twin.name));
            }
        }
        for ((trial, &caught), report) in twin.trials.iter().zip(&caught).zip(&reports) {
            if trial.telling && !caught {
                faults.push(format!("{} is not caught, {}: {:?}", twin.name, trial.of, report.strongest));
            }
        }
        let count = caught.iter().filter(|&&caught| caught).count();
        println!("{name}, {}: caught in {count} of {} trials", twin.name, reports.len());
    }
    print_table(name, &case);
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
}

/// No neighbours that a search found move a release by more than its claimed sensitivity. Where a twin cannot be told in any way to
/// call the estimator, the registry says why.
fn attacked(case: &AuditCase) -> Vec<String> {
    let mut faults = Vec::new();
    for attack in &case.attacks {
        let (variant, release, share) = (attack.variant, &attack.release, attack.share);
        if share > 1.0 {
            faults.push(format!("{variant}: the {release} moved by {share} of its claim"));
        }
        let told = case.attacks.iter().any(|other| other.release == *release && !other.untold);
        let explained = case.slack.iter().any(|slack| slack.explains(attack));
        if !told && !explained {
            faults.push(format!("{variant}: nothing tells of the {release}, moved by {share} of its claim"));
        }
        if told && explained {
            faults.push(format!("the {release} shows after all"));
        }
    }
    faults
}

/// One line for each release: over all variants the share of the claim that is reached, and in how many of them twins are told.
fn print_table(name: &str, case: &AuditCase) {
    let mut releases: Vec<&str> = case.attacks.iter().map(|attack| attack.release.as_str()).collect();
    releases.sort_unstable();
    releases.dedup();
    for release in releases {
        let of = || case.attacks.iter().filter(|attack| attack.release == release);
        let shares: Vec<f64> = of().map(|attack| attack.share).collect();
        let least = shares.iter().copied().fold(1.0, f64::min);
        let most = shares.iter().copied().fold(0.0, f64::max);
        let told = of().filter(|attack| !attack.untold).count();
        println!("| {name} | {release} | {least:.3} to {most:.3} | {told} of {} |", shares.len());
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
    tuned_ridge => "tuned-ridge",
    tuned_ridge_choice => "tuned-ridge-choice",
    truncation => "truncation",
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
    column_means => "column-means",
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
