//! The user's clipboard: which way leads there from this terminal, and the bytes that go that way.
//!
//! Over SSH only the terminal itself (OSC 52) reaches the clipboard of the machine that the user sits at; that of the
//! remote desktop is never touched. At home the desktop's clipboard comes first. tmux eats OSC 52 unless it is told to
//! let it through, so inside tmux its own buffer is used, which tmux hands on to the terminal.

mod desktop;
mod osc52;

use crate::core::text::number::grouped;
use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// How many bytes of text many terminals take at most with one OSC 52: the limit of hterm and of what imitates it, a
/// sequence of 100,000 bytes.
pub const OSC52_LIMIT: usize = 74_994;

/// Which way the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// What fits the terminal.
    #[default]
    Auto,
    /// The desktop's clipboard, also over SSH.
    Desktop,
    /// The terminal, also on a desktop.
    Osc52,
    /// The buffer of tmux.
    Tmux,
}

impl Preference {
    /// The words of settings.
    pub const WORDS: [(&'static str, Preference); 4] = [
        ("auto", Preference::Auto),
        ("desktop", Preference::Desktop),
        ("osc52", Preference::Osc52),
        ("tmux", Preference::Tmux),
    ];

    /// Reads a word of the settings.
    #[must_use]
    pub fn parse(word: &str) -> Option<Preference> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, preference)| *preference)
    }
}

/// A way to the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The desktop's own clipboard.
    Desktop,
    /// The buffer of tmux, which hands it on to its terminal (`load-buffer -w`, from tmux 3.2 on).
    TmuxBuffer,
    /// OSC 52 in the envelope with which tmux lets it through.
    TmuxPassthrough,
    /// OSC 52: the terminal does it.
    Osc52,
}

/// As messages name it.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Route::Desktop => "the desktop's clipboard",
            Route::TmuxBuffer => "tmux (load-buffer -w)",
            Route::TmuxPassthrough => "OSC 52 (tmux)",
            Route::Osc52 => "OSC 52",
        })
    }
}

/// What copying needs of the world.
pub trait Surroundings: Send {
    /// A variable of the environment that is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// Puts text on the desktop's clipboard.
    ///
    /// # Errors
    ///
    /// Why that cannot be done.
    fn desktop(&mut self, text: &str) -> Result<(), String>;

    /// Puts text into the buffer of tmux and lets tmux hand it on.
    ///
    /// # Errors
    ///
    /// Why that cannot be done.
    fn tmux(&mut self, text: &str) -> Result<(), String>;
}

/// The ways that are tried, in order.
#[must_use]
pub fn routes(preference: Preference, around: &dyn Surroundings) -> Vec<Route> {
    let set = |name: &str| around.variable(name).is_some();
    let tmux = set("TMUX");
    let terminal = if tmux { Route::TmuxPassthrough } else { Route::Osc52 };
    match preference {
        Preference::Desktop => vec![Route::Desktop],
        Preference::Osc52 => vec![terminal],
        Preference::Tmux => vec![Route::TmuxBuffer],
        Preference::Auto => {
            let remote = ["SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT"].into_iter().any(set);
            let desktop = cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY");
            let mut routes = Vec::new();
            if desktop && !remote {
                routes.push(Route::Desktop);
            }
            if tmux {
                routes.push(Route::TmuxBuffer);
            }
            routes.push(terminal);
            routes
        }
    }
}

/// Text that is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The way it went.
    pub route: Route,
    /// The length of the text.
    pub bytes: usize,
    /// What still has to be written to the terminal, between two frames; none where it is done.
    pub write: Option<Vec<u8>>,
    /// Why an earlier way did not work.
    pub failed: Option<String>,
}

impl Copied {
    /// The message: what was copied and how.
    #[must_use]
    pub fn sentence(&self, what: &str) -> String {
        let bytes = grouped(self.bytes);
        let mut sentence = format!("copied {what}, {bytes} bytes, via {}", self.route);
        if self.write.is_some() && self.bytes > OSC52_LIMIT {
            let limit = grouped(OSC52_LIMIT);
            sentence.push_str(&format!("; many terminals take no more than {limit} bytes"));
        }
        if let Some(reason) = &self.failed {
            sentence.push_str(&format!("; {reason}"));
        }
        sentence
    }
}

/// Copies text the first way that works.
///
/// # Errors
///
/// Why no way works.
pub fn copy(text: &str, preference: Preference, around: &mut dyn Surroundings) -> Result<Copied, String> {
    let mut failed: Option<String> = None;
    for route in routes(preference, around) {
        let write = match route {
            Route::Osc52 => Ok(Some(osc52::sequence(text))),
            Route::TmuxPassthrough => Ok(Some(osc52::through_tmux(&osc52::sequence(text)))),
            Route::Desktop => around.desktop(text).map(|()| None),
            Route::TmuxBuffer => around.tmux(text).map(|()| None),
        };
        match write {
            Ok(write) => return Ok(Copied { route, bytes: text.len(), write, failed }),
            Err(reason) => failed = failed.or(Some(format!("{route}: {reason}"))),
        }
    }
    Err(failed.unwrap_or_else(|| "there is no way to a clipboard".to_owned()))
}

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Surroundings for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        let value = std::env::var_os(name)?.to_string_lossy().into_owned();
        (!value.is_empty()).then_some(value)
    }

    fn desktop(&mut self, text: &str) -> Result<(), String> {
        desktop::copy(text, |name| self.variable(name).is_some())
    }

    fn tmux(&mut self, text: &str) -> Result<(), String> {
        // Under `-w` tmux also sends it to the clipboard of its terminal; before 3.2 it refuses the option.
        let mut child = Command::new("tmux")
            .args(["load-buffer", "-w", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
        let status = child.wait().map_err(|error| error.to_string())?;
        match (written, status.success()) {
            (Ok(()), true) => Ok(()),
            (Err(error), _) => Err(error.to_string()),
            (_, false) => Err("it does not take it".to_owned()),
        }
    }
}

/// What makes the text that is copied; called on the clipboard's thread.
pub type Make = Box<dyn FnOnce() -> Arc<str> + Send>;
/// What is told of the outcome.
pub type Tell = Box<dyn FnOnce(Result<Copied, String>) + Send>;

/// A thread that copies, one text after the other: a desktop that does not answer keeps no key waiting.
pub struct Clipboard {
    jobs: Sender<(Make, Tell)>,
}

impl Clipboard {
    /// Starts the thread. It ends with the last job after the clipboard was dropped.
    ///
    /// # Errors
    ///
    /// When the machine gives no thread.
    pub fn start(preference: Preference, mut around: Box<dyn Surroundings>) -> std::io::Result<Clipboard> {
        let (jobs, inbox) = channel::<(Make, Tell)>();
        std::thread::Builder::new().name("clipboard".into()).spawn(move || {
            while let Ok((make, tell)) = inbox.recv() {
                tell(copy(&make(), preference, &mut *around));
            }
        })?;
        Ok(Clipboard { jobs })
    }

    /// Copies what `make` makes, and tells of it.
    pub fn copy(&self, make: Make, tell: Tell) {
        if let Err(lost) = self.jobs.send((make, tell)) {
            lost.0.1(Err("the clipboard's thread is gone".to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Around {
        set: &'static [&'static str],
        desktop: Result<(), &'static str>,
        tmux: Result<(), &'static str>,
        got: Vec<String>,
    }

    fn around(set: &'static [&'static str]) -> Around {
        Around { set, desktop: Ok(()), tmux: Ok(()), got: Vec::new() }
    }

    impl Surroundings for Around {
        fn variable(&self, name: &str) -> Option<String> {
            self.set.contains(&name).then(|| "x".to_owned())
        }

        fn desktop(&mut self, text: &str) -> Result<(), String> {
            self.desktop.map_err(str::to_owned).map(|()| self.got.push(format!("desktop {text}")))
        }

        fn tmux(&mut self, text: &str) -> Result<(), String> {
            self.tmux.map_err(str::to_owned).map(|()| self.got.push(format!("tmux {text}")))
        }
    }

    // On these systems there is always a desktop.
    #[cfg(not(any(windows, target_os = "macos")))]
    #[test]
    fn the_way_fits_the_terminal() {
        use Route::{Desktop, Osc52, TmuxBuffer, TmuxPassthrough};
        for (set, routes_wanted) in [
            (&[][..], &[Osc52][..]),
            (&["DISPLAY"], &[Desktop, Osc52]),
            (&["WAYLAND_DISPLAY"], &[Desktop, Osc52]),
            (&["DISPLAY", "SSH_TTY"], &[Osc52]),
            (&["DISPLAY", "SSH_CONNECTION", "TMUX"], &[TmuxBuffer, TmuxPassthrough]),
            (&["DISPLAY", "TMUX"], &[Desktop, TmuxBuffer, TmuxPassthrough]),
        ] {
            assert_eq!(routes(Preference::Auto, &around(set)), routes_wanted, "{set:?}");
        }
        let tmux = around(&["TMUX", "DISPLAY"]);
        assert_eq!(routes(Preference::Osc52, &tmux), [TmuxPassthrough]);
        assert_eq!(routes(Preference::Desktop, &around(&["SSH_TTY"])), [Desktop]);
        assert_eq!(routes(Preference::Tmux, &tmux), [TmuxBuffer]);
    }

    #[test]
    fn over_ssh_the_terminal_gets_the_bytes_and_the_desktop_nothing() {
        let mut remote = around(&["SSH_TTY", "DISPLAY"]);
        let copied = copy("call 5", Preference::Auto, &mut remote).expect("it can be copied");
        assert_eq!(copied.write.as_deref(), Some(&b"\x1b]52;c;Y2FsbCA1\x07"[..]));
        assert_eq!(copied.sentence("the blame line"), "copied the blame line, 6 bytes, via OSC 52");
        assert_eq!(remote.got, Vec::<String>::new());
    }

    #[test]
    fn tmux_is_asked_first_and_passed_through_where_it_refuses() {
        let mut tmux = around(&["SSH_TTY", "TMUX"]);
        let copied = copy("a", Preference::Auto, &mut tmux).expect("it can be copied");
        assert_eq!((copied.route, &copied.write), (Route::TmuxBuffer, &None));
        assert_eq!(tmux.got, ["tmux a"]);

        tmux.tmux = Err("it does not take it");
        let copied = copy("a", Preference::Auto, &mut tmux).expect("it can be copied");
        assert_eq!(copied.write.as_deref(), Some(&b"\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"[..]));
        assert_eq!(
            copied.sentence("it"),
            "copied it, 1 bytes, via OSC 52 (tmux); tmux (load-buffer -w): it does not take it"
        );
        assert_eq!(
            copy("a", Preference::Tmux, &mut tmux),
            Err("tmux (load-buffer -w): it does not take it".to_owned())
        );
    }

    #[test]
    fn a_desktop_that_refuses_leaves_it_to_the_terminal() {
        let mut desk = Around { desktop: Err("no display"), ..around(&["DISPLAY"]) };
        let copied = copy("a", Preference::Auto, &mut desk).expect("it can be copied");
        assert_eq!(copied.route, Route::Osc52);
        assert_eq!(copied.failed.as_deref(), Some("the desktop's clipboard: no display"));
        desk.desktop = Ok(());
        let copied = copy("a", Preference::Auto, &mut desk).expect("it can be copied");
        assert_eq!((copied.route, copied.write, desk.got), (Route::Desktop, None, vec!["desktop a".into()]));
    }

    #[test]
    fn what_may_be_too_long_is_said() {
        let copied = Copied { route: Route::Osc52, bytes: 74_995, write: Some(Vec::new()), failed: None };
        let limit = "; many terminals take no more than 74,994 bytes";
        assert!(copied.sentence("it").ends_with(limit), "{}", copied.sentence("it"));
        assert!(!Copied { bytes: 74_994, ..copied.clone() }.sentence("it").contains("many"));
        let desktop = Copied { route: Route::Desktop, write: None, ..copied };
        assert_eq!(desktop.sentence("it"), "copied it, 74,995 bytes, via the desktop's clipboard");
    }

    #[test]
    fn the_thread_copies_in_order() {
        let clipboard = Clipboard::start(Preference::Desktop, Box::new(around(&[]))).expect("a thread");
        let (tell, told) = channel();
        for text in ["first", "second"] {
            let tell = tell.clone();
            clipboard.copy(
                Box::new(move || text.into()),
                Box::new(move |copied| tell.send(copied.map(|copied| copied.bytes)).expect("listening")),
            );
        }
        drop((clipboard, tell));
        assert_eq!(told.iter().collect::<Vec<_>>(), [Ok(5), Ok(6)]);
    }
}
