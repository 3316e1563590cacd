//! `dpglm collect sign` and `dpglm collect plan`.

use crate::failure::Failure;
use crate::progress::tell;
use crate::{Format, flags, render};
use clap::Args;
use dpglm::accounting::{Certificate, shuffle};
use dpglm::privacy::decimal;
use dpglm_collect::influence::Influence;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::study::{SignedStudy, Study, signature_path};
use dpglm_workflow::signed::signing_key;
use serde::Serialize;
use std::path::PathBuf;

/// Sign a study file and show its plan.
///
/// The signature is written beside the study, as STUDY.sig. Whoever changes the file must sign it again, and gets a new study.
#[derive(Args)]
pub struct Sign {
    /// The study file
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The curator's secret key
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    shuffling: Shuffling,
}

/// What shuffled reports cost.
#[derive(Args)]
pub struct Shuffling {
    /// An independent party shuffles the reports of each round: show what they cost then, at this delta
    #[arg(long, value_name = "DELTA", value_parser = flags::delta)]
    pub shuffled_delta: Option<f64>,
}

/// Show a study's plan without signing it: rounds, what they withstand, what shuffling would save.
#[derive(Args)]
pub struct Plan {
    /// The study file
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    #[command(flatten)]
    shuffling: Shuffling,
    /// With --shuffled-delta: the largest epsilon of a report whose shuffled reports cost this much
    #[arg(long, value_name = "EPSILON", value_parser = flags::epsilon, requires = "shuffled_delta")]
    shuffled_epsilon: Option<f64>,
}

#[derive(Serialize)]
struct PlanDocument {
    schema: &'static str,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    epsilon: f64,
    rounds: Vec<u64>,
    influence: Vec<Influence>,
    certificate: Certificate,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffled: Option<Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffled_epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_local_epsilon: Option<f64>,
}

pub fn run(arguments: &Sign, format: Format) -> Result<String, Failure> {
    let key = signing_key(&arguments.key_file)?;
    let study = Study::load(&arguments.study)?;
    let mut document = document(&study, &arguments.shuffling)?;
    document.public_key = Some(key.public().to_string());
    for origin in study.origins().iter().filter(|origin| !origin.is_private()) {
        tell(&format!(
            "{origin}: participants' tokens would travel without encryption: serve the study over https"
        ));
    }
    if study.origins().is_empty() {
        tell(
            "a study of version 1 names neither its service nor its end: devices cannot check where they answer",
        );
    }
    let signed = SignedStudy::sign(study, &key);
    dpglm_io::write_atomically(&signature_path(&arguments.study), signed.signature().as_bytes())?;
    show(signed.unverified(), &document, format)
}

pub fn plan(arguments: &Plan, format: Format) -> Result<String, Failure> {
    let study = Study::load(&arguments.study)?;
    let mut document = document(&study, &arguments.shuffling)?;
    if let (Some(epsilon), Some(delta)) = (arguments.shuffled_epsilon, arguments.shuffling.shuffled_delta) {
        let protocol = StudyProtocol::new(&study)?;
        // What a study may ask for at all.
        let fewest = guaranteed(&protocol).into_iter().min().unwrap_or(1);
        document.shuffled_epsilon = Some(epsilon);
        document.largest_local_epsilon = Some(shuffle::local_epsilon(epsilon, delta, fewest, 20.0)?);
    }
    show(&study, &document, format)
}

/// The reports that each round has when it is closed, at least.
fn guaranteed(protocol: &StudyProtocol) -> Vec<u64> {
    (1..=protocol.rounds()).map(|round| protocol.rule(round).minimum).collect()
}

fn document(study: &Study, shuffling: &Shuffling) -> Result<PlanDocument, Failure> {
    let protocol = StudyProtocol::new(study)?;
    let shuffled = match shuffling.shuffled_delta {
        Some(delta) => Some(protocol.shuffled(guaranteed(&protocol), delta)?),
        None => None,
    };
    Ok(PlanDocument {
        schema: "dpglm.collect.plan/1",
        fingerprint: study.fingerprint().to_string(),
        public_key: None,
        epsilon: study.epsilon(),
        rounds: (1..=protocol.rounds()).map(|round| protocol.rule(round).target).collect(),
        influence: protocol.influence(),
        certificate: protocol.certificate()?,
        shuffled,
        shuffled_epsilon: None,
        largest_local_epsilon: None,
    })
}

fn show(study: &Study, document: &PlanDocument, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return render::json(document);
    }
    let mut text = format!("study        {}\nfingerprint  {}\n", study.name(), document.fingerprint);
    if let Some(key) = &document.public_key {
        text += &format!("public key   {key}\n");
    }
    text += &format!(
        "epsilon      {}\n\nround  reports  one report moves  stands out from  colluders flip it  1% may replace below\n",
        render::rounded_up(document.epsilon)
    );
    let up = |value| decimal::rounded_up_to(value, 3);
    for round in &document.influence {
        text += &format!(
            "{:<5}  {:<7}  {:<16}  {:<15}  {:<17}  {}\n",
            round.round,
            round.reports,
            up(round.one_report),
            up(round.stands_out),
            round.colluders,
            up(round.one_percent)
        );
    }
    text += &format!(
        "\nCoefficients are those of features and response scaled to [-1, 1]. One that just stands out of a round's noise is flipped\n\
         by so many colluding reports in that round; if 1% of all devices collude, features below the last column may be replaced.\n\n{}\n{}",
        document.certificate,
        render::conditions(&document.certificate, "--format json lists them"),
    );
    if let Some(shuffled) = &document.shuffled {
        text += &format!("\nShuffled, with the study's minimum of reports in each round: {shuffled}\n");
    }
    if let (Some(largest), Some(wanted)) = (document.largest_local_epsilon, document.shuffled_epsilon) {
        // Down: a larger number would cost more.
        text += &format!(
            "\nA study with this minimum may ask for epsilon {} and costs {} after shuffling.\n",
            decimal::rounded_down(largest),
            decimal::rounded_up(wanted)
        );
    }
    Ok(text)
}
