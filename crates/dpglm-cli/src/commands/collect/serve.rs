//! `dpglm collect serve`.

use super::token;
use crate::failure::Failure;
use clap::Args;
use dpglm_collect::server::{Config, Service};
use dpglm_collect::study::{PublicKey, SignedStudy};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Serve a study over HTTP.
///
/// Begins the study in its storage, or goes on where it stopped: an acknowledged report is never lost. TLS is the work of a
/// reverse proxy in front. The log, on standard error, holds neither tokens nor reports nor addresses.
#[derive(Args)]
pub struct Serve {
    /// The study file, with its signature beside it
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// An SQLite file, or a PostgreSQL URL for several servers behind one study [default: STUDY.sqlite]
    #[arg(long, value_name = "PLACE")]
    storage: Option<String>,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Check the study's signature against this public key before serving it
    #[arg(long, value_name = "HEX")]
    key: Option<String>,
    /// The administrator's token, for the calls under /admin; without it there are none
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Requests a second from one address, with bursts of ten seconds' worth; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    rate_limit: f64,
    /// A reverse proxy stands in front: take addresses from the last entry of X-Forwarded-For
    #[arg(long)]
    behind_proxy: bool,
}

pub fn run(arguments: &Serve) -> Result<String, Failure> {
    let study = SignedStudy::load(&arguments.study)?;
    if let Some(key) = &arguments.key {
        study.verify(&PublicKey::parse(key)?)?;
    }
    let storage =
        arguments.storage.clone().unwrap_or_else(|| format!("{}.sqlite", arguments.study.display()));
    let config = Config {
        study,
        storage,
        admin: arguments.admin_token_file.as_deref().map(token).transpose()?,
        rate_limit: (arguments.rate_limit != 0.0).then_some(arguments.rate_limit),
        behind_proxy: arguments.behind_proxy,
        log: Arc::new(|message| {
            // If nobody reads the log, the service goes on.
            let _ = writeln!(std::io::stderr(), "{message}");
        }),
    };
    let log = config.log.clone();
    let service = Service::start(config)?;
    let address =
        service.run(arguments.listen, move |address| log(&format!("serving on http://{address}"))).map_err(
            |error| Failure::Failed(format!("{}: {error}: choose another --listen", arguments.listen)),
        )?;
    Ok(format!("stopped serving on {address}\n"))
}
