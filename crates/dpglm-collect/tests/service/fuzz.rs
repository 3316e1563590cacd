//! Bodies that no device sends: each gets the status that its first fault deserves, and nothing changes.

use crate::running::{Draft, Running, code, head, post, request};
use dpglm::noise::RandomSource;
use dpglm_collect::storage;
use std::net::TcpStream;

const CASES: usize = 100_000;
const CONNECTIONS: usize = 4;

/// What the message format says about a body, written without the service's own reader.
fn expected(body: &[u8], good: &[u8], rounds: u16) -> (u16, &'static str) {
    if body.len() > 64 {
        return (413, "oversized");
    }
    let round = |bytes: &[u8]| u16::from(bytes[9]) + 256 * u16::from(bytes[10]);
    let well_formed = body.len() == 33
        && body[0] == 1
        && round(body) > 0
        && body[11] == 1
        && (body[12] == 1 || body[12] == 2);
    if !well_formed {
        return (400, "malformed");
    }
    if body[1..9] != good[1..9] {
        return (421, "wrong-study");
    }
    if round(body) > rounds {
        return (412, "wrong-round");
    }
    // The study's randomizer is Duchi's, whose index is 0 or 1.
    if body[12] != 1 || body[29] > 1 || body[30..] != [0, 0, 0] {
        return (400, "malformed");
    }
    (401, "token")
}

/// A body: noise, or a good message with something changed.
fn body(good: &[u8], rng: &mut RandomSource) -> Vec<u8> {
    let noise = |length: u64, rng: &mut RandomSource| -> Vec<u8> {
        (0..length).map(|_| rng.next_u32().to_le_bytes()[0]).collect()
    };
    let mut bytes = good.to_vec();
    match rng.below(8) {
        0 => {
            let length = rng.below(100);
            return noise(length, rng);
        }
        1 => return noise(33, rng),
        2 => bytes.truncate(rng.below(33) as usize),
        3 => {
            let more = 1 + rng.below(40);
            bytes.extend(noise(more, rng));
        }
        4 => {
            // Another report, seed and all.
            let fresh = noise(16, rng);
            bytes[13..29].copy_from_slice(&fresh);
        }
        flips => {
            for _ in 4..flips {
                let place = rng.below(33) as usize;
                bytes[place] ^= 1 << rng.below(8);
            }
        }
    }
    bytes
}

#[test]
fn fuzzed_bodies_get_their_status_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let device = running.enroll(1).remove(0).reveal();
    let good = running.message();
    let rounds = running.wait("the plan", |_| true)["planned_rounds"].as_u64().unwrap() as u16;
    let mut reader = running.storage();
    let before = (reader.rounds().unwrap(), reader.enrolled().unwrap());
    let stranger = "0".repeat(40);

    let seen: Vec<std::collections::BTreeMap<&str, usize>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|worker| {
                let (good, device, stranger) = (&good, &device, &stranger);
                let address = running.address;
                scope.spawn(move || {
                    let mut rng = RandomSource::insecure_seeded(0x66757a7a + worker as u64);
                    let mut stream = TcpStream::connect(address).unwrap();
                    let mut seen = std::collections::BTreeMap::new();
                    for _ in 0..CASES / CONNECTIONS {
                        let body = body(good, &mut rng);
                        let (status, reason) = expected(&body, good, rounds);
                        // Only bodies that must be refused travel with a token that could count them.
                        let token = if status == 401 { stranger } else { device };
                        let (answer, text) = request(&mut stream, &head(Some(token)), &body);
                        assert_eq!((answer, code(&text).as_str()), (status, reason), "{} bytes", body.len());
                        *seen.entry(reason).or_default() += 1;
                        if status == 413 {
                            // The service does not read the rest.
                            stream = TcpStream::connect(address).unwrap();
                        }
                    }
                    seen
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    for reason in ["oversized", "malformed", "wrong-study", "wrong-round", "token"] {
        let count: usize = seen.iter().filter_map(|part| part.get(reason)).sum();
        assert!(count > CASES / 1_000, "{reason}: {count} cases are too few to mean anything");
    }
    assert_eq!((reader.rounds().unwrap(), reader.enrolled().unwrap()), before);
    assert_eq!(storage::all_reports(&mut *reader, 1).unwrap(), Vec::<Vec<u8>>::new());
    // The device that all this was tried with can still answer.
    assert_eq!(post(running.address, Some(&device), &good).0, 201);
    assert!(!running.log.lock().unwrap().contains("panic"));
}
