//! Recorded texts matched to the layers of a bench: by equal text, and where that has changed by the lines around it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::core::cache::Written;
use crate::core::fact::Name;
use crate::core::text::{Made, Part, Traced};
use crate::core::wire::Request;

/// The layer whose text stands in a recording. It is found by likeness, never known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Matched {
    /// What screens call the layer.
    pub layer: Name,
    /// Where in a file the changed bytes are written, where the line begins as the bench's does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.layer)?;
        match &self.written {
            Some(written) => write!(f, " {written}"),
            None => Ok(()),
        }
    }
}

/// Shorter lines stand anywhere by chance.
const SHORT: usize = 6;
/// How many lines around a change are looked at, on each side.
const AROUND: usize = 12;
/// How many bytes of a line a bench's line must have in common with it, to be the same line.
const BEGINS: usize = 3;

/// The layers of a bench, as its requests have them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    shown: BTreeMap<Name, Name>,
    /// Whole texts, by hash.
    wholes: BTreeMap<u64, Name>,
    /// Lines, by hash; none for one that several layers have.
    lines: BTreeMap<u64, Option<Name>>,
    /// The texts, to find placeholders in.
    texts: Vec<(Name, Traced)>,
}

impl Layers {
    /// Nothing yet. `shown` gives what screens call a layer, by its id: only those count.
    #[must_use]
    pub fn new(shown: BTreeMap<Name, Name>) -> Layers {
        Layers { shown, ..Layers::default() }
    }

    /// Learns the texts of a request of the bench.
    pub fn learn(&mut self, request: &Request) {
        for block in &request.blocks {
            for part in block.text.parts() {
                if self.shown.contains_key(&part.id) {
                    self.learn_part(&block.text, part);
                }
            }
        }
    }

    fn learn_part(&mut self, text: &Traced, part: &Part) {
        let own = &text[part];
        let hash = xxh3_64(own.as_bytes());
        if self.wholes.insert(hash, part.id.clone()).is_some() {
            return;
        }
        for line in own.lines().map(str::trim).filter(|line| line.len() >= SHORT) {
            let known = self.lines.entry(xxh3_64(line.as_bytes())).or_insert_with(|| Some(part.id.clone()));
            if known.as_ref().is_some_and(|known| *known != part.id) {
                *known = None;
            }
        }
        self.texts.push((part.id.clone(), text.clone()));
    }

    fn matched(&self, layer: &Name, written: Option<Written>) -> Matched {
        Matched { layer: self.shown.get(layer).unwrap_or(layer).clone(), written }
    }

    /// The layer whose text this is.
    #[must_use]
    pub fn whole(&self, text: &Arc<str>) -> Option<Matched> {
        let layer = self.wholes.get(&xxh3_64(text.as_bytes()))?;
        Some(self.matched(layer, None))
    }

    /// The layer that a byte of a recorded text belongs to.
    #[must_use]
    pub fn at(&self, text: &Arc<str>, byte: usize) -> Option<Matched> {
        let byte = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at))?;
        let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let head = &text[start..byte];
        // A line of a bench that begins like this one: it goes on in another way at the change, or before it, where the
        // bench has another value than the recording ever had.
        let mut of_line: Option<(usize, Name, Option<Written>)> = None;
        for (layer, own) in &self.texts {
            let Some(part) = own.parts().iter().find(|part| part.id == *layer) else { continue };
            let mut at = part.body;
            for line in own[part].split_inclusive('\n') {
                let common = begins(line, head);
                let best = of_line.as_ref().map_or(BEGINS - 1, |(best, ..)| *best);
                if common > best
                    && let Some((range, span)) = own.span_at(at + common)
                    && (common == head.len() || !matches!(span.origin.made, Made::Verbatim { .. }))
                {
                    let written = Written::of(&span.origin, at + common - range.start);
                    of_line = Some((common, layer.clone(), written));
                }
                at += line.len();
            }
        }
        let around = self.around(text, start);
        match (around, of_line) {
            (Some(layer), Some((_, own, written))) if layer == own => Some(self.matched(&layer, written)),
            (Some(layer), _) => Some(self.matched(&layer, None)),
            (None, Some((_, own, written))) => Some(self.matched(&own, written)),
            (None, None) => None,
        }
    }

    /// The layer that most of the lines around a line belong to; the nearest one where there is a draw.
    fn around(&self, text: &str, start: usize) -> Option<Name> {
        let before = text[..start].lines().rev().take(AROUND);
        let after = text[start..].lines().skip(1).take(AROUND);
        let mut votes: BTreeMap<Name, usize> = BTreeMap::new();
        for (distance, line) in before.enumerate().chain(after.enumerate()) {
            let layer = self.lines.get(&xxh3_64(line.trim().as_bytes())).cloned().flatten();
            if let Some(layer) = layer {
                *votes.entry(layer).or_default() += 2 * AROUND - distance;
            }
        }
        votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(layer, _)| layer)
    }
}

/// The bytes that two lines have in common in front, up to the end of a character.
fn begins(a: &str, b: &str) -> usize {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=common).rev().find(|&at| a.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::EventId;

    fn layers(texts: &[(&str, &str)]) -> Layers {
        let mut layers =
            Layers::new(texts.iter().map(|(id, _)| ((*id).into(), format!("{id} shown").into())).collect());
        for (id, text) in texts {
            let traced = Traced::whole(*id, *text, Made::Literal, EventId::OPENING);
            let part = traced.parts()[0].clone();
            layers.learn_part(&traced, &part);
        }
        layers
    }

    #[test]
    fn a_changed_line_belongs_to_the_layer_around_it() {
        let layers = layers(&[
            ("base", "You are an agent.\nWorking directory: /a\nBe kind to users.\n"),
            ("rules", "Never push to main.\nCommon line here.\nTest what you write.\n"),
            ("other", "Common line here.\nSomething else again."),
        ]);
        let text: Arc<str> =
            "You are an agent.\nWorking directory: /b/c\nBe kind to users.\nNever push to main.\nCommon line here.\n".into();
        let at = |needle: &str| layers.at(&text, text.find(needle).expect("there")).map(|m| m.to_string());
        assert_eq!(at("/b/c").as_deref(), Some("base shown"));
        assert_eq!(at("Never").as_deref(), Some("base shown"));
        assert_eq!(layers.at(&"nothing\nof it".into(), 3), None);
        assert_eq!(
            layers
                .whole(&"Common line here.\nSomething else again.".into())
                .map(|m| m.to_string())
                .as_deref(),
            Some("other shown")
        );
    }
}
