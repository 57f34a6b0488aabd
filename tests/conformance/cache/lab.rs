//! Small sessions against the models that come with the program. A token is a character here, so that the figures of a
//! rule can be read off the sizes of the blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use plywood::core::cache::{Accounting, Lane, Measures, Model, Models, Outcome, Simulator, Write};
use plywood::core::fact::{EventId, Name};
use plywood::core::text::{Made, Traced};
use plywood::core::tokens::{Encoding, Measure, Method};
use plywood::core::wire::{Block, BlockKind, CallNo, MarkAt, MessageId, Params, Request};
use plywood::io::models;

/// A token is a character.
pub(super) struct Characters;

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

/// All models that come with the program, counted in characters.
pub(super) fn models() -> Models {
    let mut models = models::embedded();
    for model in models.models.values_mut() {
        Arc::make_mut(model).method = Method::Exact { encoding: Encoding::O200k };
    }
    models
}

/// `count` characters that have nothing in common with those of another seed.
pub(super) fn text(seed: u32, count: usize) -> String {
    let letter = char::from_u32(0x4e00 + seed).expect("a letter");
    std::iter::repeat_n(letter, count).collect()
}

fn block(kind: BlockKind, name: &str, message: u32, text: &str) -> Arc<Block> {
    let text = Traced::whole("part", text, Made::Literal, EventId::OPENING);
    let tool = (kind == BlockKind::ToolUse).then(|| "Shell".into());
    Block::new(kind, name.into(), tool, (message > 0).then_some(MessageId(message)), text)
}

pub(super) fn tool(name: &str, text: &str) -> Arc<Block> {
    block(BlockKind::Tool, name, 0, text)
}

pub(super) fn system(text: &str) -> Arc<Block> {
    block(BlockKind::System, "system", 0, text)
}

pub(super) fn user(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::User, "user", message, text)
}

/// A mid-conversation message of the developer.
pub(super) fn reminder(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::User, "system", message, text)
}

pub(super) fn said(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::Assistant, "assistant", message, text)
}

pub(super) fn reasoning(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::Assistant, Block::REASONING, message, text)
}

/// A block of the model's of some other kind.
pub(super) fn said_by(name: &str, message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::Assistant, name, message, text)
}

pub(super) fn tool_use(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::ToolUse, &format!("call_{message}"), message, text)
}

pub(super) fn tool_result(message: u32, text: &str) -> Arc<Block> {
    block(BlockKind::ToolResult, &format!("call_{message}"), message, text)
}

/// A session with one model after the other, as it names them.
pub(super) struct Lab {
    simulator: Simulator,
    models: Arc<Models>,
    before: BTreeMap<Name, Vec<Arc<Block>>>,
    calls: u32,
    pub(super) agent: &'static str,
    pub(super) model: &'static str,
    pub(super) turn: u32,
    /// In milliseconds.
    pub(super) at: i64,
    pub(super) params: Params,
}

impl Lab {
    /// Nothing stored.
    pub(super) fn of(model: &'static str) -> Lab {
        Lab::with(model, |_| ())
    }

    /// The same with a model that is a little different.
    pub(super) fn with(model: &'static str, change: impl FnOnce(&mut Model)) -> Lab {
        let mut models = models();
        let known = models.models.get_mut(model).unwrap_or_else(|| panic!("{model} is not known"));
        change(Arc::make_mut(known));
        let models = Arc::new(models);
        Lab {
            simulator: Simulator::new(models.clone(), [Lane::AsSent]),
            models,
            before: BTreeMap::new(),
            calls: 0,
            agent: "main",
            model,
            turn: 1,
            at: 1_775_000_000_000,
            params: Params::default(),
        }
    }

    /// Time passes.
    pub(super) fn wait(&mut self, seconds: i64) {
        self.at += seconds * 1_000;
    }

    /// A parameter besides the text takes a value.
    pub(super) fn choose(&mut self, name: &str, value: Option<&str>) {
        self.params.choose([(&Name::from(name), &value.map(Name::from))], EventId::OPENING);
    }

    /// Sends a request with marks behind these blocks, with their lives in seconds.
    pub(super) fn send(&mut self, blocks: &[Arc<Block>], marks: &[(usize, u32)]) -> Outcome {
        self.calls += 1;
        let before = self.before.entry(self.agent.into()).or_default();
        let shared = before.iter().zip(blocks).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        *before = blocks.to_vec();
        let request = Request {
            call: CallNo(self.calls),
            turn: self.turn,
            agent: self.agent.into(),
            model: self.model.into(),
            at: self.at,
            blocks: blocks.to_vec(),
            shared,
            marks: marks.iter().map(|&(block, ttl)| MarkAt { block, ttl }).collect(),
            params: Arc::new(self.params.clone()),
        };
        let outcome = self.simulator.call(&request, &mut Characters).remove(0);
        sums(&outcome, &self.models.get(&self.model.into()));
        outcome
    }

    /// Tokens that were written and not read so far.
    pub(super) fn never_read(&self) -> Vec<(u32, u32)> {
        self.simulator.never_read(0).iter().map(|unread| (unread.call.0, unread.tokens)).collect()
    }
}

/// The figures add up, under both accounting rules.
pub(super) fn sums(outcome: &Outcome, model: &Model) {
    let (Some(sent), Some(split)) = (outcome.sent, outcome.split) else { return };
    let written = split.write.map_or(0, Write::total);
    assert_eq!(split.read + written + split.fresh, sent, "{} {outcome:?}", model.id);
    if let Some(accounting) = &model.accounting {
        let usage = outcome.usage(accounting.value).expect("a usage");
        assert_eq!((usage.prompt(accounting.value), usage.fresh(accounting.value)), (sent, split.fresh));
    }
    for accounting in [Accounting::Inclusive, Accounting::Exclusive] {
        let usage = outcome.usage(accounting).expect("a usage");
        assert_eq!((usage.prompt(accounting), usage.fresh(accounting)), (sent, split.fresh));
    }
    if let Some(expected) = outcome.expected {
        let written = expected.write.map_or(0, Write::total);
        assert_eq!(expected.read + written + expected.fresh, sent, "{} {outcome:?}", model.id);
    }
    // What is lost was stored: by the request before, so it is no more than that one sent, and is not read now.
    if let Some(lost) = split.lost {
        assert!(
            lost <= outcome.sent_before.unwrap_or_default().min(sent) - split.read.min(lost),
            "{outcome:?}"
        );
        assert!(lost + split.read <= sent, "{outcome:?}");
    }
    assert!(outcome.lost_cost.unwrap_or_default() <= outcome.cost.unwrap_or_default());
}

/// Read, written (0 without a fee), fresh.
pub(super) fn figures(outcome: &Outcome) -> (u32, u32, u32) {
    let split = outcome.split.unwrap_or_else(|| panic!("no figures: {outcome:?}"));
    (split.read, split.write.map_or(0, Write::total), split.fresh)
}
