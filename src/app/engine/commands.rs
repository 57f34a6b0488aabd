//! The programs of a bench: they run only when the user has allowed exactly these, here.

use super::control::Engine;
use super::ways::AsLoad;
use crate::app::snapshot::{Program, Programs};
use crate::core::fact::{Command, FactKey, Found};
use crate::core::run::{Player, Refused};
use crate::io::command::Wake;

impl Engine {
    /// The programs that nobody has been asked about yet. What was allowed before is let run.
    pub(super) fn unasked(&mut self) -> Vec<Command> {
        let commands = self.player.session().bench().commands();
        if commands.is_empty() { Vec::new() } else { self.edge.unasked(&commands) }
    }

    /// What the user is asked, if there is anything to ask.
    pub(super) fn programs(&mut self) -> Option<Programs> {
        if self.unasked().is_empty() {
            return None;
        }
        // All of them are allowed or none: what is allowed is the bench as it is.
        let program = |command: &Command| Program {
            command: command.to_string().into(),
            limits: format!("at most {} s and {} bytes", command.timeout, command.max_bytes).into(),
        };
        let commands = self.player.session().bench().commands();
        Some(Programs { place: self.edge.place().into(), commands: commands.iter().map(program).collect() })
    }

    /// The user allows the programs of the bench.
    pub(super) fn allow_programs(&mut self) -> Result<(), Refused> {
        let commands = self.player.session().bench().commands();
        let count = commands.len();
        self.note = format!("running {count} program{}", if count == 1 { "" } else { "s" }).into();
        self.edge.allow(&commands).map_err(Refused)
    }

    /// Whom to tell when a program has ended: the engine has to look then.
    pub fn wake_with(&mut self, wake: Wake) {
        self.edge.wake_with(wake);
    }

    /// Where nothing was sent and nothing has happened, what programs print is what the run begins with. True when it
    /// began anew.
    pub(super) fn begins_with(&mut self, found: &[(FactKey, Found)]) -> bool {
        let session = self.player.session();
        let programs = found.iter().all(|(key, _)| matches!(key, FactKey::Command(_)));
        if !programs || !session.calls().is_empty() || self.player.has_live() {
            return false;
        }
        let (bench, run) = (session.bench().clone(), self.player.run().cloned());
        match Player::start(bench, run.as_deref(), &mut AsLoad(&mut *self.edge)) {
            Ok(player) => self.player = player,
            Err(_) => return false,
        }
        self.forget_sent();
        true
    }
}
