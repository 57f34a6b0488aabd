//! The terminal's modes: entering them, and leaving them whatever happens.
//!
//! Raw mode, the alternate screen, mouse capture, bracketed paste, focus reports and the keyboard protocol are turned on
//! and off here and nowhere else, so that "is everything undone?" is a question about one file. They are undone when the
//! [`Guard`] is dropped, when any thread panics (before the message is printed), when a signal ends the program, and for
//! as long as the program is stopped or an editor has the terminal.
//!
//! Bytes go straight to the file descriptor of standard output. The usual handle has a lock that the drawing thread may
//! hold for as long as the terminal does not read, and a signal must not wait for that.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Opens a synchronized update: the terminal shows nothing of a frame until it has all of it. Terminals that do not
/// know the mode ignore it.
pub(super) const FRAME_START: &[u8] = b"\x1b[?2026h";
/// Closes what [`FRAME_START`] opened.
pub(super) const FRAME_END: &[u8] = b"\x1b[?2026l";

/// The alternate screen, a hidden cursor, bracketed paste, focus reports.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// The reverse of [`ENTER`], last mode first, after closing a frame that was cut off and resetting colours.
const LEAVE: &[u8] = b"\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Presses, drags and the wheel in the SGR encoding. Not `?1003`: it reports every movement of the pointer, and a program
/// that should sleep would wake for each.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
/// The reverse of [`MOUSE_ON`].
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Pushes "disambiguate escape codes" on the stack of the keyboard protocol that kitty introduced.
const KEYBOARD_ON: &[u8] = b"\x1b[>1u";
/// Pops it.
const KEYBOARD_OFF: &[u8] = b"\x1b[<1u";

/// How long leaving waits for a frame that is being written. A terminal that has stopped reading must not keep a signal
/// from ending the program.
const FRAME_PATIENCE: Duration = Duration::from_millis(250);

/// Why the workbench cannot open here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTerminal;

impl NoTerminal {
    /// The exit code that goes with it: a usage error.
    pub const EXIT_CODE: u8 = 2;

    /// What to do instead.
    pub fn hint(self) -> &'static str {
        "`plywood layers PATH`, `plywood build PATH` and `plywood run PATH` print the same without one"
    }
}

impl fmt::Display for NoTerminal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the workbench needs a terminal")
    }
}

impl std::error::Error for NoTerminal {}

/// Whether a workbench can open here: standard output must be a terminal. Standard input need not be, keys are then read
/// from the controlling terminal.
pub fn require() -> Result<(), NoTerminal> {
    if io::stdout().is_terminal() { Ok(()) } else { Err(NoTerminal) }
}

/// Where the program stands with its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The modes are not ours: before the start, after the end.
    Outside,
    /// The modes are on.
    Inside,
    /// Left on the way to a stop; the shell has the terminal next.
    Stopping,
    /// Another program has the terminal, an editor for example.
    Lent,
    /// Left for good by a panic or a signal. Nothing is written any more.
    Closed,
}

#[derive(Debug)]
struct Modes {
    stage: Stage,
    mouse: bool,
    keyboard: bool,
}

static MODES: Mutex<Modes> = Mutex::new(Modes { stage: Stage::Outside, mouse: false, keyboard: false });
/// Tells those who wait that [`MODES`] has another stage.
static STAGE_CHANGED: Condvar = Condvar::new();
/// Set by a panic in any thread while the workbench was open.
static PANICKED: AtomicBool = AtomicBool::new(false);

fn modes() -> MutexGuard<'static, Modes> {
    MODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds the terminal in the modes of the workbench. There is one at a time.
#[derive(Debug)]
#[must_use = "the modes are left when the guard is dropped"]
pub struct Guard(());

impl Guard {
    /// Turns the modes on and installs the panic hook.
    ///
    /// # Errors
    /// When standard output is not a terminal ([`NoTerminal`], inside the error) or its modes cannot be set.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        require().map_err(io::Error::other)?;
        install_panic_hook();
        // Without it crossterm follows NO_COLOR by dropping the colours *inside* its sequences, and what is left of them
        // resets bold and reverse: the selection disappears. Whoever draws follows NO_COLOR through the theme.
        crossterm::style::force_color_output(true);
        let guard = Self(());
        {
            let mut modes = modes();
            modes.mouse = mouse;
            modes.keyboard = keyboard_protocol_is_safe(|name| std::env::var(name).ok());
        }
        guard.reenter()?;
        Ok(guard)
    }

    /// Turns the modes on again after `leave`, or after somebody else may have changed them. The screen is then
    /// blank: every cell has to be written.
    ///
    /// # Errors
    /// When the terminal's modes cannot be set.
    pub fn reenter(&self) -> io::Result<()> {
        let mut modes = modes();
        if modes.stage == Stage::Closed {
            return Ok(());
        }
        // A shell that had the terminal meanwhile has set its own modes, and crossterm would take its word that raw mode
        // is still on.
        if modes.stage == Stage::Inside {
            disable_raw_mode()?;
        }
        enable_raw_mode()?;
        let mut bytes = ENTER.to_vec();
        if modes.keyboard {
            bytes.extend_from_slice(KEYBOARD_ON);
        }
        if modes.mouse {
            bytes.extend_from_slice(MOUSE_ON);
        }
        // From here on a failure must be undone too.
        modes.stage = Stage::Inside;
        windows_mouse(modes.mouse);
        write_terminal(&bytes)
    }

    /// Turns the modes off; [`Guard::reenter`] brings them back.
    pub(super) fn leave(&self, next: Stage) {
        let mut modes = modes();
        if modes.stage == Stage::Inside {
            put_back(&modes);
            modes.stage = next;
            STAGE_CHANGED.notify_all();
        }
    }

    /// Turns mouse capture on or off. Without it the terminal's own selection works.
    ///
    /// # Errors
    /// When the terminal cannot be written.
    pub fn set_mouse(&self, on: bool) -> io::Result<()> {
        let mut modes = modes();
        modes.mouse = on;
        if modes.stage == Stage::Inside {
            windows_mouse(on);
            write_terminal(if on { MOUSE_ON } else { MOUSE_OFF })?;
        }
        Ok(())
    }

    /// Waits until whoever has the terminal gives it back after a stop, at most `patience`.
    #[cfg(unix)]
    pub(super) fn wait_for_return(&self, patience: Duration) {
        let modes = modes();
        drop(STAGE_CHANGED.wait_timeout_while(modes, patience, |modes| modes.stage == Stage::Stopping));
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leave(Stage::Outside);
        let mut modes = modes();
        if modes.stage != Stage::Closed {
            modes.stage = Stage::Outside;
        }
        STAGE_CHANGED.notify_all();
    }
}

/// Does something while the terminal hands over every key as it is typed and shows none of them, before the modes are
/// entered. Also after a panic they are as they were.
///
/// # Errors
/// When the terminal cannot be set, and what `work` fails with.
pub(super) fn in_raw_mode<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    struct Raw;
    impl Drop for Raw {
        fn drop(&mut self) {
            drop(disable_raw_mode());
        }
    }
    enable_raw_mode()?;
    let _raw = Raw;
    work()
}

/// Writes a frame, whole, unless the terminal is not ours at the moment.
pub(super) fn write_frame(bytes: &[u8]) -> io::Result<()> {
    // The lock is held while writing, so that nobody leaves the modes in the middle of a frame.
    let modes = modes();
    if modes.stage == Stage::Inside { write_terminal(bytes) } else { Ok(()) }
}

/// The stage at this moment.
pub(super) fn stage() -> Stage {
    modes().stage
}

/// Says that the stop is over, to [`Guard::wait_for_return`].
#[cfg(unix)]
pub(super) fn returned() {
    let mut modes = modes();
    if modes.stage == Stage::Stopping {
        modes.stage = Stage::Lent;
        STAGE_CHANGED.notify_all();
    }
}

/// Waits until the guard is gone; false after `patience`.
#[cfg(unix)]
pub(super) fn wait_for_end(patience: Duration) -> bool {
    let over = |stage: Stage| matches!(stage, Stage::Outside | Stage::Closed);
    let waited = STAGE_CHANGED.wait_timeout_while(modes(), patience, |modes| !over(modes.stage));
    let (modes, _) = waited.unwrap_or_else(PoisonError::into_inner);
    over(modes.stage)
}

/// Leaves the modes for good, from any thread and at any moment; true when
/// the program had not left them for good before. Safe to call again.
pub fn close() -> bool {
    let deadline = Instant::now() + FRAME_PATIENCE;
    let mut modes = loop {
        match MODES.try_lock() {
            Ok(modes) => break modes,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            // A frame is being written. If it does not end, the terminal has stopped reading, or this is the thread that
            // writes it; both ways the modes are put back without the lock.
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                put_back(&Modes { stage: Stage::Inside, mouse: true, keyboard: false });
                return true;
            }
        }
    };
    let was = modes.stage;
    if was == Stage::Inside {
        put_back(&modes);
    }
    if was != Stage::Outside {
        modes.stage = Stage::Closed;
        STAGE_CHANGED.notify_all();
    }
    !matches!(was, Stage::Outside | Stage::Closed)
}

/// Whether a thread panicked while the workbench was open.
pub(super) fn panicked() -> bool {
    PANICKED.load(Ordering::SeqCst)
}

/// Puts the terminal back first and prints the panic afterwards, whichever thread it came from. The usual hook would
/// print into the alternate screen, where the message is lost, and leave mouse reports on.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let running = close();
            let backtrace = std::backtrace::Backtrace::force_capture();
            tracing::error!("{panic}\n{backtrace}");
            print(panic);
            if running {
                PANICKED.store(true, Ordering::SeqCst);
                super::signals::wake_for_panic();
            }
        }));
    });
}

/// Turns off what `modes` says is on. Errors are dropped: there is nobody left to tell, and the next step may still work.
fn put_back(modes: &Modes) {
    let mut bytes = FRAME_END.to_vec();
    if modes.mouse {
        bytes.extend_from_slice(MOUSE_OFF);
    }
    if modes.keyboard {
        bytes.extend_from_slice(KEYBOARD_OFF);
    }
    bytes.extend_from_slice(LEAVE);
    windows_mouse(false);
    // Raw mode first: setting it never waits for the terminal, writing may.
    drop(disable_raw_mode());
    drop(write_terminal(&bytes));
}

#[cfg(unix)]
fn write_terminal(bytes: &[u8]) -> io::Result<()> {
    use std::os::fd::AsFd;
    let mut file = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn write_terminal(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// The Windows console takes mouse input through its own interface.
#[cfg(windows)]
fn windows_mouse(on: bool) {
    use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
    let mut stdout = io::stdout();
    drop(if on {
        crossterm::execute!(stdout, EnableMouseCapture)
    } else {
        crossterm::execute!(stdout, DisableMouseCapture)
    });
}

#[cfg(not(windows))]
fn windows_mouse(_on: bool) {}

/// Whether the keyboard protocol may be pushed without asking the terminal first. Asking means waiting for an answer, and
/// an answer that comes late is typed text; so only terminals that name themselves count, and nothing in between.
fn keyboard_protocol_is_safe(env: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    if ["TMUX", "STY", "ZELLIJ"].into_iter().any(is_set) {
        return false;
    }
    let term = env("TERM").unwrap_or_default();
    let program = env("TERM_PROGRAM").unwrap_or_default();
    matches!(term.as_str(), "xterm-kitty" | "xterm-ghostty" | "foot" | "foot-extra" | "rio")
        || matches!(program.as_str(), "ghostty" | "rio")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes_in(bytes: &[u8], end: char) -> Vec<String> {
        let text = std::str::from_utf8(bytes).expect("escape sequences are ASCII");
        let mut found: Vec<String> = text
            .split("\x1b[?")
            .skip(1)
            .filter_map(|rest| rest.find(['h', 'l']).map(|at| rest.split_at(at)))
            .filter(|(_, rest)| rest.starts_with(end))
            .map(|(number, _)| number.to_owned())
            .collect();
        found.sort();
        found
    }

    #[test]
    fn every_mode_that_is_turned_on_is_turned_off() {
        assert_eq!(modes_in(ENTER, 'h'), ["1004", "1049", "2004"]);
        assert_eq!(modes_in(ENTER, 'h'), modes_in(LEAVE, 'l'));
        assert_eq!(modes_in(ENTER, 'l'), modes_in(LEAVE, 'h'), "the cursor is hidden, then shown");
        assert_eq!(modes_in(MOUSE_ON, 'h'), modes_in(MOUSE_OFF, 'l'));
        assert_eq!(modes_in(FRAME_START, 'h'), modes_in(FRAME_END, 'l'));
    }

    #[test]
    fn the_keyboard_protocol_needs_a_terminal_that_names_itself() {
        let with = |pairs: &'static [(&'static str, &'static str)]| {
            keyboard_protocol_is_safe(move |name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(with(&[("TERM", "xterm-kitty")]));
        assert!(with(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")]));
        assert!(!with(&[("TERM", "xterm-256color")]));
        assert!(!with(&[]));
        assert!(
            !with(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux-0/default,1,0")]),
            "tmux stands in between"
        );
    }

    #[test]
    fn the_refusal_says_what_to_do_instead() {
        assert_eq!(NoTerminal.to_string(), "the workbench needs a terminal");
        assert!(NoTerminal.hint().contains("plywood layers"));
        assert_eq!(NoTerminal::EXIT_CODE, 2);
    }
}
