//! A bench's request against a recorded body: the same to the byte, or where the first difference is and who wrote it.
//!
//! The recording's own spelling counts for nothing by itself: spacing, escapes, the ids of calls, whether one text
//! stands in a list. With the bench's texts in its places, the body is the recorded one to the byte exactly when
//! structure and decoded texts are the same, and that is what is compared. What a bench does not hold (pictures,
//! reasoning, settings) is left out and listed.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::align::{Pair, pairs};
use super::document::{Document, Item, ItemKind};
use super::lossless::Json;
use super::visible;
use super::{BlockKind, Request, Zone, tool_definition};
use crate::core::cache::Written;
use crate::core::diagnostic::Position;
use crate::core::diff;
use crate::core::fact::Name;
use crate::core::text::{Made, Traced};

/// How a request and a recording compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Equality {
    /// With the bench's texts in it, the recorded body is the same to the byte.
    ByteIdentical,
    /// The same texts and values; some JSON in them has another key order or spelling.
    OtherSerialisation,
    /// The same texts; the cache marks stand elsewhere.
    OtherMarks,
    /// Something else is said.
    Different,
}

/// The words that people see.
impl fmt::Display for Equality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Equality::ByteIdentical => "byte-identical",
            Equality::OtherSerialisation => "equal text, other serialisation",
            Equality::OtherMarks => "equal text, other cache marks",
            Equality::Different => "different",
        })
    }
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Differs {
    /// The text.
    Text,
    /// The JSON is the same, written in another way.
    Serialisation,
    /// The recording has a block that the bench does not build.
    Missing,
    /// The bench builds a block that the recording does not have.
    Extra,
    /// The same tools in another order.
    Order,
    /// The two are in one message here and in two there.
    Message,
    /// The result belongs to another call.
    Call,
    /// A cache mark.
    Mark,
}

/// Who wrote the bench's side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Author {
    /// The layer, or what stands for one: `user`, `model`, `tool Read`.
    pub part: Name,
    /// True where it is the separator in front of the part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub separator: bool,
    /// Where in a file it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// The fact that it was made from, where no file and line can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// Where something is missing right behind another part: that part, which could be meant as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Box<Author>>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What differs.
    pub what: Differs,
    /// The zone.
    pub zone: Zone,
    /// What it is in: `system`, `tool Read`, `message 4, result of Read`.
    pub block: String,
    /// The first byte that differs, in the bench's decoded text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<usize>,
    /// Where it is in the recorded body: `messages[2].content[0]`; for what only the bench has, what it stands before.
    pub path: String,
    /// The line and column in the file of the recorded body.
    pub at: Position,
    /// Who wrote the bench's side; none where the bench has nothing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// What was done, where that can be said in a few words: `a space is missing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The recorded text around the difference, with everything invisible made visible.
    pub recorded: String,
    /// The bench's.
    pub bench: String,
}

impl Author {
    /// `00_base {{cwd}} prompt.md:9:6`. `shown` gives what screens call a layer, by its id.
    #[must_use]
    pub fn sentence(&self, shown: &dyn Fn(&str) -> String) -> String {
        let mut text = if self.separator { "the separator before ".to_owned() } else { String::new() };
        text.push_str(&shown(&self.part));
        if let Some(written) = &self.written {
            text.push_str(&format!(" {written}"));
        } else if let Some(fact) = &self.fact {
            text.push_str(&format!(" (from {fact})"));
        }
        if let Some(behind) = &self.behind {
            if behind.separator && behind.part == self.part {
                return format!("{text}, or the separator before it");
            }
            text.push_str(&format!(", or the end of {}", behind.sentence(shown)));
        }
        text
    }
}

impl Difference {
    /// One sentence, lower case, without a full stop: `system byte 386, 00_base {{cwd}} prompt.md:9:6: a space is
    /// missing`. `shown` gives what screens call a layer, by its id.
    #[must_use]
    pub fn sentence(&self, shown: &dyn Fn(&str) -> String) -> String {
        let mut text = self.block.clone();
        if let Some(byte) = self.byte {
            text.push_str(&format!(" byte {byte}"));
        }
        if let Some(author) = &self.author {
            text.push_str(&format!(", {}", author.sentence(shown)));
        }
        text.push_str(match (self.what, &self.change) {
            (_, Some(change)) => return format!("{text}: {change}"),
            (Differs::Text, None) => ": other text",
            (Differs::Serialisation, None) => ": equal JSON, other serialisation",
            (Differs::Missing, None) => ": only the recording has it",
            (Differs::Extra, None) => ": only the bench has it",
            (Differs::Order, None) => ": other order",
            (Differs::Message, None) => ": other messages",
            (Differs::Call, None) => ": the result of another call",
            (Differs::Mark, None) => ": other cache mark",
        });
        text
    }
}

/// A request against a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The verdict.
    pub equality: Equality,
    /// All differences, in the provider's order.
    pub differences: Vec<Difference>,
    /// How many blocks of the recording were compared.
    pub compared: usize,
    /// The length in bytes of the recorded body.
    pub bytes: usize,
    /// What was not compared, since a bench does not hold it: `image at messages[0].content[1]`.
    pub left_out: Vec<String>,
}

/// One block of the bench, as the format has it.
struct Built<'r> {
    kind: ItemKind,
    role: Name,
    name: &'r str,
    tool: &'r str,
    call: Option<usize>,
    message: Option<u32>,
    text: Arc<str>,
    traced: &'r Traced,
    mark: Option<u32>,
}

/// Compares a request with a recorded body, in the recording's format.
#[must_use]
pub fn compare(request: &Request, recorded: &Document) -> Comparison {
    let shape = recorded.format.shape();
    let images = request.has_images();
    let mut comparer = Comparer { recorded, images, differences: Vec::new(), compared: 0 };
    let mut left_out = Vec::new();
    let built = build(request, recorded);
    for zone in recorded.format.order() {
        let theirs: Vec<&Item> = recorded.zone(zone).filter(|item| comparer.compares(item)).collect();
        let ours: Vec<&Built<'_>> =
            built.iter().filter(|(of, _)| *of == zone).map(|(_, built)| built).collect();
        left_out.extend(recorded.zone(zone).filter(|item| !comparer.compares(item)).map(|item| {
            format!("{} at {}", if item.name.is_empty() { "a part" } else { &item.name }, item.path)
        }));
        comparer.zone(zone, &theirs, &ours);
    }
    if shape.marks && comparer.differences.iter().all(|difference| difference.what == Differs::Serialisation)
    {
        comparer.marks(&built);
    }
    let equality = comparer
        .differences
        .iter()
        .map(|difference| match difference.what {
            Differs::Serialisation => Equality::OtherSerialisation,
            Differs::Mark => Equality::OtherMarks,
            _ => Equality::Different,
        })
        .max()
        .unwrap_or(Equality::ByteIdentical);
    Comparison {
        equality,
        differences: comparer.differences,
        compared: comparer.compared,
        bytes: recorded.body.len(),
        left_out,
    }
}

/// The blocks of a request in the terms of a recording.
fn build<'r>(request: &'r Request, recorded: &Document) -> Vec<(Zone, Built<'r>)> {
    let shape = recorded.format.shape();
    let mut calls: Vec<&str> = Vec::new();
    let mut leading = shape.leading_system;
    let mut built = Vec::new();
    for (index, block) in request.blocks.iter().enumerate() {
        let mut zone = block.kind.zone();
        let role = shape.role(block.kind, &block.name);
        let (mut kind, mut call) = (ItemKind::User, None);
        leading &= zone != Zone::Messages || matches!(role, "system" | "developer");
        match block.kind {
            BlockKind::Tool => kind = ItemKind::Tool,
            BlockKind::System => kind = ItemKind::System,
            BlockKind::User if leading => (kind, zone) = (ItemKind::System, Zone::System),
            BlockKind::User => {}
            BlockKind::Image => kind = ItemKind::Image,
            BlockKind::Assistant => kind = ItemKind::Assistant,
            BlockKind::ToolUse => {
                kind = ItemKind::ToolUse;
                calls.push(&block.name);
                call = Some(calls.len());
            }
            BlockKind::ToolResult => {
                kind = ItemKind::ToolResult;
                call = calls.iter().position(|id| **id == *block.name).map(|at| at + 1);
            }
        }
        let text = match block.kind {
            BlockKind::Tool => tool_definition(block.text.text(), recorded.format).into(),
            _ => block.text.text().clone(),
        };
        built.push((
            zone,
            Built {
                kind,
                role: role.into(),
                name: &block.name,
                tool: block.tool.as_deref().unwrap_or_default(),
                call,
                message: block.message.map(|id| id.0),
                text,
                traced: &block.text,
                mark: request.marks.iter().find(|mark| mark.block == index).map(|mark| mark.ttl),
            },
        ));
    }
    built
}

struct Comparer<'d> {
    recorded: &'d Document,
    /// Whether images are compared: a bench that shows none was made without them, and they are left out.
    images: bool,
    differences: Vec<Difference>,
    compared: usize,
}

/// What has to be the same before texts are compared at all.
fn alike(theirs: &Item, ours: &Built<'_>) -> bool {
    // System and developer are the same voice to every provider that has both.
    let voice = |role: &str| if role == "developer" { "system".to_owned() } else { role.to_owned() };
    theirs.kind == ours.kind
        && match theirs.kind {
            ItemKind::Tool => *theirs.name == *ours.name,
            ItemKind::ToolUse => *theirs.tool == *ours.tool,
            ItemKind::User | ItemKind::Image => voice(&theirs.role) == voice(&ours.role),
            _ => true,
        }
}

/// JSON without white space; anything else as it is.
fn canonical(text: &str) -> String {
    Json::parse(text).map_or_else(|_| text.to_owned(), |json| json.compact(text))
}

fn same(theirs: &Item, ours: &Built<'_>) -> bool {
    *theirs.text == *ours.text
        // Where JSON stands in a body as JSON, its white space is the body's.
        || theirs.texts.is_empty() && !theirs.text.is_empty() && *theirs.text == canonical(&ours.text)
}

/// True for two spellings of one JSON value, keys in any order.
fn same_value(a: &str, b: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    parse(a).is_some_and(|a| parse(b).is_some_and(|b| a == b))
}

impl Comparer<'_> {
    fn zone(&mut self, zone: Zone, theirs: &[&Item], ours: &[&Built<'_>]) {
        if zone == Zone::Tools && self.reordered(theirs, ours) {
            return;
        }
        let (mut last_theirs, mut last_ours): (Option<&Item>, Option<&Built<'_>>) = (None, None);
        let paired = pairs(theirs.len(), ours.len(), &|i, j| alike(theirs[i], ours[j]), &|i, j| {
            same(theirs[i], ours[j])
        });
        for pair in paired {
            match pair {
                Pair::Both(i, j) => {
                    self.compared += 1;
                    self.pair(zone, theirs[i], ours[j]);
                    self.boundary(zone, (last_theirs, theirs[i]), (last_ours, ours[j]));
                    (last_theirs, last_ours) = (Some(theirs[i]), Some(ours[j]));
                }
                Pair::Theirs(i) => {
                    self.compared += 1;
                    let item = theirs[i];
                    let shown = visible::start(&item.text);
                    self.push(
                        zone,
                        Differs::Missing,
                        self.recorded_name(item),
                        item,
                        None,
                        shown,
                        String::new(),
                    );
                    last_theirs = Some(item);
                }
                Pair::Ours(i, j) => {
                    let built = ours[j];
                    let author = author(built.traced, 0);
                    let before = theirs.get(i).or(theirs.last()).copied();
                    let (path, at) = self.place(before);
                    self.differences.push(Difference {
                        what: Differs::Extra,
                        zone,
                        block: self.bench_name(zone, built, ours.len()),
                        byte: None,
                        path,
                        at,
                        author,
                        change: None,
                        recorded: String::new(),
                        bench: visible::start(&built.text),
                    });
                    last_ours = Some(built);
                }
            }
        }
    }

    /// The same tools in another order: told once, with the first that stands elsewhere; texts by name.
    fn reordered(&mut self, theirs: &[&Item], ours: &[&Built<'_>]) -> bool {
        let names = |sorted: &mut Vec<String>| sorted.sort();
        let mut a: Vec<String> = theirs.iter().map(|item| item.name.to_string()).collect();
        let mut b: Vec<String> = ours.iter().map(|built| built.name.to_owned()).collect();
        let first = a.iter().zip(&b).position(|(a, b)| a != b);
        names(&mut a);
        names(&mut b);
        let (Some(first), true) = (first, a == b) else { return false };
        let (item, built) = (theirs[first], ours[first]);
        self.push(
            Zone::Tools,
            Differs::Order,
            format!("tool {}", first + 1),
            item,
            author(built.traced, 0),
            item.name.to_string(),
            built.name.to_owned(),
        );
        for item in theirs {
            if let Some(built) = ours.iter().find(|built| *built.name == *item.name) {
                self.compared += 1;
                self.pair(Zone::Tools, item, built);
            }
        }
        true
    }

    fn pair(&mut self, zone: Zone, item: &Item, built: &Built<'_>) {
        if item.call != built.call && item.kind == ItemKind::ToolResult {
            let call = |call: Option<usize>| {
                call.map_or_else(|| "no call".to_owned(), |call| format!("call number {call}"))
            };
            let block = self.bench_name(zone, built, 1);
            let author = author(built.traced, 0);
            self.push(zone, Differs::Call, block, item, author, call(item.call), call(built.call));
        }
        if same(item, built) {
            return;
        }
        let json = matches!(item.kind, ItemKind::Tool | ItemKind::ToolUse);
        let ours: Arc<str> =
            if item.texts.is_empty() { canonical(&built.text).into() } else { built.text.clone() };
        let what = if json && same_value(&item.text, &ours) { Differs::Serialisation } else { Differs::Text };
        let byte = diff::first_difference(&item.text, &ours).unwrap_or(0);
        let (recorded, bench) = visible::both(&item.text, &ours);
        let one_system = self.recorded.zone(Zone::System).count();
        let block = self.bench_name(zone, built, one_system);
        // Only where the bench's own bytes were compared do they have an author each.
        let own = ours == *built.traced.text();
        let author = if own { author(built.traced, byte) } else { author(built.traced, 0) };
        // Where bytes are only missing, it may be the end of the part before that lacks them.
        let (_, lacking) = diff::differing(&item.text, &ours);
        let author = author.map(|mut author| {
            if !own || !lacking.is_empty() || byte == ours.len() {
                author.behind = None;
            }
            author
        });
        let change = visible::change(&item.text, &ours);
        self.push(zone, what, block, item, author, recorded, bench);
        if let Some(difference) = self.differences.last_mut() {
            difference.byte = Some(byte);
            difference.change = change;
            difference.at = self.recorded.position_in(item, byte);
        }
    }

    /// Whether two blocks of one voice that follow one another are one message.
    fn boundary(
        &mut self,
        zone: Zone,
        (before, item): (Option<&Item>, &Item),
        (last, built): (Option<&Built<'_>>, &Built<'_>),
    ) {
        if self.recorded.format.merges()
            || zone != Zone::Messages
            || !matches!(item.kind, ItemKind::User | ItemKind::Assistant)
        {
            return;
        }
        let (Some(before), Some(last)) = (before, last) else { return };
        if before.kind != item.kind || last.kind != built.kind || before.role != item.role {
            return;
        }
        let (theirs, ours) = (before.message == item.message, last.message == built.message);
        if theirs != ours {
            let say =
                |one: bool| if one { "in one message with the text before" } else { "a message of its own" };
            let block = self.bench_name(zone, built, 1);
            let author = author(built.traced, 0);
            self.push(zone, Differs::Message, block, item, author, say(theirs).into(), say(ours).into());
        }
    }

    /// True for what a bench can say; the rest is carried along.
    fn compares(&self, item: &Item) -> bool {
        item.kind != ItemKind::Other && (self.images || item.kind != ItemKind::Image)
    }

    /// The cache marks, where everything else is the same.
    fn marks(&mut self, built: &[(Zone, Built<'_>)]) {
        let items: Vec<&Item> = self.recorded.items.iter().filter(|item| self.compares(item)).collect();
        for (item, (zone, built)) in items.into_iter().zip(built) {
            let theirs = item.mark.map(|mark| mark.ttl.unwrap_or(300));
            // Only two lives can be written.
            let ours = built.mark.map(|ttl| if ttl > 300 { 3600 } else { 300 });
            if theirs != ours {
                let say = |mark: Option<u32>| match mark {
                    None => "no mark".to_owned(),
                    Some(ttl) if ttl > 300 => "a mark for 1h".to_owned(),
                    Some(_) => "a mark for 5m".to_owned(),
                };
                let systems = self.recorded.zone(Zone::System).count();
                let block = self.bench_name(*zone, built, systems);
                self.push(*zone, Differs::Mark, block, item, None, say(theirs), say(ours));
            }
        }
        let carried: Vec<&Item> = self.recorded.items.iter().filter(|item| !self.compares(item)).collect();
        for item in carried.into_iter().filter(|item| item.mark.is_some()) {
            let block = self.recorded_name(item);
            let recorded = "a mark behind it".to_owned();
            self.push(item.zone, Differs::Mark, block, item, None, recorded, "no such block".to_owned());
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the difference")]
    fn push(
        &mut self,
        zone: Zone,
        what: Differs,
        block: String,
        item: &Item,
        author: Option<Author>,
        recorded: String,
        bench: String,
    ) {
        let (path, at) = self.place(Some(item));
        let difference =
            Difference { what, zone, block, byte: None, path, at, author, change: None, recorded, bench };
        self.differences.push(difference);
    }

    fn place(&self, item: Option<&Item>) -> (String, Position) {
        match item {
            Some(item) => (item.path.clone(), Position::of(self.recorded.text(), item.span.start)),
            None => (String::new(), Position::of(self.recorded.text(), self.recorded.body.start)),
        }
    }

    fn recorded_name(&self, item: &Item) -> String {
        match item.kind {
            ItemKind::Tool => format!("tool {}", item.name),
            ItemKind::System => "system".to_owned(),
            ItemKind::ToolUse => format!("call of {}", item.tool),
            ItemKind::ToolResult => format!("result of {}", item.tool),
            ItemKind::Other => item.name.to_string(),
            ItemKind::Image => format!("image of the {}", item.role),
            ItemKind::User | ItemKind::Assistant => format!("text of the {}", item.role),
        }
    }

    /// What the bench's side is called.
    fn bench_name(&self, zone: Zone, built: &Built<'_>, systems: usize) -> String {
        let message = built.message.map_or_else(String::new, |id| format!("message {id}"));
        match (zone, built.kind) {
            (Zone::Tools, _) => format!("tool {}", built.name),
            (Zone::System, _) if systems < 2 || built.name.is_empty() => "system".to_owned(),
            (Zone::System, _) => format!("system block {}", built.name),
            (_, ItemKind::ToolUse) => format!("{message}, call of {}", built.tool),
            (_, ItemKind::ToolResult) => format!("{message}, result of {}", built.tool),
            (_, ItemKind::Assistant) => format!("{message}, the model's text"),
            (_, ItemKind::Image) => format!("{message}, image"),
            _ => message,
        }
    }
}

/// Who wrote a byte; behind the last byte, who wrote that.
fn author(text: &Traced, byte: usize) -> Option<Author> {
    let at = byte.min(text.len().checked_sub(1)?);
    let mut author = one(text, at)?;
    // The first byte of a part: what is missing there may be the end of the one before.
    if byte == at
        && let Some(part) = text.part_at(at)
        && (part.start == at || part.body == at)
        && at > 0
    {
        author.behind = one(text, at - 1).map(Box::new);
    }
    Some(author)
}

fn one(text: &Traced, at: usize) -> Option<Author> {
    let (range, span) = text.span_at(at)?;
    let written = Written::of(&span.origin, at - range.start);
    let fact = match &span.origin.made {
        Made::Fact { key, .. } if written.is_none() => Some(key.to_string()),
        _ => None,
    };
    Some(Author { part: span.origin.part.clone(), separator: span.glue, written, fact, behind: None })
}
