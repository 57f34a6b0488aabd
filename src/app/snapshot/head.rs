//! The first three lines of the screen: the session, the agent, the selected model.

use std::sync::Arc;

use crate::core::fact::Name;
use crate::core::wire::CallNo;

/// The first line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Title {
    /// The bench's title or name; empty when no bench could be opened yet.
    pub name: Name,
    /// What stands behind it in brackets: `sample, scratch copy`, `your folder was not opened`; empty for none.
    pub note: Name,
    /// The run that is played; none where the bench has no runs.
    pub run: Option<Name>,
    /// The number of the branch, from 1, and how many there are; none while there is only one.
    pub branch: Option<(u32, u32)>,
    /// The turn of the shown call, from 1; 0 before the first.
    pub turn: u32,
    /// The turns of the run, with those that the script still holds.
    pub turns: u32,
    /// Where the run stands.
    pub pause: Pause,
    /// The calls of the run, with those that the script still holds.
    pub calls: u32,
}

/// Where the run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pause {
    /// Nothing has happened yet and nothing is prepared.
    #[default]
    Start,
    /// This call is prepared and not sent.
    Before(CallNo),
    /// An earlier call is shown, that was sent.
    Looking(CallNo),
    /// The script holds no further call; this was the last.
    End(CallNo),
}

/// The agent's configuration and where it works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentInfo {
    /// Every field of the bench's agent in the order of the file (`id`, `role`, `session`, ..), as text.
    pub fields: Vec<(Name, Arc<str>)>,
    /// The working directory, as prompts see it.
    pub cwd: Arc<str>,
    /// What it was before the latest change, and what changed it.
    pub cwd_was: Option<Was>,
    /// How many tools the shown call is sent.
    pub tools: u32,
    /// The clock of the run, short: `09:00 CST`; empty where there is none.
    pub clock: Arc<str>,
}

/// A value before its latest change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Was {
    /// The value.
    pub value: Arc<str>,
    /// The event that changed it: `Cd in call 1`.
    pub cause: Arc<str>,
}

/// The selected model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// `provider:model`.
    pub id: Name,
    /// What the bench says to this model: `guidance: no rules in bench`, `guidance: gpt.md`.
    pub guidance: Arc<str>,
    /// How tokens are counted.
    pub tokens: TokenMethod,
    /// How its cache works, one phrase: `128 blocks, min 1,024`; empty for a model that is not known.
    pub cache: Arc<str>,
    /// Its prices; none for a model that is not known.
    pub prices: Option<Prices>,
    /// The most tokens of a request.
    pub window: Option<u64>,
}

/// How tokens are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenMethod {
    /// The encoding: `o200k`; empty where nothing is known.
    pub name: Name,
    /// None for exact counts.
    pub estimate: Option<Estimate>,
}

/// What an estimated count is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The counts of the encoding were multiplied by this.
    pub factor: f64,
    /// The error as a phrase: `+-12 %`; empty where it is not known.
    pub error: Arc<str>,
}

/// Prices in US dollars for a million tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// Of fresh input.
    pub input: f64,
    /// Of input read from the cache.
    pub read: Option<f64>,
    /// Of input written to the cache, where that has its own price.
    pub write: Option<f64>,
    /// The day on which they were checked: `2026-11-30`.
    pub date: Arc<str>,
    /// What else there is to know: `in force from 2026-09-28`; empty for nothing.
    pub note: Arc<str>,
}
