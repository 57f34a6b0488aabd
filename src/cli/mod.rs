//! The command line: one file per command, data on stdout, messages on stderr.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::Parser;

pub mod args;
mod build;
mod check;
mod completions;
mod demo;
mod diff;
mod doctor;
mod init;
pub mod keys;
mod layers;
mod man;
mod open;
pub mod output;
mod report;
mod run;
mod samples;
mod schema;
pub mod settings;
mod shot;
mod workbench;

use args::{Cli, Command};
use output::{Out, Outcome, Result};

/// Runs the program with these arguments, the first of which is its name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout with status 0, mistakes to stderr with status 2.
            let status = if error.use_stderr() { 2 } else { 0 };
            return match error.print() {
                Err(broken) if broken.kind() != io::ErrorKind::BrokenPipe => ExitCode::from(2),
                _ => ExitCode::from(status),
            };
        }
    };
    match cli.command {
        // The one command that may need the screen.
        Some(Command::Demo(args)) if args.name.is_some() && !args.print => {
            output::finish(demo::perform(&args))
        }
        Some(command) => output::finish(headless(command)),
        None => output::finish(workbench::run(&cli.open)),
    }
}

/// Runs a command that needs no screen.
fn headless(command: Command) -> Result {
    let mut stdout = io::stdout().lock();
    let mut out = Out::new(&mut stdout);
    let result = dispatch(command, &mut out);
    // What was written before a failure is still data.
    let flushed = out.finish();
    let outcome = result?;
    flushed?;
    Ok(outcome)
}

fn dispatch(command: Command, out: &mut Out<'_>) -> Result<Outcome> {
    match command {
        Command::Layers(args) => layers::run(&args, out),
        Command::Build(args) => build::run(&args, out),
        Command::Init(args) => init::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::Shot(args) => shot::run(&args, out),
        Command::Keys(args) => keys::run(args, out),
        Command::Samples(args) => samples::run(args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Completions { shell } => completions::run(shell, out),
        Command::Man => man::run(out),
        Command::Schema => schema::run(out),
        Command::Doctor(args) => doctor::run(args, out),
    }
}
