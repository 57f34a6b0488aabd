//! What changes would do, before they are made.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::core::fact::Name;
use crate::core::whatif::Hit;
use crate::core::wire::CallNo;

/// The changes that can be tried on the call that waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WhatIfView {
    /// The call that would be made next; none where none waits.
    pub call: Option<CallNo>,
    /// How many calls a change is followed.
    pub calls: u32,
    /// The models, as `provider:model`.
    pub models: Vec<Name>,
    /// The same without their providers.
    pub short: Vec<Name>,
    /// The changes that were tried so far.
    pub rows: Vec<WhatIfRow>,
    /// How many are still to be tried.
    pub left: usize,
    /// True when all were tried.
    pub done: bool,
}

/// A change and what it would do.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIfRow {
    /// What it is called: `cwd=/home/shop/api`.
    pub id: Arc<str>,
    /// What it is.
    pub title: Arc<str>,
    /// What is said of it: a label and a sentence for each line.
    pub said: Vec<(&'static str, Arc<str>)>,
    /// What it does to each model that it concerns.
    pub hits: Vec<Hit>,
    /// The text that would be edited, for an edit.
    pub text: Option<TextPlace>,
}
