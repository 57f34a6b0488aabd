//! `plywood samples`: lists them, or copies one.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;

use super::args::{SamplesAction, SamplesArgs};
use super::head::Schema;
use super::open::no_such_sample;
use super::output::{Failure, Out, Outcome, Result, Table};
use crate::core::diagnostic::Diagnostic;
use crate::io::samples::{find, samples};

#[derive(Serialize)]
struct Report {
    samples: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    about: &'static str,
    files: usize,
}

/// Prints the name of each sample and what it shows, or copies one.
pub(super) fn run(args: &SamplesArgs, out: &mut Out<'_>) -> Result {
    if let Some(SamplesAction::Copy { name, folder }) = &args.action {
        return copy(name, folder.as_deref().unwrap_or(Path::new(name)), out);
    }
    if args.json {
        let samples = samples()
            .iter()
            .map(|sample| Row { name: sample.name, about: sample.about, files: sample.files.len() })
            .collect();
        out.json(&Schema::Samples.plain(Report { samples }))?;
    } else {
        let mut table = Table::new(&["sample", ">files", "what it shows"]);
        for sample in samples() {
            table.row([sample.name.to_owned(), sample.files.len().to_string(), sample.about.to_owned()]);
        }
        table.write(out)?;
    }
    Ok(Outcome::Done)
}

/// Copies a sample into a folder of the user's.
fn copy(name: &str, folder: &Path, out: &mut Out<'_>) -> Result {
    let Some(sample) = find(name) else { return Err(Failure::Diagnostics(vec![no_such_sample(name)])) };
    let shown = folder.display();
    sample.copy_into(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let problem = Diagnostic::error(format!("{error}; nothing was copied"));
            Failure::Diagnostics(vec![problem.hint(format!("`plywood samples copy {name} ANOTHER-FOLDER`"))])
        }
        _ => {
            let reason = crate::io::load::reason(&error);
            Failure::message(format!("{name} cannot be copied into {shown}: {reason}"))
        }
    })?;
    let typed = shown.to_string();
    let typed = if typed.contains(' ') { format!("\"{typed}\"") } else { typed };
    out.line(format_args!(
        "copied {name} into {shown}, {} files; `plywood {typed}` opens it",
        sample.files.len()
    ))?;
    Ok(Outcome::Done)
}
