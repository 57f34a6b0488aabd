//! What one change does: the run as it goes on without it, against the run as it goes on with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::candidates::{Act, Planned};
use crate::core::cache::{Blame, Lane, Measures, Models, Money, Outcome, Simulator, Verdict};
use crate::core::fact::{EventId, Name};
use crate::core::run::{Answer, Load, Player, Refused, Requests, Session};
use crate::core::wire::{CallNo, Request};

/// How many calls ahead a change is followed, the one that waits included.
const AHEAD: u32 = 60;

/// The run up to the request that waits, and as it goes on without any change.
pub struct Ahead {
    /// What was sent so far, for each model.
    simulator: Simulator,
    /// The models of the first lanes; behind them comes the lane of the calls as they are sent.
    models: Vec<Name>,
    call: CallNo,
    without: Vec<Played>,
}

/// A call ahead.
struct Played {
    request: Request,
    outcomes: Vec<Outcome>,
}

/// What a change does to one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The model, as `provider:model`.
    pub model: Name,
    /// What becomes of the cache in the call that waits.
    pub verdict: Verdict,
    /// Tokens paid again in the call that waits; none where it is not known, and for a first call.
    pub lost: Option<u32>,
    /// Tokens paid again more than without the change, over the calls ahead; negative for fewer.
    pub lost_more: Option<i64>,
    /// What the input of the calls ahead costs more than without the change.
    pub more: Option<Money>,
    /// What it costs less.
    pub less: Option<Money>,
    /// True where the counts are estimates.
    pub estimate: bool,
}

/// A break that a change brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The call whose prefix breaks.
    pub call: CallNo,
    /// Where and by whom. Its cause is told in [`Broken::by`]: events of a copy mean nothing elsewhere.
    pub blame: Arc<Blame>,
    /// The event that made it so.
    pub by: Option<Name>,
}

/// What a change does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Radius {
    /// The layers, or what stands for one, whose text is another one in the request that waits.
    pub now: Vec<Name>,
    /// True where the request that waits holds the same texts in another order.
    pub reordered: bool,
    /// Those whose text is another one in a later call only, with the first such call.
    pub later: Vec<(Name, CallNo)>,
    /// The first break that would not have been there.
    pub broken: Option<Broken>,
    /// What it does to each model.
    pub hits: Vec<Hit>,
    /// How many calls ahead were compared.
    pub calls: u32,
    /// Why it cannot happen now.
    pub refused: Option<String>,
}

impl Ahead {
    /// Follows a run from the request that waits; none where none does.
    pub fn of(
        player: &Player,
        known: &Arc<Models>,
        models: &[Name],
        measures: &mut dyn Measures,
        load: &mut dyn Load,
    ) -> Option<Ahead> {
        let session = player.session();
        let call = session.prepared()?.call;
        let lanes = models.iter().cloned().map(Lane::As).chain([Lane::AsSent]);
        let mut simulator = Simulator::new(known.clone(), lanes);
        let mut requests = Requests::default();
        for record in session.calls() {
            let Some(request) = requests.get(session, record.call) else { continue };
            match record.answer {
                Some(Answer::Failed(_)) => simulator.not_sent(request),
                _ => drop(simulator.call(request, measures)),
            }
        }
        let mut ahead = Ahead { simulator, models: models.to_vec(), call, without: Vec::new() };
        ahead.without = ahead.follow(&mut player.clone(), measures, load);
        Some(ahead)
    }

    /// Plays on as far as a change is followed.
    fn follow(&self, player: &mut Player, measures: &mut dyn Measures, load: &mut dyn Load) -> Vec<Played> {
        let end = self.call.0.saturating_add(AHEAD);
        if player.run().is_some() {
            while player.session().next_call().0 < end && player.beat(load).unwrap_or(false) {}
        }
        let mut simulator = self.simulator.clone();
        let session = player.session();
        let mut played = Vec::new();
        for call in (self.call.0..end).map(CallNo) {
            let Some(request) = session.request(call) else { break };
            let failed = failed(session, call);
            let outcomes = if failed {
                simulator.not_sent(&request);
                Vec::new()
            } else {
                simulator.call(&request, measures)
            };
            played.push(Played { request, outcomes });
        }
        played
    }
}

fn failed(session: &Session, call: CallNo) -> bool {
    let record = session.calls().get((call.0 as usize).saturating_sub(1));
    record.is_some_and(|record| matches!(record.answer, Some(Answer::Failed(_))))
}

impl Planned {
    /// Does it to a player.
    ///
    /// # Errors
    ///
    /// When it cannot happen now.
    pub fn happen(&self, player: &mut Player, load: &mut dyn Load) -> Result<(), Refused> {
        match &self.act {
            Act::Input(input) | Act::Edit(_, input) => player.input(input.clone(), load),
            Act::Bench { bench, by, layer, .. } => {
                player.rebench(bench.clone(), by.clone(), Arc::from([layer.clone()]), load)
            }
        }
    }
}

impl Radius {
    /// What a change does. `player` is the one that `ahead` was made of.
    pub fn of(
        planned: &Planned,
        player: &Player,
        ahead: &Ahead,
        measures: &mut dyn Measures,
        load: &mut dyn Load,
    ) -> Radius {
        let mut changed = player.clone();
        if let Err(refused) = planned.happen(&mut changed, load) {
            return Radius { refused: Some(refused.0), ..Radius::default() };
        }
        let with = ahead.follow(&mut changed, measures, load);
        let mut radius = Radius { calls: with.len().min(ahead.without.len()) as u32, ..Radius::default() };
        for (old, new) in ahead.without.iter().zip(&with) {
            let call = new.request.call;
            let names = differing(&old.request, &new.request);
            radius.reordered |= call == ahead.call && names.is_empty() && !equal(&old.request, &new.request);
            for name in names {
                if call == ahead.call {
                    radius.now.push(name);
                } else if !radius.now.contains(&name) && radius.later.iter().all(|(known, _)| *known != name)
                {
                    radius.later.push((name, call));
                }
            }
            if radius.broken.is_none() {
                // Every lane sees the same requests, so the first that knows is enough.
                if let Some(blame) = blame_of(new)
                    && blame_differs(blame_of(old).as_deref(), &blame)
                {
                    let by = blame.cause.filter(|cause| *cause != EventId::OPENING);
                    let by = by.map(|cause| changed.session().event(cause).label.clone());
                    let blame = Arc::new(Blame { cause: None, ..(*blame).clone() });
                    radius.broken = Some(Broken { call, blame, by });
                }
            }
        }
        let sent = |played: &Played| played.request.model.clone();
        let switched = ahead.without.first().map(sent) != with.first().map(sent);
        for (lane, model) in ahead.models.iter().enumerate() {
            // A switch concerns the model that is switched to: for the others nothing is sent any more.
            if switched {
                if with.first().is_some_and(|played| played.request.model == *model) {
                    radius.hits.push(hit(model, &ahead.without, &with, ahead.models.len()));
                }
                continue;
            }
            radius.hits.push(hit(model, &ahead.without, &with, lane));
        }
        radius
    }

    /// What it does to a model; none where it does not concern it.
    #[must_use]
    pub fn hit(&self, model: &Name) -> Option<&Hit> {
        self.hits.iter().find(|hit| hit.model == *model)
    }
}

fn blame_of(played: &Played) -> Option<Arc<Blame>> {
    played.outcomes.first().and_then(|outcome| outcome.blame.clone())
}

/// True where a break is not the one that would have been there anyway: it lies elsewhere, or something else was changed.
fn blame_differs(old: Option<&Blame>, new: &Blame) -> bool {
    old.is_none_or(|old| {
        (old.zone, old.block, old.byte, &old.part, &old.new)
            != (new.zone, new.block, new.byte, &new.part, &new.new)
    })
}

fn hit(model: &Name, without: &[Played], with: &[Played], lane: usize) -> Hit {
    let both = || without.iter().zip(with);
    let of = |played: &Played| played.outcomes.get(lane).cloned();
    let first = with.first().and_then(of).unwrap_or_default();
    let mut lost_more = Some(0i64);
    let (mut before, mut after) = (Some(Money::ZERO), Some(Money::ZERO));
    for (old, new) in both() {
        let (Some(old), Some(new)) = (of(old), of(new)) else { continue };
        let lost = |outcome: &Outcome| outcome.split.map(|split| i64::from(split.lost.unwrap_or_default()));
        lost_more = lost_more.zip(lost(&new).zip(lost(&old))).map(|(sum, (new, old))| sum + new - old);
        before = before.zip(old.cost).map(|(sum, cost)| sum + cost);
        after = after.zip(new.cost).map(|(sum, cost)| sum + cost);
    }
    let differs = before.zip(after);
    Hit {
        model: model.clone(),
        verdict: first.verdict,
        lost: first.lost(),
        lost_more,
        more: differs.map(|(before, after)| after.saturating_sub(before)),
        less: differs.map(|(before, after)| before.saturating_sub(after)),
        estimate: first.estimate,
    }
}

/// The parts whose text is another one in two requests, in the order of the bytes.
fn differing(old: &Request, new: &Request) -> Vec<Name> {
    fn texts(request: &Request) -> BTreeMap<(&str, u32), String> {
        let mut texts: BTreeMap<(&str, u32), String> = BTreeMap::new();
        for block in &request.blocks {
            let message = block.message.map_or(0, |message| message.0);
            for part in block.text.parts() {
                texts.entry((&part.id, message)).or_default().push_str(&block.text[part]);
            }
        }
        texts
    }
    if equal(old, new) {
        return Vec::new();
    }
    let (before, after) = (texts(old), texts(new));
    let mut out: Vec<Name> = Vec::new();
    let parts = new.blocks.iter().chain(&old.blocks).flat_map(|block| {
        let message = block.message.map_or(0, |message| message.0);
        block.text.parts().iter().map(move |part| (part.id.clone(), message))
    });
    for (id, message) in parts {
        let key = (&*id, message);
        if before.get(&key) != after.get(&key) && !out.contains(&id) {
            out.push(id);
        }
    }
    out
}

/// True for requests with the same blocks in the same order.
fn equal(old: &Request, new: &Request) -> bool {
    old.blocks.len() == new.blocks.len() && old.blocks.iter().zip(&new.blocks).all(|(a, b)| a.hash == b.hash)
}
