//! The workbench in the terminal: the state, the engine's thread and the watcher, joined to the driver.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::driver::{self, App, Effect, Notice};
use super::follow::Follow;
use super::picture::{self, Ground};
use super::present::present;
use super::regions::Regions;
use super::setup::{Reader, Setup};
use super::theme::Theme;
use super::translate;
use crate::app::copy::Copy;
use crate::app::effect::Effect as Wish;
use crate::app::engine::{Engine, Handle, Post, spawn};
use crate::app::event::Event;
use crate::app::highlight::{Id, Paint, Want, wants, worker};
use crate::app::snapshot::Snapshot;
use crate::app::state::State;
use crate::app::update::update;
use crate::core::diagnostic::Diagnostic;
use crate::io::clipboard::{Clipboard, Copied, Machine, Preference};
use crate::io::edit::outside;
use crate::io::picture::save;
use crate::io::watch::{Mode, Notice as Watched, Watcher};

/// Runs the workbench on an engine until the user leaves. `reader` reads the settings that led to `setup` again when
/// they change; `lasting` is what is broken for good. Gives the exit code.
///
/// # Errors
///
/// When standard output is no terminal, the terminal cannot be read or written, or the machine gives no thread.
pub fn run(engine: Engine, setup: Setup, reader: Reader, lasting: Vec<Diagnostic>) -> std::io::Result<u8> {
    super::terminal::require().map_err(std::io::Error::other)?;
    let (sender, messages) = unbounded_channel();
    let own = sender.clone();
    let (mode, mouse) = (setup.settings.watch.value, setup.settings.mouse.value);
    let post = ToDriver { sender: sender.clone(), watcher: None, mode, engine: Arc::default() };
    let back = post.engine.clone();
    let engine = spawn(engine, Box::new(post))?;
    // The watcher starts with the first list of inputs; from here on its hints reach the engine.
    let _ = back.set(engine.downgrade());
    let preference = setup.settings.clipboard.value;
    let mut workbench = Workbench {
        state: State::new(mouse, setup.settings.show_keys.value),
        theme: setup.theme.clone(),
        regions: Regions::default(),
        engine,
        follow: Follow::start(reader, setup, lasting, sender),
        effects: VecDeque::new(),
        size: (1, 1),
        preference,
        clipboard: None,
        sender: own,
        painter: None,
        wanted: Vec::new(),
        early: Some(Vec::new()),
    };
    let news = workbench.follow.first();
    workbench.state.drawn_theme = news.theme.clone();
    workbench.happen(Event::Settings(news));
    driver::run(&mut workbench, messages, mouse)
}

/// What arrives from other threads.
pub enum Message {
    /// The engine published.
    Published(Arc<Snapshot>),
    /// Something to say.
    Say(String),
    /// A text was looked at.
    Painted(Id, Arc<Paint>),
    /// The user's own editor was left; what went wrong, if anything did.
    Edited(Option<String>),
    /// A text was copied, or is for the terminal to copy: what it is, and how.
    Copied(Arc<str>, Result<Copied, String>),
    /// The settings may have changed.
    Settings,
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
    follow: Follow,
    effects: VecDeque<Effect<Message>>,
    /// The size of the last frame in cells.
    size: (u16, u16),
    preference: Preference,
    /// Started with the first copy.
    clipboard: Option<Clipboard>,
    /// For threads that answer.
    sender: UnboundedSender<Message>,
    /// Looks at texts; started with the first one.
    painter: Option<worker::Handle>,
    /// What it was asked for last.
    wanted: Vec<Want>,
    /// What was typed before there was anything that it could be about; none once the engine has published.
    early: Option<Vec<Terminal>>,
}

impl Workbench {
    fn happen(&mut self, event: Event) {
        for wish in update(&mut self.state, event) {
            match wish {
                Wish::Engine(request) => self.engine.request(request),
                Wish::Quit => self.effects.push_back(Effect::Quit(0)),
                Wish::Suspend => self.effects.push_back(Effect::Suspend),
                Wish::Mouse(on) => self.effects.push_back(Effect::Mouse(on)),
                Wish::Theme(name) => match self.follow.theme(&name) {
                    Ok(theme) => self.theme = theme,
                    Err(problem) => self.happen(Event::Say(problem)),
                },
                Wish::Settings => self.read_settings(),
                Wish::Redraw => self.effects.push_back(Effect::Redraw),
                Wish::Copy(text) => self.copy(text),
                Wish::Picture => self.picture(),
                Wish::EditOutside(path, line, column) => {
                    let edit = move || Message::Edited(outside::edit(&path, line, column).err());
                    self.effects.push_back(Effect::Lend(Box::new(edit)));
                }
            }
        }
    }

    /// Looks at the settings again.
    fn read_settings(&mut self) {
        let chosen = self.state.theme.clone();
        if let Some((theme, news)) = self.follow.again(&chosen) {
            // While the list of themes is open, the theme under its cursor is the one that is drawn.
            if self.state.drawn_theme == self.state.theme {
                self.theme = theme;
            }
            self.happen(Event::Settings(news));
        }
    }
}

impl Workbench {
    /// Asks for what the frame showed plain. The frame is drawn; nothing waits for the answer.
    fn ask_for_paints(&mut self) {
        let wants = wants(&self.state, &self.regions.seen);
        // What is left of the last wish is on its way; asking again would begin it anew.
        let on_its_way = wants.iter().all(|want| self.wanted.contains(want));
        self.wanted.clone_from(&wants);
        if on_its_way {
            return;
        }
        if self.painter.is_none() {
            let sender = self.sender.clone();
            // Without a thread texts stay plain.
            self.painter = worker::Handle::start(move |id, paint| {
                let _ = sender.send(Message::Painted(id, paint));
            })
            .ok();
        }
        if let Some(painter) = &self.painter {
            painter.ask(wants);
        }
    }

    fn copy(&mut self, text: Copy) {
        let open = match self.clipboard.take() {
            Some(open) => Ok(open),
            None => Clipboard::start(self.preference, Box::<Machine>::default()),
        };
        let clipboard = match open {
            Ok(open) => self.clipboard.insert(open),
            Err(error) => return self.state.message = format!("not copied: {error}"),
        };
        let (sender, Copy { what, content }) = (self.sender.clone(), text);
        let tell = move |copied| {
            // A driver that is gone shows no message.
            let _ = sender.send(Message::Copied(what, copied));
        };
        clipboard.copy(Box::new(move || content.text()), Box::new(tell));
    }

    /// Saves the screen as it is. The disk may be slow, so somebody else writes.
    fn picture(&mut self) {
        let frame = picture::frame(&mut self.state, &self.theme, self.size);
        let title = &self.state.snapshot.title;
        let call = self.state.snapshot.request.call.0;
        let stem = format!("plywood-{}-call{call}", title.name);
        let svg = picture::svg(&frame, Ground::of(&self.theme), &format!("{}, call {call}", title.name));
        let sender = self.sender.clone();
        let save = move || {
            let said = match save(Path::new("."), &stem, &svg) {
                Ok(path) => format!("saved {}", path.strip_prefix(".").unwrap_or(&path).display()),
                Err(error) => format!("no picture was saved: {error}"),
            };
            let _ = sender.send(Message::Say(said));
        };
        if let Err(error) = std::thread::Builder::new().name("picture".into()).spawn(save) {
            self.state.message = format!("no picture was saved: {error}");
        }
    }
}

/// True for what is typed, but for the key that ends a program that does not come up.
fn waits(event: &Terminal) -> bool {
    let ends =
        |key: &KeyEvent| key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    match event {
        Terminal::Key(key) => !ends(key),
        Terminal::Paste(_) => true,
        _ => false,
    }
}

impl App for Workbench {
    type Message = Message;

    fn on_input(&mut self, event: Terminal) {
        if let Some(early) = &mut self.early
            && waits(&event)
        {
            early.push(event);
            return;
        }
        if let Some(event) = translate::event(event, &self.regions) {
            self.happen(event);
        }
    }

    fn on_message(&mut self, message: Message) {
        let event = match message {
            Message::Published(snapshot) => {
                self.happen(Event::Published(snapshot));
                for event in self.early.take().unwrap_or_default() {
                    self.on_input(event);
                }
                return;
            }
            Message::Say(text) => Event::Say(text),
            Message::Painted(id, paint) => Event::Painted(id, paint),
            Message::Edited(problem) => Event::EditedOutside(problem),
            Message::Copied(what, Ok(copied)) => {
                let said = copied.sentence(&what);
                self.effects.extend(copied.write.map(Effect::Write));
                Event::Say(said)
            }
            Message::Copied(what, Err(reason)) => Event::Say(format!("{what} was not copied: {reason}")),
            Message::Settings => return self.read_settings(),
        };
        self.happen(event);
    }

    fn on_notice(&mut self, notice: Notice) {
        self.happen(Event::Say(notice.to_string()));
    }

    fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.state.dirty)
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        self.size = (frame.area().width, frame.area().height);
        self.regions = present(&mut self.state, &self.theme, frame);
        self.ask_for_paints();
    }

    fn take_effects(&mut self) -> Vec<Effect<Message>> {
        self.effects.drain(..).collect()
    }
}
