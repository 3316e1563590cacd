//! Slow connections, a storage that hangs, a service that stops: honest devices are answered, or told the truth.

use crate::postgres::Cluster;
use crate::running::{Draft, Running, post, request};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

fn start(place: &str) -> Running {
    Running::start(place, &Draft::default())
}

fn get(address: SocketAddr, path: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    request(&mut stream, &format!("GET {path} HTTP/1.1"), b"").0
}

/// Connections that send the beginning of a head, or of a body, and nothing more, from one address and up to the limit of all.
#[test]
fn slow_connections_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (study, key) = Draft::default().sign();
    let place = folder.path().join("s").display().to_string();
    let running = Running::with(listener, study, key, &place, |config| {
        config.limits.total = 400;
        config.limits.per_address = 150;
    });
    let token = running.enroll(1).remove(0).reveal();
    let message = running.message();
    let slow: Vec<TcpStream> = (0..1_200)
        .map(|i| {
            let mut stream = TcpStream::connect(running.address).unwrap();
            let begun: &[u8] = match i % 3 {
                0 => b"GET /round HTTP/1.1\r\nHost: a\r\nX-Slow: ",
                1 => b"POST /report HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\nab",
                _ => b"",
            };
            // The service may have closed it already.
            let _ = stream.write_all(begun);
            stream
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for path in ["/round", "/study", "/healthz", "/readyz", "/status"] {
        let started = Instant::now();
        assert_eq!(get(running.address, path), 200, "{path}");
        slowest = slowest.max(started.elapsed());
    }
    let started = Instant::now();
    assert_eq!(post(running.address, Some(&token), &message).0, 201);
    slowest = slowest.max(started.elapsed());
    println!("with {} slow connections the slowest probe took {slowest:?}", slow.len());
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

/// A head that never ends and a connection that says nothing are closed.
#[test]
fn heads_and_silence_have_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(&folder.path().join("s").display().to_string());
    let mut silent = TcpStream::connect(running.address).unwrap();
    let mut endless = TcpStream::connect(running.address).unwrap();
    endless.write_all(b"GET /round HTTP/1.1\r\nHost: a\r\n").unwrap();
    let mut idle = TcpStream::connect(running.address).unwrap();
    assert_eq!(request(&mut idle, "GET /healthz HTTP/1.1", b"").0, 200);
    for (name, stream) in [("silent", &mut silent), ("endless", &mut endless), ("idle", &mut idle)] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// A request that was half sent does not keep a service from stopping.
#[test]
fn a_service_stops_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = start(&folder.path().join("s").display().to_string());
    let mut half = TcpStream::connect(running.address).unwrap();
    half.write_all(b"POST /report HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\nab").unwrap();
    let mut head = TcpStream::connect(running.address).unwrap();
    head.write_all(b"GET /rou").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    running.stop();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

/// A database that takes a lock and does not give it back: devices are told to come back within seconds, readiness is lost,
/// and the process still lives.
#[test]
fn a_storage_that_hangs_is_noticed() {
    let cluster = Cluster::start();
    let url = cluster.database("study");
    let running = start(&url);
    let token = running.enroll(1).remove(0).reveal();
    let message = running.message();
    assert_eq!(get(running.address, "/readyz"), 200);
    let mut thief = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let mut held = thief.transaction().unwrap();
    held.execute("SELECT one FROM dpglm_study FOR UPDATE", &[]).unwrap();
    let started = Instant::now();
    assert_eq!(post(running.address, Some(&token), &message).0, 503);
    assert!(started.elapsed() < Duration::from_secs(12), "{:?}", started.elapsed());
    assert_eq!((get(running.address, "/readyz"), get(running.address, "/healthz")), (503, 200));
    drop(held);
    let counted = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        matches!(post(running.address, Some(&token), &message).0, 200 | 201)
    });
    assert!(counted && get(running.address, "/readyz") == 200);

    // Without its database at all, what is shown goes stale and is no longer shown.
    cluster.stop();
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(["/round", "/status.json", "/readyz"].map(|path| get(running.address, path)), [503; 3]);
    assert_eq!(get(running.address, "/healthz"), 200);
    let log = running.log.lock().unwrap().clone();
    assert!(log.contains("level=error") && log.lines().count() < 20, "{log}");
    cluster.launch();
}

/// Starts a cluster with TLS on a port of this machine, by a certificate for `localhost` whose authority is in `ca.pem`. The port.
fn launch_tls(cluster: &Cluster) -> u16 {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = cluster.path().display();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let script = format!(
        "cd {folder} && umask 077 && openssl req -x509 {key} -days 2 -subj /CN=test -keyout ca.key -out ca.pem && \
         openssl req {key} -subj /CN=localhost -keyout server.key -out server.csr && \
         printf 'subjectAltName=DNS:localhost' > names && \
         openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -extfile names -out server.pem && chmod 644 ca.pem"
    );
    cluster.execute(std::process::Command::new("sh").args(["-c", &script]));
    cluster.launch_with(&format!(
        "-p {port} -c listen_addresses=127.0.0.1 -c ssl=on -c ssl_cert_file={folder}/server.pem -c ssl_key_file={folder}/server.key"
    ));
    port
}

/// PostgreSQL over TLS: with the right authority, and not with another, nor without encryption.
#[test]
fn postgresql_over_tls() {
    use dpglm_collect::storage::{self, Access};
    let cluster = Cluster::start();
    cluster.database("study");
    cluster.stop();
    let port = launch_tls(&cluster);
    let ca = cluster.path().join("ca.pem");
    let url = |more: &str| {
        format!("postgresql://dpglm@localhost:{port}/study?hostaddr=127.0.0.1&sslmode=require{more}")
    };
    let trusted = url(&format!("&sslrootcert={}", ca.display()));
    storage::open(&trusted, Access::Serve).unwrap();
    let mut running = start(&trusted);
    let token = running.enroll(1).remove(0).reveal();
    assert_eq!(post(running.address, Some(&token), &running.message()).0, 201);
    running.stop();
    // Another authority than the server's: the cause is told.
    let error = storage::open(&url(""), Access::Existing).err().unwrap().to_string();
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    // A certificate for another name.
    let other = trusted.replace("@localhost", "@elsewhere.example");
    let error = storage::open(&other, Access::Existing).err().unwrap().to_string();
    assert!(error.to_lowercase().contains("name"), "{error}");
}
