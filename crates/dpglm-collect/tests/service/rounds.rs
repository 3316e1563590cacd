//! Rounds close by count or by time, once, and the estimate is that of the reports.

use crate::running::{Draft, Running, post};
use dpglm_collect::client::Record;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::simulate::Simulation;
use dpglm_collect::storage::{self, Outcome, Phase, Submission, TokenHash};

fn place(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// A whole study by simulated devices; its estimate is that of the stored reports, summed anew.
#[test]
fn a_study_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft { reports: 600, randomizer: "privunit", ..Draft::default() };
    let running = Running::start(&place(&folder, "s"), &draft);
    let tokens = running.enroll(600);
    let records: Vec<Record> = (0..600)
        .map(|i| Record { features: vec![f64::from(i % 2) * 2.0 - 1.0, 0.1, 0.2, f64::NAN], response: 1.0 })
        .collect();
    let (client, said) = (running.client(), std::cell::RefCell::new(Vec::new()));
    let simulation = Simulation {
        service: &client,
        accepted: &running.accepted,
        tokens: &tokens,
        records: &records,
        connections: 8,
    };
    let measured = simulation.run(&|line| said.borrow_mut().push(line.to_owned())).unwrap();
    assert_eq!((measured.accepted, measured.refused), (600, 0));
    assert_eq!(measured.latencies.len(), 600);
    assert!(measured.quantile(0.5) <= measured.quantile(0.99) && measured.rate() > 0.0);

    let status = running.wait("the end", |status| status["standing"] == "finished");
    let protocol = StudyProtocol::new(running.accepted.study()).unwrap();
    let mut reader = storage::open(&running.place).unwrap();
    let rounds = reader.rounds().unwrap();
    assert_eq!(rounds.len(), said.borrow().len());
    let mut state = protocol.first().unwrap();
    for round in &rounds {
        assert_eq!((round.phase, round.count), (Phase::Closed, protocol.rule(round.number).target));
        assert_eq!(round.state, state);
        let closed = protocol.close_round(&state, &reader.reports(round.number).unwrap()).unwrap();
        assert_eq!(round.result.as_ref(), Some(&closed.result));
        state = closed.result;
    }
    let estimate = serde_json::to_value(protocol.estimate(Some(&state)).unwrap()).unwrap();
    assert_eq!(status["estimate"], estimate);
    let page = running.client().get("/status").unwrap();
    assert!(page.contains("All rounds are closed.") && page.contains("epsilon = 2"));
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
        let running = Running::serve(&place, study.clone(), key, None);
        let tokens = running.enroll(target);
        let messages: Vec<Vec<u8>> = tokens.iter().map(|_| running.message()).collect();
        (tokens, messages)
    };
    let mut storage = storage::open(&place).unwrap();
    let batch: Vec<Submission> = tokens
        .iter()
        .zip(&messages)
        .map(|(token, message)| Submission {
            token: TokenHash::of(token),
            round: 1,
            report: message[11..].to_vec(),
        })
        .collect();
    let outcomes = storage.accept(&batch, &|round| protocol.rule(round)).unwrap();
    assert!(outcomes.iter().all(|&outcome| outcome == Outcome::Accepted));
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);

    let running = Running::serve(&place, study, key, None);
    running.wait("the second round", |status| status["rounds"].as_array().unwrap().len() == 2);
    let closed = protocol.close_round(&protocol.first().unwrap(), &storage.reports(1).unwrap()).unwrap();
    assert_eq!(storage.rounds().unwrap()[0].result, Some(closed.result));
}

/// The order of arrival does not enter: the storage sorts, and the sum is the same to the last bit.
#[test]
fn sums_do_not_depend_on_the_order_of_arrival() {
    let (study, key) = Draft { reports: 90, ..Draft::default() }.sign();
    let protocol = StudyProtocol::new(study.unverified()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = protocol.rule(1).target as usize;
    let (tokens, messages): (Vec<_>, Vec<_>) = {
        let running = Running::serve(&place(&folder, "made"), study.clone(), key, None);
        (0..target).map(|_| (dpglm_collect::token::Token::fresh().unwrap(), running.message())).unzip()
    };
    let results: Vec<Option<String>> = ["forward", "backward"]
        .iter()
        .map(|order| {
            let running = Running::serve(&place(&folder, order), study.clone(), key, None);
            storage::open(&running.place)
                .unwrap()
                .enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>())
                .unwrap();
            for i in 0..target {
                let i = if *order == "forward" { i } else { target - 1 - i };
                // Whose report it is does not matter either.
                let owner = &tokens[if *order == "forward" { i } else { (i + 1) % target }];
                assert_eq!(post(running.address, Some(&owner.reveal()), &messages[i]).0, 201);
            }
            running.wait("round 1", |status| status["rounds"][0]["phase"] == "closed");
            storage::open(&running.place).unwrap().rounds().unwrap().remove(0).result
        })
        .collect();
    assert!(results[0].is_some());
    assert_eq!(results[0], results[1]);
}
