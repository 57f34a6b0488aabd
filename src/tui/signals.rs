//! What reaches the driver from outside the program: signals, and panics in other threads.
//!
//! Signals arrive on a thread of their own. It asks the driver first, so that a frame is finished and drafts can be
//! saved; when the driver does not answer (it may hang on a terminal that is gone), the thread puts the terminal back and
//! ends the program itself.

use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something that the driver must act on before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// End the program with this code.
    End(u8),
    /// Leave the terminal and stop.
    Stop,
    /// The program was stopped and goes on: the terminal may have been changed meanwhile.
    Continue,
    /// Another thread panicked. The terminal is left already and the message is printed.
    Panicked,
}

/// The driver that runs at the moment.
static DRIVER: Mutex<Option<UnboundedSender<Signal>>> = Mutex::new(None);

fn set_driver(sender: Option<UnboundedSender<Signal>>) {
    *DRIVER.lock().unwrap_or_else(PoisonError::into_inner) = sender;
}

/// Tells the driver; false when there is none.
fn tell_driver(signal: Signal) -> bool {
    let driver = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
    driver.as_ref().is_some_and(|driver| driver.send(signal).is_ok())
}

/// Tells the driver of a panic, if there is a driver.
pub(super) fn wake_for_panic() {
    tell_driver(Signal::Panicked);
}

/// Receives signals until it is dropped.
#[derive(Debug)]
pub(super) struct Signals {
    receiver: UnboundedReceiver<Signal>,
}

impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the handlers cannot be installed or the thread cannot be started.
    pub(super) fn listen() -> std::io::Result<Self> {
        let (sender, receiver) = unbounded_channel();
        set_driver(Some(sender));
        #[cfg(unix)]
        unix::listen()?;
        Ok(Self { receiver })
    }

    /// The next signal. It can be dropped and called again without losing one.
    pub(super) async fn next(&mut self) -> Signal {
        match self.receiver.recv().await {
            Some(signal) => signal,
            // The senders live as long as this does; should they ever be gone there is nothing to wait for.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        set_driver(None);
    }
}

#[cfg(unix)]
pub(super) use unix::{can_stop, stop_from_key, stop_from_signal};

#[cfg(unix)]
mod unix {
    use std::io;
    use std::process;
    use std::sync::Mutex;
    use std::sync::PoisonError;
    use std::thread;
    use std::time::Duration;

    use nix::sys::signal::{Signal as UnixSignal, kill};
    use nix::unistd::{Pid, getpgrp, getsid};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level;

    use super::{Signal, tell_driver};
    use crate::tui::terminal::{self, Guard, Stage};

    /// How long the driver has to end the program by itself.
    const END_PATIENCE: Duration = Duration::from_millis(500);
    /// How long a stop may take to come about. It is in our own process, so this is never waited out.
    const STOP_PATIENCE: Duration = Duration::from_secs(2);

    /// Starts the thread, once: without a driver it does what the system would have done by default. (The handlers stay
    /// installed to the end of the process; a signal that nobody reads would otherwise do nothing.)
    pub(super) fn listen() -> io::Result<()> {
        static STARTED: Mutex<bool> = Mutex::new(false);
        let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if *started {
            return Ok(());
        }
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT])?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                match signal {
                    SIGTSTP => stop(),
                    SIGCONT if terminal::stage() == Stage::Inside => {
                        tell_driver(Signal::Continue);
                    }
                    SIGCONT => {}
                    // Ctrl-C and Ctrl-\ in an editor that has the terminal reach the whole process group. They are the
                    // editor's. (In raw mode the keys send no signals: those that come were sent by somebody.)
                    SIGINT | SIGQUIT if terminal::stage() == Stage::Lent => {}
                    number => end(number),
                }
            }
        })?;
        *started = true;
        Ok(())
    }

    fn end(number: i32) {
        let code = u8::try_from(128 + number).unwrap_or(u8::MAX);
        if !tell_driver(Signal::End(code)) {
            let _ = low_level::emulate_default_handler(number);
        } else if !terminal::wait_for_end(END_PATIENCE) {
            // Closing writes to a terminal that may have stopped reading, so even that is not waited for.
            thread::spawn(terminal::close);
            terminal::wait_for_end(END_PATIENCE);
            process::exit(code.into());
        }
    }

    fn stop() {
        if terminal::stage() == Stage::Inside && tell_driver(Signal::Stop) {
            return;
        }
        // The terminal is not in our modes: either the driver left them and waits for just this, or another program has
        // it.
        let _ = low_level::emulate_default_handler(SIGTSTP);
        terminal::returned();
    }

    /// Whether a stop would leave somebody to go on. In the session leader's own group there is no shell with job control
    /// (a terminal or multiplexer runs the program directly), and the program could never be woken.
    pub(in crate::tui) fn can_stop() -> bool {
        getsid(None).is_ok_and(|session| session != getpgrp())
    }

    /// Stops as the terminal itself does when Ctrl-Z is pressed outside raw mode: the whole process group, so that a
    /// wrapper (`cargo run`, a script) stops too and the shell gets its prompt back. Returns when the program goes on.
    pub(in crate::tui) fn stop_from_key(guard: &Guard) -> io::Result<()> {
        guard.leave(Stage::Stopping);
        // Our own copy of the signal reaches the signal thread, which stops the process.
        let sent = kill(Pid::from_raw(0), UnixSignal::SIGTSTP);
        if sent.is_ok() {
            guard.wait_for_return(STOP_PATIENCE);
        }
        guard.reenter()?;
        Ok(sent?)
    }

    /// Stops this process only: whoever sent the signal has chosen whom to send it to.
    pub(in crate::tui) fn stop_from_signal(guard: &Guard) -> io::Result<()> {
        guard.leave(Stage::Stopping);
        let stopped = low_level::emulate_default_handler(SIGTSTP);
        guard.reenter()?;
        stopped
    }
}
