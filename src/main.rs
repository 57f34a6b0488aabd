//! The program: parses the command line, runs it, and gives its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    plywood::cli::main(std::env::args_os())
}
