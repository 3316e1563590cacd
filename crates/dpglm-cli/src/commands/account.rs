//! `dpglm account`: from noise, or from artefacts, to a guarantee.

use crate::events::{self, Mechanism};
use crate::failure::Failure;
use crate::render::{Digits, bound, guarantee, releases, rounded_up, sentence, table};
use crate::{Format, flags, render};
use clap::{ArgGroup, Args};
use dpglm::accounting;
use dpglm::accounting::{Certificate, Guarantee, Method, Part, Several};
use dpglm::privacy::Event;
use serde::Serialize;
use std::path::PathBuf;

/// From noise to a guarantee: what do these releases cost together?
///
/// Describe what was (or will be) released and with how much noise. The answer is the smallest epsilon that is known to
/// hold for all releases together, each of which may depend on the outputs of earlier ones. It is never below the true
/// one. Artefacts are added up by the releases that they list.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group = ArgGroup::new("releases").required(true).args(["artefacts", "mechanism", "event", "events"]))]
#[command(group = ArgGroup::new("question").required(true).args(["delta", "pure", "at_epsilon"]))]
pub struct Arguments {
    /// Files written by `--output` of fit, mean and describe: what do they cost together?
    #[arg(value_name = "ARTEFACT", conflicts_with_all = ["mechanism", "event", "events"])]
    artefacts: Vec<PathBuf>,
    /// Equal releases by one mechanism, described by the flags below
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Releases")]
    mechanism: Option<Mechanism>,
    /// The most that one row can change the released value: the l2 norm of the change for gaussian, the l1 norm for laplace,
    /// the largest change of any one score for selection
    #[arg(long, value_name = "S", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    sensitivity: Option<f64>,
    /// Standard deviation of gaussian noise
    #[arg(long, value_name = "SIGMA", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    sigma: Option<f64>,
    /// Scale of laplace noise (its mean absolute value), or of a selection's Gumbel noise
    #[arg(long, value_name = "SCALE", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    scale: Option<f64>,
    /// Privacy loss of each pure release
    #[arg(long, value_name = "EPSILON", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    epsilon_per_release: Option<f64>,
    /// zCDP parameter of each zcdp release
    #[arg(long, value_name = "RHO", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    rho: Option<f64>,
    /// How many such releases there are, for example the steps of gradient descent [default: 1]
    #[arg(long, value_name = "N", value_parser = flags::count, allow_negative_numbers = true)]
    #[arg(requires = "mechanism", conflicts_with_all = ["artefacts", "event", "events"], help_heading = "Releases")]
    count: Option<u64>,
    /// Releases in short form, for a mix: gaussian:sensitivity=1,sigma=4,count=20. Fields are those of an events file. May be
    /// repeated
    #[arg(long, value_name = "KIND:FIELDS", help_heading = "Releases")]
    event: Vec<String>,
    /// A JSON array of events, or {"schema": "dpglm.events/1", "events": [...]}; - reads standard input
    #[arg(long, value_name = "FILE", help_heading = "Releases")]
    events: Option<PathBuf>,

    /// Ask for epsilon at this delta: the probability with which the promise may fail. Choose it well below 1/n for n rows
    #[arg(long, value_name = "D", value_parser = flags::delta, allow_negative_numbers = true)]
    #[arg(help_heading = "Question")]
    delta: Option<f64>,
    /// Ask for a pure guarantee (delta = 0), which gaussian and zcdp releases never have
    #[arg(long, help_heading = "Question")]
    pure: bool,
    /// Ask for delta at this epsilon
    #[arg(long, value_name = "E", value_parser = flags::epsilon_or_zero, allow_negative_numbers = true)]
    #[arg(help_heading = "Question")]
    at_epsilon: Option<f64>,
    /// Also print the privacy curve: epsilon at every delta from 0.1 to 1e-12
    #[arg(long, help_heading = "Question")]
    curve: bool,
    /// Draw the privacy curve into an SVG file
    #[arg(long, value_name = "FILE", help_heading = "Question")]
    plot: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  Twenty gradient steps, each of sensitivity 1 with noise of standard deviation 40:
    dpglm account --mechanism gaussian --sensitivity 1 --sigma 40 --count 20 --delta 1e-5
  A choice of ten columns followed by their noisy values:
    dpglm account --delta 1e-6 \\
      --event selection:sensitivity=1,scale=20,count=10 --event gaussian:sensitivity=1,sigma=8
  Two models of the same people, and a description:
    dpglm account first.json second.json table1.json --delta 1e-6";

/// The result as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    epsilon: f64,
    delta: f64,
    /// The bound that gave epsilon; absent where delta was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<Method>,
    events: &'a [Event],
    /// What was released from public parts of the rows, each alone: a row pays for one of them.
    #[serde(skip_serializing_if = "<[Part]>::is_empty")]
    parts: &'a [Part],
    /// On what the promises of the artefacts rest.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    assumptions: &'a [String],
    /// By which rule artefacts were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Vec<Point>>,
}

#[derive(Serialize)]
struct Point {
    epsilon: f64,
    delta: f64,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let asked = arguments.read()?;
    let events = asked.events();
    let (epsilon, delta, method) = if let Some(epsilon) = arguments.at_epsilon {
        (epsilon, asked.delta_at(epsilon)?, None)
    } else {
        // No delta is given only where `--pure` is.
        let answer = asked.account(arguments.delta.unwrap_or(0.0))?;
        (answer.epsilon, answer.delta, Some(answer.method))
    };
    let curve = if arguments.curve || arguments.plot.is_some() { asked.curve()? } else { Vec::new() };
    if let Some(path) = &arguments.plot {
        let drawing = dpglm_plot::privacy_curve(&curve, (epsilon, delta));
        std::fs::write(path, drawing)
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?;
    }
    if format == Format::Json {
        let curve = arguments
            .curve
            .then(|| curve.into_iter().map(|(epsilon, delta)| Point { epsilon, delta }).collect());
        return render::json(&Document {
            schema: "dpglm.account/1",
            epsilon,
            delta,
            method,
            events,
            parts: asked.parts(),
            assumptions: asked.assumptions(),
            rule: asked.rule().map(|_| RULE),
            curve,
        });
    }
    let (epsilon_shown, delta_shown) = (rounded_up(epsilon), rounded_up(delta));
    let mut output = render::events(events, Digits::All)? + "\n";
    if !asked.parts().is_empty() {
        output += &(render::parts(asked.parts(), Digits::All)? + "\n");
    }
    let mut answer = vec![
        vec!["epsilon".to_string(), epsilon_shown.clone()],
        vec!["delta".to_string(), delta_shown.clone()],
    ];
    answer.extend(method.map(|method| vec!["bound".to_string(), bound(method)]));
    output += &table(&answer);
    if arguments.curve {
        let mut rows = vec![vec!["delta".to_string(), "epsilon".to_string()]];
        rows.extend(curve.iter().map(|(epsilon, delta)| vec![rounded_up(*delta), rounded_up(*epsilon)]));
        output += "\n";
        output += &table(&rows);
    }
    output += "\n";
    output += &if delta < 1.0 {
        sentence(&format!("{} {}.\n", releases(events), guarantee(&epsilon_shown, &delta_shown)))
    } else {
        format!(
            "At epsilon {epsilon_shown} no delta below 1 is known: that is no privacy. Ask at a larger epsilon.\n"
        )
    };
    if let Some(rule) = asked.rule() {
        output += rule;
    }
    if !asked.assumptions().is_empty() {
        output += &format!("Provided that {}.\n", asked.assumptions().join(" and that "));
    }
    Ok(output)
}

/// The rule by which artefacts are added, for programs.
const RULE: &str = "fixed_plans";
/// The same in words.
const RULE_IN_WORDS: &str = "\
Rule: adaptive composition of plans that were fixed beforehand. What was asked of the rows may depend on earlier results; if the budget of a
later artefact was chosen after an earlier result, only a ledger gives a promise (`dpglm ledger`).
";

/// What is asked about.
enum Asked {
    Events(Vec<Event>),
    Artefacts(Several),
}

impl Asked {
    fn events(&self) -> &[Event] {
        match self {
            Asked::Events(events) => events,
            Asked::Artefacts(several) => several.events(),
        }
    }

    fn parts(&self) -> &[Part] {
        match self {
            Asked::Events(_) => &[],
            Asked::Artefacts(several) => several.parts(),
        }
    }

    fn assumptions(&self) -> &[String] {
        match self {
            Asked::Events(_) => &[],
            Asked::Artefacts(several) => several.assumptions(),
        }
    }

    fn rule(&self) -> Option<&'static str> {
        matches!(self, Asked::Artefacts(_)).then_some(RULE_IN_WORDS)
    }

    fn account(&self, delta: f64) -> dpglm::Result<Guarantee> {
        match self {
            Asked::Events(events) => accounting::account(events, delta),
            Asked::Artefacts(several) => several.account(delta),
        }
    }

    fn delta_at(&self, epsilon: f64) -> dpglm::Result<f64> {
        match self {
            Asked::Events(events) => accounting::delta_at(events, epsilon),
            Asked::Artefacts(several) => several.delta_at(epsilon),
        }
    }

    fn curve(&self) -> dpglm::Result<Vec<(f64, f64)>> {
        match self {
            Asked::Events(events) => accounting::curve(events),
            Asked::Artefacts(several) => several.curve(),
        }
    }
}

impl Arguments {
    fn read(&self) -> Result<Asked, Failure> {
        if self.artefacts.is_empty() {
            return Ok(Asked::Events(self.read_events()?));
        }
        let artefacts: Vec<_> =
            self.artefacts.iter().map(|path| crate::artefact::read(path)).collect::<Result<_, _>>()?;
        let certificates: Vec<&Certificate> =
            artefacts.iter().map(|artefact| artefact.certificate()).collect();
        let nothing = self.artefacts.iter().zip(&certificates).find(|(_, c)| c.guarantee().is_none());
        if let Some((path, certificate)) = nothing {
            return Err(Failure::Failed(format!("{}: {certificate} It cannot be added up", path.display())));
        }
        Ok(Asked::Artefacts(Several::of(&certificates)?))
    }

    fn read_events(&self) -> Result<Vec<Event>, Failure> {
        if let Some(path) = &self.events {
            return events::from_file(path);
        }
        let Some(mechanism) = self.mechanism else {
            return self.event.iter().map(|text| events::from_specification(text)).collect();
        };
        let numbers: Vec<(&str, f64)> = [
            ("sensitivity", self.sensitivity),
            ("sigma", self.sigma),
            ("scale", self.scale),
            ("epsilon", self.epsilon_per_release),
            ("rho", self.rho),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
        let flag = |name: &str| match name {
            "epsilon" => "--epsilon-per-release".into(),
            name => format!("--{name}"),
        };
        Ok(vec![events::from_numbers(mechanism, &numbers, self.count.unwrap_or(1), "", flag)?])
    }
}
