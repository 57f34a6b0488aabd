//! The values that settings take, and how they are written.

use std::fmt;
use std::sync::Arc;

use crate::io::clipboard::Preference;
use crate::io::syntax::shape::{Word, word};
use crate::io::watch::Mode;

/// Which theme to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThemeChoice {
    /// This one: the name of one that is built in or lies in the folder of themes, or a path.
    Named(Arc<str>),
    /// One by the background of the terminal.
    ByBackground {
        /// On a light background.
        light: Arc<str>,
        /// On a dark background.
        dark: Arc<str>,
        /// Where the terminal does not say what its background is.
        fallback: Arc<str>,
    },
}

/// The terminal's own colours, which fit every background.
impl Default for ThemeChoice {
    fn default() -> ThemeChoice {
        ThemeChoice::Named("ansi".into())
    }
}

impl ThemeChoice {
    /// The themes that it may come to, the one for want of a better first.
    #[must_use]
    pub fn names(&self) -> Vec<&Arc<str>> {
        match self {
            ThemeChoice::Named(name) => vec![name],
            ThemeChoice::ByBackground { light, dark, fallback } => vec![fallback, light, dark],
        }
    }

    /// Reads a theme as one word: `auto` is light, dark or ansi by the background, anything else is a name or a path.
    #[must_use]
    pub fn read(text: &str) -> ThemeChoice {
        if text == "auto" {
            ThemeChoice::ByBackground { light: "light".into(), dark: "dark".into(), fallback: "ansi".into() }
        } else {
            ThemeChoice::Named(text.into())
        }
    }

    /// The same with each name that is a path made by `path`.
    #[must_use]
    pub(super) fn map(self, path: &dyn Fn(Arc<str>) -> Arc<str>) -> ThemeChoice {
        match self {
            ThemeChoice::Named(name) => ThemeChoice::Named(path(name)),
            ThemeChoice::ByBackground { light, dark, fallback } => {
                ThemeChoice::ByBackground { light: path(light), dark: path(dark), fallback: path(fallback) }
            }
        }
    }
}

impl fmt::Display for ThemeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThemeChoice::Named(name) => f.write_str(name),
            ThemeChoice::ByBackground { light, dark, fallback } => {
                write!(f, "light: {light}, dark: {dark}, fallback: {fallback}")
            }
        }
    }
}

/// True for a theme that is named by its file: with a folder, or with the ending of a theme file.
#[must_use]
pub fn is_path(theme: &str) -> bool {
    theme.contains(['/', '\\']) || theme.ends_with(".yaml") || theme.ends_with(".yml")
}

/// How many colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// As many as the terminal says it has.
    Auto,
    /// All.
    True,
    /// The palette of 256.
    Palette,
    /// The sixteen that the user's terminal chose.
    Sixteen,
    /// None: signs and modifiers only.
    Never,
}

const COLORS: [Color; 5] = [Color::Auto, Color::True, Color::Palette, Color::Sixteen, Color::Never];
pub(super) static COLOR_WORDS: [Word; 5] = [
    word("auto", "as many as the terminal says it has; the default"),
    word("truecolor", "all"),
    word("256", "the palette of 256"),
    word("16", "the sixteen that your terminal chose"),
    word("never", "none: signs and modifiers only"),
];

const WATCHES: [Mode; 3] = [Mode::Auto, Mode::Poll, Mode::Off];
pub(super) static WATCH_WORDS: [Word; 3] = [
    word("auto", "by the system's events, and by looking where there are none; the default"),
    word("poll", "by looking every 2 seconds"),
    word("off", "not at all; Ctrl-L reads everything again"),
];

const CLIPBOARDS: [Preference; 4] =
    [Preference::Auto, Preference::Desktop, Preference::Osc52, Preference::Tmux];
pub(super) static CLIPBOARD_WORDS: [Word; 4] = [
    word("auto", "the desktop's, or the terminal's over SSH and where there is no desktop; the default"),
    word("desktop", "the desktop's, also over SSH"),
    word("osc52", "the terminal's, by an escape sequence"),
    word("tmux", "tmux's own buffer"),
];

fn read<T: Copy>(text: &str, words: &[Word], values: &[T]) -> Option<T> {
    words.iter().position(|word| word.word == text).and_then(|at| values.get(at)).copied()
}

fn shown<T: PartialEq>(value: T, words: &'static [Word], values: &[T]) -> &'static str {
    values.iter().position(|known| *known == value).and_then(|at| words.get(at)).map_or("", |word| word.word)
}

/// Reads `auto`, `truecolor`, `256`, `16`, `never`.
#[must_use]
pub fn color(text: &str) -> Option<Color> {
    read(text, &COLOR_WORDS, &COLORS)
}

/// The word for it.
#[must_use]
pub fn color_word(color: Color) -> &'static str {
    shown(color, &COLOR_WORDS, &COLORS)
}

/// Reads `auto`, `poll`, `off`.
#[must_use]
pub fn watch(text: &str) -> Option<Mode> {
    read(text, &WATCH_WORDS, &WATCHES)
}

/// The word for it.
#[must_use]
pub fn watch_word(mode: Mode) -> &'static str {
    shown(mode, &WATCH_WORDS, &WATCHES)
}

/// Reads `auto`, `desktop`, `osc52`, `tmux`.
#[must_use]
pub fn clipboard(text: &str) -> Option<Preference> {
    Preference::parse(text)
}

/// The word for it.
#[must_use]
pub fn clipboard_word(way: Preference) -> &'static str {
    shown(way, &CLIPBOARD_WORDS, &CLIPBOARDS)
}

/// Reads `true` or `false`; in the environment also `1` and `0`.
#[must_use]
pub fn switch(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_are_in_the_same_order() {
        for value in COLORS {
            assert_eq!(color(color_word(value)), Some(value));
        }
        for value in WATCHES {
            assert_eq!(watch(watch_word(value)), Some(value));
        }
        for value in CLIPBOARDS {
            assert_eq!(clipboard(clipboard_word(value)), Some(value));
        }
        assert_eq!((color_word(Color::Palette), watch_word(Mode::Off)), ("256", "off"));
        assert_eq!((color("sometimes"), switch("yes")), (None, None));
    }

    #[test]
    fn themes_are_names_paths_or_by_the_background() {
        assert_eq!(ThemeChoice::read("mine").to_string(), "mine");
        assert_eq!(ThemeChoice::read("auto").to_string(), "light: light, dark: dark, fallback: ansi");
        assert!(is_path("themes/mine") && is_path("mine.yaml") && !is_path("mine"));
    }
}
