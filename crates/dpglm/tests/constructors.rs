//! No number given to a constructor, and no document given to the certificate's parser, may do worse than be refused.
//!
//! `DPGLM_FUZZ_CASES` sets how many cases are tried.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::accounting::Certificate;
use dpglm::audit::Audit;
use dpglm::central::{
    DpIht, Glm, Iht, LinearStatistics, Multinomial, NoisyIht, PrivateMean, Selection, SparseMean, Transfer,
};
use dpglm::comparators::{FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, TwoStage};
use dpglm::data::{Dataset, Design};
use dpglm::families::{Family, MonotoneLink};
use dpglm::local::{
    JointStatistics, Kind, LabelNoise, LocalIht, OneShotGlm, RandomizedResponse, Randomizer, ThresholdBit,
};
use dpglm::mechanisms::{
    Candidates, ClippedSum, ExponentialMechanism, GaussianVector, GumbelTop, LaplacePeeling, LaplaceVector,
    PrivateQuantile,
};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Event, Noise};
use proptest::prelude::*;

fn config() -> ProptestConfig {
    let cases = std::env::var("DPGLM_FUZZ_CASES").ok().map_or(20_000, |text| text.parse().unwrap());
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn number() -> impl Strategy<Value = f64> {
    let edges =
        [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-300, 1e300, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![any::<u64>().prop_map(f64::from_bits), prop::sample::select(edges.to_vec()), 1e-3..1e3_f64]
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![0..5_usize, Just(1_000_000), Just(usize::MAX)]
}

/// Numbers with which no sum of a model overflows and no factor underflows.
fn magnitude(x: f64) -> bool {
    (1e-100..=1e100).contains(&x)
}

/// Intervals of such numbers.
fn interval(low: f64, high: f64) -> bool {
    low >= -1e100 && high <= 1e100 && high - low >= 1e-90
}

/// What an accepted mechanism claims is a positive finite amount of noise.
fn check(events: Option<Vec<Event>>) -> Result<(), TestCaseError> {
    for event in events.into_iter().flatten() {
        let (sensitivity, noise) = match event.noise() {
            Noise::Gaussian { sensitivity, sigma } => (sensitivity, sigma),
            Noise::Laplace { sensitivity, scale } | Noise::Selection { sensitivity, scale } => {
                (sensitivity, scale)
            }
            Noise::Pure { epsilon } => (epsilon, 1.0),
            other => return Err(TestCaseError::fail(format!("unexpected {other:?}"))),
        };
        prop_assert!(sensitivity > 0.0 && noise > 0.0 && sensitivity.is_finite() && noise.is_finite());
        prop_assert!(event.count() > 0);
    }
    Ok(())
}

fn document() -> String {
    let events = vec![
        Event::new("support", Noise::Selection { sensitivity: 1.0, scale: 30.0 }, 5).unwrap(),
        Event::new("values", Noise::Gaussian { sensitivity: 1.0, sigma: 9.0 }, 1).unwrap(),
    ];
    Certificate::certified(Adjacency::ReplaceRow, events, 1e-6, &RandomSource::from_os().unwrap())
        .unwrap()
        .assuming("rows are short")
        .to_json()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mechanisms_are_refused_or_sound(a in number(), b in number(), c in number(), d in size(), s in size(), k in any::<u32>()) {
        check(GaussianVector::new(a, b, d).ok().map(|m| m.events()))?;
        check(LaplaceVector::new(a, b, d).ok().map(|m| m.events()))?;
        check(ClippedSum::new(a, b, d).ok().map(|m| m.events()))?;
        check(ExponentialMechanism::new(a, b).ok().map(|m| m.events()))?;
        check(LaplacePeeling::new(s, a, b, d).ok().map(|m| m.events()))?;
        check(GumbelTop::new(s, a, b, c, d).ok().map(|m| m.events()))?;
        check(GumbelTop::with_l2_sensitivity(s, a, c, b, c, d).ok().map(|m| m.events()))?;
        let grids = [
            Candidates::even(a, b, u64::from(k)),
            Candidates::geometric(a, b, k),
            Candidates::positive_geometric(a, b, k),
        ];
        for grid in grids.into_iter().flatten() {
            prop_assert!(grid.count() >= 1 && grid.value(0).is_finite() && grid.value(grid.count() - 1).is_finite());
            check(PrivateQuantile::new(grid, c, a).ok().map(|m| m.events()))?;
        }
    }

    #[test]
    fn label_mechanisms_are_refused_or_sound(a in number(), b in number(), c in number(), d in number(), k in any::<u32>(), s in size()) {
        check(RandomizedResponse::new(k, a).ok().and_then(|m| m.events().ok()))?;
        check(LabelNoise::laplace((a, b), c).ok().map(|m| m.events()))?;
        check(JointStatistics::new(s.min(9), a, (b, c), d, a).ok().map(|m| m.events()))?;
        if let Ok(bit) = ThresholdBit::new((a, b), c) {
            check(bit.events().ok())?;
            prop_assert!(bit.flip() > 0.0 && bit.flip() < 0.5);
            let report = bit.randomize(d, &mut RandomSource::insecure_seeded(u64::from(k)));
            prop_assert!(bit.value(&report).is_finite() && (a..=b).contains(&bit.threshold(&report)));
        }
    }

    #[test]
    fn models_are_refused_or_made(a in number(), b in number(), c in number(), k in any::<u16>()) {
        for family in [Family::gaussian(), Family::logistic(), Family::poisson()] {
            let made = Glm::new(family, (a, b)).and_then(|m| m.ridge(c)).and_then(|m| m.radius(a)).and_then(|m| m.intervals(c));
            prop_assert!(made.is_err() || (interval(a, b) && magnitude(a) && c >= 0.5));
        }
        prop_assert!(LinearStatistics::new((a, b)).is_err() || interval(a, b));
        prop_assert!(PrivateMean::new(vec![(a, b)]).and_then(|m| m.intervals(c)).is_err() || interval(a, b));
        prop_assert!(SparseMean::new(vec![(a, b)], 1).is_err() || interval(a, b));
        prop_assert!(Multinomial::new(usize::from(k)).and_then(|m| m.ridge(a)).is_err() || a == 0.0 || magnitude(a));
        prop_assert!(MonotoneLink::new(|u| u, a, b).is_err() || (magnitude(a) && magnitude(b) && a <= b));
        let data = Dataset::new(Design::from_f64(1, 1, vec![a]).unwrap(), vec![b]).unwrap();
        prop_assert!(data.with_exposures(&[a], c).is_err() || (1e-15..=1e15).contains(&c));
        prop_assert!(Audit::new(u64::from(k), a).is_err() || (k > 0 && a < 1.0));
        prop_assert!(Design::from_f64(1, 2, vec![a, b]).is_ok());
        prop_assert!(Design::from_f64(usize::from(k), usize::MAX, vec![a]).is_err());
    }

    #[test]
    fn sparse_models_are_refused_or_made(a in number(), b in number(), c in number(), d in number(), s in size()) {
        prop_assert!(FrankWolfe::linear((a, b), c, d).and_then(|m| m.residual_cap(a)).is_err() || (interval(a, b) && magnitude(c) && magnitude(d) && magnitude(a)));
        prop_assert!(FrankWolfe::logistic(a, b).and_then(|m| m.steps(s as u64)).is_err() || (magnitude(a) && magnitude(b) && s > 0));
        prop_assert!(TwoStage::linear((a, b), c, s).is_err() || (interval(a, b) && magnitude(c) && s > 0));
        prop_assert!(TwoStage::logistic(a, s).is_err() || (magnitude(a) && s > 0));
        prop_assert!(Transfer::linear((a, b), c, s).and_then(|m| m.ridge(d)).is_err() || (interval(a, b) && magnitude(c) && s > 0 && magnitude(d)));
        prop_assert!(Transfer::logistic(a, s).and_then(|m| m.synthetic_features(s)).is_err() || (magnitude(a) && s > 0));
        prop_assert!(JohnsonLindenstrauss::linear((a, b), c).and_then(|m| m.projected_rows(s as u64)).is_err() || (interval(a, b) && s > 0));
        prop_assert!(KarwaVadhan::new(vec![(a, b)], (c, d)).is_err() || (interval(a, b) && magnitude(c) && magnitude(d) && c < d));
        let model = Glm::new(Family::logistic(), (0.0, 1.0)).unwrap();
        prop_assert!(DpIht::new(model.clone(), s).and_then(|m| m.row_norm(a)).is_err() || (magnitude(a) && s > 0));
        prop_assert!(NoisyIht::new(model, s, a, Selection::Gumbel).is_err() || (magnitude(a) && s > 0));
        prop_assert!(Iht::new(s).and_then(|m| m.step(a)).is_err() || (s > 0 && a > 0.0));
    }

    #[test]
    fn local_models_are_refused_or_made(a in number(), b in number(), c in number(), s in size()) {
        check(Randomizer::new(Kind::Duchi, s, a, b).and_then(|m| m.events()).ok())?;
        prop_assert!(LocalIht::new(Family::gaussian(), (a, b), c, s).and_then(|m| m.feature_square(a)).is_err() || (a < b && c > 0.0 && s > 0));
        prop_assert!(OneShotGlm::new(Family::poisson(), (a, b), c).and_then(|m| m.feature_means(vec![a])).is_err() || (a < b && c > 0.0));
    }

    #[test]
    fn damaged_certificates_are_refused_or_read(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z{}\\[\\]\",:.e+-]{0,3}", 0..4_usize), 1..4)
    ) {
        use std::sync::LazyLock;
        static DOCUMENT: LazyLock<String> = LazyLock::new(document);
        let mut text = DOCUMENT.clone();
        for (place, piece, cut) in edits {
            let start = place.index(text.len());
            let end = (start + cut).min(text.len());
            if text.is_char_boundary(start) && text.is_char_boundary(end) {
                text.replace_range(start..end, &piece);
            }
        }
        // The form only: recomputing a claim costs milliseconds, and has tests of its own.
        if let Ok(certificate) = serde_json::from_str::<Certificate>(&text) {
            if let Some(guarantee) = certificate.guarantee() {
                prop_assert!(guarantee.epsilon >= 0.0 && guarantee.epsilon.is_finite());
                prop_assert!((0.0..1.0).contains(&guarantee.delta));
            }
            prop_assert_eq!(&serde_json::from_str::<Certificate>(&certificate.to_json()).unwrap(), &certificate);
        }
    }
}
