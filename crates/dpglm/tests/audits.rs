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
use dpglm::numeric::fnv1a;
use dpglm::registry::{AuditCase, Subject, entries};

const ERROR: f64 = 1e-6;

/// A seed derived from names, so that no seed is ever chosen by its result.
fn seed(parts: &[&str]) -> u64 {
    fnv1a(parts.iter().flat_map(|part| part.bytes()))
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
    assert!(case.untried.is_empty(), "{name} takes {:?}, which no variant tries", case.untried);
    let mut faults = attacked(&case);
    let reports = examine(name, &mut case.honest);
    for (trial, report) in case.honest.trials.iter().zip(&reports) {
        let (of, strongest) = (&trial.of, &report.strongest);
        if report.refutes() {
            faults.push(format!("{of} exceeds its claim: {strongest:?}"));
        }
        assert!(report.sets >= 4, "{name}, {of}: nothing was looked at");
    }
    let mut counts = Vec::new();
    for twin in &mut case.weakened {
        let reports = examine(name, twin);
        let caught = |report: &Report| report.refutes() && report.repeatable;
        let telling = twin.trials.iter().any(|trial| trial.telling);
        if !telling && !reports.iter().any(caught) {
            faults.push(format!("{} is not caught: {reports:#?}", twin.name));
        }
        for (trial, report) in twin.trials.iter().zip(&reports).filter(|(trial, _)| trial.telling) {
            if !caught(report) {
                let (of, strongest) = (&trial.of, &report.strongest);
                faults.push(format!("{} is not caught, {of}: {strongest:?}", twin.name));
            }
        }
        let count = reports.iter().filter(|report| caught(report)).count();
        counts.push(format!("{count} of {}", reports.len()));
    }
    print_row(name, &case, &counts);
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
}

/// No neighbours that a search found move a release by more than its claimed sensitivity. Where they stay so far below it that a
/// twin cannot be told, the registry says why.
fn attacked(case: &AuditCase) -> Vec<String> {
    let mut faults = Vec::new();
    for attack in &case.attacks {
        let (variant, release, share) = (attack.variant, &attack.release, attack.share);
        if share > 1.0 {
            faults.push(format!("{variant}: the {release} moved by {share} of its claim"));
        }
    }
    for release in releases(case) {
        let told = case.attacks.iter().any(|attack| attack.release == release && attack.told);
        let excused = case.slack.iter().any(|slack| slack.release == release);
        if told == excused {
            let how = if told { "shows after all" } else { "does not show" };
            faults.push(format!("half the noise of the {release} {how}"));
        }
    }
    faults
}

fn releases(case: &AuditCase) -> Vec<&str> {
    let mut releases: Vec<&str> = case.attacks.iter().map(|attack| attack.release.as_str()).collect();
    releases.sort_unstable();
    releases.dedup();
    releases
}

/// A row of the table: kinds of release, ways to call, how near the worst pair of a kind comes to its claim, and trials in which each
/// twin was caught.
fn print_row(name: &str, case: &AuditCase, caught: &[String]) {
    let shares = |release: &str| -> Vec<f64> {
        case.attacks.iter().filter(|attack| attack.release == release).map(|attack| attack.share).collect()
    };
    let shares: Vec<Vec<f64>> = releases(case).into_iter().map(shares).collect();
    let reached: Vec<f64> = shares.iter().map(|of| of.iter().copied().fold(0.0, f64::max)).collect();
    let ways = shares.iter().map(Vec::len).max();
    if let (Some(ways), [halved, smaller, ..]) = (ways, caught) {
        let least = reached.iter().copied().fold(1.0, f64::min);
        let most = reached.iter().copied().fold(0.0, f64::max);
        println!("| {name} | {} | {ways} | {least:.2} to {most:.2} | {halved} | {smaller} |", reached.len());
    }
}

/// Public types that draw noise or fit, and promise nothing themselves.
const WITHOUT_PROMISE: [(&str, &str); 4] = [
    ("Iht", "iterative hard thresholding without noise"),
    ("Kind", "a model of columns in their units, `Model<Kind>`: its promise is that of `Regression`"),
    ("Mean", "means of columns in their units: its promise is that of `Means`"),
    ("Law", "a line through simulated errors, for the planner"),
];

/// Every public type of the library that takes a random source, or fits, has an entry in the registry. Read from the source, so that
/// a new method cannot be forgotten.
#[test]
fn every_public_method_has_an_entry() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<(String, String)> = Vec::new();
    // Samplers, and what attacks.
    let others = ["noise", "audit", "registry"].map(|folder| source.join(folder));
    let (mut folders, mut files) = (vec![source], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if !others.contains(&path) => folders.push(path),
                true => {}
                false => files.push(path),
            }
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let types = methods(&text).into_iter();
        found.extend(types.map(|name| (name, file.file_name().unwrap().to_string_lossy().into_owned())));
    }
    found.sort();
    found.dedup();
    assert!(found.len() > 35, "the source is read wrongly: {found:?}");
    let registered = |name: &str| entries().iter().any(|entry| entry.types.contains(&name));
    let exempt = |name: &str| WITHOUT_PROMISE.iter().any(|(known, _)| *known == name);
    for (name, file) in &found {
        assert!(registered(name) != exempt(name), "{name} in {file}: register it, or say why not");
    }
    for (name, _) in WITHOUT_PROMISE {
        assert!(found.iter().any(|(known, _)| known == name), "there is no {name} any more");
    }
    for entry in entries() {
        for name in entry.types {
            assert!(found.iter().any(|(known, _)| known == name), "{}: there is no {name}", entry.name);
        }
    }
}

/// The types with a public method that takes a random source, or is called `fit`.
fn methods(text: &str) -> Vec<String> {
    let (mut types, mut current) = (Vec::new(), None);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "mod tests {" {
            break;
        }
        if let Some(header) = line.strip_prefix("impl").filter(|_| line.ends_with('{')) {
            // `impl Estimator for Glm {` makes Glm a method; `impl<'a> Judge<'a>` is about Judge; `impl Debug for X` about no method of
            // its own, nor `impl<E: Estimator> Prepared<E>`, which runs any.
            let header = header.trim_start_matches(|c: char| c != ' ');
            let name = header.rsplit(['<', ' ']).find(|part| part.starts_with(char::is_uppercase));
            let name = name.map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
            types.extend(name.clone().filter(|_| header.contains(" Estimator for ")));
            current = name.filter(|name| !header.contains(" for ") && name.len() > 1);
        }
        if line.trim_start().starts_with("pub fn ") {
            let mut signature = line.to_owned();
            while !signature.contains('{') {
                let Some(next) = lines.next() else { break };
                signature += next;
            }
            let fits = signature.trim_start().starts_with("pub fn fit(");
            types.extend(current.clone().filter(|_| fits || signature.contains("RandomSource")));
        }
    }
    types
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
    describe => "describe",
    linear_likelihood => "linear-likelihood",
    logistic_likelihood => "logistic-likelihood",
    poisson_likelihood => "poisson-likelihood",
    probit_likelihood => "probit-likelihood",
    cloglog_likelihood => "cloglog-likelihood",
    gamma_likelihood => "gamma-likelihood",
    tweedie_likelihood => "tweedie-likelihood",
    multinomial_likelihood => "multinomial-likelihood",
    linear => "linear",
    linear_statistics => "linear-statistics",
    logistic => "logistic",
    poisson => "poisson",
    multinomial => "multinomial",
    select_refine => "select-refine",
    split_refine => "split-refine",
    split_refine_fit => "split-refine-fit",
    noisy_iht => "noisy-iht",
    smooth_loss => "smooth-loss",
    printed_peeling => "printed-peeling",
    peeling_iht => "peeling-iht",
    dp_iht => "dp-iht",
    whole_gradient => "whole-gradient",
    sparse_multinomial => "sparse-multinomial",
    sparse_mean => "sparse-mean",
    transfer => "transfer",
    frank_wolfe => "frank-wolfe",
    sparse_frank_wolfe => "sparse-frank-wolfe",
    best_subset => "best-subset",
    two_stage => "two-stage",
    johnson_lindenstrauss => "johnson-lindenstrauss",
    karwa_vadhan => "karwa-vadhan",
    privunit => "privunit",
    duchi => "duchi",
    local_gaussian => "local-gaussian",
    local_iht => "local-iht",
    one_shot => "one-shot",
}
