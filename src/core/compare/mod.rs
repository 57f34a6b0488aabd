//! Every way of building the same run, side by side: what each costs each model, and what the model believed meanwhile.
//!
//! [`Comparison`] says which ways to play, one after the other, and takes what came of each; whoever drives it builds the
//! benches and supplies the facts. [`Table`] is what is shown of it, for a number of turns. The ways are the variants of
//! the bench and the policies that [`derive()`] finds for it.

mod order;
mod policies;
mod replay;
mod row;
mod sums;
mod table;
mod volatility;
mod words;

pub use order::{Suggestion, Worth, pick, reordered, suggest};
pub use policies::{NAMES as POLICIES, Policy, derive};
pub use replay::{Replays, Unkept, UnkeptCost, unkept, unkept_in};
pub use row::{Beliefs, CallCell, Row, RowCall, Sum, Told};
pub use sums::{Wrong, check};
pub use table::{Table, TableRow};
pub use volatility::{LayerVolatility, Share, Volatility};

use crate::core::cache::{Family, Models};
use crate::core::fact::Name;

/// Pairs of ways are tried only for runs up to this many calls and up to this many single ways: they are a suggestion,
/// and nobody should have to wait for it.
const PAIRS: (usize, usize) = (60, 14);

/// The models beside the bench's own: one of each of the three families that differ most in what a change costs.
const USUAL: [(&str, &str); 3] = [
    ("openai", "openai:gpt-5.4"),
    ("anthropic", "anthropic:claude-sonnet-5"),
    ("deepseek", "deepseek:deepseek-v4-pro"),
];

/// The models that a comparison shows unless others are asked for: the bench's, and two of other vendors.
#[must_use]
pub fn usual_models(models: &Models, own: &Name) -> Vec<Name> {
    let provider =
        |id: &str| id.split_once(':').map_or_else(String::new, |(provider, _)| provider.to_owned());
    let mut out = vec![own.clone()];
    for (vendor, preferred) in USUAL {
        if out.len() == 3 || provider(own) == vendor {
            continue;
        }
        let known = models.models.get_key_value(preferred).map(|(id, _)| id);
        let any = || models.models.keys().find(|id| provider(id) == vendor);
        if let Some(id) = known.or_else(any) {
            out.push(id.clone());
        }
    }
    out
}

/// What is still to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The bench, and each way by itself.
    Singles,
    /// Two ways at once.
    Pairs,
    /// The best two and one more.
    Triples,
    /// Nothing.
    Done,
}

/// Which ways are played, and what came of those that were.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The models, as `provider:model`, in the order of the columns.
    pub models: Vec<Name>,
    /// What was played so far, in the order in which it was.
    pub rows: Vec<Row>,
    policies: Vec<Policy>,
    /// What is to be played next, the first last.
    queue: Vec<Vec<Name>>,
    phase: Phase,
    /// True where the ways were chosen, so that no others are tried.
    chosen: bool,
}

impl Comparison {
    /// Compares the bench as it is written with each of these variants and policies, and where there are few enough, with
    /// the best two and three of them at once. Policies that make no difference to any of the models are left out.
    #[must_use]
    pub fn new(models: Vec<Name>, ways: &[Name], policies: Vec<Policy>, known: &Models) -> Comparison {
        let marked = models.iter().any(|id| match known.get(id).family {
            Some(Family::Marked(_)) => true,
            Some(_) => false,
            None => false,
        });
        let useful = |policy: &Policy| marked || policy.changes.iter().any(|(path, _)| &**path != "marks");
        let policies: Vec<Policy> = policies.into_iter().filter(useful).collect();
        let singles = ways.iter().cloned().chain(policies.iter().map(|policy| policy.name.clone()));
        let mut queue: Vec<Vec<Name>> =
            std::iter::once(Vec::new()).chain(singles.map(|name| vec![name])).collect();
        queue.reverse();
        Comparison { models, rows: Vec::new(), policies, queue, phase: Phase::Singles, chosen: false }
    }

    /// Compares the bench as it is written with these sets of variants and policies, and with no others.
    #[must_use]
    pub fn of(models: Vec<Name>, sets: Vec<Vec<Name>>, policies: Vec<Policy>) -> Comparison {
        let mut queue: Vec<Vec<Name>> = Vec::new();
        for set in std::iter::once(Vec::new()).chain(sets) {
            if !queue.contains(&set) {
                queue.push(set);
            }
        }
        queue.reverse();
        Comparison { models, rows: Vec::new(), policies, queue, phase: Phase::Singles, chosen: true }
    }

    /// The policies, by their names.
    #[must_use]
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// What is to be played next; none when all is. Its row is to be given to [`Comparison::add`].
    pub fn next_way(&mut self) -> Option<Vec<Name>> {
        loop {
            if let Some(names) = self.queue.pop() {
                return Some(names);
            }
            let (phase, queue) = match self.phase {
                _ if self.chosen => (Phase::Done, Vec::new()),
                Phase::Singles => (Phase::Pairs, self.pairs()),
                Phase::Pairs => (Phase::Triples, self.triples()),
                Phase::Triples | Phase::Done => (Phase::Done, Vec::new()),
            };
            self.phase = phase;
            self.queue = queue;
            self.queue.reverse();
            if self.queue.is_empty() && self.phase == Phase::Done {
                return None;
            }
        }
    }

    /// Takes what came of a way.
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// True when every way was played.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.queue.is_empty() && self.phase == Phase::Done
    }

    /// How many ways are played, of how many that are known by now: pairs follow once the single ones are.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.len() + self.queue.len())
    }

    /// The row of the bench as it is written.
    #[must_use]
    pub fn base(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.names.is_empty())
    }

    /// The first row that was sent the same as this one, if that is another.
    #[must_use]
    pub fn same_as(&self, row: &Row) -> Option<&Row> {
        let same = |other: &&Row| other.failed.is_none() && other.sent == row.sent;
        self.rows.iter().find(same).filter(|other| row.failed.is_none() && other.names != row.names)
    }

    /// Ways by themselves that are sent something of their own.
    fn singles(&self) -> Vec<&Row> {
        let own = |row: &&Row| row.failed.is_none() && row.names.len() == 1 && self.same_as(row).is_none();
        self.rows.iter().filter(own).collect()
    }

    fn pairs(&self) -> Vec<Vec<Name>> {
        let singles = self.singles();
        let calls = self.base().map_or(0, |row| row.calls.len());
        if calls > PAIRS.0 || singles.len() > PAIRS.1 {
            return Vec::new();
        }
        let loses =
            |row: &Row| (0..self.models.len()).any(|model| row.sum(model, None).lost.is_some_and(|n| n > 0));
        // Two policies contradict one another, but for the mark, which goes with each.
        let is_policy = |name: &Name| {
            self.policies.iter().any(|policy| {
                policy.name == *name && policy.changes.iter().all(|(path, _)| &**path != "marks")
            })
        };
        let mut pairs = Vec::new();
        for (index, first) in singles.iter().enumerate() {
            for second in &singles[index + 1..] {
                let names = [&first.names[0], &second.names[0]];
                if loses(first) && loses(second) && !names.iter().all(|name| is_policy(name)) {
                    pairs.push(names.map(Name::clone).to_vec());
                }
            }
        }
        pairs
    }

    fn triples(&self) -> Vec<Vec<Name>> {
        let Some(pair) = self.best_pair() else { return Vec::new() };
        let more = self.singles().into_iter().map(|row| row.names[0].clone());
        more.filter(|name| !pair.names.contains(name))
            .map(|name| pair.names.iter().cloned().chain([name]).collect())
            .collect()
    }

    /// Of two ways at once that tell the truth, those that cost least, if that is less than each by itself.
    #[must_use]
    pub fn best_pair(&self) -> Option<&Row> {
        let least = self.cheapest(|row| row.names.len() < 2)?;
        let pair = self.cheapest(|row| row.names.len() == 2)?;
        (self.costs(pair) < self.costs(least)).then_some(pair)
    }

    /// The best two with one more, if that costs some model less by a hundredth at least, and none more.
    #[must_use]
    pub fn best_triple(&self) -> Option<&Row> {
        let pair = self.best_pair()?;
        let before = self.costs(pair);
        let better = |row: &&Row| {
            let after = self.costs(row);
            let none_more = after.iter().zip(&before).all(|(after, before)| after <= before);
            let some_less = after
                .iter()
                .zip(&before)
                .any(|(after, before)| after.saturating_mul(100) < before.saturating_mul(99));
            row.names.len() == 3 && row.names[..2] == pair.names && none_more && some_less
        };
        let honest = self.rows.iter().filter(|row| row.failed.is_none() && row.told(None).is_honest());
        honest.filter(better).min_by_key(|row| self.costs(row))
    }

    /// Of the rows that leave nothing stale and nothing untold, the one that costs least: on the first model, and where
    /// rows cost the same there, on the next.
    fn cheapest(&self, of: impl Fn(&Row) -> bool) -> Option<&Row> {
        let honest = |row: &&Row| of(row) && row.failed.is_none() && row.told(None).is_honest();
        self.rows.iter().filter(honest).min_by_key(|row| self.costs(row))
    }

    /// What a row costs each model, in picodollars; what has no price, by what it loses.
    fn costs(&self, row: &Row) -> Vec<u128> {
        let cost = |model: usize| {
            let sum = row.sum(model, None);
            sum.cost.map(crate::core::cache::Money::as_pico).or(sum.lost.map(u128::from)).unwrap_or(0)
        };
        (0..self.models.len()).map(cost).collect()
    }
}
