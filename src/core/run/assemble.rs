//! The layers that were evaluated become the blocks of a request, with its marks and its record.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::prepare::{Draft, Own, Prepared, Target, no_place};
use super::record::{CallRecord, Injected, LayerState};
use super::room::Compacted;
use super::session::Session;
use crate::core::bench::{Bench, MarkPlace, MessageAt, PlaceKind, Role};
use crate::core::compose;
use crate::core::fact::Name;
use crate::core::log::{Attachment, Body};
use crate::core::source::{self, Piece};
use crate::core::wire::{Block, MarkAt, MessageId, Zone};

impl Session {
    pub(super) fn assemble(
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
        let compacted = conversation
            .compacted
            .clone()
            .map(|compacted| Compacted { survives: self.survivors(&layers), ..compacted });
        let told = self.believe(&blocks, current);
        let record = CallRecord {
            call,
            turn: conversation.turn,
            agent: conversation.id.clone(),
            model: self.model(),
            params: self.params.clone(),
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
            compacted,
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
