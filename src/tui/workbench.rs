//! The workbench in the terminal: the state, the engine's thread and the watcher, joined to the driver.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossterm::event::Event as Terminal;
use ratatui::Frame;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::driver::{self, App, Effect, Notice};
use super::present::present;
use super::regions::Regions;
use super::theme::Theme;
use super::translate;
use crate::app::effect::Effect as Wish;
use crate::app::engine::{Engine, Handle, Post, spawn};
use crate::app::event::Event;
use crate::app::snapshot::Snapshot;
use crate::app::state::State;
use crate::app::update::update;
use crate::io::edit::outside;
use crate::io::watch::{Mode, Notice as Watched, Watcher};

/// How the workbench looks and behaves.
pub struct Settings {
    /// The theme.
    pub theme: Theme,
    /// How files are watched.
    pub watch: Mode,
    /// Whether the mouse is captured at the start.
    pub mouse: bool,
    /// Whether the last keys are shown, for an audience.
    pub show_keys: bool,
}

/// Runs the workbench on an engine until the user leaves. Gives the exit code.
///
/// # Errors
///
/// When standard output is no terminal, the terminal cannot be read or written, or the machine gives no thread.
pub fn run(engine: Engine, settings: Settings) -> std::io::Result<u8> {
    super::terminal::require().map_err(std::io::Error::other)?;
    let (sender, messages) = unbounded_channel();
    let post = ToDriver { sender, watcher: None, mode: settings.watch, engine: Arc::default() };
    let back = post.engine.clone();
    let engine = spawn(engine, Box::new(post))?;
    // The watcher starts with the first list of inputs; from here on its hints reach the engine.
    let _ = back.set(engine.downgrade());
    let mut workbench = Workbench {
        state: State::new(settings.mouse, settings.show_keys),
        theme: settings.theme,
        regions: Regions::default(),
        engine,
        effects: VecDeque::new(),
    };
    driver::run(&mut workbench, messages, settings.mouse)
}

/// What arrives from other threads.
pub enum Message {
    /// The engine published.
    Published(Arc<Snapshot>),
    /// Something to say.
    Say(String),
    /// The user's own editor was left; what went wrong, if anything did.
    Edited(Option<String>),
}

/// The engine's side: snapshots go to the driver, inputs to the watcher.
struct ToDriver {
    sender: UnboundedSender<Message>,
    watcher: Option<Watcher>,
    mode: Mode,
    engine: Arc<std::sync::OnceLock<crate::app::engine::WeakHandle>>,
}

impl Post for ToDriver {
    fn publish(&mut self, snapshot: Arc<Snapshot>) {
        // A driver that is gone needs no snapshot.
        let _ = self.sender.send(Message::Published(snapshot));
    }

    fn watch(&mut self, inputs: Vec<PathBuf>, root: &Path) {
        if self.watcher.is_none() {
            let engine = self.engine.clone();
            let started = Watcher::start(root, self.mode, move |notice| {
                // The handle is set right after the engine's thread has started.
                let engine = engine.wait();
                match notice {
                    Watched::Look(_) => engine.look(),
                    Watched::Status(status) => engine.watching(status.to_string()),
                }
            });
            match started {
                Ok(watcher) => self.watcher = Some(watcher),
                Err(error) => {
                    let _ = self.sender.send(Message::Say(format!("not watching: {error}")));
                }
            }
        }
        if let Some(watcher) = &self.watcher {
            watcher.set(inputs);
        }
    }
}

struct Workbench {
    state: State,
    theme: Theme,
    regions: Regions,
    engine: Handle,
    effects: VecDeque<Effect<Message>>,
}

impl Workbench {
    fn happen(&mut self, event: Event) {
        for wish in update(&mut self.state, event) {
            match wish {
                Wish::Engine(request) => self.engine.request(request),
                Wish::Quit => self.effects.push_back(Effect::Quit(0)),
                Wish::Suspend => self.effects.push_back(Effect::Suspend),
                Wish::Mouse(on) => self.effects.push_back(Effect::Mouse(on)),
                Wish::Redraw => self.effects.push_back(Effect::Redraw),
                Wish::EditOutside(path, line, column) => {
                    let edit = move || Message::Edited(outside::edit(&path, line, column).err());
                    self.effects.push_back(Effect::Lend(Box::new(edit)));
                }
            }
        }
    }
}

impl App for Workbench {
    type Message = Message;

    fn on_input(&mut self, event: Terminal) {
        if let Some(event) = translate::event(event, &self.regions) {
            self.happen(event);
        }
    }

    fn on_message(&mut self, message: Message) {
        self.happen(match message {
            Message::Published(snapshot) => Event::Published(snapshot),
            Message::Say(text) => Event::Say(text),
            Message::Edited(problem) => Event::EditedOutside(problem),
        });
    }

    fn on_notice(&mut self, notice: Notice) {
        self.happen(Event::Say(notice.to_string()));
    }

    fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.state.dirty)
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        self.regions = present(&mut self.state, &self.theme, frame);
    }

    fn take_effects(&mut self) -> Vec<Effect<Message>> {
        self.effects.drain(..).collect()
    }
}
