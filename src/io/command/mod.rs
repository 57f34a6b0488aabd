//! Programs whose output is a fact: `read: { x: { command: [prog, arg, ..] } }`.
//!
//! A bench from somebody else's folder must not run anything by being opened. A program is run only when its user has
//! allowed exactly this command for this folder ([`TrustStore`]), or said `--trust`. It runs without a shell, in the
//! workspace, with nothing on its standard input and few variables, for a bounded time and with a bounded output; it
//! goes with everything that it has started. What it printed is kept: a run that is played again reads the same bytes.

mod pool;
mod process;
mod trust;

pub use pool::{Pool, Wake};
pub use process::run;
pub use trust::TrustStore;
