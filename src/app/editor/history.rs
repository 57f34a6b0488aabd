//! Undoing and redoing, step by step: a word, a line end, a paste.

use super::document::{Document, Place, Taken};

/// How many steps are kept.
const MOST: usize = 1000;

/// What a change was, which decides what it is one step with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A character was typed: true for white space, which begins a step.
    Typed(bool),
    /// A character was deleted.
    Deleted,
    /// Anything else, which is a step of its own.
    Other,
}

/// A change, with what is needed to take it back and to do it again.
#[derive(Clone, Debug)]
struct Step {
    kind: Kind,
    row: usize,
    /// The lines that are not in the text.
    lines: Taken,
    /// How many lines stand in their place.
    count: usize,
    before: Place,
    after: Place,
}

/// The steps that can be taken back, and those that were.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
}

impl History {
    /// Notes a change that was made: `count` lines from `row` on stand in the place of `taken`.
    pub(super) fn push(&mut self, kind: Kind, row: usize, taken: Taken, count: usize, moved: (Place, Place)) {
        self.undone.clear();
        let (before, after) = moved;
        if let Some(last) = self.done.last_mut() {
            let one_line = last.row == row && last.count == 1 && count == 1 && taken.len() == 1;
            let goes_on = match (last.kind, kind) {
                (Kind::Typed(_), Kind::Typed(space)) => !space || last.kind == Kind::Typed(true),
                (Kind::Deleted, Kind::Deleted) => true,
                _ => false,
            };
            if goes_on && one_line && last.after == before {
                last.kind = kind;
                last.after = after;
                return;
            }
        }
        if self.done.len() == MOST {
            self.done.remove(0);
        }
        self.done.push(Step { kind, row, lines: taken, count, before, after });
    }

    /// Takes the latest step back; where the cursor was before it.
    pub(super) fn undo(&mut self, document: &mut Document) -> Option<Place> {
        let step = self.done.pop()?;
        let before = step.before;
        self.undone.push(turned(step, document));
        Some(before)
    }

    /// Does the step again that was taken back last; where the cursor was after it.
    pub(super) fn redo(&mut self, document: &mut Document) -> Option<Place> {
        let step = self.undone.pop()?;
        let after = step.after;
        self.done.push(turned(step, document));
        Some(after)
    }

    /// Whatever is typed next is a step of its own.
    pub(super) fn end_step(&mut self) {
        if let Some(last) = self.done.last_mut() {
            last.kind = Kind::Other;
        }
    }
}

/// Swaps the lines of a step with those in the text.
fn turned(step: Step, document: &mut Document) -> Step {
    let count = step.lines.len();
    let lines = document.replace(step.row..step.row + step.count, step.lines);
    Step { lines, count, kind: Kind::Other, ..step }
}
