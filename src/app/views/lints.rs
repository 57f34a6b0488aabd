//! What the lints found in the run that is on.

use crate::core::fact::Name;
use crate::core::fix::Fix;
use crate::core::lint::Finding;
use crate::io::edit::bench::ChangedLine;

/// What the lints found in a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LintsView {
    /// The run; none for a bench without runs.
    pub run: Option<Name>,
    /// How many calls were looked at, where it was not all of them.
    pub first: Option<usize>,
    /// What was found, the worst first, what the bench allows at the end.
    pub rows: Vec<LintRow>,
    /// True where the model's tokens are estimates.
    pub estimate: bool,
    /// True where the bench or its files were changed in the middle of the run, so that it was played again for this.
    pub again: bool,
    /// For how many findings it is known what putting them right is worth.
    pub priced: usize,
}

/// A finding, with what would put it right.
#[derive(Clone, Debug, PartialEq)]
pub struct LintRow {
    /// What was found.
    pub finding: Finding,
    /// The changes of the bench that would put it right.
    pub fixes: Vec<LintFix>,
}

/// A change of the bench file, to be looked at before it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct LintFix {
    /// The change.
    pub fix: Fix,
    /// The lines of the bench file that go and come.
    pub lines: Vec<ChangedLine>,
    /// Why it cannot be made; none where it can.
    pub refused: Option<String>,
}
