//! The next request: layers evaluated in run order, and what each comes to collected in a draft.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blocks;
use super::conversation::Built;
use super::record::{Baseline, CallRecord, LayerState, Pending, Watched};
use super::session::Session;
use crate::core::bench::{
    Bench, Form, Keeping, Layer, LayerSource, MessageAt, Place, PlaceKind, Refresh, Role,
};
use crate::core::compose;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{FactKey, Lookup, Name, Progress};
use crate::core::log::{Attachment, since};
use crate::core::source::{self, Evaluated, Facts, Piece, Scope};
use crate::core::text::Traced;
use crate::core::wire::{Block, Request};

/// A request that waits to be sent, and what sending it commits.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub record: CallRecord,
    pub blocks: Vec<Arc<Block>>,
    /// The block index at which each message starts.
    pub starts: Vec<usize>,
    pub attach: Vec<(usize, Attachment)>,
    /// Messages of their own, in order.
    pub own: Vec<Own>,
    pub strip: Vec<Name>,
    pub built: BTreeMap<Name, Built>,
    pub baselines: BTreeMap<Name, Baseline>,
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
            params: record.params.clone(),
        }
    }
}

/// A message that exists only for what layers say in it.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// The index in the log, with all of them in it.
    pub index: usize,
    /// The index of its place in the bench.
    pub place: usize,
    pub role: Role,
    pub attached: Vec<Attachment>,
}

/// What preparing collects, layer by layer.
#[derive(Default)]
pub(super) struct Draft {
    pub states: Vec<Option<LayerState>>,
    pub built: BTreeMap<Name, Built>,
    pub attach: Vec<(usize, Attachment)>,
    /// With the place's index in the bench.
    pub own: Vec<(MessageAt, usize, Attachment)>,
    pub strip: Vec<Name>,
    pub injected: Vec<(Name, Target, Traced, Arc<str>)>,
    pub pending: Vec<Pending>,
    pub watched: Vec<Watched>,
    pub baselines: BTreeMap<Name, Baseline>,
    pub stopped: Option<Arc<Diagnostic>>,
    pub needs: Vec<FactKey>,
}

#[derive(Clone, Copy)]
pub(super) enum Target {
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
        match self.make_room() {
            Progress::Done(true) => self.prepare(),
            Progress::Done(false) => Progress::Done(()),
            Progress::Needs(needs) => Progress::Needs(needs),
        }
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
                            blocks::tell(bench, inner, block, evaluated);
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

    pub(super) fn attachment(&self, layer: &Layer, place: &Place, text: &Traced) -> Attachment {
        Attachment {
            layer: layer.id.clone(),
            text: text.clone(),
            glue: place.join.clone(),
            form: if place.blocks && layer.form == Form::Text { Form::Block } else { layer.form },
            persist: layer.keep.persist,
            instead: layer.keep.instead.clone(),
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
}

/// Facts that are different in every call or turn by their nature: that they moved on makes nothing old.
fn moves_by_itself(key: &FactKey) -> bool {
    matches!(key, FactKey::Named(name) if name.starts_with("call.") || matches!(&**name, "call" | "turn" | "now" | "said"))
        || matches!(key, FactKey::Environment(name) if &**name == "now")
}

pub(super) fn place_index(bench: &Bench, place: &Name) -> usize {
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

pub(super) fn omitted(_layer: &Layer, reason: &str) -> Evaluated {
    Evaluated {
        piece: Piece::Omitted(reason.into()),
        reads: Arc::default(),
        diagnostic: None,
        choice: Arc::default(),
    }
}

pub(super) fn no_place(layer: &Layer, reason: &str) -> LayerState {
    LayerState {
        id: layer.id.clone(),
        state: omitted(layer, reason),
        kept: false,
        old: Vec::new(),
        note: None,
    }
}
