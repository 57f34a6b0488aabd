//! A workspace's client of a server: what the user says, with what the workspace's rules say by now.
//!
//! Nothing that was read from the input is lost while the server is away: what was not acknowledged is sent again, under
//! the same id, after the last report.

mod report;
mod talk;

pub use report::{REPORT_BYTES, Report, read};
pub use talk::{Ended, Stopped, run};

use std::path::PathBuf;
use std::time::Duration;

/// How long a client waits before it tries to connect again, at first.
pub const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How long it waits at most; each time twice as long as before.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How many lines of the input are read ahead of what was acknowledged.
pub const LINES: usize = 64;

/// What a client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The file whose text is reported.
    pub file: PathBuf,
    /// The server's host and port.
    pub server: String,
    /// The session.
    pub session: String,
}

/// The host and port of a server's address, such as `http://127.0.0.1:4000`.
///
/// # Errors
///
/// What is wrong with it: one clause, lower case, without a full stop.
pub fn host_of(url: &str) -> Result<String, String> {
    if url.starts_with("https://") || url.starts_with("wss://") {
        return Err("this client speaks plain HTTP: let a tunnel encrypt it".to_owned());
    }
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("ws://")).unwrap_or(url);
    let host = rest.strip_suffix('/').unwrap_or(rest);
    let port = host.rsplit_once(':').and_then(|(name, port)| (!name.is_empty()).then_some(port));
    match port.map(str::parse::<u16>) {
        Some(Ok(_)) if !host.contains(['/', '?', '#', '@', ' ']) => Ok(host.to_owned()),
        _ => Err("write what the server printed, such as http://127.0.0.1:4000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        for url in
            ["http://127.0.0.1:4000", "127.0.0.1:4000", "ws://127.0.0.1:4000/", "http://127.0.0.1:4000/"]
        {
            assert_eq!(host_of(url), Ok("127.0.0.1:4000".to_owned()), "{url}");
        }
        assert_eq!(host_of("http://[::1]:80"), Ok("[::1]:80".to_owned()));
        for url in [
            "",
            "localhost",
            "http://a:b",
            "http://:80",
            "http://a:80/x",
            "https://a:80",
            "ftp://a:80",
            "u@a:80",
        ] {
            assert!(host_of(url).is_err(), "{url}");
        }
    }
}
