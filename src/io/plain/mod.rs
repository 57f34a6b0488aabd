//! The bench of a folder that has none. Its files are part of the program.

use super::load::Embedded;

/// The bench's file. Nobody shall look for it in the folder.
pub(crate) const BENCH: &str = "built-in/bench.yaml";

/// The bench and its templates.
pub(crate) const FILES: Embedded = &[
    (BENCH, include_bytes!("bench.yaml")),
    ("built-in/environment.md", include_bytes!("environment.md")),
    ("built-in/map.md", include_bytes!("map.md")),
];
