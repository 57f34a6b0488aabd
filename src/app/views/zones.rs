//! Cache zones: what a call reads, writes and pays again, for several models side by side, and what would avoid it.

use std::sync::Arc;

use super::Spot;
use crate::app::snapshot::{Lost, Paid, Tone};
use crate::core::fact::Name;
use crate::core::fix::Fix;
use crate::core::wire::{CallNo, MessageId};
use crate::io::edit::bench::ChangedLine;

/// The view at one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZonesView {
    /// The call.
    pub call: CallNo,
    /// Its turn.
    pub turn: u32,
    /// The sub-agent that makes it; none for the main agent.
    pub agent: Option<Name>,
    /// True while it was not sent.
    pub forecast: bool,
    /// Who wrote the request, in the order of the bytes; these tile it.
    pub parts: Vec<ZonePart>,
    /// The models; the first is the one that the call goes to.
    pub lanes: Vec<ZoneLane>,
    /// The first difference from the call before; none where there is none.
    pub blame: Option<ZoneBlame>,
    /// The sent, persisted and replayed bytes of the message that the difference lies in.
    pub see: Option<ZoneStored>,
    /// The calls of the run, in the order of [`ZoneLane::strip`].
    pub calls: Vec<CallNo>,
    /// What is tried out and not made.
    pub preview: Option<ZonePreview>,
}

/// A part of the request: the tools, a layer of the system prompt, a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZonePart {
    /// What it is called where there is room.
    pub label: Arc<str>,
    /// And where there is little.
    pub short: Arc<str>,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneLane {
    /// `provider:model`.
    pub model: Name,
    /// Without the provider.
    pub short: Name,
    /// How its tokens are counted: `exact`, `~ estimate x1.31`.
    pub method: Arc<str>,
    /// True when its tokens are estimates.
    pub estimate: bool,
    /// Tokens up to the end of each of [`ZonesView::parts`]; empty where they cannot be counted.
    pub ends: Vec<u32>,
    /// Tokens in front of the first difference; none where there is none.
    pub broken: Option<u32>,
    /// What the call pays; none where that is not known.
    pub paid: Option<Paid>,
    /// What of [`Paid::lost`] is written and not fresh.
    pub lost_written: u64,
    /// `$0.0241`, `~$0.0330`, `n/a: no price for x:y`.
    pub cost: Arc<str>,
    /// What came of it, the verdict first.
    pub says: Vec<(Arc<str>, Tone)>,
    /// What is paid again in each call of the run.
    pub strip: Vec<Lost>,
    /// The sum of that, in words; none where it is not known.
    pub total: Option<Arc<str>>,
    /// The differences behind the first, with what each would still cost here.
    pub behind: Vec<(Arc<str>, Spot)>,
    /// What would avoid it.
    pub fixes: ZoneFixes,
}

/// Who broke the prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneBlame {
    /// Where, and from what to what: `system, byte 386, {{cwd}} at prompt.md:9:6   "a" -> "b"`.
    pub place: Arc<str>,
    /// In a few words, for the sign below the ruler: `byte 386 of system`.
    pub short: Arc<str>,
    /// `layer 00_base, fact cwd`.
    pub who: Arc<str>,
    /// `Cd in call 1, reached system at turn 2`; empty where nothing tells.
    pub when: Arc<str>,
    /// Other verdicts that hold at the same time, in words; empty for none.
    pub also: Arc<str>,
    /// Where the bytes are.
    pub at: Spot,
}

/// What became of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneStored {
    /// Its number.
    pub message: u32,
    /// Bytes as sent, persisted and replayed.
    pub bytes: [u64; 3],
}

impl ZoneStored {
    /// The message.
    #[must_use]
    pub fn id(&self) -> MessageId {
        MessageId(self.message)
    }
}

/// What was tried out to avoid what is paid again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneFixes {
    /// Those that lose less, the best first.
    pub rows: Vec<FixRow>,
    /// How many were tried, and how many there are to try; equal once all were.
    pub tried: (usize, usize),
    /// Where the bench was changed in the middle of the run: what the whole run loses on the bench as it is now, in words.
    pub whole: Option<Arc<str>>,
}

/// A change that loses less.
#[derive(Clone, Debug, PartialEq)]
pub struct FixRow {
    /// What is done.
    pub fix: Fix,
    /// What it is worth: `lost 9,472 -> 0 in the run, saves $0.0213`.
    pub worth: Arc<str>,
}

/// A change that is tried out and not made.
#[derive(Clone, Debug, PartialEq)]
pub struct ZonePreview {
    /// The change.
    pub fix: Fix,
    /// The bench file that it would write to, as its user would name it; empty for one that writes nothing.
    pub file: Name,
    /// The lines that would go and come there, in order.
    pub lines: Arc<[ChangedLine]>,
}
