//! A study that is paid from a ledger, once, however often its service is started.

use crate::failure::Failure;
use crate::progress::tell;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::study::Study;
use dpglm_ledger::{Charge, Error, Ledger};
use dpglm_workflow::ledger::{COLLECTION, failure, percent, percent_left};
use std::path::Path;

/// Enters what each participant of a study spends, before anybody can answer. A study is told by its fingerprint: whoever changes
/// it has another one, and a device answers each once.
pub fn once(path: &Path, study: &Study) -> Result<(), Failure> {
    let certificate = StudyProtocol::new(study)?.certificate()?;
    let charge = Charge {
        what: COLLECTION.into(),
        data: study.name().into(),
        fingerprint: Some(study.fingerprint().to_string()),
        purpose: study.purpose().into(),
        protects: certificate.adjacency().clone(),
        assuming: Vec::new(),
        events: certificate.events().to_vec(),
        parts: certificate.parts().to_vec(),
    };
    let wrong = |error| Failure::from(failure(path, error));
    let ledger = Ledger::open(path).map_err(wrong)?;
    let name = path.display();
    match ledger.charge_once(&charge) {
        Ok(None) => tell(&format!("note: the study is paid already in the ledger {name}")),
        Ok(Some(receipt)) => {
            let chain = ledger.read().map_err(wrong)?;
            tell(&format!(
                "note: entered in the ledger {name} at {}: {} of its total; {} is left. Its head is now {}",
                receipt.index,
                percent(receipt.cost, &chain),
                percent_left(&chain),
                receipt.head
            ));
        }
        Err(Error::Exceeds { cost, .. }) => {
            let chain = ledger.read().map_err(wrong)?;
            return Err(Failure::Failed(format!(
                "there is no room in the ledger {name}: the study would cost {} of the total, and {} is left: lower the study's \
                 epsilon and sign it again. Nothing was spent, and the study is not served",
                percent(cost, &chain),
                percent_left(&chain)
            )));
        }
        Err(error) => return Err(wrong(error)),
    }
    Ok(())
}
