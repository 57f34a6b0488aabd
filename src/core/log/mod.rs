//! The append-only message log: messages and what was attached to them, each with the calls in which it is sent.
//!
//! Nothing is ever edited or removed. Taking an attachment out, deleting or rewriting a message closes its lifetime
//! at a call; what a call was sent, what is persisted and what is replayed are filters over the same log.

use std::ops::Range;
use std::sync::Arc;

use crate::core::bench::{Form, Keeping, Role};
use crate::core::fact::{EventId, Name};
use crate::core::text::{Builder, Made, Traced};
use crate::core::tokens::image::Pixels;
use crate::core::wire::{Block, BlockKind, CallNo, MessageId};

/// The calls in which something is sent: from `start` on, before `end`.
pub type Lifetime = Range<CallNo>;

/// A lifetime that has no end yet.
#[must_use]
pub fn since(call: CallNo) -> Lifetime {
    call..CallNo(u32::MAX)
}

/// Text that a layer put into a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// The layer.
    pub layer: Name,
    /// Its text: one part.
    pub text: Traced,
    /// Written in front of it where something stands before it in the message.
    pub glue: Name,
    /// As what it stands there.
    pub form: Form,
    /// What becomes of it when the turn is persisted.
    pub persist: Keeping,
    /// The text that stands in its place once that took it out.
    pub instead: Option<Name>,
    /// The calls that it is sent in.
    pub live: Lifetime,
    /// Why its lifetime ended; none while it is open, and where the message was taken from under it.
    pub closed: Option<Closed>,
}

/// The rule that ended a lifetime, and the event at which it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The rule.
    pub rule: Rule,
    /// The event.
    pub by: EventId,
}

/// A keep rule that takes text out of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `earlier: strip`: the layer wrote again.
    Earlier,
    /// `persist: strip`: the turn was persisted.
    Persist,
}

impl Rule {
    /// As the bench writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Rule::Earlier => "earlier: strip",
            Rule::Persist => "persist: strip",
        }
    }
}

/// A tool call of the model, as the log keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// Numbered at creation: `call_1`.
    pub id: Name,
    /// The tool.
    pub tool: Name,
    /// The arguments as the model wrote them: JSON.
    pub args: Traced,
}

/// What a message is made of, before anything is attached.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A message of the user: its text, unless layers write it (then it is attached).
    User(Option<Traced>),
    /// A message that exists only for what layers say in it, and who says it.
    Own(Role),
    /// The model's answer.
    Assistant {
        /// What it said.
        text: Option<Traced>,
        /// What it called.
        calls: Vec<Called>,
    },
    /// What a tool returned.
    Tool {
        /// The id of the call.
        call: Name,
        /// The tool.
        tool: Name,
        /// The result.
        text: Traced,
    },
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its number.
    pub id: MessageId,
    /// What it is made of.
    pub body: Body,
    /// What was attached to it, in order.
    pub attached: Vec<Attachment>,
    /// The calls that it is sent in.
    pub live: Lifetime,
    /// The event that deleted it or put another text in its place.
    pub edited: Option<EventId>,
}

impl Message {
    /// The blocks as `call` is sent them, together with attachments that are only staged for it and without those of
    /// the layers that are staged to be taken out.
    #[must_use]
    pub fn blocks(&self, call: CallNo, staged: &[Attachment], stripped: &[Name]) -> Vec<Arc<Block>> {
        if !self.live.contains(&call) {
            return Vec::new();
        }
        let mut builder = Builder::default();
        let mut blocks = Vec::new();
        let base = match &self.body {
            Body::User(text) => text.as_ref(),
            Body::Own(_) => None,
            Body::Assistant { text, .. } => text.as_ref(),
            Body::Tool { text, .. } => Some(text),
        };
        if let Some(base) = base {
            builder.append("", base);
        }
        let (mut kind, mut name, mut tool): (BlockKind, Name, Option<Name>) = match &self.body {
            Body::User(_) => (BlockKind::User, "user".into(), None),
            Body::Own(role) => (BlockKind::User, role.word().into(), None),
            Body::Assistant { .. } => (BlockKind::Assistant, "assistant".into(), None),
            Body::Tool { call, tool, .. } => (BlockKind::ToolResult, call.clone(), Some(tool.clone())),
        };
        let kept = self.attached.iter().filter(|a| a.live.contains(&call) && !stripped.contains(&a.layer));
        let mut ends_block = false;
        for attachment in kept.chain(staged) {
            let images = attachment.form == Form::Images;
            if images && images_of(&attachment.text).next().is_none() {
                continue;
            }
            let apart = attachment.form != Form::Text || ends_block;
            if apart && (!builder.is_empty() || kind == BlockKind::ToolResult) {
                let text = std::mem::take(&mut builder).finish();
                blocks.push(Block::new(kind, name.clone(), tool.take(), Some(self.id), text));
                if kind == BlockKind::ToolResult {
                    // What stands beside a result is not the tool's any more.
                    (kind, name) = (BlockKind::User, "user".into());
                }
            }
            ends_block = attachment.form == Form::Block;
            if images {
                let image = |(url, size)| Block::image(name.clone(), Some(self.id), url, size);
                blocks.extend(images_of(&attachment.text).map(image));
                continue;
            }
            let glue = if builder.is_empty() { "" } else { &*attachment.glue };
            builder.append(glue, &attachment.text);
        }
        // A tool that returned nothing still has its result; an empty text of anybody else is no block.
        if !builder.is_empty() || kind == BlockKind::ToolResult {
            blocks.push(Block::new(kind, name, tool, Some(self.id), builder.finish()));
        }
        if let Body::Assistant { calls, .. } = &self.body {
            for call in calls {
                let (id, tool) = (call.id.clone(), Some(call.tool.clone()));
                blocks.push(Block::new(BlockKind::ToolUse, id, tool, Some(self.id), call.args.clone()));
            }
        }
        blocks
    }
}

/// The images that a text names, one a line, with their sizes.
fn images_of(text: &Traced) -> impl Iterator<Item = (Traced, Option<Pixels>)> {
    let mut start = 0;
    text.text().split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let blank = line.len() - line.trim_start().len();
        let line = line.trim();
        let (url, size) = line.split_once(' ').unwrap_or((line, ""));
        let size = Pixels::parse(size.trim()).or_else(|| Pixels::of_url(url));
        (!url.is_empty()).then(|| (text.slice(at + blank..at + blank + url.len()), size))
    })
}

/// The messages of one conversation.
#[derive(Clone, Debug)]
pub struct Log {
    messages: Vec<Arc<Message>>,
    last: u32,
    /// The lowest index of a message that changed since the log was last settled.
    dirty: usize,
}

impl Default for Log {
    fn default() -> Log {
        // Number 1 is the system prompt's, which providers list in front.
        Log { messages: Vec::new(), last: 1, dirty: 0 }
    }
}

impl Log {
    /// The messages, in the order in which they are sent.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The number of messages, sent or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// True without messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The lowest index of a message that changed since [`Log::settle`]; the number of messages if none did.
    #[must_use]
    pub fn dirty(&self) -> usize {
        self.dirty
    }

    /// What stands now is known: from here on, changes count anew.
    pub fn settle(&mut self) {
        self.dirty = self.messages.len();
    }

    /// Puts a message at an index (the end for most), sent from `from` on; gives its index.
    pub fn insert(&mut self, index: usize, body: Body, attached: Vec<Attachment>, from: CallNo) -> usize {
        self.last += 1;
        let message = Message { id: MessageId(self.last), body, attached, live: since(from), edited: None };
        self.messages.insert(index, Arc::new(message));
        self.dirty = self.dirty.min(index);
        index
    }

    /// Adds a message at the end; gives its index.
    pub fn push(&mut self, body: Body, from: CallNo) -> usize {
        self.insert(self.messages.len(), body, Vec::new(), from)
    }

    /// Attaches text to the message at an index.
    pub fn attach(&mut self, index: usize, attachment: Attachment) {
        if let Some(message) = self.messages.get_mut(index) {
            Arc::make_mut(message).attached.push(attachment);
            self.dirty = self.dirty.min(index);
        }
    }

    /// Ends, before `call`, every attachment at index `from` or behind that `which` picks and that is still open.
    pub fn close(&mut self, call: CallNo, from: usize, closed: Closed, which: impl Fn(&Attachment) -> bool) {
        for index in from..self.messages.len() {
            let picks = |a: &Attachment| a.live.end > call && a.live.start < call && which(a);
            if self.messages[index].attached.iter().any(picks) {
                for attachment in
                    Arc::make_mut(&mut self.messages[index]).attached.iter_mut().filter(|a| picks(a))
                {
                    attachment.live.end = call;
                    attachment.closed = Some(closed);
                }
                self.dirty = self.dirty.min(index);
            }
        }
    }

    /// Ends what is not persisted, before `call` and by an event; what shall stand in its place stands there from then on.
    pub fn persist(&mut self, call: CallNo, by: EventId) {
        let closed = Closed { rule: Rule::Persist, by };
        self.close(call, 0, closed, |a| a.persist == Keeping::Strip);
        for message in &mut self.messages {
            let leaves =
                |a: &Attachment| a.closed == Some(closed) && a.live.end == call && a.instead.is_some();
            while let Some(at) = message.attached.iter().position(leaves) {
                let attached = &mut Arc::make_mut(message).attached;
                let old = &mut attached[at];
                let Some(text) = old.instead.take() else { break };
                let text = Traced::whole(old.layer.clone(), text, Made::Literal, by);
                let form = if old.form == Form::Images { Form::Block } else { old.form };
                let new = Attachment {
                    text,
                    form,
                    persist: Keeping::Keep,
                    live: since(call),
                    closed: None,
                    instead: None,
                    ..old.clone()
                };
                attached.insert(at + 1, new);
            }
        }
    }

    /// Ends, before `call` and by an event, every message whose index `which` picks and that is still sent. Attachments go with it.
    pub fn end(&mut self, call: CallNo, by: EventId, which: impl Fn(usize) -> bool) {
        for index in 0..self.messages.len() {
            if which(index) && self.messages[index].live.contains(&call) {
                let message = Arc::make_mut(&mut self.messages[index]);
                message.live.end = call;
                message.edited = Some(by);
                self.dirty = self.dirty.min(index);
            }
        }
    }

    /// Ends a message before `call`, by an event; with a text, another takes its place from there on. The attachments go
    /// with it. False where there is no such message or it is not sent any more.
    pub fn edit(&mut self, id: MessageId, call: CallNo, text: Option<Traced>, by: EventId) -> bool {
        let Some(index) = self.messages.iter().position(|m| m.id == id && m.live.contains(&call)) else {
            return false;
        };
        let message = Arc::make_mut(&mut self.messages[index]);
        message.live.end = call;
        message.edited = Some(by);
        self.dirty = self.dirty.min(index);
        if let Some(text) = text {
            let body = match &self.messages[index].body {
                Body::User(_) | Body::Own(_) => Body::User(Some(text)),
                Body::Assistant { calls, .. } => Body::Assistant { text: Some(text), calls: calls.clone() },
                Body::Tool { call, tool, .. } => Body::Tool { call: call.clone(), tool: tool.clone(), text },
            };
            self.insert(index + 1, body, Vec::new(), call);
        }
        true
    }

    /// Everything that a call was or would be sent.
    pub fn sent(&self, call: CallNo) -> impl Iterator<Item = Arc<Block>> {
        self.messages.iter().flat_map(move |message| message.blocks(call, &[], &[]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::text::Made;

    fn text(part: &str, text: &str) -> Traced {
        Traced::whole(part, text, Made::Literal, EventId::OPENING)
    }

    fn sent(log: &Log, call: u32) -> Vec<String> {
        log.sent(CallNo(call)).map(|block| block.text.text().to_string()).collect()
    }

    #[test]
    fn closing_a_lifetime_changes_later_calls_only() {
        let mut log = Log::default();
        log.push(Body::User(Some(text("user", "go"))), CallNo(1));
        let tool = log.push(
            Body::Tool { call: "call_1".into(), tool: "Cd".into(), text: text("tool Cd", "ok") },
            CallNo(2),
        );
        log.attach(
            tool,
            Attachment {
                layer: "r".into(),
                text: text("r", "<r>"),
                glue: "\n\n".into(),
                form: Form::Text,
                persist: Keeping::Strip,
                instead: None,
                live: since(CallNo(2)),
                closed: None,
            },
        );
        log.settle();
        let closed = Closed { rule: Rule::Persist, by: EventId(3) };
        log.close(CallNo(4), 0, closed, |a| a.persist == Keeping::Strip);
        assert_eq!(log.messages()[tool].attached[0].closed, Some(closed));
        assert_eq!(log.dirty(), 1);
        assert_eq!(sent(&log, 1), ["go"]);
        assert_eq!(sent(&log, 2), ["go", "ok\n\n<r>"]);
        assert_eq!(sent(&log, 3), ["go", "ok\n\n<r>"]);
        assert_eq!(sent(&log, 4), ["go", "ok"]);
    }

    #[test]
    fn a_layer_can_be_a_block_of_its_own() {
        let mut log = Log::default();
        let attachment = |layer: &str, glue: &str, block| Attachment {
            layer: layer.into(),
            text: text(layer, layer),
            glue: glue.into(),
            form: if block { Form::Block } else { Form::Text },
            persist: Keeping::Keep,
            instead: None,
            live: since(CallNo(1)),
            closed: None,
        };
        let user = log.push(Body::User(None), CallNo(1));
        log.attach(user, attachment("a", "", true));
        log.attach(user, attachment("b", "", true));
        log.attach(user, attachment("c", " ", false));
        let tool =
            log.push(Body::Tool { call: "call_1".into(), tool: "Cd".into(), text: text("t", "") }, CallNo(1));
        log.attach(tool, attachment("d", "", true));
        log.insert(0, Body::Own(Role::Developer), vec![attachment("e", "", true)], CallNo(1));
        let sent: Vec<String> = log
            .sent(CallNo(1))
            .map(|b| format!("{:?} {} {:?} {}", b.kind, b.name, b.tool, b.text.text()))
            .collect();
        assert_eq!(
            sent,
            [
                "User developer None e",
                "User user None a",
                "User user None b",
                "User user None c",
                "ToolResult call_1 Some(\"Cd\") ",
                "User user None d"
            ]
        );
    }

    #[test]
    fn images_are_blocks_of_their_own_and_something_can_stand_instead_of_them() {
        let mut log = Log::default();
        let attachment = |layer: &str, said: &str, form, instead: Option<&str>| Attachment {
            layer: layer.into(),
            text: text(layer, said),
            glue: " ".into(),
            form,
            persist: if instead.is_some() { Keeping::Strip } else { Keeping::Keep },
            instead: instead.map(Into::into),
            live: since(CallNo(1)),
            closed: None,
        };
        let user = log.push(Body::User(None), CallNo(1));
        log.attach(user, attachment("said", "Look", Form::Text, None));
        let urls = "https://a.example/1.png 30x25\n\n  data:image/gif;base64,R0lGODlhAwACAIAAAP  \n";
        log.attach(user, attachment("shown", urls, Form::Images, Some("[image]")));
        log.attach(user, attachment("note", "noted", Form::Block, None));
        log.attach(user, attachment("time", "10:30", Form::Text, None));
        log.attach(user, attachment("none", " \n", Form::Images, None));
        let shown = |log: &Log, call| {
            log.sent(CallNo(call))
                .map(|b| {
                    format!("{:?} {} {}", b.kind, b.text.text(), b.size.map_or("".into(), |s| s.to_string()))
                })
                .collect::<Vec<String>>()
        };
        let sent = [
            "User Look ",
            "Image https://a.example/1.png 30x25",
            "Image data:image/gif;base64,R0lGODlhAwACAIAAAP 3x2",
            "User noted ",
            "User 10:30 ",
        ];
        assert_eq!(shown(&log, 1), sent);
        log.persist(CallNo(2), EventId(4));
        assert_eq!(shown(&log, 1), sent, "the past stays");
        assert_eq!(shown(&log, 2), ["User Look ", "User [image] ", "User noted ", "User 10:30 "]);
        log.persist(CallNo(3), EventId(5));
        assert_eq!(shown(&log, 3), shown(&log, 2));
    }

    #[test]
    fn an_edit_keeps_the_past() {
        let mut log = Log::default();
        log.push(Body::User(Some(text("user", "a"))), CallNo(1));
        log.push(Body::User(Some(text("user", "b"))), CallNo(1));
        assert!(log.edit(MessageId(2), CallNo(3), Some(text("user", "A")), EventId(1)));
        assert!(log.edit(MessageId(3), CallNo(3), None, EventId(2)));
        assert!(!log.edit(MessageId(3), CallNo(3), None, EventId(2)), "it is gone already");
        assert_eq!(sent(&log, 2), ["a", "b"]);
        assert_eq!(sent(&log, 3), ["A"]);
    }
}
