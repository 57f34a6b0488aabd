//! What a bench means: layers, places, variants, runs. Its syntax lives in `io`.
//!
//! A [`Bench`] is complete and checked: names refer to things that exist, ids are unique, every expression and inline
//! template compiles. Variants are applied before it is made, so each variant is a bench of its own.

mod compaction;
mod same;
mod serve;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

pub use compaction::CompactionRule;
pub use serve::{Absent, Preview, ReportIn, Serve};

use crate::core::diagnostic::Position;
use crate::core::fact::{Command, FilePath, Name, Value};
use crate::core::overlay::generated::Sign;
use crate::core::run::ScriptLine;
use crate::core::text::Source;

/// The version of the bench format that this program reads: the value of `bench:`.
pub const FORMAT: i64 = 1;

/// A bench, checked, with one set of variants applied.
#[derive(Clone, Debug)]
pub struct Bench {
    /// `name:`.
    pub name: Name,
    /// What the title line says instead of the name: "no agent chosen" for plain folders.
    pub title: Option<Name>,
    /// `agent:`: every field in the order of the file. `id` and `role` are always there (both `main` by default).
    pub agent: IndexMap<Name, Value>,
    /// `model:`, as `provider:model`.
    pub model: Name,
    /// `request:`: parameters of every request besides its text, by name.
    pub params: IndexMap<Name, Name>,
    /// `workspace:`.
    pub workspace: Workspace,
    /// `facts:`.
    pub facts: IndexMap<Name, Value>,
    /// `read:`.
    pub reads: IndexMap<Name, ReadSpec>,
    /// `tools:`.
    pub tools: Vec<ToolGroup>,
    /// `simulate:`: what a tool does in a scripted or free run.
    pub simulate: IndexMap<Name, ToolEffect>,
    /// `places:`.
    pub places: IndexMap<Name, Place>,
    /// `layers:`, in listing order.
    pub layers: Vec<Layer>,
    /// `marks:`.
    pub marks: Vec<Mark>,
    /// `runs:`; the first is the default.
    pub runs: IndexMap<Name, Arc<[ScriptLine]>>,
    /// `compaction:`: when a conversation is summed up without being asked.
    pub compaction: Option<CompactionRule>,
    /// `serve:`: what a server does with messages and previews.
    pub serve: Serve,
    /// `allow:`: lints that are not to be told, by their words, with the reasons.
    pub allow: BTreeMap<Name, Name>,
    /// True for the built-in bench of a plain folder: opening it counts as the first call sent.
    pub sent_on_open: bool,
    /// The bench file.
    pub source: Arc<Source>,
}

impl Bench {
    /// The layer with this id.
    #[must_use]
    pub fn layer(&self, id: &str) -> Option<&Layer> {
        self.layers.iter().find(|layer| &*layer.id == id)
    }

    /// The most bytes that are to be read of files on disk; a file of which one read wants all is not among them.
    #[must_use]
    pub fn byte_limits(&self) -> BTreeMap<FilePath, usize> {
        let mut limits: BTreeMap<FilePath, Option<usize>> = BTreeMap::new();
        for read in self.reads.values() {
            if let ReadKind::File { path, max_bytes, .. } = &read.kind {
                let limit = limits.entry(path.clone()).or_insert(*max_bytes);
                *limit = limit.zip(*max_bytes).map(|(one, other)| one.max(other));
            }
        }
        limits.into_iter().filter_map(|(path, limit)| Some((path, limit?))).collect()
    }

    /// The programs whose output it reads, in order.
    #[must_use]
    pub fn commands(&self) -> Vec<Command> {
        let command = |read: &ReadSpec| match &read.kind {
            ReadKind::Command { command } => Some(command.clone()),
            _ => None,
        };
        self.reads.values().filter_map(command).collect()
    }

    /// The fields of clients' messages whose reports end with the turn.
    pub fn reports_of_a_turn(&self) -> impl Iterator<Item = &Name> {
        self.reads.values().filter_map(|read| match &read.kind {
            ReadKind::Reported { field, of_turn: true, .. } => Some(field),
            _ => None,
        })
    }

    /// The names of the facts that some layer announces when they change, and `cwd`: those for which stale,
    /// superseded and untold are counted.
    #[must_use]
    pub fn told_facts(&self) -> Vec<Name> {
        let mut names: Vec<Name> = vec!["cwd".into()];
        for layer in &self.layers {
            if let Refresh::Change { watch, .. } = &layer.refresh {
                for name in watch {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
            }
        }
        names
    }
}

/// Where the agent works, and as what it shows in prompts.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// The folder, relative to the bench file.
    pub path: Name,
    /// The path that prompts see instead of the real one, without a final `/`.
    pub shown_as: Option<Name>,
    /// The home folder, relative to the bench file; the user's own by default.
    pub home: Option<Name>,
    /// The time at the start of each run, as RFC 9557 text; the machine's clock by default.
    pub clock: Option<Name>,
}

/// A template expression, checked when the bench was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The expression, in minijinja's language, without braces.
    pub text: Name,
    /// Where it stands in the bench.
    pub at: Position,
}

/// A template: a file beside the bench, or a scalar of the bench.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// Read through the fact of this file.
    File(FilePath, Position),
    /// In the bench itself.
    Inline(Arc<Source>),
}

/// Where a layer's text comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerSource {
    /// `text:` or `template:`.
    Template(Template),
    /// `table:`: rows chosen by a key.
    Table {
        /// The rows: a file of the form `key: text`, or a list of `{ match: .., text: .. | template: .. }`.
        rows: FilePath,
        /// What is looked for.
        on: Expression,
        /// How a row's key is compared.
        matching: Matching,
        /// Between rows where several match.
        join: Name,
    },
    /// `each:`: one piece of text for each item of a list.
    Each {
        /// The list: a fact or a read.
        over: Name,
        /// The template of an item, which sees it as `item`, and `loop_index` from 1.
        item: Template,
        /// The template around all items, which sees them as `items`; without it they are joined.
        frame: Option<Template>,
        /// Only items for which this holds.
        filter: Option<Expression>,
        /// Between items.
        join: Name,
    },
    /// `lines:`: the lines of a text, so that a cap can count them.
    Lines {
        /// The text.
        of: Expression,
        /// The template around it, which sees it as `lines`.
        frame: Option<Template>,
    },
    /// `fact:`: a fact's text as it is.
    Fact {
        /// The fact.
        name: Name,
        /// `drop_refs:`: a list of skills; what refers to one of them is left out.
        drop_refs: Option<Name>,
    },
    /// `place:`: a block inside another place.
    Place(Name),
    /// `said:`: what the user typed.
    Said,
}

/// As what a layer's text stands in its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Text, behind what stands before it.
    #[default]
    Text,
    /// A block of its own.
    Block,
    /// Images: each line of it is an address or a `data:` URL, with the size in pixels behind a space where it is known
    /// (`https://shop.example/a.png 1024x768`). Each is a block of its own; blank lines are none.
    Images,
}

/// How a table's key is compared with what is looked for. All compare without regard to ASCII case, except `exact`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// Equal.
    Exact,
    /// The key starts a token of the text, at its start or behind what is not a letter or digit, and no letter follows.
    TokenStart,
    /// The key stands anywhere in the text.
    Substring,
    /// Every row whose key is in the list that is looked for, in the table's order.
    All,
}

/// When a layer is evaluated again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Once a session.
    Session,
    /// Once a turn; the default.
    Turn,
    /// Before every call.
    Call,
    /// Never again on its own: it is told when a watched fact differs from its baseline.
    Change {
        /// The facts.
        watch: Vec<Name>,
        /// What the first value is compared with.
        since: Since,
    },
}

/// The baseline of a layer that announces changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The value with which the layers of this turn were built, so a change by the first tool is told. The default.
    Built,
    /// The value at the first time the place could have been used in this turn: a change before it is swallowed.
    First,
    /// As `first`, and an empty baseline counts as none, as some programs do: a change from empty is swallowed.
    EmptyIsUnset,
}

impl Refresh {
    /// The word of the column `change`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Refresh::Session => "session",
            Refresh::Turn => "turn",
            Refresh::Call => "call",
            Refresh::Change { .. } => "change",
        }
    }
}

/// Whether injected text stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// It stays where it was put.
    #[default]
    Keep,
    /// It is taken out again.
    Strip,
}

/// What becomes of the text that a layer put into messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Of its earlier text, when it writes again.
    pub earlier: Keeping,
    /// When the turn is persisted.
    pub persist: Keeping,
    /// What stands in its place once it was taken out so; nothing by default.
    pub instead: Option<Name>,
    /// `untold:`: of what a layer announces and could not, since there was no place for it or the call failed. Where it is
    /// taken out, it counts as told and nobody hears of it, as some programs have it.
    pub untold: Keeping,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapUnit {
    /// Characters (Unicode scalar values).
    Chars,
    /// UTF-8 bytes.
    Bytes,
    /// Lines.
    Lines,
    /// Items of an `each` source.
    Items,
}

/// Where a cut may fall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Between characters.
    #[default]
    Char,
    /// At the byte, broken characters replaced by U+FFFD, as some programs do.
    RawLossy,
    /// After a line end.
    Line,
}

/// A limit on a layer's text, for the one cut function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    /// What is counted.
    pub unit: CapUnit,
    /// How many may stand.
    pub limit: usize,
    /// Where the cut may fall.
    pub boundary: Boundary,
    /// What is written where text was cut.
    pub mark: Name,
    /// True when the mark has to fit inside the limit, too.
    pub mark_inside: bool,
    /// With `of: items`: whole items until the limit would be passed, instead of a cut through one.
    pub whole_items: bool,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetUnit {
    /// Characters (Unicode scalar values).
    Chars,
    /// Tokens of the model.
    Tokens,
}

/// What an author allows a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What is counted.
    pub unit: BudgetUnit,
    /// How many there may be.
    pub limit: usize,
}

/// What to do when a layer fails.
#[derive(Clone, Debug, PartialEq)]
pub enum OnError {
    /// Leave it out, with a diagnostic. The default.
    Skip,
    /// Use this template instead, with a diagnostic.
    Use(Template),
    /// Build no request.
    Stop,
}

/// One named piece of prompt text. A layer whose place lies in the messages is an injector.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// `id:`, unique.
    pub id: Name,
    /// `title:`.
    pub title: Option<Name>,
    /// Where `id` stands in the bench.
    pub at: Position,
    /// `from:`.
    pub from: LayerSource,
    /// `when:`: left out where it does not hold.
    pub when: Option<Expression>,
    /// `in:`, the place.
    pub place: Name,
    /// `run:`: the priority; layers run by ascending priority, equal ones in listing order.
    pub run: i64,
    /// `key:`: decides the byte order in a place with `order: key`.
    pub key: Option<Name>,
    /// `refresh:`.
    pub refresh: Refresh,
    /// `keep:`.
    pub keep: Keep,
    /// `as:`.
    pub form: Form,
    /// `cap:`.
    pub cap: Option<Cap>,
    /// `budget:`: what its author allows it; a lint, not a cut.
    pub budget: Option<Budget>,
    /// `required:`: never evicted from a place with a budget.
    pub required: bool,
    /// `on_error:`.
    pub on_error: OnError,
    /// `allow:`: lints that are not to be told of it, by their words, with the reasons.
    pub allow: BTreeMap<Name, Name>,
}

impl Layer {
    /// The name that screens and blame use: the title, else the key, else the id.
    #[must_use]
    pub fn shown(&self) -> &Name {
        self.title.as_ref().or(self.key.as_ref()).unwrap_or(&self.id)
    }
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// The system prompt.
    System,
    /// The message of the user that begins the turn.
    CurrentUser,
    /// The newest tool message of this call.
    NewestTool,
    /// A message of its own.
    Message {
        /// At the end of the conversation, or just before the current user message.
        at: MessageAt,
    },
    /// A block inside another place; used by a layer with `from: { place: .. }`.
    Block,
}

/// Where a message of its own stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAt {
    /// Behind everything.
    End,
    /// Just before the user message that began the turn.
    BeforeCurrent,
}

/// Who says a message that a bench puts into the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The user.
    #[default]
    User,
    /// The developer: the agent's program.
    Developer,
    /// The system.
    System,
}

impl Role {
    /// The word of the bench and of the APIs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Developer => "developer",
            Role::System => "system",
        }
    }
}

/// Where layers go.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name.
    pub id: Name,
    /// Where it is named in the bench.
    pub at: Position,
    /// `of:`.
    pub kind: PlaceKind,
    /// `order: key`: by key instead of as listed.
    pub by_key: bool,
    /// `join:`: between layers.
    pub join: Name,
    /// `join: blocks`: every layer is a block of its own; then `join` is empty.
    pub blocks: bool,
    /// `role:`: who says a message of its own.
    pub role: Role,
    /// `keep_empty:`: an empty system message is sent, too.
    pub keep_empty: bool,
    /// `blank: drop`: a layer of white space alone is left out.
    pub drop_blank: bool,
    /// `wrap:`: in front of and behind what stands in the place.
    pub wrap: Option<(Name, Name)>,
    /// `markers:` of a block.
    pub markers: Option<Markers>,
    /// `budget:` of any other place: what its author allows it; a lint, not a cut.
    pub allowed: Option<Budget>,
    /// `budget:` of a block: the most characters that it may have, with its markers and what is wrapped around it.
    pub budget: Option<usize>,
    /// `path:` of a system prompt: the file of the workspace that holds what stands in the place.
    pub path: Option<FilePath>,
    /// `lock:` of a system prompt: the file of the workspace that is there while somebody writes that file.
    pub lock: Option<FilePath>,
}

/// The lines between which a block stands, so that it can be found again in a file.
///
/// Neither holds a line break or a backslash, is shorter than two characters or part of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markers {
    /// What the pair is called.
    pub name: Name,
    /// The first line.
    pub start: Name,
    /// The last line.
    pub end: Name,
}

/// `tools:`: some tools, present while a condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolGroup {
    /// Only while this holds.
    pub when: Option<Expression>,
    /// Their names, in order.
    pub names: Vec<Name>,
    /// A JSON file: a list of tool definitions, or a map from name to definition.
    pub schemas: Option<FilePath>,
}

/// `read:`: a fact that is derived from files.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSpec {
    /// Where it stands in the bench.
    pub at: Position,
    /// What is read.
    pub kind: ReadKind,
}

/// What a read leaves out of a file, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leave {
    /// `markers:` and `managed:`: blocks between these lines.
    pub blocks: Vec<Markers>,
    /// `not_if:` and `not_if_behind:`: everything, where this text stands alone on a line of what is left; and the block
    /// behind which it is put into a file.
    pub not_if: Option<Sign>,
    /// `trim:`: white space at both ends.
    pub trim: bool,
}

/// How a code map is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapStyle {
    /// `only:`: files with these extensions; empty for all.
    pub only: Vec<Name>,
    /// `skip:`: folders that are left out.
    pub skip: Vec<Name>,
    /// `first:`: folders that come first, in this order.
    pub first: Vec<Name>,
    /// `split:`: folders whose own folders have a line each.
    pub split: Vec<Name>,
    /// `names: stem`: the name without folders and extension, by name, and without `index` where there are others;
    /// else the path, those nearest to the top first.
    pub stems: bool,
    /// `root:`: what the files of the folder itself stand under.
    pub root: Name,
    /// `more:`: how many files and folders were left out is said.
    pub more: bool,
}

impl Default for MapStyle {
    fn default() -> MapStyle {
        let none = Vec::new;
        let root = "(here)".into();
        MapStyle { only: none(), skip: none(), first: none(), split: none(), stems: false, root, more: true }
    }
}

/// The kinds of derived facts.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadKind {
    /// `file:`: a text; empty text where there is no such file.
    File {
        /// The file.
        path: FilePath,
        /// The most characters that are read.
        max_chars: Option<usize>,
        /// The most bytes that are read of the file on disk, before it is decoded.
        max_bytes: Option<usize>,
        /// A pattern for other names that somebody may take for it: a file that matches is reported as not loaded.
        near: Option<FilePath>,
        /// Without the front matter.
        body: bool,
        /// What else is left out of it.
        leave: Leave,
    },
    /// `section:`: what stands under a heading of a text file; empty text where there is no such heading.
    Section {
        /// The file.
        path: FilePath,
        /// The heading, with its `#`.
        heading: Name,
        /// True where the heading may stand anywhere, also in the middle of a line; the section then starts right behind
        /// it and ends in front of the next line that starts with as many `#` and a space, as programs have it that look
        /// for a text and know no lines.
        anywhere: bool,
    },
    /// `glob:`: the files that match, each `{ path, name, text }`.
    Glob {
        /// The pattern.
        pattern: FilePath,
        /// At most this many, in path order.
        top: Option<usize>,
        /// True where each also has `data`: JSON or YAML, parsed.
        data: bool,
    },
    /// `skills:`: a folder of skills, each `{ name, description, path, text, .. }` from the front matter of its `SKILL.md`.
    Skills {
        /// The folder.
        folder: FilePath,
    },
    /// `docs:`: a folder of documents, each `{ path, name, chunks, error }`.
    Docs {
        /// The folder.
        folder: FilePath,
        /// The most characters of a chunk.
        chunk_chars: usize,
    },
    /// `git_files:`: the code map of the files that git tracks.
    GitFiles {
        /// The folder.
        folder: FilePath,
        /// At most this many folders.
        groups: usize,
        /// At most this many files of each.
        per_group: usize,
        /// Which files, in which order and how they are named.
        style: MapStyle,
        /// The cap on the whole text.
        cap: Option<Cap>,
        /// A file in which another program keeps the map: served while git's index is the one that it was made from,
        /// see [`crate::core::read::map_cache`].
        cache: Option<FilePath>,
    },
    /// `json:`: a JSON or YAML file, parsed; null where there is no such file.
    Json {
        /// The file.
        path: FilePath,
    },
    /// `command:`: what a program prints.
    Command {
        /// The program.
        command: Command,
    },
    /// `environment:`: a property of the machine.
    Environment {
        /// Which, see [`crate::core::fact::FactKey::Environment`].
        name: Name,
    },
    /// `reported:`: a text that a client reports; empty text where there is no report. It holds until the session ends.
    Reported {
        /// The field of the client's messages.
        field: Name,
        /// The most characters that are used.
        max_chars: Option<usize>,
        /// `until: turn_end`: it holds until the turn ends, and no longer.
        of_turn: bool,
    },
}

/// What a tool does when it is called in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolEffect {
    /// `set: cwd, from: path`: a fact takes the value of an argument. For `cwd` it is resolved as a path.
    Set {
        /// The fact.
        fact: Name,
        /// The argument.
        from: Name,
    },
    /// `file: path`: the result is the text of the file that the argument names.
    File {
        /// The argument.
        path: Name,
    },
    /// `write: path`: the file that the argument names is written with the argument `text`, for this run only.
    Write {
        /// The argument.
        path: Name,
    },
    /// `search: kb`: the result is what a search of documents finds.
    Search(Search),
}

/// A search of the documents of a `docs:` read.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The read.
    pub over: Name,
    /// `query:`: the argument with the question.
    pub query: Name,
    /// `top:`: at most so many chunks.
    pub top: usize,
    /// `item_chars:`: at most so many characters of each.
    pub item_chars: usize,
    /// `total_chars:`: at most so many of all; the first chunk that does not fit ends the list.
    pub total_chars: usize,
    /// `result:`: what the tool returns; it sees `found` with `query`, `hits` and counts.
    pub result: Template,
    /// `log:`: what the tool's program writes into its log.
    pub log: Vec<Template>,
    /// `private:`: while this holds, a second model stands between.
    pub private: Option<Private>,
}

/// A search whose texts the model that asked must not see.
#[derive(Clone, Debug, PartialEq)]
pub struct Private {
    /// `when:`.
    pub when: Expression,
    /// What the second model goes by.
    pub rules: Mediation,
    /// `result:`: what the tool returns; it sees `found` with `query`, `verdict` and counts, and no text of a document.
    pub result: Template,
    /// `log:`: what the tool's program writes into its log; it sees the same.
    pub log: Vec<Template>,
}

/// What a second model goes by that may sum up and must not quote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mediation {
    /// `refuse:`: a question with one of these words asks for the text itself.
    pub refuse: Vec<Name>,
    /// `unavailable:`: there is no such model.
    pub unavailable: bool,
}

/// Where a cache mark stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where.
    pub at: MarkPlace,
    /// The life that it asks for, in seconds; 300 by default.
    pub ttl: u32,
}

/// The positions that a mark can name.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkPlace {
    /// Behind the last tool definition.
    Tools,
    /// Behind the last block of the messages before the current user message.
    LastHistory,
    /// Behind the last block of the request.
    LastMessage,
    /// Behind what stands in this place.
    Place(Name),
}
