//! Calls that a log holds twice: the same log given twice, a copy that was made when it was rotated, logs that were put
//! together. Each is to be counted once.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3;

use super::body::Loose;
use super::reader::Exchange;

/// The most calls that are remembered, so that memory has an end.
const MOST: usize = 1 << 20;

/// The calls that were seen.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    /// What a call is known by, with the place of its file among those that are read.
    seen: BTreeMap<u64, usize>,
    /// The latest time of each file, in milliseconds.
    latest: BTreeMap<usize, i64>,
}

impl Repeats {
    /// True where a call of a file was seen before. One that has neither a time nor an id never was: two requests that are
    /// the same are two calls.
    pub fn is_repeat(&mut self, file: usize, call: &Exchange) -> bool {
        let Some((known_by, has_id)) = known_by(call) else { return false };
        let latest = self.latest.entry(file).or_insert(i64::MIN);
        // Programs send the same twice in one second, but never earlier than what they sent before.
        let back = call.at.is_some_and(|at| at < *latest);
        *latest = (*latest).max(call.at.unwrap_or(i64::MIN));
        match self.seen.get(&known_by) {
            Some(&other) => has_id || back || other != file,
            None => {
                if self.seen.len() < MOST {
                    self.seen.insert(known_by, file);
                }
                false
            }
        }
    }

    /// How many calls are remembered at most, once there were more: of the others, repeats are counted again.
    #[must_use]
    pub fn full(&self) -> Option<usize> {
        (self.seen.len() == MOST).then_some(MOST)
    }
}

/// What a call is known by, and whether its provider or program has given it an id.
fn known_by(call: &Exchange) -> Option<(u64, bool)> {
    let answered = call.answered.as_ref();
    let id = answered.and_then(|answered| answered.id.as_deref()).or_else(|| call.id());
    if call.at.is_none() && id.is_none() {
        return None;
    }
    let mut hasher = Xxh3::new();
    let mut text = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for part in [id, call.session.as_deref(), call.agent.as_deref(), call.body.model.as_deref()] {
        text(part.unwrap_or_default());
    }
    let body = &call.body;
    let heads: [&[Loose]; 2] = [&body.tools, &body.system];
    for block in heads.into_iter().flatten() {
        text(&block.text);
    }
    let reported = answered.and_then(|answered| answered.reported).unwrap_or_default();
    let figures = [reported.sent, reported.read.unwrap_or(u64::MAX), reported.output.unwrap_or(u64::MAX)];
    let numbers = figures.into_iter().chain([call.at.unwrap_or(i64::MIN) as u64]);
    let hashes = body.elements.iter().map(|element| element.hash);
    for number in numbers.chain(hashes) {
        hasher.update(&number.to_le_bytes());
    }
    Some((hasher.digest(), id.is_some()))
}
