//! The requests of a session, one after the other, at the price of what is new in each.

use std::collections::BTreeMap;

use super::session::Session;
use crate::core::fact::Name;
use crate::core::wire::{CallNo, MessageId, Request};

/// Walks over the requests of a session in the order of their calls, also while the session goes on. What a request
/// shares with the one before it in its conversation is kept, and not gathered again; [`Session::request`] gives the same
/// requests, each anew.
#[derive(Debug, Default)]
pub struct Requests {
    /// For each conversation its latest request.
    latest: BTreeMap<Name, Latest>,
}

#[derive(Debug)]
struct Latest {
    request: Request,
    /// For each message of the log, in order, how many blocks stand in the request up to its end.
    ends: Vec<(MessageId, usize)>,
}

impl Requests {
    /// The request of a call. Calls are asked for in ascending order, and always of the same session.
    pub fn get(&mut self, session: &Session, call: CallNo) -> Option<&Request> {
        let records = session.calls();
        let record = (call.0 as usize).checked_sub(1).and_then(|index| records.get(index));
        let plain = record.filter(|_| !session.was_not_sent(call) && !session.is_recorded());
        let Some(record) = plain else {
            // What waits, what failed and what was recorded stands in no log.
            let request = session.request(call)?;
            let agent = request.agent.clone();
            self.latest.insert(agent.clone(), Latest { request, ends: Vec::new() });
            return self.latest.get(&agent).map(|latest| &latest.request);
        };
        let log = session.log_of(&record.agent)?;
        let head = record.head.len();
        let latest = self.latest.entry(record.agent.clone()).or_insert_with(|| Latest {
            request: Request {
                call,
                turn: record.turn,
                agent: record.agent.clone(),
                model: record.model.clone(),
                at: record.at,
                blocks: Vec::new(),
                shared: 0,
                marks: Vec::new(),
                params: record.params.clone(),
            },
            ends: Vec::new(),
        });
        let request = &mut latest.request;
        let shared = record.shared.min(request.blocks.len());
        let messages = log.messages();
        // Whole messages that lie in what is shared stay, if the log still begins with them.
        let mut stay = latest.ends.partition_point(|(_, end)| *end <= shared);
        let begins = |stay: usize| {
            stay == 0 || messages.get(stay - 1).is_some_and(|message| message.id == latest.ends[stay - 1].0)
        };
        // Messages at the end of what is shared that had no block then may have some now.
        while stay > 0 && latest.ends[stay - 1].1 == stay.checked_sub(2).map_or(head, |at| latest.ends[at].1)
        {
            stay -= 1;
        }
        if shared < head || !begins(stay) {
            stay = 0;
        }
        let kept = match stay {
            0 => 0,
            _ => latest.ends[stay - 1].1,
        };
        latest.ends.truncate(stay);
        request.blocks.truncate(kept);
        if stay == 0 {
            request.blocks.extend(record.head.iter().cloned());
        }
        for message in &messages[stay.min(messages.len())..] {
            request.blocks.extend(message.blocks(call, &[], &[]));
            latest.ends.push((message.id, request.blocks.len()));
        }
        request.call = call;
        request.turn = record.turn;
        request.model.clone_from(&record.model);
        request.at = record.at;
        request.shared = record.shared;
        request.marks.clear();
        request.marks.extend_from_slice(&record.marks);
        request.params = record.params.clone();
        Some(request)
    }
}
