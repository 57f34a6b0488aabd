//! The ledger: what was sent of each message, what of it is persisted, and what the next turn is sent again.

use std::sync::Arc;

use super::record::{Answer, CallRecord};
use super::session::Session;
use crate::core::bench::Keeping;
use crate::core::fact::{EventId, Name};
use crate::core::log::{Body, Closed, Log, Message, Rule};
use crate::core::text::Traced;
use crate::core::wire::{Block, CallNo, MessageId};

/// The messages of one call, and what becomes of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The call.
    pub call: CallNo,
    /// Its turn, from 1.
    pub turn: u32,
    /// True when the turn has ended; else what is persisted is what the keep rules say.
    pub persisted: bool,
    /// The first call of the next turn; none where there is none yet: then what is replayed is what is persisted.
    pub replay: Option<CallNo>,
    /// The messages that the call is sent, in order.
    pub entries: Vec<Entry>,
}

/// A message in the three forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The message.
    pub message: MessageId,
    /// As the call is sent it. Never empty.
    pub sent: Vec<Arc<Block>>,
    /// As it is persisted; empty where nothing of it is.
    pub persisted: Vec<Arc<Block>>,
    /// As the next turn is sent it.
    pub replayed: Vec<Arc<Block>>,
    /// What it is made of, in order: its own text, then what was attached.
    pub pieces: Vec<Piece>,
    /// The event that deleted it or put another message in its place, after the call.
    pub edited: Option<EventId>,
}

impl Entry {
    /// True when the next turn is sent other bytes than the call.
    #[must_use]
    pub fn differs(&self) -> bool {
        let same = |a: &Arc<Block>, b: &Arc<Block>| a.hash == b.hash;
        self.sent.len() != self.replayed.len()
            || !self.sent.iter().zip(&self.replayed).all(|(a, b)| same(a, b))
    }
}

/// Something that a message is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Who wrote it: a layer's id, or `user`, `model`, `tool Cd`.
    pub part: Name,
    /// Its text, without the separator in front of it.
    pub text: Traced,
    /// True where the call is sent it.
    pub sent: bool,
    /// True where it is persisted.
    pub persisted: bool,
    /// True where the next turn is sent it.
    pub replayed: bool,
    /// What took it out, or will when the turn ends.
    pub stripped: Option<Stripped>,
}

/// What takes a text out of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// The rule of its layer.
    pub rule: Rule,
    /// The event at which it happened; none while it is still to happen.
    pub by: Option<EventId>,
    /// The first call that is not sent it; none while it is still to happen.
    pub from: Option<CallNo>,
}

impl Session {
    /// The ledger of a call, sent or prepared. What is staged for the prepared one counts as sent.
    #[must_use]
    pub fn ledger(&self, call: CallNo) -> Option<Ledger> {
        let prepared = self.prepared().filter(|prepared| prepared.call == call);
        if prepared.is_some() {
            let mut sent = self.clone();
            sent.send(Answer::Sent);
            return sent.ledger(call);
        }
        let record = self.calls().get((call.0 as usize).checked_sub(1)?)?;
        let own = |other: &&CallRecord| other.agent == record.agent;
        let calls = || self.calls().iter().map(|call| &**call).chain(self.prepared()).filter(own);
        let replay = calls().find(|other| other.turn > record.turn).map(|other| other.call);
        let last = calls().rfind(|other| other.turn == record.turn).unwrap_or(record);
        let conversation = self.conversations.iter().find(|other| other.id == record.agent)?;
        let mut log = conversation.log.clone();
        let ended = replay.is_some() || matches!(last.answer, Some(Answer::Said(_)));
        let end = CallNo(last.call.0 + 1);
        if !ended {
            // What will happen when the turn ends.
            let closed = Closed { rule: Rule::Persist, by: EventId::OPENING };
            log.close(end, 0, closed, |attachment| attachment.persist == Keeping::Strip);
        }
        let again = replay.unwrap_or(end);
        // The request that waits may take out what its own layers say anew.
        let strip = self.staged_strip(again);
        let entries = log
            .messages()
            .iter()
            .filter_map(|message| entry(message, [call, end, again], &strip, ended))
            .collect();
        Some(Ledger { call, turn: record.turn, persisted: ended, replay, entries })
    }

    /// The layers whose earlier text the prepared call takes out, if it is this one.
    fn staged_strip(&self, call: CallNo) -> Vec<Name> {
        self.prepared
            .as_ref()
            .filter(|prepared| prepared.record.call == call)
            .map(|prepared| prepared.strip.clone())
            .unwrap_or_default()
    }

    /// The messages of the conversation under way.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.conversations[self.current()].log
    }
}

/// One message in the three forms; none where the call is not sent it.
fn entry(
    message: &Arc<Message>,
    [call, end, again]: [CallNo; 3],
    strip: &[Name],
    ended: bool,
) -> Option<Entry> {
    let sent = message.blocks(call, &[], &[]);
    if sent.is_empty() {
        return None;
    }
    let at = |call: CallNo| message.live.contains(&call);
    let mut pieces = Vec::new();
    let base = match &message.body {
        Body::User(text) => text.as_ref(),
        Body::Own(_) => None,
        Body::Assistant { text, .. } => text.as_ref(),
        Body::Tool { text, .. } => Some(text),
    };
    let calls = match &message.body {
        Body::Assistant { calls, .. } => &calls[..],
        _ => &[],
    };
    let whole = |text: &Traced| Piece {
        part: text.parts().first().map_or_else(|| "nobody".into(), |part| part.id.clone()),
        text: text.clone(),
        sent: true,
        persisted: at(end),
        replayed: at(again),
        stripped: None,
    };
    pieces.extend(base.map(whole));
    pieces.extend(calls.iter().map(|call| whole(&call.args)));
    for attachment in &message.attached {
        if !attachment.live.contains(&call) {
            continue;
        }
        let live = |call: CallNo| at(call) && attachment.live.contains(&call);
        let taken = strip.contains(&attachment.layer);
        let stripped = match attachment.closed {
            Some(closed) => Some(Stripped {
                rule: closed.rule,
                by: (ended || closed.rule != Rule::Persist).then_some(closed.by),
                from: (ended || closed.rule != Rule::Persist).then_some(attachment.live.end),
            }),
            None if taken => Some(Stripped { rule: Rule::Earlier, by: None, from: Some(again) }),
            None => None,
        };
        pieces.push(Piece {
            part: attachment.layer.clone(),
            text: attachment.text.clone(),
            sent: true,
            persisted: live(end),
            replayed: live(again) && !taken,
            stripped,
        });
    }
    Some(Entry {
        message: message.id,
        sent,
        persisted: message.blocks(end, &[], &[]),
        replayed: message.blocks(again, &[], strip),
        pieces,
        edited: message.edited,
    })
}
