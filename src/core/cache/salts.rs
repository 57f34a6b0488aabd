//! What is mixed into what a provider looks up besides the text: parameters, from the zone on in which they count, and
//! reasoning that it takes out.

use std::fmt;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::model::{Known, Model};
use super::rules::Reasoning;
use super::simulator::Conversation;
use crate::core::fact::{EventId, Name};
use crate::core::wire::{Block, BlockKind, Params, Request, Zone};

/// A parameter outside of the text that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Its name, as a bench says it: `tool_choice`; `images` for whether there are any.
    pub name: Name,
    /// From which zone on it counts.
    pub zone: Zone,
    /// Its value before; none where it had the provider's default.
    pub old: Option<Name>,
    /// Its value now.
    pub new: Option<Name>,
    /// The event that chose it; none where nothing tells.
    pub cause: Option<EventId>,
}

/// `tool_choice auto -> any`.
impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Name>| value.clone().unwrap_or_else(|| "default".into());
        write!(f, "{} {} -> {}", self.name, shown(&self.old), shown(&self.new))
    }
}

/// The name under which a model lists that it matters whether a request shows images at all.
const IMAGES: &str = "images";

/// In front of reasoning that the provider takes out.
const STRIPPED: u64 = 0x5bd1_e995_7f4a_7c15;

/// The salts of a request, for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Salted {
    /// The first block of each zone that has a salt, or of what follows where it is empty.
    starts: [usize; 3],
    salts: [u64; 3],
    /// Reasoning in front of this block is taken out.
    pub(super) strip: usize,
}

const ZONES: [Zone; 3] = [Zone::Tools, Zone::System, Zone::Messages];

fn names(model: &Model, zone: Zone) -> Option<&Known<Vec<Name>>> {
    match zone {
        Zone::Tools => model.salts.tools.as_ref(),
        Zone::System => model.salts.system.as_ref(),
        Zone::Messages => model.salts.messages.as_ref(),
    }
}

/// What of a request matters here besides its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    /// The first image.
    pub(super) image: Option<usize>,
    /// The first block of reasoning.
    pub(super) reasoning: Option<usize>,
    /// The first result of a tool that the provider has run itself.
    pub(super) server_tool: Option<usize>,
}

impl Traits {
    /// Those of a request that begins with `same` blocks of the one before it, whose traits these are.
    pub(super) fn next(self, blocks: &[Arc<Block>], same: usize) -> Traits {
        let first = |before: Option<usize>, holds: fn(&Block) -> bool| {
            before
                .filter(|&at| at < same)
                .or_else(|| blocks[same..].iter().position(|block| holds(block)).map(|at| same + at))
        };
        Traits {
            image: first(self.image, |block| block.kind == BlockKind::Image),
            reasoning: first(self.reasoning, Block::is_reasoning),
            server_tool: first(self.server_tool, is_of_server_tool),
        }
    }
}

/// True for the result of a tool that the provider has run itself: it stands in what the model said, as
/// `web_search_tool_result`.
pub(super) fn is_of_server_tool(block: &Block) -> bool {
    block.kind == BlockKind::Assistant && block.name.ends_with("_tool_result")
}

impl Salted {
    pub(super) fn of(model: &Model, blocks: &[Arc<Block>], params: &Params, traits: Traits) -> Salted {
        let mut salted = Salted::default();
        for (index, zone) in ZONES.into_iter().enumerate() {
            let Some(names) = names(model, zone) else { continue };
            let mut hasher = Xxh3::new();
            let mut any = false;
            for name in &names.value {
                let value = match model.effective(name, params.get(name)) {
                    None if &**name == IMAGES && traits.image.is_some() => "true",
                    None => continue,
                    Some(value) => value,
                };
                any = true;
                for part in [&**name, value] {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part.as_bytes());
                }
            }
            if any {
                // Different zones with the same value must not cancel out where they begin at the same block.
                salted.salts[index] = hasher.digest().rotate_left(index as u32 * 17);
                salted.starts[index] = blocks.partition_point(|block| block.kind.zone() < zone);
            }
        }
        let strips = model.reasoning.as_ref().is_some_and(|known| known.value == Reasoning::Stripped);
        if strips && traits.reasoning.is_some() {
            salted.strip = blocks.iter().rposition(|block| block.kind == BlockKind::User).unwrap_or(0);
        }
        salted
    }

    /// The salt in front of a block.
    pub(super) fn at(&self, index: usize, block: &Block) -> u64 {
        let mut salt = 0;
        for (start, own) in self.starts.into_iter().zip(self.salts) {
            if own != 0 && start == index {
                salt ^= own;
            }
        }
        if index < self.strip && block.is_reasoning() { salt ^ STRIPPED } else { salt }
    }

    /// How many of the `same` leading blocks that two requests have in common have the same salts, and whether it is
    /// reasoning that makes it fewer.
    pub(super) fn same(&self, before: &Salted, blocks: &[Arc<Block>], same: usize) -> (usize, bool) {
        let mut fewer = same;
        for zone in 0..3 {
            if self.salts[zone] != before.salts[zone] {
                // Where only one of them has a salt, only that one knows where the zone begins.
                let start = if self.salts[zone] == 0 { before.starts[zone] } else { self.starts[zone] };
                fewer = fewer.min(start);
            }
        }
        let (from, to) = (self.strip.min(before.strip), self.strip.max(before.strip).min(fewer));
        let stripped = (from..to).find(|&index| blocks[index].is_reasoning());
        (stripped.unwrap_or(fewer), stripped.is_some())
    }
}

/// The parameters that count for a model and differ from those of the request before, those of the first zone first.
pub(super) fn changes(
    model: &Model,
    before: &Conversation,
    request: &Request,
    traits: Traits,
) -> Vec<SettingChange> {
    let (old, new) = (&before.params, &request.params);
    let mut found = Vec::new();
    for zone in ZONES {
        for name in names(model, zone).into_iter().flat_map(|names| &names.value) {
            let change = |old: Option<Name>, new: Option<Name>, cause| SettingChange {
                name: name.clone(),
                zone,
                old,
                new,
                cause,
            };
            if &**name == IMAGES {
                let shown = |any: bool| any.then(|| Name::from("shown"));
                let (old, new) = (before.traits.image.is_some(), traits.image.is_some());
                if old != new {
                    found.push(change(shown(old), shown(new), None));
                }
            } else if model.effective(name, old.get(name)) != model.effective(name, new.get(name)) {
                let cause = new.0.get(name).map(|param| param.cause);
                found.push(change(old.get(name).map(Into::into), new.get(name).map(Into::into), cause));
            }
        }
    }
    found
}
