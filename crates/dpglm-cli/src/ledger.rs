//! The flags of a ledger that pays.

use crate::budget::Granted;
use crate::failure::Failure;
use clap::Args;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::privacy::Adjacency;
use dpglm_ledger::Fingerprint;
use dpglm_workflow::ledger::{Grant, Payer, failure};
use std::path::{Path, PathBuf};

/// Which ledger pays, and what is written beside.
#[derive(Args)]
pub struct PayFrom {
    /// Pay from this ledger (`dpglm ledger init` makes one): the release is entered before any row is computed with, and refused if
    /// there is no room for it
    #[arg(long, value_name = "FILE", help_heading = "Ledger")]
    ledger: Option<PathBuf>,
    /// What the release is for, as the ledger keeps it
    #[arg(long, value_name = "TEXT", requires = "ledger", help_heading = "Ledger")]
    purpose: Option<String>,
    /// The name of the data, as the ledger keeps it [default: the name of the file]
    #[arg(long, value_name = "NAME", requires = "ledger", help_heading = "Ledger")]
    data_name: Option<String>,
    /// Also enter a fingerprint of the files under the secret key in this file (`dpglm keygen` makes one): who holds the key can
    /// tell later which data it was
    #[arg(long, value_name = "KEYFILE", requires = "ledger", help_heading = "Ledger")]
    fingerprint: Option<PathBuf>,
}

/// A ledger that pays, or none.
pub struct Payers(Option<Payer>);

impl PayFrom {
    /// Opens the ledger, and refuses early what it has no room for.
    pub fn open(
        &self,
        files: &[Option<&Path>],
        privacy: Privacy,
        protects: &Adjacency,
        budget: &Granted,
    ) -> Result<Payers, Failure> {
        let Some(path) = &self.ledger else { return Ok(Payers(None)) };
        let files: Vec<&Path> = files.iter().copied().flatten().collect();
        let file_name = || Some(files.first()?.file_name()?.to_string_lossy().into_owned());
        let data = self.data_name.clone().or_else(file_name).unwrap_or_default();
        let purpose = self.purpose.clone().unwrap_or_default();
        let mut payer = Payer::open(path, data, purpose)?;
        // What has no place in a ledger is refused first.
        Grant::new(privacy, Some(&payer), &budget.source()?)?;
        payer.expect(privacy, protects)?;
        // It reads the whole table: last.
        if let Some(key) = &self.fingerprint {
            if files.is_empty() {
                return Err(Failure::Usage(
                    "--fingerprint is taken of a table's file, and none is given: leave out --fingerprint"
                        .into(),
                ));
            }
            payer = payer.with_fingerprint(fingerprint(path, key, &files)?);
        }
        Ok(Payers(Some(payer)))
    }
}

fn fingerprint(ledger: &Path, key: &Path, files: &[&Path]) -> Result<String, Failure> {
    let secret = std::fs::read(key)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", key.display())))?;
    let taken = Fingerprint::new(&secret).and_then(|fingerprint| fingerprint.of(files));
    Ok(taken.map_err(|error| failure(ledger, error))?)
}

impl Payers {
    /// The budget, paid from the ledger if there is one.
    pub fn grant(&self, privacy: Privacy, rng: &RandomSource) -> Result<Grant<'_>, Failure> {
        Ok(Grant::new(privacy, self.0.as_ref(), rng)?)
    }

    /// The ledger.
    pub fn payer(&self) -> Option<&Payer> {
        self.0.as_ref()
    }
}
