//! Artefacts that somebody changed, read and added up: an error, never a panic, never a smaller epsilon.
//!
//! A case is a whole artefact, accounted for again, so that one is tried for every ten of `DPGLM_FUZZ_CASES`, or as many as
//! `DPGLM_WHOLE_CASES` says; most have a curve of one point, as every point is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::accounting::{Certificate, Several, epsilon_at};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Adjacency, Event, Noise};
use dpglm_workflow::document::parse;

fn cases() -> u64 {
    let asked = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    asked("DPGLM_WHOLE_CASES").or(asked("DPGLM_FUZZ_CASES").map(|all| all.div_ceil(10))).unwrap_or(5_000)
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Means with this certificate.
fn artefact(noises: &[(Noise, u64)], delta: f64) -> String {
    let rng = RandomSource::from_os().unwrap();
    let events = noises.iter().map(|(noise, count)| Event::new("release", *noise, *count).unwrap()).collect();
    let certificate = Certificate::certified(Adjacency::ReplaceRow, events, delta, &rng).unwrap();
    format!(
        "{{\"schema\":\"dpglm.mean/1\",\"n\":100,\"columns\":[\"a\"],\"means\":{{\"a\":0.5}},\"standard_errors\":null,\
         \"level\":null,\"intervals\":null,\"certificate\":{}}}",
        serde_json::to_string(&certificate).unwrap()
    )
}

/// The same with the first point of its curve alone.
fn with_one_point(artefact: &str) -> String {
    let start = artefact.find("\"curve\":[[").unwrap() + "\"curve\":[".len();
    let first = start + artefact[start..].find(']').unwrap() + 1;
    let end = first + artefact[first..].find("]]").unwrap() + 1;
    let short = artefact[..first].to_owned() + &artefact[end..];
    assert_eq!(parse(&short).unwrap().certificate().curve().len(), 1, "{short}");
    short
}

const NASTY: [&str; 22] = [
    "0",
    "-0.0",
    "-1",
    "1e400",
    "NaN",
    "Infinity",
    "null",
    "true",
    "\"1\"",
    "[]",
    "5e-324",
    "1e-310",
    "1e-200",
    "1e-9",
    "1e300",
    "1.7976931348623157e308",
    "18446744073709551616",
    "1000000001",
    "1000000000",
    "1e-100",
    "0.999999999",
    "0.5",
];

/// The places of numbers in a text.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let mut found = Vec::new();
    let mut at = 1;
    while at < bytes.len() {
        if matches!(bytes[at - 1], b':' | b'[' | b',') && bytes[at].is_ascii_digit() {
            let end = (at..bytes.len()).find(|i| !is_number(bytes[*i])).unwrap_or(bytes.len());
            found.push((at, end));
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The largest epsilon at delta that one of them costs alone.
fn alone(certificates: &[&Certificate], delta: f64) -> f64 {
    certificates.iter().map(|c| epsilon_at(c.events(), delta).unwrap_or(0.0)).fold(0.0, f64::max)
}

/// How many changed texts were read, and how many refused.
fn try_changes(base: &str, tries: u64, seed: u64) -> (u64, u64) {
    let honest = parse(base).unwrap();
    let places = numbers(base);
    let mut dice = Dice(seed);
    let (mut read, mut refused) = (0, 0);
    for case in 0..tries {
        let (from, to) = places[dice.below(places.len())];
        let nasty = NASTY[dice.below(NASTY.len())];
        let (before, number, after) = (&base[..from], &base[from..to], &base[to..]);
        let key = before.rsplit([',', '{']).next().unwrap_or_default();
        let text = match dice.below(6) {
            0 => format!("{before}{number},{key}{nasty}{after}"),
            1 => format!("{before}{number}{}{after}", ["0", "e2", "e-2", "1"][dice.below(4)]),
            2 => base[..dice.below(base.len())].to_owned(),
            3 => {
                let mut bytes = base.as_bytes().to_vec();
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(7);
                String::from_utf8(bytes).unwrap_or_default()
            }
            _ => format!("{before}{nasty}{after}"),
        };
        let Ok(changed) = parse(&text) else {
            refused += 1;
            continue;
        };
        read += 1;
        // What is read claims no less than its own releases cost.
        let certificate = changed.certificate();
        if let Some(claim) = certificate.guarantee() {
            let cost = epsilon_at(certificate.events(), claim.delta).unwrap();
            assert!(claim.epsilon >= cost * (1.0 - 2e-6) && claim.epsilon.is_finite(), "case {case}: {text}");
        }
        let both = [honest.certificate(), certificate];
        let Ok(several) = Several::of(&both) else { continue };
        let delta = 1e-5;
        if let Ok(answer) = several.account(delta) {
            let least = alone(&both, delta);
            let enough = answer.epsilon.is_finite() && answer.epsilon >= least * (1.0 - 5e-3);
            assert!(enough, "case {case}: {} {least} {text}", answer.epsilon);
        }
    }
    (read, refused)
}

#[test]
fn changed_artefacts_are_refused_or_counted() {
    let gaussian = artefact(&[(Noise::Gaussian { sensitivity: 1.5, sigma: 40.25 }, 3)], 1e-6);
    let pure = [(Noise::Laplace { sensitivity: 1.0, scale: 9.5 }, 2), (Noise::Pure { epsilon: 0.125 }, 1)];
    let mixed = [
        (Noise::Selection { sensitivity: 0.5, scale: 12.5 }, 2),
        (Noise::Gaussian { sensitivity: 1.5, sigma: 9.25 }, 1),
    ];
    let count = cases();
    for (base, tries, seed) in [
        (with_one_point(&gaussian), count, 4),
        (gaussian, count / 50, 1),
        (artefact(&pure, 0.0), (count / 250).min(20_000), 2),
        (artefact(&mixed, 1e-6), (count / 250).min(2_000), 3),
    ] {
        let (read, refused) = try_changes(&base, tries, 0x9e37_79b9_7f4a_7c15 ^ seed);
        println!("{tries} changed: {read} read, {refused} refused");
        assert!(refused > read / 4 && read > 0, "{read} {refused}");
    }
}
