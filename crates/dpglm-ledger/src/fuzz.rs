//! Ledgers that somebody changed: byte by byte, and number by number with all hashes made anew.

use crate::record::{Charge, Entry, Finish, NOTHING_BEFORE, Record, Terms, hash};
use crate::{Chain, Error};
use dpglm::accounting::Part;
use dpglm::accounting::filter::Rule;
use dpglm::privacy::{Adjacency, Budget, Event, Noise};

/// How many cases are tried: `DPGLM_WHOLE_CASES`, or one, a whole ledger composed again, for every ten of `DPGLM_FUZZ_CASES`.
fn cases() -> u64 {
    let asked = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    asked("DPGLM_WHOLE_CASES").or(asked("DPGLM_FUZZ_CASES").map(|all| all.div_ceil(10))).unwrap_or(20_000)
}

/// A generator that is the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn event(noise: Noise, count: u64) -> Event {
    Event::new("release", noise, count).unwrap()
}

fn charge(events: Vec<Event>, parts: Vec<Part>) -> Entry {
    Entry::Charged(Charge {
        what: "fit".into(),
        data: "people, \"2026\"\n".into(),
        fingerprint: None,
        purpose: "Größe".into(),
        protects: Adjacency::ReplaceRow,
        assuming: Vec::new(),
        events,
        parts,
    })
}

/// A ledger with one charge of every kind.
fn entries() -> Vec<Entry> {
    let budget = Budget::new(8.0, 1e-4).unwrap();
    let terms = Terms::new("a study", Adjacency::ReplaceRow, budget, 1e-5, Rule::Gdp).unwrap();
    let gaussian = |sigma| event(Noise::Gaussian { sensitivity: 1.5, sigma }, 3);
    vec![
        Entry::Opened(terms),
        charge(
            vec![gaussian(40.25), event(Noise::Selection { sensitivity: 0.5, scale: 12.5 }, 2)],
            Vec::new(),
        ),
        Entry::Finished(Finish { charge: 1, certificate: hash(b"one"), artefact: hash(b"two") }),
        charge(vec![gaussian(31.5)], vec![Part { rows: "some".into(), events: vec![gaussian(77.125)] }]),
        charge(
            vec![
                event(Noise::Laplace { sensitivity: 2.0, scale: 64.5 }, 1),
                event(Noise::Approximate { epsilon: 0.25, delta: 1e-6 }, 1),
                event(Noise::Pure { epsilon: 0.125 }, 1),
            ],
            Vec::new(),
        ),
    ]
}

/// The bodies of lines, without hashes; the place of the hash before is `@`.
fn bodies() -> Vec<String> {
    let record = |(index, entry): (usize, Entry)| Record {
        index: index as u64,
        previous: "@".into(),
        time: "2026-01-01T00:00:00Z".into(),
        version: "0.1.0".into(),
        entry,
    };
    entries()
        .into_iter()
        .enumerate()
        .map(|pair| {
            let mut body = serde_json::to_string(&record(pair)).unwrap();
            body.pop();
            body
        })
        .collect()
}

/// The file, with every hash right.
fn chained(bodies: &[String]) -> Vec<u8> {
    let mut previous = NOTHING_BEFORE.to_owned();
    let mut file = String::new();
    for body in bodies {
        let body = body.replacen("\"previous\":\"@\"", &format!("\"previous\":\"{previous}\""), 1);
        previous = hash(body.as_bytes());
        file += &format!("{body},\"hash\":\"{previous}\"}}\n");
    }
    file.into_bytes()
}

#[test]
fn no_changed_byte_passes() {
    let file = chained(&bodies());
    let whole = Chain::parse(&file).unwrap();
    assert_eq!(whole.records().len(), 5);
    let is_beginning = |chain: &Chain| whole.hashes().starts_with(chain.hashes());
    for at in 0..file.len() {
        for change in [1, 0x80, 0x20] {
            let mut edited = file.clone();
            edited[at] ^= change;
            // A last newline that is gone leaves a line that was never acknowledged: the one thing that looks like a crash.
            let cut = at + 1 == file.len();
            match Chain::parse(&edited) {
                Ok(chain) => assert!(cut && is_beginning(&chain), "byte {at}"),
                Err(Error::Broken { .. } | Error::Refused(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        // A torn end is what a crash leaves: what stands before it counts.
        if let Ok(chain) = Chain::parse(&file[..at]) {
            assert!(is_beginning(&chain) && chain.whole + chain.unfinished() == at);
        }
    }
    // Lines that were taken out, doubled or exchanged.
    let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    for i in 0..lines.len() {
        for j in 0..lines.len() {
            let mut moved = lines.clone();
            moved.swap(i, j);
            assert!(i == j || Chain::parse(&moved.concat()).is_err(), "{i} {j}");
            let mut doubled = lines.clone();
            doubled.insert(i, lines[j]);
            assert!(Chain::parse(&doubled.concat()).is_err(), "{i} {j}");
        }
        let mut shorter = lines.clone();
        shorter.remove(i);
        let is_last = i + 1 == lines.len();
        assert_eq!(Chain::parse(&shorter.concat()).is_ok(), is_last, "{i}");
    }
}

/// Numbers and words that have broken readers of JSON.
const NASTY: [&str; 24] = [
    "0",
    "-0.0",
    "-1",
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "null",
    "true",
    "\"1\"",
    "[]",
    "{}",
    "5e-324",
    "1e-310",
    "1e-200",
    "1e300",
    "1.7976931348623157e308",
    "18446744073709551615",
    "18446744073709551616",
    "0.1e-400",
    "1000000001",
    "1000000000",
    "1e-100",
    "0.999999999",
];

/// The places of numbers in a text.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':' && bytes.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
            let end = (at + 1..bytes.len()).find(|i| !is_number(bytes[*i])).unwrap_or(bytes.len());
            found.push((at + 1, end));
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// What all Gaussian releases of a ledger cost at least, computed another way.
fn gaussian_losses(chain: &Chain) -> f64 {
    let of = |event: &Event| match event.noise() {
        Noise::Gaussian { sensitivity, sigma } => {
            event.count() as f64 * (sensitivity / sigma) * (sensitivity / sigma)
        }
        _ => 0.0,
    };
    let charges = (0..chain.records().len()).filter_map(|at| chain.charge(at));
    charges
        .map(|charge| {
            let part = |part: &Part| part.events.iter().map(of).sum::<f64>();
            charge.events.iter().map(of).sum::<f64>() + charge.parts.iter().map(part).fold(0.0, f64::max)
        })
        .sum()
}

#[test]
fn changed_numbers_are_refused_or_counted() {
    let original = bodies();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for case in 0..cases() {
        let mut changed = original.clone();
        for _ in 0..=dice.below(2) {
            let line = dice.below(changed.len());
            let places = numbers(&changed[line]);
            let Some(&(from, to)) = places.get(dice.below(places.len().max(1))) else { continue };
            let nasty = NASTY[dice.below(NASTY.len())];
            let (before, after) = (changed[line][..from].to_owned(), changed[line][to..].to_owned());
            let number = changed[line][from..to].to_owned();
            let key = before.rsplit(',').next().unwrap_or_default().trim_start_matches('{').to_owned();
            changed[line] = match dice.below(5) {
                // A key twice: the second must not win, and neither the first.
                0 => format!("{before}{number},{key}{nasty}{after}"),
                1 => format!("{before}{number}{}{after}", ["0", "e2", "e-2", "1"][dice.below(4)]),
                _ => format!("{before}{nasty}{after}"),
            };
        }
        match Chain::parse(&chained(&changed)) {
            Err(_) => refused += 1,
            Ok(chain) => {
                read += 1;
                let (spent, limit) = (chain.spent(), chain.filter().limit());
                assert!(
                    spent.loss.is_finite() && spent.loss <= limit.loss && spent.failure <= limit.failure,
                    "case {case}"
                );
                assert!(
                    spent.loss >= gaussian_losses(&chain) && spent.loss > 0.0,
                    "case {case}: {changed:?}"
                );
                assert!(chain.costs().iter().zip(chain.records()).all(|(cost, record)| {
                    matches!(record.entry, Entry::Charged(_)) == (cost.loss > 0.0)
                }));
            }
        }
    }
    assert!(read > 0 && refused > read, "{read} {refused}");
}

#[test]
fn any_bytes_are_refused() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let pieces: [&[u8]; 12] = [
        b"{",
        b"}",
        b"\"hash\":\"",
        b"\n",
        b"\"",
        b",",
        b"\xff",
        b"0000000000000000000000000000000000000000000000000000000000000000",
        b"[[[[[[[[",
        b"\"entry\":{\"opened\":",
        b"\"}",
        b"\xc3\xa9",
    ];
    for _ in 0..cases() {
        let bytes: Vec<u8> =
            (0..dice.below(12)).flat_map(|_| pieces[dice.below(pieces.len())].to_vec()).collect();
        assert!(Chain::parse(&bytes).is_err());
    }
}

#[test]
fn ten_thousand_lines_are_read_within_a_second() {
    let mut all = bodies();
    let charge =
        all[1].replace("\"sigma\":40.25", "\"sigma\":900.5").replace("\"scale\":12.5", "\"scale\":900.5");
    all.truncate(1);
    for index in 1..=10_000 {
        all.push(charge.replacen("\"index\":1,", &format!("\"index\":{index},"), 1));
    }
    let file = chained(&all);
    let started = std::time::Instant::now();
    let chain = Chain::parse(&file).unwrap();
    let took = started.elapsed();
    assert_eq!(chain.records().len(), 10_001);
    println!("10,000 charges in {took:?}, {} bytes", file.len());
    // The machine of a test may be busy with others.
    assert!(
        took.as_secs_f64() < if std::env::var_os("DPGLM_BUSY").is_some() { 20.0 } else { 1.0 },
        "{took:?}"
    );
}
