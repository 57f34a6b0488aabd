//! `plywood client DIR`: reports a workspace to a server, and what the user says with it.

use std::io::{self, BufReader};

use super::args::ClientArgs;
use super::output::{Failure, Out, Outcome, Result};
use crate::io::client::{self, Ended, Options, Stopped};

/// Talks to the server until the input has ended.
pub(super) fn run(args: &ClientArgs, out: &mut Out<'_>) -> Result {
    let server = client::host_of(&args.server)
        .map_err(|reason| Failure::message(format!("--server {}: {reason}", args.server)))?;
    let folder = args
        .folder
        .canonicalize()
        .map_err(|_| Failure::message(format!("there is no folder `{}`", args.folder.display())))?;
    if !folder.is_dir() {
        return Err(Failure::message(format!("`{}` is not a folder", args.folder.display())));
    }
    let options = Options { file: folder.join(&args.file), server, session: args.session.clone() };
    let mut print = |line: &str| {
        out.raw_line(line)?;
        out.flush()
    };
    let mut say = |message: &str| crate::cli::output::warn(format_args!("note: {message}"));
    match client::run(&options, BufReader::new(io::stdin()), &mut print, &mut say) {
        Ok(Ended::Answered | Ended::Signal) => Ok(Outcome::Done),
        Err(Stopped::Message(message)) => Err(Failure::Message(message)),
        Err(Stopped::Output(error)) => Err(Failure::Output(error)),
    }
}
