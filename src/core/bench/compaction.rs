//! `compaction:`: when a program sums a conversation up by itself.

use super::Template;

/// What happens when a request nears the model's window.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionRule {
    /// `at:`: the share of the window, in percent, from which on a request is not sent as it is.
    pub at: u32,
    /// `window:`: tokens; the model's own by default.
    pub window: Option<u32>,
    /// `keep:`: how many of the last messages stay; what the user said just now always does.
    pub keep: u32,
    /// `rebuild:`: the layers that are made once a session are made again.
    pub rebuild: bool,
    /// `summary:`: what stands in the place of what was said.
    pub summary: Template,
}
