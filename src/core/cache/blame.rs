//! Who broke the prefix: the part, the fact, the event.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::verdict::Verdict;
use crate::core::diagnostic::Position;
use crate::core::fact::{EventId, FactKey, Name};
use crate::core::text::number::Thousands;
use crate::core::text::{Made, Origin, Source};
use crate::core::wire::{BlockKind, MessageId, Zone};

/// What happened to a part or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It has other bytes.
    Changed,
    /// It was not there before.
    Appeared,
    /// It is not there any more.
    Disappeared,
    /// It stands elsewhere.
    Moved,
}

/// Where in a file the bytes are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The file as the user would name it.
    pub file: Name,
    /// The line and column; for a placeholder, of its `{{`.
    pub at: Position,
    /// The placeholder's expression, without braces: `cwd`. None for text that is copied as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<Name>,
}

impl Written {
    /// Where what `origin` wrote comes from; `into` is the offset of the byte in its span. None for what no file wrote.
    #[must_use]
    pub fn of(origin: &Origin, into: usize) -> Option<Written> {
        let placeholder = |source: &Arc<Source>, range: &std::ops::Range<usize>| {
            let before = source.text.get(..range.start).unwrap_or_default();
            let open = before.rfind("{{").max(before.rfind("{%")).unwrap_or(range.start);
            let expression = source.text.get(range.clone()).unwrap_or_default().trim();
            Written {
                file: source.name.clone(),
                at: source.position(open),
                expression: (!expression.is_empty()).then(|| expression.into()),
            }
        };
        match &origin.made {
            Made::Verbatim { source, at } => {
                Some(Written { file: source.name.clone(), at: source.position(at + into), expression: None })
            }
            Made::Derived { source, range } => Some(placeholder(source, range)),
            Made::Fact { placeholder: at, .. } => {
                at.as_ref().map(|(source, range)| placeholder(source, range))
            }
            Made::Literal => None,
        }
    }
}

/// `{{cwd}} prompt.md:9:6`, or `prompt.md:3:1` for copied text.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(expression) = &self.expression {
            write!(f, "{{{{{expression}}}}} ")?;
        }
        write!(f, "{}:{}", self.file, self.at)
    }
}

/// A difference between a request and the one before it in the conversation, with its author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blame {
    /// The zone in which it lies.
    pub zone: Zone,
    /// The index of the block in the request; for what is gone, where it stood.
    pub block: usize,
    /// What kind of block it is.
    pub kind: BlockKind,
    /// The block's name: the tool, the place, the id of a tool call.
    pub name: Name,
    /// The message.
    pub message: Option<MessageId>,
    /// The first byte that differs: in the zone's rendered text for tools and system, in the message's for messages.
    pub byte: usize,
    /// The part: a layer's id, or what stands for one (`user`, `model`, `tool Cd`, `tools`).
    pub part: Name,
    /// The first few of the parts or blocks right behind it that shared its fate.
    pub with: Vec<Name>,
    /// How many shared its fate.
    pub with_count: usize,
    /// True when the whole block came, went or moved; then [`Blame::part`] is its first part.
    pub whole_block: bool,
    /// True when not the part's own text but the separator in front of it has other bytes.
    pub separator: bool,
    /// What happened to it.
    pub what: What,
    /// The verdict that this difference alone gives.
    pub verdict: Verdict,
    /// Where in a file the differing bytes are written.
    pub written: Option<Written>,
    /// The facts behind it that changed, the one that wrote the differing byte first.
    pub facts: Vec<FactKey>,
    /// What stood there before: short, not escaped. Empty for what appeared or moved.
    pub old: String,
    /// What stands there now.
    pub new: String,
    /// The event that made it so; none where nothing tells.
    pub cause: Option<EventId>,
    /// True when a new turn began between the two requests.
    pub new_turn: bool,
}

/// What a sentence needs to know of others.
pub struct Labels<'a> {
    /// An event: `Cd in call 1`, `edit of AGENTS.md`.
    pub event: &'a dyn Fn(EventId) -> String,
    /// What screens call a layer, by its id.
    pub layer: &'a dyn Fn(&str) -> String,
    /// The keep rule by which a layer takes its text out again: `earlier: strip` inside of a turn, `persist: strip`
    /// where a new turn began (the flag). None where it has none.
    pub strip: &'a dyn Fn(&str, bool) -> Option<String>,
}

impl Labels<'_> {
    /// Labels for what has no bench: ids as they are, events by number.
    pub const PLAIN: Labels<'static> = Labels {
        event: &|event| {
            if event == EventId::OPENING { "the opening".into() } else { format!("event {}", event.0) }
        },
        layer: &|id| id.to_owned(),
        strip: &|_, _| None,
    };
}

/// `a`, `a and b`, `a, b and 3 more`.
fn listed(first: String, with: Vec<String>, count: usize) -> String {
    let more = count - with.len();
    let mut all: Vec<String> = std::iter::once(first).chain(with).collect();
    if more > 0 {
        all.push(format!("{more} more"));
    }
    let last = all.pop().unwrap_or_default();
    if all.is_empty() { last } else { format!("{} and {last}", all.join(", ")) }
}

impl Blame {
    /// Where it is: `system byte 386`, `message 7`, `message 7 byte 35`.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.zone, self.message) {
            (Zone::Tools, _) => format!("tools byte {}", Thousands(self.byte as u32)),
            (Zone::System, _) => format!("system byte {}", Thousands(self.byte as u32)),
            (Zone::Messages, Some(message)) if self.what == What::Changed => {
                format!("message {} byte {}", message.0, Thousands(self.byte as u32))
            }
            (Zone::Messages, Some(message)) => format!("message {}", message.0),
            (Zone::Messages, None) => "messages".into(),
        }
    }

    /// Who it is: `00_base`, `tool Grep`, `the tool result`, `dynamic-context and system-reminder`.
    #[must_use]
    pub fn who(&self, labels: &Labels<'_>) -> String {
        let name = |id: &Name| match (self.kind, self.whole_block) {
            (BlockKind::Tool, _) => format!("tool {}", if self.whole_block { id } else { &self.name }),
            (BlockKind::ToolUse, true) => "the tool call".into(),
            (BlockKind::ToolResult, true) => "the tool result".into(),
            _ => (labels.layer)(id),
        };
        let first = if self.whole_block && self.kind == BlockKind::Tool { &self.name } else { &self.part };
        if self.whole_block && self.kind.zone() == Zone::Messages && self.with_count > 0 {
            return format!("{} blocks", self.with_count + 1);
        }
        listed(name(first), self.with.iter().map(name).collect(), self.with_count)
    }

    /// `{{cwd}} prompt.md:9:6`, or `prompt.md:3:1` for copied text.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        self.written.as_ref().map(ToString::to_string)
    }

    /// What happened, without call, verdict and tokens:
    /// `system byte 386, 00_base {{cwd}} prompt.md:9:6, "/home/shop" -> "/home/shop/api", by Cd in call 1`.
    #[must_use]
    pub fn clause(&self, labels: &Labels<'_>) -> String {
        let mut text = self.place();
        let who = self.who(labels);
        match self.what {
            What::Changed => {
                let of = if self.separator { "separator before " } else { "" };
                text.push_str(&format!(", {of}{who}"));
                if let Some(source) = self.source() {
                    text.push_str(&format!(" {source}"));
                }
                text.push_str(&format!(
                    ", \"{}\" -> \"{}\"",
                    self.old.escape_debug(),
                    self.new.escape_debug()
                ));
            }
            What::Appeared => text.push_str(&format!(", {who} appeared")),
            What::Moved => text.push_str(&format!(", {who} moved")),
            What::Disappeared => match (labels.strip)(&self.part, self.new_turn) {
                Some(rule) if self.zone == Zone::Messages && !self.whole_block => {
                    let their = if self.with_count > 0 { "their" } else { "its" };
                    text.push_str(&format!("; {who} ({rule}) removed {their} own tags"));
                }
                _ => text.push_str(&format!(", {who} disappeared")),
            },
        }
        // The opening made everything and changed nothing.
        if let Some(cause) = self.cause.filter(|&cause| cause != EventId::OPENING) {
            text.push_str(&format!(", by {}", (labels.event)(cause)));
        }
        text
    }
}
