//! How a PostgreSQL database is reached: over TLS, unless it is on this machine or the URL says otherwise.
//!
//! `sslmode` in the URL is honoured: `require` (what a host over a network gets if the URL is silent), `disable` (a private
//! network, knowingly) and `prefer`. With TLS the server's certificate is always checked, against the certificates named by
//! `sslrootcert=FILE` in the URL, or else against the public ones. Every call has a deadline, so that a database which is away
//! is noticed.

use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};

/// A database and how it is reached.
pub(super) struct Place {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Place {
    /// Reads a URL. It may hold a password, so no message quotes it.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (url, roots) = take_roots(url);
        let mut config: Config = url.parse().map_err(|error: postgres::Error| {
            let cause =
                std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            Error::Storage(format!("PostgreSQL: the URL cannot be read{cause}: see its documentation"))
        })?;
        let network = config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if !is_here(name)));
        if network && !url.contains("sslmode=") {
            config.ssl_mode(SslMode::Require);
        }
        config.connect_timeout(Duration::from_secs(5)).tcp_user_timeout(Duration::from_secs(15));
        Ok(Self { config, tls: MakeRustlsConnect::new(tls(roots.as_deref())?) })
    }

    /// A new connection.
    pub(super) fn connect(&self) -> Result<Client> {
        Ok(self.config.connect(self.tls.clone())?)
    }
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Takes `sslrootcert` out of the URL, which the driver does not know.
fn take_roots(url: &str) -> (String, Option<String>) {
    let Some((base, query)) = url.split_once('?') else { return (url.into(), None) };
    let (mine, rest): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|part| part.starts_with("sslrootcert="));
    let roots = mine.first().and_then(|part| part.split_once('=')).map(|(_, path)| path.into());
    (if rest.is_empty() { base.into() } else { format!("{base}?{}", rest.join("&")) }, roots)
}

fn tls(roots: Option<&str>) -> Result<ClientConfig> {
    let mut store = RootCertStore::empty();
    match roots {
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let wrong = |problem: &dyn std::fmt::Display| {
                Error::Storage(format!("{path}: {problem}: name a PEM file of certificates in sslrootcert"))
            };
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
                store.add(certificate).map_err(|error| wrong(&error))?;
            }
            if store.is_empty() {
                return Err(wrong(&"no certificate in it"));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Storage(format!("TLS cannot be used: {error}")))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_on_a_network_is_reached_over_tls_unless_the_url_says_otherwise() {
        let mode = |url: &str| Place::parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgresql://db.example.org/study"), SslMode::Require);
        assert_eq!(mode("postgresql://db.example.org/study?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgresql:///study?host=/run/postgresql"), SslMode::Prefer);
        assert_eq!(mode("postgresql://127.0.0.1/study"), SslMode::Prefer);
        assert!(Place::parse("postgresql://a/b?sslrootcert=/none/such").is_err());
        let message = Place::parse("postgresql://me:my-secret@h/d?sslmode=odd").err().unwrap().to_string();
        assert!(!message.contains("my-secret"), "{message}");
    }
}
