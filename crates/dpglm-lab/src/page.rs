//! The results as pages: a Markdown table of all figures, and an HTML page that reads like a paper's section on experiments.

pub mod html;
mod reasons;

use crate::figure::{Kind, Measure, Promise};
use crate::results::{FigureResult, LineResult, PointResult};
use std::fmt::Write;

/// A true epsilon this close to the stated one, in parts of it, is the same.
const SAME: f64 = 0.02;

/// The Markdown page.
pub fn markdown(figures: &[FigureResult]) -> String {
    let mut page = String::from(
        "# The papers' figures again\n\n\
         Several methods here come from papers, and the papers show figures and tables. This page computes them again: what the paper \
         claims, what its algorithm gives as printed and which epsilon that truly has, what the certified method gives at the same epsilon, \
         and whether the claim holds.\n\n\
         Made by `dpglm-lab report` from `docs/reproduction/results.json`; do not edit. `dpglm-lab run all` computes the numbers again \
         (`--quick` few repetitions, `--full` the papers'). On two cores `--quick` takes about 18 minutes for all figures, and 3.5 GB; \
         `--full`, by the times of its repetitions, about 5 hours. Each figure runs the paper's algorithm as printed (*literal*), the product \
         at the same (epsilon, delta) (*certified*), and no privacy.\n\n\
         Numbers are means at one point of the figure, standard errors in brackets. A literal run is given the epsilon it truly has by \
         the accountant, for rows within the paper's bounds, beside the one it states. The ratio is that of the certified method's error \
         to the non-private one's. Verdicts are computed from the numbers by a rule in each figure's file.\n\n\
         | figure | claim | at | literal | certified | certified at literal's true epsilon | non-private | ratio | verdict |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for figure in figures {
        let _ = writeln!(page, "{}", row(figure));
    }
    page.push_str("\n# Why\n");
    for figure in figures {
        let _ = write!(
            page,
            "\n## {} ({})\n\n{}. {} {}\n\nMeasured: {}; {} repetitions. Rows: {}.\n\n![{}](reproduction/{}.svg)\n\nChoices:\n\n",
            figure.title,
            figure.key,
            capital(figure.verdict.outcome.words()),
            capital(&figure.verdict.because),
            beats(figure),
            figure.y,
            figure.repetitions(),
            figure.data,
            figure.title,
            figure.key
        );
        for choice in &figure.choices {
            let _ = writeln!(page, "* {choice}");
        }
    }
    page
}

fn row(figure: &FigureResult) -> String {
    let Some(point) = figure.headline() else {
        return format!("| {} | {} | | | | | | | |", figure.key, figure.claim);
    };
    let cell = |kind: Kind| point.kind(kind).map_or_else(|| "-".into(), number);
    let literal = match point.kind(Kind::Literal) {
        Some(line) => {
            format!("{}{}", number(line), line.promise.as_ref().map_or(String::new(), stated_and_true))
        }
        None => "-".into(),
    };
    let at_true = match point.kind(Kind::CertifiedAtTrue) {
        Some(line) => number(line),
        None => "-".into(),
    };
    format!(
        "| [{}](#{}) | {} | {} | {} | {} | {} | {} | {} | {} |",
        figure.key,
        anchor(figure),
        figure.claim,
        point.name,
        literal,
        cell(Kind::Certified),
        at_true,
        cell(Kind::NonPrivate),
        ratio(figure, point),
        figure.verdict.outcome.words()
    )
}

fn anchor(figure: &FigureResult) -> String {
    let heading = format!("{} ({})", figure.title, figure.key).to_lowercase();
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The certified method's error as a multiple of the non-private one's.
pub fn ratio(figure: &FigureResult, point: &PointResult) -> String {
    let mean = |kind| point.kind(kind).and_then(|l| l.mean);
    match (mean(Kind::Certified), mean(Kind::NonPrivate)) {
        (Some(a), Some(b)) => figure.ratio(a, b).map_or_else(|| "-".into(), short),
        _ => "-".into(),
    }
}

/// Points at which the certified method was compared with the literal one, and where it lost.
#[derive(Default)]
struct Tally {
    of: usize,
    worse: Vec<String>,
}

impl Tally {
    fn sentence(&self, how: &str) -> Option<String> {
        let better = self.of - self.worse.len();
        match (self.of, self.worse.is_empty()) {
            (0, _) => None,
            (of, true) => Some(format!(
                "{how} the certified method has the smaller value (smaller is better) at all {of} points."
            )),
            (of, false) => Some(format!(
                "{how} the certified method has the smaller value (smaller is better) at {better} of {of} points, not at {}.",
                self.worse.join("; ")
            )),
        }
    }
}

/// Where the certified method beats the literal one: at equal true epsilon where that was run or where the literal run has the
/// epsilon it states, at the stated one elsewhere, and there the literal run's true epsilon is another.
pub fn beats(figure: &FigureResult) -> String {
    if figure.measure == Measure::Area {
        return "An area is no error: of a private estimate nothing more is asked than an area within its promise.".into();
    }
    let (mut equal, mut stated) = (Tally::default(), Tally::default());
    for point in &figure.points {
        let Some(literal) = point.kind(Kind::Literal) else { continue };
        let Some(promise) = &literal.promise else { continue };
        let Some(truly) = promise.truly else { continue };
        let same = (truly / promise.epsilon - 1.0).abs() < SAME;
        let (ours, tally) = match point.kind(Kind::CertifiedAtTrue) {
            Some(ours) => (Some(ours), &mut equal),
            None if same => (point.kind(Kind::Certified), &mut equal),
            None => (point.kind(Kind::Certified), &mut stated),
        };
        let Some(ours) = ours.filter(|l| l.mean.is_some() && literal.mean.is_some()) else { continue };
        tally.of += 1;
        let ((a, of_a), (b, of_b)) = (ours.pair(), literal.pair());
        if a > b {
            let clear = a - b > 2.0 * of_a.hypot(of_b);
            let how = if clear { "" } else { ", by less than two standard errors" };
            tally.worse.push(format!("{}{how}", point.name));
        }
    }
    let sentences: Vec<String> = [
        equal.sentence("At equal true epsilon"),
        stated.sentence("At the stated epsilon, which the literal run does not truly have and at whose true one nothing was run,"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let loses = !(equal.worse.is_empty() && stated.worse.is_empty());
    let reason = reasons::of(&figure.key).filter(|_| loses).map(str::to_owned);
    let sentences: Vec<String> = sentences.into_iter().chain(reason).collect();
    if sentences.is_empty() {
        return "No point has both a literal run with a finite true epsilon and a certified one.".into();
    }
    sentences.join(" ")
}

/// A mean with its standard error, and how often the method failed.
pub fn number(line: &LineResult) -> String {
    let failed = line.values.iter().filter(|v| v.is_none()).count();
    let failures =
        if failed > 0 { format!(", failed in {failed} of {}", line.values.len()) } else { String::new() };
    match (line.mean, line.standard_error) {
        (Some(mean), Some(error)) => format!("{} ({}){failures}", short(mean), short(error)),
        (Some(mean), None) => format!("{}{failures}", short(mean)),
        _ => "failed always".into(),
    }
}

/// The stated and the true epsilon of a literal run.
pub(crate) fn stated_and_true(promise: &Promise) -> String {
    match promise.truly {
        Some(truly) => format!("; epsilon {} stated, {} true", epsilon(promise.epsilon), epsilon(truly)),
        None => format!("; epsilon {} stated, none true", epsilon(promise.epsilon)),
    }
}

/// An epsilon to three digits, rounded up.
pub fn epsilon(value: f64) -> String {
    dpglm::privacy::decimal::rounded_up_to(value, 3)
}

/// Three digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if value.abs() >= 1e5 || value.abs() < 1e-4 {
        return format!("{value:.1e}");
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}")
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (value, text) in
            [(0.2134, "0.213"), (12.34, "12.3"), (1234.0, "1234"), (0.00123, "0.00123"), (1e-7, "1.0e-7")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(capital("holds"), "Holds");
        let promise = Promise { epsilon: 0.2, delta: 1e-5, truly: Some(0.213_4), because: String::new() };
        assert_eq!(stated_and_true(&promise), "; epsilon 0.2 stated, 0.214 true");
    }
}
