//! What the engine publishes and the views draw: one whole picture of the session at one call.
//!
//! A snapshot is plain data. Nothing in it has to be worked out by a view: a view chooses columns, cuts texts to the
//! width it has and puts separators into numbers, and that is all. What takes long (tokens, cache numbers, the table of
//! variants) is an `Option` that is `None` until a background thread has it; the engine then publishes again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::diff::DiffView;
use super::editor::Opened;
use super::state::Shows;
use super::views::{Spot, ViewData};
use crate::app::blocks::BlockView;
use crate::core::bench::Budget;
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{EventId, Name};
use crate::core::lint::Finding;
use crate::core::text::Traced;
use crate::core::wire::{BlockKind, CallNo, MessageId, Request};
use crate::io::edit::bench::Sheet;

/// Everything the screen shows about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Counts up with every publication; an older one never replaces a newer one.
    pub generation: u64,
    /// The first line.
    pub title: Title,
    /// The second line.
    pub agent: AgentInfo,
    /// The third line.
    pub model: ModelInfo,
    /// Pane 1.
    pub layers: LayerTable,
    /// The blocks of the shown request, for the overlay view.
    pub blocks: Arc<[BlockView]>,
    /// Pane 2.
    pub calls: CallTable,
    /// Pane 3: the request of [`CallTable::shown`].
    pub request: RequestView,
    /// Pane 4.
    pub why: Why,
    /// The verdict, one line for each entry, in order: `CALL`, then `AHEAD`.
    pub verdict: Vec<VerdictLine>,
    /// What the presenter has to say of the shown call or beat; none where the run has no captions at all.
    pub caption: Option<Caption>,
    /// Programs that the user is to be asked about; none where there is nothing to ask.
    pub programs: Option<Programs>,
    /// Where a demo stands; none while none is on.
    pub demo: Option<DemoAt>,
    /// What is wrong with the bench or its files, errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// What the lints found in the shown call.
    pub lints: Vec<Finding>,
    /// True while a file is broken: everything else here is the last good state.
    pub broken: bool,
    /// The line above the keys.
    pub status: Status,
    /// What lists and inputs offer.
    pub choices: Choices,
    /// Set while this snapshot shows the effect of a CWD that is typed but not yet entered.
    pub draft: Option<Draft>,
    /// What the bench file says of everything that forms can change in it; none for a bench that is part of the program.
    pub sheet: Option<Arc<Sheet>>,
    /// The facts whose value in this run is another one than the bench's.
    pub facts_now: Vec<FactNow>,
    /// The latest edit that a form asked for, once it was answered.
    pub edited: Option<EditedField>,
    /// The data of the view that is open.
    pub data: ViewData,
    /// Where the lines of the script stand in the bench, by the events that they led to.
    pub lines: BTreeMap<EventId, Position>,
    /// The shown call beside another one, while that was asked for.
    pub diff: Option<Arc<DiffView>>,
    /// The text file that is open for editing.
    pub opened: Option<Opened>,
    /// The number of the latest request to open a text that was answered.
    pub asked: u32,
}

/// A fact that has another value in this run than the bench says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactNow {
    /// Its name.
    pub name: Name,
    /// The value, short.
    pub value: Arc<str>,
    /// The event that gave it: `a change of mood by hand`.
    pub cause: Arc<str>,
}

/// An edit that a form asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditedField {
    /// The number of the request.
    pub serial: u32,
    /// True when it was not made; the status line says why.
    pub refused: bool,
}

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

/// Pane 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerTable {
    /// The rows in byte order; layers that write nothing in the shown call stand last.
    pub rows: Vec<LayerRow>,
    /// The last row; none while nothing was built.
    pub total: Option<TotalRow>,
}

impl LayerTable {
    /// True when the run order differs from the byte order somewhere.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.rows.iter().any(|row| row.crossing)
    }
}

/// Where a layer stands in the bytes of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// It has no number: tools, and what is left out.
    #[default]
    None,
    /// The number in the system prompt, from 1.
    Number(u32),
    /// In the current user message: `u`.
    User,
    /// In the newest tool message: `t`.
    Tool,
    /// In a message of its own: `m`.
    Message,
}

/// A row of pane 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerRow {
    /// The layer's id; `tools` for the tools.
    pub id: Name,
    /// What screens call it: title, else key, else id.
    pub shown: Name,
    /// Where it stands in the bytes.
    pub byte: ByteOrder,
    /// When it runs, from 1; none for the tools.
    pub run: Option<u32>,
    /// True when its order of running differs from its order in the bytes.
    pub crossing: bool,
    /// What decides when it runs: `run: 100`; empty for what is no layer.
    pub runs_by: Arc<str>,
    /// What decides where it stands: `key 05_channel`, `as it runs`; empty for what is no layer.
    pub stands_by: Arc<str>,
    /// The place it goes to.
    pub place: Name,
    /// Its own text in characters (Unicode scalar values), without joins.
    pub chars: u64,
    /// In lines.
    pub lines: u64,
    /// In UTF-8 bytes.
    pub bytes: u64,
    /// The hash of its own text, for comparing.
    pub hash: u64,
    /// In tokens, alone.
    pub tokens_alone: Option<u64>,
    /// In tokens, in context; these add up to the total. What the column `tokens` shows.
    pub tokens: Option<u64>,
    /// Its share of the total, from 0 to 1.
    pub share: Option<f64>,
    /// What its author allows it.
    pub budget: Option<Budget>,
    /// How often it changes: `fixed`, `session`, `turn`, `call`, `change`, `60 s`.
    pub change: Name,
    /// What is with it now.
    pub now: Now,
    /// False when it is left out of the shown call.
    pub included: bool,
    /// Why it is included or left out, in words: `when: skills`.
    pub reason: Option<Arc<str>>,
    /// What was cut, in words: `212 of 400 lines`; none when nothing was.
    pub truncated: Option<Arc<str>>,
    /// Where its text comes from.
    pub source: Option<SourceAt>,
    /// What it read, in order of the keys.
    pub reads: Vec<ReadRow>,
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAt {
    /// The file as the user would name it.
    pub file: Name,
    /// Where.
    pub at: Position,
}

/// Something that a layer read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow {
    /// The fact: `cwd`, `AGENTS.md`.
    pub fact: Arc<str>,
    /// Its value, short.
    pub value: Arc<str>,
    /// The event that gave it this value; none for what never changed.
    pub cause: Option<Arc<str>>,
}

/// The column `now`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Now {
    /// The same bytes as in the call before: `=`.
    #[default]
    Same,
    /// There was no call before it, or it was not in it: `new`.
    New,
    /// Other bytes, with the difference in characters: `+47`, `-3`, `+0`.
    Changed(i64),
    /// It still says the old value of these facts: `! old cwd`.
    Old(Vec<Name>),
    /// It waits to be told: `pending`.
    Pending,
    /// It was there in the call before and is left out now, or was never there: `omitted: reason`.
    Omitted(Arc<str>),
    /// It was cut: `cut`.
    Cut,
    /// It could not be made, with the reason: `failed`.
    Failed(Arc<str>),
}

/// The last row of pane 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotalRow {
    /// `total, call 1`.
    pub label: Arc<str>,
    /// Characters, joins included.
    pub chars: u64,
    /// How many of these characters are joins.
    pub joins: u64,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// Pane 2.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTable {
    /// The calls in order, sub-agents' where they happened.
    pub rows: Vec<CallRow>,
    /// The call whose request is shown; an index into `rows`.
    pub shown: Option<usize>,
    /// True when writing to the cache has a price of its own, so that the column `write` means something.
    pub write_fee: bool,
    /// Captions behind the last call that are still to come.
    pub closing: Vec<Arc<str>>,
    /// A line below the calls: `3-6 are forecast from the script`.
    pub footnote: Option<Arc<str>>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallState {
    /// It was sent.
    #[default]
    Sent,
    /// It is prepared, and the next to be sent.
    Next,
    /// The script still holds it.
    Forecast,
    /// It was sent and failed; nothing was told.
    Failed,
}

/// A row of pane 2, with the rows that hang on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallRow {
    /// Its number.
    pub no: CallNo,
    /// Its turn.
    pub turn: u32,
    /// True for the first call of a turn.
    pub starts_turn: bool,
    /// The sub-agent that makes it, without the main agent's id in front; none for the main agent.
    pub agent: Option<Name>,
    /// How far it is.
    pub state: CallState,
    /// What led to it: `user: Move into the api folder ..`, `Read, Shell`, `turn 2: Run the ..`, `next, not sent yet`.
    pub what: Arc<str>,
    /// The same for narrow screens: `user`, `Cd api`, `turn 2`.
    pub short: Arc<str>,
    /// What came of it: `model called Cd api`, `model said: Fixed.`, `failed: 529 overloaded`.
    pub answer: Option<Arc<str>>,
    /// What it cost; none while that is being counted.
    pub paid: Option<Paid>,
    /// What layers put into messages for this call.
    pub injected: Vec<InjectedRow>,
    /// Captions that stand before this call.
    pub notes: Vec<Arc<str>>,
}

impl CallRow {
    /// True for a call that pays something again.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.paid.as_ref().is_some_and(|paid| matches!(paid.lost, Lost::Tokens(_)))
    }
}

/// What became of the tokens of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paid {
    /// All that were sent; `read + write + fresh`. None where the model's tokens cannot be counted.
    pub sent: Option<u64>,
    /// Read from the cache; none where the model's cache is not known.
    pub read: Option<u64>,
    /// Written to it; none where that has no price of its own.
    pub write: Option<u64>,
    /// Paid in full.
    pub fresh: Option<u64>,
    /// Paid again.
    pub lost: Lost,
    /// True when all of these are estimates: the call's model may be another one than the selected one.
    pub estimate: bool,
}

/// Tokens that are paid again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// The first call of its conversation: there is nothing to lose.
    First,
    /// None: `-`.
    #[default]
    Nothing,
    /// This many.
    Tokens(u64),
    /// It cannot be said: `n/a`, with the reason.
    Unknown(Arc<str>),
}

/// Something that a layer put into a message for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedRow {
    /// The layer, as screens call it.
    pub layer: Name,
    /// Its tokens alone, in those of the call's model.
    pub tokens: Option<u64>,
    /// True when they are an estimate.
    pub estimate: bool,
    /// Its characters.
    pub chars: u64,
    /// Where it went: `message 4`.
    pub into: Arc<str>,
    /// The block of the call's request and the part of that block, as indices; none where it is not shown.
    pub at: Option<(usize, usize)>,
}

/// Pane 3.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestView {
    /// The call.
    pub call: CallNo,
    /// The sub-agent that sends it, without the main agent's id in front; none for the main agent.
    pub agent: Option<Name>,
    /// Its blocks: tools, system, messages.
    pub blocks: Vec<BlockRow>,
    /// Which block to look at first: the one with the first break or the newest injection. An index into `blocks`.
    pub focus: usize,
    /// Its texts in UTF-8 bytes.
    pub bytes: u64,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// The request itself, as it is sent.
    pub sent: Option<Arc<Request>>,
    /// The events that made some of its bytes what they are, all but the opening, in words: `Cd in call 1`.
    pub causes: BTreeMap<EventId, Arc<str>>,
}

/// A block of the shown request.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// `tools`, `system`, `message 4 (tool)`.
    pub title: Arc<str>,
    /// What it is.
    pub kind: BlockKind,
    /// The message that it belongs to; none for tools and system.
    pub message: Option<MessageId>,
    /// The text, with an owner for each byte.
    pub text: Traced,
    /// Who wrote which bytes, in order; they tile the text.
    pub parts: Vec<PartRow>,
    /// What is with it, compared with the call before.
    pub change: BlockChange,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// How many of them were injected; 0 for none.
    pub injected: Option<u64>,
    /// A cache mark behind this block: `mark, 5 min`.
    pub mark: Option<Arc<str>>,
}

/// A block compared with the call before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockChange {
    /// The same bytes.
    #[default]
    Same,
    /// It was not there: `new in this call`.
    New,
    /// It has other bytes, from this byte on: `changed at byte 386`.
    Changed(usize),
}

/// Who wrote a run of bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// `tool result, Cd`, `user`, `model`, `dynamic-context`.
    pub author: Arc<str>,
    /// True for text that a layer put into a message: shown with `+`.
    pub injected: bool,
    /// The layer; none for what no layer wrote.
    pub layer: Option<Name>,
    /// Its bytes, the separator in front of it included.
    pub range: Range<usize>,
    /// True when these bytes differ from the call before in a block that was there.
    pub changed: bool,
    /// The event that made it what it is, for what changed: `Cd in call 1`.
    pub cause: Option<Arc<str>>,
}

/// Pane 4.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why {
    /// What changed, the latest first.
    pub changes: Vec<Change>,
    /// What is staged and waits for its call or its place.
    pub pending: Vec<Pending>,
    /// How else it could be told.
    pub ways: Ways,
    /// Lines for where nothing changed: `Nothing changed since call 1.`
    pub notes: Vec<Arc<str>>,
}

/// A fact that changed and what the model knows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// What it is, as a title: `CWD`, `AGENTS.md`.
    pub what: Arc<str>,
    /// The old value, short.
    pub old: Arc<str>,
    /// The new value, short.
    pub new: Arc<str>,
    /// Who changed it: `Cd, call 1`.
    pub by: Arc<str>,
    /// How the model is told: `dynamic-context, call 2, message 4`. Empty: it is not told.
    pub told: Vec<Arc<str>>,
    /// What still says the old value: `00_base, prompt.md:9:6`.
    pub still_old: Vec<Arc<str>>,
    /// Where each of [`Change::told`] stands.
    pub told_at: Vec<Spot>,
    /// Where each of [`Change::still_old`] stands.
    pub old_at: Vec<Spot>,
    /// What that makes of it.
    pub belief: Belief,
    /// The same in words: `superseded by message 4, not stale`; empty for none.
    pub belief_words: Arc<str>,
}

/// What the model believes of a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belief {
    /// The request says the right value only.
    #[default]
    Right,
    /// An old value stands before the right one.
    Superseded,
    /// The last word on it is wrong.
    Stale,
    /// No word on it at all.
    Untold,
}

/// An announcement that was staged and not yet sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pending {
    /// The layer, as screens call it.
    pub layer: Name,
    /// What it waits for: `goes into message 4 with call 2`, `waits for a tool message`.
    pub waits: Arc<str>,
    /// The text that will be told.
    pub text: Arc<str>,
    /// Where it is staged; none where it has no place yet.
    pub at: Option<Spot>,
}

/// The table `Tell it another way`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// The calls over which it counts.
    pub calls: u32,
    /// The rows; this bench stands where it belongs in the order.
    pub rows: Vec<WayRow>,
    /// Lines below it: `Turn 1 alone: tool message 34.75, rebuild 45.05.`
    pub notes: Vec<Arc<str>>,
}

/// A row of `Tell it another way`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayRow {
    /// The variants that make it, in order; empty for the bench as it is written.
    pub variants: Vec<Name>,
    /// What the row says: `tool message`, `rebuild system at once`.
    pub label: Arc<str>,
    /// True when it builds on the row before it: `and keep tags on persist`.
    pub indent: bool,
    /// True for what the session runs now.
    pub current: bool,
    /// What came of it; none while it is being worked out.
    pub outcome: Option<WayOutcome>,
}

/// What came of a variant over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayOutcome {
    /// Calls in which the last word on a fact is wrong.
    pub stale: u32,
    /// Calls in which an old value stands before the right one.
    pub superseded: u32,
    /// Calls with no word on a fact.
    pub untold: u32,
    /// Tokens paid again; none where the model's cache is not known.
    pub lost: Option<u64>,
    /// US dollars of input for 1,000 runs; none where there are no prices.
    pub per_1000: Option<f64>,
    /// True when tokens and dollars are estimates.
    pub estimate: bool,
    /// Why the variant could not be run; none when it could.
    pub failed: Option<Arc<str>>,
}

/// A line of the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictLine {
    /// `CALL 2`, `AHEAD`.
    pub label: Arc<str>,
    /// The sentence.
    pub text: Arc<str>,
    /// A shorter one for narrow screens; none where the sentence is short.
    pub short: Option<Arc<str>>,
    /// How it is coloured. The words say it, too.
    pub tone: Tone,
    /// Where the bytes are that it is about; none where it is about none.
    pub at: Option<Spot>,
}

/// What a line means for the purse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Nothing is lost.
    Good,
    /// Something is lost, stale or broken.
    Bad,
}

/// The band of captions, which keeps its room while nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// What is said now; empty for nothing.
    pub text: Arc<str>,
    /// The number of the beat, from 1: of the call, or of the beat of a demo.
    pub at: u32,
    /// How many there are.
    pub of: u32,
    /// The cells of the widest caption of the run, in one line: the band is as high as that needs.
    pub cells: usize,
}

/// Programs whose output a bench reads, and that its user has not allowed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The folder of the bench.
    pub place: Arc<str>,
    /// Every program of the bench.
    pub commands: Vec<Program>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// As one would type it: `` `git log -1` ``.
    pub command: Arc<str>,
    /// Its limits: `at most 5 s and 65536 bytes`.
    pub limits: Arc<str>,
}

/// Where a demo stands, and where it looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoAt {
    /// The beat, from 1.
    pub at: u32,
    /// How many there are.
    pub of: u32,
    /// The pane or view that is shown.
    pub shows: Shows,
    /// True when the focused pane has the whole screen.
    pub zoom: bool,
    /// The layer, fact or message whose bytes are shown: `dynamic_context`, `cwd`, `message 4`.
    pub look: Option<Name>,
}

/// The line above the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `watching 11 files`, `polling 3 folders every 2 s`, `not watching: inotify limit`.
    pub watching: Arc<str>,
    /// How many of the shown numbers are estimates.
    pub estimates: u32,
    /// What the engine wants to say once: `prompt.md read again`; empty for nothing.
    pub note: Arc<str>,
    /// True while a background thread counts.
    pub counting: bool,
    /// True while the run plays by itself.
    pub playing: bool,
}

/// What lists and inputs offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The bench's variants, in order.
    pub variants: Vec<VariantChoice>,
    /// The models, the selected one among them.
    pub models: Vec<ModelChoice>,
    /// The runs of the bench, in order.
    pub runs: Vec<RunChoice>,
    /// The folders of the workspace as prompts see them (`/home/shop/api`), sorted, for the completion of a CWD.
    pub folders: Arc<[Arc<str>]>,
}

/// A variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantChoice {
    /// Its name.
    pub name: Name,
    /// True while it is applied.
    pub on: bool,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// `provider:model`.
    pub id: Name,
    /// What stands beside it: `o200k, exact; 128 blocks, min 1,024; $2.50/$0.25`.
    pub about: Arc<str>,
    /// True for the selected one.
    pub on: bool,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChoice {
    /// Its name.
    pub name: Name,
    /// What stands beside it: `6 calls, 2 turns`.
    pub about: Arc<str>,
    /// True for the one that is played.
    pub on: bool,
}

/// A CWD that is typed but not yet entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The value as typed.
    pub typed: Arc<str>,
    /// What it would become: the resolved path.
    pub value: Arc<str>,
    /// What it would do, one sentence: `call 2 carries dynamic-context, 47 tokens, into message 4`.
    pub effect: Arc<str>,
    /// What is wrong with it: `no such folder`; none when it can be entered.
    pub problem: Option<Arc<str>>,
}
