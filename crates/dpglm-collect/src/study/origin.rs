//! The address of a service as a study names it: scheme, host and port, nothing else.
//!
//! A study says where it is served, and the curator signs that. A device answers a study only there, so a copy of the study
//! elsewhere collects nothing.

use std::fmt;

/// `https://study.example.org`, in lower case, without the scheme's own port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin(String);

impl Origin {
    /// Reads an origin. A path, a user or a query is refused: they would not be compared.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (scheme, port) =
            if text.starts_with("https://") { ("https://", ":443") } else { ("http://", ":80") };
        let host = text.strip_prefix(scheme)?;
        let host = host.strip_suffix('/').unwrap_or(host);
        let host = host.strip_suffix(port).unwrap_or(host);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        (!host.is_empty() && host.chars().all(plain)).then(|| Self(format!("{scheme}{host}")))
    }

    /// Whether nobody on the way can read or change what is said: TLS, or this machine itself.
    pub fn is_private(&self) -> bool {
        let Some(host) = self.0.strip_prefix("http://") else { return true };
        let name = host.strip_prefix('[').map_or_else(
            || host.rsplit_once(':').map_or(host, |(name, _)| name),
            |inside| inside.split(']').next().unwrap_or(inside),
        );
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_compared_whole() {
        let origin = |text: &str| Origin::parse(text).map(|origin| origin.to_string());
        assert_eq!(origin("HTTPS://Study.Example.org:443/").as_deref(), Some("https://study.example.org"));
        assert_eq!(origin("http://[::1]:8080").as_deref(), Some("http://[::1]:8080"));
        for wrong in
            ["ftp://x", "https://", "https://a/b", "https://u@a", "https://a?b", "a.org", "https://a b"]
        {
            assert_eq!(origin(wrong), None, "{wrong}");
        }
        for (text, private) in [
            ("https://a.org", true),
            ("http://a.org", false),
            ("http://127.0.0.1:80", true),
            ("http://localhost:8080", true),
            ("http://[::1]:1", true),
            ("http://10.0.0.1", false),
            ("http://127.0.0.1.evil.org", false),
        ] {
            assert_eq!(Origin::parse(text).unwrap().is_private(), private, "{text}");
        }
    }
}
