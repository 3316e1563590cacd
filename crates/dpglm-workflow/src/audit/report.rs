//! What an audit found, in words and as JSON.

use super::ground::Stage;
use super::subject::Subject;
use crate::render;
use dpglm::audit::{Findings, Roc};
use serde::{Deserialize, Serialize};

/// The schema of an audit.
pub const AUDIT: &str = "dpglm.audit/1";
/// Who may see it.
pub const FOR_WHOM: &str =
    "for the curator only: this result depends on private rows and nothing pays for it; do not publish it";
/// What the bounds are about.
const ADJACENCY: &str = "replace one row";
/// The false positive rate at which the members found are reported.
const LOW: f64 = 0.001;

/// The findings as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditDocument {
    schema: String,
    for_whom: String,
    subject: String,
    rows: String,
    adjacency: String,
    claim: Claim,
    confidence: f64,
    /// The largest of the lower bounds that hold whatever the method is.
    pub lower_bound: f64,
    /// Whether that is more than was claimed, or one run gave away more than the claimed curve allows.
    pub exceeds_claim: bool,
    one_run: Option<OneRun>,
    many_runs: Option<ManyRuns>,
    canaries: Option<Attack>,
    held_out: Option<Attack>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    epsilon: Option<f64>,
    delta: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OneRun {
    epsilon: f64,
    canaries: usize,
    guesses: usize,
    correct: usize,
    /// For methods whose privacy curve is that of a Gaussian release.
    if_gaussian: Option<IfGaussian>,
    /// How likely so many correct guesses are at most, were the claimed curve true.
    p_value: Option<f64>,
    refutes_curve: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IfGaussian {
    epsilon: f64,
    mu: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyRuns {
    epsilon: f64,
    runs: u64,
    /// Bounds on the probability of one set of results, on either table.
    probabilities: [f64; 2],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    area: f64,
    found_at_false_positive_rate_0_001: f64,
}

impl Attack {
    fn of(roc: &Roc) -> Self {
        Self { area: roc.area(), found_at_false_positive_rate_0_001: roc.found_at(LOW) }
    }
}

impl AuditDocument {
    /// The document of what an audit of `subject` found.
    pub fn new(
        findings: &Findings,
        subject: &Subject,
        stage: &Stage,
        claim: (Option<f64>, f64),
        confidence: f64,
        runs: u64,
    ) -> Self {
        Self {
            schema: AUDIT.into(),
            for_whom: FOR_WHOM.into(),
            subject: subject.name(),
            rows: if stage.is_simulated { "simulated" } else { "from a file" }.into(),
            adjacency: ADJACENCY.into(),
            claim: Claim { epsilon: claim.0, delta: claim.1 },
            confidence,
            lower_bound: findings.epsilon(),
            exceeds_claim: claim.0.is_some_and(|epsilon| findings.refutes(epsilon)),
            one_run: findings.one_run.map(|run| OneRun {
                epsilon: run.epsilon,
                canaries: run.canaries,
                guesses: run.guesses,
                correct: run.correct,
                if_gaussian: run.gaussian.map(|g| IfGaussian { epsilon: g.epsilon, mu: g.mu }),
                p_value: claim.0.map(|_| run.p_value),
                refutes_curve: claim.0.map(|_| run.refutes),
            }),
            many_runs: findings.many_runs.as_ref().map(|report| ManyRuns {
                epsilon: report.strongest.epsilon.max(0.0),
                runs,
                probabilities: [report.strongest.probabilities.0, report.strongest.probabilities.1],
            }),
            canaries: findings.canaries.as_ref().map(Attack::of),
            held_out: findings.rows.as_ref().map(Attack::of),
        }
    }

    /// What was attacked.
    pub fn heading(&self) -> String {
        format!("Audit of the {}, rows {}", self.subject, self.rows)
    }

    /// What was claimed and what was found, a line each.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let delta = render::rounded_up(self.claim.delta);
        let claimed = self.claim.epsilon;
        let claimed =
            claimed.map_or_else(|| "nothing".into(), |e| format!("epsilon {}", render::rounded_up(e)));
        let mut rows = vec![vec!["claimed".to_owned(), claimed, format!("at delta {delta}")]];
        let at_least = |epsilon: f64| format!("epsilon at least {}", rounded_down(epsilon));
        if let Some(run) = &self.one_run {
            rows.push(vec![
                "proved by one run".into(),
                at_least(run.epsilon),
                format!("{} of {} guesses right, {} canaries", run.correct, run.guesses, run.canaries),
            ]);
            if let Some(gaussian) = &run.if_gaussian {
                rows.push(vec![
                    "the same if Gaussian".into(),
                    at_least(gaussian.epsilon),
                    format!("mu at least {}, were its privacy curve a Gaussian's", rounded_down(gaussian.mu)),
                ]);
            }
            if let (Some(p), Some(refuted)) = (run.p_value, run.refutes_curve) {
                rows.push(vec![
                    "the claimed curve".into(),
                    if refuted { "refuted" } else { "not refuted" }.into(),
                    format!("so many right guesses have probability at most {} under it", rounded_up(p)),
                ]);
            }
        }
        if let Some(many) = &self.many_runs {
            let [p, q] = many.probabilities;
            rows.push(vec![
                "proved by many runs".into(),
                at_least(many.epsilon),
                format!("{} runs a side; a result of probability {p:.3} here, {q:.3} there", many.runs),
            ]);
        }
        for (name, attack) in
            [("canaries told apart", &self.canaries), ("held-out rows told apart", &self.held_out)]
        {
            if let Some(attack) = attack {
                rows.push(vec![
                    name.into(),
                    format!("area {:.3}", attack.area),
                    format!(
                        "{:.1}% found at 0.1% false alarms",
                        100.0 * attack.found_at_false_positive_rate_0_001
                    ),
                ]);
            }
        }
        rows
    }

    /// What follows from it, a sentence or two each.
    pub fn verdict(&self) -> Vec<String> {
        let verdict = match (self.claim.epsilon, self.exceeds_claim) {
            (None, _) => "Nothing was claimed, so nothing is refuted.",
            (_, true) => "The claim does not hold.",
            (_, false) => {
                "No attack exceeds the claim. That proves nothing by itself: better attacks may exist."
            }
        };
        let condition = match &self.one_run {
            Some(run) if run.if_gaussian.is_some() => Some(
                "The bound \"if Gaussian\" is about methods whose privacy curve is that of one Gaussian release; the others are about any method.",
            ),
            _ => None,
        };
        let reach = format!(
            "The bounds are about tables that differ in one row ({}), and hold together with {}% confidence.",
            self.adjacency,
            render::rounded(100.0 * self.confidence)
        );
        [Some(verdict), condition, Some(&reach)].into_iter().flatten().map(str::to_owned).collect()
    }

    /// The findings in words.
    pub fn in_words(&self) -> String {
        let (table, verdict) = (render::table(&self.lines()), self.verdict().join("\n"));
        format!("{}\n\n{table}\n{verdict}\n{}.\n", self.heading(), render::sentence(FOR_WHOM))
    }

    /// Why the claim does not hold, if an attack refuted it.
    pub fn refutation(&self) -> Option<String> {
        let claimed = self.claim.epsilon.filter(|_| self.exceeds_claim)?;
        let confidence = format!("with {}% confidence", render::rounded(100.0 * self.confidence));
        Some(if self.lower_bound > claimed {
            format!(
                "the claim does not hold: epsilon is at least {} {confidence}, but {} was claimed",
                rounded_down(self.lower_bound),
                render::rounded_up(claimed)
            )
        } else {
            format!(
                "the claim does not hold: {confidence}, one run gave away more than the privacy curve of the claimed epsilon {} allows",
                render::rounded_up(claimed)
            )
        })
    }
}

/// A probability that is a bound from above.
fn rounded_up(probability: f64) -> String {
    render::plain((1_000.0 * probability).ceil() / 1_000.0)
}

/// A lower bound is only one if it is rounded down.
fn rounded_down(value: f64) -> String {
    render::rounded_down_to(value, render::BOUND_DIGITS)
}
