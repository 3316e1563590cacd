//! Both storages keep the same promises.

use crate::postgres::Cluster;
use dpglm_collect::storage::{
    self, Expiry, Opening, Outcome, Phase, Rule, Storage, StoredStudy, Submission, TokenHash,
};
use dpglm_collect::token::Token;

const RULE: Rule = Rule { target: 3, minimum: 2, seconds: 100, extensions: 1 };

fn rule(_: u32) -> Rule {
    RULE
}

fn study() -> StoredStudy {
    StoredStudy { text: "a study".into(), signature: "signed".into() }
}

fn opening(number: u32) -> Opening {
    Opening { number, deadline: 1_000, state: format!("{{\"round\":{number}}}") }
}

fn submission(token: &Token, round: u32, byte: u8) -> Submission {
    Submission { token: TokenHash::of(token), round, report: vec![byte; 22] }
}

/// A device that answers, and answers again.
fn devices_answer_once(storage: &mut dyn Storage) {
    storage.begin(&study(), &opening(1)).unwrap();
    storage.begin(&study(), &opening(1)).unwrap();
    let other = StoredStudy { text: "another study".into(), signature: "signed".into() };
    assert!(storage.begin(&other, &opening(1)).unwrap_err().to_string().contains("another study"));
    assert_eq!(storage.study().unwrap(), Some(study()));

    let tokens: Vec<Token> = (0..8).map(|_| Token::fresh().unwrap()).collect();
    let hashes: Vec<TokenHash> = tokens.iter().map(TokenHash::of).collect();
    storage.enroll(&hashes[..7]).unwrap();
    assert!(storage.enroll(&hashes[6..]).is_err(), "all or none");
    assert_eq!(storage.enrolled().unwrap(), 7);

    let stranger = Token::fresh().unwrap();
    let first = submission(&tokens[0], 1, 9);
    let batch = [
        first.clone(),
        first.clone(),                // a retry in the same batch
        submission(&tokens[0], 1, 8), // another report of the same device
        submission(&tokens[1], 1, 9), // the first device's bytes
        submission(&tokens[1], 2, 7), // a round that has not begun
        submission(&stranger, 1, 6),  // nobody
        submission(&tokens[7], 1, 6), // whose enrolment failed
        submission(&tokens[1], 0, 5), // a round before the first
    ];
    let expected = [
        Outcome::Accepted,
        Outcome::AlreadyCounted,
        Outcome::Duplicate,
        Outcome::Replayed,
        Outcome::WrongRound,
        Outcome::UnknownToken,
        Outcome::UnknownToken,
        Outcome::Late,
    ];
    assert_eq!(storage.accept(&batch, &rule).unwrap(), expected);
    // The same again changes nothing.
    let again: Vec<Outcome> =
        expected.iter().map(|&o| if o == Outcome::Accepted { Outcome::AlreadyCounted } else { o }).collect();
    assert_eq!(storage.accept(&batch, &rule).unwrap(), again);
    assert_eq!(storage.current().unwrap().count, 1);
    assert_eq!(storage.reports(1).unwrap(), [vec![9; 22]]);

    // The third report completes the round, in the middle of a batch.
    let batch: Vec<Submission> = (1..5).map(|i| submission(&tokens[i], 1, i as u8)).collect();
    let outcomes = storage.accept(&batch, &rule).unwrap();
    assert_eq!(outcomes, [Outcome::Accepted, Outcome::Accepted, Outcome::Late, Outcome::Late]);
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);
    assert_eq!(storage.reports(1).unwrap(), [vec![1; 22], vec![2; 22], vec![9; 22]], "sorted");
    assert!(!storage.seal(1).unwrap() && !storage.abandon(1).unwrap(), "no longer open");

    // It closes once.
    assert!(!storage.close(2, "{}", None).unwrap());
    assert!(storage.close(1, "{\"r\":1}", Some(&opening(2))).unwrap());
    assert!(!storage.close(1, "{\"r\":2}", Some(&opening(2))).unwrap());
    let rounds = storage.rounds().unwrap();
    assert_eq!(rounds.len(), 2);
    assert_eq!((rounds[0].phase, rounds[0].count), (Phase::Closed, 3));
    assert_eq!(rounds[0].result.as_deref(), Some("{\"r\":1}"));
    assert_eq!((rounds[1].phase, rounds[1].state.as_str()), (Phase::Open, "{\"round\":2}"));

    // A retry after the round is still told the truth; the late one is late.
    let outcomes = storage.accept(&[first, submission(&tokens[3], 1, 3)], &rule).unwrap();
    assert_eq!(outcomes, [Outcome::AlreadyCounted, Outcome::Late]);

    // The clock: nothing, one extension, the end.
    assert_eq!(storage.expire(999, &rule).unwrap(), Expiry::NotDue);
    assert_eq!(storage.expire(1_000, &rule).unwrap(), Expiry::Extended);
    assert_eq!(storage.current().unwrap().deadline, 1_100);
    assert_eq!(storage.expire(1_050, &rule).unwrap(), Expiry::NotDue);
    assert_eq!(storage.accept(&[submission(&tokens[3], 2, 3)], &rule).unwrap(), [Outcome::Accepted]);
    assert_eq!(storage.expire(1_100, &rule).unwrap(), Expiry::Abandoned);
    assert_eq!(storage.current().unwrap().phase, Phase::Abandoned);
    assert_eq!(storage.accept(&[submission(&tokens[4], 2, 4)], &rule).unwrap(), [Outcome::Late]);
    assert_eq!(storage.expire(9_999, &rule).unwrap(), Expiry::NotDue);
}

/// Many writers at once, each with its own connection: no report twice, no round above its target.
fn writers_agree(place: &str) {
    storage::open(place).unwrap().begin(&study(), &opening(1)).unwrap();
    let tokens: Vec<Token> = (0..120).map(|_| Token::fresh().unwrap()).collect();
    storage::open(place).unwrap().enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>()).unwrap();
    let target = |_: u32| Rule { target: 100, ..RULE };
    let accepted: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let tokens = &tokens;
                scope.spawn(move || {
                    let mut storage = storage::open(place).unwrap();
                    let mut accepted = 0;
                    for chunk in 0..12 {
                        // Every device is tried by every worker, with the same bytes.
                        let batch: Vec<Submission> = (0..10)
                            .map(|i| (chunk * 10 + i + worker * 37) % 120)
                            .map(|i| submission(&tokens[i], 1, i as u8))
                            .collect();
                        let outcomes = storage.accept(&batch, &target).unwrap();
                        accepted += outcomes.iter().filter(|&&o| o == Outcome::Accepted).count();
                    }
                    accepted
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(accepted, 100);
    let mut storage = storage::open(place).unwrap();
    assert_eq!(storage.reports(1).unwrap().len(), 100);
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);
    // Four closers: one wins.
    let wins: usize = std::thread::scope(|scope| {
        let closers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    storage::open(place).unwrap().close(1, "{}", Some(&opening(2))).unwrap() as usize
                })
            })
            .collect();
        closers.into_iter().map(|closer| closer.join().unwrap()).sum()
    });
    assert_eq!(wins, 1);
    assert_eq!(storage.rounds().unwrap().len(), 2);
}

#[test]
fn sqlite_keeps_its_promises() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    devices_answer_once(&mut *storage::open(&place("once")).unwrap());
    writers_agree(&place("many"));
    assert!(storage::open(&place("absent/study")).is_err());
}

#[test]
fn postgresql_keeps_its_promises() {
    let cluster = Cluster::start();
    devices_answer_once(&mut *storage::open(&cluster.database("once")).unwrap());
    writers_agree(&cluster.database("many"));
    // A connection lost in between is opened again.
    let url = cluster.database("restart");
    let mut storage = storage::open(&url).unwrap();
    storage.begin(&study(), &opening(1)).unwrap();
    cluster.restart();
    let reached = (0..20).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        storage.current().is_ok_and(|round| round.number == 1)
    });
    assert!(reached);
}
