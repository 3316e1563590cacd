//! Ledgers under several processes, and under one that is killed.
//!
//! `DPGLM_CRASHES` sets how often.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use dpglm::accounting::filter::Rule;
use dpglm::privacy::{Adjacency, Budget, Event, Noise};
use dpglm_ledger::{Chain, Charge, Error, Ledger, Terms};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set in a process that is to spend from the ledger of this name, as often as the second word says.
const SPEND: &str = "DPGLM_TEST_SPEND";

fn charge(purpose: &str, sigma: f64) -> Charge {
    let noise = Noise::Gaussian { sensitivity: 1.0, sigma };
    Charge {
        what: "fit".into(),
        data: "people.csv".into(),
        fingerprint: None,
        purpose: purpose.into(),
        protects: Adjacency::ReplaceRow,
        assuming: Vec::new(),
        events: vec![Event::new("mean", noise, 1).unwrap()],
        parts: Vec::new(),
    }
}

fn ledger(path: &Path) -> Ledger {
    let budget = Budget::new(4.0, 1e-6).unwrap();
    let terms = Terms::new("tests", Adjacency::ReplaceRow, budget, 0.0, Rule::Gdp).unwrap();
    Ledger::create(path, &terms).unwrap()
}

/// So much noise that this many charges fit, and no more.
fn sigma_for(ledger: &Ledger, count: usize) -> f64 {
    let limit = ledger.read().unwrap().filter().limit().loss;
    ((count as f64 + 0.5) / limit).sqrt()
}

/// Charges as often as it is told, and prints every answer when it has it.
#[test]
fn child() {
    let Ok(told) = std::env::var(SPEND) else { return };
    let words: Vec<&str> = told.split('|').collect();
    let [path, count, sigma, name] = words.as_slice() else { panic!("{told}") };
    let ledger = Ledger::open(Path::new(path)).unwrap();
    for k in 0..count.parse::<usize>().unwrap() {
        let answer = match ledger.charge(&charge(&format!("{name} {k}"), sigma.parse().unwrap())) {
            Ok(receipt) => {
                ledger.finish(&receipt, "0".repeat(64), "0".repeat(64)).unwrap();
                "paid"
            }
            Err(Error::Exceeds { .. }) => "full",
            Err(error) => panic!("{error}"),
        };
        println!("\n{answer}");
        std::io::stdout().flush().unwrap();
    }
}

fn spend(path: &Path, count: usize, sigma: f64, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(SPEND, format!("{}|{count}|{sigma}|{name}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How often a child said that it paid, and that there was no room.
fn answers(child: &mut Child) -> (usize, usize) {
    let said: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    let count = |word: &str| said.iter().filter(|line| *line == word).count();
    (count("paid"), count("full"))
}

fn charges(chain: &Chain) -> usize {
    (0..chain.records().len()).filter(|at| chain.charge(*at).is_some()).count()
}

/// Two processes ask 1,000 times for what fits 600 times.
#[test]
fn two_processes_never_spend_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("race.ledger");
    let ledger = ledger(&path);
    let sigma = sigma_for(&ledger, 600);
    let mut both = [spend(&path, 500, sigma, "left"), spend(&path, 500, sigma, "right")];
    let answers = both.each_mut().map(answers);
    both.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    let chain = ledger.read().unwrap();
    let (paid, full) = (answers[0].0 + answers[1].0, answers[0].1 + answers[1].1);
    assert_eq!((paid, full, charges(&chain)), (600, 400, 600));
    assert!(chain.filter().admits(chain.spent()));
    // Each charge is there, and its result.
    for at in 0..chain.records().len() {
        assert!(chain.charge(at).is_none() || chain.result_of(at).is_some());
    }
}

/// What was acknowledged before the kill is in the file, and the file verifies.
#[test]
fn killed_at_any_moment_nothing_is_under_counted() {
    let kills: u64 = std::env::var("DPGLM_CRASHES").ok().map_or(20, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.ledger");
    let ledger = ledger(&path);
    let sigma = sigma_for(&ledger, 1_000_000);
    let (mut acknowledged, mut cut_short) = (0, 0);
    for kill in 0..kills {
        let mut child = spend(&path, 50, sigma, &format!("run {kill}"));
        let mut output = child.stdout.take().unwrap();
        // From before its first charge to some way into them.
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        acknowledged += said.lines().filter(|line| *line == "paid").count();
        let chain = ledger.read().unwrap();
        let entered = charges(&chain);
        assert!(entered >= acknowledged, "{entered} entered, {acknowledged} acknowledged");
        // The one that was under way may be there too.
        assert!(entered <= acknowledged + kill as usize + 1);
        cut_short += usize::from(chain.unfinished() > 0);
    }
    // The next charge goes on where the last one stopped.
    ledger.charge(&charge("after", sigma)).unwrap();
    let chain = ledger.read().unwrap();
    assert_eq!(chain.unfinished(), 0);
    println!(
        "{kills} kills: {acknowledged} charges acknowledged, {} entered, {cut_short} lines torn",
        charges(&chain)
    );
}

/// Every place at which the writing of a line can stop.
#[test]
fn a_torn_line_is_removed_by_the_next_charge() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.ledger");
    let ledger = ledger(&path);
    ledger.charge(&charge("first", 100.0)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    ledger.charge(&charge("second", 100.0)).unwrap();
    let longer = std::fs::read(&path).unwrap();
    for end in (whole.len()..longer.len()).step_by(7).chain([longer.len() - 1]) {
        std::fs::write(&path, &longer[..end]).unwrap();
        let chain = ledger.read().unwrap();
        assert_eq!((charges(&chain), chain.unfinished()), (1, end - whole.len()));
        let receipt = ledger.charge(&charge("third", 100.0)).unwrap();
        let chain = ledger.read().unwrap();
        assert_eq!((charges(&chain), chain.unfinished(), receipt.index), (2, 0, 2));
        assert!(std::fs::read(&path).unwrap().starts_with(&whole));
    }
}

#[test]
fn what_is_kept_elsewhere_shows_a_cut_and_a_forgery() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sealed.ledger");
    let ledger = ledger(&path);
    ledger.charge(&charge("first", 100.0)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let receipt = ledger.charge(&charge("second", 100.0)).unwrap();
    let key = dpglm_sign::SigningKey::fresh().unwrap();
    let seal = dpglm_ledger::seal::seal(&ledger.read().unwrap(), &key);
    ledger.charge(&charge("third", 100.0)).unwrap();
    let verify = |chain: &Chain| dpglm_ledger::seal::verify(chain, &seal, &key.public());
    assert_eq!(verify(&ledger.read().unwrap()), Ok(2));
    assert_eq!(ledger.read().unwrap().holds(&receipt.head), Some(2));
    let other = dpglm_sign::SigningKey::fresh().unwrap();
    assert!(dpglm_ledger::seal::verify(&ledger.read().unwrap(), &seal, &other.public()).is_err());
    // Cut off: the chain by itself is right.
    std::fs::write(&path, &before).unwrap();
    let cut = ledger.read().unwrap();
    assert_eq!(cut.holds(&receipt.head), None);
    assert!(verify(&cut).unwrap_err().contains("cut off"));
    // Written again.
    ledger.charge(&charge("a smaller one", 1000.0)).unwrap();
    assert!(verify(&ledger.read().unwrap()).unwrap_err().contains("written again"));
}

#[test]
fn what_has_no_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = ledger(&path);
    assert!(Ledger::create(&path, ledger.read().unwrap().terms()).is_err());
    let before = std::fs::read(&path).unwrap();
    let unit = Charge { protects: Adjacency::ReplaceUnit("id".into()), ..charge("", 9.0) };
    assert!(matches!(ledger.charge(&unit), Err(Error::Refused(_))));
    assert!(matches!(ledger.charge(&charge("", 1e-3)), Err(Error::Exceeds { .. })));
    let nothing = Charge { events: Vec::new(), ..charge("", 9.0) };
    assert!(ledger.charge(&nothing).is_err());
    let noise = Noise::Zcdp { rho: 0.01 };
    let zcdp = Charge { events: vec![Event::new("r", noise, 1).unwrap()], ..charge("", 9.0) };
    assert!(ledger.charge(&zcdp).is_err());
    let noise = Noise::Approximate { epsilon: 0.1, delta: 1e-9 };
    let failing = Charge { events: vec![Event::new("r", noise, 1).unwrap()], ..charge("", 9.0) };
    assert!(matches!(ledger.charge(&failing), Err(Error::Exceeds { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Something else altogether.
    for text in ["", "\n", "{}\n", "people,age\n1,2\n"] {
        let other = folder.path().join("other");
        OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .open(&other)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        assert!(Ledger::open(&other).is_err(), "{text:?}");
    }
    assert!(Ledger::open(&folder.path().join("none")).is_err());
}
