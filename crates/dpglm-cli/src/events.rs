//! Where events come from: flags, short specifications on the command line, files.

use crate::failure::Failure;
use clap::ValueEnum;
use dpglm::Error;
use dpglm::error::Parameter;
use dpglm::privacy::{Event, Noise};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;
use std::path::Path;

/// The kinds of release an event can describe.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Mechanism {
    /// Gaussian noise on a vector
    Gaussian,
    /// Laplace noise on a vector
    Laplace,
    /// One choice by the exponential mechanism (largest score plus Gumbel noise)
    Selection,
    /// Any release with a pure guarantee of its own, such as randomized response
    Pure,
    /// Any release of which a zero-concentrated guarantee is known
    Zcdp,
}

impl Mechanism {
    /// Its name on the command line and in events files.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
    }

    /// The numbers it needs, and no others, by their names in events files.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Mechanism::Gaussian => &["sensitivity", "sigma"],
            Mechanism::Laplace | Mechanism::Selection => &["sensitivity", "scale"],
            Mechanism::Pure => &["epsilon"],
            Mechanism::Zcdp => &["rho"],
        }
    }
}

/// An event from the numbers given for it. `call` turns a parameter's name into what the user writes for it.
pub fn from_numbers(
    mechanism: Mechanism,
    given: &[(&str, f64)],
    count: u64,
    release: &str,
    call: impl Fn(&str) -> String,
) -> Result<Event, Failure> {
    let wanted = mechanism.parameters();
    if let Some((stray, _)) = given.iter().find(|(name, _)| !wanted.contains(name)) {
        return Err(Failure::Usage(format!(
            "{} does not apply to {} releases: they take {}",
            call(stray),
            mechanism.name(),
            wanted.iter().map(|name| call(name)).collect::<Vec<_>>().join(" and ")
        )));
    }
    let number = |name: &str| {
        let value = given.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        value.ok_or_else(|| {
            Failure::Usage(format!("{} is missing: {} releases need it", call(name), mechanism.name()))
        })
    };
    let noise = match mechanism {
        Mechanism::Gaussian => {
            Noise::Gaussian { sensitivity: number("sensitivity")?, sigma: number("sigma")? }
        }
        Mechanism::Laplace => Noise::Laplace { sensitivity: number("sensitivity")?, scale: number("scale")? },
        Mechanism::Selection => {
            Noise::Selection { sensitivity: number("sensitivity")?, scale: number("scale")? }
        }
        Mechanism::Pure => Noise::Pure { epsilon: number("epsilon")? },
        Mechanism::Zcdp => Noise::Zcdp { rho: number("rho")? },
    };
    Event::new(release, noise, count).map_err(|error| match error {
        // The library knows the parameter by its name in events files.
        Error::OutOfRange { parameter, range, value, remedy }
            if wanted.contains(&parameter.words().as_str()) || parameter == Parameter::Count =>
        {
            let name = call(&parameter.words());
            Failure::Usage(format!("{name} must be {range}, got {value}: {remedy}"))
        }
        other => other.into(),
    })
}

/// An event written as `gaussian:sensitivity=1,sigma=4,count=20`, with the fields of an events file.
pub fn from_specification(text: &str) -> Result<Event, Failure> {
    let wrong = |what: String| {
        Failure::Usage(format!(
            "--event '{text}': {what}; write it like gaussian:sensitivity=1,sigma=4,count=20"
        ))
    };
    let Some((mechanism, fields)) = text.split_once(':') else {
        return Err(wrong("there is no ':' after the mechanism".into()));
    };
    let mechanism = <Mechanism as ValueEnum>::from_str(mechanism, false)
        .map_err(|_| wrong(format!("'{mechanism}' is none of gaussian, laplace, selection, pure, zcdp")))?;
    let (mut numbers, mut count, mut release) = (Vec::new(), None, None);
    for field in fields.split(',') {
        let Some((name, value)) = field.split_once('=') else {
            return Err(wrong(format!("'{field}' is not of the form name=value")));
        };
        let is_new = match name {
            "count" => {
                let value =
                    value.parse::<u64>().map_err(|_| wrong(format!("'{field}' is no whole number")))?;
                count.replace(value).is_none()
            }
            "release" => release.replace(value).is_none(),
            "sensitivity" | "sigma" | "scale" | "epsilon" | "rho" => {
                let value = value.parse::<f64>().map_err(|_| wrong(format!("'{field}' is no number")))?;
                let is_new = numbers.iter().all(|(other, _)| *other != name);
                numbers.push((name, value));
                is_new
            }
            _ => return Err(wrong(format!("there is no field '{name}'"))),
        };
        if !is_new {
            return Err(wrong(format!("{name} is given twice")));
        }
    }
    from_numbers(mechanism, &numbers, count.unwrap_or(1), release.unwrap_or(""), |name| name.to_string())
        .map_err(|failure| match failure {
            Failure::Usage(what) => Failure::Usage(format!("--event '{text}': {what}")),
            failed => failed,
        })
}

/// The schema of an events file that names one.
const SCHEMA: &str = "dpglm.events/1";
const FORMS: &str = r#"give a JSON array of events, or {"schema": "dpglm.events/1", "events": [...]}"#;

/// An events file's frame. Its events are read one by one, so that a wrong one can be pointed at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(rename = "schema")]
    _schema: &'a RawValue,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

/// The events of a file, or of standard input if the path is `-`.
pub fn from_file(path: &Path) -> Result<Vec<Event>, Failure> {
    let (name, text) = if path == Path::new("-") {
        let mut text = String::new();
        ("standard input".to_string(), std::io::stdin().read_to_string(&mut text).map(|_| text))
    } else {
        (path.display().to_string(), std::fs::read_to_string(path))
    };
    let text = text.map_err(|error| Failure::Failed(format!("cannot read {name}: {error}")))?;
    parse(&text).map_err(|reason| Failure::Failed(format!("{name}: {reason}")))
}

fn parse(text: &str) -> Result<Vec<Event>, String> {
    let place = |error: serde_json::Error| {
        format!("line {}, column {}: {}", error.line(), error.column(), without_place(&error))
    };
    let events: Vec<&RawValue> = match text.trim_start().chars().next() {
        Some('[') => serde_json::from_str(text).map_err(place)?,
        Some('{') => {
            check_schema(text, place)?;
            serde_json::from_str::<Document>(text).map_err(place)?.events
        }
        _ => return Err(format!("this is no list of events: {FORMS}")),
    };
    events
        .iter()
        .enumerate()
        .map(|(i, raw)| {
            serde_json::from_str::<Event>(raw.get()).map_err(|error| {
                let (line, column) = position(text, raw.get());
                format!("event {} (line {line}, column {column}): {}", i + 1, without_place(&error))
            })
        })
        .collect()
}

/// Refuses an object of another schema before its fields are looked at.
fn check_schema(text: &str, place: impl Fn(serde_json::Error) -> String) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
    }
    let header: Header = serde_json::from_str(text).map_err(place)?;
    match header.schema.as_deref() {
        Some(SCHEMA) => Ok(()),
        Some(other) => Err(format!("schema must be \"{SCHEMA}\", got \"{other}\": {FORMS}")),
        None => Err(format!("the object has no schema: {FORMS}")),
    }
}

/// Line and column, from 1, at which `part`, a slice of `text`, begins.
fn position(text: &str, part: &str) -> (usize, usize) {
    let before = &text[..part.as_ptr() as usize - text.as_ptr() as usize];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The message without serde's own position, which counts from the start of the fragment it was given.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_string()
}
