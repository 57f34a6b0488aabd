//! The workbench without threads and without a terminal: keys in, a state to be drawn out.

use std::collections::VecDeque;
use std::sync::Arc;

use super::control::Engine;
use crate::app::effect::{Effect, EngineRequest};
use crate::app::event::Event;
use crate::app::snapshot::Snapshot;
use crate::app::state::State;
use crate::app::update::update;

/// An engine and the state that shows it. Everything that takes time elsewhere is done here before a call returns.
pub struct Inline {
    engine: Engine,
    /// The state, to be drawn.
    pub state: State,
}

impl Inline {
    /// Shows what was opened, every number worked out.
    #[must_use]
    pub fn new(engine: Engine) -> Inline {
        let mut inline = Inline { engine, state: State::new(false, false) };
        let snapshot = inline.snapshot();
        inline.happen(Event::Published(snapshot));
        inline
    }

    /// Lets something happen. Returns what only a terminal could do: quitting, the clipboard, another editor.
    pub fn happen(&mut self, event: Event) -> Vec<Effect> {
        let effects = update(&mut self.state, event);
        self.act(effects)
    }

    /// Asks the engine for something, as a key would.
    pub fn request(&mut self, request: EngineRequest) {
        self.act(vec![Effect::Engine(request)]);
    }

    fn act(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut left = Vec::new();
        let mut effects: VecDeque<Effect> = effects.into();
        while let Some(effect) = effects.pop_front() {
            let Effect::Engine(request) = effect else {
                left.push(effect);
                continue;
            };
            self.engine.handle(request);
            while self.engine.is_playing() {
                self.engine.play_on();
            }
            let snapshot = self.snapshot();
            effects.extend(update(&mut self.state, Event::Published(snapshot)));
        }
        left
    }

    fn snapshot(&mut self) -> Arc<Snapshot> {
        while let Some(encoding) = self.engine.to_load() {
            encoding.load();
        }
        // The first one plays the run to its end, from which the table of variants is worked out.
        let first = self.engine.snapshot();
        let mut worked = false;
        while self.engine.work() {
            worked = true;
        }
        Arc::new(if worked { self.engine.snapshot() } else { first })
    }
}
