//! A recorded request body, read: its tools, system prompt, messages, marks and settings, each with the place where it
//! stands in the text. What is not modelled stays what it is, so that writing the body back loses nothing.

use std::ops::Range;
use std::sync::Arc;

use super::Zone;
use super::detect::detect;
use super::lossless::{self, Json, Kind, Mistake};
use super::pattern::{Found, Hole, Pattern};
use super::shapes::{Format, Shape};
use super::spelling::Spelling;
use crate::core::diagnostic::Position;
use crate::core::fact::Name;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A tool definition.
    Tool,
    /// System text.
    System,
    /// Text that the model did not write: the user's, a developer's.
    User,
    /// Text of the model.
    Assistant,
    /// A tool call.
    ToolUse,
    /// What a tool returned.
    ToolResult,
    /// An image: its text is its address or a `data:` URL.
    Image,
    /// A document, the model's reasoning: kept and not looked into.
    Other,
}

/// A cache mark behind an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The life that it asks for, in seconds; none where it does not say.
    pub ttl: Option<u32>,
}

/// One piece of a body, in the order of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub zone: Zone,
    /// Who says it, in the body's own word: `user`, `developer`, `model`. Empty outside of messages.
    pub role: Name,
    /// For a tool its name, for a call and its result the call's id, for something else its type.
    pub name: Name,
    /// For a call and its result, the tool; empty where the body does not tell.
    pub tool: Name,
    /// For a call and its result, the number of the call in the body, from 1; none for a result without a call.
    pub call: Option<usize>,
    /// The message that it is part of, counted from 0; none outside of messages.
    pub message: Option<usize>,
    /// Where it is: `messages[2].content[0]`.
    pub path: String,
    /// The decoded text. Arguments and definitions that are JSON are compact, without the mark. Of a result with several
    /// texts, all of them; empty for something else.
    pub text: Arc<str>,
    /// The byte ranges of the JSON texts (with quotes) that make [`Item::text`] up; empty where it is compacted JSON.
    pub texts: Vec<Range<usize>>,
    /// The byte range of what the text was read from; of the whole item where there is none.
    pub span: Range<usize>,
    /// The cache mark behind it.
    pub mark: Option<Mark>,
}

/// A member of the body that is no part of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub name: Name,
    /// Its value, compact.
    pub value: String,
    /// The byte range of the value.
    pub span: Range<usize>,
}

/// A recorded body.
#[derive(Clone, Debug)]
pub struct Document {
    text: Arc<str>,
    /// The format.
    pub format: Format,
    /// The byte range of the body: less than the text where a log wraps it.
    pub body: Range<usize>,
    /// The model, if the body names it.
    pub model: Option<Name>,
    /// Tools, system, then messages; in each zone in the order of the body.
    pub items: Vec<Item>,
    /// Everything else at the top of the body, in order.
    pub settings: Vec<Setting>,
}

/// Why a text is not a recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not JSON.
    Json(Mistake),
    /// It is JSON and not a request in a format that is known.
    Unknown,
}

/// The members under which logs keep the body of a request.
const WRAPPERS: &[&[&str]] = &[&[], &["body"], &["request", "body"], &["request"], &["params"]];

impl Document {
    /// Reads a body, or a log entry around one, and finds out its format.
    ///
    /// # Errors
    ///
    /// When it is not JSON, or not a request.
    pub fn read(text: impl Into<Arc<str>>) -> Result<Document, Unreadable> {
        let text = text.into();
        let json = Json::parse(&text).map_err(Unreadable::Json)?;
        for wrapper in WRAPPERS {
            let body = wrapper.iter().try_fold(&json, |json, key| json.get(key));
            if let Some(body) = body
                && let Some(format) = detect(body)
            {
                return Ok(Document::of(text.clone(), body, format));
            }
        }
        Err(Unreadable::Unknown)
    }

    /// Reads a body whose format is known.
    ///
    /// # Errors
    ///
    /// When it is not JSON.
    pub fn read_as(text: impl Into<Arc<str>>, format: Format) -> Result<Document, Mistake> {
        let text = text.into();
        let json = Json::parse(&text)?;
        Ok(Document::of(text, &json, format))
    }

    fn of(text: Arc<str>, body: &Json, format: Format) -> Document {
        let mut reader = Reader { text: &text, shape: format.shape(), items: Vec::new(), calls: Vec::new() };
        reader.read(body);
        let mut items = reader.items;
        items.sort_by_key(|item| item.zone);
        let shape = format.shape();
        let read = |key: &str| {
            Some(key) == shape.model
                || [shape.system, shape.tools, shape.messages].iter().any(|keys| keys.contains(&key))
        };
        let others = body.members().iter().filter(|member| !read(&member.key));
        let settings = others.map(|member| Setting {
            name: member.key.clone(),
            value: member.value.compact(&text),
            span: member.value.span.clone(),
        });
        Document {
            format,
            body: body.span.clone(),
            model: shape.model.and_then(|key| body.get(key)).and_then(Json::as_text).cloned(),
            settings: settings.collect(),
            items,
            text,
        }
    }

    /// The text that was read.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The line and column, in the text that was read, of a byte of an item's decoded text.
    #[must_use]
    pub fn position_in(&self, item: &Item, byte: usize) -> Position {
        let mut rest = byte;
        for range in &item.texts {
            let spelled = &self.text[range.start + 1..range.end - 1];
            let decoded = lossless::decoded_len(spelled);
            if rest < decoded || range == item.texts.last().unwrap_or(range) {
                let at = range.start + 1 + lossless::spelled_at(spelled, rest);
                return Position::of(&self.text, at);
            }
            rest -= decoded;
        }
        Position::of(&self.text, item.span.start)
    }

    /// How its program spells texts. The body is gone through for it.
    fn spelling(&self) -> Spelling {
        let body = &self.text[self.body.clone()];
        // It was read before, so it is JSON.
        Json::parse(body).map(|json| Spelling::of(&json, body)).unwrap_or_default()
    }

    /// The items of a zone.
    pub fn zone(&self, zone: Zone) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.zone == zone)
    }

    /// How often the model has answered: the request is the one behind so many calls.
    #[must_use]
    pub fn answers(&self) -> usize {
        let models: Vec<bool> = self.zone(Zone::Messages).filter_map(|item| self.by_model(item)).collect();
        models.iter().enumerate().filter(|(at, model)| **model && (*at == 0 || !models[at - 1])).count()
    }

    /// Whether the model wrote an item of the messages; none for what only goes with what stands beside it, such as the
    /// model's reasoning.
    #[must_use]
    pub fn by_model(&self, item: &Item) -> Option<bool> {
        match item.kind {
            ItemKind::Assistant | ItemKind::ToolUse => Some(true),
            ItemKind::Other if item.role.is_empty() || *item.role == *self.format.shape().assistant => None,
            _ => Some(false),
        }
    }

    /// The text that was read, with other texts in it: `text` gives the new decoded text of an item (for arguments and
    /// definitions that are JSON, new JSON), none to leave it as it is. The new texts are spelled as the others are. An
    /// item whose text is made of several, and one without a text, stays as it is.
    #[must_use]
    pub fn with(&self, text: &dyn Fn(&Item) -> Option<Arc<str>>) -> String {
        let spelling = self.spelling();
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for item in self.items.iter().filter(|item| item.kind != ItemKind::Other) {
            let Some(new) = text(item) else { continue };
            match item.texts.as_slice() {
                [one] => changes.push((one.clone(), spelling.quote(&new))),
                [] if *new != *item.text && item.kind != ItemKind::Image => {
                    changes.push((item.span.clone(), new.to_string()));
                }
                _ => {}
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, new) in changes {
            out.push_str(&self.text[done..range.start]);
            out.push_str(&new);
            done = range.end;
        }
        out.push_str(&self.text[done..]);
        out
    }
}

/// A call that was read.
struct Called {
    id: Name,
    tool: Name,
    answered: bool,
}

struct Reader<'t> {
    text: &'t str,
    shape: &'static Shape,
    items: Vec<Item>,
    calls: Vec<Called>,
}

/// Where an item stands.
#[derive(Clone)]
struct Place {
    kind: ItemKind,
    zone: Zone,
    role: Name,
    message: Option<usize>,
}

fn first<'j>(json: &'j Json, keys: &[&str]) -> Option<(String, &'j Json)> {
    keys.iter().find_map(|key| Some(((*key).to_owned(), json.get(key)?)))
}

fn read_any<'j>(patterns: &'static [Pattern], json: &'j Json) -> Option<Found<'j>> {
    patterns.iter().find_map(|pattern| pattern.read(json))
}

/// `5m`, `1h`, `3600s` in seconds.
fn life(text: &str) -> Option<u32> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u32 = text[..split].parse().ok()?;
    number.checked_mul(match &text[split..] {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    })
}

fn mark(found: &Found<'_>) -> Option<Mark> {
    let json = found.get(Hole::Mark)?;
    (!json.is_null())
        .then(|| Mark { ttl: json.get("ttl").and_then(Json::as_text).and_then(|text| life(text)) })
}

impl Reader<'_> {
    fn read(&mut self, body: &Json) {
        if let Some((path, tools)) = first(body, self.shape.tools) {
            self.tools(tools, &path);
        }
        if let Some((path, system)) = first(body, self.shape.system) {
            let place = Place { kind: ItemKind::System, zone: Zone::System, role: "".into(), message: None };
            match self.shape.message.read(system).and_then(|found| found.get(Hole::Content)) {
                Some(content) if self.shape.system_as == super::shapes::SystemAs::Message => {
                    self.content(content, &place, &format!("{path}.parts"));
                }
                _ => self.content(system, &place, &path),
            }
        }
        let Some((path, messages)) = first(body, self.shape.messages) else { return };
        if let Kind::Text(_) = messages.kind {
            let place =
                Place { kind: ItemKind::User, zone: Zone::Messages, role: "user".into(), message: Some(0) };
            self.content(messages, &place, &path);
            return;
        }
        let mut leading = self.shape.leading_system;
        let one = std::slice::from_ref(messages);
        let list = if matches!(messages.kind, Kind::List(_)) { messages.items() } else { one };
        for (index, message) in list.iter().enumerate() {
            self.message(message, index, &format!("{path}[{index}]"), &mut leading);
        }
    }

    fn tools(&mut self, tools: &Json, path: &str) {
        for (index, entry) in tools.items().iter().enumerate() {
            let path = format!("{path}[{index}]");
            let declared = self.shape.declarations.and_then(|keys| first(entry, keys));
            match declared {
                Some((key, list)) => {
                    for (index, tool) in list.items().iter().enumerate() {
                        self.tool(tool, format!("{path}.{key}[{index}]"));
                    }
                }
                None => self.tool(entry, path),
            }
        }
    }

    fn tool(&mut self, json: &Json, path: String) {
        let found = self.shape.tool.read(json);
        let named = |json: &Json| json.get("name").and_then(Json::as_text).cloned();
        let name = named(json)
            .or_else(|| json.get("function").and_then(named))
            .or_else(|| json.get("custom").and_then(named))
            .or_else(|| json.get("type").and_then(Json::as_text).cloned())
            // A tool of Gemini that is no function is a map with one key: `googleSearch`.
            .or_else(|| json.members().first().map(|member| member.key.clone()))
            .unwrap_or_default();
        let mark = found.as_ref().and_then(mark).or_else(|| {
            let control = json.get("cache_control").filter(|json| !json.is_null())?;
            Some(Mark { ttl: control.get("ttl").and_then(Json::as_text).and_then(|text| life(text)) })
        });
        self.items.push(Item {
            kind: ItemKind::Tool,
            zone: Zone::Tools,
            role: "".into(),
            name,
            tool: "".into(),
            call: None,
            message: None,
            path,
            text: json.compact_without(self.text, &|key| key == "cache_control").into(),
            texts: Vec::new(),
            span: json.span.clone(),
            mark,
        });
    }

    fn message(&mut self, json: &Json, index: usize, path: &str, leading: &mut bool) {
        let mut place =
            Place { kind: ItemKind::User, zone: Zone::Messages, role: "".into(), message: Some(index) };
        if let Some(found) = read_any(self.shape.results, json) {
            *leading = false;
            return self.result(json, &found, &place, path);
        }
        if let Some(found) = read_any(self.shape.calls, json) {
            *leading = false;
            return self.call(json, &found, &place, path);
        }
        let Some(found) = self.shape.message.read(json) else {
            *leading = false;
            return self.other(json, &place, path.to_owned());
        };
        place.role = match found.text(Hole::Role) {
            "" => "user".into(),
            role => role.into(),
        };
        let instructs = matches!(&*place.role, "system" | "developer");
        *leading &= instructs;
        if *leading {
            place = Place { kind: ItemKind::System, zone: Zone::System, message: Some(index), ..place };
        } else if *place.role == *self.shape.assistant {
            place.kind = ItemKind::Assistant;
        }
        let key = self.shape.content();
        if let Some(content) = found.get(Hole::Content) {
            self.content(content, &place, &format!("{path}.{key}"));
        }
        if let Some(calls) = found.get(Hole::Calls) {
            for (index, call) in calls.items().iter().enumerate() {
                let path = format!("{path}.tool_calls[{index}]");
                match read_any(self.shape.calls, call) {
                    Some(found) => self.call(call, &found, &place, &path),
                    None => self.other(call, &place, path),
                }
            }
        }
    }

    /// The content of a message: a text, or a list of parts.
    fn content(&mut self, content: &Json, place: &Place, path: &str) {
        match &content.kind {
            Kind::Text(text) => {
                let (text, spans) = (text.clone(), vec![content.span.clone()]);
                self.push(place, path.to_owned(), text, spans, content.span.clone(), None);
            }
            Kind::List(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.part(part, place, format!("{path}[{index}]"));
                }
            }
            Kind::Null => {}
            _ => self.part(content, place, path.to_owned()),
        }
    }

    fn part(&mut self, part: &Json, place: &Place, path: String) {
        if let Some(found) = read_any(self.shape.texts, part) {
            let Some(json) = found.get(Hole::Text) else { return };
            let text = json.as_text().cloned().unwrap_or_default();
            let spans = vec![json.span.clone()];
            return self.push(place, path, text, spans, json.span.clone(), mark(&found));
        }
        if let Some(found) = read_any(self.shape.images, part) {
            return self.image(part, &found, place, path);
        }
        if let Some(found) = read_any(self.shape.calls, part) {
            return self.call(part, &found, place, &path);
        }
        if let Some(found) = read_any(self.shape.results, part) {
            return self.result(part, &found, place, &path);
        }
        // Texts in lists are plain texts to some programs.
        match part.as_text() {
            Some(text) => {
                self.push(place, path, text.clone(), vec![part.span.clone()], part.span.clone(), None);
            }
            None => self.other(part, place, path),
        }
    }

    fn push(
        &mut self,
        place: &Place,
        path: String,
        text: Arc<str>,
        texts: Vec<Range<usize>>,
        span: Range<usize>,
        mark: Option<Mark>,
    ) {
        self.items.push(Item {
            kind: place.kind,
            zone: place.zone,
            role: place.role.clone(),
            name: "".into(),
            tool: "".into(),
            call: None,
            message: place.message,
            path,
            text,
            texts,
            span,
            mark,
        });
    }

    fn image(&mut self, json: &Json, found: &Found<'_>, place: &Place, path: String) {
        let place = Place { kind: ItemKind::Image, ..place.clone() };
        let mark = mark(found);
        match found.get(Hole::Url) {
            Some(url) => {
                let text = url.as_text().cloned().unwrap_or_default();
                self.push(&place, path, text, vec![url.span.clone()], url.span.clone(), mark);
            }
            None => {
                let url = format!("data:{};base64,{}", found.text(Hole::MediaType), found.text(Hole::Data));
                self.push(&place, path, url.into(), Vec::new(), json.span.clone(), mark);
            }
        }
        let name = json.get("type").and_then(Json::as_text).cloned();
        let name = name.or_else(|| json.members().first().map(|member| member.key.clone()));
        if let (Some(item), Some(name)) = (self.items.last_mut(), name) {
            item.name = name;
        }
    }

    fn other(&mut self, json: &Json, place: &Place, path: String) {
        let name = json.get("type").and_then(Json::as_text).cloned();
        let name = name.or_else(|| json.get("thought").map(|_| "thought".into()));
        let name = name.or_else(|| json.members().first().map(|member| member.key.clone()));
        let kind = ItemKind::Other;
        self.push(&Place { kind, ..place.clone() }, path, "".into(), Vec::new(), json.span.clone(), None);
        if let (Some(item), Some(name)) = (self.items.last_mut(), name) {
            item.name = name;
            item.mark = json.get("cache_control").filter(|json| !json.is_null()).map(|control| Mark {
                ttl: control.get("ttl").and_then(Json::as_text).and_then(|text| life(text)),
            });
        }
    }

    fn call(&mut self, json: &Json, found: &Found<'_>, place: &Place, path: &str) {
        let number = self.calls.len() + 1;
        let id: Name = match found.text(Hole::Id) {
            "" => format!("call {number}").into(),
            id => id.into(),
        };
        let tool: Name = found.text(Hole::Name).into();
        let (text, texts, span) = match found.get(Hole::Arguments) {
            Some(json) => match json.as_text() {
                Some(text) => (text.clone(), vec![json.span.clone()], json.span.clone()),
                None => (json.compact(self.text).into(), Vec::new(), json.span.clone()),
            },
            None => ("{}".into(), Vec::new(), json.span.clone()),
        };
        self.calls.push(Called { id: id.clone(), tool: tool.clone(), answered: false });
        let role = if place.role.is_empty() { self.shape.assistant.into() } else { place.role.clone() };
        self.items.push(Item {
            kind: ItemKind::ToolUse,
            zone: Zone::Messages,
            role,
            name: id,
            tool,
            call: Some(number),
            message: place.message,
            path: path.to_owned(),
            text,
            texts,
            span,
            mark: mark(found),
        });
    }

    fn result(&mut self, json: &Json, found: &Found<'_>, place: &Place, path: &str) {
        let (id, named) = (found.text(Hole::Id), found.text(Hole::Name));
        let by_id = self.calls.iter().position(|call| !id.is_empty() && *call.id == *id);
        // Without ids, and where only results have them, results come in the order of the calls of their tool.
        let at = by_id.or_else(|| {
            let free = |call: &Called| !call.answered && *call.tool == *named && !named.is_empty();
            self.calls.iter().position(free)
        });
        let (id, tool) = match at {
            Some(at) => {
                self.calls[at].answered = true;
                (self.calls[at].id.clone(), self.calls[at].tool.clone())
            }
            None => (id.into(), named.into()),
        };
        let mut item = Item {
            kind: ItemKind::ToolResult,
            zone: Zone::Messages,
            role: if place.role.is_empty() { "tool".into() } else { place.role.clone() },
            name: id,
            tool,
            call: at.map(|at| at + 1),
            message: place.message,
            path: path.to_owned(),
            text: "".into(),
            texts: Vec::new(),
            span: json.span.clone(),
            mark: mark(found),
        };
        let mut others = Vec::new();
        match found.get(Hole::Content) {
            Some(content) if matches!(content.kind, Kind::Map(_)) => self.result_map(content, &mut item),
            Some(content) => {
                let one = std::slice::from_ref(content);
                let parts = if matches!(content.kind, Kind::List(_)) { content.items() } else { one };
                let mut text = String::new();
                for part in parts.iter().filter(|part| !part.is_null()) {
                    let found = read_any(self.shape.texts, part);
                    match found.as_ref().and_then(|found| found.get(Hole::Text)).unwrap_or(part) {
                        Json { kind: Kind::Text(part), span } => {
                            text.push_str(part);
                            item.texts.push(span.clone());
                        }
                        other => others.push(other),
                    }
                }
                if let [one] = item.texts.as_slice() {
                    item.span = one.clone();
                }
                item.text = text.into();
            }
            None => {}
        }
        let place = Place { role: item.role.clone(), ..place.clone() };
        self.items.push(item);
        for other in others {
            self.other(other, &place, path.to_owned());
        }
    }

    /// A result that is a map: its only text, or all of it as JSON.
    fn result_map(&self, content: &Json, item: &mut Item) {
        match content.members() {
            [only]
                if matches!(&*only.key, "output" | "result" | "content" | "error")
                    && only.value.as_text().is_some() =>
            {
                item.text = only.value.as_text().cloned().unwrap_or_default();
                item.texts = vec![only.value.span.clone()];
                item.span = only.value.span.clone();
            }
            _ => {
                item.text = content.compact(self.text).into();
                item.span = content.span.clone();
            }
        }
    }
}
