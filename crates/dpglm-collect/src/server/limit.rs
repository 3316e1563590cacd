//! A limit on requests from one address: a bucket of tokens that fills at a steady rate.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

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
    pub fn new(per_second: f64) -> Self {
        Self { per_second, burst: (10.0 * per_second).max(1.0), buckets: Mutex::default() }
    }

    /// Whether this address may ask now.
    pub fn allows(&self, address: IpAddr, now: Instant) -> bool {
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
