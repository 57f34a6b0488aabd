//! temporary
use super::Traced;
use crate::core::bench::Cap;
/// temporary
pub fn traced(text: &Traced, _cap: &Cap) -> (Traced, usize) {
    (text.clone(), 0)
}
