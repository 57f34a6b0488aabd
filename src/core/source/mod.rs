//! Where a layer's text comes from.

pub mod names;
