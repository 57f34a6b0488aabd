//! Every way of building the run, side by side.

use std::sync::Arc;

use crate::core::compare::{Row, Table};
use crate::core::fact::Name;
use crate::io::edit::bench::ChangedLine;

/// The comparison of the run that is on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareView {
    /// Over all turns.
    pub all: Arc<Table>,
    /// Over the first turn alone.
    pub first: Arc<Table>,
    /// What was played, for the calls behind a cell.
    pub rows: Arc<[Row]>,
    /// The variants that are applied now.
    pub current: Vec<Name>,
    /// What was shown before something changed, over all turns and over the first alone; none once all is played again.
    pub old: Option<(Arc<Table>, Arc<Table>)>,
    /// How many ways are played, of how many that are known by now; none once all are.
    pub going: Option<(usize, usize)>,
    /// How many sums do not hold; none until all is played.
    pub checked: Option<usize>,
    /// What a way would change in the bench file, once it was asked for.
    pub preview: Option<WayPreview>,
}

impl CompareView {
    /// The row of a way.
    #[must_use]
    pub fn row(&self, names: &[Name]) -> Option<&Row> {
        self.rows.iter().find(|row| row.names == names)
    }
}

/// What a way would change in the bench file.
#[derive(Clone, Debug, PartialEq)]
pub struct WayPreview {
    /// The way.
    pub names: Vec<Name>,
    /// The bench file, as its user would name it.
    pub file: Name,
    /// The lines that go and come, in order.
    pub lines: Arc<[ChangedLine]>,
    /// Why it cannot be written.
    pub problem: Option<Arc<str>>,
}
