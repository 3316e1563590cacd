//! Rounds close by count or by time, once, and the estimate is that of the reports.

use crate::running::{Draft, Running, post, take};
use dpglm_collect::client::Record;
use dpglm_collect::protocol::{Assignment, StudyProtocol};
use dpglm_collect::server::{sum_round, system_clock};
use dpglm_collect::simulate::Simulation;
use dpglm_collect::storage::{self, Access, Outcome, Phase, Request, Submission, TokenHash};
use dpglm_collect::token::Token;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn place(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn records(count: usize) -> Vec<Record> {
    (0..count)
        .map(|i| Record { features: vec![(i % 2) as f64 * 2.0 - 1.0, 0.1, 0.2, f64::NAN], response: 1.0 })
        .collect()
}

/// A whole study by simulated devices; its estimate is that of the stored reports, summed again. Devices arrive in a burst and
/// think before they send: nobody who has spent is turned away.
#[test]
fn a_study_runs_to_its_end_and_nobody_spends_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft { reports: 600, randomizer: "privunit", ..Draft::default() };
    let running = Running::start(&place(&folder, "s"), &draft);
    // Rounds are drawn, so that more devices are enrolled than answer: four deviations of the smallest round.
    let (tokens, records) = (running.enroll_any(900), records(900));
    let client = running.client();
    let simulation = Simulation {
        service: &client,
        accepted: &running.accepted,
        tokens: &tokens,
        records: &records,
        connections: 8,
        arrivals: Duration::from_millis(200),
        think: Duration::from_millis(300),
        poll: Duration::from_millis(50),
        patience: Duration::from_secs(5),
    };
    let measured = simulation.run().unwrap();
    assert_eq!(
        (measured.accepted, measured.refused, measured.turned_away, measured.waiting),
        (600, 0, 300, 0)
    );
    assert_eq!(measured.latencies.len(), 600);
    assert!(measured.quantile(0.5) <= measured.quantile(0.99) && measured.rate() > 0.0);

    let status = running.wait("the end", |status| status["standing"] == "finished");
    let protocol = StudyProtocol::new(running.accepted.study()).unwrap();
    let mut reader = running.storage();
    let rounds = reader.rounds().unwrap();
    assert_eq!(rounds.len(), protocol.rounds() as usize);
    let mut state = protocol.first().unwrap();
    for round in &rounds {
        assert_eq!((round.phase, round.count), (Phase::Closed, protocol.rule(round.number).target));
        assert_eq!(round.state, state);
        let closed = sum_round(&mut *reader, &protocol, round, &|| ()).unwrap();
        assert_eq!(round.result.as_ref(), Some(&closed.result));
        state = closed.result;
    }
    let estimate = serde_json::to_value(protocol.estimate(Some(&state)).unwrap()).unwrap();
    assert_eq!(status["estimate"], estimate);
    let page = running.client().get("/status").unwrap();
    assert!(page.contains("All rounds are closed.") && page.contains("epsilon = 2"));
}

/// A device answers in the round that was drawn for it, and in no other; before and after, it is told so and spends nothing.
#[test]
fn rounds_are_drawn_and_not_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&place(&folder, "s"), &Draft::default());
    let (first, second) = (running.enroll_in(1, 40), running.enroll_in(2, 1).remove(0));
    assert_eq!(running.reserve(&second), (202, "wait".into(), 2));
    assert_eq!(
        post(running.address, Some(&second.reveal()), &running.message()),
        (412, "wrong-round".into())
    );
    assert_eq!(
        running.reserve(&Token::fresh().unwrap()).1,
        "token",
        "a mistyped token is noticed before anything is spent"
    );
    let protocol = StudyProtocol::new(running.accepted.study()).unwrap();
    let target = protocol.rule(1).target as usize;
    assert!(target < 40);
    for token in &first[..target] {
        assert_eq!(running.reserve(token), (200, "reserved".into(), 1));
    }
    // All places are held: another waits, and a report without a place is not counted.
    assert_eq!(running.reserve(&first[target]), (202, "wait".into(), 1));
    assert_eq!(
        post(running.address, Some(&first[target].reveal()), &running.message()),
        (410, "late".into())
    );
    assert_eq!(running.reserve(&first[0]), (200, "reserved".into(), 1), "its own place again");
    for token in &first[..target] {
        assert_eq!(
            post(running.address, Some(&token.reveal()), &running.message()),
            (201, "accepted".into())
        );
    }
    running.wait("the second round", |status| status["rounds"].as_array().unwrap().len() == 2);
    assert_eq!(running.reserve(&first[target]), (410, "missed".into(), 1));
    assert_eq!(running.reserve(&first[0]).1, "duplicate");
    assert_eq!(running.reserve(&second), (200, "reserved".into(), 2));
    // Devices are spread in proportion to the rounds' sizes, differently for every study's secret.
    let assignment = Assignment::fresh(1).unwrap();
    let mut counts = vec![0_u64; protocol.rounds() as usize];
    let tokens: Vec<TokenHash> = (0..20_000).map(|_| TokenHash::of(&Token::fresh().unwrap())).collect();
    for token in &tokens {
        counts[protocol.assigned(&assignment, token) as usize - 1] += 1;
    }
    for (place, &count) in counts.iter().enumerate() {
        let share = protocol.rule(place as u32 + 1).target as f64 / 60.0;
        // Five deviations of a binomial count.
        let limit = 5.0 * (20_000.0 * share * (1.0 - share)).sqrt();
        assert!((count as f64 - 20_000.0 * share).abs() < limit, "{counts:?}");
    }
    let other = Assignment::fresh(1).unwrap();
    assert!(
        tokens.iter().any(|token| protocol.assigned(&assignment, token) != protocol.assigned(&other, token))
    );
    // After a change of secret in the middle of a study, those who are left go to the rounds that are left.
    let late = Assignment::fresh(2).unwrap();
    assert!(tokens.iter().all(|token| protocol.assigned(&late, token) >= 2));
}

/// A clock that is three days ahead for a moment ends nothing; without the guard it would abandon the study.
#[test]
fn a_clock_that_jumps_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (study, key) = Draft { extensions: 0, ..Draft::default() }.sign();
    let ahead = Arc::new(AtomicU64::new(0));
    let (jump, wall) = (ahead.clone(), system_clock());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut running = Running::with(listener, study.clone(), key, &place(&folder, "s"), |config| {
        config.wall = Arc::new(move || wall() + jump.load(Ordering::Relaxed));
    });
    ahead.store(3 * 86_400, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(1_500));
    ahead.store(0, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(500));
    let status = running.wait("the status", |_| true);
    assert_eq!((&status["standing"], &status["rounds"][0]["phase"]), (&"collecting".into(), &"open".into()));
    assert!(running.log.lock().unwrap().contains("level=warn event=clock"), "the operator is told");
    running.stop();
    // The check itself: a service that starts with the wrong clock does end it, and the operator can take that back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let wall = system_clock();
    let running = Running::with(listener, study, key, &place(&folder, "s"), |config| {
        config.wall = Arc::new(move || wall() + 3 * 86_400);
    });
    running.wait("the end", |status| status["standing"] == "ended");
    let token = running.enroll(1).remove(0);
    assert_eq!(running.reserve(&token).1, "missed");
    assert!(running.storage().extend(1, u64::MAX >> 2).unwrap());
    running.wait("the reopened round", |status| status["standing"] == "collecting");
    assert_eq!(running.reserve(&token).1, "reserved");
}

/// Places that are out are waited for at the deadline: their devices may have spent.
#[test]
fn a_round_waits_for_the_places_that_are_held() {
    let folder = tempfile::tempdir().unwrap();
    // Two seconds a round.
    let draft = Draft { minimum: 1, hours: 2.0 / 3600.0, extensions: 0, ..Draft::default() };
    let running = Running::start(&place(&folder, "s"), &draft);
    let tokens = running.enroll(2);
    assert_eq!(running.reserve(&tokens[0]).1, "reserved");
    let message = running.message();
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(running.reserve(&tokens[1]).1, "wait", "no new places after the deadline");
    assert_eq!(post(running.address, Some(&tokens[0].reveal()), &message), (201, "accepted".into()));
    running.wait("round 1 by time", |status| status["rounds"][0]["phase"] == "closed");
}

/// A round that is due closes with its minimum, is extended without, and ends the study in the end.
#[test]
fn rounds_end_by_time() {
    let folder = tempfile::tempdir().unwrap();
    // Two seconds a round.
    let draft = Draft { reports: 600, minimum: 2, hours: 2.0 / 3600.0, extensions: 1, ..Draft::default() };
    let running = Running::start(&place(&folder, "s"), &draft);
    for token in running.enroll(2) {
        assert_eq!(post(running.address, Some(&token.reveal()), &running.message()).0, 201);
    }
    running.wait("round 1 by time", |status| status["rounds"][0]["phase"] == "closed");
    let status = running.wait("the end", |status| status["standing"] == "ended");
    assert_eq!(status["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(status["rounds"][1]["extensions"], 1);
    assert_eq!(status["rounds"][1]["phase"], "abandoned");
    let log = running.log.lock().unwrap().clone();
    assert!(log.contains("round 2: too few reports, extended"));
    assert!(log.contains("round 2: too few reports, the study has ended"), "{log}");
}

/// A server that died while summing leaves a round `closing`; the next one sums it.
#[test]
fn a_round_left_closing_is_summed_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (study, key) = Draft::default().sign();
    let protocol = StudyProtocol::new(study.unverified()).unwrap();
    let place = place(&folder, "s");
    let target = protocol.rule(1).target as usize;
    // A service that takes reports, and then stops; the round is sealed behind its back, as a dying server does.
    let (tokens, messages) = {
        let running = Running::serve(&place, study.clone(), key);
        let tokens = running.enroll(target);
        let messages: Vec<Vec<u8>> = tokens.iter().map(|_| running.message()).collect();
        (tokens, messages)
    };
    let mut storage = storage::open(&place, Access::Existing).unwrap();
    let batch: Vec<Request> = tokens
        .iter()
        .zip(&messages)
        .map(|(token, message)| {
            let report = message[11..].to_vec();
            Request::Report(Submission { token: TokenHash::of(token), round: 1, report })
        })
        .collect();
    let outcomes = take(&mut *storage, &protocol, &batch, 1_000);
    assert!(outcomes.iter().all(|&outcome| outcome == Outcome::Accepted));
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);

    let running = Running::serve(&place, study, key);
    running.wait("the second round", |status| status["rounds"].as_array().unwrap().len() == 2);
    let first = storage.rounds().unwrap().remove(0);
    let closed = sum_round(&mut *storage, &protocol, &first, &|| ()).unwrap();
    assert_eq!(first.result, Some(closed.result));
}

/// The order of arrival does not enter, nor whose report it is: the sum is the same to the last bit.
#[test]
fn sums_do_not_depend_on_the_order_of_arrival() {
    let (study, key) = Draft { reports: 90, ..Draft::default() }.sign();
    let protocol = StudyProtocol::new(study.unverified()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = protocol.rule(1).target as usize;
    let messages: Vec<Vec<u8>> = {
        let running = Running::serve(&place(&folder, "made"), study.clone(), key);
        (0..target).map(|_| running.message()).collect()
    };
    let results: Vec<Option<String>> = ["forward", "backward"]
        .iter()
        .map(|order| {
            let running = Running::serve(&place(&folder, order), study.clone(), key);
            let tokens = running.enroll(target);
            for (i, token) in tokens.iter().enumerate() {
                let i = if *order == "forward" { i } else { target - 1 - i };
                assert_eq!(post(running.address, Some(&token.reveal()), &messages[i]).0, 201);
            }
            running.wait("round 1", |status| status["rounds"][0]["phase"] == "closed");
            running.storage().rounds().unwrap().remove(0).result
        })
        .collect();
    assert!(results[0].is_some());
    assert_eq!(results[0], results[1]);
}
