//! `plywood schema`.

use super::output::{Out, Outcome, Result};
use crate::io::syntax;

/// Prints the JSON Schema of bench files.
pub(super) fn run(out: &mut Out<'_>) -> Result {
    out.json(&syntax::schema())?;
    Ok(Outcome::Done)
}
