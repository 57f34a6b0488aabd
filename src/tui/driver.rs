//! The loop that keeps the workbench alive: input, messages and signals in, frames out.
//!
//! It sleeps until one of them arrives. A change marks the screen as dirty; the frame is drawn at once when the last one
//! is a frame's time ago, else when it is, so that a burst of changes costs one frame. Nothing wakes it otherwise.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crossterm::event::Event;
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc::UnboundedReceiver;

use super::backend::FrameBackend;
use super::input::Input;
use super::signals::{Signal, Signals};
use super::terminal::{self, Guard, Stage};

/// The shortest time between two frames.
pub const FRAME_PERIOD: Duration = Duration::from_millis(16);
/// How many messages are handed over in a row, so that a flood of them cannot keep a frame or a key waiting.
const MESSAGES_A_FRAME: usize = 1024;
/// The exit code after a panic, as Rust's runtime has it.
const PANIC_EXIT_CODE: u8 = 101;

/// A program that the driver can run.
pub trait App {
    /// What other threads send it.
    type Message: Send + 'static;

    /// A key went down, the mouse was used, text was pasted (line ends are `\n`), the size changed, the terminal gained or
    /// lost the focus. Gaining it is a good moment to look at the files again.
    fn on_input(&mut self, event: Event);

    /// A message arrived. Those that are there already are handed over before the next frame.
    fn on_message(&mut self, message: Self::Message);

    /// The driver has something to say that belongs in the status line.
    fn on_notice(&mut self, notice: Notice);

    /// The moment given by [`App::next_deadline`] has come.
    fn on_deadline(&mut self, now: Instant) {
        let _ = now;
    }

    /// When to call [`App::on_deadline`]; none (as a rule) to sleep until something happens.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether something changed since the last answer, so that the screen has to be drawn again. (Drawing an equal frame
    /// costs time and writes nothing.)
    fn take_dirty(&mut self) -> bool;

    /// Draws the whole screen, in the size of the frame, which may be as small as 1x1.
    fn draw(&mut self, frame: &mut Frame<'_>);

    /// What the program wants done, in order. Asked for after each input, message, notice, deadline and frame, and once
    /// before the first frame.
    fn take_effects(&mut self) -> Vec<Effect<Self::Message>>;
}

/// What a program asks of the driver.
pub enum Effect<M> {
    /// End with this exit code.
    Quit(u8),
    /// Stop as Ctrl-Z does.
    Suspend,
    /// Turn mouse capture on or off.
    Mouse(bool),
    /// Write every cell again: somebody else wrote on the screen.
    Redraw,
    /// Give the terminal away (to an editor, for example) for as long as this runs; what it returns is the next message.
    Lend(Box<dyn FnOnce() -> M>),
    /// Write these bytes to the terminal between two frames: an OSC 52 copy, for example.
    Write(Vec<u8>),
}

impl<M> fmt::Debug for Effect<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quit(code) => write!(formatter, "Quit({code})"),
            Self::Suspend => formatter.write_str("Suspend"),
            Self::Mouse(on) => write!(formatter, "Mouse({on})"),
            Self::Redraw => formatter.write_str("Redraw"),
            Self::Lend(_) => formatter.write_str("Lend(..)"),
            Self::Write(bytes) => write!(formatter, "Write({} bytes)", bytes.len()),
        }
    }
}

/// What the driver has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A stop was asked for, but the terminal runs this program directly: there is no shell that could continue it.
    CannotSuspend,
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotSuspend => formatter.write_str("cannot stop: no shell to come back from"),
        }
    }
}

/// Takes the terminal, runs the program until it quits, and gives the terminal back. Returns the exit code: that of
/// [`Effect::Quit`], 128 + n after signal n, 101 after a panic in another thread.
///
/// # Errors
/// When standard output is not a terminal ([`terminal::NoTerminal`], inside the error), or the terminal can no longer be
/// read or written.
pub fn run<A: App>(app: &mut A, messages: UnboundedReceiver<A::Message>, mouse: bool) -> io::Result<u8> {
    terminal::require().map_err(io::Error::other)?;
    // Before the modes are entered, so that there is no moment in which a signal would leave them on.
    let signals = Signals::listen()?;
    let guard = Guard::enter(mouse)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let screen = Terminal::new(FrameBackend::new())?;
    let mut driver =
        Driver { app, messages, signals, guard, screen, input: Input::open(), pace: Pace::default() };
    let code = runtime.block_on(driver.run());
    driver.input.close();
    drop(driver);
    if terminal::panicked() { Ok(PANIC_EXIT_CODE) } else { code }
}

struct Driver<'a, A: App> {
    app: &'a mut A,
    messages: UnboundedReceiver<A::Message>,
    input: Input,
    screen: Terminal<FrameBackend>,
    guard: Guard,
    signals: Signals,
    pace: Pace,
}

/// What woke the loop.
enum Woken<M> {
    Signal(Signal),
    Input(io::Result<Event>),
    Message(M),
    Time,
}

impl<A: App> Driver<'_, A> {
    async fn run(&mut self) -> io::Result<u8> {
        let mut listening = true;
        self.pace.changed();
        if let Some(code) = self.act()? {
            return Ok(code);
        }
        loop {
            if self.pace.is_due(Instant::now()) {
                let app = &mut *self.app;
                self.screen.draw(|frame| app.draw(frame))?;
                self.pace.drawn(Instant::now());
                // Drawing may have told the program something: how many lines fit, for example.
                if let Some(code) = self.act()? {
                    return Ok(code);
                }
            }
            let wake_at = [self.pace.due(), self.app.next_deadline()].into_iter().flatten().min();
            let timer = async {
                match wake_at {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let woken = tokio::select! {
                biased;
                signal = self.signals.next() => Woken::Signal(signal),
                event = self.input.next() => Woken::Input(event),
                message = self.messages.recv(), if listening => match message {
                    Some(message) => Woken::Message(message),
                    // Nobody is left to send: asking again would answer at once, for ever.
                    None => { listening = false; continue }
                },
                () = timer => Woken::Time,
            };
            match woken {
                Woken::Signal(signal) => {
                    if let Some(code) = self.on_signal(signal)? {
                        return Ok(code);
                    }
                    continue;
                }
                Woken::Input(event) => {
                    let event = event?;
                    // The frame must follow the size even if the program sees nothing new in it.
                    if matches!(event, Event::Resize(..)) {
                        self.pace.changed();
                    }
                    self.app.on_input(event);
                }
                Woken::Message(message) => {
                    self.app.on_message(message);
                    for _ in 1..MESSAGES_A_FRAME {
                        let Ok(message) = self.messages.try_recv() else { break };
                        self.app.on_message(message);
                    }
                }
                Woken::Time => {
                    let now = Instant::now();
                    if self.app.next_deadline().is_none_or(|deadline| deadline > now) {
                        continue;
                    }
                    self.app.on_deadline(now);
                }
            }
            if let Some(code) = self.act()? {
                return Ok(code);
            }
        }
    }

    /// Does what the program asks for; the exit code when it asks to quit.
    fn act(&mut self) -> io::Result<Option<u8>> {
        loop {
            if self.app.take_dirty() {
                self.pace.changed();
            }
            let effects = self.app.take_effects();
            if effects.is_empty() {
                return Ok(None);
            }
            for effect in effects {
                match effect {
                    Effect::Quit(code) => return Ok(Some(code)),
                    Effect::Suspend => self.suspend()?,
                    Effect::Mouse(on) => self.guard.set_mouse(on)?,
                    Effect::Redraw => self.redraw()?,
                    Effect::Write(bytes) => terminal::write_frame(&bytes)?,
                    Effect::Lend(borrower) => {
                        self.input.close();
                        self.guard.leave(Stage::Lent);
                        let message = borrower();
                        self.guard.reenter()?;
                        self.input.reopen();
                        self.redraw()?;
                        self.app.on_message(message);
                    }
                }
            }
        }
    }

    fn on_signal(&mut self, signal: Signal) -> io::Result<Option<u8>> {
        match signal {
            Signal::End(code) => return Ok(Some(code)),
            Signal::Panicked => return Ok(Some(PANIC_EXIT_CODE)),
            #[cfg(unix)]
            Signal::Stop => {
                super::signals::stop_from_signal(&self.guard)?;
                self.redraw()?;
            }
            #[cfg(not(unix))]
            Signal::Stop => {}
            Signal::Continue => {
                self.guard.reenter()?;
                self.redraw()?;
            }
        }
        Ok(None)
    }

    #[cfg(unix)]
    fn suspend(&mut self) -> io::Result<()> {
        if super::signals::can_stop() {
            super::signals::stop_from_key(&self.guard)?;
            self.redraw()
        } else {
            self.app.on_notice(Notice::CannotSuspend);
            Ok(())
        }
    }

    #[cfg(not(unix))]
    fn suspend(&mut self) -> io::Result<()> {
        self.app.on_notice(Notice::CannotSuspend);
        Ok(())
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.screen.backend_mut().forget();
        self.screen.clear()?;
        self.pace.changed();
        Ok(())
    }
}

/// When the next frame is due.
#[derive(Debug, Default)]
struct Pace {
    dirty: bool,
    last: Option<Instant>,
}

impl Pace {
    fn changed(&mut self) {
        self.dirty = true;
    }

    fn drawn(&mut self, now: Instant) {
        self.dirty = false;
        self.last = Some(now);
    }

    /// The moment of the next frame; none while nothing changed. It may lie in the past.
    fn due(&self) -> Option<Instant> {
        self.dirty.then(|| self.last.map_or_else(Instant::now, |last| last + FRAME_PERIOD))
    }

    fn is_due(&self, now: Instant) -> bool {
        self.dirty && self.last.is_none_or(|last| now >= last + FRAME_PERIOD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_changes_is_one_frame_and_a_late_change_is_drawn_at_once() {
        let mut pace = Pace::default();
        let start = Instant::now();
        assert_eq!(pace.due(), None, "nothing to draw, nothing to wake up for");
        assert!(!pace.is_due(start));

        pace.changed();
        assert!(pace.is_due(start), "the first frame does not wait");
        pace.drawn(start);
        assert_eq!(pace.due(), None);

        pace.changed();
        pace.changed();
        assert!(!pace.is_due(start + FRAME_PERIOD / 2));
        assert_eq!(pace.due(), Some(start + FRAME_PERIOD));
        assert!(pace.is_due(start + FRAME_PERIOD));
        pace.drawn(start + FRAME_PERIOD);

        pace.changed();
        assert!(pace.is_due(start + FRAME_PERIOD * 10), "nothing was drawn for long");
    }
}
