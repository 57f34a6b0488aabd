//! What lies where in the last frame, so that the mouse means things and not cells.

use std::ops::Range;

use ratatui::layout::{Position, Rect};

use crate::app::event::{Metrics, Target};

/// What a frame tells its driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    areas: Vec<(Rect, Target)>,
    /// What it measured, for [`crate::app::event::Event::Drawn`].
    pub metrics: Metrics,
    /// Which bytes of the block of the request it showed, or which lines of the text that is edited.
    pub seen: Range<usize>,
}

impl Regions {
    /// Notes what lies in an area; what is noted later lies above.
    pub fn note(&mut self, area: Rect, target: Target) {
        if !area.is_empty() {
            self.areas.push((area, target));
        }
    }

    /// What lies in a cell.
    #[must_use]
    pub fn hit(&self, column: u16, row: u16) -> Target {
        let at = Position::new(column, row);
        let found = self.areas.iter().rev().find(|(area, _)| area.contains(at));
        match found {
            Some((area, Target::EditorRow { line, start, .. })) => {
                Target::EditorRow { line: *line, start: *start, cell: column - area.x }
            }
            Some((_, target)) => *target,
            None => Target::Nothing,
        }
    }
}
