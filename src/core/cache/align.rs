//! Which items of one list are which of another: the same, changed, appeared, gone or moved.

use std::collections::BTreeSet;

/// A difference between two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The same item with other content.
    Changed { old: usize, new: usize },
    /// In the new list only; it stands where `old` stood in the old one.
    Appeared { old: usize, new: usize },
    /// In the old list only; it stood where `new` stands in the new one.
    Gone { old: usize, new: usize },
    /// In both, but elsewhere; `forward` when it was behind the place at which the difference shows.
    Moved { old: usize, new: usize, forward: bool },
}

/// Two lists that are compared.
pub(super) trait Lists {
    /// Their lengths.
    fn lens(&self) -> (usize, usize);
    /// Equal in content.
    fn same(&self, old: usize, new: usize) -> bool;
    /// The same item, whatever its content.
    fn alike(&self, old: usize, new: usize) -> bool;
    /// True for two items of which the new one stands for the old one, although they are not alike.
    fn stands_for(&self, _old: usize, _new: usize) -> bool {
        false
    }
    /// Where the old item stands in the new list, from `from` on.
    fn find_new(&mut self, old: usize, from: usize) -> Option<usize>;
    /// Where the new item stands in the old list, from `from` on.
    fn find_old(&mut self, new: usize, from: usize) -> Option<usize>;
}

/// Walks two lists side by side from `(old, new)` and hands every difference over, in order, until told to stop.
/// What the new list has behind the end of the old one is an append and no difference, unless `closed`.
pub(super) fn align<L: Lists>(
    lists: &mut L,
    (mut i, mut j): (usize, usize),
    closed: bool,
    mut found: impl FnMut(&L, Op) -> bool,
) {
    let (old_len, new_len) = lists.lens();
    let (mut old_done, mut new_done) = (BTreeSet::new(), BTreeSet::new());
    loop {
        while old_done.contains(&i) {
            i += 1;
        }
        while new_done.contains(&j) {
            j += 1;
        }
        let op = match (i < old_len, j < new_len) {
            (false, false) => return,
            (false, true) if !closed => return,
            (false, true) => Op::Appeared { old: i, new: j },
            (true, false) => Op::Gone { old: i, new: j },
            (true, true) if lists.same(i, j) => {
                i += 1;
                j += 1;
                continue;
            }
            (true, true) => {
                let in_new = lists.find_new(i, j).filter(|at| !new_done.contains(at));
                let in_old = lists.find_old(j, i).filter(|at| !old_done.contains(at));
                if lists.alike(i, j) {
                    // Where ids repeat, the longer list and an equal item further on tell which came or went.
                    let (old_rest, new_rest) = (old_len - i, new_len - j);
                    if new_rest > old_rest && in_new.is_some_and(|at| lists.same(i, at)) {
                        Op::Appeared { old: i, new: j }
                    } else if old_rest > new_rest && in_old.is_some_and(|at| lists.same(at, j)) {
                        Op::Gone { old: i, new: j }
                    } else {
                        Op::Changed { old: i, new: j }
                    }
                } else {
                    match (in_new, in_old) {
                        (None, None) if lists.stands_for(i, j) => Op::Changed { old: i, new: j },
                        (None, Some(_)) => Op::Gone { old: i, new: j },
                        (_, None) => Op::Appeared { old: i, new: j },
                        // Of two that changed places, the one that went further is the one that moved.
                        (Some(to), Some(from)) if to - j > from - i => {
                            Op::Moved { old: i, new: to, forward: false }
                        }
                        (Some(_), Some(from)) => Op::Moved { old: from, new: j, forward: true },
                    }
                }
            }
        };
        if !found(lists, op) {
            return;
        }
        match op {
            Op::Changed { .. } => {
                i += 1;
                j += 1;
            }
            Op::Appeared { .. } => j += 1,
            Op::Gone { .. } => i += 1,
            Op::Moved { old, new, forward: true } => {
                old_done.insert(old);
                debug_assert_eq!(new, j);
                j += 1;
            }
            Op::Moved { old, new, forward: false } => {
                new_done.insert(new);
                debug_assert_eq!(old, i);
                i += 1;
            }
        }
    }
}
