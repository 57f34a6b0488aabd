//! The bodies of four APIs, described once for both directions.
//!
//! The shapes are those of the vendors' public API references: Anthropic Messages, OpenAI Chat Completions, OpenAI
//! Responses and Gemini generateContent (all as of November 2026).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::pattern::{Hole, Pattern, may, must, not, said};
use super::{BlockKind, Zone};

/// A format of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, which many other vendors speak.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini generateContent.
    Gemini,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] =
        [Format::Anthropic, Format::OpenaiChat, Format::OpenaiResponses, Format::Gemini];

    /// The format that the provider of a model (`provider:model`) takes; Chat Completions for those that are not known,
    /// since most of them take it.
    #[must_use]
    pub fn of_model(model: &str) -> Format {
        match model.split_once(':').map_or("", |(provider, _)| provider) {
            "anthropic" => Format::Anthropic,
            "openai" => Format::OpenaiResponses,
            "google" => Format::Gemini,
            _ => Format::OpenaiChat,
        }
    }

    /// The word that stands for it on a command line and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Format::Anthropic => "anthropic",
            Format::OpenaiChat => "openai-chat",
            Format::OpenaiResponses => "openai-responses",
            Format::Gemini => "gemini",
        }
    }

    /// The zones in the order in which the provider puts them before the model, which is that of its cache.
    #[must_use]
    pub fn order(self) -> [Zone; 3] {
        match self {
            Format::Anthropic | Format::OpenaiChat => [Zone::Tools, Zone::System, Zone::Messages],
            Format::OpenaiResponses | Format::Gemini => [Zone::System, Zone::Tools, Zone::Messages],
        }
    }

    pub(super) fn shape(self) -> &'static Shape {
        match self {
            Format::Anthropic => &ANTHROPIC,
            Format::OpenaiChat => &OPENAI_CHAT,
            Format::OpenaiResponses => &OPENAI_RESPONSES,
            Format::Gemini => &GEMINI,
        }
    }

    /// True where messages that follow one another from the same side are one message to the provider, so that it does
    /// not matter where one ends.
    #[must_use]
    pub fn merges(self) -> bool {
        self.shape().merges
    }
}

/// As people call it.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Anthropic => "Anthropic Messages",
            Format::OpenaiChat => "OpenAI Chat Completions",
            Format::OpenaiResponses => "OpenAI Responses",
            Format::Gemini => "Gemini generateContent",
        })
    }
}

/// Where calls and results stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// In the content of a message.
    Inside,
    /// In a list beside the content of a message.
    Beside,
    /// In the list of messages.
    Entry,
}

/// Where the system prompt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SystemAs {
    /// A list of blocks.
    Blocks,
    /// A text; further blocks are messages of the developer.
    Text,
    /// A message without a place in the conversation.
    Message,
    /// The first messages of the conversation.
    Leading,
}

/// A format.
pub(super) struct Shape {
    pub format: Format,
    /// The member that holds the model's name, if the body names it.
    pub model: Option<&'static str>,
    /// The members that hold the system prompt.
    pub system: &'static [&'static str],
    pub system_as: SystemAs,
    /// True where a system message that stands first in the conversation is the system prompt.
    pub leading_system: bool,
    pub tools: &'static [&'static str],
    /// The member with the definitions, where an entry of `tools` holds several.
    pub declarations: Option<&'static [&'static str]>,
    pub tool: Pattern,
    pub messages: &'static [&'static str],
    pub message: Pattern,
    /// A message with one text holds it as it is instead of in a list.
    pub plain: bool,
    pub merges: bool,
    /// How texts are written: the first by everybody, the last by the model.
    pub texts: &'static [Pattern],
    /// How images are written: by their address, and with their data where that is something else.
    pub images: &'static [Pattern],
    /// How calls are written; the first is what is written here.
    pub calls: &'static [Pattern],
    pub calls_at: At,
    /// Arguments are JSON inside of a text.
    pub arguments_as_text: bool,
    pub results: &'static [Pattern],
    pub results_at: At,
    /// The member that holds the text of a result, where results are maps.
    pub result_in: Option<&'static str>,
    /// Calls are told apart by their ids.
    pub ids: bool,
    /// Cache marks can be written.
    pub marks: bool,
    /// What the format calls the model's own messages.
    pub assistant: &'static str,
}

impl Shape {
    /// The member of a message that holds its content.
    pub(super) fn content(&self) -> &'static str {
        if self.format == Format::Gemini { "parts" } else { "content" }
    }

    /// Who says a block.
    pub(super) fn role(&self, kind: BlockKind, name: &str) -> &'static str {
        match (kind, name, self.format) {
            (BlockKind::Assistant | BlockKind::ToolUse, ..) => self.assistant,
            (BlockKind::User, "developer", Format::OpenaiChat | Format::OpenaiResponses) => "developer",
            (BlockKind::User, "system", Format::OpenaiChat | Format::OpenaiResponses)
            | (BlockKind::User, "developer" | "system", Format::Anthropic)
            | (BlockKind::System, _, Format::OpenaiChat) => "system",
            (BlockKind::System, _, Format::OpenaiResponses) => "developer",
            _ => "user",
        }
    }
}

const CACHE_CONTROL: &[&str] = &["cache_control"];
const BREAKPOINT: &[&str] = &["prompt_cache_breakpoint", "cache_control"];

static ANTHROPIC: Shape = Shape {
    format: Format::Anthropic,
    model: Some("model"),
    system: &["system"],
    system_as: SystemAs::Blocks,
    leading_system: false,
    tools: &["tools"],
    declarations: None,
    tool: Pattern::Map(&[
        must(&["name"], Pattern::Text(Hole::Name)),
        may(&["description"], Pattern::Text(Hole::Description)),
        must(&["input_schema"], Pattern::Any(Hole::Schema)),
        may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
    ]),
    messages: &["messages"],
    message: Pattern::Map(&[
        must(&["role"], Pattern::Text(Hole::Role)),
        must(&["content"], Pattern::Any(Hole::Content)),
    ]),
    plain: false,
    merges: true,
    texts: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("text")),
        must(&["text"], Pattern::Text(Hole::Text)),
        may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
    ])],
    images: &[
        Pattern::Map(&[
            must(&["type"], Pattern::Word("image")),
            must(
                &["source"],
                Pattern::Map(&[
                    must(&["type"], Pattern::Word("url")),
                    must(&["url"], Pattern::Text(Hole::Url)),
                ]),
            ),
            may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
        ]),
        Pattern::Map(&[
            must(&["type"], Pattern::Word("image")),
            must(
                &["source"],
                Pattern::Map(&[
                    must(&["type"], Pattern::Word("base64")),
                    must(&["media_type"], Pattern::Text(Hole::MediaType)),
                    must(&["data"], Pattern::Text(Hole::Data)),
                ]),
            ),
            may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
        ]),
    ],
    calls: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("tool_use")),
        must(&["id"], Pattern::Text(Hole::Id)),
        must(&["name"], Pattern::Text(Hole::Name)),
        must(&["input"], Pattern::Any(Hole::Arguments)),
        may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
    ])],
    calls_at: At::Inside,
    arguments_as_text: false,
    results: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("tool_result")),
        must(&["tool_use_id"], Pattern::Text(Hole::Id)),
        may(&["content"], Pattern::Any(Hole::Content)),
        may(CACHE_CONTROL, Pattern::Any(Hole::Mark)),
    ])],
    results_at: At::Inside,
    result_in: None,
    ids: true,
    marks: true,
    assistant: "assistant",
};

static OPENAI_CHAT: Shape = Shape {
    format: Format::OpenaiChat,
    model: Some("model"),
    system: &[],
    system_as: SystemAs::Leading,
    leading_system: true,
    tools: &["tools"],
    declarations: None,
    tool: Pattern::Map(&[
        must(&["type"], Pattern::Word("function")),
        must(
            &["function"],
            Pattern::Map(&[
                must(&["name"], Pattern::Text(Hole::Name)),
                may(&["description"], Pattern::Text(Hole::Description)),
                may(&["parameters"], Pattern::Any(Hole::Schema)),
            ]),
        ),
    ]),
    messages: &["messages"],
    message: Pattern::Map(&[
        must(&["role"], Pattern::Text(Hole::Role)),
        said(&["content"], Pattern::Any(Hole::Content)),
        may(&["tool_calls"], Pattern::Any(Hole::Calls)),
    ]),
    plain: true,
    merges: false,
    texts: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("text")),
        must(&["text"], Pattern::Text(Hole::Text)),
        may(BREAKPOINT, Pattern::Any(Hole::Mark)),
    ])],
    images: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("image_url")),
        must(&["image_url"], Pattern::Map(&[must(&["url"], Pattern::Text(Hole::Url))])),
    ])],
    calls: &[
        Pattern::Map(&[
            must(&["id"], Pattern::Text(Hole::Id)),
            said(&["type"], Pattern::Word("function")),
            must(
                &["function"],
                Pattern::Map(&[
                    must(&["name"], Pattern::Text(Hole::Name)),
                    must(&["arguments"], Pattern::Text(Hole::Arguments)),
                ]),
            ),
        ]),
        Pattern::Map(&[
            must(&["id"], Pattern::Text(Hole::Id)),
            must(&["type"], Pattern::Word("custom")),
            must(
                &["custom"],
                Pattern::Map(&[
                    must(&["name"], Pattern::Text(Hole::Name)),
                    must(&["input"], Pattern::Text(Hole::Arguments)),
                ]),
            ),
        ]),
    ],
    calls_at: At::Beside,
    arguments_as_text: true,
    results: &[Pattern::Map(&[
        must(&["role"], Pattern::Word("tool")),
        must(&["tool_call_id"], Pattern::Text(Hole::Id)),
        must(&["content"], Pattern::Any(Hole::Content)),
    ])],
    results_at: At::Entry,
    result_in: None,
    ids: true,
    marks: false,
    assistant: "assistant",
};

static OPENAI_RESPONSES: Shape = Shape {
    format: Format::OpenaiResponses,
    model: Some("model"),
    system: &["instructions"],
    system_as: SystemAs::Text,
    leading_system: true,
    tools: &["tools"],
    declarations: None,
    tool: Pattern::Map(&[
        must(&["type"], Pattern::Word("function")),
        must(&["name"], Pattern::Text(Hole::Name)),
        may(&["description"], Pattern::Text(Hole::Description)),
        may(&["parameters"], Pattern::Any(Hole::Schema)),
    ]),
    messages: &["input"],
    message: Pattern::Map(&[
        said(&["type"], Pattern::Word("message")),
        must(&["role"], Pattern::Text(Hole::Role)),
        must(&["content"], Pattern::Any(Hole::Content)),
    ]),
    plain: false,
    merges: false,
    texts: &[
        Pattern::Map(&[
            must(&["type"], Pattern::Word("input_text")),
            must(&["text"], Pattern::Text(Hole::Text)),
            may(BREAKPOINT, Pattern::Any(Hole::Mark)),
        ]),
        Pattern::Map(&[
            must(&["type"], Pattern::Word("output_text")),
            must(&["text"], Pattern::Text(Hole::Text)),
        ]),
    ],
    images: &[Pattern::Map(&[
        must(&["type"], Pattern::Word("input_image")),
        must(&["image_url"], Pattern::Text(Hole::Url)),
    ])],
    calls: &[
        Pattern::Map(&[
            must(&["type"], Pattern::Word("function_call")),
            must(&["call_id"], Pattern::Text(Hole::Id)),
            must(&["name"], Pattern::Text(Hole::Name)),
            must(&["arguments"], Pattern::Text(Hole::Arguments)),
        ]),
        Pattern::Map(&[
            must(&["type"], Pattern::Word("custom_tool_call")),
            must(&["call_id"], Pattern::Text(Hole::Id)),
            must(&["name"], Pattern::Text(Hole::Name)),
            must(&["input"], Pattern::Text(Hole::Arguments)),
        ]),
    ],
    calls_at: At::Entry,
    arguments_as_text: true,
    results: &[
        Pattern::Map(&[
            must(&["type"], Pattern::Word("function_call_output")),
            must(&["call_id"], Pattern::Text(Hole::Id)),
            must(&["output"], Pattern::Any(Hole::Content)),
        ]),
        Pattern::Map(&[
            must(&["type"], Pattern::Word("custom_tool_call_output")),
            must(&["call_id"], Pattern::Text(Hole::Id)),
            must(&["output"], Pattern::Any(Hole::Content)),
        ]),
    ],
    results_at: At::Entry,
    result_in: None,
    ids: true,
    marks: false,
    assistant: "assistant",
};

static GEMINI: Shape = Shape {
    format: Format::Gemini,
    model: None,
    system: &["systemInstruction", "system_instruction"],
    system_as: SystemAs::Message,
    leading_system: false,
    tools: &["tools"],
    declarations: Some(&["functionDeclarations", "function_declarations"]),
    tool: Pattern::Map(&[
        must(&["name"], Pattern::Text(Hole::Name)),
        may(&["description"], Pattern::Text(Hole::Description)),
        may(&["parametersJsonSchema", "parameters", "parameters_json_schema"], Pattern::Any(Hole::Schema)),
    ]),
    messages: &["contents"],
    message: Pattern::Map(&[
        may(&["role"], Pattern::Text(Hole::Role)),
        must(&["parts"], Pattern::Any(Hole::Content)),
    ]),
    plain: false,
    merges: true,
    texts: &[Pattern::Map(&[must(&["text"], Pattern::Text(Hole::Text)), not(&["thought"])])],
    images: &[
        Pattern::Map(&[must(
            &["fileData", "file_data"],
            Pattern::Map(&[must(&["fileUri", "file_uri"], Pattern::Text(Hole::Url))]),
        )]),
        Pattern::Map(&[must(
            &["inlineData", "inline_data"],
            Pattern::Map(&[
                must(&["mimeType", "mime_type"], Pattern::Text(Hole::MediaType)),
                must(&["data"], Pattern::Text(Hole::Data)),
            ]),
        )]),
    ],
    calls: &[Pattern::Map(&[must(
        &["functionCall", "function_call"],
        Pattern::Map(&[
            may(&["id"], Pattern::Text(Hole::Id)),
            must(&["name"], Pattern::Text(Hole::Name)),
            may(&["args"], Pattern::Any(Hole::Arguments)),
        ]),
    )])],
    calls_at: At::Inside,
    arguments_as_text: false,
    results: &[Pattern::Map(&[must(
        &["functionResponse", "function_response"],
        Pattern::Map(&[
            may(&["id"], Pattern::Text(Hole::Id)),
            must(&["name"], Pattern::Text(Hole::Name)),
            must(&["response"], Pattern::Any(Hole::Content)),
        ]),
    )])],
    results_at: At::Inside,
    result_in: Some("output"),
    ids: false,
    marks: false,
    assistant: "model",
};
