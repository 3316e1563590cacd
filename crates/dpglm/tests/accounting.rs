//! What must hold of the accountants whatever the events are, and what no input may do to them.
//!
//! `DPGLM_FUZZ_CASES` sets how many documents and constructor calls the two fuzzers try.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::accounting::{account, calibrate, curve, delta_at, epsilon_at};
use dpglm::privacy::{Budget, Event, Noise};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// The accountants are numerical: neighbouring answers may disagree in their fifth digit, always above the truth.
const JITTER: f64 = 1e-4;

fn fuzz_cases() -> u32 {
    let cases = std::env::var("DPGLM_FUZZ_CASES").ok().map(|text| text.parse().unwrap());
    cases.unwrap_or(20_000)
}

/// Every run tries the same cases; a change of the tests brings new ones.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

/// Of zCDP only moments are known. They are converted once, for the whole mix, and what the conversion loses does not vanish
/// with the share of zCDP: a mix may cost more than the sum of its parts.
fn any_zcdp(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event.noise(), Noise::Zcdp { .. }))
}

/// A positive number with a uniform logarithm.
fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..=high.ln()).prop_map(f64::exp)
}

/// A release of each kind from two positive numbers, of which `Pure` and `Zcdp` need one.
fn noise_of(kind: u8, sensitivity: f64, level: f64) -> Noise {
    match kind {
        0 => Noise::Gaussian { sensitivity, sigma: level },
        1 => Noise::Laplace { sensitivity, scale: level },
        2 => Noise::Selection { sensitivity, scale: level },
        3 => Noise::Pure { epsilon: sensitivity / level },
        _ => Noise::Zcdp { rho: (sensitivity / level).powi(2) / 2.0 },
    }
}

/// A release of ordinary size.
fn event() -> impl Strategy<Value = Event> {
    (0..5_u8, log_uniform(0.01, 100.0), log_uniform(0.5, 200.0), prop_oneof![1..=3_u64, 1..=200_u64])
        .prop_map(|(kind, sensitivity, ratio, count)| {
            Event::new("release", noise_of(kind, sensitivity, sensitivity * ratio), count).unwrap()
        })
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..4)
}

fn delta() -> impl Strategy<Value = f64> {
    log_uniform(1e-15, 0.05)
}

/// The event with its noise multiplied by a factor.
fn scaled(event: &Event, factor: f64) -> Event {
    let noise = match event.noise() {
        Noise::Gaussian { sensitivity, sigma } => Noise::Gaussian { sensitivity, sigma: sigma * factor },
        Noise::Laplace { sensitivity, scale } => Noise::Laplace { sensitivity, scale: scale * factor },
        Noise::Selection { sensitivity, scale } => Noise::Selection { sensitivity, scale: scale * factor },
        Noise::Pure { epsilon } => Noise::Pure { epsilon: epsilon / factor },
        Noise::Zcdp { rho } => Noise::Zcdp { rho: rho / (factor * factor) },
        other => panic!("{other:?} is a new kind: scale its noise here"),
    };
    Event::new(event.release(), noise, event.count()).unwrap()
}

fn scale_all(events: &[Event], factor: f64) -> Vec<Event> {
    events.iter().map(|event| scaled(event, factor)).collect()
}

/// `small` is at most `large`, up to the accountants' jitter.
fn at_most(small: f64, large: f64) -> bool {
    small <= large * (1.0 + JITTER) + 1e-9
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn epsilon_and_delta_invert_each_other(events in events(), delta in delta()) {
        let epsilon = epsilon_at(&events, delta)?;
        prop_assert!(epsilon.is_finite() && epsilon >= 0.0);
        let back = delta_at(&events, epsilon)?;
        prop_assert!((0.0..=1.0).contains(&back));
        // The epsilon holds at delta, so the delta read at it may not be larger.
        prop_assert!(back <= delta * (1.0 + 1e-2), "delta {delta}, epsilon {epsilon}, back {back}");
        if epsilon > 0.0 && back > 1e-90 {
            let again = epsilon_at(&events, back)?;
            prop_assert!(again >= epsilon * (1.0 - JITTER), "epsilon {epsilon} became {again} at delta {back}");
        }
    }

    #[test]
    fn more_releases_cost_more(events in events(), more in 1..50_u64, delta in delta()) {
        let first = &events[0];
        let mut grown = events.clone();
        grown[0] = Event::new(first.release(), first.noise(), first.count() + more)?;
        prop_assert!(at_most(epsilon_at(&events, delta)?, epsilon_at(&grown, delta)?));
        let epsilon = epsilon_at(&events, delta)?;
        prop_assert!(delta_at(&events, epsilon)? <= delta_at(&grown, epsilon)? * (1.0 + 1e-2));
    }

    #[test]
    fn more_noise_costs_less(events in events(), factor in 1.01..10.0_f64, delta in delta()) {
        let noisier = scale_all(&events, factor);
        prop_assert!(at_most(epsilon_at(&noisier, delta)?, epsilon_at(&events, delta)?));
    }

    #[test]
    fn a_larger_delta_costs_less(events in events(), delta in delta(), factor in 1.01..10.0_f64) {
        prop_assert!(at_most(epsilon_at(&events, delta * factor)?, epsilon_at(&events, delta)?));
    }

    #[test]
    fn the_whole_costs_more_than_each_part_and_less_than_their_sum(a in events(), b in events(), delta in delta()) {
        let both = [a.clone(), b.clone()].concat();
        let whole = epsilon_at(&both, delta)?;
        prop_assert!(at_most(epsilon_at(&a, delta)?, whole));
        prop_assert!(at_most(epsilon_at(&b, delta)?, whole));
        if !any_zcdp(&both) {
            let parts = epsilon_at(&a, delta / 2.0)? + epsilon_at(&b, delta / 2.0)?;
            prop_assert!(at_most(whole, parts), "{whole} {parts}");
        }
    }

    #[test]
    fn order_and_grouping_do_not_matter(events in events(), delta in delta()) {
        let whole = epsilon_at(&events, delta)?;
        let mut apart: Vec<Event> = Vec::new();
        for event in events.iter().rev() {
            let half = event.count() / 2;
            for count in [half, event.count() - half] {
                if count > 0 {
                    apart.push(Event::new("part", event.noise(), count)?);
                }
            }
        }
        let regrouped = epsilon_at(&apart, delta)?;
        prop_assert!((regrouped - whole).abs() <= JITTER * whole + 1e-9, "{whole} {regrouped}");
    }

    #[test]
    fn the_curve_falls(events in events()) {
        let points = curve(&events)?;
        prop_assert!(points.windows(2).all(|pair| pair[0].1 > pair[1].1 && at_most(pair[0].0, pair[1].0)));
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn calibrated_noise_meets_the_budget_and_no_less_does(
        template in events(), epsilon in log_uniform(0.05, 20.0), delta in delta()
    ) {
        let calibrated = calibrate(&template, &[], Budget::new(epsilon, delta)?)?;
        let cost = epsilon_at(&calibrated, delta)?;
        prop_assert!(cost <= epsilon, "{cost} above {epsilon}");
        let cheaper = epsilon_at(&scale_all(&calibrated, 0.999), delta)?;
        prop_assert!(cheaper > epsilon, "0.1% less noise still costs only {cheaper} of {epsilon}");
    }

    #[test]
    fn what_is_spent_stays_spent(
        template in events(), spent in events(), epsilon in log_uniform(0.05, 20.0), delta in delta()
    ) {
        let budget = Budget::new(epsilon, delta)?;
        match calibrate(&template, &spent, budget) {
            Ok(calibrated) => {
                let all = [calibrated.clone(), spent.clone()].concat();
                prop_assert!(epsilon_at(&all, delta)? <= epsilon);
                let less = [scale_all(&calibrated, 0.999), spent.clone()].concat();
                // What is left may be so little that a thousandth of it does not show.
                let room = 1.0 - epsilon_at(&spent, delta)? / epsilon;
                prop_assert!(room < 0.1 || epsilon_at(&less, delta)? > epsilon);
            }
            Err(error) => {
                let nothing_left = at_most(epsilon, epsilon_at(&spent, delta)?);
                prop_assert!(nothing_left || any_zcdp(&template) || any_zcdp(&spent), "{error}");
            }
        }
    }

    #[test]
    fn pure_budgets_add_up(epsilon in log_uniform(1e-3, 100.0), template in events()) {
        let pure = |event: &Event| !matches!(event.noise(), Noise::Gaussian { .. } | Noise::Zcdp { .. });
        let calibrated = calibrate(&template, &[], Budget::pure(epsilon)?);
        if template.iter().all(pure) {
            let calibrated = calibrated?;
            prop_assert!(account(&calibrated, 0.0)?.epsilon <= epsilon);
            prop_assert!(account(&scale_all(&calibrated, 0.999), 0.0)?.epsilon > epsilon);
            prop_assert_eq!(delta_at(&calibrated, epsilon)?, 0.0);
        } else {
            prop_assert!(calibrated.is_err());
            prop_assert!(account(&template, 0.0).is_err());
        }
    }
}

/// Numbers from the whole of f64, and those that trip formulas.
fn any_number() -> impl Strategy<Value = f64> {
    let special = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        1e-100,
        1e-101,
        700.0,
        700.000_001,
    ];
    prop_oneof![2 => any::<u64>().prop_map(f64::from_bits), 1 => select(special), 2 => log_uniform(1e-12, 1e12)]
}

fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..=3_u64, select(vec![1_000_000_000, 1_000_000_001, u64::MAX])]
}

/// The numbers that an event must have accepted.
fn numbers_of(noise: Noise) -> Vec<f64> {
    match noise {
        Noise::Gaussian { sensitivity, sigma } => vec![sensitivity, sigma, sensitivity / sigma],
        Noise::Laplace { sensitivity, scale } | Noise::Selection { sensitivity, scale } => {
            vec![sensitivity, scale, sensitivity / scale]
        }
        Noise::Pure { epsilon } => vec![epsilon],
        Noise::Zcdp { rho } => vec![rho],
        other => panic!("{other:?} is a new kind: list its numbers here"),
    }
}

/// An event that exists is valid, prints as JSON and reads back as itself.
fn check_event(event: &Event) -> Result<(), TestCaseError> {
    prop_assert!(numbers_of(event.noise()).iter().all(|x| x.is_finite() && *x > 0.0), "{event:?}");
    prop_assert!((1..=1_000_000_000).contains(&event.count()));
    let text = serde_json::to_string(event)?;
    prop_assert_eq!(&serde_json::from_str::<Event>(&text)?, event);
    Ok(())
}

/// An answer is an error, or a number that means something.
fn check_account(events: &[Event], delta: f64) -> Result<(), TestCaseError> {
    if let Ok(guarantee) = account(events, delta) {
        prop_assert!(
            guarantee.epsilon.is_finite() && guarantee.epsilon >= 0.0,
            "{events:?} {delta}: {guarantee:?}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(fuzz_cases()))]

    #[test]
    fn constructors_refuse_or_accept_but_never_panic(
        a in any_number(), b in any_number(), kind in 0..5_u8, count in any_count()
    ) {
        if let Ok(budget) = Budget::new(a, b) {
            prop_assert!(budget.epsilon() > 0.0 && budget.epsilon() <= 700.0);
            prop_assert!(budget.delta() > 0.0 && budget.delta() < 1.0 && !budget.is_pure());
        }
        if let Ok(budget) = Budget::pure(a) {
            prop_assert!(budget.epsilon() > 0.0 && budget.epsilon() <= 700.0 && budget.is_pure());
        }
        let noise = match kind {
            3 => Noise::Pure { epsilon: a },
            4 => Noise::Zcdp { rho: a },
            kind => noise_of(kind, a, b),
        };
        if let Ok(event) = Event::new("", noise, count) {
            check_event(&event)?;
            // Closed forms are cheap enough to try on the way.
            let closed = matches!(noise, Noise::Gaussian { .. }) && count % 16 == 1;
            if closed {
                check_account(std::slice::from_ref(&event), 1e-6)?;
            }
            check_account(std::slice::from_ref(&event), 0.0)?;
        }
    }

    #[test]
    fn documents_are_refused_or_read_but_never_panic(document in document()) {
        let one = serde_json::from_str::<Event>(&document);
        let many = serde_json::from_str::<Vec<Event>>(&document);
        for event in one.into_iter().chain(many.into_iter().flatten()) {
            check_event(&event)?;
        }
    }
}

/// JSON that is an event, almost one, or nothing like it.
fn document() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => event_text(),
        1 => prop::collection::vec(event_text(), 0..3).prop_map(|list| format!("[{}]", list.join(","))),
        3 => (event_text(), prop::collection::vec((any::<prop::sample::Index>(), any_piece()), 1..4)).prop_map(
            |(text, edits)| edits.into_iter().fold(text, |text, (place, piece)| edit(&text, place, piece))
        ),
        1 => ".{0,40}",
        1 => "[\\[\\]{}\":,0-9eE.+ -]{0,60}",
        1 => (1..300_usize).prop_map(|depth| "[".repeat(depth)),
    ]
}

/// An object with an event's fields, some wrong, some missing, some twice.
fn event_text() -> impl Strategy<Value = String> {
    let kinds = select(vec!["gaussian", "laplace", "selection", "pure", "zcdp", "Gaussian", "", "poisson"]);
    let names = select(vec![
        "sensitivity",
        "sigma",
        "scale",
        "epsilon",
        "rho",
        "count",
        "release",
        "mechanism",
        "sgima",
    ]);
    let wild =
        (kinds.clone(), prop::collection::vec((names, any_value()), 0..5)).prop_map(|(kind, fields)| {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!(r#","{name}":{value}"#)).collect();
            format!(r#"{{"mechanism":"{kind}"{}}}"#, fields.concat())
        });
    let close = (0..5_usize, any_value(), any_value(), any_value()).prop_map(|(kind, a, b, count)| {
        let noise = match kind {
            0 => format!(r#""gaussian","sensitivity":{a},"sigma":{b}"#),
            1 => format!(r#""laplace","sensitivity":{a},"scale":{b}"#),
            2 => format!(r#""selection","sensitivity":{a},"scale":{b}"#),
            3 => format!(r#""pure","epsilon":{a}"#),
            _ => format!(r#""zcdp","rho":{a}"#),
        };
        format!(r#"{{"mechanism":{noise},"count":{count}}}"#)
    });
    let valid = event().prop_map(|event| serde_json::to_string(&event).unwrap());
    prop_oneof![wild, close, valid]
}

/// A JSON value, mostly a number.
fn any_value() -> impl Strategy<Value = String> {
    let odd = vec![
        "1e999",
        "-1e999",
        "1e-999",
        "-0",
        "-0.0",
        "null",
        "true",
        "\"1\"",
        "[]",
        "{}",
        "NaN",
        "1.",
        "01",
        "\"\\ud800\"",
        "18446744073709551616",
        "0.1e1",
    ];
    prop_oneof![
        3 => log_uniform(1e-3, 1e3).prop_map(|x| x.to_string()),
        2 => (0..1000_u32).prop_map(|n| n.to_string()),
        1 => any_number().prop_map(|x| x.to_string()),
        1 => select(odd).prop_map(String::from),
    ]
}

fn any_piece() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(None),
        any_value().prop_map(Some),
        "[\\[\\]{}\":,\\\\]".prop_map(Some),
        ".".prop_map(Some)
    ]
}

/// The text with one character replaced by a piece, or dropped.
fn edit(text: &str, place: prop::sample::Index, piece: Option<String>) -> String {
    let place = place.index(text.chars().count().max(1));
    let piece = piece.unwrap_or_default();
    text.chars()
        .enumerate()
        .map(|(i, letter)| if i == place { piece.clone() } else { letter.to_string() })
        .collect()
}

/// Mostly few, at times as many as an event may stand for.
fn any_valid_count() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1..=100_u64, 1 => log_uniform(1.0, 1e9).prop_map(|count| count as u64)]
}

proptest! {
    #![proptest_config(cases(2_000.min(fuzz_cases())))]

    /// Valid events of any size, far beyond sense: an error, or a finite epsilon of at least zero.
    #[test]
    fn extreme_events_are_accounted_or_refused(
        sizes in prop::collection::vec(
            (0..5_u8, log_uniform(1e-300, 1e300), log_uniform(1e-300, 1e300), any_valid_count()), 1..4
        ),
        near in prop::bool::weighted(0.2),
        delta in log_uniform(1e-100, 0.999),
        epsilon in prop::option::of(log_uniform(1e-12, 1e6))
    ) {
        let events: Vec<Event> = sizes
            .iter()
            .filter_map(|&(kind, sensitivity, level, count)| {
                // Most quotients of two such numbers are absurd; bring some back to where the lattice works.
                let level = if near { sensitivity * level.powf(0.01) } else { level };
                Event::new("", noise_of(kind, sensitivity, level), count).ok()
            })
            .collect();
        match epsilon {
            Some(epsilon) => {
                if let Ok(delta) = delta_at(&events, epsilon) {
                    prop_assert!((0.0..=1.0).contains(&delta), "{events:?} at {epsilon}: {delta}");
                }
            }
            None => check_account(&events, delta)?,
        }
        check_account(&events, 0.0)?;
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// The same for calibration: noise that meets the budget, or an error.
    #[test]
    fn extreme_templates_are_calibrated_or_refused(
        sizes in prop::collection::vec(
            (0..5_u8, log_uniform(1e-300, 1e300), log_uniform(1e-3, 1e3), 1..=1000_u64), 1..3
        ),
        epsilon in log_uniform(1e-9, 700.0),
        delta in log_uniform(1e-100, 0.999)
    ) {
        let template: Vec<Event> = sizes
            .iter()
            .filter_map(|&(kind, sensitivity, ratio, count)| {
                Event::new("", noise_of(kind, sensitivity, sensitivity * ratio), count).ok()
            })
            .collect();
        if let Ok(calibrated) = calibrate(&template, &[], Budget::new(epsilon, delta)?) {
            prop_assert!(epsilon_at(&calibrated, delta)? <= epsilon);
        }
    }
}
