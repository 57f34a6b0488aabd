//! The memory of a server: so many tokens of prompts, of which what was used longest ago goes first, from its end.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Running;
use super::tree::{NONE, Seq};

/// What is kept of a node's block.
#[derive(Clone, Copy, Debug, Default)]
struct Stay {
    /// Leading tokens of it.
    tokens: u32,
    used: Seq,
    depth: u32,
}

/// The tokens that are in memory, by the nodes of a tree of prefixes.
#[derive(Clone, Debug)]
pub(super) struct Room {
    limit: u64,
    /// Tokens that go together.
    page: u32,
    /// By node.
    stays: Vec<Stay>,
    tokens: u64,
    /// What goes next stands first: what was used longest ago, and of a prompt its end.
    order: BTreeSet<(Seq, Reverse<u32>, u32)>,
    seq: Seq,
}

impl Room {
    /// Room for so many tokens, which come and go in pages.
    pub(super) fn new(limit: u32, page: u32) -> Room {
        Room {
            limit: u64::from(limit),
            page: page.max(1),
            stays: Vec::new(),
            tokens: 0,
            order: BTreeSet::new(),
            seq: 0,
        }
    }

    /// How many leading tokens of a request are in memory. From then on all of it is, as far as there is room: `path` are
    /// the nodes of its blocks.
    pub(super) fn call(&mut self, path: &[u32], running: Running<'_>) -> u32 {
        let nodes = path.iter().max().map_or(0, |&last| last as usize + 1);
        if self.stays.len() < nodes {
            self.stays.resize(nodes, Stay::default());
        }
        let size = |depth: usize| running.behind(depth) - running.before(depth);
        let mut there = 0;
        for (depth, &node) in path.iter().enumerate() {
            let stays = self.stays[node as usize].tokens.min(size(depth));
            there += stays;
            if stays < size(depth) {
                break;
            }
        }
        self.seq += 1;
        for (depth, &node) in path.iter().enumerate() {
            let stay = Stay { tokens: size(depth), used: self.seq, depth: depth as u32 };
            self.put(node, stay);
        }
        self.make_room();
        there
    }

    fn put(&mut self, node: u32, stay: Stay) {
        let old = std::mem::replace(&mut self.stays[node as usize], stay);
        if old.tokens > 0 {
            self.order.remove(&(old.used, Reverse(old.depth), node));
        }
        self.tokens = self.tokens - u64::from(old.tokens) + u64::from(stay.tokens);
        if stay.tokens > 0 {
            self.order.insert((stay.used, Reverse(stay.depth), node));
        }
    }

    fn make_room(&mut self) {
        while self.tokens > self.limit {
            let Some(&(_, _, node)) = self.order.first() else { break };
            let stay = self.stays[node as usize];
            let over = (self.tokens - self.limit).min(u64::from(stay.tokens)) as u32;
            let goes = over.div_ceil(self.page).saturating_mul(self.page).min(stay.tokens);
            self.put(node, Stay { tokens: stay.tokens - goes, ..stay });
        }
    }

    /// Takes over the new numbers of the nodes; what the tree has forgotten is not in memory any more.
    pub(super) fn moved(&mut self, moved: &[u32]) {
        let old = std::mem::take(&mut self.stays);
        self.order.clear();
        self.tokens = 0;
        for (stay, &node) in old.into_iter().zip(moved) {
            if node == NONE {
                continue;
            }
            if self.stays.len() <= node as usize {
                self.stays.resize(node as usize + 1, Stay::default());
            }
            self.put(node, stay);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_from_its_end() {
        let mut room = Room::new(100, 16);
        let mut call = |path: &[u32], sums: &[u32]| room.call(path, Running(sums));
        assert_eq!(call(&[1, 2], &[40, 80]), 0);
        assert_eq!(call(&[1, 2], &[40, 80]), 80);
        // 30 more, of which 10 are too many: a page of 16 of the end of the older prompt.
        assert_eq!(call(&[1, 3], &[40, 70]), 40);
        assert_eq!(call(&[1, 2], &[40, 80]), 64);
        // One that has no room alone is kept as far as there is some.
        assert_eq!(call(&[4], &[300]), 0);
        assert_eq!(call(&[4], &[300]), 92);
        assert_eq!(call(&[1, 2], &[40, 80]), 0);
        assert!(room.tokens <= 100);
    }

    #[test]
    fn nodes_may_get_new_numbers() {
        let mut room = Room::new(1_000, 1);
        room.call(&[1, 2, 3], Running(&[10, 20, 30]));
        room.call(&[1, 4], Running(&[10, 25]));
        room.moved(&[0, 1, NONE, NONE, 2]);
        assert_eq!(room.tokens, 25);
        assert_eq!(room.call(&[1, 2], Running(&[10, 25])), 25);
        assert_eq!(room.call(&[1, 3], Running(&[10, 20])), 10);
    }

    proptest::proptest! {
        #[test]
        fn there_is_never_more_than_there_is_room(
            calls in proptest::collection::vec((1..6_u32, 1..4_usize, 1..50_u32), 1..40),
            limit in 1..200_u32,
        ) {
            let mut room = Room::new(limit, 1);
            for (start, len, each) in calls {
                let path: Vec<u32> = (start..).take(len).collect();
                let sums: Vec<u32> = (1..).map(|at| at * each).take(len).collect();
                let there = room.call(&path, Running(&sums));
                proptest::prop_assert!(there <= sums[len - 1]);
                let kept: u64 = room.stays.iter().map(|stay| u64::from(stay.tokens)).sum();
                proptest::prop_assert_eq!(kept, room.tokens);
                proptest::prop_assert!(room.tokens <= u64::from(limit));
            }
        }
    }
}
