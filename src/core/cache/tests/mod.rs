//! What the cache makes of small sessions. Here a token is a character, so counts can be read off the texts.

mod blame;
mod block;
mod marked;
mod properties;

use std::sync::Arc;

use indexmap::IndexMap;

use super::*;
use crate::core::fact::{EventId, Name, Reads};
use crate::core::text::{Builder, Made, Origin, Traced};
use crate::core::tokens::{Encoding, Measure, Method};
use crate::core::wire::{Block, BlockKind, CallNo, MarkAt, MessageId, Params, Request};

/// A token is a character.
struct Characters;

impl Measure for Characters {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        text.chars().count() as u32
    }

    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        text[..byte].chars().count() as u32
    }

    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count() as u32
    }
}

impl Measures for Characters {
    fn of(&mut self, _: Encoding) -> &mut dyn Measure {
        self
    }
}

fn known<T>(value: T) -> Known<T> {
    Known { value, source: "test".into(), checked: None, confidence: Confidence::A }
}

fn rates(input: &str, read: &str, write: Option<(&str, &str)>) -> Price {
    let rate = |text: &str| Rate::parse(text).unwrap();
    let rates = Rates {
        input: rate(input),
        read: rate(read),
        write_5m: write.map(|(short, _)| rate(short)),
        write_1h: write.map(|(_, hour)| rate(hour)),
        output: Some(rate("10")),
    };
    Price::plain(known(rates))
}

/// Like gpt-5.4, with a life of 10 minutes.
fn block_model() -> Model {
    let life = Life { max: Some(known(600)), typical: None };
    Model {
        method: Method::Exact { encoding: Encoding::O200k },
        family: Some(Family::Block(BlockRules::plain(known(128), known(1_024), life))),
        prices: vec![rates("2.50", "0.25", None)],
        ..Model::unknown("openai:gpt-5.4".into())
    }
}

/// Like sonnet-5, with this minimum.
fn marked_model(min: u32) -> Model {
    let rules = MarkedRules {
        max_marks: known(4),
        excess: None,
        lookback: known(20),
        collapse: known(vec![BlockKind::ToolUse, BlockKind::ToolResult]),
        min: known(min),
        lives: known(vec![300, 3_600]),
        visible: known(Visible { when: When::FirstToken, after: 1_000 }),
        automatic: Some(known(true)),
        server_tools: None,
    };
    Model {
        method: Method::Exact { encoding: Encoding::O200k },
        family: Some(Family::Marked(rules)),
        prices: vec![rates("2", "0.20", Some(("2.50", "4")))],
        ..Model::unknown("anthropic:sonnet-5".into())
    }
}

fn models(models: impl IntoIterator<Item = Model>) -> Arc<Models> {
    let models: IndexMap<Name, Arc<Model>> =
        models.into_iter().map(|model| (model.id.clone(), Arc::new(model))).collect();
    Arc::new(Models { models, revision: "test".into() })
}

/// A text of parts: id, separator in front, own text.
fn traced(parts: &[(&str, &str, &str)]) -> Traced {
    let mut builder = Builder::default();
    for (id, glue, text) in parts {
        let origin = || Arc::new(Origin { part: (*id).into(), made: Made::Literal, cause: EventId(3) });
        builder.begin((*id).into(), Arc::new(Reads::default()));
        builder.push(glue, origin(), true);
        builder.push(text, origin(), false);
    }
    builder.finish()
}

fn block(kind: BlockKind, name: &str, message: u32, text: Traced) -> Arc<Block> {
    let tool = (kind == BlockKind::ToolUse).then(|| "Shell".into());
    Block::new(kind, name.into(), tool, (message > 0).then_some(MessageId(message)), text)
}

fn tool(name: &str, text: &str) -> Arc<Block> {
    block(BlockKind::Tool, name, 0, traced(&[("tools", "", text)]))
}

fn system(parts: &[(&str, &str, &str)]) -> Arc<Block> {
    block(BlockKind::System, "system", 0, traced(parts))
}

fn user(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::User, "user", message, traced(&[("user", "", text)]))
}

fn tool_use(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::ToolUse, &format!("call_{message}"), message, traced(&[("model", "", text)]))
}

fn tool_result(message: u32, parts: &[(&str, &str, &str)]) -> Arc<Block> {
    block(BlockKind::ToolResult, &format!("call_{message}"), message, traced(parts))
}

/// Text of this many characters, which differs from seed to seed from its first character on.
fn filler(seed: usize, chars: usize) -> String {
    let alphabet: Vec<char> = ('a'..='z').collect();
    (0..chars).map(|at| alphabet[(seed * 7 + at * (seed % 5 + 1) + at / 26) % 26]).collect()
}

/// A session that is played against caches.
struct Play {
    simulator: Simulator,
    before: IndexMap<Name, Vec<Arc<Block>>>,
    calls: u32,
    turn: u32,
    agent: Name,
    model: Name,
    /// In milliseconds.
    at: i64,
    params: Arc<Params>,
}

impl Play {
    fn new(all: impl IntoIterator<Item = Model>, lanes: impl IntoIterator<Item = Lane>) -> Play {
        let models = models(all);
        let model = models.models[0].id.clone();
        Play {
            simulator: Simulator::new(models, lanes),
            before: IndexMap::new(),
            calls: 0,
            turn: 1,
            agent: "main".into(),
            model,
            at: 1_775_000_000_000,
            params: Arc::default(),
        }
    }

    /// One lane, as sent, to one model.
    fn of(model: Model) -> Play {
        Play::new([model], [Lane::AsSent])
    }

    fn request(&mut self, blocks: &[Arc<Block>], marks: &[(usize, u32)]) -> Request {
        self.calls += 1;
        let before = self.before.entry(self.agent.clone()).or_default();
        let shared = before.iter().zip(blocks).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        *before = blocks.to_vec();
        Request {
            params: self.params.clone(),
            call: CallNo(self.calls),
            turn: self.turn,
            agent: self.agent.clone(),
            model: self.model.clone(),
            at: self.at,
            blocks: blocks.to_vec(),
            shared,
            marks: marks.iter().map(|&(block, ttl)| MarkAt { block, ttl }).collect(),
        }
    }

    fn send_all(&mut self, blocks: &[Arc<Block>], marks: &[(usize, u32)]) -> Vec<Outcome> {
        let request = self.request(blocks, marks);
        let outcomes = self.simulator.call(&request, &mut Characters);
        for outcome in &outcomes {
            if let (Some(sent), Some(split)) = (outcome.sent, outcome.split) {
                assert_eq!(split.read + split.write.unwrap_or_default().total() + split.fresh, sent);
            }
        }
        outcomes
    }

    fn send(&mut self, blocks: &[Arc<Block>], marks: &[(usize, u32)]) -> Outcome {
        self.send_all(blocks, marks).remove(0)
    }
}

/// Read, written (0 without a fee), fresh, lost (0 for the first).
fn figures(outcome: &Outcome) -> (u32, u32, u32, u32) {
    let split = outcome.split.unwrap();
    (split.read, split.write.unwrap_or_default().total(), split.fresh, split.lost.unwrap_or_default())
}
