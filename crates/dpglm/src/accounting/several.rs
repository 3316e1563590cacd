//! What the releases of several certificates cost together.
//!
//! # Algorithm
//! 1. A certificate whose claim is what its releases cost is counted by its releases. One that claims more is counted by its claim, as one
//!    release of which no more is known: its plan was chosen on the way, or not all of it was used, and then the list of what
//!    left is no account of what might have.
//! 2. All lists are accounted as one, adaptive composition with fixed noise. Where rows are divided into public parts, a row pays for one part of
//!    each certificate, and the worst combination counts.
//!
//! # Guarantee
//! An upper bound, as that of one certificate, for certificates whose *budgets and plans* did not depend on each other's results
//! (`docs/proofs/composition.md`, section 1); what was asked of the rows may. Where a later budget was chosen after an earlier result,
//! only a total that was fixed before is a promise: see [`super::filter`].

use super::part::{self, Part};
use super::{Accountant, Certificate, Guarantee, epsilon_at};
use crate::error::{Error, Result};
use crate::privacy::{Adjacency, Event, Noise};

/// Relative difference up to which a claim is that of its releases.
const SAME: f64 = 1e-4;
/// Beyond so many combinations of parts a row is taken to pay for all of them.
const COMBINATIONS: usize = 64;

/// Several certificates' releases.
#[derive(Debug, Clone, PartialEq)]
pub struct Several {
    adjacency: Adjacency,
    events: Vec<Event>,
    parts: Vec<Part>,
    assumptions: Vec<String>,
}

impl Several {
    /// Puts certificates together. All must promise something, and protect the same; each claim is recomputed.
    pub fn of(certificates: &[&Certificate]) -> Result<Self> {
        let conflict = |text: &str| Err(Error::Conflict(text.into()));
        let Some(first) = certificates.first() else {
            return conflict("there is nothing to account: give a certificate");
        };
        let mut all = Self {
            adjacency: first.adjacency().clone(),
            events: Vec::new(),
            parts: Vec::new(),
            assumptions: Vec::new(),
        };
        for certificate in certificates {
            if *certificate.adjacency() != all.adjacency {
                return conflict(
                    "the certificates protect different units (one row, or all rows of a person): their losses do not add up; account for \
                     each kind by itself",
                );
            }
            all.add(certificate)?;
        }
        Ok(all)
    }

    fn add(&mut self, certificate: &Certificate) -> Result<()> {
        certificate.verify()?;
        let Some(claim) = certificate.guarantee() else {
            return Err(Error::Conflict(format!(
                "a certificate promises nothing ({certificate}): with a release that is not private nothing is promised of all of them; \
                 leave it out only if it was never released"
            )));
        };
        if let super::Grade::Conditional(assumptions) = certificate.grade() {
            self.assumptions.extend(assumptions.iter().cloned());
        }
        let mut cost: f64 = 0.0;
        for path in part::paths(certificate.events(), certificate.parts()) {
            cost = cost.max(epsilon_at(&path, claim.delta)?);
        }
        if cost < claim.epsilon * (1.0 - SAME) {
            let epsilon = claim.epsilon;
            let noise = match claim.delta {
                0.0 => Noise::Pure { epsilon },
                delta => Noise::Approximate { epsilon, delta },
            };
            self.events.push(Event::new("everything under one claim", noise, 1)?);
            return Ok(());
        }
        self.events.extend_from_slice(certificate.events());
        if certificate.parts().is_empty() {
            return Ok(());
        }
        let own = certificate.parts();
        if self.parts.len().max(1) * own.len() > COMBINATIONS {
            self.events.extend(own.iter().flat_map(|part| part.events.clone()));
        } else if self.parts.is_empty() {
            self.parts = own.to_vec();
        } else {
            let both = |a: &Part, b: &Part| Part {
                rows: format!("{}; {}", a.rows, b.rows),
                events: [a.events.as_slice(), &b.events].concat(),
            };
            self.parts = self.parts.iter().flat_map(|a| own.iter().map(move |b| both(a, b))).collect();
        }
        Ok(())
    }

    /// Who the neighbours are.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// What is counted of all rows.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What is counted of rows in public parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// On what the promises rest beside.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// The smallest epsilon known at `delta`.
    pub fn account(&self, delta: f64) -> Result<Guarantee> {
        part::guarantee(&self.events, &self.parts, delta)
    }

    /// The smallest delta known at `epsilon`.
    pub fn delta_at(&self, epsilon: f64) -> Result<f64> {
        let paths = part::paths(&self.events, &self.parts);
        let deltas = paths.iter().map(|path| Ok(Accountant::new(path)?.delta(epsilon)));
        deltas.collect::<Result<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
    }

    /// The privacy curve.
    pub fn curve(&self) -> Result<Vec<(f64, f64)>> {
        part::curve(&self.events, &self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::gaussian::largest_mu;
    use crate::noise::RandomSource;

    fn gaussian(mu: f64) -> Event {
        Event::new("release", Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1).unwrap()
    }

    fn certificate(events: Vec<Event>, parts: Vec<Part>, adjacency: Adjacency) -> Certificate {
        let rng = RandomSource::from_os().unwrap();
        Certificate::certified_in_parts(adjacency, events, parts, 1e-6, &rng).unwrap()
    }

    fn of_rows(mu: f64) -> Certificate {
        certificate(vec![gaussian(mu)], Vec::new(), Adjacency::ReplaceRow)
    }

    #[test]
    fn ten_certificates_cost_less_than_their_sum() {
        let mu = largest_mu(0.5, 1e-6);
        let all: Vec<Certificate> = (0..10).map(|_| of_rows(mu)).collect();
        let several = Several::of(&all.iter().collect::<Vec<_>>()).unwrap();
        let epsilon = several.account(1e-6).unwrap().epsilon;
        assert!(epsilon > 1.6 && epsilon < 0.7 * 5.0, "{epsilon}");
        assert!(several.delta_at(epsilon).unwrap() <= 1.000_001e-6);
        assert_eq!(several.curve().unwrap().len(), 12);
    }

    #[test]
    fn a_claim_above_its_releases_counts_as_it_is() {
        let honest = of_rows(0.1);
        let mut document: serde_json::Value = serde_json::from_str(&honest.to_json()).unwrap();
        document["epsilon"] = 2.0.into();
        let large = Certificate::from_json(&document.to_string()).unwrap();
        let several = Several::of(&[&honest, &large]).unwrap();
        assert!(several.account(3e-6).unwrap().epsilon > 2.0);
        // Its delta is taken off what there is.
        assert!(several.account(1e-6).is_err());
    }

    #[test]
    fn a_row_pays_for_one_part_of_each() {
        let part = |mu: f64| Part { rows: "some".into(), events: vec![gaussian(mu)] };
        let divided = certificate(vec![gaussian(0.1)], vec![part(0.2), part(0.3)], Adjacency::ReplaceRow);
        let several = Several::of(&[&divided, &divided, &of_rows(0.05)]).unwrap();
        assert_eq!((several.parts().len(), several.events().len()), (4, 3));
        let worst = [gaussian(0.1), gaussian(0.1), gaussian(0.05), gaussian(0.3), gaussian(0.3)];
        let epsilon = several.account(1e-6).unwrap().epsilon;
        assert!((epsilon / epsilon_at(&worst, 1e-6).unwrap() - 1.0).abs() < 1e-9);
        // Too many combinations: everybody pays for everything.
        let many: Vec<&Certificate> = std::iter::repeat_n(&divided, 8).collect();
        let many = Several::of(&many).unwrap();
        assert_eq!((many.parts().len(), many.events().len()), (64, 8 + 4));
    }

    #[test]
    fn different_units_and_empty_promises_are_refused() {
        let units = certificate(vec![gaussian(0.1)], Vec::new(), Adjacency::ReplaceUnit("id".into()));
        assert!(Several::of(&[&of_rows(0.1), &units]).is_err());
        let none = Certificate::without_promise(Adjacency::ReplaceRow, Vec::new(), "an optimum");
        assert!(Several::of(&[&of_rows(0.1), &none]).is_err());
        assert!(Several::of(&[]).is_err());
        let assumed = of_rows(0.1).assuming("rows are short");
        assert_eq!(Several::of(&[&of_rows(0.1), &assumed]).unwrap().assumptions(), ["rows are short"]);
    }
}
