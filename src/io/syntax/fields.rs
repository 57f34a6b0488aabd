//! The bench format: every key, what it may hold and what it means.

use crate::core::wire::PARAMS;

use super::shape::{Field, Record, Shape, Word, field, word};

const MAX: i64 = i64::MAX;
const PATH: Shape = Shape::Path;
const TEXT: Shape = Shape::Text;
const NAME: Shape = Shape::Text;

const fn record(what: &'static str, doc: &'static str, fields: &'static [Field]) -> Record {
    Record { what, doc, fields, choice: None, kinds: &[] }
}

/// The whole file.
pub(super) static BENCH: Record = record(
    "a bench",
    "What an agent's prompt is made of, and runs that show what happens to it.",
    &[
        field("bench", Shape::Int(1, MAX), "the version of this format: 1").required(),
        field("name", TEXT, "the name of the bench").required(),
        field("title", TEXT, "what the title line says instead of the name"),
        field("agent", Shape::Names(&Shape::Any), "the agent: `id`, `role`, `session` and any other fields"),
        field("model", TEXT, "the model, as `provider:model`").required(),
        field("request", Shape::Record(&REQUEST), "parameters of every request besides its text"),
        field("workspace", Shape::Record(&WORKSPACE), "the folder that the agent works in"),
        field("facts", Shape::Names(&Shape::Any), "facts with their values; runs and variants change them"),
        field("read", Shape::Names(&Shape::Record(&READ)), "facts that are derived from files"),
        field("tools", Shape::List(&Shape::Record(&TOOLS)), "groups of tools"),
        field("simulate", Shape::Names(&Shape::Record(&SIMULATE)), "what a tool does when a run calls it"),
        field(
            "serve",
            Shape::Record(&SERVE),
            "what a server does with the messages and previews of its clients",
        ),
        field("places", Shape::Names(&Shape::Record(&PLACE)), "where layers go").required(),
        field("layers", Shape::List(&Shape::Record(&LAYER)), "the pieces of the prompt").required(),
        field("marks", Shape::List(&Shape::Record(&MARK)), "where cache marks stand"),
        field("variants", Shape::Names(&Shape::Names(&Shape::Any)), "named changes: dotted path to value"),
        field("runs", Shape::Names(&RUN), "scripted runs; the first is the default"),
        field("compaction", Shape::Record(&COMPACTION), "when a conversation is summed up by itself"),
        field("allow", Shape::Record(&ALLOW), "lints that are not to be told, each with the reason"),
        field("sent_on_open", Shape::Bool, "opening the bench counts as the first call sent"),
        field(
            "settings",
            Shape::Record(&crate::io::settings::file::OF_BENCH),
            "how the bench is shown; flags and the environment win over it",
        ),
    ],
);

/// A parameter's value; `default` lets the provider's default hold.
const PARAM: Shape = TEXT;
const SWITCH: Shape =
    Shape::Either(&[Shape::Bool, Shape::Words(&[word("default", "the provider's default")])]);

static REQUEST: Record = record(
    "a `request`",
    "Parameters of a request that stand outside of its text, and on which a cache can depend.",
    &PARAM_FIELDS,
);

/// A field for each parameter that the core knows.
static PARAM_FIELDS: [Field; PARAMS.len()] = {
    let mut fields = [field("", PARAM, ""); PARAMS.len()];
    let mut at = 0;
    while at < PARAMS.len() {
        let (name, doc) = PARAMS[at];
        let switch =
            matches!(name.as_bytes(), b"parallel_tool_calls" | b"web_search" | b"citations" | b"batch");
        fields[at] = field(name, if switch { SWITCH } else { PARAM }, doc);
        at += 1;
    }
    fields
};

static WORKSPACE: Record = record(
    "a workspace",
    "The folder that the agent works in, and as what it is shown.",
    &[
        field("path", PATH, "the folder, from the bench file"),
        field("home", PATH, "the home folder, from the bench file"),
        field("shown_as", TEXT, "the path that prompts see instead of the real one"),
        field(
            "clock",
            TEXT,
            "the time at which every run starts: `2026-04-01T09:00:00+08:00[Asia/Shanghai]`",
        ),
    ],
);

/// A derived fact.
pub(super) static READ: Record = Record {
    what: "a read",
    doc: "A fact that is derived from files. Exactly one key names its kind.",
    choice: Some("kind"),
    kinds: &[
        "file",
        "glob",
        "skills",
        "git_files",
        "json",
        "environment",
        "docs",
        "section",
        "search",
        "reported",
        "command",
    ],
    fields: &[
        field("file", PATH, "a text file of the workspace; `~/` starts in the home folder"),
        field("glob", PATH, "the files that match: a list of `path`, `name`, `text`"),
        field("skills", PATH, "a folder of skills: a list of `name`, `description`, `path`, `text` and more"),
        field("git_files", PATH, "a code map of the files that git tracks below a folder"),
        field("json", PATH, "a JSON or YAML file, parsed"),
        field("section", PATH, "what stands under the heading `heading` of a Markdown file"),
        field("environment", Shape::Words(ENVIRONMENT), "a property of the machine"),
        field(
            "docs",
            PATH,
            "a folder of knowledge: a list of documents with `path`, `name`, `chunks`; see the filter `search`",
        ),
        field("chunk_chars", Shape::Int(1, MAX), "at most so many characters a chunk; 1,200 by default")
            .with(&["docs"]),
        field("search", PATH, "a search").planned(),
        field("reported", NAME, "a text that a client reports in this field of its messages"),
        field(
            "command",
            Shape::List(&Shape::Either(&[Shape::Int(i64::MIN, MAX), TEXT])),
            "what a program prints: `[prog, arg, ..]`, run without a shell once its user has allowed it",
        ),
        field("timeout", Shape::Duration, "for how long it may run, at most `60s`; `5s` by default")
            .with(&["command"]),
        field("max_chars", Shape::Int(0, MAX), "at most so many characters are read")
            .with(&["file", "reported"]),
        field(
            "max_bytes",
            Shape::Int(1, MAX),
            "at most so many bytes are read, before anything else is done; of a program 65,536 by default, at most 1,048,576",
        )
        .with(&["file", "command"]),
        field(
            "front_matter",
            Shape::Words(&[
                word("keep", "the whole file; the default"),
                word("drop", "only what stands behind the front matter"),
            ]),
            "what becomes of lines between `---` at its start",
        )
        .with(&["file"]),
        field("top", Shape::Int(0, MAX), "at most so many files, in path order").with(&["glob"]),
        field("data", Shape::Bool, "each file also has `data`: JSON or YAML, parsed").with(&["glob"]),
        field("groups", Shape::Int(0, 1000), "at most so many folders; 14 by default").with(&["git_files"]),
        field("per_group", Shape::Int(0, 1000), "at most so many files of each; 10 by default")
            .with(&["git_files"]),
        field("only", Shape::List(&NAME), "only files with these extensions, without the dot").with(&["git_files"]),
        field("skip", Shape::List(&NAME), "folders at the top that are left out").with(&["git_files"]),
        field("first", Shape::List(&NAME), "folders at the top that come first, in this order")
            .with(&["git_files"]),
        field("split", Shape::List(&NAME), "folders at the top whose own folders have a line each")
            .with(&["git_files"]),
        field(
            "names",
            Shape::Words(&[
                word("path", "the path below the folder; the default"),
                word("stem", "the name alone, without its extension; `index` only where nothing else is there"),
            ]),
            "how files are named",
        )
        .with(&["git_files"]),
        field("root", TEXT, "what the files of the folder itself stand under; `(here)` by default")
            .with(&["git_files"]),
        field("more", Shape::Bool, "`false`: what is left out is not counted").with(&["git_files"]),
        field("cap", Shape::Record(&CAP), "a limit on the text").with(&["git_files"]),
        field("cache", PATH, "a JSON file that keeps the map: it is served while git's index is the one it was made from")
            .with(&["git_files"]),
        field("fresh", Shape::Any, "for how long a value is kept").planned(),
        field("near", Shape::List(&NAME), "names beside it that are reported as not loaded where they exist")
            .with(&["file"]),
        field("markers", TEXT, "the name of a pair under `markers` of a place: its blocks are left out")
            .with(&["file"]),
        field(
            "managed",
            Shape::Either(&[TEXT, Shape::Pair(&TEXT)]),
            "blocks to leave out, by the lines around them; one word stands for `<!-- WORD:START -->` and `<!-- WORD:END -->`",
        )
        .with(&["file"]),
        field("not_if", TEXT, "the file counts as empty where this stands alone on a line outside of those blocks")
            .with(&["file"]),
        field(
            "not_if_behind",
            Shape::Either(&[TEXT, Shape::Pair(&TEXT)]),
            "the block behind which `overlay mark` puts the line of `not_if`, as `managed`; by default the title",
        )
        .with(&["file"]),
        field("trim", Shape::Bool, "without white space at both ends").with(&["file"]),
        field("heading", TEXT, "the heading, with its `#`").with(&["section"]),
        field(
            "match",
            Shape::Words(&[
                word("line", "a line that is this heading; the default"),
                word("substring", "the text of the heading, wherever it stands"),
            ]),
            "how the heading is found",
        )
        .with(&["section"]),
        field(
            "until",
            Shape::Words(&[
                word("session_end", "until the session ends; the default"),
                word("turn_end", "until the turn ends, which the next message may not expect"),
            ]),
            "for how long a report holds",
        )
        .with(&["reported"]),
    ],
};

static ENVIRONMENT: &[Word] = &[
    word("now", "the time, as RFC 9557 text"),
    word("os", "the operating system"),
    word("shell", "the name of the shell"),
    word("user", "the name of the user"),
    word("git_branch", "the branch that is checked out in the workspace"),
    word("workspace", "the path of the workspace"),
    word("home", "the path of the home folder"),
];

static SERVE: Record = record(
    "a `serve`",
    "What a server does with the messages and previews of its clients.",
    &[
        field(
            "report",
            Shape::List(&Shape::Record(&REPORT_IN)),
            "which fields of which messages carry reports",
        ),
        field(
            "absent",
            Shape::Words(&[
                word("clear", "the same as null: the report before it holds no longer; the default"),
                word("keep", "nothing: the report before it holds"),
            ]),
            "what a message says that lacks the field of its report",
        ),
        field("preview", Shape::Record(&PREVIEW), "prompts that are built from a client's fields"),
    ],
);

static REPORT_IN: Record = record(
    "a field with a report",
    "A field of a kind of message that carries a report.",
    &[
        field(
            "on",
            Shape::Words(&[
                word("send_message", "the user says something"),
                word("edit_and_resend", "the user says otherwise what was said last"),
                word("report", "nothing but a report"),
            ]),
            "the type of the message",
        )
        .required(),
        field(
            "field",
            NAME,
            "where the report stands in it, as `data.rules`; the last name is that of a `reported:` read",
        )
        .required(),
    ],
);

static PREVIEW: Record = record(
    "a `preview`",
    "Prompts that are built from a client's fields, without a session.",
    &[
        field(
            "paths",
            Shape::List(&TEXT),
            "where it is served; a segment in braces stands for any one segment",
        )
        .required(),
        field(
            "facts",
            Shape::Names(&Shape::Expression),
            "values that facts of the bench take; they see `body`",
        ),
        field("model", Shape::Expression, "the model; it sees `body`; the bench's by default"),
    ],
);

static TOOLS: Record = record(
    "a tool group",
    "Some tools, present while a condition holds.",
    &[
        field("names", Shape::List(&NAME), "their names, in order").required(),
        field("schemas", PATH, "a JSON file of definitions: a list, or a map from name to definition"),
        field("when", Shape::Expression, "only while this holds"),
    ],
);

/// What a tool does in a run.
pub(super) static SIMULATE: Record = Record {
    what: "a simulation",
    doc: "What a tool does when a run calls it. Exactly one key names what.",
    choice: Some("effect"),
    kinds: &["set", "file", "write", "search"],
    fields: &[
        field("set", NAME, "a fact takes the value of the argument `from`"),
        field("from", NAME, "the argument").with(&["set"]),
        field("file", NAME, "the result is the text of the file that this argument names"),
        field("write", NAME, "the file that this argument names is written with the argument `text`"),
        field("search", NAME, "the result is what a search of a `docs:` read finds"),
        field("query", NAME, "the argument with the question").with(&["search"]),
        field("top", Shape::Int(0, MAX), "at most so many chunks; 24 by default").with(&["search"]),
        field("item_chars", Shape::Int(1, MAX), "at most so many characters of each; 1,200 by default")
            .with(&["search"]),
        field("total_chars", Shape::Int(1, MAX), "at most so many of all; 16,000 by default")
            .with(&["search"]),
        field("result", PATH, "a template of what the tool returns; it sees `found`").with(&["search"]),
        field("log", Shape::List(&TEXT), "templates of what the tool's program logs; they see `found`")
            .with(&["search"]),
        field("private", Shape::Record(&PRIVATE), "when a second model stands between").with(&["search"]),
    ],
};

/// A place.
pub(super) static PLACE: Record = record(
    "a place",
    "Where layers go.",
    &[
        field(
            "of",
            Shape::Words(&[
                word("system", "the system prompt"),
                word("current_user", "the user message that begins the turn"),
                word("newest_tool", "the newest tool message of this call"),
                word("message", "a message of its own"),
                word("block", "a block inside another place"),
            ]),
            "what the place is",
        )
        .required(),
        field(
            "order",
            Shape::Words(&[word("listed", "as listed"), word("key", "by key")]),
            "the order in it",
        ),
        field("join", TEXT, "what stands between layers; `blocks`: every layer is a block of its own"),
        field("keep_empty", Shape::Bool, "an empty system message is sent, too"),
        field("wrap", Shape::Pair(&TEXT), "what stands in front of and behind the place"),
        field(
            "role",
            Shape::Words(&[
                word("user", "a user message"),
                word("developer", "a message of the developer, for APIs that know one"),
                word("system", "a system message in the conversation, for APIs that know one"),
            ]),
            "who says a message of its own",
        ),
        field(
            "at",
            Shape::Words(&[
                word("end", "behind everything"),
                word("before_current", "just before the user message that began the turn"),
            ]),
            "where a message of its own stands",
        ),
        field(
            "none",
            Shape::Words(&[word("wait", "what is to be told waits for the next such message")]),
            "what happens when there is no such message",
        ),
        field(
            "blank",
            Shape::Words(&[
                word("keep", "white space alone is a text like any other; the default"),
                word("drop", "a layer of white space alone is left out"),
            ]),
            "what becomes of layers that are nothing but white space",
        ),
        field(
            "path",
            PATH,
            "the file of the workspace that holds what stands in the place; a run writes it where it works in a copy",
        ),
        field("lock", PATH, "the lock of whoever writes that file, below the workspace"),
        field(
            "markers",
            Shape::Names(&Shape::Pair(&TEXT)),
            "a name with the lines that stand in front of and behind a block",
        ),
        field("budget", Shape::Record(&PLACE_BUDGET), "the most that a block may hold; elsewhere a lint"),
    ],
);

static PLACE_BUDGET: Record = Record {
    what: "a budget of a place",
    doc: "The most that a block may hold, with its markers and what is wrapped around it; in other places a lint, not a \
          limit.",
    choice: Some("unit"),
    kinds: &["chars", "tokens"],
    fields: &[
        field("chars", Shape::Int(0, MAX), "characters"),
        field("tokens", Shape::Int(0, MAX), "tokens of the model; not for a block"),
        field(
            "over",
            Shape::Words(&[word(
                "required_then_listed",
                "layers that are required first, then the others until one does not fit; the default",
            )]),
            "which layers of a block are left out over the limit",
        )
        .with(&["chars"]),
    ],
};

static LAYER_BUDGET: Record = Record {
    what: "a budget of a layer",
    doc: "What its author allows a layer; a lint, not a cut.",
    choice: Some("unit"),
    kinds: &["chars", "tokens"],
    fields: &[
        field("chars", Shape::Int(0, MAX), "characters"),
        field("tokens", Shape::Int(0, MAX), "tokens of the model, of its text alone"),
    ],
};

/// A layer.
pub(super) static LAYER: Record = record(
    "a layer",
    "One named piece of prompt text. A layer whose place lies in the messages is an injector.",
    &[
        field("id", Shape::Id, "its id, unique in the bench").required(),
        field("title", TEXT, "its name on screens"),
        field("in", NAME, "the place that it goes to").required(),
        field("from", Shape::Record(&FROM), "where its text comes from").required(),
        field("when", Shape::Expression, "left out where this does not hold"),
        field("run", Shape::Int(i64::MIN, MAX), "its priority: lower runs first"),
        field("key", TEXT, "decides the order in a place with `order: key`"),
        field(
            "refresh",
            Shape::Either(&[Shape::Words(REFRESH), Shape::Record(&CHANGE)]),
            "when it is made again",
        ),
        field("keep", Shape::Record(&KEEP), "whether text that it put into messages stays"),
        field("as", Shape::Words(FORM), "as what it stands in its message"),
        field("cap", Shape::Record(&CAP), "a limit on its text"),
        field(
            "budget",
            Shape::Either(&[Shape::Int(0, MAX), Shape::Record(&LAYER_BUDGET)]),
            "what its author allows it, in characters, or in the unit that is named; a lint, not a cut",
        ),
        field("required", Shape::Bool, "never left out of a place with a budget"),
        field(
            "on_error",
            Shape::Either(&[Shape::Words(ON_ERROR), Shape::Record(&USE)]),
            "what to do when it fails",
        ),
        field("allow", Shape::Record(&ALLOW), "lints that are not to be told of it, each with the reason"),
    ],
);

/// One key for each lint: a house rule says so.
pub(super) static ALLOW: Record = record(
    "an `allow`",
    "Lints that are not to be told, each with the reason why what they find is all right.",
    &[
        field("budget", TEXT, "more than the budget"),
        field("duplicate", TEXT, "a paragraph that another layer says, too"),
        field("contradiction", TEXT, "another working directory or day than another layer names"),
        field("volatile_first", TEXT, "what changes in front of what does not"),
        field("dead_mark", TEXT, "a cache mark behind text that is taken out again"),
        field("below_minimum", TEXT, "too short to be stored"),
        field("too_many_marks", TEXT, "more cache marks than the provider takes"),
        field("split_tool_call", TEXT, "a tool call without its result behind it"),
        field("injected_turn", TEXT, "a user message of injected text alone"),
        field("equal_priority", TEXT, "the order of the list decides"),
        field("key_order", TEXT, "another order than that of the priorities"),
        field("unclosed", TEXT, "a fence or comment that stays open"),
    ],
);

static REFRESH: &[Word] = &[
    word("session", "once a session"),
    word("turn", "once a turn; the default"),
    word("call", "before every call"),
];

static CHANGE: Record = record(
    "a `refresh` on change",
    "Told when a watched fact differs from its baseline.",
    &[
        field("change", Shape::List(&NAME), "the facts that are watched").required(),
        field(
            "since",
            Shape::Words(&[
                word("built", "the value with which the layers of this turn were built; the default"),
                word("first", "the value at the first time the place could have been used in this turn"),
                word("empty_is_unset", "as `first`, and an empty baseline counts as none"),
            ]),
            "the baseline",
        ),
    ],
);

static FORM: &[Word] = &[
    word("text", "text behind what stands before it; the default"),
    word("block", "a block of its own"),
    word("images", "images: a URL a line, with the size behind it where it is known: `URL 1024x768`"),
];

static KEEPING: &[Word] =
    &[word("keep", "it stays where it was put"), word("strip", "it is taken out again")];

static KEEP: Record = record(
    "a `keep`",
    "Whether injected text stays.",
    &[
        field("earlier", Shape::Words(KEEPING), "its earlier text, when it writes again"),
        field("persist", Shape::Words(KEEPING), "its text, when the turn is persisted"),
        field("instead", TEXT, "what stands in its place once `persist: strip` took it out"),
        field(
            "untold",
            Shape::Words(&[
                word("keep", "what could not be told waits; the default"),
                word("drop", "it counts as told, and nobody hears of it"),
            ]),
            "an announcement that had no place, or whose call failed",
        ),
    ],
);

/// A search whose texts the model must not see.
static PRIVATE: Record = record(
    "a `private`",
    "While it holds, a second model sums up what was found, and the model that asked sees nothing else of it.",
    &[
        field("when", Shape::Expression, "while this holds").required(),
        field("refuse", Shape::List(&TEXT), "words of questions that ask for the text itself"),
        field("unavailable", Shape::Bool, "there is no second model"),
        field("result", PATH, "a template of what the tool returns; it sees counts and a verdict").required(),
        field("log", Shape::List(&TEXT), "templates of what the tool's program logs"),
    ],
);

/// A limit.
pub(super) static CAP: Record = Record {
    what: "a cap",
    doc: "A limit on a text. Exactly one key names what is counted.",
    choice: Some("unit"),
    kinds: &["chars", "bytes", "lines", "items"],
    fields: &[
        field("chars", Shape::Int(0, MAX), "characters"),
        field("bytes", Shape::Int(0, MAX), "UTF-8 bytes"),
        field("lines", Shape::Int(0, MAX), "lines"),
        field("items", Shape::Int(0, MAX), "items of an `each` layer"),
        field(
            "of",
            Shape::Words(&[word("items", "whole items, as long as the limit is kept")]),
            "what is cut",
        )
        .with(&["chars", "bytes", "lines"]),
        field("over", Shape::Words(&[word("stop", "nothing more is taken")]), "what happens over the limit"),
        field("mark", TEXT, "what is written where text was cut"),
        field("mark_inside", Shape::Bool, "the mark has to fit inside the limit, too"),
        field(
            "boundary",
            Shape::Words(&[
                word("char", "between characters; the default"),
                word("raw_lossy", "at the byte, with U+FFFD for what is broken"),
                word("line", "behind a line end"),
            ]),
            "where the cut may fall",
        ),
    ],
};

static ON_ERROR: &[Word] =
    &[word("skip", "it is left out, with a message; the default"), word("stop", "no request is built")];

static USE: Record = record(
    "an `on_error`",
    "What to do when a layer fails.",
    &[field("use", PATH, "a template that takes its place").required()],
);

/// A layer's source.
pub(super) static FROM: Record = Record {
    what: "a `from`",
    doc: "Where a layer's text comes from. Exactly one key names the source, its options stand beside it.",
    choice: Some("source"),
    kinds: &["text", "template", "table", "each", "lines", "fact", "place", "said"],
    fields: &[
        field("text", TEXT, "a template, written here"),
        field("template", PATH, "a template file"),
        field("table", PATH, "a file of rows; one or all that match are used"),
        field("each", NAME, "one text for each item of this list"),
        field(
            "lines",
            Shape::Expression,
            "the lines of the text that this gives, so that a cap can count them; they end at any line break",
        ),
        field("fact", NAME, "the text of a fact, as it is"),
        field("place", NAME, "what stands in a place with `of: block`"),
        field("said", Shape::Words(&[word("user", "what the user typed in this turn")]), "what was said"),
        field("on", Shape::Expression, "what is looked for in the table").with(&["table"]),
        field(
            "match",
            Shape::Words(&[
                word("exact", "equal; the default"),
                word("token_start", "the key starts at a token of the text"),
                word("substring", "the key stands anywhere in the text"),
                word("all", "every row whose key is in the list that is looked for"),
            ]),
            "how a row's key is compared",
        )
        .with(&["table"]),
        field("join", TEXT, "what stands between rows or items").with(&["table", "each"]),
        field("item", PATH, "the template file of an item").with(&["each"]),
        field("item_text", TEXT, "the template of an item, written here").with(&["each"]),
        field("frame", PATH, "the template file around all items or lines").with(&["each", "lines"]),
        field("frame_text", TEXT, "the template around all items or lines, written here")
            .with(&["each", "lines"]),
        field("where", Shape::Expression, "only items for which this holds").with(&["each"]),
        field(
            "drop_refs",
            NAME,
            "without what refers to the skills of this read, as `.../skills/NAME/SKILL.md`",
        )
        .with(&["fact"]),
    ],
};

static MARK: Record = record(
    "a mark",
    "Where a cache mark stands.",
    &[
        field("at", NAME, "`tools`, `last_history`, `last_message`, or a place").required(),
        field("ttl", Shape::Duration, "the life that it asks for; 5m by default"),
    ],
);

static RUN: Shape = Shape::Either(&[
    Shape::List(&Shape::Record(&LINE)),
    Shape::Planned("a run in words; write it as a list of lines"),
]);

/// A line of a run.
pub(super) static LINE: Record = Record {
    what: "a line of a run",
    doc: "One thing that happens. Exactly one key names it.",
    choice: Some("input"),
    kinds: &[
        "user",
        "call",
        "say",
        "fail",
        "note",
        "set",
        "write",
        "delete",
        "report",
        "advance",
        "model",
        "request",
        "tools",
        "context_edit",
        "compact",
        "session",
        "agent",
    ],
    fields: &[
        field("user", TEXT, "the user says something: a turn begins"),
        field("call", Shape::List(&Shape::Call), "the model calls tools, which run in order"),
        field("text", TEXT, "what the model says before it calls").with(&["call"]),
        field("say", TEXT, "the model answers: the turn ends"),
        field("fail", TEXT, "the request is sent, but fails for this reason"),
        field("note", TEXT, "a caption for an audience"),
        field("set", Shape::Names(&Shape::Any), "facts take values"),
        field("write", Shape::Record(&WRITE), "a file of the workspace is written, for this run only"),
        field("delete", PATH, "a file of the workspace is deleted, for this run only"),
        field("report", Shape::Names(&Shape::Any), "a client reports texts by field; null clears"),
        field("advance", Shape::Duration, "time passes"),
        field("model", TEXT, "another model is chosen, as `provider:model`"),
        field(
            "request",
            Shape::Record(&REQUEST),
            "parameters of the requests change; `default` lets the provider's hold",
        ),
        field("tools", Shape::List(&NAME), "the tools change to these, in this order"),
        field("context_edit", Shape::Record(&CONTEXT_EDIT), "the agent edits its own context"),
        field("compact", Shape::Record(&COMPACT), "what was said is summed up and makes room"),
        field(
            "session",
            Shape::Words(&[
                word("end", "the next message begins another session, without history"),
                word("resume", "the program starts again and replays what was persisted"),
                word("crash", "the same, and the turn that was under way was not persisted"),
            ]),
            "the session ends",
        ),
        field("agent", Shape::Record(&AGENT), "a sub-agent works"),
    ],
};

static WRITE: Record = record(
    "a `write`",
    "A file of the workspace is written, for this run only.",
    &[field("path", PATH, "the file").required(), field("text", TEXT, "its new text").required()],
);

static CONTEXT_EDIT: Record = Record {
    what: "a `context_edit`",
    doc: "A message is deleted or rewritten.",
    choice: Some("change"),
    kinds: &["text", "delete"],
    fields: &[
        field(
            "message",
            Shape::Either(&[Shape::Int(1, u32::MAX as i64), Shape::Words(&[word("newest_tool", "")])]),
            "the number of the message, or `newest_tool`",
        )
        .required(),
        field("text", TEXT, "its new text"),
        field("delete", Shape::Bool, "`true`: it is deleted"),
    ],
};

static COMPACTION: Record = record(
    "a `compaction`",
    "Before a request that nears the model's window, a summary takes the place of what was said.",
    &[
        field("at", Shape::Int(1, 100), "how full, in percent of the window").required(),
        field("window", Shape::Int(1, MAX), "tokens; the model's own window by default"),
        field("keep", Shape::Int(0, MAX), "how many of the last messages stay; what was said just now does"),
        field("summary", TEXT, "a template of the summary").required(),
        field("rebuild", Shape::Bool, "layers that are made once a session are made again"),
    ],
);

static COMPACT: Record = record(
    "a `compact`",
    "A summary stands in the place of what was said.",
    &[
        field("summary", TEXT, "the summary").required(),
        field("keep", Shape::Int(0, MAX), "how many of the last messages stay; 0 by default"),
        field("rebuild", Shape::Bool, "layers that are made once a session are made again"),
    ],
);

static AGENT: Record = record(
    "an `agent`",
    "A sub-agent with its own goal and directory.",
    &[
        field("role", TEXT, "the last part of its id").required(),
        field("goal", TEXT, "the task it was given").required(),
        field("cwd", TEXT, "the directory it starts in; its parent's by default"),
        field("fork", Shape::Bool, "it begins with all that its parent's conversation holds"),
        field("run", Shape::List(&Shape::Record(&LINE)), "what happens to it").required(),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lint_can_be_allowed() {
        let known: Vec<&str> = ALLOW.fields.iter().map(|field| field.key).collect();
        let lints: Vec<&str> = crate::core::lint::TABLE.iter().map(|row| row.word).collect();
        assert_eq!(known, lints);
    }
}
