//! The next request: layers evaluated in run order, composed in byte order, changes staged until it is sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blocks;
use super::injectors::told_as;
use super::record::{Answer, Baseline, CallRecord, Injected, LayerState, Lead, Pending, Watched};
use super::session::{Built, Session};
use crate::core::bench::{
    Bench, Keeping, Layer, LayerSource, MarkPlace, MessageAt, Place, PlaceKind, Refresh, Role, Since,
};
use crate::core::compose;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Lookup, Name, Progress};
use crate::core::log::{Attachment, Body, Closed, Rule, since};
use crate::core::source::{self, Evaluated, Facts, Piece, Scope};
use crate::core::text::Traced;
use crate::core::wire::{Block, MarkAt, MessageId, Request, Zone};

/// A request that waits to be sent, and what sending it commits.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub record: CallRecord,
    pub blocks: Vec<Arc<Block>>,
    /// The block index at which each message starts.
    starts: Vec<usize>,
    attach: Vec<(usize, Attachment)>,
    /// Messages of their own, in order.
    own: Vec<Own>,
    pub strip: Vec<Name>,
    built: BTreeMap<Name, Built>,
    baselines: BTreeMap<Name, Baseline>,
    /// A layer that failed and must not.
    pub stopped: Option<Arc<Diagnostic>>,
}

impl Prepared {
    pub(super) fn request(&self) -> Request {
        let record = &self.record;
        Request {
            call: record.call,
            turn: record.turn,
            agent: record.agent.clone(),
            model: record.model.clone(),
            at: record.at,
            blocks: self.blocks.clone(),
            shared: record.shared,
            marks: record.marks.to_vec(),
        }
    }
}

/// A message that exists only for what layers say in it.
#[derive(Clone, Debug)]
struct Own {
    /// The index in the log, with all of them in it.
    index: usize,
    /// The index of its place in the bench.
    place: usize,
    role: Role,
    attached: Vec<Attachment>,
}

/// What preparing collects, layer by layer.
#[derive(Default)]
struct Draft {
    states: Vec<Option<LayerState>>,
    built: BTreeMap<Name, Built>,
    attach: Vec<(usize, Attachment)>,
    /// With the place's index in the bench.
    own: Vec<(MessageAt, usize, Attachment)>,
    strip: Vec<Name>,
    injected: Vec<(Name, Target, Traced, Arc<str>)>,
    pending: Vec<Pending>,
    watched: Vec<Watched>,
    baselines: BTreeMap<Name, Baseline>,
    stopped: Option<Arc<Diagnostic>>,
    needs: Vec<FactKey>,
}

#[derive(Clone, Copy)]
enum Target {
    Message(usize),
    /// A message of its own, for the place with this index in the bench.
    Own(MessageAt, usize),
}

impl Session {
    /// Prepares the next request of the conversation under way. Changes nothing but what is prepared.
    pub(super) fn prepare(&mut self) -> Progress<()> {
        let needs = self.derive_reads();
        if !needs.is_empty() {
            return Progress::Needs(needs);
        }
        let bench = self.bench.clone();
        let current = self.current();
        let tools = match self.compose_tools(&bench) {
            Progress::Done(tools) => tools,
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        self.conversations[current].tool_names = tools.iter().map(|tool| tool.name.clone()).collect();
        self.conversations[current].tools.clone_from(&tools);

        let mut draft = Draft { states: vec![None; bench.layers.len()], ..Draft::default() };
        for index in compose::run_order(&bench) {
            self.evaluate_layer(&bench, index, &mut draft);
        }
        // Announcements compare with what the layers above were built with, so they come last.
        for (index, layer) in bench.layers.iter().enumerate() {
            if let Refresh::Change { watch, since } = &layer.refresh {
                self.announce(&bench, index, watch, *since, &mut draft);
            }
        }
        if !draft.needs.is_empty() {
            draft.needs.sort();
            draft.needs.dedup();
            return Progress::Needs(draft.needs);
        }
        let now = match self.now() {
            Lookup::Ready(value, ..) => value.as_text().cloned().unwrap_or_default(),
            Lookup::Unknown => return Progress::Needs(vec![FactKey::Environment("now".into())]),
            _ => "1970-01-01T00:00:00Z".into(),
        };
        let cwd = match self.view(current).look(&FactKey::named("cwd")) {
            Lookup::Ready(value, ..) => value.to_string().into(),
            Lookup::Unknown => return Progress::Needs(vec![FactKey::Environment("workspace".into())]),
            _ => "".into(),
        };
        self.assemble(&bench, tools, draft, now, cwd);
        Progress::Done(())
    }

    fn compose_tools(&mut self, bench: &Bench) -> Progress<Vec<Arc<Block>>> {
        let current = self.current();
        let view = super::facts::View { session: self, conversation: &self.conversations[current] };
        compose::tools(
            bench,
            &self.templates(),
            &view,
            self.tools.as_deref(),
            self.tools_cause,
            &self.conversations[current].tools,
        )
    }

    /// Evaluates one layer, unless it stands from before.
    fn evaluate_layer(&mut self, bench: &Bench, index: usize, draft: &mut Draft) {
        let layer = &bench.layers[index];
        let Some(place) = bench.places.get(&layer.place) else { return };
        if matches!(layer.refresh, Refresh::Change { .. }) {
            return;
        }
        let current = self.current();
        let conversation = &self.conversations[current];
        let built = conversation.built.get(&layer.id).cloned();
        // Where its place does not exist in this request there is nothing to evaluate.
        let target = match place.kind {
            PlaceKind::NewestTool => match conversation.newest_tool {
                Some(index) => Some(Target::Message(index)),
                None => {
                    draft.states[index] = Some(no_place(layer, "no tool message in this call"));
                    return;
                }
            },
            PlaceKind::CurrentUser => conversation.current_user.map(Target::Message),
            PlaceKind::Message { at } => Some(Target::Own(at, place_index(bench, &layer.place))),
            PlaceKind::System | PlaceKind::Block => None,
        };
        let (turn, fresh) = (conversation.turn, conversation.fresh_turn);
        let stands = match (&layer.refresh, &built) {
            (Refresh::Session, Some(_)) => true,
            // A user message is what it was when it was sent, whatever its layers' refresh says.
            (_, Some(built)) if place.kind == PlaceKind::CurrentUser => built.turn == turn && !fresh,
            (Refresh::Turn, Some(built)) => built.turn == turn,
            _ => false,
        };
        let evaluated = match (stands, built) {
            (true, Some(built)) => {
                draft.built.insert(layer.id.clone(), built.clone());
                if let Some(inner) = block_of(bench, layer) {
                    blocks::stands(bench, inner, built.evaluated.piece.text(), &mut draft.states);
                }
                built.evaluated
            }
            _ => {
                let evaluated = match self.remembered(current, layer) {
                    Some(evaluated) => Progress::Done(evaluated),
                    None => {
                        let inner = block_of(bench, layer);
                        let block = inner.map(|inner| blocks::composed(bench, inner, &mut draft.states));
                        let view =
                            super::facts::View { session: self, conversation: &self.conversations[current] };
                        let mut templates = self.templates();
                        let mut scope = Scope { bench, templates: &mut templates };
                        let text = block.as_ref().map(|block| &block.text);
                        let mut evaluated = source::evaluate(layer, &mut scope, &view, text);
                        if let (Some(inner), Some(block), Progress::Done(evaluated)) =
                            (inner, &block, &mut evaluated)
                        {
                            blocks::tell(inner, block, evaluated);
                        }
                        evaluated
                    }
                };
                match evaluated {
                    Progress::Done(evaluated) => {
                        let evaluated = self.with_edit(&layer.id, evaluated);
                        self.conversations[current].evaluated.insert(layer.id.clone(), evaluated.clone());
                        draft.built.insert(layer.id.clone(), Built { evaluated: evaluated.clone(), turn });
                        evaluated
                    }
                    Progress::Needs(needs) => {
                        draft.needs.extend(needs);
                        return;
                    }
                }
            }
        };
        if let Piece::Stopped(diagnostic) = &evaluated.piece {
            draft.stopped = Some(diagnostic.clone());
        }
        let old = if stands { self.old_facts(&evaluated) } else { Vec::new() };
        if let Some(target) = target
            && let Some(text) = evaluated.piece.text()
        {
            self.inject(layer, place, target, text, stands, draft);
        }
        draft.states[index] =
            Some(LayerState { id: layer.id.clone(), state: evaluated, kept: stands, old, note: None });
    }

    /// What a layer came to when it was evaluated last, if everything that it read then is the same now.
    fn remembered(&self, current: usize, layer: &Layer) -> Option<Evaluated> {
        // What a block of places shows is not a fact.
        if matches!(layer.from, LayerSource::Place(_)) {
            return None;
        }
        let evaluated = self.conversations[current].evaluated.get(&layer.id)?;
        let view = self.view(current);
        let same = |key: &FactKey, read: &crate::core::fact::Read| match view.look(key) {
            Lookup::Ready(_, rev, cause) => rev == read.rev && cause == read.cause,
            Lookup::Absent(cause) => read.rev == crate::core::fact::Rev::ABSENT && cause == read.cause,
            Lookup::Failed(..) | Lookup::Unknown => false,
        };
        evaluated.reads.0.iter().all(|(key, read)| same(key, read)).then(|| evaluated.clone())
    }

    /// Stages a layer's text for its message, unless it is there already.
    fn inject(
        &self,
        layer: &Layer,
        place: &Place,
        target: Target,
        text: &Traced,
        stands: bool,
        draft: &mut Draft,
    ) {
        let conversation = &self.conversations[self.current()];
        let fresh = conversation.fresh_turn;
        let every_call = layer.refresh == Refresh::Call;
        match target {
            Target::Message(index) => {
                let there = conversation.log.messages()[index].attached.iter().any(|a| a.layer == layer.id);
                if there || (stands && !fresh && place.kind == PlaceKind::CurrentUser) {
                    return;
                }
                if stands && place.kind == PlaceKind::NewestTool {
                    // Once a session or a turn: it was told already.
                    return;
                }
                draft.attach.push((index, self.attachment(layer, place, text)));
                if place.kind == PlaceKind::NewestTool {
                    draft.injected.push((layer.id.clone(), target, text.clone(), reason(layer).into()));
                }
            }
            Target::Own(at, own) => {
                if stands || !(fresh || every_call) {
                    return;
                }
                draft.own.push((at, own, self.attachment(layer, place, text)));
                draft.injected.push((layer.id.clone(), target, text.clone(), reason(layer).into()));
            }
        }
        if layer.keep.earlier == Keeping::Strip {
            draft.strip.push(layer.id.clone());
        }
    }

    fn attachment(&self, layer: &Layer, place: &Place, text: &Traced) -> Attachment {
        Attachment {
            layer: layer.id.clone(),
            text: text.clone(),
            glue: place.join.clone(),
            block: place.blocks,
            persist: layer.keep.persist,
            live: since(self.next_call),
            closed: None,
        }
    }

    /// The facts that a text was made with and that have other values by now.
    fn old_facts(&self, evaluated: &Evaluated) -> Vec<FactKey> {
        let view = self.view(self.current());
        let now = |key: &FactKey| match view.look(key) {
            Lookup::Ready(_, rev, _) => Some(rev),
            Lookup::Absent(_) => Some(crate::core::fact::Rev::ABSENT),
            Lookup::Failed(..) | Lookup::Unknown => None,
        };
        let reads = evaluated.reads.0.iter().filter(|(key, _)| !moves_by_itself(key));
        reads
            .filter(|(key, read)| now(key).is_some_and(|rev| rev != read.rev))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Stages what a layer says when a watched fact is not what it was.
    fn announce(&mut self, bench: &Bench, index: usize, watch: &[Name], since: Since, draft: &mut Draft) {
        let layer = &bench.layers[index];
        let Some(place) = bench.places.get(&layer.place) else { return };
        let current = self.current();
        let mut values = Baseline::new();
        for fact in watch {
            match self.view(current).look(&FactKey::Named(fact.clone())) {
                Lookup::Ready(value, rev, _) => {
                    values.insert(fact.clone(), (rev, told_as(&value)));
                }
                Lookup::Unknown => draft.needs.push(self.view(current).behind(&FactKey::Named(fact.clone()))),
                Lookup::Absent(_) | Lookup::Failed(..) => {}
            }
        }
        let conversation = &self.conversations[current];
        let mut baseline = conversation.baselines.get(&layer.id).cloned();
        let after_tools = conversation.newest_tool.is_some() || !conversation.just.is_empty();
        match since {
            // What the layers were built with is known: a change is measured from there.
            Since::Built => {
                let base = baseline.get_or_insert_with(|| values.clone());
                for (fact, value) in &values {
                    if self.tells(bench, fact, draft) {
                        base.insert(fact.clone(), value.clone());
                    }
                }
            }
            // The first look only takes note, and a new turn looks for the first time again.
            Since::First | Since::EmptyIsUnset => {
                if conversation.fresh_turn {
                    baseline = None;
                }
                let unset = since == Since::EmptyIsUnset
                    && baseline.as_ref().is_some_and(|base| base.values().all(|(_, text)| text.is_empty()));
                if after_tools && (baseline.is_none() || unset) {
                    baseline = Some(values.clone());
                }
            }
        }
        let watched = self.compared(&layer.id, watch, baseline.as_ref());
        draft.watched.extend(watched);
        let mut state = |evaluated: Evaluated, note: Option<Arc<str>>| {
            draft.states[index] = Some(LayerState {
                id: layer.id.clone(),
                state: evaluated,
                kept: false,
                old: Vec::new(),
                note,
            });
        };
        let Some(base) = baseline else {
            draft.baselines.remove(&layer.id);
            state(omitted(layer, "no baseline yet"), None);
            return;
        };
        let changed: Vec<(&Name, &Arc<str>, &Arc<str>)> = values
            .iter()
            .filter_map(|(fact, (rev, text))| match base.get(fact) {
                Some((old, _)) if old == rev => None,
                old => Some((fact, old.map_or(text, |(_, text)| text), text)),
            })
            .collect();
        if changed.is_empty() {
            draft.baselines.insert(layer.id.clone(), base);
            state(omitted(layer, "nothing has changed"), None);
            return;
        }
        let reason: Arc<str> = changed
            .iter()
            .map(|(fact, old, new)| format!("{fact} changed: {old} -> {new}"))
            .collect::<Vec<_>>()
            .join("; ")
            .into();
        let evaluated = {
            let mut templates = self.templates();
            let mut scope = Scope { bench, templates: &mut templates };
            source::evaluate(layer, &mut scope, &self.view(current), None)
        };
        let evaluated = match evaluated {
            Progress::Done(evaluated) => self.with_edit(&layer.id, evaluated),
            Progress::Needs(needs) => {
                draft.needs.extend(needs);
                return;
            }
        };
        let conversation = &self.conversations[current];
        let target = match place.kind {
            PlaceKind::NewestTool => conversation.newest_tool.map(Target::Message),
            PlaceKind::CurrentUser if conversation.fresh_turn => {
                conversation.current_user.map(Target::Message)
            }
            PlaceKind::CurrentUser => None,
            PlaceKind::Message { at: MessageAt::BeforeCurrent } if !conversation.fresh_turn => None,
            PlaceKind::Message { at } => Some(Target::Own(at, place_index(bench, &layer.place))),
            PlaceKind::System | PlaceKind::Block => None,
        };
        let note = match (evaluated.piece.text(), target) {
            (Some(text), Some(target)) => {
                let attachment = self.attachment(layer, place, text);
                // Equal priorities keep the order of the list.
                let before = |other: &Name| {
                    let at = bench.layers.iter().position(|layer| layer.id == *other);
                    at.is_none_or(|at| (bench.layers[at].run, at) < (layer.run, index))
                };
                match target {
                    Target::Message(message) => {
                        let at =
                            draft.attach.iter().position(|(index, a)| *index == message && !before(&a.layer));
                        draft.attach.insert(at.unwrap_or(draft.attach.len()), (message, attachment));
                    }
                    Target::Own(at, own) => draft.own.push((at, own, attachment)),
                }
                let at = draft
                    .injected
                    .iter()
                    .position(|(other, ..)| !before(other))
                    .unwrap_or(draft.injected.len());
                draft.injected.insert(at, (layer.id.clone(), target, text.clone(), reason.clone()));
                if layer.keep.earlier == Keeping::Strip {
                    draft.strip.push(layer.id.clone());
                }
                draft.baselines.insert(layer.id.clone(), values);
                Some(reason)
            }
            (Some(text), None) => {
                draft.baselines.insert(layer.id.clone(), base);
                let waits_for: Arc<str> = match place.kind {
                    PlaceKind::NewestTool => "a tool message".into(),
                    _ => "the next user message".into(),
                };
                draft.pending.push(Pending { layer: layer.id.clone(), text: text.clone(), waits_for });
                Some(reason)
            }
            (None, _) => {
                draft.baselines.insert(layer.id.clone(), base);
                None
            }
        };
        let listed = if target.is_none() { omitted(layer, "pending") } else { evaluated };
        draft.states[index] =
            Some(LayerState { id: layer.id.clone(), state: listed, kept: false, old: Vec::new(), note });
    }

    /// True when a layer of this request, built for it, says the present value of a fact.
    fn tells(&self, bench: &Bench, fact: &Name, draft: &Draft) -> bool {
        let key = FactKey::Named(fact.clone());
        let Lookup::Ready(_, now, _) = self.view(self.current()).look(&key) else { return false };
        bench.layers.iter().zip(&draft.states).any(|(layer, state)| {
            let placed = bench.places.get(&layer.place).is_some_and(|place| {
                matches!(place.kind, PlaceKind::System | PlaceKind::CurrentUser | PlaceKind::Block)
            });
            placed
                && state.as_ref().is_some_and(|state| {
                    state.state.piece.text().is_some()
                        && state.state.reads.0.get(&key).is_some_and(|read| read.in_text && read.rev == now)
                })
        })
    }

    fn assemble(
        &mut self,
        bench: &Bench,
        tools: Vec<Arc<Block>>,
        draft: Draft,
        now: Arc<str>,
        cwd: Arc<str>,
    ) {
        let current = self.current();
        let call = self.next_call;
        let conversation = &self.conversations[current];
        let mut blocks = tools;
        let mut place_ends: Vec<(Name, usize)> = Vec::new();
        for place in bench.places.values().filter(|place| place.kind == PlaceKind::System) {
            let pieces = compose::byte_order(bench, &place.id).into_iter().filter_map(|index| {
                let text = draft.states[index].as_ref()?.state.piece.text()?;
                Some((bench.layers[index].id.clone(), text.clone()))
            });
            let placed = compose::system_blocks(place, pieces, &conversation.sent_blocks);
            if !placed.is_empty() {
                blocks.extend(placed);
                place_ends.push((place.id.clone(), blocks.len() - 1));
            }
        }
        let head = blocks.len();

        // Messages of their own take their index; what is behind moves.
        let mut log = conversation.log.clone();
        let mut placed: BTreeMap<(usize, usize), Vec<Attachment>> = BTreeMap::new();
        for (at, place, attachment) in &draft.own {
            let index = match at {
                MessageAt::End => conversation.log.len(),
                MessageAt::BeforeCurrent => conversation.current_user.unwrap_or(conversation.log.len()),
            };
            placed.entry((index, *place)).or_default().push(attachment.clone());
        }
        let own: Vec<Own> = placed
            .into_iter()
            .enumerate()
            .map(|(shift, ((index, place), attached))| {
                let role = bench.places.get_index(place).map_or(Role::User, |(_, place)| place.role);
                Own { index: index + shift, place, role, attached }
            })
            .collect();
        let mut moved: Vec<usize> = (0..conversation.log.len()).collect();
        for own in &own {
            log.insert(own.index, Body::Own(own.role), own.attached.clone(), call);
            moved.iter_mut().filter(|at| **at >= own.index).for_each(|at| *at += 1);
        }
        let staged_at: BTreeMap<usize, Vec<Attachment>> =
            draft.attach.iter().fold(BTreeMap::new(), |mut map, (index, attachment)| {
                map.entry(moved[*index]).or_insert_with(Vec::new).push(attachment.clone());
                map
            });
        let mut first = log.dirty().min(staged_at.keys().next().copied().unwrap_or(usize::MAX));
        if !draft.strip.is_empty() {
            let open = |m: &Arc<crate::core::log::Message>| {
                m.attached
                    .iter()
                    .any(|a| a.live.contains(&call) && draft.strip.contains(&a.layer) && a.live.start < call)
            };
            first = first.min(log.messages().iter().position(open).unwrap_or(usize::MAX));
        }
        let mut starts: Vec<usize> = Vec::with_capacity(log.len());
        let known = first.min(conversation.sent_starts.len()).min(log.len());
        // The blocks of every message before the first that changed are those that were sent last.
        let kept_end = conversation.sent_starts.get(known).copied().unwrap_or(conversation.sent_blocks.len());
        for start in &conversation.sent_starts[..known] {
            starts.push(start - conversation.sent_head + head);
        }
        blocks
            .extend(conversation.sent_blocks[conversation.sent_head.min(kept_end)..kept_end].iter().cloned());
        for (index, message) in log.messages().iter().enumerate().skip(known) {
            starts.push(blocks.len());
            let staged = staged_at.get(&index).map_or(&[][..], Vec::as_slice);
            let own_now = own.iter().any(|own| own.index == index);
            let stripped: &[Name] = if own_now { &[] } else { &draft.strip };
            blocks.extend(message.blocks(call, staged, stripped));
        }
        let shared =
            conversation.sent_blocks.iter().zip(&blocks).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let message_id = |target: &Target| match target {
            Target::Message(index) => log.messages()[moved[*index]].id,
            Target::Own(_, place) => own
                .iter()
                .find(|own| own.place == *place)
                .map_or(MessageId(0), |own| log.messages()[own.index].id),
        };
        let injected = draft
            .injected
            .iter()
            .map(|(layer, target, text, reason)| Injected {
                layer: layer.clone(),
                into: message_id(target),
                text: text.clone(),
                reason: reason.clone(),
            })
            .collect();
        // History ends before the user message that began the turn, and before what was put in front of it since.
        let history_end = conversation.current_user.map(|index| {
            let messages = log.messages();
            let current = moved[index];
            (0..current)
                .rev()
                .take_while(|i| {
                    matches!(messages[*i].body, Body::Own(_)) && messages[*i].id > messages[current].id
                })
                .last()
                .unwrap_or(current)
        });
        let marks = marks(
            bench,
            &blocks,
            head,
            &place_ends,
            history_end.and_then(|index| starts.get(index).copied()),
        );
        let layers: Arc<[LayerState]> = bench
            .layers
            .iter()
            .zip(draft.states)
            .map(|(layer, state)| {
                state.unwrap_or_else(|| no_place(layer, "its place is not in this request"))
            })
            .collect();
        let diagnostics = layers.iter().filter_map(|layer| match &layer.state.piece {
            Piece::Failed(diagnostic) | Piece::Stopped(diagnostic) => Some(diagnostic.clone()),
            _ => layer.state.diagnostic.clone(),
        });
        let at = source::parse_time(&now).map_or(0, |time| time.timestamp().as_millisecond());
        let told = self.believe(&blocks, current);
        let record = CallRecord {
            call,
            turn: conversation.turn,
            agent: conversation.id.clone(),
            model: self.model(),
            at,
            now,
            cwd,
            head: blocks[..head].into(),
            blocks: blocks.len(),
            shared,
            marks: marks.into(),
            diagnostics: diagnostics.collect(),
            layers,
            injected,
            pending: draft.pending,
            watched: draft.watched,
            told,
            lead: conversation.lead.clone(),
            notes: self.notes.clone(),
            answer: None,
            inputs: self.inputs().len(),
        };
        self.prepared = Some(Arc::new(Prepared {
            record,
            blocks,
            starts,
            attach: draft.attach.into_iter().map(|(index, attachment)| (moved[index], attachment)).collect(),
            own,
            strip: draft.strip,
            built: draft.built,
            baselines: draft.baselines,
            stopped: draft.stopped,
        }));
    }

    /// Sends what is prepared: what was staged is told from here on.
    pub(super) fn send(&mut self, answer: Answer) {
        let Some(prepared) = self.prepared.take() else { return };
        let prepared = Arc::unwrap_or_clone(prepared);
        let current = self.current();
        let call = self.next_call;
        let conversation = &mut self.conversations[current];
        let shift = |at: &mut Option<usize>, index: usize| {
            if let Some(at) = at.as_mut().filter(|at| **at >= index) {
                *at += 1;
            }
        };
        for Own { index, role, attached, .. } in prepared.own {
            conversation.log.insert(index, Body::Own(role), attached, call);
            shift(&mut conversation.current_user, index);
            shift(&mut conversation.newest_tool, index);
        }
        let own_stripped = !prepared.strip.is_empty();
        for (index, attachment) in prepared.attach {
            conversation.log.attach(index, attachment);
        }
        if own_stripped {
            let closed = Closed { rule: Rule::Earlier, by: conversation.stepped };
            conversation.log.close(call, 0, closed, |a| prepared.strip.contains(&a.layer));
        }
        conversation.log.settle();
        conversation.built = prepared.built;
        conversation.baselines = prepared.baselines;
        conversation.fresh_turn = false;
        conversation.sent_head = prepared.record.head.len();
        conversation.sent_blocks = prepared.blocks;
        conversation.sent_starts = prepared.starts;
        self.write_place_files(call, &prepared.record.head);
        let record = CallRecord { answer: Some(answer), ..prepared.record };
        self.calls.push(Arc::new(record));
        self.notes.clear();
        self.next_call.0 += 1;
    }

    /// The call fails: it is on record, and everything that was staged stays staged.
    pub(super) fn fail(&mut self, reason: &Arc<str>) {
        let Some(prepared) = self.prepared.take() else { return };
        let record = CallRecord { answer: Some(Answer::Failed(reason.clone())), ..prepared.record.clone() };
        self.calls.push(Arc::new(record));
        self.failed.insert(self.next_call, prepared);
        self.notes.clear();
        self.next_call.0 += 1;
        let current = self.current();
        self.conversations[current].lead = Lead::Retry;
    }
}

/// Facts that are different in every call or turn by their nature: that they moved on makes nothing old.
fn moves_by_itself(key: &FactKey) -> bool {
    matches!(key, FactKey::Named(name) if name.starts_with("call.") || matches!(&**name, "call" | "turn" | "now" | "said"))
        || matches!(key, FactKey::Environment(name) if &**name == "now")
}

fn place_index(bench: &Bench, place: &Name) -> usize {
    bench.places.get_index_of(place).unwrap_or(0)
}

/// The block that a layer shows.
fn block_of<'b>(bench: &'b Bench, layer: &Layer) -> Option<&'b Place> {
    match &layer.from {
        LayerSource::Place(inner) => bench.places.get(inner),
        _ => None,
    }
}

fn reason(layer: &Layer) -> &'static str {
    match layer.refresh {
        Refresh::Session => "once a session",
        Refresh::Turn => "once a turn",
        Refresh::Call => "every call",
        Refresh::Change { .. } => "a change",
    }
}

fn omitted(_layer: &Layer, reason: &str) -> Evaluated {
    Evaluated {
        piece: Piece::Omitted(reason.into()),
        reads: Arc::default(),
        diagnostic: None,
        choice: Arc::default(),
    }
}

fn no_place(layer: &Layer, reason: &str) -> LayerState {
    LayerState {
        id: layer.id.clone(),
        state: omitted(layer, reason),
        kept: false,
        old: Vec::new(),
        note: None,
    }
}

/// The bench's marks as block indices, each once, in order.
fn marks(
    bench: &Bench,
    blocks: &[Arc<Block>],
    head: usize,
    places: &[(Name, usize)],
    current: Option<usize>,
) -> Vec<MarkAt> {
    let tools = blocks.partition_point(|block| block.kind.zone() == Zone::Tools);
    let mut marks: Vec<MarkAt> = Vec::new();
    for mark in &bench.marks {
        let block = match &mark.at {
            MarkPlace::Tools => tools.checked_sub(1),
            MarkPlace::LastHistory => current.filter(|start| *start > head).map(|start| start - 1),
            MarkPlace::LastMessage => blocks.len().checked_sub(1),
            MarkPlace::Place(name) => {
                places.iter().find(|(id, _)| id == name).map(|(_, block)| *block).or_else(|| {
                    let layers: Vec<&Name> = bench
                        .layers
                        .iter()
                        .filter(|layer| layer.place == *name)
                        .map(|layer| &layer.id)
                        .collect();
                    blocks
                        .iter()
                        .rposition(|block| block.text.parts().iter().any(|part| layers.contains(&&part.id)))
                })
            }
        };
        if let Some(block) = block {
            match marks.iter_mut().find(|known| known.block == block) {
                Some(known) => known.ttl = known.ttl.max(mark.ttl),
                None => marks.push(MarkAt { block, ttl: mark.ttl }),
            }
        }
    }
    marks.sort_by_key(|mark| mark.block);
    marks
}
