//! One session: what it was told, what waits, and the requests that come of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::journal::{Did, Journal};
use super::protocol::{ChatMessage, LayerReply, NoteReply, RequestReply};
use super::{QUEUE, REMEMBERED};
use crate::core::bench::Bench;
use crate::core::fact::{FactKey, Found, Name, Progress};
use crate::core::run::{CallRecord, Input, Load, Session, reported_by};
use crate::core::source::Piece;
use crate::core::wire::{Block, BlockKind, Zone};

/// Why something could not be done: a code for programs, a sentence for people.
pub(super) type Problem = (&'static str, String);

/// What has become of a message that was taken before.
pub(super) enum Before {
    /// It began the turn whose request waits.
    Current,
    /// It waits, with so many others.
    Waiting(usize),
    /// Its turn is over.
    Over,
}

/// What is to be done with what the user said.
pub(super) enum Told {
    /// A turn has begun.
    Began,
    /// It waits, with so many others.
    Queued(usize),
}

/// A session with its queue.
pub(super) struct Talk {
    session: Session,
    /// What clients report now, by field. It reaches the session when the next turn begins: a request that waits for its
    /// answer is what the model was sent, and no report changes that.
    reports: BTreeMap<Name, Arc<str>>,
    queue: VecDeque<(Option<Arc<str>>, Arc<str>)>,
    /// The ids of the last messages, the newest last.
    taken: VecDeque<Arc<str>>,
    /// The message that began the turn.
    current: Option<Arc<str>>,
    journal: Journal,
    /// What the message at hand has done so far.
    did: Vec<Did>,
}

impl Talk {
    pub(super) fn new(bench: Arc<Bench>, journal: Journal) -> Talk {
        Talk {
            session: Session::new(bench),
            reports: BTreeMap::new(),
            queue: VecDeque::new(),
            taken: VecDeque::new(),
            current: None,
            journal,
            did: Vec::new(),
        }
    }

    /// A session as it was kept.
    pub(super) fn again(
        bench: Arc<Bench>,
        kept: Vec<Vec<Did>>,
        journal: Journal,
        load: &mut dyn Load,
    ) -> Result<Talk, String> {
        let mut talk = Talk::new(bench, journal);
        for did in kept {
            let mut progress = Progress::Done(());
            for did in did {
                match did {
                    Did::Supplied(found) => {
                        talk.session.supply(found);
                        progress = talk.session.resume();
                    }
                    Did::Input(input) => {
                        // The bench may need other files than it did when this happened.
                        talk.load(progress, load)?;
                        progress = talk.session.step(input).map_err(|refused| refused.0)?;
                    }
                    did => talk.note(&did),
                }
            }
            talk.load(progress, load)?;
        }
        talk.did.clear();
        Ok(talk)
    }

    /// What is no business of the session itself.
    fn note(&mut self, did: &Did) {
        match did {
            Did::Taken(id) => {
                self.taken.push_back(id.clone());
                if self.taken.len() > REMEMBERED {
                    self.taken.pop_front();
                }
            }
            Did::Began(id) => self.current.clone_from(id),
            Did::Reported(field, Some(text)) => {
                self.reports.insert(field.clone(), text.clone());
            }
            Did::Reported(field, None) => {
                self.reports.remove(field);
            }
            Did::Queued(id, content) => self.queue.push_back((id.clone(), content.clone())),
            Did::Requeued(id, content) => {
                self.queue.pop_back();
                self.queue.push_back((id.clone(), content.clone()));
            }
            Did::Dequeued => {
                self.queue.pop_front();
            }
            Did::Input(_) | Did::Supplied(_) => {}
        }
    }

    fn done(&mut self, did: Did) {
        self.note(&did);
        self.did.push(did);
    }

    /// Writes down what the message at hand did.
    pub(super) fn keep(&mut self) -> Result<(), String> {
        let did = std::mem::take(&mut self.did);
        if did.is_empty() { Ok(()) } else { self.journal.append(&did) }
    }

    /// How many bytes are kept of it.
    pub(super) fn bytes(&self) -> u64 {
        self.journal.bytes()
    }

    /// Forgets it.
    pub(super) fn end(self) {
        self.journal.remove();
    }

    /// What has become of a message with this id; none for one that is new.
    pub(super) fn before(&self, id: &Arc<str>) -> Option<Before> {
        if !self.taken.contains(id) {
            return None;
        }
        Some(match self.queue.iter().any(|(queued, _)| queued.as_ref() == Some(id)) {
            true => Before::Waiting(self.queue.len()),
            false if self.waits() && self.current.as_ref() == Some(id) => Before::Current,
            false => Before::Over,
        })
    }

    /// What the message of this id says, while it waits or its request does.
    pub(super) fn content(&self, id: &Arc<str>) -> Option<Arc<str>> {
        let queued = self.queue.iter().find(|(queued, _)| queued.as_ref() == Some(id));
        match queued {
            Some((_, content)) => Some(content.clone()),
            None if self.current.as_ref() == Some(id) => self.session.fact("said")?.0.as_text().cloned(),
            None => None,
        }
    }

    /// Remembers the id of a message.
    pub(super) fn take(&mut self, id: Option<&Arc<str>>) {
        if let Some(id) = id {
            self.done(Did::Taken(id.clone()));
        }
    }

    /// A client reports a field.
    pub(super) fn report(&mut self, field: &Name, text: Option<&Arc<str>>) {
        if self.reports.get(field) != text {
            self.done(Did::Reported(field.clone(), text.cloned()));
        }
    }

    /// What is reported in a field now.
    pub(super) fn reported(&self, field: &str) -> Option<&Arc<str>> {
        self.reports.get(field)
    }

    /// True while a request waits for its answer.
    pub(super) fn waits(&self) -> bool {
        self.session.prepared().is_some()
    }

    /// The user says something.
    pub(super) fn say(
        &mut self,
        id: Option<&Arc<str>>,
        content: &Arc<str>,
        load: &mut dyn Load,
    ) -> Result<Told, Problem> {
        if !self.waits() {
            return self.begin(id.cloned(), content, false, load).map(|()| Told::Began);
        }
        if self.queue.len() >= QUEUE {
            return Err(("queue_full", format!("{QUEUE} messages wait already: answer the request first")));
        }
        self.done(Did::Queued(id.cloned(), content.clone()));
        Ok(Told::Queued(self.queue.len()))
    }

    /// The user says otherwise what was said last: what waits last, else the last turn.
    pub(super) fn say_again(
        &mut self,
        id: Option<&Arc<str>>,
        content: &Arc<str>,
        load: &mut dyn Load,
    ) -> Result<Told, Problem> {
        if !self.queue.is_empty() {
            self.done(Did::Requeued(id.cloned(), content.clone()));
            return Ok(Told::Queued(self.queue.len()));
        }
        self.begin(id.cloned(), content, true, load).map(|()| Told::Began)
    }

    /// The model has answered; gives the call. Then what waits first begins.
    pub(super) fn answer(&mut self, content: &Arc<str>, load: &mut dyn Load) -> Result<u32, Problem> {
        let call = self.session.next_call().0;
        if !self.waits() {
            return Err(("not_waiting", "no request waits for an answer".to_owned()));
        }
        self.step(Input::Say(content.clone()), load)?;
        let fields: Vec<Name> = self.session.bench().reports_of_a_turn().cloned().collect();
        for field in fields {
            self.report(&field, None);
        }
        Ok(call)
    }

    /// Begins the turn of the message that waits first; false where none waits.
    pub(super) fn go_on(&mut self, load: &mut dyn Load) -> Result<bool, Problem> {
        if self.waits() {
            return Ok(false);
        }
        let Some((id, content)) = self.queue.front().cloned() else { return Ok(false) };
        self.done(Did::Dequeued);
        self.begin(id, &content, false, load).map(|()| true)
    }

    fn begin(
        &mut self,
        id: Option<Arc<str>>,
        content: &Arc<str>,
        again: bool,
        load: &mut dyn Load,
    ) -> Result<(), Problem> {
        if again {
            self.step(Input::TakeBack, load)?;
        }
        self.look_again(load)?;
        self.hand_over_reports(load)?;
        self.done(Did::Began(id));
        self.step(Input::User(content.clone()), load)
    }

    /// Whatever a watcher would say: what a request needs is looked at again before it is made.
    fn look_again(&mut self, load: &mut dyn Load) -> Result<(), Problem> {
        let keys: Vec<FactKey> = self.session.watched().cloned().collect();
        let mut found = load.load(&keys);
        found.retain(|(key, found)| !self.session.knows(key, found));
        if found.is_empty() {
            return Ok(());
        }
        let files = |key: &FactKey| matches!(key, FactKey::File(_) | FactKey::Data(_) | FactKey::Document(_));
        let by = match found.iter().find(|(key, _)| files(key)).or(found.first()) {
            Some((key, _)) if files(key) => format!("the edit of {key}"),
            Some((key, _)) => format!("a change of {key}"),
            None => return Ok(()),
        };
        self.step(Input::Observed { found, by: by.into() }, load)
    }

    fn hand_over_reports(&mut self, load: &mut dyn Load) -> Result<(), Problem> {
        let fields: std::collections::BTreeSet<Name> =
            self.session.bench().serve.report.iter().map(|report| report.field().clone()).collect();
        let mut news = Vec::new();
        for field in fields {
            let found = match self.reports.get(&field) {
                Some(text) => Found::Value(crate::core::fact::Value::Text(text.clone())),
                None => Found::Absent,
            };
            let key = FactKey::Reported(field);
            let nothing_yet = found == Found::Absent && !self.session.has_asked(&key);
            if !nothing_yet && !self.session.knows(&key, &found) {
                news.push((key, found));
            }
        }
        if news.is_empty() {
            return Ok(());
        }
        let fields: Vec<String> = news
            .iter()
            .filter_map(
                |(key, _)| if let FactKey::Reported(field) = key { Some(field.to_string()) } else { None },
            )
            .collect();
        let by = reported_by(&fields.iter().map(String::as_str).collect::<Vec<_>>());
        self.step(Input::Observed { found: news, by }, load)
    }

    fn step(&mut self, input: Input, load: &mut dyn Load) -> Result<(), Problem> {
        let progress = self.session.step(input.clone()).map_err(|refused| ("refused", refused.0))?;
        self.did.push(Did::Input(input));
        self.load(progress, load).map_err(|reason| ("refused", reason))
    }

    /// Supplies what a step needs.
    fn load(&mut self, mut progress: Progress<()>, load: &mut dyn Load) -> Result<(), String> {
        let mut asked: Vec<FactKey> = Vec::new();
        while let Progress::Needs(keys) = progress {
            if let Some(key) = keys.iter().find(|key| asked.contains(key)) {
                return Err(format!("{key} is needed and cannot be had"));
            }
            asked.extend(keys.iter().cloned());
            let found = load.load(&keys);
            self.did.push(Did::Supplied(found.clone()));
            self.session.supply(found);
            progress = self.session.resume();
        }
        Ok(())
    }

    /// The request that waits.
    pub(super) fn request(&self, session_id: &Arc<str>) -> Option<Result<RequestReply, Problem>> {
        let record = self.session.prepared()?;
        if let Some(problem) = stopped(record) {
            return Some(Err(("stopped", format!("no request may be built: {problem}"))));
        }
        let request = self.session.request(record.call)?;
        let mut messages: Vec<ChatMessage> = Vec::new();
        let mut last = None;
        for block in request.zone(Zone::Messages) {
            let role: Arc<str> = match block.kind {
                BlockKind::User | BlockKind::Image => block.name.clone(),
                BlockKind::Assistant | BlockKind::ToolUse => "assistant".into(),
                _ => "tool".into(),
            };
            match messages.last_mut() {
                Some(message) if last == block.message => message.content.push_str(&in_words(block)),
                _ => messages.push(ChatMessage { role, content: in_words(block).into_owned() }),
            }
            last = block.message;
        }
        let (layers, notes) = layers_of(&self.session, record);
        Some(Ok(RequestReply {
            session_id: session_id.clone(),
            message_id: self.current.clone(),
            call: record.call.0,
            turn: record.turn,
            model: record.model.clone(),
            system: system_of(&request),
            messages,
            layers,
            notes,
        }))
    }
}

/// A block of a message as text: an image is named in the place where it stands.
fn in_words(block: &Block) -> Cow<'_, str> {
    let text = &**block.text.text();
    match block.kind {
        BlockKind::Image if text.starts_with("data:") => {
            Cow::Owned(format!("[image, {} bytes of data]", text.len()))
        }
        BlockKind::Image => Cow::Owned(format!("[image {text}]")),
        _ => Cow::Borrowed(text),
    }
}

/// The system prompt of a request.
pub(super) fn system_of(request: &crate::core::wire::Request) -> String {
    request.zone(Zone::System).iter().map(|block| &**block.text.text()).collect()
}

/// Why no request may be built, where that is so.
pub(super) fn stopped(record: &CallRecord) -> Option<String> {
    record.layers.iter().find_map(|layer| match &layer.state.piece {
        Piece::Stopped(problem) => Some(problem.message.clone()),
        _ => None,
    })
}

fn layers_of(session: &Session, record: &CallRecord) -> (Vec<LayerReply>, Vec<NoteReply>) {
    let mut layers = Vec::new();
    let mut notes = Vec::new();
    for state in record.layers.iter() {
        let Some(layer) = session.bench().layer(&state.id) else { continue };
        let mut note = |message: String| notes.push(NoteReply { layer: state.id.clone(), message });
        let (characters, reason) = match &state.state.piece {
            Piece::Text { text, cut } => {
                if *cut > 0 {
                    note(format!("{cut} characters left out by its cap"));
                }
                (Some(text.text().chars().count()), None)
            }
            Piece::Omitted(reason) => (None, Some(reason.to_string())),
            Piece::Failed(problem) | Piece::Stopped(problem) => {
                note(problem.message.clone());
                (None, Some("it failed".to_owned()))
            }
        };
        if let Some(diagnostic) = &state.state.diagnostic {
            note(diagnostic.message.clone());
        }
        layers.push(LayerReply { id: state.id.clone(), title: layer.shown().clone(), characters, reason });
    }
    (layers, notes)
}
