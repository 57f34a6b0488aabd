//! Blocks: what stands between two markers, inside a budget.
//!
//! Layers are taken in the order of their bytes: those that are required first, then the others until the first that
//! does not fit; that one and those behind it are evicted, each with what it would have needed. Where the required ones
//! alone are too much, what stands in the block is cut between characters; its markers stay.

pub mod file;
pub mod generated;
mod marker;
pub mod scan;

use crate::core::bench::{Boundary, Cap, CapUnit, Place};
use crate::core::compose;
use crate::core::fact::{EventId, Name};
use crate::core::text::number::grouped;
use crate::core::text::{Builder, Made, Origin, Traced, count, cut};

use std::sync::Arc;

/// What is written where the required layers had to be cut.
const CUT: &str = "...";

/// A layer that wants to stand in a block.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The layer.
    pub layer: Name,
    /// Its text, not empty.
    pub text: Traced,
    /// True where it is never evicted.
    pub required: bool,
}

/// A layer that did not get into a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The layer.
    pub layer: Name,
    /// The budget, in characters.
    pub budget: usize,
    /// The characters that it would have needed, with the separator in front of it.
    pub needs: usize,
    /// The characters that were left.
    pub left: usize,
    /// The layer before it that did not fit; none for the first.
    pub behind: Option<Name>,
}

/// The start of the reason of every layer that did not get into a block.
pub const EVICTED: &str = "evicted: ";

/// The reason, as the list of layers shows it.
impl std::fmt::Display for Evicted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (budget, needs, left) = (grouped(self.budget), grouped(self.needs), grouped(self.left));
        write!(f, "{EVICTED}budget {budget}, needs {needs}, {left} left")?;
        match &self.behind {
            Some(layer) => write!(f, ", behind {layer}"),
            None => Ok(()),
        }
    }
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Its text, markers and all; empty where nothing stands in it.
    pub text: Traced,
    /// What did not get into it, in the order in which it was considered.
    pub evicted: Vec<Evicted>,
    /// The characters that its required layers lost, and how many the block would have had without the cut.
    pub cut: Option<(usize, usize)>,
    /// The layers in whose text a marker stood, which was broken so that nobody takes it for the end of the block.
    pub broken: Vec<Name>,
}

/// Composes a block from the layers that want to stand in it, in the order of their bytes.
#[must_use]
pub fn compose(place: &Place, offered: &[Offered]) -> Block {
    let all: Vec<&Offered> = offered.iter().filter(|offered| !offered.text.is_empty()).collect();
    let mut taken: Vec<bool> = all.iter().map(|offered| place.budget.is_none() || offered.required).collect();
    let build = |taken: &[bool]| {
        let chosen = all.iter().zip(taken).filter(|(_, taken)| **taken);
        framed(place, compose::join(place, chosen.map(|(offered, _)| offered.text.clone())))
    };
    let (mut text, mut broken) = build(&taken);
    let mut evicted = Vec::new();
    let mut lost = None;
    if let Some(budget) = place.budget {
        let mut first: Option<Name> = None;
        // Where the size of the block is the sum of its parts, nothing is joined until all is chosen.
        let sizes = sizes(place, &all);
        let sum = |taken: &[bool], sizes: &[usize]| {
            let chosen = || taken.iter().zip(sizes).filter(|(taken, _)| **taken).map(|(_, size)| size);
            let joins = chosen().count().saturating_sub(1) * count::chars(&place.join);
            if chosen().next().is_none() { 0 } else { frame(place) + joins + chosen().sum::<usize>() }
        };
        for index in 0..all.len() {
            if taken[index] {
                continue;
            }
            let before = sizes.as_ref().map_or_else(|| count::chars(text.text()), |sizes| sum(&taken, sizes));
            taken[index] = true;
            let longer = if sizes.is_none() { Some(build(&taken)) } else { None };
            let after = match (&longer, &sizes) {
                (Some((longer, _)), _) => count::chars(longer.text()),
                (None, Some(sizes)) => sum(&taken, sizes),
                (None, None) => before,
            };
            if first.is_none() && after <= budget {
                if let Some(longer) = longer {
                    (text, broken) = longer;
                }
                continue;
            }
            taken[index] = false;
            let layer = all[index].layer.clone();
            evicted.push(Evicted {
                layer: layer.clone(),
                budget,
                needs: after.saturating_sub(before),
                left: budget.saturating_sub(before),
                behind: first.clone(),
            });
            first.get_or_insert(layer);
        }
        if sizes.is_some() {
            (text, broken) = build(&taken);
        }
        let chars = count::chars(text.text());
        if chars > budget {
            let chosen = all.iter().zip(&taken).filter(|(_, taken)| **taken);
            let body = Place { wrap: None, ..place.clone() };
            let body = compose::join(&body, chosen.map(|(offered, _)| offered.text.clone()));
            let (body, _) = marker::broken(place.markers.as_ref(), &body);
            let mut room = count::chars(body.text()).saturating_sub(chars - budget);
            // What is cut may leave half of something that has to be broken once more, which makes it longer; so does
            // a mark that is longer than what it stands for.
            loop {
                let (short, gone) = cut::traced(&body, &mark_at(room));
                let (shorter, more) = framed(place, wrapped(place, &short));
                let over = count::chars(shorter.text()).saturating_sub(budget);
                (text, lost) = (shorter, Some((gone, chars)));
                broken.extend(more.into_iter().filter(|layer| !broken.contains(layer)).collect::<Vec<_>>());
                if over == 0 || room == 0 {
                    break;
                }
                room = room.saturating_sub(over);
            }
        }
    }
    Block { text, evicted, cut: lost, broken }
}

/// The characters of each text, where the size of a block is their sum with its frame and its joins: where no marker has to
/// be broken, because none stands in a text and none can come about between two.
fn sizes(place: &Place, all: &[&Offered]) -> Option<Vec<usize>> {
    // No marker holds a line end.
    let apart = |text: &str| text.contains('\n');
    let wrapped =
        place.wrap.as_ref().is_none_or(|(before, after)| before.ends_with('\n') && after.starts_with('\n'));
    let quiet = |text: &Traced| {
        let holds = |marker: &Name| text.text().contains(&**marker);
        place.markers.as_ref().is_none_or(|markers| !holds(&markers.start) && !holds(&markers.end))
    };
    let sum = apart(&place.join) && wrapped && all.iter().all(|offered| quiet(&offered.text));
    sum.then(|| all.iter().map(|offered| count::chars(offered.text.text())).collect())
}

fn mark_at(limit: usize) -> Cap {
    Cap {
        unit: CapUnit::Chars,
        limit,
        boundary: Boundary::Char,
        mark: CUT.into(),
        mark_inside: true,
        whole_items: false,
    }
}

/// The wrap of a place around a text that is joined already.
fn wrapped(place: &Place, text: &Traced) -> Traced {
    if text.is_empty() {
        // Nothing is left to be wrapped, but the block was not empty: what is wrapped around it stays.
        let mut builder = Builder::default();
        if let Some((before, after)) = &place.wrap {
            literal(place, &mut builder, before);
            literal(place, &mut builder, after);
        }
        return builder.finish();
    }
    compose::join(&Place { join: "".into(), ..place.clone() }, std::iter::once(text.clone()))
}

/// The markers around what stands in a block, and the layers whose text held one. A block of nothing has none.
fn framed(place: &Place, inner: Traced) -> (Traced, Vec<Name>) {
    let (inner, broken) = marker::broken(place.markers.as_ref(), &inner);
    let Some(markers) = place.markers.as_ref().filter(|_| !inner.is_empty()) else { return (inner, broken) };
    let mut builder = Builder::default();
    literal(place, &mut builder, &format!("{}\n", markers.start));
    builder.append("", &inner);
    literal(place, &mut builder, &format!("\n{}", markers.end));
    (builder.finish(), broken)
}

/// Text that belongs to the place.
fn literal(place: &Place, builder: &mut Builder, text: &str) {
    if text.is_empty() {
        return;
    }
    builder.begin(place.id.clone(), Arc::default());
    let origin = Origin { part: place.id.clone(), made: Made::Literal, cause: EventId::OPENING };
    builder.push(text, Arc::new(origin), false);
}

/// The characters that a place needs for itself: its markers and what is wrapped around its layers.
#[must_use]
pub fn frame(place: &Place) -> usize {
    let markers = place.markers.as_ref().map_or(0, |m| count::chars(&m.start) + count::chars(&m.end) + 2);
    let wrap = place.wrap.as_ref().map_or(0, |(before, after)| count::chars(before) + count::chars(after));
    markers + wrap
}

/// The smallest budget that a place can keep: its frame and the sign that something was cut.
#[must_use]
pub fn least_budget(place: &Place) -> usize {
    frame(place) + count::chars(CUT)
}

#[cfg(test)]
mod tests;
