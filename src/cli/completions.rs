//! `plywood completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::output::{Out, Outcome, Result};

/// Prints the completion script of a shell.
pub(super) fn run(shell: Shell, out: &mut Out<'_>) -> Result {
    // Into memory first: the generator ends the process where its writer fails, a pipe that closed among that.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "plywood", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
