//! What the user chooses: variants, the model, the run. Each plays the run again, or begins another.

use std::sync::Arc;

use super::control::Engine;
use super::ways::AsLoad;
use crate::app::views::LogKind;
use crate::core::bench::Bench;
use crate::core::fact::Name;
use crate::core::run::{Input, Player, Refused};

impl Engine {
    pub(super) fn choose_variants(&mut self, variants: Vec<Name>) -> Result<(), Refused> {
        match self.edge.bench(&variants) {
            Ok((bench, warnings)) => {
                if self.rebuild_keeping_ways(bench) {
                    let names = variants.iter().map(|name| &**name).collect::<Vec<_>>().join(", ");
                    let names = if names.is_empty() { "none".to_owned() } else { names };
                    self.choose(LogKind::Bench, &format!("variants: {names}; the run was played again"));
                    self.options.variants = variants;
                    self.warnings = warnings;
                }
                Ok(())
            }
            Err(problems) => {
                Err(Refused(problems.first().map_or_else(String::new, |problem| problem.message.clone())))
            }
        }
    }

    /// The ways are the same whichever of them is on.
    fn rebuild_keeping_ways(&mut self, bench: Arc<Bench>) -> bool {
        let (ways, left) = (std::mem::take(&mut self.ways), self.ways_left.take());
        let done = self.rebuild(bench);
        self.ways = ways;
        self.ways_left = left;
        done
    }

    pub(super) fn choose_model(&mut self, model: Name) -> Result<(), Refused> {
        let sent = self.player.session().calls().len();
        let opened = usize::from(self.player.session().bench().sent_on_open);
        let ended = self.player.session().prepared().is_none();
        if sent <= opened || ended {
            if ended {
                self.note = format!("the run was played again for {model}").into();
            }
            self.choose(LogKind::Model, &format!("the run was played again for {model}"));
            self.options.model = Some(model);
            let bench = self.player.session().bench().clone();
            self.rebuild(bench);
            return Ok(());
        }
        // In the middle of a run it is a switch, and its price shows.
        self.live(Input::Model(model))
    }

    pub(super) fn choose_run(&mut self, run: Name) -> Result<(), Refused> {
        let bench = self.player.session().bench().clone();
        // What the run before has written is not what this one begins with.
        self.edge.project(&[]);
        self.player = Player::start(bench, Some(&run), &mut AsLoad(&mut *self.edge))?;
        self.options.run = Some(run);
        self.chosen.clear();
        self.shown = None;
        self.others.clear();
        self.branch = 0;
        self.forget_steps();
        self.forget_sent();
        self.project();
        Ok(())
    }
}
