//! Artefacts and other documents as what is shown, predicted and reported.

use super::table::Table;
use super::values;
use dpglm::accounting::Certificate;
use dpglm_io::write_atomically;
use dpglm_report::{PaidFrom, Source, html};
use dpglm_sign::PublicKey;
use dpglm_workflow::Failure;
use dpglm_workflow::document::{Artefact, FitDocument, parse};
use dpglm_workflow::predict::{linear_predictors, predict};
use dpglm_workflow::signed;
use extendr_api::prelude::*;
use std::path::Path;

type Done<T> = std::result::Result<T, Failure>;

fn read(json: &str) -> Done<Artefact> {
    parse(json).map_err(Failure::Failed)
}

/// An artefact's text as R's values, after its certificate's claim was computed again from the events it lists.
pub fn open(json: &str) -> Done<Robj> {
    let artefact = read(json)?;
    let document = values::parsed(json)?;
    Ok(list!(json = artefact.json()?, document = document, table = artefact.table()).into())
}

/// An artefact's certificate as R's values, with its sentence.
pub fn certificate(json: &str) -> Done<Robj> {
    shown(read(json)?.certificate())
}

/// The same of a certificate by itself.
pub fn certificate_alone(json: &str) -> Done<Robj> {
    shown(&Certificate::from_json(json)?)
}

fn shown(certificate: &Certificate) -> Done<Robj> {
    let json = certificate.to_json();
    let document = values::parsed(&json)?;
    Ok(list!(json = json, document = document, text = certificate.to_string()).into())
}

/// How to read other rows of the same kind, as JSON.
pub fn encoding(json: &str) -> Done<String> {
    let artefact = read(json)?;
    serde_json::to_string(&fit(&artefact)?.encoding)
        .map_err(|error| Failure::Failed(error.to_string().into()))
}

/// For every row the linear predictors and the mean response, or the probability of each level.
pub fn predictions(json: &str, table: &Table) -> Done<Robj> {
    let artefact = read(json)?;
    let fit = fit(&artefact)?;
    if table.names() != fit.features() {
        return Err(Failure::Failed(
            "newdata: its columns are not those of the model: give the columns that it was fitted to".into(),
        ));
    }
    let blocks = fit.blocks().map_err(|what| Failure::Failed(what.into()))?;
    table.with(|encoded| {
        let predictors = linear_predictors(encoded, &blocks, &fit.encoding);
        let predicted = predict(fit, &predictors, encoded.exposure.as_deref());
        let mut link: Vec<f64> = predictors.into_iter().flatten().collect();
        // As R's own models: an offset is a part of the link.
        if let Some(exposures) = encoded.exposure.as_ref().filter(|_| fit.survival.is_none()) {
            link.iter_mut().zip(exposures.iter().cycle()).for_each(|(link, exposure)| *link += exposure.ln());
        }
        let mean: Vec<f64> = predicted.rows.into_iter().flatten().collect();
        Ok(list!(link = link, response = mean, columns = predicted.columns).into())
    })
}

fn fit(artefact: &Artefact) -> Done<&FitDocument> {
    match artefact {
        Artefact::Fit(fit) => Ok(fit),
        Artefact::Mean(_) => Err(Failure::Failed("means predict nothing: fit a model".into())),
        Artefact::Describe(_) => Err(Failure::Failed("a description predicts nothing: fit a model".into())),
    }
}

/// Makes a key pair: writes the secret key to a new file and gives the public one.
pub fn keygen(path: &Path) -> Done<String> {
    Ok(signed::keygen(path)?.to_string())
}

/// Writes an artefact as the command line does, and its signature beside it if a file with a secret key is given.
pub fn save(json: &str, path: &Path, key_file: Option<&str>) -> Done<()> {
    let key = key_file.map(|key| signed::signing_key(Path::new(key))).transpose()?;
    signed::write(path, json, key.as_ref())
}

/// The JSON of an artefact that the holder of this public key signed.
pub fn verify(path: &Path, key: &str) -> Done<String> {
    let key = PublicKey::parse(key).map_err(|error| Failure::Usage(error.to_string().into()))?;
    signed::read(path, &key)?.json()
}

/// The page of documents, each a name and its JSON, and of the ledger that they were paid from.
pub fn report(names: Vec<String>, texts: &[String], ledger: Option<&str>) -> Done<String> {
    let sources = names
        .into_iter()
        .zip(texts)
        .map(|(name, text)| Source::parse(name, text).map_err(Failure::Failed))
        .collect::<Done<Vec<Source>>>()?;
    let ledger = ledger.map(|path| PaidFrom::read(Path::new(path))).transpose()?;
    html(&sources, ledger.as_ref())
}

/// Writes a file, whole or not at all.
pub fn write(text: &str, path: &Path) -> Done<()> {
    Ok(write_atomically(path, text.as_bytes())?)
}
