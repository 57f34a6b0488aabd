//! What became of the cache in a call, in one word.

use std::fmt;

use serde::Serialize;

use super::salts::SettingChange;
use crate::core::wire::Zone;

/// What became of the cache in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first call of its conversation: nothing to compare with.
    #[default]
    First,
    /// The request before it, and more behind it.
    Appended,
    /// A part has other bytes, appeared or disappeared.
    Changed,
    /// A part or block stands elsewhere.
    Moved,
    /// The same parts or blocks in another order.
    Reordered,
    /// A block is gone.
    Missing,
    /// A part or block appeared that equals another one.
    Duplicated,
    /// The same JSON, written otherwise.
    SerialisationOnly,
    /// Another model was asked; caches are per model.
    ModelChanged,
    /// Parameters outside of the text changed.
    SettingsChanged,
    /// The bytes are equal, but what was stored had died.
    Expired,
    /// The bytes are equal, but the writer's answer had not begun.
    NotYetVisible,
    /// Too short to be stored.
    BelowMinimum,
    /// Stored, but too far before the mark to be found.
    OutOfLookback,
    /// Text that no mark covers is paid in full.
    NotCached,
    /// Written, and never read.
    NeverRead,
    /// The model's reasoning was not sent back.
    ReasoningDropped,
    /// The conversation was compacted.
    Compacted,
    /// The request went to another machine.
    Routing,
    /// The provider refuses the request.
    Refused,
    /// The bytes are equal, and no rule explains it.
    Unexplained,
}

impl Verdict {
    /// The words that people see.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::First => "first",
            Verdict::Appended => "appended",
            Verdict::Changed => "changed",
            Verdict::Moved => "moved",
            Verdict::Reordered => "reordered",
            Verdict::Missing => "missing",
            Verdict::Duplicated => "duplicated",
            Verdict::SerialisationOnly => "serialisation only",
            Verdict::ModelChanged => "model changed",
            Verdict::SettingsChanged => "settings changed",
            Verdict::Expired => "expired",
            Verdict::NotYetVisible => "not yet visible",
            Verdict::BelowMinimum => "below minimum",
            Verdict::OutOfLookback => "out of lookback",
            Verdict::NotCached => "not cached",
            Verdict::NeverRead => "never read",
            Verdict::ReasoningDropped => "reasoning dropped",
            Verdict::Compacted => "compacted",
            Verdict::Routing => "routing",
            Verdict::Refused => "refused",
            Verdict::Unexplained => "unexplained",
        }
    }

    /// True for what changed in the request itself.
    #[must_use]
    pub fn is_break(self) -> bool {
        matches!(
            self,
            Verdict::Changed
                | Verdict::Moved
                | Verdict::Reordered
                | Verdict::Missing
                | Verdict::Duplicated
                | Verdict::SerialisationOnly
                | Verdict::Compacted
        )
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// The name that vendors' diagnostics give to a break, by the zone in which it starts.
#[must_use]
pub fn vendor_name(verdict: Verdict, zone: Option<Zone>) -> Option<&'static str> {
    if verdict == Verdict::ModelChanged {
        return Some("model_changed");
    }
    Some(match zone? {
        Zone::Tools => "tools_changed",
        Zone::System => "system_changed",
        Zone::Messages => "messages_changed",
    })
}

/// The name for a parameter that changed: that of OpenAI's diagnostics for its models, else that of the zone from which on
/// it counts.
pub(super) fn setting_name(model: &str, change: &SettingChange) -> Option<&'static str> {
    let openai = model.starts_with("openai:");
    match &*change.name {
        "effort" if openai => Some("reasoning_effort_changed"),
        "verbosity" if openai => Some("verbosity_changed"),
        "text_format" if openai => Some("text_format_changed"),
        "service_tier" if openai => Some("service_tier_changed"),
        "prompt_cache_key" if openai => Some("prompt_cache_key_changed"),
        _ => vendor_name(Verdict::SettingsChanged, Some(change.zone)),
    }
}
