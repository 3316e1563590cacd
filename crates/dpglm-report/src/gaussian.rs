//! The mu of Gaussian differential privacy beside (epsilon, delta).
//!
//! A certificate all of whose releases are Gaussian is mu-Gaussian differentially private with `mu^2` the sum of the releases' squared ratios of
//! sensitivity to noise, where its curve is the one that follows from them: it is not where noise was chosen on the way under a promise
//! made before. Of any other certificate only a finite number of points is known, and the least mu whose curve lies nowhere below them is
//! a comparison and no promise.

use crate::promise::points;
use dpglm::accounting::{Certificate, epsilon_at};
use dpglm::privacy::decimal::rounded_up;
use dpglm::privacy::{Event, Noise};

/// What a certificate's points may differ by from the curve of its events.
const NEAR: f64 = 1e-6;

/// The certificate's mu in a sentence.
pub(crate) fn sentence(certificate: &Certificate) -> Option<String> {
    if let Some(mu) = exact(certificate) {
        return Some(format!(
            "{}-Gaussian differential privacy: the curve is that of one Gaussian release with mu = {0}.",
            rounded_up(mu)
        ));
    }
    let mu = rounded_up(comparable(&points(certificate))?);
    Some(format!(
        "For comparison: the curve lies nowhere above that of a Gaussian release with mu = {mu} at the listed points. That is no promise of {mu}-Gaussian differential privacy."
    ))
}

/// The mu of a certificate that is Gaussian throughout.
fn exact(certificate: &Certificate) -> Option<f64> {
    let parts: Vec<&[Event]> = match certificate.parts() {
        [] => vec![&[]],
        parts => parts.iter().map(|part| part.events.as_slice()).collect(),
    };
    let mus: Option<Vec<f64>> =
        parts.into_iter().map(|part| mu_of(certificate.events().iter().chain(part))).collect();
    let mu = mus?.into_iter().fold(0.0, f64::max);
    let same = |(epsilon, delta): (f64, f64)| {
        epsilon_of(mu, delta).is_some_and(|other| (other - epsilon).abs() <= NEAR * epsilon.max(NEAR))
    };
    (mu > 0.0 && points(certificate).into_iter().all(same)).then_some(mu)
}

fn mu_of<'e>(events: impl Iterator<Item = &'e Event>) -> Option<f64> {
    let squares: Option<Vec<f64>> = events
        .map(|event| match event.noise() {
            Noise::Gaussian { sensitivity, sigma } => {
                Some(event.count() as f64 * (sensitivity / sigma).powi(2))
            }
            _ => None,
        })
        .collect();
    let squares = squares?;
    // The rounding of the sum is charged.
    Some(squares.iter().sum::<f64>().sqrt() * (1.0 + 1e-15 * (4.0 + squares.len() as f64)))
}

/// The least mu whose curve lies nowhere below the points.
fn comparable(points: &[(f64, f64)]) -> Option<f64> {
    let covers = |mu: f64| {
        let of = |&(epsilon, delta): &(f64, f64)| {
            delta == 0.0 || epsilon_of(mu, delta).is_none_or(|e| e >= epsilon)
        };
        points.iter().all(of)
    };
    // A pure promise has no Gaussian above it at delta 0; its points at other deltas are compared.
    if points.iter().all(|(_, delta)| *delta == 0.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while !covers(high) {
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if covers(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

fn epsilon_of(mu: f64, delta: f64) -> Option<f64> {
    let event = Event::new("", Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1).ok()?;
    epsilon_at(&[event], delta).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpglm::noise::RandomSource;
    use dpglm::privacy::Adjacency;

    fn certificate(noises: &[Noise]) -> Certificate {
        let events = noises.iter().map(|noise| Event::new("r", *noise, 4).unwrap()).collect();
        let rng = RandomSource::from_os().unwrap();
        Certificate::certified(Adjacency::ReplaceRow, events, 1e-6, &rng).unwrap()
    }

    #[test]
    fn gaussian_releases_have_their_mu_and_others_a_comparison() {
        let gaussian = Noise::Gaussian { sensitivity: 1.0, sigma: 10.0 };
        let said = sentence(&certificate(&[gaussian])).unwrap();
        assert!(said.starts_with("0.200001-Gaussian") || said.starts_with("0.2-Gaussian"), "{said}");
        let mixed = certificate(&[gaussian, Noise::Selection { sensitivity: 1.0, scale: 20.0 }]);
        assert!(exact(&mixed).is_none());
        let mu = comparable(&points(&mixed)).unwrap();
        assert!(mu > 0.2 && mu < 0.4, "{mu}");
        assert!(sentence(&mixed).unwrap().contains("no promise of"));
    }

    /// A claim above what its events cost is not the events' own curve.
    #[test]
    fn a_promise_made_before_its_releases_has_no_exact_mu() {
        let honest = certificate(&[Noise::Gaussian { sensitivity: 1.0, sigma: 10.0 }]);
        let mut document = serde_json::to_value(&honest).unwrap();
        document["epsilon"] = (2.0 * honest.guarantee().unwrap().epsilon).into();
        let above = Certificate::from_json(&document.to_string()).unwrap();
        assert!(exact(&honest).is_some() && exact(&above).is_none());
    }
}
