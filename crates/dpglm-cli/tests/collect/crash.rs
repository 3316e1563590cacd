//! Servers die at random moments under load; what was acknowledged is there, once.
//!
//! `DPGLM_CRASHES` says how often servers are killed; `scripts/test` runs a short version.

use crate::postgres::Cluster;
use crate::process::{Prepared, Server, enroll, free_address, study_text};
use dpglm::noise::RandomSource;
use dpglm_collect::answer::Answer;
use dpglm_collect::client::{Place, Record, Service};
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::server::close_round;
use dpglm_collect::storage::{
    self, Access, Outcome, Phase, Request, Storage, Submission, Terms, TokenHash, all_reports,
};
use dpglm_collect::token::Token;
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

fn crashes() -> usize {
    std::env::var("DPGLM_CRASHES").ok().map_or(10, |text| text.parse().unwrap())
}

/// What a device was told in the end.
#[derive(Clone)]
struct Told {
    token: Token,
    message: Vec<u8>,
    answer: Answer,
}

/// Devices that answer one after the other over several threads until the study is over: each asks for a place, waits if it
/// must, makes one report and sends those bytes until it has a final answer.
struct Load<'a> {
    prepared: &'a Prepared,
    addresses: &'a [String],
    /// Devices that have not answered yet.
    waiting: Mutex<VecDeque<&'a Token>>,
    calm: AtomicBool,
    finished: AtomicBool,
}

impl<'a> Load<'a> {
    fn new(prepared: &'a Prepared, addresses: &'a [String], tokens: &'a [Token]) -> Self {
        let (calm, finished) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { prepared, addresses, waiting: Mutex::new(tokens.iter().collect()), calm, finished }
    }

    fn worker(&self, worker: usize) -> Vec<Told> {
        let services: Vec<Service> = self
            .addresses
            .iter()
            .map(|address| Service::new(&format!("http://{address}")).unwrap())
            .collect();
        let mut turn = worker;
        let mut service = || {
            turn += 1;
            &services[turn % services.len()]
        };
        let mut rng = RandomSource::from_os().unwrap();
        let record =
            Record { features: vec![0.5; self.prepared.accepted.study().features().len()], response: 1.0 };
        let mut told = Vec::new();
        loop {
            let Some(token) = self.waiting.lock().unwrap().pop_front() else {
                self.finished.store(true, Relaxed);
                return told;
            };
            let (round, state) = match service().reserve(token) {
                Ok(Place::Held { round, state, .. }) => (round, state),
                Ok(Place::Missed { .. }) => continue,
                // Its round is later, or the service is away: others first.
                Ok(Place::Wait { .. } | Place::Refused(Answer::Unavailable)) | Err(_) => {
                    self.waiting.lock().unwrap().push_back(token);
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Ok(Place::Refused(answer)) => panic!("a device that has not answered was told {answer:?}"),
            };
            let made = self.prepared.accepted.randomize(round, &state, &record, &mut rng).unwrap();
            let message = made.to_bytes();
            let answer = loop {
                match service().send(token, &message) {
                    Ok(answer) if !answer.retry() => break answer,
                    _ => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            told.push(Told { token: token.clone(), message, answer });
            if !self.calm.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(4));
            }
        }
    }
}

/// Every acknowledged report is stored once, nothing else is, and the estimate is that of an undisturbed run.
fn check(prepared: &Prepared, storage: &mut dyn Storage, told: &[Told], log: &str) {
    let protocol = StudyProtocol::new(prepared.accepted.study()).unwrap();
    let rounds = storage.rounds().unwrap();
    let mut stored = HashSet::new();
    for round in &rounds {
        let reports = all_reports(storage, round.number).unwrap();
        assert_eq!(round.phase, Phase::Closed);
        assert_eq!((reports.len() as u64, round.count), (protocol.rule(round.number).target, round.count));
        for report in reports {
            assert!(stored.insert((round.number, report)), "counted twice");
        }
        let closings = log.matches(&format!("round {}: closed with", round.number)).count();
        assert!(closings <= 1, "round {} was closed {closings} times", round.number);
    }
    let counted: Vec<&Told> =
        told.iter().filter(|told| matches!(told.answer, Answer::Accepted | Answer::AlreadyCounted)).collect();
    let round = |told: &Told| u32::from(told.message[9]) + 256 * u32::from(told.message[10]);
    let acknowledged: HashSet<(u32, Vec<u8>)> =
        counted.iter().map(|told| (round(told), told.message[11..].to_vec())).collect();
    assert_eq!(acknowledged.len(), counted.len());
    assert!(acknowledged == stored, "acknowledged {}, stored {}", acknowledged.len(), stored.len());
    // Whoever made a report had a place, so that nobody has spent for nothing.
    assert!(told.iter().all(|told| matches!(told.answer, Answer::Accepted | Answer::AlreadyCounted)));

    // The same reports, one after the other, in one process that nobody disturbs.
    let folder = tempfile::tempdir().unwrap();
    let mut calm = storage::open(&folder.path().join("calm").display().to_string(), Access::Serve).unwrap();
    let opening = |number, state| storage::Opening { number, deadline: u64::MAX >> 1, state };
    calm.begin(&storage.study().unwrap().unwrap(), &opening(1, protocol.first().unwrap())).unwrap();
    calm.enroll(&counted.iter().map(|told| TokenHash::of(&told.token)).collect::<Vec<_>>()).unwrap();
    for number in 1..=protocol.rounds() {
        let batch: Vec<Request> = counted
            .iter()
            .filter(|told| round(told) == number)
            .map(|told| {
                let report = told.message[11..].to_vec();
                Request::Report(Submission { token: TokenHash::of(&told.token), round: number, report })
            })
            .collect();
        let rule = |round| protocol.rule(round);
        let terms = Terms { rule: &rule, assigned: &|_| number, hold: 600, now: 0, current: true };
        assert!(calm.take(&batch, &terms).unwrap().iter().all(|&outcome| outcome == Outcome::Accepted));
        let current = calm.current().unwrap();
        assert!(close_round(&mut *calm, &protocol, &current, 0, &|| ()).unwrap());
    }
    let results = |rounds: Vec<storage::Round>| -> Vec<Option<String>> {
        rounds.into_iter().map(|round| round.result).collect()
    };
    assert_eq!(
        results(calm.rounds().unwrap()),
        results(rounds),
        "another estimate than the undisturbed run's"
    );
}

/// Enough reports for the load to outlast the kills.
fn size(kills: usize) -> usize {
    400 * kills.max(5)
}

const WORKERS: usize = 8;

/// Waits until the last round is summed.
fn all_closed(place: &str) {
    let started = Instant::now();
    let mut storage = storage::open(place, Access::Existing).unwrap();
    while storage.rounds().unwrap().iter().any(|round| round.phase != Phase::Closed) {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_killed_server_loses_nothing() {
    let kills = crashes();
    let reports = size(kills);
    let addresses = [free_address()];
    let prepared = Prepared::new(&study_text(&[&addresses[0]], 60, 1, reports, "duchi"));
    let place = prepared.sqlite();
    let mut server = Some(Server::start(&prepared.file, &place, &addresses[0]));
    // Enough for every round, however they are drawn.
    let tokens = enroll(&place, reports + reports / 4 + 500);
    let load = Load::new(&prepared, &addresses, &tokens);
    let mut rng = RandomSource::from_os().unwrap();
    let mut log = String::new();
    let mut done = 0;
    let mut told = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn({
                    let load = &load;
                    move || load.worker(worker)
                })
            })
            .collect();
        while done < kills {
            assert!(!load.finished.load(Relaxed), "the study ended after {done} kills: give it more reports");
            std::thread::sleep(Duration::from_millis(rng.below(120)));
            log += &server.take().unwrap().kill();
            done += 1;
            server = Some(Server::start(&prepared.file, &place, &addresses[0]));
        }
        load.calm.store(true, Relaxed);
        told = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    });
    all_closed(&place);
    log += &server.take().unwrap().kill();
    println!("{done} kills, {} devices told", told.len());
    let checked = |told: &[Told], log: &str| {
        let attempt = || check(&prepared, &mut *storage::open(&place, Access::Existing).unwrap(), told, log);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)).is_ok()
    };
    assert!(checked(&told, &log));
    assert!(!log.contains("panicked"));

    // The check itself: it must notice a lost report, one that nobody acknowledged, and a round closed twice.
    let counted = told.iter().position(|told| told.answer == Answer::Accepted).unwrap();
    let mut lost = Told { token: Token::fresh().unwrap(), ..told[counted].clone() };
    lost.message[20] ^= 1;
    told.push(lost);
    assert!(!checked(&told, &log));
    told.pop();
    let unnoticed = told.remove(counted);
    assert!(!checked(&told, &log));
    told.push(unnoticed);
    assert!(!checked(
        &told,
        &format!("{log}round 1: closed with 5 reports\nround 1: closed with 5 reports\n")
    ));
    assert!(checked(&told, &log));
}

/// Two servers behind one study, the database restarted in the middle, and servers killed as well.
#[test]
fn a_restarted_database_loses_nothing() {
    // A database takes long to start again: few times, unless as many were asked for.
    let kills = if std::env::var_os("DPGLM_CRASHES").is_some() { crashes() } else { 4 };
    let reports = size(2 * kills);
    let addresses = vec![free_address(), free_address()];
    let prepared = Prepared::new(&study_text(&[&addresses[0], &addresses[1]], 60, 1, reports, "duchi"));
    let cluster = Cluster::start();
    let place = cluster.database("study");
    let start = |listen: &str| Server::start(&prepared.file, &place, listen);
    let mut servers = vec![start(&addresses[0]), start(&addresses[1])];
    let tokens = enroll(&place, reports + reports / 4 + 500);
    let load = Load::new(&prepared, &addresses, &tokens);
    let mut rng = RandomSource::from_os().unwrap();
    let mut log = String::new();
    let mut told = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn({
                    let load = &load;
                    move || load.worker(worker)
                })
            })
            .collect();
        for kill in 0..kills {
            assert!(!load.finished.load(Relaxed), "the study ended after {kill} kills: give it more reports");
            std::thread::sleep(Duration::from_millis(rng.below(300)));
            let which = kill % 2;
            log += &servers.remove(which).kill();
            servers.insert(which, start(&addresses[which]));
            if kill % 3 == 1 {
                cluster.restart();
            }
        }
        load.calm.store(true, Relaxed);
        told = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    });
    all_closed(&place);
    for server in servers {
        log += &server.kill();
    }
    println!("{kills} kills, {} devices told", told.len());
    check(&prepared, &mut *storage::open(&place, Access::Existing).unwrap(), &told, &log);
}
