//! Every refusal has its own status and code, and changes nothing.

use crate::postgres::Cluster;
use crate::running::{Draft, Running, code, head, post, read_answer, request};
use dpglm_collect::client::Service as Client;
use dpglm_collect::server::IpNet;
use dpglm_collect::storage::all_reports;
use dpglm_collect::token::Token;
use std::io::Write;
use std::net::TcpStream;

fn told(status: u16, code: &str) -> (u16, String) {
    (status, code.into())
}

#[test]
fn each_refusal_has_its_own_status_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let tokens: Vec<String> = running.enroll(60).iter().map(Token::reveal).collect();
    let send = |token: &str, body: &[u8]| post(running.address, Some(token), body);
    let good = running.message();

    // Before anything is counted.
    assert_eq!(post(running.address, None, &good), told(401, "token"));
    assert_eq!(send("not-a-token", &good), told(401, "token"));
    assert_eq!(send(&Token::fresh().unwrap().reveal(), &good), told(401, "token"));
    assert_eq!(send(&tokens[0], &good[1..]), told(400, "malformed"));
    assert_eq!(send(&tokens[0], b""), told(400, "malformed"));
    let changed = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        bytes
    };
    assert_eq!(send(&tokens[0], &changed(0, 2)), told(400, "malformed"), "version");
    assert_eq!(send(&tokens[0], &changed(1, good[1] ^ 1)), told(421, "wrong-study"));
    assert_eq!(send(&tokens[0], &changed(9, 0)), told(400, "malformed"), "round 0");
    assert_eq!(send(&tokens[0], &changed(9, 2)), told(412, "wrong-round"));
    assert_eq!(send(&tokens[0], &changed(10, 9)), told(412, "wrong-round"), "beyond the last");
    assert_eq!(send(&tokens[0], &changed(12, 2)), told(400, "malformed"), "another randomizer");
    assert_eq!(send(&tokens[0], &changed(29, 2)), told(400, "malformed"), "no such index");
    assert_eq!(send(&tokens[0], &[0; 65]), told(413, "oversized"));
    // Oversized without saying so beforehand.
    let mut stream = TcpStream::connect(running.address).unwrap();
    let chunk = "40\r\n".to_owned() + &"x".repeat(64) + "\r\n";
    let chunked = format!(
        "{}\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n",
        head(Some(&tokens[0]))
    );
    stream.write_all(chunked.as_bytes()).unwrap();
    let (status, body) = read_answer(&mut stream);
    assert_eq!((status, code(&body)), told(413, "oversized"));
    let mut reader = running.storage();
    assert_eq!(reader.current().unwrap().count, 0);
    assert_eq!(all_reports(&mut *reader, 1).unwrap(), Vec::<Vec<u8>>::new());

    // Counted once.
    assert_eq!(send(&tokens[0], &good), told(201, "accepted"));
    assert_eq!(send(&tokens[0], &good), told(200, "already-counted"));
    assert_eq!(send(&tokens[0], &running.message()), told(409, "duplicate"));
    assert_eq!(send(&tokens[1], &good), told(422, "replayed"));
    assert_eq!(reader.current().unwrap().count, 1);

    // The first round fills up; then its reports are late, and retries are still told the truth.
    let late = running.message();
    let target = 60; // more than any round takes
    for token in tokens.iter().skip(2).take(target) {
        let (status, code) = send(token, &running.message());
        assert!(status == 201 || code == "late", "{status} {code}");
        if running.client().round().unwrap().round > 1 || code == "late" {
            break;
        }
    }
    running.wait("the second round", |status| status["rounds"].as_array().unwrap().len() == 2);
    assert_eq!(send(&tokens[1], &late), told(410, "late"));
    assert_eq!(send(&tokens[0], &good), told(200, "already-counted"));

    // Nothing of this in the log, nor in what the service shows.
    let client = running.client();
    let shown = ["/status", "/status.json", "/round", "/study"].map(|path| client.get(path).unwrap());
    let log = running.log.lock().unwrap().clone();
    assert!(log.contains("round 1: closed"), "{log}");
    for secret in tokens.iter().chain([&dpglm_collect::hex::encode(&good[13..29])]) {
        assert!(!log.contains(secret.as_str()) && shown.iter().all(|text| !text.contains(secret.as_str())));
    }
    assert!(client.get("/metrics").is_err(), "metrics are not for participants");
    let metrics = Client::new(&format!("http://{}", running.metrics)).unwrap().get("/metrics").unwrap();
    assert!(tokens.iter().all(|token| !metrics.contains(token)));
    for line in [
        "dpglm_answers_total{code=\"oversized\"} 2",
        "dpglm_answers_total{code=\"replayed\"} 1",
        "dpglm_answers_total{code=\"duplicate\"} 1",
        "dpglm_rounds_closed 1",
        "dpglm_epsilon 2",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert_eq!(client.get("/healthz").unwrap(), "ok\n");
}

/// Nobody is shown a smaller epsilon than they spend, nor a smaller factor.
#[test]
fn people_are_shown_epsilon_rounded_up() {
    let folder = tempfile::tempdir().unwrap();
    let (study, key) = Draft { epsilon: 0.123_440_1, ..Draft::default() }.sign();
    let running = Running::serve(&folder.path().join("s").display().to_string(), study, key);
    let client = running.client();
    let status = client.get("/status").unwrap();
    assert!(
        status.contains("epsilon = 0.123441, once") && status.contains("a factor e^0.123441."),
        "{status}"
    );
    // The page is given the number itself, and rounds by itself.
    let study: serde_json::Value = serde_json::from_str(&client.get("/study").unwrap()).unwrap();
    assert!(study["facts"].as_str().unwrap().contains("\"epsilon\":0.1234401,"));
}

/// Everything is limited by address, pages as well as reports, and a client cannot invent addresses.
#[test]
fn addresses_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limited = |name: &str, proxies: Vec<IpNet>| {
        let (study, key) = Draft::default().sign();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Running::with(listener, study, key, &folder.path().join(name).display().to_string(), |config| {
            config.rate_limit = Some(0.5);
            config.proxies = proxies;
        })
    };
    let running = limited("s", Vec::new());
    let answers: Vec<u16> = (0..20).map(|_| post(running.address, None, b"").0).collect();
    assert_eq!(answers[0], 400);
    assert_eq!(post(running.address, None, b""), told(429, "too-many-requests"));
    let get = |running: &Running, path: &str, forwarded: &str| {
        let mut stream = TcpStream::connect(running.address).unwrap();
        request(&mut stream, &format!("GET {path} HTTP/1.1{forwarded}"), b"").0
    };
    for path in ["/", "/study", "/round", "/status"] {
        assert_eq!(get(&running, path, ""), 429, "{path}");
    }
    assert_eq!(get(&running, "/healthz", ""), 200);
    // Behind a proxy the last hop counts, whatever the client wrote before it.
    let running = limited("p", vec!["127.0.0.0/8".parse().unwrap()]);
    let ask = |first: usize| {
        get(&running, "/study", &format!("\r\nX-Forwarded-For: 1.1.1.{first}\r\nX-Forwarded-For: 8.8.8.8"))
    };
    let answers: Vec<u16> = (0..20).map(ask).collect();
    assert!(answers[0] == 200 && answers[19] == 429, "{answers:?}");
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let mut stream = TcpStream::connect(running.address).unwrap();
    stream
        .write_all(format!("{}\r\nHost: test\r\nContent-Length: 33\r\n\r\nxx", head(None)).as_bytes())
        .unwrap();
    let (status, body) = read_answer(&mut stream);
    assert_eq!((status, code(&body)), told(408, "slow"));
}

#[test]
fn administration_needs_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft { reports: 6_000, minimum: 3, ..Draft::default() };
    let running = Running::start(&folder.path().join("s").display().to_string(), &draft);
    let admin = |path: &str, token: &str, body: &str| {
        let mut stream = TcpStream::connect(running.address).unwrap();
        let head = format!("POST /admin/{path} HTTP/1.1\r\nAuthorization: Bearer {token}");
        request(&mut stream, &head, body.as_bytes())
    };
    let token = running.admin.reveal();
    let device = running.enroll(1).remove(0).reveal();
    for wrong in ["", "x", &device, &Token::fresh().unwrap().reveal()] {
        for path in ["enroll", "close", "end"] {
            assert_eq!(admin(path, wrong, "{\"count\": 1}").0, 401);
        }
    }
    for wrong in
        ["", "{}", "{\"count\": 0}", "{\"count\": 10001}", "{\"count\": 1, \"x\": 2}", "[", "{\"count\": -1}"]
    {
        assert_eq!(admin("enroll", &token, wrong).0, 400, "{wrong}");
    }
    assert_eq!(running.client().enroll(&running.admin, 3).unwrap().len(), 3);
    let tokens = running.enroll(3);
    for (place, device) in tokens.iter().enumerate() {
        let (status, body) = admin("close", &token, "");
        assert_eq!((status, code(&body)), told(409, "too-few-reports"), "{place}");
        assert_eq!(post(running.address, Some(&device.reveal()), &running.message()), told(201, "accepted"));
        running.wait("the count", |status| status["rounds"][0]["reports"] == place + 1);
    }
    assert_eq!(admin("close", &token, "").0, 200);
    running.wait("the second round", |status| status["rounds"].as_array().unwrap().len() == 2);
    assert_eq!(admin("end", &token, "").0, 200);
    let status = running.wait("the end", |status| status["standing"] == "ended");
    assert_eq!(status["rounds"][1]["phase"], "abandoned");
    assert!(status["estimate"].as_array().unwrap().len() == 5, "the first round's estimate stands");
    let (status, body) = admin("end", &token, "");
    assert_eq!((status, code(&body)), told(409, "not-open"));
    assert_eq!(running.reserve(&running.enroll_in(2, 1)[0]).1, "missed");
}

/// Without its database the service acknowledges nothing, and takes the same bytes when it is back.
#[test]
fn a_storage_that_is_away_is_said_to_be_away() {
    let cluster = Cluster::start();
    let running = Running::start(&cluster.database("study"), &Draft::default());
    let device = running.enroll(1).remove(0).reveal();
    let message = running.message();
    cluster.stop();
    assert_eq!(post(running.address, Some(&device), &message), told(503, "unavailable"));
    cluster.launch();
    let mut answers = (0..100).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        post(running.address, Some(&device), &message)
    });
    assert_eq!(answers.find(|(status, _)| *status != 503), Some(told(201, "accepted")));
    let log = running.log.lock().unwrap().clone();
    assert!(log.contains("PostgreSQL") && !log.contains(&device), "{log}");
}
