//! Calls of a log, in order, into what an audit says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::call::{Call, Found};
use super::conversation::Conversation;
use super::matched::Layers;
use super::reader::Exchange;
use super::usage::Reported;
use crate::core::cache::{
    Blame, Family, Lane, Measures, Model, Models, Money, Outcome, Simulator, Verdict, What,
};
use crate::core::fact::Name;
use crate::core::tokens::Method;
use crate::core::wire::{Block, CallNo, Format, Params, Request, Zone, redact};

/// A shorter text stands elsewhere by chance, in bytes.
const MOVED: usize = 24;
/// The most conversations that are kept to be gone on with.
const CONVERSATIONS: usize = 256;

/// Judges the calls of a log, in order.
pub struct Judge {
    models: Arc<Models>,
    others: Vec<Name>,
    simulator: Simulator,
    /// The latest first.
    conversations: Vec<Conversation>,
    /// How many conversations there were, of each session.
    sessions: BTreeMap<Name, u32>,
    nameless: u32,
    layers: Option<Layers>,
    calls: u32,
    last_at: i64,
    /// The bytes of text that the simulator was given, and how many make it forget.
    given: usize,
    memory: usize,
    /// How often it forgot.
    forgotten: u32,
    tuned: BTreeMap<Name, Calibration>,
}

/// How a provider's tokens relate to those that are counted for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Calls with both.
    pub calls: u64,
    /// Tokens that the provider reported.
    pub reported: u64,
    /// Tokens that were counted, in the vocabulary that is counted in.
    pub counted: u64,
    /// The smallest and the largest factor of a call.
    pub range: (f64, f64),
}

impl Calibration {
    /// The provider's tokens for each one that is counted.
    #[must_use]
    pub fn factor(&self) -> f64 {
        if self.counted == 0 { 0.0 } else { self.reported as f64 / self.counted as f64 }
    }
}

impl Judge {
    /// A judge for a log. `others` are models that every call is also played with; `memory` bounds the bytes of text that
    /// are kept.
    #[must_use]
    pub fn new(models: Arc<Models>, others: Vec<Name>, layers: Option<Layers>, memory: usize) -> Judge {
        Judge {
            simulator: simulator(&models, &others),
            models,
            others,
            conversations: Vec::new(),
            sessions: BTreeMap::new(),
            nameless: 0,
            layers,
            calls: 0,
            last_at: 0,
            given: 0,
            memory: memory.max(1 << 20),
            forgotten: 0,
            tuned: BTreeMap::new(),
        }
    }

    /// Bounds the memory by less than is sensible.
    #[cfg(test)]
    pub(super) fn shrink(&mut self, memory: usize) {
        self.memory = memory;
    }

    /// How often older calls were forgotten to stay within the memory: a conversation that is not gone on with for long
    /// begins anew, and what it stored is not expected to be read.
    #[must_use]
    pub fn forgotten(&self) -> u32 {
        self.forgotten
    }

    /// For each model with reported tokens, how they relate to those that were counted.
    #[must_use]
    pub fn calibrations(&self) -> &BTreeMap<Name, Calibration> {
        &self.tuned
    }

    /// The request of the latest call, as it was understood.
    #[must_use]
    pub fn latest(&self) -> Option<&Request> {
        self.conversations.first().and_then(|conversation| conversation.request.as_ref())
    }

    /// Judges a call.
    pub fn call(&mut self, exchange: &Exchange, measures: &mut dyn Measures) -> Call {
        self.calls += 1;
        let number = self.calls;
        let answered = exchange.answered.as_ref();
        let error = answered.filter(|a| a.reported.is_none()).and_then(|a| a.error.as_deref());
        let error = error.map(redact::shown);
        let body = &exchange.body;
        let named = exchange.model.as_deref().or(body.model.as_deref());
        let named = named.or_else(|| answered.and_then(|answered| answered.model.as_deref()));
        let model_id =
            model_id(&self.models, body.format, exchange.provider.as_deref(), named.unwrap_or("?"));
        let told = exchange.at.or_else(|| answered.and_then(|answered| answered.at));
        // Without a time a call comes right behind the one before it: nothing is old then, and nothing expires.
        let at = told.unwrap_or(self.last_at);
        self.last_at = at;

        let index = self.find(exchange, &model_id);
        let mut conversation = self.conversations.remove(index);
        let before = conversation.request.take();
        let old_params = conversation.params.clone();
        let old_reasoning = conversation.elements.iter().any(|element| element.reasoning);
        let (old_turn, last_at) = (conversation.turn, conversation.at);
        conversation.request = before;
        let request = conversation.take(CallNo(number), &model_id, at, body);
        let before = conversation.request.take();

        let model = self.models.get(&model_id);
        let known = request.shared.min(request.blocks.len());
        self.given += request.blocks[known..].iter().map(|block| block.text.len() + 200).sum::<usize>();
        let (expected, others) = if error.is_some() {
            self.simulator.not_sent(&request);
            (Outcome { call: request.call, model: model_id.clone(), ..Outcome::default() }, Vec::new())
        } else {
            let mut outcomes = self.simulator.call(&request, measures);
            let first = if outcomes.is_empty() { Outcome::default() } else { outcomes.remove(0) };
            (first, outcomes)
        };

        let reported = answered.and_then(|answered| answered.reported);
        let gap = told.zip(last_at).map(|(now, before)| now.saturating_sub(before));
        let scale = reported.zip(expected.sent).and_then(|(reported, sent)| {
            (sent > 0 && reported.sent > 0).then(|| reported.sent as f64 / f64::from(sent))
        });
        let mut call = Call {
            number,
            line: exchange.line,
            conversation: conversation.name.clone(),
            agent: exchange.agent.as_deref().map(Name::from),
            turn: conversation.turn,
            at: told,
            gap,
            model: model_id.clone(),
            reported,
            reported_lost: None,
            scale,
            others,
            verdict: expected.verdict,
            also: expected.also.clone(),
            found: None,
            params: Vec::new(),
            no_effect: false,
            diagnosis: answered.and_then(|answered| answered.diagnosis.as_deref()).map(redact::shown),
            error,
            cost: None,
            lost_cost: None,
            expected,
        };
        if call.error.is_none() {
            let first = conversation.calls == 0;
            if !first {
                call.params = changes(&model, &old_params, &request.params);
                call.found = self.found(&call.expected, before.as_ref(), &request, &conversation);
                let moved = call.found.as_ref().is_some_and(|found| found.moved_to.is_some());
                if moved && matches!(call.verdict, Verdict::Changed | Verdict::Missing) {
                    call.verdict = Verdict::Moved;
                }
                call.reported_lost = lost(conversation.reported.as_ref(), reported.as_ref(), &model);
                let dropped =
                    old_reasoning && conversation.turn > old_turn && body.format == Format::OpenaiResponses;
                let life = before.as_ref().and_then(|before| life(&model, before));
                let again = in_full(conversation.reported.as_ref(), &call);
                weigh(&mut call, &model, life, dropped, again);
            }
            price(&mut call, &model, at, &request.params);
            self.tune(&call, &model);
            conversation.calls += 1;
            conversation.note(answered);
            conversation.params = request.params.clone();
            conversation.model = model_id;
            conversation.at = told.or(conversation.at);
        }
        conversation.failed = call.error.is_some();
        conversation.last_call = number;
        conversation.request = Some(request);
        self.conversations.insert(0, conversation);
        self.conversations.truncate(CONVERSATIONS);
        if self.given > self.memory {
            self.forget(measures);
        }
        call
    }

    /// The conversation that a call goes on with, made if there is none: its place in the list.
    fn find(&mut self, exchange: &Exchange, model: &Name) -> usize {
        let body = &exchange.body;
        if let Some(previous) = &body.previous
            && let Some(at) = self.conversations.iter().position(|c| c.answered_as(previous))
        {
            return at;
        }
        let session: Option<Name> = exchange.session.as_deref().map(Name::from);
        // Bodies of two formats are of two programs, or of two ends of a gateway: whatever they say, nobody goes on from
        // one with the other.
        let mine = |c: &&Conversation| c.session == session && c.format == body.format;
        let messages = body.elements.iter().filter(|element| !element.leading).count();
        let mut best: Option<(usize, usize, bool)> = None;
        let candidates = || self.conversations.iter().enumerate().filter(|(_, c)| mine(c));
        for (at, known) in candidates() {
            let leading = known.leading(body);
            // One message alone that begins like a longer conversation begins another one; one that is all of it is
            // sent again.
            let goes_on = leading > 0 && (messages > 1 || known.messages() == 1);
            // Another model goes on with what was said, or takes over where one failed; the same once more is another
            // conversation beside it.
            let same = known.is_of(model);
            let takes_over = same || known.failed || messages > known.messages();
            if goes_on && takes_over && best.is_none_or(|(_, most, of_it)| (leading, same) > (most, of_it)) {
                best = Some((at, leading, same));
            }
        }
        if best.is_none() {
            // The first message is another one; those behind it may still be the same.
            let theirs = body.elements.iter().filter(|element| !element.leading);
            let hashes: BTreeSet<u64> = theirs.map(|element| element.hash).collect();
            for (at, known) in
                candidates().filter(|(_, known)| known.leading(body) == 0 && known.is_of(model))
            {
                let anywhere = known.anywhere(&hashes);
                let goes_on = anywhere >= 2 && anywhere * 2 >= known.messages().min(messages);
                if goes_on && best.is_none_or(|(_, best, _)| anywhere > best) {
                    best = Some((at, anywhere, true));
                }
            }
        }
        if let Some((at, ..)) = best {
            return at;
        }
        // In a session that the log names, the same system prompt and tools with other messages behind a conversation
        // of some length are that one, compacted.
        if session.is_some() {
            let compacted =
                self.conversations.iter().position(|c| mine(&c) && c.messages() > 3 && c.same_head(body));
            if let Some(at) = compacted {
                return at;
            }
        }
        let name: Name = match &session {
            Some(session) => {
                let short: Name = short(session).into();
                let count = self.sessions.entry(session.clone()).or_default();
                *count += 1;
                // With a number behind the session's name: the caches know that one of them called the other.
                if *count == 1 { short } else { format!("{short}/{count}").into() }
            }
            None => {
                self.nameless += 1;
                format!("c{}", self.nameless).into()
            }
        };
        self.conversations.insert(0, Conversation::new(name, session, body.format));
        0
    }

    /// The difference, as a log's reader finds it in the body.
    fn found(
        &self,
        outcome: &Outcome,
        before: Option<&Request>,
        request: &Request,
        conversation: &Conversation,
    ) -> Option<Found> {
        let blame = outcome.blame.clone()?;
        let gone = blame.what == What::Disappeared;
        let old = before.and_then(|before| gone_block(before, request, &blame));
        let block = if gone { old } else { request.blocks.get(blame.block) };
        let place = match blame.zone {
            Zone::Tools => format!("tool {}", blame.name),
            Zone::System => {
                let start = request.blocks.partition_point(|block| block.kind.zone() < Zone::System);
                let count = request.zone(Zone::System).len();
                let at = blame.block.saturating_sub(start) + 1;
                if count > 1 { format!("system, block {at} of {count}") } else { "system".to_owned() }
            }
            Zone::Messages => {
                let of = |block: &Block| conversation.place_of(block.message?);
                match block.and_then(|block| of(block)) {
                    Some(at) => format!("messages[{at}]"),
                    None => "messages".to_owned(),
                }
            }
        };
        // A block of several in a message is told by its place among them: what stands there now may be its neighbour.
        let gone = before.and_then(|before| {
            let same =
                before.blocks.iter().zip(&request.blocks).take_while(|(a, b)| a.hash == b.hash).count();
            before.blocks.get(same).filter(|old| old.text.len() >= MOVED)
        });
        let moved_to = gone.and_then(|old| {
            let mut elsewhere = request.blocks.iter().filter(|block| block.hash == old.hash);
            let there = elsewhere.find(|block| block.message != old.message)?;
            let stayed = request.blocks.iter().any(|b| b.hash == old.hash && b.message == old.message);
            conversation.place_of(there.message?).filter(|_| !stayed).map(|at| format!("messages[{at}]"))
        });
        let into = block.filter(|_| blame.what == What::Changed).map(|block| {
            let before = request.blocks[..blame.block.min(request.blocks.len())].iter().rev();
            let zone = block.kind.zone();
            let beside = before.take_while(|other| match zone {
                Zone::Messages => other.message == block.message && other.kind.zone() == zone,
                _ => other.kind.zone() == zone,
            });
            let bytes = blame.byte.saturating_sub(beside.map(|other| other.text.len()).sum());
            (block.text.text().clone(), bytes)
        });
        let near = into.as_ref().and_then(|(text, byte)| near(text, *byte)).map(|near| redact::shown(&near));
        // A piece does not tell what stands in front of it in its line.
        let secret = into.as_ref().is_some_and(|(text, byte)| redact::is_secret_at(text, *byte));
        let quoted = |raw: &str| {
            let clean = redact::shown(raw);
            if secret && !raw.is_empty() && !clean.contains(redact::REDACTED) {
                redact::REDACTED.to_owned()
            } else {
                clean
            }
        };
        let quoted = (quoted(&blame.old), quoted(&blame.new));
        let matched = self.layers.as_ref().and_then(|layers| match &into {
            Some((text, byte)) => layers.at(text, *byte),
            None => block.and_then(|block| layers.whole(block.text.text())),
        });
        let digits = blame.what == What::Changed && only_digits(&blame.old, &blame.new);
        Some(Found { place, near, moved_to, matched, digits, behind: outcome.behind.len(), quoted, blame })
    }

    fn tune(&mut self, call: &Call, model: &Model) {
        let (Some(reported), Some(sent), Some(_)) = (call.reported, call.expected.sent, call.scale) else {
            return;
        };
        let base = match &model.method {
            Method::Estimate { factor, .. } => f64::from(sent) / factor,
            _ => f64::from(sent),
        };
        if base < 1.0 {
            return;
        }
        let factor = reported.sent as f64 / base;
        let tuned = self
            .tuned
            .entry(call.model.clone())
            .or_insert(Calibration { range: (f64::INFINITY, 0.0), ..Calibration::default() });
        tuned.calls += 1;
        tuned.reported += reported.sent;
        tuned.counted += base as u64;
        tuned.range = (tuned.range.0.min(factor), tuned.range.1.max(factor));
    }

    /// Starts over with the latest requests of the conversations that are still under way.
    fn forget(&mut self, measures: &mut dyn Measures) {
        self.forgotten += 1;
        self.simulator = simulator(&self.models, &self.others);
        let mut bytes = 0;
        let kept = self
            .conversations
            .iter()
            .take_while(|conversation| {
                bytes += conversation.bytes();
                bytes <= self.memory / 2
            })
            .count();
        // The one that is under way is kept, however long it is.
        self.conversations.truncate(kept.max(1));
        self.given = self.conversations.iter().map(Conversation::bytes).sum();
        let mut order: Vec<usize> = (0..self.conversations.len()).collect();
        order.sort_by_key(|&at| self.conversations[at].last_call);
        for at in order {
            if let Some(request) = &mut self.conversations[at].request {
                request.shared = 0;
                let _ = self.simulator.call(request, measures);
            }
        }
        // What is kept alone may be more than the memory; the next time is when as much again has come.
        self.memory = self.memory.max(self.given * 2);
    }
}

fn simulator(models: &Arc<Models>, others: &[Name]) -> Simulator {
    let lanes = std::iter::once(Lane::AsSent).chain(others.iter().cloned().map(Lane::As));
    Simulator::new(models.clone(), lanes.collect::<Vec<_>>())
}

/// The block of the request before that is not in this one any more.
fn gone_block<'r>(before: &'r Request, now: &Request, blame: &Blame) -> Option<&'r Arc<Block>> {
    let same = before.blocks.iter().zip(&now.blocks).take_while(|(a, b)| a.hash == b.hash).count();
    before.blocks[same..]
        .iter()
        .find(|block| block.kind == blame.kind && block.name == blame.name && block.message == blame.message)
}

/// What was stored and was not read, by what was reported.
fn lost(before: Option<&Reported>, now: Option<&Reported>, model: &Model) -> Option<u64> {
    let (before, now) = (before?, now?);
    let read = now.read?;
    // A gateway counts what a marked cache wrote as a part of the input, and what it did not write is not stored.
    let marked = matches!(model.family, Some(Family::Marked(_)));
    let stored = match before.read.zip(before.write).filter(|_| marked) {
        Some((read, write)) => read.saturating_add(write),
        None => before.stored(),
    };
    let mut stored = stored.min(now.sent);
    if let Some(Family::Block(rules)) = &model.family {
        let (block, min) = (u64::from(rules.block.value.max(1)), u64::from(rules.min.value));
        stored = if stored < min { 0 } else { stored / block * block };
    }
    Some(stored.saturating_sub(read))
}

/// Tokens that are within what figures of two sources differ by: a block, or a fiftieth.
fn noise(model: &Model, sent: u64) -> u64 {
    let block = match &model.family {
        Some(Family::Block(rules)) => u64::from(rules.block.value),
        _ => 128,
    };
    (2 * block).max(sent / 50)
}

/// Tokens that the call before sent, too, and that are paid in full: neither read nor written.
fn in_full(before: Option<&Reported>, call: &Call) -> u64 {
    if let (Some(before), Some(now)) = (before, &call.reported)
        && let Some(read) = now.read
    {
        return before.sent.min(now.sent).saturating_sub(read.saturating_add(now.write.unwrap_or(0)));
    }
    let expected = &call.expected;
    let again = expected
        .sent_before
        .zip(expected.sent)
        .map(|(before, sent)| before.min(sent).saturating_sub(sent - expected.uncovered.min(sent)));
    call.scaled(again).unwrap_or(0)
}

/// How long what a request stored lives by the rules, in milliseconds; none where nobody says.
fn life(model: &Model, request: &Request) -> Option<i64> {
    let asked = request.marks.iter().map(|mark| mark.ttl).max();
    let seconds = match model.family.as_ref()? {
        Family::Block(rules) => rules.life.max.as_ref().map(|life| life.value),
        Family::Units(rules) => rules.life.max.as_ref().map(|life| life.value),
        Family::Opaque(rules) => rules.life.max.as_ref().map(|life| life.value),
        Family::Marked(rules) => asked.or_else(|| rules.lives.value.first().copied()),
        Family::AutoMarked(rules) => asked.or_else(|| rules.lives.value.first().copied()),
        Family::Resource(_) | Family::Radix(_) | Family::Slot(_) => None,
    };
    seconds.map(|seconds| i64::from(seconds) * 1_000)
}

/// Finds the verdict from what the requests say and what the provider reported.
fn weigh(call: &mut Call, model: &Model, life: Option<i64>, reasoning_dropped: bool, in_full: u64) {
    let old = call.gap.zip(life).is_some_and(|(gap, life)| gap > life);
    let settings = !call.params.is_empty();
    let length = call.reported_figures().sent.or(call.expected_figures().sent).unwrap_or(0);
    if call.verdict == Verdict::NotCached && in_full <= noise(model, length) {
        // A short tail behind the last mark is how a good call looks.
        call.verdict = Verdict::Appended;
    }
    let Some(lost) = call.reported_lost else {
        // Nothing is reported: the rules alone have the word.
        if settings && call.verdict == Verdict::Appended {
            call.also.insert(0, Verdict::SettingsChanged);
        }
        return;
    };
    let sent = call.reported.map_or(0, |reported| reported.sent);
    if lost <= noise(model, sent) {
        if call.verdict.is_break() {
            call.no_effect = true;
        } else if matches!(
            call.verdict,
            Verdict::Expired
                | Verdict::OutOfLookback
                | Verdict::NotYetVisible
                | Verdict::Unexplained
                | Verdict::SettingsChanged
        ) {
            // The provider kept it longer than it promises, or found what it need not find.
            call.verdict = if call.found.is_some() { Verdict::Changed } else { Verdict::Appended };
            call.no_effect = call.found.is_some();
        }
        call.also.clear();
        return;
    }
    let mut reasons: Vec<Verdict> = Vec::new();
    let fine = matches!(call.verdict, Verdict::Appended | Verdict::NotCached | Verdict::NeverRead);
    if !fine {
        reasons.push(call.verdict);
    }
    if settings {
        reasons.push(Verdict::SettingsChanged);
    }
    if reasoning_dropped {
        reasons.push(Verdict::ReasoningDropped);
    }
    reasons.extend(
        call.also.iter().copied().filter(|verdict| {
            !matches!(verdict, Verdict::Appended | Verdict::NotCached | Verdict::NeverRead)
        }),
    );
    if old {
        reasons.push(Verdict::Expired);
    }
    if reasons.is_empty() {
        reasons.push(Verdict::Unexplained);
    }
    // Each once, in the order in which they were found.
    let mut once: Vec<Verdict> = Vec::new();
    for reason in reasons {
        if !once.contains(&reason) {
            once.push(reason);
        }
    }
    call.verdict = once.remove(0);
    call.also = once;
}

/// What the call cost: by what was reported, else by what is expected.
fn price(call: &mut Call, model: &Model, at: i64, params: &Params) {
    let Some(reported) = call.reported else {
        call.cost = call.expected.cost;
        call.lost_cost = call.expected.lost_cost;
        return;
    };
    let tokens = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let Some(price) = model.price_at(at, tokens(reported.sent)) else { return };
    // Amounts in another currency are not converted.
    if price.currency.is_some() {
        return;
    }
    let Some(read) = reported.read.or_else(|| (reported.accounting.is_none()).then_some(0)) else { return };
    let Ok(price) = price.with(model.factors_with(params)) else { return };
    let rates = price.rates;
    let write = reported.write.unwrap_or(0);
    let hour = reported.write_1h.min(write);
    let short_rate = rates.write_5m.unwrap_or(rates.input);
    let hour_rate = rates.write_1h.unwrap_or(short_rate);
    let fresh = reported.sent.saturating_sub(read + write);
    call.cost = Some(
        rates.read.of(tokens(read))
            + short_rate.of(tokens(write - hour))
            + hour_rate.of(tokens(hour))
            + rates.input.of(tokens(fresh)),
    );
    // What is lost starts where reading ends, so it lies first in what is written.
    call.lost_cost = call.reported_lost.map(|lost| {
        let in_hour = lost.min(hour);
        let in_short = (lost - in_hour).min(write - hour);
        let paid: Money = hour_rate.of(tokens(in_hour))
            + short_rate.of(tokens(in_short))
            + rates.input.of(tokens(lost - in_hour - in_short));
        paid.saturating_sub(rates.read.of(tokens(lost)))
    });
}

/// The parameters that are not what they were, as `name old -> new`.
fn changes(model: &Model, old: &Params, new: &Params) -> Vec<String> {
    // A value that is the default anyway is none.
    let differs = |name: &Name| model.effective(name, old.get(name)) != model.effective(name, new.get(name));
    let shown = |value: Option<&str>| value.map_or_else(|| "default".to_owned(), str::to_owned);
    let name =
        |name: Name| redact::shown(&format!("{name} {} -> {}", shown(old.get(&name)), shown(new.get(&name))));
    new.changed_since(old).into_iter().filter(differs).map(name).collect()
}

/// `provider:model` for what a log calls a model.
fn model_id(models: &Models, format: Format, provider: Option<&str>, named: &str) -> Name {
    let known = |id: &str| models.get(&id.into()).method_from.is_some() || models.models.contains_key(id);
    let named = named.trim();
    if named.contains(':') && known(named) {
        return named.into();
    }
    // Gateways write provider/model, clouds a region and a vendor in front and a version behind.
    let last = named.rsplit('/').next().unwrap_or(named);
    let (bare, bedrock) = match last.split_once("anthropic.") {
        Some((_, bare)) => (bare, true),
        None => (last, false),
    };
    let bare = bare.split_once(":0").map_or(bare, |(bare, _)| bare);
    let bare = bare.split_once("-v1").map_or(bare, |(bare, _)| bare).split('@').next().unwrap_or(bare);
    // Only Bedrock puts the vendor in front with a dot; gateways have more than one name for it.
    let provider = match provider {
        Some(name) if name.starts_with("bedrock") => Some("bedrock"),
        None if bedrock => Some("bedrock"),
        named => named,
    };
    if let Some(provider) = provider {
        let id = format!("{provider}:{bare}");
        if known(&id) {
            return id.into();
        }
    }
    if let Some(id) =
        models.models.keys().find(|id| id.split_once(':').is_some_and(|(_, model)| model == bare))
    {
        return id.clone();
    }
    let vendor = match format {
        Format::Anthropic => "anthropic",
        Format::OpenaiResponses => "openai",
        Format::Gemini => "google",
        Format::OpenaiChat => "openai",
    };
    let begins = |words: &[&str]| words.iter().any(|word| bare.starts_with(word));
    let vendor = match bare {
        _ if begins(&["claude"]) => "anthropic",
        _ if begins(&["gemini"]) => "google",
        _ if begins(&["deepseek"]) => "deepseek",
        _ if begins(&["kimi", "moonshot"]) => "moonshot",
        _ if begins(&["qwen"]) => "qwen",
        _ if begins(&["glm"]) => "zai",
        _ if begins(&["grok"]) => "xai",
        _ => provider.unwrap_or(vendor),
    };
    format!("{vendor}:{bare}").into()
}

/// The first characters of a long id.
fn short(id: &str) -> String {
    if id.chars().count() <= 16 { id.to_owned() } else { id.chars().take(8).collect() }
}

/// The last heading or opening tag in front of a byte, in the lines before it.
fn near(text: &str, byte: usize) -> Option<String> {
    const FAR: usize = 64 << 10;
    let end = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at))?;
    let start = (end.saturating_sub(FAR)..=end).find(|&at| text.is_char_boundary(at))?;
    let line = text[start..end].lines().rev().map(str::trim).find(|line| {
        let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let tag = line.starts_with('<') && line.ends_with('>') && !line.starts_with("</") && line.len() < 60;
        heading || tag
    })?;
    Some(line.chars().take(60).collect())
}

/// True where two texts are equal but for digits.
fn only_digits(a: &str, b: &str) -> bool {
    let shape = |text: &str| {
        text.split(|c: char| c.is_ascii_digit())
            .filter(|piece| !piece.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    a.chars().chain(b.chars()).any(|c| c.is_ascii_digit()) && shape(a) == shape(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_under_the_names_that_logs_have_for_them() {
        let mut models = Models::default();
        for id in ["anthropic:claude-sonnet-4-5", "openai:gpt-5.4"] {
            let mut model = Model::unknown(id.into());
            model.method_from = None;
            models.models.insert(id.into(), Arc::new(model));
        }
        let id = |format, provider, named: &str| model_id(&models, format, provider, named).to_string();
        for named in [
            "claude-sonnet-4-5",
            "anthropic/claude-sonnet-4-5",
            "anthropic:claude-sonnet-4-5",
            "us.anthropic.claude-sonnet-4-5-v1:0",
        ] {
            assert_eq!(id(Format::Anthropic, None, named), "anthropic:claude-sonnet-4-5", "{named}");
        }
        assert_eq!(
            id(Format::Anthropic, None, "claude-sonnet-4-5-20250929"),
            "anthropic:claude-sonnet-4-5-20250929"
        );
        assert_eq!(id(Format::OpenaiChat, Some("openai"), "gpt-5.4"), "openai:gpt-5.4");
        assert_eq!(id(Format::OpenaiChat, None, "deepseek-flash"), "deepseek:deepseek-flash");
        assert_eq!(id(Format::OpenaiChat, Some("acme"), "m"), "acme:m");
        // Where the cloud has rules of its own, they count: whether a gateway names it, or the model's name does.
        models.models.insert(
            "bedrock:claude-sonnet-4-5".into(),
            Arc::new(Model::unknown("bedrock:claude-sonnet-4-5".into())),
        );
        let id = |format, provider, named: &str| model_id(&models, format, provider, named).to_string();
        for (provider, named) in [
            (Some("bedrock"), "claude-sonnet-4-5"),
            (Some("bedrock_converse"), "bedrock/us.anthropic.claude-sonnet-4-5-v1:0"),
            (None, "eu.anthropic.claude-sonnet-4-5-v1:0"),
        ] {
            assert_eq!(id(Format::OpenaiChat, provider, named), "bedrock:claude-sonnet-4-5", "{named}");
        }
        assert_eq!(
            id(Format::OpenaiChat, Some("vertex_ai"), "vertex_ai/claude-sonnet-4-5@20250929"),
            "anthropic:claude-sonnet-4-5"
        );
        assert_eq!(id(Format::OpenaiChat, None, "glm-9"), "zai:glm-9");
    }

    #[test]
    fn the_heading_in_front_and_changes_of_digits_only() {
        let text = "# Top\nx\n<env>\ncwd: /a\n# Next\ny";
        assert_eq!(near(text, text.find("/a").expect("there")).as_deref(), Some("<env>"));
        assert_eq!(near(text, 7).as_deref(), Some("# Top"));
        assert_eq!(near("plain", 3), None);
        assert!(only_digits("10:00:01", "10:07:59") && only_digits("v1", "v12"));
        assert!(!only_digits("a1", "b1") && !only_digits("a", "a"));
    }
}
