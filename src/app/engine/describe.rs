//! The session as it is now, as a snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::control::{Ahead, Engine, adjusted};
use super::info;
use super::lanes::lanes;
use super::lints;
use super::numbers::{Counters, Numbers, paid};
use super::publish::{self, Shown};
use super::views::{self, Lanes};
use super::ways::{self, AsLoad};
use crate::app::snapshot::{
    CallState, Choices, Draft, Estimate, Pause, Snapshot, Speaker, Status, Title, VariantChoice, WayRow, Ways,
};
use crate::app::state::View;
use crate::app::views::{OverlayView, ViewData};
use crate::core::cache::Measures;
use crate::core::lint::{Finding, Price, Subject};
use crate::core::run::Player;
use crate::core::tokens::{Encoding, Measure, Method};
use crate::core::wire::{CallNo, Request, redact};
use crate::io::overlay::profile;

impl Engine {
    /// Describes the session as it is now. Where the vocabulary is not loaded yet, everything that needs counting is
    /// left out; it is there in the next snapshot after it was loaded.
    pub fn snapshot(&mut self) -> Snapshot {
        self.generation += 1;
        let counts = self.can_count();
        if counts {
            self.sent.extend(self.player.session(), false, &mut self.counters);
        }
        let ahead = self.take_ahead(counts);
        let snapshot = self.describe(&ahead, counts);
        match &mut self.preview {
            Some(preview) => preview.ahead = Some(ahead),
            None => self.ahead = Some(ahead),
        }
        snapshot
    }

    /// The run that is shown, played to its end, with its numbers if they can be had.
    fn take_ahead(&mut self, counts: bool) -> Ahead {
        let known = match &mut self.preview {
            Some(preview) => preview.ahead.take(),
            None => self.ahead.take(),
        };
        let player = self.preview.as_ref().map_or(&self.player, |preview| &preview.player);
        let mut ahead = known.unwrap_or_else(|| Ahead {
            player: player.forecast(&mut AsLoad(&mut *self.edge)),
            numbers: None,
            lanes: None,
            plain: None,
        });
        if counts && ahead.numbers.is_none() {
            // A preview at an earlier call shares no calls with what was sent behind it.
            let replayed = self.preview.as_ref().is_some_and(|preview| preview.fix.is_some());
            let branches = replayed || self.preview.is_some() && self.shown.is_some();
            let mut numbers =
                if branches { Numbers::like(&self.sent, self.models.clone()) } else { self.sent.clone() };
            numbers.extend(ahead.player.session(), true, &mut self.counters);
            ahead.numbers = Some(numbers);
        }
        if self.shows_lanes() && ahead.lanes.is_none() && self.can_count_lanes() {
            let mut numbers = Numbers::new(self.models.clone(), lanes(&self.beside()));
            numbers.extend(ahead.player.session(), true, &mut self.counters);
            ahead.lanes = Some(numbers);
        }
        if self.view == View::Injectors && !self.options.variants.is_empty() && ahead.plain.is_none() {
            let edge = &mut *self.edge;
            let written = edge.bench(&[]).ok().map(|(bench, _)| adjusted(bench, &self.options));
            ahead.plain =
                written.and_then(|bench| player.rebuild(bench, CallNo(u32::MAX), &mut AsLoad(edge)).ok());
        }
        ahead
    }

    fn describe(&mut self, ahead: &Ahead, counts: bool) -> Snapshot {
        let player = self.preview.as_ref().map_or(&self.player, |preview| &preview.player);
        let session = player.session();
        let numbers = ahead.numbers.as_ref();
        let shown_call = match self.shown {
            // What is typed shows in the call that waits; where none waits, it shows nowhere yet.
            Some(call) if self.preview.is_none() || session.prepared().is_none() => call,
            _ => session.next_call(),
        };
        let record = publish::record(session, shown_call);
        let request = record.and_then(|record| session.request(record.call));
        let before_record = record.and_then(|record| publish::before(session, record));
        let before_request = before_record.and_then(|record| session.request(record.call));
        let model = self.models.get(&record.map_or_else(|| session.model(), |record| record.model.clone()));
        let mut measure = model
            .method
            .encoding()
            .filter(|_| counts)
            .map(|encoding| model.method.measure(One(&mut self.counters, encoding)));

        let mut snapshot = Snapshot { generation: self.generation, ..Snapshot::default() };
        snapshot.agent = info::agent(session, record);
        if let (Some(record), Some(request)) = (record, request.as_ref()) {
            let shown =
                Shown { session, record, request, before: before_record.zip(before_request.as_ref()) };
            snapshot.blocks = publish::blocks(&shown).into();
            snapshot.places = publish::places(&shown, measure.as_mut().map(|m| m as &mut dyn Measure));
            snapshot.layers = publish::layer_table(&shown, measure.as_mut().map(|m| m as &mut dyn Measure));
            snapshot.request = publish::request_view(&shown, measure.as_mut().map(|m| m as &mut dyn Measure));
            snapshot.why = publish::why(&shown);
            // While something is typed, its own effect is what counts.
            if self.preview.is_none() {
                let links = BTreeMap::new();
                let subject = Subject { bench: session.bench(), record, request, links: &links };
                let measure = measure.as_mut().map(|m| m as &mut dyn Measure);
                let mut price = Price { measure, method: &model.method };
                snapshot.lints = lints::in_call(subject, &mut price, &|| self.edge.links());
                snapshot.lints.retain(Finding::counts);
            }
        }
        let images = request.as_ref().is_some_and(Request::has_images);
        let estimate = matches!(model.method, Method::Estimate { .. }) || images;
        let measured = measure.as_mut().map(|m| m as &mut dyn Measure);
        snapshot.data = match (self.view, record) {
            (View::Ledger, Some(record)) => {
                let lanes = Lanes { models: &self.models, numbers: ahead.lanes.as_ref() };
                views::ledger(&ahead.player, record.call, numbers, &lanes, estimate, measured)
                    .map_or(ViewData::None, ViewData::Ledger)
            }
            (View::Injectors, Some(record)) => {
                let plain = ahead.plain.as_ref().map(Player::session);
                ViewData::Injectors(views::injectors(session, record.call, plain, measured))
            }
            (View::Blocks, Some(record)) => {
                let texts = profile::texts_of(session, record);
                let life = self.edge.overlay(session.bench(), &texts);
                let life = life.map(|life| OverlayView { plan: self.overlay_plan.clone(), ..life });
                life.map_or(ViewData::None, |life| ViewData::Overlay(Box::new(life)))
            }
            (View::Steps, Some(record)) => ViewData::Steps(views::steps(session, record)),
            (View::Recording, Some(record)) => self
                .recording
                .as_ref()
                .map_or(ViewData::None, |recording| ViewData::Recording(recording.view(record.call))),
            (View::Log, _) => ViewData::Log(views::log(player, shown_call, &self.chosen)),
            (View::Lints, _) => {
                self.linted.as_ref().map_or(ViewData::None, |linted| ViewData::Lints(linted.view.clone()))
            }
            _ => ViewData::None,
        };
        if self.view == View::Zones && record.is_some() {
            let beside = self.beside();
            let asked = views::Asked {
                player: &ahead.player,
                numbers: ahead.lanes.as_ref(),
                beside: &beside,
                models: &self.models,
                call: self.zones_at.unwrap_or(shown_call),
                waits: session.next_call(),
                fixes: self.fixes.as_ref(),
                preview: self.preview.as_ref().and_then(|preview| preview.fix.clone()),
            };
            let zones = views::zones(&asked, &mut self.counters);
            snapshot.data = zones.map_or(ViewData::None, |zones| ViewData::Zones(Box::new(zones)));
        }
        snapshot.recorded = self.recording.is_some();
        snapshot.lines = player.lines();
        let diff = self.differences(session, record, request.as_ref());
        let at = record.map_or(0, |record| record.at);
        snapshot.model = info::model(session.bench(), record, &model, at, snapshot.request.tokens);
        if let (true, None) = (images, &snapshot.model.tokens.estimate) {
            // The texts are counted; what an image comes to is guessed from its size.
            let error = "images by size".into();
            snapshot.model.tokens.estimate = Some(Estimate { factor: 1.0, error });
        }
        snapshot.calls = publish::call_table(
            session,
            Some(ahead.player.session()),
            record.map(|record| record.call),
            |call| {
                let reported = self.recording.as_ref().and_then(|recording| recording.paid(call));
                reported.or_else(|| numbers?.outcome(call, 0).map(paid))
            },
            |model, text| {
                // Calls may have gone to several models.
                let method = &self.models.get(model).method;
                let encoding = method.encoding().filter(|encoding| counts && encoding.is_loaded())?;
                let mut measure = method.measure(One(&mut self.counters, encoding));
                Some((measure.tokens(text), matches!(method, Method::Estimate { .. })))
            },
        );
        snapshot.calls.write_fee =
            snapshot.calls.rows.iter().any(|row| row.paid.as_ref().is_some_and(|paid| paid.write.is_some()));
        snapshot.caption = publish::caption(session, ahead.player.session(), &snapshot.calls);
        snapshot.diagnostics = self.broken.iter().chain(&self.warnings).cloned().collect();
        if let Some(record) = record {
            snapshot.diagnostics.extend(record.diagnostics.iter().map(|diagnostic| (**diagnostic).clone()));
            if let Some(numbers) = numbers {
                let fix = ways::fix(&self.ways, &self.options.variants).filter(|_| self.ways_done());
                snapshot.verdict =
                    publish::verdict(session, ahead.player.session(), numbers, record.call, fix.as_deref());
                // Of a recording it is known what became of it: that comes first, and what the rules say behind it.
                let reported = self.recording.as_ref().and_then(|recording| recording.verdict(record.call));
                if let Some(reported) = reported {
                    let differs = self.recording.as_ref().is_some_and(|r| r.differs(record.call));
                    snapshot.verdict.retain(|line| {
                        !line.label.starts_with("AHEAD") && (differs || !line.label.starts_with("CALL"))
                    });
                    for line in &mut snapshot.verdict {
                        // It quotes a little of what was recorded.
                        line.text = redact::shown(&line.text).into();
                        line.short = line.short.as_deref().map(|short| redact::shown(short).into());
                        line.label =
                            if line.label.starts_with("CALL") { "RULES".into() } else { line.label.clone() };
                    }
                    snapshot.verdict.insert(0, reported);
                }
            }
        }
        snapshot.diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
        snapshot.broken = !self.broken.is_empty();
        snapshot.title = self.title(&snapshot, player);
        snapshot.choices = Choices {
            variants: self
                .edge
                .variants()
                .into_iter()
                .map(|name| VariantChoice { on: self.options.variants.contains(&name), name })
                .collect(),
            models: info::models(&self.models, &snapshot.model.id, at),
            runs: info::runs(session.bench(), player.run()),
            folders: self.folders.clone(),
        };
        snapshot.why.ways = self.ways_table(&snapshot);
        let paid = snapshot.calls.rows.iter().filter_map(|row| row.paid.as_ref());
        let estimates = paid.filter(|paid| paid.estimate).count();
        snapshot.status = Status {
            watching: self.watching.clone(),
            estimates: estimates as u32,
            note: self.note.clone(),
            counting: !counts,
            playing: self.playing,
        };
        if let Some(typed) = self.preview.as_ref().and_then(|preview| preview.typed.as_ref()) {
            snapshot.draft = Some(self.draft(typed, &snapshot));
        }
        match self.view {
            View::Compare => snapshot.data = ViewData::Compare(self.compare_view()),
            View::WhatIf => snapshot.data = ViewData::WhatIf(self.what_if_view()),
            _ => {}
        }
        snapshot.programs = self.programs();
        self.put_on_stage(&mut snapshot);
        snapshot.sheet = self.edge.sheet(&self.options.variants);
        (snapshot.can_undo, snapshot.can_redo) = self.can_turn_back();
        snapshot.hand = self.by_hand_now();
        // At an earlier call the run goes on as it went on.
        snapshot.calls.by_hand =
            snapshot.hand.as_ref().filter(|_| self.earlier().is_none()).and_then(|hand| {
                let goes_on = hand.waits || hand.speaker == Speaker::User;
                goes_on.then_some(hand.speaker)
            });
        snapshot.facts_now = self.facts_now();
        snapshot.edited = self.edited;
        snapshot.diff = self.keep_differences(diff);
        snapshot.asked = self.asked;
        snapshot.opened = self.editing.as_ref().map(|editing| editing.opened.clone());
        snapshot
    }

    fn draft(&self, typed: &Arc<str>, snapshot: &Snapshot) -> Draft {
        let value: Arc<str> = self.resolved(typed).into();
        let effect = match (snapshot.why.pending.first(), snapshot.verdict.first()) {
            (Some(pending), _) => format!("{} {}", pending.layer, pending.waits),
            (None, Some(verdict)) => format!("{} {}", verdict.label, verdict.text),
            (None, None) => String::new(),
        };
        let known = self.folders.contains(&value);
        let problem =
            (!known && !self.folders.is_empty()).then(|| Arc::from("no such folder in the workspace"));
        Draft { typed: typed.clone(), value, effect: effect.into(), problem }
    }

    fn title(&self, snapshot: &Snapshot, player: &Player) -> Title {
        let session = player.session();
        let bench = session.bench();
        let rows = &snapshot.calls.rows;
        let shown = snapshot.calls.shown.map(|index| &rows[index]);
        let pause = match shown {
            None => Pause::Start,
            Some(row) if row.state == CallState::Next => Pause::Before(row.no),
            Some(row) if session.prepared().is_none() && Some(row.no) == rows.last().map(|row| row.no) => {
                Pause::End(row.no)
            }
            Some(row) => Pause::Looking(row.no),
        };
        Title {
            name: bench.title.clone().unwrap_or_else(|| bench.name.clone()),
            note: self.edge.note(),
            run: player.run().cloned(),
            branch: (!self.others.is_empty()).then(|| (self.branch as u32 + 1, self.others.len() as u32 + 1)),
            turn: shown.map_or(0, |row| row.turn),
            turns: rows.iter().filter(|row| row.agent.is_none()).map(|row| row.turn).max().unwrap_or(0),
            pause,
            calls: rows.len() as u32,
        }
    }

    fn ways_table(&self, snapshot: &Snapshot) -> Ways {
        let names = self.edge.ways();
        if names.is_empty() {
            return Ways::default();
        }
        let calls = snapshot.calls.rows.len() as u32;
        let done = self.ways_done();
        let old = if done { &[][..] } else { &self.old_ways };
        let rows = ways::rows(&names, &self.ways, old, &self.options.variants, done);
        let known = |row: &&WayRow| row.outcome.is_some() && !row.old;
        let left = if done { 0 } else { rows.len() - rows.iter().filter(known).count() };
        Ways { calls, rows, left, notes: Vec::new() }
    }

    /// True when every variant was tried.
    fn ways_done(&self) -> bool {
        self.ways_left.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The counter of one vocabulary, borrowed for a while.
struct One<'a>(&'a mut Counters, Encoding);

impl Measure for One<'_> {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        self.0.of(self.1).tokens(text)
    }
    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        self.0.of(self.1).tokens_before(text, byte)
    }
    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        self.0.of(self.1).shared(a, b)
    }
}
