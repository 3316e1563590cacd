//! `dpglm calibrate`: from a budget to noise.

use crate::failure::Failure;
use crate::render::{Digits, bound, guarantee, plain, releases, rounded_up, table};
use crate::{Format, events, flags, render};
use clap::{ArgGroup, Args, ValueEnum};
use dpglm::accounting::{self, Guarantee, Method};
use dpglm::privacy::{Budget, Event, Noise};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// From a budget to noise: how much noise do these releases need?
///
/// The answer is the smallest noise known to keep all releases together within the budget, each of which may depend on the
/// outputs of earlier ones. It always meets the budget.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group = ArgGroup::new("releases").required(true).args(["mechanism", "event", "events"]))]
#[command(group = ArgGroup::new("failure").required(true).args(["delta", "pure"]))]
pub struct Arguments {
    /// Equal releases by one mechanism, described by the flags below
    #[arg(long, value_enum, value_name = "KIND", requires = "sensitivity", help_heading = "Releases")]
    mechanism: Option<Mechanism>,
    /// The most that one row can change the released value: the l2 norm of the change for gaussian, the l1 norm for laplace,
    /// the largest change of any one score for selection
    #[arg(long, value_name = "S", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["event", "events"], help_heading = "Releases")]
    sensitivity: Option<f64>,
    /// How many such releases there are, for example the steps of gradient descent [default: 1]
    #[arg(long, value_name = "N", value_parser = flags::count, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["event", "events"], help_heading = "Releases")]
    count: Option<u64>,
    /// A template in short form, for a mix: gaussian:sensitivity=1,sigma=4,count=20. All of its noise is multiplied by one
    /// factor. May be repeated
    #[arg(long, value_name = "KIND:FIELDS", help_heading = "Releases")]
    event: Vec<String>,
    /// A template in a file: a JSON array of events, or {"schema": "dpglm.events/1", "events": [...]}; - reads standard
    /// input. All of its noise is multiplied by one factor
    #[arg(long, value_name = "FILE", help_heading = "Releases")]
    events: Option<PathBuf>,
    /// Events already released, in a file of the same form: they count against the budget and keep their noise
    #[arg(long, value_name = "FILE", help_heading = "Releases")]
    spent: Option<PathBuf>,

    /// The privacy loss you grant: no outcome becomes more likely by more than a factor e^epsilon when one row changes
    #[arg(long, value_name = "E", value_parser = flags::epsilon, allow_negative_numbers = true)]
    #[arg(help_heading = "Budget")]
    epsilon: f64,
    /// The probability with which that promise may fail. Choose it well below 1/n for n rows
    #[arg(long, value_name = "D", value_parser = flags::delta, allow_negative_numbers = true)]
    #[arg(help_heading = "Budget")]
    delta: Option<f64>,
    /// Ask for a pure guarantee (delta = 0), which gaussian noise cannot give
    #[arg(long, help_heading = "Budget")]
    pure: bool,
}

const EXAMPLES: &str = "\
Examples:
  The noise of twenty gradient steps, each of sensitivity 1:
    dpglm calibrate --mechanism gaussian --sensitivity 1 --count 20 --epsilon 0.5 --delta 1e-5
  A pure guarantee for one count, which one row changes by at most 1:
    dpglm calibrate --mechanism laplace --sensitivity 1 --epsilon 0.5 --pure
  Ten choices and one noisy vector that share a budget, the vector with half the noise of a choice:
    dpglm calibrate --epsilon 1 --delta 1e-6 \\
      --event selection:sensitivity=1,scale=2,count=10 --event gaussian:sensitivity=1,sigma=1";

/// The mechanisms with noise to set.
#[derive(Clone, Copy, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Mechanism {
    /// Gaussian noise on a vector
    Gaussian,
    /// Laplace noise on a vector
    Laplace,
    /// One choice by the exponential mechanism (largest score plus Gumbel noise)
    Selection,
}

/// The result as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    answer: Answer,
    budget: Granted,
    /// What the calibrated and the spent events really cost together: never above the budget.
    epsilon: f64,
    delta: f64,
    method: Method,
    events: &'a [Event],
    #[serde(skip_serializing_if = "<[Event]>::is_empty")]
    spent: &'a [Event],
}

/// The budget as given.
#[derive(Serialize)]
struct Granted {
    epsilon: f64,
    delta: f64,
}

/// The number that was asked for.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    /// Equal releases of one mechanism.
    Equal {
        mechanism: Mechanism,
        sensitivity: f64,
        count: u64,
        #[serde(flatten)]
        noise: NoiseLevel,
    },
    /// A template, whose noise is multiplied by a factor.
    Scaled { factor: f64 },
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum NoiseLevel {
    Sigma(f64),
    Scale(f64),
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let budget = match arguments.delta {
        Some(delta) => Budget::new(arguments.epsilon, delta)?,
        None => Budget::pure(arguments.epsilon)?,
    };
    let from_stdin = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    if from_stdin(&arguments.events) && from_stdin(&arguments.spent) {
        return Err(Failure::Usage("--events and --spent cannot both read standard input".into()));
    }
    let template = arguments.read_template()?;
    let spent = arguments.spent.as_deref().map(events::from_file).transpose()?.unwrap_or_default();
    let calibrated = accounting::calibrate(&template, &spent, budget)?;
    let all = [calibrated.as_slice(), spent.as_slice()].concat();
    let cost = accounting::account(&all, budget.delta())?;
    let answer = Answer::of(arguments.mechanism, &template, &calibrated)?;
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.calibration/1",
            answer,
            budget: Granted { epsilon: budget.epsilon(), delta: budget.delta() },
            epsilon: cost.epsilon,
            delta: cost.delta,
            method: cost.method,
            events: &calibrated,
            spent: &spent,
        });
    }
    show(&answer, &calibrated, &spent, cost)
}

impl Arguments {
    fn read_template(&self) -> Result<Vec<Event>, Failure> {
        if let Some(path) = &self.events {
            return events::from_file(path);
        }
        let (Some(mechanism), Some(sensitivity)) = (self.mechanism, self.sensitivity) else {
            return self.event.iter().map(|text| events::from_specification(text)).collect();
        };
        // Any noise is a template; as much as the sensitivity keeps their quotient ordinary.
        let noise = match mechanism {
            Mechanism::Gaussian => Noise::Gaussian { sensitivity, sigma: sensitivity },
            Mechanism::Laplace => Noise::Laplace { sensitivity, scale: sensitivity },
            Mechanism::Selection => Noise::Selection { sensitivity, scale: sensitivity },
        };
        Ok(vec![Event::new("", noise, self.count.unwrap_or(1))?])
    }
}

impl Answer {
    /// Reads the answer off the first event: all of them are scaled alike.
    fn of(mechanism: Option<Mechanism>, template: &[Event], calibrated: &[Event]) -> Result<Self, Failure> {
        let (Some(before), Some(after)) = (template.first(), calibrated.first()) else {
            return Err(Failure::Failed("there is no event whose noise could be set".into()));
        };
        let count = after.count();
        if let Some(mechanism) = mechanism {
            let (sensitivity, noise) = match after.noise() {
                Noise::Gaussian { sensitivity, sigma } => (sensitivity, NoiseLevel::Sigma(sigma)),
                Noise::Laplace { sensitivity, scale } | Noise::Selection { sensitivity, scale } => {
                    (sensitivity, NoiseLevel::Scale(scale))
                }
                other => return Err(Failure::Failed(format!("{other:?} has no noise level to print"))),
            };
            return Ok(Answer::Equal { mechanism, sensitivity, count, noise });
        }
        let level = |noise: Noise| match noise {
            Noise::Gaussian { sigma, .. } => Ok(sigma),
            Noise::Laplace { scale, .. } | Noise::Selection { scale, .. } => Ok(scale),
            Noise::Pure { epsilon } => Ok(1.0 / epsilon),
            Noise::Zcdp { rho } => Ok(1.0 / rho.sqrt()),
            other => Err(Failure::Failed(format!("{other:?} has no noise level to print"))),
        };
        let (before, after) = (level(before.noise())?, level(after.noise())?);
        let factor = after / before;
        // The quotient is rounded: whoever multiplies by it must not get less noise than was calibrated.
        Ok(Answer::Scaled { factor: if factor * before < after { factor.next_up() } else { factor } })
    }
}

fn show(answer: &Answer, calibrated: &[Event], spent: &[Event], cost: Guarantee) -> Result<String, Failure> {
    let (mut output, advice, mut rows) = match answer {
        Answer::Equal { mechanism, sensitivity, count, noise } => {
            let (name, level) = match noise {
                NoiseLevel::Sigma(level) => ("sigma", rounded_up(*level)),
                NoiseLevel::Scale(level) => ("scale", rounded_up(*level)),
            };
            let to_what = if *count == 1 { "the release" } else { "every release" };
            let advice = match mechanism {
                Mechanism::Gaussian => {
                    format!(
                        "Add Gaussian noise of standard deviation {level} to each coordinate of {to_what}"
                    )
                }
                Mechanism::Laplace => {
                    format!("Add Laplace noise of scale {level} to each coordinate of {to_what}")
                }
                Mechanism::Selection => {
                    format!(
                        "Add Gumbel noise of scale {level} to each score of {to_what} and name the largest"
                    )
                }
            };
            let rows = vec![
                vec![name.to_string(), level],
                vec!["sensitivity".to_string(), plain(*sensitivity)],
                vec!["count".to_string(), count.to_string()],
            ];
            (String::new(), advice, rows)
        }
        Answer::Scaled { factor } => {
            let factor = rounded_up(*factor);
            let advice = format!("Multiply the template's noise by {factor}");
            (
                render::events(calibrated, Digits::All)? + "\n",
                advice,
                vec![vec!["factor".to_string(), factor]],
            )
        }
    };
    let (epsilon, delta) = (rounded_up(cost.epsilon), rounded_up(cost.delta));
    rows.push(vec!["epsilon".to_string(), epsilon.clone()]);
    rows.push(vec!["delta".to_string(), delta.clone()]);
    rows.push(vec!["bound".to_string(), bound(cost.method)]);
    output += &table(&rows);
    let with_spent = match spent.iter().map(Event::count).fold(0, u64::saturating_add) {
        0 => String::new(),
        1 => ", counting the one already spent,".into(),
        count => format!(", counting the {count} already spent,"),
    };
    let all = [calibrated, spent].concat();
    output += &format!("\n{advice}: {}{with_spent} {}.\n", releases(&all), guarantee(&epsilon, &delta));
    Ok(output)
}
