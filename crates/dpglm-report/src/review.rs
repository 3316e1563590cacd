//! What a reviewer asks, after NIST SP 800-226: each point with the certificate's answer, or left open for the curator.

use crate::deployment;
use crate::gaussian;
use crate::page::{Block, Point, Section, Table};
use crate::promise::points;
use crate::subject;
use dpglm::accounting::{Certificate, Grade};
use dpglm::privacy::decimal::{plain, rounded_down, rounded_up};
use dpglm::privacy::{Event, Noise};
use dpglm_io::schema::{Column, Kind, Missing, Undeclared};
use dpglm_plot::{privacy_curve, themed, trade_off};
use dpglm_workflow::document::{Artefact, FitDocument};
use dpglm_workflow::render;

/// The section for reviewers; `artefact` is missing for a plan.
pub(crate) fn section(id: &str, certificate: &Certificate, artefact: Option<&Artefact>) -> Section {
    let mut blocks = vec![
        Block::Text(
            "The points of NIST SP 800-226 (Guidelines for Evaluating Differential Privacy Guarantees). What no program can know is left \
             open for the curator."
                .into(),
        ),
        Block::Points(answers(certificate, artefact)),
    ];
    blocks.extend(releases(certificate).into_iter().map(Block::Table));
    if let Some(Artefact::Fit(fit)) = artefact {
        blocks.push(Block::Table(declared(fit)));
    }
    if let Some(claim) = certificate.guarantee() {
        blocks.push(Block::Heading("Privacy curve and trade-off".into()));
        if claim.delta > 0.0 && !certificate.curve().is_empty() {
            blocks.push(Block::Figure {
                svg: themed(&privacy_curve(certificate.curve(), (claim.epsilon, claim.delta))),
                caption: "Every (epsilon, delta) on the curve holds; the marked point is the promise.".into(),
            });
        }
        blocks.push(Block::Figure {
            svg: themed(&trade_off(&points(certificate))),
            caption: "The most of the members that any attacker can find at each rate of false alarms, by all points of the curve together; \
                      on the dashed line somebody only guesses."
                .into(),
        });
        blocks.push(Block::Table(curve(certificate)));
        if let Some(artefact) = artefact {
            blocks.push(Block::Data {
                id: format!("{id}-deployment"),
                summary: "The same for programs: JSON in the fields of the Privacy Deployments Registry",
                json: deployment::json(certificate, artefact),
            });
        }
    }
    Section { id: format!("{id}-review"), heading: "For the reviewer", blocks }
}

fn answers(certificate: &Certificate, artefact: Option<&Artefact>) -> Vec<Point> {
    let mut points = vec![
        Point::new("Privacy parameters", parameters(certificate)),
        Point::new("Unit of privacy and neighbours", vec![subject::neighbours(certificate)]),
        Point::new("Composition", composition(certificate)),
    ];
    if let Some(artefact) = artefact {
        let mut algorithm = subject::algorithm(artefact);
        algorithm.push(subject::proofs(certificate));
        points.push(Point::new("Algorithm", algorithm));
        points.push(Point::new("Bounds and who declared them", bounds(artefact)));
    }
    points.push(Point::new(
        "Enforced on every data set",
        or_none(certificate.enforced(), "Nothing is listed."),
    ));
    points.push(Point::new("Assumed", assumed(certificate)));
    let none = "Nothing is promised, so there is nothing to provide for.";
    points.push(Point::new("Conditions of use", or_none(certificate.conditions(), none)));
    let is_private = certificate.guarantee().is_some();
    if is_private {
        points.push(Point::new(
            "Floating point",
            vec![
                "The promise is for the program's own arithmetic. Values are rounded to a grid before noise is added, sensitivities are enlarged \
                 for the rounding, and noise is drawn exactly on the grid: docs/proofs/noise.md."
                    .into(),
            ],
        ));
    }
    points.push(Point::new("Randomness", randomness(certificate)));
    points.push(Point::new(
        "Timing and other channels",
        vec!["Time, memory and failures of a run are no part of the promise: the conditions of use say who must not see them.".into()],
    ));
    points.push(Point::new("Trust model", vec![trust(certificate)]));
    points.push(Point::new(
        "What was checked for this page",
        vec![
            "The privacy loss was computed again from the listed releases, and a claim below it would have been refused. That these were the \
             releases, and that the grade is true, rests on whoever wrote the file: `dpglm show` with the curator's public key checks who signed it."
                .into(),
            format!("Written by dpglm {}.", written_by(certificate)),
        ],
    ));
    for (term, question) in [
        ("Data collection", "How were the data collected, with what consent, and who is in them?"),
        ("Access and security", "Who can reach the rows, where are they kept, and until when?"),
        (
            "Other releases of these data",
            "What else was released from the same people, and what do all releases cost together?",
        ),
        ("Choice of the budget", "Who chose epsilon, delta and the unit of privacy, and why?"),
    ] {
        points.push(Point {
            term,
            answers: vec![format!("To be filled in by the curator: {question}")],
            is_open: true,
        });
    }
    points
}

fn or_none(lines: &[String], none: &str) -> Vec<String> {
    if lines.is_empty() {
        vec![none.into()]
    } else {
        lines.iter().map(|line| render::sentence(line) + ".").collect()
    }
}

fn parameters(certificate: &Certificate) -> Vec<String> {
    let Some(claim) = certificate.guarantee() else { return vec![certificate.to_string()] };
    let kind = if claim.delta == 0.0 { "pure" } else { "approximate" };
    let mut said = vec![
        format!(
            "epsilon = {}, delta = {} ({kind} differential privacy; rounded up)",
            rounded_up(claim.epsilon),
            rounded_up(claim.delta)
        ),
        certificate.to_string(),
    ];
    said.extend(gaussian::sentence(certificate));
    said
}

fn composition(certificate: &Certificate) -> Vec<String> {
    let count: u64 = certificate.events().iter().map(Event::count).fold(0, u64::saturating_add);
    let parts = certificate.parts().len();
    let mut said = match certificate.guarantee() {
        Some(claim) => vec![format!(
            "{count} releases, each of which may depend on the results of those before, are accounted for together by: {}.",
            render::bound(claim.method)
        )],
        None => vec![format!("{count} releases are listed; nothing is accounted for.")],
    };
    if parts > 0 {
        said.push(format!(
            "Beside them {parts} parts of the rows, divided by a rule that no cell enters, have releases of their own. A row pays for its part and \
             for what all rows release; the promise is that of the worst-off row."
        ));
    }
    said.push(
        "This certificate is about these releases alone: others from the same people add to them.".into(),
    );
    said
}

fn bounds(artefact: &Artefact) -> Vec<String> {
    let found = match artefact {
        Artefact::Fit(fit) => fit.bounds.as_ref(),
        Artefact::Mean(mean) => mean.bounds.as_ref(),
        Artefact::Describe(_) => None,
    };
    let mut said = vec![
        "Bounds and levels were declared by the curator, in a schema or by options, and are taken to be public. There are no defaults, and no bound is \
         read from the rows but by a release that this budget pays for."
            .into(),
    ];
    let searched = found.into_iter().flatten().map(|(name, [low, high])| {
        format!(
            "{name}: {} to {} was found privately, from this budget.",
            render::rounded(*low),
            render::rounded(*high)
        )
    });
    said.extend(searched);
    said
}

fn assumed(certificate: &Certificate) -> Vec<String> {
    match certificate.grade() {
        Grade::Certified => {
            vec!["Nothing about the rows: the promise holds for every data set (grade: certified).".into()]
        }
        Grade::Conditional(assumptions) => {
            let mut said = vec![
                "The promise holds only if each of these is true (grade: conditional). None is enforced:"
                    .into(),
            ];
            said.extend(assumptions.iter().map(|assumption| render::sentence(assumption) + "."));
            said
        }
        Grade::None(reason) => vec![format!("Nothing is promised (grade: none): {reason}.")],
    }
}

fn randomness(certificate: &Certificate) -> Vec<String> {
    vec![match certificate.grade() {
        Grade::None(reason) => format!("No promise rests on it: {reason}."),
        _ if subject::is_local(certificate.adjacency()) => {
            "Each device draws from its own operating system. That its output cannot be told from random bits is a condition of use.".into()
        }
        _ => "ChaCha20, seeded by the operating system. That its output cannot be told from random bits is a condition of use.".into(),
    }]
}

fn trust(certificate: &Certificate) -> String {
    if subject::is_local(certificate.adjacency()) {
        "Local: each person's device adds the noise, and whoever collects the reports is trusted with nothing.".into()
    } else {
        "Central: the curator holds the rows, runs the program and is trusted with both. Everybody who sees the results is taken for an attacker \
         who knows all rows but one."
            .into()
    }
}

/// The program's version, which the certificate names.
pub(crate) fn written_by(certificate: &Certificate) -> String {
    let document = serde_json::to_value(certificate).unwrap_or_default();
    document["version"].as_str().unwrap_or("of an unknown version").to_owned()
}

/// Everything that left, with its noise.
fn releases(certificate: &Certificate) -> Vec<Table> {
    let table = |caption: String, events: &[Event]| Table {
        caption,
        headings: ["Release", "Mechanism", "Sensitivity and noise", "Count"].map(str::to_owned).to_vec(),
        rows: events
            .iter()
            .map(|event| {
                let (mechanism, noise) = noise(event.noise());
                vec![event.release().to_owned(), mechanism.into(), noise, event.count().to_string()]
            })
            .collect(),
        is_numeric: false,
    };
    let mut tables = Vec::new();
    if !certificate.events().is_empty() {
        tables.push(table("What was released, from all rows".into(), certificate.events()));
    }
    for part in certificate.parts() {
        tables.push(table(format!("Released from {} alone", part.rows), &part.events));
    }
    tables
}

/// Noise is rounded down, all else up: nothing looks better than it is.
fn noise(noise: Noise) -> (&'static str, String) {
    let beside = |name: &str, sensitivity: f64, scale: f64| {
        format!("sensitivity {}, {name} {}", rounded_up(sensitivity), rounded_down(scale))
    };
    match noise {
        Noise::Gaussian { sensitivity, sigma } => ("Gaussian", beside("sigma", sensitivity, sigma)),
        Noise::Laplace { sensitivity, scale } => ("Laplace", beside("scale", sensitivity, scale)),
        Noise::Selection { sensitivity, scale } => {
            ("exponential mechanism", beside("scale", sensitivity, scale))
        }
        Noise::Pure { epsilon } => ("pure", format!("epsilon {}", rounded_up(epsilon))),
        Noise::Zcdp { rho } => ("zero-concentrated", format!("rho {}", rounded_up(rho))),
        Noise::Approximate { epsilon, delta } => {
            ("approximate", format!("epsilon {}, delta {}", rounded_up(epsilon), rounded_up(delta)))
        }
        _ => ("another", String::new()),
    }
}

fn curve(certificate: &Certificate) -> Table {
    let mut points = points(certificate);
    points.sort_by(|a, b| b.1.total_cmp(&a.1));
    // The promise may be a point of the curve.
    points.dedup_by(|a, b| a.1 == b.1);
    Table {
        caption: "The privacy curve; epsilon is rounded up".into(),
        headings: vec!["delta".into(), "epsilon".into()],
        rows: points.into_iter().map(|(e, d)| vec![plain(d), rounded_up(e)]).collect(),
        is_numeric: true,
    }
}

/// What the curator declared of every column.
fn declared(fit: &FitDocument) -> Table {
    /// Columns beyond these are counted.
    const MOST: usize = 60;
    let columns = fit.encoding.columns();
    let mut rows: Vec<Vec<String>> = columns.iter().take(MOST).map(|column| facts(fit, column)).collect();
    if columns.len() > MOST {
        rows.push(vec![
            format!("and {} more", columns.len() - MOST),
            "as in the artefact".into(),
            String::new(),
        ]);
    }
    let missing = match fit.encoding.missing() {
        Missing::Fill => "a missing cell gets the column's public fill value",
        Missing::Drop => "a row with a missing cell gets weight zero",
        Missing::Indicator => "a missing cell gets the column's public fill value, and a column says where",
    };
    let undeclared = match fit.encoding.undeclared() {
        Undeclared::Reference => "an undeclared level counts as the reference level",
        Undeclared::Missing => "an undeclared level counts as a missing cell",
    };
    Table {
        caption: format!(
            "Declared by the curator as public: values outside are clamped, {missing}, {undeclared}"
        ),
        headings: ["Column", "Kind", "Bounds or levels"].map(str::to_owned).to_vec(),
        rows,
        is_numeric: false,
    }
}

fn facts(fit: &FitDocument, column: &Column) -> Vec<String> {
    let role = if fit.encoding.target() == Some(&column.name) { ", target" } else { "" };
    let (kind, said) = match &column.kind {
        Kind::Real(n) | Kind::Count(n) if n.resolution.is_some() => {
            ("number", format!("size at most {}; bounds found privately", plain(n.bounds.upper())))
        }
        Kind::Real(n) => ("number", format!("{} to {}", plain(n.bounds.lower()), plain(n.bounds.upper()))),
        Kind::Count(n) => ("count", format!("{} to {}", plain(n.bounds.lower()), plain(n.bounds.upper()))),
        Kind::Binary(c) => ("two levels", c.levels.names().join(", ")),
        Kind::Category(c) => ("levels", c.levels.names().join(", ")),
        Kind::Ignore => ("not read", String::new()),
    };
    vec![column.name.clone(), format!("{kind}{role}"), said]
}
