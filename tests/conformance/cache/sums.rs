//! What holds for every model and every session: the figures add up, an estimate keeps to its bounds, and nothing is
//! lost that was not there.

use std::sync::Arc;

use plywood::core::cache::{Family, Generated, Lane, Outcome, Simulator};
use plywood::core::fact::{EventId, Name};
use plywood::core::wire::{Block, CallNo, MarkAt, Params, Request};
use proptest::prelude::*;

use super::lab::{self, Characters, reasoning, said, system, text, tool, tool_result, tool_use, user};

/// What happens before the next request.
#[derive(Clone, Debug)]
enum Happens {
    Append(u8, u8),
    Change(u16, u8),
    Remove(u16),
    Wait(u16),
    Choose(u8, u8),
    Return(u16),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        5 => (any::<u8>(), any::<u8>()).prop_map(|(kind, size)| Happens::Append(kind, size)),
        2 => (any::<u16>(), any::<u8>()).prop_map(|(at, size)| Happens::Change(at, size)),
        1 => any::<u16>().prop_map(Happens::Remove),
        1 => (0_u16..5_000).prop_map(Happens::Wait),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(name, value)| Happens::Choose(name, value)),
        1 => any::<u16>().prop_map(Happens::Return),
    ]
}

const NAMES: [&str; 5] = ["effort", "tool_choice", "web_search", "cache_mode", "cache_ttl"];
const VALUES: [&str; 4] = ["high", "automatic", "explicit", "1h"];
const AGENTS: [&str; 3] = ["main", "main/a", "main/b"];

fn requests(steps: &[(usize, Happens, Vec<u16>)]) -> Vec<Request> {
    let start = vec![tool("t", &text(1, 900)), system(&text(2, 1_300)), user(1, &text(3, 200))];
    let mut now: Vec<Vec<Arc<Block>>> = vec![start; AGENTS.len()];
    let mut sent: Vec<Vec<Arc<Block>>> = Vec::new();
    let mut params = Params::default();
    let mut at = 1_775_000_000_000;
    let mut number = 10_u32;
    let mut all = Vec::new();
    for (call, (agent, happens, marks)) in (1..).zip(steps) {
        let blocks = &mut now[*agent];
        number += 1;
        match happens {
            Happens::Append(kind, size) => {
                let text = text(number, usize::from(*size) * 3 + 1);
                blocks.push(match kind % 5 {
                    0 => user(number, &text),
                    1 => said(number, &text),
                    2 => reasoning(number, &text),
                    3 => tool_use(number, &text),
                    _ => tool_result(number, &text),
                });
            }
            Happens::Change(at, size) => {
                let at = usize::from(*at) % blocks.len();
                let kept: String = blocks[at].text.text().chars().take(usize::from(*size)).collect();
                blocks[at] = match at {
                    0 => tool("t", &format!("{kept}{}", text(number, 40))),
                    1 => system(&format!("{kept}{}", text(number, 40))),
                    _ => user(number, &format!("{kept}{}", text(number, 40))),
                };
                blocks.sort_by_key(|block| block.kind.zone());
            }
            Happens::Remove(at) if blocks.len() > 1 => {
                blocks.remove(usize::from(*at) % blocks.len());
            }
            Happens::Wait(seconds) => at += i64::from(*seconds) * 1_000,
            Happens::Choose(name, value) => {
                let name = Name::from(NAMES[usize::from(*name) % NAMES.len()]);
                let value =
                    VALUES.get(usize::from(*value) % (VALUES.len() + 1)).map(|value| Name::from(*value));
                params.choose([(&name, &value)], EventId::OPENING);
            }
            Happens::Return(to) if !sent.is_empty() => {
                *blocks = sent[usize::from(*to) % sent.len()].clone();
            }
            _ => {}
        }
        sent.push(blocks.clone());
        let mut marks: Vec<usize> = marks.iter().map(|mark| usize::from(*mark) % blocks.len()).collect();
        marks.sort_unstable();
        marks.dedup();
        all.push(Request {
            call: CallNo(call),
            turn: 1,
            agent: AGENTS[*agent].into(),
            model: "openai:gpt-5.4".into(),
            at,
            blocks: blocks.clone(),
            shared: 0,
            marks: marks.into_iter().map(|block| MarkAt { block, ttl: 300 }).collect(),
            params: Arc::new(params.clone()),
        });
    }
    all
}

/// One model of each kind.
const MODELS: [&str; 16] = [
    "openai:gpt-5.4",
    "openai:gpt-5.5",
    "openai:gpt-6-sol",
    "anthropic:claude-sonnet-5",
    "anthropic:claude-sonnet-4-5",
    "bedrock:claude-opus-5",
    "deepseek:deepseek-v4-pro",
    "google:gemini-2.5-pro",
    "google-explicit:gemini-2.5-pro",
    "moonshot:kimi-k3",
    "qwen:qwen4",
    "zai:glm-5.3",
    "doubao:seed-code",
    "vllm:local",
    "sglang:local",
    "llama.cpp:local",
];

/// The tokens of everything that the request could have in common with what was ever sent before it, with the answers
/// that it sends back.
fn could_be_read(before: &[Request], request: &Request) -> u32 {
    let tokens = |blocks: &[Arc<Block>]| -> u32 {
        blocks.iter().map(|block| block.text.text().chars().count() as u32).sum()
    };
    before
        .iter()
        .map(|old| {
            let same = old.blocks.iter().zip(&request.blocks).take_while(|(a, b)| a.hash == b.hash).count();
            let inside = match (old.blocks.get(same), request.blocks.get(same)) {
                (Some(a), Some(b)) => {
                    a.text.text().chars().zip(b.text.text().chars()).take_while(|(a, b)| a == b).count()
                        as u32
                }
                _ => 0,
            };
            let answer = request.blocks[same..].iter().take_while(|block| block.is_generated()).count();
            let answer = if same == old.blocks.len() { answer } else { 0 };
            tokens(&request.blocks[..same + answer]) + inside
        })
        .max()
        .unwrap_or(0)
}

fn check(outcome: &Outcome, could: u32, family: Option<&Family>) -> Result<(), TestCaseError> {
    let Some(split) = outcome.split else { return Ok(()) };
    prop_assert!(split.read <= could, "{:?} reads more than {}", outcome, could);
    if let Some(expected) = outcome.expected {
        let measured = matches!(family, Some(Family::Block(rules)) if rules.generated.as_ref().is_some_and(|g| g.value == Generated::Measured));
        // Where only measurements have the answers, they are what it may have more.
        let most = if measured { could } else { split.read };
        prop_assert!(expected.read <= most, "{:?} expects more than {}", outcome, most);
        prop_assert!(expected.lost.unwrap_or(0) + expected.read <= outcome.sent.unwrap_or(0));
    }
    prop_assert_eq!(outcome.verdict.is_break(), outcome.verdict.is_break() && outcome.blame.is_some());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn figures_add_up_for_every_model(
        steps in prop::collection::vec((0_usize..3, happens(), prop::collection::vec(any::<u16>(), 0..4)), 1..25)
    ) {
        let models = Arc::new(lab::models());
        let requests = requests(&steps);
        let mut simulator = Simulator::new(models.clone(), MODELS.map(|id| Lane::As(id.into())));
        for (index, request) in requests.iter().enumerate() {
            let could = could_be_read(&requests[..index], request);
            let outcomes = simulator.call(request, &mut Characters);
            for (outcome, id) in outcomes.iter().zip(MODELS) {
                let model = &models.models[id];
                lab::sums(outcome, model);
                check(outcome, could, model.family.as_ref())?;
                prop_assert!(outcome.sentence(&plywood::core::cache::Labels::PLAIN).ends_with('.'));
            }
        }
    }
}
