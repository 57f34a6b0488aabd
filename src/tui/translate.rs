//! Events of the terminal into events of the workbench.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};

use super::regions::Regions;
use crate::app::event::{Event, Pointer};
use crate::app::key::{Code, Key};

/// The event of the workbench; none for what means nothing to it. `regions` are those of the last frame.
#[must_use]
pub fn event(terminal: Terminal, regions: &Regions) -> Option<Event> {
    match terminal {
        Terminal::Key(event) => key(event).map(Event::Key),
        Terminal::Paste(text) => Some(Event::Paste(text)),
        Terminal::Mouse(mouse) => {
            let pointer = match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Pointer::Press,
                MouseEventKind::Drag(MouseButton::Left) => Pointer::Drag,
                MouseEventKind::ScrollUp => Pointer::WheelUp,
                MouseEventKind::ScrollDown => Pointer::WheelDown,
                _ => return None,
            };
            Some(Event::Pointer(pointer, regions.hit(mouse.column, mouse.row)))
        }
        Terminal::Resize(..) => Some(Event::Resized),
        Terminal::FocusGained => Some(Event::Focused),
        Terminal::FocusLost => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let shift = event.modifiers.contains(KeyModifiers::SHIFT);
    let code = match event.code {
        // With control some terminals report the upper case letter, some the lower case one.
        KeyCode::Char(c) if ctrl => Code::Char(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Tab if shift => Code::BackTab,
        KeyCode::Tab => Code::Tab,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    Some(Key { code, ctrl, alt: event.modifiers.contains(KeyModifiers::ALT), shift: shift && code.moves() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_tables() {
        let of = |code, modifiers| key(KeyEvent::new(code, modifiers)).map(|key| key.to_string());
        let none = KeyModifiers::NONE;
        for (code, modifiers, want) in [
            (KeyCode::Char('L'), KeyModifiers::CONTROL, Some("Ctrl-L")),
            (KeyCode::Char('G'), KeyModifiers::SHIFT, Some("G")),
            (KeyCode::Char(' '), none, Some("Space")),
            (KeyCode::Tab, KeyModifiers::SHIFT, Some("Shift-Tab")),
            (KeyCode::BackTab, KeyModifiers::SHIFT, Some("Shift-Tab")),
            (KeyCode::Char('家'), none, Some("家")),
            (KeyCode::F(1), none, Some("F1")),
            (KeyCode::Insert, none, None),
            (KeyCode::Left, KeyModifiers::SHIFT, Some("Shift-Left")),
            (KeyCode::Enter, KeyModifiers::SHIFT, Some("Enter")),
        ] {
            assert_eq!(of(code, modifiers).as_deref(), want);
        }
    }
}
