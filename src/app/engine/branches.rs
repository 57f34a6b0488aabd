//! What becomes of the run when something changes under it: what was sent stays, and a change at an earlier call begins a
//! branch, whoever made it.

use std::sync::Arc;

use super::control::{Engine, adjusted, observed};
use super::ways::AsLoad;
use crate::core::bench::Bench;
use crate::core::fact::{FactKey, Name};
use crate::core::run::{Load, Player, Refused};
use crate::core::wire::CallNo;

impl Engine {
    /// Anything that a player can be made to do happens. Where an earlier call is looked at, a branch begins there. What
    /// is refused leaves everything as it was.
    pub(super) fn by_hand(
        &mut self,
        happen: impl FnOnce(&mut Player, &mut dyn Load) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let call = self.earlier();
        let mut player = match call {
            Some(call) => self.branch_from(call)?,
            None => self.player.clone(),
        };
        happen(&mut player, &mut AsLoad(&mut *self.edge))?;
        self.go_on_as(player, call);
        Ok(())
    }

    /// Goes on as a player; at an earlier `call` that is a branch, and the one that was on stays as it was.
    pub(super) fn go_on_as(&mut self, player: Player, call: Option<CallNo>) {
        let old = std::mem::replace(&mut self.player, player);
        let mut note = String::new();
        if let Some(call) = call {
            self.others.insert(self.branch, old);
            self.branch = self.others.len();
            self.shown = None;
            self.forget_sent();
            note = branched(call);
        }
        if self.player.session().prepared().is_some() {
            self.shown = None;
        } else {
            note = "no call waits: it holds from the next one on".to_owned();
        }
        self.note = note.into();
        self.forget_ahead();
        self.project();
    }

    /// The earlier call that is looked at, at which an edit begins a branch.
    pub(super) fn earlier(&self) -> Option<CallNo> {
        let session = self.player.session();
        let ended = session.prepared().is_none();
        self.shown.filter(|call| !ended || *call != CallNo(session.calls().len() as u32))
    }

    /// A branch before a call that was sent: what happened until then, and files as they are now.
    pub(super) fn branch_from(&mut self, call: CallNo) -> Result<Player, Refused> {
        let branch = self.player.branch(call, &mut AsLoad(&mut *self.edge))?;
        self.seeing(branch)
    }

    /// A player with files as they are now.
    pub(super) fn seeing(&mut self, mut player: Player) -> Result<Player, Refused> {
        let found = self.unseen(player.session());
        if !found.is_empty() {
            player.input(observed(found), &mut AsLoad(&mut *self.edge))?;
        }
        Ok(player)
    }

    /// The bench file says something else, by somebody else's hand or out of the editor of texts.
    pub(super) fn bench_changed(&mut self, bench: Arc<Bench>) {
        let old = self.player.session().bench();
        let layers = old.changed_layers(&bench);
        let by = format!("the edit of {}", bench.source.name).into();
        if let Err(refused) = self.go_on_with(bench, by, layers) {
            self.note = refused.0.into();
        }
    }

    /// Goes on with another bench: `by` is the event and `layers` are those that it changed. Where the run cannot be
    /// played on with it, it is played again, and the status line says why.
    pub(super) fn go_on_with(
        &mut self,
        bench: Arc<Bench>,
        by: Name,
        layers: Arc<[Name]>,
    ) -> Result<(), Refused> {
        let bench = adjusted(bench, &self.options);
        let call = self.earlier();
        let player = match call {
            Some(call) => self.branch_from(call)?,
            None => self.player.clone(),
        };
        match self.on_bench(player, bench.clone(), by, layers) {
            Ok(player) => self.go_on_as(player, call),
            Err(reason) => {
                let again = "the run was played again on the bench as it is now";
                if self.rebuild(bench) {
                    self.note = format!("{reason}: {again}").into();
                }
            }
        }
        Ok(())
    }

    /// A player that goes on with another bench.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub(super) fn on_bench(
        &mut self,
        mut player: Player,
        bench: Arc<Bench>,
        by: Name,
        layers: Arc<[Name]>,
    ) -> Result<Player, String> {
        player.goes_on_with(&bench)?;
        player.rebench(bench, by, layers, &mut AsLoad(&mut *self.edge)).map_err(|refused| refused.0)?;
        Ok(player)
    }

    /// The same run on another bench, as far as it had come. False when that cannot be: then everything stays as it was.
    pub(super) fn rebuild(&mut self, bench: Arc<Bench>) -> bool {
        let bench = adjusted(bench, &self.options);
        match self.player.rebuild(bench, self.player.session().next_call(), &mut AsLoad(&mut *self.edge)) {
            Ok(player) => {
                self.player = player;
                let next = self.player.session().next_call();
                self.shown = self.shown.filter(|call| *call < next);
                self.end_is_last();
            }
            Err(refused) => {
                self.note = refused.0.into();
                return false;
            }
        }
        self.forget_steps();
        self.forget_sent();
        self.project();
        true
    }

    /// Goes on with the next branch; behind the last comes the first.
    pub(super) fn next_branch(&mut self) {
        if self.others.is_empty() {
            return;
        }
        let next = (self.branch + 1) % (self.others.len() + 1);
        // Without the one that is on, what stands at or behind its place is one nearer.
        let at = if next > self.branch { next - 1 } else { next };
        let player = self.others.remove(at);
        let old = std::mem::replace(&mut self.player, player);
        let place = if next > self.branch { self.branch } else { self.others.len() };
        self.others.insert(place, old);
        self.branch = next;
        self.shown = None;
        self.end_is_last();
        self.forget_sent();
        self.project();
        self.see_files();
    }

    /// What files say by now, the player that is on may not have seen yet.
    fn see_files(&mut self) {
        let keys: Vec<FactKey> = self.player.session().watched().cloned().collect();
        let found = self.edge.load(&keys);
        self.observe(found);
    }

    /// What the bench and its files say by now, the player that is on may not have seen yet.
    pub(super) fn catch_up(&mut self) {
        if let Ok((bench, _)) = self.edge.bench(&self.options.variants)
            && bench.source.rev != self.player.session().bench().source.rev
        {
            let bench = adjusted(bench, &self.options);
            let layers = self.player.session().bench().changed_layers(&bench);
            let by = format!("the edit of {}", bench.source.name).into();
            // A run that the bench says otherwise by now stays what it was.
            if let Ok(player) = self.on_bench(self.player.clone(), bench, by, layers) {
                self.player = player;
                self.end_is_last();
                self.forget_ahead();
            }
        }
        self.see_files();
    }
}

/// That a branch has begun.
pub(super) fn branched(call: CallNo) -> String {
    format!("a branch from call {}; the other stays as it was", call.0)
}
