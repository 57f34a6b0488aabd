//! Following the settings while the workbench runs: their files are watched, and what they come to is news for the state.

use std::path::Path;

use tokio::sync::mpsc::UnboundedSender;

use super::setup::{Reader, Setup};
use super::theme::Theme;
use super::workbench::Message;
use crate::app::setup::SettingsNews;
use crate::core::diagnostic::Diagnostic;
use crate::io::watch::{Mode, Notice, Watcher};

/// The settings that are in force, and who says when they change.
pub(super) struct Follow {
    reader: Reader,
    watcher: Option<Watcher>,
    now: Setup,
    /// What was broken at the start and is not read again.
    lasting: Vec<Diagnostic>,
}

impl Follow {
    /// Begins to watch. A watcher that cannot be had leaves the settings as they are until Ctrl-L.
    pub(super) fn start(
        reader: Reader,
        setup: Setup,
        lasting: Vec<Diagnostic>,
        sender: UnboundedSender<Message>,
    ) -> Follow {
        let mode = setup.settings.watch.value;
        let folder = reader.folder();
        let watcher = folder.filter(|_| mode != Mode::Off).and_then(|folder| {
            let root = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
            let tell = move |notice| {
                if let Notice::Look(_) = notice {
                    // A driver that is gone needs no settings.
                    let _ = sender.send(Message::Settings);
                }
            };
            Watcher::start(root, mode, tell).ok()
        });
        let follow = Follow { reader, watcher, now: setup, lasting };
        follow.watch();
        follow
    }

    fn watch(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.set(self.reader.files());
        }
    }

    /// What the state is told at the start.
    pub(super) fn first(&self) -> SettingsNews {
        self.news(self.now.theme.name(), None, None, String::new())
    }

    /// Reads again: the theme to draw with, and the news. None when nothing is new. `chosen` is the theme that was
    /// chosen from the list, or the one of the settings.
    pub(super) fn again(&mut self, chosen: &str) -> Option<(Theme, SettingsNews)> {
        let setup = self.reader.read();
        let before = std::mem::replace(&mut self.now, setup);
        let now = &self.now;
        // Whoever chose a theme from the list keeps it until the settings name another one.
        let own = (chosen != before.theme.name() && now.settings.theme.value == before.settings.theme.value)
            .then(|| self.reader.theme(chosen).ok())
            .flatten();
        self.watch();
        let same = now.settings == before.settings
            && now.problems == before.problems
            && now.theme == before.theme
            && now.keymap == before.keymap;
        if same && own.is_none() {
            return None;
        }
        let note = if same || !now.problems.is_empty() {
            String::new()
        } else if now.settings.watch.value != before.settings.watch.value {
            "settings read again; `watch` holds from the next start on".to_owned()
        } else {
            "settings read again".to_owned()
        };
        let (mouse, show_keys) = (&now.settings.mouse.value, &now.settings.show_keys.value);
        let mouse = (*mouse != before.settings.mouse.value).then_some(*mouse);
        let show_keys = (*show_keys != before.settings.show_keys.value).then_some(*show_keys);
        let theme = own.unwrap_or_else(|| now.theme.clone());
        let news = self.news(theme.name(), mouse, show_keys, note);
        Some((theme, news))
    }

    /// A theme from the list.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn theme(&self, name: &str) -> Result<Theme, String> {
        self.reader.theme(name)
    }

    fn news(&self, theme: &str, mouse: Option<bool>, show_keys: Option<bool>, note: String) -> SettingsNews {
        SettingsNews {
            keymap: self.now.keymap.clone(),
            theme: theme.into(),
            themes: self.reader.themes().into(),
            mouse,
            show_keys,
            animations: self.now.settings.animations.value,
            problems: self.now.problems.iter().chain(&self.lasting).cloned().collect(),
            note,
        }
    }
}
