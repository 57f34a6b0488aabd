//! Layers into places: the order in which they run and the order of their bytes.

use std::sync::Arc;

use crate::core::bench::{Bench, Place};
use crate::core::fact::{EventId, FactKey, Lookup, Name, Progress, Reads, Value};
use crate::core::source::{Facts, Templates, holds};
use crate::core::text::{Builder, Made, Origin, Traced};
use crate::core::wire::{Block, BlockKind, json};

/// The indices of the layers by ascending priority, equal ones as listed. Layers of block places come before the
/// layer that shows the block, whatever their priority, since it could not be composed otherwise.
#[must_use]
pub fn run_order(bench: &Bench) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bench.layers.len()).collect();
    order.sort_by_key(|&index| {
        (usize::MAX - block_depth(bench, &bench.layers[index].place, 0), bench.layers[index].run)
    });
    order
}

/// How deep a place is nested: 0 for what stands in a request by itself.
fn block_depth(bench: &Bench, place: &Name, depth: usize) -> usize {
    use crate::core::bench::{LayerSource, PlaceKind};
    // The bench was checked for cycles; the bound keeps this finite whatever is handed in.
    if depth > bench.places.len()
        || bench.places.get(place).is_none_or(|place| place.kind != PlaceKind::Block)
    {
        return depth;
    }
    let user =
        bench.layers.iter().find(|layer| matches!(&layer.from, LayerSource::Place(inner) if inner == place));
    user.map_or(depth + 1, |layer| block_depth(bench, &layer.place, depth + 1))
}

/// The indices of a place's layers in the order of their bytes: by key where the place says so, else by run order.
#[must_use]
pub fn byte_order(bench: &Bench, place: &str) -> Vec<usize> {
    let by_key = bench.places.get(place).is_some_and(|place| place.by_key);
    let mut order: Vec<usize> =
        (0..bench.layers.len()).filter(|&index| &*bench.layers[index].place == place).collect();
    if by_key {
        order.sort_by(|&a, &b| {
            let key = |index: usize| bench.layers[index].key.as_deref().unwrap_or(&bench.layers[index].id);
            key(a).cmp(key(b)).then(bench.layers[a].run.cmp(&bench.layers[b].run))
        });
    } else {
        order.sort_by_key(|&index| bench.layers[index].run);
    }
    order
}

/// Joins the pieces of a place, each with the separator in front of it; empty pieces and their separators are left
/// out. What the place wraps around them belongs to the place.
#[must_use]
pub fn join(place: &Place, pieces: impl Iterator<Item = Traced>) -> Traced {
    let pieces: Vec<Traced> = pieces.filter(|piece| !piece.is_empty()).collect();
    match (&*pieces, &place.wrap) {
        ([], _) => return Traced::default(),
        // As it is, without a copy: a prompt is often one long text.
        ([only], None) => return only.clone(),
        _ => {}
    }
    // Room for all of it: a text of a megabyte that grows is copied again and again.
    let around = place.wrap.as_ref().map_or(0, |(before, after)| before.len() + after.len());
    let bytes = pieces.iter().map(|piece| place.join.len() + piece.len()).sum::<usize>();
    let mut builder = Builder::with_capacity(around + bytes);
    let wrap = |text: &str, builder: &mut Builder| {
        if !text.is_empty() {
            builder.begin(place.id.clone(), Arc::default());
            let origin = Origin { part: place.id.clone(), made: Made::Literal, cause: EventId::OPENING };
            builder.push(text, Arc::new(origin), false);
        }
    };
    if let Some((before, _)) = &place.wrap {
        wrap(before, &mut builder);
    }
    for (index, piece) in pieces.iter().enumerate() {
        builder.append(if index == 0 { "" } else { &place.join }, piece);
    }
    if let Some((_, after)) = &place.wrap {
        wrap(after, &mut builder);
    }
    builder.finish()
}

/// The system blocks of a place, made of its layers' texts in byte order: one, named after the place, or with `join:
/// blocks` one for each layer, named after it. The very blocks that were sent before where nothing in them differs.
/// None where there is no text and the place does not keep empty ones.
#[must_use]
pub fn system_blocks(
    place: &Place,
    pieces: impl Iterator<Item = (Name, Traced)>,
    sent: &[Arc<Block>],
) -> Vec<Arc<Block>> {
    let block = |name: &Name, text: Traced| {
        let before = sent.iter().find(|block| block.kind == BlockKind::System && block.name == *name);
        match before {
            Some(block) if block.text == text => block.clone(),
            _ => Block::new(BlockKind::System, name.clone(), None, None, text),
        }
    };
    if place.blocks {
        let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
        return pieces.map(|(layer, piece)| block(&layer, piece)).collect();
    }
    let text = join(place, pieces.map(|(_, piece)| piece));
    if text.is_empty() && !place.keep_empty {
        return Vec::new();
    }
    vec![block(&place.id, text)]
}

/// The tool definitions of the present tools. `chosen` replaces the groups' own choice and order; `known` are the blocks
/// that were composed last.
pub fn tools(
    bench: &Bench,
    templates: &Templates,
    facts: &dyn Facts,
    chosen: Option<&[Name]>,
    cause: EventId,
    known: &[Arc<Block>],
) -> Progress<Vec<Arc<Block>>> {
    let mut needs = Vec::new();
    let mut blocks: Vec<Arc<Block>> = Vec::new();
    for group in &bench.tools {
        if let Some(when) = &group.when {
            match holds(when, bench, templates, facts) {
                Ok(Progress::Done(true)) => {}
                // An expression that fails has been reported when the bench was read; here the group is not there.
                Ok(Progress::Done(false)) | Err(_) => continue,
                Ok(Progress::Needs(more)) => {
                    needs.extend(more);
                    continue;
                }
            }
        }
        let schemas = match &group.schemas {
            None => None,
            Some(path) => {
                let key = FactKey::Data(path.clone());
                match facts.look(&key) {
                    Lookup::Ready(value, rev, cause) => Some((value, key, rev, cause)),
                    Lookup::Unknown => {
                        needs.push(key);
                        continue;
                    }
                    Lookup::Absent(_) | Lookup::Failed(..) => None,
                }
            }
        };
        for name in &group.names {
            // The definitions are the largest JSON there is: they are written out again only when their file changed.
            if let Some((_, key, rev, _)) = &schemas
                && let Some(known) =
                    known.iter().find(|block| block.name == *name && made_of(block, key, *rev))
            {
                blocks.push(known.clone());
                continue;
            }
            let definition = schemas.as_ref().and_then(|(value, ..)| definition(value, name));
            let definition = definition.unwrap_or_else(|| Value::map([("name", Value::Text(name.clone()))]));
            let text: Arc<str> = json::value(&definition).to_string().into();
            if let Some(known) = known
                .iter()
                .find(|b| b.kind == BlockKind::Tool && b.name == *name && **b.text.text() == *text)
            {
                blocks.push(known.clone());
                continue;
            }
            let mut reads = Reads::default();
            let mut made = Made::Literal;
            let mut event = cause;
            if let Some((_, key, rev, cause)) = &schemas {
                reads.note(key.clone(), crate::core::fact::Read { rev: *rev, cause: *cause, in_text: true });
                made = Made::Fact { key: key.clone(), rev: *rev, placeholder: None };
                event = event.max(*cause);
            }
            let text = Traced::whole(format!("tool {name}"), text, made, event).with_reads(&Arc::new(reads));
            blocks.push(Block::new(BlockKind::Tool, name.clone(), None, None, text));
        }
    }
    if !needs.is_empty() {
        return Progress::Needs(needs);
    }
    if let Some(chosen) = chosen {
        blocks = chosen
            .iter()
            .map(|name| {
                blocks.iter().find(|block| block.name == *name).cloned().unwrap_or_else(|| {
                    let text = serde_json::json!({ "name": &**name }).to_string();
                    let text = Traced::whole(format!("tool {name}"), text, Made::Literal, cause);
                    Block::new(BlockKind::Tool, name.clone(), None, None, text)
                })
            })
            .collect();
    }
    Progress::Done(blocks)
}

/// True for a tool's block that was made of this revision of a file.
fn made_of(block: &Block, key: &FactKey, rev: crate::core::fact::Rev) -> bool {
    let reads = block.text.parts().first().map(|part| &part.reads);
    block.kind == BlockKind::Tool
        && reads.and_then(|reads| reads.0.get(key)).is_some_and(|read| read.rev == rev)
}

/// A tool's definition in a list of definitions or a map from name to definition.
fn definition(schemas: &Value, name: &str) -> Option<Value> {
    match schemas {
        Value::List(items) => items
            .iter()
            .find(|item| {
                let named =
                    |item: &Value| item.get("name").and_then(Value::as_text).is_some_and(|n| **n == *name);
                named(item) || item.get("function").is_some_and(named)
            })
            .cloned(),
        Value::Map(map) => map.get(name).cloned(),
        _ => None,
    }
}
