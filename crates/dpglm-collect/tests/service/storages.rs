//! Both storages keep the same promises.

use crate::postgres::Cluster;
use dpglm_collect::storage::{
    self, Access, Expiry, Opening, Outcome, Phase, Request, Rule, Storage, StoredStudy, Submission, Terms,
    TokenHash, all_reports,
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

fn submission(token: &Token, round: u32, byte: u8) -> Request {
    Request::Report(Submission { token: TokenHash::of(token), round, report: vec![byte; 22] })
}

/// Where everybody answers in the current round, without a place.
fn take(storage: &mut dyn Storage, batch: &[Request], rule: &dyn Fn(u32) -> Rule) -> Vec<Outcome> {
    let current = storage.current().unwrap().number;
    let terms = Terms { rule, assigned: &|_| current, hold: 100, now: 500, current: true };
    storage.take(batch, &terms).unwrap()
}

/// The whole life of a place: given, kept, used, lapsed; under a target, over a restart, at a deadline.
fn places_are_held(open: &dyn Fn() -> Box<dyn Storage>) {
    let mut storage = open();
    storage.begin(&study(), &opening(1)).unwrap();
    let tokens: Vec<Token> = (0..6).map(|_| Token::fresh().unwrap()).collect();
    let hashes: Vec<TokenHash> = tokens.iter().map(TokenHash::of).collect();
    storage.enroll(&hashes).unwrap();
    let ask = |storage: &mut dyn Storage, now: u64, batch: &[Request]| {
        let assigned = |token: &TokenHash| if *token == hashes[5] { 2 } else { 1 };
        storage
            .take(batch, &Terms { rule: &rule, assigned: &assigned, hold: 100, now, current: true })
            .unwrap()
    };
    let place = |device: usize| Request::Reserve(hashes[device]);
    let given = ask(&mut *storage, 100, &[place(0), place(1), place(2), place(3), place(5), place(0)]);
    use Outcome::{Accepted, Duplicate, Late, Missed, Reserved, UnknownToken, Wait};
    assert_eq!(
        given,
        [Reserved(1, 100), Reserved(1, 100), Reserved(1, 100), Wait(1), Wait(2), Reserved(1, 100)]
    );
    assert_eq!(storage.held(100).unwrap(), 3);
    // A restart forgets no place.
    drop(storage);
    let mut storage = open();
    assert_eq!(storage.held(150).unwrap(), 3);
    assert_eq!(ask(&mut *storage, 150, &[place(3), submission(&tokens[3], 1, 3)]), [Wait(1), Late]);
    assert_eq!(ask(&mut *storage, 150, &[submission(&tokens[0], 1, 1), place(0)]), [Accepted, Duplicate]);
    assert_eq!(storage.held(150).unwrap(), 2);
    // The others lapse some time after they were told; then there is room, and a report whose place has lapsed still counts.
    assert_eq!(storage.held(200).unwrap(), 2);
    assert_eq!(storage.held(300).unwrap(), 0);
    assert_eq!(
        ask(&mut *storage, 300, &[place(3), submission(&tokens[1], 1, 2)]),
        [Reserved(1, 100), Accepted]
    );
    assert_eq!(ask(&mut *storage, 300, &[place(4)]), [Wait(1)], "two reports and one place make three");
    assert_eq!(
        ask(&mut *storage, 300, &[submission(&tokens[2], 1, 5)]),
        [Accepted],
        "a lapsed place in an open round"
    );
    // Complete, but a place is out: the round is not sealed under its holder.
    assert_eq!(storage.current().unwrap().phase, Phase::Open);
    assert_eq!(storage.expire(300, &rule).unwrap(), Expiry::NotDue);
    assert_eq!(ask(&mut *storage, 310, &[submission(&tokens[3], 1, 6)]), [Accepted]);
    assert_eq!((storage.current().unwrap().phase, storage.current().unwrap().count), (Phase::Closing, 4));
    assert_eq!(ask(&mut *storage, 310, &[place(4)]), [Missed(1)]);
    assert!(storage.close(1, "{}", Some(&opening(2))).unwrap());
    // At the deadline no place is given; one that is held is waited for.
    assert_eq!(ask(&mut *storage, 990, &[place(5)]), [Reserved(2, 100)]);
    assert_eq!(storage.expire(1_000, &rule).unwrap(), Expiry::NotDue);
    // Asking again after the deadline keeps the place for the time it has left, and no longer.
    assert_eq!(ask(&mut *storage, 1_050, &[place(5)]), [Reserved(2, 41)]);
    assert_eq!(ask(&mut *storage, 1_100, &[place(5)]), [Wait(2)]);
    assert_eq!(storage.expire(1_200, &rule).unwrap(), Expiry::Extended);
    // A revoked token is unknown; what was counted stays.
    assert_eq!(storage.revoke(&[hashes[5], TokenHash::of(&Token::fresh().unwrap())]).unwrap(), 1);
    assert_eq!(
        ask(&mut *storage, 1_201, &[place(5), submission(&tokens[5], 2, 7)]),
        [UnknownToken, UnknownToken]
    );
    assert_eq!(storage.revoke(&[hashes[0]]).unwrap(), 1);
    assert_eq!(ask(&mut *storage, 1_201, &[submission(&tokens[0], 1, 1)]), [Outcome::AlreadyCounted]);
    // Given up, and taken back.
    assert!(storage.abandon(2).unwrap() && storage.extend(2, 5_000).unwrap());
    assert_eq!((storage.current().unwrap().phase, storage.current().unwrap().deadline), (Phase::Open, 5_000));
    assert!(storage.finish(2, 2_000).unwrap() && !storage.extend(1, 9_000).unwrap());
    assert_eq!(storage.current().unwrap().deadline, 2_000);
    let assignment = storage.assignment().unwrap();
    assert_eq!((open().assignment().unwrap() == assignment, assignment.first()), (true, 1));
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
        submission(&tokens[1], 0, 5), // no round
    ];
    let expected = [
        Outcome::Accepted,
        Outcome::AlreadyCounted,
        Outcome::Duplicate,
        Outcome::Replayed,
        Outcome::WrongRound,
        Outcome::UnknownToken,
        Outcome::UnknownToken,
        Outcome::WrongRound,
    ];
    assert_eq!(take(storage, &batch, &rule), expected);
    // The same again changes nothing.
    let again: Vec<Outcome> =
        expected.iter().map(|&o| if o == Outcome::Accepted { Outcome::AlreadyCounted } else { o }).collect();
    assert_eq!(take(storage, &batch, &rule), again);
    assert_eq!(storage.current().unwrap().count, 1);
    assert_eq!(all_reports(storage, 1).unwrap(), [vec![9; 22]]);

    // The third report completes the round, in the middle of a batch.
    let batch: Vec<Request> = (1..5).map(|i| submission(&tokens[i], 1, i as u8)).collect();
    let outcomes = take(storage, &batch, &rule);
    assert_eq!(outcomes, [Outcome::Accepted, Outcome::Accepted, Outcome::Late, Outcome::Late]);
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);
    assert_eq!(all_reports(storage, 1).unwrap(), [vec![1; 22], vec![2; 22], vec![9; 22]], "sorted");
    assert!(!storage.finish(1, 0).unwrap() && !storage.abandon(1).unwrap(), "no longer open");

    // It closes once.
    assert!(!storage.close(2, "{}", None).unwrap());
    assert!(storage.close(1, "{\"r\":1}", Some(&opening(2))).unwrap());
    assert!(!storage.close(1, "{\"r\":2}", Some(&opening(2))).unwrap());
    let rounds = storage.rounds().unwrap();
    assert_eq!(rounds.len(), 2);
    assert_eq!((rounds[0].phase, rounds[0].count), (Phase::Closed, 3));
    assert_eq!(rounds[0].result.as_deref(), Some("{\"r\":1}"));
    assert_eq!((rounds[1].phase, rounds[1].state.as_str()), (Phase::Open, "{\"round\":2}"));

    // A retry after the round is still told the truth; a report for that round is not for this one.
    let outcomes = take(storage, &[first, submission(&tokens[3], 1, 3)], &rule);
    assert_eq!(outcomes, [Outcome::AlreadyCounted, Outcome::WrongRound]);

    // The clock: nothing, one extension, the end.
    assert_eq!(storage.expire(999, &rule).unwrap(), Expiry::NotDue);
    assert_eq!(storage.expire(1_000, &rule).unwrap(), Expiry::Extended);
    assert_eq!(storage.current().unwrap().deadline, 1_100);
    assert_eq!(storage.expire(1_050, &rule).unwrap(), Expiry::NotDue);
    assert_eq!(take(storage, &[submission(&tokens[3], 2, 3)], &rule), [Outcome::Accepted]);
    assert_eq!(storage.expire(1_100, &rule).unwrap(), Expiry::Abandoned);
    assert_eq!(storage.current().unwrap().phase, Phase::Abandoned);
    assert_eq!(take(storage, &[submission(&tokens[4], 2, 4)], &rule), [Outcome::Late]);
    assert_eq!(storage.expire(9_999, &rule).unwrap(), Expiry::NotDue);
}

/// Many writers at once, each with its own connection: no report twice, no round above its target.
fn writers_agree(place: &str) {
    storage::open(place, Access::Serve).unwrap().begin(&study(), &opening(1)).unwrap();
    let tokens: Vec<Token> = (0..120).map(|_| Token::fresh().unwrap()).collect();
    storage::open(place, Access::Serve)
        .unwrap()
        .enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>())
        .unwrap();
    let target = |_: u32| Rule { target: 100, ..RULE };
    let accepted: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let tokens = &tokens;
                scope.spawn(move || {
                    let mut storage = storage::open(place, Access::Serve).unwrap();
                    let mut accepted = 0;
                    for chunk in 0..12 {
                        // Every device is tried by every worker, with the same bytes.
                        let batch: Vec<Request> = (0..10)
                            .map(|i| (chunk * 10 + i + worker * 37) % 120)
                            .map(|i| submission(&tokens[i], 1, i as u8))
                            .collect();
                        let outcomes = take(&mut *storage, &batch, &target);
                        accepted += outcomes.iter().filter(|&&o| o == Outcome::Accepted).count();
                    }
                    accepted
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(accepted, 100);
    let mut storage = storage::open(place, Access::Serve).unwrap();
    assert_eq!(all_reports(&mut *storage, 1).unwrap().len(), 100);
    assert_eq!(storage.current().unwrap().phase, Phase::Closing);
    // Four closers: one wins.
    let wins: usize = std::thread::scope(|scope| {
        let closers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    storage::open(place, Access::Serve).unwrap().close(1, "{}", Some(&opening(2))).unwrap()
                        as usize
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
    devices_answer_once(&mut *storage::open(&place("once"), Access::Serve).unwrap());
    writers_agree(&place("many"));
    assert!(storage::open(&place("absent/study"), Access::Serve).is_err());
    places_are_held(&|| storage::open(&place("held"), Access::Serve).unwrap());
    // The owner alone reads it, its log as well.
    #[cfg(unix)]
    for name in ["held", "held-wal"] {
        use std::os::unix::fs::PermissionsExt;
        let _open = storage::open(&place("held"), Access::Existing).unwrap();
        assert_eq!(std::fs::metadata(place(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    // A mistyped name creates nothing.
    let error = storage::open(&place("hold"), Access::Existing).err().unwrap().to_string();
    assert!(error.contains("cannot open") && !folder.path().join("hold").exists(), "{error}");
}

#[test]
fn postgresql_keeps_its_promises() {
    let cluster = Cluster::start();
    devices_answer_once(&mut *storage::open(&cluster.database("once"), Access::Serve).unwrap());
    writers_agree(&cluster.database("many"));
    let held = cluster.database("held");
    places_are_held(&|| storage::open(&held, Access::Serve).unwrap());
    let error = storage::open(&cluster.database("empty"), Access::Existing).err().unwrap().to_string();
    assert!(error.contains("there is no study"), "{error}");
    // A connection lost in between is opened again.
    let url = cluster.database("restart");
    let mut storage = storage::open(&url, Access::Serve).unwrap();
    storage.begin(&study(), &opening(1)).unwrap();
    cluster.restart();
    let reached = (0..20).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        storage.current().is_ok_and(|round| round.number == 1)
    });
    assert!(reached);
}
