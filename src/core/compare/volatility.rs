//! How often each layer of the system prompt was another text than in the call before, over turns and runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::core::bench::{Bench, LayerSource, PlaceKind};
use crate::core::fact::Name;
use crate::core::run::{CallRecord, Session};
use crate::core::tokens::Measure;
use crate::core::wire::BlockKind;

/// How often something changed: in `changed` of `of` cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Cases in which it changed.
    pub changed: u32,
    /// All cases.
    pub of: u32,
}

impl Share {
    fn note(&mut self, changed: bool) {
        self.of += 1;
        self.changed += u32::from(changed);
    }
}

/// How often one layer changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerVolatility {
    /// The layer.
    pub layer: Name,
    /// Its place.
    pub place: Name,
    /// When its bench makes it again: `session`, `turn`, `call`, `change`.
    pub refresh: &'static str,
    /// From one call to the next inside of a turn.
    pub in_turn: Share,
    /// From the last call of a turn to the first of the next.
    pub at_turn: Share,
    /// From the first call of one run to that of the next run.
    pub between_runs: Share,
    /// Its tokens when it was last there; none where they cannot be counted.
    pub tokens: Option<u32>,
}

impl LayerVolatility {
    /// How often it changed in all.
    #[must_use]
    pub fn changed(&self) -> u32 {
        self.in_turn.changed + self.at_turn.changed + self.between_runs.changed
    }

    /// Of how many cases.
    #[must_use]
    pub fn of(&self) -> u32 {
        self.in_turn.of + self.at_turn.of + self.between_runs.of
    }
}

/// How often the layers of a bench changed, over all runs that were taken in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Volatility {
    /// Runs.
    pub runs: u32,
    /// Calls in them.
    pub calls: u32,
    /// The layers of the system prompt, in the order of the bytes.
    pub layers: Vec<LayerVolatility>,
    #[serde(skip)]
    texts: BTreeMap<Name, Arc<str>>,
    /// The texts with which each conversation began in the run before.
    #[serde(skip)]
    began: BTreeMap<Name, Texts>,
}

type Texts = BTreeMap<Name, Arc<str>>;

impl Volatility {
    /// Takes in what a session of a run was sent.
    pub fn add(&mut self, session: &Session) {
        let bench = session.bench().clone();
        self.runs += 1;
        let waiting = session.prepared().filter(|_| session.calls().is_empty());
        let mut before: BTreeMap<Name, (&CallRecord, Texts)> = BTreeMap::new();
        for record in session.calls().iter().map(|record| &**record).chain(waiting) {
            self.calls += 1;
            let old = before.remove(&record.agent);
            let same = old.as_ref().is_some_and(|(old, _)| {
                old.head.len() == record.head.len()
                    && old.head.iter().zip(&*record.head).all(|(a, b)| Arc::ptr_eq(a, b) || a.hash == b.hash)
            });
            let texts = match &old {
                Some((_, texts)) if same => texts.clone(),
                _ => self.texts_of(&bench, record),
            };
            match &old {
                Some((old, old_texts)) => {
                    let at_turn = old.turn != record.turn;
                    for layer in &mut self.layers {
                        let (was, is) = (old_texts.get(&layer.layer), texts.get(&layer.layer));
                        if was.is_none() && is.is_none() {
                            continue;
                        }
                        let share = if at_turn { &mut layer.at_turn } else { &mut layer.in_turn };
                        share.note(was != is);
                    }
                }
                None => {
                    if let Some(began) = self.began.get(&record.agent) {
                        for layer in &mut self.layers {
                            let (was, is) = (began.get(&layer.layer), texts.get(&layer.layer));
                            if was.is_some() || is.is_some() {
                                layer.between_runs.note(was != is);
                            }
                        }
                    }
                    self.began.insert(record.agent.clone(), texts.clone());
                }
            }
            before.insert(record.agent.clone(), (record, texts));
        }
    }

    /// Counts the tokens of each layer as it was last there.
    pub fn count(&mut self, measure: &mut dyn Measure) {
        for layer in &mut self.layers {
            layer.tokens = self.texts.get(&layer.layer).map(|text| measure.tokens(text));
        }
    }

    /// The texts of the layers that stand in the system prompt, each with what stands in its blocks.
    fn texts_of(&mut self, bench: &Bench, record: &CallRecord) -> Texts {
        let mut texts: BTreeMap<Name, String> = BTreeMap::new();
        let mut last: Option<usize> = None;
        for block in record.head.iter().filter(|block| block.kind == BlockKind::System) {
            for part in block.text.parts() {
                let Some(layer) = standing(bench, &part.id) else { continue };
                texts.entry(layer.id.clone()).or_default().push_str(&block.text[part]);
                match self.layers.iter().position(|known| known.layer == layer.id) {
                    Some(at) => last = Some(at),
                    None => {
                        let at = last.map_or(0, |last| last + 1);
                        self.layers.insert(
                            at,
                            LayerVolatility {
                                layer: layer.id.clone(),
                                place: layer.place.clone(),
                                refresh: layer.refresh.word(),
                                in_turn: Share::default(),
                                at_turn: Share::default(),
                                between_runs: Share::default(),
                                tokens: None,
                            },
                        );
                        last = Some(at);
                    }
                }
            }
        }
        let texts: Texts = texts.into_iter().map(|(id, text)| (id, text.into())).collect();
        self.texts.extend(texts.iter().map(|(id, text)| (id.clone(), text.clone())));
        texts
    }
}

/// The layer of a system place in which a part stands: itself, or the one that shows its block there.
fn standing<'b>(bench: &'b Bench, part: &str) -> Option<&'b crate::core::bench::Layer> {
    let mut layer = bench.layer(part)?;
    // Blocks stand in blocks; a bench in which they stood in one another would not have been read.
    for _ in 0..=bench.layers.len() {
        match bench.places.get(&layer.place)?.kind {
            PlaceKind::System => return Some(layer),
            PlaceKind::Block => {
                let shows = |other: &&crate::core::bench::Layer| matches!(&other.from, LayerSource::Place(place) if *place == layer.place);
                layer = bench.layers.iter().find(shows)?;
            }
            PlaceKind::CurrentUser | PlaceKind::NewestTool | PlaceKind::Message { .. } => return None,
        }
    }
    None
}
