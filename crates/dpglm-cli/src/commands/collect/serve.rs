//! `dpglm collect serve`.

use super::place::Place;
use super::{paid, read, token};
use crate::failure::Failure;
use clap::Args;
use dpglm_collect::server::{Config, IpNet, Limits, Log, Service};
use dpglm_collect::study::{PublicKey, SignedStudy};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Serve a study over HTTP.
///
/// Begins the study in its storage, or goes on where it stopped: an acknowledged report is never lost. TLS is the work of a
/// reverse proxy in front. The log, on standard error, holds neither tokens nor reports nor addresses.
#[derive(Args)]
pub struct Serve {
    /// The study file, with its signature beside it
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Where the study is stored; without any of these, STUDY.sqlite
    #[command(flatten)]
    place: Place,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The curator's public key; without it the signature is checked against the key that it names itself
    #[arg(long, value_name = "HEX")]
    key: Option<String>,
    /// Statements about the curator's key, from `replace-key` and `revoke-key`, for devices to see
    #[arg(long, value_name = "FILE")]
    key_statements: Option<PathBuf>,
    /// The administrator's token, for the calls under /admin; without it there are none
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Requests a second from one address, with bursts of ten seconds' worth; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    rate_limit: f64,
    /// A reverse proxy in front, or a network of them: its X-Forwarded-For is believed. May be repeated
    #[arg(long, value_name = "ADDRESS[/BITS]", value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// Connections at the same time [default: as many as the process may open files, at most 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..))]
    connections: Option<u16>,
    /// Connections from one address that is no trusted proxy
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    connections_per_address: u16,
    /// For how many minutes a place in a round is held for a device
    #[arg(long, value_name = "MINUTES", default_value_t = 10.0)]
    hold: f64,
    /// Pay from this ledger (`dpglm ledger init --protects record` makes one): what each participant spends is entered before the
    /// study is served, once for each storage it begins in, and the study is refused if there is no room for it
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// An address of its own for /metrics; without it there are no metrics
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
}

fn network(text: &str) -> Result<IpNet, String> {
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| single())
        .map_err(|_| "must be an address, or a network such as 10.0.0.0/8".into())
}

pub fn run(arguments: &Serve) -> Result<String, Failure> {
    let study = SignedStudy::load(&arguments.study)?;
    let verified = match &arguments.key {
        Some(key) => study.verify(&PublicKey::parse(key)?)?,
        None => study.verify_own()?,
    };
    if let Some(ledger) = &arguments.ledger {
        paid::expect(ledger, verified)?;
    }
    let paid_study = verified.clone();
    let storage = arguments.place.named()?.unwrap_or_else(|| format!("{}.sqlite", arguments.study.display()));
    let log = Log::new(|line| {
        // If nobody reads the log, the service goes on.
        let _ = writeln!(std::io::stderr(), "{line}");
    });
    let limits = Limits::default();
    let config = Config {
        statements: arguments.key_statements.as_deref().map_or_else(|| Ok(String::new()), read)?,
        admin: arguments.admin_token_file.as_deref().map(token).transpose()?,
        rate_limit: (arguments.rate_limit != 0.0).then_some(arguments.rate_limit),
        proxies: arguments.trusted_proxy.clone(),
        hold: Duration::try_from_secs_f64(60.0 * arguments.hold).map_err(|_| {
            Failure::Usage(format!("--hold must be a number of minutes, got {}", arguments.hold))
        })?,
        limits: Limits {
            total: arguments.connections.map_or(limits.total, usize::from),
            per_address: usize::from(arguments.connections_per_address),
        },
        ..Config::new(study, storage, log.clone())
    };
    let service = Service::start(config)?;
    // The storage is there, and nobody can answer yet.
    if let Some(ledger) = &arguments.ledger {
        paid::once(ledger, &paid_study, service.begun())?;
    }
    let ready = |address: SocketAddr, metrics: Option<SocketAddr>| {
        if let Some(metrics) = metrics {
            log.info("metrics", &format!("metrics on http://{metrics}/metrics"));
        }
        log.info("serving", &format!("serving on http://{address}"));
    };
    let address = service.run(arguments.listen, arguments.metrics, ready).map_err(|error| {
        Failure::Failed(format!("{}: {error}: choose another --listen or --metrics", arguments.listen))
    })?;
    Ok(format!("stopped serving on {address}\n"))
}
