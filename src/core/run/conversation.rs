//! One agent's conversation: what a session keeps for each agent that has begun.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::Held;
use super::record::{Baseline, Lead};
use super::room::Compacted;
use crate::core::fact::{EventId, Name, Value};
use crate::core::log::Log;
use crate::core::source::Evaluated;
use crate::core::wire::Block;

/// A layer's text as it was committed by a call that was sent.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub evaluated: Evaluated,
    pub turn: u32,
}

/// One agent's conversation: its log, its own facts, what its layers were built with.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub id: Name,
    pub role: Name,
    pub goal: Held,
    pub said: Held,
    /// Facts of this conversation only: `cwd` above all.
    pub scope: BTreeMap<Name, Held>,
    pub began: EventId,
    /// The event of the last step: the user's message, the model's answer.
    pub stepped: EventId,
    pub turn: u32,
    pub log: Log,
    pub built: BTreeMap<Name, Built>,
    /// What each layer came to when it was evaluated last, sent or not.
    pub evaluated: BTreeMap<Name, Evaluated>,
    pub baselines: BTreeMap<Name, Baseline>,
    /// The tools that the model called just now.
    pub just: Vec<Name>,
    /// What they were called with, as JSON, in the same order.
    pub just_args: Vec<Arc<str>>,
    /// Tool results that this conversation still has.
    pub results: usize,
    /// How many of them it had when the turn began.
    pub results_before: usize,
    /// The index of the newest tool message of this iteration.
    pub newest_tool: Option<usize>,
    /// The index of the user message that began the turn.
    pub current_user: Option<usize>,
    /// True until the first call of the turn was sent.
    pub fresh_turn: bool,
    pub lead: Lead,
    pub tool_names: Vec<Name>,
    /// The tool definitions as they were composed last.
    pub tools: Vec<Arc<Block>>,
    /// The tool call of the parent that this sub-agent answers.
    pub answers: Option<Name>,
    pub last_said: Arc<str>,
    /// The compaction since the last call that was sent.
    pub compacted: Option<Compacted>,
    /// The blocks of the last request that was sent, and the block index at which each message starts.
    pub sent_blocks: Vec<Arc<Block>>,
    pub sent_starts: Vec<usize>,
    pub sent_head: usize,
    pub calls_numbered: u32,
}

impl Conversation {
    pub(super) fn new(id: Name, role: Name, goal: Held, began: EventId) -> Conversation {
        Conversation {
            id,
            role,
            said: Held::new(Value::text(""), began),
            goal,
            scope: BTreeMap::new(),
            began,
            stepped: began,
            turn: 0,
            log: Log::default(),
            built: BTreeMap::new(),
            evaluated: BTreeMap::new(),
            baselines: BTreeMap::new(),
            just: Vec::new(),
            just_args: Vec::new(),
            results: 0,
            results_before: 0,
            newest_tool: None,
            current_user: None,
            fresh_turn: false,
            lead: Lead::Again,
            tool_names: Vec::new(),
            tools: Vec::new(),
            answers: None,
            last_said: "".into(),
            compacted: None,
            sent_blocks: Vec::new(),
            sent_starts: Vec::new(),
            sent_head: 0,
            calls_numbered: 0,
        }
    }
}
