//! Requests as the bodies of four APIs: compact JSON, the zones in the order in which the provider reads them.
//!
//! A body holds what a bench says and nothing else: limits, temperatures and the like are the caller's.

use super::lossless::{Json, Kind, quote};
use super::pattern::{Fill, Hole, Pattern};
use super::shapes::{At, Format, Shape, SystemAs};
use super::{Block, BlockKind, MarkAt, MessageId, Request, Zone};

/// The body of a request.
#[must_use]
pub fn body(request: &Request, format: Format) -> String {
    let shape = format.shape();
    let mut members: Vec<(&str, String)> = Vec::new();
    if let Some(key) = shape.model {
        let model = request.model.split_once(':').map_or(&*request.model, |(_, name)| name);
        members.push((key, quoted(model)));
    }
    for zone in format.order() {
        match zone {
            Zone::Tools => members.extend(tools(request, shape).map(|list| (shape.tools[0], list))),
            Zone::System => members.extend(system(request, shape).map(|value| (shape.system[0], value))),
            Zone::Messages => members.push((shape.messages[0], messages(request, shape))),
        }
    }
    members.extend(request.params.members(format));
    let mut out = String::from("{");
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(key, &mut out);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// A tool definition, as any of the formats has it, in a format: compact JSON without a cache mark. A definition of a
/// tool that is the vendor's own stays what it is.
#[must_use]
pub fn tool_definition(definition: &str, format: Format) -> String {
    tool(definition, format.shape(), None)
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// The mark behind a block, as the format writes it.
fn mark(request: &Request, shape: &Shape, block: usize) -> Option<String> {
    let mark: &MarkAt = request.marks.iter().find(|mark| shape.marks && mark.block == block)?;
    // The API knows two lives.
    Some(if mark.ttl > 300 {
        r#"{"type":"ephemeral","ttl":"1h"}"#.to_owned()
    } else {
        r#"{"type":"ephemeral"}"#.to_owned()
    })
}

fn tools(request: &Request, shape: &Shape) -> Option<String> {
    let definitions: Vec<String> = request
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.kind == BlockKind::Tool)
        .map(|(index, block)| tool(block.text.text(), shape, mark(request, shape, index).as_deref()))
        .collect();
    if definitions.is_empty() {
        return None;
    }
    Some(match shape.declarations {
        Some(key) => format!("[{{{}:{}}}]", quoted(key[0]), list(definitions)),
        None => list(definitions),
    })
}

fn tool(definition: &str, shape: &Shape, mark: Option<&str>) -> String {
    let Ok(json) = Json::parse(definition) else { return definition.to_owned() };
    let own = Format::ALL.into_iter().find(|format| format.shape().tool.read(&json).is_some());
    // A definition of Gemini says no type: one that fits nothing else and says one is a tool of its vendor.
    let vendors = own.is_none() || own == Some(Format::Gemini) && json.get("type").is_some();
    if vendors || own == Some(shape.format) {
        let mut text = json.compact_without(definition, &|key| key == "cache_control");
        if let (Some(mark), Kind::Map(members)) = (mark, &json.kind) {
            text.pop();
            let others = members.iter().any(|member| &*member.key != "cache_control");
            text.push_str(&format!("{}\"cache_control\":{mark}}}", if others { "," } else { "" }));
        }
        return text;
    }
    let found = own.and_then(|format| format.shape().tool.read(&json)).unwrap_or_default();
    let schema = found.get(Hole::Schema).map(|schema| schema.compact(definition));
    // Anthropic does without everything but this.
    let schema = schema.or_else(|| {
        (shape.format == Format::Anthropic).then(|| r#"{"type":"object","properties":{}}"#.to_owned())
    });
    let description = found.get(Hole::Description).and_then(Json::as_text);
    let mut out = String::new();
    let fill = |hole| match hole {
        Hole::Name => Some(Fill::Text(found.text(Hole::Name))),
        Hole::Description => description.map(|text| Fill::Text(text)),
        Hole::Schema => schema.as_deref().map(Fill::Json),
        Hole::Mark => mark.map(Fill::Json),
        _ => None,
    };
    shape.tool.write(&fill, &mut out);
    out
}

fn system(request: &Request, shape: &Shape) -> Option<String> {
    let tools = request.zone(Zone::Tools).len();
    let blocks = request.zone(Zone::System);
    let first = blocks.first()?;
    let texts = || {
        list(blocks.iter().enumerate().map(|(index, block)| {
            text(&shape.texts[0], block.text.text(), mark(request, shape, tools + index).as_deref())
        }))
    };
    match shape.system_as {
        SystemAs::Blocks => Some(texts()),
        SystemAs::Text => Some(quoted(first.text.text())),
        SystemAs::Message => Some(format!("{{\"parts\":{}}}", texts())),
        SystemAs::Leading => None,
    }
}

fn text(pattern: &Pattern, text: &str, mark: Option<&str>) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let fill = |hole| match hole {
        Hole::Text => Some(Fill::Text(text)),
        Hole::Mark => mark.map(Fill::Json),
        _ => None,
    };
    pattern.write(&fill, &mut out);
    out
}

/// An image: by its address, or with its data where the format keeps those apart.
fn image(shape: &Shape, url: &str, mark: Option<&str>) -> String {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (pattern, media, data) = match (shape.images, data) {
        ([_, inline], Some((media, data))) => (inline, media, data),
        (images, _) => (&images[0], "", ""),
    };
    let fill = |hole| match hole {
        Hole::Url => Some(Fill::Text(url)),
        Hole::MediaType => Some(Fill::Text(media)),
        Hole::Data => Some(Fill::Text(data)),
        Hole::Mark => mark.map(Fill::Json),
        _ => None,
    };
    let mut out = String::with_capacity(url.len() + 64);
    pattern.write(&fill, &mut out);
    out
}

/// A message that is being put together.
struct Message {
    role: &'static str,
    id: Option<MessageId>,
    parts: Vec<String>,
    /// The only text so far, quoted.
    only: Option<String>,
    calls: Vec<String>,
}

struct Writer<'r> {
    request: &'r Request,
    shape: &'static Shape,
    entries: Vec<String>,
    open: Option<Message>,
}

fn messages(request: &Request, shape: &'static Shape) -> String {
    let mut writer = Writer { request, shape, entries: Vec::new(), open: None };
    let in_messages = |kind: BlockKind, nth: usize| match kind {
        BlockKind::Tool => false,
        BlockKind::System => match shape.system_as {
            SystemAs::Leading => true,
            SystemAs::Text => nth > 0,
            SystemAs::Blocks | SystemAs::Message => false,
        },
        _ => true,
    };
    let tools = request.zone(Zone::Tools).len();
    for (index, block) in request.blocks.iter().enumerate() {
        if in_messages(block.kind, index.saturating_sub(tools)) {
            writer.block(index, block);
        }
    }
    writer.close();
    list(writer.entries)
}

impl Writer<'_> {
    fn block(&mut self, index: usize, block: &Block) {
        let mark = mark(self.request, self.shape, index);
        let role = self.shape.role(block.kind, &block.name);
        match block.kind {
            BlockKind::ToolUse => {
                let call = self.call(block, mark.as_deref());
                match self.shape.calls_at {
                    At::Inside => self.message(role, block).parts.push(call),
                    At::Beside => self.message(role, block).calls.push(call),
                    At::Entry => self.entry(call),
                }
            }
            BlockKind::ToolResult => {
                let result = self.result(block, mark.as_deref());
                match self.shape.results_at {
                    At::Inside => self.message(role, block).parts.push(result),
                    At::Beside | At::Entry => self.entry(result),
                }
            }
            BlockKind::Image => {
                let part = image(self.shape, block.text.text(), mark.as_deref());
                let message = self.message(role, block);
                message.only = None;
                message.parts.push(part);
            }
            _ => {
                let texts = self.shape.texts;
                let pattern =
                    if block.kind == BlockKind::Assistant { &texts[texts.len() - 1] } else { &texts[0] };
                let part = text(pattern, block.text.text(), mark.as_deref());
                let message = self.message(role, block);
                message.only = message.parts.is_empty().then(|| quoted(block.text.text()));
                message.parts.push(part);
            }
        }
    }

    /// The message that a block goes into.
    fn message(&mut self, role: &'static str, block: &Block) -> &mut Message {
        // System text has no message of the conversation; every block of it is one of its own.
        let goes_on = |open: &Message| {
            open.role == role && (self.shape.merges || block.message.is_some() && open.id == block.message)
        };
        if !self.open.as_ref().is_some_and(goes_on) {
            self.close();
        }
        let (id, parts, calls) = (block.message, Vec::new(), Vec::new());
        self.open.get_or_insert(Message { role, id, parts, only: None, calls })
    }

    fn entry(&mut self, entry: String) {
        self.close();
        self.entries.push(entry);
    }

    fn close(&mut self) {
        let Some(message) = self.open.take() else { return };
        let content = match message.only {
            Some(text) if self.shape.plain => text,
            _ if self.shape.plain && message.parts.is_empty() => "null".to_owned(),
            _ => list(message.parts),
        };
        let calls = (!message.calls.is_empty()).then(|| list(message.calls));
        let fill = |hole| match hole {
            Hole::Role => Some(Fill::Text(message.role)),
            Hole::Content => Some(Fill::Json(&content)),
            Hole::Calls => calls.as_deref().map(Fill::Json),
            _ => None,
        };
        let mut out = String::new();
        self.shape.message.write(&fill, &mut out);
        self.entries.push(out);
    }

    fn call(&self, block: &Block, mark: Option<&str>) -> String {
        let text = block.text.text();
        let json = match Json::parse(text) {
            Ok(json) => json.compact(text),
            Err(_) => quoted(text),
        };
        let fill = |hole| match hole {
            Hole::Id => self.shape.ids.then_some(Fill::Text(&block.name)),
            Hole::Name => Some(Fill::Text(block.tool.as_deref().unwrap_or_default())),
            Hole::Arguments if self.shape.arguments_as_text => Some(Fill::Text(text)),
            Hole::Arguments => Some(Fill::Json(&json)),
            Hole::Mark => mark.map(Fill::Json),
            _ => None,
        };
        let mut out = String::new();
        self.shape.calls[0].write(&fill, &mut out);
        out
    }

    fn result(&self, block: &Block, mark: Option<&str>) -> String {
        let text = quoted(block.text.text());
        let content = match self.shape.result_in {
            Some(key) => format!("{{{}:{text}}}", quoted(key)),
            None => text,
        };
        let fill = |hole| match hole {
            Hole::Id => self.shape.ids.then_some(Fill::Text(&block.name)),
            Hole::Name => Some(Fill::Text(block.tool.as_deref().unwrap_or_default())),
            Hole::Content => Some(Fill::Json(&content)),
            Hole::Mark => mark.map(Fill::Json),
            _ => None,
        };
        let mut out = String::new();
        self.shape.results[0].write(&fill, &mut out);
        out
    }
}
