//! A session whose calls were recorded: requests that somebody else's program built, to be looked at as any other.

use std::sync::Arc;

use super::record::{Answer, CallRecord, Lead};
use super::session::Session;
use crate::core::bench::Bench;
use crate::core::wire::{CallNo, Request, Zone};

/// A call that was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What was sent.
    pub request: Request,
    /// What led to it.
    pub lead: Lead,
    /// What came of it.
    pub answer: Answer,
    /// The time as people read it.
    pub now: Arc<str>,
    /// Captions: what the log says besides.
    pub notes: Vec<Arc<str>>,
}

impl Session {
    /// A session without a call, of a bench that stands for the program that was recorded.
    #[must_use]
    pub fn recorded(bench: Arc<Bench>) -> Session {
        Session::new(bench)
    }

    /// True for a session of recorded calls.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        !self.recordings.is_empty()
    }

    /// Adds a call; it gets the next number.
    pub fn record(&mut self, recorded: Recorded) {
        let call = self.next_call;
        let request = Request { call, ..recorded.request };
        let head = request.blocks.iter().take_while(|block| block.kind.zone() != Zone::Messages).cloned();
        let record = CallRecord {
            call,
            turn: request.turn,
            agent: request.agent.clone(),
            model: request.model.clone(),
            at: request.at,
            now: recorded.now,
            cwd: "".into(),
            head: head.collect(),
            blocks: request.blocks.len(),
            shared: request.shared,
            marks: request.marks.as_slice().into(),
            params: request.params.clone(),
            layers: Arc::default(),
            injected: Vec::new(),
            pending: Vec::new(),
            watched: Vec::new(),
            told: Vec::new(),
            lead: recorded.lead,
            notes: recorded.notes,
            answer: Some(recorded.answer),
            compacted: None,
            diagnostics: Vec::new(),
            inputs: 0,
        };
        self.calls.push(Arc::new(record));
        self.recordings.insert(call, Arc::new(request));
        self.next_call = CallNo(call.0 + 1);
    }
}
