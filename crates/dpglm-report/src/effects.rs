//! The coefficients of a fit with what is publicly known of their columns, and each in a sentence.

use dpglm::families::Domain;
use dpglm_io::schema::Kind;
use dpglm_io::{EncodedColumn, Schema};
use dpglm_plot::forest::Mark;
use dpglm_workflow::document::FitDocument;
use dpglm_workflow::model::{INTERCEPT, coefficient_of_class};
use dpglm_workflow::table::{number, percent};
use std::collections::HashMap;

/// A coefficient.
pub(crate) struct Effect {
    /// Its name in the artefact.
    pub name: String,
    pub estimate: f64,
    pub error: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// Whether its interval says anything.
    pub is_determined: bool,
    /// The level whose odds it is about, of a response of several levels.
    class: Option<String>,
    of: Of,
    /// Whether another term moves with it: what it is about then never changes alone.
    is_shared: bool,
}

/// What a coefficient is about.
enum Of {
    Intercept,
    /// A number within public bounds.
    Number {
        column: String,
        low: f64,
        high: f64,
    },
    /// A level beside the level that has no column.
    Level {
        column: String,
        level: String,
        reference: String,
    },
    /// An interval of time, beside the first.
    Interval(String),
    /// A term of a formula, or a column of which the schema says nothing more; how far apart its public bounds are.
    Other {
        name: String,
        width: f64,
    },
}

/// The values of a fit's response.
pub(crate) fn domain(fit: &FitDocument) -> Domain {
    let classes = fit.target.levels.as_ref().map_or(0, Vec::len);
    fit.family.one_predictor().map_or(Domain::Classes(classes), |family| family.domain())
}

/// All coefficients of a fit, in the order of the artefact. Of a sparse fit those of the chosen columns.
pub(crate) fn effects(fit: &FitDocument) -> Vec<Effect> {
    let encoded: HashMap<String, EncodedColumn> = match fit.encoding.encoded() {
        Ok((columns, _)) => columns.into_iter().map(|column| (column.name.clone(), column)).collect(),
        Err(_) => HashMap::new(),
    };
    let levels = fit.target.levels.as_deref().unwrap_or_default();
    let several = fit.family.one_predictor().is_none();
    let classes: Vec<usize> = if several { (1..levels.len()).collect() } else { vec![0] };
    let mut all = Vec::new();
    for class in classes {
        let columns = fit.support.as_ref().unwrap_or(&fit.columns).iter().map(String::as_str);
        for column in fit.intercept.then_some(INTERCEPT).into_iter().chain(columns) {
            let name = if several { coefficient_of_class(levels, class, column) } else { column.to_owned() };
            let estimate =
                fit.estimates.as_ref().and_then(|all| all.get(&name)).or(fit.coefficients.get(&name));
            let Some(&estimate) = estimate else { continue };
            let determined = fit.determined.as_ref().and_then(|all| all.get(&name));
            all.push(Effect {
                estimate,
                error: fit.standard_errors.as_ref().and_then(|all| all.get(&name)).copied(),
                interval: fit.intervals.as_ref().and_then(|all| all.get(&name)).copied(),
                is_determined: determined.copied().unwrap_or(true),
                class: if several { levels.get(class).cloned() } else { None },
                of: Of::column(fit, column, encoded.get(column)),
                is_shared: encoded
                    .get(column)
                    .is_some_and(|this| is_shared(&fit.encoding, this, encoded.values())),
                name,
            });
        }
    }
    all
}

/// Whether another term holds a column that this one holds. The levels of one category are no terms apart.
fn is_shared<'a>(
    schema: &Schema,
    this: &EncodedColumn,
    mut all: impl Iterator<Item = &'a EncodedColumn>,
) -> bool {
    let held = |column: &EncodedColumn| -> Vec<String> {
        let held = schema.columns().iter().filter(|c| holds(schema, &column.declared, &c.name));
        held.map(|c| c.name.clone()).collect()
    };
    let mine = held(this);
    all.any(|other| {
        let is_level_beside = other.declared == this.declared && schema.column(&this.declared).is_some();
        other.name != this.name && !is_level_beside && held(other).iter().any(|column| mine.contains(column))
    })
}

/// Whether a term, as it is written, holds a column.
fn holds(schema: &Schema, term: &str, column: &str) -> bool {
    if schema.column(term).is_some() {
        return term == column;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    term.match_indices(column)
        .any(|(at, found)| !term[..at].ends_with(is_word) && !term[at + found.len()..].starts_with(is_word))
}

impl Of {
    /// What the term is called, of a coefficient of this name.
    fn term<'a>(&'a self, name: &'a str) -> &'a str {
        match self {
            Self::Number { column, .. } => column,
            Self::Other { name, .. } | Self::Interval(name) => name,
            Self::Level { .. } | Self::Intercept => name,
        }
    }

    fn column(fit: &FitDocument, name: &str, encoded: Option<&EncodedColumn>) -> Self {
        if name == INTERCEPT {
            return Self::Intercept;
        }
        if !fit.features().iter().any(|feature| feature == name) {
            return Self::Interval(name.into());
        }
        let other = || Self::Other {
            name: name.into(),
            width: encoded.map_or(1.0, |c| c.scaling.half_width * (c.scaling.upper - c.scaling.lower)),
        };
        let declared = encoded.and_then(|column| fit.encoding.column(&column.declared));
        match declared.map(|column| (&column.name, &column.kind)) {
            Some((column, Kind::Real(numeric) | Kind::Count(numeric))) => {
                let declared = [numeric.bounds.lower(), numeric.bounds.upper()];
                let [low, high] =
                    fit.bounds.as_ref().and_then(|all| all.get(column)).copied().unwrap_or(declared);
                Self::Number { column: column.clone(), low, high }
            }
            Some((column, Kind::Binary(categorical) | Kind::Category(categorical))) => {
                let level = name.strip_prefix(column.as_str()).and_then(|rest| rest.strip_prefix('='));
                let reference = categorical.levels.names().get(categorical.reference);
                match (level, reference) {
                    (Some(level), Some(reference)) => Self::Level {
                        column: column.clone(),
                        level: level.into(),
                        reference: reference.clone(),
                    },
                    _ => other(),
                }
            }
            Some((_, Kind::Ignore)) | None => other(),
        }
    }
}

impl Effect {
    /// Whether it is the intercept, which compares nothing.
    pub(crate) fn is_intercept(&self) -> bool {
        matches!(self.of, Of::Intercept)
    }

    /// Whether its interval says on which side of zero it lies.
    pub(crate) fn is_told_from_zero(&self) -> bool {
        self.is_determined && self.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }

    /// Its distance from zero in standard errors.
    pub(crate) fn distance(&self) -> f64 {
        match self.error {
            Some(error) if error > 0.0 => (self.estimate / error).abs(),
            _ => self.estimate.abs(),
        }
    }

    /// The public range over which it acts: from the lowest to the highest value that the declared bounds allow, or from one level to another.
    fn width(&self) -> f64 {
        match self.of {
            Of::Number { low, high, .. } => high - low,
            Of::Other { width, .. } => width,
            _ => 1.0,
        }
    }

    /// What it does over its public range, to be drawn beside others; without a range of its own as it is.
    pub(crate) fn mark(&self) -> Mark {
        let width = self.width();
        let error = self.error.map(|error| error * width);
        let interval = self.interval.map(|ends| ends.map(|end| end * width));
        let text = match interval {
            _ if !self.is_determined => "not determined".into(),
            Some([low, high]) => {
                format!(
                    "{} [{}, {}]",
                    number(self.estimate * width, error),
                    number(low, error),
                    number(high, error)
                )
            }
            None => number(self.estimate * width, None),
        };
        Mark { estimate: self.estimate * width, interval, is_determined: self.is_determined, text }
    }

    /// What it is called in a sentence: `age` of `odds of B: age`.
    fn phrase(&self) -> (String, f64) {
        let (phrase, step) = self.phrase_alone();
        match self.is_shared {
            true => (
                format!(
                    "By the term `{}` alone, though other terms change with it: {}",
                    self.of.term(&self.name),
                    lowered(&phrase)
                ),
                step,
            ),
            false => (phrase, step),
        }
    }

    fn phrase_alone(&self) -> (String, f64) {
        match &self.of {
            Of::Number { column, low, high } => {
                let step = round_step(high - low);
                (format!("Where {column} is {step} higher"), step)
            }
            Of::Level { column, level, reference } => {
                (format!("For {column} = {level}, compared with {column} = {reference}"), 1.0)
            }
            Of::Interval(name) => (format!("For {name}, compared with the first interval"), 1.0),
            Of::Other { name, width } => {
                let step = round_step(*width);
                (format!("Where {name} is {step} higher"), step)
            }
            Of::Intercept => ("Where all columns are zero".into(), 1.0),
        }
    }

    /// What it says, its interval beside it.
    pub(crate) fn sentence(&self, fit: &FitDocument) -> String {
        let (phrase, step) = self.phrase();
        let target = &fit.target.name;
        let levels = fit.target.levels.as_deref().unwrap_or_default();
        let level = |interval: &str| match (self.interval, fit.level) {
            (Some(_), Some(level)) => format!(" ({} interval {interval})", percent(level)),
            _ => String::new(),
        };
        let factor = |subject: String| {
            let [low, high] = self.interval.unwrap_or_default().map(|end| factor((step * end).exp()));
            let times = factor((step * self.estimate).exp());
            format!("{phrase}, {subject} {times} times as high{}.", level(&format!("{low} to {high}")))
        };
        match domain(fit) {
            _ if fit.survival.is_some() => factor(format!("the hazard of {target} is")),
            Domain::Real => {
                let error = self.error.map(|error| step * error);
                let [low, high] = self.interval.unwrap_or_default().map(|end| number(step * end, error));
                let change = step * self.estimate;
                let size = number(change.abs(), error);
                let side = if change < 0.0 { "lower" } else { "higher" };
                let interval = level(&format!("of the difference {low} to {high}"));
                format!("{phrase}, {target} is {size} {side} on average{interval}.")
            }
            Domain::Binary
                if fit.family.one_predictor().is_some_and(|family| family.multiplies().is_none()) =>
            {
                let error = self.error.map(|error| step * error);
                let [low, high] = self.interval.unwrap_or_default().map(|end| number(step * end, error));
                let change = step * self.estimate;
                let side = if change < 0.0 { "lower" } else { "higher" };
                let of = levels.get(1).map(|level| format!(" = {level}")).unwrap_or_default();
                let interval = level(&format!("of the difference {low} to {high}"));
                format!(
                    "{phrase}, the {} of {target}{of} is {} {side}{interval}.",
                    fit.family.name(),
                    number(change.abs(), error)
                )
            }
            Domain::Binary => {
                let level = levels.get(1).map(|level| format!(" = {level}")).unwrap_or_default();
                match fit.family.name() {
                    "cloglog" => factor(format!("the rate of {target}{level} is")),
                    _ => factor(format!("the odds of {target}{level} are")),
                }
            }
            Domain::Count | Domain::Positive | Domain::Nonnegative => {
                factor(format!("the expected {target} is"))
            }
            Domain::Classes(_) => {
                let (base, class) =
                    (levels.first().map_or("", String::as_str), self.class.as_deref().unwrap_or(""));
                factor(format!("the odds of {target} = {class} against {base} are"))
            }
        }
    }
}

/// A sentence's first letter in lower case.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A round number of which a public range has at least two, and at most about twenty.
fn round_step(range: f64) -> f64 {
    if !(range.is_finite() && range > 0.0) {
        return 1.0;
    }
    let power = range.log10().floor();
    let exponent = if range / 10f64.powf(power) >= 2.0 || power == 0.0 { power } else { power - 1.0 };
    // 10 to a whole power as a person writes it.
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// A factor to three digits.
fn factor(times: f64) -> String {
    match times {
        t if t >= 1e6 || (t > 0.0 && t < 1e-4) => format!("{t:.1e}"),
        t if t >= 100.0 => format!("{t:.0}"),
        t => {
            let digits = (2 - t.max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
            format!("{t:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (range, step) in [
            (73.0, 10.0),
            (15.0, 1.0),
            (99_999.0, 10_000.0),
            (1.0, 1.0),
            (2.0, 1.0),
            (0.05, 0.01),
            (f64::INFINITY, 1.0),
        ] {
            assert_eq!(round_step(range), step, "{range}");
        }
    }

    #[test]
    fn factors_have_three_digits() {
        let cases = [
            (1.3123, "1.31"),
            (0.0824, "0.0824"),
            (12.34, "12.3"),
            (431.2, "431"),
            (2e9, "2.0e9"),
            (0.0, "0.000000"),
        ];
        for (times, text) in cases {
            assert_eq!(factor(times), text);
        }
    }
}
