//! temporary
use crate::core::bench::ReadKind;
use crate::core::fact::{FactKey, Lookup, Value};
use std::sync::Arc;
/// t
pub trait Ask {
    /// t
    fn ask(&mut self, key: &FactKey) -> Lookup;
}
/// t
#[derive(Clone, Debug, PartialEq)]
pub enum Derived {
    /// t
    Ready(Value),
    /// t
    Absent,
    /// t
    Failed(Arc<str>),
    /// t
    Unknown,
}
/// t
pub fn derive(_k: &ReadKind, _a: &mut dyn Ask) -> Derived {
    Derived::Absent
}
