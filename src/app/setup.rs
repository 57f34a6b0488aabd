//! What the state knows of the settings: enough to act and to tell, nothing of how things look.

use std::sync::Arc;

use super::keymap::Keymap;
use crate::core::diagnostic::Diagnostic;

/// A theme that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeRow {
    /// Its name.
    pub name: Arc<str>,
    /// What it says of itself.
    pub about: Arc<str>,
}

/// The settings were read, for the first time or again.
#[derive(Clone, Debug)]
pub struct SettingsNews {
    /// Which keys do what.
    pub keymap: Arc<Keymap>,
    /// The theme that is in force.
    pub theme: Arc<str>,
    /// The themes that there are.
    pub themes: Arc<[ThemeRow]>,
    /// Whether the mouse is captured, where the settings say something else than before.
    pub mouse: Option<bool>,
    /// Whether the last keys are shown, where the settings say something else than before.
    pub show_keys: Option<bool>,
    /// Whether anything may move by itself.
    pub animations: bool,
    /// What is broken.
    pub problems: Arc<[Diagnostic]>,
    /// What to say of it; empty for nothing.
    pub note: String,
}

/// A problem as one line has room for it: message, place, hint.
#[must_use]
pub fn in_one_line(problem: &Diagnostic) -> String {
    let mut text = problem.message.clone();
    match (&problem.file, problem.at) {
        (Some(file), Some(at)) => text.push_str(&format!(", {file}:{at}")),
        (Some(file), None) => text.push_str(&format!(", {file}")),
        _ => {}
    }
    if let Some(hint) = &problem.hint {
        text.push_str(&format!("; {hint}"));
    }
    text
}
