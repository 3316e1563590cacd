//! `dpglm collect sign`.

use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm::accounting::Certificate;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::study::{SignedStudy, Study, signature_path};
use dpglm_io::assembly::signed::signing_key;
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
}

#[derive(Serialize)]
struct PlanDocument {
    schema: &'static str,
    fingerprint: String,
    public_key: String,
    epsilon: f64,
    rounds: Vec<u64>,
    certificate: Certificate,
}

pub fn run(arguments: &Sign, format: Format) -> Result<String, Failure> {
    let key = signing_key(&arguments.key_file)?;
    let study = Study::load(&arguments.study)?;
    let protocol = StudyProtocol::new(&study)?;
    let certificate = protocol.certificate()?;
    let signed = SignedStudy::sign(study, &key);
    let beside = signature_path(&arguments.study);
    dpglm_io::write_atomically(&beside, format!("{}\n", signed.signature()).as_bytes())?;
    let study = signed.unverified();
    let rounds: Vec<u64> = (1..=protocol.rounds()).map(|round| protocol.rule(round).target).collect();
    if format == Format::Json {
        return render::json(&PlanDocument {
            schema: "dpglm.collect.plan/1",
            fingerprint: study.fingerprint().to_string(),
            public_key: key.public().to_string(),
            epsilon: study.epsilon(),
            rounds,
            certificate,
        });
    }
    let rounds: Vec<String> = rounds.iter().map(u64::to_string).collect();
    Ok(format!(
        "study        {}\nfingerprint  {}\npublic key   {}\nepsilon      {}\nreports      {} in {} rounds\n\n{certificate}\n{}",
        study.name(),
        study.fingerprint(),
        key.public(),
        render::rounded_up(study.epsilon()),
        rounds.join(" + "),
        rounds.len(),
        render::conditions(&certificate, "--format json lists them"),
    ))
}
