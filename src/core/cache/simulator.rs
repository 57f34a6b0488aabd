//! Plays a session's requests, call by call, against the caches of several models at once.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;

use super::diff;
use super::judge::{Seen, Sums};
use super::model::Models;
use super::outcome::Outcome;
use super::salts::Traits;
use super::store::NeverRead;
use super::world::World;
use crate::core::fact::Name;
use crate::core::tokens::{Encoding, Measure, Method};
use crate::core::wire::{Block, MarkAt, Params, Request};

/// Gives the counter of each vocabulary.
pub trait Measures {
    /// The counter of this vocabulary.
    fn of(&mut self, encoding: Encoding) -> &mut dyn Measure;
}

/// A question that every call answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    /// What happens as the session runs: each call goes to the model that it names.
    AsSent,
    /// What would happen if every call went to this model.
    As(Name),
}

/// The caches of a session.
///
/// Requests are given in the order in which they are sent. Work grows with what is new in a request, not with its
/// length, as long as [`Request::shared`] says how much is old. Cloning it keeps the state, so a forecast plays on
/// from a clone.
#[derive(Clone)]
pub struct Simulator {
    models: Arc<Models>,
    lanes: Vec<LaneState>,
    conversations: IndexMap<Name, Conversation>,
    /// The ways in which tokens are counted, each once.
    rulers: Vec<Method>,
    /// Calls so far, of all conversations.
    order: u64,
}

#[derive(Clone)]
struct LaneState {
    lane: Lane,
    /// One for each model that was asked, by id.
    worlds: IndexMap<Name, World>,
}

/// A conversation's latest request.
#[derive(Clone, Default)]
pub(super) struct Conversation {
    pub(super) blocks: Vec<Arc<Block>>,
    pub(super) marks: Vec<MarkAt>,
    pub(super) params: Arc<Params>,
    pub(super) traits: Traits,
    pub(super) model: Name,
    pub(super) turn: u32,
    /// Running token counts behind each block, one list for each ruler.
    pub(super) sums: Vec<Vec<u32>>,
    /// The number of its latest call in the whole session; 0 before the first.
    pub(super) order: u64,
    /// How many leading blocks of the coming request are at most those of this one, where requests were not sent.
    pub(super) known: Option<usize>,
}

impl Simulator {
    /// Caches with nothing in them, for these questions.
    #[must_use]
    pub fn new(models: Arc<Models>, lanes: impl IntoIterator<Item = Lane>) -> Simulator {
        let mut rulers = Vec::new();
        let lanes = lanes.into_iter().map(|lane| {
            let mut worlds = IndexMap::new();
            if let Lane::As(id) = &lane {
                worlds.insert(id.clone(), World::new(models.get(id), &mut rulers));
            }
            LaneState { lane, worlds }
        });
        let lanes = lanes.collect();
        Simulator { models, lanes, conversations: IndexMap::new(), rulers, order: 0 }
    }

    /// The questions, in the order of the outcomes.
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.iter().map(|lane| &lane.lane)
    }

    /// Notes a request that was built but never reached a provider, so that [`Request::shared`] of the next one,
    /// which counts from it, is understood.
    pub fn not_sent(&mut self, request: &Request) {
        let conversation = self.conversations.entry(request.agent.clone()).or_default();
        let known = conversation.known.unwrap_or(usize::MAX).min(request.shared);
        conversation.known = Some(known);
    }

    /// Sends a request and tells, for each question, what comes of it.
    pub fn call(&mut self, request: &Request, measures: &mut dyn Measures) -> Vec<Outcome> {
        self.order += 1;
        let order = self.order;
        let index = self.conversations.get_index_of(&request.agent).unwrap_or_else(|| {
            self.conversations.insert_full(request.agent.clone(), Conversation::default()).0
        });
        let conversation = &mut self.conversations[index];
        let first = conversation.order == 0;
        let same = same(conversation, request);
        let traits = conversation.traits.next(&request.blocks, same);
        for lane in &mut self.lanes {
            if lane.lane == Lane::AsSent && !lane.worlds.contains_key(&request.model) {
                lane.worlds.insert(
                    request.model.clone(),
                    World::new(self.models.get(&request.model), &mut self.rulers),
                );
            }
            for world in lane.worlds.values_mut() {
                let alike = world.alike(Some(&*conversation), request, same, traits);
                world.note_same(index, alike.same);
            }
        }

        let breaks = if first || same == conversation.blocks.len() {
            Vec::new()
        } else {
            diff::breaks(&conversation.blocks, &request.blocks, same, conversation.turn != request.turn)
        };
        // The running counts of this request, and those of the one before it where they differ.
        let mut old_tails: Vec<Vec<u32>> = Vec::new();
        conversation.sums.resize_with(self.rulers.len(), Vec::new);
        for (index, (ruler, sums)) in self.rulers.iter().zip(&mut conversation.sums).enumerate() {
            let Some(encoding) = ruler.encoding() else { continue };
            let mut measure = ruler.measure(measures.of(encoding));
            extend(sums, &conversation.blocks, &mut measure);
            if same < sums.len() {
                old_tails.resize_with(self.rulers.len(), Vec::new);
                old_tails[index] = sums.split_off(same);
            }
            extend(sums, &request.blocks, &mut measure);
        }

        let marks = tidy(&request.marks, request.blocks.len());
        let mut lanes = std::mem::take(&mut self.lanes);
        let conversation = &self.conversations[index];
        let seen = Seen {
            request,
            marks: &marks,
            conversation: index,
            same,
            traits,
            before: (!first).then_some(conversation),
            breaks: &breaks,
            order,
        };
        let knows = |writer: usize, written: u64| self.knows(index, writer, written);
        let mut outcomes = Vec::with_capacity(lanes.len());
        for lane in &mut lanes {
            let changed = lane.lane == Lane::AsSent && !first && conversation.model != request.model;
            let world = match &lane.lane {
                Lane::AsSent => lane.worlds.get_mut(&request.model),
                Lane::As(_) => lane.worlds.first_mut().map(|(_, world)| world),
            };
            let Some(world) = world else { continue };
            let sums = world.ruler.map(|ruler| Sums {
                now: &conversation.sums[ruler],
                old_head: &conversation.sums[ruler],
                old_tail: old_tails.get(ruler).map_or(&[], Vec::as_slice),
                same,
            });
            outcomes.push(seen.outcome(world, sums, changed, measures, &knows));
        }
        self.lanes = lanes;

        let conversation = &mut self.conversations[index];
        conversation.blocks.truncate(same.min(request.shared));
        let kept = conversation.blocks.len();
        conversation.blocks.extend(request.blocks[kept..].iter().cloned());
        conversation.marks.clear();
        conversation.marks.extend_from_slice(&marks);
        conversation.params = request.params.clone();
        conversation.traits = traits;
        if conversation.model != request.model {
            conversation.model = request.model.clone();
        }
        conversation.turn = request.turn;
        conversation.order = order;
        conversation.known = None;
        outcomes
    }

    /// What a question's caches were written and have not read so far, in the order of the calls.
    #[must_use]
    pub fn never_read(&self, lane: usize) -> Vec<NeverRead> {
        let worlds = self.lanes.get(lane).into_iter().flat_map(|lane| lane.worlds.values());
        let mut found: Vec<NeverRead> = worlds.flat_map(World::never_read).collect();
        found.sort_by_key(|unread| unread.call);
        found
    }

    /// True when `reader` makes its call only after the answer to the call that `writer` made as number `written`
    /// had begun: its own, that of an agent above or below it, or one that an agent above both has called since.
    fn knows(&self, reader: usize, writer: usize, written: u64) -> bool {
        let name = |index: usize| self.conversations.get_index(index).map_or("", |(name, _)| name);
        let (reader, writer) = (name(reader), name(writer));
        let above = |above: &str, below: &str| {
            below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        above(reader, writer)
            || above(writer, reader)
            || self.conversations.iter().any(|(name, conversation)| {
                above(name, reader) && above(name, writer) && conversation.order > written
            })
    }
}

/// How many leading blocks of a request equal those of the one before it. Beyond what the request vouches for, blocks
/// are compared by their hashes.
fn same(conversation: &Conversation, request: &Request) -> usize {
    let (old, new) = (&conversation.blocks, &request.blocks);
    let end = old.len().min(new.len());
    let mut same = request.shared.min(conversation.known.unwrap_or(usize::MAX)).min(end);
    // A cheap guard against a number that counts from another request.
    if same > 0 && !Arc::ptr_eq(&old[same - 1], &new[same - 1]) {
        same = 0;
    }
    while same < end && (Arc::ptr_eq(&old[same], &new[same]) || old[same].hash == new[same].hash) {
        same += 1;
    }
    same
}

/// Adds the running counts of the blocks that have none yet.
fn extend(sums: &mut Vec<u32>, blocks: &[Arc<Block>], measure: &mut dyn Measure) {
    let mut sum = sums.last().copied().unwrap_or_default();
    for block in &blocks[sums.len().min(blocks.len())..] {
        sum += block.tokens(measure);
        sums.push(sum);
    }
}

/// Marks in order, each behind a block that is there.
fn tidy(marks: &[MarkAt], blocks: usize) -> Cow<'_, [MarkAt]> {
    if marks.is_sorted_by_key(|mark| mark.block) && marks.last().is_none_or(|mark| mark.block < blocks) {
        return Cow::Borrowed(marks);
    }
    let mut marks: Vec<MarkAt> = marks.iter().copied().filter(|mark| mark.block < blocks).collect();
    marks.sort_by_key(|mark| mark.block);
    Cow::Owned(marks)
}
