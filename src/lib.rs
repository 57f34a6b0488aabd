//! Plywood: a workbench for layered agent prompts.
//!
//! A *bench* says what an agent's prompt is made of and scripts runs of it. Plywood builds every request of a run,
//! knows for each byte who wrote it and why, and works out what that does to the provider's prompt cache.
//!
//! # The crate, in reading order
//!
//! Imports go `core <- io <- app <- tui`; [`cli`] stands on all of them.
//!
//! 1. [`core`] is pure: no clock, disk, network, process or terminal. Where it needs a fact that it does not have, a
//!    step ends with the keys it needs; whoever drives it supplies them and asks again.
//!    - [`core::bench`]: what a bench means. Its syntax lives in [`io::syntax`].
//!    - [`core::fact`]: keys, values, lookups. Anything a layer may read is a fact; [`core::read`] derives facts from
//!      files.
//!    - [`core::text`]: traced text, in which every byte has one owner, and the one function that cuts.
//!    - [`core::source`]: a layer's source into traced text; [`core::compose`]: layers into places, in both orders.
//!    - [`core::log`]: messages with lifetimes, so that sent, persisted and replayed are filters over one log.
//!    - [`core::run`]: inputs, the session that takes them, the player of scripts, and what each call was sent.
//!    - [`core::wire`]: requests, provider-neutral.
//!    - [`core::tokens`]: counts, exact or estimated, and how they were got.
//!    - [`core::cache`]: what a provider's cache makes of each request, what is lost, and who is to blame.
//! 2. [`io`] is the edges: [`io::bench_file`] opens benches and folders, [`io::load`] reads facts from disk,
//!    [`io::watch`] watches them, [`io::edit`] writes into the user's files and loses no byte that it does not mean,
//!    [`io::models`] holds the providers' rules and prices, [`io::samples`] the samples.
//! 3. [`app`] is the workbench without a terminal: [`app::state`] and what [`app::update`] makes of keys and news, the
//!    [`app::action`] table, and the [`app::engine`], which owns the session and publishes an [`app::snapshot`].
//! 4. [`tui`] is the terminal: taken and given back whole, input, frames, themes and views.
//! 5. [`cli`] is the command line: one file for each command, as text and as JSON.
//!
//! # Invariants
//!
//! They are kept by tests; whoever breaks one has to change this list first.
//!
//! 1. The same bench, facts and inputs give the same bytes on every machine. Time, zone, home and paths come in as
//!    facts; maps in the core are ordered.
//! 2. Every byte of a request that was built knows who wrote it and why. Nothing is inferred from text afterwards.
//! 3. What is compared is what would be sent.
//! 4. Only the state's update function changes state, and it never composes. Views take the state and decide nothing.
//! 5. A watch event is a hint: the content decides. The facts that a request needs are read again before it is built.
//! 6. When a file breaks, the last good state stays, with the error beside it.
//! 7. No code names a sample: what differs between agents is data in their benches.
//! 8. Numbers say how they were got: exact, `~` for an estimate, `n/a` with the reason. Never 0 for unknown. Prices
//!    carry their date. There are no scores.
//! 9. No timer runs while nothing happens, except where a folder is known not to deliver events.
//! 10. JSON output carries its schema and the revisions of model data and tokenizer, so that an update does not silently
//!     change what a build server compares.

pub mod app;
pub mod cli;
pub mod core;
pub mod io;
pub mod tui;
