//! The body of a recorded request as blocks, piece by piece: what a line before had is not read again.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::walk::{Field, Fields};
use crate::core::fact::{EventId, Name};
use crate::core::text::{Made, Traced};
use crate::core::tokens::image::Pixels;
use crate::core::wire::lossless::{Json, Mistake};
use crate::core::wire::{Block, BlockKind, Document, Format, Item, ItemKind, MessageId, Params, Zone};

/// A block that has no message number yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loose {
    pub kind: BlockKind,
    pub name: Name,
    pub tool: Option<Name>,
    pub part: Name,
    pub text: Arc<str>,
    /// Of an image.
    pub size: Option<Pixels>,
    /// The life in seconds that a mark behind it asks for.
    pub mark: Option<u32>,
}

impl Loose {
    /// The block, as one of a message. `tool` gives the tool of a call by its id: a result does not name it.
    pub(super) fn block(
        &self,
        message: Option<MessageId>,
        tool: &dyn Fn(&str) -> Option<Name>,
    ) -> Arc<Block> {
        let tool = match self.kind {
            BlockKind::ToolResult => tool(&self.name).or_else(|| self.tool.clone()),
            _ => self.tool.clone(),
        };
        let part: Name = match (&tool, self.kind) {
            (Some(tool), BlockKind::ToolResult) => format!("tool {tool}").into(),
            _ => self.part.clone(),
        };
        let text = Traced::whole(part, self.text.clone(), Made::Literal, EventId::OPENING);
        match self.kind {
            BlockKind::Image => Block::image(self.name.clone(), message, text, self.size),
            kind => Block::new(kind, self.name.clone(), tool, message, text),
        }
    }

    /// A text of the user that is no result of a tool begins a turn.
    pub(super) fn begins_turn(&self) -> bool {
        self.kind == BlockKind::User && *self.name == *"user"
    }
}

/// An item of the list of messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    /// Of all of its blocks, marks aside.
    pub hash: u64,
    /// True for a system message in front of the conversation.
    pub leading: bool,
    pub blocks: Vec<Loose>,
    /// It holds what the model thought, which a provider may leave out later.
    pub reasoning: bool,
}

/// A body.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub format: Format,
    pub model: Option<Name>,
    pub tools: Arc<[Loose]>,
    pub system: Arc<[Loose]>,
    pub elements: Vec<Arc<Element>>,
    /// Parameters besides the text that a cache may depend on.
    pub params: Arc<Params>,
    /// The life that one mark for all asks for: the provider puts it behind the last block.
    pub auto_mark: Option<u32>,
    /// The answer that this request goes on from.
    pub previous: Option<String>,
}

/// Where a body stands.
#[derive(Clone, Copy)]
pub(super) struct Placed<'l> {
    pub line: &'l [u8],
    pub fields: &'l Fields,
    /// The keys of the body from the top: `request.body`; empty where the line is it.
    pub prefix: &'l str,
    /// The keys of a map with members that do not stand there.
    pub parameters: Option<&'l str>,
}

impl<'l> Placed<'l> {
    pub(super) fn field(&self, key: &str) -> Option<&'l Field> {
        let own = self.fields.under(self.prefix, key);
        own.or_else(|| self.fields.under(self.parameters?, key))
    }

    pub(super) fn raw(&self, range: &Range<usize>) -> &'l str {
        // What was scanned is UTF-8, at least between the ends of its values.
        std::str::from_utf8(&self.line[range.clone()]).unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        let field = self.field(key)?;
        serde_json::from_str(self.raw(&field.range)).ok()
    }
}

/// The body of a line before, from which pieces are taken over.
#[derive(Clone, Copy)]
pub(super) struct Before<'b> {
    pub body: &'b Body,
    /// The place of its line among those that the fields were compared with.
    pub line: usize,
}

/// Reads a body. `before` are the bodies of the lines that its fields were compared with.
pub(super) fn read(placed: Placed<'_>, format: Format, before: &[Before<'_>]) -> Result<Body, Mistake> {
    let messages = placed.field(list_key(format));
    let same = |field: Option<&Field>| -> Option<&Body> {
        let line = field?.same?;
        before.iter().find(|b| b.line == line && b.body.format == format).map(|b| b.body)
    };
    let tools_field = placed.field("tools").or_else(|| placed.field("functions"));
    let tools: Arc<[Loose]> = match (same(tools_field), tools_field) {
        (Some(body), _) => body.tools.clone(),
        (None, Some(field)) => loose_of(&placed, format, &[("tools", field)], Zone::Tools)?.into(),
        (None, None) => Arc::default(),
    };
    let system_keys: &[&str] = match format {
        Format::Anthropic => &["system"],
        Format::OpenaiResponses => &["instructions"],
        Format::Gemini => &["systemInstruction", "system_instruction"],
        Format::OpenaiChat => &[],
    };
    let system = system_keys.iter().find_map(|key| Some((*key, placed.field(key)?)));
    let system: Arc<[Loose]> = match (same(system.map(|(_, field)| field)), system) {
        (Some(body), _) => body.system.clone(),
        (None, Some((key, field))) => loose_of(&placed, format, &[(key, field)], Zone::System)?.into(),
        (None, None) => Arc::default(),
    };
    let elements = match messages {
        Some(field) => {
            let count = field.same_items.unwrap_or(0);
            let shared = same(Some(field)).filter(|body| count > 0 && body.elements.len() >= count);
            let shared = shared.map_or(&[][..], |body| &body.elements[..count]);
            elements(&placed, field, format, shared)?
        }
        None => Vec::new(),
    };
    let auto_mark = placed.field("cache_control").and_then(|field| {
        let value: serde_json::Value = serde_json::from_str(placed.raw(&field.range)).ok()?;
        value.is_object().then(|| life(value["ttl"].as_str()))
    });
    Ok(Body {
        format,
        model: placed.text("model").map(Name::from),
        tools,
        system,
        elements,
        params: super::params::read(&placed).into(),
        auto_mark,
        previous: placed.text("previous_response_id"),
    })
}

fn life(text: Option<&str>) -> u32 {
    if text == Some("1h") { 3_600 } else { 300 }
}

/// The member with the list of messages.
pub(super) fn list_key(format: Format) -> &'static str {
    match format {
        Format::Anthropic | Format::OpenaiChat => "messages",
        Format::OpenaiResponses => "input",
        Format::Gemini => "contents",
    }
}

/// Some members of a body as a document of their own.
fn document(placed: &Placed<'_>, format: Format, members: &[(&str, &Field)]) -> Result<Document, Mistake> {
    let mut text = String::from("{");
    for (index, (key, field)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&format!("\"{key}\":{}", placed.raw(&field.range)));
    }
    text.push('}');
    Document::read_as(text, format)
}

fn loose_of(
    placed: &Placed<'_>,
    format: Format,
    members: &[(&str, &Field)],
    zone: Zone,
) -> Result<Vec<Loose>, Mistake> {
    let document = document(placed, format, members)?;
    Ok(document.zone(zone).map(|item| loose(item, &document)).collect())
}

fn elements(
    placed: &Placed<'_>,
    field: &Field,
    format: Format,
    shared: &[Arc<Element>],
) -> Result<Vec<Arc<Element>>, Mistake> {
    let key = list_key(format);
    // Gemini tells results and calls apart by their order, so nothing of it can be read alone; a text is one message.
    if format == Format::Gemini || field.items.is_empty() {
        let document = document(placed, format, &[(key, field)])?;
        return Ok(collect(&document, 0, usize::MAX));
    }
    let mut all: Vec<Arc<Element>> = Vec::with_capacity(field.items.len());
    all.extend_from_slice(shared);
    let rest = &field.items[shared.len()..];
    if rest.is_empty() {
        return Ok(all);
    }
    // Behind a message of the conversation a system message is one of the conversation, too: this stands for it.
    let behind = shared.iter().any(|element| !element.leading);
    let mut text = format!("{{\"{key}\":[");
    if behind {
        text.push_str("{\"role\":\"user\",\"content\":\"\"},");
    }
    for (index, item) in rest.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(placed.raw(item));
    }
    text.push_str("]}");
    let document = Document::read_as(text, format)?;
    // A result without the id of its call is told by its place among all of them.
    let nameless = |item: &Item| item.kind == ItemKind::ToolResult && item.name.is_empty();
    if behind && document.items.iter().any(nameless) {
        return elements(placed, field, format, &[]);
    }
    all.extend(collect(&document, usize::from(behind), rest.len() + usize::from(behind)));
    Ok(all)
}

/// The items of a list of messages, from one index to another, each with its blocks.
fn collect(document: &Document, from: usize, to: usize) -> Vec<Arc<Element>> {
    let last = document.items.iter().filter_map(|item| item.message).max().map_or(0, |last| last + 1);
    let to = if to == usize::MAX { last } else { to };
    let mut lists: Vec<(bool, bool, Vec<Loose>)> = vec![(false, false, Vec::new()); to.saturating_sub(from)];
    // Gateways put Anthropic's system prompt in front of the messages that they log, as a message.
    let others = document.items.iter().filter(|item| &*item.role != "system").filter_map(|item| item.message);
    let front = if document.format == Format::Anthropic { others.min() } else { None };
    for item in &document.items {
        let Some(index) = item.message.filter(|&index| index >= from && index < to) else { continue };
        let system = front.is_some_and(|front| index < front);
        let (leading, reasoning, blocks) = &mut lists[index - from];
        *leading |= system || item.zone == Zone::System;
        *reasoning |= is_reasoning(item);
        let mut block = loose(item, document);
        if system && block.kind == BlockKind::User {
            (block.kind, block.name, block.part) = (BlockKind::System, "system".into(), "system".into());
        }
        blocks.push(block);
    }
    let element = |(leading, reasoning, blocks): (bool, bool, Vec<Loose>)| {
        let mut hasher = Xxh3::new();
        for block in &blocks {
            hasher.update(&[block.kind as u8]);
            // A result's tool is known only where its call was read along with it.
            let tool = block.tool.as_deref().filter(|_| block.kind != BlockKind::ToolResult);
            for text in [&*block.name, tool.unwrap_or_default(), &*block.text] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        Arc::new(Element { hash: hasher.digest(), leading, blocks, reasoning })
    };
    lists.into_iter().map(element).collect()
}

/// The items of the list of so many messages of a body that was read whole. One that holds nothing is one, too, which
/// the document does not tell.
#[cfg(test)]
pub(super) fn all(document: &Document, messages: Option<usize>) -> Vec<Arc<Element>> {
    collect(document, 0, messages.unwrap_or(usize::MAX))
}

fn is_reasoning(item: &Item) -> bool {
    item.kind == ItemKind::Other
        && matches!(&*item.name, "thinking" | "redacted_thinking" | "reasoning" | "thought")
}

/// The blocks of what a model put out, as it would be sent back.
pub(super) fn output(list: &str, format: Format) -> Vec<Arc<Element>> {
    let text = format!("{{\"{}\":{list}}}", list_key(format));
    Document::read_as(text, format).map(|document| collect(&document, 0, usize::MAX)).unwrap_or_default()
}

fn loose(item: &Item, document: &Document) -> Loose {
    let kind = match item.kind {
        ItemKind::Tool => BlockKind::Tool,
        ItemKind::System => BlockKind::System,
        ItemKind::User => BlockKind::User,
        ItemKind::Assistant => BlockKind::Assistant,
        ItemKind::ToolUse => BlockKind::ToolUse,
        ItemKind::ToolResult => BlockKind::ToolResult,
        ItemKind::Image => BlockKind::Image,
        // The model's reasoning stands with what the model said, pictures with what others said.
        ItemKind::Other => match document.by_model(item) {
            _ if item.zone == Zone::System => BlockKind::System,
            Some(false) => BlockKind::User,
            _ => BlockKind::Assistant,
        },
    };
    let role: Name = if item.role.is_empty() { "user".into() } else { item.role.clone() };
    let tool = (!item.tool.is_empty()).then(|| item.tool.clone());
    let (name, tool, part): (Name, Option<Name>, Name) = match item.kind {
        ItemKind::Tool => (item.name.clone(), None, "tools".into()),
        ItemKind::System => ("system".into(), None, "system".into()),
        ItemKind::User => (role.clone(), None, wrapper(&item.text).unwrap_or(role)),
        ItemKind::Image => (role, None, "image".into()),
        ItemKind::Assistant => ("assistant".into(), None, "model".into()),
        ItemKind::ToolUse => (item.name.clone(), tool, "model".into()),
        ItemKind::ToolResult => (item.name.clone(), tool, "tool result".into()),
        ItemKind::Other => (item.name.clone(), None, item.name.clone()),
    };
    let text = match item.kind {
        ItemKind::Other => {
            let raw = &document.text()[item.span.clone()];
            let bare = Json::parse(raw).map(|json| json.compact_without(raw, &|key| key == "cache_control"));
            let bare = bare.as_deref().unwrap_or(raw);
            // What it holds is no text of a prompt; its hash tells whether it is the same.
            format!("({}, {} bytes, {:016x})", item.name, bare.len(), xxh3_64(bare.as_bytes())).into()
        }
        // All of an image would only be kept to be compared.
        ItemKind::Image if item.text.len() > 256 => {
            format!("(image, {} bytes, {:016x})", item.text.len(), xxh3_64(item.text.as_bytes())).into()
        }
        _ => item.text.clone(),
    };
    let size = if item.kind == ItemKind::Image { Pixels::of_url(&item.text) } else { None };
    let mark = item.mark.map(|mark| mark.ttl.unwrap_or(300));
    Loose { kind, name, tool, part, text, size, mark }
}

/// The tag around a text that a program put into a message: `<system-reminder>`.
pub(super) fn wrapper(text: &str) -> Option<Name> {
    let text = text.trim();
    let inner = text.strip_prefix('<')?;
    let end = inner.find(['>', ' ', '\n'])?;
    let tag = &inner[..end];
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let closes = text.ends_with(&format!("</{tag}>"));
    (!tag.is_empty() && tag.len() <= 40 && tag.chars().all(named) && closes)
        .then(|| format!("<{tag}>").into())
}
