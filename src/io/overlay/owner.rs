//! Processes that own something, and whether they live.
//!
//! A number alone is not enough: numbers are given again. On Linux the moment at which a process started, in ticks since
//! the machine was switched on, and which time it was switched on, tell it from every later one of the same number; both
//! come from `/proc`. Elsewhere the number alone decides, so that one that was given again counts as alive.

use std::fs;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it started, where the system tells: `ticks-boot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The machine that it runs on; empty where nobody knows.
    #[serde(default)]
    pub host: String,
}

/// True where the system tells when a process started.
pub const KNOWS_START: bool = cfg!(target_os = "linux");

/// This process.
#[must_use]
pub fn me() -> Owner {
    static ME: OnceLock<Owner> = OnceLock::new();
    ME.get_or_init(|| of(std::process::id())).clone()
}

/// The process that started this one: the shell or the script that is waited for; this one where that cannot be told.
#[must_use]
pub fn parent() -> Owner {
    #[cfg(unix)]
    let pid = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let pid = std::process::id();
    of(if pid > 1 { pid } else { std::process::id() })
}

/// The process with this number, on this machine.
#[must_use]
pub fn of(pid: u32) -> Owner {
    Owner { pid, start: state(pid).map(|(_, start)| start), host: host() }
}

/// The name of this machine.
fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name
}

/// True where `owner` runs on this machine, as far as it says.
#[must_use]
pub fn is_here(owner: &Owner) -> bool {
    owner.host.is_empty() || owner.host == me().host
}

/// True for a process that lives. One of another machine counts as alive: nobody here can tell.
#[must_use]
pub fn alive(owner: &Owner) -> bool {
    if !is_here(owner) {
        return true;
    }
    if !answers(owner.pid) {
        return false;
    }
    match (state(owner.pid), &owner.start) {
        // It ended, and nobody has asked yet how.
        (Some(('Z' | 'X', _)), _) => false,
        (Some((_, now)), Some(then)) => now == *then,
        _ => true,
    }
}

/// True where there is a process of this number. One that may not be signalled is one, too.
#[cfg(unix)]
fn answers(pid: u32) -> bool {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    // 0 and below would be whole groups.
    let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 0) else { return false };
    matches!(kill(Pid::from_raw(pid), None), Ok(()) | Err(Errno::EPERM))
}

#[cfg(not(unix))]
fn answers(_: u32) -> bool {
    // Without a way to ask, nothing is taken from anybody.
    true
}

/// What a process does, as one letter, and when it started; none where the system does not tell.
fn state(pid: u32) -> Option<(char, String)> {
    if !KNOWS_START {
        return None;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets and spaces too.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    // The 22nd field of all, by proc_pid_stat(5).
    let ticks = fields.nth(18)?;
    Some((state, format!("{ticks}-{}", boot())))
}

/// Tells one time that the machine was switched on from another.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.chars().filter(char::is_ascii_hexdigit).take(8).collect()
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn sleeper() -> std::process::Child {
        Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().expect("a process")
    }

    #[test]
    fn a_process_lives_until_it_ends_even_while_nobody_waits_for_it() {
        let mut child = sleeper();
        let owner = of(child.id());
        assert!(owner.start.is_some() && alive(&owner) && alive(&me()));
        child.kill().expect("killed");
        // It is a zombie now: its number still answers.
        while state(owner.pid).is_some_and(|(state, _)| state != 'Z') {
            std::thread::yield_now();
        }
        assert!(answers(owner.pid) && !alive(&owner));
        child.wait().expect("waited for");
        assert!(!alive(&owner));
    }

    #[test]
    fn a_number_that_was_given_again_is_another_process() {
        let now = me();
        let then = Owner { start: Some("1-00000000".into()), ..now.clone() };
        assert!(alive(&now) && !alive(&then));
        // Who does not say when it started is judged by its number alone.
        assert!(alive(&Owner { start: None, ..now }));
    }

    #[test]
    fn the_first_process_is_alive_and_no_number_names_a_group() {
        // It may not be signalled by everybody.
        assert!(alive(&of(1)));
        for pid in [0, u32::MAX, i32::MAX as u32] {
            assert!(!alive(&of(pid)), "{pid}");
        }
    }

    #[test]
    fn a_process_of_another_machine_counts_as_alive() {
        let far = Owner { pid: u32::MAX, start: None, host: "somewhere-else".into() };
        assert!(alive(&far) && !is_here(&far));
    }
}
