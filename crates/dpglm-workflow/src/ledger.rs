//! Releases that are paid from a ledger: written down before any row is computed with.

mod document;

pub use document::{LedgerDocument, assumed, charges, provided};

use super::failure::Failure;
use dpglm::accounting::filter::{Cost, Rule};
use dpglm::accounting::{Certificate, Part};
use dpglm::central::Privacy;
use dpglm::error::{Message, Parameter};
use dpglm::noise::RandomSource;
use dpglm::privacy::decimal::{plain, rounded_down, rounded_down_to, rounded_up, rounded_up_to};
use dpglm::privacy::{Adjacency, Budget, Event};
use dpglm_ledger::{Chain, Charge, Error, Ledger, Receipt, of_artefact, of_certificate};
use serde::Serialize;
use std::path::Path;

/// What a charge for answers from people's devices is called.
pub const COLLECTION: &str = "collect";
/// How often a smaller epsilon is tried for a release that has no room.
const TRIALS: usize = 12;

/// A ledger that pays, and what is written beside.
#[derive(Debug, Clone)]
pub struct Payer {
    ledger: Ledger,
    data: String,
    purpose: String,
    fingerprint: Option<String>,
}

/// The privacy asked for, and the ledger that pays for it, if one does.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// The privacy.
    pub privacy: Privacy,
    payer: Option<&'a Payer>,
}

/// What a release will consist of.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What is computed: `fit`, `mean`, `describe`.
    pub what: &'static str,
    /// Of all rows.
    pub events: Vec<Event>,
    /// Of rows in public parts.
    pub parts: Vec<Part>,
    /// Whom it protects.
    pub protects: Adjacency,
    /// On what the promise rests.
    pub assuming: Option<String>,
}

/// What was paid, until there is a result.
pub(crate) struct Paid<'a>(Option<(&'a Payer, Receipt)>);

impl From<Privacy> for Grant<'_> {
    fn from(privacy: Privacy) -> Self {
        Self { privacy, payer: None }
    }
}

impl<'a> Grant<'a> {
    /// A budget, which is paid from the ledger if one is given. What is not private has no place in a ledger.
    pub fn new(privacy: Privacy, payer: Option<&'a Payer>, rng: &RandomSource) -> Result<Self, Failure> {
        if payer.is_none() {
            return Ok(privacy.into());
        }
        if privacy == Privacy::None {
            return Err(Failure::Usage(Message::new(
                "{} pays for what is private, and this promises nothing: leave out {}, or grant a finite {} to a private method",
                &[&Parameter::Ledger, &Parameter::Ledger, &Parameter::Epsilon],
            )));
        }
        if rng.insecure_seed().is_some() {
            return Err(Failure::Usage(Message::new(
                "{} pays for what is private, and noise of a fixed seed promises nothing: leave out {} or {}",
                &[&Parameter::Ledger, &Parameter::InsecureSeed, &Parameter::Ledger],
            )));
        }
        Ok(Self { privacy, payer })
    }

    /// Pays for a release: when this comes back the charge is on disk. `again` plans the same for another budget, to say what
    /// would fit where this does not.
    pub(crate) fn pay(
        &self,
        planned: impl FnOnce() -> Result<Planned, Failure>,
        again: &dyn Fn(Privacy) -> Result<Planned, Failure>,
    ) -> Result<Paid<'a>, Failure> {
        let Some(payer) = self.payer else { return Ok(Paid(None)) };
        let charge = payer.charge(&planned()?);
        match payer.ledger.charge(&charge) {
            Ok(receipt) => Ok(Paid(Some((payer, receipt)))),
            Err(Error::Exceeds { cost, .. }) => Err(payer.no_room(self.privacy, cost, again)?),
            Err(error) => Err(payer.failure(error)),
        }
    }
}

impl Paid<'_> {
    /// Notes the result: before it is shown to anybody.
    pub(crate) fn close(
        self,
        certificate: &Certificate,
        artefact: &impl Serialize,
        say: &mut dyn FnMut(&Message),
    ) -> Result<(), Failure> {
        let Some((payer, receipt)) = self.0 else { return Ok(()) };
        let closed = payer
            .ledger
            .finish(&receipt, of_certificate(certificate), of_artefact(&super::render::json(artefact)?))
            .map_err(|error| payer.failure(error))?;
        let chain = payer.ledger.read().map_err(|error| payer.failure(error))?;
        say(&format!(
            "note: entered in the ledger {} at {}: {} of its total; {} is spent. Its head is now {}",
            payer.ledger.path().display(),
            receipt.index,
            percent(receipt.cost, &chain),
            percent(chain.spent(), &chain),
            closed.head
        )
        .into());
        Ok(())
    }
}

impl Payer {
    /// Opens and verifies a ledger to pay from.
    pub fn open(path: &Path, data: String, purpose: String) -> Result<Self, Failure> {
        let ledger = Ledger::open(path).map_err(|error| failure(path, error))?;
        Ok(Self { ledger, data, purpose, fingerprint: None })
    }

    /// Also enters which data it is, for those who hold the key.
    pub fn with_fingerprint(self, fingerprint: String) -> Self {
        Self { fingerprint: Some(fingerprint), ..self }
    }

    /// Refuses a budget for which there is no room whatever is released, and units that the ledger does not protect: before a
    /// table is opened.
    pub fn expect(&self, privacy: Privacy, protects: &Adjacency) -> Result<(), Failure> {
        let chain = self.ledger.read().map_err(|error| self.failure(error))?;
        let Privacy::Budget(budget) = privacy else { return Ok(()) };
        if *protects != chain.terms().protects {
            let nothing = Planned {
                what: "release",
                events: Vec::new(),
                parts: Vec::new(),
                protects: protects.clone(),
                assuming: None,
            };
            chain.cost(&self.charge(&nothing)).map_err(|error| self.failure(error))?;
        }
        if !chain.filter().is_hopeless(chain.spent(), budget) {
            return Ok(());
        }
        // A release that also chooses costs more than one with Gaussian noise alone: how much fits shows when it is planned.
        let room = chain.filter().room(chain.spent(), budget.delta())?;
        Err(self.refusal(&chain, None, &fits("no more than epsilon", "could", room, budget.delta())))
    }

    /// What a release would cost, in a note; refuses what does not fit. Writes nothing.
    pub fn try_out(
        &self,
        planned: &Planned,
        privacy: Privacy,
        again: &dyn Fn(Privacy) -> Result<Planned, Failure>,
    ) -> Result<Message, Failure> {
        let chain = self.ledger.read().map_err(|error| self.failure(error))?;
        let cost = chain.cost(&self.charge(planned)).map_err(|error| self.failure(error))?;
        let total = chain.spent().and(cost);
        if !chain.filter().admits(total) {
            return Err(self.no_room(privacy, cost, again)?);
        }
        Ok(format!(
            "note: there is room in the ledger {}: it would cost {} of its total, and {} would be spent",
            self.ledger.path().display(),
            percent(cost, &chain),
            percent(total, &chain)
        )
        .into())
    }

    fn charge(&self, planned: &Planned) -> Charge {
        let Planned { what, events, parts, protects, assuming } = planned.clone();
        Charge {
            what: what.into(),
            data: self.data.clone(),
            fingerprint: self.fingerprint.clone(),
            purpose: self.purpose.clone(),
            protects,
            assuming: assuming.into_iter().collect(),
            events,
            parts,
        }
    }

    /// Why there is no room, and what would fit.
    fn no_room(
        &self,
        privacy: Privacy,
        cost: Cost,
        again: &dyn Fn(Privacy) -> Result<Planned, Failure>,
    ) -> Result<Failure, Failure> {
        let chain = self.ledger.read().map_err(|error| self.failure(error))?;
        let Privacy::Budget(budget) = privacy else { return Ok(self.refusal(&chain, Some(cost), "")) };
        let left = chain.filter().left(chain.spent());
        if cost.failure > left.failure {
            return Ok(self.refusal(
                &chain,
                Some(cost),
                &format!(
                    "; it holds a release of which no more is known than that it is (epsilon, {}) private, and {} of the ledger's reserve of delta \
                     is left: take another method, or a new ledger with a larger reserve",
                    rounded_up(cost.failure),
                    rounded_down(left.failure)
                ),
            ));
        }
        // The loss grows at least as fast as epsilon where epsilon is small, and at most as its square.
        let admitted = |epsilon: f64| -> Option<()> {
            let smaller = match budget.is_pure() {
                true => Budget::pure(epsilon),
                false => Budget::new(epsilon, budget.delta()),
            };
            let planned = again(Privacy::Budget(smaller.ok()?)).ok()?;
            let cost = chain.cost(&self.charge(&planned)).ok()?;
            chain.filter().admits(chain.spent().and(cost)).then_some(())
        };
        let share = left.loss / cost.loss;
        let share = if chain.terms().rule == Rule::Pure { share } else { share.sqrt() };
        let mut epsilon = budget.epsilon() * share.min(1.0);
        for _ in 0..TRIALS {
            let rounded: f64 = rounded_down_to(epsilon, 3).parse().unwrap_or(0.0);
            if rounded > 0.0 && admitted(rounded).is_some() {
                return Ok(self.refusal(
                    &chain,
                    Some(cost),
                    &fits("epsilon", "would", rounded, budget.delta()),
                ));
            }
            epsilon *= 0.97;
        }
        Ok(self.refusal(&chain, Some(cost), ""))
    }

    fn refusal(&self, chain: &Chain, cost: Option<Cost>, way_out: &str) -> Failure {
        let total = chain.filter().limit().loss;
        let share = |part: f64| 100.0 * part / total;
        let cost = cost.map_or(String::new(), |cost| {
            format!("it would cost {}% of the total, and ", rounded_up_to(share(cost.loss), 3))
        });
        let left = rounded_down_to(share(chain.filter().left(chain.spent()).loss), 3);
        Failure::Failed(
            format!(
                "there is no room in the ledger {}: {cost}{left}% is left{way_out}. Nothing was spent, and no row was computed with",
                self.ledger.path().display()
            )
            .into(),
        )
    }

    fn failure(&self, error: Error) -> Failure {
        failure(self.ledger.path(), error)
    }
}

/// What a cost is of the total, in percent.
pub fn percent(cost: Cost, chain: &Chain) -> String {
    rounded_up_to(100.0 * cost.loss / chain.filter().limit().loss, 4) + "%"
}

/// What is left of the total, in percent.
pub fn percent_left(chain: &Chain) -> String {
    let left = chain.filter().left(chain.spent());
    rounded_down_to(100.0 * left.loss / chain.filter().limit().loss, 4) + "%"
}

/// What fits: `epsilon 1 would fit`.
fn fits(what: &str, would: &str, epsilon: f64, delta: f64) -> String {
    match epsilon > 0.0 {
        false => "; nothing at this delta would fit".into(),
        true if delta == 0.0 => format!("; {what} {} {would} fit", rounded_down_to(epsilon, 3)),
        true => format!("; {what} {} at delta {} {would} fit", rounded_down_to(epsilon, 3), plain(delta)),
    }
}

/// A ledger's error, with the file that it is about.
pub fn failure(path: &Path, error: Error) -> Failure {
    match error {
        Error::Core(error) => error.into(),
        error => Failure::Failed(format!("{}: {error}", path.display()).into()),
    }
}
