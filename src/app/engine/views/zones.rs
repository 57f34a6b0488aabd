//! What a call reads, writes and pays again, model by model.

use std::ops::Range;
use std::sync::Arc;

use crate::app::engine::numbers::{Counters, Numbers, paid, with_labels};
use crate::app::engine::publish::verdict::spot;
use crate::app::engine::publish::{self, one_line};
use crate::app::snapshot::{Lost, Tone};
use crate::app::views::{
    FixRow, ZoneBlame, ZoneFixes, ZoneLane, ZonePart, ZonePreview, ZoneStored, ZonesView,
};
use crate::core::cache::{Blame, Family, Labels, Measures, Model, Models, Outcome, Verdict, What};
use crate::core::fact::{EventId, Name};
use crate::core::fix::Search;
use crate::core::run::{Player, Session};
use crate::core::text::number::Thousands;
use crate::core::tokens::{Measure, Method};
use crate::core::wire::{Block, BlockKind, CallNo, MessageId, Request, Zone};

/// How many characters of a value are shown.
const VALUE: usize = 48;
/// How many of the differences behind the first are told.
const BEHIND: usize = 3;

/// What the view is made of.
pub struct Asked<'a> {
    /// The run, played to its end.
    pub player: &'a Player,
    /// What came of its calls in each lane; none while that is being worked out.
    pub numbers: Option<&'a Numbers>,
    /// The models of the lanes behind the first.
    pub beside: &'a [Name],
    /// All models.
    pub models: &'a Models,
    /// The call.
    pub call: CallNo,
    /// The call that waits: those from here on are forecast.
    pub waits: CallNo,
    /// What was tried so far; none where nothing is tried.
    pub fixes: Option<&'a Search>,
    /// What is tried out now.
    pub preview: Option<ZonePreview>,
}

/// The view; none where there is no such call.
pub fn zones(asked: &Asked<'_>, counters: &mut Counters) -> Option<ZonesView> {
    let session = asked.player.session();
    let record = publish::record(session, asked.call)?;
    let request = session.request(asked.call)?;
    let bench = session.bench();
    let tiles = tiles(session, &request);
    let calls: Vec<CallNo> = session
        .calls()
        .iter()
        .map(|call| call.call)
        .chain(session.prepared().map(|call| call.call))
        .collect();
    let models: Vec<Name> =
        std::iter::once(record.model.clone()).chain(asked.beside.iter().cloned()).collect();
    let lanes: Vec<ZoneLane> = with_labels(session, |labels| {
        let lane = |(index, id): (usize, &Name)| {
            let model = asked.models.get(id);
            lane(asked, &request, &model, index, &tiles, &calls, labels, counters)
        };
        models.iter().enumerate().map(lane).collect()
    });
    let first = asked.numbers.and_then(|numbers| numbers.outcome(asked.call, 0));
    let blame = first.and_then(|first| Some((first, first.blame.as_ref()?)));
    let before = publish::before(session, record).map(|before| before.call);
    Some(ZonesView {
        call: asked.call,
        turn: record.turn,
        agent: publish::sub_agent(bench, &record.agent),
        forecast: asked.call >= asked.waits,
        parts: tiles.into_iter().map(|tile| tile.part).collect(),
        lanes,
        blame: blame.map(|(outcome, blame)| blamed(session, record.turn, outcome, blame)),
        see: first.zip(before).and_then(|(first, before)| stored(session, first, before)),
        calls,
        preview: asked.preview.clone(),
    })
}

/// A part of the request, with where it lies.
struct Tile {
    part: ZonePart,
    /// Of the blocks.
    blocks: Range<usize>,
    /// The end in the last of them, for a part that ends inside of a block.
    end: Option<usize>,
}

fn tiles(session: &Session, request: &Request) -> Vec<Tile> {
    let bench = session.bench();
    let mut tiles: Vec<Tile> = Vec::new();
    let mut message: Option<Option<MessageId>> = None;
    for (index, block) in request.blocks.iter().enumerate() {
        match block.kind.zone() {
            Zone::Tools => match tiles.last_mut() {
                Some(tile) => tile.blocks.end = index + 1,
                None => tiles.push(Tile {
                    part: ZonePart { label: "tools".into(), short: "tools".into() },
                    blocks: index..index + 1,
                    end: None,
                }),
            },
            Zone::System => {
                let parts = block.text.parts();
                let last = parts.len().saturating_sub(1);
                for (at, part) in parts.iter().enumerate() {
                    let shown = publish::shown_name(bench, &part.id);
                    // Keys often begin with a number that says nothing in a narrow cell.
                    let short = shown.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
                    let short = if short.is_empty() { &*shown } else { short };
                    tiles.push(Tile {
                        part: ZonePart { label: (&*shown).into(), short: short.into() },
                        blocks: index..index + 1,
                        end: (at < last).then_some(part.end),
                    });
                }
            }
            Zone::Messages => {
                if message == Some(block.message)
                    && block.message.is_some()
                    && let Some(tile) = tiles.last_mut()
                {
                    tile.blocks.end = index + 1;
                    continue;
                }
                message = Some(block.message);
                let number = block.message.map_or(0, |message| message.0);
                let label = format!("message {number}: {}", says(request, index));
                tiles.push(Tile {
                    part: ZonePart { label: label.into(), short: format!("m{number}").into() },
                    blocks: index..index + 1,
                    end: None,
                });
            }
        }
    }
    tiles
}

/// What a message is, in a word or two.
fn says(request: &Request, at: usize) -> String {
    let block = &request.blocks[at];
    match block.kind {
        BlockKind::ToolUse => format!("calls {}", block.tool.as_deref().unwrap_or_default()),
        BlockKind::ToolResult => {
            let called = |other: &&Arc<Block>| other.kind == BlockKind::ToolUse && other.name == block.name;
            let tool = request.blocks[..at].iter().rev().find(called).and_then(|call| call.tool.clone());
            tool.map_or_else(|| "result".to_owned(), |tool| format!("{tool} result"))
        }
        BlockKind::Assistant => "model".to_owned(),
        _ => block.name.to_string(),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "all of it is what a lane is made of, and nobody else calls it"
)]
fn lane(
    asked: &Asked<'_>,
    request: &Request,
    model: &Model,
    index: usize,
    tiles: &[Tile],
    calls: &[CallNo],
    labels: &Labels<'_>,
    counters: &mut Counters,
) -> ZoneLane {
    let outcome = asked.numbers.and_then(|numbers| numbers.outcome(asked.call, index));
    let (mut ends, mut broken) = (Vec::new(), None);
    if let (Some(encoding), Some(outcome)) = (model.method.encoding(), outcome) {
        let mut measure = model.method.measure(counters.of(encoding));
        ends = running(request, tiles, &mut measure);
        broken = outcome.blame.as_ref().map(|blame| {
            let (block, byte) = locate(request, blame);
            let before: u32 = request.blocks[..block].iter().map(|block| block.tokens(&mut measure)).sum();
            let inside = request.blocks.get(block).filter(|_| byte > 0);
            before + inside.map_or(0, |block| block.tokens_before(byte, &mut measure))
        });
    }
    let lost = |call: &CallNo| {
        let outcome = asked.numbers.and_then(|numbers| numbers.outcome(*call, index));
        outcome.map_or_else(|| Lost::Unknown("".into()), |outcome| paid(outcome).lost)
    };
    let strip: Vec<Lost> = calls.iter().map(lost).collect();
    let total = asked.numbers.map(|numbers| numbers.totals(index)).filter(|totals| totals.unknown == 0);
    let written = outcome.map_or(0, |outcome| outcome.lost().unwrap_or(0).min(outcome.write().unwrap_or(0)));
    let unread = asked.numbers.map_or(0, |numbers| {
        let unread = numbers.never_read(index).into_iter();
        // The last call can have no reader yet.
        let last = numbers.calls() as u32;
        let own = unread.filter(|unread| unread.call == asked.call && unread.call.0 < last);
        own.map(|unread| unread.tokens).sum()
    });
    let behind = outcome.map_or(&[][..], |outcome| &outcome.behind);
    ZoneLane {
        model: model.id.clone(),
        short: model.short().into(),
        method: method(model).into(),
        estimate: outcome.is_some_and(|outcome| outcome.estimate),
        ends,
        broken,
        paid: outcome.map(paid),
        lost_written: u64::from(written),
        cost: cost(outcome, model).into(),
        says: outcome.map(|outcome| said(outcome, model, unread, labels)).unwrap_or_default(),
        strip,
        total: total.map(|totals| {
            let about = if totals.estimates > 0 && totals.lost > 0 { "~" } else { "" };
            format!("{about}{}", Thousands(totals.lost)).into()
        }),
        behind: behind
            .iter()
            .filter(|behind| behind.still_lost > 0)
            .take(BEHIND)
            .map(|behind| {
                let still = outcome.map_or_else(String::new, |outcome| outcome.n(behind.still_lost));
                let clause = behind.blame.clause(labels);
                let words = format!(
                    "{clause}; with only what is in front of it fixed, {} still loses {still} here",
                    model.short()
                );
                (words.into(), spot(asked.call, &behind.blame))
            })
            .collect(),
        fixes: asked
            .fixes
            .map(|search| offered(search, index, asked.player.was_rebenched()))
            .unwrap_or_default(),
    }
}

/// What a search has found for a lane; `changed` is true where the bench became another one in the middle of the run.
fn offered(search: &Search, lane: usize, changed: bool) -> ZoneFixes {
    let offers = search.offers(lane).into_iter();
    let whole = search.base(lane).filter(|_| changed);
    ZoneFixes {
        rows: offers.map(|offer| FixRow { fix: offer.fix.clone(), worth: offer.worth.into() }).collect(),
        tried: search.progress(),
        whole: whole.map(|sum| sum.lost_words().into()),
    }
}

/// Tokens up to the end of each part.
fn running(request: &Request, tiles: &[Tile], measure: &mut dyn Measure) -> Vec<u32> {
    let mut sum = 0;
    let mut ends = Vec::with_capacity(tiles.len());
    for tile in tiles {
        let last = &request.blocks[tile.blocks.end - 1];
        match tile.end {
            Some(end) => ends.push(sum + last.tokens_before(end, measure)),
            None => {
                let blocks = &request.blocks[tile.blocks.clone()];
                sum += blocks.iter().map(|block| block.tokens(measure)).sum::<u32>();
                ends.push(sum);
            }
        }
    }
    ends
}

/// The block and the byte in it at which a difference begins.
fn locate(request: &Request, blame: &Blame) -> (usize, usize) {
    let blocks = &request.blocks;
    let end = blame.block.min(blocks.len());
    let mut before = 0;
    for block in blocks[..end].iter().rev() {
        let same = match blame.zone {
            Zone::Messages => block.message == blame.message && block.kind.zone() == blame.zone,
            zone => block.kind.zone() == zone,
        };
        if !same {
            break;
        }
        before += block.text.len();
    }
    let inside = blame.byte.saturating_sub(before);
    let len = blocks.get(end).map_or(0, |block| block.text.len());
    (end, inside.min(len))
}

fn method(model: &Model) -> String {
    match &model.method {
        Method::Exact { .. } => "exact".to_owned(),
        Method::Estimate { factor, .. } if (*factor - 1.0).abs() > f64::EPSILON => {
            format!("~ estimate x{factor}")
        }
        Method::Estimate { .. } => "~ estimate".to_owned(),
        Method::Unknown { .. } => "n/a".to_owned(),
    }
}

fn cost(outcome: Option<&Outcome>, model: &Model) -> String {
    match outcome {
        None => String::new(),
        Some(outcome) => match outcome.cost {
            Some(cost) => format!("{}{cost}", if outcome.estimate { "~" } else { "" }),
            None if model.family.is_none() => format!("n/a: no cache rules for {}", model.short()),
            None => format!("n/a: no price for {}", model.short()),
        },
    }
}

/// The verdict on a lane, and what else there is to say.
fn said(outcome: &Outcome, model: &Model, unread: u32, labels: &Labels<'_>) -> Vec<(Arc<str>, Tone)> {
    let lost = outcome.lost().is_some_and(|lost| lost > 0);
    let tone = if lost || outcome.verdict.is_break() { Tone::Bad } else { Tone::Good };
    let head = format!("call {} ", outcome.call.0);
    let sentence = outcome.sentence(labels);
    let own = sentence.strip_prefix(&head).map_or(sentence.clone(), str::to_owned);
    let mut lines: Vec<(Arc<str>, Tone)> = Vec::new();
    let first = match outcome.blame.as_ref().filter(|_| outcome.verdict.is_break()) {
        // Who it was stands below, once for all models.
        Some(blame) => {
            let name = outcome.vendor_name().unwrap_or_default();
            format!("{}: {name}. {}", outcome.verdict, kept(outcome, blame, model))
        }
        None => own,
    };
    lines.push((first.into(), tone));
    if outcome.uncovered > 0 && outcome.verdict != Verdict::NotCached {
        let words = format!(
            "not cached: {} tokens behind the last mark, at full price in every call.",
            outcome.n(outcome.uncovered)
        );
        lines.push((words.into(), Tone::Plain));
    }
    if unread > 0 {
        let words = format!("never read: no later call reads the {} that it wrote.", outcome.n(unread));
        lines.push((words.into(), Tone::Plain));
    }
    let also: Vec<&str> = outcome.also.iter().map(|verdict| verdict.words()).collect();
    let also: Vec<&str> = also.into_iter().filter(|words| *words != Verdict::NotCached.words()).collect();
    if !also.is_empty() {
        lines.push((format!("also: {}.", also.join(", ")).into(), Tone::Plain));
    }
    if let Some(expected) = outcome.expected.as_ref().filter(|one| Some(one.read) != outcome.read()) {
        let lost = expected.lost.filter(|lost| *lost > 0);
        let lost = lost.map_or(String::new(), |lost| format!(", ~{} paid again", Thousands(lost)));
        let cost = expected.cost.map_or(String::new(), |cost| format!(", ~{cost}"));
        let words =
            format!("documented maximum; measured traffic reads ~{}{lost}{cost}.", Thousands(expected.read));
        lines.push((words.into(), Tone::Plain));
    } else if outcome.upper_bound {
        lines.push(("an upper bound: its vendor does not say how its cache works.".into(), Tone::Plain));
    }
    lines.extend(outcome.notes.iter().map(|note| (note.sentence().into(), Tone::Plain)));
    lines
}

/// What of the request is read although a part of it differs, and by which rule.
fn kept(outcome: &Outcome, blame: &Blame, model: &Model) -> String {
    let read = outcome.read().unwrap_or(0);
    let zones = match blame.zone {
        Zone::Tools => "",
        Zone::System => "Tools",
        Zone::Messages => "Tools and system",
    };
    match (&model.family, read) {
        (None, _) => "Nobody told us how its cache works.".to_owned(),
        (Some(Family::Marked(_)), 0) if outcome.lost() == Some(0) => {
            "Nothing was stored, so nothing is lost.".to_owned()
        }
        (Some(Family::Marked(_)), 0) => "No mark in front of it stores anything: all of it goes.".to_owned(),
        (Some(Family::Marked(_)), read) => {
            format!("The mark in front of it keeps {}.", outcome.n(read))
        }
        (Some(Family::Units(_)), 0) => {
            "No stored unit ends in front of it: the whole prompt is new.".to_owned()
        }
        (Some(_), 0) => "Too little stands in front of it to be kept.".to_owned(),
        (Some(_), read) if !zones.is_empty() && blame.what != What::Moved => {
            format!("{} in front of it are read: {} come first.", outcome.n(read), zones.to_lowercase())
        }
        (Some(_), read) => format!("{} in front of it are read.", outcome.n(read)),
    }
}

/// Who broke the prefix, in the words of the view.
fn blamed(session: &Session, turn: u32, outcome: &Outcome, blame: &Blame) -> ZoneBlame {
    let zone = match blame.zone {
        Zone::Tools => "tools".to_owned(),
        Zone::System => "system".to_owned(),
        Zone::Messages => {
            blame.message.map_or_else(|| "messages".to_owned(), |message| format!("message {}", message.0))
        }
    };
    let byte = Thousands(blame.byte);
    let mut place = format!("{zone}, byte {byte}");
    if let Some(written) = &blame.written {
        place.push_str(&match &written.expression {
            Some(expression) => format!(", {{{{{expression}}}}} at {}:{}", written.file, written.at),
            None => format!(", {}:{}", written.file, written.at),
        });
    }
    let value = |text: &str| one_line(&text.escape_debug().to_string(), VALUE);
    let (who, also) = with_labels(session, |labels| {
        let name = blame.who(labels);
        // Layers are called by their names alone; everything else says what it is.
        let layer = session.bench().layer(&blame.part).is_some() && !blame.whole_block;
        let mut who = if layer && blame.with_count == 0 { format!("layer {name}") } else { name };
        if !blame.facts.is_empty() {
            let facts: Vec<String> = blame.facts.iter().map(ToString::to_string).collect();
            who.push_str(&format!(", fact {}", facts.join(", ")));
        }
        let also: Vec<&str> = outcome.also.iter().map(|verdict| verdict.words()).collect();
        (who, also.join(", "))
    });
    place.push_str(&match blame.what {
        What::Changed if blame.separator => {
            format!("   separator \"{}\" -> \"{}\"", value(&blame.old), value(&blame.new))
        }
        What::Changed => format!("   \"{}\" -> \"{}\"", value(&blame.old), value(&blame.new)),
        What::Appeared => format!("   {who} appeared: \"{}\"", value(&blame.new)),
        What::Disappeared => format!("   {who} disappeared"),
        What::Moved => format!("   {who} moved"),
    });
    let when = blame.cause.filter(|cause| *cause != EventId::OPENING).map(|cause| {
        let event = session.event(cause);
        let then = publish::record(session, event.before).map_or(turn, |record| record.turn);
        if then == turn {
            event.label.to_string()
        } else {
            format!("{}, reached {zone} at turn {turn}", event.label)
        }
    });
    ZoneBlame {
        place: place.into(),
        short: format!("byte {byte} of {zone}").into(),
        who: who.into(),
        when: when.unwrap_or_default().into(),
        also: also.into(),
        at: spot(outcome.call, blame),
    }
}

/// The bytes of the first message that was not replayed as it was sent, of those in which a difference lies.
fn stored(session: &Session, outcome: &Outcome, before: CallNo) -> Option<ZoneStored> {
    let blames = outcome.blame.iter().chain(outcome.behind.iter().map(|behind| &behind.blame));
    let messages: Vec<MessageId> = blames.filter_map(|blame| blame.message).collect();
    let ledger = session.ledger(before)?;
    let size = |blocks: &[Arc<Block>]| blocks.iter().map(|block| block.text.len() as u64).sum();
    let entry = ledger.entries.iter().find(|entry| messages.contains(&entry.message) && entry.differs())?;
    Some(ZoneStored {
        message: entry.message.0,
        bytes: [size(&entry.sent), size(&entry.persisted), size(&entry.replayed)],
    })
}
