//! The bench of a folder that has none. Its files are part of the program.

use super::load::Embedded;

/// The bench and its templates.
pub(crate) const FILES: Embedded = &[
    ("bench.yaml", include_bytes!("bench.yaml")),
    ("environment.md", include_bytes!("environment.md")),
    ("map.md", include_bytes!("map.md")),
];
