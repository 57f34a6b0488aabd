//! The syntax of bench files: YAML text to [`crate::core::bench::Bench`], with the exact place of every mistake.

mod check;
pub mod contract;
mod decode;
mod document;
mod fields;
pub mod node;
mod parse;
mod place;
pub(crate) mod quote;
pub(crate) mod scalar;
mod schema;
pub(crate) mod shape;
pub(crate) mod suggest;
mod template;
mod tokens;
mod variant;
pub(crate) mod yaml;
mod yaml_error;

pub use check::{is_template, only_text_differs, template_errors};
pub use decode::Files;
pub use document::{Document, Opened, is_not_built, open};
pub use parse::parse;
pub(crate) use parse::plain_kind;
pub use schema::schema;
pub use shape::NOT_BUILT;
pub use variant::{Change, Variant};

/// The keys of a bench, in the order in which they are described.
pub(crate) fn bench_keys() -> impl Iterator<Item = &'static str> {
    fields::BENCH.fields.iter().map(|field| field.key)
}
