//! The device keeps its promises to its user, whatever the service does.

use crate::running::{Draft, Running, read_answer};
use dpglm::noise::RandomSource;
use dpglm_collect::answer::Answer;
use dpglm_collect::client::{Accepted, Device, Record, Service, Standing};
use dpglm_collect::study::{PublicKey, SignedStudy, SigningKey, Study};
use dpglm_collect::token::Token;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;

fn record() -> Record {
    Record { features: vec![0.5, -0.5, 0.0, 1.0], response: 1.5 }
}

fn accept(study: &SignedStudy, key: &PublicKey, limit: f64) -> Result<Accepted, String> {
    Accepted::check(study, key, limit).map_err(|error| error.to_string())
}

fn first_state(accepted: &Accepted) -> String {
    dpglm_collect::protocol::StudyProtocol::new(accepted.study()).unwrap().first().unwrap()
}

#[test]
fn a_study_that_breaks_the_promise_is_refused() {
    let (study, key) = Draft::default().sign();
    assert!(accept(&study, &key, 2.0).is_ok());
    assert!(accept(&study, &key, 1.9).unwrap_err().contains("above the user's limit of 1.9"));
    for limit in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(accept(&study, &key, limit).unwrap_err().contains("limit must be"));
    }
    let stranger = SigningKey::fresh().unwrap();
    assert!(accept(&study, &stranger.public(), 5.0).unwrap_err().contains("signature"));
    // One byte of the text, or of the signature, after signing.
    let text = study.unverified().text();
    let changed = text.replace("epsilon = 2", "epsilon = 1");
    let forged = SignedStudy::new(&changed, &study.signature()).unwrap();
    assert!(accept(&forged, &key, 5.0).unwrap_err().contains("changed after signing"));
    for line in ["study ", "page "] {
        let mut signature = study.signature();
        let at = signature.find(line).unwrap() + line.len();
        signature.replace_range(at..at + 1, if signature[at..].starts_with('0') { "1" } else { "0" });
        let damaged = SignedStudy::new(text, &signature).unwrap();
        assert!(accept(&damaged, &key, 5.0).is_err() && damaged.verify_own().is_err(), "{line}");
    }
    assert!(study.verify_own().is_ok());
    // A signature of zeros is none, whether a key is given or not.
    let zeros = "0".repeat(128);
    assert!(SignedStudy::new(text, &zeros).unwrap().verify_own().is_err());
    let named = format!("key {key}\nstudy {zeros}\n");
    assert!(SignedStudy::new(text, &named).unwrap().verify_own().is_err());
    assert!(SignedStudy::new(text, "00").is_err());
}

#[test]
fn study_files_are_checked_in_full() {
    let text = Draft::default().text();
    assert!(Study::parse(&text).is_ok());
    for (from, to, complaint) in [
        ("version = 2", "version = 3", "protocol version must be 2, or 1 for a study begun before, got 3"),
        ("version = 2", "version = 1", "version = 2"),
        ("expires = 2099-12-31", "", "does not say when it expires"),
        ("expires = 2099-12-31", "expires = \"soon\"", "expires"),
        ("service = \"http://127.0.0.1:9\"", "", "does not name its service"),
        ("service = \"http://127.0.0.1:9\"", "service = \"http://a/b\"", "without a path"),
        ("bounds = [-2, 2]", "", "bounds of `y` are missing"),
        ("bounds = [-2, 2]", "bounds = [2, -2]", "bounds of `y`"),
        ("bounds = [-2, 2]", "bounds = [nan, 2]", "bounds of `y`"),
        ("bounds = [-2, 2]", "bounds = [-inf, 2]", "bounds of `y`"),
        ("epsilon = 2", "epsilon = 0", "epsilon"),
        ("epsilon = 2", "epsilon = nan", "epsilon"),
        ("epsilon = 2", "epsilon = 21", "epsilon"),
        ("epsilon = 2", "", "epsilon"),
        ("sparsity = 2", "sparsity = 5", "sparsity"),
        ("count = 4", "count = 0", "count"),
        ("name = \"y\"", "name = \"x1\"", "name of their own"),
        ("name = \"trial\"", "name = \"\"", "one line"),
        ("hours = 1", "hours = -1", "hours"),
        ("minimum = 2", "minimum = 61", "minimum"),
        ("randomizer = \"duchi\"", "randomizer = \"none\"", "randomizer"),
        ("extensions = 1", "extensions = 1\nunknown = 3", "unknown"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Study::parse(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(complaint), "{to}: {error}");
    }
    // A newer file's other keys do not hide its version.
    assert!(Study::parse("version = 7\nfuture = true").unwrap_err().to_string().contains("got 7"));
}

#[test]
fn the_ledger_adds_up_over_studies() {
    let folder = tempfile::tempdir().unwrap();
    let mut device = Device::open(folder.path()).unwrap();
    let mut rng = RandomSource::from_os().unwrap();
    let token = Token::fresh().unwrap();
    let mut answer = |device: &mut Device, epsilon: f64, limit: f64| {
        let (study, key) = Draft { epsilon, ..Draft::default() }.sign();
        let accepted = accept(&study, &key, limit).unwrap();
        let state = first_state(&accepted);
        device.answer(&accepted, limit, &token, (1, &state), &record(), &mut rng).map_err(|e| e.to_string())
    };
    answer(&mut device, 1.0, 3.0).unwrap();
    answer(&mut device, 1.5, 3.0).unwrap();
    assert_eq!(device.spent(), 2.5);
    let refusal = answer(&mut device, 1.25, 3.0).unwrap_err();
    assert!(refusal.contains("3.75 in all, above the user's limit of 3"), "{refusal}");
    assert_eq!(device.spent(), 2.5, "a refusal spends nothing");
    // Rounding never hides a loss: ten times 0.1 is not below 1.
    drop(device);
    let other = tempfile::tempdir().unwrap();
    let mut device = Device::open(other.path()).unwrap();
    for _ in 0..10 {
        let (study, key) = Draft { epsilon: 0.1, ..Draft::default() }.sign();
        let key_of_this = accept(&study, &key, 2.0).unwrap();
        // Different studies: the names alone differ.
        let renamed = study.unverified().text().replace("trial", &format!("trial {}", device.spent()));
        let key = SigningKey::fresh().unwrap();
        let study = SignedStudy::sign(Study::parse(&renamed).unwrap(), &key);
        let accepted = accept(&study, &key.public(), 2.0).unwrap();
        let state = first_state(&key_of_this);
        device.answer(&accepted, 2.0, &token, (1, &state), &record(), &mut rng).unwrap();
    }
    assert!(device.spent() >= 1.0 && device.spent() < 1.0 + 1e-12, "{}", device.spent());
    // It is all on the disk.
    drop(device);
    assert!(Device::open(other.path()).unwrap().spent() >= 1.0);
}

#[test]
fn a_report_is_made_once_and_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (study, key) = Draft::default().sign();
    let accepted = accept(&study, &key, 2.0).unwrap();
    let state = first_state(&accepted);
    let token = Token::fresh().unwrap();
    let mut rng = RandomSource::from_os().unwrap();
    let mut device = Device::open(folder.path()).unwrap();
    assert!(device.made(&accepted).unwrap().is_none());
    // A seeded source, or a round that the study cannot have, spends nothing.
    let mut seeded = RandomSource::insecure_seeded(1);
    assert!(device.answer(&accepted, 2.0, &token, (1, &state), &record(), &mut seeded).is_err());
    for (round, state) in [
        (2, state.clone()),
        (1, state.replace("\"round\":0", "\"round\":1")),
        (1, state.replace("\"clip\":", "\"clip\":9")),
        (1, state.replace("[0.0,", "[1e999,")),
        (1, state.replace("[0,1,", "[1,0,")),
        (1, "null".into()),
    ] {
        assert!(
            device.answer(&accepted, 2.0, &token, (round, &state), &record(), &mut rng).is_err(),
            "{state}"
        );
    }
    assert_eq!(device.spent(), 0.0);
    let first = device.answer(&accepted, 2.0, &token, (1, &state), &record(), &mut rng).unwrap();
    // Before anything was sent the bytes are in the ledger, readable by the owner alone.
    let ledger = folder.path().join("ledger.json");
    let text = std::fs::read_to_string(&ledger).unwrap();
    assert!(text.contains(&dpglm_collect::hex::encode(&first.message)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&ledger).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(device);
    // Another process, other values, another state: the same bytes.
    let mut device = Device::open(folder.path()).unwrap();
    let other = Record { features: vec![1.0; 4], response: -2.0 };
    let again = device.answer(&accepted, 2.0, &Token::fresh().unwrap(), (9, "{}"), &other, &mut rng).unwrap();
    assert_eq!((&again.message, &again.token), (&first.message, &first.token));
    assert_eq!(device.spent(), 2.0);
    // "Failed, try again" settles nothing; an acknowledgement is final.
    assert_eq!(device.settle(&accepted, Answer::Unavailable).unwrap(), Standing::Made);
    assert_eq!(device.settle(&accepted, Answer::Late).unwrap(), Standing::Refused);
    assert_eq!(device.settle(&accepted, Answer::AlreadyCounted).unwrap(), Standing::Counted);
    device.settle(&accepted, Answer::Late).unwrap();
    assert_eq!(device.made(&accepted).unwrap().unwrap().standing, Standing::Counted);
    drop(device);
    // A ledger that cannot be read is not replaced by an empty one.
    for damaged in ["", "{", "{\"schema\":\"dpglm.device/2\",\"answers\":[]}", &text.replace("2.0", "-2.0")] {
        std::fs::write(&ledger, damaged).unwrap();
        let error = Device::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("do not delete it"), "{error}");
        assert_eq!(std::fs::read_to_string(&ledger).unwrap(), damaged);
    }
}

/// A service that always says "try again" sees the same bytes every time.
#[test]
fn a_service_that_fails_gains_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let hostile = std::thread::spawn(move || {
        let mut seen = Vec::new();
        for answer in ["503 Service Unavailable", "500 Oops", "503 Service Unavailable"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes: Vec<u8> = Vec::new();
            let mut buffer = [0; 4096];
            let complete = |bytes: &[u8]| {
                let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
                end.is_some_and(|end| bytes.len() >= end + 4 + 33)
            };
            while !complete(&bytes) {
                let read = stream.read(&mut buffer).unwrap();
                bytes.extend(&buffer[..read]);
            }
            seen.push(bytes[bytes.len() - 33..].to_vec());
            let body = r#"{"code":"unavailable","message":"try again"}"#;
            let text = format!(
                "HTTP/1.1 {answer}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(text.as_bytes()).unwrap();
        }
        seen
    });
    let folder = tempfile::tempdir().unwrap();
    let (study, key) = Draft::default().sign();
    let accepted = accept(&study, &key, 2.0).unwrap();
    let state = first_state(&accepted);
    let service = Service::new(&format!("http://{address}")).unwrap();
    let mut rng = RandomSource::from_os().unwrap();
    for attempt in 0..3 {
        let mut device = Device::open(folder.path()).unwrap();
        let made = device
            .answer(&accepted, 2.0, &Token::fresh().unwrap(), (1, &state), &record(), &mut rng)
            .unwrap();
        match service.send(&made.token, &made.message) {
            Ok(answer) => assert_eq!(device.settle(&accepted, answer).unwrap(), Standing::Made),
            // The second answer's status is not one of the protocol: nothing is known.
            Err(_) => assert_eq!(attempt, 1),
        }
        assert_eq!(device.spent(), 2.0);
    }
    let seen = hostile.join().unwrap();
    assert!(seen.len() == 3 && seen.iter().all(|bytes| *bytes == seen[0]));
}

#[test]
fn a_device_answers_a_real_service() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let service = running.client();
    let accepted = accept(&service.study().unwrap(), &running.key, 2.0).unwrap();
    let values = BTreeMap::from([("x1".to_owned(), 0.5), ("y".to_owned(), f64::INFINITY)]);
    let record = accepted.record(&values).unwrap();
    assert!(record.features[1].is_nan() && record.response == f64::INFINITY);
    assert!(!format!("{record:?}").contains("0.5"));
    assert!(accepted.record(&BTreeMap::from([("x9".to_owned(), 0.5)])).is_err());
    let served = service.round().unwrap();
    let token = running.enroll(1).remove(0);
    let mut device = Device::open(&folder.path().join("device")).unwrap();
    let mut rng = RandomSource::from_os().unwrap();
    let round = (served.round, served.state.as_str());
    let made = device.answer(&accepted, 2.0, &token, round, &record, &mut rng).unwrap();
    assert_eq!(service.send(&made.token, &made.message).unwrap(), Answer::Accepted);
    assert_eq!(service.send(&made.token, &made.message).unwrap(), Answer::AlreadyCounted);
    assert_eq!(device.settle(&accepted, Answer::Accepted).unwrap(), Standing::Counted);
    assert!(Service::new("ftp://x").is_err());
    // A page for people, with its scripts, and nothing from elsewhere.
    let mut stream = std::net::TcpStream::connect(running.address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let (status, page) = read_answer(&mut stream);
    assert!(status == 200 && page.contains("client.js") && !page.contains("http"));
}

/// A study is answered where it says, by whom the curator's key vouches for, and for as long as it lasts.
#[test]
fn a_device_checks_where_it_answers_and_whose_study_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let service = running.client();
    assert!(service.accept(&running.key, "", 2.0).is_ok() && service.warning().is_none());
    // The same service under another name.
    let elsewhere = Service::new(&format!("http://localhost:{}", running.address.port())).unwrap();
    let refusal = elsewhere.accept(&running.key, "", 2.0).unwrap_err().to_string();
    assert!(refusal.contains("the study is served at http://127.0.0.1"), "{refusal}");
    assert!(Service::new("http://study.example.org").unwrap().warning().unwrap().contains("use https"));
    assert!(Service::new("https://study.example.org").unwrap().warning().is_none());

    // A key that handed over to the study's, and one that was withdrawn.
    let old = SigningKey::fresh().unwrap();
    assert!(service.accept(&old.public(), "", 2.0).is_err());
    let handed = dpglm_sign::statement::replace(&old, &running.key);
    assert!(service.accept(&old.public(), &handed, 2.0).is_ok());
    let withdrawn = handed + &dpglm_sign::statement::revoke(&old);
    let refusal = service.accept(&old.public(), &withdrawn, 2.0).unwrap_err().to_string();
    assert!(refusal.contains("revoked"), "{refusal}");

    // Expired.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let service = format!("http://{}", listener.local_addr().unwrap());
    let text = Draft { service, ..Draft::default() }.text().replace("2099-12-31", "2020-01-31");
    let key = SigningKey::fresh().unwrap();
    let study = SignedStudy::sign(Study::parse(&text).unwrap(), &key);
    let place = folder.path().join("e").display().to_string();
    let running = Running::with(listener, study, key.public(), &place, |_| ());
    let refusal = running.client().accept(&key.public(), "", 2.0).unwrap_err().to_string();
    assert!(refusal.contains("expired"), "{refusal}");
    assert_eq!(running.reserve(&running.enroll(1)[0]).1, "missed", "the service gives no place either");
}

/// A mistyped token costs nothing; one that slipped into a ledger is put right, with the same bytes.
#[test]
fn a_mistyped_token_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder.path().join("s").display().to_string(), &Draft::default());
    let service = running.client();
    let accepted = service.accept(&running.key, "", 2.0).unwrap();
    let (right, wrong) = (running.enroll(1).remove(0), Token::fresh().unwrap());
    let mut device = Device::open(&folder.path().join("device")).unwrap();
    let mut rng = RandomSource::from_os().unwrap();
    let mut answer = |device: &mut Device, token: &Token| {
        dpglm_collect::client::answer(&service, &accepted, device, 2.0, token, || Ok(record()), &mut rng)
            .map(|told| told.answer)
            .map_err(|error| error.to_string())
    };
    let refusal = answer(&mut device, &wrong).unwrap_err();
    assert!(refusal.contains("nothing was spent"), "{refusal}");
    assert_eq!(device.spent(), 0.0);
    // An earlier version has made its report under the wrong token.
    let state = first_state(&accepted);
    let rng = &mut RandomSource::from_os().unwrap();
    let made = device.answer(&accepted, 2.0, &wrong, (1, &state), &record(), rng).unwrap();
    assert_eq!(service.send(&made.token, &made.message).unwrap(), Answer::Token);
    device.settle(&accepted, Answer::Token).unwrap();
    assert_eq!(answer(&mut device, &right), Ok(Answer::Accepted));
    assert_eq!(device.spent(), 2.0);
    let kept = device.made(&accepted).unwrap().unwrap();
    assert_eq!((&kept.message, &kept.token), (&made.message, &right), "the same bytes");
    // Once counted, a token is no longer changed.
    assert_eq!(answer(&mut device, &wrong), Ok(Answer::AlreadyCounted));
}

/// Whatever the values are, a report can be made: the file's form decides, never what is in it.
#[test]
fn every_record_can_be_answered_with() {
    let (study, key) = Draft::default().sign();
    let accepted = accept(&study, &key, 2.0).unwrap();
    let record = accepted
        .record_from_json(r#"{"x1": 1e400, "x2": "NaN", "x3": null, "x4": [1, {}], "y": -1e999}"#)
        .unwrap();
    assert_eq!((record.features[0], record.response), (f64::INFINITY, f64::NEG_INFINITY));
    assert!(record.features[1..].iter().all(|value| value.is_nan()));
    let rng = &mut RandomSource::from_os().unwrap();
    assert!(accepted.randomize(1, &first_state(&accepted), &record, rng).is_ok());
    for wrong in ["", "[1]", "{\"x1\": }", "{\"x9\": 1}"] {
        assert!(accepted.record_from_json(wrong).is_err(), "{wrong}");
    }
}
