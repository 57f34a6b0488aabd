//! What a provider's prompt cache makes of a session: read, written, paid again, and who did it.
//!
//! [`Simulator`] plays requests against the caches of several models. Families of caches are code, in `store`;
//! models are data ([`Model`]), which the edge reads from a file that users can override.

mod align;
mod blame;
mod diff;
mod judge;
mod model;
mod money;
mod note;
mod outcome;
mod pin;
mod rules;
mod salts;
mod simulator;
mod store;
mod verdict;
mod world;

#[cfg(test)]
mod tests;

pub use blame::{Blame, Labels, What, Written};
pub use model::{
    Accounting, Confidence, Factor, Known, LongContext, Model, Models, Peak, Price, PriceAt, Rates, short_id,
};
pub use money::{Money, Rate};
pub use note::Note;
pub use outcome::{Behind, Detail, Expected, Mark, Outcome, Split, StoredFor, Totals, Usage, Write};
pub use rules::{
    AutoMarkedRules, BlockRules, Boundary, Excess, Family, Generated, Life, Lookup, MarkedRules, OpaqueRules,
    RadixRules, Reasoning, ResourceRules, Salts, SlotRules, UnitRules, Visible, When,
};
pub use salts::SettingChange;
pub use simulator::{Lane, Measures, Simulator};
pub use store::NeverRead;
pub use verdict::{Verdict, vendor_name};
