//! Measurements of a real service, for `docs/collect.md`. They take minutes and say numbers; run them one at a time:
//!
//! `cargo test -p dpglm-cli --features collect --test collect -- --ignored --nocapture measures::burst`

use crate::postgres::Cluster;
use crate::process::{Prepared, Server, enroll, free_address, study_text};
use dpglm::noise::RandomSource;
use dpglm_collect::answer::Answer;
use dpglm_collect::client::{Record, Service};
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::simulate::Simulation;
use dpglm_collect::storage::{self, Access, TokenHash};
use dpglm_collect::token::Token;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 128;

fn records(count: usize, features: usize) -> Vec<Record> {
    (0..count).map(|i| Record { features: vec![(i % 3) as f64 - 1.0; features], response: 1.0 }).collect()
}

/// 30,000 devices within 30 seconds, each looked at for 5 seconds before it sends: nobody who has spent is turned away.
#[test]
#[ignore = "a minute and more: a measurement"]
fn burst() {
    let address = free_address();
    let devices = 30_000;
    // A tenth more than the study takes, since rounds are drawn.
    let prepared = Prepared::new(&study_text(&[&address], 20, 2, devices * 10 / 11, "duchi"));
    let _server = Server::start(&prepared.file, &prepared.sqlite(), &address);
    let tokens = enroll(&prepared.sqlite(), devices);
    let records = records(devices, 20);
    let service = Service::new(&format!("http://{address}")).unwrap();
    let simulation = Simulation {
        service: &service,
        accepted: &prepared.accepted,
        tokens: &tokens,
        records: &records,
        connections: 64,
        arrivals: Duration::from_secs(30),
        think: Duration::from_secs(5),
        poll: Duration::from_secs(2),
        patience: Duration::from_secs(30),
    };
    let measured = simulation.run().unwrap();
    println!(
        "burst: {} counted, {} spent and turned away, {} turned away unspent, {} still waiting, {:.0} s, p99 {:?}",
        measured.accepted,
        measured.refused,
        measured.turned_away,
        measured.waiting,
        measured.elapsed.as_secs_f64(),
        measured.quantile(0.99)
    );
    assert_eq!(measured.refused, 0);
}

/// Reports a second that a service acknowledges, made before, over many connections. `before` is a build of another version.
fn reports_a_second(program: &str, places: &[String], count: usize) -> f64 {
    let old = std::env::var("DPGLM_BEFORE").is_ok_and(|before| before == program);
    let addresses: Vec<String> = places.iter().map(|_| free_address()).collect();
    let named: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let mut text = study_text(&named, 1, 1, 2 * count + 200, "duchi");
    if old {
        let service = format!(
            "service = [{}]\n",
            named.iter().map(|a| format!("\"http://{a}\"")).collect::<Vec<_>>().join(", ")
        );
        text = text
            .replace("version = 2", "version = 1")
            .replace(&service, "")
            .replace("expires = 2099-12-31\n", "");
    }
    let prepared = Prepared::new(&text);
    if old {
        // The first version wrote the digits alone.
        let beside = dpglm_collect::study::signature_path(&prepared.file);
        let lines = std::fs::read_to_string(&beside).unwrap();
        let digits = lines.lines().find_map(|line| line.strip_prefix("study ")).unwrap().to_owned();
        std::fs::write(&beside, digits).unwrap();
    }
    let mut servers: Vec<_> = places
        .iter()
        .zip(&addresses)
        .map(|(place, address)| {
            let child = Command::new(program)
                .args(["collect", "serve", "--rate-limit", "0", "--storage", place, "--listen", address])
                .arg(&prepared.file)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let service = Service::new(&format!("http://{address}")).unwrap();
            while service.get("/healthz").is_err() {
                std::thread::sleep(Duration::from_millis(20));
            }
            child
        })
        .collect();
    let place = &places[0];
    let tokens: Vec<Token> = if old {
        let output = prepared.folder.path().join("tokens").display().to_string();
        let enrolled = Command::new(program)
            .args([
                "collect",
                "enroll",
                "--storage",
                place,
                "--count",
                &count.to_string(),
                "--output",
                &output,
            ])
            .status()
            .unwrap();
        assert!(enrolled.success());
        std::fs::read_to_string(&output).unwrap().lines().map(|line| Token::parse(line).unwrap()).collect()
    } else {
        // Devices of the first round.
        let mut storage = storage::open(place, Access::Existing).unwrap();
        let (assignment, protocol) =
            (storage.assignment().unwrap(), StudyProtocol::new(prepared.accepted.study()).unwrap());
        let tokens: Vec<Token> = std::iter::repeat_with(|| Token::fresh().unwrap())
            .filter(|token| protocol.assigned(&assignment, &TokenHash::of(token)) == 1)
            .take(count)
            .collect();
        storage.enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>()).unwrap();
        tokens
    };
    let state = StudyProtocol::new(prepared.accepted.study()).unwrap().first().unwrap();
    let (mut rng, record) = (RandomSource::from_os().unwrap(), &records(1, 1)[0]);
    let messages: Vec<Vec<u8>> = tokens
        .iter()
        .map(|_| prepared.accepted.randomize(1, &state, record, &mut rng).unwrap().to_bytes())
        .collect();
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..CONNECTIONS {
            let (next, tokens, messages, addresses) = (&next, &tokens, &messages, &addresses);
            scope.spawn(move || {
                let service =
                    Service::new(&format!("http://{}", addresses[worker % addresses.len()])).unwrap();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(token) = tokens.get(at) else { return };
                    assert_eq!(service.send(token, &messages[at]).unwrap(), Answer::Accepted);
                }
            });
        }
    });
    let rate = count as f64 / started.elapsed().as_secs_f64();
    for server in &mut servers {
        server.kill().unwrap();
        server.wait().unwrap();
    }
    rate
}

/// Reports a second: this version and, if `DPGLM_BEFORE` names a build of it, another; in turns.
#[test]
#[ignore = "a minute: a measurement"]
fn rates() {
    let this = env!("CARGO_BIN_EXE_dpglm");
    let before = std::env::var("DPGLM_BEFORE").ok();
    let cluster = Cluster::start();
    let count = 20_000;
    let mut rates: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for turn in 0..7 {
        let folder = tempfile::tempdir().unwrap();
        let mut note = |name, rate| {
            println!("rates: {name}: {rate:.0} a second");
            rates.entry(name).or_default().push(rate);
        };
        if let Some(before) = &before {
            let sqlite = folder.path().join("before").display().to_string();
            note("before, SQLite", reports_a_second(before, &[sqlite], count));
            note(
                "before, PostgreSQL",
                reports_a_second(before, &[cluster.database(&format!("before{turn}"))], count),
            );
        }
        note(
            "this, SQLite",
            reports_a_second(this, &[folder.path().join("this").display().to_string()], count),
        );
        note("this, PostgreSQL", reports_a_second(this, &[cluster.database(&format!("this{turn}"))], count));
        let url = cluster.database(&format!("two{turn}"));
        note("this, two servers on one PostgreSQL", reports_a_second(this, &[url.clone(), url], count));
    }
    for (name, mut rates) in rates {
        rates.sort_by(f64::total_cmp);
        println!("rates: {name}: median {:.0}, from {:.0} to {:.0}", rates[3], rates[0], rates[6]);
    }
}
