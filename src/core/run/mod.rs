//! The run loop: inputs, session, branches.

mod input;

pub use input::{EditTarget, Input, ScriptLine, ToolCall};
