//! A limit on requests from one address: a bucket of tokens that fills at a steady rate. And whose address it is, behind
//! proxies.
//!
//! The bucket is written by hand: crates such as `governor` make an entry for every address that asks and cannot tell a known address
//! from a new one, while here memory is bounded, and where it is full only new addresses are turned away.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The address that a request comes from: the last hop that is not a trusted proxy.
///
/// Each proxy appends the address that it has seen itself to `X-Forwarded-For`, so entries are read from the end, over all lines of
/// the header, for as long as the one who wrote them is trusted. What a client wrote itself is never reached.
pub(super) fn origin(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> IpAddr {
    let trusted = |address: &IpAddr| proxies.iter().any(|net| net.contains(address));
    let mut address = peer.to_canonical();
    let lines: Vec<&str> =
        headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok()).collect();
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !trusted(&address) {
            break;
        }
        let Ok(before) = hop.trim().parse::<IpAddr>() else { break };
        address = before.to_canonical();
    }
    address
}

/// Addresses remembered at most; beyond this those with a full bucket are forgotten.
const REMEMBERED: usize = 100_000;

/// Requests from each address.
pub(super) struct RateLimit {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl RateLimit {
    /// So many a second, with bursts of ten seconds' worth.
    pub(super) fn new(per_second: f64) -> Self {
        Self { per_second, burst: (10.0 * per_second).max(1.0), buckets: Mutex::default() }
    }

    /// Whether this address may ask now.
    pub(super) fn allows(&self, address: IpAddr, now: Instant) -> bool {
        // A whole network belongs to one holder in IPv6.
        let address = match address {
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_none() => {
                IpAddr::V6((u128::from(v6) >> 64 << 64).into())
            }
            other => other.to_canonical(),
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = |(tokens, since): (f64, Instant)| {
            (tokens + now.saturating_duration_since(since).as_secs_f64() * self.per_second).min(self.burst)
        };
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| filled(*bucket) < self.burst);
            if buckets.len() >= REMEMBERED {
                return false;
            }
        }
        let bucket = buckets.entry(address).or_insert((self.burst, now));
        let tokens = filled(*bucket);
        let allowed = tokens >= 1.0;
        *bucket = (if allowed { tokens - 1.0 } else { tokens }, now);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;
    use std::time::Duration;

    #[test]
    fn a_burst_then_the_steady_rate() {
        let limit = RateLimit::new(2.0);
        let (here, there) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let start = Instant::now();
        assert_eq!((0..30).filter(|_| limit.allows(here, start)).count(), 20);
        assert!(limit.allows(there, start));
        let later = start + Duration::from_secs(3);
        assert_eq!((0..30).filter(|_| limit.allows(here, later)).count(), 6);
    }

    #[test]
    fn the_last_hop_that_is_not_a_trusted_proxy_counts() {
        let proxies = ["10.0.0.0/8".parse().unwrap(), "fd00::1/128".parse().unwrap()];
        let headers = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            headers
        };
        let ask =
            |peer: &str, lines: &[&str]| origin(peer.parse().unwrap(), &headers(lines), &proxies).to_string();
        // A client that writes the header itself gains nothing, on one line or on several.
        assert_eq!(ask("10.0.0.1", &["1.1.1.1, 8.8.8.8"]), "8.8.8.8");
        assert_eq!(ask("10.0.0.1", &["1.1.1.1", "8.8.8.8"]), "8.8.8.8");
        assert_eq!(ask("10.0.0.1", &["1.1.1.1", "8.8.8.8, 10.9.9.9"]), "8.8.8.8");
        assert_eq!(ask("::ffff:10.0.0.1", &["8.8.8.8"]), "8.8.8.8");
        assert_eq!(ask("fd00::1", &["2001:db8::7"]), "2001:db8::7");
        // Somebody who is no proxy is himself.
        assert_eq!(ask("9.9.9.9", &["1.1.1.1"]), "9.9.9.9");
        assert_eq!(ask("10.0.0.1", &["nonsense"]), "10.0.0.1");
        assert_eq!(ask("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let limit = RateLimit::new(0.1);
        let start = Instant::now();
        assert!(limit.allows(Ipv6Addr::new(1, 2, 3, 4, 0, 0, 0, 1).into(), start));
        assert!(!limit.allows(Ipv6Addr::new(1, 2, 3, 4, 9, 9, 9, 9).into(), start));
    }

    #[test]
    fn memory_is_bounded() {
        let limit = RateLimit::new(0.001);
        let start = Instant::now();
        for i in 0..(REMEMBERED as u32 + 10) {
            limit.allows(std::net::Ipv4Addr::from(i).into(), start);
        }
        assert_eq!(limit.buckets.lock().unwrap().len(), REMEMBERED);
    }
}
