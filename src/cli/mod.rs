//! The command line: one file per command, data on stdout, messages on stderr.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

pub mod args;
mod audit;
mod build;
mod check;
mod client;
mod compare;
mod completions;
mod config;
mod demo;
mod diff;
mod doctor;
pub mod head;
mod init;
pub mod keys;
mod layers;
mod llm_log;
mod man;
mod markdown;
mod models;
mod open;
mod order;
pub mod output;
mod overlay;
pub mod paint;
mod report;
mod run;
mod samples;
mod schema;
mod serve;
pub mod settings;
mod shot;
mod themes;
mod what_if;
mod workbench;

use args::{Cli, Command};
use output::{Out, Outcome, Result};
use settings::Environment;

use crate::io::log;

/// Runs the program with these arguments, the first of which is its name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = Cli::command().color(paint::of_help(&args)).try_get_matches_from(args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
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
    let environment = Environment::of_process();
    log::start(&environment.look());
    let result = match cli.command {
        // The one command that may need the screen.
        Some(Command::Demo(args)) if args.name.is_some() && !args.print => demo::perform(&args, cli.color),
        Some(command) => {
            headless(command, paint::wanted(cli.color, io::stdout().is_terminal(), &environment))
        }
        None => workbench::run(&cli.open, cli.color),
    };
    output::finish(result, paint::wanted(cli.color, io::stderr().is_terminal(), &environment))
}

/// Runs a command that needs no screen.
fn headless(command: Command, colored: bool) -> Result {
    let mut stdout = io::stdout().lock();
    let mut out = Out::new(&mut stdout).colored(colored);
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
        Command::Audit(args) => audit::run(&args, out),
        Command::Report(args) => markdown::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::WhatIf(args) => what_if::run(&args, out),
        Command::Compare(args) => compare::run(&args, out),
        Command::Shot(args) => shot::run(&args, out),
        Command::Keys(args) => keys::run(&args, out),
        Command::Themes(args) => themes::run(&args, out),
        Command::Models(args) => models::run(&args, out),
        Command::Config(args) => config::run(&args, out),
        Command::Samples(args) => samples::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Completions { shell } => completions::run(shell, out),
        Command::Man => man::run(out),
        Command::Schema => schema::run(out),
        Command::Doctor(args) => doctor::run(&args, out),
        Command::Serve(args) => serve::run(&args, out),
        Command::Client(args) => client::run(&args, out),
        Command::Overlay { action } => overlay::run(&action, out),
    }
}
