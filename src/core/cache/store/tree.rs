//! The prefixes that were sent: a tree whose nodes are blocks, so that equal prefixes are one path.

use std::sync::Arc;

use crate::core::wire::Block;

/// No node, no entry.
pub(super) const NONE: u32 = u32::MAX;
/// The node in front of the first block.
pub(super) const ROOT: u32 = 0;

/// The number of a request to the store, from 1; 0 for never.
pub(super) type Seq = u32;

#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Of its block, mixed with the salt that stands in front of it.
    hash: u64,
    /// None at the root only.
    block: Option<Arc<Block>>,
    parent: u32,
    /// The child that was looked for or made last; its siblings follow in the same order.
    child: u32,
    sibling: u32,
    /// The last request through this node by a conversation that has since left it. Whoever still stands on it is
    /// not written down: its whole path was used by its latest request.
    pub left: Seq,
    /// The request that made it.
    pub born: Seq,
    /// The latest request that ended here; 0 for none.
    pub ended: Seq,
    /// How many requests ended here.
    pub ends: u32,
    /// An index into the entries of a store.
    pub entry: u32,
}

/// The nodes of all prefixes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    /// When the tree has grown to this, what was used longest ago is forgotten.
    limit: usize,
}

/// About 20 MB. A provider forgets sooner; only a run that comes back to a prompt which it left hundreds of thousands
/// of blocks ago could see it.
const LIMIT: usize = 1 << 19;

impl Tree {
    pub(super) fn new() -> Tree {
        Tree::with_limit(LIMIT)
    }

    pub(super) fn with_limit(limit: usize) -> Tree {
        let root = Node {
            hash: 0,
            block: None,
            parent: NONE,
            child: NONE,
            sibling: NONE,
            left: 0,
            born: 0,
            ended: 0,
            ends: 0,
            entry: NONE,
        };
        Tree { nodes: vec![root], limit }
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// The block of a node; none for the root.
    pub(super) fn block(&self, node: u32) -> Option<&Arc<Block>> {
        self.node(node).block.as_ref()
    }

    /// The children of a node, the latest used first.
    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut next = self.node(node).child;
        std::iter::from_fn(move || {
            let child = next;
            (child != NONE).then(|| {
                next = self.node(child).sibling;
                child
            })
        })
    }

    /// The child that equals `block` behind this salt, which becomes the first of the children.
    pub(super) fn find(&mut self, parent: u32, block: &Block, salt: u64) -> Option<u32> {
        let hash = block.hash ^ salt;
        let mut before = NONE;
        let mut child = self.node(parent).child;
        while child != NONE {
            let node = self.node(child);
            let next = node.sibling;
            if node.hash == hash {
                if before != NONE {
                    self.node_mut(before).sibling = next;
                    let first = std::mem::replace(&mut self.node_mut(parent).child, child);
                    self.node_mut(child).sibling = first;
                }
                return Some(child);
            }
            before = child;
            child = next;
        }
        None
    }

    /// The salt in front of a node.
    pub(super) fn salt(&self, node: u32) -> u64 {
        let node = self.node(node);
        node.block.as_ref().map_or(0, |block| block.hash ^ node.hash)
    }

    /// A new child.
    pub(super) fn add(&mut self, parent: u32, block: &Arc<Block>, salt: u64, born: Seq) -> u32 {
        let id = self.nodes.len() as u32;
        let sibling = std::mem::replace(&mut self.node_mut(parent).child, id);
        let (hash, block) = (block.hash ^ salt, Some(block.clone()));
        self.nodes.push(Node {
            hash,
            block,
            parent,
            child: NONE,
            sibling,
            left: 0,
            born,
            ended: 0,
            ends: 0,
            entry: NONE,
        });
        id
    }

    /// True when it is time to forget.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= self.limit
    }

    /// Forgets the half that was used longest ago, but nothing that a path still stands on. Returns the new number of
    /// each node, [`NONE`] for what is forgotten.
    pub(super) fn shrink(&mut self, paths: &mut [&mut Vec<u32>]) -> Vec<u32> {
        let mut standing = vec![false; self.nodes.len()];
        standing[ROOT as usize] = true;
        for &node in paths.iter().flat_map(|path| path.iter()) {
            standing[node as usize] = true;
        }
        let mut used: Vec<Seq> = self
            .nodes
            .iter()
            .zip(&standing)
            .filter(|(_, standing)| !**standing)
            .map(|(node, _)| node.left)
            .collect();
        let middle = used.len() / 2;
        let threshold = if used.is_empty() { 0 } else { *used.select_nth_unstable(middle).1 };
        // A path is used no earlier than what follows it, so what is kept needs nothing that goes. Parents stand in
        // front of their children.
        let mut moved = vec![NONE; self.nodes.len()];
        let mut kept: Vec<Node> = Vec::with_capacity(self.nodes.len());
        for (index, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if !standing[index] && node.left <= threshold {
                continue;
            }
            let parent = if node.parent == NONE { NONE } else { moved[node.parent as usize] };
            if node.parent != NONE && parent == NONE {
                continue;
            }
            moved[index] = kept.len() as u32;
            kept.push(Node { parent, child: NONE, sibling: NONE, ..node });
        }
        // Children in the order of their age: the youngest first, as if each had just been made.
        for id in 1..kept.len() {
            let parent = kept[id].parent as usize;
            kept[id].sibling = std::mem::replace(&mut kept[parent].child, id as u32);
        }
        self.nodes = kept;
        for node in paths.iter_mut().flat_map(|path| path.iter_mut()) {
            *node = moved[*node as usize];
        }
        self.limit = self.limit.max(self.nodes.len() * 2);
        moved
    }
}

/// Where a conversation stands in the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// The node of each leading block of its latest request to this store.
    pub path: Vec<u32>,
    /// That request.
    pub seq: Seq,
    /// How many leading blocks of the coming request are known to be those of that one.
    pub known: usize,
}

/// The latest request that went through a node, by whomever except `but`. `depth` is the number of blocks up to and
/// with the node's.
pub(super) fn last_use(tree: &Tree, cursors: &[Cursor], but: usize, node: u32, depth: usize) -> Seq {
    let standing = cursors
        .iter()
        .enumerate()
        .filter(|(index, cursor)| *index != but && cursor.path.get(depth - 1) == Some(&node))
        .map(|(_, cursor)| cursor.seq);
    standing.fold(tree.node(node).left, Seq::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::EventId;
    use crate::core::text::{Made, Traced};
    use crate::core::wire::BlockKind;

    fn block(text: &str) -> Arc<Block> {
        let text = Traced::whole("user", text, Made::Literal, EventId::OPENING);
        Block::new(BlockKind::User, "user".into(), None, None, text)
    }

    fn walk(tree: &mut Tree, texts: &[&str]) -> Vec<u32> {
        let mut path = Vec::new();
        for text in texts {
            let (parent, block) = (path.last().copied().unwrap_or(ROOT), block(text));
            let node = tree.find(parent, &block, 0).unwrap_or_else(|| tree.add(parent, &block, 0, 0));
            path.push(node);
        }
        path
    }

    fn text(tree: &Tree, node: u32) -> &str {
        tree.block(node).unwrap().text.text()
    }

    #[test]
    fn equal_prefixes_are_one_path() {
        let mut tree = Tree::new();
        let first = walk(&mut tree, &["a", "b", "c"]);
        let second = walk(&mut tree, &["a", "b", "d"]);
        assert_eq!(first[..2], second[..2]);
        assert_eq!(walk(&mut tree, &["a", "b", "c"]), first);
        // What was looked for last comes first.
        assert_eq!(tree.children(first[1]).collect::<Vec<_>>(), [first[2], second[2]]);
    }

    #[test]
    fn what_was_used_longest_ago_is_forgotten_first() {
        let mut tree = Tree::with_limit(8);
        let mut standing = walk(&mut tree, &["a", "b"]);
        for (seq, name) in (1..).zip(["p", "q", "r", "s"]) {
            for node in walk(&mut tree, &["a", name, "tail"]).into_iter().skip(1) {
                tree.node_mut(node).left = seq;
            }
        }
        assert!(tree.is_full());
        let before = tree.nodes.len();
        tree.shrink(&mut [&mut standing]);
        assert!(tree.nodes.len() < before);
        assert!(!tree.is_full());
        assert_eq!(standing.iter().map(|&node| text(&tree, node)).collect::<Vec<_>>(), ["a", "b"]);
        let kept: Vec<&str> = tree.children(standing[0]).map(|node| text(&tree, node)).collect();
        assert!(kept.contains(&"s") && kept.contains(&"b") && !kept.contains(&"p"), "{kept:?}");
        // Nothing hangs in the air: every node can be reached.
        let mut reached = vec![ROOT];
        let mut at = 0;
        while at < reached.len() {
            reached.extend(tree.children(reached[at]).collect::<Vec<_>>());
            at += 1;
        }
        assert_eq!(reached.len(), tree.nodes.len());
        assert_eq!(walk(&mut tree, &["a", "b"]), standing);
    }
}
