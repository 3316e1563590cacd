//! A study that is paid from a ledger: once for each time it begins, however often its service is started.

use crate::failure::Failure;
use crate::progress::tell;
use dpglm::accounting::filter::Cost;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::study::Study;
use dpglm_ledger::{Chain, Charge, Error, Ledger};
use dpglm_workflow::ledger::{COLLECTION, charges, failure, percent, percent_left};
use std::path::Path;

/// Refuses a study that was never paid and has no room, before a storage is made for it.
pub fn expect(path: &Path, study: &Study) -> Result<(), Failure> {
    let wrong = |error| Failure::from(failure(path, error));
    let chain = Ledger::open(path).and_then(|ledger| ledger.read()).map_err(wrong)?;
    let wanted = charge(study, "")?;
    let cost = chain.cost(&wanted).map_err(wrong)?;
    let of_study = wanted.fingerprint.unwrap_or_default();
    let is_known = charges(&chain).any(|(_, charge, _)| {
        charge.fingerprint.as_ref().is_some_and(|fingerprint| fingerprint.starts_with(&of_study))
    });
    if is_known || chain.filter().admits(chain.spent().and(cost)) {
        Ok(())
    } else {
        Err(no_room(path, &chain, cost))
    }
}

/// Enters what each participant of a study spends, before anybody can answer. A study is told by its fingerprint, since whoever changes
/// it has another one; and by where it began, since who begins it again asks everybody again.
pub fn once(path: &Path, study: &Study, begun: &str) -> Result<(), Failure> {
    let charge = charge(study, begun)?;
    let wrong = |error| Failure::from(failure(path, error));
    let ledger = Ledger::open(path).map_err(wrong)?;
    let name = path.display();
    match ledger.charge_once(&charge) {
        Ok(None) => tell(&format!(
            "note: the study, as it began in this storage, is paid already in the ledger {name}"
        )),
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
            return Err(no_room(path, &chain, cost));
        }
        Err(error) => return Err(wrong(error)),
    }
    Ok(())
}

fn charge(study: &Study, begun: &str) -> Result<Charge, Failure> {
    let certificate = StudyProtocol::new(study)?.certificate()?;
    Ok(Charge {
        what: COLLECTION.into(),
        data: study.name().into(),
        fingerprint: Some(format!("{}/{begun}", study.fingerprint())),
        purpose: study.purpose().into(),
        protects: certificate.adjacency().clone(),
        assuming: Vec::new(),
        events: certificate.events().to_vec(),
        parts: certificate.parts().to_vec(),
    })
}

fn no_room(path: &Path, chain: &Chain, cost: Cost) -> Failure {
    Failure::Failed(format!(
        "there is no room in the ledger {}: the study would cost {} of the total, and {} is left: lower the study's epsilon and sign it \
         again; one that is served already goes on with the storage in which it began. Nothing was spent, and the study is not served",
        path.display(),
        percent(cost, chain),
        percent_left(chain)
    ))
}
