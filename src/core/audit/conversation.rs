//! Conversations in a log: which one a call goes on with, and its request with blocks that are those of the call before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::body::{Body, Element, Loose, output};
use super::usage::{Answered, Reported};
use crate::core::fact::Name;
use crate::core::wire::{Block, BlockKind, CallNo, Format, MarkAt, MessageId, Params, Request};

/// A conversation, as its latest call left it.
pub(super) struct Conversation {
    pub name: Name,
    pub session: Option<Name>,
    pub format: Format,
    /// The messages of its latest request, and the number of each.
    pub elements: Vec<Arc<Element>>,
    ids: Vec<u32>,
    /// The blocks of each message.
    blocks: Vec<Vec<Arc<Block>>>,
    tools: Arc<[Loose]>,
    system: Arc<[Loose]>,
    tool_blocks: Vec<Arc<Block>>,
    system_blocks: Vec<Arc<Block>>,
    /// The tools of the calls, by id.
    called: BTreeMap<Name, Name>,
    last_id: u32,
    pub turn: u32,
    pub params: Arc<Params>,
    pub model: Name,
    /// Milliseconds since the Unix epoch.
    pub at: Option<i64>,
    /// What the latest call that reported anything reported.
    pub reported: Option<Reported>,
    answer_id: Option<String>,
    answer_output: Option<String>,
    pub calls: u32,
    /// True where its latest call failed.
    pub failed: bool,
    /// The number of its latest call among all.
    pub last_call: u32,
    /// The latest request, for what is told of it afterwards.
    pub request: Option<Request>,
}

impl Conversation {
    pub(super) fn new(name: Name, session: Option<Name>, format: Format) -> Conversation {
        Conversation {
            name,
            session,
            format,
            elements: Vec::new(),
            ids: Vec::new(),
            blocks: Vec::new(),
            tools: Arc::default(),
            system: Arc::default(),
            tool_blocks: Vec::new(),
            system_blocks: Vec::new(),
            called: BTreeMap::new(),
            // Number 1 is the system prompt's.
            last_id: 1,
            turn: 0,
            params: Arc::default(),
            model: "".into(),
            at: None,
            reported: None,
            answer_id: None,
            answer_output: None,
            calls: 0,
            failed: false,
            last_call: 0,
            request: None,
        }
    }

    /// True when this is the answer that a request goes on from.
    pub(super) fn answered_as(&self, id: &str) -> bool {
        self.answer_id.as_deref() == Some(id)
    }

    /// True where its latest call that was answered went to this model; where none was, whatever the model.
    pub(super) fn is_of(&self, model: &Name) -> bool {
        self.calls == 0 || self.model == *model
    }

    /// How many leading messages of a body are known from here. System messages in front of the conversation do not
    /// count.
    pub(super) fn leading(&self, body: &Body) -> usize {
        let mine = self.elements.iter().filter(|element| !element.leading);
        let theirs = body.elements.iter().filter(|element| !element.leading);
        let same = |(a, b): &(&Arc<Element>, &Arc<Element>)| Arc::ptr_eq(a, b) || a.hash == b.hash;
        mine.zip(theirs).take_while(same).count()
    }

    /// How many of its messages are among these, by their hashes, wherever they stand.
    pub(super) fn anywhere(&self, hashes: &BTreeSet<u64>) -> usize {
        let mine = self.elements.iter().filter(|element| !element.leading);
        mine.filter(|element| hashes.contains(&element.hash)).count()
    }

    /// The number of its messages, without system messages in front.
    pub(super) fn messages(&self) -> usize {
        self.elements.iter().filter(|element| !element.leading).count()
    }

    /// True when a body has the same system prompt and tools.
    pub(super) fn same_head(&self, body: &Body) -> bool {
        same_loose(&self.system, &body.system) && same_loose(&self.tools, &body.tools)
    }

    /// The request of a body that goes on with this conversation.
    pub(super) fn take(&mut self, call: CallNo, model: &Name, at: i64, body: &Body) -> Request {
        let mut elements = body.elements.clone();
        if let Some(previous) = &body.previous
            && self.answered_as(previous)
        {
            // Only what is new was sent; the provider put it behind what it has.
            let said =
                self.answer_output.as_deref().map(|list| output(list, body.format)).unwrap_or_default();
            elements = self.elements.iter().cloned().chain(said).chain(elements).collect();
        }
        if !same_loose(&self.tools, &body.tools) {
            self.tool_blocks = reuse(&self.tool_blocks, &body.tools);
            self.tools = body.tools.clone();
        }
        if !same_loose(&self.system, &body.system) {
            self.system_blocks = reuse(&self.system_blocks, &body.system);
            self.system = body.system.clone();
        }
        self.take_messages(elements);
        let mut request = Request {
            call,
            turn: self.turn,
            agent: self.name.clone(),
            model: model.clone(),
            at,
            blocks: Vec::new(),
            shared: 0,
            marks: Vec::new(),
            params: body.params.clone(),
        };
        let blocks = &mut request.blocks;
        let mut mark = |blocks: &[Arc<Block>], loose: &Loose| {
            if let Some(ttl) = loose.mark {
                request.marks.push(MarkAt { block: blocks.len() - 1, ttl });
            }
        };
        for (loose, block) in self.tools.iter().zip(&self.tool_blocks) {
            blocks.push(block.clone());
            mark(blocks, loose);
        }
        for (loose, block) in self.system.iter().zip(&self.system_blocks) {
            blocks.push(block.clone());
            mark(blocks, loose);
        }
        for leading in [true, false] {
            for (element, own) in self.elements.iter().zip(&self.blocks).filter(|(e, _)| e.leading == leading)
            {
                for (loose, block) in element.blocks.iter().zip(own) {
                    blocks.push(block.clone());
                    mark(blocks, loose);
                }
            }
        }
        if let Some(ttl) = body.auto_mark
            && let Some(block) = request.blocks.len().checked_sub(1)
            && request.marks.last().is_none_or(|mark| mark.block != block)
        {
            request.marks.push(MarkAt { block, ttl });
        }
        if let Some(old) = &self.request {
            let same = old.blocks.iter().zip(&request.blocks).take_while(|(a, b)| Arc::ptr_eq(a, b));
            request.shared = same.count();
        }
        request
    }

    /// Numbers the messages: one that was there before keeps its number, wherever it stands now, and one that stands
    /// where another stood takes that one's number if the same side says it.
    fn take_messages(&mut self, elements: Vec<Arc<Element>>) {
        let equal = |a: &Arc<Element>, b: &Arc<Element>| Arc::ptr_eq(a, b) || a.hash == b.hash;
        let start = self.elements.iter().zip(&elements).take_while(|(a, b)| equal(a, b)).count();
        let mut by_hash: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, element) in self.elements.iter().enumerate().skip(start).rev() {
            by_hash.entry(element.hash).or_default().push(at);
        }
        let mut from: Vec<Option<usize>> = vec![None; elements.len() - start];
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for (slot, element) in from.iter_mut().zip(&elements[start..]) {
            *slot = by_hash.get_mut(&element.hash).and_then(Vec::pop);
            taken.extend(*slot);
        }
        let side =
            |element: &Arc<Element>| element.blocks.first().map(|block| (block.kind, block.name.clone()));
        let mut next_old = start;
        for (index, element) in elements[start..].iter().enumerate() {
            match from[index] {
                Some(old) => next_old = old + 1,
                None => {
                    let stood = self.elements.get(next_old).filter(|_| !taken.contains(&next_old));
                    if stood.is_some_and(|old| side(old) == side(element)) {
                        taken.insert(next_old);
                        from[index] = Some(next_old);
                        next_old += 1;
                    }
                }
            }
        }
        // What is equal in front stays where it is; what stands behind it is looked up.
        let old_ids = self.ids.split_off(start);
        let old_blocks = self.blocks.split_off(start);
        let (mut ids, mut blocks) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.blocks));
        for (index, element) in elements[start..].iter().enumerate() {
            let old = from[index];
            let id = old.map_or_else(
                || {
                    self.last_id += 1;
                    self.last_id
                },
                |old| old_ids[old - start],
            );
            for block in element.blocks.iter().filter(|block| block.kind == BlockKind::ToolUse) {
                if let Some(tool) = &block.tool {
                    self.called.entry(block.name.clone()).or_insert_with(|| tool.clone());
                }
            }
            let unchanged = old.filter(|&old| equal(&self.elements[old], element));
            blocks.push(match unchanged {
                Some(old) => old_blocks[old - start].clone(),
                None => {
                    let message = (!element.leading).then_some(MessageId(id));
                    let called = &self.called;
                    let tool = |id: &str| called.get(id).cloned();
                    element.blocks.iter().map(|loose| loose.block(message, &tool)).collect()
                }
            });
            ids.push(id);
        }
        // A turn begins where the last message is what a user says.
        let turns = |elements: &[Arc<Element>]| {
            let begins = |element: &&Arc<Element>| {
                let results = element.blocks.iter().any(|block| block.kind == BlockKind::ToolResult);
                !element.leading && !results && element.blocks.iter().any(Loose::begins_turn)
            };
            elements.iter().filter(begins).count() as u32
        };
        let (before, now) = (turns(&self.elements), turns(&elements));
        self.turn = if self.calls == 0 {
            now.max(1)
        } else if now > before {
            self.turn + (now - before)
        } else {
            self.turn.max(1)
        };
        (self.elements, self.ids, self.blocks) = (elements, ids, blocks);
    }

    /// Notes what came back.
    pub(super) fn note(&mut self, answered: Option<&Answered>) {
        let Some(answered) = answered else { return };
        self.answer_id.clone_from(&answered.id);
        self.answer_output.clone_from(&answered.output);
        if answered.reported.is_some() {
            self.reported = answered.reported;
        }
    }

    /// The bytes of the texts that it keeps.
    pub(super) fn bytes(&self) -> usize {
        self.request.iter().flat_map(|request| &request.blocks).map(|block| block.text.len() + 200).sum()
    }

    /// Where a message stands in the list of the latest body.
    pub(super) fn place_of(&self, id: MessageId) -> Option<usize> {
        self.ids.iter().position(|&known| known == id.0)
    }
}

fn same_loose(a: &Arc<[Loose]>, b: &Arc<[Loose]>) -> bool {
    Arc::ptr_eq(a, b) || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a == b))
}

/// The blocks of a list; those that were there before are the same ones.
fn reuse(old: &[Arc<Block>], list: &[Loose]) -> Vec<Arc<Block>> {
    list.iter()
        .enumerate()
        .map(|(at, loose)| {
            let block = loose.block(None, &|_| None);
            match old.get(at).filter(|old| old.hash == block.hash && old.name == block.name) {
                Some(old) => old.clone(),
                None => block,
            }
        })
        .collect()
}
