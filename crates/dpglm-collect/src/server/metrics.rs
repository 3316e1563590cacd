//! Counters for Prometheus. Numbers only: nothing about a device or a report.
//!
//! Written by hand: the counters and their one label are known when it is compiled, and a crate would add its registry, locks and
//! derived labels to write the same forty lines of text.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::answer::Answer;

/// Upper ends of the latency histogram, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0];

/// What the service has done since it started.
#[derive(Default)]
pub(super) struct Metrics {
    answers: [AtomicU64; Answer::ALL.len()],
    batches: AtomicU64,
    batched: AtomicU64,
    commit_microseconds: AtomicU64,
    storage_failures: AtomicU64,
    latency: [AtomicU64; BUCKETS.len() + 1],
    latency_microseconds: AtomicU64,
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Metrics {
    pub(super) fn answered(&self, answer: Answer, time: Duration) {
        if let Some(place) = Answer::ALL.iter().position(|&known| known == answer) {
            self.answers[place].fetch_add(1, Relaxed);
        }
        let bucket = BUCKETS.iter().position(|&end| time.as_secs_f64() <= end).unwrap_or(BUCKETS.len());
        self.latency[bucket].fetch_add(1, Relaxed);
        self.latency_microseconds.fetch_add(microseconds(time), Relaxed);
    }

    pub(super) fn batch(&self, reports: usize, time: Duration) {
        self.batches.fetch_add(1, Relaxed);
        self.batched.fetch_add(reports as u64, Relaxed);
        self.commit_microseconds.fetch_add(microseconds(time), Relaxed);
    }

    pub(crate) fn storage_failed(&self) {
        self.storage_failures.fetch_add(1, Relaxed);
    }

    /// The text format of Prometheus, without what the storage knows.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# HELP dpglm_answers_total Answers to reports, by code.\n# TYPE dpglm_answers_total counter\n",
        );
        for (answer, count) in Answer::ALL.iter().zip(&self.answers) {
            text += &format!("dpglm_answers_total{{code=\"{}\"}} {}\n", answer.code(), count.load(Relaxed));
        }
        text += "# HELP dpglm_answer_seconds Time from a report's arrival to its answer.\n\
                 # TYPE dpglm_answer_seconds histogram\n";
        let mut total = 0;
        for (end, count) in BUCKETS.iter().zip(&self.latency) {
            total += count.load(Relaxed);
            text += &format!("dpglm_answer_seconds_bucket{{le=\"{end}\"}} {total}\n");
        }
        total += self.latency[BUCKETS.len()].load(Relaxed);
        let seconds = |microseconds: &AtomicU64| microseconds.load(Relaxed) as f64 / 1e6;
        text += &format!(
            "dpglm_answer_seconds_bucket{{le=\"+Inf\"}} {total}\ndpglm_answer_seconds_sum {}\n\
             dpglm_answer_seconds_count {total}\n",
            seconds(&self.latency_microseconds)
        );
        for (name, help, value) in [
            ("dpglm_batches_total", "Transactions of reports.", self.batches.load(Relaxed) as f64),
            ("dpglm_batched_reports_total", "Reports in them.", self.batched.load(Relaxed) as f64),
            ("dpglm_batch_seconds_total", "Time they took.", seconds(&self.commit_microseconds)),
            (
                "dpglm_storage_failures_total",
                "Transactions that failed; none of their reports was acknowledged.",
                self.storage_failures.load(Relaxed) as f64,
            ),
        ] {
            text += &format!("# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
        }
        text
    }
}
