//! Whether the terminal's background is light or dark: asked once, before the workbench opens, for a short time.
//!
//! The question is the escape sequence OSC 11. A terminal that is slow to answer, or behind a slow line, would have its
//! answer read as keys; what comes late is swallowed where keys are read (see [`reply_may_come`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use terminal_colorsaurus::{Error, QueryOptions, ThemeMode, theme_mode};

/// How long the terminal has to answer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Set when the terminal was asked and did not answer in time.
static LATE: AtomicBool = AtomicBool::new(false);

/// A kind of background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Dark text is read on it.
    Light,
    /// Light text is read on it.
    Dark,
}

/// Whether it makes sense to ask. In a multiplexer at the other end of a line the answer comes late or never.
#[must_use]
pub fn may_ask(env: &impl Fn(&str) -> Option<String>) -> bool {
    !(env("TMUX").is_some() && env("SSH_TTY").is_some())
}

/// Asks the terminal; none when it does not answer, or not in time.
#[must_use]
pub fn ask() -> Option<Background> {
    let mut options = QueryOptions::default();
    options.timeout = PATIENCE;
    match theme_mode(options) {
        Ok(ThemeMode::Light) => Some(Background::Light),
        Ok(ThemeMode::Dark) => Some(Background::Dark),
        Err(error) => {
            tracing::debug!("the background is not known: {error}");
            LATE.store(matches!(error, Error::Timeout(_)), Ordering::SeqCst);
            None
        }
    }
}

/// True when an answer may still come, among the keys.
#[must_use]
pub fn reply_may_come() -> bool {
    LATE.load(Ordering::SeqCst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplexer_behind_a_line_is_not_asked() {
        let with = |set: &'static [&'static str]| {
            may_ask(&move |name: &str| set.contains(&name).then(|| "x".to_owned()))
        };
        assert!(with(&[]) && with(&["TMUX"]) && with(&["SSH_TTY"]));
        assert!(!with(&["TMUX", "SSH_TTY"]));
    }
}
