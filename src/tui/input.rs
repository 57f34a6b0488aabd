//! Keys, mouse, paste and focus: an event stream that can be closed and opened again, and what is let through.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, EventStream, KeyCode, KeyEventKind, KeyModifiers, MouseEventKind};
use futures_util::StreamExt;

use super::theme::background;

/// Wheel events that follow each other faster than this are one: a touchpad sends hundreds a second.
const WHEEL_PERIOD: Duration = Duration::from_millis(20);
/// How long the reading thread of a closed stream may take to let go of the terminal.
const CLOSING: Duration = Duration::from_millis(10);
/// The most events that are taken for typed ahead: nobody types more in the time of a start.
const AHEAD: usize = 4096;

/// Reads the terminal's input while it is open.
///
/// While another program has the terminal this must be closed: the stream's thread would go on reading and take every
/// other key from that program.
#[derive(Debug)]
pub struct Input {
    stream: Option<EventStream>,
    filter: Filter,
    /// What was typed before this was opened, and is not handed on yet.
    ahead: VecDeque<Event>,
}

impl Input {
    /// Starts to read, with what was typed since the program was started.
    pub fn open() -> Self {
        let reply = if background::reply_may_come() { Reply::Expected } else { Reply::None };
        let ahead = typed_ahead().map(as_meant).collect();
        Self { stream: Some(EventStream::new()), filter: Filter { reply, ..Filter::default() }, ahead }
    }

    /// Starts to read again.
    pub fn reopen(&mut self) {
        if self.stream.is_none() {
            self.stream = Some(EventStream::new());
        }
    }

    /// Stops reading. When it returns nothing of ours reads the terminal.
    pub fn close(&mut self) {
        if self.stream.take().is_some() {
            std::thread::sleep(CLOSING);
        }
    }

    /// The next event that is let through; it waits for ever while closed. It can be dropped and called again without
    /// losing an event.
    ///
    /// # Errors
    /// When the terminal cannot be read, or has come to its end.
    pub async fn next(&mut self) -> io::Result<Event> {
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        loop {
            let event = match self.ahead.pop_front() {
                Some(event) => event,
                None => stream.next().await.ok_or(io::ErrorKind::UnexpectedEof)??,
            };
            if let Some(event) = self.filter.admit(event, Instant::now()) {
                return Ok(event);
            }
        }
    }
}

/// What was typed while the terminal was asked for its colours, and what waits to be read by now.
fn typed_ahead() -> impl Iterator<Item = Event> {
    // An error shows as soon as the stream meets it, too.
    let waits = || event::poll(Duration::ZERO).is_ok_and(|waits| waits).then(|| event::read().ok()).flatten();
    background::take_typed().into_iter().chain(std::iter::from_fn(waits).take(AHEAD))
}

/// A key that was typed before the terminal was ours: until then it turned Enter into the end of a line.
fn as_meant(mut event: Event) -> Event {
    if let Event::Key(key) = &mut event
        && (key.code, key.modifiers) == (KeyCode::Char('j'), KeyModifiers::CONTROL)
    {
        (key.code, key.modifiers) = (KeyCode::Enter, KeyModifiers::NONE);
    }
    event
}

/// A terminal that was asked for its colours and did not answer in time may still do so. Its answer is `ESC ] 11 ; rgb:`,
/// digits, and an end, which arrives as keys: Alt-], the characters, and Ctrl-G or Alt-\\.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reply {
    /// Nothing was asked, or the answer is there.
    #[default]
    None,
    /// It may come.
    Expected,
    /// It has begun; so many of its characters were seen.
    Begun(usize),
}

/// How an answer begins behind `ESC ]`. The second digit says whether it is the colour in front or behind.
const REPLY: &str = "1?;rgb:";

impl Reply {
    /// Takes a key; true when it is part of the answer.
    fn swallows(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let begins = alt && key.code == KeyCode::Char(']');
        match *self {
            Reply::None => false,
            Reply::Expected if begins => {
                *self = Reply::Begun(0);
                true
            }
            Reply::Expected => false,
            Reply::Begun(seen) => {
                let (fits, ends) = match (key.code, REPLY.chars().nth(seen)) {
                    (KeyCode::Char('\\'), _) if alt => (true, true),
                    (KeyCode::Char('g'), None) if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        (true, true)
                    }
                    (KeyCode::Char('0' | '1'), Some('?')) => (true, false),
                    (KeyCode::Char(c), Some(want)) => (c == want, false),
                    (KeyCode::Char(c), None) => (c.is_ascii_hexdigit() || c == '/', false),
                    _ => (false, false),
                };
                // The colour in front may follow the one behind, so what has ended may come again.
                *self = match (fits, ends) {
                    (true, false) => Reply::Begun(seen + 1),
                    (true, true) => Reply::Expected,
                    (false, _) => Reply::None,
                };
                fits
            }
        }
    }
}

/// Decides what reaches the program.
#[derive(Debug, Default)]
struct Filter {
    wheel: Option<(MouseEventKind, Instant)>,
    reply: Reply,
}

impl Filter {
    fn admit(&mut self, event: Event, now: Instant) -> Option<Event> {
        if self.reply.swallows(&event) {
            return None;
        }
        match event {
            // Windows, and terminals with the keyboard protocol, report the release too.
            Event::Key(key) if !matches!(key.kind, KeyEventKind::Press | KeyEventKind::Repeat) => None,
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::Moved => None,
                kind @ (MouseEventKind::ScrollUp
                | MouseEventKind::ScrollDown
                | MouseEventKind::ScrollLeft
                | MouseEventKind::ScrollRight) => {
                    let too_soon = self.wheel.is_some_and(|(last, at)| {
                        last == kind && now.saturating_duration_since(at) < WHEEL_PERIOD
                    });
                    if too_soon {
                        return None;
                    }
                    self.wheel = Some((kind, now));
                    Some(Event::Mouse(mouse))
                }
                _ => Some(Event::Mouse(mouse)),
            },
            // Terminals send the line ends of a paste as CR, or as they were on the clipboard.
            Event::Paste(text) if text.contains('\r') => {
                Some(Event::Paste(text.replace("\r\n", "\n").replace('\r', "\n")))
            }
            event => Some(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};

    use super::*;

    fn key(kind: KeyEventKind) -> Event {
        Event::Key(KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, kind))
    }

    fn mouse(kind: MouseEventKind) -> Event {
        Event::Mouse(MouseEvent { kind, column: 0, row: 0, modifiers: KeyModifiers::NONE })
    }

    #[test]
    fn enter_is_enter_although_it_was_typed_ahead() {
        let typed = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        let enter = typed(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(as_meant(typed(KeyCode::Char('j'), KeyModifiers::CONTROL)), enter);
        let down = typed(KeyCode::Char('j'), KeyModifiers::NONE);
        assert_eq!(as_meant(down.clone()), down);
    }

    #[test]
    fn a_key_counts_when_it_goes_down() {
        let mut filter = Filter::default();
        let now = Instant::now();
        assert!(filter.admit(key(KeyEventKind::Press), now).is_some());
        assert!(filter.admit(key(KeyEventKind::Repeat), now).is_some());
        assert!(filter.admit(key(KeyEventKind::Release), now).is_none());
    }

    #[test]
    fn the_wheel_is_throttled_by_direction() {
        let mut filter = Filter::default();
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        assert!(filter.admit(mouse(MouseEventKind::ScrollDown), start).is_some());
        assert!(filter.admit(mouse(MouseEventKind::ScrollDown), after(19)).is_none());
        assert!(
            filter.admit(mouse(MouseEventKind::ScrollUp), after(19)).is_some(),
            "turning back is felt at once"
        );
        assert!(filter.admit(mouse(MouseEventKind::ScrollUp), after(39)).is_some());
    }

    /// The keys that an answer of the terminal arrives as.
    fn reply(text: &str, end: (char, KeyModifiers)) -> Vec<Event> {
        let key = |c: char, modifiers| Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers));
        let mut events = vec![key(']', KeyModifiers::ALT)];
        events.extend(text.chars().map(|c| key(c, KeyModifiers::NONE)));
        events.push(key(end.0, end.1));
        events
    }

    #[test]
    fn a_late_answer_of_the_terminal_is_no_typed_text() {
        let admitted = |filter: &mut Filter, events: Vec<Event>| {
            events.into_iter().filter_map(|event| filter.admit(event, Instant::now())).count()
        };
        let st = ('\\', KeyModifiers::ALT);
        let bel = ('g', KeyModifiers::CONTROL);
        let mut filter = Filter { reply: Reply::Expected, ..Filter::default() };
        assert_eq!(admitted(&mut filter, vec![key(KeyEventKind::Press)]), 1, "keys before it are keys");
        assert_eq!(admitted(&mut filter, reply("10;rgb:d5d5/d9d9/e5e5", bel)), 0);
        assert_eq!(admitted(&mut filter, reply("11;rgb:1a1a/1b1b/2626", st)), 0, "the other colour");
        assert_eq!(admitted(&mut filter, vec![key(KeyEventKind::Press)]), 1, "keys behind it are keys");
        // Something else that begins like it is let through from where it differs.
        assert_eq!(admitted(&mut filter, reply("q", bel)), 2);
        assert_eq!(filter.reply, Reply::None);
        // Nothing is swallowed where nothing was asked.
        assert_eq!(admitted(&mut Filter::default(), reply("11;rgb:0/0/0", st)), 14);
    }

    #[test]
    fn pointer_movement_is_dropped() {
        assert!(Filter::default().admit(mouse(MouseEventKind::Moved), Instant::now()).is_none());
    }

    #[test]
    fn a_paste_has_unix_line_ends() {
        let pasted = Filter::default().admit(Event::Paste("a\r\nb\rc\nd".into()), Instant::now());
        assert_eq!(pasted, Some(Event::Paste("a\nb\nc\nd".into())));
    }
}
