//! Keys, as events carry them and as people write them.

use std::fmt;

/// A key without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A character; upper case and symbols as typed, without a shift modifier.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Tab.
    Tab,
    /// Tab with shift.
    BackTab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, from 1.
    F(u8),
}

/// Named keys: the name in tables, the name on the screen.
const NAMES: [(Code, &str, &str); 15] = [
    (Code::Char(' '), "space", "Space"),
    (Code::Enter, "enter", "Enter"),
    (Code::Esc, "esc", "Esc"),
    (Code::Backspace, "backspace", "Bksp"),
    (Code::Delete, "delete", "Del"),
    (Code::Tab, "tab", "Tab"),
    (Code::BackTab, "shift-tab", "Shift-Tab"),
    (Code::Up, "up", "Up"),
    (Code::Down, "down", "Down"),
    (Code::Left, "left", "Left"),
    (Code::Right, "right", "Right"),
    (Code::Home, "home", "Home"),
    (Code::End, "end", "End"),
    (Code::PageUp, "pgup", "PgUp"),
    (Code::PageDown, "pgdn", "PgDn"),
];

impl Code {
    /// True for keys that move; of them, Shift makes others.
    #[must_use]
    pub fn moves(self) -> bool {
        use Code::{Down, End, Home, Left, PageDown, PageUp, Right, Up};
        matches!(self, Left | Right | Up | Down | Home | End | PageUp | PageDown)
    }
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The key.
    pub code: Code,
    /// Control was held.
    pub ctrl: bool,
    /// Alt was held.
    pub alt: bool,
    /// Shift was held, with a key that moves; with any other key it is part of the character.
    pub shift: bool,
}

impl Key {
    /// A key without modifiers.
    #[must_use]
    pub const fn plain(code: Code) -> Key {
        Key { code, ctrl: false, alt: false, shift: false }
    }

    /// A character key.
    #[must_use]
    pub const fn char(c: char) -> Key {
        Key::plain(Code::Char(c))
    }

    /// A character key with control.
    #[must_use]
    pub const fn ctrl(c: char) -> Key {
        Key { ctrl: true, ..Key::char(c) }
    }

    /// Reads a key as tables write it: `j`, `G`, `space`, `ctrl-l`, `alt-up`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Key> {
        if let Some((code, ..)) = NAMES.iter().find(|(_, name, _)| *name == text) {
            return Some(Key::plain(*code));
        }
        for (prefix, held) in [("ctrl-", 0), ("alt-", 1), ("shift-", 2)] {
            if let Some(rest) = text.strip_prefix(prefix).filter(|rest| !rest.is_empty()) {
                let mut key = Key::parse(rest)?;
                // With control a terminal does not tell upper case from lower case.
                if let (0, Code::Char(c)) = (held, key.code) {
                    key.code = Code::Char(c.to_ascii_lowercase());
                }
                if held == 2 && !key.code.moves() {
                    return None;
                }
                return Some(Key {
                    ctrl: key.ctrl || held == 0,
                    alt: key.alt || held == 1,
                    shift: key.shift || held == 2,
                    ..key
                });
            }
        }
        if let Some(number) = text.strip_prefix('f').and_then(|rest| rest.parse().ok()) {
            return (1..=24).contains(&number).then(|| Key::plain(Code::F(number)));
        }
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Some(Key::char(c)),
            _ => None,
        }
    }
}

/// As the screen writes it: `j`, `Space`, `Ctrl-L`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        if self.shift {
            f.write_str("Shift-")?;
        }
        match (NAMES.iter().find(|(code, ..)| *code == self.code), self.code) {
            (Some((.., shown)), _) => f.write_str(shown),
            (None, Code::Char(c)) if self.ctrl => write!(f, "{}", c.to_uppercase()),
            (None, Code::Char(c)) => write!(f, "{c}"),
            (None, Code::F(number)) => write!(f, "F{number}"),
            (None, code) => write!(f, "{code:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_shown() {
        for (text, key, shown) in [
            ("j", Key::char('j'), "j"),
            ("G", Key::char('G'), "G"),
            ("-", Key::char('-'), "-"),
            ("space", Key::char(' '), "Space"),
            ("ctrl-l", Key::ctrl('l'), "Ctrl-L"),
            ("alt-up", Key { alt: true, ..Key::plain(Code::Up) }, "Alt-Up"),
            ("ctrl-shift-left", Key { ctrl: true, shift: true, ..Key::plain(Code::Left) }, "Ctrl-Shift-Left"),
            ("shift-tab", Key::plain(Code::BackTab), "Shift-Tab"),
            ("f", Key::char('f'), "f"),
            ("f12", Key::plain(Code::F(12)), "F12"),
            ("ctrl-G", Key::ctrl('g'), "Ctrl-G"),
        ] {
            assert_eq!(Key::parse(text), Some(key), "{text}");
            assert_eq!(key.to_string(), shown);
        }
        assert_eq!(Key::parse("hyper-x"), None);
        assert_eq!(Key::parse("f25"), None);
        assert_eq!(Key::parse("shift-x"), None);
        assert_eq!(Key::parse(""), None);
    }
}
