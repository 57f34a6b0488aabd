//! The search for what loses less: one change after the other, then combinations of those that helped.

use super::worth::Sum;
use super::{Change, Fix, How};

/// No more changes than this are tried.
const MOST: usize = 24;
/// How many that help are offered.
const OFFERED: usize = 3;
/// How many changes are combined at most.
const TOGETHER: usize = 3;

/// What was tried on a run, and what is still to try.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// What the run as it is comes to, in each lane.
    base: Vec<Sum>,
    tried: Vec<Tried>,
    /// The first one last.
    left: Vec<Fix>,
    /// The single changes, of which combinations are made.
    singles: Vec<(String, Change)>,
    /// Those combinations that were extended already.
    extended: Vec<Vec<Change>>,
}

#[derive(Clone, Debug)]
struct Tried {
    fix: Fix,
    /// In each lane; empty for one that could not be made.
    sums: Vec<Sum>,
}

/// What helps, with what it is worth in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer<'a> {
    /// What is done.
    pub fix: &'a Fix,
    /// `lost 9,472 -> 0 in the run, saves $0.0213`.
    pub worth: String,
}

impl Search {
    /// A search among these, of which each is tried on a run that comes to `base` without any of them.
    #[must_use]
    pub fn new(base: Vec<Sum>, mut fixes: Vec<Fix>) -> Search {
        fixes.truncate(MOST);
        let single = |fix: &Fix| match fix.changes() {
            [change] => Some((fix.said.clone(), change.clone())),
            _ => None,
        };
        let singles = fixes.iter().filter_map(single).collect();
        fixes.reverse();
        Search { base, left: fixes, singles, ..Search::default() }
    }

    /// What is to be tried next; none when nothing is left. What comes of it is to be given to [`Search::add`].
    pub fn next_fix(&mut self) -> Option<Fix> {
        if self.left.is_empty() {
            self.combine();
        }
        self.left.pop()
    }

    /// Takes what came of one, in each lane; nothing for what could not be made.
    pub fn add(&mut self, fix: Fix, sums: Vec<Sum>) {
        self.tried.push(Tried { fix, sums });
    }

    /// What the run comes to without any of them, played from its first call on; none where there was nothing to try.
    #[must_use]
    pub fn base(&self, lane: usize) -> Option<&Sum> {
        self.base.get(lane)
    }

    /// How many were tried, and how many there are to try as far as that is known.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.tried.len(), self.tried.len() + self.left.len())
    }

    /// True for what loses less than the run as it is, or costs less, in a lane, and leaves the model no less informed.
    fn helps(&self, tried: &Tried, lane: usize) -> bool {
        self.base.get(lane).zip(tried.sums.get(lane)).is_some_and(|(base, sum)| base.is_better(sum))
    }

    /// When all that is known was tried: the best changes of each lane, each with one more, as long as something is lost.
    fn combine(&mut self) {
        for lane in 0..self.base.len() {
            let lost = |tried: &Tried| (tried.sums[lane].totals.lost, tried.sums[lane].totals.cost);
            let helping = || self.tried.iter().filter(|tried| self.helps(tried, lane));
            let best = helping().min_by_key(|tried| lost(tried));
            let edits = helping().filter(|tried| !tried.fix.changes().is_empty());
            let Some(tried) = edits.min_by_key(|tried| (lost(tried), tried.fix.changes().len())) else {
                continue;
            };
            let changes = tried.fix.changes();
            // What the author of the bench has named and loses nothing needs no company.
            let done = best.is_some_and(|best| best.sums[lane].totals.lost == 0);
            if done || changes.len() >= TOGETHER || self.extended.iter().any(|known| known == changes) {
                continue;
            }
            let mut more: Vec<Fix> = Vec::new();
            for (what, change) in &self.singles {
                if self.tried.len() + self.left.len() + more.len() >= MOST {
                    break;
                }
                if changes.iter().any(|other| other.excludes(change)) {
                    continue;
                }
                let with: Vec<Change> = changes.iter().chain([change]).cloned().collect();
                let known = self.tried.iter().map(|tried| &tried.fix).chain(&self.left).chain(&more);
                if !known.into_iter().any(|known| same_changes(known.changes(), &with)) {
                    more.push(Fix::new(format!("{} AND {what}", tried.fix.said), with));
                }
            }
            let extended = changes.to_vec();
            self.extended.push(extended);
            self.left.extend(more);
        }
    }

    /// Those that lose less in a lane, the best first.
    #[must_use]
    pub fn offers(&self, lane: usize) -> Vec<Offer<'_>> {
        let Some(base) = self.base.get(lane).filter(|base| base.totals.unknown == 0) else {
            return Vec::new();
        };
        let mut found: Vec<&Tried> = self.tried.iter().filter(|tried| self.helps(tried, lane)).collect();
        found.sort_by_key(|tried| {
            // Least lost; then what costs least; then what the bench's author named, and the smallest change.
            let totals = &tried.sums[lane].totals;
            let named = !matches!(tried.fix.how, How::Variants(_));
            (totals.lost, totals.cost, named, tried.fix.how.size())
        });
        // What costs more than it saves is worth a word only where nothing else helps.
        let cost = |tried: &Tried| tried.sums[lane].totals.cost;
        let first = found.first().map(|tried| cost(tried));
        found.retain(|tried| {
            let dear = base.totals.unpriced == 0 && cost(tried) > base.totals.cost;
            !dear || Some(cost(tried)) == first
        });
        let found = found.into_iter().take(OFFERED);
        found.map(|tried| Offer { fix: &tried.fix, worth: base.against(&tried.sums[lane]) }).collect()
    }
}

/// The same changes, in whatever order.
fn same_changes(a: &[Change], b: &[Change]) -> bool {
    a.len() == b.len() && a.iter().all(|change| b.contains(change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::bench::{Keeping, Refresh};
    use crate::core::cache::{Money, Totals};
    use crate::core::fix::KeepRule;

    fn sum(lost: u64, cost: u128) -> Vec<Sum> {
        let totals = Totals { lost, cost: Money::pico(cost), ..Totals::default() };
        vec![Sum { model: "a:b".into(), totals, misled: 0 }]
    }

    fn said(search: &Search) -> Vec<&str> {
        search.offers(0).iter().map(|offer| &*offer.fix.said).collect()
    }

    fn changes() -> [Change; 3] {
        [
            Change::Refresh("base".into(), Refresh::Session),
            Change::Place("base".into(), "end".into()),
            Change::Keep("note".into(), KeepRule::Persist, Keeping::Keep),
        ]
    }

    #[test]
    fn what_helps_is_combined_with_what_it_does_not_exclude() {
        let [refresh, place, keep] = changes();
        let fixes =
            vec![Fix::new("refresh", [refresh]), Fix::new("place", [place]), Fix::new("keep", [keep])];
        let mut search = Search::new(sum(100, 100), fixes);
        let mut order = Vec::new();
        while let Some(fix) = search.next_fix() {
            order.push(fix.said.clone());
            let came = match &*fix.said {
                "refresh" => sum(40, 80),
                "refresh AND keep" => sum(0, 60),
                _ => sum(100, 100),
            };
            search.add(fix, came);
        }
        // The other rule for the same layer is no company for it.
        assert_eq!(order, ["refresh", "place", "keep", "refresh AND keep"]);
        assert_eq!(said(&search), ["refresh AND keep", "refresh"]);
        assert_eq!(search.offers(0)[0].worth, "lost 100 -> 0 in the run, saves <$0.0001");
        assert_eq!(search.progress(), (4, 4));
    }

    #[test]
    fn what_could_not_be_made_or_tells_the_model_less_helps_nobody() {
        let [refresh, place, keep] = changes();
        let fixes =
            vec![Fix::new("refresh", [refresh]), Fix::new("place", [place]), Fix::new("keep", [keep])];
        let mut search = Search::new(sum(100, 100), fixes);
        while let Some(fix) = search.next_fix() {
            let came = match &*fix.said {
                "refresh" => Vec::new(),
                "place" => sum(0, 1).into_iter().map(|sum| Sum { misled: 1, ..sum }).collect(),
                _ => sum(100, 99),
            };
            search.add(fix, came);
        }
        assert_eq!(said(&search), <[&str; 0]>::default());
    }

    #[test]
    fn what_the_author_named_comes_first_and_what_costs_more_only_alone() {
        let variant = |name: &str| Fix {
            said: name.to_owned(),
            how: How::Variants(vec![name.into()]),
            worth: Vec::new(),
        };
        let [refresh, ..] = changes();
        let played = |costs: [u128; 2]| {
            let mut search =
                Search::new(sum(100, 100), vec![Fix::new("refresh", [refresh.clone()]), variant("named")]);
            while let Some(fix) = search.next_fix() {
                let came = if fix.said == "refresh" { sum(0, costs[0]) } else { sum(0, costs[1]) };
                search.add(fix, came);
            }
            said(&search).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(played([50, 50]), ["named", "refresh"]);
        assert_eq!(played([50, 150]), ["refresh"]);
        assert_eq!(played([150, 150]), ["named", "refresh"]);
    }
}
