//! Blocks of the shown request, as the overlay view lists them.

use std::sync::Arc;

use crate::core::fact::Name;

/// A block: what stands between two markers, inside a budget. All sizes in characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockView {
    /// The place.
    pub place: Name,
    /// What screens call the layer that shows it; none where none does.
    pub shown_by: Option<Name>,
    /// Its first and last line, where it has markers.
    pub markers: Option<(Name, Name)>,
    /// The size of the whole block; 0 where it is not in the request.
    pub chars: u64,
    /// The most that it may have.
    pub budget: Option<u64>,
    /// Of its size, what is nobody's section: markers, what is wrapped around, and what stands between sections.
    pub own: u64,
    /// True where it stands from before, so that its sections are what they were when it was made.
    pub stands: bool,
    /// Why it is not in the request.
    pub absent: Option<Arc<str>>,
    /// The file of the workspace that holds the place which it stands in.
    pub file: Option<Arc<str>>,
    /// What is told of the whole block: a cut, a marker that was broken.
    pub told: Option<Arc<str>>,
    /// Its sections, in the order of their bytes.
    pub sections: Vec<SectionRow>,
}

/// A section of a block: one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionRow {
    /// The layer.
    pub id: Name,
    /// What screens call it.
    pub shown: Name,
    /// True where it is never left out for want of room.
    pub required: bool,
    /// Its own limit: `619`, `200 lines`; empty for none.
    pub limit: String,
    /// Its size in the block.
    pub chars: u64,
    /// What became of it.
    pub state: SectionState,
}

/// What became of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SectionState {
    /// It stands there whole.
    #[default]
    Kept,
    /// It was cut: characters that its own limit took, and that the block's budget took.
    Cut(u64, u64),
    /// There was no room for it: why.
    Dropped(Arc<str>),
    /// It has nothing to say, or failed: why.
    Absent(Arc<str>),
}
