//! Whether the terminal's background is light or dark: asked once, before the workbench opens, for a short time.
//!
//! The questions are the escape sequences OSC 10 and 11. What is read while the answers are waited for comes through the
//! same reader as the workbench's keys, so that whatever was typed meanwhile is kept for it (see [`take_typed`]), and an
//! answer that comes late is swallowed where keys are read (see [`reply_may_come`]).

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyModifiers};

use crate::tui::terminal::{self, in_raw_mode};

/// How long the terminal has to answer.
const PATIENCE: Duration = Duration::from_millis(200);
/// The colour of text, then the colour behind it.
const QUESTIONS: &[u8] = b"\x1b]10;?\x1b\\\x1b]11;?\x1b\\";

/// Set when the terminal was asked and did not answer in time.
static LATE: AtomicBool = AtomicBool::new(false);
/// What was typed while the answer was waited for.
static TYPED: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// A kind of background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Dark text is read on it.
    Light,
    /// Light text is read on it.
    Dark,
}

/// Whether it makes sense to ask. In a multiplexer at the other end of a line the answer comes late or never, and the
/// consoles that name themselves here have no answer.
#[must_use]
pub fn may_ask(env: &impl Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM");
    let mute = matches!(term.as_deref(), Some("linux" | "dumb" | "vt100" | "vt220"));
    let tmux_over_ssh = env("TMUX").is_some() && env("SSH_TTY").is_some();
    !(mute || tmux_over_ssh)
}

/// Asks the terminal; none when it does not answer, or not in time.
#[must_use]
pub fn ask() -> Option<Background> {
    terminal::require().ok()?;
    let mut read = Vec::new();
    if let Err(error) = in_raw_mode(|| question(&mut read)) {
        tracing::debug!("the terminal cannot be asked for its background: {error}");
    }
    let (answers, typed) = sort(read);
    LATE.store(answers.behind.is_none(), Ordering::SeqCst);
    *TYPED.lock().unwrap_or_else(PoisonError::into_inner) = typed;
    answers.background()
}

/// Asks, and reads until both answers are there or time is over.
fn question(read: &mut Vec<Event>) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(QUESTIONS)?;
    out.flush()?;
    let deadline = Instant::now() + PATIENCE;
    while event::poll(deadline.saturating_duration_since(Instant::now()))? {
        read.push(event::read()?);
        if sort(read.clone()).0.complete() {
            break;
        }
    }
    Ok(())
}

/// True when an answer may still come, among the keys.
#[must_use]
pub fn reply_may_come() -> bool {
    LATE.load(Ordering::SeqCst)
}

/// What was typed while the answer was waited for, once.
#[must_use]
pub fn take_typed() -> Vec<Event> {
    std::mem::take(&mut *TYPED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What the terminal said of its colours, as lightness from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answers {
    text: Option<f64>,
    behind: Option<f64>,
}

impl Answers {
    fn complete(self) -> bool {
        self.text.is_some() && self.behind.is_some()
    }

    /// Where both are known, the lighter of the two decides: what is grey on grey elsewhere is still told apart.
    fn background(self) -> Option<Background> {
        let behind = self.behind?;
        let light = behind > self.text.unwrap_or(0.5);
        Some(if light { Background::Light } else { Background::Dark })
    }
}

/// Takes the answers out of what was read: they come as Alt-`]`, characters, and Alt-`\` or Ctrl-G. The rest was typed.
fn sort(read: Vec<Event>) -> (Answers, Vec<Event>) {
    let (mut answers, mut typed) = (Answers::default(), Vec::new());
    let mut rest = read.as_slice();
    while let Some(event) = rest.first() {
        if let Some((number, lightness, count)) = answer(rest) {
            match number {
                10 => answers.text = Some(lightness),
                _ => answers.behind = Some(lightness),
            }
            rest = &rest[count..];
        } else {
            typed.push(event.clone());
            rest = &rest[1..];
        }
    }
    (answers, typed)
}

/// The answer at the beginning of what was read: its number, how light its colour is, and how many events it took.
fn answer(read: &[Event]) -> Option<(u32, f64, usize)> {
    let alt = |event: &Event, c| is_key(event, KeyCode::Char(c), KeyModifiers::ALT);
    let bell = |event: &Event| is_key(event, KeyCode::Char('g'), KeyModifiers::CONTROL);
    if !alt(read.first()?, ']') {
        return None;
    }
    let end = read.iter().position(|event| alt(event, '\\') || bell(event))?;
    let text: String = read[1..end].iter().map(character).collect::<Option<_>>()?;
    let (number, color) = text.split_once(';')?;
    let number = number.parse().ok().filter(|number| matches!(number, 10 | 11))?;
    Some((number, lightness(color)?, end + 1))
}

fn is_key(event: &Event, code: KeyCode, modifiers: KeyModifiers) -> bool {
    matches!(event, Event::Key(key) if key.code == code && key.modifiers.contains(modifiers))
}

fn character(event: &Event) -> Option<char> {
    match event {
        Event::Key(key) => key.code.as_char(),
        _ => None,
    }
}

/// How light a colour is, written as X11 does: `rgb:` or `rgba:` and one to four hexadecimal digits for each part.
fn lightness(color: &str) -> Option<f64> {
    let parts = color.strip_prefix("rgb:").or_else(|| color.strip_prefix("rgba:"))?;
    let part = |digits: &str| {
        let most = 16_u32.pow(u32::try_from(digits.len()).ok().filter(|count| (1..=4).contains(count))?) - 1;
        u32::from_str_radix(digits, 16).ok().map(|value| f64::from(value) / f64::from(most))
    };
    let parts: Vec<f64> = parts.split('/').map(part).collect::<Option<_>>()?;
    // The shares of red, green and blue in what the eye sees, after ITU-R BT.709.
    match parts[..] {
        [red, green, blue] | [red, green, blue, _] => Some(0.2126 * red + 0.7152 * green + 0.0722 * blue),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    #[test]
    fn a_multiplexer_behind_a_line_is_not_asked() {
        let with = |set: &'static [&'static str]| {
            may_ask(&move |name: &str| set.contains(&name).then(|| "x".to_owned()))
        };
        assert!(with(&[]) && with(&["TMUX"]) && with(&["SSH_TTY"]));
        assert!(!with(&["TMUX", "SSH_TTY"]));
        assert!(!may_ask(&|name: &str| (name == "TERM").then(|| "linux".to_owned())));
    }

    fn key(code: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(code), modifiers))
    }

    fn typed(text: &str) -> Vec<Event> {
        text.chars().map(|c| key(c, KeyModifiers::NONE)).collect()
    }

    fn reply(text: &str, bell: bool) -> Vec<Event> {
        let mut events = vec![key(']', KeyModifiers::ALT)];
        events.extend(typed(text));
        events.push(if bell { key('g', KeyModifiers::CONTROL) } else { key('\\', KeyModifiers::ALT) });
        events
    }

    #[test]
    fn what_is_no_answer_was_typed() {
        let read =
            [typed("v"), reply("10;rgb:0000/0000/0000", false), typed("jj"), reply("11;rgb:ff/ff/ff", true)];
        let (answers, rest) = sort(read.concat());
        assert_eq!((answers.background(), rest), (Some(Background::Light), typed("vjj")));
        // An answer that is cut off, and one to another question, are not taken for one: they are not lost either.
        let half = [typed("v"), reply("11;rgb:ffff/ffff/ff", false)[..12].to_vec()].concat();
        assert_eq!(sort(half.clone()), (Answers::default(), half));
        let other = reply("12;rgb:ffff/ffff/ffff", false);
        assert_eq!(sort(other.clone()), (Answers::default(), other));
    }

    #[test]
    fn the_lighter_of_both_colours_says_what_the_background_is() {
        let ground = |text: Option<&str>, behind: &str| {
            let answers = Answers { text: text.and_then(lightness), behind: lightness(behind) };
            answers.background()
        };
        assert_eq!(ground(Some("rgb:8080/8080/8080"), "rgb:ffff/ffff/ffff"), Some(Background::Light));
        assert_eq!(ground(Some("rgb:8080/8080/8080"), "rgb:0000/0000/0000"), Some(Background::Dark));
        assert_eq!(ground(Some("rgb:f/f/f"), "rgba:a0/a0/a0/ff"), Some(Background::Dark));
        assert_eq!(ground(None, "rgb:fdfd/f6f6/e3e3"), Some(Background::Light));
        assert_eq!(ground(Some("rgb:0/0/0"), "cmyk:0/0/0"), None);
    }
}
